records <- data.frame(
  pond = c("North", "North", "North", "South", "South", "West"),
  day = c("2021-06-01", "2021-05-02", "2021-05-02", "2021-05-03", "2021-05-03", "2021-05-04"),
  frog = c("Rana", "Rana", "Bufo", "Bufo", "Bufo", NA)
)
surveys <- data.frame(
  pond = c("South", "North", "North", "South", "East"),
  day = c("2021-06-02", "2021-05-02", "2021-06-01", "2021-05-03", "2021-05-09"), hours = 1:5, wet = c(1, 0, 0, 1, 1)
)
make <- function(..., data = records) suppressMessages(visits_array(data, "pond", "frog", "day", ...))
# The definition, record by record.
ref_visits <- function(data, surveys, x) {
  out <- x
  out[] <- NA_integer_
  for (i in unique(surveys$pond)) {
    days <- sort(unique(surveys$day[surveys$pond == i]))
    for (v in seq_along(days)) {
      found <- data$frog[data$pond == i & data$day == days[v]]
      out[i, , v] <- as.integer(colnames(x) %in% found)
    }
  }
  out
}
plain <- function(x) array(x, dim(x), dimnames(x))

test_that("records and surveys become sites x taxa x visits", {
  x <- make(visit_data = surveys)
  sides <- list(site = c("East", "North", "South"), taxon = c("Bufo", "Rana"), visit = c("1", "2"))
  expect_identical(dimnames(x), sides)
  expect_type(x, "integer")
  expect_identical(plain(x), plain(ref_visits(records, surveys, x)))
  # The order of rows has no influence.
  expect_identical(make(visit_data = surveys[5:1, ], data = records[6:1, ]), x)
  expect_identical(rownames(site_table(x)), rownames(x))
  expect_identical(site_table(x)$wet, c(1, 0, 1))
  visits <- visit_table(x)
  expect_identical(visits[c("site", "visit")], data.frame(
    site = c("East", "North", "North", "South", "South"), visit = c("1", "1", "2", "1", "2")
  ))
  expect_identical(visits$hours, c(5L, 2L, 3L, 4L, 1L))
  expect_identical(visits$day, as.Date(c("2021-05-09", "2021-05-02", "2021-06-01", "2021-05-03", "2021-06-02")))
  expect_identical(visits$day_of_year, c(129L, 122L, 152L, 123L, 153L))
})

test_that("without surveys a record says that there was a visit, also one without a taxon", {
  x <- make()
  expect_identical(plain(x)["West", , ], cbind(c(0L, 0L), NA), ignore_attr = TRUE)
  expect_identical(sum(!is.na(x[, 1, ])), 4L)
})

test_that("what was made is said", {
  expect_snapshot({
    x <- visits_array(records, "pond", "frog", "day", visit_data = surveys)
    x <- visits_array(records, "pond", "frog", "day")
    nowhere <- transform(records[1, ], pond = NA)
    x <- visits_array(rbind(records, nowhere), "pond", "frog", "day", min_visits = 2, min_sites = 1)
    x <- visits_array(records, "pond", "frog", "day", max_visits = 1)
    x <- visits_array(records, "pond", "frog", "day", max_visits = 1, surplus = "first")
    x <- visits_array(records, "pond", "frog", "day", visit_data = surveys, occasion = 60)
  })
})

test_that("dates may be of any class", {
  want <- make(visit_data = surveys)
  as_written <- function(f) {
    lapply(list(records = records, surveys = surveys), function(table) transform(table, day = f(day)))
  }
  for (f in list(
    as.Date, factor, function(day) as.POSIXct(paste(day, "23:30"), tz = "Pacific/Auckland"),
    function(day) as.POSIXlt(paste(day, "00:30"), tz = "America/Lima") |> as.POSIXct(),
    function(day) paste0(day, "T12:00:00Z"), function(day) format(as.Date(day), "%d.%m.%Y"),
    function(day) gsub("-", "/", day)
  )) {
    tables <- as_written(f)
    expect_identical(make(visit_data = tables$surveys, data = tables$records), want)
  }
  # Times that R stores in parts; and the argument is called by its name.
  parts <- as_written(as.Date)
  for (name in names(parts)) parts[[name]]$day <- as.POSIXlt(parts[[name]]$day)
  expect_identical(make(visit_data = parts$surveys, data = parts$records), want)
  unclear <- transform(surveys, day = "03/05/2021")
  expect_error(make(visit_data = unclear), "`visit_data$day` must be unambiguous dates", fixed = TRUE)
  mixed <- surveys
  mixed$day <- as.character(mixed$day)
  mixed$day[2] <- "31.02.2020"
  expect_error(make(visit_data = mixed), "dates of one form: \"[0-9-]*\" and \"31.02.2020\" are not")
  # Slashes tell days from months where one of them is above 12.
  days <- c("05/13/2021", "06/01/2021")
  expect_identical(as_days(days, "data", "day"), as.Date(c("2021-05-13", "2021-06-01")))
  expect_identical(as_days(c("13/05/2021", NA), "data", "day"), as.Date(c("2021-05-13", NA)))
  expect_identical(as_days(c("morning", "evening"), "data", "day"), c("morning", "evening"))
  expect_identical(as_days(as.Date("2021-05-13") + 0.7, "data", "day"), as.Date("2021-05-13"))
})

test_that("names of visits that sites share are columns; those of one site are put in order", {
  shared <- data.frame(pond = c("a", "a", "b", "b", "c"), round = c(1, 10, 2, 10, 2), frog = "Rana")
  x <- suppressMessages(visits_array(shared, "pond", "frog", "round"))
  expect_identical(dimnames(x)$visit, c("1", "2", "3")[1:2])
  shared <- data.frame(pond = rep(c("a", "b", "c"), c(3, 2, 2)), round = c(1, 2, 10, 2, 10, 1, 10), frog = "Rana")
  x <- suppressMessages(visits_array(shared, "pond", "frog", "round"))
  expect_identical(plain(x)[, 1, ], matrix(
    c(1L, NA, 1L, 1L, 1L, NA, 1L, 1L, 1L), 3, dimnames = list(site = c("a", "b", "c"), visit = c("1", "2", "10"))
  ))
  expect_identical(visit_table(x)$visit, c("1", "2", "10", "2", "10", "1", "10"))
  own <- transform(shared, round = 101:107)
  expect_identical(dimnames(suppressMessages(visits_array(own, "pond", "frog", "round")))$visit, c("1", "2", "3"))
})

test_that("days are pooled into occasions, and periods are all of their days", {
  traps <- data.frame(
    pond = c("a", "b", "c"), day = c("2021-05-01", "2021-05-09", "2021-05-01"),
    end = c("2021-05-10", "2021-05-16", "2021-05-15"), bait = c("yes", "no", "no")
  )
  shots <- data.frame(
    pond = c("a", "a", "b", "b"), frog = "Rana", day = c("2021-05-02", "2021-05-03", "2021-05-15", "2021-06-01")
  )
  said <- capture_messages(
    x <- visits_array(shots, "pond", "frog", "day", visit_data = traps, until = "end", occasion = 7)
  )
  lost <- "Left out 1 of 4 records, of visits that `visit_data` has not: the first is of \"b\", \"5\""
  expect_match(said, lost, all = FALSE)
  expect_identical(plain(x)[, 1, ], rbind(c(1L, 0L, NA), c(NA, 0L, 1L), c(0L, 0L, 0L)), ignore_attr = TRUE)
  expect_identical(visit_table(x)$n_pooled, c(7L, 3L, 6L, 2L, 7L, 7L, 1L))
  expect_identical(visit_table(x)$day[1:4], as.Date(c("2021-05-01", "2021-05-08", "2021-05-09", "2021-05-15")))
  # Values that vary within an occasion are summarised.
  pooled <- make(visit_data = surveys, occasion = 60, summarise = list(hours = sum))
  expect_identical(visit_table(pooled)$hours, c(5L, 5L, 5L))
})

test_that("recorded absences are visits and no presences", {
  both <- rbind(
    transform(records, n = 1), data.frame(pond = c("East", "North"), day = "2021-05-02", frog = "Rana", n = 0)
  )
  x <- make(present = "n", data = both)
  expect_identical(x["East", "Rana", "1"], 0L)
  expect_identical(x["North", "Rana", "1"], 1L) # a presence of the same visit
  said <- list(
    both$n > 0, c("X", "0")[2 - both$n], c("PRESENT", "ABSENT")[2 - both$n], factor(c("yes", "no")[2 - both$n]),
    c("3", "0.0")[2 - both$n]
  )
  for (one in said) expect_identical(make(present = "n", data = transform(both, n = one)), x)
})

test_that("absences that nobody asked about are no presences", {
  both <- transform(rbind(records, list("East", "2021-05-02", "Rana")), n = c(rep(1, 6), 0))
  expect_error(make(data = both), "Use `present = \"n\"`", class = "multicause_input_error")
  expect_identical(make(data = both, present = NULL)["East", "Rana", "1"], 1L)
  flag <- transform(both, absence = n == 0, n = NULL)
  expect_error(make(data = flag), "Use `present = \"absence\"`", class = "multicause_input_error")
  expect_identical(plain(make(data = flag, present = "absence")), plain(make(data = both, present = "n")))
})

test_that("more than `max_visits` are pooled, or some are taken", {
  many <- data.frame(
    place = rep(c("a", "b"), c(7, 2)), collection = 1:9, genus = c(letters[1:7], "a", "b"), weight = 1:9
  )
  get <- function(...) suppressMessages(visits_array(many, "place", "genus", "collection", max_visits = 3, ...))
  x <- get(summarise = list(weight = sum))
  # Dealt in turn: collections 1, 4, 7; 2, 5; 3, 6.
  expect_identical(visit_table(x)$weight, c(12L, 7L, 9L, 8L, 9L))
  expect_identical(visit_table(x)$n_pooled, c(3L, 2L, 2L, 1L, 1L))
  expect_identical(unname(plain(x)["a", , 1]), c(1L, 0L, 0L, 1L, 0L, 0L, 1L))
  all <- suppressMessages(visits_array(many, "place", "genus", "collection"))
  expect_identical(any_visit(x)["a", ], any_visit(all)["a", ])
  first <- get(surplus = "first")
  expect_identical(visit_table(first)$collection, c(1:3, 8:9))
  expect_identical(sum(first, na.rm = TRUE), 5L)
  set.seed(1)
  drawn <- get(surplus = "random")
  set.seed(1)
  expect_identical(get(surplus = "random"), drawn)
  expect_identical(table(visit_table(drawn)$site), table(c("a", "a", "a", "b", "b")), ignore_attr = TRUE)
  # Consecutive days.
  days <- transform(many, collection = as.Date("2021-05-01") + collection)
  x <- suppressMessages(
    visits_array(days, "place", "genus", "collection", max_visits = 3, summarise = list(weight = sum))
  )
  expect_identical(visit_table(x)$weight, c(3L, 7L, 18L, 8L, 9L))
})

test_that("fits find the covariates, of the whole and of a part", {
  set.seed(4)
  pairs <- expand.grid(site = sprintf("s%02d", 1:25), visit = 1:3)
  pairs <- pairs[-c(3, 30), ]
  pairs$effort <- runif(73, 1, 3)
  pairs$high <- as.integer(substr(pairs$site, 2, 3)) %% 2
  at <- expand.grid(row = seq_len(73), taxon = paste0("t", 1:6))
  presences <- cbind(pairs[at$row, ], taxon = at$taxon)[runif(nrow(at)) < 0.4, c("site", "visit", "taxon")]
  x <- suppressMessages(visits_array(presences, "site", "taxon", "visit", visit_data = pairs))
  quick <- fit_control(n_start = 1)
  fit_of <- function(x, ...) {
    suppressMessages(visits_bernoulli(x, 1, detection = ~effort, communities = ~high, control = quick, ...))
  }
  fit <- fit_of(x)
  effort <- matrix(NA_real_, 25, 3)
  effort[cbind(as.integer(pairs$site), pairs$visit)] <- pairs$effort
  high <- data.frame(high = rep(1:0, 13)[1:25])
  given <- fit_of(plain(x), visit_data = list(effort = effort), site_data = high)
  expect_equal(fit$param, given$param, tolerance = 1e-6)
  expect_s3_class(suppressMessages(update(fit, estimate = "ml")), "visits_bernoulli")
  # A part, in another order, and another order of sides.
  part <- fit_of(x[10:1, , ], visit_data = visit_table(x), site_data = site_table(x))
  own <- fit_of(plain(x)[10:1, , ], visit_data = list(effort = effort[10:1, ]), site_data = high[10:1, , drop = FALSE])
  expect_equal(part$param, own$param, tolerance = 1e-6)
  turned <- fit_of(aperm(x, 3:1), visit_data = visit_table(x), site_data = site_table(x))
  expect_equal(turned$param, fit$param, tolerance = 1e-6)
  w <- suppressMessages(which_zeros(visits = x, presence = ~high, detection = ~effort, quick = TRUE, seed = 1))
  expect_identical(w$source, "visits")
  cv <- suppressMessages(
    cross_validate(x, 1, visits_bernoulli, "visits", detection = ~effort, folds = 2, control = quick)
  )
  expect_true(all(is.finite(cv$folds$loss)))
})

test_that("collections of a download are searches of one fauna", {
  bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
  x <- suppressMessages(visits_array(bodies, c("formation", "early_interval"), "genus", "collection_no"))
  one <- suppressMessages(occurrence_matrix(bodies, c("formation", "early_interval"), "genus"))
  expect_identical(unname(any_visit(x)[rownames(one), colnames(one)]), matrix(as.vector(one), nrow(one)))
  used <- unique(bodies[c("formation", "early_interval", "collection_no")])
  used <- used[stats::complete.cases(used), ]
  expect_identical(sum(!is.na(x[, 1, ])), nrow(used))
})

test_that("wrong input is refused", {
  expect_snapshot(error = TRUE, {
    visits_array()
    visits_array(records)
    visits_array(as.list(records), "pond", "frog", "day")
    make(visit_data = 1)
    make(visit_data = surveys[c("pond", "hours")])
    make(visit_data = transform(surveys, pond = "nowhere"))
    make(visit_data = transform(surveys, day = 1:5))
    make(data = transform(records, day = "03/05/2021"))
    make(data = transform(records, day = replace(day, 2, "spring")))
    make(data = transform(records, day = replace(day, 2, "2021-02-30")))
    visits_array(records, "pond", "frog", "frog", occasion = 7)
    make(until = "hours")
    make(visit_data = surveys, until = "wet")
    make(visit_data = transform(surveys, end = "2021-05-08"), until = "end")
    make(max_visits = 1, min_visits = 2)
    make(min_visits = 9)
    make(min_sites = 9)
    make(present = "frog")
    make(present = "count", data = transform(records, count = -1))
    make(data = records[0, ])
    visit_table(make()[1:2, , ])
  })
})

test_that("collections of one place, formation and age are visits to one fauna", {
  # Karoo: three collections of one fauna, one of another age, one of another formation, one far away, one nowhere.
  download <- data.frame(
    occurrence_no = 1:10, collection_no = c(11, 11, 12, 13, 13, 14, 15, 16, 17, 12),
    accepted_name = "x", accepted_rank = "genus",
    genus = c("Lystrosaurus", "Procolophon", "Lystrosaurus", "Thrinaxodon", NA, "Lystrosaurus", "Procolophon",
      "Thrinaxodon", "Thrinaxodon", "Galesaurus"),
    formation = c(rep("Katberg", 6), "Burgersdorp", "Katberg", "Katberg", "Katberg"),
    max_ma = c(rep(252.2, 5), 247.2, rep(252.2, 4)), min_ma = c(rep(251.2, 5), 242, rep(251.2, 4)),
    lng = c(26.01, 26.01, 26.02, 25.98, 25.98, 26.01, 26.01, 27.5, NA, 26.02),
    lat = c(-30.52, -30.52, -30.49, -30.51, -30.51, -30.52, -30.52, -30.5, -30.5, -30.49)
  )
  expect_message(visits <- visits_array(download), "Sites are places .within 0.1 degrees. of one formation")
  expect_identical(dim(visits), c(4L, 4L, 3L))
  fauna <- visits["-30.5 26.0, Katberg, 252.2-251.2 Ma", , ]
  expect_identical(unname(fauna["Lystrosaurus", ]), c(1L, 1L, 0L))
  expect_identical(unname(fauna["Galesaurus", ]), c(0L, 1L, 0L))
  # A record that cannot be named shows that there was a search.
  expect_identical(unname(fauna["Thrinaxodon", ]), c(0L, 0L, 1L))
  expect_identical(sum(is.na(visits[, 1, ])), 6L)
  # A wider place, explicit columns, and a table that is no download.
  wide <- suppressMessages(visits_array(download, degrees = 10, min_visits = 2))
  expect_identical(dim(wide), c(1L, 4L, 4L))
  by_hand <- suppressMessages(visits_array(download, "formation", "genus", "collection_no"))
  expect_identical(rownames(by_hand), c("Burgersdorp", "Katberg"))
  expect_error(visits_array(download[-9]), class = "multicause_input_error")
  expect_error(visits_array(download, degrees = 0), "degrees", class = "multicause_input_error")
})

test_that("ages and places of a download come along, and which_zeros() finds them by name", {
  presences <- data.frame(
    collection_no = 1:120, genus = rep_len(letters[1:6], 120), max_ma = rep(c(20, 10), 60), min_ma = rep(c(15, 5), 60),
    lng = rep(seq(0, 29), each = 4) + rep(c(0, 0.01, 0.02, 0.03), 30), lat = 50, formation = "one"
  )
  x <- quietly(visits_array(presences))
  table <- site_table(x)
  expect_identical(nrow(table), 60L) # two ages at each of 30 places
  expect_equal(table$lng, as.numeric(sub(".* ([0-9.]+),.*", "\\1", table$site)), tolerance = 0.03)
  expect_identical(visit_table(x)$lng, presences$lng[match(visit_table(x)$collection_no, presences$collection_no)])
  ask <- function(...) quietly(which_zeros(visits = x, quick = TRUE, seed = 1, ...))
  named <- ask(age = c("max_ma", "min_ma"), place = c("lng", "lat"))
  given <- ask(age = table[c("max_ma", "min_ma")], place = table[c("lng", "lat")])
  expect_identical(as.data.frame(named), as.data.frame(given))
  expect_error(ask(age = "maxma"), "site table: it has no \"maxma\"", class = "multicause_input_error")
})

test_that("a record of unknown state is an unknown cell, unless another one is of a detection", {
  data <- data.frame(
    site = c("A", "A", "A", "B"), visit = c(1, 2, 2, 1), sp = c("x", "y", "x", "x"), n = c(2, NA, 1, 1)
  )
  read <- function(data) {
    suppressMessages(visits_array(data, "site", "sp", "visit", present = c("n", blank = "unknown")))
  }
  x <- read(data)
  expect_identical(unname(x["A", "y", ]), c(0L, NA))
  expect_identical(unname(x["A", "x", ]), c(1L, 1L))
  expect_identical(read(rbind(data, data.frame(site = "A", visit = 2, sp = "y", n = 3)))["A", "y", 2], 1L)
})

test_that("visits of other packages have a table, with a row for each that was made", {
  listed <- list(y = matrix(c(0, 1, 1, NA, 1, 0, 1, 1), 4), obsCovs = data.frame(d = 1:8))
  table <- visit_table(suppressMessages(visits_array(listed)))
  expect_identical(names(table), c("site", "visit", "d"))
  expect_identical(nrow(table), 7L)
  twice <- array(0:1, c(2, 2, 2), list(site = c("q", "q"), taxon = c("a", "b"), visit = 1:2))
  expect_error(visits_array(twice), "must be unique: \"q\"", class = "multicause_input_error")
  expect_error(visits_array(data.frame(ch = c("01", "1."), freq = c(1, NA))), "freq", class = "multicause_input_error")
  seasons <- data.frame(site = c("b", "b"), year = 1:2, y.1 = 0:1, y.2 = c(1, NA))
  expect_identical(nrow(suppressMessages(visits_array(seasons))), 2L)
})

test_that("visits that are nowhere known, or dated in two forms, are refused", {
  refused <- function(site, visit, text) {
    records <- data.frame(site = site, visit = visit, taxon = c("t", "u"))
    expect_error(visits_array(records, site = "site", taxon = "taxon", visit = "visit"), text, fixed = TRUE,
      class = "multicause_input_error")
  }
  refused(c("a", NA), c(NA, "1"), "`site` and `visit` must both be known in some row: there is none.")
  refused(c("a", "b"), c("2021-05-30", "30.05.2021"),
    "`data$visit` must be dates of one form: \"2021-05-30\" and \"30.05.2021\" are not.")
})

test_that("an array that is too large is refused before it is made", {
  records <- data.frame(
    site = c(rep("a", 1300), 1:1300), visit = c(1:1300, rep(1, 1300)), taxon = rep(sprintf("t%d", 1:1300), 2)
  )
  expect_error(visits_array(records, site = "site", taxon = "taxon", visit = "visit"),
    "`max_visits` must be lower: an array of 1301 x 1300 x 1300 cells is too large.", fixed = TRUE,
    class = "multicause_input_error")
})
