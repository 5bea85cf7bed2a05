/* bmf/hyper.c: updates of precisions, concentrations and other hyperparameters. */
#include "bmf/bmf.h"

#include "num/rng.h"

#include <math.h>

/* Gamma full conditional; bmf_gamma_law() exposes it to tests. */
typedef struct {
  double shape, rate;
} gamma_law;

static gamma_law weight_precision_law(const bmf_state *state) {
  const bmf_hyper *hyper = &state->hyper[BMF_WEIGHT_PRECISION];
  const double mean = state->hyper[BMF_WEIGHT_MEAN].value;
  const double n_weights = (double) state->side[0].k * state->side[1].k;
  gamma_law law = {hyper->shape, hyper->rate};
  const bool gamma = state->family == BMF_POISSON;
  law.shape += n_weights * (gamma ? state->hyper[BMF_WEIGHT_SHAPE].value : 0.5);
  for (int c = 0; c < state->side[0].k; c++)
    for (int l = 0; l < state->side[1].k; l++) {
      const double w = bmf_weight(state, 0, c)[l];
      law.rate += gamma ? w : 0.5 * (w - mean) * (w - mean);
    }
  return law;
}

static gamma_law noise_precision_law(const bmf_state *state, double squared_error) {
  const bmf_hyper *hyper = &state->hyper[BMF_NOISE_PRECISION];
  const mc_data *x = state->data[BMF_ROWS];
  double n_observed = 0;
  for (int i = 0; i < x->n; i++) n_observed += data_n_observed(x, i);
  const gamma_law law = {hyper->shape + 0.5 * state->power * n_observed,
                         hyper->rate + 0.5 * state->power * fmax(squared_error, 0)};
  return law;
}

/* Infinite side: the number of features is Poisson(alpha H). */
static gamma_law alpha_law(const bmf_state *state, int s) {
  const bmf_hyper *hyper = &state->hyper[BMF_ALPHA_ROWS + s];
  const gamma_law law = {hyper->shape + bmf_n_free(&state->side[s]),
                         hyper->rate + bmf_harmonic(&state->side[s])};
  return law;
}

void bmf_gamma_law(const bmf_state *state, int which, double squared_error, double *shape,
                   double *rate) {
  gamma_law law;
  switch (which) {
    case BMF_WEIGHT_PRECISION: law = weight_precision_law(state); break;
    case BMF_NOISE_PRECISION: law = noise_precision_law(state, squared_error); break;
    default: law = alpha_law(state, which - BMF_ALPHA_ROWS); break;
  }
  *shape = law.shape;
  *rate = law.rate;
}

/* Log density of the non-conjugate terms in hyper `which`, up to a constant. */
static double log_conditional(bmf_state *state, int which) {
  if (which == BMF_ALPHA_ROWS || which == BMF_ALPHA_COLUMNS)
    return bmf_log_prior_side(state, which - BMF_ALPHA_ROWS);
  return bmf_log_prior_weights(state);
}

/* Log density at log value y, including the Gamma prior and the Jacobian of the logarithm. */
static double log_density_at(bmf_state *state, int which, double y) {
  bmf_hyper *hyper = &state->hyper[which];
  hyper->value = exp(y);
  if (hyper->value < NUM_GAMMA_LEAST || hyper->value > NUM_GAMMA_MOST) return -INFINITY;
  return log_conditional(state, which) + hyper->shape * y - hyper->rate * hyper->value;
}

#define SLICE_WIDTH 1.0
#define SLICE_STEPS 50

/* Slice sampling on the log scale, stepping out and shrinking: Neal (2003), doi:10.1214/aos/1056562461. */
static void slice(bmf_state *state, int which) {
  const double now = log(state->hyper[which].value);
  const double level = log_density_at(state, which, now) - num_draw_exp();
  double low = now - SLICE_WIDTH * num_unif(), high = low + SLICE_WIDTH;
  int below = num_below(SLICE_STEPS), above = SLICE_STEPS - 1 - below;
  while (below-- > 0 && log_density_at(state, which, low) > level) low -= SLICE_WIDTH;
  while (above-- > 0 && log_density_at(state, which, high) > level) high += SLICE_WIDTH;
  for (;;) {
    const double y = low + num_unif() * (high - low);
    if (log_density_at(state, which, y) > level) return;
    if (y < now)
      low = y;
    else
      high = y;
    if (high - low < 1e-12) {
      state->hyper[which].value = exp(now);
      return;
    }
  }
}

#define PRECISION_LEAST 1e-30 /* of weights, relative to that of the noise */

static void draw_gamma(bmf_state *state, int which, double squared_error) {
  double shape, rate;
  bmf_gamma_law(state, which, squared_error, &shape, &rate);
  double value = num_draw_gamma_within(shape, rate);
  /*
   * Without weights the precision is drawn from its prior. A vague prior may yield values so small
   * that the linear predictor, which is on the scale of the noise (Bernoulli: of 1), loses all
   * digits.
   */
  if (which == BMF_WEIGHT_PRECISION && state->family != BMF_POISSON) {
    const bool gaussian = state->family == BMF_GAUSSIAN;
    value = fmax(value, PRECISION_LEAST * (gaussian ? state->hyper[BMF_NOISE_PRECISION].value : 1));
  }
  state->hyper[which].value = value;
}

void bmf_update_hyper(bmf_state *state, double squared_error) {
  const bmf_hyper *hyper = state->hyper;
  const bool poisson = state->family == BMF_POISSON;
  if (hyper[BMF_NOISE_PRECISION].learned && state->family == BMF_GAUSSIAN)
    draw_gamma(state, BMF_NOISE_PRECISION, squared_error);
  if (hyper[BMF_WEIGHT_PRECISION].learned) draw_gamma(state, BMF_WEIGHT_PRECISION, 0);
  if (hyper[BMF_WEIGHT_MEAN].learned && !poisson) slice(state, BMF_WEIGHT_MEAN);
  if (hyper[BMF_WEIGHT_SHAPE].learned && poisson) slice(state, BMF_WEIGHT_SHAPE);
  for (int s = 0; s < 2; s++) {
    if (!hyper[BMF_ALPHA_ROWS + s].learned) continue;
    if (state->side[s].infinite)
      draw_gamma(state, BMF_ALPHA_ROWS + s, 0);
    else
      slice(state, BMF_ALPHA_ROWS + s);
  }
}
