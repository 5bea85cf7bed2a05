#include "nmf/nmf.h"

#include <math.h>
#include <string.h>

#include "nmf/private.h"
#include "num/blas.h"
#include "num/simplex.h"
#include "num/vector.h"

#define MOST_ROUNDS 8    /* of coordinate descent for one row */
#define WORTHWHILE 0.01  /* a further round requires this share of the first round's change */
#define DENSE_ENOUGH 0.2 /* share of nonzeros from which a dense product is faster */

static double *new_doubles(const mc_host *host, ptrdiff_t rows, ptrdiff_t columns) {
  return host->alloc(host->ctx, (size_t) rows * (size_t) columns, sizeof(double));
}

static int longest_row(const mc_data *data) {
  int most = 0;
  for (int i = 0; i < data->n; i++)
    if (data->start[i + 1] - data->start[i] > most) most = data->start[i + 1] - data->start[i];
  return most;
}

static int greater(int a, int b) { return a > b ? a : b; }

nm_work *nm_new_work(const mc_data *data, int k, int n_threads, const mc_host *host) {
  nm_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->host = host;
  work->transposed = mc_transpose(data, host);
  work->rows = num_new_strips(data->n, num_block_rows(data->n, data->m), n_threads);
  work->columns = num_new_strips(data->m, num_block_rows(data->m, data->n), n_threads);
  work->gram = new_doubles(host, k, k);
  work->total = new_doubles(host, k, 1);
  work->scale = new_doubles(host, k, 1);
  const ptrdiff_t longest = greater(longest_row(data), longest_row(&work->transposed));
  const ptrdiff_t b = greater(work->rows.block_rows, work->columns.block_rows);
  const ptrdiff_t by_row = (ptrdiff_t) data->m * work->rows.block_rows;
  const ptrdiff_t by_column = (ptrdiff_t) data->n * work->columns.block_rows;
  const bool dense = data->start[data->n] > DENSE_ENOUGH * (double) data->n * data->m;
  const int n_threads_used = greater(work->rows.n_threads, work->columns.n_threads);
  work->scratch = host->alloc(host->ctx, (size_t) n_threads_used, sizeof *work->scratch);
  for (int t = 0; t < n_threads_used; t++) {
    block_scratch *s = work->scratch + t;
    s->slope = new_doubles(host, k, b);
    s->gram = new_doubles(host, k, k);
    s->sums = new_doubles(host, k, 1);
    s->step = new_doubles(host, k, 1);
    s->poisson =
        num_new_poisson(k, (int) longest, new_doubles(host, num_poisson_size(k, (int) longest), 1),
                        host->alloc(host->ctx, 3 * (size_t) k, sizeof(int)));
    s->dense = dense ? new_doubles(host, by_row > by_column ? by_row : by_column, 1) : NULL;
  }
  return work;
}

/* Products of a block's values with the fixed factor: over nonzeros, or dense through BLAS. */
static void block_slopes(const factor *h, int first, int b, block_scratch *s) {
  const mc_data *data = h->data;
  const int k = h->par->k, m = data->m;
  if (s->dense) memset(s->dense, 0, (size_t) num_at(0, b, m) * sizeof(double));
  memset(s->slope, 0, (size_t) num_at(0, b, k) * sizeof(double));
  for (int i = 0; i < b; i++) {
    double *slope = s->slope + num_at(0, i, k);
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++) {
      if (s->dense)
        s->dense[num_at(data->column[e], i, m)] = value_at(data, e);
      else
        num_add_scaled(slope, value_at(data, e), h->held + num_at(0, data->column[e], k), k);
    }
  }
  if (s->dense) num_gemm(false, false, k, b, m, h->held, k, s->dense, m, 0, s->slope, k);
}

static void add_square(double *gram, double scale, const double *x, int k) {
  for (int c = 0; c < k; c++) num_add_scaled(gram + num_at(0, c, k), scale * x[c], x, k);
}

/*
 * Products of the fixed factor over the observed cells of a row: the total minus the missing cells,
 * or a new sum if cancellation would leave mainly rounding.
 */
static const double *row_gram(const factor *h, int i, block_scratch *s) {
  const mc_data *data = h->data;
  const int k = h->par->k, n_missing = data_n_missing(data, i);
  const double *all = h->work->gram;
  bool cancelled = false;
  if (n_missing == 0) return all;
  memcpy(s->gram, all, (size_t) k * (size_t) k * sizeof(double));
  for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
    add_square(s->gram, -1, h->held + num_at(0, data->na_column[e], k), k);
  for (int c = 0; c < k; c++)
    if (s->gram[num_at(c, c, k)] < NM_CANCELLED * all[num_at(c, c, k)]) cancelled = true;
  if (!cancelled) return s->gram;
  memset(s->gram, 0, (size_t) k * (size_t) k * sizeof(double));
  for (int j = 0, e = data->na_start[i]; j < data->m; j++) {
    if (e < data->na_start[i + 1] && data->na_column[e] == j)
      e++;
    else
      add_square(s->gram, 1, h->held + num_at(0, j, k), k);
  }
  return s->gram;
}

/* Rounds of exact coordinate descent on 1/2 free' gram free - slope' free; updates the gradient. */
static void descend(int k, const double *gram, double *gradient, double *free) {
  double first = 0;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double change = 0;
    for (int c = 0; c < k; c++) {
      const double curvature = gram[num_at(c, c, k)];
      if (curvature <= 0) continue;
      const double next = fmax(free[c] - gradient[c] / curvature, 0), step = next - free[c];
      if (step == 0) continue;
      free[c] = next < NUM_TINY ? 0 : next;
      num_add_scaled(gradient, step, gram + num_at(0, c, k), k);
      change += step * step * curvature;
    }
    if (round == 0) first = change;
    if (change <= WORTHWHILE * first) return;
  }
}

static void euclidean_row(const factor *h, int i, const double *slope, block_scratch *s,
                          row_sum *sum) {
  const mc_data *data = h->data;
  const int k = h->par->k;
  double *free = h->free + num_at(0, i, k), squares = 0;
  const double *gram = row_gram(h, i, s);
  for (int c = 0; c < k; c++) s->step[c] = num_dot(gram + num_at(0, c, k), free, k);
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    squares += value_at(data, e) * value_at(data, e);
  sum->loss += 0.5 * (squares + num_dot(free, s->step, k)) - num_dot(free, slope, k);
  if (!h->update) return;
  if (h->par->multiplicative) {
    for (int c = 0; c < k; c++)
      if (s->step[c] > 0) free[c] = num_lift(free[c] * fmax(slope[c], 0) / s->step[c]);
    return;
  }
  num_add_scaled(s->step, -1, slope, k);
  add_residual(h, free, s->step, slope, sum);
  descend(k, gram, s->step, free);
}

static void do_block(void *self, int strip, int thread, int first, int b) {
  const factor *h = self;
  block_scratch *s = h->work->scratch + thread;
  row_sum *sum = h->work->strip + strip;
  if (h->par->loss == NM_EUCLIDEAN) block_slopes(h, first, b, s);
  for (int i = 0; i < b; i++) {
    if (h->par->loss == NM_EUCLIDEAN)
      euclidean_row(h, first + i, s->slope + num_at(0, i, h->par->k), s, sum);
    else
      nm_kl_row(h, first + i, s, sum);
  }
}

/* Computes the products and sums of the fixed factor, and the scale of its residual. */
static void prepare(const factor *h) {
  nm_work *work = h->work;
  const int k = h->par->k, n = h->data->n, m = h->data->m;
  memset(work->strip, 0, sizeof work->strip);
  memset(work->total, 0, (size_t) k * sizeof(double));
  memset(work->scale, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) num_add_scaled(work->total, 1, h->held + num_at(0, j, k), k);
  for (int i = 0; i < n; i++) num_add_scaled(work->scale, 1.0 / n, h->free + num_at(0, i, k), k);
  if (h->par->loss == NM_EUCLIDEAN)
    num_gemm(false, true, k, k, m, h->held, k, h->held, k, 0, work->gram, k);
  for (int c = 0; c < k; c++) {
    const double kl_scale = work->scale[c] > 0 ? work->total[c] / work->scale[c] : 0;
    work->scale[c] = h->par->loss == NM_EUCLIDEAN ? work->gram[num_at(c, c, k)] : kl_scale;
  }
}

/* Updates one factor; returns false if stopped. */
static bool update_factor(factor *h, const num_strips *rows, row_sum *out) {
  prepare(h);
  if (!mc_scan(h->work->host, h->work->iterations, h->work->objective, rows, do_block, h))
    return false;
  *out = h->work->strip[0];
  for (int s = 1; s < rows->n_strip; s++) {
    out->loss += h->work->strip[s].loss;
    out->off += h->work->strip[s].off;
    out->size += h->work->strip[s].size;
  }
  return true;
}

double nm_pass(const mc_data *data, nm_param *par, nm_work *work) {
  factor rows = {data, par->basis, par->coefficients, par, work, true, NULL, NULL};
  factor columns = {&work->transposed, par->coefficients, par->basis, par, work, true, NULL, NULL};
  memset(work->last, 0, sizeof work->last);
  if (!update_factor(&rows, &work->rows, work->last)) return NAN;
  if (!par->fixed_basis && !update_factor(&columns, &work->columns, work->last + 1)) return NAN;
  work->iterations++;
  return work->objective = -work->last[0].loss;
}

double nm_objective(const mc_data *data, const nm_param *par, nm_work *work) {
  factor rows = {data, par->basis, par->coefficients, par, work, false, NULL, NULL};
  row_sum sum;
  return update_factor(&rows, &work->rows, &sum) ? -sum.loss : NAN;
}

double nm_residual(const nm_work *work) {
  double most = 0;
  for (int side = 0; side < 2; side++)
    if (work->last[side].size > 0) most = fmax(most, work->last[side].off / work->last[side].size);
  return most;
}

static double model_pass(void *self) {
  const nm_self *s = self;
  return nm_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const nm_self *s = self;
  return nm_objective(s->data, s->par, s->work);
}

static double model_residual(void *self) {
  const nm_self *s = self;
  return nm_residual(s->work);
}

static void model_feasible(void *self, const double *const *safe) {
  const nm_self *s = self;
  num_guard_positive(s->par->coefficients, safe[0], num_at(0, s->data->n, s->par->k));
  if (!s->par->fixed_basis)
    num_guard_positive(s->par->basis, safe[1], num_at(0, s->data->m, s->par->k));
}

mc_model nm_model(nm_self *self) {
  mc_model model = {.n_block = self->par->fixed_basis ? 1 : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .residual = self->par->multiplicative ? NULL : model_residual,
                    .feasible = model_feasible,
                    .self = self};
  model.block[0] = self->par->coefficients;
  model.length[0] = num_at(0, self->data->n, self->par->k);
  model.block[1] = self->par->basis;
  model.length[1] = num_at(0, self->data->m, self->par->k);
  return model;
}

/*
 * Multiplicative KL iterations as a sum over rows. pull and seen (k x m) are the numerator and
 * denominator of the basis update: sums over observed cells of coefficients times x / mean, and of
 * coefficients.
 */
static bool sum_rows(void *self, bool evaluate, const double *caps, double *sums) {
  const nm_self *s = self;
  nm_work *work = s->work;
  const nm_param *par = s->par;
  factor here = {s->data, par->basis, par->coefficients, par, work, !evaluate, NULL, NULL};
  factor columns = {&work->transposed, par->coefficients, par->basis, par, work, true, NULL, NULL};
  (void) caps;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  columns.pull = sums + MC_SHARD_HEAD;
  columns.seen = columns.pull + num_at(0, s->data->m, par->k);
  row_sum evaluated = {0}, *sum = evaluate ? &evaluated : work->last;
  if (!update_factor(&here, &work->rows, sum)) return false;
  sums[MC_SHARD_LOGLIK] = work->objective = -sum->loss;
  return evaluate || update_factor(&columns, &work->columns, work->last + 1);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is that of mc_shards */
static bool sum_step(void *self, double *sums, double objective) {
  const nm_self *s = self;
  const ptrdiff_t size = num_at(0, s->data->m, s->par->k);
  const double *pull = sums + MC_SHARD_HEAD, *seen = pull + size;
  double *basis = s->par->basis;
  (void) objective;
  for (ptrdiff_t at = 0; at < size; at++)
    if (seen[at] > 0) basis[at] = num_lift(basis[at] * pull[at] / seen[at]);
  s->work->iterations++;
  return true;
}

static void sum_feasible(void *self, const double *const *safe) {
  const nm_self *s = self;
  const int n = s->data->n, k = s->par->k;
  if (n > 0) num_guard_positive(s->par->coefficients, *safe++, num_at(0, n, k));
  num_guard_positive(s->par->basis, *safe, num_at(0, s->data->m, k));
}

mc_shards nm_sum_model(nm_self *self) {
  const int n = self->data->n;
  const ptrdiff_t size = num_at(0, self->data->m, self->par->k);
  mc_shards out = {.rows = sum_rows, .step = sum_step, .length = MC_SHARD_HEAD + 2 * size};
  out.shared = (mc_model){.feasible = sum_feasible, .self = self};
  mc_add_block(&out.shared, n > 0 ? self->par->coefficients : NULL, num_at(0, n, self->par->k));
  mc_add_block(&out.shared, self->par->basis, size);
  return out;
}
