#' Which observations are neighbours?
#'
#' Says by age, place or anything else which sites are near each other, for the argument `smooth` of
#' [aspect_bernoulli()], [bernoulli_mixture()] and [plsa()]: sites near each other then share their communities, and a
#' taxon found at a site's neighbours is expected at the site.
#'
#' @details
#' **What is smoothed.** The *composition* of a site: its membership among the content aspects alone, as shares that
#' sum to 1. How well a site is recorded, the share of a pinned phantom, is never taken from its neighbours: sampling
#' is the site's own. It is only drawn to the mean of the whole table, by `recording` cells, since a site with few
#' cells on record says little of its share; 0 leaves it free. Fit with `phantom = "white"`: a phantom that is not
#' pinned is smoothed like any aspect.
#'
#' What `recording` does was measured with planted omissions (`bench/smooth.md` in the source repository): on three
#' tables of fossils, with `recording` 0, 5, 15 and 50, deleted presences had over the whole table an AUC of .888, .899,
#' .910, .907 (Neogene of Europe), .920, .924, .928, .926 (Neogene of North America) and .882, .896, .917, .929 (early
#' tetrapods); within sites it changes nothing (.905, .926 and .928 for 0 and 15). Left free, the share of many a poor
#' site ends at 1, where every zero is called a gap: the chances of `missed` are then no calibrated ones (slope 0.0 to
#' 0.2, with 15 0.7 to 0.9). With 50 the phantom's mean share fell from .6 to .1 in two of the tables.
#'
#' **Objective.** To the log-likelihood (or log-posterior) is added
#' \deqn{c \sum_i \log \sum_a \sqrt{t_{ia} \bar t_{ia}} + b \left(\sum_i \log \sum_q \sqrt{v_{iq} \bar v_q} + \sum_q
#' \log \bar v_q\right), \quad \bar t_{ia} = \sum_j w_{ij} t_{ja}}{c sum_i log sum_a sqrt(t[i,a] mean_i[a]) + b (sum_i
#' log sum_q sqrt(v[i,q] mean[q]) + sum_q log mean[q])} with \eqn{t} the compositions, \eqn{\bar t_i}{mean_i} the
#' average of the neighbours of site i, \eqn{v} its shares of content and of each pinned phantom and \eqn{\bar v}{mean}
#' their means over the table; \eqn{c} is the `strength`, \eqn{b} is `recording`. The sums over sites are log-affinities
#' (Bhattacharyya 1943), 0 where the two are equal; the last one is a Dirichlet prior that keeps the phantom of a whole
#' table from shrinking to nothing, where all sites would be equal, too. A pass counts c cells more for each site,
#' shared out as the site and its neighbours agree, and never lowers the objective. `strength` is thus in cells: 10
#' weighs little against the record of a site with 40 genera, and much against one with two. 0 is no smoothing at all,
#' bit for bit. [plsa()] has the first term, in counts; [bernoulli_mixture()] has an objective of its own.
#'
#' **Neighbours.** Weights fall off as \eqn{\exp(-d)}{exp(-d)}, where d is the difference in age over its bandwidth
#' plus the great-circle distance over its bandwidth plus the distance of `distance` over its own. Of an age range the
#' weight is averaged over the range, which takes every age in it as equally likely. A site is not its own neighbour;
#' the weights of its neighbours sum to 1. Neighbours end where weights fall below 1 % of the nearest one's or, if
#' these are more than `most`, with the `most` nearest (ties are kept). A site whose age or place is unknown takes the
#' average of all others (in a mixture, none).
#'
#' **Choosing by `"cv"`.** Cells are hidden in `folds` groups, as [cross_validate()] does, never whole sites: their
#' neighbours must stay. For each fold the model is fitted without smoothing and goes on from there with each
#' candidate: first four bandwidths (multiples of the distance within which a site has about one in twenty of the
#' others), at strength 10, then strengths 0, 3, 10, 30. The least loss wins, strength 0 included. Where the best is the
#' smallest or largest of its kind, up to six more are tried beyond it, each half or double the last (strengths: about
#' three times the last), until it is at an end no more. If it still is, a message says so, and `fit$smooth$at_edge`
#' names the end (`"least"` or `"most"`) for `bandwidth` or `strength`. `fit$smooth$cv` has the table. It costs as much
#' as about `folds` fits with few starts each, and more where the grids go on. A gain need not come from the neighbours:
#' sites with short records are predicted better when drawn to any average, and a pinned phantom by `recording`. Shuffle
#' ages and places among the sites (without their names, which would be matched) to see how much is left without them.
#'
#' **Circular arguments.** Most fossil sites are dated by their faunas. Smoothing over such ages uses the faunas twice:
#' a site called old because of its genera is then told that old genera belong there. Missing taxa that fit the age are
#' found with more confidence than the evidence has, and gradual change may be overstated. Radiometric or
#' magnetostratigraphic ages, or place alone, are free of it; fit both ways and compare.
#'
#' @param ... must be empty.
#' @param age ages of the observations in any unit: a numeric vector, or a matrix or data frame of two columns, the
#'   bounds of each age in either order. `NA` is unknown.
#' @param place matrix or data frame of two columns: longitude (within \[-180, 360\]) and latitude (within \[-90,
#'   90\]), in degrees, in this order or named such as `lng` and `lat`. `NA` is unknown.
#' @param distance any other distance: a symmetric n x n matrix, not negative, or a result of [stats::dist()]. `NA` is
#'   unknown.
#' @param neighbours instead of all these: a list with, for each observation, the numbers (or names) of its neighbours;
#'   or an n x n matrix of weights, dense or sparse, none negative; its diagonal is disregarded.
#' @param bandwidth where the weight has fallen to exp(-1), in units of the age, in km, in units of `distance`: one
#'   number where there is one covariate, else a named vector such as `c(age = 1, place = 500)`. Or `"cv"`.
#' @param strength how many cells the neighbours' opinion weighs, at least 0; or `"cv"`.
#' @param recording how many cells the table's mean share of a pinned phantom weighs, at least 0.
#' @param most most neighbours of an observation, at least 1.
#' @param folds groups of cells for `"cv"`, at least 2.
#' @return A list of class `smooth_over`, to be given to a model. Names, where the covariates have them,
#'   are matched to the rows of the data; so held-out rows can be left out. Wrong input is an error of class
#'   `multicause_input_error`.
#' @references Bhattacharyya A (1943). On a measure of divergence between two statistical populations defined by their
#'   probability distributions. *Bulletin of the Calcutta Mathematical Society* 35, 99-109.
#' @seealso [aspect_bernoulli()], [curves()]
#' @examples
#' sites <- early_tetrapods$sites
#' near <- smooth_over(age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")],
#'                     bandwidth = c(age = 5, place = 2000), strength = 10)
#' near
#' few <- fit_control(n_start = 2, max_pass = 200, tol = 1e-6, progress = FALSE)
#' fit <- aspect_bernoulli(
#'   early_tetrapods$x, k = 5, estimate = "map", phantom = "white", smooth = near, control = few
#' )
#' head(false_absences(fit, n = 5))
#' @export
smooth_over <- function(..., age = NULL, place = NULL, distance = NULL, neighbours = NULL, bandwidth = "cv",
                        strength = "cv", recording = 15, most = 30, folds = 5) {
  check_dots(...)
  given <- list(
    age = if (!is.null(age)) check_age_bounds(age), place = if (!is.null(place)) check_place(place),
    distance = if (!is.null(distance)) check_distance(distance),
    neighbours = if (!is.null(neighbours)) check_neighbours(neighbours)
  )
  given <- Filter(Negate(is.null), given)
  if (!length(given)) stop_input("One of `age`, `place`, `distance` and `neighbours` must be given.")
  if (!is.null(given$neighbours) && length(given) > 1L) {
    stop_input("`neighbours` must be given alone: it stands for all distances.")
  }
  n <- vapply(given, nrow, 0L)
  if (any(n != n[1L])) {
    other <- which(n != n[1L])[1L]
    stop_input(
      "`%s` and `%s` must be of the same observations, not of %d and %d.", names(n)[1L], names(n)[other], n[1L],
      n[other]
    )
  }
  structure(
    list(
      given = given, names = covariate_names(given), n = n[[1L]],
      bandwidth = check_bandwidth(bandwidth, names(given)),
      strength = if (identical(strength, "cv")) strength else check_number(strength, "strength", 0, 1e6),
      recording = check_number(recording, "recording", 0, 1e6), most = check_count(most, "most"),
      folds = check_count(folds, "folds", 2L)
    ),
    class = "smooth_over"
  )
}

# n x 2: low, high.
check_age_bounds <- function(age, name = "age") {
  labels <- if (is_line(age)) names(age) else covariate_rows(age)
  if (is.data.frame(age)) age <- as.matrix(age)
  if (is.logical(age) && all(is.na(age))) storage.mode(age) <- "double"
  ok <- is.numeric(age) && (is_line(age) || (length(dim(age)) == 2L && ncol(age) %in% 1:2))
  if (!ok) stop_input("`%s` must be a numeric vector, or two columns with its bounds, not %s.", name, show_value(age))
  far <- which(is.infinite(age))
  if (length(far)) stop_input("`%s` must be finite or NA: value %d is not.", name, far[1L])
  age <- matrix(as.double(age), ncol = if (is_line(age)) 1L else ncol(age))
  out <- cbind(low = pmin(age[, 1L], age[, ncol(age)]), high = pmax(age[, 1L], age[, ncol(age)]))
  rownames(out) <- labels
  out
}

# Row names, but not the numbers that every data frame has.
covariate_rows <- function(x) {
  if (is.data.frame(x) && is.integer(attr(x, "row.names"))) NULL else rownames(x)
}

# n x 2: longitude, latitude.
check_place <- function(place, name = "place") {
  labels <- covariate_rows(place)
  columns <- tolower(colnames(place))
  if (is.data.frame(place)) place <- as.matrix(place)
  if (!is.numeric(place) || length(dim(place)) != 2L || ncol(place) != 2L) {
    stop_input("`%s` must have two numeric columns, longitude and latitude, not be %s.", name, show_value(place))
  }
  swapped <- length(columns) && grepl("^lat", columns[1L]) && grepl("^(lon|lng)", columns[2L])
  if (swapped) place <- place[, 2:1, drop = FALSE]
  for (side in 1:2) {
    range <- list(c(-180, 360), c(-90, 90))[[side]]
    bad <- which(place[, side] < range[1L] | place[, side] > range[2L])
    if (length(bad)) {
      advice <- if (max(abs(place[bad, side])) > 1000) " Projected coordinates go in by `distance = dist()`." else ""
      stop_input(
        "`%s` must hold %ss within %g and %g: row %d is %s.%s", name, c("longitude", "latitude")[side], range[1L],
        range[2L], bad[1L], format(place[bad[1L], side]), advice
      )
    }
  }
  out <- cbind(lon = as.double(place[, 1L]), lat = as.double(place[, 2L]))
  rownames(out) <- labels
  out
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

# A sparse n x n matrix of weights, its diagonal empty.
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
  pick(which, n, labels, sprintf("neighbours[[%d]]", i))
}

# The names of the observations, or NULL; covariates that name them must agree.
covariate_names <- function(given) {
  named <- Filter(Negate(is.null), lapply(given, rownames))
  if (!length(named)) {
    return(NULL)
  }
  for (name in names(named)[-1L]) {
    if (!identical(named[[name]], named[[1L]])) {
      stop_input("`%s` and `%s` must name the same observations in the same order.", names(named)[1L], name)
    }
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
  check_whole(x, "x")
  said <- function(value) {
    if (identical(value, "cv")) "by held-out cells" else vapply(value, format, "", USE.NAMES = FALSE)
  }
  cat(sprintf("Neighbours of %d observations by %s\n", x$n, paste(names(x$given), collapse = ", ")))
  if (length(x$bandwidth)) {
    gap <- if (is.null(names(x$bandwidth))) "" else " "
    cat(sprintf("bandwidth: %s\n", paste(names(x$bandwidth), said(x$bandwidth), sep = gap, collapse = ", ")))
  }
  cat(sprintf("strength: %s\n", said(x$strength)))
  if (length(x$at_edge)) {
    end <- c(least = "smallest", most = "largest")[x$at_edge]
    cat(sprintf("at the end of what was tried: the %s %s\n", end, names(x$at_edge)), sep = "")
  }
  if (is.numeric(x$cv$loss)) print.data.frame(x$cv, row.names = FALSE, digits = 4L)
  invisible(x)
}
