/* model_ab_test.c: the held-out likelihood of the aspect Bernoulli paper, eqs. (22)-(23). */
#include "model_ab.h"

#include <math.h>

/* log P(x = 1) and log P(x = 0) of one training row, floor and all; returns the sum of the latter. */
static double take_logs(double *one, double *zero, int m, double floor) {
  double sum = 0;
  for (int j = 0; j < m; j++) {
    one[j] = log(fmax(one[j], floor));
    zero[j] = log(fmax(zero[j], floor));
    sum += zero[j];
  }
  return sum;
}

/* Log-probability of row i: a row of zeros, corrected at nonzeros and missing cells. */
static double row_loglik(const mc_data *data, int i, const double *one, const double *zero,
                         double all_zero) {
  double sum = all_zero;
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    sum += one[data->column[e]] - zero[data->column[e]];
  if (data->na_start)
    for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++) sum -= zero[data->na_column[e]];
  return sum;
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b) {
  const double top = fmax(a, b);
  return isfinite(top) ? top + log1p(exp(fmin(a, b) - top)) : top;
}

void ab_test_loglik(const mc_data *data, const double *membership, int n_train, int k,
                    const double *aspects, double floor, const mc_host *host, double *out) {
  const int m = data->m;
  const double least = fmax(floor, 1e-300); /* finite logs, so that corrections cancel */
  double *row = host->alloc(host->ctx, (size_t) k, sizeof(double));
  double *one = host->alloc(host->ctx, (size_t) m, sizeof(double));
  double *zero = host->alloc(host->ctx, (size_t) m, sizeof(double));
  for (int i = 0; i < data->n; i++) out[i] = -INFINITY;
  for (int r = 0; r < n_train; r++) {
    if (mc_stop(host, r, 0)) return;
    for (int c = 0; c < k; c++) row[c] = membership[num_at(r, c, n_train)];
    for (int j = 0; j < m; j++) {
      one[j] = zero[j] = 0;
      for (int c = 0; c < k; c++) {
        const double aspect = aspects[num_at(c, j, k)];
        one[j] += row[c] * aspect;
        zero[j] += row[c] * (1 - aspect);
      }
    }
    const double all_zero = take_logs(one, zero, m, least);
    for (int i = 0; i < data->n; i++)
      out[i] = log_add(out[i], row_loglik(data, i, one, zero, all_zero));
  }
  for (int i = 0; i < data->n; i++) out[i] -= log(n_train);
}
