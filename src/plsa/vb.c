#include "plsa/vb.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

#define LEAST_PRIOR 1e-3 /* range of estimated prior parameters */
#define MOST_PRIOR 1e3
#define LOOK_EVERY 256 /* columns between two calls of the host */

typedef struct {
  double gain;  /* minus the divergences of rows from their prior, without its constant */
  double *logs; /* k: sum over rows of E log membership */
} strip_sum;

struct plsa_vb_work {
  plsa_work *plsa;
  const mc_host *host;
  double *weights; /* k x m: w */
  double *base;    /* k: psi of the totals of the basis */
  double prior_total;
  strip_sum strip[NUM_MAX_STRIP];
  int iterations;
  double bound; /* of the last iteration, reported to the host */
};

plsa_vb_work *plsa_vb_new_work(const mc_data *data, plsa_missing missing, const plsa_vb_param *par,
                               int n_threads, const mc_host *host) {
  static const plsa_prior none = {0};
  plsa_vb_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->plsa = plsa_new_work(data, &none, missing, par->k, n_threads, host);
  work->host = host;
  work->weights = par->fixed_basis ? par->basis : mc_doubles(host, par->k, data->m);
  work->base = mc_doubles(host, par->k, 1);
  for (int s = 0; s < NUM_MAX_STRIP; s++) work->strip[s].logs = mc_doubles(host, par->k, 1);
  return work;
}

/* exp E log of a parameter, and its logarithm in *mean_log. */
static double weigh(double value, double base, double *mean_log) {
  *mean_log = digamma(value) - base;
  return fmax(exp(*mean_log), NUM_TINY);
}

/* Replaces a block's counts by g of its rows. */
static void weigh_rows(void *ctx, int strip, double *rows, int b) {
  plsa_vb_self *self = ctx;
  const int k = self->par->k;
  const double *alpha = self->par->prior;
  strip_sum *sum = self->work->strip + strip;
  for (int i = 0; i < b; i++) {
    double *row = rows + num_at(0, i, k), total = self->work->prior_total;
    for (int c = 0; c < k; c++) total += row[c];
    const double base = digamma(total);
    sum->gain -= lgammafn(total);
    for (int c = 0; c < k; c++) {
      double mean_log;
      const double count = row[c];
      row[c] = weigh(alpha[c] + count, base, &mean_log);
      sum->gain += lgammafn(alpha[c] + count) - count * mean_log;
      sum->logs[c] += mean_log;
    }
  }
}

/* Computes w; returns minus the divergences of the basis, NaN if the host requested a stop. logs:
 * sum of E log. */
static double weigh_basis(int m, const plsa_vb_param *par, plsa_vb_work *work, double *logs) {
  const int k = par->k;
  const double eta = par->prior[k];
  double gain = k * (lgammafn(m * eta) - m * lgammafn(eta)), *base = work->base;
  memset(base, 0, (size_t) k * sizeof *base);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) base[c] += eta + par->basis[num_at(c, j, k)];
  for (int c = 0; c < k; c++) {
    gain -= lgammafn(base[c]);
    base[c] = digamma(base[c]);
  }
  *logs = 0;
  for (int j = 0; j < m; j++) {
    if (j % LOOK_EVERY == 0 && mc_stop(work->host, work->iterations, work->bound)) return NAN;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, j, k);
      const double count = par->basis[at];
      double mean_log;
      work->weights[at] = weigh(eta + count, base[c], &mean_log);
      gain += lgammafn(eta + count) - count * mean_log;
      *logs += mean_log;
    }
  }
  return gain;
}

/* Solves psi(x) = y by Newton's method; Minka (2000), appendix C. */
static double inverse_digamma(double y) {
  double x = y >= -2.22 ? exp(y) + 0.5 : -1 / (y + 0.5772156649015329);
  for (int step = 0; step < 5; step++) x -= (digamma(x) - y) / trigamma(x);
  return x;
}

static double within_range(double x) { return fmin(fmax(x, LEAST_PRIOR), MOST_PRIOR); }

static void learn_prior(const mc_data *data, plsa_vb_param *par, const plsa_vb_work *work,
                        double basis_logs) {
  const int k = par->k;
  const double base = digamma(work->prior_total), *logs = work->strip[0].logs;
  double *eta = par->prior + k;
  for (int c = 0; c < k && k > 1 && data->n > 0; c++)
    par->prior[c] = within_range(inverse_digamma(base + logs[c] / data->n));
  if (data->m > 1 && !par->fixed_basis)
    *eta = within_range(inverse_digamma(digamma(data->m * *eta) + basis_logs / k / data->m));
}

/* Computes the bound at the supplied parameters; if update, makes an iteration. */
static double climb(plsa_vb_self *self, bool update) {
  const mc_data *data = self->data;
  plsa_vb_param *par = self->par;
  plsa_vb_work *work = self->work;
  const int k = par->k;
  const ptrdiff_t size = (ptrdiff_t) k * data->m;
  const double *xi;
  double constant = 0, basis_logs = 0;
  const double basis = par->fixed_basis ? 0 : weigh_basis(data->m, par, work, &basis_logs);
  if (isnan(basis)) return basis;
  work->prior_total = 0;
  for (int c = 0; c < k; c++) {
    work->prior_total += par->prior[c];
    constant -= lgammafn(par->prior[c]);
  }
  constant += lgammafn(work->prior_total);
  for (int s = 0; s < NUM_MAX_STRIP; s++) {
    work->strip[s].gain = 0;
    memset(work->strip[s].logs, 0, (size_t) k * sizeof(double));
  }
  plsa_param weights = {k, par->rows, work->weights, par->fixed_basis, NULL};
  const plsa_rows_weigher weigher = {weigh_rows, self};
  double bound = plsa_expect(data, &weights, work->plsa, &weigher, update, &xi);
  if (isnan(bound)) return bound;
  for (int s = 1; s < NUM_MAX_STRIP; s++) {
    work->strip[0].gain += work->strip[s].gain;
    for (int c = 0; c < k; c++) work->strip[0].logs[c] += work->strip[s].logs[c];
  }
  bound += basis + data->n * constant + work->strip[0].gain;
  if (!update) return bound;
  if (par->learn) learn_prior(data, par, work, basis_logs);
  for (ptrdiff_t at = 0; !par->fixed_basis && at < size; at++)
    par->basis[at] = num_lift(work->weights[at] * xi[at]);
  work->iterations++;
  return work->bound = bound;
}

static double model_pass(void *self) { return climb(self, true); }

static double model_objective(void *self) { return climb(self, false); }

static void model_feasible(void *self, const double *const *safe) {
  const plsa_vb_self *s = self;
  const int k = s->par->k;
  num_guard_positive(s->par->rows, safe[0], (ptrdiff_t) s->data->n * k);
  if (s->par->fixed_basis) return;
  num_guard_positive(s->par->basis, safe[1], (ptrdiff_t) k * s->data->m);
  if (!s->par->learn) return;
  num_guard_positive(s->par->prior, safe[2], k + 1);
  /* Iterations started outside this range would decrease the bound. */
  for (int c = 0; c <= k; c++) s->par->prior[c] = within_range(s->par->prior[c]);
}

mc_model plsa_vb_model(plsa_vb_self *self) {
  const plsa_vb_param *par = self->par;
  mc_model model = {.n_block = par->fixed_basis ? 1
                               : par->learn     ? 3
                                                : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  model.block[0] = par->rows;
  model.length[0] = (ptrdiff_t) self->data->n * par->k;
  model.block[1] = par->basis;
  model.length[1] = (ptrdiff_t) par->k * self->data->m;
  model.block[2] = par->prior;
  model.length[2] = par->k + 1;
  return model;
}
