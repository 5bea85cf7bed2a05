#include "aspect_bernoulli/effort.h"

#include <math.h>

#define NEWTON_STEPS 25
#define HALVINGS 30
#define LARGEST_ODDS 700 /* log-odds of a share are kept within: it then differs from 0 */

static double share(double odds) {
  return 1 / (1 + exp(-fmin(fmax(odds, -LARGEST_ODDS), LARGEST_ODDS)));
}

static double log_odds(const double *coef, double effort) { return coef[0] + coef[1] * effort; }

void ab_effort_impose(ab_effort *self) {
  const int n = self->ab.data->n, last = self->ab.par->k - 1;
  double *s = self->ab.par->membership;
  for (int i = 0; i < n; i++) {
    const double odds = log_odds(self->coef, self->effort[i]), content = share(-odds);
    double rest = 0;
    for (int c = 0; c < last; c++) rest += s[num_at(i, c, n)];
    for (int c = 0; c < last; c++) {
      double *own = s + num_at(i, c, n);
      *own = num_lift(content * (rest > 0 ? *own / rest : 1.0 / last));
    }
    s[num_at(i, last, n)] = share(odds);
  }
}

const double *ab_effort_cells(const mc_data *data, const ab_prior *prior, const mc_host *host) {
  double *cells = mc_doubles(host, data->n, 1);
  for (int i = 0; i < data->n; i++) cells[i] = data_n_observed(data, i) + prior->row;
  return cells;
}

void ab_effort_counts(const ab_effort *self, double *count) {
  const int n = self->ab.data->n;
  const double *part = self->ab.par->membership + num_at(0, self->ab.par->k - 1, n);
  count[0] = count[1] = 0;
  for (int i = 0; i < n; i++) {
    count[0] += self->cells[i] * part[i];
    count[1] += self->cells[i] * part[i] * self->effort[i];
  }
}

/* Expected log-likelihood of the counts. */
static double expected(const ab_curve *curve, const double *coef) {
  double sum = coef[0] * curve->count[0] + coef[1] * curve->count[1];
  for (int i = 0; i < curve->n; i++) {
    const double odds = log_odds(coef, curve->effort[i]);
    sum -= curve->cells[i] * (fmax(odds, 0) + log1p(exp(-fabs(odds))));
  }
  return sum;
}

#define NOISE 1e-12     /* a gain so many times the whole is lost in its rounding */
#define SMALL_STEP 1e-3 /* and such a step needs no check */

/* Takes a Newton step, halved until the likelihood does not decrease; returns false after the last one. */
static bool newton_step(const ab_curve *curve, double *coef) {
  double slope[2] = {curve->count[0], curve->count[1]}, bend[3] = {1e-10, 0, 1e-10};
  for (int i = 0; i < curve->n; i++) {
    const double e = curve->effort[i], odds = log_odds(coef, e), mu = share(odds);
    const double weight = curve->cells[i] * mu * share(-odds);
    slope[0] -= curve->cells[i] * mu;
    slope[1] -= curve->cells[i] * mu * e;
    bend[0] += weight;
    bend[1] += weight * e;
    bend[2] += weight * e * e;
  }
  const double size = bend[0] * bend[2] - bend[1] * bend[1];
  if (!(size > 0)) return false;
  double step[2] = {(bend[2] * slope[0] - bend[1] * slope[1]) / size,
                    (bend[0] * slope[1] - bend[1] * slope[0]) / size};
  const double before = expected(curve, coef), length = fabs(step[0]) + fabs(step[1]);
  const double gain = step[0] * slope[0] + step[1] * slope[1];
  if (length < SMALL_STEP && gain <= NOISE * fabs(before)) {
    coef[0] += step[0];
    coef[1] += step[1];
    return length > 1e-12;
  }
  for (int h = 0; h < HALVINGS; h++) {
    const double trial[2] = {coef[0] + step[0], coef[1] + step[1]};
    if (expected(curve, trial) >= before) {
      coef[0] = trial[0];
      coef[1] = trial[1];
      return true;
    }
    step[0] /= 2;
    step[1] /= 2;
  }
  return false;
}

void ab_curve_fit(const ab_curve *curve, double *coef) {
  for (int step = 0; step < NEWTON_STEPS && newton_step(curve, coef); step++) {
  }
}

double ab_effort_pass(ab_effort *self) {
  self->ab.par->fixed_aspects = true;
  const double objective = ab_pass(self->ab.data, self->ab.par, self->ab.work);
  self->ab.par->fixed_aspects = false;
  ab_curve curve = {.n = self->ab.data->n, .effort = self->effort, .cells = self->cells};
  ab_effort_counts(self, curve.count);
  ab_curve_fit(&curve, self->coef);
  ab_effort_impose(self);
  self->ab.par->fixed_membership = true;
  const double after = self->newton ? ab_newton_pass(self->ab.data, self->ab.par, self->newton)
                                    : ab_pass(self->ab.data, self->ab.par, self->ab.work);
  self->ab.par->fixed_membership = false;
  return isnan(after) ? NAN : objective;
}

static double model_pass(void *self) { return ab_effort_pass(self); }

static double model_objective(void *self) {
  const ab_effort *s = self;
  return ab_objective(s->ab.data, s->ab.par, s->ab.work);
}

static void model_feasible(void *self, const double *const *safe) {
  ab_effort *s = self;
  ab_feasible(&s->ab, safe);
  ab_effort_impose(s);
}

mc_model ab_effort_model(ab_effort *self) {
  mc_model model = ab_model(&self->ab);
  model.n_block = 3;
  model.block[2] = self->coef;
  model.length[2] = 2;
  model.pass = model_pass;
  model.objective = model_objective;
  model.feasible = model_feasible;
  model.self = self;
  return model;
}
