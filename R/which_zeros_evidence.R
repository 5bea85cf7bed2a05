# which_zeros(groups = ): pools groups of sites, of which each site is a sample.

# Returns the group of each site, a factor: supplied, or by rules, list(age = width, place = one or two widths).
check_wz_groups <- function(groups, along, n, labels) {
  if (is.list(groups) && !is.data.frame(groups)) groups <- groups_by_rule(groups, along)
  group <- group_factor(groups, n, 1L, rep(TRUE, n), labels)
  if (nlevels(group) < 5L) {
    stop_input("`groups` must have at least 5 groups, whose lists are learnt from, not %d.", nlevels(group))
  }
  if (!any(table(group) > 1L)) {
    stop_input("`groups` must have a group of two sites at least: sites of a group are samples of its fauna.")
  }
  group
}

groups_by_rule <- function(rules, along) {
  wrong <- setdiff(names(rules), c("age", "place"))
  if (length(wrong) || !length(rules) || is.null(names(rules))) {
    stop_input(
      "`groups` must be a group for each site, or a list of widths `age` and `place`, not %s.", show_value(rules)
    )
  }
  bins <- lapply(names(rules), function(name) {
    if (is.null(along[[name]])) stop_input("`groups` by `%s` needs `%s` of the sites.", name, name)
    value <- as.matrix(along[[name]])
    width <- rules[[name]]
    if (!is.numeric(value) || !is.numeric(width) || !length(width) %in% 1:2 || !all(is.finite(width) & width > 0)) {
      stop_input("`groups$%s` must be a width above 0, or two for places, not %s.", name, show_value(width))
    }
    if (name == "age") value <- matrix(rowMeans(value))
    floor(sweep(value, 2L, rep_len(width, ncol(value)), "/"))
  })
  bins <- do.call(cbind, bins)
  label <- apply(bins, 1L, paste, collapse = " ")
  ifelse(rowSums(is.na(bins)) > 0, NA, label)
}

# Returns the table to be judged, list(x, along, counts, pooled): that of the sites, or of the groups.
group_lists <- function(data, along, groups, visits) {
  if (is.null(groups)) {
    return(list(x = data$x, along = along, counts = data$counts))
  }
  if (!is.null(visits)) stop_input("Only one of `groups` and `visits` can be supplied.")
  group <- check_wz_groups(groups, along, nrow(data$x), rownames(data$x))
  pool_groups(data$x, along, group)
}

# Returns list(x = the pooled presences of groups, along = their covariates, pooled = list(once, twice, sites)).
pool_groups <- function(x, along, group) {
  if (!is.null(along$distance)) {
    stop_input("`distance` is between sites, not between `groups`: leave it out, or use `age` and `place`.")
  }
  add <- function(value) as.matrix(rowsum(value[!is.na(group), , drop = FALSE], group[!is.na(group)]))
  found <- add(as.matrix(found_table(x)))
  known <- add(1 * !is.na(as.matrix(x)))
  pooled <- 1 * (found > 0)
  pooled[known == 0] <- NA
  names(dimnames(pooled)) <- c("groups", axis_words(list(x = x))[2L])
  list(
    x = pooled,
    along = lapply(stats::setNames(nm = names(along)), function(name) group_means(along[[name]], name, group)),
    pooled = list(once = rowSums(found == 1), twice = rowSums(found == 2), sites = as.vector(table(group)))
  )
}

group_means <- function(value, name, group) {
  if (is.null(value)) {
    return(NULL)
  }
  columns <- if (is.data.frame(value)) value else as.data.frame(as.matrix(value))
  if (!all(vapply(columns, is.numeric, NA))) {
    stop_input("`%s` must be numbers where `groups` are supplied, whose means are taken.", name)
  }
  means <- lapply(columns, function(column) as.vector(tapply(column, group, mean, na.rm = TRUE)))
  if (length(means) == 1L && is.null(dim(value))) means[[1L]] else as.data.frame(means, row.names = levels(group))
}

# Prepares repeated visits for which_zeros(visits = ).

# Returns presence and detection as arguments of visits_occupancy(), with covariates as tables in the order of the
# sites, so that sites can be selected; NULL without a formula.
wz_visit_model <- function(cell, formulas, given) {
  formulas <- formulas[!vapply(formulas, is.null, NA)]
  covariates <- given[!vapply(given, is.null, NA)]
  lost <- names(c(formulas, covariates))
  if (length(lost) && is.null(cell)) stop_input("`%s` goes with `visits`, which are not supplied.", lost[1L])
  if (!length(formulas)) {
    if (length(covariates)) stop_input("`%s` goes with `presence` or `detection`.", names(covariates)[1L])
    return(NULL)
  }
  given <- list(visit = given$visit_data, site = given$site_data)
  occupancy_designs(formulas$presence %||% ~1, formulas$detection, cell, given)
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

# Returns the union of all visits, for the sites and taxa of `x` and in their order if `x` is supplied.
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

# Finds the sites and the taxa of x among those of the visits: by name, else in the same order.
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
