# Finds and reads the table of a text export, for read_pbdb() and read_now().

# Reads the table whose header is the first line that is_header() accepts: list(table, metadata), the table all text,
# with NA for blanks, metadata the lines above the header. what and hint word the error if there is none.
read_export <- function(file, what, is_header, hint) {
  if (missing(file)) stop_missing("file")
  if (!is.character(file) || length(file) != 1L || is.na(file)) {
    stop_input("`file` must be the path of %s, not %s.", what, show_value(file))
  }
  if (!file.exists(file) || dir.exists(file)) {
    stop_input("`file` must be the path of %s: there is no file %s.", what, show_names(file))
  }
  if (is_utf16(file)) {
    stop_input("`file` must be text in UTF-8 or Latin-1: %s is UTF-16; save it as UTF-8.", show_names(basename(file)))
  }
  lines <- catch_error(
    suppressWarnings(readLines(file, n = 1000L, warn = FALSE, skipNul = TRUE)),
    function(e) {
      stop_input("`file` must be text: %s cannot be read (%s).", show_names(basename(file)), conditionMessage(e))
    }
  )
  lines <- sub("^\ufeff", "", as_utf8(lines)) # byte order mark
  found <- find_header(lines, is_header)
  if (is.null(found)) {
    stop_input("`file` must be %s: %s %s.", what, show_names(basename(file)), hint(lines))
  }
  if (grepl("REQUEST RETURNED NO RECORDS", lines[found$at + 1L], fixed = TRUE)) { # what the PBDB sends for no rows
    stop_input("`file` must hold occurrences: the request in %s found none.", show_names(basename(file)))
  }
  table <- refuse_swallowed(read_rows(file, found), file, found)
  if (nrow(table) == 0L) {
    stop_input("`file` must hold occurrences: %s ends after its header.", show_names(basename(file)))
  }
  table[] <- lapply(table, function(value) bare_text(as_utf8(value)))
  coded <- setdiff(names(table), "cc") # there "NA" is Namibia
  table[coded] <- lapply(table[coded], function(value) replace(value, value %in% "NA", NA)) # as write.csv() has it
  list(table = table, metadata = lines[seq_len(found$at - 1L)], line = function(row) row_lines(file, found)[row])
}

# Trims text and removes control characters; NA if nothing remains.
bare_text <- function(text) {
  text <- without_controls(text)
  wide <- grep("^[[:space:]]|[[:space:]]$", text)
  text[wide] <- trimws(text[wide])
  replace(text, text %in% "", NA)
}

# Replaces runs of control characters in UTF-8 by a blank: line breaks (the separators of Unicode, too) and terminal or
# printer codes. Few texts have any, and a search of bytes finds them twenty times as fast.
without_controls <- function(text) {
  odd <- grep("[\\x01-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]|\\xe2\\x80[\\xa8\\xa9]", text, perl = TRUE, useBytes = TRUE)
  text[odd] <- gsub("[\u0001-\u001f\u007f-\u009f\u2028\u2029]+", " ", text[odd])
  text
}

# Tests for the byte order mark of UTF-16, in which spreadsheets save "Unicode text".
is_utf16 <- function(file) {
  con <- file(file, "rb")
  on.exit(close(con))
  list(readBin(con, "raw", 2L)) %in% list(as.raw(c(0xff, 0xfe)), as.raw(c(0xfe, 0xff)))
}

# Reads the rows below a header. If a file ends inside quotation marks or inside a line, scan() only warns although it
# has merged rows: here these are errors.
read_rows <- function(file, found) {
  catch_error(
    withCallingHandlers(
      scan_rows(file, found, skip = found$at),
      warning = function(w) {
        below <- count_lines(file, found)
        lost <- found$at + below$n - below$open # but for the line itself
        if (isTRUE(lost > 0)) stop_swallowed(file, below$open, lost)
        stop_fields(found, cut_off)
      }
    ),
    function(e) {
      if (inherits(e, "multicause_input_error")) stop(e)
      stop_fields(found, broken_line(file, found, conditionMessage(e)))
    }
  )
}

# Reads the requested columns of rows as text. read.table() would take the square of the length of a line.
scan_rows <- function(file, found, wanted = found$names, skip = 0L, most = -1L, nul = FALSE) {
  use <- found$names %in% wanted
  rows <- scan(
    file, what = ifelse(use, list(""), list(NULL)), sep = found$sep, quote = found$quote, skip = skip, nmax = most,
    na.strings = c("", "\\N"), strip.white = TRUE, quiet = TRUE, multi.line = FALSE, comment.char = "",
    skipNul = nul
  )
  as.data.frame(stats::setNames(rows[use], found$names[use]), optional = TRUE)
}

# If a quotation mark is not closed on its line, the next one closes it, possibly rows below; the text between becomes
# one field without a change in the number of fields. Lines that are neither rows nor parts of a field are lost; text
# with as many separators as rows in so many lines would have is no remark of several lines.
refuse_swallowed <- function(table, file, found) {
  within <- lines_within(table, found)
  below <- count_lines(file, found)
  lost <- max(below$n - nrow(table) - within[["breaks"]], 0) + within[["swallowed"]]
  if (lost > 0) stop_swallowed(file, below$open, lost)
  table
}

stop_swallowed <- function(file, open, lost) {
  stop_input(
    "`file` must close each quotation mark in its field: %s does not in line %s, and %s would be lost.",
    show_names(basename(file)), if (is.na(open)) "?" else format(open, scientific = FALSE), count_words(lost, "row")
  )
}

# Counts the lines that end within fields, and how many of these were rows.
lines_within <- function(table, found) {
  occurs <- function(what, text) {
    vapply(gregexpr(what, text, fixed = TRUE, useBytes = TRUE), function(at) sum(at > 0L), 0L)
  }
  out <- c(breaks = 0, swallowed = 0)
  for (value in table) {
    text <- value[grep("\n", value, fixed = TRUE, useBytes = TRUE)]
    broken <- occurs("\n", text)
    out <- out + c(sum(broken), sum(broken[occurs(found$sep, text) >= broken * (length(found$names) - 1L)]))
  }
  out
}

# Counts the nonblank lines below the header, and finds the first with a quotation mark that opens a field and is not
# closed there; reads in parts because files may be large.
count_lines <- function(file, found) {
  con <- file(file, "r")
  on.exit(close(con))
  sep <- found$sep
  whole <- sprintf("(^|%s) *\"([^\"]|\"\")*\" *(?=%s|$)", sep, sep)
  at <- n <- 0
  open <- NA_real_
  while (length(lines <- suppressWarnings(readLines(con, 100000L, warn = FALSE, skipNul = TRUE)))) {
    below <- which(at + seq_along(lines) > found$at)
    n <- n + sum(grepl("[^ \t\r]", lines[below], useBytes = TRUE))
    if (nzchar(found$quote) && is.na(open)) {
      left <- gsub(whole, "\\1", lines[below], perl = TRUE, useBytes = TRUE)
      open <- at + below[grep(sprintf("(^|%s) *\"", sep), left, useBytes = TRUE)[1L]]
    }
    at <- at + length(lines)
  }
  list(n = n, open = open)
}

# Finds the line, as an editor counts, on which each row ends.
row_lines <- function(file, found) {
  n_field <- suppressWarnings(
    utils::count.fields(file, found$sep, found$quote, blank.lines.skip = FALSE, comment.char = "")
  )
  n_field[seq_len(found$at)] <- 0L
  which(n_field > 0L) # NA on all lines of a row but its last
}

# Finds the line, as an editor counts, whose number of fields differs from the header's; `otherwise` if none does.
broken_line <- function(file, found, otherwise) {
  n_field <- suppressWarnings(
    utils::count.fields(file, found$sep, found$quote, blank.lines.skip = FALSE, comment.char = "")
  )
  n_field[seq_len(found$at)] <- NA
  line <- which(n_field > 0L & n_field != length(found$names))[1L]
  if (is.na(line)) {
    otherwise
  } else if (line > length(suppressWarnings(readLines(file, skipNul = TRUE)))) { # what an open quotation mark leaves
    cut_off
  } else {
    sprintf("line %d has %d", line, n_field[line])
  }
}

cut_off <- "a quotation mark is not closed, or the file is cut off"

stop_fields <- function(found, why) {
  stop_input("`file` must have %s in each line, as in its header: %s.", count_words(length(found$names), "field"), why)
}

# Finds the first line that splits into the names of a header, by tab, comma or semicolon.
find_header <- function(lines, is_header) {
  for (at in seq_along(lines)) {
    for (sep in c("\t", ",", ";")) {
      if (!grepl(sep, lines[at], fixed = TRUE)) next
      names <- split_fields(lines[at], sep)
      if (is_header(names)) {
        # Tab-separated exports without quoting have stray quotation marks in their remarks.
        quote <- if (sep == "\t" && !grepl('"', lines[at], fixed = TRUE)) "" else "\""
        names[!nzchar(names)] <- "X" # as read.csv() calls the numbers of rows that write.csv() adds
        return(list(at = at, sep = sep, quote = quote, names = make.unique(names)))
      }
    }
  }
  NULL
}

split_fields <- function(line, sep) {
  suppressWarnings( # of quotation marks that are not closed: of any text, before it is known for a table
    scan(text = line, what = "", sep = sep, quote = "\"", quiet = TRUE, strip.white = TRUE, comment.char = "")
  )
}

# Converts columns of numbers only, to integers if they fit; never the columns in `text`.
convert_numbers <- function(table, text) {
  table <- decimal_points(table, text)
  for (column in setdiff(names(table), text)) {
    value <- table[[column]]
    if (all(is.na(value)) || !all(reads_as_number(value[!is.na(value)]))) next
    table[[column]] <- utils::type.convert(value, as.is = TRUE)
  }
  table
}

# Replaces decimal commas, as spreadsheets of some locales save 12.5. With a point in one of these columns a comma may
# mean anything.
decimal_points <- function(table, text) {
  sure <- unlist(table[intersect(c("max_ma", "min_ma", "lng", "lat"), names(table))])
  if (!any(grepl(",", sure, fixed = TRUE)) || any(grepl(".", sure, fixed = TRUE))) {
    return(table)
  }
  inform("The file has decimal commas.")
  for (column in setdiff(names(table), text)) {
    value <- sub(",", ".", table[[column]], fixed = TRUE)
    if (all(reads_as_number(value) | is.na(value))) table[[column]] <- value
  }
  table
}

# Sets impossible ages and coordinates to unknown, with a warning that counts and locates them.
check_plausible <- function(table, file, line) {
  wrong <- which(table$min_ma > table$max_ma | table$min_ma < 0 | table$max_ma < 0)
  if (length(wrong)) {
    warn_implausible(
      wrong, file, line, "ages below 0 or a `min_ma` above `max_ma`", "undated",
      sprintf("max_ma %s, min_ma %s", format(table$max_ma[wrong[1L]]), format(table$min_ma[wrong[1L]]))
    )
    table[wrong, c("max_ma", "min_ma")] <- NA
  }
  if (!all(c("lat", "lng") %in% names(table))) {
    return(table)
  }
  # Longitudes may range from -180 to 180 or from 0 to 360.
  away <- which(abs(table$lat) > 90 | table$lng < -180 | table$lng > 360)
  if (length(away)) {
    warn_implausible(
      away, file, line, "a latitude beyond 90 or a longitude beyond -180 and 360", "without coordinates",
      sprintf("lat %s, lng %s", format(table$lat[away[1L]]), format(table$lng[away[1L]]))
    )
    table[away, c("lat", "lng")] <- NA
  }
  table
}

warn_implausible <- function(rows, file, line, what, as, first) {
  verbs <- if (length(rows) == 1L) c("has", "counts") else c("have", "count")
  warning(warningCondition(
    sprintf(
      "%s of %s %s %s, and %s as %s: %s %s (%s).", count_words(length(rows), "occurrence"), show_names(basename(file)),
      verbs[1L], what, verbs[2L], as, noun(length(rows), "line"), show_lines(line(rows)), first
    ),
    class = "multicause_implausible", call = NULL
  ))
}

show_lines <- function(at) if (length(at) == 1L) as.character(at) else show_places(at)

# Keeps the rows that are identified and dated, and reports how many are not.
keep_usable <- function(table, file, rank) {
  unknown <- if (rank == "any") rep(FALSE, nrow(table)) else is.na(table[[rank]])
  undated <- is.na(table$max_ma) | is.na(table$min_ma)
  lines <- sprintf("Read %s from %s.", count_words(nrow(table), "occurrence"), show_names(basename(file)))
  if (any(unknown | undated)) {
    why <- c(
      if (any(unknown)) sprintf("%s not identified to a %s", format_big(sum(unknown)), rank),
      if (any(undated)) sprintf("%s without ages", format_big(sum(undated)))
    )
    all <- if (length(why) > 1L) paste0(format_big(sum(unknown | undated)), ": ") else ""
    lines <- c(lines, sprintf(
      "Left out %s%s. Kept %s.", all, paste(why, collapse = ", "), format_big(sum(!unknown & !undated))
    ))
  }
  if (all(unknown | undated)) {
    stop_input("`file` must hold usable occurrences. %s", paste(lines, collapse = " "))
  }
  inform("%s", paste(lines, collapse = " "))
  table <- table[!(unknown | undated), , drop = FALSE]
  rownames(table) <- NULL
  table
}

need_columns <- function(table, columns, file, advice) {
  missing <- setdiff(columns, names(table))
  if (length(missing)) {
    stop_input("`file` must have the %s %s: %s has not. %s", noun(length(missing), "column"),
      show_names(missing), show_names(basename(file)), advice)
  }
}

# Checks that these columns are numbers; blank ones become numbers.
need_numeric_columns <- function(table, columns) {
  for (column in intersect(columns, names(table))) {
    if (all(is.na(table[[column]]))) table[[column]] <- NA_real_
    if (!is.numeric(table[[column]])) {
      wrong <- which(!reads_as_number(table[[column]]) & !is.na(table[[column]]))[1L]
      stop_input("`file` must have numbers in column %s: row %d is %s.",
        show_names(column), wrong, show_value(table[[column]][wrong]))
    }
  }
  table
}

#' Read an export of the NOW database
#'
#' Reads a list of localities with their species, as exported from the NOW database of fossil mammals (New and Old
#' Worlds), into the table that [occurrence_matrix()] takes.
#'
#' @param file Path of a text file with tabs, commas or semicolons (also compressed by gzip).
#' @inheritParams read_pbdb
#'
#' @details
#' The file must have a row for each species of each locality: the export "all localities, include species lists", or
#' the export of the cross search. Columns are renamed as in [read_pbdb()] where both databases have them:
#'
#' | column | in the export | in the cross search |
#' | --- | --- | --- |
#' | `lidnum` | `LIDNUM` | `lid_now_loc` (or `lid`) |
#' | `name` | `NAME` | `loc_name` |
#' | `lat`, `lng` | `LAT`, `LONG` | `dec_lat`, `dec_long` |
#' | `max_ma`, `min_ma` | `MAX_AGE`, `MIN_AGE` | `max_age`, `min_age` |
#' | `order`, `family`, `genus` | `ORDER`, `FAMILY`, `GENUS` | `order_name`, `family_name`, `genus_name` |
#' | `species` | `SPECIES` | `species_name` |
#'
#' Names that people give these columns, such as `Locality`, `Latitude` or `MaxAge`, are known, too, and a message
#' reports them. Renamed columns come first; every other column keeps its own name. Blanks, `NA` and `\N` become `NA`;
#' columns of numbers alone become numbers. Indeterminate names (`indet.`, `gen.`, `sp.`, `incertae sedis`, `_`) become
#' `NA`. Control characters, line breaks within a field among them, become blanks. `species` becomes the full name,
#' genus and epithet. Latitude and longitude both exactly 0 are unknown and become `NA`. Impossible ages and
#' coordinates, and quotation marks that would lose rows, are treated as in [read_pbdb()].
#'
#' A message of class `multicause_message` reports what was read and what was left out.
#'
#' @param ... Must be empty.
#' @return A data frame of one row for each species of each locality that is left. A file that is something else,
#'   broken lines, and missing columns are errors of class `multicause_input_error`.
#'
#' @references
#' The NOW Community. New and Old Worlds Database of Fossil Mammals (NOW). \doi{10.5281/zenodo.4268068}
#' @seealso [read_pbdb()], [occurrence_matrix()]
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c(
#'   "LIDNUM\tNAME\tLAT\tLONG\tMAX_AGE\tMIN_AGE\tORDER\tFAMILY\tGENUS\tSPECIES",
#'   "20001\tSansan\t43.53\t0.61\t15.2\t14.8\tCarnivora\tFelidae\tPseudaelurus\tquadridentatus",
#'   "20001\tSansan\t43.53\t0.61\t15.2\t14.8\tProboscidea\tDeinotheriidae\tindet.\tindet.",
#'   "20002\tSteinheim\t48.70\t10.05\t13.5\t12.7\tCarnivora\tFelidae\tPseudaelurus\tsp."
#' ), file)
#' occurrences <- read_now(file)
#' occurrences
#' occurrence_matrix(occurrences, "name", "genus")
#' @export
read_now <- function(file, rank = c("genus", "species", "any"), names = c("keep", "join", "certain"), ...) {
  check_dots(...)
  names <- check_choice(names)
  rank <- check_choice(rank)
  is_header <- function(names) {
    known <- now_names(names)
    "lidnum" %in% known && any(c("name", "genus", "max_ma") %in% known)
  }
  what <- "an export of the NOW database with species lists"
  hint <- function(lines) "has no line with column names such as LIDNUM, NAME, MAX_AGE, GENUS"
  read <- read_export(file, what, is_header, hint)
  table <- read$table
  theirs <- names(table)
  names(table) <- now_names(theirs)
  lacks <- setdiff(c("lidnum", "name", "max_ma", "min_ma", "genus", "species"), names(table))
  if (length(lacks)) { # said in the words of the database
    theirs <- toupper(now_aliases[match(lacks, names(now_aliases))])
    stop_input(
      "`file` must have the %s %s: %s has not. Export localities with their species lists.",
      noun(length(lacks), "column"), show_names(theirs), show_names(basename(file))
    )
  }
  taken <- is.na(match_export(theirs)) & !(names(table) == theirs | names(table) == tolower(theirs))
  if (any(taken)) {
    inform("%s read: %s.", capital(noun(sum(taken), "column")),
      paste(dQuote(theirs[taken], FALSE), "as", names(table)[taken], collapse = ", "))
  }
  standard <- unique(names(now_aliases))
  table <- table[c(intersect(standard, names(table)), setdiff(names(table), standard))]

  taxa <- intersect(c("order", "family", "genus", "species"), names(table))
  table[taxa] <- lapply(table[taxa], function(name) replace(name, grepl(indeterminate, name, ignore.case = TRUE), NA))
  table$species <- ifelse(is.na(table$genus) | is.na(table$species), NA, paste(table$genus, table$species))
  table <- settle_columns(table, c("genus", "species"), names)
  table <- convert_numbers(table, c(taxa, "name"))
  table <- need_numeric_columns(table, c("max_ma", "min_ma", "lat", "lng"))
  if (all(c("lat", "lng") %in% names(table))) {
    nowhere <- which(table$lat == 0 & table$lng == 0)
    table[nowhere, c("lat", "lng")] <- NA
  }
  keep_usable(check_plausible(table, file, read$line), file, rank)
}

# Names of columns here by those in both exports; now_renamed and usual_aliases are names that users give them.
now_aliases <- c(
  lidnum = "lidnum", lidnum = "lid_now_loc", lidnum = "lid", name = "name", name = "loc_name",
  lat = "lat", lat = "dec_lat", lng = "long", lng = "dec_long",
  max_ma = "max_age", min_ma = "min_age", order = "order", order = "order_name", family = "family",
  family = "family_name", genus = "genus", genus = "genus_name", species = "species", species = "species_name"
)
now_renamed <- c(localityid = "lidnum", siteid = "lidnum", locality = "name", localityname = "name", site = "name")

# Renames columns for read_now(). Of several columns for one variable, that of the export is renamed first and others
# keep their names.
now_names <- function(names) {
  exact <- match_export(names)
  renamed <- c(now_renamed, usual_aliases)
  other <- match(gsub("[. _]+", "", tolower(names)), names(renamed))
  ours <- ifelse(is.na(exact), renamed[other], names(now_aliases)[exact])
  at <- order(exact, other)
  ours[at[duplicated(ours[at])]] <- NA
  ifelse(is.na(ours), names, ours)
}

match_export <- function(names) match(gsub("[. ]+", "_", tolower(names)), now_aliases)

indeterminate <- "^(gen|sp|spp|fam|ord)\\.?( |$)|^indet\\.?( |$)| indet\\.?$|^incertae sedis$|^findout$|^[_?-]$"

#' Read a download of the Paleobiology Database
#'
#' Reads a file of fossil occurrences that the Paleobiology Database offers on its download page or by its data service
#' (version 1.2). The result is the table that [occurrence_matrix()] takes.
#' @param file Path of a text file with commas, tabs or semicolons (`.csv`, `.tsv`, `.txt`; also compressed by gzip),
#'   with or without the block of information about the download that stands above the table.
#' @param rank `"genus"` leaves out occurrences that are not identified to a genus, `"species"` those not identified
#'   to a species; `"any"` keeps all.
#' @param names What becomes of names in columns `genus` and `species` that differ only in how they are written:
#'   `"keep"` leaves them apart and reports them; `"join"` makes them one; `"certain"` joins them and leaves out names
#'   with marks of doubt. See [occurrence_matrix()].
#' @param keep which occurrences that the database flags are kept all the same, any of `"trace"` (flag `I`: ichnotaxa,
#'   such as footprints and burrows), `"form"` (flag `F`: form taxa, such as eggs and leaves, named apart from what made
#'   them) and `"replaced"` (flag `R`: identifications that were replaced by a later one which the file has, too).
#'
#' @details
#' The file must be a download of occurrences, not of collections or taxa. It must have the long column names of the
#' database, which the download page gives, and the data service for `occs/list.csv`. These must be there:
#' `collection_no`, `accepted_name`, `accepted_rank`, `max_ma` and `min_ma`. Every column is kept under
#' its name. Blanks, the text `NA` and names such as `NO_GENUS_SPECIFIED` become `NA`. Columns of numbers alone
#' become numbers, also with decimal commas, where ages and coordinates have no decimal points. In column `cc` the text
#' `NA` is Namibia and stays. Control characters become blanks, also line breaks within a field.
#'
#' Where the file has no column `genus` (the option "classification" was not chosen), it is taken from
#' `accepted_name`. A column `species` is added: the first two words of `accepted_name` without the subgenus, where it
#' is a species or below.
#'
#' Ages below 0 and a `min_ma` above `max_ma` become `NA`. So do coordinates with a latitude beyond 90 degrees or a
#' longitude beyond -180 and 360. A warning of class `multicause_implausible` reports how many there are and in which
#' lines. A quotation mark that is closed only in a later row would lose the rows between. It is an error that names the
#' line.
#'
#' A message of class `multicause_message` reports what was read and left out, how many occurrences are flagged, what
#' the database warns of in the block above the table, and whether the file has fewer rows than the database says it
#' sent.
#'
#' @param ... Must be empty.
#' @return A data frame of one row for each occurrence left. The block above the table, if there was one, is its
#'   attribute `"metadata"`. This is a character vector named by its keys: the licence, the date and the address of the
#'   download, which a citation needs. Errors of class `multicause_input_error` are: a file that is something else, is
#'   cut off or holds no record, broken lines, and missing columns.
#'
#' @references
#' Peters SE, McClennen M (2016). The Paleobiology Database application programming interface. *Paleobiology* 42,
#' 1-7. \doi{10.1017/pab.2015.39}
#' @seealso [read_now()], [occurrence_matrix()]
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c(
#'   '"Data Provider","The Paleobiology Database"',
#'   '"Data License","Creative Commons CC-BY"',
#'   '"Records Found","3"',
#'   '"Records:"',
#'   '"occurrence_no","collection_no","accepted_name","accepted_rank","max_ma","min_ma"',
#'   '"146665","12943","Anconastes vesperus","species","305.9","298.9"',
#'   '"147090","13004","Gorgonopsia","suborder","265.1","259.9"',
#'   '"147521","13043","Procolophon trigoniceps","species","252.17","247.2"'
#' ), file)
#' occurrences <- read_pbdb(file)
#' occurrences
#' attr(occurrences, "metadata")[["Data License"]]
#' occurrence_matrix(occurrences, "collection_no", "genus")
#' @export
read_pbdb <- function(file, rank = c("genus", "species", "any"), ..., names = c("keep", "join", "certain"),
                      keep = character()) {
  check_dots(...)
  names <- check_choice(names)
  rank <- check_choice(rank)
  check_keep(keep)
  is_header <- function(names) "collection_no" %in% names && any(c("occurrence_no", "accepted_name") %in% names)
  what <- "an occurrence download of the Paleobiology Database (csv or tsv)"
  read <- read_export(file, what, is_header, pbdb_hint)
  table <- read$table
  advice <- if ("early_age" %in% names(table)) {
    "It is of version 1.1 of the data service: download it again from version 1.2."
  } else {
    "Download occurrences with the default columns, or with the data service and `vocab=pbdb`."
  }
  need_columns(table, c("accepted_name", "accepted_rank", "max_ma", "min_ma"), file, advice)
  metadata <- pbdb_metadata(read$metadata)
  for (warned in metadata[names(metadata) == "Warning"]) inform("The database warns: %s", warned)
  tell_incomplete(table, metadata)

  taxa <- intersect(c("phylum", "class", "order", "family", "genus"), names(table))
  table[taxa] <- lapply(table[taxa], function(name) replace(name, grepl(no_rank, name), NA))
  table <- convert_numbers(table, c(taxa, "accepted_name", "identified_name", "collection_name", "formation", "cc"))
  table <- need_numeric_columns(table, c("max_ma", "min_ma", "lng", "lat"))
  table <- check_plausible(add_names(table), file, read$line) # while rows are those of the file
  table <- settle_columns(leave_out_flagged(table, keep), c("genus", "species"), names)
  table <- keep_usable(table, file, rank)
  if (length(metadata)) {
    attr(table, "metadata") <- metadata
  }
  table
}

check_keep <- function(keep) {
  known <- names(pbdb_flags)
  if (!is.character(keep) || !all(keep %in% known)) {
    stop_input("`keep` must hold none, some or all of %s, not %s.", show_names(known), show_value(keep))
  }
}

# Letters of column `flags` that describe an occurrence.
pbdb_flags <- c(trace = "I", form = "F", replaced = "R")

flag_words <- c(trace = "trace fossil", form = "form taxon", replaced = "replaced identification")

# Drops flagged occurrences, except the kinds to keep. An occurrence with two flags counts under the first.
leave_out_flagged <- function(table, keep) {
  if (!"flags" %in% names(table)) {
    return(table)
  }
  flagged <- vapply(pbdb_flags, grepl, logical(nrow(table)), x = table$flags, fixed = TRUE)
  flagged <- matrix(flagged, nrow(table), dimnames = list(NULL, names(pbdb_flags)))
  latest <- table$occurrence_no[!flagged[, "replaced"]]
  if (!is.null(table$occurrence_no)) { # else the file has no other, or no numbers
    flagged[, "replaced"] <- flagged[, "replaced"] & table$occurrence_no %in% latest
  }
  kind <- names(pbdb_flags)[max.col(flagged, ties.method = "first")]
  kind[rowSums(flagged) == 0] <- NA
  out <- !is.na(kind) & rowSums(flagged[, setdiff(names(pbdb_flags), keep), drop = FALSE]) > 0
  if (any(!is.na(kind) & !out)) inform("Kept because of `keep`: %s.", count_flagged(kind[!out]))
  if (any(out)) {
    said <- sprintf(
      "Left out %s of %s: %s. `keep = %s` keeps them.", format_big(sum(out)),
      count_words(nrow(table), "occurrence"), count_flagged(kind[out]), keep_call(union(keep, kind[out]))
    )
    if (all(out)) stop_input("`file` must hold usable occurrences. %s", said)
    inform("%s", said)
  }
  table[!out, , drop = FALSE]
}

count_flagged <- function(kind) {
  n <- table(factor(kind, names(pbdb_flags)))
  n <- n[n > 0]
  paste(sprintf("%s (flag %s)", count_words(as.vector(n), flag_words[names(n)]), pbdb_flags[names(n)]), collapse = ", ")
}

keep_call <- function(kinds) {
  kinds <- dQuote(intersect(names(pbdb_flags), kinds), FALSE)
  if (length(kinds) == 1L) kinds else sprintf("c(%s)", paste(kinds, collapse = ", "))
}

# Explains, as far as possible, why a file is no occurrence download.
pbdb_hint <- function(lines) {
  text <- paste(utils::head(lines, 50L), collapse = "\n")
  if (grepl("^\\s*[{[]", text)) {
    return("is JSON; download it as csv")
  }
  if (grepl("^\\s*<", text)) {
    return("is a web page, perhaps an error message of the data service; look at it in a browser")
  }
  if (grepl("^\\s*[45][0-9][0-9] [A-Z]", text)) {
    said <- trimws(lines[grepl("[^[:space:]]", lines)])
    return(sprintf("is an error message of the data service: %s", show_names(said, 3L)))
  }
  if (is_cell_table(lines)) {
    return(paste(
      "is a matrix of taxa and collections, not a list of occurrences: read it with read.csv(), turn it by t() where",
      "collections are columns, for a model"
    ))
  }
  if (grepl("(occurrences|collections|original)\\.[a-z]", text)) {
    return(paste(
      "is of Fossilworks or of the database's old download page, with other columns: occurrence_matrix(read.csv(file),",
      "\"collection_no\", \"occurrences.genus_name\") takes it, with the column that holds the genus"
    ))
  }
  if (grepl("(^|\n)\"?oid\"?[,\t]", text)) {
    return("has the short column names; download it with `vocab=pbdb`")
  }
  if (grepl("collection_no", text) && grepl("genus|taxon_name|matched_name|identified_name", text)) {
    return(paste(
      "has collections and taxa, but no column occurrence_no or accepted_name: occurrence_matrix(read.csv(file),",
      "\"collection_no\", \"genus\") takes it, with the column that holds the taxon"
    ))
  }
  if (grepl("collection_no", text)) {
    return("is a download of collections, not of occurrences")
  }
  if (grepl("taxon_no|orig_no", text)) {
    return("is a download of taxa, not of occurrences")
  }
  "has no line with the column names occurrence_no and collection_no"
}

# Tests whether the first rows hold mostly blanks, crosses and whole numbers in several columns, as a matrix does.
is_cell_table <- function(lines) {
  rows <- utils::head(lines[nzchar(lines)], 20L)
  if (length(rows) < 3L) {
    return(FALSE)
  }
  sep <- c("\t", ",", ";")
  sep <- sep[which.max(vapply(sep, function(by) lengths(strsplit(rows[1L], by, fixed = TRUE)), 0L))]
  fields <- lapply(rows, split_fields, sep = sep)
  fields <- fields[lengths(fields) == length(fields[[1L]]) & lengths(fields) > 3L]
  cells <- unlist(lapply(fields[-1L], `[`, -1L))
  length(cells) && mean(grepl("^([0-9]*|[xX])$", cells)) > 0.8
}

# Reads the block above the table: keys and values, parameters and warnings (possibly under a blank key).
pbdb_metadata <- function(lines) {
  fields <- lapply(lines[nzchar(lines)], split_fields, sep = if (any(grepl("\t", lines))) "\t" else ",")
  fields <- lapply(fields, function(field) field[seq_along(field) <= max(0L, which(nzchar(field)))]) # padded rows
  fields <- Filter(length, fields)
  keys <- sub(":$", "", vapply(fields, `[`, "", 1L))
  above <- c("", keys[nzchar(keys)])[cumsum(nzchar(keys)) + 1L] # the key under which a line stands
  fields <- Map(function(field, key, above) {
    if (!nzchar(key) && above == "Warnings") key <- "Warning"
    c(if (nzchar(key)) key, field[-1L])
  }, fields, keys, above)
  fields <- unname(fields[lengths(fields) == 2L])
  stats::setNames(vapply(fields, `[`, "", 2L), vapply(fields, `[`, "", 1L))
}

tell_incomplete <- function(table, metadata) {
  sent <- suppressWarnings(as.numeric(metadata[names(metadata) == "Records Returned"]))
  if (length(sent) == 1L && !is.na(sent) && sent != nrow(table)) {
    inform(
      "The database reports %s, but the file has %d: is the file complete?",
      count_words(sent, "record"), nrow(table)
    )
  }
}

# Adds genus, if the file has none, and species, from the accepted name.
add_names <- function(table) {
  name <- trimws(gsub(" *\\([^)]*\\)", "", table$accepted_name))
  below_genus <- table$accepted_rank %in% c("species", "subspecies")
  if (!"genus" %in% names(table)) {
    named <- below_genus | table$accepted_rank %in% c("genus", "subgenus")
    table$genus <- ifelse(named, sub(" .*$", "", name), NA_character_)
  }
  if (!"species" %in% names(table)) {
    table$species <- ifelse(below_genus, sub("^(\\S+ \\S+).*$", "\\1", name), NA_character_)
  }
  table
}
