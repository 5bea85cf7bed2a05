# Speed of the sampler of bmf() against its plain R form, effective draws per second, and a large table.
# Results: bmf.md.

library(multicause)
internal <- asNamespace("multicause")
set.seed(1)
n <- 1000
m <- 100
k <- 10
l <- 10
rows <- matrix(rbinom(n * k, 1, 0.3), n)
columns <- matrix(rbinom(m * l, 1, 0.3), m)
weights <- matrix(rnorm(k * l), k)
eta <- rows %*% weights %*% t(columns)

# The plain R form, vectorised over the cells of a flip: entries of all rows given the rest, with cached residuals.
flip_all <- function(x, rows, weights, columns, precision, alpha) {
  effect <- weights %*% t(columns)
  count <- colSums(rows)
  for (i in seq_len(nrow(x))) {
    residual <- x[i, ] - drop(rows[i, ] %*% effect)
    for (c in sample(ncol(rows))) {
      others <- count[c] - rows[i, c]
      if (others == 0) next
      without <- residual + rows[i, c] * effect[c, ]
      odds <- log(others) - log(nrow(x) - others) + precision * sum(effect[c, ] * (without - effect[c, ] / 2))
      on <- runif(1) < 1 / (1 + exp(-odds))
      if (on != rows[i, c]) {
        count[c] <- count[c] + on - rows[i, c]
        rows[i, c] <- on
        residual <- without - on * effect[c, ]
      }
    }
  }
  rows
}

# New features of every row, their weights integrated out: the numbers drawn, not inserted (they are few).
births_all <- function(x, rows, weights, columns, precision, prior, alpha) {
  spectrum <- eigen(precision * crossprod(columns), symmetric = TRUE)
  rate <- alpha / nrow(x)
  born <- integer(nrow(x))
  for (i in seq_len(nrow(x))) {
    residual <- x[i, ] - drop(rows[i, ] %*% weights %*% t(columns))
    pull <- drop(crossprod(spectrum$vectors, crossprod(columns, precision * residual)))
    b <- 1:6
    log_p <- c(0, vapply(b, function(b) {
      diagonal <- prior / b + spectrum$values
      dpois(b, rate, log = TRUE) + rate + sum(log(prior / b / diagonal) + pull^2 / diagonal) / 2
    }, 0))
    born[i] <- sample(0:6, 1, prob = exp(log_p - max(log_p)))
  }
  born
}

sweep_c <- function(x, family, n_sweep, state, size = c(Inf, Inf), n_fixed = c(0L, 0L)) {
  data <- internal$bmf_data(x, family, quiet = TRUE)
  prior <- internal$bmf_scale_prior(bmf_prior(), family, data)
  hyper <- unname(internal$bmf_first_hyper(prior))
  state <- list(
    rows = internal$as_raw_matrix(state[[1]]), columns = internal$as_raw_matrix(state[[2]]), weights = state[[3]],
    hyper = hyper
  )
  problem <- list(
    view = data$view, transposed = data$transposed, size = size, probe = integer(),
    model = internal$bmf_kernel_model(family, prior, size[1], size[2], n_fixed), control = mcmc_control()
  )
  time <- system.time(out <- internal$bmf_sweeps(problem, state, n_sweep))
  list(seconds = time[["user.self"]] / n_sweep, state = out$state)
}

cat(sprintf("%s; %d x %d, %d row and %d column features; seconds of processor time\n\n", R.version.string, n, m, k, l))
x <- eta + rnorm(n * m)
r_rows <- system.time(flip_all(x, rows, weights, columns, 1, 1))[["user.self"]]
r_columns <- system.time(flip_all(t(x), columns, t(weights), rows, 1, 1))[["user.self"]]
r_births <- system.time(births_all(x, rows, weights, columns, 1, 1, 1))[["user.self"]]
r_births <- r_births + system.time(births_all(t(x), columns, t(weights), rows, 1, 1, 1))[["user.self"]]
plain <- r_rows + r_columns + r_births
fast <- sweep_c(x, "gaussian", 200, list(rows, columns, weights))$seconds
cat(sprintf("plain R: flips of rows %.1f ms, of columns %.1f ms, births %.1f ms; a sweep without weights %.1f ms\n",
  1000 * r_rows, 1000 * r_columns, 1000 * r_births, 1000 * plain))
cat(sprintf("bmf(), a whole sweep (pairs of flips, births, weights, all else): %.2f ms, %.0f times the sweeps\n\n",
  1000 * fast, plain / fast))

cat("milliseconds a sweep by family (features as the sampler finds them)\n\n")
tables <- list(
  gaussian = x, "gaussian, 5 % missing" = replace(x, sample(length(x), length(x) / 20), NA),
  bernoulli = matrix(rbinom(n * m, 1, plogis(eta - 2)), n), poisson = matrix(rpois(n * m, 0.1 + pmax(eta, 0)), n)
)
for (name in names(tables)) {
  family <- sub(",.*", "", name)
  at <- list(rows, columns, if (family == "poisson") abs(weights) else weights)
  one <- sweep_c(tables[[name]], family, 20, at)
  found <- c(ncol(one$state$rows), ncol(one$state$columns))
  cat(sprintf("%-24s %8.1f   (%d x %d features)\n", name, 1000 * one$seconds, found[1], found[2]))
}

cat("\neffective draws of expected cells per second (Gaussian, 200 x 36, half of the rows half missing, one chain)\n\n")
small <- list(rows = rows[1:200, 1:6], columns = columns[1:36, 1:6], weights = weights[1:6, 1:6])
y <- small$rows %*% small$weights %*% t(small$columns) + rnorm(7200, sd = 0.5)
y[1:100, 19:36] <- NA
control <- mcmc_control(chains = 1, warmup = 200, draws = 1000, n_start = 4, n_reheat = 2, progress = FALSE)
set.seed(2)
fit <- bmf(y, control = control, start = small)
probes <- grep("^cell", names(fit$trace), value = TRUE)
ess <- vapply(probes, function(name) internal$bulk_ess(as.matrix(fit$trace[[name]])), 0)
set.seed(2)
time <- system.time(bmf(y, control = control, start = small))[["user.self"]]
ess <- ess[!is.na(ess)]
cat(sprintf(
  "median over %d cells: %.0f of 1000 draws, %.1f a second (%.1f s)\n",
  length(ess), median(ess), median(ess) / time, time
))

if (!"small" %in% commandArgs(TRUE)) {
  n <- 5000
  m <- 500
  rows <- cbind(1, matrix(rbinom(n * k, 1, 0.15), n))
  columns <- cbind(1, matrix(rbinom(m * l, 1, 0.15), m))
  weights <- matrix(rnorm((k + 1) * (l + 1), 0.4), k + 1)
  weights[1, ] <- weights[, 1] <- 0
  weights[1, 1] <- -3.2
  eta <- rows %*% weights %*% t(columns)
  x <- matrix(rbinom(n * m, 1, plogis(eta)), n)
  time <- sweep_c(x, "bernoulli", 10, list(rows, columns, weights), n_fixed = c(1L, 1L))
  cat(sprintf(
    "\n5000 x 500 Bernoulli, %.1f %% ones, %d x %d features: %.2f s a sweep, 1000 sweeps in %.0f minutes\n",
    100 * mean(x), ncol(time$state$rows), ncol(time$state$columns), time$seconds, 1000 * time$seconds / 60
  ))
}
