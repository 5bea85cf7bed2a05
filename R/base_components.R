# Components of several fits or chains: matched, and the taxa by which one knows them.

# list(sites = n x k, species = m x k)
ordination <- function(fit) UseMethod("ordination")

# For each row of `theirs`, the row of `mine` assigned to it, or NA.
match_components <- function(mine, theirs) {
  k <- max(nrow(theirs), nrow(mine))
  cost <- matrix(0, k, k) # those without a partner get one that costs nothing
  cost[seq_len(nrow(theirs)), seq_len(nrow(mine))] <-
    outer(rowSums(theirs^2), rowSums(mine^2), "+") - 2 * theirs %*% t(mine)
  at <- .Call(mc_c_assign, cost)[seq_len(nrow(theirs))]
  replace(at, at > nrow(mine), NA)
}

# Is an attribute among those that a component writes at all?
is_told <- function(values) values >= 0.05 * max(values)

# Sievert and Shirley (2014), eq. (1): between the order of probability and that of lift.
relevance_of <- function(w, everywhere, weight = 0.6) log(w) - (1 - weight) * rep(log(everywhere), each = nrow(w))

# What all observations together say of each attribute: components by their mean shares.
said_by_all <- function(fit, w) {
  sites <- ordination(fit)$sites
  sites <- sites / pmax(rowSums(sites), 1e-300)
  pmax(drop(colMeans(sites) %*% w), 1e-300)
}

# A component that writes next to nothing, a phantom, has no terms.
says_something <- function(w) apply(w, 1L, max) > 0.01 * max(w)

# The taxa of each component with the largest relevance. Components that may be negative have loadings instead.
top_taxa <- function(fit, n) {
  components <- component_matrix(fit)
  signed <- any(components < 0)
  everywhere <- if (signed) NA_real_ else said_by_all(fit, components)
  scores <- if (signed) abs(components) else relevance_of(components, everywhere)
  names <- label_of(seq_len(ncol(components)), fit$names[[2L]])
  shown <- if (signed) rowSums(abs(components)) > 0 else says_something(components)
  each <- lapply(which(shown), function(c) {
    value <- components[c, ]
    # The taxon must be among those the component writes at all.
    known <- if (signed) rep(TRUE, length(value)) else is_told(value)
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

# The names of the first n of each component in one text, by component; "" for one that says nothing.
top_names <- function(fit, n = 3L, cut = identity) {
  components <- rownames(component_matrix(fit))
  top <- top_taxa(fit, n)
  vapply(components, function(name) paste(cut(top$taxon[top$component == name]), collapse = ", "), "")
}

# The taxa by which one knows each component: what a model of components found, in one sentence. NULL where it has none
# that can be named.
known_by <- function(fit) {
  if (is.null(fit$names[[2L]]) || isTRUE(fit$dims[["k"]] < 2)) {
    return(NULL) # nothing to call them by, or to tell apart
  }
  each <- catch_error(top_names(fit), function(e) NULL)
  each <- each[nzchar(each)]
  if (length(each) < 2L) {
    return(NULL)
  }
  shown <- utils::head(sprintf("%s: %s", names(each), each), 6L)
  more <- length(each) - length(shown)
  sprintf(
    "%s that tell the components apart: %s%s.", capital(axis_words(fit)[2L]), paste(shown, collapse = "; "),
    if (more) paste("; and", count_words(more, "more component")) else ""
  )
}
