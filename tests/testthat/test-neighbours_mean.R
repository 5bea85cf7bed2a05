# The model of neighbours_mean() against its definition, cell by cell; and the predictability kappa, which depends on it
# (R/which_zeros_foreseen.R).

skip_on_cran()

small_sites <- function() {
  set.seed(2)
  x <- matrix(rbinom(14 * 6, 1, 0.4), 14, dimnames = list(paste0("site", 1:14), paste0("taxon", 1:6)))
  x[3, 2] <- NA
  x[7, ] <- 0
  age <- cbind(runif(14, 0, 5), 5 + runif(14, 0, 3))
  age[5, ] <- NA
  list(x = x, near = smooth_over(age = age, bandwidth = 3, most = 1000))
}

# Slow version: each cell from a table in which it is not a presence, without its own row.
reference_mean <- function(x, base, power) {
  one <- function(x) matrix(as.double(x %in% 1), nrow(x))
  density <- mean(x, na.rm = TRUE)
  cell <- function(i, j) {
    was_found <- x[i, j] %in% 1
    hidden <- x
    if (was_found) hidden[i, j] <- 0
    weigh <- function(found, other) {
      w <- if (sum(base[i, ]) > 0) base[i, ] else rep(1, nrow(x))
      w[i] <- 0
      shared <- as.vector(other %*% found[i, ])
      length <- sqrt(sum(found[i, ]) * rowSums(other))
      w * (ifelse(length > 0, shared / length, 0) + 0.05)^power
    }
    w <- weigh(one(hidden), one(x))
    worth <- sum(w)^2 / sum(w^2)
    known <- !is.na(x[, j])
    rate <- (sum(x[-i, j], na.rm = TRUE) + density) / (sum(known[-i]) + 1)
    (worth * sum(w * one(x)[, j]) / sum(w) + rate) / (worth * sum(w[known]) / sum(w) + 1)
  }
  outer(seq_len(nrow(x)), seq_len(ncol(x)), Vectorize(cell))
}

test_that("every cell has the mean of its neighbours as if it were hidden", {
  data <- small_sites()
  base <- as.matrix(list_weights(near_lists(data$near), c(14, 14)))
  for (power in 0:2) {
    fit <- neighbours_mean(data$x, smooth = data$near, similarity = power)
    expect_equal(unname(fitted(fit)), reference_mean(data$x, base, power), tolerance = 1e-12)
  }
  expect_identical(dimnames(fitted(fit)), dimnames(data$x))
  fit <- neighbours_mean(data$x)
  expect_equal(unname(fitted(fit)), reference_mean(data$x, 1 - diag(14), 1), tolerance = 1e-12)
})

test_that("sites with the same list, and unknown cells, count each by itself", {
  x <- small_sites()$x[c(1:14, 3, 1, 3, 7, 1, 9), ]
  x <- rbind(x, matrix(rbinom(26 * 6, 1, 0.5), 26)) # three blocks of 16 different rows
  x[cbind(21:40, 1:5)] <- NA
  rownames(x) <- NULL
  for (power in 0:2) {
    fit <- neighbours_mean(x, similarity = power)
    expect_equal(unname(fitted(fit)), reference_mean(x, 1 - diag(46), power), tolerance = 1e-12)
  }
  expect_equal(predict(fit, x[1:2, ]), predict(fit, x[c(16, 2), ]))
})

test_that("by sums over subsets of columns each cell has the mean over all pairs of rows", {
  set.seed(7)
  x <- matrix(rbinom(70 * 9, 1, runif(70, 0.05, 0.6)), 70)
  x[1:3, ] <- 0
  x[4, ] <- c(1, rep(0, 8))
  x[5, ] <- 1
  x[6:12, ] <- x[c(4, 5, 20:24), ]
  x[, 9] <- c(rep(0, 69), 1)
  fit <- neighbours_mean(x, similarity = 2) # tables are cheaper than pairs where rows are many times the columns
  expect_equal(unname(fitted(fit)), reference_mean(x, 1 - diag(70), 2), tolerance = 1e-12)
  new <- matrix(rbinom(40 * 9, 1, 0.4), 40)
  expect_equal(predict(fit, rbind(new, new)), predict(fit, new)[c(1:40, 1:40), ], tolerance = 1e-12)
  # The same neighbours one by one.
  listed <- neighbours_mean(x, smooth = smooth_over(neighbours = 1 - diag(70), most = 1000), similarity = 2)
  expect_equal(fitted(fit), fitted(listed), tolerance = 1e-12)
  expect_equal(predict(fit, new[1, , drop = FALSE]), predict(fit, new)[1, , drop = FALSE], tolerance = 1e-12)
  twice <- neighbours_mean(x, similarity = 2, control = fit_control(n_threads = 2))
  expect_identical(fitted(twice), fitted(fit))
})

test_that("weights that are small beside those of the whole list are not lost to rounding", {
  set.seed(3)
  x <- matrix(rbinom(16 * 9, 1, 0.2), 16)
  x[1:4, ] <- diag(9)[c(1, 1, 2, 9), ] # one presence each: without it nobody shares the list
  near <- smooth_over(age = runif(16, 0, 5), bandwidth = 3, most = 1000)
  base <- as.matrix(list_weights(near_lists(near), c(16, 16)))
  for (power in c(6, 10)) {
    fit <- neighbours_mean(x, similarity = power)
    expect_equal(unname(fitted(fit)), reference_mean(x, 1 - diag(16), power), tolerance = 1e-12)
    fit <- neighbours_mean(x, smooth = near, similarity = power)
    expect_equal(unname(fitted(fit)), reference_mean(x, base, power), tolerance = 1e-12)
  }
})

test_that("sparse data give the same", {
  data <- small_sites()
  for (near in list(NULL, data$near)) {
    dense <- neighbours_mean(data$x, smooth = near)
    sparse <- neighbours_mean(Matrix::Matrix(data$x, sparse = TRUE), smooth = near)
    expect_equal(fitted(sparse), fitted(dense), tolerance = 1e-13)
  }
})

test_that("a cell's own record does not change what it is given", {
  x <- early_tetrapods$x[1:40, ]
  near <- smooth_over(age = early_tetrapods$sites$age[1:40], bandwidth = 5)
  at <- which(x == 1)[c(3, 30, 90)]
  with <- fitted(neighbours_mean(x, smooth = near, similarity = 0))[at]
  for (i in seq_along(at)) {
    without <- x
    without[at[i]] <- NA
    hidden <- fitted(neighbours_mean(without, smooth = near, similarity = 0))[at[i]]
    expect_lt(abs(hidden - with[i]), 0.02) # the density of the table is all that changes
    without[at[i]] <- 0
    for (similarity in c(0, 2, 6)) {
      seen <- fitted(neighbours_mean(x, smooth = near, similarity = similarity))[at[i]]
      expect_equal(fitted(neighbours_mean(without, smooth = near, similarity = similarity))[at[i]], seen,
        tolerance = 1e-3)
    }
  }
})

test_that("bandwidths are those of the best hidden cells", {
  sites <- early_tetrapods$sites
  near <- smooth_over(age = sites$age, place = sites[c("lng", "lat")])
  fit <- neighbours_mean(early_tetrapods$x, smooth = near)
  expect_equal(unname(fit$objective), max(fit$trace$objective))
  for (at in 1:2) {
    for (factor in c(0.5, 2)) {
      other <- fit$near
      other$bandwidth[at] <- other$bandwidth[at] * factor
      expect_lte(neighbours_mean(early_tetrapods$x, smooth = other)$objective, fit$objective)
    }
  }
  p <- fitted(fit)
  x <- early_tetrapods$x
  expect_equal(unname(fit$objective), sum(log(ifelse(x == 1, p, 1 - p))))
})

test_that("it serves the verbs that compare models", {
  data <- small_sites()
  x <- data$x[rep(1:14, 3), ]
  rownames(x) <- NULL
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)
  set.seed(1)
  both <- suppressWarnings(compare_models(
    x, k = list(mean = 0, pca = 1), list(mean = neighbours_mean, pca = logistic_pca), folds = 2, criterion = "cells",
    control = few
  ))
  expect_setequal(both$table$model, c("mean", "pca"))
  expect_true(all(is.finite(both$table$cells)))
})

test_that("methods", {
  data <- small_sites()
  fit <- neighbours_mean(data$x, smooth = data$near)
  expect_snapshot(fit)
  p <- predict(fit, data$x[1:3, 6:1], along = list(age = data$near$given$age[1:3, ]))
  expect_identical(dimnames(p), dimnames(data$x[1:3, 6:1]))
  expect_true(all(p > 0 & p < 1))
  expect_identical(dim(simulate(fit, seed = 1)[[1L]]), dim(data$x))
  again <- update(fit, similarity = 0)
  expect_identical(again$param$similarity, 0)
  expect_error(logLik(fit), "maximised", class = "multicause_input_error")
  grDevices::pdf(NULL)
  expect_s3_class(plot(fit), "ggplot")
  grDevices::dev.off()
  expect_false(any(grepl("component", capture.output(print(summary(fit))))))
})

test_that("wrong input", {
  x <- small_sites()$x
  expect_error(neighbours_mean(x, 2), "`k`", class = "multicause_input_error")
  expect_error(neighbours_mean(x, smooth = 1:14), "`smooth`", class = "multicause_input_error")
  few <- smooth_over(age = 1:3)
  expect_error(neighbours_mean(x, smooth = few), "`smooth` must be of", class = "multicause_input_error")
  expect_error(neighbours_mean(x, similarity = -1), "`similarity`", class = "multicause_input_error")
  expect_error(neighbours_mean(x + 1), "`x`", class = "multicause_input_error")
  expect_error(predict(neighbours_mean(x), along = list()), "`newdata`", class = "multicause_input_error")
})

test_that("it has no phantoms", {
  set.seed(1)
  x <- matrix(rbinom(160, 1, 0.4), 20)
  fit <- neighbours_mean(x, smooth = smooth_over(age = 1:20, bandwidth = c(age = 3), strength = 1))
  expect_error(false_presences(fit, kinds = character()), "phantom", class = "multicause_input_error")
})

test_that("the objective is the sum of what the known cells were given", {
  x <- small_sites()$x[rep(1:14, length.out = three_blocks(16)), ]
  p <- matrix(runif(length(x)), nrow(x))
  p[1:2] <- 0:1
  each <- pmin(pmax(ifelse(x == 1, p, 1 - p), 1e-9), 1 - 1e-9)
  expect_equal(nbm_objective(p, data_view(x)), sum(log(each), na.rm = TRUE), tolerance = 1e-12)
})

test_that("lists that are remembered are those of the same rows", {
  near <- smooth_over(age = 1:9, bandwidth = 2, most = 3)
  near$n <- 9L
  alone <- lapply(list(c(1L, 3L, 9L), c(1L, 5L, 9L)), function(rows) near_lists(near, rows))
  near <- with_memo(near)
  expect_identical(lapply(list(c(1L, 3L, 9L), c(1L, 5L, 9L)), function(rows) near_lists(near, rows)), alone)
})

test_that("of a large table only the rows that judge bandwidths are remembered", {
  near <- smooth_over(age = seq_len(4200), bandwidth = 2, most = least_near)
  near$n <- 4200L
  near <- with_memo(near)
  near_lists(near, seq_len(nbm_most_judged + 1L))
  expect_length(ls(near$memo), 0L)
  near_lists(near, seq_len(nbm_most_judged))
  expect_length(ls(near$memo), 1L)
})

# Probability of each cell of x from its companions, without the cell: Beals' mean over the site's other presences.
ref_fair_companions <- function(x) {
  cell <- function(i, j) {
    known <- sum(!is.na(x[-i, j]))
    mean <- (sum(x[-i, j], na.rm = TRUE) + 0.2) / (known + 0.4)
    others <- setdiff(which(x[i, ] == 1), j)
    share <- vapply(others, function(k) {
      (sum(x[-i, j] * x[-i, k], na.rm = TRUE) + mean) / (max(sum(x[-i, k], na.rm = TRUE), 0.5) + 1)
    }, 0)
    (sum(share) + mean) / (length(others) + 1)
  }
  outer(seq_len(nrow(x)), seq_len(ncol(x)), Vectorize(cell))
}

# kappa: the mean predicted probability of a presence, by logistic regression of all known cells on means of neighbours,
# companions and the numbers of other presences of taxon and site. base: weights of neighbours by age, or NULL; `wide`:
# with twice the bandwidth.
ref_kappa <- function(x, base = NULL, wide = NULL) {
  n <- nrow(x)
  all <- 1 - diag(n)
  odds <- function(p) stats::qlogis(pmin(pmax(p, least_score), 1 - least_score))
  mean_by <- function(base, power) odds(reference_mean(x, base, power))
  scores <- list(mean_by(all, 2), mean_by(all, 6))
  if (!is.null(base)) scores <- c(scores, list(mean_by(base, 0), mean_by(base, 2), mean_by(wide, 4)))
  found <- 1 * (x %in% 1)
  taxon <- log(rep(colSums(x, na.rm = TRUE), each = n) - found + 0.5)
  others <- rowSums(x, na.rm = TRUE) - found
  site <- log((if (any(rowSums(x, na.rm = TRUE) == 0)) others else pmax(others, 1)) + 0.5)
  companions <- odds(ref_fair_companions(x))
  last <- scores[[length(scores)]]
  design <- c(scores, list(companions, taxon, taxon^2, site, site^2, last^2, companions^2))
  design <- vapply(design, as.vector, numeric(length(x)))[!is.na(x), ]
  design <- cbind(1, scale(design))
  fit <- ref_logistic_regression(design, found[!is.na(x)], 0, diag(c(0, rep(1e-3, ncol(design) - 1))))
  more <- rep(colSums(x, na.rm = TRUE) < 0.95 * colSums(!is.na(x)), each = n) # taxa of which more can be found
  mean(stats::plogis(design %*% fit$beta)[found[!is.na(x)] == 1 & more[!is.na(x)]])
}

test_that("presences of columns are counted in every kind of table", {
  x <- matrix(c(0, 2, NA, 1, 0, 0, NA, NA, NA), 3, dimnames = list(NULL, c("a", "b", "c")))
  expect_identical(presence_sums(x), c(a = 1, b = 1, c = 0))
  expect_identical(presence_sums(x), colSums(found_table(x)))
  skip_if_not_installed("Matrix")
  expect_identical(presence_sums(methods::as(x, "CsparseMatrix")), presence_sums(x))
})

test_that("kappa is the mean probability of a presence predicted from the rest of the table", {
  set.seed(3)
  small <- matrix(stats::rbinom(16 * 9, 1, outer(stats::runif(16, 0.6, 1), stats::runif(9, 0.3, 0.9))), 16)
  for (case in 1:4) {
    if (case == 2) small[cbind(c(2, 9, 16), c(1, 4, 9))] <- NA
    if (case == 3) small[5, ] <- 0 # an empty site
    if (case == 4) small[, 6] <- 1 # a taxon found everywhere
    near <- match_smooth(smooth_over(age = 16:1), small)
    near$bandwidth <- c(age = 3)
    near$most <- 100L
    weights <- function(near) as.matrix(list_weights(near_lists(near), c(16, 16)))
    wide <- near
    wide$bandwidth <- 2 * near$bandwidth
    expect_equal(predictability(small, NULL)$kappa, ref_kappa(small), tolerance = 1e-6)
    by_age <- ref_kappa(small, weights(near), weights(wide))
    expect_equal(predictability(small, near)$kappa, by_age, tolerance = 1e-6)
  }
})
