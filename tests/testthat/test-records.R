# Common features of occurrence_matrix(), shards(), read_pbdb() and read_now(): absences, names, moments.

skip_on_cran()

quietly <- function(x) suppressMessages(x, classes = "multicause_message")

make_shards <- function(x, ...) shards(x, tempfile("shards-"), site = "site", taxon = "taxon", ...)
shards_whole <- function(...) {
  made <- quietly(make_shards(...))
  x <- as.matrix(made[seq_len(nrow(made)), ])
  x[order(rownames(x), method = "radix"), , drop = FALSE]
}
matrix_whole <- function(data, ..., min_sites = 0, min_taxa = 0) {
  x <- quietly(occurrence_matrix(data, "site", "taxon", min_sites = min_sites, min_taxa = min_taxa, ...))
  attr(x, "sites") <- NULL
  storage.mode(x) <- "double"
  x
}

# A survey of every taxon at every site, as in a zero-filled table, with one column for each way of recording.
zero_filled <- function() {
  data <- expand.grid(site = sprintf("s%02d", 1:20), taxon = sprintf("t%02d", 1:12), stringsAsFactors = FALSE)
  set.seed(5)
  found <- stats::runif(nrow(data)) < 0.2 & data$site != "s07" & data$taxon != "t03"
  count <- ifelse(found, sample(1:9, nrow(data), TRUE), 0L)
  data.frame(
    data, truth = found, occurrenceStatus = ifelse(found, "PRESENT", "absent"), individualCount = count,
    species_observed = found, observation_count = ifelse(found & count < 4, "X", count), abundance = count / 10,
    detected = factor(ifelse(found, "Detected", "not detected")), pa = ifelse(found, "yes", "No"),
    n = as.character(count), Presence = ifelse(found, "Presence", "Absence"), value = count, absence = !found,
    Absent = ifelse(found, "no", "YES"), absence_ = ifelse(found, "present", "absent")
  )
}

test_that("recorded absences are no presences, in whatever column", {
  data <- zero_filled()
  truth <- matrix(as.numeric(data$truth), 20, dimnames = list(unique(data$site), unique(data$taxon)))
  for (name in setdiff(names(data), c("site", "taxon", "truth"))) {
    expect_identical(matrix_whole(data, present = name), truth, label = name)
    one <- data[c("site", "taxon", name)]
    wish <- sprintf("Use `present = \"%s\"` if these are absences", name)
    expect_error(occurrence_matrix(one, "site", "taxon"), wish, class = "multicause_input_error", fixed = TRUE)
    expect_error(make_shards(one), wish, class = "multicause_input_error", fixed = TRUE)
  }
  for (name in c("occurrenceStatus", "observation_count", "species_observed", "detected")) {
    expect_identical(shards_whole(data, present = name, piece = 50), truth)
  }
  file <- tempfile(fileext = ".csv")
  utils::write.csv(data, file, row.names = FALSE)
  expect_error(make_shards(file), "(the first is record 1)", class = "multicause_input_error", fixed = TRUE)
  expect_identical(shards_whole(file, present = "observation_count", piece = 50), truth)
  expect_identical(shards_whole(data[data$truth, ]), matrix_whole(data[data$truth, ]))
  every <- matrix_whole(data, present = NULL)
  expect_true(all(every == 1))
  expect_identical(shards_whole(data, present = NULL), every)
})

test_that("surveys that found nothing, and taxa that nobody found, stay where they are asked for", {
  data <- zero_filled()
  asked <- function(...) dim(quietly(occurrence_matrix(data, "site", "taxon", present = "species_observed", ...)))
  some <- length(unique(data$site[data$truth]))
  expect_lt(some, 20L)
  expect_identical(asked(), c(some, 11L))
  expect_identical(asked(min_taxa = 0), c(20L, 11L))
  expect_identical(asked(min_sites = 0), c(some, 12L))
  expect_identical(asked(min_sites = 0, min_taxa = 0, sparse = TRUE), c(20L, 12L))
  visited <- data.frame(site = c("a", "a", "b"), taxon = c("x", "y", NA))
  expect_identical(matrix_whole(visited), shards_whole(visited))
  expect_identical(rownames(matrix_whole(visited, min_taxa = 1)), "a")
  nothing <- data.frame(site = c("a", "b"), taxon = "x", present = FALSE)
  expect_identical(matrix_whole(nothing, present = "present"), cbind(x = c(a = 0, b = 0)))
})

test_that("a presence wins over an absence and over what is unknown, in both", {
  data <- data.frame(
    site = "a", taxon = c("both", "both", "perhaps", "perhaps", "unknown", "unknown", "not", "sure"),
    present = c("ABSENT", "PRESENT", NA, "PRESENT", NA, "ABSENT", "ABSENT", "PRESENT"), n = c(4, 3, 2, 1, 5, 5, 0, NA)
  )
  truth <- rbind(a = c(both = 1, not = 0, perhaps = 1, sure = 1, unknown = NA))
  expect_identical(matrix_whole(data, present = "present"), truth)
  expect_identical(shards_whole(data, present = "present"), truth)
  expect_message(
    x <- occurrence_matrix(data, "site", "taxon", present = "present", count = "n", min_sites = 0),
    "Of 8 rows, 3 absent and 2 unknown by \"present\"."
  )
  expect_identical(x["a", ], c(both = 3, not = 0, perhaps = 1, sure = NA, unknown = NA))
  counts <- data.frame(n_taxa = 3L, n_occurrences = 3L, row.names = "a")
  expect_identical(site_table(x)[c("n_taxa", "n_occurrences")], counts)
  # a filter treats unknown values as no presence
  x <- quietly(occurrence_matrix(data, "site", "taxon", present = "present"))
  expect_identical(colnames(x), c("both", "perhaps", "sure"))
})

test_that("columns that hold no absences, or something else, are no matter", {
  data <- data.frame(
    site = c("a", "b"), taxon = c("x", "y"), occurrenceStatus = "PRESENT", individualCount = c(NA, 3),
    found = as.Date(c("2020-01-01", "2020-01-02")), number = c("7", "12 b"), n = c(-2, -1)
  )
  expect_identical(matrix_whole(data), diag(2), ignore_attr = TRUE)
  expect_identical(shards_whole(data), diag(2), ignore_attr = TRUE)
  # nor those that are used: as a count, a name, or what goes along
  data <- data.frame(site = c("a", "b"), taxon = c("x", "x"), n = c(0, 1), count = c(1, 1))
  expect_identical(rownames(quietly(occurrence_matrix(data, "site", "taxon", count = "n"))), "b")
  expect_identical(site_table(make_shards(data, site_data = "n"))$n, c(0, 1))
  # nor a row of a site where nothing was found
  data <- data.frame(site = c("a", "b"), taxon = c("x", NA), count = c(1, 0))
  expect_identical(dim(matrix_whole(data)), c(2L, 1L))
})

test_that("what cannot be read as presence or count is told with its place and a way out", {
  data <- zero_filled()
  data$odd <- replace(data$occurrenceStatus, 3, "doubtful")
  data$negative <- replace(data$individualCount, 2, -9L)
  expect_snapshot(error = TRUE, {
    occurrence_matrix(data, "site", "taxon", present = "odd")
    occurrence_matrix(data, "site", "taxon", present = "negative")
    occurrence_matrix(data, "site", "taxon", present = TRUE)
    occurrence_matrix(data, "site", "taxon")
    make_shards(data)
    make_shards(data, present = "odd", piece = 2)
    make_shards(data, present = 1)
    occurrence_matrix(data, "site", "taxon", count = "observation_count")
    occurrence_matrix(data, "site", "taxon", count = "n")
    occurrence_matrix(data, "site", "taxon", count = "species_observed")
    occurrence_matrix(data, "site", "taxon", count = "detected")
    occurrence_matrix(data, "site", "taxon", count = "odd")
  })
})

alike <- list(
  c("Canis lupus", "canis lupus", "Canis  lupus", "Canis\u00a0lupus", "Canis_lupus", "?Canis lupus", "Canis? lupus",
    "Canis (?) lupus", "Canis cf. lupus", "cf. Canis lupus", "Canis cf.lupus", "Canis aff. lupus", "\"Canis\" lupus",
    "\u201cCanis\u201d lupus", "Canis ex gr. lupus", "Canis n. sp. lupus", "n. gen. Canis n. sp. lupus",
    "Canis lupus sp. nov.", "Canis lupus ssp."),
  c("Felis", "Felis sp.", "Felis sp", "Felis spp.", "Felis indet.", "Felis gen. et sp. indet."),
  c("Quercus rosacea", "Quercus \u00d7 rosacea", "Quercus x rosacea", "Quercus \u00d7rosacea"),
  c("Anas acuta \u00d7 crecca", "Anas acuta x crecca"),
  c("Cupressocyparis", "\u00d7 Cupressocyparis", "x Cupressocyparis"),
  c("Lacerta d'orbignyi", "Lacerta d\u2019orbignyi"), c("Caf\u00e9ia", "Cafe\u0301ia"),
  c("Hyla subsp. x", "Hyla ssp. x"),
  c("Bos primigenius", "Bos primigenius*", "\u2020Bos primigenius", "Bos primigenius \u2020\u2021",
    "Bos primigenius **", "Bos* primigenius", "Bos primigenius\u00b9", "Bos primigenius [1]")
)
# Each of these is another taxon, or may be.
unlike <- c(
  "Felis sp. 1", "Felis sp. 2", "Felis sp. A", "Felis n. sp.", "Anas acuta crecca", "Anas acuta", "Canis lupus lupus",
  "Rosa canina var. alba", "Rosa canina f. alba", "Rosa canina subsp. alba", "Rosa canina alba", "Rosa canina L.",
  "Larus argentatus/cachinnans", "Larus argentatus", "Canis (Lupulella) lupus", "Cafeia", "Unio s.l.", "Unio s.s.",
  "Lacerta dorbignyi", "novae-angliae", "novaeangliae", "T1", "T2", "T 1", "x", "?", "sp.", "cf.", "Affinis"
)

test_that("names that differ in spelling alone are joined, and no others", {
  clean <- clean_names(unlist(alike))
  expect_identical(tolower(clean), rep(tolower(vapply(alike, `[`, "", 1L)), lengths(alike)))
  expect_false(anyDuplicated(tolower(clean_names(c(unlike, vapply(alike, `[`, "", 1L))))) > 0L)
  expect_identical(clean_names(unlike), unlike)
  expect_identical(clean_names(clean), clean)
  expect_identical(clean_names(c(NA, character())), NA_character_)
})

test_that("doubtful names are those with marks of doubt", {
  expect_identical(
    is_doubtful(c("Canis cf. lupus", "Canis aff. lupus", "?Canis", "\"Canis\"", "Canis sp.", "Canis sp. 1", "indet.")),
    rep(TRUE, 7L)
  )
  # one of two, or none
  none <- c("Bos/Bubalus", "Larus argentatus / cachinnans", "Bos or Bubalus", "unknown", "Unidentified gull", "NONE",
    "No birds", "not identified", "nothing", "Aves, unknown", "?", "-")
  expect_true(all(is_doubtful(none)))
  certain <- c("Canis lupus", "Canis  lupus", "Canis \u00d7 lupus", "Canis n. sp. lupus", "O'Brien", "Bos primigenius*",
    "\u2020Bos", "Nothofagus", "Notropis", "Orca", "Nilssonia", "Nona", "V/2", "NA")
  expect_false(any(is_doubtful(certain)))
})

test_that("names of no taxon and of no place are told by all, and left out by \"certain\"", {
  data <- data.frame(
    site = c("a", "unknown", "b", "b", "Unknown locality"), taxon = c("Bos", "Bubalus", "NONE", "Bos", "Bos/Bubalus"),
    day = 1:5
  )
  for (read in list(
    function(...) occurrence_matrix(data, "site", "taxon", ...), function(...) make_shards(data, ...)
  )) {
    told <- capture_messages(read())
    expect_match(told, "Names that may name no taxon: \"NONE\"", all = FALSE)
    expect_match(told, "Names that may name no site: \"Unknown locality\", \"unknown\"", all = FALSE)
    told <- capture_messages(x <- read(names = "certain"))
    expect_match(told, "Left out 2 names with marks of doubt: \"Bos/Bubalus\", \"NONE\"", all = FALSE)
    expect_equal(ncol(x), 2L)
  }
  expect_match(capture_messages(visits_array(data, "site", "taxon", "day")), "no site: \"Unknown", all = FALSE)
})

test_that("one rule of names holds for all that read records", {
  names <- c("Canis lupus", "CANIS  LUPUS", "Canis cf. lupus", "Felis catus", "Ursus \u00d7 arctos", "Lynx sp.")
  data <- data.frame(site = letters[1:6], taxon = names)
  set.seed(6)
  for (rows in list(1:6, 6:1, sample(6))) {
    expect_message(x <- occurrence_matrix(data[rows, ], "site", "taxon"), "1 group of taxa differ.*stay apart")
    expect_identical(sort(colnames(x)), sort(names))
    joined <- matrix_whole(data[rows, ], names = "join")
    expect_identical(colnames(joined), c("Canis lupus", "Felis catus", "Lynx", "Ursus arctos"))
    expect_identical(unname(joined[, 1L]), c(1, 1, 1, 0, 0, 0))
    expect_identical(shards_whole(data[rows, ], names = "join", piece = 2), joined)
    sure <- matrix_whole(data[rows, ], names = "certain")
    expect_identical(colnames(sure), c("Canis lupus", "Felis catus", "Ursus arctos"))
    expect_identical(unname(rowSums(sure)), c(1, 1, 0, 1, 1, 0))
    expect_identical(shards_whole(data[rows, ], names = "certain"), sure)
  }
  expect_message(make_shards(data), "`names = \"join\"`", class = "multicause_message")
  given <- shards_whole(data, names = "join", taxa = c("Ursus arctos", "canis lupus", "Lynx", "Felis catus", "Bison"))
  expect_identical(colSums(given), c(`Ursus arctos` = 1, `canis lupus` = 3, Lynx = 1, `Felis catus` = 1, Bison = 0))
  expect_error(make_shards(data, names = "join", taxa = names[1:5]), "Canis cf. lupus",
    class = "multicause_input_error")
  expect_error(quietly(make_shards(data, names = "join", taxa = names[3:5])), "\"Lynx sp.\" is not",
    class = "multicause_input_error")
  expect_error(
    quietly(occurrence_matrix(data.frame(site = 1, taxon = "?"), "site", "taxon", names = "certain")),
    "must leave taxa",
    class = "multicause_input_error"
  )
})

test_that("a presence wins where names are joined, and several columns are one name", {
  data <- data.frame(site = "a", taxon = c("T x", "t x"), present = c(0, 1))
  expect_identical(matrix_whole(data, names = "join", present = "present"), rbind(a = c(`T x` = 1)))
  expect_identical(shards_whole(data, names = "join", present = "present"), rbind(a = c(`T x` = 1)))
  data <- data.frame(site = 1:3, genus = c("Canis", "?Canis", "canis"), species = c("lupus", "lupus", "cf. lupus"))
  x <- quietly(occurrence_matrix(data, "site", c("genus", "species"), names = "join"))
  expect_identical(colnames(x), "Canis lupus")
})

test_that("sites that differ in case or blanks are told, with blanks that nobody sees", {
  data <- data.frame(site = c("North", "north", "South  1", "South\u00a01", "East?", "East"), taxon = "x")
  expect_message(
    x <- occurrence_matrix(data, "site", "taxon", names = "join"),
    "2 groups of sites differ only in case or blanks, and stay apart: \"North\", \"north\"; .*<U\\+00A0>1\""
  )
  expect_identical(nrow(x), 6L)
})

test_that("the time of long fields and names grows with their length", {
  text <- strrep("a \"\"b, ", 3e5)
  row <- function(no) sprintf("%d,%d,Canis lupus,species,3,2,\"%s\"", no, no, text)
  file <- tempfile(fileext = ".csv")
  writeLines(c("occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma,note", row(1), row(2)), file)
  spent <- function(expr) system.time(quietly(expr))[["user.self"]]
  # 36 s and more where the time is that of the square
  expect_lt(spent(read <- read_pbdb(file)), 15)
  expect_identical(nchar(read$note), rep(nchar(gsub("\"\"", "\"", trimws(text), fixed = TRUE)), 2L))
  expect_lt(spent(shards(file, tempfile(), site = "collection_no", taxon = "accepted_name")), 15)
  marked <- sub("Canis lupus", "\"NA\"", sub("occ", "\"occ", sub("no,", "no\",", readLines(file))), fixed = TRUE)
  writeLines(marked, file)
  expect_lt(spent(shards(file, tempfile(), site = "collection_no", taxon = "accepted_name")), 15)
})

test_that("many names are settled in little time", {
  names <- paste(c("Canis", "canis", "?Canis", "Canis cf."), rep(sprintf("a%05d", 1:25000), each = 4))
  time <- system.time(settled <- quietly(settle_names(names, "join")))[["user.self"]]
  expect_identical(settled, rep(sprintf("Canis a%05d", 1:25000), each = 4))
  expect_lt(time, 30)
})

test_that("NA as text is a name", {
  data <- data.frame(site = c("NA", "ZA", "ZA"), taxon = c("x", "NA", NA))
  truth <- matrix(c(0, 1, 1, 0), 2, dimnames = list(c("NA", "ZA"), c("NA", "x")))
  expect_identical(matrix_whole(data), truth)
  expect_identical(shards_whole(data), truth)
  quoted <- tempfile(fileext = ".csv")
  utils::write.csv(data, quoted, row.names = FALSE) # quotes names, and writes NA for what is missing
  for (piece in c(1, 2, 9)) expect_identical(shards_whole(quoted, piece = piece), truth)
  bare <- tempfile(fileext = ".tsv")
  writeLines(c("site\ttaxon", "NA\tx", "ZA\tNA", "ZA\t"), bare)
  expect_message(x <- make_shards(bare), "NA in \"site\", \"taxon\" of .* is taken as a name")
  expect_identical(shards_whole(bare, piece = 1), truth)
  file <- tempfile(fileext = ".csv")
  writeLines(c("\"site\",\"taxon\"", "\"a, \"\"NA\"\", b\",\"NA\"", "\"NA\",\"y\""), file)
  expect_setequal(rownames(shards_whole(file, piece = 1)), c("a, \"NA\", b", "NA"))
  # in columns of numbers it is missing
  writeLines(c("site,taxon,p,e", "a,x,NA,1", "b,x,1,NA", "c,x,0,2"), file)
  x <- make_shards(file, present = "p", site_data = "e")
  expect_identical(as.vector(as.matrix(x[c("a", "b", "c"), ])), c(NA, 1, 0))
  expect_identical(site_table(x)$e, c(1L, NA, 2L))
})

test_that("moments that a clock shows twice are two, by one rule", {
  clock <- function(start, zone, step, n = 5) {
    out <- as.POSIXct(start, tz = "UTC") + step * (seq_len(n) - 1)
    attr(out, "tzone") <- zone
    out
  }
  berlin <- clock("2021-10-30 23:30", "Europe/Berlin", 3600)
  names <- sprintf("2021-10-31 %s", c("01:30:00", "02:30:00 +0200", "02:30:00 +0100", "03:30:00", "04:30:00"))
  expect_identical(name_values(berlin), names)
  howe <- clock("2021-04-03 14:00", "Australia/Lord_Howe", 1800) # half an hour back
  expect_identical(sub("2021-04-0. ", "", name_values(howe)),
    c("01:00:00", "01:30:00 +1100", "01:30:00 +1030", "02:00:00", "02:30:00"))
  spring <- clock("2021-03-28 00:30", "Europe/Berlin", 1800)
  expect_false(any(grepl("[+]", name_values(spring))))
  parts <- c("2021-10-31 01:30:00", "2021-10-31 01:30:00.25")
  expect_identical(name_values(clock("2021-10-31 01:30", "UTC", 0.25, 2)), parts)
  expect_identical(name_values(as.POSIXct(c("2021-01-01", NA), tz = "UTC")), c("2021-01-01 00:00:00", NA))
  data <- data.frame(site = rev(berlin), taxon = "x")
  expect_identical(rownames(quietly(occurrence_matrix(data, "site", "taxon"))), names) # sorted by time
  expect_setequal(site_table(make_shards(data, piece = 1))$site, names)
})

test_that("odd columns of records are left out, read as what they are, or refused by name, by each reader", {
  data <- data.frame(
    site = c("a", "a", "b", "b", "c", "c"), taxon = c("x", "y", "x", "z", "y", "z"), age = c(3, 3, 2, 2, 1, 1),
    day = rep(1:2, 3)
  )
  readers <- list(
    matrix = function(data, site = "site", ...) occurrence_matrix(data, site, "taxon"),
    shards = function(data, site = "site", along = "age") {
      shards(data, tempfile(), site = site, taxon = "taxon", site_data = along)
    },
    visits = function(data, site = "site", ...) visits_array(data, site, "taxon", "day")
  )
  ages <- function(x) (if (inherits(x, "shards")) site_table(x) else attr(x, "sites"))$age
  refused <- function(said, ...) {
    expect_error(quietly(...), said, class = "multicause_input_error", fixed = TRUE)
  }
  parts <- data
  parts$list <- list(1, 2:3, NULL, "a", 4, 5)
  parts$table <- data.frame(u = 1:6, v = 6:1)
  parts$matrix <- matrix(1:12, 6)
  parts$n <- parts$list
  for (read in readers) {
    want <- quietly(read(data))
    # A column without a name, of row numbers, and labelled values whose package is not there.
    for (name in c("", NA)) {
      nameless <- stats::setNames(cbind(data, 1:6), c(names(data), name))
      expect_identical(dim(quietly(read(nameless))), dim(want))
    }
    labelled <- data
    labelled$age <- structure(data$age, labels = c(old = 3), class = c("haven_labelled", "vctrs_vctr", "double"))
    registerS3method("as.character", "haven_labelled", function(x, ...) stop("package haven is not there"))
    expect_identical(ages(quietly(read(labelled))), ages(want))
    labelled$site <- structure(c(1, 1, 2, 2, 3, 3), class = class(labelled$age))
    expect_identical(dim(quietly(read(labelled))), dim(want))
    moments <- data
    moments$site <- as.POSIXlt(as.Date("2020-01-01") + c(0, 0, 1, 1, 2, 2))
    expect_identical(dim(quietly(read(moments))), dim(want))
    for (site in c("list", "table", "matrix")) {
      refused(sprintf("plain values: \"%s\" is not one", site), read(parts, site))
    }
    expect_identical(dim(quietly(read(parts))), dim(want))
  }
  for (along in c("list", "table", "matrix")) refused("plain values", readers$shards(parts, along = along))
  twice <- cbind(data, site = rev(data$site))
  refused("`site` must name one column of `data`: 2 columns are called \"site\"", readers$matrix(twice))
  refused("`site` must name one column of `data`", readers$visits(twice))
  refused("\"site\" comes twice", readers$shards(twice))
})

test_that("columns of package units are plain numbers, and environment takes them", {
  unit <- structure(list(numerator = "m", denominator = character()), class = "symbolic_units")
  depth <- structure(c(1, 5, 9), units = unit, class = "units")
  frame <- data.frame(id = 1:3)
  frame$depth <- depth
  expect_identical(plain_frame(frame), data.frame(id = 1:3, depth = c(1, 5, 9)))
  expect_silent(near <- smooth_over(environment = frame["depth"], bandwidth = 1, strength = 1))
  expect_equal(near$given$environment, smooth_over(environment = data.frame(depth = c(1, 5, 9)), bandwidth = 1,
    strength = 1)$given$environment)
  taxa <- data.frame(t1 = 1:3, t2 = c(1, 0, 1))
  taxa$t1 <- structure(c(0, 1, 1), units = unit, class = "units")
  expect_identical(as_plain_matrix(taxa, "x"), as_plain_matrix(data.frame(t1 = c(0, 1, 1), t2 = c(1, 0, 1)), "x"))
})

test_that("ages in a unit that is none of time are refused", {
  unit <- structure(list(numerator = "m", denominator = character()), class = "symbolic_units")
  metres <- structure(1:10, units = unit, class = "units")
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  expect_error(range_through(x, age = metres), "`age` must be in a unit of time, such as Myr or kyr, not in \"m\".",
    fixed = TRUE, class = "multicause_input_error")
})
