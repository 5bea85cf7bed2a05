/*
 * aspect_bernoulli/newton_block.c: gradients and Hessians of a block of units, panel by panel of
 * their cells: by BLAS, with few components by newton_few.c; light cells by newton_light.c.
 */
#include "aspect_bernoulli/newton_private.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/quadratic.h"
#include "num/threads.h"
#include "num/vector.h"

ab_block ab_new_block(int k, int b, int panel, bool is_few, bool sparse, const mc_host *host) {
  ab_block t = {.panel = panel,
                .is_few = is_few,
                .weights = mc_doubles(host, k, b),
                .absences = mc_doubles(host, k, b)};
  t.gradient = mc_doubles(host, k, b);
  t.hessian = mc_doubles(host, num_pairs(k), b);
  t.slope = mc_doubles(host, panel, b);
  t.curve = mc_doubles(host, panel, b);
  t.unit = host->alloc(host->ctx, (size_t) b, sizeof(int));
  t.heavy = host->alloc(host->ctx, (size_t) panel, sizeof(int));
  t.place = host->alloc(host->ctx, (size_t) panel, sizeof(int));
  t.products = mc_doubles(host, num_pairs(k), panel);
  t.vector = mc_doubles(host, ab_padded(k), 1);
  t.square = mc_doubles(host, ab_padded(k), k);
  t.next = host->alloc(host->ctx, (size_t) b, sizeof(int));
  t.next_na = host->alloc(host->ctx, (size_t) b, sizeof(int));
  if (sparse) {
    t.room = mc_doubles(host, ab_low_rank_room(k, b), 1);
    t.f = host->alloc(host->ctx, (size_t) b, sizeof *t.f);
  }
  t.h = mc_doubles(host, k, k);
  t.g = mc_doubles(host, k, 1);
  t.low = mc_doubles(host, k, 1);
  t.high = mc_doubles(host, k, 1);
  t.d = mc_doubles(host, k, 1);
  t.count = mc_doubles(host, 2 * k + 1, 1);
  t.change = mc_doubles(host, 2 * k + 1, 1);
  t.log = host->alloc(host->ctx, 2 * (size_t) k + 1, sizeof *t.log);
  t.quadratic = host->alloc(host->ctx, num_quadratic_work(k), sizeof(double));
  if (is_few) t.few = ab_new_lanes(k, b, panel, host);
  t.side = host->alloc(host->ctx, (size_t) k, sizeof(int));
  t.which = host->alloc(host->ctx, (size_t) k, sizeof(int));
  return t;
}

NUM_HOT static void make_products(const ab_side *of, const double *one, int n_place,
                                  const ab_block *t) {
  ab_pair_products(of, one, n_place, t);
}

/* Rank of a cell among the scanned cells, which make the panels; -1 if it is not scanned. */
static NUM_INLINE int rank_of(const ab_side *of, int cell) {
  return of->rank ? of->rank[cell] : cell;
}

/* Writes value into a block's stored cells within a panel, starting at `next`, which it does not change. */
static void mask_stored(const ab_side *of, const int *start, const int *column, int b,
                        const ab_panel *at, const int *next, double value, const ab_block *t) {
  for (int i = 0; i < b; i++)
    for (int e = next[i]; e < start[t->unit[i] + 1] && column[e] < at->end; e++) {
      const int rank = rank_of(of, column[e]);
      if (rank >= 0) t->slope[num_at(rank - at->from, i, at->length)] = value;
    }
}

static void mask_block(const ab_side *of, int b, const ab_panel *at, const ab_block *t,
                       double value) {
  const mc_data *cells = of->cells;
  mask_stored(of, cells->start, cells->column, b, at, t->next, value, t);
  if (cells->na_start)
    mask_stored(of, cells->na_start, cells->na_column, b, at, t->next_na, value, t);
}

/* Numbers of units in a block, its first ones, with heavy cells and with scanned cells. */
typedef struct {
  int heavy, scanned;
} block_units;

/* Selects the units of a block and initialises their Hessians. */
static block_units start_block(const ab_side *of, int first, int b, ab_block *t) {
  const mc_data *cells = of->cells;
  const int n_pair = num_pairs(of->n_moving);
  block_units out = {b, b};
  memset(t->hessian, 0, (size_t) n_pair * (size_t) b * sizeof(double));
  for (int i = b - 1; i >= 0; i--) {
    const int unit = t->unit[i] = of->order ? of->order[first + i] : first + i;
    double *h = t->hessian + num_at(0, i, n_pair);
    t->next[i] = cells->start[unit];
    if (cells->na_start) t->next_na[i] = cells->na_start[unit];
    if (!of->curvature) continue;
    if (of->simplex) {
      memcpy(h, of->common, (size_t) n_pair * sizeof *h);
    } else if (of->curvature[unit] > 0) {
      num_add_scaled(h, of->curvature[unit], of->common, n_pair);
      out.heavy = i;
      if (ab_parabola_of(of, unit, 0)) out.scanned = i;
    }
  }
  return out;
}

/* Selects the panel from scanned cell `from` on, and the places of its heavy cells. */
static ab_panel start_panel(const ab_side *of, int from, int most, ab_block *t) {
  const int total = of->scanned ? of->n_scanned : of->cells->m;
  ab_panel at = {.from = from, .length = ab_smaller(total - from, most)};
  at.end = of->scanned && from + at.length < total ? of->scanned[from + at.length] : of->cells->m;
  if (!of->scanned) at.end = from + at.length;
  for (int j = 0; j < at.length; j++) {
    const int cell = of->scanned ? of->scanned[from + j] : from + j;
    t->place[j] = -1;
    if (of->simplex && of->curvature && of->curvature[cell] > 0) continue;
    t->heavy[at.n_place] = j;
    t->place[j] = at.n_place++;
  }
  return at;
}

/* Second derivatives of the heavy zeros of a panel. */
NUM_HOT static void square_zeros(int n_heavy, int length, int n_place, const ab_block *t) {
  for (int i = 0; i < n_heavy; i++) {
    const double *slope = t->slope + num_at(0, i, length);
    double *curve = t->curve + num_at(0, i, n_place);
    if (n_place == length)
      for (int j = 0; j < length; j++) curve[j] = slope[j] * slope[j];
    else
      for (int j = 0; j < n_place; j++) curve[j] = slope[t->heavy[j]] * slope[t->heavy[j]];
  }
}

/* Derivatives at the heavy ones of a block within a panel; returns the sum of their log p. */
static double differentiate_heavy_ones(const ab_side *of, int b, const ab_panel *at, ab_block *t) {
  const mc_data *cells = of->cells;
  const int k = of->k;
  double loglik = 0;
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i];
    num_log_product likelihood = {0, 1};
    int e = t->next[i];
    for (; e < cells->start[unit + 1] && cells->column[e] < at->end; e++) {
      const int cell = cells->column[e];
      const int in_panel = rank_of(of, cell) - at->from;
      if (ab_curvature_bound(of, unit, cell) > 0) continue;
      const double *one = of->one + num_at(0, cell, k);
      const double p = num_dot(t->weights + num_at(0, i, k), one, k),
                   slope = 1 / fmax(p, AB_LEAST_P);
      num_times(&likelihood, p);
      t->slope[num_at(in_panel, i, at->length)] = -slope;
      t->curve[num_at(t->place[in_panel], i, at->n_place)] = slope * slope;
    }
    t->next[i] = e;
    loglik += num_log_of(&likelihood);
    if (!cells->na_start) continue;
    e = t->next_na[i];
    while (e < cells->na_start[unit + 1] && cells->na_column[e] < at->end) e++;
    t->next_na[i] = e;
  }
  return loglik;
}

/*
 * Adds the contributions of a panel to the gradients of the block's first n units and to the
 * Hessians of its heavy ones, by BLAS, and of its heavy cells to loglik. one, zero: vectors of its
 * cells.
 */
static void differentiate_panel(const ab_side *of, const block_units *units, const ab_panel *at,
                                const double *one, const double *zero, ab_block *t,
                                double *loglik) {
  const int k = of->k, n_pair = num_pairs(of->n_moving);
  const int n = units->scanned, length = at->length;
  num_gemm(true, false, length, n, k, zero, k, t->absences, k, 0, t->slope, length);
  mask_block(of, n, at, t, 1);
  *loglik += num_invert_sum_log(t->slope, num_at(0, n, length));
  mask_block(of, n, at, t, 0);
  square_zeros(units->heavy, length, at->n_place, t);
  *loglik += differentiate_heavy_ones(of, n, at, t);
  num_gemm(false, false, k, n, length, one, k, t->slope, length, 1, t->gradient, k);
  if (units->heavy == 0 || at->n_place == 0) return;
  make_products(of, one, at->n_place, t);
  num_gemm(false, false, n_pair, units->heavy, at->n_place, t->products, n_pair, t->curve,
           at->n_place, 1, t->hessian, n_pair);
}

/* Returns whether a block should end before the panel from this cell on. */
static bool stop_before(const ab_newton *work, int from) {
  if (from == 0 || num_thread() != 0) return false;
  return mc_stop(work->host, work->iterations, work->objective);
}

double ab_differentiate(const ab_side *of, int first, int b, ab_block *t) {
  const int k = of->k, n_pair = num_pairs(of->n_moving);
  const block_units units = start_block(of, first, b, t);
  const int total = of->scanned ? of->n_scanned : of->cells->m;
  const double *ones = of->scanned ? of->one_scanned : of->one;
  const double *zeros = of->scanned ? of->zero_scanned : of->zero;
  double loglik = 0;
  memset(t->gradient, 0, (size_t) k * (size_t) b * sizeof(double));
  if (t->is_few) ab_group_units(k, n_pair, b, t);
  const int panel = ab_even_part(total, t->panel);
  for (int from = 0, length; from < total && units.scanned > 0; from += length) {
    if (stop_before(of->work, from)) return NAN;
    const ab_panel at = start_panel(of, from, panel, t);
    const double *one = ones + num_at(0, from, k), *zero = zeros + num_at(0, from, k);
    length = at.length;
    if (t->is_few)
      loglik += ab_differentiate_few(of, b, &at, one, zero, t);
    else
      differentiate_panel(of, &units, &at, one, zero, t, &loglik);
  }
  if (t->is_few) ab_ungroup_units(k, n_pair, b, t);
  if (of->f) loglik += ab_add_unscanned_zeros(of, of->simplex ? 0 : units.scanned, b, t);
  for (int i = 0; i < b && of->curvature; i++) loglik += ab_differentiate_light_ones(of, i, t);
  for (ptrdiff_t e = 0; e < (ptrdiff_t) k * b; e++) t->gradient[e] = -t->gradient[e];
  return loglik;
}
