/*
 * bernoulli_mixture/em.h: the Bernoulli mixture, every observation belongs to one component:
 *   P(x[i,]) = sum_c weights[c] prod_j prototypes[c,j]^x[i,j] (1 - prototypes[c,j])^(1 - x[i,j]).
 *
 *   here              Bingham, Kaban & Fortelius (2009), eq. (26)
 *   weights           p_k
 *   prototypes        a_tk
 *
 * Or weights of each observation's own, which follow covariates by multinomial logistic regression
 * (num/multinomial.h): latent class regression, Bandeen-Roche and others (1997).
 */
#ifndef MC_BERNOULLI_MIXTURE_EM_H
#define MC_BERNOULLI_MIXTURE_EM_H

#include "engine/data.h"
#include "engine/shards.h"
#include "engine/smooth.h"
#include "num/multinomial.h"

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;
  double *weights;    /* k, sum to 1 */
  double *prototypes; /* k x m, within [0, 1]; exact 0 and 1 are legal */
  /* With neighbours, whose labels tend to be equal, the n x k posterior q is a parameter as well. */
  double *membership; /* n x k, rows sum to 1; ignored without neighbours */
  mc_smooth *smooth;  /* NULL: no neighbours */
  num_multinomial
      by;         /* by.d > 0: weights are held, and memberships follow covariates by its effects */
  ptrdiff_t held; /* place, from 1, among weights, then prototypes, of the one kept; 0: none */
} bm_param;

/* Pseudo-counts added to the expected counts; all zero is maximum likelihood. */
typedef struct {
  double one, zero; /* of a Beta(one + 1, zero + 1) prior on every prototype's probabilities */
  double weights;   /* of a symmetric Dirichlet(weights + 1) prior on the weights */
} bm_prior;

typedef struct bm_work bm_work;

/* Scratch: O(k m), and the n x k posterior. */
bm_work *bm_new_work(const mc_data *data, const bm_prior *prior, const bm_param *par, int n_threads,
                     const mc_host *host);

/* Posterior that row i belongs to component c, n x k, of the last call; without neighbours. */
const double *bm_posterior(const bm_work *work);

/* Log-probability of the observed cells of every row, n values, of the last call; -Inf: impossible. */
const double *bm_row_loglik(const bm_work *work);

/*
 * EM iterations, in logarithms. An iteration costs O(k) per nonzero or missing cell and O(k m)
 * more, and never decreases the objective, the log-likelihood over observed cells plus the
 * log-prior. Columns, rows and components without data are unchanged or have no effect.
 *
 * With neighbours the objective is that of neighbourhood EM (Ambroise & Govaert 1998): sum_i sum_c
 * q[i,c] (log joint[i,c] - log q[i,c]), which without neighbours is the log-likelihood at its best
 * q, plus their agreement (engine/smooth.h) and the log-prior. All rows are updated simultaneously,
 * which the bound permits.
 *
 * With covariates an iteration takes one Newton step of the effects, O(n k^2 d^2).
 *
 * With a held weight the others share what it leaves, in the proportions of their counts: the
 * maximum under that constraint.
 *
 * Blocks: weights, prototypes, membership with neighbours and effects with covariates, which go with a
 * table in memory alone.
 */
typedef struct {
  const mc_data *data;
  bm_param *par;
  bm_work *work;
} bm_self;

mc_shards bm_model(bm_self *self);

#endif
