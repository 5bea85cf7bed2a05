# The bounds of identifiability(): outer, inner and what a search reaches between them.

# colours: the phantoms bounded; share, expected: data frames of bounds; observations; attributes; unlike; components;
# n_cells. content: what content has where the phantom has the ends of the observations; of little of it 1 less the
# phantom's share is but rounding.
find_bounds <- function(exact, x, n_start) {
  colours <- intersect(c("white", "black"), exact$kinds)
  outer <- lapply(colours, function(colour) outer_bounds(exact$fit, x, colour))
  unlike <- lapply(colours, function(colour) unlike_bounds(exact$fit, x, colour))
  first <- outer[[1L]]
  names <- exact$fit$names
  out <- list(
    colours = colours, n_cells = first$n_cells,
    share = bound_rows(colours, "outer", 0, vapply(outer, function(side) mean(1 - side$top), 0), c(NA_real_, NA_real_)),
    expected = bound_rows(colours, "outer", 0, vapply(outer, function(side) side$expected, 0)),
    sites = data.frame(
      site = label_of(seq_len(exact$fit$dims[["n"]]), names[[1L]]), outer_most = 1 - first$top
    ),
    content = data.frame(outer_most = first$top),
    taxa = taxon_bounds(unlike[[1L]]$tops, names),
    unlike = do.call(rbind, lapply(seq_along(colours), function(at) {
      most <- unlike[[at]]$most
      data.frame(phantom = colours[at], missed_by = names(most), most = unname(most), n_cells = outer[[at]]$n_cells)
    }))
  )
  if (length(colours) == 2L) {
    out$sites$black_outer_most <- 1 - outer[[2L]]$top
    return(out)
  }
  inside <- inside_bounds(exact, first, colours, n_start, x)
  out$share <- rbind(out$share, inside$share)
  out$expected <- rbind(out$expected, inside$expected)
  out$sites <- cbind(out$sites, inside$sites)
  out$content <- cbind(out$content, inside$content)
  out$sites$taxon <- ifelse(first$top > 0, label_of(first$at, names[[2L]]), NA)
  out$components <- inside$components
  out$fits <- inside$fits
  out$components$taxon <- label_of(inside$limiting, names[[2L]])
  out
}

# The largest rate at which each attribute may be missed, and the observation that allows no more.
taxon_bounds <- function(tops, names) {
  data.frame(
    taxon = label_of(seq_along(tops$top), names[[2L]]), missed_most = 1 - tops$top,
    site = ifelse(tops$top > 0, label_of(tops$at, names[[1L]]), NA)
  )
}

# loglik: of the parameters that attain the ends, where there are such.
bound_rows <- function(colours, bound, least, most, loglik = NULL) {
  rows <- data.frame(phantom = colours, bound = bound, least = least, most = most)
  if (!is.null(loglik)) rows[c("loglik_least", "loglik_most")] <- as.list(unname(loglik))
  rows
}

# What a phantom may do that is white (black) by the rule of phantoms() but not exactly: its mean probability over the m
# attributes is at most `written`. By the bounds of u in most_missed() its own w_j is at least (p_j - u) / (1 - u)
# wherever p_j > u, so that
#   sum_{j observed} max(0, (p_j - u) / (1 - u)) <= m written = budget.
# The left side is the largest over r of (S_r - r u) / (1 - u), with S_r the sum of the row's r largest p_j, and so
#   u >= (S_r - budget) / (r - budget) for every r > budget (for smaller r, S_r <= r: it says nothing).
# With a budget of 0 that is the largest p_j again. For one row by itself the bound is attained, by w_j = max(0, (p_j -
# u) / (1 - u)) and a content component that is the row's own.
least_content_share <- function(probability, observed, budget) {
  probability[!observed] <- 0
  r <- seq_len(ncol(probability))
  least <- numeric(nrow(probability))
  for (i in seq_along(least)) {
    share <- (cumsum(sort(probability[i, ], decreasing = TRUE)) - budget) / (r - budget)
    least[i] <- max(0, share[r > budget])
  }
  pmin(least, 1)
}

# Adds the bounds of phantoms of mean probability up to `written`, one number for each colour: `rule`, and a column of
# the observations for each. Of both phantoms neither need be exact.
add_rule <- function(bounds, fit, x, written) {
  held <- length(bounds$colours) == 2L
  for (at in seq_along(bounds$colours)) {
    side <- rule_bounds(fit, x, bounds$colours[at], written[at], held)
    bounds$rule <- rbind(bounds$rule, side$rule)
    name <- c("rule_most", "black_rule_most")[at]
    bounds$sites[[name]] <- 1 - side$least
    bounds$content[[name]] <- side$least
  }
  bounds
}

rule_bounds <- function(fit, x, colour, written, held) {
  budget <- written * sum(fit$margins$column_observed > 0)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    least <- least_content_share(seen$p, seen$observed, budget)
    cbind(least, rowSums(matrix(most_missed(seen$p, least, held) * seen$zero, length(rows))))
  })
  all <- do.call(rbind, blocks)
  list(least = all[, 1L], rule = data.frame(
    phantom = colour, written = written, share_most = mean(1 - all[, 1L]), expected_most = sum(all[, 2L])
  ))
}

# The largest mean probability of a phantom by the rule, or of those of the fit where it has more.
rule_written <- function(fit, kinds, rule, colours) {
  observed <- fit$margins$column_observed > 0
  vapply(colours, function(colour) {
    own <- fit$param$aspects[kinds == colour, observed, drop = FALSE]
    density <- if (colour == "black") 1 - fit$density else fit$density
    max(rule[[colour]] * density, rowMeans(if (colour == "black") 1 - own else own))
  }, 0, USE.NAMES = FALSE)
}

# Expected number of false absences when content has the shares u of the rows. A row without content is given the
# mean content of the table, as cell_scores() does.
count_missed <- function(u, outer) {
  bare <- u < least_content
  sum(((1 - u) / u * outer$odds)[!bare]) + sum(outer$bare[bare]) / mean(u)
}

# The inner set and what a search reached, in terms of the phantom's share 1 - u.
inside_bounds <- function(exact, outer, colour, n_start, x) {
  factors <- content_factors(exact$fit, exact$kinds)
  polytope <- scale_polytope(factors)
  scales <- list(
    minimal = largest_scale(polytope, colMeans(factors$s), tie_break = TRUE), maximal = polytope$lower
  )
  met <- lapply(scales, function(d) rescale_factors(factors, d))
  inner <- ends_of(met, outer, colour, "inner", exact, x)
  u <- lapply(met, function(found) pmin(rowSums(found$s), 1))
  content <- data.frame(inner_least = row_maxima(polytope), inner_most = u$maximal)
  out <- list(
    share = inner$share, expected = inner$expected, content = content,
    sites = data.frame(1 - content, binding = u$minimal > 1 - 1e-6),
    components = data.frame(
      component = component_names(length(exact$kinds))[exact$kinds == "content"], minimal = scales$minimal,
      maximal = scales$maximal
    ),
    limiting = max.col(factors$a, ties.method = "first"),
    fits = stats::setNames(inner$fits[c("least", "most")], c("minimal", "maximal"))
  )
  if (n_start > 0L) {
    met <- c(unname(met), search_decompositions(factors, n_start))
    out <- add_search(out, met, outer, colour, exact, x)
  }
  out
}

# A fit moved to an end says of itself what holds there: it is no optimum of a posterior, and follows no effort.
end_fit <- function(fit, kinds, x) {
  fit <- set_loglik(fit, x)
  if (!identical(names(fit$objective), "log_likelihood")) fit$objective <- c(log_likelihood_at_this_end = fit$loglik)
  fit$certificate <- no_certificate
  fit["effort"] <- list(NULL)
  fit$posterior <- NULL
  fit$expected_false <- count_expected(fit, x, kinds)
  fit
}

# The least and the most among decompositions met, and the fits that attain the ends of the mean share.
ends_of <- function(met, outer, colour, bound, exact, x) {
  u <- vapply(met, function(found) pmin(rowSums(found$s), 1), numeric(exact$fit$dims[["n"]]))
  u <- matrix(u, ncol = length(met))
  share <- 1 - colMeans(u)
  expected <- apply(u, 2L, count_missed, outer)
  at <- c(least = which.min(share), most = which.max(share))
  fits <- lapply(at, function(i) end_fit(with_content(exact$fit, exact$kinds, met[[i]]), exact$kinds, x))
  loglik <- vapply(fits, function(fit) fit$loglik, 0)
  list(
    u = u, share = bound_rows(colour, bound, share[at[["least"]]], share[at[["most"]]], loglik), fits = fits,
    expected = bound_rows(colour, bound, min(expected), max(expected))
  )
}

# The largest content share of each row that rescaling attains: a linear program each.
row_maxima <- function(polytope) {
  s <- polytope$s
  out <- vapply(seq_len(nrow(s)), function(i) {
    if (polytope$room[i] <= 0) return(1)
    sum(s[i, ] * largest_scale(polytope, s[i, ]))
  }, 0)
  pmin(out, 1)
}

# Every decomposition met, the conventions' among them; at each, rescaling can make each row's phantom smaller yet.
add_search <- function(out, met, outer, colour, exact, x) {
  reached <- ends_of(met, outer, colour, "reached", exact, x)
  out$share <- rbind(reached$share, out$share)
  out$expected <- rbind(reached$expected, out$expected)
  best <- utils::head(order(-colMeans(reached$u)), 3L)
  most_u <- vapply(met[best], function(found) row_maxima(scale_polytope(found)), numeric(nrow(reached$u)))
  most_u <- matrix(most_u, nrow(reached$u)) # vapply() drops the side of one observation
  most <- pmin(apply(cbind(reached$u, most_u), 1L, max), 1)
  content <- data.frame(
    reached_least = pmax(most, out$content$inner_least), reached_most = apply(reached$u, 1L, min)
  )
  out$content <- cbind(content, out$content)
  out$sites <- cbind(1 - content, out$sites)
  out$fits <- c(out$fits, stats::setNames(reached$fits[c("least", "most")], c("reached_least", "reached_most")))
  out
}

# Bounds of every observed zero: present = p / u and missed = (1 - u) / u p / (1 - p) fall with u.
bound_cells <- function(fit, kinds, exact, bounds, x) {
  colour <- bounds$colours[1L]
  of <- false_of(colour)
  refuse_large(14 * bounds$n_cells, "The bounds of all cells", "look at the rows, with `cells = FALSE`")
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(exact$fit, x, rows, colour)
    at <- which(seen$zero)
    row <- rows[(at - 1L) %% length(rows) + 1L]
    scores <- cell_scores(fit, rows, kinds, of)
    own <- bounds$sites[row, ]
    p <- seen$p[at]
    bare <- all_phantom(exact$fit, row, exact$kinds)
    ends <- lapply(stats::setNames(nm = cell_ends(own)), function(end) {
      u <- bounds$content[[end]][row]
      cell_bounds(p, u, bare | u <= 0, grepl("most", end), end == "rule_most" && length(bounds$colours) == 2L)
    })
    data.frame(
      site = own$site, taxon = label_of((at - 1L) %/% length(rows) + 1L, fit$names[[2L]]),
      probability = p, present = scores$present[at], missed = scores$missed[at],
      stats::setNames(lapply(ends, `[[`, "present"), paste0("present_", names(ends))),
      stats::setNames(lapply(ends, `[[`, "missed"), paste0("missed_", names(ends)))
    )
  })
  out <- do.call(rbind, blocks)
  unlike <- unlike_cells(exact$fit, x, colour)
  out[paste0("missed_", names(unlike), "_most")] <- unlike
  if (colour == "black") names(out) <- sub("^missed", "added", sub("^present", "absent", names(out)))
  out
}

cell_ends <- function(observations) {
  ends <- c("outer_most", "rule_most", "reached_least", "reached_most", "inner_least", "inner_most")
  intersect(ends, names(observations))
}

# Without content (`bare`) there is nothing to divide: everything is possible, from 0 to 1. With however little, what it
# is made of is known, as in cell_scores().
cell_bounds <- function(p, u, bare, most, held) {
  present <- if (held) 1 else pmin(p / u, 1)
  list(present = ifelse(bare, most, present), missed = ifelse(bare, most, most_missed(p, u, held, bare)))
}
