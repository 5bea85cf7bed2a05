# What is known of observations beside the table, joined to results that name them.

# The rows of a site table for given observations, with names that do not clash.
site_columns <- function(sites, fit, rows, taken) {
  if (!is.data.frame(sites)) {
    stop_input("`sites` must be a data frame with a row for each observation, not %s.", show_value(sites))
  }
  observations <- fit$names[[1L]]
  if (is.null(observations)) {
    if (nrow(sites) != fit$dims[["n"]]) {
      stop_input(
        "`sites` must have a row for each of the %d observations, as these have no names, not %d.",
        fit$dims[["n"]], nrow(sites)
      )
    }
    at <- rows
  } else {
    key <- site_key(sites, observations)
    at <- match(observations[rows], key$values)
    sites <- sites[setdiff(names(sites), key$column)]
  }
  out <- as.data.frame(sites)[at, , drop = FALSE]
  clash <- names(out) %in% taken
  names(out)[clash] <- paste0("site_", names(out)[clash])
  out
}

# What identifies the rows of a site table: its row names, else its first column that holds all observations (each once,
# if there is such a column). Row names that are numbers are those that every data frame has: they come last, as
# observations may be named by numbers, too.
site_key <- function(sites, observations) {
  column <- NULL
  values <- rownames(sites)
  named <- is.character(attr(sites, "row.names"))
  if (!named || !all(observations %in% values)) {
    missing <- lapply(sites, function(value) setdiff(observations, as.character(value)))
    holds <- which(lengths(missing) == 0L)
    if (!length(holds) && !all(observations %in% values)) {
      lacks <- c(list(setdiff(observations, values)), missing)
      nearest <- which.min(lengths(lacks)) # the source that was meant, most likely
      stop_input(
        "`sites` must have the names of the observations as row names or in a column: %s %s.",
        c("its row names lack", sprintf("column %s lacks", dQuote(names(sites), FALSE)))[nearest],
        show_names(lacks[[nearest]])
      )
    }
    if (length(holds)) {
      times <- vapply(sites[holds], function(value) sum(as.character(value) %in% observations), 0L)
      column <- names(sites)[holds[which.max(times == length(observations))]]
      values <- as.character(sites[[column]])
      inform("Rows of `sites` matched by its column %s.", dQuote(column, FALSE))
    } else {
      inform("Rows of `sites` matched by their numbers.")
    }
  }
  twice <- intersect(values[duplicated(values)], observations)
  if (length(twice)) {
    stop_input("`sites` must have one row for each observation: %s is there twice.", show_names(twice[1L]))
  }
  list(values = values, column = column)
}
