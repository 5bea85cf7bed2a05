# The Dirichlet prior on the memberships of aspect_bernoulli(estimate = "map"): which parameter predicts hidden cells
# best, and what it does to the probabilities that a taxon was missed. The default is chosen by the result.
#   Rscript bench/membership_prior.R [cells] [missed] [smooth]     (all unless named; minutes each, one thread)
# Results are kept in bench/estimate_default.md. Tables that are not at hand are left out.
library(multicause)
parts <- commandArgs(TRUE)
if (!length(parts)) parts <- c("cells", "missed", "smooth")
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")

fit_with <- function(x, k, membership, ...) {
  prior <- list(aspects = c(1.2, 2), membership = membership)
  suppressWarnings(suppressMessages(aspect_bernoulli(x, k, prior = prior, ...)))
}

auc <- function(score, hit) (mean(rank(score)[hit]) - (sum(hit) + 1) / 2) / sum(!hit)

of_fossils <- function(set, what) file.path(folder, "now_2003", sprintf("%s_%s.csv", set, what))

occurrences <- function(set) {
  if (!file.exists(of_fossils(set, "occ"))) return(NULL)
  occ <- utils::read.csv(of_fossils(set, "occ"))
  x <- matrix(0, max(occ[[1L]]), max(occ[[2L]]))
  x[cbind(occ[[1L]], occ[[2L]])] <- 1
  x
}

first_visit <- function() {
  file <- file.path(folder, "repeat_surveys", "mhb2014_counts.csv.gz")
  if (!file.exists(file)) return(NULL)
  survey <- utils::read.csv(file)
  x <- matrix(0, max(survey$site), 158L)
  first <- survey[survey$visit == 1, ]
  x[cbind(first$site, first$species)] <- 1
  found <- rowSums(x) > 0
  structure(x[found, colSums(x) > 0], sites = which(found))
}

of_vegan <- function(name) {
  if (!requireNamespace("vegan", quietly = TRUE)) return(NULL)
  found <- new.env()
  utils::data(list = name, package = "vegan", envir = found)
  (as.matrix(found[[name]]) > 0) + 0
}

# Lists of `per` records each, from one of ten faunas with few common taxa; a tenth of the presences is left out.
lists <- function(n, m, per, seed) {
  set.seed(seed)
  fauna <- matrix(seq_len(m)^-0.8 * stats::rgamma(10 * m, 0.3), 10, byrow = TRUE)
  own <- sample(10, n, TRUE)
  site <- sample(n, per * n, TRUE)
  taxon <- integer(length(site))
  for (g in 1:10) taxon[own[site] == g] <- sample(m, sum(own[site] == g), TRUE, fauna[g, ])
  presences <- unique(data.frame(site, taxon))
  hidden <- sample(nrow(presences), nrow(presences) / 10)
  x <- matrix(0, n, m)
  x[as.matrix(presences[-hidden, ])] <- 1
  x
}

# Loss in nats a presence, and AUC, of a hidden tenth of the cells.
hidden_cells <- function(x, k, membership, seed) {
  set.seed(seed)
  hidden <- sample(length(x), length(x) / 10)
  y <- x
  y[hidden] <- NA
  fit <- fit_with(y, k, membership, control = fit_control(n_start = 2, n_polish = 0, max_iter = 400, progress = FALSE))
  p <- pmin(pmax(fitted(fit)[hidden], 1e-6), 1 - 1e-6)
  hit <- x[hidden] == 1
  c(loss = -mean(ifelse(hit, log(p), log1p(-p))) / mean(hit), auc = auc(p, hit))
}

if ("cells" %in% parts) {
  tried <- c(1, 1.03, 1.1, 1.2, 1.3, 1.5, 2)
  tables <- list(
    `g10s2` = occurrences("g10s2"), `early tetrapods` = early_tetrapods$x + 0, `birds, first visit` = first_visit(),
    `g2s2` = occurrences("g2s2"), `BCI trees` = of_vegan("BCI"), `mites` = of_vegan("mite"),
    `simulated sites` = simulated_sites$x + 0, `4 records a list` = lists(2000, 300, 4, 1),
    `8 records a list` = lists(1500, 300, 8, 2), `20 records a list` = lists(1000, 300, 20, 4)
  )
  cat("| table | k |", sprintf(" %g |", tried), "\n| --- | --- |", strrep(" --- |", length(tried)), "\n", sep = "")
  for (name in names(tables)) {
    x <- unname(tables[[name]])
    for (k in if (length(x)) c(4L, 8L, 16L)) {
      out <- vapply(tried, function(membership) {
        rowMeans(vapply(1:2, function(seed) hidden_cells(x, k, membership, seed), numeric(2)))
      }, numeric(2))
      cat(sprintf("| %s | %d |", name, k), sprintf(" %.3f %.3f |", out["loss", ], out["auc", ]), "\n", sep = "")
    }
  }
}

# A table of the model: four faunas, and at each site a share of what lived there that was not recorded.
recorded <- function(seed, mixed, n = 200, m = 80, k = 4) {
  set.seed(seed)
  aspects <- matrix(stats::rbeta(k * m, 0.3, 1.2), k)
  share <- matrix(stats::rgamma(n * k, if (mixed) 0.5 else 0.15), n)
  probability <- (share / rowSums(share)) %*% aspects
  missing <- stats::rbeta(n, 2, 3)
  lived <- matrix(stats::runif(n * m) < probability, n)
  seen <- lived & matrix(stats::runif(n * m) > missing, n)
  kept <- colSums(seen) > 0
  list(x = seen[, kept] + 0, missed = (lived & !seen)[, kept])
}

if ("missed" %in% parts) {
  cat("\n| faunas of a site | k | membership | expected / true | AUC of `missed` | calibration slope |\n")
  cat("|", strrep(" --- |", 6L), "\n", sep = "")
  for (mixed in c(TRUE, FALSE)) for (k in c(4L, 5L, 8L)) for (membership in c(1, 1.03, 1.1, 1.2, 1.3)) {
    out <- rowMeans(vapply(1:6, function(seed) {
      table <- recorded(seed, mixed)
      set.seed(seed)
      fit <- fit_with(table$x, k, membership, phantom = "white", control = fit_control(n_start = 3, progress = FALSE))
      found <- as.data.frame(suppressWarnings(suppressMessages(false_absences(fit, n = Inf))))
      truth <- table$missed[cbind(as.integer(found$site), as.integer(found$taxon))]
      odds <- stats::qlogis(pmin(pmax(found$missed, 1e-6), 1 - 1e-6))
      line <- suppressWarnings(stats::glm(truth ~ odds, family = stats::binomial))
      c(sum(found$missed) / sum(truth), auc(found$missed, truth), stats::coef(line)[[2L]])
    }, numeric(3)))
    cat(sprintf("| %s | %d | %g |", if (mixed) "mixed" else "mostly one", k, membership), sprintf(" %.2f |", out), "\n",
      sep = "")
  }
}

# Finds are deleted with a rate of its own at each site, uniform on [0, 0.4].
if ("smooth" %in% parts) {
  sites <- early_tetrapods$sites
  tables <- list(`early tetrapods` = list(
    x = early_tetrapods$x, near = smooth_over(
      age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], strength = 10,
      bandwidth = c(age = 4, place = 1000)
    )
  ))
  if (!is.null(birds <- first_visit())) {
    where <- utils::read.csv(file.path(folder, "repeat_surveys", "mhb2014_sites.csv"))[attr(birds, "sites"), ]
    distance <- stats::dist(scale(where[grepl("^(elev|forest|coordx|coordy)", names(where))]))
    near <- smooth_over(distance = distance, strength = 10, bandwidth = 0.5)
    tables$`birds, first visit` <- list(x = matrix(birds, nrow(birds)), near = near)
  }
  by_age <- function(x, age) list(x = x, near = smooth_over(age = age, strength = 10, bandwidth = 1))
  for (set in c("g5s5", "g10s2")) if (!is.null(x <- occurrences(set))) {
    tables[[set]] <- by_age(x, utils::read.csv(of_fossils(set, "sites"))$age_ma)
  }
  tables$`simulated sites` <- by_age(simulated_sites$x, simulated_sites$sites$age)
  tried <- c(1, 1.03, 1.06, 1.1)
  cat("\n| table |", sprintf(" %g |", tried), "\n| --- |", strrep(" --- |", length(tried)), "\n", sep = "")
  for (name in names(tables)) {
    table <- tables[[name]]
    out <- vapply(tried, function(membership) {
      rowMeans(vapply(321:322, function(seed) {
        set.seed(seed)
        planted <- suppressMessages(corrupt(table$x, omit = c(0, 0.4)))
        set.seed(1)
        control <- fit_control(n_start = 3, progress = FALSE)
        fit <- fit_with(planted$x, 6, membership, phantom = "white", smooth = table$near, control = control)
        unlist(recovery(fitted(fit), planted)$summary[c("auc", "auc_within", "ap")])
      }, numeric(3)))
    }, numeric(3))
    cat(sprintf("| %s |", name), sprintf(" %.4f %.4f %.4f |", out[1L, ], out[2L, ], out[3L, ]), "\n", sep = "")
  }
}
