#include "num/poisson_descent.h"

#include <math.h>

#define LEAST_SHARE 0.02 /* a step leaves at least this share of a coordinate: none ends at 0 */
#define AT_REST 1e-13    /* relative change below which a step is not worth making */

ptrdiff_t num_poisson_size(int k, int longest) { return (ptrdiff_t) longest * (k + 3); }

num_poisson num_new_poisson(int k, int longest, double *memory) {
  double *p = memory + (ptrdiff_t) longest * k;
  const num_poisson out = {memory, p, p + longest, p + (ptrdiff_t) 2 * longest};
  return out;
}

NUM_HOT void num_poisson_gather(const double *g, const double *x, int k, const int *at, int r,
                                num_poisson *s) {
  for (int e = 0; e < r; e++) {
    const double *from = g + num_at(0, at[e], k);
    double p = 0;
    for (int c = 0; c < k; c++) {
      s->gathered[num_at(e, c, r)] = from[c];
      p += x[c] * from[c];
    }
    s->p[e] = p;
  }
}

static NUM_INLINE void invert(const double *v, int r, const num_poisson *s) {
  if (v) {
#pragma omp simd
    for (int e = 0; e < r; e++) s->vq[e] = v[e] * (s->q[e] = 1 / s->p[e]);
  } else {
#pragma omp simd
    for (int e = 0; e < r; e++) s->vq[e] = s->q[e] = 1 / s->p[e];
  }
}

static NUM_INLINE void move(double change, const double *g, const double *v, int r,
                            const num_poisson *s) {
#pragma omp simd
  for (int e = 0; e < r; e++) s->p[e] += change * g[e];
  invert(v, r, s);
}

#define LANES 4 /* partial sums that can be added at once */

/* sum_e v g / p */
static NUM_INLINE double pull_of(const double *g, int r, const num_poisson *s) {
  const int whole = r - r % LANES;
  double lane[LANES] = {0}, sum = 0;
  for (int e = 0; e < whole; e += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += s->vq[e + l] * g[e + l];
  for (int e = whole; e < r; e++) sum += s->vq[e] * g[e];
  return sum + ((lane[0] + lane[1]) + (lane[2] + lane[3]));
}

/* sum_e v g^2 / p^2 */
static NUM_INLINE double curvature(const double *g, int r, const num_poisson *s) {
  const int whole = r - r % LANES;
  double lane[LANES] = {0}, sum = 0;
  for (int e = 0; e < whole; e += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += s->vq[e + l] * s->q[e + l] * g[e + l] * g[e + l];
  for (int e = whole; e < r; e++) sum += s->vq[e] * s->q[e] * g[e] * g[e];
  return sum + ((lane[0] + lane[1]) + (lane[2] + lane[3]));
}

/*
 * One coordinate x. The gradient pull - linear falls and is convex in x, and 1
 * / pull is concave: Newton's step on it never goes too far up. Down it may; by
 * the trapezoid rule it still gains where the gradient beyond is no larger than
 * the one it left, else the EM step, which never goes too far, is taken.
 */
static NUM_INLINE void step_coordinate(double *x, double linear, const double *g, const double *v,
                                       int r, const num_poisson *s) {
  const double pull = pull_of(g, r, s), floor = fmax(LEAST_SHARE * *x, NUM_TINY);
  if (pull <= linear && *x <= floor) return;
  const double bend = curvature(g, r, s);
  double next = bend > 0 ? *x + pull / linear * (pull - linear) / bend : floor;
  if (!(next > floor)) next = floor;
  const double change = next - *x;
  if (fabs(change) <= AT_REST * *x) return;
  move(change, g, v, r, s);
  if (change < 0 && pull_of(g, r, s) - linear > linear - pull) {
    const double safe = fmax(*x * pull / linear, floor);
    move(safe - next, g, v, r, s);
    next = safe;
  }
  *x = next;
}

NUM_HOT void num_poisson_sweep(double *x, const double *linear, int k, const double *v, int r,
                               num_poisson *s) {
  invert(v, r, s);
  for (int c = 0; c < k; c++)
    if (linear[c] > 0) step_coordinate(x + c, linear[c], s->gathered + num_at(0, c, r), v, r, s);
}
