# Compares groups of sites, of which_zeros() results and of fits.

#' Do groups of sites differ in what was missed?
#'
#' Compares time slices, regions, formations or other groups of sites of a result of [which_zeros()], in pairs, with
#' intervals: the share of undetected presences in all presences, their number, or the mean number of taxa at a site,
#' undetected ones included.
#'
#' @details
#' The sites of each group are taken as a random sample of many such sites, and the interval is that of the difference
#' between the means of these. It combines two uncertainties. The total is uncertain, by the same factor for both
#' groups; if it may be 0, so may every difference of what was missed. And sites differ within groups: the variance of a
#' group is that of its own sites, shrunk towards that of all groups as if by five more sites, and Student's t allows
#' for small groups. For fits, and if completeness, effort or a phantom is assumed, the first part comes from draws for
#' the groups themselves. When sites were dealt into two groups at random, so that the true difference is 0, 7 % of the
#' intervals of the share excluded 0 (six tables whose total is surely above 0), and 10 % of those of the number of taxa
#' (nine tables; `bench/which_zeros_parts.md`).
#'
#' If sites are not independent, such as several of one formation, the intervals are too narrow. The difference rests on
#' the same evidence as the total. Presence-absence data alone do not show how thorough a search was, so they cannot
#' compare groups that were searched with unequal effort; the print says so. Among many pairs some differences arise by
#' chance, and the intervals are not widened for that.
#'
#' @param fit a result of [which_zeros()], or a fit that [by_site()] takes.
#' @param groups the group of each site, a vector, in the order of the sites or with their names; `NA` is left out. At
#'   least two groups, one of which has two sites.
#' @param ... must be empty.
#' @param draws for fits, as in [by_site()].
#' @param of what is compared: `"share"`, missed / (missed + found), in \[0, 1\]; `"missed"`, the expected number of
#'   false absences; `"richness"`, (missed + found) / number of sites.
#' @return A data frame of class `which_zeros_contrast` with a row for each pair of groups: `group`, `other`; `value`
#'   and `other_value`, what is compared; `difference`, the first minus the second; `low`, `high`, its 90 % interval;
#'   `above`, the probability that it is above 0. Cost: a few passes over the zeros.
#' @seealso [by_site()], which has the groups one by one, [multicause-glossary] for the words of the print
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' contrast(w, rep(c("old", "middle", "young"), each = 40))
#' @export
contrast <- function(fit, groups, ..., of = c("share", "missed", "richness"), draws = NULL) {
  check_dots(...)
  check_given(fit, groups)
  if (is.null(groups)) stop_input("`groups` must be the group of each site, not NULL.")
  of <- check_choice(of)
  of_fit <- inherits(fit, "multicause")
  if (!of_fit) {
    check_answer(fit)
    need_numbers(fit)
  }
  if (!of_fit && !is.null(draws)) stop_input("`draws` are for fits: a result of which_zeros() has its own.")
  found <- sums_of(fit, 1L, groups, if (of_fit) list(draws = draws) else list())
  if (is.null(found$drawn)) {
    stop_input("`draws` must be supplied for ranges, as from bootstrap_draws(fit): this fit has no posterior.")
  }
  group <- found$group
  if (nlevels(group) < 2L) stop_input("`groups` must have at least two groups, not %d.", nlevels(group))
  if (max(table(group)) < 2L) {
    stop_input("`groups` must have a group of two sites at least, to estimate how sites differ.")
  }
  sums <- found$table[match(levels(group), found$table$group), ]
  sites <- suppressMessages(sums_of(fit, 1L, NULL, if (of_fit) list(draws = 0L) else list()))$table
  if (!of_fit) group <- group[wz_scored(fit)]
  # A measured result has one total, the same for all groups; an assumed one has draws for each group.
  drawn <- if (!of_fit && fit$source %in% c("curve", "groups", "visits")) {
    sums$missed %o% (colSums(fit$draws$sites) / max(sum(sites$missed), 1e-300))
  } else {
    found$drawn
  }
  structure(
    compare_pairs(group, sums, sites, drawn, of), class = c("which_zeros_contrast", "data.frame"), of = of,
    assumption = found$assumption, blind = identical(fit$source, "curve")
  )
}

# Compares all pairs of groups. sums: presences and undetected presences of the groups; sites: the same of the sites, in
# the order of `group`; drawn: undetected presences, groups x draws.
compare_pairs <- function(group, sums, sites, drawn, of) {
  known <- !is.na(group)
  at <- as.integer(group)[known]
  sites <- sites[known, ]
  size <- tabulate(at, nlevels(group))
  value <- function(missed) {
    switch(of, share = missed / pmax(missed + sums$presences, 1e-300), missed = missed,
      richness = (missed + sums$presences) / size)
  }
  # Computes each site's contribution to the value of its group, minus the mean, for these undetected presences.
  spread <- function(missed) {
    own <- sites$missed * (missed / pmax(sums$missed, 1e-300))[at]
    there <- own + sites$presences
    mean <- function(x) (rowsum(x, at)[, 1L] / size)[at]
    switch(of,
      share = (own - (missed / pmax(missed + sums$presences, 1e-300))[at] * there) / pmax(mean(there), 1e-300),
      missed = own - mean(own), richness = there - mean(there)
    )
  }
  variance <- function(missed) {
    squares <- rowsum(spread(missed)^2, at)[, 1L]
    all <- sum(squares) / (sum(size) - length(size))
    (squares + more_sites * all) / (size - 1 + more_sites) / size * (if (of == "missed") size^2 else 1)
  }
  here <- value(sums$missed)
  values <- apply(drawn, 2L, value)
  variances <- apply(drawn, 2L, variance)
  each <- variance(sums$missed)
  pairs <- utils::combn(nlevels(group), 2L)
  middle <- here[pairs[1L, ]] - here[pairs[2L, ]]
  told <- vapply(seq_len(ncol(pairs)), function(pair) {
    i <- pairs[, pair]
    df <- sum(each[i])^2 / max(sum(each[i]^2 / (size[i] - 1 + more_sites)), 1e-300)
    beyond <- sqrt(colSums(variances[i, , drop = FALSE])) %o% stats::qt(stats::ppoints(100L), max(df, 1))
    difference <- values[i[1L], ] - values[i[2L], ] + beyond
    c(central_range(difference), mean(difference > 0))
  }, numeric(3L))
  ends <- coherent_ends(t(told[1:2, , drop = FALSE]), middle)
  if (of == "share") ends[] <- pmin(pmax(ends, -1), 1)
  data.frame(
    group = levels(group)[pairs[1L, ]], other = levels(group)[pairs[2L, ]], value = here[pairs[1L, ]],
    other_value = here[pairs[2L, ]], difference = middle, ends, above = told[3L, ]
  )
}

more_sites <- 5 # by how many the scatter within a group is shrunk towards that of all groups

#' @export
print.which_zeros_contrast <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  check_dots(...)
  if (print_as_frame(x, digits, "value")) {
    return(invisible(x))
  }
  what <- c(
    share = "Share undetected", missed = "Undetected presences", richness = "Taxa per site, undetected ones included"
  )[attr(x, "of")]
  writeLines(wrap_text(c(
    paste(c(if (length(what)) what else "Contrast of groups", attr(x, "assumption")), collapse = ", "),
    if (isTRUE(attr(x, "blind"))) "Groups searched with unequal effort cannot be compared by presence-absence data."
  ), exdent = 2))
  shown <- as.data.frame(x)
  shown <- with_range(round_columns(shown, digits), "difference", c("low", "high"), function(x) vapply(x, format, ""))
  if (all(c("low", "high") %in% names(x))) names(shown)[names(shown) == "difference"] <- "difference (90 % interval)"
  names(shown)[names(shown) == "above"] <- "P(above 0)"
  print_rows(shown)
  writeLines(wrap_text("Intervals take the sites of a group as a random sample of many such sites.", exdent = 2))
  invisible(x)
}

#' @exportS3Method emmeans::contrast
#' @rawNamespace S3method(rms::contrast, which_zeros)
contrast.which_zeros <- function(object, ...) contrast(object, ...) # nolint: object_name_linter.

#' @exportS3Method emmeans::contrast
#' @rawNamespace S3method(rms::contrast, multicause)
contrast.multicause <- function(object, ...) contrast(object, ...) # nolint: object_name_linter.
