# The aspect Bernoulli model of a table in shards. One process, the driver, holds the aspects and runs the passes; the
# shards are visited here, one after another, or by workers (shards_workers.R). A visit takes the step of a shard's
# memberships and returns sums over its rows (src/aspect_bernoulli/shards.h).
#
# Memberships are files in one folder, a version each: a visit reads one version and writes the next. What the engine
# saves and restores (src/engine/fit.h) are then numbers of versions, and a visit that is made again, by another worker,
# writes the same file. Tests: test-aspect_bernoulli_shards.R.

ab_fit_shards <- function(x, k, settings, start, control, call) {
  check_shards(x)
  k <- check_count(k, "k", 1L + length(ab_pins(settings$phantom)))
  check_memory(8 * copies_of_parameters * k * x$dims[["m"]], sprintf("`k` = %d, for %.0f columns,", k, x$dims[["m"]]))
  ab_refuse_shards(settings)
  settings <- ab_check_settings(settings)
  pinned <- c(rep("free", k - length(ab_pins(settings$phantom))), ab_pins(settings$phantom))
  prior <- if (settings$estimate != "ml") settings$prior
  stored <- sum(as.double(x$shards$ones) + x$shards$missing)
  control$algorithm <- ab_algorithm(control, k, list(dim = x$dims, stored = stored), !is.null(prior))
  folder <- prepare_fit_folder(control$checkpoint)
  mark <- fingerprint_of(list(
    x$shards[c("cells", "rows")], k, pinned, prior, start, control$algorithm, control$accelerate
  ))
  saved <- read_checkpoint(state_file(folder), mark)
  sampled <- NULL
  if (is.null(saved)) {
    begun <- ab_begin_shards(x, pinned, settings, start, control, folder)
    sampled <- begun$starts
    saved <- list(
      fingerprint = mark, aspects = begun$aspects, version = 0L, passes = 0L, near_end = !is.null(begun$starts)
    )
    write_whole(saved, state_file(folder))
  }
  visits <- new_visits(x, folder, saved, list(pinned = pinned, prior = prior, k = k), control)
  out <- visits$fit()
  check_outcome(out$outcome)
  ab_new_shards_fit(x, out, visits$version(), list(
    pinned = pinned, prior = prior, estimate = settings$estimate, starts = sampled, call = call, folder = folder,
    before = saved$passes
  ), control)
}

ab_refuse_shards <- function(settings) {
  with_advice <- function(what, why) {
    stop_input("%s does not go with shards: %s.", what, why)
  }
  if (settings$estimate %in% c("vb", "gibbs")) {
    with_advice(sprintf("`estimate = \"%s\"`", settings$estimate),
      "take \"map\" or \"ml\", or fit some rows, `x[i, ]`")
  }
  if (!is.null(settings$smooth)) {
    with_advice("`smooth`", "neighbours may lie in other shards; fit some rows, `x[i, ]`")
  }
  if (!is.null(settings$effort)) {
    with_advice("`effort`", "the phantom's curve needs all rows together; fit some rows, `x[i, ]`, or pin the phantom")
  }
}

ab_check_settings <- function(settings) {
  if (settings$estimate == "ml") settings$prior <- NULL
  if (settings$estimate == "map") {
    if (!is.list(settings$prior) || is.null(names(settings$prior))) {
      stop_input(paste(
        "`prior` of a fit to shards must be list(aspects = , membership = ): \"cv\" and several priors do not go with",
        "shards; choose by some rows, `x[i, ]`."
      ))
    }
    settings$prior <- ab_check_prior(settings$prior)
  }
  settings
}

# The folder of memberships and checkpoint.
prepare_fit_folder <- function(checkpoint) {
  folder <- if (is.null(checkpoint)) tempfile("multicause-fit-") else checkpoint
  if (!dir.exists(folder) && !dir.create(folder, showWarnings = FALSE)) {
    stop_input("`checkpoint` must be a folder that can be made: %s cannot.", dQuote(folder, FALSE))
  }
  other <- setdiff(list.files(folder), c("state.rds", list.files(folder, "^membership-.*[.]bin|[.]part$")))
  if (length(other)) {
    stop_input("`checkpoint` must be a folder of a fit to shards, or new: %s holds %s.", dQuote(folder, FALSE),
      show_names(other))
  }
  unlink(list.files(folder, "[.]part$", full.names = TRUE))
  normalizePath(folder)
}

state_file <- function(folder) file.path(folder, "state.rds")

membership_file <- function(folder, shard, version) {
  file.path(folder, sprintf("membership-%05d-%06d.bin", shard, version))
}

# Start values: the user's, or the best fit to a sample of rows.

start_rows <- 5000L

ab_begin_shards <- function(x, pinned, settings, start, control, folder) {
  k <- length(pinned)
  seed <- draw_seeds(1L)
  starts <- NULL
  if (is.null(start)) {
    sampled <- ab_sample_start(x, pinned, settings, control, seed)
    start <- list(aspects = sampled$aspects)
    starts <- sampled$starts
  }
  check_start_names(start, "aspects", "list(aspects = k x m matrix), and a n x k matrix `membership` if you like")
  aspects <- by_names(start$aspects, 2L, x$attributes)
  aspects <- check_matrix(aspects, "start$aspects", k, x$dims[["m"]], 0, 1)
  ab_check_pinned(aspects, pinned)
  last <- cumsum(as.double(x$shards$rows))
  membership <- start$membership
  if (!is.null(membership)) membership <- check_simplex_rows(membership, "start$membership", x$dims[["n"]], k)
  for (s in x$shards$shard) {
    n <- x$shards$rows[s]
    own <- if (is.null(membership)) matrix(1 / k, n, k) else membership[last[s] - n + seq_len(n), , drop = FALSE]
    write_vectors(list(as.double(own)), membership_file(folder, s, 0L))
  }
  list(aspects = unname(aspects), starts = starts)
}

# As many rows as make a good start, drawn from all shards; aspects a little towards the columns' shares, because a
# taxon that is not in the sample must not be impossible.
ab_sample_start <- function(x, pinned, settings, control, seed) {
  n <- x$dims[["n"]]
  at <- with_seed(seed, sort(sample(n, min(n, start_rows))))
  rows <- x[at, ]
  rownames(rows) <- NULL
  control[c("cluster", "checkpoint")] <- list(NULL)
  control[c("n_polish", "max_pass", "keep_x", "keep_starts")] <- list(0L, min(control$max_pass, 200L), TRUE, FALSE)
  control$tol <- max(control$tol, 1e-7)
  class(control) <- "multicause_control"
  asked <- c(settings[c("estimate", "phantom")], prior = list(settings$prior), control = list(control))
  asked <- asked[!vapply(asked, is.null, NA)]
  fit <- quiet_fit(do.call(aspect_bernoulli, c(list(quote(rows), length(pinned)), asked)))$value
  share <- (x$column_sum + 1) / (n - x$column_missing + 2)
  aspects <- unname(fit$param$aspects)
  free <- pinned == "free"
  aspects[free, ] <- 0.95 * aspects[free, , drop = FALSE] + 0.05 * rep(share, each = sum(free))
  list(aspects = aspects, starts = fit$starts)
}

# What a visit of a run of shards needs beside the aspects; `x`: the shards' files.
visit_job <- function(x, shards, folder, model, control) {
  list(
    path = x$path, shards = shards, sums = x$shards$cells[shards], folder = folder, model = model,
    control = list(
      max_pass = 1L, tol = 1, accelerate = FALSE, n_threads = control$n_threads, algorithm = control$algorithm
    ),
    keep = FALSE, worker = 1L
  )
}

# The jobs of a visit: one, or one for each worker.
visit_jobs <- function(x, workers, folder, model, control) {
  runs <- list(x$shards$shard)
  if (!is.null(workers)) {
    runs <- share_shards(x$shards$ones + x$shards$missing + 5 * x$shards$rows, length(workers$names))
  }
  lapply(which(lengths(runs) > 0L), function(i) {
    job <- visit_job(x, runs[[i]], folder, model, control)
    job$keep <- !is.null(workers)
    job$worker <- i
    job
  })
}

# The driver's side of the passes: versions of the memberships, and the visits.
new_visits <- function(x, folder, saved, model, control) {
  current <- safe <- saved$version
  newest <- max(saved$version, newest_version(folder))
  slots <- rep(NA_integer_, 3L)
  step <- NULL # of an extrapolation that the next visit makes
  passes <- saved$passes
  workers <- if (!is.null(control$cluster)) open_workers(control$cluster, control$patience)
  jobs <- visit_jobs(x, workers, folder, model, control)

  visit <- function(what, aspects, caps) {
    asked <- list(
      what = what, aspects = aspects, caps = caps, from = current, to = newest + 1L, step = step, saved = slots,
      before = if (what == "pass" && is.null(step) && identical(current, slots[2L])) slots[1L]
    )
    todo <- lapply(jobs, utils::modifyList, asked, keep.null = TRUE)
    found <- if (is.null(workers)) {
      list(visit_shards(todo[[1L]]))
    } else {
      workers_heard(workers)
      run_on_workers(workers, todo, visit_shards_there, is_visit)
    }
    if (what == "pass") {
      current <<- newest <<- newest + 1L
      step <<- NULL
      passes <<- passes + 1L
      forget_versions(folder, c(current, safe, slots))
    }
    add_nodes(unlist(lapply(found, `[[`, "nodes"), recursive = FALSE), nrow(x$shards))
  }
  # At theta_1, and in plain passes at every point, what is saved was accepted: a checkpoint.
  save <- function(which, aspects) {
    slots[which + 1L] <<- current
    if (which == 1L || !control$accelerate) {
      safe <<- current
      write_whole(
        list(fingerprint = saved$fingerprint, aspects = aspects, version = current, passes = passes), state_file(folder)
      )
    }
    NULL
  }
  answer <- function(what, value, caps) {
    switch(what,
      pass = , objective = visit(what, value, caps),
      save = save(value, caps),
      restore = {
        current <<- slots[value + 1L]
        step <<- NULL
      },
      extrapolate = {
        step <<- value
        NULL
      }
    )
  }
  fit <- function() {
    param <- ab_kernel_param(list(membership = matrix(0, 0L, model$k), aspects = saved$aspects), model$pinned)
    param$visit <- answer
    param$near_end <- !isFALSE(saved$near_end)
    empty <- list(dim = c(0L, as.integer(x$dims[["m"]])), start = 0L, column = integer())
    settings <- unclass(control)
    if (!is.null(workers)) on.exit(tell_losses(workers))
    if (isTRUE(control$progress)) {
      bar <- progress_bar("Passes", 1L, 1L)
      on.exit(bar$close(), add = TRUE)
      settings$on_tick <- bar$tick
    }
    out <- .Call(mc_c_ab_shards_fit, empty, param, mode_counts(model$prior, model$pinned), settings)
    out$outcome$algorithm <- control$algorithm
    write_whole(
      list(fingerprint = saved$fingerprint, aspects = out$aspects, version = current, passes = passes),
      state_file(folder)
    )
    forget_versions(folder, current)
    out
  }
  list(fit = fit, version = function() current)
}

newest_version <- function(folder) {
  files <- list.files(folder, "^membership-[0-9]+-[0-9]+[.]bin$")
  max(0L, as.integer(sub(".*-([0-9]+)[.]bin$", "\\1", files)))
}

forget_versions <- function(folder, keep) {
  files <- list.files(folder, "^membership-[0-9]+-[0-9]+[.]bin$")
  version <- as.integer(sub(".*-([0-9]+)[.]bin$", "\\1", files))
  unlink(file.path(folder, files[!version %in% keep]))
}

# Is a worker's answer that of the job: its shards, each once, and its numbers?
is_visit <- function(value, job) {
  is.list(value) && identical(value$shards, job$shards) && identical(value$what, job$what) &&
    identical(value$to, job$to) && is.list(value$nodes)
}

# On a worker, which keeps shards and versions of memberships between visits: its memory, not its state, since all of
# it is on disk. An error of ours goes back as such.
visit_shards_there <- function(job) {
  failed <- function(e) structure(list(error = e), class = "shard_error")
  tryCatch(visit_shards(job), multicause_shard_damaged = failed)
}

worker_memory <- new.env(parent = emptyenv())

visit_shards <- function(job) {
  memory <- if (job$keep) worker_memory
  if (!is.null(memory) && !identical(memory$folder, job$folder)) {
    rm(list = ls(memory), envir = memory)
    memory$folder <- job$folder
  }
  nodes <- list()
  for (at in seq_along(job$shards)) {
    shard <- job$shards[at]
    view <- remembered(memory, sprintf("view %d", shard), function() read_shard_view(job$path, shard, job$sums[at]))
    out <- visit_shard(view, shard, job, memory)
    nodes <- add_node(nodes, shard, out)
  }
  if (!is.null(memory)) forget_old(memory, c(job$from, job$to, job$saved))
  list(shards = job$shards, what = job$what, to = job$to, nodes = nodes)
}

remembered <- function(memory, name, make) {
  if (is.null(memory)) {
    return(make())
  }
  if (is.null(memory[[name]])) memory[[name]] <- make()
  memory[[name]]
}

forget_old <- function(memory, versions) {
  names <- ls(memory, pattern = "^membership ")
  old <- names[!sub(".* ", "", names) %in% versions]
  rm(list = old, envir = memory)
}

# One shard: the sums of its rows. A pass writes its memberships as the next version.
visit_shard <- function(view, shard, job, memory = NULL) {
  n <- view$dim[1L]
  k <- job$model$k
  version <- function(number) {
    remembered(memory, sprintf("membership %d %d", shard, number), function() {
      read_membership(job$folder, shard, number, n, k)
    })
  }
  membership <- if (is.null(job$step)) {
    version(job$from)
  } else {
    .Call(mc_c_ab_shard_extrapolate, lapply(job$saved, version), job$step)
  }
  param <- ab_kernel_param(list(membership = membership, aspects = job$aspects), job$model$pinned)
  param[c("look", "caps", "before")] <- list(
    job$what == "objective", job$caps, if (!is.null(job$before)) version(job$before)
  )
  out <- .Call(mc_c_ab_shard, view, param, mode_counts(job$model$prior, job$model$pinned), job$control)
  if (job$what == "pass") {
    write_vectors(list(out$membership), membership_file(job$folder, shard, job$to))
    if (!is.null(memory)) memory[[sprintf("membership %d %d", shard, job$to)]] <- out$membership
  }
  out$sums
}

read_membership <- function(folder, shard, version, n, k) {
  file <- membership_file(folder, shard, version)
  values <- read_vectors(file, 1L)[[1L]]
  if (length(values) != n * k) stop_shard_file(file, "is not of this fit")
  matrix(values, n, k)
}
