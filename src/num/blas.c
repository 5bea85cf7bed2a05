#include "num/blas.h"

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#ifndef FCONE
#define FCONE
#endif

void num_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double *a, int lda,
              const double *b, int ldb, double beta, double *c, int ldc) {
  const double one = 1;
  if (m <= 0 || n <= 0) return;
  F77_CALL(dgemm)
  (transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &one, a, &lda, b, &ldb, &beta, c,
   &ldc FCONE FCONE);
}
