/*
 * plsa/newton.c: alternating Newton steps for PLSA by maximum likelihood. With h = row total x
 * membership, PLSA is the Poisson factorisation with means h basis at its best row scales. A step
 * that increases the Poisson likelihood therefore increases that of PLSA, and scaling the rows back
 * to the simplex increases it once more. Each row of h, and each column of the basis, is a problem
 * for num/poisson_newton.h.
 */
#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/poisson_newton.h"
#include "num/vector.h"
#include "plsa/plsa.h"

#define BLOCK_ROWS 64

struct plsa_newton {
  const mc_host *host;
  mc_data transposed;
  num_strips rows, columns;
  num_poisson *scratch; /* one per thread */
  double *scaled;       /* k x n: h */
  double *linear;       /* k */
  double *total;        /* n: row sums of x */
  double loglik[NUM_MAX_STRIP];
  int iterations;
  double objective;
};

static int longest_row(const mc_data *data) {
  int most = 0;
  for (int i = 0; i < data->n; i++) {
    const int length = data->start[i + 1] - data->start[i];
    if (length > most) most = length;
  }
  return most;
}

plsa_newton *plsa_new_newton(const mc_data *data, int k, int n_threads, const mc_host *host) {
  plsa_newton *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->host = host;
  work->transposed = mc_transpose(data, host);
  work->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  work->columns = num_new_strips(data->m, BLOCK_ROWS, n_threads);
  work->scaled = mc_doubles(host, k, data->n);
  work->linear = mc_doubles(host, k, 1);
  work->total = mc_doubles(host, data->n, 1);
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      work->total[i] += data->value ? data->value[e] : 1;
  const int by_row = longest_row(data), by_column = longest_row(&work->transposed);
  const int longest = by_row > by_column ? by_row : by_column;
  const int n_scratch = work->rows.n_threads > work->columns.n_threads ? work->rows.n_threads
                                                                       : work->columns.n_threads;
  work->scratch = host->alloc(host->ctx, (size_t) n_scratch, sizeof *work->scratch);
  for (int t = 0; t < n_scratch; t++)
    work->scratch[t] =
        num_new_poisson(k, longest, mc_doubles(host, num_poisson_size(k, longest), 1),
                        host->alloc(host->ctx, 3 * (size_t) k, sizeof(int)));
  return work;
}

typedef struct {
  const mc_data *data;
  plsa_param *par;
  plsa_newton *work;
} scan;

/* Wraps row i of a view as a separate problem. */
static num_poisson_row row_of(const mc_data *data, int i, const double *held, const scan *w) {
  const int from = data->start[i];
  const num_poisson_row row = {.held = held,
                               .linear = w->work->linear,
                               .k = w->par->k,
                               .r = data->start[i + 1] - from,
                               .at = data->column + from,
                               .v = data->value ? data->value + from : NULL};
  return row;
}

/* Sum x log p of a row at the supplied parameters; s->p holds its scaled means. */
static double row_loglik(const num_poisson_row *row, double total, const num_poisson *s) {
  double sum = 0;
  for (int e = 0; e < row->r; e++) sum += (row->v ? row->v[e] : 1) * log(s->p[e]);
  return sum - total * log(total);
}

static void do_block_rows(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  plsa_newton *work = w->work;
  const int k = w->par->k;
  num_poisson *s = work->scratch + thread;
  num_take_rows(w->par->membership, w->data->n, first, b, k, work->scaled + num_at(0, first, k));
  for (int i = first; i < first + b; i++) {
    const num_poisson_row row = row_of(w->data, i, w->par->basis, w);
    double *x = work->scaled + num_at(0, i, k);
    for (int c = 0; c < k; c++) x[c] *= work->total[i];
    if (work->total[i] <= 0) continue;
    num_poisson_means(&row, x, s);
    const double loglik = row_loglik(&row, work->total[i], s);
    work->loglik[strip] += loglik;
    if (isfinite(loglik)) num_poisson_newton(&row, x, s);
  }
}

static void do_block_columns(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  const int k = w->par->k;
  num_poisson *s = w->work->scratch + thread;
  (void) strip;
  for (int j = first; j < first + b; j++) {
    const num_poisson_row row = row_of(&w->work->transposed, j, w->work->scaled, w);
    double *x = w->par->basis + num_at(0, j, k);
    if (row.r == 0) {
      memset(x, 0, (size_t) k * sizeof(double)); /* a column without counts has no probability */
      continue;
    }
    num_poisson_means(&row, x, s);
    num_poisson_newton(&row, x, s);
  }
}

/* Gives a component without any weight the shape of all counts together. */
static void reshape_empty(const scan *w, const double *scale) {
  const mc_data *columns = &w->work->transposed;
  const int k = w->par->k, m = columns->n;
  double all = 0;
  for (int i = 0; i < w->data->n; i++) all += w->work->total[i];
  for (int j = 0; j < m; j++) {
    double total = 0;
    for (int e = columns->start[j]; e < columns->start[j + 1]; e++)
      total += columns->value ? columns->value[e] : 1;
    for (int c = 0; c < k; c++)
      if (scale[c] <= 0) w->par->basis[num_at(c, j, k)] = total / all;
  }
}

/* Scales basis rows back to the simplex and moves their scales into h. */
static void rescale_basis(const scan *w) {
  const int n = w->data->n, m = w->data->m, k = w->par->k;
  double *scale = w->work->linear;
  bool empty = false;
  memset(scale, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) num_add_scaled(scale, 1, w->par->basis + num_at(0, j, k), k);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) {
      double *value = w->par->basis + num_at(c, j, k);
      if (scale[c] > 0) *value = num_lift(*value / scale[c]);
    }
  for (int c = 0; c < k; c++) empty = empty || scale[c] <= 0;
  if (empty) reshape_empty(w, scale);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < k; c++) w->work->scaled[num_at(c, i, k)] *= scale[c];
}

static void take_memberships(const scan *w) {
  const int n = w->data->n, k = w->par->k;
  for (int i = 0; i < n; i++) {
    const double *x = w->work->scaled + num_at(0, i, k);
    double sum = 0;
    for (int c = 0; c < k; c++) sum += x[c];
    for (int c = 0; c < k && sum > 0; c++)
      w->par->membership[num_at(i, c, n)] = num_lift(x[c] / sum);
  }
}

double plsa_newton_pass(const mc_data *data, plsa_param *par, plsa_newton *work) {
  scan w = {data, par, work};
  double loglik = 0;
  memset(work->loglik, 0, sizeof work->loglik);
  for (int c = 0; c < par->k; c++) work->linear[c] = 1;
  if (!mc_scan(work->host, work->iterations, work->objective, &work->rows, do_block_rows, &w))
    return NAN;
  for (int s = 0; s < work->rows.n_strip; s++) loglik += work->loglik[s];
  if (!par->fixed_basis && data->start[data->n] > 0) {
    memset(work->linear, 0, (size_t) par->k * sizeof(double));
    for (int i = 0; i < data->n; i++)
      num_add_scaled(work->linear, 1, work->scaled + num_at(0, i, par->k), par->k);
    if (!mc_scan(work->host, work->iterations, work->objective, &work->columns, do_block_columns,
                 &w))
      return NAN;
  }
  if (!par->fixed_basis && data->start[data->n] > 0) rescale_basis(&w);
  take_memberships(&w);
  work->iterations++;
  return work->objective = loglik;
}
