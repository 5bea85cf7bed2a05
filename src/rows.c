#include "rows.h"

#include <stdint.h>
#include <string.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* FNV-1a over a row's columns, the missing ones apart. */
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
