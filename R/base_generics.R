# What verbs ask of fits, answers and tables: the generics whose methods lie in files above this one.

# The k x m matrix that says what each component is, and the fit with its components in another order.
component_matrix <- function(fit) UseMethod("component_matrix")

component_matrix.default <- function(fit) {
  stop_input("`fit` must be of a model whose components go over the columns, not of %s().", class(fit)[1L])
}

# One array of visits; no visit where the data have none.
draw_visits <- function(fit) UseMethod("draw_visits")

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

# Scores of the cells of some rows, each a length(rows) x m matrix. With content C, white phantoms W, and "presence"
# read as "absence" and W as the black phantoms where of = "presences":
#   probability  p = sum_c s a, the chance of a presence
#   present      pbar = sum_C s a / u with u = sum_C s, the chance of a presence if content writes the cell
#   phantom      q = sum_W s (1 - a) / (1 - p), the chance that a phantom wrote the absence
#   missed       q pbar, the chance that a phantom wrote the absence where content would have written a presence
# 1 - p is summed as S (1 - A), because 1 - (S A) loses the small ones.
cell_scores <- function(fit, rows, kinds, of = "absences") UseMethod("cell_scores")

# Probability of a presence (x > 0) in every cell of the data of a fit, missing ones included, n x m.
presence_probability <- function(fit) UseMethod("presence_probability")

presence_probability.default <- function(fit) pmin(pmax(fitted(fit), 0), 1)

# Probability of a presence on record in every cell of the data of a fit, in the shape of the data. It differs from
# presence_probability() where the data are repeated records of one state.
recorded_probability <- function(fit) UseMethod("recorded_probability")

recorded_probability.default <- function(fit) presence_probability(fit)

# What training rows say of cells, as function(rows): list(one, zero), the probabilities of a presence and an absence,
# list(mean) of counts, or list(share) of a row's total; matrices rows x m.
row_cells <- function(fit, family) UseMethod("row_cells")

row_cells.default <- function(fit, family) {
  if (family == "poisson") {
    mean <- unname(fitted(fit))
    return(function(rows) list(mean = mean[rows, , drop = FALSE]))
  }
  if (family == "multinomial") {
    share <- unname(fitted(fit)) / rowSums(fitted(fit))
    return(function(rows) list(share = share[rows, , drop = FALSE]))
  }
  one <- unname(presence_probability(fit))
  function(rows) list(one = one[rows, , drop = FALSE], zero = 1 - one[rows, , drop = FALSE])
}

#' @rdname by_site
#' @export
by_site <- function(fit, ...) {
  check_given(fit)
  UseMethod("by_site")
}

#' @rdname by_site
#' @export
by_taxon <- function(fit, ...) {
  check_given(fit)
  UseMethod("by_taxon")
}

# What a print says where estimates lie at bounds of what the model allows.
bound_sentences <- function(fit, ...) UseMethod("bound_sentences")

# How far `missed` spreads over the draws, as standard deviation; NULL where a fit has no draws.
score_spread <- function(fit, rows, kinds, of) UseMethod("score_spread")

score_spread.default <- function(fit, rows, kinds, of) NULL

# What each component distributes over: k x levels, by the name of the dimension.
distributions <- function(fit) UseMethod("distributions")

# A table may lie in pieces outside memory, as shards() keep one: then its class knows the way to a fit.
in_pieces <- function(x) UseMethod("in_pieces")
in_pieces.default <- function(x) FALSE

# The fit of the model of that name to such a table; `settings`: the model's further arguments, as a list.
fit_pieces <- function(x, model, k, settings, start, control, call) UseMethod("fit_pieces")

# which_zeros() of such a table; `given`: the names of the arguments that the user gave.
zeros_in_pieces <- function(x, given, ...) UseMethod("zeros_in_pieces")

# The views that fits of all models have; NULL for one that is the model's own.
shared_figure <- function(fit, what, ...) UseMethod("shared_figure")

# The ranking of false_absences() and false_presences(), their arguments checked.
false_cells <- function(fit, of, by, asked, site_data, kinds, x, convention) UseMethod("false_cells")

# Whether the model has a detection part that estimates what was missed, in place of a phantom.
has_detection <- function(fit) UseMethod("has_detection")
has_detection.default <- function(fit) FALSE
