# Estimates of repeated visits at the bound of what they can be. There a number is where the scale ends, and not what
# the visits say: a taxon that is put at all sites and hardly ever found would be found as seldom if it were rare.

# What is at a bound, list of logical vectors:
#   everywhere  m; occupancy at 1 where visits would have missed the taxon more likely than not, from which comes most
#   of
#               what is thought to be missed of it
#   silent      m; found by no visit, and occupancy or detection at 0
#   sure        detection at 1: of each taxon, or of each site where misses go by site
# and `missed`, what is thought to be missed of each taxon. NULL of draws, which have no bound, and without the visits.
visit_bounds <- function(fit) {
  if (is_sampled(fit) || is.null(fit$visits)) {
    return(NULL)
  }
  rows <- seq_len(fit$dims[["n"]])
  present <- unname(fitted(fit))
  after <- visit_posterior(fit, rows)
  silent <- chance_of_silence(fit, rows)
  x <- as.matrix(fit_data(fit))
  open <- x %in% 0
  side <- if (fit$missed_by == "site") 1L else 2L
  chance <- detection_ends(fit, side)
  never <- unname(colSums(x == 1, na.rm = TRUE)) == 0
  missed <- colSums(after * open)
  at_one <- open & edge_side(present, occupancy_edge(fit)) == 1 & silent > 0.5
  absent <- colSums(edge_side(present) > -1) == 0
  mute <- if (side == 2L) edge_side(chance$most) == -1 else rep(FALSE, length(never))
  list(
    everywhere = missed >= 0.5 & colSums(after * at_one) > missed / 2, silent = never & (absent | mute),
    sure = is.finite(chance$least) & edge_side(chance$least) == 1, side = side, missed = missed
  )
}

# The mode of a chance with a prior comes no nearer to 1 than the prior lets it: twice that distance, 0.01 at least.
occupancy_edge <- function(fit) {
  prior <- if (fit$estimate == "map") fit$prior$aspects else c(1, 1)
  max(0.01, 2 * (prior[2L] - 1) / (fit$dims[["n"]] + sum(prior) - 2))
}

# The least and the highest chance, over visits that were made, to find each taxon (side 2; site: 1) where it is; Inf
# and -Inf where there were none.
detection_ends <- function(fit, side) {
  fold <- function(value, f) if (side == 1L) do.call(f, asplit(value, 2L)) else do.call(f, asplit(value, 1L))
  least <- Inf
  most <- -Inf
  for (v in seq_len(dim(fit$visits)[3L])) {
    made <- !is.na(fit$visits[, , v])
    dim(made) <- dim(fit$visits)[1:2]
    chance <- 1 - visit_missed(fit, v)
    least <- pmin(least, fold(ifelse(made, chance, Inf), pmin))
    most <- pmax(most, fold(ifelse(made, chance, -Inf), pmax))
  }
  list(least = as.vector(least), most = as.vector(most))
}

# Which taxa's numbers mean nothing.
bound_taxa <- function(bounds, m) {
  if (is.null(bounds)) {
    return(rep(FALSE, m))
  }
  # Where misses go by site, those that are sure are sites.
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
        "One %s does not tell misses that differ by %s from its absence: give `missed_by = \"visit\"`.",
        singular_word(words[2L]), singular_word(words[1L])
      )
    },
    if (any(bounds$everywhere)) {
      sprintf(
        paste(
          "At its bound: occupancy is estimated at 1, and misses as likelier than finds, for %s. That means nothing: a",
          "%s that is rare is found as seldom. %s %s of %s expected false absences."
        ), name(bounds$everywhere, 2L), singular_word(words[2L]), "From there come",
        format(signif(sum(bounds$missed[bounds$everywhere]), 3L)), format(signif(sum(bounds$missed), 3L))
      )
    },
    if (any(bounds$silent)) {
      sprintf(
        "At its bound: no visit found %s; occupancy or detection is estimated at 0. How many were missed is not known.",
        name(bounds$silent, 2L)
      )
    },
    if (any(bounds$sure)) {
      sprintf(
        "At its bound: detection is estimated at 1 %s %s. None missed is the end of the scale there, and no count.",
        c("at", "for")[bounds$side], name(bounds$sure, bounds$side)
      )
    }
  )
}
