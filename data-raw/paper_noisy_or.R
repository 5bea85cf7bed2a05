# The experiments of Singliar & Hauskrecht (2005) for the article "Noisy-OR: the paper, reproduced": pictures of eight
# overlapping shapes, and citations. The paper's shapes are printed only as a figure and its citations were never
# published: the shapes are those of the article "Several causes at once", the citations are of another collection,
# which is not part of the package (MULTICAUSE_DATA says where it is). Results go beside the article.
#   OPENBLAS_NUM_THREADS=1 Rscript data-raw/paper_noisy_or.R [experiment ...]     (default: all; about ten minutes)
library(multicause)
source("data-raw/experiments.R")
target <- "vignettes/articles/paper_noisy_or.rds"
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
quiet <- function(expr) suppressWarnings(suppressMessages(expr))

grid <- expand.grid(row = 1:8, column = 1:8)
shape <- function(test) as.numeric(with(grid, eval(test)))
shapes <- rbind(
  bar = shape(quote(column %in% 2:3)), floor = shape(quote(row %in% 6:7)),
  fall = shape(quote((row - column) %in% 0:1)), rise = shape(quote((row + column) %in% 9:10)),
  window = shape(quote(row <= 4 & column >= 5 & !(row %in% 2:3 & column %in% 6:7))),
  core = shape(quote(row %in% 3:6 & column %in% 3:6)),
  corners = shape(quote(row %in% c(1:2, 7:8) & column %in% c(1:2, 7:8))),
  frame = shape(quote(row %in% c(1, 8) | column %in% c(1, 8)))
)
leak <- ifelse(with(grid, row >= 5 & column >= 7), 0.3, 0.02)

draw_pictures <- function(n, seed) {
  set.seed(seed)
  on <- matrix(stats::rbinom(n * 8, 1, 0.15), n)
  absent <- exp(on %*% log(1 - 0.9 * shapes)) * rep(1 - leak, each = n)
  matrix(stats::rbinom(n * 64, 1, 1 - absent), n)
}

# The column assigned to each row: one to one, with the largest sum.
assigned <- function(r) {
  cost <- matrix(0, max(dim(r)), max(dim(r)))
  cost[seq_len(nrow(r)), seq_len(ncol(r))] <- -r
  .Call(multicause:::mc_c_assign, cost)[seq_len(nrow(r))]
}

# One-to-one: the largest number of shapes with a source of their own that correlates above .9.
n_found <- function(links, least = 0.9) {
  r <- suppressWarnings(stats::cor(t(shapes), t(links)))
  r[is.na(r) | r < 0] <- 0
  match <- assigned(r)
  own <- match <= ncol(r)
  sum(r[cbind(which(own), match[own])] > least)
}

# Share of pixels that come out wrong when a picture is drawn again from its likeliest sources (the paper's error, in
# the mean over draws), and when each pixel is black where its probability is above a half.
errors <- function(fit, x) {
  on <- predict(fit, x, type = "map")
  absent <- exp(on %*% log1p(-pmin(fit$param$links, 1 - 1e-9))) * rep(1 - fit$param$leak, each = nrow(x))
  c(drawn = mean(ifelse(x == 1, absent, 1 - absent)), cut = mean((absent < 0.5) != (x == 1)))
}

# Start values that know nothing of the data but its density: random links.
random_start <- function(x, k) {
  links <- matrix(stats::runif(k * ncol(x), 0.1, 0.5), k)
  list(prior = rep(0.25, k), links = links, leak = rep(0.5 * mean(x), ncol(x)))
}

iterations <- function(max_iter) fit_control(n_start = 1, max_iter = max_iter, tol = 1e-7, progress = FALSE)

# The best of some random starts, by the algorithm's own objective. Both algorithms begin at the same values.
from_random <- function(x, k, inference, starts, seed, max_iter = 300, q_rule = "alternate") {
  set.seed(seed)
  best <- NULL
  for (start in seq_len(starts)) {
    fit <- quiet(noisy_or(
      x, k, inference = inference, estimate = "ml", q_rule = q_rule, start = random_start(x, k),
      control = iterations(max_iter)
    ))
    if (is.null(best) || fit$objective > best$objective) best <- fit
  }
  best
}

# A fit of a data set, judged: a row.
judged <- function(
  arm, x, k, seed, make, judge = errors, links = function(fit) fit$param$links, used = NULL
) {
  set.seed(seed)
  time <- sum(system.time(fit <- make())[1:2])
  error <- judge(fit, x)
  data.frame(
    arm, n = nrow(x), k, seed, found = n_found(links(fit)), drawn = error[[1L]], cut = error[[2L]],
    in_use = if (is.null(used)) sum(sources(fit)$in_use) else used, seconds = time
  )
}
few <- fit_control(progress = FALSE)

# NMF and LDA take the pixels for counts: a pixel is black where its mean is above a half.
by_mean <- function(model, arm, x, k, seed) {
  judged(
    arm, x, k, seed, function() quiet(model(x, k, control = few)),
    function(fit, x) c(NA, mean((fitted(fit) > 0.5) != (x == 1))), function(fit) fit$param$basis, k
  )
}

# One data set, all arms but LDA.
arms <- function(n, k, seed, starts = 5L) {
  x <- draw_pictures(n, seed)
  one <- function(arm, make) judged(arm, x, k, seed, make)
  exact <- if (k <= 12) "exact" else "truncated"
  rbind(
    one("variational, random starts", function() from_random(x, k, "variational", starts, seed, 150)),
    one("exact, the same starts", function() from_random(x, k, exact, starts, seed, 150)),
    one("default", function() quiet(noisy_or(x, k, control = few))), by_mean(nmf, "NMF", x, k, seed)
  )
}

# LDA on the same pictures, and NMF again, for the time.
topics <- function(n, k, seed) {
  x <- draw_pictures(n, seed)
  rbind(by_mean(plsa, "LDA", x, k, seed), by_mean(nmf, "NMF", x, k, seed))
}

each <- function(sizes, seeds, k, fit_all = arms, ...) {
  do.call(rbind, lapply(sizes, function(n) {
    do.call(rbind, lapply(seeds, function(seed) {
      message("n = ", n, ", k = ", k, ", seed ", seed)
      fit_all(n, k, seed, ...)
    }))
  }))
}
sizes_of <- list(
  sizes = function(...) each(c(50, 100, 200, 500), 101:103, 8, ...),
  sizes_1000 = function(...) each(1000, 101:102, 8, ...), sizes_2000 = function(...) each(2000, 101:102, 8, ...),
  sizes_5000 = function(...) each(5000, 101, 8, ...)
)
sources_of <- function(...) {
  do.call(rbind, lapply(c(2, 4, 6, 8, 10, 12, 15), function(k) each(500, 201:202, k, ...)))
}

# Whether the way to take the steps of q matters: shapes found in 200 pictures.
rules <- function() {
  rows <- lapply(101:103, function(seed) {
    x <- draw_pictures(200, seed)
    found <- function(rule) n_found(from_random(x, 8, "variational", 5L, seed, 150, rule)$param$links)
    vapply(c(alternate = "alternate", damped = "damped", paper = "paper"), found, 0)
  })
  do.call(rbind, rows)
}

# Figure 5: what was learned from so many pictures, exact by default and variational from random starts.
models <- function() {
  lapply(c(`50` = 50, `200` = 200, `1000` = 1000), function(n) {
    x <- draw_pictures(n, 11)
    ordered <- function(fit) {
      links <- fit$param$links
      r <- suppressWarnings(stats::cor(t(shapes), t(links)))
      r[is.na(r)] <- 0
      at <- assigned(r)
      round(unname(rbind(links[at, ], fit$param$leak)), 2L)
    }
    set.seed(11)
    list(
      default = ordered(quiet(noisy_or(x, 8, control = fit_control(progress = FALSE)))),
      variational = ordered(from_random(x, 8, "variational", 10L, 11))
    )
  })
}

read_citations <- function() {
  x <- utils::read.csv(file.path(folder, "nips_author_citations", "nips40.csv"), check.names = FALSE)
  as.matrix(x[, -(1:2)])
}

# Five topics of the citations.
topics_cited <- function() {
  x <- read_citations()
  set.seed(1)
  fit <- quiet(plsa(x, 5, control = fit_control(n_start = 30, progress = FALSE)))
  list(share = colSums(rowSums(x) * fit$param$membership) / sum(x), basis = round(unname(fit$param$basis), 3L))
}

citations <- function() {
  x <- read_citations()
  said <- function(fit) {
    used <- sources(fit)
    list(
      loglik = fit$loglik, prior = unname(fit$param$prior), links = round(unname(fit$param$links), 3L),
      leak = round(unname(fit$param$leak), 3L), in_use = unname(used$in_use)
    )
  }
  set.seed(1)
  fit <- noisy_or(x, 5, estimate = "ml", control = fit_control(n_start = 30, progress = FALSE))
  variational <- lapply(1:10, function(seed) from_random(x, 5, "variational", 1L, seed))
  exact <- lapply(1:10, function(seed) from_random(x, 5, "exact", 1L, seed))
  best <- variational[[which.max(vapply(variational, function(fit) fit$objective, 0))]]
  shut <- do.call(rbind, lapply(c(5, 8, 10, 12), function(k) {
    each <- function(inference) {
      vapply(1:5, function(seed) sum(sources(from_random(x, k, inference, 1L, seed))$in_use), 0)
    }
    data.frame(k, variational = mean(each("variational")), exact = mean(each("exact")))
  }))
  of <- function(fits, what) vapply(fits, what, 0)
  list(
    authors = colnames(x), n = nrow(x), exact = said(fit), variational = said(best),
    reached = sum(fit$starts$reached_best), starts = nrow(fit$starts),
    loglik = list(variational = of(variational, function(f) f$loglik), exact = of(exact, function(f) f$loglik)),
    used = list(
      variational = of(variational, function(f) sum(sources(f)$in_use)),
      exact = of(exact, function(f) sum(sources(f)$in_use))
    ),
    shut = shut
  )
}

# Iterations until one gains less than 1e-5 of the objective, from five random starts for each number of pictures.
iterations_needed <- function() {
  do.call(rbind, lapply(c(50, 100, 200, 500, 1000), function(n) {
    x <- draw_pictures(n, 101)
    do.call(rbind, lapply(c("variational", "exact"), function(inference) {
      do.call(rbind, lapply(1:5, function(seed) {
        set.seed(seed)
        fit <- quiet(noisy_or(
          x, 8, inference = inference, estimate = "ml", start = random_start(x, 8),
          control = fit_control(n_start = 1, max_iter = 1000, tol = 1e-5, accelerate = FALSE, progress = FALSE)
        ))
        data.frame(n, inference, seed, iterations = max(fit$trace$iteration), converged = fit$converged)
      }))
    }))
  }))
}

experiments <- list(
  examples = function() {
    list(shapes = shapes, leak = leak, pictures = draw_pictures(16, 1), ones = mean(draw_pictures(5000, 2)))
  },
  models = models, sizes = sizes_of$sizes, sizes_1000 = sizes_of$sizes_1000, sizes_2000 = sizes_of$sizes_2000,
  sizes_5000 = sizes_of$sizes_5000, sources = function() sources_of(starts = 3L),
  topics_sizes = function() do.call(rbind, lapply(sizes_of, function(of) of(topics))),
  topics_sources = function() sources_of(topics), topics_cited = topics_cited,
  rules = rules, citations = citations, iterations_needed = iterations_needed
)

run_experiments(experiments, target)
