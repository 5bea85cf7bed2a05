# The which_zeros() result and its parts. Tests R/which_zeros_learners.R, R/which_zeros_stack.R,
# R/which_zeros_methods.R, R/which_zeros_plot.R.

skip_on_cran()

x <- simulated_sites$x[1:60, ]
x <- x[, colSums(x) > 0]
answer <- local({
  w <- NULL
  function() {
    if (is.null(w)) w <<- which_zeros(x, age = 60:1, quick = TRUE, seed = 1)
    w
  }
})

test_that("companions are Beals' smoothing without the cell, with one site more of the mean", {
  set.seed(1)
  x <- matrix(rbinom(60, 1, 0.5), 10)
  x[2, 3] <- NA
  table <- nbm_table(x)
  p <- companion_scores(table)
  found <- matrix(as.double(x %in% 1), 10)
  for (cell in which(x == 0)) {
    i <- (cell - 1L) %% 10L + 1L
    j <- (cell - 1L) %/% 10L + 1L
    others <- setdiff(which(!is.na(x[, j])), i)
    rate <- mean(x[, j], na.rm = TRUE)
    share <- vapply(which(found[i, ] == 1), function(k) {
      (sum(found[others, j] * found[others, k]) + rate) / (sum(found[others, k]) + 1)
    }, 0)
    expect_equal(p[i, j], if (length(share)) mean(share) else rate, tolerance = 1e-12)
  }
})

test_that("companions are the same by pairs of sites as by pairs of taxa", {
  set.seed(5)
  x <- matrix(rbinom(9 * 30, 1, 0.3), 9)
  unknown <- replace(x, sample(length(x), 25), NA)
  for (each in list(x, unknown, Matrix::Matrix(unknown, sparse = TRUE))) {
    few <- nbm_table(each)
    twice <- nbm_table(as.matrix(each)[rep(1:9, 4), ]) # more sites than taxa, each four times
    per <- 1 / (few$sums + 1)
    expect_equal(companion_table(few, 4:6), companion_table(few)[, 4:6], tolerance = 1e-12)
    direct <- view_times(few$view, companion_table(few)) / pmax(few$size, 1)
    expect_equal(companion_scores(few, 2:7), direct[2:7, ], tolerance = 1e-12)
    pairs <- .Call(mc_c_view_pairs, twice$view)$both
    expect_equal(4 * companion_sums(few, 1:9, per), view_times(few$view, per * pairs), tolerance = 1e-12)
    expect_equal(companion_sums(twice, 1:9, per), 4 * companion_sums(few, 1:9, per), tolerance = 1e-12)
  }
})

test_that("tables of few sites and thousands of taxa need no memory of taxa squared", {
  set.seed(6)
  x <- matrix(rbinom(13 * 4000, 1, 0.3), 13)
  for (x in list(x, replace(x, c(3, 13005), NA))) {
    table <- nbm_table(x)
    before <- gc(reset = TRUE)
    p <- companion_scores(table)
    kappa <- predictability(x, NULL)$kappa
    used <- sum((gc()[, 6L] - before[, 2L]))
    expect_lt(used, 100) # MB; a matrix of taxa by taxa has 128
    expect_true(all(p >= 0 & p <= 1 | is.na(x)) && kappa > 0 && kappa < 1)
  }
})

test_that("a table whose answer this machine cannot hold is refused, with what can be done", {
  bind_in_namespace("machine_memory", function() 1e5)
  expect_error(which_zeros(x), "would need .* GB of memory or more: this machine has 1e-04; .*shards",
    class = "multicause_input_error")
})

test_that("fits that are averaged do not visit zeros where presences are few, those that users make do", {
  seen <- character()
  note <- function(control) seen <<- c(seen, control$algorithm)
  tracer <- call("(", bquote(.(note)(control)))
  suppressMessages(trace("ab_run", tracer, print = FALSE, where = asNamespace("multicause")))
  on.exit(suppressMessages(untrace("ab_run", where = asNamespace("multicause"))))
  set.seed(1)
  x <- binary(300, 120, 0.15)
  control <- fit_control(n_start = 1, n_polish = 0, max_iter = 5, progress = FALSE)
  mean_of_fits(x, 2, 1, control, list())
  expect_identical(seen, rep(line_iterations, 2))
  mean_of_fits(1 - x, 2, 1, control, list())
  mean_of_fits(x[1:100, ], 2, 1, control, list())
  ensemble(x, 2, members = 1)
  expect_identical(seen[-(1:2)], rep("em", 6))
})

test_that("the regression gives back the probability of a record, not that of a deletion", {
  set.seed(3)
  odds <- cbind(a = rnorm(20000, -2, 1.5), b = rnorm(20000, -2, 1.5))
  was_presence <- rbinom(20000, 1, plogis(0.3 + odds %*% c(0.6, 0.4))) == 1
  deleted <- was_presence & runif(20000) < 0.1
  zero <- deleted | !was_presence
  copy <- list(odds = odds[zero, ], deleted = deleted[zero], at = which(zero), fraction = 1, rate = 0.1)
  fit <- fit_stack(list(copy), list(ridge = 1e-3))
  expect_equal(c(fit$intercept, fit$weights), c(0.3, a = 0.6, b = 0.4), tolerance = 0.2)
})

test_that("no weight is negative", {
  set.seed(1)
  z <- cbind(good = rnorm(500), bad = rnorm(500))
  y <- rbinom(500, 1, plogis(z %*% c(1, -1)))
  fit <- stack_weights(stack_bind(list(list(z = z, y = y, offset = rep(0, 500)))), 1)
  expect_identical(fit$weights[["bad"]], 0)
  expect_gt(fit$weights[["good"]], 0.5)
  # But the number of presences of a taxon may lower its probability.
  colnames(z)[2L] <- "presences"
  fit <- stack_weights(stack_bind(list(list(z = z, y = y, offset = rep(0, 500)))), 1)
  expect_lt(fit$weights[["presences"]], -0.5)
})

test_that("a taxon without presences has half a presence, and is not learnt from", {
  x <- matrix(0, 6, 3)
  x[1:4, 1] <- x[2:6, 2] <- 1
  table <- nbm_table(x)
  filled <- fill_unseen(matrix(0.2, 6, 3), table)
  expect_identical(filled[, 1:2], matrix(0.2, 6, 2))
  expect_equal(filled[, 3], stats::qlogis(0.5 * (rowSums(x) + 0.5) / 12))
  terms <- taxon_terms(table)
  expect_equal(terms$presences, log1p(c(4, 5, 1)))
  expect_equal(terms$presences_squared, terms$presences^2)
  wanted <- list(presences = terms$presences[c(1L, 3L)], x[c(2, 13)])
  expect_equal(cell_columns(c(terms[1L], list(x)), c(2, 13), 6), wanted)
  damaged <- x
  damaged[1:4, 1] <- 0
  cells <- judged_cells(damaged, c(which(x[, 1] == 1), 8L)[1:4])
  expect_identical((cells$at - 1L) %/% 6L + 1L, 2L)
})

test_that("columns are brought to equal spread, and those without one are 0", {
  z <- cbind(c(1, 5, 2, 8), 3, c(-1, 0, 0, 7))
  even <- equal_spread(z, 2)
  expect_equal(even$design, cbind(1, replace(scale(z), is.na(scale(z)), 0)), ignore_attr = TRUE)
  expect_identical(even$centre, colMeans(z))
  expect_equal(even$spread, c(stats::sd(z[, 1]), Inf, stats::sd(z[, 3])))
})

test_that("a copy that lost many presences is scored at a sample of the sites, as all of it would be", {
  set.seed(2)
  x <- matrix(rbinom(60000, 1, runif(20)), 2000, 30, byrow = TRUE)
  x[, 3] <- 0
  deleted <- which(x == 1)[seq_len(10000)]
  x[deleted] <- 0
  cells <- judged_cells(x, deleted)
  expect_length(cells$rows, 1000L)
  expect_true(all((cells$at - 1L) %% 2000L + 1L %in% cells$rows) && all(x[cells$at] == 0))
  seen <- (cells$at - 1L) %/% 2000L + 1L
  expect_identical(sort(unique(seen)), which(colSums(x) > 0))
  x <- x[1:60, ]
  near <- match_smooth(smooth_over(age = 1:60), x)
  tuned <- tune_neighbours(x, near)
  learn <- function(...) with_seed(1, learn_table(x, tuned, copy_effort, c(as_usual(TRUE), n_threads = 1), ...)$odds)
  rows <- c(2L, 5L, 40L)
  at <- which(x == 0 & row(x) %in% rows & col(x) %in% which(colSums(x) > 0))
  expect_equal(learn(at, rows), cell_columns(learn(), at, 60L), tolerance = 1e-6) # kept in millionths
  table <- nbm_table(x)
  near[c("bandwidth", "most")] <- list(c(age = 5), 30L)
  whole <- fair_scores(table, near)
  expect_equal(fair_scores(table, near, 1, rows), lapply(whole, function(z) as.vector(matrix(z, 60)[rows, ])))
})

test_that("cells that hold a value are the same of a sparse table", {
  table <- binary(20, 7, 0.3, 0.1)
  for (value in 0:1) {
    expect_identical(cells_that_hold(table, value), !is.na(table) & table == value)
    expect_identical(cells_that_hold(Matrix::Matrix(table, sparse = TRUE), value), !is.na(table) & table == value)
  }
  few <- Matrix::sparseMatrix(c(2, 3), c(1, 1), x = c(0, 1), dims = c(3, 2)) # a zero is stored
  expect_identical(which(cells_that_hold(few, 0)), c(1L, 2L, 4:6))
  expect_identical(deal_presences(few, 2), list(3L, integer()))
})

test_that("finds are dealt so that no copy loses one that another loses", {
  set.seed(1)
  deleted <- with_seed(1, deal_presences(x, 10))
  expect_identical(sort(unlist(deleted)), which(x == 1))
  expect_lte(diff(range(lengths(deleted))), 1L)
})

test_that("an answer holds what it says", {
  w <- answer()
  expect_identical(is.na(w$probability), x == 1)
  cells <- as.data.frame(w)
  expect_identical(nrow(cells), sum(x == 0))
  expect_false(is.unsorted(-cells$probability))
  expect_true(all(cells$missed_low <= cells$missed + 1e-12 & cells$missed <= cells$missed_high + 1e-12))
  expect_equal(w$kappa, predictability(x, chosen_neighbours(w, "near"))$kappa)
  expect_equal(w$total[["missed"]], 1.36 * sum(x) * (1 - w$kappa / 0.91), tolerance = 1e-4)
  expect_equal(w$more$missed[w$more$surveys == 2], w$total[["missed"]], tolerance = 1e-4)
  expect_equal(diff(range(qlogis(cells$missed) - 0.8 * qlogis(cells$probability))), 0, tolerance = 1e-8)
  expect_true(all(w$weights$weight >= 0))
  expect_equal(sum(w$weights$share), 1)
  sites <- by_site(w)
  taxa <- by_taxon(w)
  expect_equal(sum(sites$missed), w$total[["missed"]])
  expect_equal(sum(taxa$missed), w$total[["missed"]])
  expect_identical(sum(sites$presences), sum(taxa$presences))
  halves <- by_site(w, groups = rep(c("old", "young"), each = 30))
  expect_equal(sum(halves$missed), w$total[["missed"]])
  expect_lt(sum(halves$high - halves$low), sum(sites$high - sites$low))
})

test_that("all numbers of an answer are in order: of cells, sites, taxa, groups and in all", {
  tetrapods <- early_tetrapods$sites
  some <- seq_len(nrow(tetrapods)) %% 2L == 1L
  poor <- suppressMessages(which_zeros(
    early_tetrapods$x[some, ], age = tetrapods$age[some], completeness = seq(0.2, 1, length.out = sum(some)),
    quick = TRUE, seed = 1
  ))
  phantom <- which_zeros(early_tetrapods$x, age = tetrapods$age, assume = "phantom", quick = TRUE, seed = 1)
  for (w in list(answer(), phantom, poor)) {
    expect_coherent(w)
    groups <- rep(c("a", "b", "c"), length.out = w$dims[["n"]])
    expect_coherent_sums(by_site(w, groups = groups))
    expect_coherent_sums(by_taxon(w))
    for (of in c("share", "missed", "richness")) {
      pairs <- contrast(w, groups, of = of)
      expect_true(in_order(pairs$low, pairs$difference, pairs$high))
    }
    first <- as.data.frame(w, n = 1)
    expect_identical(explain(w, first$site, first$taxon)$cell, first)
  }
})

test_that("ranges hold what is expected and end where the table ends", {
  ends <- cbind(c(2, 5, 1), c(4, 9, 3))
  expect_equal(coherent_ends(ends, c(3, 4, 3.5)), cbind(low = c(2, 4, 1), high = c(4, 9, 3.5)))
  expect_equal(coherent_ends(ends, c(3, 6, NA), c(3.5, 7, 2))[1:2, ], cbind(low = c(2, 5), high = c(3.5, 7)))
})

# Share of pairs of a hit and another cell in which the hit is above, ties counted half.
auc_of <- function(score, hit) mean(outer(score[hit], score[!hit], function(a, b) (a > b) + (a == b) / 2))

test_that("it finds what was missed, better than chance by far", {
  w <- which_zeros(simulated_sites$x, assume = "phantom", quick = TRUE, seed = 2)
  false <- simulated_sites$truth$present == 1 & simulated_sites$x == 0
  expect_gt(auc_of(w$probability[simulated_sites$x == 0], false[simulated_sites$x == 0]), 0.74)
  # A phantom generated this table.
  expect_lt(abs(log2(w$total[["missed"]] / sum(false))), 0.6)
  expect_gt(w$curve$summary$slope, 0.7)
  expect_match(format(w)[["missed"]], "About [0-9 ]+ presences were not detected, if the phantom is what")
  w$total[c("missed", "low")] <- c(0.33, 0)
  expect_match(format(w)[["missed"]], "About less than 1 presence", fixed = TRUE)
})

test_that("same seed, same answer: anew, from the session's seed, sparse", {
  w <- answer()
  set.seed(99)
  before <- .Random.seed
  again <- which_zeros(x, age = 60:1, quick = TRUE, seed = 1)
  expect_identical(.Random.seed, before)
  expect_identical(again[names(again) != "call"], w[names(w) != "call"])
  free <- which_zeros(x, quick = TRUE)
  set.seed(99)
  expect_identical(which_zeros(x, quick = TRUE)$probability, free$probability)
  sparse <- which_zeros(Matrix::Matrix(x, sparse = TRUE), age = 60:1, quick = TRUE, seed = 1)
  expect_equal(sparse$probability, w$probability, tolerance = 1e-4)
  other <- update(w, seed = 2)
  expect_identical(other$seed, 2L)
  expect_false(identical(other$probability, w$probability))
})

test_that("update() needs nothing of where the answer was made", {
  made <- function(...) {
    table <- x
    ages <- 60:1
    which_zeros(table, age = ages, ..., quick = TRUE, seed = 1)
  }
  w <- made(leave_out = 2:3)
  expect_identical(update(w)$probability, w$probability)
  expect_identical(update(w, leave_out = NULL)$probability, answer()$probability)
  expect_identical(update(made(), leave_out = 2:3)$probability, w$probability)
  expect_identical(update(w, seed = 2, evaluate = FALSE)$seed, 2)
  expect_error(update(w, . ~ .), "takes arguments by name")
})

test_that("workers give the same answer", {
  skip_if_not_installed("future")
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  again <- which_zeros(x, age = 60:1, quick = TRUE, seed = 1)
  expect_identical(again[names(again) != "call"], answer()[names(again) != "call"])
})

test_that("zeros that cannot be false, sites left out and unknown cells", {
  within <- range_through(x, 60:1)
  w <- which_zeros(x, age = 60:1, within = within, quick = TRUE, seed = 1)
  expect_identical(nrow(as.data.frame(w)), sum(within))
  expect_lte(w$total[["missed"]], answer()$total[["missed"]])
  expect_identical(w$probability, answer()$probability)
  part <- which_zeros(x, age = 60:1, leave_out = rownames(x)[c(3, 50)], quick = TRUE, seed = 1)
  expect_identical(
    part$probability, which_zeros(x[-c(3, 50), ], age = (60:1)[-c(3, 50)], quick = TRUE, seed = 1)$probability
  )
  holes <- x
  holes[c(5, 77, 300)] <- NA
  w <- which_zeros(holes, age = 60:1, quick = TRUE, seed = 1)
  expect_false(anyNA(w$probability[c(5, 77, 300)]))
  expect_identical(nrow(as.data.frame(w)), sum(holes == 0, na.rm = TRUE))
})

test_that("a data frame whose first column has the names of sites is read once, with one message", {
  set.seed(3)
  x <- matrix(rbinom(200, 1, 0.4), 20, dimnames = list(NULL, paste0("taxon", 1:10)))
  table <- data.frame(site = paste("Site", 1:20), x)
  said <- testthat::capture_messages(data <- wz_data(table, NULL))
  expect_identical(said, "Row names taken from the first column of `x`, \"site\".\n")
  expect_identical(rownames(data$x), table$site)
  table[1:2, c("taxon1", "taxon2", "taxon4")] <- 2
  said <- testthat::capture_messages(data <- wz_data(table, NULL))
  expect_match(said, "Row names taken|holds counts, up to 2")
  expect_length(said, 2L)
})

test_that("what is known of completeness decides the total", {
  ask <- function(...) suppressMessages(which_zeros(x, age = 60:1, quick = TRUE, seed = 1, ...))
  whole <- ask(completeness = 1)
  expect_lt(whole$total[["missed"]], 1e-6)
  known <- ask(completeness = 0.8)
  # In a table with completeness c a share 1 - c is missed: (1 - c) / c for each presence.
  expect_equal(known$total[["missed"]], sum(x) * 0.25, tolerance = 0.1)
  wide <- ask(completeness = c(0.7, 0.9))
  expect_gt(diff(wide$total[c("low", "high")]), diff(known$total[c("low", "high")]))
  expect_identical(known$probability, wide$probability)
  effort <- ask(effort = rowSums(x) + seq(0, 1, length.out = 60))
  expect_identical(effort$source, "effort")
})

test_that("groups of sites are compared over the same draws", {
  w <- answer()
  groups <- factor(rep(c("young", "old", NA), each = 20), c("young", "old"))
  found <- contrast(w, groups)
  sums <- by_site(w, groups = groups)
  share <- stats::setNames(sums$share, sums$group)
  expect_identical(c(found$group, found$other), c("young", "old"))
  expect_equal(found$difference, share[["young"]] - share[["old"]])
  expect_true(found$low <= found$difference && found$difference <= found$high)
  missed <- contrast(w, groups, of = "missed")
  expect_equal(missed$value - missed$other_value, missed$difference)
  # Half of each site's draws cancel: the difference of two groups is more precise than their ranges suggest.
  expect_lt(missed$high - missed$low, sum(sums$high - sums$low))
  three <- contrast(w, rep(1:3, 20), of = "richness")
  expect_identical(nrow(three), 3L)
  expect_equal(three$value[1L], (sum(x[rep(1:3, 20) == 1, ]) + by_site(w, groups = rep(1:3, 20))[["missed"]][
    match("1", by_site(w, groups = rep(1:3, 20))$group)
  ]) / 20)
  expect_output(print(three), "Taxa per site")
})

test_that("repeated visits say what was missed", {
  set.seed(5)
  present <- outer(1:60, 1:12, function(i, j) (i <= 30) == (j <= 6)) * matrix(rbinom(720, 1, 0.7), 60)
  visits <- lapply(1:3, function(v) present * matrix(rbinom(720, 1, 0.5), 60))
  w <- which_zeros(visits = visits, quick = TRUE, seed = 1)
  expect_identical(w$presences, sum(Reduce(pmax, visits)))
  missed <- sum(present > Reduce(pmax, visits))
  expect_true(in_order(w$total[["low"]], missed, w$total[["high"]]))
  expect_identical(w$source, "visits")
  expect_error(which_zeros(x, visits = visits), "sites and taxa of `visits`, 60 x 12", class = "multicause_input_error")
})

test_that("why a zero is thought false adds up", {
  w <- answer()
  cell <- as.data.frame(w, n = 1)
  why <- explain(w, cell$site, cell$taxon)
  expect_equal(stats::plogis(sum(why$score$log_odds)), cell$probability)
  expect_equal(sum(why$neighbours$weight), 1)
  table <- nbm_table(x)
  i <- match(cell$site, rownames(x))
  j <- match(cell$taxon, colnames(x))
  expect_equal(mean(why$companions$share), companion_scores(table)[i, j])
  expect_identical(nrow(why$companions), as.integer(sum(x[i, ])))
  expect_snapshot(invisible(print(names(why))))
  find <- which(x == 1, arr.ind = TRUE)[1L, ]
  expect_error(explain(w, find[[1L]], find[[2L]]), "this is a presence", class = "multicause_input_error")
  expect_error(explain(w, toupper(rownames(x)[1L]), 1), sprintf("did you mean \"%s\"", rownames(x)[1L]), fixed = TRUE)
})

test_that("the table says how much it counts that lists are alike, and neighbours are shown by that", {
  # Four communities, each of all ages, easy or hard to distinguish.
  communities <- function(own) {
    probability <- ifelse(outer(rep(1:4, 20), rep(1:4, 8), "=="), own, 0.2)
    list(x = with_seed(1, matrix(as.double(runif(80 * 32) < probability), 80)), age = 1:80)
  }
  table <- communities(0.8)
  near <- smooth_over(age = table$age)
  similarity <- function(x, near) tune_neighbours(x, near)$similarity
  expect_identical(similarity(table$x, near), 4)
  expect_identical(similarity(communities(0.4)$x, near), 1)
  near$most <- least_near
  best <- vapply(c(1, 2, 4), function(power) max(nbm_tune(near, power, nbm_table(table$x))$trace$objective), 0)
  expect_false(is.unsorted(best))
  sites <- early_tetrapods$sites
  expect_identical(similarity(early_tetrapods$x, smooth_over(age = sites$age, place = sites[c("lng", "lat")])), 1)
  expect_null(tune_neighbours(table$x, NULL))
  w <- which_zeros(table$x, age = table$age, quick = TRUE, seed = 1)
  cell <- which(w$candidate, arr.ind = TRUE)[1L, ]
  near <- explain(w, cell[[1L]], cell[[2L]])$neighbours
  lists <- near_lists(chosen_neighbours(w, "near_alike"), cell[[1L]])
  # The sites' ages are held once.
  expect_identical(names(w$near$near), c("bandwidth", "most"))
  length <- sqrt(rowSums(table$x))
  overlap <- drop(tcrossprod(table$x, table$x[cell[[1L]], , drop = FALSE])) / length / length[cell[[1L]]]
  weight <- lists$weight * (overlap[lists$neighbour + 1L] + likeness_floor)^4
  expect_equal(near$weight[match(lists$neighbour + 1L, near$site)], weight / sum(weight))
})

test_that("answers are printed in plain words", {
  w <- answer()
  # Numbers differ in their last digits between BLAS libraries; the words do not.
  words <- function(x) gsub("[0-9][0-9. ]*[0-9]|[0-9]", "#", utils::capture.output(print(x)))
  flat <- gsub(" +", " ", paste(words(w), collapse = " ")) # lines end where numbers let them
  expect_snapshot(writeLines(strwrap(sub("(AUC #).*", "\\1", flat), 100)))
  expect_true(any(grepl("quick", words(w))))
  text <- utils::capture.output(print(w))
  expect_lte(max(nchar(text)), 80L)
  expect_identical(utils::capture.output(print(w, n = 0))[1:3], text[1:3])
  shown <- utils::capture.output(by_site(w))
  expect_match(shown[length(shown)], "(15 of 60, most undetected first", fixed = TRUE)
  for (sums in list(by_site(w), by_taxon(w))) {
    most <- sums[[1L]][which.max(sums$missed)]
    expect_match(utils::capture.output(sums)[4L], most, fixed = TRUE)
    expect_true(any(grepl(paste0("^ *", most, " "), utils::capture.output(print(summary(w), n = 1)))))
  }
  cell <- as.data.frame(w, n = 1)
  why <- utils::capture.output(explain(w, cell$site, cell$taxon))
  expect_true(any(grepl("similar sites have it", why)) && any(grepl("companions", why)) && any(grepl("log-odds", why)))
})

test_that("the answer and the best rule are compared by each measure, beyond its standard error", {
  quality <- data.frame(
    learner = c("this result", "mean of similar sites", "companions"), auc = c(0.84, 0.775, 0.7),
    auc_within = c(0.804, 0.809, 0.75), row.names = c("stack", "alike", "companions")
  )
  says <- function(difference, se, rule = c("alike", "alike"), copies = c(10L, 10L), hidden = 400L) {
    gain <- data.frame(rule = rule, difference = difference, se = se, copies = copies)
    rule_sentence(gain, quality, hidden, c("localities", "genera"))
  }
  # A pollination web: better over the table, not within sites.
  expect_identical(says(c(0.065, -0.005), c(0.004, 0.006)), paste(
    "The best simple rule (mean of similar sites) has 0.775 and 0.809. Better than the best simple rule by 0.065",
    "(SE 0.004) over the table; not distinguishable from the best simple rule, difference 0.005 (SE 0.006) within",
    "localities (t test over 10 copies)."
  ))
  split <- "Better .* by 0.065 .* over the table; worse than the best simple rule by 0.020 .* within localities.$"
  expect_match(says(c(0.065, -0.02), c(0.004, 0.006)), split)
  expect_match(says(c(-0.1, -0.1), c(0.01, 0.01)), "Worse than the best simple rule by 0.100 (SE 0.010)", fixed = TRUE)
  level <- says(c(0.001, 0.001), c(0.01, 0.01))
  expect_match(level, "Not distinguishable .* over the table and .* within localities \\(t test over 10 copies\\).$")
  # Two copies that agree by chance prove nothing.
  two <- says(c(0.02, 0.02), c(0.005, 0.005), copies = c(2L, 2L))
  expect_match(two, "Two copies are too few to compare with it \\(difference 0.020 over the table and .*\\).$")
  w <- suppressMessages(which_zeros(early_tetrapods$x, quick = TRUE, seed = 1))
  w$curve$summary$changed <- few_hidden
  w$gain[c("difference", "se")] <- list(c(0.02, 0.001), c(0.005, 0.001))
  w$gain$copies <- 2L
  expect_match(few_quality_sentences(w), "^Two copies are too few to compare with the rule", all = FALSE)
  w$gain$difference <- c(0.005, 0.001)
  expect_match(few_quality_sentences(w), "^Not distinguishable from the rule", all = FALSE)
  mixed <- says(c(0.02, 0.02), c(0.005, 0.001), copies = c(2L, 2L))
  expect_match(mixed, "Not .* over the table; better .* within localities \\(two copies are too few\\).$")
  expect_match(says(c(0.1, 0.1), c(0.01, 0.01), hidden = 150L), "and 0.809. Too few presences were held out")
  expect_match(
    says(c(0.065, 0.05), c(0.004, 0.006), c("alike", "companions")),
    "has 0.775 over the table (mean of similar sites) and 0.750 within localities (companions).", fixed = TRUE
  )
  # Only one copy, or none, with a held-out presence.
  alone <- says(c(0.065, 0.05), c(NA, NA), copies = c(1L, 1L))
  expect_match(alone, "difference 0.065 over the table and 0.050 within localities.$")
  one_measure <- says(c(0.065, NaN), c(0.004, NA), c("alike", NA))
  expect_match(one_measure, "has 0.775 over the table .*Better .* over the table.$")
  expect_null(says(c(NaN, NaN), c(NA, NA), c(NA, NA)))
  found <- gain_over(rbind(stack = c(0.9, NaN), alike = c(0.8, NaN)), "alike")
  expect_equal(found, data.frame(rule = "alike", difference = 0.1, se = NA_real_, copies = 1L))
  expect_identical(gain_over(rbind(stack = NaN, alike = NaN), "alike")$rule, NA_character_)
})

test_that("how well held-out presences are found is said where it is known, and that it is little where it is", {
  q <- function(auc, within, se = 0.01) data.frame(auc = auc, auc_se = se, auc_within = within, auc_within_se = se)
  words <- c("localities", "genera")
  expect_identical(hidden_sentence(q(0.9, 0.8), 1, words), paste(
    "Held-out presences (1) are ranked with AUC 0.900 (SE 0.010), within localities 0.800 (SE 0.010)."
  ))
  expect_match(hidden_sentence(q(0.9, NaN, NA), 30, words), "AUC 0.900, within localities not measured.$")
  expect_match(hidden_sentence(q(NaN, NaN, NA), 0, words), "is unknown: 0 presences were held out, too few")
  expect_null(weak_sentence(q(0.9, 0.8), 400, words))
  expect_match(weak_sentence(q(0.55, 0.55), 400, words), "false from true zeros.$")
  expect_match(weak_sentence(q(0.9, 0.55), 400, words), "zeros within localities.$")
  expect_match(weak_sentence(q(0.7, 0.7, 0), 5, words), "false from true zeros.$") # copies that agree by chance
  expect_match(weak_sentence(q(NaN, NaN, NA), 0, words), "false from true zeros.$")
})

test_that("tables of few presences have an answer without warnings, or words of ours", {
  once <- diag(25)
  once[1:2, 1] <- 1
  small <- matrix(0, 7, 24)
  small[with_seed(2, sample(168, 31))] <- 1
  for (x in list(once, small)) {
    expect_no_warning(w <- which_zeros(x, quick = TRUE, copies = 10, seed = 2))
    expect_true(any(is.na(w$gain$se)) || any(w$gain$copies < 10L))
    expect_match(paste(utils::capture.output(print(w)), collapse = " "), "Not distinguishable from the rule")
    expect_match(paste(utils::capture.output(print(w)), collapse = " "), "quick")
    expect_coherent(w)
  }
})

test_that("the log-odds of scores are those of qlogis(), within a ten thousandth of 0 and 1", {
  p <- matrix(c(0, 1e-5, 1e-4, 0.3, 0.5, 0.99995, 1, NA), 2, dimnames = list(c("a", "b"), NULL))
  all <- stats::qlogis(pmin(pmax(unname(p), 1e-4), 1 - 1e-4))
  expect_equal(score_odds(p), all)
  expect_equal(score_odds(p, c(4, 1)), all[c(4, 1)])
  expect_identical(score_odds(p, pack = TRUE, n_threads = 2), array(as.integer(round(1e6 * all)), dim(p)))
  expect_equal(score_odds(as.vector(p)), as.vector(all))
  many <- seq(0.001, 0.999, length.out = 20000) # of 8 192 at a time
  expect_equal(score_odds(many), stats::qlogis(many))
})

test_that("all cells get the log-odds, and their errors, that a block of them has", {
  set.seed(1)
  odds <- list(a = matrix(rnorm(700), 100), b = matrix(sample.int(1e6, 700), 100), presences = rnorm(7))
  z <- do.call(cbind, cell_columns(odds, seq_len(700), 100))
  covariance <- crossprod(matrix(rnorm(16), 4))
  stack <- list(weights = c(a = 1, b = 0.5, presences = -2), intercept = 0.3, covariance = covariance)
  for (n_threads in 1:2) {
    expect_equal(stack_cells(odds, stack, n_threads), matrix(stack_odds(stack, z), 100))
    expect_equal(stack_cells(odds, stack, n_threads, error = TRUE), matrix(odds_se(z, stack), 100))
  }
  odds$b[3L] <- NA
  expect_identical(which(is.na(stack_cells(odds, stack, 1))), 3L)
})

test_that("where a part of the zeros was kept, curves and what is expected are those of all of them", {
  set.seed(11)
  n <- 200L
  eta <- stats::rnorm(n * 400, -2, 2)
  hit <- stats::runif(length(eta)) < stats::plogis(eta + log(0.1))
  kept <- which(hit | stats::runif(length(eta)) < 0.2)
  curve_of <- function(at, fraction) {
    copy <- list(odds = cbind(near = eta[at]), deleted = hit[at], at = at, fraction = fraction, rate = 0.1)
    told <- judge_copy(copy, cbind(stack = eta[at], copy$odds), c(n, 400L))
    judged_curve(told$hidden, hit[at], told$probability, fraction)
  }
  whole <- curve_of(seq_along(eta), 1)
  some <- curve_of(kept, 0.2)
  for (curve in list(whole, some)) expect_equal(curve$calibration$share, curve$calibration$score, tolerance = 0.1)
  middle <- function(curve) stats::approx(curve$pr$recall, curve$pr$precision, c(0.3, 0.6, 0.9), ties = mean)$y
  expect_equal(middle(some), middle(whole), tolerance = 0.05)
  expect_false(is.na(whole$summary$ap))
  expect_true(is.na(some$summary$ap))
})

test_that("a column without spread has no weight, and no error", {
  z <- cbind(a = with_seed(1, rnorm(200)), b = rep(3, 200))
  data <- stack_bind(list(list(z = z, y = as.double(z[, 1L] > 0.5), offset = rep(0, 200))))
  fit <- ridge_logistic(data, 1:2, 1)
  expect_equal(ridge_logistic(data, 1:2, 1, c(1, 2, 3)), fit, tolerance = 1e-4)
  expect_identical(fit$coefficients[3L], 0)
  expect_identical(fit$covariance[3L, ], c(0, 0, 0))
})

test_that("every figure is drawn", {
  w <- answer()
  for (what in c("zeros", "how_many", "sites", "taxa", "table", "quality")) drawn(ggplot2::autoplot(w, what, n = 7))
  expect_match(ggplot2::autoplot(w, "quality")$labels$subtitle, sprintf("AUC %.3f,", w$quality["stack", "auc"]))
})

test_that("threads change nothing but the time, and jobs' settings are those of fit_control()", {
  set.seed(1)
  x <- matrix(rbinom(300 * 30, 1, outer(runif(300), runif(30))), 300) # of several blocks
  answer <- function(n_threads) {
    suppressMessages(which_zeros(x, age = 1:300, quick = TRUE, seed = 1, control = fit_control(n_threads = n_threads)))
  }
  one <- answer(1)
  same <- setdiff(names(one), "call")
  for (n_threads in 2:3) expect_identical(answer(n_threads)[same], one[same])
  refused <- function(call, words) expect_error(call, words, class = "multicause_input_error")
  refused(which_zeros(x, control = list(n_threads = 2)), "must come from fit_control")
  refused(which_zeros(x, control = mcmc_control()), "not mcmc_control")
  own <- "only `n_threads`, `progress`, `checkpoint` for this call, not `n_start`, `max_iter`: its fits have settings"
  refused(which_zeros(x, control = fit_control(n_start = 50, max_iter = 1, n_threads = 2)), own)
  refused(sensitivity(one, control = fit_control(tol = 1e-3)), "only `n_threads`, `progress` for this call, not `tol`")
  refused(sensitivity(one, control = fit_control(checkpoint = tempfile())), "`checkpoint` .* has no effect here")
})

test_that("time that is up leaves the copies that are needed", {
  w <- suppressWarnings(which_zeros(x, quick = TRUE, copies = 4, seconds = 0, seed = 1))
  expect_identical(w$copies, 2L)
  expect_match(paste(utils::capture.output(w), collapse = " "), "2 of 4 copies")
})

test_that("wrong input", {
  lost <- list(age = 1)
  expect_message(
    expect_error(which_zeros(diag(5), age = lost$ages, completeness = 2), class = "multicause_input_error"),
    "`age` is left out, since lost$ages is NULL: is there such a column?", fixed = TRUE
  )
  said <- function(expr) {
    tryCatch(
      {
        expr
        "NO ERROR"
      },
      multicause_input_error = conditionMessage
    )
  }
  expect_snapshot({
    writeLines(said(which_zeros()))
    writeLines(said(which_zeros(x + 1)))
    writeLines(said(which_zeros(x, age = 1:59)))
    writeLines(said(which_zeros(x, completeness = 2)))
    writeLines(said(which_zeros(x, completeness = 0.5, effort = 1:60)))
    writeLines(said(which_zeros(x, copies = 11)))
    writeLines(said(which_zeros(x, ages = 1:60)))
    writeLines(said(which_zeros(x[1:4, ])))
    writeLines(said(which_zeros(x, within = matrix(TRUE, 2, 2))))
    writeLines(said(which_zeros(x, within = x == 1)))
    writeLines(said(which_zeros(matrix(1, 10, 10))))
    writeLines(said(which_zeros(x, leave_out = "nowhere")))
    writeLines(said(by_site(1)))
    writeLines(said(by_site(answer(), groups = 1:3)))
    writeLines(said(explain(answer(), 1:2, 1)))
    writeLines(said(contrast(answer())))
    writeLines(said(contrast(answer(), rep(1, 60))))
    writeLines(said(contrast(answer(), 1:3)))
    writeLines(said(plot(answer(), "nothing")))
  })
})

test_that("scores that differ in their last bits alone are told apart", {
  set.seed(4)
  for (score in list(1 + rnorm(3000) * 1e-12, c(rnorm(500), -0.5 + (1:800) * 2^-53, rep(0, 50), -0.0))) {
    hit <- rbinom(length(score), 1, 0.4) == 1
    steps <- descend_scores(score, hit)
    highest <- order(-score)
    last <- which(c(diff(score[highest]) != 0, TRUE))
    expect_identical(as.integer(steps$cells), last)
    expect_identical(as.integer(steps$hits), cumsum(hit[highest])[last])
    expect_equal(ranking(score, hit)$auc[2], auc_of(score, hit))
  }
})

test_that("the AUCs of all rows at once are those of each row", {
  set.seed(4)
  score <- matrix(sample(0:5, 200, TRUE), 20)
  changed <- matrix(rbinom(200, 1, 0.3) == 1, 20)
  changed[3, ] <- FALSE
  changed[4, ] <- TRUE
  changed[sample(200, 30)] <- NA
  at <- which(!is.na(changed))
  each <- vapply(seq_len(20), function(i) {
    known <- !is.na(changed[i, ])
    hit <- changed[i, known]
    if (any(hit) && !all(hit)) auc_of(score[i, known], hit) else NA_real_
  }, 0)
  row <- (at - 1L) %% 20L + 1L
  told <- ranking(score[at], changed[at], row, 20L)
  expect_equal(told$auc, c(ifelse(is.na(each), NaN, each), auc_of(score[at], changed[at])))
  expect_equal(within_rows(score, changed)$auc, each)
  # Average precision: the mean over hits of the share of hits among the cells at least as high.
  precision <- function(score, hit) mean(vapply(score[hit], function(s) mean(hit[score >= s]), 0))
  expect_equal(told$ap[21], precision(score[at], changed[at]))
  expect_equal(told$ap[6], precision(score[at][row == 6], changed[at][row == 6]))
  expect_identical(unlist(ranking(numeric(), logical()), use.names = FALSE), rep(NaN, 6))
  # DeLong and others (1988): for each hit the share of others below it, for each other the share of hits above it.
  above <- outer(score[at][changed[at]], score[at][!changed[at]], function(a, b) (a > b) + (a == b) / 2)
  expect_equal(told$se[21], sqrt(var(rowMeans(above)) / nrow(above) + var(colMeans(above)) / ncol(above)))
  # Several scores at once, on threads; scores of any sign and size.
  several <- cbind(score[at], -score[at], c(-1e300, -0, 0, 1e-300, Inf)[score[at] %% 5 + 1])
  hit <- changed[at]
  for (n_threads in 1:2) {
    each <- ranking(several, hit, row, 20L, n_threads)
    steps <- descend_scores(several, hit, n_threads)
    for (s in 1:3) {
      expect_equal(each$auc[, s], ranking(several[, s], hit, row, 20L)$auc)
      levels <- sort(unique(several[, s]), decreasing = TRUE)
      expect_identical(steps[[s]]$cells, vapply(levels, function(l) sum(several[, s] >= l), 0L))
      expect_identical(steps[[s]]$hits, vapply(levels, function(l) sum(hit[several[, s] >= l]), 0L))
    }
  }
})

test_that("products of presences, and in how many rows two columns are found, are those of matrices", {
  set.seed(3)
  x <- matrix(rbinom(600, 1, 0.3), 100)
  x[sample(600, 20)] <- NA
  found <- found_table(x)
  given <- matrix(rnorm(18), 6)
  view <- data_view(x)
  pairs <- .Call(mc_c_view_pairs, view)
  expect_identical(pairs, list(both = crossprod(found), gone = crossprod(found, 1 * is.na(x))))
  expect_null(.Call(mc_c_view_pairs, data_view(found))$gone)
  for (n_threads in 1:2) expect_equal(view_times(view, given, n_threads), found %*% given)
})

test_that("sites for reference inform the answer and are not scored", {
  others <- c(1:20, 45L)
  w <- which_zeros(x, age = 60:1, reference = rownames(x)[others], quick = TRUE, seed = 1)
  scored <- rownames(x)[-others]
  zeros <- as.data.frame(w)
  expect_setequal(zeros$site, scored[rowSums(x[-others, ] == 0) > 0])
  expect_identical(nrow(zeros), sum(x[-others, ] == 0))
  # The fits to the whole table are the same; only the presences held out, and so the weights, differ.
  expect_identical(w$odds, answer()$odds)
  expect_false(identical(w$odds$alike[-others, ], which_zeros(x[-others, ], quick = TRUE, seed = 1)$odds$alike))
  sums <- by_site(w)
  expect_setequal(sums$site, scored)
  expect_equal(sum(sums$presences), sum(x[-others, ]))
  expect_equal(sum(by_taxon(w)$presences), sum(x[-others, ]))
  expect_equal(sum(sums$missed), w$total[["missed"]])
  expect_identical(nrow(by_site(w, groups = rep(c("a", "b"), 30))), 2L)
  # Groups of sites used only for reference are omitted.
  expect_identical(by_site(w, groups = ifelse(seq_len(60) %in% others, "z", "a"))$group, "a")
  # It is judged by the presences held out at the others.
  expect_lte(w$curve$summary$changed, ceiling(sum(x[-others, ]) / 10) * w$copies)
  expect_gt(w$curve$summary$changed, sum(x[-others, ]) / 10)
  expect_match(paste(utils::capture.output(w)[1:2], collapse = ""), "39 sites x .*; +for +reference: 21 sites")
  expect_equal(glance(w)$presences, sum(x[-others, ]))
  part <- which_zeros(x, age = 60:1, reference = others, leave_out = 60, quick = TRUE, seed = 1)
  expect_setequal(by_site(part)$site, setdiff(scored, rownames(x)[60]))
  for (what in c("heat", "zeros", "sites", "taxa", "quality", "time")) drawn(ggplot2::autoplot(w, what))
  expect_error(explain(w, 1, which(x[1, ] == 0)[1]), "for reference", class = "multicause_input_error")
  bad <- function(...) which_zeros(x, quick = TRUE, seed = 1, ...)
  expect_error(bad(reference = "nowhere"), "nowhere", class = "multicause_input_error")
  expect_error(bad(reference = 1:60), "at least 20 presences", class = "multicause_input_error")
  expect_error(bad(reference = 1:3, leave_out = 3), "no site in common", class = "multicause_input_error")
  expect_error(bad(reference = x), "rbind", class = "multicause_input_error")
})

test_that("no number depends on taxa that were found at no site", {
  set.seed(4)
  full <- x + 0
  n <- ncol(full)
  counts <- full * (1 + rpois(length(full), 0.5))
  among <- function(table, empty) { # as first, middle and last column, one of them unknown in parts
    last <- if (is.logical(empty)) empty else replace(empty, 1:7, NA)
    out <- cbind(first = empty, table[, 1:5], middle = empty, table[, 6:n], last = last)
    names(dimnames(out)) <- names(dimnames(table))
    out
  }
  own <- c(2:6, 8:(n + 2))
  zero <- rep(0, nrow(full))
  ask <- function(...) suppressMessages(which_zeros(..., quick = TRUE, seed = 1))
  alike <- function(short, long) {
    expect_identical(unname(long$probability[, own]), unname(short$probability))
    expect_true(all(is.na(long$probability[, -own])))
    parts <- c("total", "how_many", "kappa", "one_more", "log_ratio", "weights", "quality", "stack", "gain",
      "presences")
    for (part in parts) expect_identical(long[[part]], short[[part]], label = part)
    expect_identical(as.data.frame(long), as.data.frame(short))
    expect_identical(by_site(long)$missed, by_site(short)$missed)
    expect_identical(by_taxon(long)[own, -1]$high, by_taxon(short)$high)
    expect_identical(utils::tail(capture.output(print(long)), -2L), utils::tail(capture.output(print(short)), -2L))
  }
  long <- ask(among(full, zero), age = 60:1)
  alike(ask(full, age = 60:1), long)
  zero_of <- colnames(full)[which(full[1, ] == 0)[1]]
  expect_identical(explain(long, 1, zero_of)$score, explain(ask(full, age = 60:1), 1, zero_of)$score)
  alike(ask(full, assume = "phantom"), ask(among(full, zero), assume = "phantom"))
  within <- matrix(rbinom(length(full), 1, 0.7) == 1, nrow(full), dimnames = dimnames(full))
  alike(ask(full, within = within), ask(among(full, zero), within = among(within, zero == 1)))
  alike(ask(counts, age = 60:1, series = TRUE), ask(among(counts, zero), age = 60:1, series = TRUE))
  again <- full * rbinom(length(full), 1, 0.8)
  alike(ask(visits = list(full, again)), ask(visits = list(among(full, zero), among(again, zero))))
  changed <- function(w) suppressMessages(sensitivity(w, n = 10))$table
  expect_identical(changed(long), changed(ask(full, age = 60:1)))
})

test_that("taxa that were found at no site are not judged and change no total", {
  longer <- cbind(x, nowhere = 0, other = 0)
  expect_message(
    w <- which_zeros(longer, age = 60:1, quick = TRUE, seed = 1), "not judged.*\"nowhere\", \"other\""
  )
  expect_identical(w$kappa, answer()$kappa)
  expect_identical(w$total, answer()$total)
  sums <- by_taxon(w)
  expect_identical(sums$taxon, colnames(longer))
  expect_identical(utils::tail(sums$missed, 2L), c(0, 0))
  expect_false(any(c("nowhere", "other") %in% as.data.frame(w)$taxon))
  expect_match(utils::capture.output(print(sums, n = Inf)), "nowhere .* not known", all = FALSE)
  expect_error(explain(w, 1, "nowhere"), "found at no site", class = "multicause_input_error")
  expect_message(which_zeros(unname(longer), quick = TRUE, seed = 1), "39")
})

test_that("several variables of the sites are neighbours' distances for every learner", {
  set.seed(5)
  depth <- runif(24)
  x <- random_bernoulli(outer(depth, seq(0, 1, length.out = 9), function(a, b) exp(-8 * (a - b)^2)))
  x <- x[, colSums(x) > 0]
  environment <- data.frame(depth = depth, rain = runif(24))
  w <- suppressWarnings(which_zeros(x, environment = environment, quick = TRUE, seed = 1))
  expect_s3_class(w, "which_zeros")
  expect_true(all(is.finite(as.data.frame(w)$probability)))
})

test_that("a table of noise is said to tell little", {
  set.seed(3)
  noise <- matrix(rbinom(600, 1, 0.4), 30)
  w <- which_zeros(noise, quick = TRUE, seed = 1)
  lots <- "not surely predicted better than by chance"
  expect_lt(w$quality["stack", "auc"], 0.6)
  expect_match(paste(capture.output(print(w)), collapse = " "), lots, fixed = TRUE)
  expect_no_match(paste(capture.output(print(answer())), collapse = " "), lots, fixed = TRUE)
})

test_that("covariates of as many sites as there are taxa are told to be turned, others not", {
  expect_error(which_zeros(t(x), age = seq_len(nrow(x))), "Then use `t\\(x\\)`")
  said <- tryCatch(which_zeros(x, age = 1:7), error = conditionMessage)
  expect_match(said, "must be of the 60 sites of `x`, not of 7.", fixed = TRUE)
  expect_no_match(said, "t(x)", fixed = TRUE)
  others <- stats::setNames(1:60, c("elsewhere", rownames(x)[-1]))
  expect_error(which_zeros(x, age = others), "`age` must have every row of `x`: it lacks", fixed = TRUE)
})

test_that("a table from which nothing can be learnt is refused in words", {
  learn <- function(x, ...) which_zeros(x, ..., quick = TRUE, seed = 1)
  refused <- function(x, regexp, ...) expect_error(learn(x, ...), regexp, class = "multicause_input_error")
  none <- "found at two sites and not at a third"
  refused(diag(30), none)
  refused(diag(30), none, completeness = 0.5)
  refused(cbind(matrix(1, 30, 4), diag(30)[, 1:6]), none)
  few <- "5 taxa that were found"
  refused(matrix(rep(c(1, 0, 1, 0, 0), each = 12), 12), few)
  refused(cbind(rep(1, 30), matrix(0, 30, 9)), few)
})

test_that("a table too large for memory is refused before anything is made of it", {
  huge <- Matrix::sparseMatrix(rep(1:1e5, 2), rep_len(1:3e4, 2e5), x = 1, dims = c(1e5, 3e4))
  huge@x[] <- 1
  expect_error(
    which_zeros(huge), "`x` has 3 000 000 000 cells, more than .* `which_zeros\\(shards\\(x, folder",
    class = "multicause_input_error"
  )
})

test_that("the way to a kernel is short: 25 functions of ours from which_zeros(), 10 from a model", {
  package <- asNamespace("multicause")
  depths <- integer()
  note <- function(frames) {
    ours <- vapply(frames, function(frame) identical(topenv(frame), package), NA)
    depths <<- c(depths, sum(ours) - 1L) # one is of trace()
  }
  suppressMessages(trace("ab_run", call("(", bquote(.(note)(sys.frames()))), print = FALSE, where = package))
  on.exit(suppressMessages(untrace("ab_run", where = package)))
  x <- simulated_sites$x[1:40, ]
  aspect_bernoulli(x, 2, control = fit_control(n_start = 1))
  expect_lte(max(depths), 10L)
  depths <- integer()
  which_zeros(x, quick = TRUE, seed = 1)
  expect_gt(length(depths), 2L)
  expect_lte(max(depths), 25L)
})

test_that("numbers of sites are refused where groups are named", {
  groups <- rep(letters, length.out = nrow(simulated_sites$x))
  for (name in c("leave_out", "reference")) {
    args <- c(list(simulated_sites$x, quick = TRUE, groups = groups), stats::setNames(list(3), name))
    expect_error(do.call(which_zeros, args), "must hold names of groups", class = "multicause_input_error")
  }
})

test_that("a sparse result is explained as a dense one", {
  skip_if_not_installed("Matrix")
  x <- simulated_sites$x[1:40, ]
  dense <- which_zeros(x, quick = TRUE, seed = 1)
  sparse <- which_zeros(methods::as(x, "CsparseMatrix"), quick = TRUE, seed = 1)
  first <- as.data.frame(dense, n = 1)
  expect_equal(explain(sparse, first$site, first$taxon), explain(dense, first$site, first$taxon))
  found <- which(x == 1, arr.ind = TRUE)[1L, ]
  expect_error(explain(sparse, found[[1L]], found[[2L]]), "a presence", class = "multicause_input_error")
})

test_that("parts, predictions and ages that a result has not are refused", {
  w <- suppressMessages(which_zeros(simulated_sites$x[1:60, ], quick = TRUE, seed = 1))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(w[, "none"], "`[` takes parts of the result, `w[i]`, or rows and columns, `w[i, j]`: undefined columns")
  age <- suppressMessages(which_zeros(simulated_sites$x[1:60, ], age = 1:60, quick = TRUE, seed = 1))
  refused(predict(age, simulated_sites$x[1:2, ]), paste(
    "`newdata` cannot be predicted from a result with neighbours, of which it has no data: append its sites to the",
    "table, and call which_zeros() again."
  ))
  refused(predict(w, simulated_sites$x[1:2, 1:4]), "`newdata` lacks")
  refused(which_zeros(simulated_sites$x[1:60, ], series = TRUE, quick = TRUE),
    "`series` needs `age`: rows are time bins, and gaps lie between presences in time.")
})

test_that("tables that are too large or too sparse to learn from say so", {
  x <- Matrix::sparseMatrix(i = rep(1:10, 10), j = rep(1:10, each = 10), x = 1, dims = c(5e4, 5e4))
  expect_error(suppressMessages(which_zeros(x)), "`x` has 2 500 000 000 cells, more than a table in memory may have: ",
    fixed = TRUE, class = "multicause_input_error")
  bind_in_namespace("check_memory", function(...) NULL)
  expect_message(check_enough(x[1:2e4, 1:11000]), "^A result of 220 000 000 cells needs about [0-9]+ GB of memory: ",
    class = "multicause_message")
  expect_error(check_learnable(diag(8), list(1L, 10L)), paste(
    "`x` must have taxa with several presences, to hide some of them and learn from the others: all 2 presences hidden",
    "were the only ones of their taxa."
  ), fixed = TRUE, class = "multicause_input_error")
})

test_that("a list that is there twice is told", {
  x <- simulated_sites$x[c(1:60, 1), ]
  rownames(x)[61] <- "again"
  expect_message(which_zeros(x, place = cbind(lng = c(1:60, 1), lat = 0), quick = TRUE, seed = 1), paste0(
    "The same list is there twice: of \"", rownames(x)[1], "\" and \"again\". Leave one out if they are one site, since"
  ), fixed = TRUE, class = "multicause_message")
})

test_that("reference sites are names or numbers of sites, and none of those left out", {
  ask <- function(...) which_zeros(simulated_sites$x[1:60, ], ..., quick = TRUE, seed = 1)
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  refused(ask(reference = diag(2)),
    "`reference` must hold names or numbers of sites of `x`, not be a matrix with 2 rows and 2 columns: put")
  refused(ask(reference = 1:3, leave_out = 3:5), "`reference` and `leave_out` must have no site in common: both have ")
})

test_that("further sites are scored by the learners, weights and calibration of the result", {
  x <- simulated_surveys$x
  later <- apply(simulated_surveys$later, 1:2, max)
  new <- 81:120
  zero <- x[new, ] == 0
  auc <- function(p) rank_auc(p[zero], later[new, ][zero])
  rank_auc <- function(p, found) {
    n <- sum(found)
    (sum(rank(p)[found == 1]) - n * (n + 1) / 2) / (n * (length(found) - n))
  }
  w <- which_zeros(x[-new, ], seed = 1)
  before <- get(".Random.seed", globalenv())
  p <- predict(w, x[new, ])
  expect_identical(get(".Random.seed", globalenv()), before)
  expect_identical(predict(w), fitted(w))
  expect_identical(unname(is.na(p)), unname(x[new, ] == 1))
  expect_identical(dimnames(p), unname(dimnames(x[new, ])))
  # As good as a result with these sites in its table, and better than the taxa's frequencies.
  appended <- fitted(which_zeros(x, seed = 1))[new, ]
  often <- matrix(colMeans(x[-new, ]), length(new), ncol(x), byrow = TRUE)
  expect_gt(auc(p), auc(appended) - 0.02)
  expect_gt(auc(p), auc(often) + 0.1)
  expect_gt(stats::cor(stats::qlogis(p[zero]), stats::qlogis(appended[zero])), 0.9)
  # The sites of the table get their own probabilities if no site is new to the learners.
  expect_equal(
    matrix(stack_cells(w$odds, w$stack, 1), nrow(w$x))[w$x == 0], as.vector(stats::qlogis(fitted(w)[w$x == 0]))
  )
  expect_identical(predict(w, x[new, rev(seq_len(ncol(x)))]), p)
  expect_equal(predict(w, methods::as(x[new, ], "CsparseMatrix")), p)
})

test_that("no probability is given for a taxon that no site has, old or new", {
  x <- simulated_surveys$x
  x <- x[, colSums(x[1:80, ]) > 0]
  x[1:80, 2] <- 0
  w <- suppressMessages(which_zeros(x[1:80, ], quick = TRUE, seed = 1))
  expect_true(all(is.na(fitted(w)[, 2])))
  expect_identical(unname(is.na(predict(w, x[81:120, ]))), unname(x[81:120, ] == 1))
  x[, 2] <- 0
  new <- predict(w, x[81:120, ])
  expect_true(all(is.na(new[, 2])))
  expect_identical(unname(is.na(new[, -2])), unname(x[81:120, -2] == 1))
})
