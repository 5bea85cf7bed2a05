# Figures of a result: each shows the numbers of the result. Tests also R/which_zeros_time.R.

skip_on_cran()

set.seed(5)
ages <- sort(runif(40, 250, 300))
table <- outer(ages, seq(250, 300, length.out = 20), function(age, middle) abs(age - middle) < 15)
table[] <- rbinom(800, 1, 0.1 + 0.6 * table)
dimnames(table) <- list(localities = paste("Site", 1:40), genera = paste("Genus", 1:20))
places <- data.frame(lng = runif(40, 0, 20), lat = runif(40, 40, 50))
answer <- suppressMessages(which_zeros(table, age = data.frame(ma = ages), place = places, quick = TRUE, seed = 1))
shown <- function(...) drawn(ggplot2::autoplot(answer, ...))

test_that("the heat map tells found, missed, undecided and absent by the range of the probability", {
  state <- zero_states(answer, 0.5)
  cells <- as.data.frame(answer)
  at <- cbind(match(cells$site, rownames(table)), match(cells$taxon, colnames(table)))
  expect_identical(sum(state == 1L), sum(table))
  expect_true(all(cells$missed_low[state[at] == 2L] > 0.5))
  expect_true(all(cells$missed_high[state[at] == 4L] <= 0.5))
  expect_true(all((cells$missed_low <= 0.5 & cells$missed_high > 0.5)[state[at] == 3L]))
  figure <- ggplot2::autoplot(answer, "heat", threshold = 0.9)
  drawn(figure)
  states <- tabulate(zero_states(answer, 0.9), 5L)
  expect_equal(as.vector(table(figure$data$value)), states)
  expect_match(figure$labels$title, sprintf("^%d zeros? .* %d undecided$", states[2L], states[3L]))
  expect_identical(levels(figure$data$row), paste("Site", 40:1)) # the youngest, the first, on top
  expect_identical(unlist(figure$labels[c("x", "y")], use.names = FALSE), c("genera", "localities"))
})

test_that("sites of one age are one bin, drawn without a line", {
  one <- suppressMessages(which_zeros(table, age = rep(280, 40), quick = TRUE, seed = 1))
  expect_silent(drawn(ggplot2::autoplot(one, "time")))
})

test_that("a heat map draws no more sites and taxa than a page has dots for, and says so", {
  bind_in_namespace("most_drawn", 10L)
  for (what in c("heat", "table")) {
    figure <- ggplot2::autoplot(answer, what)
    drawn(figure)
    expect_identical(nrow(figure$data), 100L)
    subtitle <- gsub("\n", " ", figure$labels$subtitle)
    expect_match(subtitle, "; 10 of 40 localities; 10 of 20 genera, equally spaced", fixed = TRUE)
    expect_identical(levels(figure$data$row)[c(1L, 10L)], c("Site 40", "Site 1")) # the oldest and the youngest stay
  }
  found <- sprintf("40 localities by 20 genera: %d found", sum(table))
  expect_match(ggplot2::autoplot(answer, "heat", threshold = 0.9)$labels$alt, found, fixed = TRUE)
})

test_that("where most zeros are undecided the heat map has their probabilities in place of one colour", {
  state <- zero_states(answer, 0.3)
  expect_gt(mean(state[state %in% 2:4] == 3L), 0.5)
  figure <- ggplot2::autoplot(answer, "heat", threshold = 0.3)
  cells <- as.data.frame(answer)
  expect_equal(sort(figure$data$value), sort(cells$missed))
  found <- ggplot2::layer_data(figure, 2L)
  expect_identical(nrow(found), sum(table))
  expect_identical(unique(found$fill), cell_colours[["found"]])
})

test_that("the table of probabilities lies as the heat map does", {
  sides <- function(what) lapply(ggplot2::autoplot(answer, what)$data[c("row", "column")], levels)
  expect_identical(sides("table"), sides("heat"))
  calendar <- function(what) lapply(ggplot2::autoplot(answer, what, unit = "CE")$data[c("row", "column")], levels)
  expect_identical(calendar("table"), calendar("heat"))
  expect_false(identical(calendar("table"), sides("table")))
})

test_that("the heat map tells bins of age where they are asked for, or sites are many", {
  figure <- ggplot2::autoplot(answer, "heat", bins = c(250, 260, 280, 300))
  built <- drawn(figure)
  expect_identical(axis_labels(built, "y"), c("260 to 250", "280 to 260", "300 to 280"))
  expect_identical(figure$labels$y, "age (Ma)")
  lines <- ggplot2::layer_data(figure, length(figure$layers))$yintercept
  expect_equal(as.vector(lines), 40.5 - c(sum(ages < 260), sum(ages < 280)))
  w <- answer
  w$inputs$near$given$age[ages > 280, ] <- NA
  expect_identical(axis_labels(drawn(ggplot2::autoplot(w, "heat", bins = 40)), "y"), c("280 to 240", "unknown"))
  given <- w$inputs$near$given$age
  rownames(w$inputs$near$given$age) <- paste("Site", seq_len(nrow(given)))
  part <- drawn(ggplot2::autoplot(w, "heat", bins = c(260, 280)))
  expect_identical(axis_labels(part, "y"), c("outside", "280 to 260", "unknown"))
  expect_identical(ggplot2::autoplot(answer, "heat")$labels$y, "localities")
})

test_that("bins are of a width, of breaks, or intervals, as packages have them", {
  bins <- time_bins(10, c(251, 299, NA), "Ma")
  expect_equal(bins$from, seq(290, 250, -10))
  expect_equal(bins$to, bins$from + 10)
  expect_identical(in_bin(c(251, 260, 299.9, NA, 310), bins), c(5L, 4L, 1L, NA, NA))
  expect_equal(time_bins(c(270, 250, 300, 400), c(251, 299), "Ma")$from, c(270, 250)) # those in sight
  scale <- data.frame(interval_name = c("B", "A"), max_ma = c(280, 310), min_ma = c(250, 290))
  expect_identical(time_bins(scale, ages, "Ma")$name, c("A", "B"))
  expect_identical(in_bin(c(295, 285, 280), time_bins(scale, ages, "Ma")), c(1L, NA, 2L)) # there may be gaps
  expect_identical(time_bins(stats::setNames(scale, c("name", "max_age", "min_age")), ages, "Ma")$from, c(290, 250))
  for (range in list(c(251, 299), c(0, 541), c(3.2, 3.3), c(12, 12))) {
    usual <- time_bins(NULL, rep(range, 100), NULL)
    expect_true(nrow(usual) <= 20L && !anyNA(in_bin(range, usual)))
  }
  expect_identical(time_bins(50, c(1901, 1999), "year")$from, c(1900, 1950)) # the oldest first
  fails <- function(bins, words) {
    expect_error(plot(answer, "time", bins = bins), words, class = "multicause_input_error")
  }
  fails("stage", "`bins` must be a width")
  fails(0, "`bins` must be a width above")
  fails(c(1, 2), "250[.0-9]* to")
  fails(data.frame(old = 1), "\"max_ma\"")
  fails(data.frame(max_ma = c(300, NA), min_ma = c(280, 250)), "two different finite bounds")
  fails(data.frame(name = c("A", "B"), max_ma = c(300, 285), min_ma = c(280, 250)), "B and A do")
})

test_that("a bin of time has the mean of by_site() over its sites, by group, too", {
  table <- by_site(answer, groups = cut(ages, c(250, 260, 280, 300)))
  sites <- as.vector(table(cut(ages, c(250, 260, 280, 300))))
  figure <- ggplot2::autoplot(answer, "time", bins = c(250, 260, 280, 300))
  drawn(figure)
  # One legend for colours, shapes and lines: they are merged if their labels have the same order.
  if (utils::packageVersion("ggplot2") >= "3.5.0") {
    for (of in c("colour", "shape", "linetype")) {
      expect_identical(ggplot2::get_guide_data(figure, of)$.label, c("found", "found and missed"))
    }
  }
  value <- function(kind) rev(figure$data$value[figure$data$kind == kind])
  expect_equal(value("found"), table$presences / sites)
  expect_equal(value("found and missed"), (table$presences + table$missed) / sites)
  ribbon <- ggplot2::layer_data(figure, 3L)
  expect_equal(ribbon$ymax[order(-ribbon$x)], (table$presences + table$high) / sites)
  expect_identical(unlist(figure$labels[c("x", "y")], use.names = FALSE), c("age (Ma)", "genera per locality"))
  groups <- rep(c("a", "b"), 20)
  both <- ggplot2::autoplot(answer, "time", bins = 10, groups = groups)
  drawn(both)
  first <- both$data[both$data$group == "a" & both$data$kind == "found" & both$data$age == 255, ]
  expect_equal(first$value, mean(rowSums(as.matrix(answer$x))[ages < 260 & groups == "a"]))
  # A bin without a site has no point, and the line is interrupted there.
  gap <- ggplot2::autoplot(answer, "time", bins = c(200, 240, 245, 249, seq(250, 300, 10)))
  expect_false(anyNA(gap$data$value))
  some <- ggplot2::autoplot(answer, "time", bins = 5, groups = ifelse(ages > 255 & ages < 290, "b", "a"))
  drawn(some)
  expect_true(anyNA(some$data$value))
})

test_that("ranges have a tile for each bin with a site: found, or the greatest probability of its zeros", {
  bins <- seq(250, 300, 10)
  at <- c("Genus 3", "Genus 12")
  figure <- ggplot2::autoplot(answer, "ranges", taxon = at, bins = bins)
  drawn(figure)
  tiles <- taxon_tiles(answer, match(at, colnames(table)), in_bin(ages, time_bins(bins, ages, "Ma")), 5L)
  cells <- as.data.frame(answer, taxon = at)
  bin <- cut(ages, bins, labels = 5:1)
  for (i in seq_len(nrow(tiles))) {
    inside <- which(bin == tiles$bin[i])
    mine <- cells$taxon == at[tiles$taxon[i]] & cells$site %in% rownames(table)[inside]
    expect_identical(tiles$found[i], any(table[inside, at[tiles$taxon[i]]] == 1))
    if (!tiles$found[i]) expect_equal(tiles$probability[i], max(cells$missed[mine]))
    known <- range(as.integer(as.character(bin[table[, at[tiles$taxon[i]]] == 1])))
    expect_equal(tiles$side[i], (tiles$bin[i] > known[2]) - (tiles$bin[i] < known[1]))
  }
  # The numbers at the sides are the greatest probabilities of the faint tiles there.
  beyond <- tiles[tiles$side != 0, ]
  said <- ggplot2::layer_data(figure, 5L)
  expect_setequal(said$label, sub("^0", "", sprintf("%.2f", tapply(beyond$probability, beyond[c("taxon", "side")],
    max))))
  expect_identical(levels(figure$data$taxon), rev(at)) # the one that appeared first is lowest
  expect_match(figure$labels$x, "Ma")
  expect_identical(ggplot2::autoplot(answer, "ranges", unit = NULL)$labels$x, "age")
})

test_that("ranges of taxa that were found in the first and in the last bin have no probabilities beside them", {
  figure <- ggplot2::autoplot(answer, "ranges", bins = c(250, 300))
  drawn(figure)
  expect_identical(nrow(ggplot2::layer_data(figure, 5L)), 0L)
})

test_that("how many were missed is drawn by each evidence, and the curve of further surveys", {
  figure <- ggplot2::autoplot(answer, "how_many")
  drawn(figure)
  expect_equal(figure$data$value, answer$how_many$missed)
  curve <- ggplot2::autoplot(answer, "more")
  drawn(curve)
  at <- match(c(1, 2, 3, 5, 9), round(curve$data$surveys, 8))
  expect_equal(curve$data$missed[at], answer$presences + c(0, answer$more$missed))
  expect_equal(curve$data$unlike_high[at][-1L], answer$presences + answer$more$unlike_high)
  w <- answer
  w$source <- "completeness"
  expect_error(ggplot2::autoplot(w, "more"), "presence-absence data alone", class = "multicause_input_error")
})

test_that("a measure of unknown error is a point without a range", {
  w <- answer
  w$quality$auc_se[2L] <- NA
  expect_warning(drawn(ggplot2::autoplot(w, "learners")), NA)
})

test_that("names of few taxa stand below, turned, as in the heat map", {
  sides <- function(what) ggplot2::ggplot_build(ggplot2::autoplot(answer, what))$layout$panel_scales_x[[1L]]$position
  expect_identical(sides("table"), sides("heat"))
})

test_that("ranges show the bounds of the ages of the first and the last presence", {
  w <- answer
  w$inputs$near$given$age <- cbind(low = ages - 2, high = ages + 3)
  figure <- ggplot2::autoplot(w, "ranges", taxon = "Genus 3")
  drawn(figure)
  lines <- ggplot2::layer_data(figure, 4L)
  found <- range(ages[table[, 3] == 1])
  expect_equal(sort(-c(lines$xmin, lines$xmax)), sort(c(found - 2, found + 3)))
  expect_true(any(grepl(ends_words, text_boxes(figure, 7, 5)$text, fixed = TRUE))) # in the legend
})

test_that("the map has the numbers of by_site(), those of sites that cover each other joined", {
  sums <- by_site(answer)
  map <- shown("map")
  expect_lt(nrow(map$plot$data), 40)
  expect_equal(sum(map$plot$data$sites), 40)
  limits <- map$plot$coordinates$limits
  expect_true(limits$x[1] < min(places$lng) && limits$y[2] < 60) # zoomed to the sites
  at <- cbind(c(0, 0.001, 5, 10), 0)
  expect_identical(joined_sites(at, map_limits(at)), c(1L, 1L, 2L, 3L))
  expect_identical(joined_sites(at[c(1, 1), ], map_limits(at)), c(1L, 1L))
  apart <- which_zeros(table, place = cbind(lng = rep(1:8, 5), lat = rep(1:5, each = 8)), quick = TRUE, seed = 1)
  alone <- ggplot2::autoplot(apart, "map")
  expect_setequal(alone$data$missed, by_site(apart)$missed)
  share <- with(by_site(apart), missed / (missed + presences))
  expect_equal(range(alone$data$share), range(share))
  expect_equal(alone$scales$get_scales("fill")$limits, range(share)) # the scale is that of what is drawn
})

test_that("the frame of a map holds nine tenths of the sites, and its edges say how many lie beyond", {
  w <- answer
  w$inputs$near$given$place[c(3, 5), ] <- rbind(c(120, 45), c(121, -60))
  map <- drawn(ggplot2::autoplot(w, "map"))
  expect_lt(map$plot$coordinates$limits$x[2], 30)
  sums <- by_site(w)
  expect_equal(sum(map$plot$data$missed), sum(sums$missed[-c(3, 5)]))
  expect_equal(sum(map$plot$data$sites), 38)
  labels <- Filter(function(layer) "label" %in% names(layer), map$data)[[1L]]
  expect_identical(labels$label, "+2")
  expect_match(map$plot$labels$subtitle, "beyond the\\s+edge")
  even <- cbind(lon = rep(1:10, 10), lat = rep(1:10, each = 10))
  expect_true(all(within_frame(even)))
  expect_identical(which(!within_frame(rbind(even, c(5, 80)))), 101L)
  expect_true(all(within_frame(cbind(lon = rep(3, 5), lat = 1:5))))
})

test_that("a map says which coast it shows, and takes the coast of another age", {
  square <- data.frame(lng = c(0, 20, 20, 0), lat = c(40, 40, 50, 50), group = 1)
  map <- drawn(ggplot2::autoplot(answer, "map", coast = square))
  expect_identical(map$plot$labels$caption, "Coast: as given")
  page <- explore_data(answer, NULL, NULL, square, "Ma", NULL)
  expect_identical(page$coast_words, "Coast: as given")
  expect_equal(page$coast, list(cbind(square$lng, square$lat)[c(1:4, 1), ]), ignore_attr = TRUE)
  expect_equal(map$data[[1L]]$x, square$lng)
  ring <- rbind(as.matrix(square[1:2]), as.matrix(square[1, 1:2]))
  shape <- structure(list(list(ring), list(list(ring + 1))), class = c("sfc_MULTIPOLYGON", "sfc"))
  given <- data.frame(id = 1:2)
  given$geometry <- shape
  read <- read_coast(structure(given, sf_column = "geometry", class = c("sf", "data.frame")))
  expect_equal(read$lon, c(ring[, 1], ring[, 1] + 1), ignore_attr = TRUE)
  expect_equal(read$group, rep(1:2, each = 5))
  expect_error(plot(answer, "map", coast = "Permian"), "`coast`", class = "multicause_input_error")
  skip_if_not_installed("maps")
  old <- "^Coast: of today; the sites are of 2[0-9]+ to 2[0-9]+ Ma"
  expect_match(ggplot2::autoplot(answer, "map")$labels$caption, old)
  now <- which_zeros(table, place = places, quick = TRUE, seed = 1)
  expect_identical(ggplot2::autoplot(now, "map")$labels$caption, "Coast: of today")
})

test_that("places on both sides of the date line are one piece, on the map and in the page", {
  pacific <- cbind(lon = c(170, -175, 179, NA, -170), lat = 0)
  expect_equal(one_piece(pacific)[, "lon"], c(170, 185, 179, NA, 190))
  world <- cbind(lon = c(-170, -60, 20, 100, 175), lat = 0)
  expect_identical(one_piece(world), world)
  w <- answer
  w$inputs$near$given$place[, 1L] <- ifelse(places$lng > 10, places$lng - 190, places$lng + 170)
  map <- drawn(ggplot2::autoplot(w, "map"))$plot
  expect_true(all(map$data$lon >= min(places$lng) + 170 & map$data$lon <= max(places$lng) + 170))
  expect_lt(diff(map$coordinates$limits$x), 30)
  degrees <- map$scales$get_scales("x")
  expect_identical(trimws(degrees$labels(c(170, 180, 190))), c("170\u00b0E", "180\u00b0", "170\u00b0W"))
  expect_true(any(degrees$breaks(c(169, 191)) > 180))
  page <- explore_data(w, NULL, NULL, NULL, "Ma", NULL)
  expect_equal(range(page$lon), range(places$lng) + 170)
  skip_if_not_installed("maps")
  expect_gt(max(world_coast(c(170, 190))$lon, na.rm = TRUE), 300) # coasts beyond 180, too
})

test_that("sites without an age, and taxa without a dated presence, are in no range, without a warning", {
  w <- answer
  w$inputs$near$given$age[3:5, ] <- NA
  expect_warning(drawn(ggplot2::autoplot(w, "ranges")), NA)
  expect_warning(figure <- drawn(ggplot2::autoplot(w, "time"))$plot, NA)
  w$inputs$near$given$age[table[, 3] == 1, ] <- NA
  bins <- time_bins(10, answer_ages(w), "Ma")
  tiles <- taxon_tiles(w, 3L, in_bin(answer_ages(w), bins), nrow(bins))
  expect_false(any(tiles$found))
  expect_warning(drawn(ggplot2::autoplot(w, "ranges", taxon = c("Genus 3", "Genus 12"))), NA)
})

test_that("places in the plane are drawn in their own unit, in the page, too", {
  plane <- data.frame(easting = 1000 * places$lng, northing = 1000 * places$lat)
  w <- which_zeros(table, place = plane, quick = TRUE, seed = 1)
  map <- drawn(ggplot2::autoplot(w, "map"))$plot
  expect_identical(unlist(map$labels[c("x", "y")], use.names = FALSE), c("easting", "northing"))
  expect_equal(sum(map$data$missed), w$total[["missed"]], tolerance = 1e-3)
  expect_equal(map$coordinates$ratio, 1)
  expect_gt(map$coordinates$limits$x[1], min(plane$easting) - 2000)
  page <- explore_data(w, NULL, NULL, NULL, "Ma", NULL)
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
  expect_identical(few_parts(why$score, nrow(why$score)), why$score)
  few <- few_parts(data.frame(part = letters[1:6], log_odds = c(-5, 0.1, 2, 1, -0.2, 3)), 4)
  expect_equal(few, data.frame(part = c("a", "c", "f", "3 others"), log_odds = c(-5, 2, 3, 0.9)), ignore_attr = TRUE)
  fit <- drawn_fit(30, 12, 3, phantom = "white")
  cells <- false_absences(fit, 20)
  heat <- ggplot2::autoplot(cells)
  drawn(heat)
  expect_equal(heat$data$value, cells$probability)
  expect_invisible(on_paper(plot(cells)))
  expect_error(plot(cells[0, ]), "it has none", class = "multicause_input_error")
})

test_that("no name of two dozen rows is left out in a small figure", {
  first <- as.data.frame(answer, n = 1)
  why <- explain(answer, first$site, first$taxon)
  names <- list(
    explain = c(as.character(why$neighbours$site[1:5]), as.character(why$companions$taxon[1:5])),
    ranges = colnames(table), taxa = colnames(table)
  )
  figures <- c(list(explain = ggplot2::autoplot(why)), lapply(c(ranges = "ranges", taxa = "taxa"), function(what) {
    ggplot2::autoplot(answer, what, n = 20)
  }))
  for (what in names(names)) {
    drawn <- text_boxes(figures[[what]], 4.4, 4)$text
    expect_setequal(intersect(drawn, names[[what]]), names[[what]])
  }
})

test_that("an axis of long numbers has more than two", {
  scale <- few_numbers("x", TRUE, 5L)
  for (most in c(7800, 135000, 3)) {
    at <- scale$breaks(c(-0.05, 1.05) * most)
    expect_gt(sum(at >= 0 & at <= 1.05 * most), 2)
    expect_lt(length(at), 8)
  }
})

test_that("the quality figure has the ROC curves of the simple rules beside the answer's", {
  rules <- answer$curve$rules
  expect_identical(names(rules), intersect(simple_learners, rownames(answer$quality)))
  built <- shown("quality")
  lines <- built$data[seq_len(length(rules) + 2L)]
  colours <- built$plot$scales$get_scales("colour")
  expect_identical(colours$get_limits(), c("this result", unname(rule_words)))
  # One line a rule, all in the panel of the ROC, before that of the answer.
  for (i in seq_along(rules)) {
    expect_equal(lines[[i + 1L]]$x, rules[[i]]$false_positive)
    expect_equal(lines[[i + 1L]]$y, rules[[i]]$true_positive)
    expect_true(all(lines[[i + 1L]]$PANEL == 1L))
    expect_identical(c(rules[[i]]$true_positive[1L], tail(rules[[i]]$true_positive, 1L)), c(0, 1))
  }
  # The area under a line is that of the table, pooled over all copies.
  area <- function(curve) {
    sum(diff(curve$false_positive) * (head(curve$true_positive, -1L) + tail(curve$true_positive, -1L)) / 2)
  }
  expect_equal(unname(vapply(rules, area, 0)), answer$quality[names(rules), "auc"], tolerance = 0.03)
  # Share of held-out presences among zeros, by probability of a record, beside that expected if a tenth of all
  # presences is held out.
  line <- answer$curve$calibration
  expect_gt(max(line$probability), 0.5)
  expect_equal(line$score, 0.1 * line$probability / (1 - 0.9 * line$probability), tolerance = 0.15)
  expect_equal(sum(line$share * line$cells), answer$curve$summary$changed)
  expect_equal(built$data[[length(rules) + 3L]]$y, line$share)
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

test_that("no band lies over bins without a site, and sites that are not shown are counted", {
  w <- answer
  w$inputs$near$given$age[ages > 265 & ages < 280, ] <- NA
  figure <- ggplot2::autoplot(w, "time", bins = c(250, 255, 260, 265, 270, 275, 280, 285, 290))
  band <- ggplot2::layer_data(figure, 3L)
  runs <- split(-band$x, band$group)
  expect_identical(lengths(runs, use.names = FALSE), c(2L, 3L))
  expect_true(all(vapply(runs, function(at) diff(range(at)) <= 10, NA)))
  lost <- c(sum(ages > 265 & ages < 280), sum(ages > 290))
  said <- paste0("Gaps: bins without localities\n", sprintf(
    "Not shown: %d localities without an age, %d localities outside the bins", lost[1L], lost[2L]
  ))
  expect_identical(figure$labels$caption, said)
  expect_null(ggplot2::autoplot(answer, "time", bins = 5)$labels$caption)
  expect_match(ggplot2::autoplot(w, "ranges")$labels$caption, "without an age$")
})

test_that("a bin of years is told forwards, one of ages backwards", {
  told <- function(forward) {
    time_title(data.frame(from = c(1990, 2000), to = c(2000, 2010), all = 2:1), NULL, "taxa", "site", forward)
  }
  expect_match(told(TRUE), "1990 to 2000")
  expect_match(told(FALSE), "2000 to 1990")
})

test_that("figures and explanations name what `missed` is the probability of", {
  titles <- function(w) {
    first <- as.data.frame(w, n = 1)
    reason <- explain(w, first$site, first$taxon)
    c(
      ggplot2::autoplot(w, "zeros")$labels$title, ggplot2::autoplot(reason)$labels$title,
      utils::capture.output(print(reason))[1:2] |> paste(collapse = " ")
    ) |> gsub(pattern = "\\s+", replacement = " ")
  }
  expect_match(titles(answer), "two more surveys (finds it )?with probability")
  known <- which_zeros(table, completeness = 0.5, quick = TRUE, seed = 1)
  expect_match(titles(known), "undetected presence with")
  expect_no_match(titles(known), "two more surveys")
})

test_that("figures over time and space need ages, bins that hold them, and places", {
  bare <- suppressMessages(which_zeros(table, quick = TRUE, seed = 1))
  refused <- function(text, ..., of = answer) {
    expect_error(ggplot2::autoplot(of, ...), text, fixed = TRUE, class = "multicause_input_error")
  }
  for (what in c("time", "ranges")) {
    refused(sprintf("`what = \"%s\"` needs the ages of the sites: which_zeros(age = ).", what), what, of = bare)
  }
  refused("`what = \"map\"` needs the places of the sites: which_zeros(place = ).", "map", of = bare)
  bins <- function(max_ma, min_ma) data.frame(name = letters[seq_along(max_ma)], max_ma = max_ma, min_ma = min_ma)
  refused("`bins` must not overlap: a and b do.", "time", bins = bins(c(280, 300), c(250, 270)))
  refused(sprintf("`bins` must hold the ages of the sites, %g to %g.", min(ages), max(ages)), "time",
    bins = bins(110, 100))
  between <- which.max(diff(ages))
  refused("`bins` must hold the ages of the sites: none lies in one of them.", "time",
    bins = bins(ages[between] + 2e-3, ages[between] + 1e-3))
  fit <- suppressMessages(aspect_bernoulli(table, 2, control = fit_control(n_start = 1, max_iter = 5, tol = 0)))
  refused("`object` must hold a cell to draw: it has none.", of = false_absences(fit, n = 5)[0, ])
})

test_that("bins are a width, breaks or intervals", {
  time <- function(bins) ggplot2::autoplot(answer, "time", bins = bins)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(time("a"), "`bins` must be a width, breaks or a data frame of intervals, not \"a\".")
  refused(time(data.frame(from = 1, to = 2)),
    "`bins` must have the columns \"max_ma\" and \"min_ma\", or \"max_age\" and \"min_age\": it has \"from\", \"to\".")
  refused(time(data.frame(max_ma = 260, min_ma = 260)),
    "`bins` must have a row for each interval, with two different finite bounds.")
})
