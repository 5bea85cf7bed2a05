/*
 * bmf/collapsed.c: updates of one side with the weights integrated out;
 * Gaussian, complete data, weight_mean 0. With V'V = Qv Dv Qv',
 * U'U = Qu Du Qu', C = lambda Qu' (U'XV) Qv and D[k,l] = phi + lambda du[k] dv[l],
 *   log p(X | U, V) = NM/2 log(lambda / 2 pi) + KL/2 log phi - 1/2 sum log D
 *                     - lambda/2 sum x^2 + 1/2 sum C^2 / D.
 * A flip costs O(K^3 + K^2 L).
 */
#include "bmf/private.h"

#include "num/blas.h"
#include "num/linalg.h"
#include "num/rng.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

typedef struct {
  bmf_workspace *ws;
  int k, n_l;    /* features considered; features of the other side */
  double *cells; /* n x L by rows: x_i V Qv */
  double *gram;  /* room x room: U'U */
  double *cross; /* room x L by rows: U'XV Qv */
  ptrdiff_t room;
  double *basis, *value, *work, *turned;
} collapsed;

/* Allocates scratch for the current features; births reallocate after adding theirs. */
static void reserve(collapsed *self) {
  bmf_workspace *ws = self->ws;
  const size_t n_l = (size_t) self->n_l, room = (size_t) ws->own->k;
  self->room = (ptrdiff_t) room;
  double *next = bmf_pool(ws, (size_t) ws->n * n_l + 2 * room * room + 2 * room * n_l + room +
                                  num_eigen_work((int) room));
  self->cells = next, next += (size_t) ws->n * n_l;
  self->gram = next, next += room * room;
  self->basis = next, next += room * room;
  self->cross = next, next += room * n_l;
  self->turned = next, next += room * n_l;
  self->value = next, next += room;
  self->work = next;
}

static void project_cells(collapsed *self) {
  bmf_workspace *ws = self->ws;
  const int n_l = self->n_l;
  double *sums = ws->work.small[0];
  bmf_find_basis(ws, &ws->view.full);
  for (int i = 0; i < ws->n; i++) {
    const mc_data *x = ws->data;
    memset(sums, 0, (size_t) n_l * sizeof(double));
    for (int e = x->start[i]; e < x->start[i + 1]; e++) {
      const int j = x->column[e], *list = ws->view.on_list + (ptrdiff_t) j * ws->room_other;
      for (int a = 0; a < ws->view.n_on[j]; a++) sums[list[a]] += x->value ? x->value[e] : 1;
    }
    for (int l = 0; l < n_l; l++)
      self->cells[(ptrdiff_t) i * n_l + l] =
          num_dot(ws->view.full.basis + (ptrdiff_t) l * n_l, sums, n_l);
  }
}

/* Adds item i to gram and cross (sign 1) or removes it (-1). */
static void add_item(collapsed *self, int i, double sign) {
  const unsigned char *u = bmf_item(self->ws->own, i);
  const double *cells = self->cells + (ptrdiff_t) i * self->n_l;
  for (int c = 0; c < self->k; c++) {
    if (!u[c]) continue;
    for (int b = 0; b < self->k; b++) self->gram[c * self->room + b] += sign * u[b];
    for (int l = 0; l < self->n_l; l++) self->cross[num_at(l, c, self->n_l)] += sign * cells[l];
  }
}

static void start_sums(collapsed *self) {
  self->k = self->ws->own->k;
  memset(self->gram, 0, (size_t) (self->room * self->room) * sizeof(double));
  memset(self->cross, 0, (size_t) (self->room * self->n_l) * sizeof(double));
  for (int i = 0; i < self->ws->n; i++) add_item(self, i, 1);
}

/* Terms of log p(X | U, V) that depend on this side. */
static double log_marginal(collapsed *self) {
  const bmf_workspace *ws = self->ws;
  const int k = self->k, n_l = self->n_l;
  const double precision = ws->state->hyper[BMF_WEIGHT_PRECISION].value;
  for (int c = 0; c < k; c++)
    for (int b = 0; b < k; b++) self->basis[num_at(b, c, k)] = self->gram[c * self->room + b];
  num_eigen(self->basis, k, self->value, self->work);
  num_clear_rounding(self->value, k);
  /* turned (L x k) = cross' basis: cross by rows is L x k by columns. */
  num_gemm(false, false, n_l, k, k, self->cross, n_l, self->basis, k, 0, self->turned, n_l);
  double sum = 0.5 * k * n_l * log(precision);
  for (int c = 0; c < k; c++)
    for (int l = 0; l < n_l; l++) {
      const double told = ws->view.scale * self->value[c] * ws->view.full.value[l];
      const double pull = told > 0 ? ws->view.scale * self->turned[num_at(l, c, n_l)] : 0;
      const double diagonal = precision + told;
      sum += 0.5 * (pull * pull / diagonal - log(diagonal));
    }
  return sum;
}

static void set_entry(collapsed *self, int i, int c, int on) {
  bmf_side *own = self->ws->own;
  add_item(self, i, -1);
  own->count[c] += on - bmf_item(own, i)[c];
  bmf_item(own, i)[c] = (unsigned char) on;
  add_item(self, i, 1);
}

static void flip_entries(collapsed *self, int i, double *log_now) {
  bmf_workspace *ws = self->ws;
  const bmf_side *own = ws->own;
  int n = 0;
  for (int c = own->n_fixed; c < own->k; c++)
    if (!own->infinite || bmf_n_others(own, ws->at.u, c) > 0) ws->work.order[n++] = c;
  num_shuffle(ws->work.order, n);
  for (int t = 0; t < n; t++) {
    const int c = ws->work.order[t], was = ws->at.u[c], others = bmf_n_others(own, ws->at.u, c);
    set_entry(self, i, c, !was);
    const double log_then = log_marginal(self),
                 odds = ws->view.log_on[others] - ws->view.log_off[others];
    if (num_coin(log_then - *log_now + (was ? -odds : odds)))
      *log_now = log_then;
    else
      set_entry(self, i, c, was);
  }
}

/* Proposes b* ~ Poisson(xi) new features of item i instead of its own; accepts by the ratio of
 * marginals. */
static void births(collapsed *self, double *log_now) {
  bmf_workspace *ws = self->ws;
  bmf_side *own = ws->own;
  const int b = num_draw_poisson(bmf_birth_rate(ws));
  int n_single = 0;
  for (int c = own->n_fixed; c < own->k; c++) n_single += ws->at.u[c] && own->count[c] == 1;
  if (b == 0 && n_single == 0) return;
  const int first = own->k;
  for (int t = 0; t < b; t++) {
    const int c = bmf_workspace_add(ws);
    ws->at.u[c] = 1;
    own->count[c] = 1;
  }
  for (int c = own->n_fixed; c < own->k; c++)
    ws->work.skip[c] = ws->at.u[c] && own->count[c] == 1 && c < first;
  for (int c = 0; c < first; c++)
    if (c >= own->n_fixed && ws->work.skip[c]) ws->at.u[c] = 0;
  reserve(self);
  project_cells(self);
  start_sums(self);
  const double log_then = log_marginal(self);
  const bool accept = num_unif() < exp(log_then - *log_now);
  for (int c = own->k - 1; c >= own->n_fixed; c--) {
    const bool own_before = c < first && ws->work.skip[c];
    if (own_before && !accept) ws->at.u[c] = 1;
    if (own_before ? accept : (c >= first && !accept)) bmf_workspace_drop(ws, c);
  }
  if (accept) *log_now = log_then;
  start_sums(self);
}

static void begin(collapsed *self, bmf_workspace *ws, bmf_state *state, int s) {
  bmf_workspace_begin(ws, state, s);
  self->ws = ws;
  self->n_l = ws->other->k;
  reserve(self);
  project_cells(self);
  start_sums(self);
}

void bmf_update_side_collapsed(bmf_workspace *ws, bmf_state *state, int s) {
  collapsed self;
  begin(&self, ws, state, s);
  double log_now = log_marginal(&self);
  for (int i = 0; i < ws->n && !bmf_stop(state); i++) {
    ws->at.item = i;
    ws->at.u = bmf_item(ws->own, i);
    flip_entries(&self, i, &log_now);
    if (ws->own->infinite) births(&self, &log_now);
  }
  bmf_transpose(state, s);
}

double bmf_log_marginal(bmf_workspace *ws, bmf_state *state, int s) {
  collapsed self;
  begin(&self, ws, state, s);
  const mc_data *x = ws->data;
  const double noise = state->hyper[BMF_NOISE_PRECISION].value;
  double squares = 0;
  for (int e = 0; e < x->start[x->n]; e++) squares += x->value ? x->value[e] * x->value[e] : 1;
  return log_marginal(&self) + 0.5 * x->n * x->m * log(noise / (2 * M_PI)) - 0.5 * noise * squares;
}
