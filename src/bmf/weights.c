/* bmf/weights.c: the weights conditional on the features of both sides. */
#include "bmf/private.h"

#include "num/blas.h"
#include "num/gaussian.h"
#include "num/linalg.h"
#include "num/rng.h"

#include <math.h>
#include <string.h>

#define JOINT_MOST 600      /* weights drawn jointly; more are drawn row by row */
#define WEIGHT_LEAST 1e-290 /* replaces a Gamma draw that underflows */

static double prior_precision(const bmf_state *state) {
  return state->hyper[BMF_WEIGHT_PRECISION].value;
}

static double prior_pull(const bmf_state *state) {
  return prior_precision(state) * state->hyper[BMF_WEIGHT_MEAN].value;
}

static num_ridge prior_of(const bmf_state *state) {
  const num_ridge out = {prior_precision(state), state->hyper[BMF_WEIGHT_MEAN].value};
  return out;
}

static double sum_of(const double *x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}

static void mark_all(bmf_workspace *ws) { memset(ws->work.skip, 1, (size_t) ws->own->k); }

/*
 * Gaussian, complete data: with U'U = Qu Du Qu' and V'V = Qv Dv Qv', D[k,l] = phi + lambda du[k]
 * dv[l] and C = Qu' (phi w0 11' + lambda U'XV) Qv,
 *   W = Qu (C / D + z / sqrt(D)) Qv',   z standard normal.
 */
static void draw_complete(bmf_workspace *ws) {
  bmf_state *state = ws->state;
  const int n_k = ws->own->k, n_l = ws->other->k;
  const size_t kk = (size_t) n_k * (size_t) n_k, kl = (size_t) n_k * (size_t) n_l;
  double *basis = bmf_pool(ws, kk + (size_t) n_k + 2 * kl + num_eigen_work(n_k));
  double *value = basis + kk, *pull = value + n_k, *turned = pull + kl, *work = turned + kl;
  memset(basis, 0, kk * sizeof(double));
  memset(pull, 0, kl * sizeof(double));
  mark_all(ws);
  for (int i = 0; i < ws->n; i++) {
    if (bmf_workspace_stop(ws, i)) return;
    bmf_row_enter(ws, i);
    bmf_row_gaussian(ws, ws->work.skip, NULL, ws->work.small[0]);
    for (int c = 0; c < n_k; c++) {
      if (!ws->at.u[c]) continue;
      for (int l = 0; l < n_l; l++) pull[num_at(c, l, n_k)] += ws->work.small[0][l];
      for (int b = 0; b < n_k; b++) basis[num_at(b, c, n_k)] += ws->at.u[b];
    }
  }
  num_eigen(basis, n_k, value, work);
  bmf_find_basis(ws, &ws->view.full);
  num_clear_rounding(value, n_k);
  num_gemm(true, false, n_k, n_l, n_k, basis, n_k, pull, n_k, 0, turned, n_k);
  num_gemm(false, false, n_k, n_l, n_l, turned, n_k, ws->view.full.basis, n_l, 0, pull, n_k);
  for (int l = 0; l < n_l; l++)
    for (int c = 0; c < n_k; c++) {
      const double told = ws->view.scale * value[c] * ws->view.full.value[l];
      const double diagonal = prior_precision(state) + told;
      double *at = pull + num_at(c, l, n_k);
      if (!(told > 0)) *at = 0;
      *at += prior_pull(state) * sum_of(basis + num_at(0, c, n_k), n_k) *
             sum_of(ws->view.full.basis + num_at(0, l, n_l), n_l);
      *at = *at / diagonal + num_norm() / sqrt(diagonal);
    }
  num_gemm(false, false, n_k, n_l, n_k, basis, n_k, pull, n_k, 0, turned, n_k);
  num_gemm(false, true, n_k, n_l, n_l, turned, n_k, ws->view.full.basis, n_l, 0, pull, n_k);
  for (int c = 0; c < n_k; c++)
    for (int l = 0; l < n_l; l++) bmf_weight(state, ws->s, c)[l] = pull[num_at(c, l, n_k)];
}

/* Adds u u' (x) gram to q (lower triangle) and u (x) score to pull; weight c, l is at c L + l. */
static void add_item(const bmf_workspace *ws, const double *gram, const double *score, double *q,
                     double *pull) {
  const int n_k = ws->own->k, n_l = ws->other->k;
  const ptrdiff_t size = (ptrdiff_t) n_k * n_l;
  for (int c = 0; c < n_k; c++) {
    if (!ws->at.u[c]) continue;
    for (int l = 0; l < n_l; l++) pull[num_at(l, c, n_l)] += score[l];
    for (int b = c; b < n_k; b++) {
      if (!ws->at.u[b]) continue;
      for (int l = 0; l < n_l; l++) {
        double *to = q + (ptrdiff_t) (c * n_l + l) * size + (ptrdiff_t) b * n_l;
        for (int t = 0; t < n_l; t++) to[t] += gram[num_at(t, l, n_l)];
      }
    }
  }
}

bool bmf_weight_system(bmf_workspace *ws, double *q, double *pull) {
  bmf_state *state = ws->state;
  const ptrdiff_t size = (ptrdiff_t) ws->own->k * ws->other->k;
  double *gram = ws->work.gram;
  memset(q, 0, (size_t) (size * size) * sizeof(double));
  for (ptrdiff_t e = 0; e < size; e++) {
    q[e * size + e] = prior_precision(state);
    pull[e] = prior_pull(state);
  }
  mark_all(ws);
  for (int i = 0; i < ws->n; i++) {
    if (bmf_workspace_stop(ws, i)) return false;
    bmf_row_enter(ws, i);
    bmf_row_gaussian(ws, ws->work.skip, gram, ws->work.small[0]);
    add_item(ws, gram, ws->work.small[0], q, pull);
  }
  return true;
}

/* vec(W) ~ N(Q^-1 h, Q^-1), Q = phi I + sum_i (u_i u_i') (x) V'L_iV. */
static void draw_jointly(bmf_workspace *ws) {
  const int n_k = ws->own->k, n_l = ws->other->k, size = n_k * n_l;
  double *q =
      bmf_pool(ws, (size_t) size * (size_t) size + 2 * (size_t) size + num_gaussian_work(size));
  double *pull = q + (ptrdiff_t) size * size, *draw = pull + size;
  if (!bmf_weight_system(ws, q, pull)) return;
  if (!num_draw_gaussian(q, pull, size, prior_of(ws->state), draw, draw + size)) return;
  for (int c = 0; c < n_k; c++)
    memcpy(bmf_weight(ws->state, ws->s, c), draw + (ptrdiff_t) c * n_l,
           (size_t) n_l * sizeof(double));
}

/* Draws the weights of each feature conditional on all others, in random order, as for flips. */
static void draw_each_feature(bmf_workspace *ws, double *q) {
  const int n_k = ws->own->k, n_l = ws->other->k;
  const size_t ll = (size_t) n_l * (size_t) n_l;
  double *pull = q + ll, *gram = ws->work.gram, *score = ws->work.small[0];
  for (int c = 0; c < n_k; c++) ws->work.order[c] = c;
  num_shuffle(ws->work.order, n_k);
  for (int c = 0; c < n_k; c++) ws->work.skip[c] = 0;
  for (int t = 0; t < n_k; t++) {
    const int c = ws->work.order[t];
    memset(q, 0, ll * sizeof(double));
    for (int l = 0; l < n_l; l++) {
      q[num_at(l, l, n_l)] = prior_precision(ws->state);
      pull[l] = prior_pull(ws->state);
    }
    ws->work.skip[c] = 1;
    for (int i = 0; i < ws->n; i++) {
      if (bmf_workspace_stop(ws, i)) return;
      if (!bmf_item(ws->own, i)[c]) continue;
      bmf_row_enter(ws, i);
      bmf_row_gaussian(ws, ws->work.skip, gram, score);
      for (size_t e = 0; e < ll; e++) q[e] += gram[e];
      for (int l = 0; l < n_l; l++) pull[l] += score[l];
    }
    ws->work.skip[c] = 0;
    if (!num_draw_gaussian(q, pull, n_l, prior_of(ws->state), ws->work.small[1], pull + n_l))
      continue;
    memcpy(bmf_weight(ws->state, ws->s, c), ws->work.small[1], (size_t) n_l * sizeof(double));
    if (ws->state->family == BMF_GAUSSIAN) bmf_workspace_feature(ws, c);
    ws->at.pattern_of = -1;
  }
}

/*
 * Draws the Polya-Gamma variables once for all features, because they are the most expensive part
 * (a feature has many cells). They belong to the state meanwhile.
 */
static void draw_by_feature(bmf_workspace *ws) {
  bmf_state *state = ws->state;
  const size_t n_l = (size_t) ws->other->k;
  const bool fresh = state->family == BMF_BERNOULLI && !state->omega;
  if (fresh && !ws->work.omega) ws->work.omega = mc_doubles(state->host, ws->n, ws->m);
  for (int i = 0; i < ws->n && fresh; i++) {
    if (bmf_workspace_stop(ws, i)) return;
    bmf_row_omega(ws, i, ws->work.omega);
  }
  if (fresh) state->omega = ws->work.omega;
  draw_each_feature(ws, bmf_pool(ws, n_l * n_l + n_l + num_gaussian_work((int) n_l)));
  if (fresh) state->omega = NULL;
}

/* ---- Poisson: each count is distributed over the background and the weights ---- */

static double split_off(double count, double share) {
  if (count <= 0 || share <= 0) return 0;
  if (share >= 1) return count;
  if (count == 1) return num_unif() < share;
  return rbinom(count, share);
}

/* Distributes the count of a cell through its feature l over the item's features. */
static void split_over_features(const bmf_workspace *ws, int l, double count, double mass,
                                double *counts) {
  for (int c = 0; c < ws->own->k && count > 0; c++) {
    if (!ws->at.u[c]) continue;
    const double w = bmf_weight(ws->state, ws->s, c)[l];
    const double part = split_off(count, w / mass);
    counts[num_at(l, c, ws->other->k)] += part;
    count -= part;
    mass -= w;
  }
}

/* Computes counts (K x L by rows), those attributed to each weight; returns that of the background. */
static double split_counts(bmf_workspace *ws, double *counts) {
  const mc_data *x = ws->data;
  const double background = ws->state->hyper[BMF_BACKGROUND].value;
  double from_background = 0;
  for (int i = 0; i < ws->n && !bmf_workspace_stop(ws, i); i++) {
    bmf_row_begin(ws, i);
    for (int e = x->start[i]; e < x->start[i + 1]; e++) {
      const int j = x->column[e], *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
      double left = x->value ? x->value[e] : 1, mass = background;
      for (int a = 0; a < ws->view.n_on[j]; a++) mass += ws->at.total[list[a]];
      const double rest = split_off(left, background / mass);
      from_background += rest;
      left -= rest;
      mass -= background;
      for (int a = 0; a < ws->view.n_on[j] && left > 0; a++) {
        const double through = ws->at.total[list[a]];
        const double part = a + 1 == ws->view.n_on[j] ? left : split_off(left, through / mass);
        if (part > 0) split_over_features(ws, list[a], part, through, counts);
        left -= part;
        mass -= through;
      }
    }
  }
  return from_background;
}

/* U'OV: number of observed cells that have both features, K x L by rows. */
static void find_exposure(const bmf_workspace *ws, double *exposure) {
  const int n_l = ws->other->k;
  const mc_data *x = ws->data;
  for (int c = 0; c < ws->own->k; c++)
    for (int l = 0; l < n_l; l++)
      exposure[num_at(l, c, n_l)] = (double) ws->own->count[c] * ws->other->count[l];
  for (int i = 0; i < ws->n; i++)
    for (int e = 0; e < data_n_missing(x, i); e++) {
      const int j = x->na_column[x->na_start[i] + e];
      const int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
      for (int c = 0; c < ws->own->k; c++)
        for (int a = 0; a < ws->view.n_on[j] && bmf_item(ws->own, i)[c]; a++)
          exposure[num_at(list[a], c, n_l)] -= 1;
    }
}

void bmf_weight_counts(bmf_workspace *ws, double *counts, double *exposure, double *background) {
  memset(counts, 0, (size_t) ws->own->k * (size_t) ws->other->k * sizeof(double));
  find_exposure(ws, exposure);
  *background = split_counts(ws, counts);
}

/* Draws W ~ Gamma(shape + counts, rate + exposure), and likewise the background if it is estimated. */
static void draw_poisson(bmf_workspace *ws) {
  bmf_state *state = ws->state;
  const int n_l = ws->other->k;
  const size_t kl = (size_t) ws->own->k * (size_t) n_l;
  double *counts = bmf_pool(ws, 2 * kl), *exposure = counts + kl, from_background;
  bmf_hyper *background = &state->hyper[BMF_BACKGROUND];
  bmf_weight_counts(ws, counts, exposure, &from_background);
  if (bmf_stop(state)) return; /* the counts are incomplete */
  for (int c = 0; c < ws->own->k; c++)
    for (int l = 0; l < n_l; l++)
      bmf_weight(state, ws->s, c)[l] = fmax(
          num_draw_gamma(state->hyper[BMF_WEIGHT_SHAPE].value +
                             ws->view.scale * counts[num_at(l, c, n_l)],
                         prior_precision(state) + ws->view.scale * exposure[num_at(l, c, n_l)]),
          WEIGHT_LEAST);
  if (!background->learned) return;
  double n_observed = 0;
  for (int i = 0; i < ws->n; i++) n_observed += data_n_observed(ws->data, i);
  background->value = num_draw_gamma_within(background->shape + ws->view.scale * from_background,
                                            background->rate + ws->view.scale * n_observed);
}

void bmf_update_weights(bmf_workspace *ws[2], bmf_state *state) {
  bmf_workspace *rows = ws[BMF_ROWS];
  const ptrdiff_t size = (ptrdiff_t) state->side[0].k * state->side[1].k;
  if (bmf_stop(state)) return;
  bmf_workspace_begin(rows, state, BMF_ROWS);
  if (state->family == BMF_POISSON)
    draw_poisson(rows);
  else if (size > 0 && state->family == BMF_GAUSSIAN && !rows->data->na_start)
    draw_complete(rows);
  else if (size > JOINT_MOST)
    draw_by_feature(rows);
  else if (size > 0)
    draw_jointly(rows);
  bmf_transpose(state, BMF_ROWS);
}
