#' What do the data decide about the phantom?
#'
#' The same table can be split into content and phantom in several ways that have the same likelihood. They give
#' different answers to "how much is missing?". `identifiability()` says how far apart these answers are: for the
#' phantom's share of the table and of each site, for the number of false absences and, if asked, for every cell.
#'
#' @details
#' **Why.** A table shows the product of how common a taxon was where it lived and how well a site is known. Make every
#' taxon twice as common and every record half as good, and the same finds are as likely as before. The data fix the
#' probability \eqn{p} of a find in each cell. They fix content's share \eqn{u} of a site (1 minus the
#' phantom's) only within bounds. Given \eqn{u}, the chance that the taxon lived there is \eqn{p / u}, and the chance
#' that a zero is a false absence \eqn{(1 - u) / u \cdot p / (1 - p)}{(1 - u) / u p / (1 - p)}.
#'
#' **Four answers**, from wide to narrow:
#' \describe{
#'   \item{outer}{holds for *every* decomposition with these probabilities and an exact phantom: \eqn{u} is at least the
#'     largest probability of an observed cell in the row, and at most 1. "The data decide" is said on the strength of
#'     this one alone.}
#'   \item{reached}{by a search among decompositions that mix the content components as well: components rescaled and
#'     mixed, one after another, each move the best one by a linear program, from `n_start` places. All are attained by
#'     parameters with the log-likelihood given beside them; more may exist.}
#'   \item{inner}{attained by rescaling alone: components divided by \eqn{d_k}, memberships multiplied by it. Allowed
#'     while no probability exceeds 1 and no row's content exceeds 1; the ends are exact (linear programs).}
#'   \item{fitted}{what the fit happens to say.}
#' }
#' For the number of false absences, the lower ends of inner and reached are the least among the decompositions looked
#' at. With both phantoms pinned only the outer bound is given, and it is one of all splits between the two. For a black
#' phantom, read all of this with 0 and 1 exchanged.
#'
#' **Conventions** name two decompositions of the inner set. "Maximal phantom": every content component reaches
#' probability 1 somewhere (each fauna has a taxon that was always there). "Minimal phantom": as little phantom as
#' rescaling allows (some site is perfectly known). The verbs take them as `phantom_convention`; for all else a fit is
#' good for, the result has the fits themselves, as `fits`.
#'
#' **What would decide.** Repeated visits (`visits`), a measure of effort (`effort`), or a prior (`estimate = "map"`,
#' `"vb"`): but then the answer is the prior's. Neighbours (`smooth`) are such a prior, too: the bounds of a smoothed
#' fit are those of the likelihood alone, whatever smoothing prefers among decompositions within them.
#'
#' **The estimate is uncertain, too.** Bounds are taken at the estimate. `nsim` draws tables from the fit and fits
#' each again as the fit was made (its prior, effort, neighbours), `draws` takes fits made elsewhere, such as
#' [posterior_draws()]: the ends are then given with quantiles over them, and "the data decide" is said only if they
#' agree. This was tested on 50 simulated tables of 300 x 80 with the truth anywhere in the bounds. With `"ml"` the
#' upper end of `missed` covered the true chance of 64 % of the zeros at the estimate, and of 94 % over bootstrap fits.
#' With `"vb"` and flat priors it covered 95 % at the estimate, and 99 % over draws, with shorter intervals. Take
#' `"vb"`. On tables that the model does not describe (one fauna a site, gradients, a wrong `k`) it covered 90 to 99 %.
#'
#' **What is assumed.** That a phantom treats all taxa of a site alike. Where some taxa are harder to find
#' than others, these look rare here, and more may be missing than any of these bounds says. For birds of one visit to a
#' site, repeated visits showed twice as many or more. `unlike` says how many. Suppose that every taxon \eqn{j} is
#' missed at a rate of its own, the same in all sites. Then a presence is recorded with a chance \eqn{d_j} of at
#' least the largest probability of an observed cell in its column, and `missed` is at most
#' \eqn{(1 - d_j) / d_j \cdot p / (1 - p)}{(1 - d_j) / d_j p / (1 - p)}. If sites have rates of their own as
#' well, \eqn{d_j} is replaced by the larger of \eqn{p} and the product of the largest other probabilities in the row
#' and the column. Both are outer bounds; that of both holds for each cell by itself. A table without repeats or effort
#' cannot tell such misses from rarity, so these bounds are wide: that is what one table allows.
#'
#' **Phantoms near zero.** The argument holds for an exact phantom. A fit whose phantom is only near 0 is run on with
#' the phantom pinned at 0; `change` says what that costs. In draws from a posterior, and in other fits that cannot be
#' run on, what it made is left out. Without a phantom, a phantom without share is added.
#'
#' The outer bound is one of exact phantoms, and a component that [phantoms()] calls white may take more than it allows:
#' with the same probabilities, a phantom with a little of the contents mixed in has a larger share. If a phantom has
#' a presence of taxon \eqn{j} with probability at most \eqn{w_j}, then \eqn{u} is at least
#' \eqn{(p_j - w_j) / (1 - w_j)} for every observed cell of the row, and the rest follows as above. `missed_most` of
#' [false_absences()] is this bound with \eqn{w} that of the fit's own phantom: it holds for every fit with the same
#' probabilities whose phantom has each taxon no more often. `rule` is the bound for all phantoms that are
#' white by the rule of [phantoms()], which fixes only the mean of \eqn{w}, \eqn{\bar w}{w}: with \eqn{S_r} the sum
#' of the \eqn{r} largest probabilities in the row and \eqn{m} taxa observed, \eqn{u} is at least
#' \eqn{(S_r - m \bar w) / (r - m \bar w)}{(S_r - m w) / (r - m w)} for every \eqn{r} above
#' \eqn{m \bar w}{m w}. It is wide, because such a phantom may have all its presences in the commonest taxa of one
#' row; for a row by itself it is attained.
#'
#' **Noisy-OR with recording**, fits of [noisy_or()] with `missed_by`, of single visits and without `effort`: repeated
#' visits and effort decide, as far as what the model says of them is true. Make every taxon \eqn{t} times as likely
#' where a component is on, and each record \eqn{t} times less likely: where no taxon has two components, or there is
#' one component, every find is as likely as before, at any \eqn{t} that leaves probabilities. These data decide
#' nothing. Where two components with links \eqn{a} and \eqn{b} meet, a taxon of both would be found \eqn{(t - 1) a b}
#' times the chance of a record less often: on this alone the answer rests. `identifiability()` maximises the likelihood
#' at other mean chances of recording, from one to the next in both directions, and gives the false absences expected at
#' each: the `likelihood` bound is where the log-likelihood has lost 2. It is biased, because weak links that are none
#' look like second components. So `nsim` tables are drawn at chances along this profile and each is fitted with its
#' chance held and without: the bound `draws` holds those chances at which the table at hand lost as much of its
#' likelihood as tables drawn there do, to `level`. In simulated tables, with `"site"` and `level = 0.9`, it held the
#' true number in 17 of 20 whose links were 0 or .85, and was below it in 3, and in 7 of 7 whose links lay between 0 and
#' 1; the `likelihood` bound held it in 3 and 6 (`bench/noisy_or.md` in the sources). Both bounds assume the model: with
#' `"site"`, that taxa are recorded alike.
#'
#' **Cost.** O(n m k) for the outer bound; n linear programs in k unknowns for the inner one; for the search about
#' 10 k `n_start` programs in k unknowns and 2 m constraints, and 3 n in k unknowns. Of noisy-OR: 10 to 60 fits for the
#' profile, and 2 `nsim`.
#'
#' @param fit a fit of [aspect_bernoulli()], or of [noisy_or()] with `missed_by`, of single visits without `effort`.
#' @param ... must be empty.
#' @param n_start number of places the search starts from, at least 0; 0: no search. Random numbers
#'   of the search, and of `nsim`, are its own: the same fit has the same result, and the session's stay.
#' @param cells also give the bounds of every observed zero (of every one, for a black phantom).
#' @param nsim number of tables drawn from the fit and fitted again from the fit's own parameters, at least 0; not
#'   for ensembles and draws. Of noisy-OR: 0, or at least 10.
#' @param draws list of fits to data with the same sites and taxa: [posterior_draws()], or bootstrap fits
#'   made elsewhere.
#' @param level coverage of the quantiles over `nsim` or `draws`, between 0 and 1.
#' @param narrow bounds of the mean share closer than this count as decided, a number between 0 and 1.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @return Of [noisy_or()], a list of classes `identifiability_profile` and `identifiability` with data frames
#' `expected` (`bound`s `"likelihood"`, `"draws"`, `"fitted"` of the number of false absences, `least` and `most`, and
#' of the mean chance that a presence is on record, `recorded_least` and `recorded_most`) and `profile` (a row for each
#' chance tried: `recorded`, `missed`, the log-likelihood `loglik`, its `change` from the largest, nats, and the signed
#' `root` of twice what is lost, with tables drawn against the nearest maximum).
#' Of [aspect_bernoulli()], a list of class `identifiability`:
#' \describe{
#'   \item{`share`}{data frame: `phantom` (`"white"` or `"black"`), `bound` (`"outer"`, `"reached"`, `"inner"`,
#'     `"fitted"`), the `least` and `most` of the phantom's mean share, in \[0, 1\], and the log-likelihoods
#'     `loglik_least` and `loglik_most` of the parameters that attain them (nats; `NA` for the outer bound).}
#'   \item{`expected`}{the same `bound`s of the expected number of false absences (false presences, for a black
#'     phantom), without log-likelihoods.}
#'   \item{`sites`}{data frame, a row for each: `site`, the phantom's `share` as fitted, and its
#'     `outer_most`, `reached_least`, `reached_most` (with a search), `inner_least`, `inner_most` and `rule_most` (the
#'     outer least is 0); `taxon`, the one whose probability makes the outer bound (`NA` where nothing is observed);
#'     `binding`, whether the site keeps the phantom of the minimal convention from being smaller. With both
#'     phantoms pinned: `outer_most`, `black_outer_most`, `rule_most` and `black_rule_most`.}
#'   \item{`taxa`}{data frame, a row for each: `taxon`, the largest rate `missed_most` at which it may be
#'     missed everywhere, and the `site` whose probability allows no more (`NA` where nothing is observed).}
#'   \item{`unlike`}{data frame: how many of `n_cells` zeros (ones, for a black phantom) may at most be false where
#'     misses are `missed_by` `"taxon"` or `"both"` taxon and site: `most`, and with draws `draws_most`.}
#'   \item{`rule`}{data frame: the most that a `phantom` may take that is white (black) by the rule of [phantoms()]
#'     only, its mean probability over the taxa being up to `written`: `share_most` of the table, and
#'     `expected_most` false absences. `written` is that of the rule in `kinds`, or more where a phantom of the fit
#'     has more.}
#'   \item{`components`}{data frame, a row for each content component: the scales `minimal` and `maximal` (in the sense
#'     of the conventions) by which memberships are multiplied, and the `taxon` that limits `maximal`; `NULL` with
#'     both phantoms pinned.}
#'   \item{`fits`}{fits at the ends of the mean share, each with the probabilities of `fit`: `minimal` and `maximal`
#'     (the conventions) and `reached_least` and `reached_most`; every verb takes them. `NULL` with both phantoms
#'     pinned.}
#'   \item{`cells`}{with `cells = TRUE`, a data frame of `site`, `taxon`, `probability`, and `present` and
#'     `missed` (`absent` and `added` for a black phantom) as fitted and with the ends of the bounds, such as
#'     `missed_outer_most` and `missed_rule_most`, and `missed_taxon_most` and `missed_both_most`, as of `unlike`.}
#'   \item{`sampling`}{only with draws: a data frame of `phantom` and `bound` (`"outer"`, `"inner"`), the `least` a
#'     lower and the `most` an upper quantile of the ends of the mean share over the draws, `expected_most` the upper
#'     quantile of the most false absences. `sites` and `cells` then have `draws_most` (with both phantoms pinned
#'     also `black_draws_most`), the upper quantile of the outer end of the phantom's share and of the chance of a false
#'     absence.}
#'   \item{`phantom`, `change`, `decided`, ...}{`"white"`, `"black"` or `"both"`; log-likelihood of the fit with an
#'     exact phantom less that of `fit`, nats; whether the outer bound is narrow, over draws as well; and what else
#'     printing needs.}
#' }
#' @seealso [false_absences()], [by_site()]
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' few <- fit_control(n_start = 3)
#' fit <- aspect_bernoulli(simulated_sites$x, k = 4, phantom = "white", control = few)
#' sure <- identifiability(fit, n_start = 2)
#' sure
#' head(sure$sites)
#' @export
identifiability <- function(fit, ...) UseMethod("identifiability")

#' @export
identifiability.default <- function(fit, ...) check_bounds.default(fit)

#' @rdname identifiability
#' @export
identifiability.aspect_bernoulli <- function(fit, ..., nsim = 0, draws = NULL, level = 0.9, n_start = 10,
                                             cells = FALSE, narrow = 0.1, kinds = NULL, x = NULL) {
  check_dots(...)
  check_bounds(fit)
  n_start <- check_count(n_start, "n_start", 0L)
  cells <- check_flag(cells, "cells")
  nsim <- check_count(nsim, "nsim", 0L)
  size <- prod(fit$dims[c("n", "m")]) + sum(lengths(fit$param))
  refuse_large(nsim * size, "What is kept of the tables drawn", "lower `nsim`")
  level <- check_number(level, "level", 0, 1, open = TRUE)
  narrow <- check_number(narrow, "narrow", 0, 1, open = TRUE)
  rule <- phantom_rule(kinds)
  kinds <- component_kinds(fit, kinds)
  x <- fit_data(fit, x)
  draws <- check_draws(draws, fit)
  if (is.null(fit$loglik)) fit <- set_loglik(fit, x) # an average of fits has none
  exact <- exact_phantom(fit, kinds, x)
  bounds <- with_seed(1L, find_bounds(exact, x, n_start))
  bounds <- add_rule(bounds, exact$fit, x, rule_written(fit, kinds, rule, bounds$colours))
  colours <- bounds$colours
  shown <- c("share", "expected", "sites", "taxa", "unlike", "rule", "components", "fits")
  out <- bounds[intersect(shown, names(bounds))]
  share <- fitted_rows(colours, function(of) mean(phantom_share(fit, kinds, of)))
  out$share <- rbind(out$share, cbind(share, loglik_least = fit$loglik, loglik_most = fit$loglik))
  out$expected <- rbind(out$expected, fitted_rows(colours, function(of) {
    expected_false(fit, x, kinds, false_of(of))[["expected"]]
  }))
  out$sites <- cbind(out$sites[1L], share = phantom_share(fit, kinds, colours[1L]), out$sites[-1L])
  if (cells) out$cells <- bound_cells(fit, kinds, exact, bounds, x)
  if (nsim > 0L && !can_refit(exact$fit)) {
    stop_input("`nsim` cannot fit such a fit anew: give `draws`, such as posterior_draws(fit).")
  }
  fits <- c(draws, if (nsim > 0L) with_seed(1L, bootstrap_fits(exact$fit, nsim, x)))
  if (length(fits)) out <- add_sampling(out, fits, kinds, colours, x, level)
  outer <- rbind(out$share[1:4], out$sampling[1:4])
  outer <- outer[outer$bound == "outer", ]
  structure(
    c(out, list(
      phantom = if (length(colours) == 2L) "both" else colours, has_phantom = any(kinds != "content"),
      change = exact$change, narrow = narrow, decided = all(outer$most - outer$least <= narrow), level = level,
      n_draws = length(fits), n_start = if (length(colours) == 1L) n_start else 0L, estimate = fit$estimate,
      effort = !is.null(fit$effort), smooth = !is.null(fit$smooth), dims = fit$dims, n_cells = bounds$n_cells
    )),
    class = c("identifiability", "multicause_result"), words = axis_words(fit)
  )
}

# Refuses fits of which identifiability() has nothing to say.
check_bounds <- function(fit) UseMethod("check_bounds")

check_bounds.default <- function(fit) check_fit(fit, c("aspect_bernoulli", "noisy_or"))

check_bounds.aspect_bernoulli <- function(fit) {
  if (has_detection(fit)) {
    stop_input("`fit` has repeated visits; they decide what is missed. Fit one alone to see what that leaves open.")
  }
}

phantom_share <- function(fit, kinds, colour) {
  unname(rowSums(fit$param$membership[, kinds == colour, drop = FALSE]))
}

fitted_rows <- function(colours, value_of) {
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
    if (any(draws[[i]]$dims[c("n", "m")] != fit$dims[c("n", "m")])) {
      stop_input(
        "`draws` must have the %d x %d cells of the fit: number %d has not.", fit$dims[["n"]], fit$dims[["m"]], i
      )
    }
  }
  draws
}

# Quantiles of the ends over fits to other tables: of the mean share, of each observation's, of each cell's.
add_sampling <- function(out, fits, kinds, colours, x, level) {
  tail <- c((1 - level) / 2, (1 + level) / 2)
  ends <- lapply(fits, draw_ends, kinds = kinds, colours = colours, x = x, cells = !is.null(out$cells))
  range_of <- function(bound, at) {
    values <- lapply(ends, function(end) unlist(end[[bound]][at, c("least", "most", "expected_most")]))
    values <- do.call(cbind, values)
    data.frame(
      phantom = colours[at], bound = bound, least = quantile_of(values[1L, ], tail[1L]),
      most = quantile_of(values[2L, ], tail[2L]), expected_most = quantile_of(values[3L, ], tail[2L])
    )
  }
  rows <- lapply(seq_along(colours), range_of, bound = "outer")
  if (any(lengths(lapply(ends, `[[`, "inner")))) rows <- c(rows, list(range_of("inner", 1L)))
  out$sampling <- do.call(rbind, rows)
  unlike <- matrix(vapply(ends, `[[`, numeric(nrow(out$unlike)), "unlike"), ncol = length(ends))
  out$unlike$draws_most <- apply(unlike, 1L, quantile_of, tail[2L])
  names <- c("draws_most", "black_draws_most")
  for (at in seq_along(colours)) {
    tops <- vapply(ends, function(end) end$tops[[at]], numeric(nrow(out$sites)))
    tops <- matrix(tops, ncol = length(ends))
    out$sites[[names[at]]] <- apply(1 - tops, 1L, quantile_of, tail[2L])
  }
  if (!is.null(out$cells)) {
    missed <- matrix(vapply(ends, `[[`, numeric(nrow(out$cells)), "missed"), ncol = length(ends))
    out$cells$draws_most <- apply(missed, 1L, quantile_of, tail[2L])
  }
  out
}

# The ends of the bounds of one fit: the numbers of false absences are those of its own table. Draws from a posterior
# have the components of the fit, whatever the rule of phantoms() says of a draw.
draw_ends <- function(fit, kinds, colours, x, cells) {
  own <- if (is.null(fit$x)) x else fit$x
  exact <- exact_phantom(fit, if (can_refit(fit)) component_kinds(fit) else draw_kinds(fit, kinds), own)
  bounds <- lapply(colours, function(colour) outer_bounds(exact$fit, own, colour))
  ends <- list(
    tops = lapply(bounds, `[[`, "top"), outer = data.frame(
      least = 0, most = vapply(bounds, function(side) mean(1 - side$top), 0),
      expected_most = vapply(bounds, `[[`, 0, "expected")
    ),
    unlike = unlist(lapply(colours, function(colour) unlike_bounds(exact$fit, own, colour)$most))
  )
  if (length(colours) == 1L && !all(c("white", "black") %in% exact$kinds)) {
    inner <- scale_polytope(content_factors(exact$fit, exact$kinds))
    u <- lapply(list(minimal = largest_scale(inner, colMeans(inner$s)), maximal = inner$lower), function(d) {
      pmin(as.vector(inner$s %*% d), 1)
    })
    ends$inner <- data.frame(
      least = 1 - mean(u$minimal), most = 1 - mean(u$maximal), expected_most = count_missed(u$maximal, bounds[[1L]])
    )
  }
  if (cells) ends$missed <- most_missed_at(exact$fit, x, colours[1L], bounds[[1L]]$top)
  ends
}

# What the components of a draw are: those of the fit that it is drawn from, or, where they are others (a member of an
# average), by what is pinned; only where nothing is, by the rule.
draw_kinds <- function(draw, kinds = NULL) {
  if (draw$dims[["k"]] == length(kinds)) {
    return(kinds)
  }
  pinned <- unname(draw$pinned)
  if (all(pinned == "free")) component_kinds(draw) else ifelse(pinned == "free", "content", pinned)
}

quantile_of <- function(values, at) unname(stats::quantile(values, at, type = 8))

# The largest chance that each observed zero is false, in the order of bound_cells().
most_missed_at <- function(fit, x, colour, top) {
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    most_missed(seen$p, top[rows], bare = bare_rows(seen$bare, top[rows]))[seen$zero]
  })
  unlist(blocks)
}

# How identifiability() presents itself.

#' @export
print.identifiability <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  write_sentences(identifiability_sentences(x, digits))
  invisible(x)
}

#' @rdname identifiability
#' @param object a result of `identifiability()`.
#' @export
summary.identifiability <- function(object, ...) {
  check_dots(...)
  structure(list(object = object), class = "summary.identifiability")
}

#' @export
print.summary.identifiability <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  id <- x$object
  write_sentences(identifiability_sentences(id, digits))
  cat("\nThe phantom's mean share\n")
  print.data.frame(round_columns(id$share[1:4], digits), row.names = FALSE)
  cat(loglik_sentence(id$share))
  of <- unique(vapply(id$share$phantom, false_of, ""))
  cat(sprintf("\nExpected number of false %s\n", paste(of, collapse = ", ")))
  print.data.frame(round_columns(id$expected, digits), row.names = FALSE)
  if (!is.null(id$components)) {
    cat("\nScales of the content components, and what limits the maximal phantom\n")
    shown <- round_columns(id$components, digits)
    names(shown)[names(shown) == "taxon"] <- singular_word(kept_words(id)[2L])
    print.data.frame(shown, row.names = FALSE)
  }
  if (!is.null(id$sites$binding)) cat(binding_sentence(id), "\n", sep = "")
  if (!is.null(id$sampling)) {
    cat(sprintf("\nEnds over %s, %g %% quantiles\n", count_words(id$n_draws, "draw"), 100 * id$level))
    print.data.frame(round_columns(id$sampling, digits), row.names = FALSE)
  }
  invisible(x)
}

# Said of the ends that are attained, because it is why the data do not decide between them.
loglik_sentence <- function(share) {
  attained <- share[share$bound %in% c("reached", "inner"), c("loglik_least", "loglik_most")]
  fitted <- share$loglik_least[share$bound == "fitted"][1L]
  if (!nrow(attained)) {
    return(sprintf("Log-likelihood of the fit %.6f\n", fitted))
  }
  sprintf("Log-likelihood of the fit %.6f, of the ends %.6f to %.6f\n", fitted, min(attained), max(attained))
}

binding_sentence <- function(id) {
  at <- id$sites$site[id$sites$binding]
  words <- kept_words(id)[1L]
  if (!length(at)) {
    return(sprintf("No %s is all content, even with the least phantom.", singular_word(words)))
  }
  who <- if (length(at) == 1L) paste(singular_word(words), "is") else paste(words, "are")
  sprintf("With the least phantom, %d %s all content: %s.", length(at), who, show_names(as.character(at)))
}

identifiability_sentences <- function(id, digits) {
  d <- id$dims
  c(
    sprintf(
      "What %s decide about the phantom, the component that stands for gaps in the record%s",
      table_words(d, kept_words(id)),
      if (id$has_phantom) "" else " (the fit has none; one without share was added)"
    ),
    unlist(lapply(unique(id$share$phantom), function(colour) {
      c(colour_sentences(id, colour, digits), sampling_sentence(id, colour, digits), verdict(id, colour, digits))
    })),
    if (id$smooth) {
      "These are the bounds of the likelihood: smoothing prefers some decompositions within them, as a prior does."
    },
    if (abs(id$change) > 0.01) {
      sprintf(
        paste(
          "(The phantom was only near %s; bounds are those with it held there, which %s the log-likelihood by",
          "%.3g.)"
        ),
        if (id$phantom == "black") "1" else "0", if (id$change > 0) "raises" else "lowers", abs(id$change)
      )
    },
    rule_sentences(id, digits), unlike_sentences(id)
  )
}

bound_names <- c(
  fitted = "as fitted", outer = "no solution lies beyond (outer)", reached = "reached by a search",
  inner = "by rescaling (inner)"
)

colour_sentences <- function(id, colour, digits) {
  rows <- id$share[id$share$phantom == colour, ]
  counts <- id$expected[id$expected$phantom == colour, ]
  at <- order(match(rows$bound, names(bound_names)))
  lines <- vapply(at, function(i) {
    sprintf(
      "  %-32s share %-16s false %s %s", bound_names[[rows$bound[i]]],
      range_text(rows[i, c("least", "most")], digits), false_of(colour),
      range_text(round(unlist(counts[counts$bound == rows$bound[i], c("least", "most")])), digits)
    )
  }, "")
  name <- if (colour == "white") "White" else "Black"
  one <- singular_word(kept_words(id)[1L])
  c(sprintf("%s phantom, its mean share of a %s and what follows:", name, one), lines)
}

rule_sentences <- function(id, digits) {
  said <- lapply(seq_len(nrow(id$rule)), function(i) {
    rule <- id$rule[i, ]
    white <- rule$phantom == "white"
    sprintf(
      paste(
        "These bounds are of an exact phantom, with %s alone. One that is %s only by the rule of phantoms(), with a",
        "mean chance of %s up to %s, may make up as much as %s of the table, and up to %s of %s %s may be false."
      ),
      if (white) "absences" else "presences", rule$phantom,
      if (white) "a presence" else "an absence", format(signif(rule$written, 2L)),
      range_text(rule$share_most, digits), format_big(round(rule$expected_most)),
      format_big(id$unlike$n_cells[id$unlike$phantom == rule$phantom][1L]), if (white) "zeros" else "ones"
    )
  })
  unlist(said)
}

sampling_sentence <- function(id, colour, digits) {
  if (is.null(id$sampling)) {
    return(NULL)
  }
  rows <- id$sampling[id$sampling$phantom == colour, ]
  ends <- vapply(seq_len(nrow(rows)), function(i) {
    sprintf("%s share %s", rows$bound[i], range_text(rows[i, c("least", "most")], digits))
  }, "")
  sprintf(
    "  over %s, to %g %%: %s; false %s at most %s", count_words(id$n_draws, "draw"), 100 * id$level,
    paste(ends, collapse = ", "),
    false_of(colour), format_big(round(rows$expected_most[1L]))
  )
}

verdict <- function(id, colour, digits) {
  rows <- id$share[id$share$phantom == colour, ]
  outer <- rows[rows$bound == "outer", ]
  attained <- rows[rows$bound %in% c("reached", "inner"), ]
  most <- max(outer$most, id$sampling$most[id$sampling$phantom == colour & id$sampling$bound == "outer"])
  if (most <= id$narrow) {
    return(sprintf(
      "The data decide: in every fit with the same chances, an exactly %s phantom's share is at most %s.", colour,
      format(signif(most, digits))
    ))
  }
  spread <- if (nrow(attained)) max(attained$most) - min(attained$least) else 0
  c(
    sprintf("The data alone do not decide how much of the table the %s phantom makes up.", colour),
    if (spread > 1e-6) {
      "Fits all along the range that was found are equally good: which of them to report is a convention."
    } else if (nrow(attained)) {
      "No other fit with the same chances was found. That is no proof that there is none within the outer bound."
    },
    if (isTRUE(id$estimate %in% c("map", "vb", "gibbs"))) "Its prior decides where this fit lies within the bounds.",
    if (id$effort) "This fit lies where it does because it assumes that the phantom's share follows the effort.",
    "What would decide: repeated visits (`visits`), the effort spent on each (`effort`), or a prior (if you trust it)."
  )
}

# Draws of a fit's posterior, by a seed of their own; those given; or none.
own_draws <- function(fit, draws) {
  if (!is.null(draws) && !is.numeric(draws)) {
    return(check_draws(draws, fit))
  }
  n <- if (is.null(draws)) 100L else check_count(draws, "draws", 0L)
  has_posterior <- has_draws(fit)
  if (n > 0L && !has_posterior && !is.null(draws)) {
    stop_input(
      "`draws` must be 0 or a list of fits, such as bootstrap_draws(fit): this fit has no posterior to draw from."
    )
  }
  if (n > 0L && has_posterior) with_seed(1L, posterior_draws(fit, n)) else list()
}
