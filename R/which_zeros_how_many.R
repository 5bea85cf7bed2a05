# Number of false zeros in which_zeros(): the total by the available evidence, and its distribution over zeros, sites
# and taxa. For the derivation and coverage of these rules see ?how_many and bench/how_many.md.

# ---- Probabilities ----

# Bins log-odds, so that sums over cells of functions of them become sums over bins: list(eta, count).
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

# Calibrates the probabilities. The weights of learners were learnt at zeros, of which a few with probabilities near 1
# determine the level. The line logit p = a + b eta covers all cells: presences enter with their log-odds while held
# out, weighted to represent all presences.
#   zeros   list(eta, count) from log_odds_bins(); hidden  log-odds of presences; presences  their number
calibrate_probabilities <- function(zeros, hidden, presences) {
  eta <- c(zeros$eta, hidden)
  y <- rep(c(0, 1), c(length(zeros$eta), length(hidden)))
  weight <- c(zeros$count, rep(presences / max(1L, length(hidden)), length(hidden)))
  # As in the stack, `blind_presences` are added, spread by eta itself, at the level of all presences.
  level <- logistic_regression(matrix(1, length(eta)), y, eta, weight = weight)$beta
  more <- blind_presences / max(1L, length(hidden))
  shrunk <- (y + more * stats::plogis(level + eta)) / (1 + more)
  line <- logistic_regression(cbind(1, eta), shrunk, weight = weight)$beta
  # Uninformative learners keep their order.
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

# ---- The number, by evidence ----

# Ratio of predictability to the share of the presences of three surveys together that one of them has: near .91 in
# surveys that were repeated. With F presences of predictability kappa, k more surveys of equal effort find a_k F (1 -
# kappa / .91) further presences. The factors a_k, and the factors by which nine in ten surveys were off, are those of
# bench/how_many.md.
usual_ratio <- 0.91
more_surveys <- c(`1` = 0.84, `2` = 1.36, `4` = 2.06, `8` = 2.87)
usual_factor <- c(alike = 1.75, unlike = 2.8, visits = 1.9, groups = 2.2, counts = 3.6)

# Computes the number from the table alone: list(kappa, presences) from predictability().
unseen_base <- function(known, ratio = usual_ratio) known$presences * max(0, 1 - known$kappa / ratio)

by_factor <- function(total, by) {
  c(missed = total, low = total / usual_factor[[by]], high = total * usual_factor[[by]])
}

# Estimates the presences that two more surveys of equal effort would find.
total_by_surveys <- function(known, ratio = usual_ratio) {
  by_factor(more_surveys[["2"]] * unseen_base(known, ratio), "alike")
}

# Computes the curve of presences that k more surveys of equal effort would find among `zeros` zeros. A data frame of
# `surveys` (beyond the one that made the table), `missed`, `low`, `high` (90 % of similar surveys), `unlike_low`,
# `unlike_high` (in other years or by other methods). Between the measured k log a is linear in log k.
surveys_curve <- function(known, zeros, surveys = c(1, 2, 4, 8), ratio = usual_ratio) {
  measured <- log(as.numeric(names(more_surveys)))
  factor <- exp(stats::approx(measured, log(more_surveys), log(surveys))$y)
  missed <- pmin(factor * unseen_base(known, ratio), zeros)
  times <- function(by) pmin(missed * usual_factor[[by]], zeros)
  over <- function(by) missed / usual_factor[[by]]
  data.frame(
    surveys, missed, low = over("alike"), high = times("alike"), unlike_low = over("unlike"),
    unlike_high = times("unlike")
  )
}

# Explains why no number is estimated if presences are hardly predicted, or the table is small: such numbers were worse
# than none (?how_many); or predicted too well. NULL: one is estimated. q: the row of `quality` of the result; words:
# the user's words for sites and taxa; kappa: the predictability (shards learn theirs later, see know_shards()).
no_number <- function(q, presences, size, words = c("sites", "taxa"), kappa = 0) {
  weak <- is.na(q$auc) || q$auc - 1.645 * max(q$auc_se, 0, na.rm = TRUE) <= 0.6
  has <- c(size[[1L]], size[[2L]], presences)
  least <- c(10, 10, 100)
  small <- has < least
  if (any(small)) {
    parts <- sprintf("%s of the %.0f %s", format_big(has), least, c(words, "presences"))[small]
    sprintf("the table has only %s that are needed", sub(", ([^,]*)$", " and \\1", paste(parts, collapse = ", ")))
  } else if (weak) {
    sprintf(
      "held-out presences of the %s are not surely predicted better than by chance (AUC less 1.645 SE is at most 0.6)",
      words[2L]
    )
  } else {
    nothing_missed(kappa, usual_ratio, words)
  }
}

# Explains why the curve has no number where it would be 0 of 0 to 0, without knowing it.
nothing_missed <- function(kappa, ratio, words = c("sites", "taxa")) {
  if (kappa >= ratio) {
    sprintf(
      "the %s predict each other too well (predictability %.2f, where %.2f or more means that nothing was missed), %s",
      words[1L], kappa, ratio, "as where some are entered twice"
    )
  }
}

# Computes Chao's lower bound of the unseen, for each row of f = cbind(met once, met twice), shrunk towards the ratio of
# all rows: f1 (f1 + 2 R) / (2 (f2 + 2)).
chao_shrunk <- function(f) {
  ratio <- (sum(f[, 1L]) + 1) / (sum(f[, 2L]) + 1)
  f[, 1L] * (f[, 1L] + 2 * ratio) / (2 * (f[, 2L] + 2))
}

met_by_taxon <- function(counts) cbind(colSums(counts == 1, na.rm = TRUE), colSums(counts == 2, na.rm = TRUE))

# Computes Chao's estimate from counts. If counts reflect effort, it estimates what was there to be counted instead.
total_by_counts <- function(counts) by_factor(sum(chao_shrunk(met_by_taxon(counts))), "counts")

# Estimates the taxa of each group's fauna that were found at none of its sites. `pooled`: how many were found `once`
# and `twice` at its `sites`. Groups of one site carry no information and get the ratio of the others.
total_by_groups <- function(known, pooled) {
  tells <- pooled$sites > 1
  total <- sum(chao_shrunk(cbind(pooled$once, pooled$twice)[tells, , drop = FALSE]))
  ratio <- log_ratio_of(log_odds_bins(known$eta[tells, ][known$zero[tells, ]]), total)
  by_factor(sum_missed_bins(known$bins, ratio), "groups")
}

# Finds the gaps of a series, whose rows are time bins of one region: a taxon found before and after a bin was there.
gaps_of_series <- function(x, age) {
  which(as.matrix(suppressMessages(range_through(unname(as.matrix(x)), age))))
}

# Estimates the total from the share of cells between first and last presences that was found, as if typical of all.
total_by_gaps <- function(x, gaps) {
  presences <- presence_sums(x)
  inside <- sum(pmax(presences - 2, 0))
  sum(presences) * gaps / max(1, inside)
}

# Estimates by occupancy the presences of each taxon at visited sites that no visit detected: list(total, taxa: of each,
# silent: the log of the probability that no visit detects a present taxon, n x m; present: log-odds of a presence
# before the visits, if covariates distinguish sites, else NULL; detect: detection by visits, see how_many()).
total_by_visits <- function(given) {
  found <- occupancy_missed(given$cell, given$visit_model)
  logit <- function(p) stats::qlogis(pmin(pmax(unname(p), 1e-6), 1 - 1e-6))
  known <- function(value) ifelse(is.na(value), 0, value)
  present <- logit(found$before)
  list(
    total = found$total, taxa = unname(found$by_taxon), ahead = unname(found$ahead),
    silent = known(logit(found$cells) - present), present = if (found$follows) known(present),
    detect = c(found$detect, list(labels = visit_labels(given$cell), years = if (are_years(given$cell)) found$years))
  )
}

visit_labels <- function(cell) dimnames(cell)[[3L]] %||% as.character(seq_len(dim(cell)[3L]))

# Tests whether the visits look like years, by the name of their side or by their own names.
are_years <- function(cell) {
  labels <- dimnames(cell)[[3L]]
  grepl("^years?$", names(dimnames(cell))[3L] %||% "", ignore.case = TRUE) ||
    (length(labels) > 1L && all(grepl("^(1[5-9]|20)[0-9]{2}$", labels)))
}

# Computes Chao's estimate for each site with visits as samples: taxa there that no visit found. A site of one visit has
# no taxon found twice and tells nothing: it gets the mean of the others; NULL without any.
total_by_chao <- function(cell) {
  tells <- rowSums(apply(!is.na(cell), c(1L, 3L), any)) > 1L
  if (!any(tells)) {
    return(NULL)
  }
  times <- apply(cell == 1L, 1:2, sum, na.rm = TRUE)[tells, , drop = FALSE]
  each <- chao_shrunk(cbind(rowSums(times == 1), rowSums(times == 2)))
  by_factor(sum(each) * nrow(cell) / length(each), "groups")
}

# ---- Distribution of a total ----

most_of_zeros <- 0.95

# The probability that a zero with log-odds eta of a record is a false absence is plogis(slope eta + offset + r), with
# one r for all zeros, for those of each site or of each taxon, such that these probabilities sum to the number missed.
# `ratios`: list(slope, side = 0 (all zeros), 1 (sites) or 2 (taxa), log = a row for each, the estimate of r and its
# ends, offset = n x m or NULL).
new_ratios <- function(log, side = 0L, slope = 1, offset = NULL) {
  list(slope = slope, side = side, log = matrix(unname(log), ncol = 3L), offset = offset)
}

# The number that two more surveys find rises less steeply with the probability of a record (bench/how_many.md).
curve_slope <- 0.8

# Returns r for each of some cells, cells x 3.
ratios_at <- function(ratios, row, column) {
  at <- switch(ratios$side + 1L, rep(1L, length(row)), row, column)
  ratios$log[at, , drop = FALSE]
}

tilted <- function(bins, slope) {
  bins$eta <- slope * bins$eta
  bins
}

# Solves for r such that the probabilities sum to the total; -Inf if nothing was missed.
log_ratio_of <- function(bins, total) {
  total <- min(total, most_of_zeros * sum(bins$count))
  if (is.na(total)) {
    return(NA_real_)
  }
  if (total <= 0) {
    return(-Inf)
  }
  above <- function(shift) sum_missed_bins(bins, shift) - total
  stats::uniroot(above, c(-1, 1), extendInt = "upX", tol = 1e-9)$root
}

sum_missed_bins <- function(bins, log_ratio) sum(bins$count * stats::plogis(bins$eta + log_ratio))

# Solves the same for each row, from below by Newton's method on the log of the sum, which is almost concave.
log_ratio_of_rows <- function(eta, zero, total, iterations = 50L) {
  eta[!zero] <- -Inf
  total <- pmin(total, most_of_zeros * rowSums(zero))
  any <- total > 0
  shift <- ifelse(any, log(total) - log(rowSums(exp(pmin(eta, 300)))), -Inf)
  for (iteration in seq_len(if (any(any)) iterations else 0L)) {
    p <- stats::plogis(eta[any, , drop = FALSE] + shift[any])
    reached <- rowSums(p)
    step <- (log(total[any]) - log(reached)) * reached / pmax(rowSums(p * (1 - p)), 1e-300)
    shift[any] <- shift[any] + pmin(step, 5)
    if (!length(step) || max(abs(step)) < 1e-9) break
  }
  shift
}

offset_at <- function(ratios, at) if (is.null(ratios$offset)) 0 else ratios$offset[at]

missed_probability <- function(probability, log_ratio, slope = 1, offset = 0) {
  stats::plogis(slope * stats::qlogis(probability) + offset + log_ratio)
}

# Computes the numbers of zeros from probabilities of a record and standard errors of their log-odds; log_ratio: a row
# for each, the estimate and its ends. The ends combine those of the total with 1.645 standard errors.
missed_numbers <- function(probability, se, log_ratio, slope = 1, offset = 0) {
  eta <- stats::qlogis(probability)
  missed <- missed_probability(probability, log_ratio[, 1L], slope, offset)
  low <- stats::plogis(slope * (eta - 1.645 * se) + offset + log_ratio[, 2L])
  high <- stats::plogis(slope * (eta + 1.645 * se) + offset + log_ratio[, 3L])
  list(
    probability = probability, missed = missed, missed_low = pmin(low, missed), missed_high = pmax(high, missed)
  )
}

# ---- Evidence of a result ----

# Names of the evidence, which state the quantity each estimates.
evidence_words <- list(
  completeness = "completeness as supplied", effort = "effort, as a model has it",
  phantom = "the phantom of each site", visits = "occupancy of each taxon",
  chao = "Chao's estimate, visits as samples", groups = "Chao's estimate, sites of a group as samples",
  counts = "Chao's estimate, from counts", curve = "predictability of the presences",
  gaps = "gaps within ranges"
)
evidence_of <- list(
  completeness = "what was there and is not in the table", effort = "what is not in the table, if misses follow effort",
  phantom = "what is not in the table, if a phantom is what was missed",
  visits = "what no visit found at the sites", chao = "what no visit found, if visits are alike",
  groups = "what none of a group's sites has", counts = "what was there and was not counted, at least",
  curve = "what two more surveys of equal effort would find",
  gaps = "what lived, if ranges are as complete outside"
)

n_draws <- 200L

# Estimates the number missed and its distribution. known: from wz_cells(); reason: why the table alone gives no number,
# or NULL. list(source, estimates: a data frame of all evidence, the used one first; more: surveys_curve() or NULL;
# ratios: new_ratios(); relative: multiplier of sums in draws, 1 or n x draws; n_gaps; visits: their detection of taxa
# from occupancy_missed(), their labels, and the ends of the total if they are years, or NULL).
how_many <- function(known, given, share, reason = NULL) {
  gaps <- length(known$gaps)
  visits <- if (!is.null(given$cell)) total_by_visits(given)
  found <- list()
  if (!is.null(visits)) found <- Filter(length, list(visits = visits$total, chao = total_by_chao(given$cell)))
  if (!is.null(given$pooled)) found$groups <- total_by_groups(known, given$pooled)
  out <- if (is.null(share) && is.null(given$completeness)) {
    if (length(found)) one_ratio(known, found[[1L]], gaps, visits) else curve_ratio(known, gaps, reason)
  } else {
    source <- if (!is.null(given$completeness)) "completeness" else if (!is.null(given$effort)) "effort" else "phantom"
    own <- if (source == "completeness") ratios_given(known, given$completeness) else ratios_of_shares(known, share)
    found <- c(stats::setNames(list(own$total), source), found)
    own
  }
  if (!length(found)) found <- list(curve = out$total)
  if (!is.null(given$counts)) found$counts <- total_by_counts(given$counts)
  # Only zeros can have been missed.
  found <- lapply(found, pmin, sum(known$zero))
  if (!is.null(known$gaps)) {
    found <- lapply(found, pmax, gaps)
    found$gaps <- c(missed = total_by_gaps(known$x, gaps), low = gaps, high = NA)
  }
  out$source <- names(found)[1L]
  out$n_gaps <- gaps
  out$more <- if (out$source == "curve" && is.null(reason)) surveys_curve(known, sum(known$zero))
  out$visits <- visits$detect
  out$estimates <- data.frame(
    evidence = unlist(evidence_words[names(found)]), do.call(rbind, found),
    of = unlist(evidence_of[names(found)]), row.names = names(found)
  )
  out
}

# Draws a total with this 90 % interval, log-normal, relative to the estimate: 1 x n_draws.
relative_draws <- function(total) {
  spread <- log(max(total[["high"]], 1e-12) / max(total[["missed"]], 1e-12)) / stats::qnorm(0.95)
  matrix(exp(stats::qnorm(stats::ppoints(n_draws)) * spread), 1L)
}

# Presence-absence data alone: one ratio for all zeros. The gaps of a series are certain; what the two surveys find
# elsewhere is added to them.
curve_ratio <- function(known, gaps, reason = NULL) {
  total <- if (is.null(reason)) total_by_surveys(known) else c(missed = NA_real_, low = NA_real_, high = NA_real_)
  log <- vapply(total, log_ratio_of, 0, bins = tilted(known$all_bins, curve_slope))
  out <- list(ratios = new_ratios(log, 0L, curve_slope), relative = relative_draws(total), total = total)
  if (gaps) out$total[] <- gaps + vapply(log, sum_missed_bins, 0, bins = tilted(known$bins, curve_slope))
  out
}

# One ratio for all zeros but gaps, which are certain; or for those of each taxon, with numbers from the occupancy of
# `visits` and the ranking. Then log-odds of a presence are those of a record or, if covariates distinguish sites, the
# mean of these and of occupancy's, and visits without a detection count as in the occupancy model.
one_ratio <- function(known, total, gaps, visits = NULL) {
  rest <- pmax(total - gaps, 0)
  if (is.null(visits)) {
    ratios <- new_ratios(vapply(rest, log_ratio_of, 0, bins = known$bins))
  } else {
    slope <- if (is.null(visits$present)) 1 else 0.5
    offset <- visits$silent + (if (is.null(visits$present)) 0 else 0.5 * visits$present)
    eta <- slope * known$eta + offset
    share <- taxa_by_both(known, visits)
    ratios <- new_ratios(vapply(rest, function(total) {
      log_ratio_of_rows(t(eta), t(known$zero), total * share)
    }, share), 2L, slope, offset)
  }
  list(ratios = ratios, relative = relative_draws(total), total = total)
}

# Computes each taxon's share of the undetected presences: its number from occupancy, moved to where what one more visit
# finds of it is half-way, in log-odds, between occupancy and the ranking at the same total. Either alone predicts the
# next visit worse in the mean of 15 surveys (bench/visits_occupancy.md): the ranking does not know detection, and
# occupancy takes detection as more alike among sites than it is.
taxa_by_both <- function(known, visits) {
  ahead <- visits$ahead
  any <- ahead > 0
  if (!any(any)) {
    return(numeric(length(ahead)))
  }
  eta <- t(known$eta[, any, drop = FALSE])
  zero <- t(known$zero[, any, drop = FALSE])
  own <- log_ratio_of_rows(eta, zero, ahead[any])
  common <- log_ratio_of_rows(matrix(eta, 1L), matrix(zero, 1L), sum(ahead))
  moved <- rowSums(stats::plogis(eta + 0.5 * (own + common)) * zero)
  share <- replace(visits$taxa, any, visits$taxa[any] * moved / ahead[any])
  share / max(sum(share), 1e-12)
}

# Known completeness c of each site (n x 2, ends of its range): its zeros sum to (1 - c) / c times the presences
# expected there.
ratios_given <- function(known, completeness) {
  odds <- rowSums(exp(pmin(known$eta, 300)) * known$zero)
  presences <- rowSums(known$found)
  expected <- odds * expected_factor(odds, presences, rowMeans(completeness))
  ratios_expected(known$eta, known$zero, expected, presences, completeness)
}

# Computes the same from the presences expected at each site.
ratios_expected <- function(eta, zero, expected, presences, completeness) {
  c <- rowMeans(completeness)
  missed <- function(c) expected * (1 - c) / c
  ratio <- vapply(list(c, completeness[, 2L], completeness[, 1L]), function(at) {
    log_ratio_of_rows(eta, zero, missed(at))
  }, numeric(nrow(zero)))
  # Each draw lies at the same quantile of the range at all sites.
  at <- rep(stats::ppoints(20L), length.out = n_draws)
  drawn <- vapply(at, function(at) {
    missed(completeness[, 1L] + at * (completeness[, 2L] - completeness[, 1L])) * draw_presences(presences)
  }, numeric(length(c)))
  relative <- matrix(drawn, length(c)) / pmax(missed(c), 1e-12)
  list(ratios = new_ratios(ratio, 1L), relative = relative, total = ends_of_total(missed(c), relative))
}

# Completeness by an assumption, from several fits: `share` is the part of each site that they estimate to be missing, n
# x fits. A zero that would be found with odds o was missed with probability (1 - c) / c o, at most 1: their sum is
# distributed by odds.
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
  list(ratios = new_ratios(ratio, 1L), relative = relative, total = ends_of_total(missed, relative))
}

ends_of_total <- function(missed, relative) range_about(sum(missed), colSums(missed * relative))

# Returns the range of draws, extended to contain the number itself.
range_about <- function(missed, draws) {
  ends <- central_range(draws)
  c(missed = missed, low = min(ends[1L], missed), high = max(ends[2L], missed))
}

# Computes the factor of a site's odds if completeness is known: its presences carry more information than the learners
# use. Given completeness c_i the sum of its odds S_i is taken as M_i = S_i exp(a + b log c_i), by Poisson regression,
# and F_i as Poisson about M_i times a Gamma factor with mean 1 and shape g, so that M_i (F_i + g) / (M_i + g) presences
# were to be expected. As the residuals of that regression sum to 0, also when weighted by log c, the numbers missed sum
# to about sum_i F_i (1 - c_i) / c_i, the estimate of Horvitz and Thompson.
expected_factor <- function(sums, presences, completeness) {
  used <- sums > 0
  design <- cbind(1, log(completeness))
  if (sum(used) < 3L || stats::sd(design[used, 2L]) < 1e-6) design <- design[, 1L, drop = FALSE]
  fit <- suppressWarnings(stats::glm.fit(
    design[used, , drop = FALSE], presences[used],
    offset = log(sums[used]), family = stats::poisson()
  ))
  mean <- sums * exp(as.vector(design %*% fit$coefficients))
  shape <- exp(stats::optimize(gamma_poisson, c(-3, 8), presences[used], mean[used], maximum = TRUE)$maximum)
  ifelse(used, mean / sums * (presences + shape) / (mean + shape), 1)
}

# Log-likelihood of counts, Poisson about the mean times a Gamma factor of mean 1 and shape exp(log_shape).
gamma_poisson <- function(log_shape, count, mean) {
  sum(stats::dnbinom(count, size = exp(log_shape), mu = mean, log = TRUE))
}

# Draws the number expected at each site, given its presences, as a multiple of these.
draw_presences <- function(presences) stats::rgamma(length(presences), presences + 0.5, presences + 0.5)

# ---- Sums ----

# Scatter of sums by site and by taxon about those found there, beyond chance and the total: a coefficient of variation
# (bench/how_many.md).
scatter <- 0.25

# Draws the numbers missed at sites and of taxa: gamma-Poisson about the expected ones, times the draw of the total. If
# the site's own ratio is known or assumed, nothing else is uncertain.
#   missed    n x m, expected at zeros that count, without gaps; gaps: the same for gaps, 0 or 1
#   relative  from how_many()
draw_sums <- function(missed, gaps, relative) {
  if (anyNA(relative)) {
    empty <- function(n) matrix(NA_real_, n, n_draws)
    return(list(sites = empty(nrow(missed)), taxa = empty(ncol(missed))))
  }
  measured <- nrow(relative) == 1L
  draws <- function(mean, sure) {
    number <- if (measured) {
      stats::rnbinom(length(mean), size = 1 / scatter^2, mu = mean)
    } else {
      stats::rpois(length(mean), mean)
    }
    sure + matrix(number, nrow(mean))
  }
  sites <- if (measured) rowSums(missed) %*% relative else rowSums(missed) * relative
  taxa <- if (measured) colSums(missed) %*% relative else crossprod(missed, relative)
  list(sites = draws(sites, rowSums(gaps)), taxa = draws(taxa, colSums(gaps)))
}

# Returns the number over all zeros of a result: c(missed, low, high). Measured intervals are those of the total, others
# those of draws of sites.
answer_total <- function(missed, gaps, many, draws) {
  sum <- sum(missed) + sum(gaps)
  if (is.na(sum)) {
    return(c(missed = NA_real_, low = NA_real_, high = NA_real_))
  }
  ends <- if (nrow(many$relative) == 1L) {
    total <- unlist(many$estimates[1L, c("missed", "low", "high")])
    rest <- pmax(total - many$n_gaps, 0)
    sum(gaps) + if (rest[[1L]] > 0) sum(missed) * rest[-1L] / rest[[1L]] else rest[-1L]
  } else {
    central_range(colSums(draws$sites))
  }
  c(missed = sum, low = min(ends[1L], sum), high = max(ends[2L], sum))
}

# Later surveys compared with the estimate, by survey (bench/how_many.md): presences that two more surveys would find
# and did find (one, in some), geometric means over the tables of a survey. `alike`: of one season, or dealt at random;
# others were in other years or by other methods.
surveys_checked <- data.frame(
  survey = c(
    "birds of Japanese villages", "Finnmark birds", "Hubbard Brook birds", "Swiss atlas birds", "Swiss birds 2014",
    "Swiss tits", "river fish, eDNA", "caddisflies", "brachiopod families", "coral collections",
    "fossil angiosperms", "Pliocene bivalve collections", "Silurian collections", "tetrapod collections",
    "early tetrapods by region", "European mammals by MN unit", "North American mammals by region",
    "Turkana mammals by member", "desert rodents", "recorded birds", "Alberta birds", "oil sands birds",
    "Scottish trawl", "wood fungi", "estuary fish", "marine epibionts", "mites", "sherds of pueblos",
    "tropical trees", "Turkana mammals", "Lama cameras", "Ruaha cameras", "boreal birds", "forest ants",
    "Ruaha cameras", "snails of dolinas", "infants' gut bacteria", "caddisflies", "ditch invertebrates",
    "Alberta birds", "birds of Japanese villages", "birds of US states", "desert plants", "desert rodents",
    "Finnmark birds", "Hubbard Brook birds", "kelp forest", "Konza birds", "North Sea benthos",
    "prairie experiment", "prairie plants", "shore plants", "steppe plants", "Tikus corals"
  ),
  alike = rep(c(TRUE, FALSE), c(30L, 24L)),
  estimated = c(
    313, 79, 491, 678, 2226, 79, 248, 120, 1488, 1109, 103, 450, 816, 126, 45, 247, 560, 155, 251, 1513, 2029,
    1811, 226, 877, 135, 126, 330, 633, 1295, 580, 43, 185, 701, 59, 158, 435, 222, 98, 190, 384, 324, 919, 700,
    74, 80, 334, 443, 341, 1404, 115, 128, 123, 146, 37
  ),
  found = c(
    238, 76, 550, 704, 1748, 78, 229, 123, 1374, 888, 104, 380, 672, 111, 53, 229, 558, 125, 195, 1770, 1790, 2163,
    253, 881, 106, 107, 301, 503, 1497, 545, 44, 157, 317, 46, 134, 643, 213, 87, 177, 402, 238, 714, 548, 63, 93,
    404, 404, 361, 1505, 76, 57, 146, 44, 23
  )
)

#' How many presences were missed: how reliable the numbers are
#'
#' Compares the number of presences that further surveys found with the estimate of [which_zeros()], in 47 repeated
#' surveys. The page states the quantity that each number estimates, and where the numbers fail.
#'
#' @details **Presence-absence data alone.** A table does not show how many presences it lacks. It does show how well
#' its presences are predicted. The predictability \eqn{\kappa} is the mean, over the presences, of the probability that
#' the rest of the table gives to each. With \eqn{F} presences and \eqn{B = F (1 - \kappa / .91)}, one, two, four and
#' eight more surveys of equal effort found about .84, 1.36, 2.06 and 2.87 times \eqn{B} presences at zeros of the
#' table. Taxa found at 95 % of the sites or more are left out of \eqn{F} and \eqn{\kappa}. The constants have no theory
#' behind them: they were fitted to repeated surveys, and fixed before 12 of the 47 were opened.
#'
#' **Which quantity.** A survey of equal effort is as thorough as the table: a list of a hundred years is one survey of
#' a hundred years, and for a table that pools three visits one more survey is three more visits. The curve does not
#' level off, so a table alone gives no total and no completeness, and tables of unequal effort cannot be compared.
#'
#' **Comparison**, for two more surveys: the share of tables in which the number found was within a factor of the
#' estimate. `bench/how_many.md` in the sources and `plot(w, "surveys")` have every survey.
#' \tabular{lrrrrrr}{
#'   the two more surveys \tab surveys \tab tables \tab 1.5 \tab 1.75 \tab 2 \tab 2.8 \cr
#'   same kind: visits of a season, random samples \tab 30 \tab 170 \tab 96 % \tab 99 % \tab 100 % \tab 100 % \cr
#'   other years or other methods \tab 18 \tab 76 \tab 66 % \tab 82 % \tab 91 % \tab 95 % \cr
#' } Five surveys are in both rows; for four of the 47 there was only one more survey. The interval is a factor of 1.75
#' for the same kind, and of 2.8 for others. In other years or by other methods the estimate was 1.2 times the number
#' found; the print does not correct for this. On the 12 surveys opened last, 23 tables of the same kind were all within
#' 1.5, and of 28 others 75 % were within 1.75, 86 % within 2 and 89 % within 2.8.
#'
#' **Where it failed.** In plots of steppe and prairie whose plants were all mapped each year the estimate was 3.3 and
#' 2.2 times the number found, for birds found by ear, then by recorder, 2.2 times; the interval of a factor of 2.8 held
#' on the last two. Five of 260 tables (the 170 and 76 above, and 14 with one more survey alone) lie outside their
#' interval, and nothing in these tables warned of it. Complete tables get a number, too: five of package vegan have
#' estimates of 89 to 1 691, where 0 is right.
#'
#' **No number** is given if the AUC of held-out presences less 1.645 standard errors is at most .6, as in 16 of 16
#' tables of coin tosses and none of the 260. Tables that are random except that some taxa are more frequent get a
#' number. Nor is one given for fewer than 10 sites, 10 taxa or 100 presences; 19 of the 260 tables, which this page
#' includes, are so small. Sites that repeat each other predict each other, so that too few presences are expected, and
#' a warning says so. From \eqn{\kappa = .91} on, as for `early_tetrapods` with every site entered twice, no number is
#' given.
#'
#' **Zeros.** `missed` predicted what two more surveys found better than a constant (by log loss) on 169 of 170 tables
#' of the same kind and on 58 of 76 others. For the first 20 zeros of a list the mean estimate was .68 and the share
#' found .64 in surveys of the same kind, and .69 and .56 in others.
#'
#' **AUC.** Held-out presences are drawn at random and easier to find than others. The AUC of what later surveys found
#' was lower on 238 of 260 tables; on average by .05 for surveys of the same kind, and by .11 for others.
#'
#' **Other evidence** estimates other quantities:
#' * Visits: presences that no visit found, by the occupancy of each taxon (`bench/visits_occupancy.md`; MacKenzie and
#'   others 2002).
#' * Groups: sites that you say share a fauna count as one list; the taxa of this fauna that are on no list, by Chao
#'   (1987). No survey has tested the interval.
#' * Counts: a lower bound of what was there and was not counted. The series of Efron and Thisted (1976) was within a
#'   factor of 2 of what one more survey found on 83 % of 82 tables, the estimate from presences and absences on 98 %.
#' * Completeness: all that was there and is not in the table. On four tables it was 0.99 to 1.02 times the number
#'   deleted.
#' * `assume = "phantom"`: as if every zero that a phantom, a component without presences, explains were missed. On ten
#'   tables from which a share of each site was deleted, the estimate was 1.8 to 2.2 times the true number.
#'
#' **Your own survey.** If sites were surveyed more than once, give the first survey to [which_zeros()] and compare the
#' result with the other surveys by [recovery()].
#' @references Chao A (1987). Estimating the population size for capture-recapture data with unequal catchability.
#'   *Biometrics* 43, 783-791. \doi{10.2307/2531532}
#'
#'
#'   Efron B, Thisted R (1976). Estimating the number of unseen species: how many words did Shakespeare know?
#'   *Biometrika* 63, 435-447. \doi{10.1093/biomet/63.3.435}
#'
#'   MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#'   detection probabilities are less than one. *Ecology* 83, 2248-2255.
#'   \doi{10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2}
#' @seealso [which_zeros()], [recovery()], `plot(w, "surveys")`, [visits_array()]
#' @name how_many
#' @concept rarefaction
#' @concept extrapolation
#' @concept species accumulation curve
#' @concept species richness estimator
#' @examples
#' # three visits to 60 sites along a gradient; misses are random, so the later AUC is not lower
#' set.seed(1)
#' there <- outer(runif(60), runif(25), function(site, taxon) abs(site - taxon) < 0.2)
#' visits <- replicate(3, there * rbinom(1500, 1, rep(runif(25, 0.3, 0.8), each = 60)))
#' w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
#' recovery(w, visits[, , 2:3])
NULL

# Without it, learners that rank the few held-out presences of a small table perfectly would have infinite weights.
blind_presences <- 1
