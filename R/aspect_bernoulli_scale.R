# Fits that cannot be told apart: an exact white phantom (its aspect all 0) beside content s (n x K), a (K x m), with
# probabilities p = s a. Any other content with the same product and with rows that sum to at most 1 has the same
# likelihood and another phantom. Black phantoms are white ones of the table with 0 and 1 exchanged.

# The fit with its phantoms exact. Pinned ones are; one that was only near 0 is pinned (several become one) and the fit
# is run on from there, because the map between equal fits holds for an exact phantom only. Draws from a posterior, and
# fits that were not the optimum of anything, are not run on (`refit` FALSE): what their phantom wrote is left out. A
# fit without a phantom is one whose phantom has no share. Returns list(fit, kinds, change), the last what pinning
# costs, in nats.
exact_phantom <- function(fit, kinds, x) {
  pinned <- unname(fit$pinned)
  if (all(pinned != "free" | kinds == "content") && any(kinds != "content")) {
    return(list(fit = fit, kinds = kinds, change = 0))
  }
  content <- which(kinds == "content")
  if (!length(content)) stop_input("`fit` must have a component that is no phantom.")
  colours <- intersect(c("white", "black"), kinds)
  param <- list(
    membership = fit$param$membership[, content, drop = FALSE], aspects = fit$param$aspects[content, , drop = FALSE]
  )
  for (kind in colours) {
    param$membership <- cbind(param$membership, rowSums(fit$param$membership[, kinds == kind, drop = FALSE]))
    param$aspects <- rbind(param$aspects, as.double(kind == "black"))
  }
  if (!length(colours)) {
    param <- list(membership = cbind(param$membership, 0), aspects = rbind(param$aspects, 0))
    colours <- "white"
  } else if (can_refit(fit)) {
    pinned <- c(rep("free", length(content)), colours)
    param <- run_on(fit, param, pinned, fit_data(fit, x), fit_control(tol = 1e-11, progress = FALSE))[names(param)]
  }
  out <- pinned_fit(fit, param, colours, x)
  list(fit = out, kinds = unname(ifelse(out$pinned == "free", "content", out$pinned)), change = out$loglik - fit$loglik)
}

can_refit <- function(fit) {
  isTRUE(fit$estimate %in% c("ml", "map")) || (identical(fit$estimate, "vb") && !is.null(fit$posterior))
}

# Nothing may start at exact 0: it could not move.
least_start <- 1e-5

# The model of a fit (its prior, neighbours and effort) fitted to x, from other parameters: list(membership, aspects),
# with effort also its curve, `coef`.
run_on <- function(fit, param, pinned, x, control, least = least_start) {
  free <- pinned == "free"
  param <- lapply(param[c("membership", "aspects")], unname)
  param$membership <- pmax(param$membership, least)
  param$membership <- param$membership / rowSums(param$membership)
  param$aspects[free, ] <- pmin(pmax(param$aspects[free, ], least), 1 - least)
  if (!is.null(fit$effort)) param$coef <- scaled_curve(fit$effort)
  checked_run(fit_problem(fit, x, pinned), param, control)$param
}

# The fit with other parameters, its last components pinned. Draws are of the parameters as fitted.
pinned_fit <- function(fit, param, phantoms, x) {
  fit <- without_draws(fit)
  k <- nrow(param$aspects)
  labels <- component_names(k)
  dimnames(param$membership) <- list(fit$names[[1L]], labels)
  dimnames(param$aspects) <- list(labels, fit$names[[2L]])
  fit$param <- param
  fit$dims[["k"]] <- k
  fit$pinned <- stats::setNames(c(rep("free", k - length(phantoms)), phantoms), labels)
  fit$posterior <- NULL # as they are
  set_loglik(fit, x)
}

set_loglik <- function(fit, x) {
  view <- check_data(fit_data(fit, x), "binary", quiet = TRUE)$view
  fit$loglik <- ab_loglik(view, lapply(fit$param, unname), unname(fit$pinned))
  fit
}

# Content of a fit with one exact phantom: s, a and, for a black phantom, a of the exchanged table.
content_factors <- function(fit, kinds) {
  content <- kinds == "content"
  a <- unname(fit$param$aspects[content, , drop = FALSE])
  list(s = unname(fit$param$membership[, content, drop = FALSE]), a = if (any(kinds == "black")) 1 - a else a)
}

# The rescalings that leave a fit as it is: aspects a_k / d_k, memberships d_k s_k, the phantom takes the rest. They are
# allowed while d_k >= max_j a_kj and sum_k s_ik d_k <= 1 for every i, a polytope in d = lower + e.
scale_polytope <- function(factors) {
  used <- colSums(factors$s) > least_content
  lower <- ifelse(used, apply(factors$a, 1L, max), 1)
  room <- pmax(1 - as.vector(factors$s %*% lower), 0)
  rows <- binding_rows(factors$s[, used, drop = FALSE], room)
  list(s = factors$s, lower = lower, room = room, used = used, rows = rows)
}

# Of the constraints s e <= room those that no other implies: not below another in all of s / room.
binding_rows <- function(s, room) {
  rate <- s / pmax(room, 1e-300)
  rate[!is.finite(rate)] <- .Machine$double.xmax
  at <- order(-rowSums(pmin(rate, 1e100)))
  kept <- integer()
  for (i in at) {
    implied <- FALSE
    if (length(kept)) {
      above <- matrix(rate[i, ], length(kept), ncol(rate), byrow = TRUE) <= rate[kept, , drop = FALSE]
      implied <- any(rowSums(above) == ncol(rate))
    }
    if (!implied && any(s[i, ] > 0)) kept <- c(kept, i)
  }
  kept
}

# The scale d at which `weight` . d is largest, a linear program; with `tie_break`, of all such the one of least sum.
# The solution is pulled inside where rounding left it out.
largest_scale <- function(polytope, weight, tie_break = FALSE) {
  d <- polytope$lower
  tight <- polytope$rows[polytope$room[polytope$rows] <= 0]
  free <- which(polytope$used & colSums(polytope$s[tight, , drop = FALSE]) == 0)
  rows <- setdiff(polytope$rows, tight)
  if (!length(free) || !length(rows) || all(weight[free] <= 0)) {
    return(d)
  }
  rate <- polytope$s[rows, free, drop = FALSE] / polytope$room[rows]
  size <- apply(rate, 2L, max) # in units in which each e by itself is at most 1
  rate <- sweep(rate, 2L, size, "/")
  gain <- weight[free] / size
  gain <- gain / max(gain)
  limit <- list(rate = rate, sign = rep("<=", length(rows)), most = rep(1, length(rows)))
  e <- lpSolve::lp("max", gain, limit$rate, limit$sign, limit$most)$solution
  if (tie_break) {
    best <- sum(gain * e) * (1 - 1e-9)
    second <- lpSolve::lp("min", 1 / size, rbind(rate, gain), c(limit$sign, ">="), c(limit$most, best))
    if (second$status == 0L) e <- second$solution
  }
  e <- pmax(e, 0)
  d[free] <- d[free] + e / size * min(1, 1 / max(rate %*% e, 1))
  d
}

scale_of <- function(factors, convention) {
  polytope <- scale_polytope(factors)
  switch(convention,
    maximal = polytope$lower,
    minimal = largest_scale(polytope, colMeans(polytope$s), tie_break = TRUE)
  )
}

# A fit in another convention: list(fit, kinds). "fitted" leaves both as they are.
use_convention <- function(fit, kinds, convention, x = NULL) {
  convention <- check_choice(convention, "phantom_convention", c("fitted", "minimal", "maximal"))
  kinds <- component_kinds(fit, kinds)
  if (convention == "fitted") {
    return(list(fit = fit, kinds = kinds))
  }
  check_fit(fit, "aspect_bernoulli")
  if (length(setdiff(kinds, "content")) != 1L) {
    stop_input(
      "`phantom_convention` = %s needs a fit with phantoms of one kind, white or black: this one has %s.",
      show_value(convention), if (all(kinds == "content")) "none" else "both"
    )
  }
  # Of draws the means: decompositions are of one set of parameters.
  fit <- without_draws(fit)
  exact <- exact_phantom(fit, kinds, x)
  exact$fit$posterior <- NULL # it is of the parameters as fitted
  d <- scale_of(content_factors(exact$fit, exact$kinds), convention)
  list(fit = rescale_content(exact$fit, exact$kinds, d), kinds = exact$kinds)
}

rescale_content <- function(fit, kinds, d) {
  with_content(fit, kinds, rescale_factors(content_factors(fit, kinds), d))
}

# An aspect that writes nothing at all may have scale 0: it stays as it is, and its share goes to the phantom.
rescale_factors <- function(factors, d) {
  list(s = sweep(factors$s, 2L, d, "*"), a = pmin(factors$a / ifelse(d > 0, d, 1), 1))
}

# A fit with other content; the phantom takes the rest of each row.
with_content <- function(fit, kinds, factors) {
  content <- kinds == "content"
  fit$param$aspects[content, ] <- if (any(kinds == "black")) 1 - factors$a else factors$a
  s <- fit$param$membership
  s[, content] <- factors$s
  s[, !content] <- pmax(1 - rowSums(factors$s), 0)
  fit$param$membership <- s / rowSums(s)
  fit
}

# A search among decompositions with the same probabilities that rescaling cannot reach, because they mix the content
# components: moves that change one component's aspect at a time,
#   a_k <- (a_k + sum_{j != k} w_j a_j) / (1 - w_k),   s_j <- s_j - w_j s_k (j != k),   s_k <- (1 - w_k) s_k,
# which leave s a as it is for every w, and are allowed where
#   0 <= a_k + sum_{j != k} w_j a_j <= 1 - w_k,   s_j >= w_j s_k,   sum_j w_j >= -min_i (1 - u_i) / s_ik.
# All of that is linear in w, and content's share u_i changes by -s_ik sum_j w_j: so the best move of a component is a
# linear program in K unknowns. Moves of all components in turn climb to an end that no single one improves.

# The move of component k that is best for `gain` . w, cut back where rounding left the polytope; NULL: there is none.
best_move <- function(s, a, k, gain) {
  with_k <- s[, k] > least_content
  if (!any(with_k)) {
    return(NULL)
  }
  share <- s[with_k, , drop = FALSE]
  upper <- apply(share / share[, k], 2L, min)
  upper[k] <- 1 - 1e-6
  lowest_sum <- -min((1 - pmin(rowSums(share), 1)) / share[, k])
  mix <- a
  mix[k, ] <- 0
  # Rows: a' >= 0; a' <= 1 - w_k; the sum. In y = upper - w >= 0.
  rate <- rbind(-t(mix), t(mix), rep(-1, nrow(a)))
  rate[ncol(a) + seq_len(ncol(a)), k] <- 1
  most <- c(a[k, ], 1 - a[k, ], -lowest_sum)
  program <- lpSolve::lp("min", gain, -rate, rep("<=", length(most)), most - as.vector(rate %*% upper))
  if (program$status != 0L) {
    return(NULL)
  }
  w <- pmin(upper - program$solution, upper)
  used <- as.vector(rate %*% w)
  w * min(1, (most / used)[used > most & used > 0])
}

move_component <- function(factors, k, w) {
  s <- factors$s
  a <- factors$a
  others <- seq_along(w)[-k]
  a[k, ] <- (a[k, ] + colSums(w[others] * a[others, , drop = FALSE])) / (1 - w[k])
  s[, others] <- s[, others] - outer(s[, k], w[others])
  s[, k] <- s[, k] * (1 - w[k])
  list(s = pmax(s, 0), a = pmin(pmax(a, 0), 1))
}

# The rescaling of all components together with the largest (smallest) mean share of content.
rescale_best <- function(factors, sign) {
  polytope <- scale_polytope(factors)
  d <- if (sign < 0) polytope$lower else largest_scale(polytope, colMeans(factors$s))
  rescale_factors(factors, d)
}

# Rescalings and moves of all components in random order until the mean share of content rises (falls) no more.
climb <- function(factors, sign, most_rounds = 30L) {
  k <- ncol(factors$s)
  for (round in seq_len(most_rounds)) {
    before <- sum(factors$s)
    factors <- rescale_best(factors, sign)
    for (c in sample.int(k)) {
      w <- best_move(factors$s, factors$a, c, rep(-sign, k))
      if (!is.null(w)) factors <- move_component(factors, c, w)
    }
    if (abs(sum(factors$s) - before) < 1e-7 * nrow(factors$s)) break
  }
  factors
}

# Some random moves, each a random part of the way to a random corner.
wander <- function(factors, steps = ncol(factors$s)) {
  k <- ncol(factors$s)
  for (c in sample.int(k, steps, replace = TRUE)) {
    w <- best_move(factors$s, factors$a, c, stats::rnorm(k))
    if (!is.null(w)) factors <- move_component(factors, c, w * stats::runif(1L))
  }
  factors
}

# Climbs both ways from the fit and from n_start places near it. Returns every decomposition met whose probabilities
# are those of the fit.
search_decompositions <- function(factors, n_start) {
  p <- factors$s %*% factors$a
  met <- list()
  for (start in seq_len(n_start)) {
    from <- if (start == 1L) factors else wander(factors)
    for (found in list(from, climb(from, 1), climb(from, -1))) {
      if (max(abs(found$s %*% found$a - p)) < 1e-10) met <- c(met, list(found))
    }
  }
  met
}

# How much may be missing where attributes differ in how easily they are recorded. A phantom misses all attributes of an
# observation alike. Misses that are an attribute's own are another decomposition of the same probabilities,
# p_ij = present_ij d_j, with d_j at least the largest probability in the column. With both, p_ij = present_ij e_i d_j:
# for one cell by itself e_i d_j is at least p_ij, and at least the largest other in its row times the largest other in
# its column, which bound e_i and d_j where nothing else is missed.

# Of each row the largest probability of an observed cell, its column, and the second largest; 0 where there is none.
two_tops <- function(p, observed) {
  first <- row_tops(p, observed)
  observed[cbind(seq_along(first$at), first$at)] <- FALSE
  list(top = first$top, at = first$at, second = row_tops(p, observed)$top)
}

# The same of the columns of the whole table, `at` being rows.
column_tops <- function(fit, x, colour) {
  all <- NULL
  for (rows in row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]])) {
    seen <- seen_rows(fit, x, rows, colour)
    all <- merge_tops(all, two_tops(t(seen$p), t(seen$observed)), rows)
  }
  all
}

# Tops of columns over the rows before (NULL: none) and these.
merge_tops <- function(all, new, rows) {
  new$at <- rows[new$at]
  if (is.null(all)) {
    return(new)
  }
  better <- new$top > all$top
  all$second <- ifelse(better, pmax(all$top, new$second), pmax(all$second, new$top))
  all$at[better] <- new$at[better]
  all$top <- pmax(all$top, new$top)
  all
}

# The most of the missed chance of every cell of some rows, by whose the misses may be.
unlike_missed <- function(seen, rows, columns) {
  own <- two_tops(seen$p, seen$observed)
  n <- length(rows)
  m <- length(columns$top)
  by_row <- matrix(own$top, n, m)
  by_row[cbind(seq_len(n), own$at)] <- own$second
  by_column <- matrix(columns$top, n, m, byrow = TRUE)
  taxon <- most_missed(seen$p, by_column)
  here <- which(columns$at %in% rows)
  by_column[cbind(match(columns$at[here], rows), here)] <- columns$second[here]
  list(taxon = taxon, both = most_missed(seen$p, pmax(seen$p, by_row * by_column)))
}

# most: of false absences (presences), by whose the misses may be; tops: of the columns.
unlike_bounds <- function(fit, x, colour) {
  columns <- column_tops(fit, x, colour)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    vapply(unlike_missed(seen, rows, columns), function(missed) sum(missed[seen$zero]), 0)
  })
  list(most = Reduce(`+`, blocks), tops = columns)
}

# Cells in the order of bound_cells().
unlike_cells <- function(fit, x, colour) {
  columns <- column_tops(fit, x, colour)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    as.data.frame(lapply(unlike_missed(seen, rows, columns), function(missed) missed[seen$zero]))
  })
  do.call(rbind, blocks)
}

unlike_sentences <- function(id) {
  words <- kept_words(id)
  one <- singular_word(words)
  assumed <- sprintf("All this assumes that gaps fall on all %s of a %s alike.", words[2L], one[1L])
  rows <- id$unlike
  said <- lapply(unique(rows$phantom), function(colour) {
    of <- rows[rows$phantom == colour, ]
    most <- if (is.null(of$draws_most)) of$most else pmax(of$most, of$draws_most)
    count <- function(by) format_big(round(most[of$missed_by == by]))
    sprintf(
      paste(
        "If instead each %s is missed at a rate of its own, up to %s of %s %s may be false; if each %s has a rate of",
        "its own as well, up to %s."
      ),
      one[2L], count("taxon"), format_big(of$n_cells[1L]), if (colour == "white") "zeros" else "ones", one[1L],
      count("both")
    )
  })
  c(assumed, unlist(said))
}
