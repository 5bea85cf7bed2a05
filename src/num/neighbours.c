#include "num/neighbours.h"

#include <math.h>

#define EARTH_RADIUS 6371.0088 /* km, mean */
#define POINT 1e-3             /* a range narrower than this share of the bandwidth is a point */

/* Second and first antiderivative of exp(-|z|), 0 at 0; expm1() keeps what is small. */
static double second(double z) { return fabs(z) + expm1(-fabs(z)); }
static double first(double z) { return z < 0 ? expm1(z) : -expm1(-z); }

static double overlap(double a, double b, double c, double d) {
  const bool first_point = b - a < POINT, second_point = d - c < POINT;
  const double s = (a + b) / 2, t = (c + d) / 2;
  if (first_point && second_point) return exp(-fabs(s - t));
  if (first_point) return (first(s - c) - first(s - d)) / (d - c);
  if (second_point) return (first(b - t) - first(a - t)) / (b - a);
  return (second(b - c) - second(b - d) - second(a - c) + second(a - d)) / ((b - a) * (d - c));
}

/* Mean of exp(-z) over z in [0, w], minus its log. */
static double spread(double w) { return w < POINT ? w / 2 : log(w) - log(-expm1(-w)); }

double num_range_distance(double a, double b, double c, double d, double bandwidth) {
  const double gap = fmax(a - d, c - b) / bandwidth; /* apart: the integral is a product */
  if (gap >= 0) return gap + spread((b - a) / bandwidth) + spread((d - c) / bandwidth);
  return -log(overlap(a / bandwidth, b / bandwidth, c / bandwidth, d / bandwidth));
}

static double great_circle(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  const double half = sqrt(x * x + y * y + z * z) / 2;
  return 2 * EARTH_RADIUS * asin(fmin(half, 1));
}

/* d of a pair, INFINITY where unknown or, by age alone, beyond `limit` already. */
static double nearness(const num_sites *from, int i, const num_sites *to, int j,
                       const double *distance, const num_nearness *near, double limit) {
  double d = 0;
  if (from->low) {
    d = num_range_distance(from->low[i], from->high[i], to->low[j], to->high[j], near->age);
    if (!(d <= limit)) return INFINITY;
  }
  if (from->place)
    d += great_circle(from->place + 3 * (ptrdiff_t) i, to->place + 3 * (ptrdiff_t) j) / near->place;
  if (distance) d += distance[j] / near->distance;
  return isnan(d) ? INFINITY : d;
}

/* The rank-th smallest (from 0) of n values, by Hoare's quickselect; they change places. */
static double nth(double *x, int n, int rank) {
  int low = 0, high = n - 1;
  while (low < high) {
    const double pivot = x[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (x[j] > pivot) j--;
      if (i > j) break;
      const double swap = x[i];
      x[i++] = x[j];
      x[j--] = swap;
    }
    if (rank <= j)
      high = j;
    else if (rank >= i)
      low = i;
    else
      return x[rank];
  }
  return x[rank];
}

int num_neighbours(const num_sites *from, int i, const num_sites *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list) {
  int *index = list.index;
  double *weight = list.weight, *scratch = list.scratch;
  double least = INFINITY, limit = INFINITY, sum = 0;
  int n = 0, kept = 0;
  for (int j = 0; j < to->n; j++) {
    if (j == own) continue;
    const double d = nearness(from, i, to, j, distance, near, limit);
    if (!isfinite(d) || d > limit) continue;
    if (d < least) {
      least = d;
      limit = least + near->reach;
    }
    index[n] = j;
    scratch[n] = weight[n] = d;
    n++;
  }
  if (n == 0) return 0;
  if (n > near->most) limit = fmin(limit, nth(scratch, n, near->most - 1));
  for (int e = 0; e < n; e++) {
    if (weight[e] > limit) continue;
    index[kept] = index[e];
    sum += weight[kept] = exp(least - weight[e]);
    kept++;
  }
  for (int e = 0; e < kept; e++) weight[e] /= sum;
  return kept;
}
