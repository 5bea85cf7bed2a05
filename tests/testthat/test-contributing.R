# Checks that statements of CONTRIBUTING.md about the code are true.

contributing <- function() {
  file <- test_path("..", "..", "CONTRIBUTING.md")
  skip_if_not(file.exists(file), "the sources are not at hand")
  readLines(file)
}

test_that("functions and files on the way from which_zeros() to num_gemm() are there", {
  lines <- contributing()
  first <- grep("^### The way from", lines)
  way <- lines[first:(first + grep("^An option", lines[-(1:first)])[1L])]
  found <- function(pattern) unique(unlist(regmatches(way, gregexpr(pattern, way, perl = TRUE))))
  root <- test_path("..", "..")
  files <- found("(?<=`)(R|src)/[a-z_/]+[.][Rc](?=`)")
  expect_gt(length(files), 7L)
  expect_true(all(file.exists(file.path(root, files))))
  code <- c(dir(file.path(root, "R"), full.names = TRUE), dir(file.path(root, "src"), "[.]c$", TRUE, TRUE, TRUE))
  code <- unlist(lapply(code, readLines))
  for (name in found("(?<=`)\\w+(?=[(][)]`)")) {
    defined <- sprintf("^%1$s <- function|^\\w[^;=]*[ *]%1$s[(][^;]*$", name)
    expect_true(any(grepl(defined, code)), label = name)
  }
})

test_that("gates have the same names in .ci/run and on GitHub, and each is a target of the Makefile", {
  root <- test_path("..", "..")
  files <- file.path(root, c(".ci/run", ".github/workflows/gates.yaml", "Makefile"))
  skip_if_not(all(file.exists(files)), "the sources are not at hand")
  listed <- function(file, pattern) {
    line <- grep(pattern, readLines(file), value = TRUE)
    strsplit(gsub(paste0(pattern, "|[])[(]"), "", line), "[ ,]+")[[1L]]
  }
  ours <- listed(files[1L], "^gates=")
  expect_gt(length(ours), 10L)
  expect_identical(listed(files[2L], "^ *gate: "), ours)
  expect_identical(setdiff(ours, sub(":.*", "", grep("^[a-z-]+:", readLines(files[3L]), value = TRUE))), character())
})

# Run in a process of its own: the model of CONTRIBUTING.md as if it were of the package.
use_model <- function(file) {
  lines <- readLines(file)
  space <- asNamespace("multicause")
  here <- new.env(parent = space)
  first <- grep("^site_groups <- function", lines)
  eval(parse(text = lines[first:(first + grep("^```$", lines[-(1:first)])[1L] - 1L)]), here)
  for (name in grep("[.]site_groups", ls(here), value = TRUE)) {
    registerS3method(sub("[.].*", "", name), sub("^[^.]*[.]", "", name), here[[name]], space)
  }
  unlockBinding("model_name", space)
  assign("model_name", function(fit) class(fit)[1L], space)
  set.seed(1)
  x <- early_tetrapods$x[1:40, 1:20]
  x[1, 2] <- NA
  control <- fit_control(n_start = 2, progress = FALSE, keep_starts = TRUE)
  fit <- here$site_groups(x, 3, control = control)
  stopifnot(diff(fit$trace$objective) >= 0, fit$converged, rowSums(fit$param$membership) == 1)
  verbs <- list(
    print, summary, coef, fitted, predict, residuals, simulate, tidy, glance, augment, logLik, AIC, plot,
    modes, impute, function(fit) predict(fit, x[3:1, 20:1]), function(fit) update(fit, k = 2),
    function(fit) test_loglik(fit, x), function(fit) align_components(fit, fit), function(fit) ensemble(list(fit, fit)),
    function(fit) cross_validate(x, 2, here$site_groups, folds = 2, control = control),
    function(fit) select_k(x, 2:3, here$site_groups, "aic", control = control)
  )
  why_not <- list(
    phantoms, false_absences, denoise, by_taxon, identifiability, curves, bootstrap_draws, cooccurrence,
    posterior_draws, BIC
  )
  grDevices::pdf(NULL)
  for (verb in verbs) utils::capture.output(suppressMessages(verb(fit)))
  for (verb in why_not) stopifnot(inherits(tryCatch(verb(fit), error = identity), "multicause_input_error"))
}

test_that("the model in fifty lines works, with every verb or a reason why not", {
  skip_if_not_installed_here()
  lines <- contributing()
  first <- grep("^site_groups <- function", lines)
  block <- lines[first:(first + grep("^```$", lines[-(1:first)])[1L] - 1L)]
  expect_lte(sum(!grepl("^ *#|^$", block)), 50L)
  code <- c(
    "library(multicause)", paste("use <-", paste(deparse(use_model), collapse = "\n")),
    "suppressWarnings(suppressMessages(use(Sys.getenv(\"CONTRIBUTING\"))))", "cat(\"the end\\n\")"
  )
  output <- run_child(code, c(CONTRIBUTING = normalizePath(test_path("..", "..", "CONTRIBUTING.md"))))
  expect_identical(utils::tail(output, 1L), "the end")
})
