# What a fit says of single cells: the one place where the scores behind false_absences(), denoise() and by_site()
# are computed, by blocks of rows, so that no n x m matrix is formed for large tables.

# Scores of the cells of some rows, each a length(rows) x m matrix. With content C, white phantoms W, and "presence"
# read as "absence" and W as the black phantoms where of = "presences":
#   probability  p = sum_c s a, the chance of a presence
#   present      pbar = sum_C s a / u with u = sum_C s, the chance of a presence if content writes the cell
#   phantom      q = sum_W s (1 - a) / (1 - p), the chance that a phantom wrote the absence
#   missed       q pbar, the chance that a phantom wrote the absence where content would have written a presence
# 1 - p is summed as S (1 - A), because 1 - (S A) loses the small ones.
cell_scores <- function(fit, rows, kinds, of = "absences") UseMethod("cell_scores")

cell_scores.default <- function(fit, rows, kinds, of = "absences") stop_no_phantoms(fit)

cell_scores.aspect_bernoulli <- function(fit, rows, kinds, of = "absences") {
  one <- fit$param$aspects
  zero <- 1 - one
  noise <- kinds == "white"
  if (of == "presences") {
    one <- zero
    zero <- fit$param$aspects
    noise <- kinds == "black"
  }
  s <- fit$param$membership[rows, , drop = FALSE]
  p <- mixed(s, one)
  if (all(kinds == "content")) {
    none <- 0 * p
    return(list(probability = p, present = p, missed = none, phantom = none))
  }
  present <- mixed(content_composition(fit, rows, kinds), one[kinds == "content", , drop = FALSE])
  if (all(kinds != "content")) present[] <- NA
  phantom <- (s[, noise, drop = FALSE] %*% zero[noise, , drop = FALSE]) / (s %*% zero)
  phantom[is.nan(phantom)] <- 0 # an absence that cannot be
  missed <- if (any(noise)) phantom * present else phantom
  list(probability = p, present = present, missed = missed, phantom = phantom, bare = writes_nothing(s, one))
}

# The largest chance of a false absence in any decomposition with these probabilities p whose white phantom writes a
# presence of attribute j with a probability w_j of at most `written`_j (0: an exact phantom). With u the share of all
# else in a row, and c_j in [0, 1] the probability that this writes a presence, p_j = u c_j + (1 - u) w_j, so that
#   u >= (p_j - w_j) / (1 - w_j) >= (p_j - written_j) / (1 - written_j) for every observed j in the row:  u >= top;
#   missed_j = (1 - u) (1 - w_j) c_j / (1 - p_j), c_j = (p_j - (1 - u) w_j) / u, falls with w_j:
#   missed_j <= (1 - u) / u p_j / (1 - p_j), which falls with u:  <= (1 - top) / top p_j / (1 - p_j).
# Several white phantoms are one, of their mean w. A row where nothing can be found allows everything. If black
# phantoms are exact, content's own probability is at most c_j; if not (`held`), they may hold a part of c_j back, and
# all that is left is that content's probability is at most 1: missed_j <= (1 - u) / (1 - p_j). `bare`: rows that are
# all phantom, of which everything is possible.
most_missed <- function(probability, top, held = FALSE, bare = top < least_content) {
  most <- probability / top * (1 - top) / (1 - probability) # in this order: top may be tiny
  if (held) most <- (1 - top) / (1 - probability)
  most[probability >= 1] <- 0
  most[rep_len(bare, length(most))] <- 1
  pmin(most, 1)
}

# What is left of probabilities, at least, without a phantom that writes as much as `written` (one number a column): the
# bounds of u above.
above_written <- function(probability, written) {
  if (!any(written > 0)) {
    return(probability)
  }
  written <- rep(written, each = nrow(probability))
  above <- (probability - written) / (1 - written)
  above[written >= 1] <- 0
  pmax(above, 0)
}

# What the white (black) phantoms of a fit write at most where an exact one would write nothing.
most_written <- function(fit, kinds, colour) {
  aspects <- fit$param$aspects[kinds == colour, , drop = FALSE]
  if (!nrow(aspects)) {
    return(rep(0, ncol(aspects)))
  }
  apply(if (colour == "black") 1 - aspects else aspects, 2L, max)
}

# For each row, the largest probability of an observed cell and the column that has it; 0 where nothing is observed.
row_tops <- function(probability, observed) {
  probability[!observed] <- 0
  at <- max.col(probability, ties.method = "first")
  list(top = probability[cbind(seq_along(at), at)], at = at)
}

# A row with less content than this is all phantom: what it has is rounding, not composition.
least_content <- 1e-12

# Of a table with exact phantoms: rows whose writing components have less than that together. Their largest probability
# says nothing of it: rare taxa make it smaller yet.
writes_nothing <- function(membership, aspects) {
  rowSums(membership[, rowSums(aspects) > 0, drop = FALSE]) < least_content
}

# Rows of which everything is possible: `bare` by their memberships, NULL where these are not known. What is left beside
# a phantom that writes is a difference, with rounding of its own.
bare_rows <- function(bare, top, written = 0) {
  if (any(written > 0) || is.null(bare)) top < least_content else bare | top <= 0
}

all_phantom <- function(fit, rows, kinds) {
  rowSums(fit$param$membership[rows, kinds == "content", drop = FALSE]) < least_content
}

# Memberships among the content components alone, rows sum to 1; where a row is all phantom, the table's mean.
content_composition <- function(fit, rows, kinds) {
  content <- fit$param$membership[, kinds == "content", drop = FALSE]
  overall <- mean_membership(fit)[kinds == "content"]
  overall <- overall / sum(overall)
  bare <- all_phantom(fit, rows, kinds)
  out <- content[rows, , drop = FALSE]
  out <- out / rowSums(out)
  out[bare, ] <- rep(overall, each = sum(bare))
  out
}

# The mean membership of all rows of the table, of which a fit to a shard has its own.
mean_membership <- function(fit) {
  unname(if (is.null(fit$shares)) colMeans(fit$param$membership) else fit$shares$weight)
}

# Runs of the rows given, each of at most about a million cells.
row_blocks <- function(rows, m, cells = 2^20) {
  size <- max(1L, as.integer(cells %/% m))
  unname(split(rows, (seq_along(rows) - 1L) %/% size))
}

# Rows of the data as a plain matrix of doubles.
dense_rows <- function(x, rows) {
  check_valid(x, "x")
  unname(as.matrix(x[rows, , drop = FALSE])) + 0
}

# Does anything in the fit make absences (presences) false?
has_noise <- function(fit, kinds, of) {
  misses <- !is.null(fit$missed_by) && (of == "absences" || !is.null(fit$param$added))
  any(kinds == if (of == "absences") "white" else "black") || misses
}

# The largest chance of a false absence (presence) in any fit with the same probabilities whose phantom is as white
# (black) as this one, for every cell of some rows. A mean over draws may exceed that of their mean probabilities.
largest_missed <- function(fit, scores, observed, kinds, of) UseMethod("largest_missed")

largest_missed.aspect_bernoulli <- function(fit, scores, observed, kinds, of) {
  colours <- if (of == "absences") c("white", "black") else c("black", "white")
  written <- most_written(fit, kinds, colours[1L])
  top <- row_tops(above_written(scores$probability, written), observed)$top
  held <- any(kinds == colours[2L] & fit$pinned == "free")
  pmax(most_missed(scores$probability, top, held, bare_rows(scores$bare, top, written)), scores$missed)
}

# How many absences (presences) the fit expects to be false, and of how many.
expected_false <- function(fit, x, kinds, of = "absences") {
  absences <- of == "absences"
  ones <- sum(fit$margins$row_sum)
  total <- c(cells = if (absences) fit$dims[["observed"]] - ones else ones, expected = 0)
  if (!has_noise(fit, kinds, of)) {
    return(total)
  }
  for (rows in row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]])) {
    at <- which(dense_rows(x, rows) == if (absences) 0 else 1)
    total[["expected"]] <- total[["expected"]] + sum(cell_scores(fit, rows, kinds, of)$missed[at])
  }
  total
}

# Row or column numbers from names, numbers, or TRUE and FALSE for each, in the order asked for and as often; NULL is
# all. Numbers and flags that have names themselves, as of which(), go by them.
pick <- function(which, n, names, argument) {
  if (is.null(which)) {
    return(seq_len(n))
  }
  if (is.logical(which)) which <- which_true(which, n, names, argument)
  if (is.factor(which)) which <- as.character(which)
  if (is.numeric(which) && !is.null(names) && !is.null(names(which))) which <- names(which)
  if (is.character(which) && !is.null(names)) {
    unknown <- setdiff(which, names)
    if (length(unknown)) {
      stop_input(
        "`%s` must hold names that are in the data, and %s is not%s", argument, show_names(unknown),
        meant_words(unknown[1L], names)
      )
    }
    which <- match(which, names)
  }
  ok <- is.numeric(which) && length(which) && !anyNA(which) && all(which == floor(which) & which >= 1 & which <= n)
  if (!ok) {
    stop_input("`%s` must hold names or whole numbers from 1 to %d, not %s.", argument, n, show_value(which))
  }
  as.integer(which)
}

# A number that is also a name of something else.
tell_position <- function(at, names, argument) {
  if (!is.numeric(at) || !is.null(names(at))) {
    return(invisible())
  }
  named <- match(as.character(at), names)
  one <- at[!is.na(named) & named != at][1L]
  if (!is.na(one)) {
    inform(
      "`%s` = %.0f is taken for the position, which has the name %s; for the name give text, \"%.0f\".", argument, one,
      dQuote(names[one], FALSE), one
    )
  }
}

which_true <- function(flags, n, names, argument) {
  flags <- by_name(flags, names, argument)
  if (!is_line(flags) || length(flags) != n || anyNA(flags) || !any(flags)) {
    stop_input("`%s` must be TRUE or FALSE for each of the %d, and TRUE for some, not %s.", argument, n,
      if (anyNA(flags)) "NA" else show_value(flags))
  }
  unname(which(as.vector(flags)))
}

# Numbers of sites, none of which may be meant.
pick_some <- function(which, x, argument) {
  none <- !length(which) || (is.logical(which) && length(which) == nrow(x) && !anyNA(which) && !any(which))
  if (none) integer() else unique(pick(which, nrow(x), rownames(x), argument))
}

# Results that would not fit into memory with ease are refused, with advice.
refuse_large <- function(n_double, what, advice) {
  gigabytes <- 8 * n_double / 2^30
  if (gigabytes > 1) {
    shown <- format(ceiling(10 * gigabytes) / 10, nsmall = 1L)
    stop_input("%s would take %s GB, and 1 GB is the limit: %s.", what, shown, advice)
  }
}
