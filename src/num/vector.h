/* num/vector.h: vectorised sums, products, inverses and logarithms. */
#ifndef MC_NUM_VECTOR_H
#define MC_NUM_VECTOR_H

#include <math.h>

#include "num/base.h"

static inline double num_dot(const double *x, const double *y, int n) {
  double sum = 0;
  NUM_OMP(simd reduction(+ : sum))
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static inline void num_add_scaled(double *sum, double scale, const double *x, ptrdiff_t n) {
  NUM_OMP(simd)
  for (ptrdiff_t i = 0; i < n; i++) sum[i] += scale * x[i];
}

/*
 * Replaces n values in [0, 1] by their inverses and returns the sum of their logs, with one
 * division for four values and a few calls of log(): products are inverted, exponents summed and
 * mantissas multiplied. A zero becomes infinite and the sum -Inf. Inverses are accurate to a few
 * units in the last place.
 */
double num_invert_sum_log(double *x, ptrdiff_t n);

/* Log of a product of many probabilities with few calls of log(). Initialised as {0, 1}. */
typedef struct {
  double log, product;
} num_log_product;

static NUM_INLINE void num_times(num_log_product *of, double p) {
  if (of->product < NUM_TINY || p < NUM_TINY) { /* before the product underflows */
    of->log += log(of->product) + log(p);
    of->product = 1;
  } else {
    of->product *= p;
  }
}

static NUM_INLINE double num_log_of(const num_log_product *of) {
  return of->log + log(of->product);
}

/* Sum of log(x[i]) over n normal positive values, with a few calls of log(). */
double num_sum_log(const double *x, int n);

/* log(sum(exp(x))) without overflow; -Inf for n = 0 or all -Inf. */
double num_log_sum_exp(const double *x, int n);

/* log(exp(a) + exp(b)) */
static inline double num_log_add(double a, double b) {
  const double top = fmax(a, b);
  return isfinite(top) ? top + log1p(exp(fmin(a, b) - top)) : top;
}

/* log(1 + exp(x)) */
static inline double num_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

#endif
