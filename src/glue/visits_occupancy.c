#include "glue/glue.h"
#include "visits_occupancy/sample.h"

#include <string.h>

typedef struct {
  SEXP rows, param, prior, plan, out;
} arguments;

/*
 * rows: list(first = m + 1 and kind = n_row numbers from 0, found = n_visit x n_row, 1, 0 or NA,
 * count = n_row, presence = coefficients x n_kind, detection = coefficients x n_visit n_kind,
 * node, weight = n_node each).
 */
static occ_data data_of(SEXP rows) {
  SEXP first = glue_field(rows, "first"), kind = glue_field(rows, "kind");
  SEXP found = glue_field(rows, "found"), count = glue_field(rows, "count");
  SEXP presence = glue_field(rows, "presence"), detection = glue_field(rows, "detection");
  SEXP node = glue_field(rows, "node"), weight = glue_field(rows, "weight");
  glue_check(Rf_isInteger(first) && Rf_isInteger(kind) && Rf_isInteger(found), "rows");
  glue_check(Rf_isMatrix(found) && Rf_isMatrix(presence) && Rf_isMatrix(detection), "rows");
  occ_data data = {.m = (int) XLENGTH(first) - 1, .n_row = (int) XLENGTH(kind)};
  data.n_kind = Rf_ncols(presence);
  data.n_visit = Rf_nrows(found);
  data.n_node = (int) XLENGTH(node);
  data.n_presence = Rf_nrows(presence);
  data.n_detection = Rf_nrows(detection);
  glue_check(Rf_ncols(found) == data.n_row, "found");
  glue_matrix(count, data.n_row, 1, "count");
  glue_matrix(presence, data.n_presence, data.n_kind, "presence");
  glue_matrix(detection, data.n_detection, data.n_visit * data.n_kind, "detection");
  glue_matrix(node, data.n_node, 1, "node");
  glue_matrix(weight, data.n_node, 1, "weight");
  data.first = INTEGER(first);
  glue_check(data.m >= 0 && data.first[0] == 0 && data.first[data.m] == data.n_row, "first");
  for (int j = 0; j < data.m; j++) glue_check(data.first[j] <= data.first[j + 1], "first");
  data.kind = INTEGER(kind);
  for (int r = 0; r < data.n_row; r++)
    glue_check(data.kind[r] >= 0 && data.kind[r] < data.n_kind, "kind");
  data.found = INTEGER(found);
  data.count = REAL(count);
  data.presence = REAL(presence);
  data.detection = REAL(detection);
  data.node = REAL(node);
  data.weight = REAL(weight);
  return data;
}

/* Wraps list(theta = size x m, center, spread = size), a copy that the caller may change. */
static occ_param param_of(SEXP param, const occ_data *data) {
  const int size = occ_size(data);
  SEXP theta = glue_field(param, "theta");
  SEXP center = glue_field(param, "center"), spread = glue_field(param, "spread");
  glue_matrix(theta, size, data->m, "theta");
  glue_matrix(center, size, 1, "center");
  glue_matrix(spread, size, 1, "spread");
  for (int e = 0; e < size; e++) glue_check(REAL(spread)[e] > 0, "spread");
  return (occ_param){REAL(theta), REAL(center), REAL(spread)};
}

/* Reads list(center_sd, spread_prior, spread_sd), size each. */
static occ_prior prior_of(SEXP prior, const occ_data *data) {
  const char *names[] = {"center_sd", "spread_prior", "spread_sd"};
  const double *value[3];
  for (int i = 0; i < 3; i++) {
    glue_matrix(glue_field(prior, names[i]), occ_size(data), 1, names[i]);
    value[i] = REAL(glue_field(prior, names[i]));
  }
  return (occ_prior){value[0], value[1], value[2]};
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const occ_data data = data_of(arg->rows);
  const mc_control ctl = glue_control(arg->plan);
  glue_context context;
  const mc_host host = glue_host(&context, arg->plan);
  occ_param par = param_of(arg->out, &data);
  const occ_prior prior = prior_of(arg->prior, &data);
  occ_self self = {&data, &par, &prior, occ_new_work(&data, &host)};
  mc_model model = occ_model(&self);
  SET_VECTOR_ELT(arg->out, 3, glue_fit(&model, &ctl, &host));
  return arg->out;
}

SEXP mc_c_occ_fit(SEXP rows, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"theta", "center", "spread", "outcome", ""};
  SEXP out = PROTECT(glue_result(fields, param, 3));
  arguments arg = {rows, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP modes_body(void *ctx) {
  const arguments *arg = ctx;
  const occ_data data = data_of(arg->rows);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  const occ_param par = param_of(arg->out, &data);
  const int size = occ_size(&data);
  SET_VECTOR_ELT(arg->out, 3, Rf_allocVector(REALSXP, data.m));
  SET_VECTOR_ELT(arg->out, 4, Rf_allocVector(REALSXP, data.m));
  SET_VECTOR_ELT(arg->out, 5, Rf_alloc3DArray(REALSXP, size, size, data.m));
  double *loglik = REAL(VECTOR_ELT(arg->out, 3)), *laplace = REAL(VECTOR_ELT(arg->out, 4));
  double *precision = REAL(VECTOR_ELT(arg->out, 5));
  occ_work *work = occ_new_work(&data, &host);
  for (int j = 0; j < data.m && !mc_stop(&host, 0, 0); j++)
    loglik[j] =
        occ_mode(&data, &par, j, precision + (ptrdiff_t) j * size * size, laplace + j, work);
  glue_end_stopped(&host);
  return arg->out;
}

/* Returns list(theta = the modes, center, spread, loglik, laplace = m, precision = size x size x m). */
SEXP mc_c_occ_modes(SEXP rows, SEXP param) {
  const char *fields[] = {"theta", "center", "spread", "loglik", "laplace", "precision", ""};
  SEXP out = PROTECT(glue_result(fields, param, 3));
  arguments arg = {rows, param, R_NilValue, R_NilValue, out};
  glue_serial_blas(modes_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP sample_body(void *ctx) {
  const arguments *arg = ctx;
  const SEXP plan = arg->plan, shape = glue_field(plan, "precision");
  const occ_data data = data_of(arg->rows);
  glue_context context;
  const mc_host host = glue_host(&context, plan);
  context.draws = true;
  occ_param par = param_of(arg->out, &data);
  const occ_prior prior = prior_of(arg->prior, &data);
  const int size = occ_size(&data);
  glue_matrix(glue_field(plan, "mode"), size, data.m, "mode");
  glue_check(Rf_isReal(shape) && XLENGTH(shape) == (R_xlen_t) size * size * data.m, "precision");
  const occ_plan to = {.n_sweep = Rf_asInteger(glue_field(plan, "n_sweep")),
                       .thin = Rf_asInteger(glue_field(plan, "thin")),
                       .mode = REAL(glue_field(plan, "mode")),
                       .shape = REAL(shape)};
  glue_check(to.n_sweep >= 0 && to.thin >= 0, "plan");
  const int n_draw = to.thin > 0 ? to.n_sweep / to.thin : 0;
  SET_VECTOR_ELT(arg->out, 3, Rf_alloc3DArray(REALSXP, size, data.m, n_draw));
  SET_VECTOR_ELT(arg->out, 4, Rf_allocMatrix(REALSXP, size, n_draw));
  SET_VECTOR_ELT(arg->out, 5, Rf_allocMatrix(REALSXP, size, n_draw));
  SET_VECTOR_ELT(arg->out, 6, Rf_allocVector(REALSXP, 2));
  occ_record record = {.theta = REAL(VECTOR_ELT(arg->out, 3)),
                       .center = REAL(VECTOR_ELT(arg->out, 4)),
                       .spread = REAL(VECTOR_ELT(arg->out, 5))};
  occ_sample(&data, &par, &prior, &to, &host, &record);
  glue_end_stopped(&host);
  memcpy(REAL(VECTOR_ELT(arg->out, 6)), record.accepted, sizeof(record.accepted));
  return arg->out;
}

/*
 * Runs sweeps from a state; plan = list(n_sweep, thin, mode, precision, on_tick). Returns
 * list(theta, center, spread = the last state, all_theta = size x m x draws, all_center, all_spread
 * = size x draws, accepted), see occ_sample().
 */
SEXP mc_c_occ_sample(SEXP rows, SEXP param, SEXP prior, SEXP plan) {
  const char *fields[] = {"theta",      "center",     "spread",   "all_theta",
                          "all_center", "all_spread", "accepted", ""};
  SEXP out = PROTECT(glue_result(fields, param, 3));
  arguments arg = {rows, param, prior, plan, out};
  glue_sample(sample_body, &arg);
  UNPROTECT(1);
  return out;
}

typedef struct {
  const occ_data *data;
  int j;
  const double *theta; /* size x draws */
  double *scratch, *loglik, *present;
} pointwise_work;

static void pointwise_block(void *ctx, int strip, int thread, int first, int b) {
  const pointwise_work *w = ctx;
  const int rows = w->data->first[w->j + 1] - w->data->first[w->j];
  (void) strip;
  (void) thread;
  for (ptrdiff_t s = first; s < first + b; s++)
    occ_pointwise(w->data, w->j, w->theta + s * occ_size(w->data), w->loglik + s * rows,
                  w->present + s * rows, w->scratch);
}

/* Returns list(loglik, present), rows of taxon j (from 0) x columns of theta. */
SEXP mc_c_occ_pointwise(SEXP rows, SEXP j, SEXP theta) {
  const char *fields[] = {"loglik", "present", ""};
  const occ_data data = data_of(rows);
  const int n_draw = Rf_ncols(theta);
  pointwise_work w = {.data = &data, .j = Rf_asInteger(j)};
  glue_check(w.j >= 0 && w.j < data.m, "j");
  glue_matrix(theta, occ_size(&data), n_draw, "theta");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int part = 0; part < 2; part++)
    SET_VECTOR_ELT(out, part,
                   Rf_allocMatrix(REALSXP, data.first[w.j + 1] - data.first[w.j], n_draw));
  w.theta = REAL(theta);
  w.loglik = REAL(VECTOR_ELT(out, 0));
  w.present = REAL(VECTOR_ELT(out, 1));
  w.scratch = (double *) R_alloc(occ_scratch(&data), sizeof(double));
  const num_strips strips = num_new_strips(n_draw, 16, 1);
  glue_scan(&strips, pointwise_block, &w);
  UNPROTECT(1);
  return out;
}
