#include "num/rng.h"

#include <math.h>
#include <stdbool.h>

#ifndef M_PI
#define M_PI 3.141592653589793238462643383280
#endif
#ifndef M_SQRT1_2
#define M_SQRT1_2 0.707106781186547524400844362105
#endif

/* SplitMix64, which spreads the seed over the state. */
static uint64_t split_mix(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

num_stream num_new_stream(void) {
  const double two_32 = 4294967296.0;
  const uint64_t high = (uint64_t) (num_unif() * two_32), low = (uint64_t) (num_unif() * two_32);
  uint64_t seed = high << 32 | low;
  num_stream stream;
  for (int i = 0; i < 4; i++) stream.state[i] = split_mix(&seed);
  return stream;
}

void num_fill_unif(num_stream *stream, double *x, int n) {
  uint64_t a = stream->state[0], b = stream->state[1], c = stream->state[2], d = stream->state[3];
  for (int i = 0; i < n; i++) {
    x[i] = (double) ((a + d) >> 11) * 0x1p-53;
    const uint64_t t = b << 17;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = d << 45 | d >> 19;
  }
  stream->state[0] = a;
  stream->state[1] = b;
  stream->state[2] = c;
  stream->state[3] = d;
}

void num_shuffle(int *index, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int j = num_below(i + 1), keep = index[i];
    index[i] = index[j];
    index[j] = keep;
  }
}

int num_pick_log(double *weight, int n) {
  double top = weight[0], sum = 0;
  for (int i = 1; i < n; i++) top = fmax(top, weight[i]);
  for (int i = 0; i < n; i++) sum += weight[i] = exp(weight[i] - top);
  double left = num_unif() * sum;
  for (int i = 0; i < n - 1; i++) {
    left -= weight[i];
    if (left < 0) return i;
  }
  return n - 1;
}

#define PG_CUT 0.64 /* boundary between the two series of the density of J*(1, 0) */

/* n-th coefficient of the alternating series of the density at x. */
static double pg_coefficient(int n, double x) {
  const double k = (n + 0.5) * M_PI;
  if (x > PG_CUT) return k * exp(-k * k * x / 2);
  const double h = n + 0.5, ratio = 2 / (M_PI * x);
  return k * ratio * sqrt(ratio) * exp(-2 * h * h / x);
}

/* Probability of the exponential right tail of the proposal; z is half the tilt. */
static double pg_tail_mass(double z, double rate) {
  const double root = sqrt(1 / PG_CUT), upper = root * (PG_CUT * z - 1);
  const double lower = -root * (PG_CUT * z + 1);
  double left;
  if (z < 12) {
    const double up = 0.5 * erfc(-upper * M_SQRT1_2), down = 0.5 * erfc(-lower * M_SQRT1_2);
    left = exp(rate * PG_CUT) * (exp(-z) * up + exp(z) * down);
  } else {
    left = exp(rate * PG_CUT - z + pnorm(upper, 0, 1, 1, 1)) +
           exp(rate * PG_CUT + z + pnorm(lower, 0, 1, 1, 1));
  }
  return 1 / (1 + 4 / M_PI * rate * left);
}

/* Draws from the inverse Gaussian(1 / z, 1) truncated to below the cut. */
static double pg_left(double z) {
  const double mean = 1 / z;
  double x;
  if (mean > PG_CUT) {
    do {
      double e1, e2;
      do {
        e1 = num_draw_exp();
        e2 = num_draw_exp();
      } while (e1 * e1 > 2 * e2 / PG_CUT);
      x = 1 + PG_CUT * e1;
      x = PG_CUT / (x * x);
    } while (num_unif() > exp(-0.5 * z * z * x));
    return x;
  }
  do {
    const double draw = num_norm(), y = draw * draw, my = mean * y;
    x = mean + 0.5 * mean * my - 0.5 * mean * sqrt(4 * my + my * my);
    if (num_unif() > mean / (mean + x)) x = mean * mean / x;
  } while (x > PG_CUT);
  return x;
}

double num_draw_polya_gamma(double z) {
  if (!isfinite(z)) return isnan(z) ? z : 0; /* the series would not terminate */
  const double half = 0.5 * fabs(z), rate = M_PI * M_PI / 8 + half * half / 2;
  const double tail = pg_tail_mass(half, rate);
  for (;;) {
    const double x = num_unif() < tail ? PG_CUT + num_draw_exp() / rate : pg_left(half);
    double sum = pg_coefficient(0, x);
    const double y = num_unif() * sum;
    for (int n = 1;; n++) {
      const bool odd = n % 2 == 1;
      sum += odd ? -pg_coefficient(n, x) : pg_coefficient(n, x);
      if (odd && y <= sum) return x / 4;
      if (!odd && y > sum) break;
    }
  }
}
