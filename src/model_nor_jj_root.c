/*
 * model_nor_jj_root.c: roots for the links and the leak of a column. The ones'
 * part of a slope of the bound falls and is log-convex in its parameter (f' is,
 * and sums of such are); it must equal the number of zeros. Newton's steps for
 * its logarithm rise to the root from the left, and one from the right lands
 * left of it; the logarithm is nearly straight, so a few are enough.
 */
#include "model_nor_jj.h"

#include <math.h>

#include "num_log_on.h"

#define FURTHEST 700.      /* f' is nothing beyond */
#define LEAST_SHARE 1e-100 /* f' is nothing at theta / q, and 1 / q stays finite */
#define MOST_STEPS 200
#define NEAR_ENOUGH 1e-9 /* a relative step whose square is below rounding */

/* The ones' part of a slope of the bound, and its derivative. */
typedef struct {
  double value, derivative;
} slope;

/* The ones' part: the sum of scale f'(offset + rate theta) over n terms, and of the prior. */
typedef struct {
  nor_scratch *s;
  int n;
  double zeros; /* expected, with the source on; the leak's: of the column; with the prior's */
} problem;

static void add_term(problem *p, double scale, double offset, double rate) {
  nor_scratch *s = p->s;
  s->scale[p->n] = scale;
  s->offset[p->n] = offset;
  s->rate[p->n++] = rate;
}

NUM_HOT static void arguments(const nor_scratch *s, double theta, double *y, int n) {
  const double *offset = s->offset, *rate = s->rate;
#pragma omp simd
  for (int t = 0; t < n; t++) {
    const double at = offset[t] + rate[t] * theta;
    y[t] = at < FURTHEST ? at : FURTHEST;
  }
}

/* f'' = -f' (1 + f'). */
static slope slope_at(const problem *p, double theta) {
  nor_scratch *s = p->s;
  double *y = s->term_y, *f = s->term_slope;
  slope sum = {0, 0};
  arguments(s, theta, y, p->n);
  num_on_slope(y, f, p->n);
  for (int t = 0; t < p->n; t++) {
    const double part = s->scale[t] * f[t];
    sum.value += part;
    sum.derivative -= s->rate[t] * part * (1 + f[t]);
  }
  return sum;
}

/* Eq. (3.13): sum over ones of <s> f'(theta0 + theta / q). Returns those that have a part in it. */
static double pose_link(const nor_variational *work, int j, int c, problem *p) {
  const int k = work->par->k;
  double ones = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++) {
    const double q = work->var->q[num_at(c, work->column_place[e], k)];
    const int i = work->column_row[e];
    const double on = work->activation[num_at(c, i, k)] * nor_weight(work->set, i);
    if (!(q > 0)) continue;
    ones += on;
    if (on > 0 && q > LEAST_SHARE) add_term(p, on, work->var->leak[j], 1 / q);
  }
  if (work->set->links.one > 0) add_term(p, work->set->links.one, 0, 1);
  return ones;
}

/* Eq. (3.14), simplified by sum_c q_c = 1. */
static void pose_leak(const nor_variational *work, int j, problem *p) {
  const int k = work->par->k, n_live = work->n_live[j];
  const int *live = work->live + num_at(0, j, k);
  double bare = work->set->leak.one;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++) {
    const double *q = work->var->q + num_at(0, work->column_place[e], k);
    const int i = work->column_row[e];
    const double weight = nor_weight(work->set, i);
    double rest = 1;
    for (int l = 0; l < n_live; l++) {
      const int c = live[l];
      const double on = work->activation[num_at(c, i, k)] * q[c];
      const double link = work->var->links[num_at(c, j, k)];
      if (on <= 0 || link <= 0) continue;
      rest -= on;
      add_term(p, weight * on, link / q[c], 1);
    }
    bare += weight * fmax(rest, 0);
  }
  if (bare > 0) add_term(p, bare, 0, 1);
}

/* Where the ones' part equals the zeros, within [low, high], from a start inside. */
static double solve(const problem *p, double start, double low, double high) {
  const double target = log(p->zeros);
  double theta = fmin(fmax(start, low), high);
  for (int step = 0; step < MOST_STEPS; step++) {
    const slope here = slope_at(p, theta);
    double next = low; /* so far right that nothing is left of the ones' part */
    if (here.derivative < 0)
      next = theta + (log(here.value) - target) * here.value / -here.derivative;
    if (next <= low) next = low > 0 ? low : theta / 16; /* short of the edge, which was ruled out */
    if (next > high) next = high;
    if (fabs(next - theta) <= NEAR_ENOUGH * theta) return next;
    theta = next;
  }
  return theta;
}

static void solve_link(nor_variational *work, int j, int c, problem *p) {
  const ptrdiff_t at = num_at(c, j, work->par->k);
  const nor_beta beta = work->set->links;
  double *theta = work->var->links + at;
  p->n = 0;
  p->zeros = work->off[at] + beta.zero;
  const double ones = pose_link(work, j, c, p);
  if (beta.one <= 0) {
    if (ones <= 0 && p->zeros <= 0) return; /* nothing to learn from */
    /* The shut-off rule: the slope falls from 0 on. */
    if (ones * nor_on_slope(work->var->leak[j]) <= p->zeros) {
      *theta = 0;
      return;
    }
  }
  /* f' is below 1e-13 at the upper end: the root lies beyond it only without zeros. */
  if (p->zeros <= 1e-13 * (ones + beta.one) && slope_at(p, NOR_MOST_THETA).value >= p->zeros)
    *theta = NOR_MOST_THETA;
  else
    *theta = solve(p, *theta, 0, NOR_MOST_THETA);
}

void nor_solve_column(nor_variational *work, int j) {
  const int k = work->par->k;
  problem p = {.s = work->scratch + num_thread()};
  double ones = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++)
    ones += nor_weight(work->set, work->column_row[e]);
  if (work->totals.seen[j] <= 0) return; /* a column with nothing observed */
  for (int l = 0; l < work->n_live[j]; l++) solve_link(work, j, work->live[num_at(l, j, k)], &p);
  p.n = 0;
  p.zeros = work->totals.seen[j] - ones + work->set->leak.zero;
  pose_leak(work, j, &p);
  double *leak = work->var->leak + j;
  if (slope_at(&p, NOR_LEAST_LEAK).value <= p.zeros)
    *leak = NOR_LEAST_LEAK;
  else if (slope_at(&p, NOR_MOST_THETA).value >= p.zeros)
    *leak = NOR_MOST_THETA;
  else
    *leak = solve(&p, *leak, NOR_LEAST_LEAK, NOR_MOST_THETA);
}
