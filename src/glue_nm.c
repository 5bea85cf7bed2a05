#include "glue.h"
#include "model_nm.h"

typedef struct {
  SEXP view, param, control, out;
} arguments;

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  nm_param par = {.k = Rf_nrows(VECTOR_ELT(arg->out, 0)),
                  .coefficients = REAL(VECTOR_ELT(arg->out, 0)),
                  .basis = REAL(VECTOR_ELT(arg->out, 1)),
                  .loss = Rf_asLogical(glue_field(arg->param, "kl")) == TRUE ? NM_KL : NM_EUCLIDEAN,
                  .multiplicative = !ctl.accelerate,
                  .fixed_basis = Rf_asLogical(glue_field(arg->param, "fixed_basis")) == TRUE};
  nm_self self = {&data, &par, nm_new_work(&data, par.k, ctl.n_threads, &host)};
  mc_model model = nm_model(&self);
  SET_VECTOR_ELT(arg->out, 2, glue_fit(&model, &ctl, &host));
  SET_VECTOR_ELT(arg->out, 3, Rf_ScalarReal(nm_residual(self.work)));
  return arg->out;
}

/* param: list(coefficients = k x n, basis = k x m, kl = flag, fixed_basis = flag). */
SEXP mc_c_nm_fit(SEXP view, SEXP param, SEXP control) {
  const char *fields[] = {"coefficients", "basis", "outcome", "residual", ""};
  const SEXP coefficients = glue_field(param, "coefficients"), basis = glue_field(param, "basis");
  const mc_data data = glue_data(view);
  glue_matrix(coefficients, Rf_nrows(coefficients), data.n, "coefficients");
  glue_matrix(basis, Rf_nrows(coefficients), data.m, "basis");
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
