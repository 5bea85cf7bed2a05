/* bmf/workspace.c: scratch of one side, prepared and updated as features are added and removed. */
#include "bmf/private.h"

#include "num/linalg.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define ASK_CELLS 20000
#define WIDE 600.0 /* |eta| beyond which exp() is avoided */

static void *get(const bmf_workspace *ws, size_t count, size_t size) {
  const mc_host *host = ws->state->host;
  return host->alloc(host->ctx, count, size);
}

static double *doubles(const bmf_workspace *ws, size_t count) {
  return get(ws, count, sizeof(double));
}

/* Copies the k rows of a growing matrix, `length` doubles each, to one with `room` rows. */
static double *longer(const bmf_workspace *ws, const double *old, int k, int room, size_t length) {
  double *more = doubles(ws, (size_t) room * length);
  if (old && k > 0) memcpy(more, old, (size_t) k * length * sizeof(double));
  return more;
}

/* Reallocates arrays that depend on the capacity for own features; keeps the rows of k features. */
static void reserve_own(bmf_workspace *ws, int k) {
  const size_t room_l = (size_t) ws->room_other, m = (size_t) ws->m;
  ws->room_own = ws->own->room;
  ws->work.order = get(ws, (size_t) ws->room_own, sizeof(int));
  ws->work.skip = get(ws, (size_t) ws->room_own, 1);
  ws->view.full.image = longer(ws, ws->view.full.image, k, ws->room_own, room_l);
  ws->at.partial.image = longer(ws, ws->at.partial.image, k, ws->room_own, room_l);
  if (ws->state->family == BMF_GAUSSIAN) return;
  ws->view.effect = longer(ws, ws->view.effect, k, ws->room_own, m);
  ws->view.effect_sum = longer(ws, ws->view.effect_sum, k, ws->room_own, 1);
  if (ws->state->family != BMF_BERNOULLI) return;
  ws->view.up = longer(ws, ws->view.up, k, ws->room_own, m);
  ws->view.down = longer(ws, ws->view.down, k, ws->room_own, m);
}

static void reserve_other(bmf_workspace *ws) {
  const size_t room = (size_t) ws->other->room;
  ws->room_other = ws->other->room;
  ws->view.on_list = get(ws, (size_t) ws->m * room, sizeof(int));
  ws->work.eigen = doubles(ws, num_eigen_work((int) room));
  ws->work.gram = doubles(ws, room * room);
  ws->at.total = doubles(ws, room);
  ws->at.residual = doubles(ws, room);
  for (int b = 0; b < 4; b++) ws->work.small[b] = doubles(ws, room);
  bmf_gram *grams[] = {&ws->view.full, &ws->at.partial};
  for (int g = 0; g < 2; g++) {
    grams[g]->gram = doubles(ws, room * room);
    grams[g]->basis = doubles(ws, room * room);
    grams[g]->value = doubles(ws, room);
    grams[g]->image = NULL;
  }
}

bmf_workspace *bmf_new_workspace(bmf_state *state, int s) {
  bmf_workspace *ws = state->host->alloc(state->host->ctx, 1, sizeof *ws);
  ws->state = state;
  ws->n = state->side[s].n;
  ws->m = state->side[1 - s].n;
  ws->ask_every = 1 + ASK_CELLS / (ws->m + 1);
  const size_t m = (size_t) ws->m;
  ws->view.n_on = get(ws, m, sizeof(int));
  ws->at.seen = doubles(ws, m);
  ws->at.eta = doubles(ws, m);
  ws->at.odds = doubles(ws, m);
  ws->work.cells = doubles(ws, m);
  ws->work.pull = doubles(ws, m);
  ws->at.rate = doubles(ws, m);
  ws->work.items = get(ws, (size_t) ws->n, sizeof(int));
  ws->work.takes = get(ws, (size_t) ws->n, 1);
  const size_t most = (size_t) bmf_n_items(&state->side[s]) + 1;
  ws->view.log_on = doubles(ws, most);
  ws->view.log_off = doubles(ws, most);
  return ws;
}

double *bmf_pool(bmf_workspace *ws, size_t count) {
  if (!ws->work.pool || count > ws->work.pool_size) {
    ws->work.pool_size = 2 * count + 1;
    ws->work.pool = doubles(ws, ws->work.pool_size);
  }
  return ws->work.pool;
}

static void make_lists(bmf_workspace *ws) {
  for (int j = 0; j < ws->m; j++) {
    const unsigned char *v = bmf_item(ws->other, j);
    int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other, n_on = 0;
    for (int l = 0; l < ws->other->k; l++)
      if (v[l]) list[n_on++] = l;
    ws->view.n_on[j] = n_on;
  }
}

/* Tables of the prior log odds of a feature that n other items have, eq. (3): log(n + a) - log(N -
 * 1 - n + beta). */
static void make_tables(bmf_workspace *ws) {
  const bmf_side *own = ws->own;
  const double alpha = ws->state->hyper[BMF_ALPHA_ROWS + ws->s].value;
  const double a = own->infinite || bmf_n_free(own) == 0 ? 0 : alpha / bmf_n_free(own);
  const int n_items = bmf_n_items(own);
  for (int n = 0; n < n_items; n++) {
    ws->view.log_on[n] = log(n + a);
    ws->view.log_off[n] = log(n_items - 1 - n + own->beta_off);
  }
}

void bmf_gram_of(const bmf_workspace *ws, const double *weight, double *gram) {
  const int n_l = ws->other->k;
  memset(gram, 0, (size_t) n_l * (size_t) n_l * sizeof(double));
  for (int j = 0; j < ws->m; j++) {
    if (weight[j] == 0) continue;
    const int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
    for (int a = 0; a < ws->view.n_on[j]; a++)
      for (int b = 0; b < ws->view.n_on[j]; b++) gram[num_at(list[a], list[b], n_l)] += weight[j];
  }
}

void bmf_project(const bmf_workspace *ws, const double *value, double *out) {
  memset(out, 0, (size_t) ws->other->k * sizeof(double));
  for (int j = 0; j < ws->m; j++) {
    const int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
    for (int a = 0; a < ws->view.n_on[j]; a++) out[list[a]] += value[j];
  }
}

void bmf_spread(const bmf_workspace *ws, const double *in, double *out) {
  for (int j = 0; j < ws->m; j++) {
    const int *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
    double sum = 0;
    for (int a = 0; a < ws->view.n_on[j]; a++) sum += in[list[a]];
    out[j] = sum;
  }
}

void bmf_sum_weights(const bmf_workspace *ws, const unsigned char *skip, double *total) {
  const int n_l = ws->other->k;
  memset(total, 0, (size_t) n_l * sizeof(double));
  for (int c = 0; c < ws->own->k; c++) {
    if (!ws->at.u[c] || (skip && skip[c])) continue;
    const double *w = bmf_weight(ws->state, ws->s, c);
    for (int l = 0; l < n_l; l++) total[l] += w[l];
  }
}

void bmf_find_basis(bmf_workspace *ws, bmf_gram *gram) {
  const int n_l = ws->other->k;
  if (gram->basis_known) return;
  memcpy(gram->basis, gram->gram, (size_t) n_l * (size_t) n_l * sizeof(double));
  num_eigen(gram->basis, n_l, gram->value, ws->work.eigen);
  num_clear_rounding(gram->value, n_l);
  gram->basis_known = true;
}

static void make_image(const bmf_workspace *ws, bmf_gram *gram, int c) {
  const int n_l = ws->other->k;
  const double *w = bmf_weight(ws->state, ws->s, c);
  double *image = gram->image + (ptrdiff_t) c * ws->room_other;
  for (int l = 0; l < n_l; l++) image[l] = num_dot(gram->gram + (ptrdiff_t) l * n_l, w, n_l);
}

void bmf_workspace_feature(bmf_workspace *ws, int c) {
  if (ws->state->family == BMF_GAUSSIAN) {
    make_image(ws, &ws->view.full, c);
    return;
  }
  double *effect = ws->view.effect + (ptrdiff_t) c * ws->m;
  bmf_spread(ws, bmf_weight(ws->state, ws->s, c), effect);
  ws->view.effect_sum[c] = 0;
  if (ws->state->family == BMF_POISSON) {
    for (int j = 0; j < ws->m; j++) ws->view.effect_sum[c] += effect[j];
    return;
  }
  double *up = ws->view.up + (ptrdiff_t) c * ws->m, *down = ws->view.down + (ptrdiff_t) c * ws->m;
  double *peak = ws->view.effect_sum + c;
  for (int j = 0; j < ws->m; j++) {
    up[j] = exp(effect[j]);
    down[j] = 1 / up[j];
    *peak = fmax(*peak, fabs(effect[j]));
  }
  /* Sums over features must not leave the range of exp(). */
  ws->view.reach += *peak;
  if (!(ws->view.reach < WIDE)) ws->view.wide = true;
}

void bmf_workspace_begin(bmf_workspace *ws, bmf_state *state, int s) {
  ws->state = state;
  ws->s = s;
  ws->own = &state->side[s];
  ws->other = &state->side[1 - s];
  ws->data = state->data[s];
  ws->view.scale = state->power;
  if (state->family == BMF_GAUSSIAN) ws->view.scale *= state->hyper[BMF_NOISE_PRECISION].value;
  if (ws->room_other < ws->other->room) {
    reserve_other(ws);
    ws->room_own = 0;
  }
  if (ws->room_own < ws->own->room) reserve_own(ws, 0);
  make_lists(ws);
  make_tables(ws);
  ws->at.pattern_of = -1;
  ws->view.full.basis_known = ws->at.partial.basis_known = false;
  if (state->family == BMF_GAUSSIAN) {
    for (int j = 0; j < ws->m; j++) ws->work.cells[j] = 1;
    bmf_gram_of(ws, ws->work.cells, ws->view.full.gram);
  }
  ws->view.wide = false;
  ws->view.reach = 0;
  for (int c = 0; c < ws->own->k; c++) bmf_workspace_feature(ws, c);
}

int bmf_workspace_add(bmf_workspace *ws) {
  const int k = ws->own->k, c = bmf_add_feature(ws->state, ws->s, NULL);
  if (ws->own->room > ws->room_own) reserve_own(ws, k);
  ws->at.pattern_of = -1;
  ws->at.u = bmf_item(ws->own, ws->at.item);
  return c;
}

static void move_row(double *rows, int to, int from, ptrdiff_t length) {
  if (rows && to != from)
    memcpy(rows + to * length, rows + from * length, (size_t) length * sizeof(double));
}

void bmf_workspace_drop(bmf_workspace *ws, int c) {
  const int last = ws->own->k - 1;
  if (ws->state->family == BMF_BERNOULLI) ws->view.reach -= ws->view.effect_sum[c];
  bmf_drop_feature(ws->state, ws->s, c);
  move_row(ws->view.full.image, c, last, ws->room_other);
  move_row(ws->at.partial.image, c, last, ws->room_other);
  ws->at.pattern_of = -1;
  if (ws->state->family == BMF_GAUSSIAN) return;
  move_row(ws->view.effect, c, last, ws->m);
  move_row(ws->view.effect_sum, c, last, 1);
  move_row(ws->view.up, c, last, ws->m);
  move_row(ws->view.down, c, last, ws->m);
}
