# The data view, from each kind of x, and what is read off it.
set.seed(1)
x <- matrix(as.double(runif(30) < 0.4), 6, 5)
x[c(3, 17)] <- NA
sparse <- as(Matrix::Matrix(x, sparse = TRUE), "generalMatrix")

view <- torture("mc_c_view_dense", x)
torture("mc_c_view_dense", x == 1)
torture("mc_c_view_dense", structure(as.integer(x), dim = dim(x)))
torture("mc_c_view_dense", x * 2.5)
torture("mc_c_view_dense", matrix("a", 2, 2), error = TRUE)
torture("mc_c_view_sparse", sparse@p, sparse@i, sparse@x, sparse@Dim)
torture("mc_c_view_sparse", sparse@p, sparse@i, NULL, sparse@Dim)
torture("mc_c_view_sparse", sparse@p[-1], sparse@i, sparse@x, sparse@Dim, error = TRUE)
torture("mc_c_view_range", view)
torture("mc_c_view_range", torture("mc_c_view_dense", x - 2.5))
torture("mc_c_view_margins", view)
torture("mc_c_view_margins", view[-2], error = TRUE)

rows <- list(log_weight = log(c(0.3, 0.7)), empty = matrix(-0.5, 2, 5), slope = matrix(-0.4, 2, 5))
torture("mc_c_row_mixture", view, rows)
torture("mc_c_row_mixture", view, modifyList(rows, list(slope = diag(3))), error = TRUE)

torture("mc_c_memory")

# Columns that point beyond their entries or rows, or back.
spoiled <- function(p = sparse@p, i = sparse@i, x = sparse@x, dim = sparse@Dim) {
  torture("mc_c_view_sparse", p, i, x, dim, error = TRUE)
}
spoiled(i = replace(sparse@i, 1, 6L))
spoiled(i = replace(sparse@i, 1, -1L))
spoiled(i = as.double(sparse@i))
spoiled(i = sparse@i[-1])
spoiled(i = sparse@i[c(2, 1, seq_along(sparse@i)[-(1:2)])])
spoiled(p = replace(sparse@p, 6, 100L))
spoiled(p = replace(sparse@p, 2, sparse@p[3] + 1L))
spoiled(p = replace(sparse@p, 1, -1L))
spoiled(dim = c(2L, 5L))

torture("mc_c_view_wrong_row", view)
torture("mc_c_view_wrong_row", view[-2], error = TRUE)
torture("mc_c_make_room", 1e5)
torture("mc_c_make_room", -1, error = TRUE)
torture("mc_c_make_room", NA_real_, error = TRUE)
