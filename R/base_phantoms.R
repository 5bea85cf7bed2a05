# Classifies components as phantoms and measures their share of a table.

# Criteria for a black phantom of a sparse table besides its mean, see ?phantoms. Tuning: additions planted in fossil
# tables gave above 0.98, alone 0.07; components of tables without additions above 0.9 or, of nested sites, alone 0.6.
black_above <- 0.95
black_alone <- 0.5

# Measures each component as a list, using the columns with something observed.
phantom_measures <- function(param, density, fixed, observed, white = 0.2, black = 0.5, min_weight = 1e-3) {
  aspects <- param$aspects[, observed, drop = FALSE]
  if (!any(observed)) aspects <- param$aspects
  mean <- unname(rowMeans(aspects))
  shares <- if (is.null(param$shares)) membership_shares(param$membership) else param$shares
  weight <- unname(shares$weight)
  white_ratio <- if (density > 0) mean / density else rep(NA_real_, length(mean))
  black_ratio <- if (density < 1) unname(rowMeans(1 - aspects)) / (1 - density) else rep(NA_real_, length(mean))
  above <- unname(rowMeans(aspects > density))
  alone <- unname(shares$alone)
  flat <- above >= black_above & alone <= black_alone | density >= 0.5 & black_ratio <= white
  kind <- rep("content", length(mean))
  kind[weight > min_weight & white_ratio <= white & !is.na(white_ratio)] <- "white"
  kind[weight > min_weight & black_ratio <= black & flat & !is.na(black_ratio)] <- "black"
  kind[fixed != "free"] <- fixed[fixed != "free"]
  list(
    aspects = aspects, kind = kind, fixed = unname(fixed != "free"), weight = weight, mean = mean,
    white_ratio = white_ratio, black_ratio = black_ratio, above = above, alone = alone
  )
}

# Computes each component's mean share of the observations, and the part of it in observations that are mostly its own.
membership_shares <- function(membership) {
  alone <- colSums(membership * (membership > 0.5)) / colSums(membership)
  weight <- colMeans(membership)
  alone[weight == 0] <- 0
  list(weight = weight, alone = alone)
}

phantom_table <- function(...) {
  out <- phantom_measures(...)
  aspects <- out$aspects
  data.frame(
    component = component_names(nrow(aspects)), kind = out$kind, fixed = out$fixed, weight = out$weight,
    mean = out$mean, min = unname(apply(aspects, 1L, min)), max = unname(apply(aspects, 1L, max)),
    out[c("white_ratio", "black_ratio", "above", "alone")]
  )
}

# Returns the kind of each component, from phantoms() or from the user.
component_kinds <- function(fit, kinds = NULL) {
  k <- fit$dims[["k"]]
  if (is.null(kinds)) kinds <- if (isTRUE(k == 0)) character() else phantoms(fit)
  if (inherits(kinds, "phantoms")) {
    kinds <- kinds$kind[match(component_names(k), kinds$component)]
  }
  if (is.character(kinds)) kinds <- unname(by_name(kinds, component_names(k), "kinds"))
  if (!is.character(kinds) || length(kinds) != k || !all(kinds %in% c("content", "white", "black"))) {
    stop_input(
      "`kinds` must be a result of phantoms() on this fit, or %d of \"content\", \"white\" and \"black\", not %s.",
      k, show_value(kinds)
    )
  }
  kinds
}

stop_no_phantoms <- function(fit) {
  stop_input(
    paste(
      "`fit` must be of a model whose components can be phantoms, a fit of aspect_bernoulli(), not of %s():",
      "a phantom is a component that shares each site with others and has only absences or only presences."
    ),
    model_name(fit)
  )
}

# Returns the mean membership over all rows of the table; a fit to one shard keeps it separately.
mean_membership <- function(fit) {
  unname(if (is.null(fit$shares)) colMeans(fit$param$membership) else fit$shares$weight)
}
