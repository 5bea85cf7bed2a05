#ifndef NUM_RANKING_H
#define NUM_RANKING_H

#include <stdint.h>

#include "num/base.h"

/*
 * How well scores tell hits from other cells, in each row and, as row n_row, in all rows together:
 *   auc  the chance that a hit stands above another cell, cells of one score counting half (Mann and
 *        Whitney 1947, https://doi.org/10.1214/aoms/1177730491); NaN without both kinds of cells
 *   ap   average precision: the mean over hits of the share of hits among the cells that stand as high
 *        or higher; NaN without a hit
 */
typedef struct {
  int n_cell, n_row;
  const double *score; /* n_cell, no NaN */
  const int *hit;      /* n_cell, 0 or 1 */
  const int *row;      /* n_cell, from 1 to n_row; of num_ranking() alone */
} num_ranked;

/* A cell, and a key that is smaller where its score is higher. */
typedef struct {
  uint64_t key;
  int cell;
} num_keyed;

/* What was met of a row, and at the score at hand; precision: summed over hits. */
typedef struct {
  double hits, others, new_hits, new_others, wins, precision;
} num_tally;

/* keyed: 2 n_cell, tally: n_row + 1, scratch; auc, ap: n_row + 1. Cost: O(n_cell + n_row). */
void num_ranking(const num_ranked *cells, num_keyed *keyed, num_tally *tally, double *auc,
                 double *ap);

/*
 * Down to each distinct score, highest first: how many hits, and how many cells in all. Returns the
 * number of distinct scores, at most n_cell. keyed: 2 n_cell, scratch.
 */
int num_descend(const num_ranked *cells, num_keyed *keyed, int *hits, int *all);

#endif
