# Estimates from repeated visits at the bounds of their range. Such a number reflects the bound, not the visits: a taxon
# estimated at all sites and hardly ever detected would be detected as seldom if it were rare.

# Returns the estimates at a bound, a list of logical vectors:
#   everywhere  m; occupancy at 1 although visits would miss the taxon more likely than not, which causes most of its
#               undetected presences
#   silent      m; detected by no visit, and occupancy or detection at 0
#   sure        detection at 1: of each taxon, or of each site if misses depend on site
# and `missed`, the expected undetected presences of each taxon. NULL for draws, which have no bound, and without
# visits.
visit_bounds <- function(fit) {
  if (is_sampled(fit) || is.null(fit$visits)) {
    return(NULL)
  }
  rows <- seq_len(fit$dims[["n"]])
  present <- unname(fitted(fit))
  after <- visit_posterior(fit, rows)
  silent <- probability_of_silence(fit, rows)
  x <- as.matrix(fit_data(fit))
  open <- x %in% 0
  side <- if (fit$missed_by == "site") 1L else 2L
  probability <- detection_ends(fit, side)
  never <- unname(colSums(x == 1, na.rm = TRUE)) == 0
  missed <- colSums(after * open)
  at_one <- open & edge_side(present, occupancy_edge(fit)) == 1 & silent > 0.5
  absent <- colSums(edge_side(present) > -1) == 0
  mute <- if (side == 2L) edge_side(probability$most) == -1 else rep(FALSE, length(never))
  list(
    everywhere = missed >= 0.5 & colSums(after * at_one) > missed / 2, silent = never & (absent | mute),
    sure = is.finite(probability$least) & edge_side(probability$least) == 1, side = side, missed = missed
  )
}

# The prior keeps the mode of a probability away from 1: the edge is twice that distance, at least 0.01.
occupancy_edge <- function(fit) {
  prior <- if (fit$estimate == "map") fit$prior$aspects else c(1, 1)
  max(0.01, 2 * (prior[2L] - 1) / (fit$dims[["n"]] + sum(prior) - 2))
}

# Computes the least and the highest probability, over visits made, to detect each taxon (side 2; site: 1) where
# present; Inf and -Inf without visits.
detection_ends <- function(fit, side) {
  fold <- function(value, f) if (side == 1L) do.call(f, asplit(value, 2L)) else do.call(f, asplit(value, 1L))
  least <- Inf
  most <- -Inf
  for (v in seq_len(dim(fit$visits)[3L])) {
    made <- !is.na(fit$visits[, , v])
    dim(made) <- dim(fit$visits)[1:2]
    probability <- 1 - visit_missed(fit, v)
    least <- pmin(least, fold(ifelse(made, probability, Inf), pmin))
    most <- pmax(most, fold(ifelse(made, probability, -Inf), pmax))
  }
  list(least = as.vector(least), most = as.vector(most))
}

# Marks the taxa whose numbers have no meaning.
bound_taxa <- function(bounds, m) {
  if (is.null(bounds)) {
    return(rep(FALSE, m))
  }
  # If misses depend on site, sure detection belongs to sites.
  bounds$everywhere | bounds$silent | (if (bounds$side == 2L) bounds$sure else FALSE)
}

bound_sentences.visits_bernoulli <- function(fit, bounds = visit_bounds(fit), ...) {
  words <- axis_words(fit)
  name <- function(which, side) {
    own <- fit$names[[side]]
    at <- which(which)
    sprintf("%s (of %s)", show_names(if (is.null(own)) as.character(at) else own[at]),
      count_side(fit$dims[[c("n", "m")[side]]], words[side]))
  }
  c(
    if (fit$dims[["m"]] == 1L && identical(fit$missed_by, "site")) {
      sprintf(
        "One %s does not distinguish misses that differ by %s from absence: use `missed_by = \"visit\"`.",
        singular_word(words[2L]), singular_word(words[1L])
      )
    },
    if (any(bounds$everywhere)) {
      sprintf(
        paste(
          "At a bound (occupancy 1, misses likelier than presences), and so without meaning: %s.",
          "A %s that is rare would be found as seldom. %s %s of %s expected false absences."
        ), name(bounds$everywhere, 2L), singular_word(words[2L]), "They make up",
        format(signif(sum(bounds$missed[bounds$everywhere]), 3L)), format(signif(sum(bounds$missed), 3L))
      )
    },
    if (any(bounds$silent)) {
      sprintf(
        "Found by no visit, so that the number of undetected presences is unknown: %s.",
        name(bounds$silent, 2L)
      )
    },
    if (any(bounds$sure)) {
      sprintf(
        "Detection is estimated at its bound of 1 %s %s, where no undetected presences is no estimate.",
        c("at", "for")[bounds$side], name(bounds$sure, bounds$side)
      )
    }
  )
}
