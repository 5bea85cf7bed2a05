# Arguments of smooth_over(), and its messages.

test_that("bandwidths print without padding, and `along` says what it has", {
  near <- smooth_over(age = 1:6, distance = dist(1:6), bandwidth = c(age = 3, distance = 300), strength = 5)
  expect_output(print(near), "bandwidth: age 3, distance 300\n", fixed = TRUE)
  fit <- aspect_bernoulli(matrix(rbinom(30, 1, 0.5), 6), 2, smooth = near, control = fit_control(n_start = 1))
  expect_error(predict(fit, along = list(age = 3)), "it has \"age\"", class = "multicause_input_error")
})

test_that("bandwidths of two covariates are asked for by name, and dates and factors are called what they are", {
  place <- cbind(lng = 1:3, lat = 4:6)
  expect_error(
    smooth_over(age = 1:3, place = place, bandwidth = c(1, 2)), "positive numbers named \"age\", \"place\"",
    class = "multicause_input_error"
  )
  expect_error(smooth_over(age = as.Date("2020-01-01") + 1:3), "not an object of class \"Date\"")
  sites <- data.frame(age = 1:3)
  expect_message(smooth_over(age = sites$age, place = sites$place), "`place` is left out, since sites$place is NULL",
    fixed = TRUE)
  expect_silent(smooth_over(age = sites$age, place = NULL))
  expect_error(smooth_over(age = factor(1:3)),
    "not a factor of length 3[.] Use as[.]numeric[(]as[.]character[(][)][)] on it")
  expect_error(smooth_over(place = data.frame(lat = 1:3)), "not be a data frame with 3 rows and 1 column")
})

test_that("distances of a data frame without names, which dist() numbers, go by order", {
  x <- early_tetrapods$x
  places <- data.frame(x = 1000 * early_tetrapods$sites$lng, y = 1000 * early_tetrapods$sites$lat)
  few <- fit_control(n_start = 1, max_iter = 5, progress = FALSE)
  fit_with <- function(distance, x) {
    set.seed(1)
    near <- smooth_over(distance = distance, bandwidth = 5000, strength = 5)
    suppressWarnings(aspect_bernoulli(x, 2, smooth = near, control = few))$param
  }
  named <- as.matrix(dist(places))
  dimnames(named) <- list(rownames(x), rownames(x))
  expect_identical(fit_with(dist(places), x), fit_with(named, x))
  expect_error(fit_with(dist(places), x[-1, ]), "must be of the 128 rows of `x`, not of 129 sites")
  rownames(x) <- seq_len(nrow(x)) # names that are numbers are names
  expect_identical(dim(fit_with(dist(places), x[-1, ])$membership), c(128L, 2L))
})

test_that("points of package sf are places, in degrees or the plane as their reference says", {
  points <- function(wkt, kind = "sfc_POINT") {
    shapes <- structure(list(c(5, 50), c(6, 51, 9), c(7, 52)), class = c(kind, "sfc"), crs = list(wkt = wkt))
    structure(data.frame(a = 1:3, row.names = c("p", "q", "r")), class = c("sf", "data.frame")) |>
      within(where <- shapes) |> structure(sf_column = "where", class = c("sf", "data.frame"))
  }
  expected <- matrix(c(5:7, 50:52), 3, dimnames = list(c("p", "q", "r"), c("lon", "lat")))
  expect_equal(check_place(points("GEOGCRS[\"WGS 84\"]")), expected)
  expect_identical(colnames(check_place(points("PROJCRS[\"UTM\"]"))), c("x", "y"))
  expect_error(
    check_place(points(NA_character_)), "must have columns named `lng` and `lat` for degrees",
    class = "multicause_input_error"
  )
  expect_error(check_place(points("GEOGCRS", "sfc_POLYGON")), "must be points", class = "multicause_input_error")
})

test_that("places in the plane are known by their names, and what may be either is asked for", {
  plane <- cbind(easting = c(0, 3, 0), northing = c(0, 4, 10))
  near <- smooth_over(place = plane, bandwidth = 5, strength = 5)
  expect_identical(colnames(near$given$place), c("x", "y"))
  expect_equal(find_neighbours(near)$weight[1:2], exp(-(1:2)) / sum(exp(-(1:2))), tolerance = 1e-12)
  expect_true(typical_distance(near) > 5 && typical_distance(near) < 10) # in degrees it would be hundreds of km
  # x and y beyond degrees are in the plane; otherwise they are ambiguous, as are columns without names.
  expect_identical(colnames(smooth_over(place = cbind(x = 4e5 + 1:3, y = 1:3))$given$place), c("x", "y"))
  asks <- function(place) {
    expect_error(
      smooth_over(place = place), "must have columns named `lng` and `lat` for degrees",
      class = "multicause_input_error"
    )
  }
  asks(cbind(x = 1:3, y = 1:3))
  asks(cbind(1:3, 1:3))
  asks(cbind(4e5 + 1:3, 1:3))
  asks(data.frame(a = 1:3, b = 1:3))
  for (columns in list(c("lng", "lat"), c("decimalLongitude", "decimalLatitude"), c("paleolng", "paleolat"))) {
    place <- matrix(1:6, 3, dimnames = list(NULL, columns))
    expect_identical(smooth_over(place = place)$given$place[, "lat"], c(4, 5, 6))
    expect_identical(smooth_over(place = place[, 2:1])$given$place[, "lat"], c(4, 5, 6))
  }
  expect_error(smooth_over(place = cbind(lng = 1, lat = 91)), "latitudes within", class = "multicause_input_error")
  # New sites have the fit's covariates; a map of the plane has no coast and no degrees.
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 12)
  at <- cbind(utm_e = 1:12, utm_n = 12:1)
  few <- fit_control(n_start = 1, n_polish = 0, max_iter = 20, progress = FALSE)
  fit <- suppressWarnings(
    aspect_bernoulli(x, 2, smooth = smooth_over(place = at, bandwidth = 2, strength = 5), control = few)
  )
  expect_identical(dim(predict(fit, along = list(place = cbind(3, 4)))), c(1L, 5L))
  map <- ggplot2::autoplot(fit, "map")
  drawn(map)
  expect_identical(c(map$labels$x, map$labels$y), c("easting", "northing"))
  expect_equal(map$coordinates$ratio, 1)
})

test_that("variables of the sites are neighbours' distances in standard deviations", {
  environment <- data.frame(depth = c(0, 10, 40, NA), rain = c(3, 1, 2, 2))
  near <- smooth_over(environment = environment, bandwidth = 0.5, strength = 5)
  unit <- vapply(environment, sd, 0, na.rm = TRUE)
  apart <- function(i, j) sqrt(mean(((unlist(environment[i, ]) - unlist(environment[j, ])) / unit)^2))
  weight <- exp(-c(apart(1, 2), apart(1, 3)) / 0.5)
  lists <- find_neighbours(near)
  expect_equal(lists$weight[1:2], weight / sum(weight), tolerance = 1e-12)
  expect_identical(diff(lists$start)[4], 0L) # unknown: no neighbours, the average of all
  # The scale of a variable has no influence; with several variables the distances add up.
  again <- smooth_over(environment = transform(environment, depth = 1000 * depth - 7), bandwidth = 0.5, strength = 5)
  expect_equal(find_neighbours(again), lists, tolerance = 1e-10)
  both <- smooth_over(
    age = c(1, 3, 5, 7), environment = environment, bandwidth = c(age = 4, environment = 0.5), strength = 5
  )
  weight <- weight * exp(-c(2, 4) / 4)
  expect_equal(find_neighbours(both)$weight[1:2], weight / sum(weight), tolerance = 1e-12)
  bad <- function(pattern, ...) expect_error(smooth_over(...), pattern, class = "multicause_input_error")
  bad("rock", environment = data.frame(rock = c("a", "b", "a")))
  bad("must vary", environment = data.frame(depth = c(1, 1, 1)))
  bad("finite", environment = cbind(1:3, c(1, Inf, 2)))
  bad("same sites", environment = 1:3, age = 1:4)
})

test_that("a gradient is found by held-out cells, and new sites are known by it", {
  set.seed(2)
  n <- 80
  environment <- data.frame(depth = runif(n, 0, 100), noise = rnorm(n))
  rownames(environment) <- paste0("s", seq_len(n))
  p <- 0.9 * exp(-outer(environment$depth / 100, seq(0, 1, length.out = 16), "-")^2 / 0.02)
  x <- matrix(rbinom(length(p), 1, p), n, dimnames = list(rownames(environment), letters[1:16]))
  few <- fit_control(n_start = 2, n_polish = 0, max_iter = 100, tol = 1e-6, progress = FALSE)
  near <- smooth_over(environment = environment["depth"], folds = 3)
  fit <- suppressMessages(suppressWarnings(aspect_bernoulli(x, 4, smooth = near, control = few)))
  expect_gt(fit$smooth$strength, 0)
  expect_named(fit$smooth$bandwidth, "environment")
  expect_true("bandwidth_environment" %in% names(fit$smooth$cv))
  new <- predict(fit, along = list(environment = c(depth = 5)))
  expect_gt(mean(new[, 1:4]), mean(new[, 9:16]) + 0.1)
  expect_error(predict(fit, along = list(environment = data.frame(rain = 1))), "lacks \"depth\"")
  # Rows of the data are matched by name, and the mean of neighbours also uses the gradient.
  at <- rev(seq_len(n))[1:60]
  part <- neighbours_mean(x[at, ], smooth = near)
  whole <- neighbours_mean(x[at, ], smooth = smooth_over(environment = environment[at, "depth", drop = FALSE]))
  expect_equal(cor(as.vector(fitted(part)), as.vector(fitted(whole))), 1, tolerance = 0.01)
  w <- which_zeros(x, environment = environment["depth"], quick = TRUE, seed = 1)
  expect_true("near" %in% rownames(w$quality))
  expect_gt(w$quality["near", "auc"], w$quality["alike", "auc"] - 0.1)
})

test_that("neighbours are the same for any number of threads and whoever else asks for them", {
  set.seed(5)
  near <- smooth_over(
    age = cbind(runif(1500, 0, 9), runif(1500, 9, 20)), place = cbind(lng = runif(1500), lat = runif(1500)),
    bandwidth = c(age = 2, place = 10), strength = 1
  ) # more rows than are searched before their lists are moved
  near$most <- 20
  lists <- find_neighbours(near)
  for (n_threads in 2:3) expect_identical(find_neighbours(near, n_threads = n_threads), lists)
  some <- c(1L, 700L, 1398L, 1399L, 1500L)
  few <- find_neighbours(near, lapply(near$given, function(each) each[some, , drop = FALSE]), own = some)
  at <- unlist(lapply(some, function(i) lists$start[i] + seq_len(lists$start[i + 1L] - lists$start[i])))
  expect_identical(few[-1L], list(neighbour = lists$neighbour[at], weight = lists$weight[at]))
})

test_that("shapes that are no points, and an environment that does not vary or is lacking, are refused", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(smooth_over(place = structure(list(1), class = c("sfc_POLYGON", "sfc"))),
    "`place` must be points, as `sf::st_centroid(place)`, not \"sfc_POLYGON\".")
  refused(smooth_over(environment = data.frame(a = rep(1, 10), b = 1:10)),
    "`environment` must vary over the sites: \"a\" does not.")
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, smooth = smooth_over(environment = data.frame(a = 1:10, b = rnorm(10)), bandwidth = 1),
    control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  refused(predict(fit, x[1:2, ], along = list(environment = data.frame(a = 1:2))),
    "`along$environment` must have the variables of the fit: it lacks \"b\".")
})

test_that("neighbours, ages, places, environments and distances that are none are refused", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(smooth_over(), "One of `age`, `place`, `environment`, `distance` and `neighbours` must be supplied.")
  refused(smooth_over(age = 1:3, neighbours = diag(3)),
    "`neighbours` must be supplied alone: it stands for all distances.")
  refused(smooth_over(age = 1:3, distance = dist(1:4)),
    "`age` and `distance` must be of the same sites, not of 3 and 4.")
  refused(smooth_over(age = c(1, Inf)), "`age` must be finite or NA: value 2 is not.")
  refused(smooth_over(place = 1), "`place` must have two numeric columns, longitude and latitude, not be 1.")
  refused(smooth_over(environment = "a"), "`environment` must be a data frame or matrix of numbers, not \"a\".")
  refused(smooth_over(distance = "a"), "`distance` must be a square numeric matrix or a result of dist(), not \"a\".")
  refused(smooth_over(neighbours = matrix(0, 2, 3)), "`neighbours` must be square, not 2 x 3.")
})
