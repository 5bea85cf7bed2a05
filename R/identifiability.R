#' What do the data decide about the phantom?
#'
#' The same table can be split into content and phantom in several ways that have the same likelihood and give different
#' numbers of false absences. `identifiability()` reports how far apart these are: for the phantom's share of the table
#' and of each site, for the number of false absences and, if requested, for every cell.
#'
#' @details
#' **Why.** A table shows the product of how common a taxon was and how well a site is known. Make every taxon twice as
#' common and every record half as good, and the same presences are as likely as before. The data fix the probability
#' \eqn{p} of a presence in each cell, but content's share \eqn{u} of a site (1 minus the phantom's) only within bounds.
#' Given \eqn{u}, the probability that a zero is a false absence is \eqn{\frac{1 - u}{u} \cdot \frac{p}{1 - p}}{((1 - u)
#' / u) (p / (1 - p))}.
#'
#' **Three results**, from wide to narrow:
#' \describe{
#'   \item{outer}{holds for *every* decomposition with these probabilities and an exact phantom: \eqn{u} is at least the
#'     largest probability of an observed cell in the row. Whether the print says that the data decide depends on this
#'     bound alone.}
#'   \item{inner}{what rescaling attains: a content component's probabilities are divided by a number, its memberships
#'     multiplied by it, and the phantom takes the rest. Both ends are attained.}
#'   \item{fitted}{the value of the fit.}
#' }
#' For a black phantom 0 and 1 are exchanged; with both phantoms fixed only the outer bound is given.
#'
#' **Conventions** name two decompositions of the inner set. "Maximal phantom": every fauna has a taxon that was always
#' there. "Minimal phantom": some site is perfectly known. Functions of a fit take them as `phantom_convention`, and the
#' result has both as `fits`.
#'
#' **What would decide.** Repeated visits (`visits`). Two assumptions determine the result as well: that effort governs
#' what was missed (`effort`), or a prior (`estimate = "map"`, `"vb"`, or `smooth`).
#'
#' **The estimate is uncertain, too.** `nsim` draws tables from the fit and fits each again; `draws` takes
#' [posterior_draws()] or [bootstrap_draws()]. Bounds then have quantiles. For bounds we recommend `estimate = "vb"`
#' with flat priors (`list(aspects = c(1, 1), membership = 1)`), which are not the defaults of [aspect_bernoulli()]. In
#' 50 tables drawn from the model, the true probability was below the outer bound of `missed` for 95 % of the zeros
#' (`"ml"`: 64 %), and below its upper quantile over posterior draws for 99 % (`"ml"`: 94 %
#' over bootstrap fits). But intervals of `missed` itself over draws are too narrow.
#'
#' **What is assumed.** A phantom treats all taxa of a site alike. If some taxa are harder to find, more may be missing
#' than these bounds allow: in 16 of 18 comparisons on birds, all visits together estimated more false absences on the
#' first visit than that visit's outer bound (`bench/calibration.md` in the sources). `unlike` has the bounds if taxa
#' are missed at rates of their own (formulas: `bench/help_details.md` in the sources).
#'
#' **Phantoms near zero.** A fit whose phantom is only near 0 is fitted further with the phantom fixed at 0; `change` is
#' the log-likelihood after this less that before. A phantom with a little content mixed in may have a larger share. So
#' for such a fit quote `missed_most` of [false_absences()], the bound for phantoms as white as the fit's own.
#'
#' **Noisy-OR with recording** ([model][noisy_or_recording]) is fitted at a series of mean probabilities of recording (a
#' profile). The `likelihood` bound is the range in which the log-likelihood falls by at most 2. A link is the
#' probability of a taxon if its component is on. Links of 0 that are fitted above 0 look like further causes, so both
#' ends of this range tend to be too low. With `nsim` the bound `draws` compares this fall with those in tables drawn
#' from the model. With `missed_by = "site"` and `level = 0.9` it held the true number in 17 of 20 simulated tables with
#' links of 0 or .85, and in 7 of 7 with links in between; `likelihood` held it in 3 and 6 (`bench/noisy_or.md` in the
#' sources).
#'
#' **Cost.** O(n m k) for the outer bound; n linear programs in k unknowns for the inner one. For noisy-OR: 10 to 60
#' fits, plus two for each of the `nsim` tables.
#' @param fit a fit of [aspect_bernoulli()], or an average of such fits by [ensemble()]; or a fit of [noisy_or()] with
#'   `missed_by`, without `effort`, to single visits.
#' @param ... must be empty.
#' @param cells also give the bounds of every observed zero (of every presence, for a black phantom).
#' @param nsim number of tables drawn from the fit and fitted again from the fit's own parameters, at least 0. It
#'   must be 0 for averages, `estimate = "gibbs"` and single posterior draws as `fit`. For noisy-OR 0, or at least 10.
#' @param draws list of fits to data with the same sites and taxa: [posterior_draws()] or [bootstrap_draws()].
#' @param level coverage of the quantiles over `nsim` or `draws`, between 0 and 1.
#' @param narrow the share counts as decided if the outer bound of its mean is at most this, a number between 0 and 1.
#'   The lower bound is always 0.
#' @param kinds what each component is, see [false_absences()].
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @return Of [noisy_or()], a list of classes `identifiability_profile` and `identifiability` with data frames
#' `expected` (`bound`s `"likelihood"`, `"draws"`, `"fitted"` of the number of false absences, `least` and `most`, and
#' of the mean probability that a presence is on record, `recorded_least` and `recorded_most`) and `profile` (a row for
#' each probability tried: `recorded`, `missed`, the log-likelihood `loglik`, its `change` from the largest, in nats,
#' and `root`, the square root of twice the fall, positive where `recorded` is below its value at the maximum, else
#' negative; the maximum is that of the profile, with `nsim` the one that iterations from this row reach if `recorded`
#' is free). Of [aspect_bernoulli()], a list of class `identifiability`:
#' \describe{
#'   \item{`share`}{data frame: `phantom` (`"white"` or `"black"`), `bound` (`"outer"`, `"inner"`, `"fitted"`), the
#'     `least` and `most` of the phantom's mean share, in \[0, 1\], and the log-likelihoods `loglik_least` and
#'     `loglik_most` of the parameters that attain them (nats; `NA` for the outer bound).}
#'   \item{`expected`}{the same `bound`s of the expected number of false absences (false presences, for a black
#'     phantom), without log-likelihoods.}
#'   \item{`sites`}{data frame, a row for each: `site`, the phantom's `share` as fitted, and its
#'     `outer_most`, `inner_least` and `inner_most` (the outer least is 0); `taxon`, the one whose probability makes the
#'     outer bound (`NA` where nothing is observed); `binding`, whether the site keeps the phantom of the minimal
#'     convention from being smaller. With both phantoms fixed: `outer_most` and `black_outer_most`.}
#'   \item{`taxa`}{data frame, a row for each: `taxon`; `missed_most`, the bound of the probability that it is missed
#'     where it is present, if this is the same at all sites (in [false_absences()] `missed_most` is of a cell); `site`,
#'     where the taxon is most probable, which sets the bound (`NA` where nothing is observed).}
#'   \item{`unlike`}{data frame: `most`, the largest number of the `n_cells` zeros (ones, for a black phantom) that may
#'     be false if each taxon is missed at a rate of its own (`missed_by` is `"taxon"`), or if each site has such a
#'     rate, too (`"both"`); with draws also `draws_most`, its upper quantile.}
#'   \item{`components`}{data frame, a row for each content component: the scales `minimal` and `maximal` (in the sense
#'     of the conventions) by which memberships are multiplied, and the `taxon` that limits `maximal`; `NULL` with
#'     both phantoms fixed.}
#'   \item{`fits`}{fits at the ends of the mean share, each with the probabilities of `fit`: `minimal` and `maximal`
#'     (the conventions), ordinary fits. `NULL` with both phantoms fixed.}
#'   \item{`cells`}{with `cells = TRUE`, a data frame of `site`, `taxon`, `probability`, and `present` and
#'     `missed` (`absent` and `added` for a black phantom) as fitted and with the ends of the bounds, such as
#'     `missed_outer_most`, and `missed_taxon_most` and `missed_both_most`, as of `unlike`.}
#'   \item{`sampling`}{only with draws: a data frame of `phantom` and `bound` (`"outer"`, `"inner"`), the `least` a
#'     lower and the `most` an upper quantile of the ends of the mean share over the draws, `expected_most` the upper
#'     quantile of the most false absences. `sites` and `cells` then have `draws_most` (with both phantoms fixed
#'     also `black_draws_most`), the upper quantile of the outer end of the phantom's share and of the probability of a
#'     false absence.}
#'   \item{`phantom`, `change`, `decided`, ...}{`"white"`, `"black"` or `"both"`; log-likelihood of the fit with an
#'     exact phantom less that of `fit`, nats; whether the outer bound is at most `narrow`, over draws too; and what
#'     else printing needs.}
#' }
#' @seealso [false_absences()], [by_site()]
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' set.seed(1)
#' # few starts and the default estimate are quick; for bounds use "vb", see Details
#' few <- fit_control(n_start = 3)
#' fit <- aspect_bernoulli(simulated_sites$x, k = 4, phantom = "white", control = few)
#' sure <- identifiability(fit)
#' sure
#' head(sure$sites)
#' @export
identifiability <- function(fit, ...) {
  check_given(fit)
  UseMethod("identifiability")
}

#' @export
identifiability.default <- function(fit, ...) check_bounds(fit)

#' @rdname identifiability
#' @export
identifiability.aspect_bernoulli <- function(fit, ..., nsim = 0, draws = NULL, level = 0.9, cells = FALSE,
                                             narrow = 0.1, kinds = NULL, x = NULL) {
  check_dots(...)
  check_bounds(fit)
  cells <- check_flag(cells, "cells")
  nsim <- check_count(nsim, "nsim", 0L)
  size <- prod(fit$dims[c("n", "m")]) + sum(lengths(fit$param))
  refuse_large(nsim * size, "What is kept of the tables drawn", "lower `nsim`")
  level <- check_number(level, "level", 0, 1, open = TRUE)
  narrow <- check_number(narrow, "narrow", 0, 1, open = TRUE)
  kinds <- component_kinds(fit, kinds)
  x <- fit_data(fit, x)
  draws <- check_draws(draws, fit)
  if (is.null(fit$loglik)) fit <- set_loglik(fit, x) # an average of fits has none
  exact <- exact_phantom(fit, kinds, x)
  bounds <- find_bounds(exact, x)
  colours <- bounds$colours
  shown <- c("share", "expected", "sites", "taxa", "unlike", "components", "fits")
  out <- bounds[intersect(shown, names(bounds))]
  share <- fitted_rows(colours, function(of) mean(phantom_share(fit, kinds, of)))
  out$share <- rbind(out$share, cbind(share, loglik_least = fit$loglik, loglik_most = fit$loglik))
  out$expected <- rbind(out$expected, fitted_rows(colours, function(of) {
    expected_false(fit, x, kinds, false_of(of))[["expected"]]
  }))
  out$sites <- cbind(out$sites[1L], share = phantom_share(fit, kinds, colours[1L]), out$sites[-1L])
  if (cells) out$cells <- bound_cells(fit, kinds, exact, bounds, x)
  if (nsim > 0L && !can_refit(exact$fit)) {
    stop_input("`nsim` cannot fit such a fit anew: use `draws`, such as posterior_draws(fit).")
  }
  fits <- c(draws, if (nsim > 0L) with_seed(1L, bootstrap_fits(exact$fit, nsim, x)))
  if (length(fits)) out <- add_sampling(out, fits, kinds, colours, x, level)
  outer <- rbind(out$share[1:4], out$sampling[1:4])
  outer <- outer[outer$bound == "outer", ]
  structure(
    c(out, list(
      phantom = if (length(colours) == 2L) "both" else colours, has_phantom = any(kinds != "content"),
      change = exact$change, narrow = narrow, decided = all(outer$most - outer$least <= narrow), level = level,
      n_draws = length(fits), estimate = fit$estimate,
      effort = !is.null(fit$effort), smooth = !is.null(fit$smooth), dims = fit$dims, n_cells = bounds$n_cells
    )),
    class = c("identifiability", "multicause_result"), words = axis_words(fit)
  )
}

# Refuses fits that identifiability() does not cover.
check_bounds <- function(fit) UseMethod("check_bounds")

check_bounds.default <- function(fit) check_fit(fit, c("aspect_bernoulli", "noisy_or"))

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
  ok <- is.list(draws) && length(draws) && all(vapply(draws, inherits, NA, "aspect_model"))
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

# Computes quantiles of the bounds over fits to other tables: for the mean share, for each observation, for each cell.
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

# Computes the bounds of one fit with the numbers of false absences of its own table. Draws from a posterior have the
# components of the fit, whatever the rule of phantoms() gives for a draw.
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

# Returns the kinds of a draw's components: those of its fit or, if they differ (a member of an average), by the fixed
# components; by the rule only if none is fixed.
draw_kinds <- function(draw, kinds = NULL) {
  if (draw$dims[["k"]] == length(kinds)) {
    return(kinds)
  }
  fixed <- unname(draw$fixed)
  if (all(fixed == "free")) component_kinds(draw) else ifelse(fixed == "free", "content", fixed)
}

quantile_of <- function(values, at) unname(stats::quantile(values, at, type = 8))

# Computes the largest probability that each observed zero is false, in the order of bound_cells().
most_missed_at <- function(fit, x, colour, top) {
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    most_missed(seen$p, top[rows], bare = bare_rows(seen$bare, top[rows]))[seen$zero]
  })
  unlist(blocks)
}

# print() and summary() of identifiability().

#' @export
print.identifiability <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  print_bounds(x, digits)
  invisible(x)
}

# The bounds as a table, and what they mean in a sentence or two.
print_bounds <- function(id, digits) {
  words <- kept_words(id)
  write_sentences(sprintf(
    "How large can the phantom be? %s%s", table_words(id$dims, words),
    if (id$has_phantom) "" else " (the fit has none; one without share was added)"
  ))
  for (colour in unique(id$share$phantom)) {
    rows <- id$share[id$share$phantom == colour, ]
    rows <- rows[order(match(rows$bound, names(bound_names))), ]
    counts <- id$expected[id$expected$phantom == colour, ]
    counts <- counts[match(rows$bound, counts$bound), c("least", "most")]
    columns <- list(
      label = paste0("  ", bound_names[rows$bound]),
      `mean share` = apply(rows[c("least", "most")], 1L, range_text, digits),
      false = apply(counts, 1L, function(ends) paste(unique(vapply(round(ends), format_big, "")), collapse = " to "))
    )
    names(columns)[c(1L, 3L)] <- c(sprintf("%s phantom", capital(colour)), paste("false", false_of(colour)))
    cat("\n")
    print_aligned(columns)
  }
  cat("\n")
  write_sentences(unlist(lapply(unique(id$share$phantom), function(colour) verdict(id, colour, digits))))
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
  print_bounds(id, digits)
  write_sentences(c(identifiability_details(id, digits), loglik_sentence(id$share)))
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

# Reports the log-likelihoods of the attained bounds, because their equality shows that the data do not decide.
loglik_sentence <- function(share) {
  attained <- share[share$bound == "inner", c("loglik_least", "loglik_most")]
  fitted <- share$loglik_least[share$bound == "fitted"][1L]
  if (!nrow(attained)) {
    return(sprintf("Log-likelihood of the fit %.6f.", fitted))
  }
  sprintf("Log-likelihood of the fit %.6f, of the ends %.6f to %.6f.", fitted, min(attained), max(attained))
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

# What summary() adds to the bounds.
identifiability_details <- function(id, digits) {
  c(
    unlist(lapply(unique(id$share$phantom), function(colour) {
      c(sampling_sentence(id, colour, digits), what_decides(id))
    })),
    if (id$smooth) {
      "These are the bounds of the likelihood: smoothing prefers some decompositions within them, as a prior does."
    },
    if (abs(id$change) > 0.01) {
      sprintf(
        paste(
          "(The phantom was only near %s; bounds are those with it fixed there, which %s the log-likelihood by",
          "%.3g.)"
        ),
        if (id$phantom == "black") "1" else "0", if (id$change > 0) "raises" else "lowers", abs(id$change)
      )
    },
    unlike_sentences(id)
  )
}

bound_names <- c(
  fitted = "as fitted", inner = "equally good, by rescaling", outer = "outer bounds"
)

sampling_sentence <- function(id, colour, digits) {
  if (is.null(id$sampling)) {
    return(NULL)
  }
  rows <- id$sampling[id$sampling$phantom == colour, ]
  ends <- vapply(seq_len(nrow(rows)), function(i) {
    sprintf("%s share %s", rows$bound[i], range_text(rows[i, c("least", "most")], digits))
  }, "")
  sprintf(
    "Over %s (%g %%): %s; false %s at most %s.", count_words(id$n_draws, "draw"), 100 * id$level,
    paste(ends, collapse = ", "),
    false_of(colour), format_big(round(rows$expected_most[1L]))
  )
}

verdict <- function(id, colour, digits) {
  rows <- id$share[id$share$phantom == colour, ]
  outer <- rows[rows$bound == "outer", ]
  attained <- rows[rows$bound == "inner", ]
  most <- max(outer$most, id$sampling$most[id$sampling$phantom == colour & id$sampling$bound == "outer"])
  if (most <= id$narrow) {
    return(sprintf(
      "The data decide: in every fit with the same probabilities, an exactly %s phantom's share is at most %s.", colour,
      format(signif(most, digits))
    ))
  }
  alone <- nrow(attained) && max(attained$most) - min(attained$least) <= 1e-6
  sprintf(
    "The data do not decide the share of the %s phantom: given the fitted probabilities, the outer bounds are %s%s.",
    colour, range_text(outer[c("least", "most")], digits), if (alone) ", although rescaling gives no other fit" else ""
  )
}

# Where a fit lies within the bounds, and which data would decide.
what_decides <- function(id) {
  c(
    if (isTRUE(id$estimate %in% c("map", "vb", "gibbs"))) "The prior decides where this fit lies within the bounds.",
    if (id$effort) "The assumption that the phantom's share follows effort decides where this fit lies.",
    "Repeated visits (`visits`), the effort at each site (`effort`) or a prior that you trust would decide."
  )
}

# Draws from a fit's posterior with a fixed seed; returns supplied draws, or none.
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
