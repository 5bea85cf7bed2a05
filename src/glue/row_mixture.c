#include "engine/row_mixture.h"
#include "glue/glue.h"

/* Returns the log-likelihood of each row of the view; mixture: list(log_weight, empty, slope). */
SEXP mc_c_row_mixture(SEXP view, SEXP mixture) {
  const mc_data data = glue_data(view);
  const SEXP weight = glue_field(mixture, "log_weight");
  const SEXP empty = glue_field(mixture, "empty"), slope = glue_field(mixture, "slope");
  glue_check(Rf_isReal(weight), "log_weight");
  const int n_row = (int) XLENGTH(weight);
  glue_matrix(empty, n_row, data.m, "empty");
  glue_matrix(slope, n_row, data.m, "slope");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, data.n));
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  const mc_row_mixture rows = {n_row, REAL(weight), REAL(empty), REAL(slope)};
  mc_mixture_loglik(&data, &rows, &host, REAL(out));
  glue_end_stopped(&host);
  UNPROTECT(1);
  return out;
}
