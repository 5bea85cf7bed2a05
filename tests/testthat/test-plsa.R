# Tests also R/plsa_methods.R, R/plsa_run.R.

test_that("golden states are met, plain, overcomplete, with priors and with masks", {
  cases <- c(read_golden_counts("plsa"), read_golden_counts("masked"))
  for (name in names(cases)) {
    case <- cases[[name]]
    x <- case$V
    if (!is.null(case$mask)) x[case$mask == 0] <- NA
    for (state in case$states) {
      fit <- keeping_empty_rows(plsa(x, ncol(case$G0),
        sparsity = c(membership = case$beta_G, basis = case$alpha_W), sparsity_scale = "counts",
        missing = case$mask_rule,
        mstep = case$mstep, fixed = if (isTRUE(case$fixW)) "basis" else "none",
        start = list(membership = case$G0, basis = case$W0), control = plain_iterations(state$sweeps)
      ))
      tolerance <- if (state$sweeps <= 10) 1e-10 else 1e-7
      near <- function(got, want) expect_lt(max(abs(unname(got) - want) / pmax(abs(want), 1e-100)), tolerance)
      near(fit$param$membership, state$G)
      near(fit$param$basis, state$W)
      conditional <- case$mask_rule == "conditional"
      expect_equal(fit$loglik, if (conditional) state$loglik_conditional else state$loglik, tolerance = 1e-12)
      if (!conditional) expect_equal(unname(fit$objective), state$logpost, tolerance = 1e-12)
    }
    if (!is.null(case$filled)) expect_equal(unname(impute(fit)), case$filled, tolerance = 1e-7)
  }
})

test_that("one iteration equals the transcription of eqs. (2)-(3), dense, sparse and with missing cells", {
  set.seed(1)
  for (k in c(1, 3, 9)) {
    x <- matrix(rpois(7 * 5, 1.5), 7, 5)
    x[3, ] <- 0
    start <- list(membership = ref_simplex(7, k), basis = ref_simplex(k, 5))
    want <- ref_plsa_pass(x, start$membership, start$basis)
    for (form in list(x, Matrix::Matrix(x, sparse = TRUE))) {
      fit <- keeping_empty_rows(plsa(form, k, estimate = "ml", start = start, control = plain_iterations(1)))
      expect_equal(lapply(fit$param, unname), want, tolerance = 1e-12)
    }
    x[c(2, 12, 30)] <- NA
    want <- ref_plsa_conditional_pass(x, start$membership, start$basis)
    fit <- keeping_empty_rows(plsa(x, k, estimate = "ml", start = start, control = plain_iterations(1)))
    expect_equal(lapply(fit$param, unname), want, tolerance = 1e-12)
    expect_equal(fit$loglik, do.call(ref_plsa_loglik, c(list(x), unname(fit$param))), tolerance = 1e-12)
  }
})

test_that("one iteration over three blocks of rows equals the transcription, gathered and multiplied", {
  set.seed(6)
  for (mean in c(1.5, 0.05)) { # many cells with counts: products of blocks; few: cell by cell
    x <- matrix(rpois(three_blocks() * 9, mean), three_blocks())
    x[sample(length(x), 40)] <- NA
    start <- list(membership = ref_simplex(nrow(x), 3), basis = ref_simplex(3, 9))
    fit <- keeping_empty_rows(plsa(x, 3, estimate = "ml", start = start, control = plain_iterations(1)))
    want <- ref_plsa_conditional_pass(x, start$membership, start$basis)
    expect_equal(lapply(fit$param, unname), want, tolerance = 1e-12)
    loglik <- do.call(ref_plsa_loglik, c(list(x), unname(fit$param)))
    expect_equal(c(fit$loglik, fit$objective[[1]]), c(loglik, loglik), tolerance = 1e-12)
  }
})

test_that("gathered and multiplied iterations agree, and so do threads", {
  set.seed(2)
  x <- matrix(rpois(300 * 40, 0.08), 300) # 8 % full: gathered
  start <- list(membership = ref_simplex(300, 4), basis = ref_simplex(4, 40))
  for (estimate in c("ml", "map", "vb")) {
    iterations <- function(x, n) {
      keeping_empty_rows(plsa(x, 4, estimate = estimate, start = start, control = plain_iterations(5, n_threads = n)))
    }
    expect_identical(iterations(x, 2)$param, iterations(Matrix::Matrix(x, sparse = TRUE), 1)$param)
  }
  fast <- lapply(1:2, function(n) {
    control <- fit_control(n_start = 1, max_iter = 30, tol = 0, n_threads = n, progress = FALSE)
    keeping_empty_rows(plsa(x, 4, estimate = "ml", start = start, control = control))
  })
  expect_identical(fast[[1]]$param, fast[[2]]$param)
})

test_that("the objective never falls, for every setting that claims it", {
  set.seed(3)
  x <- ref_counts(25, 8)$x
  holed <- replace(x, sample(length(x), 30), NA)
  settings <- expand.grid(
    membership = c(-0.3, 0, 0.05, 1), basis = c(-0.2, 0, 0.3), mstep = c("cccp", "global", "first"),
    accelerate = c(TRUE, FALSE), holes = c("none", "conditional", "paper"), stringsAsFactors = FALSE
  )
  for (i in seq_len(nrow(settings))) {
    s <- settings[i, ]
    fit <- suppressWarnings(plsa(if (s$holes == "none") x else holed, 5,
      sparsity = c(membership = s$membership, basis = s$basis), mstep = s$mstep,
      missing = if (s$holes == "paper") "paper" else "conditional",
      control = fit_control(n_start = 1, max_iter = 60, tol = 0, accelerate = s$accelerate, progress = FALSE)
    ))
    expect_gte(min(diff(fit$trace$objective)), -1e-11 * abs(unname(fit$objective)))
  }
})

test_that("Newton iterations never lower the likelihood, and rows end at the optimum of a general solver", {
  skip_on_cran()
  set.seed(40)
  for (i in 1:200) {
    x <- random_counts()
    if (i == 200) x <- matrix(stats::rpois(three_blocks(64) * 6, 2), ncol = 6)
    k <- sample.int(8, 1)
    start <- list(membership = ref_simplex(nrow(x), k), basis = ref_simplex(k, ncol(x)))
    if (i %% 3 == 0) start$basis[k, ] <- start$basis[1, ]
    control <- fit_control(n_start = 1, max_iter = 60, tol = 0, progress = FALSE)
    fit <- keeping_empty_rows(plsa(x, k, estimate = "ml", start = start, control = control))
    expect_gte(min(diff(fit$trace$objective)), -1e-12 * (1 + abs(unname(fit$objective))))
    control <- fit_control(n_start = 1, max_iter = 500, tol = 1e-15, progress = FALSE)
    rows <- keeping_empty_rows(plsa(x, k, fixed = "basis", estimate = "ml", start = start, control = control))
    total <- rowSums(x)
    best <- vapply(which(total > 0), function(i) {
      used <- x[i, ] > 0
      value <- ref_poisson_best(x[i, used], start$basis[, used, drop = FALSE], rep(1, k))
      value + total[i] - total[i] * log(total[i])
    }, 0)
    expect_gte(unname(rows$objective), sum(best) - 1e-8 * (1 + abs(sum(best))))
  }
})

test_that("Newton iterations reach what EM reaches, in far fewer iterations", {
  set.seed(4)
  x <- ref_counts(60, 20, 200)$x
  start <- list(membership = ref_simplex(60, 2), basis = ref_simplex(2, 20))
  tight <- fit_control(n_start = 1, tol = 1e-12, progress = FALSE)
  em <- plsa(x, 2, estimate = "ml", start = start, control = plain_iterations(3000))
  cd <- plsa(x, 2, estimate = "ml", start = start, control = tight)
  expect_equal(unname(cd$objective), unname(em$objective), tolerance = 1e-7)
  expect_lt(nrow(cd$trace), 400)
  # At their fixed point with more components, EM gains nothing either.
  cd <- plsa(x, 5, estimate = "ml", control = tight)
  em <- plsa(x, 5, estimate = "ml", start = lapply(cd$param, unname), control = plain_iterations(50))
  expect_lt(unname(em$objective - cd$objective), 1e-3)
})

test_that("planted components are recovered", {
  set.seed(5)
  truth <- ref_counts(400, 12, 300)
  fit <- plsa(truth$x, 2, control = fit_control(n_start = 3, progress = FALSE))
  swap <- if (fit$param$basis[1, 1] < fit$param$basis[2, 1]) 2:1 else 1:2
  # Two-component mixtures are identified up to the positions of their extremes: the data have no purer rows than these.
  expect_gt(cor(fit$param$membership[, swap[1]], truth$membership[, 1]), 0.99)
  expect_lt(max(abs(fitted(fit) / 300 - truth$membership %*% truth$basis)), 0.05)
})

test_that("KL-NMF with the basis's scale thrown away makes the same steps", {
  set.seed(6)
  x <- matrix(rpois(8 * 6, 3) + 1, 8)
  start <- list(membership = ref_simplex(8, 3), basis = ref_simplex(3, 6))
  # Lee and Seung's rules for x ~ h w, both from the same state; rows of w are normalised and their scale dropped.
  h <- start$membership * rowSums(x)
  w <- start$basis
  for (iteration in 1:20) {
    ratio <- x / (h %*% w)
    new_h <- h * (ratio %*% t(w)) / rep(rowSums(w), each = 8)
    w <- w * (t(h) %*% ratio) / colSums(h)
    w <- w / rowSums(w)
    h <- new_h
  }
  fit <- plsa(x, 3, estimate = "ml", start = start, control = plain_iterations(20))
  expect_equal(unname(fit$param$basis), w, tolerance = 1e-12)
  expect_equal(unname(fit$param$membership), h / rowSums(h), tolerance = 1e-12)
})

test_that("the conditional rule finds missing cells where the printed rule is biased", {
  set.seed(7)
  truth <- ref_counts(40, 10)
  p <- 1000 * truth$membership %*% truth$basis
  holes <- sample(length(p), 80)
  off <- vapply(c("conditional", "paper"), function(missing) {
    x <- replace(p, holes, NA)
    fit <- plsa(x, 2,
      missing = missing, fixed = "basis", start = list(basis = truth$basis), control = fit_control(tol = 1e-14)
    )
    sqrt(sum((impute(fit)[holes] - p[holes])^2) / sum(p[holes]^2))
  }, 0)
  expect_lt(off[["conditional"]], 1e-3)
  expect_gt(off[["paper"]], 0.01)
})

test_that("sparsity acts through its proportion to the row total", {
  set.seed(8)
  x <- ref_counts(30, 8)$x
  start <- list(membership = ref_simplex(30, 5), basis = ref_simplex(5, 8))
  fit <- function(x, ...) plsa(x, 5, start = start, control = plain_iterations(30), ...)
  relative <- fit(x, sparsity = c(membership = 0.05))
  expect_equal(relative$sparsity$effective[["membership"]], 0.05)
  expect_equal(fit(10 * x, sparsity = c(membership = 0.05))$param, relative$param, tolerance = 1e-10)
  counts <- fit(x, sparsity = c(membership = 0.05 * 40), sparsity_scale = "counts")
  expect_equal(counts$param, relative$param, tolerance = 1e-10)
  expect_lt(mean(relative$perplexity), mean(fit(x)$perplexity))
  even <- fit(x, sparsity = c(membership = -0.5))
  expect_gt(mean(even$perplexity), mean(fit(x)$perplexity))
})

test_that("a prior that leaves one component a row warns, and annealed starts are tried", {
  set.seed(9)
  x <- ref_counts(30, 8)$x
  expect_warning(
    fit <- plsa(x, 4, sparsity = c(membership = 0.6), control = fit_control(n_start = 4, progress = FALSE)),
    class = "multicause_collapse"
  )
  expect_setequal(fit$starts$init, c("uniform", "annealed"))
  expect_equal(unname(fit$objective), max(fit$starts$objective[fit$starts$finished]))
})

test_that("the exact M-step at the end leaves nothing to gain", {
  set.seed(10)
  x <- ref_counts(30, 8)$x
  fit <- plsa(x, 4, sparsity = c(membership = 0.05), control = fit_control(n_start = 2, tol = 1e-11, progress = FALSE))
  again <- plsa(x, 4,
    sparsity = c(membership = 0.05), mstep = "global", start = lapply(fit$param, unname), control = plain_iterations(1)
  )
  expect_lt(unname(again$objective - fit$objective), 1e-5)
})

test_that("degenerate shapes are legal", {
  control <- fit_control(n_start = 2, max_iter = 50, tol = 1e-8, progress = FALSE)
  set.seed(11)
  one_row <- plsa(matrix(c(3, 0, 2), 1), 1, estimate = "ml", control = control)
  expect_equal(unname(one_row$param$basis), matrix(c(3, 0, 2) / 5, 1))
  expect_equal(unname(plsa(matrix(1:4, 4), 2, control = control)$param$basis), matrix(1, 2, 1))
  expect_s3_class(plsa(matrix(rpois(12, 2), 3), 7, estimate = "ml", control = control), "plsa")
  nothing <- keeping_empty_rows(plsa(matrix(0, 3, 4), 2, control = control))
  expect_equal(nothing$loglik, 0)
  expect_false(anyNA(unlist(nothing$param)))
  expect_true(all(fitted(nothing) == 0))
  half <- plsa(matrix(c(0.5, 1.25, 0, 3), 2), 2, control = control)
  expect_equal(rowSums(fitted(half)), c(0.5, 4.25))
  expect_message(gone <- plsa(rbind(c(1, 2, 3), NA), 2, control = control), "nothing observed")
  expect_true(all(is.na(fitted(gone)[2, ])) && !anyNA(fitted(gone)[1, ]))
})

test_that("predictions are consistent with the fit, whatever the order of columns", {
  set.seed(14)
  truth <- ref_counts(60, 6, 100)
  x <- truth$x
  dimnames(x) <- list(paste0("site", 1:60), letters[1:6])
  fit <- plsa(x, 2, control = fit_control(n_start = 2, tol = 1e-13, progress = FALSE))
  expect_equal(rowSums(fitted(fit)), rowSums(x))
  again <- predict(fit, x[1:5, 6:1], type = "membership")
  expect_equal(unname(again[, ]), unname(fit$param$membership[1:5, ]), tolerance = 1e-3)
  expect_equal(sum(attr(predict(fit, x), "loglik")), fit$loglik, tolerance = 1e-8)
  cells <- predict(fit, type = "cell", rows = "site3")
  expect_equal(unname(apply(cells, 1:2, sum)), matrix(1, 1, 6))
  expect_identical(dimnames(cells), list("site3", letters[1:6], c("A1", "A2")))
  expect_equal(rowSums(residuals(fit)), 0 * rowSums(x), tolerance = 1e-8)
  drawn <- simulate(fit, 2, seed = 1)
  expect_equal(rowSums(drawn[[1]]), rowSums(x))
  expect_equal(attr(logLik(fit), "df"), 60 + 2 * 5)
  x[2, 3] <- NA
  holed <- plsa(x, 2, control = fit_control(n_start = 2, progress = FALSE))
  expect_identical(which(impute(holed) != x | is.na(x)), which(is.na(x)))
  expect_equal(impute(holed)[2, 3], fitted(holed)[2, 3])
  sparse <- plsa(Matrix::Matrix(x, sparse = TRUE), 2, start = lapply(holed$param, unname),
    control = plain_iterations(0))
  expect_s4_class(impute(sparse), "dgCMatrix")
  expect_equal(as.matrix(impute(sparse)), impute(holed))
})

test_that("counts in columns without training counts are left out, and empty rows get the mean", {
  set.seed(15)
  x <- cbind(ref_counts(20, 5)$x, 0)
  colnames(x) <- letters[1:6]
  fit <- plsa(x, 2, estimate = "ml", control = fit_control(n_start = 2, progress = FALSE))
  new <- x[1:2, ]
  new[1, 6] <- 4
  expect_message(got <- predict(fit, new, type = "membership"), "\"f\"")
  expect_equal(unname(got[1, ]), unname(predict(fit, x[1, , drop = FALSE], type = "membership")[1, ]), tolerance = 1e-5)
  expect_equal(unname(predict(fit, 0 * new, type = "membership")[1, ]), unname(colMeans(fit$param$membership)))
})

test_that("a fit prints itself, and errors say what is wrong", {
  set.seed(17)
  x <- ref_counts(20, 6)$x
  x[3] <- NA
  fit <- plsa(x, 3, sparsity = c(membership = 0.05), control = plain_iterations(20))
  expect_snapshot(fit, transform = function(lines) sub("log-posterior .*", "log-posterior <value>", lines))
  expect_snapshot(error = TRUE, {
    plsa(x, 2, sparsity = 0.1)
    plsa(x, 2, fixed = "basis")
    plsa(x, 2, start = list(membership = 1))
    predict(fit, x[, 1:3])
  })
})

test_that("a basis that is held stays bit for bit", {
  set.seed(12)
  x <- ref_counts(8, 6)$x
  for (accelerate in c(TRUE, FALSE)) {
    start <- list(basis = ref_simplex(3, 6))
    control <- fit_control(max_iter = 30, accelerate = accelerate, progress = FALSE)
    fit <- suppressWarnings(plsa(x, 3, fixed = "basis", start = start, control = control))
    expect_identical(unname(fit$param$basis), start$basis)
  }
})

test_that("the data of the fit come back as they were fitted, and with a prior on memberships by fixed = \"basis\"", {
  set.seed(11)
  x <- matrix(rpois(480, 1 + 4 * outer(1:40, 1:12, function(i, j) i %% 3 == j %% 3)), 40)
  tight <- fit_control(n_start = 1, n_polish = 0, max_iter = 20000, tol = 1e-14, progress = FALSE)
  fit_of <- function(...) suppressWarnings(plsa(x, 3, ..., control = tight))
  for (sparsity in list(c(membership = 0), c(basis = 0.05))) {
    fit <- fit_of(sparsity = sparsity)
    expect_equal(predict(fit, x, control = tight), fitted(fit), tolerance = 1e-5, ignore_attr = "loglik")
  }
  for (strength in c(0.05, -0.05)) {
    fit <- fit_of(sparsity = c(membership = strength))
    expect_gt(max(abs(predict(fit, x, control = tight) - fitted(fit))), 0.1)
    again <- fit_of(sparsity = c(membership = strength), fixed = "basis", start = list(basis = fit$param$basis))
    expect_equal(fitted(again), fitted(fit), tolerance = 1e-5)
  }
})

test_that("above 100 components iterations are EM's, unless Newton's are asked for", {
  set.seed(21)
  x <- matrix(rpois(105 * 108, 1), 105)
  end <- function(k, algorithm) {
    set.seed(1)
    control <- quiet_control(n_start = 1, max_iter = 26, tol = 0, n_polish = 0, algorithm = algorithm)
    suppressWarnings(plsa(x, k, estimate = "ml", control = control))$objective
  }
  expect_identical(end(101, "auto"), end(101, "em"))
  expect_false(end(101, "newton") == end(101, "em"))
  expect_identical(end(100, "auto"), end(100, "newton"))
})

test_that("iterations of EM may be asked for in memory, too", {
  x <- planted_table(missing = 0)
  start <- start_of_counts(x, 3)
  fit <- function(algorithm, max_iter) {
    control <- fit_control(algorithm = algorithm, tol = 0, max_iter = max_iter)
    keeping_empty_rows(plsa(x, 3, estimate = "ml", start = start, control = control))
  }
  # Only Newton's iterations make shares exactly 0.
  expect_identical(sum(fit("em", 200)$param$membership == 0), 0L)
  expect_gt(sum(fit("auto", 200)$param$membership == 0), 0L)
  # Averages of fits of this model still use its own iterations.
  set.seed(1)
  control <- fit_control(n_start = 1, max_iter = 200)
  some <- ensemble(x[rowSums(x) > 0, ], k = 2, model = plsa, estimate = "ml", members = 1, control = control)
  expect_gt(sum(some$fits[[1L]]$param$membership == 0), 0L)
})

test_that("rows without counts are refused, with code that leaves them out, but where a fold made them", {
  set.seed(3)
  x <- matrix(rpois(12 * 6, 2), 12, dimnames = list(paste0("d", 1:12), NULL))
  x[c(4, 9), ] <- 0
  few <- quiet_control(n_start = 1, max_iter = 20)
  refused <- function(x, estimate) {
    said <- expect_error(plsa(x, 2, estimate = estimate, control = few), class = "multicause_input_error")
    sub("^.*`(.*)`.$", "\\1", conditionMessage(said))
  }
  for (form in list(x, as.data.frame(x), Matrix::Matrix(x, sparse = TRUE))) {
    code <- refused(form, "ml")
    expect_identical(code, "x[-c(4, 9), ]")
    expect_identical(rownames(eval(str2lang(code), list(x = form))), rownames(x)[-c(4, 9)])
  }
  expect_error(plsa(x, 2), "2 of 12 have none, \"d4\", \"d9\"", class = "multicause_input_error")
  expect_error(plsa(x, 2, estimate = "gibbs"), "2 of 12 have none", class = "multicause_input_error")
  x[1:7, ] <- 0
  expect_identical(refused(x, "vb"), "x[rowSums(x, na.rm = TRUE) > 0, ]")
  near <- smooth_over(age = 1:12, bandwidth = 3, strength = 5)
  expect_s3_class(suppressWarnings(plsa(x, 2, smooth = near, control = few)), "plsa")
  one <- cbind(diag(4), 1)
  one <- rbind(one, c(0, 0, 0, 0, 1))
  cv <- suppressWarnings(cross_validate(one, 1, plsa, folds = 5, control = few))
  expect_true(all(is.finite(cv$folds$loss)) && is.null(cv$failed))
})

test_that("select_k(), cross_validate() and compare_models() refuse such rows as the model does, but those of a fold", {
  set.seed(4)
  x <- matrix(rbinom(14 * 6, 1, 0.6), 14, dimnames = list(paste0("d", 1:14), NULL))
  x[c(4, 9), ] <- 0
  few <- quiet_control(n_start = 1, max_iter = 20)
  fitted_before <- 0
  own <- function(x, k, control) plsa(x, k, control = control)
  others <- function(x) {
    fitted_before <<- fitted_before + 1
    matrix(mean(x, na.rm = TRUE), nrow(x), ncol(x))
  }
  said <- function(expr) conditionMessage(expect_error(expr, class = "multicause_empty_rows"))
  direct <- said(plsa(x, 2, control = few))
  models <- list(others = others, plsa = plsa)
  expect_identical(said(select_k(x, 1:2, plsa, "aic", control = few)), direct)
  expect_identical(said(select_k(x, 1:2, plsa, "cells", folds = 2, control = few)), direct)
  for (scheme in c("cells", "rows", "omissions")) {
    expect_identical(said(cross_validate(x, 1, models, scheme, folds = 3, control = few)), direct)
  }
  expect_identical(said(compare_models(x, 1, models, folds = 2, control = few)), direct)
  expect_identical(fitted_before, 0)
  for (scheme in c("cells", "rows")) {
    expect_identical(said(cross_validate(x, 1, list(own = own), scheme, folds = 3, control = few)), direct)
  }
  expect_identical(said(select_k(x, 1, list(own = own), "aic", control = few)), direct)
  near <- smooth_over(age = 1:14, bandwidth = 3, strength = 5)
  expect_s3_class(cross_validate(x, 1, plsa, smooth = near, folds = 2, control = few), "multicause_cv")
  kept <- x[rowSums(x, na.rm = TRUE) > 0, ]
  compared <- suppressWarnings(compare_models(kept, 1, models, c("cells", "omissions"), folds = 2, control = few))
  expect_equal(as.vector(tapply(compared$cells$folds$n, compared$cells$folds$setting, sum)), rep(length(kept), 2))
})

test_that("fractions, which have no default priors, are told", {
  set.seed(6)
  x <- matrix(rpois(60, 3), 10) + 1
  few <- quiet_control(n_start = 1)
  told <- "not of whole numbers, so the default priors"
  expect_message(fit <- plsa(x / 10, 2, control = few), told)
  expect_no_message(plsa(x, 2, control = few), message = told)
  expect_no_message(plsa(x / 10, 2, estimate = "ml", control = few), message = told)
})

test_that("the print has shares of all counts, by which components are ordered", {
  # Many poor sites of one fauna, few rich ones of another.
  x <- rbind(matrix(c(2, 1, 0, 0), 20, 4, byrow = TRUE), matrix(c(0, 0, 90, 60), 4, 4, byrow = TRUE))
  set.seed(1)
  fit <- quietly(plsa(x, 2, estimate = "ml", control = fit_control(n_start = 2)))
  share <- as.numeric(component_facts(fit)$share)
  expect_equal(share, c(600, 60) / 660, tolerance = 0.01)
  expect_lt(mean(fit$param$membership[, 1]), 0.5)
})

test_that("the triangle needs three columns, and counts that no component can write are left out", {
  brief <- fit_control(n_start = 1, max_iter = 5, tol = 0)
  x <- matrix(rep_len(c(1, 0, 0, 1, 1, 2, 0), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  expect_error(ggplot2::autoplot(plsa(x, 2, control = brief), "simplex"),
    "`what = \"simplex\"` needs a fit to 3 columns, not 6.", fixed = TRUE, class = "multicause_input_error")
  x[, 6] <- 0
  fit <- suppressMessages(plsa(x, 1, estimate = "ml", control = brief))
  suppressWarnings(expect_message(predict(fit, x[1:2, ] + 1), "Left out 1 column without counts in training: \"F\".",
    fixed = TRUE, class = "multicause_message"))
})
