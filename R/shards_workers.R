# Workers that scan shards: nodes of a cluster of package parallel, by sockets or MPI (packages snow and Rmpi), or
# compute profiles of package mirai. A worker is given a job and returns its result; what it knows of a shard it reads
# from disk, and keeps as long as it is the newest. So any worker can do any job, and one that is lost costs the time of
# its job alone. Tests: test-shards_workers.R, test-shards_mpi.R.

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

# Workers as `cluster` of fit_control() gives them: list(names, alive, own), and by class how they are spoken to.
open_workers <- function(cluster, patience) {
  workers <- new.env(parent = emptyenv())
  workers$patience <- patience
  if (inherits(cluster, "cluster")) {
    workers$nodes <- unclass(cluster)
    of_mpi <- are_mpi_nodes(cluster)
    where <- vapply(workers$nodes, function(node) {
      if (of_mpi) sprintf("rank %d", as.integer(node$rank)) else paste(format(node$host), collapse = "")
    }, "")
    workers$names <- sprintf("worker %d (%s)", seq_along(where), where)
    class(workers) <- c(if (of_mpi) "mpi_workers" else "socket_workers", "node_workers")
  } else {
    workers$profiles <- cluster
    workers$names <- sprintf("worker %d (profile %s)", seq_along(cluster), dQuote(cluster, FALSE))
    class(workers) <- "mirai_workers"
  }
  workers$alive <- rep(TRUE, length(workers$names))
  workers$job <- vector("list", length(workers$names)) # what each is at
  workers$tag <- 0
  workers
}

# Sends a job: f(job) is to be evaluated by worker i.
send_job <- function(workers, i, f, job) UseMethod("send_job")

# The next result: list(worker, value) or list(worker, lost = why); NULL: none within `seconds`.
next_result <- function(workers, seconds) UseMethod("next_result")

# Jobs have numbers, so that no answer to an earlier one, whose caller was interrupted, is taken for theirs.
begin_job <- function(workers, i) {
  workers$tag <- workers$tag + 1
  workers$job[[i]] <- list(tag = sprintf("%d-%.0f-%s", Sys.getpid(), workers$tag, format(Sys.time(), "%H%M%OS6")))
  workers$job[[i]]$tag
}

at_work <- function(workers) which(!vapply(workers$job, is.null, NA) & workers$alive)

# The messages are those of parallel's own workers, which know "EXEC". Its functions wait for all nodes, in turn, for
# ever; here none waits for one that is lost.
send_job.node_workers <- function(workers, i, f, job) {
  call <- list(type = "EXEC", data = list(fun = f, args = list(job), return = TRUE, tag = begin_job(workers, i)))
  lost <- catch_error(send_call(workers, i, call), function(e) "its connection is closed")
  if (!is.null(lost)) workers$job[[i]]$lost <- lost
}

# Sends a message to node i: NULL, or why the node is lost.
send_call <- function(workers, i, call) UseMethod("send_call")

# Which of the nodes have sent something, waited for up to `seconds`.
ready_nodes <- function(workers, busy, seconds) UseMethod("ready_nodes")

# What node i has sent.
receive_answer <- function(workers, i) UseMethod("receive_answer")

next_result.node_workers <- function(workers, seconds) {
  busy <- at_work(workers)
  for (i in busy) {
    if (!is.null(workers$job[[i]]$lost)) {
      return(list(worker = i, lost = workers$job[[i]]$lost))
    }
  }
  for (i in ready_nodes(workers, busy, seconds)) {
    got <- catch_error(suppressWarnings(receive_answer(workers, i)), function(e) NULL)
    if (is.null(got)) {
      return(list(worker = i, lost = "its process has ended"))
    }
    if (!identical(got$tag, workers$job[[i]]$tag)) next # an answer to an earlier call
    value <- got$value
    workers$job[i] <- list(NULL)
    failed <- inherits(value, "try-error") || !isTRUE(got$success)
    if (failed) {
      return(list(worker = i, lost = failure_words(value)))
    }
    return(list(worker = i, value = value))
  }
  NULL
}

# Of an error value of mirai, which is a number, what its print calls it.
failure_words <- function(value) {
  words <- if (is.numeric(value)) sub("^.*[|] *", "", utils::capture.output(print(value))[1L]) else format(value)
  paste("it failed:", trimws(paste(words, collapse = " ")))
}

send_call.socket_workers <- function(workers, i, call) {
  serialize(call, workers$nodes[[i]]$con)
  NULL
}

ready_nodes.socket_workers <- function(workers, busy, seconds) {
  busy[socketSelect(lapply(workers$nodes[busy], function(node) node$con), FALSE, seconds)]
}

receive_answer.socket_workers <- function(workers, i) unserialize(workers$nodes[[i]]$con)

# Looked up when called: loading Rmpi starts MPI, which R's checks of a package's code must not.
rmpi <- function(name) getExportedValue("Rmpi", name)

# Sent without waiting for the node to take it, since one that hangs never does; until then the bytes are kept here,
# whatever becomes of the fit. Only a node that has not taken an earlier job is waited for, a little.
mpi_sent <- new.env(parent = emptyenv())

send_call.mpi_workers <- function(workers, i, call) {
  node <- workers$nodes[[i]]
  rank <- as.integer(node$rank)
  name <- sprintf("%d", rank)
  is_taken <- function() is.null(mpi_sent[[name]]) || rmpi("mpi.test")(rank)
  if (!look_often(min(workers$patience, 10), is_taken, isTRUE)) {
    return("it has not taken what was sent before")
  }
  if (rmpi("mpi.request.maxsize")() <= rank) rmpi("mpi.realloc.request")(2L * rank)
  mpi_sent[[name]] <- serialize(call, NULL)
  rmpi("mpi.isend")(mpi_sent[[name]], 4L, rank, node$SENDTAG, node$comm, rank) # 4: raw bytes
  NULL
}

ready_nodes.mpi_workers <- function(workers, busy, seconds) {
  has_sent <- function(i) {
    node <- workers$nodes[[i]]
    rmpi("mpi.iprobe")(node$rank, node$RECVTAG, node$comm)
  }
  look_often(seconds, function() Filter(has_sent, busy), length)
}

receive_answer.mpi_workers <- function(workers, i) {
  node <- workers$nodes[[i]]
  rmpi("mpi.recv.Robj")(node$rank, node$RECVTAG, node$comm)
}

# Calls look() until found(what it returns) is true, or the seconds are over.
look_often <- function(seconds, look, found) {
  end <- proc.time()[[3L]] + seconds
  while (!found(out <- look()) && proc.time()[[3L]] < end) Sys.sleep(0.002)
  out
}

send_job.mirai_workers <- function(workers, i, f, job) {
  begin_job(workers, i)
  workers$job[[i]]$promise <- mirai::mirai(f(job), f = f, job = job, .compute = workers$profiles[i])
}

next_result.mirai_workers <- function(workers, seconds) {
  is_resolved <- function(i) !mirai::unresolved(workers$job[[i]]$promise)
  done <- look_often(seconds, function() Filter(is_resolved, at_work(workers)), length)
  if (!length(done)) {
    return(NULL)
  }
  i <- done[1L]
  value <- workers$job[[i]]$promise$data
  workers$job[i] <- list(NULL)
  if (mirai::is_error_value(value)) {
    return(list(worker = i, lost = failure_words(value)))
  }
  list(worker = i, value = value)
}

# f(job) for every job, whose own worker it has or, where that is lost, another: list of values. is_right(value, job)
# tells whether a value can be the job's. An error that f returns as a `shard_error` is ours, not the worker's.
run_on_workers <- function(workers, jobs, f, is_right) {
  values <- vector("list", length(jobs))
  todo <- seq_along(jobs)
  doing <- rep(NA_integer_, length(workers$names)) # which job each worker is at
  begun <- rep(proc.time()[[3L]], length(doing))
  on.exit(drain(workers))
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
  if (length(todo)) {
    stop(errorCondition(
      sprintf("All workers are lost, the last one because %s. What was saved last is in `checkpoint`.", workers$why),
      class = "multicause_worker_lost", call = NULL
    ))
  }
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

# What workers are still at, after an error or an interrupt, is waited for a moment, so that the cluster can be used on.
drain <- function(workers, seconds = 10) {
  end <- proc.time()[[3L]] + seconds
  while (length(at_work(workers)) && (left <- end - proc.time()[[3L]]) > 0) {
    got <- next_result(workers, left)
    if (!is.null(got$lost)) workers$alive[got$worker] <- FALSE
  }
}
