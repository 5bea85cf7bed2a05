# What a fit says of single cells: the one place where the scores behind false_absences(), denoise() and by_site()
# are computed, by blocks of rows, so that no n x m matrix is formed for large tables.

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

# Does anything in the fit make absences (presences) false?
has_noise <- function(fit, kinds, of) {
  misses <- has_detection(fit) && (of == "absences" || !is.null(fit$param$added))
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

# Probabilities of some rows as the phantom of this colour sees them, which cells are observed, which are zeros, and
# which rows write nothing.
seen_rows <- function(fit, x, rows, colour) {
  cells <- dense_rows(x, rows)
  aspects <- if (colour == "black") 1 - fit$param$aspects else fit$param$aspects
  membership <- fit$param$membership[rows, , drop = FALSE]
  list(
    p = unname(membership %*% aspects), observed = !is.na(cells), zero = cells %in% as.double(colour == "black"),
    bare = writes_nothing(membership, aspects)
  )
}

# Of each row: the outer bound's top and its column, the sum of the odds p / (1 - p) of its zeros, and that of the
# table's mean probabilities at its zeros; over all: the most false absences, and the number of zeros. written: what the
# phantom may write of each column, see most_missed().
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

# As kept, or from the data. Only a likelihood or posterior that was maximised has one.
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
    view, lapply(fit$param, unname), unname(fit$pinned), mode_prior(fit), smooth = smooth_lists(fit$smooth)
  )
  if (is_smoothed(fit) || !is.null(fit$effort)) out[c("membership_gap", "worst_row")] <- NA
  out
}

# Numbers of absences and presences on record and how many of each are expected to be false: as kept, or from the data;
# NULL where there are neither.
expected_numbers <- function(fit) {
  if (!is.null(fit$expected_false) || is.null(fit$x)) {
    return(fit$expected_false)
  }
  # Chains went by kinds of their own.
  count_expected(fit, fit_data(fit), if (is.null(fit$kinds)) component_kinds(fit, NULL) else fit$kinds)
}

count_expected <- function(fit, x, kinds) {
  list(absences = expected_false(fit, x, kinds), presences = expected_false(fit, x, kinds, "presences"))
}

# What can be asked of the fit only while its data are there, for a fit that does not keep them.
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
    "Of %s %s %s (%s %%) are expected to be false: false_%s() ranks them.", format_big(total[["cells"]]), of,
    format_expected(total[["expected"]]), format_percent(total[["expected"]] / max(1, total[["cells"]])), of
  )
}
