#' Which zeros of a table in shards are real?
#'
#' `which_zeros(x, ...)` of a table in [shards()] does what it does for one in memory, with those of its learners that
#' scale, and takes the arguments below. It gives each zero the chance of a record, tells how good these chances are,
#' and lists the zeros with the largest.
#'
#' @details
#' **Learners.** The mean of fits of [aspect_bernoulli()] to all shards, one for each of `k`, and companions: the mean,
#' over the finds of a site, of how many of the other sites with that find have the taxon (Beals). A logistic regression
#' weighs them, and how often the taxon was found. With `age` or `place` there is a third, see below. `left_out` of the
#' result names the learners that a table in memory
#' has beside these, and why they are not there.
#'
#' **Neighbours.** With `age` or `place` a learner is the [neighbours_mean()] without likeness of lists. Sites near a
#' site may lie in any shard, so sites are put on a grid by place and age. A square holds the sums of its sites and
#' stands where these are on average. The squares about a site, no more than 500 and none whose weight is below 1 % of
#' the nearest one's, are its neighbours. The squares are the smallest of which there are no more than 20 000, or 25
#' million
#' over the number of taxa. Where every place is a square, the result is that of the table in memory with the same
#' bandwidth. Else places within a square are not told apart, which is of little account where a square is much smaller
#' than the bandwidth: `near` says how large both are. Bandwidths are chosen again on each copy, as
#' [neighbours_mean()] does.
#'
#' **How good.** Each copy of the table loses a tenth of its finds, no find twice. All learners learn again on each
#' copy, and their scores of the lost finds are compared with those of other zeros, of which a sample is drawn from
#' all shards. So the chances rest on finds that were hidden, and `quality` says how often a hidden find stands above
#' another zero, of the table and (about 100 000 finds of a copy, if there are more) of its own site. The answer is
#' judged by weights from the other copies.
#'
#' **How many were missed.** This is estimated as by [which_zeros()], from sums over runs of rows: what further surveys
#' would find, or by `completeness`. [by_site()] and [by_taxon()] have the sums. A taxon that was never found is not
#' judged.
#'
#' **Cost.** The fits are made once for each copy and once more. Then the chances of all n m cells are made twice, some
#' rows at a time (three times with `completeness`), and the best `n` are kept; nothing of n m numbers is in memory.
#' Some 100 bytes a site are. Copies of the shards are in the temporary folder of the session, one at a time.
#' Companions take 16 m^2 bytes and are left out above 5000 taxa.
#'
#' @param x a result of [shards()].
#' @param ... must be empty.
#' @param age,place names of columns of the shards' `site_data`: one column of ages, or two with their
#'   bounds; the two columns of places, named as [smooth_over()] wants them. `NULL`: not known.
#' @param n how many zeros to list, those with the largest chances; ties by site, then by taxon.
#' @param k numbers of components of the fits; `NULL`: three sizes, as [which_zeros()] has them.
#' @param copies how many copies lose a tenth of the finds, 2 to 10; `NULL`: 2.
#' @param path `NULL`, or a folder, new or empty: a file is written for each shard, with the columns of `zeros`, of
#'   its zeros whose chance is `least` or more. A site without a name has its number.
#' @param least chances of the zeros that are written.
#' @param format `"csv"` or `"parquet"` (package nanoparquet).
#' @param completeness what is known of the chance that a taxon that was there was recorded, as in [which_zeros()]: a
#'   number, a range of two, or a number or two for each site, in the order of the rows. `NULL`: nothing.
#' @param seed a whole number, for the same answer again; `NULL`: drawn from the session's generator.
#' @param control settings of the fits from [fit_control()], with `cluster` for workers; without `checkpoint`.
#'   `algorithm = "auto"` is EM here, as in [ensemble()]: few passes of EM find hidden finds better.
#' @return A list of class `which_zeros_shards`: `zeros` (a data frame with `site`, `taxon`, `probability`, `missed`,
#'   `missed_low` and `missed_high`; the largest probability first), `total` (`missed`, `low`, `high`), `kappa`, the
#'   predictability, `more`, what further surveys of equal effort would find, `source` of the total, `reason`, why no
#'   number is estimated, or `NULL`, `quality` (a data frame with a row for the answer and each learner: `auc` and
#'   `auc_within` with standard errors),
#'   `weights` (of the learners), `slope` (of calibration; 1 is right) with its standard error `slope_se`, `expected`
#'   (sum of all chances), `n_zeros` (judged), `hidden` (finds), `left_out` (learners, with the reason), `near` (`NULL`,
#'   or a list of `bandwidth`, `side` of a square and `squares`, how many hold sites), `files`, `dims`, `finds`,
#'   `shards`, `sites` and `taxa` (for [by_site()] and [by_taxon()]) and `call`. [as.data.frame()] gives `zeros`.
#' @seealso [which_zeros()], [shards()].
#' @examples
#' set.seed(1)
#' membership <- matrix(rexp(600), 200)
#' p <- (membership / rowSums(membership)) %*% matrix(rbeta(60, 0.4, 2), 3)
#' x <- shards(matrix(rbinom(4000, 1, p), 200), tempfile())
#' which_zeros(x, k = 3, n = 5, seed = 1)
#' @usage NULL
#' @name which_zeros_shards
NULL

which_zeros_shards <- function(x, ..., age = NULL, place = NULL, n = 1000, k = NULL, copies = NULL, path = NULL,
                               least = 0.5, format = c("csv", "parquet"), completeness = NULL, seed = NULL,
                               control = NULL) {
  call <- match.call()
  call[[1L]] <- quote(which_zeros)
  check_dots(...)
  n <- check_count(n, "n")
  copies <- if (is.null(copies)) 2L else check_count(copies, "copies", 2L, 10L)
  least <- check_number(least, "least", 0, 1)
  format <- check_format(format)
  control <- check_fits_control(control)
  if (is.null(seed)) seed <- draw_seeds(1L) else seed <- check_count(seed, "seed", 0L)
  finds <- sum(x$column_sum)
  taxa <- sum(x$column_sum > 0)
  refuse_few(x$dims[["n"]], taxa, finds)
  check_tells(x$column_sum, x$dims[["n"]] - x$column_missing - x$column_sum)
  if (is.null(k)) k <- learner_k(x$dims[["n"]], taxa)
  k <- check_counts(k, "k")
  n_sites <- as.integer(x$dims[["n"]])
  if (!is.null(completeness)) completeness <- check_completeness(completeness, n_sites, shard_names(x))
  squares <- shards_squares(x, age, place)
  if (!is.null(path)) prepare_answer_folder(path)
  seeds <- with_seed(seed, list(
    deal = draw_seeds(nrow(x$shards)), fit = draw_seeds(copies + 1L), judge = draw_seeds(copies),
    ranges = draw_seeds(1L)
  ))
  whole <- x
  x <- shards_of_taxa(whole, whole$column_sum > 0) # as in memory, no model is fitted to the others
  on.exit(if (x$path != whole$path) remove_folders(x$path))
  judged <- lapply(seq_len(copies), function(copy) judge_shards_copy(x, copy, k, seeds, control, squares))
  stack <- fit_stack(judged)
  learners <- shards_learners(x, k, seeds$fit[copies + 1L], control, squares)
  on.exit(remove_folders(vapply(learners$fits, `[[`, "", "folder")), add = TRUE)
  taxa <- taxa_of(whole)[whole$column_sum > 0]
  quality <- shards_quality(judged)
  reason <- if (is.null(completeness)) no_number(quality$table["stack", ], finds, x$dims)
  known <- know_shards(learners, stack, judged, completeness, reason)
  best <- score_all_shards(learners, known, n, path, least, format, seeds$ranges, taxa)
  structure(
    list(
      zeros = best$zeros, total = best$total, kappa = known$kappa,
      more = if (is.null(completeness) && is.null(known$reason)) {
        surveys_curve(known, best$n_zeros, ratio = shards_ratio)
      },
      reason = known$reason,
      source = if (is.null(completeness)) "curve" else "completeness", quality = quality$table,
      weights = known$stack$weights, slope = quality$slope,
      slope_se = quality$slope_se, expected = best$expected, n_zeros = best$n_zeros,
      hidden = sum(vapply(judged, function(one) sum(one$deleted), 0)), left_out = shards_left_out(x, squares),
      near = if (!is.null(squares)) {
        list(bandwidth = learners$near$bandwidth, side = squares$side, squares = length(squares$sites))
      },
      files = best$files, dims = whole$dims, finds = finds, shards = whole, sites = best$sites,
      taxa = all_taxa(best$taxa, whole$column_sum > 0), call = call
    ),
    class = "which_zeros_shards"
  )
}

# Settings of its fits.
check_fits_control <- function(control) {
  if (is.null(control)) control <- fit_control(n_start = 1, n_polish = 0, max_pass = 100, tol = 1e-6)
  control <- check_control(control)
  if (!is.null(control$checkpoint)) {
    stop_input(paste(
      "`control` must have no `checkpoint`: which_zeros() of shards makes several fits, each in a folder of its",
      "own."
    ))
  }
  control
}

# Arguments of which_zeros() that are for tables in memory.
wz_refuse_shards <- function(names) {
  if (length(names)) {
    stop_not_for_shards(
      show_either(sprintf("`%s`", names)), "see ?which_zeros_shards for what does; fit some rows, `x[i, ]`"
    )
  }
}

most_companions <- 5000L # taxa of which m x m numbers are kept

# Learners of tables in memory that shards do not have, with the reason.
shards_left_out <- function(x, squares) {
  others <- c(
    smoothed = "it looks at all rows in every pass", pca = "its passes scan every zero",
    near = if (is.null(squares)) "neither `age` nor `place` was given",
    near_alike = "it compares lists of sites in other shards",
    alike = "it compares all pairs of sites",
    companions = if (x$dims[["m"]] > most_companions) paste("more than", count_words(most_companions, "taxon"))
  )
  stats::setNames(others, learner_names[names(others)])
}

# In which tenth each find of a shard is, as its cells stand there.
deal_shard <- function(view, seed) with_seed(seed, sample.int(10L, length(view$column), TRUE))

view_finds <- function(view) rep.int(seq_len(view$dim[1L]), diff(view$start))

# The shards without one tenth of their finds, in a folder of their own.
damage_shards <- function(x, seeds, tenth, path) {
  m <- x$dims[["m"]]
  column_sum <- numeric(m)
  with_run(path, function(run) {
    tables <- lapply(x$shards$shard, function(s) {
      view <- read_shard_view(x, s)
      kept <- deal_shard(view, seeds[s]) != tenth
      view <- replace(view, c("start", "column"), kept_cells(view$start, view$column, kept))
      column_sum <<- column_sum + tabulate(view$column + 1L, m)
      write_shard(run, s, view, list(names = NULL, along = NULL))
    })
    finish_run(run, tables, x$attributes, list(sum = column_sum, missing = x$column_missing), NULL)
  })
}

# The shards with some of their taxa, in a folder of their own; with all of them, the shards.
shards_of_taxa <- function(x, taxa) {
  if (all(taxa)) {
    return(x)
  }
  to <- cumsum(taxa) - 1L
  with_run(tempfile("multicause-taxa-"), function(run) {
    tables <- lapply(x$shards$shard, function(s) {
      view <- read_shard_view(x, s)
      part <- function(start, column) {
        out <- kept_cells(start, column, taxa[column + 1L])
        list(out[[1L]], to[out[[2L]] + 1L])
      }
      view[c("start", "column")] <- part(view$start, view$column)
      if (!is.null(view$na_start)) view[c("na_start", "na_column")] <- part(view$na_start, view$na_column)
      if (!length(view$na_column)) view[c("na_start", "na_column")] <- list(NULL)
      view$dim[2L] <- sum(taxa)
      write_shard(run, s, view, list(names = read_shard_rows(x, s)$names, along = NULL))
    })
    margins <- list(sum = x$column_sum[taxa], missing = x$column_missing[taxa])
    finish_run(run, tables, x$attributes[taxa], margins, NULL)
  })
}

# Cells in rows, those that are kept: list(start, column).
kept_cells <- function(start, column, kept) {
  rows <- rep.int(seq_len(length(start) - 1L), diff(start))
  list(c(0L, cumsum(tabulate(rows[kept], length(start) - 1L))), column[kept])
}

# What was said of some taxa, with nothing of the others.
all_taxa <- function(table, judged) {
  as.data.frame(lapply(table, function(value) replace(numeric(length(judged)), judged, value)))
}

# What the learners know of shards x: list(x, fits, companions = m x m or NULL, near = shards_near()).
shards_learners <- function(x, k, seed, control, squares = NULL) {
  prior <- recommended_members$args$prior
  if (control$algorithm == "auto") control$algorithm <- "em" # as members of an ensemble
  seeds <- with_seed(seed, draw_seeds(length(k)))
  fits <- list()
  done <- FALSE
  on.exit(if (!done) remove_folders(vapply(fits, `[[`, "", "folder")))
  for (i in seq_along(k)) {
    fit <- function() quiet_fit(aspect_bernoulli(x, k[i], estimate = "map", prior = prior, control = control))$value
    fits[[i]] <- with_seed(seeds[i], fit())
  }
  companions <- if (x$dims[["m"]] <= most_companions) shards_companions(x)
  out <- list(x = x, fits = fits, companions = companions, near = shards_near(x, squares))
  done <- TRUE
  out
}

# companion_table() by sums over shards.
shards_companions <- function(x) {
  m <- x$dims[["m"]]
  joint <- gone <- matrix(0, m, m)
  for (s in x$shards$shard) {
    view <- read_shard_view(x, s)
    pairs <- .Call(mc_c_view_pairs, view)
    joint <- joint + pairs$both
    if (!is.null(pairs$gone)) gone <- gone + pairs$gone
  }
  (joint + rep(shards_rate(x), each = m)) / pmax(x$column_sum - gone, 1)
}

# One shard for the learners: its cells, and the memberships of each fit.
learner_shard <- function(learners, s) {
  x <- learners$x
  view <- read_shard_view(x, s)
  list(
    view = view, size = diff(view$start), near = learners$near$at[row_numbers(x, s)],
    membership = lapply(learners$fits, function(fit) own_rows(fit, s)[, fit$order, drop = FALSE])
  )
}

# What the regression takes of cells (i, j) of a shard, zeros all: a matrix with a column for each.
cell_learners <- function(learners, shard, i, j) {
  p <- 0
  for (f in seq_along(learners$fits)) {
    aspects <- learners$fits[[f]]$param$aspects
    p <- p + rowSums(shard$membership[[f]][i, , drop = FALSE] * t(aspects[, j, drop = FALSE]))
  }
  companions <- NULL
  if (!is.null(learners$companions)) {
    each <- shard$size[i]
    cell <- rep.int(seq_along(i), each)
    find <- shard$view$column[rep.int(shard$view$start[i], each) + sequence(each)] + 1L
    sums <- tabulate_sums(learners$companions[cbind(find, j[cell])], cell, length(i))
    companions <- ifelse(each > 0, sums / pmax(each, 1), shards_rate(learners$x)[j])
  }
  near <- if (!is.null(learners$near)) near_chances(learners$near$table, learners$near$sums, shard$near[i], j)
  learner_columns(unname(p) / length(learners$fits), near, companions, learners$x$column_sum[j])
}

shards_rate <- function(x) x$column_sum / pmax(x$dims[["n"]] - x$column_missing, 1)

# As learn_table() names them; `sums`: finds of the cell's taxon.
learner_columns <- function(free, near, companions, sums) {
  finds <- log1p(pmax(sums, 1))
  scores <- Filter(Negate(is.null), list(free = free, near = near, companions = companions))
  scores$companions <- if (!is.null(companions)) pmin(companions, 1)
  # cbind() of no cells would give NULL a column.
  cbind(do.call(cbind, lapply(scores, score_odds)), finds = finds, finds_squared = finds^2)
}

# One copy: the cells that were deleted and a sample of other zeros, as learn_task() has them, and the chance that each
# deleted one stands above another zero of its site.
judge_shards_copy <- function(x, copy, k, seeds, control, squares = NULL) {
  path <- tempfile("multicause-copy-")
  damaged <- damage_shards(x, seeds$deal, copy, path)
  on.exit(remove_folders(path))
  learners <- shards_learners(damaged, k, seeds$fit[copy], control, squares)
  on.exit(remove_folders(vapply(learners$fits, `[[`, "", "folder")), add = TRUE)
  seen <- damaged$column_sum > 0
  n_others <- sum((damaged$dims[["n"]] - damaged$column_missing - x$column_sum)[seen])
  n_deleted <- sum(x$column_sum) - sum(damaged$column_sum)
  share <- c(zeros = min(1, most_judged / n_others), paired = min(1, most_pairs / (zeros_a_pair * n_deleted)))
  parts <- lapply(x$shards$shard, function(s) {
    with_seed(seeds$judge[copy] %% 1e6 + s, judge_shard(x, learners, s, copy, seeds$deal[s], seen, share))
  })
  n_sampled <- sum(vapply(parts, function(part) sum(!part$deleted), 0))
  own <- vapply(parts, function(part) sum(part$deleted), 0)
  pair <- Map(function(part, before) before + part$pair, parts, cumsum(own) - own)
  list(
    odds = do.call(rbind, lapply(parts, `[[`, "odds")), deleted = unlist(lapply(parts, `[[`, "deleted")),
    fraction = n_sampled / n_others, rate = n_deleted / sum(x$column_sum),
    pairs = do.call(rbind, lapply(parts, `[[`, "pairs")), pair = unlist(pair),
    site = unlist(lapply(parts, `[[`, "site"))
  )
}

zeros_a_pair <- 20L # zeros of its own site that a deleted find is compared with
most_pairs <- 2e6 # of these, in all shards

# Of one shard: its deleted finds (of taxa that are `seen` without them), a sample of other zeros, about share["zeros"]
# of them, and for about share["paired"] of the deleted finds some zeros of its row, in `pairs`, `pair` being its number
# among the deleted and `site` its row in the whole table.
judge_shard <- function(x, learners, s, tenth, seed, seen, share) {
  whole <- read_shard_view(x, s)
  row <- view_finds(whole)
  gone <- deal_shard(whole, seed) == tenth & seen[whole$column + 1L]
  i <- row[gone]
  j <- whole$column[gone] + 1L
  shard <- learner_shard(learners, s)
  size <- whole$dim
  known <- c(cell_key(row, whole$column + 1L, size), if (!is.null(whole$na_start)) {
    cell_key(rep.int(seq_len(size[1L]), diff(whole$na_start)), whole$na_column + 1L, size)
  })
  columns <- which(seen)
  draw <- function(rows) {
    at <- columns[sample.int(length(columns), length(rows), TRUE)]
    free <- !cell_key(rows, at, size) %in% known
    list(i = rows[free], j = at[free], of = free)
  }
  others <- draw(sample.int(size[1L], round(share[["zeros"]] * size[1L] * length(columns)), TRUE))
  once <- !duplicated(cell_key(others$i, others$j, size))
  paired <- if (share[["paired"]] < 1) which(stats::runif(length(i)) < share[["paired"]]) else seq_along(i)
  near <- draw(rep(i[paired], each = zeros_a_pair))
  # A cell takes a row of memberships: not all cells at a time.
  score <- function(i, j) {
    blocks <- row_blocks(seq_along(i), max(vapply(shard$membership, ncol, 0L)), cells_at_a_time)
    if (!length(blocks)) blocks <- list(integer())
    do.call(rbind, lapply(blocks, function(at) cell_learners(learners, shard, i[at], j[at])))
  }
  list(
    odds = score(c(i, others$i[once]), c(j, others$j[once])),
    deleted = rep(c(TRUE, FALSE), c(length(i), sum(once))), site = row_numbers(x, s)[i],
    pairs = score(near$i, near$j), pair = rep(paired, each = zeros_a_pair)[near$of]
  )
}

cell_key <- function(i, j, size) (i - 1) * as.double(size[2L]) + j

# How well deleted finds are found: each copy by weights from the others, and by each learner alone.
shards_quality <- function(judged) {
  each <- lapply(seq_along(judged), function(at) {
    copy <- judged[[at]]
    fit <- fit_stack(judged[-at])
    scores <- function(z) cbind(stack = stack_odds(fit, z), z[, of_learner(z), drop = FALSE])
    odds <- scores(copy$odds)
    near <- scores(copy$pairs)
    own <- odds[copy$deleted, , drop = FALSE]
    within <- vapply(colnames(odds), function(name) {
      above <- own[copy$pair, name] - near[, name]
      of_find <- tapply((above > 0) + (above == 0) / 2, copy$pair, mean)
      c(mean(of_find), mean_se(of_find))
    }, numeric(2))
    ranks <- lapply(ranking(odds, copy$deleted), function(told) told[2L, ])
    chance <- stats::plogis(odds[, "stack"] + log(copy$rate) - log(copy$fraction))
    list(
      auc = ranks$auc, auc_se = ranks$se, within = within[1L, ], within_se = within[2L, ], chance = chance,
      hit = copy$deleted
    )
  })
  measure <- function(name) matrix(vapply(each, `[[`, each[[1L]][[name]], name), ncol = length(each))
  names <- names(each[[1L]]$within)
  line <- calibration_line(unlist(lapply(each, `[[`, "chance")), unlist(lapply(each, `[[`, "hit")))
  list(
    table = data.frame(
      learner = c("the answer", unname(learner_names[names[-1L]])), auc = rowMeans(measure("auc"), na.rm = TRUE),
      auc_se = error_of_mean(measure("auc_se")), auc_within = rowMeans(measure("within"), na.rm = TRUE),
      auc_within_se = error_of_mean(measure("within_se")), row.names = names
    ),
    slope = line[["slope"]], slope_se = line[["slope_se"]]
  )
}

# f(cells) for some rows of a shard at a time, in order. cells: those of open_cells(), `rows`, their numbers in the
# whole table, and the shard's number.
scan_open_cells <- function(learners, f) {
  for (s in learners$x$shards$shard) {
    shard <- learner_shard(learners, s)
    numbers <- row_numbers(learners$x, s)
    for (rows in row_blocks(seq_along(numbers), shard$view$dim[2L], cells_at_a_time)) {
      f(c(open_cells(learners, shard, rows), list(shard = s, rows = numbers[rows])))
    }
  }
}

# The cells of some rows of a shard that are not finds, of taxa that are found at all: `at`, where they stand in a
# rows x taxa matrix, `i` and `j`, `zero` (FALSE: unknown), and what the regression takes of them, `z`.
open_cells <- function(learners, shard, rows) {
  x <- learners$x
  view <- view_rows(shard$view, rows)
  p <- 0
  for (f in seq_along(learners$fits)) {
    p <- p + shard$membership[[f]][rows, , drop = FALSE] %*% learners$fits[[f]]$param$aspects
  }
  found <- view_matrix(view$start, view$column, view$dim)
  open <- matrix(x$column_sum > 0, length(rows), ncol(x), byrow = TRUE)
  open[Matrix::which(found != 0, arr.ind = FALSE)] <- FALSE
  zero <- open
  if (!is.null(view$na_start)) {
    zero[Matrix::which(view_matrix(view$na_start, view$na_column, view$dim) != 0)] <- FALSE
  }
  at <- which(open)
  i <- (at - 1L) %% length(rows) + 1L
  j <- (at - 1L) %/% length(rows) + 1L
  companions <- NULL
  if (!is.null(learners$companions)) {
    size <- shard$size[rows]
    mean <- as.matrix(found %*% learners$companions) / pmax(size, 1)
    mean[size == 0, ] <- rep(shards_rate(x), each = sum(size == 0))
    companions <- mean[at]
  }
  near <- if (!is.null(learners$near)) {
    near_chances(learners$near$table, learners$near$sums, shard$near[rows[i]], j, 0, 1 - zero[at])
  }
  list(
    at = at, i = i, j = j, zero = zero[at], size = shard$size[rows],
    z = learner_columns(p[at] / length(learners$fits), near, companions, x$column_sum[j])
  )
}

# All zeros: the best n, the sum of all chances, sums by site and by taxon, and files by shard. `taxa`: their labels.
score_all_shards <- function(learners, known, n, path, least, format, seed, taxa) {
  x <- learners$x
  best <- NULL
  files <- character()
  expected <- n_zeros <- 0
  sums <- new_shard_sums(x, known, seed)
  answer <- names <- NULL
  now <- 0L
  close_shard <- function() if (!is.null(answer)) files <<- c(files, answer$close())
  on.exit(if (!is.null(answer)) answer$drop())
  scan_open_cells(learners, function(cells) {
    if (cells$shard != now) {
      close_shard()
      now <<- cells$shard
      if (!is.null(path)) answer <<- new_answer(file.path(path, sprintf("zeros-%05d.%s", now, format)), format)
      names <<- read_shard_rows(x, now)$names
    }
    first <- cells$rows[1L] - 1
    found <- add_cells(sums, cells)
    expected <<- expected + sum(found$probability)
    n_zeros <<- n_zeros + length(found$probability)
    name_cells <- function(at) {
      number <- first + found$i[at]
      own <- if (is.null(names)) number else names[match(number, row_numbers(x, now))]
      data.frame(
        site = own, taxon = taxa[found$j[at]], probability = found$probability[at], found$ends[at, , drop = FALSE],
        number = number, column = found$j[at]
      )
    }
    floor <- if (NROW(best) >= n) best$probability[n] else -Inf
    top <- which(found$probability >= floor)
    if (length(top) > n) top <- top[order(-found$probability[top], found$i[top], found$j[top])[seq_len(n)]]
    best <<- rbind(best, name_cells(top))
    best <<- utils::head(best[order(-best$probability, best$number, best$column), ], n)
    if (!is.null(path)) {
      some <- name_cells(which(found$probability >= least))
      answer$add(some[setdiff(names(some), c("number", "column"))])
    }
  })
  close_shard()
  rownames(best) <- NULL
  c(finish_sums(sums), list(
    zeros = best[setdiff(names(best), c("number", "column"))], expected = expected, n_zeros = n_zeros,
    files = if (length(files)) files
  ))
}

taxa_of <- function(x) x$attributes %||% seq_len(x$dims[["m"]])

#' @export
print.which_zeros_shards <- function(x, n = 5L, ...) {
  check_dots(...)
  n <- check_shown(n)
  q <- x$quality
  writeLines(wrap_text(sprintf(
    "Which zeros are false absences? Shards of %s, %s, %s", table_words(x$dims), count_words(x$finds, "presence"),
    count_words(x$n_zeros, "zero")
  ), exdent = 2))
  if (is.null(x$reason)) {
    print_numbers(shards_numbers(x))
  } else {
    writeLines(wrap_text(no_number_sentence(x$reason, "does a known `completeness`"), exdent = 2))
  }
  print_zeros(utils::head(x$zeros, n), c("sites", "taxa"), x$dims, x$n_zeros)
  cat("\n")
  learners <- sprintf("%s %.3f", q$learner[-1L], q$auc[-1L])
  writeLines(wrap_text(c(
    hidden_sentence(q["stack", ], x$hidden, c("sites", "taxa")), slope_sentence(x$slope, x$slope_se, x$hidden),
    paste0("AUC of the learners alone: ", paste(learners, collapse = ", "), "."),
    paste0("Not in the answer: ", paste(names(x$left_out), collapse = "; "), ".")
  ), exdent = 2))
  if (!is.null(x$near)) {
    each <- sprintf("%s, bandwidth %s", names(x$near$bandwidth), vapply(x$near$bandwidth, format, "", digits = 3L))
    sides <- paste(vapply(x$near$side, format, "", digits = 3L), collapse = " and ")
    side <- if (all(x$near$side == 0)) "each place its own square" else paste("squares of", sides)
    cat(sprintf("Neighbours by %s; %s, %s in all\n", paste(each, collapse = ", "), side, format_big(x$near$squares)))
  }
  if (length(x$files)) cat(count_words(length(x$files), "file"), " in ", dirname(x$files[1L]), "\n", sep = "")
  invisible(x)
}

shards_numbers <- function(x) {
  number_table(c(unclass(x)[c("total", "more", "source")], list(
    how_many = data.frame(evidence = "", x$total["missed"]), candidate = matrix(FALSE, 1L, 1L), gaps = integer()
  )))
}

#' @export
as.data.frame.which_zeros_shards <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  x$zeros
}

# How many zeros of shards are false: what which_zeros() says of a table in memory, by sums over runs of rows. One round
# over all cells learns the log-odds of the zeros, another, where completeness is given, what the learners expect of
# each site; the last adds up. Numbers of each site and taxon are in memory, those of cells are not.

# usual_ratio where predictability is that of the presences that copies hold out.
shards_ratio <- 0.89

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

# What the last round takes as known: list(stack, calibrated; kappa and presences; reason; total). Where completeness is
# given (n x 2), `expected` are the presences to be expected at each site, else `ratios` are those of all zeros. The
# predictability is that of the presences that copies hold out: to leave out one presence at a time would take the lists
# of all sites. Taxa found nearly everywhere stay in it.
know_shards <- function(learners, stack, judged, completeness, reason = NULL) {
  finds <- sum(learners$x$column_sum)
  zeros <- list(
    eta = unlist(lapply(judged, function(copy) stack_odds(stack, copy$odds[!copy$deleted, , drop = FALSE]))),
    count = unlist(lapply(judged, function(copy) rep(1 / copy$fraction / length(judged), sum(!copy$deleted))))
  )
  line <- calibrate_chances(zeros, hidden_log_odds(judged, stack), finds)
  kappa <- 1 - sum(zeros$count * stats::plogis(line[1L] + line[2L] * zeros$eta)) / finds
  known <- list(stack = calibrated_stack(stack, line), kappa = kappa, presences = finds, reason = reason)
  known$total <- if (is.null(reason)) {
    total_by_surveys(known, shards_ratio)
  } else {
    c(missed = NA_real_, low = NA_real_, high = NA_real_)
  }
  if (is.null(completeness)) {
    bins <- tilted(shard_bins(learners, known$stack), curve_slope)
    known$ratios <- new_ratios(vapply(known$total, log_ratio_of, 0, bins = bins), 0L, curve_slope)
    known$relative <- relative_draws(known$total)
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

# Adds the cells of a run of rows: its zeros, list(i, j, probability, ends).
add_cells <- function(sums, cells) {
  known <- sums$known
  m <- nrow(sums$taxa)
  shape <- c(length(cells$rows), m)
  eta <- stack_odds(known$stack, cells$z)
  zero <- which(cells$zero)
  at <- cells$at[zero]
  i <- cells$i[zero]
  probability <- stats::plogis(eta[zero])
  with_seed((sums$seed + cells$rows[1L]) %% .Machine$integer.max, {
    many <- shard_ratios(known, cells$rows, cells$size, spread_cells(shape, at, eta[zero], -Inf))
    se <- odds_se(cells$z[zero, , drop = FALSE], known$stack)
    ends <- missed_numbers(probability, se, ratios_at(many$ratios, i), many$ratios$slope)
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
  list(i = i, j = cells$j[zero], probability = probability, ends = data.frame(ends[-1L]))
}

# list(total, sites, taxa), when all cells were added.
finish_sums <- function(sums) {
  known <- sums$known
  taxa <- sums$taxa
  if (is.null(known$completeness)) {
    # One ratio: taxa have the scatter of the table, not of runs of rows.
    missed <- matrix(taxa$missed, 1L)
    sums$taxa_drawn <- with_seed(sums$seed, draw_sums(missed, 0 * missed, known$relative)$taxa)
    total <- pmin(known$total, sum(taxa$zeros))
  } else {
    total <- range_about(sum(taxa$missed), sums$total_drawn)
  }
  taxa[c("low", "high")] <- whole_ends(ends_of_draws(sums$taxa_drawn))
  list(total = total, sites = sums$sites, taxa = taxa)
}

# The ratios of some rows, as how_many() has them.
shard_ratios <- function(known, rows, finds, eta) {
  if (is.null(known$completeness)) {
    return(known[c("ratios", "relative")])
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

zeros_in_pieces.shards <- function(x, given, ...) {
  wz_refuse_shards(setdiff(given, c("", names(formals(which_zeros_shards)))))
  which_zeros_shards(x, ...)
}
