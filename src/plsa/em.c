#include "plsa/plsa.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/blocks.h"
#include "num/vector.h"

#define DENSE_FILL 0.12 /* share of cells scanned above which matrix products beat gathering */
#define FIRST_PASSES 20 /* EM iterations before Newton's, which would set needed parts to 0 */
#define GATHER_ROWS 64  /* rows per block if cells are gathered */

typedef struct {
  double *rows;   /* k x b: memberships */
  double *counts; /* k x b: expected counts over membership */
  double *ratio;  /* m x b: x / p; NULL: cells are gathered */
  double *p;      /* m x b, or m if cells are gathered */
  double *omega;  /* k: expected counts of a row */
  double *spare;  /* k */
} block_scratch;

typedef struct {
  double *xi; /* k x m: sum over rows of membership x / p */
  double loglik;
} strip_sum;

struct plsa_work {
  plsa_prior prior;
  plsa_missing missing;
  const mc_host *host;
  num_strips strips;
  bool dense;
  strip_sum strip[NUM_MAX_STRIP];
  num_sums sums;                /* their xi */
  block_scratch *scratch;       /* one per thread */
  double *line, *omega, *spare; /* m: a component's basis, its counts, scratch */
  int iterations;
  double objective; /* of the last iteration, reported to the host */
};

plsa_work *plsa_new_work(const mc_data *data, const plsa_prior *prior, plsa_missing missing, int k,
                         int n_threads, const mc_host *host) {
  const int m = data->m;
  const bool impute = data->na_start && missing == PLSA_CONDITIONAL;
  const double scanned = (double) data->start[data->n] + (impute ? data->na_start[data->n] : 0);
  plsa_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->missing = missing;
  work->host = host;
  work->dense = scanned > DENSE_FILL * (double) data->n * data->m;
  work->strips = num_new_strips(
      data->n, work->dense ? num_block_rows(data->n, data->m) : GATHER_ROWS, n_threads);
  work->sums.size = num_at(0, m, k);
  for (int s = 0; s < work->strips.n_strip; s++)
    work->sums.part[s] = work->strip[s].xi = mc_doubles(host, k, m);
  work->scratch = host->alloc(host->ctx, (size_t) work->strips.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->strips.n_threads; t++) {
    const int b = work->strips.block_rows;
    block_scratch *s = work->scratch + t;
    s->rows = mc_doubles(host, k, b);
    s->counts = mc_doubles(host, k, b);
    s->ratio = work->dense ? mc_doubles(host, m, b) : NULL;
    s->p = mc_doubles(host, m, work->dense ? b : 1);
    s->omega = mc_doubles(host, k, 1);
    s->spare = mc_doubles(host, k, 1);
  }
  work->line = mc_doubles(host, m, 1);
  work->omega = mc_doubles(host, m, 1);
  work->spare = mc_doubles(host, m, 1);
  return work;
}

typedef struct {
  const mc_data *data;
  const plsa_param *par;
  plsa_work *work;
  bool update;
  const plsa_rows_weigher *weigher; /* NULL: memberships themselves are used */
} scan;

/* Number of missing cells of a row that the rule includes in the E-step. */
static int n_imputed(const scan *w, int i) {
  return w->work->missing == PLSA_CONDITIONAL ? data_n_missing(w->data, i) : 0;
}

/* p of a cell, from the block's product or computed on demand. */
static NUM_INLINE double cell_p(const scan *w, const block_scratch *s, int at, int j) {
  const int k = w->par->k;
  if (s->ratio) return s->p[num_at(j, at, w->data->m)];
  return num_dot(s->rows + num_at(0, at, k), w->par->basis + num_at(0, j, k), k);
}

/* Adds a cell's ratio x / p to the sums of eq. (6), directly or through the block's products. */
static void add_cell(const scan *w, block_scratch *s, strip_sum *sum, int at, int j, double ratio) {
  const int k = w->par->k;
  if (s->ratio) {
    s->ratio[num_at(j, at, w->data->m)] = ratio;
    return;
  }
  num_add_scaled(s->counts + num_at(0, at, k), ratio, w->par->basis + num_at(0, j, k), k);
  if (!w->par->fixed_basis)
    num_add_scaled(sum->xi + num_at(0, j, k), ratio, s->rows + num_at(0, at, k), k);
}

/* P(observed) of a row with missing cells, from the smaller of the two sums if probabilities sum to 1. */
static double p_observed(const scan *w, const block_scratch *s, int i, int at) {
  const mc_data *data = w->data;
  const int *missing = data->na_column + data->na_start[i], n_missing = data_n_missing(data, i);
  double gone = 0, sum = 0;
  for (int e = 0; e < n_missing; e++) gone += cell_p(w, s, at, missing[e]);
  if (gone < 0.5 || w->weigher) return 1 - gone;
  for (int j = 0, e = 0; j < data->m; j++) {
    if (e < n_missing && missing[e] == j)
      e++;
    else
      sum += cell_p(w, s, at, j);
  }
  return sum;
}

/*
 * Imputes the row's missing cells at their conditional mean, p N / P(observed) (the formula of
 * section 4.1), whose ratio to p is the same for all. Returns the contribution of conditioning to
 * the log-likelihood.
 */
static double impute_row(const scan *w, block_scratch *s, strip_sum *sum, int i, int at,
                         double total) {
  const mc_data *data = w->data;
  if (n_imputed(w, i) == 0 || total <= 0) return 0;
  const double p = p_observed(w, s, i, at);
  if (p <= 0) return INFINITY; /* then p is 0 at a positive count as well: -Inf in total */
  if (w->update)
    for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
      add_cell(w, s, sum, at, data->na_column[e], total / p);
  return -total * log(p);
}

/* Eq. (6) for row i, the at-th of its block. */
static void do_row(const scan *w, block_scratch *s, strip_sum *sum, int i, int at) {
  const mc_data *data = w->data;
  double total = 0, loglik = 0;
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const int j = data->column[e];
    const double x = data->value ? data->value[e] : 1, p = cell_p(w, s, at, j);
    total += x;
    loglik += x * log(p);
    if (w->update && p > 0) add_cell(w, s, sum, at, j, x / p);
  }
  const double given = impute_row(w, s, sum, i, at, total);
  sum->loglik += loglik > -INFINITY ? loglik + given : loglik;
}

/* M-step of a row: eq. (3), or eqs. (7)-(8) with an entropic prior. */
static void update_row(const scan *w, block_scratch *s, int i, int at) {
  const int k = w->par->k;
  const plsa_prior *prior = &w->work->prior;
  double *row = s->rows + num_at(0, at, k), *counts = s->counts + num_at(0, at, k), total = 0;
  for (int c = 0; c < k; c++) s->omega[c] = row[c] * counts[c];
  if (w->par->smooth) num_add_scaled(s->omega, 1, mc_smooth_row(w->par->smooth, i), k);
  if (prior->row_added) num_add_scaled(s->omega, 1, prior->row_added, k);
  for (int c = 0; c < k; c++) total += s->omega[c];
  if (total <= 0) return; /* no counts: the row is unchanged */
  if (prior->membership && prior->membership[i] != 0) {
    num_entropic(s->omega, k, prior->membership[i], prior->rule, row, s->spare);
    for (int c = 0; c < k; c++) row[c] = num_lift(row[c]);
  } else {
    for (int c = 0; c < k; c++) row[c] = num_lift(s->omega[c] / total);
  }
}

static void do_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  const int n = w->data->n, m = w->data->m, k = w->par->k;
  block_scratch *s = w->work->scratch + thread;
  strip_sum *sum = w->work->strip + strip;
  num_take_rows(w->par->membership, n, first, b, k, s->rows);
  if (w->weigher) w->weigher->weigh(w->weigher->ctx, strip, s->rows, b);
  if (w->update) memset(s->counts, 0, (size_t) k * (size_t) b * sizeof(double));
  if (s->ratio) {
    num_gemm(true, false, m, b, k, w->par->basis, k, s->rows, k, 0, s->p, m);
    if (w->update) memset(s->ratio, 0, (size_t) m * (size_t) b * sizeof(double));
  }
  for (int at = 0; at < b; at++) do_row(w, s, sum, first + at, at);
  if (!w->update) return;
  if (s->ratio) {
    num_gemm(false, false, k, b, m, w->par->basis, k, s->ratio, m, 0, s->counts, k);
    if (!w->par->fixed_basis)
      num_gemm(false, true, k, m, b, s->rows, k, s->ratio, m, 1, sum->xi, k);
  }
  if (w->weigher)
    for (ptrdiff_t e = 0; e < num_at(0, b, k); e++)
      s->rows[e] = num_lift(s->rows[e] * s->counts[e]);
  else
    for (int at = 0; at < b; at++) update_row(w, s, first + at, at);
  num_put_rows(s->rows, n, first, b, k, w->par->membership);
}

/* Scans all rows and adds up the strips' sums in strip 0, in order; false: stopped. */
static bool do_rows(scan *w) {
  plsa_work *work = w->work;
  const num_sums *sums = w->update && !w->par->fixed_basis ? &work->sums : NULL;
  for (int s = 0; s < work->strips.n_strip; s++) work->strip[s].loglik = 0;
  if (!mc_scan_sums(work->host, work->iterations, work->objective, &work->strips, do_block, w,
                    sums))
    return false;
  for (int s = 1; s < work->strips.n_strip; s++) work->strip[0].loglik += work->strip[s].loglik;
  return true;
}

bool plsa_update_basis(int m, plsa_param *par, plsa_work *work, const double *xi) {
  const int k = par->k;
  for (int c = 0; c < k; c++) {
    double total = 0;
    for (int j = 0; j < m; j++) {
      const ptrdiff_t at = num_at(c, j, k);
      work->line[j] = par->basis[at];
      total += work->omega[j] = work->line[j] * xi[at] + work->prior.basis_added;
    }
    if (total <= 0) continue; /* an empty component keeps its shape */
    if (mc_stop(work->host, work->iterations, work->objective)) return false;
    if (work->prior.basis != 0)
      num_entropic(work->omega, m, work->prior.basis, work->prior.rule, work->line, work->spare);
    else
      for (int j = 0; j < m; j++) work->line[j] = work->omega[j] / total;
    for (int j = 0; j < m; j++) par->basis[num_at(c, j, k)] = num_lift(work->line[j]);
  }
  return true;
}

static double sum_p_log_p(double p) { return p > 0 ? p * log(p) : 0; }

/* added * sum log p, with 0 log 0 = 0. */
static double sum_log(double added, const double *p, ptrdiff_t length) {
  double sum = 0;
  for (ptrdiff_t at = 0; added > 0 && at < length; at++) sum += log(p[at]);
  return added > 0 ? added * sum : 0;
}

double plsa_log_prior_rows(int n, const plsa_param *par, const plsa_work *work) {
  const plsa_prior *prior = &work->prior;
  double sum = 0;
  for (int c = 0; c < par->k && prior->membership; c++)
    for (int i = 0; i < n; i++)
      if (prior->membership[i] != 0)
        sum += prior->membership[i] * sum_p_log_p(par->membership[num_at(i, c, n)]);
  for (int c = 0; c < par->k && prior->row_added; c++)
    sum += sum_log(prior->row_added[c], par->membership + num_at(0, c, n), n);
  return sum;
}

double plsa_log_prior_basis(int m, const plsa_param *par, const plsa_work *work) {
  const ptrdiff_t size = (ptrdiff_t) par->k * m;
  double sum = 0;
  for (ptrdiff_t at = 0; work->prior.basis != 0 && at < size; at++)
    sum += sum_p_log_p(par->basis[at]);
  return work->prior.basis * sum + sum_log(work->prior.basis_added, par->basis, size);
}

/* Terms of the objective besides the log-likelihood; also computes the pulls of neighbours. */
static double beside_loglik(const scan *w) {
  mc_smooth *smooth = w->par->smooth;
  const double near = smooth ? mc_smooth_pull(smooth, w->par->membership, w->update) : 0;
  const double rows = near + plsa_log_prior_rows(w->data->n, w->par, w->work);
  return w->par->fixed_basis ? rows : rows + plsa_log_prior_basis(w->data->m, w->par, w->work);
}

double plsa_pass(const mc_data *data, plsa_param *par, plsa_work *work) {
  scan w = {data, par, work, true, NULL};
  const double prior = beside_loglik(&w);
  if (!do_rows(&w)) return NAN;
  if (!par->fixed_basis && !plsa_update_basis(data->m, par, work, work->strip[0].xi)) return NAN;
  work->iterations++;
  return work->objective = work->strip[0].loglik + prior;
}

double plsa_em_rows(const mc_data *data, plsa_param *par, plsa_work *work, const double **xi) {
  scan w = {data, par, work, xi != NULL, NULL};
  if (xi) *xi = work->strip[0].xi;
  return do_rows(&w) ? work->strip[0].loglik : NAN;
}

double plsa_expect(const mc_data *data, plsa_param *par, plsa_work *work,
                   const plsa_rows_weigher *weigher, bool update, const double **xi) {
  scan w = {data, par, work, update, weigher};
  *xi = work->strip[0].xi;
  if (!do_rows(&w)) return NAN;
  work->iterations += update;
  return work->objective = work->strip[0].loglik;
}

double plsa_objective(const mc_data *data, const plsa_param *par, plsa_work *work) {
  scan w = {data, par, work, false, NULL};
  const double prior = beside_loglik(&w);
  return do_rows(&w) ? work->strip[0].loglik + prior : NAN;
}

static double model_pass(void *self) {
  plsa_self *s = self;
  const bool newton = s->newton && (s->par->fixed_basis || s->work->iterations >= FIRST_PASSES);
  return newton ? plsa_newton_pass(s->data, s->par, s->newton)
                : plsa_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const plsa_self *s = self;
  return plsa_objective(s->data, s->par, s->work);
}

static void model_feasible(void *self, const double *const *safe) {
  const plsa_self *s = self;
  num_guard_simplex(s->par->membership, safe[0], s->data->n, s->par->k);
  if (!s->par->fixed_basis) num_guard_simplex(s->par->basis, safe[1], s->par->k, s->data->m);
}

mc_model plsa_model(plsa_self *self) {
  mc_model model = {.n_block = self->par->fixed_basis ? 1 : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  model.block[0] = self->par->membership;
  model.length[0] = (ptrdiff_t) self->data->n * self->par->k;
  model.block[1] = self->par->basis;
  model.length[1] = (ptrdiff_t) self->par->k * self->data->m;
  return model;
}
