# Turns covariates of sites and visits into design matrices: formulas, scales, levels, and the same for new values.

# Builds the design of `detection = ~ ...`: list
#   design   d x (n visits), columns centred (where there is an intercept) and scaled over the visits made
#   basis    d x d: coefficients on the covariates' own scale = basis %*% those of the design
#   taxon    m x w, terms of taxon-level covariates, centred and scaled, which move the mean of the intercept
#   frame    what makes the design of new visits: terms, levels, center, scale
detection_design <- function(formula, cell, given) {
  found <- visit_variables(formula, cell, given, "detection")
  split <- split_terms(formula, found$level)
  d <- dim(cell)
  made <- as.vector(visits_made(cell))
  values <- covariate_frame(found$values[all.vars(split$visits)], d[1L] * d[3L])
  check_visit_covariates(values, made, cell)
  by <- covariate_design(split$visits, values, made, "detection")
  taxon <- taxon_design(split$taxon, found$values, d[2L], environment(formula))
  if (ncol(taxon$design) && !by$intercept) {
    stop_input("`detection` must have an intercept where it has covariates of taxa, whose mean they move.")
  }
  c(by[c("design", "basis", "terms")], list(
    taxon = taxon$design, taxon_scale = taxon$scale, frame = by$frame, formula = formula, level = found$level,
    made = made
  ))
}

# Returns the covariates as a table of n rows, even without columns.
covariate_frame <- function(values, n) {
  if (length(values)) as.data.frame(values, optional = TRUE) else data.frame(row.names = seq_len(n))
}

# Builds the design matrix of the covariates, which must be known in rows `made`: list(design = d x rows, basis, terms,
# intercept, frame), see detection_design().
covariate_design <- function(formula, values, made, name) {
  values[] <- lapply(values, as_levels, made)
  known <- values[made, , drop = FALSE]
  frame <- stats::model.frame(formula, known, na.action = stats::na.pass)
  terms <- attr(frame, "terms")
  if (!length(attr(terms, "term.labels")) && !attr(terms, "intercept")) {
    stop_input("`%s` must have an intercept or a term, not %s.", name, deparse1(formula))
  }
  refuse_one_level(frame, name)
  check_terms(frame, name, if (name == "detection") "visits" else "sites")
  matrix <- stats::model.matrix(formula, frame)
  scaled <- scale_design(matrix, name)
  levels <- stats::.getXlevels(terms, frame)
  # Numbers within factor() and the like: between two of them there is no level.
  coded <- unlist(lapply(setdiff(names(levels), names(values)), function(term) all.vars(str2lang(term))))
  is_number <- vapply(known, is.numeric, NA) & !names(known) %in% coded
  made_by <- list(
    terms = terms, levels = levels, contrasts = attr(matrix, "contrasts"), center = scaled$center, scale = scaled$scale,
    typical = Map(typical_value, known, is_number),
    range = Map(function(x, is_number) if (is_number) range(x), known, is_number)
  )
  # A term that depends on all rows, such as cut(x, 3), differs between these and others.
  design <- new_design(made_by, values, FALSE)
  design[, made] <- t(scaled$design)
  list(
    design = design, basis = scaled$basis, terms = colnames(matrix), intercept = scaled$intercept, frame = made_by
  )
}

# A covariate that is no number as text, or with the levels, in their order, that it has in rows `made`.
as_levels <- function(x, made) {
  if (!is.factor(x)) {
    return(if (is.logical(x)) as.character(x) else x)
  }
  text <- as.character(x)
  factor(text, intersect(levels(x), text[made]))
}

# Returns the mean, or the most frequent value.
typical_value <- function(x, is_number = is.numeric(x)) {
  if (is_number) {
    return(mean(x))
  }
  if (!is.numeric(x)) {
    return(names(which.max(table(x))))
  }
  each <- sort(unique(x))
  each[which.max(tabulate(match(x, each)))]
}

# Refuses a factor of one level, at which model.matrix() would stop.
refuse_one_level <- function(values, name) {
  for (one in names(values)) {
    level <- unique(values[[one]])
    if (!is.numeric(level) && length(level) == 1L) {
      stop_input("Covariate `%s` is %s throughout: leave it out of `%s`.", one, dQuote(format(level), FALSE), name)
    }
  }
}

check_terms <- function(frame, name, what) {
  for (term in names(frame)) {
    rows <- as.matrix(frame[[term]])
    bad <- if (is.numeric(rows)) sum(rowSums(!is.finite(rows)) > 0) else 0
    if (bad) {
      stop_input(
        "`%s` has the term %s, which has no finite value for %d of %d %s: change the term or its covariate.", name,
        term, bad, nrow(rows), what
      )
    }
  }
}

# Builds the design of new values, d x rows. If a covariate is unknown, the visit gets all covariates at their means;
# so, too, if a level is new or a term is not finite, except for new data (`strict`).
new_design <- function(frame, values, strict = TRUE) {
  out <- matrix(0, length(frame$center), nrow(values))
  out[names(frame$scale) == "(Intercept)", ] <- 1
  known <- which(stats::complete.cases(values) | !length(values))
  if (!length(known)) {
    return(out)
  }
  rows <- known_levels(frame, values[known, , drop = FALSE], if (strict) known)
  known <- known[rows$known]
  if (!length(known)) {
    return(out)
  }
  x <- (t(stats::model.matrix(frame$terms, rows$frame, contrasts.arg = frame$contrasts)) - frame$center) / frame$scale
  good <- colSums(!is.finite(x)) == 0
  if (strict && !all(good)) {
    at <- which(!good)[1L]
    term <- names(frame$scale)[!is.finite(x[, at])][1L]
    stop_input("Covariates must be finite for %s: row %d is not.", term, known[at])
  }
  out[, known[good]] <- x[, good]
  out
}

# Evaluates the terms for new values, whose levels must be those of the fit: list(frame, known), the model frame of rows
# that have such. `numbers`: those of the rows for an error about others, or NULL.
known_levels <- function(frame, values, numbers) {
  rows <- stats::model.frame(frame$terms, values, na.action = stats::na.pass)
  known <- rep(TRUE, nrow(rows))
  for (term in names(frame$levels)) {
    level <- as.character(rows[[term]])
    other <- which(!level %in% frame$levels[[term]])
    if (length(other) && !is.null(numbers)) {
      stop_input("Covariates must have levels of the fit: %s is %s in row %d, not %s.", term,
        show_value(level[other[1L]]), numbers[other[1L]], show_either(dQuote(frame$levels[[term]], FALSE)))
    }
    known[other] <- FALSE
    rows[[term]] <- factor(level, frame$levels[[term]])
  }
  rows <- rows[known, , drop = FALSE]
  attr(rows, "terms") <- frame$terms
  list(frame = rows, known = known)
}

# Splits the formula into terms of visits and sites, and terms of taxa, which have a separate part in the model.
split_terms <- function(formula, level) {
  terms <- stats::terms(formula)
  if (length(attr(terms, "offset"))) stop_input("`detection` cannot have an offset().")
  labels <- attr(terms, "term.labels")
  of_taxon <- vapply(labels, function(label) {
    of <- level[all.vars(stats::as.formula(paste("~", label)))] == "taxon"
    if (any(of) && !all(of)) {
      stop_input("`detection` has the term %s, of taxa and of visits at once: taxa can only move the intercept.", label)
    }
    any(of)
  }, NA)
  build <- function(labels, intercept) {
    text <- c(if (intercept) "1" else "0", labels)
    stats::as.formula(paste("~", paste(text, collapse = " + ")), environment(formula))
  }
  list(visits = build(labels[!of_taxon], attr(terms, "intercept") == 1L), taxon = labels[of_taxon])
}

# Dates must be supplied as numbers: as text each would be a separate level.
check_covariate_kind <- function(value, name) {
  known <- if (is.character(value)) value[!is.na(value)]
  as_text <- length(known) && all(is_date_text(known))
  if (inherits(value, c("Date", "POSIXt")) || as_text) {
    stop_input(
      paste(
        "Covariate `%s` must be numbers, not dates: put the day of the year into the data, as.POSIXlt(%s)$yday, or",
        "factor(%s) for a coefficient of each date."
      ), name, sprintf(if (as_text) "as.Date(%s, format = )" else "%s", name), name
    )
  }
  if (!is.numeric(value) && !is.character(value) && !is.factor(value) && !is.logical(value)) {
    stop_input("Covariate `%s` must be numbers, text, factor or logical, not %s.", name, show_value(value))
  }
}

# Stops if a covariate is unknown in rows `made`; what(row) names the first such row.
check_covariates <- function(values, made, every, what) {
  for (name in names(values)) {
    value <- values[[name]]
    check_covariate_kind(value, name)
    bad <- which(made & (is.na(value) | (is.numeric(value) & is.infinite(value))))
    if (!length(bad)) next
    stop_input(
      "Covariate `%s` must be known for every %s: it is %s for %s%s.", name, every, format(value[bad[1L]]),
      what(bad[1L]), if (length(bad) > 1L) sprintf(", and for %d more", length(bad) - 1L) else ""
    )
  }
}

check_visit_covariates <- function(values, made, cell) {
  n <- dim(cell)[1L]
  check_covariates(values, made, "visit that was made", function(bad) {
    at <- (bad - 1L) %% n + 1L
    label <- dimnames(cell)[[1L]]
    sprintf("site %s, visit %d", if (is.null(label)) at else dQuote(label[at], FALSE), (bad - 1L) %/% n + 1L)
  })
}

# Scales columns to mean 0 (if there is an intercept) and standard deviation 1; refuses a column that depends on others.
scale_design <- function(x, name) {
  constant <- colnames(x) == "(Intercept)"
  decomposed <- qr(x)
  if (decomposed$rank < ncol(x)) {
    lost <- colnames(x)[decomposed$pivot[-seq_len(decomposed$rank)]]
    stop_input("`%s` has %s, which the other terms make up: leave it out.", name, show_names(lost))
  }
  center <- if (any(constant)) ifelse(constant, 0, colMeans(x)) else rep(0, ncol(x))
  scale <- apply(x, 2L, stats::sd)
  scale[constant | !is.finite(scale) | scale == 0] <- 1
  basis <- diag(1 / scale, ncol(x))
  if (any(constant)) basis[constant, !constant] <- -(center / scale)[!constant]
  design <- sweep(sweep(x, 2L, center), 2L, scale, "/")
  list(design = unname(design), basis = basis, center = center, scale = scale, intercept = any(constant))
}

taxon_design <- function(labels, values, m, where) {
  if (!length(labels)) {
    return(list(design = matrix(0, m, 0L), scale = NULL))
  }
  formula <- stats::as.formula(paste("~", paste(labels, collapse = " + ")), where)
  used <- as.data.frame(values[all.vars(formula)], optional = TRUE)
  for (name in names(used)) {
    if (anyNA(used[[name]])) {
      stop_input("Covariate `%s` must be known for every taxon: it is not for number %d.", name,
        which(is.na(used[[name]]))[1L])
    }
  }
  refuse_one_level(used, "detection")
  frame <- stats::model.frame(formula, used, na.action = stats::na.pass)
  check_terms(frame, "detection", "taxa")
  x <- stats::model.matrix(formula, frame)
  scaled <- scale_design(x, "detection")
  keep <- colnames(x) != "(Intercept)"
  list(
    design = structure(scaled$design[, keep, drop = FALSE], dimnames = list(NULL, colnames(x)[keep])),
    scale = scaled$scale[keep]
  )
}

# Returns values of a covariate in the type and levels of the data; others are NA.
known_values <- function(value, typical, levels, name) {
  if (all(is.na(value))) {
    return(rep(typical[NA_integer_], length(value)))
  }
  if (!is.numeric(typical)) value <- as.character(value)
  bad <- which(!is.na(value) & (if (is.null(levels)) FALSE else !value %in% levels))
  if (is.numeric(typical) && !is.numeric(value)) bad <- which(!is.na(value))[1L]
  if (length(bad)) {
    stop_input("`%s` must be %s: row %d is %s.", name,
      if (is.null(levels)) "numbers" else show_either(dQuote(levels, FALSE)), bad[1L], format(value[bad[1L]]))
  }
  value
}

# The covariates of a design for some rows: those of newdata, and typical ones of the data.
fill_covariates <- function(frame, newdata, name = "newdata", what = "detection") {
  typical <- frame$typical
  if (is.null(newdata)) newdata <- data.frame(row.names = 1L)
  if (!is.data.frame(newdata) || !nrow(newdata)) {
    stop_input("`%s` must be a data frame of covariates with at least one row, not %s.", name, show_value(newdata))
  }
  newdata <- plain_frame(newdata)
  unknown <- setdiff(names(newdata), names(typical))
  if (length(unknown)) {
    stop_input(
      "`%s` has %s, on which %s does not depend: it depends on %s.", name, show_names(unknown), what,
      if (length(typical)) show_names(names(typical)) else "none"
    )
  }
  out <- data.frame(row.names = seq_len(nrow(newdata)))
  for (one in names(typical)) {
    value <- if (is.null(newdata[[one]])) rep(typical[[one]], nrow(newdata)) else newdata[[one]]
    out[[one]] <- known_values(value, typical[[one]], frame$levels[[one]], sprintf("%s$%s", name, one))
  }
  out
}

rows_with_na <- function(values) if (length(values)) which(!stats::complete.cases(values)) else integer()

# Checks `covariate`, one of the numbers that a design is made of; NULL: the first. part: the argument with the formula.
check_numeric_covariate <- function(frame, part, covariate) {
  numbers <- names(Filter(length, frame$range))
  if (is.null(covariate) && length(numbers)) {
    return(numbers[1L])
  }
  if (!is.character(covariate) || length(covariate) != 1L || !covariate %in% numbers) {
    if (!length(numbers)) {
      stop_input(
        "The fit has no numeric covariate of `%s` to draw a curve against (factors have coefficients, no curve).", part
      )
    }
    stop_input("`covariate` must be one of %s, not %s.", show_names(numbers), show_value(covariate))
  }
  covariate
}

# The design along the range of a covariate, the others being typical: list(values, design).
design_along <- function(frame, covariate, points = 101L) {
  range <- frame$range[[covariate]]
  values <- seq(range[1L], range[2L], length.out = points)
  grid <- as.data.frame(frame$typical, optional = TRUE)[rep(1L, points), , drop = FALSE]
  grid[[covariate]] <- values
  list(values = values, design = new_design(frame, grid))
}
