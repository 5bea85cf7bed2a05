/*
 * model_bm.h: the Bernoulli mixture, every row written by one component:
 *   P(x[i,]) = sum_c weights[c] prod_j prototypes[c,j]^x[i,j] (1 - prototypes[c,j])^(1 - x[i,j]).
 */
#ifndef MC_MODEL_BM_H
#define MC_MODEL_BM_H

#include "fit.h"
#include "num.h"

/* Parameters: start values on entry, estimates on return. */
typedef struct {
  int k;
  double *weights;    /* k, sum to 1 */
  double *prototypes; /* k x m, within [floor, 1 - floor] */
  double floor;       /* bound of the constrained maximum; above 0 */
} bm_param;

typedef struct bm_work bm_work;

/* Scratch: O(k m), and the n x k posterior. */
bm_work *bm_new_work(const mc_data *data, int k, const mc_host *host);

/* The posterior that row i belongs to component c, n x k, at the parameters of the last call. */
const double *bm_posterior(const bm_work *work);

/*
 * One EM pass, in logarithms. Costs O(k) a nonzero or missing cell and O(k m);
 * never lowers the log-likelihood over observed cells, which it returns for
 * the parameters it was given. A column with nothing observed keeps its values.
 */
double bm_pass(const mc_data *data, bm_param *par, bm_work *work);

/* The E-step alone: the log-likelihood, and the posterior in bm_posterior(). */
double bm_objective(const mc_data *data, const bm_param *par, bm_work *work);

/* bm_pass() and its fellows as a model for mc_fit(); blocks: weights, then prototypes. */
typedef struct {
  const mc_data *data;
  bm_param *par;
  bm_work *work;
} bm_self;

mc_model bm_model(bm_self *self);

#endif
