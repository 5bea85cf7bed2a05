/*
 * plsa/vb.h: variational Bayes for latent Dirichlet allocation (plsa/plsa.h), Blei, Ng & Jordan
 * (2003), section 5.4, whose bound and updates are these. The posterior is approximated by
 * independent membership[i,] ~ Dirichlet(alpha + rows[i,]), basis[c,] ~ Dirichlet(eta + basis[c,])
 * and components of single counts. With psi the digamma function and
 *   g[i,c] = exp E log membership[i,c] = exp(psi(alpha[c] + rows[i,c]) - psi(A + total of rows[i,])),
 *   w[c,j] = exp E log basis[c,j],  p[i,j] = sum_c g[i,c] w[c,j],
 * the bound, maximised over the components of counts, is
 *   sum x log p - sum_i KL(membership[i,] : Dirichlet(alpha)) - sum_c KL(basis[c,] : Dirichlet(eta)),
 * and an iteration maximises it successively in
 *   rows[i,c] = g[i,c] sum_j w[c,j] x[i,j] / p[i,j],  basis[c,j] = w[c,j] sum_i g[i,c] x[i,j] / p[i,j],
 * which depends only on the components of counts, so alpha and eta may be updated before: each by a
 * fixed-point step that increases the bound (Minka 2000, Estimating a Dirichlet distribution, eq.
 * (9)), psi(alpha[c]) = psi(A) + mean over rows of E log membership[i,c], A = sum alpha. eta, a
 * single number, uses the mean over the whole basis: the prior is asymmetric for memberships and
 * symmetric for the basis (Wallach, Mimno & McCallum 2009).
 *
 * Missing cells by the conditional rule: with N[i] the observed total, their counts are negative
 * multinomial, and their term of the bound is -N[i] log(1 - sum over them of p[i,j]); g and w do
 * not sum to 1. They are imputed at p N / (1 - that sum).
 */
#ifndef MC_PLSA_VB_H
#define MC_PLSA_VB_H

#include "plsa/plsa.h"

/* Starting values on entry, result on return. */
typedef struct {
  int k;
  double *rows;     /* n x k, >= 0: expected counts of each row by component */
  double *basis;    /* k x m, >= 0: the same by attribute; if fixed, w: > 0, sums at most 1 */
  double *prior;    /* k + 1, > 0: alpha, then eta */
  bool fixed_basis; /* fixed basis: fold-in */
  bool learn;       /* estimate alpha and eta */
} plsa_vb_param;

typedef struct plsa_vb_work plsa_vb_work;

plsa_vb_work *plsa_vb_new_work(const mc_data *data, plsa_missing missing, const plsa_vb_param *par,
                               int n_threads, const mc_host *host);

/*
 * The model for mc_fit(); blocks: rows and, unless fixed, basis and prior (if estimated). An
 * iteration costs as much as plsa_pass() plus two special functions for each of n k + k m;
 * allocates nothing; never decreases the bound, in nats, whose value at the supplied parameters it
 * returns; NaN if the host requested a stop.
 */
typedef struct {
  const mc_data *data;
  plsa_vb_param *par;
  plsa_vb_work *work;
} plsa_vb_self;

mc_model plsa_vb_model(plsa_vb_self *self);

#endif
