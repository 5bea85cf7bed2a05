# Fits of tables in shards, whatever the model. One process, the driver, holds the parameters that all rows share and
# runs the passes; the shards are scanned here, one after another, or by workers (shards_workers.R). A scan takes the
# step of the parameters that a shard's rows have of their own and returns sums over its rows (src/engine/shards.h).
#
# The rows' parameters are files in one folder, a version each: a scan reads one version and writes the next. What the
# engine saves and restores (src/engine/fit.h) are then numbers of versions, and a scan that is made again, by another
# worker, writes the same file. Tests: test-shards_fit.R.
#
# What a model must say is a list, shard_model(), which travels to the workers: its settings and `k`; all but its
# element `here`, which is the driver's alone. It must have methods of the first five of these generics.

# A model with settings `...`. rows: the kernel's name of the parameters that rows have of their own, NULL where they
# have none; space: where extrapolated ones must lie, see mc_c_shard_extrapolate(), "kept" where they are no numbers to
# extrapolate; first: what they begin with; turned: whether the kernel has those of a row in a column.
shard_model <- function(class, k, ..., rows = "membership", space = "simplex", first = 1 / k, turned = FALSE) {
  structure(list(k = k, ..., rows = rows, space = space, first = first, turned = turned), class = class)
}

# Scans a shard's cells `view`, or is the driver, `view` being a table without rows (glue_sum_model() of
# src/glue/shards.h). `param` has the shared parameters, and of a scan those of the rows, evaluate, caps and before,
# what known_rows() said, and by_row, what sent_rows() found for these rows; of the driver scan, near_end and go_on.
shard_kernel <- function(model, view, param, control) UseMethod("shard_kernel")

# A start that the user gave, checked: list(shared = list of parameters, rows = matrix of all rows, or NULL).
shard_start <- function(model, start, x) UseMethod("shard_start")

# The model's own fit to a table in memory, `rows` drawn from all shards; at: their numbers.
fit_sample <- function(model, rows, at, control) UseMethod("fit_sample")

# The shared parameters of that fit, made fit to start from; `share`: of presences in each column.
sampled_shared <- function(model, fit, share) UseMethod("sampled_shared")

# Of a basis, whose rows sum to 1, as those of the sample's fit do.
sampled_shared.default <- function(model, fit, share) {
  list(basis = mix_shares(unname(fit$param$basis), share / sum(share)))
}

# The result, from what is common to all, new_shards_fit(). `found`: the shared parameters as the driver left them;
# `free`: whether components may be put in order.
finish_shards <- function(model, fit, found, free) UseMethod("finish_shards")

# Extent of the parameters of n rows in files.
rows_extent <- function(model, n) UseMethod("rows_extent")

rows_extent.default <- function(model, n) c(n, model$k)

# Whether a matrix from a file, of numbers, can be parameters of rows.
are_rows <- function(model, rows) UseMethod("are_rows")

are_rows.default <- function(model, rows) {
  all(is.finite(rows)) && (model$space == "real" || all(rows >= 0)) &&
    (model$space != "simplex" || all(abs(rowSums(rows) - 1) < 1e-6))
}

# What a scan must know of the rows with these numbers beside their cells, a list; NULL: nothing, as of all rows then.
known_rows <- function(model, numbers) UseMethod("known_rows")

known_rows.default <- function(model, numbers) NULL

# What the driver must do with the parameters of all rows before a scan: a function of them that returns list(beside =
# what the objective has of them, by_row = a matrix with a column for each row, of which each shard is sent its own for
# a pass); NULL: nothing, and they are not read.
sent_rows <- function(model, n_threads) UseMethod("sent_rows")

sent_rows.default <- function(model, n_threads) NULL

# The rows' parameters where no pass has made them, in agreement with the shared ones.
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
        fingerprint = mark, shared = begun$shared, version = 0L, passes = 0L, near_end = !is.null(begun$starts)
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

# A temporary folder, which goes when no fit that has its name is there any more. A forked process leaves it alone.
kept_with <- function(folder) {
  keeper <- list2env(list(folder = as.vector(folder), pid = Sys.getpid()), parent = emptyenv())
  reg.finalizer(keeper, function(keeper) if (keeper$pid == Sys.getpid()) remove_folders(keeper$folder))
  structure(folder, keeper = keeper)
}

# Components that the shards' columns and this machine have room for.
check_shards_k <- function(k, x, least = 1L) {
  k <- check_count(k, "k", least)
  m <- x$dims[["m"]]
  check_memory(8 * copies_of_parameters * k * m, sprintf("`k` = %d, for %s,", k, count_words(m, "column")))
  k
}

# A prior whose `parts` are given in numbers.
one_prior <- function(prior, parts) {
  if (!is.list(prior) || is.null(names(prior))) {
    stop_input(paste(
      "`prior` of a fit to shards must be list(%s): \"cv\" and several priors do not go with shards; choose by some",
      "rows, `x[i, ]`."
    ), parts)
  }
  prior
}

# The folder of the rows' parameters and the checkpoint.
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

# What is saved of a fit, as write_state() has it; NULL: nothing.
read_state <- function(folder, mark) read_checkpoint(state_file(folder), mark, c("shared", "version", "passes"))

membership_file <- function(folder, shard, version) {
  file.path(folder, sprintf("membership-%05d-%06d.bin", shard, version))
}

sent_file <- function(folder, shard, version) file.path(folder, sprintf("sent-%05d-%06d.bin", shard, version))

# Says which call a folder is of.
owner_file <- function(folder) file.path(folder, "owner")

known_file <- function(folder, shard) file.path(folder, sprintf("known-%05d.rds", shard))

read_known <- function(folder, shard) {
  saved <- read_list(known_file(folder, shard), c("shard", "known"))
  if (!identical(saved$shard, shard)) {
    stop_shard_file(known_file(folder, shard), "was cut off or changed after it was written")
  }
  saved$known
}

# Start values: the user's, or those of the best fit to a sample of rows.

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

# As many rows as make a good start, drawn from all shards.
sample_start <- function(x, model, control, seed) {
  n <- x$dims[["n"]]
  at <- with_seed(seed, sort(sample(n, min(n, start_rows))))
  rows <- x[at, ]
  rownames(rows) <- NULL
  control[c("cluster", "checkpoint")] <- list(NULL)
  control[c("n_polish", "max_pass", "keep_x", "keep_starts")] <- list(0L, min(control$max_pass, 200L), TRUE, FALSE)
  control$tol <- max(control$tol, 1e-7)
  class(control) <- "multicause_control"
  fit <- quiet_fit(fit_sample(model, rows, at, control))$value
  share <- (x$column_sum + 1) / (n - x$column_missing + 2)
  list(shared = sampled_shared(model, fit, share), starts = fit$starts)
}

# A little of the columns' shares in every row of a matrix: a taxon that is not in the sample must not be impossible.
mix_shares <- function(values, share) 0.95 * values + 0.05 * rep(share, each = nrow(values))

# What a scan of a run of shards needs beside the shared parameters; `x`: the shards' files.
scan_job <- function(x, run, folder, model, control) {
  knows <- !is.null(known_rows(model, integer()))
  model$here <- NULL
  list(
    version = as.character(utils::packageVersion("multicause")), x = part_of_shards(x, run), shards = run,
    folder = folder, model = model, knows = knows, control = scan_control(control), keep = FALSE, worker = 1L
  )
}

# What read_shard_view() must know of some shards.
part_of_shards <- function(x, run) {
  columns <- c("shard", "rows", "ones", "missing", "cells")
  list(path = x$path, dims = x$dims, shards = as.list(x$shards[run, columns]))
}

scan_control <- function(control, algorithm = control$algorithm) {
  list(max_pass = 1L, tol = 1, accelerate = FALSE, n_threads = control$n_threads, algorithm = algorithm)
}

# The jobs of a scan: one, or one for each worker.
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

# A table that takes no more is read once a fit, not once a pass. Of the rows' parameters there are up to five versions.
kept_bytes <- 2^27

scan_bytes <- function(x, model) {
  own <- if (is.null(model$rows)) 0 else prod(rows_extent(model, x$dims[["n"]]))
  5 * 8 * own + 4 * sum(x$shards$ones, x$shards$missing, x$shards$rows)
}

# fit(owner), in a folder that is this call's from now on: what others left half written there is removed. A call that
# has not ended, as of a job that was submitted twice, ends when it sees that the folder has another owner. What it then
# misses or meets is not why.
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
  # A file that is gone is told by a warning.
  found <- catch_error(suppressWarnings(readLines(owner_file(folder))), function(e) "")
  if (!identical(found, owner)) {
    stop_input("`checkpoint` must be a folder of one fit at a time: another call has begun in %s.",
      dQuote(folder, FALSE))
  }
}

# What is saved, with `newest`, the number of the newest version of the rows, and `mark`, the owner's. A call that ended
# may have left workers that still write its next version, so that number is left out.
claim_versions <- function(folder, saved, owner) {
  saved$newest <- max(saved$version, saved$newest, newest_version(folder)) + 1L
  check_owner(folder, owner)
  write_whole(saved, state_file(folder))
  saved$mark <- owner
  saved
}

# The driver's side of the passes. Its kernel asks for scans, and says what becomes of the point at hand (engine/fit.h);
# what changes as it does so is here, in an environment:
#   current, newest   versions of the rows' parameters: of the point at hand, and the last one written
#   slots             those of theta_0 to theta_2 of the cycle
#   safe              those that a checkpoint needs
#   point             shared parameters of theta_0
#   step              of an extrapolation that the next scans make, list(length, shared = parameters of that point)
#   passes            how many were made
new_driver <- function(x, folder, saved, model, control) {
  before <- saved$before
  driver <- list2env(list(
    x = x, folder = folder, model = model, control = control, saved = saved, current = saved$version,
    newest = saved$newest, slots = c(before$version, rep(NA_integer_, 3L))[1:3],
    safe = c(saved$version, before$version), point = before$shared, step = NULL, passes = saved$passes
  ), parent = emptyenv())
  driver$workers <- if (is.character(control$cluster)) open_workers(control$cluster, control$patience)
  driver$jobs <- scan_jobs(x, folder, model, control)
  driver$look_at_all <- sent_rows(model, control$n_threads)
  driver
}

run_driver <- function(driver) {
  saved <- driver$saved
  param <- c(saved$shared, list(
    scan = function(what, value, more) answer_kernel(driver, what, value, more), near_end = !isFALSE(saved$near_end)
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

# What the kernel asks, as src/glue/shards.h has it.
answer_kernel <- function(driver, what, value, more) {
  switch(what,
    pass = , objective = scan_all(driver, what, value, more),
    save = save_point(driver, value$which, value$cycles, more),
    restore = {
      driver$current <- driver$slots[value + 1L]
      driver$step <- NULL
    },
    extrapolate = driver$step <- list(length = value)
  )
}

# A pass, or an evaluation, of all shards at the point at hand: its sums.
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
  if (what == "pass") end_pass(driver)
  sums[sum_beside] <- sums[sum_beside] + beside
  sums
}

# What all jobs of a scan have in common.
scan_asked <- function(driver, what, shared, caps) {
  of_pass <- what == "pass"
  from_theta_1 <- is.null(driver$step) && identical(driver$current, driver$slots[2L])
  list(
    mark = driver$saved$mark, what = what, shared = shared, caps = caps, from = driver$current,
    to = driver$newest + 1L, step = driver$step, saved = driver$slots,
    sent = of_pass && !is.null(driver$look_at_all), before = if (of_pass && from_theta_1) driver$slots[1L]
  )
}

end_pass <- function(driver) {
  driver$current <- driver$newest <- driver$newest + 1L
  driver$step <- NULL
  driver$passes <- driver$passes + 1L
  forget_versions(driver$folder, c(driver$current, driver$safe, driver$slots))
}

# The point at hand becomes theta_0, theta_1 or theta_2. At theta_1, and in plain passes always, it was accepted: a
# checkpoint.
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

# `before`: of accelerated cycles at theta_1, what they go on from beside that.
write_state <- function(driver, shared, before = NULL) {
  check_owner(driver$folder, driver$saved$mark)
  write_whole(list(
    fingerprint = driver$saved$fingerprint, shared = shared, version = driver$current, newest = driver$newest,
    passes = driver$passes, before = before
  ), state_file(driver$folder))
}

# The sums of one scan of all shards, by this process or by workers.
scanned_sums <- function(driver, asked) {
  todo <- lapply(driver$jobs, utils::modifyList, asked, keep.null = TRUE)
  cluster <- driver$control$cluster
  found <- if (is.null(cluster)) {
    list(scan_shards(todo[[1L]]))
  } else if (is.null(driver$workers)) {
    run_on_nodes(cluster, todo, scan_shards_there, is_scan)
  } else {
    workers_heard(driver$workers)
    run_on_workers(driver$workers, todo, scan_shards_there, is_scan)
  }
  add_nodes(unlist(lapply(found, `[[`, "nodes"), recursive = FALSE), nrow(driver$x$shards))
}

sum_beside <- 2L # MC_SHARD_BESIDE of src/engine/shards.h

# Lets the function of sent_rows() see all rows: its `beside`. What it finds for a pass is sent, beside each shard.
# Workers that are late look for a file that is gone.
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

# Of the rows' files in a folder the number of each one's version, with its name.
versions_in <- function(folder) {
  files <- list.files(folder, "^membership-[0-9]+-[0-9]+[.]bin$")
  stats::setNames(as.integer(sub(".*-([0-9]+)[.]bin$", "\\1", files)), files)
}

newest_version <- function(folder) max(0L, versions_in(folder))

forget_versions <- function(folder, keep) {
  version <- versions_in(folder)
  remove_files(file.path(folder, names(version)[!version %in% keep]))
}

# Is a worker's answer that of the job? A cluster whose fit was interrupted may still hold answers to an earlier one.
is_scan <- function(value, job) is.list(value) && identical(value$of, scan_name(job)) && is.list(value$nodes)

scan_name <- function(job) job[c("mark", "shards", "what", "to")]

# On a worker. An error of ours goes back as such.
scan_shards_there <- function(job) {
  # Of the package there nothing is called yet: it may be another, or not be there.
  is_there <- nzchar(system.file(package = "multicause"))
  version <- if (is_there) as.character(utils::packageVersion("multicause")) else "no version"
  if (!identical(version, job$version)) {
    why <- sprintf("it has %s of multicause, not %s: install the same everywhere", version, job$version)
    return(structure(list(why = why), class = "unfit_worker"))
  }
  failed <- function(e) {
    e$message <- sprintf("%s (Seen from %s.)", conditionMessage(e), Sys.info()[["nodename"]])
    structure(list(error = e), class = "shard_error")
  }
  tryCatch(scan_shards(job), multicause_shard_damaged = failed)
}

# Shards and versions that are kept between scans: memory, not state, since all of it is on disk.
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

# One shard: the sums of its rows. A pass writes its rows' parameters as the next version.
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
  if (job$what == "pass" && has_rows) {
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

# The parameters of a shard's rows at the point that is scanned; n_rows: how many rows it has.
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

# Passes whose sums are over rows are those of EM; Newton's also need the largest change of any cell of a column.
em_on_shards <- function(control) {
  if (!control$algorithm %in% c("auto", "em")) {
    stop_not_for_shards(
      sprintf("`algorithm = \"%s\"`", control$algorithm),
      "passes of this model on shards are EM's; take \"auto\" or \"em\""
    )
  }
  control$algorithm <- "em"
  control
}

# The parts of a fit that all models have; `finish` of a model adds its own.
new_shards_fit <- function(x, model, outcome, objective, of, control) {
  converged <- outcome$status == "converged"
  if (!converged && control$max_pass > 0L && control$tol > 0) {
    warn_not_converged(outcome, advice = ": raise `max_pass` in fit_control(), or go on from `checkpoint`")
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

# The number of sites without a known cell: only shards with as many missing cells as a site has can hold one.
empty_sites <- function(x) {
  m <- x$dims[["m"]]
  may <- x$shards$shard[x$shards$missing >= max(1, m)]
  sum(vapply(may, function(shard) sum(diff(read_shard_view(x, shard)$na_start) == m), 0L))
}

fit_pieces.shards <- function(x, model, k, settings, start, control, call) {
  fit_to_shards(structure(list(), class = model), x, k, settings, start, control, call)
}

# A model's own way: its settings checked, then fit_shards(). `model` is an empty object of the model's class.
fit_to_shards <- function(model, x, k, settings, start, control, call) UseMethod("fit_to_shards")
