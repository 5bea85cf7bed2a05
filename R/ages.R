# Reads ages and places as users supply them (text, stage names, codes for unknown) and names the units of age axes.

# Returns ages as numbers: the bounds of named intervals, with codes for unknown refused. Accepts a vector or a table of
# two columns; anything else is left to the caller's check.
read_ages <- function(age, name = "age") {
  age <- ages_without_units(age, name)
  if (!is.atomic(age) && !is.data.frame(age)) {
    return(age)
  }
  size <- if (is.data.frame(age)) length(age) else if (is_line(age)) 1L else ncol(age)
  if (!isTRUE(size %in% 1:2) || !length(age)) {
    return(age)
  }
  age <- read_numbers(read_intervals(age, name), name)
  refuse_unknown_number(age, name)
  age
}

# Returns one age each, the midpoint of its bounds.
middle_ages <- function(age, name = "age") {
  age <- read_ages(age, name)
  if (is.matrix(age) && is.numeric(age) && ncol(age) == 2L) {
    return(rowMeans(age))
  }
  if (!is.data.frame(age) || !length(age) %in% 1:2 || !all(vapply(age, is.numeric, NA))) {
    return(age)
  }
  if (.row_names_info(age) > 0L) rowMeans(age) else unname(rowMeans(age))
}

# Converts each column to numbers, or stops at the first value that is not a number.
read_numbers <- function(values, name) {
  if (is.data.frame(values)) {
    values[] <- Map(read_number_column, values, names(values), name)
  } else if (is.character(values) && length(dim(values)) == 2L) {
    labels <- colnames(values) %||% as.character(seq_len(ncol(values)))
    for (j in seq_len(ncol(values))) read_number_column(values[, j], labels[j], name)
    storage.mode(values) <- "double"
  } else if (is_line(values)) {
    values <- read_number_column(values, NULL, name)
  }
  values
}

read_number_column <- function(column, label, name) {
  if (!is.character(column) && !is.factor(column)) {
    return(if (is.logical(column) && all(is.na(column))) as.numeric(column) else column)
  }
  text <- trimws(as.character(column))
  wrong <- which(!is.na(text) & !reads_as_number(text))
  at <- c(wrong, which(!is.na(text)))[1L]
  if (is.na(at)) {
    return(as.numeric(text))
  }
  if (!length(wrong) && is.null(label)) { # a vector that is wrong as a whole: the caller's check says so
    return(column)
  }
  as_text <- if (is.factor(column)) "as.character(column)" else "column"
  where <- if (is.null(label)) sprintf("value %d", at) else sprintf("row %d of column %s", at, dQuote(label, FALSE))
  stop_input(
    "`%s` must hold numbers: %s is %s%s.%s", name, where, show_value(text[at]),
    if (is.factor(column)) ", of a factor" else ", which is text",
    if (length(wrong)) comma_advice(text) else sprintf(" Use `as.numeric(%s)` on it.", as_text)
  )
}

# Numbers that programs write for unknown values.
sentinels <- c(-99, -999, -9999, -99999, 999, 9999, 99999, 999999)

# Returns a code for unknown among the values, one far from all others or the only one below 0; NULL if none.
unknown_number <- function(values) {
  values <- values[is.finite(values)]
  for (code in intersect(sentinels, values)) {
    others <- values[values != code]
    if (!length(others)) next
    away <- max(min(others) - code, code - max(others))
    if (away > max(diff(range(others)), abs(code) / 2) || (code <= -999 && all(others >= 0))) {
      return(code)
    }
  }
}

# values: numbers, a vector or a table.
refuse_unknown_number <- function(values, name) {
  values <- if (length(dim(values)) == 2L) as.matrix(values) else matrix(values)
  if (!is.numeric(values)) {
    return(invisible())
  }
  for (j in seq_len(ncol(values))) {
    code <- unknown_number(values[, j])
    if (is.null(code)) next
    code <- format(code, scientific = FALSE)
    stop_input(
      "`%s` must be NA where it is unknown: %s%s is %s, far from all others. Use `%s[%s == %s] <- NA`.", name,
      rows_words(which(values[, j] == as.numeric(code))),
      if (is.null(colnames(values))) "" else sprintf(" of column %s", show_names(colnames(values)[j])), code,
      name, name, code
    )
  }
}

rows_words <- function(at) {
  if (length(at) == 1L) sprintf("row %d", at) else sprintf("each of the rows %s", show_places(at))
}

# Many programs write latitude and longitude 0 for an unknown place; a site that truly lies there has neighbours.
refuse_null_island <- function(place, name) {
  nowhere <- rowSums(place == 0) %in% 2
  others <- place[!nowhere & !is.na(rowSums(place)), , drop = FALSE]
  if (!any(nowhere) || !nrow(others) || any(rowSums(abs(others) < 10) == 2)) {
    return(invisible())
  }
  amid <- all(apply(others, 2L, function(at) min(at) <= 0 && max(at) >= 0)) # as in a wide grid of whole degrees
  if (amid && mean(others == floor(others)) > 0.5) {
    return(invisible())
  }
  stop_input(
    paste(
      "`%s` must be NA where it is unknown: %s is at longitude 0 and latitude 0, in the Atlantic, far from all others.",
      "Use `%s[rowSums(%s == 0) %%in%% 2, ] <- NA`."
    ), name, rows_words(which(nowhere)), name, name
  )
}

# Replaces names of intervals of the geological time scale, such as stages, by their bounds; other ages are unchanged.
# age: a vector, or a table of the early and the late interval.
read_intervals <- function(age, name) {
  columns <- if (is.data.frame(age)) unclass(age) else if (length(dim(age)) == 2L) split_columns(age) else list(age)
  is_text <- vapply(columns, function(column) is.character(column) || is.factor(column), NA)
  known <- lapply(columns[is_text], function(column) {
    text <- trimws(as.character(column))
    replace(text, text %in% "", NA)
  })
  words <- unique(unlist(known))
  words <- words[!is.na(words)]
  if (!any(is_text) || !all(is_text | vapply(columns, function(column) all(is.na(column)), NA)) ||
    !any(grepl("^[[:alpha:]][[:alpha:] -]+$", words)) || !length(columns) %in% 1:2) {
    return(age)
  }
  if (!requireNamespace("deeptime", quietly = TRUE)) {
    stop_input(
      paste(
        "`%s` must hold numbers: it holds text, such as %s. Names of intervals become ages where package deeptime is",
        "installed: install.packages(\"deeptime\")."
      ), name, show_names(words, 2L)
    )
  }
  scale <- interval_scale()
  at <- match(interval_key(words), scale$key)
  if (anyNA(at)) {
    lost <- words[is.na(at)]
    if (length(lost) == length(words)) {
      return(age)
    }
    stop_input("`%s` must hold names of the geological time scale of package deeptime: it has no %s.", name,
      show_names(lost))
  }
  bounds <- lapply(known, function(column) scale[match(interval_key(column), scale$key), c("max_age", "min_age")])
  first <- paste(words[1L], "as", paste(format(unlist(scale[at[1L], c("max_age", "min_age")])), collapse = " to "))
  inform("Ages of `%s` are those of package deeptime for %s, in Ma: %s.", name, count_words(length(words), "interval"),
    first)
  out <- data.frame(max_ma = do.call(pmax, c(lapply(bounds, `[[`, 1L), na.rm = TRUE)),
    min_ma = do.call(pmin, c(lapply(bounds, `[[`, 2L), na.rm = TRUE)))
  labels <- if (is.data.frame(age)) attr(age, "row.names") else if (is_line(age)) names(age) else rownames(age)
  if (is.character(labels)) rownames(out) <- labels
  out
}

interval_scale <- function() {
  all <- lapply(c("stages", "epochs", "periods", "eras", "eons"), function(of) {
    deeptime::get_scale_data(of)[c("name", "max_age", "min_age")]
  })
  all <- do.call(rbind, all)
  all$key <- interval_key(all$name)
  all
}

# Matches names of rock and time: "Lower Cretaceous" is the rock of "Early Cretaceous".
interval_key <- function(name) {
  key <- tolower(trimws(name))
  sub("^lower ", "early ", sub("^upper ", "late ", key))
}

# Returns the unit of ages by column names, such as `max_ma`, or of named intervals of the time scale; NULL if there is
# none or if they disagree.
age_units <- c(
  Ma = "ma|mya|myr|myrs", ka = "ka|kya|kyr|kyrs", `years BP` = "bp|ybp|yrbp|yrsbp|calbp",
  year = "years?|yrs?|ce|ad"
)
unit_of_ages <- function(age) {
  columns <- if (is.data.frame(age)) unclass(age) else list(age)
  if (any(vapply(columns, function(column) is.character(column) || is.factor(column), NA))) {
    return("Ma") # numbers are made of names of intervals alone
  }
  labels <- if (length(dim(age)) == 2L) colnames(age)
  plain <- gsub("[^[:alpha:]]+", " ", tolower(labels))
  if (!length(plain)) {
    return(NULL)
  }
  told <- vapply(plain, function(name) {
    names(age_units)[vapply(age_units, function(words) grepl(sprintf("(^| )(%s)( |$)", words), name), NA)][1L]
  }, "")
  if (!anyNA(told) && length(unique(told)) == 1L) told[[1L]]
}

# Returns the user's unit, unless the figure has its own.
said_unit <- function(unit, near) if (identical(unit, "guess")) near$age_unit %||% unit else unit

# Returns the age scale of a figure: list(unit, NULL if unknown; forward: later times are greater numbers). By default
# whole numbers within 1500 to 2100 are taken as calendar years; other ages have no unit.
age_scale <- function(ages, unit = "guess") {
  known <- ages[!is.na(ages)]
  if (identical(unit, "guess")) {
    calendar <- length(known) && all(known >= 1500 & known <= 2100 & known == floor(known))
    unit <- if (calendar) "year"
  }
  calendar <- "^(calendar )?years?$|^(years? )?(ad|ce)$|^(ad|ce) years?$|^(years? )?(bc/ad|bce/ce)$"
  list(unit = unit, forward = !is.null(unit) && grepl(calendar, tolower(trimws(unit))))
}

# Returns ages that increase into the past.
years_ago <- function(ages, unit = "guess") if (age_scale(ages, unit)$forward) -ages else ages

age_words <- function(scale) {
  if (is.null(scale$unit)) {
    "age"
  } else if (grepl("year", scale$unit) && scale$forward) {
    scale$unit
  } else {
    sprintf("%s (%s)", if (scale$forward) "year" else "age", scale$unit)
  }
}

is_found <- function(x) !is.na(x) & x > 0

# Computes the mean age of the observations in which each attribute occurs, from the sums that the fit keeps.
taxon_age <- function(fit, age, x = NULL) {
  x <- fit_data(fit, x)
  sums <- Reduce(`+`, lapply(row_blocks(which(!is.na(age)), fit$dims[["m"]]), function(rows) {
    found <- is_found(dense_rows(x, rows))
    cbind(colSums(found * age[rows]), colSums(found))
  }))
  ifelse(sums[, 2L] > 0, sums[, 1L] / sums[, 2L], NA)
}

match_age <- function(age, known, n, of) {
  age <- by_name(age, known, "age", others = TRUE)
  if (length(age) != n) {
    stop_input("`age` must have %s, one for each %s, not %d.", count_words(n, "value"), of, length(age))
  }
  as.double(age)
}

whose_age <- function(age, of, fit) {
  if (!is.numeric(age) || !is_line(age)) {
    stop_input("`age` must be a numeric vector, not %s.", show_value(age))
  }
  if (any(is.infinite(age))) stop_input("`age` must be finite or NA: number %d is not.", which(is.infinite(age))[1L])
  if (of != "guess") {
    return(of)
  }
  fits <- vapply(1:2, function(side) {
    known <- fit$names[[side]]
    if (is.null(names(age)) || is.null(known)) length(age) == fit$dims[[side]] else all(known %in% names(age))
  }, NA)
  if (sum(fits) != 1L) {
    words <- axis_words(fit)
    if (any(fits)) {
      stop_input(
        "`of` must state whose ages `age` holds, \"site\" or \"taxon\": they fit %s and %s alike.", words[1L],
        words[2L]
      )
    }
    named <- !is.null(names(age)) && !all(vapply(fit$names, is.null, NA))
    stop_input(
      "`age` must hold an age, or NA, for each of the %d %s or of the %d %s%s.", fit$dims[["n"]], words[1L],
      fit$dims[["m"]], words[2L],
      if (named) sprintf(" by their names, not for %s", show_names(names(age))) else sprintf(", not %d", length(age))
    )
  }
  c("site", "taxon")[fits]
}
