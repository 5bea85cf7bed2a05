# Tests of the architecture: folders of src/ depend only on lower ones, without cycles.

skip_on_cran()

src <- test_path("..", "..", "src")

c_files <- function() {
  skip_if_not(dir.exists(file.path(src, "num")), "the sources are not at hand")
  dir(src, pattern = "[.][ch]$", recursive = TRUE)
}

read_code <- function(file) {
  text <- paste(readLines(file.path(src, file)), collapse = "\n")
  gsub("(?s)/[*].*?[*]/", "", text, perl = TRUE)
}

matches <- function(pattern, text) {
  found <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
  sub(pattern, "\\1", found, perl = TRUE)
}

# Cycles of a graph, list(from = to, ...): the files that remain after repeatedly removing those without dependencies.
circle_in <- function(needs) {
  repeat {
    free <- lengths(needs) == 0L
    if (!any(free)) return(names(needs))
    needs <- lapply(needs[!free], setdiff, names(needs)[free])
  }
}

test_that("a circle is seen", {
  expect_length(circle_in(list(a = "b", b = "c", c = character())), 0L)
  expect_setequal(circle_in(list(a = "b", b = "c", c = "b")), c("a", "b", "c"))
})

test_that("OBJECTS of Makevars is every C file", {
  files <- grep("[.]c$", c_files(), value = TRUE)
  makevars <- paste(readLines(file.path(src, "Makevars")), collapse = "\n")
  expect_setequal(matches("([a-z0-9_/]+[.]o)\\b", makevars), sub("c$", "o", files))
  groups <- matches("(?m)^([A-Z_]+) = \\\\$", makevars)
  expect_true(all(groups %in% matches("\\$[(]([A-Z_]+)[)]", makevars)))
  expect_false(grepl("$(wildcard", makevars, fixed = TRUE))
})

test_that("C files that the code in R names are there", {
  files <- c_files()
  text <- unlist(lapply(dir(test_path("..", "..", "R"), pattern = "[.]R$", full.names = TRUE), readLines))
  expect_identical(setdiff(unlist(lapply(text, matches, pattern = "\\bsrc/([a-z_/]+[.][ch])\\b")), files), character())
})

test_that("includes are written from src/, exist, and point downwards without circles", {
  files <- c_files()
  includes <- lapply(stats::setNames(files, files), function(file) matches("#include \"([^\"]+)\"", read_code(file)))
  expect_true(all(unlist(includes) %in% files))
  # A model may build on another, so models are one floor; cycles among them are found below.
  floor_of <- function(file) {
    floors <- c(num = 1, engine = 2, glue = 4, init.c = 5)
    top <- sub("/.*", "", file)
    ifelse(top %in% names(floors), floors[top], 3)
  }
  for (file in files) expect_true(all(floor_of(includes[[file]]) <= floor_of(file)), label = file)
  expect_identical(circle_in(includes), character())
})

test_that("no two C files need each other's functions", {
  files <- setdiff(grep("[.]c$", c_files(), value = TRUE), "init.c")
  code <- vapply(files, read_code, "")
  head <- "(?m)^(?!static)(?:[A-Za-z_]\\w*[ *]+)+?(\\w+)\\([^;{}]*\\) \\{"
  defined <- lapply(code, function(text) matches(head, text))
  home <- stats::setNames(rep(files, lengths(defined)), unlist(defined))
  expect_gt(length(home), 100L)
  needs <- lapply(code, function(text) {
    words <- unique(matches("(\\w+)", text))
    unique(unname(home[intersect(words, names(home))]))
  })
  needs <- Map(setdiff, needs, files)
  expect_identical(circle_in(needs), character())
})

test_that("R's interface is in glue/ and init.c alone", {
  for (file in grep("^glue/|^init[.]c$", c_files(), value = TRUE, invert = TRUE)) {
    expect_false(grepl("SEXP|Rinternals[.]h|Rf_error|<R[.]h>", read_code(file)), label = file)
  }
})

# Definitions of each file of R/, and the names that its code uses (calls and values), without those after `$` or `@`,
# argument names, and local variables.
r_files <- function() {
  folder <- file.path(src, "..", "R")
  skip_if_not(dir.exists(folder), "the sources are not at hand")
  files <- dir(folder, "[.]R$", full.names = TRUE)
  stats::setNames(lapply(files, parse, keep.source = FALSE), basename(files))
}

is_assignment <- function(e) is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("<-", "<<-", "=")

made_by <- function(code) {
  unlist(lapply(Filter(is_assignment, as.list(code)), function(e) if (is.name(e[[2L]])) as.character(e[[2L]])))
}

names_in <- function(e) {
  if (is.name(e)) return(if (nzchar(e)) as.character(e))
  if (is.pairlist(e) || is.expression(e)) return(unlist(lapply(as.list(e), names_in)))
  if (!is.call(e)) return(NULL)
  if (is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("$", "@", "::")) return(names_in(e[[2L]]))
  if (identical(e[[1L]], as.name("function"))) {
    return(setdiff(c(names_in(e[[2L]]), names_in(e[[3L]])), c(names(e[[2L]]), local_names(e[[3L]]))))
  }
  unlist(lapply(as.list(e), names_in))
}

local_names <- function(e) {
  if (!is.call(e) || identical(e[[1L]], as.name("function"))) return(NULL)
  own <- if (is_assignment(e) && is.name(e[[2L]])) as.character(e[[2L]])
  if (identical(e[[1L]], as.name("for"))) own <- as.character(e[[2L]])
  c(own, unlist(lapply(as.list(e)[-1L], local_names)))
}

test_that("a name that a file takes is seen, and one that its function makes is not", {
  code <- parse(text = "f <- function(a, b = g) { c <- h(a); for (i in j) c$k(i, l = m) }")
  expect_setequal(setdiff(names_in(code[[1L]][[3L]]), c("{", "<-", "for")), c("g", "h", "j", "m"))
})

# Floors: base, models, verbs, answer, pages. CONTRIBUTING.md has the table.
floors_of_r <- c(
  base = paste0(
    "^(datasets|multicause-package|check|words|fit_control|tasks|starts|checkpoint|data_view|plot_tools|multicause|",
    "chains|records|ages|base_.*)$"
  ),
  answer = "_shards",
  models = paste0(
    "^(aspect_(bernoulli|categorical).*|bernoulli_mixture.*|logistic_pca|nmf|plsa.*|plca.*|cross_entropy|noisy_or.*|",
    "bmf.*|visits_.*|",
    "smooth|smooth_over|neighbours_mean)$"
  ),
  pages = "^(report|explore)$", answer = "^(shards.*|which_zeros.*|by_site|contrast|sensitivity)$", verbs = "."
)

test_that("R/ is floors: each file takes names of files above it in Collate alone, and these go up floor by floor", {
  files <- r_files()
  collate <- read.dcf(file.path(src, "..", "DESCRIPTION"), "Collate")[[1L]]
  order <- gsub("'", "", strsplit(trimws(collate), "[[:space:]]+")[[1L]])
  expect_setequal(order, names(files))
  first <- vapply(sub("[.]R$", "", order), function(file) {
    names(floors_of_r)[which(vapply(floors_of_r, grepl, NA, file))[1L]]
  }, "")
  expect_false(is.unsorted(match(first, c("base", "models", "verbs", "answer", "pages"))))
  home <- unlist(lapply(order, function(file) {
    made <- made_by(files[[file]])
    stats::setNames(rep(match(file, order), length(made)), made)
  }))
  expect_gt(length(home), 2000L)
  upwards <- unlist(lapply(seq_along(order), function(i) {
    taken <- intersect(unlist(lapply(files[[order[i]]], names_in)), names(home))
    above <- taken[home[taken] > i]
    sprintf("%s takes %s of %s", rep(order[i], length(above)), above, order[home[above]])
  }))
  expect_identical(upwards, character())
})

test_that("no name of R/ is defined twice, so that one file says what it is", {
  folder <- file.path(src, "..", "R")
  skip_if_not(dir.exists(folder), "the sources are not at hand")
  names <- unlist(lapply(dir(folder, "[.]R$", full.names = TRUE), function(file) {
    made <- Filter(function(e) is.call(e) && as.character(e[[1L]])[1L] %in% c("<-", "="), as.list(parse(file)))
    vapply(made, function(e) paste(deparse(e[[2L]]), collapse = ""), "")
  }))
  expect_gt(length(names), 500L)
  expect_identical(names[duplicated(names)], character())
})

test_that("arguments are those of the table in tools/ARGUMENTS.md, in its order", {
  page <- file.path(src, "..", "tools", "ARGUMENTS.md")
  skip_if_not(file.exists(page), "the sources are not at hand")
  lines <- readLines(page)
  first <- sub("^[|]([^|]*)[|].*", "\\1", grep("^[|] `", lines, value = TRUE))
  listed <- unlist(lapply(first, matches, pattern = "`(\\w+)`"))
  taken <- lapply(stats::setNames(nm = getNamespaceExports("multicause")), function(name) {
    arguments <- setdiff(names(formals(getExportedValue("multicause", name))), "...")
    # `x` of a verb on a fit is data supplied again, after all others.
    if (identical(arguments[1L], "x")) arguments else setdiff(arguments, "x")
  })
  expect_identical(listed[duplicated(listed)], character())
  expect_setequal(listed, unlist(taken))
  for (name in names(taken)) expect_false(is.unsorted(match(taken[[name]], listed)), label = name)
})

test_that("what only tests use is no part of the package: it belongs in tests/entries or a helper", {
  root <- file.path(src, "..")
  skip_if_not(dir.exists(file.path(root, "R")), "the sources are not at hand")
  files <- dir(file.path(root, c("R", "inst")), "[.]R(md)?$", recursive = TRUE, full.names = TRUE)
  lines <- unlist(lapply(files, readLines))
  words <- table(unlist(lapply(sub("^ *#.*", "", lines), matches, pattern = "([\\w.]+)")))
  expect_identical(setdiff(matches("ENTRY[(](mc_c_\\w+)", read_code("init.c")), names(words)), character())
  said <- gsub(",", ".", gsub("\"", "", readLines(file.path(root, "NAMESPACE"))), fixed = TRUE)
  known <- c(".onLoad", sub("^\\w+[(](\\w+::)?(.*)[)]$", "\\2", said))
  defined <- sub(" <- .*", "", grep("^[[:alnum:]_.]+ <- function", lines, value = TRUE))
  generics <- paste(unlist(lapply(lines, matches, pattern = "UseMethod[(]\"([\\w.]+)\"")), collapse = "|")
  methods <- grepl(sprintf("^(%s)[.]", generics), defined)
  # R calls methods by the name of their generic.
  expect_identical(setdiff(defined[words[defined] == 1L & !methods], known), character())
})

test_that("every file of R/ has a test file of its name, or one whose head names it", {
  folder <- file.path(src, "..", "R")
  skip_if_not(dir.exists(folder), "the sources are not at hand")
  heads <- vapply(dir(test_path(), "^test-.*[.]R$", full.names = TRUE), function(file) {
    lines <- readLines(file)
    paste(utils::head(lines, match(FALSE, startsWith(lines, "#")) - 1L), collapse = " ")
  }, "")
  named <- matches("R/([a-z_-]+[.]R)\\b", paste(heads, collapse = " "))
  expect_identical(setdiff(named, dir(folder)), character())
  own <- sub("^test-", "", basename(names(heads)))
  expect_identical(setdiff(dir(folder), c(own, named)), character())
})
