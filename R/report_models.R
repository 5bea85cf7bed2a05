# What the report says of models without phantoms: components, observations, ages, cells that were not expected.

# The fit as sites by taxa: dims, names and data; of an array its first two dimensions, summed over the others.
report_sides <- function(fit) {
  both <- ordination(fit)
  components <- if (inherits(fit, "plca")) fit$param$marginals[[2L]] else t(both$species)
  sides <- list(
    fit = fit, components = components, observations = both$sites, titles = c("observation", "attribute"),
    others = list()
  )
  if (inherits(fit, "plca")) {
    values <- data_array(fit$x)
    sides$titles <- make.unique(dimension_names(fit$labels, seq_along(fit$extent)))
    sides$fit <- list(
      dims = c(n = fit$extent[[1L]], m = fit$extent[[2L]]),
      names = lapply(fit$param$marginals[1:2], colnames), x = apply(values, 1:2, sum, na.rm = TRUE)
    )
    sides$others <- stats::setNames(fit$param$marginals, sides$titles)[-(1:2)]
  }
  sides
}

model_content <- function(fit, age, of, sites, n) {
  if (is.null(fit$param)) { # an average of fits
    return(list(unexpected = unexpected_cells(fit, list(fit = fit, titles = c("observation", "attribute")), sites, n)))
  }
  sides <- report_sides(fit)
  observations <- with_names(sides$observations, sides$titles[1L])
  content <- list(
    components = with_names(t(sides$components), sides$titles[2L]),
    others = unname(Map(function(q, title) with_names(t(q), title), sides$others, names(sides$others)))
  )
  if (!is.null(sites)) {
    joined <- site_columns(sites, sides$fit, seq_len(nrow(observations)), names(observations))
    observations <- data.frame(observations, joined, check.names = FALSE, row.names = NULL)
  }
  content$observations <- observations
  if (!is.null(age)) content <- c(content, component_ages(sides, age, of))
  content$unexpected <- unexpected_cells(fit, sides, sites, n)
  content
}

# Box plots of the ages of what each component writes; where loadings may be negative, how the components go with age.
component_ages <- function(sides, age, of) {
  if (!nrow(sides$components)) {
    return(NULL)
  }
  given <- whose_age(age, of, sides$fit)
  ages <- function(wanted) {
    out <- plot_ages(sides$fit, age, given, wanted)
    if (sum(!is.na(out)) < 2L) stop_input("`age` must give at least two %ss an age.", wanted)
    out
  }
  if (all(sides$components >= 0)) {
    at <- ages("attribute")
    weights <- sides$components
    if (is.null(rownames(weights))) rownames(weights) <- component_names(nrow(weights))
    weights <- weights[rowSums(weights[, !is.na(at), drop = FALSE]) > 0, !is.na(at), drop = FALSE]
    return(list(ages = new_age_profile(at[!is.na(at)], weights, given, nrow(sides$components))))
  }
  at <- ages("observation")
  varies <- apply(sides$observations, 2L, function(column) diff(range(column[!is.na(at)])) > 0)
  correlation <- rep(NA_real_, length(varies))
  correlation[varies] <- stats::cor(sides$observations[, varies], at, use = "complete.obs", method = "spearman")
  list(age_correlations = data.frame(component = colnames(sides$observations), rank_correlation = correlation))
}

most_unexpected <- 5e6 # cells of which all residuals are looked at

# Observed cells with the largest Pearson residuals.
unexpected_cells <- function(fit, sides, sites, n) {
  if (prod(as.double(dim(fitted(fit)))) > most_unexpected) {
    return(NULL)
  }
  residual <- stats::residuals(fit, type = "pearson", x = fit$x)
  top <- utils::head(order(-abs(residual), na.last = NA), n)
  at <- arrayInd(top, dim(residual))
  labels <- lapply(seq_len(ncol(at)), function(side) {
    names <- dimnames(fitted(fit))[[side]]
    if (is.null(names)) at[, side] else names[at[, side]]
  })
  mean <- fitted(fit)[top]
  response <- stats::residuals(fit, type = "response", x = fit$x)[top]
  out <- data.frame(labels, mean + response, mean, residual[top])
  names(out) <- c(if (ncol(at) == 2L && !inherits(fit, "plca")) sides$titles[1:2] else sides$titles,
    "observed", "expected", "residual")
  if (is.null(sites)) {
    return(out)
  }
  joined <- suppressMessages(site_columns(sites, sides$fit, at[, 1L], names(out)))
  data.frame(out, joined, check.names = FALSE, row.names = NULL)
}

# What the first figure of a fit shows, in words.
figure_words <- function(fit) {
  switch(class(fit)[1L],
    logistic_pca = "Heat map: the loading of each attribute on each component.",
    nmf = "Heat map: how much each component writes of each attribute.",
    plsa = "Heat map: each component's distribution over the attributes, scaled by each attribute's largest share.",
    plca = "The components' distributions along each dimension of the array.",
    noisy_or = "Heat map: the probability that each source switches on each attribute; the leak is last.",
    bmf = "Pictures of the data and of their posterior mean, rows and columns in the order of their features.",
    multicause_ensemble = "Heat map: the average probability of a presence of each attribute at each observation.",
    "Heat map: the probability that each component writes a presence of each attribute."
  )
}

# A second figure, of the observations: its view and what it shows; NULL where there is none.
observation_figure <- function(fit) {
  switch(class(fit)[1L],
    bernoulli_mixture = ,
    plsa = list(
      view = shares_view(fit$param$membership, "Which components write each observation"),
      words = "Bars: how much of each observation each component writes, observations by main component."
    ),
    noisy_or = list(
      view = plot_view(fit, "activation"),
      words = "Picture: the probability that each source is on in each observation."
    ),
    bmf = list(
      view = plot_view(fit, "counts"),
      words = "Bars: posterior probabilities of the numbers of row and column features."
    )
  )
}

# How far to trust a fit: its starts, or its chains.
trust_sentence <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    ready <- sum(vapply(fit$fits, function(each) each$converged, NA))
    return(sprintf("An average of %d fits, of which %d have converged.", length(fit$fits), ready))
  }
  if (!is_sampled(fit)) {
    return(starts_sentence(fit))
  }
  chains <- length(unique(fit$trace$chain))
  paste(
    sprintf("%d draws of %d chain(s).", nrow(fit$trace), chains),
    if (is.na(fit$converged)) {
      if (chains < 2L) {
        "One chain alone shows nothing about agreement."
      } else {
        "Too few draws to see whether the chains agree."
      }
    } else if (fit$converged) {
      sprintf("The chains agree (R-hat at most %s).", format(rhat_agree))
    } else {
      sprintf("**The chains disagree** (R-hat above %s): give them more warm-up, draws or starts.", format(rhat_agree))
    }
  )
}
