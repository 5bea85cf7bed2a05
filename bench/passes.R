# Newton halves against SQUAREM on EM, from the same starts: passes and time to the level that EM has at convergence,
# less .1 nats, and the ends of both. Results are kept in bench/passes.md and bench/passes.png.
#   Rscript bench/passes.R [starts = 20] [price] [fossils] [simulated] [many] [others] [answers]
#     [birds] [sparse] [rule] [screening] [twenty] [threads] [ones=5,20] [medians] [opening] [polish]
# All parts but the last four unless named. Simulated tables take a tenth of the starts; "ones=" all of them, for
# tables with these percentages of ones. "medians": the two tables of fossils on which medians of the posterior mode
# differ.
# Times are processor seconds of one thread, to a level: those of the run times the share of its passes.
library(multicause)
args <- commandArgs(TRUE)
starts <- as.integer(c(args, "20")[1L])
parts <- if (length(args) > 1L) args[-1L] else c("price", "fossils", "simulated", "many", "others", "answers", "birds",
  "sparse", "rule", "screening", "twenty", "threads")
inside <- asNamespace("multicause")
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
hush <- function(expr) suppressWarnings(suppressMessages(expr))
seconds <- function(expr) system.time(expr)[[1L]]

fossils <- function(file, row, column) {
  file <- file.path(folder, file)
  if (!file.exists(file)) {
    message("skipped: no data in ", folder)
    quit("no")
  }
  occ <- utils::read.csv(file)
  unclass((table(occ[[row]], occ[[column]]) > 0) + 0)
}

# Six components, sparse memberships, all log-odds moved by one number to reach the share of ones.
simulated <- function(density, n = 6000L, m = 600L, k = 6L) {
  set.seed(1)
  s <- matrix(stats::rexp(n * k)^2, n, k)
  p <- (s / rowSums(s)) %*% matrix(stats::rbeta(k * m, 0.3, 1), k, m)
  move <- function(by) stats::plogis(stats::qlogis(p) + by)
  by <- stats::uniroot(function(by) mean(move(by)) - density, c(-15, 15))$root
  matrix(as.numeric(stats::runif(n * m) < move(by)), n, m)
}

run <- function(view, start, pinned, prior, ...) {
  control <- unclass(fit_control(tol = 1e-9, progress = FALSE, ...))
  time <- seconds(out <- inside$ab_run(view, start, pinned, prior, control))
  list(end = out$outcome$objective, passes = out$outcome$n_pass, trace = out$outcome$trace, time = time,
    gap = sum(inside$ab_certify(view, out$param, pinned, prior)[1:2]))
}

# Passes and time to a level; NA where it is not reached.
reach <- function(run, level) {
  pass <- which(run$trace >= level)[1L]
  c(pass, run$time * pass / run$passes)
}

# The kinds of starts that a fit takes, in turn.
start_cycle <- function(pinned) {
  problem <- structure(list(pinned = pinned), class = c("aspect_bernoulli_problem", "multicause_problem"))
  inside$start_kinds(problem, fit_control(n_start = 10))
}

# Both from `n` common starts of the package: a row a start.
compare <- function(name, x, k, phantom, estimate, n, most) {
  data <- hush(inside$check_data(x, "binary"))
  pins <- inside$ab_pins(phantom)
  pinned <- c(rep("free", k - length(pins)), pins)
  weak <- list(aspects = c(1.2, 2), membership = 1.03)
  prior <- if (estimate == "map") weak
  form <- if (inside$sparse_pays(data$view, k)) "sparse" else "newton"
  set.seed(7)
  rows <- lapply(rep_len(start_cycle(pinned), n), function(kind) {
    start <- inside$ab_draw(data, kind, pinned)
    em <- run(data$view, start, pinned, prior, max_pass = most, algorithm = "em")
    newton <- run(data$view, start, pinned, prior, max_pass = 1000L, algorithm = form)
    plain <- run(data$view, start, pinned, prior, max_pass = 1000L, algorithm = "newton", accelerate = FALSE)
    level <- em$end - 0.1
    to <- rbind(reach(em, level), reach(newton, level), reach(plain, level))
    data.frame(
      table = name, k, phantom, estimate, end_em = em$end, end_newton = newton$end, em = to[1L, 1L],
      newton = to[2L, 1L], plain = to[3L, 1L], ratio = to[1L, 2L] / to[2L, 2L], to_end = em$time / newton$time,
      cost = newton$time / newton$passes / (em$time / em$passes), gap_em = em$gap, gap_newton = newton$gap
    )
  })
  all <- do.call(rbind, rows)
  show(all)
  invisible(all)
}

median_of <- function(x) if (all(is.na(x))) NA else stats::median(x, na.rm = TRUE)
several <- character() # lines of the table

show <- function(all) {
  if (!length(several)) {
    head <- c("table", "k, phantom, estimate", "starts", "passes to level: EM", "Newton", "without SQUAREM",
      "reached", "time ratio to level", "time ratio to end", "cost of a pass", "median end: EM", "Newton",
      "best: EM", "Newton", "better / worse by .1", "gap: EM", "Newton")
    cat("|", paste(head, collapse = " | "), "|\n|", strrep(" --- |", length(head)), "\n", sep = "")
    several <<- "begun"
  }
  up <- all$end_newton - all$end_em
  cells <- c(
    all$table[1L], paste(all$k[1L], all$phantom[1L], all$estimate[1L], sep = ", "), nrow(all),
    sprintf("%.0f", c(median_of(all$em), median_of(all$newton), median_of(all$plain))),
    sprintf("%.2f", mean(!is.na(all$newton))), sprintf("%.1f", c(median_of(all$ratio), median_of(all$to_end),
      median_of(all$cost))),
    sprintf("%.1f", c(stats::median(all$end_em), stats::median(all$end_newton), max(all$end_em), max(all$end_newton))),
    sprintf("%.2f / %.2f", mean(up > 0.1), mean(up < -0.1)), sprintf("%.3g", c(median_of(all$gap_em),
      median_of(all$gap_newton)))
  )
  cat("|", paste(cells, collapse = " | "), "|\n")
}

price <- function() {
  cat("\n## Price of a pass, ms, and billions of flops a second (EM 8 n m k, Newton n m (8 k + 2 k^2))\n\n")
  tables <- list(g10s2 = fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id"), `6000 x 600, 5 %` = simulated(0.05))
  for (name in names(tables)) {
    x <- tables[[name]]
    view <- hush(inside$check_data(x, "binary"))
    cells <- as.double(length(x))
    for (k in c(4L, 8L, 16L, 32L, 64L)) {
      set.seed(1)
      start <- inside$ab_draw(view, "uniform", rep("free", k))
      passes <- max(5L, as.integer(2e9 / (cells * k * (8 + 2 * k))))
      time <- vapply(c("em", "newton"), function(algorithm) {
        control <- unclass(fit_control(max_pass = passes, tol = 0, accelerate = FALSE, algorithm = algorithm))
        seconds(inside$ab_run(view$view, start, rep("free", k), NULL, control)) / passes
      }, 0)
      flops <- cells * c(8 * k, 8 * k + 2 * k^2) / 1e9 / time
      cat(sprintf("| %s | k = %d | EM %.2f ms, %.1f | Newton %.2f ms, %.1f | ratio %.1f |\n", name, k, 1000 * time[1L],
        flops[1L], 1000 * time[2L], flops[2L], time[2L] / time[1L]))
    }
  }
}

on_fossils <- function() {
  cat("\n## Fossils\n\n")
  g10s2 <- fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id")
  out <- list()
  for (k in c(4L, 8L, 16L)) {
    for (phantom in c("free", "white")) {
      for (estimate in c("ml", "map")) {
        out <- c(out, list(compare("g10s2", g10s2, k, phantom, estimate, starts, 4000L)))
      }
    }
  }
  for (estimate in c("ml", "map")) {
    nam <- fossils("now_2020_nam/nam_large_occ.csv", 1L, 2L)
    out <- c(out, list(
      compare("nam_large", nam, 12L, "free", estimate, starts, 4000L),
      compare("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L, "free", estimate, starts, 4000L)
    ))
  }
  do.call(rbind, out)
}

# Dense tables that were not drawn: what any visit of a bird survey found, 23 and 39 % of cells.
on_birds <- function() {
  cat("\n## Bird surveys\n\n")
  several <<- character()
  folder <- file.path(folder, "repeat_surveys")
  swiss <- utils::read.csv(file.path(folder, "mhb2014_counts.csv.gz"))
  forest <- utils::read.csv(file.path(folder, "hbef2015_detections.csv.gz"))
  tables <- list(
    mhb2014 = unclass((table(swiss$site, swiss$species) > 0) + 0),
    hbef2015 = as.matrix(stats::aggregate(forest[-(1:2)], forest["site"], max)[-1L])
  )
  for (name in names(tables)) {
    x <- unname(tables[[name]])
    for (k in c(3L, 6L)) {
      for (phantom in c("free", "white")) compare(name, x, k, phantom, "map", starts, 4000L)
    }
  }
}

# Are the medians of the posterior mode lower, or was it the luck of 50 starts?
medians <- function() {
  cat("\n## Medians of the posterior mode\n\n")
  several <<- character()
  nam <- fossils("now_2020_nam/nam_large_occ.csv", 1L, 2L)
  all <- list(
    compare("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L, "free", "map", starts, 4000L),
    compare("nam_large", nam, 12L, "free", "map", max(1L, starts %/% 4L), 4000L)
  )
  for (one in all) {
    up <- one$end_newton - one$end_em
    test <- stats::wilcox.test(up[abs(up) > 0.1], exact = FALSE)
    cat(sprintf("\n%s: mean difference %.2f (%.2f); higher by .1 in %d, lower in %d; Wilcoxon's p = %.2f\n",
      one$table[1L], mean(up), stats::sd(up) / sqrt(length(up)), sum(up > 0.1), sum(up < -0.1), test$p.value))
  }
}

# Passes of EM before the first Newton pass, as starts of the default have with a prior: single starts by four ways, and
# whole fits from 20 starts, where "newton" has none.
opening <- function() {
  cat("\n## EM before Newton\n\n")
  cat("| table, k, estimate, starts | passes first | mean end less EM's (standard error) | higher, lower by .1 |",
    "median end | best | reached | time ratio to level | seconds of all |\n|", strrep(" --- |", 9L), "\n", sep = "")
  swiss <- utils::read.csv(file.path(folder, "repeat_surveys", "mhb2014_counts.csv.gz"))
  now <- function(name) fossils(sprintf("now_2003/%s_occ.csv", name), "site_id", "genus_id")
  try_openings("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L, 2L * starts)
  try_openings("simulated_sites", as.matrix(multicause::simulated_sites$x) + 0, 4L, starts)
  try_openings("mhb2014", unclass((table(swiss$site, swiss$species) > 0) + 0), 3L, starts)
  try_openings("g5s5", now("g5s5"), 6L, starts)
  try_openings("g10s2", now("g10s2"), 4L, starts %/% 2L)
  try_openings("20 % ones", simulated(0.2), 6L, max(1L, starts %/% 20L))
  try_openings("nam_large", fossils("now_2020_nam/nam_large_occ.csv", 1L, 2L), 12L, starts)
  try_openings("g2s2", now("g2s2"), 6L, starts)
  try_openings("g10s2", now("g10s2"), 8L, starts %/% 2L)
  try_openings("5 % ones", simulated(0.05), 6L, max(1L, starts %/% 20L))
  try_openings("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L, 2L * starts, "ml")
  cat("\n| fits from 20 starts, map | seconds: newton | auto | auto's objective less newton's | higher, lower |\n",
    "|", strrep(" --- |", 5L), "\n", sep = "")
  whole_openings("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L)
  whole_openings("g5s5", now("g5s5"), 6L)
  whole_openings("mhb2014", unclass((table(swiss$site, swiss$species) > 0) + 0), 3L)
}

whole_openings <- function(name, x, k, seeds = max(2L, starts %/% 4L)) {
  one <- function(seed, algorithm) {
    set.seed(seed)
    control <- fit_control(n_start = 20, algorithm = algorithm, progress = FALSE)
    time <- seconds(fit <- hush(aspect_bernoulli(unname(x), k, control = control)))
    c(time, fit$objective)
  }
  runs <- lapply(c("newton", "auto"), function(algorithm) vapply(500 + seq_len(seeds), one, c(0, 0), algorithm))
  gain <- runs[[2L]][2L, ] - runs[[1L]][2L, ]
  cat(sprintf("| %s, %d, %d seeds | %.2f | %.2f | %.2f (%.2f) | %d, %d |\n", name, k, seeds, mean(runs[[1L]][1L, ]),
    mean(runs[[2L]][1L, ]), mean(gain), stats::sd(gain) / sqrt(seeds), sum(gain > 0.01), sum(gain < -0.01)))
}

try_openings <- function(name, x, k, n, estimate = "map") {
  data <- hush(inside$check_data(unname(x), "binary"))
  pinned <- rep("free", k)
  prior <- if (estimate == "map") list(aspects = c(1.2, 2), membership = 1.03)
  go <- function(start, ..., tol = 1e-9) {
    control <- unclass(fit_control(tol = tol, progress = FALSE, ...))
    time <- system.time(out <- inside$ab_run(data$view, start, pinned, prior, control), gcFirst = FALSE)[[1L]]
    pass <- seq_len(out$outcome$n_pass)
    list(param = out$param, trace = out$outcome$trace, at = time * pass / max(1L, pass))
  }
  one <- function(start, most, tol) {
    first <- go(start, max_pass = most, tol = tol, algorithm = "em")
    if (most > 1000L) {
      return(first)
    }
    then <- go(first$param, max_pass = 1000L, algorithm = "newton")
    list(trace = c(first$trace, then$trace), at = c(first$at, max(0, first$at) + then$at))
  }
  ways <- list(`all by EM` = c(4000, 1e-9), none = c(0, 0), `30` = c(30, 0),
    `30, or until .3 %` = unlist(inside$em_opening))
  set.seed(17)
  runs <- lapply(rep_len(start_cycle(pinned), n), function(kind) {
    start <- inside$ab_draw(data, kind, pinned)
    lapply(ways, function(way) one(start, way[[1L]], way[[2L]]))
  })
  per <- function(f) matrix(unlist(lapply(runs, function(run) lapply(run, f, em = run[[1L]]))), length(ways))
  end <- per(function(run, em) max(run$trace))
  to_level <- per(function(run, em) run$at[which(run$trace >= max(em$trace) - 0.1)[1L]])
  all <- per(function(run, em) max(run$at))
  for (w in seq_along(ways)) {
    up <- end[w, ] - end[1L, ]
    cat(sprintf("| %s, %d, %s, %d | %s | %.2f (%.2f) | %d, %d | %.1f | %.1f | %.2f | %.1f | %.2f |\n", name, k,
      estimate, n, names(ways)[w], mean(up), stats::sd(up) / sqrt(n), sum(up > 0.1), sum(up < -0.1),
      stats::median(end[w, ]), max(end[w, ]), mean(!is.na(to_level[w, ])),
      median_of(to_level[1L, ] / to_level[w, ]), sum(all[w, ])))
  }
}

many_components <- function() {
  cat("\n## g10s2 with many components\n\n")
  several <<- character()
  g10s2 <- fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id")
  for (k in c(32L, 64L)) {
    for (estimate in c("ml", "map")) compare("g10s2", g10s2, k, "free", estimate, max(1L, starts %/% 10L), 4000L)
  }
}

on_simulated <- function(ones = c(0.2, 1, 5, 20, 50), n = max(1L, starts %/% 10L)) {
  cat("\n## 6000 x 600, k = 6, EM stopped after 1500 passes\n\n")
  several <<- character()
  out <- list()
  for (density in ones / 100) {
    x <- simulated(density)
    for (estimate in c("ml", "map")) {
      out <- c(out, list(compare(paste(100 * density, "%"), x, 6L, "free", estimate, n, 1500L)))
    }
  }
  do.call(rbind, out)
}

figure <- function(all) {
  grDevices::png("bench/passes.png", 900, 700, res = 120)
  on.exit(grDevices::dev.off())
  group <- factor(paste(all$table, all$estimate))
  plot(all$em, all$newton, log = "xy", pch = as.integer(group) %% 25, col = grDevices::hcl.colors(nlevels(group),
    "Dark 3")[group], xlab = "passes of SQUAREM on EM to its end less .1 nats", ylab = "Newton passes to that level")
  for (times in c(1, 10, 100)) graphics::abline(-log10(times), 1, lty = 3)
  graphics::legend("topleft", levels(group), pch = seq_len(nlevels(group)) %% 25, bty = "n", cex = 0.6,
    col = grDevices::hcl.colors(nlevels(group), "Dark 3"))
}

# Where EM stays. With neighbours the halves climb a bound as EM does; with effort memberships are EM's in both.
with_neighbours <- function() {
  cat("\n## Neighbours (sites of g10s2 of similar age, white phantom pinned, map) and effort: one start a row\n\n")
  x <- fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id")
  age <- utils::read.csv(file.path(folder, "now_2003", "g10s2_sites.csv"))$age_ma
  for (k in c(4L, 8L)) {
    for (strength in c(5, 50)) {
      set.seed(1)
      start <- inside$ab_draw(hush(inside$check_data(x, "binary")), "mixture", c(rep("free", k - 1L), "white"))
      fit <- lapply(c(em = "em", newton = "newton"), function(algorithm) {
        control <- fit_control(n_start = 1, algorithm = algorithm, progress = FALSE)
        near <- smooth_over(age = age, bandwidth = 0.5, strength = strength)
        time <- seconds(out <- hush(aspect_bernoulli(unname(x), k, estimate = "map", phantom = "white", start = start,
          smooth = near, control = control)))
        sprintf("%d passes, %.2f s, %.1f", nrow(out$trace), time, out$objective)
      })
      cat(sprintf("| k = %d | strength %g | EM %s | Newton %s |\n", k, strength, fit$em, fit$newton))
    }
  }
  for (k in c(4L, 8L)) {
    for (estimate in c("ml", "map")) {
      fit <- lapply(c(em = "em", newton = "newton"), function(algorithm) {
        set.seed(3)
        control <- fit_control(n_start = 1, n_polish = 0, algorithm = algorithm, progress = FALSE)
        time <- seconds(out <- hush(aspect_bernoulli(unname(x), k, estimate = estimate, effort = log(rowSums(x) + 1),
          control = control)))
        sprintf("%d passes, %.2f s, %.1f", nrow(out$trace), time, out$objective)
      })
      cat(sprintf("| k = %d, %s | effort | EM %s | Newton %s |\n", k, estimate, fit$em, fit$newton))
    }
  }
}

# Memberships of new rows: the table's own rows, in another order.
new_rows <- function() {
  cat("\n## predict() of the 501 rows of g10s2\n\n")
  x <- unname(fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id"))
  for (k in c(4L, 8L)) {
    set.seed(3)
    fit <- hush(aspect_bernoulli(x, k, control = fit_control(n_start = 1, n_polish = 0, progress = FALSE)))
    new <- x[sample(nrow(x)), ]
    time <- vapply(c("em", "newton"), function(algorithm) {
      control <- fit_control(max_pass = 5000, tol = 1e-10, algorithm = algorithm)
      seconds(for (i in 1:5) hush(predict(fit, new, type = "membership", control = control))) / 5
    }, 0)
    cat(sprintf("| k = %d | EM %.3f s | Newton %.3f s | ratio %.1f |\n", k, time[1L], time[2L], time[1L] / time[2L]))
  }
}

# Planted omissions on g10s2: what deeper maxima do to answers.
answers <- function(replicates = max(2L, starts %/% 5L)) {
  cat("\n## Planted omissions on g10s2,", replicates, "replicates: means\n\n")
  x <- fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id")
  measures <- c("auc", "auc_within", "ap", "slope")
  score <- function(what, probability, truth, time) {
    data.frame(what, seconds = time, recovery(probability, truth)$summary[measures])
  }
  single <- function(planted, k, estimate, algorithm, seed) {
    set.seed(seed)
    control <- fit_control(algorithm = algorithm, progress = FALSE)
    time <- seconds(fit <- hush(aspect_bernoulli(planted$x, k, estimate = estimate, control = control)))
    score(paste0("single fit, ", estimate, ", k = ", k, ", ", algorithm), fitted(fit), planted, time)
  }
  average <- function(planted, algorithm, passes, seed) {
    set.seed(seed)
    control <- fit_control(n_start = 1, n_polish = 0, max_pass = passes, tol = 1e-7, algorithm = algorithm)
    time <- seconds(out <- hush(ensemble(planted$x, control = control)))
    score(sprintf("ensemble, %s, %d passes", algorithm, passes), fitted(out), planted, time)
  }
  all <- do.call(rbind, lapply(seq_len(replicates), function(r) {
    set.seed(4000 + r)
    planted <- corrupt(unname(x), omit = c(0, 0.4))
    runs <- expand.grid(
      algorithm = c("em", "newton"), estimate = c("ml", "map"), k = c(4L, 8L), stringsAsFactors = FALSE
    )
    rbind(
      do.call(rbind, Map(function(a, e, k) single(planted, k, e, a, r), runs$algorithm, runs$estimate, runs$k)),
      average(planted, "em", 50L, r),
      do.call(rbind, lapply(c(3L, 6L, 12L, 20L), function(passes) average(planted, "newton", passes, r)))
    )
  }))
  means <- stats::aggregate(all[-1L], all["what"], mean)
  means[-1L] <- lapply(means[-1L], round, 4L)
  print(means, row.names = FALSE)
}

# A sparse table with k components, made a block of rows at a time.
sparse_table <- function(n, m, density, k) {
  set.seed(1)
  s <- matrix(stats::rexp(n * k)^2, n, k)
  s <- s / rowSums(s)
  odds <- stats::qlogis(pmin(pmax(stats::rbeta(k * m, 0.3, 1), 1e-6), 1 - 1e-6))
  share <- rep(colMeans(s), m)
  by <- stats::uniroot(function(by) sum(share * stats::plogis(odds + by)) / m - density, c(-20, 10))$root
  a <- matrix(stats::plogis(odds + by), k, m)
  blocks <- split(seq_len(n), (seq_len(n) - 1L) %/% 2000L)
  do.call(rbind, lapply(blocks, function(i) {
    Matrix::Matrix((matrix(stats::runif(length(i) * m), length(i)) < s[i, ] %*% a) + 0, sparse = TRUE)
  }))
}

# Its value, with MB of R's memory, where a kernel's is, that it held at most beyond what there was.
with_memory <- function(expr) {
  before <- sum(gc(reset = TRUE)[, 2L])
  value <- expr
  c(value, mb = sum(gc()[, 6L]) - before)
}

# Seconds a pass: of EM, the dense form, the sparse form with its zeros visited and without, from a start that was
# climbed for some passes; and whole fits where asked for.
sparse <- function(tables) {
  prior <- list(aspects = c(1.2, 2), membership = 1)
  for (t in tables) {
    k <- as.integer(t[4L])
    view <- hush(inside$check_data(sparse_table(t[1L], t[2L], t[3L], k), "binary"))
    set.seed(2)
    pins <- rep("free", k)
    go <- function(start, passes, tol, ...) {
      control <- unclass(fit_control(max_pass = passes, tol = tol, progress = FALSE, ...))
      inside$ab_run(view$view, start, pins, prior, control)
    }
    start <- go(inside$ab_draw(view, "mixture", pins), 10L, 0, algorithm = "sparse")$param
    time <- function(passes, ...) seconds(go(start, passes, ...))
    few <- if (prod(t[1:2]) > 1e8) 3L else as.integer(min(1000, 3e8 / prod(t[1:2])))
    price <- rbind(
      em = with_memory(c(s = time(few, 0, algorithm = "em") / few)),
      newton = with_memory(c(s = time(few, 0, algorithm = "newton") / few)),
      visited = with_memory(c(s = time(2L * few, 0, algorithm = "sparse") / (2 * few))),
      # Zeros are visited in the first six passes.
      unvisited = with_memory({
        first <- time(7L, 1e-15, algorithm = "sparse")
        c(s = (time(19L, 1e-15, algorithm = "sparse") - first) / 12)
      })
    )
    u <- apply(start$aspects, 2L, max)
    cat(sprintf("| %.0f x %.0f, %.1f %%, k = %d | columns of aspects up to .15: %.2f |", t[1L], t[2L], 100 * t[3L], k,
      mean(u <= 0.15)), sprintf("%s %.3f s, %.0f MB |", c("EM", "dense", "sparse, zeros visited", "not visited"),
      price[, "s"], price[, "mb"]), sprintf("cheaper than dense: %.1f, %.1f times |\n", price[2L, 1L] / price[3L, 1L],
      price[2L, 1L] / price[4L, 1L]))
    if (prod(t[1:2]) > 1e8) next
    for (algorithm in c("newton", "sparse")) {
      used <- seconds(out <- go(start, 600L, 1e-9, algorithm = algorithm))
      gap <- sum(inside$ab_certify(view$view, out$param, pins, prior)[1:2])
      cat(sprintf("| to the end, %s: %d passes, %.1f s, %.1f, gap %.2g |\n", algorithm, out$outcome$n_pass, used,
        out$outcome$objective, gap))
    }
  }
}

sparse_tables <- function() {
  cat("\n## Sparse tables, posterior mode: seconds a pass, and MB beside the data\n\n")
  sparse(list(c(50000, 10000, 0.002, 10), c(200000, 2000, 0.01, 10), c(20000, 1000, 0.01, 10),
    c(20000, 1000, 0.05, 10), c(20000, 1000, 0.01, 4), c(20000, 4000, 0.002, 10)))
}

# Where the sparse form begins to pay.
rule <- function() {
  cat("\n## Tables at the bounds of the rule: 3 % of ones, k = 4, 100 000 cells\n\n")
  sparse(list(c(500, 200, 0.02, 4), c(500, 200, 0.02, 8), c(1500, 400, 0.02, 8), c(6000, 600, 0.03, 4),
    c(6000, 600, 0.03, 10), c(6000, 600, 0.05, 10), c(6000, 600, 0.1, 10)))
}

# What the screening of 20 starts costs the best of them, against 20 that are all finished.
screening <- function() {
  cat("\n## Screening: best of 20 starts, less that of 20 which are all finished; means over", starts, "seeds\n\n")
  cat("| table, k, estimate | passes / finished | nats (standard error) | higher, lower | seconds |\n")
  cat("| --- | --- | --- | --- | --- |\n")
  g10s2 <- unname(fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id"))
  tables <- list(
    list("early tetrapods", unname(as.matrix(multicause::early_tetrapods$x)) + 0, 6L), list("g10s2", g10s2, 4L),
    list("simulated_sites", unname(multicause::simulated_sites$x) + 0, 4L), list("g10s2", g10s2, 8L)
  )
  settings <- list(c(30L, 3L), c(50L, 3L), c(100L, 3L), c(50L, 20L))
  for (table in tables) {
    for (estimate in c("map", "ml")) {
      runs <- lapply(settings, function(s) {
        one <- function(seed) {
          set.seed(seed)
          control <- fit_control(n_start = 20, screen = s[1L], n_finish = s[2L], progress = FALSE)
          time <- seconds(fit <- hush(aspect_bernoulli(table[[2L]], table[[3L]], estimate = estimate,
            control = control)))
          c(fit$objective, time)
        }
        vapply(100 + seq_len(starts), one, c(0, 0))
      })
      long <- runs[[length(runs)]]
      for (i in seq_along(runs)) {
        gain <- runs[[i]][1L, ] - long[1L, ]
        cat(sprintf("| %s, %d, %s | %d / %d | %.3f (%.3f) | %d, %d | %.3f |\n", table[[1L]], table[[3L]], estimate,
          settings[[i]][1L], settings[[i]][2L], mean(gain), stats::sd(gain) / sqrt(starts), sum(gain > 0.01),
          sum(gain < -0.01), mean(runs[[i]][2L, ])))
      }
    }
  }
}

# Whole fits of g10s2 from 20 starts, by the default and by EM: processor seconds, medians over seeds.
twenty <- function() {
  cat("\n## 20 starts of g10s2, k = 4, EM and Newton passes; medians over", starts, "seeds, OPENBLAS_CORETYPE",
    Sys.getenv("OPENBLAS_CORETYPE", "not set"), "\n\n")
  x <- fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id")
  for (estimate in c("ml", "map")) {
    one <- function(seed, algorithm) {
      set.seed(seed)
      control <- fit_control(n_start = 20, algorithm = algorithm, progress = FALSE)
      time <- seconds(fit <- hush(aspect_bernoulli(x, 4, phantom = "free", estimate = estimate, control = control)))
      c(time, fit$objective)
    }
    em <- vapply(seq_len(starts), one, c(0, 0), "em")
    newton <- vapply(seq_len(starts), one, c(0, 0), "newton")
    gain <- newton[2L, ] - em[2L, ]
    cat(sprintf("| %s | EM %.2f s | Newton %.2f s | ratio %.1f | higher in %d, lower in %d |\n", estimate,
      stats::median(em[1L, ]), stats::median(newton[1L, ]), stats::median(em[1L, ]) / stats::median(newton[1L, ]),
      sum(gain > 0.01), sum(gain < -0.01)))
  }
}

# What polishing gains with the default prior: whole fits without it, less those with it, and time by time.
polish <- function() {
  cat("\n## No polishing, map, default prior, 20 starts,", starts, "seeds\n\n")
  cat("| table, k, ones | time ratio | mean less that with polishing | lower by .01 | most |\n")
  cat("| --- | --- | --- | --- | --- |\n")
  small <- function(n, m, density, k) as.matrix(sparse_table(n, m, density, k))
  tables <- list(
    list("400 x 150", small(400, 150, 0.01, 4), 4L), list("300 x 100", small(300, 100, 0.03, 4), 4L),
    list("400 x 200", small(400, 200, 0.05, 6), 6L),
    list("early tetrapods", as.matrix(multicause::early_tetrapods$x) + 0, 6L),
    list("g10s2", fossils("now_2003/g10s2_occ.csv", "site_id", "genus_id"), 4L)
  )
  for (table in tables) {
    one <- function(seed, n_polish) {
      set.seed(seed)
      control <- fit_control(n_start = 20, n_polish = n_polish, progress = FALSE)
      time <- seconds(fit <- hush(aspect_bernoulli(unname(table[[2L]]), table[[3L]], estimate = "map", phantom = "free",
        control = control)))
      c(fit$objective, time)
    }
    runs <- vapply(100 + seq_len(starts), function(seed) c(one(seed, 0L), one(seed, 3L)), numeric(4L))
    gain <- runs[1L, ] - runs[3L, ]
    cat(sprintf("| %s, %d, %.1f %% | %.2f | %.3f | %d | %.2f |\n", table[[1L]], table[[3L]], 100 * mean(table[[2L]]),
      sum(runs[2L, ]) / sum(runs[4L, ]), mean(gain), sum(gain < -0.01), -min(gain)))
  }
}

# Elapsed seconds of 10 passes beyond the first two, on one thread and on two; the best of two runs each.
threads <- function() {
  cat("\n## Two threads, 20 000 x 1 000, 10 passes\n\n| ones | algorithm | k | one thread, s | two, s | ratio |\n")
  cat("| --- | --- | --- | --- | --- | --- |\n")
  for (density in c(0.05, 0.3)) {
    x <- simulated(density, 20000L, 1000L, 8L)
    for (algorithm in c("newton", "em")) {
      for (k in c(4L, 10L)) {
        passes <- function(n_threads, n) {
          control <- fit_control(n_start = 1, max_pass = n, screen = FALSE, n_polish = 0, tol = 0,
            n_threads = n_threads, algorithm = algorithm, progress = FALSE)
          one <- function(i) {
            set.seed(1)
            system.time(hush(aspect_bernoulli(x, k, estimate = "ml", control = control)))[["elapsed"]]
          }
          min(vapply(1:2, one, 0))
        }
        time <- vapply(1:2, function(n_threads) passes(n_threads, 12L) - passes(n_threads, 2L), 0)
        cat(sprintf("| %g %% | %s | %d | %.2f | %.2f | %.2f |\n", 100 * density, algorithm, k, time[1L], time[2L],
          time[1L] / time[2L]))
      }
    }
  }
}

if ("price" %in% parts) price()
ones <- sub("^ones=", "", grep("^ones=", parts, value = TRUE))
all <- rbind(
  if ("fossils" %in% parts) on_fossils(),
  if ("simulated" %in% parts) on_simulated(),
  if (length(ones)) on_simulated(as.numeric(strsplit(ones, ",", fixed = TRUE)[[1L]]), starts)
)
if (!is.null(all)) {
  for (estimate in c("ml", "map")) {
    up <- with(all[all$estimate == estimate, ], end_newton - end_em)
    cat(sprintf("\n%s, all starts pooled: Newton ends higher by more than .01 nats in %.2f, lower in %.2f of %d\n",
      estimate, mean(up > 0.01), mean(up < -0.01), length(up)))
  }
  if ("fossils" %in% parts) figure(all)
}
if ("medians" %in% parts) medians()
if ("opening" %in% parts) opening()
if ("polish" %in% parts) polish()
if ("many" %in% parts) many_components()
if ("others" %in% parts) {
  with_neighbours()
  new_rows()
}
if ("answers" %in% parts) answers()
if ("birds" %in% parts) on_birds()
if ("sparse" %in% parts) sparse_tables()
if ("rule" %in% parts) rule()
if ("screening" %in% parts) screening()
if ("twenty" %in% parts) twenty()
if ("threads" %in% parts) threads()
