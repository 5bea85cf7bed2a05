# The scripts in inst/examples, run as by a new user: from an empty folder, in a separate session.

skip_on_cran()

run_example <- function(name) {
  file <- system.file("examples", paste0(name, ".R"), package = "multicause")
  expect_true(nzchar(file))
  folder <- tempfile("example")
  dir.create(folder)
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  options <- "options(warn = 1, width = 100, cli.progress_show_after = 1e6);"
  call <- sprintf("%s source(%s, echo = TRUE, max.deparse.length = Inf)", options, deparse(file))
  variables <- c(child_environment(), OPENBLAS_NUM_THREADS = "1", R_TESTS = "")
  output <- with_environment(variables, system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(call)), stdout = TRUE, stderr = TRUE
  ))
  list(output = output, status = attr(output, "status"), files = dir(".", all.files = TRUE, no.. = TRUE),
    size = file.size(dir(".")))
}

expect_clean <- function(run, files) {
  expect_null(run$status, info = paste(run$output, collapse = "\n"))
  expect_identical(grep("^(Warning|Error)|warnings?\\(\\)", run$output, value = TRUE), character())
  expect_setequal(run$files, files) # and no Rplots.pdf
  expect_true(all(run$size > 1000))
}

# Skips if the package is not installed, because another session could not find it.
skip_if_loaded <- function() {
  skip_if(nzchar(Sys.getenv("MULTICAUSE_SANITIZED")), "a session of its own would need the sanitizer, too")
  installed <- file.exists(file.path(getNamespaceInfo("multicause", "path"), "Meta", "package.rds"))
  skip_if_not(installed, "the package is loaded from its sources, not installed")
}

test_that("a download of the Paleobiology Database becomes ranked absences and a report", {
  skip_if_loaded()
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not at hand")
  run <- run_example("pbdb_false_absences")
  expect_clean(run, c("false_absences.csv", "report.html"))
  expect_match(run$output, "returned, by `probability`:", all = FALSE)
})

test_that("ten lines lead from a download to a figure for a paper", {
  skip_if_loaded()
  file <- system.file("examples", "pbdb_figure.R", package = "multicause")
  expect_lte(sum(!grepl("^#|^$", readLines(file))), 12L) # ten statements at most, some of two lines
  expect_lte(length(parse(file)), 10L)
  run <- run_example("pbdb_figure")
  expect_clean(run, c("ranges.pdf", "time.pdf"))
})

test_that("a community table becomes compared models", {
  skip_if_loaded()
  skip_if_not_installed("vegan")
  run <- run_example("vegan_compare_models")
  expect_clean(run, "compared.pdf")
  expect_match(run$output, "^ *aspects +[0-9]", all = FALSE)
})

test_that("counts become sparse parts", {
  skip_if_loaded()
  run <- run_example("counts_sparse_parts")
  expect_clean(run, "faunas.pdf")
  expect_match(run$output, "Components per site \\(effective number\\): median 1,", all = FALSE)
})

test_that("the download shipped for examples is a download", {
  file <- system.file("extdata", "pbdb_tetrapods_us.csv.gz", package = "multicause")
  data <- suppressMessages(read_pbdb(file))
  source <- subset(tetrapod_occurrences, cc == "US" & !is.na(genus))
  expect_identical(data$occurrence_no, source$occurrence_no)
  expect_identical(data$genus, source$genus)
  expect_identical(data$lat, source$lat)
  expect_identical(attr(data, "metadata")[["Data License"]], "Creative Commons CC-BY")
})
