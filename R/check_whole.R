# One validator at the door of every verb and method: a fit, a result or a setting that was edited after it was made, or
# is damaged, is refused with one message that names the first part that is not as it was made. Rules say what each part
# must be; they look at shapes, kinds and ranges, at a cost of a few passes over the parameters.

# A rule is a function of a value: NULL where it holds, else what the value must be. A list of rules is for a list with
# these elements, which may have others beside them.

check_whole <- function(x, name) {
  if (missing(x)) stop_missing(name)
  if (inherits(x, "multicause")) {
    return(check_fit(x, name = name))
  }
  check_rules(x, result_rules(x), name, name)
  x
}

check_fit <- function(fit, class = "multicause", name = "fit") {
  check_fit_class(fit, class, name)
  # The other rules read these.
  first <- list(dims = rule_dims(fit_dims(fit)), param = or_null(list()), model = or_null(list()))
  check_rules(fit, first, name, name)
  check_rules(fit, fit_rules(fit), name, name)
  fit
}

# Whether an argument is a fit of these models at all.
check_fit_class <- function(fit, class = "multicause", name = "fit") {
  if (missing(fit)) stop_missing(name)
  if (!inherits(fit, class)) {
    models <- sprintf("a fit of %s", show_either(paste0(class, "()")))
    what <- if (class[1L] == "multicause") "a model of this package" else models
    stop_input("`%s` must be %s, not %s.", name, what, show_value(fit))
  }
  if (is.na(model_name(fit)) && !inherits(fit, "multicause_ensemble")) {
    stop_input("`%s` must be a fit of a model of this package, not %s.", name, show_value(fit))
  }
}

# The first part that breaks its rule is an error. `whole`: the argument that holds it, `at`: its place there.
check_rules <- function(x, rules, whole, at) {
  if (is.null(rules)) {
    return(invisible())
  }
  if (is.function(rules)) {
    wish <- rules(x)
    if (!is.null(wish)) stop_damaged(whole, at, wish)
    return(invisible())
  }
  if (!is.list(x)) stop_damaged(whole, at, "a list")
  values <- unclass(x)
  for (i in seq_along(rules)) { # a part may have two sets of rules
    part <- names(rules)[i]
    check_rules(values[[part]], rules[[i]], whole, sprintf("%s$%s", at, part))
  }
}

stop_damaged <- function(whole, at, wish) {
  part <- if (identical(whole, at)) "it" else sprintf("`%s`", at)
  stop_input("`%s` is damaged, or was changed after it was made: %s must be %s. Make it anew.", whole, part, wish)
}

# NULL, or what the rule says.
or_null <- function(rules) {
  function(x) {
    if (is.null(x)) {
      return(NULL)
    }
    if (is.function(rules)) rules(x) else broken_rule(x, rules)
  }
}

# What is wrong with a list under rules for its elements, in words.
broken_rule <- function(x, rules) {
  if (!is.list(x)) {
    return("a list")
  }
  values <- unclass(x)
  for (i in seq_along(rules)) {
    part <- names(rules)[i]
    rule <- rules[[i]]
    wish <- if (is.function(rule)) rule(values[[part]]) else broken_rule(values[[part]], rule)
    if (!is.null(wish)) {
      return(sprintf("a list in which `%s` is %s", part, wish))
    }
  }
  NULL
}

# Whole numbers as a rule writes them: counts may be larger than integers.
show_size <- function(...) paste(format(c(...), scientific = FALSE, trim = TRUE), collapse = " x ")

is_plain <- function(x) (is.numeric(x) || is.logical(x)) && !is.object(x)

# Numbers of things that R can hold as integers, or NA.
is_whole <- function(x) all(is.na(x) | (abs(x) <= .Machine$integer.max & x == floor(x)))

# Whether values lie within bounds; the sum tells of an NA, NaN or Inf without a vector of answers.
within_bounds <- function(x, min, max, na) {
  if (!length(x)) {
    return(TRUE)
  }
  if (na) x <- x[!is.na(x)]
  !anyNA(x) && all(is.finite(x)) && all(x >= min) && all(x <= max)
}

show_bounds <- function(min, max) {
  if (is.finite(min) && is.finite(max)) {
    sprintf(" within %s and %s", format(min), format(max))
  } else if (is.finite(min)) {
    sprintf(" of at least %s", format(min))
  } else {
    ""
  }
}

rule_matrix <- function(n, m, min = -Inf, max = Inf, simplex = FALSE, na = FALSE) {
  function(x) {
    ok <- is_plain(x) && length(dim(x)) == 2L && all(dim(x) == c(n, m)) && within_bounds(x, min, max, na) &&
      (!simplex || all(abs(rowSums(x) - 1) < 1e-6))
    if (!ok) {
      sprintf(
        "a matrix of %s with finite numbers%s%s", show_size(n, m), show_bounds(min, max),
        if (simplex) ", its rows with sum 1" else ""
      )
    }
  }
}

rule_numbers <- function(n, min = -Inf, max = Inf, sum = NULL, na = FALSE, named = NULL) {
  function(x) {
    ok <- is_plain(x) && (is.null(n) || length(x) == n) && within_bounds(x, min, max, na) &&
      (is.null(sum) || abs(base::sum(x) - sum) < 1e-6) && (is.null(named) || all(named %in% names(x)))
    if (!ok) {
      count <- if (is.null(n)) "finite numbers" else if (n == 1) "one number" else paste(show_size(n), "finite numbers")
      sprintf(
        "%s%s%s%s", count, show_bounds(min, max), if (is.null(sum)) "" else ", their sum 1",
        if (is.null(named)) "" else paste(" named", show_names(named, 8L))
      )
    }
  }
}

# A number that may be unknown or infinite, such as a log-likelihood.
rule_value <- function(named = FALSE) {
  function(x) {
    ok <- is_plain(x) && length(x) == 1L && (!named || (length(names(x)) == 1L && nzchar(names(x)) && !is.na(x)))
    if (!ok) if (named) "one number with a name" else "one number or NA"
  }
}

rule_count <- function(min = 0, max = Inf) {
  function(x) {
    ok <- is_plain(x) && length(x) == 1L && !is.na(x) && x >= min && x <= max && is_whole(x)
    if (!ok) sprintf("one whole number%s", show_bounds(min, max))
  }
}

rule_flag <- function(na = FALSE) {
  function(x) {
    if (!is.logical(x) || length(x) != 1L || (!na && is.na(x))) if (na) "TRUE, FALSE or NA" else "TRUE or FALSE"
  }
}

rule_choice <- function(choices, n = 1L) {
  function(x) {
    if (!is.character(x) || (!is.null(n) && length(x) != n) || !all(x %in% choices)) {
      count <- if (is.null(n)) "some" else if (n == 1L) "one" else show_size(n)
      sprintf("%s of %s", count, show_names(choices, length(choices)))
    }
  }
}

rule_text <- function(n = NULL) {
  function(x) {
    if (!is.character(x) || (!is.null(n) && length(x) != n) || anyNA(x)) {
      if (is.null(n)) "text" else if (n == 1L) "one string" else sprintf("%s strings", show_size(n))
    }
  }
}

# Labels of things: text, or the numbers of what has no names.
rule_labels <- function(x) if (!(is.character(x) || is.factor(x) || is_plain(x))) "labels"

# A data frame with these columns of these kinds; `others`: the kind of all further ones, where that is fixed.
rule_frame <- function(..., rows = NULL, others = NULL) {
  columns <- c(...)
  function(x) {
    holds <- function(column, kind) {
      switch(kind,
        number = is_plain(column), `known number` = is_plain(column) && !anyNA(column),
        count = is_plain(column) && is_whole(column), flag = is.logical(column),
        text = is.character(column) || is.factor(column),
        label = is.null(rule_labels(column))
      )
    }
    ok <- is.data.frame(x) && all(names(columns) %in% names(x)) && (is.null(rows) || nrow(x) >= rows)
    if (ok) {
      values <- unclass(x)
      n <- .row_names_info(x, 2L)
      ok <- all(lengths(values) == n) && all(vapply(names(columns), function(name) {
        holds(values[[name]], columns[[name]])
      }, NA)) && (is.null(others) || all(vapply(values, holds, NA, others)))
    }
    if (!ok && is.null(columns)) {
      "a data frame"
    } else if (!ok) {
      sprintf(
        "a data frame%s with the %s %s", if (isTRUE(rows > 0)) " with rows" else "", noun(length(columns), "column"),
        paste(sprintf("%s (%ss)", names(columns), columns), collapse = ", ")
      )
    }
  }
}

# A list whose elements all keep one rule; as many as n where that is given.
rule_list <- function(rule, n = NULL, least = 0L) {
  function(x) {
    if (!is.list(x) || (!is.null(n) && length(x) != n) || length(x) < least) {
      return(sprintf("a list of %s", if (is.null(n)) "the parts it was made with" else show_size(n)))
    }
    for (i in seq_along(x)) {
      wish <- if (is.function(rule)) rule(x[[i]]) else broken_rule(x[[i]], rule)
      if (!is.null(wish)) {
        return(sprintf("a list in which element %d is %s", i, wish))
      }
    }
    NULL
  }
}

rule_class <- function(class, source = paste0(class, "()")) {
  function(x) if (!inherits(x, class)) sprintf("a result of %s", source)
}

rule_dims <- function(wanted) {
  function(x) {
    ok <- is_plain(x) && all(wanted %in% names(x)) && !anyNA(x[wanted]) && all(x[wanted] >= 0) &&
      all(x[c("n", "m")] >= 1) && all(x[wanted] == floor(x[wanted])) && is_whole(x[c("n", "m", "k")])
    if (!ok) sprintf("whole numbers named %s", show_names(wanted))
  }
}

rule_names <- function(extent) {
  function(x) {
    ok <- is.list(x) && length(x) == length(extent) && all(vapply(seq_along(extent), function(side) {
      is.null(x[[side]]) || (is.character(x[[side]]) && length(x[[side]]) == extent[side] && !anyNA(x[[side]]))
    }, NA))
    if (!ok) sprintf("a list of NULL or names for each side of %s", show_size(extent))
  }
}

# The data of a fit, as plain numbers or sparse. Their values are checked where they are used, by fit_data().
rule_data <- function(n, m) {
  function(x) {
    if (isS4(x)) loadNamespace("Matrix") # R would attach it
    shape <- catch_error(if (inherits(x, "dgCMatrix") || is_plain(x)) dim(x), function(e) NULL)
    if (length(shape) != 2L || any(shape != c(n, m))) sprintf("NULL or a matrix of %s", show_size(n, m))
  }
}

rule_call <- function(x) if (!is.call(x)) "a call"

rule_control <- function(class) {
  function(x) {
    made <- if (class == "multicause_control") "fit_control()" else "mcmc_control()"
    if (!inherits(x, class)) {
      return(paste("a result of", made))
    }
    wrong <- tryCatch(
      {
        rebuild_control(x, "control")
        NULL
      },
      multicause_input_error = conditionMessage
    )
    if (!is.null(wrong)) sprintf("a whole result of %s (%s)", made, sub("[.]$", "", wrong))
  }
}

rule_smooth <- function(n) {
  covariates <- list(
    age = rule_matrix(n, 2, na = TRUE), place = rule_matrix(n, 2, na = TRUE),
    environment = function(x) rule_matrix(n, max(1, NCOL(x)), na = TRUE)(x),
    distance = rule_matrix(n, n, 0, na = TRUE), neighbours = function(x) {
      if (!inherits(x, "dgCMatrix")) sprintf("a sparse matrix of %s", show_size(n, n)) else rule_data(n, n)(x)
    }
  )
  function(x) {
    if (!inherits(x, "smooth_over") || !is.list(x)) {
      return("NULL or a result of smooth_over()")
    }
    given <- unclass(x)$given
    if (!is.list(given) || !length(given) || !all(names(given) %in% names(covariates)) || is.null(names(given))) {
      return("a result of smooth_over() with the covariates it was made of")
    }
    scaled <- setdiff(names(given), "neighbours")
    free <- function(rule) function(x) if (!identical(x, "cv")) rule(x)
    broken_rule(x, list(
      given = lapply(covariates[names(given)], or_null),
      # Lists of neighbours made of an environment keep its units.
      units = or_null(rule_numbers(if (!is.null(given$environment)) NCOL(given$environment), 0)),
      names = or_null(rule_text(n)), n = rule_count(n, n),
      bandwidth = if (length(scaled)) {
        free(function(x) rule_numbers(length(scaled), 0, named = scaled)(x))
      } else {
        rule_numbers(0)
      },
      strength = free(rule_numbers(1L, 0)), recording = rule_numbers(1L, 0), most = rule_count(1),
      folds = rule_count(2)
    ))
  }
}

# The names of dims.
fit_dims <- function(fit) UseMethod("fit_dims")

fit_dims.default <- function(fit) c("n", "m", "k", "observed")

# What each part of a fit must be, given dims, which are known to be sound.
fit_rules <- function(fit) UseMethod("fit_rules")

# What the fits of all models have in common. `chains`: a sampler's; `traced`: further columns of its trace.
base_rules <- function(fit, param, chains = FALSE, ..., traced = NULL, x = NULL,
                       extent = unname(fit$dims[c("n", "m")])) {
  list(
    param = param, objective = rule_value(named = TRUE), loglik = rule_value(), df = rule_value(),
    trace = if (chains) {
      rule_frame(
        chain = "known number", pass = "known number", objective = "known number", log_likelihood = "known number",
        traced, rows = 1L, others = "known number"
      )
    } else {
      rule_frame(pass = "number", objective = "number")
    },
    starts = if (chains) {
      rule_frame(init = "text", rows = 1L)
    } else {
      rule_frame(
        init = "text", objective = "number", finished = "flag", converged = "flag", reached_best = "flag", rows = 1L
      )
    },
    converged = rule_flag(na = chains),
    control = rule_control(if (chains) "multicause_mcmc_control" else "multicause_control"), call = rule_call,
    names = rule_names(extent), x = or_null(if (is.null(x)) rule_data(extent[1L], extent[2L]) else x),
    seed = or_null(rule_numbers(NULL, na = TRUE)),
    start_traces = or_null(rule_list(or_null(rule_numbers(NULL, na = TRUE)))), ... # none of starts not reached
  )
}

rule_margins <- function(n, m) {
  list(
    row_sum = rule_numbers(n, 0), column_sum = rule_numbers(m, 0), row_observed = rule_numbers(n, 0),
    column_observed = rule_numbers(m, 0)
  )
}
