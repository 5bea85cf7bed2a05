# How many zeros of an answer of which_zeros() are false: the total, by the evidence that is there, and how it is shared
# out to zeros, sites and taxa. Where these rules come from, and how often they held: ?how_many, bench/how_many.md.

# ---- Chances ----

# Log-odds in bins: sums over cells of what depends on them alone are sums over bins. list(eta, count).
bin_width <- 0.02
log_odds_bins <- function(eta) {
  bin <- as.integer(round(eta / bin_width))
  if (!length(bin)) {
    return(list(eta = numeric(), count = integer()))
  }
  least <- min(bin) - 1L
  count <- tabulate(bin - least, max(bin) - least)
  count <- count[count > 0L]
  list(eta = as.vector(rowsum(as.vector(eta), bin)) / count, count = count)
}

# The weights of learners were learnt at zeros, where a few chances near 1 carry the level. The line logit p = a + b eta
# is that of all cells: finds have the log-odds that they had while they were hidden, and these stand for all.
#   zeros   list(eta, count) as of log_odds_bins(); hidden  log-odds of finds; finds  how many there are
calibrate_chances <- function(zeros, hidden, finds) {
  eta <- c(zeros$eta, hidden)
  y <- rep(c(0, 1), c(length(zeros$eta), length(hidden)))
  weight <- c(zeros$count, rep(finds / max(1L, length(hidden)), length(hidden)))
  line <- logistic_regression(cbind(1, eta), y, weight = weight)$beta
  # Learners that tell nothing keep the order that they have.
  if (line[2L] > least_slope) {
    return(line)
  }
  c(logistic_regression(matrix(1, length(eta)), y, least_slope * eta, weight = weight)$beta, least_slope)
}

least_slope <- 0.05

calibrated_stack <- function(stack, line) {
  stack$intercept <- line[1L] + line[2L] * stack$intercept
  stack$weights <- line[2L] * stack$weights
  stack$covariance <- line[2L]^2 * stack$covariance
  stack
}

# ---- The total, by evidence ----

# kappa, how well finds are foreseen, over the share that the table holds of what there is, where that is known: the
# usual value, and ends that hold nine in ten surveys.
usual_ratio <- c(missed = 0.91, low = 0.63, high = 1.18)
most_complete <- 0.99

# Presences alone: what two more searches as thorough as the table would show to have been missed.
total_by_lists <- function(kappa, finds, ratio = usual_ratio) {
  complete <- pmin(kappa / ratio, most_complete)
  total <- finds * (1 - complete) / complete
  if (kappa >= ratio[["low"]]) total[["low"]] <- 0
  total
}

# Totals at quantiles of that ratio, taken as log-normal.
lists_draws <- function(kappa, finds, at) {
  ends <- log(usual_ratio[c("low", "high")])
  ratio <- exp(mean(ends) + stats::qnorm(at) * diff(unname(ends)) / (2 * stats::qnorm(0.95)))
  finds * pmax(ratio - kappa, 0) / kappa
}

# Where one number has not held: little is foreseen, or the table is small. NULL, or why.
no_point <- function(kappa, finds, n_taxa) {
  if (n_taxa < 10L) {
    "there are fewer than 10 taxa"
  } else if (finds < 100) {
    "there are fewer than 100 finds"
  } else if (kappa < 0.15) {
    "finds are hardly foreseen; far fewer, if presences are random even when all is known"
  }
}

# Chao's lower bound of what is there and was not met, of each row of f = cbind(met once, met twice), drawn to the ratio
# of all rows: f1 (f1 + 2 R) / (2 (f2 + 2)).
chao_shrunk <- function(f) {
  ratio <- (sum(f[, 1L]) + 1) / (sum(f[, 2L]) + 1)
  f[, 1L] * (f[, 1L] + 2 * ratio) / (2 * (f[, 2L] + 2))
}

met_by_taxon <- function(counts) cbind(colSums(counts == 1, na.rm = TRUE), colSums(counts == 2, na.rm = TRUE))

# A factor by which estimates were off in nine of ten tables.
usual_factor <- c(counts = 2.2, groups = 2.2)

by_factor <- function(total, by) c(missed = total, low = total / usual_factor[[by]], high = total * usual_factor[[by]])

# Counts know about effort, a list does not. Their geometric mean is shown beside the lists, which measured better.
total_by_counts <- function(counts, by_lists) {
  by_factor(sqrt(by_lists[["missed"]] * sum(chao_shrunk(met_by_taxon(counts)))), "counts")
}

# What one more such search would find, of presences alone; NULL where the total is of something else. Said by the law
# it was 1.25 times too many, with little scatter (bench/how_many.md).
found_of_said <- 0.8
one_more_by_lists <- function(kappa, finds, ratio = usual_ratio) {
  found_of_said * finds * max(0, 1 - kappa / ratio[["missed"]])
}
one_more_of <- function(known, source) if (source == "lists") one_more_by_lists(known$kappa, known$finds)

# Taxa of the fauna of each group that none of its sites has, `pooled`: how many were met `once` and `twice` at its
# `sites`. Groups of one site tell nothing of it: the ratio of the others goes for them, too.
total_by_groups <- function(known, pooled) {
  tells <- pooled$sites > 1
  total <- sum(chao_shrunk(cbind(pooled$once, pooled$twice)[tells, , drop = FALSE]))
  ratio <- log_ratio_of(log_odds_bins(known$eta[tells, ][known$zero[tells, ]]), total)
  by_factor(sum_missed_bins(known$bins, ratio), "groups")
}

# Rows are time bins of one region: a taxon found before and after was there, so the total is at least these gaps.
gaps_of_series <- function(x, age) {
  which(as.matrix(suppressMessages(range_through(unname(as.matrix(x)), age))))
}

# Of what lies between first and last finds a share was found: as if the same share of all were.
total_by_gaps <- function(x, gaps) {
  finds <- column_sums(found_table(x))
  inside <- sum(pmax(finds - 2, 0))
  sum(finds) * gaps / max(1, inside)
}

# Occupancy of each taxon: what lived at the sites visited and no visit found. Where covariates tell sites apart, each
# site has its own part of the total.
total_by_visits <- function(given) {
  found <- visits_occupancy(given$cell, occupancy_given(given$cell, given$visit_model))
  list(
    total = c(missed = found$missed, low = found$low, high = found$high),
    sites = if (!is.null(given$visit_model)) unname(rowSums(found$cells, na.rm = TRUE))
  )
}

# ---- A total, shared out ----

most_of_zeros <- 0.95

# The zero with chance p was missed with odds r p / (1 - p), one r for all, so that these chances sum to the total:
# log r, -Inf where nothing was missed.
log_ratio_of <- function(bins, total) {
  total <- min(total, most_of_zeros * sum(bins$count))
  if (total <= 0) {
    return(-Inf)
  }
  above <- function(shift) sum_missed_bins(bins, shift) - total
  stats::uniroot(above, c(-1, 1), extendInt = "upX", tol = 1e-9)$root
}

sum_missed_bins <- function(bins, log_ratio) sum(bins$count * stats::plogis(bins$eta + log_ratio))

# The same for each row, from below by Newton's method on the log of the sum, which is as good as concave.
log_ratio_of_rows <- function(eta, zero, total, passes = 50L) {
  eta[!zero] <- -Inf
  total <- pmin(total, most_of_zeros * rowSums(zero))
  any <- total > 0
  shift <- ifelse(any, log(total) - log(rowSums(exp(pmin(eta, 300)))), -Inf)
  for (pass in seq_len(if (any(any)) passes else 0L)) {
    p <- stats::plogis(eta[any, , drop = FALSE] + shift[any])
    reached <- rowSums(p)
    step <- (log(total[any]) - log(reached)) * reached / pmax(rowSums(p * (1 - p)), 1e-300)
    shift[any] <- shift[any] + pmin(step, 5)
    if (!length(step) || max(abs(step)) < 1e-9) break
  }
  shift
}

missed_chance <- function(chance, log_ratio) stats::plogis(stats::qlogis(chance) + log_ratio)

# The numbers of zeros with these chances of a record and standard errors of their log-odds; log_ratio: a row for each,
# the estimate and its ends. Where they are made, they are coherent: missed_low <= missed <= missed_high <= present.
missed_numbers <- function(chance, se, log_ratio) {
  eta <- stats::qlogis(chance)
  missed <- missed_chance(chance, log_ratio[, 1L])
  low <- stats::plogis(eta - 1.645 * se + log_ratio[, 2L])
  high <- stats::plogis(eta + 1.645 * se + log_ratio[, 3L])
  list(
    chance = chance, present = chance + (1 - chance) * missed, missed = missed, missed_low = pmin(low, missed),
    missed_high = pmax(high, missed)
  )
}

# ---- The evidence of an answer ----

# What a number of evidence says, and of what it is the number.
evidence_words <- list(
  completeness = "completeness as given", effort = "effort, as a model has it", phantom = "the phantom of each site",
  visits = "occupancy of each taxon", groups = "sites of a group as samples",
  counts = "counts of one and two, and lists", lists = "how well finds are foreseen", gaps = "gaps inside ranges"
)
evidence_of <- list(
  completeness = "what was there", effort = "what was there, if effort decides",
  phantom = "what was there, if the phantom is what was missed",
  visits = "what lived at the sites visited", groups = "the fauna of each group",
  counts = "what more searches would show", lists = "what two more such searches would show",
  gaps = "what lived, if ranges are as complete outside"
)

n_draws <- 200L

# The total of all zeros and its part of each row. known: what wz_cells() has.
# list(source, estimates: a data frame of all evidence, the used one first; log_ratio: n x 3; relative: what sums are
# multiplied by in draws, 1 or n x draws).
how_many <- function(known, given, share) {
  lists <- total_by_lists(known$kappa, known$finds)
  gaps <- length(known$gaps)
  found <- list(lists = lists)
  if (!is.null(given$counts)) found$counts <- total_by_counts(given$counts, lists)
  if (!is.null(given$pooled)) found <- c(list(groups = total_by_groups(known, given$pooled)), found)
  visits <- if (!is.null(given$cell)) total_by_visits(given)
  if (!is.null(visits)) found <- c(list(visits = visits$total), found)
  if (is.null(share) && is.null(given$completeness)) {
    out <- one_ratio(known, found[[1L]], gaps, visits$sites)
    if (names(found)[1L] == "lists") {
      drawn <- pmax(lists_draws(known$kappa, known$finds, stats::ppoints(n_draws)) - gaps, 0)
      out$relative <- matrix(drawn / max(found[[1L]][["missed"]] - gaps, 1e-12), 1L)
    }
  } else {
    source <- if (!is.null(given$completeness)) "completeness" else if (!is.null(given$effort)) "effort" else "phantom"
    out <- if (source == "completeness") ratios_given(known, given$completeness) else ratios_of_shares(known, share)
    found <- c(stats::setNames(list(out$total), source), found)
  }
  # Nothing but zeros can have been missed.
  found <- lapply(found, pmin, sum(known$zero))
  if (!is.null(known$gaps)) {
    found <- lapply(found, pmax, gaps)
    found$gaps <- c(missed = total_by_gaps(known$x, gaps), low = gaps, high = NA)
  }
  out$source <- names(found)[1L]
  out$n_gaps <- gaps
  out$estimates <- data.frame(
    evidence = unlist(evidence_words[names(found)]), do.call(rbind, found),
    of = unlist(evidence_of[names(found)]), row.names = names(found)
  )
  out
}

# One ratio for all zeros but gaps, which are sure; or for those of each site, where the parts of `sites` are known.
one_ratio <- function(known, total, gaps, sites = NULL) {
  rest <- pmax(total - gaps, 0)
  ratio <- if (is.null(sites)) {
    matrix(vapply(rest, log_ratio_of, 0, bins = known$bins), nrow(known$zero), 3L, byrow = TRUE)
  } else {
    vapply(rest, function(total) {
      log_ratio_of_rows(known$eta, known$zero, total * sites / max(sum(sites), 1e-12))
    }, sites)
  }
  spread <- log(total[["high"]] / max(total[["missed"]], 1e-12)) / stats::qnorm(0.95)
  list(
    log_ratio = unname(ratio), relative = matrix(exp(stats::qnorm(stats::ppoints(n_draws)) * spread), 1L)
  )
}

# Completeness c of each site is known (n x 2, ends of its range): its zeros sum to (1 - c) / c of the finds that were
# to be expected there.
ratios_given <- function(known, completeness) {
  odds <- rowSums(exp(pmin(known$eta, 300)) * known$zero)
  finds <- rowSums(known$x == 1, na.rm = TRUE)
  expected <- odds * expected_factor(odds, finds, rowMeans(completeness))
  ratios_expected(known$eta, known$zero, expected, finds, completeness)
}

# The same where the finds to be expected at each site are known.
ratios_expected <- function(eta, zero, expected, finds, completeness) {
  c <- rowMeans(completeness)
  missed <- function(c) expected * (1 - c) / c
  ratio <- vapply(list(c, completeness[, 2L], completeness[, 1L]), function(at) {
    log_ratio_of_rows(eta, zero, missed(at))
  }, numeric(nrow(zero)))
  # Draws of a range lie at the same place in it at all sites.
  at <- rep(stats::ppoints(20L), length.out = n_draws)
  drawn <- vapply(at, function(at) {
    missed(completeness[, 1L] + at * (completeness[, 2L] - completeness[, 1L])) * draw_finds(finds)
  }, numeric(length(c)))
  relative <- matrix(drawn, length(c)) / pmax(missed(c), 1e-12)
  list(log_ratio = matrix(ratio, ncol = 3L), relative = relative, total = ends_of_total(missed(c), relative))
}

# Completeness by an assumption, which several fits make: `share` is that of each site that they take for missing, n x
# fits. A zero that would be found with odds o was missed in (1 - c) / c o of cases, and in no more than all: their sum
# is shared out by odds.
ratios_of_shares <- function(known, share) {
  odds <- exp(pmin(known$eta, 300)) * known$zero
  share <- pmin(share, 1 - 1e-3)
  sums <- function(share) rowSums(pmin(odds * (share / (1 - share)), 1))
  ends <- apply(share, 1L, stats::quantile, probs = c(0.05, 0.95), names = FALSE)
  middle <- rowMeans(share)
  missed <- sums(middle)
  ratio <- vapply(list(missed, sums(pmin(ends[1L, ], middle)), sums(pmax(ends[2L, ], middle))), function(total) {
    log_ratio_of_rows(known$eta, known$zero, total)
  }, missed)
  each <- apply(share, 2L, sums) / pmax(missed, 1e-12)
  relative <- each[, rep_len(seq_len(ncol(share)), n_draws), drop = FALSE]
  list(log_ratio = unname(ratio), relative = relative, total = ends_of_total(missed, relative))
}

ends_of_total <- function(missed, relative) {
  ends <- central_range(colSums(missed * relative))
  c(missed = sum(missed), low = min(ends[1L], sum(missed)), high = max(ends[2L], sum(missed)))
}

# What the odds of a site are multiplied by where completeness is known: its finds say more than the learners make of
# them. Given completeness c_i the sum of its odds S_i is taken as M_i = S_i exp(a + b log c_i), by Poisson regression,
# and F_i as Poisson about M_i times a Gamma factor with mean 1 and shape g, so that M_i (F_i + g) / (M_i + g) finds
# were to be expected. As the residuals of that regression sum to 0, also when weighed by log c, the numbers missed sum
# to about sum_i F_i (1 - c_i) / c_i, the estimate of Horvitz and Thompson.
expected_factor <- function(sums, finds, completeness) {
  used <- sums > 0
  design <- cbind(1, log(completeness))
  if (sum(used) < 3L || stats::sd(design[used, 2L]) < 1e-6) design <- design[, 1L, drop = FALSE]
  fit <- suppressWarnings(stats::glm.fit(
    design[used, , drop = FALSE], finds[used],
    offset = log(sums[used]), family = stats::poisson()
  ))
  mean <- sums * exp(as.vector(design %*% fit$coefficients))
  shape <- exp(stats::optimize(gamma_poisson, c(-3, 8), finds[used], mean[used], maximum = TRUE)$maximum)
  ifelse(used, mean / sums * (finds + shape) / (mean + shape), 1)
}

# Log-likelihood of counts that are Poisson about a Gamma factor of mean 1 and shape exp(log_shape) times their mean.
gamma_poisson <- function(log_shape, count, mean) {
  sum(stats::dnbinom(count, size = exp(log_shape), mu = mean, log = TRUE))
}

# What finds say of the numbers to be expected at each site, as a share of it.
draw_finds <- function(finds) stats::rgamma(length(finds), finds + 0.5, finds + 0.5)

# ---- Sums ----

# How far the truth lies from sums that one ratio gives, beyond chance and the total: coefficients of variation.
scatter <- c(sites = 0.25, taxa = 0.6)

# Draws of the numbers missed at sites and of taxa: gamma-Poisson about the expected ones, times what the total is drawn
# to be. Where the site's own ratio is known or assumed, that is all that is not known.
#   missed    n x m, expected at zeros that count, without gaps; gaps: the same of gaps, 0 or 1
#   relative  as how_many() has it
draw_sums <- function(missed, gaps, relative) {
  measured <- nrow(relative) == 1L
  draws <- function(mean, cv, sure) {
    number <- if (measured) {
      stats::rnbinom(length(mean), size = 1 / cv^2, mu = mean)
    } else {
      stats::rpois(length(mean), mean)
    }
    sure + matrix(number, nrow(mean))
  }
  sites <- if (measured) rowSums(missed) %*% relative else rowSums(missed) * relative
  taxa <- if (measured) colSums(missed) %*% relative else crossprod(missed, relative)
  list(
    sites = draws(sites, scatter[["sites"]], rowSums(gaps)), taxa = draws(taxa, scatter[["taxa"]], colSums(gaps))
  )
}

# What an answer says of all its zeros: c(missed, low, high). Measured ranges are those of the total, others those of
# draws of sites.
answer_total <- function(missed, gaps, many, draws) {
  sum <- sum(missed) + sum(gaps)
  ends <- if (nrow(many$relative) == 1L) {
    total <- unlist(many$estimates[1L, c("missed", "low", "high")])
    rest <- pmax(total - many$n_gaps, 0)
    sum(gaps) + if (rest[[1L]] > 0) sum(missed) * rest[-1L] / rest[[1L]] else rest[-1L]
  } else {
    central_range(colSums(draws$sites))
  }
  c(missed = sum, low = min(ends[1L], sum), high = max(ends[2L], sum))
}
