/*
 * neighbours_mean/mean.h: the weighted mean of what was found at other
 * observations, drawn to the attribute's own share r:
 *   p[i,j] = (e sum_l w[l] x[l,j] + r[j]) / (e sum_l w[l] o[l,j] + 1),
 *   w[l] = base[l] (cosine of the lists of i and l + floor)^likeness,  e = (sum w)^2 / sum w^2,
 * o telling which cells are known. A presence is given the chance that it
 * would have if it were hidden: weights are those of the list without it. This
 * is Hill's (2012) neighbourhood frequency, with lists that are alike counting more.
 */
#ifndef MC_NEIGHBOURS_MEAN_MEAN_H
#define MC_NEIGHBOURS_MEAN_MEAN_H

#include "engine/data.h"

/* What means are taken of. */
typedef struct {
  const mc_data *data; /* n x m; values are taken to be 1 */
  /* n: how many observations with the same list each row stands for, where all are neighbours; NULL: one. */
  const double *copies;
  double likeness; /* >= 0; 0: weights are those of the neighbours alone */
  double floor;    /* > 0: what lists with nothing in common have in place of a cosine */
} nbm_table;

/* For whom. */
typedef struct {
  const mc_data *data; /* their own lists, rows x m */
  const int *own; /* rows: which row of the table each is; NULL: none is, and nothing is hidden */
  /* Of each row: neighbours in the table, never itself, and their base weights. Where it has none, or
     where start is NULL, all other observations are its neighbours, with base weights of 1. */
  const int *start, *neighbour;
  const double *weight;
} nbm_rows;

/*
 * p, rows x m. Costs O(nonzeros and missing cells of the neighbours) a row with neighbours,
 * O(nonzeros of the rows with which it shares an attribute) a row with all, and O(m); scratch is
 * O(n + m) a thread. False where the host said stop.
 */
bool nbm_means(const nbm_table *table, const nbm_rows *rows, int n_threads, const mc_host *host,
               double *p);

/* The sum of the logarithms of what the known cells of some rows were given, p, rows x m; NaN where the host said
 * stop. */
double nbm_loglik(const mc_data *rows, const double *p, int n_threads, const mc_host *host);

#endif
