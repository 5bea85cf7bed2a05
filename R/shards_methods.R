# Methods of fits to shards, for any model. A method goes through the shards one after another and treats each as a fit
# in memory (shard_fit()). Tests: test-shards_fit.R.

# Returns the parameters of a shard's rows, as the driver left them.
own_rows <- function(fit, shard) {
  extent <- rows_extent(fit$model, fit$shards$shards$rows[shard])
  if (!is.null(fit$model$rows)) read_own_rows(fit$model, fit$folder, shard, fit$version, extent)
}

check_shards_fit <- function(fit, name = "object") {
  if (!has_memberships(fit)) {
    stop_input(
      "`%s` has lost its memberships, which were in %s: set `checkpoint` in fit_control() to keep them.", name,
      dQuote(fit$folder, FALSE)
    )
  }
  fit
}

# Tests whether the files of all shards' memberships exist, or none are needed.
has_memberships <- function(fit) {
  is.null(fit$model$rows) || all(file.exists(membership_file(fit$folder, fit$shards$shards$shard, fit$version)))
}

# Returns the fit of one shard, or of some of its rows, as one in memory; from: the shard, if read already.
shard_fit <- function(fit, shard, rows = NULL, from = shard_parts(fit, shard)) {
  x <- from$x
  own <- from$own
  if (!is.null(rows)) {
    x <- x[rows, , drop = FALSE]
    if (!is.null(own)) own <- own[rows, , drop = FALSE]
  }
  data <- check_data(x, data_kind(fit), quiet = TRUE)
  common <- list(
    objective = fit$objective, loglik = fit$loglik, df = fit$df,
    dims = c(n = nrow(x), m = ncol(x), k = fit$dims[["k"]], observed = sum(data$margins$row_observed)),
    trace = fit$trace, starts = data.frame(
      start = 1L, init = "given", objective = unname(fit$objective), iterations = count_iterations(fit),
      finished = TRUE,
      converged = fit$converged, reached_best = TRUE
    ),
    converged = fit$converged, control = fit$control, call = fit$call, x = data$x, names = dimnames_of(x)
  )
  do.call(new_multicause, c(common, shard_part(fit, own, data)), quote = TRUE) # the call stays one
}

shard_parts <- function(fit, shard) list(x = shard_matrix(fit$shards, shard), own = own_rows(fit, shard))

# Returns the model's own parts of a fit in memory for these rows: `param`, `class` and others. rows: their parameters
# as the driver left them, or NULL.
shard_part <- function(fit, rows, data) UseMethod("shard_part")

# Returns the types of predict(), each with the side of the table in its columns.
shard_types <- function(fit) UseMethod("shard_types")

shard_types.multicause_shards <- function(fit) c(response = "m", membership = "k")

#' @export
print.multicause_shards <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  d <- x$dims
  print_screen(list(
    title = c(
      sprintf(
        "%s of shards: %s, k = %s", model_title(x), table_words(d), format_big(d[["k"]])
      ),
      ended_words(x, digits)
    ),
    table = shards_table(x),
    notes = if (!is.null(x$effort)) effort_sentence(x)
  ))
  invisible(x)
}

# What print() has of each component.
shards_table <- function(fit) UseMethod("shards_table")

shards_table.default <- function(fit) {
  weight <- fit$shares$weight
  if (!is.null(weight)) list(component = names(weight), share = sprintf("%.2f", weight))
}

# `components`: a data frame of what is known of each.
#' @export
summary.multicause_shards <- function(object, ...) {
  check_dots(...)
  weight <- object$shares$weight
  components <- if (!is.null(weight)) data.frame(component = names(weight), weight = unname(weight))
  structure(list(fit = object, components = components), class = "summary.multicause_shards")
}

#' @export
print.summary.multicause_shards <- function(x, ...) { # nolint: object_name_linter.
  print(x$fit)
  if (!is.null(x$components)) {
    cat("\n")
    print(x$components)
  }
  if (!is.null(x$certificate)) print_certificate(x$certificate, names(x$fit$objective))
  if (!is.null(x$fit$model$rows)) cat(sprintf("\nMemberships lie in %s\n", x$fit$folder))
  invisible(x)
}

#' @export
plot.multicause_shards <- function(x, ...) stop_for_some_rows("plot")

#' @export
residuals.multicause_shards <- function(object, ...) stop_for_some_rows("residuals")

#' @export
simulate.multicause_shards <- function(object, nsim, seed, ...) stop_for_some_rows("simulate")

#' @export
deviance.multicause_shards <- function(object, ...) stop_for_some_rows("deviance")

#' @export
vcov.multicause_shards <- function(object, ...) stop_for_some_rows("vcov")

#' @export
confint.multicause_shards <- function(object, parm, level, ...) stop_for_some_rows("confint")

#' @export
augment.multicause_shards <- function(x, ...) stop_for_some_rows("augment")

#' @export
explore.multicause_shards <- function(x, ...) stop_for_some_rows("explore")

stop_for_some_rows <- function(generic) {
  stop_input("%s() is not there for a fit to shards: fit some rows, `x[i, ]`, which fit into memory.", generic)
}

# Treats the fit as one in memory, whose methods may need its settings.
as_in_memory <- function(fit) {
  own <- setdiff(grep("_shards$", class(fit), value = TRUE), "multicause_shards")
  structure(c(unclass(fit), fit$model), class = sub("_shards$", "", own))
}

model_title.multicause_shards <- function(fit) model_title(as_in_memory(fit))

data_kind.multicause_shards <- function(fit) data_kind(as_in_memory(fit))

part_sides.multicause_shards <- function(fit, name, values) part_sides(as_in_memory(fit), name, values)

# Methods that need no cells are those of fits in memory (tidy() and its like in tidy.R).
#' @export
coef.multicause_shards <- coef.multicause

#' @export
nobs.multicause_shards <- function(object, ...) {
  if (is.null(why_no_bic(object))) known_sites(object) else known_cells(object)
}

#' @export
BIC.multicause_shards <- BIC.multicause

why_no_bic.multicause_shards <- function(fit) why_no_bic(as_in_memory(fit))

#' @export
logLik.multicause_shards <- logLik.multicause

#' @export
sigma.multicause_shards <- sigma.multicause

# Evaluates the call again without the folder and the workers of the first fit.
#' @export
update.multicause_shards <- function(object, ..., evaluate = TRUE) {
  changes <- named_changes(match.call(expand.dots = FALSE)$...)
  known <- list(x = object$shards, control = object$control, k = object$dims[["k"]])
  updated_call(object, changes, known, check_flag(evaluate, "evaluate"), parent.frame())
}

#' Predictions of a fit to shards
#'
#' Predictions for a table in [shards()]: for some rows, in memory, or for all, in a file for each shard.
#'
#' @details
#' With `path` a file is written for each shard, `response-00001.csv` and so on, with a column `row` of names (or
#' numbers) before those of the result, and a row for each row of the shard. One shard, and the result for some of its
#' rows, are in memory.
#'
#' @param object a fit to [shards()], of [aspect_bernoulli()], [plsa()], [bernoulli_mixture()], [nmf()],
#'   [logistic_pca()] or [noisy_or()].
#' @param newdata new sites in memory, as in the model's own `predict()`, such as [predict.plsa()]. Not for a fit with
#'   `smooth`.
#' @param type `"response"`: the mean of every cell, n m numbers; or the parameters of the rows, n k numbers:
#'   `"membership"`, for [nmf()] `"coefficients"`, for [logistic_pca()] `"scores"`, for [noisy_or()] `"activation"` or
#'   `"map"`. For [logistic_pca()] also `"link"`.
#' @param ... must be empty.
#' @param rows names or numbers of the rows wanted, in memory; results over 1 GB are refused.
#' @param path folder for the files, new or empty; without `rows`.
#' @param format `"csv"` or `"parquet"` (package nanoparquet).
#' @return A matrix with the rows requested; with `path`, invisibly, the names of the files.
#' @seealso [false_absences()], which ranks the cells of all shards.
#' @examples
#' x <- shards(matrix(rbinom(200, 1, 0.3), 20, 10), tempfile())
#' fit <- aspect_bernoulli(x, k = 2)
#' predict(fit, rows = 1:2, type = "membership")
#' @export
predict.multicause_shards <- function(object, newdata = NULL, type = "response", ..., rows = NULL, path = NULL,
                                      format = c("csv", "parquet")) {
  check_dots(...)
  check_shards_fit(object)
  types <- shard_types(object)
  type <- check_choice(type, "type", names(types))
  format <- check_format(format)
  if (!is.null(newdata)) {
    if (!is.null(object$smooth)) {
      stop_input("`newdata` does not go with a fit to shards with `smooth`: new rows would have no neighbours.")
    }
    out <- predict(shard_fit(object, 1L, 1L), newdata, type = type)
    return(if (is.null(rows)) out else out[pick(rows, nrow(out), rownames(out), "rows"), , drop = FALSE])
  }
  if (!is.null(path)) {
    if (!is.null(rows)) stop_input("`rows` and `path` do not go together: files have all rows.")
    return(invisible(write_by_shard(object, path, type, format)))
  }
  d <- object$dims
  rows <- if (is.null(rows)) seq_len(d[["n"]]) else rows_by_name(object$shards, rows, "rows")
  refuse_large(length(rows) * d[[types[[type]]]], "The prediction", "select `rows`, or set `path`")
  over_rows(object$shards, rows, function(s, own) predict(shard_fit(object, s, own), type = type))
}

check_format <- function(format) {
  format <- check_choice(format, "format", c("csv", "parquet"))
  if (format == "parquet" && !requireNamespace("nanoparquet", quietly = TRUE)) {
    stop_input("`format = \"parquet\"` needs package nanoparquet.")
  }
  format
}

#' @rdname predict.multicause_shards
#' @export
fitted.multicause_shards <- function(object, ..., rows = NULL, path = NULL, format = c("csv", "parquet")) {
  check_dots(...)
  predict(object, type = "response", rows = rows, path = path, format = format)
}

# Writes a file of predictions per shard, of which some are in memory at a time.
write_by_shard <- function(fit, path, type, format) {
  prepare_answer_folder(path)
  m <- fit$dims[[shard_types(fit)[[type]]]]
  vapply(fit$shards$shards$shard, function(s) {
    from <- shard_parts(fit, s)
    answer <- new_answer(file.path(path, sprintf("%s-%05d.%s", type, s, format)), format)
    on.exit(answer$drop())
    for (rows in row_blocks(seq_len(nrow(from$x)), m)) {
      out <- predict(shard_fit(fit, s, rows, from), type = type)
      names <- if (is.null(rownames(out))) row_numbers(fit$shards, s)[rows] else rownames(out)
      if (is.null(colnames(out))) colnames(out) <- paste0("V", seq_len(ncol(out)))
      answer$add(data.frame(row = names, out, check.names = FALSE, row.names = NULL))
    }
    answer$close()
  }, "")
}

# Prepares an empty folder for files of results.
prepare_answer_folder <- function(path) {
  if (is.null(check_file_name(path, "path"))) stop_missing("path")
  make_folder(path, "path")
  if (length(list.files(path))) {
    stop_input("`path` must be a new or empty folder: %s holds files.", dQuote(path, FALSE))
  }
  normalizePath(path) # workers have other working directories
}

# Opens a file to which data frames are appended; it gets its name when complete. drop() removes an incomplete one.
new_answer <- function(file, format) {
  part <- paste0(file, ".part")
  n <- 0L
  begun <- FALSE
  add_parquet <- function(table) {
    if (!begun) {
      return(nanoparquet::write_parquet(table, part))
    }
    kept <- nanoparquet::parquet_options(keep_row_groups = TRUE)
    # append_parquet() reads the file, and fails if an earlier part was not completely written.
    catch_error(nanoparquet::append_parquet(table, part, options = kept), function(e) stop_unwritten(file))
  }
  add <- function(table) {
    if (format == "parquet") add_parquet(table) else append_bytes(csv_text(table, header = !begun), part, file)
    n <<- n + nrow(table)
    begun <<- TRUE
  }
  close <- function() {
    rows <- if (format == "parquet") catch_error(nanoparquet::read_parquet_info(part)$num_rows, function(e) NA)
    if (!isTRUE(all(rows == n)) || !file.rename(part, file)) stop_unwritten(file)
    file
  }
  list(add = add, close = close, drop = function() remove_files(part))
}
