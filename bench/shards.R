# Tables in shards: seconds and memory of making and fitting them, against a fit in memory; results in shards.md.
#   Rscript bench/shards.R sizes|full [rows of the largest table, millions = 0.2] [iterations = 50]
#   Rscript bench/shards.R large [millions of records = 1.86]
#   Rscript bench/shards.R near [rows, millions = 0.05, ...]
#   Rscript bench/shards.R workers [rows = 8000, ...]
# `sizes`: four of them, iterations after the first 8, the least of three runs, with a figure, shards_sizes.png; `full`:
# the largest alone, all iterations from one start, streaming, in memory and on workers; `large`: one answer of
# which_zeros(), from records of the faunas of vignette "large", 7 of them a list; `near`: answers of which_zeros() with
# ages and places, a table for each number; `workers`: one answer for rows x 1 000 with .4 % found, in about nine
# shards, by this process and by two workers of packages mirai and parallel. Each fit is a process of its own, whose
# peak memory is read from /proc. Records of fits are made as Parquet files of a million each: package nanoparquet
# is needed.

arguments <- commandArgs(TRUE)
mode <- if (length(arguments)) arguments[1] else "sizes"
numbers <- as.numeric(arguments[-1])
largest <- c(numbers, if (mode == "large") 1.86 else 0.2)[1]
iterations <- if (length(numbers) > 1) numbers[2] else 50
m <- 2000
k <- 10

# Ten faunas of 2000 taxa, few of them common: 0.2 % of the cells are presences, 4 per list on average. Lists are
# scattered over the files.
write_records <- function(n, folder) {
  dir.create(folder)
  set.seed(1)
  weight <- seq_len(m)^-0.8
  fauna <- matrix(weight * stats::rgamma(10 * m, 0.3), 10, byrow = TRUE)
  total <- 0.002 * n * m
  files <- ceiling(total / 1e6)
  own <- sample(10, n, TRUE)
  along <- if (mode == "near") { # each fauna has a region and a time, which overlap
    data.frame(age = own + stats::rnorm(n), east = own %% 3 + stats::rnorm(n), north = own %% 4 + stats::rnorm(n))
  }
  for (i in seq_len(files)) {
    site <- sample(n, total / files, TRUE)
    taxon <- integer(length(site))
    for (g in 1:10) {
      at <- which(own[site] == g)
      taxon[at] <- sample(m, length(at), TRUE, fauna[g, ])
    }
    file <- file.path(folder, sprintf("%03d.parquet", i))
    nanoparquet::write_parquet(do.call(data.frame, c(list(site = site, taxon = taxon), along[site, ])), file)
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

# Evaluates f(...) in a separate process; returns its value with its peak memory in GB.
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

# The same starting values for all: perturbed shares of the taxa. The first iterations, before zeros are left unscanned
# (8), are subtracted.
start_of <- function(share, k) {
  set.seed(2)
  list(aspects = t(vapply(seq_len(k), function(i) {
    pmin(share * stats::runif(length(share), 0.5, 1.5) + 1e-6, 0.9)
  }, share)))
}

# Zeros are left unscanned if `tol` is above 0; tools$tiny is positive but never reached. skip: number of first
# iterations to subtract, those before zeros are left unscanned; each run is then made three times and the shortest time
# used. Returns time per iteration and the final objective.
per_pass <- function(run, skip, iterations, tools) {
  out <- run(iterations)
  time <- out$time
  if (skip > 0) {
    least <- function(iterations, runs) do.call(pmin, lapply(seq_len(runs), function(i) run(iterations)$time))
    time <- pmin(time, least(iterations, 2)) - least(skip, 3)
  }
  c(time / (iterations - skip), peak = tools$peak_memory(), objective = out$objective)
}

fit_shards <- function(folder, k, iterations, skip, n_workers, tools) {
  x <- multicause::shards(folder)
  cluster <- if (n_workers > 0) parallel::makeCluster(n_workers)
  run <- function(iterations) {
    control <- multicause::fit_control(
      max_iter = iterations, tol = tools$tiny, algorithm = "sparse", cluster = cluster
    )
    start <- tools$start_of(x$column_sum / dim(x)[1], k)
    time <- tools$seconds(suppressWarnings( # that it has not converged
      fit <- multicause::aspect_bernoulli(x, k, start = start, control = control)
    ))
    list(time = time, objective = unname(fit$objective))
  }
  out <- tools$per_pass(run, skip, iterations, tools)
  if (n_workers > 0) parallel::stopCluster(cluster)
  out
}

fit_memory <- function(folder, k, iterations, skip, tools) {
  x <- multicause::shards(folder)
  share <- x$column_sum / dim(x)[1]
  x <- x[seq_len(dim(x)[1]), ]
  rownames(x) <- NULL
  start <- c(list(membership = matrix(1 / k, nrow(x), k)), tools$start_of(share, k))
  tools$per_pass(function(iterations) {
    control <- multicause::fit_control(max_iter = iterations, tol = tools$tiny, algorithm = "sparse", keep_x = FALSE)
    time <- tools$seconds(suppressWarnings( # that it has not converged
      fit <- multicause::aspect_bernoulli(x, k, start = start, control = control)
    ))
    list(time = time, objective = unname(fit$objective))
  }, skip, iterations, tools)
}

show <- function(...) cat(paste(sprintf(...), collapse = "\n"), "\n")

load <- function() strsplit(readLines("/proc/loadavg"), " ")[[1]][1]

show_fit <- function(name, fit, ones) {
  show(
    paste0(
      "  %s: %.3f CPU s an iteration and million ones (%.3f s an iteration by the clock), peak %.2f GB, ",
      "objective %.6f; load %s"
    ),
    name, fit[["cpu"]] / ones, fit[["clock"]], fit[["peak"]], fit[["objective"]], load()
  )
}

show("load at the start %s, %d processors", load(), parallel::detectCores())
tools <- list(
  seconds = seconds, peak_memory = peak_memory, start_of = start_of, per_pass = per_pass, tiny = 1e-300
)

run_size <- function(n) {
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
  skip <- if (mode == "full") 0 else 8
  there <- apart(fit_shards, folder, k, iterations, skip, 0, tools)
  show_fit("streaming", there, ones)
  here <- apart(fit_memory, folder, k, iterations, skip, tools)
  show_fit("in memory", here, ones)
  if (mode == "full") {
    for (n_workers in 1:2) {
      show_fit(sprintf("%d worker(s)", n_workers), apart(fit_shards, folder, k, iterations, skip, n_workers, tools),
        ones)
    }
  }
  unlink(c(records, folder), recursive = TRUE)
  data.frame(ones = ones, streaming = there[["cpu"]], memory = here[["cpu"]])
}

# CPU seconds per iteration against millions of ones, with least-squares lines through the origin.
draw_sizes <- function(sizes) {
  grDevices::png("bench/shards_sizes.png", 560, 400)
  on.exit(grDevices::dev.off())
  graphics::plot(NA, xlim = c(0, max(sizes$ones)), ylim = c(0, max(sizes[-1])), xlab = "million ones",
    ylab = "CPU seconds an iteration")
  for (arm in 2:3) {
    graphics::points(sizes$ones, sizes[[arm]], pch = c(16, 1)[arm - 1])
    graphics::abline(0, sum(sizes$ones * sizes[[arm]]) / sum(sizes$ones^2), lty = arm - 1)
  }
  graphics::legend("topleft", c("streaming from disk", "in memory"), pch = c(16, 1), lty = 1:2, bty = "n")
}

# Each piece has half a million records of separate lists, the last piece fewer.
run_large <- function(millions) {
  library(multicause)
  set.seed(1)
  species <- sprintf("species%03d", 1:300)
  fauna <- matrix(stats::rgamma(4 * 300, 0.15), 4)
  piece <- 0
  draw_records <- function(n) {
    size <- min(5e5, millions * 1e6 - piece * 5e5)
    if (size <= 0) return(NULL)
    list <- sample(ceiling(size / 7), size, TRUE)
    home <- list %% 4 + 1
    taxon <- integer(size)
    for (g in 1:4) taxon[home == g] <- sample(300, sum(home == g), TRUE, fauna[g, ])
    piece <<- piece + 1
    data.frame(list = sprintf("p%02d_%06d", piece, list), species = species[taxon])
  }
  tell <- function(what, time) {
    show("%s: %.0f CPU s, %.0f s by the clock, peak %.2f GB", what, time[["cpu"]], time[["clock"]], peak_memory())
  }
  tell("made", seconds(x <- shards(draw_records, tempfile(), site = "list", taxon = "species")))
  print(x)
  tell("answer", seconds(w <- which_zeros(x, n = 100, seed = 1)))
  print(w)
}

answer_near <- function(folder, tools) {
  time <- tools$seconds(multicause::which_zeros(
    multicause::shards(folder), age = "age", place = c("east", "north"), n = 100, seed = 1
  ))
  c(time, peak = tools$peak_memory())
}

run_near <- function(n) {
  records <- tempfile()
  folder <- tempfile()
  x <- multicause::shards(
    write_records(n, records), folder, site = "site", taxon = "taxon", site_data = c("age", "east", "north")
  )
  time <- apart(answer_near, folder, tools)
  show(
    "%.0f x %.0f, %.0f finds: %.0f CPU s, %.0f s by the clock, peak %.2f GB", dim(x)[1], dim(x)[2], sum(x$shards$ones),
    time[["cpu"]], time[["clock"]], time[["peak"]]
  )
  unlink(c(records, folder), recursive = TRUE)
}

run_workers <- function(n) {
  set.seed(4)
  dims <- c(n, 1000)
  membership <- matrix(stats::rgamma(dims[1] * 8, 0.2), dims[1])
  p <- (membership / rowSums(membership)) %*% matrix(stats::rbeta(8 * dims[2], 0.05, 6), 8)
  table <- matrix(stats::rbinom(prod(dims), 1, pmin(p * 0.004 / mean(p), 0.95)), dims[1])
  x <- suppressMessages(multicause::shards(table, tempfile(), size = n * 5 / 8))
  profiles <- c("one", "two")
  for (profile in profiles) mirai::daemons(1, .compute = profile)
  cluster <- parallel::makeCluster(2)
  first <- NULL
  for (workers in list(none = NULL, mirai = profiles, parallel = cluster)) {
    control <- multicause::fit_control(n_start = 1, n_polish = 0, max_iter = 100, tol = 1e-6, cluster = workers)
    clock <- system.time(w <- multicause::which_zeros(x, seed = 1, control = control))[["elapsed"]]
    numbers <- unclass(w)[setdiff(names(w), "call")]
    if (is.null(first)) first <- list(clock = clock, numbers = numbers)
    show("%d shards: %.1f s by the clock, %.2f times the speed, %s", nrow(x$shards), clock, first$clock / clock,
      if (identical(numbers, first$numbers)) "the same bits" else "OTHER NUMBERS")
  }
  parallel::stopCluster(cluster)
  for (profile in profiles) mirai::daemons(0, .compute = profile)
}

switch(mode,
  workers = for (n in c(numbers, if (!length(numbers)) 8000)) run_workers(n),
  near = for (n in c(numbers, if (!length(numbers)) 0.05) * 1e6) run_near(n),
  sizes = draw_sizes(do.call(rbind, lapply(largest * 1e6 / c(8, 4, 2, 1), run_size))), full = run_size(largest * 1e6),
  large = run_large(largest)
)
