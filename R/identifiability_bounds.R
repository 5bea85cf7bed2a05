# Bounds of identifiability(): the outer bound, and those that rescaling attains.

# Returns colours: the phantoms bounded; share, expected: data frames of bounds; observations; attributes; unlike;
# components; n_cells. content: the content share at the phantom's bounds; if small, 1 minus the phantom's share would
# be rounding error.
find_bounds <- function(exact, x) {
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
  inside <- inside_bounds(exact, first, colours, x)
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

# Computes the largest rate at which each attribute may be missed, and the observation that sets it.
taxon_bounds <- function(tops, names) {
  data.frame(
    taxon = label_of(seq_along(tops$top), names[[2L]]), missed_most = 1 - tops$top,
    site = ifelse(tops$top > 0, label_of(tops$at, names[[1L]]), NA)
  )
}

# loglik: of the parameters that attain the bounds, if any do.
bound_rows <- function(colours, bound, least, most, loglik = NULL) {
  rows <- data.frame(phantom = colours, bound = bound, least = least, most = most)
  if (!is.null(loglik)) rows[c("loglik_least", "loglik_most")] <- as.list(unname(loglik))
  rows
}

# Computes the expected number of false absences if the rows have content shares u. A row without content gets the
# table's mean content, as in cell_scores().
count_missed <- function(u, outer) {
  bare <- u < least_content
  sum(((1 - u) / u * outer$odds)[!bare]) + sum(outer$bare[bare]) / mean(u)
}

# Computes the inner bounds, for the phantom's share 1 - u.
inside_bounds <- function(exact, outer, colour, x) {
  factors <- content_factors(exact$fit, exact$kinds)
  polytope <- scale_polytope(factors)
  scales <- list(
    minimal = largest_scale(polytope, colMeans(factors$s), tie_break = TRUE), maximal = polytope$lower
  )
  met <- lapply(scales, function(d) rescale_factors(factors, d))
  inner <- ends_of(met, outer, colour, "inner", exact, x)
  u <- lapply(met, function(found) pmin(rowSums(found$s), 1))
  content <- data.frame(inner_least = row_maxima(polytope), inner_most = u$maximal)
  list(
    share = inner$share, expected = inner$expected, content = content,
    sites = data.frame(1 - content, binding = u$minimal > 1 - 1e-6),
    components = data.frame(
      component = component_names(length(exact$kinds))[exact$kinds == "content"], minimal = scales$minimal,
      maximal = scales$maximal
    ),
    limiting = max.col(factors$a, ties.method = "first"),
    fits = stats::setNames(inner$fits[c("least", "most")], c("minimal", "maximal"))
  )
}

# Updates a fit moved to a bound: it is no optimum of a posterior and has no effort curve.
end_fit <- function(fit, kinds, x) {
  fit <- set_loglik(fit, x)
  if (!identical(names(fit$objective), "log_likelihood")) fit$objective <- c(log_likelihood_at_this_end = fit$loglik)
  fit$certificate <- no_certificate
  fit["effort"] <- list(NULL)
  fit$posterior <- NULL
  fit$expected_false <- count_expected(fit, x, kinds)
  fit
}

# Computes the least and the most of two decompositions, and the fits that attain the bounds of the mean share.
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

# Computes the largest content share of each row that rescaling attains, by a linear program each.
row_maxima <- function(polytope) {
  s <- polytope$s
  out <- vapply(seq_len(nrow(s)), function(i) {
    if (polytope$room[i] <= 0) return(1)
    sum(s[i, ] * largest_scale(polytope, s[i, ]))
  }, 0)
  pmin(out, 1)
}

# Computes bounds for every observed zero: present = p / u and missed = (1 - u) / u p / (1 - p) decrease with u.
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
      cell_bounds(p, u, bare | u <= 0, grepl("most", end))
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
  intersect(c("outer_most", "inner_least", "inner_most"), names(observations))
}

# Rows without content (`bare`) have bounds 0 and 1. With any content, its composition is known, as in cell_scores().
cell_bounds <- function(p, u, bare, most) {
  list(present = ifelse(bare, most, pmin(p / u, 1)), missed = ifelse(bare, most, most_missed(p, u, bare = bare)))
}
