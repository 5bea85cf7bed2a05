# Memberships that follow covariates: coverage of intervals of bernoulli_mixture() and plsa() on drawn tables, and
# effects beside package stm's. Results are kept in bench/membership.md.
library(multicause)
source("bench/common.R")
options(multicause.quiet = TRUE)
inside <- asNamespace("multicause")
share <- function(x) sprintf("%.1f %%", 100 * mean(unlist(x)))
shares_of <- function(z, effects) inside$multinomial_shares(t(z), effects)

# Effects (terms x k) of two covariates, which sum to 0.
true_effects <- function(k) {
  effects <- cbind(c(0, 0, 0), c(0.3, 1, 0), c(-0.3, -0.7, 0.5))[, seq_len(k)]
  effects - rowMeans(effects)
}

# Latent class regression: share of effects and prototypes within 95 % intervals, and the width of those of effects.
class_coverage <- function(n, m, k, estimate, table) {
  set.seed(1000 + table)
  z <- data.frame(depth = rnorm(n), wet = rbinom(n, 1, 0.4))
  effects <- true_effects(k)
  w <- shares_of(cbind(1, z$depth, z$wet), effects)
  class <- max.col(log(w) - log(rexp(length(w))))
  base <- rbind(rep(0.25, m), rep(0.65, m), rep(c(0.15, 0.8), length.out = m))[seq_len(k), ]
  base[] <- pmin(pmax(base + runif(k * m, -0.15, 0.15), 0.05), 0.95)
  x <- matrix(rbinom(n * m, 1, base[class, ]), n)
  few <- fit_control(n_start = 5, progress = FALSE)
  fit <- bernoulli_mixture(x, k, membership = ~ depth + wet, site_data = z, estimate = estimate, control = few)
  at <- inside$match_components(base, fit$param$prototypes)
  truth <- c(effects[, at], base[at, ])
  lapply(c(scores = "scores", curvature = "curvature"), function(method) {
    ends <- confint(fit, method = method)
    held <- ends[, 1] <= truth & truth <= ends[, 2]
    list(effects = held[seq_len(3 * k)], rest = held[-seq_len(3 * k)], width = diff(t(ends))[seq_len(3 * k)])
  })
}

cat("| sites x taxa, k | estimate | information | effects | prototypes | width |\n", strrep("| --- ", 6), "|\n",
  sep = "")
for (size in list(c(200, 8, 2), c(300, 10, 3), c(100, 6, 2), c(60, 20, 2))) {
  for (estimate in c("ml", "map")) {
    tables <- lapply(1:120, function(table) {
      suppressWarnings(class_coverage(size[1], size[2], size[3], estimate, table))
    })
    for (method in c("scores", "curvature")) {
      of <- function(part) lapply(tables, function(each) each[[method]][[part]])
      cat(sprintf("| %g x %g, %g | %s | %s | %s | %s | %.2f |\n", size[1], size[2], size[3], estimate, method,
        share(of("effects")), share(of("rest")), median(unlist(of("width")))))
    }
  }
}

# Topics: a corpus of n documents of `total` counts, three topics over 40 terms.
drawn_corpus <- function(n, total, concentration, seed) {
  set.seed(seed)
  z <- data.frame(x = rnorm(n), g = rep(c("a", "b"), length.out = n))
  effects <- cbind(c(0, 1, 0), c(0.3, -1, 0.5), c(-0.3, 0, -0.5))
  s <- shares_of(cbind(1, z$x, z$g == "b"), effects)
  membership <- matrix(rgamma(n * 3, concentration * s), n)
  membership <- membership / rowSums(membership)
  basis <- matrix(rgamma(120, 0.1), 3)
  basis <- basis / rowSums(basis)
  x <- t(vapply(seq_len(n), function(i) rmultinom(1, total, membership[i, ] %*% basis)[, 1], integer(40)))
  list(x = x, z = z, effects = effects, basis = basis)
}

topics_coverage <- function(n, total, concentration, seed) {
  made <- drawn_corpus(n, total, concentration, seed)
  chain <- mcmc_control(chains = 1, warmup = 300, draws = 600, progress = FALSE)
  fit <- suppressWarnings(plsa(made$x, 3, membership = ~ x + g, site_data = made$z, control = chain))
  at <- inside$match_components(made$basis, fit$param$basis)
  ends <- confint(fit)
  held <- function(ends, truth) ends[, 1] <= truth & truth <= ends[, 2]
  effects <- matrix(held(ends[grep("^effects", rownames(ends)), ], made$effects[, at]), 3)
  c(rowMeans(effects), held(ends["concentration", , drop = FALSE], concentration))
}

cat("\n| documents, counts, concentration | intercepts | slope | group | concentration |\n", strrep("| --- ", 5), "|\n",
  sep = "")
for (size in list(c(150, 60, 4), c(150, 20, 1))) {
  hit <- vapply(501:610, function(seed) topics_coverage(size[1], size[2], size[3], seed), numeric(4))
  cat(sprintf("| %g, %g, %g | %s |\n", size[1], size[2], size[3], paste(apply(hit, 1, share), collapse = " | ")))
}

# Beside package stm: the slope of expected memberships on the first covariate, linear as estimateEffect() has it.
linear_slopes <- function(x, z, membership) stats::lm.fit(stats::model.matrix(x, z), membership)$coefficients[2, ]

our_slopes <- function(x, z, formula, k, chains) {
  fit <- suppressWarnings(plsa(x, k, membership = formula, site_data = z, control = chains))
  design <- fit$covariates$design
  each <- apply(fit$draws$effects, 3, function(effects) {
    linear_slopes(formula, z, inside$multinomial_shares(design, solve(fit$covariates$basis, effects)))
  })
  ends <- apply(each, 1, stats::quantile, c(0.025, 0.975))
  list(basis = fit$param$basis, slope = rowMeans(each), low = ends[1, ], high = ends[2, ])
}

stm_slopes <- function(x, z, formula, k) {
  documents <- lapply(seq_len(nrow(x)), function(i) rbind(which(x[i, ] > 0), x[i, x[i, ] > 0]))
  storage.mode(x) <- "integer"
  documents <- lapply(documents, function(cells) matrix(as.integer(cells), 2))
  fit <- stm::stm(documents, paste0("t", seq_len(ncol(x))), k, prevalence = formula, data = z, verbose = FALSE,
    seed = 1)
  asked <- stats::as.formula(paste0("c(", toString(seq_len(k)), ") ~ ", deparse(formula[[2L]])))
  tables <- summary(stm::estimateEffect(asked, fit, z, uncertainty = "Global"))$tables
  slope <- vapply(tables, function(table) table[2, 1], 0)
  error <- vapply(tables, function(table) table[2, 2], 0)
  list(basis = exp(fit$beta$logbeta[[1L]]), slope = slope, low = slope - 1.96 * error, high = slope + 1.96 * error)
}

if (requireNamespace("stm", quietly = TRUE)) {
  chain <- mcmc_control(chains = 1, warmup = 300, draws = 600, progress = FALSE)
  cat("\n| documents, counts, concentration | model | error (root mean square) | coverage of 95 % | width |\n",
    strrep("| --- ", 5), "|\n", sep = "")
  for (size in list(c(150, 60, 4), c(150, 20, 1))) {
    found <- lapply(701:730, function(seed) {
      made <- drawn_corpus(size[1], size[2], size[3], seed)
      keep <- colSums(made$x) > 0
      x <- made$x[, keep]
      truth <- linear_slopes(~ x + g, made$z, shares_of(cbind(1, made$z$x, made$z$g == "b"), made$effects))
      lapply(list(plsa = our_slopes(x, made$z, ~ x + g, 3, chain), stm = stm_slopes(x, made$z, ~ x + g, 3)),
        function(said) {
          at <- inside$match_components(made$basis[, keep], said$basis)
          list(gap = said$slope - truth[at], held = said$low <= truth[at] & truth[at] <= said$high,
            width = said$high - said$low)
        })
    })
    for (model in c("plsa", "stm")) {
      of <- function(part) unlist(lapply(found, function(each) each[[model]][[part]]))
      cat(sprintf("| %g, %g, %g | %s | %.4f | %s | %.3f |\n", size[1], size[2], size[3], model, sqrt(mean(of("gap")^2)),
        share(of("held")), mean(of("width"))))
    }
  }
  # Specimens of mammal genera of the Turkana basin, by the age of the sites.
  turkana <- if_there(utils::read.csv(shared("turkana", "turkana_counts.csv")))
  if (!is.null(turkana)) {
    sites <- utils::read.csv(shared("turkana", "turkana_sites.csv"))
    x <- unclass(stats::xtabs(n_specimens ~ factor(site_id, sites$site_id) + genus, turkana))
    x <- matrix(x, nrow(x), dimnames = dimnames(unname(x)))
    z <- data.frame(age = sites$age)
    four <- mcmc_control(chains = 4, warmup = 500, draws = 500, progress = FALSE)
    ours <- our_slopes(x, z, ~age, 4, four)
    theirs <- stm_slopes(x, z, ~age, 4)
    at <- inside$match_components(theirs$basis, ours$basis)
    cat("\nTurkana, k = 4, slope of expected membership on age (Ma)\n")
    print(round(data.frame(plsa = ours$slope, low = ours$low, high = ours$high, stm = theirs$slope[at],
      stm_low = theirs$low[at], stm_high = theirs$high[at],
      similarity = diag(stats::cor(t(ours$basis), t(theirs$basis[at, ])))), 3))
  }
}
