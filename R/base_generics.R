# Generics for fits, results and tables whose methods are in files above this one.

# Returns the k x m matrix that defines each component; reorders the components of a fit.
component_matrix <- function(fit) UseMethod("component_matrix")

component_matrix.default <- function(fit) {
  stop_input("`fit` must be of a model whose components go over the columns, not of %s().", model_name(fit))
}

# Simulates one array of visits, without those that the data lack.
draw_visits <- function(fit) UseMethod("draw_visits")

# Tests whether misses belong to visits, so that no phantom explains them.
visits_decide <- function(fit) UseMethod("visits_decide")

visits_decide.default <- function(fit) FALSE

#' Phantom components of a fit
#'
#' Classifies the components of a fit: a *white* phantom has (almost) only absences, a *black* one (almost) only
#' presences, and all others are *content*. The result has the numbers that decide, because a component near the limits
#' may be a phantom in part.
#'
#' **White.** A component is a white phantom when its mean probability is at most `white` times the density of the
#' table. (A fixed bound on the largest probability fails: in sparse tables of fossils that of a phantom may be 0.08.)
#'
#' **Black.** A black phantom stands for false presences: it adds presences of almost any taxon to sites that other
#' components explain. So three conditions must hold: its mean probability of an absence is at most `black` times the
#' share of absences; at least 95 % of the taxa are likelier under it than in the table (`above`), which is rare in a
#' fauna; and at most half of its weight lies in sites of which it makes up more than half (`alone`): those are rich
#' sites with content of this kind. In a table with more presences than absences, where presences are the rule, the
#' mirror image of the white rule is enough: a mean probability of an absence of at most `white` times the share of
#' absences.
#'
#' The bound on the mean of a black phantom is loose because the data hardly fix it: beside a white phantom, a component
#' with probability 0.7 for all taxa gives the same fit as a smaller share of one with probability 1. If false presences
#' are few, or spread thinly over all sites, a fit may have no component for them. Then fix one by `phantom = "black"`
#' or `"both"` of [aspect_bernoulli()].
#'
#' **Measured** (`bench/additions.md`, few replicates): on the paper's table with additions a black phantom was found in
#' each of 3 fits where 40 % of the sites had them, and in none where all sites had; with additions to 40 % of the rows
#' of eight other tables, in 5 of 8 fits. A test checks on simulated tables, some of them nested or with taxa that are
#' everywhere, that none is found without additions.
#'
#' These are fits with `estimate = "ml"`. The prior of `"map"` favours small probabilities and may prevent a black
#' phantom: look for one by `"ml"`, or fix it.
#'
#' A component that makes up less than `min_weight` of the table counts as content. Fixed phantoms are phantoms whatever
#' their numbers. Taxa with nothing observed are left out. If a table has no presence (no absence) at all, only a fixed
#' component is a white (black) phantom.
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
#'   \item{`fixed`}{whether it was fixed at exactly 0 (1).}
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

# Scores the cells of some rows, each score a length(rows) x m matrix. With content C and white phantoms W (for of =
# "presences" exchange presence and absence, with W the black phantoms):
#   probability  p = sum_c s a, the probability of a presence
#   present      pbar = sum_C s a / u with u = sum_C s, the probability of a presence if content writes the cell
#   phantom      q = sum_W s (1 - a) / (1 - p), the probability that a phantom wrote the absence
#   missed       q pbar, the probability that a phantom wrote the absence where content would have written a presence
# 1 - p is summed as S (1 - A), because 1 - (S A) loses the small ones.
cell_scores <- function(fit, rows, kinds, of = "absences") UseMethod("cell_scores")

# Returns the probability of a presence (x > 0) in every cell of the data of a fit, missing ones included, n x m.
presence_probability <- function(fit, mean) UseMethod("presence_probability")

presence_probability.default <- function(fit, mean = fitted(fit)) pmin(pmax(mean, 0), 1)

# Returns the probability of a recorded presence in every cell, in the shape of the data. It differs from
# presence_probability() if the data are repeated records of one state.
recorded_probability <- function(fit) UseMethod("recorded_probability")

recorded_probability.default <- function(fit) presence_probability(fit)

# Returns the predictions of training rows for their cells as function(rows): list(one, zero), the probabilities of a
# presence and an absence, list(mean) of counts, or list(share) of a row's total; matrices rows x m.
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

# Sentences of print() on estimates at bounds of the model.
bound_sentences <- function(fit, ...) UseMethod("bound_sentences")
bound_sentences.default <- function(fit, ...) NULL

# Returns the ends of the interval of all undetected presences that print() has; NULL if they are those of draws.
printed_ends <- function(fit, level) UseMethod("printed_ends")
printed_ends.default <- function(fit, level) NULL

# Returns the standard deviation of `missed` over the draws; NULL if a fit has none.
score_spread <- function(fit, rows, kinds, of) UseMethod("score_spread")

score_spread.default <- function(fit, rows, kinds, of) NULL

# Returns the distributions of each component, k x levels, by the name of the dimension.
distributions <- function(fit) UseMethod("distributions")

# Tests for a table in pieces outside memory, such as shards() makes, whose class has methods for fits.
in_pieces <- function(x) UseMethod("in_pieces")
in_pieces.default <- function(x) FALSE

# Fits the model of that name to such a table; `settings`: the model's further arguments, as a list.
fit_pieces <- function(x, model, k, settings, start, control, call) UseMethod("fit_pieces")

# Runs which_zeros() on such a table; `given`: the names of the user's arguments.
zeros_in_pieces <- function(x, given, ...) UseMethod("zeros_in_pieces")

# Draws the figures that fits of all models have; NULL for one specific to the model.
shared_figure <- function(fit, what, ...) UseMethod("shared_figure")

# Ranks cells for false_absences() and false_presences(), whose arguments are checked.
false_cells <- function(fit, of, by, asked, site_data, kinds, x, convention) UseMethod("false_cells")

# The kind of phantom that each component is fixed as, "free" where it is none; NULL of models without phantoms.
fixed_kinds <- function(fit) UseMethod("fixed_kinds")
fixed_kinds.default <- function(fit) NULL

# Tests whether any part of the fit makes absences (presences) false: a phantom, or what the model has in its place.
has_noise <- function(fit, kinds, of) UseMethod("has_noise")
has_noise.default <- function(fit, kinds, of) any(kinds == if (of == "absences") "white" else "black")

# Computes expected memberships for a design (terms x points) with the ends of intervals: list(mean, lower, upper),
# points x k.
membership_curve <- function(fit, design, level) UseMethod("membership_curve")

# Returns which cells of tables that are drawn from a fit are unknown; NULL of visits, which are drawn where they were
# made.
unknown_cells <- function(fit, x) UseMethod("unknown_cells")
