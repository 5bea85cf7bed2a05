#include "num_linalg.h"

#include "num_rng.h"

#include <math.h>

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif

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

bool num_draw_gaussian(double *q, double *h, int n, double *draw) {
  if (!num_chol(q, n)) return false;
  num_chol_forward(q, n, h);
  for (int i = 0; i < n; i++) draw[i] = h[i] + num_norm();
  num_chol_backward(q, n, draw);
  return true;
}

#define EIGEN_BLOCK 34 /* (block + 2) n doubles are enough for dsyev's blocked reduction */

size_t num_eigen_work(int n) { return (size_t) EIGEN_BLOCK * (size_t) (n > 0 ? n : 1); }

bool num_eigen(double *a, int n, double *value, double *work) {
  int info = 0, length = (int) num_eigen_work(n);
  if (n > 0) F77_CALL(dsyev)("V", "L", &n, a, &n, value, work, &length, &info FCONE FCONE);
  return info == 0;
}
