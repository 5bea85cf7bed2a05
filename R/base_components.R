# Matches components of several fits or chains and names their characteristic taxa.

# Returns list(sites = n x k, species = m x k).
ordination <- function(fit) UseMethod("ordination")

# Returns for each row of `theirs` the assigned row of `mine`, or NA.
match_components <- function(mine, theirs) {
  k <- max(nrow(theirs), nrow(mine))
  cost <- matrix(0, k, k) # those without a partner get one that costs nothing
  cost[seq_len(nrow(theirs)), seq_len(nrow(mine))] <-
    outer(rowSums(theirs^2), rowSums(mine^2), "+") - 2 * theirs %*% t(mine)
  at <- .Call(mc_c_assign, cost)[seq_len(nrow(theirs))]
  replace(at, at > nrow(mine), NA)
}

# Tests for each taxon whether its value is at least 5 % of the largest of the component.
is_characteristic <- function(values) values >= 0.05 * max(values)

# Relevance, eq. (1) of Sievert and Shirley (2014): between the order of probability and that of lift.
relevance_of <- function(w, everywhere, weight = 0.6) log(w) - (1 - weight) * rep(log(everywhere), each = nrow(w))

# The probability of each taxon over all sites: components weighted by their mean shares.
overall_probability <- function(fit, w) {
  sites <- ordination(fit)$sites
  sites <- sites / pmax(rowSums(sites), 1e-300)
  pmax(drop(colMeans(sites) %*% w), 1e-300)
}

# Tests which components have presences at all: a white phantom has no terms.
is_nonempty <- function(w) apply(w, 1L, max) > 0.01 * max(w)

# Returns the taxa of each component with the largest relevance, or loadings if components may be negative.
top_taxa <- function(fit, n) {
  components <- component_matrix(fit)
  signed <- any(components < 0)
  everywhere <- if (signed) NA_real_ else overall_probability(fit, components)
  scores <- if (signed) abs(components) else relevance_of(components, everywhere)
  names <- label_of(seq_len(ncol(components)), fit$names[[2L]])
  shown <- if (signed) rowSums(abs(components)) > 0 else is_nonempty(components)
  each <- lapply(which(shown), function(c) {
    value <- components[c, ]
    # Taxa that hardly come from the component are excluded.
    known <- if (signed) rep(TRUE, length(value)) else is_characteristic(value)
    at <- utils::head(order(-ifelse(known, scores[c, ], -Inf), -value, names), min(n, sum(known)))
    data.frame(
      component = rownames(components)[c], taxon = names[at], value = unname(value[at]),
      everywhere = unname(rep_len(everywhere, length(value))[at])
    )
  })
  out <- do.call(rbind, each)
  out$component <- factor(out$component, rownames(components)[shown])
  out
}

# The names of the first n of each component, by component; none for a component without presences.
top_lists <- function(fit, n = 3L) {
  components <- rownames(component_matrix(fit))
  top <- top_taxa(fit, n)
  stats::setNames(lapply(components, function(name) top$taxon[top$component == name]), components)
}

# The same, each in one text.
top_names <- function(fit, n = 3L, cut = identity) {
  vapply(top_lists(fit, n), function(names) paste(cut(names), collapse = ", "), "")
}

# The mean share of each component in a row; NULL where components may be negative.
mean_shares <- function(fit) {
  sites <- ordination(fit)$sites
  if (any(sites < 0)) NULL else unname(colMeans(sites / pmax(rowSums(sites), 1e-300)))
}

# What the numbers of component_matrix() are, for the legend of their picture.
component_scale <- function(fit) UseMethod("component_scale")

component_scale.default <- function(fit) {
  total <- rowSums(component_matrix(fit))
  if (all(abs(total - 1) < 1e-6 | total == 0)) "share of the component" else "weight"
}

# The columns of print() on each component, with its name first; of what are no components, too, as a leak.
component_facts <- function(fit) UseMethod("component_facts")

component_facts.default <- function(fit) {
  components <- component_matrix(fit)
  c(
    list(component = rownames(components)), two_decimals("share", mean_shares(fit)),
    if (component_scale(fit) == "probability") two_decimals("mean P", rowMeans(components))
  )
}

# A column of numbers, or nothing for NULL.
two_decimals <- function(name, values) {
  if (!is.null(values)) stats::setNames(list(sprintf("%.2f", values)), name)
}

# The components of a fit as columns of text: their numbers, and the taxa with the largest relevance, where they have
# names. NULL where there is nothing to show.
component_table <- function(fit) {
  facts <- catch_error(component_facts(fit), function(e) NULL)
  if (!is.null(facts) && !is.null(fit$names[[2L]])) {
    top <- catch_error(top_lists(fit), function(e) NULL)
    if (length(top)) {
      own <- top[match(facts$component, names(top))]
      facts[[paste("characteristic", axis_words(fit)[2L])]] <- unname(own)
    }
  }
  if (length(facts) > 1L) facts
}

shown_components <- 7L # the rows of a table in a print

# Prints such a table, lists of names as long as the window lets them be.
print_fit_table <- function(table, most = shown_components) {
  n <- lengths(table)[[1L]]
  shown <- lapply(table, utils::head, most)
  is_list <- vapply(shown, is.list, NA)
  widths <- vapply(names(shown)[!is_list], function(name) max(nchar(c(name, shown[[name]]))), 0)
  room <- getOption("width") - sum(widths + 2)
  shown[is_list] <- lapply(shown[is_list], function(column) vapply(column, listed_names, "", room))
  is_text <- vapply(shown, function(column) !any(grepl("^[-0-9]", column)), NA)
  names(shown)[1L] <- if (names(shown)[1L] == "component") "" else names(shown)[1L]
  print_aligned(shown, left = which(is_text | is_list))
  if (n > most) cat(sprintf("... and %s (summary() has all)\n", format_big(n - most)))
}

# As many of the names as there is room for, at least one; "-" for none.
listed_names <- function(names, room) {
  names <- names[!is.na(names)]
  if (!length(names)) {
    return("-")
  }
  fits <- cumsum(nchar(names) + 2) - 2 <= room
  clip(paste(names[fits | seq_along(names) == 1L], collapse = ", "), max(room, 10))
}
