/*
 * visits_occupancy/history.h: what visits found where a taxon is, R/visits_occupancy.R. A row is cells of one
 * taxon with the same history; of a presence, with log-odds u[j] + shift[j, v] + b that visit v finds it,
 *   P(history | present, u) = sum_b weight(b) prod_v (odds / (1 + odds) if it was found, else 1 / (1 + odds)),
 * where odds = exp(u) exp(shift) exp(b), so that no cell needs an exponential.
 */
#ifndef MC_VISITS_OCCUPANCY_HISTORY_H
#define MC_VISITS_OCCUPANCY_HISTORY_H

#include <stddef.h>

typedef struct {
  int n, m;             /* rows, taxa */
  int n_visit, n_u;     /* visits, values of u of each taxon */
  int n_node;           /* values of b */
  const int *taxon;     /* n: of each row, from 0 */
  const int *found;     /* n_visit x n: 1, 0, or negative where no visit was made */
  const double *odds;   /* n_u x m: exp(u) */
  const double *visit;  /* n_visit x n: exp(shift) */
  const double *node;   /* n_node: exp(b) */
  const double *weight; /* n_node */
} occ_histories;

/* P(history | present, u) of the rows from first to last, n_u x n, at least 1e-300. scratch: n_u (n_node + 1). */
void occ_likelihood(const occ_histories *h, int first, int last, double *scratch,
                    double *likelihood);

/*
 * Adds, of the expected log-likelihood of the finds of these rows, the derivative by shift[j, v], and minus the second
 * one, m x n_visit each. present: how many cells of each row have the taxon and this u, n_u x n. scratch:
 * n_u (n_node + 1).
 */
void occ_shift(const occ_histories *h, int first, int last, const double *present, double *scratch,
               double *slope, double *curve);

#endif
