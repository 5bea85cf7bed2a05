# How identifiability() presents itself.

#' @export
print.identifiability <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  writeLines(identifiability_sentences(x, digits))
  invisible(x)
}

#' @rdname identifiability
#' @param object a result of `identifiability()`.
#' @export
summary.identifiability <- function(object, ...) {
  check_dots(...)
  structure(list(object = object), class = "summary.identifiability")
}

#' @export
print.summary.identifiability <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  id <- x$object
  writeLines(identifiability_sentences(id, digits))
  cat("\nThe phantom's mean share\n")
  print.data.frame(round_columns(id$share[1:4], digits), row.names = FALSE)
  cat(loglik_sentence(id$share))
  of <- unique(vapply(id$share$phantom, false_of, ""))
  cat(sprintf("\nExpected number of false %s\n", paste(of, collapse = ", ")))
  print.data.frame(round_columns(id$expected, digits), row.names = FALSE)
  if (!is.null(id$components)) {
    cat("\nScales of the content components, and what limits the maximal phantom\n")
    shown <- round_columns(id$components, digits)
    names(shown)[names(shown) == "taxon"] <- singular_word(kept_words(id)[2L])
    print.data.frame(shown, row.names = FALSE)
  }
  if (!is.null(id$sites$binding)) cat(binding_sentence(id), "\n", sep = "")
  if (!is.null(id$sampling)) {
    cat(sprintf("\nEnds over %s, %g %% quantiles\n", count_words(id$n_draws, "draw"), 100 * id$level))
    print.data.frame(round_columns(id$sampling, digits), row.names = FALSE)
  }
  invisible(x)
}

# Said of the ends that are attained, because it is why the data do not decide between them.
loglik_sentence <- function(share) {
  attained <- share[share$bound %in% c("reached", "inner"), c("loglik_least", "loglik_most")]
  fitted <- share$loglik_least[share$bound == "fitted"][1L]
  if (!nrow(attained)) {
    return(sprintf("Log-likelihood of the fit %.6f\n", fitted))
  }
  sprintf("Log-likelihood of the fit %.6f, of the ends %.6f to %.6f\n", fitted, min(attained), max(attained))
}

binding_sentence <- function(id) {
  at <- id$sites$site[id$sites$binding]
  words <- kept_words(id)[1L]
  if (!length(at)) {
    return(sprintf("No %s is all content, even with the least phantom.", singular_word(words)))
  }
  who <- if (length(at) == 1L) paste(singular_word(words), "is") else paste(words, "are")
  sprintf("With the least phantom, %d %s all content: %s.", length(at), who, show_names(as.character(at)))
}

range_text <- function(ends, digits) {
  ends <- vapply(signif(round(unlist(ends), digits), digits), format, "", digits = digits)
  if (length(unique(ends)) == 1L) ends[1L] else sprintf("%s to %s", ends[1L], ends[2L])
}

identifiability_sentences <- function(id, digits) {
  d <- id$dims
  c(
    sprintf(
      "What %s decide about the phantom, the component that stands for gaps in the record%s",
      table_words(d, kept_words(id)),
      if (id$has_phantom) "" else " (the fit has none; one without share was added)"
    ),
    unlist(lapply(unique(id$share$phantom), function(colour) {
      c(colour_sentences(id, colour, digits), sampling_sentence(id, colour, digits), verdict(id, colour, digits))
    })),
    if (id$smooth) {
      "These are the bounds of the likelihood: smoothing prefers some decompositions within them, as a prior does."
    },
    if (abs(id$change) > 0.01) {
      sprintf(
        paste(
          "(The phantom was only near %s; bounds are those with it held there, which %s the log-likelihood by",
          "%.3g.)"
        ),
        if (id$phantom == "black") "1" else "0", if (id$change > 0) "raises" else "lowers", abs(id$change)
      )
    },
    rule_sentences(id, digits), unlike_sentences(id)
  )
}

bound_names <- c(
  fitted = "as fitted", outer = "no solution lies beyond (outer)", reached = "reached by a search",
  inner = "by rescaling (inner)"
)

colour_sentences <- function(id, colour, digits) {
  rows <- id$share[id$share$phantom == colour, ]
  counts <- id$expected[id$expected$phantom == colour, ]
  at <- order(match(rows$bound, names(bound_names)))
  lines <- vapply(at, function(i) {
    sprintf(
      "  %-32s share %-16s false %s %s", bound_names[[rows$bound[i]]],
      range_text(rows[i, c("least", "most")], digits), false_of(colour),
      range_text(round(unlist(counts[counts$bound == rows$bound[i], c("least", "most")])), digits)
    )
  }, "")
  name <- if (colour == "white") "White" else "Black"
  one <- singular_word(kept_words(id)[1L])
  c(sprintf("%s phantom, its mean share of a %s and what follows:", name, one), lines)
}

rule_sentences <- function(id, digits) {
  said <- lapply(seq_len(nrow(id$rule)), function(i) {
    rule <- id$rule[i, ]
    white <- rule$phantom == "white"
    c(
      sprintf(
        "These bounds are of an exact phantom, with %s alone. One that is %s only by the rule of phantoms(), with a",
        if (white) "absences" else "presences", rule$phantom
      ),
      sprintf(
        "mean chance of %s up to %s, may make up as much as %s of the table, and up to %s of %.0f %s may be false.",
        if (white) "a presence" else "an absence", format(signif(rule$written, 2L)),
        range_text(rule$share_most, digits), format_big(round(rule$expected_most)),
        id$unlike$n_cells[id$unlike$phantom == rule$phantom][1L], if (white) "zeros" else "ones"
      )
    )
  })
  unlist(said)
}

sampling_sentence <- function(id, colour, digits) {
  if (is.null(id$sampling)) {
    return(NULL)
  }
  rows <- id$sampling[id$sampling$phantom == colour, ]
  ends <- vapply(seq_len(nrow(rows)), function(i) {
    sprintf("%s share %s", rows$bound[i], range_text(rows[i, c("least", "most")], digits))
  }, "")
  sprintf(
    "  over %s, to %g %%: %s; false %s at most %s", count_words(id$n_draws, "draw"), 100 * id$level,
    paste(ends, collapse = ", "),
    false_of(colour), format_big(round(rows$expected_most[1L]))
  )
}

verdict <- function(id, colour, digits) {
  rows <- id$share[id$share$phantom == colour, ]
  outer <- rows[rows$bound == "outer", ]
  attained <- rows[rows$bound %in% c("reached", "inner"), ]
  most <- max(outer$most, id$sampling$most[id$sampling$phantom == colour & id$sampling$bound == "outer"])
  if (most <= id$narrow) {
    return(sprintf(
      "The data decide: in every fit with the same chances, an exactly %s phantom's share is at most %s.", colour,
      format(signif(most, digits))
    ))
  }
  spread <- if (nrow(attained)) max(attained$most) - min(attained$least) else 0
  c(
    sprintf("The data alone do not decide how much of the table the %s phantom makes up.", colour),
    if (spread > 1e-6) {
      "Fits all along the range that was found are equally good: which of them to report is a convention."
    } else if (nrow(attained)) {
      "No other fit with the same chances was found. That is no proof that there is none within the outer bound."
    },
    if (isTRUE(id$estimate %in% c("map", "vb", "gibbs"))) "Its prior decides where this fit lies within the bounds.",
    if (id$effort) "This fit lies where it does because it assumes that the phantom's share follows the effort.",
    "What would decide: repeated visits (`visits`), the effort spent on each (`effort`), or a prior (if you trust it)."
  )
}
