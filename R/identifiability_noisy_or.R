# Identifiability of the probability of recording and of the false absences of a noisy-OR fit by presence-absence data.
#
# What the data cannot identify. For any numbers t[j], let taxa be t[j] times as likely, recorded 1 / t[j] as likely:
#   leak' = t leak,  (1 - leak') (1 - link') = 1 - t (1 - (1 - leak) (1 - link)),  taxon' = taxon / t.              (I1)
# Then P(x = 1 | z, g) = rho P1 is unchanged if none or one source of the taxon is on, for every grid point, and so is
# the likelihood if no taxon has two sources, or k = 1, for any t that leaves probabilities. With two sources of links a
# and b on, without a leak, taxon j is found rho a b (t - 1) less often: only this identifies t.
#
# The profile. The log-likelihood is maximised by EM with the scale of recording fixed, eq. (R6), from scale to scale,
# in each direction from its maximum. It is biased: a table of nm cells has k m links, and links of true 0 that are
# fitted above 0 resemble second causes. The signed root at scale R,
#   r(R) = sign(R_max - R) sqrt(2 (l_max - l(R))),                                                                  (I2)
# which should be standard normal at the true scale, is therefore too large. So tables are drawn from the profile at
# several scales, and r is computed for each at its own scale; a line through these predicts the true r. The range
# comprises the scales whose r is within the prediction interval of that line.

nor_profile_steps <- 20L # of 0.2 in the log-odds of the mean probability, each way, or until
nor_profile_loss <- 16 # nats are lost
nor_drawn_loss <- 8 # up to which tables are drawn
nor_profile_scales <- 5L # from how many points of the profile
nor_same_root <- 0.15 # of r: 0.01 nats, what EM leaves

#' @rdname identifiability
#' @export
identifiability.noisy_or <- function(fit, ..., nsim = 20, level = 0.9, x = NULL) {
  check_dots(...)
  check_bounds(fit)
  nsim <- check_count(nsim, "nsim", 0L)
  if (nsim > 0L && nsim < 2L * nor_profile_scales) stop_input("`nsim` must be 0 or at least 10, not %d.", nsim)
  refuse_large(nsim * prod(fit$dims[c("n", "m")]), "What is kept of the tables drawn", "lower `nsim`")
  level <- check_number(level, "level", 0, 1, open = TRUE)
  x <- fit_data(fit, x)
  points <- nor_profile(fit, x)
  profile <- data.frame(
    recorded = vapply(points, `[[`, 0, "recorded"), missed = vapply(points, `[[`, 0, "missed"),
    loglik = vapply(points, `[[`, 0, "loglik")
  )
  top <- which.max(profile$loglik)
  profile$change <- profile$loglik - profile$loglik[top]
  profile$root <- signed_root(profile$recorded, profile$recorded[top], profile$change)
  ends <- list(likelihood = nor_range(profile, profile$root / 2))
  if (nsim > 0L) {
    profile$root <- vapply(points, nor_freed_root, 0, x)
    drawn <- with_seed(1L, nor_drawn_roots(points, profile, nsim, x))
    ends$draws <- nor_range(profile, nor_standard_roots(profile, drawn, level))
  }
  bound <- function(name, value) data.frame(phantom = "white", bound = name, value)
  own <- nor_mean_recorded(fit$param)
  fitted <- data.frame(least = fit$missed, most = fit$missed, recorded_least = own, recorded_most = own)
  structure(
    list(
      expected = do.call(rbind, c(unname(Map(bound, names(ends), ends)), list(bound("fitted", fitted)))),
      profile = profile, n_draws = if (nsim > 0L) nrow(drawn) else 0L, level = level, dims = fit$dims,
      n_cells = fit$dims[["observed"]] - sum(fit$margins$row_sum), weak_links = favours_weak_links(fit)
    ),
    class = c("identifiability_profile", "identifiability", "multicause_result"), words = axis_words(fit)
  )
}

check_bounds.noisy_or <- function(fit) {
  if (is.null(fit$missed_by)) stop_input("`fit` must have been made with `missed_by`: else nothing is missed.")
  if (!is.null(fit$effort)) stop_input("`fit` must have been made without `effort`, which determines what was missed.")
  if (!is.null(fit$visits)) stop_input("`fit` must be of single visits: repeated visits estimate what was missed.")
}

# Returns the constraint of eq. (R6) for these means, c(sum, weights of the two), a plane through `own`,
# nor_mean_probabilities(param).
nor_hold <- function(param, means, own) {
  if (is.null(param$recorded_taxon)) {
    return(c(means[["site"]], 1, 0))
  }
  c(own[["taxon"]] * means[["site"]] + own[["site"]] * means[["taxon"]], own[["taxon"]], own[["site"]])
}

signed_root <- function(recorded, best, change) sign(best - recorded) * sqrt(2 * pmax(-change, 0))

# Finds the ends of the range between the points of the profile: where the root, which decreases as recording rises, is
# first above -1 and last below 1.
nor_range <- function(profile, root) {
  at <- order(profile$recorded, decreasing = TRUE)
  up <- cummax(root[at])
  down <- rev(cummin(rev(root[at])))
  cut <- function(value) {
    end <- function(root, at) stats::approx(root, value, at, rule = 2, ties = "ordered")$y
    value <- value[at]
    c(end(up, -1), end(down, 1))
  }
  missed <- sort(cut(profile$missed))
  recorded <- sort(cut(profile$recorded))
  data.frame(least = missed[1L], most = missed[2L], recorded_least = recorded[1L], recorded_most = recorded[2L])
}

# Standardises r: minus its expectation, over half the width of the prediction interval of a line through drawn values.
nor_standard_roots <- function(profile, drawn, level) {
  line <- stats::lm(root ~ recorded, drawn)
  expected <- suppressWarnings(stats::predict(line, profile["recorded"], interval = "prediction", level = level))
  (profile$root - expected[, "fit"]) / (expected[, "upr"] - expected[, "fit"] + nor_same_root)
}

# Prepares a fit for the profile: maximum likelihood, no exact 0 or 1, which could not move.
nor_loosened <- function(fit, param) {
  fit$model$pseudo <- numeric(9)
  fit$model$inference <- nor_posterior_kind(fit$model$inference, length(param$prior)) # of the likelihood, not a bound
  param <- lapply(param[c("prior", "links", "leak", nor_recorded_parts(fit$model))], unname)
  free <- setdiff(names(param), "recorded_share")
  param[free] <- lapply(param[free], function(p) pmin(pmax(p, 1e-3), 1 - 1e-3))
  if (!is.null(fit$model$mask)) param$links <- param$links * fit$model$mask
  fit$param <- param
  fit
}

# Maximises the likelihood on x with the scale fixed, eq. (R6): c(sum, weights of the two means); NULL: free.
nor_run_held <- function(fit, x, hold = NULL) {
  data <- nor_rows(fit, x, seq_len(nrow(x)))
  fit <- nor_loosened(fit, fit$param)
  distinct <- nor_problem(data, fit$dims[["k"]], 0L, fit$model, NULL, NULL)$distinct
  control <- fit_control(max_iter = 1000, tol = 1e-8, progress = FALSE, n_threads = fit$control$n_threads)
  run <- nor_run(distinct, fit$model, fit$param, control, hold)
  check_outcome(run$outcome)
  fit$param <- run$param[names(fit$param)]
  fit[c("loglik", "recorded", "hold")] <- list(run$outcome$objective, nor_mean_recorded(fit$param), hold)
  fit
}

# Fits along the profile: `recorded`, `loglik`, `missed` and the constraint, in the order of the mean probability.
nor_profile <- function(fit, x) {
  best <- nor_run_held(fit, x)
  own <- nor_mean_probabilities(best$param)
  go <- function(direction) {
    points <- list(best)
    for (step in seq_len(nor_profile_steps)) {
      hold <- nor_hold(best$param, stats::plogis(stats::qlogis(own) + 0.2 * direction * step), own)
      if (hold[1L] <= hold[2L] * recorded_grid_probabilities()[1L]) break # no site could be searched less
      points <- c(points, list(nor_run_held(points[[step]], x, hold)))
      if (points[[step + 1L]]$loglik < best$loglik - nor_profile_loss) break
    }
    points[-1L]
  }
  points <- c(rev(go(-1)), list(best), go(1))
  lapply(points, function(point) {
    point$missed <- nor_count_missed(point, x)
    point
  })
}

# Computes r of tables drawn along the profile, one per row, at the scales they were drawn at.
nor_drawn_roots <- function(points, profile, nsim, x) {
  near <- which(profile$change > -nor_drawn_loss)
  at <- unique(near[round(seq(1, length(near), length.out = nor_profile_scales))])
  times <- tabulate(rep_len(seq_along(at), nsim), length(at))
  roots <- Map(function(i, n) unlist(bootstrap_fits(points[[i]], n, x, nor_drawn_root)), at, times)
  data.frame(recorded = rep(profile$recorded[at], lengths(roots)), root = unlist(roots))
}

nor_drawn_root <- function(fit, drawn) {
  nor_freed_root(nor_run_held(fit, drawn, fit$hold %||% nor_own_scale(fit$param)), drawn)
}

# Computes r relative to the maximum that EM reaches once the scale is free, the only maximum known for drawn tables.
nor_freed_root <- function(held, x) {
  free <- nor_run_held(held, x)
  signed_root(held$recorded, free$recorded, held$loglik - free$loglik)
}

# Returns the constraint that fixes the scale of these parameters.
nor_own_scale <- function(param) {
  own <- nor_mean_probabilities(param)
  nor_hold(param, own, own)
}

#' @export
print.identifiability_profile <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  print_profile(x, digits)
  invisible(x)
}

print_profile <- function(id, digits) {
  rows <- id$expected[match(names(profile_names), id$expected$bound, nomatch = 0L), ]
  ends <- function(least, most) paste(unique(vapply(round(c(least, most)), format_big, "")), collapse = " to ")
  write_sentences(sprintf("How probable is a record of a presence? %s", table_words(id$dims, kept_words(id))))
  cat("\n")
  print_aligned(list(
    estimate = paste0("  ", profile_names[rows$bound]),
    `mean probability` = apply(rows[c("recorded_least", "recorded_most")], 1L, range_text, digits),
    `false absences` = mapply(ends, rows$least, rows$most)
  ))
  cat("\n")
  last <- rows[nrow(rows), ]
  within <- sprintf("%s of %s zeros", ends(last$least, last$most), format_big(id$n_cells))
  write_sentences(c(
    if (diff(range(id$profile$change)) < 0.01) {
      "The data do not decide: all these numbers have the same likelihood."
    } else if (id$n_draws == 0L) {
      sprintf("False absences for which the log-likelihood is lower by at most 2: %s.", within)
    } else {
      sprintf(
        "Range over %s drawn from this fit: %s. Other priors can give numbers outside it: compare %s.",
        count_words(id$n_draws, "table"), within, "`estimate = \"gibbs\"`"
      )
    },
    # As printed, so that no number is called less than itself.
    if (round(id$expected$least[id$expected$bound == "fitted"]) < round(last$least)) {
      paste0("The estimate is below this range", if (id$weak_links) ", because the prior favours weak links", ".")
    },
    if (id$n_draws == 0L) "The likelihood alone underestimates the number: `nsim` draws tables from the model."
  ))
}

#' @export
summary.identifiability_profile <- function(object, ...) {
  check_dots(...)
  structure(list(object = object), class = "summary.identifiability_profile")
}

#' @export
print.summary.identifiability_profile <- function(x, digits = 3L, ...) {
  print(x$object, digits)
  if (x$object$n_draws > 0L) {
    cat(sprintf(
      "Tables drawn from the model: %s, %g %% interval\n", count_words(x$object$n_draws, "table"), 100 * x$object$level
    ))
  }
  cat("\nProfile (change: of the log-likelihood)\n")
  print_rows(round_columns(x$object$profile[-3L], digits)) # `change` has loglik
  invisible(x)
}

result_tables.identifiability_profile <- function(x) x[c("expected", "profile")]
