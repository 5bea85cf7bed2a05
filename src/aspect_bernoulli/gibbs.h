/*
 * aspect_bernoulli/gibbs.h: Gibbs sampling of the aspect Bernoulli model (aspect_bernoulli/em.h)
 * with its prior (aspect_bernoulli/prior.h), specified by its parameters, > 0. The causes of cells
 * are the augmented data: conditional on them memberships are Dirichlet and aspects Beta. Missing
 * cells have no cause.
 */
#ifndef MC_ASPECT_BERNOULLI_GIBBS_H
#define MC_ASPECT_BERNOULLI_GIBBS_H

#include "aspect_bernoulli/vb.h"

/* A state of the chain: the starting values on entry, the last draw on return. */
typedef struct {
  int k;
  double *membership; /* n x k, rows on the simplex, none below NUM_TINY */
  double *aspects;    /* k x m, within [NUM_TINY, 1 - 1e-16]; 0 or 1 where fixed */
  const int *fixed;   /* k: 0 free, -1 fixed at 0, 1 fixed at 1 */
} ab_gibbs_state;

typedef enum { AB_CONTENT = 0, AB_WHITE = 1, AB_BLACK = 2 } ab_kind;

typedef struct {
  int n_sweep;
  int thin;       /* every so many sweeps a draw is noted; 0: none */
  int keep_every; /* every so many draws the state is kept; 0: none */
  const double
      *reference;  /* k x m: labels of draws are those nearest to it; NULL: left as they are */
  const int *kind; /* k: an ab_kind each */
  int n_probe;
  const int *probe; /* 2 x n_probe: row and column of cells whose probability is noted, from 0 */
} ab_gibbs_plan;

/* Rows of a column of notes; probes follow. */
enum {
  AB_NOTE_JOINT,  /* log density of data, memberships and aspects */
  AB_NOTE_LIK,    /* log-likelihood */
  AB_NOTE_WHITE,  /* mean share of the white phantoms */
  AB_NOTE_BLACK,  /* of the black ones */
  AB_NOTE_MISSED, /* expected number of false absences */
  AB_NOTE_ADDED,  /* and of false presences */
  AB_NOTE_PROBE
};

/*
 * Sums over draws for each cell: probability and its square; with phantoms also missed, its square,
 * present and phantom (cell_scores() in R/aspect_bernoulli_cells.R; at presences, missed and
 * phantom are those of the black mirror).
 */
#define AB_GIBBS_PLAIN 2
#define AB_GIBBS_SCORES 6

typedef struct {
  double *note;       /* (AB_NOTE_PROBE + n_probe) x draws; grows, see mc_grow() */
  double *cell;       /* m x n_stat x n: added to; NULL: not wanted */
  int n_stat;         /* AB_GIBBS_PLAIN or AB_GIBBS_SCORES */
  double *membership; /* n x k x 2: sums of memberships and of their squares, added to */
  double *aspects;    /* k x m x 2 */
  double *kept_membership, *kept_aspects; /* n x k x kept, k x m x kept; grow */
  int room_note, room_membership, room_aspects;
  int n_done, n_draw, n_kept; /* results */
} ab_gibbs_record;

/*
 * Runs sweeps from a state. A sweep costs O(n m k) and a uniform number per observed cell, a
 * recorded draw as much again; memory is O((n + m) k). Random numbers through num/rng.h. Returns
 * MC_MAX_PASS, or MC_STOPPED if the host requested a stop. A stop may occur within a sweep or its
 * record; its draws so far are kept in the state but not recorded.
 */
mc_status ab_gibbs_run(const mc_data *data, const ab_prior *prior, const ab_gibbs_plan *plan,
                       ab_gibbs_state *state, const mc_host *host, ab_gibbs_record *record);

#endif
