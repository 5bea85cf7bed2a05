#include "bernoulli_mixture/shards.h"

#include <math.h>
#include <string.h>

enum { ROWS = MC_SHARD_HEAD, TOTAL };

ptrdiff_t bm_shard_length(int k, int m) { return TOTAL + k + 2 * (ptrdiff_t) k * m; }

bool bm_shard_scan(bm_self *self, bool look, double *sums) {
  const size_t k = (size_t) self->par->k, size = k * (size_t) self->data->m;
  bm_counts counts = {0};
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_LOGLIK] = look ? bm_objective(self->data, self->par, self->work)
                               : bm_em_rows(self->data, self->par, self->work, &counts);
  if (isnan(sums[MC_SHARD_LOGLIK])) return false;
  if (look) return true;
  sums[ROWS] = counts.rows;
  memcpy(sums + TOTAL, counts.total, k * sizeof *sums);
  memcpy(sums + TOTAL + k, counts.ones, size * sizeof *sums);
  memcpy(sums + TOTAL + k + size, counts.seen, size * sizeof *sums);
  return true;
}

static double driver_beside(void *self) {
  const bm_shards_self *s = self;
  return bm_log_prior(s->bm.data->m, s->bm.par, &s->prior);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as mc_shards has it */
static bool driver_step(void *self, double *sums, double objective) {
  const bm_shards_self *s = self;
  const ptrdiff_t k = s->bm.par->k;
  const double *total = sums + TOTAL, *ones = total + k;
  const bm_counts counts = {sums[ROWS], total, ones, ones + k * s->bm.data->m};
  (void) objective;
  bm_update(s->bm.data->m, s->bm.par, &s->prior, &counts);
  return true;
}

mc_shards bm_shards(bm_shards_self *self) {
  mc_shards out = {.step = driver_step, .beside = driver_beside};
  out.shared = bm_model(&self->bm);
  return out;
}
