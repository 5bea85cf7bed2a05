# Tests also R/site_table.R, R/base_keys.R, R/base_text.R.

presences <- function() {
  data.frame(
    site = c("B", "A", "A", "C", "B", "B", "C", "D"),
    taxon = c("ursus", "canis", "ursus", "canis", "ursus", "equus", "equus", "canis"),
    age = c(2, 1, 1, 3, 2, 2, 3, 4),
    n = c(3, 1, 2, 5, 4, 1, 2, 1)
  )
}

quietly <- function(x) suppressMessages(x, classes = "multicause_message")

test_that("presences are 1, and rows and columns are sorted", {
  x <- quietly(occurrence_matrix(presences(), "site", "taxon"))
  expect_identical(dimnames(x), list(c("A", "B", "C", "D"), c("canis", "equus", "ursus")))
  expect_identical(as.vector(x), c(1L, 0L, 1L, 1L, 0L, 1L, 1L, 0L, 1L, 1L, 0L, 0L))
})

test_that("the name of a taxon does not describe a site, where it has one record, too", {
  once <- data.frame(quarry = c("a", "b", "c"), genus = c("u", "v", "u"), ma = 1:3)
  sites <- attr(quietly(occurrence_matrix(once, "quarry", "genus")), "sites")
  expect_identical(names(sites), c("site", "quarry", "ma", "n_taxa", "n_occurrences"))
  x <- quietly(visits_array(transform(once, day = "May"), site = "quarry", taxon = "genus", visit = "day"))
  expect_false("genus" %in% c(names(site_table(x)), names(visit_table(x))))
})

test_that("columns without quotes are told to have them", {
  data <- data.frame(quarry = "a", genus = "u")
  expect_error(occurrence_matrix(data, quarry, genus), "`site` must be column names of `data`, in quotes",
    class = "multicause_input_error")
})

test_that("the order of the rows does not matter", {
  set.seed(1)
  data <- presences()
  x <- quietly(occurrence_matrix(data, "site", "taxon", count = TRUE))
  for (i in 1:5) {
    expect_identical(quietly(occurrence_matrix(data[sample(nrow(data)), ], "site", "taxon", count = TRUE)), x)
  }
})

test_that("counts are rows, or the sum of a column", {
  data <- presences()
  plain <- function(x) matrix(as.vector(x), nrow(x), dimnames = dimnames(x))
  x <- quietly(occurrence_matrix(data, "site", "taxon", count = TRUE))
  expect_identical(plain(x), unclass(table(site = data$site, taxon = data$taxon)), ignore_attr = TRUE)
  x <- quietly(occurrence_matrix(data, "site", "taxon", count = "n"))
  expect_type(x, "double")
  expect_identical(x["B", ], c(canis = 0, equus = 1, ursus = 7))

  data$n[1] <- NA # ursus in B: one of two presences has no number
  x <- quietly(occurrence_matrix(data, "site", "taxon", count = "n"))
  expect_identical(x["B", ], c(canis = 0, equus = 1, ursus = NA))
  expect_identical(site_table(x)$n_taxa, c(2L, 2L, 2L, 1L))

  data$n <- c(0, 1, 0, 1, 0, 1, 1, 1) # sought and not found is not a presence
  x <- quietly(occurrence_matrix(data, "site", "taxon", count = "n"))
  expect_identical(colnames(x), c("canis", "equus"))
})

test_that("several columns make one name, and text that would collide is told", {
  data <- presences()
  data$layer <- c(1, 1, 2, 1, 2, 1, 10, 1)
  x <- quietly(occurrence_matrix(data, c("site", "layer"), c("taxon", "n")))
  expect_identical(rownames(x), c("A, 1", "A, 2", "B, 1", "B, 2", "C, 1", "C, 10", "D, 1"))
  expect_true("ursus 3" %in% colnames(x))
  expect_identical(site_table(x)$layer, c(1, 2, 1, 2, 1, 10, 1))

  data <- data.frame(a = c("x, y", "x"), b = c("z", "y, z"), t = c("u", "v"))
  expect_error(occurrence_matrix(data, c("a", "b"), "t"), "x, y, z", class = "multicause_input_error")
})

test_that("numbers are sorted as numbers and written in full", {
  data <- data.frame(collection = c(200000, 3, 100000, 20), taxon = "a")
  expect_identical(rownames(occurrence_matrix(data, "collection", "taxon")), c("3", "20", "100000", "200000"))
})

test_that("factors, tibbles and white space are taken as names", {
  data <- presences()
  x <- quietly(occurrence_matrix(data, "site", "taxon"))
  expect_identical(quietly(occurrence_matrix(transform(data, taxon = factor(taxon)), "site", "taxon")), x)
  data$taxon[2] <- " canis "
  expect_identical(quietly(occurrence_matrix(data, "site", "taxon")), x, ignore_attr = "sites")
  tibble <- structure(presences(), class = c("tbl_df", "tbl", "data.frame"))
  expect_identical(quietly(occurrence_matrix(tibble, "site", "taxon")), x)
})

test_that("rows without a name are left out and told", {
  data <- presences()
  data$taxon[1:2] <- c(NA, "")
  data$site[8] <- NA
  expect_message(
    x <- occurrence_matrix(data, "site", "taxon"), "3 of 8 rows: no site in 1, no taxon in 2",
    class = "multicause_message"
  )
  expect_identical(dim(x), c(3L, 3L))
  expect_identical(site_table(x)$n_occurrences, c(2L, 3L, 2L)) # rows of the site, with and without a taxon
})

test_that("a rank that the database has not in use is no name", {
  data <- data.frame(site = c("A", "A", "B"), family = c("Eryopidae", "NO_FAMILY_SPECIFIED", "Eryopidae"))
  expect_message(x <- occurrence_matrix(data, "site", "family"), "Left out 1 of 3 rows: no family in 1", fixed = TRUE)
  expect_identical(colnames(x), "Eryopidae")
})

test_that("filters hold at the end when iterated, and are used once when not", {
  set.seed(2)
  data <- data.frame(site = sample(60, 250, TRUE), taxon = paste0("t", rgeom(250, 0.08)))
  x <- quietly(occurrence_matrix(data, "site", "taxon", 3, 3))
  expect_true(all(colSums(x) >= 3) && all(rowSums(x) >= 3))

  all <- quietly(occurrence_matrix(data, "site", "taxon"))
  once <- all[, colSums(all) >= 3]
  once <- once[rowSums(once) >= 3, ]
  x <- quietly(occurrence_matrix(data, "site", "taxon", 3, 3, iterate = FALSE))
  expect_identical(x, once, ignore_attr = "sites")
  expect_true(any(colSums(once) < 3)) # otherwise this would not distinguish the two
})

test_that("sparse is the same matrix, and takes the site table along", {
  for (count in list(FALSE, TRUE, "n")) {
    dense <- quietly(occurrence_matrix(presences(), "site", "taxon", count = count))
    sparse <- quietly(occurrence_matrix(presences(), "site", "taxon", count = count, sparse = TRUE))
    expect_s4_class(sparse, "dgCMatrix")
    expect_true(methods::validObject(sparse))
    expect_identical(as.vector(as.matrix(sparse)), as.double(dense))
    expect_identical(dimnames(sparse), dimnames(dense))
    expect_identical(site_table(sparse), site_table(dense))
  }
})

test_that("the site table keeps what is constant and what was asked for", {
  data <- presences()
  data$where <- list(1, 2, 3, 4, 5, 6, 7, 8) # no plain column: never carried
  data$half <- c(NA, "u", "u", "v", "k", NA, "v", "w")
  expect_message(
    x <- occurrence_matrix(data, "site", "taxon",
      summarise = list(n = sum, oldest = function(rows) max(rows$age), last = function(rows) rows$taxon[nrow(rows)])
    ),
    "vary within a site .*: where, half",
    class = "multicause_message"
  )
  sites <- site_table(x)
  expect_identical(
    names(sites), c("site", "age", "n", "oldest", "last", "n_taxa", "n_occurrences")
  )
  expect_identical(rownames(sites), rownames(x))
  expect_identical(sites$site, rownames(x))
  expect_identical(sites$age, c(1, 2, 3, 4))
  expect_identical(sites$oldest, sites$age)
  expect_identical(sites$n, c(3, 8, 7, 1))
  expect_identical(sites$last, c("ursus", "equus", "equus", "canis"))
  expect_identical(sites$n_taxa, as.integer(rowSums(x)))
  expect_identical(sites$n_occurrences, c(2L, 3L, 2L, 1L))
})

test_that("a site with a missing value in one row only has no constant", {
  data <- presences()
  data$land <- c(NA, "u", "u", "v", NA, NA, "v", NA) # missing throughout B and D: constant
  x <- quietly(occurrence_matrix(data, "site", "taxon"))
  expect_identical(site_table(x)$land, c("u", NA, "v", NA))
})

test_that("columns named as those of the site table give way", {
  data <- cbind(presences(), n_taxa = 99, n_occurrences = 98)
  data$place <- data$site
  data$site <- seq_len(nrow(data))
  sites <- site_table(quietly(occurrence_matrix(data, "place", "taxon")))
  expect_identical(sites$site, c("A", "B", "C", "D"))
  expect_identical(sites$n_taxa, c(2L, 2L, 2L, 1L))
  expect_identical(sites$n_occurrences, c(2L, 3L, 2L, 1L))
})

test_that("a model takes the matrix as it is, and dense and sparse give the same", {
  x <- quietly(occurrence_matrix(presences(), "site", "taxon"))
  control <- fit_control(n_start = 1, algorithm = "newton", progress = FALSE)
  set.seed(3)
  fit <- aspect_bernoulli(x, 2, control = control)
  expect_identical(rownames(fit$param$membership), rownames(x))
  set.seed(3)
  sparse <- aspect_bernoulli(quietly(occurrence_matrix(presences(), "site", "taxon", sparse = TRUE)), 2,
    control = control)
  expect_equal(sparse$loglik, fit$loglik, tolerance = 1e-10)
})

test_that("degenerate tables work", {
  one <- data.frame(s = 1, t = "a")
  expect_silent(x <- occurrence_matrix(one, "s", "t"))
  expect_identical(dim(x), c(1L, 1L))
  expect_identical(rownames(x), "1")
  expect_identical(dim(occurrence_matrix(rbind(one, one), "s", "t", sparse = TRUE)), c(1L, 1L))
})

test_that("the site table is lost with a part of the matrix, and that is told", {
  x <- quietly(occurrence_matrix(presences(), "site", "taxon"))
  expect_error(site_table(x[1:2, ]), "Taking a part", class = "multicause_input_error")
  rownames(x)[1L] <- "other"
  expect_error(site_table(x), "rows were changed", class = "multicause_input_error")
})

test_that("messages say what was dropped", {
  data <- presences()
  data$taxon[1] <- NA
  expect_snapshot(invisible(occurrence_matrix(data, "site", "taxon", 2, 2)))
})

test_that("wrong calls are told what is wrong", {
  data <- presences()
  expect_snapshot(error = TRUE, occurrence_matrix(as.matrix(data), "site", "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "place", "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, 1, "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, c("site", "site"), "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", NA_character_))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", character()))
  expect_snapshot(error = TRUE, occurrence_matrix(transform(data, taxon = I(list(1))), "site", "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(transform(data, taxon = NA), "site", "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data[0, ], "site", "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", min_sites = -1))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", min_taxa = 1.5))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", min_sites = 9))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", iterate = NA))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", sparse = "yes"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", count = "number"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", count = "taxon"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", count = 2))
  expect_snapshot(error = TRUE, occurrence_matrix(transform(data, n = -n), "site", "taxon", count = "n"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", summarise = list(max)))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", summarise = list(age = "max")))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", summarise = list(age = range)))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon", summarise = list(age = max, age = min)))
  data <- data.frame(site = c("a", NA), taxon = c(NA, "b"))
  expect_snapshot(error = TRUE, occurrence_matrix(data, "site", "taxon"))
  expect_snapshot(error = TRUE, site_table(matrix(0, 2, 2)))
})

test_that("NaN names no site, and a summary that fails is named with what it was given", {
  data <- data.frame(age = c(1, NaN, 2, NA), genus = "G")
  expect_message(x <- occurrence_matrix(data, "age", "genus"), "Left out 2 of 4 rows: no age in 2")
  expect_identical(rownames(x), c("1", "2"))
  data <- data.frame(site = c("a", "b"), genus = "G", max_ma = 1:2)
  expect_error(
    occurrence_matrix(data, "site", "genus", summarise = list(max_age = max)),
    "\"max_age\" fails for \"a\", called with a data frame of its rows, as `data` has no column of that name",
    class = "multicause_input_error"
  )
  expect_error(
    occurrence_matrix(data, "site", "genus", summarise = list(max_ma = function(value) stop("why"))),
    "\"max_ma\" fails for \"a\": why$", class = "multicause_input_error"
  )
})

test_that("a column that is nearly there is named", {
  expect_error(occurrence_matrix(presences(), "Site", "taxon"), "no column \"Site\": did you mean \"site\"[?]")
})

test_that("what was dropped is told in words", {
  presences <- data.frame(site = c("a", "b", "b", NA), taxon = c("x", NA, NA, "y"))
  expect_message(occurrence_matrix(presences, "site", "taxon"),
    "Dropped 1 of 2 taxa \\(at no site\\), 1 of 2 sites \\(without a taxon\\)\\.")
  presences <- data.frame(site = c("a", "b", "b"), taxon = c("x", "x", "y"))
  expect_message(occurrence_matrix(presences, "site", "taxon", min_sites = 2),
    "Dropped 1 of 2 taxa \\(at fewer than 2 sites\\)\\.")
})

test_that("the site table has the widest bounds of age and the middle of places, unless told otherwise", {
  presences <- data.frame(
    site = c("a", "a", "a", "b", "c", "c"), genus = c("x", "y", "x", "x", "y", "y"), max_ma = c(10, 12, NA, 3, 5, 5),
    min_ma = c(9, 7, 8, 2, NA, NA), lng = c(179, -179, -177, 20, 10, 12), lat = c(1, 2, 6, NA, 4, 4)
  )
  table <- site_table(quietly(occurrence_matrix(presences, "site", "genus")))
  expect_identical(table$max_ma, c(12, 3, 5))
  expect_identical(table$min_ma, c(7, 2, NA))
  expect_identical(table$lng, c(-179, 20, 11)) # of both sides of the date line
  expect_identical(table$lat, c(2, NA, 4))
  told <- site_table(quietly(occurrence_matrix(presences, "site", "genus", summarise = list(max_ma = length))))
  expect_identical(told$max_ma, c(3L, 1L, 2L))
  expect_identical(told[c("min_ma", "lng", "lat")], table[c("min_ma", "lng", "lat")])
  presences$max_ma <- as.character(presences$max_ma) # no numbers: constant or not there
  expect_null(site_table(quietly(occurrence_matrix(presences, "site", "genus")))$max_ma)
})

test_that("ages and places under other names are summed up, too", {
  data <- data.frame(
    NAME = c("a", "a", "b"), GENUS = c("X", "Y", "X"), MAX_AGE = c(5, 7, 3), MIN_AGE = c(4, 2, 1),
    LONG = c(179, -179, 3)
  )
  expect_message(x <- occurrence_matrix(data, "NAME", "GENUS"), "the greatest \"MAX_AGE\", the least \"MIN_AGE\"")
  expect_equal(site_table(x)[["MAX_AGE"]], c(7, 3))
  expect_equal(site_table(x)[["MIN_AGE"]], c(2, 1))
  expect_equal(abs(site_table(x)[["LONG"]]), c(180, 3))
})

test_that("sites of durations come by value, and columns of the result keep their names", {
  days <- data.frame(s = as.difftime(c(10, 9, 2), units = "days"), t = c("x", "y", "x"))
  expect_identical(rownames(suppressMessages(occurrence_matrix(days, "s", "t"))), c("2", "9", "10"))
  expect_error(occurrence_matrix(days, "s", "t", summarise = list(n_taxa = nrow)), "other names than \"n_taxa\"",
    class = "multicause_input_error")
})

test_that("letters and + of a scale of cover are taken for presences", {
  l <- expand.grid(plot = paste0("p", 1:12), species = paste("Genus", letters[1:12]))
  l$cover <- rep(c(".", ".", "+", ".", "r", "1", "2a"), length.out = 144)
  expect_error(occurrence_matrix(l, "plot", "species"), 'blank = "absent", other = "present"', fixed = TRUE)
  words <- 'other = "present".` takes such values as pres'
  expect_error(occurrence_matrix(l, "plot", "species", present = "cover"), words)
  x <- occurrence_matrix(l, "plot", "species", present = c("cover", blank = "absent", other = "present"))
  expect_identical(sum(x), sum(l$cover != "."))
  l$cover[l$cover == "r"] <- "doubtful"
  expect_error(occurrence_matrix(l, "plot", "species", present = "cover"), 'other = "unknown"')
})

test_that("marks of doubt in a column of their own, and lists over several columns, are told", {
  h <- data.frame(loc = c("A", "B", "C"), name = "Carex", identificationQualifier = c(NA, "cf.", "aff."))
  words <- 'Marks of doubt in column "identificationQualifier", of 2 rows'
  expect_message(occurrence_matrix(h, "loc", "name", names = "certain"), words)
  expect_no_message(occurrence_matrix(h, "loc", "name"), message = words)
  h$identificationQualifier <- c("", "wet", "dry")
  expect_no_message(occurrence_matrix(h, "loc", "name", names = "certain"), message = "Marks of doubt")
  items <- c("beer", "jam", "milk")
  b <- data.frame(id = 1:9, V1 = rep(items, each = 3), V2 = items)
  expect_message(occurrence_matrix(b, "id", c("V1", "V2")), "share their values.*unlist\\(data\\[c")
  b$V2 <- toupper(b$V2)
  expect_no_message(occurrence_matrix(b, "id", c("V1", "V2")), message = "share their values")
})

test_that("columns that hold a taxon each are told from parts of a name", {
  lists <- data.frame(site = 1:3, t1 = c("a", "b", "c"), t2 = c("b", "a", "d"))
  expect_message(occurrence_matrix(lists, "site", c("t1", "t2")), paste(
    "Columns \"t1\", \"t2\" of `taxon` share their values: a combination is one taxon. If each holds a taxon, stack",
    "them: `data.frame(site = data[[\"site\"]], taxon = unlist(data[c(\"t1\", \"t2\")]))`."
  ), fixed = TRUE, class = "multicause_message")
})

test_that("columns of the sites by their usual names are told", {
  records <- data.frame(site = c("a", "a", "b"), taxon = c("t", "u", "t"), Latitude = c(1, 2, 2), LONG = c(3, 4, 4))
  expect_message(x <- occurrence_matrix(records, "site", "taxon"),
    "Of each site: the median of \"Latitude\", the median of \"LONG\".", fixed = TRUE, class = "multicause_message")
  expect_equal(site_table(x)$Latitude, c(1.5, 2))
})
