# Are the probabilities and bounds of variational Bayes right where the model is not? A single fit with flat priors
# against the average over k and priors that ensemble(estimate = "vb") makes, by held-out cells. The tables here are of
# other kinds, sizes and seeds than those that the four priors, and what is warned of, were chosen on (those of
# tests/validate/calibration.R, seeds 501 to 902), and that the weights of draws were (seeds 7011 to 7093 of smaller
# tables), and the power of the posterior of memberships (seeds 20101 to 20804, 100 x 40). Prints
# bench/bayes.md. MULTICAUSE_SETS: tables of each kind.
#   Rscript bench/bayes_average.R
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "6"))
n <- 120
m <- 50

lose <- function(present, share) {
  planted <- corrupt(matrix(rbinom(length(present), 1, present), nrow(present)), omit = share)
  list(planted = planted, x = planted$x, missed = share * present / (1 - (1 - share) * present))
}
faunas <- function(k, shape) {
  a <- matrix(rbeta(k * m, shape[1], shape[2]), k)
  a / apply(a, 1, max)
}
mixed <- function(k, shape) {
  s <- matrix(rexp(n * k)^1.5, n)
  (s / rowSums(s)) %*% faunas(k, shape)
}
gradient <- function(width, sides = 1) {
  apart <- 0
  for (side in seq_len(sides)) apart <- apart + outer(runif(n), runif(m, -0.1, 1.1), "-")^2
  sweep(exp(-apart / (2 * width^2)), 2, runif(m, 0.4, 1), "*")
}
uneven <- function() rbeta(n, 1.5, 2)

# `k`: the number of a single fit, and the middle of those averaged.
kinds <- list(
  "mixtures of four faunas" = list(k = 5, draw = function() lose(mixed(4, c(0.4, 1.2)), uneven())),
  "the same, k two too small" = list(k = 3, draw = function() lose(mixed(4, c(0.4, 1.2)), uneven())),
  "the same, k two too large" = list(k = 7, draw = function() lose(mixed(4, c(0.4, 1.2)), uneven())),
  "mixtures of two faunas, losses even" = list(k = 3, draw = function() lose(mixed(2, c(0.5, 1)), runif(n, 0, 0.8))),
  "one of five faunas" = list(k = 6, draw = function() lose(faunas(5, c(0.3, 1))[sample(5, n, TRUE), ], uneven())),
  "one of two faunas, dense" =
    list(k = 3, draw = function() lose(faunas(2, c(1, 1.5))[sample(2, n, TRUE), ], uneven())),
  "gradient, ranges of 0.2" = list(k = 4, draw = function() lose(gradient(0.2), uneven())),
  "gradient, ranges of 0.08" = list(k = 6, draw = function() lose(gradient(0.08), uneven())),
  "two gradients, ranges of 0.25" = list(k = 5, draw = function() lose(gradient(0.25, 2), uneven()))
)

# Probabilities of false absences of all zeros, as identifiability() orders them, and the upper ends over draws.
answer_of <- function(fit, frame, draws) {
  cells <- false_absences(fit, Inf)
  score <- matrix(0, n, m)
  score[cbind(cells$site, cells$taxon)] <- cells$missed
  ends <- function(level) identifiability(frame, n_start = 0, draws = draws, cells = TRUE, level = level)$cells
  missed <- vapply(draws, function(draw) {
    cells <- false_absences(draw, Inf, kinds = ifelse(draw$fixed == "white", "white", "content"), x = frame$x)
    cells$missed[order(cells$taxon, cells$site)]
  }, numeric(sum(frame$x == 0)))
  list(score = score, at90 = ends(0.8), at95 = ends(0.9)$draws_most,
       inside = apply(missed, 1, quantile, c(0.05, 0.95), type = 8), sites = by_site(fit),
       taxa = by_taxon(fit))
}

# Of the numbers that were lost, the share in the intervals of by_site().
held <- function(sums, lost) mean(lost[sums[[1]]] >= sums$low & lost[sums[[1]]] <= sums$high)

judge <- function(answer, set) {
  zero <- which(set$x == 0)
  true <- set$missed[zero]
  found <- recovery(answer$score, set$planted)$summary
  at <- cbind(answer$at90$site, answer$at90$taxon)
  c(
    slope = found$slope, ratio = sum(answer$score[zero]) / found$changed, auc = found$auc,
    inside = mean(true >= answer$inside[1, ] - 1e-9 & true <= answer$inside[2, ] + 1e-9),
    below90 = mean(set$missed[at] <= answer$at90$draws_most + 1e-9),
    below95 = mean(set$missed[at] <= answer$at95 + 1e-9),
    sites = held(answer$sites, rowSums(set$planted$omitted)), taxa = held(answer$taxa, colSums(set$planted$omitted)),
    total = findInterval(found$changed, attr(answer$sites, "total") + c(0, 1e-9)) == 1
  )
}

one_table <- function(seed, kind) {
  set.seed(seed)
  set <- kind$draw()
  flat <- list(aspects = c(1, 1), membership = 1)
  control <- fit_control(n_start = 2, n_polish = 0, max_iter = 300, tol = 1e-6, progress = FALSE)
  quiet <- function(expr) suppressWarnings(suppressMessages(expr))
  single <- quiet(aspect_bernoulli(set$x, kind$k, estimate = "vb", phantom = "white", prior = flat, control = control))
  range <- unique(pmax(2, kind$k + -2:2))
  time <- sum(system.time(
    many <- quiet(ensemble(set$x, k = range, estimate = "vb", phantom = "white", control = control))
  )[1:2])
  one <- answer_of(single, single, posterior_draws(single, 60))
  all <- answer_of(many, single, posterior_draws(many, 60))
  c(
    single = judge(one, set), average = judge(all, set), seconds = time,
    spread = multicause:::members_apart(many)$spread, warned = any(grepl("^Warning", capture.output(print(many))))
  )
}

show <- function(values, digits = 2) {
  sprintf("%.*f (%.*f)", digits, mean(values), digits, sd(values) / sqrt(length(values)))
}
results <- lapply(seq_along(kinds), function(i) {
  out <- vapply(5000 + 100 * i + seq_len(n_sets), one_table, numeric(21), kinds[[i]])
  message(names(kinds)[i], ": ", paste(rownames(out), format(rowMeans(out), digits = 3), collapse = "  "))
  out
})
saveRDS(results, Sys.getenv("MULTICAUSE_RESULTS", tempfile()))
cat(sprintf("`Rscript bench/bayes_average.R`, %s, %s, %d tables of %d x %d of each kind.\n\n", Sys.Date(),
  R.version.string, n_sets, n, m))
for (side in c("single", "average")) {
  cat(sprintf("## %s\n\n", c(single = "A single fit, flat priors", average = "Average over k and priors")[[side]]))
  cat("| tables | slope | expected / lost | AUC | numbers of sites | of taxa | of the table ")
  cat("| probabilities of cells | below the 90 % end | below the 95 % end |\n")
  cat(strrep("| --- ", 10), "|\n", sep = "")
  for (i in seq_along(kinds)) {
    of <- function(what, digits = 2) show(results[[i]][paste0(side, ".", what), ], digits)
    cat(sprintf("| %s | %s | %s | %s | %s | %s | %.0f of %.0f | %s | %s | %s |\n", names(kinds)[i], of("slope"),
      of("ratio"), of("auc"), of("sites"), of("taxa"), sum(results[[i]][paste0(side, ".total"), ]), n_sets,
      of("inside"), of("below90", 3), of("below95", 3)))
  }
  cat("\n")
}
cat("| tables | how far apart members are | warned of | processor seconds |\n")
cat("| --- | --- | --- | --- |\n")
for (i in seq_along(kinds)) {
  cat(sprintf("| %s | %s | %.0f of %.0f | %.0f |\n", names(kinds)[i], show(results[[i]]["spread", ]),
    sum(results[[i]]["warned", ]), n_sets, mean(results[[i]]["seconds", ])))
}
# Of what the warning speaks: probabilities that are not right, or a number that is off by more than a quarter.
all <- do.call(cbind, results)
wrong <- abs(all["average.slope", ] - 1) > 0.15 | abs(log(all["average.ratio", ])) > log(1.25)
warned <- all["warned", ] == 1
cat("\n| tables | warned of | silent | sites held where warned of | where silent |\n| --- | --- | --- | --- | --- |\n")
for (side in c(TRUE, FALSE)) {
  of <- function(here) show(all["average.sites", wrong == side & warned == here])
  cat(sprintf("| %s | %d | %d | %s | %s |\n", if (side) "slope or number is off" else "others",
    sum(wrong == side & warned), sum(wrong == side & !warned), of(TRUE), of(FALSE)))
}
