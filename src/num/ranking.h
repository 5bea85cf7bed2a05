#ifndef NUM_RANKING_H
#define NUM_RANKING_H

#include <stdint.h>

#include "num/base.h"

/*
 * Measures how well scores distinguish hits from other cells, in each row and, as row n_row, in all
 * rows together:
 *   auc  the probability that a hit stands above another cell, cells of one score counting half (Mann and
 *        Whitney 1947, https://doi.org/10.1214/aoms/1177730491); NaN without both kinds of cells
 *   se   its standard error (DeLong and others 1988, https://doi.org/10.2307/2531595): V is the share of
 *        the others that a hit stands above, or of the hits that stand above another,
 *        se^2 = var(V of hits) / hits + var(V of others) / others; NaN with less than two of a kind
 *   ap   average precision: the mean over hits of the share of hits among the cells that stand as high
 *        or higher; NaN without a hit
 */
typedef struct {
  int n_cell, n_row;
  const double *score; /* n_cell, no NaN */
  const int *hit;      /* n_cell, 0 or 1 */
  const int *row;      /* n_cell, from 1 to n_row; only for num_ranking() */
} num_ranked;

/* A cell and its sort key, which decreases with the score. */
typedef struct {
  uint64_t key;
  int cell;
} num_keyed;

/*
 * Counts of a row down to the current score, new_* those at it. precision is summed over hits.
 * lost_squared and won_squared are sums of squares: of the others above each hit, and of the hits
 * above each other.
 */
typedef struct {
  double hits, others, new_hits, new_others, wins, precision, lost_squared, won_squared;
} num_tally;

typedef struct {
  double *auc, *se, *ap; /* n_row + 1 */
} num_ranks;

/* keyed: 2 n_cell, tally: n_row + 1, scratch. Cost: O(n_cell + n_row). */
void num_ranking(const num_ranked *cells, num_keyed *keyed, num_tally *tally, const num_ranks *out);

/*
 * Cumulative numbers of hits and of cells down to each distinct score, highest first. Returns the
 * number of distinct scores, at most n_cell. keyed: 2 n_cell, scratch.
 */
int num_descend(const num_ranked *cells, num_keyed *keyed, int *hits, int *all);

#endif
