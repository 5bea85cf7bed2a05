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

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;                 /* components */
  double *membership;    /* n x k, rows on the simplex */
  double *aspects;       /* k x m, within [0, 1]; exact 0 and 1 never move */
  const double *absence; /* k x m, replaces 1 - aspects; NULL: 1 - aspects */
  const int *fixed;      /* k: nonzero if an aspect is fixed (a fixed phantom) */
  bool fixed_aspects;    /* fixes all aspects: fold-in, a concave problem in membership */
  bool fixed_membership; /* fixes all memberships (if aspects are not fixed) */
  mc_smooth *smooth;     /* shrinks neighbouring rows towards each other; NULL: not */
} ab_param;

typedef struct ab_work ab_work;

/*
 * Scratch for iterations over data: O(k m) a strip of rows and one block of rows a thread. Components
 * are as many as in the prior.
 */
ab_work *ab_new_work(const mc_data *data, const ab_prior *prior, int n_threads,
                     const mc_host *host);

/*
 * One EM iteration in the multiplicative form of eqs. (16)-(21), in the paper's order: memberships,
 * then aspects given the new memberships; with a prior, for the posterior mode. Costs 8 n m k flops
 * in BLAS products and half a division per cell, plus O(k) per nonzero; allocates nothing. Never
 * decreases the objective: log-likelihood, eq. (6), plus log-prior, plus the terms of neighbours
 * (engine/smooth.h). Rows and columns without observed cells, and components that explain no cell
 * of a column, are unchanged.
 *
 * Returns the objective, in nats, at the supplied parameters: -Inf if an observed cell is
 * impossible, NaN if the host requested a stop.
 */
double ab_pass(const mc_data *data, ab_param *par, ab_work *work);

/*
 * The rows' part of ab_pass(); one and zero then point to the sums for ab_update_aspects(). Returns
 * the log-likelihood at the supplied parameters, NaN if the host requested a stop.
 */
double ab_em_rows(const mc_data *data, ab_param *par, ab_work *work, const double **one,
                  const double **zero);

/* The prior used by its iterations. */
const ab_prior *ab_work_prior(const ab_work *work);

/*
 * The E-step for weights that need not be probabilities (par->absence supplied): computes counts (n
 * x k), the expected number of cells of each component in each row; one and zero point to the sums
 * for ab_update_aspects(). Returns the sum over observed cells of the log of sum_c membership
 * aspects (or absence), NaN if the host requested a stop.
 */
double ab_expect(const mc_data *data, ab_param *par, ab_work *work, double *counts,
                 const double **one, const double **zero);

/*
 * Eqs. (19)-(21): aspects from k x m sums over rows of membership / p at ones and of
 * membership / (1 - p) at zeros, and the prior's pseudo-counts.
 */
void ab_update_aspects(int m, ab_param *par, const ab_prior *prior, const double *one,
                       const double *zero);

/*
 * Whether iterations and objectives do not visit zeros (aspect_bernoulli/line.h). Then ab_model() climbs what stands for
 * the objective, and the objective itself from where the rule of mc_fit() is met.
 */
void ab_take_line(ab_work *work, bool by_line);

/* m numbers if they do not, else NULL. */
const double *ab_line_caps(const ab_work *work);

/* What the host is told from here on, where iterations are made elsewhere (aspect_bernoulli/newton.h). */
void ab_note_iterations(ab_work *work, int iterations, double objective);

/* Computes only the objective. Costs 2 n m k flops. */
double ab_objective(const mc_data *data, const ab_param *par, ab_work *work);

/* Computes only the log-likelihood, at the same cost. */
double ab_loglik(const mc_data *data, const ab_param *par, ab_work *work);

/* The model for mc_fit(); blocks: membership, then aspects. */
typedef struct {
  const mc_data *data;
  ab_param *par;
  ab_work *work;
} ab_self;

mc_model ab_model(ab_self *self);

/* Its feasible() function, for models built on it; self is an ab_self. */
void ab_feasible(void *self, const double *const *safe);

/*
 * Bounds of the objective's distance from its maximum, for one block of parameters at a time (both
 * problems are concave; the joint one is not). With neighbours the first is no longer a bound, but
 * still 0 only at a stationary point.
 */
typedef struct {
  double membership; /* upper bound of the gain from better memberships with fixed aspects, nats */
  double aspects;    /* the same for better aspects with fixed memberships */
  double worst;      /* largest over rows of max_c gradient / observed cells - 1; 0: optimal */
} ab_certificate;

ab_certificate ab_certify(const mc_data *data, const ab_param *par, ab_work *work);

#endif
