#include "glue/shards.h"
#include "logistic_pca/mm.h"

static mc_shards new_model(glue_call *call) {
  lp_self *self = glue_new(call, sizeof *self);
  lp_param *par = glue_new(call, sizeof *par);
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0)) - 1;
  glue_check(par->k >= 0, "k");
  par->loadings = glue_param(call, 0, par->k + 1, call->data.m);
  if (call->data.n > 0) par->scores = glue_param(call, 1, par->k, call->data.n);
  par->penalty = Rf_asReal(glue_field(call->param, "penalty"));
  par->fixed_loadings = Rf_asLogical(glue_field(call->param, "fixed_loadings")) == TRUE;
  glue_check(par->penalty >= 0, "penalty");
  *self = (lp_self){&call->data, par, NULL};
  self->work = lp_new_work(&call->data, par->k, call->ctl.n_threads, &call->host);
  return lp_model(self);
}

/* param: list(loadings = (k + 1) x m, scores = k x n, penalty = number, fixed_loadings = flag). */
SEXP mc_c_lp_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"loadings", "scores", "outcome", ""};
  const glue_sum_recipe recipe = {fields, 1, true, new_model, NULL, NULL};
  return glue_sum_model(&recipe, view, param, R_NilValue, control);
}
