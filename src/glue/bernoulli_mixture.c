#include "bernoulli_mixture/em.h"
#include "glue/shards.h"
#include "glue/smooth.h"

/* Reads c(one, zero, weights), pseudo-counts. */
static bm_prior prior_of(SEXP prior) {
  glue_matrix(prior, 3, 1, "prior");
  const bm_prior out = {REAL(prior)[0], REAL(prior)[1], REAL(prior)[2]};
  glue_check(out.one >= 0 && out.zero >= 0 && out.weights >= 0, "prior");
  return out;
}

/* Memberships by covariates: param has design = d x n, effects = d x k and ridge. */
static num_multinomial covariates_of(glue_call *call, int k) {
  num_multinomial by = {0};
  const SEXP design = glue_field(call->param, "design"), ridge = glue_field(call->param, "ridge");
  if (Rf_isNull(design)) return by;
  by.d = Rf_nrows(design);
  glue_matrix(design, by.d, call->data.n, "design");
  glue_check(Rf_asReal(ridge) >= 0, "ridge");
  by.design = REAL(design);
  by.ridge = Rf_asReal(ridge);
  SET_VECTOR_ELT(call->out, 5, Rf_duplicate(glue_field(call->param, "effects")));
  by.effects = glue_param(call, 5, by.d, k);
  return by;
}

static mc_shards new_model(glue_call *call) {
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
  par->by = covariates_of(call, par->k);
  const SEXP held = glue_field(call->param, "held");
  par->held = Rf_isNull(held) ? 0 : (ptrdiff_t) Rf_asReal(held);
  glue_check(par->held >= 0 && par->held <= par->k * (1 + (ptrdiff_t) call->data.m), "held");
  glue_check(!par->smooth || par->by.d == 0, "smooth");
  bm_work *work = bm_new_work(&call->data, &prior, par, call->ctl.n_threads, &call->host);
  *self = (bm_self){&call->data, par, work};
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
 * param: list(weights = k, prototypes = k x m) and, with neighbours, membership = n x k and smooth, or,
 * with covariates, design = d x n, effects = d x k and ridge, or held, the place (from 1) of a weight or prototype
 * that keeps its value; max_iter = 0 is the E-step alone. Shards: as of glue_sum_model().
 */
SEXP mc_c_bm_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"weights",    "prototypes", "outcome", "membership",
                          "row_loglik", "effects",    ""};
  const glue_sum_recipe recipe = {fields, 2, false, new_model, add_posterior, NULL};
  return glue_sum_model(&recipe, view, param, prior, control);
}
