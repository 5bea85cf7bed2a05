export_file <- function(...) test_path("exports", ...)

quietly <- function(x) suppressMessages(x, classes = "multicause_message")

standard <- c("lidnum", "name", "lat", "lng", "max_ma", "min_ma", "order", "family", "genus", "species")

test_that("the three forms of the export give the same", {
  tab <- quietly(read_now(export_file("now_tab_latin1.csv"))) # Latin-1, \N, not quoted
  expect_identical(quietly(read_now(export_file("now_comma.csv"))), tab)
  cross <- quietly(read_now(export_file("now_cross_search.csv")))
  expect_identical(cross[standard], tab[standard])
  expect_identical(names(tab)[1:10], standard)
  expect_identical(names(cross)[1:10], standard)
})

test_that("names and numbers are what they should be, and other columns are kept", {
  data <- quietly(read_now(export_file("now_tab_latin1.csv")))
  expect_identical(data$lidnum, c(20001L, 20001L, 20002L))
  expect_identical(data$name, c("Alpha-1", "Alpha-1", "Ca\u00f1ada"))
  expect_identical(data$max_ma, c(15.2, 15.2, 9.7))
  expect_identical(data$genus, c("Pseudaelurus", "Listriodon", "Deinotherium"))
  expect_identical(data$species, c("Pseudaelurus quadridentatus", NA, "Deinotherium giganteum"))
  expect_identical(data$lat, c(43.516667, 43.516667, NA)) # 0, 0 is nowhere
  expect_identical(data$AGE_COMM[1], "stage \"middle\" after O'Hara")
  expect_identical(data$BODYMASS, c(30000L, NA, 8000000L))
})

test_that("what is left out is told", {
  file <- export_file("now_comma.csv")
  told <- "Left out 3: 2 not identified to a genus, 1 without ages"
  expect_message(read_now(file), told, class = "multicause_message")
  expect_identical(nrow(quietly(read_now(file, rank = "species"))), 2L)
  any <- quietly(read_now(file, rank = "any"))
  expect_identical(nrow(any), 5L)
  expect_identical(any$family[5], NA_character_)
})

test_that("indeterminate names are told from names", {
  names <- c(
    "indet.", "indet", "Indet.", "gen.", "gen. indet.", "sp.", "sp. A", "spp.", "Hipparionini indet.", "incertae sedis",
    "_", "?", "-", "Genetta", "Spalax", "Indarctos", "Ordolestes", "Gen"
  )
  expect_identical(grepl(indeterminate, names, ignore.case = TRUE), rep(c(TRUE, FALSE, TRUE), c(13, 4, 1)))
})

test_that("something else is told from an export", {
  at <- setwd(test_path("exports"))
  on.exit(setwd(at))
  expect_snapshot(error = TRUE, read_now(NULL))
  expect_snapshot(error = TRUE, read_now("nowhere.csv"))
  expect_snapshot(error = TRUE, read_now("pbdb_plain.csv"))
  expect_snapshot(error = TRUE, read_now("now_comma.csv", rank = 2))
  file <- tempfile()
  writeLines(c("LIDNUM,NAME,MAX_AGE,MIN_AGE", "1,A,2,1"), file)
  expect_error(read_now(file), "\"GENUS\", \"SPECIES\"", class = "multicause_input_error")
})

test_that("what an export lacks is named as the database does; ages in the wrong order are said", {
  file <- tempfile(fileext = ".csv")
  writeLines(c("LIDNUM,NAME,MAX_AGE,MIN_AGE,GENUS", "1,a,3,2,Equus"), file)
  expect_error(read_now(file), "the column \"SPECIES\"", class = "multicause_input_error")
  head <- "LIDNUM,NAME,MAX_AGE,MIN_AGE,GENUS,SPECIES,LAT,LONG"
  writeLines(c(head, "1,a,3,2,Equus,ferus,95,2", "2,b,2,3,Equus,ferus,9,2"), file)
  expect_warning(
    expect_warning(
      data <- suppressMessages(read_now(file)), "above `max_ma`.*: line 3", class = "multicause_implausible"
    ),
    "latitude beyond 90.*: line 2", class = "multicause_implausible"
  )
  expect_identical(data$lidnum, 1L)
  expect_true(is.na(data$lat))
})

test_that("columns that were renamed are known, and told", {
  file <- tempfile(fileext = ".csv")
  writeLines(c(
    "SIDNUM,Locality ID,Locality,Latitude,Longitude,MaxAge,MinAge,GENUS,SPECIES",
    "1,20001,Sansan,43.53,0.61,15.2,14.8,Pseudaelurus,quadridentatus"
  ), file)
  expect_message(
    expect_message(table <- read_now(file), "Read 1"), "\"Locality ID\" as lidnum, .* \"MinAge\" as min_ma"
  )
  expect_identical(names(table)[1:6], c("lidnum", "name", "lat", "lng", "max_ma", "min_ma"))
  # Columns of the export itself come first.
  expect_identical(now_names(c("Locality", "NAME", "LIDNUM")), c("Locality", "name", "lidnum"))
})

test_that("columns that are lacking, or read under another name, are told", {
  file <- tempfile(fileext = ".csv")
  writeLines(c("LIDNUM,NAME,MAX_AGE,MIN_AGE,GENUS", "1,A,2,1,Equus"), file)
  expect_error(read_now(file), "^`file` must have the column \"SPECIES\": .* has not[.] Export localities with their",
    class = "multicause_input_error")
  writeLines(c("locality_id,NAME,MAX_AGE,MIN_AGE,GENUS,SPECIES", "1,A,2,1,Equus,ferus"), file)
  quietly(expect_message(read_now(file), "^Column read: \"locality_id\" as lidnum[.]"))
})
