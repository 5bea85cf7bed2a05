#' Which sites are neighbours?
#'
#' Defines which sites are near each other, by age, place or anything else, for the argument `smooth` of
#' [aspect_bernoulli()], [bernoulli_mixture()] and [plsa()]. Sites near each other then share their communities, so a
#' taxon found at a site's neighbours is expected at the site.
#'
#' @details
#' **What is smoothed.** The *composition* of a site: its membership among the content components alone, as shares that
#' sum to 1. The share of a fixed phantom is never taken from neighbours, because near sites may be searched very
#' differently; it is shrunk towards the mean of the table, by `recording` cells. Fit with `phantom = "white"`, because
#' a phantom that is not fixed is smoothed like any component. With `recording = 0` the share of many poor sites ends at
#' 1, and `missed` is far too sure: its calibration slope was 0.0 to 0.2, and 0.7 to 0.9 with 15 (`bench/smooth.md` in
#' the sources).
#'
#' **Neighbours.** Weights are \eqn{\exp(-d)}{exp(-d)}, where d sums the difference in age, the distance of places, of
#' `environment` and of `distance`, each over its bandwidth. For an age range the weight is averaged over the range. The
#' weights of a site's neighbours sum to 1 and end below 1 % of the nearest one's, or with the `most` nearest. A site
#' whose age or place is unknown takes the average of all others (in a mixture, none).
#'
#' **Circular arguments.** Most fossil sites are dated by their faunas. Smoothing over such ages uses the faunas twice:
#' a site that is dated as old by its genera is then expected to have old genera. Radiometric or magnetostratigraphic
#' ages, or place alone, avoid this. Fit both ways and compare.
#'
#' **Choosing by `"cv"`.** Cells are held out in `folds` groups, and never whole sites, whose neighbours must stay. For
#' each fold the model without smoothing is fitted further with each candidate: four bandwidths at strength 10, then
#' strengths 0, 3, 10, 30, and up to six more beyond an end that won. The least loss wins, strength 0 included;
#' `fit$smooth$cv` has the table, and `fit$smooth$at_edge` names an end that is still best. It costs about `folds` fits
#' with few starts each. A gain need not come from the neighbours: shuffle ages and places among the sites (without
#' their names) to see how much remains.
#'
#' **Objective.** To the log-likelihood (or log-posterior) is added
#' \deqn{c \sum_i \log \sum_a \sqrt{t_{ia} \bar t_{ia}} + b \left(\sum_i \log \sum_q \sqrt{v_{iq} \bar v_q} + \sum_q
#' \log \bar v_q\right), \quad \bar t_{ia} = \sum_j w_{ij} t_{ja}}{c sum_i log sum_a sqrt(t[i,a] mean_i[a]) + b (sum_i
#' log sum_q sqrt(v[i,q] mean[q]) + sum_q log mean[q])}
#' with \eqn{t} the compositions, \eqn{\bar t_i}{mean_i} the average of the neighbours of site i, \eqn{v} its shares of
#' content and of each fixed phantom, \eqn{\bar v}{mean} their means over the table, \eqn{c} the `strength` and \eqn{b}
#' `recording`. The sums are log-affinities (Bhattacharyya 1943). `strength` is in cells: 10 weighs little against 40
#' genera of a site, and much against two. 0 is no smoothing. [plsa()] has the first term, in counts;
#' [bernoulli_mixture()] has an objective of its own.
#' @param ... must be empty.
#' @param age ages of the sites in any unit: a numeric vector, or a matrix or data frame of two columns, the
#'   bounds of each age in either order. Text that names intervals of the geological time scale, such as stages (one
#'   column, or the early and the late one), becomes their bounds in Ma where package deeptime is installed. Ages of
#'   package units are converted to Ma. `NA` is unknown; a number far from all others that stands for it, such as -9999,
#'   is an error that says so.
#' @param place matrix or data frame of two columns, whose names say what they are: longitude (within \[-180, 360\]) and
#'   latitude (within \[-90, 90\]) in degrees, named such as `lng` and `lat`, with great-circle distances in km; or
#'   places in the plane in any unit, named such as `easting` and `northing`, with straight distances in that unit.
#'   Columns `x` and `y` are taken as places in the plane if they cannot be degrees, else they are an error that asks
#'   for other names. Points of package sf are taken, too, in degrees or in the plane as their coordinate reference
#'   says. `NA` is unknown; longitude and latitude both 0, far from all others, are an error.
#' @param environment matrix or data frame of numbers, a column for each variable of the sites, such as depth,
#'   temperature or the logarithm of rain. Each is divided by its standard deviation; the distance of two sites is the
#'   root of the mean squared difference over the variables. `NA` is unknown.
#' @param distance any other distance: a symmetric n x n matrix, not negative, or a result of [stats::dist()]. `NA` is
#'   unknown.
#' @param neighbours instead of all these: a list with, for each site, the numbers (or names) of its neighbours;
#'   or an n x n matrix of weights, dense or sparse, none negative; its diagonal is disregarded.
#' @param bandwidth where the weight has fallen to exp(-1), in units of the age, in km (or units of the plane), in
#'   standard deviations of `environment`, in units of `distance`: one number where there is one covariate, else a named
#'   vector such as `c(age = 1, place = 500)`. Or `"cv"`.
#' @param strength how much the neighbours count, in cells, at least 0; or `"cv"`.
#' @param recording how much the table's mean share of a fixed phantom counts, in cells, at least 0.
#' @param most most neighbours of a site, at least 1; `NULL`: 30 in fits, 500 in [neighbours_mean()].
#' @param folds groups of cells for `"cv"`, at least 2.
#' @return A list of class `smooth_over`, to be given to a model. Names, where the covariates have them,
#'   are matched to the rows of the data; so held-out rows can be left out. Of data frames these are the row names, or a
#'   column or row numbers that hold the names of the sites, and a message reports which column. Wrong input is an error
#'   of class `multicause_input_error`.
#' @references Bhattacharyya A (1943). On a measure of divergence between two statistical populations defined by their
#'   probability distributions. *Bulletin of the Calcutta Mathematical Society* 35, 99-109.
#' @seealso [aspect_bernoulli()], [curves()]
#' @examples
#' sites <- early_tetrapods$sites
#' near <- smooth_over(age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")],
#'                     bandwidth = c(age = 5, place = 2000), strength = 10)
#' near
#' few <- fit_control(n_start = 2, max_iter = 200, tol = 1e-6, progress = FALSE)
#' fit <- aspect_bernoulli(
#'   early_tetrapods$x, k = 5, estimate = "map", phantom = "white", smooth = near, control = few
#' )
#' head(false_absences(fit, n = 5))
#' @export
smooth_over <- function(..., age = NULL, place = NULL, environment = NULL, distance = NULL, neighbours = NULL,
                        bandwidth = "cv", strength = "cv", recording = 15, most = NULL, folds = 5) {
  check_dots(...)
  sides <- list(age = age, place = place, environment = environment, distance = distance, neighbours = neighbours)
  tell_lost_columns(match.call(), sides)
  sides <- name_frames(Filter(Negate(is.null), sides))
  given <- Map(check_covariate, sides, names(sides))
  if (!length(given)) {
    stop_input("One of `age`, `place`, `environment`, `distance` and `neighbours` must be supplied.")
  }
  units <- NULL
  if (!is.null(given$environment)) {
    units <- environment_units(given$environment)
    given$environment <- in_units(given$environment, units)
  }
  if (!is.null(given$neighbours) && length(given) > 1L) {
    stop_input("`neighbours` must be supplied alone: it stands for all distances.")
  }
  given <- covariates_by_name(given)
  check_same_sites(given)
  tables <- Filter(function(side) is.data.frame(side) && !is.character(attr(side, "row.names")), sides)
  structure(
    list(
      given = given, names = covariate_names(given), n = nrow(given[[1L]]), tables = if (length(tables)) tables,
      units = units, age_unit = unit_of_ages(sides$age),
      bandwidth = check_bandwidth(bandwidth, names(given)),
      strength = if (identical(strength, "cv")) strength else check_number(strength, "strength", 0, 1e6),
      recording = check_number(recording, "recording", 0, 1e6), most = if (!is.null(most)) check_count(most, "most"),
      folds = check_count(folds, "folds", 2L)
    ),
    class = "smooth_over"
  )
}

check_covariate <- function(value, name) {
  check <- switch(name,
    age = check_age_bounds, place = check_place, environment = check_environment, distance = check_distance,
    neighbours = check_neighbours
  )
  check(if (name == "age") value else plain_values(value)) # a unit of ages is converted
}

check_same_sites <- function(given) {
  n <- vapply(given, nrow, 0L)
  other <- which(n != n[1L])[1L]
  if (!is.na(other)) {
    stop_input(
      "`%s` and `%s` must be of the same sites, not of %d and %d.", names(n)[1L], names(n)[other], n[1L], n[other]
    )
  }
}

# Gives data frames of covariates the sites' names as row names: those of another covariate, or a column of text. What
# only the data's names can decide is left to named_by_data().
name_frames <- function(sides) {
  frames <- names(Filter(is.data.frame, sides))
  sides[frames] <- Map(plain_covariate, sides[frames], frames)
  own <- Filter(function(labels) length(labels) && !is_numbering(labels, NULL), lapply(sides, given_names))
  labels <- if (length(own)) own[[1L]]
  for (name in setdiff(frames, names(own))) {
    if (is.null(labels)) {
      sides[[name]] <- by_text_column(sides[[name]], name)
      labels <- given_names(sides[[name]])
    } else {
      sides[[name]] <- by_key_column(sides[[name]], name, labels)
    }
  }
  sides
}

# Uses the only column of text as row names if it can be nothing else: all its values differ and are no numbers.
# Likewise the number of each site before the two bounds of its age.
by_text_column <- function(table, argument) {
  key <- which(vapply(unclass(table), is_text, NA))
  numbered <- !length(key) && argument == "age" && ncol(table) == 3L
  if (numbered) key <- which(vapply(unclass(table), is_site_number, NA))
  if (length(key) != 1L || ncol(table) < 2L) {
    return(table)
  }
  values <- key_values(table[[key]])
  if (anyNA(values) || anyDuplicated(values) || (!numbered && any(reads_as_number(values)))) {
    return(table)
  }
  tell_key(list(column = names(table)[key]), argument)
  table <- table[-key]
  rownames(table) <- values
  table
}

# Recognises whole numbers above 0, all different.
is_site_number <- function(value) {
  is.numeric(value) && !anyNA(value) && all(value > 0 & value == floor(value)) && !anyDuplicated(value)
}

# Returns bounds of ages, n x 2: low, high.
check_age_bounds <- function(age, name = "age") {
  labels <- given_names(age)
  given <- age
  age <- read_ages(age, name)
  if (is.data.frame(age)) age <- as.matrix(age)
  if (is.logical(age) && all(is.na(age))) storage.mode(age) <- "double"
  ok <- is.numeric(age) && (is_line(age) || (length(dim(age)) == 2L && ncol(age) %in% 1:2))
  if (!ok) {
    stop_input(
      "`%s` must be a numeric vector, or two columns with its bounds, not %s.%s", name, show_value(given),
      if (is.atomic(given) && is_number_text(as.character(given))) number_advice(given) else ""
    )
  }
  far <- which(is.infinite(age))
  if (length(far)) stop_input("`%s` must be finite or NA: value %d is not.", name, far[1L])
  age <- matrix(as.double(age), ncol = if (is_line(age)) 1L else ncol(age))
  out <- cbind(low = pmin(age[, 1L], age[, ncol(age)]), high = pmax(age[, 1L], age[, ncol(age)]))
  rownames(out) <- labels
  out
}

# Returns places, n x 2: longitude and latitude in degrees ("lon", "lat"), or in the plane ("x", "y"). `kind`: "degrees"
# or "plane" if known, else it follows from the names of the columns.
check_place <- function(place, name = "place", kind = NULL) {
  if (inherits(place, c("sf", "sfc"))) place <- read_points(place, name)
  if (length(dim(place)) != 2L) {
    stop_input("`%s` must have two numeric columns, longitude and latitude, not be %s.", name, show_value(place))
  }
  labels <- given_names(place)
  columns <- tolower(colnames(place))
  given <- place
  if (ncol(place) == 2L) place <- read_numbers(place, name)
  if (is.data.frame(place)) place <- as.matrix(place)
  if (!is.numeric(place) || ncol(place) != 2L) {
    stop_input("`%s` must have two numeric columns, longitude and latitude, not be %s.", name, show_value(given))
  }
  far <- which(is.infinite(place))
  if (length(far)) stop_input("`%s` must be finite or NA: row %d is not.", name, (far[1L] - 1L) %% nrow(place) + 1L)
  if (is.null(kind)) kind <- place_kind(place, columns, name)
  if (length(columns) && grepl("^lat|_lat|decimallat|paleolat", columns[1L]) && grepl("lon|lng", columns[2L])) {
    place <- place[, 2:1, drop = FALSE]
  }
  if (kind == "degrees") check_degrees(place, name) else refuse_unknown_number(place, name)
  storage.mode(place) <- "double"
  dimnames(place) <- list(labels, if (kind == "degrees") c("lon", "lat") else c("x", "y"))
  place
}

# Returns places of points of package sf, whose coordinate reference defines their kind.
read_points <- function(place, name) {
  points <- sf_shapes(place)
  if (!inherits(points, "sfc_POINT")) {
    stop_input("`%s` must be points, as `sf::st_centroid(%s)`, not %s.", name, name, show_names(class(points)[1L]))
  }
  reference <- attr(points, "crs")$wkt
  sides <- if (is.null(reference) || is.na(reference)) c("x", "y") else
    if (startsWith(reference, "GEOG")) c("lng", "lat") else c("easting", "northing")
  at <- vapply(points, function(point) as.vector(point)[1:2], c(0, 0))
  matrix(at, ncol = 2L, byrow = TRUE, dimnames = list(given_names(place), sides))
}

# Returns the shapes of an object of package sf, which need not be installed.
sf_shapes <- function(x) if (inherits(x, "sf")) x[[attr(x, "sf_column")]] else x

is_plane <- function(place) identical(colnames(place), c("x", "y"))

# Degrees and places in the plane are never guessed from values: both can be of any size up to 90.
place_kind <- function(place, columns, name) {
  named <- function(first, second) {
    length(columns) == 2L && any(grepl(first, columns)) && any(grepl(second, columns))
  }
  if (named("lon|lng", "lat")) {
    return("degrees")
  }
  if (named("east", "north") || named("utm", "utm")) {
    return("plane")
  }
  sure <- any(place[, 1L] < -180 | place[, 1L] > 360 | abs(place[, 2L]) > 90, na.rm = TRUE)
  if (sure && named("^x|x$", "^y|y$")) {
    return("plane")
  }
  stop_input(
    paste(
      "`%s` must have columns named `lng` and `lat` for degrees, `easting` and `northing` for",
      "places in the plane, as by `names(place) <- c(\"easting\", \"northing\")`. Its columns have %s."
    ),
    name, if (length(columns)) paste("the names", show_names(columns)) else "no names"
  )
}

check_degrees <- function(place, name) {
  for (side in 1:2) {
    range <- list(c(-180, 360), c(-90, 90))[[side]]
    bad <- which(place[, side] < range[1L] | place[, side] > range[2L])
    if (length(bad)) {
      value <- place[bad[1L], side]
      stop_input(
        "`%s` must hold %ss within %g and %g: row %d is %s. %s", name, c("longitude", "latitude")[side], range[1L],
        range[2L], bad[1L], format(value), if (value %in% sentinels) {
          sprintf("If that is unknown, use `%s[%s == %s] <- NA`.", name, name, format(value, scientific = FALSE))
        } else {
          "Places in the plane have columns `easting` and `northing`."
        }
      )
    }
  }
  refuse_null_island(place, name)
}

# Checks the environment, n x variables, in the user's units.
check_environment <- function(environment, name = "environment") {
  labels <- given_names(environment)
  if (is_line(environment) && is.numeric(environment)) {
    environment <- matrix(environment, ncol = 1L)
  }
  if (is.data.frame(environment)) {
    other <- which(!vapply(environment, function(column) is.numeric(column) && is.null(dim(column)), NA))
    if (length(other)) {
      column <- environment[[other[1L]]]
      advice <- if (is_text(column)) comma_advice(column) else ""
      if (!nzchar(advice)) advice <- " Groups can go in as 0 and 1, a column each, or by `distance`."
      stop_input("`%s` must hold numbers: column %s is %s.%s", name, show_names(names(environment)[other[1L]]),
        show_value(column), advice)
    }
    environment <- as.matrix(environment)
  }
  if (!is.numeric(environment) || length(dim(environment)) != 2L || !ncol(environment)) {
    stop_input("`%s` must be a data frame or matrix of numbers, not %s.", name, show_value(environment))
  }
  bad <- which(is.infinite(environment))
  if (length(bad)) {
    stop_input("`%s` must be finite or NA: row %d is not.", name, (bad[1L] - 1L) %% nrow(environment) + 1L)
  }
  refuse_unknown_number(environment, name)
  if (is.null(colnames(environment))) colnames(environment) <- paste0("variable", seq_len(ncol(environment)))
  storage.mode(environment) <- "double"
  rownames(environment) <- labels
  environment
}

# Returns the unit of distance in each variable: its standard deviation times the root of their number.
environment_units <- function(environment) {
  spread <- apply(environment, 2L, stats::sd, na.rm = TRUE)
  none <- which(is.na(spread) | spread <= 0)
  if (length(none)) {
    stop_input("`environment` must vary over the sites: %s does not.", show_names(colnames(environment)[none[1L]]))
  }
  spread * sqrt(ncol(environment))
}

in_units <- function(environment, units) sweep(environment, 2L, units, "/")

# Checks variables of new rows, matched by name, in the units of those of the fit.
check_along_environment <- function(environment, units) {
  name <- "along$environment"
  if (is_line(environment) && length(units) > 1L && setequal(names(environment), names(units))) {
    environment <- t(environment)
  }
  unnamed <- is.null(colnames(environment))
  environment <- check_environment(environment, name)
  if (unnamed && ncol(environment) == length(units)) colnames(environment) <- names(units)
  lacking <- setdiff(names(units), colnames(environment))
  if (length(lacking)) stop_input("`%s` must have the variables of the fit: it lacks %s.", name, show_names(lacking))
  in_units(environment[, names(units), drop = FALSE], units)
}

check_distance <- function(distance) {
  if (inherits(distance, "dist")) {
    n <- attr(distance, "Size")
    if (length(n) != 1L || !isTRUE(length(distance) == n * (n - 1) / 2)) {
      stop_input("`distance` must be a valid result of dist(): its length and its size do not agree.")
    }
    distance <- as.matrix(distance)
  }
  if (!is.numeric(distance) || length(dim(distance)) != 2L || nrow(distance) != ncol(distance)) {
    stop_input("`distance` must be a square numeric matrix or a result of dist(), not %s.", show_value(distance))
  }
  uneven <- abs(distance - t(distance)) > 1e-8 * max(distance, 0, na.rm = TRUE)
  bad <- which(distance < 0 | is.infinite(distance) | uneven)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(distance))
    stop_input(
      "`distance` must be finite, symmetric and not negative: row %d, column %d is %s.", at[1L], at[2L],
      format(distance[bad[1L]])
    )
  }
  storage.mode(distance) <- "double"
  distance
}

# Returns a sparse n x n matrix of weights, its diagonal empty.
check_neighbours <- function(neighbours) {
  if (is.list(neighbours) && !is.data.frame(neighbours)) {
    n <- length(neighbours)
    labels <- names(neighbours)
    to <- lapply(seq_len(n), function(i) pick_neighbours(neighbours[[i]], n, labels, i))
    neighbours <- Matrix::sparseMatrix(
      i = rep(seq_len(n), lengths(to)), j = as.integer(unlist(to)), x = 1, dims = c(n, n),
      dimnames = if (!is.null(labels)) list(labels, labels)
    )
  }
  if ((is_plain(neighbours) && length(dim(neighbours)) == 2L) || inherits(neighbours, "Matrix")) {
    check_valid(neighbours, "neighbours")
    if (nrow(neighbours) != ncol(neighbours)) {
      stop_input("`neighbours` must be square, not %d x %d.", nrow(neighbours), ncol(neighbours))
    }
    out <- without_slack(column_sparse(neighbours))
    if (anyNA(out@x) || any(out@x < 0) || any(is.infinite(out@x))) {
      stop_input("`neighbours` must hold finite weights that are not negative.")
    }
    diag(out) <- 0
    return(Matrix::drop0(out))
  }
  stop_input("`neighbours` must be a list or a square matrix of weights, not %s.", show_value(neighbours))
}

pick_neighbours <- function(which, n, labels, i) {
  if (!length(which)) {
    return(integer())
  }
  unique(pick(which, n, labels, sprintf("neighbours[[%d]]", i)))
}

# Orders covariates that name their sites like the first that does.
covariates_by_name <- function(given) {
  labels <- covariate_names(given)
  for (name in names(given)) {
    at <- name_order(rownames(given[[name]]), labels, name, what = "Row names")
    if (!is.null(at)) given[[name]] <- take_sites(given[[name]], name, at)
  }
  given
}

# Selects sites of a covariate.
take_sites <- function(value, name, at) {
  if (name %in% c("distance", "neighbours")) value[at, at, drop = FALSE] else value[at, , drop = FALSE]
}

# Returns the names of the sites, or NULL.
covariate_names <- function(given) {
  named <- Filter(Negate(is.null), lapply(given, rownames))
  if (!length(named)) {
    return(NULL)
  }
  if (anyDuplicated(named[[1L]])) {
    twice <- named[[1L]][anyDuplicated(named[[1L]])]
    stop_input("Names in `%s` must be unique: %s comes twice.", names(named)[1L], show_names(twice))
  }
  named[[1L]]
}

check_bandwidth <- function(bandwidth, covariates) {
  covariates <- setdiff(covariates, "neighbours")
  if (identical(bandwidth, "cv") || !length(covariates)) {
    return(if (length(covariates)) bandwidth else numeric())
  }
  if (is.numeric(bandwidth) && length(covariates) == 1L && is.null(names(bandwidth))) {
    names(bandwidth) <- rep(covariates, length(bandwidth))
  }
  ok <- is.numeric(bandwidth) && setequal(names(bandwidth), covariates) && length(bandwidth) == length(covariates) &&
    all(is.finite(bandwidth)) && all(bandwidth > 0)
  if (!ok) {
    numbers <- if (length(covariates) > 1L) "positive numbers named" else "a positive number for"
    stop_input(
      "`bandwidth` must be \"cv\" or %s %s, not %s.", numbers, show_names(covariates), show_value(bandwidth)
    )
  }
  bandwidth[covariates]
}

#' @export
print.smooth_over <- function(x, ...) {
  said <- function(value) {
    if (identical(value, "cv")) "chosen by held-out cells" else vapply(value, format, "", USE.NAMES = FALSE)
  }
  cat(sprintf("Neighbours of %s by %s\n", count_words(x$n, "site"), paste(names(x$given), collapse = ", ")))
  if (length(x$bandwidth)) {
    gap <- if (is.null(names(x$bandwidth))) "" else " "
    cat(sprintf("  bandwidth: %s\n", paste(names(x$bandwidth), said(x$bandwidth), sep = gap, collapse = ", ")))
  }
  cat(sprintf("  strength: %s\n", said(x$strength)))
  if (length(x$at_edge)) {
    end <- c(least = "smallest", most = "largest")[x$at_edge]
    cat(sprintf("  the %s %s of those tried is the best\n", end, names(x$at_edge)), sep = "")
  }
  if (is.numeric(x$cv$loss)) print.data.frame(x$cv, row.names = FALSE, digits = 4L)
  invisible(x)
}
