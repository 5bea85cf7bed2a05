# What serves every model: new data, simulation, summary, plot, and the few generics by which the tools for choosing and
# comparing models see a fit.

# New rows, their columns matched to the training attributes: as check_data() gives it.
check_newdata <- function(fit, newdata, kind) {
  check_data(new_rows(fit, newdata), kind, "newdata", quiet = TRUE)
}

# nsim data sets from draw(), with the names of the fit's data, as stats::simulate() asks.
simulate_with <- function(object, nsim, seed, draw) {
  nsim <- check_count(nsim, "nsim")
  drawn <- draw_seeded(function() {
    lapply(seq_len(nsim), function(i) {
      out <- draw()
      dimnames(out) <- name_sides(object$names)
      out
    })
  }, seed)
  names(drawn$value) <- paste0("sim_", seq_len(nsim))
  structure(drawn$value, seed = drawn$seed)
}

random_bernoulli <- function(p) {
  matrix(stats::rbinom(length(p), 1L, pmin(pmax(p, 0), 1)), nrow(p), ncol(p))
}

# The k x m matrix that says what each component is, and the fit with its components in another order.
component_matrix <- function(fit) UseMethod("component_matrix")

#' @export
component_matrix.default <- function(fit) {
  stop_input("`fit` must be of a model with components over attributes, not of %s().", class(fit)[1L])
}

#' @export
component_matrix.aspect_bernoulli <- function(fit) fit$param$aspects

#' @export
component_matrix.bernoulli_mixture <- function(fit) fit$param$prototypes

#' @export
component_matrix.logistic_pca <- function(fit) fit$param$loadings

#' @export
component_matrix.nmf <- function(fit) fit$param$basis

#' @export
component_matrix.plsa <- function(fit) fit$param$basis

#' Summary and plot of any fit
#'
#' What every model has to say of itself. [aspect_bernoulli()] has its own: [summary.aspect_bernoulli()],
#' [plot.aspect_bernoulli()].
#'
#' @param object,x a fit of any model of this package.
#' @param what `"components"`: a heat map of what each component says of every attribute; `"trace"`: how far every start
#'   was below the best, pass by pass; `"curves"` and `"map"`: for a fit with `smooth`, as in
#'   [plot.aspect_bernoulli()].
#' @param attribute,slices for `"curves"` and `"map"`, as in [plot.aspect_bernoulli()].
#' @param order `"seriated"` (by main component, then by strength) or `"data"`.
#' @param main title.
#' @param ... must be empty.
#' @return `summary()`: a list of class `summary.multicause` with `title`, `criteria` (`loglik`, `df`, `AIC`, `BIC` over
#'   observed cells, in nats; `NA` where they have no meaning), `starts` (by kind of start: number, finished, reached
#'   the best, best objective) and `n_missing`, the number of unknown cells. `plot()`: `x`, invisibly.
#' @examples
#' set.seed(1)
#' fit <- bernoulli_mixture(matrix(rbinom(200, 1, 0.3), 20, 10), k = 2)
#' summary(fit)
#' plot(fit)
#' @export
summary.multicause <- function(object, ...) {
  check_dots(...)
  d <- object$dims
  likely <- identical(names(object$objective), "log_likelihood")
  structure(
    list(
      title = utils::capture.output(print.multicause(object)),
      criteria = c(
        loglik = object$loglik, df = object$df, AIC = if (likely) stats::AIC(object) else NA,
        BIC = if (likely) stats::BIC(object) else NA
      ),
      starts = summarise_starts(object$starts), n_missing = d[["n"]] * d[["m"]] - d[["observed"]]
    ),
    class = "summary.multicause"
  )
}

#' @export
print.summary.multicause <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  writeLines(x$title)
  if (x$n_missing > 0) cat(sprintf("%.0f cells unknown\n", x$n_missing))
  shown <- vapply(x$criteria, format, "", digits = max(digits, 7L))
  if (!anyNA(x$criteria)) {
    cat(sprintf(
      "\nLog-likelihood %s with %s parameters; AIC %s, BIC %s\n", shown[["loglik"]], shown[["df"]], shown[["AIC"]],
      shown[["BIC"]]
    ))
  } else if (!is.na(x$criteria[["loglik"]])) {
    cat(sprintf("\nLog-likelihood at the estimate %s; no AIC or BIC, as it was not maximised\n", shown[["loglik"]]))
  }
  cat("\nStarts\n")
  print.data.frame(x$starts, row.names = FALSE, digits = max(digits, 7L))
  invisible(x)
}

#' @rdname summary.multicause
#' @export
plot.multicause <- function(x, what = c("components", "trace", "curves", "map"), order = c("seriated", "data"),
                            main = NULL, ..., attribute = NULL, slices = 4) {
  draw_view(plot_view(x, what, order, main, ..., attribute = attribute, slices = slices))
  invisible(x)
}

#' @export
plot_view.multicause <- function(x, what = c("components", "trace", "curves", "map"), order = c("seriated", "data"),
                                 main = NULL, ..., attribute = NULL, slices = 4) {
  check_dots(...)
  check_title(main)
  what <- check_choice(what, "what", c("components", "trace", "curves", "map"))
  order <- check_choice(order, "order", c("seriated", "data"))
  if (what == "trace") {
    return(trace_view(x, main))
  }
  if (what %in% c("curves", "map")) {
    return(smooth_view(x, what, attribute, slices, main))
  }
  components <- component_matrix(x)
  if (nrow(components) == 0L) stop_input("`x` has no components to plot.")
  if (order == "seriated") components <- components[, seriate(abs(components)), drop = FALSE]
  limits <- if (any(components < 0)) c(-1, 1) * max(abs(components)) else c(0, max(components, 1e-300))
  colours <- if (limits[1L] < 0) grDevices::hcl.colors(101L, "Blue-Red 3") else probability_colours()
  heat_view(t(components), limits, colours, if (is.null(main)) model_title(x) else main, legend = component_scale(x))
}

component_scale <- function(fit) {
  switch(class(fit)[1L],
    bernoulli_mixture = "probability", logistic_pca = "loading (log-odds)", "share of the component"
  )
}
