/* glue_bmf_look.c: what the sampler of bmf() draws from, at one state; held to reference answers by the tests. */
#include "glue_bmf.h"

#include <R_ext/Random.h>
#include <math.h>

static SEXP log_odds(bmf_state *state, int s) {
  bmf_half *half = bmf_new_half(state, s);
  bmf_half_begin(half, state, s);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, half->n, half->own->k));
  for (int i = 0; i < half->n; i++) {
    bmf_row_begin(half, i);
    for (int c = 0; c < half->own->k; c++) {
      double *to = REAL(out) + num_at(i, c, half->n);
      const int others = bmf_n_others(half->own, half->u, c);
      *to = NA_REAL;
      if (c < half->own->n_fixed || (half->own->infinite && others == 0)) continue;
      const double shift = bmf_row_shift(half, c, -1);
      *to = half->log_on[others] - half->log_off[others] + (half->u[c] ? -shift : shift);
    }
  }
  UNPROTECT(1);
  return out;
}

/* Q (lower triangle) and h of the weights; Poisson: counts and exposure. */
static void look_at_weights(bmf_state *state, SEXP out) {
  bmf_half *half = bmf_new_half(state, 0);
  bmf_half_begin(half, state, 0);
  const int size = state->side[0].k * state->side[1].k;
  if (state->family == BMF_POISSON) {
    double background;
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, size));
    SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, size));
    bmf_weight_counts(half, REAL(VECTOR_ELT(out, 2)), REAL(VECTOR_ELT(out, 3)), &background);
    return;
  }
  SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, size, size));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, size));
  bmf_weight_system(half, REAL(VECTOR_ELT(out, 2)), REAL(VECTOR_ELT(out, 3)));
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

/* Births of an item; Poisson: how the likelihood judges own features whose weights add up to added. */
static SEXP look_at_births(bmf_state *state, int item, SEXP added) {
  const bool poisson = state->family == BMF_POISSON;
  bmf_half *half = bmf_new_half(state, 0);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, poisson ? 1 : 4));
  bmf_half_begin(half, state, 0);
  bmf_row_begin(half, item);
  if (!poisson) {
    bmf_births_log_lik(half, 4, REAL(out));
  } else {
    REAL(out)[0] = NA_REAL;
    glue_check(Rf_isNull(added) || Rf_length(added) == state->side[1].k, "added");
    if (!Rf_isNull(added)) REAL(out)[0] = bmf_births_log_ratio(half, REAL(added));
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
      REAL(VECTOR_ELT(arg->out, 6))[s] = bmf_log_marginal(bmf_new_half(state, s), state, s);
  }
  bmf_half *half = bmf_new_half(state, 0);
  bmf_half_begin(half, state, 0);
  SET_VECTOR_ELT(arg->out, 7, Rf_ScalarReal(bmf_birth_rate(half)));
  return arg->out;
}

SEXP mc_c_bmf_look(SEXP view, SEXP transposed, SEXP model, SEXP state, SEXP item, SEXP omega,
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
