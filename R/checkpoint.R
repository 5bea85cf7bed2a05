# Checkpoints: files that are whole whenever the machine stops, and belong to one call only.

# Written beside and renamed, so that a kill at any moment leaves a whole file.
write_whole <- function(object, file) {
  part <- part_of(file)
  on.exit(remove_part(file))
  reason <- NULL
  write <- function() {
    write_rds(object, part)
    if (!file.rename(part, file)) stop("it could not be renamed")
  }
  # R says in a warning why a file cannot be opened.
  note <- function(w) {
    reason <<- conditionMessage(w)
    invokeRestart("muffleWarning")
  }
  catch_error(withCallingHandlers(write(), warning = note), function(e) {
    why <- if (is.null(reason)) conditionMessage(e) else reason
    stop("what is to be kept could not be written to ", file, ": ", why, call. = FALSE)
  })
}

part_of <- function(file) paste0(file, ".part")

# What a write that was killed leaves behind; later runs call this.
remove_part <- function(file) remove_files(part_of(file))

# What is removed has just this name: unlink() would take "*", "?" and "[" in it for any others.
remove_files <- function(path) unlink(path.expand(path), expand = FALSE)
remove_folders <- function(path) unlink(path.expand(path), recursive = TRUE, expand = FALSE)

write_to <- function(file, mode, write) {
  con <- file(file, mode)
  on.exit(close(con))
  write(con)
}

# That the disk was full may show in the file only, since closing it does not tell.
write_rds <- function(object, file) {
  size <- write_to(file, "wb", function(con) {
    saveRDS(object, con, version = 2L)
    seek(con)
  })
  if (!identical(file.size(file), size)) stop("not all of it could be written")
}

# The list in a file, which has these parts and perhaps others; NULL: there is none. Such files are the user's own, and
# are trusted as any .rds is.
read_list <- function(file, parts) {
  saved <- catch_error(suppressWarnings(readRDS(file)), function(e) NULL)
  if (is.list(saved) && all(parts %in% names(saved))) saved
}

# One number for what a result depends on. Functions and formulas count by their text, since the compiled form of the
# one and the environment of the other may differ; version 2 of the format writes equal values in the same way.
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

# What is saved in a checkpoint of this call, with these parts; NULL where there is none yet.
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

# Runs f(store), which may draw random numbers. The first time, `checkpoint` keeps the generator's state; later calls
# that depend on the same `parts` begin from it, whatever the session's is, and leave the session's alone.
with_checkpoint <- function(checkpoint, parts, f) {
  if (is.null(checkpoint)) {
    return(f(NULL))
  }
  mark <- fingerprint_of(parts)
  # Tasks depend on the seed, too: those of another one, whose own file is gone, do not belong to this job.
  store <- function(seed) list(file = checkpoint, fingerprint = fingerprint_of(list(mark, seed)))
  remove_part(checkpoint)
  saved <- read_checkpoint(checkpoint, mark, "seed")
  if (!is.null(saved)) {
    return(with_stream(saved$seed, function() f(store(saved$seed)))$value)
  }
  seed <- session_state()
  write_whole(list(fingerprint = mark, seed = seed), checkpoint)
  # Wrong input that is found only now leaves nothing behind that would refuse the corrected call.
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

# What a fit depends on among its settings.
settings_that_count <- function(control) {
  others <- c("progress", "n_threads", "on_interrupt", "cluster", "checkpoint", "patience")
  unclass(control)[setdiff(names(control), others)]
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

forget_store <- function(store) remove_folders(dirname(store$file))

task_file <- function(store, i) sprintf("%s-%s-%d.rds", store$file, store$stage, i)

store_task <- function(store, i, value) {
  if (is.null(store)) {
    return(invisible())
  }
  kept <- list(fingerprint = store$fingerprint, value = value)
  write <- function() write_whole(kept, task_file(store, i))
  # A worker on another machine may not see the folder: then there is nothing to keep at an interrupt.
  if (isTRUE(store$temporary)) catch_error(write(), function(e) NULL) else write()
}

# Results of tasks 1 to n, NULL for those not finished, of another call or damaged. The last may have cost hours: it is
# told that they are lost.
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

# Workers that are between two tasks see that nobody waits for them any more.
cancel_tasks <- function(store) if (isTRUE(store$temporary)) file.create(paste0(store$file, ".stop"))

is_cancelled <- function(store) isTRUE(store$temporary) && file.exists(paste0(store$file, ".stop"))
