/*
 * engine/row_mixture.h: likelihood of rows under a mixture of known rows, eqs. (23), (25) and (26)
 * of Bingham, Kaban & Fortelius (2009). Independent of the model: a component consists of the
 * log-probability of a zero and of the increment for a positive value, for every attribute.
 */
#ifndef MC_ENGINE_ROW_MIXTURE_H
#define MC_ENGINE_ROW_MIXTURE_H

#include "engine/data.h"

/*
 * log P(x[j] | component r) = empty[r,j] + x[j] slope[r,j]. If a zero is impossible (empty is
 * -Inf), slope is log P(x[j] = 1) itself. If a positive value is impossible, slope is -Inf. All
 * other values are finite.
 */
typedef struct {
  int n_row;
  const double *log_weight; /* n_row: log of the mixture's weights */
  const double *empty;      /* n_row x m */
  const double *slope;      /* n_row x m */
} mc_row_mixture;

/*
 * Computes out[i] = log sum_r weight[r] P(observed cells of row i | r) for every row of data; -Inf
 * if each component excludes the row. out is invalid if the host requested a stop. Costs O(n_row (m
 * + nonzeros + missing cells)); scratch is 2 m doubles.
 */
void mc_mixture_loglik(const mc_data *data, const mc_row_mixture *mixture, const mc_host *host,
                       double *out);

#endif
