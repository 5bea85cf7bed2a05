#include "num/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/logistic.h"

#define EARTH_RADIUS 6371.0088 /* km, mean */
#define PI 3.14159265358979323846
#define POINT 1e-3 /* a range narrower than this share of the bandwidth is treated as a point */

/* Second and first antiderivative of exp(-|z|), 0 at 0; expm1() keeps small values accurate. */
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

/* Minus log of the mean of exp(-z) over z in [0, w]. */
static double spread(double w) { return w < POINT ? w / 2 : log(w) - log(-expm1(-w)); }

double num_range_distance(double a, double b, double c, double d, double bandwidth) {
  const double gap = fmax(a - d, c - b) / bandwidth; /* disjoint ranges: the integral is a
                                                        product */
  if (gap >= 0) return gap + spread((b - a) / bandwidth) + spread((d - c) / bandwidth);
  return -log(overlap(a / bandwidth, b / bandwidth, c / bandwidth, d / bandwidth));
}

#define LONG 32    /* lists of at least 1 / LONG of the sites are sorted by scattering */
#define SLACK 1e-9 /* rounding allowed for when a site is excluded by a bound on its distance */

static double chord_squared(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

static double great_circle(double chord_squared) {
  return 2 * EARTH_RADIUS * asin(fmin(sqrt(chord_squared) / 2, 1));
}

/* Largest squared chord of places whose distance is within `limit`. */
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

/* Contribution of site i's age range to its distance from disjoint ranges; 0 without ages. */
static double spread_of(const num_sites *sites, int i, const num_nearness *near) {
  return sites->low ? spread((sites->high[i] - sites->low[i]) / near->age) : 0;
}

/* num_range_distance() of ranges separated by `gap`, which is negative if they overlap. */
static double age_distance(const num_sites *from, int i, const num_sites *to, int j, double gap,
                           double from_spread, double bandwidth) {
  if (gap >= 0) return gap / bandwidth + from_spread + to->spread[j];
  return num_range_distance(from->low[i], from->high[i], to->low[j], to->high[j], bandwidth);
}

typedef struct {
  const num_sites *from;
  int i;
  double spread;
} seeker;

/* Distance of a pair by their covariates; INFINITY if unknown or certainly beyond `limit`, whose
 * chord is `chord`. */
static double nearness(const seeker *s, const num_sites *to, int j, const num_nearness *near,
                       double limit, double chord) {
  const num_sites *from = s->from;
  const int i = s->i;
  double d = 0, apart = 0, gap = 0;
  if (from->low) { /* the gap between two ranges is a lower bound of their distance */
    gap = fmax(from->low[i] - to->high[j], to->low[j] - from->high[i]);
    if (!(gap <= limit * near->age * (1 + SLACK))) return INFINITY;
  }
  if (from->place) {
    apart = chord_squared(from->place + 3 * (ptrdiff_t) i, to->place + 3 * (ptrdiff_t) j);
    if (!(apart <= chord)) return INFINITY;
  }
  if (from->low) {
    d = age_distance(from, i, to, j, gap, s->spread, near->age);
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
  return isnan(d) ? INFINITY : d;
}

/* The rank-th smallest (from 0) of n values by Hoare's quickselect, which reorders them. */
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

/* Lower bound of d from the age range alone: the mean of exp(-|s - t|) over s in a range of width w
 * is at most 2 / w. */
static double least_by_age(const num_sites *from, int i, const num_nearness *near) {
  const double width = from->low ? (from->high[i] - from->low[i]) / near->age : 0;
  return width > 2 ? log(width / 2) : 0;
}

/* Moves the sites within `limit` to the front; returns their number. */
static int keep_near(num_near_list list, int n, double limit) {
  int kept = 0;
  for (int e = 0; e < n; e++) {
    if (list.weight[e] > limit) continue;
    list.index[kept] = list.index[e];
    list.weight[kept++] = list.weight[e];
  }
  return kept;
}

/* Distance of the most-th nearest of n > most sites. */
static double last_of(num_near_list list, int n, int most) {
  for (int e = 0; e < n; e++) list.scratch[e] = list.weight[e];
  return nth(list.scratch, n, most - 1);
}

enum { NOTHING, AGE, PLACE, PLANE, VARIABLES };

/* Coordinate of site i along an axis; NaN if unknown. */
static double key_of(const num_sites *sites, int i, int part, int axis) {
  switch (part) {
    case AGE: return sites->low[i] + (sites->high[i] - sites->low[i]) / 2;
    case PLACE: return sites->place[3 * (ptrdiff_t) i + axis];
    case PLANE: return sites->plane[2 * (ptrdiff_t) i + axis];
    case VARIABLES: return sites->variables[sites->n_variables * (ptrdiff_t) i + axis];
    default: return 0;
  }
}

static double bandwidth_of(const num_nearness *near, int part) {
  switch (part) {
    case AGE: return near->age;
    case PLACE: return near->place / EARTH_RADIUS; /* a chord is shorter than its arc */
    case PLANE: return near->place;
    case VARIABLES: return near->variables;
    default: return 1;
  }
}

static double half_width(const num_sites *sites, int i) {
  return (sites->high[i] - sites->low[i]) / 2;
}

static double widest_half(const num_sites *sites) {
  double widest = 0;
  for (int i = 0; i < sites->n; i++) widest = fmax(widest, half_width(sites, i));
  return widest;
}

/* Extent of the sites along a coordinate, in bandwidths (of ages: in widest range plus bandwidth). */
static double extent(const num_sites *sites, const num_nearness *near, int part, int axis) {
  const double least = bandwidth_of(near, part) + (part == AGE ? 2 * widest_half(sites) : 0);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < sites->n; i++) { /* fmin() and fmax() ignore NaN */
    low = fmin(low, key_of(sites, i, part, axis));
    high = fmax(high, key_of(sites, i, part, axis));
  }
  return (high - low) / least;
}

static int by_key(const void *a, const void *b) {
  const num_key *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->site > y->site) - (x->site < y->site);
}

ptrdiff_t num_sites_doubles(const num_sites *sites) {
  const int each = (sites->low ? 3 : 0) + (sites->place ? 3 : 0) + (sites->plane ? 2 : 0) +
                   (sites->variables ? sites->n_variables : 0);
  return (ptrdiff_t) each * sites->n;
}

/* Copies `each` numbers per site in the order of keys and advances `to`. NULL stays NULL. */
static const double *copied(const double *from, int each, const num_key *key, int n, double **to) {
  if (!from) return NULL;
  double *copy = *to;
  for (int e = 0; e < n; e++) {
    memcpy(copy + each * (ptrdiff_t) e, from + each * (ptrdiff_t) key[e].site,
           (size_t) each * sizeof *copy);
  }
  *to += each * (ptrdiff_t) n;
  return copy;
}

static const double *spreads(const num_sites *sites, const num_nearness *near, double *to) {
  if (!sites->low) return NULL;
  for (int i = 0; i < sites->n; i++) to[i] = spread_of(sites, i, near);
  return to;
}

num_sweep num_sweep_of(const num_sites *sites, const num_nearness *near, num_key *key,
                       double *copy) {
  const int axes[] = {[NOTHING] = 0,
                      [AGE] = sites->low ? 1 : 0,
                      [PLACE] = sites->place ? 3 : 0,
                      [PLANE] = sites->plane ? 2 : 0,
                      [VARIABLES] = sites->variables ? sites->n_variables : 0};
  num_sweep out = {.n = sites->n, .key = key, .part = NOTHING};
  double farthest = 0;
  for (int part = AGE; part <= VARIABLES; part++) {
    for (int axis = 0; axis < axes[part]; axis++) {
      const double apart = extent(sites, near, part, axis);
      if (!(apart > farthest)) continue;
      farthest = apart;
      out.part = part;
      out.axis = axis;
    }
  }
  int n = 0;
  for (int i = 0; i < sites->n; i++) {
    const double own = key_of(sites, i, out.part, out.axis);
    if (isnan(own)) continue;
    key[n++] = (num_key){own, i};
  }
  if (out.part == AGE) out.widest = widest_half(sites);
  qsort(key, (size_t) n, sizeof *key, by_key);
  out.sites = (num_sites){.n = n,
                          .low = copied(sites->low, 1, key, n, &copy),
                          .high = copied(sites->high, 1, key, n, &copy),
                          .place = copied(sites->place, 3, key, n, &copy),
                          .plane = copied(sites->plane, 2, key, n, &copy),
                          .variables = copied(sites->variables, sites->n_variables, key, n, &copy),
                          .n_variables = sites->n_variables};
  out.sites.spread = spreads(&out.sites, near, copy);
  return out;
}

/* The first position in the sweep whose key is at least `key`. */
static int place_of(const num_sweep *sweep, double key) {
  int low = 0, high = sweep->sites.n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (sweep->key[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Largest difference along the coordinate of a site whose distance is within `limit`. */
static double farthest_key(const num_sweep *sweep, const num_sites *from, int i,
                           const num_nearness *near, double limit, double chord) {
  if (sweep->part == NOTHING) return INFINITY;
  if (sweep->part == PLACE) return sqrt(chord);
  const double ranges = sweep->part == AGE ? half_width(from, i) + sweep->widest : 0;
  return (limit * bandwidth_of(near, sweep->part) + ranges) * (1 + SLACK) + SLACK;
}

/* Sorts a long list of n of `all` sites by site number, by scattering it into a table of all sites. */
static void ascending_by_place(num_near_list list, int n, int all) {
  int at = 0;
  for (int i = 0; i < all; i++) list.scratch[i] = INFINITY;
  for (int e = 0; e < n; e++) list.scratch[list.index[e]] = list.weight[e];
  for (int i = 0; at < n; i++) {
    if (isinf(list.scratch[i])) continue;
    list.index[at] = i;
    list.weight[at++] = list.scratch[i];
  }
}

/* Sorts a short list by site number, with Shell's method. */
static void ascending(num_near_list list, int n) {
  int gap = 1;
  while (gap < n / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (int e = gap; e < n; e++) {
      const int index = list.index[e];
      const double weight = list.weight[e];
      int at = e;
      for (; at >= gap && list.index[at - gap] > index; at -= gap) {
        list.index[at] = list.index[at - gap];
        list.weight[at] = list.weight[at - gap];
      }
      list.index[at] = index;
      list.weight[at] = weight;
    }
  }
}

int num_neighbours(const num_sites *from, int i, const num_sweep *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list) {
  const num_sites *sites = &to->sites;
  const double key = key_of(from, i, to->part, to->axis);
  if (isnan(key)) return 0;
  const double by_age = least_by_age(from, i, near);
  const seeker self = {from, i, spread_of(from, i, near)};
  double least = INFINITY, limit = INFINITY, chord = INFINITY, farthest = INFINITY, sum = 0;
  int n = 0, full = near->most > sites->n / 2 ? sites->n : 2 * near->most;
  for (int above = place_of(to, key), below = above - 1; below >= 0 || above < sites->n;) {
    const double down = below >= 0 ? key - to->key[below].key : INFINITY;
    const double up = above < sites->n ? to->key[above].key - key : INFINITY;
    if (fmin(down, up) > farthest) break;
    const bool go_down = below >= 0 && (above >= sites->n || down < up);
    const int at = go_down ? below-- : above++, j = to->key[at].site;
    if (j == own) continue;
    const double more = distance ? distance[j] / near->distance : 0;
    const double d = more + nearness(&self, sites, at, near, limit, chord);
    if (!(d <= limit) || !isfinite(d)) continue;
    list.index[n] = j;
    list.weight[n++] = d; /* distances until all are known, then weights */
    if (d >= least && n < full) continue;
    least = fmin(least, d);
    limit = fmin(limit, least + near->reach);
    if (n >= full && n > near->most) { /* sites beyond the most-th nearest so far are not needed */
      limit = fmin(limit, last_of(list, n, near->most));
      n = keep_near(list, n, limit);
      full =
          n + near->most < sites->n ? n + near->most : sites->n; /* ties: more than twice as many */
    }
    chord = from->place ? chord_limit(limit - by_age, near->place) : INFINITY;
    farthest = farthest_key(to, from, i, near, limit, chord);
  }
  if (n == 0) return 0;
  if (n > near->most) limit = fmin(limit, last_of(list, n, near->most));
  n = keep_near(list, n, limit);
  if (n < to->n / LONG)
    ascending(list, n);
  else
    ascending_by_place(list, n, to->n);
  double *weight = list.weight;
  for (int e = 0; e < n; e++) weight[e] -= least;
  num_exp_minus(weight, n);
  for (int e = 0; e < n; e++) sum += weight[e];
  for (int e = 0; e < n; e++) weight[e] /= sum;
  return n;
}
