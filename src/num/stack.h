/* num/stack.h: what a regression on several scores says of many cells. */
#ifndef NUM_STACK_H
#define NUM_STACK_H

#include "num/base.h"

#define NUM_MOST_SCORES 16

/* One score of the cells of a table, column by column; the one that is not NULL holds it. */
typedef struct {
  const double *real; /* n x m */
  const int *packed;  /* n x m: in units of NUM_PACKED */
  const double *each; /* m: the same for all cells of a column */
} num_score;

#define NUM_PACKED 1e-6
#define NUM_PER_PACKED 1e6

/* eta = weights[0] + sum_l weights[l + 1] score_l. */
typedef struct {
  int n, m, l; /* l: number of scores */
  const num_score *score;
  const double *weights; /* l + 1 */
  const double *
      covariance; /* (l + 1) x (l + 1): of the weights; NULL: eta is wanted, not its standard error */
} num_stack;

/* eta of the n cells of column j, or the standard errors that it has from the weights. */
void num_stack_column(const num_stack *stack, int j, double *out);

#endif
