skip_on_cran()

test_that("help pages, vignettes and notes are spelt right", {
  skip_if_not_installed("spelling")
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "inst", "WORDLIST")), "the sources are not at hand")
  found <- spelling::spell_check_package(root)
  places <- vapply(found$found, function(at) paste(unlist(at), collapse = ", "), "")
  # A correct but unknown word is added to inst/WORDLIST in alphabetical order.
  expect_identical(sprintf("%s: %s", found$word, places), character())
})
