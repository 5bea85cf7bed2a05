#include "aspect_bernoulli/prior.h"

#include <float.h>

#include <Rmath.h>

#include "num/vector.h"

static double itself(double x) { return x; }

/* sum_c f(x[c]), multiplying for equal components, which avoids the rounding of a sum. */
static double sum_over(const double *x, int k, double (*f)(double)) {
  double sum = 0;
  for (int from = 0, to; from < k; from = to) {
    for (to = from + 1; to < k && x[to] == x[from];) to++;
    sum += (to - from) * f(x[from]);
  }
  return sum;
}

ab_prior ab_new_prior(const double *counts, int k) {
  const ab_prior prior = {.k = k,
                          .one = counts,
                          .zero = counts + num_at(0, 1, k),
                          .membership = counts + num_at(0, 2, k),
                          .row = sum_over(counts + num_at(0, 2, k), k, itself)};
  return prior;
}

ab_prior ab_no_prior(int k, const mc_host *host) {
  double *counts = mc_doubles(host, k, 3);
  for (int i = 0; i < 3 * k; i++) counts[i] = 0;
  return ab_new_prior(counts, k);
}

bool ab_prior_is_valid(const ab_prior *prior, bool open) {
  for (int i = 0; i < 3 * prior->k; i++)
    if (!(open ? prior->one[i] > 0 : prior->one[i] >= 0)) return false;
  return true;
}

/* Sum of logs of arbitrary values; num_sum_log() accepts neither 0 nor NaN. */
static double sum_log(const double *x, int n) {
  int n_odd = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) n_odd += !(x[i] >= DBL_MIN && x[i] <= 1);
  if (n_odd == 0) return num_sum_log(x, n);
  for (int i = 0; i < n; i++) sum += log(x[i]);
  return sum;
}

double ab_log_prior(const ab_prior *prior, const int *fixed, int n, int m, const double *membership,
                    const double *aspects) {
  const int k = prior->k;
  double sum = 0;
  for (int c = 0; c < k; c++) {
    const double count = prior->membership[c];
    if (count > 0) sum += count * sum_log(membership + num_at(0, c, n), n);
  }
  for (int c = 0; c < k; c++) {
    num_log_product one = {0, 1}, zero = {0, 1};
    if (fixed && fixed[c]) continue;
    for (int j = 0; j < m; j++) {
      num_times(&one, aspects[num_at(c, j, k)]);
      num_times(&zero, 1 - aspects[num_at(c, j, k)]);
    }
    if (prior->one[c] > 0) sum += prior->one[c] * num_log_of(&one);
    if (prior->zero[c] > 0) sum += prior->zero[c] * num_log_of(&zero);
  }
  return sum;
}

double ab_log_dirichlet_constant(const ab_prior *prior) {
  return lgammafn(prior->row) - sum_over(prior->membership, prior->k, lgammafn);
}
