/*
 * glue/data.c: builds the view of x that every kernel reads (mc_data in engine/data.h). All memory
 * is allocated by R, so an interrupt may jump.
 */
#include "glue/glue.h"

#include "num/blocks.h"

#include <math.h>
#include <string.h>

static const char *view_fields[] = {"dim", "start", "column", "value", "na_start", "na_column", ""};

/* Cells of a double, integer or logical matrix; NA of the latter two is the same. Both NULL: all one. */
typedef struct {
  const double *real;
  const int *whole;
} cells;

static cells cells_of(SEXP x) {
  cells out = {NULL, NULL};
  switch (TYPEOF(x)) {
    case NILSXP: break;
    case REALSXP: out.real = REAL(x); break;
    case INTSXP: out.whole = INTEGER(x); break;
    case LGLSXP: out.whole = LOGICAL(x); break;
    default: glue_check(false, "type of x");
  }
  return out;
}

static NUM_INLINE double cell(const cells *x, R_xlen_t at) {
  if (x->real) return x->real[at];
  if (x->whole) return x->whole[at] == NA_INTEGER ? NA_REAL : x->whole[at];
  return 1;
}

/* Allocates a view without cells; start and na_start receive the counts of row i at i + 1. */
static SEXP new_view(int n, int m) {
  SEXP view = PROTECT(Rf_mkNamed(VECSXP, view_fields));
  SET_VECTOR_ELT(view, 0, Rf_allocVector(INTSXP, 2));
  INTEGER(VECTOR_ELT(view, 0))[0] = n;
  INTEGER(VECTOR_ELT(view, 0))[1] = m;
  SET_VECTOR_ELT(view, 1, Rf_allocVector(INTSXP, (R_xlen_t) n + 1));
  SET_VECTOR_ELT(view, 4, Rf_allocVector(INTSXP, (R_xlen_t) n + 1));
  memset(INTEGER(VECTOR_ELT(view, 1)), 0, ((size_t) n + 1) * sizeof(int));
  memset(INTEGER(VECTOR_ELT(view, 4)), 0, ((size_t) n + 1) * sizeof(int));
  UNPROTECT(1);
  return view;
}

/* Turns counts into offsets and returns the total; fails if it exceeds 2^31 - 1. */
static int accumulate(int *start, int n) {
  double total = 0;
  for (int i = 0; i < n; i++) total += start[i + 1];
  if (total > INT_MAX) Rf_error("`x` has more than 2^31 - 1 nonzero or missing cells");
  for (int i = 0; i < n; i++) start[i + 1] += start[i];
  return start[n];
}

/* Allocates space for the counted cells; next_one and next_na are the next free place of each row. */
static void make_room(SEXP view, int n, bool all_one, int **next_one, int **next_na) {
  int *start = INTEGER(VECTOR_ELT(view, 1)), *na_start = INTEGER(VECTOR_ELT(view, 4));
  const int n_stored = accumulate(start, n), n_missing = accumulate(na_start, n);
  SET_VECTOR_ELT(view, 2, Rf_allocVector(INTSXP, n_stored));
  if (!all_one) SET_VECTOR_ELT(view, 3, Rf_allocVector(REALSXP, n_stored));
  SET_VECTOR_ELT(view, 5, Rf_allocVector(INTSXP, n_missing));
  *next_one = (int *) R_alloc((size_t) n + 1, sizeof(int));
  *next_na = (int *) R_alloc((size_t) n + 1, sizeof(int));
  memcpy(*next_one, start, ((size_t) n + 1) * sizeof(int));
  memcpy(*next_na, na_start, ((size_t) n + 1) * sizeof(int));
}

/* Represents the absence of missing cells by NULL. */
static SEXP finish_view(SEXP view) {
  if (Rf_xlength(VECTOR_ELT(view, 5)) == 0) {
    SET_VECTOR_ELT(view, 4, R_NilValue);
    SET_VECTOR_ELT(view, 5, R_NilValue);
  }
  return view;
}

static void count_cell(SEXP view, int i, double value, bool *all_one) {
  if (ISNAN(value)) {
    INTEGER(VECTOR_ELT(view, 4))[i + 1]++;
  } else if (value != 0) {
    INTEGER(VECTOR_ELT(view, 1))[i + 1]++;
    if (value != 1) *all_one = false;
  }
}

static void put_cell(SEXP view, int i, int j, double value, int *next_one, int *next_na) {
  if (ISNAN(value)) {
    INTEGER(VECTOR_ELT(view, 5))[next_na[i]++] = j;
  } else if (value != 0) {
    const int at = next_one[i]++;
    INTEGER(VECTOR_ELT(view, 2))[at] = j;
    if (!Rf_isNull(VECTOR_ELT(view, 3))) REAL(VECTOR_ELT(view, 3))[at] = value;
  }
}

SEXP mc_c_view_dense(SEXP x) {
  const int n = Rf_nrows(x), m = Rf_ncols(x);
  const cells of = cells_of(x);
  bool all_one = true;
  int *next_one, *next_na;
  SEXP view = PROTECT(new_view(n, m));
  for (int j = 0; j < m; j++) {
    R_CheckUserInterrupt();
    for (int i = 0; i < n; i++) { /* most are zero */
      const double value = cell(&of, num_at(i, j, n));
      if (value != 0) count_cell(view, i, value, &all_one);
    }
  }
  make_room(view, n, all_one, &next_one, &next_na);
  for (int j = 0; j < m; j++) {
    R_CheckUserInterrupt();
    for (int i = 0; i < n; i++) {
      const double value = cell(&of, num_at(i, j, n));
      if (value != 0) put_cell(view, i, j, value, next_one, next_na);
    }
  }
  UNPROTECT(1);
  return finish_view(view);
}

/* Checks that columns are contiguous and that their row numbers ascend within the valid range. */
static void check_columns(const int *from, const int *rows, R_xlen_t n_stored, int n, int m) {
  glue_check(from[0] == 0, "column pointers of x");
  for (int j = 0; j < m; j++) {
    glue_check(from[j + 1] >= from[j] && from[j + 1] <= n_stored, "column pointers of x");
    for (int e = from[j]; e < from[j + 1]; e++)
      glue_check(rows[e] >= 0 && rows[e] < n && (e == from[j] || rows[e] > rows[e - 1]),
                 "row numbers of x");
  }
}

/* Builds a view from compressed columns, as in a dgCMatrix; drops explicit zeros. value NULL: all one. */
SEXP mc_c_view_sparse(SEXP pointer, SEXP row, SEXP value, SEXP dim) {
  glue_check(Rf_isInteger(pointer) && Rf_isInteger(row) && Rf_isInteger(dim) && XLENGTH(dim) == 2,
             "slots of x");
  const int n = INTEGER(dim)[0], m = INTEGER(dim)[1];
  const int *from = INTEGER(pointer), *rows = INTEGER(row);
  const cells of = cells_of(value);
  bool all_one = true;
  int *next_one, *next_na;
  glue_check(n >= 0 && m >= 0 && XLENGTH(pointer) == (R_xlen_t) m + 1, "column pointers of x");
  glue_check(Rf_isNull(value) || XLENGTH(value) == XLENGTH(row), "values of x");
  check_columns(from, rows, XLENGTH(row), n, m);
  SEXP view = PROTECT(new_view(n, m));
  for (int j = 0; j < m; j++) {
    R_CheckUserInterrupt();
    for (int e = from[j]; e < from[j + 1]; e++) count_cell(view, rows[e], cell(&of, e), &all_one);
  }
  make_room(view, n, all_one, &next_one, &next_na);
  for (int j = 0; j < m; j++) {
    R_CheckUserInterrupt();
    for (int e = from[j]; e < from[j + 1]; e++)
      put_cell(view, rows[e], j, cell(&of, e), next_one, next_na);
  }
  UNPROTECT(1);
  return finish_view(view);
}

/* Returns the first stored cell (1-based row, column, value) that breaks a rule, or NULL. */
static SEXP first_cell(const mc_data *data, bool (*breaks)(double)) {
  for (int i = 0; i < data->n && data->value; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      if (breaks(data->value[e])) {
        SEXP out = Rf_allocVector(REALSXP, 3);
        REAL(out)[0] = i + 1;
        REAL(out)[1] = data->column[e] + 1;
        REAL(out)[2] = data->value[e];
        return out;
      }
  return R_NilValue;
}

static bool not_one(double value) { return value != 1; }
static bool not_whole(double value) { return value != floor(value) || !R_FINITE(value); }
static bool not_finite(double value) { return !R_FINITE(value); }
static bool negative(double value) { return value < 0; }

/* Returns the first cells that are not 0/1, not whole, negative, not finite, for argument checks in R. */
SEXP mc_c_view_range(SEXP view) {
  const char *names[] = {"not_binary", "not_whole", "negative", "not_finite", ""};
  const mc_data data = glue_data(view);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, first_cell(&data, not_one));
  SET_VECTOR_ELT(out, 1, first_cell(&data, not_whole));
  SET_VECTOR_ELT(out, 2, first_cell(&data, negative));
  SET_VECTOR_ELT(out, 3, first_cell(&data, not_finite));
  UNPROTECT(1);
  return out;
}

/* Sums and numbers of observed cells, by row and by column. */
SEXP mc_c_view_margins(SEXP view) {
  const char *names[] = {"row_sum", "column_sum", "row_observed", "column_observed", ""};
  const mc_data data = glue_data(view);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int f = 0; f < 4; f++)
    SET_VECTOR_ELT(out, f, Rf_allocVector(REALSXP, f % 2 ? data.m : data.n));
  double *row_sum = REAL(VECTOR_ELT(out, 0)), *column_sum = REAL(VECTOR_ELT(out, 1));
  double *row_seen = REAL(VECTOR_ELT(out, 2)), *column_seen = REAL(VECTOR_ELT(out, 3));
  memset(column_sum, 0, (size_t) data.m * sizeof(double));
  for (int j = 0; j < data.m; j++) column_seen[j] = data.n;
  for (int i = 0; i < data.n; i++) {
    row_sum[i] = 0;
    row_seen[i] = data_n_observed(&data, i);
    for (int e = data.start[i]; e < data.start[i + 1]; e++) {
      const double value = data.value ? data.value[e] : 1;
      row_sum[i] += value;
      column_sum[data.column[e]] += value;
    }
    if (data.na_start)
      for (int e = data.na_start[i]; e < data.na_start[i + 1]; e++)
        column_seen[data.na_column[e]] -= 1;
  }
  UNPROTECT(1);
  return out;
}

/* Copies the cells of the chosen rows and writes their offsets into `to`. */
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
  SEXP view = PROTECT(new_view(n, data->m));
  int *start = INTEGER(VECTOR_ELT(view, 1)), *na_start = INTEGER(VECTOR_ELT(view, 4));
  SET_VECTOR_ELT(view, 2, take_rows(data->start, data->column, row, n, start));
  if (data->na_start)
    SET_VECTOR_ELT(view, 5, take_rows(data->na_start, data->na_column, row, n, na_start));
  UNPROTECT(1);
  return finish_view(view);
}

/* Maps a 0/1 view to list(view = its distinct rows, group = the distinct row of each row, weight =
 * multiplicities). */
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

typedef struct {
  const mc_data *data;
  double *both, *gone;
} pairs;

static void pair_block(void *ctx, int strip, int thread, int first, int b) {
  const pairs *w = ctx;
  (void) strip;
  (void) thread;
  mc_count_pairs(w->data, first, first + b, w->both, w->gone);
}

/* list(both, gone): for each pair of columns, the number of rows in which both are present, and in
 * which the first is present and the second unknown. */
SEXP mc_c_view_pairs(SEXP view) {
  const char *fields[] = {"both", "gone", ""};
  const mc_data data = glue_data(view);
  double *count[] = {NULL, NULL};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int f = 0; f < (data.na_start ? 2 : 1); f++) {
    SET_VECTOR_ELT(out, f, Rf_allocMatrix(REALSXP, data.m, data.m));
    count[f] = REAL(VECTOR_ELT(out, f));
    memset(count[f], 0, (size_t) num_at(0, data.m, data.m) * sizeof(double));
  }
  pairs w = {&data, count[0], count[1]};
  const num_strips strips = num_new_strips(data.n, 64, 1);
  glue_scan(&strips, pair_block, &w);
  UNPROTECT(1);
  return out;
}

typedef struct {
  const mc_data *data;
  const double *b;
  int width;
  double *row, *out; /* row: width, per thread */
} product;

static void add_block(void *ctx, int strip, int thread, int first, int b) {
  const product *w = ctx;
  (void) strip;
  mc_add_rows(w->data, first, first + b, w->b, w->width, w->row + num_at(0, thread, w->width),
              w->out);
}

/* Product of a view's presences with a matrix that is supplied transposed (its columns are those of
 * the view). */
SEXP mc_c_view_times(SEXP view, SEXP transposed, SEXP n_threads) {
  const mc_data data = glue_data(view);
  const int width = Rf_nrows(transposed);
  glue_matrix(transposed, width, data.m, "transposed");
  const num_strips strips =
      num_new_strips(data.n, num_block_rows(data.n, width), glue_threads(n_threads));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, data.n, width));
  product w = {&data, REAL(transposed), width, NULL, REAL(out)};
  w.row = (double *) R_alloc((size_t) width * (size_t) strips.n_threads, sizeof *w.row);
  glue_scan(&strips, add_block, &w);
  UNPROTECT(1);
  return out;
}

/* Returns the first row (from 1) of an external view that violates the format of mc_data; 0: none. */
SEXP mc_c_view_wrong_row(SEXP view) {
  const mc_data data = glue_data(view);
  return Rf_ScalarInteger(mc_first_wrong_row(&data) + 1);
}
