/*
 * plsa/gibbs.h: collapsed Gibbs sampling of latent Dirichlet allocation (plsa/plsa.h) from counts.
 * The component of every single count is drawn conditional on those of all others, with memberships
 * and basis integrated out: Griffiths & Steyvers (2004), eq. (5). With n[i,c] and n[c,j] the
 * numbers of the other counts of row i, and of attribute j, that are of component c, and n[c] of
 * all,
 *   P(c) ~ (n[i,c] + alpha[c]) (n[c,j] + eta) / (n[c] + m eta).
 * Yao, Mimno & McCallum (2009), section 3.4, split this into three sums over c, with b[c] = n[c] +
 * m eta:
 *   s = eta sum alpha[c] / b[c],  r = eta sum n[i,c] / b[c],  q = sum (n[i,c] + alpha[c]) n[c,j] / b[c].
 * s and r are updated incrementally, and q is a sum over the components of attribute j. The rule of
 * missing cells is PLSA_PAPER: they have no counts.
 *
 * With covariates every row has an alpha of its own, alpha[i,c] = a share[i,c], a times the shares
 * of a multinomial logistic regression (num/multinomial.h): Dirichlet-multinomial regression (Mimno
 * & McCallum 2008) with one concentration a, which has an exponential prior. After each sweep a is
 * drawn given n[i,c], then the effects by data augmentation: the n[i,c] counts sit at t[i,c] tables
 * of a Chinese restaurant process, the one after s others at a new one with probability
 * alpha[i,c] / (alpha[i,c] + s), and
 *   P(n, t) ~ prod_i Gamma(a) / Gamma(a + n[i]) a^t[i] prod_c share[i,c]^t[i,c],
 * in which effects have the likelihood of a multinomial logistic regression with counts t.
 */
#ifndef MC_PLSA_GIBBS_H
#define MC_PLSA_GIBBS_H

#include "num/multinomial.h"
#include "plsa/plsa.h"

#define PLSA_LEAST_PRIOR 1e-3 /* range of estimated prior parameters */
#define PLSA_MOST_PRIOR 1e3

/* A state of the chain: the starting values on entry, the last draw on return. */
typedef struct {
  int k;
  int *topic;         /* component of every count, from 0; in the order of the cells of mc_data */
  double *prior;      /* k + 1, > 0: alpha, then eta; with covariates alpha has no effect */
  num_multinomial by; /* by.d > 0: memberships follow covariates */
  double *concentration; /* with covariates: a, > 0 */
  double rate;           /* of the prior of a */
} plsa_gibbs_state;

typedef struct {
  int n_sweep;
  int thin;   /* a draw is recorded every `thin` sweeps; 0: none */
  bool learn; /* after each sweep, takes a fixed-point step of the prior, Minka (2000), eq. (55);
                 not with covariates */
  int n_probe;
  const int *probe; /* 2 x n_probe: row and column of cells whose probability is recorded, from 0 */
} plsa_gibbs_plan;

/*
 * The record of draws. With N[i] the total of row i and A the sum of alpha, the posterior of
 * membership[i,] given a draw is Dirichlet(n[i,] + alpha), that of basis[c,] Dirichlet(n[c,] +
 * eta). The sums below determine the means over draws of their first and second moments.
 */
typedef struct {
  double *note; /* (1 + n_probe) x draws: log P(counts, components), eqs. (2) and (3), with the
                   density of effects and a; cells */
  double *membership; /* n x k x 2, added to: n[i,c] and its square; with covariates the first two
                         moments of the membership */
  double *regression; /* with covariates, (d k + 1) x draws: effects and a */
  int room_regression;
  double *basis; /* k x m x 2: n[c,j] / b[c] and n[c,j] (n[c,j] + 2 eta + 1) / (b[c] (b[c] + 1)) */
  double *share; /* k x 2: 1 / b[c] and 1 / (b[c] (b[c] + 1)) */
  int room_note;
  int n_done, n_draw; /* results */
} plsa_gibbs_record;

/*
 * Runs sweeps from a state. A sweep costs, for each count, as many steps as its attribute has
 * components, and a few more for those of its row; a recorded draw O(counts). Memory is O(k) and,
 * for each attribute, the smaller of k and its counts. Counts are whole, fewer than 2^31. Random
 * numbers through num/rng.h. Returns MC_MAX_PASS, or MC_STOPPED if the host requested a stop. A
 * stop may occur within a sweep; its draws so far are kept in the state but not recorded.
 */
mc_status plsa_gibbs_run(const mc_data *data, const plsa_gibbs_plan *plan, plsa_gibbs_state *state,
                         const mc_host *host, plsa_gibbs_record *record);

/*
 * Memberships of rows with a fixed basis and prior Dirichlet(alpha): posterior means by CVB0
 * (Asuncion, Welling, Smyth & Teh 2009, eq. (10)), g being the shares of components in a cell's
 * counts,
 *   g[i,j,c] ~ (n[i,c] - g[i,j,c] + alpha[c]) basis[c,j],  n[i,c] = sum_j x[i,j] g[i,j,c],
 * exact for a row with one count. An iteration for a row costs 4 k flops per nonzero; at most 500
 * are made, until no n[i,c] changes by more than 1e-10 of the row's total. basis: k x m, >= 0, not
 * all 0 in the column of a nonzero cell; membership: n x k, result. Returns MC_CONVERGED or
 * MC_STOPPED.
 */
mc_status plsa_gibbs_fold_in(const mc_data *data, int k, const double *basis, const double *alpha,
                             const mc_host *host, double *membership);

#endif
