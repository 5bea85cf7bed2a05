/*
 * neighbours_mean/subsets.h: means over all rows by what subsets of columns have in common.
 *
 * Where all rows are neighbours and similarity is 2, a row with list A gives a row that has t of A
 * the weight (t u r + f)^2: u and r are 1 / sqrt(length) of the two lists, f is the floor. Powers of
 * t are sums of how many subsets of A of size q the other row has, t over q:
 *   t^2 = t + 2 (t over 2),  t^3 = t + 6 (t over 2) + 6 (t over 3),
 *   t^4 = t + 14 (t over 2) + 36 (t over 3) + 24 (t over 4).
 * So sums over rows of weights, and of their squares, are sums over the subsets of A of up to four
 * columns of
 *   sum u^k over the rows that have all of them,   k = q .. 4,
 * which are counted once for all lists. No cell may be unknown.
 */
#ifndef MC_NEIGHBOURS_MEAN_SUBSETS_H
#define MC_NEIGHBOURS_MEAN_SUBSETS_H

#include "neighbours_mean/mean.h"

typedef struct nbm_subsets nbm_subsets;

/* Sums for a list, over all rows. */
typedef struct {
  double power[4]; /* sums of u^k t^k, k = 1 .. 4 */
  double *linear;  /* m: sum of u t over the rows with a column */
  double *square;  /* m: sum of u^2 t^2 over them */
  /* six of each column of the list, over the rows that have it: sums of u^k (t - 1 over q) with
   * k, q of 2, 1; 3, 1; 4, 1; 3, 2; 4, 2; 4, 3 */
  double *others;
} nbm_subset_sums;

/* Those of a column alone: sums of u^k over the rows that have it, k = 1 .. 4. */
const double *nbm_subsets_single(const nbm_subsets *subsets, int column);

/*
 * NULL where all pairs of rows are cheaper, and where it is not known how: other powers, unknown cells, many columns.
 * root: u of each row. Costs O(m^4 / 24) and, for a list of length a, O(a^2 m + a^4 / 24).
 */
nbm_subsets *nbm_new_subsets(const nbm_table *table, const nbm_rows *rows, const double *root,
                             const mc_host *host);

/* Scratch for one row at a time. */
nbm_subset_sums nbm_new_subset_sums(int m, const mc_host *host);

/* Fills sums for a list. The row itself, if it is of the table, counts too. */
void nbm_sum_subsets(const nbm_subsets *of, int length, const int *list, nbm_subset_sums *sums);

#endif
