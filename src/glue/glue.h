/*
 * glue/glue.h: .Call entry points and their shared helpers. Entry points check what R sends (a
 * failing check is a bug of the package, not of the user), convert it to C types, call a kernel and
 * return. They contain no arithmetic.
 */
#ifndef MC_GLUE_GLUE_H
#define MC_GLUE_GLUE_H

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#include "engine/data.h"
#include "engine/fit.h"

/* Entry points, one row each in init.c. */
SEXP mc_c_view_dense(SEXP x);
SEXP mc_c_view_sparse(SEXP pointer, SEXP row, SEXP value, SEXP dim);
SEXP mc_c_view_range(SEXP view);
SEXP mc_c_view_margins(SEXP view);
SEXP mc_c_view_pairs(SEXP view);
SEXP mc_c_view_times(SEXP view, SEXP transposed, SEXP n_threads);
SEXP mc_c_view_wrong_row(SEXP view);
SEXP mc_c_row_mixture(SEXP view, SEXP mixture);
SEXP mc_c_ab_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_ab_effort_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_ab_visits_fit(SEXP cell, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_ab_visits_posterior(SEXP cell, SEXP param);
SEXP mc_c_ab_visits_inform(SEXP cell, SEXP param, SEXP prior);
SEXP mc_c_ab_visits_polish(SEXP cell, SEXP param, SEXP prior, SEXP most);
SEXP mc_c_ab_visits_gibbs(SEXP cell, SEXP param, SEXP prior, SEXP plan);
SEXP mc_c_occ_fit(SEXP rows, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_occ_modes(SEXP rows, SEXP param);
SEXP mc_c_occ_sample(SEXP rows, SEXP param, SEXP prior, SEXP plan);
SEXP mc_c_occ_pointwise(SEXP rows, SEXP j, SEXP theta);
SEXP mc_c_ab_vb_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_ab_gibbs_run(SEXP view, SEXP param, SEXP prior, SEXP plan);
SEXP mc_c_ab_certify(SEXP view, SEXP param, SEXP prior);
SEXP mc_c_ab_effort_impose(SEXP membership, SEXP coef, SEXP effort);
SEXP mc_c_smooth_pulls(SEXP membership, SEXP fixed, SEXP smooth, SEXP n_threads);
SEXP mc_c_shard_extrapolate(SEXP saved, SEXP step, SEXP space);
SEXP mc_c_neighbours(SEXP from, SEXP to, SEXP scale, SEXP own, SEXP limits);
SEXP mc_c_neighbours_mean(SEXP table, SEXP rows, SEXP own, SEXP lists, SEXP settings);
SEXP mc_c_neighbours_loglik(SEXP p, SEXP view, SEXP n_threads);
SEXP mc_c_score_odds(SEXP p, SEXP at, SEXP settings);
SEXP mc_c_stack_cells(SEXP odds, SEXP weights, SEXP covariance, SEXP n_threads);
SEXP mc_c_equal_spread(SEXP z, SEXP n_threads);
SEXP mc_c_logistic_regression(SEXP design, SEXP cases, SEXP penalty, SEXP start, SEXP limits);
SEXP mc_c_assign(SEXP cost);
SEXP mc_c_make_room(SEXP bytes);
SEXP mc_c_ranking(SEXP score, SEXP hit, SEXP row, SEXP n_row, SEXP n_threads);
SEXP mc_c_descend(SEXP score, SEXP hit, SEXP n_threads);
SEXP mc_c_ac_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_ac_gibbs_run(SEXP view, SEXP param, SEXP prior, SEXP plan);
SEXP mc_c_bm_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_lp_fit(SEXP view, SEXP param, SEXP control);
SEXP mc_c_nm_fit(SEXP view, SEXP param, SEXP control);
SEXP mc_c_nm_sum(SEXP view, SEXP param, SEXP control);
SEXP mc_c_plsa_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_plsa_vb_fit(SEXP view, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_plsa_gibbs_fold_in(SEXP view, SEXP param);
SEXP mc_c_plsa_gibbs_run(SEXP view, SEXP state, SEXP plan);
SEXP mc_c_plca_fit(SEXP cells, SEXP param, SEXP prior, SEXP control);
SEXP mc_c_plca_prior(SEXP cells, SEXP param, SEXP prior);
SEXP mc_c_view_distinct(SEXP view);
SEXP mc_c_nor_fit(SEXP view, SEXP param, SEXP settings, SEXP control);
SEXP mc_c_nor_report(SEXP view, SEXP param, SEXP settings);
SEXP mc_c_nor_sum(SEXP view, SEXP param, SEXP settings, SEXP control);
SEXP mc_c_nor_sample(SEXP view, SEXP param, SEXP settings);
SEXP mc_c_nor_gibbs(SEXP view, SEXP param, SEXP settings, SEXP plan);
SEXP mc_c_bmf_run(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP plan);
SEXP mc_c_bmf_predict(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP plan);
SEXP mc_c_memory(void);

/* Argument checks; a failure is an internal error. */
void glue_check(bool ok, const char *what);
void glue_matrix(SEXP x, int n_row, int n_column, const char *name);
int glue_threads(SEXP n_threads);
SEXP glue_field(SEXP list, const char *name); /* R_NilValue if there is none */

/*
 * Checks n concatenated lists: list i is start[i] .. start[i + 1] - 1 of index, whose entries are
 * from 0 to n_index - 1.
 */
void glue_lists(SEXP start, SEXP index, int n, int n_index, const char *name);

/* Reads plan's probe (2 x p): row and column, from 0, of cells of an n x m table; returns p. */
int glue_probe(SEXP plan, int n, int m, const int **probe);

/* Returns an R matrix with these values; from may be NULL if it is empty. */
SEXP glue_new_matrix(const double *from, int n_row, int n_column);

/* Sets a field of the result to `length` zeros and returns its values. */
double *glue_zeros(SEXP out, int field, R_xlen_t length);

/* Returns a list with these names ("" ends them); the first n_copied elements are deep copies from param. */
SEXP glue_result(const char **fields, SEXP param, int n_copied);

mc_data glue_data(SEXP view);
mc_control glue_control(SEXP control);

/* A host that allocates with R_alloc(), checks for interrupts and reports progress, without jumping. */
typedef struct {
  double last_asked; /* seconds; R is called at most every 20 ms */
  SEXP progress;     /* function(iteration, objective), or NULL */
  SEXP error;        /* the error that stopped it (for instance a time limit), or NULL */
  bool stopped;
  bool draws; /* for samplers: R code run by the host must not change the draws */
} glue_context;

mc_host glue_host(glue_context *context, SEXP control);

/*
 * Evaluates a call without jumping. Returns R_NilValue on failure or interrupt; the host then
 * requests a stop.
 */
SEXP glue_eval(const mc_host *host, SEXP call);

/*
 * Ends a stopped call by signalling the error or interrupt that the host caught, so that no partial
 * result is returned. Must follow every kernel that calls the host. Kernels that keep draws at an
 * interrupt use glue_end_failed(), which signals only errors.
 */
void glue_end_stopped(const mc_host *host);
void glue_end_failed(const mc_host *host);

/* mc_scan() with a temporary host; a stop ends the call. */
void glue_scan(const num_strips *strips, num_scanner scan, void *ctx);

/* Runs mc_fit() and returns list(status, n_iter, trace, objective); a stop ends the call. */
SEXP glue_fit(mc_model *model, const mc_control *ctl, const mc_host *host);

/* A call that fits a model: R's arguments as C types; out is the result, a list. */
typedef struct {
  SEXP param, prior, out;
  mc_data data;
  mc_control ctl;
  mc_host host;
} glue_call;

/*
 * Model-specific part of glue_fit_model(): the names of its result ("" ends them). The first
 * n_copied are parameters, fitted in place in call->out, then "outcome", then the fields that
 * finish() adds.
 */
typedef struct {
  const char **fields;
  int n_copied;
  mc_model (*model)(glue_call *call);                      /* checks, converts, allocates the
                                                              workspace */
  void (*finish)(glue_call *call, const mc_model *fitted); /* or NULL */
} glue_recipe;

/* Common body of all entry points that fit a model to a view of the data. */
SEXP glue_fit_model(const glue_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control);

/* Values of a parameter in the result; a wrong shape is an internal error. */
double *glue_param(const glue_call *call, int field, int n_row, int n_column);

/* Allocates memory for the duration of the call. */
void *glue_new(const glue_call *call, size_t size);

/* Runs body(data) with OpenBLAS on one thread and restores its setting however it ends. */
SEXP glue_serial_blas(SEXP (*body)(void *), void *data);

/* glue_serial_blas() for a body that draws from R's generator. */
SEXP glue_sample(SEXP (*body)(void *), void *data);

#endif
