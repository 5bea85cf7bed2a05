# The aspect Bernoulli model of a table in shards (aspect_bernoulli_shards.R) with `smooth`. What neighbours pull at a
# row follows from memberships alone, which the driver reads before each pass: it finds all rows' pulls as in memory
# (src/engine/smooth.h) and sends each shard those of its rows. Tests: test-aspect_bernoulli_shards_smooth.R.

# A smooth_over() of the rows of shards x, or NULL.
check_shards_smooth <- function(smooth, x) {
  smooth <- check_smooth(smooth)
  if (is.null(smooth)) {
    return(NULL)
  }
  for (what in c("bandwidth", "strength")) {
    if (!is.numeric(smooth[[what]])) {
      stop_not_for_shards(
        sprintf("`smooth` with `%s = \"cv\"`", what),
        "give smooth_over() a number; a fit to some rows, `x[i, ]`, chooses one"
      )
    }
  }
  names <- if (!is.null(smooth$names)) shard_names(x)
  rows <- matrix(0, x$dims[["n"]], 0L, dimnames = if (!is.null(names)) list(names, NULL))
  smooth <- match_smooth(smooth, rows)
  if (smooth$strength > 0) smooth
}

# What `sent_rows` of this model gives: memberships of all rows -> list(beside, by_row).
ab_pulls <- function(near, pinned, n_threads) {
  pinned <- as.integer(pinned != "free")
  function(rows) {
    found <- .Call(mc_c_smooth_pulls, rows, pinned, near, n_threads)
    list(beside = found$beside, by_row = found$pulls)
  }
}

ab_smooth_sent_rows <- function(model, n_threads) ab_pulls(model$here$near, model$pinned, n_threads)

ab_smooth_finish_shards_fit <- function(model, fit, found, free) {
  out <- ab_finish_shards_fit(model, fit, found, free)
  rows <- do.call(rbind, lapply(fit$shards$shards$shard, function(s) own_rows(fit, s)))
  out$loglik <- out$loglik - ab_smooth_sent_rows(model, 1L)(rows)$beside
  out$smooth <- model$here$smooth
  out
}

ab_smooth_on_shards <- list(
  sent_rows = ab_smooth_sent_rows, finish = ab_smooth_finish_shards_fit
)
