# Codes for unknown and blanks in the cells of a table of finds. None of them is read by guess: the message says how to
# make 0, 1 and NA of them.

unknown_codes <- c(9, 99, 999, 9999, -9, -99, -999, -9999)

# What numbers other than 0 and 1 may stand for in a table of finds: 1 and 2, a number for unknown, counts.
codes_advice <- function(x, name) {
  values <- unique(if (inherits(x, "dgCMatrix")) c(0, x@x) else as.vector(x))
  values <- sort(values[!is.na(values)])
  code <- intersect(unknown_codes, values)
  rest <- setdiff(values, code)
  whole <- all(is.finite(values) & values == floor(values))
  parts <- c(
    if (length(code) && all(rest %in% 0:2)) {
      sprintf("If %s is unknown, use `%s[%s == %s] <- NA`.", code[1L], name, name, code[1L])
    },
    if (setequal(rest, 1:2)) {
      sprintf("If 2 stands for a find and 1 for none, use `%s - 1`; if 1 does and 2 for none, `2 - %s`.", name, name)
    } else if (whole && all(rest >= 0) && (!length(code) || any(rest > 1) || all(code > 1))) {
      sprintf("For counts, use `(%s > 0) + 0`.", name)
    } else if (length(odd <- odd_columns(x))) {
      odd_advice(colnames(x)[odd] %||% as.character(odd))
    } else if (!whole && are_amounts(values)) {
      sprintf("For amounts, such as percentages or cover, use `(%s > 0) + 0`.", name)
    }
  )
  paste(c("", parts), collapse = " ")
}

are_amounts <- function(values) all(is.finite(values) & values >= 0) && (any(values > 1) || length(values) > 5L)

odd_advice <- function(names) {
  sprintf(
    "Of all columns only %s %s other than whole numbers from 0 on: leave out what is no taxon.", show_names(names),
    if (length(names) == 1L) "holds" else "hold"
  )
}

# Columns that are no counts among many that are, such as covariates of the sites.
odd_columns <- function(x) {
  if (inherits(x, "dgCMatrix")) {
    return(integer())
  }
  odd <- which(colSums(x < 0 | x != floor(x), na.rm = TRUE) > 0)
  if (4L * length(odd) <= ncol(x)) odd else integer()
}

# A table of finds without a single zero says nothing of zeros, and where some cells are NA they were blanks, most
# likely. Counts without zero may be what they seem. values: of the observed cells, or of all that are not 0. A fold may
# have hidden all zeros of a table: quiet_fit() goes on with it by the restart.
check_blanks <- function(values, n_observed, n_cell, name) {
  if (n_observed == 0 || n_observed == n_cell) {
    return(invisible())
  }
  values <- values[!is.na(values)]
  if (length(values) < n_observed || any(values <= 0)) {
    return(invisible())
  }
  advice <- sprintf("Are blanks zeros? Then use `%s[is.na(%s)] <- 0`.", name, name)
  if (all(values == 1)) {
    withRestarts(
      stop_input("`%s` must have a zero: all its cells are 1 or NA. %s", name, advice, class = "multicause_no_zero"),
      hidden_by_us = function() NULL
    )
  }
  if (min(values) == 1 && n_observed < n_cell / 2 && all(values == floor(values))) {
    inform("No cell of `%s` is 0, and %s are NA. %s", name, format_big(n_cell - n_observed), advice)
  }
}

check_blank_cells <- function(data, name = "x") {
  check_blanks(
    if (inherits(data$x, "dgCMatrix")) data$x@x else as.vector(data$x), sum(data$margins$row_observed),
    prod(as.double(dim(data$x))), name
  )
}
