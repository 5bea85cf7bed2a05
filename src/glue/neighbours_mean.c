#include "glue/glue.h"
#include "neighbours_mean/mean.h"

#include <limits.h>

/* Checks the rows' numbers in a table of n_table rows; NULL stays NULL. */
static const int *own_of(SEXP own, int n, int n_table) {
  if (Rf_isNull(own)) return NULL;
  glue_check(TYPEOF(own) == INTSXP && XLENGTH(own) == n, "own");
  for (int i = 0; i < n; i++) glue_check(INTEGER(own)[i] >= 0 && INTEGER(own)[i] < n_table, "own");
  return INTEGER(own);
}

/*
 * table, rows: views; own: the rows' numbers in the table, from 0, or NULL; lists: list(start,
 * neighbour, weight) of mc_c_neighbours(), or the number of copies of each row of the table, or
 * NULL; settings: c(similarity, floor, n_threads). Returns a matrix of probabilities.
 */
SEXP mc_c_neighbours_mean(SEXP table, SEXP rows, SEXP own, SEXP lists, SEXP settings) {
  const mc_data data = glue_data(table), wanted = glue_data(rows);
  glue_check(wanted.m == data.m, "rows");
  glue_matrix(settings, 3, 1, "settings");
  glue_check(REAL(settings)[2] >= 1 && REAL(settings)[2] <= INT_MAX, "n_threads");
  nbm_table of = {.data = &data, .similarity = REAL(settings)[0], .floor = REAL(settings)[1]};
  nbm_rows to = {.data = &wanted, .own = own_of(own, wanted.n, data.n)};
  if (Rf_isReal(lists)) {
    glue_check(XLENGTH(lists) == data.n, "copies");
    of.copies = REAL(lists);
  } else if (!Rf_isNull(lists)) {
    const SEXP start = glue_field(lists, "start"), weight = glue_field(lists, "weight");
    const SEXP neighbour = glue_field(lists, "neighbour");
    glue_lists(start, neighbour, wanted.n, data.n, "neighbours");
    glue_check(Rf_isReal(weight) && XLENGTH(weight) == XLENGTH(neighbour), "weight");
    to.start = INTEGER(start);
    to.neighbour = INTEGER(neighbour);
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

/* p: probabilities of the rows of a view. Returns nbm_loglik(). */
SEXP mc_c_neighbours_loglik(SEXP p, SEXP view, SEXP n_threads) {
  const mc_data rows = glue_data(view);
  glue_matrix(p, rows.n, rows.m, "p");
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  const double sum = nbm_loglik(&rows, REAL(p), glue_threads(n_threads), &host);
  glue_end_stopped(&host);
  return Rf_ScalarReal(sum);
}
