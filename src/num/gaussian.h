/* num/gaussian.h: multivariate Gaussian distributions defined by their precision matrix. */
#ifndef MC_NUM_GAUSSIAN_H
#define MC_NUM_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The Gaussian N(Q^-1 h, Q^-1) of weights with prior N(mean, 1 / ridge): Q = ridge I + S and h =
 * ridge mean 1 + S times a vector, S semidefinite. If the ridge is below the rounding error of S
 * and S is 0 in some direction, Q has no Cholesky factor. The eigendecomposition is used instead,
 * and directions whose eigenvalues are only rounding errors keep their prior. q holds the lower
 * triangle of Q; q and h are overwritten. work: num_gaussian_work(n) doubles. num_draw_gaussian()
 * draws; it returns false and draws nothing if a value is not finite. num_log_gaussian() is -1/2
 * log |Q| + 1/2 h' Q^-1 h; NaN if a value is not finite.
 */
typedef struct {
  double ridge, mean;
} num_ridge;

size_t num_gaussian_work(int n);
bool num_draw_gaussian(double *q, double *h, int n, num_ridge prior, double *draw, double *work);
double num_log_gaussian(double *q, double *h, int n, num_ridge prior, double *work);

#endif
