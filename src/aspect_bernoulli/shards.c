#include "aspect_bernoulli/shards.h"

#include <math.h>
#include <string.h>

#include "num/simplex.h"

ptrdiff_t ab_shard_length(const mc_data *data, const ab_param *par, const ab_newton *newton) {
  const ptrdiff_t pairs = newton ? ab_newton_pairs(par) : par->k;
  return AB_SHARD_HEAD + (par->k + (newton ? 2 : 1) * pairs) * data->m;
}

/* Newton's sums, as they stand in the vector of all. */
static ab_newton_sums newton_sums(const mc_data *data, const ab_param *par, double *sums) {
  double *gradient = sums + AB_SHARD_HEAD;
  double *hessian = gradient + num_at(0, data->m, par->k);
  double *light = hessian + num_at(0, data->m, ab_newton_pairs(par));
  const ab_newton_sums out = {sums[AB_SHARD_LOGLIK], sums[AB_SHARD_DECREMENT], gradient, hessian,
                              light};
  return out;
}

/* Nothing yet, but the log-prior of the memberships: that of a table without columns. */
static void begin_sums(const ab_newton_self *self, const ab_prior *prior, ptrdiff_t length,
                       double *sums) {
  const ab_param *par = self->ab.par;
  memset(sums, 0, (size_t) length * sizeof *sums);
  sums[AB_SHARD_PRIOR] =
      ab_log_prior(prior, par->pinned, self->ab.data->n, 0, par->membership, par->aspects);
}

bool ab_shard_pass(ab_newton_self *self, const double *caps, double *sums) {
  const mc_data *data = self->ab.data;
  ab_param *par = self->ab.par;
  begin_sums(self, ab_work_prior(self->ab.work), ab_shard_length(data, par, self->newton), sums);
  if (!self->newton) {
    const ptrdiff_t size = (ptrdiff_t) par->k * data->m;
    const double *one, *zero;
    sums[AB_SHARD_LOGLIK] = ab_em_rows(data, par, self->ab.work, &one, &zero);
    memcpy(sums + AB_SHARD_HEAD, one, (size_t) size * sizeof *sums);
    memcpy(sums + AB_SHARD_HEAD + size, zero, (size_t) size * sizeof *sums);
    return !isnan(sums[AB_SHARD_LOGLIK]);
  }
  ab_newton_sums out = newton_sums(data, par, sums);
  ab_newton_set_caps(self->newton, data->m, caps);
  if (!ab_newton_rows(data, par, self->newton, false, &out)) return false;
  sums[AB_SHARD_LOGLIK] = out.loglik;
  sums[AB_SHARD_DECREMENT] = out.decrement;
  return true;
}

bool ab_shard_objective(ab_newton_self *self, const double *caps, double *sums) {
  const mc_data *data = self->ab.data;
  begin_sums(self, ab_work_prior(self->ab.work), AB_SHARD_HEAD, sums);
  if (self->newton && caps) {
    ab_newton_sums out = {0, 0, NULL, NULL, NULL};
    ab_newton_set_caps(self->newton, data->m, caps);
    if (!ab_newton_rows(data, self->ab.par, self->newton, true, &out)) return false;
    sums[AB_SHARD_LOGLIK] = out.loglik;
    return true;
  }
  sums[AB_SHARD_LOGLIK] = ab_loglik(data, self->ab.par, self->ab.work);
  return !isnan(sums[AB_SHARD_LOGLIK]);
}

static const double *caps_of(const ab_shards *s) {
  return s->newton.newton ? ab_newton_caps(s->newton.newton) : NULL;
}

/* The objective where the sums were made: theirs, and the log-prior of the aspects. */
static double objective_of(const ab_shards *s) {
  const ab_self *ab = &s->newton.ab;
  return s->sums[AB_SHARD_LOGLIK] + s->sums[AB_SHARD_PRIOR] +
         ab_log_prior(&s->prior, ab->par->pinned, 0, ab->data->m, ab->par->membership,
                      ab->par->aspects);
}

static double model_pass(void *self) {
  ab_shards *s = self;
  const ab_self *ab = &s->newton.ab;
  const ptrdiff_t size = (ptrdiff_t) ab->par->k * ab->data->m;
  if (!s->at.visit(s->at.ctx, false, ab->par->aspects, caps_of(s), s->sums)) return NAN;
  const double objective = objective_of(s);
  if (!s->newton.newton) {
    ab_update_aspects(ab->data->m, ab->par, &s->prior, s->sums + AB_SHARD_HEAD,
                      s->sums + AB_SHARD_HEAD + size);
    return objective;
  }
  const ab_newton_sums sums = newton_sums(ab->data, ab->par, s->sums);
  if (!ab_newton_columns(ab->par, s->newton.newton, &sums)) return NAN;
  ab_newton_note(s->newton.newton, objective);
  return objective;
}

static double model_objective(void *self) {
  ab_shards *s = self;
  const bool done = s->at.visit(s->at.ctx, true, s->newton.ab.par->aspects, caps_of(s), s->sums);
  return done ? objective_of(s) : NAN;
}

static void model_feasible(void *self, const double *const *safe) {
  const ab_shards *s = self;
  const ab_self *ab = &s->newton.ab;
  const double *caps = caps_of(s);
  num_guard_unit(ab->par->aspects, safe[0], (ptrdiff_t) ab->par->k * ab->data->m);
  if (caps) ab_newton_hold(ab->par, ab->data->m, caps);
}

static void away_save(void *self, int which) {
  const ab_shards *s = self;
  s->at.save(s->at.ctx, which, s->newton.ab.par->aspects);
}

static void away_restore(void *self, int which) {
  const ab_shards *s = self;
  s->at.restore(s->at.ctx, which);
}

/* The last pass made theta_2, and its sums have the lengths. */
static void away_lengths(void *self, double *rr, double *vv) {
  const ab_shards *s = self;
  *rr += s->sums[AB_SHARD_RR];
  *vv += s->sums[AB_SHARD_VV];
}

static void away_extrapolate(void *self, double step) {
  const ab_shards *s = self;
  s->at.extrapolate(s->at.ctx, step);
}

mc_model ab_shards_model(ab_shards *self) {
  static const mc_away away = {away_save, away_restore, away_lengths, away_extrapolate};
  mc_model model =
      self->newton.newton ? ab_newton_model(&self->newton) : ab_model(&self->newton.ab);
  model.n_block = 1;
  model.block[0] = self->newton.ab.par->aspects;
  model.length[0] = (ptrdiff_t) self->newton.ab.par->k * self->newton.ab.data->m;
  model.pass = model_pass;
  model.objective = model_objective;
  model.feasible = model_feasible;
  model.away = &away;
  model.self = self;
  return model;
}
