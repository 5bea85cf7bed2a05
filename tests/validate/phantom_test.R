# Size and power of phantom_test(): tables without a phantom of several kinds, and tables with one of growing share.
# MULTICAUSE_SETS tables of each kind (100), 19 draws for each test, so that the level can be exactly 5 %.
# MULTICAUSE_PART, a pattern, picks kinds by name.
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "100"))
part <- Sys.getenv("MULTICAUSE_PART", ".")
quick <- fit_control(n_start = 3, max_iter = 300, tol = 1e-6, n_polish = 0, progress = FALSE)

shares <- function(n, k, shape) {
  s <- matrix(rgamma(n * k, shape), n)
  s / rowSums(s)
}
aspects <- function(k, m, one, zero) matrix(rbeta(k * m, one, zero), k)

# rate: mean of the phantom's shares, which are uniform between 0 and twice that.
draw_table <- function(membership, aspects, rate = 0) {
  n <- nrow(membership)
  matrix(rbinom(n * ncol(aspects), 1, (membership %*% aspects) * (1 - runif(n, 0, 2 * rate))), n)
}
two <- function(rate = 0) {
  s <- runif(60)
  draw_table(cbind(s, 1 - s), aspects(2, 25, 0.6, 0.9), rate)
}

# Kinds like the first four were looked at when the test was made as it is; the blurred, sparse and flat ones were not.
kinds <- list(
  "null: two contents, 60 x 25" = list(k = 3, draw = two),
  "null: three contents, 50 x 30" = list(k = 4, draw = function() {
    draw_table(shares(50, 3, 1), aspects(3, 30, 0.6, 0.9))
  }),
  "null: three contents, one a row, 60 x 25" = list(k = 4, draw = function() {
    draw_table(diag(3)[sample(3, 60, TRUE), ], aspects(3, 25, 0.6, 0.9))
  }),
  "null: one content, 40 x 20" = list(k = 2, draw = function() draw_table(matrix(1, 40, 1), aspects(1, 20, 1, 1))),
  "null: three blurred contents, 60 x 25" = list(k = 4, draw = function() {
    draw_table(shares(60, 3, 5), aspects(3, 25, 2, 2))
  }),
  "null: two sparse contents, 80 x 40" = list(k = 3, draw = function() {
    draw_table(shares(80, 2, 0.5), aspects(2, 40, 0.4, 2))
  }),
  "null: two flat contents, 60 x 25" = list(k = 3, draw = function() {
    draw_table(shares(60, 2, 1), aspects(2, 25, 1, 1))
  }),
  "null: three flat contents, 50 x 30" = list(k = 4, draw = function() {
    draw_table(shares(50, 3, 1), aspects(3, 30, 1, 1))
  }),
  "phantom 0.1: two contents, 60 x 25" = list(k = 3, draw = function() two(0.1)),
  "phantom 0.2: two contents, 60 x 25" = list(k = 3, draw = function() two(0.2)),
  "phantom 0.4: two contents, 60 x 25" = list(k = 3, draw = function() two(0.4))
)

p_value <- function(seed, kind) {
  set.seed(seed)
  x <- kind$draw()
  fit <- suppressWarnings(suppressMessages(
    aspect_bernoulli(x, kind$k, estimate = "ml", phantom = "white", control = quick)
  ))
  phantom_test(fit, nsim = 19, control = quick)$p_value
}

cat(sprintf("%d tables each, 19 draws a test\n\n", n_sets))
cat("| tables | rejected at 5 % (standard error) | at 10 % | mean p |\n| --- | --- | --- | --- |\n")
result <- list()
for (name in grep(part, names(kinds), value = TRUE)) {
  at <- match(name, names(kinds))
  p <- vapply(seq_len(n_sets) + 1000 * at, p_value, 0, kind = kinds[[name]])
  rejected <- c(mean(p <= 0.05 + 1e-9), mean(p <= 0.1 + 1e-9))
  shown <- sprintf("%.2f (%.3f)", rejected, sqrt(rejected * (1 - rejected) / n_sets))
  cat(sprintf("| %s | %s | %s | %.2f (%.3f) |\n", name, shown[1], shown[2], mean(p), sd(p) / sqrt(n_sets)))
  result[[name]] <- p
}
# Size: no more rejections than 99 % of the tests of exact size would show; power at the largest share.
rejected <- vapply(result, function(p) sum(p <= 0.05 + 1e-9), 0)
null <- startsWith(names(result), "null")
good <- c(
  size = all(rejected[null] <= qbinom(0.99, n_sets, 0.05)),
  power = all(rejected[startsWith(names(result), "phantom 0.4")] > 0.5 * n_sets)
)
cat(sprintf("\n= %d passed, %d failed, 0 skipped\n", sum(good), sum(!good)))
stopifnot(good)
