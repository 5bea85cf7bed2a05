# Geweke's joint test: a chain that alternates sweeps with fresh data has the model's joint distribution.

bmf_geweke <- function(s, n_sweep, n_batch = 40L) {
  drawn <- draw_bmf(s)
  state <- drawn$state
  x <- drawn$x
  chain <- vapply(seq_len(n_sweep), function(t) {
    state <<- sweep_bmf(s, state, x)
    x <<- draw_bmf_data(s, state)
    bmf_statistics(s, state, x)
  }, bmf_statistics(s, state, x))
  model <- replicate(n_sweep, {
    drawn <- draw_bmf(s)
    bmf_statistics(s, drawn$state, drawn$x)
  })
  size <- n_sweep %/% n_batch
  batch <- apply(chain[, seq_len(size * n_batch)], 1, function(d) colMeans(matrix(d, size)))
  error <- sqrt(apply(batch, 2, stats::var) / n_batch + apply(model, 1, stats::var) / n_sweep)
  moved <- error > 1e-12
  ((rowMeans(chain) - rowMeans(model)) / error)[moved]
}
