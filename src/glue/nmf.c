#include "glue/shards.h"
#include "nmf/shards.h"

static mc_model new_model(glue_call *call) {
  nm_self *self = glue_new(call, sizeof *self);
  nm_param *par = glue_new(call, sizeof *par);
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  par->coefficients = glue_param(call, 0, par->k, call->data.n);
  par->basis = glue_param(call, 1, par->k, call->data.m);
  par->loss = Rf_asLogical(glue_field(call->param, "kl")) == TRUE ? NM_KL : NM_EUCLIDEAN;
  par->multiplicative =
      !call->ctl.accelerate || Rf_asLogical(glue_field(call->param, "multiplicative")) == TRUE;
  par->fixed_basis = Rf_asLogical(glue_field(call->param, "fixed_basis")) == TRUE;
  *self = (nm_self){&call->data, par, NULL};
  self->work = nm_new_work(&call->data, par->k, call->ctl.n_threads, &call->host);
  return nm_model(self);
}

static void add_residual(glue_call *call, const mc_model *fitted) {
  const nm_self *self = fitted->self;
  SET_VECTOR_ELT(call->out, 3, Rf_ScalarReal(nm_residual(self->work)));
}

/* param: list(coefficients = k x n, basis = k x m and flags kl, fixed_basis and multiplicative). */
SEXP mc_c_nm_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"coefficients", "basis", "outcome", "residual", ""};
  const glue_recipe recipe = {fields, 2, new_model, add_residual};
  return glue_fit_model(&recipe, view, param, R_NilValue, control);
}

static nm_self *new_shard_self(glue_call *call, double *coefficients, double *basis, int k) {
  nm_self *self = glue_new(call, sizeof *self);
  nm_param *par = glue_new(call, sizeof *par);
  glue_check(k >= 1, "k");
  par->k = k;
  par->coefficients = coefficients;
  par->basis = basis;
  par->loss = NM_KL;
  par->multiplicative = true;
  *self = (nm_self){&call->data, par, NULL};
  return self;
}

static void *begin_shard(glue_call *call, ptrdiff_t *length) {
  const SEXP basis = glue_field(call->param, "basis");
  const int k = Rf_nrows(basis);
  glue_matrix(basis, k, call->data.m, "basis");
  *length = nm_shard_length(k, call->data.m);
  nm_self *self = new_shard_self(call, glue_param(call, 0, k, call->data.n), REAL(basis), k);
  self->work = nm_new_work(&call->data, k, call->ctl.n_threads, &call->host);
  return self;
}

static bool scan_shard(void *self, bool look, const double *caps, double *sums) {
  (void) caps;
  return nm_shard_scan(self, look, sums);
}

/* A shard, as of glue_shard(). param: list(coefficients = k x n, basis = k x m). */
SEXP mc_c_nm_shard(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const glue_shard_recipe recipe = {"coefficients", begin_shard, scan_shard};
  return glue_shard(&recipe, view, param, prior, control);
}

static mc_model new_shards_model(glue_call *call) {
  const int k = Rf_nrows(VECTOR_ELT(call->out, 0));
  nm_self *self = new_shard_self(call, NULL, glue_param(call, 0, k, call->data.m), k);
  const mc_shards shards = nm_shards(self);
  return glue_shards_model(call, &shards, 1, nm_shard_length(k, call->data.m));
}

/* The fit of the driver: view of a table without rows; param: list(basis, scan). */
SEXP mc_c_nm_shards_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"basis", "outcome", ""};
  const glue_recipe recipe = {fields, 1, new_shards_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}
