#include "nmf/nmf.h"
#include "glue/shards.h"

static nm_self *new_self(glue_call *call) {
  nm_self *self = glue_new(call, sizeof *self);
  nm_param *par = glue_new(call, sizeof *par);
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  par->basis = glue_param(call, 0, par->k, call->data.m);
  if (call->data.n > 0) par->coefficients = glue_param(call, 1, par->k, call->data.n);
  par->loss = Rf_asLogical(glue_field(call->param, "kl")) == TRUE ? NM_KL : NM_EUCLIDEAN;
  par->multiplicative = Rf_asLogical(glue_field(call->param, "multiplicative")) == TRUE;
  par->fixed_basis = Rf_asLogical(glue_field(call->param, "fixed_basis")) == TRUE;
  *self = (nm_self){&call->data, par, NULL};
  self->work = nm_new_work(&call->data, par->k, call->ctl.n_threads, &call->host);
  return self;
}

static mc_model new_model(glue_call *call) { return nm_model(new_self(call)); }

static mc_shards new_sum_model(glue_call *call) { return nm_sum_model(new_self(call)); }

static void add_residual(glue_call *call, const mc_model *fitted) {
  const nm_self *self = fitted->self;
  SET_VECTOR_ELT(call->out, 3, Rf_ScalarReal(nm_residual(self->work)));
}

/* param: list(basis = k x m, coefficients = k x n and flags kl, fixed_basis and multiplicative). */
SEXP mc_c_nm_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"basis", "coefficients", "outcome", "residual", ""};
  const glue_recipe recipe = {fields, 2, new_model, add_residual};
  return glue_fit_model(&recipe, view, param, R_NilValue, control);
}

/* Multiplicative iterations under KL for glue_sum_model(); requires param's flags kl and multiplicative. */
SEXP mc_c_nm_sum(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"basis", "coefficients", "outcome", "residual", ""};
  const glue_sum_recipe recipe = {fields, 1, true, new_sum_model, add_residual, NULL};
  return glue_sum_model(&recipe, view, param, R_NilValue, control);
}
