# Probabilities at observations that were not in the data.
set.seed(41)
n <- 90
m <- 24
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
site <- data.frame(elev = rnorm(n), age = runif(n, 0, 9), row.names = paste0("s", 1:n))
shares <- ref_shares(cbind(c(0.3, 1.5), c(-0.3, -1.5)), cbind(1, site$elev))
present <- matrix(rbinom(n * m, 1, shares %*% rbind(rbeta(m, 0.4, 0.8), rbeta(m, 0.4, 0.8))), n)
date <- matrix(rnorm(n * 3), n)
cell <- array(0L, c(n, m, 3), list(site = rownames(site), species = paste0("t", 1:m), visit = 1:3))
for (v in 1:3) cell[, , v] <- present * rbinom(n * m, 1, plogis(-0.2 + 0.6 * date[, v]))
old <- 1:60
new <- 61:90
few <- fit_control(n_start = 2)
fits <- quiet({
  set.seed(1)
  list(
    follows = visits_bernoulli(
      cell[old, , ], 2,
      detection = ~date, visit_data = list(date = date[old, ]), communities = ~elev, site_data = site[old, ],
      control = few
    ),
    free = visits_bernoulli(cell[old, , ], 2, detection = ~date, visit_data = list(date = date[old, ]), control = few),
    rates = visits_bernoulli(cell[old, , ], 2, missed_by = "taxon", control = few),
    near = visits_bernoulli(
      cell[old, , ], 2,
      missed_by = "visit", control = few,
      smooth = smooth_over(age = site$age[old], bandwidth = 1, strength = 5, most = 60)
    ),
    gibbs = visits_bernoulli(
      cell[old, , ], 2,
      detection = ~date, visit_data = list(date = date[old, ]), communities = ~elev, site_data = site[old, ],
      estimate = "gibbs", control = mcmc_control(chains = 2, warmup = 50, draws = 100, keep = 20, progress = FALSE)
    )
  )
})

test_that("covariates alone tell the memberships", {
  fit <- fits$follows
  got <- predict(fit, site_data = site[new, ])
  eta <- cbind(1, site$elev[new]) %*% fit$param$communities
  share <- exp(eta) / rowSums(exp(eta))
  expect_equal(unname(got), unname(share %*% fit$param$aspects), tolerance = 1e-10)
  expect_identical(dimnames(got), list(rownames(site)[new], colnames(cell)))
  expect_equal(unname(predict(fit, site_data = site[new, ], type = "membership")), unname(share), tolerance = 1e-10)
  # The data's own sites as new sites.
  expect_equal(predict(fit, site_data = site[old, ]), fitted(fit), tolerance = 1e-8)
  # They are more informative than the mean of each taxon.
  loss <- function(p) -mean(log(ifelse(present[new, ] == 1, p, 1 - p)))
  expect_lt(loss(got), loss(matrix(colMeans(fitted(fit)), 30, m, byrow = TRUE)))
})

test_that("visits to new sites: memberships are those of the data's own sites, all else held", {
  for (name in c("follows", "free", "rates")) {
    fit <- fits[[name]]
    args <- list(fit, cell[old, m:1, ], visit_data = list(date = date[old, ]), site_data = site[old, ])
    if (name == "free") args$site_data <- NULL
    if (name == "rates") args[c("visit_data", "site_data")] <- NULL
    expect_equal(
      do.call(predict, c(args, type = "membership")), fit$param$membership,
      tolerance = 2e-2, ignore_attr = TRUE
    )
    # A membership with little information may stop short of its optimum in the fit.
    expect_lt(mean(abs(do.call(predict, c(args, type = "present")) - predict(fit, type = "present")[, m:1])), 0.005)
  }
  expect_true(all(predict(fits$free, type = "present")[apply(cell[old, , ], 1:2, max) == 1] == 1))
})

test_that("neighbours alone, and with visits", {
  fit <- fits$near
  along <- list(age = site$age[new])
  got <- predict(fit, along = along, type = "membership")
  weights <- exp(-abs(outer(site$age[new], site$age[old], "-")))
  near <- weights > 0.01 # where the kernel's reach ends
  weights <- weights * near / pmax(rowSums(weights * near), 1e-300)
  want <- weights %*% fit$param$membership
  known <- rowSums(near) > 0
  expect_lt(max(abs(got - want)[known, ]), 2e-3)
  both <- predict(fit, cell[new, , ], along = along, type = "membership")
  loose <- fit
  loose$smooth$strength <- 0
  alone <- predict(loose, cell[new, , ], type = "membership")
  expect_lt(sum((both - got)[known, ]^2), sum((alone - got)[known, ]^2))
  bare <- cell[new, , ]
  bare[1, , ] <- NA
  expect_equal(
    predict(fit, bare, along = along, type = "membership")[1, ], got[1, ],
    tolerance = 1e-8, ignore_attr = TRUE
  )
})

test_that("planned visits find what is there with the probability of their detection", {
  fit <- fits$follows
  plan <- data.frame(date = c(-1, 0, 1))
  probability <- predict(fit, plan, type = "detection")
  found <- 1 - apply(1 - probability, 2, prod)
  expect_equal(
    unname(predict(fit, type = "found", planned = plan, site_data = site[new, ])),
    unname(sweep(predict(fit, site_data = site[new, ]), 2, found, "*")), tolerance = 1e-10
  )
  own <- predict(fits$free, type = "found", planned = plan)
  found <- 1 - apply(1 - predict(fits$free, plan, type = "detection"), 2, prod)
  expect_equal(own, sweep(predict(fits$free, type = "present"), 2, found, "*"), tolerance = 1e-10)
  expect_equal(
    predict(fits$free, type = "found", planned = 2),
    predict(fits$free, type = "found", planned = data.frame(date = rep(mean(date[old, ]), 2))),
    tolerance = 1e-6
  )
})

test_that("draws tell how sure predictions are", {
  fit <- fits$gibbs
  bounds <- predict(fit, site_data = site[new, ], level = 0.9)
  expect_true(all(bounds$lower <= bounds$mean + 1e-9 & bounds$mean <= bounds$upper + 1e-9))
  expect_equal(predict(fit, site_data = site[new, ]), bounds$mean)
  expect_gt(cor(as.vector(bounds$mean), as.vector(predict(fits$follows, site_data = site[new, ]))), 0.9)
  got <- predict(fit, cell[new, , ], "present", visit_data = list(date = date[new, ]), site_data = site[new, ])
  expect_true(all(got[apply(cell[new, , ], 1:2, max) == 1] > 1 - 1e-12))
  expect_true(all(got >= 0 & got <= 1))
})

test_that("what cannot be predicted is refused", {
  visits <- list(date = date[new, ])
  by_site <- quiet(visits_bernoulli(cell[old, , ], 2, missed_by = "site", control = few))
  expect_snapshot(error = TRUE, {
    predict(fits$free, site_data = site[new, ])
    predict(fits$near, site_data = site[new, ])
    predict(fits$free, along = list(age = 1))
    predict(fits$free, cell[new, , ])
    predict(fits$follows, cell[new, , ], visit_data = visits)
    predict(fits$follows, site_data = site[new, "age", drop = FALSE])
    predict(fits$follows, site_data = data.frame(elev = "high"))
    predict(fits$rates, cell[new, , 1:2])
    predict(by_site, cell[new, , ])
    predict(fits$follows, site_data = site[new, ], type = "cell")
    predict(fits$follows, site_data = site[new, ], level = 0.9)
    predict(fits$free, type = "found")
    predict(fits$free, type = "found", planned = "often")
    predict(fits$rates, type = "found", planned = 2)
    predict(fits$gibbs, type = "present", level = 0.9)
  })
})

test_that("new visits may be an array of fewer sites than taxa", {
  got <- predict(fits$free, unname(cell[1:3, , ]), visit_data = list(date = date[1:3, ]))
  expect_equal(unname(got), unname(predict(fits$free, cell[1:3, , ], visit_data = list(date = date[1:3, ]))))
})

test_that("a data frame of covariates is what new sites are known by; an unknown covariate gives NA", {
  # Call of package terra for the cells of a raster: layers as columns, some unknown to the fit.
  cells <- data.frame(other = 1, elev = c(site$elev[new], NA, NaN))
  for (name in c("follows", "gibbs")) {
    fit <- fits[[name]]
    want <- unname(predict(fit, site_data = site[new, ]))
    got <- predict(fit, cells)
    expect_equal(unname(got[1:30, ]), want)
    expect_true(all(is.na(got[31:32, ])))
    expect_equal(unname(predict(fit, cells, type = "membership")[1:30, ]),
      unname(predict(fit, site_data = site[new, ], type = "membership")))
    expect_true(all(is.na(predict(fit, data.frame(elev = NA)))))
    expect_identical(augment(fit, newdata = cells)$.fitted, as.vector(t(got)))
  }
  bounds <- predict(fits$gibbs, cells, level = 0.9)
  expect_identical(unname(is.na(bounds$upper[, 1])), is.na(cells$elev))
  # Visits to a site with an unknown covariate.
  lost <- site[new, ]
  lost$elev[2] <- NA
  after <- predict(fits$follows, cell[new, , ], "present", visit_data = list(date = date[new, ]), site_data = lost)
  expect_identical(unname(rowSums(is.na(after)) > 0), seq_len(30) == 2)
  found <- predict(fits$free, data.frame(date = c(NA, 0)), type = "detection")
  expect_identical(unname(is.na(found[, 1])), c(TRUE, FALSE))
  expect_equal(found[2, ], predict(fits$free, data.frame(date = 0), type = "detection")[1, ])
  refuses <- function(expr, word) expect_error(expr, word, class = "multicause_input_error")
  refuses(predict(fits$free, cells), "`communities`")
  refuses(predict(fits$follows, data.frame(elev = c("high", NA))), "must be numbers: row 1 is high")
  refuses(predict(fits$follows, data.frame(height = 1)), "elev")
})

test_that("covariates of planned visits go to the sites by name, and new levels are refused", {
  set.seed(5)
  e <- rnorm(40)
  sides <- list(site = paste0("s", 1:40), taxon = letters[1:4], visit = NULL)
  y <- array(rbinom(40 * 4 * 3, 1, 0.5), c(40, 4, 3), sides)
  sites <- data.frame(e, row.names = rownames(y))
  fit <- suppressMessages(visits_bernoulli(y, 1, detection = ~e, site_data = sites, rare = 0))
  found <- function(sites) predict(fit, type = "found", planned = 1, site_data = sites)
  expect_equal(found(sites[40:1, , drop = FALSE]), found(sites))
  expect_equal(suppressMessages(found(data.frame(site = rownames(y), e)[c(3, 1, 2, 4:40), ])), found(sites))
  who <- matrix(sample(c("A", "B"), 120, TRUE), 40)
  fit <- suppressMessages(visits_bernoulli(y, 1, detection = ~who, visit_data = list(who = who), rare = 0))
  expect_error(predict(fit, y[1:5, , ], visit_data = list(who = matrix("Z", 5, 3))), "must have levels of the fit",
    class = "multicause_input_error")
})
