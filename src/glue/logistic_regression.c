#include "num/logistic_regression.h"
#include "glue/glue.h"

typedef struct {
  const double *z;
  int n;
  double *even, *centre, *spread;
} evened;

static void even_columns(void *ctx, int strip, int thread, int first, int b) {
  const evened *e = ctx;
  (void) strip;
  (void) thread;
  for (int j = first; j < first + b; j++)
    num_even(e->z + num_at(0, j, e->n), e->n, e->centre + j, e->spread + j,
             e->even + num_at(0, j, e->n));
}

/* z: n x l. Returns list(design = ones and num_even() of the columns, n x (l + 1), centre, spread). */
SEXP mc_c_equal_spread(SEXP z, SEXP n_threads) {
  const char *fields[] = {"design", "centre", "spread", ""};
  const int n = Rf_nrows(z), l = Rf_ncols(z);
  glue_matrix(z, n, l, "z");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, n, l + 1));
  for (int side = 1; side < 3; side++) SET_VECTOR_ELT(out, side, Rf_allocVector(REALSXP, l));
  double *design = REAL(VECTOR_ELT(out, 0));
  for (int i = 0; i < n; i++) design[i] = 1;
  evened e = {REAL(z), n, design + n, REAL(VECTOR_ELT(out, 1)), REAL(VECTOR_ELT(out, 2))};
  const num_strips strips = num_new_strips(l, 1, glue_threads(n_threads));
  glue_scan(&strips, even_columns, &e);
  UNPROTECT(1);
  return out;
}

static int ask(void *host) { return mc_stop(host, 0, 0); }

/*
 * design: n x l; cases: n x 3 (y, offset, weight); penalty: l x l; start: l x 1; limits: iterations
 * and threads. Returns list(beta, hessian).
 */
SEXP mc_c_logistic_regression(SEXP design, SEXP cases, SEXP penalty, SEXP start, SEXP limits) {
  const char *fields[] = {"beta", "hessian", ""};
  const int n = Rf_nrows(design), l = Rf_ncols(design);
  glue_matrix(design, n, l, "design");
  glue_matrix(cases, n, 3, "cases");
  glue_matrix(penalty, l, l, "penalty");
  glue_matrix(start, l, 1, "start");
  glue_check(n > 0 && l > 0, "design");
  glue_check(TYPEOF(limits) == INTSXP && XLENGTH(limits) == 2, "limits");
  const double *case_of = REAL(cases);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_duplicate(start));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, l, l));
  glue_context context;
  mc_host host = glue_host(&context, R_NilValue);
  const num_regression data = {.n = n,
                               .l = l,
                               .design = REAL(design),
                               .y = case_of,
                               .offset = case_of + n,
                               .weight = case_of + 2 * (ptrdiff_t) n,
                               .penalty = REAL(penalty),
                               .stop = ask,
                               .asked = &host,
                               .n_threads = INTEGER(limits)[1]};
  double *scratch = (double *) R_alloc((size_t) num_regression_size(l), sizeof *scratch);
  num_logistic_regression(&data, INTEGER(limits)[0], REAL(VECTOR_ELT(out, 0)),
                          REAL(VECTOR_ELT(out, 1)), scratch);
  glue_end_stopped(&host);
  UNPROTECT(1);
  return out;
}
