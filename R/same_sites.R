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
