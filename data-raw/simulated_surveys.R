# Builds simulated_surveys. To be run by Rscript from the root of the package.
#
# Nine surveys of equal effort of the same sites, with the dependence that real tables have: taxa answer to two
# gradients in space, sites differ in how much lives there, and a taxon is found by a survey as its abundance at the
# site has it. The first survey is the table, the others say which of its zeros are false.

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
n <- 120L
m <- 50L

# One set of surveys; `seed` 1 is the data set.
simulate_surveys <- function(seed) {
  set.seed(seed)
  place <- cbind(lng = runif(n, 0, 10), lat = runif(n, 44, 50))
  # A gradient that is smooth in space: a few waves of random direction.
  gradient <- function() {
    wave <- replicate(4L, {
      way <- rnorm(2L) / 3
      sin(place %*% way + runif(1L, 0, 2 * pi))
    })
    as.vector(scale(rowSums(wave) + rnorm(n, sd = 0.5)))
  }
  gradients <- cbind(gradient(), gradient())
  richness <- rnorm(n, sd = 0.5)
  optimum <- matrix(rnorm(2L * m, sd = 1.2), m)
  width <- runif(m, 0.4, 0.9)
  far <- outer(rowSums(gradients^2), rowSums(optimum^2), "+") - 2 * gradients %*% t(optimum)
  # Logarithm of how many individuals a survey meets: taxa, sites and pairs of them differ.
  log_abundance <- rep(rnorm(m, 0.8, 1), each = n) - far / rep(2 * width^2, each = n) + richness +
    rnorm(n * m, sd = 0.8)
  met <- array(rpois(n * m * 9L, exp(log_abundance)), c(n, m, 9L))
  list(place = place, surveys = (met > 0) + 0L)
}

if (sys.nframe() == 0L || !exists("only_define")) {
  made <- simulate_surveys(1L)
  taxa <- which(colSums(made$surveys[, , 1L]) > 0)
  site <- sprintf("site_%03d", seq_len(n))
  taxon <- sprintf("taxon_%02d", seq_along(taxa))
  names <- list(site = site, taxon = taxon)
  simulated_surveys <- list(
    x = structure(made$surveys[, taxa, 1L], dimnames = names),
    later = structure(made$surveys[, taxa, -1L], dimnames = c(names, list(survey = 2:9))),
    sites = data.frame(round(made$place, 3), row.names = site)
  )
  x <- simulated_surveys$x
  cat(sprintf(
    "%d x %d, %.1f %% ones; two more surveys find %d at %d zeros\n", nrow(x), ncol(x), 100 * mean(x),
    sum(apply(simulated_surveys$later[, , 1:2], 1:2, max) > x), sum(x == 0)
  ))
  save(simulated_surveys, file = "data/simulated_surveys.rda", compress = "xz", version = 2)
}
