# Tables in shards: seconds and memory of making and fitting them, against a fit in memory; results in shards.md.
#   Rscript bench/shards.R sizes|full|rivals [rows of the largest table, millions = 0.2] [passes = 50]
# `sizes`: four of them, passes after the first 8, the least of three runs, with a figure, shards_sizes.png; `full`: the
# largest alone, all passes from one start, streaming, in memory and on workers; `rivals`: what users would do instead,
# with held-out losses. Each fit is a process of its own, whose peak memory is read from /proc. Records are made as
# Parquet files of a million each: package nanoparquet is needed.

arguments <- commandArgs(TRUE)
mode <- if (length(arguments)) arguments[1] else "sizes"
numbers <- as.numeric(arguments[-1])
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

# Zeros are left unvisited where `tol` is above 0: tools$tiny is, and is never met.
# skip: first passes that are taken off, those until zeros are left unvisited; then each run is made three times and
# its least time taken. Per pass, and the objective at the end.
per_pass <- function(run, skip, passes, tools) {
  out <- run(passes)
  time <- out$time
  if (skip > 0) {
    least <- function(passes, runs) do.call(pmin, lapply(seq_len(runs), function(i) run(passes)$time))
    time <- pmin(time, least(passes, 2)) - least(skip, 3)
  }
  c(time / (passes - skip), peak = tools$peak_memory(), objective = out$objective)
}

fit_shards <- function(folder, k, passes, skip, n_workers, tools) {
  x <- multicause::shards(folder)
  cluster <- if (n_workers > 0) parallel::makeCluster(n_workers)
  run <- function(passes) {
    control <- multicause::fit_control(
      max_pass = passes, tol = tools$tiny, algorithm = "sparse", cluster = cluster
    )
    start <- tools$start_of(x$column_sum / dim(x)[1], k)
    time <- tools$seconds(suppressWarnings( # that it has not converged
      fit <- multicause::aspect_bernoulli(x, k, start = start, control = control)
    ))
    list(time = time, objective = unname(fit$objective))
  }
  out <- tools$per_pass(run, skip, passes, tools)
  if (n_workers > 0) parallel::stopCluster(cluster)
  out
}

fit_memory <- function(folder, k, passes, skip, tools) {
  x <- multicause::shards(folder)
  share <- x$column_sum / dim(x)[1]
  x <- x[seq_len(dim(x)[1]), ]
  rownames(x) <- NULL
  start <- c(list(membership = matrix(1 / k, nrow(x), k)), tools$start_of(share, k))
  tools$per_pass(function(passes) {
    control <- multicause::fit_control(max_pass = passes, tol = tools$tiny, algorithm = "sparse", keep_x = FALSE)
    time <- tools$seconds(suppressWarnings( # that it has not converged
      fit <- multicause::aspect_bernoulli(x, k, start = start, control = control)
    ))
    list(time = time, objective = unname(fit$objective))
  }, skip, passes, tools)
}

# What users would do instead. A tenth of the finds is held out; the loss is that of these and of zeros, of which
# `zeros` are drawn, when the chance of a hidden find is a ninth of the chance of a find: nats for each hidden find.

write_rivals <- function(folder, n) {
  dir.create(folder)
  set.seed(5)
  region <- sample(10, n, TRUE)
  own <- ifelse(stats::runif(n) < 0.7, region, sample(10, n, TRUE))
  weight <- seq_len(m)^-0.8
  fauna <- matrix(weight * stats::rgamma(10 * m, 0.3), 10, byrow = TRUE)
  site <- sample(n, 0.002 * n * m, TRUE)
  taxon <- integer(length(site))
  for (g in 1:10) taxon[own[site] == g] <- sample(m, sum(own[site] == g), TRUE, fauna[g, ])
  finds <- unique(data.frame(site = site, taxon = taxon))
  hidden <- sample(nrow(finds), nrow(finds) / 10)
  key <- finds$site * 1e5 + finds$taxon
  draw <- data.frame(site = sample(n, 2e5, TRUE), taxon = sample(m, 2e5, TRUE))
  draw <- draw[!(draw$site * 1e5 + draw$taxon) %in% key, ]
  # Every site has a row.
  kept <- rbind(finds[-hidden, ], data.frame(site = seq_len(n), taxon = NA))
  nanoparquet::write_parquet(kept, file.path(folder, "1.parquet"))
  cells <- rbind(data.frame(finds[hidden, ], hit = 1), data.frame(draw, hit = 0))
  held <- list(cells = cells, share = nrow(draw) / (n * m - nrow(finds)), region = region)
  saveRDS(held, file.path(folder, "held.rds"))
}

rival_table <- function(folder) {
  records <- nanoparquet::read_parquet(file.path(folder, "1.parquet"))
  finds <- records[!is.na(records$taxon), ]
  Matrix::sparseMatrix(finds$site, finds$taxon, x = 1, dims = c(max(records$site), 2000L))
}

# Chances of the held-out cells from a membership and aspects, rows x k and k x columns.
rival_loss <- function(folder, chance) {
  held <- readRDS(file.path(folder, "held.rds"))
  p <- pmin(pmax(chance(held$cells$site, held$cells$taxon), 1e-6), 1 - 1e-6) / 9
  hit <- held$cells$hit == 1
  rank <- rank(p)
  c(
    loss = (-sum(log(p[hit])) - sum(log1p(-p[!hit])) / held$share) / sum(hit),
    auc = (mean(rank[hit]) - (sum(hit) + 1) / 2) / sum(!hit)
  )
}

mixed_cells <- function(rows, columns) function(i, j) rowSums(rows[i, , drop = FALSE] * t(columns)[j, , drop = FALSE])

# Where sites are named by numbers, rows stand in the order of names as text.
rival_shards <- function(folder, k, passes, tools) {
  path <- tempfile()
  time <- tools$seconds({
    x <- multicause::shards(file.path(folder, "1.parquet"), path, site = "site", taxon = "taxon",
      taxa = as.character(1:2000))
    start <- tools$start_of(x$column_sum / dim(x)[1], k)
    control <- multicause::fit_control(max_pass = passes, tol = 0, algorithm = "sparse")
    fit <- multicause::aspect_bernoulli(x, k, start = start, control = control)
  })
  peak <- tools$peak_memory()
  rows <- predict(fit, type = "membership")
  at <- order(as.numeric(multicause::site_table(x)$site))
  aspects <- coef(fit)$aspects
  aspects <- if (is.null(colnames(rows))) aspects else aspects[colnames(rows), ]
  c(time, peak = peak, tools$rival_loss(folder, tools$mixed_cells(rows[at, ], aspects)))
}

rival_memory <- function(folder, k, passes, algorithm, dense, regions, tools) {
  x <- tools$rival_table(folder)
  if (dense) x <- matrix(as.integer(as.matrix(x)), nrow(x))
  region <- if (regions) readRDS(file.path(folder, "held.rds"))$region else rep(1, nrow(x))
  control <- multicause::fit_control(max_pass = passes, tol = 0, algorithm = algorithm, keep_x = FALSE)
  time <- tools$seconds(fits <- lapply(split(seq_len(nrow(x)), region), function(rows) {
    part <- if (regions) x[rows, ] else x
    start <- c(list(membership = matrix(1 / k, nrow(part), k)), tools$start_of(Matrix::colMeans(part), k))
    multicause::aspect_bernoulli(part, k, start = start, control = control)
  }))
  peak <- tools$peak_memory()
  place <- ave(seq_along(region), region, FUN = seq_along)
  chance <- function(i, j) {
    out <- numeric(length(i))
    for (r in seq_along(fits)) {
      at <- region[i] == as.numeric(names(fits)[r])
      param <- coef(fits[[r]])
      out[at] <- tools$mixed_cells(param$membership, param$aspects)(place[i[at]], j[at])
    }
    out
  }
  c(time, peak = peak, tools$rival_loss(folder, chance))
}

rival_nmf <- function(folder, k, passes, tools) {
  library(Matrix) # which RcppML looks for on the search path
  x <- tools$rival_table(folder)
  RcppML::setRcppMLthreads(1)
  time <- tools$seconds(fit <- RcppML::nmf(x, k, maxit = passes, tol = 0, seed = 2, verbose = FALSE))
  c(time, peak = tools$peak_memory(), tools$rival_loss(folder, tools$mixed_cells(fit$w %*% diag(fit$d), fit$h)))
}

show <- function(...) cat(paste(sprintf(...), collapse = "\n"), "\n")

load <- function() strsplit(readLines("/proc/loadavg"), " ")[[1]][1]

show_fit <- function(name, fit, ones) {
  show(
    "  %s: %.3f CPU s a pass and million ones (%.3f s a pass by the clock), peak %.2f GB, objective %.6f; load %s",
    name, fit[["cpu"]] / ones, fit[["clock"]], fit[["peak"]], fit[["objective"]], load()
  )
}

show("load at the start %s, %d processors", load(), parallel::detectCores())
tools <- list(
  seconds = seconds, peak_memory = peak_memory, start_of = start_of, per_pass = per_pass, rival_loss = rival_loss,
  rival_table = rival_table, mixed_cells = mixed_cells, tiny = 1e-300
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
  there <- apart(fit_shards, folder, k, passes, skip, 0, tools)
  show_fit("streaming", there, ones)
  here <- apart(fit_memory, folder, k, passes, skip, tools)
  show_fit("in memory", here, ones)
  if (mode == "full") {
    for (n_workers in 1:2) {
      show_fit(sprintf("%d worker(s)", n_workers), apart(fit_shards, folder, k, passes, skip, n_workers, tools), ones)
    }
  }
  unlink(c(records, folder), recursive = TRUE)
  data.frame(ones = ones, streaming = there[["cpu"]], memory = here[["cpu"]])
}

# CPU seconds a pass by million ones, with lines through the origin by least squares.
draw_sizes <- function(sizes) {
  grDevices::png("bench/shards_sizes.png", 560, 400)
  on.exit(grDevices::dev.off())
  graphics::plot(NA, xlim = c(0, max(sizes$ones)), ylim = c(0, max(sizes[-1])), xlab = "million ones",
    ylab = "CPU seconds a pass")
  for (arm in 2:3) {
    graphics::points(sizes$ones, sizes[[arm]], pch = c(16, 1)[arm - 1])
    graphics::abline(0, sum(sizes$ones * sizes[[arm]]) / sum(sizes$ones^2), lty = arm - 1)
  }
  graphics::legend("topleft", c("streaming from disk", "in memory"), pch = c(16, 1), lty = 1:2, bty = "n")
}

run_rivals <- function(n) {
  folder <- tempfile()
  write_rivals(folder, n)
  tell <- function(name, out) {
    show("  %s: %.1f s by the clock, %.1f CPU s, peak %.2f GB, loss %.4f, AUC %.2f %%; load %s", name, out[["clock"]],
      out[["cpu"]], out[["peak"]], out[["loss"]], 100 * out[["auc"]], load())
  }
  show("%.0f x %d, %d passes", n, m, passes)
  tell("shards, streaming, making them included", apart(rival_shards, folder, k, passes, tools))
  memory <- function(name, ...) tell(name, apart(rival_memory, folder, k, passes, ..., tools))
  memory("in memory", "sparse", FALSE, FALSE)
  memory("in memory, zeros filled in", "sparse", TRUE, FALSE)
  memory("in memory, zeros filled in, plain EM", "em", TRUE, FALSE)
  memory("split by region", "sparse", FALSE, TRUE)
  tell("RcppML", apart(rival_nmf, folder, k, passes, tools))
  unlink(folder, recursive = TRUE)
}

switch(mode,
  sizes = draw_sizes(do.call(rbind, lapply(largest * 1e6 / c(8, 4, 2, 1), run_size))), full = run_size(largest * 1e6),
  rivals = run_rivals(largest * 1e6)
)
