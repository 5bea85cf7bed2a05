/*
 * aspect_bernoulli/newton_few.c: derivatives of a block of units with few components, in groups of
 * NUM_LANES units.
 */
#include "aspect_bernoulli/newton_private.h"

#include <string.h>

#include "num/lanes.h"
#include "num/vector.h"

#define LANE_ROOM 4096 /* entries of what a group and a panel have: first-level cache */

int ab_lanes_panel(int k) { return LANE_ROOM / (NUM_LANES + num_pairs(k) + 2 * k); }

/* Lanes of the groups of b units. */
static size_t all_lanes(int b) { return (size_t) (b + NUM_LANES - 1) / NUM_LANES * NUM_LANES; }

ab_lanes ab_new_lanes(int k, int b, int panel, const mc_host *host) {
  const size_t units = all_lanes(b);
  const size_t cells = (size_t) panel * NUM_LANES;
  ab_lanes t = {.absences = mc_doubles(host, units, k), .gradient = mc_doubles(host, units, k)};
  t.hessian = mc_doubles(host, units, num_pairs(k));
  t.slope = mc_doubles(host, cells, 2);
  t.at_one = host->alloc(host->ctx, cells, sizeof(int));
  t.at_na = host->alloc(host->ctx, cells, sizeof(int));
  return t;
}

/* Position of a weight, or its derivative, of unit i of a block within the groups. */
static NUM_INLINE ptrdiff_t in_group(int c, int i, int k) {
  return i % NUM_LANES + NUM_LANES * num_at(c, i / NUM_LANES, k);
}

void ab_group_units(int k, int n_pair, int b, const ab_block *t) {
  const ab_lanes *few = &t->few;
  const size_t units = all_lanes(b);
  memset(few->absences, 0, units * (size_t) k * sizeof(double));
  memset(few->gradient, 0, units * (size_t) k * sizeof(double));
  memset(few->hessian, 0, units * (size_t) n_pair * sizeof(double));
  for (int i = 0; i < b; i++)
    for (int c = 0; c < k; c++) few->absences[in_group(c, i, k)] = t->absences[num_at(c, i, k)];
}

void ab_ungroup_units(int k, int n_pair, int b, const ab_block *t) {
  for (int i = 0; i < b; i++) {
    for (int c = 0; c < k; c++) t->gradient[num_at(c, i, k)] = t->few.gradient[in_group(c, i, k)];
    for (int e = 0; e < n_pair; e++)
      t->hessian[num_at(e, i, n_pair)] = t->few.hessian[in_group(e, i, n_pair)];
  }
}

/* Finds the stored cells of a group in a panel: ones, with their p, and missing ones. */
static void find_stored(const ab_side *of, int first, int n_unit, const ab_panel *at, double *p,
                        const ab_block *t, int *n_one, int *n_na) {
  const mc_data *cells = of->cells;
  const int k = of->k;
  *n_one = *n_na = 0;
  for (int lane = 0; lane < n_unit; lane++) {
    const int i = first + lane, end = cells->start[t->unit[i] + 1];
    const double *weights = t->weights + num_at(0, i, k);
    int e = t->next[i];
    for (; e < end && cells->column[e] < at->end; e++) {
      const int cell = cells->column[e];
      p[*n_one] = num_dot(weights, of->one + num_at(0, cell, k), k);
      t->few.at_one[(*n_one)++] = lane + NUM_LANES * (cell - at->from);
    }
    t->next[i] = e;
    if (!cells->na_start) continue;
    for (e = t->next_na[i]; e < cells->na_start[t->unit[i] + 1] && cells->na_column[e] < at->end;
         e++)
      t->few.at_na[(*n_na)++] = lane + NUM_LANES * (cells->na_column[e] - at->from);
    t->next_na[i] = e;
  }
}

/* The first derivatives of a group's cells in a panel; returns the sum of their log-probabilities. */
static double few_slopes(const ab_side *of, int first, int n_unit, const ab_panel *at,
                         const double *zero, ab_block *t) {
  const ab_lanes *few = &t->few;
  const int k = of->k, n_cell = NUM_LANES * at->length;
  double *p = few->slope + n_cell;
  int n_one, n_na;
  num_lanes_mix(k, at->length, zero, few->absences + num_at(0, first, k), few->slope);
  find_stored(of, first, n_unit, at, p, t, &n_one, &n_na);
  for (int e = 0; e < n_one; e++) few->slope[few->at_one[e]] = 1;
  for (int e = 0; e < n_na; e++) few->slope[few->at_na[e]] = 1;
  for (int lane = n_unit; lane < NUM_LANES; lane++)
    for (int j = 0; j < at->length; j++) few->slope[num_at(lane, j, NUM_LANES)] = 1;
  const double loglik = num_invert_sum_log(few->slope, n_cell + n_one);
  for (int e = 0; e < n_one; e++)
    few->slope[few->at_one[e]] = p[e] < 1 / AB_LEAST_P ? -p[e] : -1 / AB_LEAST_P;
  for (int e = 0; e < n_na; e++) few->slope[few->at_na[e]] = 0;
  return loglik;
}

/* The square of a slope is the curve. */
double ab_differentiate_few(const ab_side *of, int b, const ab_panel *at, const double *one,
                            const double *zero, ab_block *t) {
  const ab_lanes *few = &t->few;
  const int k = of->k, n_pair = num_pairs(of->n_moving);
  double loglik = 0;
  ab_pair_products(of, one, at->n_place, t); /* too short for the processor's vectors */
  for (int first = 0; first < b; first += NUM_LANES) {
    loglik += few_slopes(of, first, ab_smaller(b - first, NUM_LANES), at, zero, t);
    num_lanes_dots(k, at->length, one, few->slope, few->gradient + num_at(0, first, k));
    num_lanes_square_dots(n_pair, at->length, t->products, few->slope,
                          few->hessian + num_at(0, first, n_pair));
  }
  return loglik;
}
