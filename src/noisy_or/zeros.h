/*
 * noisy_or/zeros.h: the zeros of a row in variational inference with recording, eqs. (R9) to (R14)
 * of noisy_or/noisy_or.h: their bound for each probability of recording, and their sums for the
 * M-step.
 */
#ifndef MC_NOISY_OR_ZEROS_H
#define MC_NOISY_OR_ZEROS_H

#include "noisy_or/noisy_or.h"

/* Quantities of all rows, at the parameters of the last nor_ready_zeros(). */
typedef struct {
  const mc_data *data;
  const nor_param *par;
  const nor_theta *var;
  const nor_settings *set;
  double *theta;         /* m x k: of the links */
  double *alone, *slope; /* m x k x NOR_GRID: h and -h' where one source is on */
} nor_zeros;

/* Scratch of a thread for the current row; m doubles except where noted. */
typedef struct {
  double *is_zero;         /* 1 or 0 */
  double *point;           /* t of eq. (R11), */
  double *small, *big;     /*   and its sums over sources with links up to t, and above */
  double *height, *steep;  /* h and -h' there */
  double *slope;           /* k: what the zeros add to the log odds of the sources */
  double *on;              /* k x NOR_GRID: <z> given each probability of recording, */
  double weight[NOR_GRID]; /*   and their posterior */
} nor_zero_row;

nor_zeros nor_new_zeros(const mc_data *data, const nor_param *par, const nor_theta *var,
                        const nor_settings *set);
nor_zero_row nor_new_zero_row(const nor_zeros *zeros, const mc_host *host);
void nor_ready_zeros(nor_zeros *zeros);

/*
 * E-step of row i, from its <z> given each probability, var->on, which is updated if keep. odds: k,
 * log odds of the sources without the zeros; off: sum over sources of log P(off). Stores <z> over
 * all probabilities in activation; returns the row's bound, without f(theta0) at its ones.
 */
double nor_activate_recorded(const nor_zeros *zeros, int i, const double *odds, double off,
                             bool keep, nor_zero_row *row, double *activation);

/*
 * Adds that row's terms of eqs. (R12) to (R14), `times` times, to sums, immediately after its
 * E-step: expected zeros that would have been recorded, with each source on (fired, here m x k),
 * and in total (leak_fired); share; and those of taxon, as if every cell were a presence.
 */
void nor_count_zeros(const nor_zeros *zeros, int i, double times, nor_zero_row *row,
                     nor_sums *sums);

#endif
