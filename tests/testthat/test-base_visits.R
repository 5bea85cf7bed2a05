case <- detected_table()
plain_visits <- unname(case$visits)
dimnames(plain_visits) <- NULL
named <- case$visits
bare <- function(x) {
  attr(x, "sides") <- attr(x, "covariates") <- NULL
  x
}
want <- bare(check_visits(named))

test_that("an array's sides are known by their names, in any order", {
  expect_identical(dimnames(want), dimnames(named))
  for (order in list(c(1, 3, 2), c(2, 1, 3), c(3, 2, 1))) {
    expect_identical(bare(check_visits(aperm(named, order))), want)
  }
})

test_that("two known words leave one side for the third, whatever it is called", {
  own <- named
  names(dimnames(own)) <- c("plot", "Vogelart", "visit")
  expect_silent(got <- check_visits(aperm(own, c(3, 2, 1))))
  expect_identical(array(got, dim(want)), array(want, dim(want)))
  expect_identical(axis_words(list(x = got[, , 1])), c("plots", "Vogelart"))
  names(dimnames(own)) <- c("Feld", "Vogelart", "visit") # one alone leaves two
  expect_message(check_visits(own), "is taken as 30 sites")
})

test_that("or by `sides`; else they are told, and refused where they would be odd", {
  turned <- aperm(plain_visits, c(2, 1, 3))
  by_words <- bare(check_visits(turned, c("Species", "sites", "replicate")))
  expect_identical(array(by_words, dim(want)), array(want, dim(want)))
  expect_named(dimnames(by_words), c("sites", "Species", "replicate"))
  expect_message(check_visits(plain_visits), "taken as 30 sites x 5 taxa x 3 visits")
  expect_error(
    check_visits(aperm(plain_visits, c(1, 3, 2))), "3 taxa x 5 visits, more visits than taxa",
    class = "multicause_input_error"
  )
  expect_error(check_visits(plain_visits, c("site", "visit")), "`sides` must name", class = "multicause_input_error")
  # Arrays of species x sites x visits, as in spOccupancy, are not misread as sites x taxa x visits.
  expect_error(check_visits(turned), "or 5 species x 30 sites .*visits_array.x, sides = c..species",
    class = "multicause_input_error")
  expect_error(check_visits(named[, , 1]), "go into visits_bernoulli\\(list\\(y = x\\), k = 1\\)",
    class = "multicause_input_error"
  )
  # A fit's own array is recognised.
  fit <- suppressMessages(visits_bernoulli(
    aperm(plain_visits, c(1, 3, 2)), 1,
    sides = c("site", "species", "visit"), control = fit_control(n_start = 1)
  ))
  expect_identical(dim(fit$visits), c(30L, 3L, 5L))
  expect_s3_class(suppressMessages(update(fit, estimate = "ml")), "visits_bernoulli")
})

test_that("the lists of spOccupancy and unmarked are read, with their covariates", {
  y <- aperm(unname(named), c(2, 1, 3))
  dimnames(y) <- unname(dimnames(named))[c(2, 1, 3)]
  theirs <- list(y = y, occ.covs = data.frame(size = case$size), det.covs = list(date = case$date, size = case$size))
  expect_identical(bare(check_visits(theirs)), want)
  each <- lapply(setNames(nm = colnames(named)), function(one) {
    matrix(named[, one, ], 30, dimnames = list(rownames(named), NULL))
  })
  list_of <- list(
    ylist = each, siteCovs = data.frame(size = case$size), obsCovs = data.frame(date = as.vector(t(case$date)))
  )
  expect_identical(bare(check_visits(list_of)), want)
  quick <- fit_control(n_start = 1)
  fits <- lapply(list(theirs, list_of), function(x) {
    suppressMessages(visits_bernoulli(x, 1, detection = ~ date + size, control = quick))
  })
  given <- suppressMessages(visits_bernoulli(
    named, 1,
    detection = ~ date + size, visit_data = list(date = case$date), site_data = data.frame(size = case$size),
    control = quick
  ))
  # Fits from other random starting values.
  expect_equal(fits[[1]]$param, given$param, tolerance = 1e-5)
  expect_equal(fits[[2]]$param, given$param, tolerance = 1e-5)
  expect_identical(bare(check_visits(c(list(y = each), list_of[-1]))), want)
  expect_error(check_visits(list(y = list(1))), "x\\$y` must be a named list", class = "multicause_input_error")
  expect_identical(check_visits(list(y = as.data.frame(each[[1]])))[, 1, ], unname(each[[1]]), ignore_attr = TRUE)
  one <- check_visits(list(y = each[[1]]))
  expect_identical(dim(one), c(30L, 1L, 3L))
  expect_error(check_visits(list(y = 1:3)), "species x sites x visits", class = "multicause_input_error")
  expect_error(check_visits(list(ylist = list(1))), "named list", class = "multicause_input_error")
})

test_that("frames of unmarked are read", {
  skip_if_not_installed("unmarked")
  each <- lapply(setNames(nm = colnames(named)), function(one) unname(named[, one, ]))
  make <- getExportedValue("unmarked", "unmarkedFrameOccuMulti")
  frame <- suppressWarnings(make(each, obsCovs = list(date = case$date)))
  read <- check_visits(frame)
  kept <- !is.na(read) # unmarked drops a visit to one species for all
  expect_identical(read[kept], want[kept])
  variables <- visit_variables(~date, read, list(), "detection")
  made <- !is.na(as.vector(case$date))
  expect_equal(variables$values$date[made], as.vector(case$date)[made])
})

test_that("a data frame of visits is told by its columns, or in unmarked's order", {
  long <- data.frame(
    visit = rep(1:3, each = 30), locality = rep(rownames(named), 3), date = as.vector(case$date), note = "a"
  )
  shuffled <- long[sample(90), ]
  values <- function(x) visit_variables(~date, check_visits(named), list(visit = x), "detection")$values$date
  expect_identical(values(shuffled), as.vector(case$date))
  expect_identical(values(data.frame(date = as.vector(t(case$date)))), as.vector(case$date))
  expect_identical(values(list(date = case$date[30:1, ] |> `rownames<-`(rev(rownames(named))))), as.vector(case$date))
  expect_error(values(rbind(long, long[1, ])), "two rows for site s1", class = "multicause_input_error")
  expect_error(values(long[1:10, "date", drop = FALSE]), "a row for each, 90, not 10", class = "multicause_input_error")
  long$locality <- "nowhere"
  expect_error(values(long), "no row of a site and visit", class = "multicause_input_error")
})

test_that("sites and taxa are matched by name, and every value is needed where there was a visit", {
  cell <- check_visits(named)
  rows <- data.frame(id = rownames(named), size = case$size)[30:1, ]
  found <- visit_variables(~size, cell, list(site = rows), "detection")
  expect_identical(found$values$size, rep(case$size, 3))
  expect_identical(unname(found$level), "site")
  expect_error(
    visit_variables(~size, cell, list(site = rows[1:3, "size", drop = FALSE]), "detection"),
    "each of the 30 sites",
    class = "multicause_input_error"
  )
  # If rows have names, none is matched by position.
  lacks <- function(given) {
    expect_error(visit_variables(~size, cell, given, "detection"), "lacks? \"s1\"", class = "multicause_input_error")
  }
  lacks(list(site = transform(rows, id = sub("^s1$", "s01", id))))
  lacks(list(site = data.frame(size = case$size, row.names = paste0("s", 2:31))))
  lacks(list(visit = list(size = matrix(0, 30, 3, dimnames = list(paste0("s", 2:31), NULL)))))
})

test_that("taxa seldom found are named, also beside their probabilities", {
  few <- named
  few[, 2, ][few[, 2, ] %in% 1] <- 0L
  few[1:2, 2, 1] <- 1L
  expect_message(fit <- visits_bernoulli(few, 1, missed_by = "taxon"), "fewer than 5 sites.*t2")
  expect_identical(which(fit$rare), c(t2 = 2L))
  expect_match(print_words(fit), "Rare, and estimated mostly from the others: t2")
  expect_output(print(false_absences(fit, taxon = "t2")), "Rare, and estimated mostly from the others: t2")
  expect_no_message(visits_bernoulli(few, 1, missed_by = "taxon", rare = 2), message = "fewer than")
})

test_that("bars of random effects are refused with what is there in their place", {
  quick <- fit_control(n_start = 1)
  expect_error(
    visits_bernoulli(named, 1, detection = ~ date + (1 | species), visit_data = list(date = case$date)),
    "\\(1 \\| species\\): each taxon has an intercept and slopes of its own",
    class = "multicause_input_error"
  )
  expect_error(
    visits_bernoulli(named, 1, missed_by = "visit", communities = ~ (1 | site), control = quick), "no random effects",
    class = "multicause_input_error"
  )
  either <- list(late = case$date, windy = -case$date)
  expect_s3_class(suppressMessages(visits_bernoulli(
    named, 1,
    detection = ~ I(late > 0.5 | windy > 0.5), visit_data = either, control = quick
  )), "visits_bernoulli")
})

# Sites x visits of one species.
history <- rbind(a = c(0, 1, NA), b = c(1, 0, 0), c = c(0, 0, 1), d = c(0, NA, NA))
as_history <- function(x, ...) {
  out <- suppressMessages(check_visits(x, ...))
  expect_identical(dim(out)[2], 1L)
  matrix(out, nrow(out), dimnames = list(rownames(out), NULL))
}
whole <- structure(history, dimnames = list(rownames(history), NULL))
storage.mode(whole) <- "integer"

test_that("a table of sites by visits is one species, as numbers or as text", {
  expect_message(check_visits(history), "`x` is taken as one species: 4 sites x 3 visits", class = "multicause_message")
  text <- history
  text[] <- ifelse(is.na(history), c(".", "-", " - ", ""), history)
  for (x in list(history, history == 1, text, `colnames<-`(text, c("early", "middle", "late")), list(y = text),
    Matrix::Matrix(history, sparse = TRUE), `colnames<-`(history, paste0("o", 1:3)),
    `colnames<-`(history, c("2021-05-01", "2021-06-01", "2021-07-01")), as.data.frame(text), as.data.frame(history))) {
    expect_identical(as_history(x), whole)
  }
  marked <- c(a = "01.", b = "100", c = "001", d = "0--")
  expect_identical(as_history(marked), whole)
  expect_identical(as_history(data.frame(ch = unname(marked), row.names = names(marked))), whole)
  # Text in the other formats.
  tables <- lapply(1:3, function(v) matrix(text[, v], 4, 2))
  expect_identical(bare(check_visits(tables))[, 2, ], unname(whole), ignore_attr = TRUE)
  stacked <- array(unlist(tables), c(4, 2, 3), list(site = NULL, species = NULL, visit = NULL))
  expect_identical(bare(check_visits(stacked))[, 2, ], unname(whole), ignore_attr = TRUE)
})

test_that("a data frame of it may have names of sites and covariates", {
  wide <- data.frame(
    pond = letters[1:4], y = unname(history), rain.1 = c(0, 1, 0, 1), rain.2 = 1, rain.3 = 0, date = matrix(1:12, 4),
    elev = 1:4
  )
  names(wide)[2:4] <- paste0("y.", 1:3)
  expect_identical(as_history(wide), whole)
  own <- attr(suppressMessages(check_visits(wide)), "covariates")
  expect_identical(own$visit$date, matrix(1:12, 4))
  expect_identical(own$visit$rain[, 1], c(0, 1, 0, 1))
  expect_identical(own$site, data.frame(elev = 1:4, row.names = letters[1:4]))
  fit <- suppressMessages(visits_bernoulli(wide, 1, detection = ~date, communities = ~elev))
  expect_identical(unname(fit$dims[c("n", "m")]), c(4, 1))
  # Format of detectionHistory() of package camtrapR.
  traps <- list(detection_history = history, effort = 7 - 0 * history)
  expect_identical(as_history(traps), whole)
  expect_identical(attr(check_visits(traps), "covariates")$visit$effort, traps$effort)
})

test_that("a wide history has tables of its sites and visits", {
  wide <- data.frame(
    pond = letters[1:4], y = unname(history), rain.1 = c(0, 1, 0, 1), rain.2 = 1, rain.3 = 0, elev = 1:4
  )
  names(wide)[2:4] <- paste0("y.", 1:3)
  visits <- suppressMessages(visits_array(wide))
  expect_identical(site_table(visits), data.frame(site = letters[1:4], elev = 1:4, row.names = letters[1:4]))
  made <- !is.na(t(history))
  expect_equal(visit_table(visits), data.frame(
    site = rep(letters[1:4], each = 3)[made], visit = rep(paste0("y.", 1:3), 4)[made],
    rain = as.vector(t(as.matrix(wide[5:7])))[made]
  ))
  # Tables as arguments and as attributes of the array give the same fit.
  fits <- lapply(list(visits, structure(visits, covariates = list(visit = visit_table(visits)))), function(x) {
    set.seed(1)
    suppressMessages(visits_bernoulli(x, 1, detection = ~rain, control = fit_control(n_start = 1)))
  })
  expect_equal(fits[[1]]$param, fits[[2]]$param)
  bare_visits <- suppressMessages(visits_array(unname(history)))
  expect_identical(site_table(bare_visits)$site, as.character(1:4))
  expect_identical(visit_table(bare_visits)$visit[1:2], c("1", "2"))
  expect_error(visit_table(visits[1:2, , ]), "must carry", class = "multicause_input_error")
  theirs <- list(
    y = aperm(named, c(2, 1, 3)), occ.covs = data.frame(size = case$size), det.covs = list(date = case$date)
  )
  read <- suppressMessages(visits_array(theirs))
  expect_identical(site_table(read)$size, case$size)
  expect_identical(nrow(visit_table(read)), sum(visits_made(read)))
})

test_that("seasons that are stacked are sites of their own, or refused", {
  wide <- data.frame(
    site_id = rep(c(7, 3, 1e5), 2), year = rep(2001:2002, each = 3), y = matrix(c(0, 1, 0, 1, 1, 0), 6, 3)
  )
  expect_message(x <- check_visits(wide), "Sites come again in `x`, such as \"7\": each \"year\"", fixed = TRUE)
  expect_identical(rownames(x), c("7, 2001", "3, 2001", "100000, 2001", "7, 2002", "3, 2002", "100000, 2002"))
  expect_identical(attr(x, "covariates")$site$year, rep(2001:2002, each = 3))
  text <- transform(wide, site_id = paste0("s", site_id))
  expect_identical(rownames(suppressMessages(check_visits(text)))[4], "s7, 2002")
  expect_error(check_visits(wide[-2]), "\"7\" of its column \"site_id\" has rows 1 and 4. For several seasons",
    class = "multicause_input_error", fixed = TRUE)
  once <- suppressMessages(check_visits(wide[1:3, ]))
  expect_identical(rownames(once), c("7", "3", "100000"))
  # Species are no seasons; the code that is advised makes the table of species.
  names(wide)[2] <- "species"
  expect_error(check_visits(wide), "its column \"species\" names 2. Use `list(y = lapply(split(x, x[[2]]), ",
    class = "multicause_input_error", fixed = TRUE)
  visits <- 3:5
  code <- sub(".*Use `(.*)`, where.*", "\\1", tryCatch(check_visits(wide), error = conditionMessage))
  both <- check_visits(eval(str2lang(code), list(x = wide, visits = visits)))
  expect_identical(dim(both), c(3L, 2L, 3L))
  expect_equal(unname(both[, 2, ]), unname(as.matrix(wide[4:6, visits])))
})

test_that("taxa found at every site on some visit leave their detection to be learnt", {
  x <- array(c(0, 1, 1, 1, 1, 0), c(3, 1, 2))
  dimnames(x) <- list(site = NULL, taxon = "a", visit = NULL)
  said <- capture_messages(visits_bernoulli(x, 1, control = fit_control(n_start = 1)))
  expect_match(said, "Every taxon of `x` was found at every site, so only its detection", all = FALSE)
  expect_no_match(said, "Nothing can be learnt")
  said <- capture_messages(visits_bernoulli(0 * x, 1, control = fit_control(n_start = 1)))
  expect_match(said, "Nothing can be learnt from `x`: all of its cells are 0", all = FALSE)
})

test_that("tables of histories that were not read yet name the way", {
  wide <- data.frame(site = letters[1:3], y = matrix(c(0, 1, 0, 1, 1, 0), 3, 2), height = 1:3)
  expect_error(site_table(wide), "use `site_table(visits_array(x))`", class = "multicause_input_error", fixed = TRUE)
  expect_error(visit_table(wide), "use `visit_table(visits_array(x))`", class = "multicause_input_error", fixed = TRUE)
  expect_identical(suppressMessages(site_table(visits_array(wide)))$height, 1:3)
})

test_that("files whose lines end in a tab, and counts, are read or told in our words", {
  wide <- utils::read.delim(text = "site\ty1\ty2\t\na\t0\t1\t\nb\t1\t0\t\n", check.names = FALSE)
  names(wide)[4] <- NA
  expect_identical(dim(suppressMessages(check_visits(wide))), c(2L, 1L, 2L))
  taxa <- utils::read.delim(text = "Rana\tBufo\t\n0\t1\t\n1\t0\t\n", check.names = FALSE)
  expect_identical(colnames(check_data(taxa, "binary")$x), c("Rana", "Bufo"))
  records <- data.frame(site = "a", taxon = c("b", "c"), day = 1:2, NA)
  names(records)[4] <- ""
  expect_identical(dim(suppressMessages(visits_array(records, "site", "taxon", "day"))), c(1L, 2L, 2L))
  counts <- 3 * history
  follow <- function(x) {
    said <- tryCatch(suppressMessages(check_visits(x)), multicause_input_error = conditionMessage)
    code <- str2lang(sub("^.* use `([^`]*)`.*$", "\\1", said))
    value <- eval(code)
    if (identical(code[[1L]], quote(`<-`))) x else value
  }
  array_of <- function(x) array(x, c(4, 1, 3), list(site = letters[1:4], species = "a", visit = NULL))
  for (x in list(counts, array_of(counts), list(y = counts), list(y = list(a = counts, b = counts)),
    list(counts, counts), data.frame(pond = letters[1:4], y = counts), data.frame(y = counts, elev = 1:4 / 3))) {
    made <- suppressMessages(check_visits(follow(x)))
    expect_true(all(made %in% c(0:1, NA)))
    expect_identical(sum(made, na.rm = TRUE) %% sum(history, na.rm = TRUE), 0)
  }
  tables <- lapply(1:3, function(v) `dimnames<-`(cbind(history[, v], 0), list(letters[1:4], c("Rana", "Bufo"))))
  covariates <- data.frame(elev = c(1.5, 2, 3, 4), forest = c("a", "b", "a", "b"), row.names = letters[1:4])
  expect_error(check_visits(list(may = tables[[1]], june = tables[[2]], env = covariates)),
    "If this is no visit but holds covariates, use `x[names(x) != \"env\"]`", fixed = TRUE,
    class = "multicause_input_error")
  expect_error(check_visits(c(tables, list(covariates[1]))), "use `x[-4]`, and these as", fixed = TRUE)
  expect_error(which_zeros(visits = case$visits[, 1:3, ]), "at least 5 taxa to learn from, not 3: visits of few")
})

test_that("a list of species, columns of one name and seasons on a fourth side are told for what they are", {
  each <- list(bobcat = `colnames<-`(history, paste0("X", 1:3)), coyote = `colnames<-`(history, paste0("X", 1:3)))
  expect_message(x <- check_visits(each), "taken as sites x visits of 2 species", class = "multicause_message")
  expect_identical(dimnames(x), list(site = letters[1:4], species = names(each), visit = paste0("X", 1:3)),
    ignore_attr = TRUE)
  expect_identical(unname(x[, 2, ]), unname(whole))
  expect_no_message(check_visits(stats::setNames(each, c("visit1", "visit2"))), message = "2 species")
  expect_identical(as_history(`colnames<-`(history, rep("catbird", 3))), whole)
  expect_identical(as_history(stats::setNames(as.data.frame(history), rep("catbird", 3))), whole)
  seasons <- array(0, c(2, 9, 4, 3))
  expect_error(check_visits(seasons), "Take one season at a time, as by `x[, , 1, ]`.", fixed = TRUE)
  expect_error(check_visits(list(y = seasons)), "Take one season at a time, as by `x$y[, , 1, ]`.", fixed = TRUE)
})

test_that("a bare array is read by visits_array() with its sides", {
  y <- unname(aperm(case$visits, c(2, 1, 3)))
  dimnames(y) <- NULL
  said <- tryCatch(visits_array(y), multicause_input_error = conditionMessage)
  expect_match(said, "use `sides = c(\"species\", \"site\", \"visit\")`", fixed = TRUE)
  x <- visits_array(y, sides = c("species", "site", "visit"))
  expect_identical(unname(bare(x)), unname(want), ignore_attr = TRUE)
  said <- tryCatch(which_zeros(visits = y), multicause_input_error = conditionMessage)
  expect_identical(eval(str2lang(sub("^.* or use `(.*)`.*$", "\\1", said)), list(visits = y)), x)
})

test_that("tables of taxa, of records and with other values are refused with what to do", {
  taxa <- `colnames<-`(history, c("Rana", "Bufo", "Hyla"))
  refused <- function(x, message) expect_error(check_visits(x), message, class = "multicause_input_error")
  refused(taxa, "goes into aspect_bernoulli")
  refused(as.data.frame(taxa), "list\\(y = x\\), k = 1")
  refused(`colnames<-`(history, paste0("sp", 1:3)), "goes into aspect_bernoulli")
  refused(data.frame(site = "a", taxon = "b", day = "2021-05-01"), "visits_array\\(\\) makes such an array")
  refused(matrix(c("0", "2"), 1), "hold only 0, 1 or NA \\(as text also.*one is \"2\"")
  refused(array(c("yes", "no"), c(2, 2, 2)), "as in `\\(x == \"yes\"\\) \\+ 0`")
  refused(matrix(c(0, 2), 1), "row 1, column 1, visit 2 is 2")
  refused(array(NA, c(3, 2, 2)), "`x` must hold a visit that was made: all its cells are NA")
  refused(list(matrix("x")), "`x\\[\\[1\\]\\]` must hold only 0, 1 or NA")
  refused(c("01.", "0"), "equally long, for each site: that of 2 is \"0\"")
  refused(data.frame(ch = c("01", "11"), freq = 1:2), "`x\\$freq` must be 1")
  refused(character(), "it has none")
  refused(history[, 0], "must have sites and visits")
  expect_error(
    which_zeros(visits = history), "`visits` must have taxa to learn from", class = "multicause_input_error"
  )
})

test_that("a list of tables, one for each species, is told by the names of their sides", {
  y <- array(rbinom(60, 1, 0.5), c(10, 3, 2), list(site = paste0("s", 1:10), visit = NULL, taxon = c("u", "v")))
  expect_message(x <- visits_array(list(u = y[, , 1L], v = y[, , 2L])), "as its sides are called so")
  expect_identical(dim(x), c(10L, 2L, 3L))
  expect_identical(unname(x[, "v", ]), unname(y[, , 2L]), ignore_attr = TRUE)
})

test_that("histories of none or of many sites, and arrays of unknown order, are refused with what to do", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(visits_array(character()), "`data` must hold a history of detections for each site: it has none.")
  refused(visits_bernoulli(character(), 1), "`x` must hold a history of detections for each site: it has none.")
  refused(visits_array(data.frame(ch = c("010", "110"), freq = 1:2)),
    "`data$freq` must be 1: a history is that of one site.")
  v <- array(rep_len(c(0, 1, 1, 0), 5 * 9 * 3), c(5, 9, 3))
  shape <- "`%s` could be 5 sites x 9 taxa x 3 visits, or 5 species x 9 sites as package spOccupancy has them: "
  refused(visits_array(v), paste0(sprintf(shape, "data"), "use `sides = c(\"species\", \"site\", \"visit\")`."))
  refused(visits_bernoulli(v, 1), paste0(sprintf(shape, "x"), "name its dimensions (names(dimnames(x))) or use "))
  dimnames(v) <- list(site = letters[1:5], taxon = LETTERS[1:9], visit = 1:3)
  twice <- data.frame(site = c("a", "a"), visit = 1, hours = 1:2)
  refused(visits_bernoulli(v, 1, detection = ~hours, visit_data = twice),
    "`visit_data` has two rows for site a, visit 1.")
})

test_that("lists without tables, and covariates of visits that are none, are refused", {
  v <- array(rep_len(c(0, 1, 1, 0), 9 * 5 * 3), c(9, 5, 3),
    list(site = letters[1:9], taxon = LETTERS[1:5], visit = 1:3))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(visits_bernoulli(list(), 1), "`x` must hold at least one table, not none.")
  refused(visits_bernoulli(v, 1, detection = ~hours, visit_data = 1),
    "`visit_data` must be a list of matrices with a name each, or a data frame, not 1.")
  refused(visits_bernoulli(v, 1, detection = ~offset(hours), visit_data = list(hours = matrix(1:27, 9))),
    "`detection` cannot have an offset().")
})
