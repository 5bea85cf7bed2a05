# Checks relations between the numbers of any which_zeros() or which_zeros_shards() result.

in_order <- function(...) {
  each <- list(...)
  all(mapply(function(less, more) all(less <= more + 1e-9), utils::head(each, -1L), each[-1L]))
}

expect_coherent <- function(w) {
  cells <- as.data.frame(w)
  expect_true(in_order(0, cells$probability, 1))
  if (!is.null(w$reason)) {
    expect_true(all(is.na(cells[c("missed", "missed_low", "missed_high")])))
    return(expect_true(all(is.na(w$total))))
  }
  expect_true(in_order(0, cells$missed_low, cells$missed, cells$missed_high, 1))
  for (sums in list(by_site(w), by_taxon(w))) expect_coherent_sums(sums)
  expect_true(do.call(in_order, as.list(w$total[c("low", "missed", "high")])))
}

expect_coherent_sums <- function(sums) {
  expect_true(in_order(0, sums$low, sums$missed, sums$high, sums$zeros))
  some <- sums[!is.na(sums$share), ]
  expect_true(in_order(0, some$share_low, some$share, some$share_high, 1))
}
