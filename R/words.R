# User's words for rows and columns, in prints and figures.

# Returns the user's words for rows and columns: the names of the dimnames, else sites and taxa; in the plural.
axis_words <- function(fit) {
  words <- c("sites", "taxa")
  if (isS4(fit$x)) loadNamespace("Matrix") # of a fit that was read from a file
  given <- names(dimnames(fit$x))
  if (length(given) != 2L) {
    return(words)
  }
  thing <- sub("[._](id|no|nr|name|code)$", "", given, ignore.case = TRUE) # of collection_no, collections
  ifelse(is.na(given) | !nzchar(given), words, plural_word(thing))
}

# Returns the words that a result has kept; by default sites and taxa.
kept_words <- function(x) attr(x, "words") %||% c("sites", "taxa")

plural_word <- function(word) {
  many <- unname(many_of[tolower(word)])
  ifelse(is.na(many), word, as_written(many, word))
}

singular_word <- function(word) {
  one <- names(many_of)[match(tolower(word), many_of)]
  ifelse(is.na(one), word, as_written(one, word))
}

# Formats expected numbers: with two digits below 100, else with three.
show_count <- function(x, digits = 2L) {
  vapply(signif(x, digits + (x >= 100)), format_big, "", USE.NAMES = FALSE)
}

# Joins groups of digits so that pages do not break them across lines.
unbroken <- function(text) gsub("(?<=[0-9]) (?=[0-9]{3}(?![0-9]))", "\u00a0", text, perl = TRUE)

count_side <- function(n, words) paste(format_big(n), ifelse(n == 1, singular_word(words), words))

# Capitalises as the user's word.
as_written <- function(new, word) {
  ifelse(grepl("^[[:upper:]]", word), paste0(toupper(substr(new, 1L, 1L)), substring(new, 2L)), new)
}

# Returns the user's word for one row or column; `of` is "site" or "taxon".
side_word <- function(fit, of) singular_word(axis_words(fit))[match(of, c("site", "taxon"))]

# Returns the heads of a table for readers, with the user's words for its sides.
side_heads <- function(heads, words) {
  for (side in 1:2) {
    at <- match(c("site", "taxon")[side], heads)
    if (!is.na(at)) heads[at] <- singular_word(words)[side]
  }
  heads
}

# Returns "30 sites x 10 genera".
table_words <- function(d, words = c("sites", "taxa")) {
  paste(count_side(d[1:2], words), collapse = " x ")
}

# Describes the shape of a model's data.
shape_words <- function(fit) UseMethod("shape_words")

shape_words.default <- function(fit) {
  sprintf("%s, k = %s", table_words(fit$dims, axis_words(fit)), format_big(fit$dims[["k"]]))
}

# strwrap() that ends no line within a number, as in 933 000, 95 %, k = 2 or SE 0.2, nor at a "\001", which becomes a
# space. Until then a character stands for it that the text does not have, because "\001" has no width.
wrap_text <- function(text, width = min(getOption("width"), 100L), ...) {
  whole <- gsub("([0-9]) (?=[0-9]{3}(?![0-9])|%)", "\\1\001", text, perl = TRUE)
  whole <- gsub("k = ", "k\001=\001", gsub("(SE|s.e.) ", "\\1\001", whole), fixed = TRUE)
  free <- Filter(function(mark) !any(grepl(mark, whole, fixed = TRUE)), c("^", "|", "@", "~", "#"))
  mark <- c(free, "\001")[1L]
  gsub(mark, " ", strwrap(gsub("\001", mark, whole, fixed = TRUE), width, ...), fixed = TRUE)
}

# Writes sentences, wrapped if they are wider than the window. Those that begin with a space are rows of a table.
write_sentences <- function(lines) {
  wrapped <- lapply(lines, function(line) if (startsWith(line, " ")) line else wrap_text(line, exdent = 2))
  writeLines(as.character(unlist(wrapped)))
}

# Prints a table of results as a data frame if it lacks rows or columns that its own print needs, after subset(), `[` or
# new names. Returns whether it did.
print_as_frame <- function(x, digits, numbers = character(), others = character(), formatted = character()) {
  columns <- unclass(x)[intersect(c(numbers, formatted), names(x))]
  is_number <- vapply(columns, function(column) is.numeric(column) || is.logical(column), NA)
  if (nrow(x) && all(c(numbers, others) %in% names(x)) && all(is_number)) {
    return(FALSE)
  }
  print.data.frame(round_columns(as.data.frame(x), digits), row.names = FALSE)
  TRUE
}

# Returns a factor whose levels have the same order in every language.
fixed_factor <- function(x) factor(x, sort(unique(x), method = "radix"))

# Prints columns of strings under their names, those in `left` flush left, the others flush right; as wide as they are.
print_aligned <- function(columns, left = 1L, gap = "  ") {
  padded <- lapply(seq_along(columns), function(j) {
    format(c(names(columns)[j], as.character(columns[[j]])), justify = if (j %in% left) "left" else "right")
  })
  writeLines(sub(" +$", "", do.call(paste, c(padded, sep = gap))))
}

# A number and its ends in one column, where all of them are there.
with_range <- function(shown, name, ends, show) {
  if (all(c(name, ends) %in% names(shown))) {
    each <- lapply(shown[c(name, ends)], show)
    known <- !is.na(shown[[name]])
    shown[[name]] <- ifelse(known, sprintf("%s (%s to %s)", each[[1L]], each[[2L]], each[[3L]]), "not known")
    shown[ends] <- NULL
  }
  shown
}

# Prints a data frame as wide as it is: text flush left, numbers flush right, names cut where a row would be wider than
# the window.
print_rows <- function(table) {
  if (!length(table)) {
    return(print.data.frame(table))
  }
  is_text <- !vapply(table, function(column) {
    is.numeric(column) || all(is.na(column) | grepl("^-?[0-9][0-9 .]*( \\(.*)?$|^not known$", column))
  }, NA)
  shown <- lapply(table, function(column) {
    if (is.numeric(column)) show_numbers(column) else ifelse(is.na(column), "-", as.character(column))
  })
  widths <- mapply(function(name, column) max(nchar(c(name, column)), na.rm = TRUE), names(shown), shown)
  gap <- if (sum(widths + 2) - 2 <= getOption("width")) "  " else " "
  free <- max(getOption("width") - sum(widths + nchar(gap)) + nchar(gap) + widths[1L], 12)
  if (is_text[1L] && widths[1L] > free) shown[[1L]] <- clip(shown[[1L]], free - 3)
  print_aligned(shown, left = which(is_text), gap)
}

# Numbers of a column, each as long as it has to be, whole ones in groups of three digits.
show_numbers <- function(x) {
  whole <- all(x == round(x), na.rm = TRUE)
  ifelse(is.na(x), "-", if (whole) vapply(x, format_big, "") else format(x, scientific = FALSE))
}

# Words for what the number missed estimates, or rests on.
wz_words <- list(
  curve = "to be found by two more surveys of equal effort",
  groups = "at none of a group's sites, by Chao's estimate",
  visits = "found by no visit, by occupancy models",
  completeness = "if completeness is as supplied", effort = "if what was missed follows effort",
  phantom = "if the phantom is what was not recorded"
)

# Names what `missed` is the probability of. From a table alone it is what further surveys can show.
missed_event <- function(w) if (w$source %in% "curve") "found by two more surveys" else "undetected presence"

capital <- function(text) paste0(toupper(substr(text, 1L, 1L)), substring(text, 2L))

# Rounds numbers for readers: `digits` significant ones, but at most one decimal more, and written out where large
# beside small ones would make print() write 3.42e+04. Columns of whole numbers are counts, which stay.
round_columns <- function(x, digits) {
  number <- vapply(x, is.double, NA)
  x[number] <- lapply(x[number], function(column) {
    if (!all(column == round(column), na.rm = TRUE)) {
      size <- floor(log10(pmax(abs(column), 1e-300)))
      column <- round(column, pmin(digits + 1, digits - 1 - size)) # once: 0.4945 is 0.49
    }
    if (any(grepl("e", format(column), fixed = TRUE))) vapply(column, format, "", scientific = FALSE) else column
  })
  x
}

show_ends <- function(low, high) sprintf("%s to %s", show_count(low), show_count(high))

# States the number of undetected presences, its interval and the evidence.
total_sentence <- function(total, source, words, more = NULL) {
  number <- if (total[["missed"]] < 0.5) "less than 1" else show_count(max(1, total[["missed"]]))
  ends <- show_ends(total[["low"]], total[["high"]])
  if (source == "curve") {
    two <- more[more$surveys == 2, ]
    if (isTRUE(total[["missed"]] > 1.001 * two$missed)) {
      # Gaps between presences, which are certain, and what surveys find elsewhere.
      return(sprintf(paste(
        "About %s presences are in gaps between presences of a taxon, or would be found elsewhere by two more surveys",
        "of equal effort (90 %% interval %s)."
      ), number, ends))
    }
    return(sprintf(
      "Two more surveys of equal effort would find about %s more %s (90 %% interval %s%s).", number,
      if (number %in% c("1", "less than 1")) "presence" else "presences", ends,
      if (NROW(two)) {
        sprintf("; in other years or by other methods %s", show_ends(two$unlike_low, two$unlike_high))
      } else {
        ""
      }
    ))
  }
  of <- switch(source,
    groups = sprintf(
      "%s of the faunas of %s were found at none of their sites, by Chao's estimate", words[2L], words[1L]
    ),
    visits = sprintf("presences were found by no visit, by the occupancy of each %s", singular_word(words[2L])),
    sprintf("presences were not detected, %s", wz_words[[source]])
  )
  sprintf("About %s %s (90 %% interval %s).", number, of, ends)
}

# Names the cells that a phantom makes false.
false_of <- function(colour) if (colour == "black") "presences" else "absences"

# A table of a survey under its title: sites and taxa in the user's words, and a line on each column of `legend`.
print_visit_table <- function(x, digits, n, title, legend = character()) {
  digits <- check_digits(digits)
  shown <- as.data.frame(utils::head(x, check_shown(n)))
  named <- names(shown)
  names(shown) <- side_heads(named, kept_words(x))
  for (flag in intersect(c("rare", "bound"), names(shown))) {
    if (is.logical(x[[flag]]) && !any(x[[flag]], na.rm = TRUE)) shown[[flag]] <- NULL
  }
  write_sentences(title)
  print_rows(round_columns(shown, digits))
  if (nrow(x) > nrow(shown)) {
    cat(sprintf("... (%s of %s; as.data.frame() has all)\n", format_big(nrow(shown)), format_big(nrow(x))))
  }
  write_sentences(legend[names(legend) %in% names(shown)])
  invisible(x)
}

visit_legend <- c(
  rare = "rare: found too seldom for an estimate", bound = "bound: the estimate is at its bound, and means nothing"
)
