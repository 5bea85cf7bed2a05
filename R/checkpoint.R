# Checkpoints: files that stay complete if the machine stops at any time, each valid for one call.

# Writes to a temporary file and renames it, so that a kill at any moment leaves a complete file.
write_whole <- function(object, file) {
  part <- part_of(file)
  on.exit(remove_part(file))
  reason <- NULL
  write <- function() {
    write_rds(object, part)
    if (!file.rename(part, file)) stop("it could not be renamed")
  }
  # R reports in a warning why a file cannot be opened.
  note <- function(w) {
    reason <<- conditionMessage(w)
    invokeRestart("muffleWarning")
  }
  catch_error(withCallingHandlers(write(), warning = note), function(e) {
    why <- if (is.null(reason)) conditionMessage(e) else reason
    stop("results could not be written to ", file, ": ", why, call. = FALSE)
  })
}

part_of <- function(file) paste0(file, ".part")

# Removes the remains of a write that was killed; later runs call this.
remove_part <- function(file) remove_files(part_of(file))

# Removes files of exactly this name: unlink() would expand "*", "?" and "[" in it.
remove_files <- function(path) unlink(path.expand(path), expand = FALSE)
remove_folders <- function(path) unlink(path.expand(path), recursive = TRUE, expand = FALSE)

write_to <- function(file, mode, write) {
  con <- file(file, mode)
  on.exit(close(con))
  write(con)
}

# Checks the size of the file: closing it does not report a full disk.
write_rds <- function(object, file) {
  size <- write_to(file, "wb", function(con) {
    saveRDS(object, con, version = 2L)
    seek(con)
  })
  if (!identical(file.size(file), size)) stop("not all of it could be written")
}

# Reads the list in a file, which must have these parts; NULL if there is none. Such files belong to the user and are
# trusted like any .rds.
read_list <- function(file, parts) {
  saved <- catch_error(suppressWarnings(readRDS(file)), function(e) NULL)
  if (is.list(saved) && all(parts %in% names(saved))) saved
}

# Returns a hash of what a result depends on. Functions and formulas count by their text because the compiled form of
# the former and the environment of the latter may differ; version 2 of the format writes equal values identically.
fingerprint_of <- function(object) {
  plain <- function(value) {
    if (is.function(value) || inherits(value, "formula")) {
      return(deparse(value, control = c("keepNA", "keepInteger", "digits17")))
    }
    if (is.list(value)) value[] <- lapply(value, plain)
    value
  }
  file <- tempfile()
  on.exit(remove_files(file))
  write_rds(plain(object), file)
  unname(tools::md5sum(file))
}

# Returns the contents of this call's checkpoint, with these parts; NULL if there is none yet.
read_checkpoint <- function(file, fingerprint, parts = NULL) {
  if (is.null(file) || !file.exists(file)) {
    return(NULL)
  }
  saved <- read_list(file, c("fingerprint", parts))
  if (is.null(saved)) {
    stop_input(
      "`checkpoint` file %s is damaged, or no checkpoint: delete it or name another file.",
      dQuote(file, FALSE)
    )
  }
  if (!identical(saved$fingerprint, fingerprint)) {
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

# Runs f(store), which may draw random numbers. The first call saves the generator's state in `checkpoint`; later calls
# that depend on the same `parts` start from it, whatever the session's state, and leave the session's unchanged.
with_checkpoint <- function(checkpoint, parts, f) {
  if (is.null(checkpoint)) {
    return(f(NULL))
  }
  mark <- fingerprint_of(parts)
  # Tasks depend on the seed, too: tasks of another seed, whose own file is gone, do not belong to this job.
  store <- function(seed) list(file = checkpoint, fingerprint = fingerprint_of(list(mark, seed)))
  remove_part(checkpoint)
  saved <- read_checkpoint(checkpoint, mark, "seed")
  if (!is.null(saved)) {
    return(with_stream(saved$seed, function() f(store(saved$seed)))$value)
  }
  seed <- session_state()
  write_whole(list(fingerprint = mark, seed = seed), checkpoint)
  # Wrong input that is detected only now must leave no file that would refuse the corrected call.
  done <- FALSE
  on.exit(if (!done && !has_tasks(checkpoint)) remove_files(checkpoint))
  out <- f(store(seed))
  done <- TRUE
  out
}

has_tasks <- function(checkpoint) {
  beside <- list.files(dirname(checkpoint), all.files = TRUE)
  any(startsWith(beside, paste0(basename(checkpoint), "-")) & endsWith(beside, ".rds"))
}

# Returns the settings that a fit depends on.
settings_that_count <- function(control) {
  others <- c("progress", "n_threads", "on_interrupt", "cluster", "checkpoint", "patience")
  unclass(control)[setdiff(names(control), others)]
}

# Returns the part of a store for one kind of task; its files are <checkpoint>-<stage>-<task>.rds.
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

forget_store <- function(store) remove_folders(dirname(store$file))

task_file <- function(store, i) sprintf("%s-%s-%d.rds", store$file, store$stage, i)

store_task <- function(store, i, value) {
  if (is.null(store)) {
    return(invisible())
  }
  kept <- list(fingerprint = store$fingerprint, value = value)
  write <- function() write_whole(kept, task_file(store, i))
  # A worker on another machine may not see the folder, and then keeps nothing at an interrupt.
  if (isTRUE(store$temporary)) catch_error(write(), function(e) NULL) else write()
}

# Returns the results of tasks 1 to n, NULL for those unfinished, of another call or damaged. Lost results may have cost
# hours, so they are reported.
stored_tasks <- function(store, n) {
  done <- vector("list", n)
  if (is.null(store)) {
    return(done)
  }
  lost <- character()
  for (i in seq_len(n)) {
    file <- task_file(store, i)
    remove_part(file)
    if (!file.exists(file)) next
    saved <- read_list(file, c("fingerprint", "value"))
    if (is.null(saved)) lost <- c(lost, file)
    if (identical(saved$fingerprint, store$fingerprint)) done[i] <- list(saved$value)
  }
  if (length(lost) && !isTRUE(store$temporary)) {
    warning(warningCondition(
      sprintf(
        "Damaged or cut off, so that it is computed again: %s of the checkpoint, %s.",
        count_words(length(lost), "file"), show_names(basename(lost))
      ),
      class = "multicause_checkpoint_damaged", call = NULL
    ))
  }
  done
}

# Signals workers between two tasks to stop because nobody waits for them any more.
cancel_tasks <- function(store) if (isTRUE(store$temporary)) file.create(paste0(store$file, ".stop"))

is_cancelled <- function(store) isTRUE(store$temporary) && file.exists(paste0(store$file, ".stop"))
