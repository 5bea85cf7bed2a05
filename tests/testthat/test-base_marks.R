# Advice for tables of text: marks with their counts, and code that converts them to 0 and 1. R/base_marks.R.

told <- function(x, kind = "binary") {
  tryCatch(suppressMessages(check_data(x, kind)), multicause_input_error = conditionMessage)
}

# Applies the advice step by step and returns the resulting table.
followed <- function(x) {
  said <- told(x)
  stopifnot(is.character(said))
  steps <- regmatches(said, gregexpr("(first use|as in) `[^`]*`", said))[[1L]]
  for (step in sub("^.* `(.*)`$", "\\1", steps)) {
    value <- eval(str2lang(step))
    if (!grepl("<-", step, fixed = TRUE)) x <- value
  }
  suppressMessages(check_data(x, "binary"))$x
}

made <- matrix(c(1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1), 6, dimnames = list(
  paste("pond", 1:6), c("Rana", "Bufo", "Hyla")
))
marked <- function(present, absent) {
  x <- made
  x[] <- rep_len(absent, length(x))
  x[made == 1] <- rep_len(present, sum(made == 1))
  x
}
# Returns a matrix, a frame with row names, one with a column of names, and one without names.
as_tables <- function(x) {
  frame <- as.data.frame(x)
  list(x, frame, data.frame(pond = rownames(x), frame), data.frame(frame, row.names = NULL),
    data.frame(frame, stringsAsFactors = TRUE))
}

test_that("the advice for a table of marks makes the right table of it, and names no absence as a presence", {
  for (sign in list(
    list("x", ""), list("yes", "no"), list("Present", "Absent"), list("P", "A"), list("p", "a"), list("Y", "N"),
    list("pos", "neg"), list("+", "-"), list("+", "."), list("1", c("0", "-")), list("TRUE", "FALSE"),
    list(c("r", "+", "1", "2a"), ""), list(c("x", "3", "12"), "0"), list(c("x", "X", "x "), ""),
    list(c("D", "A", "F", "O", "R"), ""), list(c("D", "A", "F", "O", "R"), c("", "-")),
    list(sprintf("locus_%04d", 1:11), ""), list(c("a", "b \"c\""), "absent"), list("x", NA), list(c("x", "?1"), NA)
  )) {
    for (x in as_tables(marked(sign[[1L]], sign[[2L]]))) {
      expect_identical(unname(followed(x) %in% 1), as.vector(made == 1))
    }
  }
})

test_that("a gene that every genome has is one of the genes of a table of tags, and one tag stands for all", {
  genes <- matrix(sprintf("locus_%04d", 1:60), 6, 10, dimnames = list(paste0("genome", 1:6), paste0("gene", 1:10)))
  for (gene in 1:7) genes[gene %% 6 + 1, gene] <- ""
  said <- told(as.data.frame(genes))
  expect_match(said, "Its marks are \"\" (7), \"locus_0001\" (1) and 52 more.", fixed = TRUE)
  expect_match(said, "as in `(x != \"\") + 0`", fixed = TRUE)
  # Also as the first column, if the rows have names.
  expect_match(told(as.data.frame(genes[, 10:1])), "as in `(x != \"\") + 0`", fixed = TRUE)
  # What is no tag is still named.
  described <- cbind(as.data.frame(genes), origin = rep(c("soil", "milk"), 3))
  expect_match(told(described), "column \"origin\" is character. Leave out what is no taxon", fixed = TRUE)
})

test_that("marks are listed with their numbers, and unknown ones become NA", {
  x <- marked("1", "0")
  x[c(1, 9)] <- "?"
  expect_match(told(x), "Its marks are \"1\" (10), \"0\" (6), \"?\" (2).", fixed = TRUE)
  y <- followed(x)
  expect_identical(sum(y, na.rm = TRUE), 10)
  expect_identical(which(is.na(y)), c(1L, 9L))
  # Unknown marks get no interpretation.
  expect_match(told(marked("ja", "nein")), "Its marks are \"ja\" (11), \"nein\" (7). Name that of a presence, as in `",
    fixed = TRUE)
  expect_match(told(marked("ja", "nein")), "(x == \"...\") + 0", fixed = TRUE)
  many <- told(marked(sprintf("tag_%02d", 1:11), ""))
  expect_match(many, "\"\" (7), \"tag_01\" (1)", fixed = TRUE)
  expect_match(many, "and 10 more.", fixed = TRUE)
})

test_that("a first column of words is a taxon where it holds the marks of the others", {
  frame <- data.frame(marked("yes", "no"), row.names = NULL)
  expect_identical(ncol(followed(frame)), 3L)
  kept <- data.frame(habitat = rep(c("bog", "fen"), 3), marked("yes", "no"), row.names = NULL)
  expect_match(told(kept), "`x[-1] <- (x[-1] == \"yes\") + 0`", fixed = TRUE)
  # Rows that already have names need no others.
  expect_match(told(data.frame(habitat = rep(c("bog", "fen"), 3), made)), "column \"habitat\" is character. Leave out")
  # In a table of counts, a column with marks among its numbers is a column of counts.
  mixed <- data.frame(made * 4, Lota = c("3", "x", "", "12", "2", ""))
  expect_match(told(mixed), "column \"Lota\" is character. Its marks are \"4\" (11), \"0\" (7)", fixed = TRUE)
  expect_identical(sum(followed(mixed) %in% 1), 15L)
  ground <- c("bog", "fen", "bog", "bog", "fen", "mire")
  expect_match(told(data.frame(made, ground)), "Leave out what is no taxon; a list")
  owner <- c("Ann", "Bo", "Cy", "Bo", "Al", "Bo")
  expect_match(told(data.frame(made, ground, owner)),
    "no taxon (text is in \"ground\", \"owner\")", fixed = TRUE)
})

test_that("ratings without a 0 are asked about, and a column of scores among 0 and 1 is named", {
  set.seed(1)
  ratings <- matrix(sample(1:5, 30, TRUE), 6)
  expect_match(told(ratings), "No cell is 0: if 1 stands for an absence, use `(x > 1) + 0`.", fixed = TRUE)
  expect_match(told(replace(ratings, 3:5, NA)), "if NA does, `(!is.na(x)) + 0`.", fixed = TRUE)
  expect_no_match(told(ratings), "x > 0", fixed = TRUE)
  scored <- cbind(made, made[, 2:1], richness = c(3, 2, 4, 1, 5, 3))
  colnames(scored)[4:5] <- c("Pelobates", "Lissotriton")
  expect_match(told(scored), "Of all columns only \"richness\" holds values other than 0 and 1", fixed = TRUE)
  expect_message(wz_data(replace(scored, 36, 0), NULL), "Only \"richness\" holds more than 1", fixed = TRUE)
  placed <- cbind(scored[, 1:5], scored[, 1:3] + 0, easting = 100.5 + 1:6, northing = 1:6 * 1000)
  colnames(placed)[6:8] <- c("Triturus", "Bombina", "Alytes")
  expect_match(told(placed), "only \"easting\", \"northing\" hold values other than 0 and 1", fixed = TRUE)
  expect_message(check_data(placed, "nonnegative"), "only \"easting\" holds fractions.*Leave out of `x`")
  expect_no_message(check_data(placed[, -9] / 2, "nonnegative"), message = "fractions")
  grains <- cbind(made * 3, made[, 3:1] * 7, Pinus = c(4.5, 2, 0, 1, 3.5, 2))
  colnames(grains)[4:6] <- c("Alnus", "Betula", "Ulmus")
  expect_match(told(grains), "only \"Pinus\" holds fractions or values below 0. Leave it out if it is no taxon")
})

test_that("several marks of what is unknown all become NA, and text that R cannot read is read again", {
  x <- marked(c("r", "+"), "0")
  x[c(1, 9)] <- c("?", "n/a")
  expect_identical(unname(which(is.na(followed(x)))), c(1L, 9L))
  expect_identical(sum(followed(x), na.rm = TRUE), 10)
  skip_if_not(l10n_info()[["UTF-8"]], "not UTF-8")
  expect_match(told(marked("caf\xe9", "")), "encoding", fixed = TRUE)
  expect_match(told(as.data.frame(marked("caf\xe9", ""))), "encoding|Leave out")
  expect_match(told(data.frame(site = c("caf\xe9", letters[2:6]), made)), "must be text that can be read")
})

test_that("running text is sent to where it becomes a table", {
  text <- c("the quick brown fox jumps", "over the lazy dog again and again")
  corpus <- structure(list(list(content = text[1L])), class = c("VCorpus", "Corpus"))
  for (x in list(text, as.list(text), data.frame(doc_id = c("a", "b"), text = text), corpus,
    structure(text, class = c("corpus", "character")), structure(list(a = "the"), class = c("tokens", "list")))) {
    expect_match(told(x, "count"), "tm::DocumentTermMatrix(), quanteda::dfm() and tidytext::cast_", fixed = TRUE)
  }
})

test_that("names, notes and numbers beside a table of marks are named, not taken for its marks", {
  set.seed(1)
  m <- matrix(rbinom(720, 1, 0.4), 60, 12, dimnames = list(NULL, letters[1:12]))
  text <- data.frame(id = 1:60, name = paste("L", 1:60), label = paste("L", 1:60), x = as.character(-(1:60) / 2))
  text[colnames(m)] <- lapply(seq_len(12), function(j) as.character(m[, j]))
  expect_match(told(text), "Leave out what is no taxon (text is in \"name\", \"label\")", fixed = TRUE)
  expect_lt(nchar(told(text[-(1:3)])), 500)
  notes <- data.frame(id = 1:60, m, notes = c("see Smith 1990 for the vowels", rep("", 59)), notes2 = "")
  expect_match(told(notes), "Leave out what is no taxon (text is in \"notes\", \"notes2\")", fixed = TRUE)
  twice <- data.frame(sp = paste("Genus", c(2:59, 1, 1)), m)
  twice$a <- ifelse(twice$a == 1, "+", ".")
  expect_match(told(twice[c(60:1), ]), "it must name each once: \"Genus 1\" is in rows 1 and 2.", fixed = TRUE)
})
