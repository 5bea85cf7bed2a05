#include "glue_ab.h"
#include "glue_smooth.h"
#include "model_ab_effort.h"

#include <string.h>

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

/* list(membership = n x k, aspects = k x m, pinned = k, fixed_aspects = flag, smooth), checked. */
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
  return par;
}

ab_prior glue_ab_prior(SEXP prior) {
  glue_matrix(prior, 3, 1, "prior");
  const ab_prior out = {REAL(prior)[0], REAL(prior)[1], REAL(prior)[2]};
  glue_check(out.one >= 0 && out.zero >= 0 && out.membership >= 0, "prior");
  return out;
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  const ab_prior prior = glue_ab_prior(arg->prior);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  ab_param par = param_of(arg->param, &data);
  par.membership = REAL(VECTOR_ELT(arg->out, 0));
  par.aspects = REAL(VECTOR_ELT(arg->out, 1));
  par.smooth = glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, par.pinned,
                           ctl.n_threads, &host);
  ab_self self = {&data, &par, ab_new_work(&data, &prior, par.k, ctl.n_threads, &host)};
  mc_model model = ab_model(&self);
  SET_VECTOR_ELT(arg->out, 2, glue_fit(&model, &ctl, &host));
  return arg->out;
}

SEXP mc_c_ab_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "aspects", "outcome", ""};
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

/* arg->out is list(membership, aspects, coef, outcome); effort comes with param. */
static SEXP effort_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  const ab_prior prior = glue_ab_prior(arg->prior);
  const SEXP effort = glue_field(arg->param, "effort");
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  ab_param par = param_of(arg->param, &data);
  glue_matrix(effort, data.n, 1, "effort");
  glue_matrix(VECTOR_ELT(arg->out, 2), 2, 1, "coef");
  glue_check(par.k > 1 && par.pinned[par.k - 1], "phantom of an effort");
  par.membership = REAL(VECTOR_ELT(arg->out, 0));
  par.aspects = REAL(VECTOR_ELT(arg->out, 1));
  ab_effort self = {{&data, &par, ab_new_work(&data, &prior, par.k, ctl.n_threads, &host)},
                    REAL(VECTOR_ELT(arg->out, 2)),
                    REAL(effort),
                    &prior};
  ab_effort_impose(&self);
  mc_model model = ab_effort_model(&self);
  SET_VECTOR_ELT(arg->out, 3, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* param: as of mc_c_ab_fit(), with coef and effort. */
SEXP mc_c_ab_effort_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "aspects", "coef", "outcome", ""};
  SEXP out = PROTECT(glue_result(fields, param, 3));
  arguments arg = {view, param, prior, control, out};
  glue_serial_blas(effort_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP certify_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const ab_prior prior = glue_ab_prior(arg->prior);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  ab_param par = param_of(arg->param, &data);
  par.smooth = glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, par.pinned, 1, &host);
  ab_work *work = ab_new_work(&data, &prior, par.k, 1, &host);
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

static SEXP test_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const SEXP membership = glue_field(arg->param, "membership");
  const SEXP aspects = glue_field(arg->param, "aspects");
  const int k = Rf_ncols(membership);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  glue_matrix(aspects, k, data.m, "aspects");
  glue_check(Rf_isReal(membership), "membership");
  ab_test_loglik(&data, REAL(membership), Rf_nrows(membership), k, REAL(aspects),
                 Rf_asReal(arg->control), &host, REAL(arg->out));
  glue_end_stopped(&host);
  return arg->out;
}

/* One log-likelihood per row of the view, eq. (23). */
SEXP mc_c_ab_test_loglik(SEXP view, SEXP param, SEXP floor) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, INTEGER(glue_field(view, "dim"))[0]));
  arguments arg = {view, param, R_NilValue, floor, out};
  glue_serial_blas(test_body, &arg);
  UNPROTECT(1);
  return out;
}
