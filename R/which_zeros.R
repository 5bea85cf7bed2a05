#' Which zeros are false?
#'
#' `which_zeros()` says which taxa were probably missed at which sites, how many in all, and how surely. It measures how
#' good such answers are on your own table: it hides finds from itself and looks for them. [how_many] tells how well
#' its totals did where the truth is known, [multicause-glossary] explains the words.
#'
#' @details
#' **What it does.** There are three steps.
#' 1. Several *learners* give every zero a chance of a record. They are averages of [aspect_bernoulli()] with and
#'    without neighbours; [logistic_pca()]; the [neighbours_mean()] by age, place and other distances, plain and weighed
#'    by how alike the lists of two sites are (its `likeness` is 1, 2 or 4: the objective of that model says which, on
#'    the whole table); the mean of alike lists wherever they are; and the companions of a taxon (Beals 1984).
#' 2. A tenth of the finds is deleted at random from a copy of the table, and each learner scores the zeros of the copy.
#'    This is done `copies` times, each time with other finds. A logistic regression then says what each learner is
#'    worth *on this table*. It predicts "this zero was deleted" from the learners' log-odds. Its weights are not
#'    negative and are pulled towards equal shares. How often the taxon was found enters, too (its log and the square of
#'    that), because learners know rare taxa less well. A taxon that was never found gets half a find, dealt out to the
#'    sites by their numbers of finds.
#' 3. The weights are applied to the learners of the whole table. A logistic regression over all cells then calibrates
#'    the result: finds have the log-odds that they had while they were hidden, and stand for the others.
#'
#' **Three numbers of a zero.**
#' \describe{
#'   \item{`chance`}{the chance of a record, \eqn{p}: how often such cells are finds, if only the rest of the table is
#'     known. Finds can be hidden, so this is measured, not assumed. Zeros are ranked by it.}
#'   \item{`missed`}{the chance that the taxon was there and was missed, now that it was not found. Its odds are
#'     \eqn{r p / (1 - p)}, with one ratio \eqn{r} for the table, such that these chances sum to the number missed (with
#'     `completeness`, `effort` and `assume` one \eqn{r} for each site). `missed_low` and `missed_high` are its ends:
#'     those of the total and of the chance (5 % and 95 %) together.}
#'   \item{`present`}{the chance that it was there, as if nobody had looked at this cell: \eqn{p + (1 - p)} `missed`.}
#' }
#'
#' **How many were missed** is taken from the best evidence that there is, the first of these:
#' * `completeness`, what you know of it: \eqn{c} of the taxa that were at a site were recorded. A site with \eqn{F}
#'   finds missed about \eqn{F (1 - c) / c}; where it has few finds, what the learners expect of it counts, too.
#' * `visits`, repeated surveys: occupancy of each taxon, with detection by taxon and visit. It is what lived at the
#'   sites visited and no visit found.
#' * `groups`, sites of one fauna as samples of it: Chao's estimate of the taxa of the fauna that no site shows. The
#'   answer is about the lists of the groups.
#' * Presences alone: **how well finds are foreseen**. \eqn{\kappa} is the mean chance that the rest of the table
#'   gives to a find. In surveys whose truth is known \eqn{\kappa} is about .91 of the share that the table holds of
#'   what three such searches together show (.63 to 1.18 in nine of ten). So \eqn{F (.91 - \kappa) / \kappa} finds were
#'   missed. It is **what two more searches as thorough as the whole table would show to have been missed**, of the taxa
#'   in it. It is blind to effort: a list of a hundred years is one search of a hundred years. So it is not the
#'   completeness of a fauna, and not to be compared between tables or groups that were searched with unequal effort.
#'
#' With `effort`, and with `assume = "phantom"`, it rests on an assumption: each site lacks the share that the phantom
#' of [aspect_bernoulli()] makes up, in fits of 3 to 8 components. This is right for tables that a phantom made, such as
#' [simulated_sites]; of the birds of one visit it said a tenth of what later visits found. With `series = TRUE` rows
#' are time bins of one region; then a taxon that was found before and after was there.
#'
#' `how_many` of the result holds what each evidence says, `plot(w, "how_many")` shows it. They need not agree: they are
#' numbers of different things, which it names. Of counts it has the geometric mean of the law and of Chao's estimate of
#' each taxon; the law alone was nearer to the truth. Of fewer than 10 taxa, fewer than 100 finds, or where
#' \eqn{\kappa} is below .15, the print has the range alone.
#'
#' **How good it is here.** Each damaged copy is scored by weights that were learnt from the other copies. So each copy
#' stands for a table that lost a tenth of its finds. The print gives the area under the ROC curve (AUC: the chance that
#' a deleted find ranks above another zero), over the table and within sites, and the same for the best simple rule. By
#' each of these one of them is called better where the difference is beyond its error (95 %, Student's t over copies).
#' It also gives the slope of calibration (1: chances are right; below 1: they are too sure) with its standard error.
#' Since some of the other zeros are false as well, this AUC is too low, by about their share of the zeros times the AUC
#' less one half, which is little in a sparse table and more where many cells are finds. Deleted finds are a random
#' tenth, and taxa that are missed for reasons of their own are harder to find: for the birds the AUC of what later
#' visits found was .88, while the answer expected .95. The standard errors are over copies. With fewer than 200 finds
#' deleted in all, the answer says that the table is too small to tell it from the rule, with fewer than 100 that the
#' slope says no more.
#'
#' **What is assumed.** Ages do not come from the faunas: where they do, the faunas are used twice, see [smooth_over()].
#' And records are right: a find is never an error.
#'
#' **Cost.** O(`copies` (n m k + n f)) with f the finds, and memory for some 80 matrices of n x m: 0.6 GB at 2 000 x
#' 500. On one core a call took 6 s of processor time for 273 sites x 201 genera of mammals, 7 s for 266 x 145 birds
#' and, with `quick`, 19 s for 2 000 x 500 with 2 % found (`bench/which_zeros.md`). Copies run in parallel where a
#' [future::plan()] is set. The answer depends on the seed alone, not on the plan (with `seconds` below `Inf` also on
#' the machine's speed). An interrupt keeps the copies that are done, if there are at least two. With a `checkpoint` in
#' `control` each finished table is kept in a file beside the one named; the same call goes on from there after a crash,
#' as in [cross_validate()].
#'
#' @param x sites by taxa: a 0/1 table as [aspect_bernoulli()] takes it, dense or sparse, or counts (specimens,
#'   individuals; whole numbers, 1 and 2 among them); `NA` is an unknown cell. A result of [shards()] goes to
#'   [which_zeros_shards], with the arguments named there.
#' @param age,place,environment,distance of the sites, as [smooth_over()] takes them: ages or bounds of ages, longitude
#'   and latitude or places in the plane, variables such as depth, any other distance. `NULL`: not known. Ages, places
#'   and variables may be names of columns of the site table that comes with `x` from [occurrence_matrix()], as `age =
#'   c("max_ma", "min_ma")`; or a data frame, in any order, one column of which has the names of the sites.
#' @param ... must be empty.
#' @param within which zeros can be false at all: a logical matrix of the shape of `x`, such as [range_through()] makes.
#'   Others are not ranked and not counted. `NULL`: all.
#' @param completeness what is known of the chance that a taxon that was there was recorded, above 0 and at most 1: a
#'   number, a range of two, a number for each site, or a matrix with the two ends for each site. What has the names of
#'   sites (of sites and taxa) is matched to those of `x` in this and all other arguments. Names that are missing,
#'   unknown or repeated are refused; ages, places and effort may be of further sites, too. Without names, or where `x`
#'   has none, values are taken in order.
#' @param effort one number for each site, how well it was searched; see [aspect_bernoulli()].
#' @param visits repeated surveys, as [visits_array()] makes and [visits_bernoulli()] takes them; `x` is then what any
#'   visit found, and may be left out. If it is given, its names say which sites and taxa of `visits`, in which order.
#'   Only one of `completeness`, `effort`, `visits` and `assume` can be given.
#' @param detection,communities with `visits`: formulas of covariates by which visits find what is there, and by which
#'   sites differ, as in [visits_bernoulli()]. `NULL`: misses depend on site and visit, communities on what was found.
#' @param visit_data,site_data their covariates, as in [visits_bernoulli()]: by name, or in the order of `visits`.
#' @param groups the group of each site (a formation, time bin, region), `NA` to leave a site out; or rules, a list of
#'   widths of bins, such as `list(age = 1, place = c(4, 6))`. The answer is then about groups: their lists are rows of
#'   the table, their ages, places and variables are means. At least five groups, one of which has two sites.
#' @param series `TRUE`: rows are time bins of one whole region, so that a taxon found before and after was there.
#' @param assume `"phantom"`: the share of each site that the phantom of [aspect_bernoulli()] makes up is what was
#'   missed. `NULL`: nothing is assumed.
#' @param leave_out names or numbers of sites to leave out altogether, or `TRUE` or `FALSE` for each site.
#' @param reference sites, given in the same way, that inform the answer but are not scored: learners, neighbours and
#'   weights use them, but their zeros are not ranked and count in no total, nor do their finds. How good the answer is,
#'   is measured at the other sites alone, which must hold at least 20 finds. Such a set is known as the calibration or
#'   reference set of a species pool (`r` of package DarkDiv): well sampled sites near the ones you ask about.
#' @param quick a first look: few fits, two copies.
#' @param copies damaged copies of the table, from 2 to 10. `NULL`: 2 with `quick`, 10 where the table has up to 2000
#'   finds, else 5.
#' @param seed a whole number, for the same answer again; `NULL` goes on with the session's random numbers, and the
#'   answer keeps the seed it drew.
#' @param seconds no copy beyond the second is begun after so many seconds.
#' @param control settings from [fit_control()] of how the job is run: `n_threads`, of all its parts; `progress`, a bar
#'   with the time left; `checkpoint`, a file name, whose folder must exist. Fits of tables in memory have their own
#'   settings; of shards see [which_zeros_shards]. `NULL`: one thread, and a bar in an interactive session.
#' @return A list of class `which_zeros`: `probability`, an n x m matrix with the chance of a record (`NA` at finds);
#'   `total`, the expected number of false absences, `low`, `high` (90 %); `how_many`, a data frame with a row for each
#'   evidence, the one of the total first: `evidence`, `missed`, `low`, `high`, and `of`, what it is a number of;
#'   `source`, the name of the evidence of the total; `kappa`; `one_more`, how many one more such search would find
#'   (by lists, else `NULL`); `log_ratio`, n x 3, log r of each site and its ends;
#'   `weights`, a data frame of the learners with
#'   their `weight` and `share`; `quality`, a data frame with the AUC (pooled, within sites) and average precision of
#'   the answer and of each learner, with standard errors over copies; `seed`, `dims`, `names` and what its methods
#'   need: [print()], [plot.which_zeros()], [as.data.frame.which_zeros()], [by_site()], [by_taxon()],
#'   [explain()][explain.which_zeros], `update()`. Wrong input is an error of class `multicause_input_error`.
#' @references Beals EW (1984). Bray-Curtis ordination: an effective strategy for analysis of multivariate ecological
#'   data. *Advances in Ecological Research* 14, 1-55. \doi{10.1016/S0065-2504(08)60168-3}
#'
#'   Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and absences.
#'   *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#'
#'   Chao A (1987). Estimating the population size for capture-recapture data with unequal catchability. *Biometrics*
#'   43, 783-791. \doi{10.2307/2531532}
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
                        within = NULL, completeness = NULL, effort = NULL, visits = NULL, detection = NULL,
                        communities = NULL, visit_data = NULL, site_data = NULL, series = FALSE, assume = NULL,
                        leave_out = NULL, reference = NULL, quick = FALSE, copies = NULL, seed = NULL, seconds = Inf,
                        control = NULL) {
  call <- match.call()
  if (!missing(x) && inherits(x, "shards")) {
    wz_refuse_shards(setdiff(names(call), c("", names(formals(which_zeros_shards)))))
    return(which_zeros_shards(
      x, ..., age = age, place = place, copies = copies, completeness = completeness, seed = seed, control = control
    ))
  }
  check_dots(...)
  quick <- check_flag(quick, "quick")
  control <- job_control(control)
  if (!identical(seconds, Inf)) seconds <- check_number(seconds, "seconds", 0)
  if (!is.null(seed)) seed <- check_count(seed, "seed", 0L)
  cell <- if (!is.null(visits)) check_visits(visits, name = "visits")
  data <- wz_data(if (!missing(x)) x, cell)
  along <- list(age = age, place = place, environment = environment, distance = distance)
  along <- site_covariates(along, if (!missing(x)) attr(x, "sites", exact = TRUE), rownames(data$x), nrow(data$x))
  series <- check_flag(series, "series")
  if (!is.null(assume)) check_choice(assume, "assume", "phantom")
  values <- c(along, list(
    groups = groups, series = series, assume = assume,
    within = within, completeness = completeness, effort = effort, visits = visits, detection = detection,
    communities = communities,
    visit_data = visit_data, site_data = site_data, leave_out = leave_out, reference = reference, quick = quick,
    copies = copies, seed = seed, seconds = seconds, control = control
  ))
  tell_lost_columns(call, values)
  call <- keep_values(call, values)
  # An answer keeps the lists of groups, and not the sites that were left out.
  if ((length(leave_out) || !is.null(groups)) && !missing(x)) call$x <- x
  known <- c(
    completeness = !is.null(completeness), effort = !is.null(effort), visits = !is.null(visits),
    assume = !is.null(assume)
  )
  if (sum(known) > 1L) stop_input("Only one of `completeness`, `effort`, `visits` and `assume` can be given.")
  lists <- group_lists(data, along, groups, visits)
  data <- lists$data
  along <- lists$along
  near <- wz_near(along, data$x)
  given <- list(
    completeness = if (known[[1L]]) check_completeness(completeness, nrow(data$x), rownames(data$x)),
    effort = if (known[[2L]]) check_effort(effort, data, "white", 2L), cell = cell,
    visit_model = wz_visit_model(
      cell, list(detection = detection, communities = communities),
      list(visit_data = visit_data, site_data = site_data)
    ),
    within = check_within(within, list(dims = c(n = nrow(data$x), m = ncol(data$x)), names = dimnames_of(data$x))),
    assume = assume, series = if (series) series_ages(near), counts = data$counts, pooled = lists$pooled
  )
  given <- wz_order_visits(given, data$x)
  gone <- pick_some(leave_out, data$x, "leave_out")
  given$reference <- check_reference(reference, data$x, gone)
  if (length(gone)) {
    kept <- setdiff(seq_len(nrow(data$x)), gone)
    near <- wz_keep_near(near, data$x, kept)
    given <- wz_keep(given, kept)
    data <- check_data(data$x[kept, , drop = FALSE], "binary", quiet = TRUE)
  }
  check_enough(data$x)
  check_open(data$x, given$within)
  check_scored(data$x, given$reference)
  if (is.null(copies)) copies <- usual_copies(quick, sum(data$margins$row_sum))
  copies <- check_count(copies, "copies", 2L, 10L)
  plan <- list(quick = quick, copies = copies, seed = seed, how = as_usual(quick))
  job <- c(list("which_zeros", data$x, near, given), plan)
  with_checkpoint(check_checkpoint(control$checkpoint), job, function(store) {
    plan[c("seconds", "control")] <- list(seconds, control)
    plan$store <- checkpoint_store(store, "table")
    if (is.null(seed)) plan$seed <- draw_seeds(1L)
    new_which_zeros(data$x, near, given, plan, wz_learn(data$x, near, given, plan), call)
  })
}

job_control <- function(control) {
  if (is.null(control)) {
    return(fit_control())
  }
  control <- check_control(control, for_many = TRUE)
  refuse_cluster(control)
  control
}

# The table as check_data() has it, 0/1, and `counts`, where it holds any.
wz_data <- function(x, cell) {
  if (is.null(cell)) {
    if (is.null(x)) stop_missing("x")
    return(if (has_counts(x)) counted_data(x) else check_data(x, "binary"))
  }
  check_data(wz_found(x, cell), "binary", "visits")
}

# Whole numbers, 0, 1 and 2 among them: a table of 0, 1 and 9 is one of codes, and one of 1 and 2.
has_counts <- function(x) {
  value <- as_plain_matrix(x, "x")
  if (inherits(value, "Matrix")) value <- c(0, value@x)
  is.numeric(value) && all(0:2 %in% value) && all(value >= 0 & value == floor(value), na.rm = TRUE)
}

counted_data <- function(x) {
  counts <- check_data(x, "count")$x
  most <- max(if (inherits(counts, "Matrix")) counts@x else counts, na.rm = TRUE)
  inform("`x` holds counts, up to %s: a find is a count of 1 or more.", format_big(most))
  data <- check_data(1 * (counts > 0), "binary", quiet = TRUE)
  data$counts <- as.matrix(counts)
  data
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
  name <- names(near$given)[1L]
  check_sites_of(near, name, dim(x))
  match_smooth(near, x, name)
}

wz_keep_near <- function(near, x, kept) {
  if (is.null(near)) {
    return(NULL)
  }
  labels <- as.character(seq_len(nrow(x)))
  near$names <- paste("site", labels)
  near <- match_smooth(near, matrix(0, length(kept), 1L, dimnames = list(near$names[kept], NULL)))
  near["names"] <- list(rownames(x)[kept])
  near
}

wz_keep <- function(given, kept) {
  given$completeness <- given$completeness[kept, , drop = FALSE]
  given$effort <- given$effort[kept]
  given$reference <- given$reference[kept]
  if (!is.null(given$series)) given$series <- given$series[kept, , drop = FALSE]
  if (!is.null(given$counts)) given$counts <- given$counts[kept, , drop = FALSE]
  if (!is.null(given$pooled)) given$pooled <- lapply(given$pooled, `[`, kept)
  if (!is.null(given$within)) given$within <- given$within[kept, , drop = FALSE]
  wz_keep_visits(given, kept)
}

# Which sites inform only: TRUE or FALSE for each, or NULL. `gone`: the numbers of those that are left out.
check_reference <- function(reference, x, gone) {
  if (!length(reference)) {
    return(NULL)
  }
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

check_enough <- function(x) {
  finds <- sum(found_table(x))
  if (nrow(x) < 5L || ncol(x) < 5L || finds < 20) {
    stop_input(
      "`x` must have at least 5 sites, 5 taxa and 20 finds to learn from, not %d, %d and %.0f.", nrow(x), ncol(x), finds
    )
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
  zero <- table %in% 0
  if (!any(zero)) stop_input("`x` must have zeros, one of which may be false: it has none.")
  check_tells(colSums(table == 1, na.rm = TRUE), colSums(table == 0, na.rm = TRUE))
  if (!is.null(within) && !any(zero & as.vector(as.matrix(within)))) {
    stop_input("`within` must be TRUE at a zero of `x` at least: no zero can be false.")
  }
}

many_finds <- 5e4 # of more, two tenths tell weights as well as more do, and one fit of each size is as good as two

usual_copies <- function(quick, finds) if (quick || finds > many_finds) 2L else if (finds <= 2000) 10L else 5L

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
  sums <- Matrix::colSums(found_table(x))
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
  out <- if (is.matrix(value)) {
    value
  } else if (length(value) == 2L && n != 2L) {
    matrix(value, n, 2L, byrow = TRUE)
  } else {
    matrix(value, n, 2L)
  }
  unname(cbind(pmin(out[, 1L], out[, 2L]), pmax(out[, 1L], out[, 2L])))
}

# Learners on the table and on its damaged copies (of these the `first`, if plan says how many): list(full, copies,
# share).
wz_learn <- function(x, near, given, plan) {
  drawn <- with_seed(plan$seed, list(
    seeds = draw_seeds(plan$copies + 2L), deleted = deal_finds(x, plan$copies, given$reference)
  ))
  check_learnable(x, drawn$deleted)
  found <- sum(lengths(drawn$deleted)) / plan$copies * 10
  whole <- table_effort
  if (plan$quick || 10 * max(lengths(drawn$deleted)) > many_finds) whole$members <- 1L
  tasks <- c(
    list(list(deleted = integer(), optional = FALSE, effort = whole)),
    lapply(seq_len(plan$copies), function(copy) {
      deleted <- drawn$deleted[[copy]]
      list(deleted = deleted, optional = copy > 2L, effort = copy_effort, rate = length(deleted) / found)
    })
  )
  tasks <- Map(function(task, seed) c(task, seed = seed), tasks, drawn$seeds[seq_along(tasks)])
  if (!is.null(plan$first)) tasks <- utils::head(tasks, plan$first + 1L)
  near <- with_memo(near)
  n_threads <- plan$control$n_threads
  common <- list(
    x = x, near = near, likeness = choose_likeness(x, near, n_threads), how = c(plan$how, n_threads = n_threads),
    phantom = !is.null(given$assume), deadline = as.double(Sys.time()) + plan$seconds
  )
  name <- function(i) if (i == 1L) "the whole table" else sprintf("copy %d", i - 1L)
  running <- task_running(list(progress = plan$control$progress, on_interrupt = "keep"), plan$store)
  done <- map_tasks(tasks, learn_task, common, "Tables", name, running)
  copies <- done[-1L][is_done(done[-1L])]
  if (is.null(done[[1L]]) || length(copies) < 2L) signal_interrupt()
  tell_interrupted(done, "tables")
  seed <- drawn$seeds[[plan$copies + 2L]]
  learnt <- list(full = done[[1L]], copies = unname(copies), seed = seed)
  learnt["share"] <- list(wz_share(x, given, plan, learnt))
  learnt
}

# The share of each site that is not recorded, n x fits, where the phantom or effort is assumed to say it.
wz_share <- function(x, given, plan, learnt) {
  if (!is.null(given$assume)) {
    return(learnt$full$share)
  }
  if (is.null(given$effort)) {
    return(NULL)
  }
  k <- utils::head(unique(pmax(2L, learner_k(nrow(x), ncol(x), c(8, 12, 16)) %/% 2L)), if (plan$quick) 1L else 3L)
  control <- fit_control(
    n_start = 2, n_polish = 0, max_pass = 500, tol = 1e-7, n_threads = plan$control$n_threads, progress = FALSE
  )
  shares <- with_seed(learnt$seed, vapply(k, function(k) {
    fit <- quiet_fit(aspect_bernoulli(x, k, estimate = "map", effort = given$effort, control = control))$value
    phantom_share(fit, unname(fit$pinned), "white")
  }, numeric(nrow(x))))
  matrix(shares, nrow(x))
}

# From learners to the answer: chances of a record by weights from the copies and one calibration over all cells, then
# how many of the zeros are false.
new_which_zeros <- function(x, near, given, plan, learnt, call) {
  odds <- learnt$full$odds
  zero <- matrix(as.matrix(x) == 0, nrow(x))
  is_zero <- matrix(zero %in% TRUE, nrow(x))
  finds <- sum(zero == FALSE, na.rm = TRUE)
  stack <- fit_stack(learnt$copies)
  eta <- stack$intercept + weighed_sum(stack$weights, function(l) odds[[l]])
  line <- calibrate_chances(log_odds_bins(eta[is_zero]), hidden_log_odds(learnt$copies, stack), finds)
  stack <- calibrated_stack(stack, line)
  eta <- line[1L] + line[2L] * eta
  gaps <- if (!is.null(given$series)) gaps_of_series(x, given$series)
  known <- list(
    x = x, counts = given$counts, pooled = given$pooled, eta = eta, zero = is_zero, gaps = gaps, finds = finds,
    kappa = mean_foreseen(x, learnt$full$tuned$near, plan$control$n_threads),
    bins = log_odds_bins(eta[setdiff(which(is_zero), gaps)])
  )
  many <- with_seed(learnt$seed, how_many(known, given, learnt$share))
  p <- stats::plogis(eta)
  p[zero %in% FALSE] <- NA
  names <- dimnames_of(x)
  dimnames(p) <- name_sides(names)
  w <- structure(
    list(
      probability = p, se = stack_se(odds, stack), candidate = wz_candidates(is_zero, given), gaps = gaps,
      log_ratio = many$log_ratio, source = many$source, kappa = known$kappa, how_many = many$estimates,
      one_more = one_more_of(known, many$source), stack = stack, near = learnt$full$tuned,
      weights = stack_table(stack, learnt$copies), x = x, names = names, restricted = !is.null(given$within),
      dims = c(n = nrow(x), m = ncol(x)),
      finds = sum(zero == FALSE & scored_sites(given$reference, nrow(x)), na.rm = TRUE), seed = plan$seed,
      quick = plan$quick, copies = length(learnt$copies), wanted = plan$copies,
      inputs = list(near = near, given = given), call = call
    ),
    class = "which_zeros"
  )
  w <- wz_add_sums(w, many, learnt$seed)
  judged <- judge_stack(learnt$copies, stack, dim(x), scored_sites(given$reference, nrow(x)))
  w$quality <- judged$table
  w[c("gain", "curve")] <- judged[c("gain", "curve")]
  w$centre <- vapply(odds, function(z) mean(z[w$candidate]), 0)
  w$odds <- if (length(x) <= most_kept) odds
  w
}

# Which zeros are asked about.
wz_candidates <- function(zero, given) {
  if (!is.null(given$within)) zero <- zero & as.vector(as.matrix(given$within))
  if (!is.null(given$reference)) zero <- zero & !given$reference[row(zero)]
  zero
}

# Sums over sites and taxa in draws, and the total.
wz_add_sums <- function(w, many, seed) {
  cells <- wz_missed(w)
  at <- cbind(cells$row, cells$column)
  is_gap <- which(w$candidate) %in% w$gaps
  spread <- function(value) {
    out <- matrix(0, w$dims[["n"]], w$dims[["m"]])
    out[at] <- value
    out
  }
  missed <- spread(ifelse(is_gap, 0, cells$missed))
  gaps <- spread(as.double(is_gap))
  w$draws <- with_seed(seed, draw_sums(missed, gaps, many$relative))
  w$total <- answer_total(missed, gaps, many, w$draws)
  part <- w$total[["missed"]] / max(w$how_many$missed[1L], 1e-12)
  ends <- c("missed", "low", "high")
  w$how_many[ends] <- part * w$how_many[ends]
  w$how_many[1L, ends] <- w$total
  if (!is.null(w$one_more)) w$one_more <- part * w$one_more
  w
}

# Which sites the answer is about: all but those for reference.
scored_sites <- function(reference, n) if (is.null(reference)) rep(TRUE, n) else !reference

most_kept <- 5e6 # cells up to which the learners' scores are kept for explain()

# The standard errors of log-odds, cells x learners, that come from the weights.
odds_se <- function(z, stack) {
  z <- matrix(z, ncol = length(stack$weights))
  z <- cbind(rep(1, nrow(z)), z)
  sqrt(pmax(rowSums((z %*% stack$covariance) * z), 0))
}

# Those of all cells, by blocks.
stack_se <- function(odds, stack) {
  cells <- seq_along(odds[[1L]])
  root <- vapply(unname(split(cells, cells %/% 2^18)), function(at) {
    list(odds_se(vapply(odds, function(each) each[at], numeric(length(at))), stack))
  }, list(0))
  matrix(unlist(root), nrow(odds[[1L]]))
}

# The log-odds of a record that finds had while they were hidden.
hidden_log_odds <- function(copies, stack) {
  unlist(lapply(copies, function(copy) stack_odds(stack, copy$odds[copy$deleted, , drop = FALSE])))
}

central_range <- function(draws, level = 0.9) {
  stats::quantile(draws, round(c(1 - level, 1 + level) / 2, 12L), names = FALSE)
}

# Ends of ranges, n x 2, that hold what is expected, and go no further than what is allowed: `most`, or NULL.
coherent_ends <- function(ends, missed, most = NULL) {
  high <- pmax(ends[, 2L], missed)
  if (!is.null(most)) high <- pmin(high, pmax(most, missed))
  cbind(low = pmin(ends[, 1L], missed), high = high)
}

# The numbers of the zeros that were asked about, in the order of cells.
wz_missed <- function(w, at = which(w$candidate)) {
  row <- (at - 1L) %% w$dims[["n"]] + 1L
  numbers <- missed_numbers(w$probability[at], w$se[at], w$log_ratio[row, , drop = FALSE])
  numbers[at %in% w$gaps, c("present", "missed", "missed_low", "missed_high")] <- 1
  data.frame(row = row, column = (at - 1L) %/% w$dims[["n"]] + 1L, numbers)
}
