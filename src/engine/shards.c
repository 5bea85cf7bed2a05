#include "engine/shards.h"

#include <math.h>

static const double *caps_of(const mc_shards *s) {
  return s->caps ? s->caps(s->shared.self) : NULL;
}

/* The objective at which the sums were made: their part plus that of the shared parameters. */
static double objective_of(const mc_shards *s) {
  const double beside = s->beside ? s->beside(s->shared.self) : 0;
  return s->sums[MC_SHARD_LOGLIK] + s->sums[MC_SHARD_BESIDE] + beside;
}

static bool prepared(const mc_shards *s) {
  if (!s->prepare) return true;
  return s->at.scan(s->at.ctx, true, caps_of(s), s->sums) && s->prepare(s->shared.self, s->sums);
}

static double model_pass(void *self) {
  const mc_shards *s = self;
  if (!prepared(s)) return NAN;
  if (!s->at.scan(s->at.ctx, false, caps_of(s), s->sums)) return NAN;
  const double objective = objective_of(s);
  return s->step(s->shared.self, s->sums, objective) ? objective : NAN;
}

static double model_objective(void *self) {
  const mc_shards *s = self;
  return s->at.scan(s->at.ctx, true, caps_of(s), s->sums) ? objective_of(s) : NAN;
}

static void model_feasible(void *self, const double *const *safe) {
  const mc_shards *s = self;
  s->shared.feasible(s->shared.self, safe);
}

static void model_reject(void *self) {
  const mc_shards *s = self;
  s->shared.reject(s->shared.self);
}

static double model_residual(void *self) {
  const mc_shards *s = self;
  return s->shared.residual(s->shared.self);
}

static bool model_next(void *self, bool last) {
  const mc_shards *s = self;
  return s->shared.next(s->shared.self, last);
}

static void away_save(void *self, int which, const mc_cycles *cycles) {
  const mc_shards *s = self;
  s->at.save(s->at.ctx, which, cycles);
}

static void away_restore(void *self, int which) {
  const mc_shards *s = self;
  s->at.restore(s->at.ctx, which);
}

/* Reads the lengths from the sums of the last iteration, which computed theta_2. */
static void away_lengths(void *self, double *rr, double *vv) {
  const mc_shards *s = self;
  *rr += s->sums[MC_SHARD_RR];
  *vv += s->sums[MC_SHARD_VV];
}

static void away_extrapolate(void *self, double step) {
  const mc_shards *s = self;
  s->at.extrapolate(s->at.ctx, step);
}

mc_model mc_shards_model(mc_shards *self) {
  static const mc_away away = {away_save, away_restore, away_lengths, away_extrapolate};
  mc_model model = self->shared;
  model.pass = model_pass;
  model.objective = model_objective;
  model.feasible = model_feasible;
  model.residual = self->shared.residual ? model_residual : NULL;
  model.reject = self->shared.reject ? model_reject : NULL;
  model.next = self->shared.next ? model_next : NULL;
  model.away = &away;
  model.self = self;
  return model;
}

static bool scan_here(void *ctx, bool evaluate, const double *caps, double *sums) {
  const mc_shards *s = ctx;
  return s->rows(s->shared.self, evaluate, caps, sums);
}

mc_model mc_whole_model(mc_shards *self, const mc_host *host) {
  mc_model model = mc_shards_model(self);
  self->at = (mc_shards_at){.scan = scan_here, .ctx = self};
  self->sums = mc_doubles(host, self->length, 1);
  model.away = NULL;
  return model;
}
