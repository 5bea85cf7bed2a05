# The two experiments of Shashanka, Raj and Smaragdis (2007), section 4, on their images:
# occluded faces (CBCL) and handwritten digits (USPS). Prints the tables of sparse_overcomplete.md.
#
#   Rscript bench/sparse_overcomplete.R [faces] [uphill]
#
# The same algorithm makes the same number of iterations from the same start with and without sparsity: `n_iter` plain
# EM iterations (accelerate = FALSE). The default would compare accelerated EM to coordinate descent, which plsa() uses
# without a prior and which increases the objective much more in as many iterations.
#
# Data: ../shared/data, or the folder in MULTICAUSE_DATA. One thread.
library(multicause)

n_iter <- 80L
plain <- fit_control(n_start = 1, max_iter = n_iter, tol = 0, accelerate = FALSE, progress = FALSE)

data_folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
parts <- commandArgs(trailingOnly = TRUE)
if (!length(parts)) parts <- c("faces", "uphill")

read_images <- function(...) {
  path <- file.path(data_folder, ...)
  if (!file.exists(path)) {
    message(path, " is not at hand: skipped.")
    return(NULL)
  }
  as.matrix(utils::read.csv(gzfile(path)))
}

markdown <- function(table, digits) {
  cells <- vapply(table, function(column) {
    if (is.numeric(column)) formatC(column, digits = digits, format = "f") else as.character(column)
  }, character(nrow(table)))
  cells <- matrix(cells, nrow(table))
  writeLines(c(
    paste("|", paste(names(table), collapse = " | "), "|"), paste0("|", strrep("---|", ncol(table))),
    apply(cells, 1L, function(row) paste("|", paste(row, collapse = " | "), "|"))
  ))
}

quietly <- function(expr) suppressMessages(suppressWarnings(expr))

# ---- faces ---------------------------------------------------------------------------------------------------------

side <- 19L

# Four 6 x 6 patches that do not overlap, as pixel numbers row by row.
draw_patches <- function() {
  taken <- matrix(FALSE, side, side)
  patches <- list()
  while (length(patches) < 4L) {
    corner <- sample.int(side - 5L, 2L, TRUE)
    at <- as.matrix(expand.grid(corner[1L] + 0:5, corner[2L] + 0:5))
    if (any(taken[at])) next
    taken[at] <- TRUE
    patches <- c(patches, list((at[, 1L] - 1L) * side + at[, 2L]))
  }
  patches
}

snr <- function(original, reconstruction) {
  mean(10 * log10(rowSums(original^2) / rowSums((original - reconstruction)^2)))
}

# Training faces, test faces, and the latter with the first patches of ten places made unknown.
read_faces <- function() {
  grey <- read_images("cbcl_faces", "cbcl_train_faces.csv.gz")
  if (is.null(grey)) {
    return(NULL)
  }
  spread <- sqrt(rowMeans((grey - rowMeans(grey))^2))
  z <- pmin(pmax(0.25 + 0.25 * (grey - rowMeans(grey)) / spread, 0), 1)
  set.seed(1)
  at <- sample.int(nrow(z))
  test <- z[at[2001:2100], ]
  patches <- replicate(10, draw_patches(), simplify = FALSE)
  occlude <- function(n_patch) {
    for (i in seq_len(nrow(test))) test[i, unlist(patches[[(i - 1) %/% 10 + 1]][seq_len(n_patch)])] <- NA
    test
  }
  list(train = z[at[1:2000], ], test = test, occlude = occlude)
}

snr_by_patches <- function(z, fit, missing = "conditional") {
  vapply(1:4, function(n_patch) {
    folded <- quietly(plsa(z$occlude(n_patch), nrow(fit$param$basis), prior = fit$prior,
      estimate = if (is.null(fit$prior)) "ml" else "map", missing = missing, fixed = "basis",
      start = list(basis = fit$param$basis),
      control = fit_control(max_iter = 100, progress = FALSE)
    ))
    snr(z$test, impute(folded))
  }, 0)
}

faces <- function() {
  z <- read_faces()
  if (is.null(z)) {
    return(invisible())
  }
  out <- NULL
  for (k in c(50, 200, 500, 750, 1000)) {
    for (sparsity in c(0, 0.01, 0.1)) {
      set.seed(2)
      fit <- quietly(plsa(z$train, k, sparsity = c(membership = sparsity), control = plain))
      for (missing in c("conditional", "paper")) {
        row <- data.frame(k, sparsity, missing, t(snr_by_patches(z, fit, missing)), mean(fit$perplexity))
        names(row) <- c("k", "sparsity", "mask rule", paste(1:4, "patches"), "perplexity")
        row$sparsity <- format(sparsity)
        row$k <- format(k)
        print(row)
        out <- rbind(out, row)
      }
    }
  }
  cat("\n## Occluded faces: mean SNR in dB\n\n")
  markdown(out, 1)
}

# ---- digits --------------------------------------------------------------------------------------------------------

read_digits <- function() {
  train <- read_images("usps", "usps_train.csv.gz")
  test <- read_images("usps", "usps_test.csv.gz")
  if (!is.null(train) && !is.null(test)) list(train = train, test = test)
}

# Ten fits, one per digit; the percentage of test images that another digit's fit explains better.
fit_digits <- function(
  z, k, control, fold = fit_control(max_iter = 15, progress = FALSE), ..., to_rows = function(x) x / rowSums(x)
) {
  rows <- function(images) to_rows(images[, -1L])
  set.seed(3)
  fits <- lapply(stats::setNames(0:9, 0:9), function(class) {
    quietly(plsa(rows(z$train[z$train[, 1L] == class, ]), k, ..., control = control))
  })
  loglik <- quietly(vapply(fits, function(fit) {
    # A pixel absent from all images of a class must remain possible.
    fit$param$basis <- (1 - 1e-6) * fit$param$basis + 1e-6 / ncol(fit$param$basis)
    attr(predict(fit, rows(z$test), type = "membership", control = fold), "loglik")
  }, numeric(nrow(z$test))))
  guess <- max.col(loglik, "first") - 1
  c(error = 100 * mean(guess != z$test[, 1L]), uses = mean(vapply(fits, function(fit) mean(fit$perplexity), 0)))
}

# ---- how far uphill ------------------------------------------------------------------------------------------------

# Accelerated iterations increase the objective more than as many plain ones. Without sparsity they are EM iterations
# only if the strength is tiny instead of 0.
uphill <- function() {
  z <- list(faces = read_faces(), digits = read_digits())
  if (is.null(z$faces) || is.null(z$digits)) {
    return(invisible())
  }
  faster <- fit_control(n_start = 1, max_iter = n_iter, progress = FALSE)
  out <- NULL
  for (sparsity in c(0, 0.01, 0.1)) {
    strength <- if (sparsity == 0) 1e-12 else sparsity
    set.seed(2)
    fit <- quietly(plsa(z$faces$train, 500, sparsity = c(membership = strength), control = faster))
    error <- fit_digits(z$digits, 25, faster, sparsity = c(membership = strength))[["error"]]
    row <- data.frame(format(sparsity), t(snr_by_patches(z$faces, fit)), error)
    names(row) <- c("sparsity", paste(1:4, "patches"), "digits, error %")
    print(row)
    out <- rbind(out, row)
  }
  cat("\n## Accelerated iterations: faces, dB, at k = 500 by the conditional rule; digits at k = 25\n\n")
  markdown(out, 1)
}

if ("faces" %in% parts) faces()
if ("uphill" %in% parts) uphill()
