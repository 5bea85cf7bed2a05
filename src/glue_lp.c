#include "glue.h"
#include "model_lp.h"

typedef struct {
  SEXP view, param, control, out;
} arguments;

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  lp_param par = {.k = Rf_nrows(VECTOR_ELT(arg->out, 0)),
                  .scores = REAL(VECTOR_ELT(arg->out, 0)),
                  .loadings = REAL(VECTOR_ELT(arg->out, 1)),
                  .penalty = Rf_asReal(glue_field(arg->param, "penalty")),
                  .fixed_loadings = Rf_asLogical(glue_field(arg->param, "fixed_loadings")) == TRUE};
  glue_check(par.penalty >= 0, "penalty");
  lp_self self = {&data, &par, lp_new_work(&data, par.k, ctl.n_threads, &host)};
  mc_model model = lp_model(&self);
  SET_VECTOR_ELT(arg->out, 2, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* param: list(scores = k x n, loadings = (k + 1) x m, penalty = number, fixed_loadings = flag). */
SEXP mc_c_lp_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"scores", "loadings", "outcome", ""};
  const SEXP scores = glue_field(param, "scores"), loadings = glue_field(param, "loadings");
  const mc_data data = glue_data(view);
  glue_matrix(scores, Rf_nrows(scores), data.n, "scores");
  glue_matrix(loadings, Rf_nrows(scores) + 1, data.m, "loadings");
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
