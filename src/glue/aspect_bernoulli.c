#include "glue/aspect_bernoulli.h"

#include "aspect_bernoulli/effort.h"
#include "aspect_bernoulli/shards.h"
#include "aspect_bernoulli/vb.h"
#include "glue/shards.h"
#include "glue/smooth.h"

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

ab_prior glue_ab_prior(SEXP prior, int k, bool open) {
  glue_matrix(prior, k, 3, "prior");
  const ab_prior out = ab_new_prior(REAL(prior), k);
  glue_check(ab_prior_is_valid(&out, open), "prior");
  return out;
}

/* Reads and checks list(membership = n x k, aspects = k x m, fixed = k, smooth, and flags
 * fixed_aspects and fixed_membership). */
static ab_param param_of(SEXP param, const mc_data *data) {
  const SEXP membership = glue_field(param, "membership"), aspects = glue_field(param, "aspects");
  const SEXP fixed = glue_field(param, "fixed");
  ab_param par = {.k = Rf_ncols(membership)};
  glue_check(par.k >= 1, "k");
  glue_matrix(membership, data->n, par.k, "membership");
  glue_matrix(aspects, par.k, data->m, "aspects");
  glue_check(Rf_isInteger(fixed) && XLENGTH(fixed) == par.k, "fixed");
  par.membership = REAL(membership);
  par.aspects = REAL(aspects);
  par.fixed = INTEGER(fixed);
  par.fixed_aspects = Rf_asLogical(glue_field(param, "fixed_aspects")) == TRUE;
  par.fixed_membership = Rf_asLogical(glue_field(param, "fixed_membership")) == TRUE;
  return par;
}

/* The aspect Bernoulli model of a call. Its parameters are those of the result: aspects the first
 * field, memberships field `rows`. */
static ab_self new_self(glue_call *call, int rows) {
  ab_param *par = glue_new(call, sizeof *par);
  *par = param_of(call->param, &call->data);
  const ab_prior prior = glue_ab_prior(call->prior, par->k, false);
  par->aspects = glue_param(call, 0, par->k, call->data.m);
  par->membership = glue_param(call, rows, call->data.n, par->k);
  par->smooth = glue_smooth(glue_field(call->param, "smooth"), call->data.n, par->k, par->fixed,
                            call->ctl.n_threads, &call->host);
  ab_work *work = ab_new_work(&call->data, &prior, call->ctl.n_threads, &call->host);
  ab_take_line(work, call->ctl.algorithm == MC_LINE);
  return (ab_self){&call->data, par, work};
}

/* The workspace of Newton's algorithm if the fit uses it, else NULL. */
static ab_newton *new_newton(glue_call *call, const ab_param *par) {
  const ab_prior prior = glue_ab_prior(call->prior, par->k, false);
  const mc_control *ctl = &call->ctl;
  if (ctl->algorithm == MC_EM || ctl->algorithm == MC_LINE || par->k > AB_NEWTON_MOST) return NULL;
  const bool sparse = ctl->algorithm == MC_SPARSE && !par->smooth;
  return ab_new_newton(&call->data, &prior, sparse, ctl->n_threads, &call->host);
}

static ab_newton_self *new_newton_self(glue_call *call, int rows) {
  ab_newton_self *self = glue_new(call, sizeof *self);
  self->ab = new_self(call, rows);
  self->newton = new_newton(call, self->ab.par);
  return self;
}

static mc_model new_model(glue_call *call) {
  ab_newton_self *self = new_newton_self(call, 1);
  return self->newton ? ab_newton_model(self) : ab_model(&self->ab);
}

static mc_shards new_sum_model(glue_call *call) {
  ab_newton_self *self = new_newton_self(call, 1);
  const bool near_end = Rf_asLogical(glue_field(call->param, "near_end")) == TRUE;
  if (near_end && self->newton && call->ctl.tol > 0) ab_newton_near_end(self);
  return ab_shards(self);
}

/*
 * param: see param_of(). Also the scan of a shard and the fit of a driver, see glue_sum_model(). A
 * driver's memberships have no rows; near_end states whether its starting values are near
 * convergence (aspect_bernoulli/newton.h).
 */
SEXP mc_c_ab_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"aspects", "membership", "outcome", ""};
  const glue_sum_recipe recipe = {fields, 1, true, new_sum_model, NULL, new_model};
  return glue_sum_model(&recipe, view, param, prior, control);
}

/* Wraps the effort model. `cells` counts the observed cells of these rows. */
static ab_effort new_effort(glue_call *call) {
  const ab_newton_self *base = new_newton_self(call, 2);
  const SEXP effort = glue_field(call->param, "effort");
  const ab_param *par = base->ab.par;
  const ab_prior prior = glue_ab_prior(call->prior, par->k, false);
  glue_check(par->k > 1 && par->fixed[par->k - 1], "phantom of an effort");
  glue_matrix(effort, Rf_length(effort), 1, "effort");
  const double *cells = ab_effort_cells(&call->data, &prior, &call->host);
  return (ab_effort){base->ab, glue_param(call, 1, 2, 1), REAL(effort), cells, base->newton};
}

static mc_model new_effort_model(glue_call *call) {
  ab_effort *self = glue_new(call, sizeof *self);
  *self = new_effort(call);
  glue_matrix(glue_field(call->param, "effort"), call->data.n, 1, "effort");
  ab_effort_impose(self);
  return ab_effort_model(self);
}

static mc_shards new_effort_sum_model(glue_call *call) {
  ab_effort_shards_self *self = glue_new(call, sizeof *self);
  const SEXP effort = glue_field(call->param, "effort"), cells = glue_field(call->param, "cells");
  *self = (ab_effort_shards_self){.rows = new_effort(call)};
  self->newton = (ab_newton_self){self->rows.ab, self->rows.newton};
  if (Rf_isNull(cells)) {
    glue_matrix(effort, call->data.n, 1, "effort");
  } else {
    glue_matrix(cells, Rf_length(effort), 1, "cells");
    self->curve = (ab_curve){.n = Rf_length(effort), .effort = REAL(effort), .cells = REAL(cells)};
  }
  return ab_effort_shards(self);
}

/*
 * param: as in mc_c_ab_fit(), with coef and effort. For a driver, effort is that of all rows,
 * and cells their numbers of cells (aspect_bernoulli/effort.h). Evaluations
 * before iterations are not counted.
 */
SEXP mc_c_ab_effort_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"aspects", "coef", "membership", "outcome", ""};
  const glue_sum_recipe recipe = {fields, 2, true, new_effort_sum_model, NULL, new_effort_model};
  return glue_sum_model(&recipe, view, param, prior, control);
}

static mc_model new_vb_model(glue_call *call) {
  ab_vb_self *self = glue_new(call, sizeof *self);
  ab_vb_param *par = glue_new(call, sizeof *par);
  const SEXP fixed = glue_field(call->param, "fixed");
  par->k = Rf_ncols(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  const ab_prior prior = glue_ab_prior(call->prior, par->k, true);
  par->membership = glue_param(call, 0, call->data.n, par->k);
  par->one = glue_param(call, 1, par->k, call->data.m);
  par->zero = glue_param(call, 2, par->k, call->data.m);
  glue_check(Rf_isInteger(fixed) && XLENGTH(fixed) == par->k, "fixed");
  par->fixed = INTEGER(fixed);
  par->fixed_aspects = Rf_asLogical(glue_field(call->param, "fixed_aspects")) == TRUE;
  *self = (ab_vb_self){&call->data, par, NULL};
  self->work = ab_vb_new_work(&call->data, par, &prior, call->ctl.n_threads, &call->host);
  return ab_vb_model(self);
}

/* param: list(membership = n x k, one, zero = k x m, fixed = k values of -1, 0 or 1, fixed_aspects). */
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
  par.smooth = glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, par.fixed, 1, &host);
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

/* Sets the last column of membership (n x k) to the effort model's curve at effort (n), from coef. */
SEXP mc_c_ab_effort_impose(SEXP membership, SEXP coef, SEXP effort) {
  const int n = Rf_nrows(membership);
  ab_param par = {.k = Rf_ncols(membership)};
  const mc_data data = {.n = n};
  glue_check(par.k >= 1, "k");
  glue_matrix(membership, n, par.k, "membership");
  glue_matrix(coef, 2, 1, "coef");
  glue_matrix(effort, n, 1, "effort");
  SEXP out = PROTECT(Rf_duplicate(membership));
  par.membership = REAL(out);
  ab_effort self = {.ab = {&data, &par, NULL}, .coef = REAL(coef), .effort = REAL(effort)};
  ab_effort_impose(&self);
  UNPROTECT(1);
  return out;
}
