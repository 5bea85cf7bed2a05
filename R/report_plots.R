# Figures and sentences of the report that are not methods of a fit.

# A figure as a picture of the page, with its alternative text, which may hold a user's words: one for wide screens, one
# for telephones, where 7 inches of letters could not be read. The page shows one of them.
show_figure <- function(figure, height) {
  said <- html_escape(ggplot2::get_alt_text(figure))
  sizes <- list(wide = c(7, height), narrow = c(4.2, max(0.8 * height, 3)))
  pictures <- vapply(names(sizes), function(kind) {
    file <- basename(tempfile("figure", ".", ".png"))
    size <- sizes[[kind]]
    ggplot2::ggsave(file, figure, width = size[1L], height = size[2L], dpi = 144)
    sprintf("<img class=\"%s\" src=\"%s\" alt=\"%s\" width=\"%.0f\">", kind, file, said, 144 * size[1L])
  }, "")
  cat(do.call(raw_html, as.list(c("<p>", pictures, "</p>"))))
}

# Numbers of cells above 0 by observation and by attribute; NULL for arrays, however given.
found_margins <- function(x) {
  if (!is.matrix(x) && !isS4(x)) {
    return(NULL)
  }
  list(rows = Matrix::rowSums(x > 0, na.rm = TRUE), columns = Matrix::colSums(x > 0, na.rm = TRUE))
}

margins_figure <- function(fit, margins) {
  words <- axis_words(fit)
  heads <- sprintf("%s found in each of the %s", rev(words), words)
  table <- data.frame(
    count = c(margins$rows, margins$columns), panel = factor(rep(heads, lengths(margins)), heads)
  )
  new_figure(
    table, gg_aes(x = "count"), "How much is on record",
    sprintf("Two histograms: %s, and %s.", heads[1L], heads[2L]), "number recorded", "how many"
  ) + ggplot2::geom_histogram(bins = 25L, fill = cell_colours[["found"]], colour = "white", boundary = 0.5) +
    ggplot2::facet_wrap("panel", scales = "free")
}

data_sentence <- function(fit, margins) {
  d <- fit$dims
  long <- function(count) format(count, big.mark = "\u202f", scientific = FALSE)
  if (is.null(margins)) {
    return(sprintf("An array of %s cells.", paste(long(fit$extent), collapse = " x ")))
  }
  words <- axis_words(fit)
  found <- sum(margins$rows)
  unknown <- as.double(d[["n"]]) * d[["m"]] - d[["observed"]]
  paste0(
    sprintf("%s %s by %s %s: ", long(d[["n"]]), words[1L], long(d[["m"]]), words[2L]),
    sprintf("%s presences, %.1f\u00a0%% of the observed cells", long(found), 100 * found / max(1, d[["observed"]])),
    if (unknown > 0) sprintf("; %s %s unknown", long(unknown), if (unknown == 1) "cell is" else "cells are"), "."
  )
}

# How many absences are false: as fitted, and at most.
false_sentence <- function(cells) {
  rounded <- function(name) format_big(signif(attr(cells, name), 3L))
  sprintf(
    paste(
      "Of %.0f absences about %s are expected to be false; other fits that describe the table equally well give up to",
      "%s."
    ),
    attr(cells, "n_cells"), rounded("expected"), rounded("expected_most")
  )
}

starts_sentence <- function(fit) {
  starts <- fit$starts
  paste(
    sprintf("Of %s, %d finished;", count_words(nrow(starts), "start"), sum(starts$finished)),
    sprintf("%d of the finished ones came within", sum(starts$reached_best)),
    sprintf("%s of the best log-likelihood.", format(near_best)),
    if (fit$converged) "The best one converged." else "**The best one has not converged.**"
  )
}

selection_kinds <- function(selection) {
  kinds <- if (is.null(selection$phantom)) rep("free", nrow(selection)) else as.character(selection$phantom)
  factor(kinds, unique(kinds))
}

selection_words <- function(kinds) {
  words <- c(
    free = "no component held", white = "a white phantom held", black = "a black phantom held",
    both = "a white and a black phantom held"
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

selection_figure <- function(selection) {
  results <- data.frame(k = selection$k, loss = selection$AIC, se = NA_real_)
  losses_figure(list(loss_panel(results, selection_words(as.character(selection_kinds(selection))), "AIC")),
    "How many components?")
}
