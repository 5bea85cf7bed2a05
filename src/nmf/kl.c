#include <math.h>
#include <string.h>

#include "nmf/private.h"
#include "num/vector.h"

#define FIRST_PASSES 10 /* multiplicative iterations before Newton's */

/* Sums of the fixed factor over a row's observed cells, as row_gram() in nmf/descent.c. */
static void kl_sums(const factor *h, int i, double *sums) {
  const mc_data *data = h->data;
  const int k = h->par->k, n_missing = data_n_missing(data, i);
  const double *all = h->work->total;
  bool cancelled = false;
  memcpy(sums, all, (size_t) k * sizeof(double));
  if (n_missing == 0) return;
  for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
    num_add_scaled(sums, -1, h->held + num_at(0, data->na_column[e], k), k);
  for (int c = 0; c < k; c++)
    if (sums[c] < NM_CANCELLED * all[c]) cancelled = true;
  if (!cancelled) return;
  memset(sums, 0, (size_t) k * sizeof(double));
  for (int j = 0, e = data->na_start[i]; j < data->m; j++) {
    if (e < data->na_start[i + 1] && data->na_column[e] == j)
      e++;
    else
      num_add_scaled(sums, 1, h->held + num_at(0, j, k), k);
  }
}

/*
 * Computes the row's divergence, then updates it by Newton's step (num/poisson_newton.h) or Lee and
 * Seung's. The latter also serves in the first iterations, in which Newton's would set to 0 what is
 * needed later.
 */
void nm_kl_row(const factor *h, int i, block_scratch *s, row_sum *sum) {
  const mc_data *data = h->data;
  const int k = h->par->k, from = data->start[i];
  const num_poisson_row row = {.held = h->held,
                               .linear = s->sums,
                               .k = k,
                               .r = data->start[i + 1] - from,
                               .at = data->column + from,
                               .v = data->value ? data->value + from : NULL};
  double *free = h->free + num_at(0, i, k);
  const double *pull = s->poisson.pull;
  kl_sums(h, i, s->sums);
  num_poisson_means(&row, free, &s->poisson);
  for (int c = 0; c < k; c++) s->step[c] = s->sums[c] - pull[c];
  if (h->pull) {
    memcpy(h->pull + num_at(0, i, k), pull, (size_t) k * sizeof(double));
    memcpy(h->seen + num_at(0, i, k), s->sums, (size_t) k * sizeof(double));
    add_residual(h, free, s->step, s->sums, sum);
    return;
  }
  sum->loss += num_dot(free, s->sums, k);
  for (int e = from; e < from + row.r; e++) {
    const double x = value_at(data, e);
    sum->loss += x * log(x / s->poisson.p[e - from]) - x;
  }
  if (!h->update) return;
  add_residual(h, free, s->step, s->sums, sum);
  if (!h->par->multiplicative && (h->par->fixed_basis || h->work->iterations >= FIRST_PASSES)) {
    num_poisson_newton(&row, free, &s->poisson);
    return;
  }
  for (int c = 0; c < k; c++)
    if (s->sums[c] > 0) free[c] = num_lift(free[c] * pull[c] / s->sums[c]);
}
