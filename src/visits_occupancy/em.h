/*
 * visits_occupancy/em.h: coefficients by taxon, shrunk towards their common mean (Dorazio & Royle
 * 2005, doi:10.1198/016214505000000015), by empirical Bayes:
 *   (4)  theta[e,j] ~ N(center[e], spread[e]^2),
 *   (5)  center[e] ~ N(0, center_sd[e]^2), spread[e]^2 has the density of an inverse Gamma(1/2,
 *        spread_prior[e] / 2), equivalent to one more taxon with that square, times
 *        exp(-spread[e]^2 / (2 spread_sd[e]^2)), without which complete separation of taxa by a
 *        covariate would let it grow without bound.
 * The taxa are integrated out by Laplace's approximation at their modes.
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
 * Moves theta[, j] to its mode conditional on center and spread, by Newton's method; returns the
 * log-likelihood there. precision (size x size; NULL: not requested) becomes minus the second
 * derivatives of the log-posterior, made definite if necessary. laplace (NULL: not requested): the
 * log-likelihood with theta integrated out.
 */
double occ_mode(const occ_data *data, const occ_param *par, int j, double *precision,
                double *laplace, occ_work *work);

/* The model for mc_fit(); an iteration computes the modes of all taxa, then center and spread. */
typedef struct {
  const occ_data *data;
  occ_param *par;
  const occ_prior *prior;
  occ_work *work;
} occ_self;

mc_model occ_model(occ_self *self);

#endif
