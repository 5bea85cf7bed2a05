/* bmf/row.c: the likelihood of one item as its features flip. */
#include "bmf/private.h"

#include "num/rng.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

static const double *effect_of(const bmf_workspace *ws, int c) {
  return ws->view.effect + (ptrdiff_t) c * ws->m;
}

/* +1 if the flip turns c on; -1 if off. */
static int sign_of(const bmf_workspace *ws, int c) { return ws->at.u[c] ? -1 : 1; }

static int n_stored(const bmf_workspace *ws) {
  return ws->data->start[ws->at.item + 1] - ws->data->start[ws->at.item];
}
static const int *stored_cells(const bmf_workspace *ws) {
  return ws->data->column + ws->data->start[ws->at.item];
}
static double stored_value(const bmf_workspace *ws, int e) {
  return ws->data->value ? ws->data->value[ws->data->start[ws->at.item] + e] : 1;
}
static int n_missing(const bmf_workspace *ws) { return data_n_missing(ws->data, ws->at.item); }
static const int *missing_cells(const bmf_workspace *ws) {
  return n_missing(ws) ? ws->data->na_column + ws->data->na_start[ws->at.item] : NULL;
}

static void mark_seen(bmf_workspace *ws) {
  for (int j = 0; j < ws->m; j++) ws->at.seen[j] = 1;
  for (int e = 0; e < n_missing(ws); e++) ws->at.seen[missing_cells(ws)[e]] = 0;
}

/* ---- Gaussian ---- */

static bool same_pattern(const bmf_workspace *ws, int other_item) {
  const int n = n_missing(ws);
  return other_item >= 0 && data_n_missing(ws->data, other_item) == n &&
         memcmp(missing_cells(ws), ws->data->na_column + ws->data->na_start[other_item],
                (size_t) n * sizeof(int)) == 0;
}

/* gram of the observed cells: that of all cells minus the missing ones, or the sum over the
 * observed cells if these are fewer. */
static void partial_gram(bmf_workspace *ws) {
  const int n_l = ws->other->k;
  double *gram = ws->at.partial.gram;
  const bool few_missing = 2 * n_missing(ws) < ws->m;
  double *counted = ws->work.cells;
  mark_seen(ws);
  for (int j = 0; j < ws->m; j++) counted[j] = few_missing ? 1 - ws->at.seen[j] : ws->at.seen[j];
  bmf_gram_of(ws, counted, gram);
  if (few_missing)
    for (ptrdiff_t e = 0; e < (ptrdiff_t) n_l * n_l; e++) gram[e] = ws->view.full.gram[e] - gram[e];
  ws->at.partial.basis_known = false;
  for (int c = 0; c < ws->own->k; c++) {
    const double *w = bmf_weight(ws->state, ws->s, c);
    double *image = ws->at.partial.image + (ptrdiff_t) c * ws->room_other;
    for (int l = 0; l < n_l; l++) image[l] = num_dot(gram + (ptrdiff_t) l * n_l, w, n_l);
  }
}

static const double *image_of(const bmf_workspace *ws, int c) {
  return ws->at.gram->image + (ptrdiff_t) c * ws->room_other;
}

static void begin_gaussian(bmf_workspace *ws) {
  const int n_l = ws->other->k;
  if (n_missing(ws) == 0) {
    ws->at.gram = &ws->view.full;
  } else {
    if (!same_pattern(ws, ws->at.pattern_of)) partial_gram(ws);
    ws->at.pattern_of = ws->at.item;
    ws->at.gram = &ws->at.partial;
  }
  double *residual = ws->at.residual;
  memset(residual, 0, (size_t) n_l * sizeof(double));
  for (int e = 0; e < n_stored(ws); e++) {
    const int j = stored_cells(ws)[e];
    const int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
    for (int a = 0; a < ws->view.n_on[j]; a++) residual[list[a]] += stored_value(ws, e);
  }
  for (int c = 0; c < ws->own->k; c++)
    if (ws->at.u[c])
      for (int l = 0; l < n_l; l++) residual[l] -= image_of(ws, c)[l];
}

/* lambda (s w'V'Or - w'V'OVw / 2), with sign s and weights w of the flipped feature. */
static double shift_gaussian(const bmf_workspace *ws, int a, int b) {
  const int n_l = ws->other->k, sign_a = sign_of(ws, a);
  const double *w_a = bmf_weight(ws->state, ws->s, a);
  double change =
      sign_a * num_dot(w_a, ws->at.residual, n_l) - 0.5 * num_dot(w_a, image_of(ws, a), n_l);
  if (b >= 0) {
    const int sign_b = sign_of(ws, b);
    const double *w_b = bmf_weight(ws->state, ws->s, b);
    change += sign_b * num_dot(w_b, ws->at.residual, n_l) -
              0.5 * num_dot(w_b, image_of(ws, b), n_l) -
              sign_a * sign_b * num_dot(w_b, image_of(ws, a), n_l);
  }
  return ws->view.scale * change;
}

/* ---- Bernoulli ---- */

static double log_norm_now(const bmf_workspace *ws) {
  if (ws->view.wide) {
    double sum = 0;
    for (int j = 0; j < ws->m; j++) sum += ws->at.seen[j] > 0 ? num_softplus(ws->at.eta[j]) : 0;
    return sum;
  }
  for (int j = 0; j < ws->m; j++) ws->work.cells[j] = 1 + ws->at.odds[j];
  return num_sum_log(ws->work.cells, ws->m);
}

static void begin_bernoulli(bmf_workspace *ws) {
  mark_seen(ws);
  bmf_sum_weights(ws, NULL, ws->at.total);
  bmf_spread(ws, ws->at.total, ws->at.eta);
  for (int j = 0; j < ws->m && !ws->view.wide; j++)
    ws->at.odds[j] = ws->at.seen[j] * exp(ws->at.eta[j]);
  ws->at.log_norm = log_norm_now(ws);
}

/* Factors by which a flip of c multiplies the odds. */
static const double *factor_of(const bmf_workspace *ws, int c) {
  return (ws->at.u[c] ? ws->view.down : ws->view.up) + (ptrdiff_t) c * ws->m;
}

static double sum_at_ones(const bmf_workspace *ws, int c) {
  const double *effect = effect_of(ws, c);
  double sum = 0;
  for (int e = 0; e < n_stored(ws); e++) sum += effect[stored_cells(ws)[e]];
  return sign_of(ws, c) * sum;
}

static double shift_bernoulli(bmf_workspace *ws, int a, int b) {
  double change = sum_at_ones(ws, a), log_norm = 0;
  if (b >= 0) change += sum_at_ones(ws, b);
  if (ws->view.wide) {
    for (int j = 0; j < ws->m; j++) {
      double eta = ws->at.eta[j] + sign_of(ws, a) * effect_of(ws, a)[j];
      if (b >= 0) eta += sign_of(ws, b) * effect_of(ws, b)[j];
      log_norm += ws->at.seen[j] > 0 ? num_softplus(eta) : 0;
    }
  } else {
    const double *fa = factor_of(ws, a), *odds = ws->at.odds;
    double *buffer = ws->work.cells;
    if (b >= 0) {
      const double *fb = factor_of(ws, b);
      for (int j = 0; j < ws->m; j++) buffer[j] = 1 + odds[j] * fa[j] * fb[j];
    } else {
      for (int j = 0; j < ws->m; j++) buffer[j] = 1 + odds[j] * fa[j];
    }
    log_norm = num_sum_log(buffer, ws->m);
  }
  return ws->view.scale * (change - (log_norm - ws->at.log_norm));
}

static void flip_bernoulli(bmf_workspace *ws, int c) {
  if (ws->view.wide) {
    const int sign = sign_of(ws, c);
    for (int j = 0; j < ws->m; j++) ws->at.eta[j] += sign * effect_of(ws, c)[j];
  } else {
    const double *factor = factor_of(ws, c);
    for (int j = 0; j < ws->m; j++) ws->at.odds[j] *= factor[j];
  }
  ws->at.log_norm = log_norm_now(ws);
}

/* ---- Poisson: only stored cells need logarithms ---- */

static void begin_poisson(bmf_workspace *ws) {
  const double background = ws->state->hyper[BMF_BACKGROUND].value;
  bmf_sum_weights(ws, NULL, ws->at.total);
  for (int e = 0; e < n_stored(ws); e++) {
    const int j = stored_cells(ws)[e], *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
    double rate = background;
    for (int a = 0; a < ws->view.n_on[j]; a++) rate += ws->at.total[list[a]];
    ws->at.rate[e] = rate;
  }
}

static double observed_effect(const bmf_workspace *ws, int c) {
  double sum = ws->view.effect_sum[c];
  for (int e = 0; e < n_missing(ws); e++) sum -= effect_of(ws, c)[missing_cells(ws)[e]];
  return sum;
}

/* New rate, at least the background, which a subtraction may undershoot by rounding. */
static double moved_rate(const bmf_workspace *ws, int e, double change) {
  return fmax(ws->at.rate[e] + change, ws->state->hyper[BMF_BACKGROUND].value);
}

static double shift_poisson(const bmf_workspace *ws, int a, int b) {
  const int sign_a = sign_of(ws, a), sign_b = b >= 0 ? sign_of(ws, b) : 0;
  double change = -sign_a * observed_effect(ws, a);
  if (b >= 0) change -= sign_b * observed_effect(ws, b);
  for (int e = 0; e < n_stored(ws); e++) {
    const int j = stored_cells(ws)[e];
    double by = sign_a * effect_of(ws, a)[j];
    if (b >= 0) by += sign_b * effect_of(ws, b)[j];
    if (by != 0) change += stored_value(ws, e) * log(moved_rate(ws, e, by) / ws->at.rate[e]);
  }
  return ws->view.scale * change;
}

/* ---- All families ---- */

void bmf_row_enter(bmf_workspace *ws, int i) {
  ws->at.item = i;
  ws->at.u = bmf_item(ws->own, i);
  if (ws->state->family == BMF_GAUSSIAN) begin_gaussian(ws);
}

void bmf_row_begin(bmf_workspace *ws, int i) {
  ws->at.item = i;
  ws->at.u = bmf_item(ws->own, i);
  switch (ws->state->family) {
    case BMF_GAUSSIAN: begin_gaussian(ws); break;
    case BMF_BERNOULLI: begin_bernoulli(ws); break;
    case BMF_POISSON: begin_poisson(ws); break;
  }
}

double bmf_row_shift(bmf_workspace *ws, int a, int b) {
  switch (ws->state->family) {
    case BMF_BERNOULLI: return shift_bernoulli(ws, a, b);
    case BMF_POISSON: return shift_poisson(ws, a, b);
    default: return shift_gaussian(ws, a, b);
  }
}

void bmf_row_flip(bmf_workspace *ws, int c) {
  const int sign = sign_of(ws, c);
  switch (ws->state->family) {
    case BMF_GAUSSIAN:
      for (int l = 0; l < ws->other->k; l++) ws->at.residual[l] -= sign * image_of(ws, c)[l];
      break;
    case BMF_BERNOULLI: flip_bernoulli(ws, c); break;
    case BMF_POISSON:
      for (int e = 0; e < n_stored(ws); e++)
        ws->at.rate[e] = moved_rate(ws, e, sign * effect_of(ws, c)[stored_cells(ws)[e]]);
      break;
  }
  ws->at.u[c] = !ws->at.u[c];
  if (!ws->own->n_extern) ws->own->count[c] += sign;
}

static double polya_gamma(const bmf_workspace *ws, int j) {
  const bmf_state *state = ws->state;
  if (!state->omega) return num_draw_polya_gamma(ws->at.eta[j]);
  const ptrdiff_t n = state->side[BMF_ROWS].n;
  return state->omega[ws->s == BMF_ROWS ? num_at(ws->at.item, j, n) : num_at(j, ws->at.item, n)];
}

static void find_eta(bmf_workspace *ws) {
  mark_seen(ws);
  bmf_sum_weights(ws, NULL, ws->at.total);
  bmf_spread(ws, ws->at.total, ws->at.eta);
}

void bmf_row_omega(bmf_workspace *ws, int i, double *omega) {
  bmf_row_enter(ws, i);
  find_eta(ws);
  for (int j = 0; j < ws->m; j++)
    if (ws->at.seen[j] > 0) omega[num_at(i, j, ws->n)] = num_draw_polya_gamma(ws->at.eta[j]);
}

/* Polson, Scott & Windle (2013): conditional on omega ~ PG(1, eta), x - 1/2 is a Gaussian score for eta. */
static void gaussian_from_bernoulli(bmf_workspace *ws, const unsigned char *skip, double *gram,
                                    double *score) {
  double *omega = ws->work.cells, *pull = ws->work.pull;
  find_eta(ws);
  for (int j = 0; j < ws->m; j++)
    omega[j] = ws->at.seen[j] > 0 ? ws->view.scale * polya_gamma(ws, j) : 0;
  if (skip) {
    bmf_sum_weights(ws, skip, ws->at.total);
    bmf_spread(ws, ws->at.total, ws->at.eta);
  }
  for (int j = 0; j < ws->m; j++)
    pull[j] = -0.5 * ws->view.scale * ws->at.seen[j] - omega[j] * ws->at.eta[j];
  for (int e = 0; e < n_stored(ws); e++) pull[stored_cells(ws)[e]] += ws->view.scale;
  bmf_gram_of(ws, omega, gram);
  bmf_project(ws, pull, score);
}

void bmf_row_gaussian(bmf_workspace *ws, const unsigned char *skip, double *gram, double *score) {
  const int n_l = ws->other->k;
  if (ws->state->family == BMF_BERNOULLI) {
    gaussian_from_bernoulli(ws, skip, gram, score);
    return;
  }
  for (ptrdiff_t e = 0; e < (ptrdiff_t) n_l * n_l && gram; e++)
    gram[e] = ws->view.scale * ws->at.gram->gram[e];
  for (int l = 0; l < n_l; l++) score[l] = ws->at.residual[l];
  for (int c = 0; c < ws->own->k && skip; c++)
    if (ws->at.u[c] && skip[c])
      for (int l = 0; l < n_l; l++) score[l] += image_of(ws, c)[l];
  for (int l = 0; l < n_l; l++) score[l] *= ws->view.scale;
}
