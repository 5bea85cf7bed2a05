# Argument checks: at the door, once, one message each.

# The exported function the user called, for the condition's call.
user_call <- function() {
  for (i in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(i)), topenv())) {
      return(sys.call(i)[1L])
    }
  }
  NULL
}

# `class`: a further class, for those of our own functions that know better.
stop_input <- function(fmt, ..., class = NULL) {
  message <- if (...length()) sprintf(fmt, ...) else fmt
  stop(structure(
    class = c(class, "multicause_input_error", "error", "condition"),
    list(message = message, call = user_call())
  ))
}

# What the user should know, not what went wrong.
inform <- function(fmt, ...) {
  text <- if (...length()) sprintf(fmt, ...) else fmt
  message(structure(
    class = c("multicause_message", "message", "condition"),
    list(message = paste0(text, "\n"), call = NULL)
  ))
}

# A column that is not there, sites$agee, is NULL, as if the argument had not been given.
tell_lost_columns <- function(call, values) {
  for (name in names(Filter(is.null, values))) {
    asked <- call[[name]]
    if (is.call(asked) && as.character(asked[[1L]])[1L] %in% c("$", "[[")) {
      inform("`%s` is left out, since %s is NULL: is there such a column?", name, deparse1(asked))
    }
  }
}

# A value, as short as it can be said.
show_value <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.atomic(x) && length(x) == 1L) {
    return(if (is.character(x)) dQuote(clip(x), FALSE) else format(x, digits = 7L))
  }
  if (is.data.frame(x) || length(dim(x)) > 2L || (is.atomic(x) && !is.object(x))) {
    return(if (is.null(dim(x))) show_vector(x) else show_table(x))
  }
  if (is.factor(x)) {
    return(sprintf("a factor of length %d", length(x)))
  }
  sprintf("an object of class %s", dQuote(class(x)[1L], FALSE))
}

show_vector <- function(x) {
  if (is.double(x) && length(x) == 2L) {
    return(sprintf("c(%s)", paste(vapply(x, format, "", digits = 7L), collapse = ", ")))
  }
  kind <- if (is.double(x)) "a numeric" else paste(if (is.integer(x)) "an" else "a", typeof(x))
  sprintf("%s vector of length %d", kind, length(x))
}

show_table <- function(x) {
  if (length(dim(x)) > 2L) {
    return(sprintf("an array of %s", paste(dim(x), collapse = " x ")))
  }
  kind <- if (is.data.frame(x)) "a data frame" else if (is.numeric(x)) "a matrix" else paste("a", typeof(x), "matrix")
  sprintf("%s with %s and %s", kind, count_words(nrow(x), "row"), count_words(ncol(x), "column"))
}

# Text no longer than a message can hold.
clip <- function(text, most = 100L) {
  long <- which(nchar(text, allowNA = TRUE) > most)
  text[long] <- paste0(substr(text[long], 1L, most), "...")
  text
}

# Text that R can neither print nor compare, as of a file in Latin-1 that was read as UTF-8.
is_unreadable <- function(text) !validEnc(text) | Encoding(text) == "bytes"

reread_advice <- "Read the file with its encoding, as by `fileEncoding = \"latin1\"`."

# Names in a message: the first few, and how many more.
show_names <- function(x, most = 5L, quoted = TRUE) {
  shown <- clip(utils::head(x, most))
  shown <- paste(if (quoted) dQuote(shown, FALSE) else shown, collapse = ", ")
  if (length(x) > most) sprintf("%s and %d more", shown, length(x) - most) else shown
}

# "a", "a or b", "a, b or c"
show_either <- function(x) {
  if (length(x) == 1L) x else paste(paste(x[-length(x)], collapse = ", "), "or", x[length(x)])
}

# Words that mean the same; the first of each line is this package's own, the others are those of other packages.
synonyms <- list(
  c("observation", "observations", "site", "sites", "row", "rows", "locality", "localities", "sample", "document"),
  c("attribute", "attributes", "taxon", "taxa", "species", "genus", "genera", "column", "columns", "term", "tax"),
  c("component", "components", "aspect", "topic", "topics", "class", "cluster", "choices", "axes"),
  c("membership", "memberships", "posterior", "gamma", "theta", "topics", "documents"),
  c("response", "probability", "prob", "probs", "state", "psi"),
  c("detection", "det", "det.formula", "detformula", "pformula"),
  c("communities", "occ.formula", "stateformula", "psiformula"),
  c("basis", "beta", "phi"),
  c("top", "terms", "top_terms", "words"),
  c("loadings", "v", "rotation"),
  c("scores", "u"),
  c(
    "k", "nclass", "class", "n_class", "n_components", "n_topics", "num.topics", "num_topics", "nfactors", "n.factors",
    "ncomp", "rank", "components"
  ),
  c("x", "data", "comm", "dtm", "y"),
  c("age", "ages", "time", "bin", "bins", "stage", "stages", "max_ma", "min_ma"),
  c("place", "coords", "coordinates", "xy", "lat", "lng", "lon", "long", "latitude", "longitude"),
  c("reference", "r", "calibration"),
  c("environment", "env", "gradient", "gradients", "covariates"),
  c("site_data", "sitecovs", "site_covs", "occ.covs"),
  c("visit_data", "obscovs", "obs_covs", "det.covs"),
  c("bandwidth", "span", "sp", "bw", "df", "lambda"),
  c("chance", "p", "power"),
  c("measure", "method", "metric"),
  c("level", "conf.level", "conf_level", "conf", "ci"),
  c("folds", "nfold", "nfolds", "n_folds", "n.folds"),
  c("n", "top_n", "n_top", "num_words", "n_words", "n_terms"),
  c("n_start", "nrep", "nstart", "n_init", "restarts"),
  c("max_pass", "maxiter", "max_iter", "maxit", "iter", "n_iter", "passes"),
  c("tol", "eps", "epsilon", "tolerance"),
  c("n_threads", "cores", "ncores", "mc.cores", "n_cores", "threads"),
  c("progress", "verbose", "trace", "quiet"),
  c("draws", "n.samples", "n_samples", "nsamples"),
  c("warmup", "burnin", "burn_in", "n.burnin", "n.burn", "nburn"),
  c("thin", "n.thin", "nthin", "thinning"),
  c("chains", "n.chains", "n_chains", "nchains"),
  c("nsim", "nsims")
)

no_dirichlet <- "there is no Dirichlet prior; `sparsity` of plsa() draws shares to few or to all"
incidence <- "`x` is sites by taxa, 0 or 1; t(x) turns a table of species by sites"

chain_length <- "models with chains, as by `estimate = \"gibbs\"`, have their length in `control = mcmc_control()`"

# What other packages have arguments for, and what does it here.
not_arguments <- c(
  seed = "call set.seed() before", formula = "models have no formula, `x` is the table",
  na.rm = "`NA` is an unknown cell of `x` in every model", na.action = "`NA` is an unknown cell of `x` in every model",
  subset = "take rows of `x`", se.fit = "posterior_draws() and which_zeros() tell how sure it is",
  conf.int = "posterior_draws() and which_zeros() tell how sure it is",
  se = "posterior_draws() and bootstrap_draws() tell how sure it is",
  calc.se = "posterior_draws() and bootstrap_draws() tell how sure it is",
  interval = "posterior_draws() and bootstrap_draws() tell how sure it is",
  weights = "each row counts once", offset = "`effort` of aspect_bernoulli() is what differs between sites",
  link = "aspect_bernoulli() mixes chances, logistic_pca() has a logistic link",
  alpha = no_dirichlet, beta = no_dirichlet, eta = no_dirichlet, delta = no_dirichlet,
  method = paste(
    "`estimate` says how a model is fitted, `by` what a list is ranked by; which_zeros() weighs several methods",
    "itself, Beals' among them"
  ),
  datatype = incidence, q = "there are no Hill numbers; by_site() says how many taxa each site lacks",
  endpoint = "nothing is extrapolated to a larger sample; by_site() says how many taxa each site lacks",
  nboot = "which_zeros() draws its ranges by itself; bootstrap_draws() makes bootstrap fits of a model",
  threshold = "all zeros are ranked; take those whose `missed` is above your limit",
  backTransform = "results are chances already", conf.level = "ranges hold 90 %",
  mixture = "a find is 0 or 1; plsa(), nmf() and bmf() take counts",
  n.batch = chain_length, n.burn = chain_length, n.thin = chain_length, n.chains = chain_length,
  n.samples = chain_length,
  re.form = "memberships are no random effects",
  number = "`folds` is their number", repeats = "more `folds`, or another seed"
)

# Those of the words that mean what `word` means, at the first of three looks that finds any: letters of either case,
# synonyms, or few letters apart.
same_words <- function(word, words, near = TRUE) {
  found <- words[tolower(words) == tolower(word)]
  if (!length(found)) {
    lines <- vapply(synonyms, function(line) tolower(word) %in% line, NA)
    found <- intersect(words, unlist(synonyms[lines]))
  }
  if (!length(found) && near && length(words)) {
    apart <- drop(utils::adist(word, words, ignore.case = TRUE))
    begun <- nchar(word) >= 3L & startsWith(words, word)
    found <- words[begun | (apart == min(apart) & apart <= pmin(2, (pmax(nchar(word), nchar(words)) - 1) %/% 3))]
  }
  found
}

check_dots <- function(...) {
  if (...length() == 0L) {
    return(invisible())
  }
  named <- setdiff(names(list(...)), "")
  if (length(named)) {
    hints <- vapply(utils::head(named, 5L), argument_hint, "", f = sys.function(-1L))
    rest <- setdiff(named, names(hints)[!is.na(hints)])
    if (length(rest)) {
      has <- sprintf("`%s`", setdiff(names(formals(sys.function(-1L))), "..."))
      has <- paste(has, collapse = ", ")
      hints <- c(hints, sprintf("Unknown argument %s: this function takes %s.", show_names(rest), has))
    }
    stop_input("%s", paste(hints[!is.na(hints)], collapse = " "))
  }
  stop_input("%s too many: give all but the first ones by name.", count_words(...length(), "unnamed argument"))
}

# Where an argument that a function does not have belongs, or what was meant; NA where nobody knows.
argument_hint <- function(name, f) {
  mine <- setdiff(names(formals(f)), "...")
  makers <- setting_makers(f)
  of_maker <- function(near) {
    for (maker in makers$maker) {
      meant <- same_words(name, exported_arguments(maker), near)
      if (length(meant)) {
        return(sprintf(
          "Unknown argument `%s`: did you mean %s, of %s()?", name, show_either(sprintf("`%s`", meant)), maker
        ))
      }
    }
  }
  own <- makers[vapply(makers$maker, function(maker) name %in% exported_arguments(maker), NA), ]
  if (NROW(own)) {
    maker <- own$maker[[1L]]
    return(sprintf("`%s` is an argument of %s(): give `%s = %s(%s = )`.", name, maker, own$argument[[1L]], maker, name))
  }
  # A word that other packages have for an argument of a setting is that, not one with few letters apart.
  meant <- same_words(name, mine, near = FALSE)
  elsewhere <- if (!length(meant) && !name %in% names(not_arguments)) of_maker(near = FALSE)
  if (!is.null(elsewhere)) {
    return(elsewhere)
  }
  if (!length(meant)) meant <- same_words(name, mine)
  if (length(meant)) {
    return(sprintf("Unknown argument `%s`: did you mean %s?", name, show_either(sprintf("`%s`", meant))))
  }
  if (name %in% names(not_arguments)) {
    return(sprintf("`%s` is no argument here: %s.", name, not_arguments[[name]]))
  }
  elsewhere <- of_maker(near = TRUE)
  if (!is.null(elsewhere)) {
    return(elsewhere)
  }
  others <- Filter(function(other) name %in% exported_arguments(other), getNamespaceExports(topenv()))
  if (length(others) %in% 1:3) {
    return(sprintf("`%s` is an argument of %s, not of this function.", name, show_either(paste0(sort(others), "()"))))
  }
  NA_character_
}

exported_arguments <- function(name) setdiff(names(formals(get(name, topenv()))), "...")

# The functions that make what arguments of f hold: called by their defaults, as in `control = fit_control()`, or named
# for them, as smooth_over() for `smooth`; none of these takes data or a fit. A data frame of argument and maker.
setting_makers <- function(f) {
  is_maker <- function(name) {
    value <- get(name, topenv())
    is.function(value) && !names(formals(value))[1L] %in% c("x", "fit")
  }
  functions <- Filter(is_maker, sort(getNamespaceExports(topenv())))
  each <- lapply(setdiff(names(formals(f)), "..."), function(argument) {
    called <- intersect(all.names(formals(f)[[argument]]), functions)
    maker <- union(called, functions[startsWith(functions, paste0(argument, "_"))])
    data.frame(argument = rep(argument, length(maker)), maker = maker)
  })
  do.call(rbind, each)
}

# Arguments that have no default, by name, in a function that was called by the user.
check_given <- function(...) {
  for (name in vapply(substitute(list(...))[-1L], as.character, "")) {
    if (eval(call("missing", as.name(name)), parent.frame())) stop_missing(name)
  }
}

stop_missing <- function(name) stop_input("`%s` must be given: see the help page of the function.", name)

# The checks below also tell of an argument that has no default and was not given: missing() sees through the caller.

check_number <- function(x, name, min = -Inf, max = Inf, open = FALSE) {
  if (missing(x)) stop_missing(name)
  inside <- function(x) if (open) x > min && x < max else x >= min && x <= max
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || !inside(x)) {
    bound <- abs(c(min, max)) < .Machine$double.xmax # the largest number is no bound to tell
    range <- if (all(bound)) {
      sprintf(if (open) " between %s and %s (both excluded)" else " between %s and %s", format(min), format(max))
    } else if (bound[1L]) {
      sprintf(if (open) " greater than %s" else " of at least %s", format(min))
    } else {
      ""
    }
    finite <- if (max == .Machine$double.xmax) "finite " else ""
    stop_input("`%s` must be one %snumber%s, not %s.", name, finite, range, show_value(x))
  }
  as.double(x)
}

check_count <- function(x, name, min = 1L, max = .Machine$integer.max) {
  if (missing(x)) stop_missing(name)
  ok <- is.numeric(x) && length(x) == 1L && !is.na(x) && x == floor(x) && x >= min && x <= max
  if (!ok) {
    above <- is.numeric(x) && length(x) == 1L && isTRUE(x > max)
    bounded <- above || max < .Machine$integer.max
    range <- if (bounded) sprintf("from %d to %d", min, max) else sprintf("of at least %d", min)
    wish <- if (max == min) format(min) else paste("one whole number", range)
    stop_input("`%s` must be %s, not %s.", name, wish, show_value(x))
  }
  as.integer(x)
}

# Significant digits, as print() and format() take them.
check_digits <- function(digits) check_count(digits, "digits", 1L, 22L)

# How many rows to print: a whole number, or all.
check_shown <- function(n) if (identical(n, Inf)) n else check_count(n, "n", 0L)

check_flag <- function(x, name) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    stop_input("`%s` must be TRUE or FALSE, not %s.", name, show_value(x))
  }
  x
}

# One of the choices, also by a word that means the same as one of them alone; or the first where the argument was left
# at its default vector.
check_choice <- function(x, name, choices) {
  if (identical(x, choices)) {
    return(choices[1L])
  }
  text <- is.character(x) && length(x) == 1L && !is.na(x)
  if (text && x %in% choices) {
    return(x)
  }
  meant <- if (text) same_words(x, choices, near = FALSE)
  if (length(meant) == 1L) {
    return(meant)
  }
  if (text) meant <- same_words(clip(x), choices)
  hint <- if (length(meant)) sprintf(": did you mean %s?", show_either(dQuote(meant, FALSE))) else "."
  if (identical(x, "class") && "membership" %in% choices) {
    hint <- ": the largest of \"membership\" is the class, max.col(predict(fit, type = \"membership\"))."
  }
  stop_input("`%s` must be one of %s, not %s%s", name, show_names(choices, length(choices)), show_value(x), hint)
}

# A list, not empty, whose parts each have a name of their own.
is_named <- function(x) {
  is.list(x) && length(x) && !is.null(names(x)) && !any(names(x) %in% c("", NA)) && !anyDuplicated(names(x))
}

# A vector, or what tapply() and table() make of one factor: an array of one dimension. No table of any kind.
is_line <- function(x) length(dim(x)) < 2L

check_control <- function(control, for_many = FALSE) {
  if (for_many && inherits(control, "multicause_mcmc_control")) {
    stop_input(paste(
      "`control` must come from fit_control(), not mcmc_control(): give a model that is sampled as a function,",
      "`function(x, k, control)`, that calls it with an mcmc_control() of its own."
    ))
  }
  if (!inherits(control, "multicause_control")) {
    stop_input("`control` must come from fit_control(), not be %s.", show_value(control))
  }
  rebuild_control(control, "control")
}

# A list of settings made anew by the function it came from, which checks them as it did then: they may have been edited
# since. What it makes has the kinds of numbers that kernels read.
rebuild <- function(x, make, maker, name) {
  wanted <- setdiff(names(formals(make)), "...")
  if (!is.list(x) || is.null(names(x)) || anyDuplicated(names(x)) || !all(names(x) %in% wanted)) {
    unknown <- setdiff(names(x), wanted)
    stop_input(
      "`%s` must come from %s and hold its settings, each once%s.", name, maker,
      if (length(unknown)) sprintf(": it has %s", show_names(unknown)) else ""
    )
  }
  needed <- wanted[!vapply(formals(make)[wanted], is.null, NA)] # those that may be NULL are gone where they were set so
  lost <- setdiff(needed, names(x))
  if (length(lost)) stop_input("`%s` must hold all settings of %s: it lacks %s.", name, maker, show_names(lost))
  do.call(make, unclass(x), quote = TRUE)
}

rebuild_control <- function(control, name) {
  if (inherits(control, "multicause_control")) {
    rebuild(control, fit_control, "fit_control()", name)
  } else {
    rebuild(control, mcmc_control, "mcmc_control()", name)
  }
}

# A named numeric vector or matrix of a stated shape, all finite.
check_matrix <- function(x, name, n_row, n_column, min = -Inf, max = Inf) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (!is.numeric(x) || !identical(dim(x), as.integer(c(n_row, n_column)))) {
    got <- if (is.numeric(x) && length(dim(x)) == 2L) {
      sprintf("%d x %d", nrow(x), ncol(x))
    } else {
      show_value(x)
    }
    stop_input("`%s` must be a numeric matrix of %d x %d, not %s.", name, n_row, n_column, got)
  }
  bad <- which(is.na(x) | x < min | x > max)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    range <- if (max < .Machine$double.xmax) { # the largest number is no bound to tell
      sprintf("lie between %s and %s", format(min), format(max))
    } else {
      if (min > -.Machine$double.xmax) sprintf("be at least %s, and finite", format(min)) else "be finite"
    }
    stop_input("`%s` must %s: row %d, column %d is %s.", name, range, at[1L], at[2L], format(x[bad[1L]]))
  }
  storage.mode(x) <- "double"
  x
}

# Rows that sum to one: divided by their sums, which must be 1 but for rounding.
check_simplex_rows <- function(x, name, n_row, n_column) {
  x <- check_matrix(x, name, n_row, n_column, 0, 1)
  off <- which(abs(rowSums(x) - 1) > 1e-6)
  if (length(off)) {
    stop_input("Rows of `%s` must sum to 1: row %d sums to %s.", name, off[1L], format(sum(x[off[1L], ])))
  }
  x
}

check_start_weights <- function(weights, k) {
  if (!is.numeric(weights) || length(weights) != k) {
    stop_input("`start$weights` must be %s, not %s.", count_words(k, "number"), show_value(weights))
  }
  drop(check_simplex_rows(matrix(weights, 1L), "start$weights", 1L, k))
}

# list(<first> = two numbers, <second> = one number): parameters of a Beta and a Dirichlet prior, at least 1 or, where
# that is enough (`open`), above 0. Returned in this order.
check_prior <- function(prior, names, open = FALSE) {
  if (!is.list(prior) || !setequal(names(prior), names)) {
    stop_input(
      "`prior` must be list(%s = two numbers, %s = one number), not %s.", names[1L], names[2L], show_value(prior)
    )
  }
  beta <- prior[[names[1L]]]
  if (!is.numeric(beta) || length(beta) != 2L || !all(is.finite(beta)) || any(if (open) beta <= 0 else beta < 1)) {
    least <- if (open) "above 0" else "of at least 1"
    stop_input("`prior$%s` must be two finite numbers %s, not %s.", names[1L], least, show_value(beta))
  }
  range <- if (open) c(0, 1e6) else c(1, .Machine$double.xmax)
  second <- check_number(prior[[names[2L]]], paste0("prior$", names[2L]), range[1L], range[2L], open = open)
  stats::setNames(list(beta, second), names)
}

# Parts of a start whose rows (columns) have the names of the data in another order, in the order of the data.
by_names <- function(x, side, known) {
  mine <- dimnames(x)[[side]]
  if (is.null(known) || anyDuplicated(mine) || identical(mine, known) || !setequal(mine, known)) {
    return(x)
  }
  at <- match(known, mine)
  if (side == 1L) x[at, , drop = FALSE] else x[, at, drop = FALSE]
}

check_start_names <- function(start, names, wish) {
  if (!is.list(start) || !all(names %in% names(start))) {
    stop_input("`start` must be %s, not %s.", wish, show_value(start))
  }
}
