# From chains to a fit of bmf().

bmf_note_names <- c(
  "objective", "log_likelihood", "row_features", "column_features", "row_entries", "column_entries"
)

bmf_new_fit <- function(jobs, problem, data, fixed, call) {
  jobs <- drawn_jobs(jobs)
  best <- jobs[[which.max(vapply(jobs, function(job) job$best_joint, 0))]]
  names <- dimnames_of(data$x)
  trace <- bmf_trace(jobs, problem, names)
  param <- bmf_param(best$best, fixed, names)
  mean <- Reduce(`+`, lapply(jobs, function(job) job$mean)) / nrow(trace)
  dimnames(mean) <- if (!is.null(unlist(names))) names
  fit <- new_multicause(
    param = param, objective = c(log_joint = best$best_joint),
    loglik = trace$log_likelihood[which.max(trace$objective)], df = NA_real_,
    dims = c(
      n = nrow(data$x), m = ncol(data$x), k = ncol(param$rows) - problem$n_fixed[[1L]],
      l = ncol(param$columns) - problem$n_fixed[[2L]], observed = as.integer(sum(data$margins$row_observed))
    ),
    trace = trace, starts = bmf_starts(jobs), converged = NA, control = problem$control, call = call, x = data$x,
    family = problem$family, size = problem$size, prior = problem$prior, fixed = fixed, mean = mean,
    kept = lapply(jobs, function(job) job$kept), names = names, class = "bmf"
  )
  fit$converged <- chains_agree(fit, bmf_note_names[1:4])
  if (isFALSE(fit$converged)) tell_disagreement(fit)
  validate_bmf(fit)
}

validate_bmf <- function(fit) {
  d <- fit$dims
  stopifnot(
    nrow(fit$param$rows) == d[["n"]], nrow(fit$param$columns) == d[["m"]],
    identical(dim(fit$param$weights), c(ncol(fit$param$rows), ncol(fit$param$columns))),
    all(fit$param$rows %in% 0:1), all(fit$param$columns %in% 0:1), identical(dim(fit$mean), unname(d[c("n", "m")]))
  )
  fit
}

bmf_trace <- function(jobs, problem, names) {
  hyper <- bmf_hyper_names[problem$model$learned]
  at <- c(seq_along(bmf_note_names), length(bmf_note_names) + which(problem$model$learned))
  probes <- ncol(problem$probe)
  at <- c(at, length(bmf_note_names) + length(bmf_hyper_names) + seq_len(probes))
  columns <- c(bmf_note_names, hyper, probe_names(problem$probe, names))
  note_frame(jobs, at, columns)
}

bmf_starts <- function(jobs) {
  frames <- Map(function(job, chain) {
    if (is.null(job$starts)) {
      return(NULL)
    }
    best <- max(job$starts$objective)
    cbind(chain = chain, job$starts, reached_best = job$starts$objective >= best - 1)
  }, jobs, seq_along(jobs))
  out <- do.call(rbind, frames)
  if (is.null(out)) data.frame(chain = seq_along(jobs), start = 1L, init = "given") else out
}

# A state as users see it: named, free features by falling number of members.
bmf_param <- function(state, fixed, names) {
  rows <- bmf_sorted(state$rows, fixed$rows, "R", names[[1L]])
  columns <- bmf_sorted(state$columns, fixed$columns, "C", names[[2L]])
  weights <- state$weights[rows$order, columns$order, drop = FALSE]
  dimnames(weights) <- list(colnames(rows$features), colnames(columns$features))
  list(
    rows = rows$features, columns = columns$features, weights = weights,
    hyper = stats::setNames(state$hyper, bmf_hyper_names)
  )
}

bmf_sorted <- function(on, fixed, letter, names) {
  features <- as_number_matrix(on)
  n_fixed <- ncol(fixed)
  free <- setdiff(seq_len(ncol(features)), seq_len(n_fixed))
  order <- c(seq_len(n_fixed), free[order(-colSums(features[, free, drop = FALSE]))])
  features <- features[, order, drop = FALSE]
  given <- if (is.null(colnames(fixed))) sprintf("fixed%d", seq_len(n_fixed)) else colnames(fixed)
  dimnames(features) <- list(names, c(given, sprintf("%s%d", letter, seq_along(free))))
  list(features = features, order = order)
}
