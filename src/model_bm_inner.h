/* model_bm_inner.h: what model_bm.c shares with model_bm_near.c. */
#ifndef MC_MODEL_BM_INNER_H
#define MC_MODEL_BM_INNER_H

#include "model_bm.h"

struct bm_work {
  bm_prior prior;
  const mc_host *host;
  double *posterior; /* n x k */
  double *loglik;    /* n */
  double *hold;      /* n: how far neighbours allow a label to move; NULL without */
  double *log_odds;  /* k x m: log prototype - log(1 - prototype); 0 where the prototype is 1 */
  double *log_zero;  /* k x m: log(1 - prototype); 0 where the prototype is 1 */
  double *certain; /* k x m: 1 where the prototype is exactly 1, so that no zero may stand there */
  double *n_certain; /* k: how many of those */
  double *all_zero;  /* k: log weight + log-probability of zeros wherever a zero may stand */
  double *log_q;     /* n x k: logs of the memberships, with neighbours */
  double *sum_q;     /* n: their sums on the way */
  double *row, *met; /* k: log joint of a row, and how many certain cells are no observed zero */
  double *ones;      /* k x m: expected ones */
  double *seen;      /* k x m: expected observed cells */
  double *total;     /* k: expected rows */
  bool any_certain;
  int passes;
  double objective; /* of the last pass, for the host's eyes */
};

#define BM_LOOK_EVERY 1024 /* rows between two questions to the host */

/* Log-prior of the parameters, whose logs are taken for bm_row_log_joint(). */
double bm_prepare(const mc_data *data, const bm_param *par, bm_work *w);

/* Log joint of row i with each component, into w->row: a row of zeros, corrected at ones and missing cells. */
void bm_row_log_joint(const mc_data *data, int k, bm_work *w, int i);

/* The objective with neighbours (model_bm.h); where wanted, all labels move. NaN: stopped. */
double bm_near_objective(const mc_data *data, const bm_param *par, bm_work *w, bool move);

#endif
