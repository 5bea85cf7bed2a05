# How many zeros of shards are false: what which_zeros() says of a table in memory, by sums over runs of rows. One round
# over all cells learns the log-odds of the zeros, another, where completeness is given, what the learners expect of
# each site; the last adds up. Numbers of each site and taxon are in memory, those of cells are not.

# usual_ratio where finds are foreseen by copies.
shards_ratio <- c(missed = 0.89, low = 0.63, high = 1.18)

# f(cells, eta) for some rows at a time.
scan_log_odds <- function(learners, stack, f) {
  scan_open_cells(learners, function(cells) f(cells, stack_odds(stack, cells$z)))
}

# log_odds_bins() of all zeros of shards.
shard_bins <- function(learners, stack) {
  sums <- count <- list()
  scan_log_odds(learners, stack, function(cells, eta) {
    own <- log_odds_bins(eta[cells$zero])
    bin <- as.character(round(own$eta / bin_width))
    add <- function(all, value) {
      all[bin] <- Map(`+`, lapply(all[bin], function(old) if (is.null(old)) 0 else old), value)
      all
    }
    sums <<- add(sums, own$eta * own$count)
    count <<- add(count, own$count)
  })
  count <- unlist(count)
  at <- order(as.numeric(names(count)))
  list(eta = unname(unlist(sums)[at] / count[at]), count = unname(count[at]))
}

# What the last round takes as known: list(stack, calibrated; kappa, finds; lists, the total by these). Where
# completeness is given (n x 2), `expected` are the finds to be expected at each site, else `log_ratio` are those of all
# zeros. Finds are foreseen by what the copies say of the finds they lost, and of their own zeros: to leave out one find
# at a time would take the lists of all sites.
know_shards <- function(learners, stack, judged, completeness) {
  finds <- sum(learners$x$column_sum)
  zeros <- list(
    eta = unlist(lapply(judged, function(copy) stack_odds(stack, copy$odds[!copy$deleted, , drop = FALSE]))),
    count = unlist(lapply(judged, function(copy) rep(1 / copy$fraction / length(judged), sum(!copy$deleted))))
  )
  line <- calibrate_chances(zeros, hidden_log_odds(judged, stack), finds)
  kappa <- 1 - sum(zeros$count * stats::plogis(line[1L] + line[2L] * zeros$eta)) / finds
  lists <- total_by_lists(kappa, finds, shards_ratio)
  known <- list(stack = calibrated_stack(stack, line), kappa = kappa, finds = finds, lists = lists)
  if (is.null(completeness)) {
    known$log_ratio <- vapply(known$lists, log_ratio_of, 0, bins = shard_bins(learners, known$stack))
    drawn <- lists_draws(kappa, finds, stats::ppoints(n_draws))
    known$relative <- matrix(drawn / known$lists[["missed"]], 1L)
  } else {
    of_sites <- shard_odds(learners, known$stack)
    known$completeness <- completeness
    known$expected <- of_sites$odds * expected_factor(of_sites$odds, of_sites$finds, rowMeans(completeness))
  }
  known
}

# Of each site the sum of the odds of its zeros, and its finds.
shard_odds <- function(learners, stack) {
  odds <- finds <- numeric(dim(learners$x)[1L])
  scan_log_odds(learners, stack, function(cells, eta) {
    odds[cells$rows] <<- tabulate_sums(exp(pmin(eta, 300)) * cells$zero, cells$i, length(cells$rows))
    finds[cells$rows] <<- cells$size
  })
  list(odds = odds, finds = finds)
}

tabulate_sums <- function(value, index, size) {
  out <- numeric(size)
  sums <- rowsum(value, index)
  out[as.integer(rownames(sums))] <- sums[, 1L]
  out
}

# Values of cells in a matrix.
spread_cells <- function(shape, at, value, others = 0) {
  out <- matrix(others, shape[1L], shape[2L])
  out[at] <- value
  out
}

# What the last round adds up, in an environment: `sites` and `taxa`, a row each, and draws of each taxon and of the
# total. known: as of know_shards().
new_shard_sums <- function(x, known, seed) {
  list2env(list(
    known = known, seed = seed,
    sites = data.frame(finds = numeric(x$dims[["n"]]), zeros = 0, missed = 0, low = 0, high = 0),
    taxa = data.frame(finds = x$column_sum, zeros = 0, missed = 0),
    taxa_drawn = matrix(0, x$dims[["m"]], n_draws), total_drawn = numeric(n_draws)
  ), parent = emptyenv())
}

# Adds the cells of a run of rows: its zeros, list(i, j, chance, ends).
add_cells <- function(sums, cells) {
  known <- sums$known
  m <- nrow(sums$taxa)
  shape <- c(length(cells$rows), m)
  eta <- stack_odds(known$stack, cells$z)
  zero <- which(cells$zero)
  at <- cells$at[zero]
  i <- cells$i[zero]
  chance <- stats::plogis(eta[zero])
  with_seed((sums$seed + cells$rows[1L]) %% .Machine$integer.max, {
    many <- shard_ratios(known, cells$rows, cells$size, spread_cells(shape, at, eta[zero], -Inf))
    se <- odds_se(cells$z[zero, , drop = FALSE], known$stack)
    ends <- missed_numbers(chance, se, many$log_ratio[i, , drop = FALSE])
    missed <- spread_cells(shape, at, ends$missed)
    drawn <- draw_sums(missed, 0 * missed, many$relative)
  })
  sums$sites[cells$rows, ] <- data.frame(
    cells$size, tabulate(i, shape[1L]), rowSums(missed), whole_ends(ends_of_draws(drawn$sites))
  )
  sums$taxa$zeros <- sums$taxa$zeros + tabulate(cells$j[zero], m)
  sums$taxa$missed <- sums$taxa$missed + colSums(missed)
  sums$taxa_drawn <- sums$taxa_drawn + drawn$taxa
  sums$total_drawn <- sums$total_drawn + colSums(drawn$sites)
  list(i = i, j = cells$j[zero], chance = chance, ends = data.frame(ends[-1L]))
}

# list(total, sites, taxa), when all cells were added.
finish_sums <- function(sums) {
  known <- sums$known
  taxa <- sums$taxa
  if (is.null(known$completeness)) {
    # One ratio: taxa have the scatter of the table, not of runs of rows.
    missed <- matrix(taxa$missed, 1L)
    sums$taxa_drawn <- with_seed(sums$seed, draw_sums(missed, 0 * missed, known$relative)$taxa)
    total <- known$lists
  } else {
    ends <- central_range(sums$total_drawn)
    total <- c(missed = sum(taxa$missed), low = ends[1L], high = ends[2L])
  }
  taxa[c("low", "high")] <- whole_ends(ends_of_draws(sums$taxa_drawn))
  list(total = total, sites = sums$sites, taxa = taxa)
}

# The ratios of some rows, as how_many() has them.
shard_ratios <- function(known, rows, finds, eta) {
  if (is.null(known$completeness)) {
    return(list(log_ratio = matrix(known$log_ratio, length(rows), 3L, byrow = TRUE), relative = known$relative))
  }
  ratios_expected(eta, is.finite(eta), known$expected[rows], finds, known$completeness[rows, , drop = FALSE])
}

# by_site() and by_taxon() of shards.
shards_sums <- function(w, side, groups) {
  if (!is.null(groups)) {
    stop_not_for_shards("`groups`", "draws by site would have to be in memory; leave it out")
  }
  values <- w[[c("sites", "taxa")[side]]]
  labels <- if (side == 2L) taxa_of(w$shards) else shard_names(w$shards) %||% seq_len(w$dims[["n"]])
  list(
    table = sums_table(labels, values$finds, values$zeros, values$missed, values[c("low", "high")], NULL),
    assumption = wz_words[[w$source]]
  )
}
