#include "glue/shards.h"

#include <string.h>

#include "num/simplex.h"

static const double *values_of(SEXP x) { return Rf_isNull(x) ? NULL : REAL(x); }

/* list(rows, sums) of a shard; `from` are the rows' parameters before the scan, `rows` those it changes. */
static SEXP scan_shard(const glue_call *call, const mc_shards *model, SEXP from, SEXP rows) {
  const char *names[] = {"rows", "sums", ""};
  const SEXP caps = glue_field(call->param, "caps"), before = glue_field(call->param, "before");
  const bool evaluate = Rf_asLogical(glue_field(call->param, "evaluate")) == TRUE;
  const R_xlen_t size = Rf_xlength(from);
  if (!Rf_isNull(caps)) glue_matrix(caps, call->data.m, 1, "caps");
  glue_check(Rf_isNull(before) || (Rf_isReal(before) && XLENGTH(before) == size), "before");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, rows);
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, evaluate ? MC_SHARD_HEAD : model->length));
  double *sums = REAL(VECTOR_ELT(out, 1));
  model->rows(model->shared.self, evaluate, values_of(caps), sums);
  glue_end_stopped(&call->host);
  if (!Rf_isNull(before))
    mc_step_lengths(size, REAL(before), REAL(from), REAL(rows), sums + MC_SHARD_RR,
                    sums + MC_SHARD_VV);
  UNPROTECT(1);
  return out;
}

/*
 * saved: list of three matrices, theta_0 .. theta_2 of engine/fit.c. Returns the extrapolated point
 * inside `space`: "simplex" (each row), "positive" or "real"; "kept" returns theta_2.
 */
SEXP mc_c_shard_extrapolate(SEXP saved, SEXP step, SEXP space) {
  const double *at[3];
  glue_check(TYPEOF(saved) == VECSXP && XLENGTH(saved) == 3, "saved");
  const int n = Rf_nrows(VECTOR_ELT(saved, 0)), k = Rf_ncols(VECTOR_ELT(saved, 0));
  glue_check(Rf_isString(space) && XLENGTH(space) == 1, "space");
  const char *name = CHAR(STRING_ELT(space, 0));
  for (int which = 0; which < 3; which++) {
    glue_matrix(VECTOR_ELT(saved, which), n, k, "saved");
    at[which] = REAL(VECTOR_ELT(saved, which));
  }
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, k));
  if (strcmp(name, "kept") == 0)
    memcpy(REAL(out), at[2], (size_t) XLENGTH(out) * sizeof(double));
  else
    mc_extrapolate(XLENGTH(out), at[0], at[1], at[2], Rf_asReal(step), REAL(out));
  if (strcmp(name, "simplex") == 0) num_guard_simplex(REAL(out), at[2], n, k);
  if (strcmp(name, "positive") == 0) num_guard_positive(REAL(out), at[2], XLENGTH(out));
  UNPROTECT(1);
  return out;
}

/* Functions of param$steps, in this order. */
typedef enum { ITERATION, OBJECTIVE, SAVE, RESTORE, EXTRAPOLATE, N_STEPS } driver_step;

typedef struct {
  const glue_call *call;
  SEXP step[N_STEPS];
  int n_shared;
  ptrdiff_t length;
} shards_caller;

/* Returns a copy of the driver's blocks. */
static SEXP shared_of(const shards_caller *at) {
  const SEXP from = Rf_getAttrib(at->call->out, R_NamesSymbol);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, at->n_shared));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, at->n_shared));
  for (int f = 0; f < at->n_shared; f++) {
    SET_VECTOR_ELT(out, f, Rf_duplicate(VECTOR_ELT(at->call->out, f)));
    SET_STRING_ELT(names, f, STRING_ELT(from, f));
  }
  Rf_setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(2);
  return out;
}

/* Evaluates an R call of a step. */
static SEXP take_step(const shards_caller *at, SEXP call) {
  PROTECT(call);
  SEXP out = glue_eval(&at->call->host, call);
  UNPROTECT(1);
  return out;
}

static bool scan_shards(void *ctx, bool evaluate, const double *caps, double *sums) {
  const shards_caller *at = ctx;
  SEXP shared = PROTECT(shared_of(at));
  SEXP held = PROTECT(caps ? glue_new_matrix(caps, at->call->data.m, 1) : R_NilValue);
  SEXP step = at->step[evaluate ? OBJECTIVE : ITERATION];
  SEXP out = PROTECT(take_step(at, Rf_lang3(step, shared, held)));
  const ptrdiff_t length = evaluate ? MC_SHARD_HEAD : at->length;
  const bool done = Rf_isReal(out) && XLENGTH(out) == length;
  if (done) memcpy(sums, REAL(out), (size_t) length * sizeof *sums);
  UNPROTECT(3);
  return done;
}

static SEXP cycles_of(const mc_cycles *cycles) {
  if (!cycles) return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, 4);
  const double values[] = {cycles->accepted, cycles->before, cycles->step_max, cycles->n_small};
  memcpy(REAL(out), values, sizeof values);
  return out;
}

static void save_shards(void *ctx, int which, const mc_cycles *cycles) {
  const shards_caller *at = ctx;
  SEXP shared = PROTECT(shared_of(at)), held = PROTECT(cycles_of(cycles));
  SEXP index = PROTECT(Rf_ScalarInteger(which));
  take_step(at, Rf_lang4(at->step[SAVE], index, held, shared));
  UNPROTECT(3);
}

static void restore_shards(void *ctx, int which) {
  const shards_caller *at = ctx;
  SEXP index = PROTECT(Rf_ScalarInteger(which));
  take_step(at, Rf_lang2(at->step[RESTORE], index));
  UNPROTECT(1);
}

static void extrapolate_shards(void *ctx, double step) {
  const shards_caller *at = ctx;
  SEXP length = PROTECT(Rf_ScalarReal(step));
  take_step(at, Rf_lang2(at->step[EXTRAPOLATE], length));
  UNPROTECT(1);
}

static mc_shards_at shards_at(glue_call *call, int n_shared, ptrdiff_t length) {
  shards_caller *caller = glue_new(call, sizeof *caller);
  *caller = (shards_caller){.call = call, .n_shared = n_shared, .length = length};
  const SEXP steps = glue_field(call->param, "steps");
  const char *names[N_STEPS] = {"iteration", "objective", "save", "restore", "extrapolate"};
  for (int s = 0; s < N_STEPS; s++) {
    caller->step[s] = glue_field(steps, names[s]);
    glue_check(Rf_isFunction(caller->step[s]), names[s]);
  }
  const mc_shards_at at = {scan_shards, save_shards, restore_shards, extrapolate_shards, caller};
  return at;
}

/* Reads list(cycles = see cycles_of(), shared = list of the blocks of theta_0). */
static const mc_go_on *new_go_on(const glue_call *call, const mc_model *model, SEXP go_on) {
  const SEXP cycles = glue_field(go_on, "cycles"), shared = glue_field(go_on, "shared");
  mc_go_on *out = glue_new(call, sizeof *out);
  glue_matrix(cycles, 4, 1, "cycles");
  glue_check(Rf_length(shared) == model->n_block, "shared");
  const double *at = REAL(cycles);
  out->cycles = (mc_cycles){at[0], at[1], at[2], (int) at[3]};
  for (int b = 0; b < model->n_block; b++) {
    const SEXP block = VECTOR_ELT(shared, b);
    glue_check(Rf_isReal(block) && XLENGTH(block) == model->length[b], "shared");
    out->theta_0[b] = REAL(block);
  }
  return out;
}

/* The model of a driver; the caller's functions param$steps give access to the shards. */
static mc_model driver_model(glue_call *call, mc_shards *shards, int n_shared) {
  shards->at = shards_at(call, n_shared, shards->length);
  shards->sums = mc_doubles(&call->host, shards->length, 1);
  mc_model model = mc_shards_model(shards);
  const SEXP go_on = glue_field(call->param, "go_on");
  if (!Rf_isNull(go_on)) model.go_on = new_go_on(call, &model, go_on);
  return model;
}

typedef struct {
  const glue_sum_recipe *recipe;
  SEXP view, param, prior, control, out;
} sum_arguments;

static SEXP fit_sums(const sum_arguments *arg, glue_call *call, mc_model *model) {
  SET_VECTOR_ELT(arg->out, arg->recipe->n_shared + arg->recipe->has_rows,
                 glue_fit(model, &call->ctl, &call->host));
  return arg->out;
}

static SEXP fit_whole(const sum_arguments *arg, glue_call *call) {
  const glue_sum_recipe *recipe = arg->recipe;
  mc_shards shards;
  mc_model model;
  if (recipe->whole) {
    model = recipe->whole(call);
  } else {
    shards = recipe->model(call);
    model = mc_whole_model(&shards, &call->host);
  }
  fit_sums(arg, call, &model);
  if (recipe->finish) recipe->finish(call, recipe->whole ? &model : &shards.shared);
  return arg->out;
}

static SEXP fit_shard(const sum_arguments *arg, glue_call *call) {
  const int rows = arg->recipe->n_shared; /* index of the field of the rows' parameters */
  const mc_shards shards = arg->recipe->model(call);
  if (!arg->recipe->has_rows) return scan_shard(call, &shards, R_NilValue, R_NilValue);
  const SEXP from = glue_field(arg->param, arg->recipe->fields[rows]);
  return scan_shard(call, &shards, from, VECTOR_ELT(arg->out, rows));
}

static SEXP fit_driver(const sum_arguments *arg, glue_call *call) {
  mc_shards shards = arg->recipe->model(call);
  mc_model model = driver_model(call, &shards, arg->recipe->n_shared);
  return fit_sums(arg, call, &model);
}

/* The three kinds of calls of glue_sum_model(). */
typedef enum { OF_TABLE, OF_SHARD, OF_DRIVER } sum_job;

static sum_job job_of(SEXP param) {
  if (!Rf_isNull(glue_field(param, "evaluate"))) return OF_SHARD;
  return Rf_isNull(glue_field(param, "steps")) ? OF_TABLE : OF_DRIVER;
}

static SEXP sum_body(void *ctx) {
  const sum_arguments *arg = ctx;
  glue_context context;
  glue_call call = {.param = arg->param, .prior = arg->prior, .out = arg->out};
  call.data = glue_data(arg->view);
  call.ctl = glue_control(arg->control);
  call.host = glue_host(&context, arg->control);
  switch (job_of(arg->param)) {
    case OF_SHARD: return fit_shard(arg, &call);
    case OF_DRIVER: return fit_driver(arg, &call);
    case OF_TABLE: break;
  }
  return fit_whole(arg, &call);
}

SEXP glue_sum_model(const glue_sum_recipe *recipe, SEXP view, SEXP param, SEXP prior,
                    SEXP control) {
  SEXP out = PROTECT(glue_result(recipe->fields, param, recipe->n_shared + recipe->has_rows));
  sum_arguments arg = {recipe, view, param, prior, control, out};
  out = glue_serial_blas(sum_body, &arg);
  UNPROTECT(1);
  return out;
}
