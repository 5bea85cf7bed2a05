/*
 * model_ab_smooth.h: neighbouring observations of an aspect Bernoulli model
 * have similar content, and observations are recorded about equally well. With
 * u[i] the content of row i (its membership of the components that are not
 * pinned), t[i,c] = membership[i,c] / u[i] its composition and v[i,q] its
 * shares: of content, and of each pinned component, the objective gains
 *
 *   strength  * sum_i log sum_c sqrt(t[i,c] mean[i,c]),   mean[i,c] = sum_j weight[i,j] t[j,c]
 *   recording * sum_i log sum_q sqrt(v[i,q] common[q]),   common[q] = sum_j v[j,q] / n:
 *
 * log-affinities (Bhattacharyya 1943), at most 0, of each row's composition and
 * its neighbours' average, and of its shares and the table's. Of a row without
 * neighbours mean is the average of all other rows; a table of one row has none.
 *
 * Why a pass climbs: with r[i,c] = sqrt(t mean) / sum_c sqrt(t mean) at the
 * present point, Jensen's inequality bounds the affinity from below by
 *   sum_c r[i,c] (log t[i,c] + log mean[i,c]) / 2 + constant,
 * and, once more, log mean[i,c] by sum_j q[j] log t[j,c] + constant with
 * q[j] = weight[i,j] t[j,c] / mean[i,c]. So the bound is pull[i,c] log t[i,c],
 *   pull[i,c] = strength / 2 (r[i,c] + t[i,c] sum_j weight[j,i] r[j,c] / mean[j,c]),
 * expected counts of the same kind as those of the data: rows separate again.
 * The shares go the same way, with every row a neighbour of every row.
 */
#ifndef MC_MODEL_AB_SMOOTH_H
#define MC_MODEL_AB_SMOOTH_H

#include <stdbool.h>

#include "fit.h"

typedef struct {
  double strength;  /* in cells, > 0 */
  double recording; /* in cells, >= 0 */
  /* Row i's neighbours are start[i] .. start[i + 1] - 1: rows and weights, which sum to 1. */
  const int *start, *neighbour;
  const double *weight;
  /* The same by neighbour: who has row i as a neighbour, and with what weight. */
  const int *back_start, *back_row;
  const double *back_weight;
  /* Fold-in: k x n means and k common memberships given, no lists; see ab_smooth_pull(). */
  const double *reference, *common;
} ab_smooth_lists;

typedef struct ab_smooth ab_smooth;

/* Scratch of 4 k n doubles; pinned as in ab_param. */
ab_smooth *ab_new_smooth(const ab_smooth_lists *lists, int n, int k, const int *pinned,
                         int n_threads, const mc_host *host);

/*
 * The part of the objective at these memberships (n x k), nats; and, where
 * wanted, every row's pull. Costs O(k) a neighbour and row.
 *
 * With means given nobody pulls back, which in a training table makes half of
 * what a row feels; affinities count twice to make up for it.
 */
double ab_smooth_pull(ab_smooth *smooth, const double *membership, bool want_pull);

/*
 * New membership of row i (k contiguous values, in place): counts are expected
 * counts over membership, pseudo the symmetric prior's, observed the number of
 * observed cells.
 */
void ab_smooth_update(const ab_smooth *smooth, int i, double observed, double pseudo, double *row,
                      const double *counts);

/* Adds the gradient of the bound over membership to that of row i; returns what it adds to its mean. */
double ab_smooth_gradient(const ab_smooth *smooth, int i, const double *row, double *gradient);

#endif
