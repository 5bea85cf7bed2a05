#include "noisy_or/shards.h"

#include "noisy_or/search.h"

#include <math.h>
#include <string.h>

#define HALF 32 /* bits of a state that a double holds, exactly */

int nor_shard_width(int k) { return 1 + 2 * nor_words(k) * NOR_LIST; }

/* Number of doubles of an iteration: the head, rows, on (k), leak_fired and seen (m), fired and
 * missing (k x m). */
static ptrdiff_t length_of(int k, int m) {
  return MC_SHARD_HEAD + 1 + k + 2 * ((ptrdiff_t) m + num_at(0, m, k));
}

/* Sections of an iteration's vector of sums; the number of rows is first. */
typedef struct {
  double *rows, *seen;
  nor_sums own;
} parts;

static parts parts_of(int k, int m, double *sums) {
  parts out = {0};
  out.rows = sums + MC_SHARD_HEAD;
  out.own.on = out.rows + 1;
  out.own.leak_fired = out.own.on + k;
  out.seen = out.own.leak_fired + m;
  out.own.fired = out.seen + m;
  out.own.missing = out.own.fired + num_at(0, m, k);
  return out;
}

static void take_lists(int n, const double *listed, nor_lists *lists) {
  const int halves = 2 * lists->words * lists->size;
  for (int i = 0; i < n; i++) {
    lists->n_state[i] = (int) listed[i];
    uint64_t *state = nor_listed(lists, i, 0);
    for (int h = 0; h < halves; h += 2)
      state[h / 2] = (uint64_t) listed[num_at(i, h + 1, n)] | (uint64_t) listed[num_at(i, h + 2, n)]
                                                                  << HALF;
  }
}

static void give_lists(int n, const nor_lists *lists, double *listed) {
  const int halves = 2 * lists->words * lists->size;
  for (int i = 0; i < n; i++) {
    const int used = 2 * lists->words * lists->n_state[i];
    const uint64_t *state = nor_listed(lists, i, 0);
    listed[i] = lists->n_state[i];
    for (int h = 0; h < halves; h++)
      listed[num_at(i, h + 1, n)] =
          h < used ? (double) (uint32_t) (state[h / 2] >> (h % 2 * HALF)) : 0;
  }
}

nor_shard nor_new_shard(const mc_data *data, nor_param *par, const nor_settings *set) {
  nor_shard out = {.data = data, .par = par, .set = set};
  out.lists = nor_new_lists(data->n, par->k, NOR_LIST, set->host);
  out.work = nor_new_truncated(data, par, set, out.lists);
  out.totals = nor_count(data, set);
  return out;
}

static bool scan_rows(void *ctx, bool evaluate, const double *caps, double *sums) {
  nor_shard *self = ctx;
  const int n = self->data->n, m = self->data->m, k = self->par->k;
  const size_t links = (size_t) k * (size_t) m * sizeof *sums;
  const nor_sums *found;
  (void) caps;
  take_lists(n, self->listed, &self->lists);
  memset(sums, 0, (size_t) (evaluate ? MC_SHARD_HEAD : length_of(k, m)) * sizeof *sums);
  sums[MC_SHARD_LOGLIK] = nor_truncated_rows(self->work, evaluate, &found);
  if (isnan(sums[MC_SHARD_LOGLIK])) return false;
  if (evaluate) return true;
  const parts out = parts_of(k, m, sums);
  *out.rows = self->totals.rows;
  memcpy(out.seen, self->totals.seen, (size_t) m * sizeof *sums);
  memcpy(out.own.on, found->on, (size_t) k * sizeof *sums);
  memcpy(out.own.leak_fired, found->leak_fired, (size_t) m * sizeof *sums);
  memcpy(out.own.fired, found->fired, links);
  if (found->missing) memcpy(out.own.missing, found->missing, links);
  give_lists(n, &self->lists, self->listed);
  return true;
}

static double driver_beside(void *self) {
  const nor_shard *s = self;
  return nor_objective(s->set, s->par, s->data->m, 0);
}

static bool driver_step(void *self, double *sums, double objective) {
  const nor_shard *s = self;
  const int m = s->data->m, k = s->par->k;
  const parts all = parts_of(k, m, sums);
  if (!isfinite(objective)) return true;
  for (int j = 0; j < m; j++)
    nor_update_link(s->set, &all.own, s->par, j, all.own.fired + num_at(0, j, k),
                    all.own.leak_fired[j], all.seen[j]);
  nor_update_prior(s->set, all.own.on, *all.rows, s->par);
  return true;
}

static void driver_feasible(void *self, const double *const *safe) {
  const nor_shard *s = self;
  nor_guard(s->par, s->data->m, safe);
}

mc_shards nor_shards(nor_shard *self) {
  mc_shards out = {.rows = scan_rows, .step = driver_step, .beside = driver_beside};
  out.length = length_of(self->par->k, self->data->m);
  nor_blocks(self->par, self->data->m, &out.shared);
  out.shared.feasible = driver_feasible;
  out.shared.self = self;
  return out;
}
