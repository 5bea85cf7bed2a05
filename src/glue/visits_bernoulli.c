#include <string.h>

#include "glue/aspect_bernoulli.h"
#include "glue/smooth.h"
#include "visits_bernoulli/gibbs.h"
#include "visits_bernoulli/inform.h"
#include "visits_bernoulli/newton.h"

typedef struct {
  SEXP cell, param, prior, control, out;
} arguments;

/* cell: n x m x visits integers, NA without a visit. */
static ab_visit_data data_of(SEXP cell) {
  const SEXP dim = Rf_getAttrib(cell, R_DimSymbol);
  glue_check(Rf_isInteger(cell) && XLENGTH(dim) == 3, "visits");
  const ab_visit_data out = {INTEGER(dim)[0], INTEGER(dim)[1], INTEGER(dim)[2], INTEGER(cell)};
  return out;
}

/* Reads list(design = d x (n n_visit), mean = d x m, ridge = d) and the slopes. */
static ab_detection detection_of(SEXP model, SEXP slopes, const ab_visit_data *data) {
  const SEXP design = glue_field(model, "design"), mean = glue_field(model, "mean");
  const SEXP ridge = glue_field(model, "ridge");
  const int d = (int) XLENGTH(ridge);
  glue_check(Rf_isReal(design) && XLENGTH(design) == (R_xlen_t) d * data->n * data->n_visit,
             "design");
  glue_matrix(mean, d, data->m, "mean");
  glue_matrix(ridge, 1, d, "ridge");
  glue_matrix(slopes, d, data->m, "slopes");
  const ab_detection by = {d, REAL(design), REAL(slopes), REAL(mean), REAL(ridge)};
  return by;
}

/* NULL, or list(design = d x n, ridge), and the effects. */
static num_multinomial communities_of(SEXP model, SEXP effects, int n, int k) {
  num_multinomial by = {0};
  if (Rf_isNull(model)) return by;
  by.d = Rf_nrows(glue_field(model, "design"));
  glue_matrix(glue_field(model, "design"), by.d, n, "design");
  glue_matrix(effects, by.d, k, "effects");
  by.design = REAL(glue_field(model, "design"));
  by.effects = REAL(effects);
  by.ridge = Rf_asReal(glue_field(model, "ridge"));
  return by;
}

/*
 * Reads and checks list(membership, aspects, missed, added, missed_by = 0 to 3, fit_added); the
 * result points into it. With a model (3), slopes and detection replace missed. Covariates of
 * memberships: communities and effects. fixed: only memberships are estimated.
 */
static ab_visit_param param_of(SEXP param, const ab_visit_data *data) {
  const int rows[] = {data->n, data->m, 1, 0};
  const SEXP membership = glue_field(param, "membership"), aspects = glue_field(param, "aspects");
  const SEXP missed = glue_field(param, "missed"), added = glue_field(param, "added");
  const int by = Rf_asInteger(glue_field(param, "missed_by"));
  ab_visit_param par = {.ab = {.k = Rf_ncols(membership)}};
  glue_check(by >= 0 && by <= MISSED_BY_MODEL, "missed_by");
  glue_check(par.ab.k >= 1, "k");
  glue_matrix(membership, data->n, par.ab.k, "membership");
  glue_matrix(aspects, par.ab.k, data->m, "aspects");
  if (by != MISSED_BY_MODEL) glue_matrix(missed, rows[by], data->n_visit, "missed");
  glue_matrix(added, 1, data->n_visit, "added");
  par.ab.membership = REAL(membership);
  par.ab.aspects = REAL(aspects);
  par.missed_by = (ab_missed_by) by;
  if (by == MISSED_BY_MODEL)
    par.detection = detection_of(glue_field(param, "detection"), glue_field(param, "slopes"), data);
  else
    par.missed = REAL(missed);
  par.added = REAL(added);
  par.fit_added = Rf_asLogical(glue_field(param, "fit_added")) == TRUE;
  par.ab.fixed_aspects = Rf_asLogical(glue_field(param, "fixed")) == TRUE;
  par.by = communities_of(glue_field(param, "communities"), glue_field(param, "effects"), data->n,
                          par.ab.k);
  return par;
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  const mc_control ctl = glue_control(arg->control);
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  ab_visit_param par = param_of(VECTOR_ELT(arg->out, 0), &data);
  par.ab.smooth =
      glue_smooth(glue_field(arg->param, "smooth"), data.n, par.ab.k, NULL, ctl.n_threads, &host);
  const ab_prior prior = glue_ab_prior(arg->prior, par.ab.k, false);
  ab_visit_newton_self self = {.visits = {.data = &data, .par = &par}};
  const bool newton = ctl.algorithm != MC_EM && par.ab.k <= AB_VISITS_NEWTON_MOST &&
                      ab_visits_has_newton(&data, &par);
  if (newton)
    self.newton = ab_visits_new_newton(&data, &par, &prior, ctl.n_threads, &host);
  else
    self.visits.work = ab_visits_new_work(&data, &par, &prior, ctl.n_threads, &host);
  mc_model model = newton ? ab_visits_newton_model(&self) : ab_visits_model(&self.visits);
  SET_VECTOR_ELT(arg->out, 2, Rf_mkString(newton ? "newton" : "em"));
  SET_VECTOR_ELT(arg->out, 1, glue_fit(&model, &ctl, &host));
  ab_visits_follow(&data, &par);
  return arg->out;
}

SEXP mc_c_ab_visits_fit(SEXP cell, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"param", "outcome", "algorithm", ""};
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

/* Posterior probability of a presence given all visits, n x m. */
SEXP mc_c_ab_visits_posterior(SEXP cell, SEXP param) {
  const ab_visit_data data = data_of(cell);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, data.n, data.m));
  arguments arg = {cell, param, R_NilValue, R_NilValue, out};
  glue_serial_blas(posterior_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP inform_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  const ab_visit_param par = param_of(arg->param, &data);
  const ab_prior prior = glue_ab_prior(arg->prior, par.ab.k, false);
  const int size = par.ab.k + par.detection.d;
  glue_check(par.missed_by == MISSED_BY_MODEL, "missed_by");
  SET_VECTOR_ELT(arg->out, 0, Rf_allocVector(REALSXP, data.m));
  SET_VECTOR_ELT(arg->out, 1, Rf_allocMatrix(REALSXP, size, data.m));
  SET_VECTOR_ELT(arg->out, 2, Rf_alloc3DArray(REALSXP, size, size, data.m));
  const ab_visit_information out = {REAL(VECTOR_ELT(arg->out, 0)), REAL(VECTOR_ELT(arg->out, 1)),
                                    REAL(VECTOR_ELT(arg->out, 2))};
  ab_visits_inform(&data, &par, &prior, &out, &host);
  glue_end_stopped(&host);
  return arg->out;
}

/* Returns list(value, gradient, information), see ab_visits_inform(). */
SEXP mc_c_ab_visits_inform(SEXP cell, SEXP param, SEXP prior) {
  const char *fields[] = {"value", "gradient", "information", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  arguments arg = {cell, param, prior, R_NilValue, out};
  glue_serial_blas(inform_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP polish_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  ab_visit_param par = param_of(arg->param, &data);
  const ab_prior prior = glue_ab_prior(arg->prior, par.ab.k, false);
  glue_check(par.missed_by == MISSED_BY_MODEL, "missed_by");
  par.ab.aspects = REAL(VECTOR_ELT(arg->out, 0));
  par.detection.slopes = REAL(VECTOR_ELT(arg->out, 1));
  ab_visits_polish(&data, &par, &prior, Rf_asInteger(arg->control), &host);
  glue_end_stopped(&host);
  return arg->out;
}

/* Returns list(aspects, slopes) after at most `most` Newton steps per attribute, see ab_visits_polish(). */
SEXP mc_c_ab_visits_polish(SEXP cell, SEXP param, SEXP prior, SEXP most) {
  const char *fields[] = {"aspects", "slopes", ""};
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {cell, param, prior, most, out};
  glue_serial_blas(polish_body, &arg);
  UNPROTECT(1);
  return out;
}

/* Allocates the sampler's record in `out`, for n_draw draws, of which n_kept are kept. */
static ab_visit_record new_record(SEXP out, const ab_visit_data *data, const ab_visit_state *state,
                                  SEXP plan, int n_sweep) {
  const int k = state->par->ab.k, d = state->par->detection.d;
  ab_visit_record record = {.thin = Rf_asInteger(glue_field(plan, "thin")),
                            .keep_every = Rf_asInteger(glue_field(plan, "keep_every"))};
  const int n_draw = record.thin > 0 ? n_sweep / record.thin : 0;
  const int n_kept = record.keep_every > 0 ? n_draw / record.keep_every : 0;
  const R_xlen_t n = data->n, m = data->m;
  const R_xlen_t rows[] = {AB_VISIT_NOTE_CENTER + 2 * d + state->w,
                           n,
                           m,
                           d * m,
                           (R_xlen_t) state->par->by.d * k,
                           n * 4,
                           n,
                           k,
                           n * k,
                           k * m};
  const int columns[] = {n_draw,  n_draw, n_draw,  n_draw, n_draw,
                         data->m, k,      data->m, n_kept, n_kept};
  double **fields[] = {&record.note,        &record.richness, &record.sites,
                       &record.slopes,      &record.effects,  &record.cell,
                       &record.membership,  &record.aspects,  &record.kept_membership,
                       &record.kept_aspects};
  for (int f = 0; f < 10; f++) {
    glue_check(rows[f] <= INT_MAX, "size of the record");
    SET_VECTOR_ELT(out, 7 + f, Rf_allocMatrix(REALSXP, (int) rows[f], columns[f]));
    *fields[f] = REAL(VECTOR_ELT(out, 7 + f));
    memset(*fields[f], 0, (size_t) XLENGTH(VECTOR_ELT(out, 7 + f)) * sizeof(double));
  }
  return record;
}

static SEXP gibbs_body(void *ctx) {
  const arguments *arg = ctx;
  const ab_visit_data data = data_of(arg->cell);
  const SEXP plan = arg->control, sharing = glue_field(plan, "sharing");
  const SEXP model = glue_field(arg->param, "detection"), taxon = glue_field(sharing, "taxon");
  const int n_sweep = Rf_asInteger(glue_field(plan, "n_sweep"));
  glue_context context;
  const mc_host host = glue_host(&context, plan);
  context.draws = true;
  ab_visit_param par = param_of(arg->param, &data);
  const ab_prior prior = glue_ab_prior(arg->prior, Rf_ncols(VECTOR_ELT(arg->out, 0)), true);
  SEXP mean = PROTECT(Rf_duplicate(glue_field(model, "mean")));
  SEXP ridge = PROTECT(Rf_duplicate(glue_field(model, "ridge")));
  const int d = par.detection.d;
  par.ab.membership = REAL(VECTOR_ELT(arg->out, 0));
  par.ab.aspects = REAL(VECTOR_ELT(arg->out, 1));
  par.detection.slopes = REAL(VECTOR_ELT(arg->out, 2));
  if (par.by.d > 0) par.by.effects = REAL(VECTOR_ELT(arg->out, 6));
  par.detection.mean = REAL(mean);
  par.detection.ridge = REAL(ridge);
  ab_visit_state state = {.par = &par,
                          .mean = REAL(mean),
                          .ridge = REAL(ridge),
                          .shared = Rf_asLogical(glue_field(sharing, "shared")) == TRUE,
                          .center = REAL(VECTOR_ELT(arg->out, 3)),
                          .spread = REAL(VECTOR_ELT(arg->out, 4)),
                          .shape = REAL(VECTOR_ELT(arg->out, 5)),
                          .w = (int) (XLENGTH(taxon) / data.m),
                          .intercept = Rf_asInteger(glue_field(sharing, "intercept")),
                          .taxon = REAL(taxon),
                          .center_sd = Rf_asReal(glue_field(sharing, "center_sd"))};
  glue_check(XLENGTH(VECTOR_ELT(arg->out, 3)) == d + state.w, "center");
  glue_check(XLENGTH(VECTOR_ELT(arg->out, 4)) == d, "spread");
  glue_matrix(VECTOR_ELT(arg->out, 5), 1, 2, "beta");
  glue_check(n_sweep >= 0 && par.missed_by == MISSED_BY_MODEL, "plan");
  ab_visit_record record = new_record(arg->out, &data, &state, plan, n_sweep);
  const mc_status status = ab_visits_gibbs(&data, &prior, &state, n_sweep, &host, &record);
  glue_end_failed(&host);
  SET_VECTOR_ELT(arg->out, 17, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(arg->out, 18, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(arg->out, 19, Rf_ScalarInteger(record.n_kept));
  SET_VECTOR_ELT(arg->out, 20, Rf_ScalarLogical(status == MC_STOPPED));
  UNPROTECT(2);
  return arg->out;
}

/*
 * Runs sweeps from a state. param: as for the fit, with center, spread, beta (effects: NULL if
 * memberships are free); plan: list(n_sweep, thin, keep_every, on_tick, sharing = list(shared,
 * taxon = m x w, intercept, center_sd)).
 */
SEXP mc_c_ab_visits_gibbs(SEXP cell, SEXP param, SEXP prior, SEXP plan) {
  const char *fields[] = {"membership",   "aspects",
                          "slopes",       "center",
                          "spread",       "beta",
                          "effects",      "note",
                          "richness",     "sites",
                          "all_slopes",   "all_effects",
                          "cell",         "sum_membership",
                          "sum_aspects",  "kept_membership",
                          "kept_aspects", "n_done",
                          "n_draw",       "n_kept",
                          "stopped",      ""};
  SEXP out = PROTECT(glue_result(fields, param, 7));
  arguments arg = {cell, param, prior, plan, out};
  glue_sample(gibbs_body, &arg);
  UNPROTECT(1);
  return out;
}
