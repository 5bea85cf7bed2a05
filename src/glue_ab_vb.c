#include "glue_ab.h"
#include "model_ab_vb.h"

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  const SEXP pinned = glue_field(arg->param, "pinned");
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  ab_vb_param par = {.k = Rf_ncols(VECTOR_ELT(arg->out, 0))};
  glue_matrix(VECTOR_ELT(arg->out, 0), data.n, par.k, "membership");
  glue_matrix(VECTOR_ELT(arg->out, 1), par.k, data.m, "one");
  glue_matrix(VECTOR_ELT(arg->out, 2), par.k, data.m, "zero");
  glue_matrix(arg->prior, 3, 1, "prior");
  glue_check(Rf_isInteger(pinned) && XLENGTH(pinned) == par.k, "pinned");
  par.membership = REAL(VECTOR_ELT(arg->out, 0));
  par.one = REAL(VECTOR_ELT(arg->out, 1));
  par.zero = REAL(VECTOR_ELT(arg->out, 2));
  par.pinned = INTEGER(pinned);
  const ab_vb_prior prior = {REAL(arg->prior)[0], REAL(arg->prior)[1], REAL(arg->prior)[2]};
  glue_check(prior.one > 0 && prior.zero > 0 && prior.membership > 0, "prior");
  ab_vb_self self = {&data, &par, ab_vb_new_work(&data, &par, &prior, ctl.n_threads, &host)};
  mc_model model = ab_vb_model(&self);
  SET_VECTOR_ELT(arg->out, 3, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* param: list(membership = n x k, one, zero = k x m, pinned = -1, 0 or 1, k of them). */
SEXP mc_c_ab_vb_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "one", "zero", "outcome", ""};
  SEXP out = PROTECT(glue_result(fields, param, 3));
  arguments arg = {view, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
