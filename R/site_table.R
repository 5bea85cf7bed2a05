#' @rdname occurrence_matrix
#' @param x A matrix made by `occurrence_matrix()`, or a result of [shards()].
#' @param shard Of shards, the numbers of those wanted; `NULL`: all. A site takes the memory of its name.
#' @export
site_table <- function(x, shard = NULL) {
  check_given(x)
  UseMethod("site_table")
}

#' @export
site_table.default <- function(x, shard = NULL) {
  if (!is.null(shard)) stop_input("`shard` is for a result of shards(), and `x` is %s.", show_value(x))
  sites <- attr(x, "sites", exact = TRUE)
  if (!is.data.frame(sites)) {
    refuse_unread(x, "site_table")
    stop_input(paste(
      "`x` must carry the site table of `occurrence_matrix()`, but has none. Taking a part of a matrix loses it:",
      "take the table first, then its part, `sites[rownames(part), ]`."
    ))
  }
  if (!identical(rownames(sites), side_labels(x)[[1L]])) {
    stop_input("`x` must have the rows of its site table, in the same order: its rows were changed after it was made.")
  }
  sites
}

# Histories and lists of visits get their tables when they are read.
refuse_unread <- function(x, verb) {
  if (is.list(x) && !is_arranged(x)) {
    stop_input("`x` must be what visits_array() or occurrence_matrix() makes, not %s: use `%s(visits_array(x))`%s.",
      show_value(x), verb, " for a history or a list of visits")
  }
}

# Builds a row per kept site: its name, columns constant within all sites, the requested summaries, and the usual ones.
# of_taxa: columns that do not describe a site, also where it has one record.
new_site_table <- function(data, site, rows, kept, summarise, usual = usual_summaries, of_taxa = NULL) {
  first <- match(seq_along(rows$label), rows$code)
  used <- which(kept[rows$code])
  without <- c("site", "n_taxa", "n_occurrences", names(summarise), of_taxa)
  constant <- constant_columns(data, site, rows, kept, without)
  sites <- data.frame(site = rows$label[kept], row.names = rows$label[kept])
  for (column in constant) {
    value <- data[[column]][first[kept]]
    sites[[column]] <- if (is.character(value)) trimws(value) else value
  }
  varying <- setdiff(names(Filter(is.numeric, data)), c(constant, names(summarise), of_taxa))
  summarise <- c(summarise, usual_of(varying, usual))
  members <- split(used, factor(rows$code[used], levels = which(kept)))
  for (column in names(summarise)) {
    sites[[column]] <- summarise_column(data, members, column, summarise[[column]], sites$site)
  }
  sites
}

# Returns the columns that distinguish sites, and those with one value within each site.
constant_columns <- function(data, site, rows, kept, without) {
  first <- match(seq_along(rows$label), rows$code)
  used <- which(kept[rows$code])
  columns <- setdiff(names(data), without)
  constant <- vapply(columns, function(column) {
    column %in% site || is_constant(data[[column]], used, first[rows$code[used]])
  }, NA)
  columns[constant]
}

# Computes the median of longitudes, which may lie on both sides of the date line.
middle_longitude <- function(lng) {
  if (diff(range(lng)) <= 180) {
    return(stats::median(lng))
  }
  middle <- stats::median(lng %% 360)
  if (middle > 180) middle - 360 else middle
}

# Returns the summaries of columns with well-known names, which keep these; columns named unlike the Paleobiology
# Database's are reported.
usual_of <- function(columns, usual) {
  as <- usual_aliases[gsub("[^a-z]", "", tolower(columns))]
  known <- columns %in% names(usual)
  as[known] <- columns[known]
  found <- !is.na(as) & as %in% names(usual)
  if (!any(found)) {
    return(NULL)
  }
  if (any(found & !known)) {
    of <- usual_words[as[found & !known]]
    inform("Of each site: %s.", paste(of, dQuote(columns[found & !known], FALSE), collapse = ", "))
  }
  stats::setNames(usual[as[found]], columns[found])
}

usual_aliases <- c(
  maxage = "max_ma", agemax = "max_ma", maxma = "max_ma", minage = "min_ma", agemin = "min_ma", minma = "min_ma",
  long = "lng", lon = "lng", longitude = "lng", decimallongitude = "lng", declong = "lng", lng = "lng", lat = "lat",
  latitude = "lat", decimallatitude = "lat", declat = "lat"
)
usual_words <- c(max_ma = "the greatest", min_ma = "the least", lng = "the median of", lat = "the median of")

# Summaries of columns named as in the Paleobiology Database: the widest bounds of age, and the median of places.
usual_summaries <- lapply(
  list(
    max_ma = max, min_ma = min, lng = middle_longitude, lat = stats::median, paleolng = middle_longitude,
    paleolat = stats::median
  ),
  function(f) function(value) if (all(is.na(value))) NA_real_ else f(value[!is.na(value)])
)

# Tests whether value equals, in every row used, that in the first row of its site.
is_constant <- function(value, used, first) {
  if (!is.atomic(value) || !is.null(dim(value))) {
    return(FALSE)
  }
  one <- value[used]
  other <- value[first]
  identical(is.na(one), is.na(other)) && all(one == other, na.rm = TRUE)
}

summarise_column <- function(data, members, column, f, label) {
  whole <- !column %in% names(data)
  value <- lapply(seq_along(members), function(each) {
    i <- members[[each]]
    catch_error(
      f(if (whole) data[i, , drop = FALSE] else data[[column]][i]),
      function(e) {
        given <- if (whole) ", called with a data frame of its rows, as `data` has no column of that name" else ""
        stop_input(
          "`summarise` must hold functions that work: %s fails for %s%s: %s", show_names(column),
          show_names(label[each]), given, conditionMessage(e)
        )
      }
    )
  })
  wrong <- which(lengths(value) != 1L | !vapply(value, is.atomic, NA))
  if (length(wrong)) {
    stop_input(
      "`summarise` must hold functions that return one value: %s returned %s for %s.",
      show_names(column), show_value(value[[wrong[1L]]]), show_names(label[wrong[1L]])
    )
  }
  do.call(c, unname(value))
}

# Joins covariates of sites to results that name the sites.

# Returns the rows of a site table for these observations, with names that do not clash.
site_columns <- function(sites, fit, rows, taken) {
  if (!is.data.frame(sites)) {
    stop_input("`site_data` must be a data frame with a row for each site, not %s.", show_value(sites))
  }
  sites <- plain_frame(sites)
  observations <- fit$names[[1L]]
  if (is.null(observations)) {
    if (nrow(sites) != fit$dims[["n"]]) {
      stop_input(
        "`site_data` must have a row for each of the %d sites, as these have no names, not %d.",
        fit$dims[["n"]], nrow(sites)
      )
    }
    at <- rows
  } else {
    key <- site_key(sites, observations)
    at <- match(observations[rows], key$values)
    sites <- sites[setdiff(names(sites), key$column)]
  }
  out <- sites[at, , drop = FALSE]
  clash <- names(out) %in% taken
  names(out)[clash] <- paste0("site_", names(out)[clash])
  out
}

# Finds what identifies the rows of a site table. Its default row numbers come last, as observations may be named by
# numbers, too.
site_key <- function(sites, observations) {
  key <- find_key(sites, observations)
  if (is.null(key)) {
    values <- rownames(sites)
    if (!all(observations %in% values)) stop_no_key(sites, observations)
    key <- list(values = values, numbered = TRUE)
  }
  tell_key(key, "site_data")
  twice <- intersect(key$values[duplicated(key$values)], observations)
  if (length(twice)) {
    stop_input("`site_data` must have one row for each site: %s is there twice.", show_names(twice[1L]))
  }
  key
}

stop_no_key <- function(sites, observations) {
  lacks <- lapply(c(list(rownames(sites)), lapply(unclass(sites), key_values)), function(value) {
    setdiff(observations, value)
  })
  nearest <- which.min(lengths(lacks)) # the source that was meant, most likely
  stop_input(
    "`site_data` must have the names of the sites as row names or in a column: %s %s.",
    c("its row names lack", sprintf("column %s lacks", dQuote(names(sites), FALSE)))[nearest],
    show_names(lacks[[nearest]])
  )
}

# Orders covariates of sites, a list by name, some of them NULL: names of columns of the data's site table are replaced
# by these, and data frames with a column of sites' names are put in the order of the data. All others are unchanged.
#   labels, n  names (or NULL) and number of the sites
site_covariates <- function(given, sites, labels, n) {
  for (name in setdiff(names(Filter(length, given)), "distance")) {
    value <- given[[name]]
    if (is.character(value) && is.null(dim(value)) && length(value) != n) {
      given[[name]] <- named_columns(value, name, sites, labels)
    } else if (is.data.frame(value)) {
      given[[name]] <- covariate_frame_by_name(value, name, labels)
    }
  }
  given
}

named_columns <- function(columns, argument, sites, labels) {
  if (!is.data.frame(sites)) {
    stop_input(
      "`%s` is %s, but there is no site table, as from occurrence_matrix(): supply the values, `%s`.",
      argument, show_names(columns), if (length(columns) == 1L) {
        sprintf("%s = sites[[%s]]", argument, dQuote(columns, FALSE))
      } else {
        sprintf("%s = sites[%s]", argument, paste(deparse(columns), collapse = ""))
      }
    )
  }
  lost <- setdiff(columns, names(sites))
  if (length(lost)) {
    stop_input(
      "`%s` must be values, or columns of the site table: it has no %s, but %s. `summarise` of %s adds columns.",
      argument, show_names(lost), show_names(names(sites), 12L), "occurrence_matrix()"
    )
  }
  by_name(plain_frame(sites)[columns], labels, argument, others = TRUE)
}

# Finds sites of a table that may be one site entered twice.

least_same <- 4L # presences of a list that is there twice
most_by_chance <- 0.05 # other sites that would have it by chance; of few taxa many have the same

tell_same_sites <- function(x, near) {
  if (length(x) > most_kept) {
    return(invisible())
  }
  pairs <- same_sites(as.matrix(found_table(x)) == 1, near$given)
  if (nrow(pairs)) {
    said <- sprintf("\"%s\" and \"%s\"", label_of(pairs[, 1L], rownames(x)), label_of(pairs[, 2L], rownames(x)))
    more <- nrow(pairs) - 3L
    inform(
      "The same list is there twice: of %s%s. Leave one out if they are one site, since each foretells the other.",
      paste(utils::head(said, 3L), collapse = ", "),
      if (more > 0L) paste(" and", count_words(more, "more pair")) else ""
    )
  }
}

# Pairs each site with the first one before it that has the same taxa, at one place and of a possibly equal age, as far
# as these are known: a matrix of two columns.
same_sites <- function(found, given) {
  key <- apply(found, 1L, function(row) paste(which(row), collapse = " "))
  place <- given$place
  if (!is.null(place)) key <- paste(key, ifelse(is.na(rowSums(place)), seq_along(key), paste(place[, 1L], place[, 2L])))
  some <- which(rowSums(found) >= least_same & same_by_chance(found) < most_by_chance)
  first <- some[match(key[some], key[some])]
  pairs <- cbind(first, some)[first != some, , drop = FALSE]
  age <- given$age
  if (is.null(age)) {
    return(pairs)
  }
  apart <- age[pairs[, 1L], 1L] > age[pairs[, 2L], 2L] | age[pairs[, 2L], 1L] > age[pairs[, 1L], 2L]
  pairs[!apart %in% TRUE, , drop = FALSE]
}

# Computes how many other sites would have the same taxa as each if taxa were found independently.
same_by_chance <- function(found) {
  (nrow(found) - 1) * exp(log_chance_of_lines(t(found) + 0)[, "equal"])
}
