# The model of visits whose detection goes by covariates, cell by cell.

# 30 x 5 x 3 visits with a covariate of visits and one of sites; some visits were not made.
detected_table <- function(n = 30, m = 5, n_visit = 3) {
  set.seed(11)
  date <- matrix(stats::runif(n * n_visit, -1, 1), n)
  size <- stats::rnorm(n)
  present <- matrix(stats::rbinom(n * m, 1L, 0.6), n)
  slopes <- rbind(stats::rnorm(m, 0.2, 0.4), stats::rnorm(m, 0.8, 0.4), stats::rnorm(m, 0, 0.2))
  visits <- array(0L, c(n, m, n_visit), list(site = paste0("s", 1:n), species = paste0("t", 1:m), visit = NULL))
  for (v in 1:n_visit) {
    p <- stats::plogis(cbind(1, date[, v], size) %*% slopes)
    visits[, , v] <- stats::rbinom(n * m, 1L, p) * present
  }
  visits[2, , 2] <- NA
  visits[4, 3, 1] <- NA
  visits[5, , ] <- NA
  date[2, 2] <- NA
  list(visits = visits, date = date, size = size, present = present, slopes = slopes)
}

# The log-likelihood of one attribute's cells; t = c(logit aspects, slopes), design n x visits x d.
ref_detected <- function(t, membership, x, design, added = numeric(ncol(x))) {
  k <- ncol(membership)
  p <- as.vector(membership %*% stats::plogis(t[seq_len(k)]))
  total <- 0
  for (i in seq_len(nrow(x))) {
    made <- which(!is.na(x[i, ]))
    if (!length(made)) next
    q <- stats::plogis(as.vector(matrix(design[i, made, ], length(made)) %*% t[-seq_len(k)]))
    found <- x[i, made] == 1
    total <- total + log(
      p[i] * prod(ifelse(found, q, 1 - q)) + (1 - p[i]) * prod(ifelse(found, added[made], 1 - added[made]))
    )
  }
  total
}

# One pass: the posterior of presence, all but slopes in closed form, slopes by a Newton step of their weighted logistic
# regression.
ref_detected_pass <- function(x, par, design, mean, ridge) {
  d <- dim(design)[3]
  s <- par$membership
  a <- par$aspects
  p <- s %*% a
  tau <- one <- zero <- matrix(0, nrow(x), ncol(x))
  slopes <- par$slopes
  for (j in seq_len(ncol(x))) {
    weight <- y <- rows <- NULL
    for (i in seq_len(nrow(x))) {
      made <- which(!is.na(x[i, j, ]))
      if (!length(made)) next
      at <- matrix(design[i, made, ], length(made))
      q <- stats::plogis(as.vector(at %*% par$slopes[, j]))
      found <- x[i, j, made] == 1
      present <- prod(ifelse(found, q, 1 - q))
      absent <- 1 * !any(found)
      total <- p[i, j] * present + (1 - p[i, j]) * absent
      one[i, j] <- present / total
      zero[i, j] <- absent / total
      tau[i, j] <- p[i, j] * present / total
      weight <- c(weight, rep(tau[i, j], length(made)))
      y <- c(y, found)
      rows <- rbind(rows, at)
    }
    q <- stats::plogis(as.vector(rows %*% par$slopes[, j]))
    gradient <- crossprod(rows, weight * (y - q)) - ridge * (par$slopes[, j] - mean[, j])
    hessian <- crossprod(rows, weight * q * (1 - q) * rows) + diag(ridge, d)
    slopes[, j] <- par$slopes[, j] + solve(hessian, gradient)
  }
  expected <- s * (one %*% t(a) + zero %*% t(1 - a))
  seen <- rowSums(expected) > 0
  s[seen, ] <- (expected / rowSums(expected))[seen, ]
  ones <- a * (t(par$membership) %*% one)
  zeros <- (1 - a) * (t(par$membership) %*% zero)
  list(membership = s, aspects = ones / (ones + zeros), slopes = slopes)
}
