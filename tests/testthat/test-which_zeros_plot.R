# Figures of an answer: each shows the numbers of the answer.

set.seed(5)
ages <- sort(runif(40, 250, 300))
table <- outer(ages, seq(250, 300, length.out = 20), function(age, middle) abs(age - middle) < 15)
table[] <- rbinom(800, 1, 0.1 + 0.6 * table)
dimnames(table) <- list(localities = paste("Site", 1:40), genera = paste("Genus", 1:20))
places <- data.frame(lng = runif(40, 0, 20), lat = runif(40, 40, 50))
answer <- suppressMessages(which_zeros(table, age = ages, place = places, quick = TRUE, seed = 1))
shown <- function(...) drawn(ggplot2::autoplot(answer, ...))

test_that("the heat map tells found, missed, undecided and absent by the range of the chance", {
  state <- zero_states(answer, 0.5)
  cells <- as.data.frame(answer)
  at <- cbind(match(cells$site, rownames(table)), match(cells$taxon, colnames(table)))
  expect_identical(sum(state == 1L), sum(table))
  expect_true(all(cells$missed_low[state[at] == 2L] > 0.5))
  expect_true(all(cells$missed_high[state[at] == 4L] <= 0.5))
  expect_true(all((cells$missed_low <= 0.5 & cells$missed_high > 0.5)[state[at] == 3L]))
  figure <- ggplot2::autoplot(answer, "heat", threshold = 0.3)
  drawn(figure)
  expect_equal(as.vector(table(figure$data$value)), tabulate(zero_states(answer, 0.3), 5L))
  expect_identical(levels(figure$data$row), paste("Site", 40:1)) # the youngest, the first, on top
  expect_identical(unlist(figure$labels[c("x", "y")], use.names = FALSE), c("genera", "localities"))
})

test_that("ranges show finds, their ends and the chances of the zeros", {
  figure <- ggplot2::autoplot(answer, "ranges", taxon = c("Genus 3", "Genus 12"))
  drawn(figure)
  expect_equal(sort(figure$data$age), sort(c(ages[table[, 3] == 1], ages[table[, 12] == 1])))
  spans <- ggplot2::layer_data(figure, 1L)
  expect_equal(sort(-spans$x), sort(c(max(ages[table[, 3] == 1]), max(ages[table[, 12] == 1]))))
  cells <- as.data.frame(answer, taxon = c("Genus 3", "Genus 12"))
  expect_equal(nrow(ggplot2::layer_data(figure, 2L)), sum(cells$missed > 0.1))
  expect_match(figure$labels$x, "Ma")
  expect_identical(ggplot2::autoplot(answer, "ranges", unit = NULL)$labels$x, "age")
})

test_that("sites through time and on the map have the numbers of by_site()", {
  sums <- by_site(answer)
  sums <- sums[match(rownames(table), sums$site), ]
  time <- shown("time")$plot$data
  expect_equal(time$value, c(sums$finds, sums$finds + sums$missed))
  expect_equal(time$age, rep(ages, 2))
  map <- shown("map")
  expect_setequal(map$plot$data$missed, sums$missed)
  expect_equal(range(map$plot$data$lon), range(places$lng))
  limits <- map$plot$coordinates$limits
  expect_true(limits$x[1] < min(places$lng) && limits$y[2] < 60) # zoomed to the sites
})

test_that("places on both sides of the date line are one piece, on the map and in the page", {
  pacific <- cbind(lon = c(170, -175, 179, NA, -170), lat = 0)
  expect_equal(one_piece(pacific)[, "lon"], c(170, 185, 179, NA, 190))
  world <- cbind(lon = c(-170, -60, 20, 100, 175), lat = 0)
  expect_identical(one_piece(world), world)
  w <- answer
  w$inputs$near$given$place[, 1L] <- ifelse(places$lng > 10, places$lng - 190, places$lng + 170)
  map <- drawn(ggplot2::autoplot(w, "map"))$plot
  expect_equal(range(map$data$lon), range(places$lng) + 170)
  expect_lt(diff(map$coordinates$limits$x), 30)
  degrees <- map$scales$get_scales("x")
  expect_identical(degrees$labels(c(170, 180, 190)), c("170\u00b0E", "180\u00b0", "170\u00b0W"))
  expect_true(any(degrees$breaks(c(169, 191)) > 180))
  page <- explore_data(w, NULL, NULL, "Ma", NULL)
  expect_equal(range(page$lon), range(places$lng) + 170)
  skip_if_not_installed("maps")
  expect_gt(max(world_coast(c(170, 190))$lon, na.rm = TRUE), 300) # coasts beyond 180, too
})

test_that("sites without an age are in no range, without a warning", {
  w <- answer
  w$inputs$near$given$age[3:5, ] <- NA
  expect_warning(figure <- drawn(ggplot2::autoplot(w, "ranges"))$plot, NA)
  expect_false(anyNA(figure$data$age))
})

test_that("places in the plane are drawn in their own unit, in the page and in the report, too", {
  plane <- data.frame(easting = 1000 * places$lng, northing = 1000 * places$lat)
  w <- which_zeros(table, place = plane, quick = TRUE, seed = 1)
  map <- drawn(ggplot2::autoplot(w, "map"))$plot
  expect_identical(unlist(map$labels[c("x", "y")], use.names = FALSE), c("easting", "northing"))
  expect_equal(range(map$data$lon), range(plane$easting))
  expect_equal(map$coordinates$ratio, 1)
  expect_gt(map$coordinates$limits$x[1], min(plane$easting) - 2000)
  page <- explore_data(w, NULL, NULL, "Ma", NULL)
  expect_true(page$plane)
  expect_null(page$coast)
  expect_equal(unclass(page$lon), plane$easting)
})

test_that("sums, contrasts, explanations and lists of cells have figures of their own", {
  for (what in c("zeros", "sites", "taxa", "table", "quality", "learners")) shown(what)
  groups <- rep(c("older", "younger"), each = 20)
  both <- by_site(answer, groups = groups)
  expect_equal(drawn(ggplot2::autoplot(both))$data[[1L]]$xmax, both$high)
  pair <- contrast(answer, groups)
  expect_equal(drawn(ggplot2::autoplot(pair))$data[[2L]]$x, pair$difference)
  first <- as.data.frame(answer, n = 1)
  why <- explain(answer, first$site, first$taxon)
  bars <- ggplot2::autoplot(why)
  drawn(bars)
  expect_equal(sum(bars$data$value[bars$data$panel == levels(bars$data$panel)[1L]]), sum(why$score$log_odds))
  fit <- drawn_fit(30, 12, 3, phantom = "white")
  cells <- false_absences(fit, 20)
  heat <- ggplot2::autoplot(cells)
  drawn(heat)
  expect_equal(heat$data$value, cells$probability)
  expect_invisible(on_paper(plot(cells)))
  expect_error(plot(cells[0, ]), "it has none", class = "multicause_input_error")
})

test_that("the quality figure has the ROC curves of the simple rules beside the answer's", {
  rules <- answer$curve$rules
  expect_identical(names(rules), intersect(simple_learners, rownames(answer$quality)))
  built <- shown("quality")
  lines <- built$data[seq_len(length(rules) + 2L)]
  colours <- built$plot$scales$get_scales("colour")
  expect_identical(colours$get_limits(), c("the answer", unname(rule_words)))
  # One line a rule, all in the panel of the ROC, before that of the answer.
  for (i in seq_along(rules)) {
    expect_equal(lines[[i + 1L]]$x, rules[[i]]$false_positive)
    expect_equal(lines[[i + 1L]]$y, rules[[i]]$true_positive)
    expect_true(all(lines[[i + 1L]]$PANEL == 1L))
    expect_identical(c(rules[[i]]$true_positive[1L], tail(rules[[i]]$true_positive, 1L)), c(0, 1))
  }
  # The area under a line is that of the table, over all copies at once.
  area <- function(curve) {
    sum(diff(curve$false_positive) * (head(curve$true_positive, -1L) + tail(curve$true_positive, -1L)) / 2)
  }
  expect_equal(unname(vapply(rules, area, 0)), answer$quality[names(rules), "auc"], tolerance = 0.03)
  plain <- ggplot2::autoplot(recovery(matrix(runif(9), 3), matrix(c(TRUE, FALSE, FALSE), 3, 3)))
  expect_identical(plain$scales$get_scales("colour")$guide, "none")
})

test_that("what a figure needs and what is wrong is told", {
  bare <- suppressMessages(which_zeros(unname(table), quick = TRUE, seed = 1))
  for (what in c("ranges", "time")) expect_error(plot(bare, what), "ages", class = "multicause_input_error")
  expect_error(plot(bare, "map"), "places", class = "multicause_input_error")
  expect_error(plot(answer, threshold = 2), "`threshold`", class = "multicause_input_error")
  expect_error(plot(answer, "ranges", taxon = "Homo"), "`taxon`", class = "multicause_input_error")
  expect_error(plot(answer, "time", unit = 1), "`unit`", class = "multicause_input_error")
  drawn(ggplot2::autoplot(bare, "heat"))
})
