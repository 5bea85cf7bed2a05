# Shards: from records and tables to files and back. Also of R/shards_files.R.

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
  bare <- shards(unname(x), tempfile(), along = data.frame(effort = seq_len(nrow(x))))
  expect_identical(row_data(bare)$effort, seq_len(nrow(x)))
  expect_identical(as.matrix(bare[1:3, ]), unname(x[1:3, ]))
})

# Files of names and covariates need not be the same byte for byte.
expect_same_shards <- function(x, y) {
  expect_identical(x$shards$cells, y$shards$cells)
  expect_identical(row_data(x), row_data(y))
}

test_that("scattered records are joined, whatever the pieces and the source", {
  x <- planted_table()
  records <- as_records(x)
  whole <- shards_of(records, size = 150)
  rows <- row_data(whole)
  expect_setequal(rows$name, rownames(x))
  expect_identical(rows$effort, match(rows$name, rownames(x)))
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

test_that("a find wins over an unknown record, and a taxon may be given that nobody found", {
  records <- data.frame(s = c("a", "a", "b", "b"), t = c("x", "x", "x", "y"), found = c(NA, 1, NA, 0))
  x <- shards(records, tempfile(), site = "s", taxon = "t", present = "found", taxa = c("z", "y", "x"))
  expect_identical(as.matrix(x[c("a", "b"), ]), rbind(a = c(z = 0, y = 0, x = 1), b = c(0, 0, NA)))
})

test_that("wrong records and folders are refused with what is wrong", {
  records <- data.frame(s = c("a", NA), t = c("x", "y"), e = 1:2, p = c(1, 2))
  make <- function(..., x = records) shards(x, tempfile(), ...)
  expect_snapshot(error = TRUE, {
    make(site = "s", taxon = "t")
    make(site = "s")
    make(site = "s", taxon = "species")
    make(site = "t", taxon = "s", present = "p")
    make(site = "s", taxon = "t", taxa = "y", x = records[1, ])
    make(site = "s", taxon = "t", along = "e", x = transform(records, s = "a"))
    make(site = "s", taxon = "t", x = records[0, ])
    make(site = "s", taxon = "t", x = "no such file.csv")
    make(site = "s", taxon = "t", x = matrix(1, 2, 2))
    make(x = matrix(1:4, 2))
    shards(records)
  })
  folder <- tempfile()
  dir.create(folder)
  writeLines("mine", file.path(folder, "mine.txt"))
  expect_error(shards(matrix(1, 2, 2), folder), "holds other files", class = "multicause_input_error")
  expect_identical(list.files(folder), "mine.txt")
  expect_error(shards(folder), "has no manifest", class = "multicause_input_error")
  x <- shards(matrix(c(1, 0, 0, 1), 2), tempfile())
  expect_error(shards(matrix(1, 2, 2), x$path), "holds shards already", class = "multicause_input_error")
  expect_identical(shards(x$path), x)
  expect_error(x[, 1], "Some rows must be asked for", class = "multicause_input_error")
  expect_error(x[3, ], "whole numbers from 1 to 2", class = "multicause_input_error")
})

test_that("other models and verbs say that they do not take shards", {
  x <- shards(matrix(c(1, 0, 0, 1), 2), tempfile())
  expect_error(plca(x, 2), "in shards, which aspect_bernoulli\\(\\) and some", class = "multicause_input_error")
  expect_error(bmf(x, 2), "take some rows", class = "multicause_input_error")
})

# Every file, cut short or with one byte changed.
test_that("a file that was cut off or changed is named", {
  x <- planted_table(60, 20)
  for (what in c("cells-00001.bin", "rows-00001.rds", "manifest.rds")) {
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

test_that("writing that was killed ends in nothing, and begins anew", {
  skip_on_cran()
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
    shards(feed, %s, site = 'site', taxon = 'taxon', present = 'found', along = 'effort')
  ", deparse(saved), deparse(folder)))
  patience <- Sys.time() + 30
  while (!length(list.files(file.path(folder, "buckets"))) && Sys.time() < patience) Sys.sleep(0.05)
  tools::pskill(child, tools::SIGKILL)
  Sys.sleep(0.2)
  expect_error(shards(folder), "was interrupted", class = "multicause_input_error")
  made <- shards(
    as_records(x), folder, site = "site", taxon = "taxon", present = "found", along = "effort"
  )
  expect_same_shards(made, shards_of(as_records(x)))
  expect_identical(sum(made$shards$ones), sum(x, na.rm = TRUE) |> as.integer())
  expect_false(any(c("buckets", "unfinished") %in% list.files(folder)))
})

test_that("shards say what they are", {
  x <- shards_of(as_records(planted_table()), size = 200)
  shown <- utils::capture.output(print(x))
  expect_match(shown[1], "Shards: 240 sites x 40 taxa, [0-9 ]+ presences \\([0-9.]+ % of the cells\\)")
  expect_match(shown[1], "60 cells unknown")
  expect_match(shown[3], "With the rows: effort")
})
