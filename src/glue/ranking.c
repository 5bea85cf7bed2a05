#include "num/ranking.h"
#include "glue/glue.h"

static bool within(SEXP values, int least, int most) {
  const int *x = INTEGER(values);
  for (R_xlen_t i = 0; i < XLENGTH(values); i++)
    if (x[i] < least || x[i] > most) return false;
  return true;
}

/*
 * Of each cell its score (no NaN), whether it is a hit, its row from 1 to n_row; order: cells by score,
 * highest first. Returns list(auc, ap), of each row and of all.
 */
SEXP mc_c_ranking(SEXP score, SEXP hit, SEXP row, SEXP n_row, SEXP order) {
  const char *fields[] = {"auc", "ap", ""};
  const R_xlen_t size = XLENGTH(score);
  const int n = Rf_asInteger(n_row);
  glue_check(TYPEOF(score) == REALSXP && size <= INT_MAX, "score");
  glue_check(n >= 0 && n < INT_MAX, "n_row");
  glue_check(TYPEOF(hit) == LGLSXP && XLENGTH(hit) == size && within(hit, 0, 1), "hit");
  glue_check(TYPEOF(row) == INTSXP && XLENGTH(row) == size && within(row, 1, n), "row");
  glue_check(TYPEOF(order) == INTSXP && XLENGTH(order) == size && within(order, 1, (int) size),
             "order");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int i = 0; i < 2; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, (R_xlen_t) n + 1));
  const num_ranked cells = {(int) size, n, REAL(score), LOGICAL(hit), INTEGER(row), INTEGER(order)};
  num_tally *tally = (num_tally *) R_alloc((size_t) n + 1, sizeof *tally);
  num_ranking(&cells, tally, REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)));
  UNPROTECT(1);
  return out;
}
