/*
 * plca/plca.h: probabilistic latent component analysis of an array of any order with cross-entropy
 * priors, Smaragdis, Shashanka, Raj & Mysore (2009), doi:10.1007/978-3-642-00599-2_42:
 *   P(x) = sum_c weights[c] prod_d marginals[d][c, x_d].
 *
 *   here              paper
 *   component c       z
 *   weights           P(z)
 *   marginals[d]      P(x_d | z), q_z
 *   counts            omega: expected counts, eqs. (3)-(4)
 *
 * With Dirichlet priors, weights ~ Dirichlet(alpha), alpha one number for each component, and
 * marginals[d][c,] ~ Dirichlet(eta[d]), the same for all levels and components, the objective
 * contains the terms
 *   sum_c (alpha[c] - 1) log weights[c] + sum_d (eta[d] - 1) sum_c,x log marginals[d][c,x]:
 * alpha - 1 and eta - 1, both >= 0, are added to the expected counts before the step under a prior
 * between components, which bounds only that prior, for any counts. Missing cells are imputed as
 * without a prior, because the E-step bounds only the likelihood.
 *
 * Entropic priors, eq. (5) of Shashanka, Raj & Smaragdis (2007) (plsa/plsa.h), add
 *   beta sum_c weights[c] log weights[c] + sum_d beta[d] sum_c,x q log q,  q = marginals[d][c,x],
 * of any sign. Alone or with Dirichlet priors, the M-step of a block is num_entropic()'s with the
 * added counts, because both belong to the same sum of counts log theta + beta theta log theta. In
 * a block with cross-entropy, beta > 0 is convex and bounded below by its tangent, and beta < 0 is
 * concave and adds to the entropy of num_simplex_entropy().
 *
 * For a matrix, let membership[i,c] be weights[c] marginals[0][c,i] / P(i). Then alpha - 1 = n
 * (eta[0] - 1) gives sum (eta[0] - 1) log membership[i,c] plus a function of P(i) only: the mode is
 * that of plsa/plsa.h with alpha = eta[0] and eta = eta[1] there.
 */
#ifndef MC_PLCA_PLCA_H
#define MC_PLCA_PLCA_H

#include "engine/fit.h"

#define PLCA_MAX_DIM (MC_MAX_BLOCK - 1)

/* The nonzero and the missing cells of an array. */
typedef struct {
  int n_dim;
  const int *extent; /* n_dim */
  int n_cell;
  const int *index;    /* n_dim x n_cell, from 0 */
  const double *value; /* n_cell, > 0 */
  int n_missing;
  const int *na_index; /* n_dim x n_missing */
} plca_cells;

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;
  double *weights;                 /* k, sum to 1 */
  double *marginals[PLCA_MAX_DIM]; /* k x extent[d], rows on the simplex */
  bool fixed[PLCA_MAX_DIM];        /* fixes the marginals of this dimension */
} plca_param;

/*
 * The terms added to the log-likelihood: sum over pairs i < k of A[i,k] times
 *   PLCA_PAPER  H(q_i, q_k) + H(q_k, q_i), cross-entropies, eq. (5); may be infinite
 *   PLCA_MM     the same with log(q + floor) for log q
 *   PLCA_JS     2 JS(q_i, q_k), twice the Jensen-Shannon divergence: bounded
 * in each dimension. A > 0 drives marginals apart, A < 0 together. Dirichlet priors are represented
 * by the counts they add; neither they nor entropic priors can be combined with PLCA_PAPER.
 */
typedef enum { PLCA_JS, PLCA_PAPER, PLCA_MM } plca_method;

typedef struct {
  plca_method method;
  double floor;                      /* of PLCA_MM, > 0 */
  const double *pairs[PLCA_MAX_DIM]; /* A: k x k, symmetric, diagonal unused; NULL: none */
  int n_anneal;                      /* iteration p multiplies A by anneal[p - 1]; the last value
                                        stays */
  const double *anneal;
  const double *weights_added;          /* k: alpha - 1; NULL: none */
  double marginals_added[PLCA_MAX_DIM]; /* eta - 1, for every level of every component; 0: none */
  double weights_sparsity;              /* beta, in counts; 0: none */
  double marginals_sparsity[PLCA_MAX_DIM]; /* beta[d], in counts, of every component; 0: none */
} plca_prior;

typedef struct plca_work plca_work;

/* Scratch: O(k sum(extent)) per strip of cells, and the zeros of a dense array with missing cells. */
plca_work *plca_new_work(const plca_cells *cells, const plca_prior *prior, int k, int n_threads,
                         const mc_host *host);

/*
 * One EM iteration, eqs. (3)-(4): E-step, then weights and marginals; with a prior, components one
 * after another, each conditional on the newest marginals of the others, because simultaneous
 * updates can leave a cell without component. Costs about (2 n_dim + 2) k flops per cell, and with
 * a prior O(k^2 extent) per dimension. Never decreases the objective (log-likelihood conditional on
 * the observed cells, plus prior) under PLCA_JS and PLCA_MM with constant A. PLCA_PAPER is eq. (7)
 * as printed, negative values set to 0: it maximises no objective, and the log-likelihood is
 * returned.
 *
 * Returns the objective, in nats, at the supplied parameters; -Inf if a count is impossible, NaN if
 * the host requested a stop.
 */
double plca_pass(const plca_cells *cells, plca_param *par, plca_work *work);

double plca_objective(const plca_cells *cells, const plca_param *par, plca_work *work);

/*
 * Contribution of the priors to the objective, with A times scale, without the constants of
 * the densities and without fixed marginals: Inf, -Inf, or NaN if infinities of both signs
 * occur.
 */
double plca_prior_value(const plca_cells *cells, const plca_param *par, const plca_prior *prior,
                        double scale);

/* A component's marginal in a dimension that has a cross-entropy or entropic prior. */
typedef struct {
  const plca_prior *prior;
  const double *pairs; /* A, k x k; NULL: the component has no partner */
  double scale;        /* of A */
  double sparsity;     /* beta */
  int c, k, extent;
  double *marginals; /* k x extent: the newest of all components */
} plca_block;

/* Makes its M-step in place: counts is k x extent; spare holds 4 extent values. */
void plca_prior_step(const plca_block *b, const double *counts, double *spare);

/* The model for mc_fit(); blocks: weights, then marginals. */
typedef struct {
  const plca_cells *cells;
  plca_param *par;
  plca_work *work;
} plca_self;

mc_model plca_model(plca_self *self);

#endif
