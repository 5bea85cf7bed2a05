#include "aspect_bernoulli/effort.h"

#include <math.h>

#define NEWTON_STEPS 25
#define HALVINGS 30
#define LARGEST_ODDS 30 /* log-odds of a share are kept within: it then differs from 0 and 1 */

static double log_odds(const ab_effort *self, const double *coef, int i) {
  return fmin(fmax(coef[0] + coef[1] * self->effort[i], -LARGEST_ODDS), LARGEST_ODDS);
}

static double share(double odds) { return 1 / (1 + exp(-odds)); }

void ab_effort_impose(ab_effort *self) {
  const int n = self->ab.data->n, last = self->ab.par->k - 1;
  double *s = self->ab.par->membership;
  for (int i = 0; i < n; i++) {
    const double phantom = share(log_odds(self, self->coef, i));
    double rest = 0;
    for (int c = 0; c < last; c++) rest += s[num_at(i, c, n)];
    for (int c = 0; c < last; c++) {
      double *own = s + num_at(i, c, n);
      *own = num_lift((1 - phantom) * (rest > 0 ? *own / rest : 1.0 / last));
    }
    s[num_at(i, last, n)] = phantom;
  }
}

/* Cells, and pseudo-counts, of a row. */
static double row_total(const ab_effort *self, int i) {
  return data_n_observed(self->ab.data, i) + self->prior->row;
}

/* Expected log-likelihood of the phantom's counts; rows of share are their part of the row. */
static double curve(const ab_effort *self, const double *coef) {
  const double *part = self->ab.par->membership + num_at(0, self->ab.par->k - 1, self->ab.data->n);
  double sum = 0;
  for (int i = 0; i < self->ab.data->n; i++) {
    const double odds = log_odds(self, coef, i);
    sum += row_total(self, i) * (part[i] * odds - fmax(odds, 0) - log1p(exp(-fabs(odds))));
  }
  return sum;
}

/* A Newton step of the curve, halved until the curve does not fall; false: there is none. */
static bool newton_step(ab_effort *self) {
  const double *part = self->ab.par->membership + num_at(0, self->ab.par->k - 1, self->ab.data->n);
  double slope[2] = {0, 0}, bend[3] = {1e-10, 0, 1e-10};
  for (int i = 0; i < self->ab.data->n; i++) {
    const double mu = share(log_odds(self, self->coef, i)), total = row_total(self, i);
    const double e = self->effort[i], left = total * (part[i] - mu), weight = total * mu * (1 - mu);
    slope[0] += left;
    slope[1] += left * e;
    bend[0] += weight;
    bend[1] += weight * e;
    bend[2] += weight * e * e;
  }
  const double size = bend[0] * bend[2] - bend[1] * bend[1];
  if (!(size > 0)) return false;
  double step[2] = {(bend[2] * slope[0] - bend[1] * slope[1]) / size,
                    (bend[0] * slope[1] - bend[1] * slope[0]) / size};
  const double before = curve(self, self->coef);
  for (int h = 0; h < HALVINGS; h++) {
    const double trial[2] = {self->coef[0] + step[0], self->coef[1] + step[1]};
    if (curve(self, trial) >= before) {
      self->coef[0] = trial[0];
      self->coef[1] = trial[1];
      return fabs(step[0]) + fabs(step[1]) > 1e-12;
    }
    step[0] /= 2;
    step[1] /= 2;
  }
  return false;
}

double ab_effort_pass(ab_effort *self) {
  self->ab.par->fixed_aspects = true;
  const double objective = ab_pass(self->ab.data, self->ab.par, self->ab.work);
  self->ab.par->fixed_aspects = false;
  for (int step = 0; step < NEWTON_STEPS && newton_step(self); step++) {
  }
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
