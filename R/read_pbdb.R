#' Read a download of the Paleobiology Database
#'
#' Reads a file of fossil occurrences from the Paleobiology Database. The file may come from its download page or from
#' its data service (version 1.2). The result is the table that [occurrence_matrix()] takes.
#'
#' @param file Path of a text file with commas, tabs or semicolons (`.csv`, `.tsv`, `.txt`; also compressed by gzip),
#'   with or without the block of information about the download that stands above the table.
#' @param rank `"genus"` leaves out occurrences that are not identified to a genus, `"species"` those not identified
#'   to a species; `"any"` keeps all.
#' @param names What becomes of names in columns `genus` and `species` that differ only in how they are written:
#'   `"keep"` leaves them apart and tells of them; `"join"` makes them one; `"certain"` joins them and leaves out names
#'   with marks of doubt. See [occurrence_matrix()].
#' @param keep which occurrences that the database flags are kept all the same, any of `"trace"` (flag `I`: ichnotaxa,
#'   such as footprints and burrows), `"form"` (flag `F`: form taxa, such as eggs and leaves, named apart from what made
#'   them) and `"replaced"` (flag `R`: identifications that were replaced by a later one which the file has, too).
#'
#' @details
#' The file must be a download of occurrences, not of collections or taxa. It must have the long column names of the
#' database, which the download page gives, and the data service for `occs/list.csv`. These must be there:
#' `occurrence_no`, `collection_no`, `accepted_name`, `accepted_rank`, `max_ma` and `min_ma`. Every column is kept under
#' its name. Blanks, the text `NA` and names such as `NO_GENUS_SPECIFIED` become `NA`. Columns of numbers alone
#' become numbers, also with decimal commas, where ages and coordinates have no decimal points. In column `cc` the text
#' `NA` is Namibia and stays. Control characters become blanks, also line breaks within a field.
#'
#' Where the file has no column `genus` (the option "classification" was not chosen), it is taken from
#' `accepted_name`. A column `species` is added: the first two words of `accepted_name` without the subgenus, where it
#' is a species or below.
#'
#' Ages below 0 and a `min_ma` above `max_ma` become `NA`. So do coordinates with a latitude beyond 90 degrees or a
#' longitude beyond -180 and 360. A warning of class `multicause_implausible` says how many there are and in which
#' lines. A quotation mark that is closed only in a later row would lose the rows between. It is an error that names the
#' line.
#'
#' A message of class `multicause_message` tells what was read and left out, how many occurrences are flagged, what the
#' database warns of in the block above the table, and whether the file has fewer rows than the database says it sent.
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
  is_header <- function(names) all(c("occurrence_no", "collection_no") %in% names)
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
  need_numbers(table, c("max_ma", "min_ma", "lng", "lat"))
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

# What the letters of column `flags` say of an occurrence.
pbdb_flags <- c(trace = "I", form = "F", replaced = "R")

flag_words <- c(trace = "trace fossil", form = "form taxon", replaced = "replaced identification")

# Without the occurrences that are flagged, but for those of the kinds to keep. An occurrence with two flags is counted
# by the first.
leave_out_flagged <- function(table, keep) {
  if (!"flags" %in% names(table)) {
    return(table)
  }
  flagged <- vapply(pbdb_flags, grepl, logical(nrow(table)), x = table$flags, fixed = TRUE)
  flagged <- matrix(flagged, nrow(table), dimnames = list(NULL, names(pbdb_flags)))
  latest <- table$occurrence_no[!flagged[, "replaced"]]
  flagged[, "replaced"] <- flagged[, "replaced"] & table$occurrence_no %in% latest # else the file has no other
  kind <- names(pbdb_flags)[max.col(flagged, ties.method = "first")]
  kind[rowSums(flagged) == 0] <- NA
  out <- !is.na(kind) & rowSums(flagged[, setdiff(names(pbdb_flags), keep), drop = FALSE]) > 0
  if (any(!is.na(kind) & !out)) inform("Kept, as `keep` says: %s.", count_flagged(kind[!out]))
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

# Why a file is no occurrence download, as well as can be seen.
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
      "collections are columns, and give it to a model"
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
  if (grepl("collection_no", text)) {
    return("is a download of collections, not of occurrences")
  }
  if (grepl("taxon_no|orig_no", text)) {
    return("is a download of taxa, not of occurrences")
  }
  "has no line with the column names occurrence_no and collection_no"
}

# Whether the first rows of several columns hold little but blanks, crosses and whole numbers, as a matrix does.
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

# The block above the table: keys and values, and parameters and warnings (which may stand under a blank key).
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
    inform("The database says it sent %s, but the file has %d: is it whole?", count_words(sent, "record"), nrow(table))
  }
}

# genus, where the file has none, and species, from the accepted name.
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
