#include "num/gaussian.h"

#include <float.h>
#include <math.h>

#include "num/base.h"
#include "num/linalg.h"
#include "num/rng.h"

/* Scratch: the diagonal of Q, then the work space of its eigendecomposition. */
size_t num_gaussian_work(int n) { return 3 * (size_t) n + num_eigen_work(n); }

static bool all_finite(const double *x, ptrdiff_t length) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < length; i++) sum += 0 * x[i];
  return sum == 0;
}

/* Computes the Cholesky factor of Q in its lower triangle; on failure restores Q (both triangles). */
static bool factor_gaussian(double *q, int n, double ridge, double *diagonal) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    for (int i = j + 1; i < n; i++) q[num_at(j, i, n)] = q[num_at(i, j, n)];
    diagonal[j] = q[num_at(j, j, n)];
    largest = fmax(largest, diagonal[j]);
  }
  if (ridge > n * DBL_EPSILON * largest && num_chol(q, n)) return true;
  for (int j = 0; j < n; j++) {
    for (int i = j + 1; i < n; i++) q[num_at(i, j, n)] = q[num_at(j, i, n)];
    q[num_at(j, j, n)] = diagonal[j];
  }
  return false;
}

/* Eigenvectors of Q into q, the precision along each into value, and h along each into pull. */
static bool turn_gaussian(double *q, const double *h, int n, num_ridge prior, double *value,
                          double *pull, double *work) {
  if (!num_eigen(q, n, value, work)) return false;
  num_clear_rounding(value, n);
  for (int d = 0; d < n; d++) {
    const double *basis = q + num_at(0, d, n);
    const bool told = value[d] > 0;
    pull[d] = 0;
    for (int i = 0; i < n; i++) pull[d] += basis[i] * (told ? h[i] : prior.ridge * prior.mean);
    if (!told) value[d] = prior.ridge;
  }
  return true;
}

bool num_draw_gaussian(double *q, double *h, int n, num_ridge prior, double *draw, double *work) {
  double *value = work + n, *turned = value + n;
  if (!all_finite(q, (ptrdiff_t) n * n) || !all_finite(h, n)) return false;
  if (factor_gaussian(q, n, prior.ridge, work)) {
    num_chol_forward(q, n, h);
    for (int i = 0; i < n; i++) draw[i] = h[i] + num_norm();
    num_chol_backward(q, n, draw);
    return true;
  }
  if (!turn_gaussian(q, h, n, prior, value, turned, turned + n)) return false;
  for (int d = 0; d < n; d++) turned[d] = turned[d] / value[d] + num_norm() / sqrt(value[d]);
  for (int i = 0; i < n; i++) draw[i] = 0;
  for (int d = 0; d < n; d++)
    for (int i = 0; i < n; i++) draw[i] += q[num_at(i, d, n)] * turned[d];
  return true;
}

double num_log_gaussian(double *q, double *h, int n, num_ridge prior, double *work) {
  double *value = work + n, *turned = value + n, sum = 0;
  if (!all_finite(q, (ptrdiff_t) n * n) || !all_finite(h, n)) return NAN;
  if (factor_gaussian(q, n, prior.ridge, work)) {
    num_chol_forward(q, n, h);
    for (int i = 0; i < n; i++) sum += h[i] * h[i];
    return 0.5 * (sum - num_chol_log_det(q, n));
  }
  if (!turn_gaussian(q, h, n, prior, value, turned, turned + n)) return NAN;
  for (int d = 0; d < n; d++) sum += turned[d] * turned[d] / value[d] - log(value[d]);
  return 0.5 * sum;
}
