# False zeros in shards: learners by shard against those of the table, held-out presences, the merge.

skip_on_cran()

test_that("learners of shards are those of the table", {
  x <- planted_table()
  x[4, ] <- 0
  x[is.na(x[, 2]), 2] <- 0
  learners <- small_learners(x)
  table <- nbm_table(check_data(x, "binary", quiet = TRUE)$x)
  expect_equal(learners$companions, unname(companion_table(table)), tolerance = 1e-12)
  companions <- companion_scores(table)
  free <- Reduce(`+`, lapply(learners$fits, fitted)) / 2
  terms <- taxon_terms(table)
  rows <- learners$x$shards$rows
  zeros <- which(x == 0, arr.ind = TRUE)
  for (s in seq_along(rows)) {
    before <- sum(rows[seq_len(s - 1L)])
    shard <- learner_shard(learners, s)
    mine <- zeros[zeros[, 1] > before & zeros[, 1] <= before + rows[s], , drop = FALSE]
    got <- cell_learners(learners, shard, mine[, 1] - before, mine[, 2])
    expect_equal(got[, "free"], score_odds(free[mine]), tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(got[, "companions"], score_odds(companions[mine]), tolerance = 1e-9, ignore_attr = TRUE)
    expect_equal(got[, "presences_squared"], terms$presences_squared[mine[, 2]], ignore_attr = TRUE)
    # The same for all zeros of some rows at once.
    stack <- list(intercept = 0.3, weights = c(0.5, 0.7, 0.1, -0.02))
    some <- open_cells(learners, shard, seq_len(rows[s])[-1L])
    want <- mine[mine[, 1] > before + 1L, ]
    zero <- some$zero
    at <- match(cell_key(some$i[zero] + 1L, some$j[zero], dim(x)), cell_key(want[, 1] - before, want[, 2], dim(x)))
    expect_identical(sort(at), seq_len(nrow(want)))
    expect_equal(stack_odds(stack, some$z[zero, ]), stack_odds(stack, got[mine[, 1] > before + 1L, ])[at],
      tolerance = 1e-9)
    unknown <- x[before + some$i[!zero] + 1L + (some$j[!zero] - 1L) * nrow(x)]
    expect_true(all(is.na(unknown)))
    expect_length(unknown, sum(is.na(x[before + seq_len(rows[s])[-1L], ])))
  }
})

test_that("fits are by EM unless other iterations are asked for", {
  by <- function(..., n = 240) {
    control <- fit_control(n_start = 1, n_polish = 0, max_iter = 3, tol = 0, ...)
    hush(shards_learners(shards(planted_table(n), tempfile(), size = 80), 2, 1, control))$fits[[1L]]$algorithm
  }
  expect_identical(by(), "em")
  expect_identical(by(n = 800), line_iterations) # zeros are not visited
  expect_identical(by(algorithm = "newton"), "newton")
})

test_that("held-out presences are compared with zeros of their own sites, whatever shard these lie in", {
  x <- shards(planted_table(), tempfile(), size = 80)
  expect_gt(nrow(x$shards), 2L)
  seeds <- list(deal = seq_len(nrow(x$shards)), fit = 1:2, judge = 5:6)
  control <- fit_control(n_start = 1, n_polish = 0, max_iter = 3, tol = 0)
  judge <- function() hush(judge_shards_copy(x, 1L, 2L, seeds, control))
  all <- judge()
  expect_identical(sort(unique(all$pair)), as.numeric(seq_len(sum(all$deleted))))
  # With many presences a sample is compared, and cells are scored in batches.
  bind_in_namespace("most_pairs", 300)
  bind_in_namespace("cells_at_a_time", 60)
  few <- judge()
  expect_identical(few$odds, all$odds)
  expect_lt(length(unique(few$pair)), 40L)
  expect_gt(length(unique(few$pair)), 3L)
  expect_identical(nrow(few$pairs), length(few$pair))
})

test_that("each copy loses its own tenth of the presences and nothing else", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  seeds <- 1:99
  lost <- matrix(0, nrow(x), ncol(x))
  for (tenth in 1:10) {
    part <- as.matrix(damage_shards(shard, seeds, tenth, tempfile())[seq_len(nrow(x)), ])
    expect_identical(which(is.na(part)), which(is.na(x)))
    expect_true(all(part <= x, na.rm = TRUE))
    lost <- lost + (x - part)
  }
  expect_equal(lost[!is.na(x)], x[!is.na(x)], ignore_attr = TRUE)
  expect_identical(as.vector(damage_shards(shard, seeds, 3, tempfile())$column_missing), colSums(is.na(x)),
    ignore_attr = TRUE)
})

test_that("held-out presences are found better than by chance, and where there is nothing to find they are not", {
  x <- planted_table(n = 600, missing = 30)
  w <- answer(shards(x, tempfile(), size = 400))
  expect_gt(w$quality["stack", "auc"], 0.65)
  expect_gt(w$quality["stack", "auc_within"], 0.65)
  expect_identical(w$n_zeros, as.double(sum(x == 0, na.rm = TRUE)))
  expect_lt(abs(w$slope - 1), 0.4)
  set.seed(1)
  noise <- answer(shards(matrix(stats::rbinom(24000, 1, 0.2), 600), tempfile(), size = 400))
  expect_lt(abs(noise$quality["stack", "auc"] - 0.5), 0.06)
})

test_that("the list is the best of all shards, in files or not, whatever the shards and the workers", {
  x <- planted_table()
  shard <- shards(x, tempfile(), size = 80)
  folder <- tempfile()
  w <- answer(shard, n = 30, path = folder, least = 0)
  all <- do.call(rbind, lapply(w$files, utils::read.csv))
  expect_identical(nrow(all), as.integer(w$n_zeros))
  expect_equal(sum(all$probability), w$expected, tolerance = 1e-9)
  expect_true(all(x[cbind(all$site, all$taxon)] == 0))
  expect_equal(w$zeros$probability, sort(all$probability, decreasing = TRUE)[1:30], tolerance = 1e-12)
  expect_identical(as.data.frame(w), w$zeros)
  expect_identical(which_zeros(shard, n = 30, k = c(2, 3), seed = 1)$dims, w$dims)
  bind_in_namespace("cells_at_a_time", 200)
  expect_equal(answer(shard, n = 30)$zeros, w$zeros, tolerance = 1e-12)
})

# A result without what differs between equal calls.
numbers_of <- function(w) unclass(w)[setdiff(names(w), c("call", "shards", "files"))]

test_that("workers share fits, scans and files, and change no bit", {
  skip_if_not_installed_here()
  shard <- shards(planted_table(), tempfile(), size = 80)
  here <- tempfile()
  w <- answer(shard, n = 30, path = here)
  given <- answer(shard, n = 30, completeness = 0.7)
  cluster <- parallel::makePSOCKcluster(2, rscript_envs = NULL)
  on.exit(parallel::stopCluster(cluster), add = TRUE)
  workers <- fit_control(n_start = 1, n_polish = 0, max_iter = 30, tol = 1e-6, cluster = cluster)
  folders <- list.files(tempdir())
  there <- tempfile()
  expect_identical(numbers_of(answer(shard, n = 30, path = there, control = workers)), numbers_of(w))
  expect_identical(lapply(list.files(there, full.names = TRUE), readLines), lapply(w$files, readLines))
  expect_identical(setdiff(list.files(tempdir()), folders), basename(there))
  expect_identical(numbers_of(answer(shard, n = 30, completeness = 0.7, control = workers)), numbers_of(given))
  # Large tables: each scan of a fit is shared.
  bind_in_namespace("most_whole", 0)
  expect_identical(numbers_of(answer(shard, n = 30, control = workers)), numbers_of(w))
})

test_that("the largest fits are dealt out first", {
  expect_identical(share_largest(c(8, 16, 24), 2), c(2L, 2L, 1L))
  expect_identical(share_largest(c(3, 3, 3), 5), 1:3)
})

test_that("a result that was interrupted goes on from its checkpoint, to the same numbers", {
  shard <- shards(planted_table(), tempfile(), size = 80)
  w <- answer(shard, n = 30)
  folder <- tempfile()
  kept <- fit_control(n_start = 1, n_polish = 0, max_iter = 30, tol = 1e-6, checkpoint = folder)
  fits <- 0
  real <- fit_learner
  failing <- function(job, x, control) {
    fits <<- fits + 1
    if (fits == 4) stop("power cut")
    real(job, x, control)
  }
  with_binding <- function(f) {
    bind_in_namespace("fit_learner", f)
    answer(shard, n = 30, control = kept)
  }
  # Two fits a copy: the first copy is judged, and of the second one fit is made.
  expect_error(with_binding(failing), "power cut")
  expect_setequal(list.files(folder), c("answer.rds", "answer-judged-1.rds", "fit-2-1", "fit-2-1.rds"))
  expect_identical(numbers_of(answer(shard, n = 30, control = kept)), numbers_of(w))
  # Again, from what is there, without a fit.
  expect_identical(numbers_of(with_binding(function(job, x, control) {
    expect_true(file.exists(paste0(job$folder, ".rds")))
    real(job, x, control)
  })), numbers_of(w))
  other <- function(...) which_zeros(shard, n = 30, control = kept, ...)
  expect_error(other(k = c(2, 3), seed = 2), "is not of this call", class = "multicause_input_error")
  expect_error(other(k = 2, seed = 1), "is not of this call", class = "multicause_input_error")
  writeLines("mine", file.path(folder, "notes.txt"))
  expect_error(answer(shard, control = kept), "must be a folder of a result of shards, or new: .* holds \"notes.txt\"",
    class = "multicause_input_error")
})

test_that("no number depends on taxa that were found at no site", {
  x <- planted_table()
  m <- ncol(x)
  x[1, 2] <- NA
  longer <- cbind(0, x[, 1:3], 0, x[, 4:m], 0)
  own <- c(2:4, 6:(m + 2))
  names <- sprintf("taxon %02d", seq_len(ncol(longer)))
  colnames(x) <- names[own]
  ask <- function(x, ...) answer(shards(x, tempfile(), size = 80), n = 40, path = tempfile(), least = 0, ...)
  short <- ask(x)
  folders <- list.files(tempdir())
  long <- ask(`colnames<-`(longer, names))
  expect_length(setdiff(list.files(tempdir()), folders), 2L) # the shards and the answer
  parts <- c("zeros", "total", "kappa", "one_more", "quality", "weights", "slope", "expected", "n_zeros", "sites")
  expect_identical(long[parts], short[parts])
  expect_identical(lapply(long$files, readLines), lapply(short$files, readLines))
  expect_equal(long$taxa[own, ], short$taxa, ignore_attr = "row.names", tolerance = 0)
  expect_true(all(long$taxa[-own, ] == 0))
  expect_identical(by_taxon(long)$taxon, names)
  unnamed <- ask(unname(longer))
  expect_identical(names[unnamed$zeros$taxon], short$zeros$taxon)
})

test_that("a result of shards has the verbs that its first zeros are enough for, and names what has the others", {
  w <- answer(shards(planted_table(), tempfile(), size = 80), n = 30)
  expect_identical(head(w, 2), w$zeros[1:2, ])
  expect_identical(tail(w, 1), w$zeros[30L, ])
  expect_identical(as.data.frame(tidy(w)), w$zeros)
  expect_identical(summary(w), w)
  expect_identical(unlist(glance(w)[c("zeros", "auc")]), c(zeros = w$n_zeros, auc = w$quality["stack", "auc"]))
  for (verb in list(explain, explore, function(w) contrast(w, rep(1:2, 60)), sensitivity)) {
    expect_error(verb(w), "which_zeros(x[i, ])", fixed = TRUE, class = "multicause_input_error")
  }
  expect_error(augment(w), "`files` has the probabilities", class = "multicause_input_error")
})

test_that("an answer says what it is made of, and leaves no files behind", {
  x <- planted_table()
  shard <- shards(unname(x), tempfile(), size = 80)
  before <- list.files(tempdir())
  w <- answer(shard, n = 3)
  # Files of earlier answers may go meanwhile, with their collection.
  expect_identical(setdiff(list.files(tempdir()), before), character())
  expect_identical(w$zeros$site, as.double(w$zeros$site))
  expect_output(print(w), "Not in the result: aspect Bernoulli with neighbours; logistic PCA")
  expect_output(print(w), "Held-out presences \\(")
  w$reason <- "the table is small"
  expect_output(print(w), "because\\s+the\\s+table\\s+is\\s+small[^`]*so\\s+may\\s+a\\s+known\\s+`completeness`")
  bind_in_namespace("most_companions", 10)
  without <- answer(shard, n = 3)
  expect_true("companions (Beals)" %in% names(without$left_out))
  expect_identical(rownames(without$quality), c("stack", "free"))
})

test_that("a first look of shards stacks companions and how often taxa were found", {
  x <- planted_table()
  look <- function(size, ...) which_zeros(shards(x, tempfile(), size = size), quick = TRUE, seed = 1, ...)
  w <- look(1e4)
  expect_identical(rownames(w$quality), c("stack", "companions"))
  expect_true("aspect Bernoulli without neighbours" %in% names(w$left_out))
  expect_gt(w$quality["stack", "auc"], 0.6)
  expect_output(print(w), "A first look that fits no model")
  # Companions, and how often a taxon was found, in slow R: the stack's own log-odds of each zero.
  table <- nbm_table(check_data(x, "binary", quiet = TRUE)$x)
  terms <- taxon_terms(table)
  names <- lapply(1:2, function(side) dimnames(x)[[side]] %||% seq_len(dim(x)[side]))
  at <- cbind(match(w$zeros$site, names[[1]]), match(w$zeros$taxon, names[[2]]))
  odds <- score_odds(companion_scores(table)[at])
  seen <- w$weights[["companions"]] * odds + w$weights[["presences"]] * terms$presences[at[, 2]] +
    w$weights[["presences_squared"]] * terms$presences_squared[at[, 2]]
  expect_lt(diff(range(stats::qlogis(w$zeros$probability) - seen)), 1e-8)
  expect_error(look(1e4, k = 3), "`k` must not be supplied with `quick = TRUE`", class = "multicause_input_error")
  bind_in_namespace("most_companions", 10)
  expect_error(look(1e4), "rests on pairs of taxa, of at most 10 taxa", class = "multicause_input_error")
})

test_that("values are summed by runs of given lengths", {
  set.seed(1)
  each <- c(0, 3, 1, 0, 2)
  rows <- c(2, 3, 5, 1, 1, 4)
  value <- stats::rnorm(6)
  expect_identical(run_sums(value, rows, each, 5), c(0, sum(value[1:3]), value[4], 0, sum(value[5:6])))
  expect_identical(run_sums(numeric(), integer(), integer(), 5), numeric())
})

test_that("what cannot be asked of shards is refused", {
  shard <- shards(planted_table(), tempfile())
  expect_snapshot(error = TRUE, {
    which_zeros(shard, age = 1:240)
    which_zeros(shard, effort = 1:240)
    which_zeros(shard, visits = 1, distance = 2)
    which_zeros(shard, completeness = 2)
    which_zeros(shard, completeness = 1:3 / 3)
    which_zeros(shard, copies = 1)
    which_zeros(shards(diag(4), tempfile()))
  })
})

test_that("average precision is not known, and no NaN, where a sample of the zeros was judged", {
  bind_in_namespace("most_judged", 500)
  w <- hush(which_zeros(simulated_sites$x[1:60, 1:20], quick = TRUE, seed = 1))
  expect_identical(w$quality$ap, rep(NA_real_, nrow(w$quality)))
  expect_true(all(w$quality$auc > 0.5))
})

test_that("a full disk is told without a warning, and leaves nothing half written", {
  said <- function(expr) {
    tryCatch(expr, warning = function(w) paste("warned:", conditionMessage(w)), error = conditionMessage)
  }
  x <- shards(planted_table(), tempfile(), size = 80)
  folder <- tempfile()
  lost <- function(bytes, file, name = file) {
    writeLines("half of it", file)
    stop_unwritten(name)
  }
  bind_in_namespace("append_bytes", lost)
  told <- said(answer(x, path = folder, least = 0))
  expect_match(told, "zeros-00001.csv\" could not be written whole: is the disk full")
  expect_identical(list.files(folder), character())
  # /dev/full acts as a full disk: writing fails when the file is closed.
  skip_if_not(file.exists("/dev/full"))
  write_full <- function(file, mode, write) {
    con <- file("/dev/full", mode)
    on.exit(close(con))
    write(con)
  }
  bind_in_namespace("write_to", write_full)
  file <- tempfile()
  expect_match(said(write_vectors(list(1:1e5), file)), "could not be written whole: is the disk full")
  expect_match(said(write_whole(1:1e5, file)), "could not be written")
  expect_false(file.exists(file))
  expect_match(said(shards(planted_table(), folder)), "could not be written")
  # Even the marker file cannot be written.
  bind_in_namespace("can_mark", function(run) {
    file.create(unfinished_file(run$path))
    FALSE
  })
  folder <- tempfile()
  expect_match(said(shards(planted_table(), folder)), "must be a folder that can be written to")
  expect_false(dir.exists(folder))
})

test_that("a result of shards has its call, can be updated, and names what it lacks", {
  set.seed(73)
  x <- shards(matrix(rbinom(400, 1, 0.4), 40), tempfile())
  w <- suppressMessages(which_zeros(x, quick = TRUE, n = 3, seed = 1))
  expect_identical(w$call[c("quick", "n", "seed")], quote(which_zeros(quick = TRUE, n = 3, seed = 1))[2:4],
    ignore_attr = TRUE)
  expect_identical(nrow(suppressMessages(update(w, n = 5))$zeros), 5L)
  expect_error(plot(w), "plot\\(\\) is not there", class = "multicause_input_error")
})

test_that("a first look at shards needs no other call before it", {
  skip_if_not_installed_here()
  code <- paste(
    "library(multicause); set.seed(1); s <- shards(matrix(rbinom(240, 1, .5), 30), tempfile());",
    "w <- suppressMessages(which_zeros(s, quick = TRUE)); cat(nrow(w$zeros) > 0)"
  )
  expect_identical(utils::tail(system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE), 1),
    "TRUE")
})

test_that("groups, and verbs that take a result in memory, are refused for shards", {
  w <- suppressMessages(answer(shards(planted_table(), tempfile(), size = 80)))
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "multicause_input_error")
  for (verb in list(by_site, by_taxon)) {
    refused(verb(w, groups = 1),
      "`groups` does not go with shards: draws by site would have to be in memory; leave it out.")
  }
  refused(contrast(w, 1), paste(
    "`fit` must not be a result of shards: some rows of the shards, `which_zeros(x[i, ])`, have one that it takes."
  ))
})
