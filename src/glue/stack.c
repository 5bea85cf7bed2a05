#include "num/stack.h"
#include "glue/glue.h"
#include "num/logistic.h"

#define COLUMNS 4  /* columns of a table at a time */
#define CELLS 8192 /* cells of a vector at a time */

/* Log-odds of the cells `at` (numbers from 1; NULL: all) of p; in packed unless it is NULL. */
typedef struct {
  const double *p, *at;
  R_xlen_t size;
  double least, *odds;
  int *packed;
} scores;

static void score_block(void *ctx, int strip, int thread, int first, int b) {
  const scores *s = ctx;
  const R_xlen_t to = (R_xlen_t) (first + b) * CELLS;
  (void) strip;
  (void) thread;
  for (R_xlen_t i = (R_xlen_t) first * CELLS; i < to && i < s->size; i++) {
    const double odds = num_log_odds(s->p[s->at ? (R_xlen_t) s->at[i] - 1 : i], s->least);
    if (!s->packed)
      s->odds[i] = odds;
    else
      s->packed[i] = num_pack(odds);
  }
}

/*
 * p: probabilities, a vector or matrix; at: numbers of cells, from 1, or NULL: all, in the shape of
 * p; settings: c(least, packed, n_threads): probabilities are limited to [least, 1 - least], and
 * packed requests num_pack(). Returns the log-odds.
 */
SEXP mc_c_score_odds(SEXP p, SEXP at, SEXP settings) {
  glue_check(Rf_isReal(p), "p");
  glue_matrix(settings, 3, 1, "settings");
  glue_check(Rf_isNull(at) || Rf_isReal(at), "at");
  scores s = {.p = REAL(p), .least = REAL(settings)[0]};
  s.at = Rf_isNull(at) ? NULL : REAL(at);
  s.size = s.at ? XLENGTH(at) : XLENGTH(p);
  for (R_xlen_t i = 0; s.at && i < s.size; i++)
    glue_check(s.at[i] >= 1 && s.at[i] <= (double) XLENGTH(p), "at");
  const SEXPTYPE type = REAL(settings)[1] != 0 ? INTSXP : REALSXP;
  const bool shaped = !s.at && Rf_isMatrix(p);
  SEXP out = PROTECT(shaped ? Rf_allocMatrix(type, Rf_nrows(p), Rf_ncols(p))
                            : Rf_allocVector(type, s.size));
  if (type == INTSXP)
    s.packed = INTEGER(out);
  else
    s.odds = REAL(out);
  const num_strips strips =
      num_new_strips((int) (s.size / CELLS + 1), 1, glue_threads(Rf_ScalarReal(REAL(settings)[2])));
  glue_scan(&strips, score_block, &s);
  UNPROTECT(1);
  return out;
}

typedef struct {
  num_stack stack;
  double *out;
} stacked;

static void stack_block(void *ctx, int strip, int thread, int first, int b) {
  const stacked *s = ctx;
  (void) strip;
  (void) thread;
  for (int j = first; j < first + b; j++)
    num_stack_column(&s->stack, j, s->out + num_at(0, j, s->stack.n));
}

static num_score score_of(SEXP odds, int n, int m) {
  num_score out = {NULL, NULL, NULL};
  if (TYPEOF(odds) == INTSXP) {
    glue_check(XLENGTH(odds) == (R_xlen_t) n * m, "odds");
    out.packed = INTEGER(odds);
  } else if (Rf_isMatrix(odds)) {
    glue_matrix(odds, n, m, "odds");
    out.real = REAL(odds);
  } else {
    glue_matrix(odds, m, 1, "odds");
    out.each = REAL(odds);
  }
  return out;
}

/*
 * odds: a list of n x m matrices, packed or not, or vectors of one number per column; weights: of
 * the intercept and of each score; covariance: of the weights, or NULL. Returns num_stack_column(),
 * n x m.
 */
SEXP mc_c_stack_cells(SEXP odds, SEXP weights, SEXP covariance, SEXP n_threads) {
  glue_check(TYPEOF(odds) == VECSXP && XLENGTH(odds) >= 1 && XLENGTH(odds) <= NUM_MOST_SCORES,
             "odds");
  const int n = Rf_nrows(VECTOR_ELT(odds, 0)), m = Rf_ncols(VECTOR_ELT(odds, 0));
  const int l = (int) XLENGTH(odds);
  num_score score[NUM_MOST_SCORES];
  for (int i = 0; i < l; i++) score[i] = score_of(VECTOR_ELT(odds, i), n, m);
  glue_matrix(weights, l + 1, 1, "weights");
  if (!Rf_isNull(covariance)) glue_matrix(covariance, l + 1, l + 1, "covariance");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, m));
  stacked s = {.out = REAL(out)};
  s.stack = (num_stack){.n = n, .m = m, .l = l, .score = score, .weights = REAL(weights)};
  if (!Rf_isNull(covariance)) s.stack.covariance = REAL(covariance);
  const num_strips strips = num_new_strips(m, COLUMNS, glue_threads(n_threads));
  glue_scan(&strips, stack_block, &s);
  UNPROTECT(1);
  return out;
}
