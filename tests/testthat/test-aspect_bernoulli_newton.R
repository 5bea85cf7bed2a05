# Newton's algorithm against the reference, and properties of its iterations. tests/validate/newton.R has the same on a
# thousand tables.

skip_on_cran()

newton <- function(iterations = 1L, accelerate = FALSE, tol = 0, algorithm = "newton", ...) {
  unclass(fit_control(max_iter = iterations, tol = tol, accelerate = accelerate, algorithm = algorithm, ...))
}
view_of <- function(x) suppressMessages(check_data(x, "binary"))$view
no_pins <- function(k) rep("free", k)
run_newton <- function(x, start, fixed = no_pins(ncol(start$membership)), pseudo = c(0, 0, 0), control = newton()) {
  ab_run(view_of(x), start, fixed, prior_of(pseudo), control)
}

# A small table with difficult features, its starting values, pins and pseudo-counts. Light: some columns' aspects are
# small, so that the sparse form bounds their zeros.
hard_problem <- function(seed, light = FALSE) {
  set.seed(seed)
  n <- sample(2:14, 1)
  m <- sample(2:12, 1)
  k <- sample(1:6, 1)
  x <- binary(n, m, runif(1, 0.05, 0.9), sample(c(0, 0.3), 1))
  kind <- seed %% 4
  if (kind == 1) x[sample(n, 1), ] <- sample(c(0, 1, NA), 1)
  if (kind == 2) x[, sample(m, 1)] <- sample(c(0, 1, NA), 1)
  if (!any(x %in% 0)) x[n, m] <- 0 # a table without one is refused
  start <- random_start(n, m, k)
  pseudo <- list(c(0, 0, 0), c(1e-4, 1e-4, 1e-4), c(0.2, 1, 0), c(0, 0, 0.03), c(99, 9, 5))[[seed %% 5 + 1]]
  fixed <- no_pins(k)
  if (kind == 3 && k > 2) {
    fixed[k] <- sample(c("white", "black"), 1)
    start$aspects[k, ] <- if (fixed[k] == "white") 0 else 1
  }
  if (seed %% 7 == 0 && k > 2) { # a component twice
    start$membership[, 2] <- start$membership[, 1]
    start$membership <- start$membership / rowSums(start$membership)
    start$aspects[2, ] <- start$aspects[1, ]
  }
  if (seed %% 6 == 0 && k > 3 && all(pseudo == 0)) { # probabilities of exactly 0 and 1 in one component
    start$aspects[1, ] <- sample(c(0, 1), m, TRUE)
  }
  if (seed %% 9 == 0 && k > 2 && pseudo[3] == 0) { # nothing of a component
    start$membership[1, 1] <- 0
    start$membership[1, ] <- start$membership[1, ] / sum(start$membership[1, ])
  }
  if (light) {
    free <- fixed == "free"
    share <- ifelse(runif(m) < 0.8, runif(m, 0, 0.4), 1)
    start$aspects[free, ] <- sweep(start$aspects[free, , drop = FALSE], 2, share, "*")
  }
  list(x = x, start = start, fixed = fixed, pseudo = pseudo)
}

log_posterior <- function(p, param) {
  free <- p$fixed == "free"
  terms <- function(weight, x) if (weight > 0) weight * sum(log(x)) else 0
  ref_loglik(p$x, param$membership, param$aspects) + terms(p$pseudo[3], param$membership) +
    terms(p$pseudo[1], param$aspects[free, ]) + terms(p$pseudo[2], 1 - param$aspects[free, ])
}

test_that("an iteration equals the reference", {
  for (seed in 1:24) {
    set.seed(seed)
    k <- sample(1:4, 1)
    n <- sample(10:14, 1)
    m <- sample(10:14, 1)
    x <- binary(n, m, 0.4, if (seed %% 2) 0.2 else 0)
    start <- random_start(n, m, k)
    fixed <- no_pins(k)
    if (seed %% 3 == 0 && k > 1) {
      fixed[k] <- "white"
      start$aspects[k, ] <- 0
    }
    pseudo <- list(c(0, 0, 0), c(0.2, 1, 0.3), c(0.01, 0, 0), c(0, 0, 5))[[seed %% 4 + 1]]
    for (iteration in 1:3) {
      got <- run_newton(x, start, fixed, pseudo)
      expect_equal(got$param, ref_newton_pass(x, start, pseudo, fixed != "free"), tolerance = 1e-7)
      start <- got$param
    }
  }
})

test_that("an iteration over three blocks of rows, and of columns, equals the reference", {
  set.seed(25)
  for (shape in list(c(three_blocks(128), 6), c(6, three_blocks(128)))) {
    x <- binary(shape[1], shape[2], 0.4, 0.2)
    start <- random_start(shape[1], shape[2], 2)
    pseudo <- c(0.2, 1, 0.3)
    got <- run_newton(x, start, pseudo = pseudo)
    expect_equal(got$param, ref_newton_pass(x, start, pseudo), tolerance = 1e-7)
    # The value at the start of a second iteration, and those of the sparse form, whose steps use bounds.
    problem <- list(x = x, fixed = no_pins(2), pseudo = pseudo)
    two <- run_newton(x, start, pseudo = pseudo, control = newton(2L))
    expect_equal(two$outcome$trace[1], log_posterior(problem, got$param), tolerance = 1e-10)
    start$aspects <- start$aspects / 5
    for (got in list(got, run_newton(x, start, pseudo = pseudo, control = newton(algorithm = "sparse")))) {
      expect_equal(got$outcome$objective, log_posterior(problem, got$param), tolerance = 1e-10)
    }
  }
})

test_that("no iteration lowers the objective, and rows stay on the simplex, whatever the table", {
  for (seed in 1:240) {
    p <- hard_problem(seed, light = seed > 120)
    form <- if (seed > 120) "sparse" else "newton"
    got <- run_newton(p$x, p$start, p$fixed, p$pseudo, newton(25L, algorithm = form))
    expect_gte(min(diff(c(log_posterior(p, p$start), got$outcome$trace))), -1e-9 * (1 + abs(got$outcome$objective)))
    expect_equal(got$outcome$objective, log_posterior(p, got$param), tolerance = 1e-10)
    expect_lt(max(abs(rowSums(got$param$membership) - 1)), 1e-12)
    expect_true(all(unlist(got$param) >= 0 & unlist(got$param) <= 1))
    expect_identical(got$param$aspects[p$fixed != "free", ], p$start$aspects[p$fixed != "free", ])
  }
})

# Iterates one half to convergence, with the other side fixed.
run_half <- function(p, side, iterations = 300L, algorithm = "newton") {
  held <- ab_kernel_param(p$start, p$fixed)
  held[[paste0("fixed_", setdiff(c("membership", "aspects"), side))]] <- TRUE
  counts <- mode_counts(prior_of(p$pseudo), p$fixed)
  out <- .Call(mc_c_ab_fit, view_of(p$x), held, counts, newton(iterations, algorithm = algorithm))
  out[c("membership", "aspects")]
}

test_that("a half solved to the end is the optimum: the other one's vertices have nothing to offer", {
  for (seed in 1:90) {
    light <- seed > 60
    p <- hard_problem(seed, light)
    for (side in c("membership", "aspects")) {
      got <- run_half(p, side, if (light) 1000L else 300L, if (light) "sparse" else "newton")
      expect_lt(ref_gap(p, got, side), 1e-8 * (1 + sum(p$pseudo) * length(got[[side]])))
      held <- setdiff(c("membership", "aspects"), side)
      expect_identical(got[[held]], p$start[[held]])
    }
  }
})

test_that("a half solved to the end is no worse than what general solvers of base R find", {
  for (seed in 1:12) {
    set.seed(seed)
    k <- 3L
    p <- list(x = binary(8, 10, 0.4, 0.1), start = random_start(8, 10, k), fixed = no_pins(k), pseudo = c(0, 0, 0))
    rows <- run_half(p, "membership")
    columns <- run_half(p, "aspects")
    loglik <- function(x, weights, v) {
      p <- colSums(weights * v)
      sum(log(ifelse(x == 1, p, 1 - p)), na.rm = TRUE)
    }
    for (i in 1:8) {
      value <- function(w) loglik(p$x[i, ], c(w, 1 - sum(w)), p$start$aspects)
      inside <- rbind(diag(k - 1), rep(-1, k - 1))
      found <- constrOptim(rep(1 / k, k - 1), value, NULL, inside, c(0, 0, -1),
        control = list(fnscale = -1, reltol = 1e-14)
      )
      expect_gte(loglik(p$x[i, ], rows$membership[i, ], p$start$aspects), found$value - 1e-8)
    }
    for (j in 1:10) {
      value <- function(a) loglik(p$x[, j], a, t(p$start$membership))
      found <- optim(rep(0.5, k), value, method = "L-BFGS-B", lower = 1e-9, upper = 1 - 1e-9,
        control = list(fnscale = -1, factr = 10)
      )
      expect_lt(abs(value(columns$aspects[, j]) - found$value), 1e-6)
      expect_gte(value(columns$aspects[, j]), found$value - 1e-8)
    }
  }
})

test_that("missing cells drop out, and what has none that are seen stays", {
  set.seed(3)
  x <- binary(9, 7, 0.4)
  start <- random_start(9, 7, 3)
  wide <- rbind(cbind(x, NA), NA)
  more <- list(
    membership = rbind(start$membership, c(0.2, 0.3, 0.5)), aspects = cbind(start$aspects, c(0.1, 0.4, 0.9))
  )
  without <- run_newton(x, start, control = newton(9L))
  with <- run_newton(wide, more, control = newton(9L))
  expect_equal(with$param$membership[1:9, ], without$param$membership, tolerance = 1e-10)
  expect_equal(with$param$aspects[, 1:7], without$param$aspects, tolerance = 1e-10)
  expect_equal(with$param$membership[10, ], c(0.2, 0.3, 0.5), tolerance = 1e-15)
  expect_identical(with$param$aspects[, 8], more$aspects[, 8])
  expect_equal(with$outcome$trace, without$outcome$trace, tolerance = 1e-12)
})

test_that("order of rows and columns, and exchange of 0 and 1, change nothing", {
  set.seed(4)
  x <- binary(12, 9, 0.3, 0.1)
  start <- random_start(12, 9, 3)
  rows <- sample(12)
  columns <- sample(9)
  got <- run_newton(x, start, pseudo = c(0.2, 1, 0.1), control = newton(6L))
  moved <- run_newton(x[rows, columns],
    list(membership = start$membership[rows, ], aspects = start$aspects[, columns]),
    pseudo = c(0.2, 1, 0.1), control = newton(6L)
  )
  expect_equal(moved$param$membership, got$param$membership[rows, ], tolerance = 1e-8)
  expect_equal(moved$param$aspects, got$param$aspects[, columns], tolerance = 1e-8)
  flipped <- run_newton(1 - x, list(membership = start$membership, aspects = 1 - start$aspects),
    pseudo = c(1, 0.2, 0.1), control = newton(6L)
  )
  expect_equal(flipped$param$membership, got$param$membership, tolerance = 1e-8)
  expect_equal(1 - flipped$param$aspects, got$param$aspects, tolerance = 1e-8)
})

test_that("the number of threads changes no bit", {
  set.seed(5)
  x <- binary(300, 170, 0.2, 0.05)
  start <- random_start(300, 170, 4)
  once <- run_newton(x, start, control = newton(12L, accelerate = TRUE))
  expect_identical(run_newton(x, start, control = newton(12L, accelerate = TRUE, n_threads = 2)), once)
  expect_identical(run_newton(x, start, control = newton(12L, accelerate = TRUE, n_threads = 3)), once)
})

test_that("exact zeros come back, which passes of EM never do", {
  x <- rbind(matrix(rep(c(1, 1, 0, 0), each = 6), 6), matrix(rep(c(0, 0, 1, 1), each = 6), 6))
  start <- list(membership = cbind(c(0, rep(0.5, 11)), c(1, rep(0.5, 11))), aspects = rbind(
    c(0.8, 0.8, 0.2, 0.2), c(0.2, 0.2, 0.8, 0.8)
  ))
  fit <- function(algorithm) {
    control <- fit_control(n_start = 1, max_iter = 60, tol = 0, accelerate = FALSE, algorithm = algorithm)
    quiet(x, 2, start = start, control = control)$param$membership[1, ]
  }
  expect_equal(unname(fit("newton")), c(1, 0))
  expect_equal(unname(fit("em")), c(0, 1))
})

test_that("fits end at certificates no looser than those of EM, and at least as high from the same start", {
  set.seed(6)
  truth <- planted(120, 30)
  flat <- list(aspects = c(1.2, 2), membership = 1) # which is harder than the default
  for (estimate in c("ml", "map")) {
    start <- random_start(120, 30, 3)
    both <- lapply(c(newton = "newton", em = "em"), function(algorithm) {
      control <- fit_control(n_start = 1, algorithm = algorithm, progress = FALSE)
      suppressWarnings(
        aspect_bernoulli(truth$x, 3, estimate = estimate, prior = flat, start = start, control = control)
      )
    })
    expect_true(both$newton$converged)
    gap <- vapply(both, function(fit) sum(fit$certificate[1:2]), 0)
    expect_lte(gap[["newton"]], gap[["em"]] + 1e-6)
    expect_lt(gap[["newton"]], 0.1)
    expect_lt(nrow(both$newton$trace), nrow(both$em$trace) / 2)
  }
})

test_that("auto is Newton, but EM for plain iterations, many components, neighbours, and few columns with a prior", {
  set.seed(7)
  x <- binary(20, 40, 0.3)
  start <- random_start(20, 40, 2)
  trace_of <- function(...) {
    control <- fit_control(n_start = 1, max_iter = 8, tol = 0, ...)
    suppressWarnings(aspect_bernoulli(x, 2, start = start, control = control))$trace$objective
  }
  expect_identical(trace_of(), trace_of(algorithm = "newton"))
  expect_identical(trace_of(accelerate = FALSE), trace_of(algorithm = "em", accelerate = FALSE))
  expect_false(isTRUE(all.equal(trace_of(), trace_of(algorithm = "em"))))
  near_trace <- function(...) {
    control <- fit_control(n_start = 1, max_iter = 8, tol = 0, ...)
    near <- smooth_over(age = 1:20, bandwidth = 3, strength = 2)
    suppressWarnings(aspect_bernoulli(x, 2, start = start, smooth = near, control = control))$trace$objective
  }
  expect_identical(near_trace(), near_trace(algorithm = "em"))
  chosen <- function(k, ...) {
    start <- random_start(20, ncol(x), k)
    control <- fit_control(n_start = 1, max_iter = 3, tol = 0)
    hush(aspect_bernoulli(x, k, start = start, control = control, ...))$algorithm
  }
  expect_identical(vapply(c(12, 13, 16, 17), chosen, "", estimate = "ml"), rep(c("newton", "em"), c(3, 1)))
  expect_identical(vapply(c(12, 13), chosen, "", estimate = "map"), c("newton", "em"))
  x <- x[, -1]
  expect_identical(c(chosen(2, estimate = "map"), chosen(2, estimate = "ml")), c("em", "newton"))
  expect_error(fit_control(algorithm = "gradient"), "algorithm", class = "multicause_input_error")
  expect_identical(fit_control()$algorithm, "auto")
})

test_that("drawn starts with a prior begin by EM where Newton iterations are chosen, and no other runs do", {
  trace_of <- function(iterations, seed = 14, tol = 0, estimate = "map", ...) {
    set.seed(seed)
    control <- fit_control(n_start = 1, n_polish = 0, max_iter = iterations, tol = tol, ...)
    fit <- hush(aspect_bernoulli(early_tetrapods$x, 6, estimate = estimate, control = control))
    expect_identical(fit$algorithm, if (identical(list(...)$algorithm, "em")) "em" else "newton")
    fit$trace$objective
  }
  till <- integer() # where little is gained
  for (seed in 14:17) {
    till <- c(till, length(trace_of(60, seed, tol = 3e-3, algorithm = "em")))
    first <- seq_len(min(till[length(till)], 30L))
    opened <- trace_of(45, seed)
    expect_length(opened, 45L)
    expect_identical(opened[first], trace_of(max(first), seed, algorithm = "em"))
    expect_gte(min(diff(opened)), -1e-9)
    then <- max(first) + 1:3
    expect_gt(max(abs(opened - trace_of(45, seed, algorithm = "em"))[then]), 1e-6)
  }
  expect_lt(min(till), 30L)
  expect_gt(max(till), 30L)
  expect_identical(trace_of(12), trace_of(12, algorithm = "em"))
  expect_gt(max(abs(trace_of(45, algorithm = "newton") - trace_of(45))), 1e-6)
  expect_identical(trace_of(12, estimate = "ml"), trace_of(12, estimate = "ml", algorithm = "newton"))
})

test_that("large tables with few ones have the sparse form, and a fit says which passes it had", {
  set.seed(9)
  x <- binary(500, 200, 0.015)
  start <- random_start(500, 200, 4)
  start$aspects <- start$aspects / 10
  fit <- function(x, start, ...) {
    control <- fit_control(n_start = 1, max_iter = 12, tol = 0, ...)
    suppressWarnings(aspect_bernoulli(x, ncol(start$membership), start = start, control = control))
  }
  fits <- lapply(c(auto = "auto", sparse = "sparse", newton = "newton", em = "em"), function(algorithm) {
    fit(x, start, algorithm = algorithm)
  })
  expect_identical(vapply(fits, function(fit) fit$algorithm, ""), c(
    auto = "sparse", sparse = "sparse", newton = "newton", em = "em"
  ))
  expect_identical(fits$auto$trace, fits$sparse$trace)
  expect_false(isTRUE(all.equal(fits$newton$trace, fits$sparse$trace)))
  expect_gt(fits$sparse$objective, fits$em$objective)
  gone <- x
  gone[sample(length(x), 3000)] <- NA # stored as ones are
  expect_identical(fit(gone, start)$algorithm, "newton")
  expect_identical(fit(x[, 1:150], list(membership = start$membership, aspects = start$aspects[, 1:150]))$algorithm,
    "newton")
  expect_identical(fit(x, random_start(500, 200, 3))$algorithm, "newton")
  expect_identical(fit(x, start, accelerate = FALSE)$algorithm, "em")
  effort <- suppressWarnings(aspect_bernoulli(x, 4, effort = rowSums(x),
    control = fit_control(n_start = 1, max_iter = 3, tol = 0, n_polish = 0, algorithm = "sparse")
  ))
  expect_identical(effort$algorithm, "newton")
  expect_null(suppressWarnings(aspect_bernoulli(x[1:20, 1:10], 2, estimate = "vb",
    control = fit_control(n_start = 1, max_iter = 3, tol = 0)
  ))$algorithm)
})

test_that("the sparse form: threads change no bit, missing cells drop out, and it ends where the dense form does", {
  set.seed(10)
  x <- binary(400, 150, 0.05, 0.01)
  start <- random_start(400, 150, 5)
  start$aspects <- start$aspects * rep(runif(150, 0.02, 0.8), each = 5)
  iteration <- function(x, start, form, ...) {
    run_newton(x, start, pseudo = c(0.2, 1, 0.03), control = newton(algorithm = form, ...))
  }
  once <- iteration(x, start, "sparse", iterations = 9L, accelerate = TRUE)
  expect_identical(iteration(x, start, "sparse", iterations = 9L, accelerate = TRUE, n_threads = 3), once)
  wide <- rbind(cbind(x, NA), NA)
  more <- list(membership = rbind(start$membership, rep(0.2, 5)), aspects = cbind(start$aspects, 0.1))
  with <- iteration(wide, more, "sparse", iterations = 3L)
  without <- iteration(x, start, "sparse", iterations = 3L)
  expect_equal(with$param$membership[1:400, ], without$param$membership, tolerance = 1e-8)
  expect_equal(with$param$aspects[, 1:150], without$param$aspects, tolerance = 1e-8)
  # With fixed aspects the problem is concave: one optimum.
  held <- lapply(c("sparse", "newton"), function(form) {
    prior <- prior_of(c(0, 0, 0.03))
    ab_run(view_of(x), start, no_pins(5), prior, newton(200L, algorithm = form), fixed_aspects = TRUE)
  })
  expect_equal(held[[1L]]$outcome$objective, held[[2L]]$outcome$objective, tolerance = 1e-12)
  expect_equal(held[[1L]]$param$membership, held[[2L]]$param$membership, tolerance = 1e-5)
})

test_that("zeros that are not visited: the end is that of the objective itself, at any number of iterations", {
  set.seed(12)
  for (case in 1:4) {
    k <- 4L
    x <- binary(300, 120, 0.02, if (case %% 2) 0.005 else 0)
    p <- list(x = x, start = random_start(300, 120, k), fixed = no_pins(k), pseudo = c(0, 0, 0))
    p$start$aspects <- p$start$aspects / 10
    if (case > 2) p$pseudo <- c(0.2, 1, 0.03)
    if (case == 4) {
      p$fixed[k] <- "white"
      p$start$aspects[k, ] <- 0
    }
    for (iterations in c(5L, 7L, 20L, 600L)) {
      for (accelerate in c(TRUE, FALSE)) {
        control <- newton(iterations, accelerate, 1e-8, algorithm = "sparse")
        got <- run_newton(p$x, p$start, p$fixed, p$pseudo, control)
        expect_equal(got$outcome$objective, log_posterior(p, got$param), tolerance = 1e-10)
        expect_gte(min(diff(got$outcome$trace)), -1e-9 * abs(got$outcome$objective))
        expect_identical(got$outcome$n_iter, length(got$outcome$trace))
        control$n_threads <- 3L
        expect_identical(run_newton(p$x, p$start, p$fixed, p$pseudo, control), got)
        if (iterations < 100L) expect_identical(got$outcome$status, "max_iter")
      }
    }
    expect_identical(got$outcome$status, "converged")
    expect_lt(ref_gap(p, got$param, "membership") + ref_gap(p, got$param, "aspects"), 1)
    expect_identical(got$param$aspects[p$fixed != "free", ], p$start$aspects[p$fixed != "free", ])
  }
})

test_that("starts are screened by 50 Newton iterations, by 100 of EM, unless it is said", {
  set.seed(11)
  x <- binary(40, 45, 0.4)
  screened <- function(..., k = 2) {
    control <- fit_control(n_start = 5, tol = 0, n_finish = 1, max_iter = 150, n_polish = 0, ...)
    fit <- suppressWarnings(aspect_bernoulli(x, k, control = control))
    fit$starts$iterations[!fit$starts$finished][1L]
  }
  expect_identical(screened(), 50L)
  expect_identical(screened(algorithm = "em"), 100L)
  expect_identical(screened(screen = 7), 7L)
  expect_identical(screened(accelerate = FALSE), 100L)
  expect_error(fit_control(screen = 0), "`screen` must be one whole number", class = "multicause_input_error")
})

test_that("Newton iterations of a screened start end where little is left to climb, and finished ones resume there", {
  fit_of <- function(...) {
    set.seed(3)
    control <- quiet_control(n_start = 6, n_finish = 2, n_polish = 0, keep_starts = TRUE, ...)
    aspect_bernoulli(simulated_sites$x, 3, control = control)
  }
  fit <- fit_of()
  long <- fit_of(screen = FALSE)
  left <- !fit$starts$finished
  expect_identical(sum(left), 4L)
  expect_identical(fit$starts$converged, !left) # a start that was screened is never reported as converged
  near <- left & fit$starts$iterations < 50L
  expect_gt(sum(near), 0L)
  expect_lt(sum(fit$starts$iterations[left]), sum(long$starts$iterations[left]))
  short_of <- long$starts$objective - fit$starts$objective
  expect_gt(min(short_of), -1e-6)
  expect_lt(max(short_of[near]), 10 * 1e-5 * abs(fit$objective)) # near its end
  expect_equal(fit$objective, long$objective, tolerance = 1e-8)
})

test_that("neighbours and effort climb by Newton halves, too", {
  set.seed(8)
  x <- binary(24, 8, 0.4, 0.1)
  effort <- rnorm(24)
  for (accelerate in c(TRUE, FALSE)) {
    control <- fit_control(n_start = 1, max_iter = 60, tol = 0, accelerate = accelerate, algorithm = "newton")
    near <- suppressWarnings(aspect_bernoulli(x, 4, estimate = "map", phantom = "white", control = control,
      smooth = smooth_over(age = 1:24, bandwidth = 2, strength = 5)
    ))
    expect_gte(min(diff(near$trace$objective)), -1e-9)
    searched <- suppressWarnings(aspect_bernoulli(x, 3, effort = effort, control = control))
    expect_gte(min(diff(searched$trace$objective)), -1e-9)
  }
})
