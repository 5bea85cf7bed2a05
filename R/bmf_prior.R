# Priors of bmf(): fixed numbers, or Gamma distributions of learned ones.

#' Priors of binary matrix factorization
#'
#' Which quantities of [bmf()] are fixed and which are estimated. A number fixes a quantity; `c(shape = , rate = )`,
#' both above 0, gives it a Gamma prior, of mean `shape / rate` and variance `shape / rate^2`.
#'
#' @details
#' Every feature \eqn{k} of the rows has its own probability \eqn{\pi_k \sim Beta(\alpha / K, \beta)}, with \eqn{K}
#' features, or in the limit of infinitely many (Indian buffet prior), where the number of features that n rows have is
#' Poisson with mean \eqn{\alpha \sum_{i=1}^n 1 / (\beta + i - 1)}; likewise for columns. Features fixed by the user
#' have no prior.
#'
#' `NULL` is a default on the scale of the data: `weight_precision` and `noise_precision` have shape 1 and the variance
#' of the observed cells as rate (Bernoulli: rate 1; Poisson: the mean as rate), `background` is fixed at a hundredth of
#' the mean.
#'
#' @param alpha concentration of features, above 0: the larger, the more features. One for rows and columns, or
#'   `list(rows = , columns = )`.
#' @param beta two numbers above 0, named `rows` and `columns`: the larger, the fewer rows (columns) share a feature.
#' @param weight_mean mean of the weights (Gaussian and Bernoulli): any number, or a Gamma prior.
#' @param weight_precision precision of the weights; Poisson: the rate of their Gamma prior. Above 0, or `NULL`. A fixed
#'   precision below 1e-30 (Gaussian: over the variance of `x`) is an error, since it leaves no digit of a cell's mean.
#' @param noise_precision precision of the Gaussian noise, above 0, or `NULL`.
#' @param weight_shape shape of the weights' Gamma prior (Poisson), above 0.
#' @param background rate of a Poisson cell without any feature, above 0, or `NULL`. At 0 a count where no feature
#'   reaches would be impossible.
#' @param ... must be empty.
#' @return A list of class `multicause_bmf_prior`.
#' @seealso [bmf()]
#' @references Meeds E, Ghahramani Z, Neal R, Roweis S (2007). Modeling dyadic data with binary latent factors.
#'   *Advances in Neural Information Processing Systems* 19, 977-984. \doi{10.7551/mitpress/7503.003.0127}
#'
#'   Griffiths TL, Ghahramani Z (2011). The Indian buffet process: an introduction and review. *Journal of Machine
#'   Learning Research* 12, 1185-1224.
#' @examples
#' bmf_prior(alpha = 2, noise_precision = c(shape = 2, rate = 0.5))
#' @export
bmf_prior <- function(alpha = c(shape = 1, rate = 1), beta = c(rows = 1, columns = 1), weight_mean = 0,
                      weight_precision = NULL, noise_precision = NULL, weight_shape = 1, background = NULL, ...) {
  check_dots(...)
  alpha <- check_alpha(alpha)
  structure(
    list(
      alpha_rows = alpha$rows, alpha_columns = alpha$columns,
      weight_mean = check_law(weight_mean, "weight_mean", check_finite),
      weight_precision = if (!is.null(weight_precision)) check_law(weight_precision, "weight_precision"),
      noise_precision = if (!is.null(noise_precision)) check_law(noise_precision, "noise_precision"),
      weight_shape = check_law(weight_shape, "weight_shape"),
      background = if (!is.null(background)) check_law(background, "background"),
      beta = check_beta(beta)
    ),
    class = "multicause_bmf_prior"
  )
}

# Checks the concentrations of the features of both sides.
check_alpha <- function(alpha) {
  sides <- c("rows", "columns")
  if (!is.list(alpha)) {
    law <- check_law(alpha, "alpha")
    return(list(rows = law, columns = law))
  }
  if (!setequal(names(alpha), sides)) stop_input("`alpha` must be one for both sides, or list(rows = , columns = ).")
  Map(check_law, alpha[sides], sprintf("alpha$%s", sides))
}

# The prior distribution of a learned quantity is a Gamma: c(shape = , rate = ).
is_law <- function(x) length(x) == 2L

check_law <- function(x, name, number = check_positive) {
  if (!is.numeric(x) || !is_law(x)) {
    return(number(x, name))
  }
  parts <- c("shape", "rate")
  if (!setequal(names(x), parts)) {
    stop_input("`%s` must be a number, or c(shape = , rate = ) of its Gamma prior, not %s.", name, show_value(x))
  }
  for (part in parts) check_positive(x[[part]], sprintf("%s[\"%s\"]", name, part))
  x[parts] + 0
}

check_finite <- function(x, name) check_number(x, name, -.Machine$double.xmax, .Machine$double.xmax)

check_positive <- function(x, name) check_number(x, name, 0, Inf, open = TRUE)

check_beta <- function(beta) {
  ok <- is.numeric(beta) && length(beta) == 2L && !anyNA(beta) && all(is.finite(beta)) && all(beta > 0) &&
    (is.null(names(beta)) || setequal(names(beta), c("rows", "columns")))
  if (!ok) stop_input("`beta` must be c(rows = , columns = ), two numbers above 0, not %s.", show_value(beta))
  if (is.null(names(beta))) names(beta) <- c("rows", "columns")
  beta[c("rows", "columns")] + 0
}

#' @export
print.multicause_bmf_prior <- function(x, ...) {
  show <- function(value) {
    if (is.null(value)) {
      return("scaled to the data")
    }
    if (setequal(names(value), c("shape", "rate"))) {
      return(sprintf("Gamma(%s, %s)", format(value[["shape"]]), format(value[["rate"]])))
    }
    paste(format(value), collapse = ", ")
  }
  cat("<multicause_bmf_prior>\n")
  cat(sprintf("  %s = %s\n", format(names(x)), vapply(x, show, "")), sep = "")
  invisible(x)
}

bmf_hyper_names <- c(
  "alpha_rows", "alpha_columns", "weight_mean", "weight_precision", "noise_precision", "weight_shape", "background"
)

# Fills in the prior's defaults for these data.
bmf_scale_prior <- function(prior, family, data) {
  if (!inherits(prior, "multicause_bmf_prior")) {
    stop_input("`prior` must come from bmf_prior(), not be %s.", show_value(prior))
  }
  n <- max(1, sum(data$margins$row_observed))
  mean <- sum(data$margins$row_sum) / n
  # Computed from deviations: squares of values far from 0 would cancel a small variance.
  sparse <- inherits(data$x, "dgCMatrix")
  x <- if (sparse) data$x@x else data$x
  zeros <- if (sparse) n - length(x) else 0
  variance <- (sum((x - mean)^2, na.rm = TRUE) + zeros * mean^2) / n
  unit <- switch(family, gaussian = variance, bernoulli = 1, poisson = mean)
  if (!is.finite(unit) || unit < 1e-200) unit <- 1
  least <- 1e-30 / if (family == "gaussian") unit else 1
  given <- prior$weight_precision
  if (family != "poisson" && is.numeric(given) && !is_law(given) && given < least) {
    stop_input("`weight_precision` must be at least %s here, not %s: weights would have no digit left.",
      format(least, digits = 3L), format(given))
  }
  if (is.null(prior$weight_precision)) prior$weight_precision <- c(shape = 1, rate = unit)
  if (is.null(prior$noise_precision)) prior$noise_precision <- c(shape = 1, rate = unit)
  if (is.null(prior$background)) prior$background <- 0.01 * unit
  prior
}

# Returns the model in the kernel's form, see src/glue/bmf.h.
bmf_kernel_model <- function(family, prior, k, l, n_fixed) {
  laws <- unclass(prior)[bmf_hyper_names]
  learned <- vapply(laws, is_law, NA)
  unused <- switch(family,
    gaussian = c("weight_shape", "background"), bernoulli = c("noise_precision", "weight_shape", "background"),
    poisson = c("weight_mean", "noise_precision")
  )
  learned[unused] <- FALSE
  field <- function(name) vapply(laws, function(law) if (is_law(law)) law[[name]] else 1, 0)
  list(
    family = match(family, c("gaussian", "bernoulli", "poisson")) - 1L, infinite = is.infinite(c(k, l)),
    n_fixed = as.integer(n_fixed), beta = unname(prior$beta), learned = unname(learned),
    shape = unname(field("shape")), rate = unname(field("rate"))
  )
}

# Returns initial values: known ones, and the means of learned ones.
bmf_first_hyper <- function(prior) {
  vapply(unclass(prior)[bmf_hyper_names], function(law) if (is_law(law)) law[["shape"]] / law[["rate"]] else law, 0)
}
