/*
 * visits_occupancy/sample.h: draws from the posterior of eqs. (3) to (5), with presences and
 * effects of site and taxon summed out. A sweep moves the coefficients of each taxon by two
 * Metropolis-Hastings steps: a random walk with the posterior's shape at its mode, and an
 * independent proposal from Student's t about that mode. It then draws center and spread
 * conditional on the coefficients.
 */
#ifndef MC_VISITS_OCCUPANCY_SAMPLE_H
#define MC_VISITS_OCCUPANCY_SAMPLE_H

#include "visits_occupancy/em.h"

typedef struct {
  int n_sweep, thin;   /* a draw is kept after every `thin` sweeps */
  const double *mode;  /* size x m */
  const double *shape; /* size x size x m: precision about the mode */
} occ_plan;

typedef struct {
  double *theta;           /* size x m x draws */
  double *center, *spread; /* size x draws */
  int n_draw;
  double accepted[2]; /* acceptance rates of the two moves */
} occ_record;

/* Draws through num/rng.h. Returns MC_MAX_PASS or MC_STOPPED; par holds the last state. */
mc_status occ_sample(const occ_data *data, occ_param *par, const occ_prior *prior,
                     const occ_plan *plan, const mc_host *host, occ_record *record);

#endif
