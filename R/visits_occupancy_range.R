# 90 % intervals of undetected presences: from draws, from the scatter of surveys, and for visits that are years.

# Returns c(missed, low, high, model_low, model_high, years_low, years_high) for a result of occupancy_answer().
occupancy_range <- function(answer, x) {
  sums <- answer$sums
  total <- colSums(sums$missed)
  missed <- mean(total)
  shared <- shared_by_sites(sums$influence, answer$rows$of_cell)
  variance <- mean(colSums(sums$variance)) + shared * stats::var(total)
  model <- count_range(missed, variance)
  ends <- function(factor) {
    about <- survey_range(missed, variance, factor)
    c(min(about[1L], model[1L]), max(about[2L], model[2L]))
  }
  most <- sum(x %in% 0)
  out <- c(missed, ends(survey_factor), model, ends(years_factor))
  names(out) <- c("missed", "low", "high", "model_low", "model_high", "years_low", "years_high")
  pmin(out, most)
}

# Computes the 90 % interval of a negative binomial count with this mean and variance.
count_range <- function(mean, variance) {
  if (mean <= 0) {
    return(c(0, 0))
  }
  if (variance <= mean * 1.001) {
    return(c(floor(max(0, mean - 1.645 * sqrt(variance))), ceiling(mean + 1.645 * sqrt(variance))))
  }
  ends <- stats::qnbinom(c(0.05, 0.95), size = mean^2 / (variance - mean), mu = mean)
  c(min(ends[1L], floor(mean)), max(ends[2L], ceiling(mean))) # they hold the estimate
}

# Computes the variance of the total over sampled sites relative to independent taxa within sites, at least 1, by the
# influence of each cell: the posterior covariance of the number missed and the cell's log-likelihood (Giordano and
# Broderick's infinitesimal jackknife), summed by site.
shared_by_sites <- function(influence, of_cell) {
  cells <- matrix(influence[of_cell], nrow(of_cell))
  cells <- cells - rep(colMeans(cells, na.rm = TRUE), each = nrow(cells))
  cells[is.na(cells)] <- 0
  alone <- sum(cells^2)
  if (alone > 0) max(1, sum(rowSums(cells)^2) / alone) else 1
}

# Computes 90 % intervals on the log scale, on which the variances of the model and of surveys about the model add up:
# with few presences both matter.
survey_range <- function(missed, variance, factor) {
  if (missed <= 0) {
    return(c(0, 0))
  }
  own <- stats::qnorm(0.95)^2 * log1p(variance / missed^2)
  factor <- exp(sqrt(own + log(factor)^2))
  c(floor(missed / factor), ceiling(missed * factor))
}

# In real surveys, for which no model is true, the number missed was within this factor (`bench/visits_occupancy.md`);
# if visits are years, within the larger one.
survey_factor <- 1.9
years_factor <- 3
