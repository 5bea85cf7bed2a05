#include "num/multinomial_draw.h"

#include <math.h>
#include <string.h>

#include "num/linalg.h"
#include "num/rng.h"
#include "num/vector.h"

/* Degrees of freedom of proposals, whose tails must be heavier than the posterior's. */
#define TAILS 10.0
#define PROPOSALS 3

size_t num_multinomial_draw_work(int d, int k) {
  const size_t size = (size_t) d * (size_t) k;
  return 2 * size + size * size + (size_t) k + num_multinomial_work(d, k);
}

/* Log-density of a proposal, from its standardised squared distance from the mode. */
static double log_proposal(double distance, int size) {
  return -(TAILS + size) / 2 * log1p(distance / TAILS);
}

/* |chol' (effects - mode)|^2 */
static double distance_of(const double *chol, const double *effects, const double *mode, int size) {
  double sum = 0;
  for (int a = 0; a < size; a++) {
    double z = 0;
    for (int b = a; b < size; b++) z += chol[num_at(b, a, size)] * (effects[b] - mode[b]);
    sum += z * z;
  }
  return sum;
}

void num_multinomial_draw(const num_multinomial *by, int n, int k, const double *counts,
                          double *work) {
  const int size = by->d * k;
  const size_t bytes = (size_t) size * sizeof(double);
  double *current = work, *mode = current + size, *eta = mode + size, *chol = eta + k;
  double *climb = chol + (ptrdiff_t) size * size;
  if (k == 1) return;
  memcpy(current, by->effects, bytes);
  const bool known = num_multinomial_mode(by, n, k, counts, climb, chol);
  memcpy(mode, by->effects, bytes);
  double now = num_multinomial_log_density(by, current, n, k, counts, eta) -
               log_proposal(distance_of(chol, current, mode, size), size);
  for (int t = 0; known && t < PROPOSALS; t++) {
    const double scale = sqrt(num_draw_gamma(TAILS / 2, TAILS / 2));
    double *trial = by->effects, distance = 0;
    for (int a = 0; a < size; a++) {
      trial[a] = num_norm() / scale;
      distance += trial[a] * trial[a];
    }
    num_chol_backward(chol, size, trial);
    for (int a = 0; a < size; a++) trial[a] += mode[a];
    const double then =
        num_multinomial_log_density(by, trial, n, k, counts, eta) - log_proposal(distance, size);
    if (!(log(num_unif()) < then - now)) continue;
    now = then;
    memcpy(current, trial, bytes);
  }
  memcpy(by->effects, current, bytes);
}
