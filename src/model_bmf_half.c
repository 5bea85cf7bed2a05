/* model_bmf_half.c: scratch of one side, made ready and kept in step with features that come and go. */
#include "model_bmf_half.h"

#include "num_linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ASK_CELLS 20000
#define WIDE 600.0 /* |eta| beyond which exp() is kept away */

static void *get(const bmf_half *half, size_t count, size_t size) {
  const mc_host *host = half->state->host;
  return host->alloc(host->ctx, count, size);
}

static double *doubles(const bmf_half *half, size_t count) {
  return get(half, count, sizeof(double));
}

double bmf_dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Rows c of a matrix that grows, length doubles each. */
static double *longer(const bmf_half *half, const double *old, int k, int room, size_t length) {
  double *more = doubles(half, (size_t) room * length);
  if (old && k > 0) memcpy(more, old, (size_t) k * length * sizeof(double));
  return more;
}

/* What depends on the room for own features; keeps the rows of k features. */
static void reserve_own(bmf_half *half, int k) {
  const size_t room_l = (size_t) half->room_other, m = (size_t) half->m;
  half->room_own = half->own->room;
  half->order = get(half, (size_t) half->room_own, sizeof(int));
  half->skip = get(half, (size_t) half->room_own, 1);
  half->full.image = longer(half, half->full.image, k, half->room_own, room_l);
  half->partial.image = longer(half, half->partial.image, k, half->room_own, room_l);
  if (half->state->family == BMF_GAUSSIAN) return;
  half->effect = longer(half, half->effect, k, half->room_own, m);
  half->effect_sum = longer(half, half->effect_sum, k, half->room_own, 1);
  if (half->state->family != BMF_BERNOULLI) return;
  half->up = longer(half, half->up, k, half->room_own, m);
  half->down = longer(half, half->down, k, half->room_own, m);
}

static void reserve_other(bmf_half *half) {
  const size_t room = (size_t) half->other->room;
  half->room_other = half->other->room;
  half->on_list = get(half, (size_t) half->m * room, sizeof(int));
  half->eigen_work = doubles(half, num_eigen_work((int) room));
  half->partial_copy = doubles(half, room * room);
  half->total = doubles(half, room);
  half->residual = doubles(half, room);
  for (int b = 0; b < 4; b++) half->small[b] = doubles(half, room);
  bmf_gram *grams[] = {&half->full, &half->partial};
  for (int g = 0; g < 2; g++) {
    grams[g]->gram = doubles(half, room * room);
    grams[g]->basis = doubles(half, room * room);
    grams[g]->value = doubles(half, room);
    grams[g]->image = NULL;
  }
}

bmf_half *bmf_new_half(bmf_state *state, int s) {
  bmf_half *half = state->host->alloc(state->host->ctx, 1, sizeof *half);
  half->state = state;
  half->n = state->side[s].n;
  half->m = state->side[1 - s].n;
  half->ask_every = 1 + ASK_CELLS / (half->m + 1);
  const size_t m = (size_t) half->m;
  half->n_on = get(half, m, sizeof(int));
  half->seen = doubles(half, m);
  half->eta = doubles(half, m);
  half->odds = doubles(half, m);
  half->buffer = doubles(half, m);
  half->rate = doubles(half, m);
  half->items = get(half, (size_t) half->n, sizeof(int));
  half->takes = get(half, (size_t) half->n, 1);
  const size_t most = (size_t) bmf_n_items(&state->side[s]) + 1;
  half->log_on = doubles(half, most);
  half->log_off = doubles(half, most);
  return half;
}

double *bmf_pool(bmf_half *half, size_t count) {
  if (!half->pool || count > half->pool_size) {
    half->pool_size = 2 * count + 1;
    half->pool = doubles(half, half->pool_size);
  }
  return half->pool;
}

static void make_lists(bmf_half *half) {
  for (int j = 0; j < half->m; j++) {
    const unsigned char *v = bmf_item(half->other, j);
    int *list = half->on_list + (ptrdiff_t) j * half->room_other, n_on = 0;
    for (int l = 0; l < half->other->k; l++)
      if (v[l]) list[n_on++] = l;
    half->n_on[j] = n_on;
  }
}

/* Prior log odds of a feature that n other items have, eq. (3): log(n + a) - log(N - 1 - n + beta). */
static void make_tables(bmf_half *half) {
  const bmf_side *own = half->own;
  const double alpha = half->state->hyper[BMF_ALPHA_ROWS + half->s].value;
  const double a = own->infinite || bmf_n_free(own) == 0 ? 0 : alpha / bmf_n_free(own);
  const int n_items = bmf_n_items(own);
  for (int n = 0; n < n_items; n++) {
    half->log_on[n] = log(n + a);
    half->log_off[n] = log(n_items - 1 - n + own->beta_off);
  }
}

void bmf_gram_of(const bmf_half *half, const double *weight, double *gram) {
  const int n_l = half->other->k;
  memset(gram, 0, (size_t) n_l * (size_t) n_l * sizeof(double));
  for (int j = 0; j < half->m; j++) {
    if (weight[j] == 0) continue;
    const int *list = half->on_list + (ptrdiff_t) j * half->room_other;
    for (int a = 0; a < half->n_on[j]; a++)
      for (int b = 0; b < half->n_on[j]; b++) gram[num_at(list[a], list[b], n_l)] += weight[j];
  }
}

void bmf_project(const bmf_half *half, const double *value, double *out) {
  memset(out, 0, (size_t) half->other->k * sizeof(double));
  for (int j = 0; j < half->m; j++) {
    const int *list = half->on_list + (ptrdiff_t) j * half->room_other;
    for (int a = 0; a < half->n_on[j]; a++) out[list[a]] += value[j];
  }
}

void bmf_spread(const bmf_half *half, const double *in, double *out) {
  for (int j = 0; j < half->m; j++) {
    const int *list = half->on_list + (ptrdiff_t) j * half->room_other;
    double sum = 0;
    for (int a = 0; a < half->n_on[j]; a++) sum += in[list[a]];
    out[j] = sum;
  }
}

void bmf_sum_weights(const bmf_half *half, const unsigned char *skip, double *total) {
  const int n_l = half->other->k;
  memset(total, 0, (size_t) n_l * sizeof(double));
  for (int c = 0; c < half->own->k; c++) {
    if (!half->u[c] || (skip && skip[c])) continue;
    const double *w = bmf_weight(half->state, half->s, c);
    for (int l = 0; l < n_l; l++) total[l] += w[l];
  }
}

void bmf_clear_rounding(double *value, int n) {
  for (int l = 0; l < n; l++)
    if (!(value[l] > n * DBL_EPSILON * value[n - 1])) value[l] = 0;
}

void bmf_find_basis(bmf_half *half, bmf_gram *gram) {
  const int n_l = half->other->k;
  if (gram->basis_known) return;
  memcpy(gram->basis, gram->gram, (size_t) n_l * (size_t) n_l * sizeof(double));
  num_eigen(gram->basis, n_l, gram->value, half->eigen_work);
  bmf_clear_rounding(gram->value, n_l);
  gram->basis_known = true;
}

static void make_image(const bmf_half *half, bmf_gram *gram, int c) {
  const int n_l = half->other->k;
  const double *w = bmf_weight(half->state, half->s, c);
  double *image = gram->image + (ptrdiff_t) c * half->room_other;
  for (int l = 0; l < n_l; l++) image[l] = bmf_dot(gram->gram + (ptrdiff_t) l * n_l, w, n_l);
}

void bmf_half_feature(bmf_half *half, int c) {
  if (half->state->family == BMF_GAUSSIAN) {
    make_image(half, &half->full, c);
    return;
  }
  double *effect = half->effect + (ptrdiff_t) c * half->m;
  bmf_spread(half, bmf_weight(half->state, half->s, c), effect);
  half->effect_sum[c] = 0;
  if (half->state->family == BMF_POISSON) {
    for (int j = 0; j < half->m; j++) half->effect_sum[c] += effect[j];
    return;
  }
  double *up = half->up + (ptrdiff_t) c * half->m, *down = half->down + (ptrdiff_t) c * half->m;
  double *peak = half->effect_sum + c;
  for (int j = 0; j < half->m; j++) {
    up[j] = exp(effect[j]);
    down[j] = 1 / up[j];
    *peak = fmax(*peak, fabs(effect[j]));
  }
  /* No sum over features may leave the range of exp(). */
  half->reach += *peak;
  if (!(half->reach < WIDE)) half->wide = true;
}

void bmf_half_begin(bmf_half *half, bmf_state *state, int s) {
  half->state = state;
  half->s = s;
  half->own = &state->side[s];
  half->other = &state->side[1 - s];
  half->data = state->data[s];
  half->scale = state->power;
  if (state->family == BMF_GAUSSIAN) half->scale *= state->hyper[BMF_NOISE_PRECISION].value;
  if (half->room_other < half->other->room) {
    reserve_other(half);
    half->room_own = 0;
  }
  if (half->room_own < half->own->room) reserve_own(half, 0);
  make_lists(half);
  make_tables(half);
  half->pattern_of = -1;
  half->full.basis_known = half->partial.basis_known = false;
  if (state->family == BMF_GAUSSIAN) {
    for (int j = 0; j < half->m; j++) half->buffer[j] = 1;
    bmf_gram_of(half, half->buffer, half->full.gram);
  }
  half->wide = false;
  half->reach = 0;
  for (int c = 0; c < half->own->k; c++) bmf_half_feature(half, c);
}

int bmf_half_add(bmf_half *half) {
  const int k = half->own->k, c = bmf_add_feature(half->state, half->s, NULL);
  if (half->own->room > half->room_own) reserve_own(half, k);
  half->pattern_of = -1;
  half->u = bmf_item(half->own, half->item);
  return c;
}

static void move_row(double *rows, int to, int from, ptrdiff_t length) {
  if (rows && to != from)
    memcpy(rows + to * length, rows + from * length, (size_t) length * sizeof(double));
}

void bmf_half_drop(bmf_half *half, int c) {
  const int last = half->own->k - 1;
  if (half->state->family == BMF_BERNOULLI) half->reach -= half->effect_sum[c];
  bmf_drop_feature(half->state, half->s, c);
  move_row(half->full.image, c, last, half->room_other);
  move_row(half->partial.image, c, last, half->room_other);
  half->pattern_of = -1;
  if (half->state->family == BMF_GAUSSIAN) return;
  move_row(half->effect, c, last, half->m);
  move_row(half->effect_sum, c, last, 1);
  move_row(half->up, c, last, half->m);
  move_row(half->down, c, last, half->m);
}
