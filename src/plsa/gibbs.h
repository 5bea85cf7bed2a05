/*
 * plsa/gibbs.h: collapsed Gibbs sampling of latent Dirichlet allocation (plsa/plsa.h) from counts.
 * The component of every single count is drawn given those of all others, memberships and basis
 * being integrated out: Griffiths & Steyvers (2004), eq. (5). With n[i,c] and n[c,j] the numbers of
 * the other counts of row i, and of attribute j, that are of component c, and n[c] of all,
 *   P(c) ~ (n[i,c] + alpha[c]) (n[c,j] + eta) / (n[c] + m eta).
 * Yao, Mimno & McCallum (2009), section 3.4, split this into three sums over c, with b[c] = n[c] + m eta:
 *   s = eta sum alpha[c] / b[c],  r = eta sum n[i,c] / b[c],  q = sum (n[i,c] + alpha[c]) n[c,j] / b[c].
 * s and r are kept up to date, and q runs over the components that attribute j has.
 * The rule of missing cells is PLSA_PAPER: they have no counts.
 */
#ifndef MC_PLSA_GIBBS_H
#define MC_PLSA_GIBBS_H

#include "plsa/plsa.h"

#define PLSA_LEAST_PRIOR 1e-3 /* the range of what is learnt */
#define PLSA_MOST_PRIOR 1e3

/* A state: start on entry, the last draw on return. */
typedef struct {
  int k;
  int *topic; /* component of every count, from 0, those of a cell together, cells as of mc_data */
  double *prior; /* k + 1, > 0: alpha, then eta */
} plsa_gibbs_state;

typedef struct {
  int n_sweep;
  int thin;   /* every so many sweeps a draw is noted; 0: none */
  bool learn; /* after each sweep a fixed-point step of the prior, Minka (2000), eq. (55) */
  int n_probe;
  const int *probe; /* 2 x n_probe: row and column of cells whose probability is noted, from 0 */
} plsa_gibbs_plan;

/*
 * What is noted of draws. With N[i] the total of row i and A the sum of alpha, the posterior of
 * membership[i,] given a draw is Dirichlet(n[i,] + alpha), that of basis[c,] Dirichlet(n[c,] + eta):
 * from these sums follow the means over draws of their first and second moments.
 */
typedef struct {
  double *note; /* (1 + n_probe) x draws: log P(counts, components), eqs. (2) and (3); cells */
  double *membership; /* n x k x 2, added to: n[i,c] and its square */
  double *basis; /* k x m x 2: n[c,j] / b[c] and n[c,j] (n[c,j] + 2 eta + 1) / (b[c] (b[c] + 1)) */
  double *share; /* k x 2: 1 / b[c] and 1 / (b[c] (b[c] + 1)) */
  int room_note;
  int n_done, n_draw; /* results */
} plsa_gibbs_record;

/*
 * Sweeps from a state. One costs, for each count, as many steps as its attribute has components, and
 * a few more for those of its row; a noted draw O(counts). Memory is O(k) and, for each attribute,
 * of the smaller of k and its counts. Counts are whole, and fewer than 2^31. Random numbers through
 * num/rng.h. Returns MC_MAX_PASS, or MC_STOPPED where the host asked to stop: within a sweep, too,
 * whose draws then stay where they are but are not noted.
 */
mc_status plsa_gibbs_run(const mc_data *data, const plsa_gibbs_plan *plan, plsa_gibbs_state *state,
                         const mc_host *host, plsa_gibbs_record *record);

/*
 * Memberships of rows, the basis held, whose prior is Dirichlet(alpha): posterior means by CVB0
 * (Asuncion, Welling, Smyth & Teh 2009, eq. (10)), g being the shares of components in a cell's counts,
 *   g[i,j,c] ~ (n[i,c] - g[i,j,c] + alpha[c]) basis[c,j],  n[i,c] = sum_j x[i,j] g[i,j,c],
 * exact where a row has one count. A pass over a row costs 4 k flops a nonzero; at most 500 of them,
 * until no n[i,c] moves by more than 1e-10 of the row's total. basis: k x m, >= 0, and none of a
 * cell's all 0; membership: n x k, result. Returns MC_CONVERGED or MC_STOPPED.
 */
mc_status plsa_gibbs_fold_in(const mc_data *data, int k, const double *basis, const double *alpha,
                             const mc_host *host, double *membership);

#endif
