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
  # As in the stack; here `blind_finds` are spread as eta itself says, at the level of all finds.
  level <- logistic_regression(matrix(1, length(eta)), y, eta, weight = weight)$beta
  more <- blind_finds / max(1L, length(hidden))
  shrunk <- (y + more * stats::plogis(level + eta)) / (1 + more)
  line <- logistic_regression(cbind(1, eta), shrunk, weight = weight)$beta
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

# ---- The number, by evidence ----

# Predictability over the share of what three surveys together show that one of them has: in surveys whose other
# searches are known, near .91. With F presences of predictability kappa, k more surveys of equal effort find
# a_k F (1 - kappa / .91) presences more. The factors a_k, and the factors by which nine in ten surveys were off, are
# those of bench/how_many.md.
usual_ratio <- 0.91
more_surveys <- c(`1` = 0.84, `2` = 1.36, `4` = 2.06, `8` = 2.87)
usual_factor <- c(alike = 1.75, unlike = 2.8, visits = 1.9, groups = 2.2, counts = 3.6)

# The evidence of a table alone: list(kappa, presences) as predictability() has it.
unseen_base <- function(known, ratio = usual_ratio) known$presences * max(0, 1 - known$kappa / ratio)

by_factor <- function(total, by) {
  c(missed = total, low = total / usual_factor[[by]], high = total * usual_factor[[by]])
}

# What two more surveys of equal effort would find.
total_by_surveys <- function(known, ratio = usual_ratio) {
  by_factor(more_surveys[["2"]] * unseen_base(known, ratio), "alike")
}

# The curve: what k more surveys of equal effort would find of `zeros` zeros. A data frame of `surveys` (more than the
# one that made the table), `missed`, `low`, `high` (90 % of surveys made alike), `unlike_low`, `unlike_high` (in other
# years or by other methods). Between the k that were measured log a is linear in log k.
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

# Why no number is given where presences are hardly predicted, or the table is small: such numbers were worse than none
# (?how_many). NULL: one is given. q: the row of `quality` of the result; words: what the user calls sites and taxa.
no_number <- function(q, presences, size, words = c("sites", "taxa")) {
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
  }
}

# Chao's lower bound of what is there and was not met, of each row of f = cbind(met once, met twice), drawn to the ratio
# of all rows: f1 (f1 + 2 R) / (2 (f2 + 2)).
chao_shrunk <- function(f) {
  ratio <- (sum(f[, 1L]) + 1) / (sum(f[, 2L]) + 1)
  f[, 1L] * (f[, 1L] + 2 * ratio) / (2 * (f[, 2L] + 2))
}

met_by_taxon <- function(counts) cbind(colSums(counts == 1, na.rm = TRUE), colSums(counts == 2, na.rm = TRUE))

# Chao's estimate from counts. Where counts tell of effort, it is another quantity: what was there to be counted.
total_by_counts <- function(counts) by_factor(sum(chao_shrunk(met_by_taxon(counts))), "counts")

# Taxa of the fauna of each group that were found at none of its sites. `pooled`: how many were found `once` and
# `twice` at its `sites`. Groups of one site do not tell: the ratio of the others is taken for them.
total_by_groups <- function(known, pooled) {
  tells <- pooled$sites > 1
  total <- sum(chao_shrunk(cbind(pooled$once, pooled$twice)[tells, , drop = FALSE]))
  ratio <- log_ratio_of(log_odds_bins(known$eta[tells, ][known$zero[tells, ]]), total)
  by_factor(sum_missed_bins(known$bins, ratio), "groups")
}

# Rows are time bins of one region: a taxon found before and after was there.
gaps_of_series <- function(x, age) {
  which(as.matrix(suppressMessages(range_through(unname(as.matrix(x)), age))))
}

# The share of the cells between first and last presences that was found, as if that of all cells were the same.
total_by_gaps <- function(x, gaps) {
  finds <- column_sums(found_table(x))
  inside <- sum(pmax(finds - 2, 0))
  sum(finds) * gaps / max(1, inside)
}

# Occupancy of each taxon: what lived at the sites visited and was found by no visit. list(total, taxa: of each, silent:
# the log of the probability that no visit finds a taxon that is there, n x m; present: log-odds of a presence before
# the visits, where covariates distinguish sites, else NULL; detect: how visits find taxa, see how_many()).
total_by_visits <- function(given) {
  found <- occupancy_missed(given$cell, given$visit_model)
  logit <- function(p) stats::qlogis(pmin(pmax(unname(p), 1e-6), 1 - 1e-6))
  known <- function(value) ifelse(is.na(value), 0, value)
  present <- logit(found$before)
  list(
    total = found$total, taxa = unname(found$by_taxon), silent = known(logit(found$cells) - present),
    present = if (found$follows) known(present),
    detect = c(found$detect, list(labels = visit_labels(given$cell), years = if (are_years(given$cell)) found$years))
  )
}

visit_labels <- function(cell) dimnames(cell)[[3L]] %||% as.character(seq_len(dim(cell)[3L]))

# Whether the visits look like years, by the name of their side or by their own names.
are_years <- function(cell) {
  labels <- dimnames(cell)[[3L]]
  grepl("^years?$", names(dimnames(cell))[3L] %||% "", ignore.case = TRUE) ||
    (length(labels) > 1L && all(grepl("^(1[5-9]|20)[0-9]{2}$", labels)))
}

# Chao's estimate of each site, its visits as samples: taxa there that no visit found.
total_by_chao <- function(cell) {
  times <- apply(cell == 1L, 1:2, sum, na.rm = TRUE)
  by_factor(sum(chao_shrunk(cbind(rowSums(times == 1), rowSums(times == 2)))), "groups")
}

# ---- A total, shared out ----

most_of_zeros <- 0.95

# The probability that a zero with log-odds eta of a record is a false absence is plogis(slope eta + offset + r), with
# one r for all zeros, for those of each site or of each taxon, such that these probabilities sum to the number missed.
# `ratios`: list(slope, side = 0 (all zeros), 1 (sites) or 2 (taxa), log = a row for each, the estimate of r and its
# ends, offset = n x m or NULL).
new_ratios <- function(log, side = 0L, slope = 1, offset = NULL) {
  list(slope = slope, side = side, log = matrix(unname(log), ncol = 3L), offset = offset)
}

# What two more surveys find rises less steeply with the probability of a record (bench/how_many.md).
curve_slope <- 0.8

# r of each of some cells, cells x 3.
ratios_at <- function(ratios, row, column) {
  at <- switch(ratios$side + 1L, rep(1L, length(row)), row, column)
  ratios$log[at, , drop = FALSE]
}

tilted <- function(bins, slope) {
  bins$eta <- slope * bins$eta
  bins
}

# r such that the probabilities sum to the total, -Inf where nothing was missed.
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

offset_at <- function(ratios, at) if (is.null(ratios$offset)) 0 else ratios$offset[at]

missed_probability <- function(probability, log_ratio, slope = 1, offset = 0) {
  stats::plogis(slope * stats::qlogis(probability) + offset + log_ratio)
}

# The numbers of zeros with these probabilities of a record and standard errors of their log-odds; log_ratio: a row for
# each, the estimate and its ends. The ends combine those of the total with 1.645 standard errors.
missed_numbers <- function(probability, se, log_ratio, slope = 1, offset = 0) {
  eta <- stats::qlogis(probability)
  missed <- missed_probability(probability, log_ratio[, 1L], slope, offset)
  low <- stats::plogis(slope * (eta - 1.645 * se) + offset + log_ratio[, 2L])
  high <- stats::plogis(slope * (eta + 1.645 * se) + offset + log_ratio[, 3L])
  list(
    probability = probability, missed = missed, missed_low = pmin(low, missed), missed_high = pmax(high, missed)
  )
}

# ---- The evidence of an answer ----

# The names of evidence, and of what each is the number.
evidence_words <- list(
  completeness = "completeness as supplied", effort = "effort, as a model has it",
  phantom = "the phantom of each site", visits = "occupancy of each taxon",
  chao = "Chao's estimate, visits as samples", groups = "Chao's estimate, sites of a group as samples",
  counts = "Chao's estimate, individuals as samples", curve = "predictability of the presences",
  gaps = "gaps within ranges"
)
evidence_of <- list(
  completeness = "what was there", effort = "what was there, if effort decides",
  phantom = "what was there, if the phantom is what was missed",
  visits = "what lived at the sites visited", chao = "what lived at the sites visited, at least",
  groups = "the fauna of each group", counts = "what was there to be counted, at least",
  curve = "what two more surveys of equal effort would find",
  gaps = "what lived, if ranges are as complete outside"
)

n_draws <- 200L

# The number missed and how it is shared out. known: what wz_cells() has; reason: why the table alone gives no number,
# or NULL. list(source, estimates: a data frame of all evidence, the used one first; more: surveys_curve() or NULL;
# ratios: new_ratios(); relative: what sums are multiplied by in draws, 1 or n x draws; n_gaps; visits: how these find
# taxa, as occupancy_missed() has it, their labels, and the ends of the total if they are years, or NULL).
how_many <- function(known, given, share, reason = NULL) {
  gaps <- length(known$gaps)
  visits <- if (!is.null(given$cell)) total_by_visits(given)
  found <- list()
  if (!is.null(visits)) found <- list(visits = visits$total, chao = total_by_chao(given$cell))
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
  # Nothing but zeros can have been missed.
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

# Draws of a total whose 90 % interval is given, as log-normal, over the total: 1 x n_draws.
relative_draws <- function(total) {
  spread <- log(max(total[["high"]], 1e-12) / max(total[["missed"]], 1e-12)) / stats::qnorm(0.95)
  matrix(exp(stats::qnorm(stats::ppoints(n_draws)) * spread), 1L)
}

# Presence-absence data alone: one ratio for all zeros. The gaps of a series are sure; to them is added what the two
# surveys find elsewhere.
curve_ratio <- function(known, gaps, reason = NULL) {
  total <- if (is.null(reason)) total_by_surveys(known) else c(missed = NA_real_, low = NA_real_, high = NA_real_)
  log <- vapply(total, log_ratio_of, 0, bins = tilted(known$all_bins, curve_slope))
  out <- list(ratios = new_ratios(log, 0L, curve_slope), relative = relative_draws(total), total = total)
  if (gaps) out$total[] <- gaps + vapply(log, sum_missed_bins, 0, bins = tilted(known$bins, curve_slope))
  out
}

# One ratio for all zeros but gaps, which are sure; or for those of each taxon, whose numbers the occupancy of `visits`
# has. Then log-odds of a presence are those of a record or, if covariates distinguish sites, the mean of these and of
# occupancy's own, and the visits that found nothing count as the model has it.
one_ratio <- function(known, total, gaps, visits = NULL) {
  rest <- pmax(total - gaps, 0)
  if (is.null(visits)) {
    ratios <- new_ratios(vapply(rest, log_ratio_of, 0, bins = known$bins))
  } else {
    slope <- if (is.null(visits$present)) 1 else 0.5
    offset <- visits$silent + (if (is.null(visits$present)) 0 else 0.5 * visits$present)
    eta <- slope * known$eta + offset
    ratios <- new_ratios(vapply(rest, function(total) {
      log_ratio_of_rows(t(eta), t(known$zero), total * visits$taxa / max(sum(visits$taxa), 1e-12))
    }, visits$taxa), 2L, slope, offset)
  }
  list(ratios = ratios, relative = relative_draws(total), total = total)
}

# Completeness c of each site is known (n x 2, ends of its range): its zeros sum to (1 - c) / c of the finds that were
# to be expected there.
ratios_given <- function(known, completeness) {
  odds <- rowSums(exp(pmin(known$eta, 300)) * known$zero)
  finds <- rowSums(known$found)
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
  list(ratios = new_ratios(ratio, 1L), relative = relative, total = ends_of_total(missed(c), relative))
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
  list(ratios = new_ratios(ratio, 1L), relative = relative, total = ends_of_total(missed, relative))
}

ends_of_total <- function(missed, relative) range_about(sum(missed), colSums(missed * relative))

# The range of draws, which holds the number itself.
range_about <- function(missed, draws) {
  ends <- central_range(draws)
  c(missed = missed, low = min(ends[1L], missed), high = max(ends[2L], missed))
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

# How far sums by site and by taxon lie from what was found there, beyond chance and the total: a coefficient of
# variation (bench/how_many.md).
scatter <- 0.25

# Draws of the numbers missed at sites and of taxa: gamma-Poisson about the expected ones, times what the total is drawn
# to be. Where the site's own ratio is known or assumed, nothing else is unknown.
#   missed    n x m, expected at zeros that count, without gaps; gaps: the same of gaps, 0 or 1
#   relative  as how_many() has it
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

# The number of all zeros of an answer: c(missed, low, high). Measured ranges are those of the total, others those of
# draws of sites.
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

# What more surveys found beside the estimate, by survey (bench/how_many.md): presences that two more surveys would
# find and found (one, of some), geometric means over the tables of a survey. `alike`: of one season, or dealt at
# random; others were in other years or by other methods.
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

#' How many presences were missed: what the numbers are worth
#'
#' What more surveys found beside what [which_zeros()] estimates, in 47 surveys that were repeated; what each number is
#' a number of, and where it fails.
#'
#' @details
#' **Presence-absence data alone.** A table does not contain how much it lacks, but it contains how well its presences
#' are predicted. The predictability \eqn{\kappa} is the mean probability that the rest of the table gives to a
#' presence, by similar sites, near sites and companions. With \eqn{F} presences and
#' \eqn{B = F (1 - \kappa / .91)}, one, two, four and eight more surveys of equal effort found about .84, 1.36, 2.06 and
#' 2.87 times \eqn{B} presences at zeros of the table. Taxa found at 95 % of the sites or more are left out of
#' \eqn{F} and \eqn{\kappa}. This is an extrapolation that rests on experience, not a theorem.
#'
#' **What it is a number of.** A survey of equal effort is as thorough as the table: a list of a hundred years is one
#' survey of a hundred years. The curve does not level off, so a table alone gives no total; it is no completeness of a
#' fauna, and cannot be compared between tables or groups of unequal effort. Taxa found at no site are not in it. Five
#' complete tables of package vegan have two-survey estimates of 89 to 1 691, where 0 is right.
#'
#' **How it did.** Two more surveys (one, where it says so) against the estimate, geometric means over the
#' tables of a survey (`bench/how_many.md`); AUC by held-out presences and by what the other surveys found:
#' \tabular{llrrrrr}{
#'   survey \tab other surveys \tab tables \tab estimated \tab found \tab AUC \tab AUC found \cr
#'   birds of Japanese villages \tab bird visits \tab 3 \tab 313 \tab 238 \tab .91 \tab .84 \cr
#'   Finnmark birds \tab bird visits \tab 12 \tab 79 \tab 76 \tab .82 \tab .77 \cr
#'   Hubbard Brook birds \tab bird visits \tab 15 \tab 491 \tab 550 \tab .85 \tab .86 \cr
#'   Swiss atlas birds \tab bird visits \tab 3 \tab 678 \tab 704 \tab .86 \tab .83 \cr
#'   Swiss birds 2014 \tab bird visits \tab 3 \tab 2226 \tab 1748 \tab .95 \tab .89 \cr
#'   Swiss tits \tab bird visits \tab 6 \tab 79 \tab 78 \tab .89 \tab .81 \cr
#'   river fish, eDNA \tab eDNA replicates \tab 3 \tab 248 \tab 229 \tab .92 \tab .79 \cr
#'   caddisflies \tab equal searches \tab 3 \tab 120 \tab 123 \tab .89 \tab .78 \cr
#'   brachiopod families \tab fossil collections \tab 5 \tab 1488 \tab 1374 \tab .94 \tab .93 \cr
#'   coral collections \tab fossil collections \tab 7 \tab 1109 \tab 888 \tab .95 \tab .93 \cr
#'   fossil angiosperms \tab fossil collections \tab 6 \tab 103 \tab 104 \tab .80 \tab .74 \cr
#'   Pliocene bivalve collections \tab fossil collections \tab 7 \tab 450 \tab 380 \tab .86 \tab .79 \cr
#'   Silurian collections \tab fossil collections \tab 7 \tab 816 \tab 672 \tab .91 \tab .87 \cr
#'   tetrapod collections \tab fossil collections \tab 7 \tab 126 \tab 111 \tab .95 \tab .94 \cr
#'   early tetrapods by region \tab groups of sites \tab 2 \tab 45 \tab 53 \tab .95 \tab .92 \cr
#'   European mammals by MN unit \tab groups of sites \tab 2 \tab 247 \tab 229 \tab .89 \tab .86 \cr
#'   North American mammals by region \tab groups of sites \tab 2 \tab 560 \tab 558 \tab .92 \tab .89 \cr
#'   Turkana mammals by member \tab groups of sites \tab 2 \tab 155 \tab 125 \tab .88 \tab .78 \cr
#'   desert rodents \tab monthly censuses dealt \tab 6 \tab 251 \tab 195 \tab .80 \tab .74 \cr
#'   recorded birds \tab recordings \tab 8 \tab 1513 \tab 1770 \tab .88 \tab .82 \cr
#'   Alberta birds \tab samples of areas \tab 6 \tab 2029 \tab 1790 \tab .91 \tab .86 \cr
#'   oil sands birds \tab samples of areas \tab 9 \tab 1811 \tab 2163 \tab .89 \tab .83 \cr
#'   Scottish trawl \tab samples of areas \tab 6 \tab 226 \tab 253 \tab .91 \tab .84 \cr
#'   wood fungi \tab samples of areas \tab 7 \tab 877 \tab 881 \tab .83 \tab .76 \cr
#'   estuary fish \tab samples of sites \tab 3 \tab 135 \tab 106 \tab .83 \tab .80 \cr
#'   marine epibionts \tab samples of sites \tab 6 \tab 126 \tab 107 \tab .82 \tab .79 \cr
#'   mites \tab specimens dealt \tab 6 \tab 330 \tab 301 \tab .86 \tab .79 \cr
#'   sherds of pueblos \tab specimens dealt \tab 6 \tab 633 \tab 503 \tab .83 \tab .79 \cr
#'   tropical trees \tab specimens dealt \tab 6 \tab 1295 \tab 1497 \tab .84 \tab .78 \cr
#'   Turkana mammals \tab specimens dealt \tab 6 \tab 580 \tab 545 \tab .89 \tab .86 \cr
#'   Lama cameras \tab camera periods \tab 6 \tab 43 \tab 44 \tab .79 \tab .72 \cr
#'   Ruaha cameras \tab camera periods \tab 8 \tab 185 \tab 157 \tab .83 \tab .76 \cr
#'   boreal birds \tab methods, one \tab 2 \tab 701 \tab 317 \tab .90 \tab .82 \cr
#'   forest ants \tab methods \tab 3 \tab 59 \tab 46 \tab .90 \tab .76 \cr
#'   Ruaha cameras \tab methods, one \tab 4 \tab 158 \tab 134 \tab .85 \tab .75 \cr
#'   snails of dolinas \tab methods, one \tab 2 \tab 435 \tab 643 \tab .90 \tab .71 \cr
#'   infants' gut bacteria \tab months \tab 6 \tab 222 \tab 213 \tab .82 \tab .72 \cr
#'   caddisflies \tab trap periods \tab 6 \tab 98 \tab 87 \tab .86 \tab .73 \cr
#'   ditch invertebrates \tab visits of ditches \tab 3 \tab 190 \tab 177 \tab .85 \tab .72 \cr
#'   Alberta birds \tab years, one \tab 2 \tab 384 \tab 402 \tab .88 \tab .80 \cr
#'   birds of Japanese villages \tab years \tab 3 \tab 324 \tab 238 \tab .91 \tab .83 \cr
#'   birds of US states \tab years, one \tab 2 \tab 919 \tab 714 \tab .97 \tab .90 \cr
#'   desert plants \tab years \tab 6 \tab 700 \tab 548 \tab .90 \tab .75 \cr
#'   desert rodents \tab years \tab 3 \tab 74 \tab 63 \tab .82 \tab .73 \cr
#'   Finnmark birds \tab years \tab 3 \tab 80 \tab 93 \tab .80 \tab .77 \cr
#'   Hubbard Brook birds \tab years \tab 3 \tab 334 \tab 404 \tab .81 \tab .82 \cr
#'   kelp forest \tab years \tab 2 \tab 443 \tab 404 \tab .84 \tab .76 \cr
#'   Konza birds \tab years \tab 6 \tab 341 \tab 361 \tab .89 \tab .83 \cr
#'   North Sea benthos \tab years \tab 4 \tab 1404 \tab 1505 \tab .91 \tab .85 \cr
#'   prairie experiment \tab years \tab 3 \tab 115 \tab 76 \tab .87 \tab .66 \cr
#'   prairie plants \tab years \tab 4 \tab 128 \tab 57 \tab .88 \tab .71 \cr
#'   shore plants \tab years, one \tab 2 \tab 123 \tab 146 \tab .96 \tab .86 \cr
#'   steppe plants \tab years \tab 4 \tab 146 \tab 44 \tab .83 \tab .63 \cr
#'   Tikus corals \tab years \tab 3 \tab 37 \tab 23 \tab .84 \tab .55 \cr
#' }
#' Surveys *alike* (30 surveys, 170 tables: visits of a season, samples or collections dealt at random): the estimate is
#' within a factor of 1.5 on 96 % of the tables, within 2 on all; 1.75, which the print has, holds 99 %. *In other years
#' or by other methods* (18 surveys, 76 tables) it is within 2 on 91 % and 1.2 times too high; 1.75 holds 82 %, 2.8
#' holds 95 %. Of the means of all 43 surveys 1.75 holds 95 %. On twelve surveys that had never been used those alike
#' (5) are all within 1.5, the others (7) 1.5 times too high, of which 2.8 holds 89 %. Eight more surveys: within 2 on
#' all tables of 19 surveys. Constants from all other surveys in turn change little (error in log2 .44 instead of .47).
#'
#' **Where it failed.** Plots whose plants are mapped whole year after year (steppe 3.3 times too many, prairie 2.2 and
#' 1.5), corals of a bleached reef (1.6), birds by ear and by recorder (2.2; snails by two methods .7). Of 260 tables
#' five are outside the interval of their class. No property of a table was found that announces a failure.
#'
#' **No number** is given where the AUC of held-out presences less 1.645 standard errors is at most .6, which withholds
#' 16 of 16 tables of coin tosses and none of the 260, and below 10 taxa, 10 sites or 100 presences, where `missed` was
#' better than a constant on 15 of 19 tables (on others 212 of 227). Presences that are random in all but the frequency
#' of their taxa are not recognised. Sites that repeat each other predict each other: with every site twice the
#' estimate for [early_tetrapods] falls from 509 to 19, which is warned of.
#'
#' **Zeros.** `missed` is the probability that one of two more surveys would find the taxon there. Its log loss was
#' below a constant's on 169 of 170 tables of surveys alike and on 58 of 76 of others. The first 20 zeros have .68 in
#' the mean where .64 were found, and .69 where .56 were. Their intervals hold .91 and .82; those of [by_site()] .93 and
#' .98 of the sites, those of [by_taxon()] .95 of the taxa.
#'
#' **What the AUC promises.** Held-out presences are a random tenth, easier than what others find: the AUC of what other
#' surveys found was lower on 238 of 260 tables, by .05 for surveys alike, by .11 in other years or by other methods.
#'
#' **Other evidence** is of other quantities. Visits: occupancy of each taxon (`bench/visits_occupancy.md`). Groups:
#' Chao's estimate of each fauna, with a factor of 2.2 that no survey has tested; the other halves of four tables found
#' a fifth to two thirds of what one half was estimated to lack. Counts: the series of Efron and Thisted was within 2 of
#' one more survey on 83 % of 82 tables, the curve on 98 %. Completeness as supplied: 0.99 to 1.02
#' times what was deleted from four tables, intervals held 0.98 of totals, 0.97 of sites and 0.93 of taxa.
#' The phantom and effort are assumptions: on ten tables that lost a share of each site the phantom had 1.8 to 2.2 times
#' the truth, on the birds of one visit a tenth of what later visits found.
#'
#' **Fossils.** Collections of one place and age, and groups of sites, are surveys like others (eleven rows above).
#' Later lists test the ranking (measured once; AUC within sites, by held-out presences in brackets): genera of
#' European lists of 2003 recorded by 2020 .89 (.92), tetrapod collections of 2019 by 2022 .96 (.94). The probabilities
#' are of two more surveys, not of seventeen years of work.
#'
#' **Your own survey.** Where sites were surveyed more than once, give the first survey to [which_zeros()] and compare
#' it with the others by [recovery()].
#'
#' @references Chao A (1987). Estimating the population size for capture-recapture data with unequal catchability.
#'   *Biometrics* 43, 783-791. \doi{10.2307/2531532}
#'
#'   Dorazio RM, Royle JA (2005). Estimating size and composition of biological communities by modeling the occurrence
#'   of species. *Journal of the American Statistical Association* 100, 389-398. \doi{10.1198/016214505000000015}
#'
#'   Efron B, Thisted R (1976). Estimating the number of unseen species: how many words did Shakespeare know?
#'   *Biometrika* 63, 435-447. \doi{10.1093/biomet/63.3.435}
#'
#'   MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#'   detection probabilities are less than one. *Ecology* 83, 2248-2255.
#'   \doi{10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2}
#' @seealso [which_zeros()], [recovery()], `plot(w, "surveys")`, [visits_array()]
#' @name how_many
#' @examples
#' set.seed(1) # three visits to 60 sites along a gradient
#' there <- outer(runif(60), runif(25), function(site, taxon) abs(site - taxon) < 0.2)
#' visits <- replicate(3, there * rbinom(1500, 1, rep(runif(25, 0.3, 0.8), each = 60)))
#' w <- which_zeros(visits[, , 1], quick = TRUE, seed = 1)
#' recovery(w, visits[, , 2:3])
NULL

# Without it, learners that tell the few hidden finds of a small table without error would have weights without end.
blind_finds <- 1
