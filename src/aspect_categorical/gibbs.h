/*
 * aspect_categorical/gibbs.h: Gibbs sampling of the aspect model of several values
 * (aspect_categorical/em.h) with its Dirichlet priors. The components of observed cells are the
 * augmented data: conditional on them memberships and profiles are Dirichlet.
 */
#ifndef MC_ASPECT_CATEGORICAL_GIBBS_H
#define MC_ASPECT_CATEGORICAL_GIBBS_H

#include "aspect_categorical/em.h"

typedef struct {
  int n_sweep;
  int thin;       /* every so many sweeps a draw is noted; 0: none */
  int keep_every; /* every so many draws the state is kept; 0: none */
  int n_probe;
  const int *probe; /* 2 x n_probe: row and column of cells whose P(value > 0) is noted, from 0 */
} ac_gibbs_plan;

/* Rows of a column of notes; probes follow. */
enum {
  AC_NOTE_JOINT, /* log density of data, memberships and profiles, up to a constant */
  AC_NOTE_LIK,   /* log-likelihood */
  AC_NOTE_PROBE
};

typedef struct {
  double *note;       /* (AC_NOTE_PROBE + n_probe) x draws; grows, see mc_grow() */
  double *membership; /* n x k x 2: sums of memberships and of their squares, added to */
  double *profiles;   /* k x m x n_value x 2 */
  double *kept_membership, *kept_profiles; /* one state after another; grow */
  int room_note, room_membership, room_profiles;
  int n_done, n_draw, n_kept; /* results */
} ac_gibbs_record;

/*
 * Runs sweeps from a state, state->fixed_profiles being ignored. A sweep costs O(k) and two uniform
 * numbers an observed cell, and (n + m n_value) k Gammas; memory is O((n + m n_value) k). Random
 * numbers through num/rng.h. Returns MC_MAX_PASS, or MC_STOPPED if the host requested a stop. A
 * stop may occur within a sweep; its draws so far are kept in the state but not recorded.
 */
mc_status ac_gibbs_run(const mc_data *data, const ac_prior *prior, const ac_gibbs_plan *plan,
                       ac_param *state, const mc_host *host, ac_gibbs_record *record);

#endif
