/* engine/data.h: the one view of x that serves all kernels. */
#ifndef MC_ENGINE_DATA_H
#define MC_ENGINE_DATA_H

#include "engine/host.h"

/*
 * The one view of x: its nonzero cells and its missing cells, row by row, so
 * that dense, sparse and masked input are the same thing to a kernel. All
 * other cells are observed zeros.
 */
typedef struct {
  int n, m;            /* observations, attributes */
  const int *start;    /* n + 1: row i's nonzeros are start[i] .. start[i + 1] - 1 */
  const int *column;   /* their columns, ascending within a row */
  const double *value; /* their values; NULL: every one is 1 */
  const int *na_start; /* n + 1: missing cells likewise; NULL: none is missing */
  const int *na_column;
} mc_data;

/* Missing cells of row i, and its observed ones. */
static inline int data_n_missing(const mc_data *data, int i) {
  return data->na_start ? data->na_start[i + 1] - data->na_start[i] : 0;
}
static inline int data_n_observed(const mc_data *data, int i) {
  return data->m - data_n_missing(data, i);
}

/*
 * The first row whose cells are not as above, or that has a cell both nonzero and missing; -1: none.
 * For data from elsewhere: only that start[n] (and na_start[n]) is the length of column (of
 * na_column) is taken for granted. Costs O(n + nonzeros + missing cells).
 */
int mc_first_wrong_row(const mc_data *data);

/* The same cells by columns: the result's rows are columns of data. Memory from the host. */
mc_data mc_transpose(const mc_data *data, const mc_host *host);

/* Adds to both (m x m) the rows in which two columns are both nonzero, and to gone, where it is not NULL, those
 * in which the first is and the second is missing. Costs O(sum over rows of nonzeros squared). */
void mc_count_pairs(const mc_data *data, int first, int last, double *both, double *gone);

/* For rows first to last: the sums of those rows of b (m x w, here by rows: w x m) where data is nonzero, into
 * out (n x w). row: w, scratch. */
void mc_add_rows(const mc_data *data, int first, int last, const double *b, int w, double *row,
                 double *out);

/*
 * Numbers the distinct rows of data (same nonzeros and missing cells; values
 * are taken to be equal) in order of first appearance: group[i], 0-based.
 * Returns their number. Costs O(nonzeros + missing cells); O(n) scratch.
 */
int mc_group_rows(const mc_data *data, const mc_host *host, int *group);

#endif
