#include <string.h>

#include "glue_smooth.h"
#include "model_plsa.h"

typedef struct {
  SEXP view, param, prior, control, out;
} arguments;

/* list(membership = n or 0 strengths, basis = strength, rule = num_entropic_rule) */
static plsa_prior prior_of(SEXP prior, const mc_data *data) {
  const SEXP membership = glue_field(prior, "membership");
  const int rule = Rf_asInteger(glue_field(prior, "rule"));
  plsa_prior out = {.basis = Rf_asReal(glue_field(prior, "basis"))};
  glue_check(rule >= NUM_CCCP && rule <= NUM_FIRST, "rule");
  out.rule = (num_entropic_rule) rule;
  if (Rf_length(membership) > 0) {
    glue_matrix(membership, data->n, 1, "membership prior");
    out.membership = REAL(membership);
  }
  return out;
}

/*
 * Which passes: coordinate descent where asked for, legal (no prior, no
 * missing cell) and accelerated; else EM passes.
 */
static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const mc_data data = glue_data(arg->view);
  const mc_control ctl = glue_control(arg->control);
  const plsa_prior prior = prior_of(arg->prior, &data);
  const int mask = Rf_asInteger(glue_field(arg->param, "mask"));
  const bool descend = Rf_asLogical(glue_field(arg->param, "coordinate_descent")) == TRUE;
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  plsa_param par = {.k = Rf_ncols(VECTOR_ELT(arg->out, 0)),
                    .membership = REAL(VECTOR_ELT(arg->out, 0)),
                    .basis = REAL(VECTOR_ELT(arg->out, 1)),
                    .fixed_basis = Rf_asLogical(glue_field(arg->param, "fixed_basis")) == TRUE};
  glue_check(mask == PLSA_CONDITIONAL || mask == PLSA_PAPER, "mask");
  par.smooth =
      glue_smooth(glue_field(arg->param, "smooth"), data.n, par.k, NULL, ctl.n_threads, &host);
  const bool plain = !data.na_start && !prior.membership && prior.basis == 0 && !par.smooth;
  glue_check(!descend || plain, "descent");
  plsa_self self = {&data, &par, NULL, NULL};
  self.work = plsa_new_work(&data, &prior, (plsa_mask) mask, par.k, ctl.n_threads, &host);
  if (descend) self.cd = plsa_new_cd(&data, par.k, ctl.n_threads, &host);
  mc_model model = plsa_model(&self);
  SET_VECTOR_ELT(arg->out, 2, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* param: list(membership = n x k, basis = k x m, fixed_basis, mask, coordinate_descent, smooth). */
SEXP mc_c_plsa_fit(SEXP view, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"membership", "basis", "outcome", ""};
  const SEXP membership = glue_field(param, "membership"), basis = glue_field(param, "basis");
  const mc_data data = glue_data(view);
  glue_matrix(membership, data.n, Rf_ncols(membership), "membership");
  glue_matrix(basis, Rf_ncols(membership), data.m, "basis");
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {view, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}
