# What users do with a fit to shards. A verb goes through the shards one after another and works on each as on a fit in
# memory (shard_fit()). Tests: test-aspect_bernoulli_shards.R.

# The result of aspect_bernoulli() on shards().
ab_new_shards_fit <- function(x, out, version, of, control) {
  pinned <- of$pinned
  k <- length(pinned)
  labels <- component_names(k)
  whole <- list(aspects = out$aspects, shares = membership_sums(x, of$folder, version, k))
  density <- sum(x$column_sum) / max(1, prod(x$dims) - sum(x$column_missing))
  observed <- x$dims[["n"]] - x$column_missing
  order <- seq_len(k)
  if (!is.null(of$starts)) {
    free <- which(pinned == "free")
    kind <- phantom_table(whole, density, pinned, observed > 0)$kind
    order <- c(free[order(kind[free] != "content", -whole$shares$weight[free])], which(pinned != "free"))
  }
  aspects <- whole$aspects[order, , drop = FALSE]
  dimnames(aspects) <- list(labels, x$attributes)
  shares <- lapply(whole$shares, function(part) stats::setNames(part[order], labels))
  objective <- c(ml = "log_likelihood", map = "log_posterior")[[of$estimate]]
  converged <- out$outcome$status == "converged"
  if (!converged && control$max_pass > 0L && control$tol > 0) {
    warning(warningCondition(
      sprintf("Not converged after %d passes: raise `max_pass` in fit_control(), or go on from `checkpoint`.",
        out$outcome$n_pass),
      class = "multicause_not_converged", call = NULL
    ))
  }
  control[c("cluster", "checkpoint")] <- list(NULL)
  structure(
    list(
      param = list(aspects = aspects), shares = shares[c("weight", "alone")],
      objective = stats::setNames(out$outcome$objective, objective),
      loglik = out$outcome$objective - shards_log_prior(of$prior, pinned[order], aspects, shares$log),
      df = x$dims[["n"]] * (k - 1) + sum(pinned == "free") * x$dims[["m"]],
      dims = c(n = x$dims[["n"]], m = x$dims[["m"]], k = k, observed = sum(observed)),
      trace = trace_frame(out$outcome), starts = of$starts, converged = converged, control = control, call = of$call,
      shards = x, folder = of$folder, version = version, order = order, pinned = stats::setNames(pinned[order], labels),
      estimate = of$estimate, prior = of$prior, density = density, algorithm = out$outcome$algorithm
    ),
    class = "aspect_bernoulli_shards"
  )
}

# Over all rows: what membership_shares() has, and sums of logs, which a prior needs.
membership_sums <- function(x, folder, version, k) {
  sums <- 0
  for (s in x$shards$shard) {
    membership <- read_membership(folder, s, version, x$shards$rows[s], k)
    sums <- sums + cbind(
      colSums(membership), colSums(membership * (membership > 0.5)), colSums(log(membership))
    )
  }
  alone <- ifelse(sums[, 1L] > 0, sums[, 2L] / sums[, 1L], 0)
  list(weight = sums[, 1L] / x$dims[["n"]], alone = alone, log = sums[, 3L])
}

shards_log_prior <- function(prior, pinned, aspects, log_shares) {
  counts <- mode_counts(prior, pinned)
  none <- matrix(0, 0L, length(pinned))
  own <- counts[, 3L] > 0
  sum(counts[own, 3L] * log_shares[own]) + mode_log_prior(prior, pinned, list(membership = none, aspects = aspects))
}

is_shards_fit <- function(fit) {
  if (missing(fit)) stop_missing("fit")
  inherits(fit, "aspect_bernoulli_shards")
}

check_shards_fit <- function(fit, name = "object") {
  if (!all(file.exists(membership_file(fit$folder, fit$shards$shards$shard, fit$version)))) {
    stop_input(
      "`%s` has lost its memberships, which were in %s: give fit_control() a `checkpoint` to keep them.", name,
      dQuote(fit$folder, FALSE)
    )
  }
  fit
}

# The fit of one shard as one in memory.
shard_fit <- function(fit, shard) {
  x <- shard_matrix(fit$shards, shard)
  k <- fit$dims[["k"]]
  membership <- read_membership(fit$folder, shard, fit$version, nrow(x), k)[, fit$order, drop = FALSE]
  dimnames(membership) <- list(rownames(x), component_names(k))
  data <- check_data(x, "binary", quiet = TRUE)
  new_multicause(
    param = list(membership = membership, aspects = fit$param$aspects), objective = fit$objective, loglik = fit$loglik,
    df = fit$df, dims = c(n = nrow(x), m = ncol(x), k = k, observed = sum(data$margins$row_observed)),
    trace = fit$trace, starts = data.frame(
      start = 1L, init = "given", objective = unname(fit$objective), passes = nrow(fit$trace), finished = TRUE,
      converged = fit$converged, reached_best = TRUE
    ),
    converged = fit$converged, control = fit$control, call = fit$call, x = data$x, names = dimnames_of(x),
    pinned = fit$pinned, estimate = fit$estimate, prior = fit$prior, density = fit$density, margins = data$margins,
    algorithm = fit$algorithm, shares = fit$shares, class = "aspect_bernoulli"
  )
}

#' @export
print.aspect_bernoulli_shards <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  d <- x$dims
  cat(sprintf(
    "Aspect Bernoulli model of shards: %s observations x %s attributes, %d components\n", format_big(d[["n"]]),
    format_big(d[["m"]]), d[["k"]]
  ))
  cat(sprintf(
    "%s after %d passes, %s %s\n", if (x$converged) "Converged" else "NOT converged", nrow(x$trace),
    objective_words(x), format(unname(x$objective), digits = digits)
  ))
  writeLines(phantom_sentences(x))
  invisible(x)
}

#' @export
summary.aspect_bernoulli_shards <- function(object, ...) {
  check_dots(...)
  structure(list(fit = object, components = phantoms(object)), class = "summary.aspect_bernoulli_shards")
}

#' @export
print.summary.aspect_bernoulli_shards <- function(x, ...) { # nolint: object_name_linter.
  print(x$fit)
  cat("\n")
  print(x$components)
  cat(sprintf("\nMemberships lie in %s\n", x$fit$folder))
  invisible(x)
}

#' @export
plot.aspect_bernoulli_shards <- function(x, ...) stop_no_meaning(x, "plot", elsewhere_for_shards)

# nolint start: object_name_linter.
#' @exportS3Method generics::tidy
tidy.aspect_bernoulli_shards <- function(x, matrix = NULL, ...) {
  check_dots(...)
  tidy_fit(x, matrix)
}

#' @exportS3Method generics::glance
glance.aspect_bernoulli_shards <- function(x, ...) {
  check_dots(...)
  glance_fit(x)
}
# nolint end

#' @export
part_sides.aspect_bernoulli_shards <- function(fit, name, values) c("component", "attribute")

#' @export
phantoms.aspect_bernoulli_shards <- function(fit, ..., white = 0.2, black = 0.5, min_weight = 1e-3) {
  check_dots(...)
  white <- check_share(white, "white")
  black <- check_share(black, "black")
  min_weight <- check_share(min_weight, "min_weight")
  param <- list(aspects = fit$param$aspects, shares = fit$shares)
  observed <- fit$shards$dims[["n"]] - fit$shards$column_missing > 0
  table <- phantom_table(param, fit$density, fit$pinned, observed, white, black, min_weight)
  structure(
    table,
    class = c("phantoms", "data.frame"), density = fit$density,
    rule = c(white = white, black = black, min_weight = min_weight)
  )
}

#' @export
coef.aspect_bernoulli_shards <- function(object, ...) {
  check_dots(...)
  object$param
}

#' @export
nobs.aspect_bernoulli_shards <- function(object, ...) object$dims[["observed"]]

#' @export
logLik.aspect_bernoulli_shards <- function(object, ...) {
  if (object$estimate != "ml") {
    stop_input(
      "This fit maximised its log-posterior, so logLik() has no meaning for it; `fit$loglik` is the log-likelihood."
    )
  }
  structure(object$loglik, df = object$df, nobs = nobs(object), class = "logLik")
}

#' @export
certificate.aspect_bernoulli_shards <- function(fit) {
  check_shards_fit(fit, "fit")
  pinned <- unname(fit$pinned)
  prior <- fit$prior
  aspects <- unname(fit$param$aspects)
  n_shards <- nrow(fit$shards$shards)
  plain <- list(max_pass = 1L, tol = 1, accelerate = FALSE, n_threads = fit$control$n_threads, algorithm = "em")
  nodes <- list()
  worst <- 0
  for (s in fit$shards$shards$shard) {
    view <- read_shard_view(fit$shards$path, s, fit$shards$shards$cells[s])
    own <- read_membership(fit$folder, s, fit$version, view$dim[1L], length(pinned))[, fit$order, drop = FALSE]
    param <- list(membership = own, aspects = aspects)
    gap <- ab_certify(view, param, pinned, prior, fixed_aspects = TRUE)
    worst <- max(worst, gap[3L])
    param <- ab_kernel_param(param, pinned)
    param[c("fixed_membership", "look")] <- list(TRUE, FALSE)
    sums <- .Call(mc_c_ab_shard, view, param, mode_counts(prior, pinned), plain)$sums
    nodes <- add_node(nodes, s, c(gap[1L], sums))
  }
  total <- add_nodes(nodes, n_shards)
  cells <- matrix(utils::tail(total, 2L * length(aspects)), length(aspects))
  counts <- mode_counts(prior, pinned)
  slope <- matrix(cells[, 1L] - cells[, 2L], nrow(aspects))
  push <- function(count, x) {
    out <- count / x
    out[count == 0, ] <- 0
    out
  }
  slope <- slope + push(counts[, 1L], aspects) - push(counts[, 2L], 1 - aspects)
  gain <- pmax(slope * (1 - aspects), -slope * aspects)
  c(membership_gap = total[[1L]], aspects_gap = sum(gain[pinned == "free", ]), worst_row = worst)
}

#' Predictions of an aspect Bernoulli fit to shards
#'
#' What [predict()][predict.aspect_bernoulli] says of a table in memory, for one in [shards()]: written by shard, or for
#' some rows.
#'
#' @details
#' With `path` a file is written for each shard, `response-00001.csv` and so on, with a column `row` of names (or
#' numbers) before those of the result, and a row for each row of the shard. One shard at a time is in memory.
#'
#' @param object a fit of [aspect_bernoulli()] to [shards()].
#' @param newdata new observations in memory, as in [predict()][predict.aspect_bernoulli].
#' @param type `"response"`: probability of a presence in every cell, n m numbers; `"membership"`: n k numbers.
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted, in memory; results over 1 GB are refused.
#' @param path folder for the files, new or empty; without `rows`.
#' @param format `"csv"` or `"parquet"` (package nanoparquet).
#' @return A matrix with the rows asked for; with `path` invisibly the names of the files.
#' @seealso [false_absences()], which ranks the cells of all shards.
#' @examples
#' x <- shards(matrix(rbinom(200, 1, 0.3), 20, 10), tempfile())
#' fit <- aspect_bernoulli(x, k = 2)
#' predict(fit, rows = 1:2, type = "membership")
#' @export
predict.aspect_bernoulli_shards <- function(object, newdata, type = c("response", "membership"), ..., rows = NULL,
                                            path = NULL, format = c("csv", "parquet")) {
  check_dots(...)
  check_shards_fit(object)
  type <- check_choice(type, "type", c("response", "membership"))
  format <- check_format(format)
  if (!missing(newdata) && !is.null(newdata)) {
    return(predict(shard_fit(object, 1L), newdata, type = type, rows = rows))
  }
  if (!is.null(path)) {
    if (!is.null(rows)) stop_input("`rows` and `path` do not go together: files have all rows.")
    return(invisible(write_by_shard(object, path, type, format, function(part) {
      if (type == "response") fitted(part) else part$param$membership
    })))
  }
  d <- object$dims
  n <- if (is.null(rows)) d[["n"]] else length(rows)
  refuse_large(n * d[[if (type == "response") "m" else "k"]], "The prediction", "take some `rows`, or give a `path`")
  parts <- shard_rows(object$shards, rows)
  found <- lapply(which(lengths(parts) > 0L), function(s) {
    predict(shard_fit(object, s), type = type, rows = parts[[s]])
  })
  out <- do.call(rbind, found)
  out[match(attr(parts, "order"), unlist(attr(parts, "key"))), , drop = FALSE]
}

check_format <- function(format) {
  format <- check_choice(format, "format", c("csv", "parquet"))
  if (format == "parquet" && !requireNamespace("nanoparquet", quietly = TRUE)) {
    stop_input("`format = \"parquet\"` needs package nanoparquet.")
  }
  format
}

# Rows asked for by number or name, in each shard, as `[` has them.
shard_rows <- function(x, rows) {
  last <- cumsum(as.double(x$shards$rows))
  if (is.null(rows)) rows <- seq_len(x$dims[["n"]])
  if (is.character(rows)) named_rows(x, rows) else numbered_rows(x, rows, last)
}

#' @rdname predict.aspect_bernoulli_shards
#' @export
fitted.aspect_bernoulli_shards <- function(object, ..., rows = NULL, path = NULL, format = c("csv", "parquet")) {
  check_dots(...)
  predict(object, type = "response", rows = rows, path = path, format = format)
}

# A file for each shard of what f(its fit) gives, a matrix or data frame.
write_by_shard <- function(fit, path, what, format, f) {
  if (is.null(check_file_name(path, "path"))) stop_missing("path")
  if (!dir.exists(path) && !dir.create(path, showWarnings = FALSE)) {
    stop_input("`path` must be a folder that can be made: %s cannot.", dQuote(path, FALSE))
  }
  if (length(list.files(path))) {
    stop_input("`path` must be a new or empty folder: %s holds files.", dQuote(path, FALSE))
  }
  last <- cumsum(as.double(fit$shards$shards$rows))
  vapply(fit$shards$shards$shard, function(s) {
    part <- shard_fit(fit, s)
    out <- f(part)
    if (is.matrix(out)) {
      first <- last[s] - part$dims[["n"]]
      names <- if (is.null(rownames(out))) first + seq_len(nrow(out)) else rownames(out)
      if (is.null(colnames(out))) colnames(out) <- paste0("V", seq_len(ncol(out)))
      out <- data.frame(row = names, out, check.names = FALSE, row.names = NULL)
    }
    file <- file.path(path, sprintf("%s-%05d.%s", what, s, format))
    part_file <- paste0(file, ".part")
    if (format == "csv") {
      utils::write.csv(out, part_file, row.names = FALSE, fileEncoding = "UTF-8")
    } else {
      nanoparquet::write_parquet(as.data.frame(out), part_file)
    }
    if (!file.rename(part_file, file)) stop("the file ", file, " could not be written")
    file
  }, "")
}

# The ranking of false_absences() and false_presences() over all shards: of each its best cells, then the best of these.
rank_shards <- function(fit, asked, by, of, kinds, more) {
  check_shards_fit(fit, "fit")
  if (!is.null(asked$within) || more) {
    stop_input(paste(
      "`within`, `sites`, `x` and `phantom_convention` do not go with a fit to shards: take a fit to some rows,",
      "`x[i, ]`; row_data() has what belongs to the sites."
    ))
  }
  kinds <- component_kinds(fit, kinds)
  score <- names(score_names[[of]])[match(by, score_names[[of]])]
  rows <- if (!is.null(asked$observation)) shard_rows(fit$shards, asked$observation)
  last <- cumsum(as.double(fit$shards$shards$rows))
  ranked <- list(cells = NULL, n_cells = 0, expected = 0, expected_most = 0)
  for (s in fit$shards$shards$shard) {
    if (!is.null(rows) && !length(rows[[s]])) next
    part <- shard_fit(fit, s)
    wanted <- asked
    wanted["observation"] <- list(rows[[s]])
    scope <- cell_scope(part, by, wanted, kinds, NULL)
    found <- rank_cells(part, scope, score, of)
    names <- part$names[[1L]]
    found$cells$name <- if (is.null(names)) character(nrow(found$cells)) else names[found$cells$row]
    found$cells$row <- found$cells$row + (last[s] - part$dims[["n"]])
    sums <- c("n_cells", "expected", "expected_most")
    ranked[sums] <- Map(`+`, ranked[sums], found[sums])
    ranked$cells <- keep_best(rbind(ranked$cells, found$cells), score, scope)
    refuse_large(8 * nrow(ranked$cells), sprintf("All %s", of), "give `n`, or `observation` or `attribute`")
  }
  out <- new_false_cells(
    list(names = list(NULL, fit$shards$attributes), rare = NULL), ranked, list(kinds = kinds, per = scope$per),
    by, of, NULL
  )
  if (nrow(out) && any(nzchar(ranked$cells$name))) out$observation <- ranked$cells$name
  out
}
