#' Which zeros are false absences?
#'
#' `which_zeros()` estimates, for every zero of a table of sites by taxa, the probability that further surveys would
#' find the taxon there, and how many presences they would add in all. It measures the quality of its ranking on your
#' own table, by holding out presences and looking for them among the zeros.
#'
#' @details
#' **Two numbers of a zero.**
#' \describe{
#'   \item{`probability`}{the probability \eqn{p} that this cell would be a presence, as predicted from the other cells
#'     of this table as if its own value were unknown. It ranks the zeros, and is no statement on other surveys.}
#'   \item{`missed`}{the probability that at least one of *two more surveys of equal effort* would find the taxon there,
#'     \eqn{logit^{-1}(.8\, logit(p) + r)}{plogis(.8 qlogis(p) + r)}. The constant \eqn{r}, the same for all zeros,
#'     makes these probabilities sum to the number that two more surveys would find. `missed_low` and `missed_high`, the
#'     ends of a 90 % interval, combine that of the total with the standard error of \eqn{p}; their coverage cannot be
#'     measured on single zeros. The probabilities at the top of a list are somewhat too high (.68 for .64 in repeated
#'     surveys), because the list is sorted by them. With other evidence (below) `missed` sums to the total of that
#'     evidence.}
#' }
#'
#' **The total.** Let \eqn{F} be the number of presences and \eqn{\kappa}{kappa} their mean predicted probability, both
#' without taxa found at 95 % of the sites or more. It comes from a logistic regression of its own, and not from
#' `probability`. Then \eqn{k} more surveys find about \eqn{a_k F (1 - \kappa / .91)}; \eqn{a_k} = .84, 1.36, 2.06, 2.87
#' for \eqn{k} = 1, 2, 4, 8. The 90 % interval is a factor of 1.75 each way, and of 2.8 for surveys in other years or by
#' other methods. [how_many] compares these intervals with real surveys. The total is not the completeness of a fauna,
#' and tables of unequal effort cannot be compared by it.
#'
#' **No number is given** from a table alone (`reason` has the cause) if the AUC of held-out presences less 1.645
#' standard errors is at most 0.6, \eqn{\kappa} is .91 or more, or the table has fewer than 10 sites, 10 taxa or 100
#' presences. The zeros are ranked all the same.
#'
#' **Other evidence** replaces the total; the print names the quantity that it estimates:
#' * `visits`: the presences that no visit found, by the occupancy of each taxon ([visits_occupancy()]). The number of
#'   each taxon is the mean of two, by its occupancy and by the ranking: over 15 surveys this predicted the finds of a
#'   third visit better than either (`bench/visits_occupancy.md`). Chao's estimate for each site, with its visits as
#'   samples, is reported beside it.
#' * `completeness`: a site with \eqn{F} presences and completeness \eqn{c} lacks about \eqn{F (1 - c) / c}.
#' * `groups`: each group becomes one list. Chao's estimate is of pairs of a group and a taxon of its fauna that none
#'   of its sites has.
#' * `assume = "phantom"`: each site lacks the share that a phantom, a component without presences, explains in
#'   [aspect_bernoulli()]; with `effort`, the part of it that follows effort. On ten tables from which a known share of
#'   each site was deleted, this was about twice the true number ([how_many]).
#' * `series = TRUE`: a taxon found in an earlier and a later time bin is taken to have been there in between.
#'
#' **Quality.** The print gives the AUC, the probability that a held-out presence ranks above a zero, beside that of the
#' best simple rule, a learner that fits no model. Later surveys are harder to predict: AUCs were about 0.05 lower, and
#' about 0.1 lower in other years or by other methods. `recovery(w, later)` compares the result with your own later
#' survey.
#'
#' **How it works.** Learners score every cell: averages of [aspect_bernoulli()] fits, [logistic_pca()],
#' [neighbours_mean()], the mean of similar sites, and the companions of a taxon (Beals 1984). In each of the `copies` a
#' sixth or a tenth of the presences is held out (the test data; the rest is the training data), and a logistic
#' regression learns to predict them from the scores (stacking, Wolpert 1992). A taxon found at no site gets no
#' probability.
#'
#' **Assumptions.** Presences are never errors: wrong ones make zeros like them look probable, and raise the total. No
#' site stands in the table twice: copies predict each other, and the total is far too small or missing (a message or
#' warning names such sites). Ages of sites must not be derived from these faunas, which would then be used twice
#' ([smooth_over()]). If presences follow no pattern, no number is given.
#'
#' **Cost.** O(`copies` (n m k + n F)) for n sites, m taxa, k components; 0.6 GB of memory at 2 000 x 500. Copies run in
#' parallel under a [future::plan()].
#' @param x sites by taxa: a 0/1 table as [aspect_bernoulli()] takes it, dense or sparse, or counts (whole numbers,
#'   recognised if 0, 1 and 2 occur); `NA` is unknown. For [shards()] see [which_zeros_shards].
#' @param age,place,environment,distance what is known of the sites, as [smooth_over()] takes it: ages or bounds of
#'   ages; longitude and latitude, or places in the plane; variables such as depth; any other distance. `NULL`: unknown.
#'   The first three may be names of columns of the site table that comes with `x` or `visits`, as `age = c("max_ma",
#'   "min_ma"), place = c("lng", "lat")`, or a data frame with a column of the sites' names.
#' @param ... must be empty.
#' @param groups the group of each site, or the name of a column of the site table: sites of a group share a fauna.
#' @param within which zeros may be false: a logical matrix of the shape of `x`, such as [range_through()] makes. All
#'   other zeros are neither ranked nor counted. `NULL`: all may be false.
#' @param completeness the number of taxa on a site's list divided by the number that were there, above 0 and at most 1:
#'   a number, a range of two, a number for each site, or a matrix with both ends for each site. Names are matched to
#'   those of `x` in this and all other arguments; without names values are taken in order.
#' @param effort a number for each site that measures how well it was searched, such as the logarithm of its number of
#'   specimens; see [aspect_bernoulli()]. It changes the total: see *Other evidence*.
#' @param visits repeated visits to the same sites, from [visits_array()]; `x` may then be left out, or selects and
#'   orders sites and taxa by its names. Only one of `completeness`, `effort`, `visits` and `assume` can be given.
#' @param presence,detection,visit_data,site_data with `visits`: formulas of covariates of presence and of detection,
#'   and the covariates, as in [visits_occupancy()]. `NULL`: a probability for each taxon; detection also varies by
#'   visit.
#' @param series `TRUE`: rows are time bins of one region, with all that was found in it.
#' @param assume `"phantom"`: what a phantom, a component without presences, explains is taken as missed. `NULL`:
#'   nothing is assumed.
#' @param leave_out sites to leave out: names, numbers, or `TRUE` or `FALSE` for each; with `groups`, names of groups.
#' @param reference sites, given as for `leave_out`, that inform the result but whose zeros are not ranked (`r` of
#'   package DarkDiv). The other sites must hold at least 20 presences.
#' @param quick `TRUE`: a first look, with fewer fits and copies.
#' @param copies number of copies of the table with presences held out, from 2 to 10. `NULL`: up to 2000 presences 6,
#'   each without a sixth of them (of a given number, one part in `copies`, at most a sixth); above, 3 to 5, from 50 000
#'   on 2, each without a tenth; with `quick` 2, or as many as hold out 100 presences, each without a tenth.
#' @param seed a whole number; the same seed gives the same result. `NULL` draws one, which the result keeps.
#' @param seconds a time limit: after this many seconds no further copy begins, if at least two are finished.
#' @param control settings from [fit_control()]: `n_threads`, `progress` and `checkpoint` alone. An interrupt keeps the
#'   finished copies if there are two; with a `checkpoint` the same call resumes.
#' @return A list of class `which_zeros`:
#' \describe{
#'   \item{`probability`}{an n x m matrix (`NA` at presences and for taxa found at no site).}
#'   \item{`total`, `more`}{the expected number `missed` with `low` and `high` (90 %), and a data frame of the same for
#'     1, 2, 4 and 8 more `surveys` (`unlike_low`, `unlike_high`: in other years or by other methods).}
#'   \item{`how_many`}{a data frame with a row for each evidence: `evidence`, `missed`, `low`, `high`, and `of`, the
#'     quantity; `source` names the evidence of the total, `reason` says why there is none.}
#'   \item{`weights`, `quality`}{data frames of the learners: `weight`, the coefficient of the log-odds, and `share`,
#'     this times their standard deviation over the sum of all; AUC (`auc`, `auc_within`) and average precision (`ap`)
#'     with standard errors.}
#'   \item{`kappa`, `seed`, `dims`, `names`}{the predictability, the seed used, and parts for the methods.}
#' }
#' Methods: `print()`, `summary()`, [plot()][plot.which_zeros], [as.data.frame()][as.data.frame.which_zeros],
#' [by_site()], [by_taxon()], [explain()][explain.which_zeros], [recovery()], `update()`. Wrong input is an error of
#' class `multicause_input_error`; if many sites repeat each other, it warns (class `multicause_repeated_sites`).
#' @aliases summary.which_zeros
#' @concept imperfect detection
#' @concept zero-inflated
#' @concept excess zeros
#' @concept false negative
#' @concept dark diversity
#' @references Beals EW (1984). Bray-Curtis ordination: an effective strategy for analysis of multivariate ecological
#'   data. *Advances in Ecological Research* 14, 1-55. \doi{10.1016/S0065-2504(08)60168-3}
#'
#'
#'   Wolpert DH (1992). Stacked generalization. *Neural Networks* 5, 241-259. \doi{10.1016/S0893-6080(05)80023-1}
#' @seealso [how_many], [range_through()] for `within`, [false_absences()] for one model, [identifiability()] for its
#'   bounds, [multicause-glossary] for the words of the print.
#' @examples
#' sites <- early_tetrapods$sites
#' w <- which_zeros(early_tetrapods$x, age = sites[c("max_ma", "min_ma")], quick = TRUE, seed = 1)
#' w
#' head(as.data.frame(w), 3)
#' print(by_taxon(w), n = 3)
#' @export
which_zeros <- function(x, age = NULL, place = NULL, ..., environment = NULL, distance = NULL, groups = NULL,
                        within = NULL, completeness = NULL, effort = NULL, visits = NULL, presence = NULL,
                        detection = NULL, visit_data = NULL, site_data = NULL, series = FALSE, assume = NULL,
                        leave_out = NULL, reference = NULL, quick = FALSE, copies = NULL, seed = NULL, seconds = Inf,
                        control = NULL) {
  call <- match.call()
  if (!missing(x) && in_pieces(x)) {
    out <- zeros_in_pieces(
      x, names(call), ..., age = age, place = place, quick = quick, copies = copies, completeness = completeness,
      seed = seed, control = control
    )
    out$call <- call
    return(out)
  }
  check_dots(...)
  args <- mget(setdiff(names(formals(which_zeros)), c("x", "...")))
  tell_lost_columns(call, args)
  asked <- wz_read(if (!missing(x)) x, args)
  call <- keep_values(call, asked$args)
  # The result keeps the tables of groups but not the sites left out, so the call keeps the whole table.
  if ((length(leave_out) || !is.null(groups)) && !missing(x)) call$x <- x
  checkpoint <- asked$args$control$checkpoint
  if (is.null(checkpoint)) {
    return(wz_steps(asked, call))
  }
  with_checkpoint(checkpoint, asked[c("x", "near", "given", "plan")], function(store) {
    asked$running$store <- checkpoint_store(store, "table")
    wz_steps(asked, call)
  })
}

# Runs the steps of which_zeros() on the result of wz_read(): scores are learnt, cells get probabilities, the result is
# assembled. Taxa found nowhere are left out in between.
wz_steps <- function(asked, call) {
  if (is.null(asked$args$seed)) asked$plan$seed <- draw_seeds(1L)
  judged <- judged_taxa(asked$x)
  of_judged <- wz_of_taxa(asked, judged)
  learnt <- wz_learn(of_judged)
  cells <- wz_cells(of_judged, learnt)
  if (length(asked$x) > most_kept) learnt$full$odds <- NULL
  answer <- wz_answer(of_judged, learnt, cells, call)
  put_back_taxa(answer, asked, judged)
}

# ---- Read ----

# Checks the arguments: list(x = a table of 0 and 1, near = smooth_over() of its sites or NULL, given = further data on
# it, plan = how much is computed, running = how it runs, args = all arguments but x).
wz_read <- function(x, args) {
  args <- check_wz_settings(args)
  cell <- if (!is.null(args$visits)) check_visits(args$visits, name = "visits")
  data <- wz_data(x, cell)
  along <- c("age", "place", "environment", "distance")
  carried <- attr(if (is.null(attr(x, "sites"))) args$visits else x, "sites", exact = TRUE)
  args[along] <- site_covariates(args[along], carried, rownames(data$x), nrow(data$x))
  if (is.character(args$groups) && length(args$groups) == 1L) {
    args$groups <- named_columns(args$groups, "groups", carried, rownames(data$x))[[1L]]
  }
  lists <- group_lists(data, args[along], args$groups, args$visits)
  asked <- list(x = lists$x, near = wz_near(lists$along, lists$x), args = args)
  asked$given <- c(wz_given(asked, cell), list(counts = lists$counts, pooled = lists$pooled))
  if (!is.null(args$groups)) for (name in c("leave_out", "reference")) refuse_site_numbers(args[[name]], name)
  gone <- pick_some(args$leave_out, asked$x, "leave_out")
  asked$given$reference <- check_reference(args$reference, asked$x, gone)
  if (length(gone)) asked <- wz_keep(asked, setdiff(seq_len(nrow(asked$x)), gone))
  if (!is.null(cell)) refuse_few_species(asked$x)
  check_enough(asked$x)
  check_open(asked$x, asked$given$within)
  if (is.null(args$groups)) tell_same_sites(asked$x, asked$near)
  warn_repeated(asked$x)
  check_scored(asked$x, asked$given$reference)
  if (is.null(args$copies)) args$copies <- usual_copies(args$quick, sum(presence_sums(asked$x)))
  asked$plan <- list(
    quick = args$quick, copies = check_count(args$copies, "copies", 2L, 10L), seed = args$seed,
    how = as_usual(args$quick)
  )
  asked$running <- args[c("seconds", "control")]
  asked$x <- leave_unjudged(asked$x)
  asked
}

# The data cannot show at which sites a taxon found nowhere is present, so its cells are unknown. As zeros they would
# take part of the number missed, the larger the longer the list of taxa.
leave_unjudged <- function(x) {
  nowhere <- which(presence_sums(x) == 0 & column_sums(is.na(x)) < nrow(x))
  if (length(nowhere)) {
    inform(
      "Taxa that were found at no site are not judged, because nothing indicates where they were missed: %s.",
      show_names(as.character(label_of(nowhere, colnames(x))))
    )
    x[, nowhere] <- NA
  }
  x
}

# Tests whether each taxon was found at any site. The others would change the starting values of models.
judged_taxa <- function(x) presence_sums(x) > 0

# Restricts the request to these taxa.
wz_of_taxa <- function(asked, judged) {
  if (all(judged)) {
    return(asked)
  }
  asked$x <- asked$x[, judged, drop = FALSE]
  asked$given <- given_of_taxa(asked$given, judged)
  asked
}

given_of_taxa <- function(given, judged) {
  by_taxon <- intersect(names(given), c("counts", "within"))
  given[by_taxon] <- lapply(given[by_taxon], function(value) if (length(value)) value[, judged, drop = FALSE])
  wz_keep_visits(given, TRUE, judged)
}

# Adds the other taxa, with unknown cells, to the result. `asked`: the request with them.
put_back_taxa <- function(w, asked, judged) {
  if (all(judged)) {
    return(w)
  }
  at <- replace(rep(NA_integer_, length(judged)), judged, seq_len(sum(judged)))
  columns <- function(value) unname(value)[, at, drop = FALSE]
  n <- w$dims[["n"]]
  w$names <- dimnames_of(asked$x)
  # Zeros of the other taxa have no probability, whatever stands for them here.
  if (w$ratios$side == 2L) {
    w$ratios$log <- w$ratios$log[at, , drop = FALSE]
    w$ratios$log[!judged, ] <- -Inf
  }
  if (!is.null(w$ratios$offset)) {
    w$ratios$offset <- columns(w$ratios$offset)
    w$ratios$offset[, !judged] <- 0
  }
  w$probability <- columns(w$probability)
  dimnames(w$probability) <- name_sides(w$names)
  w$se <- columns(w$se)
  w$candidate <- columns(w$candidate) %in% TRUE
  dim(w$candidate) <- dim(asked$x)
  if (!is.null(w$visits)) w$visits$theta <- w$visits$theta[, at, , drop = FALSE]
  w["gaps"] <- list(if (!is.null(w$gaps)) (w$gaps - 1L) %% n + 1L + (which(judged)[(w$gaps - 1L) %/% n + 1L] - 1L) * n)
  w$draws$taxa <- w$draws$taxa[at, , drop = FALSE]
  w$draws$taxa[!judged, ] <- 0
  w["odds"] <- list(if (!is.null(w$odds)) {
    lapply(w$odds, function(odds) if (is.matrix(odds)) columns(odds) else odds[at])
  })
  w$x <- asked$x
  w$dims[["m"]] <- length(judged)
  w$inputs$given <- asked$given
  w
}

# Checks the settings, and that only one kind of evidence is supplied.
check_wz_settings <- function(args) {
  for (name in c("quick", "series")) args[[name]] <- check_flag(args[[name]], name)
  args$control <- if (is.null(args$control)) fit_control() else check_control(args$control, for_many = TRUE)
  refuse_cluster(args$control)
  refuse_settings(args$control, c("n_threads", "progress", "checkpoint"))
  check_checkpoint(args$control$checkpoint)
  if (!identical(args$seconds, Inf)) args$seconds <- check_number(args$seconds, "seconds", 0)
  if (!is.null(args$seed)) args$seed <- check_count(args$seed, "seed", 0L)
  if (!is.null(args$assume)) check_choice(args$assume, "assume", "phantom")
  evidence <- args[c("completeness", "effort", "visits", "assume")]
  if (sum(!vapply(evidence, is.null, NA)) > 1L) {
    stop_input("Only one of `completeness`, `effort`, `visits` and `assume` can be supplied.")
  }
  args
}

# Returns what is known of the table besides the positions of its sites, with visits in its order.
wz_given <- function(asked, cell) {
  x <- asked$x
  args <- asked$args
  given <- list(
    completeness = if (!is.null(args$completeness)) check_completeness(args$completeness, nrow(x), rownames(x)),
    effort = if (!is.null(args$effort)) check_effort(args$effort, list(x = x), "white", 2L), cell = cell,
    visit_model = wz_visit_model(cell, args[c("presence", "detection")], args[c("visit_data", "site_data")]),
    within = check_within(args$within, list(dims = c(n = nrow(x), m = ncol(x)), names = dimnames_of(x))),
    assume = args$assume, series = if (args$series) series_ages(asked$near)
  )
  wz_order_visits(given, x)
}

# Returns the table as check_data() does, 0/1, and `counts`, if it holds any.
wz_data <- function(x, cell) {
  if (is.null(cell)) {
    if (is.null(x)) stop_missing("x")
    turn <- turning(x, "x")
    x <- as_plain_matrix(x, "x") # once: it tells what it takes for names
    return(if (has_counts(x)) counted_data(x, turn) else check_data(x, "binary", turn = turn))
  }
  check_data(wz_found(x, cell), "binary", "visits", turn = NULL)
}

# Recognises counts: whole numbers with 0, 1 and 2 among them. A table of 0, 1 and 9, or of 1 and 2, holds codes.
has_counts <- function(x) {
  value <- if (inherits(x, "Matrix")) c(0, x@x) else x
  is.numeric(value) && all(0:2 %in% value) && all(value >= 0 & value == floor(value), na.rm = TRUE)
}

counted_data <- function(x, turn = turning(x, "x")) {
  counts <- check_data(x, "count", turn = turn)$x
  most <- max(if (inherits(counts, "Matrix")) counts@x else counts, na.rm = TRUE)
  inform(
    "`x` holds counts, up to %s: a presence is a count of 1 or more.%s", format_big(most),
    if (most <= 10) " If these are classes, such as of cover, use `(x > 0) + 0`: Chao's estimate is of counts." else ""
  )
  tell_more_than_one(counts)
  tell_everywhere(counts)
  data <- check_data(1 * (counts > 0), "binary", quiet = TRUE)
  data$counts <- as.matrix(counts)
  data
}

# Reports columns of counts, if few among many of 0 and 1: they may be no taxa.
tell_more_than_one <- function(counts) {
  more <- which(column_sums(counts > 1, na.rm = TRUE) > 0)
  if (length(more) <= ncol(counts) / 4) {
    inform("Only %s %s more than 1. Leave out what is no taxon.", show_names(colnames(counts)[more] %||% more),
      if (length(more) == 1L) "holds" else "hold")
  }
}

# Reports columns of whole numbers without a zero, if others have some: they may be no taxa.
tell_everywhere <- function(counts) {
  everywhere <- which(column_sums(counts == 0, na.rm = TRUE) == 0 & column_sums(counts, na.rm = TRUE) > 0)
  if (length(everywhere) && length(everywhere) < ncol(counts) / 4) {
    names <- colnames(counts)[everywhere] %||% as.character(everywhere)
    are <- if (length(everywhere) == 1L) "is" else "are"
    inform("%s %s above 0 at every site. If that is no taxon, leave it out.", show_names(names), are)
  }
}

# Returns the ages of the bins of a series.
series_ages <- function(near) {
  age <- near$given$age
  if (is.null(age)) stop_input("`series` needs `age`: rows are time bins, and gaps lie between presences in time.")
  age
}

wz_near <- function(given, x) {
  if (all(vapply(given, is.null, NA))) {
    return(NULL)
  }
  near <- do.call(smooth_over, c(given, strength = 10), quote = TRUE)
  for (name in intersect(c("age", "place"), names(near$given))) {
    if (all(is.na(near$given[[name]]))) stop_input("`%s` must be known of some site: all are NA.", name)
  }
  name <- names(near$given)[1L]
  check_sites_of(near, name, dim(x))
  match_smooth(near, x, name)
}

# Restricts the request to some of the sites.
wz_keep <- function(asked, kept) {
  rows <- function(value) if (length(dim(value))) value[kept, , drop = FALSE] else value[kept]
  given <- asked$given
  by_site <- intersect(names(given), c("completeness", "effort", "reference", "series", "counts", "within"))
  given[by_site] <- lapply(given[by_site], rows)
  given["pooled"] <- list(if (!is.null(given$pooled)) lapply(given$pooled, rows))
  asked$given <- wz_keep_visits(given, kept)
  if (!is.null(asked$near)) asked$near <- smooth_at(asked$near, kept, rownames(asked$x)[kept])
  asked$x <- asked$x[kept, , drop = FALSE]
  asked
}

# With groups, a number could be that of a site or of a group.
refuse_site_numbers <- function(which, name) {
  if (is.numeric(which)) stop_input("`%s` must hold names of groups where `groups` are given, not numbers.", name)
}

# Returns which sites are for reference only: TRUE or FALSE for each, or NULL. `gone`: the numbers of sites left out.
check_reference <- function(reference, x, gone) {
  if (length(dim(reference))) {
    stop_input(
      "`reference` must hold names or numbers of sites of `x`, not be %s: put its sites into `x`, rbind(x, reference).",
      show_value(reference)
    )
  }
  at <- pick_some(reference, x, "reference")
  if (!length(at)) {
    return(NULL)
  }
  both <- intersect(at, gone)
  if (length(both)) {
    stop_input(
      "`reference` and `leave_out` must have no site in common: both have %s.",
      show_names(as.character(label_of(both, rownames(x))))
    )
  }
  seq_len(nrow(x)) %in% at
}

# Visits of few species identify detection, but not what one species predicts of another.
refuse_few_species <- function(x) {
  if (ncol(x) < 5L) {
    stop_input("`visits` must have at least 5 taxa to learn from, not %d: visits of few are for %s.", ncol(x),
      "visits_bernoulli() and false_absences(), see vignette(\"visits\")")
  }
}
bytes_of_cell <- 128 # that an answer needs (measured at 20 000 x 500)

refuse_few <- function(sites, taxa, presences) {
  if (sites < 5 || taxa < 5 || presences < 20) {
    stop_input(
      "`x` must have at least 5 sites, 5 taxa that were found and 20 presences to learn from, not %.0f, %.0f and %.0f.",
      sites, taxa, presences
    )
  }
}

check_enough <- function(x) {
  refuse_few(nrow(x), sum(judged_taxa(x)), sum(presence_sums(x)))
  cells <- prod(dim(x))
  advice <- "`which_zeros(shards(x, folder))` leaves the table on disk, see vignette(\"large\")."
  if (cells > .Machine$integer.max) {
    stop_input("`x` has %s cells, more than a table in memory may have: %s", show_count(cells), advice)
  }
  check_memory(bytes_of_cell * cells, sprintf("A result of %s cells", show_count(cells)), sub("\\.$", "", advice))
  if (cells > 2e8) {
    inform("A result of %s cells needs about %.0f GB of memory: %s", show_count(cells), 1e-9 * bytes_of_cell * cells,
      advice)
  }
}

# A held-out presence requires a taxon that was found elsewhere, and another zero of it for comparison.
check_tells <- function(presences, zeros) {
  if (!any(presences > 1 & zeros > 0)) {
    stop_input(paste(
      "`x` must have a taxon that was found at two sites and not at a third: probabilities are learnt from such taxa.",
      "Here each was found once, everywhere or nowhere."
    ))
  }
}

check_open <- function(x, within) {
  table <- as.matrix(x)
  zero <- as.vector(!is.na(table) & table == 0)
  if (!any(zero)) stop_input("`x` must have zeros, one of which may be false: it has none.")
  presences <- colSums(table == 1, na.rm = TRUE)
  check_tells(presences, colSums(table == 0, na.rm = TRUE))
  judged <- zero & rep(presences > 0, each = nrow(x))
  if (!is.null(within) && !any(judged & as.vector(as.matrix(within)))) {
    stop_input("`within` must be TRUE at a zero of `x` at least, of a taxon that was found: no zero can be false.")
  }
}

many_presences <- 5e4 # of more, two copies and one fit of each size are as good as more (bench/which_zeros_time.md)

# Weights learnt from a handful of presences are useless. So a quick run has two copies, or as many as hold out a
# hundred presences; a full run holds out all of `few_presences`, and a thousand of more (bench/which_zeros_time.md).
few_presences <- 2000
usual_copies <- function(quick, presences) {
  if (presences > many_presences) {
    return(2L)
  }
  if (!quick && presences <= few_presences) {
    return(6L)
  }
  held_out <- if (quick) 100 else 1000
  range <- if (quick) c(2, 10) else c(3, 5)
  as.integer(min(max(ceiling(10 * held_out / presences), range[1L]), range[2L]))
}

# Returns the number of parts into which presences are dealt, of which each copy holds out one.
parts_of_presences <- function(plan, presences) {
  if (plan$quick || presences > few_presences) 10L else max(6L, plan$copies)
}

check_scored <- function(x, reference) {
  if (is.null(reference)) {
    return(invisible())
  }
  presences <- sum(presence_sums(x[!reference, , drop = FALSE]))
  if (presences < 20) {
    stop_input(
      "`reference` must leave sites with at least 20 presences, by which the result is judged, not %s with %s.",
      count_words(sum(!reference), "site"), count_words(presences, "presence")
    )
  }
}

# A taxon without other presences is not used for learning: see judged_cells().
check_learnable <- function(x, deleted) {
  sums <- presence_sums(x)
  learnable <- vapply(deleted, function(at) {
    lost <- tabulate((at - 1L) %/% nrow(x) + 1L, ncol(x))
    sum(lost[lost < sums])
  }, 0)
  if (!any(learnable > 0)) {
    stop_input(
      "`x` must have taxa with several presences, to hide some of them and learn from the others: all %s hidden %s.",
      count_words(sum(lengths(deleted)), "presence"), "were the only ones of their taxa"
    )
  }
}

# Returns the bounds of completeness, n x 2: low, high.
check_completeness <- function(value, n, sites) {
  value <- by_name_unless_range(value, sites, "completeness")
  if (is.data.frame(value)) value <- as.matrix(value)
  shape <- if (is.matrix(value)) identical(dim(value), c(n, 2L)) else length(value) %in% c(1L, 2L, n)
  ok <- is.numeric(value) && shape && !anyNA(value) && all(value > 0 & value <= 1)
  if (!ok) {
    stop_input(
      "`completeness` must be a number, a range, or a number or two for each of the %s, %s, not %s.",
      count_words(n, "site"), "above 0 and at most 1", show_value(value)
    )
  }
  if (!is.matrix(value)) value <- matrix(value, n, 2L, byrow = length(value) == 2L && n != 2L)
  unname(cbind(pmin(value[, 1L], value[, 2L]), pmax(value[, 1L], value[, 2L])))
}

# ---- Learn ----

# Runs the learners on the table and on its copies with presences held out (only the `first` of them, if plan says how
# many): list(full, copies, seed for later draws, share).
wz_learn <- function(asked) {
  x <- asked$x
  running <- asked$running
  n_threads <- running$control$n_threads
  make_room(length(x))
  drawn <- wz_tasks(asked)
  common <- list(
    x = x, tuned = tune_neighbours(x, asked$near, n_threads), how = c(asked$plan$how, n_threads = n_threads),
    phantom = !is.null(asked$given$assume), deadline = as.double(Sys.time()) + running$seconds
  )
  name <- function(i) if (i == 1L) "the whole table" else sprintf("copy %d", i - 1L)
  progress <- list(progress = running$control$progress, on_interrupt = "keep")
  done <- map_tasks(drawn$tasks, learn_task, common, "Tables", name, task_running(progress, running$store))
  copies <- done[-1L][is_done(done[-1L])]
  if (is.null(done[[1L]]) || length(copies) < 2L) signal_interrupt()
  tell_interrupted(done, "tables")
  learnt <- list(full = done[[1L]], copies = unname(copies), seed = drawn$seed, near = common$tuned$near)
  learnt["share"] <- list(wz_share(asked, learnt))
  learnt
}

# Memory per cell that a result needs, which R's heap gets at once rather than in small steps: see src/glue/glue.c. If
# there is less, R extends the heap in its usual steps.
room_of_cell <- 350
room_most <- 350e6
make_room <- function(cells) {
  catch_error(.Call(mc_c_make_room, min(room_of_cell * cells, room_most)), function(condition) NULL)
}

# Returns the table and its copies as tasks, and a seed for later draws: list(tasks, seed).
wz_tasks <- function(asked) {
  plan <- asked$plan
  parts <- parts_of_presences(plan, sum(presence_sums(asked$x)))
  drawn <- with_seed(plan$seed, list(
    seeds = draw_seeds(plan$copies + 2L), deleted = deal_presences(asked$x, plan$copies, asked$given$reference, parts)
  ))
  check_learnable(asked$x, drawn$deleted)
  found <- sum(lengths(drawn$deleted)) / plan$copies * parts
  whole <- if (plan$quick) quick_effort else table_effort
  if (found > many_presences) whole$members <- 1L
  copies <- lapply(seq_len(plan$copies), function(copy) {
    deleted <- drawn$deleted[[copy]]
    list(deleted = deleted, optional = copy > 2L, effort = copy_effort, rate = length(deleted) / found)
  })
  tasks <- c(list(list(deleted = integer(), optional = FALSE, effort = whole)), copies)
  tasks <- Map(function(task, seed) c(task, seed = seed), tasks, drawn$seeds[seq_along(tasks)])
  if (!is.null(plan$first)) tasks <- utils::head(tasks, plan$first + 1L)
  list(tasks = tasks, seed = drawn$seeds[[plan$copies + 2L]])
}

# Estimates the unrecorded share of each site, n x fits, if the phantom or effort is assumed to measure it.
wz_share <- function(asked, learnt) {
  if (!is.null(asked$given$assume)) {
    return(learnt$full$share)
  }
  effort <- asked$given$effort
  if (is.null(effort)) {
    return(NULL)
  }
  x <- asked$x
  k <- unique(pmax(2L, learner_k(nrow(x), ncol(x), c(8, 12, 16)) %/% 2L))
  k <- utils::head(k, if (asked$plan$quick) 1L else 3L)
  control <- fit_control(
    n_start = 2, n_polish = 0, max_iter = 500, tol = 1e-7, n_threads = asked$running$control$n_threads,
    progress = FALSE
  )
  shares <- with_seed(learnt$seed, vapply(k, function(k) {
    fit <- quiet_fit(aspect_bernoulli(x, k, estimate = "map", effort = effort, control = control))$value
    phantom_share(fit, unname(fit$fixed), "white")
  }, numeric(nrow(x))))
  matrix(shares, nrow(x))
}

# ---- Result ----

# Assembles the result: quality, number of false zeros, undetected presences of sites and taxa.
wz_answer <- function(asked, learnt, cells, call) {
  x <- asked$x
  free_memory(x)
  scored <- scored_sites(asked$given$reference, nrow(x))
  judged <- judge_stack(learnt$copies, cells$stack, dim(x), scored, asked$running$control$n_threads)
  alone <- is.null(unlist(asked$given[c("completeness", "cell", "pooled")])) && is.null(learnt$share)
  reason <- if (alone) no_number(judged$table["stack", ], sum(cells$found), dim(x), axis_words(asked), cells$kappa)
  many <- with_seed(learnt$seed, how_many(cells, asked$given, learnt$share, reason))
  w <- new_which_zeros(asked, learnt, cells, many, call)
  w["reason"] <- list(reason)
  w$quality <- judged$table
  w[c("gain", "curve")] <- judged[c("gain", "curve")]
  free_memory(x)
  w <- wz_add_sums(w, many, learnt$seed)
  free_memory(x)
  w$odds <- learnt$full$odds
  w
}

# Computes for all cells list(x, found, zero: which are, stack, eta = log-odds of a record by weights from the copies
# and one calibration, se = its standard errors, all_bins = of eta at zeros, bins = without gaps, gaps: zeros that are
# certainly false, kappa and presences from predictability()).
wz_cells <- function(asked, learnt) {
  x <- asked$x
  found <- cells_that_hold(x, 1)
  zero <- cells_that_hold(x, 0)
  n_threads <- asked$running$control$n_threads
  stack <- fit_stack(learnt$copies, n_threads = n_threads)
  free_memory(x)
  eta <- stack_cells(learnt$full$odds, stack, n_threads)
  line <- calibrate_probabilities(log_odds_bins(eta[zero]), hidden_log_odds(learnt$copies, stack), sum(found))
  eta <- line[1L] + line[2L] * eta
  gaps <- if (!is.null(asked$given$series)) gaps_of_series(x, asked$given$series)
  free_memory(x)
  stack <- calibrated_stack(stack, line)
  all_bins <- log_odds_bins(eta[zero])
  c(
    list(
      x = x, found = found, zero = zero, stack = stack, eta = eta, all_bins = all_bins,
      bins = if (length(gaps)) log_odds_bins(eta[replace(zero, gaps, FALSE)]) else all_bins, gaps = gaps,
      se = stack_cells(learnt$full$odds, stack, n_threads, error = TRUE)
    ),
    predictability(x, learnt$near, n_threads)
  )
}

new_which_zeros <- function(asked, learnt, cells, many, call) {
  x <- asked$x
  given <- asked$given
  names <- dimnames_of(x)
  p <- stats::plogis(cells$eta)
  p[cells$found] <- NA
  dimnames(p) <- name_sides(names)
  structure(
    list(
      probability = p, se = cells$se, candidate = wz_candidates(cells$zero, given),
      gaps = cells$gaps, ratios = many$ratios, source = many$source, kappa = cells$kappa,
      how_many = many$estimates, more = many$more, visits = many$visits, stack = cells$stack,
      near = learnt$full$tuned, weights = stack_table(cells$stack, learnt$copies), x = x, names = names,
      restricted = !is.null(given$within), dims = c(n = nrow(x), m = ncol(x)),
      presences = sum(cells$found[scored_sites(given$reference, nrow(x)), ]), seed = asked$plan$seed,
      quick = asked$plan$quick, copies = length(learnt$copies), wanted = asked$plan$copies,
      inputs = list(near = asked$near, given = given), call = call
    ),
    class = "which_zeros"
  )
}

# Selects the zeros to be judged.
wz_candidates <- function(zero, given) {
  if (!is.null(given$within)) zero <- zero & as.vector(as.matrix(given$within))
  if (!is.null(given$reference)) zero <- zero & !given$reference[row(zero)]
  zero
}

# Adds the sums over sites and taxa in draws, and the total.
wz_add_sums <- function(w, many, seed) {
  gaps <- matrix(FALSE, w$dims[["n"]], w$dims[["m"]])
  gaps[w$gaps] <- w$candidate[w$gaps]
  missed <- missed_cells(w, w$candidate & !gaps)
  w$draws <- with_seed(seed, draw_sums(missed, gaps, many$relative))
  w$total <- answer_total(missed, gaps, many, w$draws)
  part <- if (anyNA(w$total)) 1 else w$total[["missed"]] / max(w$how_many$missed[1L], 1e-12)
  ends <- c("missed", "low", "high")
  w$how_many[ends] <- part * w$how_many[ends]
  w$how_many[1L, ends] <- w$total
  if (!is.null(w$visits$years)) w$visits$years <- pmin(part * w$visits$years, sum(w$candidate))
  if (!is.null(w$more)) w$more[-1L] <- pmin(part * as.matrix(w$more[-1L]), sum(w$candidate))
  w
}

# Computes the standard errors of log-odds, cells x learners, due to the weights.
odds_se <- function(z, stack) {
  z <- matrix(z, ncol = length(stack$weights))
  z <- cbind(rep(1, nrow(z)), z)
  sqrt(pmax(rowSums((z %*% stack$covariance) * z), 0))
}

# Returns the log-odds of a record of presences while they were held out.
hidden_log_odds <- function(copies, stack) {
  unlist(lapply(copies, function(copy) stack_odds(stack, copy$odds[copy$deleted, , drop = FALSE])))
}

# Adjusts the ends of intervals, n x 2, to contain the expected number and to respect the bound `most`, or NULL.
coherent_ends <- function(ends, missed, most = NULL) {
  high <- pmax(ends[, 2L], missed)
  if (!is.null(most)) high <- pmin(high, pmax(most, missed))
  cbind(low = pmin(ends[, 1L], missed), high = high)
}

# Computes the probabilities that zeros are false absences, n x m, 0 elsewhere.
missed_cells <- function(w, zero) {
  out <- matrix(0, nrow(zero), ncol(zero))
  for (j in seq_len(ncol(zero))) {
    at <- which(zero[, j])
    log_ratio <- ratios_at(w$ratios, at, rep(j, length(at)))[, 1L]
    offset <- offset_at(w$ratios, at + (j - 1L) * nrow(zero))
    out[at, j] <- missed_probability(w$probability[at, j], log_ratio, w$ratios$slope, offset)
  }
  out
}

# Applies f(numbers) to the judged zeros, some columns at a time: those of all would take many times the memory of the
# result. `numbers`: wz_missed() if intervals of single zeros are needed, too, which take longer.
scan_zeros <- function(w, f, columns = seq_len(w$dims[["m"]]), numbers = wz_expected) {
  n <- w$dims[["n"]]
  for (j in row_blocks(columns, n, cells_at_a_time)) {
    at <- which(w$candidate[, j])
    at <- as.integer((at - 1L) %% n + 1L + (j[(at - 1L) %/% n + 1L] - 1) * n)
    f(numbers(w, at))
  }
}

# Returns row, column and `missed` of zeros.
wz_expected <- function(w, at) {
  row <- (at - 1L) %% w$dims[["n"]] + 1L
  column <- (at - 1L) %/% w$dims[["n"]] + 1L
  log_ratio <- ratios_at(w$ratios, row, column)[, 1L]
  missed <- missed_probability(w$probability[at], log_ratio, w$ratios$slope, offset_at(w$ratios, at))
  if (length(w$gaps)) missed[at %in% w$gaps] <- 1
  data.frame(row, column, missed)
}

# Returns the numbers of the judged zeros, in the order of cells.
wz_missed <- function(w, at = which(w$candidate)) {
  row <- (at - 1L) %% w$dims[["n"]] + 1L
  column <- (at - 1L) %/% w$dims[["n"]] + 1L
  log_ratio <- ratios_at(w$ratios, row, column)
  numbers <- missed_numbers(w$probability[at], w$se[at], log_ratio, w$ratios$slope, offset_at(w$ratios, at))
  cells <- data.frame(row, column, numbers)
  cells[at %in% w$gaps, c("missed", "missed_low", "missed_high")] <- 1
  cells
}
