# Tables with and without added presences, for tests of black phantoms.

# Interpretations of the paper's Figure 8: the rate of additions of each of n sites. The paper states "Uniform[0, 0.4]"
# and 12.5 % ones; the first two give that share of ones on its table, the last that rate at every site.
figure_8_rates <- list(
  scaled = function(n) stats::runif(n, 0, 0.1563),
  some = function(n) ifelse(stats::runif(n) < 0.4, stats::runif(n, 0, 0.4), 0),
  all = function(n) stats::runif(n, 0, 0.4)
)

bernoulli_table <- function(p) {
  x <- (stats::runif(length(p)) < p) + 0
  x[rowSums(x) > 0, colSums(x) > 0, drop = FALSE]
}

# Tables without additions, of random size.
tables_without <- list(
  # Faunas of fossil sites, poor and rich, and taxa found nearly everywhere.
  ubiquitous = function() {
    n <- sample(c(60, 150, 400), 1)
    m <- sample(c(25, 60, 120), 1)
    g <- sample(2:4, 1)
    fauna <- sample(g, n, TRUE)
    taxa <- matrix(stats::rbeta(g * m, 0.6, 2.5), g) * outer(1:g, sample(g, m, TRUE), "==")
    p <- taxa[fauna, ] * stats::rbeta(n, 1, 2)
    p[, 1] <- 0.95
    p[, 2] <- 0.8
    bernoulli_table(p)
  },
  # Two small, incompletely recorded faunas.
  small = function() {
    n <- sample(c(20, 40, 60), 1)
    m <- sample(c(8, 12, 20), 1)
    p <- outer(1:n, 1:m, function(i, j) (i <= n / 2) == (j <= m / 2)) * stats::runif(n, 0.2, 1)
    p[, 1] <- 0.9
    bernoulli_table(p)
  },
  # Poor sites have subsets of the taxa of rich ones.
  nested = function() {
    n <- sample(c(40, 120), 1)
    m <- sample(c(20, 60), 1)
    bernoulli_table(stats::plogis(outer(stats::rnorm(n, -1, 2), stats::rnorm(m, -1, 2), "+")))
  },
  # No structure except that taxa differ in frequency.
  columns = function() {
    n <- sample(c(60, 200), 1)
    bernoulli_table(outer(rep(1, n), stats::rbeta(sample(c(20, 80), 1), 0.5, 2)))
  },
  # Taxa replace one another along a gradient.
  gradient = function() {
    n <- sample(c(80, 300), 1)
    m <- sample(c(30, 100), 1)
    distance <- outer(stats::runif(n), stats::runif(m, -0.1, 1.1), "-")
    bernoulli_table(exp(-distance^2 / 0.045) * rep(stats::rbeta(m, 1, 1.5), each = n) * stats::rbeta(n, 1.5, 1.5))
  },
  # More presences than absences.
  dense = function() {
    n <- sample(c(80, 300), 1)
    m <- sample(c(20, 60), 1)
    bernoulli_table(matrix(stats::rbeta(3 * m, 2, 1), 3)[sample(3, n, TRUE), ])
  },
  # Sites that mix three faunas.
  mixed = function() {
    m <- sample(c(30, 80), 1)
    share <- matrix(stats::rgamma(600, 0.5), 200)
    bernoulli_table((share / rowSums(share)) %*% matrix(stats::rbeta(3 * m, 0.4, 0.8), 3))
  }
)

# Area under the receiver operating characteristic: the probability that a true case ranks above another one.
rank_auc <- function(score, true) {
  n <- sum(true)
  (sum(rank(score)[true]) - n * (n + 1) / 2) / (n * sum(!true))
}
