/* model_nor_jj.c: the paper's variational EM; its rows and its roots have files of their own. */
#include "model_nor_jj.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 64
#define LEAST_MOVED 1e-10 /* where a prior lifts links off 0, they start from here */

void nor_to_theta(const nor_param *par, int m, const nor_settings *set, nor_theta *var) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++) {
    const bool lifted = set->links.one > 0 && nor_allowed(set, at);
    const double theta = fmin(-log1p(-par->links[at]), NOR_MOST_THETA);
    var->links[at] = lifted ? fmax(theta, LEAST_MOVED) : fmax(theta, 0);
  }
  for (int j = 0; j < m; j++)
    var->leak[j] = fmax(fmin(-log1p(-par->leak[j]), NOR_MOST_THETA), NOR_LEAST_LEAK);
}

void nor_from_theta(const nor_theta *var, int m, nor_param *par) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++)
    par->links[at] = -expm1(-var->links[at]);
  for (int j = 0; j < m; j++) par->leak[j] = -expm1(-var->leak[j]);
}

/* The ones of each column, by counting. */
static void index_columns(nor_variational *work) {
  const mc_data *data = work->data;
  int *start = work->column_start;
  for (int e = 0; e < data->start[data->n]; e++) start[data->column[e] + 1]++;
  for (int j = 0; j < data->m; j++) start[j + 1] += start[j];
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++) {
      const int at = start[data->column[e]]++;
      work->column_place[at] = e;
      work->column_row[at] = i;
    }
  for (int j = data->m; j > 0; j--) start[j] = start[j - 1];
  start[0] = 0;
}

nor_variational *nor_new_variational(const mc_data *data, nor_param *par, nor_theta *var,
                                     const nor_settings *set) {
  const mc_host *host = set->host;
  const size_t k = (size_t) par->k, m = (size_t) data->m, n = (size_t) data->n;
  const size_t n_one = (size_t) data->start[data->n];
  nor_variational *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->data = data;
  work->par = par;
  work->var = var;
  work->set = set;
  work->totals = nor_count(data, set);
  work->strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  work->columns = num_new_strips(data->m, 1, work->strips.n_threads);
  work->activation = host->alloc(host->ctx, n * k, sizeof(double));
  work->bound = host->alloc(host->ctx, n, sizeof(double));
  work->all_off = host->alloc(host->ctx, k + 1, sizeof(double));
  work->n_live = host->alloc(host->ctx, m, sizeof(int));
  work->live = host->alloc(host->ctx, k * m, sizeof(int));
  work->leak_log = host->alloc(host->ctx, m, sizeof(double));
  work->column_start = host->alloc(host->ctx, m + 1, sizeof(int));
  work->column_place = host->alloc(host->ctx, n_one, sizeof(int));
  work->column_row = host->alloc(host->ctx, n_one, sizeof(int));
  work->off = host->alloc(host->ctx, k * m, sizeof(double));
  index_columns(work);
  work->scratch = host->alloc(host->ctx, (size_t) work->strips.n_threads, sizeof(nor_scratch));
  for (int t = 0; t < work->strips.n_threads; t++) nor_new_scratch(work, work->scratch + t);
  return work;
}

/* Sums and short cuts at the parameters at hand. */
static void make_ready(nor_variational *work) {
  const int k = work->par->k;
  memset(work->all_off, 0, (size_t) (k + 1) * sizeof(double));
  for (int j = 0; j < work->data->m; j++) {
    work->n_live[j] = 0;
    for (int c = 0; c < k; c++) {
      const double theta = work->var->links[num_at(c, j, k)];
      if (theta <= 0) continue;
      work->live[num_at(work->n_live[j]++, j, k)] = c;
      work->all_off[c] += theta;
    }
    work->all_off[k] += work->var->leak[j];
    work->leak_log[j] = nor_log_on(work->var->leak[j]).f;
  }
}

/* Activations, bounds, and, where asked, the steps of q. NaN: stopped. */
static double visit(nor_variational *work, bool move_q) {
  double bound = 0;
  work->move_q = move_q;
  make_ready(work);
  if (!num_visit(&work->strips, nor_jj_rows, work, work->set->host, work->passes, work->objective))
    return NAN;
  for (int i = 0; i < work->data->n; i++) bound += nor_weight(work->set, i) * work->bound[i];
  nor_from_theta(work->var, work->data->m, work->par);
  return nor_objective(work->set, work->par, work->data->m, bound);
}

/* Eq. (3.15). */
static void update_prior(nor_variational *work) {
  const int k = work->par->k;
  double *on = work->scratch[0].sum;
  memset(on, 0, (size_t) k * sizeof(double));
  for (int i = 0; i < work->data->n; i++)
    for (int c = 0; c < k; c++)
      on[c] += nor_weight(work->set, i) * work->activation[num_at(c, i, k)];
  nor_update_prior(work->set, on, work->totals.rows, work->par);
  for (int c = 0; c < k; c++)
    work->par->prior[c] = fmin(fmax(work->par->prior[c], NOR_LEAST_PRIOR), 1 - NOR_LEAST_PRIOR);
}

/* Expected numbers of zeros with a source on: over rows, without ones and missing cells. */
static void count_off(nor_variational *work) {
  const mc_data *data = work->data;
  const int k = work->par->k;
  double *on = work->scratch[0].sum;
  memset(on, 0, (size_t) k * sizeof(double));
  memset(work->off, 0, (size_t) k * (size_t) data->m * sizeof(double));
  for (int i = 0; i < data->n; i++) {
    const double weight = nor_weight(work->set, i);
    const double *active = work->activation + num_at(0, i, k);
    const int n_one = data->start[i + 1] - data->start[i], n_missing = data_n_missing(data, i);
    for (int c = 0; c < k; c++) on[c] += weight * active[c];
    for (int e = 0; e < n_one + n_missing; e++) {
      const int j = e < n_one ? data->column[data->start[i] + e]
                              : data->na_column[data->na_start[i] + e - n_one];
      for (int c = 0; c < k; c++) work->off[num_at(c, j, k)] -= weight * active[c];
    }
  }
  for (int j = 0; j < data->m; j++)
    for (int c = 0; c < k; c++) {
      double *off = work->off + num_at(c, j, k);
      *off += on[c];
      if (*off < 1e-13 * on[c]) *off = 0; /* what subtraction leaves of none */
    }
}

static void solve_columns(void *self, int strip, int thread, int first, int b) {
  (void) strip;
  (void) thread;
  for (int j = first; j < first + b; j++) nor_solve_column(self, j);
}

static double pass(void *self) {
  nor_variational *work = self;
  const double value = visit(work, true);
  if (!isfinite(value)) return value;
  if (!work->set->fixed) {
    count_off(work);
    if (!num_visit(&work->columns, solve_columns, work, work->set->host, work->passes, value))
      return NAN;
    update_prior(work);
  }
  work->passes++;
  return work->objective = value;
}

static double objective(void *self) { return visit(self, false); }

static void guard(double *theta, const double *safe, ptrdiff_t n, double least) {
  for (ptrdiff_t at = 0; at < n; at++) {
    const double low = fmax(safe[at] / 5, least);
    const double high = NOR_MOST_THETA - (NOR_MOST_THETA - safe[at]) / 5;
    theta[at] = safe[at] <= 0 ? 0 : fmin(fmax(theta[at], low), high);
  }
}

/* q stays on the simplex; exact zeros stay. */
static void guard_q(double *q, const double *safe, ptrdiff_t n_one, int k) {
  for (ptrdiff_t e = 0; e < n_one; e++) {
    double *at = q + num_at(0, e, k), sum = 0;
    const double *low = safe + num_at(0, e, k);
    for (int c = 0; c < k; c++) {
      at[c] = low[c] > 0 ? fmax(at[c], low[c] / 5) : 0;
      sum += at[c];
    }
    for (int c = 0; c < k; c++) at[c] /= sum;
  }
}

static void feasible(void *self, const double *const *safe) {
  nor_variational *work = self;
  const ptrdiff_t k = work->par->k, m = work->data->m;
  num_guard_unit(work->par->prior, safe[0], k, 0.2);
  guard(work->var->links, safe[1], k * m, 0);
  guard(work->var->leak, safe[2], m, NOR_LEAST_LEAK);
  guard_q(work->var->q, safe[3], work->data->start[work->data->n], (int) k);
}

mc_model nor_variational_model(nor_variational *work) {
  mc_model model = {.pass = pass, .objective = objective, .feasible = feasible, .self = work};
  nor_blocks(work->par, work->data->m, &model);
  model.block[1] = work->var->links;
  model.block[2] = work->var->leak;
  model.n_block = 4;
  model.block[3] = work->var->q;
  model.length[3] = (ptrdiff_t) work->par->k * work->data->start[work->data->n];
  return model;
}

void nor_variational_rows(nor_variational *work, double *activation, double *bound) {
  const int n = work->data->n, k = work->par->k;
  visit(work, false);
  for (int i = 0; i < n; i++) {
    bound[i] = work->bound[i];
    for (int c = 0; c < k; c++) activation[num_at(i, c, n)] = work->activation[num_at(c, i, k)];
  }
}
