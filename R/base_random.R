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

# The number of set.seed() right after which a state is, NULL where numbers were drawn since or the generator is not the
# usual one. set.seed() fills the state by the steps z -> 69069 z + 1 (mod 2^32), the 52nd of them first, which can be
# taken back.
seed_of_state <- function(state) {
  if (length(state) != 626L || state[1L] %% 100L != 3L || state[2L] != 624L) {
    return(NULL)
  }
  modulus <- 2^32
  times <- function(a, b) { # a b mod 2^32, in halves: doubles hold 53 bits
    (((a %/% 65536 * b) %% modulus * 65536) %% modulus + (a %% 65536) * b %% modulus) %% modulus
  }
  z <- as.double(state[3:6])
  z[is.na(z)] <- -2^31 # what R writes as NA
  z <- z %% modulus
  if (!identical((times(69069, z[-4L]) + 1) %% modulus, z[-1L])) {
    return(NULL)
  }
  seed <- z[1L]
  for (step in 1:52) seed <- times(2783094533, (seed - 1) %% modulus) # 69069 * 2783094533 = 1
  if (seed >= 2^31) seed - modulus else seed
}

# How random numbers were drawn, for summary().
seed_sentence <- function(state) {
  if (is.null(state)) {
    return(NULL)
  }
  seed <- seed_of_state(state)
  if (is.null(seed)) {
    "Random numbers: from the state of the generator in `fit$seed`"
  } else {
    sprintf("Random numbers: set.seed(%.0f)", seed)
  }
}

random_unit <- function(n_row, n_column) matrix(stats::runif(n_row * n_column, 0.05, 0.95), n_row, n_column)

random_simplex <- function(n_row, n_column) {
  s <- matrix(stats::runif(n_row * n_column, 0.1, 1), n_row, n_column)
  s / rowSums(s)
}
