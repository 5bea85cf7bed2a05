/* glue_rows.c: a view of the distinct rows of another. */
#include "glue.h"
#include "rows.h"

#include <string.h>

/* Copies the cells of the chosen rows, whose offsets to get. */
static SEXP take_rows(const int *start, const int *column, const int *row, int n, int *to) {
  to[0] = 0;
  for (int i = 0; i < n; i++) to[i + 1] = to[i] + start[row[i] + 1] - start[row[i]];
  SEXP out = Rf_allocVector(INTSXP, to[n]);
  for (int i = 0; i < n; i++)
    if (to[i + 1] > to[i])
      memcpy(INTEGER(out) + to[i], column + start[row[i]],
             (size_t) (to[i + 1] - to[i]) * sizeof(int));
  return out;
}

static SEXP distinct_view(const mc_data *data, const int *row, int n) {
  const char *fields[] = {"dim", "start", "column", "value", "na_start", "na_column", ""};
  SEXP view = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(view, 0, Rf_allocVector(INTSXP, 2));
  INTEGER(VECTOR_ELT(view, 0))[0] = n;
  INTEGER(VECTOR_ELT(view, 0))[1] = data->m;
  SET_VECTOR_ELT(view, 1, Rf_allocVector(INTSXP, (R_xlen_t) n + 1));
  SET_VECTOR_ELT(view, 2,
                 take_rows(data->start, data->column, row, n, INTEGER(VECTOR_ELT(view, 1))));
  if (data->na_start) {
    SET_VECTOR_ELT(view, 4, Rf_allocVector(INTSXP, (R_xlen_t) n + 1));
    SET_VECTOR_ELT(
        view, 5, take_rows(data->na_start, data->na_column, row, n, INTEGER(VECTOR_ELT(view, 4))));
  }
  UNPROTECT(1);
  return view;
}

/* A 0/1 view -> list(view = of its distinct rows, group = for each row which one, weight = how often). */
SEXP mc_c_view_distinct(SEXP view) {
  const char *fields[] = {"view", "group", "weight", ""};
  const mc_data data = glue_data(view);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  glue_check(!data.value, "0/1 view of x");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, data.n));
  int *group = INTEGER(VECTOR_ELT(out, 1));
  const int n = mc_group_rows(&data, &host, group);
  int *row = (int *) R_alloc((size_t) n, sizeof(int));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, n));
  double *weight = REAL(VECTOR_ELT(out, 2));
  for (int g = 0; g < n; g++) weight[g] = 0;
  for (int i = 0; i < data.n; i++) {
    if (weight[group[i]] == 0) row[group[i]] = i;
    weight[group[i]]++;
    group[i]++; /* 1-based for R */
  }
  SET_VECTOR_ELT(out, 0, distinct_view(&data, row, n));
  UNPROTECT(1);
  return out;
}
