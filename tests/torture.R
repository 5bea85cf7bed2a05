# Calls every entry point of the package's C code with a garbage collection at each allocation, around
# the bare .Call: a value that is not protected is lost, and the result differs or R dies. The cases are
# in tests/torture/, one file per glue file; the run fails when a registered entry point has none.
# MULTICAUSE_TORTURE=false: the same calls without gctorture, for valgrind.

invisible(loadNamespace("multicause"))
registered <- getDLLRegisteredRoutines("multicause")$.Call
on <- Sys.getenv("MULTICAUSE_TORTURE", "true") == "true"
state <- new.env()
state$seen <- character()
state$passed <- state$failed <- 0L

# Names the seconds of a case that takes more than five.
took_words <- function(begun) {
  took <- proc.time()[[3L]] - begun
  if (took > 5) sprintf(" (%.0f s)", took) else ""
}

# One call under torture, held to the same call without. Arguments are made before it starts; `seed` is
# for entry points that draw random numbers. `error = TRUE`: the call must fail, and is to leave R sound.
torture <- function(entry, ..., error = FALSE, seed = 1) {
  symbol <- registered[[entry]]
  args <- list(...)
  call <- function(tortured) {
    set.seed(seed)
    old <- gctorture(tortured)
    on.exit(gctorture(old))
    do.call(".Call", c(list(symbol), args))
  }
  begun <- proc.time()[[3L]]
  caught <- function(e) structure(conditionMessage(e), class = "caught")
  copy <- unserialize(serialize(args, NULL))
  want <- tryCatch(call(FALSE), error = caught)
  got <- tryCatch(call(on), error = caught)
  untouched <- identical(args, copy, ignore.bytecode = TRUE, ignore.environment = TRUE, ignore.srcref = TRUE)
  ok <- identical(got, want) && inherits(got, "caught") == error && untouched
  failure <- if (inherits(got, "caught")) paste0(": ", got)
  cat(if (ok) "ok      " else "FAILED  ", entry, failure, took_words(begun), "\n", sep = "")
  state$passed <- state$passed + ok
  state$failed <- state$failed + !ok
  state$seen <- c(state$seen, entry)
  invisible(got)
}

# Steps of the driver of a fit to shards, whose scans return `counts` sums of 1 after their head.
shard_steps <- function(counts) {
  head <- c(-10, rep(0, 6))
  none <- function(...) NULL
  list(
    iteration = function(shared, caps) c(head, rep(1, counts)), objective = function(shared, caps) head, save = none,
    restore = none, extrapolate = none
  )
}

for (file in dir("tests/torture", pattern = "[.]R$", full.names = TRUE)) source(file, local = new.env())

for (entry in setdiff(names(registered), state$seen)) {
  cat("FAILED  ", entry, ": no case in tests/torture/\n", sep = "")
  state$failed <- state$failed + 1L
}
cat(sprintf("= %d passed, %d failed, 0 skipped\n", state$passed, state$failed))
quit(status = as.integer(state$failed > 0 || length(registered) == 0))
