# Figures of an answer of which_zeros().

#' Plot which zeros are false
#'
#' @param object a result of [which_zeros()].
#' @param what `"zeros"`: the likeliest false absences, each with its chance of a record and its chance of having been
#'   missed, with range; `"sites"`, `"taxa"`: how many were missed at those with most, with range, beside what was
#'   found; `"table"`: the chance of a record of every zero (finds are blank); `"quality"`: how well hidden finds were
#'   found again, and whether the chances are right, as [recovery()] shows it.
#' @param n how many zeros, sites or taxa.
#' @param ... must be empty.
#' @return An object of class `ggplot`; `plot()` draws it and returns it invisibly.
#' @examples
#' w <- which_zeros(simulated_sites$x, quick = TRUE, seed = 1)
#' plot(w, n = 15)
#' plot(w, "taxa", n = 15)
#' @name plot.which_zeros
#' @aliases autoplot.which_zeros
#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros <- function(object, what = c("zeros", "sites", "taxa", "table", "quality"), # nolint: object_name_linter.
                                 n = 20, ...) {
  check_whole(object, "object")
  check_dots(...)
  what <- check_choice(what, "what", c("zeros", "sites", "taxa", "table", "quality"))
  n <- check_count(n, "n")
  switch(what,
    zeros = zeros_figure(object, n), sites = sums_figure(by_site(object), n), taxa = sums_figure(by_taxon(object), n),
    table = table_figure(object, "Chance of a record"),
    quality = recovery_figure(object$curve, "How well hidden finds are found again")
  )
}

zeros_figure <- function(w, n) {
  cells <- as.data.frame(w, n = n)
  cut <- short_labels(24L)
  rows <- data.frame(
    label = make.unique(sprintf("%s, %s", cut(as.character(cells$taxon)), cut(as.character(cells$site)))),
    value = cells$missed, low = cells$missed_low, high = cells$missed_high, other = cells$chance
  )
  ranges_figure(
    rows, sprintf("The %d zeros most likely to be false", nrow(cells)),
    "Points: the zeros likeliest to be false, with their chance of having been missed and its range.", "probability",
    c(value = "there, but missed", other = "chance of a record"), c(0, 1), most = 60L
  )
}

sums_figure <- function(sums, n) {
  shown <- utils::head(sums, n)
  of <- names(sums)[1L]
  many <- c(site = "sites", taxon = "taxa", group = "groups")
  ranges_figure(
    data.frame(label = as.character(shown[[1L]]), value = shown$missed, low = shown$low, high = shown$high,
      other = shown$finds),
    sprintf("Where most was missed: %s", many[[of]]),
    sprintf("Points: the %s with most missed, with its range, and what was found there.", many[[of]]),
    c(site = "number of taxa", taxon = "number of sites", group = "number of presences")[[of]],
    c(value = "expected missed", other = "found"), taxa = of == "taxon"
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_sensitivity <- function(object, ...) { # nolint: object_name_linter.
  check_whole(object, "object")
  check_dots(...)
  table <- object$table
  ranges_figure(
    data.frame(
      label = sprintf("%s (%.0f of %.0f)", table$change, table$kept, object$first), value = table$missed,
      low = table$low, high = table$high, other = table$missed[1L]
    ),
    "What the answer depends on", "Points: the expected number missed under each change of assumption, with its range.",
    "number missed", c(value = "with the change", other = "as it is"), most = 60L,
    subtitle = sprintf("In brackets: how many of the first %.0f zeros stay", object$first)
  )
}
