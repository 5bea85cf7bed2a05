# Cross-validation of models: predictions of held-out cells and rows, losses, folds and settings.

# Computes the log-likelihood of every new row in nats. Each observed cell has a probability of at least `floor` (a
# mean, of counts).
held_out_rows <- function(fit, data, floor, family, ...) UseMethod("held_out_rows")

held_out_rows.default <- function(fit, data, floor, family, ..., training = NULL) {
  check_dots(...)
  if (family == "squared") {
    stop_no_likelihood("Rows of numbers that are not counts have no likelihood here: hold out cells of `x`.")
  }
  trained <- trained_rows(fit, training)
  if (family == "multinomial") {
    refuse_missing_shares(data)
    trained <- trained[rowSums(fitted(fit))[trained] > 0]
  }
  mixture_loglik(data$view, row_cells(fit, family), rep(-log(length(trained)), length(trained)), floor, trained)
}

# Shares sum to 1 over all columns, so an unknown cell cannot be left out.
refuse_missing_shares <- function(data) {
  missing <- which(data$margins$row_observed < ncol(data$x))
  if (length(missing)) {
    stop_input(
      "`newdata` must have no missing cells where `family = \"multinomial\"`: shares are of whole rows. Missing in %s.",
      paste(vapply(utils::head(missing, 5L), function(at) place_words(data$x, 1L, at), ""), collapse = ", ")
    )
  }
}

# Default family of a fit's cells, see held_out_rows().
row_family <- function(fit) UseMethod("row_family")

row_family.default <- function(fit) "bernoulli"

row_kind <- function(fit, family) {
  kind <- data_kind(fit)
  if (family == "bernoulli") "binary" else if (is.null(kind)) "nonnegative" else kind
}

# Checks new rows whose likelihood is wanted, as check_data() does.
new_row_data <- function(fit, newdata, family) UseMethod("new_row_data")

new_row_data.default <- function(fit, newdata, family) check_newdata(fit, newdata, row_kind(fit, family))

# Returns the numbers of the training rows that serve as components: those with something observed.
trained_rows <- function(fit, training) {
  n <- fit$dims[["n"]]
  if (!is.null(training)) {
    return(unique(pick(training, n, fit$names[[1L]], "training")))
  }
  if (!is.null(fit$margins)) {
    return(which(fit$margins$row_observed > 0))
  }
  if (is.null(fit$x)) {
    stop_input("This fit was made with `keep_x = FALSE`: name by `training` the rows that had something observed.")
  }
  which(rowSums(!is.na(dense_rows(fit_data(fit), seq_len(n)))) > 0)
}

# Computes the loss of held-out cells, in nats (or squared units). "bernoulli" is for tables of 0 and 1, with
# probabilities kept within [floor, 1 - floor]; "poisson" for whole numbers, means at least `floor`; "squared" for the
# rest. The attribute `clipped` counts the cells below `floor`. `loss`: of check_loss(), which replaces these.
cell_loss <- function(fit, cells, value, family, floor, loss = NULL) UseMethod("cell_loss")

cell_loss.default <- function(fit, cells, value, family, floor, loss = NULL) {
  said <- if (family == "bernoulli") recorded_probability(fit)[cells] else fitted(fit)[cells]
  if (!is.null(loss)) {
    return(structure(own_loss(loss, value, said), clipped = 0L))
  }
  clipped <- switch(family, bernoulli = said < floor | said > 1 - floor, poisson = said < floor, FALSE)
  structure(loss_of_mean(said, said, value, family, floor), clipped = sum(clipped))
}

# Losses of held-out cells by name: `x` holds their values, `p` the predicted probabilities or means.
named_losses <- list(squared = function(x, p) (x - p)^2, absolute = function(x, p) abs(x - p))

# Checks the argument `loss` of the verbs: NULL, or list(f, words), a function of values and predictions and its name.
check_loss <- function(loss, expression) {
  if (is.null(loss)) {
    return(NULL)
  }
  if (is.function(loss)) {
    if (length(formals(args(loss))) < 2L) {
      stop_input("`loss` must take two arguments, the values of held-out cells and their predicted probabilities.")
    }
    label <- if (is.symbol(expression)) as.character(expression) else "loss(x, p)"
    return(list(f = loss, words = sprintf("mean of `%s`", label)))
  }
  if (!is.character(loss) || length(loss) != 1L || !loss %in% names(named_losses)) {
    stop_input(
      paste(
        "`loss` must be NULL, %s or a function of held-out values and their predicted probabilities, not %s.",
        "An argument `loss` of a model itself goes into a function, as in `function(x, k) nmf(x, k, loss = \"kl\")`."
      ),
      paste(dQuote(names(named_losses), FALSE), collapse = ", "), show_value(loss)
    )
  }
  words <- sprintf("mean %s error of a held-out cell", loss)
  list(f = named_losses[[loss]], words = words)
}

# A user's function returns one number for the fold, or one for each of its cells.
own_loss <- function(loss, value, said) {
  said <- as.vector(said)
  found <- catch_error(loss$f(value, said), function(e) stop_input("`loss(x, p)` failed: %s", conditionMessage(e)))
  if (!is_plain_number(found) || !length(found) %in% c(1L, length(value)) || anyNA(found)) {
    stop_input(
      "`loss(x, p)` must return one number, or one for each of the %s, and no NA, not %s.",
      count_words(length(value), "held-out cell"), show_value(found)
    )
  }
  as.vector(found)
}

# Loss for planted omissions: 1 - AUC, with the other measures in its attribute `found`.
omission_loss <- function(fit, x, omitted) {
  truth <- matrix(FALSE, nrow(x), ncol(x))
  truth[omitted] <- TRUE
  truth[is.na(as.matrix(x)) | as.matrix(x) == 1] <- NA
  found <- ranked_measures(unname(as.matrix(fitted(fit))), truth)
  structure(1 - found$auc, found = unlist(found))
}

omission_measures <- c("auc", "auc_within", "ap")

# Returns what can be held out: list(x, family, observed), the last a logical matrix with a row per observation. From
# arrays and tables of repeated visits, only cells can be held out.
fold_data <- function(x) {
  if (is_category_table(x)) {
    data <- check_categories(x, quiet = TRUE)
    return(list(x = data$x, family = "categorical", observed = matrix(!is.na(data$x), nrow(data$x))))
  }
  if (is_table(x)) {
    data <- check_data(x, "nonnegative", quiet = TRUE)
    check_blank_cells(data)
    refuse_large(prod(dim(data$x)) / 2, "What is held out", "take fewer rows or columns")
    return(list(x = data$x, family = loss_family(data$view), observed = !is.na(as.matrix(data$x))))
  }
  if (is.list(x) || isS4(x) || (says_visits(x) && all(x %in% c(0, 1, NA)))) x <- check_visits(x)
  flat <- check_data(matrix(x, nrow(x)), "nonnegative", quiet = TRUE)
  list(x = x, family = loss_family(flat$view), observed = !is.na(as.matrix(flat$x)))
}

# Reports unknown cells once for many fits, which are silent.
tell_unknown_to_judge <- function(x) {
  if (is_table(x) && !in_pieces(x) && !is_category_table(x)) {
    tell_unknown_values(if (inherits(x, "dgCMatrix")) x@x else as.vector(x), dim(x), 0, "x")
  }
}

# Stops if rows or omissions of an array are requested.
check_table_scheme <- function(x, scheme) {
  if (!any(c("rows", "omissions") %in% scheme)) {
    return(invisible())
  }
  refuse_shards(x, "x")
  if (!is_table(x)) {
    stop_input(
      "%s a table only: of arrays hold out cells, of repeated visits those or whole visits.",
      if ("rows" %in% scheme) "Rows can be held out of" else "Omissions can be planted in"
    )
  }
}

# Draws presences to omit, as corrupt(x, omit = c(0, 0.4)) does, for as many tables as there are folds.
omission_folds <- function(x, folds) {
  lapply(seq_len(folds), function(fold) {
    omitted <- which(corrupt(x, omit = omission_rates)$omitted)
    if (!length(omitted)) stop_input("`x` has too few presences for planted omissions.")
    omitted
  })
}

omission_rates <- c(0, 0.4)

# Returns the same for whole visits; `observed` marks the visits made, n x visits.
visit_fold_data <- function(x) {
  if (is_table(x)) stop_input("`x` must be repeated visits where visits are held out, not a table: hold out cells.")
  cell <- check_visits(x)
  list(x = cell, family = "bernoulli", observed = visits_made(cell))
}

# Stops unless the fit predicts unseen visits.
check_tells_visits <- function(fit) UseMethod("check_tells_visits")

check_tells_visits.default <- function(fit) {
  stop_input(
    "Visits can be held out of fits of visits_bernoulli() and visits_occupancy() only, not of %s().", model_name(fit)
  )
}

# Assigns rows to folds, except rows with nothing observed.
row_folds <- function(observed, folds) {
  rows <- which(rowSums(observed) > 0)
  rows <- rows[sample.int(length(rows))]
  unname(lapply(split(rows, rep_len(seq_len(folds), length(rows))), sort))
}

# Runs `expr` without messages of the fit: list(value, converged). `refusal`: of own_empty_rows(), if rows were empty
# before a fold held cells out.
quiet_fit <- function(expr, refusal = NULL) {
  converged <- TRUE
  value <- withCallingHandlers(
    expr,
    multicause_message = function(m) invokeRestart("muffleMessage"),
    multicause_listening = function(e) invokeRestart("hidden_by_us"),
    multicause_no_zero = function(e) invokeRestart("hidden_by_us"),
    multicause_empty_rows = function(e) if (is.null(refusal)) invokeRestart("hidden_by_us") else stop(refusal),
    multicause_not_converged = function(w) {
      converged <<- FALSE
      invokeRestart("muffleWarning")
    }
  )
  list(value = value, converged = converged)
}

# Runs one fold of one setting and returns the loss of each held-out unit.
#   setting  list(name, model, k, args): a function and its name, the number of components, further arguments
#   held     indices of cells, or of rows
#   refusal  of own_empty_rows()
#   own      of check_loss()
hold_out <- function(x, setting, scheme, held, family, floor, control, refusal = NULL, own = NULL) {
  train <- switch(scheme,
    rows = x[-held, , drop = FALSE], omissions = replace_cells(x, held, 0), replace_cells(x, held)
  )
  fit <- quiet_fit(call_model(setting, train, control, if (scheme != "omissions") family), refusal)
  if (scheme == "visits") check_tells_visits(fit$value)
  loss <- switch(scheme,
    rows = row_losses(fit$value, x[held, , drop = FALSE], family, floor),
    omissions = omission_loss(fit$value, train, held),
    cell_loss(fit$value, held, cells_of(x, held), family, floor, own)
  )
  out <- c(
    loss = mean(loss), n = length(held), converged = fit$converged, components = fit$value$dims[["k"]],
    spread = if (length(loss) > 1L) stats::sd(loss) else NA, clipped = attr(loss, "clipped"), attr(loss, "found")
  )
  structure(out, why = attr(loss, "why"))
}

# Computes minus the log-likelihood of rows; NA, with its attribute `why`, if the model has none.
row_losses <- function(fit, x, family, floor) {
  tryCatch(
    -as.vector(held_out_rows(fit, new_row_data(fit, x, family), floor, family)),
    multicause_no_likelihood = function(e) structure(NA_real_, why = conditionMessage(e))
  )
}

# The fit's call names the data and the model instead of holding them, so that update() and print() can use it. With
# `family`, a model from outside this package must return probabilities or means of that family.
call_model <- function(setting, x, control, family = NULL) {
  given <- list(k = setting$k, control = quote(control))
  given <- given[vapply(names(given), function(name) takes(setting$model, name), NA)]
  fit <- withCallingHandlers(
    do.call(setting$model, c(list(quote(x)), given, setting$args)),
    error = function(e) if (is_of_user(setting$model, e)) stop(model_failure(e, setting$name))
  )
  if (!inherits(fit, "multicause")) {
    return(user_model(fit, x, setting, family))
  }
  check_fit(fit, name = "model(x, k)")
  if (is.function(fit$call[[1L]])) fit$call[[1L]] <- as.name(model_name(fit))
  fit
}

# Recognises an error in a user's function that does not use this package, which settle_failures() words.
is_of_user <- function(model, e) {
  !identical(environment(model), topenv()) && !any(startsWith(class(e), "multicause_"))
}
model_failure <- function(e, name) {
  errorCondition(conditionMessage(e), class = "multicause_model_failed", call = conditionCall(e), model = name)
}

# Tests whether a function has an argument of that name; `...` of models here must be empty.
takes <- function(f, name) {
  known <- names(formals(args(f)))
  name %in% known || ("..." %in% known && !identical(environment(f), topenv()))
}

# Fits and measures: list(fit, seconds, megabytes).
timed_fit <- function(task, common, tick) {
  before <- sum(gc(reset = TRUE)[, 2L])
  seconds <- system.time(fit <- fit_setting(task, common))[["elapsed"]]
  list(fit = fit, seconds = seconds, megabytes = sum(gc()[, 6L]) - before)
}

fit_setting <- function(task, common, tick) {
  setting <- common$settings[[task$setting]]
  put_back <- begin_seed(task$seed)
  on.exit(put_back())
  quiet_fit(call_model(setting, common$x, common$control), common$refusal)$value
}

held_out_words <- c(
  cells = "loss per held-out cell", rows = "loss per held-out row", visits = "loss per record of a held-out visit",
  omissions = "1 - AUC of planted omissions"
)

criterion_words <- c(
  aic = "AIC", aic_paper = "the paper's -L + P", bic = "BIC (sites)", held_out_words
)

run_fold <- function(task, common, tick) {
  plan <- common$plan
  held <- plan$held[[task$replicate]][[task$fold]]
  setting <- common$settings[[task$setting]]
  with_seed(task$seed, hold_out(
    plan$x, setting, plan$scheme, held, plan$family, common$floor, common$control, common$refusal, plan$loss
  ))
}

setting_name <- function(setting) sprintf("%s, k = %d", paste(c(setting$name, setting$grid), collapse = " "), setting$k)

# Wraps the result of a model from outside this package as a fit: probabilities or means of all cells.
#   family  "bernoulli" requires probabilities; others, or NULL, allow any numbers
user_model <- function(value, x, setting, family) {
  name <- sprintf("%s(x)", setting$name)
  if (is.data.frame(value) || inherits(value, "Matrix")) value <- as.matrix(value)
  if (!is.numeric(value) || !identical(dim(value), dim(x))) {
    stop_input(
      "`%s` must be a fit of this package or a matrix of %s, a number for each cell of `x`, not %s.", name,
      paste(dim(x), collapse = " x "), show_value(value)
    )
  }
  value <- by_names(value, dimnames_of(x), name)
  refuse_values(value, !is.finite(value), x, name, "have a number for every cell")
  if (identical(family, "bernoulli")) {
    wish <- "hold probabilities within 0 and 1, as pmin(pmax(p, 0), 1) makes them"
    refuse_values(value, value < -1e-8 | value > 1 + 1e-8, x, name, wish)
  }
  new_multicause(
    param = list(), objective = c(own_criterion = NA_real_), loglik = NA_real_, df = NA_real_,
    dims = c(n = nrow(x), m = ncol(x), k = setting$k, observed = NA),
    trace = data.frame(iteration = 0L, objective = NA_real_), starts = data.frame(start = 1L), converged = NA,
    control = NULL, call = NULL, x = x, names = dimnames_of(x), value = value, setting = setting, class = "user_model"
  )
}

refuse_values <- function(value, bad, x, name, wish) {
  bad <- which(bad)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    where <- if (length(at) == 2L) paste0(place_words(x, 1L, at[1L]), ", ", place_words(x, 2L, at[2L])) else
      sprintf("cell [%s]", paste(at, collapse = ", "))
    stop_input("`%s` must %s: %s has %s.", name, wish, where, format(value[bad[1L]], digits = 4L))
  }
}

# Returns all combinations of the grid's values as a list of named argument lists; one without arguments for NULL.
check_grid <- function(grid) {
  if (is.null(grid)) {
    return(NULL)
  }
  if (!is_named(grid) || (is.object(grid) && !is.data.frame(grid)) || any(lengths(grid) == 0L)) {
    stop_input("`grid` must be a data frame or a list of vectors with a name each, not %s.", show_value(grid))
  }
  size <- if (is.data.frame(grid)) nrow(grid) else prod(lengths(grid))
  if (size > most_settings) {
    stop_input("`grid` must make at most %.0f settings, not %s: use fewer values.", most_settings, format(size))
  }
  grid[] <- lapply(grid, function(values) if (is.factor(values)) as.character(values) else values)
  if (is.data.frame(grid)) {
    return(lapply(seq_len(nrow(grid)), function(i) lapply(grid, function(column) column[[i]])))
  }
  index <- expand.grid(lapply(grid, seq_along))
  lapply(seq_len(nrow(index)), function(i) {
    # A value with a name is printed by it.
    labels <- Map(function(values, at) if (nzchar(names(values)[at] %||% "")) names(values)[at], grid, index[i, ])
    structure(Map(function(values, at) values[[at]], grid, index[i, ]), labels = labels)
  })
}

# More settings are made by mistake, as from a long vector meant as one value.
most_settings <- 1e4

make_settings <- function(models, k, args, grid) {
  twice <- intersect(names(args), names(grid[[1L]]))
  if (length(twice)) {
    stop_input("Arguments must be supplied once, by name or in `grid`, not both: %s.", show_names(twice))
  }
  taken <- intersect(c("x", "k", "control"), c(names(args), names(grid[[1L]])))
  if (length(taken)) {
    stop_input("`grid` and `...` must hold further arguments of the models, not %s.", show_names(taken))
  }
  at_grid <- seq_len(max(1L, length(grid)))
  combinations <- expand.grid(grid = at_grid, k = k, model = names(models), stringsAsFactors = FALSE)
  # A model without an argument `k` is fitted once.
  combinations$k[!vapply(models, takes, NA, name = "k")[combinations$model]] <- 0L
  combinations <- unique(combinations)
  lapply(seq_len(nrow(combinations)), function(i) {
    at <- combinations[i, ]
    list(
      name = at$model, model = models[[at$model]], k = at$k, args = c(args, grid[[at$grid]]),
      grid = grid_words(grid[[at$grid]])
    )
  })
}

# Returns the values of a row of the grid in words, by name.
grid_words <- function(setting) {
  show <- function(x) paste(format(unlist(x), digits = 4L, trim = TRUE, drop0trailing = TRUE), collapse = ", ")
  vapply(names(setting), function(name) attr(setting, "labels")[[name]] %||% show(setting[[name]]), "")
}

# Stops where a fold has nothing to hold out: each row and column keeps an observed cell.
check_held <- function(held) {
  if (any(lengths(held) == 0L)) {
    stop_input("`x` has too few cells that can be held out for %s: each row and column keeps an observed one.",
      count_words(length(held), "fold"))
  }
}

# Plans the folds: the data, and for every replicate and fold the held-out cells or rows. `loss`: of check_loss().
fold_plan <- function(x, scheme, folds, replicates, loss = NULL) {
  folds <- check_count(folds, "folds", 2L)
  replicates <- check_count(replicates, "replicates", 1L, most_tasks)
  check_table_scheme(x, scheme)
  data <- if (scheme == "visits") visit_fold_data(x) else fold_data(x)
  if (scheme == "omissions" && data$family != "bernoulli") {
    stop_input("Omissions can be planted in tables of 0 and 1 only: hold out cells of `x`.")
  }
  observed <- data$observed
  units <- if (scheme == "rows") sum(rowSums(observed) > 0) else sum(observed)
  if (folds > units) stop_input("`folds` must be at most the number of observed %s, %d, not %d.", scheme, units, folds)
  refuse_large(replicates * as.double(units) / 2, "What is held out", "use fewer `replicates`")
  draw <- switch(scheme,
    cells = cell_folds, rows = row_folds, visits = function(observed, folds) visit_folds(data$x, folds),
    omissions = function(observed, folds) omission_folds(data$x, folds)
  )
  held <- lapply(draw_seeds(replicates), function(seed) with_seed(seed, draw(observed, folds)))
  check_held(unlist(held, FALSE))
  list(
    x = data$x, scheme = scheme, family = data$family, folds = folds, replicates = replicates, held = held, loss = loss
  )
}

# Runs all folds of all settings as independent tasks, one row each of a data frame. `refuses`: own_empty_rows() if a
# setting may be a model that refuses rows without counts.
run_folds <- function(plan, settings, floor, control, store = NULL, refuses = NULL) {
  tasks <- expand.grid(fold = seq_len(plan$folds), replicate = seq_len(plan$replicates), setting = seq_along(settings))
  # Draws one seed of the session, and from it one per fold: neither later folds nor the fits of a model depend on the
  # models compared, and the same model twice has the same numbers.
  tasks$seed <- with_seed(draw_seeds(1L), draw_seeds(plan$folds * plan$replicates))
  common <- list(
    plan = plan, settings = settings, floor = floor, control = judging_control(control),
    refusal = if (!is.null(refuses)) refuses(plan$x, settings)
  )
  name <- function(i) {
    sprintf("%s, replicate %d, fold %d", setting_name(settings[[tasks$setting[i]]]), tasks$replicate[i], tasks$fold[i])
  }
  each <- split(tasks, seq_len(nrow(tasks)))
  running <- task_running(control, checkpoint_store(store, plan$scheme))
  done <- map_tasks(each, run_fold, common, "Folds", name, running)
  tell_interrupted(need_some(done), "folds")
  ok <- is_done(done)
  out <- data.frame(tasks[ok, c("setting", "replicate", "fold")], do.call(rbind, done[ok]), row.names = NULL)
  if (was_interrupted(done)) attr(out, "interrupted") <- TRUE
  attr(out, "why") <- unique(unlist(lapply(done[ok], attr, "why")))
  failed <- attr(done, "failed")
  if (!is.null(failed)) {
    model <- vapply(settings[tasks$setting[failed$task]], function(setting) setting$name, "")
    attr(out, "failed") <- data.frame(
      model, tasks[failed$task, c("setting", "replicate", "fold")], message = failed$message, row.names = NULL
    )
  }
  out
}

# Settings for fits that are only evaluated: their data must be kept.
judging_control <- function(control) {
  if (inherits(control, "multicause_mcmc_control")) { # chains have no starts to keep
    control$progress <- FALSE
    return(control)
  }
  control <- inner_control(control)
  control$keep_x <- TRUE
  control$keep_starts <- FALSE
  control
}

new_cv <- function(folds, settings, plan, floor) {
  each <- split(folds, factor(folds$setting, seq_along(settings)))
  results <- data.frame(model = vapply(settings, function(s) s$name, ""), k = vapply(settings, function(s) s$k, 0L))
  for (name in names(settings[[1L]]$grid)) {
    # An argument may share its name with a column, such as nmf()'s `loss`.
    column <- if (name %in% c("model", "k", "loss", "se", "not_converged")) paste0("arg_", name) else name
    results[[column]] <- vapply(settings, function(s) s$grid[[name]], "", USE.NAMES = FALSE)
  }
  # Settings without a finished fold have no loss.
  results$loss <- vapply(each, function(f) if (nrow(f)) mean(f$loss) else NA_real_, 0)
  results$se <- vapply(each, function(f) stats::sd(f$loss) / sqrt(nrow(f)), 0)
  for (name in intersect(omission_measures, names(folds))) {
    results[[name]] <- vapply(each, function(f) if (nrow(f)) mean(f[[name]]) else NA_real_, 0)
  }
  results$not_converged <- vapply(each, function(f) sum(!f$converged), 0L)
  structure(
    list(
      results = results, folds = folds, criterion = plan$scheme, family = plan$family, loss = plan$loss$words,
      floor = floor, n_folds = plan$folds, replicates = plan$replicates, no_likelihood = attr(folds, "why"),
      failed = attr(folds, "failed")
    ),
    class = c("multicause_cv", "multicause_result")
  )
}

# Cross-validates checked settings; `folds` and `replicates` are checked with the data.
validate_settings <- function(x, settings, scheme, folds, replicates, floor, control, refuses = NULL, loss = NULL) {
  parts <- list("cross_validate", x, settings, scheme, folds, replicates, floor, settings_that_count(control), loss)
  with_checkpoint(check_checkpoint(control$checkpoint), parts, function(store) {
    plan <- fold_plan(x, scheme, folds, replicates, loss)
    done <- run_folds(plan, settings, floor, control, store, refuses)
    out <- new_cv(done, settings, plan, floor)
    if (length(out$no_likelihood) && all(is.na(out$folds$loss))) stop_input("%s", out$no_likelihood[1L])
    out
  })
}
