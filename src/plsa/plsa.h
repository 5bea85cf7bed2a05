/*
 * plsa/plsa.h: probabilistic latent semantic analysis with entropic priors, the sparse overcomplete
 * decomposition of Shashanka, Raj & Smaragdis (2007):
 *   P_i(j) = p[i,j] = sum_c membership[i,c] basis[c,j].
 *
 *   here              paper
 *   observation i     n
 *   attribute j       f
 *   component c       z
 *   membership        P_n(z), rows on the simplex
 *   basis             P(f|z), rows on the simplex
 *   counts            omega, xi: expected counts, eq. (6)
 *
 * With Dirichlet priors this is latent Dirichlet allocation (Blei, Ng & Jordan 2003), or
 * multinomial PCA (Buntine 2002): membership[i,] ~ Dirichlet(alpha), alpha one number for each
 * component, and basis[c,] ~ Dirichlet(eta), eta the same for all attributes. The posterior mode
 * maximises
 *   sum x log p + sum (alpha[c] - 1) log membership[i,c] + sum (eta - 1) log basis[c,j]:
 * EM's M-steps add alpha - 1 and eta - 1, both >= 0, to the expected counts (Chien & Wu 2008;
 * Asuncion et al. 2009, eqs. (4)-(5)). plsa/vb.h has its variational posterior.
 */
#ifndef MC_PLSA_PLSA_H
#define MC_PLSA_PLSA_H

#include "engine/data.h"
#include "engine/fit.h"
#include "engine/smooth.h"
#include "num/entropic.h"
#include "num/simplex.h"

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;              /* components; may exceed n and m */
  double *membership; /* n x k, rows on the simplex */
  double *basis;      /* k x m, rows on the simplex */
  bool fixed_basis;   /* fixed basis: fold-in, a concave problem without a prior */
  mc_smooth *smooth;  /* shrinks neighbouring rows towards each other; NULL: not */
} plsa_param;

/*
 * Entropic priors, eq. (5): strength times the sum of p log p, of any sign; 0: none. Or Dirichlet
 * priors, represented by the counts added to the expected ones, alpha - 1 and eta - 1.
 */
typedef struct {
  const double *membership; /* n: beta, in counts, of every row; NULL: none */
  double basis;             /* alpha, in counts, of every component */
  num_entropic_rule rule;
  const double *row_added; /* k, >= 0; NULL: none */
  double basis_added;      /* to every attribute of every component, >= 0 */
} plsa_prior;

/* Treatment of missing cells. */
typedef enum {
  PLSA_CONDITIONAL, /* the row's observed counts are multinomial conditional on being observed */
  PLSA_PAPER        /* section 4.1 as printed: missing cells leave the sum, P is not renormalised */
} plsa_missing;

typedef struct plsa_work plsa_work;

/*
 * Scratch for iterations: O(k m) per strip of rows, and per thread O(m) or, if more than DENSE_FILL
 * of the cells are nonzero, one block of rows.
 */
plsa_work *plsa_new_work(const mc_data *data, const plsa_prior *prior, plsa_missing missing, int k,
                         int n_threads, const mc_host *host);

/*
 * One EM iteration: one E-step, eq. (6), for both factors, then their M-steps, eq. (3) or with a
 * prior eqs. (7)-(8). Costs 6 k flops per nonzero or missing cell and, with a prior, O(k)
 * logarithms per row; allocates nothing. Never decreases the objective: sum x log p over observed
 * cells, minus sum x log P(observed) of each row under the conditional rule, plus the log-priors
 * and the terms of neighbours (engine/smooth.h), whose pulls are added to a row's counts. Rows and
 * components without counts, expected or added, are unchanged.
 *
 * Returns the objective, in nats, at the supplied parameters: -Inf if a positive count is
 * impossible (the cell is then ignored), NaN if the host requested a stop.
 */
double plsa_pass(const mc_data *data, plsa_param *par, plsa_work *work);

/*
 * The rows' part of plsa_pass(), without neighbours: xi then points to the sums of eq. (6) for
 * plsa_update_basis(), k x m. Returns the log-likelihood at the supplied parameters, NaN if the
 * host requested a stop. If xi is NULL, nothing is updated.
 */
double plsa_em_rows(const mc_data *data, plsa_param *par, plsa_work *work, const double **xi);

/* Replaces the parameters of a block of rows (k x b) by weights. */
typedef struct {
  void (*weigh)(void *ctx, int strip, double *rows, int b);
  void *ctx;
} plsa_rows_weigher;

/*
 * The E-step for weights that need not sum to 1: returns sum x log p and, under the conditional
 * rule, minus sum N log(1 - p of the missing); NaN if the host requested a stop. If update, par's
 * membership becomes the expected counts of its rows, and xi the sums of eq. (6).
 */
double plsa_expect(const mc_data *data, plsa_param *par, plsa_work *work,
                   const plsa_rows_weigher *weigher, bool update, const double **xi);

/* Log-prior of n rows, and of the basis, up to a constant; eq. (5) if it is entropic. */
double plsa_log_prior_rows(int n, const plsa_param *par, const plsa_work *work);
double plsa_log_prior_basis(int m, const plsa_param *par, const plsa_work *work);

/* M-step of the basis: eq. (3), or eqs. (7)-(8) with a prior. Returns false if stopped. */
bool plsa_update_basis(int m, plsa_param *par, plsa_work *work, const double *xi);

/* Computes only the objective. Costs 2 k flops per cell. */
double plsa_objective(const mc_data *data, const plsa_param *par, plsa_work *work);

typedef struct plsa_newton plsa_newton;

/* Scratch for Newton iterations: the data by columns, n x k values, and O(k) times the longest row
 * or column. */
plsa_newton *plsa_new_newton(const mc_data *data, int k, int n_threads, const mc_host *host);

/*
 * One iteration on the equivalent Poisson factorisation, for maximum likelihood without missing
 * cells: every row, then every column, takes one Newton step within its bounds that cannot decrease
 * the likelihood (num/poisson_newton.h). Costs 8 k and q^2 flops per nonzero; q is the number of
 * components of its row or column that are not 0 or have a positive gradient there. Needs far fewer
 * iterations than EM. Returns as plsa_pass().
 */
double plsa_newton_pass(const mc_data *data, plsa_param *par, plsa_newton *work);

/* The model for mc_fit(); blocks: membership, then basis. newton NULL: EM iterations. */
typedef struct {
  const mc_data *data;
  plsa_param *par;
  plsa_work *work;
  plsa_newton *newton;
} plsa_self;

mc_model plsa_model(plsa_self *self);

#endif
