#include "aspect_categorical/em.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/simplex.h"
#include "num/vector.h"

#define BLOCK_ROWS 64

/* Scratch of a thread. */
typedef struct {
  int *value;          /* m: those of the current row */
  double *row, *count; /* k: its memberships; its expected cells over membership */
} row_scratch;

struct ac_work {
  ac_prior prior;
  double row_total, value_total; /* sums of pseudo-counts */
  const mc_host *host;
  num_strips rows;
  num_sums sums; /* k x m x n_value: sum over rows of membership / P(its value), for each value */
  double loglik[NUM_MAX_STRIP];
  row_scratch *scratch; /* one a thread */
  int iterations;
  double objective; /* of the last iteration, for the host */
};

static double total_of(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

ac_work *ac_new_work(const mc_data *data, const ac_param *par, const ac_prior *prior, int n_threads,
                     const mc_host *host) {
  ac_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->row_total = total_of(prior->membership, par->k);
  work->value_total = total_of(prior->values, par->n_value);
  work->host = host;
  work->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  work->sums.size = num_at(0, data->m, par->k) * par->n_value;
  for (int s = 0; s < work->rows.n_strip; s++)
    work->sums.part[s] = mc_doubles(host, work->sums.size, 1);
  work->scratch = host->alloc(host->ctx, (size_t) work->rows.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->rows.n_threads; t++) {
    row_scratch *s = work->scratch + t;
    s->value = host->alloc(host->ctx, (size_t) data->m, sizeof *s->value);
    s->row = mc_doubles(host, par->k, 1);
    s->count = mc_doubles(host, par->k, 1);
  }
  return work;
}

void ac_row_values(const mc_data *data, int i, int *value) {
  memset(value, 0, (size_t) data->m * sizeof *value);
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    value[data->column[e]] = data->value ? (int) data->value[e] : 1;
  for (int e = 0; e < data_n_missing(data, i); e++)
    value[data->na_column[data->na_start[i] + e]] = -1;
}

typedef struct {
  const mc_data *data;
  const ac_param *par;
  ac_work *work;
  bool move; /* an iteration, not only its objective */
} scan;

static ptrdiff_t profile_at(const scan *w, int j, int value) {
  return w->par->k * (j + (ptrdiff_t) w->data->m * value);
}

/* E-step of a row: its log-likelihood and, if wanted, counts = sum over cells of profiles / P. */
static double expect_row(const scan *w, row_scratch *s, bool want_counts) {
  const int k = w->par->k;
  num_log_product likelihood = {0, 1};
  memset(s->count, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < w->data->m; j++) {
    if (s->value[j] < 0) continue;
    const double *profile = w->par->profiles + profile_at(w, j, s->value[j]);
    const double p = num_dot(s->row, profile, k);
    num_times(&likelihood, p);
    if (want_counts) num_add_scaled(s->count, 1 / p, profile, k);
  }
  return num_log_of(&likelihood);
}

/* Memberships times their counts, with pseudo-counts, over all cells of the row. */
static void update_row(const scan *w, row_scratch *s, int i) {
  const double *pseudo = w->work->prior.membership;
  const double total = data_n_observed(w->data, i) + w->work->row_total;
  if (total <= 0) return; /* nothing observed, no prior: the row is unchanged */
  for (int c = 0; c < w->par->k; c++) {
    s->row[c] = num_lift((s->row[c] * s->count[c] + pseudo[c]) / total);
    w->par->membership[num_at(i, c, w->data->n)] = s->row[c];
  }
}

static void add_row(const scan *w, const row_scratch *s, double *sums) {
  for (int j = 0; j < w->data->m; j++) {
    if (s->value[j] < 0) continue;
    const ptrdiff_t at = profile_at(w, j, s->value[j]);
    const double p = num_dot(s->row, w->par->profiles + at, w->par->k);
    num_add_scaled(sums + at, 1 / p, s->row, w->par->k);
  }
}

static void scan_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  row_scratch *s = w->work->scratch + thread;
  for (int i = first; i < first + b; i++) {
    ac_row_values(w->data, i, s->value);
    for (int c = 0; c < w->par->k; c++) s->row[c] = w->par->membership[num_at(i, c, w->data->n)];
    w->work->loglik[strip] += expect_row(w, s, w->move);
    if (!w->move) continue;
    update_row(w, s, i);
    if (!w->par->fixed_profiles) add_row(w, s, w->work->sums.part[strip]);
  }
}

/* Scans all rows; returns the log-likelihood at the parameters before, NaN if stopped. */
static double scan_rows(const mc_data *data, const ac_param *par, ac_work *work, bool move) {
  scan w = {data, par, work, move};
  double loglik = 0;
  memset(work->loglik, 0, sizeof work->loglik);
  const bool summed = move && !par->fixed_profiles;
  if (!mc_scan_sums(work->host, work->iterations, work->objective, &work->rows, scan_block, &w,
                    summed ? &work->sums : NULL))
    return NAN;
  for (int s = 0; s < work->rows.n_strip; s++) loglik += work->loglik[s];
  return loglik;
}

/* Profiles: expected cells of each value, with pseudo-counts, over their total. */
static void update_profiles(const mc_data *data, ac_param *par, ac_work *work) {
  const ptrdiff_t size = num_at(0, data->m, par->k);
  const double *sum = work->sums.part[0];
  for (ptrdiff_t at = 0; at < size; at++) {
    double total = 0;
    if (par->fixed && par->fixed[at % par->k]) continue;
    for (int v = 0; v < par->n_value; v++)
      total += par->profiles[at + v * size] * sum[at + v * size] + work->prior.values[v];
    if (total <= 0) continue; /* explains no cell of the column, no prior: unchanged */
    for (int v = 0; v < par->n_value; v++) {
      double *p = par->profiles + at + v * size;
      *p = num_lift((*p * sum[at + v * size] + work->prior.values[v]) / total);
    }
  }
}

/* count times the sum of logs of n values. */
static double weighted_logs(double count, const double *x, ptrdiff_t n) {
  num_log_product product = {0, 1};
  if (count <= 0) return 0;
  for (ptrdiff_t i = 0; i < n; i++) num_times(&product, x[i]);
  return count * num_log_of(&product);
}

double ac_log_prior(const ac_prior *prior, const ac_param *par, int n, int m) {
  const int k = par->k;
  double sum = 0;
  for (int c = 0; c < k; c++)
    sum += weighted_logs(prior->membership[c], par->membership + num_at(0, c, n), n);
  for (int v = 0; v < par->n_value; v++) {
    num_log_product product = {0, 1};
    if (prior->values[v] <= 0) continue;
    for (int j = 0; j < m; j++)
      for (int c = 0; c < k; c++)
        if (!par->fixed || !par->fixed[c])
          num_times(&product, par->profiles[c + k * (j + (ptrdiff_t) m * v)]);
    sum += prior->values[v] * num_log_of(&product);
  }
  return sum;
}

double ac_pass(const mc_data *data, ac_param *par, ac_work *work) {
  const double beside = ac_log_prior(&work->prior, par, data->n, data->m);
  const double loglik = scan_rows(data, par, work, true);
  if (isnan(loglik)) return NAN;
  if (!par->fixed_profiles) update_profiles(data, par, work);
  work->iterations++;
  return work->objective = loglik + beside;
}

double ac_objective(const mc_data *data, const ac_param *par, ac_work *work) {
  return ac_log_prior(&work->prior, par, data->n, data->m) + scan_rows(data, par, work, false);
}

static double model_pass(void *self) {
  const ac_self *s = self;
  return ac_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const ac_self *s = self;
  return ac_objective(s->data, s->par, s->work);
}

/* Rows of the second block are the distributions over values, one a component and column. */
static void model_feasible(void *self, const double *const *safe) {
  const ac_self *s = self;
  const ac_param *par = s->par;
  num_guard_simplex(par->membership, safe[0], s->data->n, par->k);
  if (!par->fixed_profiles)
    num_guard_simplex(par->profiles, safe[1], par->k * s->data->m, par->n_value);
}

mc_model ac_model(ac_self *self) {
  const ac_param *par = self->par;
  const ptrdiff_t size = num_at(0, self->data->m, par->k) * par->n_value;
  mc_model model = {
      .pass = model_pass, .objective = model_objective, .feasible = model_feasible, .self = self};
  mc_add_block(&model, par->membership, (ptrdiff_t) self->data->n * par->k);
  mc_add_block(&model, par->fixed_profiles ? NULL : par->profiles, size);
  return model;
}
