# Shards: from records and tables to files and back. Tests also R/shards_files.R.

skip_on_cran()

test_that("text is found wherever it lies in a file, compressed or with zero bytes", {
  file <- tempfile()
  for (open in list(base::file, gzfile)) {
    for (before in 2^20 - 0:5) {
      con <- open(file, "wb")
      writeBin(c(rep(as.raw(65), before), charToRaw("\"N"), raw(2), charToRaw("A\"b\n")), con)
      close(con)
      expect_true(holds_text(file, "\"NA\""))
    }
  }
  expect_false(holds_text(file, "\"NB\""))
  expect_false(holds_text(file, "AA\"b\nA"))
})

test_that("a table comes back from its shards, whole and in parts", {
  x <- planted_table()
  for (table in list(x, Matrix::Matrix(x, sparse = TRUE))) {
    shard <- shards(table, tempfile(), size = 100)
    expect_gt(nrow(shard$shards), 3)
    expect_identical(dim(shard), as.double(dim(x)))
    expect_identical(nobs(shard), sum(!is.na(x)) + 0)
    expect_identical(as.matrix(shard[seq_len(nrow(x)), ]), x)
    expect_identical(as.matrix(shard[c(200, 3, 3), c("t05", "t01")]), x[c(200, 3, 3), c("t05", "t01")])
    expect_identical(as.matrix(shard[c("s100", "s001"), ]), x[c("s100", "s001"), ])
    expect_identical(unname(shard$column_sum), unname(colSums(x, na.rm = TRUE)))
  }
  bare <- shards(unname(x), tempfile(), site_data = data.frame(effort = seq_len(nrow(x))))
  expect_identical(site_table(bare)$effort, seq_len(nrow(x)))
  expect_identical(as.matrix(bare[1:3, ]), unname(x[1:3, ]))
})

# Compares shards; files of names and covariates need not be identical byte for byte.
expect_same_shards <- function(x, y) {
  expect_identical(x$shards$cells, y$shards$cells)
  expect_identical(site_table(x), site_table(y))
}

test_that("scattered records are joined, whatever the pieces and the source", {
  x <- planted_table()
  records <- as_records(x)
  whole <- shards_of(records, size = 150)
  rows <- site_table(whole)
  expect_setequal(rows$site, rownames(x))
  expect_identical(rows$effort, match(rows$site, rownames(x)))
  expect_identical(as.matrix(whole[rownames(x), colnames(x)]), x)
  pieces <- shards_of(records, piece = 37, size = 150)
  expect_same_shards(pieces, whole)
  at <- 0
  feed <- function(n) {
    found <- records[at + seq_len(min(n, nrow(records) - at)), ]
    at <<- at + nrow(found)
    if (nrow(found)) found
  }
  expect_same_shards(shards_of(feed, piece = 100, size = 150), whole)
  csv <- tempfile(fileext = ".csv")
  utils::write.csv(records, csv, row.names = FALSE)
  expect_same_shards(shards_of(csv, piece = 41, size = 150), whole)
  half <- tempfile(fileext = c(".csv", ".csv.gz"))
  utils::write.csv(records[1:100, ], half[1], row.names = FALSE)
  utils::write.csv(records[-(1:100), ], con <- gzfile(half[2]), row.names = FALSE)
  expect_same_shards(shards_of(half, piece = 41, size = 150), whole)
})

test_that("Parquet files are pieces", {
  skip_if_not_installed("nanoparquet")
  x <- planted_table()
  records <- as_records(x)
  files <- tempfile(c("a", "b"), fileext = ".parquet")
  nanoparquet::write_parquet(records[1:200, ], files[1])
  nanoparquet::write_parquet(records[-(1:200), ], files[2])
  expect_same_shards(shards_of(files), shards_of(records))
})

test_that("a query is fetched in pieces", {
  skip_if_not_installed("DBI")
  records <- as_records(planted_table())
  seen <- new.env()
  seen$at <- 0
  seen$asked <- numeric()
  fetch <- function(res, n = -1, ...) {
    seen$asked <- c(seen$asked, n)
    found <- records[seen$at + seq_len(min(n, nrow(records) - seen$at)), ]
    seen$at <- seen$at + nrow(found)
    found
  }
  methods::setClass("query_of_test", contains = getExportedValue("DBI", ".__C__DBIResult"), where = environment())
  methods::setMethod(getExportedValue("DBI", "dbFetch"), "query_of_test", fetch, where = environment())
  expect_same_shards(shards_of(methods::new("query_of_test"), piece = 100), shards_of(records))
  expect_true(all(seen$asked == 100))
})

test_that("numbers are names, written in full", {
  records <- data.frame(list = c(100000, 2, 100000, 7), key = c(5e6, 5e6, 1, NA))
  x <- shards(records, tempfile(), site = "list", taxon = "key")
  expect_identical(x$attributes, c("1", "5000000"))
  expect_identical(unname(as.matrix(x[c("100000", "2", "7"), ])), rbind(c(1, 1), c(0, 1), c(0, 0)))
})

test_that("a site is one row, whatever its name is in each piece", {
  feed <- function(pieces) {
    at <- 0
    function(n) {
      at <<- at + 1
      if (at <= length(pieces)) pieces[[at]]
    }
  }
  make <- function(...) shards(feed(list(...)), tempfile(), site = "site", taxon = "taxon", size = 1)
  numbers <- make(
    data.frame(site = 1:300, taxon = "a"), data.frame(site = c(1:300, 0.5), taxon = "b"),
    data.frame(site = factor(1:300), taxon = "c"), data.frame(site = sprintf(" %d ", 1:300), taxon = factor(" a")),
    data.frame(site = integer(), taxon = character())
  )
  expect_identical(dim(numbers), c(301, 3))
  expect_identical(sum(numbers$shards$ones), 901L)
  latin <- "Par\xeds"
  Encoding(latin) <- "latin1"
  text <- make(
    data.frame(site = c(latin, "b"), taxon = "Par\xeds"), data.frame(site = enc2utf8(latin), taxon = c("", "x"))
  )
  expect_setequal(site_table(text)$site, c("b", enc2utf8(latin)))
  expect_identical(text$attributes, c(enc2utf8(latin), "x"))
  midnight <- as.POSIXct(c("2020-01-01 00:00", "2020-01-01 10:00"), tz = "UTC")
  moments <- make(data.frame(site = midnight[1], taxon = "a"), data.frame(site = midnight, taxon = "b"))
  expect_setequal(site_table(moments)$site, c("2020-01-01 00:00:00", "2020-01-01 10:00:00"))
  expect_error(make(data.frame(site = c("a", " "), taxon = "a")), "NA or blank in record 2")
})

test_that("covariates keep their class, and may be unknown of a site", {
  day <- as.Date(c("2020-01-01", NA, "2021-02-03"))
  records <- data.frame(s = c("a", "b", "c"), t = "x", n = c(1, NA, 2.5), day = day, moment = as.POSIXct(day))
  x <- shards(records, tempfile(), site = "s", taxon = "t", site_data = c("n", "day", "moment"), piece = 1)
  rows <- site_table(x)
  rows <- rows[order(rows$site), ]
  for (name in x$along) expect_equal(rows[[name]], records[[name]])
  cells <- matrix(c(1, 0, 0, 1, 1, 0), 3, dimnames = list(c("a", "b", "c"), NULL))
  along <- data.frame(n = 1:3, row.names = c("c", "a", "b"))
  expect_identical(site_table(shards(cells, tempfile(), site_data = along))$n, c(2L, 3L, 1L))
  rownames(along)[1] <- "d"
  expect_error(shards(cells, tempfile(), site_data = along), "they lack \"c\"", class = "multicause_input_error")
})

write_bytes <- function(lines, end = "\n") {
  file <- tempfile(fileext = ".csv")
  bytes <- lapply(lines, function(line) c(charToRaw(line), charToRaw(end)))
  writeBin(unlist(bytes), file)
  file
}

test_that("text files are read as GBIF, eBird and spreadsheets write them, and no record is lost", {
  make <- function(file, ..., piece = 2) shards(file, tempfile(), site = "site", taxon = "taxon", piece = piece, ...)
  names_in <- function(x) list(sort(site_table(x)$site), x$attributes)
  gbif <- write_bytes(c("gbifID\tsite\ttaxon", "1\tO\"Brien\tx", "2\tb\ty", "3\tc\"\tz"))
  expect_identical(names_in(make(gbif)), list(c("O\"Brien", "b", "c\""), c("x", "y", "z")))
  sheet <- write_bytes(c("\xef\xbb\xbf\"site\";\"taxon\"", "\"a; b\";x", "c;\"y \"\"z\"\"\"", ""), "\r\n")
  expect_identical(names_in(make(sheet)), list(c("a; b", "c"), c("x", "y \"z\"")))
  for (accent in c("\xed", "\xc3\xad")) {
    x <- make(write_bytes(c("site,taxon", "a,x", sprintf("b,Par%ss", accent), "c,y", "d,z")))
    expect_identical(names_in(x), list(c("a", "b", "c", "d"), c("Par\u00eds", "x", "y", "z")))
  }
  expect_error(make(write_bytes(c("site,taxon", "a,x", "b,y", "c,x", "d"))), "line 5 of .* does not",
    class = "multicause_input_error")
  expect_error(make(write_bytes(c("site,taxon", "a,x", "b,y", "c,\"x", "d,y"))), "after line 3 of .* does not",
    class = "multicause_input_error")
  expect_error(make(write_bytes("place|taxon")), "\"place|taxon\" of .* lacks \"site\", \"taxon\"",
    class = "multicause_input_error")
  # A piece does not determine the type of a column.
  of <- function(values) {
    x <- make(write_bytes(c("site,taxon,e", paste0(c("a", "b", "a", "d"), ",x,", values))), site_data = "e")
    rows <- site_table(x)
    rows$e[order(rows$site)]
  }
  expect_identical(of(c("01", "2", "01", "zz")), c("01", "2", "zz"))
  expect_identical(of(c("T", "T", "T", "S")), c("T", "T", "S"))
  expect_identical(of(c("1", "", "1.0", "2.5")), c(1, NA, 2.5))
})

test_that("a presence wins over an unknown record, and a taxon may be given that nobody found", {
  records <- data.frame(s = c("a", "a", "b", "b"), t = c("x", "x", "x", "y"), found = c(NA, 1, NA, 0))
  x <- shards(records, tempfile(), site = "s", taxon = "t", present = "found", taxa = c("z", "y", "x"))
  expect_identical(as.matrix(x[c("a", "b"), ]), rbind(a = c(z = 0, y = 0, x = 1), b = c(0, 0, NA)))
})

test_that("wrong records and folders are refused with what is wrong", {
  records <- data.frame(s = c("a", NA), t = c("x", "y"), e = 1:2, p = c(1, -2))
  make <- function(..., x = records) shards(x, tempfile(), ...)
  expect_snapshot(error = TRUE, {
    make(site = "s", taxon = "t")
    make(site = "s")
    make(site = "s", taxon = "species")
    make(site = "t", taxon = "s", present = "p")
    make(site = "s", taxon = "t", taxa = "y", x = records[1, ])
    make(site = "s", taxon = "t", site_data = "e", x = transform(records, s = "a"))
    make(site = "s", taxon = "t", x = records[0, ])
    make(site = "s", taxon = "t", x = "no such file.csv")
    make(site = "s", taxon = "t", x = matrix(1, 2, 2))
    make(x = matrix(1:4, 2))
    shards(records)
  })
  folder <- tempfile()
  dir.create(folder)
  writeLines("mine", file.path(folder, "mine.txt"))
  expect_error(shards(matrix(1, 2, 2), folder), "holds other files, \"mine.txt\"", class = "multicause_input_error")
  expect_identical(list.files(folder), "mine.txt")
  expect_error(shards(folder), "has no manifest", class = "multicause_input_error")
  x <- shards(matrix(c(1, 0, 0, 1), 2), tempfile())
  expect_error(shards(matrix(1, 2, 2), x$path), "holds shards already", class = "multicause_input_error")
  expect_identical(shards(x$path), x)
  expect_error(x[, 1], "Select some rows", class = "multicause_input_error")
  expect_error(x[3, ], "whole numbers from 1 to 2", class = "multicause_input_error")
})

test_that("other models and verbs say that they do not take shards", {
  x <- shards(matrix(c(1, 0, 0, 1), 2), tempfile())
  expect_error(plca(x, 2), "in shards, which aspect_bernoulli\\(\\) and some", class = "multicause_input_error")
  expect_error(bmf(x, 2), "take some rows", class = "multicause_input_error")
})

# Every file, truncated or with one byte changed.
test_that("a file that was cut off or changed is named", {
  x <- planted_table(60, 20)
  for (what in c("cells-00001.bin", "rows-00001.txt", "manifest.txt")) {
    for (harm in c("cut", "change", "remove")) {
      made <- shards(x, tempfile(), size = 100)
      file <- file.path(made$path, what)
      bytes <- readBin(file, "raw", 1e6)
      middle <- length(bytes) %/% 2
      if (harm == "cut") bytes <- bytes[seq_len(middle)]
      if (harm == "change") bytes[middle] <- xor(bytes[middle], as.raw(1))
      if (harm == "remove") unlink(file) else writeBin(bytes, file)
      expect_error(shards(made$path)[1:60, ], if (harm == "remove") NULL else basename(file))
    }
  }
})

test_that("one file of shards or of rows does not pass for another", {
  table <- diag(64)
  rownames(table) <- sprintf("s%02d", 1:64)
  x <- shards(table, tempfile(), size = 60)
  swap <- function(files) {
    aside <- tempfile()
    file.rename(files[1], aside)
    file.rename(files[2], files[1])
    file.rename(aside, files[2])
  }
  start <- list(aspects = matrix(0.1, 2, 64))
  fit <- short_fit(x, 2, start = start, control = fit_control(max_iter = 2, checkpoint = tempfile()))
  size <- file.size(files <- membership_file(fit$folder, x$shards$shard, fit$version))
  alike <- files[size == size[anyDuplicated(size)]][1:2]
  swap(alike)
  expect_error(predict(fit, type = "membership"), basename(alike[1]), class = "multicause_shard_damaged")
  for (what in c("cells", "rows")) {
    files <- list.files(x$path, what, full.names = TRUE)[1:2]
    swap(files)
    expect_error(x[1, ], basename(files[1]), class = "multicause_shard_damaged")
    swap(files)
  }
  unlink(files)
  expect_error(site_table(x), "is not there: put it back", class = "multicause_shard_damaged")
})

test_that("writing that was killed ends in nothing, and begins anew", {
  skip_if_not_installed_here()
  folder <- tempfile()
  x <- planted_table()
  saved <- tempfile()
  saveRDS(as_records(x), saved)
  child <- start_child(sprintf("
    library(multicause)
    records <- readRDS(%s)
    n <- 0
    feed <- function(size) { n <<- n + 1; if (n < 3) records else Sys.sleep(60) }
    shards(feed, %s, site = 'site', taxon = 'taxon', present = 'found', site_data = 'effort')
  ", deparse(saved), deparse(folder)))
  patience <- Sys.time() + 30
  buckets <- function() Sys.glob(file.path(paste0(folder, "-unfinished-*"), "buckets", "*"))
  while (!length(buckets()) && Sys.time() < patience) Sys.sleep(0.05)
  tools::pskill(child, tools::SIGKILL)
  Sys.sleep(0.2)
  expect_error(shards(folder), "was interrupted", class = "multicause_input_error")
  made <- shards(
    as_records(x), folder, site = "site", taxon = "taxon", present = "found", site_data = "effort"
  )
  expect_same_shards(made, shards_of(as_records(x)))
  expect_identical(sum(made$shards$ones), sum(x, na.rm = TRUE) |> as.integer())
  expect_false(any(c("buckets", "unfinished") %in% list.files(folder)))
  expect_length(Sys.glob(paste0(folder, "-*")), 0L)
})

test_that("shards say what they are", {
  x <- shards_of(as_records(planted_table()), size = 200)
  shown <- utils::capture.output(print(x))
  expect_match(shown[1], "Shards: 240 sites x 40 taxa, [0-9 ]+ presences \\([0-9.]+ % of the cells\\)")
  expect_match(shown[1], "60 cells unknown")
  expect_match(shown[3], "With the rows: effort")
})

test_that("what has the right checksum but does not fit together is named and not followed", {
  x <- planted_table(40, 12, missing = 6)
  x[1, 1:3] <- c(1, 1, NA)
  made <- shards(x, tempfile(), size = 60, site_data = data.frame(effort = 1:40))
  refused <- function(file, use) {
    error <- expect_error(use(), basename(file), fixed = TRUE, class = "multicause_input_error")
    expect_s3_class(error, "multicause_shard_damaged")
  }
  file <- manifest_file(made$path)
  manifest <- read_texts(file)
  n <- length(manifest$rows)
  parts <- c(
    lapply(setdiff(names(manifest), "along"), function(name) manifest[setdiff(names(manifest), name)]),
    lapply(setdiff(names(manifest), c("format", "version", "attributes", "along", "cells", "names", "covariates")),
      function(name) replace(manifest, name, list(replace(manifest[[name]], 1, "-1")))),
    list(
      replace(manifest, "rows", list(rep("1e10", n))), replace(manifest, "ones", list(rep("x", n))),
      replace(manifest, "column_sum", list(rep("41", 12))), replace(manifest, "attributes", list("t01")),
      replace(manifest, "missing", list(c("0.5", manifest$missing[-1]))), list(format = "3"), list(a = "b")
    )
  )
  for (part in parts[-1]) {
    write_texts(part, file)
    if (identical(part$format, "3")) {
      if (length(part$attributes)) refused(file, function() shards(made$path))
    } else {
      expect_error(shards(made$path), "was written in format", class = "multicause_input_error")
    }
  }
  for (lines in list("format\t99999999", "format\t-1\n", "no number", "\xff\t0", "", character())) {
    write_summed(file, function(con) writeBin(charToRaw(paste0(lines, collapse = "\n")), con))
    expect_error(shards(made$path), "manifest.txt|was written in format", class = "multicause_input_error")
  }
  write_texts(manifest, file)
  expect_identical(as.matrix(shards(made$path)[1:40, ]), x)

  file <- shard_file(made$path, 1L, "cells")
  cells <- stats::setNames(read_vectors(file, 5L), c("dim", "start", "column", "na_start", "na_column"))
  bytes <- readBin(file, "raw", 1e6)
  spoil <- function(name, at, value) {
    cells[[name]][at] <- value
    cells
  }
  last <- length(cells$start)
  for (wrong in list(
    spoil("column", 2, 12L), spoil("column", 2, -1L), spoil("column", 2, NA), spoil("column", 2, 0L),
    spoil("column", 2, 1.5), spoil("na_column", 1, 1L), spoil("na_column", 1, 1e9L), spoil("start", 1, 1L),
    spoil("start", 2, 1e6L), spoil("start", 3, 0L), spoil("start", last, 1L), spoil("dim", 1, 1e6L),
    spoil("dim", 2, 1e9L), spoil("dim", 1, -1L), replace(cells, "na_start", list(integer())), cells[-5]
  )) {
    here <- made
    here$shards$cells[1] <- write_vectors(wrong, file)
    refused(file, function() here[1:2, ])
    refused(file, function() short_fit(here, 2, control = fit_control(max_iter = 2, n_start = 1)))
  }
  writeBin(bytes, file)
  # A length beyond the end of the file.
  long <- writeBin(2e9L, raw(), endian = "little")
  bytes[13:16] <- long
  body <- length(bytes) - 32L
  writeBin(bytes[seq_len(body)], file)
  here <- made
  here$shards$cells[1] <- named_sum(file, read_sum(file, body)$sum)
  write_to(file, "ab", function(con) writeBin(charToRaw(here$shards$cells[1]), con))
  refused(file, function() here[1:2, ])

  file <- shard_file(made$path, 2L, "rows")
  rows <- read_texts(file)
  numbers <- read_vectors(shard_file(made$path, 2L, "along"), 1L)
  for (wrong in list(
    list(), rows["names"], replace(rows, "names", list(rows$names[-1])), replace(rows, "columns", list("another")),
    replace(rows, "kinds", list("function")), replace(rows, "kinds", list(c("numeric", "character"))),
    replace(rows, "kinds", list("factor")), replace(rows, "kinds", list(NA_character_))
  )) {
    here <- made
    here$shards$names[2] <- write_texts(wrong, file)
    refused(file, function() site_table(here))
  }
  write_texts(rows, file)
  here <- made
  here$shards$along[2] <- write_vectors(list(numbers[[1]][-1]), shard_file(made$path, 2L, "along"))
  refused(file, function() site_table(here))
})

test_that("a folder holds no object of R, and any text and all kinds of columns come back", {
  names <- c("a\\n", "b\nc", "\\N", "d\te\r", "\u00e9\\s", "f", "g\\", "NA")
  cells <- matrix(rep(c(1, 0), 8), 8, dimnames = list(names, c("\u00fc", "x\ny")))
  along <- data.frame(
    text = c(NA, "\\N", "x\ty", "\n", "", "z", "NA", "\u00df"), number = c(NA, NaN, Inf, -0, pi, 1e-300, 1, 2),
    whole = c(NA, 1:7), flag = c(NA, TRUE, FALSE, TRUE, TRUE, TRUE, TRUE, FALSE),
    kind = factor(rep(c("u", NA, "v", "u"), 2)),
    rank = factor(rep(c("lo", "hi"), 4), c("lo", "hi"), ordered = TRUE), day = as.Date("2020-01-01") + 0:7,
    moment = as.POSIXct("2020-01-01 10:00", tz = "Europe/Helsinki") + 0:7, wait = as.difftime(1:8 + 0, units = "hours")
  )
  x <- shards(cells, tempfile(), size = 3, site_data = along)
  expect_identical(shards(x$path), x)
  expect_identical(site_table(x)$site, names)
  expect_identical(as.data.frame(as.list(site_table(x)[names(along)])), along)
  expect_identical(as.matrix(x), cells)
  expect_match(list.files(x$path), "[.](bin|txt)$")
  starts <- lapply(list.files(x$path, full.names = TRUE), readBin, "raw", 2L)
  expect_false(any(vapply(starts, identical, NA, charToRaw("X\n"))))
  local <- as.POSIXct("2020-01-01 10:00") + 0:7 # of no zone
  expect_identical(site_table(shards(cells, tempfile(), site_data = data.frame(local)))$local, local)
  for (wrong in list(I(as.list(1:8)), complex(8), structure(1:8, class = "person"))) {
    along$wrong <- wrong
    expect_error(shards(cells, tempfile(), site_data = along), "factors, dates or times: \"wrong\" is",
      class = "multicause_input_error")
  }
})

test_that("of two calls for one folder one ends and says why, and the folder is the other's", {
  skip_if_not_installed_here()
  folder <- tempfile()
  x <- planted_table(60, 20)
  begun <- tempfile()
  said <- tempfile()
  child <- start_child(sprintf("
    library(multicause)
    n <- 0
    feed <- function(size) {
      n <<- n + 1
      if (n == 2) {
        file.create(%s)
        patience <- Sys.time() + 60
        while (!dir.exists(%s) || !file.exists(file.path(%s, 'manifest.txt'))) if (Sys.time() > patience) break
      }
      if (n < 4) data.frame(site = 1:9, taxon = 'a')
    }
    said <- tryCatch(shards(feed, %s, site = 'site', taxon = 'taxon'), error = function(e) {
      paste(class(e)[1], conditionMessage(e))
    })
    writeLines(as.character(said), %s)
  ", deparse(begun), deparse(folder), deparse(folder), deparse(folder), deparse(said)))
  patience <- Sys.time() + 60
  while (!file.exists(begun) && Sys.time() < patience) Sys.sleep(0.02)
  made <- shards(as_records(x), folder, site = "site", taxon = "taxon", present = "found")
  while (!length(if (file.exists(said)) readLines(said)) && Sys.time() < patience) Sys.sleep(0.02)
  expect_match(readLines(said)[1], "multicause_input_error `path` must be a new folder: .* holds shards already")
  expect_identical(as.matrix(shards(folder)[rownames(x), colnames(x)]), x)
  expect_setequal(list.files(folder), basename(c(
    manifest_file(folder), shard_file(folder, made$shards$shard, "cells"), shard_file(folder, made$shards$shard, "rows")
  )))
  expect_length(Sys.glob(paste0(folder, "-*")), 0L)
})

test_that("a call that another has overtaken ends, and one that fails or is interrupted leaves nothing", {
  folder <- tempfile()
  records <- as_records(planted_table(60, 20))
  pieces <- function(then) {
    n <- 0
    function(size) {
      n <<- n + 1
      if (n == 2) then()
      if (n < 4) records
    }
  }
  make <- function(then) {
    shards(pieces(then), folder, site = "site", taxon = "taxon", present = "found", site_data = "effort")
  }
  left <- function() Sys.glob(paste0(folder, "*"))
  expect_error(make(function() writeLines("another", unfinished_file(folder))), "another has begun in",
    class = "multicause_input_error")
  expect_identical(left(), folder)
  unlink(folder, recursive = TRUE)
  expect_error(make(function() stop("no connection")), "no connection")
  expect_identical(tryCatch(make(signal_interrupt), interrupt = function(e) "stopped"), "stopped")
  expect_identical(left(), character())
  dir.create(folder)
  expect_identical(tryCatch(make(signal_interrupt), interrupt = function(e) "stopped"), "stopped")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), character())
  expect_identical(make(function() NULL)$path, normalizePath(folder))
})

test_that("lines, headers and columns that cannot be of records are told", {
  make <- function(file, ...) shards(file, tempfile(), site = "site", taxon = "taxon", ...)
  refused <- function(file, what) expect_error(make(file), what, class = "multicause_input_error")
  refused(write_bytes(c("site,taxon,taxon", "a,x,y")), "\"taxon\" comes twice")
  refused(data.frame(site = "a", taxon = "x", site = "b", check.names = FALSE), "\"site\" comes twice")
  refused(write_bytes(paste(c("site", "taxon", seq_len(20000)), collapse = ",")), "up to 20 000 columns: .* has 20002")
  long <- tempfile(fileext = ".csv.gz")
  con <- gzfile(long, "wb")
  writeLines(c("site,taxon", "a,x", strrep("b", 10000001)), con)
  close(con)
  refused(long, sprintf("line 3 of \"%s\" is longer", long))
  of <- function(...) {
    x <- make(write_bytes(c("site;taxon;e;f", ...)), site_data = c("e", "f"))
    site_table(x)[c("e", "f")]
  }
  expect_message(got <- of("a;x;1,5;1,234", "b;x;2;", "c;x;;2,345"), "decimal commas: \"e\"")
  expect_identical(got, data.frame(e = c(1.5, 2, NA), f = c("1,234", NA, "2,345")))
  expect_identical(of("a;x;1,5;0.5", "b;x;2.5;1"), data.frame(e = c("1,5", "2.5"), f = c(0.5, 1)))
})

test_that("folders whose names hold wildcards are themselves, and what they match stays", {
  skip_on_os("windows") # no such names there
  folder <- tempfile("wild")
  dir.create(file.path(folder, "run1"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  other <- file.path(folder, "run1", "thesis.txt")
  writeLines("precious", other)
  wrong <- data.frame(site = c("a", "b", NA), taxon = c("x", "y", "z"))
  for (name in c("run[1]", "run*")) {
    expect_error(
      shards(wrong, file.path(folder, name), site = "site", taxon = "taxon"), class = "multicause_input_error"
    )
  }
  expect_true(file.exists(other))
  x <- matrix(c(1, 0, 0, 1), 40, 10)
  made <- shards(x, file.path(folder, "run[1]"), size = 10)
  expect_setequal(list.files(folder), c("run[1]", "run1"))
  # A fit with its memberships, beside one whose folder matches the first one's name as a pattern.
  fit <- function(name) {
    control <- fit_control(n_start = 1, max_iter = 3, checkpoint = file.path(folder, name), progress = FALSE)
    suppressMessages(suppressWarnings(bernoulli_mixture(made, 2, control = control)))
  }
  fit("cp1")
  before <- list.files(file.path(folder, "cp1"), recursive = TRUE)
  fit("cp[1]")
  expect_identical(list.files(file.path(folder, "cp1"), recursive = TRUE), before)
})

test_that("shards take the indices of a matrix, and are one where they fit into memory", {
  x <- planted_table(30, 8, missing = 5)
  s <- shards(x, tempfile("shards-"), size = 10)
  some <- rep(c(TRUE, FALSE), 15)
  expect_identical(as.matrix(s[-(3:30), -1]), x[-(3:30), -1])
  expect_identical(as.matrix(s[some, rep(c(FALSE, TRUE), 4)]), x[some, rep(c(FALSE, TRUE), 4)])
  expect_identical(as.matrix(s[c(9, 2, 9), c(2, 2)]), x[c(9, 2, 9), c(2, 2)])
  expect_identical(as.matrix(tail(s, 2)), tail(x, 2))
  expect_identical(as.matrix(s), x)
  expect_identical(t(s), t(x))
  expect_identical(dimnames(s), dimnames(x))
  expect_null(dimnames(shards(unname(x), tempfile("shards-"))))
  expect_error(s[c(TRUE, FALSE), ], "`i` must be TRUE or FALSE for each of the 30", class = "multicause_input_error")
  expect_error(s[c(-1, 2), ], "`i` must hold", class = "multicause_input_error")
  expect_error(s[-31, ], "`i` must hold", class = "multicause_input_error")
  expect_error(s[, -9], "`i`|Select some rows", class = "multicause_input_error")
  expect_error(s[1, -9], "`j` must hold", class = "multicause_input_error")
})

test_that("columns, taxa and parts that shards cannot have are refused", {
  refused <- function(expr, text) expect_error(expr, text, class = "multicause_input_error")
  records <- data.frame(site = c("a", "b"), taxon = c("t", "u"))
  of_taxa <- function(taxa, ...) shards(records, tempfile(), site = "site", taxon = "taxon", taxa = taxa, ...)
  refused(of_taxa(c("t", "t")), "^`taxa` must be the names of all taxa, each once, or NULL[.]$")
  refused(of_taxa(c("t", "T"), names = "join"),
    "^`taxa` must not name those twice that `names = \"join\"` joins: \"T\", \"t\"[.]$")
  x <- shards(planted_table(20, 6, missing = 0), tempfile(), size = 60)
  refused(x[, 1], "^Select some rows, x\\[i, \\], by number or name: shards may not fit into memory[.]$")
  file <- tempfile(fileext = ".csv")
  of_file <- function(...) {
    writeLines(c(...), file)
    shards(file, tempfile(), site = "site", taxon = "taxon", site_data = "lat")
  }
  header <- "^`x` must begin with a header, with commas, tabs or semicolons between its columns: "
  refused(of_file("place,taxon", "a,t"),
    paste0(header, "\"place,taxon\" of .* lacks \"site\", \"taxon\", \"lat\"[.]$"))
  refused(of_file(character()), paste0(header, "the first line of .* lacks "))
  expect_message(of_file("site;taxon;lat", "a;t;1,5", "b;t;2,5"), "Numbers with decimal commas: \"lat\".",
    fixed = TRUE, class = "multicause_message")
})

test_that("packages that are lacking, and lines that are too long, are named", {
  without_packages(c("nanoparquet", "DBI"))
  file <- tempfile(fileext = ".parquet")
  writeLines("site,taxon", file)
  refused <- function(x, text) {
    expect_error(shards(x, tempfile(), site = "site", taxon = "taxon"), text, class = "multicause_input_error")
  }
  refused(file, "^Parquet files as `x` need package nanoparquet[.]$")
  refused(structure(list(), class = "DBIResult"), "^Queries as `x` need package DBI[.]$")
  text <- tempfile(fileext = ".csv")
  writeLines(c("site,taxon", paste0("a,", strrep("t", 3e6))), text)
  bind_in_namespace("most_line", 1e6)
  refused(text, "^`x` must be text in lines of up to 1000000 bytes: line 2 of .* is longer[.]$")
})

test_that("a file that holds other data says which", {
  x <- planted_table(40, 12, missing = 0)
  x[1, 1:2] <- 1
  made <- shards(x, tempfile(), size = 60)
  holds <- function(what, use) {
    text <- paste0("has the right checksum, but holds ", what, ": make the shards, or the fit, anew.")
    expect_error(use(), text, fixed = TRUE, class = "multicause_shard_damaged")
  }
  file <- shard_file(made$path, 1L, "cells")
  cells <- read_vectors(file, 5L)
  here <- made
  with_cells <- function(part, value) {
    here$shards$cells[1] <<- write_vectors(replace(cells, part, list(value)), file)
    function() here[1:2, ]
  }
  holds(sprintf("another table than the %d x 12 cells of its manifest", made$shards$rows[1]), with_cells(1, c(1L, 1L)))
  holds("other numbers of cells than in its manifest", with_cells(2, 0L))
  holds("cells of row 1 that are not in order or not in the table", with_cells(3, replace(cells[[3]], 2, -1L)))
  with_cells(1, cells[[1]])
  file <- shard_file(made$path, 1L, "rows")
  here$shards$names[1] <- write_texts(replace(read_texts(file), "kinds", list("function")), file)
  holds("columns of kinds that are not known", function() site_table(here))
  file <- manifest_file(made$path)
  manifest <- read_texts(file)
  write_texts(replace(manifest, "rows", list(rep("x", length(manifest$rows)))), file)
  holds("`rows` that is none of a manifest", function() shards(made$path))
})

test_that("what is neither records nor columns of them is refused", {
  records <- data.frame(site = c("a", "b"), taxon = c("t", "u"))
  of <- function(x, ...) shards(x, tempfile(), site = "site", taxon = "taxon", ...)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(of(records, site_data = 1), "`site_data` must be names of columns of the records, not 1.")
  refused(of(1), "`x` must be a data frame of records, a table, names of files, a DBI result or a function, not 1.")
  refused(of(data.frame(site = "a", taxon = NA_character_)), "`x` must hold presences: no record has a taxon.")
  refused(of(records)[1], "Shards have rows and columns: x[i, ], x[, j] or x[i, j].")
})
