# The experiments of Shashanka, Raj & Smaragdis (2007) for the article "Sparse components: the paper, reproduced". Faces
# and digits are not part of the package: MULTICAUSE_DATA says where they are. Results go beside the article.
#   OPENBLAS_NUM_THREADS=1 Rscript data-raw/paper_sparse.R [experiment ...]     (default: all; about ten minutes)
#
# With and without sparsity the same algorithm makes the same number of iterations from the same start: `n_iter` plain
# EM iterations.
library(multicause)
source("data-raw/experiments.R")
target <- "vignettes/articles/paper_sparse.rds"
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
quiet <- function(expr) suppressWarnings(suppressMessages(expr))
n_iter <- 80L
plain <- fit_control(n_start = 1, max_iter = n_iter, tol = 0, accelerate = FALSE, progress = FALSE)

sparse_fit <- function(x, k, sparsity, control = plain) {
  quiet(plsa(x, k, sparsity = c(membership = sparsity), control = control))
}

# Mean entropies, nats, of the mixture weights and of the components.
entropies <- function(fit) {
  h <- function(p) mean(rowSums(ifelse(p > 0, -p * log(p), 0)))
  c(weights = h(fit$param$membership), components = h(fit$param$basis))
}

# ---- points in a triangle (Figures 1 to 3) -------------------------------------------------------------------------

# Four clusters that sit as a quadrilateral, 100 points each.
triangle <- function() {
  set.seed(1)
  centres <- rbind(c(0.55, 0.30, 0.15), c(0.30, 0.55, 0.15), c(0.20, 0.35, 0.45), c(0.45, 0.15, 0.40))
  draws <- lapply(1:4, function(c) {
    each <- matrix(stats::rgamma(300, rep(60 * centres[c, ], each = 100)), 100)
    each / rowSums(each)
  })
  do.call(rbind, draws)
}

# Corners of an equilateral triangle; area of the hull of points, as a share of the triangle.
flat <- function(p) cbind(p[, 2L] + p[, 3L] / 2, p[, 3L] * sqrt(3) / 2)
hull_area <- function(p) {
  at <- flat(p)
  at <- at[grDevices::chull(at), , drop = FALSE]
  after <- c(seq_len(nrow(at))[-1L], 1L)
  abs(sum(at[, 1L] * at[after, 2L] - at[after, 1L] * at[, 2L])) / 2 / (sqrt(3) / 4)
}

simplex <- function() {
  x <- triangle()
  long <- fit_control(n_start = 1, max_iter = 600, tol = 0, accelerate = FALSE, progress = FALSE)
  settings <- rbind(
    data.frame(k = c(2, 3, 7, 10), sparsity = 0), data.frame(k = 7, sparsity = c(0.01, 0.05, 0.1, 0.2, 0.3))
  )
  runs <- lapply(seq_len(nrow(settings)), function(i) {
    lapply(1:20, function(seed) {
      set.seed(seed)
      fit <- sparse_fit(x, settings$k[i], settings$sparsity[i], long)
      list(basis = round(fit$param$basis, 3L), area = hull_area(fit$param$basis), entropy = entropies(fit),
        used = mean(fit$perplexity))
    })
  })
  mean_of <- function(what) vapply(runs, function(run) mean(vapply(run, what, 0)), 0)
  settings$area <- mean_of(function(run) run$area)
  settings$weights <- mean_of(function(run) run$entropy[["weights"]])
  settings$components <- mean_of(function(run) run$entropy[["components"]])
  settings$used <- mean_of(function(run) run$used)
  list(points = round(x, 3L), area = hull_area(x), table = settings, bases = lapply(runs, lapply, `[[`, "basis"))
}

# ---- faces (Figures 4 and 7A) --------------------------------------------------------------------------------------

# What is common to this script and the benchmark is written there.
bench <- local({
  here <- new.env()
  lines <- readLines("bench/sparse_overcomplete.R")
  eval(parse(text = lines[!grepl("^if \\(\"|^library|^parts|^if \\(!length\\(parts", lines)]), here)
  here
})

# The setting that the benchmark leaves out, and pictures.
faces <- function() {
  z <- bench$read_faces()
  set.seed(2)
  fit <- sparse_fit(z$train, 1000, 0.1)
  # The faces are for research alone: components are shown, no face.
  list(
    snr = rbind(
      conditional = bench$snr_by_patches(z, fit, "conditional"), paper = bench$snr_by_patches(z, fit, "paper")
    ),
    used = mean(fit$perplexity), basis = round(unname(fit$param$basis[1:10, ]), 4L)
  )
}

# ---- digits (Figures 5, 6 and 7B) ----------------------------------------------------------------------------------

# As many images of each class as there are, 100 of each drawn at random to test, the others to train, as in the paper.
digits <- local({
  cached <- NULL
  function() {
    if (is.null(cached)) {
      z <- bench$read_digits()
      all <- rbind(z$train, z$test)
      set.seed(4)
      test <- unlist(lapply(0:9, function(class) sample(which(all[, 1L] == class), 100L)))
      cached <<- list(train = all[-test, ], test = all[test, ])
    }
    cached
  }
})
to_rows <- function(images) images / rowSums(images)

digit_bases <- function() {
  z <- digits()
  of <- function(class) to_rows(z$train[z$train[, 1L] == class, -1L])
  one <- function(class, sparsity) {
    set.seed(3)
    fit <- sparse_fit(of(class), 25, sparsity)
    list(
      class = class, sparsity = sparsity, basis = round(unname(fit$param$basis / apply(fit$param$basis, 1L, max)), 2L),
      weights = round(unname(fit$param$membership[1:2, ]), 3L), entropy = entropies(fit), used = mean(fit$perplexity)
    )
  }
  c(lapply(c(0, 0.2), one, class = 2), lapply(c(0, 0.2, 0.5), one, class = 3))
}

# Entropies against sparsity, of the digit 3.
digit_entropy <- function() {
  z <- digits()
  x <- to_rows(z$train[z$train[, 1L] == 3, -1L])
  do.call(rbind, lapply(c(0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5), function(sparsity) {
    set.seed(3)
    fit <- sparse_fit(x, 25, sparsity)
    data.frame(sparsity, t(entropies(fit)), used = mean(fit$perplexity))
  }))
}

# Test images are folded in by EM as well: a Newton iteration costs k^3 for every image.
fold_em <- function(n_iter) fit_control(max_iter = n_iter, algorithm = "em", progress = FALSE)

classes <- function(k, strengths = c(0, 0.05, 0.1, 0.2, 0.3), n_fold = 15L) {
  z <- digits()
  do.call(rbind, lapply(strengths, function(sparsity) {
    found <- bench$fit_digits(z, k, plain, fold_em(n_fold), sparsity = c(membership = sparsity))
    message("digits, k = ", k, ", sparsity ", sparsity, ": ", found[["error"]])
    data.frame(k, sparsity, error = found[["error"]], used = found[["uses"]], tests = nrow(z$test))
  }))
}

# ---- LDA on the same images ----------------------------------------------------------------------------------------

# A prior is in counts: pixels count in eight grey levels, of 0 to 7, or in 256. Faces are folded in by the same prior.
lda <- list(membership = 1.1, basis = 1.1)
lda_faces <- function() {
  z <- bench$read_faces()
  do.call(rbind, lapply(c(7, 255), function(white) {
    counts <- list(
      train = white * z$train, test = white * z$test, occlude = function(n_patch) white * z$occlude(n_patch)
    )
    do.call(rbind, lapply(c(50, 200, 1000), function(k) {
      set.seed(2)
      fit <- quiet(plsa(counts$train, k, prior = lda, control = plain))
      rules <- c("conditional", "paper")
      snr <- lapply(rules, function(rule) bench$snr_by_patches(counts, fit, rule))
      message("faces, LDA, k = ", k, ", ", white)
      data.frame(k, white, rule = rules, p = do.call(rbind, snr), used = mean(fit$perplexity))
    }))
  }))
}

lda_classes <- function() {
  z <- digits()
  settings <- expand.grid(k = c(25, 50, 75, 100, 200), white = c(7, 255))
  found <- mapply(function(k, white) {
    message("digits, LDA, k = ", k, ", ", white)
    bench$fit_digits(z, k, plain, fold_em(15L), prior = lda, to_rows = function(x) x * white / 255)
  }, settings$k, settings$white)
  data.frame(settings, error = found["error", ], used = found["uses", ])
}

experiments <- list(
  simplex = simplex, faces = faces, digit_bases = digit_bases, digit_entropy = digit_entropy,
  trained = function() c(table(digits()$train[, 1L])), classes_25 = function() classes(25),
  classes_50 = function() classes(50), classes_75 = function() classes(75), classes_100 = function() classes(100),
  classes_200 = function() classes(200),
  # Whether 15 iterations are enough to fold in: more of them, without sparsity.
  folded_longer = function() classes(200, 0, 100L), lda_faces = lda_faces, lda_classes = lda_classes
)

run_experiments(experiments, target)
