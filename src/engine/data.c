#include "engine/data.h"

#include <stdint.h>
#include <string.h>

#include "num/vector.h"

/* Checks that row i's cells lie within the table and that its columns ascend from 0 to at most m - 1. */
static bool row_ascends(const int *start, const int *column, int i, int n, int m) {
  if (start[0] != 0 || start[i + 1] < start[i] || start[i + 1] > start[n]) return false;
  int last = -1;
  for (int e = start[i]; e < start[i + 1]; last = column[e++])
    if (column[e] <= last || column[e] >= m) return false;
  return true;
}

/* Returns whether row i, whose columns ascend, has a cell that is both nonzero and missing. */
static bool row_overlaps(const mc_data *data, int i) {
  int e = data->start[i], f = data->na_start[i];
  while (e < data->start[i + 1] && f < data->na_start[i + 1]) {
    if (data->column[e] == data->na_column[f]) return true;
    if (data->column[e] < data->na_column[f])
      e++;
    else
      f++;
  }
  return false;
}

int mc_first_wrong_row(const mc_data *data) {
  const int n = data->n, m = data->m;
  for (int i = 0; i < n; i++) {
    if (!row_ascends(data->start, data->column, i, n, m)) return i;
    if (!data->na_start) continue;
    if (!row_ascends(data->na_start, data->na_column, i, n, m) || row_overlaps(data, i)) return i;
  }
  return -1;
}

/* Counting sort by columns; the rows of each column come out in ascending order. */
static void transpose_cells(const int *start, const int *column, const double *value, int n, int m,
                            int *new_start, int *new_column, double *new_value) {
  memset(new_start, 0, ((size_t) m + 1) * sizeof(int));
  for (int e = 0; e < start[n]; e++) new_start[column[e] + 1]++;
  for (int j = 0; j < m; j++) new_start[j + 1] += new_start[j];
  for (int i = 0; i < n; i++) {
    for (int e = start[i]; e < start[i + 1]; e++) {
      const int at = new_start[column[e]]++;
      new_column[at] = i;
      if (value) new_value[at] = value[e];
    }
  }
  for (int j = m; j > 0; j--) new_start[j] = new_start[j - 1];
  new_start[0] = 0;
}

mc_data mc_transpose(const mc_data *data, const mc_host *host) {
  const int n = data->n, m = data->m;
  const size_t stored = (size_t) data->start[n];
  int *start = host->alloc(host->ctx, (size_t) m + 1, sizeof(int)),
      *column = host->alloc(host->ctx, stored, sizeof(int));
  double *value = data->value ? host->alloc(host->ctx, stored, sizeof(double)) : NULL;
  transpose_cells(data->start, data->column, data->value, n, m, start, column, value);
  mc_data out = {.n = m, .m = n, .start = start, .column = column, .value = value};
  if (data->na_start) {
    int *na_start = host->alloc(host->ctx, (size_t) m + 1, sizeof(int));
    int *na_column = host->alloc(host->ctx, (size_t) data->na_start[n], sizeof(int));
    transpose_cells(data->na_start, data->na_column, NULL, n, m, na_start, na_column, NULL);
    out.na_start = na_start;
    out.na_column = na_column;
  }
  return out;
}

static void count_with(const int *column, int from, int to, const int *other, int other_from,
                       int other_to, int m, double *count) {
  for (int e = from; e < to; e++)
    for (int f = other_from; f < other_to; f++) count[num_at(column[e], other[f], m)]++;
}

void mc_count_pairs(const mc_data *data, int first, int last, double *both, double *gone) {
  for (int i = first; i < last; i++) {
    const int from = data->start[i], to = data->start[i + 1];
    count_with(data->column, from, to, data->column, from, to, data->m, both);
    if (gone && data->na_start)
      count_with(data->column, from, to, data->na_column, data->na_start[i], data->na_start[i + 1],
                 data->m, gone);
  }
}

void mc_add_rows(const mc_data *data, int first, int last, const double *b, int w, double *row,
                 double *out) {
  for (int i = first; i < last; i++) {
    memset(row, 0, (size_t) w * sizeof *row);
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      num_add_scaled(row, 1, b + num_at(0, data->column[e], w), w);
    for (int c = 0; c < w; c++) out[num_at(i, c, data->n)] = row[c];
  }
}

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* FNV-1a hash of a row's columns; a marker separates the missing ones. */
static uint64_t hash_row(const mc_data *data, int i) {
  uint64_t hash = FNV_START;
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    hash = (hash ^ (uint64_t) data->column[e]) * FNV_PRIME;
  hash = (hash ^ UINT64_MAX) * FNV_PRIME;
  if (data->na_start)
    for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
      hash = (hash ^ (uint64_t) data->na_column[e]) * FNV_PRIME;
  return hash ^ hash >> 32;
}

static bool same_cells(const int *start, const int *column, int a, int b) {
  const int n = start[a + 1] - start[a];
  return n == start[b + 1] - start[b] &&
         (n == 0 || memcmp(column + start[a], column + start[b], (size_t) n * sizeof(int)) == 0);
}

static bool same_row(const mc_data *data, int a, int b) {
  return same_cells(data->start, data->column, a, b) &&
         (!data->na_start || same_cells(data->na_start, data->na_column, a, b));
}

int mc_group_rows(const mc_data *data, const mc_host *host, int *group) {
  size_t size = 16;
  int n_group = 0;
  while (size < 2 * (size_t) data->n) size *= 2;
  int *slot = host->alloc(host->ctx, size, sizeof(int)); /* row + 1; 0: empty */
  for (int i = 0; i < data->n; i++) {
    size_t at = (size_t) hash_row(data, i) & (size - 1);
    while (slot[at] && !same_row(data, slot[at] - 1, i)) at = (at + 1) & (size - 1);
    group[i] = slot[at] ? group[slot[at] - 1] : n_group++;
    if (!slot[at]) slot[at] = i + 1;
  }
  return n_group;
}
