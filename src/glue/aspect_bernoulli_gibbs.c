#include <string.h>

#include "aspect_bernoulli/gibbs.h"
#include "glue/aspect_bernoulli.h"

typedef struct {
  SEXP view, param, prior, plan, out;
} arguments;

/* Reads list(n_sweep, thin, keep_every, reference (k x m or NULL), kind, probe (2 x p, from 0),
 * n_stat (0: no cells), on_tick). */
static ab_gibbs_plan read_plan(SEXP plan, int n, int k, int m) {
  const SEXP reference = glue_field(plan, "reference"), kind = glue_field(plan, "kind");
  ab_gibbs_plan to = {.n_sweep = Rf_asInteger(glue_field(plan, "n_sweep")),
                      .thin = Rf_asInteger(glue_field(plan, "thin")),
                      .keep_every = Rf_asInteger(glue_field(plan, "keep_every"))};
  glue_check(to.n_sweep >= 0 && to.thin >= 0 && to.keep_every >= 0, "plan");
  glue_check(Rf_isInteger(kind) && XLENGTH(kind) == k, "kind");
  if (!Rf_isNull(reference)) {
    glue_matrix(reference, k, m, "reference");
    to.reference = REAL(reference);
  }
  to.kind = INTEGER(kind);
  to.n_probe = glue_probe(plan, n, m, &to.probe);
  return to;
}

static ab_gibbs_record new_record(SEXP out, int n_stat, int n, int m, int k) {
  const R_xlen_t rows = (R_xlen_t) n * k, columns = (R_xlen_t) k * m;
  ab_gibbs_record record = {.n_stat = n_stat};
  if (n_stat > 0) record.cell = glue_zeros(out, 3, (R_xlen_t) n * m * n_stat);
  record.membership = glue_zeros(out, 4, 2 * rows);
  record.aspects = glue_zeros(out, 5, 2 * columns);
  return record;
}

/* Copies the kept matrices, one after another. */
static SEXP kept_states(const double *from, int n_row, int n_column, int n_kept) {
  const R_xlen_t length = (R_xlen_t) n_row * n_column * n_kept;
  SEXP out = Rf_allocVector(REALSXP, length);
  if (length > 0) memcpy(REAL(out), from, (size_t) length * sizeof(double));
  return out;
}

static SEXP run_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const SEXP fixed = glue_field(arg->param, "fixed");
  glue_context context;
  const mc_host host = glue_host(&context, arg->plan);
  context.draws = true;
  ab_gibbs_state state = {.k = Rf_ncols(VECTOR_ELT(arg->out, 0))};
  const int k = state.k, n_stat = Rf_asInteger(glue_field(arg->plan, "n_stat"));
  glue_matrix(VECTOR_ELT(arg->out, 0), data.n, k, "membership");
  glue_matrix(VECTOR_ELT(arg->out, 1), k, data.m, "aspects");
  glue_check(Rf_isInteger(fixed) && XLENGTH(fixed) == k && k >= 1 && k <= 256, "fixed");
  state.membership = REAL(VECTOR_ELT(arg->out, 0));
  state.aspects = REAL(VECTOR_ELT(arg->out, 1));
  state.fixed = INTEGER(fixed);
  const ab_prior prior = glue_ab_prior(arg->prior, k, true);
  const ab_gibbs_plan plan = read_plan(arg->plan, data.n, k, data.m);
  glue_check(n_stat == 0 || n_stat == AB_GIBBS_PLAIN || n_stat == AB_GIBBS_SCORES, "n_stat");
  ab_gibbs_record record = new_record(arg->out, n_stat, data.n, data.m, k);
  const mc_status status = ab_gibbs_run(&data, &prior, &plan, &state, &host, &record);
  glue_end_failed(&host);
  SET_VECTOR_ELT(arg->out, 2,
                 glue_new_matrix(record.note, AB_NOTE_PROBE + plan.n_probe, record.n_draw));
  SET_VECTOR_ELT(arg->out, 6, kept_states(record.kept_membership, data.n, k, record.n_kept));
  SET_VECTOR_ELT(arg->out, 7, kept_states(record.kept_aspects, k, data.m, record.n_kept));
  SET_VECTOR_ELT(arg->out, 8, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(arg->out, 9, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(arg->out, 10, Rf_ScalarInteger(record.n_kept));
  SET_VECTOR_ELT(arg->out, 11, Rf_ScalarLogical(status == MC_STOPPED));
  return arg->out;
}

/* Runs sweeps from a state, list(membership = n x k, aspects = k x m, fixed = k values of -1, 0 or 1). */
SEXP mc_c_ab_gibbs_run(SEXP view, SEXP param, SEXP prior, SEXP plan) {
  const char *fields[] = {"membership",
                          "aspects",
                          "note",
                          "cell",
                          "sum_membership",
                          "sum_aspects",
                          "kept_membership",
                          "kept_aspects",
                          "n_done",
                          "n_draw",
                          "n_kept",
                          "stopped",
                          ""};
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, prior, plan, out};
  glue_sample(run_body, &arg);
  UNPROTECT(1);
  return out;
}
