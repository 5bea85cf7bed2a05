#include "num/ranking.h"
#include "glue/glue.h"
#include "num/blocks.h"

#include <string.h>

static bool within(SEXP values, int least, int most) {
  const int *x = INTEGER(values);
  for (R_xlen_t i = 0; i < XLENGTH(values); i++)
    if (x[i] < least || x[i] > most) return false;
  return true;
}

/* Several scores of the same cells, each sorted independently, with scratch per thread. */
typedef struct {
  num_ranked cells;
  const double *scores; /* n_cell x n_score */
  num_keyed *keyed;     /* 2 n_cell per thread */
  num_tally *tally;     /* n_row + 1 per thread */
  num_ranks ranks;      /* n_row + 1 per score */
  int *hits, *all;      /* n_cell per score */
  int *n_step;          /* one per score */
} sorting;

static num_ranked one_score(const sorting *w, int score) {
  num_ranked cells = w->cells;
  cells.score = w->scores + num_at(0, score, cells.n_cell);
  return cells;
}

static num_keyed *keyed_of(const sorting *w, int thread) {
  return w->keyed + 2 * num_at(0, thread, w->cells.n_cell);
}

static void rank_score(void *ctx, int strip, int thread, int first, int b) {
  const sorting *w = ctx;
  (void) strip;
  for (int s = first; s < first + b; s++) {
    const num_ranked cells = one_score(w, s);
    const ptrdiff_t row = cells.n_row + 1, at = s * row;
    const num_ranks own = {w->ranks.auc + at, w->ranks.se + at, w->ranks.ap + at};
    num_ranking(&cells, keyed_of(w, thread), w->tally + thread * row, &own);
  }
}

static void descend_score(void *ctx, int strip, int thread, int first, int b) {
  const sorting *w = ctx;
  (void) strip;
  for (int s = first; s < first + b; s++) {
    const num_ranked cells = one_score(w, s);
    const ptrdiff_t at = num_at(0, s, cells.n_cell);
    w->n_step[s] = num_descend(&cells, keyed_of(w, thread), w->hits + at, w->all + at);
  }
}

static sorting sorting_of(SEXP score, SEXP hit, SEXP n_threads, num_strips *strips) {
  glue_check(Rf_isReal(score) && Rf_isMatrix(score), "score");
  const int size = Rf_nrows(score);
  glue_check(TYPEOF(hit) == LGLSXP && XLENGTH(hit) == size && within(hit, 0, 1), "hit");
  sorting w = {.cells = {.n_cell = size, .hit = LOGICAL(hit)}, .scores = REAL(score)};
  *strips = num_new_strips(Rf_ncols(score), 1, glue_threads(n_threads));
  w.keyed = (num_keyed *) R_alloc(2 * (size_t) size * (size_t) strips->n_threads, sizeof *w.keyed);
  return w;
}

/*
 * score: cells x scores, no NaN; hit: whether each cell is a hit; row: its row, from 1 to n_row.
 * Returns list(auc, se, ap), each for the rows and for all rows together, by score.
 */
SEXP mc_c_ranking(SEXP score, SEXP hit, SEXP row, SEXP n_row, SEXP n_threads) {
  const char *fields[] = {"auc", "se", "ap", ""};
  const int n = Rf_asInteger(n_row);
  num_strips strips;
  sorting w = sorting_of(score, hit, n_threads, &strips);
  glue_check(n >= 0 && n < INT_MAX, "n_row");
  glue_check(TYPEOF(row) == INTSXP && XLENGTH(row) == w.cells.n_cell && within(row, 1, n), "row");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int i = 0; i < 3; i++)
    SET_VECTOR_ELT(out, i, Rf_allocMatrix(REALSXP, n + 1, Rf_ncols(score)));
  w.cells.n_row = n;
  w.cells.row = INTEGER(row);
  w.ranks =
      (num_ranks){REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), REAL(VECTOR_ELT(out, 2))};
  w.tally = (num_tally *) R_alloc(((size_t) n + 1) * (size_t) strips.n_threads, sizeof *w.tally);
  glue_scan(&strips, rank_score, &w);
  UNPROTECT(1);
  return out;
}

/* Returns for each score list(hits, cells), cumulative numbers down to each distinct value of the score. */
SEXP mc_c_descend(SEXP score, SEXP hit, SEXP n_threads) {
  const char *fields[] = {"hits", "cells", ""};
  num_strips strips;
  sorting w = sorting_of(score, hit, n_threads, &strips);
  const int n_score = Rf_ncols(score);
  const size_t size = (size_t) XLENGTH(score);
  w.hits = (int *) R_alloc(size, sizeof *w.hits);
  w.all = (int *) R_alloc(size, sizeof *w.all);
  w.n_step = (int *) R_alloc((size_t) n_score, sizeof *w.n_step);
  glue_scan(&strips, descend_score, &w);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, n_score));
  for (int s = 0; s < n_score; s++) {
    const ptrdiff_t at = num_at(0, s, w.cells.n_cell);
    const int *const from[] = {w.hits + at, w.all + at};
    SET_VECTOR_ELT(out, s, Rf_mkNamed(VECSXP, fields));
    for (int f = 0; f < 2; f++) {
      SET_VECTOR_ELT(VECTOR_ELT(out, s), f, Rf_allocVector(INTSXP, w.n_step[s]));
      memcpy(INTEGER(VECTOR_ELT(VECTOR_ELT(out, s), f)), from[f],
             (size_t) w.n_step[s] * sizeof(int));
    }
  }
  UNPROTECT(1);
  return out;
}
