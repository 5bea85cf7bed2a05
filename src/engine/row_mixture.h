/*
 * engine/row_mixture.h: the likelihood of rows under a mixture of known rows,
 * eqs. (23), (25) and (26) of Bingham, Kaban & Fortelius (2009). It knows no
 * model: a component says of every attribute what a zero and what a value above
 * it cost.
 */
#ifndef MC_ENGINE_ROW_MIXTURE_H
#define MC_ENGINE_ROW_MIXTURE_H

#include "engine/data.h"

/*
 * log P(x[j] | component r) = empty[r,j] + x[j] slope[r,j]. Where a zero is
 * impossible (empty is -Inf) slope is log P(x[j] = 1) itself. Where a value
 * above 0 is impossible slope is -Inf. All else is finite.
 */
typedef struct {
  int n_row;
  const double *log_weight; /* n_row: log of the mixture's weights */
  const double *empty;      /* n_row x m */
  const double *slope;      /* n_row x m */
} mc_row_mixture;

/*
 * out[i] = log sum_r weight[r] P(observed cells of row i | r) for every row of
 * data; -Inf where each component excludes the row. out is of no use where the
 * host said stop. Costs O(n_row (m + nonzeros + missing cells)); scratch is 2 m
 * doubles.
 */
void mc_mixture_loglik(const mc_data *data, const mc_row_mixture *mixture, const mc_host *host,
                       double *out);

#endif
