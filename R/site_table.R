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

# A row for each kept site: its name, what is constant within all of them, the summaries asked for, and the usual ones.
new_site_table <- function(data, site, rows, kept, summarise, usual = usual_summaries) {
  first <- match(seq_along(rows$label), rows$code)
  used <- which(kept[rows$code])
  constant <- constant_columns(data, site, rows, kept, c("site", "n_taxa", "n_occurrences", names(summarise)))
  sites <- data.frame(site = rows$label[kept], row.names = rows$label[kept])
  for (column in constant) {
    value <- data[[column]][first[kept]]
    sites[[column]] <- if (is.character(value)) trimws(value) else value
  }
  varying <- setdiff(names(Filter(is.numeric, data)), c(constant, names(summarise)))
  summarise <- c(summarise, usual_of(varying, usual))
  members <- split(used, factor(rows$code[used], levels = which(kept)))
  for (column in names(summarise)) {
    sites[[column]] <- summarise_column(data, members, column, summarise[[column]], sites$site)
  }
  sites
}

# The columns that tell sites apart, and those with one value within each site.
constant_columns <- function(data, site, rows, kept, without) {
  first <- match(seq_along(rows$label), rows$code)
  used <- which(kept[rows$code])
  columns <- setdiff(names(data), without)
  constant <- vapply(columns, function(column) {
    column %in% site || is_constant(data[[column]], used, first[rows$code[used]])
  }, NA)
  columns[constant]
}

# The middle of longitudes, which may lie on both sides of the date line.
middle_longitude <- function(lng) {
  if (diff(range(lng)) <= 180) {
    return(stats::median(lng))
  }
  middle <- stats::median(lng %% 360)
  if (middle > 180) middle - 360 else middle
}

# What is made of columns of well-known names, which keep them; a message says so of those of no database of ours.
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

# Of records with the column names of the Paleobiology Database: the widest bounds of age, and the middle of the places.
usual_summaries <- lapply(
  list(
    max_ma = max, min_ma = min, lng = middle_longitude, lat = stats::median, paleolng = middle_longitude,
    paleolat = stats::median
  ),
  function(f) function(value) if (all(is.na(value))) NA_real_ else f(value[!is.na(value)])
)

# Whether value is, in every row used, what it is in the first row of its site.
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
        given <- if (whole) ", given a data frame of its rows, as `data` has no column of that name" else ""
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
      "`summarise` must hold functions that return one value: %s gives %s for %s.",
      show_names(column), show_value(value[[wrong[1L]]]), show_names(label[wrong[1L]])
    )
  }
  do.call(c, unname(value))
}

# What is known of observations beside the table, joined to results that name them.

# The rows of a site table for given observations, with names that do not clash.
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

# What identifies the rows of a site table. Its numbers of rows, which every data frame has, come last, as observations
# may be named by numbers, too.
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

# Covariates of sites, a list by name, some of them NULL: columns of the site table that came with the data, by their
# names, and data frames with a column of the sites' names in the order of the data. All others are left as they are.
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
      "`%s` is %s, but there is no site table, as occurrence_matrix() and visits_array() make it: give the values.",
      argument, show_names(columns)
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

# Sites of a table that may be one site, written down twice.

least_same <- 4L # finds of a list that is there twice
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

# Each site with the first before it that has its list, at one place and of an age that may be the same, as far as
# these are known: a matrix of two columns.
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

# How many other sites would have the list of each if taxa were found independently.
same_by_chance <- function(found) {
  share <- colMeans(found)
  tells <- share > 0 & share < 1
  share <- share[tells]
  log_chance <- as.vector(found[, tells, drop = FALSE] %*% stats::qlogis(share)) + sum(log1p(-share))
  (nrow(found) - 1) * exp(log_chance)
}
