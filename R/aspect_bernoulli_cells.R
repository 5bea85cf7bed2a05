# Scores of single cells, from which false_absences(), denoise() and by_site() are computed, by blocks of rows so that
# no n x m matrix is formed for large tables.

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

# The largest probability of a false absence in any decomposition with these probabilities p whose white phantom writes
# a presence of attribute j with a probability w_j of at most `written`_j (0: an exact phantom). With u the share of all
# else in a row, and c_j in [0, 1] the probability that this writes a presence, p_j = u c_j + (1 - u) w_j, so
#   u >= (p_j - w_j) / (1 - w_j) >= (p_j - written_j) / (1 - written_j) for every observed j in the row:  u >= top;
#   missed_j = (1 - u) (1 - w_j) c_j / (1 - p_j), c_j = (p_j - (1 - u) w_j) / u, falls with w_j:
#   missed_j <= (1 - u) / u p_j / (1 - p_j), which falls with u:  <= (1 - top) / top p_j / (1 - p_j).
# Several white phantoms are one, with their mean w. A row where nothing is found is unbounded. If black phantoms are
# exact, content's own probability is at most c_j; if not (`held`), they may suppress a part of c_j, and only content's
# probability <= 1 remains: missed_j <= (1 - u) / (1 - p_j). `bare`: rows that are all phantom, whose bound is 1.
most_missed <- function(probability, top, held = FALSE, bare = top < least_content) {
  most <- probability / top * (1 - top) / (1 - probability) # in this order: top may be tiny
  if (held) most <- (1 - top) / (1 - probability)
  most[probability >= 1] <- 0
  most[rep_len(bare, length(most))] <- 1
  pmin(most, 1)
}

# Computes the lower bounds of u above: probabilities less what a phantom that writes `written` (per column) explains.
above_written <- function(probability, written) {
  if (!any(written > 0)) {
    return(probability)
  }
  written <- rep(written, each = nrow(probability))
  above <- (probability - written) / (1 - written)
  above[written >= 1] <- 0
  pmax(above, 0)
}

# The largest probability per column with which a white (black) phantom writes what an exact one never writes.
most_written <- function(fit, kinds, colour) {
  aspects <- fit$param$aspects[kinds == colour, , drop = FALSE]
  if (!nrow(aspects)) {
    return(rep(0, ncol(aspects)))
  }
  apply(if (colour == "black") 1 - aspects else aspects, 2L, max)
}

# Finds for each row the largest probability of an observed cell and its column; 0 if nothing is observed.
row_tops <- function(probability, observed) {
  probability[!observed] <- 0
  at <- max.col(probability, ties.method = "first")
  list(top = probability[cbind(seq_along(at), at)], at = at)
}

# A row with less content than this is all phantom: what it has is rounding, not composition.
least_content <- 1e-12

# Finds rows whose writing components have a total share below that, in a table with exact phantoms. Their largest
# probability is no criterion: rare taxa make it smaller still.
writes_nothing <- function(membership, aspects) {
  rowSums(membership[, rowSums(aspects) > 0, drop = FALSE]) < least_content
}

# Finds rows with the bound 1: by memberships (`bare`, NULL if unknown); beside a phantom that writes, by `top`, a
# difference with its own rounding error.
bare_rows <- function(bare, top, written = 0) {
  if (any(written > 0) || is.null(bare)) top < least_content else bare | top <= 0
}

all_phantom <- function(fit, rows, kinds) {
  rowSums(fit$param$membership[rows, kinds == "content", drop = FALSE]) < least_content
}

# Returns the memberships among content components, rows summing to 1; a row that is all phantom gets the table's mean.
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

# Computes for every cell of some rows the largest probability of a false absence (presence) in any fit with the same
# probabilities and an equally white (black) phantom. A mean over draws may exceed the bound of their mean. NULL: there
# is no such fit, as visits and records of effort decide.
largest_missed <- function(fit, scores, observed, kinds, of) UseMethod("largest_missed")

largest_missed.default <- function(fit, scores, observed, kinds, of) NULL

largest_missed.aspect_bernoulli <- function(fit, scores, observed, kinds, of) {
  colours <- if (of == "absences") c("white", "black") else c("black", "white")
  written <- most_written(fit, kinds, colours[1L])
  top <- row_tops(above_written(scores$probability, written), observed)$top
  held <- any(kinds == colours[2L] & fit$fixed == "free")
  pmax(most_missed(scores$probability, top, held, bare_rows(scores$bare, top, written)), scores$missed)
}

# Computes the expected number of false absences (presences), and the number of absences (presences).
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

# Returns the probabilities of some rows (complements for a black phantom), which cells are observed, which are zeros,
# and which rows write nothing.
seen_rows <- function(fit, x, rows, colour) {
  cells <- dense_rows(x, rows)
  aspects <- if (colour == "black") 1 - fit$param$aspects else fit$param$aspects
  membership <- fit$param$membership[rows, , drop = FALSE]
  list(
    p = unname(membership %*% aspects), observed = !is.na(cells), zero = cells %in% as.double(colour == "black"),
    bare = writes_nothing(membership, aspects)
  )
}

# Computes for each row the outer bound's top and its column, the sum over its zeros of the odds p / (1 - p) and of the
# table's mean probabilities; over all rows, the largest number of false absences and the number of zeros. written: what
# the phantom may write in each column, see most_missed().
outer_bounds <- function(fit, x, colour, written = 0) {
  mean_p <- colMeans(fit$param$membership) %*% (if (colour == "black") 1 - fit$param$aspects else fit$param$aspects)
  blocks <- lapply(row_blocks(seq_len(fit$dims[["n"]]), fit$dims[["m"]]), function(rows) {
    seen <- seen_rows(fit, x, rows, colour)
    tops <- row_tops(above_written(seen$p, written), seen$observed)
    zero <- matrix(seen$zero, length(rows))
    odds <- ifelse(zero & seen$p < 1, seen$p / (1 - seen$p), 0)
    bare <- bare_rows(seen$bare, tops$top, written)
    most <- matrix(most_missed(seen$p, tops$top, bare = bare), length(rows))
    cbind(tops$top, tops$at, rowSums(odds), zero %*% t(mean_p), rowSums(most * zero), rowSums(zero))
  })
  all <- do.call(rbind, blocks)
  list(
    top = all[, 1L], at = all[, 2L], odds = all[, 3L], bare = all[, 4L], expected = sum(all[, 5L]),
    n_cells = sum(all[, 6L])
  )
}

# Returns the certificate of optimality, kept or computed from the data, for a maximised likelihood or posterior only.
fit_certificate <- function(fit) {
  if (!is.null(fit$certificate)) {
    return(fit$certificate)
  }
  out <- no_certificate
  if (is.null(fit$x) || !isTRUE(fit$estimate %in% c("ml", "map"))) {
    return(out)
  }
  view <- data_view(fit_data(fit))
  out[] <- ab_certify(
    view, lapply(fit$param, unname), unname(fit$fixed), mode_prior(fit), smooth = smooth_lists(fit$smooth)
  )
  if (is_smoothed(fit) || !is.null(fit$effort)) out[c("membership_gap", "worst_row")] <- NA
  out
}

# Returns the numbers of recorded absences and presences and how many of each are expected to be false, kept or computed
# from the data; NULL if neither is possible.
expected_numbers <- function(fit) {
  if (!is.null(fit$expected_false) || is.null(fit$x)) {
    return(fit$expected_false)
  }
  # Chains classified their components themselves.
  count_expected(fit, fit_data(fit), if (is.null(fit$kinds)) component_kinds(fit, NULL) else fit$kinds)
}

count_expected <- function(fit, x, kinds) {
  list(absences = expected_false(fit, x, kinds), presences = expected_false(fit, x, kinds, "presences"))
}

# Stores the results that need the data, for a fit that does not keep them.
keep_answers <- function(fit, x) {
  with_data <- fit
  with_data$x <- x
  fit$certificate <- fit_certificate(with_data)
  fit$expected_false <- expected_numbers(with_data)
  fit
}

expected_sentence <- function(fit, of, has_phantom) {
  if (!has_phantom) {
    return(NULL)
  }
  total <- expected_numbers(fit)[[of]]
  if (is.null(total) || anyNA(total)) {
    return(NULL)
  }
  sprintf(
    "False %s expected: %s of %s %s (%s).", of, show_expected(total[["expected"]]), format_big(total[["cells"]]),
    c(absences = "zeros", presences = "presences")[[of]], paste(c(
      sprintf("%s %%", format_percent(total[["expected"]] / max(1, total[["cells"]]))),
      traced_interval(fit, paste0("false_", of))
    ), collapse = ", ")
  )
}
