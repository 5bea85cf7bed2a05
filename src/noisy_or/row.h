/*
 * noisy_or/row.h: the likelihood of one observation under single states of the sources. Only the
 * ones of a row are scanned: its zeros enter through sums computed once for all rows, corrected at
 * its ones and missing cells, so sparse data stay sparse. With recording its zeros are scanned as
 * well, after the ones.
 */
#ifndef MC_NOISY_OR_ROW_H
#define MC_NOISY_OR_ROW_H

#include "noisy_or/noisy_or.h"

#include <stdint.h>

/* A state is a set of sources: bit c of its words, source 1 as the lowest. */
#define NOR_WORD 64
static inline int nor_words(int k) { return (k + NOR_WORD - 1) / NOR_WORD; }
static inline bool nor_is_on(const uint64_t *state, int c) {
  return state[c / NOR_WORD] >> (c % NOR_WORD) & 1;
}
static inline void nor_flip(uint64_t *state, int c) {
  state[c / NOR_WORD] ^= UINT64_C(1) << (c % NOR_WORD);
}

/* Sums over columns at the parameters of the last nor_ready_rows(). */
typedef struct {
  const mc_data *data;
  const nor_param *par;
  const nor_settings *set;
  double *log_off;        /* (k + 1) x m: log(1 - link), last the leak's; 0 where that is 1 */
  double *all_off, *hard; /* k + 1: its sum over columns, and how many links there are 1 */
  double *prior_odds;     /* k: log odds */
  double prior_off;       /* log P(no source is on) */
} nor_ready;

nor_ready nor_new_ready(const mc_data *data, const nor_param *par, const nor_settings *set);
void nor_ready_rows(nor_ready *ready);

/* A row: log P(x, state) = base + sum over its sources of bonus + log P(cells scanned | state). */
typedef struct {
  int n_one, n_cell, k;   /* n_cell: cells scanned, the ones first */
  const int *column;      /* n_cell */
  double *link;           /* n_cell x k: links there */
  double *leak;           /* n_cell */
  const nor_param *par;   /* with recording; else NULL, and so are */
  int *cells;             /* m: the columns scanned */
  bool *other;            /* m: is no zero */
  double *recorded;       /* NOR_GRID x n_cell: q of eq. (R16), rho of one visit */
  double found[NOR_GRID]; /* log of share and of the ones' records */
  double *bonus;          /* k: log odds of the prior, and the source's share of the row's zeros */
  double base;
  uint64_t
      *on; /* the sources known to be on; NULL: none is. What is known to be off has no bonus */
} nor_row;

nor_row nor_new_row(const nor_ready *ready, const mc_host *host);
void nor_take_row(const nor_ready *ready, int i, nor_row *row);

/* log P(x, state); one and zero (n_cell) get P(y = 1|state) and P(y = 0|state). -Inf: impossible. */
double nor_state_log(const nor_row *row, const uint64_t *state, double *one, double *zero);

/* log P(cells scanned | state) from P(y = 1|state) there; with recording also with each grid point. */
double nor_cells_log(const nor_row *row, const double *one);
void nor_grid_logs(const nor_row *row, const double *one, double *logs);

/* Sum of logs of n probabilities. */
double nor_sum_log(const double *x, int n);

#endif
