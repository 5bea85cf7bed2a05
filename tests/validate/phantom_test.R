# Size and power of phantom_test(): tables of 60 x 25 without a phantom, and with one of growing share, two contents
# each. MULTICAUSE_SETS tables of each kind (100), 19 draws for each test, so that the level can be exactly 5 %.
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "100"))
quick <- fit_control(n_start = 3, max_pass = 300, tol = 1e-6, n_polish = 0, progress = FALSE)
n <- 60
m <- 25

# rate: mean of the phantom's shares, which are uniform between 0 and twice that.
p_value <- function(seed, rate) {
  set.seed(seed)
  s <- runif(n)
  a <- matrix(rbeta(2 * m, 0.6, 0.9), 2)
  x <- matrix(rbinom(n * m, 1, (cbind(s, 1 - s) %*% a) * (1 - runif(n, 0, 2 * rate))), n)
  fit <- suppressWarnings(suppressMessages(aspect_bernoulli(x, 3, phantom = "white", control = quick)))
  phantom_test(fit, nsim = 19, control = quick)$p_value
}

cat(sprintf("%d x %d, 2 contents, %d tables each, 19 draws a test\n\n", n, m, n_sets))
cat("| phantom's mean share | rejected at 5 % (standard error) | at 10 % | mean p |\n| --- | --- | --- | --- |\n")
result <- lapply(c(0, 0.1, 0.2, 0.4), function(rate) {
  p <- vapply(seq_len(n_sets) + 1000 * rate, p_value, 0, rate = rate)
  rejected <- c(mean(p <= 0.05 + 1e-9), mean(p <= 0.1 + 1e-9))
  error <- sqrt(rejected * (1 - rejected) / n_sets)
  shown <- sprintf("%.2f (%.3f)", rejected, error)
  cat(sprintf("| %g | %s | %s | %.2f |\n", rate, shown[1], shown[2], mean(p)))
  p
})
# Size: no more rejections than 99 % of the tests of exact size would show; power at the largest share.
most <- qbinom(0.99, n_sets, 0.05)
good <- c(size = sum(result[[1]] <= 0.05 + 1e-9) <= most, power = mean(result[[4]] <= 0.05 + 1e-9) > 0.5)
cat(sprintf("\n= %d passed, %d failed, 0 skipped\n", sum(good), sum(!good)))
stopifnot(good)
