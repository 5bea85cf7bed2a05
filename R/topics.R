# Components as topics: their characteristic terms (attributes), coherence and exclusivity, and the completion of
# documents by a fit of plsa().

#' The terms of each component
#'
#' The terms (taxa) of each component, in one of the orders of topic models: the likeliest, those of largest lift over
#' the whole table, those that are both, or those that are frequent in it and exclusive to it.
#'
#' @details
#' With \eqn{w_{cj}}{w[c,j]} the probability or weight of taxon j in component c (the rows of `basis`, `aspects`,
#' `prototypes`, `links`):
#' * `probability` is \eqn{w_{cj}}{w[c,j]} itself;
#' * `lift` is \eqn{w_{cj}}{w[c,j]} over its mean over all sites, the components weighted by the mean memberships. The
#'   order by lift leaves out taxa with less than 5 % of the component's largest value, whose lift is unreliable;
#' * `relevance` is \eqn{0.6 \log w_{cj} + 0.4 \log}{0.6 log w[c,j] + 0.4 log} of the lift, the weight with which
#'   readers identified topics best (Sievert and Shirley 2014);
#' * `exclusivity` is \eqn{w_{cj} / \sum_d w_{dj}}{w[c,j] / sum_d w[d,j]}, from 0 to 1;
#' * `frex` is the weighted harmonic mean of the ranks, as shares of the taxa, of \eqn{w_{cj}}{w[c,j]} and of
#'   `exclusivity` within the component (Bischof and Airoldi 2012, eq. (7)). A taxon is high where it is both.
#'
#' `print()`, `summary()`, `plot(fit, "top")`, [explore()][explore.plsa] and [sources()] name the taxa of largest
#' relevance among those with at least 5 % of the component's largest value.
#'
#' Components near 0 throughout, such as white phantoms, have no terms.
#'
#' @param fit a fit of a model with components over taxa, none below 0: [plsa()], [nmf()], [aspect_bernoulli()],
#'   [bernoulli_mixture()], [noisy_or()].
#' @param n how many terms of each component: a whole number, or `Inf` for all.
#' @param by `"probability"`, `"relevance"`, `"lift"` or `"frex"`: the order.
#' @param ... must be empty.
#' @param weight share of exclusivity in `frex`, from 0 to 1; the rest is that of frequency.
#' @param level of a fit of [plsa()] with `estimate = "gibbs"`, the probability of the intervals, between 0 and 1.
#' @return A data frame, the first terms of each component first: `component`, `rank`, `term`, `probability`, `lift`,
#'   `relevance`, `exclusivity`, `frex`; of [plsa()] with `estimate = "gibbs"` `lower` and `upper` as well, the ends of
#'   the interval of `probability` (see [confint()][confint.multicause]). Cost: sorts of k rows of m numbers.
#' @references Bischof JM, Airoldi EM (2012). Summarizing topical content with word frequency and exclusivity.
#'   *Proceedings of the 29th International Conference on Machine Learning*, 201-208.
#'
#'   Sievert C, Shirley KE (2014). LDAvis: a method for visualizing and interpreting topics. *Proceedings of the
#'   Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70. \doi{10.3115/v1/W14-3110}
#' @seealso [coherence()]; `plot(fit, "top")`; [tidiers] for all values
#' @examples
#' set.seed(1)
#' counts <- cbind(matrix(rpois(60, 4), 20), matrix(rpois(60, 1), 20))
#' counts <- rbind(counts, counts[, 6:1])
#' colnames(counts) <- c("bone", "tooth", "skull", "leaf", "seed", "pollen")
#' fit <- plsa(counts, k = 2, control = fit_control(n_start = 2))
#' top_terms(fit, 3)
#' top_terms(fit, 3, by = "frex")
#' @export
top_terms <- function(fit, n = 10, by = c("probability", "relevance", "lift", "frex"), ..., weight = 0.5,
                      level = 0.95) {
  check_dots(...)
  check_fit(fit)
  n <- check_shown(n, 1L)
  by <- check_choice(by)
  weight <- check_number(weight, "weight", 0, 1)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  w <- said_of_terms(fit)
  ends <- if (is_sampled(fit)) part_spread(fit, "basis", level)[c("lower", "upper")]
  shown <- which(is_nonempty(w))
  everywhere <- overall_probability(fit, w)
  lift <- sweep(w, 2L, everywhere, "/")
  relevance <- relevance_of(w, everywhere)
  exclusivity <- exclusivity_of(w)
  names <- as.character(label_of(seq_len(ncol(w)), fit$names[[2L]]))
  each <- lapply(shown, function(c) {
    frex <- frex_of(w[c, ], exclusivity[c, ], weight)
    score <- switch(by,
      probability = w[c, ], relevance = relevance[c, ], lift = ifelse(is_characteristic(w[c, ]), lift[c, ], -Inf),
      frex = frex
    )
    at <- utils::head(order(-score, -w[c, ], names, method = "radix"), min(n, sum(score > -Inf)))
    out <- data.frame(
      component = rownames(w)[c], rank = seq_along(at), term = names[at], probability = unname(w[c, at]),
      lift = unname(lift[c, at]), relevance = unname(relevance[c, at]), exclusivity = unname(exclusivity[c, at]),
      frex = unname(frex[at])
    )
    out[names(ends)] <- lapply(ends, function(end) unname(end[c, at]))
    out
  })
  do.call(rbind, unname(each))
}

# Returns the components as k x m values of the attributes, none below 0.
said_of_terms <- function(fit) {
  w <- component_matrix(fit)
  if (!nrow(w)) stop_input("`fit` has no components: k is 0.")
  if (any(w < 0)) {
    stop_input("`fit` must be of a model whose components are not below 0, not of %s().", model_name(fit))
  }
  w
}

exclusivity_of <- function(w) sweep(w, 2L, pmax(colSums(w), 1e-300), "/")

frex_of <- function(probability, exclusivity, weight) {
  share <- function(x) rank(x, ties.method = "max") / length(x)
  1 / (weight / share(exclusivity) + (1 - weight) / share(probability))
}

#' How well the terms of a component hang together
#'
#' Two numbers for each component: whether its first terms occur at the same sites (coherence), and whether they are
#' exclusive to it (exclusivity). Several fits, such as those of [select_k()], give one table over components and k.
#'
#' @details
#' Terms are the first `n` of [top_terms()] by probability. With \eqn{D(i)} the number of sites of `x` that hold
#' term i, \eqn{D(i, j)} the number that hold both, and N the number of sites:
#' * `"npmi"`: the mean over pairs of \eqn{\log(P_{ij} / (P_i P_j)) / -\log P_{ij}}{log(P(i,j) / (P(i) P(j))) / -log
#'   P(i,j)} with P = D / N, from -1 (never together) to 1 (always together); 0 is independence.
#' * `"umass"`: the sum over pairs, i the likelier, of \eqn{\log((D(i, j) + 1) / D(i))}{log((D(i,j) + 1) / D(i))};
#'   larger is better. It depends on `n` and N: compare on the same table.
#'
#' Terms that no site of `x` holds are left out of the pairs. Coherence on the data of the fit favours what was fitted:
#' `x` may be another table with the same taxa. `exclusivity` is the mean of that of [top_terms()] over the terms; it
#' falls as k grows, where components share terms. A component with high coherence and low exclusivity consists of terms
#' that occur everywhere.
#'
#' @param fit a fit as of [top_terms()], or a list of them.
#' @param n how many terms of each component, at least 2.
#' @param method `"npmi"` or `"umass"`.
#' @param ... must be empty.
#' @param x a table of the same taxa, matched by name, in which co-occurrence is counted; `NULL`: the data of the
#'   fit. Unknown cells count as not holding the term.
#' @return A data frame of class `coherence` with a row for each component that has terms: `k`, `component`, `share` (of
#'   the sites' memberships), `coherence`, `exclusivity`, `terms`, separated by blanks. Its `print` ends with the means
#'   over components, by k. Cost: one product of the columns of the terms.
#' @references Bouma G (2009). Normalized (pointwise) mutual information in collocation extraction. *Proceedings of the
#'   Biennial GSCL Conference*, 31-40.
#'
#'   Mimno D, Wallach H, Talley E, Leenders M, McCallum A (2011). Optimizing semantic coherence in topic models.
#'   *Proceedings of the Conference on Empirical Methods in Natural Language Processing*, 262-272.
#' @seealso [document_completion()] for a fit as a whole, [select_k()]
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 2)
#' fits <- lapply(2:3, function(k) bernoulli_mixture(early_tetrapods$x, k, control = few))
#' coherence(fits, n = 5)
#' @export
coherence <- function(fit, n = 10, method = c("npmi", "umass"), ..., x = NULL) {
  check_dots(...)
  if (missing(fit)) stop_missing("fit")
  n <- check_count(n, "n", 2L)
  method <- check_choice(method)
  fits <- if (inherits(fit, "multicause")) list(fit) else fit
  if (!is.list(fits) || !length(fits)) {
    stop_input("`fit` must be a fit of this package or a list of them, not %s.", show_value(fit))
  }
  for (one in fits) check_fit(one)
  out <- do.call(rbind, lapply(fits, coherence_of, n, method, x))
  rownames(out) <- NULL
  structure(out, class = c("coherence", "data.frame"), method = method, n = n)
}

coherence_of <- function(fit, n, method, x) {
  w <- said_of_terms(fit)
  data <- if (is.null(x)) fit_data(fit) else check_newdata(fit, x, data_kind(fit), "x")$x
  tops <- lapply(which(is_nonempty(w)), function(c) utils::head(order(-w[c, ]), n))
  used <- sort(unique(unlist(tops)))
  found <- found_table(data[, used, drop = FALSE])
  both <- cross_sums(found)
  exclusivity <- exclusivity_of(w)
  sites <- ordination(fit)$sites
  names <- as.character(label_of(seq_len(ncol(w)), fit$names[[2L]]))
  shown <- which(is_nonempty(w))
  data.frame(
    k = rep(fit$dims[["k"]], length(shown)), component = rownames(w)[shown],
    share = unname(colSums(sites) / sum(sites))[shown],
    coherence = vapply(tops, function(top) {
      at <- match(top, used)
      pairs_coherence(both[at, at, drop = FALSE], nrow(found), method)
    }, 0),
    exclusivity = vapply(seq_along(shown), function(i) mean(exclusivity[shown[i], tops[[i]]]), 0),
    terms = vapply(tops, function(top) paste(names[top], collapse = " "), "")
  )
}

# both: numbers of observations with both of two terms, the more frequent first; the diagonal has those with one.
pairs_coherence <- function(both, n, method) {
  held <- diag(both) > 0
  both <- both[held, held, drop = FALSE]
  if (sum(held) < 2L) {
    return(NA_real_)
  }
  one <- diag(both)
  pairs <- which(upper.tri(both), arr.ind = TRUE)
  joint <- both[pairs]
  if (method == "umass") {
    return(sum(log((joint + 1) / one[pairs[, 1L]])))
  }
  value <- log(joint * n / (one[pairs[, 1L]] * one[pairs[, 2L]])) / -log(joint / n)
  value[joint == 0] <- -1
  value[joint == n] <- 1
  mean(value)
}

#' @export
print.coherence <- function(x, digits = 3L, n = 20L, ...) {
  check_dots(...)
  digits <- check_digits(digits)
  if (print_as_frame(x, digits, c("k", "coherence", "exclusivity"), "terms")) {
    return(invisible(x))
  }
  shown <- round_columns(as.data.frame(utils::head(x, check_shown(n))), digits)
  cat(sprintf("Coherence (%s) and exclusivity of %s\n", attr(x, "method"), count_words(nrow(x), "component")))
  most <- max(getOption("width") - sum(nchar(names(shown)) + 4L), 20L)
  shown$terms <- clip(shown$terms, most)
  print_rows(shown)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  for (k in unique(x$k)) {
    at <- x$k == k
    cat(sprintf(
      "k = %.0f: mean coherence %s, mean exclusivity %s\n", k,
      format(mean(x$coherence[at], na.rm = TRUE), digits = digits),
      format(mean(x$exclusivity[at]), digits = digits)
    ))
  }
  invisible(x)
}

#' How well a fit completes documents
#'
#' Held-out perplexity of a fit of [plsa()]: each new site is seen in part, its memberships are fitted to that
#' part with the basis held, and the counts of the other part are predicted.
#'
#' @details
#' Each single count of a site is seen with probability `seen`, independently, so both parts have the same distribution.
#' The perplexity is \eqn{\exp(-\sum x_{ij} \log P_i(j) / \sum x_{ij})}{exp(-sum x[i,j] log P_i(j) / sum x[i,j])} over
#' the counts that were not seen: the number of equally likely taxa that would be as hard to predict. A uniform
#' prediction has m; smaller is better.
#'
#' Maximum likelihood gives some taxa a probability of exactly 0, and one count of these would make the perplexity
#' infinite. So P is mixed with what is known without the fit: \eqn{(1 - b) P + b q}{(1 - b) P + b q}, with b the
#' `background` and q the shares of the taxa in training, half a count added to each. Compare fits under the same one.
#' Sites without any seen, or without any unseen, count are left out.
#'
#' Memberships of new sites have the prior of the fit. Without one, as with `estimate = "ml"` and `sparsity` alone, few
#' counts determine them poorly: a perplexity above `background_alone` means that sites have too few counts for
#' memberships of their own.
#'
#' @param fit a fit of [plsa()].
#' @param newdata new sites, whole counts without `NA`, columns matched by name as in [predict.plsa()]. None of them may
#'   have been in training.
#' @param ... must be empty.
#' @param seen probability of each count to be seen, between 0 and 1.
#' @param background share of the background, from 0 to 1.
#' @param x the training data, where the fit was made with `keep_x = FALSE`.
#' @param control settings of the fold-in, from [fit_control()]: `max_iter`, `tol`, `accelerate`, `algorithm`,
#'   `n_threads` and `progress`; others are refused.
#' @return A list of class `document_completion`: `perplexity`; `loglik`, nats of each site's unseen counts;
#'   `counts`, how many these are; `uniform`, the number of taxa; `background_alone`, the perplexity of q. Cost:
#'   a fold-in as of [predict.plsa()].
#' @references Wallach HM, Murray I, Salakhutdinov R, Mimno D (2009). Evaluation methods for topic models. *Proceedings
#'   of the 26th International Conference on Machine Learning*, 1105-1112. \doi{10.1145/1553374.1553515}
#' @seealso [cross_validate()], [coherence()]
#' @examples
#' set.seed(1)
#' basis <- rbind(c(5, 4, 1, 0, 0), c(0, 1, 3, 4, 2)) / 10
#' share <- runif(40)
#' x <- t(apply(cbind(share, 1 - share) %*% basis, 1, function(p) rmultinom(1, 40, p)))
#' fit <- plsa(x[1:30, ], k = 2)
#' document_completion(fit, x[31:40, ])
#' @export
document_completion <- function(fit, newdata, ..., seen = 0.5, background = 0.01, x = NULL,
                                control = fit_control(max_iter = 5000, tol = 1e-10)) {
  check_dots(...)
  check_fit(fit, "plsa")
  check_given(newdata)
  seen <- check_number(seen, "seen", 0, 1, open = TRUE)
  background <- check_number(background, "background", 0, 1)
  control <- check_control(control)
  refuse_settings(control, c("max_iter", "tol", "accelerate", "algorithm", "n_threads", "progress"))
  data <- check_newdata(fit, newdata, "count")
  if (sum(data$margins$row_observed) < prod(dim(data$x))) {
    stop_input("`newdata` must have no unknown cells (NA), since no count can be seen or held out there.")
  }
  learned <- fit_data(fit, x) # apart: an error within a call of Matrix would lose its class
  margin <- Matrix::colSums(learned, na.rm = TRUE) + 0.5
  margin <- unname(margin / sum(margin))
  counts <- Matrix::summary(methods::as(methods::as(data$x, "CsparseMatrix"), "generalMatrix"))
  counts <- counts[!is.na(counts$x) & counts$x > 0, ]
  first <- stats::rbinom(nrow(counts), counts$x, seen)
  shape <- dim(data$x)
  part <- Matrix::sparseMatrix(
    i = counts$i, j = counts$j, x = first, dims = shape, dimnames = list(NULL, colnames(data$x))
  )
  folded <- plsa_fold_in(fit, Matrix::drop0(part), control)$states
  counts$x <- counts$x - first
  counts <- counts[counts$x > 0 & (Matrix::rowSums(part) > 0)[counts$i], ]
  if (!nrow(counts)) stop_input("`newdata` must have rows with counts in both parts: none has.")
  p <- plsa_shares_at(folded, counts$i, counts$j)
  q <- margin[counts$j]
  row <- factor(counts$i, seq_len(shape[1L]))
  by_row <- function(value) stats::setNames(as.vector(tapply(value, row, sum, default = 0)), rownames(data$x))
  loglik <- by_row(counts$x * log((1 - background) * p + background * q))
  total <- sum(counts$x)
  structure(
    list(
      perplexity = exp(-sum(loglik) / total), loglik = loglik, counts = by_row(counts$x), uniform = shape[2L],
      background_alone = exp(-sum(counts$x * log(q)) / total), seen = seen, background = background
    ),
    class = "document_completion"
  )
}

#' @export
print.document_completion <- function(x, digits = 4L, ...) {
  check_dots(...)
  digits <- check_digits(digits)
  show <- function(value) format(value, digits = digits)
  write_sentences(sprintf(
    "Document completion: %s unseen counts of %s (%s %% of each seen)", format_big(sum(x$counts)),
    count_words(sum(x$counts > 0), "row"), show(100 * x$seen)
  ))
  print_aligned(stats::setNames(list(
    c(
      sprintf("  this fit (%s %% background)", show(100 * x$background)), "  shares of the columns in training",
      "  all columns equally likely"
    ), c(show(x$perplexity), show(x$background_alone), show(x$uniform))
  ), c("Perplexity (lower is better)", "")))
  invisible(x)
}

#' Which class is a new site of?
#'
#' Classification by likelihood: [plsa()] is fitted to the sites of each class, and a new site is assigned to the class
#' whose fit has the largest likelihood for it, as in section 4.2 of Shashanka, Raj and Smaragdis (2007).
#'
#' The memberships of a new site are estimated by each fit, so the more components a fit has, the better it explains
#' anything: give all classes the same `k`. A taxon that a class never had is not impossible there: a millionth of the
#' uniform distribution is mixed into each basis.
#'
#' @param fits a named list of two or more fits of [plsa()] to tables with the same taxa, one for each class.
#' @param newdata new sites, as in [predict.plsa()].
#' @param ... must be empty.
#' @param control settings of the fold-in, from [fit_control()]. Cost: that of a prediction by each fit.
#' @return A data frame with a row for each site, named like them: `class`; `margin`, how far its log-likelihood is
#'   above that of the next best, `NA` where nothing is counted; and the log-likelihood of each class, by its name.
#' @inherit plsa references
#' @concept classification by likelihood
#' @seealso [predict.plsa()]
#' @examples
#' set.seed(1)
#' draw <- function(p) t(rmultinom(40, 30, p))
#' few <- fit_control(n_start = 1)
#' fits <- list(
#'   forest = plsa(draw(c(4, 3, 2, 1)), 2, control = few), steppe = plsa(draw(1:4), 2, control = few)
#' )
#' classify(fits, rbind(draw(c(4, 3, 2, 1))[1:2, ], draw(1:4)[1:2, ]))
#' @export
classify <- function(fits, newdata, ..., control = fit_control(max_iter = 5000, tol = 1e-12)) {
  check_dots(...)
  check_given(fits, newdata)
  control <- check_control(control)
  fits <- check_classes(fits)
  taxa <- lapply(fits, side_names, 2L)
  if (is.null(colnames(newdata)) && length(unique(taxa)) > 1L) {
    stop_input("`newdata` must have names of columns, as `fits` have their taxa in different orders.")
  }
  loglik <- lapply(fits, function(fit) {
    m <- fit$dims[["m"]]
    fit$param$basis <- (1 - 1e-6) * fit$param$basis + 1e-6 / m
    attr(stats::predict(fit, newdata, control = control), "loglik")
  })
  names <- names(loglik[[1L]])
  loglik <- matrix(unlist(loglik), ncol = length(fits), dimnames = list(names, names(fits)))
  best <- max.col(loglik, "first")
  next_best <- apply(loglik, 1L, function(each) sort(each, decreasing = TRUE)[2L])
  margin <- loglik[cbind(seq_along(best), best)] - next_best
  empty <- rowSums(loglik != 0) == 0
  class <- replace(names(fits)[best], empty, NA)
  data.frame(class = class, margin = replace(margin, empty, NA), loglik, row.names = names, check.names = FALSE)
}

# Checks fits of classes: modes of plsa() to the same taxa.
check_classes <- function(fits) {
  if (!is.list(fits) || inherits(fits, "multicause") || length(fits) < 2L || !is_named(fits)) {
    stop_input("`fits` must be a named list of two or more fits of plsa(), one for each class, not %s.",
      show_value(fits))
  }
  taken <- intersect(names(fits), c("class", "margin"))
  if (length(taken)) stop_input("`fits` must have other names than %s, which the result has.", show_names(taken))
  taxa <- NULL
  for (name in names(fits)) {
    check_fit(fits[[name]], "plsa", sprintf("fits$%s", name))
    own <- side_names(fits[[name]], 2L)
    taxa <- taxa %||% own
    if (!setequal(taxa, own)) stop_input("`fits` must be of the same taxa: those of \"%s\" differ.", name)
  }
  fits
}
