# How much may be missing where attributes differ in how easily they are recorded. A phantom misses all attributes of an
# observation alike. Misses that are an attribute's own are another decomposition of the same probabilities,
# p_ij = present_ij d_j, with d_j at least the largest probability in the column. With both, p_ij = present_ij e_i d_j:
# for one cell by itself e_i d_j is at least p_ij, and at least the largest other in its row times the largest other in
# its column, which bound e_i and d_j where nothing else is missed.

# Of each row the largest probability of an observed cell, its column, and the second largest; 0 where there is none.
two_tops <- function(p, observed) {
  first <- row_tops(p, observed)
  observed[cbind(seq_along(first$at), first$at)] <- FALSE
  list(top = first$top, at = first$at, second = row_tops(p, observed)$top)
}

# The same of the columns of the whole table, `at` being rows.
column_tops <- function(fit, x, colour) {
  all <- NULL
  for (rows in row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]])) {
    seen <- seen_rows(fit, x, rows, colour)
    all <- merge_tops(all, two_tops(t(seen$p), t(seen$observed)), rows)
  }
  all
}

# Tops of columns over the rows before (NULL: none) and these.
merge_tops <- function(all, new, rows) {
  new$at <- rows[new$at]
  if (is.null(all)) {
    return(new)
  }
  better <- new$top > all$top
  all$second <- ifelse(better, pmax(all$top, new$second), pmax(all$second, new$top))
  all$at[better] <- new$at[better]
  all$top <- pmax(all$top, new$top)
  all
}

# The most of the missed chance of every cell of some rows, by whose the misses may be.
unlike_missed <- function(seen, rows, columns) {
  own <- two_tops(seen$p, seen$observed)
  n <- length(rows)
  m <- length(columns$top)
  by_row <- matrix(own$top, n, m)
  by_row[cbind(seq_len(n), own$at)] <- own$second
  by_column <- matrix(columns$top, n, m, byrow = TRUE)
  taxon <- most_missed(seen$p, by_column)
  here <- which(columns$at %in% rows)
  by_column[cbind(match(columns$at[here], rows), here)] <- columns$second[here]
  list(taxon = taxon, both = most_missed(seen$p, pmax(seen$p, by_row * by_column)))
}

# most: of false absences (presences), by whose the misses may be; tops: of the columns.
unlike_bounds <- function(fit, x, colour) {
  columns <- column_tops(fit, x, colour)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    vapply(unlike_missed(seen, rows, columns), function(missed) sum(missed[seen$zero]), 0)
  })
  list(most = Reduce(`+`, blocks), tops = columns)
}

# Cells in the order of bound_cells().
unlike_cells <- function(fit, x, colour) {
  columns <- column_tops(fit, x, colour)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    as.data.frame(lapply(unlike_missed(seen, rows, columns), function(missed) missed[seen$zero]))
  })
  do.call(rbind, blocks)
}

unlike_sentences <- function(id) {
  words <- kept_words(id)
  one <- singular_word(words)
  assumed <- sprintf("All this assumes that gaps fall on all %s of a %s alike.", words[2L], one[1L])
  rows <- id$unlike
  said <- lapply(unique(rows$phantom), function(colour) {
    of <- rows[rows$phantom == colour, ]
    most <- if (is.null(of$draws_most)) of$most else pmax(of$most, of$draws_most)
    count <- function(by) format_big(round(most[of$missed_by == by]))
    c(
      sprintf(
        "If instead each %s is missed at a rate of its own, up to %s of %d %s may be false;", one[2L],
        count("taxon"), of$n_cells[1L], if (colour == "white") "zeros" else "ones"
      ),
      sprintf("if each %s has a rate of its own as well, up to %s.", one[1L], count("both"))
    )
  })
  c(assumed, unlist(said))
}
