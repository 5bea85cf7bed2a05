#include "aspect_bernoulli/vb.h"
#include "num/simplex.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

struct ab_vb_work {
  ab_prior prior;
  ab_work *ab;
  ab_param weights;         /* exp(E log) of memberships, aspects and their complements */
  double *absence;          /* those complements */
  double *counts;           /* n x k: expected cells of each component */
  double *constant;         /* k: log of the constant of an aspect's Beta density */
  const double *one, *zero; /* sums of ab_expect() */
  const mc_host *host;
  int iterations;
  double bound; /* after the last iteration, reported to the host */
};

ab_vb_work *ab_vb_new_work(const mc_data *data, const ab_vb_param *par, const ab_prior *prior,
                           int n_threads, const mc_host *host) {
  const ab_prior none = ab_no_prior(par->k, host);
  ab_vb_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->host = host;
  work->ab = ab_new_work(data, &none, n_threads, host);
  work->weights.k = par->k;
  work->weights.membership = mc_doubles(host, data->n, par->k);
  work->weights.aspects = mc_doubles(host, par->k, data->m);
  work->weights.absence = work->absence = mc_doubles(host, par->k, data->m);
  work->counts = mc_doubles(host, data->n, par->k);
  work->constant = mc_doubles(host, par->k, 1);
  for (int c = 0; c < par->k; c++)
    work->constant[c] = lgammafn(prior->one[c] + prior->zero[c]) - lgammafn(prior->one[c]) -
                        lgammafn(prior->zero[c]);
  return work;
}

#define LOOK_EVERY 1024 /* rows or columns between two questions to the host */

/*
 * Computes the weights exp(E log s) of the rows; returns minus the sum of their divergences from
 * the prior, NaN if the host requested a stop.
 */
static double weigh_rows(int n, const ab_vb_param *par, ab_vb_work *work) {
  const double *prior = work->prior.membership;
  const int k = par->k;
  double gain = n * ab_log_dirichlet_constant(&work->prior);
  for (int i = 0; i < n; i++) {
    double total = 0;
    if (i % LOOK_EVERY == 0 && mc_stop(work->host, work->iterations, work->bound)) return NAN;
    for (int c = 0; c < k; c++) total += par->membership[num_at(i, c, n)];
    const double base = digamma(total);
    gain -= lgammafn(total);
    for (int c = 0; c < k; c++) {
      const double alpha = par->membership[num_at(i, c, n)], mean_log = digamma(alpha) - base;
      work->weights.membership[num_at(i, c, n)] = fmax(exp(mean_log), NUM_TINY);
      gain += lgammafn(alpha) - (alpha - prior[c]) * mean_log;
    }
  }
  return gain;
}

/* Computes the weights of the aspects likewise. */
static double weigh_aspects(int m, const ab_vb_param *par, ab_vb_work *work) {
  const ab_prior *prior = &work->prior;
  double gain = 0;
  for (int j = 0; j < m; j++) {
    if (j % LOOK_EVERY == 0 && mc_stop(work->host, work->iterations, work->bound)) return NAN;
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(c, j, par->k);
      if (par->fixed[c]) {
        work->weights.aspects[at] = par->fixed[c] > 0;
        work->absence[at] = par->fixed[c] < 0;
        continue;
      }
      const double a = par->one[at], b = par->zero[at], base = digamma(a + b);
      const double log_one = digamma(a) - base, log_zero = digamma(b) - base;
      work->weights.aspects[at] = fmax(exp(log_one), NUM_TINY);
      work->absence[at] = fmax(exp(log_zero), NUM_TINY);
      gain += work->constant[c] + lgammafn(a) + lgammafn(b) - lgammafn(a + b);
      gain -= (a - prior->one[c]) * log_one + (b - prior->zero[c]) * log_zero;
    }
  }
  return gain;
}

/* The bound at the weights and the causes of cells that are optimal for them. */
static double bound_at(const mc_data *data, const ab_vb_param *par, ab_vb_work *work) {
  const double gain = weigh_rows(data->n, par, work) + weigh_aspects(data->m, par, work);
  if (isnan(gain)) return gain;
  return gain + ab_expect(data, &work->weights, work->ab, work->counts, &work->one, &work->zero);
}

static void update_rows(int n, ab_vb_param *par, const ab_vb_work *work) {
  for (int c = 0; c < par->k; c++)
    for (ptrdiff_t at = num_at(0, c, n); at < num_at(0, c + 1, n); at++)
      par->membership[at] = work->prior.membership[c] + work->counts[at];
}

static void update_aspects(int m, ab_vb_param *par, const ab_vb_work *work) {
  for (int j = 0; j < m; j++) {
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(c, j, par->k);
      par->one[at] = work->prior.one[c] + work->weights.aspects[at] * work->one[at];
      par->zero[at] = work->prior.zero[c] + work->absence[at] * work->zero[at];
    }
  }
}

static double pass_once(const mc_data *data, ab_vb_param *par, ab_vb_work *work) {
  const double bound = bound_at(data, par, work);
  if (isnan(bound)) return bound;
  update_rows(data->n, par, work);
  if (!par->fixed_aspects) update_aspects(data->m, par, work);
  work->iterations++;
  return work->bound = bound;
}

static double model_pass(void *self) {
  const ab_vb_self *s = self;
  return pass_once(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const ab_vb_self *s = self;
  return bound_at(s->data, s->par, s->work);
}

static void guard(double *x, const double *safe, ptrdiff_t length) {
  for (ptrdiff_t e = 0; e < length; e++) x[e] = fmax(x[e], NUM_SHRINK * safe[e]);
}

static void model_feasible(void *self, const double *const *safe) {
  const ab_vb_self *s = self;
  const ptrdiff_t size = (ptrdiff_t) s->par->k * s->data->m;
  guard(s->par->membership, safe[0], (ptrdiff_t) s->data->n * s->par->k);
  if (s->par->fixed_aspects) return;
  guard(s->par->one, safe[1], size);
  guard(s->par->zero, safe[2], size);
}

mc_model ab_vb_model(ab_vb_self *self) {
  mc_model model = {.n_block = self->par->fixed_aspects ? 1 : 3,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  const ptrdiff_t size = (ptrdiff_t) self->par->k * self->data->m;
  model.block[0] = self->par->membership;
  model.length[0] = (ptrdiff_t) self->data->n * self->par->k;
  model.block[1] = self->par->one;
  model.length[1] = size;
  model.block[2] = self->par->zero;
  model.length[2] = size;
  return model;
}
