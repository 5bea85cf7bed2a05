# Finds the column that states presence or absence of each record and reads its states, for occurrence_matrix(),
# shards() and visits_array().

# Names of columns that usually state absences, in lower case without separators: one absence in them is enough.
absence_columns <- c(
  "occurrencestatus", "absence", "absent",
  "presence", "present", "presenceabsence", "presabs", "pa", "detected", "detection", "observed",
  "speciesobserved", "found", "seen", "individualcount", "organismquantity", "observationcount", "count", "counts",
  "totalcount", "abundance", "abundvalue", "individuals", "nindividuals", "numberofindividuals", "numindividuals",
  "howmany", "groupsize", "number", "quantity", "n", "value", "freq", "frequency", "cover", "nspecimens", "specimens",
  "nisp", "mni", "reads", "catch", "speciestotal", "det", "pres", "occ", "occurrence", "occupied", "obs", "status", "y"
)

present_words <- c(
  "present", "presence", "detected", "detection", "observed", "found", "seen", "recorded", "positive", "yes", "y",
  "true", "t", "x"
)

yes_no_words <- c("true", "t", "yes", "y", "x", "1", "false", "f", "no", "n", "0")
blank_words <- c("", "na", "n/a", "#n/a", "nan", "\\n", ".", "..", "\u2013", "\u2014")

plain_word <- function(text) gsub("[-_[:space:]]+", "", tolower(text))

# Returns the states of values: 1 present, 0 absent, NA blank, -1 for a value that states none of these.
read_presence <- function(value) {
  value <- as_plain(value)
  if (is.character(value)) {
    values <- unique(value)
    return(read_presence_text(values)[match(value, values)])
  }
  if (!is.logical(value) && !is.numeric(value)) {
    return(rep(-1L, length(value)))
  }
  out <- as.integer(value > 0)
  out[which(is.infinite(value) | value < 0)] <- -1L
  out
}

read_presence_text <- function(text) {
  word <- plain_word(text)
  out <- rep(-1L, length(text))
  out[is.na(text) | word %in% blank_words] <- NA
  out[word %in% present_words] <- 1L
  out[word %in% c(absence_words, no_words)] <- 0L
  number <- which(reads_as_number(trimws(text)))
  out[number] <- read_presence(as.numeric(text[number]))
  # Letters with other meanings too (male, female) state an absence only beside a yes, or if all values state something.
  letter <- word %in% c("n", "f")
  if (any(out %in% -1L) && !any(word %in% c("y", "t", "yes", "true"))) out[letter] <- -1L
  out
}

plain_column <- function(names) gsub("[-_. ]+", "", tolower(names))

# Returns the unique values of a column with their states: list(code, value, n, state). Yes and no are exchanged in a
# column called `absence`, as in OBIS.
tally_column <- function(data, column) {
  value <- as_plain(data[[column]])
  values <- unique(value)
  code <- match(value, values)
  state <- read_presence(values)
  if (plain_column(column) %in% c("absence", "absent")) {
    flag <- tolower(trimws(as.character(values))) %in% yes_no_words
    state[flag] <- 1L - state[flag]
  }
  list(code = code, value = values, n = tabulate(code, length(values)), state = state)
}

as_plain <- function(value) if (is.object(value)) as.character(value) else value

# Checks `present`. Returns NULL, "auto", or list(column, blank, other).
check_present <- function(present, wish) {
  if (is.null(present) || identical(present, "auto")) {
    return(present)
  }
  parts <- names(present) %||% rep("", length(present))
  means <- present[parts != ""]
  if (!is.character(present) || anyNA(present) || sum(parts == "") != 1L ||
    !all(parts %in% c("", "blank", "other")) || anyDuplicated(parts) ||
    !all(means %in% c("present", "absent", "unknown"))) {
    stop_input(
      paste(
        "`present` must be %s, also with what blank and other values are, such as c(\"n\", blank = \"absent\", other =",
        "\"unknown\"), \"auto\" or NULL, not %s."
      ), wish, show_value(present)
    )
  }
  list(column = present[[which(parts == "")]], blank = means["blank"], other = means["other"])
}

# Returns the state of each record: 1, 0 or NA as above. `present` comes from check_present(): with NULL all records are
# presences; with "auto" they are too, but an absence in a column known for absences is an error. `given`: columns that
# are used otherwise; `named`: whether a record has site and taxon; `unit` and `before`: how messages count records.
record_states <- function(data, present, given, named, unit = "row", before = 0) {
  if (identical(present, "auto")) {
    for (column in absence_candidates(names(data), given)) {
      tally <- tally_column(data[named, column, drop = FALSE], column)
      if (any(tally$state %in% 0L) && !is_signed(tally$value)) {
        stop_ask(column, tally, unit, before + which(named)[match(TRUE, tally$state[tally$code] %in% 0L)])
      }
    }
  }
  if (!is.list(present)) {
    return(rep(1L, nrow(data)))
  }
  tally <- tally_column(data, present$column)
  meant <- c(present = 1L, absent = 0L, unknown = NA)
  if (!is.na(present$blank)) tally$state[is.na(tally$state)] <- meant[[present$blank]]
  if (!is.na(present$other)) tally$state[tally$state %in% -1L] <- meant[[present$other]]
  bad <- match(TRUE, tally$state[tally$code] == -1L)
  if (!is.na(bad)) {
    meaning <- if (is_scale(tally)) c("present", "presences") else c("unknown", "unknown")
    stop_input(
      paste(
        "`present` must name a column of TRUE and FALSE, of counts (0 is absent), or of words such as PRESENT and",
        "ABSENT: %s %.0f of %s is %s.%s"
      ),
      unit, before + bad, show_names(present$column), show_value(tally$value[tally$code[bad]]),
      if (any(tally$state %in% 0:1)) {
        sprintf(" `present = c(%s, other = \"%s\")` takes such values as %s.", dQuote(present$column, FALSE),
          meaning[1L], meaning[2L])
      } else {
        ""
      }
    )
  }
  tally$state[tally$code]
}

# Suggests what values are that state neither a presence nor an absence: presences if they are most of the records.
other_values <- function(tally) {
  of <- function(state) sum(tally$n[tally$state %in% state])
  if (is_scale(tally) || of(-1L) > of(1L)) "present" else "unknown"
}

# Tests for the steps of a scale with "+", such as r and 2a of Braun-Blanquet.
is_scale <- function(tally) {
  text <- trimws(as.character(tally$value))
  "+" %in% text && all(grepl("^([+[:alpha:]]|[0-9][[:alpha:]])$", text[tally$state %in% -1L]))
}

# Returns the columns whose names are known for absences.
absence_candidates <- function(names, given) {
  at <- match(plain_column(names), absence_columns)
  setdiff(names[order(at, na.last = NA)], given)
}

# Tests for several values below 0, as temperatures and coordinates have; a single one is a code.
is_signed <- function(values) {
  number <- suppressWarnings(as.numeric(values))
  sum(number < 0, na.rm = TRUE) > 1L
}

# Stops with the values of a column that may state absences and the possible remedies. `first`: the first absence.
stop_ask <- function(column, tally, unit, first, others = character()) {
  absent <- tally$state %in% 0L
  blank <- is.na(tally$state)
  if (!any(absent)) absent <- blank
  odd <- tally$state %in% -1L
  name <- dQuote(column, FALSE)
  meant <- paste(c(
    name, if (any(absent & blank)) "blank = \"absent\"",
    if (any(odd)) sprintf("other = \"%s\"", other_values(tally))
  ), collapse = ", ")
  stop_input(
    paste(
      "Column %s may record absences: %s%s. Use `present = %s` if these are absences (the first is %s %.0f), or",
      "`present = NULL` if every %s is a presence.%s"
    ),
    name, show_tally(tally, absent, unit),
    if (all(absent)) "" else paste(", beside", show_tally(tally, !absent, unit)),
    if (grepl(",", meant)) sprintf("c(%s)", meant) else meant, unit, first, unit,
    if (length(others)) sprintf(" So may %s.", show_names(others)) else ""
  )
}

# Formats values with their numbers of records, the most frequent first.
show_tally <- function(tally, which, unit, most = 4L) {
  label <- ifelse(is.na(tally$value) | trimws(tally$value) %in% "", "blank", as.character(tally$value))
  if (is.character(tally$value)) label[label != "blank"] <- dQuote(clip(label[label != "blank"]), FALSE)
  n <- rowsum(tally$n[which], label[which], reorder = FALSE)[, 1L]
  n <- n[order(-n)]
  shown <- utils::head(n, most)
  text <- sprintf("%s in %s", names(shown), vapply(shown, format_big, ""))
  text[1L] <- sprintf("%s in %s", names(shown)[1L], count_words(shown[1L], unit))
  more <- length(n) - length(shown)
  paste0(paste(text, collapse = ", "), if (more) sprintf(" and %s", count_words(more, "other value")) else "")
}

# Stops at a column, whatever its name, whose values and rows look like a table with absences, if these would change a
# cell. `site`, `taxon`: codes of the rows, NA if unknown; `visit`: of their visits; `counted`: whether cells count
# rows.
ask_by_structure <- function(data, site, taxon, given, unit = "row", visit = NULL, counted = FALSE) {
  rows <- which(!is.na(site) & !is.na(taxon))
  rows <- rows[whole_sites(site[rows])]
  if (!length(rows)) {
    return(invisible())
  }
  data <- as.data.frame(data[setdiff(names(data), given[["taxon"]])], optional = TRUE)
  keys <- list(site = match(site[rows], unique(site[rows])), taxon = match(taxon[rows], unique(taxon[rows])))
  keys$pair <- match_pairs(keys$site, keys$taxon)
  keys$fill <- table_fill(keys)
  keys$cell <- if (counted) seq_along(rows) else if (is.null(visit)) keys$pair else match_pairs(keys$pair, visit[rows])
  columns <- Filter(function(column) may_record(data[[column]]), setdiff(names(data), unlist(given)))
  columns <- columns[!plain_column(columns) %in% names(usual_aliases)]
  found <- list()
  for (column in columns) {
    tally <- tally_column(data[rows, column, drop = FALSE], column)
    if (!records_absence(tally, keys$fill) || !changes_cell(tally, keys$cell) || starts_anew(tally, keys)) next
    if (!follows_event(tally, keys, data[rows, , drop = FALSE], column)) found[[column]] <- tally
  }
  if (length(found)) {
    sure <- vapply(found, function(tally) any(tally$state %in% 0L), NA)
    found <- found[order(!sure)]
    tally <- found[[1L]]
    absent <- if (any(sure)) tally$state %in% 0L else is.na(tally$state)
    first <- rows[match(TRUE, absent[tally$code])]
    stop_ask(names(found)[1L], tally, unit, first, names(found)[-1L])
  }
}

# Selects the rows of whole sites, about `judged_rows` of them: the first sites show the structure of all.
judged_rows <- 1e5
whole_sites <- function(site) {
  code <- match(site, unique(site))
  code <= max(2L, sum(cumsum(as.double(tabulate(code))) <= judged_rows))
}

match_pairs <- function(a, b) {
  pair <- (as.double(a) - 1) * max(b) + b
  match(pair, unique(pair))
}

# Tests whether a column could state absences: plain values, no dates.
may_record <- function(value) {
  is.atomic(value) && is.null(dim(value)) && !inherits(value, c("Date", "POSIXt", "difftime"))
}

# Tests the first 1000 values of a column, which excludes names, dates as text and record numbers.
could_record <- function(value) {
  value <- utils::head(value, 1000L)
  may_record(value) && any(!read_presence(value) %in% -1L) && (length(value) < 100L || anyDuplicated(value) > 0L)
}

# Classifies how complete the table of sites by taxa is, if all taxa have equally many rows at a site: "full", "half" or
# "part". A site is complete if it has nearly all taxa, or exactly the taxa (three or more) of another site.
table_fill <- function(keys) {
  first <- !duplicated(keys$pair)
  site <- keys$site[first]
  taxon <- keys$taxon[first]
  listed <- tabulate(site)
  if (max(taxon) < 2L || length(listed) < 2L) {
    return("part")
  }
  rows <- tabulate(keys$pair)
  even <- mean(rows == round(stats::ave(rows, site)))
  list <- round(rowsum(list_mark(taxon), site)[, 1L], 8)
  same <- listed > 2L & (duplicated(list) | duplicated(list, fromLast = TRUE))
  full <- function(share) even > 0.8 && mean((same | listed > share * max(taxon))[keys$site]) > 0.8
  if (full(0.8)) "full" else if (full(0.5)) "half" else "part"
}

# Maps taxa to numbers such that different sets of taxa have different sums.
list_mark <- function(code) (sin(code * 12.9898) * 43758.5453) %% 1

# Tests whether the values of a column (`tally`) may be those of a table with absences, by how complete the table is.
records_absence <- function(tally, fill) {
  absent <- tally$state %in% 0L
  blank <- is.na(tally$state)
  rest <- !absent & !blank
  if (!any(rest) || is_signed(tally$value)) {
    return(FALSE)
  }
  if (fill == "full" && any(absent | blank) || fill == "half" && any(absent)) {
    return(!is_counter(tally))
  }
  text <- trimws(as.character(tally$value))
  number <- reads_as_number(text)
  zeros <- any(absent & number) && any(tally$state %in% 1L & number) &&
    sum(tally$n[number]) >= max(0.9 * sum(tally$n[!blank]), 0.5 * sum(tally$n)) # of a column that is filled
  flag <- any(absent) && any(tally$state %in% 1L) && !any(tally$state %in% -1L)
  (zeros || flag) && !is_counter(tally) || any(plain_word(text[absent]) %in% absence_words)
}

# Tests for a cell in which no value states a presence.
changes_cell <- function(tally, cell) !all(cell %in% cell[!tally$state[tally$code] %in% c(0L, NA)])

# Recognises what is counted from the first record of a taxon at a site, such as the time since then: each pair has one
# 0, also those with further records.
starts_anew <- function(tally, keys) {
  zero <- tally$state[tally$code] %in% 0L
  all(tabulate(keys$pair[zero], max(keys$pair)) == 1L) && anyDuplicated(keys$pair) > 0L
}

# Recognises row numbers: whole, unique, and without gaps if there are few.
is_counter <- function(tally) {
  value <- suppressWarnings(as.numeric(tally$value))
  !anyNA(value) && all(tally$n == 1L & value == floor(value)) && length(value) > 2L &&
    (length(value) > 20L || diff(range(value)) == length(value) - 1L)
}

# Tests whether a column describes the taxa (a trait), the sites, or an event: constant over all taxa of a site, or
# within each value of another column within a site, such as a date. Groups of absences alone are no evidence, but
# events count as having absences only where such groups exist.
follows_event <- function(tally, keys, data, column) {
  some <- !tally$state[tally$code] %in% c(0L, NA)
  if (all_alike(keys$site, keys$taxon, tally$code, some)$share %in% 1 ||
    all_alike(keys$taxon, keys$site, tally$code, some)$share %in% 1) {
    return(TRUE)
  }
  if (keys$fill == "full") {
    return(FALSE)
  }
  for (other in setdiff(names(data), column)) {
    if (!is.atomic(data[[other]]) || !is.null(dim(data[[other]]))) next
    event <- tally_column(data, other)
    if (any(event$state %in% 0L)) next
    known <- which(!is.na(event$state[event$code]))
    groups <- all_alike(
      match_pairs(keys$site, event$code)[known], keys$taxon[known], tally$code[known], some[known]
    )
    if (isTRUE(groups$share >= 0.95) && groups$n > 1L && groups$n_without > 0L) {
      return(TRUE)
    }
  }
  FALSE
}

# Returns list(share, n, n_without) for groups of rows with several members: the share of groups whose members have
# equal values on average, among the n groups with some value that is no absence, and the number of groups without.
all_alike <- function(group, member, value, some) {
  if (!length(group)) {
    return(list(n = 0L))
  }
  group <- match(group, unique(group))
  pair <- match_pairs(group, member)
  mean <- round(rowsum(list_mark(value), pair, reorder = FALSE)[, 1L] / tabulate(pair), 8)
  own <- group[!duplicated(pair)]
  first <- mean[match(own, own)]
  unlike <- tabulate(own[mean != first], max(group)) > 0L
  many <- tabulate(own, max(group)) > 1L
  any_some <- tabulate(group[some], max(group)) > 0L
  list(share = mean(!unlike[many & any_some]), n = sum(many & any_some), n_without = sum(many & !any_some))
}

# Reports how many records are absent or unknown, for a message.
states_line <- function(state, present) {
  n <- c(sum(state %in% 0L), sum(is.na(state)))
  if (!is.list(present) || !any(n > 0)) {
    return(character())
  }
  of <- sprintf(c("%s absent", "%s unknown"), vapply(n, format_big, ""))[n > 0]
  c(
    sprintf("Of %s, %s by %s.", count_words(length(state), "row"), paste(of, collapse = " and "),
      show_names(present$column)),
    if (n[1L] == 0 && is.na(present$blank)) {
      sprintf("Use `present = c(%s, blank = \"absent\")` if blank means absent.", dQuote(present$column, FALSE))
    }
  )
}
