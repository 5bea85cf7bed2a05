# Tables in shards: seconds and memory of making and fitting them, against a fit in memory; results in shards.md.
#   Rscript bench/shards.R [rows of the largest table, millions = 0.2] [passes = 50] [full]
# Four sizes, or with `full` the largest alone as users call it. Each fit is a process of its own, whose peak memory is
# read from /proc. Records are made as Parquet files of a million each: package nanoparquet is needed.

arguments <- commandArgs(TRUE)
full <- "full" %in% arguments
numbers <- as.numeric(setdiff(arguments, "full"))
largest <- c(numbers, 0.2)[1]
passes <- if (length(numbers) > 1) numbers[2] else 50
m <- 2000
k <- 10

# Ten faunas of 2000 taxa, few of them common: 0.2 % of the cells are finds, each list has 4 on average. Lists are
# scattered over the files.
write_records <- function(n, folder) {
  dir.create(folder)
  set.seed(1)
  weight <- seq_len(m)^-0.8
  fauna <- matrix(weight * stats::rgamma(10 * m, 0.3), 10, byrow = TRUE)
  total <- 0.002 * n * m
  files <- ceiling(total / 1e6)
  own <- sample(10, n, TRUE)
  for (i in seq_len(files)) {
    site <- sample(n, total / files, TRUE)
    taxon <- integer(length(site))
    for (g in 1:10) {
      at <- which(own[site] == g)
      taxon[at] <- sample(m, length(at), TRUE, fauna[g, ])
    }
    file <- file.path(folder, sprintf("%03d.parquet", i))
    nanoparquet::write_parquet(data.frame(site = site, taxon = taxon), file)
  }
  list.files(folder, full.names = TRUE)
}

peak_memory <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024^2
}

seconds <- function(expr) {
  time <- system.time(expr)
  c(cpu = sum(time[1:2]), clock = time[[3]])
}

# f(...) in a process of its own, with its peak memory in GB.
apart <- function(f, ...) {
  job <- tempfile(fileext = ".rds")
  saveRDS(list(f = f, args = list(...)), job)
  code <- sprintf(
    "job <- readRDS('%s'); library(multicause); out <- do.call(job$f, job$args); saveRDS(out, '%s')", job, job
  )
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)))
  readRDS(job)
}

make_shards <- function(files, folder, tools) {
  time <- tools$seconds(multicause::shards(files, folder, site = "site", taxon = "taxon"))
  c(time, peak = tools$peak_memory())
}

# The same start for all: shares of the taxa, a little apart. Passes until zeros are left unvisited (8) are taken off.
start_of <- function(share, k) {
  set.seed(2)
  list(aspects = t(vapply(seq_len(k), function(i) {
    pmin(share * stats::runif(length(share), 0.5, 1.5) + 1e-6, 0.9)
  }, share)))
}

fit_shards <- function(folder, k, passes, n_workers, tools) {
  x <- multicause::shards(folder)
  cluster <- if (n_workers > 0) parallel::makeCluster(n_workers)
  run <- function(passes) {
    control <- multicause::fit_control(max_pass = passes, algorithm = "sparse", cluster = cluster)
    start <- tools$start_of(x$column_sum / dim(x)[1], k)
    tools$seconds(suppressWarnings(multicause::aspect_bernoulli(x, k, start = start, control = control)))
  }
  opening <- run(8)
  time <- run(passes)
  if (n_workers > 0) parallel::stopCluster(cluster)
  c((time - opening) / (passes - 8), peak = tools$peak_memory())
}

fit_memory <- function(folder, k, passes, tools) {
  x <- multicause::shards(folder)
  x <- x[seq_len(dim(x)[1]), ]
  rownames(x) <- NULL
  start <- c(list(membership = matrix(1 / k, nrow(x), k)), tools$start_of(Matrix::colMeans(x), k))
  run <- function(passes) {
    control <- multicause::fit_control(max_pass = passes, algorithm = "sparse")
    tools$seconds(suppressWarnings(multicause::aspect_bernoulli(x, k, start = start, control = control)))
  }
  opening <- run(8)
  time <- run(passes)
  c((time - opening) / (passes - 8), peak = tools$peak_memory())
}

# As users call it: from the best fit to a sample.
fit_default <- function(folder, k, passes, tools) {
  x <- multicause::shards(folder)
  set.seed(2)
  time <- tools$seconds(suppressWarnings(multicause::aspect_bernoulli(
    x, k, control = multicause::fit_control(n_start = 3, max_pass = passes, algorithm = "sparse")
  )))
  c(time, peak = tools$peak_memory())
}

show <- function(...) cat(paste(sprintf(...), collapse = "\n"), "\n")

load <- function() strsplit(readLines("/proc/loadavg"), " ")[[1]][1]

show("load at the start %s, %d processors", load(), parallel::detectCores())
tools <- list(seconds = seconds, peak_memory = peak_memory, start_of = start_of)
for (n in if (full) largest * 1e6 else largest * 1e6 / c(8, 4, 2, 1)) {
  records <- tempfile()
  folder <- tempfile()
  files <- write_records(n, records)
  made <- apart(make_shards, files, folder, tools)
  x <- multicause::shards(folder)
  ones <- sum(x$shards$ones) / 1e6
  show(
    "%.0f x %.0f, %.2f million ones, %d shards: made in %.1f s (CPU %.1f), peak %.2f GB; load %s", dim(x)[1], dim(x)[2],
    ones, nrow(x$shards), made[["clock"]], made[["cpu"]], made[["peak"]], load()
  )
  if (full) {
    fit <- apart(fit_default, folder, k, passes, tools)
    show(
      "  from a sample's start, streaming: %d passes in %.0f s (CPU %.0f), all in; peak %.2f GB; load %s", passes,
      fit[["clock"]], fit[["cpu"]], fit[["peak"]], load()
    )
  } else {
    fit <- apart(fit_shards, folder, k, passes, 0, tools)
    memory <- apart(fit_memory, folder, k, passes, tools)
    one <- function(fit) {
      sprintf("%.3f CPU s a pass and million ones (%.3f s a pass by the clock), peak %.2f GB", fit[["cpu"]] / ones,
        fit[["clock"]], fit[["peak"]])
    }
    show("  streaming: %s", one(fit))
    show("  in memory: %s; load %s", one(memory), load())
    if (n == largest * 1e6) {
      for (n_workers in 1:2) {
        fit <- apart(fit_shards, folder, k, passes, n_workers, tools)
        show("  %d worker(s): %.3f s by the clock a pass; load %s", n_workers, fit[["clock"]], load())
      }
    }
  }
  unlink(c(records, folder), recursive = TRUE)
}
