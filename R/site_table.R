#' @rdname occurrence_matrix
#' @param x A matrix made by `occurrence_matrix()`.
#' @export
site_table <- function(x) {
  check_given(x)
  sites <- attr(x, "sites", exact = TRUE)
  if (!is.data.frame(sites)) {
    stop_input(paste(
      "`x` must carry the site table of `occurrence_matrix()`, but has none. Taking a part of a matrix loses it:",
      "take the table first, then its part, `sites[rownames(part), ]`."
    ))
  }
  if (!identical(rownames(sites), rownames(x))) {
    stop_input("`x` must have the rows of its site table, in the same order: its rows were changed after it was made.")
  }
  sites
}

# A row for each kept observation: its name, what is constant within all of them, and the summaries asked for.
new_site_table <- function(data, observation, rows, kept, summarise) {
  first <- match(seq_along(rows$label), rows$code)
  used <- which(kept[rows$code])
  columns <- setdiff(names(data), c("observation", "n_attributes", "n_occurrences", names(summarise)))
  constant <- vapply(columns, function(column) {
    column %in% observation || is_constant(data[[column]], used, first[rows$code[used]])
  }, NA)
  sites <- data.frame(observation = rows$label[kept], row.names = rows$label[kept])
  for (column in columns[constant]) {
    value <- data[[column]][first[kept]]
    sites[[column]] <- if (is.character(value)) trimws(value) else value
  }
  members <- split(used, factor(rows$code[used], levels = which(kept)))
  for (column in names(summarise)) {
    sites[[column]] <- summarise_column(data, members, column, summarise[[column]], sites$observation)
  }
  sites
}

# Whether value is, in every row used, what it is in the first row of its observation.
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
    tryCatch(
      f(if (whole) data[i, , drop = FALSE] else data[[column]][i]),
      error = function(e) {
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
