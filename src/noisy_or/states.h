/*
 * noisy_or/states.h: all 2^k states of the sources, source 1 as the lowest bit; with recording,
 * these for each grid point in turn.
 */
#ifndef MC_NOISY_OR_STATES_H
#define MC_NOISY_OR_STATES_H

#include "noisy_or/noisy_or.h"
#include "num/blocks.h"

/* Represents log(0) in products; sums below NOR_IMPOSSIBLE are log(0) again. */
#define NOR_LOG_ZERO (-1e100)
#define NOR_IMPOSSIBLE (-5e99)

/*
 * Computes P(x_j = 1 | s) and P(x_j = 0 | s) of column j by doubling: every step adds positive
 * terms, so both keep their relative precision. With recording, of y_j: 2^k numbers.
 */
void nor_column_states(const nor_param *par, int j, double *one, double *zero);

/* Adds to `on` the sums of x over the states in which each source is on; overwrites x. */
void nor_fold(double *x, int k, double scale, double *on);

/*
 * Log-probabilities of rows under every state: base + sum over ones of odds, corrected at missing
 * cells and in hard columns, whose P(x_j = 0 | s) may be exactly 0 and which base and odds
 * therefore exclude.
 */
typedef struct {
  int k, m, n_state; /* n_state: 2^k, times grid points */
  double *odds;      /* n_state x m: log(P(1|s) / P(0|s)); hard columns: log P(1|s) */
  double *off;       /* n_state x m, with recording: log P(0|s); else NULL */
  double *base;      /* n_state */
  bool *hard;        /* m: a link or the leak is 1 */
  bool any_hard;
} nor_tables;

nor_tables nor_new_tables(const nor_param *par, int m, const mc_host *host);
/*
 * columns: strips of tab->m columns; scratch: n_state doubles per thread; pass and objective are
 * reported to the host. Returns false if it requested a stop.
 */
bool nor_fill_tables(nor_tables *tab, const nor_param *par, const num_strips *columns,
                     double *const *scratch, const mc_host *host, int pass, double objective);

/* Returns whether a block of rows has so few ones that sums over them are faster than matrix products. */
bool nor_few_ones(const nor_tables *tab, const mc_data *data, int first, int b);

/*
 * Computes logs (n_state x b) of rows first .. first + b - 1. Unless ones are few, cells ((m + 1) x
 * b) gets their ones as 0/1 and a last row of 1; scratch holds n_state doubles.
 */
void nor_block_logs(const nor_tables *tab, const mc_data *data, const nor_param *par, int first,
                    int b, double *cells, double *logs, double *scratch);

/* Adds the terms of a single row: its probabilities of the grid points, with effort, and its known
 * sources, which exclude all other states. */
void nor_row_states(const nor_settings *set, const nor_param *par, int i, double *logs);

/*
 * Replaces n logs by exp(log - top) and returns log(sum(exp(log))), -Inf if all are impossible;
 * *sum is the sum of the new values.
 */
double nor_take_exp(double *x, int n, double *sum);

#endif
