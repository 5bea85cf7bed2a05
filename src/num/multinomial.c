#include "num/multinomial.h"

#include <string.h>

#include "num/linalg.h"
#include "num/vector.h"

/* eta of an observation, k values; returns the log of the sum of their exponentials. */
static double predictor(const num_multinomial *by, const double *effects, int i, int k,
                        double *eta) {
  const double *row = by->design + num_at(0, i, by->d);
  for (int c = 0; c < k; c++) eta[c] = num_dot(row, effects + num_at(0, c, by->d), by->d);
  return num_log_sum_exp(eta, k);
}

void num_multinomial_share(const num_multinomial *by, int n, int k, double *membership) {
  for (int i = 0; i < n; i++) {
    const double *row = by->design + num_at(0, i, by->d);
    double most = -INFINITY, total = 0;
    for (int c = 0; c < k; c++) {
      const double eta = num_dot(row, by->effects + num_at(0, c, by->d), by->d);
      membership[num_at(i, c, n)] = eta;
      most = fmax(most, eta);
    }
    for (int c = 0; c < k; c++)
      total += membership[num_at(i, c, n)] = exp(membership[num_at(i, c, n)] - most);
    for (int c = 0; c < k; c++)
      membership[num_at(i, c, n)] = fmax(membership[num_at(i, c, n)] / total, NUM_TINY);
  }
}

static double log_prior(const num_multinomial *by, const double *effects, int k) {
  return -by->ridge * num_dot(effects, effects, by->d * k) / 2;
}

double num_multinomial_log_prior(const num_multinomial *by, int k) {
  return log_prior(by, by->effects, k);
}

typedef struct {
  double *eta;              /* k */
  double *gradient, *trial; /* d k */
  double *hessian;          /* its upper triangle by columns */
} climb_scratch;

static size_t packed(size_t order) { return order * (order + 1) / 2; }

size_t num_multinomial_work(int d, int k) {
  const size_t order = (size_t) d * (size_t) k;
  return (size_t) k + 2 * order + packed(order);
}

static climb_scratch scratch_of(double *work, int d, int k) {
  const size_t order = (size_t) d * (size_t) k;
  climb_scratch s;
  s.eta = work;
  s.gradient = work + k;
  s.trial = s.gradient + order;
  s.hessian = s.trial + order;
  return s;
}

double num_multinomial_log_density(const num_multinomial *by, const double *effects, int n, int k,
                                   const double *counts, double *eta) {
  double sum = log_prior(by, effects, k);
  for (int i = 0; i < n; i++) {
    const double total = predictor(by, effects, i, k, eta);
    for (int c = 0; c < k; c++) {
      const double count = counts[num_at(i, c, n)];
      if (count > 0) sum += count * (eta[c] - total);
    }
  }
  return sum;
}

/*
 * Gradient and minus the Hessian, sum_i N[i] (diag(s) - s s' + lift) x design design' + ridge. The
 * lift adds curvature in the flat direction of equal effects of a term, where the gradient is 0.
 */
static void derivatives(const num_multinomial *by, int n, int k, const double *counts, double lift,
                        climb_scratch *s) {
  const int d = by->d;
  memset(s->hessian, 0, packed((size_t) d * (size_t) k) * sizeof(double));
  for (int a = 0; a < d * k; a++) {
    s->gradient[a] = -by->ridge * by->effects[a];
    s->hessian[(ptrdiff_t) a * (a + 3) / 2] = by->ridge;
  }
  for (int i = 0; i < n; i++) {
    const double *row = by->design + num_at(0, i, d);
    const double total = predictor(by, by->effects, i, k, s->eta);
    double cells = 0;
    for (int c = 0; c < k; c++) cells += counts[num_at(i, c, n)];
    if (cells <= 0) continue;
    for (int c = 0; c < k; c++) {
      const double share = exp(s->eta[c] - total);
      num_add_scaled(s->gradient + num_at(0, c, d), counts[num_at(i, c, n)] - cells * share, row,
                     d);
      for (int b = 0; b <= c; b++) {
        const double other = exp(s->eta[b] - total);
        const double weight = cells * ((b == c ? share : 0) - share * other + lift);
        for (int e = 0; e < d; e++) {
          const ptrdiff_t column = (ptrdiff_t) c * d + e;
          num_add_scaled(s->hessian + column * (column + 1) / 2 + (ptrdiff_t) b * d,
                         weight * row[e], row, b == c ? e + 1 : d);
        }
      }
    }
  }
}

#define MOST_HALVINGS 30

/* A step that promises more than `least`. */
static bool climb(const num_multinomial *by, int n, int k, const double *counts, double least,
                  climb_scratch *s) {
  const int size = by->d * k;
  const double before = num_multinomial_log_density(by, by->effects, n, k, counts, s->eta);
  derivatives(by, n, k, counts, 1.0 / k / k, s);
  memcpy(s->trial, s->gradient, (size_t) size * sizeof(double));
  if (!num_solve_packed(s->hessian, s->gradient, size)) return false;
  if (!(num_dot(s->trial, s->gradient, size) > least)) return false;
  for (int h = 0; h < MOST_HALVINGS; h++) {
    const double step = ldexp(1, -h);
    for (int a = 0; a < size; a++) s->trial[a] = by->effects[a] + step * s->gradient[a];
    if (!(num_multinomial_log_density(by, s->trial, n, k, counts, s->eta) > before)) continue;
    memcpy(by->effects, s->trial, (size_t) size * sizeof(double));
    return true;
  }
  return false;
}

bool num_multinomial_climb(const num_multinomial *by, int n, int k, const double *counts,
                           double *work) {
  climb_scratch s = scratch_of(work, by->d, k);
  return climb(by, n, k, counts, 0, &s);
}

#define MOST_STEPS 50
#define NEAR 1e-6 /* distance from the mode, in nats */

bool num_multinomial_mode(const num_multinomial *by, int n, int k, const double *counts,
                          double *work, double *chol) {
  const int size = by->d * k;
  climb_scratch s = scratch_of(work, by->d, k);
  memset(by->effects, 0, (size_t) size * sizeof(double));
  int step = 0;
  while (step < MOST_STEPS && climb(by, n, k, counts, NEAR, &s)) step++;
  derivatives(by, n, k, counts, 0, &s);
  for (int a = 0; a < size; a++)
    for (int b = 0; b <= a; b++) chol[num_at(a, b, size)] = s.hessian[num_pairs(a) + b];
  return num_chol(chol, size);
}
