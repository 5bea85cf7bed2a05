# Seeds and states of the session's random number generator, which is left unchanged.

# Returns a function that restores the session's generator, also if it has no state yet: its kind outlives the state.
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

# Returns the state of the session's generator, as simulate() keeps it: assigned to .Random.seed, it repeats the draws.
session_state <- function() {
  current <- function() get0(".Random.seed", globalenv(), inherits = FALSE)
  if (is.null(current())) stats::runif(1L)
  current()
}

# Evaluates `expr` under its own seed and restores the session's generator and its kind.
with_seed <- function(seed, expr) {
  put_back <- begin_seed(seed)
  on.exit(put_back())
  expr
}

# Sets the seed and returns a function that restores the session's generator.
begin_seed <- function(seed) {
  put_back <- keep_generator()
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  put_back
}

# Evaluates f() with the generator at `stream`; list(value, stream after). The session's generator is restored.
with_stream <- function(stream, f) {
  put_back <- keep_generator()
  on.exit(put_back())
  assign(".Random.seed", stream, globalenv())
  value <- f()
  list(value = value, stream = get(".Random.seed", globalenv()))
}

draw_seeds <- function(n) sample.int(.Machine$integer.max, n)

# Evaluates draw() as stats::simulate() requires: with `seed`, and the session's generator is then restored; otherwise
# from the session's. The seed returned reproduces the draw.
draw_seeded <- function(draw, seed) {
  before <- session_state()
  if (is.null(seed)) {
    return(list(value = draw(), seed = before))
  }
  put_back <- keep_generator()
  on.exit(put_back())
  set.seed(check_count(seed, "seed", -.Machine$integer.max))
  list(value = draw(), seed = structure(unclass(seed), kind = as.list(RNGkind())))
}

random_unit <- function(n_row, n_column) matrix(stats::runif(n_row * n_column, 0.05, 0.95), n_row, n_column)

# Draws rows from Dirichlets with these parameters, a matrix.
draw_dirichlet <- function(alpha) {
  alpha[] <- pmax(stats::rgamma(length(alpha), alpha), 1e-300)
  alpha / rowSums(alpha)
}

random_simplex <- function(n_row, n_column) {
  s <- matrix(stats::runif(n_row * n_column, 0.1, 1), n_row, n_column)
  s / rowSums(s)
}
