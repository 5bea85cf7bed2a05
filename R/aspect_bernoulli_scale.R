# Equally good decompositions: an exact white phantom (its aspect all 0) beside content s (n x K), a (K x m), with
# probabilities p = s a. Any other content with the same product and with row sums of at most 1 has the same likelihood
# and another phantom. Black phantoms are white ones of the table with 0 and 1 exchanged.

# Makes the phantoms of a fit exact. One that was only near 0 is fixed (several become one) and the fit is resumed,
# because the map between equal fits holds for exact phantoms only. Draws from a posterior and fits that are no optimum
# are not refitted (`refit` FALSE): what their phantom wrote is dropped. A fit without a phantom gets one of share 0.
# Returns list(fit, kinds, change), the last the cost of fixing in nats.
exact_phantom <- function(fit, kinds, x) {
  fixed <- unname(fit$fixed)
  if (all(fixed != "free" | kinds == "content") && any(kinds != "content")) {
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
    fixed <- c(rep("free", length(content)), colours)
    param <- run_on(fit, param, fixed, fit_data(fit, x), fit_control(tol = 1e-11, progress = FALSE))[names(param)]
  }
  out <- fixed_fit(fit, param, colours, x)
  list(fit = out, kinds = unname(ifelse(out$fixed == "free", "content", out$fixed)), change = out$loglik - fit$loglik)
}

can_refit <- function(fit) {
  isTRUE(fit$estimate %in% c("ml", "map")) || (identical(fit$estimate, "vb") && !is.null(fit$posterior))
}

# Starting values are at least this because an exact 0 cannot move.
least_start <- 1e-5

# Fits the model of a fit (its prior, neighbours and effort) to x from other parameters: list(membership, aspects), with
# effort also its curve, `coef`.
run_on <- function(fit, param, fixed, x, control, least = least_start) {
  free <- fixed == "free"
  param <- lapply(param[c("membership", "aspects")], unname)
  param$membership <- pmax(param$membership, least)
  param$membership <- param$membership / rowSums(param$membership)
  param$aspects[free, ] <- pmin(pmax(param$aspects[free, ], least), 1 - least)
  if (!is.null(fit$effort)) param$coef <- scaled_curve(fit$effort)
  checked_run(fit_problem(fit, x, fixed), param, control)$param
}

# Replaces the parameters of a fit, its last components fixed; draws, which belong to the old parameters, are dropped.
fixed_fit <- function(fit, param, phantoms, x) {
  fit <- without_draws(fit)
  k <- nrow(param$aspects)
  labels <- component_names(k)
  dimnames(param$membership) <- list(fit$names[[1L]], labels)
  dimnames(param$aspects) <- list(labels, fit$names[[2L]])
  fit$param <- param
  fit$dims[["k"]] <- k
  fit$fixed <- stats::setNames(c(rep("free", k - length(phantoms)), phantoms), labels)
  fit$posterior <- NULL # as they are
  set_loglik(fit, x)
}

set_loglik <- function(fit, x) {
  view <- check_data(fit_data(fit, x), "binary", quiet = TRUE)$view
  fit$loglik <- ab_loglik(view, lapply(fit$param, unname), unname(fit$fixed))
  fit
}

# Returns the content of a fit with one exact phantom: s, a and, for a black phantom, a of the exchanged table.
content_factors <- function(fit, kinds) {
  content <- kinds == "content"
  a <- unname(fit$param$aspects[content, , drop = FALSE])
  list(s = unname(fit$param$membership[, content, drop = FALSE]), a = if (any(kinds == "black")) 1 - a else a)
}

# Rescalings that leave the probabilities unchanged: aspects a_k / d_k, memberships d_k s_k, the phantom takes the rest.
# They are allowed while d_k >= max_j a_kj and sum_k s_ik d_k <= 1 for every i, a polytope in d = lower + e.
scale_polytope <- function(factors) {
  used <- colSums(factors$s) > least_content
  lower <- ifelse(used, apply(factors$a, 1L, max), 1)
  room <- pmax(1 - as.vector(factors$s %*% lower), 0)
  rows <- binding_rows(factors$s[, used, drop = FALSE], room)
  list(s = factors$s, lower = lower, room = room, used = used, rows = rows)
}

# Selects the constraints s e <= room that no other implies: not below another in all of s / room.
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

# Maximises `weight` . d over the scales by a linear program; `tie_break`: takes the solution of least sum. Rounding
# errors are corrected by moving the solution inside.
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

# Converts a fit to another convention: list(fit, kinds). "fitted" changes nothing.
use_convention <- function(fit, kinds, convention, x = NULL) {
  convention <- check_choice(convention, "phantom_convention", c("fitted", "minimal", "maximal"))
  kinds <- component_kinds(fit, kinds)
  if (convention == "fitted") {
    return(list(fit = fit, kinds = kinds))
  }
  check_fit(fit, c("aspect_bernoulli", "visits_bernoulli"))
  if (length(setdiff(kinds, "content")) != 1L) {
    stop_input(
      "`phantom_convention` = %s needs a fit with phantoms of one kind, white or black: this one has %s.",
      show_value(convention), if (all(kinds == "content")) "none" else "both"
    )
  }
  # Decompositions refer to one set of parameters, so draws are replaced by their means.
  fit <- without_draws(fit)
  exact <- exact_phantom(fit, kinds, x)
  exact$fit$posterior <- NULL # it is of the parameters as fitted
  d <- scale_of(content_factors(exact$fit, exact$kinds), convention)
  list(fit = rescale_content(exact$fit, exact$kinds, d), kinds = exact$kinds)
}

rescale_content <- function(fit, kinds, d) {
  with_content(fit, kinds, rescale_factors(content_factors(fit, kinds), d))
}

# An aspect that writes nothing at all may have scale 0: it is unchanged, and its share goes to the phantom.
rescale_factors <- function(factors, d) {
  list(s = sweep(factors$s, 2L, d, "*"), a = pmin(factors$a / ifelse(d > 0, d, 1), 1))
}

# Replaces the content of a fit; the phantom takes the rest of each row.
with_content <- function(fit, kinds, factors) {
  content <- kinds == "content"
  fit$param$aspects[content, ] <- if (any(kinds == "black")) 1 - factors$a else factors$a
  s <- fit$param$membership
  s[, content] <- factors$s
  s[, !content] <- pmax(1 - rowSums(factors$s), 0)
  fit$param$membership <- s / rowSums(s)
  fit
}

# Bounds of the missed probability if attributes differ in how easily they are recorded. A phantom misses all attributes
# of an observation equally. Misses specific to attributes are another decomposition of the same probabilities, p_ij =
# present_ij d_j, with d_j at least the largest probability in the column. With both, p_ij = present_ij e_i d_j: for a
# single cell e_i d_j is at least p_ij, and at least the largest other value in its row times the largest other in its
# column, which bound e_i and d_j if nothing else is missed.

# Finds for each row the largest probability of an observed cell, its column, and the second largest; 0 if none.
two_tops <- function(p, observed) {
  first <- row_tops(p, observed)
  observed[cbind(seq_along(first$at), first$at)] <- FALSE
  list(top = first$top, at = first$at, second = row_tops(p, observed)$top)
}

# Finds the same for the columns of the whole table, `at` being rows.
column_tops <- function(fit, x, colour) {
  all <- NULL
  for (rows in row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]])) {
    seen <- seen_rows(fit, x, rows, colour)
    all <- merge_tops(all, two_tops(t(seen$p), t(seen$observed)), rows)
  }
  all
}

# Merges the tops of columns over earlier rows (NULL: none) with these.
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

# Bounds the missed probability of every cell of some rows, for misses by attribute and by both sides.
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

# most: bounds of the number of false absences (presences) for each kind of misses; tops: of the columns.
unlike_bounds <- function(fit, x, colour) {
  columns <- column_tops(fit, x, colour)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    vapply(unlike_missed(seen, rows, columns), function(missed) sum(missed[seen$zero]), 0)
  })
  list(most = Reduce(`+`, blocks), tops = columns)
}

# Returns the bounds of cells in the order of bound_cells().
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
