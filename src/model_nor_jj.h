/* model_nor_jj.h: what the files of the variational form share. */
#ifndef MC_MODEL_NOR_JJ_H
#define MC_MODEL_NOR_JJ_H

#include "model_nor.h"
#include "num_rows.h"

#include <math.h>

#define NOR_LEAST_PRIOR 1e-10 /* log odds stay finite */

/* A thread's: the ones of a row with the live sources of each in turn; the terms of a root. */
typedef struct {
  int n_one;
  int *first;                               /* n_one + 1: the entries of each one */
  int *source;                              /* of each entry, */
  double *theta, *q, *leak, *leak_log, *on; /* its parameters and <s>, */
  double *y, *f, *slope;                    /* leak + theta / q, f and f' there */
  bool *moved;                              /* n_one: has q? */
  double *sum;                              /* k + 1 */
  double *scale, *offset, *rate;            /* of each term of a slope, */
  double *term_y, *term_slope;              /* its argument and f' there */
} nor_scratch;

struct nor_variational {
  const mc_data *data;
  nor_param *par;
  nor_theta *var;
  const nor_settings *set;
  nor_totals totals;
  num_strips strips, columns;
  int passes;         /* made so far, and */
  double objective;   /* the last one's: for the host's eyes */
  double *activation; /* k x n: <s> */
  double *bound;      /* n */
  double *all_off;    /* k + 1: theta summed over columns, last the leak's */
  int *n_live, *live; /* m, k x m: the sources with theta > 0 in each column */
  double *leak_log;   /* m: f(leak) */
  int *column_start;  /* m + 1: the ones of each column, as places in data->column, */
  int *column_place;  /*        and their rows */
  int *column_row;
  double *off; /* k x m: expected zeros with the source on; the activations' sum over them */
  nor_scratch *scratch; /* of each thread */
  bool move_q;          /* of the walk at hand */
};

/*
 * f(y) = log(1 - exp(-y)) and f'(y) = 1 / (exp(y) - 1), y > 0. Absolute
 * precision is enough for f: it is only ever added to numbers near 1.
 */
typedef struct {
  double f, slope;
} nor_f;

static inline nor_f nor_log_on(double y) {
  const double e = exp(-y);
  const double on = e > 0.5 ? -expm1(-y) : 1 - e;
  return (nor_f){log(on), e / on};
}

static inline double nor_on_slope(double y) {
  const double e = exp(-y);
  return e / (e > 0.5 ? -expm1(-y) : 1 - e);
}

void nor_new_scratch(const nor_variational *work, nor_scratch *s);

/* For num_visit(): E-step and steps of q of b rows. */
void nor_jj_rows(void *self, int strip, int thread, int first, int b);

/* Roots of eqs. (3.13), (3.14): links of column j given its old leak, then the leak. */
void nor_solve_column(nor_variational *work, int j);

#endif
