# Repeated visits as which_zeros(visits = ) takes them.

# How visits find what is there, as arguments of visits_bernoulli() whose covariates are tables of the sites in order,
# so that a part of the sites can be taken; NULL where no formula is given.
wz_visit_model <- function(cell, formulas, given) {
  formulas <- formulas[!vapply(formulas, is.null, NA)]
  covariates <- given[!vapply(given, is.null, NA)]
  lost <- names(c(formulas, covariates))
  if (length(lost) && is.null(cell)) stop_input("`%s` goes with `visits`, which are not given.", lost[1L])
  if (!length(formulas)) {
    if (length(covariates)) stop_input("`%s` goes with `detection` or `communities`.", names(covariates)[1L])
    return(NULL)
  }
  given <- list(visit = given$visit_data, site = given$site_data)
  settings <- list(estimate = "map", prior = list(detection = 1.65, communities = 1.65), sharing = "partial")
  if (!is.null(formulas$detection)) check_detection(formulas$detection, cell, given, settings)
  if (!is.null(formulas$communities)) check_communities(formulas$communities, cell, given, settings)
  known <- known_covariates(cell, given)
  wanted <- setdiff(unlist(lapply(formulas, all.vars)), "visit")
  by_site <- wanted[known$level[wanted] == "site"]
  n <- nrow(cell)
  values <- function(names, shape) lapply(stats::setNames(nm = names), function(name) shape(known$values[[name]]))
  c(formulas, list(
    visit_data = values(setdiff(wanted, by_site), function(x) matrix(if (is.factor(x)) as.character(x) else x, n)),
    site_data = as.data.frame(values(by_site, function(x) utils::head(x, n)), optional = TRUE)
  ))
}

# What any visit found, of the sites and taxa of `x` and in their order where it is given.
wz_found <- function(x, cell) {
  found <- any_visit(cell)
  if (ncol(found) == 1L) {
    stop_input(
      "`visits` must have taxa to learn from, not one: visits of one are for %s, see vignette(\"visits\").",
      "visits_bernoulli(k = 1) and false_absences()"
    )
  }
  if (is.null(x)) {
    return(found)
  }
  x <- as.matrix(check_data(x, "binary")$x)
  at <- visit_order(x, found)
  found <- found[at[[1L]], at[[2L]], drop = FALSE]
  if (!identical(dim(x), dim(found))) {
    stop_input("`x` must have the sites and taxa of `visits`, %d x %d, not %d x %d.", nrow(found), ncol(found), nrow(x),
      ncol(x))
  }
  bad <- which(!((x == found) %in% TRUE | (is.na(found) & !x %in% 1)))
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    stop_input(
      "`x` must be left out with `visits`, or be 1 where any visit found something, 0 where none did: %s, %s is %s.",
      place_words(x, 1L, at[1L]), place_words(x, 2L, at[2L]), x[bad[1L]]
    )
  }
  found
}

# Where the sites and the taxa of x are among those of the visits: by name, else in the same order.
visit_order <- function(x, visits) {
  lapply(1:2, function(side) {
    names <- dimnames(x)[[side]]
    at <- match(names, dimnames(visits)[[side]])
    if (all(is.na(at))) {
      return(seq_len(dim(visits)[side]))
    }
    if (anyNA(at)) {
      stop_input("`x` must have %s of `visits`, which lack %s.", c("sites", "taxa")[side], show_names(names[is.na(at)]))
    }
    at
  })
}

wz_order_visits <- function(given, x) {
  if (is.null(given$cell)) {
    return(given)
  }
  at <- visit_order(x, given$cell)
  wz_keep_visits(given, at[[1L]], at[[2L]])
}

wz_keep_visits <- function(given, kept, taxa = TRUE) {
  if (is.null(given$cell)) {
    return(given)
  }
  own <- attributes(given$cell)["sides"]
  given$cell <- given$cell[kept, taxa, , drop = FALSE]
  attributes(given$cell) <- c(attributes(given$cell), own)
  model <- given$visit_model
  if (!is.null(model)) {
    model$visit_data <- lapply(model$visit_data, function(x) x[kept, , drop = FALSE])
    model$site_data <- model$site_data[kept, , drop = FALSE]
    given$visit_model <- model
  }
  given
}
