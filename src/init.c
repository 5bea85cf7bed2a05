#include "glue/glue.h"
#include "num/threads.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

/* One row per entry point. */
/* clang-format off */
#define ENTRY(name, n_arguments) {#name, (DL_FUNC) &(name), n_arguments}

static const R_CallMethodDef entries[] = {
    ENTRY(mc_c_view_dense, 1),
    ENTRY(mc_c_view_sparse, 4),
    ENTRY(mc_c_view_range, 1),
    ENTRY(mc_c_view_margins, 1),
    ENTRY(mc_c_view_pairs, 1),
    ENTRY(mc_c_view_times, 3),
    ENTRY(mc_c_view_wrong_row, 1),
    ENTRY(mc_c_row_mixture, 2),
    ENTRY(mc_c_ab_fit, 4),
    ENTRY(mc_c_ab_effort_fit, 4),
    ENTRY(mc_c_ab_visits_fit, 4),
    ENTRY(mc_c_ab_visits_posterior, 2),
    ENTRY(mc_c_ab_visits_inform, 3),
    ENTRY(mc_c_ab_visits_polish, 4),
    ENTRY(mc_c_ab_visits_gibbs, 4),
    ENTRY(mc_c_occ_fit, 4),
    ENTRY(mc_c_occ_modes, 2),
    ENTRY(mc_c_occ_sample, 4),
    ENTRY(mc_c_occ_pointwise, 3),
    ENTRY(mc_c_ab_vb_fit, 4),
    ENTRY(mc_c_ab_gibbs_run, 4),
    ENTRY(mc_c_ab_certify, 3),
    ENTRY(mc_c_ab_effort_impose, 3),
    ENTRY(mc_c_smooth_pulls, 4),
    ENTRY(mc_c_shard_extrapolate, 3),
    ENTRY(mc_c_neighbours, 5),
    ENTRY(mc_c_neighbours_mean, 5),
    ENTRY(mc_c_equal_spread, 2),
    ENTRY(mc_c_logistic_regression, 5),
    ENTRY(mc_c_assign, 1),
    ENTRY(mc_c_make_room, 1),
    ENTRY(mc_c_ranking, 5),
    ENTRY(mc_c_descend, 3),
    ENTRY(mc_c_neighbours_loglik, 3),
    ENTRY(mc_c_score_odds, 3),
    ENTRY(mc_c_stack_cells, 4),
    ENTRY(mc_c_ac_fit, 4),
    ENTRY(mc_c_ac_gibbs_run, 4),
    ENTRY(mc_c_bm_fit, 4),
    ENTRY(mc_c_lp_fit, 3),
    ENTRY(mc_c_nm_fit, 3),
    ENTRY(mc_c_nm_sum, 3),
    ENTRY(mc_c_plsa_fit, 4),
    ENTRY(mc_c_plsa_vb_fit, 4),
    ENTRY(mc_c_plsa_gibbs_fold_in, 2),
    ENTRY(mc_c_plsa_gibbs_run, 3),
    ENTRY(mc_c_plca_fit, 4),
    ENTRY(mc_c_plca_prior, 3),
    ENTRY(mc_c_view_distinct, 1),
    ENTRY(mc_c_nor_fit, 4),
    ENTRY(mc_c_nor_report, 3),
    ENTRY(mc_c_nor_sum, 4),
    ENTRY(mc_c_nor_sample, 3),
    ENTRY(mc_c_nor_gibbs, 4),
    ENTRY(mc_c_bmf_run, 5),
    ENTRY(mc_c_bmf_predict, 5),
    ENTRY(mc_c_memory, 0),
    {NULL, NULL, 0},
};
/* clang-format on */

void R_init_multicause(DllInfo *dll);

void attribute_visible R_init_multicause(DllInfo *dll) {
  if (!num_watch_forks()) Rf_warning("multicause: forked processes must use one thread");
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
