#include "aspect_bernoulli/low_rank.h"

#include <string.h>

#include "num/blas.h"
#include "num/linalg.h"
#include "num/vector.h"

#define PANEL 256 /* cells at a time */

/* Divided differences of 1 / (1 - p) are products of its values. */
void ab_parabola(double cap, double *f) {
  const double cosine = 0.86602540378443864676; /* of 30 degrees */
  const double x0 = cap / 2 * (1 - cosine), x1 = cap / 2, x2 = cap / 2 * (1 + cosine);
  const double f0 = 1 / (1 - x0), f01 = f0 / (1 - x1), f012 = f01 / (1 - x2);
  f[0] = f0 - f01 * x0 + f012 * x0 * x1;
  f[1] = f01 - f012 * (x0 + x1);
  f[2] = f012;
}

ab_low_rank ab_new_low_rank(int k, const mc_host *host) {
  ab_low_rank out = {.k = k};
  out.constant = mc_doubles(host, k, 1);
  out.linear = mc_doubles(host, k, k);
  out.square = mc_doubles(host, k, num_pairs(k));
  out.scaled = mc_doubles(host, k, PANEL);
  out.products = mc_doubles(host, num_pairs(k), PANEL);
  return out;
}

size_t ab_low_rank_room(int k, int units) {
  return ((size_t) num_pairs(k) + 2 * (size_t) k) * (size_t) units;
}

void ab_low_rank_sum(ab_low_rank *sum, int n, const double *vectors, const double *f) {
  const int k = sum->k, n_pair = num_pairs(k);
  memset(sum->constant, 0, (size_t) k * sizeof(double));
  memset(sum->linear, 0, (size_t) k * (size_t) k * sizeof(double));
  memset(sum->square, 0, (size_t) k * (size_t) n_pair * sizeof(double));
  for (int from = 0, length; from < n; from += length) {
    length = n - from < PANEL ? n - from : PANEL;
    const double *own = vectors + num_at(0, from, k);
    num_pair_products(k, length, own, sum->products);
    for (int power = 0; power < AB_PARABOLA; power++) {
      memset(sum->scaled, 0, (size_t) k * (size_t) length * sizeof(double));
      for (int j = 0; j < length; j++)
        num_add_scaled(sum->scaled + num_at(0, j, k),
                       f ? f[num_at(power, from + j, AB_PARABOLA)] : 1, own + num_at(0, j, k), k);
      for (int j = 0; j < length && power == 0; j++)
        num_add_scaled(sum->constant, 1, sum->scaled + num_at(0, j, k), k);
      if (power == 1)
        num_gemm(false, true, k, k, length, sum->scaled, k, own, k, 1, sum->linear, k);
      if (power == 2)
        num_gemm(false, true, k, n_pair, length, sum->scaled, k, sum->products, n_pair, 1,
                 sum->square, k);
    }
  }
  for (int d = 0, pair = 0; d < k; d++) /* both orders of two components */
    for (int c = 0; c <= d; c++, pair++)
      for (int e = 0; e < k && c < d; e++) sum->square[num_at(e, pair, k)] *= 2;
}

double ab_low_rank_add(const ab_low_rank *sum, int b, const double *weights, const double *const *f,
                       double *gradient, double *room) {
  static const double same[AB_PARABOLA] = {1, 1, 1};
  const int k = sum->k, n_pair = num_pairs(k);
  double *linear = room, *square = linear + num_at(0, b, k), *pairs = square + num_at(0, b, k);
  double total = 0;
  num_pair_products(k, b, weights, pairs);
  num_gemm(false, false, k, b, k, sum->linear, k, weights, k, 0, linear, k);
  num_gemm(false, false, k, b, n_pair, sum->square, k, pairs, n_pair, 0, square, k);
  for (int i = 0; i < b; i++) {
    const double *own = f ? f[i] : same;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, i, k);
      const double constant = own[0] * sum->constant[c];
      gradient[at] += constant + own[1] * linear[at] + own[2] * square[at];
      total += weights[at] * (constant + own[1] * linear[at] / 2 + own[2] * square[at] / 3);
    }
  }
  return total;
}
