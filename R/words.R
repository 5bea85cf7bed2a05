# The user's words for rows and columns, in prints and figures.

# What the user calls rows and columns: the names of the dimnames, else sites and taxa; more than one of them.
axis_words <- function(fit) {
  words <- c("sites", "taxa")
  if (isS4(fit$x)) loadNamespace("Matrix") # of a fit that was read from a file
  given <- names(dimnames(fit$x))
  if (length(given) != 2L) {
    return(words)
  }
  thing <- sub("[._](id|no|nr|name|code)$", "", given, ignore.case = TRUE) # of collection_no, collections
  ifelse(is.na(given) | !nzchar(given), words, plural_word(thing))
}

# The same of a result of a fit, which has kept them; else of nobody's table.
kept_words <- function(x) attr(x, "words") %||% c("sites", "taxa")

# Words of the field of which one and many are known. Any other word is left as the user wrote it.
many_of <- c(
  site = "sites", locality = "localities", formation = "formations", collection = "collections", sample = "samples",
  plot = "plots", quadrat = "quadrats", transect = "transects", station = "stations", section = "sections",
  bed = "beds", basin = "basins", region = "regions", island = "islands", lake = "lakes", row = "rows",
  quarry = "quarries", cave = "caves", core = "cores", cell = "cells", square = "squares", point = "points",
  pond = "ponds", stream = "streams", field = "fields", trap = "traps", camera = "cameras", reef = "reefs",
  observation = "observations", document = "documents", image = "images", patient = "patients", person = "persons",
  taxon = "taxa", genus = "genera", species = "species", family = "families", order = "orders",
  bird = "birds", plant = "plants", tree = "trees", fish = "fish", mammal = "mammals", insect = "insects",
  beetle = "beetles", butterfly = "butterflies", moth = "moths", spider = "spiders", snail = "snails", bat = "bats",
  frog = "frogs", amphibian = "amphibians", reptile = "reptiles", animal = "animals", fungus = "fungi",
  attribute = "attributes", column = "columns", term = "terms", word = "words", gene = "genes", pixel = "pixels",
  item = "items", group = "groups", visit = "visits", layer = "layers", country = "countries", time = "times",
  interval = "intervals", stage = "stages", period = "periods", zone = "zones"
)

plural_word <- function(word) {
  many <- unname(many_of[tolower(word)])
  ifelse(is.na(many), word, as_written(many, word))
}

singular_word <- function(word) {
  one <- names(many_of)[match(tolower(word), many_of)]
  ifelse(is.na(one), word, as_written(one, word))
}

# Numbers that are expected, as people write them: each with two digits below 100, else with three.
show_count <- function(x, digits = 2L) {
  vapply(signif(x, digits + (x >= 100)), format_big, "", USE.NAMES = FALSE)
}

# Groups of digits that no page breaks across lines.
unbroken <- function(text) gsub("(?<=[0-9]) (?=[0-9]{3}(?![0-9]))", "\u00a0", text, perl = TRUE)

# "1 start", "2 passes", "3 taxa", of words of ours; of what the user calls them, "1 site" of "sites".
count_words <- function(n, word) paste(format_big(n), noun(n, word))
noun <- function(n, word) ifelse(n == 1, word, many_words(word))
count_side <- function(n, words) paste(format_big(n), ifelse(n == 1, singular_word(words), words))

# The last word in the plural, as listed above or by the rule.
many_words <- function(word) {
  last <- sub(".* ", "", word)
  listed <- unname(many_of[last])
  regular <- paste0(sub("(s|x|ch|sh)$", "\\1e", sub("([^aeiou])y$", "\\1ie", last)), "s")
  paste0(substr(word, 1L, nchar(word) - nchar(last)), ifelse(is.na(listed), regular, listed))
}

# With a capital where the user's word has one.
as_written <- function(new, word) {
  ifelse(grepl("^[[:upper:]]", word), paste0(toupper(substr(new, 1L, 1L)), substring(new, 2L)), new)
}

# One row or one column in the user's words; `of` is "site" or "taxon".
side_word <- function(fit, of) singular_word(axis_words(fit))[match(of, c("site", "taxon"))]

# Heads of a table for readers: what results call their sides, in the user's words.
side_heads <- function(heads, words) {
  for (side in 1:2) {
    at <- match(c("site", "taxon")[side], heads)
    if (!is.na(at)) heads[at] <- singular_word(words)[side]
  }
  heads
}

# "30 sites x 10 genera".
table_words <- function(d, words = c("sites", "taxa")) {
  paste(count_side(d[1:2], words), collapse = " x ")
}

# What a model says of the shape of its data.
shape_words <- function(fit) UseMethod("shape_words")

shape_words.default <- function(fit) {
  paste0(table_words(fit$dims, axis_words(fit)), ", ", count_words(fit$dims[["k"]], "component"))
}

# The taxa by which one knows each component: what a model of components found, in one sentence. NULL where it has none
# that can be named.
known_by <- function(fit) {
  if (is.null(fit$names[[2L]]) || isTRUE(fit$dims[["k"]] < 2)) {
    return(NULL) # nothing to call them by, or to tell apart
  }
  each <- catch_error(top_names(fit), function(e) NULL)
  each <- each[nzchar(each)]
  if (length(each) < 2L) {
    return(NULL)
  }
  shown <- utils::head(sprintf("%s: %s", names(each), each), 6L)
  more <- length(each) - length(shown)
  sprintf(
    "%s that tell the components apart: %s%s.", capital(axis_words(fit)[2L]), paste(shown, collapse = "; "),
    if (more) paste("; and", count_words(more, "more component")) else ""
  )
}

# strwrap() that ends no line within a number, as in 933 000, 95 % or s.e. 0.2, nor at a "\001", which becomes a space.
wrap_text <- function(text, width = min(getOption("width"), 100L), ...) {
  whole <- gsub("([0-9]) (?=[0-9]{3}(?![0-9])|%)", "\\1\001", text, perl = TRUE)
  whole <- gsub("s.e. ", "s.e.\001", whole, fixed = TRUE)
  gsub("\001", " ", strwrap(whole, width, ...), fixed = TRUE)
}

# Writes sentences, wrapped where they are wider than the window. Those that begin with a space are rows of a table.
write_sentences <- function(lines) {
  wrapped <- lapply(lines, function(line) if (startsWith(line, " ")) line else wrap_text(line, exdent = 2))
  writeLines(unlist(wrapped))
}

# A factor whose levels stand in one order, whatever the language of the session.
fixed_factor <- function(x) factor(x, sort(unique(x), method = "radix"))

# Prints columns of strings under their names, those in `left` flush left, the others flush right; as wide as they are.
print_aligned <- function(columns, left = 1L) {
  padded <- lapply(seq_along(columns), function(j) {
    format(c(names(columns)[j], as.character(columns[[j]])), justify = if (j %in% left) "left" else "right")
  })
  writeLines(sub(" +$", "", do.call(paste, c(padded, sep = "  "))))
}
