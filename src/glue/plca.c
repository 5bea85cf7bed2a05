#include <string.h>

#include "glue/glue.h"
#include "plca/plca.h"

typedef struct {
  SEXP cells, param, prior, control, out;
} arguments;

/* Checks an n_dim x n table of indices, from 0 and within the extents. */
static const int *index_of(SEXP index, const int *extent, int n_dim, int *n) {
  glue_check(Rf_isInteger(index) && Rf_nrows(index) == n_dim, "index of cells");
  *n = Rf_ncols(index);
  const int *at = INTEGER(index);
  for (R_xlen_t e = 0; e < XLENGTH(index); e++)
    glue_check(at[e] >= 0 && at[e] < extent[e % n_dim], "an index of a cell");
  return at;
}

/* Reads list(extent, index = n_dim x cells, value, na_index = n_dim x missing cells). */
static plca_cells cells_of(SEXP cells) {
  const SEXP extent = glue_field(cells, "extent"), value = glue_field(cells, "value");
  plca_cells out = {.n_dim = Rf_length(extent)};
  glue_check(Rf_isInteger(extent) && out.n_dim >= 1 && out.n_dim <= PLCA_MAX_DIM, "extent");
  out.extent = INTEGER(extent);
  out.index = index_of(glue_field(cells, "index"), out.extent, out.n_dim, &out.n_cell);
  out.na_index = index_of(glue_field(cells, "na_index"), out.extent, out.n_dim, &out.n_missing);
  glue_matrix(value, out.n_cell, 1, "value");
  out.value = REAL(value);
  return out;
}

static plca_param param_of(SEXP weights, SEXP marginals, const plca_cells *cells) {
  plca_param out = {.k = Rf_length(weights)};
  glue_check(out.k >= 1, "k");
  glue_matrix(weights, out.k, 1, "weights");
  glue_check(Rf_isNewList(marginals) && Rf_length(marginals) == cells->n_dim, "marginals");
  out.weights = REAL(weights);
  for (int d = 0; d < cells->n_dim; d++) {
    glue_matrix(VECTOR_ELT(marginals, d), out.k, cells->extent[d], "marginals");
    out.marginals[d] = REAL(VECTOR_ELT(marginals, d));
  }
  return out;
}

/*
 * Reads list(method, floor, pairs = list of k x k or NULL, anneal, weights_added = k or NULL,
 * marginals_added = n_dim, weights_sparsity, marginals_sparsity = n_dim).
 */
static plca_prior prior_of(SEXP prior, int k, int n_dim) {
  const SEXP pairs = glue_field(prior, "pairs"), anneal = glue_field(prior, "anneal");
  const SEXP weights = glue_field(prior, "weights_added");
  const SEXP marginals = glue_field(prior, "marginals_added");
  const SEXP sparsity = glue_field(prior, "marginals_sparsity");
  const int method = Rf_asInteger(glue_field(prior, "method"));
  plca_prior out = {.floor = Rf_asReal(glue_field(prior, "floor"))};
  glue_check(method >= PLCA_JS && method <= PLCA_MM, "method");
  glue_check(Rf_isNewList(pairs) && Rf_length(pairs) == n_dim && Rf_isReal(anneal), "prior");
  out.method = (plca_method) method;
  out.n_anneal = Rf_length(anneal);
  out.anneal = REAL(anneal);
  for (int d = 0; d < n_dim; d++) {
    if (Rf_isNull(VECTOR_ELT(pairs, d))) continue;
    glue_matrix(VECTOR_ELT(pairs, d), k, k, "pairs");
    out.pairs[d] = REAL(VECTOR_ELT(pairs, d));
  }
  if (!Rf_isNull(weights)) glue_matrix(weights, k, 1, "weights_added");
  out.weights_added = Rf_isNull(weights) ? NULL : REAL(weights);
  glue_matrix(marginals, n_dim, 1, "marginals_added");
  glue_matrix(sparsity, n_dim, 1, "marginals_sparsity");
  out.weights_sparsity = Rf_asReal(glue_field(prior, "weights_sparsity"));
  for (int d = 0; d < n_dim; d++) {
    out.marginals_added[d] = REAL(marginals)[d];
    out.marginals_sparsity[d] = REAL(sparsity)[d];
  }
  return out;
}

static SEXP fit_body(void *ctx) {
  const arguments *arg = ctx;
  const plca_cells cells = cells_of(arg->cells);
  const mc_control ctl = glue_control(arg->control);
  plca_param par = param_of(VECTOR_ELT(arg->out, 0), VECTOR_ELT(arg->out, 1), &cells);
  const plca_prior prior = prior_of(arg->prior, par.k, cells.n_dim);
  const SEXP fixed = glue_field(arg->param, "fixed");
  glue_context context;
  const mc_host host = glue_host(&context, arg->control);
  glue_check(Rf_isLogical(fixed) && Rf_length(fixed) == cells.n_dim, "fixed");
  for (int d = 0; d < cells.n_dim; d++) par.fixed[d] = LOGICAL(fixed)[d] == TRUE;
  plca_self self = {&cells, &par, NULL};
  self.work = plca_new_work(&cells, &prior, par.k, ctl.n_threads, &host);
  mc_model model = plca_model(&self);
  SET_VECTOR_ELT(arg->out, 2, glue_fit(&model, &ctl, &host));
  return arg->out;
}

/* param: list(weights = k, marginals = list of k x extent, fixed = one flag per dimension). */
SEXP mc_c_plca_fit(SEXP cells, SEXP param, SEXP prior, SEXP control) {
  const char *fields[] = {"weights", "marginals", "outcome", ""};
  SEXP out = PROTECT(glue_result(fields, param, 2));
  arguments arg = {cells, param, prior, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

/* Contribution of the prior to the objective, at its last multiplier. */
SEXP mc_c_plca_prior(SEXP cells, SEXP param, SEXP prior) {
  const plca_cells table = cells_of(cells);
  const plca_param par =
      param_of(glue_field(param, "weights"), glue_field(param, "marginals"), &table);
  const plca_prior of = prior_of(prior, par.k, table.n_dim);
  return Rf_ScalarReal(
      plca_prior_value(&table, &par, &of, of.n_anneal > 0 ? of.anneal[of.n_anneal - 1] : 1));
}
