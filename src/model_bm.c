#include "model_bm.h"

#include <math.h>
#include <string.h>

#include "model_bm_inner.h"

static double *new_doubles(const mc_host *host, size_t count) {
  return host->alloc(host->ctx, count, sizeof(double));
}

bm_work *bm_new_work(const mc_data *data, const bm_prior *prior, const bm_param *par,
                     const mc_host *host) {
  const int k = par->k;
  const size_t n = (size_t) data->n, m = (size_t) data->m, components = (size_t) k;
  bm_work *w = host->alloc(host->ctx, 1, sizeof *w);
  memset(w, 0, sizeof *w);
  w->prior = *prior;
  w->host = host;
  w->posterior = new_doubles(host, n * components);
  w->loglik = new_doubles(host, n);
  w->log_odds = new_doubles(host, components * m);
  w->log_zero = new_doubles(host, components * m);
  w->certain = new_doubles(host, components * m);
  w->ones = new_doubles(host, components * m);
  w->seen = new_doubles(host, components * m);
  w->n_certain = new_doubles(host, components);
  w->all_zero = new_doubles(host, components);
  w->row = new_doubles(host, components);
  w->met = new_doubles(host, components);
  w->total = new_doubles(host, components);
  if (par->smooth) {
    w->hold = new_doubles(host, n);
    w->log_q = new_doubles(host, n * components);
    w->sum_q = new_doubles(host, n);
    for (int i = 0; i < data->n; i++) w->hold[i] = mc_smooth_hold(par->smooth, i);
  }
  return w;
}

const double *bm_posterior(const bm_work *work) { return work->posterior; }

const double *bm_row_loglik(const bm_work *work) { return work->loglik; }

/* A prototype of exactly 1 is kept out of the sums, where infinities would cancel, and counted. */
static void take_logs(const mc_data *data, const bm_param *par, bm_work *w) {
  const int k = par->k;
  w->any_certain = false;
  for (int c = 0; c < k; c++) {
    w->all_zero[c] = log(par->weights[c]);
    w->n_certain[c] = 0;
  }
  for (int j = 0; j < data->m; j++) {
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, j, k);
      const bool certain = par->prototypes[at] >= 1;
      w->certain[at] = certain;
      w->n_certain[c] += certain;
      w->any_certain = w->any_certain || certain;
      w->log_zero[at] = certain ? 0 : log1p(-par->prototypes[at]);
      w->log_odds[at] = certain ? 0 : log(par->prototypes[at]) - w->log_zero[at];
      w->all_zero[c] += w->log_zero[at];
    }
  }
}

static void add(double *sum, double scale, const double *x, int k) {
  for (int c = 0; c < k; c++) sum[c] += scale * x[c];
}

void bm_row_log_joint(const mc_data *data, int k, bm_work *w, int i) {
  const int *na = data->na_column;
  const int na_from = data->na_start ? data->na_start[i] : 0;
  const int na_to = na_from + data_n_missing(data, i);
  memcpy(w->row, w->all_zero, (size_t) k * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    add(w->row, 1, w->log_odds + num_at(0, data->column[e], k), k);
  for (int e = na_from; e < na_to; e++) add(w->row, -1, w->log_zero + num_at(0, na[e], k), k);
  if (!w->any_certain) return;
  memset(w->met, 0, (size_t) k * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    add(w->met, 1, w->certain + num_at(0, data->column[e], k), k);
  for (int e = na_from; e < na_to; e++) add(w->met, 1, w->certain + num_at(0, na[e], k), k);
  for (int c = 0; c < k; c++)
    if (w->met[c] < w->n_certain[c]) w->row[c] = -INFINITY;
}

static double log_prior(const mc_data *data, const bm_param *par, const bm_prior *prior) {
  double sum = 0;
  for (int c = 0; c < par->k && prior->weights > 0; c++)
    sum += prior->weights * log(par->weights[c]);
  for (ptrdiff_t i = 0; i < (ptrdiff_t) par->k * data->m; i++) {
    if (prior->one > 0) sum += prior->one * log(par->prototypes[i]);
    if (prior->zero > 0) sum += prior->zero * log1p(-par->prototypes[i]);
  }
  return sum;
}

double bm_prepare(const mc_data *data, const bm_param *par, bm_work *w) {
  take_logs(data, par, w);
  return log_prior(data, par, &w->prior);
}

static double exact_objective(const mc_data *data, const bm_param *par, bm_work *w) {
  double sum = bm_prepare(data, par, w);
  for (int i = 0; i < data->n; i++) {
    if (i % BM_LOOK_EVERY == 0 && mc_stop(w->host, w->passes, w->objective)) return NAN;
    bm_row_log_joint(data, par->k, w, i);
    const double row = num_log_sum_exp(w->row, par->k);
    const bool possible = row > -INFINITY;
    for (int c = 0; c < par->k; c++)
      w->posterior[num_at(i, c, data->n)] = possible ? exp(w->row[c] - row) : par->weights[c];
    w->loglik[i] = row;
    sum += row;
  }
  return sum;
}

double bm_objective(const mc_data *data, const bm_param *par, bm_work *w) {
  return par->smooth ? bm_near_objective(data, par, w, false) : exact_objective(data, par, w);
}

/* The E-step of a pass: the objective, and the posteriors to go by. */
static double expect(const mc_data *data, const bm_param *par, bm_work *w, const double **labels) {
  *labels = par->smooth ? par->membership : w->posterior;
  return par->smooth ? bm_near_objective(data, par, w, true) : exact_objective(data, par, w);
}

#define CANCELLED 1e-8 /* share of a sum left by a subtraction below which it is summed anew */

static bool is_missing(const mc_data *data, int i, int j) {
  int from = data->na_start[i], to = data->na_start[i + 1];
  while (from < to) {
    const int middle = from + (to - from) / 2;
    if (data->na_column[middle] < j)
      from = middle + 1;
    else
      to = middle;
  }
  return from < data->na_start[i + 1] && data->na_column[from] == j;
}

/*
 * Expected observed cells of every component: its rows less the missing cells, which seen holds on
 * entry. Where next to nothing is left of that, rounding would pass for cells, and might make an
 * exact 1 of a prototype, which never moves again: such a column is summed anew. false: stopped.
 */
static bool take_seen(const mc_data *data, int k, const double *labels, bm_work *w) {
  for (int j = 0; j < data->m; j++) {
    double *seen = w->seen + num_at(0, j, k);
    bool lost = false;
    for (int c = 0; c < k; c++) {
      const double left = w->total[c] - seen[c];
      lost = lost || left < CANCELLED * w->total[c];
      seen[c] = left;
    }
    if (!lost) continue;
    if (mc_stop(w->host, w->passes, w->objective)) return false;
    memset(seen, 0, (size_t) k * sizeof(double));
    for (int i = 0; i < data->n; i++)
      for (int c = 0; c < k && !is_missing(data, i, j); c++)
        seen[c] += labels[num_at(i, c, data->n)];
  }
  return true;
}

/*
 * Expected ones, observed cells and rows of each component; returns rows counted: those with a cell
 * observed and, where labels have neighbours to go by, all. Below 0: stopped.
 */
static int add_counts(const mc_data *data, const bm_param *par, const double *labels, bm_work *w) {
  const int k = par->k;
  const size_t size = (size_t) k * (size_t) data->m * sizeof(double);
  int n_rows = 0;
  memset(w->ones, 0, size);
  memset(w->seen, 0, size);
  memset(w->total, 0, (size_t) k * sizeof(double));
  for (int i = 0; i < data->n; i++) {
    const int na_from = data->na_start ? data->na_start[i] : 0;
    if (i % BM_LOOK_EVERY == 0 && mc_stop(w->host, w->passes, w->objective)) return -1;
    if (data_n_observed(data, i) == 0 && !par->smooth) continue;
    n_rows++;
    for (int c = 0; c < k; c++) w->row[c] = labels[num_at(i, c, data->n)];
    add(w->total, 1, w->row, k);
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      add(w->ones + num_at(0, data->column[e], k), 1, w->row, k);
    for (int e = na_from; e < na_from + data_n_missing(data, i); e++)
      add(w->seen + num_at(0, data->na_column[e], k), 1, w->row, k);
  }
  return take_seen(data, k, labels, w) ? n_rows : -1;
}

double bm_pass(const mc_data *data, bm_param *par, bm_work *w) {
  const int k = par->k;
  const double *labels, objective = expect(data, par, w, &labels);
  if (isnan(objective)) return objective;
  const int n_rows = add_counts(data, par, labels, w);
  if (n_rows < 0) return NAN;
  const double rows = n_rows + k * w->prior.weights;
  for (ptrdiff_t at = 0; at < (ptrdiff_t) k * data->m; at++) {
    const double ones = w->ones[at] + w->prior.one;
    const double observed = fmax(w->seen[at], w->ones[at]) + w->prior.one + w->prior.zero;
    if (observed > NUM_TINY) par->prototypes[at] = num_lift(fmin(ones / observed, 1));
  }
  for (int c = 0; c < k && rows > 0; c++)
    par->weights[c] = num_lift((w->total[c] + w->prior.weights) / rows);
  w->passes++;
  return w->objective = objective;
}

#define SHRINK 0.2 /* an extrapolated coordinate comes at most 5 times nearer to its bound */

static double model_pass(void *self) {
  const bm_self *s = self;
  return bm_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const bm_self *s = self;
  return bm_objective(s->data, s->par, s->work);
}

static void model_feasible(void *self, const double *const *safe) {
  const bm_self *s = self;
  num_guard_simplex(s->par->weights, safe[0], 1, s->par->k, SHRINK);
  num_guard_unit(s->par->prototypes, safe[1], (ptrdiff_t) s->par->k * s->data->m, SHRINK);
  if (s->par->smooth) num_guard_simplex(s->par->membership, safe[2], s->data->n, s->par->k, SHRINK);
}

mc_model bm_model(bm_self *self) {
  mc_model model = {.n_block = self->par->smooth ? 3 : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  model.block[0] = self->par->weights;
  model.length[0] = self->par->k;
  model.block[1] = self->par->prototypes;
  model.length[1] = (ptrdiff_t) self->par->k * self->data->m;
  model.block[2] = self->par->membership;
  model.length[2] = (ptrdiff_t) self->data->n * self->par->k;
  return model;
}
