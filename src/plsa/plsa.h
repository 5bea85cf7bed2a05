/*
 * plsa/plsa.h: probabilistic latent semantic analysis with entropic priors,
 * the sparse overcomplete decomposition of Shashanka, Raj & Smaragdis (2007):
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
 * With Dirichlet priors this is latent Dirichlet allocation (Blei, Ng & Jordan 2003), or multinomial
 * PCA (Buntine 2002): membership[i,] ~ Dirichlet(alpha), alpha one number for each component, and
 * basis[c,] ~ Dirichlet(eta), eta the same for all attributes. Its posterior mode maximises
 *   sum x log p + sum (alpha[c] - 1) log membership[i,c] + sum (eta - 1) log basis[c,j]:
 * the M-steps of EM are those of the expected counts with alpha - 1 and eta - 1, both >= 0, added
 * (Chien & Wu 2008; Asuncion et al. 2009, eqs. (4)-(5)). plsa/vb.h has its variational posterior.
 */
#ifndef MC_PLSA_PLSA_H
#define MC_PLSA_PLSA_H

#include "engine/data.h"
#include "engine/fit.h"
#include "engine/smooth.h"
#include "num/entropic.h"
#include "num/simplex.h"

/* Parameters: start values on entry, estimates on return. */
typedef struct {
  int k;              /* components; may exceed n and m */
  double *membership; /* n x k, rows on the simplex */
  double *basis;      /* k x m, rows on the simplex */
  bool fixed_basis;   /* hold the basis: fold-in, a concave problem where there is no prior */
  mc_smooth *smooth;  /* neighbouring rows are alike; NULL: they are not */
} plsa_param;

/*
 * Entropic priors, eq. (5): strength times the sum of p log p. Of any sign; 0 is none. Or Dirichlet
 * priors, by what they add to the expected counts, alpha - 1 and eta - 1.
 */
typedef struct {
  const double *membership; /* n: beta, in counts, of every row; NULL: none */
  double basis;             /* alpha, in counts, of every component */
  num_entropic_rule rule;
  const double *row_added; /* k, >= 0; NULL: none */
  double basis_added;      /* to every attribute of every component, >= 0 */
} plsa_prior;

/* What a missing cell means. */
typedef enum {
  PLSA_CONDITIONAL, /* the row's observed counts are multinomial given that they were observed */
  PLSA_PAPER        /* section 4.1 as printed: missing cells leave the sum, P is not renormalised */
} plsa_missing;

typedef struct plsa_work plsa_work;

/*
 * Scratch for passes over data: O(k m) a strip of rows and O(m) or, where more
 * than DENSE_FILL of the cells are nonzero, one block of rows a thread.
 */
plsa_work *plsa_new_work(const mc_data *data, const plsa_prior *prior, plsa_missing missing, int k,
                         int n_threads, const mc_host *host);

/*
 * One EM pass: one E-step, eq. (6), for both factors, then their M-steps, eq.
 * (3) or with a prior eqs. (7)-(8). Costs 6 k flops a nonzero or missing cell
 * and, with a prior, O(k) logarithms a row; allocates nothing. Never lowers the
 * objective: sum x log p over observed cells, less sum x log P(observed) of
 * each row where the rule is conditional, plus the log-priors and what
 * neighbours add (engine/smooth.h), whose pull is counted with the row's own. Rows and
 * components without counts, expected or added, keep their values.
 *
 * Returns the objective, in nats, of the parameters it was given: -Inf where a
 * positive count is impossible (the cell is then left out), NaN where the host
 * asked to stop.
 */
double plsa_pass(const mc_data *data, plsa_param *par, plsa_work *work);

/*
 * The rows' half of plsa_pass(), without neighbours: then xi points at the sums of eq. (6) that
 * plsa_update_basis() takes, k x m. Returns the log-likelihood of the parameters it was given, NaN
 * where the host asked to stop. If xi is NULL, that is all.
 */
double plsa_em_rows(const mc_data *data, plsa_param *par, plsa_work *work, const double **xi);

/* What weights a block of rows has in place of its parameters, k x b, which it is given. */
typedef struct {
  void (*weigh)(void *ctx, int strip, double *rows, int b);
  void *ctx;
} plsa_rows_weigher;

/*
 * The E-step alone, p being of weights that need not sum to 1: returns sum x log p and, where the
 * rule is conditional, less sum N log(1 - p of the missing); NaN where the host asked to stop. If
 * update, par's membership is then the expected counts of its rows, and xi the sums of eq. (6).
 */
double plsa_expect(const mc_data *data, plsa_param *par, plsa_work *work,
                   const plsa_rows_weigher *weigher, bool update, const double **xi);

/* The log-prior of n rows, and of the basis, up to a constant; eq. (5) where it is entropic. */
double plsa_log_prior_rows(int n, const plsa_param *par, const plsa_work *work);
double plsa_log_prior_basis(int m, const plsa_param *par, const plsa_work *work);

/* M-step of the basis: eq. (3), or eqs. (7)-(8) where there is a prior. false: stopped. */
bool plsa_update_basis(int m, plsa_param *par, plsa_work *work, const double *xi);

/* The objective alone. Costs 2 k flops a cell. */
double plsa_objective(const mc_data *data, const plsa_param *par, plsa_work *work);

typedef struct plsa_newton plsa_newton;

/* Scratch for Newton passes: the data by columns, n x k values, O(k) the longest row or column. */
plsa_newton *plsa_new_newton(const mc_data *data, int k, int n_threads, const mc_host *host);

/*
 * One pass on the equivalent Poisson factorisation, for maximum likelihood
 * without missing cells: every row, then every column, takes one Newton step
 * within its bounds that cannot lower the likelihood (num/poisson_newton.h).
 * Costs q^2 flops a nonzero, q being the components of its row or column that
 * are not 0 or are pulled up from there, and 8 k; needs far fewer than EM.
 * Returns as plsa_pass().
 */
double plsa_newton_pass(const mc_data *data, plsa_param *par, plsa_newton *work);

/* Passes over data as a model for mc_fit(); blocks: membership, then basis. newton NULL: EM passes. */
typedef struct {
  const mc_data *data;
  plsa_param *par;
  plsa_work *work;
  plsa_newton *newton;
} plsa_self;

mc_model plsa_model(plsa_self *self);

#endif
