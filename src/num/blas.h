/* num/blas.h: products of matrices. */
#ifndef MC_NUM_BLAS_H
#define MC_NUM_BLAS_H

#include <stdbool.h>

/* Computes C (m x n) = A B + beta C; A is m x k (k x m if transpose_a), B likewise. */
void num_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double *a, int lda,
              const double *b, int ldb, double beta, double *c, int ldc);

#endif
