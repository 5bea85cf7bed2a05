# Workers that scan shards: nodes of a cluster of package parallel, or compute profiles of package mirai. A worker is
# given a job and returns its result; what it knows of a shard it reads from disk, and keeps as long as it is the
# newest. So any worker can do any job. Of profiles, one that is lost costs the time of its job alone. A cluster waits
# for all its nodes: one that is lost ends the fit, which goes on from its checkpoint. Tests: test-shards_workers.R.

# Sums belong to shards and are added in a fixed binary tree over shard numbers, so that they are the same, to the last
# bit, however shards are shared out. A node is list(level, index, sum): of shards index 2^level + 1 .. (index + 1)
# 2^level.

# Adds the next shard's sum to the nodes of a run of shards: what has both halves is added up.
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

# The sum over all n shards from nodes that cover each once.
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

# How shards are shared out to n workers: runs of about equal weight.
share_shards <- function(weight, n) {
  n <- min(n, length(weight))
  middle <- cumsum(weight) - weight / 2
  unname(split(seq_along(weight), factor(pmin(floor(middle / sum(weight) * n), n - 1), 0:(n - 1))))
}

# f(job) for every job, a job a node: list of values. is_right(value, job) as of run_on_workers().
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
      "The workers of `cluster` are lost: %s. Make new ones: with `checkpoint` the same call goes on from there.",
      sub("[.]?\\s*$", "", why)
    ),
    class = "multicause_worker_lost", call = NULL
  ))
}

# Compute profiles as workers.
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

# f(job) is to be evaluated by worker i.
send_job <- function(workers, i, f, job) {
  workers$job[[i]] <- mirai::mirai(f(job), f = f, job = job, .compute = workers$profiles[i])
}

# The next result: list(worker, value) or list(worker, lost = why); NULL: none within `seconds`.
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

# Of an error value of mirai, which is a number, what its print calls it.
failure_words <- function(value) {
  words <- if (is.numeric(value)) sub("^.*[|] *", "", utils::capture.output(print(value))[1L]) else format(value)
  paste("it failed:", trimws(paste(words, collapse = " ")))
}

# f(job) for every job, whose own worker it has or, where that is lost, another: list of values. is_right(value, job)
# tells whether a value can be the job's. An error that f returns as a `shard_error` is ours, not the worker's.
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

# A job for each worker that has none, another's only where that one is lost: what all are doing then.
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

# The next result, NULL where none came for a second; where none has for too long, that the first at work is lost. It is
# named before, for those who know better what became of it.
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

# Seconds of silence after which a worker is lost: of scans that take a second, an hour tells no more than a minute.
workers_patience <- function(workers) {
  if (is.null(workers$longest)) {
    return(workers$patience)
  }
  min(workers$patience, max(silent_seconds, ceiling(10 * workers$longest)))
}

# NULL where a result is what was asked for.
why_lost <- function(got, job, is_right) {
  if (!is.null(got$lost)) {
    return(got$lost)
  }
  if (inherits(got$value, "shard_error")) stop(got$value$error)
  if (inherits(got$value, "unfit_worker")) {
    return(got$value$why)
  }
  if (!is_right(got$value, job)) "what it returned is not what was asked"
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

# Told when the fit ends: a warning within a kernel would reach no handler of the user's.
tell_losses <- function(workers) {
  for (loss in workers$losses) {
    warning(warningCondition(loss, class = "multicause_worker_lost", call = NULL))
  }
  workers$losses <- NULL
}
