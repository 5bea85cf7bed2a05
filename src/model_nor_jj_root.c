/*
 * model_nor_jj_root.c: roots for the links and the leak of a column. The ones'
 * part of a slope of the bound falls and is log-convex in its parameter (f' is,
 * and sums of such are); it must equal the number of zeros. Newton's steps for
 * its logarithm rise to the root from the left, and one from the right lands
 * left of it; the logarithm is nearly straight, so a few are enough.
 */
#include "model_nor_jj.h"

#include <math.h>

#define MOST_STEPS 200
#define NEAR_ENOUGH 1e-9 /* a relative step whose square is below rounding */

/* The ones' part of a slope of the bound, and its derivative. */
typedef struct {
  double value, derivative;
} slope;

/* What a slope is evaluated for: source c of column j, or the leak (c < 0). */
typedef struct {
  const nor_variational *work;
  int j, c;
  double zeros; /* expected, with the source on; the leak's: of the column; with the prior's */
  nor_beta beta;
} problem;

static void add_term(slope *sum, double scale, double y, double rate) {
  if (!(y < 700)) return;
  const double f = nor_on_slope(y);
  sum->value += scale * f;
  sum->derivative -= scale * rate * f * (1 + f); /* f'' = -f' (1 + f') */
}

/* Eq. (3.13): sum over ones of <s> f'(theta0 + theta / q). */
static slope link_slope(const problem *p, double theta) {
  const nor_variational *work = p->work;
  const int k = work->par->k;
  slope sum = {0, 0};
  for (int e = work->column_start[p->j]; e < work->column_start[p->j + 1]; e++) {
    const double q = work->var->q[num_at(p->c, work->column_place[e], k)];
    const int i = work->column_row[e];
    const double on = work->activation[num_at(p->c, i, k)] * nor_weight(work->set, i);
    if (q > 0 && on > 0) add_term(&sum, on, work->var->leak[p->j] + theta / q, 1 / q);
  }
  if (p->beta.one > 0 && theta > 0) add_term(&sum, p->beta.one, theta, 1);
  return sum;
}

/* Eq. (3.14), simplified by sum_c q_c = 1. */
static slope leak_slope(const problem *p, double theta) {
  const nor_variational *work = p->work;
  const int k = work->par->k, n_live = work->n_live[p->j];
  const int *live = work->live + num_at(0, p->j, k);
  slope sum = {0, 0};
  double bare = p->beta.one;
  for (int e = work->column_start[p->j]; e < work->column_start[p->j + 1]; e++) {
    const double *q = work->var->q + num_at(0, work->column_place[e], k);
    const int i = work->column_row[e];
    const double weight = nor_weight(work->set, i);
    double rest = 1;
    for (int l = 0; l < n_live; l++) {
      const int c = live[l];
      const double on = work->activation[num_at(c, i, k)] * q[c];
      const double link = work->var->links[num_at(c, p->j, k)];
      if (on <= 0 || link <= 0) continue;
      rest -= on;
      add_term(&sum, weight * on, theta + link / q[c], 1);
    }
    bare += weight * fmax(rest, 0);
  }
  if (bare > 0) add_term(&sum, bare, theta, 1);
  return sum;
}

/* Where the ones' part equals the zeros, within [low, high], from a start inside. */
static double solve(slope (*at)(const problem *, double), const problem *p, double start,
                    double low, double high) {
  const double target = log(p->zeros);
  double theta = fmin(fmax(start, low), high);
  for (int step = 0; step < MOST_STEPS; step++) {
    const slope here = at(p, theta);
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

/* Expected ones of the column in whose explanation the source has a part. */
static double ones_on(const nor_variational *work, int j, int c) {
  const int k = work->par->k;
  double sum = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++) {
    const int i = work->column_row[e];
    if (work->var->q[num_at(c, work->column_place[e], k)] > 0)
      sum += work->activation[num_at(c, i, k)] * nor_weight(work->set, i);
  }
  return sum;
}

static void solve_link(nor_variational *work, int j, int c) {
  const ptrdiff_t at = num_at(c, j, work->par->k);
  const nor_beta beta = work->set->links;
  const problem p = {work, j, c, work->off[at] + beta.zero, beta};
  const double ones = ones_on(work, j, c);
  double *theta = work->var->links + at;
  if (beta.one <= 0) {
    if (ones <= 0 && p.zeros <= 0) return; /* nothing to learn from */
    /* The shut-off rule: the slope falls from 0 on. */
    if (ones * nor_on_slope(work->var->leak[j]) <= p.zeros) {
      *theta = 0;
      return;
    }
  }
  /* f' is below 1e-13 at the upper end: the root lies beyond it only without zeros. */
  if (p.zeros <= 1e-13 * (ones + beta.one) && link_slope(&p, NOR_MOST_THETA).value >= p.zeros)
    *theta = NOR_MOST_THETA;
  else
    *theta = solve(link_slope, &p, *theta, 0, NOR_MOST_THETA);
}

void nor_solve_column(nor_variational *work, int j) {
  const int k = work->par->k;
  double ones = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++)
    ones += nor_weight(work->set, work->column_row[e]);
  if (work->totals.seen[j] <= 0) return; /* a column with nothing observed */
  for (int l = 0; l < work->n_live[j]; l++) solve_link(work, j, work->live[num_at(l, j, k)]);
  const nor_beta beta = work->set->leak;
  const problem p = {work, j, -1, work->totals.seen[j] - ones + beta.zero, beta};
  double *leak = work->var->leak + j;
  if (leak_slope(&p, NOR_LEAST_LEAK).value <= p.zeros)
    *leak = NOR_LEAST_LEAK;
  else if (leak_slope(&p, NOR_MOST_THETA).value >= p.zeros)
    *leak = NOR_MOST_THETA;
  else
    *leak = solve(leak_slope, &p, *leak, NOR_LEAST_LEAK, NOR_MOST_THETA);
}
