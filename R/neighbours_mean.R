#' The neighbours' mean
#'
#' Predicts each cell from the sites of about the same age and place with similar presences (their lists). It has no
#' components, and is a simple rule with which to compare other models.
#'
#' @details
#' **Model.** The probability of a record of taxon j at site i is the weighted mean of the records of j at all
#' other sites, with one more record at the taxon's frequency \eqn{r_j}:
#' \deqn{p_{ij} = \frac{e \sum_{l \ne i} w_{il} x_{lj} + r_j}{e \sum_{l \ne i} w_{il} o_{lj} + 1}, \quad w_{il}
#' \propto \exp(-d_{il}) (c_{il} + 0.05)^q}{
#' p[i,j] = (e sum_l w[i,l] x[l,j] + r[j]) / (e sum_l w[i,l] o[l,j] + 1), w[i,l] ~ exp(-d[i,l]) (c[i,l] + 0.05)^q}
#' Here \eqn{d} is the distance of [smooth_over()] (in age, place, or any other, each over its bandwidth). \eqn{c} is
#' the cosine of the two lists: shared taxa over the root of the product of their lengths. \eqn{q} is the
#' `similarity`, and \eqn{o} is 1 for known cells. \eqn{e = (\sum w)^2 / \sum w^2} is the effective number of
#' neighbours, the weights summing to 1, and \eqn{r_j} the share of the other sites that have j. Unknown cells count
#' neither in means nor in lists.
#'
#' **What is assumed.** Near sites with similar lists have the same taxa. Where they have not, as in a table of coin
#' tosses, the loss of held-out cells is no smaller than that of the taxa's frequencies (`k = 0` of [logistic_pca()] in
#' [compare_models()]).
#'
#' **Leave-one-out.** A site is not its own neighbour, and for a presence the similarity of lists is taken without it.
#' So `fitted()` gives every cell the probability it would have if it were held out. The objective is the leave-one-out
#' log-likelihood: the sum over known cells of the log-probability of their values.
#'
#' **Bandwidths.** With `bandwidth = "cv"` in [smooth_over()], the default there, the bandwidths are those of the
#' largest objective on a grid of factors of two. Covariates are changed one after another, until no step is better (at
#' most 40 values are tried). In tables of more than 500 rows, 500 of them, evenly spaced, are judged. `strength` and
#' `recording` of [smooth_over()] have no meaning here.
#'
#' **Cost.** The result takes O(n) comparisons and the presences of its neighbours for each site (without `smooth`,
#' the presences of all that share a taxon with it), and a matrix of n x m; a value tried takes as much for at most
#' 500 sites. Sparse data are never made dense. Results do not depend on the number of threads.
#'
#' @inheritParams aspect_bernoulli
#' @param x 0/1 table: sites as rows, taxa as columns, `NA` unknown, as in [aspect_bernoulli()], but not [shards()].
#' @param k must be 0: there are no components. It is there for [cross_validate()] and [compare_models()].
#' @param smooth a result of [smooth_over()] that defines which sites are near each other, or `NULL`: all are equally
#'   near. A site whose age or place is unknown has all others as neighbours. Its `most` is 500 unless given: with 30
#'   the AUC of held-out presences was lower on nine of ten tables, by .016 in the mean (`bench/which_zeros.md`).
#' @param similarity how much the similarity of two lists counts: the power \eqn{q}, from 0 (not at all) to 10.
#' @param control settings from [fit_control()]; only `keep_x` and `n_threads` have a meaning.
#' @return A list of class `neighbours_mean`, with the parts described in [aspect_bernoulli()] (but `certificate`,
#'   `fixed` and `expected_false`), where `param` holds `bandwidth` (named by covariate, may be empty) and `similarity`;
#'   `near` is the [smooth_over()] with its bandwidths; `probability` (n x m) what `fitted()` gives. `loglik` and `df`
#'   are `NA`. `trace` has a row for every bandwidth tried.
#' @references Hill MO (2012). Local frequency as a key to interpreting species occurrence data when recording effort is
#'   not known. *Methods in Ecology and Evolution* 3, 195-205. \doi{10.1111/j.2041-210X.2011.00146.x}
#' @seealso [predict.neighbours_mean()], [smooth_over()], [which_zeros()], [compare_models()]
#' @examples
#' sites <- early_tetrapods$sites
#' near <- smooth_over(age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")])
#' fit <- neighbours_mean(early_tetrapods$x, smooth = near)
#' fit
#' round(fitted(fit)[1:3, 1:3], 3)
#' @export
neighbours_mean <- function(x, k = 0, ..., smooth = NULL, similarity = 1, control = fit_control()) {
  call <- match.call()
  check_dots(...)
  check_given(x)
  check_count(k, "k", 0L, 0L)
  control <- check_control(control)
  similarity <- check_number(similarity, "similarity", 0, 10)
  data <- check_data(x, "binary")
  near <- if (!is.null(smooth)) match_smooth(nbm_check_smooth(smooth), data$x, "smooth")
  if (!is.null(near) && is.null(near$most)) near$most <- least_near
  tried <- nbm_tune(near, similarity, nbm_table(data$x), control$n_threads)
  near <- tried$near
  call <- keep_values(call, list(smooth = near, similarity = similarity))
  nbm_new_fit(data, near, similarity, tried$trace, control, call)
}

nbm_check_smooth <- function(smooth) {
  if (!inherits(smooth, "smooth_over")) {
    stop_input("`smooth` must come from smooth_over() or be NULL, not %s.", show_value(smooth))
  }
  check_smooth(smooth)
}

# Collects what means are computed from: presences (dense or sparse, as the data), richness, and the attributes' sums.
nbm_table <- function(x) {
  view <- data_view(x)
  margins <- .Call(mc_c_view_margins, view)
  list(
    found = if (is.null(view$na_start)) x else found_table(x), size = margins$row_sum, sums = margins$column_sum,
    n_known = margins$column_observed, view = view
  )
}

# Returns 1 for a presence or a count, 0 elsewhere, unknown cells included; sparse if the data are.
found_table <- function(x) {
  found <- function(value) as.double(!is.na(value) & value > 0)
  if (inherits(x, "dgCMatrix")) {
    x@x <- found(x@x)
    return(Matrix::drop0(x))
  }
  matrix(found(x), nrow(x), dimnames = dimnames(x))
}

# Counts the presences in each column, one column at a time, because a second table of the size of `x` takes longer.
presence_sums <- function(x) {
  if (!is.matrix(x)) {
    return(column_sums(found_table(x)))
  }
  sums <- vapply(seq_len(ncol(x)), function(j) as.double(sum(x[, j] > 0, na.rm = TRUE)), 0)
  stats::setNames(sums, colnames(x))
}

# Finds the neighbours of some rows by their distances: list(start, neighbour, weight); NULL: all are equally near.
near_lists <- function(near, rows = seq_len(near$n), n_threads = 1) {
  if (is.null(near)) {
    return(NULL)
  }
  if (!is.null(near$given$neighbours)) {
    return(matrix_neighbours(near$given$neighbours[rows, , drop = FALSE]))
  }
  find <- function() {
    from <- lapply(near$given, function(each) each[rows, , drop = FALSE])
    find_neighbours(near, from, near$given, own = rows, n_threads = n_threads)
  }
  small <- near$n * min(near$most, near$n) <= most_remembered || length(rows) <= nbm_most_judged
  memo <- if (small) near$memo
  name <- paste(format(c(near$bandwidth, near$most, range(rows), length(rows)), digits = 17L), collapse = " ")
  found <- remembered(memo, name, function() list(rows = rows, lists = find()))
  if (identical(found$rows, rows)) found$lists else find() # samples of rows may have one range
}

# Neighbours depend only on sites and bandwidths, and many tables of the same sites use the same: near$memo, an
# environment, caches those of tables with up to this many neighbours, and those of the rows by which bandwidths are
# chosen.
most_remembered <- 2e6

likeness_floor <- 0.05 # lists with nothing in common still count a little

# Computes means over neighbours, length(own) x m, of rows in a view; own: their numbers in the table, NULL for rows
# outside it. Presences of rows in the table get the mean they would have if held out.
nbm_means <- function(table, rows, own, lists, similarity, n_threads = 1) {
  settings <- c(similarity, likeness_floor, n_threads)
  own <- if (!is.null(own)) as.integer(own) - 1L
  if (!is.null(lists)) {
    return(.Call(mc_c_neighbours_mean, table$view, rows, own, lists, settings))
  }
  # If all are neighbours, observations with equal presences have the same mean.
  distinct <- .Call(mc_c_view_distinct, table$view)
  if (is.null(own)) {
    return(.Call(mc_c_neighbours_mean, distinct$view, rows, NULL, distinct$weight, settings))
  }
  group <- distinct$group[own + 1L]
  wanted <- unique(group)
  rows <- nbm_view(table, match(wanted, distinct$group))
  p <- .Call(mc_c_neighbours_mean, distinct$view, rows, wanted - 1L, distinct$weight, settings)
  if (length(wanted) == length(group)) p else p[match(group, wanted), , drop = FALSE]
}

# Computes n x m probabilities of some rows of the table, by blocks, to limit the number of neighbours in memory.
# `view`: of these rows, if available.
nbm_rows <- function(near, similarity, table, rows, n_threads = 1, view = NULL) {
  means <- function(at, view) {
    nbm_means(table, view, at, near_lists(near, at, n_threads), similarity, n_threads)
  }
  blocks <- row_blocks(seq_along(rows), if (is.null(near)) 1L else min(near$most, near$n))
  if (length(blocks) == 1L) {
    return(means(rows, view %||% nbm_view(table, rows)))
  }
  out <- matrix(0, length(rows), ncol(table$found))
  for (block in blocks) out[block, ] <- means(rows[block], nbm_view(table, rows[block]))
  out
}

nbm_view <- function(table, rows) {
  if (length(rows) == nrow(table$found)) table$view else data_view(table$found[rows, , drop = FALSE])
}

# Sums the log-probabilities of the known cells of some rows, each while held out.
nbm_objective <- function(p, view, n_threads = 1) .Call(mc_c_neighbours_loglik, p, view, as.double(n_threads))

nbm_most_judged <- 500L
nbm_most_tried <- 40L
nbm_least_gain <- 0.1 # of log-likelihood

# Chooses the bandwidths with the largest objective by hill-climbing from twice the typical distances, or from supplied
# ones: list(near, trace).
nbm_tune <- function(near, similarity, table, n_threads = 1, from = NULL) {
  n <- nrow(table$found)
  rows <- unique(as.integer(round(seq(1, n, length.out = min(n, nbm_most_judged)))))
  view <- nbm_view(table, rows)
  judge <- function(near) {
    means <- nbm_rows(near, similarity, table, rows, n_threads, view)
    nbm_objective(means, view, n_threads)
  }
  open <- if (identical(near$bandwidth, "cv")) setdiff(names(near$given), "neighbours")
  if (!length(open)) {
    return(list(near = near, trace = data.frame(iteration = 1L, objective = judge(near))))
  }
  typical <- (if (is.null(near$typical)) typical_distance(near) else near$typical)[open]
  first <- if (is.null(from)) rep(1, length(open)) else round(log2(from[open] / typical))
  nbm_climb(near, typical, stats::setNames(first, open), judge)
}

nbm_at <- function(near, bandwidth) {
  near$bandwidth <- bandwidth
  near
}

# Finds the bandwidths typical * 2^step with the largest judge(near), as nbm_tune() returns them: hill-climbing from
# `step` on a grid of whole numbers, one coordinate after another, until no adjacent point gains nbm_least_gain, since
# beyond all distances a wider bandwidth changes almost nothing.
nbm_climb <- function(near, typical, step, judge) {
  tried <- list()
  value <- function(step) {
    name <- paste(step, collapse = " ")
    if (is.null(tried[[name]])) tried[[name]] <<- judge(nbm_at(near, typical * 2^step))
    tried[[name]]
  }
  repeat {
    before <- step
    for (at in names(step)) {
      for (sign in c(1, -1)) {
        repeat {
          further <- replace(step, at, step[[at]] + sign)
          if (length(tried) >= nbm_most_tried || value(further) < value(step) + nbm_least_gain) break
          step <- further
        }
      }
    }
    if (identical(step, before)) break
  }
  list(
    near = nbm_at(near, typical * 2^step),
    trace = data.frame(iteration = seq_along(tried), objective = unlist(tried, use.names = FALSE))
  )
}

nbm_new_fit <- function(data, near, similarity, trace, control, call) {
  table <- nbm_table(data$x)
  names <- dimnames_of(data$x)
  p <- nbm_rows(near, similarity, table, seq_len(nrow(data$x)), control$n_threads)
  dimnames(p) <- name_sides(names)
  objective <- nbm_objective(p, table$view, control$n_threads)
  new_multicause(
    param = list(bandwidth = if (is.numeric(near$bandwidth)) near$bandwidth else numeric(), similarity = similarity),
    objective = c(held_out_log_likelihood = objective), loglik = NA_real_, df = NA_real_,
    dims = c(n = nrow(data$x), m = ncol(data$x), k = 0, observed = sum(data$margins$row_observed)), trace = trace,
    starts = data.frame(
      start = 1L, init = "typical", objective = objective, iterations = nrow(trace), finished = TRUE, converged = TRUE,
      reached_best = TRUE
    ),
    converged = TRUE, control = control, call = call, x = if (control$keep_x) data$x, names = names, near = near,
    probability = p, class = "neighbours_mean"
  )
}

#' Predictions and simulations of the neighbours' mean
#'
#' @param object a fit of [neighbours_mean()].
#' @param newdata new sites, columns matched by name, in any order, or by place where one side has no names;
#'   cells may be `NA`. `NULL`: the data of the fit.
#' @param type `"response"`, the probability of each cell.
#' @param along where `smooth` was given: the ages, places, distances or weights of the new sites, a list as for
#'   [predict.aspect_bernoulli()]; `NULL`: unknown, all sites of the fit are equally near.
#' @param nsim number of data sets to simulate, at least 1.
#' @param seed `NULL` to use the session's random numbers, or a number for [set.seed()] that leaves them as they were.
#' @param ... must be empty.
#' @return `predict()`: an n x m matrix of probabilities, with the names of the data; new sites have the sites of the
#'   fit as neighbours, and none of their cells is held out. `fitted()`: those of the data of the fit, each as if its
#'   cell were held out. `simulate()`: a list of n x m 0/1 matrices.
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(200, 1, 0.4), 20, 10)
#' predict(neighbours_mean(x), x[1:2, ])
#' @export
predict.neighbours_mean <- function(object, newdata = NULL, type = "response", ..., along = NULL) {
  check_dots(...)
  check_choice(type)
  if (is.null(newdata)) {
    if (!is.null(along)) stop_input("`newdata` must be supplied with `along`.")
    return(object$probability)
  }
  data <- check_newdata(object, newdata, "binary")
  lists <- if (!is.null(along)) {
    along_neighbours(object$near, check_along(list(smooth = object$near), along, nrow(data$x), rownames(data$x)))
  }
  p <- nbm_means(nbm_table(fit_data(object)), data$view, NULL, lists, object$param$similarity, object$control$n_threads)
  dimnames(p) <- list(rownames(data$x), object$names[[2L]])
  in_given_order(p, newdata)
}

#' @rdname predict.neighbours_mean
#' @export
simulate.neighbours_mean <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  p <- fitted(object)
  simulate_with(object, nsim, seed, function() random_bernoulli(p))
}

shape_words.neighbours_mean <- function(fit) table_words(fit$dims, axis_words(fit)) # it has no components

fit_table.neighbours_mean <- function(fit, digits = 4L) {
  bandwidth <- fit$param$bandwidth
  similarity <- fit$param$similarity
  near <- c(
    names(bandwidth), if (!is.null(fit$near$given$neighbours)) "`neighbours`",
    if (similarity > 0) sprintf("similarity of %s", axis_words(fit)[1L])
  )
  if (length(near)) {
    list(
      `neighbours by` = near, setting = c(
        if (length(bandwidth)) paste("bandwidth", vapply(bandwidth, format, "", digits = digits)),
        if (!is.null(fit$near$given$neighbours)) "as supplied", if (similarity > 0) paste("power", format(similarity))
      )
    )
  }
}

reached_sentence.neighbours_mean <- function(fit, digits = 4L) {
  value <- unname(fit$objective)
  sprintf(
    "log-likelihood of cells, each held out in turn, %s (%s per cell)", format(value, digits = digits),
    format(value / fit$dims[["observed"]], digits = digits)
  )
}

found_sentences.neighbours_mean <- function(fit, digits = 4L) {
  if (is.null(fit_table(fit))) sprintf("No neighbours: all %s count alike.", axis_words(fit)[1L])
}

model_title.neighbours_mean <- function(fit) "Neighbours' mean"

least_near <- 500L # neighbours of an observation that a mean is taken over, at most
