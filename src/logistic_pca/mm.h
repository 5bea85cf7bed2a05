/*
 * logistic_pca/mm.h: logistic principal components, a low-rank model of log-odds:
 *   P(x[i,j] = 1) = logistic(theta[i,j]),
 *   theta[i,j] = intercept[j] + sum_c scores[c,i] loadings[c,j],
 * with a ridge on scores and loadings; without it theta diverges if ones and zeros can be
 * separated.
 *
 *   here              Schein, Saul & Ungar (2003); Bingham, Kaban & Fortelius (2009), eq. (25)
 *   scores            s_kn
 *   loadings          a_tk
 */
#ifndef MC_LOGISTIC_PCA_MM_H
#define MC_LOGISTIC_PCA_MM_H

#include "engine/data.h"
#include "engine/shards.h"

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;               /* components; may be 0 */
  double *scores;      /* k x n, one column per observation */
  double *loadings;    /* (k + 1) x m; the last row is the intercept */
  double penalty;      /* ridge, at least 0 */
  bool fixed_loadings; /* fixed loadings and intercept: new observations, a concave problem */
} lp_param;

typedef struct lp_work lp_work;

/* Scratch: O(k^2 m) per strip of rows, and three blocks of rows per thread. */
lp_work *lp_new_work(const mc_data *data, int k, int n_threads, const mc_host *host);

/*
 * Alternating least squares on the quadratic lower bound of every cell's log-probability
 * (num/logistic.h): scores, then loadings and intercept conditional on the new scores, each a set
 * of ridge regressions with k + 1 unknowns. An iteration costs 2 n m k^2 flops in BLAS products,
 * two exponentials per cell and O((n + m) k^3). Never decreases the objective
 *   log-likelihood - penalty / 2 (sum of squares of scores and of loadings);
 * the intercept is not penalised, and missing cells drop out. An observation without observed cells
 * gets scores 0; an attribute without them keeps its intercept. The loadings are shared (the only
 * block of a table without rows), unless they are fixed.
 */
typedef struct {
  const mc_data *data;
  lp_param *par;
  lp_work *work;
} lp_self;

mc_shards lp_model(lp_self *self);

#endif
