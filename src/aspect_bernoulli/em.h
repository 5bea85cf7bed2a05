/*
 * aspect_bernoulli/em.h: the aspect Bernoulli model of Bingham, Kaban & Fortelius (2009),
 * doi:10.1007/s10044-007-0096-4,
 *   P(x[i,j] = 1) = p[i,j] = sum_c membership[i,c] aspects[c,j].
 *
 *   here              paper
 *   observation i     n
 *   attribute j       t
 *   component c       k
 *   membership        s_kn, rows on the simplex
 *   aspects           a_tk, probabilities
 */
#ifndef MC_ASPECT_BERNOULLI_EM_H
#define MC_ASPECT_BERNOULLI_EM_H

#include "aspect_bernoulli/prior.h"
#include "engine/data.h"
#include "engine/fit.h"
#include "engine/smooth.h"

/* Parameters: start values on entry, estimates on return. */
typedef struct {
  int k;                 /* components */
  double *membership;    /* n x k, rows on the simplex */
  double *aspects;       /* k x m, within [0, 1]; exact 0 and 1 never move */
  const double *absence; /* k x m, what stands for 1 - aspects; NULL: just that */
  const int *pinned;     /* k: nonzero where an aspect is held as it is (a pinned phantom) */
  bool fixed_aspects;    /* hold every aspect: fold-in, a concave problem in membership */
  bool fixed_membership; /* hold every membership (where aspects are not held) */
  mc_smooth *smooth;     /* neighbouring rows are alike; NULL: they are not */
} ab_param;

typedef struct ab_work ab_work;

/*
 * Scratch for passes over data: O(k m) a strip of rows and one block of rows a thread. Components
 * are as many as in the prior.
 */
ab_work *ab_new_work(const mc_data *data, const ab_prior *prior, int n_threads,
                     const mc_host *host);

/*
 * One EM pass in the multiplicative form of eqs. (16)-(21), in the paper's
 * order: memberships, then aspects given the new memberships. With a prior:
 * one EM pass for the posterior mode. Costs 8 n m k flops in BLAS products and
 * half a division a cell, plus O(k) a nonzero; allocates nothing. Never lowers
 * the objective: log-likelihood, eq. (6), plus log-prior, plus what neighbours
 * add (engine/smooth.h). Rows and columns
 * with nothing observed, and components that explain no cell of a column, keep
 * their values.
 *
 * Returns the objective, in nats, of the parameters it was given: -Inf where
 * an observed cell is impossible, NaN where the host asked to stop.
 */
double ab_pass(const mc_data *data, ab_param *par, ab_work *work);

/*
 * The rows' half of ab_pass() alone, then one and zero point at the sums that ab_update_aspects()
 * takes. Returns the log-likelihood of the parameters it was given, NaN where the host asked to stop.
 */
double ab_em_rows(const mc_data *data, ab_param *par, ab_work *work, const double **one,
                  const double **zero);

/* The prior of its passes. */
const ab_prior *ab_work_prior(const ab_work *work);

/*
 * The E-step alone, for weights that need not be probabilities (par->absence given): counts (n x k)
 * is filled with the expected number of cells each component wrote in each row, one and zero point
 * at the sums that ab_update_aspects() takes. Returns the sum over observed cells of the log of
 * sum_c membership aspects (or absence), NaN where the host asked to stop.
 */
double ab_expect(const mc_data *data, ab_param *par, ab_work *work, double *counts,
                 const double **one, const double **zero);

/*
 * Eqs. (19)-(21): aspects from k x m sums over rows of membership / p at ones and of
 * membership / (1 - p) at zeros, and the prior's pseudo-counts.
 */
void ab_update_aspects(int m, ab_param *par, const ab_prior *prior, const double *one,
                       const double *zero);

/* What the host is told from here on, where passes are made elsewhere (aspect_bernoulli/newton.h). */
void ab_note_passes(ab_work *work, int passes, double objective);

/* The objective alone. Costs 2 n m k flops. */
double ab_objective(const mc_data *data, const ab_param *par, ab_work *work);

/* The log-likelihood alone, likewise. */
double ab_loglik(const mc_data *data, const ab_param *par, ab_work *work);

/* ab_pass() and its fellows as a model for mc_fit(); blocks: membership, then aspects. */
typedef struct {
  const mc_data *data;
  ab_param *par;
  ab_work *work;
} ab_self;

mc_model ab_model(ab_self *self);

/* Its rule for an extrapolated point, for models built on it; self is an ab_self. */
void ab_feasible(void *self, const double *const *safe);

/*
 * How far the objective is from its maximum, one block of parameters at a time
 * (both problems are concave; the joint one is not). With neighbours the first
 * is no bound any more, but still 0 at a stationary point only.
 */
typedef struct {
  double membership; /* upper bound of what better memberships could gain, aspects held, nats */
  double aspects;    /* the same for better aspects, memberships held */
  double worst;      /* largest over rows of max_c gradient / observed cells - 1; 0: optimal */
} ab_certificate;

ab_certificate ab_certify(const mc_data *data, const ab_param *par, ab_work *work);

#endif
