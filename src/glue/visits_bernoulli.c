#include "glue/aspect_bernoulli.h"
#include "visits_bernoulli/em.h"

typedef struct {
  SEXP cell, param, prior, control, out;
} arguments;

/* cell: n x m x visits integers, NA where there was no visit. */
static ab_visit_data data_of(SEXP cell) {
  const SEXP dim = Rf_getAttrib(cell, R_DimSymbol);
  glue_check(Rf_isInteger(cell) && XLENGTH(dim) == 3, "visits");
  const ab_visit_data out = {INTEGER(dim)[0], INTEGER(dim)[1], INTEGER(dim)[2], INTEGER(cell)};
  return out;
}

/* list(membership, aspects, missed, added, missed_by = 0 to 2, fit_added), checked; points in. */
static ab_visit_param param_of(SEXP param, const ab_visit_data *data) {
  const int rows[] = {data->n, data->m, 1};
  const SEXP membership = glue_field(param, "membership"), aspects = glue_field(param, "aspects");
  const SEXP missed = glue_field(param, "missed"), added = glue_field(param, "added");
  const int by = Rf_asInteger(glue_field(param, "missed_by"));
  ab_visit_param par = {.ab = {.k = Rf_ncols(membership)}};
  glue_check(by >= 0 && by <= 2, "missed_by");
  glue_matrix(membership, data->n, par.ab.k, "membership");
  glue_matrix(aspects, par.ab.k, data->m, "aspects");
  glue_matrix(missed, rows[by], data->n_visit, "missed");
  glue_matrix(added, 1, data->n_visit, "added");
  par.ab.membership = REAL(membership);
  par.ab.aspects = REAL(aspects);
  par.missed_by = (ab_missed_by) by;
  par.missed = REAL(missed);
  par.added = REAL(added);
  par.fit_added = Rf_asLogical(glue_field(param, "fit_added")) == TRUE;
  return par;
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  const mc_control ctl = glue_control(arg->control);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  ab_visit_param par = param_of(VECTOR_ELT(arg->out, 0), &data);
  const ab_prior prior = glue_ab_prior(arg->prior, par.ab.k, false);
  ab_visit_self self = {&data, &par, ab_visits_new_work(&data, &par, &prior, ctl.n_threads, &host)};
  mc_model model = ab_visits_model(&self);
  SET_VECTOR_ELT(arg->out, 1, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* list(param, outcome) */
SEXP mc_c_ab_visits_fit(SEXP cell, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"param", "outcome", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_duplicate(param));
  arguments arg = {cell, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP posterior_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  ab_visit_param par = param_of(arg->param, &data);
  const ab_prior none = ab_no_prior(par.ab.k, &host);
  ab_visits_posterior(&data, &par, ab_visits_new_work(&data, &par, &none, 1, &host),
                      REAL(arg->out));
  glue_end_stopped(&host);
  return arg->out;
}

/* n x m: the probability of a presence given all visits. */
SEXP mc_c_ab_visits_posterior(SEXP cell, SEXP param) {
  const ab_visit_data data = data_of(cell);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, data.n, data.m));
  arguments arg = {cell, param, R_NilValue, R_NilValue, out};
  glue_serial_blas(posterior_body, &arg);
  UNPROTECT(1);
  return out;
}
