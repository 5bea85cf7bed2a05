# What the report says of models without phantoms: components, observations, ages, cells that were not expected.

# The shape of a fit as sites by taxa: of an array its first two dimensions.
table_shape <- function(fit) UseMethod("table_shape")

table_shape.default <- function(fit) fit[c("dims", "names")]

# The fit as sites by taxa, its data summed over other dimensions, what its components and observations are, the titles
# of the dimensions, and the components along those dimensions that are neither sites nor taxa. NULL: a model without
# components.
report_sides <- function(fit) UseMethod("report_sides")

report_sides.default <- function(fit) {
  both <- ordination(fit)
  list(
    fit = fit, components = t(both$species), observations = both$sites, titles = c("site", "taxon"),
    others = list()
  )
}

model_content <- function(fit, age, of, site_data, n) {
  sides <- if (!is.null(fit$param)) report_sides(fit)
  if (is.null(sides)) { # an average of fits, or a model without components
    return(list(unexpected = unexpected_cells(fit, list(fit = fit, titles = c("site", "taxon")), site_data, n)))
  }
  observations <- with_names(sides$observations, sides$titles[1L])
  content <- list(
    components = with_names(t(sides$components), sides$titles[2L]),
    others = unname(Map(function(q, title) with_names(t(q), title), sides$others, names(sides$others)))
  )
  if (!is.null(site_data)) {
    joined <- site_columns(site_data, sides$fit, seq_len(nrow(observations)), names(observations))
    observations <- data.frame(observations, joined, check.names = FALSE, row.names = NULL)
  }
  content$observations <- observations
  if (!is.null(age)) content <- c(content, component_ages(sides, age, of))
  content$unexpected <- unexpected_cells(fit, sides, site_data, n)
  content
}

# The components of an average of aspect Bernoulli fits are no composition together: those of one fit say again what
# those of another say. So each is shown as its own fit has it: which member's and which there, ...
member_components <- function(fit) {
  k <- vapply(fit$fits, function(member) member$dims[["k"]], 0)
  data.frame(member = rep(seq_along(k), k), component = unlist(lapply(k, component_names)))
}

# ... what it is and its weight in the average, ...
member_phantoms <- function(fit) {
  table <- phantoms(fit)
  cbind(member_components(fit), as.data.frame(unclass(table))[names(table) != "component"])
}

# ... and its part in its own fit, in which the memberships of an observation sum to 1.
member_param <- function(fit) {
  of <- member_components(fit)
  label <- sprintf("member%d_%s", of$member, of$component)
  aspects <- fit$param$aspects
  membership <- do.call(cbind, lapply(fit$fits, function(member) member$param$membership))
  rownames(aspects) <- colnames(membership) <- label
  list(aspects = aspects, membership = membership)
}

# Box plots of the ages of what each component writes; where loadings may be negative, how the components go with age.
component_ages <- function(sides, age, of) {
  if (!nrow(sides$components)) {
    return(NULL)
  }
  given <- whose_age(age, of, sides$fit)
  ages <- function(wanted) {
    out <- plot_ages(sides$fit, age, given, wanted)
    if (sum(!is.na(out)) < 2L) {
      stop_input("`age` must give at least two %s an age.", plural_word(side_word(sides$fit, wanted)))
    }
    out
  }
  if (all(sides$components >= 0)) {
    at <- ages("taxon")
    weights <- sides$components
    if (is.null(rownames(weights))) rownames(weights) <- component_names(nrow(weights))
    weights <- weights[rowSums(weights[, !is.na(at), drop = FALSE]) > 0, !is.na(at), drop = FALSE]
    return(list(ages = new_age_profile(at[!is.na(at)], weights, given, nrow(sides$components))))
  }
  at <- ages("site")
  varies <- apply(sides$observations, 2L, function(column) diff(range(column[!is.na(at)])) > 0)
  correlation <- rep(NA_real_, length(varies))
  correlation[varies] <- stats::cor(sides$observations[, varies], at, use = "complete.obs", method = "spearman")
  list(age_correlations = data.frame(component = colnames(sides$observations), rank_correlation = correlation))
}

most_unexpected <- 5e6 # cells of which all residuals are looked at

# Observed cells with the largest Pearson residuals.
unexpected_cells <- function(fit, sides, site_data, n) {
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
  names(out) <- c(sides$titles, "observed", "expected", "residual")
  if (is.null(site_data)) {
    return(out)
  }
  joined <- suppressMessages(site_columns(site_data, sides$fit, at[, 1L], names(out)))
  data.frame(out, joined, check.names = FALSE, row.names = NULL)
}

# Has plot() of a fit something to show?
has_figure <- function(fit) UseMethod("has_figure")

has_figure.default <- function(fit) fit$dims[["k"]] > 0

# A second figure, of the observations; NULL where there is none.
observation_figure <- function(fit) UseMethod("observation_figure")

observation_figure.default <- function(fit) NULL

# How far to trust a fit: its starts, or its chains.
trust_sentence <- function(fit) UseMethod("trust_sentence")

trust_sentence.default <- function(fit) {
  if (!is_sampled(fit)) {
    return(starts_sentence(fit))
  }
  chains <- length(unique(fit$trace$chain))
  paste(
    sprintf("%s of %s.", count_words(nrow(fit$trace), "draw"), count_words(chains, "chain")),
    if (isFALSE(fit$converged)) {
      sprintf(
        "**The chains do not agree yet** (R-hat above %s): give them more warm-up and draws, or more starts.",
        format(rhat_agree)
      )
    } else if (isTRUE(fit$converged)) {
      sprintf("The chains agree (R-hat at most %s).", format(rhat_agree))
    } else {
      sprintf("%s.", capital(agreement_words(fit)))
    }
  )
}
