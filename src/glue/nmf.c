#include "nmf/nmf.h"

#include "glue/glue.h"

static mc_model new_model(glue_call *call) {
  nm_self *self = glue_new(call, sizeof *self);
  nm_param *par = glue_new(call, sizeof *par);
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0));
  par->coefficients = glue_param(call, 0, par->k, call->data.n);
  par->basis = glue_param(call, 1, par->k, call->data.m);
  par->loss = Rf_asLogical(glue_field(call->param, "kl")) == TRUE ? NM_KL : NM_EUCLIDEAN;
  par->multiplicative = !call->ctl.accelerate;
  par->fixed_basis = Rf_asLogical(glue_field(call->param, "fixed_basis")) == TRUE;
  *self = (nm_self){&call->data, par, NULL};
  self->work = nm_new_work(&call->data, par->k, call->ctl.n_threads, &call->host);
  return nm_model(self);
}

static void add_residual(glue_call *call, const mc_model *fitted) {
  const nm_self *self = fitted->self;
  SET_VECTOR_ELT(call->out, 3, Rf_ScalarReal(nm_residual(self->work)));
}

/* param: list(coefficients = k x n, basis = k x m, kl = flag, fixed_basis = flag). */
SEXP mc_c_nm_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"coefficients", "basis", "outcome", "residual", ""};
  const glue_recipe recipe = {fields, 2, new_model, add_residual};
  return glue_fit_model(&recipe, view, param, R_NilValue, control);
}
