# Weights of the learners of which_zeros(): a logistic regression of "this zero was a presence held out" on their
# log-odds, and on the number of presences of the taxon.

# With a share r of the presences held out, and a share f of the other zeros kept for the regression, the log-odds that
# a zero was held out are those of a record, logit p, plus log(r) - log(f): Bayes' rule. So with that offset the
# regression estimates p itself.
#   copies  list of learn_task() results
#   like    a stack that supplies the ridge, and starting weights; NULL: the ridge is chosen
# Returns list(weights, intercept, covariance, ridge): logit p = intercept + sum_l weights_l odds_l.
fit_stack <- function(copies, like = NULL, n_threads = 1L) {
  parts <- lapply(copies, stack_rows)
  ridge <- if (is.null(like)) choose_ridge(parts, n_threads) else like$ridge
  stack_weights(stack_bind(parts, n_threads), ridge, like)
}

zeros_per_presence <- 20L # zeros kept for the regression, for each presence deleted

# Returns the held-out cells and every so many-th of the other zeros, evenly spaced, without random numbers.
stack_rows <- function(copy) {
  deleted <- which(copy$deleted)
  others <- which(!copy$deleted)
  wanted <- min(length(others), max(zeros_per_presence * length(deleted), 2000L))
  some <- others[unique(round(seq(1, length(others), length.out = wanted)))]
  kept <- c(deleted, some)
  fraction <- copy$fraction * length(some) / length(others)
  list(
    z = copy$odds[kept, , drop = FALSE], y = as.double(copy$deleted[kept]),
    offset = rep(log(copy$rate) - log(fraction), length(kept))
  )
}

# Binds rows of several copies: list(z, y, offset, even = equal_spread(z), n_threads for its fits).
stack_bind <- function(parts, n_threads = 1L) {
  all <- function(name) unlist(lapply(parts, `[[`, name))
  z <- do.call(rbind, lapply(parts, `[[`, "z"))
  list(z = z, even = equal_spread(z, n_threads), y = all("y"), offset = all("offset"), n_threads = n_threads)
}

ridges <- c(1, 10, 100)
most_parts <- 5L # groups of copies the ridge is chosen over

# Chooses the ridge with the best prediction of each copy from the others.
choose_ridge <- function(parts, n_threads = 1L) {
  if (length(parts) < 2L) {
    return(ridges[2L])
  }
  groups <- split(parts, rep_len(seq_len(min(length(parts), most_parts)), length(parts)))
  parts <- lapply(unname(groups), stack_bind)
  loss <- numeric(length(ridges))
  fit <- NULL
  for (out in seq_along(parts)) {
    others <- stack_bind(parts[-out], n_threads)
    for (i in seq_along(ridges)) {
      fit <- stack_weights(others, ridges[i], fit)
      eta <- stack_odds(fit, parts[[out]]$z) + parts[[out]]$offset
      loss[i] <- loss[i] + sum(log1p(exp(-abs(eta))) + pmax(eta, 0) - parts[[out]]$y * eta)
    }
  }
  ridges[which.min(loss)]
}

# Marks the columns of learners; the others are taxon_terms().
of_learner <- function(z) !colnames(z) %in% c("presences", "presences_squared")

# Estimates nonnegative weights of learners: those with negative weights are dropped, one after another. `start`: a
# similar stack, or NULL.
stack_weights <- function(data, ridge, start = NULL) {
  learner <- of_learner(data$z)
  used <- rep(TRUE, ncol(data$z))
  repeat {
    from <- if (!is.null(start$weights)) c(start$intercept, start$weights[used])
    fit <- ridge_logistic(data, used, ridge, from)
    weight <- ifelse(learner[used], fit$coefficients[-1L], Inf)
    if (min(weight) >= 0 || sum(used & learner) == 1L) break
    used[which(used)[which.min(weight)]] <- FALSE
  }
  weights <- stats::setNames(rep(0, ncol(data$z)), colnames(data$z))
  weights[used] <- fit$coefficients[-1L]
  weights[learner] <- pmax(weights[learner], 0)
  at <- c(TRUE, used)
  covariance <- matrix(0, length(at), length(at))
  covariance[at, at] <- fit$covariance
  list(weights = weights, intercept = fit$coefficients[[1L]], covariance = covariance, ridge = ridge)
}

stack_odds <- function(fit, z) fit$intercept + as.vector(z %*% fit$weights)

# Computes stack_odds() for each cell of the whole table, n x m; `error`: their standard errors, as in odds_se().
stack_cells <- function(odds, stack, n_threads, error = FALSE) {
  weights <- c(stack$intercept, unname(stack$weights))
  .Call(mc_c_stack_cells, odds, weights, if (error) stack$covariance, as.double(n_threads))
}

# Fits a logistic regression (src/num/logistic_regression.c) on the columns `used` of stack_bind(). Learners' weights
# are shrunk towards each other: the penalty is ridge / 2 times the sum of squared differences from their mean. Other
# weights are shrunk towards 0. All are shrunk as by `blind_presences` further held-out presences, spread evenly over
# all cells. A constant column carries no information: it has no weight, and no error.
ridge_logistic <- function(data, used, ridge, start = NULL) {
  centre <- data$even$centre[used]
  spread <- data$even$spread[used]
  learner <- of_learner(data$z)[used]
  l <- length(learner)
  shared <- outer(learner, learner) * ridge
  penalty <- matrix(0, l + 1L, l + 1L)
  penalty[-1L, -1L] <- diag(diag(shared), l) - shared / max(1, sum(learner)) + diag(ifelse(learner, 1e-3, 1), l)
  if (!is.null(start)) {
    start <- c(start[1L] + sum(centre * start[-1L]), ifelse(is.finite(spread), start[-1L] * spread, 0))
  }
  design <- if (l < ncol(data$z)) data$even$design[, c(TRUE, used)] else data$even$design
  more <- blind_presences / max(1, sum(data$y))
  found <- logistic_regression(
    design, (data$y + more * mean(data$y)) / (1 + more), data$offset, penalty,
    weight = 1 + more, start = start, n_threads = data$n_threads
  )
  # Back on the original columns: intercept b0 - sum b_l centre_l / spread_l, weights b_l / spread_l.
  back <- rbind(c(1, -centre / spread), cbind(0, diag(1 / spread, l)))
  list(coefficients = as.vector(back %*% found$beta), covariance = back %*% solve(found$hessian) %*% t(back))
}

# Returns list(design, centre, spread): a column of ones, and those of z with mean 0 and standard deviation 1; a column
# without spread, whose spread is Inf, is 0.
equal_spread <- function(z, n_threads = 1L) .Call(mc_c_equal_spread, z, as.double(n_threads))

# Tabulates the weight of each learner's log-odds, and its share of the learners' contribution to the result's spread.
stack_table <- function(stack, copies) {
  learners <- colnames(copies[[1L]]$odds)[of_learner(copies[[1L]]$odds)]
  weight <- stack$weights[learners]
  part <- weight * vapply(learners, function(name) {
    stats::sd(unlist(lapply(copies, function(copy) copy$odds[, name])))
  }, 0)
  out <- data.frame(
    learner = unname(learner_names[learners]), weight = unname(weight), share = unname(part / max(sum(part), 1e-300)),
    row.names = learners
  )
  out[order(-out$share), ]
}

# Evaluates the ranking of held-out presences: each copy by weights from the others, and by each learner alone.
# list(table, gain = gain_over() by the AUC over the table and within sites, curve = the input of plot() of recovery(),
# and the ROC curves of the simple `rules`). `scored`: the sites that count; a copy whose held-out presences are all
# elsewhere is excluded from the means.
judge_stack <- function(copies, stack, shape, scored = rep(TRUE, shape[1L]), n_threads = 1L) {
  here <- lapply(copies, copy_at, scored)
  each <- lapply(seq_along(copies), function(i) {
    copy <- here[[i]]
    fit <- fit_stack(copies[-i], stack, n_threads)
    learners <- copy$odds[, of_learner(copy$odds), drop = FALSE]
    judge_copy(copy, cbind(stack = stack_odds(fit, copy$odds), learners), shape, n_threads)
  })
  measure <- function(name) vapply(each, function(one) one[[name]], each[[1L]][[name]])
  mean_known <- function(values) replace(rowMeans(values, na.rm = TRUE), rowSums(!is.na(values)) == 0, NA)
  copies <- here
  auc <- measure("auc")
  within <- measure("within")
  ap <- measure("ap")
  simple <- intersect(simple_learners, rownames(auc))
  hit <- unlist(lapply(copies, function(copy) copy$deleted))
  rules <- do.call(rbind, lapply(copies, function(copy) copy$odds[, simple, drop = FALSE]))
  rules <- lapply(descend_scores(rules, hit, n_threads), function(steps) thin_curve(roc_curve(steps), 200L))
  list(
    table = data.frame(
      learner = c("this result", unname(learner_names[rownames(auc)[-1L]])), auc = mean_known(auc),
      auc_se = error_of_mean(measure("auc_se")), auc_within = mean_known(within),
      auc_within_se = error_of_mean(measure("within_se")), ap = mean_known(ap), ap_se = apply(ap, 1L, mean_se),
      row.names = rownames(auc)
    ),
    gain = rbind(table = gain_over(auc, simple), within = gain_over(within, simple)),
    curve = c(
      judged_curve(
        unlist(lapply(each, `[[`, "hidden")), hit, unlist(lapply(each, `[[`, "probability")),
        mean(vapply(copies, function(copy) copy$fraction, 0))
      ),
      rules = list(stats::setNames(rules, simple))
    )
  )
}

# Restricts a copy to some sites.
copy_at <- function(copy, scored) {
  if (all(scored)) {
    return(copy)
  }
  kept <- scored[(copy$at - 1L) %% length(scored) + 1L]
  copy$odds <- copy$odds[kept, , drop = FALSE]
  copy[c("deleted", "at")] <- list(copy$deleted[kept], copy$at[kept])
  copy
}

# Computes the gain over the best simple rule by this measure (learners x copies), with its standard error over copies.
gain_over <- function(measure, simple) {
  best <- simple[which.max(rowMeans(measure[simple, , drop = FALSE], na.rm = TRUE))]
  if (!length(best)) {
    return(data.frame(rule = NA_character_, difference = NA_real_, se = NA_real_, copies = 0L))
  }
  gain <- measure["stack", ] - measure[best, ]
  data.frame(rule = best, difference = mean(gain, na.rm = TRUE), se = mean_se(gain), copies = sum(!is.na(gain)))
}

mean_se <- function(values) {
  values <- values[!is.na(values)]
  stats::sd(values) / sqrt(length(values))
}

# Computes the error of a mean over copies, learners x copies, which hold out different presences.
error_of_mean <- function(se) {
  known <- rowSums(!is.na(se))
  sqrt(rowSums(se^2, na.rm = TRUE)) / replace(known, known == 0, NA)
}

# Computes AUC over the table and within sites, and average precision (NA for sampled zeros), per column of `odds`.
judge_copy <- function(copy, odds, shape, n_threads = 1L) {
  hit <- copy$deleted
  n <- shape[1L]
  row <- (copy$at - 1L) %% n + 1L
  told <- lapply(ranking(odds, hit, row, n, n_threads), `colnames<-`, colnames(odds))
  within <- told$auc[seq_len(n), , drop = FALSE]
  list(
    auc = told$auc[n + 1L, ], auc_se = told$se[n + 1L, ],
    within = colMeans(within, na.rm = TRUE), within_se = apply(within, 2L, mean_se),
    ap = if (copy$fraction < 1) NA * told$ap[n + 1L, ] else told$ap[n + 1L, ],
    # Probability of a record, and that a kept zero of the copy is one of the held-out presences.
    probability = stats::plogis(odds[, "stack"]),
    hidden = stats::plogis(odds[, "stack"] + log(copy$rate) - log(copy$fraction))
  )
}

# Returns the curves of recovery() for the held-out presences of all copies, of whose other zeros a `fraction` was kept.
judged_curve <- function(score, hit, probability, fraction = 1) {
  line <- calibration_line(score, hit)
  all <- ranking(score, hit)
  steps <- descend_scores(score, hit)
  list(
    summary = list(
      auc = all$auc[2L], ap = if (fraction < 1) NA_real_ else all$ap[2L], slope = line[["slope"]],
      slope_se = line[["slope_se"]], changed = sum(hit), candidates = length(hit)
    ),
    roc = roc_curve(steps), pr = pr_curve(steps, 1 / fraction),
    calibration = calibration_curve(score, hit, probability)
  )
}
