# The two experiments of Shashanka, Raj and Smaragdis (2007), section 4, on the images they are on:
# occluded faces (CBCL) and handwritten digits (USPS). Prints the tables of sparse_overcomplete.md.
#
#   Rscript bench/sparse_overcomplete.R [faces] [digits]
#
# Data: ../shared/data, or the folder in MULTICAUSE_DATA. One thread; about half an hour.
library(multicause)

data_folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
parts <- commandArgs(trailingOnly = TRUE)
if (!length(parts)) parts <- c("faces", "digits")

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

faces <- function() {
  grey <- read_images("cbcl_faces", "cbcl_train_faces.csv.gz")
  if (is.null(grey)) {
    return(invisible())
  }
  spread <- sqrt(rowMeans((grey - rowMeans(grey))^2))
  z <- pmin(pmax(0.25 + 0.25 * (grey - rowMeans(grey)) / spread, 0), 1)
  set.seed(1)
  at <- sample.int(nrow(z))
  train <- z[at[1:2000], ]
  test <- z[at[2001:2100], ]
  patches <- replicate(10, draw_patches(), simplify = FALSE)
  occlude <- function(n_patch) {
    for (i in seq_len(nrow(test))) test[i, unlist(patches[[(i - 1) %/% 10 + 1]][seq_len(n_patch)])] <- NA
    test
  }
  out <- NULL
  for (k in c(50, 200, 500, 750, 1000)) {
    for (sparsity in c(0, 0.01)) {
      passes <- if (sparsity == 0) 30 else 80
      set.seed(2)
      seconds <- system.time(fit <- quietly(plsa(train, k,
        sparsity = c(membership = sparsity), control = fit_control(n_start = 1, max_pass = passes, progress = FALSE)
      )))[["elapsed"]]
      for (mask in c("conditional", "paper")) {
        snrs <- vapply(1:4, function(n_patch) {
          occluded <- occlude(n_patch)
          folded <- quietly(plsa(occluded, k,
            mask = mask, fixed = "basis", start = list(basis = fit$param$basis),
            control = fit_control(max_pass = 100, progress = FALSE)
          ))
          snr(test, impute(folded))
        }, 0)
        row <- data.frame(k, sparsity, mask, t(snrs), mean(fit$perplexity), seconds)
        names(row) <- c("k", "sparsity", "mask rule", paste(1:4, "patches"), "perplexity", "seconds to train")
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

digits <- function() {
  train <- read_images("usps", "usps_train.csv.gz")
  test <- read_images("usps", "usps_test.csv.gz")
  if (is.null(train) || is.null(test)) {
    return(invisible())
  }
  rows <- function(images) images[, -1L] / rowSums(images[, -1L])
  out <- NULL
  for (k in c(25, 50, 75, 100, 200)) {
    errors <- uses <- NULL
    strengths <- c(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
    for (sparsity in strengths) {
      set.seed(3)
      fits <- lapply(stats::setNames(0:9, 0:9), function(class) {
        quietly(plsa(rows(train[train[, 1L] == class, ]), k,
          sparsity = c(membership = sparsity),
          control = fit_control(n_start = 1, max_pass = if (sparsity == 0) 20 else 60, progress = FALSE)
        ))
      })
      guess <- quietly(classify(fits, rows(test), control = fit_control(max_pass = 15, progress = FALSE)))$class
      errors <- c(errors, 100 * mean(guess != test[, 1L]))
      uses <- c(uses, mean(vapply(fits, function(fit) mean(fit$perplexity), 0)))
    }
    row <- data.frame(format(k), c("error, %", "perplexity"), rbind(errors, uses))
    names(row) <- c("k", "", paste("sparsity", strengths))
    print(row)
    out <- rbind(out, row)
  }
  cat("\n## Digits: test error and components used\n\n")
  markdown(out, 1)
}

if ("faces" %in% parts) faces()
if ("digits" %in% parts) digits()
