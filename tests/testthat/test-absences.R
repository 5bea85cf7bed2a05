# Columns of records that state absences, whatever their names, and those that do not.

skip_on_cran()

quietly <- function(x) suppressMessages(x, classes = "multicause_message")
as_matrix <- function(data, ...) {
  x <- quietly(occurrence_matrix(data, "site", "taxon", min_sites = 0, min_taxa = 0, ...))
  attr(x, "sites") <- NULL
  storage.mode(x) <- "double"
  x
}
as_shards <- function(x, ...) {
  made <- quietly(shards(x, tempfile("shards-"), site = "site", taxon = "taxon", ...))
  x <- as.matrix(made[seq_len(nrow(made)), ])
  x[order(rownames(x), method = "radix"), , drop = FALSE]
}
as_visits <- function(data, ...) {
  array <- quietly(visits_array(transform(data, round = 1L), "site", "taxon", "round", ...))
  x <- array[, , 1L]
  storage.mode(x) <- "double"
  x
}
csv_of <- function(data) {
  file <- tempfile(fileext = ".csv")
  utils::write.csv(data, file, row.names = FALSE)
  file
}
readers <- list(as_matrix, as_shards, function(data, ...) as_shards(csv_of(data), ...), as_visits)
asks <- function(data, column, advice = sprintf("Use `present = \"%s\"`", column)) {
  for (reader in readers) {
    told <- tryCatch(class(reader(data)), multicause_input_error = conditionMessage)
    expect_match(told, sprintf("Column \"%s\" may record absences", column), fixed = TRUE)
    expect_match(told, advice, fixed = TRUE)
  }
}

# A long table of every site and taxon, including sites and taxa without a presence.
whole <- function(n = 12, m = 8, seed = 4) {
  data <- expand.grid(site = sprintf("s%02d", seq_len(n)), taxon = sprintf("t%02d", seq_len(m)))
  data[] <- lapply(data, as.character)
  set.seed(seed)
  data$found <- stats::runif(n * m) < 0.3 & data$site != "s02" & data$taxon != "t03"
  data[sample(n * m), ]
}
truth_of <- function(data) {
  x <- with(data, tapply(found + 0, list(site, taxon), max))
  names(dimnames(x)) <- NULL
  x
}
with_column <- function(data, column, value) {
  data[[column]] <- value
  data[setdiff(names(data), "found")]
}

test_that("zeros beside other values are asked about, whatever the column is called", {
  data <- whole()
  amount <- ifelse(data$found, round(stats::rexp(nrow(data)) + 0.01, 2), 0)
  for (column in c("wtcpue", "biomass", "read_count", "ind_per_m3", "relative_cover", "total", "zork", "Anzahl")) {
    asks(with_column(data, column, amount), column)
  }
  wide <- with_column(data, "biomass", amount)
  for (reader in readers) expect_equal(reader(wide, present = "biomass"), truth_of(data), ignore_attr = TRUE)
  # three by three, as it is written by hand
  small <- expand.grid(site = c("a", "b", "c"), taxon = c("x", "y", "z"))
  asks(transform(small, wtcpue = c(3, 0, 0, 1.5, 0, 2, 0, 0, 7)), "wtcpue")
  # also in a part of such a table
  set.seed(2)
  some <- data$found | stats::runif(nrow(data)) < 0.2
  asks(with_column(data, "biomass", amount)[some, ], "biomass")
  asks(with_column(data, "hit", data$found)[some, ], "hit")
})

test_that("an odd value does not switch the question off", {
  data <- whole()
  count <- ifelse(data$found, 2, 0)
  at <- which(data$found)[1]
  for (odd in list("doubtful", "12+", "rare", -9999)) {
    for (column in c("individualCount", "zork")) {
      asks(with_column(data, column, replace(count, at, odd)), column, "other = \"unknown\")`")
    }
  }
  # One absence is enough in a known column, also among other words.
  data <- data.frame(site = c("a", "b", "c", "c"), taxon = c("x", "y", "x", "z"))
  asks(transform(data, abundance = c("rare", "absent", "common", "rare")), "abundance", "other = \"present\")`")
  asks(transform(data, count = c("few", "0", "many", "3")), "count", "`present = c(\"count\"")
})

test_that("blanks are absences where there are rows for nearly every pair, and `present` takes them so", {
  data <- whole()
  found <- data$found
  count <- ifelse(found, 3, NA)
  for (value in list(count, ifelse(found, "r", ""), ifelse(found, "+", "-"), ifelse(found, "2a", "."))) {
    for (column in c("count", "zork")) {
      asks(with_column(data, column, value), column, sprintf("`present = c(\"%s\", blank = \"absent\"", column))
    }
  }
  for (reader in readers) {
    taken <- reader(with_column(data, "n", count), present = c("n", blank = "absent"))
    expect_equal(taken, truth_of(data), ignore_attr = TRUE)
    marks <- with_column(data, "cover", ifelse(found, "+", "."))
    taken <- reader(marks, present = c("cover", blank = "absent", other = "present"))
    expect_equal(taken, truth_of(data), ignore_attr = TRUE)
  }
  expect_message(
    occurrence_matrix(with_column(data, "n", count), "site", "taxon", present = "n"),
    "Use `present = c(\"n\", blank = \"absent\")` if blank means absent.", fixed = TRUE
  )
  # presences of two surveys with separate taxa, one below the other
  two <- rbind(data, transform(whole(9, 6, 5), site = paste0("z", site), taxon = paste0("u", taxon)))
  asks(with_column(two, "zork", ifelse(two$found, 1, NA)), "zork", "blank = \"absent\"")
  # rows of several visits
  visits <- data[rep(seq_len(nrow(data)), 3), ]
  visits$day <- rep(1:3, each = nrow(data))
  expect_error(as_matrix(with_column(visits, "zork", ifelse(visits$found, 1, NA))), "Column \"zork\" may record")
})

test_that("what blank and other values are is checked", {
  data <- data.frame(site = "a", taxon = "x", n = 1)
  expect_snapshot(error = TRUE, {
    occurrence_matrix(data, "site", "taxon", present = c("n", blank = "zero"))
    occurrence_matrix(data, "site", "taxon", present = c("n", odd = "absent"))
    occurrence_matrix(data, "site", "taxon", present = c("n", "m"))
    occurrence_matrix(data, "site", "taxon", count = c("n", blank = -1))
    occurrence_matrix(whole()[1:40, ], "site", "taxon")
  })
})

test_that("columns of taxa, of sites and of events are not asked about, nor those without absences", {
  data <- whole(20, 10)
  data$trait <- match(data$taxon, unique(data$taxon)) %% 3
  data$extinct <- data$trait == 0
  data$depth <- match(data$site, unique(data$site)) %% 4
  data$id <- seq_len(nrow(data)) - 1L
  data$lat <- round(stats::rnorm(nrow(data)), 1)
  data$longitude <- stats::rpois(nrow(data), 1)
  data$mass <- stats::rexp(nrow(data)) + 0.1
  data$temperature <- stats::rpois(nrow(data), 2) - 2
  data$sex <- sample(c("f", "m", NA), nrow(data), TRUE)
  data$remark <- ifelse(stats::runif(nrow(data)) < 0.5, NA, "seen well")
  presences <- data[data$found, setdiff(names(data), "found")]
  for (reader in readers) expect_equal(sum(reader(presences)), nrow(presences))
  # the same with dates, at sites with many
  dated <- presences[rep(seq_len(nrow(presences)), 2), ]
  dated$date <- rep(c("2021-05-01", "2021-06-01"), each = nrow(presences))
  dated$depth <- (match(paste(dated$site, dated$date), unique(paste(dated$site, dated$date))) - 1) %% 5
  expect_equal(sum(as_matrix(dated)), nrow(presences))
  # a column whose zeros change no cell
  again <- rbind(transform(presences, gap = stats::rpois(nrow(presences), 1)), transform(presences, gap = 2.5))
  expect_equal(sum(as_matrix(again)), nrow(presences))
  expect_error(as_matrix(again, count = TRUE), "Column \"gap\" may record", class = "multicause_input_error")
  # the time since the first record of a taxon at a site, as tables of camera traps have it
  more <- presences[c(seq_len(nrow(presences)), 1:9, 1:5), ]
  more$delta.time.secs <- c(rep(0, nrow(presences)), 3600 * 1:14)
  for (reader in readers) expect_equal(sum(reader(more)), nrow(presences))
  more$delta.time.secs[nrow(presences)] <- 5
  expect_error(as_matrix(more), "Column \"delta.time.secs\" may record", class = "multicause_input_error")
})

test_that("records of public tables are not taken for absences", {
  for (site in list("collection_no", "formation", "early_interval", c("formation", "early_interval"))) {
    expect_no_error(quietly(occurrence_matrix(tetrapod_occurrences, site, "genus")))
  }
})

test_that("structure is judged by whole sites, however many pieces there are", {
  data <- whole(2400, 50)
  expect_gt(nrow(data), judged_rows)
  data$zork <- ifelse(data$found, 1.5, NA)
  data$found <- NULL
  expect_error(as_shards(csv_of(data), piece = 35000), "Column \"zork\" may record", class = "multicause_input_error")
  expect_error(as_matrix(data), "Column \"zork\" may record", class = "multicause_input_error")
  skip_if_not_installed("nanoparquet")
  file <- tempfile(fileext = ".parquet")
  nanoparquet::write_parquet(data, file)
  expect_error(as_shards(file), "Column \"zork\" may record", class = "multicause_input_error")
})

test_that("presences without a number are told, and may be counted", {
  data <- data.frame(site = c("a", "a", "b", "b"), taxon = c("x", "y", "x", "y"), n = c(3, NA, NA, 2))
  told <- "2 of 4 presences have no number in \"n\", so their cells are NA. `count = c(\"n\", blank = 1)` counts each"
  expect_message(x <- occurrence_matrix(data, "site", "taxon", count = "n"), told, fixed = TRUE)
  expect_identical(sum(is.na(x)), 2L)
  expect_identical(as.vector(as_matrix(data, count = c("n", blank = 1))), c(3, 1, 1, 2))
  expect_identical(as.vector(as_matrix(data, count = c("n", blank = 0))), c(3, 0, 0, 2))
  expect_silent(occurrence_matrix(transform(data, n = 1), "site", "taxon", count = "n", summarise = list(n = sum)))
})

test_that("columns come alone, without what other classes stick to them", {
  data <- data.frame(site = c("a", "a", "b", "c"), taxon = c("x", "y", "x", "z"), n = c(1, 2, 1, 4), day = 1:4)
  plain <- as_matrix(data)
  points <- data
  points$geometry <- structure(list(c(1, 2), c(1, 2), c(3, 4), c(5, 6)), class = c("sfc_POINT", "sfc"))
  sticky <- structure(points, class = c("sticky", "data.frame"), sf_column = "geometry")
  registerS3method("[", "sticky", function(x, i, j, ..., drop = FALSE) {
    columns <- if (nargs() - (!missing(drop)) == 2L) i else if (missing(j)) names(x) else j
    out <- unclass(x)[unique(c(if (is.numeric(columns)) names(x)[columns] else columns, "geometry"))]
    structure(out, class = c("sticky", "data.frame"), row.names = attr(x, "row.names"))
  })
  expect_true("geometry" %in% names(sticky["site"]))
  expect_identical(as_matrix(sticky), plain)
  expect_equal(as_shards(sticky), plain)
  expect_identical(
    quietly(visits_array(sticky, "site", "taxon", "day", visit_data = sticky[c("site", "day", "n")])),
    quietly(visits_array(data, "site", "taxon", "day", visit_data = data[c("site", "day", "n")]))
  )
  x <- as_matrix(data)
  old <- structure(data.frame(max_ma = 3:1, min_ma = 2:0, geometry = I(points$geometry[1:3])), class = "data.frame")
  class(old$geometry) <- class(points$geometry)
  gaps <- range_through(x, c(a = 2.5, b = 1.5, c = 0.5))
  expect_identical(range_through(x, structure(old, row.names = rownames(x), class = class(sticky))), gaps)
  made <- shards(x > 0, tempfile(), site_data = structure(old, class = class(sticky)))
  expect_identical(names(site_table(made)), c("shard", "site", "max_ma", "min_ma"))
  skip_if_not_installed("tibble")
  expect_identical(as_matrix(tibble::as_tibble(data)), plain)
})
