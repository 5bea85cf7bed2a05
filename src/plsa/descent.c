/*
 * plsa/descent.c: coordinate descent for PLSA by maximum likelihood. With h =
 * row total x membership, PLSA is the Poisson factorisation with means h basis
 * at its best row scales, so a step that raises the Poisson likelihood raises
 * PLSA's, and scaling the rows back to the simplex raises it once more. Each
 * row of h, and each column of the basis, is a problem for num/poisson_descent.h.
 */
#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/poisson_descent.h"
#include "num/vector.h"
#include "plsa/plsa.h"

#define BLOCK_ROWS 64

struct plsa_cd {
  const mc_host *host;
  mc_data transposed;
  num_strips rows, columns;
  num_poisson *scratch; /* one a thread */
  double *scaled;       /* k x n: h */
  double *linear;       /* k */
  double *total;        /* n: row sums of x */
  double loglik[NUM_MAX_STRIP];
  int passes;
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

plsa_cd *plsa_new_cd(const mc_data *data, int k, int n_threads, const mc_host *host) {
  plsa_cd *cd = host->alloc(host->ctx, 1, sizeof *cd);
  memset(cd, 0, sizeof *cd);
  cd->host = host;
  cd->transposed = mc_transpose(data, host);
  cd->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  cd->columns = num_new_strips(data->m, BLOCK_ROWS, n_threads);
  cd->scaled = mc_doubles(host, k, data->n);
  cd->linear = mc_doubles(host, k, 1);
  cd->total = mc_doubles(host, data->n, 1);
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      cd->total[i] += data->value ? data->value[e] : 1;
  const int by_row = longest_row(data), by_column = longest_row(&cd->transposed);
  const int longest = by_row > by_column ? by_row : by_column;
  const int n_scratch =
      cd->rows.n_threads > cd->columns.n_threads ? cd->rows.n_threads : cd->columns.n_threads;
  cd->scratch = host->alloc(host->ctx, (size_t) n_scratch, sizeof *cd->scratch);
  for (int t = 0; t < n_scratch; t++)
    cd->scratch[t] = num_new_poisson(k, longest, mc_doubles(host, num_poisson_size(k, longest), 1));
  return cd;
}

typedef struct {
  const mc_data *data;
  plsa_param *par;
  plsa_cd *cd;
} visit;

/* sum x log p of a row at the parameters given, s->p being its scaled means. */
static double row_loglik(const double *v, int r, double total, const num_poisson *s) {
  double sum = 0;
  for (int e = 0; e < r; e++) sum += (v ? v[e] : 1) * log(s->p[e]);
  return sum - total * log(total);
}

static void do_block_rows(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  plsa_cd *cd = w->cd;
  const mc_data *data = w->data;
  const int k = w->par->k;
  num_poisson *s = cd->scratch + thread;
  num_take_rows(w->par->membership, data->n, first, b, k, cd->scaled + num_at(0, first, k));
  for (int i = first; i < first + b; i++) {
    const int from = data->start[i], r = data->start[i + 1] - from;
    const double *v = data->value ? data->value + from : NULL;
    double *x = cd->scaled + num_at(0, i, k);
    for (int c = 0; c < k; c++) x[c] *= cd->total[i];
    if (r == 0 || cd->total[i] <= 0) continue;
    num_poisson_gather(w->par->basis, x, k, data->column + from, r, s);
    const double loglik = row_loglik(v, r, cd->total[i], s);
    cd->loglik[strip] += loglik;
    if (isfinite(loglik)) num_poisson_sweep(x, cd->linear, k, v, r, s);
  }
}

static void do_block_columns(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  plsa_cd *cd = w->cd;
  const mc_data *data = &cd->transposed;
  const int k = w->par->k;
  (void) strip;
  for (int j = first; j < first + b; j++) {
    const int from = data->start[j], r = data->start[j + 1] - from;
    double *x = w->par->basis + num_at(0, j, k);
    if (r == 0) {
      memset(x, 0, (size_t) k * sizeof(double)); /* a column without counts has no probability */
      continue;
    }
    num_poisson_gather(cd->scaled, x, k, data->column + from, r, cd->scratch + thread);
    num_poisson_sweep(x, cd->linear, k, data->value ? data->value + from : NULL, r,
                      cd->scratch + thread);
  }
}

/* Basis rows back to the simplex, their scale into h. */
static void rescale_basis(const visit *w) {
  const int n = w->data->n, m = w->data->m, k = w->par->k;
  double *scale = w->cd->linear;
  memset(scale, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) num_add_scaled(scale, 1, w->par->basis + num_at(0, j, k), k);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) {
      double *value = w->par->basis + num_at(c, j, k);
      if (scale[c] > 0) *value = num_lift(*value / scale[c]);
    }
  for (int i = 0; i < n; i++)
    for (int c = 0; c < k; c++) w->cd->scaled[num_at(c, i, k)] *= scale[c];
}

static void take_memberships(const visit *w) {
  const int n = w->data->n, k = w->par->k;
  for (int i = 0; i < n; i++) {
    const double *x = w->cd->scaled + num_at(0, i, k);
    double sum = 0;
    for (int c = 0; c < k; c++) sum += x[c];
    for (int c = 0; c < k && sum > 0; c++)
      w->par->membership[num_at(i, c, n)] = num_lift(x[c] / sum);
  }
}

double plsa_cd_pass(const mc_data *data, plsa_param *par, plsa_cd *cd) {
  visit w = {data, par, cd};
  double loglik = 0;
  memset(cd->loglik, 0, sizeof cd->loglik);
  for (int c = 0; c < par->k; c++) cd->linear[c] = 1;
  if (!mc_visit(cd->host, cd->passes, cd->objective, &cd->rows, do_block_rows, &w)) return NAN;
  for (int s = 0; s < cd->rows.n_strip; s++) loglik += cd->loglik[s];
  if (!par->fixed_basis && data->start[data->n] > 0) {
    memset(cd->linear, 0, (size_t) par->k * sizeof(double));
    for (int i = 0; i < data->n; i++)
      num_add_scaled(cd->linear, 1, cd->scaled + num_at(0, i, par->k), par->k);
    if (!mc_visit(cd->host, cd->passes, cd->objective, &cd->columns, do_block_columns, &w))
      return NAN;
  }
  if (!par->fixed_basis) rescale_basis(&w);
  take_memberships(&w);
  cd->passes++;
  return cd->objective = loglik;
}
