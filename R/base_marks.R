# Tables of text: what their marks stand for, and the code that makes 0 and 1 of them. Nothing is read by guess: the
# advice names the marks of absence that it takes for such.

is_text <- function(column) is.character(column) || is.factor(column)

# A column as text that can be compared: what R cannot read is one mark of its own.
readable_text <- function(column) {
  text <- as.character(column)
  replace(text, is_unreadable(text), "\ufffd")
}

# What each mark is: "blank", "absent", "unknown" or, of all others, "present". NA is a blank where nothing else says
# that there is none.
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

# Dashes, points and strokes, as tables have them for nothing.
only_strokes <- "^[-._/\\\\|\u00b7\u2010-\u2015\u2212]+$"

# Of two abbreviations such as A and P, abs and pres, N and Y, that which stands for an absence. A letter alone says
# nothing: F is frequent where A is abundant.
short_absence <- function(word, kind) {
  two <- unique(word[kind == "present"])
  begins <- function(words) vapply(two, function(one) any(startsWith(words, one)), NA)
  none <- length(two) == 2L & begins(c("absent", "negative", "no", "false"))
  if (sum(none) == 1L && begins(c("present", "positive", "yes", "true"))[!none]) which(word == two[none])
}

# The marks of a table as they are written, the most frequent first: data frame of text, n, kind.
table_marks <- function(text) {
  marks <- unique(text)
  marks <- data.frame(text = marks, n = tabulate(match(text, marks), length(marks)), kind = mark_kind(marks))
  marks[order(-marks$n, marks$text, method = "radix"), ]
}

# Does a column of text hold marks of a taxon, and no names or kinds of sites? Most of its cells are then numbers or
# those of absences; or its marks are `common` to other columns; or it has blanks, and all else is there once, as tags
# of genes are.
holds_marks <- function(column, common) {
  text <- readable_text(column)
  kind <- mark_kind(text)
  there <- kind == "present"
  if (mean(!there | reads_as_number(trimws(text))) >= 0.5) {
    return(TRUE)
  }
  mean(text[there] %in% common) >= 0.5 || any(!there) && !anyDuplicated(text[there])
}

# The marks that at least `times` of these columns have.
common_marks <- function(columns, times = 2L) {
  each <- unlist(lapply(Filter(is_text, columns), function(column) unique(readable_text(column))), use.names = FALSE)
  marks <- unique(each)
  marks[tabulate(match(each, marks), length(marks)) >= times]
}

# Running text, such as whole documents.
are_sentences <- function(text) {
  known <- text[!is.na(text) & text != "" & !is_unreadable(text)]
  length(known) > 0L && mean(lengths(strsplit(utils::head(known, 1000L), "[[:space:]]+"))) >= 5
}

corpus_advice <- paste(
  "Text is counted first: tm::DocumentTermMatrix(), quanteda::dfm() and tidytext::cast_sparse() make tables of",
  "documents and words."
)

# What to do with columns of marks; `part`: the code of these columns, `whole`: whether they are all that `part` is of.
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
  first <- if (length(unknown)) {
    sprintf(" If %s is unknown, first use `%s[%s] <- NA`.", paste(quoted(unknown), collapse = " or "), part,
      paste(sprintf("%s == %s", part, quoted(unknown)), collapse = " | "))
  }
  test <- presence_test(part, of("present"), none, quoted)
  paste0(said, first, sprintf(
    " If %s stands for an absence, make 0 and 1 of it as in `%s`; a list of records becomes a table by %s.",
    paste(quoted(none), collapse = " or "), mark_code(part, test, whole), "occurrence_matrix()"
  ))
}

# The condition that a cell is a presence: to be the one mark of one, or none of those of absences.
presence_test <- function(part, present, none, quoted) {
  written <- setdiff(none, NA)
  compared <- if (length(present) == 1L && length(written)) {
    sprintf("%s == %s", part, quoted(present))
  } else if (length(written)) {
    sprintf("%s != %s", part, quoted(written))
  }
  paste(c(if (anyNA(none)) sprintf("!is.na(%s)", part), compared), collapse = " & ")
}

# Of some columns of a frame only these become numbers, so that its names of rows stay.
mark_code <- function(part, test, whole) {
  made <- sprintf("(%s) + 0", test)
  if (whole) made else sprintf("%s <- %s", part, made)
}

show_marks <- function(marks, quoted, most = 8L) {
  shown <- utils::head(marks, most)
  text <- paste(sprintf("%s (%s)", clip(quoted(shown$text), 30L), vapply(shown$n, format_big, "")), collapse = ", ")
  more <- nrow(marks) - nrow(shown)
  if (more > 0L) sprintf("%s and %s more", text, format_big(more)) else text
}

unknown_codes <- c(9, 99, 999, 9999, -9, -99, -999, -9999)
