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

/* Parameters: start values on entry, estimates on return. */
typedef struct {
  int k;
  double *coefficients; /* k x n, one column an observation, at least 0 */
  double *basis;        /* k x m, at least 0 */
  nm_loss loss;
  bool multiplicative; /* Lee and Seung's updates alone */
  bool fixed_basis;    /* hold the basis: new observations, a convex problem */
} nm_param;

typedef struct nm_work nm_work;

/* Scratch: x once more, by columns; O(k (n + m)); a row block a thread where x is dense. */
nm_work *nm_new_work(const mc_data *data, int k, int n_threads, const mc_host *host);

/*
 * One pass: coefficients, then basis. Euclidean: coordinate descent, every
 * coefficient in turn to its best value, others held, a few rounds while they
 * pay, as the products they need are made once. KL: one Newton step of every
 * row (num/poisson_newton.h), after a few multiplicative passes. A coordinate
 * that is 0 can come back. Multiplicative: Lee & Seung (2001). Missing cells
 * drop out of all sums.
 *
 * Costs O(k) a nonzero and O(k^2) a row and column, and k^2 a missing cell
 * (Euclidean); KL q^2 a nonzero, q being the coordinates that are not 0 or are
 * pulled up from there, and O(k) a missing cell. Never raises the loss.
 *
 * Returns minus the loss of the parameters it was given: -Inf where KL meets a
 * mean of 0 at a value above 0; NaN where the host asked to stop.
 */
double nm_pass(const mc_data *data, nm_param *par, nm_work *work);

/* Minus the loss alone. */
double nm_objective(const mc_data *data, const nm_param *par, nm_work *work);

/*
 * How far the last pass was from the conditions of an optimum when it came to
 * each block: squared length of min(scaled coefficient, gradient), over that of
 * the gradient's positive part. 0: both blocks were optimal.
 */
double nm_residual(const nm_work *work);

/* nm_pass() and its fellows as a model for mc_fit(); blocks: coefficients, then basis. */
typedef struct {
  const mc_data *data;
  nm_param *par;
  nm_work *work;
} nm_self;

mc_model nm_model(nm_self *self);

/* The same for multiplicative passes under KL with a free basis, as a sum over rows: basis is shared. */
mc_shards nm_sum_model(nm_self *self);

#endif
