#include "visits_occupancy/em.h"

#include <math.h>
#include <string.h>

#include "num/base.h"
#include "num/linalg.h"

enum { MOST_STEPS = 50, MOST_HALVES = 20 };
static const double settled = 1e-10;  /* least expected gain of a Newton step, in nats */
static const double longest_step = 4; /* limit of a coefficient's change */
static const double least_spread = 0.01;

struct occ_work {
  double *gradient, *step, *trial, *inverse; /* size each */
  double *information, *chol;                /* size x size */
  double *sum, *square;                      /* size: over taxa */
  double *scratch;
};

occ_work *occ_new_work(const occ_data *data, const mc_host *host) {
  const size_t size = (size_t) occ_size(data);
  occ_work *work = host->alloc(host->ctx, 1, sizeof(occ_work));
  double **of_size[] = {&work->gradient, &work->step, &work->trial,
                        &work->inverse,  &work->sum,  &work->square};
  for (int i = 0; i < 6; i++) *of_size[i] = mc_doubles(host, size, 1);
  work->information = mc_doubles(host, size, size);
  work->chol = mc_doubles(host, size, size);
  work->scratch = mc_doubles(host, occ_scratch(data), 1);
  return work;
}

/* log N(theta; center, spread^2) without its constant. */
static double log_prior(const occ_param *par, const double *theta, int size) {
  double sum = 0;
  for (int e = 0; e < size; e++) {
    const double z = (theta[e] - par->center[e]) / par->spread[e];
    sum -= z * z / 2 + log(par->spread[e]);
  }
  return sum;
}

/* Log-posterior of a taxon, its gradient and information; *loglik is its log-likelihood. */
static double inform(const occ_data *data, const occ_param *par, int j, const double *theta,
                     double *loglik, occ_work *w) {
  const int size = occ_size(data);
  *loglik = occ_inform(data, j, theta, w->gradient, w->information, w->scratch);
  for (int e = 0; e < size; e++) {
    const double ridge = 1 / (par->spread[e] * par->spread[e]);
    w->gradient[e] -= ridge * (theta[e] - par->center[e]);
    w->information[num_at(e, e, size)] += ridge;
  }
  return *loglik + log_prior(par, theta, size);
}

/* Cholesky factor of the information, with a ridge if it is not definite. */
static void factor(int size, occ_work *w) {
  const size_t bytes = (size_t) size * (size_t) size * sizeof(double);
  double largest = 1e-8, ridge = 0;
  for (int e = 0; e < size; e++) largest = fmax(largest, fabs(w->information[num_at(e, e, size)]));
  while (ridge < HUGE_VAL) { /* also ends if a value is not finite */
    memcpy(w->chol, w->information, bytes);
    for (int e = 0; e < size; e++) w->chol[num_at(e, e, size)] += ridge;
    if (num_chol(w->chol, size)) break;
    ridge = ridge > 0 ? 4 * ridge : 1e-6 * largest;
  }
  if (ridge > 0)
    for (int e = 0; e < size; e++) w->information[num_at(e, e, size)] += ridge;
}

/* Computes Newton's step; returns twice its expected gain. */
static double newton_step(int size, occ_work *w) {
  double gain = 0, most = 0;
  factor(size, w);
  memcpy(w->step, w->gradient, (size_t) size * sizeof(double));
  num_chol_forward(w->chol, size, w->step);
  num_chol_backward(w->chol, size, w->step);
  for (int e = 0; e < size; e++) {
    gain += w->step[e] * w->gradient[e];
    most = fmax(most, fabs(w->step[e]));
  }
  if (most > longest_step)
    for (int e = 0; e < size; e++) w->step[e] *= longest_step / most;
  return gain;
}

double occ_mode(const occ_data *data, const occ_param *par, int j, double *precision,
                double *laplace, occ_work *w) {
  const int size = occ_size(data);
  double *theta = par->theta + num_at(0, j, size), loglik;
  double value = inform(data, par, j, theta, &loglik, w);
  for (int s = 0; s < MOST_STEPS; s++) {
    if (!(newton_step(size, w) > settled)) break;
    double by = 1, reached = -INFINITY, trial_loglik = loglik;
    for (int half = 0; half < MOST_HALVES && !(reached > value); half++) {
      for (int e = 0; e < size; e++) w->trial[e] = theta[e] + by * w->step[e];
      reached = inform(data, par, j, w->trial, &trial_loglik, w);
      by /= 2;
    }
    if (!(reached > value)) { /* no gain beyond rounding */
      inform(data, par, j, theta, &loglik, w);
      break;
    }
    memcpy(theta, w->trial, (size_t) size * sizeof(double));
    value = reached;
    loglik = trial_loglik;
  }
  factor(size, w);
  if (precision) memcpy(precision, w->information, (size_t) size * (size_t) size * sizeof(double));
  if (laplace) *laplace = value - num_chol_log_det(w->chol, size) / 2;
  return loglik;
}

/* Log-density of center and spread, eq. (5), up to a constant. */
static double log_hyperprior(const occ_self *self, int size) {
  double sum = 0;
  for (int e = 0; e < size; e++) {
    const double z = self->par->center[e] / self->prior->center_sd[e], s = self->par->spread[e];
    const double wide = s / self->prior->spread_sd[e];
    sum -= (z * z + wide * wide + self->prior->spread_prior[e] / (s * s)) / 2 + log(s);
  }
  return sum;
}

/* Maximises the expectation of eqs. (4) and (5), from the modes and their curvature. */
static void update_sharing(const occ_self *self, int size) {
  const occ_work *w = self->work;
  const int m = self->data->m;
  for (int e = 0; e < size; e++) {
    double *spread = self->par->spread + e, *center = self->par->center + e;
    const double sd = self->prior->center_sd[e];
    *center = w->sum[e] / (m + *spread * *spread / (sd * sd));
    const double about = w->square[e] - *center * (2 * w->sum[e] - m * *center);
    /* (m + 1) s + s^2 / wide = square, in the variance s. */
    const double wide = self->prior->spread_sd[e] * self->prior->spread_sd[e];
    const double square = about + self->prior->spread_prior[e], n = m + 1;
    *spread = fmax(sqrt(2 * square / (n + sqrt(n * n + 4 * square / wide))), least_spread);
  }
}

static double pass(void *ctx) {
  const occ_self *self = ctx;
  const int size = occ_size(self->data);
  occ_work *w = self->work;
  double sum = log_hyperprior(self, size);
  memset(w->sum, 0, (size_t) size * sizeof(double));
  memset(w->square, 0, (size_t) size * sizeof(double));
  for (int j = 0; j < self->data->m; j++) {
    const double *theta = self->par->theta + num_at(0, j, size);
    double laplace;
    occ_mode(self->data, self->par, j, NULL, &laplace, w);
    sum += laplace;
    for (int e = 0; e < size; e++) {
      memset(w->inverse, 0, (size_t) size * sizeof(double));
      w->inverse[e] = 1;
      num_chol_forward(w->chol, size, w->inverse);
      double variance = 0;
      for (int f = e; f < size; f++) variance += w->inverse[f] * w->inverse[f];
      w->sum[e] += theta[e];
      w->square[e] += theta[e] * theta[e] + variance;
    }
  }
  update_sharing(self, size);
  return sum;
}

/* The objective at the current blocks, which need not be modes. */
static double objective(void *ctx) {
  const occ_self *self = ctx;
  const int size = occ_size(self->data);
  occ_work *w = self->work;
  double sum = log_hyperprior(self, size), loglik;
  for (int j = 0; j < self->data->m; j++) {
    sum += inform(self->data, self->par, j, self->par->theta + num_at(0, j, size), &loglik, w);
    factor(size, w);
    sum -= num_chol_log_det(w->chol, size) / 2;
  }
  return sum;
}

mc_model occ_model(occ_self *self) {
  const ptrdiff_t size = occ_size(self->data);
  mc_model model = {.pass = pass, .objective = objective, .self = self, .may_fall = true};
  mc_add_block(&model, self->par->theta, size * self->data->m);
  mc_add_block(&model, self->par->center, size);
  mc_add_block(&model, self->par->spread, size);
  return model;
}
