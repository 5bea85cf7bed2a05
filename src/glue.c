#include "glue.h"

#include <string.h>
#include <time.h>

void glue_check(bool ok, const char *what) {
  if (!ok) Rf_error("internal error in multicause: %s", what);
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
  glue_check(Rf_isInteger(start) && XLENGTH(start) == data.n + 1, "start of the data view");
  glue_check(Rf_isInteger(column) && XLENGTH(column) == INTEGER(start)[data.n],
             "column of the data view");
  data.start = INTEGER(start);
  data.column = INTEGER(column);
  if (!Rf_isNull(value)) {
    glue_check(Rf_isReal(value) && XLENGTH(value) == XLENGTH(column), "value of the data view");
    data.value = REAL(value);
  }
  if (!Rf_isNull(na_start)) {
    glue_check(Rf_isInteger(na_start) && XLENGTH(na_start) == data.n + 1,
               "na_start of the data view");
    glue_check(Rf_isInteger(na_column) && XLENGTH(na_column) == INTEGER(na_start)[data.n],
               "na_column of the data view");
    data.na_start = INTEGER(na_start);
    data.na_column = INTEGER(na_column);
  }
  return data;
}

mc_control glue_control(SEXP control) {
  mc_control ctl;
  ctl.max_pass = Rf_asInteger(glue_field(control, "max_pass"));
  ctl.tol = Rf_asReal(glue_field(control, "tol"));
  ctl.accelerate = Rf_asLogical(glue_field(control, "accelerate")) == TRUE;
  ctl.n_threads = Rf_asInteger(glue_field(control, "n_threads"));
  glue_check(ctl.max_pass >= 0 && ctl.tol >= 0 && ctl.n_threads >= 1, "control");
  return ctl;
}

static void *host_alloc(void *ctx, size_t count, size_t size) {
  (void) ctx;
  void *memory = R_alloc(count ? count : 1, (int) size);
  memset(memory, 0, count * size);
  return memory;
}

static double seconds_now(void) {
  struct timespec now;
  (void) timespec_get(&now, TIME_UTC);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static void look_for_interrupt(void *unused) {
  (void) unused;
  R_CheckUserInterrupt();
}

#define LOOK_EVERY 0.02 /* seconds */

/* R is asked inside R_ToplevelExec() or R_tryEvalSilent(): an interrupt or error comes back false. */
static int host_tick(void *ctx, int pass, double objective) {
  glue_context *context = ctx;
  const double now = seconds_now();
  if (context->stopped) return 1;
  if (now - context->last_look < LOOK_EVERY) return 0;
  context->last_look = now;
  if (!R_ToplevelExec(look_for_interrupt, NULL)) context->stopped = true;
  if (!context->stopped && Rf_isFunction(context->progress)) {
    SEXP call = PROTECT(Rf_lang3(context->progress, Rf_ScalarInteger(pass), R_NilValue));
    SETCADDR(call, Rf_ScalarReal(objective));
    int failed = 0;
    R_tryEvalSilent(call, R_GlobalEnv, &failed);
    if (failed) context->stopped = true;
    UNPROTECT(1);
  }
  return context->stopped;
}

mc_host glue_host(glue_context *context, SEXP control) {
  context->last_look = seconds_now();
  context->progress = glue_field(control, "on_tick");
  context->stopped = false;
  const mc_host host = {.alloc = host_alloc, .tick = host_tick, .ctx = context};
  return host;
}

void glue_end_stopped(const mc_host *host) {
  const glue_context *context = host->ctx;
  if (!context->stopped) return;
  SEXP home = PROTECT(R_FindNamespace(PROTECT(Rf_mkString("multicause"))));
  Rf_eval(PROTECT(Rf_lang1(Rf_install("signal_interrupt"))), home);
  UNPROTECT(3); /* not reached: the interrupt jumps */
}

/* list(status, n_pass, trace, objective) */
static SEXP outcome(mc_status status, const mc_trace *trace) {
  const char *names[] = {"status", "n_pass", "trace", "objective", ""};
  const char *word = NULL;
  switch (status) {
    case MC_CONVERGED: word = "converged"; break;
    case MC_MAX_PASS: word = "max_pass"; break;
    case MC_ERR_NOT_START: word = "impossible_start"; break;
    case MC_ERR_NOT_FINITE: word = "not_finite"; break;
    case MC_STOPPED: break; /* glue_end_stopped() came first */
  }
  glue_check(word != NULL, "status");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_mkString(word));
  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(trace->n_pass));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, trace->n_pass));
  memcpy(REAL(VECTOR_ELT(out, 2)), trace->objective, (size_t) trace->n_pass * sizeof(double));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(trace->final));
  UNPROTECT(1);
  return out;
}

SEXP glue_fit(mc_model *model, const mc_control *ctl, const mc_host *host) {
  mc_trace trace = {0};
  trace.objective = host_alloc(NULL, (size_t) ctl->max_pass, sizeof(double));
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

SEXP mc_c_blas_threads(SEXP n) {
  const int before = num_blas_threads();
  num_set_blas_threads(Rf_asInteger(n));
  return Rf_ScalarInteger(before);
}
