# Names and groups of sites and taxa.

side_names <- function(fit, side, ...) {
  check_dots(...)
  names <- (fit$names %||% dimnames(fit$shards))[[side]]
  names %||% as.character(seq_len(fit$dims[[side]]))
}

label_of <- function(at, names) if (is.null(names)) at else names[at]

end_names <- function(level) paste(format(50 * c(1 - level, 1 + level), trim = TRUE, digits = 3L), "%")

dimension_names <- function(names, at) if (is.null(names)) paste("dimension", at) else names

group_factor <- function(groups, size, side, used, names) {
  if (is.null(groups)) {
    return(factor(ifelse(used, seq_len(size), NA)))
  }
  groups <- by_name(groups, names, "groups")
  if (!is_line(groups) || !is.atomic(groups) || length(groups) != size) {
    stop_input("`groups` must name the group of each of the %.0f %s, not be %s.", size,
      c("sites", "taxa")[side], show_value(groups))
  }
  groups[!used | groups %in% ""] <- NA
  if (is.factor(groups)) {
    droplevels(groups)
  } else if (inherits(groups, c("Date", "POSIXct"))) {
    factor(groups) # in the order of time
  } else {
    fixed_factor(as.vector(groups))
  }
}

name_sides <- function(names) if (all(vapply(names, is.null, NA))) NULL else names

# Usual words for the three sides.
visit_side_words <- list(
  site = c("site", "observation", "locality", "place", "plot", "point", "transect"),
  taxon = c("taxon", "attribute", "species", "taxa", "genus", "sp"),
  visit = c("visit", "survey", "occasion", "replicate", "rep", "j")
)

# Returns the side each word names: "site", "taxon", "visit"; NA for others.
side_of <- function(words) {
  words <- tolower(words)
  vapply(words, function(word) {
    hit <- vapply(visit_side_words, function(known) word %in% c(known, many_words(known)), NA)
    if (any(hit)) names(visit_side_words)[hit][1L] else NA_character_
  }, "", USE.NAMES = FALSE)
}

# Returns the names of all sides, numbers if there are none.
side_labels <- function(x) {
  lapply(seq_along(dim(x)), function(side) dimnames(x)[[side]] %||% as.character(seq_len(dim(x)[side])))
}
