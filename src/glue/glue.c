#include "glue/glue.h"
#include "num/system.h"
#include "num/threads.h"

#include <R_ext/Random.h>
#include <stdint.h>
#include <string.h>

void glue_check(bool ok, const char *what) {
  if (!ok) Rf_error("internal error in multicause: %s", what);
}

int glue_threads(SEXP n_threads) {
  const double threads = Rf_asReal(n_threads);
  glue_check(threads >= 1 && threads <= INT_MAX, "n_threads");
  return (int) threads;
}

void glue_matrix(SEXP x, int n_row, int n_column, const char *name) {
  if (!Rf_isReal(x) || XLENGTH(x) != (R_xlen_t) n_row * n_column)
    Rf_error("internal error in multicause: %s is not a %d x %d double matrix", name, n_row,
             n_column);
}

SEXP glue_field(SEXP list, const char *name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  return R_NilValue;
}

void glue_lists(SEXP start, SEXP index, int n, int n_index, const char *name) {
  glue_check(Rf_isInteger(start) && XLENGTH(start) == (R_xlen_t) n + 1, name);
  glue_check(Rf_isInteger(index), name);
  const int *from = INTEGER(start), *at = INTEGER(index);
  bool valid = from[0] == 0 && from[n] == XLENGTH(index);
  for (int i = 0; i < n; i++) valid &= from[i + 1] >= from[i];
  for (R_xlen_t e = 0; e < XLENGTH(index); e++) valid &= at[e] >= 0 && at[e] < n_index;
  glue_check(valid, name);
}

int glue_probe(SEXP plan, int n, int m, const int **probe) {
  const SEXP cells = glue_field(plan, "probe");
  glue_check(Rf_isInteger(cells) && XLENGTH(cells) % 2 == 0, "probe");
  *probe = INTEGER(cells);
  for (R_xlen_t e = 0; e < XLENGTH(cells); e++)
    glue_check((*probe)[e] >= 0 && (*probe)[e] < (e % 2 ? m : n), "probe");
  return (int) (XLENGTH(cells) / 2);
}

SEXP glue_new_matrix(const double *from, int n_row, int n_column) {
  SEXP out = Rf_allocMatrix(REALSXP, n_row, n_column);
  if (XLENGTH(out) > 0) memcpy(REAL(out), from, (size_t) XLENGTH(out) * sizeof(double));
  return out;
}

double *glue_zeros(SEXP out, int field, R_xlen_t length) {
  SET_VECTOR_ELT(out, field, Rf_allocVector(REALSXP, length));
  double *values = REAL(VECTOR_ELT(out, field));
  if (length > 0) memset(values, 0, (size_t) length * sizeof(double));
  return values;
}

SEXP glue_result(const char **fields, SEXP param, int n_copied) {
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int f = 0; f < n_copied; f++)
    SET_VECTOR_ELT(out, f, Rf_duplicate(glue_field(param, fields[f])));
  UNPROTECT(1);
  return out;
}

mc_data glue_data(SEXP view) {
  const SEXP dim = glue_field(view, "dim"), start = glue_field(view, "start");
  const SEXP column = glue_field(view, "column"), value = glue_field(view, "value");
  const SEXP na_start = glue_field(view, "na_start"), na_column = glue_field(view, "na_column");
  glue_check(Rf_isInteger(dim) && XLENGTH(dim) == 2, "dim of the data view");
  mc_data data = {.n = INTEGER(dim)[0], .m = INTEGER(dim)[1]};
  glue_check(Rf_isInteger(start) && XLENGTH(start) == (R_xlen_t) data.n + 1,
             "start of the data view");
  glue_check(Rf_isInteger(column) && XLENGTH(column) == INTEGER(start)[data.n],
             "column of the data view");
  data.start = INTEGER(start);
  data.column = INTEGER(column);
  if (!Rf_isNull(value)) {
    glue_check(Rf_isReal(value) && XLENGTH(value) == XLENGTH(column), "value of the data view");
    data.value = REAL(value);
  }
  if (!Rf_isNull(na_start)) {
    glue_check(Rf_isInteger(na_start) && XLENGTH(na_start) == (R_xlen_t) data.n + 1,
               "na_start of the data view");
    glue_check(Rf_isInteger(na_column) && XLENGTH(na_column) == INTEGER(na_start)[data.n],
               "na_column of the data view");
    data.na_start = INTEGER(na_start);
    data.na_column = INTEGER(na_column);
  }
  return data;
}

static mc_algorithm algorithm_of(SEXP word) {
  if (!Rf_isString(word) || XLENGTH(word) != 1) return MC_EM;
  const char *name = CHAR(STRING_ELT(word, 0));
  if (strcmp(name, "newton") == 0) return MC_NEWTON;
  if (strcmp(name, "line") == 0) return MC_LINE;
  return strcmp(name, "sparse") == 0 ? MC_SPARSE : MC_EM;
}

mc_control glue_control(SEXP control) {
  mc_control ctl;
  ctl.max_iter = Rf_asInteger(glue_field(control, "max_iter"));
  ctl.tol = Rf_asReal(glue_field(control, "tol"));
  ctl.accelerate = Rf_asLogical(glue_field(control, "accelerate")) == TRUE;
  ctl.n_threads = Rf_asInteger(glue_field(control, "n_threads"));
  ctl.algorithm = algorithm_of(glue_field(control, "algorithm"));
  glue_check(ctl.max_iter >= 0 && ctl.tol >= 0 && ctl.n_threads >= 1, "control");
  return ctl;
}

static void *host_alloc(void *ctx, size_t count, size_t size) {
  (void) ctx;
  glue_check(size == 0 || count <= PTRDIFF_MAX / size, "size of the memory asked for");
  void *memory = R_alloc(count * size + 1, 1); /* R_alloc() takes a size_t and an int */
  memset(memory, 0, count * size);
  return memory;
}

typedef struct {
  glue_context *context;
  int pass;
  double objective;
} host_call;

static SEXP ask_host(void *ctx) {
  const host_call *at = ctx;
  R_CheckUserInterrupt();
  if (Rf_isFunction(at->context->progress)) {
    SEXP pass = PROTECT(Rf_ScalarInteger(at->pass));
    SEXP objective = PROTECT(Rf_ScalarReal(at->objective));
    Rf_eval(PROTECT(Rf_lang3(at->context->progress, pass, objective)), R_GlobalEnv);
    UNPROTECT(3);
  }
  return R_NilValue;
}

static SEXP note_condition(SEXP condition, void *ctx) {
  glue_context *context = *(glue_context *const *) ctx; /* first member of the structs passed to
                                                           catch_conditions() */
  context->stopped = true;
  if (Rf_inherits(condition, "error")) {
    R_PreserveObject(condition);
    context->error = condition;
  }
  return R_NilValue;
}

/* Returns body(ctx); R_NilValue if a condition was caught. */
static SEXP catch_conditions(SEXP (*body)(void *), void *ctx) {
  SEXP classes = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(classes, 0, Rf_mkChar("interrupt"));
  SET_STRING_ELT(classes, 1, Rf_mkChar("error"));
  SEXP out = R_tryCatch(body, ctx, classes, note_condition, ctx, NULL, NULL);
  UNPROTECT(1);
  return out;
}

static void ask_and_catch(void *ctx) { catch_conditions(ask_host, ctx); }

/* R code evaluated in the call may draw random numbers. The generator's state is restored, so the
 * sampler's draws are unaffected. */
static Rboolean ask_beside_draws(host_call *at) {
  const SEXP name = Rf_install(".Random.seed");
  PutRNGstate();
  SEXP state = PROTECT(Rf_duplicate(PROTECT(Rf_eval(name, R_GlobalEnv))));
  const Rboolean done = R_ToplevelExec(ask_and_catch, at);
  Rf_defineVar(name, state, R_GlobalEnv);
  GetRNGstate();
  UNPROTECT(2);
  return done;
}

#define ASK_EVERY 0.02 /* seconds */

/* R_ToplevelExec() catches all other jumps out of the kernel: it then returns false. */
static int host_tick(void *ctx, int pass, double objective) {
  glue_context *context = ctx;
  const double now = num_seconds();
  if (context->stopped) return 1;
  if (now - context->last_asked < ASK_EVERY) return 0;
  context->last_asked = now;
  host_call at = {context, pass, objective};
  const Rboolean done = context->draws ? ask_beside_draws(&at) : R_ToplevelExec(ask_and_catch, &at);
  if (!done) context->stopped = true;
  return context->stopped;
}

typedef struct {
  glue_context *context;
  SEXP call, value;
} eval_call;

static SEXP eval_in_base(void *ctx) { return Rf_eval(((const eval_call *) ctx)->call, R_BaseEnv); }

static void eval_and_catch(void *ctx) {
  ((eval_call *) ctx)->value = catch_conditions(eval_in_base, ctx);
}

SEXP glue_eval(const mc_host *host, SEXP call) {
  glue_context *context = host->ctx;
  eval_call at = {context, call, R_NilValue};
  if (context->stopped) return R_NilValue;
  if (!R_ToplevelExec(eval_and_catch, &at)) context->stopped = true;
  return context->stopped ? R_NilValue : at.value;
}

mc_host glue_host(glue_context *context, SEXP control) {
  context->last_asked = num_seconds();
  context->progress = glue_field(control, "on_tick");
  context->error = NULL;
  context->stopped = context->draws = false;
  const mc_host host = {.alloc = host_alloc, .tick = host_tick, .ctx = context};
  return host;
}

void glue_end_failed(const mc_host *host) {
  glue_context *context = host->ctx;
  if (!context->error) return;
  SEXP error = PROTECT(context->error);
  R_ReleaseObject(error);
  context->error = NULL;
  Rf_eval(PROTECT(Rf_lang2(Rf_install("stop"), error)), R_BaseEnv);
  UNPROTECT(2); /* not reached: the error jumps */
}

void glue_end_stopped(const mc_host *host) {
  const glue_context *context = host->ctx;
  glue_end_failed(host);
  if (!context->stopped) return;
  SEXP home = PROTECT(R_FindNamespace(PROTECT(Rf_mkString("multicause"))));
  Rf_eval(PROTECT(Rf_lang1(Rf_install("signal_interrupt"))), home);
  UNPROTECT(3); /* not reached: the interrupt jumps */
}

void glue_scan(const num_strips *strips, num_scanner scan, void *ctx) {
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  mc_scan(&host, 0, 0, strips, scan, ctx);
  glue_end_stopped(&host);
}

static SEXP outcome(mc_status status, const mc_trace *trace) {
  const char *names[] = {"status", "n_iter", "trace", "objective", ""};
  const char *word = NULL;
  switch (status) {
    case MC_CONVERGED: word = "converged"; break;
    case MC_MAX_PASS: word = "max_iter"; break;
    case MC_ERR_NOT_START: word = "impossible_start"; break;
    case MC_ERR_NOT_FINITE: word = "not_finite"; break;
    case MC_STOPPED: /* handled by glue_end_stopped() */
    case MC_GO_ON: break;
  }
  glue_check(word != NULL, "status");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_mkString(word));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(trace->n_iter));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, trace->n_iter));
  if (trace->n_iter > 0)
    memcpy(REAL(VECTOR_ELT(out, 2)), trace->objective, (size_t) trace->n_iter * sizeof(double));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(trace->final));
  UNPROTECT(1);
  return out;
}

SEXP glue_fit(mc_model *model, const mc_control *ctl, const mc_host *host) {
  mc_trace trace = {0};
  const mc_status status = mc_fit(model, ctl, host, &trace);
  glue_end_stopped(host);
  return outcome(status, &trace);
}

static void restore_blas(void *threads, Rboolean jump) {
  (void) jump;
  num_set_blas_threads(*(const int *) threads);
}

SEXP glue_serial_blas(SEXP (*body)(void *), void *data) {
  int threads = num_blas_threads();
  SEXP token = PROTECT(R_MakeUnwindCont());
  num_set_blas_threads(1);
  SEXP out = R_UnwindProtect(body, data, restore_blas, &threads, token);
  UNPROTECT(1);
  return out;
}

SEXP glue_sample(SEXP (*body)(void *), void *data) {
  GetRNGstate();
  SEXP out = PROTECT(glue_serial_blas(body, data));
  PutRNGstate();
  UNPROTECT(1);
  return out;
}

typedef struct {
  const glue_recipe *recipe;
  SEXP view, param, prior, control, out;
} fit_arguments;

static SEXP fit_body(void *ctx) {
  const fit_arguments *arg = ctx;
  glue_context context;
  glue_call call = {.param = arg->param, .prior = arg->prior, .out = arg->out};
  call.data = glue_data(arg->view);
  call.ctl = glue_control(arg->control);
  call.host = glue_host(&context, arg->control);
  mc_model model = arg->recipe->model(&call);
  SET_VECTOR_ELT(arg->out, arg->recipe->n_copied, glue_fit(&model, &call.ctl, &call.host));
  if (arg->recipe->finish) arg->recipe->finish(&call, &model);
  return arg->out;
}

SEXP glue_fit_model(const glue_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control) {
  SEXP out = PROTECT(glue_result(recipe->fields, param, recipe->n_copied));
  fit_arguments arg = {recipe, view, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

double *glue_param(const glue_call *call, int field, int n_row, int n_column) {
  const SEXP x = VECTOR_ELT(call->out, field);
  const SEXP names = Rf_getAttrib(call->out, R_NamesSymbol);
  glue_matrix(x, n_row, n_column, CHAR(STRING_ELT(names, field)));
  return REAL(x);
}

void *glue_new(const glue_call *call, size_t size) {
  return call->host.alloc(call->host.ctx, 1, size);
}

SEXP mc_c_memory(void) {
  const double bytes = num_memory();
  return Rf_ScalarReal(bytes > 0 ? bytes : NA_REAL);
}

/*
 * R's heap grows by a fifth at a time, each after a full collection. Allocating a vector of
 * `bytes`, which is never written, makes it grow at once; the vector is freed by the next
 * collection.
 */
SEXP mc_c_make_room(SEXP bytes) {
  const double size = Rf_asReal(bytes);
  glue_check(size >= 0 && size <= INT_MAX, "bytes");
  Rf_allocVector(RAWSXP, (R_xlen_t) size);
  return R_NilValue;
}
