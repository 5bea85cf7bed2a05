#' Models of other packages, and of one's own
#'
#' [cross_validate()], [select_k()], [compare_models()], [ensemble()] and [recovery()] take any model, written as a
#' function of the table in a few lines. Here is what such a function must do, and recipes for models with which those
#' of this package are often compared.
#'
#' @details
#' **A model** is `function(x, k)`, or `function(x)` where it has no components. It returns a fit of this package, or
#' a numeric matrix in the shape of `x`: for a table of 0 and 1 the chance of a presence in every cell, for counts and
#' other numbers its mean. Rows and columns with names may come in any order. Hidden cells of `x` are `NA`. A model
#' that takes no `NA` must say what they are to be: 0 is simple, and makes every chance too low. `x` is a matrix; it is
#' sparse where the data are.
#'
#' A function that has an argument `control`, or `...`, is given the [fit_control()] too; further arguments of the verb
#' (`...`, `grid`) go to all models. A function without an argument `k` is fitted once and stands as `k = 0`. It must
#' see the data by way of `x` alone, for elsewhere nothing is hidden.
#'
#' **Scores.** Held-out cells need chances within 0 and 1; a matrix of another shape, with `NA` or with other values is
#' an error that names model, place and value. Chances of exactly 0 or 1 are moved to `floor`, and the print says of how
#' many cells. Held-out rows are judged as those of other models (see [cross_validate()]): the
#' rows of the matrix are equally likely components. Planted omissions need numbers of any size, for only their order
#' counts.
#'
#' **Failures.** A model that fails in one fold, or in all of them, is shown as failed, with its message, and the others
#' are compared without it.
#'
#' @eval c(
#'   "@section Recipes:",
#'   "`source(system.file(\"examples\", \"comparators.R\", package = \"multicause\"))` defines this list.",
#'   "\\preformatted{", gsub("%", "\\\\%", readLines("inst/examples/comparators.R")[-(1:2)]), "}"
#' )
#' @name comparators
#' @seealso [compare_models()]; the article *How it compares* of the site has ten tables.
#' @examples
#' source(system.file("examples", "comparators.R", package = "multicause"))
#' set.seed(1)
#' present <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6))
#' x <- present * rbinom(360, 1, 0.7)
#' means <- function(x) matrix(colMeans(x, na.rm = TRUE), nrow(x), ncol(x), byrow = TRUE)
#' models <- c(list(mixture = bernoulli_mixture, means = means), comparators["pca"])
#' compare_models(
#'   x, models, k = 1:2, criterion = c("cells", "omissions"), folds = 3,
#'   control = fit_control(n_start = 2)
#' )
#' planted <- corrupt(x, omit = c(0, 0.4))
#' recovery(comparators$pca, planted, k = 2)
NULL

# What a model that is not of this package says of a table, as a fit: chances or means of all cells.
#   family  "bernoulli": chances are wanted; of others, or NULL, any numbers
user_model <- function(value, x, setting, family) {
  name <- sprintf("%s(x)", setting$name)
  if (is.data.frame(value) || inherits(value, "Matrix")) value <- as.matrix(value)
  if (!is.numeric(value) || !identical(dim(value), dim(x))) {
    stop_input(
      "`%s` must be a fit of this package or a matrix of %s, a number for each cell of `x`, not %s.", name,
      paste(dim(x), collapse = " x "), show_value(value)
    )
  }
  value <- by_names(value, dimnames_of(x), name)
  refuse_values(value, !is.finite(value), x, name, "have a number for every cell")
  if (identical(family, "bernoulli")) {
    wish <- "hold chances within 0 and 1, as pmin(pmax(p, 0), 1) makes them"
    refuse_values(value, value < -1e-8 | value > 1 + 1e-8, x, name, wish)
  }
  new_multicause(
    param = list(), objective = c(own_criterion = NA_real_), loglik = NA_real_, df = NA_real_,
    dims = c(n = nrow(x), m = ncol(x), k = setting$k, observed = NA),
    trace = data.frame(pass = 0L, objective = NA_real_), starts = data.frame(start = 1L), converged = NA,
    control = NULL, call = NULL, x = x, names = dimnames_of(x), value = value, setting = setting, class = "user_model"
  )
}

refuse_values <- function(value, bad, x, name, wish) {
  bad <- which(bad)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    where <- if (length(at) == 2L) paste0(place(x, 1L, at[1L]), ", ", place(x, 2L, at[2L])) else
      sprintf("cell [%s]", paste(at, collapse = ", "))
    stop_input("`%s` must %s: %s has %s.", name, wish, where, format(value[bad[1L]], digits = 4L))
  }
}

#' @export
fitted.user_model <- function(object, ...) object$value

#' @export
update.user_model <- function(object, x, control, ...) call_model(object$setting, x, control)

model_title.user_model <- function(fit) fit$setting$name

fit_sentences.user_model <- function(fit, digits = 4L) {
  sprintf("%s: a number for each cell of %s", model_title(fit), table_words(fit$dims, axis_words(fit)))
}
