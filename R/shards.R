#' Tables larger than memory: row shards on disk
#'
#' `shards()` turns records, in pieces, or a table into a folder of *row shards*, compact files of some of the rows
#' each, with one piece in memory at a time. [Most models][shards_fits] take the result in place of a table, and so does
#' [which_zeros()].
#' @details
#' **Sources.** `x` is one of
#' * a data frame of records;
#' * names of text files with a header, in UTF-8 or Latin-1, also compressed by gzip, with commas, tabs or semicolons,
#'   as GBIF, eBird and spreadsheets write them (up to 20 000 columns, lines of up to 10 million bytes); or of Parquet
#'   files (package nanoparquet, which reads a file as a whole);
#' * a result of `DBI::dbSendQuery()`, from SQLite, DuckDB or any other database;
#' * a function of the number of records wanted, which returns the next ones as a data frame and then `NULL`;
#' * a table: a matrix or sparse matrix of package Matrix with cells 0, 1 and `NA`, whose rows keep their order;
#' * a folder that `shards()` has made: it is opened again.
#'
#' **Records.** Each record states that a taxon was found at a site. The records of a site may lie anywhere in the
#' files. A repeated record counts once. Rows and taxa are sorted by name (as bytes compare), white space around names
#' is cut, and a blank name is `NA`. A record whose taxon is `NA` shows that the site was visited: a site where nothing
#' was found has a row of zeros. A record without a site is an error. With `present` a record may also state an absence
#' or an unknown cell; where records disagree, a presence wins, then the unknown. In text files `NA` is a name, unless
#' the header has quotation marks, as [write.csv()] writes it. The cells are those of [occurrence_matrix()] with
#' `min_sites = 0, min_taxa = 0`.
#'
#' **Files.** Cells and numbers are binary, names and the manifest are text, and nothing is an R object, so that a
#' folder from elsewhere can be opened safely. Checksums detect files that were cut off or changed, with an error that
#' names the file. The folder appears under `path` in one step when it is complete; an error or an interrupt leaves
#' nothing, and a call that was killed is cleaned up by the next one. The folder may be moved and copied as a whole.
#'
#' **Cost.** Records are read once and sorted once: O(records). Memory: a piece, the names of the taxa, and a shard.
#' @param x records, a table, or a folder; see Details.
#' @param path folder for the shards, new or empty.
#' @param ... must be empty.
#' @param site,taxon names of the columns of records that hold site and taxon; both may be text or numbers.
#' @param present how absences are recorded, as in [occurrence_matrix()]: the name of a column, also with the meaning of
#'   blanks, `c("n", blank = "absent")`; `NULL`: every record is a presence; or `"auto"`: the same, but a column that
#'   may record absences is an error that names it. Columns of well-known names are judged by all records, others by the
#'   records of some sites, up to 100 000.
#' @param names treatment of names of taxa that differ only in spelling: `"keep"` keeps them separate and reports them;
#'   `"join"` makes them one; `"certain"` joins them and leaves out names with marks of doubt. See
#'   [occurrence_matrix()].
#' @param site_data covariates that are stored with the rows, such as effort, age and place. For records: names of
#'   columns, whose value must be the same in all records of a site, or `NA`. In text files a column is numeric if all
#'   its values are, also with decimal commas, which a message reports (values such as `"1,234"` alone are ambiguous and
#'   stay text). For a table: a data frame with a row for each of its rows; a column, row names or row numbers that hold
#'   the names of the table's rows match them, and a message reports which column. Columns of numbers, text, logical
#'   values, factors, dates, times and their differences are allowed.
#' @param taxa `NULL`: those that are found; or the names of all taxa, in the order wanted. Others are then an error.
#' @param piece number of records in memory at a time.
#' @param size approximate number of ones and missing cells of a shard. Smaller shards need less memory, larger ones
#'   less time.
#' @return A list of class `shards`: `path`, `dims` (`n` rows, `m` columns), `attributes` (names of the taxa), `shards`
#'   (a data frame with `rows`, `ones`, `missing` and checksums of each), `column_sum` and `column_missing` (of each
#'   taxon), `along` (names of covariates) and `version` (of the package that wrote them). `dim()` and `nobs()`, the
#'   number of observed cells, work as on a table, and `x[i, j]` gives some rows and columns, by number or name,
#'   as a sparse matrix.
#' @seealso `vignette("large")` for a whole script, [predict.multicause_shards()] for predictions, [site_table()] for
#'   the stored covariates.
#' @examples
#' records <- data.frame(
#'   list = c("a", "b", "a", "c", "b", "d"), species = c("owl", "owl", "jay", "jay", "kite", NA)
#' )
#' folder <- tempfile()
#' x <- shards(records, folder, site = "list", taxon = "species")
#' x
#' x[c("a", "d"), ]
#' @export
shards <- function(x, path, ..., site = NULL, taxon = NULL, present = "auto", site_data = NULL, taxa = NULL,
                   names = c("keep", "join", "certain"), piece = 1e6, size = 5e5) {
  check_dots(...)
  if (missing(x)) stop_missing("x")
  if (missing(path) && is_string(x) && dir.exists(x)) {
    return(open_shards(x))
  }
  if (missing(path) || is.null(check_file_name(path, "path"))) stop_missing("path")
  size <- check_number(size, "size", 1)
  piece <- check_count(piece, "piece")
  names <- check_choice(names)
  columns <- list(site = site, taxon = taxon, present = present, along = site_data)
  if (is.matrix(x) || inherits(x, c("Matrix", "table"))) {
    return(table_shards(x, path, columns, size))
  }
  columns$present <- check_record_columns(columns)
  source <- record_source(x, piece, columns)
  on.exit(source$close())
  taxa <- check_taxa(taxa, names)
  with_run(path, function(run) record_shards(source, run, columns, taxa, names, size))
}

check_record_columns <- function(columns) {
  for (name in c("site", "taxon")) {
    value <- columns[[name]]
    if (!is.character(value) || length(value) != 1L || is.na(value)) {
      stop_input("`%s` must be the name of a column of the records, not %s.", name, show_value(value))
    }
  }
  if (!is.null(columns$along) && (!is.character(columns$along) || anyNA(columns$along))) {
    stop_input("`site_data` must be names of columns of the records, not %s.", show_value(columns$along))
  }
  check_present(columns$present, "the name of a column of the records")
}

check_taxa <- function(taxa, names) {
  if (is.null(taxa)) {
    return(NULL)
  }
  taxa <- name_values(taxa)
  if (!length(taxa) || anyNA(taxa) || anyDuplicated(taxa)) {
    stop_input("`taxa` must be the names of all taxa, each once, or NULL.")
  }
  key <- tolower(clean_names(taxa))
  if (names != "keep" && anyDuplicated(key)) {
    stop_input("`taxa` must not name those twice that `names = %s` joins: %s.", dQuote(names, FALSE),
      show_groups(alike_groups(taxa, key)))
  }
  taxa
}

# Shards of tables: runs of rows.

table_shards <- function(x, path, columns, size) {
  if (!is.null(columns$site) || !is.null(columns$taxon)) {
    stop_input("`site` and `taxon` are for records in long form: `x` is a table, whose rows are sites.")
  }
  along <- columns$along
  data <- check_data(x, "binary")
  n <- nrow(data$x)
  if (is.data.frame(along)) { # of a class that pins no memory of this session to itself
    along <- covariate_frame_by_name(along, "site_data", rownames(data$x))
    along <- by_name(along, rownames(data$x), "site_data", others = TRUE)
  }
  if (!is.null(along) && (!is.data.frame(along) || nrow(along) != n)) {
    stop_input(
      "`site_data` must be a data frame with a row for each of the %d rows of `x`, not %s.", n, show_value(along)
    )
  }
  view <- data$view
  stored <- diff(view$start) + if (is.null(view$na_start)) 0 else diff(view$na_start)
  cut <- cumsum(as.double(stored) + 1) %/% (size + 1)
  parts <- unname(split(seq_len(n), cut))
  margins <- list(sum = data$margins$column_sum, missing = n - data$margins$column_observed)
  with_run(path, function(run) {
    tables <- lapply(seq_along(parts), function(i) {
      rows <- parts[[i]]
      covariates <- if (!is.null(along)) along[rows, , drop = FALSE]
      write_shard(run, i, view_rows(view, rows), list(names = rownames(data$x)[rows], along = covariates))
    })
    finish_run(run, tables, colnames(data$x), margins, names(along))
  })
}

# Returns a run of rows of a view.
view_rows <- function(view, rows) {
  take <- function(start, column) {
    from <- start[rows[1L]]
    to <- start[rows[length(rows)] + 1L]
    list(start = start[c(rows, rows[length(rows)] + 1L)] - from, column = column[from + seq_len(to - from)])
  }
  cells <- take(view$start, view$column)
  missing <- if (!is.null(view$na_start)) take(view$na_start, view$na_column)
  list(
    dim = c(length(rows), view$dim[2L]), start = cells$start, column = cells$column, value = NULL,
    na_start = missing$start, na_column = missing$column
  )
}

# Shards of records: sources, buckets, shards.

# Returns list(read = function() the next piece, or NULL, close = function(), is_text = whether all columns are text).
record_source <- function(x, piece, columns) {
  if (is.character(x) && length(x) && !anyNA(x)) {
    return(file_source(x, piece, columns))
  }
  if (is.data.frame(x)) {
    at <- 0
    x <- plain_frame(x)
    wanted <- wanted_columns(names(x), columns, function(column) x[[column]])
    refuse_parts(x, columns)
    wanted <- Filter(function(column) is_plain_column(x[[column]]), wanted)
    read <- function() {
      rows <- at + seq_len(min(piece, nrow(x) - at))
      at <<- at + length(rows)
      if (length(rows)) as.list(x)[wanted] |> lapply(`[`, rows)
    }
  } else if (is.function(x)) {
    read <- function() x(piece)
  } else if (inherits(x, "DBIResult")) {
    if (!requireNamespace("DBI", quietly = TRUE)) stop_input("Queries as `x` need package DBI.")
    fetch <- getExportedValue("DBI", "dbFetch")
    read <- function() {
      found <- fetch(x, n = piece)
      if (nrow(found)) found
    }
  } else {
    stop_input(
      "`x` must be a data frame of records, a table, names of files, a DBI result or a function, not %s.", show_value(x)
    )
  }
  list(read = read, close = function() NULL, is_text = FALSE)
}

needed_columns <- function(columns) {
  columns$present <- if (is.list(columns$present)) columns$present$column
  unlist(columns, use.names = FALSE)
}

# Refuses columns that hold lists or tables.
refuse_parts <- function(found, columns) {
  for (column in intersect(needed_columns(columns), names(found))) {
    if (!is_plain_column(found[[column]])) {
      stop_input("The records must have columns of plain values: %s is not one.", show_names(column))
    }
  }
}

# Selects the columns to read: those needed, and those that may record absences if `present` names no column. `look`: a
# function of a column's name that returns its first values; NULL: all may.
wanted_columns <- function(names, columns, look = NULL) {
  wanted <- needed_columns(columns)
  lost <- setdiff(wanted, names)
  if (length(lost)) {
    stop_input("The records must have the columns %s: they lack %s.", show_names(wanted), show_names(lost))
  }
  twice <- intersect(wanted, names[duplicated(names)])
  if (length(twice)) stop_input("The records must have one column of each name: %s comes twice.", show_names(twice))
  if (!identical(columns$present, "auto")) {
    return(wanted)
  }
  known <- absence_candidates(names, wanted)
  others <- setdiff(names, c(wanted, known, names[duplicated(names)]))
  c(wanted, known, if (is.null(look)) others else Filter(function(column) could_record(look(column)), others))
}

# Reads files one after another: CSV in pieces, Parquet one at a time.
file_source <- function(files, piece, columns) {
  gone <- files[!file.exists(files) | dir.exists(files)]
  if (length(gone)) stop_input("`x` must be names of files: %s is none.", show_names(gone))
  parquet <- grepl("[.]parquet$", files, ignore.case = TRUE)
  if (any(parquet) && !requireNamespace("nanoparquet", quietly = TRUE)) {
    stop_input("Parquet files as `x` need package nanoparquet.")
  }
  open <- NULL
  close_open <- function() {
    if (!is.null(open)) open$close()
    open <<- NULL
  }
  at <- 0L
  read <- function() {
    repeat {
      if (is.null(open)) {
        at <<- at + 1L
        if (at > length(files)) {
          return(NULL)
        }
        open <<- if (parquet[at]) parquet_source(files[at], columns) else csv_source(files[at], piece, columns)
      }
      found <- open$read()
      if (!is.null(found)) {
        return(found)
      }
      close_open()
    }
  }
  list(read = read, close = close_open, is_text = !any(parquet))
}

parquet_source <- function(file, columns) {
  done <- FALSE
  read <- function() {
    if (done) {
      return(NULL)
    }
    done <<- TRUE
    schema <- nanoparquet::read_parquet_schema(file)
    look <- function(column) utils::head(nanoparquet::read_parquet(file, col_select = column)[[1L]], 1000L)
    nanoparquet::read_parquet(file, col_select = wanted_columns(schema$name[!is.na(schema$type)], columns, look))
  }
  list(read = read, close = function() NULL)
}

# All columns are text, since a piece does not determine the type of the next ones. Bytes are read unconverted: a
# connection that converts them stops, with a warning, at another encoding.
csv_source <- function(file, piece, columns) {
  if (is_utf16(file)) {
    stop_input("`x` must be text in UTF-8 or Latin-1: %s is UTF-16; save it as UTF-8.", show_names(file))
  }
  check_lines(file)
  con <- file(file, "r")
  copy <- character()
  opened <- FALSE
  on.exit(if (!opened) close(con))
  head <- sub("^\ufeff", "", as_utf8(readLines(con, 1L, warn = FALSE, skipNul = TRUE)))
  check_width(head, file)
  wanted <- needed_columns(columns)
  found <- find_header(head, function(names) all(wanted %in% names))
  if (is.null(found)) {
    stop_input("`x` must begin with a header, with commas, tabs or semicolons between its columns: %s of %s lacks %s.",
      if (length(head)) dQuote(clip(head), FALSE) else "the first line", show_names(file), show_names(wanted))
  }
  wanted_columns(split_fields(head, found$sep), columns) # as they are in the file
  look <- first_rows(file, found)
  wanted <- wanted_columns(found$names, columns, if (!is.null(look)) function(column) look[[column]])
  quoted <- grepl("\"", head, fixed = TRUE)
  if (quoted && holds_text(file, "\"NA\"")) {
    close(con)
    copy <- mark_quoted_na(file, found$sep)
    con <- file(copy, "r")
    readLines(con, 1L)
  }
  before <- 0
  na_names <- character()
  read <- function() {
    rows <- csv_rows(con, file, found, piece, wanted, before)
    if (!nrow(rows)) {
      if (length(na_names)) {
        inform("NA in %s of %s is taken as a name: leave the field empty where there is none.", show_names(na_names),
          show_names(basename(file)))
      }
      return(NULL)
    }
    before <<- before + nrow(rows)
    rows[] <- Map(function(value, column) {
      is_name <- column %in% c(columns$site, columns$taxon)
      if (is_name && !quoted && "NA" %in% value) na_names <<- union(na_names, column)
      values <- unique(value) # names repeat
      read_na(as_utf8(values), is_name, quoted)[match(value, values)]
    }, rows, names(rows))
    rows
  }
  opened <- TRUE
  list(read = read, close = function() {
    close(con)
    unlink(copy)
  })
}

# Returns the first rows of a file, all text; NULL if they cannot be read.
first_rows <- function(file, found) {
  catch_error(suppressWarnings(scan_rows(file, found, skip = 1L, most = 1000L, nul = TRUE)), function(e) NULL)
}

# The text NA may be a name, as of a country, so in columns of names only an empty field is missing. But if the header
# is quoted, names are, too, and an unquoted NA is missing, as write.csv() writes it. scan() does not distinguish the
# two, so a file that has both is read from a copy in which quoted ones are marked.
mark_quoted_na <- function(file, sep) {
  from <- file(file, "r")
  on.exit(close(from))
  copy <- tempfile("marked-")
  to <- file(copy, "w")
  on.exit(close(to), add = TRUE)
  while (length(lines <- readLines(from, 100000L, warn = FALSE, skipNul = TRUE))) {
    at <- grep("\"NA\"", lines, fixed = TRUE, useBytes = TRUE)
    lines[at] <- gsub(
      sprintf("(^|%s)\"NA\"(?=%s|\r?$)", sep, sep), "\\1\"\001NA\"", lines[at], perl = TRUE, useBytes = TRUE
    )
    writeLines(lines, to, useBytes = TRUE)
  }
  copy
}

# Whether a file holds this text of ASCII.
holds_text <- function(file, text) {
  con <- gzfile(file, "rb") # of any file
  on.exit(close(con))
  last <- raw() # of the piece before: the text may begin there
  while (length(bytes <- readBin(con, "raw", 2^20))) {
    if (any(bytes == 0L)) bytes <- bytes[bytes != 0L] # which readers of lines leave out, too
    bytes <- c(last, bytes)
    if (length(grepRaw(text, bytes, fixed = TRUE))) {
      return(TRUE)
    }
    last <- utils::tail(bytes, nchar(text) - 1L)
  }
  FALSE
}

read_na <- function(value, is_name, quoted) {
  if (quoted || !is_name) value[value %in% "NA"] <- NA
  if (quoted) value[value %in% "\001NA"] <- if (is_name) "NA" else NA
  value
}

most_line <- 1e7 # bytes
most_columns <- 20000L # reading a line takes their number squared

# Lines have no limit in R, and reading one takes many times its length of memory: a small compressed file can hold a
# line larger than memory.
check_lines <- function(file) {
  con <- gzfile(file, "rb") # of any file
  on.exit(close(con))
  line <- 1
  begun <- 0 # bytes of the last line
  while (length(bytes <- readBin(con, "raw", 2^20))) {
    ends <- which(bytes == as.raw(10L))
    if (!length(ends)) ends <- which(bytes == as.raw(13L)) # alone, as of old
    begun <- begun + if (length(ends)) ends[1L] - 1 else length(bytes)
    if (begun > most_line) {
      stop_input("`x` must be text in lines of up to %.0f bytes: line %.0f of %s is longer.", most_line, line,
        show_names(file))
    }
    line <- line + length(ends)
    if (length(ends)) begun <- length(bytes) - ends[length(ends)]
  }
}

check_width <- function(head, file) {
  bytes <- if (length(head)) charToRaw(head)
  n <- max(vapply(c("\t", ",", ";"), function(sep) sum(bytes == charToRaw(sep)), 0L)) + 1L
  if (n > most_columns) {
    stop_input("`x` must be records, in up to %s: %s has %d. Use a matrix for a table of sites by taxa.",
      count_words(most_columns, "column"), show_names(file), n)
  }
}

# Reads the next rows; `before`: how many were read. A warning of scan() means merged rows.
csv_rows <- function(con, file, found, piece, wanted, before) {
  wrong <- function(condition) {
    why <- conditionMessage(condition)
    line <- before + 1 + as.numeric(sub("^line ([0-9]+) .*|.*", "\\1", why)) # as scan() counts, from here on
    where <- if (is.na(line)) sprintf("a line after line %.0f", before + 1) else sprintf("line %.0f", line)
    stop_input(
      "`x` must have %s in each line, as in its header, and close its quotation marks: %s of %s does not%s.",
      count_words(length(found$names), "field"), where, show_names(file), if (is.na(line)) sprintf(" (%s)", why) else ""
    )
  }
  rows <- catch_error(
    withCallingHandlers(
      scan_rows(con, found, wanted, most = piece, nul = TRUE),
      warning = wrong
    ),
    function(e) if (inherits(e, "multicause_input_error")) stop(e) else wrong(e)
  )
  if (lines_within(rows, found)[["swallowed"]] > 0) wrong(simpleCondition("a field has lines that look like rows"))
  rows
}

n_buckets <- 256L

record_shards <- function(source, run, columns, taxa, names, size) {
  folder <- bucket_folder(run$folder)
  dir.create(folder)
  styles <- NULL # of the columns of `along`, where all are text
  known <- taxa
  count <- numeric(n_buckets)
  n_records <- 0
  sample <- list(buckets = n_buckets)
  unnamed <- character()
  repeat {
    found <- source$read()
    if (is.null(found)) break
    refuse_parts(found, columns)
    if (identical(columns$present, "auto")) sample <- sample_sites(sample, found, columns)
    found <- check_records(found, columns, n_records)
    n_records <- n_records + length(found$site)
    sites <- unique(found$site)
    unnamed <- union(unnamed, sites[is_no_name(sites)])
    new <- setdiff(unique(found$taxon), c(known, NA))
    if (!is.null(taxa)) refuse_others(new, taxa, names)
    known <- c(known, new)
    found$taxon <- match(found$taxon, known)
    if (source$is_text) styles <- join_styles(styles, vapply(found$along, number_style, c(NA, NA, NA)))
    check_run(run)
    count <- count + fill_buckets(found, folder)
  }
  if (!n_records) stop_input("`x` must hold records: it has none.")
  tell_unnamed(unnamed, "sites", unnamed_site)
  if (length(sample$data)) ask_by_structure(sample$data, sample$site, sample$taxon, columns, "record")
  if (!length(known)) stop_input("`x` must hold presences: no record has a taxon.")
  # The order of discovery depends on the order of the records, so taxa are sorted by name.
  settled <- settle_names(known, names, taxa)
  final <- if (is.null(taxa)) sort(unique(settled), method = "radix") else taxa
  if (!length(final)) stop_input("`names` must leave taxa: with %s there is none.", dQuote(names, FALSE))
  decimals <- decimal_marks(styles)
  groups <- split(unname(which(count > 0)), cumsum(count[count > 0]) %/% (size + 1))
  margins <- list(sum = numeric(length(final)), missing = numeric(length(final)))
  tables <- list()
  for (buckets in groups) {
    part <- join_buckets(folder, buckets, match(settled, final), length(final), decimals)
    i <- length(tables) + 1L
    tables[[i]] <- write_shard(run, i, part$view, part$rows)
    margins$sum <- margins$sum + tabulate(part$view$column + 1L, length(final))
    margins$missing <- margins$missing + tabulate(part$view$na_column + 1L, length(final))
  }
  finish_run(run, tables, final, margins, columns$along)
}

# Checks one piece: list(site = names, key, taxon = names, cell = 1 (presence), 2 (unknown) or 0, along = list).
check_records <- function(found, columns, before) {
  given <- needed_columns(columns)
  wanted_columns(names(found), columns)
  found <- plain_frame(as.data.frame(found, optional = TRUE))
  site <- name_values(found[[columns$site]])
  bad <- which(is.na(site))
  if (length(bad)) {
    stop_input("Every record must have a site: %s is NA or blank in record %.0f.", columns$site, before + bad[1L])
  }
  taxon <- name_values(found[[columns$taxon]])
  state <- record_states(found, columns$present, given, !is.na(taxon), "record", before)
  list(
    site = site, taxon = taxon, cell = ifelse(is.na(state), 2L, state),
    along = stats::setNames(lapply(columns$along, function(name) found[[name]]), columns$along)
  )
}

# Refuses taxa that are not among `taxa`, except those that `names` joins to them or drops.
refuse_others <- function(new, taxa, names) {
  if (names != "keep") {
    new <- new[!tolower(clean_names(new)) %in% tolower(clean_names(taxa)) & !(names == "certain" & is_doubtful(new))]
  }
  if (length(new)) stop_input("`taxa` must name all taxa: %s is not among them.", show_names(new))
}

# Assigns each site a number from 1 to n_buckets by its name alone, because a site may be a number in one piece and text
# in another. Whole numbers use a remainder, which is faster than a checksum.
bucket_of <- function(name) {
  whole <- grepl("^[0-9]{1,15}$", name)
  out <- integer(length(name))
  out[whole] <- as.integer(as.numeric(name[whole]) %% n_buckets) + 1L
  out[!whole] <- match(substr(cli::hash_md5(name[!whole]), 5L, 6L), sprintf("%02x", seq_len(n_buckets) - 1L))
  out
}

# Samples all records of some sites, by which the structure of a table is judged: from all buckets, and from half as
# many whenever there are too many records. Only columns common to all pieces are kept.
sample_sites <- function(sample, found, columns) {
  wanted_columns(names(found), columns)
  site <- name_values(found[[columns$site]])
  name <- unique(site)
  bucket <- bucket_of(name)
  take <- function(part, rows) lapply(part, `[`, rows)
  own <- which(bucket[match(site, name)] <= sample$buckets)
  kept <- Filter(may_record, as.list(found)[!duplicated(names(found))])
  part <- list(
    data = take(kept, own), site = site[own], taxon = name_values(found[[columns$taxon]])[own],
    bucket = bucket[match(site, name)][own]
  )
  if (length(sample$data)) {
    both <- intersect(names(sample$data), names(kept))
    join <- function(name) join_values(list(as_plain(sample$data[[name]]), as_plain(part$data[[name]])))
    part <- list(
      data = lapply(stats::setNames(nm = both), join), site = c(sample$site, part$site),
      taxon = c(sample$taxon, part$taxon), bucket = c(sample$bucket, part$bucket)
    )
  }
  while (length(part$site) > judged_rows && sample$buckets > 1L) {
    sample$buckets <- sample$buckets %/% 2L
    own <- which(part$bucket <= sample$buckets)
    part <- list(
      data = take(part$data, own), site = part$site[own], taxon = part$taxon[own], bucket = part$bucket[own]
    )
  }
  c(part, sample["buckets"])
}

# Appends the records of a piece to the files of their buckets and returns the number for each.
fill_buckets <- function(found, folder) {
  name <- unique(found$site)
  row <- match(found$site, name)
  along <- lapply(found$along, site_values, row, name)
  bucket <- bucket_of(name)
  members <- split(seq_along(row), factor(bucket[row], seq_len(n_buckets)))
  for (b in which(lengths(members) > 0L)) {
    own <- members[[b]]
    mine <- unique(row[own])
    chunk <- list(
      site = name[mine], row = match(row[own], mine), column = found$taxon[own], cell = found$cell[own],
      along = lapply(along, `[`, mine)
    )
    append_bytes(serialize(chunk, NULL, xdr = FALSE), file.path(folder, sprintf("bucket-%03d", b)))
  }
  lengths(members)
}

# Returns one value per site: those of its records must agree, or be unknown.
site_values <- function(value, site, names) {
  if (is.factor(value)) value <- as.character(value)
  known <- which(!is.na(value))
  first <- known[match(seq_along(names), site[known])]
  out <- value[first]
  unlike <- known[value[known] != out[site[known]]]
  if (length(unlike)) {
    stop_input(
      "`site_data` must be the same in all records of a site: %s has %s and %s.",
      dQuote(names[site[unlike[1L]]], FALSE), show_value(out[site[unlike[1L]]]), show_value(value[unlike[1L]])
    )
  }
  out
}

# Joins the records of some buckets to a shard: list(view, rows); to: the column of each taxon; decimals: the decimal
# marks of columns of `along` that were read as text and hold numbers.
join_buckets <- function(folder, buckets, to, m, decimals = NULL) {
  chunks <- do.call(c, lapply(buckets, function(b) read_chunks(file.path(folder, sprintf("bucket-%03d", b)))))
  site <- unlist(lapply(chunks, `[[`, "site"))
  names <- sort(unique(site), method = "radix")
  at <- match(site, names)
  offset <- cumsum(c(0L, lengths(lapply(chunks, `[[`, "site"))))
  row <- at[unlist(lapply(seq_along(chunks), function(i) chunks[[i]]$row + offset[i]))]
  column <- to[unlist(lapply(chunks, `[[`, "column"))]
  cell <- unlist(lapply(chunks, `[[`, "cell"))
  along <- lapply(stats::setNames(nm = names(chunks[[1L]]$along)), function(name) {
    value <- join_values(lapply(chunks, function(chunk) chunk$along[[name]]))
    if (name %in% names(decimals)) value <- utils::type.convert(value, as.is = TRUE, dec = decimals[[name]])
    site_values(value, at, names)
  })
  keep <- which(!is.na(column) & cell > 0L)
  order <- keep[order(row[keep], column[keep], cell[keep], method = "radix")]
  key <- (row[order] - 1) * as.double(m) + column[order]
  order <- order[!duplicated(key)]
  part <- function(which) {
    own <- order[cell[order] == which]
    list(start = c(0L, cumsum(tabulate(row[own], length(names)))), column = column[own] - 1L)
  }
  ones <- part(1L)
  missing <- part(2L)
  if (!length(missing$column)) missing <- list(start = NULL, column = NULL)
  view <- list(
    dim = c(length(names), m), start = ones$start, column = ones$column, value = NULL, na_start = missing$start,
    na_column = missing$column
  )
  covariates <- if (length(along)) as.data.frame(along, optional = TRUE)
  list(view = view, rows = list(names = names, along = covariates))
}

# Joins values of a column from several pieces and keeps their class: c() uses that of the first, possibly all NA.
join_values <- function(parts) {
  known <- Filter(function(part) !is.logical(part) || !all(is.na(part)), parts)
  do.call(c, c(lapply(utils::head(known, 1L), `[`, 0L), parts))
}

join_styles <- function(before, style) {
  if (is.null(before) || !length(style)) {
    return(style)
  }
  all <- before & style
  all["decimal", ] <- before["decimal", ] | style["decimal", ]
  all
}

# Returns c(<column> = "." or ",") for columns of numbers only.
decimal_marks <- function(styles) {
  if (!length(styles)) {
    return(NULL)
  }
  points <- styles["points", ]
  commas <- styles["commas", ] & styles["decimal", ] & !points
  if (any(commas)) inform("Numbers with decimal commas: %s.", show_names(colnames(styles)[commas]))
  stats::setNames(ifelse(commas, ",", "."), colnames(styles))[commas | points]
}

read_chunks <- function(file) {
  con <- file(file, "rb")
  on.exit(close(con))
  out <- list()
  size <- file.size(file)
  while (seek(con) < size) out[[length(out) + 1L]] <- unserialize(con)
  out
}

# print() and summary() of shards.

#' @export
dim.shards <- function(x) unname(x$dims)

#' @export
dimnames.shards <- function(x) {
  rows <- unlist(lapply(seq_len(nrow(x$shards)), function(s) read_shard_rows(x, s)$names))
  if (!is.null(rows) || !is.null(x$attributes)) list(rows, x$attributes)
}

# Returns the whole table, if it fits into memory.
#' @export
as.matrix.shards <- function(x, ...) { # nolint: object_name_linter.
  check_dots(...)
  refuse_large(prod(x$dims), "The table", "take some rows, `x[i, ]`")
  as.matrix(x[seq_len(x$dims[["n"]]), ])
}

#' @export
t.shards <- function(x) t(as.matrix(x))

#' @export
nobs.shards <- function(object, ...) prod(object$dims) - sum(as.double(object$shards$missing))

#' @export
print.shards <- function(x, ...) {
  ones <- sum(as.double(x$shards$ones))
  missing <- sum(as.double(x$shards$missing))
  cat(sprintf(
    "Shards: %s, %s (%s %% of the cells)%s\n", table_words(x$dims), count_words(ones, "presence"),
    format_each(100 * ones / prod(x$dims)),
    if (missing > 0) sprintf(", %s unknown", count_words(missing, "cell")) else ""
  ))
  cat(sprintf(
    "%s of %s to %s rows in %s\n", count_words(nrow(x$shards), "file"), format_big(min(x$shards$rows)),
    format_big(max(x$shards$rows)), x$path
  ))
  if (length(x$along)) cat(sprintf("With the rows: %s\n", show_names(x$along, quoted = FALSE)))
  invisible(x)
}

#' @export
`[.shards` <- function(x, i, j, ..., drop = FALSE) {
  if (nargs() - (!missing(drop)) < 3L) stop_input("Shards have rows and columns: x[i, ], x[, j] or x[i, j].")
  if (missing(i)) stop_input("Select some rows, x[i, ], by number or name: shards may not fit into memory.")
  i <- as_index(i, x$dims[["n"]], "i")
  columns <- pick(if (!missing(j)) as_index(j, x$dims[["m"]], "j"), x$dims[["m"]], x$attributes, "j")
  over_rows(x, i, function(s, own) shard_matrix(x, s)[own, columns, drop = FALSE])
}

# Converts an index of `[` that is no name: TRUE and FALSE for each, and numbers to leave out.
as_index <- function(i, n, argument) {
  if (is.logical(i)) {
    return(which_true(i, n, NULL, argument))
  }
  if (is.numeric(i) && length(i) && !anyNA(i) && all(i < 0 & i >= -n & i == floor(i))) seq_len(n)[i] else i
}

# site_table() of shards: shard numbers, names of sites if any, and their covariates.
#' @export
site_table.shards <- function(x, shard = NULL) { # nolint: object_name_linter. Of the class of shards().
  wanted <- unique(pick(shard, nrow(x$shards), NULL, "shard"))
  each <- lapply(wanted, function(s) {
    rows <- read_shard_rows(x, s)
    parts <- list(shard = rep(s, x$shards$rows[s]), site = rows$names)
    along <- as.list(rows$along)
    taken <- names(along) %in% names(parts)
    names(along)[taken] <- paste0("site_", names(along)[taken])
    as.data.frame(c(parts[lengths(parts) > 0L], along), optional = TRUE)
  })
  out <- do.call(rbind, each)
  rownames(out) <- NULL
  out
}

in_pieces.shards <- function(x) TRUE
