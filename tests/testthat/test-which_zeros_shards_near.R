# Neighbours of sites in shards through a grid, against the neighbours' mean of the table in memory.

skip_on_cran()

placed_table <- function(n = 240, seed = 5) {
  set.seed(seed)
  along <- data.frame(
    lng = stats::runif(n, 170, 190), lat = stats::runif(n, 40, 60), ma = stats::runif(n, 0, 10)
  )
  along$lng <- ifelse(along$lng > 180, along$lng - 360, along$lng) # across the date line
  east <- (along$lng + 360) %% 360
  near <- cbind(east < 180, along$lat > 50, along$ma > 5)
  p <- matrix(0.03, n, 30)
  for (g in 1:3) p[, seq(g, 30, by = 3)] <- ifelse(near[, g], 0.35, 0.03)
  x <- matrix(stats::rbinom(n * 30, 1, p), n, dimnames = list(sprintf("s%03d", 1:n), sprintf("t%02d", 1:30))) + 0
  x[sample(n * 30, 50)] <- NA
  list(x = x, along = along, shard = shards(x, tempfile(), size = 300, site_data = along))
}

# Scores of all cells without a presence, as a matrix.
near_matrix <- function(data, learner) {
  p <- matrix(NA_real_, nrow(data$x), ncol(data$x))
  open <- which(is.na(data$x) | data$x == 0, arr.ind = TRUE)
  p[open] <- near_probabilities(learner$table, learner$sums, learner$at[open[, 1]], open[, 2], 0,
    is.na(data$x[open]) + 0)
  p
}

in_memory_near <- function(data, bandwidth, columns = c("place", "age")) {
  covariates <- list(place = data$along[c("lng", "lat")], age = data$along$ma)[columns]
  near <- do.call(smooth_over, c(covariates, list(bandwidth = bandwidth, strength = 0, most = least_near)))
  p <- fitted(neighbours_mean(data$x, smooth = near, similarity = 0))
  p[data$x %in% 1] <- NA
  unname(p)
}

at_bandwidth <- function(data, squares, bandwidth) {
  table <- squares_table(data$shard, squares)
  at <- ifelse(squares$square == 0L, length(squares$sites) + 1L, squares$square)
  list(table = table, sums = sums_of_squares(table, nbm_at(squares$near, bandwidth)), at = at)
}

test_that("where each place is a square, the mean is that of the table in memory", {
  data <- placed_table()
  data$along[c(7, 90), "ma"] <- NA
  data$along[3, ] <- data$along[4, ]
  data$shard <- shards(data$x, tempfile(), size = 300, site_data = data$along)
  for (columns in list("place", c("age", "place"))) {
    names <- list(age = if ("age" %in% columns) "ma", place = c("lng", "lat"))
    squares <- shards_squares(data$shard, names$age, names$place)
    expect_true(all(squares$side == 0))
    bandwidth <- c(age = 2, place = 300)[columns]
    here <- in_memory_near(data, if (length(columns) > 1) bandwidth else unname(bandwidth), columns)
    expect_equal(near_matrix(data, at_bandwidth(data, squares, bandwidth)), here, tolerance = 1e-9)
    # The selected bandwidth is also the same.
    learner <- shards_near(data$shard, squares)
    chosen <- neighbours_mean(data$x, similarity = 0, smooth = do.call(smooth_over, c(
      list(age = data$along$ma, place = data$along[c("lng", "lat")])[columns], list(strength = 0, most = least_near)
    )))
    skip_unknown <- anyNA(data$along[c("ma", "lng", "lat")[if (length(columns) > 1) 1:3 else 2:3]])
    if (!skip_unknown) expect_equal(learner$bandwidth, chosen$param$bandwidth[columns], tolerance = 1e-9)
  }
})

test_that("squares come closer to the sites' own neighbours as they get smaller", {
  data <- placed_table(400)
  here <- in_memory_near(data, 300, "place")
  off <- vapply(c(20L, 100L, 300L), function(most) {
    squares <- shards_squares(data$shard, NULL, c("lng", "lat"), most)
    expect_lte(length(squares$sites), most)
    expect_identical(sum(squares$sites), 400L)
    expect_gt(squares$side[["place"]], 0)
    mean(abs(near_matrix(data, at_bandwidth(data, squares, c(place = 300))) - here), na.rm = TRUE)
  }, 0)
  expect_false(is.unsorted(-off))
  expect_lt(off[3L], 0.01)
})

test_that("squares are of about the side that they say", {
  data <- placed_table(400)
  squares <- shards_squares(data$shard, "ma", c("lng", "lat"), 150L)
  for (g in which(squares$sites > 1L)[1:20]) {
    mine <- squares$square == g
    own <- smooth_over(place = data$along[mine, c("lng", "lat")], bandwidth = 1, strength = 0)
    d <- sphere_distance(own$given$place)
    expect_lt(max(d), 1.6 * squares$side[["place"]])
    expect_lt(diff(range(data$along$ma[mine])), squares$side[["age"]])
  }
})

test_that("neighbours find held-out presences that nothing else tells, and the answer says what was used", {
  data <- placed_table(600)
  with <- answer(data$shard, age = "ma", place = c("lng", "lat"), n = 10, completeness = 0.7)
  without <- answer(data$shard, n = 10)
  expect_identical(rownames(with$quality), c("stack", "free", "near", "companions"))
  expect_gt(with$quality["near", "auc"], 0.7)
  expect_gt(with$quality["stack", "auc"], without$quality["stack", "auc"])
  expect_identical(with$near$squares, 600L)
  expect_named(with$near$bandwidth, c("age", "place"))
  expect_output(print(with), "Neighbours by age, bandwidth .* each place its own square, 600 in all")
  expect_false("neighbours' mean" %in% names(with$left_out))
  expect_match(without$left_out[["neighbours' mean"]], "neither")
  expect_identical(which_zeros(data$shard, "ma", c("lng", "lat"), n = 10, k = c(2, 3), seed = 1)$near$squares, 600L)
})

test_that("columns that are not there or hold no numbers are refused", {
  data <- placed_table()
  text <- shards(data$x, tempfile(), site_data = data.frame(ma = rep("old", 240), none = NA))
  expect_snapshot(error = TRUE, {
    answer(data$shard, age = 1:240)
    answer(data$shard, age = "epoch")
    answer(data$shard, place = "lng")
    answer(data$shard, place = c("ma", "lat"))
    answer(text, age = "ma")
    answer(text, age = "none")
    answer(shards(data$x, tempfile()), age = "ma")
  })
})
