# Fits with supplied parameters and an exact white (black) phantom as the last component. Tests also
# R/identifiability_bounds.R, R/aspect_bernoulli_scale.R.

skip_on_cran()

exact_fit <- function(s, a, x = NULL, phantom = "white") {
  a <- rbind(a, phantom == "black")
  s <- cbind(s, 1 - rowSums(s))
  if (is.null(x)) x <- matrix(rbinom(nrow(s) * ncol(a), 1L, s %*% a), nrow(s))
  fit_with(x, s, a, phantom = phantom)
}

random_content <- function(n, m, k, top = 1) {
  s <- matrix(stats::rexp(n * (k + 1)), n)
  list(s = (s / rowSums(s))[, seq_len(k), drop = FALSE], a = matrix(stats::rbeta(k * m, 0.5, 0.8), k) * top)
}

# Rescaling has no freedom here (a reaches 1, and a row is all content), but mixing has.
stuck_by_scale <- function() {
  set.seed(8)
  s <- matrix(stats::runif(24, 0.1, 0.45), 12)
  s[1, ] <- c(0.4, 0.6)
  a <- matrix(stats::runif(16, 0.2, 0.8), 2)
  a[1, 1] <- a[2, 2] <- 1
  list(s = s, a = a)
}

same_loglik <- function(fit, moved) {
  ab_loglik(check_data(fit$x, "binary", quiet = TRUE)$view, moved$param, moved$fixed) - fit$loglik
}

test_that("the ends of the inner bound are attained with the same likelihood", {
  set.seed(2)
  for (k in 1:3) {
    content <- random_content(20, 9, k, 0.8)
    fit <- exact_fit(content$s, content$a)
    sure <- identifiability(fit)
    inner <- sure$share[sure$share$bound == "inner", ]
    for (end in c("minimal", "maximal")) {
      moved <- use_convention(fit, NULL, end)
      expect_lt(abs(same_loglik(fit, moved$fit)), 1e-9)
      share <- mean(phantom_share(moved$fit, moved$kinds, "white"))
      expect_equal(share, inner[[if (end == "minimal") "least" else "most"]], tolerance = 1e-9)
      sites <- by_site(fit, phantom_convention = end)
      expected <- sure$expected[sure$expected$bound == "inner", c("least", "most")]
      expect_equal(sum(sites$missed), expected[[if (end == "minimal") 1 else 2]])
    }
    polytope <- scale_polytope(content_factors(fit, c(rep("content", k), "white")))
    for (i in 1:5) {
      d <- largest_scale(polytope, polytope$s[i, ])
      moved <- rescale_content(fit, c(rep("content", k), "white"), d)
      expect_lt(abs(same_loglik(fit, moved)), 1e-9)
      expect_equal(moved$param$membership[[i, k + 1]], sure$sites$inner_least[i], tolerance = 1e-9)
      expect_lte(max(moved$param$aspects), 1)
    }
  }
})

test_that("the linear programs find what a grid finds", {
  set.seed(3)
  content <- random_content(15, 6, 2, 0.7)
  polytope <- scale_polytope(content)
  grid <- as.matrix(expand.grid(
    seq(polytope$lower[1], 3, length.out = 300), seq(polytope$lower[2], 3, length.out = 300)
  ))
  allowed <- grid[apply(grid %*% t(content$s), 1, max) <= 1, ]
  most <- apply(allowed %*% t(content$s), 2, max)
  got <- row_maxima(polytope)
  expect_true(all(got >= most - 1e-12))
  expect_lt(max(got - most), 0.02)
  expect_gte(sum(largest_scale(polytope, c(1, 1))), max(rowSums(allowed)))
  kept <- polytope$s[polytope$rows, ] / polytope$room[polytope$rows]
  everything <- polytope$s / polytope$room
  e <- sweep(grid, 2, polytope$lower)
  expect_identical(apply(e %*% t(kept), 1, max) <= 1, apply(e %*% t(everything), 1, max) <= 1)
})

test_that("refits with the same likelihood stay within the outer bound", {
  set.seed(6)
  content <- random_content(14, 7, 2)
  x <- matrix(rbinom(98, 1, content$s %*% content$a), 14)
  control <- fit_control(n_start = 1, tol = 1e-12, max_iter = 20000, progress = FALSE)
  fits <- suppressWarnings(lapply(1:60, function(i) {
    start <- random_start(14, 7, 3)
    start$aspects[3, ] <- 0
    aspect_bernoulli(x, 3, estimate = "ml", phantom = "white", start = start, control = control)
  }))
  loglik <- vapply(fits, function(fit) fit$loglik, 0)
  best <- fits[[which.max(loglik)]]
  top <- 1 - identifiability(best)$sites$outer_most
  same <- Filter(function(fit) max(abs(fitted(fit) - fitted(best))) < 1e-5, fits)
  expect_gt(length(same), 1)
  for (fit in same) expect_true(all(1 - fit$param$membership[, 3] >= top - 1e-4))
})

test_that("a black phantom is a white one of the exchanged table", {
  set.seed(9)
  content <- random_content(10, 6, 2, 0.8)
  white <- exact_fit(content$s, content$a)
  black <- exact_fit(content$s, 1 - content$a, 1 - white$x, "black")
  w <- identifiability(white, cells = TRUE)
  b <- identifiability(black, cells = TRUE)
  expect_equal(b$share[-1], w$share[-1])
  expect_equal(b$expected[-1], w$expected[-1])
  expect_equal(b$sites, w$sites)
  expect_equal(unname(as.matrix(b$cells)), unname(as.matrix(w$cells)))
  expect_equal(b$phantom, "black")
  for (end in c("minimal", "maximal")) {
    expect_equal(
      false_presences(black, Inf, "added", phantom_convention = end)$added,
      false_absences(white, Inf, "missed", phantom_convention = end)$missed
    )
  }
})

test_that("with both phantoms fixed there are outer bounds only", {
  set.seed(10)
  start <- random_start(9, 5, 4)
  start$aspects[3:4, ] <- rep(0:1, 5)
  fit <- fit_with(binary(9, 5), start$membership, start$aspects, phantom = "both")
  sure <- identifiability(fit)
  expect_equal(sure$phantom, "both")
  expect_setequal(sure$share$bound, c("outer", "fitted"))
  p <- fitted(fit)
  expect_equal(sure$sites$outer_most, 1 - unname(apply(p, 1, max)))
  expect_equal(sure$sites$black_outer_most, unname(apply(p, 1, min)))
  expect_output(print(sure), "Black phantom")
  expect_error(by_taxon(fit, phantom_convention = "minimal"), "has both", class = "multicause_input_error")
})

# The same probabilities with the exact phantom raised to w_1 a_1 + ...: its share grows by 1 / (1 - sum(w)), at the
# expense of the contents. w is `part` of the maximum that keeps all memberships at 0 or above.
lifted <- function(content, part, x) {
  phantom <- pmax(1 - rowSums(content$s), 1e-12)
  room <- apply(content$s / phantom, 2, min)
  w <- part * room / (1 + sum(room))
  phantom <- phantom / (1 - sum(w))
  fit_with(x, cbind(pmax(content$s - outer(phantom, w), 0), phantom), rbind(content$a, w %*% content$a))
}

test_that("a phantom that is as white as the fit's own keeps to `missed_most`, and may pass the outer bound", {
  set.seed(36)
  content <- random_content(30, 12, 2, 0.6)
  content$s <- 0.1 + 0.6 * content$s
  exact <- exact_fit(content$s, content$a)
  kinds <- c("content", "content", "white")
  sure <- identifiability(exact, cells = TRUE)
  at <- cbind(sure$cells$site, sure$cells$taxon)
  missed <- function(fit) cell_scores(fit, 1:30, kinds)$missed[at]
  beyond <- 0
  factors <- content_factors(exact, kinds)
  polytope <- scale_polytope(factors)
  for (d in list(c(1, 1), polytope$lower, largest_scale(polytope, colMeans(factors$s)))) {
    near <- lapply(c(0, 0.3, 0.6, 1), function(part) lifted(rescale_factors(factors, d), part, exact$x))
    for (i in seq_along(near)) {
      expect_lt(max(abs(fitted(near[[i]]) - fitted(exact))), 1e-9)
      ranked <- false_absences(near[[i]], Inf, kinds = kinds)
      most <- ranked$missed_most[match(paste(at[, 1], at[, 2]), paste(ranked$site, ranked$taxon))]
      for (whiter in near[seq_len(i)]) expect_true(all(missed(whiter) <= most + 1e-9))
      beyond <- max(beyond, missed(near[[i]]) - sure$cells$missed_outer_most)
    }
  }
  expect_gt(beyond, 0.01) # so the outer bound is one of exact phantoms alone
})

test_that("`missed_most` holds beside a black phantom that is not exact, too", {
  set.seed(33)
  beyond <- 0
  for (i in 1:30) {
    s <- random_simplex(6, 3)
    near <- fit_with(binary(6, 5), s, rbind(stats::runif(5), 0.05 * stats::runif(5), stats::runif(5)))
    kinds <- c("content", "white", "black")
    scores <- cell_scores(near, 1:6, kinds)
    top <- row_tops(above_written(scores$probability, near$param$aspects[2, ]), matrix(TRUE, 6, 5))$top
    expect_true(all(scores$missed <= most_missed(scores$probability, top, held = TRUE) + 1e-12))
    beyond <- max(beyond, scores$missed - most_missed(scores$probability, top))
    scores$missed[] <- 0
    most <- largest_missed(near, scores, matrix(TRUE, 6, 5), kinds, "absences")
    expect_equal(most, most_missed(scores$probability, top, held = TRUE))
  }
  expect_gt(beyond, 0)
})

test_that("bounds of cells hold the fitted values and agree with false_absences()", {
  case <- small_fit()
  sure <- identifiability(case$fit, cells = TRUE)
  cells <- sure$cells
  expect_equal(nrow(cells), sum(case$x == 0))
  expect_true(all(cells$missed_inner_least <= cells$missed + 1e-9 & cells$missed <= cells$missed_outer_most + 1e-9))
  ranked <- false_absences(case$fit, Inf)
  at <- match(paste(ranked$site, ranked$taxon), paste(cells$site, cells$taxon))
  expect_equal(ranked$missed, cells$missed[at])
  expect_equal(ranked$missed_most, pmax(cells$missed_outer_most[at], ranked$missed))
  expect_equal(attr(ranked, "expected_most"), sum(ranked$missed_most))
  expect_equal(summary(case$fit)$allowed$share_most, sure$share$most[1])
})

test_that("phantoms near zero are fixed first; none at all is one without share", {
  truth <- planted(60, 16)
  set.seed(4)
  near <- aspect_bernoulli(truth$x, 3, estimate = "ml", control = fit_control(n_start = 4))
  expect_true("white" %in% phantoms(near)$kind)
  sure <- identifiability(near)
  expect_lte(sure$change, 1e-3)
  expect_gt(sure$change, -10)
  none <- fit_with(truth$x, matrix(1, 60, 1), matrix(colMeans(truth$x), 1))
  sure <- identifiability(none)
  expect_equal(sure$share$most[sure$share$bound == "inner"], 1 - max(colMeans(truth$x)))
  expect_output(print(sure), "the fit has none")
  expect_error(false_absences(none, phantom_convention = "maximal"), "has none", class = "multicause_input_error")
})

test_that("only observed cells bound a row; bare rows and columns are allowed", {
  set.seed(12)
  content <- random_content(8, 5, 2)
  x <- binary(8, 5)
  x[1, ] <- NA
  x[2, -3] <- NA
  s <- content$s
  s[4, ] <- 0
  x[4, ] <- 0
  fit <- exact_fit(s, content$a, x)
  sure <- identifiability(fit, cells = TRUE)
  expect_equal(sure$sites$outer_most[1:4], c(1, 1 - fitted(fit)[2, 3], 1 - max(fitted(fit)[3, ]), 1))
  expect_true(is.na(sure$sites$taxon[1]))
  expect_false(anyNA(sure$expected$most))
  expect_true(all(sure$cells$missed_outer_most[sure$cells$site == 4] == 1))
})

test_that("bootstrap and given fits add quantiles; the same seed gives the same", {
  case <- small_fit()
  set.seed(1)
  sure <- identifiability(case$fit, nsim = 5, cells = TRUE)
  set.seed(1)
  expect_identical(identifiability(case$fit, nsim = 5, cells = TRUE), sure)
  expect_equal(sure$n_draws, 5L)
  expect_named(sure$sampling, c("phantom", "bound", "least", "most", "expected_most"))
  expect_true(all(sure$cells$draws_most >= 0 & sure$cells$draws_most <= 1))
  given <- identifiability(case$fit, draws = list(case$fit, case$fit))
  expect_equal(given$sampling$most[1], given$share$most[1])
  expect_equal(given$sites$draws_most, given$sites$outer_most)
})

test_that("the session's random numbers stay, and what is found depends on none", {
  set.seed(1)
  x <- simulated_sites$x[1:30, 1:12]
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)
  fits <- list(
    aspect_bernoulli(x, 3, phantom = "white", control = few), noisy_or(x, 2, missed_by = "site", control = few)
  )
  for (fit in fits) {
    set.seed(1)
    before <- .Random.seed
    first <- suppressWarnings(identifiability(fit, nsim = 10))
    expect_identical(.Random.seed, before)
    set.seed(2)
    expect_identical(suppressWarnings(identifiability(fit, nsim = 10)), first)
  }
})

test_that("prints, plots and errors", {
  content <- stuck_by_scale()
  fit <- exact_fit(content$s, content$a, matrix(rep(0:1, 48), 12))
  set.seed(1)
  sure <- identifiability(fit)
  expect_snapshot({
    sure
    summary(sure)
  })
  drawn(ggplot2::autoplot(sure))
  for (bad in list(
    quote(identifiability(1)), quote(identifiability(fit, nsim = -1)), quote(identifiability(fit, draws = 1)),
    quote(identifiability(fit, level = 1)), quote(identifiability(fit, cells = NA)),
    quote(identifiability(fit, oops = 1)),
    quote(false_absences(fit, phantom_convention = "some")), quote(identifiability(fit, draws = list(small_fit()$fit)))
  )) {
    expect_error(eval(bad), class = "multicause_input_error")
  }
})

test_that("one observation, and a content component that writes nothing", {
  set.seed(4)
  shares <- matrix(c(0.5, 0.3, 0.2), 1)
  one <- fit_with(matrix(c(1, 0, 1, 0), 1), shares, rbind(matrix(runif(8), 2), 0), phantom = "white")
  expect_silent(sure <- identifiability(one))
  expect_lte(sure$sites$inner_most, sure$sites$outer_most + 1e-12)
  expect_equal(sure$sites$inner_least, sure$share$least[sure$share$bound == "inner"], tolerance = 1e-6)
  s <- random_simplex(6, 3)
  empty <- fit_with(matrix(rbinom(30, 1, 0.5), 6), s, rbind(runif(5), 0, 0), phantom = "white")
  found <- identifiability(empty, kinds = c("content", "content", "white"))
  expect_false(anyNA(found$sites[c("inner_least", "inner_most")]))
  expect_equal(fitted(found$fits$maximal), fitted(empty))
  zero <- aspect_bernoulli(matrix(0, 6, 5), 2)
  expect_s3_class(identifiability(zero), "identifiability")
})

test_that("a row with next to no content has the bounds of its composition, not of nothing", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10)
  few <- quiet_control(n_start = 2)
  fit <- suppressWarnings(aspect_bernoulli(x, 3, phantom = "white", estimate = "ml", control = few))
  bounds_with <- function(content) {
    fit$param$membership[3, ] <- c(content * c(0.3, 0.7), 1 - content)
    cells <- identifiability(fit, cells = TRUE, draws = list(fit))$cells
    cells <- cells[cells$site == 3, ]
    ranked <- false_absences(fit, Inf)
    ranked <- ranked[ranked$site == 3, ]
    cells$ranked_most <- ranked$missed_most[match(cells$taxon, ranked$taxon)]
    cells
  }
  some <- bounds_with(1e-4)
  # Probabilities depend on shares of the content, however little there is, down to the limit at which it counts as
  # none.
  for (content in c(1e-8, 3e-12, 1.01e-12)) {
    little <- bounds_with(content)
    for (column in grep("^(present|missed)$|outer|inner|draws|ranked", names(some), value = TRUE)) {
      expect_equal(little[[column]], some[[column]], tolerance = 2e-4, info = paste(column, content))
    }
  }
  none <- bounds_with(1e-13)
  expect_identical(c(range(none$missed_inner_least), range(none$missed_inner_most)), c(0, 0, 1, 1))
  expect_identical(c(range(none$draws_most), range(none$ranked_most)), c(1, 1, 1, 1))
})

test_that("draws of another table are refused", {
  set.seed(1)
  x <- matrix(rbinom(120, 1, 0.5), 12, dimnames = list(letters[1:12], LETTERS[1:10]))
  fit <- function(rows) aspect_bernoulli(x[rows, ], 2, control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  expect_error(identifiability(fit(1:12), draws = list(fit(1:12), fit(1:6))),
    "`draws` must have the 12 x 10 cells of the fit: number 2 has not.", fixed = TRUE, class = "multicause_input_error")
})

test_that("phantoms alone have no membership to move", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, max_iter = 2, tol = 0))
  expect_error(identifiability(fit, kinds = c("white", "black")), "`fit` must have a component that is no phantom.",
    fixed = TRUE, class = "multicause_input_error")
})
