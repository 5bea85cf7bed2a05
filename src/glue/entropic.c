/* glue/entropic.c: the entropic M-step on its own. */
#include <string.h>

#include "glue/glue.h"
#include "num/entropic.h"
#include "num/simplex.h"

/* counts: n x rows, one problem a column; beta: one a column; rule: num_entropic_rule. */
SEXP mc_c_entropic(SEXP counts, SEXP beta, SEXP rule) {
  const int n = Rf_nrows(counts), columns = Rf_ncols(counts), which = Rf_asInteger(rule);
  glue_check(Rf_isReal(counts) && n > 0, "counts");
  glue_matrix(beta, columns, 1, "beta");
  glue_check(which == NUM_GLOBAL || which == NUM_FIRST, "rule");
  double *scratch = (double *) R_alloc((size_t) n, sizeof(double));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, columns));
  memset(REAL(out), 0, (size_t) XLENGTH(out) * sizeof(double));
  for (int r = 0; r < columns; r++) {
    double *theta = REAL(out) + num_at(0, r, n);
    const double b = REAL(beta)[r];
    R_CheckUserInterrupt();
    if (num_entropic(REAL(counts) + num_at(0, r, n), n, b, (num_entropic_rule) which, theta,
                     scratch))
      continue;
    /* Nothing counted: a vertex is best for b > 0, evenness for b < 0, anything for b = 0. */
    for (int i = 0; i < n; i++) theta[i] = b > 0 ? (i == 0) : 1.0 / n;
  }
  UNPROTECT(1);
  return out;
}
