# Latent class regression: memberships of bernoulli_mixture() that follow covariates (R/base_memberships.R).

# One EM iteration in plain R: E-step with the site's own weights, prototypes in closed form, one Newton step of the
# effects (ref_effects_step() of helper-visits.R). z: n x d.
ref_lcr_iteration <- function(x, z, effects, prototypes, one = 0, zero = 0, ridge = 0) {
  share <- ref_shares(effects, z)
  k <- ncol(effects)
  joint <- sapply(seq_len(k), function(c) {
    log(share[, c]) + apply(x, 1L, function(cells) {
      sum(stats::dbinom(cells, 1L, prototypes[c, ], log = TRUE), na.rm = TRUE)
    })
  })
  joint <- matrix(joint, nrow(x))
  loglik <- log(rowSums(exp(joint)))
  q <- exp(joint - loglik)
  seen <- rowSums(!is.na(x)) > 0
  known <- !is.na(x)
  ones <- ifelse(known, x, 0)
  new <- (t(q) %*% ones + one) / (t(q) %*% known + one + zero)
  prior <- one * sum(log(prototypes)) + zero * sum(log1p(-prototypes)) - ridge * sum(effects^2) / 2
  list(
    posterior = q, loglik = sum(loglik), prior = prior, prototypes = new,
    effects = matrix(ref_effects_step(effects, z, q * seen, ridge), nrow(effects))
  )
}

drawn_classes <- function(n, m, slope, seed) {
  set.seed(seed)
  z <- data.frame(depth = stats::rnorm(n), wet = stats::rbinom(n, 1L, 0.4))
  effects <- cbind(c(0.3, slope, 0), c(-0.3, -slope, 0))
  share <- ref_shares(effects, cbind(1, z$depth, z$wet))
  class <- 1L + (stats::runif(n) > share[, 1L])
  p <- rbind(stats::runif(m, 0.6, 0.95), stats::runif(m, 0.05, 0.4))
  list(x = matrix(stats::rbinom(n * m, 1L, p[class, ]), n), z = z, p = p, effects = effects, class = class)
}

test_that("iterations equal EM with a Newton step of the effects, with missing cells, empty rows and priors", {
  made <- drawn_classes(70, 6, 1, 1)
  x <- made$x
  x[sample(420, 40)] <- NA
  x[3, ] <- NA
  start <- list(
    weights = c(0.5, 0.5), prototypes = matrix(stats::runif(12, 0.2, 0.8), 2),
    effects = cbind(c(0.1, 0.2, -0.1), c(-0.1, -0.2, 0.1))
  )
  z <- cbind(1, made$z$depth, made$z$wet)
  scaled <- scale(z[, -1])
  basis <- diag(c(1, 1 / attr(scaled, "scaled:scale")))
  basis[1, -1] <- -attr(scaled, "scaled:center") / attr(scaled, "scaled:scale")
  for (estimate in c("ml", "map")) {
    pseudo <- if (estimate == "map") c(0.2, 1) else c(0, 0)
    ridge <- if (estimate == "map") 1 / 0.8^2 else 0
    ref <- list(effects = solve(basis, start$effects), prototypes = start$prototypes)
    for (iteration in 1:3) {
      ref <- ref_lcr_iteration(x, cbind(1, scaled), ref$effects, ref$prototypes, pseudo[1], pseudo[2], ridge)
    }
    last <- ref_lcr_iteration(x, cbind(1, scaled), ref$effects, ref$prototypes, pseudo[1], pseudo[2], ridge)
    fit <- bernoulli_mixture(
      x, 2, estimate = estimate, membership = ~ depth + wet, site_data = made$z, start = start,
      prior = list(prototypes = c(1.2, 2), weights = 1, effects = 0.8), control = plain_control(3)
    )
    expect_equal(unname(fit$param$effects), unname(basis %*% ref$effects), tolerance = 1e-10)
    expect_equal(unname(fit$param$prototypes), ref$prototypes, tolerance = 1e-10)
    expect_equal(unname(fit$param$membership), last$posterior, tolerance = 1e-10)
    expect_equal(unname(fit$objective), last$loglik + last$prior, tolerance = 1e-10)
  }
})

# Estimates and errors of poLCA and of the fit; components in the order of the first item.
agrees <- function(items, formula, covariates, k) {
  known <- if (is.null(covariates)) items else data.frame(items, covariates)
  theirs <- getExportedValue("poLCA", "poLCA")(
    stats::reformulate(deparse(formula[[2L]]), as.call(c(as.name("cbind"), lapply(names(items), as.name)))), known,
    nclass = k, nrep = 10, tol = 1e-13, maxiter = 50000, verbose = FALSE
  )
  x <- as.matrix(items) - 1
  dimnames(x) <- list(NULL, names(items))
  site_data <- covariates %||% data.frame(none = numeric(nrow(x)))
  ours <- bernoulli_mixture(
    x, k, estimate = "ml", membership = formula, site_data = site_data,
    control = quiet_control(n_start = 10, tol = 1e-13, max_iter = 20000)
  )
  p <- unname(sapply(theirs$probs, function(p) p[, 2]))
  at <- order(p[, 1])[rank(ours$param$prototypes[, 1])]
  expect_equal(ours$loglik, theirs$llik, tolerance = 1e-8)
  expect_equal(unname(ours$param$prototypes), p[at, ], tolerance = 1e-3)
  if (is.null(covariates)) {
    return(invisible())
  }
  coefficients <- cbind(0, theirs$coeff)[, at]
  expect_equal(
    unname(log_odds(ours$param$effects)), unname(log_odds(coefficients)), tolerance = 1e-3, ignore_attr = TRUE
  )
  error <- sqrt(diag(vcov(ours, method = "scores")))[-seq_along(ours$param$effects)]
  inner <- abs(p[at, ] - 0.5) < 0.49
  expect_equal(unname(error)[inner], sapply(theirs$probs.se, function(p) p[at, 2])[inner], tolerance = 1e-2)
}

test_that("a formula without covariates is the mixture itself, and no iteration lowers the objective", {
  made <- drawn_classes(80, 8, 1.5, 2)
  exact <- quiet_control(n_start = 3, tol = 1e-12, max_iter = 5000)
  plain <- bernoulli_mixture(made$x, 2, estimate = "ml", control = exact)
  same <- bernoulli_mixture(made$x, 2, estimate = "ml", membership = ~1, site_data = made$z, control = exact)
  expect_equal(same$loglik, plain$loglik, tolerance = 1e-8)
  expect_equal(same$param$weights, plain$param$weights, tolerance = 1e-4)
  for (accelerate in c(TRUE, FALSE)) {
    fit <- bernoulli_mixture(
      made$x, 3, membership = ~depth, site_data = made$z,
      control = quiet_control(n_start = 2, accelerate = accelerate, screen = FALSE)
    )
    expect_gte(min(diff(fit$trace$objective)), -1e-9)
  }
  expect_gt(bernoulli_mixture(made$x, 2, estimate = "ml", membership = ~depth, site_data = made$z)$loglik, plain$loglik)
})

test_that("planted effects lie within their intervals, and rows and columns may come in any order", {
  inside <- vapply(1:20, function(seed) {
    made <- drawn_classes(200, 8, 1, 100 + seed)
    fit <- bernoulli_mixture(
      made$x, 2, estimate = "ml", membership = ~ depth + wet, site_data = made$z, control = quiet_control(n_start = 3)
    )
    ends <- confint(fit, level = 0.9)[c("effects[A1, depth]", "effects[A2, depth]"), ]
    truth <- made$effects[2, 1] * if (fit$param$prototypes[1, 1] > 0.5) 1 else -1
    ends[1, 1] <= truth && truth <= ends[1, 2]
  }, NA)
  expect_gte(sum(inside), 15L) # of 20 at 90 %: fewer with probability .01
  made <- drawn_classes(60, 6, 1, 7)
  dimnames(made$x) <- list(paste0("s", 1:60), letters[1:6])
  made$z$site <- paste0("s", 1:60)
  few <- quiet_control(n_start = 3, tol = 1e-10)
  fit <- suppressMessages(bernoulli_mixture(made$x, 2, membership = ~depth, site_data = made$z, control = few))
  at <- sample(60)
  turned <- suppressMessages(
    bernoulli_mixture(made$x[at, 6:1], 2, membership = ~depth, site_data = made$z, control = few)
  )
  expect_equal(turned$param$effects, fit$param$effects, tolerance = 1e-4)
  expect_equal(turned$param$membership[rownames(made$x), ], fit$param$membership, tolerance = 1e-4)
})

test_that("new sites are known by covariates, by what was found there, or by both", {
  made <- drawn_classes(90, 7, 1.2, 3)
  fit <- bernoulli_mixture(made$x, 2, membership = ~depth, site_data = made$z)
  z <- cbind(1, made$z$depth)
  share <- unname(ref_shares(fit$param$effects, z))
  expect_equal(unname(predict(fit, type = "membership", site_data = made$z["depth"])), share, tolerance = 1e-10)
  expect_equal(unname(predict(fit, site_data = made$z["depth"])), share %*% unname(fit$param$prototypes),
    tolerance = 1e-10)
  expect_equal(
    unname(predict(fit, made$x, type = "membership", site_data = made$z["depth"])), unname(fit$param$membership),
    tolerance = 1e-10
  )
  gap <- predict(fit, type = "membership", site_data = data.frame(depth = c(NA, 1)))
  expect_identical(is.na(unname(gap[, 1])), c(TRUE, FALSE))
  gap <- predict(fit, made$x[1:2, ], site_data = data.frame(depth = c(0.5, NA)))
  expect_identical(is.na(unname(gap[, 1])), c(FALSE, TRUE))
  without <- predict(fit, made$x, type = "membership")
  expect_gt(max(abs(without - fit$param$membership)), 1e-3)
  expect_equal(unname(colMeans(share)), unname(fit$param$weights), tolerance = 1e-10)
  table <- tidy(fit, "effects", conf.int = TRUE)
  name <- sprintf("effects[%s, %s]", table$component, table$term)
  expect_equal(table$conf.low, unname(confint(fit)[name, 1]))
  expect_equal(table$std.error, unname(sqrt(diag(vcov(fit)))[name]))
  expect_length(simulate(fit, 1, seed = 1)[[1]], 630L)
  expect_identical(fit$df, 2 + 14)
  expect_equal(nobs(fit), 90)
})

# The log-likelihood of free effects and logits of prototypes, in plain R.
ref_lcr_loglik <- function(theta, x, z, k, basis) {
  d <- ncol(z)
  effects <- matrix(basis %*% theta[seq_len(ncol(basis))], d)
  logits <- matrix(theta[-seq_len(ncol(basis))], k)
  share <- ref_shares(effects, z)
  joint <- vapply(seq_len(k), function(c) {
    each <- stats::dbinom(t(x), 1L, stats::plogis(logits[c, ]))
    share[, c] * apply(matrix(each, ncol = nrow(x)), 2L, prod, na.rm = TRUE)
  }, numeric(nrow(x)))
  sum(log(rowSums(matrix(joint, nrow(x)))))
}

test_that("curvature is that of the log-likelihood by differences, scores are products of its gradients", {
  made <- drawn_classes(150, 5, 1, 12)
  x <- made$x
  x[sample(750, 60)] <- NA
  x[4, ] <- NA
  fit <- bernoulli_mixture(
    x, 2, estimate = "ml", membership = ~depth, site_data = made$z,
    control = quiet_control(n_start = 3, tol = 1e-13, max_iter = 1e4)
  )
  z <- cbind(1, made$z$depth)
  basis <- rbind(diag(2), -diag(2)) # effects of the first component, and of the second
  at <- c(fit$param$effects[, 1], stats::qlogis(fit$param$prototypes))
  hessian <- stats::optimHess(at, ref_lcr_loglik, x = x, z = z, k = 2, basis = basis)
  to_own <- rbind(cbind(basis, matrix(0, 4, 10)), cbind(matrix(0, 10, 2), diag(as.vector(with(fit$param, prototypes *
    (1 - prototypes))))))
  want <- to_own %*% solve(-hessian) %*% t(to_own)
  expect_equal(unname(vcov(fit, method = "curvature")), want, tolerance = 2e-3, ignore_attr = TRUE)
  gradients <- vapply(seq_len(150), function(i) {
    one <- function(theta) ref_lcr_loglik(theta, x[i, , drop = FALSE], z[i, , drop = FALSE], 2, basis)
    vapply(seq_along(at), function(j) {
      step <- replace(numeric(length(at)), j, 1e-5)
      (one(at + step) - one(at - step)) / 2e-5
    }, 0)
  }, at)
  want <- to_own %*% solve(tcrossprod(gradients)) %*% t(to_own)
  expect_equal(unname(vcov(fit, method = "scores")), want, tolerance = 1e-4, ignore_attr = TRUE)
  # 12 parameters: 150 sites are enough for scores
  expect_identical(vcov(fit), vcov(fit, method = "scores"))
  few <- bernoulli_mixture(x[1:40, ], 2, membership = ~depth, site_data = made$z[1:40, ])
  expect_identical(confint(few), confint(few, method = "curvature"))
  expect_match(attr(vcov(few), "method"), "curvature")
})

test_that("log-odds, curves and the summary show what effects say", {
  made <- drawn_classes(120, 6, 1.2, 5)
  fit <- bernoulli_mixture(made$x, 3, membership = ~ depth + wet, site_data = made$z, control = quiet_control())
  odds <- tidy(fit, "log_odds", conf.int = TRUE, conf.level = 0.9)
  effects <- fit$param$effects
  expect_equal(odds$estimate, as.vector(t(effects[, -1] - effects[, 1])))
  contrast <- c(0, -1, 0, 0, 1, 0) # of depth, the second component against the first
  error <- sqrt(drop(contrast %*% vcov(fit)[1:6, 1:6] %*% contrast))
  at <- odds$term == "depth" & odds$component == "A2"
  expect_equal(odds$std.error[at], error)
  expect_equal(odds$conf.high[at] - odds$estimate[at], stats::qnorm(0.95) * error)
  figure <- plot(fit, "membership", "depth")
  rows <- figure$data
  expect_equal(tapply(rows$membership, rows$at, sum), rep(1, 101), ignore_attr = TRUE)
  expect_true(all(rows$low <= rows$membership & rows$membership <= rows$high))
  ends <- rows[rows$at == min(rows$at), ]
  new <- data.frame(depth = min(made$z$depth), wet = mean(made$z$wet))
  expect_equal(ends$membership, as.vector(predict(fit, site_data = new, type = "membership")))
  # of two components the interval is that of the linear predictor
  two <- bernoulli_mixture(made$x, 2, membership = ~depth, site_data = made$z, control = quiet_control())
  curve <- membership_curve(two, cbind(two$covariates$design[, 1]), 0.95)
  z <- c(-1, -made$z$depth[1], 1, made$z$depth[1])
  error <- sqrt(drop(z %*% vcov(two)[1:4, 1:4] %*% z))
  expect_equal(curve$upper[2], stats::plogis(stats::qlogis(curve$mean[2]) + stats::qnorm(0.975) * error))
  shown <- capture.output(print(summary(fit)))
  expect_true(any(grepl("Log-odds of membership, against A1", shown)))
  expect_length(grep("^A[23] +depth ", shown), 2L)
  expect_error(plot(fit, "membership", "wind"), "must be one of", class = "multicause_input_error")
  one <- bernoulli_mixture(made$x, 1, membership = ~depth, site_data = made$z, control = quiet_control())
  expect_no_error(print(capture.output(print(summary(one)), plot(one, "membership"))))
})

test_that("verbs take the regression: held-out rows by their covariates, likelihood ratios, tables drawn anew", {
  made <- drawn_classes(80, 6, 2, 9)
  few <- quiet_control(n_start = 2)
  expect_error(
    cross_validate(made$x, 2, bernoulli_mixture, "rows", folds = 2, membership = ~depth, site_data = made$z,
      control = few), "a row for each", class = "multicause_input_error"
  )
  dimnames(made$x) <- list(paste0("s", 1:80), letters[1:6])
  rownames(made$z) <- rownames(made$x)
  fit <- bernoulli_mixture(made$x[1:60, ], 2, membership = ~depth, site_data = made$z, control = few)
  new <- made$x[61:80, ]
  share <- ref_shares(fit$param$effects, cbind(1, made$z$depth[61:80]))
  p <- unname(fit$param$prototypes)
  each <- sapply(1:2, function(c) share[, c] * apply(new, 1, function(x) prod(stats::dbinom(x, 1, p[c, ]))))
  expect_equal(as.vector(test_loglik(fit, new)), unname(log(rowSums(each))), tolerance = 1e-8)
  expect_error(test_loglik(fit, unname(new)), "covariates", class = "multicause_no_likelihood")
  with <- cross_validate(made$x, 2, bernoulli_mixture, "rows", folds = 3, membership = ~depth, site_data = made$z,
    control = few)
  expect_true(is.finite(with$results$loss))
  ml <- lapply(1:2, function(k) {
    bernoulli_mixture(made$x, k, estimate = "ml", membership = ~depth, site_data = made$z, control = few)
  })
  expect_identical(anova(ml[[1]], ml[[2]], nsim = 2, control = few)$Df, c(6, 14))
  drawn <- bootstrap_draws(ml[[2]], 2)
  expect_identical(dim(drawn[[1]]$param$effects), c(2L, 2L))
  expect_s3_class(update(fit, k = 3), "bernoulli_mixture_regression")
})

test_that("estimates and standard errors are those of package poLCA on its own data", {
  skip_if_not_installed("poLCA")
  peer <- "poLCA" # no package of ours: it is found where it is installed
  utils::data(list = "cheating", package = peer, envir = environment())
  known <- cheating[!is.na(cheating$GPA), ]
  x <- as.matrix(known[1:4]) - 1
  set.seed(1)
  theirs <- getExportedValue(peer, peer)(
    cbind(LIEEXAM, LIEPAPER, FRAUD, COPYEXAM) ~ GPA, known, nclass = 2, nrep = 10, tol = 1e-13, maxiter = 50000,
    verbose = FALSE
  )
  exact <- quiet_control(n_start = 10, tol = 1e-12, max_iter = 20000)
  ours <- bernoulli_mixture(x, 2, estimate = "ml", membership = ~GPA, site_data = known["GPA"], control = exact)
  expect_equal(ours$loglik, theirs$llik, tolerance = 1e-8)
  at <- if (theirs$P[1] > theirs$P[2]) 1:2 else 2:1
  their_p <- unname(sapply(theirs$probs, function(p) p[at, 2]))
  expect_equal(unname(ours$param$prototypes), their_p, tolerance = 1e-4)
  effects <- ours$param$effects
  turn <- if (at[1] == 1) 1 else -1
  expect_equal(unname(effects[, 2] - effects[, 1]), turn * as.vector(theirs$coeff), tolerance = 1e-4)
  v <- vcov(ours)
  contrast <- cbind(-diag(2), diag(2))
  error <- sqrt(diag(contrast %*% v[1:4, 1:4] %*% t(contrast)))
  expect_equal(error, as.vector(theirs$coeff.se), tolerance = 1e-4)
  expect_equal(
    unname(matrix(sqrt(diag(v))[-(1:4)], 2)), unname(sapply(theirs$probs.se, function(p) p[at, 2])), tolerance = 1e-4
  )
})

# poLCA 1.6.0.2, poLCA(cbind(V1, ..., V5) ~ z, nclass = 2, nrep = 10, tol = 1e-12) of the table that
# drawn_classes(120, 5, 1, 30) draws, z its depth.
test_that("estimates and standard errors are those that package poLCA had", {
  made <- drawn_classes(120, 5, 1, 30)
  fit <- bernoulli_mixture(
    made$x, 2, estimate = "ml", membership = ~depth, site_data = made$z,
    control = quiet_control(n_start = 5, tol = 1e-13, max_iter = 1e4)
  )
  expect_equal(fit$loglik, -358.090267664, tolerance = 1e-7)
  odds <- tidy(fit, "log_odds")
  turn <- if (fit$param$prototypes[1, 1] > 0.5) 1 else -1
  expect_equal(turn * odds$estimate, c(0.01804577, -1.98178430), tolerance = 1e-4)
  expect_equal(odds$std.error, c(0.39935330, 0.48328998), tolerance = 1e-4)
})

# Other data of the package; scores are what it has.
test_that("poLCA agrees on its election, values, carcinoma and gss82 data, recoded to two values", {
  skip_if_not_installed("poLCA")
  peer <- "poLCA"
  utils::data(list = c("election", "values", "carcinoma", "gss82"), package = peer, envir = environment())
  votes <- election[!is.na(election$PARTY) & stats::complete.cases(election[1:12]), ]
  votes[1:12] <- lapply(votes[1:12], function(item) 1L + (as.integer(item) > 2L))
  agrees(votes[c(1:6)], ~PARTY, votes["PARTY"], 2)
  agrees(values[1:4], ~1, NULL, 2)
  agrees(carcinoma[1:7], ~1, NULL, 2)
  agrees(data.frame(lapply(gss82, function(item) 1L + (as.integer(item) > 1L))), ~1, NULL, 2)
})

test_that("what cannot be is refused", {
  x <- binary_matrix(20, 5)
  z <- data.frame(depth = 1:20)
  refused <- function(..., pattern) {
    expect_error(bernoulli_mixture(x, 2, ...), pattern, class = "multicause_input_error")
  }
  refused(membership = ~age, site_data = z, pattern = "names \"age\"")
  refused(membership = ~depth, site_data = z[1:3, , drop = FALSE], pattern = "a row for each of the 20 sites")
  refused(membership = y ~ depth, site_data = z, pattern = "without a left side")
  refused(site_data = z, pattern = "`membership` alone")
  refused(membership = ~depth, site_data = z, smooth = smooth_over(age = 1:20, bandwidth = 1, strength = 1),
    pattern = "cannot both")
  refused(membership = ~depth, site_data = data.frame(depth = c(NA, 2:20)), pattern = "must be known for every site")
  fit <- bernoulli_mixture(x, 2)
  expect_error(predict(fit, site_data = z), "follow no covariates", class = "multicause_input_error")
})

test_that("a title claims a change only where the intervals of both ends are apart", {
  ends <- function(from, to, wide) {
    mean <- rbind(c(from, 0.3), c(to, 0.3))
    list(mean = mean, lower = mean - wide, upper = mean + wide)
  }
  labels <- c("A1", "A2")
  noise <- membership_title(ends(0.57, 0.63, 0.2), "noise", labels)
  expect_identical(noise, "No clear change of memberships with noise")
  expect_identical(
    membership_title(ends(0.2, 0.7, 0.1), "depth", labels), "Component A1 rises with depth, from 0.20 to 0.70"
  )
})

test_that("covariates without a formula are refused", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  for (model in list(bernoulli_mixture, plsa)) {
    expect_error(model(x, 2, site_data = data.frame(a = 1:10)),
      "`site_data` is used by `membership` alone: give that a formula.", fixed = TRUE, class = "multicause_input_error")
  }
})
