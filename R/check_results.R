# Rules for what verbs return and what settings are made of, as check_whole() takes them; fits have theirs in
# check_whole.R. Of results that are data frames nothing is asked but that they are that: users sort, filter and rename
# them, and their print methods go by the columns that are left.

result_rules <- function(x) UseMethod("result_rules")

#' @export
result_rules.default <- function(x) {
  switch(class(x)[1L],
    age_profile = age_profile_rules(), alignment = alignment_rules(), corruption = corruption_rules(x),
    denoised = denoised_rules(x), divergences = divergence_rules(x), identifiability = identifiability_rules(),
    modes = modes_rules(), multicause_cv = cv_rules(), multicause_selection = selection_rules(),
    multicause_comparison = comparison_rules(), phantom_test = phantom_test_rules(), recovery = recovery_rules(),
    summary.identifiability = list(object = identifiability_rules()), summary.multicause = summary_rules(),
    smooth_over = rule_smooth(if (is.list(x) && is.null(rule_count(1)(x$n))) x$n else 0L),
    multicause_control = rule_control("multicause_control"),
    multicause_mcmc_control = rule_control("multicause_mcmc_control"),
    cross_entropy = entropy_rules(),
    phantoms = , deficiency = , false_absences = , false_presences = , which_zeros_sums = , which_zeros_contrast = ,
    visit_richness = , visits_needed = , predictive_check = ,
    noisy_or_sources = rule_frame()
  )
}

rule_rebuilt <- function(make, maker) {
  function(x) {
    wrong <- tryCatch(
      {
        rebuild(x, make, maker, "x")
        NULL
      },
      multicause_input_error = conditionMessage
    )
    if (!is.null(wrong)) sprintf("a whole result of %s (%s)", maker, sub("[.]$", "", wrong))
  }
}

# Matrices of numbers of any shape, each of the shape of the first where there are several.
rule_table <- function(shape = NULL, logical = FALSE) {
  function(x) {
    ok <- (if (logical) is.logical(x) else is_plain(x)) && length(dim(x)) == 2L &&
      (is.null(shape) || identical(dim(x), shape))
    if (!ok) if (is.null(shape)) "a matrix" else sprintf("a matrix of %s", show_size(shape))
  }
}

rule_ages <- function(x) {
  if (!is_plain(x) || !any(is.finite(x)) || any(is.infinite(x))) "finite numbers, some of them known"
}

age_profile_rules <- function() {
  numbers <- c("lower", "q1", "median", "q3", "upper", "mean", "n_effective")
  list(
    aspects = rule_frame(component = "text", stats::setNames(rep("number", length(numbers)), numbers)),
    tests = rule_frame(
      first = "text", second = "text", difference = "number", statistic = "number", p_value = "number",
      p_adjusted = "number"
    ),
    age = rule_ages, weights = rule_table(), kind_of_age = rule_text(1L), k = rule_count(1)
  )
}

alignment_rules <- function() {
  list(
    fit = rule_class("multicause", "align_components()"), permutation = rule_numbers(NULL, 1),
    match = rule_frame(reference = "label", component = "label", distance = "number")
  )
}

corruption_rules <- function(x) {
  shape <- if (is.list(x)) dim(x$x)
  flags <- rule_table(shape, logical = TRUE)
  list(
    x = rule_table(), original = rule_table(shape), omitted = flags, added = flags,
    rates = rule_frame(omit = "number", add = "number")
  )
}

denoised_rules <- function(x) {
  counts <- rule_numbers(NULL, 0, named = c("zeros", "ones", "filled", "lost", "unknown", "unknown_filled"))
  list(
    x = rule_table(), probability = rule_table(if (is.list(x)) dim(x$x)),
    counts = function(x) {
      wish <- counts(x)
      if (is.null(wish) && any(x != floor(x))) "whole numbers" else wish
    },
    dropped = rule_text(), all_phantom = rule_labels, keep = rule_choice(c("union", "replace"))
  )
}

divergence_rules <- function(x) {
  function(x) {
    tables <- unclass(x)
    ok <- is.list(tables) && length(tables) && is_plain(attr(x, "at")) && length(attr(x, "at")) == length(tables) &&
      all(vapply(tables, function(d) is.null(rule_table()(d)), NA))
    if (!ok) "a list of matrices"
  }
}

identifiability_rules <- function() {
  bounds <- c(phantom = "text", bound = "text", least = "number", most = "number")
  list(
    share = rule_frame(bounds, loglik_least = "number", loglik_most = "number", rows = 1L),
    expected = rule_frame(bounds, rows = 1L), sites = rule_frame(site = "label", share = "number"),
    taxa = rule_frame(taxon = "label"),
    unlike = or_null(rule_frame(phantom = "text", missed_by = "text", most = "number", n_cells = "number")),
    components = or_null(rule_frame(component = "text")),
    sampling = or_null(rule_frame(phantom = "text", bound = "text", least = "number", most = "number")),
    phantom = rule_choice(c("white", "black", "both")), has_phantom = rule_flag(), change = rule_numbers(1L),
    narrow = rule_numbers(1L, 0, 1), decided = rule_flag(), level = rule_numbers(1L, 0, 1), n_draws = rule_count(),
    n_search = rule_count(), effort = rule_flag(), smooth = rule_flag(), dims = rule_dims(fit_dims.default()),
    n_cells = rule_numbers(NULL, 0)
  )
}

modes_rules <- function() {
  numbers <- c("mode", "starts", "objective", "behind", "distance")
  list(
    modes = rule_frame(stats::setNames(rep("number", length(numbers)), numbers), rows = 1L),
    starts = rule_frame(start = "number", mode = "number"), distances = rule_table(), fits = rule_list(
      rule_class("multicause", "modes()")
    ), tolerance = rule_numbers(1L, 0), objective = rule_text(1L)
  )
}

cv_rules <- function() {
  list(
    results = rule_frame(model = "text", k = "count", loss = "number", se = "number", not_converged = "count"),
    folds = rule_frame(setting = "number", replicate = "number", fold = "number", loss = "number"),
    scheme = rule_choice(c("cells", "rows", "visits")), family = rule_choice(c("bernoulli", "poisson", "squared")),
    floor = rule_numbers(1L, 0),
    n_folds = rule_count(1), replicates = rule_count(1), no_likelihood = or_null(rule_text())
  )
}

selection_rules <- function() {
  known <- function(rule) {
    function(x) {
      wish <- rule(x)
      if (is.null(wish) && !all(x$criterion %in% names(criterion_words))) wish <- "a table of criteria of select_k()"
      wish
    }
  }
  list(
    table = known(
      rule_frame(criterion = "text", k = "count", value = "number", se = "number", not_converged = "count")
    ),
    best = known(rule_frame(criterion = "text", k = "count", k_one_se = "count")), k = or_null(rule_value()),
    model = rule_text(1L), n_folds = rule_count(1), replicates = rule_count(1), floor = rule_numbers(1L, 0)
  )
}

comparison_rules <- function() {
  numbers <- c("cells", "cells_se", "behind", "behind_se", "rows", "rows_se", "seconds", "megabytes")
  list(
    table = rule_frame(
      model = "text", k = "count", converged = "flag", stats::setNames(rep("number", length(numbers)), numbers)
    ),
    cells = cv_rules(), rows = or_null(cv_rules())
  )
}

phantom_test_rules <- function() {
  list(
    statistic = rule_numbers(1L), p_value = rule_numbers(1L, 0, 1), null = rule_numbers(NULL),
    share = rule_numbers(1L, 0, 1), k = rule_count(1), nsim = rule_count(1)
  )
}

recovery_rules <- function() {
  numbers <- c(
    "auc", "auc_within", "auc_within_se", "ap", "ap_within", "slope", "intercept", "removal",
    "fp", "fn", "lost"
  )
  list(
    summary = rule_frame(
      candidates = "count", changed = "count", stats::setNames(rep("number", length(numbers)), numbers), rows = 1L
    ),
    precision = rule_frame(n = "count", precision = "number"),
    roc = rule_frame(false_positive = "number", true_positive = "number"),
    pr = rule_frame(recall = "number", precision = "number"),
    calibration = rule_frame(score = "number", share = "number", cells = "number"),
    by_site = rule_frame(site = "label", candidates = "number", changed = "number"),
    of = rule_choice(c("omissions", "additions"))
  )
}

summary_rules <- function() {
  list(
    title = rule_text(), criteria = rule_numbers(NULL, na = TRUE, named = c("loglik", "df", "AIC", "BIC")),
    no_criteria = or_null(rule_text(1L)), criteria_note = or_null(rule_text(1L)),
    starts = rule_frame(init = "text", starts = "count"), n_missing = rule_count()
  )
}

rule_quantities <- function() {
  numbers <- c("mean", "sd", "q5", "q95", "rhat", "ess_bulk", "ess_tail")
  rule_frame(quantity = "text", stats::setNames(rep("number", length(numbers)), numbers))
}

entropy_rules <- function() {
  list(
    groups = or_null(function(x) if (!is.atomic(x)) "NULL or a vector"), between = rule_numbers(1L),
    within = rule_numbers(1L), dims = or_null(function(x) if (!is.atomic(x)) "NULL or dimensions"),
    weights = or_null(function(x) if (!is.list(x)) "NULL or a list of matrices"),
    method = rule_choice(c("js", "paper", "mm")), floor = rule_numbers(1L, 0, 1),
    anneal = function(x) if (!length(x)) "multipliers" else rule_numbers(NULL, 0)(x)
  )
}
