/*
 * check_data.h: 0/1 tables for the tests of kernels, as the plain n x m matrix
 * a reference reads (NAN: missing) and as the view a kernel reads.
 */
#ifndef MC_CHECK_DATA_H
#define MC_CHECK_DATA_H

#include "check.h"
#include "engine/data.h"

/* Ones with probability density, missing cells with probability missing. */
static inline double *check_table(int n, int m, double density, double missing) {
  double *x = exact((ptrdiff_t) n * m);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) n * m; at++) {
    x[at] = check_uniform() < density;
    if (check_uniform() < missing) x[at] = NAN;
  }
  return x;
}

static inline bool check_selected(double cell, bool missing) {
  return missing ? isnan(cell) : cell > 0;
}

/* Rows of the selected cells, with buffers of exact size. */
static inline int *check_rows(const double *x, int n, int m, bool missing, const int **columns) {
  int *start = exact_int(n + 1);
  for (int i = 0; i < n; i++) {
    start[i + 1] = start[i];
    for (int j = 0; j < m; j++) start[i + 1] += check_selected(x[num_at(i, j, n)], missing);
  }
  int *column = exact_int(start[n]), at = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (check_selected(x[num_at(i, j, n)], missing)) column[at++] = j;
  *columns = column;
  return start;
}

static inline mc_data check_view(const double *x, int n, int m) {
  mc_data data = {.n = n, .m = m};
  data.start = check_rows(x, n, m, false, &data.column);
  const int *na_start = check_rows(x, n, m, true, &data.na_column);
  if (na_start[n] > 0) data.na_start = na_start;
  return data;
}

/* Rows on the simplex, none near its edge. */
static inline double *check_simplex(int n, int k) {
  double *rows = exact((ptrdiff_t) n * k);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int c = 0; c < k; c++) sum += rows[num_at(i, c, n)] = 0.1 + check_uniform();
    for (int c = 0; c < k; c++) rows[num_at(i, c, n)] /= sum;
  }
  return rows;
}

static inline double *check_probabilities(ptrdiff_t count) {
  double *p = exact(count);
  for (ptrdiff_t i = 0; i < count; i++) p[i] = 0.05 + 0.9 * check_uniform();
  return p;
}

static inline double check_distance(const double *x, const double *y, ptrdiff_t count) {
  double most = 0;
  for (ptrdiff_t i = 0; i < count; i++) most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

#endif
