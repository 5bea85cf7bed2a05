#include "glue/aspect_bernoulli.h"

#include <string.h>

#include "aspect_bernoulli/effort.h"
#include "aspect_bernoulli/shards.h"
#include "aspect_bernoulli/vb.h"
#include "glue/smooth.h"
#include "num/simplex.h"

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

ab_prior glue_ab_prior(SEXP prior, int k, bool open) {
  glue_matrix(prior, k, 3, "prior");
  const ab_prior out = ab_new_prior(REAL(prior), k);
  glue_check(ab_prior_is_valid(&out, open), "prior");
  return out;
}

/* list(membership = n x k, aspects = k x m, pinned = k, smooth, and flags fixed_aspects and
 * fixed_membership), checked. */
static ab_param param_of(SEXP param, const mc_data *data) {
  const SEXP membership = glue_field(param, "membership"), aspects = glue_field(param, "aspects");
  const SEXP pinned = glue_field(param, "pinned");
  ab_param par = {.k = Rf_ncols(membership)};
  glue_matrix(membership, data->n, par.k, "membership");
  glue_matrix(aspects, par.k, data->m, "aspects");
  glue_check(Rf_isInteger(pinned) && XLENGTH(pinned) == par.k, "pinned");
  par.membership = REAL(membership);
  par.aspects = REAL(aspects);
  par.pinned = INTEGER(pinned);
  par.fixed_aspects = Rf_asLogical(glue_field(param, "fixed_aspects")) == TRUE;
  par.fixed_membership = Rf_asLogical(glue_field(param, "fixed_membership")) == TRUE;
  return par;
}

/* The aspect Bernoulli model of a call, its parameters those of the result. */
static ab_self *new_self(glue_call *call) {
  ab_self *self = glue_new(call, sizeof *self);
  ab_param *par = glue_new(call, sizeof *par);
  *par = param_of(call->param, &call->data);
  const ab_prior prior = glue_ab_prior(call->prior, par->k, false);
  par->membership = glue_param(call, 0, call->data.n, par->k);
  par->aspects = glue_param(call, 1, par->k, call->data.m);
  par->smooth = glue_smooth(glue_field(call->param, "smooth"), call->data.n, par->k, par->pinned,
                            call->ctl.n_threads, &call->host);
  *self = (ab_self){&call->data, par, NULL};
  self->work = ab_new_work(&call->data, &prior, call->ctl.n_threads, &call->host);
  return self;
}

/* The workspace of Newton halves where the fit is to have them, else NULL. */
static ab_newton *new_newton(glue_call *call, const ab_param *par) {
  const ab_prior prior = glue_ab_prior(call->prior, par->k, false);
  const mc_control *ctl = &call->ctl;
  if (ctl->algorithm == MC_EM || par->k > AB_NEWTON_MOST) return NULL;
  const bool sparse = ctl->algorithm == MC_SPARSE && !par->smooth;
  return ab_new_newton(&call->data, &prior, sparse, ctl->n_threads, &call->host);
}

static mc_model new_model(glue_call *call) {
  ab_newton_self *self = glue_new(call, sizeof *self);
  self->ab = *new_self(call);
  self->newton = new_newton(call, self->ab.par);
  if (!self->newton) return ab_model(&self->ab);
  return ab_newton_model(self);
}

SEXP mc_c_ab_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "aspects", "outcome", ""};
  const glue_recipe recipe = {fields, 2, new_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}

static mc_model new_effort_model(glue_call *call) {
  ab_effort *self = glue_new(call, sizeof *self);
  ab_prior *prior = glue_new(call, sizeof *prior);
  const SEXP effort = glue_field(call->param, "effort");
  glue_matrix(effort, call->data.n, 1, "effort");
  *self = (ab_effort){*new_self(call), glue_param(call, 2, 2, 1), REAL(effort), prior, NULL};
  const ab_param *par = self->ab.par;
  *prior = glue_ab_prior(call->prior, par->k, false);
  self->newton = new_newton(call, par);
  glue_check(par->k > 1 && par->pinned[par->k - 1], "phantom of an effort");
  ab_effort_impose(self);
  return ab_effort_model(self);
}

/* param: as of mc_c_ab_fit(), with coef and effort. */
SEXP mc_c_ab_effort_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "aspects", "coef", "outcome", ""};
  const glue_recipe recipe = {fields, 3, new_effort_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}

static mc_model new_vb_model(glue_call *call) {
  ab_vb_self *self = glue_new(call, sizeof *self);
  ab_vb_param *par = glue_new(call, sizeof *par);
  const SEXP pinned = glue_field(call->param, "pinned");
  par->k = Rf_ncols(VECTOR_ELT(call->out, 0));
  const ab_prior prior = glue_ab_prior(call->prior, par->k, true);
  par->membership = glue_param(call, 0, call->data.n, par->k);
  par->one = glue_param(call, 1, par->k, call->data.m);
  par->zero = glue_param(call, 2, par->k, call->data.m);
  glue_check(Rf_isInteger(pinned) && XLENGTH(pinned) == par->k, "pinned");
  par->pinned = INTEGER(pinned);
  par->fixed_aspects = Rf_asLogical(glue_field(call->param, "fixed_aspects")) == TRUE;
  *self = (ab_vb_self){&call->data, par, NULL};
  self->work = ab_vb_new_work(&call->data, par, &prior, call->ctl.n_threads, &call->host);
  return ab_vb_model(self);
}

/* param: list(membership = n x k, one, zero = k x m, pinned = -1, 0 or 1, k of them, fixed_aspects). */
SEXP mc_c_ab_vb_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "one", "zero", "outcome", ""};
  const glue_recipe recipe = {fields, 3, new_vb_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}

static SEXP certify_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  ab_param par = param_of(arg->param, &data);
  const ab_prior prior = glue_ab_prior(arg->prior, par.k, false);
  par.smooth = glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, par.pinned, 1, &host);
  ab_work *work = ab_new_work(&data, &prior, 1, &host);
  const ab_certificate gap = ab_certify(&data, &par, work);
  glue_end_stopped(&host);
  REAL(arg->out)[0] = gap.membership;
  REAL(arg->out)[1] = gap.aspects;
  REAL(arg->out)[2] = gap.worst;
  return arg->out;
}

SEXP mc_c_ab_certify(SEXP view, SEXP param, SEXP prior) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 3));
  arguments arg = {view, param, prior, R_NilValue, out};
  glue_serial_blas(certify_body, &arg);
  UNPROTECT(1);
  return out;
}

/* A shard: membership as of mc_c_ab_fit(), and how it is visited. */
static SEXP shard_body(void *ctx) {
  const char *names[] = {"membership", "sums", ""};
  const arguments *arg = ctx;
  glue_context context;
  glue_call call = {.param = arg->param, .prior = arg->prior};
  call.data = glue_data(arg->view);
  call.ctl = glue_control(arg->control);
  call.host = glue_host(&context, arg->control);
  const SEXP caps = glue_field(arg->param, "caps"), before = glue_field(arg->param, "before");
  const bool look = Rf_asLogical(glue_field(arg->param, "look")) == TRUE;
  call.out = PROTECT(Rf_mkNamed(VECSXP, names));
  const SEXP membership = glue_field(arg->param, "membership");
  SET_VECTOR_ELT(call.out, 0, look ? membership : Rf_duplicate(membership));
  ab_param par = param_of(arg->param, &call.data);
  const ab_prior prior = glue_ab_prior(arg->prior, par.k, false);
  const R_xlen_t size = (R_xlen_t) call.data.n * par.k;
  if (!Rf_isNull(caps)) glue_matrix(caps, call.data.m, 1, "caps");
  if (!Rf_isNull(before)) glue_matrix(before, call.data.n, par.k, "before");
  par.membership = REAL(VECTOR_ELT(call.out, 0));
  ab_newton_self self = {{&call.data, &par, NULL}, NULL};
  self.ab.work = ab_new_work(&call.data, &prior, call.ctl.n_threads, &call.host);
  self.newton = new_newton(&call, &par);
  const ptrdiff_t length = look ? AB_SHARD_HEAD : ab_shard_length(&call.data, &par, self.newton);
  SET_VECTOR_ELT(call.out, 1, Rf_allocVector(REALSXP, length));
  double *sums = REAL(VECTOR_ELT(call.out, 1));
  (look ? ab_shard_objective : ab_shard_pass)(&self, Rf_isNull(caps) ? NULL : REAL(caps), sums);
  glue_end_stopped(&call.host);
  if (!Rf_isNull(before))
    mc_step_lengths(size, REAL(before), REAL(membership), par.membership, sums + AB_SHARD_RR,
                    sums + AB_SHARD_VV);
  UNPROTECT(1);
  return call.out;
}

/*
 * param: as of mc_c_ab_fit(), with look, caps (m, or NULL) and before (memberships before those of
 * param, or NULL). -> list(membership, sums), as of ab_shard_pass() or, if look, ab_shard_objective().
 */
SEXP mc_c_ab_shard(SEXP view, SEXP param, SEXP prior, SEXP control) {
  arguments arg = {view, param, prior, control, R_NilValue};
  return glue_serial_blas(shard_body, &arg);
}

/* saved: list of three n x k matrices, theta_0 .. theta_2 of engine/fit.c -> the point beyond them. */
SEXP mc_c_ab_shard_extrapolate(SEXP saved, SEXP step) {
  const double *at[3];
  const int n = Rf_nrows(VECTOR_ELT(saved, 0)), k = Rf_ncols(VECTOR_ELT(saved, 0));
  for (int which = 0; which < 3; which++) {
    glue_matrix(VECTOR_ELT(saved, which), n, k, "saved");
    at[which] = REAL(VECTOR_ELT(saved, which));
  }
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, k));
  mc_extrapolate(XLENGTH(out), at[0], at[1], at[2], Rf_asReal(step), REAL(out));
  num_guard_simplex(REAL(out), at[2], n, k);
  UNPROTECT(1);
  return out;
}

/* The caller's function visit(what, value, caps), where the shards are. */
typedef struct {
  SEXP visit;
  const mc_host *host;
  int k, m;
  ptrdiff_t length;
} shards_caller;

static SEXP ask_caller(const shards_caller *at, const char *what, SEXP value, SEXP caps) {
  SEXP call = PROTECT(Rf_lang4(at->visit, PROTECT(Rf_mkString(what)), value, caps));
  SEXP out = glue_eval(at->host, call);
  UNPROTECT(2);
  return out;
}

static bool visit_shards(void *ctx, bool look, const double *aspects, const double *caps,
                         double *sums) {
  const shards_caller *at = ctx;
  SEXP value = PROTECT(glue_new_matrix(aspects, at->k, at->m));
  SEXP held = PROTECT(caps ? glue_new_matrix(caps, at->m, 1) : R_NilValue);
  SEXP out = PROTECT(ask_caller(at, look ? "objective" : "pass", value, held));
  const ptrdiff_t length = look ? AB_SHARD_HEAD : at->length;
  const bool done = Rf_isReal(out) && XLENGTH(out) == length;
  if (done) memcpy(sums, REAL(out), (size_t) length * sizeof *sums);
  UNPROTECT(3);
  return done;
}

static void save_shards(void *ctx, int which, const double *aspects) {
  const shards_caller *at = ctx;
  SEXP value = PROTECT(glue_new_matrix(aspects, at->k, at->m));
  ask_caller(at, "save", PROTECT(Rf_ScalarInteger(which)), value);
  UNPROTECT(2);
}

static void restore_shards(void *ctx, int which) {
  ask_caller(ctx, "restore", PROTECT(Rf_ScalarInteger(which)), R_NilValue);
  UNPROTECT(1);
}

static void extrapolate_shards(void *ctx, double step) {
  ask_caller(ctx, "extrapolate", PROTECT(Rf_ScalarReal(step)), R_NilValue);
  UNPROTECT(1);
}

static mc_model new_shards_model(glue_call *call) {
  ab_shards *self = glue_new(call, sizeof *self);
  ab_param *par = glue_new(call, sizeof *par);
  shards_caller *caller = glue_new(call, sizeof *caller);
  *par = param_of(call->param, &call->data);
  par->aspects = glue_param(call, 0, par->k, call->data.m);
  self->prior = glue_ab_prior(call->prior, par->k, false);
  self->newton.ab = (ab_self){&call->data, par, NULL};
  self->newton.newton = new_newton(call, par);
  const ptrdiff_t length = ab_shard_length(&call->data, par, self->newton.newton);
  *caller =
      (shards_caller){glue_field(call->param, "visit"), &call->host, par->k, call->data.m, length};
  glue_check(Rf_isFunction(caller->visit), "visit");
  self->at = (ab_shards_at){visit_shards, save_shards, restore_shards, extrapolate_shards, caller};
  self->sums = mc_doubles(&call->host, (size_t) length, 1);
  const bool near_end = Rf_asLogical(glue_field(call->param, "near_end")) == TRUE;
  if (near_end && self->newton.newton && call->ctl.tol > 0) ab_newton_near_end(&self->newton);
  return ab_shards_model(self);
}

/*
 * The fit of one who holds the aspects: view of a table without rows; param as of mc_c_ab_fit(), with
 * near_end, whether the start is near an end (aspect_bernoulli/newton.h), and visit = function(what, value, caps): "pass" and "objective" return sums of all shards for the
 * aspects `value`; "save" (caps: the aspects of that point) and "restore" of the number `value` and
 * "extrapolate" by the step `value` are for the memberships (engine/fit.h).
 */
SEXP mc_c_ab_shards_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"aspects", "outcome", ""};
  const glue_recipe recipe = {fields, 1, new_shards_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}
