#include "plsa/shards.h"

#include <math.h>
#include <string.h>

ptrdiff_t plsa_shard_length(int k, int m) { return MC_SHARD_HEAD + (ptrdiff_t) k * m; }

bool plsa_shard_scan(plsa_self *self, bool look, double *sums) {
  const int k = self->par->k, m = self->data->m;
  const double *xi;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_BESIDE] = plsa_log_prior_rows(self->data->n, self->par, self->work);
  sums[MC_SHARD_LOGLIK] = plsa_em_rows(self->data, self->par, self->work, look ? NULL : &xi);
  if (!look) memcpy(sums + MC_SHARD_HEAD, xi, (size_t) k * (size_t) m * sizeof *sums);
  return !isnan(sums[MC_SHARD_LOGLIK]);
}

static bool driver_step(void *self, double *sums, double objective) {
  const plsa_self *s = self;
  (void) objective;
  return plsa_update_basis(s->data->m, s->par, s->work, sums + MC_SHARD_HEAD);
}

static double driver_beside(void *self) {
  const plsa_self *s = self;
  return plsa_log_prior_basis(s->data->m, s->par, s->work);
}

static void driver_feasible(void *self, const double *const *safe) {
  const plsa_self *s = self;
  num_guard_simplex(s->par->basis, safe[0], s->par->k, s->data->m);
}

mc_shards plsa_shards(plsa_self *self) {
  const mc_model shared = {.n_block = 1,
                           .block = {self->par->basis},
                           .length = {(ptrdiff_t) self->par->k * self->data->m},
                           .feasible = driver_feasible,
                           .self = self};
  return (mc_shards){.shared = shared, .step = driver_step, .beside = driver_beside};
}
