# How well does which_zeros() find what is missing, beside each of its learners, on tables that nothing was chosen on?
# Finds are deleted with a rate of its own in each site, uniform on [0, 0.4] (European mammals of the Neogene, genera
# with at least 5 sites in sites with at least 5 genera; simulated sites), or the first visit of a bird survey is taken
# and the truth is any visit. All choices were made on other tables (early tetrapods, g10s2, nam_large; other seeds).
#   Rscript bench/which_zeros.R [replicates = 2] [answers] [totals]     (both parts unless named)
# Results are kept in bench/which_zeros.md.
library(multicause)
replicates <- as.integer(c(commandArgs(TRUE), "2")[1L])
parts <- commandArgs(TRUE)[-1L]
if (!length(parts)) parts <- c("answers", "totals")
folder <- Sys.getenv("MULTICAUSE_DATA", "../shared/data")
shared <- function(...) file.path(folder, ...)

read_fossils <- function(name, folder = "now_2003") {
  path <- function(what) shared(folder, paste0(name, "_", what, ".csv"))
  if (!file.exists(path("occ"))) return(NULL)
  occ <- utils::read.csv(path("occ"))
  x <- matrix(0, max(occ[[1L]]), max(occ[[2L]]))
  x[cbind(occ[[1L]], occ[[2L]])] <- 1
  sites <- utils::read.csv(path("sites"))
  list(x = x, age = sites[[intersect(c("age_ma", "mid_age"), names(sites))]])
}

read_birds <- function() {
  if (!file.exists(shared("repeat_surveys", "mhb2014_counts.csv.gz"))) return(NULL)
  survey <- utils::read.csv(shared("repeat_surveys", "mhb2014_counts.csv.gz"))
  sites <- utils::read.csv(shared("repeat_surveys", "mhb2014_sites.csv"))
  visited <- sites$surveyed1 == 1
  seen <- array(FALSE, c(nrow(sites), 158L, 3L))
  seen[cbind(survey$site, survey$species, survey$visit)] <- TRUE
  seen <- seen[visited, apply(seen, 2L, any), ]
  truth <- apply(seen, 1:2, any)
  truth[seen[, , 1L]] <- NA
  numbers <- names(sites)[grepl("^(elev|forest|coordx|coordy)", names(sites))]
  list(x = seen[, , 1L] + 0, truth = truth, distance = stats::dist(scale(sites[visited, numbers])), by = numbers)
}

measure <- function(w, scores, truth) {
  each <- lapply(names(scores), function(name) {
    found <- recovery(scores[[name]], truth)$summary
    data.frame(score = name, found[c("auc", "auc_within", "ap", "slope")])
  })
  do.call(rbind, each)
}

# All learners of an answer and the answer itself, as n x m scores.
scores_of <- function(w) {
  answer <- w$probability
  answer[is.na(answer)] <- 0
  learners <- intersect(names(w$odds), rownames(w$weights))
  c(list(`the answer` = unname(answer)), stats::setNames(w$odds[learners], w$weights[learners, "learner"]))
}

show <- function(title, all, self, seconds, totals) {
  cat("\n##", title, "\n\n")
  means <- stats::aggregate(all[-1L], all["score"], mean)
  means[-1L] <- lapply(means[-1L], round, 3L)
  print(means[order(-means$auc), ], row.names = FALSE)
  cat(sprintf("\nself-assessment, AUC: %.3f; processor seconds a call: %.0f\n", mean(self), mean(seconds)))
  if (length(totals)) print(round(do.call(rbind, totals)), row.names = FALSE)
}

planted <- function(title, x, ...) {
  parts <- lapply(seq_len(replicates), function(r) {
    set.seed(7000 + r)
    gone <- corrupt(x, omit = c(0, 0.4))
    seconds <- system.time(w <- which_zeros(gone$x, ..., seed = r, progress = FALSE))
    again <- suppressMessages(which_zeros(
      gone$x, ..., seed = r, quick = TRUE, completeness = 1 - gone$rates$omit, progress = FALSE
    ))
    list(
      all = measure(w, scores_of(w), gone), self = w$quality["stack", "auc"], seconds = sum(seconds[1:2]),
      total = c(planted = sum(gone$omitted), again$total)
    )
  })
  show(
    sprintf("%s, %d replicates", title, replicates), do.call(rbind, lapply(parts, `[[`, "all")),
    vapply(parts, `[[`, 0, "self"), vapply(parts, `[[`, 0, "seconds"), lapply(parts, `[[`, "total")
  )
}

# `quick` answers with the true completeness and with that of the phantom: is the number deleted within the range, and
# how often is a site's above what the table is said to allow?
totals <- function(title, table, replicates) {
  if (is.null(table)) return(invisible())
  each <- vapply(seq_len(replicates), function(r) {
    set.seed(9400 + r)
    gone <- corrupt(table$x, omit = c(0, 0.4))
    answer <- function(...) {
      suppressMessages(which_zeros(gone$x, age = table$age, ..., seed = r, quick = TRUE, progress = FALSE))
    }
    w <- answer(completeness = 1 - gone$rates$omit)
    free <- answer()
    deleted <- sum(gone$omitted)
    inside <- function(w) w$total[["low"]] <= deleted && deleted <= w$total[["high"]]
    site <- by_site(w)
    rows <- if (is.null(rownames(gone$x))) site$site else match(site$site, rownames(gone$x))
    here <- rowSums(gone$omitted)[rows]
    c(
      deleted = deleted, known = w$total[["missed"]], inside = inside(w),
      site_inside = mean(floor(site$low) <= here & here <= ceiling(site$high)),
      free = free$total[["missed"]], free_inside = inside(free), most = free$total[["most"]],
      site_above_most = mean(here > site$most), slope = free$curve$summary$slope
    )
  }, numeric(9))
  print(data.frame(table = title, t(round(rowMeans(each), 3)), error = round(sqrt(mean((each[2L, ] - each[1L, ])^2)))),
    row.names = FALSE)
}

answers <- function() {
  cat("Totals: deleted finds; expected false absences given the true completeness (a `quick` answer), ends, and what\n")
  cat("the table alone allows where taxa are recorded alike (most) and not (unlike). Slopes: of the answer.\n")
  g5s5 <- read_fossils("g5s5")
  if (!is.null(g5s5)) planted("European mammals, g5s5", g5s5$x, age = g5s5$age)
  planted("Simulated sites", unname(multicause::simulated_sites$x))
  birds <- read_birds()
  if (!is.null(birds)) {
    seconds <- system.time(w <- which_zeros(birds$x, distance = birds$distance, seed = 1, progress = FALSE))
    by <- paste(birds$by, collapse = ", ")
    title <- paste("Swiss birds: first visit fitted, truth any visit; distance of", by)
    show(title, measure(w, scores_of(w), birds$truth), w$quality["stack", "auc"], sum(seconds[1:2]), list(
      c(`found later` = sum(birds$truth, na.rm = TRUE), w$total)
    ))
  }
}

if ("answers" %in% parts) answers()
if ("totals" %in% parts) {
  cat("\n## Totals,", max(replicates, 10L), "replicates\n\n")
  tables <- list(
    `European mammals, g5s5` = read_fossils("g5s5"), `European mammals, g10s2` = read_fossils("g10s2"),
    `Early tetrapods` = list(x = as.matrix(early_tetrapods$x) + 0, age = early_tetrapods$sites$age),
    `North America` = read_fossils("nam_large", "now_2020_nam"), `Simulated sites` = list(x = unname(simulated_sites$x))
  )
  for (name in names(tables)) totals(name, tables[[name]], max(replicates, 10L))
}
