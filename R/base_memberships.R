# Memberships that follow covariates of sites by multinomial logistic regression, see src/num/multinomial.h. Fits with
# such effects, of any model, have the class `membership_regression`.

# The design of `name = ~ ...`, a formula of covariates of n sites: list(design = d x n, basis, terms, frame, formula),
# see detection_design().
membership_design <- function(formula, values, n, labels, name) {
  terms <- stats::terms(formula)
  if (length(attr(terms, "offset"))) stop_input("`%s` cannot have an offset().", name)
  values <- covariate_frame(values, n)
  check_covariates(values, TRUE, "site", function(bad) {
    if (is.null(labels)) paste("number", bad) else dQuote(labels[bad], FALSE)
  })
  by <- covariate_design(formula, values, rep(TRUE, n), name)
  by$formula <- formula
  by
}

# Checks a model's arguments `membership` and `site_data`, before the table is read.
check_membership_data <- function(membership, site_data, x) {
  if (is.null(membership)) {
    if (!is.null(site_data)) stop_input("`site_data` is used by `membership` alone: give that a formula.")
  } else if (in_pieces(x)) {
    stop_not_for_shards("`membership`", "fit some rows, `x[i, ]`")
  }
}

# The design of a model's `membership = ~ ...`, as of membership_design().
membership_covariates <- function(formula, site_data, x, smooth) {
  if (!is.null(smooth)) {
    stop_input("`membership` and `smooth` cannot both be given: memberships follow covariates or neighbours.")
  }
  check_covariate_formula(formula, "membership")
  labels <- rownames(x)
  values <- side_values(site_data, nrow(x), labels, "site_data", c("site", "sites"))
  found <- held_variables(formula, list(values = values), "membership")
  membership_design(formula, found$values, nrow(x), labels, "membership")
}

# Builds the design of new sites, terms x sites, from their covariates; `by` as of membership_design(), `name` its
# argument. Its attribute `unknown`: the sites with an unknown covariate.
new_membership_design <- function(by, site_data, name) {
  wanted <- names(by$frame$typical)
  if (!is.data.frame(site_data) && length(wanted)) {
    stop_input("`site_data` must be a data frame with %s of the new sites.", show_names(wanted))
  }
  lost <- setdiff(wanted, names(site_data))
  if (length(lost)) stop_input("`site_data` lacks %s, on which `%s` depends.", show_names(lost), name)
  values <- fill_covariates(by$frame, plain_frame(site_data)[wanted], "site_data", sprintf("`%s`", name))
  structure(new_design(by$frame, values), unknown = rows_with_na(values))
}

# n x k, rows sum to 1: memberships by effects (terms x k) for a design (terms x n).
multinomial_shares <- function(design, effects) {
  eta <- crossprod(design, effects)
  eta <- exp(eta - apply(eta, 1L, max))
  eta / rowSums(eta)
}

# A fit's effects on the columns of its design.
scaled_effects <- function(fit) solve(fit$covariates$basis, unname(fit$param$effects))

# Effects whose memberships come near to those given, terms x k: least squares of their logarithms over the geometric
# mean.
start_effects <- function(by, membership) {
  logs <- log(pmax(membership, 1e-4))
  effects <- qr.coef(qr(t(by$design)), logs - rowMeans(logs))
  unname(centred_effects(ifelse(is.na(effects), 0, effects)))
}

# Effects that sum to 0 over components, which changes no membership.
centred_effects <- function(effects) effects - rowMeans(effects)

# The contrasts of k components in which effects of d terms are free, d k x d (k - 1): those of a term sum to 0.
free_effects <- function(k, d) {
  if (k == 1L) matrix(0, d, 0L) else kronecker(qr.Q(qr(stats::contr.sum(k))), diag(1, d))
}

# Converts effects of a chain's draws (d k x draws, of the design) to the covariates' scale: terms x k x draws.
effect_draws <- function(draws, by, k, labels) {
  d <- nrow(by$design)
  own <- vapply(seq_len(ncol(draws)), function(s) {
    by$basis %*% centred_effects(matrix(draws[, s], d))
  }, matrix(0, d, k))
  array(own, c(d, k, ncol(draws)), list(by$terms, labels, NULL))
}

# Log-odds of components against the first: terms x (k - 1).
log_odds <- function(effects) (effects - effects[, 1L])[, -1L, drop = FALSE]

# Log-odds with errors, by component, of a fit with effects; NULL of one component.
log_odds_table <- function(fit) {
  if (fit$dims[["k"]] == 1L) {
    return(NULL)
  }
  out <- long_table(t(log_odds(fit$param$effects)), c("component", "term"))
  error <- part_spread(fit, "log_odds")$error
  if (!is.null(error)) {
    out$std.error <- as.vector(error)
    out$z <- out$estimate / out$std.error
  }
  out
}

print_log_odds <- function(table, digits) {
  if (is.null(table)) {
    return(invisible())
  }
  cat("\nLog-odds of membership, against A1\n")
  number <- vapply(table, is.numeric, NA)
  table[number] <- lapply(table[number], signif, min(digits, 4L))
  print_rows(table)
}

param_parts.membership_regression <- function(fit) {
  c(NextMethod(), if (fit$dims[["k"]] > 1L) list(log_odds = log_odds(fit$param$effects)))
}

part_sides.membership_regression <- function(fit, name, values) {
  switch(name, effects = , log_odds = c("term", "component"), NextMethod())
}

found_sentences.membership_regression <- function(fit, digits = 4L) {
  c(NextMethod(), sprintf(
    "Memberships follow %s: summary() has the coefficients, plot(fit, \"membership\") curves.",
    deparse1(fit$covariates$formula)
  ))
}

#' @export
summary.membership_regression <- function(object, ...) {
  out <- NextMethod()
  out$log_odds <- log_odds_table(object)
  class(out) <- c("summary.membership_regression", class(out))
  out
}

#' @export
print.summary.membership_regression <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  NextMethod()
  print_log_odds(x$log_odds, digits)
  invisible(x)
}
