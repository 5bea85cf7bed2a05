/* model_bmf_row.c: the likelihood of one item as its features flip. */
#include "model_bmf_half.h"

#include "num_rng.h"

#include <math.h>
#include <string.h>

static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static const double *effect_of(const bmf_half *half, int c) {
  return half->effect + (ptrdiff_t) c * half->m;
}

/* +1: the flip turns c on; -1: off. */
static int sign_of(const bmf_half *half, int c) { return half->u[c] ? -1 : 1; }

static int n_stored(const bmf_half *half) {
  return half->data->start[half->item + 1] - half->data->start[half->item];
}
static const int *stored_cells(const bmf_half *half) {
  return half->data->column + half->data->start[half->item];
}
static double stored_value(const bmf_half *half, int e) {
  return half->data->value ? half->data->value[half->data->start[half->item] + e] : 1;
}
static int n_missing(const bmf_half *half) { return data_n_missing(half->data, half->item); }
static const int *missing_cells(const bmf_half *half) {
  return n_missing(half) ? half->data->na_column + half->data->na_start[half->item] : NULL;
}

static void mark_seen(bmf_half *half) {
  for (int j = 0; j < half->m; j++) half->seen[j] = 1;
  for (int e = 0; e < n_missing(half); e++) half->seen[missing_cells(half)[e]] = 0;
}

/* ---- Gaussian ---- */

static bool same_pattern(const bmf_half *half, int other_item) {
  const int n = n_missing(half);
  return other_item >= 0 && data_n_missing(half->data, other_item) == n &&
         memcmp(missing_cells(half), half->data->na_column + half->data->na_start[other_item],
                (size_t) n * sizeof(int)) == 0;
}

/* gram of the observed cells: that of all less that of the missing, or their own if these are few. */
static void partial_gram(bmf_half *half) {
  const int n_l = half->other->k;
  double *gram = half->partial.gram;
  const bool few_missing = 2 * n_missing(half) < half->m;
  mark_seen(half);
  if (few_missing)
    for (int j = 0; j < half->m; j++) half->seen[j] = 1 - half->seen[j];
  bmf_gram_of(half, half->seen, gram);
  if (few_missing)
    for (int e = 0; e < n_l * n_l; e++) gram[e] = half->full.gram[e] - gram[e];
  half->partial.basis_known = false;
  for (int c = 0; c < half->own->k; c++) {
    const double *w = bmf_weight(half->state, half->s, c);
    double *image = half->partial.image + (ptrdiff_t) c * half->room_other;
    for (int l = 0; l < n_l; l++) image[l] = bmf_dot(gram + (ptrdiff_t) l * n_l, w, n_l);
  }
}

static const double *image_of(const bmf_half *half, int c) {
  return half->gram->image + (ptrdiff_t) c * half->room_other;
}

static void begin_gaussian(bmf_half *half) {
  const int n_l = half->other->k;
  if (n_missing(half) == 0) {
    half->gram = &half->full;
  } else {
    if (!same_pattern(half, half->pattern_of)) partial_gram(half);
    half->pattern_of = half->item;
    half->gram = &half->partial;
  }
  double *residual = half->residual;
  memset(residual, 0, (size_t) n_l * sizeof(double));
  for (int e = 0; e < n_stored(half); e++) {
    const int j = stored_cells(half)[e];
    const int *list = half->on_list + (ptrdiff_t) j * half->room_other;
    for (int a = 0; a < half->n_on[j]; a++) residual[list[a]] += stored_value(half, e);
  }
  for (int c = 0; c < half->own->k; c++)
    if (half->u[c])
      for (int l = 0; l < n_l; l++) residual[l] -= image_of(half, c)[l];
}

/* lambda (s w'V'Or - w'V'OVw / 2), s the sign, w the weights that come or go. */
static double shift_gaussian(const bmf_half *half, int a, int b) {
  const int n_l = half->other->k, sign_a = sign_of(half, a);
  const double *w_a = bmf_weight(half->state, half->s, a);
  double change =
      sign_a * bmf_dot(w_a, half->residual, n_l) - 0.5 * bmf_dot(w_a, image_of(half, a), n_l);
  if (b >= 0) {
    const int sign_b = sign_of(half, b);
    const double *w_b = bmf_weight(half->state, half->s, b);
    change += sign_b * bmf_dot(w_b, half->residual, n_l) -
              0.5 * bmf_dot(w_b, image_of(half, b), n_l) -
              sign_a * sign_b * bmf_dot(w_b, image_of(half, a), n_l);
  }
  return half->scale * change;
}

/* ---- Bernoulli ---- */

static double log_norm_now(const bmf_half *half) {
  if (half->wide) {
    double sum = 0;
    for (int j = 0; j < half->m; j++) sum += half->seen[j] > 0 ? softplus(half->odds[j]) : 0;
    return sum;
  }
  for (int j = 0; j < half->m; j++) half->buffer[j] = 1 + half->odds[j];
  return num_sum_log(half->buffer, half->m);
}

static void begin_bernoulli(bmf_half *half) {
  mark_seen(half);
  bmf_sum_weights(half, NULL, half->total);
  bmf_spread(half, half->total, half->eta);
  for (int j = 0; j < half->m; j++)
    half->odds[j] = half->wide ? half->eta[j] : half->seen[j] * exp(half->eta[j]);
  half->log_norm = log_norm_now(half);
}

/* The factors by which a flip of c multiplies the odds. */
static const double *factor_of(const bmf_half *half, int c) {
  return (half->u[c] ? half->down : half->up) + (ptrdiff_t) c * half->m;
}

static double sum_at_ones(const bmf_half *half, int c) {
  const double *effect = effect_of(half, c);
  double sum = 0;
  for (int e = 0; e < n_stored(half); e++) sum += effect[stored_cells(half)[e]];
  return sign_of(half, c) * sum;
}

static double shift_bernoulli(bmf_half *half, int a, int b) {
  double change = sum_at_ones(half, a), log_norm = 0;
  if (b >= 0) change += sum_at_ones(half, b);
  if (half->wide) {
    for (int j = 0; j < half->m; j++) {
      double eta = half->odds[j] + sign_of(half, a) * effect_of(half, a)[j];
      if (b >= 0) eta += sign_of(half, b) * effect_of(half, b)[j];
      log_norm += half->seen[j] > 0 ? softplus(eta) : 0;
    }
  } else {
    const double *fa = factor_of(half, a), *odds = half->odds;
    double *buffer = half->buffer;
    if (b >= 0) {
      const double *fb = factor_of(half, b);
      for (int j = 0; j < half->m; j++) buffer[j] = 1 + odds[j] * fa[j] * fb[j];
    } else {
      for (int j = 0; j < half->m; j++) buffer[j] = 1 + odds[j] * fa[j];
    }
    log_norm = num_sum_log(buffer, half->m);
  }
  return half->scale * (change - (log_norm - half->log_norm));
}

static void flip_bernoulli(bmf_half *half, int c) {
  if (half->wide) {
    const int sign = sign_of(half, c);
    for (int j = 0; j < half->m; j++) half->odds[j] += sign * effect_of(half, c)[j];
  } else {
    const double *factor = factor_of(half, c);
    for (int j = 0; j < half->m; j++) half->odds[j] *= factor[j];
  }
  half->log_norm = log_norm_now(half);
}

/* ---- Poisson: only stored cells need logarithms ---- */

static void begin_poisson(bmf_half *half) {
  const double background = half->state->hyper[BMF_BACKGROUND].value;
  bmf_sum_weights(half, NULL, half->total);
  for (int e = 0; e < n_stored(half); e++) {
    const int j = stored_cells(half)[e], *list = half->on_list + (ptrdiff_t) j * half->room_other;
    double rate = background;
    for (int a = 0; a < half->n_on[j]; a++) rate += half->total[list[a]];
    half->rate[e] = rate;
  }
}

static double observed_effect(const bmf_half *half, int c) {
  double sum = half->effect_sum[c];
  for (int e = 0; e < n_missing(half); e++) sum -= effect_of(half, c)[missing_cells(half)[e]];
  return sum;
}

/* Subtracting what was added may fall short of the background by rounding. */
static double moved_rate(const bmf_half *half, int e, double change) {
  return fmax(half->rate[e] + change, half->state->hyper[BMF_BACKGROUND].value);
}

static double shift_poisson(const bmf_half *half, int a, int b) {
  const int sign_a = sign_of(half, a), sign_b = b >= 0 ? sign_of(half, b) : 0;
  double change = -sign_a * observed_effect(half, a);
  if (b >= 0) change -= sign_b * observed_effect(half, b);
  for (int e = 0; e < n_stored(half); e++) {
    const int j = stored_cells(half)[e];
    double by = sign_a * effect_of(half, a)[j];
    if (b >= 0) by += sign_b * effect_of(half, b)[j];
    if (by != 0) change += stored_value(half, e) * log(moved_rate(half, e, by) / half->rate[e]);
  }
  return half->scale * change;
}

/* ---- All families ---- */

void bmf_row_enter(bmf_half *half, int i) {
  half->item = i;
  half->u = bmf_item(half->own, i);
  if (half->state->family == BMF_GAUSSIAN) begin_gaussian(half);
}

void bmf_row_begin(bmf_half *half, int i) {
  half->item = i;
  half->u = bmf_item(half->own, i);
  switch (half->state->family) {
    case BMF_GAUSSIAN: begin_gaussian(half); break;
    case BMF_BERNOULLI: begin_bernoulli(half); break;
    case BMF_POISSON: begin_poisson(half); break;
  }
}

double bmf_row_shift(bmf_half *half, int a, int b) {
  switch (half->state->family) {
    case BMF_BERNOULLI: return shift_bernoulli(half, a, b);
    case BMF_POISSON: return shift_poisson(half, a, b);
    default: return shift_gaussian(half, a, b);
  }
}

void bmf_row_flip(bmf_half *half, int c) {
  const int sign = sign_of(half, c);
  switch (half->state->family) {
    case BMF_GAUSSIAN:
      for (int l = 0; l < half->other->k; l++) half->residual[l] -= sign * image_of(half, c)[l];
      break;
    case BMF_BERNOULLI: flip_bernoulli(half, c); break;
    case BMF_POISSON:
      for (int e = 0; e < n_stored(half); e++)
        half->rate[e] = moved_rate(half, e, sign * effect_of(half, c)[stored_cells(half)[e]]);
      break;
  }
  half->u[c] = !half->u[c];
  if (!half->own->n_extern) half->own->count[c] += sign;
}

static double polya_gamma(const bmf_half *half, int j) {
  const bmf_state *state = half->state;
  if (!state->omega) return num_polya_gamma(half->eta[j]);
  const ptrdiff_t n = state->side[BMF_ROWS].n;
  return state->omega[half->s == BMF_ROWS ? num_at(half->item, j, n) : num_at(j, half->item, n)];
}

/* Polson, Scott & Windle (2013): given omega ~ PG(1, eta), x - 1/2 is a Gaussian score for eta. */
static void gaussian_from_bernoulli(bmf_half *half, const unsigned char *skip, double *gram,
                                    double *score) {
  double *omega = half->buffer, *pull = half->odds;
  mark_seen(half);
  bmf_sum_weights(half, NULL, half->total);
  bmf_spread(half, half->total, half->eta);
  for (int j = 0; j < half->m; j++)
    omega[j] = half->seen[j] > 0 ? half->scale * polya_gamma(half, j) : 0;
  if (skip) {
    bmf_sum_weights(half, skip, half->total);
    bmf_spread(half, half->total, half->eta);
  }
  for (int j = 0; j < half->m; j++)
    pull[j] = -0.5 * half->scale * half->seen[j] - omega[j] * half->eta[j];
  for (int e = 0; e < n_stored(half); e++) pull[stored_cells(half)[e]] += half->scale;
  bmf_gram_of(half, omega, gram);
  bmf_project(half, pull, score);
}

void bmf_row_gaussian(bmf_half *half, const unsigned char *skip, double *gram, double *score) {
  const int n_l = half->other->k;
  if (half->state->family == BMF_BERNOULLI) {
    gaussian_from_bernoulli(half, skip, gram, score);
    return;
  }
  for (int e = 0; e < n_l * n_l && gram; e++) gram[e] = half->scale * half->gram->gram[e];
  for (int l = 0; l < n_l; l++) score[l] = half->residual[l];
  for (int c = 0; c < half->own->k && skip; c++)
    if (half->u[c] && skip[c])
      for (int l = 0; l < n_l; l++) score[l] += image_of(half, c)[l];
  for (int l = 0; l < n_l; l++) score[l] *= half->scale;
}
