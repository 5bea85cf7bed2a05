# Random calls of every exported function and S3 method with hostile arguments: data, settings, and fits, results and
# controls with a part missing, of another shape or with NaN inside. A call may succeed or be refused in words of ours;
# it may not crash R, take over HOSTILE_SECONDS, end in an error or give a warning of R's own from inside, or change
# anything global (options, kind of generator, graphics settings, folder, locale, BLAS threads, connections, files).
# R's own words where a generic has no method or takes no such argument are understood. So are its errors about edited
# objects, which are counted by themselves.
#   Rscript tests/validate/hostile_calls.R [seed] [calls]      or HOSTILE_SEED, HOSTILE_CALLS, HOSTILE_SECONDS
# Calls are made in child processes, so that a crash is seen and named; call i of a seed is the same in every run:
#   Rscript tests/validate/hostile_calls.R [seed] [calls] [only]     makes call number `only` alone and shows it.
library(multicause)
given <- commandArgs(TRUE)
setting <- function(at, name, default) {
  value <- if (length(given) >= at) given[at] else Sys.getenv(name, default)
  as.numeric(value)
}
seed <- setting(1, "HOSTILE_SEED", "1")
calls <- setting(2, "HOSTILE_CALLS", "3000")
only <- setting(3, "HOSTILE_ONLY", NA)
seconds <- as.numeric(Sys.getenv("HOSTILE_SECONDS", "20"))
block <- 100 # calls of one child
formal <- methods::setClass("hostile", representation(x = "numeric"))
from <- as.numeric(Sys.getenv("HOSTILE_FROM", NA)) # set by this script for its children
home <- Sys.getenv("HOSTILE_HOME", tempfile("hostile"))

# The library that tells the number of BLAS threads is built once, see tests/entries.
if (!nzchar(Sys.getenv("HOSTILE_ENTRIES"))) {
  helper <- new.env()
  sys.source("tests/testthat/helper-entries.R", helper)
  Sys.setenv(HOSTILE_ENTRIES = helper$build_entries("tests/entries/entries.c", normalizePath("src"))[["path"]])
}
entries <- dyn.load(Sys.getenv("HOSTILE_ENTRIES"))

# Words of R's own, which no refusal of ours repeats.
raw_words <- paste(c(
  "subscript out of bounds", "internal error", "non-conformable", "missing value where TRUE/FALSE needed",
  "argument is of length zero", "invalid argument", "cannot coerce", "please report"
), collapse = "|")
# What generics say of arguments they have no method for or do not take; and R of `$` before it looks for a method.
generic_words <- "^no applicable method|^unused argument|^argument \".*\" is missing|^invalid subscript type 'language'"

# What a call may leave behind: nothing of this changes.
world <- function() {
  threads <- .Call(getNativeSymbolInfo("test_blas_threads", entries), 0L)
  list(
    options = options()[setdiff(names(options()), c("warning.length", "device"))], kind = RNGkind(),
    par = graphics::par(no.readonly = TRUE)[c("mfrow", "mar", "oma", "pty", "cex", "las", "xpd")], folder = getwd(),
    locale = Sys.getlocale(), threads = threads, connections = getAllConnections(),
    files = list.files(".", all.files = TRUE), devices = grDevices::dev.list(), search = search()
  )
}

# Tables as two databases give them, and one that is none.
hostile_files <- function() {
  files <- file.path(home, c("pbdb.csv", "now.csv", "broken.csv"))
  writeLines(c(
    "occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma", "1,2,Equus ferus,species,3,2"
  ), files[1])
  writeLines(c("LIDNUM\tNAME\tMAX_AGE\tMIN_AGE\tGENUS\tSPECIES", "1\ta\t3\t2\tEquus\tferus"), files[2])
  writeBin(as.raw(sample(255, 200, TRUE)), files[3])
  files
}

# One fit of each model and of each way of estimating it.
hostile_fits <- function(x, counts, near, few, quick) {
  again <- x * matrix(rbinom(360, 1, 0.8), 30)
  fits <- list(
    white = aspect_bernoulli(x, 3, phantom = "white", control = few),
    effort = aspect_bernoulli(x, 2, phantom = "white", effort = seq(1, 3, length.out = 30), control = few),
    visits = visits_bernoulli(list(x, again), k = 2, estimate = "ml", control = few),
    near = aspect_bernoulli(x, 3, phantom = "white", smooth = near, control = few),
    vb = aspect_bernoulli(x, 2, estimate = "vb", control = few),
    occupancy = visits_bernoulli(list(x, again), 1, detection = ~1, estimate = "gibbs", control = quick),
    gibbs = aspect_bernoulli(x, 3, estimate = "gibbs", phantom = "white", control = quick),
    mixture = bernoulli_mixture(x, 2, control = few), lpca = logistic_pca(x, 2, control = few),
    nmf = nmf(x, 2, control = few), kl = nmf(x, 2, loss = "kl", control = few),
    plsa = plsa(3 * x, 2, control = few), sparse = plsa(3 * x, 2, sparsity = c(membership = 0.1), control = few),
    plca = plca(counts, 2, control = few),
    entropy = plca(counts, 2, prior = cross_entropy(strength = c(between = 1)), control = few),
    noisy = noisy_or(x, 2, control = few), variational = noisy_or(x, 2, inference = "variational", control = few),
    visited = visits_occupancy(list(x, again), ~ 1 + height, site_data = data.frame(height = 1:30), control = few),
    bmf = bmf(x, family = "bernoulli", control = quick), real = bmf(x + 0.5, control = quick)
  )
  fits$average <- ensemble(list(fits$white, fits$vb))
  fits$mixed <- ensemble(list(fits$mixture, fits$lpca))
  fits$neighbours <- neighbours_mean(x, smooth = near)
  fits$bare <- aspect_bernoulli(x, 2, control = fit_control(n_start = 1, keep_x = FALSE, progress = FALSE))
  fits
}

make_things <- function() {
  set.seed(1)
  x <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6)) * matrix(rbinom(360, 1, 0.7), 30)
  dimnames(x) <- list(paste0("site", 1:30), paste0("taxon", 1:12))
  x[2, 3] <- NA
  few <- fit_control(n_start = 2, n_polish = 0, max_iter = 200, progress = FALSE, keep_starts = TRUE)
  quick <- mcmc_control(chains = 2, warmup = 20, draws = 20, n_start = 2, n_reheat = 1, keep = 5, progress = FALSE)
  place <- cbind(lng = 1:30, lat = 1:30)
  near <- smooth_over(age = 1:30, place = place, bandwidth = c(age = 3, place = 2000), strength = 1)
  counts <- array(rpois(6 * 8 * 4, 2), c(site = 6, taxon = 8, time = 4))
  fits <- hostile_fits(x, counts, near, few, quick)
  damage <- corrupt(x, 0.3)
  models <- list(mixture = bernoulli_mixture, nmf = nmf)
  results <- list(
    age_profile(fits$near, 1:30), align_components(fits$white, fits$near), damage, cross_entropy(),
    denoise(fits$white), divergences(fits$plca), identifiability(fits$white), modes(fits$white),
    cross_validate(x, k = 1:2, models, folds = 2, control = few), select_k(x, 1:2, control = few, folds = 2),
    compare_models(x, k = 1:2, models, folds = 2, control = few), recovery(1 - predict(fits$vb), damage), near,
    bmf_prior(), noisy_or_prior(), sources(fits$noisy), phantoms(fits$white),
    by_taxon(fits$white), false_absences(fits$white), false_presences(fits$gibbs), test_loglik(fits$vb, x), few,
    quick, phantom_test(aspect_bernoulli(x, 2, estimate = "ml", control = few), nsim = 2, control = few),
    summary(fits$white), summary(fits$gibbs), summary(fits$bmf), summary(fits$nmf), summary(fits$noisy),
    summary(identifiability(fits$white))
  )
  w <- which_zeros(x, age = 1:30, quick = TRUE, seed = 1)
  zero <- as.data.frame(w, n = 1)
  results <- c(results, list(
    w, by_site(w), by_taxon(w), contrast(w, rep(1:2, 15)), explain(w, zero$site, zero$taxon),
    sensitivity(w), summary(w),
    recovery(w, structure(matrix(rbinom(360, 1, 0.3), 30), dimnames = dimnames(x))),
    occupied(fits$occupancy, "site"), coherence(fits$plsa, 2),
    visits_needed(fits$occupancy), predictive_check(fits$visits, nsim = 2)
  ))
  shard <- shards(x, file.path(home, "shards"), size = 50)
  fits$shards <- aspect_bernoulli(shard, 2, estimate = "ml", control = few)
  results <- c(results, list(shard, which_zeros(shard, k = 2, path = file.path(home, "zeros"), control = few)))
  frame <- data.frame(
    site = rep(rownames(x), 2), taxon = rep(colnames(x), 5), n = 1:60, max_ma = 5, min_ma = 1, stringsAsFactors = FALSE
  )
  table_of <- occurrence_matrix(frame, "site", "taxon")
  frame$day <- rep(1:4, 15)
  visits_of <- visits_array(frame, "site", "taxon", "day")
  things <- list(
    x = x, few = few, quick = quick, fits = fits, results = results, counts = counts, frame = frame,
    files = hostile_files(),
    # What functions take that are neither of a table nor of any fit.
    first = list(
      site_table = table_of, visit_table = visits_of, by_site = w,
      by_taxon = w, contrast = w, sensitivity = w, visits_needed = fits$occupancy, occupied = fits$occupancy,
      cooccurrence = fits$bmf, divergences = fits$plca, sources = fits$noisy, coherence = fits$plsa,
      document_completion = fits$plsa, top_terms = fits$plsa, phantoms = fits$white, posterior_draws = fits$gibbs,
      bootstrap_draws = fits$white, predictive_check = fits$visits, curves = fits$near, age_profile = fits$near
    )
  )
  things$pool <- hostile_pool(things)
  things
}

# Values that no argument expects.
hostile_pool <- function(things) {
  x <- things$x
  list(
    NULL, NA, NaN, Inf, -Inf, -1, 0, 1, 2, 3, 0.5, 1e10, 1e300, 1e-300, .Machine$integer.max, "a", "", NA_character_,
    character(), integer(), logical(), list(), list(1), list(NULL), TRUE, FALSE, c(TRUE, NA), 1:3, c(a = 1), letters,
    1:20, c(1, NA), factor("a"), as.Date("2020-01-01"), quote(x), quote(f(x)), function(x) x, sum, globalenv(),
    as.raw(1), 1i, matrix(1:4, 2), matrix("a", 2, 2), matrix(0, 0, 0), matrix(0, 0, 3), array(1, c(2, 2, 2)),
    array(1:20, 20), array(1:20, c(20, 1, 1)), data.frame(), data.frame(a = 1:2), data.frame(a = I(list(1, 2))),
    structure(1, class = "multicause"), structure(list(), class = "multicause"),
    structure(list(), class = "multicause_control"), structure(list(dims = 1), class = c("nmf", "multicause")),
    structure(list(), class = "phantoms"), structure(list(), class = "corruption"), x, x * NA, x * 0, x * 0 + 1, -x,
    2 * x, x / 3, 1e300 * x, 1e-200 * x, x + NaN, t(x), unname(x), x[1:3, ], x[, 1, drop = FALSE], x[0, ], x == 1,
    x[, 8:1], Matrix::Matrix(x, sparse = TRUE), methods::as(Matrix::Matrix(x, sparse = TRUE), "RsparseMatrix"),
    as.data.frame(x), as.table(x), list(x, x), list(x, t(x)), things$counts, things$frame, things$few, things$quick,
    list(membership = matrix(0.5, 20, 2), aspects = matrix(0.5, 2, 8)), list(aspects = c(1, 2), membership = 1),
    stats::dist(x), 30:1, stats::setNames(1:30, rownames(x)), cbind(1:20, 2:21), structure(1:20, class = "integer64"),
    "cv", "eb", "all", "missed", "trace", "curves", "map", "response", "cell", "membership", "both", "white",
    things$fits$white, things$fits$plca, things$fits$mixed, things$files[1], things$files[2], things$files[3],
    "nowhere", bernoulli_mixture, nmf, list(nmf = nmf), list(nmf), ~x, expression(x), numeric_version("1.0"),
    Sys.time(), function() 1,
    function(...) stop("mine"), table(c("a", "b")), table(1:3), table(1:2, 1:2, 1:2), table(things$frame$site),
    matrix(NA),
    matrix(NA_real_, 20, 8), x[, 0], numeric(), factor(character()), factor(rep(c("b", "a"), 10)), complex(20),
    x * 1i, c(Inf, 1), rep(Inf, 20), replace(x, 1, Inf), replace(x, 1, -Inf), formal(x = 1), formal,
    Matrix::Diagonal(3), as.POSIXct("2020-01-01", tz = "UTC") + 1:20, as.POSIXlt("2020-01-01"),
    as.Date("2020-01-01") + 1:20,
    as.difftime(1:20, units = "days"), stats::setNames(1:30, rev(rownames(x))), stats::setNames(1:20, letters[1:20]),
    stats::setNames(1:30, c(NA, rownames(x)[-1])), stats::setNames(1:20, rep("site1", 20)), c(age = 1, unknown = 2),
    stats::setNames(rep(c("a", "b"), 15), rev(rownames(x))), strrep("long ", 1e5), rep(strrep("x", 1e4), 20),
    "@DATA@ @TITLE@ @SCRIPT@", "%s %d %n", "a\nb", "</script>", "caf\xe9", "\u00e9\u4e2d", list(NaN),
    list(a = NaN, b = 1),
    list(x, NaN), list(list(1)), list(x, NULL), c(NaN, 1:19), pairlist(a = 1), as.environment(list(a = 1)),
    ts(1:20), data.frame(lng = 1:30, lat = rev(1:30), row.names = rev(rownames(x))), data.frame(lng = NaN, lat = 1:20),
    data.frame(a = complex(20)), data.frame(site = I(list(1, 2))), things$frame[0, ], things$frame[c(1, 1), ],
    stats::setNames(things$frame, rep("a", ncol(things$frame))), things$first$site_table, things$first$visit_table,
    things$first$by_site, as.table(x * NA), array(NA, c(20, 8, 2)), array(x, c(dim(x), 1)),
    array(things$counts, dim(things$counts), list(NULL, NULL, rep("a", 4))), "site", "taxon", "day", "ml", "vb",
    "gibbs",
    "site", "taxon", -0.5, 1.5, 1e-10, 5e-324, -.Machine$integer.max, 2^31, 2^53, "1", "0.5", "TRUE",
    TRUE[0]
  )
}

hostile_value <- function(things) pick_one(things$pool)

pick_one <- function(list) list[[sample.int(length(list), 1L)]]

# The object with one of its parts, at any depth, gone, of another shape or with other values.
damaged <- function(object, things, depth = 0L) {
  plain <- if (is.list(object)) unclass(object)
  if (is.list(plain) && length(plain) && (depth == 0L || stats::runif(1L) < 0.6)) {
    at <- sample.int(length(plain), 1L)
    how <- sample.int(6L, 1L)
    keep <- attributes(object)
    if (how == 1L) {
      plain <- plain[-at]
    } else if (how == 2L) {
      plain[at] <- list(hostile_value(things))
    } else {
      plain[at] <- list(damaged(plain[[at]], things, depth + 1L))
    }
    keep$names <- names(plain)
    attributes(plain) <- if (is.data.frame(object) && stats::runif(1L) < 0.2) keep["names"] else keep
    return(plain)
  }
  if (is.atomic(object) && length(object)) {
    at <- sample.int(length(object), 1L)
    how <- sample.int(10L, 1L)
    return(tryCatch(switch(how,
      replace(object, at, NA), replace(object, at, NaN), replace(object, at, -1), replace(object, at, 1e300),
      object[-at], rev(object), unname(object), if (is.matrix(object)) t(object) else object[0L],
      if (is.matrix(object)) object[-1L, , drop = FALSE] else c(object, object), as.character(object)
    ), error = function(e) NULL))
  }
  classes <- sample(c("nmf", "multicause", "bmf", "list"), 2L)
  if (is.null(object)) "not NULL" else if (stats::runif(1L) < 0.3) structure(object, class = classes) else object
}

# Exported functions and the methods of their classes, with the arguments they take.
all_verbs <- function(things) {
  space <- asNamespace("multicause")
  exported <- getNamespaceExports("multicause")
  table <- parseNamespaceFile("multicause", dirname(find.package("multicause")))$S3methods
  # Generics of the package's own that it does not export: nobody can call them.
  inside <- setdiff(Filter(function(name) is.function(space[[name]]), ls(space, all.names = TRUE)), exported)
  table <- table[!table[, 1L] %in% inside, , drop = FALSE]
  owner <- ifelse(is.na(table[, 4L]), "multicause", table[, 4L])
  # Settings and classes of other packages would be new when a call loads them first.
  here <- vapply(unique(c("knitr", "rmarkdown", "future", "ragg", owner)), requireNamespace, NA, quietly = TRUE)
  table <- table[here[owner], , drop = FALSE]
  group <- c(Ops = "+", Math = "exp", Summary = "max")
  found <- Map(function(generic, class, owner) {
    # Called through its generic, of a group through one of its functions: a method alone cannot go on to the next one.
    called <- if (generic %in% names(group)) group[[generic]] else generic
    list(
      name = paste(generic, class, sep = "."), f = get(called, asNamespace(owner)), class = class,
      foreign = !generic %in% exported,
      arguments = formals(get(paste(generic, class, sep = "."), space))
    )
  }, table[, 1L], table[, 2L], owner[here[owner]])
  functions <- lapply(exported, function(name) {
    list(name = name, f = get(name, space), arguments = formals(get(name, space)), class = NULL, foreign = FALSE)
  })
  # Methods of R's generics for classes of which there is no object here would not be reached.
  classes <- unique(unlist(lapply(c(things$fits, things$results), class)))
  reached <- vapply(found, function(verb) !verb$foreign || verb$class %in% classes, NA)
  c(functions, unname(found[reached]))
}

# Arguments under which a call is quick, where they are not hostile themselves.
sound_argument <- function(name, things, sound) {
  switch(name,
    x = , newdata = if (stats::runif(1L) < 0.8) things$x else things$counts, data = things$frame,
    fit = , object = pick_one(things$fits), k = 2, control = things$few, model = bernoulli_mixture,
    site = "site", taxon = "taxon", visit = "day", path = file.path(home, "path"),
    groups = rep(1:2, 15), probability = 0.9, quick = TRUE, open = FALSE,
    file = pick_one(as.list(things$files)), nsim = 2, n_start = 1, folds = 2, omega = 1:3, beta = 1,
    reference = things$fits$white,
    fits = list(things$fits$plsa, things$fits$sparse), scores = predict(things$fits$vb),
    truth = corrupt(things$x, 0.3), age = 1:30, shape = , rate = 1, seed = 1, sound
  )
}

# Of the arguments of a function one or two are hostile, so that the others let them through; the first, a fit or a
# result, is chosen by the caller of this.
draw_arguments <- function(own, things) {
  known <- setdiff(names(own), c("...", "checkpoint", "tables"))
  hostile <- known[sample.int(length(known), min(length(known), sample.int(2L, 1L)))]
  arguments <- list()
  for (argument in known) {
    required <- is.symbol(own[[argument]]) && !nzchar(as.character(own[[argument]]))
    quick <- argument %in% c("control", "nsim", "n_start", "folds", "seed", "k", "model", "quick", "open")
    if (argument %in% hostile) {
      value <- if (argument == "control" && stats::runif(1L) < 0.6) {
        damaged(pick_one(list(things$few, things$quick)), things)
      } else {
        hostile_value(things)
      }
      arguments[argument] <- list(value)
    } else if (required || quick) {
      arguments[argument] <- list(sound_argument(argument, things, 1))
    }
  }
  arguments
}

# One call of a seed: list(name, f, arguments).
draw_call <- function(i, verbs, things) {
  set.seed((seed * 100003 + i * 7) %% 2147483647)
  is_function <- vapply(verbs, function(verb) is.null(verb$class), NA)
  verb <- pick_one(verbs[is_function == (stats::runif(1L) < 0.5)]) # exported functions are fewer, and take more
  arguments <- draw_arguments(verb$arguments, things)
  first <- names(verb$arguments)[1L]
  if (!is.null(things$first[[verb$name]]) && stats::runif(1L) < 0.7) arguments[[first]] <- things$first[[verb$name]]
  edited <- FALSE
  of_class <- if (!is.null(verb$class)) {
    Filter(function(object) inherits(object, verb$class), c(things$fits, things$results))
  }
  takes_fit <- is.null(verb$class) && first %in% c("fit", "object")
  if (length(of_class) || takes_fit) {
    object <- pick_one(if (takes_fit) things$fits else of_class)
    edited <- stats::runif(1L) < 0.5
    arguments[[first]] <- if (edited) damaged(object, things) else object
    # What has lost its class is for methods of R's own, where the generic is R's.
    if (verb$foreign && !inherits(arguments[[first]], verb$class)) arguments[[first]] <- object
  }
  if (verb$name %in% c("bmf", "mcmc_control") || identical(arguments$estimate, "gibbs")) {
    wrong <- is.null(arguments$control) || inherits(arguments$control, "multicause_control")
    if (wrong) arguments$control <- things$quick
  }
  # A generic may call its first argument otherwise.
  if (!is.null(verb$class) && length(arguments)) names(arguments)[names(arguments) == first] <- ""
  if (startsWith(verb$name, "report")) arguments$file <- file.path(home, "report.html")
  is_generic <- !is.null(verb$class) || any(all.names(body(verb$f)) == "UseMethod")
  list(name = verb$name, f = verb$f, arguments = arguments, is_generic = is_generic, edited = edited)
}

# What became of it: list(outcome, seconds, text).
make_call <- function(call) {
  before <- world()
  start <- proc.time()[["elapsed"]]
  outcome <- "value"
  text <- ""
  become <- function(what, condition) {
    outcome <<- what
    text <<- conditionMessage(condition)
  }
  tryCatch(
    {
      setTimeLimit(elapsed = seconds, transient = TRUE)
      utils::capture.output(suppressMessages(withCallingHandlers(
        do.call(call$f, call$arguments, quote = TRUE),
        warning = function(w) {
          # Warnings of ours have a class of their own.
          if (!any(startsWith(class(w), "multicause"))) become(if (call$edited) "edited" else "raw warning", w)
          tryInvokeRestart("muffleWarning")
        }
      )))
    },
    multicause_input_error = function(e) {
      become(if (grepl(raw_words, conditionMessage(e))) "raw error" else "refused", e)
    },
    error = function(e) become(error_kind(e, call), e)
  )
  setTimeLimit()
  spent <- proc.time()[["elapsed"]] - start
  if (spent > seconds) outcome <- "slow"
  if (grepl("^`start` gives", text) && is.null(call$arguments$start)) outcome <- "raw error"
  after <- world()
  changed <- Filter(function(part) !identical(before[[part]], after[[part]]), names(before))
  # A file may have been asked for.
  if (any(vapply(call$arguments, is.character, NA))) changed <- setdiff(changed, "files")
  if (length(changed)) {
    outcome <- "changed"
    text <- paste(changed, collapse = ", ")
    options(before$options)
    setwd(before$folder)
  }
  list(outcome = outcome, seconds = spent, text = gsub("[\n|]", " ", iconv(text, "UTF-8", "UTF-8", sub = "byte")))
}

error_kind <- function(e, call) {
  text <- conditionMessage(e)
  if (grepl("time limit", text)) {
    "slow"
  } else if (call$is_generic && grepl(generic_words, text)) {
    "no method"
  } else if (identical(text, "mine")) {
    "refused" # a function of the user's
  } else if (call$edited) {
    "edited"
  } else {
    "raw error"
  }
}

show_call <- function(call) {
  cat(call$name, "\n")
  utils::str(call$arguments, max.level = 2, give.attr = FALSE, vec.len = 3, list.len = 40)
}

# Calls are made in a folder of their own, and what one wrote there on request is gone before the next.
go_to_work <- function() {
  setwd(empty_work())
  grDevices::pdf(NULL)
  graphics::plot.new()
}
empty_work <- function() {
  work <- file.path(home, "work")
  dir.create(work, showWarnings = FALSE)
  unlink(list.files(work, all.files = TRUE, no.. = TRUE, full.names = TRUE), recursive = TRUE)
  work
}

# A child makes its calls and notes each before it begins and when it has ended.
run_block <- function(first, last) {
  things <- readRDS(file.path(home, "things.rds"))
  verbs <- all_verbs(things)
  go_to_work()
  note <- file.path(home, "log")
  for (i in first:last) {
    call <- draw_call(i, verbs, things)
    cat(sprintf("begin|%d|%s\n", i, call$name), file = note, append = TRUE)
    done <- make_call(call)
    empty_work()
    cat(sprintf("end|%d|%s|%s|%.1f|%s\n", i, call$name, done$outcome, done$seconds, done$text),
      file = note, append = TRUE)
  }
}

if (!is.na(from)) {
  run_block(from, min(from + block - 1, calls))
  quit(status = 0)
}

# Objects are made once; a folder of the user's keeps them for the next run.
own_home <- !nzchar(Sys.getenv("HOSTILE_HOME"))
dir.create(home, showWarnings = FALSE)
unlink(file.path(home, "log"))
stored <- file.path(home, "things.rds")
if (!file.exists(stored)) saveRDS(suppressWarnings(suppressMessages(make_things())), stored)
things <- readRDS(stored)
if (!is.na(only)) {
  call <- draw_call(only, all_verbs(things), things)
  show_call(call)
  go_to_work()
  print(make_call(call))
  quit()
}

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
start_child <- function(first) {
  Sys.setenv(HOSTILE_FROM = first, HOSTILE_HOME = home)
  on.exit(Sys.unsetenv("HOSTILE_FROM"))
  # A call that hears no time limit is ended from outside.
  system2(
    file.path(R.home("bin"), "Rscript"), c("--no-init-file", shQuote(normalizePath(script)), seed, calls),
    stdout = FALSE, stderr = FALSE, timeout = block * seconds
  )
}
read_log <- function() {
  log <- file.path(home, "log")
  strsplit(if (file.exists(log)) readLines(log, warn = FALSE) else character(), "|", fixed = TRUE)
}
first <- 1
crashed <- list()
while (first <= calls) {
  start_child(first)
  ends <- Filter(function(line) line[1L] == "end", read_log())
  begun <- Filter(function(line) line[1L] == "begin", read_log())
  last <- if (length(begun)) begun[[length(begun)]]
  if (is.null(last) || as.numeric(last[2L]) < first) stop("a child made no call")
  if (first == 1 && !length(ends)) stop("no call came to an end: see what one says, with its number as third argument")
  if (as.numeric(last[2L]) > length(ends) + length(crashed)) {
    again <- sprintf("ended R: hostile_calls.R %.0f %.0f %s repeats it", seed, calls, last[2L])
    crashed[[length(crashed) + 1L]] <- c("end", last[2:3], "crash", NA, again)
  }
  first <- as.numeric(last[2L]) + 1
}
rows <- c(Filter(function(line) line[1L] == "end", read_log()), crashed)
column <- function(at) vapply(rows, `[`, "", at)
outcome <- column(4L)
kinds <- c("value", "refused", "no method", "edited", "raw warning", "raw error", "slow", "changed", "crash")
n_verbs <- length(all_verbs(things))
cat(sprintf("# Hostile calls: seed %.0f, %.0f calls of %d functions and methods\n\n", seed, calls, n_verbs))
cat("| outcome | calls |\n| --- | --- |\n")
cat(sprintf("| %s | %d |\n", kinds, vapply(kinds, function(kind) sum(outcome == kind), 0L)), sep = "")
cat(sprintf("\nLongest call: %s s\n", format(max(as.numeric(column(5L)), na.rm = TRUE))))
bad <- which(outcome %in% kinds[-(1:3)])
if (length(bad)) {
  cat("\n| call | function | outcome | seconds | text |\n| --- | --- | --- | --- | --- |\n")
  shown <- bad[order(outcome[bad], column(3L)[bad])]
  text <- substr(column(6L)[shown], 1L, 160L)
  cat(sprintf(
    "| %s | %s | %s | %s | %s |\n", column(2L)[shown], column(3L)[shown], outcome[shown], column(5L)[shown], text
  ), sep = "")
}
if (own_home) unlink(home, recursive = TRUE)
quit(status = as.integer(any(outcome %in% kinds[-(1:4)])))
