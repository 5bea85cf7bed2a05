#' What do the data decide about the phantom?
#'
#' Several decompositions of the same table into content and phantom have the same likelihood, with different answers to
#' "how much is missing?". `identifiability()` says how far apart they lie: for the phantom's share of the table and of
#' each observation, for the number of false absences and, if asked, for every cell.
#'
#' @details
#' **Why.** A table shows the product of how common a taxon was where it lived and how well a site is known. Make every
#' taxon twice as common and every record half as good, and the same finds are as likely as before. The data fix
#' the probability \eqn{p} of a find in each cell; content's share \eqn{u} of an observation (1 minus the phantom's)
#' they fix only within bounds. Given \eqn{u}, the chance that the taxon lived there is \eqn{p / u}, and the chance that
#' a zero is a false absence \eqn{(1 - u) / u \cdot p / (1 - p)}{(1 - u) / u p / (1 - p)}.
#'
#' **Four answers**, from wide to narrow:
#' \describe{
#'   \item{outer}{holds for *every* decomposition with these probabilities: \eqn{u} is at least the largest probability
#'     of an observed cell in the row, and at most 1. "The data decide" is said on the strength of this one alone.}
#'   \item{search}{decompositions that were found: content components rescaled and mixed, one after another, each move
#'     the best one by a linear program, from `n_search` places. All are attained; more may exist.}
#'   \item{inner}{attained by rescaling alone: aspects divided by \eqn{d_k}, memberships multiplied by it. Allowed while
#'     no probability exceeds 1 and no row's content exceeds 1; the ends are exact (linear programs).}
#'   \item{fitted}{what the fit happens to say.}
#' }
#' For the number of false absences, the lower ends of inner and search are the least among the decompositions looked
#' at. With both phantoms pinned only the outer bound is given, and it is one of all splits between the two. For a black
#' phantom, read all of this with 0 and 1 exchanged.
#'
#' **Conventions** name two decompositions of the inner set. "Maximal phantom": every content aspect reaches probability
#' 1 somewhere (each fauna has a taxon that was always there). "Minimal phantom": as little phantom as rescaling allows
#' (some site is perfectly known). The verbs take them as `phantom_convention`.
#'
#' **What would decide.** Repeated visits (`visits`), a measure of effort (`effort`), or a prior (`estimate = "map"`):
#' but then the answer is the prior's. Bounds are taken at the estimate; that the estimate itself is uncertain comes on
#' top: `bootstrap` draws tables from the fit and fits them anew, `draws` takes fits made elsewhere, and the ends are
#' then given with quantiles over them.
#'
#' **Phantoms near zero.** The argument holds for an exact phantom. A fit whose phantom is only near 0 is run on with
#' the phantom pinned at 0; `change` says what that costs. Without a phantom, a phantom without share is added.
#'
#' **Cost.** O(n m k) for the outer bound; n linear programs in k unknowns for the inner one; for the search about
#' 10 k `n_search` programs in k unknowns and 2 m constraints.
#'
#' @param fit a fit of [aspect_bernoulli()].
#' @param ... must be empty.
#' @param n_search number of places the search starts from, at least 0; 0: no search. It draws random numbers.
#' @param cells also give the bounds of every observed zero (of every one, for a black phantom).
#' @param bootstrap number of tables drawn from the fit and fitted anew from the fit's own parameters, at least 0.
#' @param draws list of fits to data with the same observations and attributes, such as bootstrap fits made elsewhere.
#' @param level coverage of the quantiles over `bootstrap` or `draws`, between 0 and 1.
#' @param narrow bounds of the mean share closer than this count as decided, a number between 0 and 1.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @return A list of class `identifiability`:
#' \describe{
#'   \item{`share`}{data frame: `phantom` (`"white"` or `"black"`), `bound` (`"outer"`, `"search"`, `"inner"`,
#'     `"fitted"`), and the `least` and `most` of the phantom's mean share, in \[0, 1\].}
#'   \item{`expected`}{the same for the expected number of false absences (false presences, for a black phantom).}
#'   \item{`observations`}{data frame, a row for each: `observation`, the phantom's `share` as fitted, and its
#'     `outer_most`, `search_least`, `search_most`, `inner_least`, `inner_most` (the outer least is 0); `attribute`, the
#'     one whose probability makes the outer bound (`NA` where nothing is observed); `binding`, whether the observation
#'     keeps the phantom of the minimal convention from being smaller. With both phantoms pinned: `outer_most` and
#'     `black_outer_most`.}
#'   \item{`components`}{data frame, a row for each content component: the scales `minimal` and `maximal` (in the sense
#'     of the conventions) by which memberships are multiplied, and the `attribute` that limits the latter; `NULL` with
#'     both phantoms pinned.}
#'   \item{`cells`}{with `cells = TRUE`, a data frame of `observation`, `attribute`, `probability`, and `present` and
#'     `missed` (`absent` and `added` for a black phantom) as fitted and with the ends of the bounds, such as
#'     `missed_outer_most`.}
#'   \item{`sampling`}{only with draws: a data frame like `share`, the `least` a lower and the `most` an upper quantile
#'     of the ends over the draws. `observations` and `cells` then have `draws_most`, the upper quantile of the outer
#'     end of the phantom's share and of the chance of a false absence.}
#'   \item{`phantom`, `change`, `decided`, ...}{`"white"`, `"black"` or `"both"`; log-likelihood of the fit with an
#'     exact phantom less that of `fit`, nats; whether the outer bound is narrow; and what else printing needs.}
#' }
#' @seealso [false_absences()], [deficiency()]
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 3)
#' fit <- aspect_bernoulli(simulated_sites$x, k = 4, phantom = "white", control = few)
#' sure <- identifiability(fit, n_search = 2)
#' sure
#' head(sure$observations)
#' @export
identifiability <- function(fit, ..., n_search = 5, cells = FALSE, bootstrap = 0, draws = NULL, level = 0.9,
                            narrow = 0.1, kinds = NULL, x = NULL) {
  check_dots(...)
  check_fit(fit, "aspect_bernoulli")
  if (!is.null(fit$missed_by)) {
    stop_input("`fit` has repeated visits; they decide what is missed. Fit one alone to see what that leaves open.")
  }
  n_search <- check_count(n_search, "n_search", 0L)
  cells <- check_flag(cells, "cells")
  bootstrap <- check_count(bootstrap, "bootstrap", 0L)
  level <- check_number(level, "level", 0, 1, open = TRUE)
  narrow <- check_number(narrow, "narrow", 0, 1, open = TRUE)
  kinds <- component_kinds(fit, kinds)
  x <- fit_data(fit, x)
  draws <- check_draws(draws, fit)
  exact <- exact_phantom(fit, kinds, x)
  bounds <- find_bounds(exact, x, n_search)
  colours <- bounds$colours
  out <- bounds[intersect(c("share", "expected", "observations", "components"), names(bounds))]
  out$share <- rbind(out$share, fitted_rows(fit, kinds, colours, function(of) mean(phantom_share(fit, kinds, of))))
  out$expected <- rbind(out$expected, fitted_rows(fit, kinds, colours, function(of) {
    expected_false(fit, x, kinds, false_of(of))[["expected"]]
  }))
  out$observations <- cbind(out$observations[1L], share = phantom_share(fit, kinds, colours[1L]), out$observations[-1L])
  if (cells) out$cells <- bound_cells(fit, kinds, exact, bounds, x)
  fits <- c(draws, if (bootstrap > 0L) bootstrap_fits(exact$fit, bootstrap))
  if (length(fits)) out <- add_sampling(out, fits, colours[1L], x, level)
  outer <- out$share[out$share$bound == "outer", ]
  structure(
    c(out, list(
      phantom = if (length(colours) == 2L) "both" else colours, has_phantom = any(kinds != "content"),
      change = exact$change, narrow = narrow, decided = all(outer$most - outer$least <= narrow), level = level,
      n_draws = length(fits), n_search = if (length(colours) == 1L) n_search else 0L, estimate = fit$estimate,
      effort = !is.null(fit$effort), dims = fit$dims, n_cells = bounds$n_cells
    )),
    class = "identifiability"
  )
}

# What the phantom's cells are called.
false_of <- function(colour) if (colour == "black") "presences" else "absences"

phantom_share <- function(fit, kinds, colour) {
  unname(rowSums(fit$param$membership[, kinds == colour, drop = FALSE]))
}

fitted_rows <- function(fit, kinds, colours, value_of) {
  value <- vapply(colours, value_of, 0, USE.NAMES = FALSE)
  data.frame(phantom = colours, bound = "fitted", least = value, most = value)
}

check_draws <- function(draws, fit) {
  if (is.null(draws)) {
    return(NULL)
  }
  if (inherits(draws, "multicause")) draws <- list(draws)
  ok <- is.list(draws) && length(draws) && all(vapply(draws, inherits, NA, "aspect_bernoulli"))
  if (!ok) stop_input("`draws` must be a list of fits of aspect_bernoulli(), not %s.", show_value(draws))
  for (i in seq_along(draws)) {
    if (!identical(draws[[i]]$dims[c("n", "m")], fit$dims[c("n", "m")])) {
      stop_input(
        "`draws` must have the %d x %d cells of the fit: number %d has not.", fit$dims[["n"]], fit$dims[["m"]], i
      )
    }
  }
  draws
}

# Fits to tables drawn from a fit, each run on from its parameters; missing cells stay missing.
bootstrap_fits <- function(fit, n) {
  control <- fit_control(progress = FALSE, max_pass = 500, tol = 1e-8)
  map_tasks(draw_seeds(n), function(seed) {
    drawn <- with_seed(seed, simulate(fit)[[1L]])
    drawn[is.na(dense_rows(fit_data(fit), seq_len(nrow(drawn))))] <- NA
    refit_from(fit, drawn, control)
  })
}

# Nothing can move away from exact 0 and 1: the start is pulled off them.
refit_from <- function(fit, x, control) {
  free <- fit$pinned == "free"
  param <- list(membership = unname(pmax(fit$param$membership, 1e-3)), aspects = unname(fit$param$aspects))
  param$membership <- param$membership / rowSums(param$membership)
  param$aspects[free, ] <- pmin(pmax(param$aspects[free, ], 1e-3), 1 - 1e-3)
  data <- check_data(x, "binary", quiet = TRUE)
  run <- ab_run(data$view, param, unname(fit$pinned), fit$pseudo, control)
  for (name in names(fit$param)) fit$param[[name]][] <- run$param[[name]]
  fit$x <- data$x
  fit
}

# Quantiles of the ends over fits to other tables: of the mean share, of each observation's, of each cell's.
add_sampling <- function(out, fits, colour, x, level) {
  tail <- c((1 - level) / 2, (1 + level) / 2)
  ends <- lapply(fits, function(fit) {
    own <- if (is.null(fit$x)) x else fit$x
    exact <- exact_phantom(fit, component_kinds(fit), own)
    bounds <- outer_bounds(exact$fit, own, colour)
    inner <- scale_polytope(content_factors(exact$fit, exact$kinds))
    minimal <- largest_scale(inner, colMeans(inner$s))
    list(
      top = bounds$top, inner = c(1 - mean(inner$s %*% minimal), 1 - mean(inner$s %*% inner$lower)),
      missed = if (!is.null(out$cells)) most_of_zeros(exact$fit, x, colour, bounds$top)
    )
  })
  inner <- vapply(ends, `[[`, c(0, 0), "inner")
  tops <- vapply(ends, `[[`, numeric(nrow(out$observations)), "top")
  out$sampling <- rbind(
    bound_rows(colour, "outer", 0, quantile_of(colMeans(1 - tops), tail[2L])),
    bound_rows(colour, "inner", quantile_of(inner[1L, ], tail[1L]), quantile_of(inner[2L, ], tail[2L]))
  )
  out$observations$draws_most <- apply(1 - tops, 1L, quantile_of, tail[2L])
  if (!is.null(out$cells)) {
    missed <- vapply(ends, `[[`, numeric(nrow(out$cells)), "missed")
    out$cells$draws_most <- apply(missed, 1L, quantile_of, tail[2L])
  }
  out
}

quantile_of <- function(values, at) unname(stats::quantile(values, at, type = 8))

# The largest chance that each observed zero is false, in the order of bound_cells().
most_of_zeros <- function(fit, x, colour, top) {
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    most_missed(seen$p, top[rows])[seen$zero]
  })
  unlist(blocks)
}
