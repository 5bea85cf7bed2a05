# Noisy-OR whose presences are recorded with a chance for each site, and a factor of it for each taxon: what is there,
# and what was missed. The kernel's part is in src/noisy_or/noisy_or.h, eqs. (R1) to (R4).

nor_recorded_parts <- function(model) {
  switch(model$missed_by, none = NULL, site = "recorded_site", both = c("recorded_site", "recorded_taxon"))
}

# Start values of chances that are not given.
nor_first_recorded <- function(param, distinct, model) {
  parts <- nor_recorded_parts(model)
  if ("recorded_site" %in% parts) param$recorded_site <- param$recorded_site %||% rep(0.5, distinct$view$dim[1L])
  if ("recorded_taxon" %in% parts) param$recorded_taxon <- param$recorded_taxon %||% rep(0.8, distinct$view$dim[2L])
  param
}

nor_name_recorded <- function(param, distinct, names) {
  out <- list()
  if (!is.null(param$recorded_site)) {
    out$recorded_site <- stats::setNames(param$recorded_site[distinct$group], names[[1L]])
  }
  if (!is.null(param$recorded_taxon)) out$recorded_taxon <- stats::setNames(param$recorded_taxon, names[[2L]])
  out
}

# The chance that a presence is recorded, n x m (1 where all are).
recorded_chances <- function(param, n = length(param$recorded_site)) {
  site <- if (is.null(param$recorded_site)) rep(1, n) else unname(param$recorded_site)
  taxon <- if (is.null(param$recorded_taxon)) rep(1, length(param$leak)) else unname(param$recorded_taxon)
  outer(site, taxon)
}

# The chances of recording in new sites: the same climb, all else held.
nor_site_recorded <- function(fit, data) {
  param <- nor_first_recorded(
    lapply(fit$param[c("prior", "links", "leak", "recorded_taxon")], unname), list(view = data$view), fit$model
  )
  control <- fit_control(n_start = 1, max_pass = 500, tol = 1e-10, accelerate = FALSE)
  out <- .Call(
    mc_c_nor_fit, data$view, nor_kernel_param(param), nor_settings(fit$model, fixed = TRUE), unclass(control)
  )
  check_outcome(out$outcome)
  out$recorded_site
}

# What a fit expects of cells: a find ("response"), or the taxon itself ("present"), which a one proves and a zero
# makes less likely, eq. (R1).
nor_presences <- function(param, data, model, type) {
  cells <- dense_rows(data$x, seq_len(nrow(data$x)))
  want <- c("loglik", "response", if (type == "present" && !is.null(param$recorded_site)) "missed")
  out <- nor_report(list(view = data$view), param, model, want)
  value <- out$response
  if (type == "response") {
    value <- value * recorded_chances(param)
  } else {
    value[cells %in% 0] <- if (is.null(out$missed)) 0 else out$missed[cells %in% 0]
    value[cells %in% 1] <- 1
  }
  list(value = value, impossible = which(out$loglik == -Inf))
}

# How many zeros are expected to hide a presence.
nor_count_missed <- function(fit, x) {
  param <- lapply(fit$param, unname)
  sum(vapply(row_blocks(seq_len(nrow(x)), ncol(x)), function(rows) {
    block <- nor_rows(x, rows)
    param$recorded_site <- param$recorded_site[rows]
    missed <- nor_report(list(view = block$view), param, fit$model, "missed")$missed
    sum(missed[dense_rows(x, rows) %in% 0])
  }, 0))
}

nor_rows <- function(x, rows) check_data(x[rows, , drop = FALSE], "binary", quiet = TRUE)

cell_scores.noisy_or <- function(fit, rows, kinds, of = "absences") {
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  param <- lapply(fit$param, unname)
  param$recorded_site <- param$recorded_site[rows]
  out <- nor_report(
    list(view = nor_rows(nor_own_data(fit), rows)$view), param, fit$model, c("response", "missed")
  )
  recorded <- recorded_chances(param)
  if (of == "presences") { # none is false
    none <- 0 * recorded
    return(list(probability = 1 - recorded * out$response, present = 1 - out$response, missed = none, phantom = none))
  }
  list(
    probability = recorded * out$response, present = out$response, missed = out$missed,
    phantom = 1 - recorded + recorded * out$missed
  )
}

largest_missed.noisy_or <- function(fit, scores, observed, kinds, of) scores$missed

#' @rdname phantoms
#' @export
phantoms.noisy_or <- function(fit, ...) {
  check_dots(...)
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  links <- fit$param$links
  recorded <- recorded_chances(fit$param)
  density <- fit$density
  rows <- rbind(links, recording = 0)
  structure(
    data.frame(
      component = c(component_names(nrow(links)), "recording"), kind = rep(c("content", "white"), c(nrow(links), 1L)),
      pinned = rep(c(FALSE, TRUE), c(nrow(links), 1L)), weight = c(unname(fit$param$prior), mean(1 - recorded)),
      mean = unname(rowMeans(rows)), min = unname(apply(rows, 1L, min)), max = unname(apply(rows, 1L, max)),
      white_ratio = unname(rowMeans(rows)) / density, black_ratio = unname(rowMeans(1 - rows)) / (1 - density)
    ),
    class = c("phantoms", "data.frame"), density = density
  )
}

bound_sentences.noisy_or <- function(fit, ...) {
  "How much was missed rests on taxa that have several causes at once, and on the prior: see ?noisy_or."
}

recorded_sentences <- function(fit) {
  if (is.null(fit$missed_by)) {
    return(NULL)
  }
  words <- axis_words(fit)
  recorded <- recorded_chances(fit$param)
  ends <- format(range(rowMeans(recorded)), digits = 2L)
  zeros <- fit$dims[["observed"]] - sum(fit$margins$row_sum)
  c(
    sprintf(
      "A presence is recorded with a chance of %s on average, from %s to %s by %s.", format(mean(recorded), digits = 2L),
      ends[1L], ends[2L], singular_word(words[1L])
    ),
    sprintf(
      "Of %s zeros %s are expected to be false: false_absences() ranks them.", format_big(zeros),
      format_big(round(fit$missed))
    ),
    bound_sentences(fit)
  )
}

# New rows: all states of the sources, with chances of recording as the sites of the fit have them, are the components.
recorded_quantiles <- 16L

recorded_rows <- function(fit, param, data, floor) {
  k <- fit$dims[["k"]]
  if (k > nor_auto_exact) {
    stop_no_likelihood("Rows have a likelihood under `missed_by` with at most %d components: hold out cells.", nor_auto_exact)
  }
  at <- (seq_len(recorded_quantiles) - 0.5) / recorded_quantiles
  site <- unname(stats::quantile(param$recorded_site, at, names = FALSE))
  states <- outer(seq_len(2^k) - 1, 2^(seq_len(k) - 1), bitwAnd) > 0
  off <- pmax(log1p(-param$links), -1e6)
  cells <- function(rows) {
    state <- (rows - 1L) %/% recorded_quantiles + 1L
    on <- -expm1(sweep(states[state, , drop = FALSE] %*% off, 2L, pmax(log1p(-param$leak), -1e6), "+"))
    param$recorded_site <- site[(rows - 1L) %% recorded_quantiles + 1L]
    one <- on * recorded_chances(param)
    list(one = one, zero = 1 - one)
  }
  weight <- colSums(ifelse(t(states), log(param$prior), log1p(-param$prior))) - log(recorded_quantiles)
  mixture_loglik(data$view, cells, rep(weight, each = recorded_quantiles), floor)
}
