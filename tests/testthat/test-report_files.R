skip_on_cran()

test_that("text that spreadsheets take for a formula is quoted in csv files, numbers are not", {
  text <- c(
    "=cmd|' /C calc'!A0", "+1+1", "-2-3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\uff1d1", "-1.5e-3", "+2", "-.5",
    "a=1", "'=1", "12", "-", "", NA, "\u00c5-"
  )
  table <- data.frame(text, factor = factor(text), number = -seq_along(text) / 4, whole = -seq_along(text))
  names(table)[2L] <- "=head"
  file <- tempfile(fileext = ".csv")
  write_files(stats::setNames(list(csv_bytes(table)), file))
  classes <- c("character", "character", NA, NA)
  saved <- utils::read.csv(file, check.names = FALSE, colClasses = classes, encoding = "UTF-8")
  quoted <- paste0(ifelse(seq_along(text) %in% c(1:9, 16), "'", ""), text)
  quoted[is.na(text)] <- NA
  quoted <- gsub("\r", "\n", quoted) # as read.csv() has it
  expect_identical(saved[[1L]], quoted)
  expect_identical(saved[[2L]], quoted)
  expect_identical(names(saved), c("text", "'=head", "number", "whole"))
  expect_identical(saved$number, table$number)
  expect_identical(saved$whole, table$whole)
})

test_that("files are put in place whole or not at all", {
  folder <- tempfile("folder")
  dir.create(folder)
  paths <- file.path(folder, c("a", "b", "c"))
  writeLines("old", paths[1L])
  write_files(stats::setNames(list(as.raw(1:9), raw()), paths[1:2]))
  expect_identical(readBin(paths[1L], "raw", 99L), as.raw(1:9))
  expect_identical(file.size(paths[2L]), 0)
  dir.create(paths[3L])
  before <- dir(folder, all.files = TRUE)
  expect_error(write_files(stats::setNames(list(as.raw(1:9)), paths[3L])), "could not be written: is the disk full")
  contents <- stats::setNames(list(raw(), raw()), c(paths[1L], file.path(folder, "none", "a")))
  expect_error(write_files(contents), "none/a\" could not be written")
  expect_identical(readBin(paths[1L], "raw", 99L), as.raw(1:9))
  expect_identical(dir(folder, all.files = TRUE), before)
})

# Mounts a disk of some kilobytes until the calling test ends; skipped without root's rights.
small_disk <- function(kilobytes, frame = parent.frame()) {
  testthat::skip_on_cran()
  testthat::skip_on_os(c("windows", "mac", "solaris"))
  folder <- tempfile("disk")
  dir.create(folder)
  failed <- suppressWarnings(system2(
    "mount", c("-t", "tmpfs", "-o", sprintf("size=%dk", kilobytes), "tmpfs", shQuote(folder)), stdout = FALSE,
    stderr = FALSE
  ))
  testthat::skip_if_not(failed == 0L, "a small disk cannot be mounted")
  do.call(on.exit, list(bquote(system2("umount", .(shQuote(folder)))), add = TRUE), envir = frame)
  folder
}

test_that("on a full disk a report and its tables fail, and what was there stays", {
  testthat::skip_if_not_installed("rmarkdown")
  testthat::skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not at hand")
  disk <- small_disk(64L)
  old <- file.path(disk, "report.html")
  writeLines("old", old)
  fit <- drawn_fit(40, 20, 4, phantom = "white")
  expect_error(report(fit, old), "report.html\" could not be written: is the disk full")
  expect_identical(readLines(old), "old")
  expect_identical(dir(disk, all.files = TRUE, no.. = TRUE), "report.html")

  writeBin(raw(58e3), file.path(disk, "ballast"))
  elsewhere <- tempfile(fileext = ".html")
  expect_error(report(fit, elsewhere, tables = disk, n = 500), "[.]csv\" could not be written: is the disk full")
  expect_false(file.exists(elsewhere))
  expect_setequal(dir(disk, all.files = TRUE, no.. = TRUE), c("report.html", "ballast"))
})

test_that("where the disk of temporary files is full, no report is made of the half of one", {
  testthat::skip_if_not_installed("rmarkdown")
  testthat::skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not at hand")
  skip_if_not_installed_here()
  disk <- small_disk(8000L)
  out <- tempfile("out")
  dir.create(out)
  fit <- tempfile(fileext = ".rds")
  saveRDS(fits_of_all()$bernoulli_mixture, fit)
  # Runs a process with its temporary folder on that disk, for various amounts of free space.
  said <- run_child(c(
    "library(multicause)", sprintf("fit <- readRDS(%s)", deparse(fit)),
    "ballast <- file.path(dirname(tempdir()), 'ballast')",
    "for (kilobytes in c(7000, 10, 120, 300)) {",
    "  unlink(ballast)", "  writeBin(raw(1024 * (7900 - kilobytes)), ballast)",
    sprintf("  file <- file.path(%s, paste0(kilobytes, '.html'))", deparse(out)),
    "  suppressWarnings(try(report(fit, file), silent = TRUE))", "}"
  ), environment = c(TMPDIR = disk))
  expect_null(attr(said, "status"))
  # Every resulting file is the complete report, byte for byte.
  made <- dir(out, all.files = TRUE, no.. = TRUE, full.names = TRUE)
  expect_true("7000.html" %in% basename(made) && !"10.html" %in% basename(made))
  expect_length(unique(unname(tools::md5sum(made))), 1L)
})

test_that("a report needs no home", {
  skip_on_os("windows") # which always has one
  skip_if_not_installed_here()
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"))
  file <- tempfile(fileext = ".html")
  fit <- tempfile(fileext = ".rds")
  saveRDS(fits_of_all()$bernoulli_mixture, fit)
  said <- run_child(c(
    "Sys.unsetenv('HOME')", "library(multicause)", "folder <- getwd()",
    "before <- list.files(folder, all.files = TRUE)",
    sprintf("report(readRDS(%s), %s)", deparse(fit), deparse(file)),
    "cat(Sys.getenv('HOME', 'none'), identical(list.files(folder, all.files = TRUE), before), '\\n')"
  ))
  expect_match(said[length(said)], "none TRUE")
  expect_true(file.exists(file))
})

test_that("a report needs its tools and a whole temporary folder", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- bernoulli_mixture(x, 2, control = fit_control(n_start = 1, max_iter = 0))
  refused <- function(text) {
    expect_error(report(fit, tempfile(fileext = ".html")), text, fixed = TRUE, class = "multicause_input_error")
  }
  expect_error(expect_whole(TRUE, FALSE),
    "The report could not be made: is the disk of tempdir() full? No file was written.", fixed = TRUE)
  old_pandoc <- function() {
    bind_in_namespace("pandoc_available", function(...) FALSE, space = asNamespace("rmarkdown"))
    refused("report() needs pandoc 2.0 or newer: see https://pandoc.org/installing.html, or use RStudio, which")
  }
  if (requireNamespace("rmarkdown", quietly = TRUE)) old_pandoc()
  without_packages("rmarkdown")
  refused("report() needs package rmarkdown: install.packages(\"rmarkdown\").")
})
