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
#' Names that people give these columns, such as `Locality`, `Latitude` or `MaxAge`, are known, too, and a message tells
#' of them.
#' They come first; every other column is kept under its own name. Blanks, `NA` and `\N` become `NA`; columns of numbers
#' alone become numbers. Indeterminate names (`indet.`, `gen.`, `sp.`, `incertae sedis`, `_`) become `NA`.
#' Control characters, line breaks within a field among them, become blanks.
#' `species` becomes the full name, genus and epithet. Latitude and longitude both exactly 0 are unknown and become
#' `NA`. Ages and coordinates that cannot be, and quotation marks that would lose rows, are treated as in [read_pbdb()].
#'
#' A message of class `multicause_message` tells what was read and what was left out.
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
    inform("Columns read: %s.", paste(dQuote(theirs[taken], FALSE), "as", names(table)[taken], collapse = ", "))
  }
  standard <- unique(names(now_aliases))
  table <- table[c(intersect(standard, names(table)), setdiff(names(table), standard))]

  taxa <- intersect(c("order", "family", "genus", "species"), names(table))
  table[taxa] <- lapply(table[taxa], function(name) replace(name, grepl(indeterminate, name, ignore.case = TRUE), NA))
  table$species <- ifelse(is.na(table$genus) | is.na(table$species), NA, paste(table$genus, table$species))
  table <- settle_columns(table, c("genus", "species"), names)
  table <- convert_numbers(table, c(taxa, "name"))
  need_numbers(table, c("max_ma", "min_ma", "lat", "lng"))
  if (all(c("lat", "lng") %in% names(table))) {
    nowhere <- which(table$lat == 0 & table$lng == 0)
    table[nowhere, c("lat", "lng")] <- NA
  }
  keep_usable(check_plausible(table, file, read$line), file, rank)
}

# Ours by theirs, of both exports; those of now_renamed and usual_aliases are what people make of them.
now_aliases <- c(
  lidnum = "lidnum", lidnum = "lid_now_loc", lidnum = "lid", name = "name", name = "loc_name",
  lat = "lat", lat = "dec_lat", lng = "long", lng = "dec_long",
  max_ma = "max_age", min_ma = "min_age", order = "order", order = "order_name", family = "family",
  family = "family_name", genus = "genus", genus = "genus_name", species = "species", species = "species_name"
)
now_renamed <- c(localityid = "lidnum", siteid = "lidnum", locality = "name", localityname = "name", site = "name")

# Column names as read_now() gives them. A second column for the same thing keeps its own name: those of exports first.
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
