#include "glue/shards.h"
#include "glue/smooth.h"
#include "plsa/gibbs.h"
#include "plsa/shards.h"
#include "plsa/vb.h"

/*
 * Reads list(membership = n or 0 strengths, basis = strength, rule = num_entropic_rule, row_added =
 * k or 0 numbers, basis_added = number).
 */
static plsa_prior prior_of(SEXP prior, const mc_data *data, int k) {
  const SEXP membership = glue_field(prior, "membership");
  const SEXP row_added = glue_field(prior, "row_added");
  const int rule = Rf_asInteger(glue_field(prior, "rule"));
  plsa_prior out = {.basis = Rf_asReal(glue_field(prior, "basis"))};
  glue_check(rule >= NUM_CCCP && rule <= NUM_FIRST, "rule");
  out.rule = (num_entropic_rule) rule;
  if (Rf_length(membership) > 0) {
    glue_matrix(membership, data->n, 1, "membership prior");
    out.membership = REAL(membership);
  }
  if (Rf_length(row_added) > 0) {
    glue_matrix(row_added, k, 1, "counts added to rows");
    out.row_added = REAL(row_added);
  }
  out.basis_added = Rf_asReal(glue_field(prior, "basis_added"));
  glue_check(out.basis_added >= 0, "counts added to the basis");
  return out;
}

static plsa_self *new_self(glue_call *call) {
  plsa_self *self = glue_new(call, sizeof *self);
  plsa_param *par = glue_new(call, sizeof *par);
  const mc_data *data = &call->data;
  const int missing = Rf_asInteger(glue_field(call->param, "missing"));
  par->k = Rf_nrows(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  const plsa_prior prior = prior_of(call->prior, data, par->k);
  par->basis = glue_param(call, 0, par->k, data->m);
  if (data->n > 0) par->membership = glue_param(call, 1, data->n, par->k);
  par->fixed_basis = Rf_asLogical(glue_field(call->param, "fixed_basis")) == TRUE;
  glue_check(missing == PLSA_CONDITIONAL || missing == PLSA_PAPER, "missing");
  par->smooth = glue_smooth(glue_field(call->param, "smooth"), data->n, par->k, NULL,
                            call->ctl.n_threads, &call->host);
  *self = (plsa_self){data, par, NULL, NULL};
  self->work =
      plsa_new_work(data, &prior, (plsa_missing) missing, par->k, call->ctl.n_threads, &call->host);
  return self;
}

static mc_shards new_sum_model(glue_call *call) { return plsa_shards(new_self(call)); }

/*
 * Selects Newton's iterations if requested, which requires no prior, no missing cell and no
 * neighbours; else EM.
 */
static mc_model new_model(glue_call *call) {
  plsa_self *self = new_self(call);
  const mc_data *data = &call->data;
  const int k = self->par->k;
  const plsa_prior prior = prior_of(call->prior, data, k);
  const bool plain = !data->na_start && !prior.membership && prior.basis == 0 && !prior.row_added &&
                     prior.basis_added == 0 && !self->par->smooth;
  if (Rf_asLogical(glue_field(call->param, "newton")) != TRUE) return plsa_model(self);
  glue_check(plain, "newton");
  self->newton = plsa_new_newton(data, k, call->ctl.n_threads, &call->host);
  return plsa_model(self);
}

/*
 * param: list(basis = k x m, membership = n x k, missing, and in memory fixed_basis, newton,
 * smooth). Shards and drivers use EM, see glue_sum_model().
 */
SEXP mc_c_plsa_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"basis", "membership", "outcome", ""};
  const glue_sum_recipe recipe = {fields, 1, true, new_sum_model, NULL, new_model};
  return glue_sum_model(&recipe, view, param, prior, control);
}

static mc_model new_vb_model(glue_call *call) {
  plsa_vb_self *self = glue_new(call, sizeof *self);
  plsa_vb_param *par = glue_new(call, sizeof *par);
  const int missing = Rf_asInteger(glue_field(call->param, "missing"));
  par->k = Rf_ncols(VECTOR_ELT(call->out, 0));
  glue_check(par->k >= 1, "k");
  glue_check(missing == PLSA_CONDITIONAL || missing == PLSA_PAPER, "missing");
  par->rows = glue_param(call, 0, call->data.n, par->k);
  par->basis = glue_param(call, 1, par->k, call->data.m);
  par->prior = glue_param(call, 2, par->k + 1, 1);
  par->fixed_basis = Rf_asLogical(glue_field(call->param, "fixed_basis")) == TRUE;
  par->learn = Rf_asLogical(glue_field(call->param, "learn")) == TRUE;
  *self = (plsa_vb_self){&call->data, par, NULL};
  self->work =
      plsa_vb_new_work(&call->data, (plsa_missing) missing, par, call->ctl.n_threads, &call->host);
  return plsa_vb_model(self);
}

/* param: list(rows = n x k, basis = k x m, prior = k + 1 numbers, fixed_basis, learn, missing). */
SEXP mc_c_plsa_vb_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"rows", "basis", "prior", "outcome", ""};
  const glue_recipe recipe = {fields, 3, new_vb_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}

typedef struct {
  SEXP view, state, plan, out;
} gibbs_arguments;

/*
 * Reads regression = list(design = d x n, ridge, rate) of the plan, with effects = d x k and
 * concentration of the state; NULL: memberships follow no covariates.
 */
static void take_regression(const gibbs_arguments *arg, const mc_data *data, plsa_gibbs_state *to) {
  const SEXP regression = glue_field(arg->plan, "regression");
  if (Rf_isNull(regression)) return;
  const SEXP design = glue_field(regression, "design");
  to->by.d = Rf_nrows(design);
  glue_matrix(design, to->by.d, data->n, "design");
  to->by.design = REAL(design);
  to->by.ridge = Rf_asReal(glue_field(regression, "ridge"));
  to->rate = Rf_asReal(glue_field(regression, "rate"));
  SET_VECTOR_ELT(arg->out, 9, Rf_duplicate(glue_field(arg->state, "effects")));
  SET_VECTOR_ELT(arg->out, 10, Rf_duplicate(glue_field(arg->state, "concentration")));
  glue_matrix(VECTOR_ELT(arg->out, 9), to->by.d, to->k, "effects");
  glue_matrix(VECTOR_ELT(arg->out, 10), 1, 1, "concentration");
  to->by.effects = REAL(VECTOR_ELT(arg->out, 9));
  to->concentration = REAL(VECTOR_ELT(arg->out, 10));
  glue_check(to->by.d > 0 && to->by.ridge > 0 && to->rate > 0, "regression");
  glue_check(*to->concentration > 0, "concentration");
}

static SEXP run_gibbs(void *ctx) {
  const gibbs_arguments *arg = ctx;
  const SEXP out = arg->out, plan = arg->plan;
  const mc_data data = glue_data(arg->view);
  const int n = data.n, m = data.m;
  glue_context context;
  const mc_host host = glue_host(&context, plan);
  context.draws = true;
  plsa_gibbs_state state = {.k = Rf_length(VECTOR_ELT(out, 1)) - 1};
  const int k = state.k;
  glue_check(Rf_isInteger(VECTOR_ELT(out, 0)), "topic");
  glue_check(k >= 1 && Rf_isReal(VECTOR_ELT(out, 1)), "prior");
  state.topic = INTEGER(VECTOR_ELT(out, 0));
  state.prior = REAL(VECTOR_ELT(out, 1));
  double total = 0;
  for (int e = 0; e < data.start[n]; e++) total += data.value ? data.value[e] : 1;
  glue_check((double) XLENGTH(VECTOR_ELT(out, 0)) == total, "topic");
  for (R_xlen_t t = 0; t < XLENGTH(VECTOR_ELT(out, 0)); t++)
    glue_check(state.topic[t] >= 0 && state.topic[t] < k, "topic");
  for (int c = 0; c <= k; c++) glue_check(state.prior[c] > 0, "prior");
  take_regression(arg, &data, &state);
  plsa_gibbs_plan to = {.n_sweep = Rf_asInteger(glue_field(plan, "n_sweep")),
                        .thin = Rf_asInteger(glue_field(plan, "thin")),
                        .learn = Rf_asLogical(glue_field(plan, "learn")) == TRUE};
  to.n_probe = glue_probe(plan, n, m, &to.probe);
  glue_check(to.n_sweep >= 0 && to.thin >= 0, "plan");
  glue_check(!to.learn || state.by.d == 0, "learn");
  plsa_gibbs_record record = {0};
  if (to.thin > 0) {
    record.membership = glue_zeros(out, 3, (R_xlen_t) n * k * 2);
    record.basis = glue_zeros(out, 4, (R_xlen_t) k * m * 2);
    record.share = glue_zeros(out, 5, (R_xlen_t) k * 2);
  }
  const mc_status status = plsa_gibbs_run(&data, &to, &state, &host, &record);
  glue_end_failed(&host);
  SET_VECTOR_ELT(out, 2, glue_new_matrix(record.note, 1 + to.n_probe, record.n_draw));
  if (state.by.d > 0)
    SET_VECTOR_ELT(out, 11, glue_new_matrix(record.regression, state.by.d * k + 1, record.n_draw));
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(out, 7, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(out, 8, Rf_ScalarLogical(status == MC_STOPPED));
  return out;
}

/*
 * Runs sweeps from a state, list(topic = components of all counts, from 0, prior = k + 1 numbers);
 * the view holds whole counts. plan: list(n_sweep, thin, learn, probe (2 x p, from 0), on_tick), with
 * covariates also regression, see take_regression().
 */
SEXP mc_c_plsa_gibbs_run(SEXP view, SEXP state, SEXP plan) {
  const char *fields[] = {"topic",         "prior",      "note",   "sum_membership", "sum_basis",
                          "sum_share",     "n_done",     "n_draw", "stopped",        "effects",
                          "concentration", "regression", ""};
  SEXP out = PROTECT(glue_result(fields, state, 2));
  gibbs_arguments arg = {view, state, plan, out};
  glue_sample(run_gibbs, &arg);
  UNPROTECT(1);
  return out;
}

/* Memberships of rows, n x k. param: list(basis = k x m, alpha = k numbers, on_tick). */
SEXP mc_c_plsa_gibbs_fold_in(SEXP view, SEXP param) {
  const SEXP basis = glue_field(param, "basis"), alpha = glue_field(param, "alpha");
  const mc_data data = glue_data(view);
  const int k = Rf_nrows(basis);
  glue_matrix(basis, k, data.m, "basis");
  glue_matrix(alpha, k, 1, "alpha");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, data.n, k));
  glue_context context;
  const mc_host host = glue_host(&context, param);
  plsa_gibbs_fold_in(&data, k, REAL(basis), REAL(alpha), &host, REAL(out));
  glue_end_stopped(&host);
  UNPROTECT(1);
  return out;
}
