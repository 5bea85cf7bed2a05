#include "glue/glue.h"
#include "visits_occupancy/history.h"

#include <string.h>

/*
 * rows: list(taxon = n numbers from 0, found = n_visit x n, 1, 0 or NA); at: list(odds = n_u x m,
 * visit = n_visit x n, node, weight = n_node each).
 */
static occ_histories histories_of(SEXP rows, SEXP at) {
  SEXP taxon = glue_field(rows, "taxon"), found = glue_field(rows, "found");
  SEXP odds = glue_field(at, "odds"), visit = glue_field(at, "visit");
  SEXP node = glue_field(at, "node"), weight = glue_field(at, "weight");
  glue_check(Rf_isInteger(taxon) && Rf_isInteger(found) && Rf_isMatrix(found), "rows");
  glue_check(Rf_isReal(odds) && Rf_isMatrix(odds), "odds");
  glue_check(Rf_isReal(node), "node");
  occ_histories h = {.n = (int) XLENGTH(taxon), .m = Rf_ncols(odds), .n_visit = Rf_nrows(found)};
  glue_check(Rf_ncols(found) == h.n, "found");
  h.n_u = Rf_nrows(odds);
  h.n_node = (int) XLENGTH(node);
  glue_matrix(visit, h.n_visit, h.n, "visit");
  glue_matrix(node, h.n_node, 1, "node");
  glue_matrix(weight, h.n_node, 1, "weight");
  h.taxon = INTEGER(taxon);
  for (int r = 0; r < h.n; r++) glue_check(h.taxon[r] >= 0 && h.taxon[r] < h.m, "taxon");
  h.found = INTEGER(found);
  h.odds = REAL(odds);
  h.visit = REAL(visit);
  h.node = REAL(node);
  h.weight = REAL(weight);
  return h;
}

typedef struct {
  const occ_histories *h;
  double *scratch;
  const double *present; /* of occ_shift() */
  double *likelihood, *slope, *curve;
} work;

static void likelihood_block(void *ctx, int strip, int thread, int first, int b) {
  const work *w = ctx;
  (void) strip;
  (void) thread;
  occ_likelihood(w->h, first, first + b, w->scratch, w->likelihood);
}

static void shift_block(void *ctx, int strip, int thread, int first, int b) {
  const work *w = ctx;
  (void) strip;
  (void) thread;
  occ_shift(w->h, first, first + b, w->present, w->scratch, w->slope, w->curve);
}

/* In blocks, that an interrupt may end, by one thread: slopes are summed over rows in their order. */
static void scan_rows(work *w, num_scanner block) {
  const occ_histories *h = w->h;
  w->scratch = (double *) R_alloc((size_t) h->n_u * ((size_t) h->n_node + 1), sizeof(double));
  const num_strips strips = num_new_strips(h->n, 64, 1);
  glue_scan(&strips, block, w);
}

/* As occ_likelihood(): n_u x n. */
SEXP mc_c_occ_likelihood(SEXP rows, SEXP at) {
  const occ_histories h = histories_of(rows, at);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, h.n_u, h.n));
  work w = {.h = &h, .likelihood = REAL(out)};
  scan_rows(&w, likelihood_block);
  UNPROTECT(1);
  return out;
}

/* As occ_shift(): list(slope, curve), m x n_visit each. */
SEXP mc_c_occ_shift(SEXP rows, SEXP at, SEXP present) {
  const char *fields[] = {"slope", "curve", ""};
  const occ_histories h = histories_of(rows, at);
  glue_matrix(present, h.n_u, h.n, "present");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int side = 0; side < 2; side++)
    SET_VECTOR_ELT(out, side, Rf_allocMatrix(REALSXP, h.m, h.n_visit));
  work w = {.h = &h, .present = REAL(present)};
  w.slope = REAL(VECTOR_ELT(out, 0));
  w.curve = REAL(VECTOR_ELT(out, 1));
  const size_t size = (size_t) h.m * (size_t) h.n_visit * sizeof(double);
  memset(w.slope, 0, size);
  memset(w.curve, 0, size);
  scan_rows(&w, shift_block);
  UNPROTECT(1);
  return out;
}
