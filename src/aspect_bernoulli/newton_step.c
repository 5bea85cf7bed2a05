/*
 * aspect_bernoulli/newton_step.c: the step of one unit of a block: the terms besides the
 * likelihood, the direction, and the step length (num/safe_step.h).
 */
#include "aspect_bernoulli/newton_private.h"

#include <math.h>
#include <string.h>

#include "num/quadratic.h"
#include "num/safe_step.h"
#include "num/vector.h"

#define CONTENT (-1)   /* `which` of a log of a row's content: all components that are not fixed */
#define ROUNDING 1e-12 /* of d'H d, what its light zeros' part may take with it by rounding */

/* One unit of a block: its number in the table, weights, and entries of the likelihood's Hessian. */
typedef struct {
  int number;
  const double *weights, *absences, *packed;
} ab_unit;

static ab_unit unit_of(const ab_side *of, int i, const ab_block *t) {
  const ab_unit unit = {t->unit[i], t->weights + num_at(0, i, of->k),
                        t->absences + num_at(0, i, of->k),
                        t->hessian + num_at(0, i, num_pairs(of->n_moving))};
  return unit;
}

/* The likelihood's Hessian of a unit, k x k. */
static void unpack(const ab_side *of, const double *packed, double *h) {
  const int k = of->k;
  memset(h, 0, (size_t) k * (size_t) k * sizeof *h);
  for (int d = 0; d < of->n_moving; d++)
    for (int c = 0; c <= d; c++) {
      const double value = *packed++;
      h[num_at(of->moving[c], of->moving[d], k)] = value;
      h[num_at(of->moving[d], of->moving[c], k)] = value;
    }
}

static ab_log new_log(int which, double sign, double count, double x) {
  const ab_log out = {which, sign, count, x};
  return out;
}

/* Logs of a row from pseudo-counts and pulls of neighbours; returns their number. */
static int row_logs(const ab_param *par, const ab_prior *prior, const ab_unit *unit, ab_block *t) {
  const double *weights = unit->weights;
  double whole = 0, content = 0;
  int n = 0;
  for (int c = 0; c < par->k; c++) {
    t->count[c] = prior->membership[c];
    if (!ab_is_fixed(par, c)) content += weights[c];
  }
  if (par->smooth) whole = mc_smooth_counts(par->smooth, unit->number, t->count);
  for (int c = 0; c < par->k; c++)
    if (t->count[c] > 0) t->log[n++] = new_log(c, 1, t->count[c], weights[c]);
  if (whole != 0) t->log[n++] = new_log(CONTENT, 1, whole, content);
  return n;
}

static int column_logs(const ab_param *par, const ab_prior *prior, const ab_unit *unit,
                       ab_block *t) {
  int n = 0;
  for (int c = 0; c < par->k; c++) {
    if (ab_is_fixed(par, c)) continue;
    if (prior->one[c] > 0) t->log[n++] = new_log(c, 1, prior->one[c], unit->weights[c]);
    if (prior->zero[c] > 0) t->log[n++] = new_log(c, -1, prior->zero[c], unit->absences[c]);
  }
  return n;
}

/* Adds the derivatives of a log. A negative count makes it convex: its tangent bounds it from below. */
static void add_log(const ab_param *par, const ab_log *log, ab_block *t) {
  const int k = par->k;
  const double inverse = 1 / log->x, slope = log->count * inverse;
  const double curvature = log->count > 0 ? slope * inverse : 0;
  if (log->which != CONTENT) {
    t->g[log->which] += log->sign * slope;
    t->h[num_at(log->which, log->which, k)] += curvature;
    return;
  }
  for (int c = 0; c < k; c++) {
    if (ab_is_fixed(par, c)) continue;
    t->g[c] += log->sign * slope;
    for (int e = 0; e < k; e++)
      if (!ab_is_fixed(par, e)) t->h[num_at(e, c, k)] += curvature;
  }
}

/* Relative growth of x along d: exactly -1 if it ends at 0. */
static double log_change(const ab_param *par, const ab_log *log, const double *d) {
  double sum = 0;
  if (log->which != CONTENT) return log->sign * d[log->which] / log->x;
  for (int c = 0; c < par->k; c++)
    if (!ab_is_fixed(par, c)) sum += d[c];
  return sum / log->x;
}

/*
 * Centres the gradient: on the simplex only differences matter, and a large common part would cause
 * cancellation.
 */
static void centre(int k, const double *weights, double *g) {
  const double mean = num_dot(weights, g, k);
  for (int c = 0; c < k; c++) g[c] -= mean;
}

/* Computes the objective's derivatives in t->g and t->h; returns the number of logs in t->log. */
static int take_derivatives(const ab_side *of, const ab_param *par, const ab_prior *prior,
                            const ab_unit *unit, const double *gradient, ab_block *t) {
  unpack(of, unit->packed, t->h);
  memcpy(t->g, gradient, (size_t) of->k * sizeof(double));
  const int n_log = (of->simplex ? row_logs : column_logs)(par, prior, unit, t);
  for (int e = 0; e < n_log; e++) add_log(par, t->log + e, t);
  if (of->simplex) centre(of->k, unit->weights, t->g);
  return n_log;
}

static void set_bounds(const ab_side *of, const ab_param *par, const ab_unit *unit, ab_block *t) {
  const double cap = of->cap ? of->cap[unit->number] : 1;
  for (int c = 0; c < of->k; c++) {
    const bool held = !of->simplex && ab_is_fixed(par, c);
    t->low[c] = held ? 0 : -unit->weights[c];
    t->high[c] = held ? 0 : of->simplex ? INFINITY : unit->absences[c];
    if (!held && cap < 1) t->high[c] = fmax(cap - unit->weights[c], 0);
  }
}

/* Properties of the path along t->d. The tangent of a log of negative count enters only the rise. */
static num_safe_step derivatives_along(const ab_side *of, const ab_param *par, const ab_unit *unit,
                                       int n_log, ab_block *t) {
  num_safe_step step = {.rise = num_dot(t->g, t->d, of->k), .count = t->count, .change = t->change};
  const double form = ab_packed_form(of, unit->packed, t->d);
  if (form >= NUM_SAFE_SHORT * NUM_SAFE_SHORT) step.light = ab_light_form(of, unit->number, t->d);
  step.lambda = sqrt(fmax(form - step.light, 0) + (step.light > 0 ? ROUNDING * form : 0));
  for (int e = 0; e < n_log; e++) {
    if (t->log[e].count < 0) continue;
    t->count[step.n] = t->log[e].count;
    t->change[step.n++] = log_change(par, t->log + e, t->d);
  }
  return step;
}

double ab_find_step(const ab_side *of, const ab_param *par, const ab_prior *prior, int i,
                    ab_block *t, double *decrement) {
  const int k = of->k;
  const ab_unit unit = unit_of(of, i, t);
  const int n_log = take_derivatives(of, par, prior, &unit, t->gradient + num_at(0, i, k), t);
  set_bounds(of, par, &unit, t);
  const num_quadratic_problem problem = {t->h, t->g, t->low, t->high, k, of->simplex};
  if (!num_quadratic(&problem, t->d, t->side, t->quadratic, t->which)) return 0;
  const num_safe_step step = derivatives_along(of, par, &unit, n_log, t);
  *decrement += fmax(step.rise, 0);
  return num_safe_length(&step);
}

void ab_take_step(const ab_side *of, int unit, double length, const ab_block *t, double *weights) {
  const int k = of->k;
  const double top = of->cap ? of->cap[unit] : 1;
  double sum = 0;
  for (int c = 0; c < k; c++) {
    const double now = weights[c] + length * t->d[c];
    weights[c] = num_lift(now > 0 ? (now < 1 ? now : 1) : 0);
    if (length >= 1 && t->side[c] != 0 && t->low[c] < t->high[c])
      weights[c] = t->side[c] < 0 ? 0 : top;
    sum += weights[c];
  }
  for (int c = 0; c < k && of->simplex; c++) weights[c] /= sum;
}
