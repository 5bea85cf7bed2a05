#' Phantom components of a fit
#'
#' Tells which components of a fit are phantoms: a *white* phantom has (almost) only absences, a *black* one (almost)
#' only presences, and all others are *content*. The result lists every component with the numbers that decide, because
#' a component near the limits may be a phantom in part.
#'
#' **White.** A component is a white phantom when its mean probability is at most `white` times the density of the
#' table. (A fixed bound on the largest probability fails: in sparse tables of fossils that of a phantom may be 0.08.)
#'
#' **Black.** A component is a black phantom when it has presences, of any taxon, in sites that have
#' content of their own. So three conditions must hold: its mean probability of an absence is at most `black` times the
#' share of absences; at least 95 % of the taxa are likelier under it than in the table (`above`), which is rare
#' in a fauna; and at most half of its weight lies in sites of which it makes up more than half (`alone`): those
#' are rich sites with content of this kind. In a table with more presences than absences, where presences are
#' the rule, the mirror image of the white rule is enough: a mean probability of an absence of at most `white` times the
#' share of absences.
#'
#' The bound on the mean of a black phantom is loose because the data hardly fix it: beside a white phantom, a
#' component of 0.7 everywhere says the same as a smaller share of one that is 1 everywhere. Where additions are few or
#' spread thinly over all sites, no component of a fit may make them. Ask for one then by
#' `phantom = "black"` or `"both"` of [aspect_bernoulli()].
#'
#' **Measured** (`bench/additions.md`, few replicates): on the paper's table with additions a black phantom was found in
#' each of 3 fits where 40 % of the sites had them, and in none where all sites had; with additions to 40 % of the rows
#' of eight other tables, in 5 of 8 fits. A test checks on simulated tables, some of them nested or with taxa that are
#' everywhere, that none is found without additions.
#'
#' These are fits with `estimate = "ml"`. The prior of `"map"` favours small probabilities and may keep a black phantom
#' from being found: look for one by `"ml"`, or pin it.
#'
#' A component that makes up less than `min_weight` of the table decides nothing and counts as content. Pinned phantoms
#' are phantoms for any numbers. Taxa with nothing observed are left out. Where a table has no presence
#' (no absence) at all, no component is called a white (black) phantom unless pinned.
#'
#' @param fit a fit of [aspect_bernoulli()], or of [noisy_or()] with `missed_by`, whose recording is listed as a white
#'   phantom after the components. Models whose components cannot be phantoms are refused.
#' @param ... must be empty.
#' @param white,black numbers from 0 to below 1: the largest ratio to the table's density of presences (of absences)
#'   that a white (black) phantom may have. A prior on the components can lift a phantom over the default: raise it
#'   then. With `black = 0` only a component without any absence is a black phantom.
#' @param min_weight number from 0 to below 1: least mean membership of a phantom.
#' @return A data frame of class `phantoms` with a row for each component:
#' \describe{
#'   \item{`component`}{its name.}
#'   \item{`kind`}{`"white"`, `"black"` or `"content"`.}
#'   \item{`pinned`}{whether it was held at exact 0 (1).}
#'   \item{`weight`}{its mean membership over the sites: the share of the table that it makes up.}
#'   \item{`mean`, `min`, `max`}{of its probabilities over the taxa.}
#'   \item{`white_ratio`, `black_ratio`}{mean over density of presences; 1 - mean over density of absences.}
#'   \item{`above`}{the share of the taxa whose probability is above the density of presences.}
#'   \item{`alone`}{the share of the component's weight in sites of which it makes up more than half.}
#' }
#' All verbs that need to know the phantoms take such a result as their argument `kinds`.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @seealso [false_absences()], [denoise()], [multicause-glossary] for the words of the print
#' @examples
#' set.seed(1)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(40 * 12, 1, rep(runif(40, 0.2, 1), 12))
#' phantoms(aspect_bernoulli(x, k = 3))
#' @export
phantoms <- function(fit, ...) UseMethod("phantoms")

#' @export
phantoms.default <- function(fit, ...) {
  check_fit(fit)
  stop_no_phantoms(fit)
}

stop_no_phantoms <- function(fit) {
  stop_input(
    paste(
      "`fit` must be of a model whose components can be phantoms, a fit of aspect_bernoulli(), not of %s():",
      "a phantom is a component that shares each site with others and has only absences or only presences."
    ),
    class(fit)[1L]
  )
}

#' @rdname phantoms
#' @export
phantoms.aspect_bernoulli <- function(fit, ..., white = 0.2, black = 0.5, min_weight = 1e-3) {
  check_dots(...)
  white <- check_share(white, "white")
  black <- check_share(black, "black")
  min_weight <- check_share(min_weight, "min_weight")
  table <- phantom_table(fit$param, fit$density, fit$pinned, fit$margins$column_observed > 0, white, black, min_weight)
  structure(
    table,
    class = c("phantoms", "data.frame"), density = fit$density,
    rule = c(white = white, black = black, min_weight = min_weight)
  )
}

check_share <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x < 0 || x >= 1) {
    stop_input("`%s` must be one number from 0 to below 1, not %s.", name, show_value(x))
  }
  as.double(x)
}

# What a black phantom of a sparse table must have besides its mean, see ?phantoms. Tuning: additions planted in fossil
# tables gave above 0.98, alone 0.07; components of tables without additions above 0.9 or, of nested sites, alone 0.6.
black_above <- 0.95
black_alone <- 0.5

phantom_table <- function(...) {
  out <- phantom_measures(...)
  aspects <- out$aspects
  data.frame(
    component = component_names(nrow(aspects)), kind = out$kind, pinned = out$pinned, weight = out$weight,
    mean = out$mean, min = unname(apply(aspects, 1L, min)), max = unname(apply(aspects, 1L, max)),
    out[c("white_ratio", "black_ratio", "above", "alone")]
  )
}

# The same as a list, of `aspects`, those that count.
phantom_measures <- function(param, density, pinned, observed, white = 0.2, black = 0.5, min_weight = 1e-3) {
  aspects <- param$aspects[, observed, drop = FALSE]
  if (!any(observed)) aspects <- param$aspects
  mean <- unname(rowMeans(aspects))
  shares <- if (is.null(param$shares)) membership_shares(param$membership) else param$shares
  weight <- unname(shares$weight)
  white_ratio <- if (density > 0) mean / density else rep(NA_real_, length(mean))
  black_ratio <- if (density < 1) unname(rowMeans(1 - aspects)) / (1 - density) else rep(NA_real_, length(mean))
  above <- unname(rowMeans(aspects > density))
  alone <- unname(shares$alone)
  flat <- above >= black_above & alone <= black_alone | density >= 0.5 & black_ratio <= white
  kind <- rep("content", length(mean))
  kind[weight > min_weight & white_ratio <= white & !is.na(white_ratio)] <- "white"
  kind[weight > min_weight & black_ratio <= black & flat & !is.na(black_ratio)] <- "black"
  kind[pinned != "free"] <- pinned[pinned != "free"]
  list(
    aspects = aspects, kind = kind, pinned = unname(pinned != "free"), weight = weight, mean = mean,
    white_ratio = white_ratio, black_ratio = black_ratio, above = above, alone = alone
  )
}

# Of each component, its mean share of the observations and the part of that in observations that are mostly its own.
membership_shares <- function(membership) {
  alone <- colSums(membership * (membership > 0.5)) / colSums(membership)
  weight <- colMeans(membership)
  alone[weight == 0] <- 0
  list(weight = weight, alone = alone)
}

# The rule by which phantoms were found, that of phantoms() itself where the user says what is one.
phantom_rule <- function(kinds = NULL) {
  rule <- attr(kinds, "rule")
  as.list(if (is.null(rule)) formals(phantoms.aspect_bernoulli)[c("white", "black")] else rule)
}

# The kind of each component: as phantoms() finds them, or as the user says.
component_kinds <- function(fit, kinds = NULL) {
  if (is.null(kinds)) kinds <- phantoms(fit)
  k <- fit$dims[["k"]]
  if (inherits(kinds, "phantoms")) {
    kinds <- kinds$kind[match(component_names(k), kinds$component)]
  }
  if (!is.character(kinds) || length(kinds) != k || !all(kinds %in% c("content", "white", "black"))) {
    stop_input(
      "`kinds` must be a result of phantoms() on this fit, or %d of \"content\", \"white\" and \"black\", not %s.",
      k, show_value(kinds)
    )
  }
  kinds
}

# What the columns are.
phantom_legend <- c(
  "weight: share of the table; mean, min, max: of the component's chances of a presence",
  "pinned: whether it was held there, not estimated",
  "white_ratio: mean divided by the density; black_ratio: (1 - mean) / (1 - density)"
)

#' @export
print.phantoms <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  n <- table(factor(x$kind, c("white", "black", "content")))
  cat(sprintf(
    "%s (almost only zeros: gaps), %d black (almost only finds), %s\n", count_words(n[[1L]], "white phantom"),
    n[[2L]], count_words(n[[3L]], "content component")
  ))
  rule <- attr(x, "rule")
  # What a black phantom must have besides its mean is shown where it decides: the table is wide as it is.
  near <- is.null(rule) || any(x$black_ratio <= rule[["black"]] & !x$pinned, na.rm = TRUE)
  shown <- if (near) x else x[setdiff(names(x), c("above", "alone"))]
  print.data.frame(round_columns(shown, digits), row.names = FALSE)
  if (!is.null(rule)) {
    rule <- format(rule, drop0trailing = TRUE, scientific = FALSE, trim = TRUE)
    cat(sprintf(
      "Rule: white_ratio <= %s or black_ratio <= %s, weight > %s; density of presences %s\n",
      rule[1L], rule[2L], rule[3L], format(attr(x, "density"), digits = digits)
    ))
    writeLines(phantom_legend)
  }
  invisible(x)
}

# Numbers as a reader wants them: `digits` significant ones, but no more than `digits` decimals, and written out where
# large ones beside small ones would make print() write 3.42e+04.
round_columns <- function(x, digits) {
  number <- vapply(x, is.double, NA)
  x[number] <- lapply(x[number], function(column) {
    column <- signif(round(column, digits + 1L), digits)
    if (any(grepl("e", format(column), fixed = TRUE))) vapply(column, format, "", scientific = FALSE) else column
  })
  x
}
