#include <string.h>

#include "aspect_categorical/gibbs.h"
#include "glue/glue.h"

/* The profiles are a matrix k x (m n_value), value by value. */
static ac_param param_of(SEXP membership, SEXP profiles, SEXP param, const mc_data *data) {
  const SEXP fixed = glue_field(param, "fixed");
  ac_param out = {.k = Rf_ncols(membership), .n_value = Rf_asInteger(glue_field(param, "n_value"))};
  glue_check(out.k >= 1 && out.n_value >= 2, "k");
  glue_matrix(membership, data->n, out.k, "membership");
  glue_check((double) out.n_value * data->m <= INT_MAX, "n_value");
  glue_matrix(profiles, out.k, data->m * out.n_value, "profiles");
  glue_check(Rf_isInteger(fixed) && XLENGTH(fixed) == out.k, "fixed");
  out.membership = REAL(membership);
  out.profiles = REAL(profiles);
  out.fixed = INTEGER(fixed);
  out.fixed_profiles = Rf_asLogical(glue_field(param, "fixed_profiles")) == TRUE;
  for (int e = 0; e < data->start[data->n]; e++) {
    const double value = data->value ? data->value[e] : 1;
    glue_check(value > 0 && value < out.n_value && value == (int) value, "values");
  }
  return out;
}

/* k + n_value numbers: of memberships, then of values; above 0 if `open`, else at least 0. */
static ac_prior prior_of(SEXP prior, const ac_param *par, bool open) {
  glue_matrix(prior, par->k + par->n_value, 1, "prior");
  for (int i = 0; i < par->k + par->n_value; i++)
    glue_check(open ? REAL(prior)[i] > 0 : REAL(prior)[i] >= 0, "prior");
  return (ac_prior){REAL(prior), REAL(prior) + par->k};
}

static mc_model new_model(glue_call *call) {
  ac_self *self = glue_new(call, sizeof *self);
  ac_param *par = glue_new(call, sizeof *par);
  *par = param_of(VECTOR_ELT(call->out, 0), VECTOR_ELT(call->out, 1), call->param, &call->data);
  const ac_prior prior = prior_of(call->prior, par, false);
  ac_work *work = ac_new_work(&call->data, par, &prior, call->ctl.n_threads, &call->host);
  *self = (ac_self){&call->data, par, work};
  return ac_model(self);
}

/* param: list(membership = n x k, profiles = k x (m n_value), fixed = k integers, n_value,
 * fixed_profiles); prior: pseudo-counts. */
SEXP mc_c_ac_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "profiles", "outcome", ""};
  const glue_recipe recipe = {fields, 2, new_model, NULL};
  return glue_fit_model(&recipe, view, param, prior, control);
}

typedef struct {
  SEXP view, param, prior, plan, out;
} arguments;

/* Copies the kept states, one after another. */
static SEXP kept_states(const double *from, R_xlen_t size, int n_kept) {
  SEXP out = Rf_allocVector(REALSXP, size * n_kept);
  if (n_kept > 0) memcpy(REAL(out), from, (size_t) (size * n_kept) * sizeof(double));
  return out;
}

static SEXP run_body(void *ctx) {
  const arguments *arg = ctx;
  const SEXP out = arg->out, plan = arg->plan;
  const mc_data data = glue_data(arg->view);
  glue_context context;
  const mc_host host = glue_host(&context, plan);
  context.draws = true;
  ac_param state = param_of(VECTOR_ELT(out, 0), VECTOR_ELT(out, 1), arg->param, &data);
  const ac_prior prior = prior_of(arg->prior, &state, true);
  const R_xlen_t rows = XLENGTH(VECTOR_ELT(out, 0)), columns = XLENGTH(VECTOR_ELT(out, 1));
  ac_gibbs_plan to = {.n_sweep = Rf_asInteger(glue_field(plan, "n_sweep")),
                      .thin = Rf_asInteger(glue_field(plan, "thin")),
                      .keep_every = Rf_asInteger(glue_field(plan, "keep_every"))};
  glue_check(to.n_sweep >= 0 && to.thin >= 0 && to.keep_every >= 0, "plan");
  to.n_probe = glue_probe(plan, data.n, data.m, &to.probe);
  ac_gibbs_record record = {0};
  record.membership = glue_zeros(out, 3, 2 * rows);
  record.profiles = glue_zeros(out, 4, 2 * columns);
  const mc_status status = ac_gibbs_run(&data, &prior, &to, &state, &host, &record);
  glue_end_failed(&host);
  SET_VECTOR_ELT(out, 2, glue_new_matrix(record.note, AC_NOTE_PROBE + to.n_probe, record.n_draw));
  SET_VECTOR_ELT(out, 5, kept_states(record.kept_membership, rows, record.n_kept));
  SET_VECTOR_ELT(out, 6, kept_states(record.kept_profiles, columns, record.n_kept));
  SET_VECTOR_ELT(out, 7, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(out, 8, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(out, 9, Rf_ScalarInteger(record.n_kept));
  SET_VECTOR_ELT(out, 10, Rf_ScalarLogical(status == MC_STOPPED));
  return out;
}

/* Runs sweeps from a state, as param of mc_c_ac_fit(); prior: its parameters. plan: list(n_sweep,
 * thin, keep_every, probe (2 x p, from 0), on_tick). */
SEXP mc_c_ac_gibbs_run(SEXP view, SEXP param, SEXP prior, SEXP plan) {
  const char *fields[] = {"membership",   "profiles",        "note",          "sum_membership",
                          "sum_profiles", "kept_membership", "kept_profiles", "n_done",
                          "n_draw",       "n_kept",          "stopped",       ""};
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, prior, plan, out};
  glue_sample(run_body, &arg);
  UNPROTECT(1);
  return out;
}
