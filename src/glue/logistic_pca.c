#include "glue/shards.h"
#include "logistic_pca/shards.h"

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

static lp_param *new_shard_param(glue_call *call, double *scores, double *loadings, int k) {
  lp_param *par = glue_new(call, sizeof *par);
  par->k = k;
  par->scores = scores;
  par->loadings = loadings;
  par->penalty = Rf_asReal(glue_field(call->param, "penalty"));
  glue_check(par->penalty >= 0, "penalty");
  return par;
}

static void *begin_shard(glue_call *call, ptrdiff_t *length) {
  lp_self *self = glue_new(call, sizeof *self);
  const SEXP loadings = glue_field(call->param, "loadings");
  const int k = Rf_nrows(loadings) - 1;
  glue_check(k >= 0, "k");
  glue_matrix(loadings, k + 1, call->data.m, "loadings");
  lp_param *par = new_shard_param(call, glue_param(call, 0, k, call->data.n), REAL(loadings), k);
  *self = (lp_self){&call->data, par, NULL};
  self->work = lp_new_work(&call->data, k, call->ctl.n_threads, &call->host);
  *length = lp_shard_length(k, call->data.m);
  return self;
}

static bool scan_shard(void *self, bool look, const double *caps, double *sums) {
  (void) caps;
  return lp_shard_scan(self, look, sums);
}

/* A shard, as of glue_shard(). param: list(scores = k x n, loadings = (k + 1) x m, penalty). */
SEXP mc_c_lp_shard(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const glue_shard_recipe recipe = {"scores", begin_shard, scan_shard};
  return glue_shard(&recipe, view, param, prior, control);
}

static mc_model new_shards_model(glue_call *call) {
  lp_shards_self *self = glue_new(call, sizeof *self);
  const int k = Rf_nrows(VECTOR_ELT(call->out, 0)) - 1;
  glue_check(k >= 0, "k");
  double *loadings = glue_param(call, 0, k + 1, call->data.m);
  *self = (lp_shards_self){
      {&call->data, new_shard_param(call, NULL, loadings, k), NULL}, &call->host, 0, 0};
  const mc_shards shards = lp_shards(self);
  return glue_shards_model(call, &shards, 1, lp_shard_length(k, call->data.m));
}

/* The fit of the driver: view of a table without rows; param: list(loadings, penalty, scan). */
SEXP mc_c_lp_shards_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"loadings", "outcome", ""};
  const glue_recipe recipe = {fields, 1, new_shards_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}
