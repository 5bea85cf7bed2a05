# Tests in separate R processes use the installed package. They are skipped if only its sources are available, and under
# covr, which loads its own build and slows workers down.

skip_if_not_installed_here <- function() {
  testthat::skip_on_covr()
  here <- file.exists(file.path(.libPaths(), "multicause", "Meta", "package.rds"))
  testthat::skip_if_not(any(here), "the package is not installed")
}

# Evaluates code with other environment variables, which child processes inherit; `env` of system2() does not work on
# Windows.
with_environment <- function(values, code) {
  old <- Sys.getenv(names(values), NA, names = TRUE)
  do.call(Sys.setenv, as.list(values))
  on.exit({
    Sys.unsetenv(names(old)[is.na(old)])
    if (!all(is.na(old))) do.call(Sys.setenv, as.list(old[!is.na(old)]))
  })
  force(code)
}

# Makes an Rscript use the library paths of this session.
child_environment <- function() c(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))

# Runs code in a new Rscript and returns its output, with the attribute "status" on failure.
run_child <- function(code, environment = character()) {
  file <- tempfile(fileext = ".R")
  writeLines(code, file)
  with_environment(c(child_environment(), environment), suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(file)), stdout = TRUE, stderr = TRUE
  )))
}

# Replaces a function of the namespace until the calling test ends.
bind_in_namespace <- function(name, value, frame = parent.frame(), space = environment(run_in_turn)) {
  old <- get(name, space)
  set <- function(value) {
    unlockBinding(name, space)
    assign(name, value, space)
    lockBinding(name, space)
  }
  set(value)
  do.call(on.exit, list(bquote(.(set)(.(old))), add = TRUE, after = FALSE), envir = frame)
}

# Makes packages seem not to be installed until the calling test ends.
without_packages <- function(packages, frame = parent.frame()) {
  ask <- requireNamespace
  bind_in_namespace("requireNamespace", function(package, ...) !package %in% packages && ask(package, ...), frame,
    baseenv())
}

# Sends this process an interrupt after some seconds. The file `note` records when, and on Linux the process's CPU time
# by then; note.sent records that it was sent.
send_interrupt <- function(after, note) {
  testthat::skip_on_os("windows") # where no process can be sent one
  command <- "(sleep %1$s; cat /proc/%2$d/stat > %3$s 2>/dev/null; kill -INT %2$d; : > %4$s)"
  system(sprintf(command, after, Sys.getpid(), shQuote(note), shQuote(paste0(note, ".sent"))), wait = FALSE)
}

# Seconds since the interrupt: by the clock, or by CPU time of the process if known, because other processes may keep
# the machine busy.
seconds_since <- function(note) {
  clock <- as.numeric(Sys.time()) - as.numeric(file.mtime(note))
  line <- readLines(note)
  if (!length(line)) {
    return(clock)
  }
  ticks <- as.numeric(strsplit(sub(".*[)] ", "", line), " ")[[1L]][12:13]) # user and system, 100 a second
  min(clock, sum(proc.time()[1:2]) - sum(ticks) / 100)
}

# Code that kills a process once a folder contains a file matching a pattern.
kill_when <- function(folder, pattern, pid) {
  sprintf(
    "while (!length(list.files(%s, %s))) Sys.sleep(0.02); tools::pskill(%d, tools::SIGKILL)", deparse(folder),
    deparse(pattern), pid
  )
}

# Returns the result of a run that keeps its results when interrupted after some seconds. On a busy machine nothing may
# be finished by then, and the interrupt would end all tests; it is then repeated later.
interrupt_run <- function(run, after) {
  for (seconds in after * c(1, 3, 9)) {
    note <- tempfile()
    result <- tryCatch(
      {
        send_interrupt(seconds, note)
        result <- run()
        # If the run ended before, the interrupt arrives in these lines.
        while (!file.exists(paste0(note, ".sent"))) Sys.sleep(0.05)
        Sys.sleep(0.05)
        result
      },
      interrupt = function(condition) NULL
    )
    if (!is.null(result)) break
  }
  result
}

# Starts code in a new Rscript without waiting; returns its process number.
start_child <- function(code) {
  file <- tempfile(fileext = ".R")
  note <- tempfile()
  writeLines(c(sprintf("writeLines(as.character(Sys.getpid()), %s)", deparse(note)), code), file)
  with_environment(child_environment(), system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(file)), stdout = FALSE, stderr = FALSE,
    wait = FALSE
  ))
  patience <- Sys.time() + 30
  while (!length(pid <- if (file.exists(note)) readLines(note)) && Sys.time() < patience) Sys.sleep(0.02)
  as.integer(pid)
}
