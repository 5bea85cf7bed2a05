# Speed and memory of aspect_bernoulli() against the same algorithm written in R with matrix products.
# One thread, the same BLAS, the same run. Results are kept in bench/aspect_bernoulli.md.
library(multicause)

# The table of the paper (501 sites x 139 genera) where it is there, else one of the same size and density.
read_table <- function() {
  file <- file.path(Sys.getenv("MULTICAUSE_DATA", "../shared/data"), "now_2003", "g10s2_occ.csv")
  if (file.exists(file)) {
    occ <- utils::read.csv(file)
    x <- matrix(0, max(occ$site_id), max(occ$genus_id))
    x[cbind(occ$site_id, occ$genus_id)] <- 1
    return(list(x = x, name = "now_2003 g10s2"))
  }
  set.seed(1)
  list(x = matrix(rbinom(501 * 139, 1, 0.05), 501), name = "random table of the paper's size")
}

# Eqs. (16)-(21) in R: eight products, four divisions a cell. Values are floored as in the package: without it the R
# form ends in 0 / 0 after some thousand passes.
floored <- function(x) {
  x[x < 1e-150] <- 1e-150
  x[x > 1 - 1e-15] <- 1 - 1e-15
  x
}

r_passes <- function(x, start, n, want_loglik = FALSE) {
  s <- start$membership
  a <- start$aspects
  for (i in seq_len(n)) {
    p <- s %*% a
    q <- s %*% (1 - a)
    g <- s * (tcrossprod(x / p, a) + tcrossprod((1 - x) / q, 1 - a))
    s <- floored(g / rowSums(g))
    p <- s %*% a
    q <- s %*% (1 - a)
    u <- a * crossprod(s, x / p)
    v <- (1 - a) * crossprod(s, (1 - x) / q)
    a <- floored(u / (u + v))
  }
  p <- s %*% a
  list(s = s, a = a, loglik = if (want_loglik) sum(log(ifelse(x == 1, p, s %*% (1 - a)))))
}

seconds <- function(expr) system.time(expr)[["elapsed"]]

fit_from <- function(x, start, n, accelerate = FALSE) {
  control <- fit_control(n_start = 1, max_pass = n, tol = 0, accelerate = accelerate)
  aspect_bernoulli(x, nrow(start$aspects), estimate = "ml", start = start, control = control)
}

draw_start <- function(x, k) {
  s <- matrix(runif(nrow(x) * k, 0.1, 1), ncol = k)
  list(membership = s / rowSums(s), aspects = matrix(runif(k * ncol(x), 0.05, 0.95), k))
}

table <- read_table()
x <- table$x
set.seed(2009)
starts <- lapply(1:5, function(i) draw_start(x, 4))

cat("## One plain pass,", table$name, "k = 4, one thread\n\n")
same <- max(abs(fit_from(x, starts[[1]], 20)$param$membership - r_passes(x, starts[[1]], 20)$s))
stopifnot(same < 1e-9)
rounds <- replicate(5, c(
  c = seconds(fit_from(x, starts[[1]], 1000)) / 1000, r = seconds(r_passes(x, starts[[1]], 200)) / 200
))
cat(sprintf(
  "C %.3f ms, R %.3f ms a pass (medians of 5); ratio %.1f; largest difference after 20 passes %.1e\n\n",
  1e3 * median(rounds["c", ]), 1e3 * median(rounds["r", ]), median(rounds["r", ] / rounds["c", ]), same
))

cat("## To the level that R reaches\n\n")
cat("| R passes | R seconds | C passes | C seconds | ratio |\n|---|---|---|---|---|\n")
for (n in c(1000, 5000)) {
  rows <- vapply(starts, function(start) {
    r_time <- seconds(reference <- r_passes(x, start, n, TRUE))
    reached <- which(fit_from(x, start, 4000, TRUE)$trace$objective >= reference$loglik)[1L]
    c(r_time, reached, if (is.na(reached)) NA else seconds(fit_from(x, start, reached, TRUE)))
  }, numeric(3))
  cat(sprintf(
    "| %d | %.2f | %s | %.3f | %.0f (%s) |\n", n, median(rows[1, ]), paste(rows[2, ], collapse = ", "),
    median(rows[3, ], na.rm = TRUE), median(rows[1, ] / rows[3, ], na.rm = TRUE),
    paste(round(rows[1, ] / rows[3, ]), collapse = ", ")
  ))
}

cat("\n## Twenty starts, k = 4, default tolerance\n\n")
set.seed(1)
time <- seconds(fit <- aspect_bernoulli(x, 4, estimate = "ml", control = fit_control(n_start = 20, progress = FALSE)))
pass <- median(rounds["r", ])
cat(sprintf(
  "%.2f s, log-likelihood %.2f; that is %.0f passes of the R form (here %.2f ms each)\n", time, fit$loglik, time / pass,
  1e3 * pass
))

cat("\n## Threads\n\n")
set.seed(1)
two <- aspect_bernoulli(x, 4, estimate = "ml", control = fit_control(n_start = 20, n_threads = 2, progress = FALSE))
cat("identical parameters for 1 and 2 threads:", identical(fit$param, two$param), "\n")
set.seed(3)
large <- matrix(rbinom(2e7, 1, 0.02), 20000)
start <- draw_start(large, 5)
# Of passes alone: what 20 more cost, the least of five in turn, as other work on the machine only adds.
once <- function(threads, passes) {
  control <- fit_control(n_start = 1, max_pass = passes, tol = 0, accelerate = FALSE, n_threads = threads)
  seconds(aspect_bernoulli(large, 5, estimate = "ml", start = start, control = control))
}
taken <- replicate(5L, c(one = once(1, 25), one_few = once(1, 5), two = once(2, 25), two_few = once(2, 5)))
least <- apply(taken, 1L, min)
cat(sprintf(
  "20 000 x 1000, k = 5: %.3f s a pass on one thread, %.3f s on two\n", (least[["one"]] - least[["one_few"]]) / 20,
  (least[["two"]] - least[["two_few"]]) / 20
))

cat("\n## Memory: 100 000 x 1000 sparse, 2 % ones, k = 5\n\n")
script <- tempfile(fileext = ".R")
writeLines(c(
  "library(multicause); set.seed(1)",
  "row <- sample(1e5, 2e6, TRUE); column <- sample(1000, 2e6, TRUE)",
  "x <- Matrix::sparseMatrix(row, column, x = 1, dims = c(1e5, 1000), use.last.ij = TRUE)",
  "time <- system.time(fit <- aspect_bernoulli(x, 5, estimate = \"ml\",",
  "  control = fit_control(n_start = 3, n_finish = 1, max_pass = 30,",
  "  screen = 10, progress = FALSE)))",
  "peak <- grep('VmHWM', readLines('/proc/self/status'), value = TRUE)",
  "peak <- as.numeric(gsub('[^0-9]', '', peak)) / 1024",
  "cat(sprintf('peak %.0f MB, %.1f s for %d starts of 10 passes and one of 30\\n', peak,",
  "  time[[3]], 3L))"
), script)
cat(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE), sep = "\n")
cat("\n")
cat(sprintf("%s; %s; %s\n", R.version.string, extSoftVersion()[["BLAS"]], Sys.Date()))
