# which_zeros(groups = ): lists of groups of sites, of which each site is a sample.

# The group of each site, a factor: as given, or by rules, list(age = width, place = one or two widths).
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

# The table that is asked about, list(x, along, counts, pooled): that of the sites, or of the groups.
group_lists <- function(data, along, groups, visits) {
  if (is.null(groups)) {
    return(list(x = data$x, along = along, counts = data$counts))
  }
  if (!is.null(visits)) stop_input("Only one of `groups` and `visits` can be given.")
  group <- check_wz_groups(groups, along, nrow(data$x), rownames(data$x))
  pool_groups(data$x, along, group)
}

# list(x = the lists of the groups, along = their covariates, pooled = list(once, twice, sites)).
pool_groups <- function(x, along, group) {
  if (!is.null(along$distance)) {
    stop_input("`distance` is between sites, not between `groups`: leave it out, or give `age` and `place`.")
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
    stop_input("`%s` must be numbers where `groups` are given, whose means are taken.", name)
  }
  means <- lapply(columns, function(column) as.vector(tapply(column, group, mean, na.rm = TRUE)))
  if (length(means) == 1L && is.null(dim(value))) means[[1L]] else as.data.frame(means, row.names = levels(group))
}
