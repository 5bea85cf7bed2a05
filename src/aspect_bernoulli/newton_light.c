/*
 * aspect_bernoulli/newton_light.c: light columns, whose zeros share one bound: selection of these
 * columns, the bounds, and the terms of ones and missing cells, which are subtracted.
 */
#include "aspect_bernoulli/newton_private.h"

#include <string.h>

#include "num/vector.h"

#define GROWTH 1.5    /* an aspect may grow by this in a step, where its column is light */
#define LEAST_CAP 0.1 /* and to this, from wherever it is */
#define MOST_LIGHT 0.5

ab_light ab_new_light(int m, const mc_host *host) {
  ab_light light = {.row_curvature = mc_doubles(host, m, 1)};
  light.column_curvature = mc_doubles(host, m, 1);
  light.cap = mc_doubles(host, m, 1);
  light.order = host->alloc(host->ctx, (size_t) m, sizeof(int));
  light.f = mc_doubles(host, AB_PARABOLA, m);
  light.fixed_cap = mc_doubles(host, m, 1);
  light.scanned = host->alloc(host->ctx, (size_t) m, sizeof(int));
  light.rank = host->alloc(host->ctx, (size_t) m, sizeof(int));
  return light;
}

void ab_allocate_light(ab_side *of, int m, const mc_host *host) {
  of->one_scanned = mc_doubles(host, of->k, m);
  of->zero_scanned = mc_doubles(host, of->k, m);
  of->all = ab_new_low_rank(of->k, host);
  of->common = mc_doubles(host, num_pairs(of->k), 1);
}

/*
 * Light columns. On the simplex p <= u, the largest aspect of a column, for any membership, so the
 * curvature of -log(1 - p) is at most 1 / (1 - u)^2; the same holds for aspects with a cap.
 */
void ab_find_light(const ab_param *par, int m, ab_light *light) {
  for (int j = 0; j < m; j++) {
    double most = 0;
    for (int c = 0; c < par->k; c++) most = fmax(most, par->aspects[num_at(c, j, par->k)]);
    const double *f = light->f + num_at(0, j, AB_PARABOLA);
    const double cap = fmax(GROWTH * most, LEAST_CAP);
    if (light->unscanned && light->fixed_cap[j] > 0) {
      light->cap[j] = light->fixed_cap[j];
      light->row_curvature[j] = f[1] + 2 * f[2] * most;
      light->column_curvature[j] = f[1] + 2 * f[2] * light->cap[j];
      continue;
    }
    light->row_curvature[j] = most <= MOST_LIGHT ? 1 / ((1 - most) * (1 - most)) : 0;
    light->column_curvature[j] = cap <= MOST_LIGHT ? 1 / ((1 - cap) * (1 - cap)) : 0;
    light->cap[j] = cap <= MOST_LIGHT ? cap : 1;
  }
  int n = 0;
  for (int kind = 0; kind <= 2; kind++) {
    for (int j = 0; j < m; j++) {
      const bool unscanned = light->unscanned && light->fixed_cap[j] > 0;
      if ((unscanned ? 2 : light->column_curvature[j] > 0) == kind) light->order[n++] = j;
    }
  }
}

void ab_set_fixed_caps(ab_light *light, int m, const double *cap) {
  light->unscanned = cap != NULL;
  if (!cap) return;
  light->n_scanned = 0;
  memset(light->f, 0, AB_PARABOLA * (size_t) m * sizeof(double));
  for (int j = 0; j < m; j++) {
    light->fixed_cap[j] = cap[j];
    light->rank[j] = light->fixed_cap[j] > 0 ? -1 : light->n_scanned;
    if (light->rank[j] < 0)
      ab_parabola(light->fixed_cap[j], light->f + num_at(0, j, AB_PARABOLA));
    else
      light->scanned[light->n_scanned++] = j;
  }
}

/* Adds weight times those of t->vector to t->square. */
NUM_HOT static void add_square(int n, double weight, const ab_block *t) {
  const double *vector = t->vector;
  const int stride = ab_padded(n);
  for (int d = 0; d < n; d++) {
    const double scale = weight * vector[d];
    double *sum = t->square + num_at(0, d, stride);
    for (int c = 0; c <= (d | 3); c++) sum[c] += scale * vector[c];
  }
}

/* Moves the upper triangle of t->square into a packed one. */
static void flush_square(int n, double *packed, const ab_block *t) {
  const int stride = ab_padded(n);
  for (int d = 0; d < n; d++)
    for (int c = 0; c <= d; c++) *packed++ += t->square[num_at(c, d, stride)];
  memset(t->square, 0, (size_t) n * (size_t) stride * sizeof(double));
}

void ab_bound_all(ab_side *of, const ab_block *t) {
  memset(of->common, 0, (size_t) num_pairs(of->n_moving) * sizeof(double));
  for (int j = 0; j < of->cells->m; j++) {
    ab_moving_vector(of, of->one + num_at(0, j, of->k), t->vector);
    add_square(of->n_moving, of->simplex ? of->curvature[j] : 1, t);
  }
  flush_square(of->n_moving, of->common, t);
}

/*
 * Subtracts a cell that is not zero from the sums over unscanned ones; returns the change of the
 * log-likelihood.
 */
static double remove_parabola(const double *f, double p, const double *one, int k,
                              double *gradient) {
  num_add_scaled(gradient, -ab_parabola_at(f, p), one, k);
  return ab_parabola_integral(f, p);
}

double ab_differentiate_light_ones(const ab_side *of, int i, ab_block *t) {
  const mc_data *cells = of->cells;
  const int k = of->k, n = of->n_moving, unit = t->unit[i];
  const double *weights = t->weights + num_at(0, i, k);
  double *gradient = t->gradient + num_at(0, i, k), loglik = 0;
  num_log_product likelihood = {0, 1};
  for (int e = cells->start[unit]; e < cells->start[unit + 1]; e++) {
    const double *one = of->one + num_at(0, cells->column[e], k);
    const double curvature = ab_curvature_bound(of, unit, cells->column[e]);
    const double *f = ab_parabola_of(of, unit, cells->column[e]);
    if (curvature <= 0) continue;
    const double p = num_dot(weights, one, k), slope = 1 / fmax(p, AB_LEAST_P);
    num_times(&likelihood, p);
    num_add_scaled(gradient, -slope, one, k);
    if (f) loglik += remove_parabola(f, p, one, k, gradient);
    ab_moving_vector(of, one, t->vector);
    add_square(n, slope * slope - curvature, t);
  }
  for (int e = cells->na_start ? cells->na_start[unit] : 0;
       cells->na_start && e < cells->na_start[unit + 1]; e++) {
    const double *one = of->one + num_at(0, cells->na_column[e], k);
    const double curvature = ab_curvature_bound(of, unit, cells->na_column[e]);
    const double *f = ab_parabola_of(of, unit, cells->na_column[e]);
    if (curvature <= 0) continue;
    if (f) loglik += remove_parabola(f, num_dot(weights, one, k), one, k, gradient);
    ab_moving_vector(of, one, t->vector);
    add_square(n, -curvature, t);
  }
  flush_square(n, t->hessian + num_at(0, i, num_pairs(n)), t);
  return loglik + num_log_of(&likelihood);
}

double ab_add_unscanned_zeros(const ab_side *of, int first, int b, ab_block *t) {
  const int k = of->k;
  for (int i = first; i < b; i++) t->f[i - first] = ab_parabola_of(of, t->unit[i], 0);
  return -ab_low_rank_add(&of->all, b - first, t->weights + num_at(0, first, k),
                          of->simplex ? NULL : t->f, t->gradient + num_at(0, first, k), t->room);
}

/* The bounds of a unit's stored cells in d'H d. */
static double stored_form(const ab_side *of, const int *start, const int *column, int unit,
                          const double *d) {
  double sum = 0;
  for (int e = start[unit]; e < start[unit + 1]; e++) {
    const double curvature = ab_curvature_bound(of, unit, column[e]);
    const double change =
        curvature > 0 ? num_dot(of->one + num_at(0, column[e], of->k), d, of->k) : 0;
    sum += curvature * change * change;
  }
  return sum;
}

double ab_light_form(const ab_side *of, int unit, const double *d) {
  const mc_data *cells = of->cells;
  if (!of->curvature || (!of->simplex && of->curvature[unit] <= 0)) return 0;
  if (of->sums)
    return fmax(ab_packed_form(of, of->sums->light + num_at(0, unit, num_pairs(of->n_moving)), d),
                0);
  double sum = ab_packed_form(of, of->common, d) * (of->simplex ? 1 : of->curvature[unit]);
  sum -= stored_form(of, cells->start, cells->column, unit, d);
  if (cells->na_start) sum -= stored_form(of, cells->na_start, cells->na_column, unit, d);
  return fmax(sum, 0);
}

/* Sum of curvature v v' over a unit's stored cells, into t->square. */
static void add_stored(const ab_side *of, const int *start, const int *column, int unit,
                       double curvature, const ab_block *t) {
  for (int e = start[unit]; e < start[unit + 1]; e++) {
    ab_moving_vector(of, of->one + num_at(0, column[e], of->k), t->vector);
    add_square(of->n_moving, curvature, t);
  }
}

void ab_light_sum(const ab_side *of, int unit, const ab_block *t, double *packed) {
  const mc_data *cells = of->cells;
  const int n_pair = num_pairs(of->n_moving);
  const double curvature = of->curvature[unit];
  memset(packed, 0, (size_t) n_pair * sizeof *packed);
  if (curvature <= 0) return;
  num_add_scaled(packed, curvature, of->common, n_pair);
  add_stored(of, cells->start, cells->column, unit, -curvature, t);
  if (cells->na_start) add_stored(of, cells->na_start, cells->na_column, unit, -curvature, t);
  flush_square(of->n_moving, packed, t);
}
