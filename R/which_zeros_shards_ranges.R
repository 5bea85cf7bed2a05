# How many zeros of shards are false: what which_zeros() says of a table in memory, by sums over runs of rows. Two
# rounds over all cells: the first learns what the answer needs of whole sites and taxa, the second adds up. Numbers of
# each site and taxon are in memory, those of cells are not.

# Of each site: the sum of the odds of its zeros, its finds, and the largest odds (lower ends) of its open cells; of
# each taxon, the two largest (upper ends). list(sums, finds, tops = sites x several, columns)
survey_shards <- function(learners, stack) {
  d <- dim(learners$x)
  sums <- finds <- numeric(d[1L])
  tops <- matrix(0, d[1L], top_size(d[2L]))
  columns <- NULL
  visit_open_cells(learners, function(cells) {
    eta <- stack_odds(stack, cells$z)
    se <- odds_se(cells$z, stack)
    shape <- c(length(cells$rows), d[2L])
    sums[cells$rows] <<- rowSums(spread_cells(shape, cells$at, exp(eta) * cells$zero))
    finds[cells$rows] <<- cells$size
    low <- spread_cells(shape, cells$at, exp(eta - 1.645 * se))
    tops[cells$rows, ] <<- largest_of_rows(low, ncol(tops))
    high <- spread_cells(shape, cells$at, exp(eta + 1.645 * se))
    columns <<- merge_tops(columns, two_tops(t(high), t(high > 0)), cells$rows)
  })
  list(sums = sums, finds = finds, tops = tops, columns = columns)
}

# Values of cells in a matrix of 0.
spread_cells <- function(shape, at, value) {
  out <- matrix(0, shape[1L], shape[2L])
  out[at] <- value
  out
}

largest_of_rows <- function(values, n) {
  last <- ncol(values) + 1L - seq_len(n)
  matrix(apply(values, 1L, function(row) sort(row, partial = last)[last]), nrow(values), byrow = TRUE)
}

# What of sites and taxa the second round takes as known, with the intercept as new_which_zeros() sets it:
# list(shift, least, columns, finds, given, factor), the last two only where completeness is given (n x 2).
know_shards <- function(survey, stack, judged, completeness) {
  shift <- log(sum(survey$finds) / sum(survey$sums))
  odds <- exp(shift)
  columns <- survey$columns
  chance <- function(value) value * odds / (1 + value * odds)
  columns[c("top", "second")] <- lapply(columns[c("top", "second")], chance)
  hidden <- hidden_of_sites(judged, stack)
  poor <- wz_poor(survey$sums * odds, survey$finds, completeness)
  hidden$p <- scale_odds(hidden$p, poor[hidden$site])
  least <- least_of_sites(scale_odds(chance(survey$tops), poor), hidden)
  known <- list(shift = shift, least = least, columns = columns, finds = survey$finds)
  if (!is.null(completeness)) {
    estimate <- unlist(lapply(row_blocks(seq_along(least), 1L), function(rows) {
      wz_completeness(completeness[rows, , drop = FALSE], NULL, least[rows])$estimate
    }))
    known$given <- completeness
    known$factor <- richness_factor(survey$sums * odds, survey$finds, estimate)
  }
  known
}

# As wz_hidden() has it: list(site, p).
hidden_of_sites <- function(judged, stack) {
  each <- lapply(judged, function(copy) wz_hidden(list(c(copy, list(at = seq_along(copy$deleted)))), stack)$p)
  list(site = unlist(lapply(judged, `[[`, "site")), p = unlist(each))
}

# The mean of the largest chances of each site, hidden finds among them; tops: sites x several, largest first.
least_of_sites <- function(tops, hidden) {
  least <- rowMeans(tops)
  mine <- split(hidden$p, hidden$site)
  at <- as.integer(names(mine))
  best <- seq_len(ncol(tops))
  least[at] <- vapply(seq_along(at), function(i) {
    mean(sort(c(tops[at[i], ], mine[[i]]), decreasing = TRUE)[best])
  }, 0)
  least
}

# Adds up the second round: add(cells) takes the cells of a run of rows and returns its zeros, list(i, j, chance, ends);
# all() what was added. No taxon is taken to be surer to be there than 1: `surest` of a table in memory comes from
# fits with neighbours.
new_shard_sums <- function(x, stack, known, seed) {
  stack$intercept <- stack$intercept + known$shift
  d <- dim(x)
  is_given <- !is.null(known$given)
  ranges <- if (is_given) new_shard_draws(x, stack, known, seed)
  sites <- data.frame(finds = known$finds, zeros = 0, most = 0, least = known$least)
  taxa <- data.frame(finds = x$column_sum, zeros = 0, most = 0)
  if (is_given) {
    sites[c("estimate", "missed", "low", "high")] <- 0
    taxa$missed <- 0
  }
  unlike <- 0
  n_raised <- 0
  raised <- numeric()
  add <- function(cells) {
    rows <- cells$rows
    shape <- c(length(rows), d[2L])
    eta <- stack_odds(stack, cells$z)
    se <- odds_se(cells$z, stack)
    high <- spread_cells(shape, cells$at, stats::plogis(eta + 1.645 * se))
    zero <- which(cells$zero)
    at <- cells$at[zero]
    seen <- list(p = high, observed = spread_cells(shape, cells$at, 1) == 1)
    unlike <<- unlike + sum(unlike_missed(seen, rows, known$columns)$both[at])
    i <- cells$i[zero]
    j <- cells$j[zero]
    chance <- stats::plogis(eta[zero])
    if (is_given) {
      of_site <- wz_completeness(known$given[rows, , drop = FALSE], NULL, known$least[rows])
      odds <- spread_cells(shape, at, exp(eta[zero]))
      factor <- fill_up(odds, known$factor[rows], of_site$estimate, 1)
      n_raised <<- n_raised + sum(of_site$raised)
      raised <<- utils::head(c(raised, rows[of_site$raised]), 10L)
      drawn <- ranges$add(cells, odds, factor, of_site$draws)
      sites[rows, c("low", "high")] <<- drawn
      sites$estimate[rows] <<- of_site$estimate
      of_site <- c(of_site[c("estimate", "low", "high")], list(least = known$least[rows], factor = factor))
      ends <- missed_numbers(chance, se[zero], c(lapply(of_site, `[`, i), surest = 1))[-1L]
      missed <- spread_cells(shape, at, ends$missed)
      sites$missed[rows] <<- rowSums(missed)
      taxa$missed <<- taxa$missed + colSums(missed)
    } else {
      ends <- data.frame(missed_most = most_missed(high[at], known$least[rows][i]))
    }
    most <- spread_cells(shape, at, ends$missed_most)
    sites$most[rows] <<- rowSums(most)
    sites$zeros[rows] <<- tabulate(i, shape[1L])
    taxa$most <<- taxa$most + colSums(most)
    taxa$zeros <<- taxa$zeros + tabulate(j, d[2L])
    list(i = i, j = j, chance = chance, ends = ends)
  }
  all <- function() {
    total <- c(missed = NA, low = NA, high = NA, most = sum(taxa$most), unlike = max(unlike, sum(taxa$most)))
    if (is_given) {
      drawn <- ranges$all()
      taxa[c("low", "high")] <<- drawn$taxa
      total["missed"] <- sum(taxa$missed)
      total[c("low", "high")] <- coherent_ends(t(drawn$total), total[["missed"]], total[["most"]])
    }
    list(total = total, sites = sites, taxa = taxa, raised = list(n = n_raised, some = raised))
  }
  list(add = add, all = all)
}

# wz_draws() by runs of rows: add() returns the ends of their sites, all() those of taxa and of the total.
new_shard_draws <- function(x, stack, known, seed) {
  d <- dim(x)
  draws <- n_draws(prod(d))
  size <- length(stack$weights) + 1L
  beta <- with_seed(seed, matrix(stats::rnorm(size * draws), size))
  beta <- c(stack$intercept, stack$weights) + chol_root(stack$covariance) %*% beta
  missed <- noise <- matrix(0, d[2L], draws)
  add <- function(cells, odds, factor, completeness) {
    shape <- c(length(cells$rows), d[2L])
    zero <- which(cells$zero)
    at <- cells$at[zero]
    z <- cells$z[zero, , drop = FALSE]
    candidate <- spread_cells(shape, at, 1) == 1
    sums <- rowSums(odds) * factor
    with_seed((seed + cells$rows[1L]) %% .Machine$integer.max, {
      own <- vapply(seq_len(draws), function(draw) {
        now <- spread_cells(shape, at, finite_odds(beta[1L, draw] + as.vector(z %*% beta[-1L, draw])))
        drawn <- sums * draw_finds(cells$size)
        of <- missed_of_draw(now, candidate, drawn, completeness[, (draw - 1L) %% ncol(completeness) + 1L], 1)
        missed[, draw] <<- missed[, draw] + colSums(of$missed)
        noise[, draw] <<- noise[, draw] + colSums(of$noise)
        with_noise(rowSums(of$missed), rowSums(of$noise))
      }, numeric(shape[1L]))
    })
    ends_of_draws(matrix(own, ncol = draws))
  }
  all <- function() {
    with_seed((seed + 1) %% .Machine$integer.max, list(
      taxa = ends_of_draws(with_noise(missed, noise)),
      total = central_range(with_noise(colSums(missed), colSums(noise)))
    ))
  }
  list(add = add, all = all)
}

# by_site() and by_taxon() of shards.
shards_sums <- function(w, side, groups) {
  if (!is.null(groups)) {
    stop_not_for_shards("`groups`", "draws by site would have to be in memory; leave it out")
  }
  values <- w[[c("sites", "taxa")[side]]]
  known <- !is.na(w$total[["missed"]])
  missed <- if (known) values$missed else rep(NA_real_, nrow(values))
  ends <- if (known) values[c("low", "high")] else cbind(missed, missed)
  list(
    table = sums_table(sums_labels(w$shards, side), values$finds, values$zeros, missed, ends, values$most),
    assumption = if (known) wz_words[["completeness"]] else "not known, as `completeness` was not given"
  )
}

sums_labels <- function(x, side) {
  if (side == 2L) {
    return(taxa_of(x))
  }
  names <- lapply(x$shards$shard, function(s) read_shard_rows(x, s)$names)
  if (any(vapply(names, is.null, NA))) seq_len(x$dims[["n"]]) else unlist(names)
}
