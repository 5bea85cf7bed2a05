/*
 * entries.c: .Call entries to functions that only tests call. It is not part of the package:
 * helper-entries.R builds it with the kernels that it calls.
 */
#include "glue/bmf.h"

#include <R_ext/Random.h>
#include <math.h>

#include "num/entropic.h"
#include "num/lambert.h"
#include "num/threads.h"

SEXP test_bmf_look(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP item, SEXP omega,
                   SEXP added);
SEXP test_bmf_density(SEXP view, SEXP transposed, SEXP model, SEXP state);
SEXP test_bmf_recode(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP which);
SEXP test_lambert(SEXP x, SEXP branch);
SEXP test_entropic(SEXP counts, SEXP beta, SEXP rule);
SEXP test_blas_threads(SEXP n);

/* Full conditionals of the sampler of bmf() at one state; tests compare them with reference results. */

static SEXP log_odds(bmf_state *state, int s) {
  bmf_workspace *ws = bmf_new_workspace(state, s);
  bmf_workspace_begin(ws, state, s);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, ws->n, ws->own->k));
  for (int i = 0; i < ws->n; i++) {
    bmf_row_begin(ws, i);
    for (int c = 0; c < ws->own->k; c++) {
      double *to = REAL(out) + num_at(i, c, ws->n);
      const int others = bmf_n_others(ws->own, ws->at.u, c);
      *to = NA_REAL;
      if (c < ws->own->n_fixed || (ws->own->infinite && others == 0)) continue;
      const double shift = bmf_row_shift(ws, c, -1);
      *to = ws->view.log_on[others] - ws->view.log_off[others] + (ws->at.u[c] ? -shift : shift);
    }
  }
  UNPROTECT(1);
  return out;
}

/* Q (lower triangle) and h of the weights; Poisson: counts and exposure. */
static void look_at_weights(bmf_state *state, SEXP out) {
  bmf_workspace *ws = bmf_new_workspace(state, 0);
  bmf_workspace_begin(ws, state, 0);
  const int size = state->side[0].k * state->side[1].k;
  if (state->family == BMF_POISSON) {
    double background;
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, size));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, size));
    bmf_weight_counts(ws, REAL(VECTOR_ELT(out, 2)), REAL(VECTOR_ELT(out, 3)), &background);
    return;
  }
  SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, size, size));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, size));
  bmf_weight_system(ws, REAL(VECTOR_ELT(out, 2)), REAL(VECTOR_ELT(out, 3)));
}

static SEXP laws(bmf_state *state) {
  const int which[] = {BMF_ALPHA_ROWS, BMF_ALPHA_COLUMNS, BMF_WEIGHT_PRECISION,
                       BMF_NOISE_PRECISION};
  bmf_measure_work work = bmf_new_measure(state, 1);
  const double error = bmf_measure(state, &work, NULL).squared_error;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, 2, 4));
  for (int h = 0; h < 4; h++)
    bmf_gamma_law(state, which[h], error, REAL(out) + (ptrdiff_t) 2 * h,
                  REAL(out) + (ptrdiff_t) 2 * h + 1);
  UNPROTECT(1);
  return out;
}

/* Births of an item; Poisson: the likelihood ratio for own features with summed weights `added`. */
static SEXP look_at_births(bmf_state *state, int item, SEXP added) {
  const bool poisson = state->family == BMF_POISSON;
  bmf_workspace *ws = bmf_new_workspace(state, 0);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, poisson ? 1 : 4));
  bmf_workspace_begin(ws, state, 0);
  bmf_row_begin(ws, item);
  if (!poisson) {
    bmf_births_log_lik(ws, 4, REAL(out));
  } else {
    REAL(out)[0] = NA_REAL;
    glue_check(Rf_isNull(added) || Rf_length(added) == state->side[1].k, "added");
    if (!Rf_isNull(added)) REAL(out)[0] = bmf_births_log_ratio(ws, REAL(added));
  }
  UNPROTECT(1);
  return out;
}

typedef struct {
  SEXP view, transposed, model, state, item, omega, added, out;
} look_arguments;

static SEXP look_body(void *ctx) {
  const look_arguments *arg = ctx;
  bmf_arguments in;
  bmf_read_state(&in, arg->view, arg->transposed, arg->model, arg->state, R_NilValue);
  bmf_state *state = &in.state;
  if (!Rf_isNull(arg->omega)) {
    glue_matrix(arg->omega, in.data[0].n, in.data[0].m, "omega");
    state->omega = REAL(arg->omega);
  }
  for (int s = 0; s < 2; s++) SET_VECTOR_ELT(arg->out, s, log_odds(state, s));
  look_at_weights(state, arg->out);
  SET_VECTOR_ELT(arg->out, 4, laws(state));
  SET_VECTOR_ELT(arg->out, 5, look_at_births(state, Rf_asInteger(arg->item) - 1, arg->added));
  if (state->family == BMF_GAUSSIAN && !in.data[0].na_start) {
    SET_VECTOR_ELT(arg->out, 6, Rf_allocVector(REALSXP, 2));
    for (int s = 0; s < 2; s++)
      REAL(VECTOR_ELT(arg->out, 6))[s] = bmf_log_marginal(bmf_new_workspace(state, s), state, s);
  }
  bmf_workspace *ws = bmf_new_workspace(state, 0);
  bmf_workspace_begin(ws, state, 0);
  SET_VECTOR_ELT(arg->out, 7, Rf_ScalarReal(bmf_birth_rate(ws)));
  return arg->out;
}

SEXP test_bmf_look(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP item, SEXP omega,
                   SEXP added) {
  const char *fields[] = {"rows",   "columns",  "weight_q",   "weight_h", "laws",
                          "births", "marginal", "birth_rate", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  look_arguments arg = {view, transposed, model, state, item, omega, added, out};
  GetRNGstate();
  glue_serial_blas(look_body, &arg);
  PutRNGstate();
  UNPROTECT(1);
  return out;
}

static SEXP density_body(void *ctx) {
  const look_arguments *arg = ctx;
  bmf_arguments in;
  bmf_read_state(&in, arg->view, arg->transposed, arg->model, arg->state, R_NilValue);
  const bmf_state *state = &in.state;
  for (int s = 0; s < 2; s++) bmf_drop_empty(&in.state, s);
  bmf_measure_work work = bmf_new_measure(state, 1);
  double *out = REAL(arg->out);
  for (int s = 0; s < 2; s++) out[s] = bmf_log_prior_side(state, s);
  out[2] = bmf_log_prior_weights(state);
  out[3] = bmf_measure(state, &work, NULL).log_lik;
  for (int h = 0; h < BMF_N_HYPER; h++) out[4 + h] = bmf_log_hyper(state, h);
  return arg->out;
}

/* Log priors of rows, columns and weights, log-likelihood, hyperpriors. */
SEXP test_bmf_density(SEXP view, SEXP transposed, SEXP model, SEXP state) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 4 + BMF_N_HYPER));
  look_arguments arg = {
      .view = view, .transposed = transposed, .model = model, .state = state, .out = out};
  glue_serial_blas(density_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP recode_body(void *ctx) {
  const look_arguments *arg = ctx;
  const int *which = INTEGER(arg->item), s = which[0];
  bmf_arguments in;
  bmf_read_state(&in, arg->view, arg->transposed, arg->model, arg->state, R_NilValue);
  bmf_recoding to;
  if (!bmf_find_recoding(&in.state, s, which[1], which[2], which[3], &to)) return R_NilValue;
  const bmf_side *own = &in.state.side[s];
  const int n = own->n, k = own->k, n_l = in.state.side[1 - s].k;
  SET_VECTOR_ELT(arg->out, 0, Rf_ScalarReal(bmf_recoding_log_ratio(&in.state, s, &to)));
  bmf_recode_as(&in.state, s, &to);
  SET_VECTOR_ELT(arg->out, 1, Rf_allocMatrix(INTSXP, n, k));
  SET_VECTOR_ELT(arg->out, 2, Rf_allocMatrix(REALSXP, k, n_l));
  for (int c = 0; c < k; c++) {
    for (int i = 0; i < n; i++)
      INTEGER(VECTOR_ELT(arg->out, 1))[num_at(i, c, n)] = bmf_item(own, i)[c];
    for (int l = 0; l < n_l; l++)
      REAL(VECTOR_ELT(arg->out, 2))[num_at(c, l, k)] = bmf_weight(&in.state, s, c)[l];
  }
  SET_VECTOR_ELT(arg->out, 3, Rf_ScalarInteger(own->count[to.a]));
  return arg->out;
}

/* which: side, features a and b, kind, from 0; NULL without such a recoding. */
SEXP test_bmf_recode(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP which) {
  const char *fields[] = {"log_ratio", "on", "weights", "count", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  look_arguments arg = {view, transposed, model, state, which, R_NilValue, R_NilValue, out};
  out = glue_serial_blas(recode_body, &arg);
  UNPROTECT(1);
  return out;
}

/* branch: 0 num_lambert_lower(), 1 num_lambert_exp(). */
SEXP test_lambert(SEXP x, SEXP branch) {
  static double (*const functions[])(double) = {num_lambert_lower, num_lambert_exp};
  const int which = Rf_asInteger(branch);
  glue_check(Rf_isReal(x) && which >= 0 && which < 2, "branch");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(x)));
  for (R_xlen_t i = 0; i < XLENGTH(x); i++) REAL(out)[i] = functions[which](REAL(x)[i]);
  UNPROTECT(1);
  return out;
}

/* The entropic M-step; NULL without counts. */
SEXP test_entropic(SEXP counts, SEXP beta, SEXP rule) {
  const int n = Rf_length(counts);
  double *scratch = (double *) R_alloc((size_t) n, sizeof *scratch);
  SEXP theta = PROTECT(Rf_allocVector(REALSXP, n));
  const bool moved = num_entropic(REAL(counts), n, Rf_asReal(beta),
                                  (num_entropic_rule) Rf_asInteger(rule), REAL(theta), scratch);
  UNPROTECT(1);
  return moved ? theta : R_NilValue;
}

/* Sets the number of threads of OpenBLAS; returns the previous one, 0 for another BLAS. */
SEXP test_blas_threads(SEXP n) {
  const int before = num_blas_threads();
  num_set_blas_threads(Rf_asInteger(n));
  return Rf_ScalarInteger(before);
}
