#' Which zeros are false absences, in a table in shards
#'
#' [which_zeros()] of a table in [shards()], which may be larger than memory, has fewer learners and the arguments
#' below. It estimates the same numbers, measures the quality of the ranking, and lists the zeros with the largest
#' probabilities of a record.
#' @details
#' **Learners.** The mean of fits of [aspect_bernoulli()] to all shards, one for each of `k`, and companions (Beals):
#' the mean, over the presences of a site, of the share of the other sites with that presence that have the taxon. A
#' logistic regression weighs them, and how often the taxon was found. With `age` or `place` there is a third, see
#' below. `left_out` of the result names the learners that only a table in memory has, with the reason.
#'
#' **Neighbours.** With `age` or `place` a learner is the [neighbours_mean()] without similarity of lists. Sites near a
#' site may lie in any shard, so sites are put on a grid by place and age. A square holds the sums of its sites and lies
#' at their mean position. The squares about a site, no more than 500 and none whose weight is below 1 % of the nearest
#' one's, are its neighbours. The squares are the smallest of which there are no more than 20 000, or 25 million over
#' the number of taxa. Where every place is a square, the result is that of the table in memory with the same bandwidth.
#' Else places within a square are not distinguished, which matters little if a square is much smaller than the
#' bandwidth: `near` has both sizes. Bandwidths are chosen again on each copy, as [neighbours_mean()] does.
#'
#' **How good.** In each copy of the table a tenth of the presences is held out, no presence twice. All learners are
#' fitted again to each copy, and their scores of the held-out presences are compared with those of a sample of the
#' other zeros of all shards. `quality` has the AUC: how often a held-out presence ranks above another zero, of the
#' table and of its own site (by about 100 000 presences of a copy, if there are more). Each copy is judged with weights
#' from the other copies.
#'
#' **How many were missed.** This is estimated as by [which_zeros()], from sums over blocks of rows: what further
#' surveys would find, or by `completeness`. [by_site()] and [by_taxon()] have the sums. A taxon that was never found is
#' not judged.
#'
#' **Cost.** The fits are made once for each copy and once more. Then the probabilities of all n m cells are made twice,
#' some rows at a time (three times with `completeness`), and the best `n` are kept; no table of n m numbers is in
#' memory, only some 100 bytes per site. Copies of the shards are in the temporary folder of the session, one at a time.
#' Companions take 16 m^2 bytes and are left out above 5000 taxa.
#'
#' **Workers and checkpoints.** With `cluster` in `control` workers share the fits (each makes whole fits below a
#' million presences, and its part of every iteration above) and the scans of all cells. They must see the shards, the
#' temporary folder of the session or the `checkpoint`, and `path`, under the same names. With as many threads of the
#' BLAS the numbers are the same to the last bit for any number of workers; two were 1.0 to 1.9 times as fast as one,
#' more so on larger tables (`bench/shards.md`). With `checkpoint`, a folder, fits and judged copies are kept as they
#' are finished, and the same call resumes there after a stop, with the same result; delete the folder afterwards.
#'
#' @param x a result of [shards()].
#' @param ... must be empty.
#' @param age,place names of columns of the shards' `site_data`: one column of ages, or two with their
#'   bounds; the two columns of places, named as [smooth_over()] wants them. `NULL`: not known.
#' @param n how many zeros to list, those with the largest probabilities; ties by site, then by taxon.
#' @param k numbers of components of the fits; `NULL`: three sizes, as [which_zeros()] has them.
#' @param quick a first look: no model is fitted. The learners are companions, how often the taxon was found and, with
#'   `age` or `place`, neighbours; `k` must not be given.
#' @param copies how many copies, each with a tenth of the presences held out, 2 to 10; `NULL`: 2.
#' @param path `NULL`, or a folder, new or empty: a file is written for each shard, with the columns of `zeros`, of
#'   its zeros whose probability is `least` or more. A site without a name has its number.
#' @param least probabilities of the zeros that are written.
#' @param format `"csv"` or `"parquet"` (package nanoparquet).
#' @param completeness the number of taxa on a site's list divided by the number that were there, as in [which_zeros()]:
#'   a number, a range of two, or a number or two for each site, in the order of the rows. `NULL`: nothing.
#' @param seed a whole number, for the same result again; `NULL`: drawn from the session's generator.
#' @param control settings of the fits from [fit_control()], with `cluster` and `checkpoint` as above. `algorithm =
#'   "auto"` is EM here, as in [ensemble()]: few iterations of EM find held-out presences better. If at most a fifth of
#'   the cells are presences, these approximate the sum over zeros (`1 / (1 - p)` by a line in p, the probability of a
#'   presence).
#' @return A list of class `which_zeros_shards`: `zeros` (a data frame with `site`, `taxon`, `probability`, `missed`,
#'   `missed_low` and `missed_high`; the largest probability first), `total` (`missed`, `low`, `high`), `kappa`, the
#'   predictability, `more`, what further surveys of equal effort would find, `source` of the total, `reason`, why no
#'   number is estimated, or `NULL`, `quality` (a data frame with a row for the result and each learner: `auc` and
#'   `auc_within` with standard errors), `weights` (of the learners), `slope` (of calibration; 1 is calibrated) with its
#'   standard error `slope_se`, `expected` (sum of all probabilities), `n_zeros` (ranked), `hidden` (the number of
#'   held-out presences), `left_out` (learners, with the reason), `near` (`NULL`, or a list of `bandwidth`, `side` of a
#'   square and `squares`, how many hold sites), `files`, `dims`, `presences`, `shards`, `sites` and `taxa` (for
#'   [by_site()] and [by_taxon()]) and `call`. [as.data.frame()] gives `zeros`.
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

which_zeros_shards <- function(x, ..., age = NULL, place = NULL, n = 1000, k = NULL, quick = FALSE, copies = NULL,
                               path = NULL, least = 0.5, format = c("csv", "parquet"), completeness = NULL, seed = NULL,
                               control = NULL) {
  call <- match.call()
  call[[1L]] <- quote(which_zeros)
  check_dots(...)
  n <- check_count(n, "n")
  copies <- if (is.null(copies)) 2L else check_count(copies, "copies", 2L, 10L)
  least <- check_number(least, "least", 0, 1)
  format <- check_format(format)
  control <- check_fits_control(control)
  if (!is.null(seed)) seed <- check_count(seed, "seed", 0L)
  presences <- sum(x$column_sum)
  taxa <- sum(x$column_sum > 0)
  refuse_few(x$dims[["n"]], taxa, presences)
  check_tells(x$column_sum, x$dims[["n"]] - x$column_missing - x$column_sum)
  k <- shards_k(k, check_flag(quick, "quick"), x$dims[["n"]], taxa)
  n_sites <- as.integer(x$dims[["n"]])
  if (!is.null(completeness)) completeness <- check_completeness(completeness, n_sites, shard_names(x))
  squares <- shards_squares(x, age, place)
  if (!is.null(path)) path <- prepare_answer_folder(path)
  store <- answer_store(control$checkpoint, seed, list(
    x$shards[c("cells", "rows")], squares[c("square", "side")], k, copies, completeness, settings_that_count(control)
  ))
  control["checkpoint"] <- list(store$folder)
  seed <- store$seed %||% seed %||% draw_seeds(1L)
  seeds <- shards_seeds(seed, nrow(x$shards), copies)
  whole <- x
  x <- shards_of_taxa(whole, whole$column_sum > 0) # as in memory, no model is fitted to the others
  on.exit(if (x$path != whole$path) remove_folders(x$path))
  done <- stored_tasks(store, copies)
  judged <- lapply(seq_len(copies), function(copy) {
    done[[copy]] %||% keep_copy(store, copy, judge_shards_copy(x, copy, k, seeds, control, squares))
  })
  learners <- shards_learners(x, k, seeds$fit[copies + 1L], control, squares, "fit-whole")
  on.exit(if (is.null(store)) remove_folders(learners$folder), add = TRUE)
  quality <- shards_quality(judged)
  reason <- if (is.null(completeness)) no_number(quality$table["stack", ], presences, x$dims)
  known <- know_shards(learners, fit_stack(judged), judged, completeness, reason, control)
  taxa <- taxa_of(whole)[whole$column_sum > 0]
  best <- score_all_shards(learners, known, n, path, least, format, seeds$ranges, taxa, control)
  structure(
    list(
      zeros = best$zeros, total = best$total, kappa = known$kappa,
      more = if (is.null(completeness) && is.null(known$reason)) {
        surveys_curve(known, best$n_zeros, ratio = shards_ratio)
      },
      reason = known$reason, source = if (is.null(completeness)) "curve" else "completeness", quality = quality$table,
      weights = known$stack$weights, slope = quality$slope, slope_se = quality$slope_se, expected = best$expected,
      n_zeros = best$n_zeros, hidden = sum(vapply(judged, function(one) sum(one$deleted), 0)),
      left_out = shards_left_out(x, squares, quick),
      near = if (!is.null(squares)) {
        list(bandwidth = learners$near$bandwidth, side = squares$side, squares = length(squares$sites))
      },
      files = best$files, dims = whole$dims, presences = presences, shards = whole, sites = best$sites,
      taxa = all_taxa(best$taxa, whole$column_sum > 0), quick = quick, call = call
    ),
    class = "which_zeros_shards"
  )
}

shards_seeds <- function(seed, n_shards, copies) {
  with_seed(seed, list(
    deal = draw_seeds(n_shards), fit = draw_seeds(copies + 1L), judge = draw_seeds(copies), ranges = draw_seeds(1L)
  ))
}

# Returns the numbers of components of the fits: none for a first look, which rests on companions.
shards_k <- function(k, quick, n, taxa) {
  if (!quick) {
    return(check_counts(k %||% learner_k(n, taxa), "k"))
  }
  if (!is.null(k)) stop_input("`k` must not be supplied with `quick = TRUE`, which fits no model.")
  if (taxa > most_companions) {
    stop_input(
      "`quick = TRUE` rests on pairs of taxa, of at most %s; `x` has %s.", count_words(most_companions, "taxon"),
      count_words(taxa, "taxon")
    )
  }
  integer()
}

# Checks the settings of its fits.
check_fits_control <- function(control) {
  if (is.null(control)) control <- fit_control(n_start = 1, n_polish = 0, max_iter = 100, tol = 1e-6)
  check_control(control)
}

# ---- Checkpoints of a result ----

# Opens the folder `checkpoint` of a call with this `seed` and `parts`: a store of judged copies, see checkpoint.R, with
# `folder` and `seed`; NULL without one. answer.rds holds the seed; fit-<copy>-<number> are folders of fits, with .rds
# of those that are finished.
answer_store <- function(checkpoint, seed, parts) {
  if (is.null(checkpoint)) {
    return(NULL)
  }
  make_folder(checkpoint, "checkpoint")
  ours <- list.files(checkpoint, "^(answer(-judged-[0-9]+)?[.]rds|fit-.*|.*[.]part)$")
  other <- setdiff(list.files(checkpoint), ours)
  if (length(other)) {
    stop_input("`checkpoint` must be a folder of a result of shards, or new: %s holds %s.", dQuote(checkpoint, FALSE),
      show_names(other))
  }
  folder <- normalizePath(checkpoint)
  file <- file.path(folder, "answer.rds")
  fingerprint <- fingerprint_of(list(seed, parts))
  saved <- read_checkpoint(file, fingerprint, "seed")
  if (is.null(saved)) {
    saved <- list(fingerprint = fingerprint, seed = seed %||% draw_seeds(1L))
    write_whole(saved, file)
  }
  c(list(file = file.path(folder, "answer"), stage = "judged", folder = folder), saved)
}

# Stores what was learnt from a copy, whose fits are no longer needed then.
keep_copy <- function(store, copy, judged) {
  store_task(store, copy, judged)
  if (!is.null(store)) remove_folders(list.files(store$folder, sprintf("^fit-%d-", copy), full.names = TRUE))
  judged
}

# Refuses arguments of which_zeros() for tables in memory.
wz_refuse_shards <- function(names) {
  if (length(names)) {
    stop_not_for_shards(
      show_either(sprintf("`%s`", names)), "see ?which_zeros_shards for what does; fit some rows, `x[i, ]`"
    )
  }
}

most_companions <- 5000L # taxa of which m x m numbers are kept

# Learners that shards lack, with the reason.
shards_left_out <- function(x, squares, quick) {
  others <- c(
    free = if (quick) "`quick = TRUE` fits no model",
    smoothed = "it looks at all rows in every iteration", pca = "its iterations scan every zero",
    near = if (is.null(squares)) "neither `age` nor `place` was supplied",
    near_alike = "it compares sites in other shards",
    alike = "it compares all pairs of sites",
    companions = if (x$dims[["m"]] > most_companions) paste("more than", count_words(most_companions, "taxon"))
  )
  stats::setNames(others, learner_names[names(others)])
}

# Assigns each presence of a shard to a tenth, in the order of its cells.
deal_shard <- function(view, seed) with_seed(seed, sample.int(10L, length(view$column), TRUE))

view_presences <- function(view) rep.int(seq_len(view$dim[1L]), diff(view$start))

# Writes copies of shards with one tenth of their presences held out, in a separate folder.
damage_shards <- function(x, seeds, tenth, path) {
  m <- x$dims[["m"]]
  with_run(path, function(run) {
    tables <- list()
    column_sum <- numeric(m)
    for (s in x$shards$shard) {
      view <- read_shard_view(x, s)
      kept <- deal_shard(view, seeds[s]) != tenth
      view <- replace(view, c("start", "column"), kept_cells(view$start, view$column, kept))
      column_sum <- column_sum + tabulate(view$column + 1L, m)
      tables <- c(tables, list(write_shard(run, s, view, list(names = NULL, along = NULL))))
    }
    finish_run(run, tables, x$attributes, list(sum = column_sum, missing = x$column_missing), NULL)
  })
}

# Writes shards with some of their taxa, in a separate folder; with all of them, returns the shards.
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

# Keeps some of the cells in rows: list(start, column).
kept_cells <- function(start, column, kept) {
  rows <- rep.int(seq_len(length(start) - 1L), diff(start))
  list(c(0L, cumsum(tabulate(rows[kept], length(start) - 1L))), column[kept])
}

# Extends a table of the judged taxa to all taxa, with 0 for the others.
all_taxa <- function(table, judged) {
  as.data.frame(lapply(table, function(value) replace(numeric(length(judged)), judged, value)))
}

# Fits the learners to shards x: list(x, fits, companions = m x m or NULL, near = shards_near(), folder: of the fits).
# name: of the fits' folders within the checkpoint, if there is one.
shards_learners <- function(x, k, seed, control, squares = NULL, name = "fit") {
  if (control$algorithm == "auto") control$algorithm <- member_algorithm(sum(x$column_sum), x$dims[c("n", "m")])
  folder <- control$checkpoint %||% tempfile("multicause-fits-")
  make_folder(folder, "checkpoint")
  done <- !is.null(control$checkpoint)
  on.exit(if (!done) remove_folders(folder))
  seeds <- with_seed(seed, draw_seeds(length(k)))
  jobs <- lapply(seq_along(k), function(i) {
    list(i = i, k = k[i], seed = seeds[i], folder = file.path(folder, sprintf("%s-%d", name, i)))
  })
  fits <- if (whole_fits(x, control$cluster)) {
    fits_by_workers(x, jobs, control)
  } else {
    lapply(jobs, fit_learner, x, control)
  }
  companions <- if (x$dims[["m"]] <= most_companions) shards_companions(x)
  out <- list(x = x, fits = fits, companions = companions, near = shards_near(x, squares), folder = folder)
  done <- TRUE
  out
}

# Makes one fit in its folder, or returns the one that an interrupted call had made. A fit that was not finished is
# begun anew: going on from its state would give it further iterations.
fit_learner <- function(job, x, control) {
  made <- paste0(job$folder, ".rds")
  saved <- read_list(made, "fit")
  if (!is.null(saved)) {
    return(saved$fit)
  }
  remove_folders(job$folder)
  control$checkpoint <- job$folder
  prior <- recommended_members$args$prior
  fit <- with_seed(job$seed, quiet_fit(
    aspect_bernoulli(x, job$k, estimate = "map", prior = prior, control = control)
  )$value)
  write_whole(list(fit = fit), made)
  fit
}

# Tests whether each worker makes whole fits rather than its part of every scan: scans of a small table take less time
# than to ask for them.
whole_fits <- function(x, cluster) !is.null(cluster) && sum(x$column_sum) < most_whole
most_whole <- 1e6

fits_by_workers <- function(x, jobs, control) {
  cluster <- control$cluster
  control["cluster"] <- list(NULL)
  control$progress <- FALSE
  worker <- share_largest(vapply(jobs, `[[`, 0, "k"), length(cluster))
  own <- lapply(unique(worker), function(w) {
    list(
      version = own_version(), run = fit_run, worker = w, fits = jobs[worker == w], x = x, control = control,
      mark = basename(tempfile("fits"))
    )
  })
  found <- unlist(lapply(do_on_workers(cluster, control$patience, own, is_fits), `[[`, "fits"), recursive = FALSE)
  found[order(unlist(lapply(own, function(job) vapply(job$fits, `[[`, 0L, "i"))))]
}

fit_run <- function(job) list(of = job$mark, fits = lapply(job$fits, fit_learner, job$x, job$control))

is_fits <- function(value, job) is.list(value) && identical(value$of, job$mark)

# Assigns each weight to one of n workers: the largest first, to the one with the least.
share_largest <- function(weight, n) {
  load <- numeric(n)
  worker <- integer(length(weight))
  for (i in order(-weight)) {
    worker[i] <- which.min(load)
    load[worker[i]] <- load[worker[i]] + weight[i]
  }
  worker
}

# Computes companion_table() by sums over shards.
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

# Returns one shard for the learners: its cells, and the memberships of each fit.
learner_shard <- function(learners, s) {
  x <- learners$x
  view <- read_shard_view(x, s)
  list(
    view = view, size = diff(view$start), near = learners$near$at[row_numbers(x, s)],
    membership = lapply(learners$fits, function(fit) own_rows(fit, s)[, fit$order, drop = FALSE])
  )
}

# Returns the regression's input for cells (i, j) of a shard, all zeros: a matrix with a column for each learner.
cell_learners <- function(learners, shard, i, j) {
  free <- mean_prediction(learners$fits, function(f, aspects) {
    rowSums(shard$membership[[f]][i, , drop = FALSE] * t(aspects[, j, drop = FALSE]))
  })
  companions <- NULL
  if (!is.null(learners$companions)) {
    each <- shard$size[i]
    companion <- shard$view$column[rep.int(shard$view$start[i], each) + sequence(each)] + 1L
    own <- learners$companions[cbind(companion, rep.int(j, each))]
    sums <- run_sums(own, companion, each, nrow(learners$companions))
    companions <- ifelse(each > 0, sums / pmax(each, 1), shards_rate(learners$x)[j])
  }
  near <- if (!is.null(learners$near)) near_probabilities(learners$near$table, learners$near$sums, shard$near[i], j)
  learner_columns(free, near, companions, learners$x$column_sum[j])
}

# Averages what `predicted(f, aspects)` returns for each fit; NULL without fits.
mean_prediction <- function(fits, predicted) {
  p <- NULL
  for (f in seq_along(fits)) p <- (p %||% 0) + unname(predicted(f, fits[[f]]$param$aspects))
  if (!is.null(p)) p / length(fits)
}

shards_rate <- function(x) x$column_sum / pmax(x$dims[["n"]] - x$column_missing, 1)

# Names the columns as learn_table() does; `sums`: presences of the cell's taxon.
learner_columns <- function(free, near, companions, sums) {
  presences <- log1p(pmax(sums, 1))
  scores <- Filter(Negate(is.null), list(free = free, near = near, companions = companions))
  scores$companions <- if (!is.null(companions)) pmin(companions, 1)
  # cbind() without cells would give NULL a column.
  cbind(do.call(cbind, lapply(scores, score_odds)), presences = presences, presences_squared = presences^2)
}

# Evaluates one copy: the held-out cells and a sample of other zeros, as in learn_task(), and the probability that each
# held-out one ranks above another zero of its site.
judge_shards_copy <- function(x, copy, k, seeds, control, squares = NULL) {
  path <- tempfile("multicause-copy-")
  damaged <- damage_shards(x, seeds$deal, copy, path)
  on.exit(remove_folders(path))
  learners <- shards_learners(damaged, k, seeds$fit[copy], control, squares, sprintf("fit-%d", copy))
  on.exit(if (is.null(control$checkpoint)) remove_folders(learners$folder), add = TRUE)
  seen <- damaged$column_sum > 0
  n_others <- sum((damaged$dims[["n"]] - damaged$column_missing - x$column_sum)[seen])
  n_deleted <- sum(x$column_sum) - sum(damaged$column_sum)
  share <- c(zeros = min(1, most_judged / n_others), paired = min(1, most_pairs / (zeros_a_pair * n_deleted)))
  parts <- map_shards(x, control, judge_one, x, learners, copy, seeds$deal, seeds$judge[copy], seen, share)$own
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

zeros_a_pair <- 20L # zeros of its own site that a held-out presence is compared with
most_pairs <- 2e6 # of these, in all shards

judge_one <- function(s, x, learners, tenth, deal, seed, seen, share) {
  list(own = list(with_seed(seed %% 1e6 + s, judge_shard(x, learners, s, tenth, deal[s], seen, share))))
}

# Scores one shard: its held-out presences (of taxa that are `seen` without them), a sample of other zeros, about
# share["zeros"] of them, and for about share["paired"] of the held-out presences some zeros of its row, in `pairs`,
# `pair` being its number among the held-out and `site` its row in the whole table.
judge_shard <- function(x, learners, s, tenth, seed, seen, share) {
  whole <- read_shard_view(x, s)
  row <- view_presences(whole)
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
  # Each cell needs a row of memberships, so not all cells are scored at a time.
  score <- function(i, j) {
    blocks <- row_blocks(seq_along(i), max(1L, vapply(shard$membership, ncol, 0L)), cells_at_a_time)
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

# Computes the ranking of held-out presences: each copy by weights from the others, and by each learner alone.
shards_quality <- function(judged) {
  each <- lapply(seq_along(judged), function(at) {
    copy <- judged[[at]]
    fit <- fit_stack(judged[-at])
    scores <- function(z) cbind(stack = stack_odds(fit, z), z[, of_learner(z), drop = FALSE])
    odds <- scores(copy$odds)
    near <- scores(copy$pairs)
    above <- odds[copy$deleted, , drop = FALSE][copy$pair, , drop = FALSE] - near
    of_presence <- rowsum((above > 0) + (above == 0) / 2, copy$pair) / as.vector(rowsum(rep(1, nrow(near)), copy$pair))
    within <- rbind(colMeans(of_presence), apply(of_presence, 2L, mean_se))
    ranks <- lapply(ranking(odds, copy$deleted), function(told) told[2L, ])
    probability <- stats::plogis(odds[, "stack"] + log(copy$rate) - log(copy$fraction))
    list(
      auc = ranks$auc, auc_se = ranks$se, within = within[1L, ], within_se = within[2L, ], probability = probability,
      hit = copy$deleted
    )
  })
  measure <- function(name) matrix(vapply(each, `[[`, each[[1L]][[name]], name), ncol = length(each))
  names <- names(each[[1L]]$within)
  line <- calibration_line(unlist(lapply(each, `[[`, "probability")), unlist(lapply(each, `[[`, "hit")))
  list(
    table = data.frame(
      learner = c("this result", unname(learner_names[names[-1L]])), auc = rowMeans(measure("auc"), na.rm = TRUE),
      auc_se = error_of_mean(measure("auc_se")), auc_within = rowMeans(measure("within"), na.rm = TRUE),
      auc_within_se = error_of_mean(measure("within_se")), row.names = names
    ),
    slope = line[["slope"]], slope_se = line[["slope_se"]]
  )
}

# Hands a state on through a shard's rows, in order and some at a time: state <- f(state, cells). cells: from
# open_cells(), and `rows`, their numbers in the whole table.
scan_open_rows <- function(learners, s, state, f) {
  shard <- learner_shard(learners, s)
  numbers <- row_numbers(learners$x, s)
  for (rows in row_blocks(seq_along(numbers), shard$view$dim[2L], cells_at_a_time)) {
    state <- f(state, c(open_cells(learners, shard, rows), list(rows = numbers[rows])))
  }
  state
}

# Returns the cells of some rows of a shard that are not presences, for taxa with presences: `at`, their places in a
# rows x taxa matrix, `i` and `j`, `zero` (FALSE: unknown), and the regression's input, `z`.
open_cells <- function(learners, shard, rows) {
  x <- learners$x
  view <- view_rows(shard$view, rows)
  p <- mean_prediction(learners$fits, function(f, aspects) shard$membership[[f]][rows, , drop = FALSE] %*% aspects)
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
    near_probabilities(learners$near$table, learners$near$sums, shard$near[rows[i]], j, 0, 1 - zero[at])
  }
  list(
    at = at, i = i, j = j, zero = zero[at], size = shard$size[rows],
    z = learner_columns(if (!is.null(p)) p[at], near, companions, x$column_sum[j])
  )
}

# Scores all zeros: the best n, the sum of all probabilities, sums by site and by taxon, and files by shard. `taxa`:
# their labels.
score_all_shards <- function(learners, known, n, path, least, format, seed, taxa, control) {
  x <- learners$x
  wanted <- list(n = n, path = path, least = least, format = format, taxa = taxa)
  scores <- map_shards(x, control, score_shard, learners, known, seed, wanted, join = join_scores)
  best <- scores$own$best
  rownames(best) <- NULL
  taxa <- utils::relist(scores$sum, new_shard_sums(x, known, seed, 1L)$taxa)
  c(finish_sums(known, do.call(rbind, scores$own$sites), taxa, x$column_sum, seed), list(
    zeros = best[setdiff(names(best), c("number", "column"))], expected = taxa$expected, n_zeros = sum(taxa$zeros),
    files = scores$own$files
  ))
}

# Joins the results of consecutive runs of shards: the best n of both.
join_scores <- function(a, b) {
  list(n = a$n, best = best_of(rbind(a$best, b$best), a$n), sites = c(a$sites, b$sites), files = c(a$files, b$files))
}

best_of <- function(zeros, n) utils::head(zeros[order(-zeros$probability, zeros$number, zeros$column), ], n)

# Scores one shard for score_all_shards(), and writes its file: list(own, sum).
score_shard <- function(s, learners, known, seed, wanted) {
  x <- learners$x
  names <- list(rows = row_numbers(x, s), sites = read_shard_rows(x, s)$names, taxa = wanted$taxa)
  file <- if (!is.null(wanted$path)) file.path(wanted$path, sprintf("zeros-%05d.%s", s, wanted$format))
  if (!is.null(file)) {
    answer <- new_answer(file, wanted$format)
    on.exit(answer$drop())
  }
  n <- wanted$n
  state <- list(sums = new_shard_sums(x, known, seed, names$rows), best = NULL)
  state <- scan_open_rows(learners, s, state, function(state, cells) {
    found <- add_cells(state$sums, cells)
    state$sums <- found$sums
    floor <- if (NROW(state$best) >= n) state$best$probability[n] else -Inf
    top <- which(found$probability >= floor)
    if (length(top) > n) top <- top[order(-found$probability[top], found$i[top], found$j[top])[seq_len(n)]]
    state$best <- best_of(rbind(state$best, name_zeros(found, top, cells$rows, names)), n)
    if (!is.null(file)) {
      some <- name_zeros(found, which(found$probability >= wanted$least), cells$rows, names)
      answer$add(some[setdiff(names(some), c("number", "column"))])
    }
    state
  })
  if (!is.null(file)) answer$close()
  list(
    own = list(n = n, best = state$best, sites = list(state$sums$sites), files = file),
    sum = unlist(state$sums$taxa, use.names = FALSE)
  )
}

# Returns some of the zeros that add_cells() found as rows of a result.
name_zeros <- function(found, at, rows, names) {
  number <- rows[1L] - 1 + found$i[at]
  data.frame(
    site = if (is.null(names$sites)) number else names$sites[match(number, names$rows)],
    taxon = names$taxa[found$j[at]], probability = found$probability[at], found$ends[at, , drop = FALSE],
    number = number, column = found$j[at]
  )
}

taxa_of <- function(x) x$attributes %||% seq_len(x$dims[["m"]])

#' @export
print.which_zeros_shards <- function(x, n = 5L, ...) {
  check_dots(...)
  n <- check_shown(n)
  q <- x$quality
  writeLines(wrap_text(sprintf(
    "Which zeros are false absences? Shards of %s, %s, %s", table_words(x$dims), count_words(x$presences, "presence"),
    count_words(x$n_zeros, "zero")
  ), exdent = 2))
  if (is.null(x$reason)) {
    print_numbers(shards_numbers(x))
  } else {
    writeLines(wrap_text(no_number_sentence(x$reason, "a known `completeness`"), exdent = 2))
  }
  print_zeros(utils::head(x$zeros, n), c("sites", "taxa"), x$dims, x$n_zeros, nrow(x$zeros))
  cat("\n")
  learners <- sprintf("%s %.3f", q$learner[-1L], q$auc[-1L])
  writeLines(wrap_text(c(
    hidden_sentence(q["stack", ], x$hidden, c("sites", "taxa")), slope_sentence(x$slope, x$slope_se, x$hidden),
    paste0("AUC of the learners alone: ", paste(learners, collapse = ", "), "."),
    paste0("Not in the result: ", paste(names(x$left_out), collapse = "; "), "."),
    if (x$quick) "A first look that fits no model; `quick = FALSE` gives the result."
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

# Number of false zeros of shards: the estimate of which_zeros() in memory, by sums over runs of rows. One pass over all
# cells computes the log-odds of the zeros, another, with known completeness, the presences that the learners expect at
# each site; the last adds up. Numbers of each site and taxon are in memory, those of cells are not.

# Value of usual_ratio for the predictability of the presences that copies hold out.
shards_ratio <- 0.89

# Computes log_odds_bins() of all zeros of shards.
shard_bins <- function(learners, stack, control = NULL) {
  bins <- add_bins(do.call(rbind, map_shards(learners$x, control, bins_of_shard, learners, stack)$own))
  list(eta = bins[, "sum"] / bins[, "count"], count = bins[, "count"])
}

bins_of_shard <- function(s, learners, stack) {
  list(own = list(scan_open_rows(learners, s, NULL, function(bins, cells) {
    own <- log_odds_bins(stack_odds(stack, cells$z)[cells$zero])
    add_bins(rbind(bins, cbind(bin = round(own$eta / bin_width), sum = own$eta * own$count, count = own$count)))
  })))
}

# Adds up rows of the same bin.
add_bins <- function(bins) {
  out <- rowsum(bins[, c("sum", "count"), drop = FALSE], bins[, "bin"])
  cbind(bin = as.numeric(rownames(out)), sum = unname(out[, 1L]), count = unname(out[, 2L]))
}

# Computes the inputs of the last pass: list(stack, calibrated; kappa and presences; reason; total). With known
# completeness (n x 2), `expected` are the presences expected at each site, else `ratios` are those of all zeros. The
# predictability is that of the presences that copies hold out, because leaving out one presence at a time would need
# the presences of all sites. Taxa found nearly everywhere are included.
know_shards <- function(learners, stack, judged, completeness, reason = NULL, control = NULL) {
  presences <- sum(learners$x$column_sum)
  zeros <- list(
    eta = unlist(lapply(judged, function(copy) stack_odds(stack, copy$odds[!copy$deleted, , drop = FALSE]))),
    count = unlist(lapply(judged, function(copy) rep(1 / copy$fraction / length(judged), sum(!copy$deleted))))
  )
  line <- calibrate_probabilities(zeros, hidden_log_odds(judged, stack), presences)
  kappa <- 1 - sum(zeros$count * stats::plogis(line[1L] + line[2L] * zeros$eta)) / presences
  if (is.null(completeness)) reason <- reason %||% nothing_missed(kappa, shards_ratio)
  known <- list(stack = calibrated_stack(stack, line), kappa = kappa, presences = presences, reason = reason)
  known$total <- if (is.null(reason)) {
    total_by_surveys(known, shards_ratio)
  } else {
    c(missed = NA_real_, low = NA_real_, high = NA_real_)
  }
  if (is.null(completeness)) {
    bins <- tilted(shard_bins(learners, known$stack, control), curve_slope)
    known$ratios <- new_ratios(vapply(known$total, log_ratio_of, 0, bins = bins), 0L, curve_slope)
    known$relative <- relative_draws(known$total)
  } else {
    of_sites <- shard_odds(learners, known$stack, control)
    known$completeness <- completeness
    known$expected <- of_sites$odds * expected_factor(of_sites$odds, of_sites$presences, rowMeans(completeness))
  }
  known
}

# Computes for each site the sum of the odds of its zeros, and its presences.
shard_odds <- function(learners, stack, control = NULL) {
  sites <- do.call(rbind, map_shards(learners$x, control, odds_of_shard, learners, stack)$own)
  list(odds = sites[, 1L], presences = sites[, 2L])
}

odds_of_shard <- function(s, learners, stack) {
  list(own = list(scan_open_rows(learners, s, NULL, function(sites, cells) {
    eta <- stack_odds(stack, cells$z)
    odds <- tabulate_sums(exp(pmin(eta, 300)) * cells$zero, cells$i, length(cells$rows))
    rbind(sites, cbind(odds, cells$size, deparse.level = 0L))
  })))
}

# Puts values of cells into a matrix.
spread_cells <- function(shape, at, value, others = 0) {
  out <- matrix(others, shape[1L], shape[2L])
  out[at] <- value
  out
}

# Creates the sums of the last pass over a shard with these rows: `sites`, a row each, and `taxa`, which are added over
# shards: the sum of probabilities, zeros and missed of each taxon, and with known completeness draws of the total and
# of each taxon. known: from know_shards().
new_shard_sums <- function(x, known, seed, rows) {
  m <- x$dims[["m"]]
  drawn <- if (is.null(known$completeness)) 0L else n_draws
  list(
    known = known, seed = seed, before = rows[1L] - 1L,
    sites = data.frame(presences = numeric(length(rows)), zeros = 0, missed = 0, low = 0, high = 0),
    taxa = list(
      expected = 0, zeros = numeric(m), missed = numeric(m), total_drawn = numeric(drawn), drawn = matrix(0, m, drawn)
    )
  )
}

# Adds the cells of a run of rows: list(sums, i, j, probability, ends), the last four of its zeros.
add_cells <- function(sums, cells) {
  known <- sums$known
  taxa <- sums$taxa
  m <- length(taxa$zeros)
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
  sums$sites[cells$rows - sums$before, ] <- data.frame(
    cells$size, tabulate(i, shape[1L]), rowSums(missed), outward_ends(ends_of_draws(drawn$sites))
  )
  taxa$expected <- taxa$expected + sum(probability)
  taxa$zeros <- taxa$zeros + tabulate(cells$j[zero], m)
  taxa$missed <- taxa$missed + colSums(missed)
  if (!is.null(known$completeness)) {
    taxa$drawn <- taxa$drawn + drawn$taxa
    taxa$total_drawn <- taxa$total_drawn + colSums(drawn$sites)
  }
  sums$taxa <- taxa
  list(sums = sums, i = i, j = cells$j[zero], probability = probability, ends = data.frame(ends[-1L]))
}

# Returns list(total, sites, taxa) after all cells were added; presences: of each taxon.
finish_sums <- function(known, sites, taxa, presences, seed) {
  drawn <- taxa$drawn
  if (is.null(known$completeness)) {
    # With one ratio taxa have the scatter of the table, not of runs of rows.
    missed <- matrix(taxa$missed, 1L)
    drawn <- with_seed(seed, draw_sums(missed, 0 * missed, known$relative)$taxa)
    total <- pmin(known$total, sum(taxa$zeros))
  } else {
    total <- range_about(sum(taxa$missed), taxa$total_drawn)
  }
  by_taxon <- data.frame(presences = presences, zeros = taxa$zeros, missed = taxa$missed)
  by_taxon[c("low", "high")] <- outward_ends(ends_of_draws(drawn))
  list(total = total, sites = sites, taxa = by_taxon)
}

# Returns the ratios of some rows, as how_many() does.
shard_ratios <- function(known, rows, presences, eta) {
  if (is.null(known$completeness)) {
    return(known[c("ratios", "relative")])
  }
  ratios_expected(eta, is.finite(eta), known$expected[rows], presences, known$completeness[rows, , drop = FALSE])
}

# Returns by_site() and by_taxon() of shards.
shards_sums <- function(w, side, groups) {
  if (!is.null(groups)) {
    stop_not_for_shards("`groups`", "draws by site would have to be in memory; leave it out")
  }
  values <- w[[c("sites", "taxa")[side]]]
  labels <- if (side == 2L) taxa_of(w$shards) else shard_names(w$shards) %||% seq_len(w$dims[["n"]])
  list(
    table = sums_table(labels, values$presences, values$zeros, values$missed, values[c("low", "high")], NULL),
    assumption = wz_words[[w$source]]
  )
}

zeros_in_pieces.shards <- function(x, given, ...) {
  wz_refuse_shards(setdiff(given, c("", names(formals(which_zeros_shards)))))
  which_zeros_shards(x, ...)
}
