/*
 * nmf/nmf.h: non-negative matrix factorisation,
 *   x[i,j] ~ mean[i,j] = sum_c coefficients[c,i] basis[c,j],
 * under half the squared error or the Kullback-Leibler divergence
 *   sum x log(x / mean) - x + mean over observed cells.
 *
 *   here              Lee & Seung (2001)
 *   coefficients      H (its transpose)
 *   basis             W (its transpose)
 */
#ifndef MC_NMF_NMF_H
#define MC_NMF_NMF_H

#include "engine/data.h"
#include "engine/shards.h"

typedef enum { NM_EUCLIDEAN, NM_KL } nm_loss;

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;
  double *coefficients; /* k x n, one column per observation, at least 0 */
  double *basis;        /* k x m, at least 0 */
  nm_loss loss;
  bool multiplicative; /* only Lee and Seung's updates */
  bool fixed_basis;    /* fixed basis: new observations, a convex problem */
} nm_param;

typedef struct nm_work nm_work;

/* Scratch: x by columns; O(k (n + m)); a block of rows per thread if x is dense. */
nm_work *nm_new_work(const mc_data *data, int k, int n_threads, const mc_host *host);

/*
 * One iteration: coefficients, then basis. Euclidean: coordinate descent, which moves each
 * coefficient to its optimum with the others fixed, for a few rounds while they pay, because the
 * products are computed only once. KL: one Newton step of every row (num/poisson_newton.h), after a
 * few multiplicative iterations. A coordinate at 0 can become positive again. Multiplicative: Lee &
 * Seung (2001). Missing cells drop out of all sums.
 *
 * Costs O(k) per nonzero and O(k^2) per row and column, and k^2 per missing cell (Euclidean); KL
 * q^2 per nonzero, q being the number of coordinates that are not 0 or have a positive gradient
 * there, and O(k) per missing cell. Never increases the loss.
 *
 * Returns minus the loss at the supplied parameters: -Inf if KL has a mean of 0 at a positive
 * value; NaN if the host requested a stop.
 */
double nm_pass(const mc_data *data, nm_param *par, nm_work *work);

/* Computes only minus the loss. */
double nm_objective(const mc_data *data, const nm_param *par, nm_work *work);

/*
 * Distance of the last iteration from the optimality conditions, at its start of each block:
 * squared length of min(scaled coefficient, gradient), divided by that of the gradient's positive
 * part. 0: both blocks were optimal.
 */
double nm_residual(const nm_work *work);

/* The model for mc_fit(); blocks: coefficients, then basis. */
typedef struct {
  const mc_data *data;
  nm_param *par;
  nm_work *work;
} nm_self;

mc_model nm_model(nm_self *self);

/* Multiplicative KL iterations with a free basis as a sum over rows; the basis is shared. */
mc_shards nm_sum_model(nm_self *self);

#endif
