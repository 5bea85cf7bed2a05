# The experiments of Smaragdis, Shashanka, Raj & Mysore (2009) for the article "Components alike or different: the
# paper, reproduced". The recording of drums was never published, so sounds are made here. Results go beside the
# article.
#   OPENBLAS_NUM_THREADS=1 Rscript data-raw/paper_plca.R [experiment ...]     (default: all; about five minutes)
#
# All arms make the same number of plain EM iterations from the same start.
library(multicause)
source("data-raw/experiments.R")
target <- "vignettes/articles/paper_plca.rds"

# ---- drums ---------------------------------------------------------------------------------------------------------

# Three seconds of a kick, a snare and a hi-hat, and the magnitudes of their spectrum in short frames.
drums <- function(rate = 8000, seconds = 3) {
  t <- seq(0, 0.5, by = 1 / rate)
  pitch <- 120 - 70 * pmin(t / 0.15, 1)
  sounds <- list(
    kick = sin(2 * pi * cumsum(pitch) / rate) * exp(-t / 0.15),
    snare = (0.6 * sin(2 * pi * 180 * t) + 0.5 * stats::rnorm(length(t))) * exp(-t / 0.1),
    hat = 0.4 * c(0, 0, diff(stats::rnorm(length(t)), differences = 2)) * exp(-t / 0.03)
  )
  hits <- list(kick = c(0, 1, 1.25, 2), snare = c(0.5, 1.5, 2.5), hat = seq(0, 2.75, 0.25))
  out <- numeric(rate * seconds + length(t))
  for (name in names(hits)) {
    for (at in hits[[name]]) {
      i <- round(at * rate) + seq_along(t)
      out[i] <- out[i] + sounds[[name]]
    }
  }
  out[seq_len(rate * seconds)]
}

spectrogram <- function(sound, frame = 512, hop = 128) {
  at <- seq(1, length(sound) - frame + 1, by = hop)
  window <- 0.5 - 0.5 * cos(2 * pi * (seq_len(frame) - 1) / frame)
  frames <- vapply(at, function(i) sound[i + seq_len(frame) - 1] * window, numeric(frame))
  v <- abs(stats::mvfft(frames))[seq_len(frame / 2 + 1), ]
  1000 * v / sum(v)
}

groups <- rep(1:6, each = 2)
same <- outer(groups, groups, "==") & !diag(12)
random_start <- function(v) {
  rows <- function(m) {
    s <- matrix(stats::runif(12 * m, 0.1, 1.1), 12)
    s / rowSums(s)
  }
  list(weights = rep(1 / 12, 12), marginals = list(rows(nrow(v)), rows(ncol(v))))
}

# A fit of 12 components with a prior on their marginals along time.
fit_drums <- function(v, start, between = 0, within = 0, grouped = FALSE, method = "paper", anneal = NULL,
                      dims = 2) {
  prior <- if (between != 0 || within != 0) {
    cross_entropy(
      groups = if (grouped) groups, strength = c(between = between, within = within), dims = dims, method = method,
      anneal = anneal
    )
  }
  control <- fit_control(n_start = 1, max_iter = 120, tol = 0, accelerate = FALSE, progress = FALSE)
  suppressWarnings(suppressMessages(plca(v, 12, prior = prior, start = start, control = control)))
}

measures <- function(fit) {
  d <- divergences(fit, dims = 2)[[1L]]
  c(kl = fit$kl, between = mean(d[!same & !diag(12)]), within = mean(d[same]), loglik = fit$loglik)
}

# Every second frequency and time of the lower part, as amplitudes' roots, for a picture.
coarse <- function(v) round(unname(sqrt(v[seq(1, 90, 2), seq(1, ncol(v), 2)])), 2L)

shown_drums <- function(fit) {
  time <- fit$param$marginals[[2L]]
  list(
    rebuilt = coarse(fitted(fit)),
    time = round(unname(time / apply(time, 1L, max)), 2L), apart = round(unname(divergences(fit, dims = 2)[[1L]]), 2L),
    measures = measures(fit)
  )
}

drum_pictures <- function() {
  set.seed(1)
  v <- spectrogram(drums())
  set.seed(2)
  start <- random_start(v)
  weights <- c(5, 0.2, 0, -0.2, -5)
  settings <- list(c(0, 0), c(0, 5), c(1, 0), c(1, 5))
  list(
    spectrogram = coarse(v), weights = weights, settings = settings,
    along = lapply(weights, function(w) shown_drums(fit_drums(v, start, w))),
    grouped = lapply(settings, function(s) shown_drums(fit_drums(v, start, s[1L], s[2L], TRUE)))
  )
}

# The prior kept, or faded over the first 100 of 120 iterations, or absent: the same ten starts on each of three other
# recordings. All with as many iterations.
annealing <- function() {
  rows <- lapply(11:13, function(seed) {
    set.seed(seed)
    v <- spectrogram(drums())
    lapply(1:10, function(i) {
      start <- random_start(v)
      arms <- list(none = fit_drums(v, start))
      for (method in c("paper", "js")) {
        arms[[paste(method, "kept")]] <- fit_drums(v, start, 2, 10, TRUE, method)
        arms[[paste(method, "annealed")]] <- fit_drums(v, start, 2, 10, TRUE, method, 100)
      }
      measured <- t(vapply(arms, measures, numeric(4)))
      data.frame(recording = seed, start = i, arm = names(arms), measured, row.names = NULL)
    })
  })
  do.call(rbind, unlist(rows, FALSE))
}

# How concentrated the marginals along time are: the effective number of frames, the exponential of the entropy.
frames_of <- function(fit) {
  time <- fit$param$marginals[[2L]]
  mean(exp(rowSums(ifelse(time > 0, -time * log(time), 0))))
}

# The weights of Figure 3.2 and the settings of Figure 4.3 from ten starts each, and others beside them.
starts <- function() {
  set.seed(1)
  v <- spectrogram(drums())
  arms <- rbind(
    data.frame(of = "all pairs", apart = c(5, 1, 0.2, 0, -0.2, -1, -5), alike = 0),
    data.frame(of = "groups", apart = c(0, 0, 1, 0.2, 1, 5), alike = c(0, 5, 0, 1, 5, 25))
  )
  do.call(rbind, lapply(1:10, function(i) {
    set.seed(20 + i)
    start <- random_start(v)
    measured <- t(vapply(seq_len(nrow(arms)), function(j) {
      fit <- fit_drums(v, start, arms$apart[j], arms$alike[j], arms$of[j] == "groups")
      d <- divergences(fit, dims = 2)[[1L]]
      c(measures(fit), all = mean(d[row(d) != col(d)]), frames = frames_of(fit))
    }, numeric(6)))
    data.frame(start = i, arms, measured)
  }))
}

# The other updates of the package, and the prior on frequencies, on time and on both: ten starts each.
variants <- function() {
  set.seed(1)
  v <- spectrogram(drums())
  arms <- data.frame(
    method = c("none", "paper", "mm", "js", "js", "js", "js"),
    dims = c(rep("time", 4), "frequency", "time", "both"),
    apart = c(0, 1, 1, 1, 5, 5, 5), alike = c(0, 5, 5, 5, 25, 25, 25)
  )
  where <- list(frequency = 1, time = 2, both = 1:2)
  do.call(rbind, lapply(1:10, function(i) {
    set.seed(20 + i)
    start <- random_start(v)
    measured <- t(vapply(seq_len(nrow(arms)), function(j) {
      fit <- fit_drums(v, start, arms$apart[j], arms$alike[j], TRUE, arms$method[j], dims = where[[arms$dims[j]]])
      d <- divergences(fit, dims = 1)[[1L]]
      falls <- sum(diff(fit$trace$objective) < -1e-9 * abs(fit$loglik))
      c(measures(fit), between_frequency = mean(d[!same & !diag(12)]), within_frequency = mean(d[same]), falls = falls)
    }, numeric(7)))
    data.frame(start = i, arms, measured)
  }))
}

experiments <- list(drum_pictures = drum_pictures, annealing = annealing, starts = starts, variants = variants)

run_experiments(experiments, target)
