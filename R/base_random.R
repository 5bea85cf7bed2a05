# The session's generator: seeds, states and what is drawn by them, which leaves it as it was.

# A function that puts the session's generator back to what it is now, also where it has no state yet: its kind stays
# with R when the state goes.
keep_generator <- function() {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  kind <- RNGkind()
  function() {
    if (is.null(old)) {
      suppressWarnings(RNGkind(kind[1L], kind[2L], kind[3L])) # R warns of "Rounding"
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", old, globalenv())
    }
  }
}

# The state of the session's generator, as simulate() keeps it: assigned to .Random.seed, it gives the same draws again.
session_state <- function() {
  current <- function() get0(".Random.seed", globalenv(), inherits = FALSE)
  if (is.null(current())) stats::runif(1L)
  current()
}

# Evaluates `expr` under its own seed and leaves the session's generator and its kind as they were.
with_seed <- function(seed, expr) {
  put_back <- begin_seed(seed)
  on.exit(put_back())
  expr
}

# Begins the seed's numbers: a function that puts the session's generator back.
begin_seed <- function(seed) {
  put_back <- keep_generator()
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  put_back
}

# Evaluates f() with the generator at `stream`; list(value, stream after). The session's generator stays as it was.
with_stream <- function(stream, f) {
  put_back <- keep_generator()
  on.exit(put_back())
  assign(".Random.seed", stream, globalenv())
  value <- f()
  list(value = value, stream = get(".Random.seed", globalenv()))
}

draw_seeds <- function(n) sample.int(.Machine$integer.max, n)

# Evaluates draw() as stats::simulate() asks: under the seed given, and then the session's generator is as it was, or
# from the session's own. The seed returned reproduces the draw.
draw_seeded <- function(draw, seed) {
  before <- session_state()
  if (is.null(seed)) {
    return(list(value = draw(), seed = before))
  }
  put_back <- keep_generator()
  on.exit(put_back())
  set.seed(check_count(seed, "seed", -.Machine$integer.max))
  list(value = draw(), seed = structure(seed, kind = as.list(RNGkind())))
}

random_unit <- function(n_row, n_column) matrix(stats::runif(n_row * n_column, 0.05, 0.95), n_row, n_column)

random_simplex <- function(n_row, n_column) {
  s <- matrix(stats::runif(n_row * n_column, 0.1, 1), n_row, n_column)
  s / rowSums(s)
}
