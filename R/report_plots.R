# Plots and sentences of the report that are not methods of a fit.

# Numbers of cells above 0 by observation and by attribute; NULL for arrays, however given.
found_margins <- function(x) {
  if (!is.matrix(x) && !isS4(x)) {
    return(NULL)
  }
  list(rows = Matrix::rowSums(x > 0, na.rm = TRUE), columns = Matrix::colSums(x > 0, na.rm = TRUE))
}

draw_margins <- function(margins) {
  local_par(mfrow = c(1L, 2L), mar = c(4.2, 4.2, 1, 1), las = 1L)
  draw <- function(counts, label) {
    step <- max(1, ceiling((diff(range(counts)) + 1) / 25))
    breaks <- seq(min(counts) - 0.5, max(counts) + step, by = step)
    graphics::hist(counts, breaks, col = "#56B4E9", border = "white", main = "", xlab = label, ylab = "number")
  }
  draw(margins$rows, "attributes of an observation")
  draw(margins$columns, "observations of an attribute")
}

data_sentence <- function(fit, margins) {
  d <- fit$dims
  long <- function(count) format(count, big.mark = "\u202f", scientific = FALSE)
  if (is.null(margins)) {
    return(sprintf("An array of %s cells.", paste(long(fit$extent), collapse = " x ")))
  }
  found <- sum(margins$rows)
  unknown <- as.double(d[["n"]]) * d[["m"]] - d[["observed"]]
  paste0(
    sprintf("%s observations (sites) by %s attributes (taxa): ", long(d[["n"]]), long(d[["m"]])),
    sprintf("%s presences, %.1f\u00a0%% of the observed cells", long(found), 100 * found / max(1, d[["observed"]])),
    if (unknown > 0) sprintf("; %s %s unknown", long(unknown), if (unknown == 1) "cell is" else "cells are"), "."
  )
}

# How many absences are false: as fitted, and at most.
false_sentence <- function(cells) {
  rounded <- function(name) format(signif(attr(cells, name), 3L))
  sprintf(
    paste(
      "Of %.0f absences about %s are expected to be false; no fit with the same probabilities and as white a phantom",
      "has more than %s."
    ),
    attr(cells, "n_cells"), rounded("expected"), rounded("expected_most")
  )
}

starts_sentence <- function(fit) {
  starts <- fit$starts
  paste(
    sprintf("%d start(s) were tried and %d finished;", nrow(starts), sum(starts$finished)),
    sprintf("%d of the finished ones came within", sum(starts$reached_best)),
    sprintf("%s nats of the best.", format(fit$control$reach)),
    if (fit$converged) "The best one converged." else "**The best one has not converged.**"
  )
}

selection_kinds <- function(selection) {
  kinds <- if (is.null(selection$phantom)) rep("free", nrow(selection)) else as.character(selection$phantom)
  factor(kinds, unique(kinds))
}

selection_words <- function(kinds) {
  words <- c(
    free = "no component pinned", white = "a pinned white phantom", black = "a pinned black phantom",
    both = "a pinned white and a pinned black phantom"
  )
  ifelse(kinds %in% names(words), words[kinds], kinds)
}

selection_sentence <- function(selection) {
  kinds <- selection_kinds(selection)
  best <- vapply(split(seq_len(nrow(selection)), kinds), function(at) at[which.min(selection$AIC[at])], 0L)
  paste0("AIC is least at ", paste(sprintf(
    "k = %d (%s; AIC %.0f)", selection$k[best], selection_words(names(best)), selection$AIC[best]
  ), collapse = " and at "), ".")
}

draw_selection <- function(selection) {
  kinds <- selection_kinds(selection)
  colours <- component_colours(nlevels(kinds))
  local_par(mar = c(4.2, 5, 1, 1), las = 1L)
  graphics::plot(
    range(selection$k), range(selection$AIC), type = "n", bty = "l", xlab = "number of components k", ylab = "",
    xaxt = "n"
  )
  graphics::title(ylab = "AIC", line = 4)
  graphics::axis(1L, unique(selection$k))
  for (i in seq_len(nlevels(kinds))) {
    part <- selection[kinds == levels(kinds)[i], ]
    graphics::lines(part$k, part$AIC, type = "b", pch = 16, col = colours[i])
    least <- which.min(part$AIC)
    graphics::points(part$k[least], part$AIC[least], cex = 2.2, col = colours[i])
  }
  if (nlevels(kinds) > 1L) {
    graphics::legend("topleft", selection_words(levels(kinds)), col = colours, pch = 16, lty = 1, bty = "n")
  }
}
