#include "model_bm.h"

#include <math.h>
#include <string.h>

struct bm_work {
  double *posterior; /* n x k */
  double *log_odds;  /* k x m: log prototype - log(1 - prototype) */
  double *log_zero;  /* k x m: log(1 - prototype) */
  double *all_zero;  /* k: log weight + log-probability of a row of zeros */
  double *row;       /* k */
  double *ones;      /* k x m: expected ones */
  double *cells;     /* k x m: expected missing cells, taken off the total */
  double *total;     /* k: expected rows */
};

bm_work *bm_new_work(const mc_data *data, int k, const mc_host *host) {
  const size_t size = (size_t) k * (size_t) data->m;
  bm_work *work = host->alloc(host->ctx, 1, sizeof *work);
  work->posterior = host->alloc(host->ctx, (size_t) data->n * (size_t) k, sizeof(double));
  work->log_odds = host->alloc(host->ctx, size, sizeof(double));
  work->log_zero = host->alloc(host->ctx, size, sizeof(double));
  work->ones = host->alloc(host->ctx, size, sizeof(double));
  work->cells = host->alloc(host->ctx, size, sizeof(double));
  work->all_zero = host->alloc(host->ctx, (size_t) k, sizeof(double));
  work->row = host->alloc(host->ctx, (size_t) k, sizeof(double));
  work->total = host->alloc(host->ctx, (size_t) k, sizeof(double));
  return work;
}

const double *bm_posterior(const bm_work *work) { return work->posterior; }

static void take_logs(const mc_data *data, const bm_param *par, bm_work *w) {
  const int k = par->k;
  for (int c = 0; c < k; c++) w->all_zero[c] = log(par->weights[c]);
  for (int j = 0; j < data->m; j++) {
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, j, k);
      w->log_zero[at] = log1p(-par->prototypes[at]);
      w->log_odds[at] = log(par->prototypes[at]) - w->log_zero[at];
      w->all_zero[c] += w->log_zero[at];
    }
  }
}

/* Log joint of row i with each component: a row of zeros, corrected at ones and missing cells. */
static void row_log_joint(const mc_data *data, const bm_param *par, bm_work *w, int i) {
  const int k = par->k;
  memcpy(w->row, w->all_zero, (size_t) k * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const double *odds = w->log_odds + num_at(0, data->column[e], k);
    for (int c = 0; c < k; c++) w->row[c] += odds[c];
  }
  for (int e = data->na_start ? data->na_start[i] : 0, to = e + data_n_missing(data, i); e < to;
       e++) {
    const double *zero = w->log_zero + num_at(0, data->na_column[e], k);
    for (int c = 0; c < k; c++) w->row[c] -= zero[c];
  }
}

double bm_objective(const mc_data *data, const bm_param *par, bm_work *w) {
  double loglik = 0;
  take_logs(data, par, w);
  for (int i = 0; i < data->n; i++) {
    row_log_joint(data, par, w, i);
    const double row = num_log_sum_exp(w->row, par->k);
    for (int c = 0; c < par->k; c++) w->posterior[num_at(i, c, data->n)] = exp(w->row[c] - row);
    loglik += row;
  }
  return loglik;
}

/* Expected ones, missing cells and rows of each component. */
static void add_counts(const mc_data *data, int k, bm_work *w) {
  const size_t size = (size_t) k * (size_t) data->m * sizeof(double);
  memset(w->ones, 0, size);
  memset(w->cells, 0, size);
  memset(w->total, 0, (size_t) k * sizeof(double));
  for (int i = 0; i < data->n; i++) {
    for (int c = 0; c < k; c++) {
      w->row[c] = w->posterior[num_at(i, c, data->n)];
      w->total[c] += w->row[c];
    }
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      for (int c = 0; c < k; c++) w->ones[num_at(c, data->column[e], k)] += w->row[c];
    for (int e = data->na_start ? data->na_start[i] : 0, to = e + data_n_missing(data, i); e < to;
         e++)
      for (int c = 0; c < k; c++) w->cells[num_at(c, data->na_column[e], k)] += w->row[c];
  }
}

double bm_pass(const mc_data *data, bm_param *par, bm_work *w) {
  const double loglik = bm_objective(data, par, w);
  add_counts(data, par->k, w);
  for (int j = 0; j < data->m; j++) {
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(c, j, par->k);
      const double observed = w->total[c] - w->cells[at];
      if (observed > NUM_TINY)
        par->prototypes[at] = fmin(fmax(w->ones[at] / observed, par->floor), 1 - par->floor);
    }
  }
  for (int c = 0; c < par->k; c++) par->weights[c] = num_lift(w->total[c] / data->n);
  return loglik;
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
  const ptrdiff_t size = (ptrdiff_t) s->par->k * s->data->m;
  num_guard_simplex(s->par->weights, safe[0], 1, s->par->k, SHRINK);
  num_guard_unit(s->par->prototypes, safe[1], size, SHRINK);
  for (ptrdiff_t i = 0; i < size; i++)
    s->par->prototypes[i] = fmin(fmax(s->par->prototypes[i], s->par->floor), 1 - s->par->floor);
}

mc_model bm_model(bm_self *self) {
  mc_model model = {.n_block = 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  model.block[0] = self->par->weights;
  model.length[0] = self->par->k;
  model.block[1] = self->par->prototypes;
  model.length[1] = (ptrdiff_t) self->par->k * self->data->m;
  return model;
}
