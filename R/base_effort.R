# Effort by site: the share of missed presences depends on effort by a fitted logistic curve
# (src/aspect_bernoulli/effort.h).

check_effort <- function(effort, data, phantom, k) {
  effort <- check_site_effort(effort, data)
  check_effort_phantom(phantom, k)
  effort
}

check_site_effort <- function(effort, data) {
  effort <- match_effort(effort, nrow(data$x), rownames(data$x))
  check_effort_values(effort, function(row) place_words(data$x, 1L, row))
  effort
}

# Returns the effort in the order of n rows, whose names may be NULL.
match_effort <- function(effort, n, names) {
  if (is.numeric(effort) && is_line(effort)) effort <- by_name(effort, names, "effort", others = TRUE)
  if (!is.numeric(effort) || !is_line(effort) || length(effort) != n) {
    stop_input("`effort` must be one number for each of the %.0f rows, not %s.", n, show_value(effort))
  }
  unname(as.double(effort))
}

# where: a function that names a row by its number.
check_effort_values <- function(effort, where) {
  bad <- which(!is.finite(effort))
  if (length(bad)) stop_input("`effort` must be finite: %s has %s.", where(bad[1L]), format(effort[bad[1L]]))
  if (!isTRUE(stats::sd(effort) > 0)) stop_input("`effort` must differ between rows.")
}

check_effort_phantom <- function(phantom, k) {
  if (phantom == "black" || phantom == "both") {
    stop_input("`phantom` must be \"white\" with `effort`, not %s: effort is about gaps.", show_value(phantom))
  }
  if (k < 2L) stop_input("`k` must be at least 2 with `effort`: its last component is the phantom.")
}

# Kernel and starting values use units of mean 0 and variance 1.
scale_effort <- function(effort) (effort - mean(effort)) / stats::sd(effort)

flat_curve <- function(share) c(stats::qlogis(min(max(share, 0.01), 0.99)), 0)

# Converts the curve to the user's units.
effort_curve <- function(coef, effort) {
  slope <- coef[2L] / stats::sd(effort)
  list(coefficients = c(intercept = coef[1L] - slope * mean(effort), slope = slope), values = effort)
}

# Inverts effort_curve(): the kernel's coefficients.
scaled_curve <- function(curve) {
  slope <- curve$coefficients[["slope"]]
  c(curve$coefficients[["intercept"]] + slope * mean(curve$values), slope * stats::sd(curve$values))
}

# Computes the probability of a miss at each effort.
effort_missed <- function(coefficients, effort) {
  stats::plogis(coefficients[["intercept"]] + coefficients[["slope"]] * effort)
}

effort_sentence <- function(fit) {
  curve <- fit$effort$coefficients
  at <- stats::quantile(fit$effort$values, c(0.1, 0.9), names = FALSE)
  share <- effort_missed(curve, at)
  sprintf(
    "The phantom's share follows effort: %s %% at an effort of %s, %s %% at %s (log-odds %s %s %s effort).",
    format_percent(share[1L]), format_each(at[1L]), format_percent(share[2L]), format_each(at[2L]),
    format_each(curve[["intercept"]]),
    if (curve[["slope"]] < 0) "-" else "+", format_each(abs(curve[["slope"]]))
  )
}
