/* model_ab_fit.c: the prior, and the model as mc_fit() takes it. */
#include "model_ab.h"

#include <math.h>

double ab_log_prior(int n, int m, const ab_param *par, const ab_prior *prior) {
  double sum = 0;
  if (prior->membership > 0)
    for (ptrdiff_t i = 0; i < (ptrdiff_t) n * par->k; i++)
      sum += prior->membership * log(par->membership[i]);
  if (prior->one <= 0 && prior->zero <= 0) return sum;
  for (int j = 0; j < m; j++) {
    for (int c = 0; c < par->k; c++) {
      const double aspect = par->aspects[num_at(c, j, par->k)];
      if (par->pinned && par->pinned[c]) continue;
      if (prior->one > 0) sum += prior->one * log(aspect);
      if (prior->zero > 0) sum += prior->zero * log1p(-aspect);
    }
  }
  return sum;
}

static double model_pass(void *self) {
  const ab_self *s = self;
  return ab_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const ab_self *s = self;
  return ab_objective(s->data, s->par, s->work);
}

void ab_feasible(void *self, const double *const *safe) {
  const ab_self *s = self;
  num_guard_simplex(s->par->membership, safe[0], s->data->n, s->par->k, AB_SHRINK);
  if (!s->par->fixed_aspects)
    num_guard_unit(s->par->aspects, safe[1], (ptrdiff_t) s->par->k * s->data->m, AB_SHRINK);
}

mc_model ab_model(ab_self *self) {
  mc_model model = {.n_block = self->par->fixed_aspects ? 1 : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = ab_feasible,
                    .self = self};
  model.block[0] = self->par->membership;
  model.length[0] = (ptrdiff_t) self->data->n * self->par->k;
  model.block[1] = self->par->aspects;
  model.length[1] = (ptrdiff_t) self->par->k * self->data->m;
  return model;
}
