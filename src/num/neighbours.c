#include "num/neighbours.h"

#include <math.h>

#define EARTH_RADIUS 6371.0088 /* km, mean */
#define PI 3.14159265358979323846
#define POINT 1e-3 /* a range narrower than this share of the bandwidth is a point */

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

#define SLACK 1e-9 /* of rounding, in what rules a site out before its distance is known exactly */

static double chord_squared(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

static double great_circle(double chord_squared) {
  return 2 * EARTH_RADIUS * asin(fmin(sqrt(chord_squared) / 2, 1));
}

/* The largest squared chord of places that are not beyond `limit` already. */
static double chord_limit(double limit, double bandwidth) {
  const double angle = fmax(limit, 0) * bandwidth / EARTH_RADIUS; /* chord = 2 sin(angle / 2) */
  if (!(angle < PI)) return INFINITY;
  const double half = sin(angle / 2);
  return 4 * half * half * (1 + SLACK) + SLACK * SLACK;
}

static double straight(const double *a, const double *b, int n) {
  double sum = 0;
  for (int v = 0; v < n; v++) sum += (a[v] - b[v]) * (a[v] - b[v]);
  return sqrt(sum);
}

/* d of a pair, INFINITY where unknown or surely beyond `limit`; `chord` is the limit's chord. */
static double nearness(const num_sites *from, int i, const num_sites *to, int j,
                       const double *distance, const num_nearness *near, double limit,
                       double chord) {
  double d = 0, apart = 0;
  if (from->low) { /* a gap between two ranges is the least that their distance can be */
    const double gap = fmax(from->low[i] - to->high[j], to->low[j] - from->high[i]);
    if (!(gap <= limit * near->age * (1 + SLACK))) return INFINITY;
  }
  if (from->place) {
    apart = chord_squared(from->place + 3 * (ptrdiff_t) i, to->place + 3 * (ptrdiff_t) j);
    if (!(apart <= chord)) return INFINITY;
  }
  if (from->low) {
    d = num_range_distance(from->low[i], from->high[i], to->low[j], to->high[j], near->age);
    if (!(d <= limit)) return INFINITY;
  }
  if (from->place) d += great_circle(apart) / near->place;
  if (from->plane) {
    const double *a = from->plane + 2 * (ptrdiff_t) i, *b = to->plane + 2 * (ptrdiff_t) j;
    d += straight(a, b, 2) / near->place;
  }
  if (from->variables) {
    const int n = from->n_variables;
    d += straight(from->variables + n * (ptrdiff_t) i, to->variables + n * (ptrdiff_t) j, n) /
         near->variables;
  }
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

/* What d is at least for its age alone: the mean of exp(-|s - t|) over s in a range of width w is at most 2 / w. */
static double least_by_age(const num_sites *from, int i, const num_nearness *near) {
  const double width = from->low ? (from->high[i] - from->low[i]) / near->age : 0;
  return width > 2 ? log(width / 2) : 0;
}

/* Those of n sites that are not beyond `limit`, moved to the front. */
static int keep_near(num_near_list list, int n, double limit) {
  int kept = 0;
  for (int e = 0; e < n; e++) {
    if (list.weight[e] > limit) continue;
    list.index[kept] = list.index[e];
    list.weight[kept++] = list.weight[e];
  }
  return kept;
}

/* The distance of the most-th nearest of n > most sites. */
static double last_of(num_near_list list, int n, int most) {
  for (int e = 0; e < n; e++) list.scratch[e] = list.weight[e];
  return nth(list.scratch, n, most - 1);
}

int num_neighbours(const num_sites *from, int i, const num_sites *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list) {
  const double by_age = least_by_age(from, i, near);
  double least = INFINITY, limit = INFINITY, chord = INFINITY, sum = 0;
  int n = 0, full = near->most > to->n / 2 ? to->n : 2 * near->most;
  for (int j = 0; j < to->n; j++) {
    if (j == own) continue;
    const double d = nearness(from, i, to, j, distance, near, limit, chord);
    if (!isfinite(d) || d > limit) continue;
    list.index[n] = j;
    list.weight[n++] = d; /* distances, until all are known */
    if (d >= least && n < full) continue;
    least = fmin(least, d);
    limit = fmin(limit, least + near->reach);
    if (n >= full && n > near->most) { /* nothing beyond the most-th nearest so far can be wanted */
      limit = fmin(limit, last_of(list, n, near->most));
      n = keep_near(list, n, limit);
      full = n + near->most < to->n ? n + near->most
                                    : to->n; /* more than twice as many where they tie */
    }
    chord = from->place ? chord_limit(limit - by_age, near->place) : INFINITY;
  }
  if (n == 0) return 0;
  if (n > near->most) limit = fmin(limit, last_of(list, n, near->most));
  n = keep_near(list, n, limit);
  double *weight = list.weight;
  for (int e = 0; e < n; e++) sum += weight[e] = exp(least - weight[e]);
  for (int e = 0; e < n; e++) weight[e] /= sum;
  return n;
}
