#include "glue.h"
#include "model_bm.h"

typedef struct {
  SEXP view, param, control, out;
} arguments;

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  mc_trace trace = glue_new_trace(&ctl);
  bm_param par = {.k = Rf_length(VECTOR_ELT(arg->out, 0)),
                  .weights = REAL(VECTOR_ELT(arg->out, 0)),
                  .prototypes = REAL(VECTOR_ELT(arg->out, 1)),
                  .floor = Rf_asReal(glue_field(arg->param, "floor"))};
  bm_self self = {&data, &par, bm_new_work(&data, par.k, &host)};
  mc_model model = bm_model(&self);
  SET_VECTOR_ELT(arg->out, 3, glue_outcome(mc_fit(&model, &ctl, &host, &trace), &trace));
  SET_VECTOR_ELT(arg->out, 2, Rf_allocMatrix(REALSXP, data.n, par.k));
  memcpy(REAL(VECTOR_ELT(arg->out, 2)), bm_posterior(self.work),
         (size_t) data.n * (size_t) par.k * sizeof(double));
  return arg->out;
}

/* param: list(weights = k, prototypes = k x m, floor = number). */
SEXP mc_c_bm_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"weights", "prototypes", "membership", "outcome", ""};
  const SEXP weights = glue_field(param, "weights"), prototypes = glue_field(param, "prototypes");
  const mc_data data = glue_data(view);
  glue_matrix(weights, 1, Rf_length(weights), "weights");
  glue_matrix(prototypes, Rf_length(weights), data.m, "prototypes");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_duplicate(weights));
  SET_VECTOR_ELT(out, 1, Rf_duplicate(prototypes));
  arguments arg = {view, param, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
