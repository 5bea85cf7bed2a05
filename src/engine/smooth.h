/*
 * engine/smooth.h: neighbouring observations are shrunk towards each other. Two forms, for
 * memberships that are parameters (aspect Bernoulli, PLSA) and for posteriors of single labels
 * (Bernoulli mixture); the lists of neighbours are the same.
 *
 * 1. Log-affinities, mc_smooth_pull(). With u[i] the content of row i (its membership of the
 * components that are not fixed), t[i,c] = membership[i,c] / u[i] its composition and v[i,q] its
 * shares: of content, and of each fixed component, the objective gains
 *
 *   strength  * sum_i log sum_c sqrt(t[i,c] mean[i,c]),   mean[i,c] = sum_j weight[i,j] t[j,c]
 *   recording * sum_i log sum_q sqrt(v[i,q] common[q]),   common[q] = sum_j v[j,q] / n,
 *   recording * sum_q log common[q]:
 *
 * log-affinities (Bhattacharyya 1943), at most 0, of each row's composition and its neighbours'
 * average, and of its shares and the table's; and a Dirichlet prior on the latter, without which a
 * fixed component absent from all rows would be as good as one with equal shares in all. For a row
 * without neighbours, mean is the average of all other rows; a table of one row has none.
 *
 * An iteration increases the objective: with r[i,c] = sqrt(t mean) / sum_c sqrt(t mean) at the
 * present point, Jensen's inequality bounds the affinity from below by
 *   sum_c r[i,c] (log t[i,c] + log mean[i,c]) / 2 + constant,
 * and, once more, log mean[i,c] by sum_j q[j] log t[j,c] + constant with q[j] = weight[i,j] t[j,c]
 * / mean[i,c]. So the bound is pull[i,c] log t[i,c],
 *   pull[i,c] = strength / 2 (r[i,c] + t[i,c] sum_j weight[j,i] r[j,c] / mean[j,c]),
 * expected counts of the same kind as those of the data: rows separate again. The shares are
 * treated likewise, with every row a neighbour of every row, and `recording` more cells of every
 * kind q are distributed over the rows as v[i,q].
 *
 * 2. Agreement of labels, mc_smooth_agree(), as in Ambroise & Govaert (1998),
 * doi:10.1016/S0167-8655(98)00076-2: with q[i] the posterior of row i's label,
 *   strength / 2 * sum_i sum_j weight[i,j] sum_c q[i,c] q[j,c].
 * Its gradient over q[i] is pull[i,c] = strength sum_j v[i,j] q[j,c] with v[i,j] = (weight[i,j] +
 * weight[j,i]) / 2, and it is at least its tangent less strength / 2 sum_i degree[i] KL(new q[i] ||
 * q[i]), degree[i] = sum_j v[i,j]: v plus the diagonal of degrees is positive semidefinite, and the
 * squared length of a difference of two distributions is at most their KL (Pinsker).
 */
#ifndef MC_ENGINE_SMOOTH_H
#define MC_ENGINE_SMOOTH_H

#include <stdbool.h>

#include "engine/fit.h"

typedef struct {
  double strength;  /* in cells, > 0 */
  double recording; /* in cells, >= 0 */
  /* Row i's neighbours are start[i] .. start[i + 1] - 1: rows and weights, which sum to 1. */
  const int *start, *neighbour;
  const double *weight;
  /* The same by neighbour: the rows that have row i as a neighbour, and their weights. */
  const int *back_start, *back_row;
  const double *back_weight;
  /* Fold-in: supplied means (k x n) and common memberships (k), no lists; see mc_smooth_pull(). */
  const double *reference, *common;
} mc_smooth_lists;

typedef struct mc_smooth mc_smooth;

#define MC_MOST_SHARES 3 /* content, a white and a black phantom */

/* Needs 4 k n doubles of scratch; fixed as in ab_param, fewer than MC_MOST_SHARES. */
mc_smooth *mc_new_smooth(const mc_smooth_lists *lists, int n, int k, const int *fixed,
                         int n_threads, const mc_host *host);

/*
 * Computes the term of the objective at these memberships (n x k), in nats, and if want_pull every
 * row's pull. Costs O(k) per neighbour and row.
 *
 * Supplied means do not pull back, which in a training table is half of the pull on a row;
 * affinities count twice to compensate.
 */
double mc_smooth_pull(mc_smooth *smooth, const double *membership, bool want_pull);

/*
 * Computes the new membership of row i (k contiguous values, in place). counts: expected counts
 * over membership; pseudo: the prior's pseudo-counts; total: the number of observed cells plus
 * pseudo-counts.
 */
void mc_smooth_update(const mc_smooth *smooth, int i, double total, const double *pseudo,
                      double *row, const double *counts);

/*
 * The pulls that mc_smooth_pull() computed for every row, (k + 1) x n: one for each component, and
 * that of content as a whole. A fit of a part of the rows receives them through
 * mc_new_given_smooth(), because a pull comes from rows anywhere in the table.
 */
void mc_smooth_pulls(const mc_smooth *smooth, double *pulls);

/* Rows with pulls computed elsewhere; mc_smooth_pull() then returns 0 and changes nothing. */
mc_smooth *mc_new_given_smooth(const double *pulls, int n, int k, const int *fixed,
                               const mc_host *host);

/*
 * Computes the agreement of these posteriors (n x k, rows sum to 1), in nats, and every row's pull,
 * which is 0 for rows without neighbours. Costs as mc_smooth_pull().
 */
double mc_smooth_agree(mc_smooth *smooth, const double *posterior);

/* strength / 2 * degree of row i. Costs O(rows that have i as a neighbour). */
double mc_smooth_hold(const mc_smooth *smooth, int i);

/* The pull on row i, one value for each component that is not fixed. */
const double *mc_smooth_row(const mc_smooth *smooth, int i);

/*
 * Adds the gradient of the bound over membership to that of row i; returns its contribution to the
 * gradient's mean.
 */
double mc_smooth_gradient(const mc_smooth *smooth, int i, const double *row, double *gradient);

/*
 * The bound of row i as logs: adds each weight's count to counts (k values) and returns the count
 * of the log of the row's content, which may be negative. Their gradient is that of
 * mc_smooth_gradient().
 */
double mc_smooth_counts(const mc_smooth *smooth, int i, double *counts);

#endif
