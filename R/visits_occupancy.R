# How many presences no visit found: occupancy of each taxon, detection by taxon and visit (MacKenzie and others 2002),
# taxa shrunk to each other (Dorazio and Royle 2005), finds uneven among sites. Of a presence z[i, j],
#   logit P(z[i, j] = 1) = t[j] + given,  t[j] ~ N(center, spread^2),
#   logit P(found on visit v | z[i, j] = 1) = u[j] + shift[j, v] + given + b[i, j],  u[j] ~ N(center, spread^2),
#   shift[j, v] ~ N(visit[v], spread_visit^2),  b[i, j] ~ N(0, uneven^2).
# t, u and b are summed over grids, the rest is estimated (empirical Bayes, by EM). Two visits do not tell `uneven`, nor
# do four of few taxa: answers for several values are averaged, see occupancy_weights().

occupancy_uneven <- c(0, 0.5, 1, 1.5)
uneven_prior <- 0.4 # `uneven` is half-normal
# So many values of t and of u for each taxon, over 9 standard deviations of its posterior.
occupancy_steps <- seq(-4.5, 4.5, length.out = 25L)
center_prior <- 0.7 # standard deviation of the centers
spread_prior <- c(1, 0.1) # variances of t and of u that one taxon more would show
# Of surveys, which no model is true of, what all visits tell was within this factor (`bench/visits_occupancy.md`).
survey_factor <- 1.9

# Nodes and weights of Gauss and Hermite for the normal distribution.
normal_nodes <- list(
  at = c(-3.7504397177257425, -2.3667594107345415, -1.1544053947399682, 0, 1.1544053947399682, 2.3667594107345415,
    3.7504397177257425),
  weight = c(0.00054826885597222, 0.030757123967586, 0.24012317860501, 0.45714285714286, 0.24012317860501,
    0.030757123967586, 0.00054826885597222)
)

# cell: what check_visits() gives. model: NULL, or formulas and covariates as wz_visit_model() gives them. What no visit
# found, of taxa that were found somewhere and at sites that were visited: list
#   missed, low, high        the expected number, and a range for surveys as they are, see survey_range()
#   model_low, model_high    90 % if the model holds
#   by_taxon                 expected number of each taxon
occupancy_total <- function(cell, model = NULL) {
  out <- visits_occupancy(cell, occupancy_given(cell, model))
  out[c("missed", "low", "high", "by_taxon", "model_low", "model_high")]
}

# given: NULL or list(found = n x m x visits, present = n x m), what covariates add to the log-odds. The answer has
# also `cells`, n x m: P(present) where no visit found the taxon, NA elsewhere; and `uneven`: its values, their weights
# and the number missed given each.
visits_occupancy <- function(cell, given = NULL, uneven = occupancy_uneven) {
  rows <- occupancy_rows(cell, given)
  labels <- dimnames(cell)
  if (!rows$m) {
    none <- stats::setNames(numeric(dim(cell)[2L]), labels[[2L]])
    return(list(missed = 0, low = 0, high = 0, model_low = 0, model_high = 0, by_taxon = none))
  }
  state <- occupancy_start(rows)
  fits <- vector("list", length(uneven))
  for (b in seq_along(uneven)) {
    state <- occupancy_em(rows, state, uneven[b])
    fits[[b]] <- occupancy_answer(rows, state, uneven[b])
  }
  each <- function(name) vapply(fits, `[[`, 0, name)
  weight <- occupancy_weights(each("profile"), uneven)
  average <- function(name) Reduce(`+`, Map(function(fit, w) w * fit[[name]], fits, weight))
  missed <- sum(weight * each("missed"))
  variance <- sum(weight * (each("variance") + (each("missed") - missed)^2))
  ends <- count_range(missed, variance)
  beyond <- survey_range(missed, variance)
  list(
    missed = missed, low = min(ends[1L], beyond[1L]), high = max(ends[2L], beyond[2L]),
    model_low = ends[1L], model_high = ends[2L],
    by_taxon = stats::setNames(average("by_taxon"), labels[[2L]]),
    cells = structure(average("cells"), dimnames = if (!is.null(labels)) labels[1:2]),
    uneven = data.frame(uneven, weight, missed = each("missed"))
  )
}

# By the likelihood at its top over t and u. With two visits it is flat, while the sum over t and u is not, which trusts
# that taxa are normal, and would tell a total three times as high of the birds.
occupancy_weights <- function(profile, uneven) {
  log_weight <- profile - uneven^2 / (2 * uneven_prior^2)
  weight <- exp(log_weight - max(log_weight))
  weight / sum(weight)
}

# 90 % of a count with this mean and variance, as negative binomial.
count_range <- function(mean, variance) {
  if (mean <= 0) {
    return(c(0, 0))
  }
  if (variance <= mean * 1.001) {
    return(c(floor(max(0, mean - 1.645 * sqrt(variance))), ceiling(mean + 1.645 * sqrt(variance))))
  }
  stats::qnbinom(c(0.05, 0.95), size = mean^2 / (variance - mean), mu = mean)
}

# 90 % on the log scale, where the model's variance and that of surveys about the model add up: of few finds both count.
survey_range <- function(missed, variance) {
  if (missed <= 0) {
    return(c(0, 0))
  }
  own <- stats::qnorm(0.95)^2 * log1p(variance / missed^2)
  factor <- exp(sqrt(own + log(survey_factor)^2))
  c(floor(missed / factor), ceiling(missed * factor))
}

# What covariates add to the log-odds of a presence and of a find, each taxon's mean taken out: by a fit of
# visits_bernoulli(), which has the formulas.
occupancy_given <- function(cell, model) {
  if (is.null(model)) {
    return(NULL)
  }
  if (is.null(model$detection)) model$detection <- if (dim(cell)[3L] > 1L) ~visit else ~1
  k <- if (is.null(model$communities)) 1L else min(3L, dim(cell)[2L])
  args <- c(list(quote(cell), k), model[lengths(model) > 0L], list(control = fit_control(progress = FALSE)))
  fit <- with_seed(1L, quiet_fit(do.call(visits_bernoulli, args))$value)
  d <- dim(cell)
  found <- vapply(seq_len(d[3L]), function(v) -stats::qlogis(visit_missed(fit, v)), matrix(0, d[1L], d[2L]))
  found <- array(pmin(pmax(found, -20), 20), d)
  centre <- function(x, known) x - rep(colSums(x * known) / pmax(colSums(known), 1), each = d[1L])
  made <- !is.na(cell)
  middle <- vapply(seq_len(d[2L]), function(j) sum(found[, j, ] * made[, j, ]) / max(sum(made[, j, ]), 1), 0)
  present <- stats::qlogis(pmin(pmax(unname(fitted(fit)), 1e-6), 1 - 1e-6))
  list(found = found - rep(middle, each = d[1L]), present = centre(present, rowSums(made, dims = 2L) > 0))
}

# Cells of a taxon with the same history are one row. of_cell, n x m: each cell's row.
occupancy_rows <- function(cell, given) {
  d <- dim(cell)
  y <- matrix(cell, d[1L] * d[2L], d[3L])
  hit <- y == 1L & !is.na(y)
  taxon <- rep(seq_len(d[2L]), each = d[1L])
  taxa <- which(tapply(rowSums(hit), factor(taxon, seq_len(d[2L])), sum) > 0)
  used <- rowSums(!is.na(y)) > 0 & taxon %in% taxa
  history <- do.call(paste, c(list(taxon, if (!is.null(given)) seq_along(taxon)), split(y, col(y))))
  history[!used] <- NA
  first <- which(used & !duplicated(history))
  of_cell <- match(history, history[first], incomparables = NA)
  own <- match(taxon[first], taxa)
  list(
    histories = list(taxon = own - 1L, found = t(y[first, , drop = FALSE])), found = rowSums(hit)[first] > 0,
    taxon = own, count = tabulate(of_cell, length(first)), of_cell = matrix(of_cell, d[1L]),
    taxa = unname(taxa), m = length(taxa), dims = d, by_visit = is.null(given) && d[3L] > 1L,
    add_found = if (is.null(given)) 0 else t(matrix(given$found, ncol = d[3L])[first, , drop = FALSE]),
    add_present = if (is.null(given)) numeric(length(first)) else as.vector(given$present)[first]
  )
}

# center and about: mean and standard deviation of the prior of each taxon's t and u, see share_taxa(). mean and width:
# where the grids of t and u lie, taxa x 2.
occupancy_start <- function(rows) {
  v <- rows$dims[3L]
  list(
    center = matrix(0, rows$m, 2L), spread = c(1.5, 1), about = c(1.5, 1), visit = numeric(v), spread_visit = 0.3,
    shift = matrix(0, rows$m, v),
    mean = matrix(0, rows$m, 2L), width = matrix(1.6, rows$m, 2L)
  )
}

# Sums over these rows of each taxon, taxa x columns.
taxon_sums <- function(x, rows, which) {
  out <- matrix(0, rows$m, NCOL(x))
  sums <- rowsum(x, rows$taxon[which])
  out[as.integer(rownames(sums)), ] <- sums
  out
}

# P(history | present) of each row at each u: `like`, rows x grid, of `terms`, see src/visits_occupancy/history.h.
occupancy_likelihood <- function(rows, state, uneven) {
  nodes <- if (uneven > 0) normal_nodes else list(at = 0, weight = 1)
  u <- state$mean[, 2L] + outer(state$width[, 2L], occupancy_steps)
  terms <- list(
    odds = t(exp(u)), visit = exp(t(state$shift)[, rows$taxon, drop = FALSE] + rows$add_found),
    node = exp(uneven * nodes$at), weight = nodes$weight
  )
  list(u = u, terms = terms, like = t(.Call(mc_c_occ_likelihood, rows$histories, terms)))
}

# The posterior of t and u given the rest, taxa x grid x grid, and what it is of.
occupancy_posterior <- function(rows, state, uneven) {
  at <- occupancy_likelihood(rows, state, uneven)
  g <- length(occupancy_steps)
  at$t <- state$mean[, 1L] + outer(state$width[, 1L], occupancy_steps)
  at$blank <- which(!rows$found)
  prior <- function(x, side) stats::dnorm(x, state$center[, side], state$about[side], log = TRUE)
  hits <- which(rows$found)
  fixed <- taxon_sums(rows$count[hits] * log(at$like[hits, , drop = FALSE]), rows, hits)
  likelihood <- array(0, c(rows$m, g, g))
  for (s in seq_len(g)) {
    present <- rows$count[hits] * log(occupancy_chance(rows, at, s, hits))
    absent <- rows$count[at$blank] * occupancy_absent(rows, at, s)
    likelihood[, s, ] <- fixed + as.vector(taxon_sums(present, rows, hits)) + taxon_sums(absent, rows, at$blank)
  }
  density <- likelihood + as.vector(prior(at$t, 1L)) + aperm(array(prior(at$u, 2L), c(rows$m, g, g)), c(1L, 3L, 2L))
  post <- exp(density - apply(density, 1L, max))
  at$post <- post / rowSums(post)
  at$profile <- sum(apply(likelihood, 1L, max))
  at
}

# P(present) of these rows at the s-th t.
occupancy_chance <- function(rows, at, s, which) stats::plogis(at$t[rows$taxon[which], s] + rows$add_present[which])

# The log-likelihood of the rows without a find at the s-th t, rows x grid of u.
occupancy_absent <- function(rows, at, s) {
  log1p(occupancy_chance(rows, at, s, at$blank) * (at$like[at$blank, , drop = FALSE] - 1))
}

# P(present | history) of the rows without a find at the s-th t, rows x grid of u.
occupancy_after <- function(rows, at, s) {
  present <- occupancy_chance(rows, at, s, at$blank) * at$like[at$blank, , drop = FALSE]
  present / (present + 1 - occupancy_chance(rows, at, s, at$blank))
}

posterior_moments <- function(x, weight) {
  mean <- rowSums(x * weight)
  list(mean = mean, variance = pmax(rowSums(x^2 * weight) - mean^2, 0))
}

# Sums over t or u of taxa x grid x grid, which leave side 1, t, or 2, u.
grid_sums <- function(x, side) rowSums(if (side == 1L) x else aperm(x, c(1L, 3L, 2L)), dims = 2L)

# P(present, u | all), rows x grid of u.
occupancy_present <- function(rows, at) {
  out <- grid_sums(at$post, 2L)[rows$taxon, , drop = FALSE]
  out[at$blank, ] <- 0
  for (s in seq_along(occupancy_steps)) {
    weight <- matrix(at$post[, s, ], rows$m)[rows$taxon[at$blank], , drop = FALSE]
    out[at$blank, ] <- out[at$blank, , drop = FALSE] + weight * occupancy_after(rows, at, s)
  }
  out
}

occupancy_em <- function(rows, state, uneven, rounds = 40L, tol = 0.01) {
  for (round in seq_len(rounds)) {
    before <- state
    at <- occupancy_posterior(rows, state, uneven)
    for (side in 1:2) {
      known <- posterior_moments(list(at$t, at$u)[[side]], grid_sums(at$post, side))
      state$mean[, side] <- known$mean
      state$width[, side] <- pmin(pmax(sqrt(known$variance), 0.01), 3)
      state <- share_taxa(state, known, side)
    }
    if (rows$by_visit) state <- update_shift(rows, at, state, occupancy_present(rows, at))
    moved <- function(name) max(abs(state[[name]] - before[[name]]))
    if (round > 3L && max(vapply(c("center", "spread", "visit", "spread_visit"), moved, 0)) < tol) break
  }
  state
}

# The spread among taxa, and for each what the others tell of it: their mean, and how far it may be from that.
share_taxa <- function(state, known, side) {
  m <- length(known$mean)
  tight <- state$spread[side]^2 / center_prior^2
  squares <- sum((known$mean - sum(known$mean) / (m + tight))^2 + known$variance)
  state$spread[side] <- sqrt((squares + spread_prior[side]) / (m + 1))
  tight <- state$spread[side]^2 / center_prior^2
  state$center[, side] <- (sum(known$mean) - known$mean) / (m - 1 + tight)
  state$about[side] <- state$spread[side] * sqrt(1 + 1 / (m - 1 + tight))
  state
}

# One Newton step of the expected log-likelihood of the finds, and the visits' means and spread.
update_shift <- function(rows, at, state, present) {
  expected <- .Call(mc_c_occ_shift, rows$histories, at$terms, t(rows$count * present))
  tight <- 1 / state$spread_visit^2
  off <- state$shift - rep(state$visit, each = rows$m)
  state$shift <- state$shift + pmin(pmax((expected$slope - off * tight) / (expected$curve + tight), -1), 1)
  visit <- colSums(state$shift) / (rows$m + 1 / tight)
  # The level is u's.
  state$visit <- visit - mean(visit)
  state$shift <- state$shift - mean(visit)
  off <- state$shift - rep(state$visit, each = rows$m)
  state$spread_visit <- sqrt((sum(off^2 + 1 / (expected$curve + tight)) + 0.3^2) / (length(off) + 1))
  state
}

# The expected number missed, its variance given `uneven`, and the top of the likelihood.
occupancy_answer <- function(rows, state, uneven) {
  at <- occupancy_posterior(rows, state, uneven)
  number <- 0 * at$post # missed given t and u
  chance <- 0
  for (s in seq_along(occupancy_steps)) {
    after <- rows$count[at$blank] * occupancy_after(rows, at, s)
    number[, s, ] <- taxon_sums(after, rows, at$blank)
    own <- after * (1 - after / rows$count[at$blank])
    chance <- chance + sum(taxon_sums(own, rows, at$blank) * matrix(at$post[, s, ], rows$m))
  }
  missed <- rowSums(at$post * number)
  unsure <- rowSums(at$post * number^2) - missed^2
  of_taxon <- numeric(rows$dims[2L])
  of_taxon[rows$taxa] <- missed
  present <- rowSums(occupancy_present(rows, at))
  present[rows$found] <- NA
  shared <- shared_by_sites(rows, at, at$post * (number - missed))
  list(
    missed = sum(missed), variance = chance + shared * sum(unsure), profile = at$profile, by_taxon = of_taxon,
    cells = matrix(present[rows$of_cell], rows$dims[1L])
  )
}

# How much more the total varies with the sites drawn than where taxa of a site were independent, at least 1: by the
# influence of each cell, the posterior covariance of the number missed and the cell's log-likelihood (Giordano and
# Broderick's infinitesimal jackknife), summed by site. off: posterior times the number's deviation from its mean.
shared_by_sites <- function(rows, at, off) {
  hits <- which(rows$found)
  influence <- numeric(length(rows$found))
  of_u <- grid_sums(off, 2L)
  influence[hits] <- rowSums(of_u[rows$taxon[hits], , drop = FALSE] * log(at$like[hits, , drop = FALSE]))
  for (s in seq_along(occupancy_steps)) {
    own <- matrix(off[, s, ], rows$m)
    influence[hits] <- influence[hits] + rowSums(own)[rows$taxon[hits]] * log(occupancy_chance(rows, at, s, hits))
    absent <- own[rows$taxon[at$blank], , drop = FALSE] * occupancy_absent(rows, at, s)
    influence[at$blank] <- influence[at$blank] + rowSums(absent)
  }
  cells <- matrix(influence[rows$of_cell], rows$dims[1L])
  cells <- cells - rep(colMeans(cells, na.rm = TRUE), each = nrow(cells))
  cells[is.na(cells)] <- 0
  alone <- sum(cells^2)
  if (alone > 0) max(1, sum(rowSums(cells)^2) / alone) else 1
}
