#include "plsa/shards.h"

#include <math.h>
#include <string.h>

/* Computes the head, then the k x m sums of eq. (6). */
static bool scan_rows(void *self, bool evaluate, const double *caps, double *sums) {
  const plsa_self *s = self;
  const int k = s->par->k, m = s->data->m;
  const double *xi;
  (void) caps;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_BESIDE] = plsa_log_prior_rows(s->data->n, s->par, s->work);
  sums[MC_SHARD_LOGLIK] = plsa_em_rows(s->data, s->par, s->work, evaluate ? NULL : &xi);
  if (!evaluate) memcpy(sums + MC_SHARD_HEAD, xi, (size_t) k * (size_t) m * sizeof *sums);
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
  const ptrdiff_t size = (ptrdiff_t) self->par->k * self->data->m;
  mc_shards out = {.rows = scan_rows, .step = driver_step, .beside = driver_beside};
  out.length = MC_SHARD_HEAD + size;
  out.shared = (mc_model){.feasible = driver_feasible, .self = self};
  mc_add_block(&out.shared, self->par->basis, size);
  return out;
}
