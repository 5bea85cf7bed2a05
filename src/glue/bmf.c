#include "glue/bmf.h"

#include <string.h>

static void check_model(SEXP model) {
  const SEXP infinite = glue_field(model, "infinite"), n_fixed = glue_field(model, "n_fixed");
  const SEXP learned = glue_field(model, "learned");
  const int family = Rf_asInteger(glue_field(model, "family"));
  glue_check(family >= BMF_GAUSSIAN && family <= BMF_POISSON, "family");
  glue_check(Rf_isLogical(infinite) && XLENGTH(infinite) == 2, "infinite");
  glue_check(Rf_isInteger(n_fixed) && XLENGTH(n_fixed) == 2, "n_fixed");
  glue_check(Rf_isLogical(learned) && XLENGTH(learned) == BMF_N_HYPER, "learned");
  glue_matrix(glue_field(model, "beta"), 2, 1, "beta");
  glue_matrix(glue_field(model, "shape"), BMF_N_HYPER, 1, "shape");
  glue_matrix(glue_field(model, "rate"), BMF_N_HYPER, 1, "rate");
}

static void read_side(bmf_side *side, SEXP model, int s, SEXP on, int n) {
  glue_check(TYPEOF(on) == RAWSXP && Rf_nrows(on) == n, "features");
  side->n = n;
  side->k = Rf_ncols(on);
  side->infinite = LOGICAL(glue_field(model, "infinite"))[s] == TRUE;
  side->n_fixed = INTEGER(glue_field(model, "n_fixed"))[s];
  side->beta_off = REAL(glue_field(model, "beta"))[s];
  glue_check(side->n_fixed >= 0 && side->n_fixed <= side->k, "fixed features");
}

static void read_features(bmf_side *side, SEXP on) {
  for (int i = 0; i < side->n; i++)
    for (int c = 0; c < side->k; c++) {
      const Rbyte value = RAW(on)[num_at(i, c, side->n)];
      bmf_item(side, i)[c] = value != 0;
    }
  bmf_count(side);
}

void bmf_read_state(bmf_arguments *arg, SEXP view, SEXP transposed, SEXP model, SEXP state,
                    SEXP control) {
  bmf_state *to = &arg->state;
  memset(arg, 0, sizeof *arg);
  arg->data[0] = glue_data(view);
  arg->data[1] = glue_data(transposed);
  glue_check(arg->data[1].n == arg->data[0].m && arg->data[1].m == arg->data[0].n,
             "transposed data");
  check_model(model);
  arg->host = glue_host(&arg->context, control);
  to->host = &arg->host;
  to->family = (bmf_family) Rf_asInteger(glue_field(model, "family"));
  to->power = 1;
  const SEXP on[2] = {glue_field(state, "rows"), glue_field(state, "columns")};
  for (int s = 0; s < 2; s++) {
    to->data[s] = &arg->data[s];
    read_side(&to->side[s], model, s, on[s], arg->data[s].n);
  }
  bmf_allocate(to);
  for (int s = 0; s < 2; s++) read_features(&to->side[s], on[s]);
  const SEXP weights = glue_field(state, "weights"), hyper = glue_field(state, "hyper");
  const int n_k = to->side[0].k, n_l = to->side[1].k;
  glue_matrix(weights, n_k, n_l, "weights");
  glue_matrix(hyper, BMF_N_HYPER, 1, "hyper");
  for (int c = 0; c < n_k; c++)
    for (int l = 0; l < n_l; l++) bmf_weight(to, 0, c)[l] = REAL(weights)[num_at(c, l, n_k)];
  bmf_transpose(to, 0);
  for (int h = 0; h < BMF_N_HYPER; h++) {
    to->hyper[h].value = REAL(hyper)[h];
    to->hyper[h].learned = LOGICAL(glue_field(model, "learned"))[h] == TRUE;
    to->hyper[h].shape = REAL(glue_field(model, "shape"))[h];
    to->hyper[h].rate = REAL(glue_field(model, "rate"))[h];
  }
}

static SEXP write_features(const bmf_side *side) {
  SEXP out = Rf_allocMatrix(RAWSXP, side->n, side->k);
  for (int i = 0; i < side->n; i++)
    for (int c = 0; c < side->k; c++) RAW(out)[num_at(i, c, side->n)] = bmf_item(side, i)[c];
  return out;
}

static SEXP write_state(const bmf_state *state) {
  const char *fields[] = {"rows", "columns", "weights", "hyper", ""};
  const int n_k = state->side[0].k, n_l = state->side[1].k;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, write_features(&state->side[0]));
  SET_VECTOR_ELT(out, 1, write_features(&state->side[1]));
  SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, n_k, n_l));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, BMF_N_HYPER));
  for (int c = 0; c < n_k; c++)
    for (int l = 0; l < n_l; l++)
      REAL(VECTOR_ELT(out, 2))[num_at(c, l, n_k)] = bmf_weight(state, 0, c)[l];
  for (int h = 0; h < BMF_N_HYPER; h++) REAL(VECTOR_ELT(out, 3))[h] = state->hyper[h].value;
  UNPROTECT(1);
  return out;
}

typedef struct {
  SEXP view, transposed, model, state, plan, out;
} run_arguments;

/* Reads list(n_sweep, thin, power, block, multi, split_merge, collapsed, probe (2 x p, 0-based),
 * want_mean, want_best, best_joint, n_threads, on_tick). */
static bmf_plan read_plan(SEXP plan, int n, int m) {
  const SEXP power = glue_field(plan, "power");
  bmf_plan to = {.n_sweep = Rf_asInteger(glue_field(plan, "n_sweep")),
                 .thin = Rf_asInteger(glue_field(plan, "thin")),
                 .n_threads = Rf_asInteger(glue_field(plan, "n_threads"))};
  if (!Rf_isNull(power)) {
    glue_matrix(power, to.n_sweep, 1, "power");
    to.power = REAL(power);
  }
  to.moves.block = Rf_asLogical(glue_field(plan, "block")) == TRUE;
  to.moves.multi = Rf_asLogical(glue_field(plan, "multi")) == TRUE;
  to.moves.split_merge = Rf_asInteger(glue_field(plan, "split_merge"));
  to.moves.collapsed = Rf_asLogical(glue_field(plan, "collapsed")) == TRUE;
  to.n_probe = glue_probe(plan, n, m, &to.probe);
  return to;
}

static SEXP run_body(void *ctx) {
  const run_arguments *arg = ctx;
  bmf_arguments in;
  bmf_read_state(&in, arg->view, arg->transposed, arg->model, arg->state, arg->plan);
  in.context.draws = true;
  for (int s = 0; s < 2; s++) bmf_drop_empty(&in.state, s);
  const int n = in.data[0].n, m = in.data[0].m;
  const bmf_plan plan = read_plan(arg->plan, n, m);
  bmf_record record = {.best_joint = Rf_asReal(glue_field(arg->plan, "best_joint"))};
  if (Rf_asLogical(glue_field(arg->plan, "want_mean")) == TRUE) {
    SET_VECTOR_ELT(arg->out, 2, Rf_allocMatrix(REALSXP, n, m));
    record.mean = REAL(VECTOR_ELT(arg->out, 2));
    memset(record.mean, 0, (size_t) n * (size_t) m * sizeof(double));
  }
  bmf_state best = in.state;
  if (Rf_asLogical(glue_field(arg->plan, "want_best")) == TRUE) {
    bmf_allocate(&best);
    record.best = &best;
  }
  const mc_status status = bmf_run(&in.state, &plan, &record);
  glue_end_failed(&in.host);
  SET_VECTOR_ELT(arg->out, 0, write_state(&in.state));
  SET_VECTOR_ELT(arg->out, 1,
                 glue_new_matrix(record.note, BMF_NOTE_PROBE + plan.n_probe, record.n_draw));
  if (record.best_found) SET_VECTOR_ELT(arg->out, 3, write_state(&best));
  SET_VECTOR_ELT(arg->out, 4, Rf_ScalarReal(record.best_joint));
  SET_VECTOR_ELT(arg->out, 5, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(arg->out, 6, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(arg->out, 7, Rf_ScalarLogical(status == MC_STOPPED));
  return arg->out;
}

/* Runs sweeps from a state. note: one column per draw; mean: expected cells summed over the draws. */
SEXP mc_c_bmf_run(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP plan) {
  const char *fields[] = {"state",  "note",   "mean",    "best", "best_joint",
                          "n_done", "n_draw", "stopped", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  run_arguments arg = {view, transposed, model, state, plan, out};
  glue_sample(run_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP predict_body(void *ctx) {
  const run_arguments *arg = ctx;
  bmf_arguments in;
  bmf_read_state(&in, arg->view, arg->transposed, arg->model, arg->state, R_NilValue);
  in.context.draws = true;
  const SEXP count = glue_field(arg->plan, "count");
  bmf_side *rows = &in.state.side[BMF_ROWS];
  glue_check(Rf_isInteger(count) && XLENGTH(count) == rows->k, "count");
  rows->n_extern = Rf_asInteger(glue_field(arg->plan, "n_extern"));
  memcpy(rows->count, INTEGER(count), (size_t) rows->k * sizeof(int));
  bmf_predict(&in.state, Rf_asInteger(glue_field(arg->plan, "n_sweep")), REAL(arg->out));
  glue_end_stopped(&in.host);
  return arg->out;
}

/* Expected cells of new rows from one state; plan: list(count, n_extern, n_sweep). */
SEXP mc_c_bmf_predict(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP plan) {
  const int *dim = INTEGER(glue_field(view, "dim"));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, dim[0], dim[1]));
  run_arguments arg = {view, transposed, model, state, plan, out};
  glue_sample(predict_body, &arg);
  UNPROTECT(1);
  return out;
}
