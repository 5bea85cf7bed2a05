# Calibration of false_absences()$missed: truth drawn at the convention "maximal" (every content aspect reaches 1, as ML
# takes it), then anywhere in the bounds. Small numbers of data sets by default: MULTICAUSE_SETS=50 for the full run.
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "6"))
n <- 300
m <- 80
flat <- list(aspects = c(1, 1), membership = 1)
quick <- fit_control(n_start = 2, max_pass = 400, tol = 1e-7, progress = FALSE)

# Three contents and a phantom. top: the largest probability of a content aspect; full: some rows are all content.
draw_set <- function(top, full) {
  s <- matrix(rexp(n * 3)^2, n)
  share <- rbeta(n, 1, 1.5)
  if (full) share[seq_len(15)] <- 0
  s <- (1 - share) * s / rowSums(s)
  a <- matrix(rbeta(3 * m, 0.3, 0.9), 3)
  a <- top * a / apply(a, 1, max)
  p <- s %*% a
  x <- matrix(rbinom(n * m, 1, p), n)
  list(x = x, missed = share / (1 - p) * p / (1 - share), share = share)
}

# Slope of a logistic regression of the false absences, drawn from their true probabilities, on the log-odds given.
slope_of <- function(score, truth) {
  hit <- matrix(rbinom(length(truth), 1, pmin(pmax(truth, 0), 1)) == 1, nrow(truth))
  hit[is.na(truth)] <- NA
  recovery(score, hit)$summary$slope
}

score_matrix <- function(fit, ...) {
  cells <- false_absences(fit, Inf, ...)
  out <- matrix(0, n, m)
  out[cbind(cells$observation, cells$attribute)] <- cells$missed
  out
}

run <- function(seed, top, full) {
  set.seed(seed)
  set <- draw_set(top, full)
  zeros <- set$missed
  zeros[set$x == 1] <- NA
  fits <- list(
    ml = aspect_bernoulli(set$x, 4, phantom = "white", control = quick),
    map = aspect_bernoulli(set$x, 4, phantom = "white", estimate = "map", control = quick),
    vb = aspect_bernoulli(set$x, 4, phantom = "white", estimate = "vb", control = quick),
    vb_flat = aspect_bernoulli(set$x, 4, phantom = "white", estimate = "vb", prior = flat, control = quick)
  )
  slopes <- c(
    vapply(fits, function(fit) slope_of(score_matrix(fit), zeros), 0),
    map_maximal = slope_of(score_matrix(fits$map, phantom_convention = "maximal"), zeros)
  )
  sure <- identifiability(fits$ml, n_search = 0, bootstrap = 10, cells = TRUE)
  at <- cbind(sure$cells$observation, sure$cells$attribute)
  c(
    slopes, estimate = mean(sure$cells$missed_outer_most >= set$missed[at] - 1e-9),
    bootstrap = mean(sure$cells$draws_most >= set$missed[at] - 1e-9)
  )
}

for (case in list(list("truth at the maximal convention", 1, TRUE), list("truth anywhere in the bounds", 0.7, FALSE))) {
  result <- suppressWarnings(vapply(seq_len(n_sets), run, numeric(7), top = case[[2]], full = case[[3]]))
  cat(sprintf("%s, %d sets of %d x %d, k = 4\n", case[[1]], n_sets, n, m))
  cat("calibration slope (Monte Carlo error):", paste(sprintf(
    "%s %.2f (%.2f)", rownames(result)[1:5], rowMeans(result[1:5, ]), apply(result[1:5, ], 1, sd) / sqrt(n_sets)
  ), collapse = ", "), "\n")
  cat(sprintf(
    "share of cells whose true probability is within [0, upper end]: at the estimate %.3f, over bootstrap draws %.3f\n\n",
    mean(result["estimate", ]), mean(result["bootstrap", ])
  ))
}
