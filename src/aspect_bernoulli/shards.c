#include "aspect_bernoulli/shards.h"

#include <math.h>
#include <string.h>

#include "num/simplex.h"

/* Number of doubles of an iteration: the head, then sums over rows for each column. */
static ptrdiff_t length_of(const ab_newton_self *self) {
  const ab_param *par = self->ab.par;
  const ptrdiff_t pairs = self->newton ? ab_newton_pairs(par) : par->k;
  return MC_SHARD_HEAD + (par->k + (self->newton ? 2 : 1) * pairs) * self->ab.data->m;
}

/* Newton's sums as sections of the vector of all sums. */
static ab_newton_sums newton_sums(const mc_data *data, const ab_param *par, double *sums) {
  double *gradient = sums + MC_SHARD_HEAD;
  double *hessian = gradient + num_at(0, data->m, par->k);
  double *light = hessian + num_at(0, data->m, ab_newton_pairs(par));
  const ab_newton_sums out = {sums[MC_SHARD_LOGLIK], sums[MC_SHARD_DECREMENT], gradient, hessian,
                              light};
  return out;
}

/* Initialises sums to 0, except the log-prior of the memberships, that of a table without columns. */
static void begin_sums(const ab_self *ab, ptrdiff_t length, double *sums) {
  const ab_param *par = ab->par;
  memset(sums, 0, (size_t) length * sizeof *sums);
  sums[MC_SHARD_BESIDE] = ab_log_prior(ab_work_prior(ab->work), par->fixed, ab->data->n, 0,
                                       par->membership, par->aspects);
}

/* The rows' half of EM (or its part that is not fixed) and its sums; returns the log-likelihood. */
static double em_sums(const ab_self *ab, double *sums) {
  const ptrdiff_t size = (ptrdiff_t) ab->par->k * ab->data->m;
  const double *one, *zero;
  const double loglik = ab_em_rows(ab->data, ab->par, ab->work, &one, &zero);
  memcpy(sums + MC_SHARD_HEAD, one, (size_t) size * sizeof *sums);
  memcpy(sums + MC_SHARD_HEAD + size, zero, (size_t) size * sizeof *sums);
  return loglik;
}

static bool pass_rows(ab_newton_self *self, const double *caps, double *sums) {
  const mc_data *data = self->ab.data;
  ab_param *par = self->ab.par;
  begin_sums(&self->ab, length_of(self), sums);
  if (!self->newton) ab_take_line(self->ab.work, caps != NULL);
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

static bool scan_rows(void *self, bool evaluate, const double *caps, double *sums) {
  const ab_newton_self *s = self;
  if (!evaluate) return pass_rows(self, caps, sums);
  begin_sums(&s->ab, MC_SHARD_HEAD, sums);
  if (s->newton && caps) {
    ab_newton_sums out = {0, 0, NULL, NULL, NULL};
    ab_newton_set_caps(s->newton, s->ab.data->m, caps);
    if (!ab_newton_rows(s->ab.data, s->ab.par, s->newton, true, &out)) return false;
    sums[MC_SHARD_LOGLIK] = out.loglik;
    return true;
  }
  ab_take_line(s->ab.work, !s->newton && caps);
  sums[MC_SHARD_LOGLIK] = ab_loglik(s->ab.data, s->ab.par, s->ab.work);
  return !isnan(sums[MC_SHARD_LOGLIK]);
}

/* Those of EM say no more than that zeros are not visited. */
static const double *driver_caps(void *self) {
  const ab_newton_self *s = self;
  return s->newton ? ab_newton_caps(s->newton) : ab_line_caps(s->ab.work);
}

/* The log-prior of the aspects. */
static double driver_beside(void *self) {
  const ab_self *ab = &((const ab_newton_self *) self)->ab;
  return ab_log_prior(ab_work_prior(ab->work), ab->par->fixed, 0, ab->data->m, ab->par->membership,
                      ab->par->aspects);
}

static bool driver_step(void *self, double *sums, double objective) {
  const ab_newton_self *s = self;
  const ab_self *ab = &s->ab;
  const ptrdiff_t size = (ptrdiff_t) ab->par->k * ab->data->m;
  if (!s->newton) {
    const double *one = sums + MC_SHARD_HEAD;
    ab_update_aspects(ab->data->m, ab->par, ab_work_prior(ab->work), one, one + size);
    return true;
  }
  const ab_newton_sums all = newton_sums(ab->data, ab->par, sums);
  if (!ab_newton_columns(ab->par, s->newton, &all)) return false;
  ab_newton_note(s->newton, objective);
  return true;
}

static void driver_feasible(void *self, const double *const *safe) {
  const ab_newton_self *s = self;
  const ab_self *ab = &s->ab;
  const double *caps = s->newton ? ab_newton_caps(s->newton) : NULL;
  num_guard_unit(ab->par->aspects, safe[0], (ptrdiff_t) ab->par->k * ab->data->m);
  if (caps) ab_newton_hold(ab->par, ab->data->m, caps);
}

mc_shards ab_shards(ab_newton_self *self) {
  mc_shards out = {
      .rows = scan_rows, .step = driver_step, .beside = driver_beside, .caps = driver_caps};
  out.length = length_of(self);
  out.shared = self->newton ? ab_newton_model(self) : ab_model(&self->ab);
  out.shared.n_block = 0;
  mc_add_block(&out.shared, self->ab.par->aspects, (ptrdiff_t) self->ab.par->k * self->ab.data->m);
  out.shared.feasible = driver_feasible;
  out.shared.self = self;
  return out;
}

/* Replaces memberships by the shares of expected counts; returns the log-likelihood before. */
static double expect_effort(const ab_effort *self) {
  const double *one, *zero;
  self->ab.par->fixed_aspects = true;
  const double loglik = ab_em_rows(self->ab.data, self->ab.par, self->ab.work, &one, &zero);
  self->ab.par->fixed_aspects = false;
  return loglik;
}

static bool scan_effort_rows(void *ctx, bool evaluate, const double *caps, double *sums) {
  ab_effort_shards_self *s = ctx;
  ab_effort *self = &s->rows;
  const mc_data *data = self->ab.data;
  ab_param *par = self->ab.par;
  (void) caps;
  begin_sums(&self->ab, evaluate ? MC_SHARD_HEAD : length_of(&s->newton), sums);
  sums[MC_SHARD_LOGLIK] = expect_effort(self);
  if (evaluate) ab_effort_counts(self, sums + MC_SHARD_OWN);
  if (isnan(sums[MC_SHARD_LOGLIK])) return false;
  if (evaluate) return true;
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
  ab_curve_fit(&s->curve, s->rows.coef);
  return true;
}

/* Gains decide convergence, as in memory, also of Newton steps, because memberships take EM steps. */
mc_shards ab_effort_shards(ab_effort_shards_self *self) {
  mc_shards out = ab_shards(&self->newton);
  out.rows = scan_effort_rows;
  out.prepare = driver_curve;
  mc_add_block(&out.shared, self->rows.coef, 2);
  out.shared.residual = NULL;
  out.shared.next = NULL;
  return out;
}
