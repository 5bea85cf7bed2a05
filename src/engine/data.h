/* engine/data.h: the representation of x that all kernels use. */
#ifndef MC_ENGINE_DATA_H
#define MC_ENGINE_DATA_H

#include "engine/host.h"

/*
 * The nonzero and the missing cells of x, row by row, so that kernels treat dense, sparse and
 * masked input equally. All other cells are observed zeros.
 */
typedef struct {
  int n, m;            /* observations, attributes */
  const int *start;    /* n + 1: row i's nonzeros are start[i] .. start[i + 1] - 1 */
  const int *column;   /* their columns, ascending within a row */
  const double *value; /* their values; NULL: every one is 1 */
  const int *na_start; /* n + 1: missing cells likewise; NULL: none is missing */
  const int *na_column;
} mc_data;

/* Numbers of missing and of observed cells of row i. */
static inline int data_n_missing(const mc_data *data, int i) {
  return data->na_start ? data->na_start[i + 1] - data->na_start[i] : 0;
}
static inline int data_n_observed(const mc_data *data, int i) {
  return data->m - data_n_missing(data, i);
}

/*
 * Returns the first row whose cells violate the description above or are both nonzero and missing;
 * -1 if there is none. For data of external origin: it relies only on start[n] (na_start[n]) being
 * the length of column (na_column). Costs O(n + nonzeros + missing cells).
 */
int mc_first_wrong_row(const mc_data *data);

/* The transpose: rows of the result are columns of data. Memory from the host. */
mc_data mc_transpose(const mc_data *data, const mc_host *host);

/*
 * Adds, for each pair of columns, to both (m x m) the number of rows in which both are nonzero and
 * to gone (unless NULL) the number in which the first is nonzero and the second missing. Costs
 * O(sum over rows of nonzeros squared).
 */
void mc_count_pairs(const mc_data *data, int first, int last, double *both, double *gone);

/* Computes rows first to last of data b: for each row, the sum of the rows of b (m x w, stored by
 * rows: w x m) at its nonzeros, into out (n x w). row: w, scratch. */
void mc_add_rows(const mc_data *data, int first, int last, const double *b, int w, double *row,
                 double *out);

/*
 * Numbers the distinct rows of data (same nonzeros and missing cells; values are assumed equal) in
 * order of first appearance: group[i], 0-based. Returns their number. Costs O(nonzeros + missing
 * cells); O(n) scratch.
 */
int mc_group_rows(const mc_data *data, const mc_host *host, int *group);

#endif
