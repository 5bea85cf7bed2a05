#' Which zeros are false absences?
#'
#' `which_zeros()` estimates for every zero of a table of sites by taxa the probability that further surveys would find
#' the taxon there, and how many presences they would find in all. It measures how well its ranking works on your own
#' table, by holding out presences and looking for them among the zeros.
#'
#' @details
#' **Two numbers of a zero.**
#' \describe{
#'   \item{`probability`}{the probability of a record, \eqn{p}: how often such cells are presences, given the rest of
#'     the table. Presences can be held out, so it is measured.}
#'   \item{`missed`}{the probability that the zero is a false absence which one of *two more surveys of equal effort*
#'     would find: \eqn{logit^{-1}(.8\, logit(p) + r)}{plogis(.8 qlogis(p) + r)}, with one \eqn{r} such that these
#'     probabilities sum to the number that two more surveys would find. `missed_low` and `missed_high` (90 %) combine
#'     the interval of that number with 1.645 standard errors of the log-odds. The first zeros of a list are chosen by
#'     their probability and stay somewhat too good.}
#' }
#'
#' **How many presences further surveys would find.** Let \eqn{F} be the number of presences and \eqn{\kappa}{kappa}
#' their predictability, the mean probability that the rest of the table gives to a presence, both without taxa found
#' at 95 % of the sites. \eqn{k} more surveys of the effort of the table find about \eqn{a_k F (1 - \kappa / .91)}
#' presences, \eqn{a_k} = .84, 1.36, 2.06, 2.87 for \eqn{k} = 1, 2, 4, 8. `more` has these numbers with 90 %
#' intervals (a factor of 1.75 each way; of 2.8 for surveys in other years or by other methods), which held on surveys
#' left out; [how_many] has the record, with the failures. It is a number of surveys and not the completeness of a
#' fauna: a list of a hundred years is one survey of a hundred years, so tables of unequal effort cannot be compared.
#'
#' **No number is given** (`reason` tells why) if the AUC of held-out presences less 1.645 standard errors is at most
#' 0.6, or the table has fewer than 10 sites, 10 taxa or 100 presences. The ranking stays.
#'
#' **Other evidence** replaces this number, and is about another quantity, which the print names:
#' * `completeness`: a site with \eqn{F} presences and known completeness \eqn{c} misses about
#'   \eqn{F (1 - c) / c}; if it has few presences, what the learners expect of it counts too.
#' * `visits`: the occupancy of each taxon gives the presences that no visit found, [visits_occupancy()]; each taxon has
#'   an \eqn{r} of its own. Taxa come and go between years: where visits are named like years, the print has the wider
#'   interval, too. [explain()][explain.which_zeros] says what each visit finds of the taxon.
#' * `groups`: Chao's estimate of the taxa of a group's fauna that were found at none of its sites.
#' * `assume = "phantom"` and `effort` rest on an assumption: that each site lacks the share which the phantom of
#'   [aspect_bernoulli()] explains. For ten tables that lost a known share of each site it was twice too many.
#' * `series = TRUE`: rows are time bins of one region, so a taxon found before and after was there in between for
#'   certain.
#'
#' `how_many` of the result has all evidence that there is, for counts and visits also Chao's estimate;
#' `plot(w, "how_many")` draws it.
#'
#' **How it works.** *Learners* give every cell a score: averages of [aspect_bernoulli()] with and without neighbours,
#' [logistic_pca()], the [neighbours_mean()] by age, place and other distances, plain and weighted by the similarity of
#' sites, the mean of similar sites, and the companions of a taxon (Beals 1984). In each of the `copies` a tenth of the
#' presences is held out, and a logistic regression with weights that are not negative learns from the learners'
#' log-odds which zeros these are. The weights are applied to the whole table, and a regression over all cells
#' calibrates the result. A taxon found at no site is not judged; its cells are unknown.
#'
#' **How good it is here.** Each copy is scored by weights learnt from the other copies. The print gives the area
#' under the ROC curve (AUC: the probability that a held-out presence ranks above another zero), over the table and
#' within sites, beside the best simple rule, with standard errors of DeLong and others (1988). Held-out presences are
#' a random tenth and easier to find than what was truly missed: what later surveys found was ranked with AUCs about
#' .05 lower, .1 in other years or by other methods. `recovery(w, later)` makes that comparison on your own later
#' survey.
#'
#' **What is assumed.** Presences are never errors, and ages do not come from the faunas, which would be used twice; see
#' [smooth_over()].
#'
#' **Cost.** O(`copies` (n m k + n f)) with f presences, and some 80 matrices of n x m of memory, of large tables some
#' 16: 0.6 GB at 2 000 x 500 and 1.3 GB at 20 000 x 500 (`bench/which_zeros_time.md`). Long tables of common taxa cost
#' O(n^2). Copies run in parallel under a [future::plan()], with the same result for any plan. An interrupt keeps the
#' copies that are done, if there are at least two; with a `checkpoint` the same call resumes.
#'
#' @param x sites by taxa: a 0/1 table as [aspect_bernoulli()] takes it, dense or sparse, or counts (specimens,
#'   individuals; whole numbers, 1 and 2 among them); `NA` is an unknown cell. A result of [shards()] goes to
#'   [which_zeros_shards], with the arguments named there.
#' @param age,place,environment,distance of the sites, as [smooth_over()] takes them: ages or bounds of ages, longitude
#'   and latitude or places in the plane, variables such as depth, any other distance. `NULL`: not known. Ages, places
#'   and variables may be names of columns of the site table that comes with `x` from [occurrence_matrix()] or with
#'   `visits` from [visits_array()], as `age = c("max_ma", "min_ma"), place = c("lng", "lat")`; or a data frame, in any
#'   order, one column of which has the names of the sites.
#' @param ... must be empty.
#' @param within which zeros can be false at all: a logical matrix of the shape of `x`, such as [range_through()] makes.
#'   Others are not ranked and not counted. `NULL`: all.
#' @param completeness what is known of the share of the taxa present at a site that its list has, above 0 and at most
#'   1: a number, a range of two, a number for each site, or a matrix with the two ends for each site. It is the share
#'   in these lists and not the probability of a record. Names of sites are matched to those of `x` in this and all
#'   other arguments; missing, unknown or repeated names are refused; ages, places and effort may be of further sites.
#'   Without names values are taken in order.
#' @param effort one number for each site, how well it was searched; see [aspect_bernoulli()].
#' @param visits repeated surveys, as [visits_array()] makes and [visits_bernoulli()] takes them; `x` is then what any
#'   visit found, and may be left out. If it is given, its names say which sites and taxa of `visits`, in which order.
#'   Only one of `completeness`, `effort`, `visits` and `assume` can be given.
#' @param presence,detection with `visits`: formulas of covariates of presence and of detection, as in
#'   [visits_occupancy()]. `NULL`: taxa differ in both, visits in detection.
#' @param visit_data,site_data their covariates, as in [visits_occupancy()]: by name, or in the order of `visits`.
#' @param groups the group of each site (a formation, time bin, region), `NA` to leave a site out, or the column of the
#'   site table that has it; or rules, a list of widths of bins, such as `list(age = 1, place = c(4, 6))`. The answer is
#'   then about groups: their lists are rows of the table, their ages, places and variables are means. At least five
#'   groups, one of which has two sites.
#' @param series `TRUE`: rows are time bins of one whole region, so that a taxon found before and after was there.
#' @param assume `"phantom"`: the share of each site that the phantom of [aspect_bernoulli()] makes up is what was
#'   missed. `NULL`: nothing is assumed.
#' @param leave_out names or numbers of sites to leave out altogether, or `TRUE` or `FALSE` for each site.
#' @param reference sites, given in the same way, that inform the answer but are not scored: learners, neighbours and
#'   weights use them, but their zeros are not ranked and count in no total, nor do their finds. How good the answer is,
#'   is measured at the other sites alone, which must hold at least 20 finds. Such a set is known as the calibration or
#'   reference set of a species pool (`r` of package DarkDiv): well sampled sites near the ones you ask about.
#' @param quick a first look: few fits, few copies.
#' @param copies damaged copies of the table, from 2 to 10. `NULL`: 2 of more than 50 000 finds, 10 where the table has
#'   up to 2000, else 5; with `quick` 2, or as many as hide a hundred finds.
#' @param seed a whole number, for the same answer again; `NULL` goes on with the session's random numbers, and the
#'   answer keeps the seed it drew.
#' @param seconds no copy beyond the second is begun after so many seconds.
#' @param control settings from [fit_control()] of how the job is run: `n_threads`, of all its parts; `progress`, a bar
#'   with the time left; `checkpoint`, a file name, whose folder must exist. Others are refused, as fits of tables in
#'   memory have their own; of shards see [which_zeros_shards]. `NULL`: one thread, and a bar in an interactive session.
#' @return A list of class `which_zeros`: `probability`, an n x m matrix with the probability of a record (`NA` at
#'   presences and for taxa found at no site); `total`, the expected number of false absences, `missed`, with `low` and
#'   `high` (90 %); for presence-absence data alone that is what two more surveys would find, and `more`, a data frame,
#'   has 1, 2, 4 and 8
#'   (`surveys`, `missed`, `low`, `high`, and the ends for other years or methods, `unlike_low`, `unlike_high`);
#'   `how_many`, a data frame with a row for each evidence, that of the total first: `evidence`, `missed`, `low`,
#'   `high`, and `of`, the quantity; `source`, the name of the evidence of the total; `reason`, why no number is
#'   estimated, or `NULL`; `kappa`; `weights`, a data frame of the learners with their `weight` and `share`; `quality`,
#'   a data frame with the AUC (`auc`, `auc_within`) and average precision (`ap`) of the result and of each learner,
#'   with standard errors; `seed`, `dims`, `names` and what its methods need: [print()], `summary()`,
#'   [plot.which_zeros()], [as.data.frame.which_zeros()], [by_site()], [by_taxon()], [explain()][explain.which_zeros],
#'   [recovery()], `update()`. Wrong input is an error of class `multicause_input_error`; a table in which many sites
#'   repeat each other is warned of (class `multicause_repeated_sites`).
#' @aliases summary.which_zeros
#' @references Beals EW (1984). Bray-Curtis ordination: an effective strategy for analysis of multivariate ecological
#'   data. *Advances in Ecological Research* 14, 1-55. \doi{10.1016/S0065-2504(08)60168-3}
#'
#'   Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and absences.
#'   *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#'
#'   Chao A (1987). Estimating the population size for capture-recapture data with unequal catchability. *Biometrics*
#'   43, 783-791. \doi{10.2307/2531532}
#'
#'   DeLong ER, DeLong DM, Clarke-Pearson DL (1988). Comparing the areas under two or more correlated receiver operating
#'   characteristic curves. *Biometrics* 44, 837-845. \doi{10.2307/2531595}
#'
#'   MacKenzie DI, Nichols JD, Lachman GB, Droege S, Royle JA, Langtimm CA (2002). Estimating site occupancy rates when
#'   detection probabilities are less than one. *Ecology* 83, 2248-2255.
#'   \doi{10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2}
#'
#'   Wolpert DH (1992). Stacked generalization. *Neural Networks* 5, 241-259. \doi{10.1016/S0893-6080(05)80023-1}
#' @seealso [how_many], [range_through()] for `within`, [false_absences()] for one model, [identifiability()] for its
#'   bounds, [multicause-glossary] for the words of the print.
#' @examples
#' sites <- early_tetrapods$sites
#' some <- sites$max_ma > 290 # for a quick example, the older sites
#' w <- which_zeros(early_tetrapods$x[some, ], age = sites$age[some], quick = TRUE, seed = 1)
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
    return(zeros_in_pieces(
      x, names(call), ..., age = age, place = place, copies = copies, completeness = completeness, seed = seed,
      control = control
    ))
  }
  check_dots(...)
  args <- mget(setdiff(names(formals(which_zeros)), c("x", "...")))
  tell_lost_columns(call, args)
  asked <- wz_read(if (!missing(x)) x, args)
  call <- keep_values(call, asked$args)
  # An answer keeps the lists of groups, and not the sites that were left out.
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

# Of what wz_read() says is asked: scores are learnt, cells get probabilities, an answer is made. Taxa that were found
# nowhere are left out between.
wz_steps <- function(asked, call) {
  if (is.null(asked$args$seed)) asked$plan$seed <- draw_seeds(1L)
  judged <- judged_taxa(asked$x)
  of_judged <- wz_of_taxa(asked, judged)
  learnt <- wz_learn(of_judged)
  cells <- wz_cells(of_judged, learnt)
  if (length(asked$x) > most_kept) learnt$full$odds <- NULL
  put_back_taxa(wz_answer(of_judged, learnt, cells, call), asked, judged)
}

# ---- Read ----

# What is asked, checked: list(x = a table of 0 and 1, near = smooth_over() of its sites or NULL, given = what else is
# known of it, plan = how much is computed, running = in what way, args = all arguments but x).
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
  gone <- pick_some(args$leave_out, asked$x, "leave_out")
  asked$given$reference <- check_reference(args$reference, asked$x, gone)
  if (length(gone)) asked <- wz_keep(asked, setdiff(seq_len(nrow(asked$x)), gone))
  if (!is.null(cell)) refuse_few_species(asked$x)
  check_enough(asked$x)
  check_open(asked$x, asked$given$within)
  if (is.null(args$groups)) tell_same_sites(asked$x, asked$near)
  warn_repeated(asked$x)
  check_scored(asked$x, asked$given$reference)
  if (is.null(args$copies)) args$copies <- usual_copies(args$quick, sum(found_table(asked$x)))
  asked$plan <- list(
    quick = args$quick, copies = check_count(args$copies, "copies", 2L, 10L), seed = args$seed,
    how = as_usual(args$quick)
  )
  asked$running <- args[c("seconds", "control")]
  asked$x <- leave_unjudged(asked$x)
  asked
}

# Nothing tells at which sites a taxon that was found nowhere was missed: its cells are taken for unknown. As zeros they
# would take part of the number missed, the more the longer a list of taxa is given.
leave_unjudged <- function(x) {
  nowhere <- which(column_sums(found_table(x)) == 0 & column_sums(is.na(x)) < nrow(x))
  if (length(nowhere)) {
    inform(
      "Taxa that were found at no site are not judged, since nothing tells where they may have been missed: %s.",
      show_names(as.character(label_of(nowhere, colnames(x))))
    )
    x[, nowhere] <- NA
  }
  x
}

# Whether each taxon was found at any site. No model is fitted to the others, which would change its starting values.
judged_taxa <- function(x) column_sums(found_table(x)) > 0

# The question without the other taxa.
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

# The answer with the other taxa, of whose cells nothing is known. `asked`: the question with them.
put_back_taxa <- function(w, asked, judged) {
  if (all(judged)) {
    return(w)
  }
  at <- replace(rep(NA_integer_, length(judged)), judged, seq_len(sum(judged)))
  columns <- function(value) unname(value)[, at, drop = FALSE]
  n <- w$dims[["n"]]
  w$names <- dimnames_of(asked$x)
  if (w$ratios$side == 2L) w$ratios$log <- w$ratios$log[at, , drop = FALSE]
  if (!is.null(w$ratios$offset)) w$ratios$offset <- columns(w$ratios$offset)
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

# The settings, and that one kind of evidence is given.
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
    stop_input("Only one of `completeness`, `effort`, `visits` and `assume` can be given.")
  }
  args
}

# What is known of the table beside where its sites lie. Visits are in its order.
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

# The table as check_data() has it, 0/1, and `counts`, where it holds any.
wz_data <- function(x, cell) {
  if (is.null(cell)) {
    if (is.null(x)) stop_missing("x")
    turn <- turning(x, "x")
    x <- as_plain_matrix(x, "x") # once: it tells what it takes for names
    return(if (has_counts(x)) counted_data(x, turn) else check_data(x, "binary", turn = turn))
  }
  check_data(wz_found(x, cell), "binary", "visits", turn = NULL)
}

# Whole numbers, 0, 1 and 2 among them: a table of 0, 1 and 9 is one of codes, and one of 1 and 2.
has_counts <- function(x) {
  value <- if (inherits(x, "Matrix")) c(0, x@x) else x
  is.numeric(value) && all(0:2 %in% value) && all(value >= 0 & value == floor(value), na.rm = TRUE)
}

counted_data <- function(x, turn = turning(x, "x")) {
  counts <- check_data(x, "count", turn = turn)$x
  most <- max(if (inherits(counts, "Matrix")) counts@x else counts, na.rm = TRUE)
  inform(
    "`x` holds counts, up to %s: a find is a count of 1 or more.%s", format_big(most),
    if (most <= 10) " If these are classes, such as of cover, give `(x > 0) + 0`: Chao's estimate is of counts." else ""
  )
  tell_more_than_one(counts)
  tell_everywhere(counts)
  data <- check_data(1 * (counts > 0), "binary", quiet = TRUE)
  data$counts <- as.matrix(counts)
  data
}

# Few columns of counts among many of 0 and 1 may be no taxa.
tell_more_than_one <- function(counts) {
  more <- which(column_sums(counts > 1, na.rm = TRUE) > 0)
  if (length(more) <= ncol(counts) / 4) {
    inform("Only %s %s more than 1. Leave out what is no taxon.", show_names(colnames(counts)[more] %||% more),
      if (length(more) == 1L) "holds" else "hold")
  }
}

# A column of whole numbers without a zero, among others that have some, may be no taxon.
tell_everywhere <- function(counts) {
  everywhere <- which(column_sums(counts == 0, na.rm = TRUE) == 0 & column_sums(counts, na.rm = TRUE) > 0)
  if (length(everywhere) && length(everywhere) < ncol(counts) / 4) {
    names <- colnames(counts)[everywhere] %||% as.character(everywhere)
    are <- if (length(everywhere) == 1L) "is" else "are"
    inform("%s %s above 0 at every site. If that is no taxon, leave it out.", show_names(names), are)
  }
}

# Ages of the bins of a series.
series_ages <- function(near) {
  age <- near$given$age
  if (is.null(age)) stop_input("`series` needs `age`: rows are time bins, and gaps lie between finds in time.")
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

# The question of some of the sites.
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

# Which sites inform only: TRUE or FALSE for each, or NULL. `gone`: the numbers of those that are left out.
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

# Visits of few species tell of detection, but not what one species tells of another.
refuse_few_species <- function(x) {
  if (ncol(x) < 5L) {
    stop_input("`visits` must have at least 5 taxa to learn from, not %d: visits of few are for %s.", ncol(x),
      "visits_bernoulli() and false_absences(), see vignette(\"visits\")")
  }
}
bytes_of_cell <- 128 # that an answer needs (measured at 20 000 x 500)

refuse_few <- function(sites, taxa, finds) {
  if (sites < 5 || taxa < 5 || finds < 20) {
    stop_input(
      "`x` must have at least 5 sites, 5 taxa that were found and 20 finds to learn from, not %.0f, %.0f and %.0f.",
      sites, taxa, finds
    )
  }
}

check_enough <- function(x) {
  refuse_few(nrow(x), sum(judged_taxa(x)), sum(found_table(x)))
  cells <- prod(dim(x))
  advice <- "`which_zeros(shards(x, folder))` leaves the table on disk, see vignette(\"large\")."
  if (cells > .Machine$integer.max) {
    stop_input("`x` has %s cells, more than a table in memory may have: %s", show_count(cells), advice)
  }
  check_memory(bytes_of_cell * cells, sprintf("An answer to %s cells", show_count(cells)), sub("\\.$", "", advice))
  if (cells > 2e8) {
    inform("An answer to %s cells needs about %.0f GB of memory: %s", show_count(cells), 1e-9 * bytes_of_cell * cells,
      advice)
  }
}

# Where a find is hidden, its taxon must have been found elsewhere, and another of its zeros must be there to compare.
check_tells <- function(finds, zeros) {
  if (!any(finds > 1 & zeros > 0)) {
    stop_input(paste(
      "`x` must have a taxon that was found at two sites and not at a third: chances are learnt from such taxa. Here",
      "each was found once, everywhere or nowhere."
    ))
  }
}

check_open <- function(x, within) {
  table <- as.matrix(x)
  zero <- as.vector(!is.na(table) & table == 0)
  if (!any(zero)) stop_input("`x` must have zeros, one of which may be false: it has none.")
  finds <- colSums(table == 1, na.rm = TRUE)
  check_tells(finds, colSums(table == 0, na.rm = TRUE))
  judged <- zero & rep(finds > 0, each = nrow(x))
  if (!is.null(within) && !any(judged & as.vector(as.matrix(within)))) {
    stop_input("`within` must be TRUE at a zero of `x` at least, of a taxon that was found: no zero can be false.")
  }
}

many_finds <- 5e4 # of more, two copies and one fit of each size are as good as more (bench/which_zeros_time.md)

# A first look has two, or as many as hide a hundred finds: weights learnt from a handful tell nothing.
usual_copies <- function(quick, finds) {
  enough <- if (quick) as.integer(ceiling(1000 / finds)) else if (finds <= 2000) 10L else 5L
  if (finds > many_finds) 2L else min(max(enough, 2L), 10L)
}

check_scored <- function(x, reference) {
  if (is.null(reference)) {
    return(invisible())
  }
  finds <- sum(found_table(x)[!reference, ])
  if (finds < 20) {
    stop_input(
      "`reference` must leave sites with at least 20 finds, by which the answer is judged, not %s with %s.",
      count_words(sum(!reference), "site"), count_words(finds, "find")
    )
  }
}

# A taxon without other finds is not learnt from: see judged_cells().
check_learnable <- function(x, deleted) {
  sums <- column_sums(found_table(x))
  learnable <- vapply(deleted, function(at) {
    lost <- tabulate((at - 1L) %/% nrow(x) + 1L, ncol(x))
    sum(lost[lost < sums])
  }, 0)
  if (!any(learnable > 0)) {
    stop_input(
      "`x` must have taxa with several finds, to hide some of them and learn from the others: all %s hidden %s.",
      count_words(sum(lengths(deleted)), "find"), "were the only ones of their taxa"
    )
  }
}

# n x 2: low, high.
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

# Learners on the table and on its damaged copies (of these the `first`, if plan says how many): list(full, copies, seed
# of what is drawn later, share).
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

# Memory that an answer needs, a cell, which R's heap has at once and not by small steps: see src/glue/glue.c. Where
# there is less, it is left to the steps.
room_of_cell <- 350
room_most <- 350e6
make_room <- function(cells) {
  catch_error(.Call(mc_c_make_room, min(room_of_cell * cells, room_most)), function(condition) NULL)
}

# The table and its copies as tasks, and a seed for what is drawn after them: list(tasks, seed).
wz_tasks <- function(asked) {
  plan <- asked$plan
  drawn <- with_seed(plan$seed, list(
    seeds = draw_seeds(plan$copies + 2L), deleted = deal_finds(asked$x, plan$copies, asked$given$reference)
  ))
  check_learnable(asked$x, drawn$deleted)
  found <- sum(lengths(drawn$deleted)) / plan$copies * 10
  whole <- if (plan$quick) quick_effort else table_effort
  if (found > many_finds) whole$members <- 1L
  copies <- lapply(seq_len(plan$copies), function(copy) {
    deleted <- drawn$deleted[[copy]]
    list(deleted = deleted, optional = copy > 2L, effort = copy_effort, rate = length(deleted) / found)
  })
  tasks <- c(list(list(deleted = integer(), optional = FALSE, effort = whole)), copies)
  tasks <- Map(function(task, seed) c(task, seed = seed), tasks, drawn$seeds[seq_along(tasks)])
  if (!is.null(plan$first)) tasks <- utils::head(tasks, plan$first + 1L)
  list(tasks = tasks, seed = drawn$seeds[[plan$copies + 2L]])
}

# The share of each site that is not recorded, n x fits, where the phantom or effort is assumed to say it.
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
    n_start = 2, n_polish = 0, max_pass = 500, tol = 1e-7, n_threads = asked$running$control$n_threads,
    progress = FALSE
  )
  shares <- with_seed(learnt$seed, vapply(k, function(k) {
    fit <- quiet_fit(aspect_bernoulli(x, k, estimate = "map", effort = effort, control = control))$value
    phantom_share(fit, unname(fit$pinned), "white")
  }, numeric(nrow(x))))
  matrix(shares, nrow(x))
}

# ---- Answer ----

# From learners to the answer: how good it is, how many zeros are false, what sites and taxa missed.
wz_answer <- function(asked, learnt, cells, call) {
  x <- asked$x
  free_memory(x)
  scored <- scored_sites(asked$given$reference, nrow(x))
  judged <- judge_stack(learnt$copies, cells$stack, dim(x), scored, asked$running$control$n_threads)
  alone <- is.null(unlist(asked$given[c("completeness", "cell", "pooled")])) && is.null(learnt$share)
  reason <- if (alone) no_number(judged$table["stack", ], sum(cells$found), dim(x), axis_words(asked))
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

# Of all cells: list(x, found, zero: which are, stack, eta = log-odds of a record by weights from the copies and one
# calibration, se = its standard errors, all_bins = of eta at zeros, bins = without gaps, gaps: zeros that are surely
# false, kappa and presences as predictability() has them).
wz_cells <- function(asked, learnt) {
  x <- asked$x
  table <- unname(as.matrix(x))
  found <- !is.na(table) & table == 1
  zero <- !is.na(table) & table == 0
  rm(table)
  n_threads <- asked$running$control$n_threads
  stack <- fit_stack(learnt$copies, n_threads = n_threads)
  free_memory(x)
  eta <- stack_cells(learnt$full$odds, stack, n_threads)
  line <- calibrate_chances(log_odds_bins(eta[zero]), hidden_log_odds(learnt$copies, stack), sum(found))
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
      finds = sum(cells$found[scored_sites(given$reference, nrow(x)), ]), seed = asked$plan$seed,
      quick = asked$plan$quick, copies = length(learnt$copies), wanted = asked$plan$copies,
      inputs = list(near = asked$near, given = given), call = call
    ),
    class = "which_zeros"
  )
}

# Which zeros are asked about.
wz_candidates <- function(zero, given) {
  if (!is.null(given$within)) zero <- zero & as.vector(as.matrix(given$within))
  if (!is.null(given$reference)) zero <- zero & !given$reference[row(zero)]
  zero
}

# Sums over sites and taxa in draws, and the total.
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

# The standard errors of log-odds, cells x learners, that come from the weights.
odds_se <- function(z, stack) {
  z <- matrix(z, ncol = length(stack$weights))
  z <- cbind(rep(1, nrow(z)), z)
  sqrt(pmax(rowSums((z %*% stack$covariance) * z), 0))
}

# The log-odds of a record that finds had while they were hidden.
hidden_log_odds <- function(copies, stack) {
  unlist(lapply(copies, function(copy) stack_odds(stack, copy$odds[copy$deleted, , drop = FALSE])))
}

# Ends of ranges, n x 2, that hold what is expected, and go no further than what is allowed: `most`, or NULL.
coherent_ends <- function(ends, missed, most = NULL) {
  high <- pmax(ends[, 2L], missed)
  if (!is.null(most)) high <- pmin(high, pmax(most, missed))
  cbind(low = pmin(ends[, 1L], missed), high = high)
}

# The probabilities that zeros are false absences, n x m, 0 elsewhere.
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

# f(numbers) of the zeros that were asked about, of some columns at a time: those of all would take many times the
# memory of the answer. `numbers`: wz_missed() where ranges of single zeros are needed, too, which take longer.
scan_zeros <- function(w, f, columns = seq_len(w$dims[["m"]]), numbers = wz_expected) {
  n <- w$dims[["n"]]
  for (j in row_blocks(columns, n, cells_at_a_time)) {
    at <- which(w$candidate[, j])
    at <- as.integer((at - 1L) %% n + 1L + (j[(at - 1L) %/% n + 1L] - 1) * n)
    f(numbers(w, at))
  }
}

# Row, column and `missed` alone of zeros.
wz_expected <- function(w, at) {
  row <- (at - 1L) %% w$dims[["n"]] + 1L
  column <- (at - 1L) %/% w$dims[["n"]] + 1L
  log_ratio <- ratios_at(w$ratios, row, column)[, 1L]
  missed <- missed_probability(w$probability[at], log_ratio, w$ratios$slope, offset_at(w$ratios, at))
  if (length(w$gaps)) missed[at %in% w$gaps] <- 1
  data.frame(row, column, missed)
}

# The numbers of the zeros that were asked about, in the order of cells.
wz_missed <- function(w, at = which(w$candidate)) {
  row <- (at - 1L) %% w$dims[["n"]] + 1L
  column <- (at - 1L) %/% w$dims[["n"]] + 1L
  log_ratio <- ratios_at(w$ratios, row, column)
  numbers <- missed_numbers(w$probability[at], w$se[at], log_ratio, w$ratios$slope, offset_at(w$ratios, at))
  cells <- data.frame(row, column, numbers)
  cells[at %in% w$gaps, c("missed", "missed_low", "missed_high")] <- 1
  cells
}
