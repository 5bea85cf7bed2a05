# Numbers and nouns in sentences.

`%||%` <- function(x, y) if (is.null(x)) y else x

# Singular and plural of words of the field. Other words stay as the user wrote them.
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

format_big <- function(x) format(x, big.mark = " ", scientific = FALSE, trim = TRUE)

format_each <- function(x) vapply(signif(x, 2L), format, "", digits = 2L, USE.NAMES = FALSE)

# Format shares, expected numbers and probabilities in words.
format_percent <- function(share) ifelse(share < 0.001, "less than 0.1", format_each(100 * share))

# Shares as whole percents, of which 0 and 100 are said of nothing and of all alone.
whole_percent <- function(share) {
  percent <- sprintf("%.0f", 100 * share)
  percent <- ifelse(share > 0 & percent == "0", "<1", percent)
  ifelse(share < 1 - 1e-9 & percent == "100", ">99", percent)
}

show_expected <- function(x) if (x < 1) "fewer than 1" else format_big(signif(x, 3L))

format_probability <- function(p) ifelse(p < 0.001, "below 0.001", format_each(p))

# Returns "1 start", "2 iterations", "3 taxa" for words of this package; for the user's words, "1 site" from "sites".
count_words <- function(n, word) paste(format_big(n), noun(n, word))
noun <- function(n, word) ifelse(n == 1, word, many_words(word))

# Puts the last word in the plural, as listed above or by rule.
many_words <- function(word) {
  last <- sub(".* ", "", word)
  listed <- unname(many_of[last])
  regular <- paste0(sub("(s|x|ch|sh)$", "\\1e", sub("([^aeiou])y$", "\\1ie", last)), "s")
  paste0(substr(word, 1L, nchar(word) - nchar(last)), ifelse(is.na(listed), regular, listed))
}

range_text <- function(ends, digits) {
  ends <- vapply(signif(round(unlist(ends), digits), digits), format, "", digits = digits)
  if (length(unique(ends)) == 1L) ends[1L] else sprintf("%s to %s", ends[1L], ends[2L])
}

# Tests for the level of printed intervals, which may come from a computation: 0.3 * 3 is not 0.9 to the last bit.
is_ninety <- function(level) abs(level - 0.9) < 1e-8
