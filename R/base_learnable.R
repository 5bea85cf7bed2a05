# Reports tables from which no model can learn, when data are checked. First come the sums of tables that this and all
# other files need.

# Sums and products of tables, dense or sparse. Package Matrix is loaded for sparse ones alone: to load it takes longer
# than a first look at a table of usual size.
row_sums <- function(x, ...) if (is.matrix(x)) rowSums(x, ...) else Matrix::rowSums(x, ...)
column_sums <- function(x, ...) if (is.matrix(x)) colSums(x, ...) else Matrix::colSums(x, ...)
transposed <- function(x) if (is.matrix(x)) t(x) else Matrix::t(x)
cross_sums <- function(x, y = x) as.matrix(if (is.matrix(x)) crossprod(x, y) else Matrix::crossprod(x, y))

# Nothing can be learnt from cells that are all the same, or from a single one. `values`: those of known cells that are
# not 0, or of all known cells. Cells that are `merged` from visits and all 1 still tell how often visits miss a taxon.
tell_unlearnable <- function(values, n_known, extent, name, merged = FALSE) {
  why <- if (prod(as.double(extent)) == 1) {
    "it has 1 cell"
  } else if (n_known == 0) {
    "all of its cells are NA"
  } else {
    span <- suppressWarnings(range(values, if (length(values) < n_known) 0, na.rm = TRUE))
    known <- if (n_known < prod(as.double(extent))) "known cells" else "cells"
    if (merged && span[1L] == 1) {
      inform("Every taxon of `%s` was found at every site, so only its detection can be learnt.", name)
      return(TRUE)
    }
    if (span[1L] == span[2L]) sprintf("all of its %s are %s", known, format(span[1L]))
  }
  if (!is.null(why)) inform("Nothing can be learnt from `%s`: %s.", name, why)
  !is.null(why)
}

# Reports sides without names, because results call rows and columns by their names.
tell_nameless <- function(names, sides, name) {
  none <- sides[vapply(seq_along(sides), function(side) is.null(names[[side]]), NA)]
  if (length(none)) {
    inform("`%s` has no names of %s: results call them by their numbers.", name, and_words(none))
  }
  for (side in which(vapply(names[seq_along(sides)], is_filler, NA))) {
    ends <- names[[side]][c(1L, length(names[[side]]))]
    inform("Names of %s of `%s`, %s to %s, are those that R gives where there are none.", sides[side], name,
      dQuote(ends[1L], FALSE), dQuote(ends[2L], FALSE))
  }
}

# Names that as.data.frame() and data.frame() give to columns without names, in their order.
is_filler <- function(names) {
  length(names) > 1L && any(vapply(c("V", "X"), function(letter) {
    identical(as.character(names), paste0(letter, seq_along(names)))
  }, NA))
}

# Reports the number of unknown cells, unless they are whole rows and columns, which are reported by name.
tell_unknown <- function(x, margins, name) {
  values <- if (inherits(x, "dgCMatrix")) x@x else as.vector(x)
  blank <- c(sum(margins$row_observed == 0), sum(margins$column_observed == 0))
  tell_unknown_values(values, dim(x), sum(blank * rev(dim(x))) - prod(blank), name)
}

# The same of any cells: `values` holds all unknown ones, of which `known_of` are reported elsewhere. NaN, the result of
# a failed computation, is taken as NA.
tell_unknown_values <- function(values, extent, known_of, name) {
  failed <- sum(is.nan(values))
  missing <- sum(is.na(values)) - failed
  if (!failed && missing == known_of) {
    return(invisible())
  }
  inform("%s of %s of `%s` %s unknown%s.", format_big(missing + failed), count_words(prod(as.double(extent)), "cell"),
    name, if (missing + failed == 1) "is" else "are", if (!failed) {
      " (NA)"
    } else if (!missing) {
      " (NaN, which is taken as NA)"
    } else {
      sprintf(": %s NA, and %s NaN, which is taken as NA", format_big(missing), format_big(failed))
    })
}

least_alike <- 5L # presences and absences from which rows or columns that agree are no matter of course
alike_by_chance <- 0.01 # expected number of lines that agree with one by chance, up to which a pair is reported

# Rows and columns that are equal in all cells, or 0 wherever the other is not: a list of list(side, how, at), `at`
# being two of them; the first of those that are alike with each other one.
alike_pairs <- function(x) {
  c(alike_lines(x, "column"), alike_lines(transposed(x), "row"))
}

# Log-probabilities that a column of independent cells, with the rows' shares of ones, equals each column of a 0/1
# table, or is its inverse. Rows of one value distinguish no columns.
log_chance_of_lines <- function(positive) {
  share <- unname(row_sums(positive, na.rm = TRUE)) / ncol(positive)
  varied <- which(share > 0 & share < 1)
  share <- share[varied]
  odds <- as.vector(cross_sums(positive[varied, , drop = FALSE], matrix(stats::qlogis(share))))
  odds[is.na(odds)] <- 0 # unknown cells of a sparse table
  cbind(equal = odds + sum(log1p(-share)), inverse = sum(log(share)) - odds)
}

# Lines are compared by sums of whole numbers, which tell nearly all of them apart, and those left cell by cell.
alike_lines <- function(x, side) {
  at <- as.double(seq_len(nrow(x)))
  weight <- (at * 7919 + (at %% 1009)^2 * 104729) %% 1048573
  positive <- (x > 0) + 0
  if (is.matrix(positive)) positive[is.na(positive)] <- 0
  n_found <- unname(column_sums(positive, na.rm = TRUE))
  enough <- which(n_found >= least_alike & n_found <= nrow(x) - least_alike)
  if (length(enough) < 2L) {
    return(list())
  }
  sums <- as.vector(cross_sums(positive[, enough, drop = FALSE], matrix(weight)))
  sums[is.na(sums)] <- -1 # of unknown cells of a sparse table: these lines are compared with each other alone
  cells <- function(j) as.vector(x[, enough[j]])
  chance <- log_chance_of_lines(positive)[enough, , drop = FALSE]
  least <- log(alike_by_chance / ncol(x))
  pairs <- function(key, how, same, log_probability) {
    found <- match(key, sums)
    found[found >= seq_along(found) | log_probability > least] <- NA
    lapply(Filter(function(j) same(cells(j), cells(found[j])), which(!is.na(found))), function(j) {
      list(side = side, how = how, at = enough[c(found[j], j)])
    })
  }
  opposite <- function(a, b) !anyNA(a) && !anyNA(b) && all((a > 0) != (b > 0))
  c(
    pairs(sums, "Equal", identical, chance[, "equal"]),
    pairs(sum(weight) - sums, "Inverse", opposite, chance[, "inverse"])
  )
}

most_compared <- 2e7 # cells of a table whose rows and columns are compared

tell_alike_lines <- function(x, name, hows = c("Equal", "Inverse")) {
  if (prod(as.double(dim(x))) > most_compared) {
    return(invisible())
  }
  found <- Filter(function(pair) pair$how %in% hows, alike_pairs(x))
  for (kind in unique(lapply(found, `[`, c("how", "side")))) {
    mine <- Filter(function(pair) identical(pair[c("how", "side")], kind), found)
    labels <- dimnames(x)[[if (kind$side == "row") 1L else 2L]]
    tell_pairs(mine, labels, sprintf("%s %ss of `%s`", kind$how, kind$side, name))
  }
}

# Levels of a dimension of an array are compared as the columns of a table of all else.
tell_alike_levels <- function(x, names, labels, name) {
  if (!is.array(x) || prod(as.double(dim(x))) > most_compared) {
    return(invisible())
  }
  for (side in seq_along(dim(x))) {
    found <- alike_lines(matrix(aperm(x, c(seq_along(dim(x))[-side], side)), ncol = dim(x)[side]), "level")
    what <- if (is.null(labels)) sprintf("dimension %d", side) else labels[side]
    for (how in unique(vapply(found, `[[`, "", "how"))) {
      mine <- Filter(function(pair) pair$how == how, found)
      tell_pairs(mine, names[[side]], sprintf("%s levels of %s of `%s`", how, what, name))
    }
  }
}

tell_pairs <- function(pairs, labels, what) {
  said <- vapply(pairs, function(pair) {
    paste(vapply(as.character(if (is.null(labels)) pair$at else labels[pair$at]), show_names, ""), collapse = " and ")
  }, "")
  why <- if (startsWith(what, "Inverse")) " (1 where the other has 0: check the coding)" else ""
  inform("%s: %s%s.", what, show_names(said, quoted = FALSE), why)
}

# Reports rows and columns that sheets have below or beside the data: sums of all others, or in 0/1 tables lines without
# a zero among lines with many.
tell_sums <- function(x, kind, name) {
  sums <- list(row = row_sums(x, na.rm = TRUE), column = column_sums(x, na.rm = TRUE))
  for (side in names(sums)) {
    own <- unname(sums[[side]])
    all <- unname(sums[[setdiff(names(sums), side)]]) # of each cell of a line
    line <- function(j) as.vector(if (side == "row") x[j, ] else x[, j])
    is_sum <- function(j) {
      sum(line(j) > 0, na.rm = TRUE) > 2L && all(abs(2 * line(j) - all) <= 1e-9 * all, na.rm = TRUE)
    }
    at <- if (sum(own > 0) > 3L) Filter(is_sum, which(abs(2 * own - sum(own)) <= 1e-9 * sum(own)))
    what <- "is the sum of the others. Leave it out"
    if (!length(at) && kind == "binary" && length(own) > 2L && length(all) >= least_full) {
      # Where others are nearly full, a taxon found everywhere, or a site with all taxa, is nothing to tell.
      full <- which(own == length(all))
      at <- if (length(full) == 1L && max(own[-full]) <= 2 / 3 * length(all)) full
      what <- sprintf(
        "is 1 in all %s, other %ss in at most two thirds. If it is a sum, leave it out",
        if (side == "row") "columns" else "rows", side
      )
    }
    for (j in at) {
      code <- sprintf(if (side == "row") "%s[-%d, ]" else "%s[, -%d]", name, j)
      label <- as.character(names(sums[[side]])[j] %||% j)
      inform("%s %s of `%s` %s: `%s`.", capital(side), show_names(label), name, what, code)
    }
  }
}

least_full <- 10L # cells of a line whose being full is told
