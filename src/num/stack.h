/* num/stack.h: linear predictor of a regression on several scores, for many cells. */
#ifndef NUM_STACK_H
#define NUM_STACK_H

#include <limits.h>
#include <math.h>

#include "num/base.h"

#define NUM_MOST_SCORES 16

/* One score of all cells of a table, column by column; stored in the member that is not NULL. */
typedef struct {
  const double *real; /* n x m */
  const int *packed;  /* n x m: of num_pack() */
  const double *each; /* m: the same for all cells of a column */
} num_score;

/* Numbers rounded to millionths in 4 bytes each; INT_MIN stands for NaN. */
static inline int num_pack(double x) { return isnan(x) ? INT_MIN : (int) nearbyint(1e6 * x); }
static inline double num_unpack(int packed) { return packed == INT_MIN ? NAN : 1e-6 * packed; }

/* eta = weights[0] + sum_l weights[l + 1] score_l. */
typedef struct {
  int n, m, l; /* l: number of scores */
  const num_score *score;
  const double *weights;    /* l + 1 */
  const double *covariance; /* of the weights, (l + 1) x (l + 1): requests standard errors; NULL:
                               eta */
} num_stack;

/* Computes eta of the n cells of column j, or its standard errors due to the weights. */
void num_stack_column(const num_stack *stack, int j, double *out);

#endif
