#include "glue/smooth.h"

/* Reads the lists of `smooth` with these names; sets *to to their weights. */
static const int *index_of(SEXP smooth, const char *start, const char *index, const char *weight,
                           int n, const double **to) {
  const SEXP at = glue_field(smooth, index), by = glue_field(smooth, weight);
  glue_lists(glue_field(smooth, start), at, n, n, start);
  glue_check(Rf_isReal(by) && XLENGTH(by) == XLENGTH(at), weight);
  *to = REAL(by);
  return INTEGER(at);
}

mc_smooth *glue_smooth(SEXP smooth, int n, int k, const int *fixed, int n_threads,
                       const mc_host *host) {
  if (Rf_isNull(smooth)) return NULL;
  mc_smooth_lists lists = {.strength = Rf_asReal(glue_field(smooth, "strength")),
                           .recording = Rf_asReal(glue_field(smooth, "recording"))};
  const SEXP reference = glue_field(smooth, "reference"), pulls = glue_field(smooth, "pulls");
  int n_fixed = 0;
  for (int c = 0; c < k && fixed; c++) n_fixed += fixed[c] != 0;
  glue_check(n_fixed < MC_MOST_SHARES, "fixed");
  if (!Rf_isNull(pulls)) {
    glue_matrix(pulls, k + 1, n, "pulls");
    return mc_new_given_smooth(REAL(pulls), n, k, fixed, host);
  }
  glue_check(lists.strength > 0 && lists.recording >= 0, "strength");
  if (!Rf_isNull(reference)) {
    glue_matrix(reference, k, n, "reference");
    lists.reference = REAL(reference);
    glue_matrix(glue_field(smooth, "common"), k, 1, "common");
    lists.common = REAL(glue_field(smooth, "common"));
    return mc_new_smooth(&lists, n, k, fixed, n_threads, host);
  }
  lists.neighbour = index_of(smooth, "start", "neighbour", "weight", n, &lists.weight);
  lists.back_row = index_of(smooth, "back_start", "back_row", "back_weight", n, &lists.back_weight);
  lists.start = INTEGER(glue_field(smooth, "start"));
  lists.back_start = INTEGER(glue_field(smooth, "back_start"));
  return mc_new_smooth(&lists, n, k, fixed, n_threads, host);
}

typedef struct {
  SEXP membership, fixed, smooth, n_threads, out;
} arguments;

static SEXP pull_body(void *ctx) {
  const arguments *arg = ctx;
  const int n = Rf_nrows(arg->membership), k = Rf_ncols(arg->membership);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  mc_smooth *smooth =
      glue_smooth(arg->smooth, n, k, INTEGER(arg->fixed), Rf_asInteger(arg->n_threads), &host);
  const double beside = mc_smooth_pull(smooth, REAL(arg->membership), true);
  SET_VECTOR_ELT(arg->out, 0, Rf_ScalarReal(beside));
  SET_VECTOR_ELT(arg->out, 1, Rf_allocMatrix(REALSXP, k + 1, n));
  mc_smooth_pulls(smooth, REAL(VECTOR_ELT(arg->out, 1)));
  return arg->out;
}

/* membership: n x k of all rows; smooth: lists. Returns list(beside, pulls = (k + 1) x n), see
 * engine/smooth.h. */
SEXP mc_c_smooth_pulls(SEXP membership, SEXP fixed, SEXP smooth, SEXP n_threads) {
  const char *names[] = {"beside", "pulls", ""};
  glue_matrix(membership, Rf_nrows(membership), Rf_ncols(membership), "membership");
  glue_check(Rf_isInteger(fixed) && XLENGTH(fixed) == Rf_ncols(membership), "fixed");
  glue_check(!Rf_isNull(smooth), "smooth");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  arguments arg = {membership, fixed, smooth, n_threads, out};
  glue_serial_blas(pull_body, &arg);
  UNPROTECT(1);
  return out;
}
