/* num/gaussian.h: Gaussian laws of many weights, given by their precision matrix. */
#ifndef MC_NUM_GAUSSIAN_H
#define MC_NUM_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The Gaussian law N(Q^-1 h, Q^-1) of weights whose prior is N(mean, 1 / ridge): Q = ridge I + S and
 * h = ridge mean 1 + S times something, S semidefinite. A ridge below the rounding error of S, and
 * directions in which S is 0, leave Q without a Cholesky factor. It is then taken apart by its
 * eigenvectors, and those whose eigenvalues are but rounding errors keep their prior.
 * q holds the lower triangle of Q; q and h are used up. work: num_gaussian_work(n) doubles.
 * num_draw_gaussian() draws; false, and nothing drawn, where a value is not finite.
 * num_log_gaussian() is -1/2 log |Q| + 1/2 h' Q^-1 h; NaN where a value is not finite.
 */
typedef struct {
  double ridge, mean;
} num_ridge;

size_t num_gaussian_work(int n);
bool num_draw_gaussian(double *q, double *h, int n, num_ridge prior, double *draw, double *work);
double num_log_gaussian(double *q, double *h, int n, num_ridge prior, double *work);

#endif
