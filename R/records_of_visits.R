#' From records to repeated visits
#'
#' Turns a long table of records, with a row for each presence of a taxon on a visit to a site, into the array of sites
#' by taxa by visits that [visits_bernoulli()] and [which_zeros()] take. Covariates of the visits and a table of the
#' sites come with it.
#'
#' @details
#' **A visit** is a search for all of the taxa. A taxon without a record on a visit that was made is 0; a visit that was
#' not made is `NA`. If a taxon was not looked for, set its cells to `NA` yourself. A record without a taxon, as of
#' bones that nobody can name, shows that there was a visit.
#'
#' **Which visits were made** is known from `visit_data`, a table with a row for each, also for those that found
#' nothing. Its columns of sites and visits have the same names as in `data`. Without it a visit that found nothing is
#' lost, and detection then seems better than it is. Recorded absences (`present`) count as records of a visit.
#'
#' **Order of visits.** Visits with the same names at many sites, such as `1`, `2` or `"spring"`, are the same column at
#' all of them. Dates (`Date`, `POSIXct`, or text such as `"2021-05-30"` or `"30.05.2021"`), and names that belong to
#' one site, are put in order within each site. A second column separates two visits on one day: `visit = c("date",
#' "observer")`.
#'
#' **Occasions.** `occasion = 7` pools the days of each week, counted from the first day in the tables, as for camera
#' traps. If each row of `visit_data` is a period, `until` names the column of its last day. For months or seasons make
#' a column of them, and use it as `visit`.
#'
#' **Closure.** Models of repeated visits assume that a taxon is at a site on all of its visits or on none. Make
#' different years, or seasons between which animals come and go, sites of their own: `site = c("site", "year")`.
#'
#' **Fossils.** Collections of one place and age are searches of one fauna (Liow 2013; Reitan and others 2022). In
#' `visits_array(read_pbdb(file))`, without `site`, `taxon` and `visit`, each collection is a visit, and a site is one
#' place (coordinates rounded to `degrees`), formation and age. Collections without coordinates or ages are left out.
#' For a wider fauna name the columns: `site = c("formation", "early_interval")`, `taxon = "genus"`, `visit =
#' "collection_no"`. Closure then means that the fauna was the same throughout the formation and interval.
#'
#' **Many visits to a few sites.** `max_visits` limits them. `surplus = "pool"` pools the visits of a site into searches
#' of about equal size, dated visits with their neighbours in time, and `n_pooled` has their numbers: use `detection =
#' ~log(n_pooled)`. `"first"` and `"random"` drop the other visits. On simulated faunas of up to 60 collections the
#' estimated presences were 1 % too many with 5 pooled searches and that covariate, 19 % too few without it, and 9 to
#' 10 % too low from 5 collections (`bench/visits.md` in the sources).
#'
#' **One species, other shapes.** Without `site`, `taxon` and `visit`, `data` may have any of [the shapes of repeated
#' visits][visits_bernoulli_data]. If a site has a row for each season, each season of a site is a site of its own.
#'
#' **Cost.** Time grows with the rows of `data` and `visit_data`, memory with sites times taxa times visits.
#' @param data a data frame with a row for each record.
#' @param site,taxon,visit names of the columns of `data` that identify sites, taxa and visits to a site. Of several
#'   columns every combination is one; names are joined as in [occurrence_matrix()].
#' @param ... must be empty.
#' @param visit_data `NULL`, or a data frame with a row for each visit that was made, and its covariates.
#' @param present how absences are recorded, as in [occurrence_matrix()]: the name of a column of `data` that states
#'   whether the taxon was found, also with the meaning of blanks, `c("n", blank = "absent")`; `NULL` if every record is
#'   a presence; or `"auto"`: the same, but a column that may record absences is an error that names it.
#' @param occasion `NULL`, or a whole number of days that are pooled into one visit. `visit` must hold a date.
#' @param until `NULL`, or the name of a column of `visit_data` with the last day of a period of searching.
#' @param max_visits the largest number of visits to a site, at least 1.
#' @param surplus what becomes of the visits to a site that has more: `"pool"`, `"first"` or `"random"`.
#' @param min_visits,min_sites sites with fewer visits are dropped, then taxa that were found at fewer sites.
#' @param summarise a named list of functions that add covariates of visits, as `list(effort = sum)`. If the table of
#'   visits (`visit_data`, else `data`) has a column of that name, the function receives its values over the rows of a
#'   visit, else those rows. It must return one value.
#' @param degrees for a download of the Paleobiology Database without `site`: coordinates are rounded to multiples of
#'   this number of degrees, and equal ones are one place.
#' @param sides for an array without names of its dimensions, what these are, as `c("species", "site", "visit")`.
#' @param x an array made by `visits_array()`.
#' @return `visits_array()`: an integer array, sites by taxa by visits, of 0, 1 and `NA`, with names. Sites and taxa are
#'   sorted. It keeps its covariates: `visits_bernoulli(x, k, detection = ~effort)` finds them. A part of it,
#'   `x[1:10, , ]`, loses them, as R drops attributes: supply them as `visit_data = visit_table(x)` and
#'   `site_data = site_table(x)`, which are matched by name.
#'
#'   `visit_table()`: a data frame with a row for each visit made: `site` and `visit`, the names in the array; the
#'   columns of `visit`; every column of `visit_data` (without it, of `data`) that is constant within visits but not
#'   within sites; those of `summarise`; for dated visits `day_of_year`, that of the first day; and `n_pooled` if visits
#'   were pooled.
#'
#'   [site_table()] of the array has a row for each site, with what is constant within sites, and ages and places as in
#'   [occurrence_matrix()]. `which_zeros(visits = x, age = c("max_ma", "min_ma"))` finds them.
#'
#'   Wrong input is an error of class `multicause_input_error`: among others dates that cannot be read, or surveys none
#'   of which has a record. A message of class `multicause_message` reports how many sites, taxa and visits there are,
#'   how many sites have two visits or more, and what was left out.
#' @seealso [visits_bernoulli()], [which_zeros()]; [occurrence_matrix()] for one table of all visits; [read_pbdb()].
#' @references
#' Liow LH (2013). Simultaneous estimation of occupancy and detection probabilities: an illustration using Cincinnatian
#' brachiopods. *Paleobiology* 39, 193-213. \doi{10.1666/12009}
#'
#' Reitan T, Ergon T, Liow LH (2022). Relative species abundance and population densities of the past: developing
#' multispecies occupancy models for fossil data. *Paleobiology* 49, 23-38. \doi{10.1017/pab.2022.17}
#' @examples
#' # A survey: four visits, one of which found nothing
#' records <- data.frame(
#'   pond = c("North", "North", "North", "South"),
#'   day = c("2021-05-02", "2021-05-02", "2021-06-01", "2021-05-03"),
#'   frog = c("Rana", "Bufo", "Rana", "Bufo")
#' )
#' surveys <- data.frame(
#'   pond = c("North", "North", "South", "South"),
#'   day = c("2021-05-02", "2021-06-01", "2021-05-03", "2021-06-02"),
#'   hours = c(2, 1, 1, 3)
#' )
#' visits <- visits_array(records, site = "pond", taxon = "frog", visit = "day", visit_data = surveys)
#' visits["South", , ]
#' visit_table(visits)
#'
#' # Collections as searches of one fauna
#' bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
#' fauna <- visits_array(
#'   bodies, site = c("formation", "early_interval"), taxon = "genus", visit = "collection_no",
#'   max_visits = 4, min_visits = 2, min_sites = 5
#' )
#' fit <- visits_bernoulli(fauna, 1, detection = ~log(n_pooled))
#' fit
#' @export
visits_array <- function(data, site, taxon, visit, ..., visit_data = NULL, min_sites = 0, min_visits = 1,
                         max_visits = Inf, surplus = c("pool", "first", "random"), present = "auto", occasion = NULL,
                         until = NULL, summarise = NULL, degrees = 0.1, sides = NULL) {
  check_dots(...)
  check_given(data)
  if (missing(site) && missing(taxon) && missing(visit)) {
    if (!is_download(data)) {
      return(carry_sites(check_visits(data, sides, name = "data")))
    }
    data <- fauna_columns(plain_frame(data), check_number(degrees, "degrees", 0, 180, open = TRUE))
    site <- fauna_sites
    taxon <- "genus"
    visit <- "collection_no"
  }
  check_record_frame(data, "data")
  data <- plain_times(only_named(plain_frame(data)))
  check_given(site, taxon, visit)
  for (arg in c("site", "taxon", "visit")) check_columns(data, get(arg), arg)
  surplus <- check_choice(surplus)
  if (!identical(max_visits, Inf)) max_visits <- check_count(max_visits, "max_visits")
  limits <- c(sites = check_count(min_sites, "min_sites", 0L), visits = check_count(min_visits, "min_visits"))
  if (limits[["visits"]] > max_visits) stop_input("`min_visits` must be no more than `max_visits`, %d.", max_visits)
  if (!is.null(occasion)) occasion <- check_count(occasion, "occasion")
  check_summaries(summarise, c("site", "visit", "day_of_year", "n_pooled"))
  dated <- date_visits(data, check_surveys(visit_data, c(site, visit)), visit, until)
  data <- dated$data
  surveys <- dated$surveys
  if (!is.null(occasion) && length(dated$columns) != 1L) {
    stop_input("`occasion` pools days: `visit` must name one column of dates, not %d.", length(dated$columns))
  }
  present <- check_present(present, "the name of a column of `data`")
  if (is.list(present)) check_columns(data, present$column, "present")

  keys <- join_tables(data, surveys, c(site, visit))
  days <- if (length(dated$columns)) as.integer(as.Date(keys[[dated$columns[1L]]]))
  if (!is.null(occasion)) keys[[dated$columns]] <- (days - min(days, na.rm = TRUE)) %/% occasion + 1
  rows <- list(
    site = key_codes(keys, site, "site", ", "), visit = key_codes(keys, visit, "visit", ", "),
    taxon = key_codes(data, taxon, "taxon", " "), own = seq_len(nrow(data)), days = days,
    source = if (is.null(surveys)) seq_len(nrow(data)) else nrow(data) + seq_len(nrow(surveys))
  )
  tell_alike_sites(rows$site$label, unlist(lapply(data[site], function(value) unique(name_values(value)))))
  rows$found <- found_records(data, present, rows, list(site = site, taxon = taxon, visit = visit))
  made <- made_visits(rows)
  by_day <- length(dated$columns) && is.null(occasion)
  made <- place_visits(made, rows$visit$label, by_day, max_visits, surplus)
  kept <- keep_sites(made, rows, limits)
  x <- fill_visits(made, rows, kept)
  of_taxa <- if (is.null(surveys)) setdiff(taxon, c(site, visit))
  tables <- visit_covariates(
    if (is.null(surveys)) data else surveys, made, rows, kept, site, visit, summarise, dated$columns, x, of_taxa
  )
  tell_visits(x, made, rows, kept, list(
    surveys = surveys, data = data, columns = c(site, visit), covariates = tables, max_visits = max_visits,
    surplus = surplus
  ))
  # Marks the array and its covariates as check_visits() does, see base_visits.R.
  structure(x, sides = visit_sides, covariates = list(visit = tables$visit, site = tables$site), sites = tables$site)
}

#' @rdname visits_array
#' @export
visit_table <- function(x) {
  check_given(x)
  visits <- attr(x, "covariates", exact = TRUE)$visit
  is_listed <- is.data.frame(visits) && all(c("site", "visit") %in% names(visits))
  if (is_arranged(x) && !is_listed) visits <- listed_visits(x, visits)
  if (!is.data.frame(visits)) {
    refuse_unread(x, "visit_table")
    stop_input(paste(
      "`x` must carry the covariates of `visits_array()`, but has none. Taking a part of an array loses them: take the",
      "table first, and supply it as `visit_data`."
    ))
  }
  visits
}

# Returns a row per visit made of an array that does not come from records, with its covariates.
listed_visits <- function(x, covariates) {
  labels <- side_labels(x)
  made <- which(visits_made(x))
  made <- made[order((made - 1L) %% nrow(x))]
  values <- visit_values(covariates, dim(x), dimnames(x) %||% list(NULL, NULL, NULL))$values
  at <- arrayInd(made, dim(x)[-2L])
  out <- data.frame(site = labels[[1L]][at[, 1L]], visit = labels[[3L]][at[, 2L]])
  out[names(values)] <- lapply(values, `[`, made)
  out
}

# Attaches the table of sites to such an array, with its covariates.
carry_sites <- function(x) {
  site <- side_labels(x)[[1L]]
  check_names(site, "Site", "`x`")
  known <- side_values(attr(x, "covariates")$site, nrow(x), rownames(x), "site_data", c("site", "sites"))
  sites <- data.frame(site, row.names = site)
  sites[setdiff(names(known), "site")] <- known[setdiff(names(known), "site")]
  structure(x, sites = sites)
}

# Columns of a Paleobiology Database download; for the sites of its collections see fauna_columns().
is_download <- function(data) is.data.frame(data) && all(download_columns %in% names(data))
download_columns <- c("collection_no", "genus", "max_ma", "min_ma", "lng", "lat")
fauna_sites <- c("fauna_place", "fauna_formation", "fauna_age")

# Adds the columns that distinguish faunas: place, formation and bounds of age, as text, NA if unknown.
fauna_columns <- function(data, degrees) {
  known <- function(a, b, text) ifelse(is.na(a) | is.na(b), NA, text)
  rounded <- function(x) format(round(x / degrees) * degrees, trim = TRUE, digits = 7L)
  data$fauna_place <- known(data$lat, data$lng, paste(rounded(data$lat), rounded(data$lng)))
  data$fauna_age <- known(data$max_ma, data$min_ma, paste0(data$max_ma, "-", data$min_ma, " Ma"))
  formation <- if (is.null(data$formation)) NA else trimws(as.character(data$formation))
  data$fauna_formation <- ifelse(is.na(formation) | !nzchar(formation), "no formation", formation)
  inform(
    "Sites are places (within %s degrees) of one formation and age, and visits are collections, of genera: %s.",
    format(degrees), "use `site`, `taxon` and `visit` for others"
  )
  data
}

check_record_frame <- function(x, name) {
  if (!is.data.frame(x)) {
    stop_input("`%s` must be a data frame with a row for each %s, not %s.", name,
      if (name == "data") "record" else "visit", show_value(x))
  }
  if (!nrow(x)) stop_input("`%s` must have rows: it has none.", name)
}

check_surveys <- function(surveys, columns) {
  if (is.null(surveys)) {
    return(NULL)
  }
  check_record_frame(surveys, "visit_data")
  surveys <- plain_times(only_named(plain_frame(surveys)))
  lost <- setdiff(columns, names(surveys))
  if (length(lost)) {
    stop_input("`visit_data` must have the columns %s of `data`: it has no %s.", show_names(columns), show_names(lost))
  }
  surveys
}

# Returns both tables with dates of visits as such, and the names of these columns; a period of days becomes its days.
date_visits <- function(data, surveys, visit, until) {
  tables <- list(data = data, surveys = surveys)
  given <- c(data = "data", surveys = "visit_data")
  for (name in names(tables)) {
    for (column in visit) {
      if (!is.null(tables[[name]])) tables[[name]][[column]] <- as_days(tables[[name]][[column]], given[[name]], column)
    }
  }
  dates <- function(table) visit[vapply(visit, function(column) inherits(table[[column]], "Date"), NA)]
  columns <- dates(data <- tables$data)
  surveys <- tables$surveys
  odd <- if (!is.null(surveys)) union(setdiff(columns, dates(surveys)), setdiff(dates(surveys), columns))
  if (length(odd)) stop_input("`%s` must be dates in both `data` and `visit_data`, or in neither.", odd[1L])
  if (!is.null(until)) surveys <- search_days(surveys, columns, until)
  list(data = data, surveys = surveys, columns = columns)
}

# Repeats each row of surveys for the days from `column` to `until`.
search_days <- function(surveys, column, until) {
  if (is.null(surveys)) stop_input("`until` must name a column of `visit_data`, which is not supplied.")
  check_choice(until, "until", names(surveys))
  if (length(column) != 1L) stop_input("`until` ends a period: `visit` must name one column of dates.")
  last <- as_days(surveys[[until]], "visit_data", until)
  if (!inherits(last, "Date")) stop_input("`until` must name a column of dates: %s is not one.", show_names(until))
  from <- surveys[[column]]
  bad <- which(is.na(from) != is.na(last) | last < from)
  if (length(bad)) {
    stop_input("Periods of `visit_data` must end no earlier than they begin: row %d is from %s to %s.", bad[1L],
      format(from[bad[1L]]), format(last[bad[1L]]))
  }
  days <- ifelse(is.na(from), 1, as.integer(last - from) + 1)
  out <- surveys[rep(seq_len(nrow(surveys)), days), setdiff(names(surveys), until), drop = FALSE]
  out[[column]] <- out[[column]] + sequence(days) - 1
  out
}

# Tests which records are presences: TRUE, FALSE or, if unknown, NA.
found_records <- function(data, present, rows, given) {
  site <- rows$site$code[rows$own]
  site[is.na(rows$visit$code[rows$own])] <- NA
  state <- record_states(data, present, unlist(given), !is.na(site) & !is.na(rows$taxon$code))
  if (identical(present, "auto")) {
    ask_by_structure(data, site, rows$taxon$code, given, visit = rows$visit$code[rows$own])
  }
  state == 1L
}

# Binds columns of both tables by rows; numbers in both stay numbers, so that they sort as such.
join_tables <- function(data, surveys, columns) {
  plain <- function(x) is.numeric(x) && !is.object(x)
  as.data.frame(lapply(stats::setNames(nm = columns), function(column) {
    own <- data[[column]]
    theirs <- surveys[[column]]
    if (plain(own) && (is.null(surveys) || plain(theirs))) c(own, theirs) else c(name_values(own), name_values(theirs))
  }), optional = TRUE, stringsAsFactors = FALSE)
}

# Lists the visits made, site by site in order: data frame of site, name (codes), rank and count (of the site), with an
# attribute: the visit of each row of both tables.
made_visits <- function(rows) {
  n <- length(rows$site$label)
  pair <- (as.double(rows$visit$code) - 1) * n + rows$site$code
  all <- sort(unique(pair[rows$source]))
  if (!length(all)) stop_input("`site` and `visit` must both be known in some row: there is none.")
  made <- data.frame(site = as.integer((all - 1) %% n) + 1L, name = as.integer((all - 1) %/% n) + 1L)
  in_order <- order(made$site, made$name)
  made <- made[in_order, ]
  number <- tabulate(made$site, n)
  made$rank <- sequence(number[number > 0L])
  made$count <- number[made$site]
  of_row <- match(pair, all[in_order])
  if (all(is.na(of_row[rows$own]))) {
    stop_input("`visit_data` must have visits of `data`: no record is of a site and visit that it has.")
  }
  structure(made, of_row = of_row, pair = pair)
}

# Assigns each visit its column of the array, NA if it is left out, with the columns' names.
place_visits <- function(made, label, by_day, max_visits, surplus) {
  used <- sort(unique(made$name))
  # Dates are seldom shared between sites; other names are shared if each is used at two sites or more on average.
  shared <- length(used) == max(made$count) || (!by_day && length(used) <= nrow(made) / 2)
  made$column <- if (shared) match(made$name, used) else made$rank
  labels <- if (shared) label[used] else as.character(seq_len(max(made$rank)))
  if (length(labels) > max_visits) {
    made$column <- thin_visits(made, max_visits, surplus, by_day)
    labels <- as.character(seq_len(min(max_visits, max(made$count))))
  }
  attr(made, "labels") <- labels
  made
}

thin_visits <- function(made, most, surplus, by_day) {
  if (surplus == "pool") {
    in_turn <- (made$rank - 1L) %% most + 1L
    beside <- as.integer(ceiling(made$rank * most / made$count))
    return(ifelse(made$count <= most, made$rank, if (by_day) beside else in_turn))
  }
  kept <- if (surplus == "first") {
    made$rank <= most
  } else {
    by_chance <- order(made$site, stats::runif(nrow(made)))
    replace(logical(nrow(made)), by_chance[made$rank <= most], TRUE)
  }
  column <- rep(NA_integer_, nrow(made))
  column[kept] <- sequence(rle(made$site[kept])$lengths)
  column
}

# Selects the sites and taxa to keep, as logical vectors.
keep_sites <- function(made, rows, limits) {
  placed <- made[!is.na(made$column), ]
  searched <- !duplicated(placed[c("site", "column")])
  sites <- tabulate(placed$site[searched], length(rows$site$label)) >= limits[["visits"]]
  if (!any(sites)) {
    stop_input("`min_visits` must leave a site: none has %s.", count_words(limits[["visits"]], "visit"))
  }
  at <- find_places(made, rows)
  at <- at[sites[at$site], ]
  at <- at[!duplicated(at[c("site", "taxon")]), ]
  taxa <- tabulate(at$taxon, length(rows$taxon$label)) >= limits[["sites"]]
  if (!any(taxa)) {
    stop_input("`min_sites` must leave a taxon: none was found at %s.", count_words(limits[["sites"]], "site"))
  }
  list(sites = sites, taxa = taxa)
}

# Finds the presences of visits made and kept: site, taxon, column.
find_places <- function(made, rows, found = TRUE) {
  visit <- attr(made, "of_row")[rows$own]
  at <- data.frame(site = made$site[visit], taxon = rows$taxon$code, column = made$column[visit])
  at[rows$found %in% found & stats::complete.cases(at), ]
}

fill_visits <- function(made, rows, kept) {
  labels <- list(
    site = rows$site$label[kept$sites], taxon = rows$taxon$label[kept$taxa], visit = attr(made, "labels")
  )
  size <- lengths(labels, use.names = FALSE)
  if (prod(as.double(size)) > .Machine$integer.max) {
    stop_input("`max_visits` must be lower: an array of %s cells is too large.", paste(size, collapse = " x "))
  }
  inner <- list(site = cumsum(kept$sites), taxon = cumsum(kept$taxa))
  searched <- matrix(NA_integer_, size[1L], size[3L])
  at <- made[!is.na(made$column) & kept$sites[made$site], ]
  searched[cbind(inner$site[at$site], at$column)] <- 0L
  x <- array(searched[, rep(seq_len(size[3L]), each = size[2L])], size, labels)
  # A presence wins, then the unknown.
  for (found in c(NA, TRUE)) {
    at <- find_places(made, rows, found)
    at <- at[kept$sites[at$site] & kept$taxa[at$taxon], ]
    x[cbind(inner$site[at$site], inner$taxon[at$taxon], at$column)] <- if (is.na(found)) NA else 1L
  }
  x
}

# Returns list(visit, site): their data frames of covariates; the rows of `table` are the visits made.
visit_covariates <- function(table, made, rows, kept, site, visit, summarise, dates, x, of_taxa) {
  of_row <- attr(made, "of_row")[rows$source]
  at <- made[of_row, c("site", "column")]
  at$site[is.na(at$column) | !kept$sites[at$site]] <- NA
  own <- list(code = at$site, label = rows$site$label)
  sites <- new_site_table(
    table[setdiff(names(table), names(summarise))], site, own, kept$sites, NULL, of_taxa = of_taxa
  )
  without <- c("site", "n_taxa", "n_occurrences", names(summarise), of_taxa)
  of_sites <- constant_columns(table, site, own, kept$sites, without)
  cell <- as.integer((at$column - 1L) * nrow(x) + cumsum(kept$sites)[at$site])
  code <- list(code = cell, label = as.character(seq_len(nrow(x) * dim(x)[3L])))
  searched <- code$label %in% cell
  rest <- setdiff(names(table), c("site", of_sites))
  visits <- new_site_table(table[rest], character(), code, searched, summarise, usual = NULL, of_taxa = of_taxa)
  cells <- which(searched)
  visits <- data.frame(
    site = rownames(x)[(cells - 1L) %% nrow(x) + 1L], visit = dimnames(x)[[3L]][(cells - 1L) %/% nrow(x) + 1L],
    visits[setdiff(names(visits)[-1L], c("site", "visit"))], check.names = FALSE
  )
  if (length(dates)) {
    day <- rows$days[rows$source]
    first <- as.Date(as.vector(tapply(day, factor(cell, cells), min)), origin = "1970-01-01")
    if (!dates[1L] %in% c("site", "visit")) visits[[dates[1L]]] <- first
    visits$day_of_year <- as.POSIXlt(first)$yday + 1L
  }
  single <- unique(data.frame(cell, visit = of_row, day = if (length(dates)) day else 0L))
  pooled <- tabulate(match(single$cell, cells), length(cells))
  if (any(pooled > 1L)) visits$n_pooled <- pooled
  in_order <- order((cells - 1L) %% nrow(x))
  visits <- visits[in_order, ]
  rownames(visits) <- NULL
  list(visit = visits, site = sites, varying = setdiff(rest, c(names(visits), visit)))
}

tell_visits <- function(x, made, rows, kept, given) {
  n_visits <- rowSums(!is.na(x[, 1L, , drop = FALSE]))
  twice <- sum(n_visits > 1L)
  lines <- sprintf(
    "%s x %s, up to %s to a site: %s in all; %s.", count_words(nrow(x), "site"),
    count_words(ncol(x), "taxon"), count_words(dim(x)[3L], "visit"), format_big(sum(n_visits)),
    if (twice == nrow(x)) "each site has two or more" else
      sprintf(
        "%s %s two or more, %s one", count_words(twice, "site"), if (twice == 1L) "has" else "have",
        format_big(nrow(x) - twice)
      )
  )
  bare <- sum(colSums(aperm(x, c(2L, 1L, 3L))) == 0, na.rm = TRUE)
  lines <- c(lines, left_out_sentences(made, rows, given), if (bare) {
    sprintf("Visits that found none of these taxa: %d.", bare)
  }, thinned_sentence(made, kept, given))
  n_dropped <- c(sum(!kept$sites[unique(made$site)]), sum(!kept$taxa))
  if (any(n_dropped)) {
    lines <- c(lines, sprintf("Dropped by `min_visits` and `min_sites`: %s, %s.",
      count_words(n_dropped[1L], "site"), count_words(n_dropped[2L], "taxon")))
  }
  if (!is.null(given$surveys) && length(given$covariates$varying)) {
    lines <- c(lines, sprintf("Not among the covariates, as they vary within a visit (see `summarise`): %s.",
      paste(given$covariates$varying, collapse = ", ")))
  }
  inform("%s", paste(lines, collapse = "\n"))
}

left_out_sentences <- function(made, rows, given) {
  pair <- attr(made, "pair")
  of_row <- attr(made, "of_row")[rows$own]
  blank <- is.na(pair[rows$own])
  other <- !blank & is.na(of_row)
  unknown <- !blank & is.na(rows$found)
  c(
    if (any(blank)) {
      sprintf("Left out %d of %d records: no %s.", sum(blank), length(blank), paste(given$columns, collapse = " or "))
    },
    if (any(other)) {
      first <- which(other)[1L]
      sprintf("Left out %d of %d records, of visits that `visit_data` has not: the first is of %s, %s.", sum(other),
        length(other), show_names(rows$site$label[rows$site$code[first]]),
        show_names(rows$visit$label[rows$visit$code[first]]))
    },
    if (any(unknown)) sprintf(
      "Records without detection or non-detection, unknown (`NA`) where no other record is of a detection: %d.",
      sum(unknown)
    )
  )
}

# Reports the effect of `max_visits`, or its possible effect.
thinned_sentence <- function(made, kept, given) {
  own <- made[kept$sites[made$site], ]
  many <- own$count > given$max_visits
  if (!any(many)) {
    size <- c(length(unique(own$site)), length(attr(made, "labels")))
    empty <- 1 - nrow(unique(own[c("site", "column")])) / prod(size)
    if (empty > 0.8 && size[2L] > 10L) {
      return(sprintf("%s %% of the array are visits that were not made: see `max_visits`.", format_percent(empty)))
    }
    return(NULL)
  }
  at <- count_words(length(unique(own$site[many])), "site")
  if (given$surplus == "pool") {
    return(sprintf(
      "At %s, pooled %s into %d each. Larger ones find more: `detection = ~log(n_pooled)`.", at,
      count_words(sum(many), "visit"), given$max_visits
    ))
  }
  sprintf("Left out %d of %d visits, to %s with more than %d.", sum(is.na(own$column)), nrow(own), at, given$max_visits)
}

# Returns the days of dates; other values are unchanged.
as_days <- function(value, table, column) {
  if (inherits(value, "Date")) {
    return(as.Date(floor(unclass(value)), origin = "1970-01-01"))
  }
  if (inherits(value, "POSIXt")) {
    return(as.Date(format(value, "%Y-%m-%d")))
  }
  if (!is.character(value) && !is.factor(value)) {
    return(value)
  }
  text <- name_values(value)
  dated <- is_date_text(text)
  if (!any(dated) || sum(dated) < sum(!is.na(text)) / 2) {
    return(value)
  }
  day <- text_days(text, dated, sprintf("%s$%s", table, column))
  bad <- which(is.na(day) & !is.na(text))
  if (length(bad)) {
    stop_input("`%s$%s` must be dates throughout: row %d is %s.", table, column, bad[1L], show_value(text[bad[1L]]))
  }
  day
}

text_days <- function(text, dated, name) {
  parts <- lapply(strsplit(ifelse(dated, text, NA), "[^0-9]+"), function(part) as.integer(part[1:3]))
  parts <- matrix(unlist(parts), 3L)
  last <- dated & !grepl(date_patterns[["first"]], text, perl = TRUE)
  if (!any(last)) {
    year_month_day <- parts
  } else {
    if (!all(last[dated])) {
      stop_input("`%s` must be dates of one form: %s and %s are not.", name,
        show_value(text[which(dated & !last)[1L]]), show_value(text[which(last)[1L]]))
    }
    over <- c(day_first = any(parts[1L, ] > 12, na.rm = TRUE), month_first = any(parts[2L, ] > 12, na.rm = TRUE))
    points <- all(grepl(".", text[dated], fixed = TRUE))
    short <- any(parts[3L, ] < 1000, na.rm = TRUE)
    if (short || all(over) || !(any(over) || points)) {
      stop_input("`%s` must be unambiguous dates, not %s: use as.Date(%s, format = ).", name,
        show_value(text[which(dated)[1L]]), name)
    }
    year_month_day <- parts[if (over[["month_first"]]) c(3L, 1L, 2L) else 3:1, , drop = FALSE]
  }
  as.Date(
    sprintf("%04d-%02d-%02d", year_month_day[1L, ], year_month_day[2L, ], year_month_day[3L, ]), format = "%Y-%m-%d"
  )
}
