#' How a fit is run
#'
#' Settings shared by every model that is fitted by iterations of an EM-like algorithm. Most users change `n_start`,
#' `n_threads`, `progress` or `checkpoint`.
#'
#' @details
#' **Starts.** Fits start from several sets of initial values, because the likelihood has many local maxima. With
#' `screen = TRUE` each start runs some iterations, and the best `n_finish` continue to convergence; `fit$starts` has
#' the end of each. A start that fails does not lose the others: a warning of class `multicause_task_failed` names it,
#' and it is an error only if all fail.
#'
#' **Algorithm** of [aspect_bernoulli()] with `"ml"` and `"map"`. An iteration is one full update of all parameters.
#' * `"em"` is that of the paper.
#' * `"newton"` takes a Newton step for each row and column that never lowers the objective (Tran-Dinh and others 2015).
#'   Its iterations cost about \eqn{1 + k/4} of EM's, and far fewer are needed.
#' * `"sparse"` does the same for tables of few ones, whose zeros it hardly scans.
#' * `"auto"` takes the one expected to be fastest: Newton iterations, in sparse form for `k` of at least 4 and at least
#'   100 000 cells of which at most 3 % (and 0.5 % for each component) are ones or missing. It takes EM for `k` above 16
#'   (with `"map"` 12), with `"map"` for fewer than 40 columns, with `smooth` or `effort`, with `accelerate = FALSE`,
#'   and in [ensemble()].
#'
#' `fit$algorithm` names the one taken. [plsa()], [nmf()] and [visits_bernoulli()] with `detection` have Newton
#' iterations of their own; other models have one algorithm. A higher likelihood is not always a better result, because
#' exact zeros and ones fit the observed cells too well: for false absences take `estimate = "map"` or [ensemble()].
#' `bench/iterations.md` in the sources has times, and `bench/help_details.md` the details.
#'
#' `accelerate = TRUE` uses SQUAREM (Varadhan and Roland 2008) in cycles of three iterations that never lower the
#' objective. `accelerate = FALSE, tol = 0, n_start = 1` with a `start` runs exactly `max_iter` iterations of the
#' published algorithm.
#'
#' **Several processors.** Starts run as futures under a [future::plan()]: other R processes on this machine
#' (`multisession`), on others (`cluster`), or jobs of a queue (`future.batchtools`). If a worker ends, or does not
#' answer while all others have finished, this session does its tasks, with a warning of class `multicause_worker_lost`.
#' After package mirai was used, `multicore` and `parallel::mclapply()` fail: use `multisession`. Shards have [workers
#' of their own][shards_fits].
#'
#' **The same result.** Results depend on [set.seed()] alone, for any `n_threads` and any plan, because the seeds of all
#' tasks are drawn first.
#' @param n_start number of starts, from 1 to a million. Ignored where `start` is given or the optimum is unique.
#' @param max_iter largest number of iterations of a start, at least 0.
#' @param tol relative tolerance: a start has converged when two cycles of SQUAREM in a row (without
#'   acceleration: one iteration) gain less than `tol` times the absolute objective; 0 means never.
#' @param accelerate `TRUE` or `FALSE`.
#' @param n_threads threads inside an iteration (OpenMP), at least 1. The result does not depend on it. A forked process
#'   ([parallel::mclapply()], a `multicore` plan) uses one.
#' @param progress show a progress bar for long jobs.
#' @param keep_x keep the data in the fit. With `FALSE`, supply them to functions that need them.
#' @param keep_starts keep the parameters of every finished start, in `fit$start_params`; after an interrupt before any
#'   was finished, those of every start so far.
#' @param init `"mixed"`: all kinds of starts that the model knows; `"free"`: only those that impose no phantom.
#' @param screen iterations of each start before the best are chosen, at least 1. `TRUE` is 100, and 50 where iterations
#'   are Newton's (what that costs the best of 20 starts is measured in `bench/iterations.md` in the sources). `FALSE`
#'   finishes every start.
#' @param n_finish how many starts are finished, at least 1.
#' @param n_polish how often each finished start is polished: a fifth of its parameters is replaced by random numbers
#'   and the iterations are run again, within `max_iter`; kept when better. It frees solutions in which a probability
#'   came so near to 0 that no iteration could raise it again. Not done where `start` is given, nor by
#'   [visits_bernoulli()] with `detection` and a prior that keeps probabilities off 0, as the default one.
#' @param on_interrupt what Ctrl-C does to several starts, or to the fits of [select_k()], [cross_validate()] and
#'   [compare_models()]: `"stop"`, as everywhere in R; `"keep"`: what is finished so far is returned, with a warning of
#'   class `multicause_interrupted`. If no start is finished yet, the best of those that were screened is returned.
#'   While [visits_bernoulli()] fits `detection`, the starts and the last state of this fit are kept. If there is
#'   nothing to keep, it stops.
#' @param algorithm `"auto"`, `"newton"`, `"sparse"` or `"em"`, for [aspect_bernoulli()]; for [plsa()], [nmf()] with
#'   `loss = "kl"` and [visits_bernoulli()] `"em"` omits Newton iterations. With `"auto"` [plsa()] omits them for `k`
#'   above 100.
#' @param cluster for fits to [shards()] and [which_zeros()] of them, `NULL` or the workers that read the shards: names
#'   of compute profiles of package mirai with one daemon each, as `mirai::daemons(1, .compute = "one")` makes them; or
#'   a cluster as [parallel::makeCluster()] makes it. Starts of fits in memory are run by a `future::plan()` instead.
#' @param checkpoint for [which_zeros()], [select_k()], [cross_validate()] and [compare_models()], a file name: what is
#'   finished is kept beside it, and the same call resumes from there. Such a file is R's own and trusted as any `.rds`
#'   is: take none from a stranger. For fits to [shards()], a folder for the memberships and for the state from which a
#'   stopped fit resumes, and for [which_zeros()] of them a folder for what is finished; `NULL` is a temporary folder,
#'   which ends with the session. Workers must see it, and the shards, under the same name.
#' @param patience for compute profiles as `cluster`, seconds without an answer from any of them after which a busy one
#'   counts as lost. Once a job is done, ten times the longest one so far is enough, but no less than a minute.
#' @param ... must be empty: an unknown name is an error.
#' @return A list of class `multicause_control`.
#' @references Tran-Dinh Q, Kyrillidis A, Cevher V (2015). Composite self-concordant minimization. *Journal of Machine
#'   Learning Research* 16, 371-416.
#'
#'   Varadhan R, Roland C (2008). Simple and globally convergent methods for accelerating the convergence
#'   of any EM algorithm. *Scandinavian Journal of Statistics* 35, 335-353. \doi{10.1111/j.1467-9469.2007.00585.x}
#' @examples
#' fit_control(n_start = 30, progress = FALSE)
#' @export
fit_control <- function(n_start = 10, max_iter = 5000, tol = 1e-9, accelerate = TRUE, n_threads = 1,
                        progress = interactive(), keep_x = TRUE, keep_starts = FALSE,
                        init = c("mixed", "free"), screen = TRUE, n_finish = 3,
                        n_polish = 3, on_interrupt = c("stop", "keep"),
                        algorithm = c("auto", "newton", "sparse", "em"), cluster = NULL, checkpoint = NULL,
                        patience = 3600, ...) {
  check_dots(...)
  structure(
    list(
      n_start = check_count(n_start, "n_start", 1L, most_tasks),
      max_iter = check_count(max_iter, "max_iter", 0L),
      tol = check_number(tol, "tol", 0, 1),
      accelerate = check_flag(accelerate, "accelerate"),
      n_threads = check_count(n_threads, "n_threads", 1L, 1024L),
      progress = check_flag(progress, "progress"),
      keep_x = check_flag(keep_x, "keep_x"),
      keep_starts = check_flag(keep_starts, "keep_starts"),
      init = check_choice(init),
      screen = check_screen(screen),
      n_finish = check_count(n_finish, "n_finish"),
      n_polish = check_count(n_polish, "n_polish", 0L, most_tasks),
      on_interrupt = check_choice(on_interrupt),
      algorithm = if (identical(algorithm, line_iterations)) algorithm else check_choice(algorithm),
      cluster = check_cluster(cluster),
      checkpoint = check_file_name(checkpoint, "checkpoint"),
      patience = check_number(patience, "patience", 0, open = TRUE)
    ),
    class = "multicause_control"
  )
}

#' @export
print.multicause_control <- function(x, ...) {
  cat("<multicause_control>\n")
  value <- vapply(unclass(x), function(value) {
    if (is.null(value)) {
      return("NULL")
    }
    if (length(value) == 1L && is.atomic(value)) format(value) else count_words(length(value), "worker")
  }, "")
  cat(sprintf("  %s = %s\n", format(names(x)), value), sep = "")
  invisible(x)
}

# EM of aspect_bernoulli() that visits zeros only in its last iterations (src/aspect_bernoulli/line.h). It is none of
# the documented choices: a few such iterations are an approximation, for fits that which_zeros() averages.
line_iterations <- "line"

# TRUE, FALSE or a number of iterations.
check_screen <- function(screen) {
  if (isTRUE(screen) || isFALSE(screen)) {
    return(screen)
  }
  if (!is.numeric(screen)) {
    stop_input("`screen` must be TRUE, FALSE or a number of iterations, not %s.", show_value(screen))
  }
  check_count(screen, "screen")
}

#' How a sampler is run
#'
#' Settings of models that are sampled, not maximised: [bmf()], and [aspect_bernoulli()], [aspect_categorical()],
#' [noisy_or()], [plsa()] and [visits_bernoulli()] with `estimate = "gibbs"`.
#'
#' @details
#' `moves`, `n_reheat`, `start_sweeps`, `start_features` and `tries` are for [bmf()] alone, and so are the next two
#' paragraphs. Chains of the other models begin at fits of their own, see `n_start`.
#'
#' **Starts decide.** Chains that start from the prior can stay thousands of nats below the bulk of the posterior in any
#' run of practical length. `init = "anneal"` gives every chain `n_start` annealed starts: a finite number of features
#' (one of `start_features` for a side whose number is free) and a likelihood whose power rises to 1 over `start_sweeps`
#' sweeps, in turn from groups of similar rows and of similar columns (power from 0.2, 0.5 or 1, since heat would undo
#' them) and from features drawn at random (from 0.05); the start of the largest log joint density is then heated up and
#' cooled down again `n_reheat` times, and the best state found is where the chain begins. Chains are independent of one
#' another.
#'
#' **More chains or longer ones?** For predictions, more chains: a single chain stays near the mode where it begins, and
#' its predictions are too extreme. On handwritten digits whose bottom halves were held out, eight short chains
#' had a smaller squared error (0.101) than two longer ones (0.105) and four by the defaults (0.113); `bench/bmf.md` in
#' the sources.
#'
#' **Moves.** Every sweep draws all entries, features that only one row or column has, the weights and the parameters of
#' the priors, and recodes (see [bmf()]). `moves` adds:
#' * `"block"`: flips of two features at a time;
#' * `"multi"`: Metropolis proposals of several features of a row;
#' * `"split_merge"`: splits a feature in two or merges two (Gaussian and Bernoulli);
#' * `"collapsed"`: flips with the weights integrated out (Gaussian, complete data, `weight_mean = 0`; slow).
#'
#' **Long runs.** With `checkpoint`, each chain saves itself in a file (`<checkpoint>-<chain>.rds`), at most every
#' `checkpoint_seconds` seconds; the same call resumes there, after a crash, too, with the same result. Delete the files
#' for a new run. A file that was cut off, or of another call, is an error. They are R's own and trusted as any `.rds`
#' is: take none from a stranger. An interrupt keeps the draws made so far.
#'
#' **Until they have converged.** Chains have the length that is set. With `start = fit` each begins where that of `fit`
#' stopped, so a loop over `update()` can end at convergence, see the examples. Each call is judged by its own draws:
#' they have converged with R-hat of at most 1.01 and 400 effective draws (Vehtari and others 2021), nearly converged
#' with R-hat of at most 1.1. Chains that disagree (R-hat above 1.1) raise a warning of class
#' `multicause_chains_disagree`; `suppressWarnings(classes = )` silences it, and `fit$converged` and `summary()` report
#' the same. `progress = FALSE` and `options(multicause.quiet = TRUE)` silence the rest.
#'
#' **The same result.** The same seed gives the same chains for any `n_threads` and any [future::plan()]; the session's
#' generator stays as it was.
#' @param chains number of chains, at least 1; two can disagree, four do so more surely if they have not converged.
#' @param warmup sweeps of a chain before its first draw, at least 0: no result uses them. `fit$warmup` has the columns
#'   of `fit$trace` for every fifth of them, for `plot(fit, "trace")`.
#' @param draws draws of a chain, at least 1.
#' @param thin sweeps from one draw to the next, at least 1; `draws` times `thin` is at most 2147483647.
#' @param n_start,n_reheat annealed starts (at least 1) and reheats (at least 0) of a chain; `NULL`: 8 and 12 for small
#'   data, fewer for large data (down to 2 and 2); for [aspect_bernoulli()] 4 variational fits, for
#'   [aspect_categorical()] 4 posterior modes, for the other models 2.
#' @param n_threads threads (OpenMP) inside a sweep (of [aspect_bernoulli()]: inside a start), at least 1. Chains run
#'   side by side under a [future::plan()].
#' @param progress show a progress bar with the time left.
#' @param init `"anneal"` (for models other than [bmf()]: the fits of `n_start`), or `"prior"`: a draw from the prior,
#'   for comparison.
#' @param start_sweeps sweeps of a start, at least 2.
#' @param start_features numbers of features that starts begin with where the number is free, each at least 1.
#' @param moves character, see Details; `character()` for none.
#' @param tries tries of `"split_merge"` a side and sweep, at least 1.
#' @param keep states a chain keeps at most, evenly spaced, at least 1.
#' @param checkpoint a file name, or `NULL`; see Details.
#' @param checkpoint_seconds least time between two writes, at least 0.
#' @param ... must be empty: an unknown name is an error.
#' @return A list of class `multicause_mcmc_control`.
#' @references Meeds E, Ghahramani Z, Neal R, Roweis S (2007). Modeling dyadic data with binary latent factors.
#'   *Advances in Neural Information Processing Systems* 19, 977-984. \doi{10.7551/mitpress/7503.003.0127}
#'
#'   Vehtari A, Gelman A, Simpson D, Carpenter B, Buerkner P-C (2021). Rank-normalization, folding, and
#'   localization: an improved R-hat. *Bayesian Analysis* 16, 667-718. \doi{10.1214/20-BA1221}
#' @examples
#' chains <- function(warmup, draws) {
#'   mcmc_control(chains = 2, warmup = warmup, draws = draws, progress = FALSE)
#' }
#' set.seed(10)
#' present <- outer(1:40, 1:12, function(i, j) (i <= 20) == (j <= 6))
#' x <- present * rbinom(480, 1, 0.6)
#' dimnames(x) <- list(paste0("site", 1:40), letters[1:12])
#' # A given number of draws, whether or not they suffice.
#' fit <- suppressWarnings(
#'   aspect_bernoulli(x, k = 2, estimate = "gibbs", control = chains(50, 100)),
#'   classes = "multicause_chains_disagree"
#' )
#' fit$converged
#' # Twice as many, from where the chains stopped, until they have converged.
#' while (!fit$converged && nrow(fit$trace) < 1e4) {
#'   fit <- update(fit, start = fit, control = chains(0, nrow(fit$trace)))
#' }
#' fit$converged
#' # Other moves of bmf(): splits and merges of features in place of flips of two.
#' other <- mcmc_control(moves = "split_merge")
#' @export
mcmc_control <- function(chains = 4, warmup = 500, draws = 1000, thin = 1, n_start = NULL, n_threads = 1,
                         progress = interactive(), init = c("anneal", "prior"), n_reheat = NULL, start_sweeps = 100,
                         start_features = c(6, 8, 12, 16), moves = "block", tries = 2, keep = 100, checkpoint = NULL,
                         checkpoint_seconds = 10, ...) {
  check_dots(...)
  draws <- check_count(draws, "draws")
  thin <- check_count(thin, "thin")
  # Sweeps are counted in integers.
  if (as.double(draws) * thin > .Machine$integer.max) {
    stop_input("`draws` times `thin` must be at most %d, not %.0f.", .Machine$integer.max, as.double(draws) * thin)
  }
  warmup <- check_count(warmup, "warmup", 0L)
  tell_endless(warmup + as.double(draws) * thin)
  structure(
    list(
      chains = check_count(chains, "chains", 1L, most_tasks), warmup = warmup, draws = draws, thin = thin,
      n_threads = check_count(n_threads, "n_threads", 1L, 1024L), moves = check_moves(moves),
      init = check_choice(init),
      n_start = if (!is.null(n_start)) check_count(n_start, "n_start", 1L, most_tasks),
      n_reheat = if (!is.null(n_reheat)) check_count(n_reheat, "n_reheat", 0L),
      start_sweeps = check_count(start_sweeps, "start_sweeps", 2L),
      start_features = check_start_features(start_features), tries = check_count(tries, "tries"),
      keep = check_count(keep, "keep"), checkpoint = check_file_name(checkpoint, "checkpoint"),
      checkpoint_seconds = check_number(checkpoint_seconds, "checkpoint_seconds", 0),
      progress = check_flag(progress, "progress")
    ),
    class = "multicause_mcmc_control"
  )
}

most_sweeps <- 1e7 # of a chain; of a table of 40 x 10 they take minutes with the fastest sampler

tell_endless <- function(sweeps) {
  if (sweeps > most_sweeps) {
    inform(
      "A chain has %s, `warmup` + `draws` x `thin`: large tables may take days. `checkpoint` keeps what is done.",
      count_words(sweeps, "sweep")
    )
  }
}

mcmc_moves <- c("block", "multi", "split_merge", "collapsed")

check_moves <- function(moves) {
  if (!is.character(moves) || anyNA(moves) || any(!moves %in% mcmc_moves)) {
    stop_input(
      "`moves` must be some of %s, or character(), not %s.", show_names(mcmc_moves),
      if (is.character(moves)) show_names(moves[!moves %in% mcmc_moves]) else show_value(moves)
    )
  }
  unique(moves)
}

check_start_features <- function(x) {
  if (!is.numeric(x) || !length(x) || anyNA(x) || any(x < 1 | x != floor(x) | x > 10000)) {
    stop_input("`start_features` must be whole numbers from 1 to 10000, not %s.", show_value(x))
  }
  as.integer(x)
}

#' @export
print.multicause_mcmc_control <- function(x, ...) {
  cat("<multicause_mcmc_control>\n")
  cat(sprintf("  %s = %s\n", format(names(x)), vapply(x, function(v) paste(format(v), collapse = ", "), "")), sep = "")
  invisible(x)
}

check_control <- function(control, for_many = FALSE) {
  if (for_many && inherits(control, "multicause_mcmc_control")) {
    stop_input(paste(
      "`control` must come from fit_control(), not mcmc_control(): supply a model that is sampled as a function,",
      "`function(x, k, control)`, that calls it with an mcmc_control() of its own."
    ))
  }
  if (!inherits(control, "multicause_control")) {
    stop_input("`control` must come from fit_control(), not be %s.", show_value(control))
  }
  rebuild_control(control)
}

# Refuses settings that a call does not use: a result that ignores its settings would mislead.
refuse_settings <- function(control, used) {
  usual <- fit_control()
  others <- setdiff(names(usual), used)
  set <- others[!mapply(identical, unclass(control)[others], usual[others])]
  if (length(set)) {
    stop_input(
      "`control` must set only %s for this call, not %s: its fits have settings of their own.",
      paste(sprintf("`%s`", used), collapse = ", "), paste(sprintf("`%s`", set), collapse = ", ")
    )
  }
}

# Rebuilds settings by the function that made them, which checks them again because they may have been edited. The
# result has the number types that kernels read.
rebuild_control <- function(control) {
  of_iterations <- inherits(control, "multicause_control")
  make <- if (of_iterations) fit_control else mcmc_control
  maker <- if (of_iterations) "fit_control()" else "mcmc_control()"
  wanted <- setdiff(names(formals(make)), "...")
  has <- names(control)
  if (!is.list(control) || is.null(has) || anyDuplicated(has) || !all(has %in% wanted)) {
    unknown <- setdiff(has, wanted)
    stop_input(
      "`control` must come from %s and hold its settings, each once%s.", maker,
      if (length(unknown)) sprintf(": it has %s", show_names(unknown)) else ""
    )
  }
  needed <- wanted[!vapply(formals(make)[wanted], is.null, NA)] # those that may be NULL are gone where they were set so
  lost <- setdiff(needed, has)
  if (length(lost)) stop_input("`control` must hold all settings of %s: it lacks %s.", maker, show_names(lost))
  do.call(make, unclass(control), quote = TRUE)
}

# Settings of fits within a larger job, which shows the progress and saves what is finished.
inner_control <- function(control) {
  control$progress <- FALSE
  control$on_interrupt <- "stop"
  control["checkpoint"] <- list(NULL)
  control
}

check_mcmc_control <- function(control) {
  if (inherits(control, "multicause_control")) {
    stop_input(paste(
      "`control` must come from mcmc_control(), not fit_control(): for select_k() and the like, put a sampled model",
      "into a `function(x, k, control)` of your own."
    ))
  }
  if (!inherits(control, "multicause_mcmc_control")) {
    stop_input("`control` must come from mcmc_control(), not be %s.", show_value(control))
  }
  rebuild_control(control)
}

# Checks `cluster` of fit_control().
check_cluster <- function(cluster) {
  if (is.null(cluster)) {
    return(NULL)
  }
  if (inherits(cluster, "cluster") && length(cluster)) {
    return(cluster)
  }
  if (!is.character(cluster) || !length(cluster) || anyNA(cluster) || anyDuplicated(cluster)) {
    stop_input(
      paste(
        "`cluster` must be a cluster of parallel::makeCluster(), or names of compute profiles of package mirai with",
        "one daemon each, not %s."
      ),
      show_value(cluster)
    )
  }
  if (!requireNamespace("mirai", quietly = TRUE)) stop_input("Compute profiles as `cluster` need package mirai.")
  cluster
}

# R lets unreachable matrices accumulate up to half of the memory in use: those of large tables are freed at once.
free_memory <- function(x) if (length(x) > most_kept) invisible(gc())

most_kept <- 5e6 # cells up to which the learners' scores are kept for explain()

# Returns the settings of iterations or, for a sampler, of chains; NULL is the default of either.
control_by_estimate <- function(control, estimate) {
  if (estimate == "gibbs") {
    check_mcmc_control(control %||% mcmc_control())
  } else {
    check_control(control %||% fit_control())
  }
}
