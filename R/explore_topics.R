# explore() of a fit of plsa(): its topics as one HTML page.

#' A page to explore topics
#'
#' Writes one HTML file that needs no server and no network, in the manner of LDAvis (Sievert and Shirley 2014): the
#' components of a fit of [plsa()] on a plane, the taxa that tell the one that is picked, and the sites that it writes
#' most of. A slider goes from the taxa that a component lifts most to those it makes likeliest.
#'
#' @details
#' Components are discs whose area is their share of all counts. Their distances are the square roots of the
#' Jensen-Shannon divergences of what they say, drawn by classical scaling. The taxa of a component are those of largest
#' relevance \eqn{\lambda \log w_{cj} + (1 - \lambda) \log}{lambda log w[c,j] + (1 - lambda) log} of the lift
#' ([top_terms()]), with \eqn{\lambda} on the slider, .6 at first. A bar is the count of a taxon in the whole table, its
#' dark part what the component is expected to have written of it. Pick a taxon, and the area of each disc is the share
#' of that component in it. All can be done by keyboard.
#'
#' @param x a fit of [plsa()], of any estimate.
#' @param n how many taxa and sites are shown of each component.
#' @inheritParams explore.which_zeros
#' @return The path of the page, invisibly. Wrong input is an error of class `multicause_input_error`.
#' @references Sievert C, Shirley KE (2014). LDAvis: a method for visualizing and interpreting topics. *Proceedings of
#'   the Workshop on Interactive Language Learning, Visualization, and Interfaces*, 63-70.
#'   \doi{10.3115/v1/W14-3110}
#' @seealso [top_terms()], [coherence()], and [explore()][explore.which_zeros] of which zeros are false.
#' @examplesIf requireNamespace("jsonlite", quietly = TRUE)
#' set.seed(1)
#' counts <- cbind(matrix(rpois(60, 4), 20), matrix(rpois(60, 1), 20))
#' counts <- rbind(counts, counts[, 6:1])
#' colnames(counts) <- c("bone", "tooth", "skull", "leaf", "seed", "pollen")
#' fit <- plsa(counts, k = 2, control = fit_control(n_start = 2))
#' page <- explore(fit, tempfile(fileext = ".html"), open = FALSE)
#' file.size(page)
#' @export
explore.plsa <- function(x, file = NULL, ..., n = 30, title = NULL, open = interactive()) {
  check_dots(...)
  n <- check_count(n, "n")
  check_text(title, "title", 1L)
  write_page("topics", function() topics_data(x, n, title), file, open)
}

topics_data <- function(fit, n, title) {
  counts <- fit_data(fit)
  w <- said_of_terms(fit)
  everywhere <- said_by_all(fit, w)
  length <- row_sums(counts, na.rm = TRUE)
  written <- fit$param$membership * length
  size <- colSums(written)
  tops <- lapply(seq_len(nrow(w)), function(c) terms_of_any_weight(w[c, ], everywhere, n))
  terms <- sort(unique(unlist(tops)))
  place <- topic_places(w)
  names <- page_names(fit, 2L)
  list(
    title = title %||% "Topics", words = axis_words(fit), n = n, names = I(component_names(nrow(w))),
    share = I(unname(size / sum(size))), x = I(place[, 1L]), y = I(place[, 2L]),
    terms = I(names[terms]), count = I(unname(column_sums(counts, na.rm = TRUE)[terms])),
    log_lift = I(unname(log(w[, terms, drop = FALSE]) - rep(log(everywhere[terms]), each = nrow(w)))),
    log_share = I(unname(log(w[, terms, drop = FALSE]))), written = I(unname(w[, terms, drop = FALSE] * size)),
    tops = lapply(tops, function(top) I(match(top, terms) - 1L)),
    sites = lapply(seq_len(nrow(w)), function(c) {
      at <- utils::head(order(-written[, c]), n)
      at <- at[written[at, c] > 0]
      list(
        names = I(page_names(fit, 1L)[at]), share = I(unname(fit$param$membership[at, c])),
        written = I(unname(written[at, c]))
      )
    })
  )
}

# The terms that are among the first n for some weight of relevance.
terms_of_any_weight <- function(values, everywhere, n) {
  told <- which(is_told(values))
  each <- lapply(seq(0, 1, 0.05), function(weight) {
    relevance <- drop(relevance_of(t(values[told]), everywhere[told], weight))
    told[utils::head(order(-relevance, -values[told]), n)]
  })
  unique(unlist(each))
}

# Points on a plane whose distances are near the square roots of Jensen-Shannon divergences, a metric.
topic_places <- function(w) {
  p <- w / rowSums(w)
  entropy <- function(p) -sum(p[p > 0] * log(p[p > 0]))
  own <- apply(p, 1L, entropy)
  distance <- function(a, b) sqrt(pmax(entropy((p[a, ] + p[b, ]) / 2) - (own[a] + own[b]) / 2, 0))
  between <- outer(seq_len(nrow(p)), seq_len(nrow(p)), Vectorize(distance))
  axes <- if (nrow(p) > 1L) suppressWarnings(stats::cmdscale(between, min(2L, nrow(p) - 1L)))
  unname(cbind(axes, matrix(0, nrow(p), 2L))[, 1:2, drop = FALSE])
}
