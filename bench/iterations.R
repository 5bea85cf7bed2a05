# Newton halves against SQUAREM on EM, from the same starts: iterations and time to the level that EM has at
# convergence, less .1 nats, and the ends of both. Results are kept in bench/iterations.md.
#   Rscript bench/iterations.R [starts = 20] [fossils] [simulated] [birds] [opening] [ones=5,20]
# All parts but the last two unless named. Simulated tables take a tenth of the starts; "ones=" all of them, for tables
# with these percentages of ones. "opening": drawn starts of the posterior mode begin with iterations of EM.
# Times are processor seconds of one thread, to a level: those of the run times the share of its iterations.
library(multicause)
common <- new.env()
sys.source("bench/common.R", common)
args <- commandArgs(TRUE)
starts <- as.integer(c(args, "20")[1L])
parts <- if (length(args) > 1L) args[-1L] else c("fossils", "simulated", "birds")
inside <- asNamespace("multicause")
hush <- function(expr) suppressWarnings(suppressMessages(expr))

fossils <- function(...) {
  x <- common$read_fossils(...)$x
  x[, colSums(x) > 0]
}
tetrapods <- function() common$read_tetrapods()$x
any_visit <- function(birds) apply(birds$seen, 1:2, any) + 0

# Six components, sparse memberships, all log-odds moved by one number to reach the share of ones.
simulated <- function(density, n = 6000L, m = 600L, k = 6L) {
  set.seed(1)
  s <- matrix(stats::rexp(n * k)^2, n, k)
  p <- (s / rowSums(s)) %*% matrix(stats::rbeta(k * m, 0.3, 1), k, m)
  move <- function(by) stats::plogis(stats::qlogis(p) + by)
  by <- stats::uniroot(function(by) mean(move(by)) - density, c(-15, 15))$root
  matrix(as.numeric(stats::runif(n * m) < move(by)), n, m)
}

run <- function(view, start, fixed, prior, ...) {
  control <- unclass(fit_control(tol = 1e-9, progress = FALSE, ...))
  time <- system.time(out <- inside$ab_run(view, start, fixed, prior, control), gcFirst = FALSE)[[1L]]
  list(end = out$outcome$objective, iterations = out$outcome$n_iter, trace = out$outcome$trace, time = time)
}

# Iterations and time to a level; NA where it is not reached.
reach <- function(run, level) {
  iteration <- which(run$trace >= level)[1L]
  c(iteration, run$time * iteration / run$iterations)
}

# The kinds of starts that a fit takes, in turn.
start_cycle <- common$in_package(function(fixed) {
  problem <- structure(list(fixed = fixed), class = c("aspect_bernoulli_problem", "multicause_problem"))
  start_kinds(problem, fit_control(n_start = 10))
})

# Both from `n` common starts of the package, a row a start; prints a line of the table.
compare <- function(name, x, k, phantom, estimate, n = starts, most = 4000L) {
  data <- hush(inside$check_data(unname(x), "binary"))
  pins <- inside$ab_pins(phantom)
  fixed <- c(rep("free", k - length(pins)), pins)
  prior <- if (estimate == "map") list(aspects = c(1.2, 2), membership = 1.03)
  form <- if (inside$sparse_pays(data$view, k)) "sparse" else "newton"
  set.seed(7)
  rows <- lapply(rep_len(start_cycle(fixed), n), function(kind) {
    start <- inside$ab_draw(data, kind, fixed)
    em <- run(data$view, start, fixed, prior, max_iter = most, algorithm = "em")
    newton <- run(data$view, start, fixed, prior, max_iter = 1000L, algorithm = form)
    to <- rbind(reach(em, em$end - 0.1), reach(newton, em$end - 0.1))
    data.frame(
      em = to[1L, 1L], newton = to[2L, 1L], ratio = to[1L, 2L] / to[2L, 2L], to_end = em$time / newton$time,
      cost = newton$time / newton$iterations / (em$time / em$iterations), end_em = em$end, end_newton = newton$end
    )
  })
  all <- do.call(rbind, rows)
  show(paste(name, k, phantom, estimate, n, sep = ", "), all)
  cbind(estimate, all)
}

median_of <- function(x) if (all(is.na(x))) NA else stats::median(x, na.rm = TRUE)

heads <- function(title, ...) {
  cat("\n## ", title, "\n\n|", paste0(" ", c(...), " |"), "\n|", strrep(" --- |", ...length()), "\n", sep = "")
}
heads_compared <- function(title) {
  heads(title, "table, k, phantom, estimate, starts", "iterations to level: EM", "Newton", "reached",
    "time ratio to level", "to end", "cost of an iteration", "median end: EM", "Newton", "best: EM", "Newton",
    "better / worse by .1")
}

show <- function(name, all) {
  up <- all$end_newton - all$end_em
  ends <- all[c("end_em", "end_newton")]
  cells <- c(
    name, sprintf("%.0f", c(median_of(all$em), median_of(all$newton))), sprintf("%.2f", mean(!is.na(all$newton))),
    sprintf("%.1f", c(median_of(all$ratio), median_of(all$to_end), median_of(all$cost), sapply(ends, stats::median),
      sapply(ends, max))), sprintf("%.2f / %.2f", mean(up > 0.1), mean(up < -0.1))
  )
  cat("|", paste(cells, collapse = " | "), "|\n")
}

on_fossils <- function() {
  heads_compared("Fossils")
  g10s2 <- fossils("g10s2")
  out <- NULL
  for (k in c(4L, 8L, 16L)) {
    for (phantom in c("free", "white")) {
      for (estimate in c("ml", "map")) out <- rbind(out, compare("g10s2", g10s2, k, phantom, estimate))
    }
  }
  for (estimate in c("ml", "map")) {
    out <- rbind(
      out, compare("nam_large", fossils("nam_large", "now_2020_nam"), 12L, "free", estimate),
      compare("early tetrapods", tetrapods(), 6L, "free", estimate)
    )
  }
  for (estimate in c("ml", "map")) {
    up <- (out$end_newton - out$end_em)[out$estimate == estimate]
    cat(sprintf("\n%s, all starts pooled: Newton ends higher by more than .01 nats in %.2f, lower in %.2f of %d\n",
      estimate, mean(up > 0.01), mean(up < -0.01), length(up)))
  }
}

# Dense tables that were not drawn: what any visit of a bird survey found.
on_birds <- function() {
  heads_compared("Bird surveys")
  tables <- list(mhb2014 = any_visit(common$read_birds()), hbef2015 = any_visit(common$read_forest_birds()))
  for (name in names(tables)) {
    for (k in c(3L, 6L)) {
      for (phantom in c("free", "white")) compare(name, tables[[name]], k, phantom, "map")
    }
  }
}

on_simulated <- function(ones = c(0.2, 1, 5, 20, 50), n = max(1L, starts %/% 10L)) {
  heads_compared("6000 x 600, k = 6, EM stopped after 1500 iterations")
  for (density in ones / 100) {
    x <- simulated(density)
    for (estimate in c("ml", "map")) compare(paste(100 * density, "%"), x, 6L, "free", estimate, n, 1500L)
  }
}

# Iterations of EM before the first Newton iteration, as starts of the default have with a prior: single starts by three
# ways.
opening <- function() {
  heads("EM before Newton", "table, k, starts", "iterations first", "mean end less EM's (standard error)",
    "higher, lower by .1", "reached", "time ratio to level", "seconds of all")
  try_openings("early tetrapods", tetrapods(), 6L, 2L * starts)
  try_openings("simulated_sites", as.matrix(multicause::simulated_sites$x) + 0, 4L, starts)
  try_openings("mhb2014", any_visit(common$read_birds()), 3L, starts)
  try_openings("g5s5", fossils("g5s5"), 6L, starts)
  try_openings("g10s2", fossils("g10s2"), 4L, starts %/% 2L)
  try_openings("nam_large", fossils("nam_large", "now_2020_nam"), 12L, starts)
  try_openings("g2s2", fossils("g2s2"), 6L, starts)
  try_openings("g10s2", fossils("g10s2"), 8L, starts %/% 2L)
  for (ones in c(5, 20, 50)) try_openings(paste(ones, "% ones"), simulated(ones / 100), 6L, max(1L, starts %/% 20L))
}

try_openings <- function(name, x, k, n) {
  data <- hush(inside$check_data(unname(x), "binary"))
  fixed <- rep("free", k)
  prior <- list(aspects = c(1.2, 2), membership = 1.03)
  go <- function(start, ..., tol = 1e-9) {
    control <- unclass(fit_control(tol = tol, progress = FALSE, ...))
    time <- system.time(out <- inside$ab_run(data$view, start, fixed, prior, control), gcFirst = FALSE)[[1L]]
    iteration <- seq_len(out$outcome$n_iter)
    list(param = out$param, trace = out$outcome$trace, at = time * iteration / max(1L, iteration))
  }
  one <- function(start, most, tol) {
    first <- go(start, max_iter = most, tol = tol, algorithm = "em")
    if (most > 1000L) {
      return(first)
    }
    then <- go(first$param, max_iter = 1000L, algorithm = "newton")
    list(trace = c(first$trace, then$trace), at = c(first$at, max(0, first$at) + then$at))
  }
  ways <- list(`all by EM` = c(4000, 1e-9), none = c(0, 0), `30, or until .3 %` = unlist(inside$em_opening))
  set.seed(17)
  runs <- lapply(rep_len(start_cycle(fixed), n), function(kind) {
    start <- inside$ab_draw(data, kind, fixed)
    lapply(ways, function(way) one(start, way[[1L]], way[[2L]]))
  })
  per <- function(f) matrix(unlist(lapply(runs, function(run) lapply(run, f, em = run[[1L]]))), length(ways))
  end <- per(function(run, em) max(run$trace))
  to_level <- per(function(run, em) run$at[which(run$trace >= max(em$trace) - 0.1)[1L]])
  all <- per(function(run, em) max(run$at))
  for (w in seq_along(ways)) {
    up <- end[w, ] - end[1L, ]
    cat(sprintf("| %s, %d, %d | %s | %.2f (%.2f) | %d, %d | %.2f | %.1f | %.2f |\n", name, k, n, names(ways)[w],
      mean(up), stats::sd(up) / sqrt(n), sum(up > 0.1), sum(up < -0.1), mean(!is.na(to_level[w, ])),
      median_of(to_level[1L, ] / to_level[w, ]), sum(all[w, ])))
  }
}

if ("fossils" %in% parts) on_fossils()
if ("simulated" %in% parts) on_simulated()
ones <- sub("^ones=", "", grep("^ones=", parts, value = TRUE))
if (length(ones)) on_simulated(as.numeric(strsplit(ones, ",", fixed = TRUE)[[1L]]), starts)
if ("birds" %in% parts) on_birds()
if ("opening" %in% parts) opening()
