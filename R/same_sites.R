# Sites of a table that may be one site, written down twice.

least_same <- 4L # finds of a list that is there twice
least_part <- 3L # of one that is part of another at the same place

# Says which sites hold the same list, or at one place and age a part of another's: what the longer list has is then
# said to be missed at the shorter.
tell_same_sites <- function(x, near) {
  if (length(x) > most_kept) {
    return(invisible())
  }
  pairs <- same_sites(as.matrix(found_table(x)) == 1, near$given)
  if (nrow(pairs)) {
    name <- function(at) sprintf("\"%s\"", label_of(at, rownames(x)))
    said <- ifelse(
      pairs$equal, sprintf("%s and %s hold the same list", name(pairs$part), name(pairs$whole)),
      sprintf("all that %s holds is at %s, too", name(pairs$part), name(pairs$whole))
    )
    more <- nrow(pairs) - 3L
    inform(
      paste(
        "%s of sites may be one site twice: %s%s. If so, join them or `leave_out` one of them: what one lacks of the",
        "other else stands high in the list of zeros."
      ), count_words(nrow(pairs), "pair"), paste(utils::head(said, 3L), collapse = "; "),
      if (more > 0L) paste("; and", count_words(more, "more pair")) else ""
    )
  }
}

# Pairs of sites with `equal` lists, or of which the list of `part` is part of that of `whole`; of one place and of ages
# that may be the same, as far as these are known.
same_sites <- function(found, given) {
  size <- rowSums(found)
  place <- given$place
  # Without places a list tells a site by itself.
  key <- if (is.null(place)) {
    apply(found, 1L, function(row) paste(which(row), collapse = " "))
  } else {
    ifelse(is.na(rowSums(place)), NA, paste(round(place[, 1L], 2L), round(place[, 2L], 2L)))
  }
  some <- which(size >= least_part)
  each <- split(some, key[some]) # not those of unknown places
  pairs <- lapply(unname(each[lengths(each) > 1L & lengths(each) <= 500L]), function(at) {
    common <- tcrossprod(found[at, , drop = FALSE] + 0)
    inside <- which(common == size[at], arr.ind = TRUE) # all finds of the first are finds of the second
    data.frame(part = at[inside[, 1L]], whole = at[inside[, 2L]])
  })
  pairs <- do.call(rbind, c(list(data.frame(part = integer(), whole = integer())), pairs))
  pairs$equal <- size[pairs$part] == size[pairs$whole]
  age <- given$age
  apart <- if (is.null(age)) {
    FALSE
  } else {
    (age[pairs$part, 1L] > age[pairs$whole, 2L] | age[pairs$whole, 1L] > age[pairs$part, 2L]) %in% TRUE
  }
  wanted <- ifelse(pairs$equal, pairs$part < pairs$whole & size[pairs$part] >= least_same, pairs$part != pairs$whole)
  pairs <- pairs[wanted & !apart, ]
  pairs[order(!pairs$equal, -size[pairs$part], pairs$part, pairs$whole), ]
}
