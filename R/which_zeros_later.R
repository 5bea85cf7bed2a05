# recovery(w, later): compares a result of which_zeros() with later surveys.

# Compares the zeros of `w` with `later`, a table of sites by taxa, or sites by taxa by surveys, wherever both are
# known; sites and taxa are matched by name.
#' @export
recovery.which_zeros <- function(scores, # nolint: object_name_linter.
                                 truth, of = c("omissions", "additions"), n = c(10, 50, 100, 500), ...) {
  check_choice(of)
  n <- sort(check_counts(n, "n"))
  check_dots(...)
  if (missing(truth)) stop_missing("truth")
  later_recovery(scores, truth, n)
}

later_recovery <- function(w, later, n) {
  later <- match_later(later, w)
  made <- apply(!is.na(later), 3L, any)
  found <- later_found(later)
  found[!w$candidate] <- NA
  score <- if (is.null(w$reason)) missed_cells(w, w$candidate) else w$probability
  if (is.null(w$reason)) score[w$gaps] <- 1
  if (!any(found, na.rm = TRUE)) {
    stop_input("`truth` must hold presences at zeros of the result, for the ranking to be judged: it has none there.")
  }
  if (all(found, na.rm = TRUE)) stop_input("`truth` must hold zeros at zeros of the result, too.")
  out <- recovery(unname(score), unname(found), n = n)
  gained <- sum(found, na.rm = TRUE)
  known <- !is.na(found)
  # Gaps of a series are certain: no survey's factor is theirs.
  gap <- replace(found, TRUE, FALSE)
  gap[w$gaps] <- TRUE
  gaps <- sum(gap & known)
  part <- sum(score[known & !gap]) / max(sum(score[w$candidate & !gap]), 1e-12)
  q <- w$quality["stack", ]
  out$later <- data.frame(
    sites = sum(rowSums(known) > 0), taxa = sum(colSums(known) > 0), surveys = sum(made), gained = gained,
    auc = out$summary$auc, held_out_auc = q$auc, auc_within = out$summary$auc_within,
    held_out_auc_within = q$auc_within
  )
  if (!is.null(w$more)) {
    curve <- surveys_curve(list(kappa = 0, presences = 1), Inf, sort(unique(c(1, 2, 4, 8, min(sum(made), 8)))))
    two <- w$more$missed[w$more$surveys == 2]
    curve[-1L] <- gaps + as.matrix(curve[-1L]) / curve$missed[curve$surveys == 2] * part * two
    out$curve <- curve
  } else if (is.null(w$reason)) {
    out$expected <- gaps + part * (w$total - length(w$gaps))
  }
  out["first"] <- list(if (is.null(w$reason)) first_found(score, found))
  out["reason"] <- list(w$reason)
  out$words <- axis_words(w)
  out$event <- missed_event(w)
  class(out) <- c("which_zeros_later", class(out))
  out
}

# Computes the mean probability of the first zeros of the ranking that are known in both tables, and the share found.
first_found <- function(score, found, n = 20L) {
  at <- utils::head(order(-ifelse(is.na(found), -Inf, score)), min(n, sum(!is.na(found))))
  data.frame(zeros = length(at), missed = mean(score[at]), found = mean(found[at]))
}

# Returns the later table as an array in the order of the result, NA if a site or taxon is not in it.
match_later <- function(later, w) {
  if (is.data.frame(later) || inherits(later, "Matrix")) later <- as_plain_matrix(later, "truth")
  if (inherits(later, "Matrix")) later <- as.matrix(later)
  if (!(is.numeric(later) || is.logical(later)) || !length(dim(later)) %in% 2:3) {
    stop_input(
      "`truth` must be a later table of sites by taxa, or of sites by taxa by surveys, as 0/1 or counts, not %s.",
      show_value(later)
    )
  }
  if (any(later < 0, na.rm = TRUE)) stop_input("`truth` must hold 0/1 or counts: it has a value below 0.")
  later <- array(later, c(dim(later), 1L)[1:3], if (!is.null(dimnames(later))) c(dimnames(later), list(NULL))[1:3])
  at <- lapply(1:2, function(side) {
    size <- w$dims[[c("n", "m")[side]]]
    match_side(dimnames(later)[[side]], w$names[[side]], dim(later)[side], size, axis_words(w)[side])
  })
  out <- array(NA_real_, c(w$dims[["n"]], w$dims[["m"]], dim(later)[3L]))
  known <- lapply(at, function(each) which(!is.na(each)))
  out[known[[1L]], known[[2L]], ] <- later[at[[1L]][known[[1L]]], at[[2L]][known[[2L]]], ]
  out
}

# Matches the names of the result to the later table.
match_side <- function(later, names, n_later, n, word) {
  if (is.null(later) || is.null(names)) {
    if (n_later != n) {
      stop_input("`truth` must have names of its %s, or as many as the result, %d, not %d.", word, n, n_later)
    }
    return(seq_len(n))
  }
  twice <- anyDuplicated(later)
  if (twice) {
    stop_input("`truth` must have unique names of its %s: %s comes twice. Surveys are a third dimension.", word,
      show_names(later[twice]))
  }
  at <- match(names, later)
  if (all(is.na(at))) stop_input("`truth` must have %s of the result: it has none of their names.", word)
  if (anyNA(at)) {
    lost <- sum(is.na(at))
    inform("Not in the later table, and not compared: %s of %s %s.", format_big(lost), format_big(n), word)
  }
  at
}

# Tests whether any later survey found the taxon; NA if none was made.
later_found <- function(later) {
  found <- rowSums(later > 0, na.rm = TRUE, dims = 2L) > 0
  found[rowSums(!is.na(later), dims = 2L) == 0] <- NA
  found
}

#' @export
print.which_zeros_later <- function(x, ...) {
  check_dots(...)
  l <- x$later
  writeLines(wrap_text(sprintf(
    "What later surveys found: %s of %s zeros, at %s of %s (%s)", format_big(x$summary$changed),
    format_big(x$summary$candidates), count_side(l$sites, x$words[1L]), count_side(l$taxa, x$words[2L]),
    count_words(l$surveys, "survey")
  ), exdent = 2))
  three <- function(value) ifelse(is.na(value), "-", sprintf("%.3f", value))
  cat("\n")
  print_aligned(stats::setNames(
    list(c("  held-out presences of this table", "  presences of later surveys"), three(c(l$held_out_auc, l$auc)),
      three(c(l$held_out_auc_within, l$auc_within))),
    c("Ranking", "AUC", paste("within", x$words[1L]))
  ))
  if (!is.null(x$curve)) {
    cat("\n")
    print_aligned(stats::setNames(
      list(sprintf("  expected by %s more", format(x$curve$surveys)), show_count(x$curve$missed),
        show_ends(x$curve$low, x$curve$high)),
      c(sprintf("Presences gained: %s", format_big(l$gained)), "estimate", "90 % interval")
    ))
  }
  writeLines(wrap_text(later_sentences(x), exdent = 2))
  invisible(x)
}

# Compares the presences gained with the interval for as many surveys; NULL if the curve has no such number.
gained_sentence <- function(later, curve) {
  row <- curve[curve$surveys == later$surveys, ]
  if (nrow(row) == 1L) {
    where <- if (later$gained < row$low) "below" else if (later$gained > row$high) "above" else "within"
    more <- sub(" ", " more ", count_words(row$surveys, "survey"))
    sprintf("%s gained is %s the interval for %s.", format_big(later$gained), where, more)
  }
}

later_sentences <- function(x) {
  c(
    if (!is.null(x$expected)) {
      sprintf(
        "Presences gained: %s; undetected presences expected at these zeros: %s (%s).", format_big(x$later$gained),
        show_count(x$expected[["missed"]]), show_ends(x$expected[["low"]], x$expected[["high"]])
      )
    },
    if (!is.null(x$reason)) no_number_sentence(x$reason),
    if (!is.null(x$first)) {
      sprintf(
        "First %s: mean `missed` %.2f%s, share found %.2f.", count_words(x$first$zeros, "zero"), x$first$missed,
        if (is.null(x$curve) || x$later$surveys == 2) "" else " (of two surveys)", x$first$found
      )
    },
    if (!is.null(x$curve)) gained_sentence(x$later, x$curve),
    paste(
      "To add this check to the table of surveys in ?how_many, send it, by saveRDS(), with the sources of both tables",
      "to the maintainer of the package."
    )
  )
}

#' @exportS3Method ggplot2::autoplot
autoplot.which_zeros_later <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  recovery_figure(
    object, "What later surveys found at the zeros", "zeros found later",
    if (is.null(object$reason)) sprintf("P(%s)", object$event) else "probability of a record"
  )
}
