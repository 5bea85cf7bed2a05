# Methods for fits of aspect_bernoulli(estimate = "gibbs").

fit_sentences.aspect_bernoulli_gibbs <- function(fit, digits = 4L) sampled_sentences(fit)

sampled_sentences <- function(fit) {
  chains <- length(unique(fit$trace$chain))
  c(
    sprintf("%s: %s", model_title(fit), shape_words(fit)),
    sprintf(
      "%s of %s of a Gibbs sampler; %s", count_words(nrow(fit$trace), "draw"), count_words(chains, "chain"),
      agreement_words(fit)
    ),
    disagreement_sentence(fit)
  )
}

#' @export
summary.aspect_bernoulli_gibbs <- function(object, ...) {
  check_dots(...)
  structure(
    list(
      fit = object[c("dims", "objective", "converged", "starts", "trace", "names", "estimate")], seed = object$seed,
      quantities = quantity_table(object), phantoms = phantoms(object), expected_false = expected_numbers(object),
      n_missing = object$dims[["n"]] * object$dims[["m"]] - object$dims[["observed"]],
      allowed = allowed_bounds(object), sentences = found_sentences(object),
      title = c(known_by(object), fit_sentences(object))
    ),
    class = "summary.aspect_bernoulli_gibbs"
  )
}

#' @export
print.summary.aspect_bernoulli_gibbs <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits)
  writeLines(c(x$sentences, if (!is.null(x$allowed)) allowed_sentences(x$allowed), x$title))
  if (x$n_missing > 0) cat(sprintf("%s unknown\n", count_words(x$n_missing, "cell")))
  print_sampled(x, digits)
  cat("\n")
  print(x$phantoms)
  invisible(x)
}

print_sampled <- function(x, digits) {
  cat("\nQuantities that do not depend on labels:\n")
  print_quantities(x$quantities, digits)
  few <- x$quantities$quantity[which(x$quantities$ess_bulk < 100)]
  if (length(few)) {
    cat(sprintf("Fewer than 100 effective draws of %s: give more draws or thin more.\n", show_names(few)))
  }
  writeLines(as.character(seed_sentence(x$seed)))
}

#' @export
logLik.aspect_bernoulli_gibbs <- function(object, ...) {
  stop_input(paste(
    "`estimate = \"gibbs\"` samples a posterior and maximises nothing, so logLik(), AIC() and BIC() have no meaning",
    "for it; `fit$trace$log_likelihood` has the log-likelihood of each draw."
  ))
}

#' @rdname predict.aspect_bernoulli
#' @export
predict.aspect_bernoulli_gibbs <- function(object, newdata = NULL, type = c("response", "membership", "cell"), ...,
                                           rows = NULL, level = NULL) {
  type <- check_choice(type)
  own <- is.null(newdata)
  if (!is.null(level)) {
    level <- check_number(level, "level", 0, 1, open = TRUE)
    if (!own || type != "response") {
      stop_input(
        "`level` is for the probabilities of the data's own cells: without `newdata`, `type = \"response\"`."
      )
    }
  }
  if (!own) {
    return(predict.aspect_bernoulli(object, newdata, type, ..., rows = rows))
  }
  out <- predict.aspect_bernoulli(object, type = type, ..., rows = rows)
  if (type != "response") {
    return(out)
  }
  at <- pick(rows, object$dims[["n"]], object$names[[1L]], "rows")
  cells <- lapply(object$cells$probability, function(part) {
    structure(part[at, , drop = FALSE], dimnames = dimnames(out))
  })
  if (is.null(level)) cells$mean else c(cells["mean"], beta_interval(cells$mean, cells$sd, level))
}

# The first four quantities of the trace, with titles.
gibbs_shown <- function(fit) {
  names <- utils::head(quantities(fit), 4L)
  titles <- c(objective = "log joint density", log_likelihood = "log-likelihood")
  stats::setNames(ifelse(names %in% names(titles), titles[names], sub("_", " ", names)), names)
}

is_sampled.aspect_bernoulli_gibbs <- function(fit) TRUE

# The means over draws of the cells' probabilities, as fitted() gives them.
row_cells.aspect_bernoulli_gibbs <- function(fit, family) row_cells.default(fit, family)
