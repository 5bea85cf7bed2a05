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

static double half_width(const num_sites *sites, int i) {
  return (sites->high[i] - sites->low[i]) / 2;
}

/* Coordinate of site i along an axis; NaN if unknown. */
static double key_of(const num_sites *sites, int i, int part, int axis) {
  switch (part) {
    case AGE: return sites->low ? sites->low[i] + half_width(sites, i) : 0;
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

static double widest_half(const num_sites *sites) {
  double widest = 0;
  for (int i = 0; i < sites->n; i++) widest = fmax(widest, half_width(sites, i));
  return widest;
}

#define LEAF 32 /* sites of a node that is not cut */

static int n_axes_of(const num_sites *sites, int part) {
  switch (part) {
    case AGE: return sites->low ? 1 : 0;
    case PLACE: return sites->place ? 3 : 0;
    case PLANE: return sites->plane ? 2 : 0;
    default: return sites->variables ? sites->n_variables : 0;
  }
}

static int all_axes(const num_sites *sites) {
  int sum = 0;
  for (int part = AGE; part <= VARIABLES; part++) sum += n_axes_of(sites, part);
  return sum;
}

/* Least and largest of a coordinate among the sites of a node; of ages, of their bounds. */
static void bounds_of(const num_sites *sites, const num_key *key, num_node node, int part, int axis,
                      double *box) {
  const bool ranged = part == AGE && sites->low && sites->high;
  box[0] = INFINITY;
  box[1] = -INFINITY;
  for (int e = node.from; e < node.to; e++) {
    const int i = key[e].site;
    const double own = ranged ? 0 : key_of(sites, i, part, axis);
    box[0] = fmin(box[0], ranged ? sites->low[i] : own);
    box[1] = fmax(box[1], ranged ? sites->high[i] : own);
  }
}

static int by_key(const void *a, const void *b) {
  const num_key *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->site > y->site) - (x->site < y->site);
}

/* Every leaf has at least LEAF / 2 sites, but for a single one. */
int num_tree_nodes(const num_sites *sites) { return 2 * (sites->n / (LEAF / 2)) + 1; }

ptrdiff_t num_tree_doubles(const num_sites *sites) {
  const int axes = all_axes(sites), each = axes + (sites->low ? 2 : 0);
  return (ptrdiff_t) each * sites->n + 2 * (ptrdiff_t) axes * num_tree_nodes(sites);
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

static bool all_known(const num_sites *sites, int i) {
  for (int part = AGE; part <= VARIABLES; part++)
    for (int axis = 0; axis < n_axes_of(sites, part); axis++)
      if (isnan(key_of(sites, i, part, axis))) return false;
  return true;
}

/* Numbers of the sites whose covariates are all known; returns how many. */
static int known_sites(const num_sites *sites, num_key *key) {
  int n = 0;
  for (int i = 0; i < sites->n; i++)
    if (all_known(sites, i)) key[n++].site = i;
  return n;
}

/* Fills the boxes of a node, and sorts its sites along its longest side; returns false if it is a point. */
static bool sort_node(const num_sites *sites, const num_nearness *near, num_node node,
                      double widest, num_key *key, double *box) {
  int longest = NOTHING, along = 0;
  double most = 0;
  for (int part = AGE; part <= VARIABLES; part++)
    for (int axis = 0; axis < n_axes_of(sites, part); axis++, box += 2) {
      bounds_of(sites, key, node, part, axis, box);
      const double unit = bandwidth_of(near, part) + (part == AGE ? 2 * widest : 0);
      if (!((box[1] - box[0]) / unit > most)) continue;
      most = (box[1] - box[0]) / unit;
      longest = part;
      along = axis;
    }
  if (longest == NOTHING || node.to - node.from <= LEAF) return false;
  for (int e = node.from; e < node.to; e++) key[e].key = key_of(sites, key[e].site, longest, along);
  qsort(key + node.from, (size_t) (node.to - node.from), sizeof *key, by_key);
  return true;
}

num_tree num_tree_of(const num_sites *sites, const num_nearness *near, num_key *key, num_node *node,
                     double *copy) {
  const int n = known_sites(sites, key), n_axes = all_axes(sites);
  const double widest = sites->low ? widest_half(sites) : 0;
  double *box = copy;
  int n_nodes = 1;
  node[0] = (num_node){0, n, 0};
  for (int at = 0; at < n_nodes; at++) { /* halves are appended, and cut in their turn */
    const num_node own = node[at];
    if (!sort_node(sites, near, own, widest, key, box + 2 * (ptrdiff_t) n_axes * at)) continue;
    const int middle = own.from + (own.to - own.from) / 2;
    node[at].child = n_nodes;
    node[n_nodes++] = (num_node){own.from, middle, 0};
    node[n_nodes++] = (num_node){middle, own.to, 0};
  }
  copy += 2 * (ptrdiff_t) n_axes * num_tree_nodes(sites);
  num_tree out = {.n = sites->n, .n_axes = n_axes, .key = key, .node = node, .box = box};
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

/* Euclidean distance of a point from a box of n coordinates. */
static double outside(const double *point, const double *box, int n) {
  double sum = 0;
  for (int v = 0; v < n; v++, box += 2) {
    const double off = fmax(fmax(box[0] - point[v], point[v] - box[1]), 0);
    sum += off * off;
  }
  return sqrt(sum);
}

/* Lower bound of the distance from the sites of a node. */
static double least_in(const num_tree *tree, int node, const seeker *s, const num_nearness *near,
                       double by_age) {
  const double *box = tree->box + 2 * (ptrdiff_t) tree->n_axes * node;
  const num_sites *from = s->from;
  const ptrdiff_t i = s->i;
  double d = 0;
  if (from->low) {
    d = fmax(by_age, fmax(box[0] - from->high[i], from->low[i] - box[1]) / near->age);
    box += 2;
  }
  if (from->place) {
    const double chord = outside(from->place + 3 * i, box, 3);
    d += great_circle(chord * chord) / near->place;
    box += 6;
  }
  if (from->plane) {
    d += outside(from->plane + 2 * i, box, 2) / near->place;
    box += 4;
  }
  if (from->variables) {
    const int n = from->n_variables;
    d += outside(from->variables + n * i, box, n) / near->variables;
  }
  return d;
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

/* What a search has found: n sites, with their distances, of which those beyond `limit` (as a chord:
 * `chord`) are not needed; when it is `full` it is thinned out. */
typedef struct {
  num_near_list list;
  int n, full;
  double least, limit, chord;
} finding;

static void take_site(finding *f, int j, double d, const num_sites *from, double by_age, int n,
                      const num_nearness *near) {
  f->list.index[f->n] = j;
  f->list.weight[f->n++] = d; /* distances until all are known, then weights */
  if (d >= f->least && f->n < f->full) return;
  f->least = fmin(f->least, d);
  f->limit = fmin(f->limit, f->least + near->reach);
  if (f->n >= f->full && f->n > near->most) { /* sites beyond the most-th nearest so far */
    f->limit = fmin(f->limit, last_of(f->list, f->n, near->most));
    f->n = keep_near(f->list, f->n, f->limit);
    f->full = f->n + near->most < n ? f->n + near->most : n; /* ties: more than twice as many */
  }
  f->chord = from->place ? chord_limit(f->limit - by_age, near->place) : INFINITY;
}

typedef struct {
  int node;
  double least; /* lower bound of its distances */
} branch;

#define DEPTH 64 /* more than twice the halvings of 2^31 sites */

static double with_slack(double limit) { return limit * (1 + SLACK) + SLACK; }

/* Searches the nodes within the limit, the nearer half first. */
static void search_tree(finding *f, const seeker *s, const num_tree *to, int own,
                        const double *distance, const num_nearness *near) {
  const num_sites *sites = &to->sites;
  const double by_age = least_by_age(s->from, s->i, near);
  branch open[DEPTH] = {{0, least_in(to, 0, s, near, by_age)}};
  for (int n_open = 1; n_open > 0;) {
    const branch at = open[--n_open];
    if (!(at.least <= with_slack(f->limit))) continue;
    const num_node node = to->node[at.node];
    for (int e = node.from; e < node.to && !node.child; e++) {
      const int j = to->key[e].site;
      if (j == own) continue;
      const double more = distance ? distance[j] / near->distance : 0;
      const double d = more + nearness(s, sites, e, near, f->limit, f->chord);
      if (d <= f->limit && isfinite(d)) take_site(f, j, d, s->from, by_age, sites->n, near);
    }
    if (!node.child) continue;
    const branch one = {node.child, least_in(to, node.child, s, near, by_age)};
    const branch two = {node.child + 1, least_in(to, node.child + 1, s, near, by_age)};
    open[n_open++] = one.least < two.least ? two : one;
    open[n_open++] = one.least < two.least ? one : two;
  }
}

int num_neighbours(const num_sites *from, int i, const num_tree *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list) {
  const int all = to->sites.n;
  if (!all_known(from, i)) return 0;
  const seeker self = {from, i, spread_of(from, i, near)};
  finding f = {list, 0, near->most > all / 2 ? all : 2 * near->most, INFINITY, INFINITY, INFINITY};
  search_tree(&f, &self, to, own, distance, near);
  if (f.n == 0) return 0;
  if (f.n > near->most) f.limit = fmin(f.limit, last_of(list, f.n, near->most));
  const int n = keep_near(list, f.n, f.limit);
  if (n < to->n / LONG)
    ascending(list, n);
  else
    ascending_by_place(list, n, to->n);
  double *weight = list.weight, sum = 0;
  for (int e = 0; e < n; e++) weight[e] -= f.least;
  num_exp_minus(weight, n);
  for (int e = 0; e < n; e++) sum += weight[e];
  for (int e = 0; e < n; e++) weight[e] /= sum;
  return n;
}
