#' The table without its phantoms
#'
#' Reconstructs the table as its content, the components that are not phantoms, would have made it: phantoms are taken
#' out, the memberships of each site rescaled, and the probabilities rounded to 0 and 1.
#'
#' A probability above 0.5 becomes 1, else 0; exactly 0.5 becomes 0. A site that is all phantom (content below
#' 1e-12) has nothing to rescale and gets the mean content of the table; the result names those. Unknown cells (`NA`)
#' are filled like zeros and counted apart.
#'
#' Rounding alone also loses ones, often most of them in sparse tables, because a taxon whose probability is 0.3 where
#' it lives is never above 0.5. `keep = "union"` keeps every presence of the data; `"replace"` is the rounded table, as
#' in the paper, and removes false presences, too. Both counts are reported either way.
#'
#' @param fit a fit of [aspect_bernoulli()].
#' @param drop which kinds of phantoms to take out: `"white"`, `"black"` or both.
#' @param keep `"union"`: presences of the data stay; `"replace"`: the table is the rounded probabilities.
#' @param ... must be empty.
#' @param site names or numbers of the sites wanted; `NULL` is all. A result over 1 GB is refused; choose fewer sites
#'   then.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @param phantom_convention see [false_absences()].
#' @return A list of class `denoised`:
#' \describe{
#'   \item{`probability`}{sites x m, the probability of a presence if content makes the cell.}
#'   \item{`x`}{sites x m, the reconstructed table, 0 and 1 (integer), without `NA`.}
#'   \item{`counts`}{`zeros` and `ones` in the data, zeros `filled` (now 1), ones `lost` by rounding (with `"union"`
#'     they are kept in `x` all the same), `unknown` cells and how many of them became 1 (`unknown_filled`).}
#'   \item{`dropped`}{names of the components taken out.}
#'   \item{`all_phantom`}{the sites that had no content of their own.}
#'   \item{`keep`}{as given.}
#' }
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [false_absences()]
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, rep(runif(40, 0.2, 1), 12))
#' clean <- denoise(aspect_bernoulli(x, k = 3))
#' clean
#' mean(clean$x == present)
#' @export
denoise <- function(fit, drop = c("white", "black"), ..., site = NULL, kinds = NULL, x = NULL,
                    phantom_convention = c("fitted", "minimal", "maximal"), keep = c("union", "replace")) {
  check_dots(...)
  check_fit(fit)
  if (!is.character(drop) || !length(drop) || !all(drop %in% c("white", "black"))) {
    stop_input("`drop` must be \"white\", \"black\" or both, not %s.", show_value(drop))
  }
  keep <- check_choice(keep)
  if (is.null(fit$param$aspects)) stop_no_phantoms(fit)
  moved <- use_convention(fit, kinds, phantom_convention, x)
  fit <- moved$fit
  kinds <- moved$kinds
  kinds[!kinds %in% drop] <- "content"
  if (all(kinds != "content")) {
    stop_input("`drop` must leave a component: all %d are phantoms.", length(kinds))
  }
  x <- fit_data(fit, x)
  rows <- unique(pick(site, fit$dims[["n"]], fit$names[[1L]], "site"))
  refuse_large(1.5 * length(rows) * fit$dims[["m"]], "The result", "take fewer rows at a time by `site`")
  if (all(kinds == "content")) inform("Nothing to take out: the fit has no %s phantom.", paste(drop, collapse = " or "))
  new_denoised(fit, kinds, rows, dense_rows(x, rows), keep)
}

new_denoised <- function(fit, kinds, rows, observed, keep) {
  content <- kinds == "content"
  probability <- mixed(content_composition(fit, rows, kinds), fit$param$aspects[content, , drop = FALSE])
  one <- probability > 0.5
  counts <- c(
    zeros = sum(observed == 0, na.rm = TRUE), ones = sum(observed == 1, na.rm = TRUE),
    filled = sum(one & observed == 0, na.rm = TRUE), lost = sum(!one & observed == 1, na.rm = TRUE),
    unknown = sum(is.na(observed)), unknown_filled = sum(one & is.na(observed))
  )
  if (keep == "union") one <- one | observed %in% 1
  names <- name_sides(list(fit$names[[1L]][rows], fit$names[[2L]]))
  bare <- rows[all_phantom(fit, rows, kinds)]
  structure(
    list(
      probability = matrix(probability, nrow(one), ncol(one), dimnames = names),
      x = matrix(as.integer(one), nrow(one), ncol(one), dimnames = names), counts = counts,
      dropped = component_names(length(kinds))[!content],
      all_phantom = if (is.null(fit$names[[1L]])) bare else fit$names[[1L]][bare], keep = keep
    ),
    class = "denoised"
  )
}

#' @export
print.denoised <- function(x, ...) {
  n <- x$counts
  cat(sprintf(
    "Denoised table: %s, %s\n", table_words(dim(x$x), axis_words(x)),
    if (length(x$dropped)) paste("without phantom", paste(x$dropped, collapse = " and ")) else "the fit has no phantom"
  ))
  big <- function(name) format_big(n[[name]])
  cat(sprintf("  zeros filled: %s of %s\n", big("filled"), big("zeros")))
  cat(sprintf(
    "  presences with a probability of 0.5 or below: %s of %s, %s\n", big("lost"), big("ones"),
    if (x$keep == "union") "kept" else "set to 0"
  ))
  if (n[["unknown"]]) cat(sprintf("  unknown cells set to 1: %s of %s\n", big("unknown_filled"), big("unknown")))
  if (length(x$all_phantom)) {
    cat(sprintf(
      "  %s without content, set to the table's mean: %s\n", count_words(length(x$all_phantom), "row"),
      show_names(as.character(x$all_phantom))
    ))
  }
  invisible(x)
}

#' Fill in unknown cells
#'
#' Replaces cells that are `NA` by the model's predictions; observed cells stay as they are.
#'
#' @param fit a fit of a model of this package whose `predict()` gives every cell its probability or mean.
#' @param newdata sites with unknown cells, columns matched by name or place; `NULL`: the data of the fit.
#' @param ... must be empty.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns in any order, matched by name.
#' @return A matrix like the data, its unknown cells filled: with the probability of a 1 in 0/1 models, with the
#'   expected count or value in others. Cells that the model cannot predict (impossible rows of [noisy_or()]) stay `NA`.
#' @examples
#' x <- early_tetrapods$x
#' x[1, 2] <- NA
#' impute(bernoulli_mixture(x, k = 2))[1, 1:3]
#' @order 1
#' @export
impute <- function(fit, newdata = NULL, ...) UseMethod("impute")

#' @rdname impute
#' @export
impute.multicause <- function(fit, newdata = NULL, ..., x = NULL) {
  check_dots(...)
  own <- is.null(newdata)
  x <- if (own) fit_data(fit, x) else new_rows(fit, newdata)
  if (own) fit$x <- x
  out <- dense_copy(x)
  unknown <- is.na(out)
  if (any(unknown)) {
    answer <- if (own) fitted(fit) else predict(fit, out)
    out[unknown] <- answer[unknown]
  }
  in_given_order(out, newdata)
}

#' @export
impute.default <- function(fit, newdata = NULL, ...) check_fit(fit)
