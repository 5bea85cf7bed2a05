# Fits of tables in shards, for any model. One process, the driver, holds the parameters that all rows share and runs
# the iterations; the shards are scanned here, one after another, or by workers (shards_workers.R). A scan updates the
# parameters of a shard's rows and returns sums over its rows (src/engine/shards.h).
#
# The rows' parameters are files in one folder, one version each: a scan reads one version and writes the next. What the
# engine saves and restores (src/engine/fit.h) are then version numbers, and a scan repeated by another worker writes
# the same file. Tests: test-shards_fit.R.
#
# A model is described by a list, shard_model(), which is sent to the workers: its settings and `k`; except its element
# `here`, which stays with the driver. It must have methods for the first five of these generics.

# Describes a model with settings `...`. rows: the kernel's name of the rows' parameters, NULL without; space: the set
# that extrapolated ones must lie in, see mc_c_shard_extrapolate(), "kept" if they are not numbers to extrapolate;
# first: their starting values; turned: whether the kernel stores those of a row in a column.
shard_model <- function(class, k, ..., rows = "membership", space = "simplex", first = 1 / k, turned = FALSE) {
  structure(list(k = k, ..., rows = rows, space = space, first = first, turned = turned), class = class)
}

# Scans a shard's cells `view`, or runs the driver, `view` being a table without rows (glue_sum_model() of
# src/glue/shards.h). `param` has the shared parameters; for a scan also those of the rows, evaluate, caps, before, the
# result of known_rows(), and by_row, the result of sent_rows() for these rows; for the driver: steps, near_end, go_on.
shard_kernel <- function(model, view, param, control) UseMethod("shard_kernel")

# Checks the user's starting values: list(shared = list of parameters, rows = matrix of all rows, or NULL).
shard_start <- function(model, start, x) UseMethod("shard_start")

# Fits the model in memory to `rows` sampled from all shards; at: their numbers.
fit_sample <- function(model, rows, at, control) UseMethod("fit_sample")

# Converts the shared parameters of that fit to starting values; `share`: of presences in each column.
sampled_shared <- function(model, fit, share) UseMethod("sampled_shared")

# Default for a basis whose rows sum to 1, as those of the sample's fit do.
sampled_shared.default <- function(model, fit, share) {
  list(basis = mix_shares(unname(fit$param$basis), share / sum(share)))
}

# Completes the result from the parts common to all models, new_shards_fit(). `found`: the driver's final shared
# parameters; `free`: whether components may be reordered.
finish_shards <- function(model, fit, found, free) UseMethod("finish_shards")

# Returns the extent of the parameters of n rows in files.
rows_extent <- function(model, n) UseMethod("rows_extent")

rows_extent.default <- function(model, n) c(n, model$k)

# Tests whether a numeric matrix from a file can be parameters of rows.
are_rows <- function(model, rows) UseMethod("are_rows")

are_rows.default <- function(model, rows) {
  all(is.finite(rows)) && (model$space == "real" || all(rows >= 0)) &&
    (model$space != "simplex" || all(abs(rowSums(rows) - 1) < 1e-6))
}

# Returns what a scan must know of these rows beside their cells, a list; NULL: nothing, for all rows.
known_rows <- function(model, numbers) UseMethod("known_rows")

known_rows.default <- function(model, numbers) NULL

# Returns the driver's function of the parameters of all rows before a scan, which returns list(beside = their term of
# the objective, by_row = a matrix with a column per row, of which each shard is sent its part for an iteration); NULL:
# none, and the parameters are not read.
sent_rows <- function(model, n_threads) UseMethod("sent_rows")

sent_rows.default <- function(model, n_threads) NULL

# Returns parameters of rows consistent with the shared ones, before any iteration has made them.
settle_rows <- function(model, rows, shared, known) UseMethod("settle_rows")

settle_rows.default <- function(model, rows, shared, known) rows

# Fits `model` to shards x; `objective`: its name.
fit_shards <- function(x, model, objective, start, control, call) {
  folder <- prepare_fit_folder(control$checkpoint)
  done <- FALSE
  on.exit(if (!done && is.null(control$checkpoint)) remove_folders(folder))
  marked <- unclass(model)
  marked$here$near <- NULL # large, and follows from the rest
  mark <- fingerprint_of(list(
    x$shards[c("cells", "rows")], marked, start, control$algorithm, control$accelerate
  ))
  saved <- read_state(folder, mark)
  out <- as_owner(folder, mark, function(owner) {
    sampled <- NULL
    state <- saved
    if (is.null(state)) {
      begun <- begin_shards(x, model, start, control, folder, owner)
      sampled <- begun$starts
      state <- list(
        fingerprint = mark, shared = begun$shared, version = 0L, iterations = 0L, near_end = !is.null(begun$starts)
      )
    }
    driver <- new_driver(x, folder, claim_versions(folder, state, owner), model, control)
    out <- run_driver(driver)
    check_outcome(out$outcome)
    fit <- new_shards_fit(x, model, out$outcome, objective, list(
      folder = folder, version = driver$current, starts = sampled, call = call
    ), control)
    finish_shards(model, fit, out[setdiff(names(out), "outcome")], free = !is.null(sampled))
  })
  done <- TRUE
  if (is.null(control$checkpoint)) out$folder <- kept_with(out$folder)
  out
}

# Ties a temporary folder to the fits that name it, and removes it with the last; a forked process leaves it alone.
kept_with <- function(folder) {
  keeper <- list2env(list(folder = as.vector(folder), pid = Sys.getpid()), parent = emptyenv())
  reg.finalizer(keeper, function(keeper) if (keeper$pid == Sys.getpid()) remove_folders(keeper$folder))
  structure(folder, keeper = keeper)
}

# Checks that `k` components are possible for the shards' columns and this machine.
check_shards_k <- function(k, x, least = 1L) {
  k <- check_count(k, "k", least)
  m <- x$dims[["m"]]
  check_memory(8 * copies_of_parameters * k * m, sprintf("`k` = %d, for %s,", k, count_words(m, "column")))
  k
}

# Checks that the prior is a single one, a list of `parts` in numbers.
one_prior <- function(prior, parts) {
  if (!is.list(prior) || is.null(names(prior))) {
    stop_input(paste(
      "`prior` of a fit to shards must be list(%s): \"cv\" and several priors do not go with shards; choose by some",
      "rows, `x[i, ]`."
    ), parts)
  }
  prior
}

# Prepares the folder of the rows' parameters and the checkpoint.
prepare_fit_folder <- function(checkpoint) {
  folder <- if (is.null(checkpoint)) tempfile("multicause-fit-") else checkpoint
  make_folder(folder, "checkpoint")
  ours <- list.files(folder, "^membership-.*[.]bin|^known-[0-9]+[.]rds$|^sent-.*[.]bin$|[.]part$")
  other <- setdiff(list.files(folder), c("state.rds", "owner", ours))
  if (length(other)) {
    stop_input("`checkpoint` must be a folder of a fit to shards, or new: %s holds %s.", dQuote(folder, FALSE),
      show_names(other))
  }
  normalizePath(folder)
}

state_file <- function(folder) file.path(folder, "state.rds")

# Reads the saved state of a fit, as written by write_state(); NULL if there is none.
read_state <- function(folder, mark) read_checkpoint(state_file(folder), mark, c("shared", "version", "iterations"))

membership_file <- function(folder, shard, version) {
  file.path(folder, sprintf("membership-%05d-%06d.bin", shard, version))
}

sent_file <- function(folder, shard, version) file.path(folder, sprintf("sent-%05d-%06d.bin", shard, version))

# File that names the call which owns a folder.
owner_file <- function(folder) file.path(folder, "owner")

known_file <- function(folder, shard) file.path(folder, sprintf("known-%05d.rds", shard))

read_known <- function(folder, shard) {
  saved <- read_list(known_file(folder, shard), c("shard", "known"))
  if (!identical(saved$shard, shard)) {
    stop_shard_file(known_file(folder, shard), "was cut off or changed after it was written")
  }
  saved$known
}

# Starting values: the user's, or those of the best fit to a sample of rows.

start_rows <- 5000L

begin_shards <- function(x, model, start, control, folder, owner) {
  seed <- draw_seeds(1L)
  starts <- NULL
  if (is.null(start)) {
    sampled <- sample_start(x, model, control, seed)
    start <- list(shared = sampled$shared)
    starts <- sampled$starts
  } else {
    start <- shard_start(model, start, x)
  }
  for (s in if (!is.null(model$rows)) x$shards$shard) {
    numbers <- row_numbers(x, s)
    known <- known_rows(model, numbers)
    check_owner(folder, owner)
    if (!is.null(known)) write_whole(list(shard = s, known = known), known_file(folder, s))
    extent <- rows_extent(model, x$shards$rows[s])
    rows <- matrix(model$first, extent[1L], extent[2L])
    if (!is.null(start$rows)) rows <- start$rows[numbers, , drop = FALSE]
    rows <- settle_rows(model, rows, start$shared, known)
    write_vectors(list(as.double(rows)), membership_file(folder, s, 0L))
  }
  list(shared = start$shared, starts = starts)
}

# Fits a sample of rows from all shards, large enough for good starting values.
sample_start <- function(x, model, control, seed) {
  n <- x$dims[["n"]]
  at <- with_seed(seed, sort(sample(n, min(n, start_rows))))
  rows <- x[at, ]
  rownames(rows) <- NULL
  control[c("cluster", "checkpoint")] <- list(NULL)
  control[c("n_polish", "max_iter", "keep_x", "keep_starts")] <- list(0L, min(control$max_iter, 200L), TRUE, FALSE)
  control$tol <- max(control$tol, 1e-7)
  class(control) <- "multicause_control"
  fit <- quiet_fit(fit_sample(model, rows, at, control))$value
  share <- (x$column_sum + 1) / (n - x$column_missing + 2)
  list(shared = sampled_shared(model, fit, share), starts = fit$starts)
}

# Mixes a part of the columns' shares into each row: a taxon absent from the sample must not be impossible.
mix_shares <- function(values, share) 0.95 * values + 0.05 * rep(share, each = nrow(values))

# Returns what a scan of a run of shards needs beside the shared parameters; `x`: the shards' files.
scan_job <- function(x, run, folder, model, control) {
  knows <- !is.null(known_rows(model, integer()))
  model$here <- NULL
  list(
    version = own_version(), run = scan_shards, x = part_of_shards(x, run), shards = run,
    folder = folder, model = model, knows = knows, control = scan_control(control), keep = FALSE, worker = 1L
  )
}

# Returns what read_shard_view() needs for some shards.
part_of_shards <- function(x, run) {
  columns <- c("shard", "rows", "ones", "missing", "cells")
  list(path = x$path, dims = x$dims, shards = as.list(x$shards[run, columns]))
}

scan_control <- function(control, algorithm = control$algorithm) {
  list(max_iter = 1L, tol = 1, accelerate = FALSE, n_threads = control$n_threads, algorithm = algorithm)
}

# Returns the jobs of a scan: one, or one per worker.
scan_jobs <- function(x, folder, model, control) {
  workers <- control$cluster
  runs <- list(x$shards$shard)
  if (!is.null(workers)) {
    runs <- share_shards(x$shards$ones + x$shards$missing + 5 * x$shards$rows, length(workers))
  }
  lapply(which(lengths(runs) > 0L), function(i) {
    job <- scan_job(x, runs[[i]], folder, model, control)
    job$keep <- !is.null(workers) || scan_bytes(x, model) <= kept_bytes
    job$worker <- i
    job
  })
}

# A table up to this size is read once per fit, not once per iteration. Of the rows' parameters there are up to five
# versions.
kept_bytes <- 2^27

scan_bytes <- function(x, model) {
  own <- if (is.null(model$rows)) 0 else prod(rows_extent(model, x$dims[["n"]]))
  5 * 8 * own + 4 * sum(x$shards$ones, x$shards$missing, x$shards$rows)
}

# Runs fit(owner) in a folder that this call owns from now on; partial files of others are removed. A call that has not
# ended, as of a job submitted twice, stops when it sees another owner, whatever error it then meets.
as_owner <- function(folder, mark, fit) {
  owner <- basename(tempfile(mark))
  writeLines(owner, owner_file(folder))
  remove_files(list.files(folder, "[.]part$|^sent-", full.names = TRUE))
  catch_error(fit(owner), function(e) {
    check_owner(folder, owner)
    stop(e)
  })
}

check_owner <- function(folder, owner) {
  # A missing file causes a warning.
  found <- catch_error(suppressWarnings(readLines(owner_file(folder))), function(e) "")
  if (!identical(found, owner)) {
    stop_input("`checkpoint` must be a folder of one fit at a time: another call has begun in %s.",
      dQuote(folder, FALSE))
  }
}

# Adds to the saved state `newest`, the number of the rows' newest version, and `mark`, the owner's. Workers of a call
# that ended may still write its next version, so that number is skipped.
claim_versions <- function(folder, saved, owner) {
  saved$newest <- max(saved$version, saved$newest, newest_version(folder)) + 1L
  check_owner(folder, owner)
  write_whole(saved, state_file(folder))
  saved$mark <- owner
  saved
}

# The driver's side of the iterations. Its kernel requests scans, and decides what becomes of the current point
# (engine/fit.h); the state that changes is an environment:
#   current, newest   versions of the rows' parameters: of the current point, and the last one written
#   slots             those of theta_0 to theta_2 of the cycle
#   safe              those that a checkpoint needs
#   point             shared parameters of theta_0
#   step              of an extrapolation that the next scans make, list(length, shared = parameters of that point)
#   iterations        how many were made
new_driver <- function(x, folder, saved, model, control) {
  before <- saved$before
  driver <- list2env(list(
    x = x, folder = folder, model = model, control = control, saved = saved, current = saved$version,
    newest = saved$newest, slots = c(before$version, rep(NA_integer_, 3L))[1:3],
    safe = c(saved$version, before$version), point = before$shared, step = NULL, iterations = saved$iterations
  ), parent = emptyenv())
  driver$workers <- if (is.character(control$cluster)) open_workers(control$cluster, control$patience)
  driver$jobs <- scan_jobs(x, folder, model, control)
  driver$look_at_all <- sent_rows(model, control$n_threads)
  driver
}

run_driver <- function(driver) {
  saved <- driver$saved
  param <- c(saved$shared, list(
    steps = driver_steps(driver), near_end = !isFALSE(saved$near_end)
  ))
  param$go_on <- saved$before[c("cycles", "shared")]
  empty <- list(dim = c(0L, as.integer(driver$x$dims[["m"]])), start = 0L, column = integer())
  settings <- unclass(driver$control)
  on.exit(if (is.null(settings$cluster)) forget_all(worker_memory) else tell_losses(driver$workers))
  if (isTRUE(settings$progress)) {
    bar <- progress_bar("Passes", 1L, 1L)
    on.exit(bar$close(), add = TRUE)
    settings$on_tick <- bar$tick
  }
  out <- shard_kernel(driver$model, empty, param, settings)
  shared <- out[intersect(names(out), names(saved$shared))]
  write_state(driver, shared)
  forget_versions(driver$folder, driver$current)
  out$outcome$algorithm <- settings$algorithm
  c(shared, out["outcome"])
}

# What the kernel's iterations do with the shards, see src/glue/shards.h.
driver_steps <- function(driver) {
  list(
    iteration = function(shared, caps) scan_all(driver, "iteration", shared, caps),
    objective = function(shared, caps) scan_all(driver, "objective", shared, caps),
    save = function(which, cycles, shared) save_point(driver, which, cycles, shared),
    restore = function(which) {
      driver$current <- driver$slots[which + 1L]
      driver$step <- NULL
    },
    extrapolate = function(length) driver$step <- list(length = length)
  )
}

# Runs an iteration, or an evaluation, over all shards at the current point and returns its sums.
scan_all <- function(driver, what, shared, caps) {
  check_owner(driver$folder, driver$saved$mark)
  if (!is.null(driver$step) && is.null(driver$step$shared)) driver$step$shared <- shared
  asked <- scan_asked(driver, what, shared, caps)
  beside <- 0
  if (!is.null(driver$look_at_all)) {
    on.exit(remove_files(sent_file(driver$folder, driver$x$shards$shard, asked$to)))
    beside <- see_rows(driver, asked)
  }
  sums <- scanned_sums(driver, asked)
  if (what == "iteration") end_iteration(driver)
  sums[sum_beside] <- sums[sum_beside] + beside
  sums
}

# Returns what all jobs of a scan have in common.
scan_asked <- function(driver, what, shared, caps) {
  of_iteration <- what == "iteration"
  from_theta_1 <- is.null(driver$step) && identical(driver$current, driver$slots[2L])
  list(
    mark = driver$saved$mark, what = what, shared = shared, caps = caps, from = driver$current,
    to = driver$newest + 1L, step = driver$step, saved = driver$slots,
    sent = of_iteration && !is.null(driver$look_at_all), before = if (of_iteration && from_theta_1) driver$slots[1L]
  )
}

end_iteration <- function(driver) {
  driver$current <- driver$newest <- driver$newest + 1L
  driver$step <- NULL
  driver$iterations <- driver$iterations + 1L
  forget_versions(driver$folder, c(driver$current, driver$safe, driver$slots))
}

# Saves the current point as theta_0, theta_1 or theta_2. At theta_1, and in plain iterations always, it was accepted,
# so a checkpoint is written.
save_point <- function(driver, which, cycles, shared) {
  driver$slots[which + 1L] <- driver$current
  if (which == 0L) driver$point <- shared
  if (which == 1L || !driver$control$accelerate) {
    theta_0 <- if (!is.null(cycles)) list(cycles = cycles, shared = driver$point, version = driver$slots[1L])
    driver$safe <- c(driver$current, theta_0$version)
    write_state(driver, shared, theta_0)
  }
  NULL
}

# `before`: for accelerated cycles at theta_1, what else they need to resume.
write_state <- function(driver, shared, before = NULL) {
  check_owner(driver$folder, driver$saved$mark)
  write_whole(list(
    fingerprint = driver$saved$fingerprint, shared = shared, version = driver$current, newest = driver$newest,
    iterations = driver$iterations, before = before
  ), state_file(driver$folder))
}

# Computes the sums of one scan of all shards, by this process or by workers.
scanned_sums <- function(driver, asked) {
  todo <- lapply(driver$jobs, utils::modifyList, asked, keep.null = TRUE)
  cluster <- driver$control$cluster
  found <- if (is.null(cluster)) {
    list(scan_shards(todo[[1L]]))
  } else if (is.null(driver$workers)) {
    run_on_nodes(cluster, todo, do_job, is_scan)
  } else {
    workers_heard(driver$workers)
    run_on_workers(driver$workers, todo, do_job, is_scan)
  }
  add_nodes(unlist(lapply(found, `[[`, "nodes"), recursive = FALSE), nrow(driver$x$shards))
}

sum_beside <- 2L # MC_SHARD_BESIDE of src/engine/shards.h

# Passes all rows to the function of sent_rows() and returns `beside`. Its results for an iteration are sent as files
# beside each shard. A late worker looks for a file that is gone.
see_rows <- function(driver, asked) {
  job <- utils::modifyList(driver$jobs[[1L]], asked, keep.null = TRUE)
  table <- driver$x$shards
  seen <- driver$look_at_all(do.call(rbind, lapply(table$shard, function(s) scanned_rows(s, job, table$rows[s]))))
  for (s in if (asked$sent) table$shard) {
    own <- seen$by_row[, row_numbers(driver$x, s), drop = FALSE]
    write_vectors(list(own), sent_file(driver$folder, s, asked$to))
  }
  seen$beside
}

# Returns the version of each of the rows' files in a folder, with its name.
versions_in <- function(folder) {
  files <- list.files(folder, "^membership-[0-9]+-[0-9]+[.]bin$")
  stats::setNames(as.integer(sub(".*-([0-9]+)[.]bin$", "\\1", files)), files)
}

newest_version <- function(folder) max(0L, versions_in(folder))

forget_versions <- function(folder, keep) {
  version <- versions_in(folder)
  remove_files(file.path(folder, names(version)[!version %in% keep]))
}

# Tests whether a worker's result is that of the job: a cluster may still return results of an interrupted fit.
is_scan <- function(value, job) is.list(value) && identical(value$of, scan_name(job)) && is.list(value$nodes)

scan_name <- function(job) job[c("mark", "shards", "what", "to")]

# Cache of shards and versions between scans; no state, since all of it is on disk.
worker_memory <- new.env(parent = emptyenv())

scan_shards <- function(job) {
  memory <- if (job$keep) worker_memory
  if (!is.null(memory) && !identical(memory$of, job[c("folder", "mark")])) {
    forget_all(memory)
    memory$of <- job[c("folder", "mark")]
  }
  nodes <- list()
  for (at in seq_along(job$shards)) {
    shard <- job$shards[at]
    view <- remembered(memory, sprintf("view %d", shard), function() read_shard_view(job$x, shard))
    out <- scan_shard(view, shard, job, memory)
    nodes <- add_node(nodes, shard, out)
  }
  if (!is.null(memory)) forget_old(memory, c(job$from, job$to, job$saved))
  list(of = scan_name(job), nodes = nodes)
}

forget_all <- function(memory) rm(list = ls(memory), envir = memory)

forget_old <- function(memory, versions) {
  names <- ls(memory, pattern = "^membership ")
  old <- names[!sub(".* ", "", names) %in% versions]
  rm(list = old, envir = memory)
}

# Computes the sums of one shard's rows. An iteration writes its rows' parameters as the next version.
scan_shard <- function(view, shard, job, memory = NULL) {
  model <- job$model
  has_rows <- !is.null(model$rows)
  turn <- if (model$turned) t else identity
  param <- c(job$shared, list(evaluate = job$what == "objective", caps = job$caps), known_to(job, shard, memory))
  if (has_rows) param[[model$rows]] <- turn(scanned_rows(shard, job, view$dim[1L], memory))
  if (!is.null(job$before) && has_rows && model$space != "kept") {
    param$before <- turn(rows_version(job, shard, job$before, rows_extent(model, view$dim[1L]), memory))
  }
  if (isTRUE(job$sent)) {
    sent <- read_vectors(sent_file(job$folder, shard, job$to), 1L)[[1L]]
    param$by_row <- matrix(sent, ncol = view$dim[1L])
  }
  out <- shard_kernel(model, view, param, job$control)
  if (job$what == "iteration" && has_rows) {
    rows <- turn(out$rows)
    write_vectors(list(rows), membership_file(job$folder, shard, job$to))
    if (!is.null(memory)) memory[[sprintf("membership %d %d", shard, job$to)]] <- rows
  }
  out$sums
}

known_to <- function(job, shard, memory) {
  if (job$knows) remembered(memory, sprintf("known %d", shard), function() read_known(job$folder, shard))
}

rows_version <- function(job, shard, number, extent, memory) {
  remembered(memory, sprintf("membership %d %d", shard, number), function() {
    read_own_rows(job$model, job$folder, shard, number, extent)
  })
}

# Returns the parameters of a shard's rows at the point that is scanned; n_rows: how many rows it has.
scanned_rows <- function(shard, job, n_rows, memory = NULL) {
  extent <- rows_extent(job$model, n_rows)
  version <- function(number) rows_version(job, shard, number, extent, memory)
  if (is.null(job$step)) {
    return(version(job$from))
  }
  rows <- .Call(mc_c_shard_extrapolate, lapply(job$saved, version), job$step$length, job$model$space)
  settle_rows(job$model, rows, job$step$shared, known_to(job, shard, memory))
}

read_own_rows <- function(model, folder, shard, version, extent) {
  file <- membership_file(folder, shard, version)
  values <- read_vectors(file, 1L)[[1L]]
  if (length(values) != prod(extent)) stop_shard_file(file, "is not of this fit")
  rows <- matrix(values, extent[1L], extent[2L])
  if (!is.double(rows) || !are_rows(model, rows)) stop_foreign_file(file, "no parameters of rows")
  rows
}

refuse_smooth_shards <- function(smooth) {
  if (!is.null(smooth)) {
    stop_not_for_shards("`smooth` of this model", "aspect_bernoulli() takes both; or fit some rows, `x[i, ]`")
  }
}

# EM needs only sums over rows; Newton's iterations also need the largest change of any cell of a column.
em_on_shards <- function(control) {
  if (!control$algorithm %in% c("auto", "em")) {
    stop_not_for_shards(
      sprintf("`algorithm = \"%s\"`", control$algorithm),
      "iterations of this model on shards are EM's; take \"auto\" or \"em\""
    )
  }
  control$algorithm <- "em"
  control
}

# Returns the parts of a fit common to all models; `finish` of a model adds its own.
new_shards_fit <- function(x, model, outcome, objective, of, control) {
  converged <- outcome$status == "converged"
  if (!converged && control$max_iter > 0L && control$tol > 0) {
    warn_not_converged(outcome, advice = ": raise `max_iter` in fit_control(), or resume from `checkpoint`")
  }
  control[c("cluster", "checkpoint")] <- list(NULL)
  model$here <- NULL
  observed <- x$dims[["n"]] - x$column_missing
  structure(
    list(
      objective = stats::setNames(outcome$objective, objective), loglik = outcome$objective,
      dims = c(n = x$dims[["n"]], m = x$dims[["m"]], k = model$k, observed = sum(observed)),
      trace = trace_frame(outcome), starts = of$starts, converged = converged, control = control, call = of$call,
      shards = x, model = model, folder = of$folder, version = of$version,
      density = sum(x$column_sum) / max(1, sum(observed)), informative_sites = x$dims[["n"]] - empty_sites(x),
      algorithm = outcome$algorithm
    ),
    class = "multicause_shards"
  )
}

# Counts the sites without a known cell: only shards with at least as many missing cells as a site has can hold one.
empty_sites <- function(x) {
  m <- x$dims[["m"]]
  may <- x$shards$shard[x$shards$missing >= max(1, m)]
  sum(vapply(may, function(shard) sum(diff(read_shard_view(x, shard)$na_start) == m), 0L))
}

fit_pieces.shards <- function(x, model, k, settings, start, control, call) {
  fit_to_shards(structure(list(), class = model), x, k, settings, start, control, call)
}

# Checks a model's settings, then calls fit_shards(). `model` is an empty object of the model's class.
fit_to_shards <- function(model, x, k, settings, start, control, call) UseMethod("fit_to_shards")

#' Fits to tables in shards: models, workers, checkpoints
#'
#' Which models take a result of [shards()] in place of a table, how several workers share the scans, and how a fit that
#' was stopped resumes. `vignette("large")` has a whole script.
#'
#' @details
#' **Models.** Rows are independent given the shared parameters, so an iteration is a sum over rows, and shards are
#' scanned one by one. From the same start and with the same iterations the fit is that of the table in memory, to
#' rounding. Without a `start` the starts of `control` run on 5000 rows drawn from all shards, and the whole table
#' continues from the best of them.
#' * [aspect_bernoulli()]: `estimate` `"ml"` and `"map"`, all iterations, fixed phantoms, priors, `effort`, and `smooth`
#'   with a bandwidth and a strength in numbers;
#' * [plsa()]: `estimate` `"ml"` and `"map"`, iterations of EM; no `sparsity`, `smooth`, `membership` or fixed basis;
#' * [bernoulli_mixture()]: all except `smooth` and `membership`;
#' * [nmf()]: `loss = "kl"`, with multiplicative iterations;
#' * [logistic_pca()]: `k` of at least 1 and one `penalty`;
#' * [noisy_or()]: `inference = "truncated"`, `estimate` `"ml"` and `"map"`, with one M-step an iteration (`inner = 1`);
#'   no `missed_by`, `effort`, `activation` or `surplus`.
#'
#' Cells are 0 and 1, also for the models of counts. Shards have no Newton iterations for [plsa()] and [nmf()]: on one
#' table [plsa()] ended with a log-likelihood 0.04 % lower and took 22 times the processor time of a fit in memory
#' (`bench/shards.md` in the sources).
#'
#' **Methods.** [print()], [summary()], [coef()], [nobs()], [logLik()], [update()] (which keeps neither `cluster` nor
#' `checkpoint`), [predict()][predict.multicause_shards] and [fitted()].
#'
#' **Workers.** `fit_control(cluster = )` names compute profiles of package mirai, one daemon each, or a cluster of
#' package parallel. Sums belong to shards and are added in a fixed order, so the result is the same, to the last bit,
#' for any number of workers. A profile that ends, or is silent for too long (`patience`), is lost: a warning of class
#' `multicause_worker_lost` names it, and others take its shards. The loss of all profiles, or of one node of a cluster
#' of package parallel, is an error of that class. Launchers of mirai start daemons on other machines:
#' `mirai::ssh_config()`, `mirai::cluster_config()` (Slurm, SGE, PBS, LSF), and `mirai::remote_config(command =
#' "mpirun", args = c("-np", "1", "."))`.
#'
#' **Checkpoints.** After each cycle of three iterations the state is written to `fit_control(checkpoint = )`, a folder.
#' The same call resumes there, also with other workers, and its numbers are those of a fit that was not stopped, to the
#' last bit (except with `"sparse"` iterations); `max_iter` and the trace count from there.
#'
#' **Cost.** A fit scans the shards once an iteration, with `effort` twice. Memberships lie on disk, a file for each
#' shard and iteration, of which at most 5 iterations are kept (8 n k bytes each); files of [noisy_or()] have 264 bytes
#' a row for up to 64 components. Workers keep their shards in memory, about 32 k bytes a row and 4 bytes a one; without
#' `cluster` one shard is in memory at a time.
#'
#' @name shards_fits
#' @seealso [shards()], [fit_control()], [which_zeros_shards]
#' @examples
#' folder <- tempfile()
#' x <- shards(simulated_sites$x, folder, size = 400)
#' fit <- aspect_bernoulli(x, k = 3, control = fit_control(n_start = 2, max_iter = 30, n_polish = 0))
#' fit
#' unlink(folder, recursive = TRUE)
NULL
