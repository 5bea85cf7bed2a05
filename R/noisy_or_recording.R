# Noisy-OR whose presences are recorded with a chance for each site, and a factor of it for each taxon: what is there,
# and what was missed. The kernel's part is in src/noisy_or/noisy_or.h, eqs. (R1) to (R5).

# The chances that a site may have, as nor_chance() in C has them.
recorded_grid <- 10L
recorded_grid_chances <- function() (seq_len(recorded_grid) / recorded_grid)^2

nor_check_effort <- function(effort, data, missed_by) {
  if (is.null(effort)) {
    return(NULL)
  }
  if (missed_by == "none") stop_input("`effort` needs `missed_by`: \"site\", or \"both\".")
  check_site_effort(effort, data)
}

# A table, or repeated visits: `x` is then what any visit found, `visits` the numbers made to each cell and with a find,
# m x n, and `cell` the array.
nor_check_data <- function(x, inference, missed_by, control) {
  if (missing(x) || is_table(x)) {
    return(check_data(x, "binary"))
  }
  cell <- check_visits(x)
  if (missed_by == "none") stop_input("`missed_by` must be \"site\" or \"both\" where `x` is of repeated visits.")
  if (inference == "variational") {
    stop_input("`inference` must be \"exact\" or \"truncated\" where `x` is of repeated visits, not \"variational\".")
  }
  if (!control$keep_x) stop_input("`keep_x` must be TRUE where `x` is of repeated visits, which a fit needs later.")
  tell_single_visits(cell)
  data <- check_data(any_visit(cell), "binary", name = "x", turn = NULL)
  c(data, list(cell = cell, visits = nor_count_visits(cell)))
}

nor_count_visits <- function(cell) {
  count <- function(of) structure(as.integer(t(rowSums(of, na.rm = TRUE, dims = 2L))), dim = dim(cell)[2:1])
  list(made = count(!is.na(cell)), found = count(cell))
}

nor_recorded_parts <- function(model) {
  by <- model$missed_by %||% "none"
  switch(by, none = NULL, site = "recorded_share", both = c("recorded_share", "recorded_taxon"))
}

# Start values of what is not given.
nor_first_recorded <- function(param, m, model) {
  parts <- nor_recorded_parts(model)
  if ("recorded_share" %in% parts) {
    param$recorded_share <- param$recorded_share %||% rep(1 / recorded_grid, recorded_grid)
  }
  if (!is.null(model$effort)) param$coef <- param$coef %||% flat_curve(0.4)
  if ("recorded_taxon" %in% parts) param$recorded_taxon <- param$recorded_taxon %||% rep(0.8, m)
  param
}

nor_name_recorded <- function(param, distinct, names, model) {
  if (is.null(param$recorded_share)) {
    return(NULL)
  }
  site <- nor_report(distinct, param, model, "site")$site[distinct$group]
  out <- list(
    recorded_site = stats::setNames(site, names[[1L]]),
    recorded_share = stats::setNames(param$recorded_share, format(recorded_grid_chances()))
  )
  if (!is.null(param$recorded_taxon)) out$recorded_taxon <- stats::setNames(param$recorded_taxon, names[[2L]])
  out
}

# The chance that a presence is recorded in sites with these chances, sites x m.
recorded_chances <- function(param, site) {
  outer(unname(site), if (is.null(param$recorded_taxon)) rep(1, length(param$leak)) else unname(param$recorded_taxon))
}

# Of n new sites, or of the fit's own effort.
draw_recorded <- function(fit, n) {
  param <- fit$param
  if (is.null(param$recorded_share)) {
    return(1)
  }
  if (!is.null(fit$effort)) {
    kept <- stats::rbinom(n, recorded_grid - 1L, 1 - effort_missed(fit$effort$coefficients, fit$effort$values))
    return(recorded_chances(param, recorded_grid_chances()[kept + 1L]))
  }
  recorded_chances(param, sample(recorded_grid_chances(), n, replace = TRUE, prob = param$recorded_share))
}

# The chance that the taxon is there: a one proves it, a zero makes it less likely, eq. (R1).
nor_presences <- function(out, data) {
  cells <- dense_rows(data$x, seq_len(nrow(data$x)))
  value <- if (is.null(out$present)) out$response else out$present
  value[cells %in% 0] <- if (is.null(out$missed)) 0 else out$missed[cells %in% 0]
  value[cells %in% 1 & !is.na(value)] <- 1
  value
}

# Rows of a fit's table, and which sources are known there.
nor_rows <- function(fit, x, rows) {
  data <- check_data(x[rows, , drop = FALSE], "binary", quiet = TRUE)
  if (!is.null(fit$known)) data$known <- unname(t(fit$known[rows, , drop = FALSE]))
  nor_with_search(data, fit, rows)
}

# How well these rows of the fit's own were searched.
nor_with_search <- function(data, fit, rows) {
  if (!is.null(fit$effort)) data$effort <- scale_effort(fit$effort$values)[rows]
  if (!is.null(fit$visits)) data$visits <- nor_count_visits(fit$visits[rows, , , drop = FALSE])
  data
}

# How many zeros are expected to hide a presence.
nor_count_missed <- function(fit, x) {
  sum(vapply(row_blocks(seq_len(nrow(x)), ncol(x)), function(rows) {
    block <- nor_rows(fit, x, rows)
    missed <- nor_report(block, lapply(fit$param, unname), fit$model, "response")$missed
    sum(missed[dense_rows(x, rows) %in% 0])
  }, 0))
}

cell_scores.noisy_or <- function(fit, rows, kinds, of = "absences") {
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  if (is.null(fit$x)) stop_input("This fit was made with `keep_x = FALSE`: fit again with the data kept.")
  data <- nor_rows(fit, fit$x, rows)
  out <- nor_report(data, lapply(fit$param, unname), fit$model, "response")
  if (of == "presences") { # none is false
    none <- 0 * out$present
    return(list(probability = 1 - out$response, present = 1 - out$present, missed = none, phantom = none))
  }
  list(probability = out$response, present = out$present, missed = out$missed, phantom = out$phantom)
}

# A find by one visit more, of visits; else a one again.
recorded_probability.noisy_or <- function(fit) {
  if (is.null(fit$visits)) {
    return(presence_probability(fit))
  }
  data <- nor_rows(fit, fit$x, seq_len(nrow(fit$x)))
  array(nor_report(data, lapply(fit$param, unname), fit$model, c("response", "again"))$again, dim(fit$visits))
}

check_tells_visits.noisy_or <- function(fit) {
  if (is.null(fit$visits)) NextMethod()
}

largest_missed.noisy_or <- function(fit, scores, observed, kinds, of) scores$missed

#' @rdname phantoms
#' @export
phantoms.noisy_or <- function(fit, ...) {
  check_dots(...)
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  k <- fit$dims[["k"]]
  visits <- if (is.null(fit$visits)) 1 else t(nor_count_visits(fit$visits)$made)
  missed <- mean(((1 - recorded_chances(fit$param, fit$param$recorded_site))^visits)[visits > 0])
  # Several causes may be at work at a site: none has a share of it. One that does little hides nothing.
  shares <- list(weight = c(fit$param$prior, missed), alone = rep(NA_real_, k + 1L))
  param <- list(aspects = rbind(fit$param$links, 0), shares = shares)
  pinned <- rep(c("free", "white"), c(k, 1L))
  table <- phantom_table(param, fit$density, pinned, rep(TRUE, fit$dims[["m"]]))
  table$component[k + 1L] <- "recording"
  table$kind <- rep(c("content", "white"), c(k, 1L))
  table$alone <- NULL
  structure(table, class = c("phantoms", "data.frame"), density = fit$density)
}

bound_sentences.noisy_or <- function(fit, ...) {
  if (!is.null(fit$visits)) {
    return("What was missed rests on repeated visits, each taken to find as well as the others to its site.")
  }
  several <- sum(apply(fit$param$links, 2L, function(links) sum(links >= nor_least_cause) > 1L))
  words <- axis_words(fit)[2L]
  c(
    if (fit$dims[["k"]] == 1L) {
      "One component does not tell what was missed from what is rare: the prior decides."
    } else if (diff(range(fit$param$links)) < nor_least_cause) {
      "All links are about the same, which does not tell what was missed from what is rare: the prior decides."
    } else if (several == 0L) {
      sprintf("No two components share %s: that alone would tell what was missed. The prior decides.", words)
    } else {
      sprintf(
        "How much was missed rests on %s of several components (%d of %d), and on the prior: see ?noisy_or.", words,
        several, fit$dims[["m"]]
      )
    },
    if (is.null(fit$effort)) {
      "How sure: other numbers may fit as well; identifiability() says between which ends."
    } else {
      "How sure: this rests on effort, by a logistic curve; see identifiability() of a fit without it."
    }
  )
}

nor_least_cause <- 0.05 # the least link that counts as a cause in what is said

recorded_sentences <- function(fit) {
  if (is.null(fit$missed_by)) {
    return(NULL)
  }
  recorded <- recorded_chances(fit$param, fit$param$recorded_site)
  ends <- format(round(range(rowMeans(recorded)), 2L))
  zeros <- fit$dims[["observed"]] - sum(fit$margins$row_sum)
  c(
    sprintf(
      "A presence is recorded%s with a chance of %s on average, from %s to %s by %s.",
      if (is.null(fit$visits)) "" else " by a visit", format(round(mean(recorded), 2L)), ends[1L], ends[2L],
      singular_word(axis_words(fit)[1L])
    ),
    if (!is.null(fit$effort)) recorded_effort_sentence(fit$effort),
    sprintf(
      "Of %s zeros %s are expected to be false: false_absences() ranks them.", format_big(zeros),
      format_big(round(fit$missed))
    ),
    bound_sentences(fit)
  )
}

recorded_effort_sentence <- function(effort) {
  at <- stats::quantile(effort$values, c(0.1, 0.9), names = FALSE)
  kept <- 1 - effort_missed(effort$coefficients, at)
  most <- recorded_grid - 1L
  chance <- ((1 + most * kept)^2 + most * kept * (1 - kept)) / recorded_grid^2
  sprintf(
    "A site's chance follows effort: %s at an effort of %s, %s at %s.", format(round(chance[1L], 2L)),
    format_each(at[1L]), format(round(chance[2L], 2L)), format_each(at[2L])
  )
}

has_detection.noisy_or <- function(fit) !is.null(fit$missed_by)
