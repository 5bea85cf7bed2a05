# Three measures of how well finds are foreseen (kappa), for bench/how_many.R.

log_odds <- function(p, least = 1e-4) stats::qlogis(pmin(pmax(p, least), 1 - least))

# Weights of sites by what which_zeros() is told of them. Where an age is known, places count with it.
near_kernels <- function(near, n) {
  out <- list()
  along <- near$environment
  if (!is.null(near$place) && is.null(near$age)) along <- cbind(as.matrix(along), as.matrix(near$place))
  if (length(along)) {
    along <- scale(as.matrix(along))
    along[is.na(along)] <- 0
    far <- as.matrix(stats::dist(along))
    width <- stats::median(apply(far + diag(Inf, n), 1L, function(row) sort(row)[min(10L, n - 1L)]))
    out$along <- exp(-far / max(width, mean(far) / 10))
  }
  if (!is.null(near$age)) {
    age <- ifelse(is.na(near$age), mean(near$age, na.rm = TRUE), near$age)
    place <- if (is.null(near$place)) matrix(0, n, 1L) else as.matrix(near$place)
    place[is.na(place)] <- 0
    out$age <- exp(-abs(outer(age, age, "-")) - as.matrix(stats::dist(place)) / 5)
  }
  out
}

# Means of the other sites' entries of one taxon, weighed by the likeness of their lists without that taxon.
likeness_means <- function(x, kernels, rate) {
  n <- nrow(x)
  shared <- tcrossprod(x)
  size <- rowSums(x)
  kinds <- list(list(2, NULL), list(6, NULL))
  for (one in kernels) kinds <- c(kinds, list(list(0, one), list(2, one), list(4, sqrt(one))))
  out <- rep(list(0 * x), length(kinds))
  for (j in seq_len(ncol(x))) {
    alike <- log(shared - tcrossprod(x[, j]) + 0.25) - log(tcrossprod(size - x[, j] + 1)) / 2
    for (kind in seq_along(kinds)) {
      weight <- exp(kinds[[kind]][[1L]] * alike)
      if (!is.null(kinds[[kind]][[2L]])) weight <- weight * kinds[[kind]][[2L]]
      diag(weight) <- 0
      weight <- weight / apply(weight, 1L, max)
      out[[kind]][, j] <- (weight %*% x[, j] + 0.5 * rate[, j]) / (rowSums(weight) + 0.5)
    }
  }
  out
}

# Companions of a taxon (Beals), without the cell itself.
companion_means <- function(x, rate) {
  joint <- crossprod(x)
  finds <- colSums(x)
  out <- 0 * x
  for (j in seq_len(ncol(x))) {
    others <- x
    others[, j] <- 0
    known <- rep(pmax(finds - 1, 0.5), each = nrow(x)) + 1
    share <- (rep(joint[, j], each = nrow(x)) - x[, j] * others + rate[, j]) / known
    out[, j] <- (rowSums(others * share) + rate[, j]) / (rowSums(others) + 1)
  }
  out
}

# The chance of a record of every cell, finds and zeros alike, never from the cell itself: a logistic regression of x on
# these means and on how many other finds taxon and site have.
left_out_chances <- function(x, near = list(), site_term = TRUE) {
  n <- nrow(x)
  rate <- (rep(colSums(x), each = n) - x + 0.2) / (n - 0.6)
  means <- c(likeness_means(x, near_kernels(near, n), rate), list(companion_means(x, rate)))
  z <- vapply(means, function(p) log_odds(as.vector(p)), numeric(length(x)))
  taxon <- as.vector(log(rep(colSums(x), each = n) - x + 0.5))
  site <- as.vector(log(rowSums(x) - x + 0.5))
  last <- ncol(z)
  design <- cbind(1, z, taxon, taxon^2, if (site_term) cbind(site, site^2), z[, last - 1L]^2, z[, last]^2)
  beta <- suppressWarnings(stats::glm.fit(design, as.vector(x), family = stats::binomial())$coefficients)
  matrix(stats::plogis(design %*% ifelse(is.na(beta), 0, beta)), n)
}

# What which_zeros() has before it makes an answer: log-odds of all zeros, and of the zeros and hidden finds of copies.
learnt_odds <- function(x, near, quick = TRUE, seed = 1L) {
  call <- function(name, ...) utils::getFromNamespace(name, "multicause")(...)
  usual <- list(age = NULL, place = NULL, environment = NULL, distance = NULL)
  data <- suppressMessages(call("check_data", x, "binary"))
  found <- call("wz_near", utils::modifyList(usual, near, keep.null = TRUE), data$x)
  copies <- call("usual_copies", quick, sum(x))
  plan <- list(quick = quick, copies = copies, seed = seed, how = call("as_usual", quick), seconds = Inf,
    progress = FALSE)
  learnt <- suppressWarnings(suppressMessages(call("wz_learn", data$x, found, list(), plan)))
  stack <- call("fit_stack", learnt$copies)
  whole <- stack$intercept
  for (name in names(stack$weights)) whole <- whole + stack$weights[[name]] * learnt$full$odds[[name]]
  copy <- lapply(learnt$copies, function(one) {
    data.frame(eta = call("stack_odds", stack, one$odds), hidden = one$deleted, weight = 1 / one$fraction / copies)
  })
  list(whole = matrix(whole, nrow(x)), copies = do.call(rbind, copy))
}

shift_to <- function(sum_at, total) stats::uniroot(function(t) sum_at(t) - total, c(-30, 30), extendInt = "yes")$root

# kappa by calibration over all cells: hidden finds stand for all F finds, and the chances of all cells sum to F. Zeros
# of the copies (`within`), or of the whole table.
kappa_hidden <- function(learnt, zero, finds, within = TRUE) {
  hidden <- learnt$copies$eta[learnt$copies$hidden]
  zeros <- if (within) learnt$copies[!learnt$copies$hidden, ] else data.frame(eta = learnt$whole[zero], weight = 1)
  each <- finds / length(hidden)
  at_zeros <- function(t) sum(zeros$weight * stats::plogis(zeros$eta + t))
  t <- shift_to(function(t) at_zeros(t) + each * sum(stats::plogis(hidden + t)), finds)
  1 - at_zeros(t) / finds
}

# The chances at zeros, by calibration with intercept and slope over all cells: for `missed`.
calibrated_zeros <- function(learnt, zero, finds) {
  hidden <- learnt$copies$eta[learnt$copies$hidden]
  at <- learnt$whole[zero]
  weight <- rep(c(1, finds / length(hidden)), c(length(at), length(hidden)))
  y <- rep(0:1, c(length(at), length(hidden)))
  beta <- suppressWarnings(stats::glm.fit(cbind(1, c(at, hidden)), y, weight, family = stats::quasibinomial()))
  beta <- beta$coefficients
  beta[[1L]] + beta[[2L]] * at
}
