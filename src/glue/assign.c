#include "num/assign.h"
#include "glue/glue.h"

/* cost: k x k, finite. Returns the column assigned to each row, from 1. */
SEXP mc_c_assign(SEXP cost) {
  const int k = Rf_nrows(cost);
  glue_matrix(cost, k, k, "cost");
  SEXP out = PROTECT(Rf_allocVector(INTSXP, k));
  int *column = INTEGER(out);
  double *work = (double *) R_alloc(3 * ((size_t) k + 1), sizeof *work);
  int *index = (int *) R_alloc(3 * ((size_t) k + 1), sizeof *index);
  num_assign(k, REAL(cost), column, work, index);
  for (int i = 0; i < k; i++) column[i]++;
  UNPROTECT(1);
  return out;
}
