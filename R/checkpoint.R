# Checkpoints: files that are whole whenever the machine stops, and belong to one call only.

# A file holds list(object, whole_mark) as saveRDS() writes it, whose last bytes are the mark, and then the checksum of
# all bytes before the mark. So no byte can be missing or changed unseen.
whole_mark <- charToRaw("multicause whole")

# Written beside and renamed, so that a kill at any moment leaves a whole file.
write_whole <- function(object, file) {
  part <- part_of(file)
  on.exit(remove_part(file))
  reason <- NULL
  write <- function() {
    sum <- write_marked(object, part)
    size <- file.size(part) + nchar(sum)
    write_to(part, "ab", function(con) writeBin(charToRaw(sum), con))
    if (file.size(part) != size) stop("not all of it could be written")
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

# Writes list(object, whole_mark): the checksum of all before the mark. That the disk was full may show in the file
# only, since closing it does not tell. Version 2 of the format has none of the kinds of vectors that are code.
write_marked <- function(object, file) {
  write_to(file, "wb", function(con) saveRDS(list(object, whole_mark), con, version = 2L))
  written <- read_sum(file, file.size(file) - length(whole_mark))
  if (!identical(written$rest, whole_mark)) stop("not all of it could be written")
  written$sum
}

# The checksum of the first `size` bytes of a file, and the bytes that follow. In pieces: a file may be larger than a
# vector of bytes should be.
read_sum <- function(file, size) {
  con <- file(file, "rb")
  on.exit(close(con))
  sums <- character()
  while (size > 0) {
    piece <- readBin(con, "raw", min(size, 2^24))
    if (!length(piece)) break
    sums <- c(sums, cli::hash_raw_md5(piece))
    size <- size - length(piece)
  }
  list(sum = cli::hash_md5(paste(sums, collapse = "")), rest = readBin(con, "raw", 100L))
}

# The object in a file, or what is_damaged() knows. `any`: also one that is not plain data, of a file that only this
# session could write. A file from elsewhere has the right checksum as easily as ours.
read_whole <- function(file, any = FALSE) {
  read <- function() {
    size <- file.size(file) - nchar(cli::hash_md5(""))
    end <- read_sum(file, size - length(whole_mark))
    whole <- identical(end$rest, c(whole_mark, charToRaw(end$sum)))
    bytes <- if (whole) readBin(file, "raw", size)
    if (!whole || !(any || .Call(mc_c_is_plain, bytes))) {
      return(damaged_file())
    }
    held <- unserialize(bytes)
    if (any || (is_sound(held) && is_bare(held, "list") && length(held) == 2L)) held[[1L]] else damaged_file()
  }
  catch_error(suppressWarnings(read()), function(e) damaged_file())
}

# The same of a list with these parts, and perhaps others: what else there is counts as damaged.
read_list <- function(file, parts, any = FALSE) {
  saved <- read_whole(file, any)
  if (is_bare(saved, "list") && is_named(saved) && all(parts %in% names(saved))) saved else damaged_file()
}

is_plain_data <- function(object) .Call(mc_c_is_plain, serialize(object, NULL, version = 2L))

# A value of this type without a class: nothing that is done with it calls a method.
is_bare <- function(x, type) typeof(x) %in% type && !is.object(x)

# Whether all attributes in plain data fit what they are of: R itself trusts names and extents, and reads beyond what
# is there. Objects made of attributes alone are known of package Matrix, which checks them.
is_sound <- function(x) {
  at <- attributes(x)
  own <- is.null(at) || (if (isS4(x)) is_matrix_object(x, at$class) else attributes_fit(x, at))
  own && all(vapply(at, is_sound, NA)) && (typeof(x) != "list" || all(vapply(unclass(x), is_sound, NA)))
}

is_matrix_object <- function(x, class) {
  identical(attr(class, "package"), "Matrix") && isTRUE(methods::validObject(x, test = TRUE))
}

attributes_fit <- function(x, at) {
  n <- length(unclass(x))
  texts <- function(value, size) is_bare(value, "character") && length(value) == size
  fits <- list(
    names = function(value) texts(value, n),
    dim = function(value) is_bare(value, "integer") && isTRUE(all(value >= 0L) && prod(value) == n),
    dimnames = function(value) {
      is_bare(value, "list") && length(value) == length(at[["dim"]]) &&
        all(mapply(function(each, size) is.null(each) || texts(each, size), value, at[["dim"]]))
    },
    class = function(value) is_bare(value, "character") && length(value) && !anyNA(value),
    levels = function(value) is_bare(value, "character") && is.integer(unclass(x)) && in_levels(x, length(value)),
    row.names = function(value) is_bare(value, c("integer", "character")) && all(row_counts(x) == length(value))
  )
  for (name in intersect(names(fits), names(at))) {
    if (!isTRUE(fits[[name]](at[[name]]) && TRUE)) return(FALSE)
  }
  TRUE
}

in_levels <- function(codes, n) {
  codes <- as.vector(unclass(codes))
  all(is.na(codes) | (codes >= 1L & codes <= n))
}

# The number of rows of each column of a data frame.
row_counts <- function(columns) {
  vapply(unclass(columns), function(column) {
    rows <- attr(column, "dim", exact = TRUE)[1L]
    if (is.null(rows)) length(unclass(column)) else rows
  }, 0L)
}

damaged_file <- function() structure(list(), class = "damaged_file")

is_damaged <- function(saved) inherits(saved, "damaged_file")

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
  write_marked(plain(object), file)
  unname(tools::md5sum(file))
}

# What is saved in a checkpoint of this call, with these parts; NULL where there is none yet.
read_checkpoint <- function(file, fingerprint, parts = NULL) {
  if (is.null(file) || !file.exists(file)) {
    return(NULL)
  }
  saved <- read_list(file, c("fingerprint", parts))
  if (is_damaged(saved)) stop_damaged_checkpoint(file)
  if (!identical(saved$fingerprint, fingerprint)) {
    stop_input(
      "`checkpoint` file %s is not of this call (other data, prior or settings): delete it or name another file.",
      dQuote(file, FALSE)
    )
  }
  saved
}

stop_damaged_checkpoint <- function(file) {
  stop_input(
    "`checkpoint` file %s is damaged, or no checkpoint: it was cut off or changed. Delete it or name another file.",
    dQuote(file, FALSE)
  )
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
    if (!is_seed(saved$seed)) stop_damaged_checkpoint(checkpoint)
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

# Can it be the state of R's generator? R looks at the rest of it.
is_seed <- function(x) is_bare(x, "integer") && length(x) > 1L && is.null(attributes(x)) && !anyNA(x[1L])

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
  # A worker on another machine may not see the folder: then there is nothing to keep at an interrupt. Results of users'
  # models that are not plain data would be refused when they are read.
  if (isTRUE(store$temporary)) catch_error(write(), function(e) NULL) else if (is_plain_data(kept)) write()
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
    saved <- if (file.exists(file)) read_list(file, c("fingerprint", "value"), any = isTRUE(store$temporary))
    if (is_damaged(saved)) lost <- c(lost, file)
    if (identical(saved$fingerprint, store$fingerprint)) done[i] <- list(saved$value)
  }
  if (length(lost) && !isTRUE(store$temporary)) {
    warning(warningCondition(
      sprintf(
        "Damaged, cut off or changed, so that it is computed again: %s of the checkpoint, %s.",
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
