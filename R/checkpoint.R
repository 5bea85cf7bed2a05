# Checkpoints: files that are whole whenever the machine stops, and belong to one call only.

# Written beside and renamed, so that a kill at any moment leaves a whole file.
write_whole <- function(object, file) {
  part <- paste0(file, ".part")
  ok <- tryCatch({
    saveRDS(object, part, compress = FALSE)
    file.rename(part, file)
  }, error = function(e) FALSE, warning = function(w) FALSE)
  if (!ok) stop("the checkpoint could not be written to ", file, call. = FALSE)
}

read_whole <- function(file) tryCatch(readRDS(file), error = function(e) NULL, warning = function(w) NULL)

# One number for what a result depends on. Functions count by their text, since their compiled form may differ; version
# 2 of the format writes equal values in the same way.
fingerprint_of <- function(object) {
  plain <- function(value) {
    if (is.function(value)) {
      return(deparse(value, control = c("keepNA", "keepInteger", "digits17")))
    }
    if (is.list(value)) value[] <- lapply(value, plain)
    value
  }
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(plain(object), file, compress = FALSE, version = 2)
  unname(tools::md5sum(file))
}

# What is saved in a checkpoint of this call; NULL where there is none yet.
read_checkpoint <- function(file, fingerprint) {
  if (is.null(file) || !file.exists(file)) {
    return(NULL)
  }
  saved <- read_whole(file)
  if (!is.list(saved) || !identical(saved$fingerprint, fingerprint)) {
    stop_input(
      "`checkpoint` file %s is not of this call (other data, prior or settings): delete it or name another file.",
      dQuote(file, FALSE)
    )
  }
  saved
}

check_checkpoint <- function(checkpoint) {
  check_file_name(checkpoint, "checkpoint")
  if (!is.null(checkpoint) && !dir.exists(dirname(checkpoint))) {
    stop_input("The folder of `checkpoint` must exist: %s does not.", dQuote(dirname(checkpoint), FALSE))
  }
  checkpoint
}

# Runs f(store), which may draw random numbers. The first time, `checkpoint` keeps the generator's state; later calls
# that depend on the same `parts` begin from it, whatever the session's is, and leave the session's alone.
with_checkpoint <- function(checkpoint, parts, f) {
  if (is.null(checkpoint)) {
    return(f(NULL))
  }
  mark <- fingerprint_of(parts)
  store <- list(file = checkpoint, fingerprint = mark)
  saved <- read_checkpoint(checkpoint, mark)
  if (!is.null(saved)) {
    return(with_stream(saved$seed, function() f(store))$value)
  }
  if (is.null(get0(".Random.seed", globalenv(), inherits = FALSE))) stats::runif(1L)
  write_whole(list(fingerprint = mark, seed = get(".Random.seed", globalenv())), checkpoint)
  # Wrong input that is found only now leaves nothing behind that would refuse the corrected call.
  done <- FALSE
  on.exit(if (!done && !length(Sys.glob(paste0(checkpoint, "-*.rds")))) unlink(checkpoint))
  out <- f(store)
  done <- TRUE
  out
}

# What a fit depends on among its settings.
settings_that_count <- function(control) {
  unclass(control)[setdiff(names(control), c("progress", "n_threads", "on_interrupt"))]
}

# A part of a store for one kind of task; its files are <checkpoint>-<stage>-<task>.rds.
checkpoint_store <- function(store, stage) {
  if (is.null(store)) {
    return(NULL)
  }
  store$stage <- stage
  store
}

temporary_store <- function() {
  folder <- tempfile("tasks")
  dir.create(folder)
  list(file = file.path(folder, "kept"), fingerprint = "", stage = "task", temporary = TRUE)
}

task_file <- function(store, i) sprintf("%s-%s-%d.rds", store$file, store$stage, i)

store_task <- function(store, i, value) {
  if (is.null(store)) {
    return(invisible())
  }
  write <- function() write_whole(list(fingerprint = store$fingerprint, value = value), task_file(store, i))
  # A worker on another machine may not see the folder: then there is nothing to keep at an interrupt.
  if (isTRUE(store$temporary)) try(write(), silent = TRUE) else write()
}

# Results of tasks 1 to n, NULL for those not finished.
stored_tasks <- function(store, n) {
  done <- vector("list", n)
  if (is.null(store)) {
    return(done)
  }
  for (i in seq_len(n)) {
    file <- task_file(store, i)
    saved <- if (file.exists(file)) read_whole(file)
    if (is.list(saved) && identical(saved$fingerprint, store$fingerprint)) done[i] <- list(saved$value)
  }
  done
}

# Workers that are between two tasks see that nobody waits for them any more.
cancel_tasks <- function(store) if (isTRUE(store$temporary)) file.create(paste0(store$file, ".stop"))

is_cancelled <- function(store) isTRUE(store$temporary) && file.exists(paste0(store$file, ".stop"))
