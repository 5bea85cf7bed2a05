# Learners of which_zeros(): scores of every cell by several models and simple rules, on the table and on copies with
# presences held out.

# A learner returns n x m probabilities of a record, see learn_table(), in which a zero's own value counts only as a
# zero. `simple`: rules without a model, with which the result is compared.
learner_names <- c(
  smoothed = "aspect Bernoulli with neighbours", free = "aspect Bernoulli without neighbours",
  pca = "logistic PCA", near = "neighbours' mean", near_alike = "neighbours' mean, weighted by the similarity of sites",
  alike = "mean of similar sites", companions = "companions (Beals)"
)
simple_learners <- c("near", "near_alike", "alike", "companions")

# Returns the numbers of components of the models: three sizes up to 24, fewer in small tables.
learner_k <- function(n, m, sizes = c(8, 16, 24)) {
  top <- max(2, min(24, min(n, m) %/% 3))
  unique(pmax(2L, as.integer(round(top * sizes / 24))))
}

# Memberships have no further prior: neighbours shrink them, or only shares of a phantom are needed.
flat_rows <- list(aspects = c(1.2, 2), membership = 1)

# Effort of the fits to a table: whether bandwidths are tuned, members of each size, their iterations, whether all sizes
# or the middle one have fits without neighbours, and iterations of logistic PCA. Copies, from which the weights are
# learnt, need less than the table itself, and a quick run gains nothing from more (bench/which_zeros_time.md).
table_effort <- list(tune = FALSE, members = 2L, smoothed = 75L, free_all = TRUE, pca = 100L)
copy_effort <- list(tune = TRUE, members = 1L, smoothed = 60L, free_all = FALSE, pca = 40L)
quick_effort <- replace(copy_effort, "tune", FALSE)

# Runs the learners on a table: list(odds = input of the regression, the log-odds of all scores, n x m matrices from
# score_odds(), and taxon_terms(); near; tuned = choices_of() the updated `tuned`, and its similarity).
#   tuned    from tune_neighbours(), or NULL
#   effort   table_effort or copy_effort
#   how      list(quick, scale, args, n_threads): few fits, multiple of the default components, arguments of the fits
#   at       cells whose log-odds are needed, of taxa with presences, then vectors; NULL: all
#   rows     the rows of these; models are fitted to all rows, and means are over all
learn_table <- function(x, tuned, effort, how, at = NULL, rows = seq_len(nrow(x))) {
  table <- nbm_table(x)
  place <- if (!is.null(at)) as.double(place_in_rows(at, rows, nrow(x)))
  out <- list()
  n_threads <- how$n_threads
  as_odds <- function(p) {
    force(p) # learners run here, not inside the kernel that takes their log-odds
    odds <- score_odds(p, place, is.null(at), n_threads)
    free_memory(x)
    if (is.null(at)) fill_unseen(odds, table) else odds
  }
  if (!is.null(tuned)) {
    if (effort$tune) tuned <- tune_again(tuned, x, n_threads)
    out$near <- as_odds(nbm_rows(tuned$near, 0, table, rows, n_threads))
    out$near_alike <- as_odds(nbm_rows(tuned$near_alike, tuned$similarity, table, rows, n_threads))
  }
  out$alike <- as_odds(nbm_rows(NULL, 2, table, rows, n_threads))
  out$companions <- as_odds(companion_scores(table, rows, n_threads))
  k <- scaled_k(learner_k(nrow(x), ncol(x)), how$scale)
  if (how$quick) k <- unique(k[c(1L, length(k))])
  control <- function(iterations) {
    fit_control(n_start = 1, n_polish = 0, max_iter = iterations, tol = 1e-6, n_threads = n_threads, progress = FALSE)
  }
  p <- mean_of_fits(
    x, k, effort$members, control(effort$smoothed), how$args,
    estimate = "map", prior = flat_rows, phantom = "white", smooth = tuned$fits
  )
  out$smoothed <- as_odds(some_rows(p, rows))
  k_free <- if (effort$free_all) k else k[(length(k) + 1L) %/% 2L]
  p <- mean_of_fits(x, k_free, effort$members, control(50), how$args)
  out$free <- as_odds(some_rows(p, rows))
  pca <- quiet_fit(logistic_pca(x, min(4L, k[1L]), control = control(effort$pca)))$value
  out$pca <- as_odds(some_rows(fitted(pca), rows))
  used <- intersect(names(learner_names), names(out))
  list(
    odds = c(out[used], if (is.null(at)) taxon_terms(table) else cell_columns(taxon_terms(table), at, nrow(x))),
    near = tuned$fits,
    tuned = if (!is.null(tuned)) c(lapply(tuned[c("near", "near_alike")], choices_of), tuned["similarity"])
  )
}

# Returns the fitted values of ensemble(x, k, members = , control = , ...), with `changed` replacing arguments of its
# members.
mean_of_fits <- function(x, k, members, control, changed, ...) {
  settings <- member_settings(k, utils::modifyList(list(...), changed))
  control$algorithm <- member_algorithm(sum(presence_sums(x)), dim(x))
  fits <- fit_settings(x, settings, control, members = members)
  fits <- fits[is_done(fits)]
  average <- quiet_fit(new_ensemble(fits, rep(1 / length(fits), length(fits))))$value
  fitted(average)
}

# Chooses the algorithm of fits that are averaged: with few presences they need not visit the zeros, and the result
# ranks as well (bench/which_zeros_time.md). With many probabilities above .6 the line of such iterations is a poor
# approximation; small tables gain no time.
member_algorithm <- function(presences, dims) {
  cells <- prod(as.double(dims))
  if (cells >= 3e4 && presences <= 0.2 * cells) line_iterations else "em"
}

some_rows <- function(p, rows) if (length(rows) == nrow(p)) p else p[rows, , drop = FALSE]

# Converts cell numbers in all n rows to those in a matrix of these rows.
place_in_rows <- function(at, rows, n) {
  if (length(rows) == n) {
    return(at)
  }
  match((at - 1L) %% n + 1L, rows) + (at - 1L) %/% n * length(rows)
}

# Adds what tables of the same sites share during learning: distances, and neighbours already found.
with_memo <- function(near) {
  if (!is.null(near)) near[c("typical", "memo")] <- list(typical_distance(near), new.env(parent = emptyenv()))
  near
}

without_memo <- function(near) {
  near[c("typical", "memo")] <- NULL
  near
}

# What was chosen of neighbours, for an answer, which holds their sites once; and neighbours of an answer with that.
choices_of <- function(near) unclass(near)[c("bandwidth", "most")]

chosen_neighbours <- function(w, learner) {
  if (!is.null(w$near)) replace(w$inputs$near, c("bandwidth", "most"), w$near[[learner]])
}

# Tunes neighbours of the whole table: list(near, near_alike = those of the neighbours' means, similarity = the power of
# the latter, fits = those of the smoothed fits). The power is increased while it improves the objective, each with
# bandwidths of its own. All copies use it.
#   near     a smooth_over() without bandwidths, or NULL
tune_neighbours <- function(x, near, n_threads = 1, powers = c(1, 2, 4)) {
  if (is.null(near)) {
    return(NULL)
  }
  near <- with_memo(near)
  near$most <- least_near
  table <- tuning_table(x)
  best <- -Inf
  for (power in powers) {
    tried <- nbm_tune(near, power, table, n_threads)
    if (max(tried$trace$objective) <= best) break
    best <- max(tried$trace$objective)
    out <- list(near_alike = tried$near, similarity = power)
  }
  near <- nbm_tune(near, 0, table, n_threads)$near
  c(list(near = near), out, list(fits = found_neighbours(without_memo(near), n_threads)))
}

# Returns the table by which bandwidths are chosen: taxa with two presences or more, if there are three of these. No
# bandwidth predicts the only presence of a taxon, while a wide one costs likelihood at all other sites, so that taxa
# found once would make all bandwidths too narrow.
tuning_table <- function(x) {
  twice <- presence_sums(x) >= 2
  nbm_table(if (sum(twice) >= 3L) x[, twice, drop = FALSE] else x)
}

# Tunes the bandwidths of a copy, starting at those of the table, without its held-out presences.
tune_again <- function(tuned, x, n_threads) {
  table <- tuning_table(x)
  tune <- function(near, power) {
    from <- near$bandwidth
    near$bandwidth <- "cv"
    nbm_tune(near, power, table, n_threads, from)$near
  }
  before <- tuned$near$bandwidth
  tuned$near <- tune(tuned$near, 0)
  tuned$near_alike <- tune(tuned$near_alike, tuned$similarity)
  if (!isTRUE(all.equal(tuned$near$bandwidth, before))) {
    tuned$fits <- found_neighbours(without_memo(tuned$near), n_threads)
  }
  tuned
}

# Returns a smooth_over() with neighbours found once, for many fits.
found_neighbours <- function(near, n_threads) {
  near$most <- 30L
  if (is.null(near$given$neighbours)) near$lists <- find_neighbours(near, n_threads = n_threads)
  near$strength <- 10
  near
}

# No learner has information on a taxon that was never found, so it gets half a presence, distributed over the sites by
# their numbers of presences.
fill_unseen <- function(odds, table) {
  unseen <- table$sums == 0
  p <- 0.5 * (table$size + 0.5) / sum(table$size + 0.5)
  if (any(unseen)) odds[, unseen] <- score_odds(p, pack = is.integer(odds))
  odds
}

# Number of presences of a taxon: learners predict rare taxa less well, which their own log-odds do not show. The
# richness of a site is no predictor: it helps if presences are held out evenly, but poor sites may be those that lost
# most (bench/which_zeros.md).
taxon_terms <- function(table) {
  presences <- log1p(pmax(table$sums, 1))
  list(presences = presences, presences_squared = presences^2)
}

# Returns the values of terms at cells of a table with n rows, from matrices of it and from vectors over taxa.
cell_columns <- function(terms, at, n) {
  lapply(terms, function(term) if (is.matrix(term)) unpack_odds(term[at]) else term[(at - 1L) %/% n + 1L])
}

# Unpacks the log-odds that score_odds() packed.
unpack_odds <- function(odds) if (is.integer(odds)) 1e-6 * odds else odds

# Returns the default settings of learners, which sensitivity() changes.
as_usual <- function(quick) list(quick = quick, scale = 1, args = list())

scaled_k <- function(k, scale) unique(pmax(2L, as.integer(round(k * scale))))

# Estimates the share of each site that the phantom writes, n x fits, by fits with few and with many components, whose
# results differ.
phantom_shares <- function(x, near, how) {
  k <- unique(pmin(scaled_k(c(3L, 4L, 5L, 6L, 8L), how$scale), max(learner_k(nrow(x), ncol(x)))))
  if (how$quick) k <- k[unique(c(1L, (length(k) + 1L) %/% 2L))]
  control <- fit_control(
    n_start = 3, n_finish = 1, n_polish = 0, max_iter = 300, tol = 1e-6, n_threads = how$n_threads, progress = FALSE
  )
  share <- vapply(k, function(k) {
    given <- list(x, k, estimate = "map", prior = flat_rows, phantom = "white", smooth = near, control = control)
    fit <- quiet_fit(do.call(aspect_bernoulli, utils::modifyList(given, how$args)))$value
    phantom_share(fit, unname(fit$fixed), "white")
  }, numeric(nrow(x)))
  matrix(share, nrow(x))
}

# Computes Beals' smoothing without the cell itself: the mean, over the presences of an observation, of the share of
# other observations with that presence which have the attribute; one observation with the attribute's mean is added to
# each share.
companion_scores <- function(table, rows = seq_along(table$size), n_threads = 1) {
  size <- table$size[rows]
  rate <- table$sums / pmax(table$n_known, 1)
  view <- nbm_view(table, rows)
  if (length(table$size) >= length(rate)) {
    p <- view_times(view, companion_table(table), n_threads)
  } else {
    # Without unknown cells, the shares of each companion have one denominator.
    per <- 1 / pmax(table$sums, 1)
    p <- companion_sums(table, rows, per, n_threads) + outer(as.vector(view_times(view, per)), rate)
    for (j in row_blocks(which(table$n_known < length(table$size)), length(rate), cells_at_a_time)) {
      p[, j] <- view_times(view, companion_table(table, j), n_threads)
    }
  }
  p <- p / pmax(size, 1)
  none <- size == 0
  if (any(none)) p[none, ] <- rep(rate, each = sum(none))
  p
}

# Computes the share of the other observations with attribute k (row) that have attribute j (column), m x m or some of
# its columns.
companion_table <- function(table, j = NULL) {
  rate <- table$sums / pmax(table$n_known, 1)
  pairs <- if (is.null(j)) .Call(mc_c_view_pairs, table$view) else pairs_with(table, j)
  if (!is.null(j)) rate <- rate[j]
  known <- if (is.null(pairs$gone)) table$sums else table$sums - pairs$gone
  (pairs$both + rep(rate, each = length(table$sums))) / pmax(known, 1)
}

# Returns the pairs of all attributes with some, j, in the form of mc_c_view_pairs.
pairs_with <- function(table, j) {
  columns <- data_view(transposed(table$found))
  count <- function(start, column) {
    cells <- matrix(0, length(table$size), length(table$sums))
    cells[cbind(rep.int(seq_along(table$size), diff(start)), column + 1L)] <- 1
    view_times(columns, cells[, j, drop = FALSE])
  }
  view <- table$view
  list(
    both = count(view$start, view$column),
    gone = if (!is.null(view$na_start)) count(view$na_start, view$na_column)
  )
}

# Computes X[rows, ] diag(per) X'X, X being all presences, by the products of attributes or of observations, whichever
# are fewer.
companion_sums <- function(table, rows, per, n_threads = 1) {
  view <- nbm_view(table, rows)
  if (length(table$size) >= length(per)) {
    return(view_times(view, per * .Call(mc_c_view_pairs, table$view)$both, n_threads))
  }
  shared <- view_times(view, per * t(as.matrix(table$found)), n_threads)
  t(view_times(data_view(transposed(table$found)), t(shared), n_threads))
}

# Multiplies the presences of a view by a matrix.
view_times <- function(view, given, n_threads = 1) .Call(mc_c_view_times, view, t(given), as.double(n_threads))

# Computes log-odds of scores, or of some of them by their places; probabilities below one in ten thousand are treated
# as equal. `pack`: the log-odds of all cells by all learners are most of the memory of a large table, and are stored in
# millionths, as 4-byte integers.
least_score <- 1e-4
score_odds <- function(p, at = NULL, pack = FALSE, n_threads = 1) {
  .Call(mc_c_score_odds, p, if (!is.null(at)) as.double(at), as.double(c(least_score, pack, n_threads)))
}

# Runs the learners on one table, complete (no presences held out) or a copy. Of a copy the log-odds are kept at its
# zeros, or at a sample of them and all held-out presences, except of taxa that lost their only presences, because the
# whole table has no such taxa.
learn_task <- function(task, common, tick) {
  late <- task$optional && is.finite(common$deadline) && as.double(Sys.time()) > common$deadline
  if (late) {
    return(NULL)
  }
  x <- common$x
  x[task$deleted] <- 0
  if (inherits(x, "dgCMatrix")) x <- Matrix::drop0(x)
  free_memory(x)
  put_back <- begin_seed(task$seed)
  on.exit(put_back())
  if (!length(task$deleted)) {
    learnt <- learn_table(x, common$tuned, task$effort, common$how)
    if (common$phantom) learnt$share <- phantom_shares(x, learnt$near, common$how)
    return(learnt)
  }
  cells <- with_seed(task$seed, judged_cells(x, task$deleted))
  learnt <- learn_table(x, common$tuned, task$effort, common$how, cells$at, cells$rows)
  list(
    odds = do.call(cbind, learnt$odds), deleted = cells$deleted, at = cells$at, fraction = cells$fraction,
    rate = task$rate
  )
}

most_judged <- 2e5 # zeros of a damaged table that are kept
# Number of held-out presences for which neighbours' means are computed: of more, those of a sample of the sites.
most_hidden <- 5000L

# Selects zeros of a copy, of all sites or a sample of them: list(rows, at, deleted: which are held out, fraction), the
# latter the share of other zeros in these rows that was kept.
judged_cells <- function(x, deleted) {
  n <- nrow(x)
  wanted <- round(n * most_hidden / max(1L, length(deleted)))
  rows <- if (wanted < n) sort(sample.int(n, wanted)) else seq_len(n)
  zero <- cells_that_hold(some_rows(x, rows), 0)
  zero[, presence_sums(x) == 0] <- FALSE
  at <- which(zero)
  if (wanted < n) at <- rows[(at - 1L) %% length(rows) + 1L] + (at - 1L) %/% length(rows) * n
  gone <- replace(logical(length(x)), deleted, TRUE)[at]
  others <- which(!gone)
  fraction <- min(1, most_judged / max(1, length(others)))
  if (fraction < 1) others <- others[sample.int(length(others), most_judged)]
  kept <- sort(c(which(gone), others))
  list(rows = rows, at = at[kept], deleted = gone[kept], fraction = fraction)
}

# Deals the presences at random into parts, one held out in each copy. Presences of reference sites and of the other
# sites, on which the result is evaluated, are dealt separately.
deal_presences <- function(x, copies, reference = NULL, parts = 10L) {
  found <- which(cells_that_hold(x, 1))
  scored <- scored_sites(reference, nrow(x))[(found - 1L) %% nrow(x) + 1L]
  found <- found[order(!scored, stats::runif(length(found)))]
  fold <- (seq_along(found) - 1L) %% parts
  lapply(seq_len(copies) - 1L, function(copy) sort(found[fold == copy]))
}

# Returns the sites to be scored: all but those for reference.
scored_sites <- function(reference, n) if (is.null(reference)) rep(TRUE, n) else !reference
