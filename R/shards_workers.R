# Workers that read shards: nodes of a cluster of package parallel, or compute profiles of package mirai. A worker
# receives a job and returns its result; it reads its shard from disk, and caches it as long as it is the newest. So any
# worker can do any job. A lost profile costs only the time of its job. A cluster waits for all its nodes: a lost node
# ends the fit, which can be resumed from its checkpoint. Tests: test-shards_workers.R.

# Sums belong to shards and are added in a fixed binary tree over shard numbers, so that they are identical to the last
# bit for any assignment of shards. A node is list(level, index, sum): of shards index 2^level + 1 .. (index + 1)
# 2^level.

# Adds the next shard's sum to the nodes of a run of shards: two complete halves are added up.
add_node <- function(nodes, shard, sum) {
  nodes[[length(nodes) + 1L]] <- list(level = 0L, index = shard - 1L, sum = sum)
  while ((n <- length(nodes)) > 1L) {
    left <- nodes[[n - 1L]]
    right <- nodes[[n]]
    if (left$level != right$level || left$index %% 2L != 0L || right$index != left$index + 1L) break
    nodes[[n - 1L]] <- list(level = left$level + 1L, index = left$index %/% 2L, sum = left$sum + right$sum)
    nodes[[n]] <- NULL
  }
  nodes
}

# Returns the sum over all n shards from nodes that cover each once.
add_nodes <- function(nodes, n) {
  at <- vapply(nodes, function(node) sprintf("%d:%d", node$level, node$index), "")
  total <- function(level, index) {
    known <- match(sprintf("%d:%d", level, index), at)
    if (!is.na(known)) {
      return(nodes[[known]]$sum)
    }
    if (level == 0L) {
      return(NULL) # beyond the last shard
    }
    left <- total(level - 1L, 2L * index)
    right <- total(level - 1L, 2L * index + 1L)
    if (is.null(right)) left else left + right
  }
  total(as.integer(ceiling(log2(n))), 0L)
}

# Assigns shards to n workers, in runs of about equal weight.
share_shards <- function(weight, n) {
  n <- min(n, length(weight))
  middle <- cumsum(weight) - weight / 2
  unname(split(seq_along(weight), factor(pmin(floor(middle / sum(weight) * n), n - 1), 0:(n - 1))))
}

# Computes f(s, ...) of every shard s, by this process or by the workers of `control`. f returns list(own, sum); the
# result is list(own: joined by `join` in the order of shards, sum: added in the order of add_nodes()). Neither depends
# on who did which shard.
map_shards <- function(x, control, f, ..., join = c) {
  job <- list(
    version = own_version(), run = map_run, f = f, args = list(...), join = join, shards = x$shards$shard,
    mark = basename(tempfile("map"))
  )
  workers <- control$cluster
  found <- if (is.null(workers)) {
    list(map_run(job))
  } else {
    runs <- share_shards(x$shards$ones + x$shards$missing + 5 * x$shards$rows, length(workers))
    jobs <- lapply(seq_along(runs), function(i) utils::modifyList(job, list(shards = runs[[i]], worker = i)))
    do_on_workers(workers, control$patience, jobs[lengths(runs) > 0L], is_map)
  }
  nodes <- unlist(lapply(found, `[[`, "nodes"), recursive = FALSE)
  list(
    own = Reduce(join, lapply(found, `[[`, "own")), sum = if (length(nodes)) add_nodes(nodes, nrow(x$shards))
  )
}

# Does jobs of do_job(), at most one per worker: list of values.
do_on_workers <- function(cluster, patience, jobs, is_right) {
  if (!is.character(cluster)) {
    return(run_on_nodes(cluster, jobs, do_job, is_right))
  }
  workers <- open_workers(cluster, patience)
  on.exit(tell_losses(workers))
  run_on_workers(workers, jobs, do_job, is_right)
}

# Computes a run of shards for map_shards().
map_run <- function(job) {
  own <- NULL
  nodes <- list()
  for (s in job$shards) {
    out <- do.call(job$f, c(list(s), job$args), quote = TRUE)
    own <- if (is.null(own)) out$own else job$join(own, out$own)
    if (!is.null(out$sum)) nodes <- add_node(nodes, s, out$sum)
  }
  list(of = job[c("mark", "shards")], own = own, nodes = nodes)
}

is_map <- function(value, job) {
  is.list(value) && identical(value$of, job[c("mark", "shards")]) && is.list(value$nodes)
}

own_version <- function() as.character(utils::packageVersion("multicause"))

# Does a job on a worker. Errors of this package are returned as such.
do_job <- function(job) {
  # No function of the package is called yet there: it may be another version or missing.
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
  tryCatch(job$run(job), multicause_shard_damaged = failed)
}

# Evaluates f(job) for every job, one per node: list of values. is_right(value, job) as in run_on_workers().
run_on_nodes <- function(cluster, jobs, f, is_right) {
  values <- catch_error(parallel::clusterApply(cluster, jobs, f), function(e) stop_lost_workers(conditionMessage(e)))
  for (i in seq_along(jobs)) {
    lost <- why_lost(list(value = values[[i]]), jobs[[i]], is_right)
    if (!is.null(lost)) stop_lost_workers(sprintf("of node %d, %s", i, lost))
  }
  values
}

stop_lost_workers <- function(why) {
  stop(errorCondition(
    sprintf(
      "The workers of `cluster` are lost: %s. Make new ones: with `checkpoint` the same call resumes there.",
      sub("[.]?\\s*$", "", why)
    ),
    class = "multicause_worker_lost", call = NULL
  ))
}

# Opens compute profiles as workers.
open_workers <- function(profiles, patience) {
  workers <- list2env(list(
    profiles = profiles, names = sprintf("worker %d (profile %s)", seq_along(profiles), dQuote(profiles, FALSE)),
    alive = rep(TRUE, length(profiles)), job = vector("list", length(profiles)), # the promise of what each is at
    patience = patience
  ), parent = emptyenv())
  workers_heard(workers)
  workers
}

at_work <- function(workers) which(!vapply(workers$job, is.null, NA) & workers$alive)

# Sends f(job) to worker i.
send_job <- function(workers, i, f, job) {
  workers$job[[i]] <- mirai::mirai(f(job), f = f, job = job, .compute = workers$profiles[i])
}

# Returns the next result: list(worker, value) or list(worker, lost = why); NULL if none within `seconds`.
next_result <- function(workers, seconds) {
  end <- proc.time()[[3L]] + seconds
  is_resolved <- function(i) !mirai::unresolved(workers$job[[i]])
  while (!length(done <- Filter(is_resolved, at_work(workers))) && proc.time()[[3L]] < end) Sys.sleep(0.002)
  if (!length(done)) {
    return(NULL)
  }
  i <- done[1L]
  value <- workers$job[[i]]$data
  workers$job[i] <- list(NULL)
  if (mirai::is_error_value(value)) list(worker = i, lost = failure_words(value)) else list(worker = i, value = value)
}

# Returns the words of mirai's print for its error value, a number.
failure_words <- function(value) {
  words <- if (is.numeric(value)) sub("^.*[|] *", "", utils::capture.output(print(value))[1L]) else format(value)
  paste("it failed:", trimws(paste(words, collapse = " ")))
}

# Evaluates f(job) for every job on its own worker or, if that is lost, on another: list of values. is_right(value, job)
# tests whether a value can be the job's. A `shard_error` returned by f is an error of this package, not the worker's.
run_on_workers <- function(workers, jobs, f, is_right) {
  values <- vector("list", length(jobs))
  todo <- seq_along(jobs)
  doing <- rep(NA_integer_, length(workers$names)) # which job each worker is at
  begun <- rep(proc.time()[[3L]], length(doing))
  repeat {
    had <- doing
    doing <- give_jobs(workers, jobs, todo, doing, f)
    begun[is.na(had)] <- proc.time()[[3L]]
    todo <- setdiff(todo, doing)
    if (all(is.na(doing))) break
    got <- await_result(workers)
    if (is.null(got)) next
    w <- got$worker
    job <- doing[w]
    doing[w] <- NA
    lost <- why_lost(got, jobs[[job]], is_right)
    if (is.null(lost)) {
      values[job] <- list(got$value)
      workers$longest <- max(workers$longest, proc.time()[[3L]] - begun[w])
    } else {
      lose_worker(workers, w, lost)
      todo <- c(job, todo)
    }
  }
  if (length(todo)) stop_lost_workers(sprintf("the last one because %s", workers$why))
  values
}

# Assigns jobs to idle workers, another's job only if that worker is lost, and returns what all are doing.
give_jobs <- function(workers, jobs, todo, doing, f) {
  own <- function(i) jobs[[i]]$worker
  for (w in setdiff(which(workers$alive), which(!is.na(doing)))) {
    mine <- Filter(function(i) own(i) == w || !workers$alive[own(i)], setdiff(todo, doing))
    if (!length(mine)) next
    doing[w] <- mine[[1L]]
    send_job(workers, w, f, jobs[[mine[[1L]]]])
  }
  doing
}

# Waits for the next result, NULL if none came within a second; after too long a silence the first busy worker counts as
# lost. It is named beforehand, for users who know what happened to it.
await_result <- function(workers) {
  patience <- workers_patience(workers)
  got <- next_result(workers, min(patience, 1))
  waited <- if (is.null(got)) proc.time()[[3L]] - workers$heard else workers_heard(workers)
  if (is.null(got) && waited >= silent_seconds && waited < patience && !workers$named) {
    workers$named <- TRUE
    inform(
      "No word for %s from %s, which counts as lost after %s.", count_words(silent_seconds, "second"),
      paste(workers$names[at_work(workers)], collapse = ", "), count_words(patience, "second")
    )
  }
  if (!is.null(got) || waited < patience) {
    return(got)
  }
  list(worker = at_work(workers)[1L], lost = paste("it was silent for", count_words(patience, "second")))
}

# Returns the seconds of silence after which a worker is lost, fewer if scans are fast.
workers_patience <- function(workers) {
  if (is.null(workers$longest)) {
    return(workers$patience)
  }
  min(workers$patience, max(silent_seconds, ceiling(10 * workers$longest)))
}

# Returns why a result is not that of its job, NULL if it is.
why_lost <- function(got, job, is_right) {
  if (!is.null(got$lost)) {
    return(got$lost)
  }
  if (inherits(got$value, "shard_error")) stop(got$value$error)
  if (inherits(got$value, "unfit_worker")) {
    return(got$value$why)
  }
  if (!is_right(got$value, job)) "its result is not of the requested kind"
}

workers_heard <- function(workers) {
  workers$heard <- proc.time()[[3L]]
  workers$named <- FALSE
  0
}

lose_worker <- function(workers, i, why) {
  workers$alive[i] <- FALSE
  workers$why <- why
  workers$job[i] <- list(NULL)
  workers$losses <- c(workers$losses, sprintf(
    "%s is lost: %s. Its shards went to %s.", workers$names[i], why,
    if (any(workers$alive)) "others" else "nobody, as it was the last"
  ))
}

# Losses are reported when the fit ends, because a warning within a kernel would reach no handler of the user's.
tell_losses <- function(workers) {
  for (loss in workers$losses) {
    warning(warningCondition(loss, class = "multicause_worker_lost", call = NULL))
  }
  workers$losses <- NULL
}
