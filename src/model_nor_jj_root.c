/*
 * model_nor_jj_root.c: roots for the links and the leak of a column. Each
 * slope of the bound falls and is convex in its parameter: Newton's steps from
 * the left rise to the root, and one from the right lands left of it.
 */
#include "model_nor_jj.h"

#include <math.h>

#define MOST_STEPS 200
#define NEAR_ENOUGH 1e-15

/* A slope of the bound and its derivative. */
typedef struct {
  double value, derivative;
} slope;

/* What a slope is evaluated for: source c of column j, or the leak (c < 0). */
typedef struct {
  const nor_variational *work;
  int j, c;
  double off; /* expected zeros with the source on; the leak's: zeros of the column */
  nor_beta beta;
} problem;

static void add_term(slope *sum, double scale, double y, double rate) {
  if (!(y < 700)) return;
  const double f = nor_log_on(y).slope;
  sum->value += scale * f;
  sum->derivative -= scale * rate * f * (1 + f); /* f'' = -f' (1 + f') */
}

/* Eq. (3.13): sum over ones of <s> f'(theta0 + theta / q), less zeros with the source on. */
static slope link_slope(const problem *p, double theta) {
  const nor_variational *work = p->work;
  const int k = work->par->k;
  slope sum = {-p->off - p->beta.zero, 0};
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
  slope sum = {-p->off - p->beta.zero, 0};
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

/* The root of a falling convex slope within [low, high], from a start inside. */
static double solve(slope (*at)(const problem *, double), const problem *p, double start,
                    double low, double high) {
  double theta = fmin(fmax(start, low), high);
  for (int step = 0; step < MOST_STEPS; step++) {
    const slope here = at(p, theta);
    if (!(here.derivative < 0)) break;
    double next = theta - here.value / here.derivative;
    if (next <= low) next = low > 0 ? low : theta / 16; /* short of the edge, which was ruled out */
    if (next > high) next = high;
    if (fabs(next - theta) <= NEAR_ENOUGH * theta) return next;
    theta = next;
  }
  return theta;
}

static void solve_link(nor_variational *work, int j, int c) {
  const ptrdiff_t at = num_at(c, j, work->par->k);
  const problem p = {work, j, c, work->off[at], work->set->links};
  double *theta = work->var->links + at;
  if (p.beta.one <= 0) { /* the shut-off rule: falling from 0 on */
    const slope edge = link_slope(&p, 0);
    if (edge.derivative >= 0 && p.off + p.beta.zero <= 0) return; /* nothing to learn from */
    if (edge.value <= 0) {
      *theta = 0;
      return;
    }
  }
  if (link_slope(&p, NOR_MOST_THETA).value >= 0)
    *theta = NOR_MOST_THETA;
  else
    *theta = solve(link_slope, &p, *theta, 0, NOR_MOST_THETA);
}

void nor_solve_column(nor_variational *work, int j) {
  const int k = work->par->k;
  double ones = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++)
    ones += nor_weight(work->set, work->column_row[e]);
  const double zeros = work->totals.seen[j] - ones;
  if (work->totals.seen[j] <= 0) return; /* a column with nothing observed */
  for (int l = 0; l < work->n_live[j]; l++) solve_link(work, j, work->live[num_at(l, j, k)]);
  const problem p = {work, j, -1, zeros, work->set->leak};
  double *leak = work->var->leak + j;
  if (leak_slope(&p, NOR_LEAST_LEAK).value <= 0)
    *leak = NOR_LEAST_LEAK;
  else if (leak_slope(&p, NOR_MOST_THETA).value >= 0)
    *leak = NOR_MOST_THETA;
  else
    *leak = solve(leak_slope, &p, *leak, NOR_LEAST_LEAK, NOR_MOST_THETA);
}
