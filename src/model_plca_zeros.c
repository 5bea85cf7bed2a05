/* model_plca_zeros.c: the cells of an array that are neither stored nor missing. */
#include <limits.h>
#include <string.h>

#include "model_plca.h"

#define DENSE_ENOUGH 8 /* cells for each one that is stored or missing */

static size_t place_of(const plca_cells *cells, const int *at) {
  size_t place = 0;
  for (int d = cells->n_dim - 1; d >= 0; d--)
    place = place * (size_t) cells->extent[d] + (size_t) at[d];
  return place;
}

const int *plca_list_zeros(const plca_cells *cells, const mc_host *host, int *n_zero) {
  const int n_dim = cells->n_dim;
  const double given = (double) cells->n_cell + cells->n_missing;
  double size = 1;
  *n_zero = 0;
  for (int d = 0; d < n_dim; d++) size *= cells->extent[d];
  if (cells->n_missing == 0 || size > INT_MAX || size > DENSE_ENOUGH * given) return NULL;
  const size_t n = (size_t) size;
  unsigned char *taken = host->alloc(host->ctx, n, 1);
  memset(taken, 0, n);
  for (ptrdiff_t e = 0; e < cells->n_cell; e++)
    taken[place_of(cells, cells->index + e * n_dim)] = 1;
  for (ptrdiff_t e = 0; e < cells->n_missing; e++)
    taken[place_of(cells, cells->na_index + e * n_dim)] = 1;
  for (size_t place = 0; place < n; place++) *n_zero += !taken[place];
  int *index = host->alloc(host->ctx, (size_t) *n_zero * (size_t) n_dim, sizeof *index),
      *at = index;
  for (size_t place = 0; place < n; place++) {
    size_t left = place;
    for (int d = 0; d < n_dim && !taken[place]; d++) {
      *at++ = (int) (left % (size_t) cells->extent[d]);
      left /= (size_t) cells->extent[d];
    }
  }
  return index;
}
