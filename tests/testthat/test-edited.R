# Fits edited after they were made: verbs may end in an R error but must not crash R. The glue checks the shapes of
# everything that reaches a kernel.

skip_on_cran()

# Runs in a separate process, like the next function.
edit_and_use <- function(fits) {
  edits <- list(
    function(value) NULL, as.character, function(value) value[-1L], function(value) value[0L],
    function(value) if (is.matrix(value)) value[-1L, , drop = FALSE] else rev(c(value, value)),
    function(value) if (is.matrix(value)) value[, -1L, drop = FALSE] else list(value),
    function(value) if (is.numeric(value)) replace(value, 1L, NaN) else "a",
    function(value) if (is.numeric(value)) value * -1e9 else value
  )
  verbs <- list(
    print, summary, fitted, predict, residuals, simulate, impute, false_absences, denoise, by_taxon, identifiability,
    function(fit) predict(fit, fits[[1L]]$x[1:5, ]), function(fit) test_loglik(fit, fits[[1L]]$x[1:5, ]), tidy, augment
  )
  use <- function(fit) for (verb in verbs) try(suppressWarnings(suppressMessages(verb(fit))), silent = TRUE)
  without_components <- function(fit) {
    k <- fit$dims[["k"]]
    keep <- function(value) {
      if (length(dim(value)) != 2L) {
        return(if (length(value) == k) value[0L] else value)
      }
      value[if (nrow(value) == k) 0L else TRUE, if (ncol(value) == k) 0L else TRUE, drop = FALSE]
    }
    fit$dims[["k"]] <- 0L
    fit[c("param", "fixed")] <- list(lapply(fit$param, keep), fit$fixed[0L])
    fit
  }
  for (fit in fits) {
    use(try(without_components(fit), silent = TRUE))
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

# The same for the neighbours stored in a fit: every element of `smooth` (`near`), at any depth.
edit_neighbours <- function(fits) {
  edits <- list(
    function(value) NULL, function(value) if (is.numeric(value)) replace(value, TRUE, NaN) else NaN,
    function(value) if (is.atomic(value)) replace(value, TRUE, NA) else NA, function(value) value[-1L],
    function(value) if (is.numeric(value)) array(as.character(value), dim(value)) else "a",
    function(value) if (is.numeric(value)) value * -1 - 1 else value,
    function(value) if (is.numeric(value)) replace(value, TRUE, 1e300) else value, function(value) list(),
    function(value) if (isS4(value)) methods::initialize(value, i = replace(value@i, 1L, -5L)) else value,
    function(value) if (isS4(value)) methods::initialize(value, p = rev(value@p)) else value
  )
  edited <- function(value) {
    deeper <- lapply(seq_along(if (is.list(value)) value), function(i) {
      lapply(edited(value[[i]]), function(new) {
        value[i] <- list(new)
        value
      })
    })
    c(lapply(edits, function(edit) try(edit(value), silent = TRUE)), unlist(deeper, recursive = FALSE))
  }
  some <- fits[[1L]]$x[1:5, ]
  loadNamespace("Matrix")
  for (fit in fits) {
    part <- intersect(c("smooth", "near"), names(fit))
    along <- lapply(fit[[part]]$given, function(given) given[1:5, , drop = FALSE])
    verbs <- list(
      summary, function(fit) curves(fit, bandwidth = 2), predict,
      function(fit) with_seed(1, bootstrap_draws(fit, 1)), function(fit) predict(fit, some),
      function(fit) predict(fit, some, along = along)
    )
    for (new in edited(fit[[part]])) {
      fit[part] <- list(new)
      for (verb in verbs) try(suppressWarnings(suppressMessages(verb(fit))), silent = TRUE)
    }
  }
}

# Checks, in a separate process that must finish, that an edit causes at most an R error.
expect_survived <- function(use, fits) {
  file <- tempfile(fileext = ".rds")
  saveRDS(fits, file)
  code <- c(
    "library(multicause)", paste("use <-", paste(deparse(use), collapse = "\n")),
    "invisible(utils::capture.output(use(readRDS(Sys.getenv(\"FITS\")))))", "cat(\"the end\\n\")"
  )
  output <- run_child(code, c(FITS = file))
  expect_null(attr(output, "status"))
  expect_identical(utils::tail(output, 1L), "the end")
}

test_that("no edited fit of any model ends R", {
  skip_if_not_installed_here()
  expect_survived(edit_and_use, fits_of_all())
})

test_that("no fit whose neighbours were edited ends R", {
  skip_if_not_installed_here()
  x <- fits_of_all()$aspect_bernoulli$x
  sites <- list(age = cbind(1:20 / 2, 1:20 / 2 + 1), place = cbind(lng = 1:20, lat = 20:1))
  near <- smooth_over(age = sites$age, place = sites$place, bandwidth = c(age = 2, place = 300), strength = 3)
  joined <- smooth_over(neighbours = Matrix::Matrix(abs(outer(1:20, 1:20, "-")) == 1), strength = 3)
  few <- fit_control(n_start = 1, n_polish = 0, max_iter = 20, progress = FALSE)
  expect_survived(edit_neighbours, suppressWarnings(suppressMessages(list(
    aspect_bernoulli = aspect_bernoulli(x, 3, phantom = "white", smooth = near, control = few),
    joined = aspect_bernoulli(x, 2, smooth = joined, control = few),
    bernoulli_mixture = bernoulli_mixture(x, 2, smooth = near, control = few),
    visits = visits_bernoulli(list(x, x), 2, smooth = near, control = few),
    neighbours_mean = neighbours_mean(x, smooth = near)
  ))))
})

test_that("starts of a noisy-OR fit are fits of their own", {
  x <- fits_of_all()$noisy_or$x
  set.seed(3)
  for (inference in c("exact", "variational")) {
    control <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, keep_starts = TRUE)
    fit <- noisy_or(x, 2, inference = inference, control = control)
    found <- modes(fit)
    # Sources may be in another order than in the fit.
    on <- found$fits[[1L]]$param$activation
    expect_equal(unname(sort(colSums(on))), unname(sort(colSums(fit$param$activation))), tolerance = 1e-3)
    expect_equal(on, predict(found$fits[[1L]], x, "activation"), ignore_attr = TRUE, tolerance = 1e-8)
  }
})
