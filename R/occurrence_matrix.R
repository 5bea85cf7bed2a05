#' From an occurrence table to a matrix
#'
#' Turns a long table of occurrences, with a row for each presence of a taxon at a site, into the matrix of sites by
#' taxa that every model of this package takes. Pairs of site and taxon that have no row are 0. A table of the sites
#' comes with it, in the same order. Several visits to a site are pooled; [visits_array()] keeps them separate.
#' @param data A data frame or tibble with a row for each occurrence.
#' @param site Names of the columns that identify a site. Of several columns, such as `c("formation",
#'   "early_interval")`, every combination that occurs is a site, named by its values joined by `", "`.
#' @param taxon Names of the columns that identify a taxon. Several, such as `c("genus", "species")`, are joined by a
#'   space.
#' @param min_sites,min_taxa Whole numbers of at least 0: a taxon is kept if it is present at `min_sites` sites or more,
#'   a site if it holds `min_taxa` taxa or more. At 0, taxa found nowhere and sites where nothing was found are kept, as
#'   columns and rows of zeros.
#' @param iterate If `TRUE`, the two filters are repeated until both hold. If `FALSE`, each is used once, taxa first, as
#'   in many published tables. A taxon may then be left with fewer sites than `min_sites`, even with none.
#' @param count If `FALSE`, the matrix holds 0 and 1. If `TRUE`, it holds the number of rows of `data` behind each
#'   cell. The name of a numeric column, such as `"n_specimens"`, sums that column instead; where a value of it is
#'   missing, the cell is `NA`, that is, unknown. `c("n_specimens", blank = 1)` counts each missing value as 1.
#' @param present How absences are recorded. `NULL`: every row is a presence. `"auto"`, the default: the same, but a
#'   column that may record absences is an error that names it. The name of a column: its values are `TRUE` or `FALSE`,
#'   counts (0 is absent; eBird's `"X"` is a presence), or words such as `PRESENT` and `ABSENT`, yes and no. A blank
#'   value (`NA`, an empty text, `"-"`, `"."`) is unknown: `c("n", blank = "absent")` makes it an absence, and `c("n",
#'   other = "unknown")` gives a meaning to all other values.
#' @param names Names of taxa that differ only in how they are written: `"keep"` leaves them apart and reports them,
#'   `"join"` makes them one, `"certain"` joins them and leaves out names with marks of doubt. See Details.
#' @param sparse If `TRUE`, the result is a `dgCMatrix` of package Matrix.
#' @param summarise A named list of functions that add columns to the site table. If `data` has a column of that name,
#'   the function receives its values over the rows of a site, else those rows as a data frame. It must return one
#'   value. `max_ma`, `min_ma`, `lng`, `lat`, `paleolng` and `paleolat` need no function.
#'
#' @details **Rows.** Rows without a value in a column of `site` or `taxon` (`NA`, an empty text, or
#' `NO_FAMILY_SPECIFIED` and the like, of the Paleobiology Database) are left out, and white space around names is cut
#' off. The text `"NA"` is a name. Sites and taxa are sorted: by value, and text in the C locale. A message of class
#' `multicause_message` reports what was dropped, sites whose names differ in case or blanks alone, and names such as
#' `unknown`, which make one site of many places. Date-times (`POSIXct`) are named in their own time zone.
#'
#' **Absences.** A row that `present` marks as absent, or a `count` of 0, makes no presence. If rows of a cell disagree,
#' a presence wins, then the unknown (`NA`). `TRUE` in a column called `absence`, as that of OBIS, is an absence.
#' `present = "auto"` stops for columns with well-known names, such as `occurrenceStatus`, `individualCount`, `detected`
#' or `count`, that hold an absence; for zeros among numbers and words such as `absent`; and, if nearly every pair of
#' site and taxon has a row, for any column with zeros, words of absence or blanks.
#'
#' **Names.** `names = "join"` disregards case; white space, underscores and dashes; accents that are characters of
#' their own; quotation marks; footnote marks; the sign of a hybrid; `?`, `cf.`, `aff.`, `ex gr.`, `gr.`, `nr.`,
#' `conf.`; `sp.`, `spp.`, `ssp.`, `gen.`, `indet.` at the end; `n. gen.`, `n. sp.` and `sp. nov.`. It never joins names
#' with different numbers or letters (`sp. 1`), authors, years, subgenera or ranks, or hybrids of two species. `names =
#' "certain"` also leaves out names with marks of doubt, two names with `/` or `or` between them, and words for no
#' taxon, such as `unknown`.
#'
#' **The site table** has a row for each site, with these columns:
#' * `site`, the name;
#' * each column of `data` that is constant within all sites, and those of `summarise`;
#' * if they vary within a site, the widest bounds of age, `max_ma` and `min_ma`, and the medians of `lng`, `lat`,
#'   `paleolng` and `paleolat` (also under names such as `MAX_AGE` or `decimalLatitude`, with a message);
#' * `n_taxa`, the number of taxa present in the matrix, and `n_occurrences`, the number of rows of `data` that are no
#'   absences. These include rows whose taxon was dropped, because they show how well the site was searched.
#'
#' **Other packages.** Tables of palaeoverse (after `bin_time()` and `bin_space()` with `site = c("cell_ID",
#' "bin_assignment")`) and of divDyn can be used as they are. Community tables of vegan, sites by species, go straight
#' into the models: `plsa(dune, 3)`, `aspect_bernoulli((dune > 0) + 0, 3)`. Those of iNEXT have taxa in rows and must be
#' transposed: `plsa(t(bird), 2)`.
#'
#' **Cost.** A few seconds for a million rows; memory grows with the larger of `data` and the result. A dense result of
#' more than 2^31 - 1 cells is refused.
#' @param ... Must be empty.
#' @return `occurrence_matrix()`: a matrix (integer; double if a column is summed) or, if `sparse`, a `dgCMatrix`,
#'   sites by taxa, with row and column names. Its attribute `"sites"` is the site table, a data frame.
#'
#'   `site_table()`: that data frame. Rows or columns taken from the matrix have no site table (R drops it), and
#'   `site_table()` says so: take the table first, and index it by the row names of the part,
#'   `sites[rownames(part), ]`. Of [shards()] it has a row for each site in their order: `shard`, `site` (where there
#'   are names) and their `site_data`.
#'
#'   Wrong input is an error of class `multicause_input_error`: among others a column that `data` does not have, two
#'   combinations that give the same name, or filters that leave nothing.
#'
#' @seealso [early_tetrapods] for a matrix made this way, [range_through()] for the classical rule on which zeros are
#'   false.
#' @examples
#' bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
#' x <- occurrence_matrix(bodies,
#'   site = c("formation", "early_interval"), taxon = "genus",
#'   min_sites = 3, min_taxa = 2,
#'   summarise = list(n_collections = function(rows) length(unique(rows$collection_no)))
#' )
#' dim(x)
#' head(site_table(x))
#'
#' # the number of collections is a measure of how well a site was searched
#' sites <- site_table(x)
#' cor(sites$n_collections, sites$n_taxa, method = "spearman")
#' @order 1
#' @export
occurrence_matrix <- function(data, site, taxon, min_sites = 1, min_taxa = 1, iterate = TRUE, count = FALSE,
                              present = "auto", names = c("keep", "join", "certain"), sparse = FALSE,
                              summarise = NULL, ...) {
  check_dots(...)
  check_given(data)
  if (!is.data.frame(data)) {
    stop_input("`data` must be a data frame with a row for each occurrence, not %s.", show_value(data))
  }
  data <- plain_times(only_named(plain_frame(data)))
  if (missing(site) || missing(taxon)) {
    stop_input("`site` and `taxon` must be supplied: the columns of `data` with the names of sites and taxa.")
  }
  check_keys(data, site, taxon)
  min_sites <- check_count(min_sites, "min_sites", 0L)
  min_taxa <- check_count(min_taxa, "min_taxa", 0L)
  check_flag(iterate, "iterate")
  check_flag(sparse, "sparse")
  names <- check_choice(names)
  present <- check_present(present, "the name of a column of `data`")
  if (is.list(present)) check_columns(data, present$column, "present")
  amount <- occurrence_amount(data, count)
  check_summaries(summarise)
  if (nrow(data) == 0L) {
    stop_input("`data` must hold at least one occurrence: it has no rows.")
  }

  rows <- key_codes(data, site, "site", ", ")
  tell_alike_sites(rows$label, unlist(lapply(data[site], function(value) unique(name_values(value)))))
  columns <- taxon_codes(data, site, taxon, names)
  given <- list(site = site, taxon = taxon, count = if (is.character(count)) count[[1L]])
  named <- !is.na(rows$code) & !is.na(columns$code) & !amount %in% 0
  state <- record_states(data, present, unlist(given), named)
  if (identical(present, "auto")) {
    ask_by_structure(data, replace(rows$code, !named, NA), columns$code, given, counted = isTRUE(count))
  }
  state[amount %in% 0] <- 0L
  cells <- occurrence_cells(rows$code, columns$code, state, amount, binary = isFALSE(count))
  kept <- filter_cells(cells, min_sites, min_taxa, iterate)
  if (!any(kept$row) || !any(kept$column)) {
    stop_input(
      "`min_taxa` and `min_sites` must leave something: no site has %s present at %s or more.",
      count_words(max(min_taxa, 1L), "taxon"), count_words(min_sites, "site")
    )
  }

  x <- fill_matrix(cells, kept, rows$label, columns$label, sparse)
  sites <- new_site_table(data, site, rows, kept$row, summarise, of_taxa = setdiff(taxon, site))
  live <- cells$found & kept$column[cells$column]
  sites$n_taxa <- tabulate(cells$row[live], cells$n_row)[kept$row]
  sites$n_occurrences <- tabulate(rows$code[state %in% 1L], cells$n_row)[kept$row]
  blank <- vapply(c(site, taxon), function(column) sum(is.na(name_values(data[[column]]))), 0L)
  lines <- c(
    states_line(state, present), uncounted_line(state[named], amount[named], count),
    left_out_line(nrow(data), cells$n_used, c(blank, `sure name` = columns$n_doubtful)),
    dropped_line(cells, kept, c(min_sites, min_taxa)), varying_line(setdiff(names(data), c(site, taxon, names(sites))))
  )
  if (length(lines)) inform("%s", paste(lines, collapse = "\n"))
  attr(x, "sites") <- sites
  x
}

# Codes of the taxa, with a report of what may be amiss with their columns.
taxon_codes <- function(data, site, taxon, names) {
  tell_spread_taxa(data, site, taxon)
  if (names == "certain") tell_marks_beside(data, c(site, taxon))
  join_codes(key_codes(data, taxon, "taxon", " "), names)
}

# Reports columns that seem to hold a taxon each, as lists on one line do, where their combinations are the taxa.
tell_spread_taxa <- function(data, site, taxon) {
  values <- lapply(data[taxon], function(column) unique(name_values(column)))
  values <- lapply(values, function(one) one[!is.na(one)])
  shared <- Reduce(intersect, values)
  if (length(taxon) > 1L && length(shared) && all(length(shared) >= lengths(values) / 2)) {
    inform(
      paste(
        "Columns %s of `taxon` share their values: a combination is one taxon. If each holds a taxon, stack them:",
        "`data.frame(site = data[[\"%s\"]], taxon = unlist(data[c(%s)]))`."
      ), show_names(taxon), site[1L], paste(dQuote(taxon, FALSE), collapse = ", ")
    )
  }
}

# Checks the columns of sites and of taxa, which may have been given without quotes.
check_keys <- function(data, site, taxon) {
  for (arg in c("site", "taxon")) {
    check_columns(data, catch_error(get(arg), function(e) {
      stop_input("`%s` must be column names of `data`, in quotes: %s.", arg, conditionMessage(e))
    }), arg)
  }
}

check_columns <- function(data, columns, arg) {
  if (!is.character(columns) || length(columns) == 0L || anyNA(columns)) {
    stop_input("`%s` must be one or more column names of `data`, not %s.", arg, show_value(columns))
  }
  if (anyDuplicated(columns)) {
    stop_input("`%s` must name each column once: %s comes twice.", arg, show_names(columns[anyDuplicated(columns)]))
  }
  missing <- setdiff(columns, names(data))
  if (length(missing)) {
    stop_input("`%s` must name columns of `data`: it has no column %s%s", arg, show_names(missing[1L]),
      meant_words(missing[1L], names(data)))
  }
  twice <- intersect(columns, names(data)[duplicated(names(data))])
  if (length(twice)) {
    stop_input("`%s` must name one column of `data`: %s are called %s.", arg,
      count_words(sum(names(data) == twice[1L]), "column"), show_names(twice[1L]))
  }
  for (column in columns) {
    if (!is_plain_column(data[[column]])) {
      stop_input("`%s` must name columns of plain values: %s is not one.", arg, show_names(column))
    }
    odd <- if (!is.numeric(data[[column]])) which(is_unreadable(as.character(data[[column]])))
    if (length(odd)) {
      stop_input("`%s` must name columns of text that can be read: row %d of %s cannot. %s", arg, odd[1L],
        show_names(column), reread_advice)
    }
  }
}

check_summaries <- function(summarise, reserved = c("site", "n_taxa", "n_occurrences")) {
  labels <- names(summarise)
  is_functions <- is.list(summarise) && all(vapply(summarise, is.function, NA))
  if (!is.null(summarise) && (!is_functions || is.null(labels) || !all(nzchar(labels)))) {
    stop_input(
      "`summarise` must be a named list of functions, such as list(max_ma = max), not %s.", show_value(summarise)
    )
  }
  if (anyDuplicated(labels)) {
    stop_input("`summarise` must name each column once: %s comes twice.", show_names(labels[anyDuplicated(labels)]))
  }
  taken <- intersect(labels, reserved)
  if (length(taken)) stop_input("`summarise` must have other names than %s, which the result has.", show_names(taken))
}

# Returns what each row of data adds to its cell: 1, or the value of the column that `count` names.
occurrence_amount <- function(data, count) {
  if (isTRUE(count) || isFALSE(count)) {
    return(rep(1L, nrow(data)))
  }
  blank <- check_blank_count(count)
  count <- count[[1L]]
  check_columns(data, count, "count")
  amount <- data[[count]]
  if (!is.numeric(amount)) stop_input("`count` must name a numeric column: %s", why_no_count(amount, count))
  wrong <- which(is.infinite(amount) | amount < 0)
  if (length(wrong)) {
    stop_input(
      "`count` must name a column of finite numbers of at least 0: row %d of %s is %s.",
      wrong[1L], show_names(count), format(amount[wrong[1L]])
    )
  }
  amount <- as.double(amount)
  replace(amount, is.na(amount), blank)
}

# Returns the value of a missing number: `blank` in `count`, beside the name of a column.
check_blank_count <- function(count) {
  blank <- if (identical(names(count), c("", "blank"))) suppressWarnings(as.numeric(count[[2L]])) else NA_real_
  wrong <- if (length(count) == 2L) !isTRUE(is.finite(blank) && blank >= 0) else length(count) != 1L
  if (!is.character(count) || anyNA(count) || wrong) {
    stop_input(
      paste(
        "`count` must be TRUE, FALSE or the name of a column of `data`, also with what a blank counts, such as",
        "c(\"n\", blank = 1), not %s."
      ), show_value(count)
    )
  }
  blank
}

# Reports presences whose number is missing, in a message.
uncounted_line <- function(state, amount, count) {
  without <- sum(is.na(amount) & state %in% 1L)
  if (without) {
    sprintf(
      "%s of %s have no number in %s, so their cells are NA. `count = c(%s, blank = 1)` counts each as 1, %s",
      format_big(without), count_words(sum(state %in% 1L), "presence"), show_names(count), dQuote(count, FALSE),
      "`blank = 0` as absent."
    )
  }
}

# Explains what a column holds instead of counts, and the remedy.
why_no_count <- function(value, column) {
  name <- dQuote(column, FALSE)
  if (is.logical(value)) {
    return(sprintf("%s is TRUE and FALSE. Use `present = %s` for presences without numbers.", name, name))
  }
  text <- trimws(as.character(value))
  number <- reads_as_number(text) | is.na(text) | text == ""
  odd <- which(!number)[1L]
  if (is.na(odd)) {
    return(sprintf("%s is numbers as %s. Make it numeric by `as.numeric(as.character(data$%s))`.", name,
      if (is.factor(value)) "a factor" else "text", column))
  }
  where <- sprintf("row %d of %s is %s", odd, name, show_value(text[odd]))
  if (all(number | toupper(text) == "X")) {
    return(sprintf(paste(
      "%s, a presence that nobody counted (as eBird has it). Use `present = %s` for presences without numbers; for",
      "counts make it numeric with NA there, and use `count = c(%s, blank = 1)`."
    ), where, name, name))
  }
  if (!any(read_presence(value) == -1L, na.rm = TRUE)) {
    return(sprintf("%s. Use `present = %s` for presences without numbers.", where, name))
  }
  paste0(where, ".")
}

# Codes the rows of data 1, 2, ... by the values of columns, in sorted order, NA if one is missing.
key_codes <- function(data, columns, arg, sep) {
  text <- unname(lapply(data[columns], name_values))
  named <- !Reduce(`|`, lapply(text, is.na))
  if (!any(named)) {
    stop_input("`%s` must name columns with values: no row of `data` has a value in %s.", arg, show_names(columns))
  }
  code <- match(text[[1L]], unique(text[[1L]]))
  for (value in text[-1L]) { # codes never exceed the number of rows: no overflow, no ambiguous pair
    pair <- paste(code, match(value, unique(value)))
    code <- match(pair, unique(pair))
  }
  first <- unname(split(seq_along(code)[named], code[named]))
  first <- vapply(first, `[`, 0L, 1L)
  by <- Map(function(column, value) {
    raw <- data[[column]]
    is_number <- (is.numeric(raw) && !is.object(raw)) || inherits(raw, c("POSIXct", "difftime"))
    if (is_number) as.numeric(raw)[first] else value[first]
  }, columns, text)
  first <- first[do.call(order, c(unname(by), method = "radix"))]
  label <- do.call(paste, c(lapply(text, `[`, first), sep = sep))
  if (anyDuplicated(label)) {
    stop_input(
      "`%s` must name columns whose joined values distinguish rows: two combinations of %s are both %s.",
      arg, show_names(columns), show_names(label[anyDuplicated(label)])
    )
  }
  list(code = match(ifelse(named, code, NA), code[first]), label = label)
}

# Joins or drops codes whose labels are names of taxa, as `names` specifies.
join_codes <- function(keys, names) {
  settled <- settle_names(keys$label, names)
  if (identical(settled, keys$label)) {
    return(keys)
  }
  if (all(is.na(settled))) stop_input("`names` must leave taxa: with %s there is none.", dQuote(names, FALSE))
  label <- sort(unique(settled), method = "radix")
  n_doubtful <- sum(is.na(settled)[keys$code], na.rm = TRUE)
  list(code = match(settled, label)[keys$code], label = label, n_doubtful = n_doubtful)
}

# Returns the cells with a presence or of unknown state: row, column, whether there is a presence, and the sum of its
# amounts.
occurrence_cells <- function(row, column, state, amount, binary) {
  named <- !is.na(row) & !is.na(column)
  if (!any(named)) {
    stop_input("`data` must have rows with both a site and a taxon: no row has both.")
  }
  n_row <- max(row, na.rm = TRUE)
  use <- which(named & !state %in% 0L)
  cell <- (as.double(column[use]) - 1) * n_row + row[use]
  first <- !duplicated(cell)
  at <- match(cell, cell[first])
  presence <- state[use] %in% 1L
  found <- tabulate(at[presence], sum(first)) > 0L
  value <- if (binary || !length(at)) as.integer(found) else unname(rowsum(ifelse(presence, amount[use], 0L), at)[, 1L])
  value[!found] <- NA
  if (any(is.infinite(value))) {
    stop_input("`count` must name a column whose sums are finite: those of one cell are larger than any number.")
  }
  list(
    row = row[use][first], column = column[use][first], value = value, found = found,
    n_row = n_row, n_column = max(column, na.rm = TRUE), n_used = sum(named)
  )
}

# Selects the sites and taxa to keep. A presence of unknown number counts; a cell of unknown state does not.
filter_cells <- function(cells, min_sites, min_taxa, iterate) {
  live <- cells$found
  row <- rep(TRUE, cells$n_row)
  column <- rep(TRUE, cells$n_column)
  repeat {
    before <- sum(row) + sum(column)
    column <- column & tabulate(cells$column[live], cells$n_column) >= min_sites
    live <- live & column[cells$column]
    row <- row & tabulate(cells$row[live], cells$n_row) >= min_taxa
    live <- live & row[cells$row]
    if (!iterate || sum(row) + sum(column) == before) {
      return(list(row = row, column = column))
    }
  }
}

fill_matrix <- function(cells, kept, row_names, column_names, sparse) {
  use <- which(kept$row[cells$row] & kept$column[cells$column])
  i <- cumsum(kept$row)[cells$row[use]]
  j <- cumsum(kept$column)[cells$column[use]]
  size <- c(sum(kept$row), sum(kept$column))
  labels <- list(row_names[kept$row], column_names[kept$column])
  if (sparse) {
    return(Matrix::sparseMatrix(i, j, x = as.double(cells$value[use]), dims = size, dimnames = labels))
  }
  if (prod(size) > .Machine$integer.max) {
    stop_input("`sparse` must be TRUE for a matrix of %d x %d cells: too large for a dense one.", size[1L], size[2L])
  }
  x <- matrix(cells$value[0L][NA], size[1L], size[2L], dimnames = labels)
  x[] <- 0L
  x[cbind(i, j)] <- cells$value[use]
  x
}

left_out_line <- function(n, n_used, without) {
  without <- without[without > 0L]
  if (n_used < n) {
    sprintf("Left out %d of %d rows: %s%s.", n - n_used, n,
      paste(sprintf("no %s in %d", names(without), without), collapse = ", "),
      if (sum(without) > n - n_used) " (some lack several)" else "")
  }
}

dropped_line <- function(cells, kept, minimum) {
  n_dropped <- c(sum(!kept$column), sum(!kept$row))
  why <- c(
    if (minimum[1L] == 1L) "at no site" else paste("at fewer than", count_words(minimum[1L], "site")),
    if (minimum[2L] == 1L) "without a taxon" else paste("fewer than", count_words(minimum[2L], "taxon"))
  )
  dropped <- sprintf("%d of %d %s (%s)", n_dropped, c(cells$n_column, cells$n_row), c("taxa", "sites"), why)
  if (any(n_dropped > 0L)) sprintf("Dropped %s.", paste(dropped[n_dropped > 0L], collapse = ", "))
}

varying_line <- function(varying) {
  if (length(varying)) {
    sprintf(
      "Not in the site table, as they vary within a site (see `summarise`): %s.",
      show_names(varying, quoted = FALSE)
    )
  }
}
