# Fits that were edited after they were made: verbs may end in an error of R, but nothing may end R itself. The glue
# checks the shapes of what reaches a kernel.

# Run in a process of its own.
edit_and_use <- function(fits) {
  edits <- list(
    function(value) NULL, as.character, function(value) value[-1L], function(value) value[0L],
    function(value) if (is.matrix(value)) value[-1L, , drop = FALSE] else rev(c(value, value)),
    function(value) if (is.matrix(value)) value[, -1L, drop = FALSE] else list(value),
    function(value) if (is.numeric(value)) replace(value, 1L, NaN) else "a",
    function(value) if (is.numeric(value)) value * -1e9 else value
  )
  verbs <- list(
    print, summary, fitted, predict, residuals, simulate, impute, false_absences, denoise, deficiency, identifiability,
    function(fit) predict(fit, fits[[1L]]$x[1:5, ]), function(fit) test_loglik(fit, fits[[1L]]$x[1:5, ]), tidy, augment
  )
  use <- function(fit) for (verb in verbs) try(suppressWarnings(suppressMessages(verb(fit))), silent = TRUE)
  for (fit in fits) {
    for (edit in edits) {
      for (name in names(fit$param)) {
        edited <- fit
        edited$param[name] <- list(edit(fit$param[[name]]))
        use(edited)
      }
      for (name in intersect(c("dims", "names", "x", "kept", "margins"), names(fit))) {
        edited <- fit
        edited[name] <- list(if (is.list(fit[[name]])) lapply(fit[[name]], edit) else edit(fit[[name]]))
        use(edited)
      }
    }
  }
}

test_that("no edited fit of any model ends R", {
  skip_if_not_installed_here()
  fits <- tempfile(fileext = ".rds")
  saveRDS(fits_of_all(), fits)
  code <- c(
    "library(multicause)", paste("use <-", paste(deparse(edit_and_use), collapse = "\n")),
    "invisible(utils::capture.output(use(readRDS(Sys.getenv(\"FITS\")))))", "cat(\"the end\\n\")"
  )
  output <- run_child(code, paste0("FITS=", fits))
  expect_null(attr(output, "status"))
  expect_identical(utils::tail(output, 1L), "the end")
})

test_that("starts of a noisy-OR fit are fits of their own", {
  x <- fits_of_all()$noisy_or$x
  set.seed(3)
  for (inference in c("exact", "variational")) {
    control <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, keep_starts = TRUE)
    fit <- noisy_or(x, 2, inference = inference, control = control)
    found <- modes(fit)
    # Sources may come in another order than in the fit.
    on <- found$fits[[1L]]$param$activation
    expect_equal(unname(sort(colSums(on))), unname(sort(colSums(fit$param$activation))), tolerance = 1e-3)
    expect_equal(on, predict(found$fits[[1L]], x, "activation"), ignore_attr = TRUE, tolerance = 1e-8)
  }
})
