# Are draws of visits_occupancy() from the posterior? Simulation-based calibration (Talts and others 2018,
# arXiv:1804.06788) of the whole way that a fit takes, from the EM to thinned draws: the model is drawn from its prior,
# visits from the model, and the rank of what was drawn among 19 draws given the visits must be uniform (chi-square over
# ten bins). Of silent cells the probability of a presence must be the share of presences. MULTICAUSE_SETS data sets a
# case (400), 1.5 processor minutes. On 28 November 2026 all passed: chi-squares of 21 ranks from 3.7 to 14.4 (smallest
# p .11); silent cells .149, .190 and .169 expected, .161, .194 and .167 there (z 2.1, .8, -.4).
# Without the ratio of proposal densities in the kernel six of seven chi-squares of the first case are from 53 to 347.
# `uneven` is given: the average over its values by default is no posterior.
library(multicause)
own <- asNamespace("multicause")
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "400"))
n_draw <- 19L
apart <- 50L # kept draws between two that are ranked, so that these are as good as independent
bins <- 10L
still <- function(expr) suppressWarnings(suppressMessages(expr))
control <- fit_control(progress = FALSE, tol = 1e-7)

draw_model <- function(by, m) {
  prior <- own$kernel_prior(by)
  size <- length(prior$center_sd)
  spread <- vapply(seq_len(size), function(e) {
    repeat { # inverse Gamma(1/2, spread_prior / 2) times the half-normal density
      variance <- prior$spread_prior[e] / (2 * rgamma(1, 0.5))
      if (runif(1) < exp(-variance / (2 * prior$spread_sd[e]^2))) {
        return(sqrt(variance))
      }
    }
  }, 0)
  center <- rnorm(size, 0, prior$center_sd)
  list(theta = matrix(rnorm(size * m, center, spread), size), center = center, spread = spread)
}

# Effects of site and taxon at the nodes that the likelihood is summed over.
draw_visits <- function(model, by, made, uneven) {
  d <- dim(made)
  own_rows <- function(part) model$theta[own$theta_rows(by, part), , drop = FALSE]
  psi <- plogis(crossprod(by$presence$design, own_rows("presence")))
  present <- matrix(rbinom(length(psi), 1, psi), d[1])
  u <- uneven * own$normal_nodes$at[sample(7, length(psi), TRUE, own$normal_nodes$weight)]
  y <- array(NA_integer_, d)
  for (v in seq_len(d[3])) {
    design <- by$detection$design[, (v - 1) * d[1] + seq_len(d[1]), drop = FALSE]
    y[, , v] <- present * rbinom(length(psi), 1, plogis(crossprod(design, own_rows("detection")) + u))
  }
  y[!made] <- NA
  list(y = y, present = present, psi = psi)
}

# Ranks of a slope of each kind, of what is common to taxa, of the number of sites of a taxon and of a cell; and
# probability and truth of the silent cells of that taxon.
one_set <- function(by, made, uneven) {
  m <- dim(made)[2]
  model <- draw_model(by, m)
  data <- draw_visits(model, by, made, uneven)
  cell <- still(own$check_visits(data$y, c("site", "species", "visit")))
  answer <- own$occupancy_answer(cell, by, uneven, control, apart * n_draw)
  at <- apart * seq_len(n_draw)
  draws <- answer$draws
  draws$uneven <- draws$uneven[at]
  draws$theta <- draws$theta[, , at, drop = FALSE]
  present <- own$taxon_pointwise(answer$rows, draws, uneven, 1L)$present
  present <- present[answer$rows$of_cell[, 1] - answer$rows$first[1], ]
  silent <- rowSums(data$y[, 1, ] == 1, na.rm = TRUE) == 0
  sites <- colSums(matrix(rbinom(length(present), 1, present), nrow(present))) + 0
  by_presence <- own$theta_rows(by, "presence")
  psi <- plogis(crossprod(by$presence$design[, 1], draws$theta[by_presence, 1, ]))
  first <- c(presence = max(by_presence), detection = nrow(model$theta))
  statistics <- function(theta, center, spread, sites, psi) {
    c(
      `slope of presence` = theta[first[1], 1], `slope of detection` = theta[first[2], 1],
      `intercept of presence` = theta[1, 1], `mean slope of presence` = center[first[[1]]],
      `spread of presence` = spread[1], `sites of a taxon` = sites, `cell` = psi
    )
  }
  truth <- statistics(model$theta, model$center, model$spread, sum(data$present[, 1]), data$psi[1, 1])
  drawn <- vapply(seq_len(n_draw), function(s) {
    statistics(
      matrix(draws$theta[, , s], nrow(model$theta)), draws$center[, at[s]], draws$spread[, at[s]], sites[s], psi[s]
    )
  }, truth)
  ranks <- rowSums(drawn < truth) + vapply(rowSums(drawn == truth), function(ties) sample(0:ties, 1), 0)
  list(ranks = ranks, p = rowMeans(present)[silent], z = data$present[silent, 1])
}

set.seed(1)
n <- 30
sites <- data.frame(elev = rnorm(n))
day <- matrix(rnorm(3 * n), n)
cases <- list(
  `4 taxa, searched alike` = list(m = 4, uneven = 0, missing = 0),
  `8 taxa, some visits not made` = list(m = 8, uneven = 0, missing = 0.2),
  `4 taxa, unevenly searched (1)` = list(m = 4, uneven = 1, missing = 0)
)
failed <- 0L
cat("| case | of | chi-square, 9 degrees | p | mean rank (9.5) | |\n| --- | --- | --- | --- | --- | --- |\n")
for (name in names(cases)) {
  case <- cases[[name]]
  made <- aperm(array(runif(3 * n) >= case$missing, c(n, 3, case$m)), c(1, 3, 2))
  cell <- still(own$check_visits(array(ifelse(made, 0L, NA), dim(made)), c("site", "species", "visit")))
  by <- own$occupancy_designs(~elev, ~day, cell, list(visit = list(day = day), site = sites))
  set.seed(2)
  sets <- lapply(seq_len(n_sets), function(i) one_set(by, made, case$uneven))
  ranks <- vapply(sets, `[[`, sets[[1]]$ranks, "ranks")
  for (what in rownames(ranks)) {
    test <- still(chisq.test(tabulate(ranks[what, ] %/% ((n_draw + 1) / bins) + 1, bins)))
    ok <- test$p.value > 1e-3 / nrow(ranks)
    failed <- failed + !ok
    cat(sprintf("| %s | %s | %.1f | %.3f | %.2f | %s |\n", name, what, test$statistic, test$p.value,
      mean(ranks[what, ]), if (ok) "yes" else "NO"))
  }
  p <- unlist(lapply(sets, `[[`, "p"))
  off <- vapply(sets, function(set) sum(set$z - set$p), 0) # cells of a set depend on each other
  z <- mean(off) / (sd(off) / sqrt(n_sets))
  failed <- failed + (abs(z) > 4)
  cat(sprintf("| %s | silent cells, %d: %.3f expected, %.3f there, z %.2f | | | | %s |\n", name, length(p), mean(p),
    mean(unlist(lapply(sets, `[[`, "z"))), z, if (abs(z) > 4) "NO" else "yes"))
}
if (failed) stop(failed, " check(s) failed")
