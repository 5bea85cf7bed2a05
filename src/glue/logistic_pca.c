#include "logistic_pca/mm.h"

#include "glue/glue.h"

static mc_model new_model(glue_call *call) {
  lp_self *self = glue_new(call, sizeof *self);
  lp_param *par = glue_new(call, sizeof *par);
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0));
  par->scores = glue_param(call, 0, par->k, call->data.n);
  par->loadings = glue_param(call, 1, par->k + 1, call->data.m);
  par->penalty = Rf_asReal(glue_field(call->param, "penalty"));
  par->fixed_loadings = Rf_asLogical(glue_field(call->param, "fixed_loadings")) == TRUE;
  glue_check(par->penalty >= 0, "penalty");
  *self = (lp_self){&call->data, par, NULL};
  self->work = lp_new_work(&call->data, par->k, call->ctl.n_threads, &call->host);
  return lp_model(self);
}

/* param: list(scores = k x n, loadings = (k + 1) x m, penalty = number, fixed_loadings = flag). */
SEXP mc_c_lp_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"scores", "loadings", "outcome", ""};
  const glue_recipe recipe = {fields, 2, new_model, NULL};
  return glue_fit_model(&recipe, view, param, R_NilValue, control);
}
