# Prints use the user's words, such as sites and genera. Tests also R/base_names.R, R/base_numbers.R.

skip_on_cran()

worded <- local({
  made <- list()
  function(named = TRUE) {
    key <- as.character(named)
    if (is.null(made[[key]])) made[[key]] <<- suppressWarnings(suppressMessages(make_worded(named)))
    made[[key]]
  }
})

make_worded <- function(named) {
  set.seed(1)
  x <- outer(1:30, 1:12, function(i, j) (i <= 15) == (j <= 6)) * matrix(stats::rbinom(360, 1, 0.7), 30)
  if (named) dimnames(x) <- list(site = paste0("s", 1:30), genus = paste0("g", 1:12))
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE, keep_starts = TRUE, screen = FALSE)
  chains <- mcmc_control(chains = 2, warmup = 20, draws = 40, n_start = 2, n_reheat = 1, keep = 10, progress = FALSE)
  fit <- aspect_bernoulli(x, 3, phantom = "white", control = few)
  visits <- visits_bernoulli(list(x, x), 2, control = few)
  w <- which_zeros(x, age = 1:30, quick = TRUE, copies = 2, seed = 1)
  fits <- list(
    fit, summary(fit), aspect_bernoulli(x, 2, control = few), bernoulli_mixture(x, 2, control = few),
    aspect_bernoulli(x, 2, estimate = "gibbs", phantom = "white", control = chains), visits, summary(visits),
    logistic_pca(x, 2, control = few), nmf(x, 2, control = few), plsa(x, 2, control = few),
    noisy_or(x, 2, control = few), summary(plca(x, 2, control = few)), bmf(x, family = "bernoulli", control = chains),
    neighbours_mean(x), ensemble(x, k = 2, members = 1, control = few)
  )
  sure <- identifiability(fit)
  c(fits, list(
    false_absences(fit), false_presences(fit), by_taxon(fit), by_site(fit), denoise(fit),
    phantoms(fit), sure, summary(sure), modes(fit), age_profile(fit, 30:1, of = "site"), corrupt(x, omit = 0.3),
    smooth_over(age = 1:30), recovery(fitted(fit), matrix(c(TRUE, FALSE), 30, 12)), w, summary(w), by_site(w),
    by_taxon(w), contrast(w, rep(c("a", "b"), 15)), sensitivity(w)
  ))
}

said_by <- function(object) paste(utils::capture.output(print(object)), collapse = "\n")

test_that("one and many of a word", {
  expect_identical(count_words(1:2, "iteration"), c("1 iteration", "2 iterations"))
  expect_identical(count_words(0:1, "observed taxon"), c("0 observed taxa", "1 observed taxon"))
  expect_identical(many_words(c("quantity", "day", "species", "box")),
    c("quantities", "days", "species", "boxes"))
  expect_identical(plural_word(c("site", "Genus", "taxa", "species", "Fundstelle")),
    c("sites", "Genera", "taxa", "species", "Fundstelle"))
  expect_identical(singular_word(c("sites", "Genera", "taxon", "species", "localities", "Fundstelle")),
    c("site", "Genus", "taxon", "species", "locality", "Fundstelle"))
  expect_identical(table_words(c(1, 20000), c("sites", "taxa")), "1 site x 20 000 taxa")
  expect_identical(plural_word(singular_word(unname(many_of))), unname(many_of))
})

test_that("no print calls sites observations, or genera attributes, but to name a column", {
  for (named in c(TRUE, FALSE)) {
    words <- if (named) "\\b(sites?|genera|genus)\\b" else "\\b(sites?|taxa|taxon)\\b"
    for (object in worded(named)) {
      said <- said_by(object)
      kind <- class(object)[1L]
      plain <- gsub("`[^`]*`|[a-z_]+\\([^)]*\\)", "", said)
      expect_no_match(plain, "\\b(observation|attribute|aspect)s?\\b", info = kind)
      silent <- c(
        "recovery", "modes", "phantoms", "summary.multicause", "which_zeros_contrast", "which_zeros_sensitivity"
      )
      if (!kind %in% silent) {
        expect_match(plain, words, info = kind)
      }
    }
  }
})

test_that("a print has its title first, then a table, and fits a screen of 80 columns", {
  old <- options(width = 80)
  on.exit(options(old))
  fits <- Filter(function(object) inherits(object, c("multicause", "multicause_ensemble")), worded())
  for (fit in fits) {
    lines <- utils::capture.output(print(fit))
    kind <- class(fit)[1L]
    expect_match(lines[1L], "30 (sites )?x 12|30 sites x 12 genera", info = kind)
    expect_false(any(grepl("^ *[A-Z].*[.]$", lines[1:2])), info = kind) # no sentence before the table
    expect_lte(length(lines), 16L + (kind == "visits_bernoulli_gibbs"))
    expect_lte(max(nchar(lines)), 80L)
  }
  title <- utils::capture.output(print(fits[[1L]]))[1L]
  expect_identical(title, "Aspect Bernoulli model (MAP): 30 sites x 12 genera, k = 3, white phantom fixed")
  w <- Filter(function(object) inherits(object, "which_zeros"), worded())[[1L]]
  lines <- utils::capture.output(print(w))
  expect_match(lines[1L], "^Which zeros are false absences[?] 30 sites x 12 genera")
  expect_lte(length(lines), 21L)
  expect_lte(max(nchar(lines)), 80L)
})

test_that("prints of all classes stay as they were read", {
  old <- options(width = 80)
  on.exit(options(old))
  # Numbers, which taxa come first, and whether short chains agree differ between processors and BLAS libraries.
  said <- lapply(worded(), function(object) {
    lines <- utils::capture.output(print(object))
    lines <- gsub(" +", " ", gsub("[0-9][0-9. ]*[0-9]|[0-9]", "#", lines))
    lines <- sub(" (yes|no)$", " yes or no", lines)
    c(sprintf("<%s>", class(object)[1L]), strwrap(paste(lines[!duplicated(lines)], collapse = " / "), 110), "")
  })
  expect_snapshot(writeLines(unlist(said)))
})

test_that("the table of components names the taxa of largest relevance, where there are names", {
  all <- worded()
  top <- top_taxa(all[[4L]], 3L)
  table <- fit_table(all[[4L]])
  expect_identical(names(table), c("component", "share", "mean P", "characteristic genera"))
  expect_identical(table[[4L]][[1L]], top$taxon[top$component == "A1"])
  expect_identical(names(fit_table(worded(FALSE)[[4L]])), c("component", "share", "mean P"))
})

test_that("names are as many as the line has room for, and long tables are cut", {
  names <- c("Ophiacodon", "Eryops", "Diadectes")
  expect_identical(listed_names(names, 40), "Ophiacodon, Eryops, Diadectes")
  expect_identical(listed_names(names, 20), "Ophiacodon, Eryops")
  expect_identical(listed_names(names, 8), "Ophiacodon")
  expect_identical(listed_names(character(), 20), "-")
  table <- list(component = sprintf("A%d", 1:12), share = sprintf("%.2f", 1:12 / 78), taxa = rep(list(names), 12))
  lines <- utils::capture.output(print_fit_table(table))
  expect_length(lines, shown_components + 2L)
  expect_match(lines[length(lines)], "5 (summary() has all)", fixed = TRUE)
})

test_that("summary() of an answer has the answer and its largest sums", {
  w <- Filter(function(object) inherits(object, "which_zeros"), worded())[[1L]]
  lines <- utils::capture.output(print(summary(w), n = 3))
  expect_identical(lines[seq_along(utils::capture.output(print(w, n = 3)))], utils::capture.output(print(w, n = 3)))
  expect_true(any(grepl("^Undetected presences per genus", lines)))
  sums <- by_taxon(w)
  expect_true(any(grepl(sums$taxon[which.max(sums$missed)], lines, fixed = TRUE)))
})

test_that("what prints say in words of their own is in the glossary", {
  page <- utils::help("multicause-glossary", package = "multicause")
  text <- paste(utils::capture.output(tools::Rd2txt(utils:::.getHelpFile(page))), collapse = " ")
  heads <- gsub("_\b", "", text)
  said <- paste(vapply(worded(), said_by, ""), collapse = " ")
  jargon <- c(
    "phantom", "fixed", "content", "iteration", "quick", "converged", "log-posterior", "log-likelihood", "nats",
    "leak", "perplexity", "AUC", "calibration slope", "draws", "density", "membership", "component", "s.e.", "lift",
    "relevance", "chain", "effective", "learner", "companions", "completeness", "log-odds"
  )
  used <- jargon[vapply(jargon, grepl, NA, x = said, ignore.case = TRUE, fixed = FALSE)]
  expect_gt(length(used), 15L)
  known <- vapply(sub("log-posterior", "MAP", used), grepl, NA, x = heads, ignore.case = TRUE)
  expect_identical(used[!known], character())
})

test_that("no error and no message calls sites observations, or taxa attributes", {
  files <- Sys.glob(test_path("..", "..", "R", "*.R"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  texts_of <- function(call) {
    if (is.character(call)) {
      return(call)
    }
    if (is.call(call) || is.expression(call)) unlist(lapply(as.list(call), texts_of))
  }
  said_to_users <- function(code) {
    if (!is.call(code) && !is.expression(code)) {
      return(NULL)
    }
    told <- is.call(code) && as.character(code[[1L]])[1L] %in% c("stop_input", "inform", "refuse_large", "cat")
    if (told) texts_of(code) else unlist(lapply(as.list(code), function(part) if (!missing(part)) said_to_users(part)))
  }
  said <- unlist(lapply(files, function(file) said_to_users(parse(file, keep.source = FALSE))))
  expect_gt(length(said), 200L)
  plain <- unname(gsub("`[^`]*`|\"[^\"]*\"|list\\([^)]*\\)", "", said))
  # A single word is the value of an argument or the name of a column.
  found <- grep("\\b(observations?|attributes?|aspects?|writes)\\b", plain[grepl(" ", plain)], value = TRUE)
  expect_identical(found, character())
})

test_that("no line ends within a number", {
  text <- "Up to 933 000 of 1 259 000 zeros in 4 tables, 18 presences each, 95 % of all."
  wrapped <- lapply(8:40, function(width) multicause:::wrap_text(text, width))
  expect_true(all(vapply(wrapped, function(lines) paste(lines, collapse = " ") == text, NA)))
  lines <- unlist(wrapped)
  expect_false(any(grepl("^[0-9]{3}( |$)|^%", lines[!grepl("^933 000", lines)])))
})

# count_words() distinguishes one from many; a count of things within a number of things has one word for both.
test_that("messages and prints speak of 1 row and 2 rows, not of 1 row(s) or 1 rows", {
  files <- Sys.glob(test_path("..", "..", "R", "*.R"))
  skip_if_not(length(files) > 0L, "the sources are not at hand")
  parsed <- lapply(files, function(file) utils::getParseData(parse(file, keep.source = TRUE)))
  strings <- unlist(lapply(parsed, function(parts) parts$text[parts$token == "STR_CONST"]))
  expect_identical(grep("[a-z][(]e?s[)]", strings, value = TRUE), character())
  ours <- c(
    "component", "iteration", "zero", "start", "draw", "chain", "fit", "feature", "level", "table", "copy", "fold",
    "count", "value", "number", "dimension", "field", "line", "record", "occurrence", "change", "replicate", "cell"
  )
  many <- paste(c(many_of, many_words(ours)), collapse = "|")
  counted <- sprintf("(?<!of )(?<!of the )(?<! x )%%([.]0f|d) ([a-z]+ )?(%s)\\b", many)
  expect_identical(grep(counted, strings, perl = TRUE, value = TRUE), character())
  expect_identical(grep("^.(e?s|ies).$", strings, value = TRUE), "\"s\"") # that of count_words()
})

test_that("a slope of few held-out presences is no verdict", {
  cases <- data.frame(slope = c(1.02, 0.5, 1.02, 0.7, 1.5, 0.5, 1.5), se = c(0.05, 0.05, 0.15, 0.2, 0.3, 0.1, 0.1))
  said <- mapply(slope_words, cases$slope, cases$se, rep(c(40L, 400L), c(2L, 5L)))
  expect_match(said[1:5], "from too few")
  expect_match(said[1L], "^1.02 \\(SE 0.05\\), ")
  expect_match(said[6L], "too extreme")
  expect_match(said[7L], "too cautious")
  expect_match(slope_words(1.02, 0.05, 400L), "are calibrated")
  expect_match(slope_words(1.02, NA, 400L), "^1.02, from too few")
  expect_match(c(slope_words(NA, NA, 400L), slope_words(190.32, 6685, 6L)), "could not")
})

# One idea has one word, that of the field.
test_that("words of another dialect occur neither in code nor in documents", {
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "R", "words.R")), "the sources are not at hand")
  here <- function(folder, pattern) dir(file.path(root, folder), pattern, full.names = TRUE, recursive = TRUE)
  files <- c(
    here("R", "[.]R$"), here("src", "[.][ch]$"), here("man", "[.]Rd$"), here("vignettes", "[.]Rmd$"),
    file.path(root, c("README.md", "NEWS.md"))
  )
  banned <- paste0("\\b(", paste(c(
    "likeness(es)?", "pinned", "foreseen", "damaged cop(y|ies)", "max_pass", "hangs? on", "tells? apart",
    "first guess(es)?", "(drawn|pulled) towards", "alike lists", "hidden finds?", "deleted finds?"
  ), collapse = "|"), ")\\b")
  found <- unlist(lapply(files, function(file) {
    hit <- grep(banned, readLines(file, encoding = "UTF-8"), value = TRUE, perl = TRUE)
    if (length(hit)) paste0(basename(file), ": ", hit)
  }))
  expect_identical(found, NULL)
})

test_that("0 % and 100 % are said of nothing and of all alone", {
  shares <- c(0, 1e-12, 0.004, 0.006, 0.5, 0.994, 0.996, 1 - 1e-6, 1)
  expect_identical(whole_percent(shares), c("0", "<1", "<1", "1", "50", "99", ">99", ">99", "100"))
})
