# Visits held out: all records of a visit to an observation at a time, told by the other visits to it.

# Folds of the visits that were made: list of index vectors into the array. An observation's visits are dealt to the
# folds in turn, so that none loses all of its visits, and no fold takes all observations of a visit.
visit_folds <- function(cell, folds) {
  d <- dim(cell)
  lapply(cell_folds(visits_made(cell), folds), function(pairs) {
    i <- (pairs - 1L) %% d[1L] + 1L
    v <- (pairs - 1L) %/% d[1L]
    at <- as.vector(outer(i + v * d[1L] * d[2L], (seq_len(d[2L]) - 1L) * d[1L], "+"))
    sort(at[!is.na(cell[at])])
  })
}

# n x visits.
visits_made <- function(cell) matrix(apply(!is.na(cell), c(1L, 3L), any), dim(cell)[1L])

check_tells_visits.visits_bernoulli <- function(fit) {
  if (fit$missed_by == "site") {
    stop_input(paste(
      "`missed_by = \"site\"` tells nothing of a visit that was held out: give `missed_by = \"taxon\"`,",
      "`missed_by = \"visit\"` or `detection`, or hold out cells."
    ))
  }
}

# As held_out_loss() of tables has it; where misses go by observation, which tells nothing of a visit that it has not
# seen, single records are held out.
held_out_loss.visits_bernoulli_problem <- function(problem, smooth, control) {
  cell <- problem$cell
  seeds <- draw_seeds(2L)
  control <- short_starts(control)
  held <- with_seed(seeds[1L], if (problem$settings$missed_by == "site") {
    cell_folds(matrix(!is.na(cell), nrow(cell)), smooth$folds)
  } else {
    visit_folds(cell, smooth$folds)
  })
  parts <- lapply(held, function(at) {
    problem$cell <- replace_cells(cell, at)
    problem$data <- check_data(any_visit(problem$cell), "binary", quiet = TRUE)
    problem["near"] <- list(NULL)
    problem
  })
  first <- with_seed(seeds[2L], lapply(parts, function(part) run_starts(part, control)$best$param))
  smoothed_losses(smooth, parts, first, control, function(param, f) {
    chance <- recorded_probability(bare_visits_fit(parts[[f]], param))[held[[f]]]
    mean(loss_of_mean(chance, NULL, cell[held[[f]]], "bernoulli", 1e-6))
  })
}

# As much of a fit as recorded_probability() asks for.
bare_visits_fit <- function(problem, param) {
  settings <- problem$settings
  by <- settings$by
  if (!is.null(by)) {
    param$detection <- by$basis %*% param$slopes
    by[c("mean", "spread")] <- settings$share[c("mean", "spread")]
  }
  d <- dim(problem$cell)
  fit <- list(
    param = param, missed_by = settings$missed_by, visits = problem$cell, detection = by,
    dims = c(n = d[1L], m = d[2L], k = problem$k)
  )
  structure(fit, class = c("visits_bernoulli", "aspect_bernoulli", "multicause"))
}
