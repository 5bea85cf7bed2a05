# Logistic regression by Newton's method; the first column of the design is 1. The objective is the log-likelihood less
# half of beta' penalty beta. Where a column tells hits from others without error, beta ends where a pass gains nothing
# that counts. `start`: NULL is the mean of y alone. Returns list(beta, hessian); see src/num/logistic_regression.h.
logistic_regression <- function(design, y, offset = 0, penalty = 0 * diag(ncol(design)), weight = 1, passes = 50L,
                                start = NULL, n_threads = 1L) {
  cases <- cbind(as.double(y), offset, weight, deparse.level = 0L)
  if (is.null(start)) {
    share <- (sum(cases[, 3L] * cases[, 1L]) + 0.5) / (sum(cases[, 3L]) + 1)
    start <- c(stats::qlogis(share) - mean(offset), rep(0, ncol(design) - 1L))
  }
  limits <- as.integer(c(passes, n_threads))
  found <- .Call(mc_c_logistic_regression, unname(design), cases, penalty, matrix(start), limits)
  found$beta <- as.vector(found$beta)
  found
}
