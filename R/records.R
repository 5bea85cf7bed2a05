# Reads records in long form, one per presence, for occurrence_matrix(), shards(), read_pbdb() and read_now().

# Million years of a unit of time, by its name in package units.
million_years <- c(
  Gyr = 1e3, Ga = 1e3, Myr = 1, Ma = 1, kyr = 1e-3, ka = 1e-3, year = 1e-6, years = 1e-6, yr = 1e-6, a = 1e-6,
  d = 1e-6 / 365.2425, day = 1e-6 / 365.2425, days = 1e-6 / 365.2425
)

# Ages of package units, a vector or columns of a data frame, as plain numbers in Ma; a unit of anything but time is
# refused.
ages_without_units <- function(age, name = "age") {
  if (is.data.frame(age)) {
    has <- vapply(unclass(age), inherits, NA, "units")
    columns <- unclass(age)
    columns[has] <- lapply(columns[has], ages_without_units, name)
    return(if (any(has)) structure(columns, class = "data.frame") else age)
  }
  if (!inherits(age, "units")) {
    return(plain_values(age))
  }
  parts <- attr(age, "units")
  unit <- paste(c(parts$numerator, if (length(parts$denominator)) c("/", parts$denominator)), collapse = " ")
  if (!unit %in% names(million_years)) {
    stop_input("`%s` must be in a unit of time, such as Myr or kyr, not in %s.", name, dQuote(unit, FALSE))
  }
  if (million_years[[unit]] != 1) inform("`%s` in %s is converted to Ma.", name, unit)
  million_years[[unit]] * plain_values(age)
}

# Without columns that nobody can ask for.
only_named <- function(data) {
  structure(
    unclass(data)[!names(data) %in% c("", NA)], class = "data.frame", row.names = .row_names_info(data, 0L)
  )
}

# Tests whether a column has one value per row.
is_plain_column <- function(value) (is.atomic(value) && is.null(dim(value))) || inherits(value, "POSIXlt")

no_rank <- "^NO_[A-Z]+_SPECIFIED$"

# Returns values as names, the same in whatever part of the data they stand: trimmed, blanks and the Paleobiology
# Database's values for an unused rank as NA, whole numbers in full, text in UTF-8.
name_values <- function(x) {
  if (inherits(x, "POSIXt")) {
    return(moment_names(as.POSIXct(x)))
  }
  if (inherits(x, "integer64") && !isNamespaceLoaded("bit64")) {
    stop_input("Names that are numbers of 64 bits need package bit64: load it first.")
  }
  if (is.object(x)) x <- as.character(x)
  values <- unique(x)
  text <- as.character(values)
  if (is.numeric(values)) {
    whole <- which(is.finite(values) & values == round(values))
    text[whole] <- sprintf("%.0f", values[whole] + 0) # -0 is 0
  } else {
    marked <- Encoding(text) != "unknown"
    text[marked] <- enc2utf8(text[marked])
    text[!marked] <- as_utf8(text[!marked])
    text <- trimws(text)
    text[text %in% "" | grepl(no_rank, text)] <- NA
  }
  text[is.na(values)] <- NA # NaN, too
  text[match(x, values)]
}

# Formats times by the clock of their zone, with fractions of seconds; with the offset from UTC if the clock shows a
# time twice, as at the end of summer time. Includes the time of day, which R omits if it is 0 in all values.
moment_names <- function(x) {
  moments <- unique(round(as.numeric(x), 6))
  second <- floor(moments)
  micro <- round(1e6 * (moments - second))
  at <- function(second) .POSIXct(second, attr(x, "tzone")[1L])
  offset <- function(second) {
    found <- as.POSIXlt(at(second))$gmtoff %||% 0 # none in UTC
    replace(found, is.na(found), 0)
  }
  own <- offset(second)
  twice <- Reduce(`|`, lapply(c(-86400, 86400), function(away) {
    other <- offset(second + away)
    other != own & offset(second + own - other) == other
  }))
  text <- paste0(
    format(at(second), "%Y-%m-%d %H:%M:%S"), ifelse(micro > 0, sub("0+$", "", sprintf(".%06.0f", micro)), ""),
    ifelse(twice, format(at(second), " %z"), "")
  )
  replace(text, is.na(moments), NA)[match(round(as.numeric(x), 6), moments)]
}

# Names that differ only in spelling.

odd_blanks <- "[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff_[:space:]]+"

# Unifies blanks, underscores, dashes, and letters whose accent is a separate character.
plain_spelling <- function(name) {
  odd <- grep("[^ -^`-~]|^ |  | $", name, perl = TRUE, useBytes = TRUE) # few: not ASCII alone, or with such blanks
  text <- trimws(gsub(odd_blanks, " ", utf8::utf8_normalize(name[odd])))
  replace(name, odd, gsub("[\u2010-\u2015\u2212]", "-", text))
}

# Open nomenclature, as regular expressions. A word begins at the start, after a blank or in brackets.
word_start <- "(?i)(?<![^ (])"
like_words <- paste0(word_start, "(?:(?:cf|aff|ex gr)(?:\\. *| |$)|(?:gr|nr|conf)\\. *)")
no_species <- "(?i)(?<=\\S)(?<! n\\.)(?<! nov\\.)(?: (?:gen|sp|spp|spec|ssp|subsp|et|indet|undet)\\.?)+$"
new_genus <- paste0(word_start, "(?:(?:n|nov)\\. ?gen|gen\\. ?(?:n|nov))\\. *")
new_species <- paste0(word_start, "(?:gen\\. et )?(?:(?:n|nov)\\. ?s(?:ub)?s?p|s(?:ub)?s?p\\. ?(?:n|nov))\\. *")
binomial <- "^\\S+( \\(\\S+\\))? [[:lower:]-]{3,}"
quotes <- "(?<![^ (])[\"'\u2018\u201c\u201e\u00ab]+|[\"'\u2019\u201d\u201c\u00bb]+(?![^ ),?])"

# Footnote marks, also a number in square brackets at the end; and signs of extinct taxa.
footnotes <- "[*\u2020\u2021\u00a7\u00b6\u00b9\u00b2\u00b3\u2070-\u2079]+|(?<=[[:lower:]]{2}) ?\\[[0-9a-z]{1,2}\\]$"

# Alternatives of which one is right, and words that name no taxon and no place.
either_name <- "(?<=[[:alpha:]]{2}) ?/ ?(?=[[:alpha:]]{2})|(?<=[[:alpha:]]{2}) (?:or|vs\\.?|versus) (?=[[:alpha:]]{2})"
no_name <- paste0(
  "(?i)^(?:no[nt]? .*|none|nothing|nil|n/a|(?:.* )?un(?:known|identified|identifiable|determined|specified|named?)",
  "(?: .*)?|indeterminate|indetermined|[?.-]+)$"
)
is_no_name <- function(name) grepl(no_name, plain_spelling(substr(name, 1L, longest_name)), perl = TRUE)

longest_name <- 2000L # what is longer, a text or a sequence, has none of the marks of names

# Removes marks of open nomenclature and of footnotes, quotation marks around words, and the sign of a hybrid before its
# genus or epithet. The sign of a formula, as between two species, stays: without it the name would be another's. So do
# numbers and letters of unnamed species, authors, years and ranks.
clean_names <- function(name) {
  text <- plain_spelling(name)
  marks <- "[^A-Za-z0-9 -]|\\b(cf|aff|ex gr|spp?|spec|ssp|subsp|indet|undet|gen|x)\\b"
  odd <- grep(marks, text, ignore.case = TRUE, perl = TRUE, useBytes = TRUE)
  odd <- odd[nchar(text[odd], "bytes") < longest_name]
  out <- squish(gsub(footnotes, " ", gsub("[?]", " ", text[odd]), perl = TRUE))
  out <- gsub("\u2019(?=\\w)", "'", gsub(quotes, "", out, perl = TRUE), perl = TRUE)
  out <- gsub(new_genus, "", gsub(like_words, "", gsub("\\( *\\)", " ", squish(out)), perl = TRUE), perl = TRUE)
  named <- gsub(new_species, "", out, perl = TRUE)
  out <- ifelse(grepl(binomial, squish(named)), named, out)
  out <- sub(no_species, "", squish(out), perl = TRUE)
  out <- sub(" (?:ssp|subsp)\\.? (?=\\S)", " subsp. ", out, perl = TRUE)
  out <- gsub("(?<=[[:lower:]]) x (?=[[:alpha:]])|^x (?=[[:upper:]])| *\u00d7 *", " \u00d7 ", out, perl = TRUE)
  out <- sub("^ \u00d7 ", "", out)
  out <- squish(sub("^([[:upper:]][[:lower:]-]+) \u00d7 (?=[[:lower:]])", "\\1 ", out, perl = TRUE))
  text[odd] <- ifelse(grepl("[[:alnum:]]", out), out, text[odd]) # nothing but marks is no name to clean
  text
}

squish <- function(text) trimws(gsub(" +", " ", text))

# Tests whether a name is marked as uncertain, or ends above the species.
is_doubtful <- function(name) {
  text <- plain_spelling(substr(name, 1L, longest_name))
  text <- gsub(paste0(new_genus, "|", new_species), "", text, perl = TRUE)
  rank <- paste0(word_start, "(?:spp?|spec|indet|undet)\\.?(?= |$)")
  marks <- c("[?]", either_name, no_name, like_words, quotes, rank)
  Reduce(`|`, lapply(marks, grepl, text, perl = TRUE))
}

# Reports a column of nothing but marks of doubt, as Darwin Core has it beside the names.
tell_marks_beside <- function(data, given) {
  for (column in setdiff(names(data), given)) {
    if (!is_text(data[[column]])) next
    values <- trimws(unique(as.character(data[[column]])))
    values <- values[!values %in% c("", NA)]
    if (!length(values) || length(values) > 20L || any(nchar(values) > 20L) || !all(is_doubtful(values))) next
    inform("Marks of doubt in column %s, of %s, are no part of the names. To leave these out, use `data[%s, ]`.",
      dQuote(column, FALSE), count_words(sum(trimws(as.character(data[[column]])) %in% values), "row"),
      sprintf("data[[\"%s\"]] %%in%% c(\"\", NA)", column))
  }
}

# Settles names of taxa by `names`: unchanged, with a message on those that differ only in spelling; joined; or joined
# without the doubtful ones, which become NA. `known`: spellings to prefer.
settle_names <- function(name, names, known = NULL) {
  clean <- clean_names(name)
  key <- tolower(clean)
  if (names != "certain") {
    tell_unnamed(name, "taxa", "leave the taxon blank there, or use `names = \"certain\"`")
  }
  if (names == "keep") {
    tell_alike(name, key, "taxa", "case, blanks or marks such as \"?\" and \"cf.\"", paste(
      "With `names = \"join\"` each such group is one taxon, with `names = \"certain\"` names with marks of doubt are",
      "left out."
    ))
    return(name)
  }
  out <- if (is.null(known)) clean[best_spelling(clean, key)] else known[match(key, tolower(clean_names(known)))]
  doubtful <- names == "certain" & is_doubtful(name) & !is.na(name)
  tell_settled(name, key, doubtful)
  replace(out, doubtful, NA)
}

# Returns for each name the position of its group's best spelling: with a capital first and no other, as genera and
# binomials are written, else the first in byte order. The order of the names does not matter.
best_spelling <- function(clean, key) {
  usual <- grepl("^[^[:alpha:]]*[[:upper:]][^[:upper:]]*$", clean)
  order <- order(!usual, clean, method = "radix")
  order[match(key, key[order])]
}

# Groups names with the same key: a list of vectors, in the order of their first names.
alike_groups <- function(name, key) {
  shared <- which(key %in% key[duplicated(key)] & !is.na(name))
  shared <- shared[order(name[shared], method = "radix")]
  unname(split(name[shared], factor(key[shared], unique(key[shared]))))
}

show_groups <- function(groups, most = 4L) {
  shown <- vapply(utils::head(groups, most), function(group) show_names(visible_blanks(group)), "")
  more <- length(groups) - length(shown)
  paste0(paste(shown, collapse = "; "), if (more > 0L) paste("; and", count_words(more, "more group")) else "")
}

# Shows unusual and invisible blanks by their code.
visible_blanks <- function(text) {
  odd <- c("\u00a0", "\u1680", intToUtf8(0x2000:0x200b, multiple = TRUE), "\u202f", "\u205f", "\u3000", "\ufeff")
  for (blank in odd[vapply(odd, function(blank) any(grepl(blank, text, fixed = TRUE)), NA)]) {
    text <- gsub(blank, sprintf("<U+%04X>", utf8ToInt(blank)), text, fixed = TRUE)
  }
  text
}

tell_alike <- function(name, key, what, differ, advice = "") {
  groups <- alike_groups(name, key)
  if (length(groups)) {
    inform(
      "%s of %s differ only in %s, and stay apart: %s. %s", count_words(length(groups), "group"), what, differ,
      show_groups(groups), advice
    )
  }
}

tell_settled <- function(name, key, doubtful) {
  groups <- alike_groups(name[!doubtful], key[!doubtful])
  lines <- c(
    if (length(groups)) sprintf("Joined names of %s: %s.", count_words(length(groups), "taxon"), show_groups(groups)),
    if (any(doubtful)) {
      sprintf(
        "Left out %s with marks of doubt: %s.", count_words(sum(doubtful), "name"),
        show_names(sort(name[doubtful], method = "radix"))
      )
    }
  )
  if (length(lines)) inform("%s", paste(lines, collapse = "\n"))
}

# Reports names that may name nothing, such as "unknown" and "none".
tell_unnamed <- function(name, what, advice) {
  unnamed <- sort(unique(name[is_no_name(name)]), method = "radix")
  if (length(unnamed)) inform("Names that may name no %s: %s. If so, %s.", singular_word(what),
    show_names(unnamed), advice)
}

# Sites are often codes, so similar names are reported but never joined. `values`: of the columns that name sites.
unnamed_site <- "make the site NA there: these records become one site"
tell_alike_sites <- function(name, values = name) {
  tell_unnamed(values, "sites", unnamed_site)
  tell_alike(name, tolower(plain_spelling(name)), "sites", "case or blanks", "Are they the same? Then use one name.")
}

# Settles names in columns of a table; `names` as above.
settle_columns <- function(table, columns, names) {
  values <- unique(unlist(table[columns], use.names = FALSE))
  values <- values[!is.na(values)]
  settled <- settle_names(values, names)
  table[columns] <- lapply(table[columns], function(column) settled[match(column, values)])
  table
}
