#include "num/linalg.h"

#include <float.h>
#include <math.h>

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif

#include "num/base.h"

bool num_chol(double *a, int n) {
  int info = 0;
  if (n > 0) F77_CALL(dpotrf)("L", &n, a, &n, &info FCONE);
  return info == 0;
}

double num_chol_log_det(const double *chol, int n) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < n; i++) sum += log(chol[i * n + i]);
  return 2 * sum;
}

static void triangular(const char *transpose, const double *chol, int n, double *x) {
  const int one = 1;
  if (n > 0) F77_CALL(dtrsv)("L", transpose, "N", &n, chol, &n, x, &one FCONE FCONE FCONE);
}

void num_chol_forward(const double *chol, int n, double *x) { triangular("N", chol, n, x); }
void num_chol_backward(const double *chol, int n, double *x) { triangular("T", chol, n, x); }

NUM_HOT void num_pair_products(int k, ptrdiff_t n, const double *vectors, double *out) {
  for (ptrdiff_t j = 0; j < n; j++, vectors += k)
    for (int d = 0; d < k; d++)
      for (int c = 0; c <= d; c++) *out++ = vectors[c] * vectors[d];
}

#define LOST_PIVOT 1e-13 /* share of the diagonal below which a pivot is rounding error */

/* A = U' U, then U' y = b and U x = y. An infinite pivot fixes the unknown of a lost pivot at 0. */
bool num_solve_packed(double *a, double *b, int k) {
  for (int d = 0; d < k; d++) {
    double *column = a + (ptrdiff_t) d * (d + 1) / 2;
    const double diagonal = column[d];
    for (int c = 0; c < d; c++) {
      const double *other = a + (ptrdiff_t) c * (c + 1) / 2;
      for (int e = 0; e < c; e++) column[c] -= other[e] * column[e];
      column[c] /= other[c];
      column[d] -= column[c] * column[c];
      b[d] -= column[c] * b[c];
    }
    if (isnan(column[d])) return false;
    column[d] = column[d] > LOST_PIVOT * diagonal ? sqrt(column[d]) : INFINITY;
    b[d] /= column[d];
  }
  for (int d = k - 1; d >= 0; d--) {
    const double *column = a + (ptrdiff_t) d * (d + 1) / 2;
    b[d] /= column[d];
    for (int c = 0; c < d; c++) b[c] -= column[c] * b[d];
  }
  return true;
}

void num_clear_rounding(double *value, int n) {
  for (int l = 0; l < n; l++)
    if (!(value[l] > n * DBL_EPSILON * value[n - 1])) value[l] = 0;
}

#define EIGEN_BLOCK 34 /* (block + 2) n doubles suffice for the blocked reduction of dsyev */

size_t num_eigen_work(int n) { return (size_t) EIGEN_BLOCK * (size_t) (n > 0 ? n : 1); }

bool num_eigen(double *a, int n, double *value, double *work) {
  int info = 0, length = (int) num_eigen_work(n);
  if (n > 0) F77_CALL(dsyev)("V", "L", &n, a, &n, value, work, &length, &info FCONE FCONE);
  return info == 0;
}
