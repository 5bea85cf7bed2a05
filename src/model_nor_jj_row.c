/* model_nor_jj_row.c: the paper's E-step of a row, and the steps of q at its ones. */
#include "model_nor_jj.h"

#include <math.h>
#include <string.h>

#include "num_log_on.h"

#define FAR 45. /* f and u f' beyond it are below rounding beside f(theta0) */

void nor_new_scratch(const nor_variational *work, nor_scratch *s) {
  const mc_data *data = work->data;
  const mc_host *host = work->set->host;
  const size_t k = (size_t) work->par->k;
  int most = 0;
  for (int i = 0; i < data->n; i++) most = (int) fmax(most, data->start[i + 1] - data->start[i]);
  const size_t size = k * (size_t) most + 1;
  int tallest = 0;
  for (int j = 0; j < data->m; j++)
    tallest = (int) fmax(tallest, work->column_start[j + 1] - work->column_start[j]);
  const size_t n_term = k * (size_t) tallest + 1;
  double **const entry[] = {&s->theta, &s->q, &s->leak, &s->leak_log,
                            &s->on,    &s->y, &s->f,    &s->slope};
  for (size_t a = 0; a < sizeof entry / sizeof entry[0]; a++)
    *entry[a] = host->alloc(host->ctx, size, sizeof(double));
  double **const term[] = {&s->scale, &s->offset, &s->rate, &s->term_y, &s->term_slope};
  for (size_t a = 0; a < sizeof term / sizeof term[0]; a++)
    *term[a] = host->alloc(host->ctx, n_term, sizeof(double));
  s->source = host->alloc(host->ctx, size, sizeof(int));
  s->first = host->alloc(host->ctx, (size_t) most + 1, sizeof(int));
  s->moved = host->alloc(host->ctx, (size_t) most + 1, 1);
  s->sum = host->alloc(host->ctx, k + 1, sizeof(double));
}

/* Lays the live sources of a row's ones side by side. */
static void lay_out(const nor_variational *work, int i, nor_scratch *s) {
  const mc_data *data = work->data;
  const int k = work->par->k, from = data->start[i];
  s->n_one = data->start[i + 1] - from;
  s->first[0] = 0;
  for (int e = 0; e < s->n_one; e++) {
    const int j = data->column[from + e];
    const double *theta = work->var->links + num_at(0, j, k);
    const double *q = work->var->q + num_at(0, from + e, k);
    int at = s->first[e];
    for (int l = 0; l < work->n_live[j]; l++, at++) {
      const int c = work->live[num_at(l, j, k)];
      s->source[at] = c;
      s->theta[at] = theta[c];
      s->q[at] = q[c];
      s->leak[at] = work->var->leak[j];
      s->leak_log[at] = work->leak_log[j];
    }
    s->first[e + 1] = at;
    s->moved[e] = false;
  }
}

/* y = theta0 + u with u = theta / q. */
NUM_HOT static void add_share(const double *leak, const double *theta, const double *q, double *y,
                              int n) {
  for (int at = 0; at < n; at++) {
    const double sum = leak[at] + theta[at] / q[at];
    y[at] = sum < FAR ? sum : FAR; /* also where q is 0 */
  }
}

/* f(y) and f'(y) of all sources at all ones. */
static void evaluate(nor_scratch *s) {
  const int n = s->first[s->n_one];
  add_share(s->leak, s->theta, s->q, s->y, n);
  num_log_on(s->y, s->f, s->slope, n);
}

/* Takes a row's cells that are no zeros out of the sums over zeros: theta, and the leak's. */
static void row_zeros(const nor_variational *work, int i, double *off) {
  const mc_data *data = work->data;
  const int k = work->par->k;
  for (int c = 0; c <= k; c++) off[c] = work->all_off[c];
  const int n_one = data->start[i + 1] - data->start[i], n_missing = data_n_missing(data, i);
  for (int e = 0; e < n_one + n_missing; e++) {
    const int j = e < n_one ? data->column[data->start[i] + e]
                            : data->na_column[data->na_start[i] + e - n_one];
    for (int l = 0; l < work->n_live[j]; l++) {
      const int c = work->live[num_at(l, j, k)];
      off[c] -= work->var->links[num_at(c, j, k)];
    }
    off[k] -= work->var->leak[j];
  }
}

/* The E-step of a row, eq. (2.7) with the bound (2.8): its bound, and its activation. */
static double activate(nor_variational *work, int i, nor_scratch *s) {
  const int k = work->par->k, from = work->data->start[i];
  double *sum = s->sum;
  row_zeros(work, i, sum);
  double bound = -sum[k];
  for (int c = 0; c < k; c++) sum[c] = -sum[c];
  for (int e = 0; e < s->n_one; e++) bound += work->leak_log[work->data->column[from + e]];
  evaluate(s);
  for (int at = 0; at < s->first[s->n_one]; at++)
    sum[s->source[at]] += s->q[at] * (s->f[at] - s->leak_log[at]);
  for (int c = 0; c < k; c++) {
    const double prior = fmin(fmax(work->par->prior[c], NOR_LEAST_PRIOR), 1 - NOR_LEAST_PRIOR);
    const double on = log(prior) + sum[c], off = log1p(-prior);
    const double top = fmax(on, off), rest = exp(fmin(on, off) - top);
    bound += top + log1p(rest);
    work->activation[num_at(c, i, k)] = (on > off ? 1 : rest) / (1 + rest);
  }
  return bound;
}

/* q <s> g'(q), g'(q) = f(theta0 + u) - u f'(theta0 + u) - f(theta0), or 0 if below; left in f. */
NUM_HOT static void rise(const nor_scratch *s, bool root, int n) {
  const double *on = s->on, *y = s->y, *leak = s->leak, *leak_log = s->leak_log, *q = s->q;
  const double *slope = s->slope;
  double *f = s->f;
#pragma omp simd
  for (int at = 0; at < n; at++) {
    const double g = on[at] * (f[at] - (y[at] - leak[at]) * slope[at] - leak_log[at]);
    f[at] = g > 0 ? g : 0;
  }
  if (root)
    for (int at = 0; at < n; at++) f[at] = sqrt(f[at]);
#pragma omp simd
  for (int at = 0; at < n; at++) f[at] *= q[at];
}

/* One step of eq. (3.12) at all ones: q <- q (<s> g'(q))^eta, over the sum; unmoved where 0. */
static void step_q(nor_scratch *s, bool root) {
  const double *next = s->f;
  evaluate(s);
  rise(s, root, s->first[s->n_one]);
  for (int e = 0; e < s->n_one; e++) {
    double sum = 0;
    for (int at = s->first[e]; at < s->first[e + 1]; at++) sum += next[at];
    if (!(sum > 0)) continue;
    s->moved[e] = true; /* by division: the inverse of a tiny sum may be infinite */
    for (int at = s->first[e]; at < s->first[e + 1]; at++) s->q[at] = next[at] / sum;
  }
}

static void take_q(nor_variational *work, int i, const nor_scratch *s) {
  const int k = work->par->k;
  for (int e = 0; e < s->n_one; e++) {
    if (!s->moved[e]) continue;
    double *q = work->var->q + num_at(0, work->data->start[i] + e, k);
    memset(q, 0, (size_t) k * sizeof *q);
    for (int at = s->first[e]; at < s->first[e + 1]; at++) q[s->source[at]] = s->q[at];
  }
}

void nor_jj_rows(void *self, int strip, int thread, int first, int b) {
  nor_variational *work = self;
  const nor_settings *set = work->set;
  nor_scratch *s = work->scratch + thread;
  (void) strip;
  for (int i = first; i < first + b; i++) {
    lay_out(work, i, s);
    work->bound[i] = activate(work, i, s);
    if (!work->move_q) continue;
    const double *on = work->activation + num_at(0, i, work->par->k);
    for (int at = 0; at < s->first[s->n_one]; at++) s->on[at] = on[s->source[at]];
    for (int step = 0; step < set->q_steps; step++)
      step_q(s, set->q_rule == NOR_DAMPED || (set->q_rule == NOR_ALTERNATE && step % 2 == 0));
    take_q(work, i, s);
  }
}
