#include "logistic_pca/shards.h"

#include <math.h>
#include <string.h>

/* Those sums, as they stand in the vector of all. */
static lp_sums sums_at(int k, int m, double *sums) {
  double *squares = sums + MC_SHARD_HEAD, *slopes = squares + num_at(0, m, lp_pairs(k));
  const lp_sums out = {squares, slopes, slopes + num_at(0, m, k + 1)};
  return out;
}

ptrdiff_t lp_shard_length(int k, int m) {
  return MC_SHARD_HEAD + num_at(0, m, lp_pairs(k)) + num_at(0, m, k + 1) + k + 1;
}

bool lp_shard_scan(lp_self *self, bool look, double *sums) {
  const int k = self->par->k, m = self->data->m;
  lp_sums own;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_BESIDE] = -lp_ridge(self->data->n, 0, self->par);
  sums[MC_SHARD_LOGLIK] = look ? lp_loglik(self->data, self->par, self->work)
                               : lp_rows(self->data, self->par, self->work, &own);
  if (isnan(sums[MC_SHARD_LOGLIK])) return false;
  if (look) return true;
  const lp_sums out = sums_at(k, m, sums);
  memcpy(out.squares, own.squares, (size_t) num_at(0, m, lp_pairs(k)) * sizeof *sums);
  memcpy(out.slopes, own.slopes, (size_t) num_at(0, m, k + 1) * sizeof *sums);
  memcpy(out.all, own.all, (size_t) (k + 1) * sizeof *sums);
  return true;
}

static double driver_beside(void *self) {
  const lp_shards_self *s = self;
  return -lp_ridge(0, s->lp.data->m, s->lp.par);
}

static bool driver_step(void *self, double *sums, double objective) {
  lp_shards_self *s = self;
  const int m = s->lp.data->m;
  const lp_sums all = sums_at(s->lp.par->k, m, sums);
  s->objective = objective;
  s->passes++;
  return lp_update_loadings(m, s->lp.par, &all, s->host, s->passes, objective);
}

mc_shards lp_shards(lp_shards_self *self) {
  mc_shards out = {.step = driver_step, .beside = driver_beside};
  out.shared = lp_model(&self->lp);
  out.shared.n_block = 1;
  out.shared.block[0] = self->lp.par->loadings;
  out.shared.length[0] = num_at(0, self->lp.data->m, self->lp.par->k + 1);
  return out;
}
