/* aspect_bernoulli/private.h: shared by the files of the sampler. */
#ifndef MC_ASPECT_BERNOULLI_PRIVATE_H
#define MC_ASPECT_BERNOULLI_PRIVATE_H

#include "aspect_bernoulli/gibbs.h"
#include "num/rng.h"

typedef struct {
  const mc_data *data;
  ab_prior prior;
  ab_gibbs_state *state;
  const mc_host *host;
  int n_sweep;               /* whole sweeps, for the host */
  double *present, *absence; /* m x (k + 1): weights of causes for ones and zeros, before shares */
  double *one, *zero;        /* m x (k + 1): ones by cause, zeros by cause or later */
  double *sum;               /* m x (k + 1): running sums of a row's weights for zeros */
  double *counts, *share;    /* k + 1: of the current row */
  double *zeros;             /* m: observed zeros of each column */
  double *uniform;           /* m */
  num_stream stream;         /* of the current half sweep */
  int *one_cause;            /* m: of the row's ones, in order */
} ab_gibbs_work;

/* Record of draws. */
typedef struct ab_gibbs_notes ab_gibbs_notes;

ab_gibbs_notes *ab_gibbs_new_notes(ab_gibbs_work *work, const ab_gibbs_plan *plan,
                                   const mc_host *host);

#define AB_ASK_CELLS 100000

/* Asks the host within sweeps and records too, because those of large tables take long. */
static inline bool ab_gibbs_stop(const ab_gibbs_work *work, int i) {
  return i % (1 + AB_ASK_CELLS / (work->data->m + 1)) == 0 && mc_stop(work->host, work->n_sweep, 0);
}

/*
 * Labels the state as the plan requests and adds it to the record; returns false, without adding
 * it, if the host requested a stop. The host is not asked if sums over cells are recorded, because
 * they would cover only a part of the rows.
 */
bool ab_gibbs_note(ab_gibbs_notes *notes, ab_gibbs_record *record);

#endif
