#include "nmf/shards.h"

#include <math.h>
#include <string.h>

#include "num/simplex.h"
#include "num/vector.h"

ptrdiff_t nm_shard_length(int k, int m) { return MC_SHARD_HEAD + 2 * (ptrdiff_t) k * m; }

bool nm_shard_scan(nm_self *self, bool look, double *sums) {
  double *pull = sums + MC_SHARD_HEAD, *seen = pull + (ptrdiff_t) self->par->k * self->data->m;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_LOGLIK] = look ? nm_objective(self->data, self->par, self->work)
                               : nm_kl_rows(self->data, self->par, self->work, pull, seen);
  return !isnan(sums[MC_SHARD_LOGLIK]);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as mc_shards has it */
static bool driver_step(void *self, double *sums, double objective) {
  const nm_self *s = self;
  const ptrdiff_t size = (ptrdiff_t) s->par->k * s->data->m;
  const double *pull = sums + MC_SHARD_HEAD, *seen = pull + size;
  double *basis = s->par->basis;
  (void) objective;
  for (ptrdiff_t at = 0; at < size; at++)
    if (seen[at] > 0) basis[at] = num_lift(basis[at] * pull[at] / seen[at]);
  return true;
}

static void driver_feasible(void *self, const double *const *safe) {
  const nm_self *s = self;
  num_guard_positive(s->par->basis, safe[0], (ptrdiff_t) s->par->k * s->data->m);
}

mc_shards nm_shards(nm_self *self) {
  const mc_model shared = {.n_block = 1,
                           .block = {self->par->basis},
                           .length = {(ptrdiff_t) self->par->k * self->data->m},
                           .feasible = driver_feasible,
                           .self = self};
  return (mc_shards){.shared = shared, .step = driver_step};
}
