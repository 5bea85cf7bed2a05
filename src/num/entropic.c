/*
 * num/entropic.c: the entropic M-step of num/simplex.h. With a = counts / beta, a stationary point
 * has a[i] / theta[i] + log theta[i] = c for all i. For beta > 0 a local maximum has every theta[i]
 * <= a[i] (branch W_{-1}), possibly except theta[j] of the largest count. t = theta[j] parametrises
 * both cases: the maxima are the upward zero crossings of
 *   R(t) = t + sum_{i != j} theta[i](c(t)) - 1,   c(t) = a[j] / t + log t.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "num/entropic.h"
#include "num/lambert.h"
#include "num/simplex.h"

#define MAX_STEP 200
#define NO_ROOT (-1.0)
#define NEGLIGIBLE 1e-20 /* beta / sum of counts below which the plain M-step is exact */
#define FAR_APART 1e10   /* ratio of counts beyond which its log is a difference of logs */

typedef struct {
  const double *counts;
  double *gap;           /* log(largest count / count) */
  int n, j;              /* j: the first largest count */
  double beta, a, log_a; /* a = counts[j] / beta */
} problem;

/* Computes theta at t (into theta unless NULL) and returns R(t), with its derivative in slope. */
static double evaluate(const problem *p, double t, double *theta, double *slope) {
  const double y = p->a / t, base = num_excess(y, p->log_a - log(t)), turn = (y - 1) / t;
  double sum = t - 1, rise = 1;
  if (theta) theta[p->j] = t;
  for (int i = 0; i < p->n; i++) {
    double value = 0;
    if (i == p->j) continue;
    if (p->counts[i] > 0 && p->gap[i] <= 0 && t <= p->a) { /* a tie on the same branch */
      value = t;
      rise += 1;
    } else if (p->counts[i] > 0) {
      const double a = p->counts[i] / p->beta, u = num_lambert_lower(base + p->gap[i]);
      value = a / u;
      if (u > 1) rise += turn * value / (u - 1);
    }
    if (theta) theta[i] = value;
    sum += value;
  }
  *slope = rise;
  return sum;
}

/* Finds the root in [low, high], R(low) <= 0 <= R(high), by Newton's method, bisecting if a step leaves it. */
static double bracketed_root(const problem *p, double low, double high, double t) {
  for (int step = 0; step < MAX_STEP; step++) {
    double slope;
    const double off = evaluate(p, t, NULL, &slope);
    if (off == 0) break;
    if (off < 0)
      low = t;
    else
      high = t;
    double next = slope > 0 ? t - off / slope : low;
    if (!(next > low && next < high)) next = low + 0.5 * (high - low);
    if (fabs(next - t) <= DBL_EPSILON * t || high - low <= DBL_EPSILON * high) return next;
    t = next;
  }
  return t;
}

/* Newton's method leftward from t = 1, where R is convex: returns the largest root above a, or NO_ROOT. */
static double rightmost_root(const problem *p) {
  double t = 1;
  for (int step = 0; step < MAX_STEP; step++) {
    double slope;
    const double off = evaluate(p, t, NULL, &slope);
    if (slope <= 0) return NO_ROOT;
    if (off <= 0) return t;
    const double change = off / slope;
    t -= change;
    if (t <= p->a) return NO_ROOT;
    if (change <= DBL_EPSILON * t) return t;
  }
  return t;
}

static double plain_share(const problem *p) {
  double sum = 0;
  for (int i = 0; i < p->n; i++) sum += p->counts[i] / p->counts[p->j];
  return 1 / sum;
}

/* Value of a local maximum, divided by beta. */
static double value_at(const problem *p, double t, double *theta) {
  double slope, sum = 0;
  evaluate(p, t, theta, &slope);
  for (int i = 0; i < p->n; i++)
    if (p->counts[i] > 0) sum += (p->counts[i] / p->beta + theta[i]) * log(fmax(theta[i], DBL_MIN));
  return sum;
}

/* Normalises theta; every positive count keeps a positive probability. */
static void finish(const problem *p, double *theta) {
  double sum = 0;
  for (int i = 0; i < p->n; i++) {
    if (p->counts[i] > 0 && theta[i] < DBL_MIN) theta[i] = DBL_MIN;
    sum += theta[i];
  }
  for (int i = 0; i < p->n; i++) theta[i] /= sum;
}

static void solve_sparse(const problem *p, num_entropic_rule rule, double *theta) {
  const double most = fmin(p->a, 1);
  double slope, soft = NO_ROOT, spiky = NO_ROOT;
  const double end = most > 0 ? evaluate(p, most, NULL, &slope) : -1;
  if (end >= 0) {
    soft = bracketed_root(p, 0, most, fmin(plain_share(p), most));
    if (p->a < 1 && rule == NUM_GLOBAL) spiky = rightmost_root(p);
  } else {
    spiky = bracketed_root(p, most, 1, 1);
  }
  const bool take_spiky =
      soft < 0 || (spiky > 0 && value_at(p, spiky, theta) > value_at(p, soft, theta));
  evaluate(p, take_spiky ? spiky : soft, theta, &slope);
  finish(p, theta);
}

static void plain_step(const problem *p, double *theta) {
  for (int i = 0; i < p->n; i++) theta[i] = p->counts[i] / p->counts[p->j];
  finish(p, theta);
}

/* One CCCP step: theta log theta is convex, so its tangent at the old theta is a lower bound. */
static void tangent_step(const problem *p, double *theta, double *linear) {
  for (int i = 0; i < p->n; i++)
    linear[i] = p->counts[i] > 0 ? p->beta * log(fmax(theta[i], DBL_MIN)) : -INFINITY;
  num_simplex_linear(p->counts, linear, p->n, theta);
  finish(p, theta);
}

bool num_entropic(const double *counts, int n, double beta, num_entropic_rule rule, double *theta,
                  double *scratch) {
  problem p = {.counts = counts, .gap = scratch, .n = n, .beta = beta};
  double sum = 0;
  for (int i = 0; i < n; i++)
    if (counts[i] > counts[p.j]) p.j = i;
  const double top = counts[p.j];
  if (!(top > 0)) return false;
  for (int i = 0; i < n; i++) sum += counts[i] / top;
  if (fabs(beta) / top <= NEGLIGIBLE * sum) {
    plain_step(&p, theta);
  } else if (beta < 0) {
    num_simplex_entropy(counts, NULL, -beta, n, theta);
    finish(&p, theta);
  } else if (rule == NUM_CCCP) {
    tangent_step(&p, theta, scratch);
  } else {
    p.a = top / beta;
    p.log_a = log(top) - log(beta);
    for (int i = 0; i < n; i++)
      p.gap[i] = counts[i] <= 0                ? INFINITY
                 : top / counts[i] > FAR_APART ? log(top) - log(counts[i])
                                               : log1p((top - counts[i]) / counts[i]);
    solve_sparse(&p, rule, theta);
  }
  return true;
}
