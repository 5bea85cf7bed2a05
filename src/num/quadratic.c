#include "num/quadratic.h"

#include <math.h>
#include <string.h>

#include "num/vector.h"

#define RIDGE 1e-10      /* relative to the diagonal */
#define LOST_PIVOT 1e-13 /* share of the diagonal below which a pivot is rounding error */
#define ROUNDING 1e-12   /* share of the largest gradient below which a multiplier has no sign */
#define STEPS_A_BOUND 8  /* limit of bounds met and left, per unknown: rounding could cycle */

typedef struct {
  const double *h, *g, *low, *high;
  int k, n_free;
  bool balanced;
  double *d;
  int *side, *free;             /* -1 or 1 at a bound; free[0 .. n_free - 1] are the unknowns not
                                   at a bound */
  double *factor, *want, *unit; /* Cholesky factor of the free part; its solutions for g and for
                                   ones */
  double lift;                  /* added to every entry of H, without effect because sum d = 0 */
  double multiplier;            /* of the constraint on the sum */
} search;

size_t num_quadratic_work(int k) { return (size_t) k * ((size_t) k + 2); }

static NUM_INLINE double curvature(const search *q, int c, int d) {
  return q->h[c + (ptrdiff_t) d * q->k] + q->lift;
}

/*
 * L D^-1 L' = H of the free unknowns; D is the diagonal of L, whose columns are contiguous. The
 * diagonal stores the inverses. The inverse of a lost pivot is 0, which fixes its unknown at 0.
 */
static NUM_INLINE bool factorise(search *q) {
  const int n = q->n_free;
  for (int j = 0; j < n; j++) {
    double *column = q->factor + (ptrdiff_t) j * q->k;
    for (int i = j; i < n; i++) column[i] = curvature(q, q->free[i], q->free[j]);
    column[j] *= 1 + RIDGE;
  }
  for (int j = 0; j < n; j++) {
    double *column = q->factor + (ptrdiff_t) j * q->k;
    const double diagonal = curvature(q, q->free[j], q->free[j]);
    if (!isfinite(column[j])) return false;
    column[j] = column[j] > LOST_PIVOT * diagonal ? 1 / column[j] : 0;
    for (int i = j + 1; i < n; i++) {
      double *other = q->factor + (ptrdiff_t) i * q->k;
      const double scale = column[i] * column[j];
      for (int e = i; e < n; e++) other[e] -= scale * column[e];
    }
  }
  return true;
}

#define FEW 8 /* unknowns below which vector instructions do not pay */

NUM_HOT static bool factorise_many(search *q) { return factorise(q); }

/* x = (L D^-1 L')^-1 x */
static void solve(const search *q, double *x) {
  const int n = q->n_free;
  for (int j = 0; j < n; j++) {
    const double *column = q->factor + (ptrdiff_t) j * q->k;
    const double value = x[j] * column[j];
    x[j] = value;
    for (int i = j + 1; i < n; i++) x[i] -= value * column[i];
  }
  for (int j = n - 1; j >= 0; j--) {
    const double *column = q->factor + (ptrdiff_t) j * q->k;
    double sum = 0;
    for (int i = j + 1; i < n; i++) sum += column[i] * x[i];
    x[j] -= sum * column[j];
  }
}

static double sum_of(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

/* Solves for the free unknowns without their bounds, the others being fixed. */
static bool aim(search *q) {
  double held = 0;
  q->n_free = 0;
  for (int c = 0; c < q->k; c++)
    if (q->side[c] == 0) q->free[q->n_free++] = c;
  if (!(q->n_free > FEW ? factorise_many(q) : factorise(q))) return false;
  for (int i = 0; i < q->n_free; i++) {
    q->want[i] = q->g[q->free[i]];
    q->unit[i] = 1;
  }
  for (int c = 0; c < q->k; c++) {
    if (q->side[c] == 0 || q->d[c] == 0) continue;
    held += q->d[c];
    for (int i = 0; i < q->n_free; i++) q->want[i] -= curvature(q, q->free[i], c) * q->d[c];
  }
  solve(q, q->want);
  if (!q->balanced || q->n_free == 0) return isfinite(sum_of(q->want, q->n_free));
  solve(q, q->unit);
  q->multiplier = (sum_of(q->want, q->n_free) + held) / sum_of(q->unit, q->n_free);
  num_add_scaled(q->want, -q->multiplier, q->unit, q->n_free);
  return isfinite(q->multiplier);
}

/* Moves towards that solution up to the first bound, which becomes active; returns false if one was met. */
static bool go(search *q) {
  double share = 1;
  int met = -1;
  for (int i = 0; i < q->n_free; i++) {
    const int c = q->free[i];
    const double from = q->d[c], to = q->want[i];
    if (to >= q->low[c] && to <= q->high[c]) continue;
    const double bound = to < q->low[c] ? q->low[c] : q->high[c];
    const double part = fmin(fmax((bound - from) / (to - from), 0), 1);
    if (met < 0 || part < share) {
      share = part;
      met = c;
      q->side[c] = to < q->low[c] ? -1 : 1;
    }
  }
  for (int i = 0; i < q->n_free; i++) {
    const int c = q->free[i];
    q->d[c] += share * (q->want[i] - q->d[c]);
    q->d[c] = fmin(fmax(q->d[c], q->low[c]), q->high[c]);
    if (c != met) q->side[c] = 0;
  }
  if (met >= 0) q->d[met] = q->side[met] < 0 ? q->low[met] : q->high[met];
  return met < 0;
}

/* Slope at unknown c in the direction away from its bound. */
static double inward(const search *q, int c) {
  double slope = q->g[c] - (q->balanced ? q->multiplier : 0);
  for (int e = 0; e < q->k; e++) slope -= curvature(q, c, e) * q->d[e];
  return q->side[c] > 0 ? -slope : slope;
}

/* Releases the bound whose multiplier most violates its sign; returns false if none does. */
static bool let_go(search *q, double tolerance) {
  double worst = tolerance;
  int out = -1;
  for (int c = 0; c < q->k; c++) {
    if (q->side[c] == 0 || q->low[c] >= q->high[c]) continue;
    const double slope = inward(q, c);
    if (slope > worst) {
      worst = slope;
      out = c;
    }
  }
  if (out >= 0) q->side[out] = 0;
  return out >= 0;
}

#define EXCHANGES 12

/*
 * Block principal pivoting: all unknowns that would leave their bounds are put on them at once, and
 * all bounds whose multipliers have the wrong sign are released at once. It usually needs a few
 * rounds where single exchanges need as many as there are bounds. It need not terminate; then it
 * returns false.
 */
static bool exchange(search *q, double tolerance) {
  for (int round = 0; round < EXCHANGES; round++) {
    bool done = true;
    if (!aim(q) || (q->balanced && q->n_free == 0)) return false;
    for (int i = 0; i < q->n_free; i++) q->d[q->free[i]] = q->want[i];
    for (int c = 0; c < q->k; c++) {
      if (q->side[c] == 0) {
        if (q->d[c] < q->low[c]) q->side[c] = -1;
        if (q->d[c] > q->high[c]) q->side[c] = 1;
        done = done && q->side[c] == 0;
      } else if (q->low[c] < q->high[c] && inward(q, c) > tolerance) {
        q->side[c] = 0;
        done = false;
      }
    }
    if (done) return true;
    for (int c = 0; c < q->k; c++)
      if (q->side[c] != 0) q->d[c] = q->side[c] < 0 ? q->low[c] : q->high[c];
  }
  return false;
}

/* Initialises d = 0; unknowns at a bound that the gradient pushes them against begin as active. */
static double begin(search *q) {
  double mean = 0, weight = 0, largest = 0;
  q->lift = 0;
  for (int c = 0; c < q->k; c++) {
    q->lift += q->balanced ? q->h[c + (ptrdiff_t) c * q->k] : 0;
    mean -= q->low[c] * q->g[c];
    weight -= q->low[c];
  }
  q->lift /= q->k;
  if (!(q->lift > 0) && q->balanced) q->lift = 1;
  mean = q->balanced && weight > 0 ? mean / weight : 0;
  for (int c = 0; c < q->k; c++) {
    const double slope = q->g[c] - mean;
    q->d[c] = 0;
    q->side[c] = 0;
    if (q->low[c] >= 0 && slope <= 0) q->side[c] = -1;
    if (q->high[c] <= 0 && slope >= 0) q->side[c] = 1;
    if (q->low[c] >= q->high[c]) q->side[c] = -1;
    if (fabs(slope) > largest) largest = fabs(slope);
  }
  return largest;
}

bool num_quadratic(const num_quadratic_problem *problem, double *d, int *side, double *work,
                   int *which) {
  const int k = problem->k;
  search q = {.h = problem->h, .g = problem->g, .low = problem->low, .high = problem->high, .k = k};
  q.balanced = problem->balanced;
  q.d = d;
  q.side = side;
  q.free = which;
  q.factor = work;
  q.want = work + (ptrdiff_t) k * k;
  q.unit = q.want + k;
  const double tolerance = ROUNDING * begin(&q);
  if (exchange(&q, tolerance)) return true;
  begin(&q);
  for (int step = 0; step < STEPS_A_BOUND * (k + 1); step++) {
    if (!aim(&q)) {
      memset(d, 0, (size_t) k * sizeof *d);
      memset(side, 0, (size_t) k * sizeof *side);
      return false;
    }
    if (go(&q) && !let_go(&q, tolerance)) break;
  }
  return true;
}
