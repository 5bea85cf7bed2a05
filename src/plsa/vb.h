/*
 * plsa/vb.h: variational Bayes for latent Dirichlet allocation (plsa/plsa.h), Blei, Ng & Jordan
 * (2003), section 5.4, whose bound and updates are these. The posterior is approximated by
 * independent membership[i,] ~ Dirichlet(alpha + rows[i,]), basis[c,] ~ Dirichlet(eta + basis[c,])
 * and components of single counts. With psi the digamma function and
 *   g[i,c] = exp E log membership[i,c] = exp(psi(alpha[c] + rows[i,c]) - psi(A + total of rows[i,])),
 *   w[c,j] = exp E log basis[c,j],  p[i,j] = sum_c g[i,c] w[c,j],
 * the bound, at the components of counts that are best given these, is
 *   sum x log p - sum_i KL(membership[i,] : Dirichlet(alpha)) - sum_c KL(basis[c,] : Dirichlet(eta)),
 * and a pass is the ascent, one after the other, in
 *   rows[i,c] = g[i,c] sum_j w[c,j] x[i,j] / p[i,j],  basis[c,j] = w[c,j] sum_i g[i,c] x[i,j] / p[i,j],
 * which follows from the components of counts alone, so that alpha and eta may be learnt before:
 * by a fixed-point step each that raises the bound (Minka 2000, Estimating a Dirichlet distribution,
 * eq. (9)), psi(alpha[c]) = psi(A) + mean over rows of E log membership[i,c], A = sum alpha. eta, being
 * one number, takes the mean over all of the basis: asymmetric for memberships, symmetric for the
 * basis (Wallach, Mimno & McCallum 2009).
 *
 * Missing cells by the conditional rule: with N[i] the observed total, their counts are negative
 * multinomial, and their bound is -N[i] log(1 - sum over them of p[i,j]), where g and w do not sum to
 * 1. They are imputed at p N / (1 - that sum).
 */
#ifndef MC_PLSA_VB_H
#define MC_PLSA_VB_H

#include "plsa/plsa.h"

/* Start values on entry, result on return. */
typedef struct {
  int k;
  double *rows; /* n x k, >= 0: counts of each row that each component is expected to have made */
  double
      *basis; /* k x m, >= 0: the same by attribute; or, if held, w itself: > 0, sums at most 1 */
  double *prior;    /* k + 1, > 0: alpha, then eta */
  bool fixed_basis; /* hold the basis: fold-in */
  bool learn;       /* alpha and eta, too */
} plsa_vb_param;

typedef struct plsa_vb_work plsa_vb_work;

plsa_vb_work *plsa_vb_new_work(const mc_data *data, plsa_missing missing, const plsa_vb_param *par,
                               int n_threads, const mc_host *host);

/*
 * As a model for mc_fit(); blocks: rows and, unless held, basis and prior (if learnt). A pass costs
 * as much as plsa_pass() and two special functions for each of n k + k m; allocates nothing; never
 * lowers the bound, in nats, which it returns for the parameters it was given; NaN where the host
 * asked to stop.
 */
typedef struct {
  const mc_data *data;
  plsa_vb_param *par;
  plsa_vb_work *work;
} plsa_vb_self;

mc_model plsa_vb_model(plsa_vb_self *self);

#endif
