#include "aspect_bernoulli/shards.h"

#include <math.h>
#include <string.h>

#include "num/simplex.h"

ptrdiff_t ab_shard_length(const mc_data *data, const ab_param *par, const ab_newton *newton) {
  const ptrdiff_t pairs = newton ? ab_newton_pairs(par) : par->k;
  return MC_SHARD_HEAD + (par->k + (newton ? 2 : 1) * pairs) * data->m;
}

/* Newton's sums, as they stand in the vector of all. */
static ab_newton_sums newton_sums(const mc_data *data, const ab_param *par, double *sums) {
  double *gradient = sums + MC_SHARD_HEAD;
  double *hessian = gradient + num_at(0, data->m, par->k);
  double *light = hessian + num_at(0, data->m, ab_newton_pairs(par));
  const ab_newton_sums out = {sums[MC_SHARD_LOGLIK], sums[MC_SHARD_DECREMENT], gradient, hessian,
                              light};
  return out;
}

/* Nothing yet, but the log-prior of the memberships: that of a table without columns. */
static void begin_sums(const ab_self *ab, ptrdiff_t length, double *sums) {
  const ab_param *par = ab->par;
  memset(sums, 0, (size_t) length * sizeof *sums);
  sums[MC_SHARD_BESIDE] = ab_log_prior(ab_work_prior(ab->work), par->pinned, ab->data->n, 0,
                                       par->membership, par->aspects);
}

/* The rows' half of EM, or what is not held of it, and its sums; returns the log-likelihood. */
static double em_sums(const ab_self *ab, double *sums) {
  const ptrdiff_t size = (ptrdiff_t) ab->par->k * ab->data->m;
  const double *one, *zero;
  const double loglik = ab_em_rows(ab->data, ab->par, ab->work, &one, &zero);
  memcpy(sums + MC_SHARD_HEAD, one, (size_t) size * sizeof *sums);
  memcpy(sums + MC_SHARD_HEAD + size, zero, (size_t) size * sizeof *sums);
  return loglik;
}

bool ab_shard_pass(ab_newton_self *self, const double *caps, double *sums) {
  const mc_data *data = self->ab.data;
  ab_param *par = self->ab.par;
  begin_sums(&self->ab, ab_shard_length(data, par, self->newton), sums);
  if (!self->newton) {
    sums[MC_SHARD_LOGLIK] = em_sums(&self->ab, sums);
    return !isnan(sums[MC_SHARD_LOGLIK]);
  }
  ab_newton_sums out = newton_sums(data, par, sums);
  ab_newton_set_caps(self->newton, data->m, caps);
  if (!ab_newton_rows(data, par, self->newton, false, &out)) return false;
  sums[MC_SHARD_LOGLIK] = out.loglik;
  sums[MC_SHARD_DECREMENT] = out.decrement;
  return true;
}

bool ab_shard_objective(ab_newton_self *self, const double *caps, double *sums) {
  const mc_data *data = self->ab.data;
  begin_sums(&self->ab, MC_SHARD_HEAD, sums);
  if (self->newton && caps) {
    ab_newton_sums out = {0, 0, NULL, NULL, NULL};
    ab_newton_set_caps(self->newton, data->m, caps);
    if (!ab_newton_rows(data, self->ab.par, self->newton, true, &out)) return false;
    sums[MC_SHARD_LOGLIK] = out.loglik;
    return true;
  }
  sums[MC_SHARD_LOGLIK] = ab_loglik(data, self->ab.par, self->ab.work);
  return !isnan(sums[MC_SHARD_LOGLIK]);
}

static const double *driver_caps(void *self) {
  const ab_shards_self *s = self;
  return s->newton.newton ? ab_newton_caps(s->newton.newton) : NULL;
}

/* The log-prior of the aspects. */
static double driver_beside(void *self) {
  const ab_shards_self *s = self;
  const ab_param *par = s->newton.ab.par;
  return ab_log_prior(&s->prior, par->pinned, 0, s->newton.ab.data->m, par->membership,
                      par->aspects);
}

static bool driver_step(void *self, double *sums, double objective) {
  ab_shards_self *s = self;
  const ab_self *ab = &s->newton.ab;
  const ptrdiff_t size = (ptrdiff_t) ab->par->k * ab->data->m;
  if (!s->newton.newton) {
    const double *one = sums + MC_SHARD_HEAD;
    ab_update_aspects(ab->data->m, ab->par, &s->prior, one, one + size);
    return true;
  }
  const ab_newton_sums all = newton_sums(ab->data, ab->par, sums);
  if (!ab_newton_columns(ab->par, s->newton.newton, &all)) return false;
  ab_newton_note(s->newton.newton, objective);
  return true;
}

static void driver_feasible(void *self, const double *const *safe) {
  const ab_shards_self *s = self;
  const ab_self *ab = &s->newton.ab;
  const double *caps = driver_caps(self);
  num_guard_unit(ab->par->aspects, safe[0], (ptrdiff_t) ab->par->k * ab->data->m);
  if (caps) ab_newton_hold(ab->par, ab->data->m, caps);
}

mc_shards ab_shards(ab_shards_self *self) {
  mc_shards out = {.step = driver_step, .beside = driver_beside, .caps = driver_caps};
  out.shared = self->newton.newton ? ab_newton_model(&self->newton) : ab_model(&self->newton.ab);
  out.shared.n_block = 1;
  out.shared.block[0] = self->newton.ab.par->aspects;
  out.shared.length[0] = (ptrdiff_t) self->newton.ab.par->k * self->newton.ab.data->m;
  out.shared.feasible = driver_feasible;
  out.shared.self = self;
  return out;
}

/* Memberships are the shares of expected counts; returns the log-likelihood before. */
static double expect_effort(const ab_effort *self) {
  const double *one, *zero;
  self->ab.par->fixed_aspects = true;
  const double loglik = ab_em_rows(self->ab.data, self->ab.par, self->ab.work, &one, &zero);
  self->ab.par->fixed_aspects = false;
  return loglik;
}

bool ab_effort_shard_look(ab_effort *self, double *sums) {
  begin_sums(&self->ab, MC_SHARD_HEAD, sums);
  sums[MC_SHARD_LOGLIK] = expect_effort(self);
  ab_effort_counts(self, sums + MC_SHARD_OWN);
  return !isnan(sums[MC_SHARD_LOGLIK]);
}

bool ab_effort_shard_pass(ab_effort *self, double *sums) {
  const mc_data *data = self->ab.data;
  ab_param *par = self->ab.par;
  begin_sums(&self->ab, ab_shard_length(data, par, self->newton), sums);
  sums[MC_SHARD_LOGLIK] = expect_effort(self);
  if (isnan(sums[MC_SHARD_LOGLIK])) return false;
  ab_effort_impose(self);
  if (self->newton) {
    ab_newton_sums out = newton_sums(data, par, sums);
    return ab_newton_column_sums(data, par, self->newton, &out);
  }
  par->fixed_membership = true;
  const double after = em_sums(&self->ab, sums);
  par->fixed_membership = false;
  return !isnan(after);
}

static bool driver_curve(void *self, const double *sums) {
  ab_effort_shards_self *s = self;
  memcpy(s->curve.count, sums + MC_SHARD_OWN, sizeof s->curve.count);
  ab_curve_fit(&s->curve, s->coef);
  return true;
}

/* As in memory gains decide, also of Newton halves: memberships are not theirs. */
mc_shards ab_effort_shards(ab_effort_shards_self *self) {
  mc_shards out = ab_shards(&self->shards);
  out.prepare = driver_curve;
  out.shared.n_block = 2;
  out.shared.block[1] = self->coef;
  out.shared.length[1] = 2;
  out.shared.residual = NULL;
  out.shared.next = NULL;
  return out;
}
