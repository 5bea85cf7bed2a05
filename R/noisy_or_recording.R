# Noisy-OR whose presences are recorded with a chance for each site, and a factor of it for each taxon: what is there,
# and what was missed. The kernel's part is in src/noisy_or/noisy_or.h, eqs. (R1) to (R5).

# The chances that a site may have, as nor_chance() in C has them.
recorded_grid <- 10L
recorded_grid_chances <- function() (seq_len(recorded_grid) / recorded_grid)^2

nor_recorded_parts <- function(model) {
  by <- model$missed_by %||% "none"
  switch(by, none = NULL, site = "recorded_share", both = c("recorded_share", "recorded_taxon"))
}

# Start values of what is not given.
nor_first_recorded <- function(param, m, model) {
  parts <- nor_recorded_parts(model)
  if ("recorded_share" %in% parts) {
    param$recorded_share <- param$recorded_share %||% rep(1 / recorded_grid, recorded_grid)
  }
  if ("recorded_taxon" %in% parts) param$recorded_taxon <- param$recorded_taxon %||% rep(0.8, m)
  param
}

nor_name_recorded <- function(param, distinct, names, model) {
  if (is.null(param$recorded_share)) {
    return(NULL)
  }
  site <- nor_report(distinct, param, model, "site")$site[distinct$group]
  out <- list(
    recorded_site = stats::setNames(site, names[[1L]]),
    recorded_share = stats::setNames(param$recorded_share, format(recorded_grid_chances()))
  )
  if (!is.null(param$recorded_taxon)) out$recorded_taxon <- stats::setNames(param$recorded_taxon, names[[2L]])
  out
}

# The chance that a presence is recorded in sites with these chances, sites x m.
recorded_chances <- function(param, site) {
  outer(unname(site), if (is.null(param$recorded_taxon)) rep(1, length(param$leak)) else unname(param$recorded_taxon))
}

# Of n new sites.
draw_recorded <- function(param, n) {
  if (is.null(param$recorded_share)) {
    return(1)
  }
  recorded_chances(param, sample(recorded_grid_chances(), n, replace = TRUE, prob = param$recorded_share))
}

# The chance that the taxon is there: a one proves it, a zero makes it less likely, eq. (R1).
nor_presences <- function(out, data) {
  cells <- dense_rows(data$x, seq_len(nrow(data$x)))
  value <- if (is.null(out$present)) out$response else out$present
  value[cells %in% 0] <- if (is.null(out$missed)) 0 else out$missed[cells %in% 0]
  value[cells %in% 1 & !is.na(value)] <- 1
  value
}

# Rows of a fit's table, and which sources are known there.
nor_rows <- function(fit, x, rows) {
  data <- check_data(x[rows, , drop = FALSE], "binary", quiet = TRUE)
  if (!is.null(fit$known)) data$known <- unname(t(fit$known[rows, , drop = FALSE]))
  data
}

# How many zeros are expected to hide a presence.
nor_count_missed <- function(fit, x) {
  sum(vapply(row_blocks(seq_len(nrow(x)), ncol(x)), function(rows) {
    block <- nor_rows(fit, x, rows)
    missed <- nor_report(block, lapply(fit$param, unname), fit$model, "response")$missed
    sum(missed[dense_rows(x, rows) %in% 0])
  }, 0))
}

cell_scores.noisy_or <- function(fit, rows, kinds, of = "absences") {
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  if (is.null(fit$x)) stop_input("This fit was made with `keep_x = FALSE`: fit again with the data kept.")
  data <- nor_rows(fit, fit$x, rows)
  out <- nor_report(data, lapply(fit$param, unname), fit$model, "response")
  if (of == "presences") { # none is false
    none <- 0 * out$present
    return(list(probability = 1 - out$response, present = 1 - out$present, missed = none, phantom = none))
  }
  list(probability = out$response, present = out$present, missed = out$missed, phantom = out$phantom)
}

largest_missed.noisy_or <- function(fit, scores, observed, kinds, of) scores$missed

#' @rdname phantoms
#' @export
phantoms.noisy_or <- function(fit, ...) {
  check_dots(...)
  if (is.null(fit$missed_by)) stop_no_phantoms(fit)
  k <- fit$dims[["k"]]
  missed <- mean(1 - recorded_chances(fit$param, fit$param$recorded_site))
  # Several causes may be at work at a site: none has a share of it. One that does little hides nothing.
  shares <- list(weight = c(fit$param$prior, missed), alone = rep(NA_real_, k + 1L))
  param <- list(aspects = rbind(fit$param$links, 0), shares = shares)
  pinned <- rep(c("free", "white"), c(k, 1L))
  table <- phantom_table(param, fit$density, pinned, rep(TRUE, fit$dims[["m"]]))
  table$component[k + 1L] <- "recording"
  table$kind <- rep(c("content", "white"), c(k, 1L))
  table$alone <- NULL
  structure(table, class = c("phantoms", "data.frame"), density = fit$density)
}

# With t[j] times the chance that taxon j is there, and 1 / t[j] of that of a record, every single cause makes as many
# finds as before: (1 - leak') (1 - link') = 1 - t (1 - (1 - leak) (1 - link)), leak' = t leak, taxon' = taxon / t. The
# likelihood is the same, at any t that leaves probabilities, where no taxon has two causes at once. Two causes of links
# a and b without a leak make a b (t - 1) fewer finds, times the chance of a record.
nor_rescale <- function(param, t) {
  m <- length(param$leak)
  alone <- 1 - (1 - param$links) * rep(1 - param$leak, each = nrow(param$links))
  leak <- pmin(t * param$leak, 1)
  links <- (alone * rep(t, each = nrow(alone)) - rep(leak, each = nrow(alone))) / rep(1 - leak, each = nrow(alone))
  links[is.nan(links)] <- 0
  param$links <- pmin(pmax(links, 0), 1)
  param$leak <- leak
  param$recorded_taxon <- pmin((param$recorded_taxon %||% rep(1, m)) / t, 1)
  param
}

# How far t can go: until a taxon is there wherever its strongest cause is, or is recorded wherever its site is. Chances
# of sites alone have one t for all taxa, and are at most 1 already.
nor_scales <- function(param) {
  alone <- 1 - (1 - param$links) * rep(1 - param$leak, each = nrow(param$links))
  top <- pmin(apply(alone, 2L, max), 1)
  top[top <= 0] <- 1
  if (is.null(param$recorded_taxon)) {
    return(list(least = rep(1, length(top)), most = rep(1 / max(top), length(top))))
  }
  list(least = ifelse(param$recorded_taxon > 0, param$recorded_taxon, 1), most = 1 / top)
}

nor_same_loglik <- 2 # nats that the log-likelihood may lose
nor_scale_steps <- 8L

# Numbers of false absences from the least to the most that rescaling reaches at about the same log-likelihood, and what
# it changes by there; NULL where the likelihood is not known.
nor_missed_range <- function(fit, x, distinct) {
  param <- lapply(fit$param, unname)
  if (length(param$prior) > nor_auto_exact) {
    return(NULL)
  }
  weight <- tabulate(distinct$group)
  loglik <- function(param) sum(weight * nor_report(distinct, param, fit$model, "loglik", "exact")$loglik)
  ends <- lapply(nor_scales(param), function(scale) {
    end <- list(missed = fit$missed, change = 0, param = NULL)
    if (all(scale == 1)) {
      return(end)
    }
    for (step in seq_len(nor_scale_steps)) {
      trial <- nor_rescale(param, scale^(step / nor_scale_steps))
      change <- loglik(trial) - fit$loglik
      if (is.na(change) || change < -nor_same_loglik) break
      end[c("change", "param")] <- list(change, trial)
    }
    if (!is.null(end$param)) end$missed <- nor_count_missed(utils::modifyList(fit, list(param = end$param)), x)
    end
  })
  data.frame(missed = vapply(ends, `[[`, 0, "missed"), change = vapply(ends, `[[`, 0, "change"))
}

bound_sentences.noisy_or <- function(fit, ...) {
  several <- sum(apply(fit$param$links, 2L, function(links) sum(links >= nor_least_cause) > 1L))
  reach <- fit$missed_range
  words <- axis_words(fit)[2L]
  c(
    if (fit$dims[["k"]] == 1L) {
      "One component does not tell what was missed from what is rare: the prior decides."
    } else if (diff(range(fit$param$links)) < nor_least_cause) {
      "All links are about the same, which does not tell what was missed from what is rare: the prior decides."
    } else if (several == 0L) {
      sprintf("No two components share %s: that alone would tell what was missed. The prior decides.", words)
    } else {
      sprintf(
        "How much was missed rests on %s of several components (%d of %d), and on the prior: see ?noisy_or.", words,
        several, fit$dims[["m"]]
      )
    },
    if (!is.null(reach)) {
      sprintf(
        "From %s to %s false absences, and perhaps more, go with %s.", format_big(round(reach$missed[1L])),
        format_big(round(reach$missed[2L])),
        if (min(reach$change) > -0.01) "the same log-likelihood" else "a log-likelihood that is lower by at most 2"
      )
    }
  )
}

nor_least_cause <- 0.05 # the least link that counts as a cause in what is said

recorded_sentences <- function(fit) {
  if (is.null(fit$missed_by)) {
    return(NULL)
  }
  recorded <- recorded_chances(fit$param, fit$param$recorded_site)
  ends <- format(round(range(rowMeans(recorded)), 2L))
  zeros <- fit$dims[["observed"]] - sum(fit$margins$row_sum)
  c(
    sprintf(
      "A presence is recorded with a chance of %s on average, from %s to %s by %s.", format(round(mean(recorded), 2L)),
      ends[1L], ends[2L], singular_word(axis_words(fit)[1L])
    ),
    sprintf(
      "Of %s zeros %s are expected to be false: false_absences() ranks them.", format_big(zeros),
      format_big(round(fit$missed))
    ),
    bound_sentences(fit)
  )
}
