/*
 * visits_occupancy/em.h: coefficients by taxon, drawn to their common mean (Dorazio & Royle 2005,
 * doi:10.1198/016214505000000015), by empirical Bayes:
 *   (4)  theta[e,j] ~ N(center[e], spread[e]^2),
 *   (5)  center[e] ~ N(0, center_sd[e]^2), the density of spread[e]^2 is that of inverse Gamma(1/2,
 *        spread_prior[e] / 2), as one taxon more with that square would show it, times
 *        exp(-spread[e]^2 / (2 spread_sd[e]^2)), without which taxa that a covariate tells apart
 *        entirely let it grow without bound.
 * The taxa are integrated by Laplace's approximation about their modes.
 */
#ifndef MC_VISITS_OCCUPANCY_EM_H
#define MC_VISITS_OCCUPANCY_EM_H

#include "engine/fit.h"
#include "visits_occupancy/taxon.h"

typedef struct {
  double *theta;  /* size x m */
  double *center; /* size */
  double *spread; /* size, > 0 */
} occ_param;

typedef struct {
  const double *center_sd;    /* size */
  const double *spread_prior; /* size */
  const double *spread_sd;    /* size */
} occ_prior;

typedef struct occ_work occ_work;

occ_work *occ_new_work(const occ_data *data, const mc_host *host);

/*
 * Moves theta[, j] to its mode given center and spread, by Newton's method; returns its
 * log-likelihood there. precision (size x size, NULL: not wanted) becomes minus the second
 * derivatives of the log-posterior, made definite where they are not. laplace (NULL: not wanted):
 * the log-likelihood, theta integrated.
 */
double occ_mode(const occ_data *data, const occ_param *par, int j, double *precision,
                double *laplace, occ_work *work);

/* As a model for mc_fit(): a pass is the modes of all taxa, then center and spread. */
typedef struct {
  const occ_data *data;
  occ_param *par;
  const occ_prior *prior;
  occ_work *work;
} occ_self;

mc_model occ_model(occ_self *self);

#endif
