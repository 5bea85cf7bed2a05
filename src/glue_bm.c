#include "glue_smooth.h"
#include "model_bm.h"

#include <string.h>

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

/* c(one, zero, weights): pseudo-counts. */
static bm_prior prior_of(SEXP prior) {
  glue_matrix(prior, 3, 1, "prior");
  const bm_prior out = {REAL(prior)[0], REAL(prior)[1], REAL(prior)[2]};
  glue_check(out.one >= 0 && out.zero >= 0 && out.weights >= 0, "prior");
  return out;
}

static SEXP copy_of(const double *from, int n_row, int n_column) {
  SEXP out = Rf_allocMatrix(REALSXP, n_row, n_column);
  memcpy(REAL(out), from, (size_t) n_row * (size_t) n_column * sizeof(double));
  return out;
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  const bm_prior prior = prior_of(arg->prior);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  bm_param par = {.k = Rf_length(VECTOR_ELT(arg->out, 0)),
                  .weights = REAL(VECTOR_ELT(arg->out, 0)),
                  .prototypes = REAL(VECTOR_ELT(arg->out, 1))};
  par.smooth =
      glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, NULL, ctl.n_threads, &host);
  if (par.smooth) {
    SET_VECTOR_ELT(arg->out, 2, Rf_duplicate(glue_field(arg->param, "membership")));
    glue_matrix(VECTOR_ELT(arg->out, 2), data.n, par.k, "membership");
    par.membership = REAL(VECTOR_ELT(arg->out, 2));
  }
  bm_self self = {&data, &par, bm_new_work(&data, &prior, &par, &host)};
  mc_model model = bm_model(&self);
  SET_VECTOR_ELT(arg->out, 4, glue_fit(&model, &ctl, &host));
  if (!par.smooth) SET_VECTOR_ELT(arg->out, 2, copy_of(bm_posterior(self.work), data.n, par.k));
  if (!par.smooth) SET_VECTOR_ELT(arg->out, 3, copy_of(bm_row_loglik(self.work), data.n, 1));
  return arg->out;
}

/*
 * param: list(weights = k, prototypes = k x m) and, with neighbours, membership = n x k and smooth;
 * max_pass = 0 is the E-step alone.
 */
SEXP mc_c_bm_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"weights", "prototypes", "membership", "row_loglik", "outcome", ""};
  const SEXP weights = glue_field(param, "weights"), prototypes = glue_field(param, "prototypes");
  const mc_data data = glue_data(view);
  glue_matrix(weights, 1, Rf_length(weights), "weights");
  glue_matrix(prototypes, Rf_length(weights), data.m, "prototypes");
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
