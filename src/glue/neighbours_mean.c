#include "glue/glue.h"
#include "neighbours_mean/mean.h"

/* Whole numbers, n of them, or NULL. */
static const int *integers(SEXP x, R_xlen_t n, const char *name) {
  if (Rf_isNull(x)) return NULL;
  glue_check(TYPEOF(x) == INTSXP && XLENGTH(x) == n, name);
  return INTEGER(x);
}

/*
 * table, rows: views; own: the rows' numbers in the table, from 0, or NULL; lists: list(start, neighbour,
 * weight) as mc_c_neighbours() has it, or NULL; settings: c(likeness, floor, n_threads). Returns a matrix
 * of chances.
 */
SEXP mc_c_neighbours_mean(SEXP table, SEXP rows, SEXP own, SEXP lists, SEXP settings) {
  const mc_data data = glue_data(table), wanted = glue_data(rows);
  glue_check(wanted.m == data.m, "rows");
  glue_matrix(settings, 3, 1, "settings");
  const nbm_table of = {&data, REAL(settings)[0], REAL(settings)[1]};
  nbm_rows to = {.data = &wanted, .own = integers(own, wanted.n, "own")};
  if (!Rf_isNull(lists)) {
    const SEXP start = glue_field(lists, "start"), weight = glue_field(lists, "weight");
    glue_check(TYPEOF(start) == INTSXP && XLENGTH(start) == (R_xlen_t) wanted.n + 1, "start");
    const int n_neighbour = INTEGER(start)[wanted.n];
    glue_check(Rf_isReal(weight) && XLENGTH(weight) == n_neighbour, "weight");
    to.start = INTEGER(start);
    to.neighbour = integers(glue_field(lists, "neighbour"), n_neighbour, "neighbour");
    to.weight = REAL(weight);
  }
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, wanted.n, wanted.m));
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  nbm_means(&of, &to, (int) REAL(settings)[2], &host, REAL(out));
  glue_end_stopped(&host);
  UNPROTECT(1);
  return out;
}
