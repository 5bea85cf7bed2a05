# Undetected presences in a fit of visits_occupancy() and for which_zeros(visits = ): totals, cells, sample coverage;
# intervals are in visits_occupancy_range.R. Tests: test-visits_occupancy.R.

# Computes undetected presences of taxa found somewhere, at sites visited, for which_zeros(visits = ): list
#   total                    c(missed, low, high): the expected number, and an interval for real surveys
#   years                    c(low, high), if visits are years
#   model                    c(low, high), 90 % if the model holds
#   by_taxon                 the expected number of each taxon, m, 0 for those that no visit found
#   ahead                    how many of these one more visit to each site is expected to find, m
#   cells, before            n x m: P(present) if no visit found the taxon, after the visits and before them, NA
#                            elsewhere
#   follows                  whether presence depends on covariates
#   detect                   detection by visits, list(theta: coefficients of detection, terms x m x draws, uneven: of
#                            each draw, design: terms x n x visits); NULL if no visit found any taxon
# cell: the result of check_visits(). model: NULL, or formulas and covariates from wz_visit_model().
occupancy_missed <- function(cell, model = NULL) {
  d <- dim(cell)
  names <- dimnames(cell)[1:2]
  found <- which(apply(cell == 1L, 2L, any, na.rm = TRUE))
  cells <- matrix(NA_real_, d[1L], d[2L], dimnames = names)
  missed <- stats::setNames(numeric(d[2L]), names[[2L]])
  if (!length(found)) {
    none <- c(low = 0, high = 0)
    return(list(total = c(missed = 0, none), years = none, model = none, by_taxon = missed, ahead = missed,
      cells = cells, before = cells, follows = FALSE))
  }
  given <- Filter(length, list(visit = model$visit_data, site = model$site_data))
  by <- occupancy_designs(model$presence %||% ~1, model$detection, cell, given)
  own <- cell[, found, , drop = FALSE]
  control <- fit_control(progress = FALSE, tol = 1e-7)
  answer <- with_seed(1L, occupancy_answer(own, by, occupancy_uneven, control, few_occupancy_draws))
  total <- occupancy_range(answer, any_visit(own))
  open <- answer$rows$of_cell
  open[answer$rows$hit[open]] <- NA
  cells[, found] <- answer$sums$after[open]
  before <- cells
  like_fit <- c(answer["draws"], by[c("presence", "detection")], list(dims = c(m = length(found))))
  before[, found] <- presence_mean(like_fit, by$presence$design)
  before[is.na(cells)] <- NA
  ahead <- missed
  missed[found] <- rowMeans(answer$sums$missed)
  ahead[found] <- finds_ahead(own, answer$draws, by)
  ends <- function(of) stats::setNames(total[paste0(of, c("_low", "_high"))], c("low", "high"))
  list(
    total = total[c("missed", "low", "high")], years = ends("years"), model = ends("model"), by_taxon = missed,
    ahead = ahead, cells = cells, before = before, follows = length(all.vars(by$presence$formula)) > 0L,
    detect = detection_draws(answer$draws, by, found, d)
  )
}
few_occupancy_draws <- 500L

detection_draws <- function(draws, by, found, d) {
  own <- draws$theta[theta_rows(by, "detection"), , , drop = FALSE]
  theta <- array(NA_real_, c(dim(own)[1L], d[2L], dim(own)[3L]))
  theta[, found, ] <- own
  list(
    theta = theta, uneven = occupancy_uneven[draws$uneven],
    design = array(by$detection$design, c(dim(own)[1L], d[c(1L, 3L)]))
  )
}

# Computes detection probabilities of taxon j, if present, by the visits to site i with TRUE in `made`: list(each: of
# each visit, silent: that none detects it), means over draws and over unevenness among sites.
visits_with_presence <- function(detect, i, j, made) {
  p <- dim(detect$theta)[1L]
  eta <- crossprod(matrix(detect$design[, i, made], p), matrix(detect$theta[, j, ], p))
  each <- matrix(0, nrow(eta), ncol(eta))
  silent <- numeric(ncol(eta))
  for (node in seq_along(normal_nodes$at)) {
    found <- stats::plogis(eta + rep(detect$uneven * normal_nodes$at[node], each = nrow(eta)))
    each <- each + normal_nodes$weight[node] * found
    silent <- silent + normal_nodes$weight[node] * exp(colSums(log1p(-found)))
  }
  list(each = rowMeans(each), silent = mean(silent))
}

# Returns the total that visits_bernoulli() prints.
occupancy_total <- function(cell, model = NULL) {
  out <- occupancy_missed(cell, model)
  list(missed = out$total[["missed"]], low = out$total[["low"]], high = out$total[["high"]])
}

# ---- Numbers of a fit ----

# Draws the undetected presences of each taxon, m x draws: presences are independent given coefficients, so that the
# number is approximately binomial with its mean and variance.
missed_counts <- function(draws) {
  mean <- draws$missed
  shrink <- pmax(mean - draws$variance, 0) # sum of squared probabilities
  size <- pmax(round(ifelse(shrink > 0, mean^2 / shrink, 0)), ceiling(mean))
  with_seed(1L, matrix(stats::rbinom(length(mean), size, ifelse(size > 0, mean / size, 0)), nrow(mean)))
}

# Returns the sites of each taxon: data frame of taxon, found, expected, low, high.
taxon_numbers <- function(fit, level) {
  found <- unname(colSums(any_visit(kept_visits(fit)) == 1, na.rm = TRUE))
  ends <- apply(missed_counts(fit$draws), 1L, stats::quantile, c(1 - level, 1 + level) / 2, names = FALSE, type = 1)
  missed <- rowMeans(fit$draws$missed)
  data.frame(
    taxon = side_names(fit, 2L), found = found, expected = found + missed, low = found + pmin(ends[1L, ], missed),
    high = found + pmax(ends[2L, ], missed)
  )
}

#' How many records of the next visit will be of taxa that are known there
#'
#' Sample coverage of a site, or of a group of sites: the share of the records of one more visit that would be of taxa
#' which an earlier visit found there. At .9 one record in ten would be new.
#'
#' @details
#' The next visit is assumed to have the mean covariates of the visits to the site. A taxon known at the site counts
#' with its probability of detection; any other taxon with this probability times the probability that it is there,
#' given the visits. For a group the records of its sites are summed; a record is new if its taxon was not known at that
#' site. Good's coverage of abundances, as package iNEXT has it, is the same idea for the next individual.
#'
#' @param fit a fit of [visits_occupancy()].
#' @param ... must be empty.
#' @param groups the group of each site, `NA` to leave one out; `NULL`: each site is one.
#' @param level probability of the interval.
#' @return A data frame: `site` (or `group`), `visits` made, taxa `found` (of a group, summed over sites), `records` and
#'   `new`, the expected numbers of records and of new ones on the next visit, `coverage`, `low` and `high`.
#' @seealso [which_zeros()] for what more surveys would find.
#' @examples
#' set.seed(1)
#' present <- matrix(rbinom(200, 1, 0.6), 40)
#' visits <- lapply(1:3, function(v) present * matrix(rbinom(200, 1, 0.5), 40))
#' fit <- visits_occupancy(visits, uneven = 0)
#' head(sample_coverage(fit), 3)
#' sample_coverage(fit, groups = rep(c("north", "south"), 20))
#' @export
sample_coverage <- function(fit, ..., groups = NULL, level = 0.9) {
  check_dots(...)
  check_fit(fit, "visits_occupancy")
  level <- check_number(level, "level", 0, 1, open = TRUE)
  n <- fit$dims[["n"]]
  next_records <- records_ahead(fit)
  group <- group_factor(groups, n, 1L, rep(TRUE, n), fit$names[[1L]])
  at <- !is.na(group)
  if (!any(at)) stop_input("`groups` must have a site: all are NA.")
  add <- function(x) rowsum(as.matrix(x)[at, , drop = FALSE], as.integer(group)[at])
  made <- matrix(fit$detection$made, n)
  known <- add(next_records$known)
  all <- add(next_records$all)
  share <- known / pmax(all, 1e-300)
  ends <- apply(share, 1L, stats::quantile, c(1 - level, 1 + level) / 2, names = FALSE)
  names <- if (is.null(groups)) side_names(fit, 1L)[at] else levels(group)
  out <- data.frame(
    names, visits = as.vector(add(rowSums(made))),
    found = as.vector(add(rowSums(any_visit(kept_visits(fit)) == 1, na.rm = TRUE))), records = rowMeans(all),
    new = rowMeans(all - known), coverage = rowMeans(share), low = ends[1L, ], high = ends[2L, ], row.names = NULL
  )
  names(out)[1L] <- if (is.null(groups)) "site" else "group"
  out
}

# Computes expected records of the next visit to each site, in each draw: list(all, known: of taxa known there), n x
# draws.
records_ahead <- function(fit) {
  cell <- kept_visits(fit)
  found <- matrix(any_visit(cell) %in% 1, nrow(cell))
  next_of <- next_visit(cell, fit$draws, fit, fit$uneven$uneven)
  out <- list(all = 0, known = 0)
  for (j in seq_len(ncol(cell))) {
    p <- next_of(j)
    out$all <- out$all + p
    out$known <- out$known + p * found[, j]
  }
  out
}

# Computes how many presences of each taxon the next visit is expected to find where none did, m; 100 draws suffice.
finds_ahead <- function(cell, draws, by) {
  number <- dim(draws$theta)[3L]
  few <- unique(round(seq(1, number, length.out = min(number, 100L))))
  draws <- list(theta = draws$theta[, , few, drop = FALSE], uneven = draws$uneven[few])
  next_of <- next_visit(cell, draws, by, occupancy_uneven)
  open <- any_visit(cell) %in% 0
  dim(open) <- dim(cell)[1:2]
  vapply(seq_len(ncol(cell)), function(j) sum(next_of(j)[open[, j], ]) / length(few), 0)
}

# Returns a function of j: P(one more visit detects taxon j), n x draws.
next_visit <- function(cell, draws, by, uneven) {
  d <- dim(cell)
  more <- array(c(cell, rep(NA_integer_, d[1L] * d[2L])), d + c(0L, 0L, 1L))
  by <- by[c("presence", "detection")]
  by$detection$design <- cbind(by$detection$design, mean_visit(by$detection, d[1L]))
  function(j) next_of_taxon(draws, uneven, more, d[3L] + 1L, by, j)
}

# Returns the design of an average visit to each site; for sites without visits, of the average visit to all.
mean_visit <- function(detection, n) {
  made <- matrix(detection$made, n)
  design <- array(detection$design, c(nrow(detection$design), n, ncol(made)))
  design[rep(!made, each = dim(design)[1L])] <- 0
  number <- rowSums(made)
  out <- rowSums(design, dims = 2L) / rep(pmax(number, 1), each = dim(design)[1L])
  out[detection$terms == "(Intercept)", ] <- 1
  out
}
