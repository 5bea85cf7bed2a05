# Users' formats of ages and places, and the axis labels of figures.

skip_on_cran()

told <- function(code) tryCatch(code, multicause_input_error = conditionMessage)

test_that("text in ages and places is told by column, row and value, with what to do", {
  age <- data.frame(max_ma = c("3", "12.5 Ma", "7"), min_ma = 1:3)
  expect_identical(
    told(smooth_over(age = age)), "`age` must hold numbers: row 2 of column \"max_ma\" is \"12.5 Ma\", which is text."
  )
  expect_match(told(range_through(diag(3), age)), "row 2 of column \"max_ma\" is \"12.5 Ma\"")
  expect_match(told(smooth_over(age = c("3", "4,5"))), "value 2 is \"4,5\", which is text.")
  expect_match(told(smooth_over(age = c("3", "4"))), "Use as.numeric() on it.", fixed = TRUE)
  expect_match(told(smooth_over(age = data.frame(from = 3:4, to = factor(1:2)))),
    "row 1 of column \"to\" is \"1\", of a factor. Use `as.numeric(as.character(column))` on it.", fixed = TRUE)
  expect_match(told(smooth_over(age = matrix(c("3", "4", "x", "5"), 2, dimnames = list(NULL, c("a", "b"))))),
    "row 1 of column \"a\" is \"3\"")
  place <- data.frame(lng = c("13\u00b024'E", "0"), lat = c("52\u00b030'N", "1"))
  expect_match(told(smooth_over(place = place)), "row 1 of column \"lng\"")
})

test_that("numbers that stand for unknown are asked about", {
  ages <- c(3, 12, 5, 7, 8)
  for (code in c(-9999, -999, 9999, 999)) {
    said <- told(smooth_over(age = c(ages, code)))
    expect_identical(said, sprintf(
      "`age` must be NA where it is unknown: row 6 is %d, far from all others. Use `age[age == %d] <- NA`.", code, code
    ))
  }
  both <- data.frame(max_ma = c(3, -9999, 5, -9999), min_ma = c(2, -9999, 4, -9999))
  expect_match(told(smooth_over(age = both)), "each of the rows 2 and 4 of column \"max_ma\" is -9999")
  expect_match(told(range_through(diag(4), both)), "is -9999")
  depth <- data.frame(depth = c(1, 20, -9999), t = 1:3)
  expect_match(told(smooth_over(environment = depth)), "column \"depth\" is -9999")
  expect_match(told(smooth_over(place = cbind(easting = c(5e5, 5.1e5, -9999), northing = 1:3))), "\"easting\" is -9999")
  place <- cbind(lng = c(5, -9999), lat = c(1, -9999))
  expect_match(told(smooth_over(place = place)), "use `place[place == -9999] <- NA`", fixed = TRUE)
  # Plausible ages or depths.
  for (fine in list(c(9000, 9999, 11000), c(-50, 0, 9999, 30000), c(0, 999, 1500), c(-99, -50, 20), c(999, 999))) {
    expect_s3_class(smooth_over(age = fine), "smooth_over")
  }
})

test_that("longitude and latitude 0 are asked about where no other site is near", {
  place <- data.frame(lng = c(20, 0, 25), lat = c(50, 0, 48))
  said <- told(smooth_over(place = place))
  expect_match(said, "`place` must be NA where it is unknown: row 2 is at longitude 0 and latitude 0")
  eval(parse(text = sub(".*Use `(.*)`\\.$", "\\1", said)))
  expect_identical(place$lng, c(20, NA, 25))
  expect_s3_class(smooth_over(place = place), "smooth_over")
  expect_s3_class(smooth_over(place = data.frame(lng = c(0, 5, 5), lat = c(0, 0, 5))), "smooth_over") # a grid at sea
  wide <- data.frame(lng = c(0, 90, -90, 0), lat = c(0, 45, -45, 90))
  expect_s3_class(smooth_over(place = wide), "smooth_over")
  expect_match(told(smooth_over(place = wide - c(0, 0.5, 0.5, 0.5))), "Atlantic")
  expect_s3_class(smooth_over(place = data.frame(lng = c(0, 5), lat = c(51, 50))), "smooth_over") # the meridian
})

test_that("names of intervals become their bounds where package deeptime is", {
  skip_if_not_installed("deeptime")
  stages <- deeptime::get_scale_data("stages")
  bounds <- function(name) unlist(stages[stages$name == name, c("max_age", "min_age")], use.names = FALSE)
  expect_message(near <- smooth_over(age = c("Ypresian", NA, "lutetian")), "package deeptime for 2 intervals, in Ma")
  expect_equal(unname(near$given$age[1L, 2:1]), bounds("Ypresian"))
  expect_true(all(is.na(near$given$age[2L, ])))
  early <- data.frame(early_interval = factor(c("Ypresian", "Lutetian")), late_interval = c("Lutetian", NA))
  expect_message(near <- smooth_over(age = early), "intervals")
  expect_equal(near$given$age[1L, "high"], bounds("Ypresian")[1L], ignore_attr = TRUE)
  expect_equal(near$given$age[1L, "low"], bounds("Lutetian")[2L], ignore_attr = TRUE)
  lower <- suppressMessages(smooth_over(age = c("Lower Cretaceous", "Ypresian")))$given$age
  expect_equal(unname(lower[1L, "high"]), deeptime::get_scale_data("periods")$max_age[
    deeptime::get_scale_data("periods")$name == "Cretaceous"
  ])
  expect_match(told(smooth_over(age = c("Ypresian", "Ypressian"))), "it has no \"Ypressian\"")
})

test_that("an axis says the unit it knows, and time passes along it", {
  axis <- function(...) {
    parts <- time_axis(...)
    figure <- ggplot2::ggplot(data.frame(x = 1:2, y = 1:2)) + parts[[1L]] + parts[[2L]]
    scale <- figure$scales$scales[[1L]]
    of <- if (is.null(scale$get_transformation)) scale$trans else scale$get_transformation()
    list(words = unname(unlist(unclass(figure$labels)[scale$aesthetics[1L]])), forward = of$name == "identity")
  }
  expect_identical(axis(c(3, 250)), list(words = "age", forward = FALSE))
  expect_identical(axis(c(3, 250), "Ma"), list(words = "age (Ma)", forward = FALSE))
  expect_identical(axis(c(30, 30000)), list(words = "age", forward = FALSE))
  expect_identical(axis(c(30, 30000), "years BP"), list(words = "age (years BP)", forward = FALSE))
  expect_identical(axis(c(30, 300), NULL), list(words = "age", forward = FALSE))
  expect_identical(axis(c(-500, 1200), "CE"), list(words = "year (CE)", forward = TRUE))
  expect_identical(axis(c(1880, NA, 2020)), list(words = "year", forward = TRUE))
  expect_identical(axis(c(2, 3), "year", "y"), list(words = "year", forward = TRUE))
  expect_identical(axis(c(1880.5, 2020)), list(words = "age", forward = FALSE))
  expect_identical(years_ago(c(1900, 2000)), c(-1900, -2000))
  expect_identical(years_ago(c(1900, 2000), "ka"), c(1900, 2000))
})

test_that("the unit of ages is what their columns are called, and else none", {
  of <- function(...) unit_of_ages(data.frame(..., check.names = FALSE))
  expect_identical(of(max_ma = 3, min_ma = 1), "Ma")
  expect_identical(of(`Age (ka)` = 3), "ka")
  expect_identical(of(cal.BP = 3), "years BP")
  expect_identical(of(year = 3), "year")
  expect_null(of(max_ma = 3, min_ka = 1))
  expect_null(of(max_age = 3, min_age = 1))
  expect_null(of(sigma = 3))
  expect_null(unit_of_ages(1:3))
  expect_identical(unit_of_ages(c("Ypresian", NA)), "Ma")
  x <- simulated_sites$x
  age <- simulated_sites$sites$age
  drawn <- function(w, what = "ranges", ...) ggplot2::autoplot(w, what, ...)$labels$x
  answer <- function(age) which_zeros(x, age = age, quick = TRUE, seed = 1)
  told <- answer(data.frame(ka = age))
  silent <- answer(age)
  expect_identical(c(drawn(told), drawn(told, "time"), drawn(silent)), c("age (ka)", "age (ka)", "age"))
  expect_identical(c(drawn(told, unit = "Ma"), drawn(silent, unit = "Ma")), rep("age (Ma)", 2L))
  expect_identical(explore_data(told, NULL, NULL, NULL, "guess", NULL)$unit, "age (ka)")
  zero <- as.data.frame(told)
  ends <- range(age[x[, 1L] == 1])
  away <- which(age > ends[2L] + 1 & x[, 1L] == 0)[1L]
  if (!is.na(away)) expect_match(explain(told, away, 1L)$ages, "ka\\.$")
})

# As package units has them, without it.
in_unit <- function(x, unit) {
  structure(x, units = structure(list(numerator = unit, denominator = character()), class = "symbolic_units"),
    class = "units")
}

test_that("ages with a unit of time are converted to Ma, and other units are refused", {
  x <- simulated_sites$x
  age <- simulated_sites$sites$age
  ask <- function(age) which_zeros(x, age = age, quick = TRUE, seed = 1)
  plain <- suppressMessages(ask(age))
  expect_equal(suppressMessages(ask(in_unit(age, "Myr")))$probability, plain$probability)
  expect_message(converted <- ask(in_unit(1000 * age, "kyr")), "`age` in kyr is converted to Ma")
  expect_equal(converted$probability, plain$probability)
  expect_error(ask(in_unit(age, "m")), "unit of time.*not in \"m\"", class = "multicause_input_error")
  bounds <- data.frame(old = age, young = age, row.names = rownames(x))
  bounds$old <- in_unit(1e3 * (age + 1), "kyr")
  bounds$young <- in_unit(age, "Myr")
  plain <- suppressMessages(ask(data.frame(old = age + 1, young = age, row.names = rownames(x))))
  expect_equal(suppressMessages(ask(bounds))$probability, plain$probability)
  expect_equal(
    suppressMessages(range_through(x, in_unit(1e3 * age, "kyr"))), suppressMessages(range_through(x, age))
  )
  expect_error(range_through(x, in_unit(age, "degree")), "unit of time", class = "multicause_input_error")
})

test_that("decimal commas are named wherever numbers are wanted", {
  x <- matrix(rep(0:1, 50), 10)
  text <- paste0("0,", 1:10)
  words <- "decimal commas: read the file by read.csv2\\(\\)"
  fails <- function(...) expect_error(suppressMessages(which_zeros(x, ...)), words, class = "multicause_input_error")
  fails(age = text)
  fails(place = data.frame(lat = text, lon = text))
  fails(environment = data.frame(h = text))
  expect_error(aspect_bernoulli(as.data.frame(matrix(rep(text, 3), 10)), 2), words, class = "multicause_input_error")
  for (other in list(c("1,5", "x"), c("1,234", "12"), c("1,5", "caf\xe9"))) expect_identical(comma_advice(other), "")
})
