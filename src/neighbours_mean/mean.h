/*
 * neighbours_mean/mean.h: the weighted mean of presences at other observations, shrunk towards the
 * attribute's share r:
 *   p[i,j] = (e sum_l w[l] x[l,j] + r[j]) / (e sum_l w[l] o[l,j] + 1),
 *   w[l] = base[l] (cosine of the lists of i and l + floor)^similarity,  e = (sum w)^2 / sum w^2,
 * o marks known cells. A presence gets the probability that it would have if it were held out:
 * weights are those of the list without it. This is Hill's (2012) neighbourhood frequency, with
 * more weight for similar lists.
 */
#ifndef MC_NEIGHBOURS_MEAN_MEAN_H
#define MC_NEIGHBOURS_MEAN_MEAN_H

#include "engine/data.h"

/* The table whose rows are averaged. */
typedef struct {
  const mc_data *data; /* n x m; values are taken to be 1 */
  /* n: number of observations with the same list that each row represents, if all are neighbours;
   * NULL: one. */
  const double *copies;
  double similarity; /* >= 0; 0: weights are only those of the neighbours */
  double floor;      /* > 0: replaces the cosine of lists with nothing in common */
} nbm_table;

/* The rows for which means are computed. */
typedef struct {
  const mc_data *data; /* their own lists, rows x m */
  const int *own; /* rows: the row of the table that each is; NULL: none is, and nothing is held
                     out */
  /* For each row: neighbours in the table, never itself, and their base weights. If it has none, or
   * if start is NULL, all other observations are its neighbours, with base weights of 1. */
  const int *start, *neighbour;
  const double *weight;
} nbm_rows;

/*
 * p, rows x m. Costs O(nonzeros and missing cells of the neighbours) a row with neighbours,
 * O(nonzeros of the rows with which it shares an attribute) a row with all, less where
 * neighbours_mean/subsets.h serves, and O(m); scratch is O(n + m) a thread. False where the host said stop.
 */
bool nbm_means(const nbm_table *table, const nbm_rows *rows, int n_threads, const mc_host *host,
               double *p);

/* Sum of the log-probabilities of the known cells of some rows under p, rows x m; NaN if the host
 * requested a stop. */
double nbm_loglik(const mc_data *rows, const double *p, int n_threads, const mc_host *host);

#endif
