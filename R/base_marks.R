# Interprets the marks in tables of text and writes the code that turns them into 0 and 1. Nothing is converted
# silently: the advice lists the marks taken as absences.

is_text <- function(column) is.character(column) || is.factor(column)

# Returns a column as comparable text, in which all that R cannot read is one mark.
readable_text <- function(column) {
  text <- as.character(column)
  replace(text, is_unreadable(text), "\ufffd")
}

# Classifies marks as "blank", "absent", "unknown" or, all others, "present". NA is a blank unless another mark states
# absences.
mark_kind <- function(marks) {
  word <- tolower(trimws(marks))
  number <- suppressWarnings(as.numeric(word))
  kind <- rep("present", length(marks))
  none <- c(absence_words, no_words[nchar(no_words) > 1L], "neg")
  kind[gsub("[-_[:space:]]+", "", word) %in% none | number %in% 0 | grepl(only_strokes, word)] <- "absent"
  codes <- number %in% unknown_codes & all(number[!number %in% unknown_codes] %in% c(0:2, NA))
  kind[grepl("^(\\?+|n/?a|unknown|unk\\.?)$", word) | codes | !is.na(number) & number < 0] <- "unknown"
  kind[word %in% c("", NA)] <- "blank"
  if (!any(kind == "absent")) kind[short_absence(word, kind)] <- "absent"
  if (any(kind == "absent")) kind[is.na(marks)] <- "unknown"
  kind
}

# Dashes, points and strokes, which tables use for an absence.
only_strokes <- "^[-._/\\\\|\u00b7\u2010-\u2015\u2212]+$"

# Finds the absence among two abbreviations such as A and P, abs and pres, N and Y. A single letter is no evidence:
# beside F, frequent, A is abundant.
short_absence <- function(word, kind) {
  two <- unique(word[kind == "present"])
  begins <- function(words) vapply(two, function(one) any(startsWith(words, one)), NA)
  none <- length(two) == 2L & begins(c("absent", "negative", "no", "false"))
  if (sum(none) == 1L && begins(c("present", "positive", "yes", "true"))[!none]) which(word == two[none])
}

# Lists the marks of a table as written, the most frequent first: data frame of text, n, kind.
table_marks <- function(text) {
  marks <- unique(text)
  marks <- data.frame(text = marks, n = tabulate(match(text, marks), length(marks)), kind = mark_kind(marks))
  marks[order(-marks$n, marks$text, method = "radix"), ]
}

# Tests whether a column of text holds marks of a taxon rather than names or kinds of sites: most of its cells are
# numbers or marks of absence; or its marks are `common` to other columns and repeated; or it has blanks and all else
# once, as tags of genes.
holds_marks <- function(column, common) {
  text <- readable_text(column)
  kind <- mark_kind(text)
  there <- kind == "present"
  if (all(kind == "blank")) {
    return(FALSE)
  }
  if (mean(!there | reads_as_number(trimws(text))) >= 0.5) {
    return(TRUE)
  }
  # Two columns of names have all of their values in common.
  anyDuplicated(text) > 0L && mean(text[there] %in% common) >= 0.5 || are_tags_once(text)
}

are_tags_once <- function(column) {
  text <- readable_text(column)
  there <- mark_kind(text) == "present"
  any(!there) && !anyDuplicated(text[there])
}

# Returns the marks that at least `times` of these columns have.
common_marks <- function(columns, times = 2L) {
  each <- unlist(lapply(Filter(is_text, columns), function(column) unique(readable_text(column))), use.names = FALSE)
  marks <- unique(each)
  marks[tabulate(match(each, marks), length(marks)) >= times]
}

# Recognises running text, such as whole documents.
are_sentences <- function(text) {
  known <- text[!is.na(text) & text != "" & !is_unreadable(text)]
  length(known) > 0L && mean(lengths(strsplit(utils::head(known, 1000L), "[[:space:]]+"))) >= 5
}

corpus_advice <- paste(
  "Text is counted first: tm::DocumentTermMatrix(), quanteda::dfm() and tidytext::cast_sparse() make tables of",
  "documents and words."
)

# Advises on columns of marks; `part`: the code of these columns, `whole`: whether `part` has no others.
marks_advice <- function(columns, part, whole = TRUE) {
  text <- unlist(lapply(columns, as.character), use.names = FALSE)
  if (any(is_unreadable(text)) || are_sentences(text)) {
    return(paste("", if (any(is_unreadable(text))) reread_advice else corpus_advice))
  }
  marks <- table_marks(text)
  of <- function(kind) marks$text[marks$kind %in% kind]
  none <- of(c("blank", "absent"))
  unknown <- of("unknown")
  quoted <- function(text) ifelse(is.na(text), "NA", sprintf("\"%s\"", gsub("([\"\\\\])", "\\\\\\1", text)))
  said <- sprintf(" Its marks are %s.", show_marks(marks, quoted))
  if (!length(none)) {
    return(paste0(
      said, sprintf(" Name that of a presence, as in `%s`; ", mark_code(part, sprintf("%s == \"...\"", part), whole)),
      "a list of records becomes a table by occurrence_matrix()."
    ))
  }
  unknown <- setdiff(unknown, NA)
  first <- if (length(unknown) > 5L) {
    sprintf(" If marks such as %s and %s are unknown, make them NA first.", quoted(unknown[1L]), quoted(unknown[2L]))
  } else if (length(unknown)) {
    sprintf(" If %s is unknown, first use `%s[%s] <- NA`.", paste(quoted(unknown), collapse = " or "), part,
      paste(sprintf("%s == %s", part, quoted(unknown)), collapse = " | "))
  }
  test <- presence_test(part, of("present"), none, quoted)
  paste0(said, first, sprintf(
    " If %s stands for an absence, make 0 and 1 of it as in `%s`; a list of records becomes a table by %s.",
    paste(quoted(none), collapse = " or "), mark_code(part, test, whole), "occurrence_matrix()"
  ))
}

# Writes the condition for a presence: equal to the only mark of one, or to none of the marks of absence.
presence_test <- function(part, present, none, quoted) {
  written <- setdiff(none, NA)
  compared <- if (length(present) == 1L && length(written)) {
    sprintf("%s == %s", part, quoted(present))
  } else if (length(written)) {
    sprintf("%s != %s", part, quoted(written))
  }
  paste(c(if (anyNA(none)) sprintf("!is.na(%s)", part), compared), collapse = " & ")
}

# In a frame only some columns become numbers, so that its row names stay.
mark_code <- function(part, test, whole) {
  made <- sprintf("(%s) + 0", test)
  if (whole) made else sprintf("%s <- %s", part, made)
}

show_marks <- function(marks, quoted, most = 8L) {
  # Of many that occur once, such as tags of genes, one stands for all.
  many <- sum(marks$n == 1L) > most
  shown <- utils::head(if (many) marks[marks$n > 1L | !duplicated(marks$n), ] else marks, most)
  text <- paste(sprintf("%s (%s)", clip(quoted(shown$text), 30L), vapply(shown$n, format_big, "")), collapse = ", ")
  more <- nrow(marks) - nrow(shown)
  if (more > 0L) sprintf("%s and %s more", text, format_big(more)) else text
}

unknown_codes <- c(9, 99, 999, 9999, -9, -99, -999, -9999)
