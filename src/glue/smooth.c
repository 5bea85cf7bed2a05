#include "glue/smooth.h"

static const int *integers(SEXP x, R_xlen_t length, const char *name) {
  glue_check(Rf_isInteger(x) && XLENGTH(x) == length, name);
  return INTEGER(x);
}

mc_smooth *glue_smooth(SEXP smooth, int n, int k, const int *pinned, int n_threads,
                       const mc_host *host) {
  if (Rf_isNull(smooth)) return NULL;
  mc_smooth_lists lists = {.strength = Rf_asReal(glue_field(smooth, "strength")),
                           .recording = Rf_asReal(glue_field(smooth, "recording"))};
  const SEXP reference = glue_field(smooth, "reference");
  int n_pinned = 0;
  for (int c = 0; c < k && pinned; c++) n_pinned += pinned[c] != 0;
  glue_check(n_pinned < MC_MOST_SHARES, "pinned");
  glue_check(lists.strength > 0 && lists.recording >= 0, "strength");
  if (!Rf_isNull(reference)) {
    glue_matrix(reference, k, n, "reference");
    lists.reference = REAL(reference);
    glue_matrix(glue_field(smooth, "common"), k, 1, "common");
    lists.common = REAL(glue_field(smooth, "common"));
    return mc_new_smooth(&lists, n, k, pinned, n_threads, host);
  }
  lists.start = integers(glue_field(smooth, "start"), (R_xlen_t) n + 1, "start");
  lists.back_start = integers(glue_field(smooth, "back_start"), (R_xlen_t) n + 1, "back_start");
  const int n_edge = lists.start[n];
  glue_check(lists.back_start[n] == n_edge, "back_start");
  lists.neighbour = integers(glue_field(smooth, "neighbour"), n_edge, "neighbour");
  lists.back_row = integers(glue_field(smooth, "back_row"), n_edge, "back_row");
  glue_matrix(glue_field(smooth, "weight"), n_edge, 1, "weight");
  glue_matrix(glue_field(smooth, "back_weight"), n_edge, 1, "back_weight");
  lists.weight = REAL(glue_field(smooth, "weight"));
  lists.back_weight = REAL(glue_field(smooth, "back_weight"));
  return mc_new_smooth(&lists, n, k, pinned, n_threads, host);
}
