# Argument checks of exported functions: each argument once, one message each.

# Returns the exported function that the user called, for the condition's call.
user_call <- function() {
  for (i in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(i)), topenv())) {
      return(sys.call(i)[1L])
    }
  }
  NULL
}

# `class`: a further class, for conditions that callers of this package handle.
stop_input <- function(fmt, ..., class = NULL) {
  message <- if (...length()) sprintf(fmt, ...) else fmt
  stop(structure(
    class = c(class, "multicause_input_error", "error", "condition"),
    list(message = message, call = user_call())
  ))
}

# What the user should know, not what went wrong; options(multicause.quiet = TRUE) silences it.
inform <- function(fmt, ...) {
  if (isTRUE(getOption("multicause.quiet"))) {
    return(invisible())
  }
  text <- if (...length()) sprintf(fmt, ...) else fmt
  message(structure(
    class = c("multicause_message", "message", "condition"),
    list(message = paste0(text, "\n"), call = NULL)
  ))
}

# Tests whether inform() would be heard: messages that cost time are not made for the many fits of quiet_fit(), which
# answers by the restart.
is_heard <- function() {
  question <- structure(class = c("multicause_listening", "condition"), list(message = "", call = NULL))
  !isTRUE(getOption("multicause.quiet")) && withRestarts(
    {
      signalCondition(question)
      TRUE
    },
    hidden_by_us = function() FALSE
  )
}

# A column that does not exist, sites$agee, is NULL, as if the argument were missing.
tell_lost_columns <- function(call, values) {
  for (name in names(Filter(is.null, values))) {
    asked <- call[[name]]
    if (is.call(asked) && as.character(asked[[1L]])[1L] %in% c("$", "[[")) {
      inform("`%s` is left out, since %s is NULL: is there such a column?", name, deparse1(asked))
    }
  }
}

# Describes a value as briefly as possible.
show_value <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.atomic(x) && length(x) == 1L && !is.factor(x)) {
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
  if (length(dim(x)) != 2L) {
    kind <- if (is.numeric(x) || is.logical(x)) "an array" else sprintf("a %s array", typeof(x))
    return(sprintf("%s of %s", kind, paste(dim(x), collapse = " x ")))
  }
  kind <- if (is.data.frame(x)) "a data frame" else if (is.numeric(x)) "a matrix" else paste("a", typeof(x), "matrix")
  sprintf("%s with %s and %s", kind, count_words(nrow(x), "row"), count_words(ncol(x), "column"))
}

# Shortens text to the length of a message.
clip <- function(text, most = 100L) {
  long <- which(nchar(text, allowNA = TRUE) > most)
  text[long] <- paste0(substr(text[long], 1L, most), "...")
  text
}

# Recognises text that R can neither print nor compare, such as Latin-1 read as UTF-8.
is_unreadable <- function(text) !validEnc(text) | Encoding(text) == "bytes"

reread_advice <- "Read the file with its encoding, as by `fileEncoding = \"latin1\"`."

# Lists names in a message: the first few, and the number of others.
show_names <- function(x, most = 5L, quoted = TRUE) {
  shown <- clip(utils::head(x, most))
  shown <- paste(if (quoted) dQuote(shown, FALSE) else shown, collapse = ", ")
  if (length(x) > most) sprintf("%s and %d more", shown, length(x) - most) else shown
}

# Returns "a", "a or b", "a, b or c".
show_either <- function(x) {
  if (length(x) == 1L) x else paste(paste(x[-length(x)], collapse = ", "), "or", x[length(x)])
}

# Finds the words that `word` may stand for: equal up to case, else beginning with it or few letters different.
near_words <- function(word, words) {
  words <- as.character(words) # there may be none
  words <- words[!is_unreadable(words)]
  if (is_unreadable(word)) {
    return(character())
  }
  found <- words[tolower(words) == tolower(word)]
  if (length(found) || !length(words)) {
    return(found)
  }
  apart <- drop(utils::adist(word, words, ignore.case = TRUE))
  begun <- nchar(word) >= 3L & startsWith(words, word)
  words[begun | (apart == min(apart) & apart <= pmin(2, (pmax(nchar(word), nchar(words)) - 1) %/% 3))]
}

# Ends a sentence with ": did you mean ...?", or with a full stop.
meant_words <- function(word, words, mark = function(x) dQuote(x, FALSE)) {
  meant <- utils::head(near_words(word, words), 5L)
  if (length(meant)) sprintf(": did you mean %s?", show_either(mark(meant))) else "."
}

few_arguments <- 12L # more of them are not listed in a message

check_dots <- function(...) {
  if (...length() == 0L) {
    return(invisible())
  }
  unknown <- setdiff(names(list(...)), "")
  if (!length(unknown)) {
    stop_input("%s too many: name all but the first ones.", count_words(...length(), "unnamed argument"))
  }
  formals <- formals(sys.function(-1L))
  known <- setdiff(names(formals), "...")
  code <- function(x) sprintf("`%s`", x)
  hint <- setting_words(unknown[1L], formals) %||% meant_words(unknown[1L], known, code)
  usual <- unname(usual_settings[unknown[1L]])
  if (hint == "." && usual %in% known) hint <- sprintf(": did you mean `%s`?", usual)
  if (hint == ".") {
    hint <- if (unknown[1L] == "seed") {
      ": call `set.seed()` before."
    } else if (unknown[1L] == "k" && length(known) > few_arguments) {
      ": the number of components is chosen by the function itself."
    } else if (!length(known)) {
      ": this function takes no other."
    } else if (length(known) <= few_arguments) {
      sprintf(": this function takes %s.", paste(code(known), collapse = ", "))
    } else {
      ": the help page lists the arguments."
    }
  }
  stop_input("Unknown argument `%s`%s", unknown[1L], hint)
}

# What other packages call settings.
usual_settings <- c(
  maxit = "max_iter", maxiter = "max_iter", niter = "max_iter", iter = "max_iter", iterations = "max_iter",
  nstart = "n_start", starts = "n_start", nrep = "n_start", tolerance = "tol", eps = "tol", cores = "n_threads",
  threads = "n_threads", n_cores = "n_threads", verbose = "progress", burnin = "warmup", nchains = "chains"
)

# Names the setting of `control` that an unknown argument is or means; NULL where it is none.
setting_words <- function(word, formals) {
  if (word %in% names(usual_settings)) word <- usual_settings[[word]]
  if (!"control" %in% names(formals)) {
    return(NULL)
  }
  chains <- c(all.names(formals$control), all.names(formals$estimate), as.character(formals$estimate))
  sampled <- c("mcmc_control", "gibbs") %in% chains
  makers <- c("mcmc_control"[sampled[1L]], "fit_control"[!sampled[1L]], "mcmc_control"[sampled[2L]])
  for (maker in makers) {
    if (word %in% setdiff(names(formals(maker)), "...")) {
      return(sprintf(": it is a setting, `control = %s(%s = )`.", maker, word))
    }
  }
}

# Checks that arguments without default were supplied, in a function that the user called.
check_given <- function(...) {
  for (name in vapply(substitute(list(...))[-1L], as.character, "")) {
    if (eval(call("missing", as.name(name)), parent.frame())) stop_missing(name)
  }
}

stop_missing <- function(name) stop_input("`%s` must be supplied: see its help page.", name)

# The checks below also report a missing argument without default: missing() looks through the caller.

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

# Checks the number of significant digits, as print() and format() accept it.
check_digits <- function(digits) check_count(digits, "digits", 1L, 22L)

# Checks the number of rows to list or print: a whole number, or all.
check_shown <- function(n, least = 0L) if (identical(n, Inf)) n else check_count(n, "n", least)

check_flag <- function(x, name) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    stop_input("`%s` must be TRUE or FALSE, not %s.", name, show_value(x))
  }
  x
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

# Returns one of the choices, or the first if the argument was left at its default vector. By default the choices are
# those of the calling function's argument, as in match.arg().
check_choice <- function(x, name = deparse(substitute(x)), choices = NULL) {
  if (is.null(choices)) choices <- eval(formals(sys.function(sys.parent()))[[name]])
  if (identical(x, choices)) {
    return(choices[1L])
  }
  if (is_string(x) && x %in% choices) {
    return(x)
  }
  hint <- if (is_string(x)) meant_words(clip(x), choices) else "."
  stop_input("`%s` must be one of %s, not %s%s", name, show_names(choices, length(choices)), show_value(x), hint)
}

# Tests for a list, not empty, whose parts have unique names.
is_named <- function(x) {
  is.list(x) && length(x) && !is.null(names(x)) && !any(names(x) %in% c("", NA)) && !anyDuplicated(names(x))
}

# Tests for a vector, or the one-dimensional array that tapply() and table() make of one factor; tables are none.
is_line <- function(x) length(dim(x)) < 2L

# Checks a numeric matrix of a stated shape, all finite.
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

# Refuses other values of a matrix than those of `want`.
check_zero_one <- function(x, name, want = "0 and 1") {
  bad <- which(x != 0 & x != 1)
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(x))
    stop_input("`%s` must hold only %s: row %d, column %d is %s.", name, want, at[1L], at[2L], format(x[bad[1L]]))
  }
  x
}

# Checks that rows sum to 1 up to rounding and divides them by their sums.
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

# Checks that a prior is a list of these parts, of which `needed` must be there. `wish` describes it in errors.
check_prior_parts <- function(prior, parts, wish, needed = parts) {
  if (!is.list(prior)) stop_input("`prior` must be %s, not %s.", wish, show_value(prior))
  quoted <- function(names) paste0("`", names, "`", collapse = " and ")
  lost <- setdiff(needed, names(prior))
  if (length(lost)) stop_input("`prior` must be %s: it lacks %s.", wish, quoted(lost))
  if (!is_named(prior)) stop_input("`prior` must be %s: each part must have a name of its own.", wish)
  other <- setdiff(names(prior), parts)
  if (length(other)) stop_input("`prior` must be %s, without %s.", wish, quoted(other))
}

# Checks list(<first> = two numbers, <second> = one number), the parameters of a Beta and a Dirichlet prior, at least 1
# or, if `open`, above 0. Returns them in this order.
check_prior <- function(prior, names, open = FALSE) {
  check_prior_parts(prior, names, sprintf("list(%s = two numbers, %s = one number)", names[1L], names[2L]))
  beta <- prior[[names[1L]]]
  if (!is.numeric(beta) || length(beta) != 2L || !all(is.finite(beta)) || any(if (open) beta <= 0 else beta < 1)) {
    least <- if (open) "above 0" else "of at least 1"
    stop_input("`prior$%s` must be two finite numbers %s, not %s.", names[1L], least, show_value(beta))
  }
  range <- if (open) c(0, 1e6) else c(1, .Machine$double.xmax)
  second <- check_number(prior[[names[2L]]], paste0("prior$", names[2L]), range[1L], range[2L], open = open)
  stats::setNames(list(beta, second), names)
}

# Checks that starting values have the parts of these names; parts of sites and taxa are put in the order of the data,
# by name if both have names. (`sites` is evaluated only if needed: for shards it is read from files.)
check_start <- function(start, names, wish, sites = NULL, taxa = NULL) {
  if (!is.list(start) || !all(names %in% names(start))) {
    stop_input("`start` must be %s, not %s.", wish, show_value(start))
  }
  named <- function(part) paste0("start$", part)
  for (part in intersect(c("membership", "scores", "coefficients"), names(start))) {
    start[[part]] <- by_name(start[[part]], sites, named(part))
  }
  for (part in intersect(c("aspects", "basis", "prototypes", "loadings", "links"), names(start))) {
    start[[part]] <- by_names(start[[part]], list(NULL, taxa), named(part))
  }
  for (part in intersect(c("intercept", "leak"), names(start))) {
    start[[part]] <- by_name(start[[part]], taxa, named(part))
  }
  start
}

# Checks that an argument is a fit of these models. Contents of an edited fit are not checked: the glue checks the
# shapes of all that reaches a kernel.
check_fit <- function(fit, class = "multicause", name = "fit") {
  if (missing(fit)) stop_missing(name)
  if (!inherits(fit, class)) {
    models <- sprintf("a fit of %s", show_either(paste0(class, "()")))
    what <- if (class[1L] == "multicause") "a model of this package" else models
    stop_input("`%s` must be %s, not %s.", name, what, show_value(fit))
  }
  if (is.na(model_name(fit)) && !inherits(fit, "multicause_ensemble")) {
    stop_input("`%s` must be a fit of a model of this package, not %s.", name, show_value(fit))
  }
  fit
}

is_plain <- function(x) (is.numeric(x) || is.logical(x)) && !is.object(x)

# Values for sites, taxa or both are put in the order of the data. If both have names, names alone decide, and each must
# occur once; if one side has none, values are taken in their order. Arguments that select some of them, by names,
# numbers or TRUE and FALSE, go through pick().

# Returns the names of a vector's entries, of the one-dimensional array of tapply() and table(), or of a table's rows.
# Default row numbers of a data frame are no names, unless they are reordered and most of `known` are among them.
given_names <- function(x, known = NULL) {
  if (is.data.frame(x)) {
    rows <- frame_row_names(x)
    if (is.character(attr(x, "row.names")) || 2 * sum(known %in% rows) > length(known)) rows
  } else if (length(dim(x)) == 2L) {
    dimnames(x)[[1L]]
  } else if (is_line(x) && (is.atomic(x) || is.list(x))) {
    names(x)
  }
}

# Recognises row numbers that as.matrix() and dist() turn into names, unless the data have some of these names.
is_numbering <- function(labels, known) {
  identical(labels, as.character(seq_along(labels))) && !any(labels %in% known)
}

# Matches `known`, the names of the data, to `labels`, the names of the values; NULL: taken in order.
#   others  whether values of others are allowed, such as covariates of sites that were left out
#   what    what messages call the names
name_order <- function(labels, known, argument, others = FALSE, what = "Names") {
  if (is.null(labels) || is.null(known) || identical(labels, known) || is_numbering(labels, known)) {
    return(NULL)
  }
  twice <- unique(labels[duplicated(labels)])
  wrong <- list(
    "they lack %s" = setdiff(known, labels),
    "they have %s twice" = if (others) intersect(twice, known) else twice,
    "the data have no %s" = if (!others) setdiff(labels, known)
  )
  wrong <- wrong[lengths(wrong) > 0L]
  if (length(wrong)) {
    stop_input(
      "%s of `%s` must be those of the data, each once: %s.", what, argument,
      paste(mapply(sprintf, names(wrong), lapply(wrong, show_names)), collapse = ", ")
    )
  }
  match(known, labels)
}

# Orders a vector, or the rows of a table, by name.
by_name <- function(x, known, argument, others = FALSE) {
  x <- plain_values(x)
  at <- name_order(given_names(x, known), known, argument, others, if (is_line(x)) "Names" else "Row names")
  if (is.null(at)) x else if (is_line(x)) x[at] else x[at, , drop = FALSE]
}

# Orders a table of sites and taxa; known: the names of its rows and of its columns, or NULL.
by_names <- function(x, known, argument) {
  if (length(dim(x)) != 2L) {
    return(x)
  }
  x <- by_name(x, known[[1L]], argument)
  at <- name_order(colnames(x), known[[2L]], argument, what = "Column names")
  if (is.null(at)) x else x[, at, drop = FALSE]
}

# Orders values by name, except a number for all or a range of two: their names, such as c(low = , high = ), are not
# those of sites.
by_name_unless_range <- function(x, known, argument) {
  x <- plain_values(x)
  of_all <- is_line(x) && length(x) <= 2L && !any(given_names(x) %in% known)
  if (of_all) x else by_name(x, known, argument)
}

# Handles errors but not interrupts.
catch_error <- function(expr, handler) tryCatch(expr, error = handler)

# Returns the row names of a data frame: text, or the numbers that its rows had in a larger table or in another order.
frame_row_names <- function(x) {
  rows <- attr(x, "row.names")
  if (is.character(rows)) {
    rows
  } else if (.row_names_info(x) > 0L && !identical(as.integer(rows), seq_along(rows))) {
    as.character(rows)
  }
}

# Returns the name of the model function: the first class of the fit that is one, without "_shards"; NA if there is
# none.
model_name <- function(fit) {
  if (inherits(fit, "multicause_ensemble")) {
    return("ensemble")
  }
  here <- topenv()
  names <- sub("_(shards|gibbs)$", "", class(fit))
  names[vapply(names, function(each) exists(each, here, mode = "function", inherits = FALSE), NA)][1L]
}

check_counts <- function(x, name, min = 1L) {
  if (missing(x)) stop_missing(name)
  whole <- function(x) all(x == floor(x) & x >= min & x <= .Machine$integer.max)
  ok <- is.numeric(x) && length(x) && !anyNA(x) && whole(x) && !anyDuplicated(x)
  if (!ok) stop_input("`%s` must hold different whole numbers of at least %d, not %s.", name, min, show_value(x))
  as.integer(x)
}

check_unit_vector <- function(x, name, length) {
  if (!is.numeric(x) || length(x) != length) {
    stop_input("`%s` must be %s, not %s.", name, count_words(length, "number"), show_value(x))
  }
  bad <- which(is.na(x) | x < 0 | x > 1)
  if (length(bad)) {
    stop_input("`%s` must lie between 0 and 1: number %d is %s.", name, bad[1L], format(x[bad[1L]]))
  }
  as.double(x)
}

# Checks the parameters of a Dirichlet prior; a posterior mode needs them at least 1.
check_dirichlet <- function(value, name, lengths, wish, bayes = FALSE) {
  ok <- is.numeric(value) && length(value) %in% lengths && all(is.finite(value)) &&
    all(if (bayes) value > 0 else value >= 1) && all(value <= 1e6)
  least <- if (bayes) "above 0" else "of at least 1"
  if (!ok) stop_input("`%s` must be %s %s, at most 1e6, not %s.", name, wish, least, show_value(value))
  as.double(value)
}

# Returns the memory of this machine in bytes, or what a container may take of it on Linux (version 2 of its control
# groups, then 1); NA if unknown.
machine_memory <- function() {
  limits <- c("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
  given <- unlist(lapply(limits[file.exists(limits)], readLines, n = 1L, warn = FALSE))
  given <- as.numeric(grep("^[0-9]+$", given, value = TRUE)) # "max" is no limit
  min(.Call(mc_c_memory), given)
}
most_of_memory <- 0.8 # that one call may take: the system and the session's other data need the rest

enough_components <- 1000L # that any table may be asked for; beyond, as many as it has cells
copies_of_parameters <- 5L # that a fit needs at least: start, result, and three of the accelerated cycle

# Checks that `k` is possible for a table of these extents and fits into memory, before starting values are drawn.
check_k <- function(k, extent, least = 1L) {
  k <- check_count(k, "k", least)
  shape <- paste(extent, collapse = " x ")
  most <- max(enough_components, least, prod(as.double(extent)))
  if (k > most) {
    stop_input("`k` must be at most %.0f for a table of %s, not %d.", most, shape, k)
  }
  check_memory(8 * copies_of_parameters * k * sum(as.double(extent)), sprintf("`k` = %d, for a table of %s,", k, shape))
  tell_many_components(k, extent)
  k
}

# As many components as the smaller side has units can reproduce a table, so a good fit is no evidence. Of an array the
# side is what stands across from its longest one.
tell_many_components <- function(k, extent, name = "k") {
  least <- prod(as.double(extent)) / max(extent)
  if (k > 1 && k >= least) {
    inform(paste(
      "`%s` = %.0f is not below the smaller side of the table (%.0f): so many components may reproduce the data",
      "exactly."
    ), name, k, least)
  }
}

# `instead`: an alternative that needs less memory, or NULL.
check_memory <- function(bytes, what, instead = NULL) {
  has <- machine_memory()
  if (isTRUE(bytes > most_of_memory * has)) {
    gb <- function(bytes) format(bytes / 1e9, digits = 2L)
    stop_input("%s would need %s GB of memory or more: this machine has %s%s.", what, gb(bytes), gb(has),
      if (is.null(instead)) "" else paste0("; ", instead))
  }
}
