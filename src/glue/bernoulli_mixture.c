#include "bernoulli_mixture/shards.h"
#include "glue/shards.h"
#include "glue/smooth.h"

/* c(one, zero, weights): pseudo-counts. */
static bm_prior prior_of(SEXP prior) {
  glue_matrix(prior, 3, 1, "prior");
  const bm_prior out = {REAL(prior)[0], REAL(prior)[1], REAL(prior)[2]};
  glue_check(out.one >= 0 && out.zero >= 0 && out.weights >= 0, "prior");
  return out;
}

static mc_model new_model(glue_call *call) {
  bm_self *self = glue_new(call, sizeof *self);
  bm_param *par = glue_new(call, sizeof *par);
  const bm_prior prior = prior_of(call->prior);
  par->k = Rf_length(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  par->weights = glue_param(call, 0, 1, par->k);
  par->prototypes = glue_param(call, 1, par->k, call->data.m);
  par->smooth = glue_smooth(glue_field(call->param, "smooth"), call->data.n, par->k, NULL,
                            call->ctl.n_threads, &call->host);
  if (par->smooth) {
    SET_VECTOR_ELT(call->out, 3, Rf_duplicate(glue_field(call->param, "membership")));
    par->membership = glue_param(call, 3, call->data.n, par->k);
  }
  *self = (bm_self){&call->data, par, bm_new_work(&call->data, &prior, par, &call->host)};
  return bm_model(self);
}

static void add_posterior(glue_call *call, const mc_model *fitted) {
  const bm_self *self = fitted->self;
  const int n = call->data.n;
  if (self->par->smooth) return;
  SET_VECTOR_ELT(call->out, 3, glue_new_matrix(bm_posterior(self->work), n, self->par->k));
  SET_VECTOR_ELT(call->out, 4, glue_new_matrix(bm_row_loglik(self->work), n, 1));
}

/*
 * param: list(weights = k, prototypes = k x m) and, with neighbours, membership = n x k and smooth;
 * max_pass = 0 is the E-step alone.
 */
SEXP mc_c_bm_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"weights", "prototypes", "outcome", "membership", "row_loglik", ""};
  const glue_recipe recipe = {fields, 2, new_model, add_posterior};
  return glue_fit_model(&recipe, view, param, prior, control);
}

static void *begin_shard(glue_call *call, ptrdiff_t *length) {
  static const bm_prior none = {0};
  bm_self *self = glue_new(call, sizeof *self);
  bm_param *par = glue_new(call, sizeof *par);
  const SEXP weights = glue_field(call->param, "weights");
  const SEXP prototypes = glue_field(call->param, "prototypes");
  *par = (bm_param){.k = Rf_length(weights)};
  glue_check(par->k >= 1, "k");
  glue_matrix(weights, 1, par->k, "weights");
  glue_matrix(prototypes, par->k, call->data.m, "prototypes");
  par->weights = REAL(weights);
  par->prototypes = REAL(prototypes);
  *self = (bm_self){&call->data, par, bm_new_work(&call->data, &none, par, &call->host)};
  *length = bm_shard_length(par->k, call->data.m);
  return self;
}

static bool scan_shard(void *self, bool look, const double *caps, double *sums) {
  (void) caps;
  return bm_shard_scan(self, look, sums);
}

/* A shard, as of glue_shard(). param: list(weights = k, prototypes = k x m). */
SEXP mc_c_bm_shard(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const glue_shard_recipe recipe = {NULL, begin_shard, scan_shard};
  return glue_shard(&recipe, view, param, prior, control);
}

static mc_model new_shards_model(glue_call *call) {
  bm_shards_self *self = glue_new(call, sizeof *self);
  bm_param *par = glue_new(call, sizeof *par);
  par->k = Rf_length(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  par->weights = glue_param(call, 0, 1, par->k);
  par->prototypes = glue_param(call, 1, par->k, call->data.m);
  *self = (bm_shards_self){{&call->data, par, NULL}, prior_of(call->prior)};
  const mc_shards shards = bm_shards(self);
  return glue_shards_model(call, &shards, 2, bm_shard_length(par->k, call->data.m));
}

/* The fit of the driver: view of a table without rows; param: list(weights, prototypes, scan). */
SEXP mc_c_bm_shards_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"weights", "prototypes", "outcome", ""};
  const glue_recipe recipe = {fields, 2, new_shards_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}
