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

torture("mc_c_blas_threads", 0L)
