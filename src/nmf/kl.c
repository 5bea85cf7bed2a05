#include <math.h>
#include <string.h>

#include "nmf/private.h"
#include "num/vector.h"

/*
 * One coordinate of a KL row, others held: its derivative sums - g(u), with
 * g(u) = sum x held / mean, rises and is concave in u. Where it is negative,
 * Newton's step stops short of the root; where it is positive, so do the
 * chord's root and the multiplicative step, and the lower of them is taken. Each of
 * them therefore lowers the divergence.
 */
static double kl_coordinate(const factor *h, int i, int c, double sums, const double *mean,
                            double u) {
  const mc_data *data = h->data;
  const double *held = h->held;
  const int k = h->par->k;
  const int from = data->start[i], to = data->start[i + 1];
  double g = 0, curvature = 0, g_zero = 0;
  for (int e = from; e < to; e++) {
    const double f = held[num_at(c, data->column[e], k)], ratio = f / mean[e - from];
    g += value_at(data, e) * ratio;
    curvature += value_at(data, e) * ratio * ratio;
  }
  if (g >= sums) return curvature > 0 ? u + (g - sums) / curvature : u;
  if (u <= 0) return 0;
  for (int e = from; e < to; e++) {
    const double f = held[num_at(c, data->column[e], k)], rest = mean[e - from] - u * f;
    if (f > 0) g_zero += value_at(data, e) * (rest > 1e-12 * mean[e - from] ? f / rest : INFINITY);
  }
  if (g_zero <= sums) return 0;
  const double multiplied = u * g / sums;
  return isfinite(g_zero) ? fmin(multiplied, u * (g_zero - sums) / (g_zero - g)) : multiplied;
}

/* The multiplicative factors of a KL row, minus the gradient's negative part. */
static void kl_slopes(const factor *h, int i, const double *mean, double *slope) {
  const mc_data *data = h->data;
  const int k = h->par->k;
  memset(slope, 0, (size_t) k * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    num_add_scaled(slope, value_at(data, e) / mean[e - data->start[i]],
                   h->held + num_at(0, data->column[e], k), k);
}

/* Sums of the held factor over a row's observed cells: as row_gram() in nmf/descent.c. */
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

/* Means at a row's nonzeros; returns the row's divergence. */
static double kl_means(const factor *h, int i, const double *free, block_scratch *s) {
  const mc_data *data = h->data;
  const int k = h->par->k;
  double loss = 0;
  kl_sums(h, i, s->sums);
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const double mean = num_dot(free, h->held + num_at(0, data->column[e], k), k);
    const double x = value_at(data, e);
    s->mean[e - data->start[i]] = mean;
    loss += x * log(x / mean) - x;
  }
  return loss + num_dot(free, s->sums, k);
}

/* Means after a step of coordinate c; one that loses nearly all of itself is made anew. */
static void move_means(const factor *h, int i, int c, double step, const double *free,
                       double *mean) {
  const mc_data *data = h->data;
  const int k = h->par->k, from = data->start[i];
  for (int e = from; e < data->start[i + 1]; e++) {
    const double *held = h->held + num_at(0, data->column[e], k);
    const double moved = mean[e - from] + step * held[c];
    mean[e - from] = moved < NM_CANCELLED * mean[e - from] ? num_dot(free, held, k) : moved;
  }
}

void nm_kl_row(const factor *h, int i, block_scratch *s, row_sum *sum) {
  const int k = h->par->k;
  double *free = h->free + num_at(0, i, k);
  sum->loss += kl_means(h, i, free, s);
  if (!h->update) return;
  kl_slopes(h, i, s->mean, s->step);
  if (h->par->multiplicative) {
    for (int c = 0; c < k; c++)
      if (s->sums[c] > 0) free[c] = num_lift(free[c] * s->step[c] / s->sums[c]);
    return;
  }
  for (int c = 0; c < k; c++) s->step[c] = s->sums[c] - s->step[c];
  add_residual(h, free, s->step, s->sums, sum);
  for (int c = 0; c < k; c++) {
    if (s->sums[c] <= NUM_TINY) continue; /* the held factor says nothing of this coordinate */
    const double next = kl_coordinate(h, i, c, s->sums[c], s->mean, free[c]);
    const double step = next - free[c];
    free[c] = next < NUM_TINY ? 0 : next;
    move_means(h, i, c, step, free, s->mean);
  }
}
