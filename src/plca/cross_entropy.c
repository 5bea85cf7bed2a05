/*
 * plca/cross_entropy.c: priors, and M-steps under cross-entropy between components and entropic
 * priors. Block of component i in one dimension, with counts omega and partners q_k:
 *   max over q_i of sum omega log q_i + sum_k A[i,k] D(q_i, q_k) + beta sum q_i log q_i.
 */
#include <float.h>
#include <math.h>

#include "num/entropic.h"
#include "num/simplex.h"
#include "plca/plca.h"

static double weight_of(const plca_block *b, int partner) {
  return partner == b->c ? 0 : b->scale * b->pairs[num_at(b->c, partner, b->k)];
}

/*
 * Eq. (7): q = omega - sum A q_k, with negative values set to 0, normalised. If all are negative,
 * the old marginal stays.
 */
static bool paper_block(const plca_block *b, const double *omega, double *theta) {
  double sum = 0;
  for (int x = 0; x < b->extent; x++) {
    const double *q = b->marginals + num_at(0, x, b->k);
    double value = omega[x];
    for (int i = 0; i < b->k; i++) value -= weight_of(b, i) * q[i];
    theta[x] = value > 0 ? value : 0;
    sum += theta[x];
  }
  if (sum <= 0) return false;
  for (int x = 0; x < b->extent; x++) theta[x] /= sum;
  return true;
}

/*
 * H(p, q) = -sum p log(q + floor). Linear in q_i as first argument. As second argument: for A > 0,
 * -q_k log(q_i + floor) is convex and bounded below by its tangent; for A < 0, log(q_i + floor) is
 * bounded by Jensen's inequality, which adds to the counts.
 */
static void mm_terms(const plca_block *b, double *omega, double *linear) {
  const double floor = b->prior->floor;
  for (int x = 0; x < b->extent; x++) {
    const double *q = b->marginals + num_at(0, x, b->k), old = q[b->c];
    double sum = 0, extra = 0;
    for (int i = 0; i < b->k; i++) {
      const double a = weight_of(b, i);
      if (a == 0) continue;
      sum -= a * log(q[i] + floor);
      if (a > 0)
        sum -= a * q[i] / (old + floor);
      else
        extra -= a * q[i] * (old / (old + floor));
    }
    linear[x] = sum;
    omega[x] += extra;
  }
}

/*
 * 2 JS(q_i, q_k) = sum q_i log(q_i / mid) + sum q_k log(q_k / mid), mid their mean. For A > 0 it is
 * convex, and its tangent has slope log(q_i / mid). For A < 0 it is the minimum over third
 * distributions of the sum of both divergences, so mid may be fixed, which leaves a linear term and
 * entropy, whose weight is returned.
 */
static double js_terms(const plca_block *b, double *linear) {
  double entropy = 0;
  for (int i = 0; i < b->k; i++) entropy += fmax(-weight_of(b, i), 0);
  for (int x = 0; x < b->extent; x++) {
    const double *q = b->marginals + num_at(0, x, b->k), old = q[b->c];
    double sum = 0;
    for (int i = 0; i < b->k; i++) {
      const double a = weight_of(b, i), mid = 0.5 * (old + q[i]);
      if (a > 0) sum += old > 0 ? a * log(old / mid) : -INFINITY;
      if (a < 0) sum -= a * log(mid);
    }
    linear[x] = sum;
  }
  return entropy;
}

#define NEGLIGIBLE 1e-20 /* entropy weight over counts below which it makes no difference */

/*
 * Maximises the bound of the pairs' terms, with beta sum q log q: entropy for beta < 0; for beta >
 * 0 convex and bounded below by its tangent, of slope beta log q up to a constant.
 */
static void bound_block(const plca_block *b, double *omega, double *linear, double *theta) {
  double entropy = fmax(-b->sparsity, 0), total = 0;
  if (b->prior->method == PLCA_MM)
    mm_terms(b, omega, linear);
  else
    entropy += js_terms(b, linear);
  for (int x = 0; x < b->extent; x++) {
    const double old = b->marginals[num_at(b->c, x, b->k)];
    if (b->sparsity > 0) linear[x] += b->sparsity * log(fmax(old, DBL_MIN));
    total += omega[x];
  }
  if (entropy > NEGLIGIBLE * total)
    num_simplex_entropy(omega, linear, entropy, b->extent, theta);
  else
    num_simplex_linear(omega, linear, b->extent, theta);
}

void plca_prior_step(const plca_block *b, const double *counts, double *spare) {
  double *omega = spare, *linear = spare + b->extent, *theta = spare + 2 * (ptrdiff_t) b->extent;
  bool moved = true;
  for (int x = 0; x < b->extent; x++) omega[x] = counts[num_at(b->c, x, b->k)];
  if (!b->pairs)
    moved = num_entropic(omega, b->extent, b->sparsity, NUM_GLOBAL, theta, linear);
  else if (b->prior->method == PLCA_PAPER)
    moved = paper_block(b, omega, theta);
  else
    bound_block(b, omega, linear, theta);
  for (int x = 0; x < b->extent && moved; x++)
    b->marginals[num_at(b->c, x, b->k)] = num_lift(theta[x]);
}

/* -p log q, with the limit 0 at p = 0. */
static double cross(double p, double q) { return p > 0 ? -p * log(q) : 0; }

/* Contribution of one cell to the function multiplied by A. */
static double cell_value(const plca_prior *prior, double p, double q) {
  const double floor = prior->method == PLCA_MM ? prior->floor : 0, mid = 0.5 * (p + q);
  if (prior->method != PLCA_JS) return cross(p, q + floor) + cross(q, p + floor);
  return (p > 0 ? p * log(p / mid) : 0) + (q > 0 ? q * log(q / mid) : 0);
}

/* Log-densities of the Dirichlet priors, without constants; 0 log 0 = 0. */
static double dirichlet_value(const plca_cells *cells, const plca_param *par,
                              const plca_prior *prior) {
  double sum = 0;
  for (int c = 0; c < par->k && prior->weights_added; c++)
    if (prior->weights_added[c] > 0) sum += prior->weights_added[c] * log(par->weights[c]);
  for (int d = 0; d < cells->n_dim; d++) {
    const ptrdiff_t size = (ptrdiff_t) par->k * cells->extent[d];
    double logs = 0;
    if (prior->marginals_added[d] <= 0 || par->fixed[d]) continue;
    for (ptrdiff_t at = 0; at < size; at++) logs += log(par->marginals[d][at]);
    sum += prior->marginals_added[d] * logs;
  }
  return sum;
}

static double sum_p_log_p(const double *p, ptrdiff_t length) {
  double sum = 0;
  for (ptrdiff_t at = 0; at < length; at++) sum -= cross(p[at], p[at]);
  return sum;
}

/* The entropic priors. */
static double entropic_value(const plca_cells *cells, const plca_param *par,
                             const plca_prior *prior) {
  double sum = 0;
  if (prior->weights_sparsity != 0)
    sum += prior->weights_sparsity * sum_p_log_p(par->weights, par->k);
  for (int d = 0; d < cells->n_dim; d++)
    if (prior->marginals_sparsity[d] != 0 && !par->fixed[d])
      sum += prior->marginals_sparsity[d] *
             sum_p_log_p(par->marginals[d], (ptrdiff_t) par->k * cells->extent[d]);
  return sum;
}

double plca_prior_value(const plca_cells *cells, const plca_param *par, const plca_prior *prior,
                        double scale) {
  const int k = par->k;
  double sum = dirichlet_value(cells, par, prior) + entropic_value(cells, par, prior);
  for (int d = 0; d < cells->n_dim; d++) {
    if (!prior->pairs[d] || scale == 0) continue;
    for (int c = 0; c < k; c++) {
      for (int i = 0; i < c; i++) {
        const double a = scale * prior->pairs[d][num_at(i, c, k)];
        double value = 0;
        if (a == 0) continue;
        for (int x = 0; x < cells->extent[d]; x++)
          value += cell_value(prior, par->marginals[d][num_at(i, x, k)],
                              par->marginals[d][num_at(c, x, k)]);
        sum += a * value;
      }
    }
  }
  return sum;
}
