# How an aspect Bernoulli fit presents itself.

#' @export
model_title.aspect_bernoulli <- function(fit) "Aspect Bernoulli model"

#' @export
print.aspect_bernoulli <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  NextMethod()
  writeLines(phantom_sentences(x))
  invisible(x)
}

# In plain words: which component is a phantom, how much of the table it writes, what follows.
phantom_sentences <- function(fit) {
  if (!is.null(fit$missed_by)) {
    return(visit_sentences(fit))
  }
  table <- phantoms(fit)
  if (all(table$kind == "content")) {
    return(c("No phantom found: no component writes only absences or only presences.", near_phantom(table)))
  }
  describe <- function(kind, cells, label) {
    at <- table[table$kind == kind, ]
    if (!nrow(at)) {
      return(NULL)
    }
    probability <- if (kind == "white") at$max else at$min
    sprintf(
      "%s phantom: %s%s writes %s %% of the table, %s %s (%s probability of a presence %s).",
      c(white = "White", black = "Black")[[kind]], at$component, ifelse(at$pinned, " (pinned)", ""),
      format_percent(at$weight), ifelse(probability == (kind == "black"), "only", "almost only"), cells,
      label, format_each(probability)
    )
  }
  c(
    describe("white", "absences", "highest"), if (!is.null(fit$effort)) effort_sentence(fit),
    expected_sentence(fit, "absences", any(table$kind == "white")),
    describe("black", "presences", "lowest"), expected_sentence(fit, "presences", any(table$kind == "black"))
  )
}

# A component that misses the rule by little may be a partial phantom: said, not hidden.
near_phantom <- function(table) {
  ratio <- pmin(table$white_ratio, table$black_ratio, na.rm = TRUE)
  near <- which(ratio <= 0.5 & table$weight > 0.1)
  if (!length(near)) {
    return(NULL)
  }
  at <- near[which.min(ratio[near])]
  white <- ratio[at] %in% table$white_ratio[at]
  sprintf(
    "%s comes near: it writes %s %% of the table, at %s of the table's density of %s (a phantom: at most 0.2).",
    table$component[at], format_percent(table$weight[at]), format_each(ratio[at]),
    if (white) "presences" else "absences"
  )
}

format_each <- function(x) vapply(signif(x, 2L), format, "", digits = 2L, USE.NAMES = FALSE)

format_chance <- function(p) ifelse(p < 0.001, "below 0.001", format_each(p))

# Shares and expected numbers as one would say them.
format_percent <- function(share) ifelse(share < 0.001, "less than 0.1", format_each(100 * share))

format_expected <- function(x) if (x < 1) "fewer than 1" else paste("about", format(signif(x, 3L)))

expected_sentence <- function(fit, of, has_phantom) {
  total <- fit$expected_false[[of]]
  if (!has_phantom || is.null(total) || anyNA(total)) {
    return(NULL)
  }
  sprintf(
    "Of %.0f %s %s (%s %%) are expected to be false: false_%s() ranks them.", total[["cells"]], of,
    format_expected(total[["expected"]]), format_percent(total[["expected"]] / max(1, total[["cells"]])), of
  )
}

#' The information criterion of the aspect Bernoulli paper
#'
#' \eqn{-L + P} with log-likelihood \eqn{L} and number of free parameters \eqn{P}, eq. (27) of the paper: half of
#' what [stats::AIC()] gives, so both prefer the same model. The count of parameters is a convention: most
#' probabilities of a maximum-likelihood fit lie at 0 or 1, where the theory behind the criterion does not hold.
#'
#' @param fit a fit of [aspect_bernoulli()] with `estimate = "ml"`.
#' @param ... must be empty.
#' @return One number, in nats; smaller is better. A fit that maximised something else is an error of class
#'   `multicause_input_error`.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' fit <- aspect_bernoulli(matrix(rbinom(200, 1, 0.3), 20, 10), k = 2)
#' aic_paper(fit)
#' AIC(fit) / 2
#' @export
aic_paper <- function(fit, ...) {
  check_dots(...)
  check_fit(fit, "aspect_bernoulli")
  likelihood <- logLik(fit)
  attr(likelihood, "df") - as.numeric(likelihood)
}

#' Summary of an aspect Bernoulli fit
#'
#' What can be said of a fit as a whole: criteria, phantoms, how the starts ended, how certain the maximum is.
#'
#' @param object a fit of [aspect_bernoulli()].
#' @param ... must be empty.
#' @return A list of class `summary.aspect_bernoulli`:
#' \describe{
#'   \item{`fit`}{title, dimensions, convergence and objective, as printed.}
#'   \item{`criteria`}{`loglik`, `df`, `AIC`, `BIC` (over observed cells), `AIC_paper` (\eqn{-L + P}, eq. 27), in nats;
#'     `NA` criteria for MAP fits, where they have no meaning.}
#'   \item{`phantoms`}{see [phantoms()].}
#'   \item{`expected_false`}{numbers of absences and presences, and how many of each are expected to be false.}
#'   \item{`allowed`}{for each phantom of the fit, the outer bounds of its mean share and of the number of false
#'     absences (presences): what every decomposition that fits as well keeps to, see [identifiability()]; where the
#'     phantom of the fit is not exact and takes more, what it takes. `NULL` without a phantom or without data.}
#'   \item{`free_starts`}{of the finished starts that impose no phantom, their number and how many `found` one.}
#'   \item{`starts`}{by kind of start: number, finished, reached the best, best objective.}
#'   \item{`certificate`}{as in the fit.}
#'   \item{`n_missing`}{number of unknown cells; `unobserved`, rows and columns with nothing observed.}
#' }
#' Of a fit with `estimate = "gibbs"`, which maximises nothing, the class is `summary.aspect_bernoulli_gibbs`, and
#' `quantities`, a data frame as in [summary.bmf()][bmf_methods], stands in place of `criteria`, `free_starts`,
#' `starts`, `certificate` and `unobserved`.
#' @examples
#' set.seed(1)
#' summary(aspect_bernoulli(matrix(rbinom(200, 1, 0.3), 20, 10), k = 2))
#' @export
summary.aspect_bernoulli <- function(object, ...) {
  check_dots(...)
  d <- object$dims
  ml <- identical(names(object$objective), "log_likelihood")
  structure(
    list(
      fit = object[c("dims", "objective", "converged", "starts", "trace", "names", "expected_false", "estimate")],
      criteria = c(
        loglik = object$loglik, df = object$df, AIC = if (ml) stats::AIC(object) else NA,
        BIC = if (ml) stats::BIC(object) else NA, AIC_paper = if (ml) aic_paper(object) else NA
      ),
      phantoms = phantoms(object), expected_false = object$expected_false,
      free_starts = count_free_starts(object$starts), starts = summarise_starts(object$starts),
      certificate = object$certificate, n_missing = d[["n"]] * d[["m"]] - d[["observed"]],
      unobserved = c(rows = sum(object$margins$row_observed == 0), columns = sum(object$margins$column_observed == 0)),
      allowed = allowed_bounds(object), sentences = phantom_sentences(object),
      title = utils::capture.output(print.multicause(object))
    ),
    class = "summary.aspect_bernoulli"
  )
}

# The outer bounds, which cost no more than the fitted values. They are of exact phantoms; what a fit says whose own is
# not exact may be more, and is then the most.
allowed_bounds <- function(fit) {
  colours <- intersect(c("white", "black"), phantoms(fit)$kind)
  if (!length(colours) || is.null(fit$x) || !is.null(fit$missed_by)) {
    return(NULL)
  }
  bounds <- lapply(colours, function(colour) {
    outer <- outer_bounds(fit, fit$x, colour)
    share <- phantom_share(fit, phantoms(fit)$kind, colour)
    ranked <- if (colour == "white") false_absences(fit, n = 1L) else false_presences(fit, n = 1L)
    data.frame(
      phantom = colour, share_least = 0, share_most = mean(pmax(1 - outer$top, share)), expected_least = 0,
      expected_most = attr(ranked, "expected_most")
    )
  })
  do.call(rbind, bounds)
}

allowed_sentences <- function(allowed) {
  sprintf(
    paste(
      "No fit with the same probabilities gives the %s phantom more than %s %% of the table,",
      "or has more than %s false %s: identifiability() tells more."
    ),
    allowed$phantom, format_percent(allowed$share_most), format(signif(allowed$expected_most, 3L)),
    vapply(allowed$phantom, false_of, "")
  )
}

count_free_starts <- function(starts) {
  if (is.null(starts$phantom)) {
    return(c(finished = 0L, found = 0L))
  }
  free <- starts$finished & starts$init %in% c("mixture", "uniform")
  c(finished = sum(free), found = sum(starts$phantom[free]))
}

summarise_starts <- function(starts) {
  by <- split(starts, factor(starts$init, unique(starts$init)))
  data.frame(
    init = names(by), starts = vapply(by, nrow, 0L),
    finished = vapply(by, function(kind) sum(kind$finished), 0L),
    reached_best = vapply(by, function(kind) sum(kind$reached_best), 0L),
    best_objective = vapply(by, function(kind) max(kind$objective), 0), row.names = NULL
  )
}

#' @export
print.summary.aspect_bernoulli <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  writeLines(c(x$title, x$sentences, if (!is.null(x$allowed)) allowed_sentences(x$allowed)))
  if (x$n_missing > 0) {
    cat(sprintf(
      "%.0f cells unknown; %d row(s) and %d column(s) with nothing observed\n", x$n_missing,
      x$unobserved[["rows"]], x$unobserved[["columns"]]
    ))
  }
  shown <- vapply(x$criteria, format, "", digits = max(digits, 7L))
  if (anyNA(x$criteria)) {
    cat(sprintf(
      "\nLog-likelihood at the estimate %s; no AIC or BIC, as it was not maximised\n", shown[["loglik"]]
    ))
  } else {
    cat(sprintf(
      "\nLog-likelihood %s with %s parameters; AIC %s, BIC %s, the paper's -L + P %s\n", shown[["loglik"]],
      shown[["df"]], shown[["AIC"]], shown[["BIC"]], shown[["AIC_paper"]]
    ))
  }
  if (!is.na(x$certificate[["aspects_gap"]])) {
    gap <- format(x$certificate[["membership_gap"]], digits = 2L)
    known <- !is.na(x$certificate[["membership_gap"]])
    cat(sprintf(
      "Could gain at most %s%s nats by better aspects alone\n",
      if (known) paste0(gap, " nats by better memberships alone, ") else "",
      format(x$certificate[["aspects_gap"]], digits = 2L)
    ))
  }
  cat("\nStarts\n")
  print.data.frame(x$starts, row.names = FALSE, digits = max(digits, 7L))
  if (x$free_starts[["finished"]] > 0 && !any(x$phantoms$pinned)) {
    cat(sprintf(
      "A phantom was found by %d of the %d finished starts that impose none\n", x$free_starts[["found"]],
      x$free_starts[["finished"]]
    ))
  }
  cat("\n")
  print(x$phantoms)
  invisible(x)
}
