# Tests also R/read_export.R.

export_file <- function(...) test_path("exports", ...)

text_file <- function(lines) {
  file <- tempfile(fileext = ".csv")
  writeLines(lines, file, useBytes = TRUE)
  file
}

quietly <- function(x) suppressMessages(x, classes = "multicause_message")

test_that("a download with the block above reads as one without", {
  block <- quietly(read_pbdb(export_file("pbdb_block.csv")))
  plain <- quietly(read_pbdb(export_file("pbdb_plain.csv"))) # with a byte order mark
  expect_identical(block, plain, ignore_attr = "metadata")
  expect_null(attr(plain, "metadata"))
  metadata <- attr(block, "metadata")
  expect_identical(metadata[["Data License"]], "Creative Commons CC-BY")
  expect_identical(metadata[["base_name"]], "Tetrapoda")
  expect_identical(metadata[["Access Time"]], "Thu 2022-07-14 09:29:54 GMT")
})

test_that("columns are kept, numbers are numbers, and what is no name is missing", {
  data <- quietly(read_pbdb(export_file("pbdb_block.csv"), rank = "any"))
  expect_identical(nrow(data), 5L)
  expect_true(all(c("record_type", "reid_no", "difference", "reference_no", "formation") %in% names(data)))
  expect_identical(data$collection_no, c(12943L, 13004L, 13043L, 13043L, 13080L))
  expect_identical(data$max_ma, c(305.9, 265.1, 252.17, 252.17, 290.1))
  expect_identical(data$genus, c("Anconastes", NA, "Procolophon", "Lystrosaurus", "Mesosaurus"))
  expect_identical(data$order[2:3], c(NA_character_, NA_character_))
  expect_identical(data$species, c("Anconastes vesperus", NA, "Procolophon trigoniceps", NA, "Mesosaurus tenuidens"))
  expect_identical(data$identified_name[3], "Procolophon cf. trigoniceps, \"large form\"")
  expect_identical(data$cc, c("US", "ZA", "ZA", "ZA", "NA")) # Namibia
  expect_identical(data$formation[5], "Vikingh\u00f8gda")
})

test_that("without the classification the genus comes from the accepted name", {
  data <- quietly(read_pbdb(export_file("pbdb_no_class.tsv")))
  other <- quietly(read_pbdb(export_file("pbdb_plain.csv")))
  expect_identical(data$genus, other$genus)
  expect_identical(data$species, other$species)
})

test_that("what is left out is told", {
  expect_message(read_pbdb(export_file("pbdb_block.csv")), "Left out 2: 1 not identified to a genus, 1 without ages",
    class = "multicause_message"
  )
  expect_message(data <- read_pbdb(export_file("pbdb_block.csv"), "species"), "2 not identified to a species")
  expect_identical(nrow(data), 3L)
  lines <- readLines(export_file("pbdb_block.csv"))
  quietly(expect_message(read_pbdb(text_file(lines[-22])), "The database reports 6 records, but the file has 5"))
})

test_that("the table goes on into a matrix", {
  x <- quietly(occurrence_matrix(read_pbdb(export_file("pbdb_block.csv")), "collection_no", "genus"))
  expect_identical(rownames(x), c("12943", "13043", "13080"))
  expect_identical(site_table(x)$lat, c(36.333302, -32.099998, -26.31945))
})

test_that("a compressed file is read", {
  file <- tempfile(fileext = ".csv.gz")
  connection <- gzfile(file, "w")
  writeLines(readLines(export_file("pbdb_block.csv")), connection)
  close(connection)
  expect_identical(nrow(quietly(read_pbdb(file))), 4L)
})

test_that("something else is told from a download", {
  at <- setwd(test_path("exports"))
  on.exit(setwd(at))
  expect_snapshot(error = TRUE, read_pbdb(1))
  expect_snapshot(error = TRUE, read_pbdb("nowhere.csv"))
  expect_snapshot(error = TRUE, read_pbdb("."))
  expect_snapshot(error = TRUE, read_pbdb("pbdb_collections.csv"))
  expect_snapshot(error = TRUE, read_pbdb("pbdb.json"))
  expect_snapshot(error = TRUE, read_pbdb("now_comma.csv"))
  expect_snapshot(error = TRUE, read_pbdb("pbdb_block.csv", rank = "family"))
})

test_that("broken files are told where they break", {
  lines <- readLines(export_file("pbdb_plain.csv"), encoding = "UTF-8")
  wrong <- function(lines, pattern) {
    expect_error(quietly(read_pbdb(text_file(lines))), pattern, class = "multicause_input_error")
  }
  wrong(lines[1], "ends after its header")
  wrong(c(lines[1:3], "\"1\",\"2\""), "26 fields in each line")
  wrong(gsub("max_ma", "early_age", lines), "max_ma")
  wrong(sub("305.9", "305,9", lines), "numbers in column \"max_ma\": row 1 is \"305,9\"")
  wrong(sub("305.9", "Inf", lines), "numbers in column \"max_ma\": row 1 is \"Inf\"")
  wrong(lines[c(1, 3)], "usable occurrences")
  wrong(c("<!DOCTYPE html>", "<p>error</p>"), "web page")
  wrong("", "no line with the column names")
  wrong(c("collection_no,genus", "1,Canis"), "has collections and taxa, but no column occurrence_no or accepted_name")
  wrong(c("taxon_no,orig_no", "1,2"), "download of taxa")
  wrong(c("\"oid\",\"cid\",\"tna\"", "1,2,3"), "short column names")
})

test_that("a file that ends inside quotation marks is an error, not a shorter table", {
  lines <- readLines(export_file("pbdb_plain.csv"), encoding = "UTF-8")
  lines <- c(lines, lines[-1])
  cut <- function(lines, pattern) {
    expect_no_warning(expect_error(quietly(read_pbdb(text_file(lines))), pattern, class = "multicause_input_error"))
  }
  cut(replace(lines, 8, sub("\"$", "", lines[8])), "does not in line 8, and 5 rows would be lost")
  cut(replace(lines, 13, substr(lines[13], 1, 60)), "a quotation mark is not closed, or the file is cut off")
  cut(replace(lines, 9, paste0(lines[9], ",\"more\"")), "26 fields in each line, as in its header: line 9 has 27")
})

test_that("what a spreadsheet or an empty request saves is told", {
  lines <- readLines(export_file("pbdb_block.csv"), encoding = "UTF-8")
  none <- c(lines[1:16], "\"THIS REQUEST RETURNED NO RECORDS\"")
  expect_error(read_pbdb(text_file(none)), "the request in .* found none", class = "multicause_input_error")
  file <- tempfile(fileext = ".txt")
  text <- iconv(paste0("\ufeff", paste(lines, collapse = "\r\n")), "UTF-8", "UTF-16LE", toRaw = TRUE)[[1L]]
  writeBin(text, file)
  expect_error(read_pbdb(file), "is UTF-16; save it as UTF-8", class = "multicause_input_error")
})

test_that("a short file without an end of line, and numbers that end in a point, are read without a warning", {
  lines <- sub("305.9", "305.", readLines(export_file("pbdb_plain.csv"), encoding = "UTF-8")[1:2], fixed = TRUE)
  file <- tempfile(fileext = ".csv")
  writeBin(charToRaw(paste(lines, collapse = "\r\n")), file)
  expect_no_warning(data <- quietly(read_pbdb(file)))
  expect_identical(data$max_ma, 305)
})

test_that("a table that was read and saved, here or by a spreadsheet, reads as before", {
  data <- quietly(read_pbdb(export_file("pbdb_plain.csv"), "any"))
  file <- tempfile(fileext = ".csv")
  utils::write.csv(data, file, row.names = FALSE, fileEncoding = "UTF-8") # missing values as NA
  # R writes a letter that the locale lacks as <U+00F8>; if the locale has all letters, nothing changes.
  written <- data
  written[] <- lapply(data, function(x) if (is.character(x)) enc2utf8(enc2native(x)) else x)
  expect_identical(quietly(read_pbdb(file, "any")), written)
  expect_identical(nrow(quietly(read_pbdb(file))), sum(!is.na(data$genus)))

  lines <- readLines(export_file("pbdb_block.csv"), encoding = "UTF-8")
  lines[1:15] <- paste0(lines[1:15], strrep(",", 24)) # all rows as wide as the table
  lines <- sub("\"305.9\"", "\" 305.9 \"", lines)
  padded <- quietly(read_pbdb(text_file(lines), "any"))
  expect_identical(padded, quietly(read_pbdb(export_file("pbdb_block.csv"), "any")))
})

test_that("decimal commas are read, where no decimal points are; columns without a name get one", {
  table <- quietly(read_pbdb(export_file("pbdb_block.csv"), "any"))
  file <- tempfile(fileext = ".csv")
  utils::write.csv2(table, file, fileEncoding = "UTF-8", na = "") # with numbers of rows
  expect_message(european <- read_pbdb(file, "any"), "decimal commas", class = "multicause_message")
  expect_identical(european$X, seq_len(nrow(table)))
  numbers <- c("collection_no", "max_ma", "min_ma", "lng", "lat")
  expect_equal(european[numbers], table[numbers], ignore_attr = TRUE)
  utils::write.csv(table, file, fileEncoding = "UTF-8", na = "")
  expect_identical(names(quietly(read_pbdb(file, "any"))), c("X", names(table)))

  lines <- sub("\"305.9\"", "\"1,234\"", readLines(export_file("pbdb_plain.csv"), encoding = "UTF-8"), fixed = TRUE)
  expect_error(read_pbdb(text_file(lines)), "row 1 is \"1,234\"", fixed = TRUE, class = "multicause_input_error")
})

test_that("names have no control characters", {
  file <- tempfile(fileext = ".csv")
  writeLines(c(
    '"occurrence_no","collection_no","accepted_name","accepted_rank","max_ma","min_ma","genus","collection_name"',
    '"1","7","Aa bb","species","3","2","Aa\n```\n<b>","Upper\tbed\001"',
    '"2","7","\u00c5\u0085b\u2028c cc","species","3","2","\u00c5\r\nb","x y"'
  ), file, useBytes = TRUE)
  read <- suppressMessages(read_pbdb(file))
  expect_identical(read$genus, c("Aa ``` <b>", "\u00c5 b"))
  expect_identical(read$accepted_name, c("Aa bb", "\u00c5 b c cc"))
  expect_identical(read$collection_name, c("Upper bed", "x y"))
})

test_that("rows that an open quotation mark swallows are an error that says where", {
  head <- "occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma,remark"
  row <- function(no, remark) sprintf("%d,1,Equus ferus,species,3,2,%s", no, remark)
  others <- vapply(10:19, row, "", "fine")
  later <- c(row(1, "fine"), row(2, "\"cut"), row(3, "fine"), row(4, "fine"), row(5, "5\""), row(6, "fine"))
  cut <- c(row(1, "fine"), row(2, "\"cut"), row(3, "fine"), row(4, "fine"), row(5, "\"good\""), row(6, "fine"))
  # The remaining fields have the right number: only the text, or the number of rows, reveals the error.
  told <- function(lines) {
    tryCatch(class(read_pbdb(text_file(c(head, lines)))), multicause_input_error = conditionMessage)
  }
  expect_match(told(cut), "does not in line 3, and [0-9]+ rows? would be lost")
  expect_match(told(c(others, later)), "does not in line 13, and 3 rows would be lost")
  # A remark of several lines with commas is text.
  remark <- c(head, row(1, "\"two\nlines, here, with commas\""), row(2, "fine"))
  expect_identical(nrow(quietly(read_pbdb(text_file(remark)))), 2L)
  expect_match(quietly(read_pbdb(text_file(remark)))$remark[1], "two lines")
})

test_that("ages in the wrong order and places beyond the globe are unknown, and said", {
  head <- "occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma,lng,lat"
  row <- function(...) sprintf("%d,1,Equus ferus,species,%s,%s,%s,%s", ...)
  lines <- c(
    head, row(1, 3, 2, 20, 50), row(2, 2, 3, 20, 50), row(3, 3, -1, 20, 50), row(4, 3, 2, 20, 99), row(5, 3, 2, 400, 5)
  )
  told <- character()
  data <- withCallingHandlers(quietly(read_pbdb(text_file(lines))), multicause_implausible = function(w) {
    told <<- c(told, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_length(told, 2L)
  expect_match(told[1], "2 occurrences of .* `min_ma` above `max_ma`.*: lines 3 and 4 \\(max_ma 2, min_ma 3\\)")
  expect_match(told[2], "2 occurrences of .* latitude beyond 90 .*: lines 5 and 6 \\(lat 99, lng 20\\)")
  expect_identical(data$occurrence_no, c(1L, 4L, 5L))
  expect_equal(data$lat, c(50, NA, NA))
})

test_that("a file that is no text is an error of ours", {
  file <- tempfile(fileext = ".csv.gz")
  writeBin(as.raw(c(0x1f, 0x8b, 8, 0, 1:60)), file)
  expect_error(read_pbdb(file), "`file` must be text", class = "multicause_input_error")
  expect_error(read_now(file), "`file` must be text", class = "multicause_input_error")
})

pbdb_head <- '"occurrence_no","flags","collection_no","accepted_name","accepted_rank","max_ma","min_ma"'

test_that("flagged occurrences are left out unless kept, and counted", {
  file <- text_file(c(
    pbdb_head, '"1","","1","Equus ferus","species","3","2"', '"2","I","1","Hippipeda aurelianis","species","3","2"',
    '"3","RI","1","Hippipeda","genus","3","2"', '"4","F","2","Macroelongatoolithus","genus","3","2"',
    '"6","R","2","Bison","genus","3","2"', '"6","","2","Canis","genus","3","2"', '"7","R","2","Mus","genus","3","2"'
  ))
  expect_message(data <- read_pbdb(file), paste(
    "Left out 4 of 7 occurrences: 2 trace fossils (flag I), 1 form taxon (flag F), 1 replaced identification (flag R).",
    "`keep = c(\"trace\", \"form\", \"replaced\")` keeps them."
  ), fixed = TRUE, class = "multicause_message")
  expect_identical(data$genus, c("Equus", "Canis", "Mus")) # of Mus there is no later identification
  expect_message(data <- read_pbdb(file, keep = c("form", "trace")), "Kept because of `keep`: 2 trace fossils (flag I)",
    fixed = TRUE)
  expect_identical(data$occurrence_no, c(1L, 2L, 3L, 4L, 6L, 7L))
  expect_identical(nrow(quietly(read_pbdb(file, keep = c("trace", "form", "replaced")))), 7L)
  tracks <- text_file(c(pbdb_head, '"2","I","1","Hippipeda","genus","3","2"'))
  expect_error(read_pbdb(tracks), "`keep = \"trace\"` keeps them", class = "multicause_input_error")
  expect_error(read_pbdb(file, keep = "eggs"), "`keep` must hold none, some or all", class = "multicause_input_error")
})

test_that("warnings of the database are told and kept", {
  rows <- c(pbdb_head, '"1","","1","Equus ferus","species","3","2"')
  warned <- function(...) {
    file <- text_file(c('"Data Provider","The Paleobiology Database"', ..., '"Records:"', rows))
    expect_message(data <- read_pbdb(file), "The database warns: the name 'Equss', is unknown", fixed = TRUE)
    attr(data, "metadata")
  }
  line <- warned('"Warning:","the name \'Equss\', is unknown"', '"Records Returned","1"')
  expect_identical(line[["Warning"]], "the name 'Equss', is unknown")
  block <- warned('"Parameters:"', '"","base_name","Equss"', '"Warnings:"', '"","the name \'Equss\', is unknown"')
  expect_identical(unname(block[c("base_name", "Warning")]), c("Equss", "the name 'Equss', is unknown"))
})

test_that("older downloads and matrices get a true diagnosis", {
  told <- function(lines, pattern) {
    expect_error(read_pbdb(text_file(lines)), pattern, class = "multicause_input_error")
  }
  told(c(
    "collection_no,occurrences.genus_name,occurrences.species_name,collections.10mypb,original.taxon_no",
    "3256,Pantrogna,sp.,Cenozoic 2,77"
  ), "of Fossilworks or .* occurrence_matrix\\(read.csv\\(file\\), \"collection_no\", \"occurrences.genus_name\"\\)")
  genera <- c("genus_name,3256,9070,9071,class_name", "Pantrogna,X,,,Mammalia", "Equus,,X,12,Mammalia",
    "collections.taxon_no,1,2,3,")
  told(genera, "is a matrix of taxa and collections")
  told(c("collection_no\tEquus\tBison\tCanis", "1\t0\t1\t1", "2\t1\t0\t0"), "is a matrix of taxa and collections")
  told(c(
    "occurrence_no,collection_no,taxon_name,taxon_rank,early_age,late_age", "1,2,Equus,genus,3,2"
  ), "version 1.1 of the data service")
  told(c("400 Bad Request", "", "    unknown parameter 'foo'"), "message of the data service: .*unknown parameter")
})

test_that("occurrences need no numbers of their own", {
  table <- utils::read.csv(export_file("pbdb_plain.csv"), check.names = FALSE)
  file <- tempfile(fileext = ".csv")
  utils::write.csv(table[setdiff(names(table), "occurrence_no")], file, row.names = FALSE, na = "")
  without <- quietly(read_pbdb(file, keep = "replaced")) # which of them the file has is unknown
  with <- quietly(read_pbdb(export_file("pbdb_plain.csv"), keep = "replaced"))
  expect_identical(without$genus, with$genus)
})

test_that("coordinates that are all blank are unknown", {
  file <- text_file(c(
    "occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma,lng,lat", "1,2,Aus bus,species,10,5,,"
  ))
  expect_identical(quietly(read_pbdb(file))$lat, NA_real_)
  now <- text_file(c("LIDNUM\tNAME\tLAT\tLONG\tMAX_AGE\tMIN_AGE\tGENUS\tSPECIES", "1\tS\t\t\t15\t14\tAus\tbus"))
  expect_identical(quietly(read_now(now))$lng, NA_real_)
})

test_that("what cannot be used of a download is said, with its line", {
  head <- "occurrence_no,collection_no,accepted_name,accepted_rank,max_ma,min_ma,lng,lat,genus"
  refused <- function(lines, text) {
    expect_error(read_pbdb(text_file(lines)), text, class = "multicause_input_error")
  }
  quietly(expect_warning(
    data <- read_pbdb(text_file(c(head, "1,1,A b,species,5,3,10,95,A", "2,1,A c,species,5,3,10,9,A"))),
    "^1 occurrence of .* has a latitude .*, and counts as without coordinates: line 2 [(]lat 95, lng 10[)][.]$",
    class = "multicause_implausible"
  ))
  expect_equal(data$lat, c(NA, 9))
  refused(c(head, "1,1,A b,species,,,10,9,A"),
    "^`file` must hold usable occurrences[.] Read 1 occurrence from .*[.] Left out 1 without ages[.] Kept 0[.]$")
  refused(c("occurrence_no,collection_no,accepted_name", "1,1,A b"),
    "^`file` must have the columns \"accepted_rank\", \"max_ma\", \"min_ma\": .* has not[.] Download occurrences")
  refused(c(head, "1,1,A b,species,5,x,10,9,A"),
    "^`file` must have numbers in column \"min_ma\": row 1 is \"x\"[.]$")
  refused(c(paste0(head, ",flags"), "1,1,A b,species,5,3,10,9,A,I"),
    "^`file` must hold usable occurrences[.] Left out 1 of 1 occurrence: 1 trace fossil [(]flag I[)][.]")
  commas <- gsub(",", ";", c(head, "1,1,A b,species,5;5,3;2,10;1,9;2,A"))
  commas[2] <- "1;1;A b;species;5,5;3,2;10,1;9,2;A"
  quietly(expect_message(data <- read_pbdb(text_file(commas)), "^The file has decimal commas[.]"))
  expect_identical(data$max_ma, 5.5)
})
