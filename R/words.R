# The user's words for rows and columns, in prints and figures.

# What the user calls rows and columns: the names of the dimnames, else sites and taxa; more than one of them.
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

# The same of a result of a fit, which has kept them; else of nobody's table.
kept_words <- function(x) attr(x, "words") %||% c("sites", "taxa")

plural_word <- function(word) {
  many <- unname(many_of[tolower(word)])
  ifelse(is.na(many), word, as_written(many, word))
}

singular_word <- function(word) {
  one <- names(many_of)[match(tolower(word), many_of)]
  ifelse(is.na(one), word, as_written(one, word))
}

# Numbers that are expected, as people write them: each with two digits below 100, else with three.
show_count <- function(x, digits = 2L) {
  vapply(signif(x, digits + (x >= 100)), format_big, "", USE.NAMES = FALSE)
}

# Groups of digits that no page breaks across lines.
unbroken <- function(text) gsub("(?<=[0-9]) (?=[0-9]{3}(?![0-9]))", "\u00a0", text, perl = TRUE)

count_side <- function(n, words) paste(format_big(n), ifelse(n == 1, singular_word(words), words))

# With a capital where the user's word has one.
as_written <- function(new, word) {
  ifelse(grepl("^[[:upper:]]", word), paste0(toupper(substr(new, 1L, 1L)), substring(new, 2L)), new)
}

# One row or one column in the user's words; `of` is "site" or "taxon".
side_word <- function(fit, of) singular_word(axis_words(fit))[match(of, c("site", "taxon"))]

# Heads of a table for readers: what results call their sides, in the user's words.
side_heads <- function(heads, words) {
  for (side in 1:2) {
    at <- match(c("site", "taxon")[side], heads)
    if (!is.na(at)) heads[at] <- singular_word(words)[side]
  }
  heads
}

# "30 sites x 10 genera".
table_words <- function(d, words = c("sites", "taxa")) {
  paste(count_side(d[1:2], words), collapse = " x ")
}

# What a model says of the shape of its data.
shape_words <- function(fit) UseMethod("shape_words")

shape_words.default <- function(fit) {
  paste0(table_words(fit$dims, axis_words(fit)), ", ", count_words(fit$dims[["k"]], "component"))
}

# strwrap() that ends no line within a number, as in 933 000, 95 % or s.e. 0.2, nor at a "\001", which becomes a space.
wrap_text <- function(text, width = min(getOption("width"), 100L), ...) {
  whole <- gsub("([0-9]) (?=[0-9]{3}(?![0-9])|%)", "\\1\001", text, perl = TRUE)
  whole <- gsub("s.e. ", "s.e.\001", whole, fixed = TRUE)
  gsub("\001", " ", strwrap(whole, width, ...), fixed = TRUE)
}

# Writes sentences, wrapped where they are wider than the window. Those that begin with a space are rows of a table.
write_sentences <- function(lines) {
  wrapped <- lapply(lines, function(line) if (startsWith(line, " ")) line else wrap_text(line, exdent = 2))
  writeLines(as.character(unlist(wrapped)))
}

# Prints a table of results as the data frame that it still is where its own print has nothing to rest on: without rows,
# or without these columns, after subset(), `[` or new names. Returns whether it did.
#   numbers, others  columns that the print needs, the first as numbers or as TRUE and FALSE
#   formatted        columns that need not be there, but are numbers if they are
print_as_frame <- function(x, digits, numbers = character(), others = character(), formatted = character()) {
  columns <- unclass(x)[intersect(c(numbers, formatted), names(x))]
  is_number <- vapply(columns, function(column) is.numeric(column) || is.logical(column), NA)
  if (nrow(x) && all(c(numbers, others) %in% names(x)) && all(is_number)) {
    return(FALSE)
  }
  print.data.frame(round_columns(as.data.frame(x), digits), row.names = FALSE)
  TRUE
}

# A factor whose levels stand in one order, whatever the language of the session.
fixed_factor <- function(x) factor(x, sort(unique(x), method = "radix"))

# Prints columns of strings under their names, those in `left` flush left, the others flush right; as wide as they are.
print_aligned <- function(columns, left = 1L) {
  padded <- lapply(seq_along(columns), function(j) {
    format(c(names(columns)[j], as.character(columns[[j]])), justify = if (j %in% left) "left" else "right")
  })
  writeLines(sub(" +$", "", do.call(paste, c(padded, sep = "  "))))
}

# What the number missed is a number of, or rests on.
wz_words <- list(
  curve = "found by two more surveys of equal effort",
  groups = "of the fauna of each group, by Chao's estimate",
  visits = "found by no visit, by the occupancy of each taxon",
  completeness = "if completeness is as supplied", effort = "if what was missed follows effort",
  phantom = "if what was missed is the part of a site that makes only zeros, its phantom"
)

capital <- function(text) paste0(toupper(substr(text, 1L, 1L)), substring(text, 2L))

# Numbers as a reader wants them: `digits` significant ones, but no more than `digits` decimals, and written out where
# large ones beside small ones would make print() write 3.42e+04.
round_columns <- function(x, digits) {
  number <- vapply(x, is.double, NA)
  x[number] <- lapply(x[number], function(column) {
    column <- signif(round(column, digits + 1L), digits)
    if (any(grepl("e", format(column), fixed = TRUE))) vapply(column, format, "", scientific = FALSE) else column
  })
  x
}

show_ends <- function(low, high) sprintf("%s to %s", show_count(low), show_count(high))

# How many were not detected, between which ends, by what evidence.
total_sentence <- function(total, source, words, more = NULL) {
  number <- if (total[["missed"]] < 0.5) "less than 1" else show_count(max(1, total[["missed"]]))
  ends <- show_ends(total[["low"]], total[["high"]])
  if (source == "curve") {
    two <- more[more$surveys == 2, ]
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

# What the phantom's cells are called.
false_of <- function(colour) if (colour == "black") "presences" else "absences"

# A table of a survey: sites and taxa in the user's words, and a line on each column of `legend` that is there.
print_visit_table <- function(x, digits, n, legend) {
  digits <- check_digits(digits)
  shown <- utils::head(x, check_shown(n))
  named <- names(shown)
  names(shown) <- side_heads(named, kept_words(x))
  print.data.frame(round_columns(shown, digits), row.names = FALSE)
  if (nrow(x) > nrow(shown)) cat(sprintf("... and %d more\n", nrow(x) - nrow(shown)))
  write_sentences(legend[names(legend) %in% named])
  said <- setdiff(names(shown), named)
  if (length(said)) cat(sprintf("%s: column `%s`\n", said, setdiff(named, names(shown))), sep = "")
  invisible(x)
}
