/*
 * bmf/split_merge.c: splits one feature into two or merges two, with their weights integrated out
 * (Gaussian; Bernoulli conditional on new Polya-Gamma variables). After Jain & Neal (2007),
 * doi:10.1214/07-BA219, for features that may overlap.
 *
 * Two items i1 != i2 and a feature of each are drawn. If both features are the same one, c, it is
 * split into a and b: its members, anchors first, the rest in random order, take a, b or both (i1
 * keeps a, i2 keeps b) with the predictive probability of their residuals. Otherwise the two are
 * merged into their union, and the same probabilities are computed for the existing assignment.
 */
#include "bmf/private.h"

#include "num/gaussian.h"
#include "num/linalg.h"
#include "num/rng.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

enum { TAKES_A = 1, TAKES_B = 2, TAKES_BOTH = 3 };

typedef struct {
  bmf_workspace *ws;
  int n_l;
  int a, b;        /* split: a is c, b does not exist yet (-1) */
  int first, last; /* anchors */
  int n_member, *member;
  unsigned char *takes; /* by member */
  double *gram, *score; /* of the current member */
  double *q1, *h1;      /* L: for a single feature */
  double *q2, *h2;      /* 2 L: for two features */
  double *try_q, *try_h, *work;
  num_ridge prior;                     /* of a weight */
  double log_one, log_two, log_chosen; /* M1, M2 and the log probability of the proposal */
} split_try;

/* -1/2 log|Q| + 1/2 h'Q^-1 h; q and h are not changed. */
static double log_integral(split_try *t, const double *q, const double *h, int n) {
  memcpy(t->try_q, q, (size_t) n * (size_t) n * sizeof(double));
  memcpy(t->try_h, h, (size_t) n * sizeof(double));
  const double value = num_log_gaussian(t->try_q, t->try_h, n, t->prior, t->work);
  return isnan(value) ? -INFINITY : value;
}

/* Adds the current member (sign 1) to q and h of one or two features, or removes it (-1). */
static void add_member(const split_try *t, int takes, int n_feature, double sign, double *q,
                       double *h) {
  const int n = n_feature * t->n_l;
  for (int f = 0; f < n_feature; f++) {
    if (!(takes & (1 << f))) continue;
    for (int l = 0; l < t->n_l; l++) h[f * t->n_l + l] += sign * t->score[l];
    for (int g = 0; g < n_feature; g++) {
      if (!(takes & (1 << g))) continue;
      for (int l = 0; l < t->n_l; l++)
        for (int r = 0; r < t->n_l; r++)
          q[num_at(f * t->n_l + r, g * t->n_l + l, n)] += sign * t->gram[num_at(r, l, t->n_l)];
    }
  }
}

static void start_system(const split_try *t, int n_feature, double *q, double *h) {
  const int n = n_feature * t->n_l;
  const double precision = t->prior.ridge, mean = t->prior.mean;
  memset(q, 0, (size_t) n * (size_t) n * sizeof(double));
  for (int e = 0; e < n; e++) {
    q[num_at(e, e, n)] = precision;
    h[e] = precision * mean;
  }
}

/* Log density of one row of weights under its prior, without its quadratic and linear terms. */
static double log_prior_part(const split_try *t) {
  const double precision = t->prior.ridge, mean = t->prior.mean;
  return 0.5 * t->n_l * (log(precision) - precision * mean * mean);
}

#define ASK_COST 100000 /* multiplications between calls of the host, some hundred microseconds */

/* Assigns members in order: draws their takes if `split`, else evaluates the existing ones. Returns
 * false if the host requested a stop; the attempt must then be abandoned. */
static bool assign_members(split_try *t, bool split) {
  bmf_workspace *ws = t->ws;
  const int two = 2 * t->n_l;
  const double cost = ws->m + pow(two, 3); /* per member, in multiplications */
  const int ask_every = 1 + (int) (ASK_COST / (cost + 1));
  start_system(t, 1, t->q1, t->h1);
  start_system(t, 2, t->q2, t->h2);
  t->log_chosen = 0;
  for (int s = 0; s < t->n_member; s++) {
    double weight[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    if (s % ask_every == 0 && bmf_stop(ws->state)) return false;
    bmf_row_enter(ws, t->member[s]);
    bmf_row_gaussian(ws, ws->work.skip, t->gram, t->score);
    add_member(t, TAKES_A, 1, 1, t->q1, t->h1);
    for (int takes = TAKES_A; takes <= TAKES_BOTH; takes++) {
      if ((s == 0 && takes == TAKES_B) || (s == 1 && takes == TAKES_A)) continue;
      add_member(t, takes, 2, 1, t->q2, t->h2);
      weight[takes] = log_integral(t, t->q2, t->h2, two);
      add_member(t, takes, 2, -1, t->q2, t->h2);
    }
    const double all = num_log_sum_exp(weight, 4);
    double log_weight[4];
    memcpy(log_weight, weight, sizeof weight);
    if (split) t->takes[s] = (unsigned char) num_pick_log(weight, 4);
    t->log_chosen += log_weight[t->takes[s]] - all;
    add_member(t, t->takes[s], 2, 1, t->q2, t->h2);
  }
  t->log_one = log_integral(t, t->q1, t->h1, t->n_l) + log_prior_part(t);
  t->log_two = log_integral(t, t->q2, t->h2, two) + 2 * log_prior_part(t);
  return true;
}

/* Lists the items that have a or b, anchors first, the others in random order. */
static void find_members(split_try *t) {
  const bmf_side *own = t->ws->own;
  t->n_member = 2;
  t->member[0] = t->first;
  t->member[1] = t->last;
  for (int i = 0; i < own->n; i++) {
    const unsigned char *u = bmf_item(own, i);
    if (i != t->first && i != t->last && (u[t->a] || (t->b >= 0 && u[t->b])))
      t->member[t->n_member++] = i;
  }
  num_shuffle(t->member + 2, t->n_member - 2);
}

static int n_active(const bmf_side *own, int i) {
  const unsigned char *u = bmf_item(own, i);
  int n = 0;
  for (int c = own->n_fixed; c < own->k; c++) n += u[c];
  return n;
}

static int n_empty(const bmf_side *own) {
  int n = 0;
  for (int c = own->n_fixed; c < own->k; c++) n += own->count[c] == 0;
  return n;
}

static int nth(const bmf_side *own, bool (*is)(const bmf_side *, int, int), int i, int rank) {
  for (int c = own->n_fixed; c < own->k; c++)
    if (is(own, i, c) && rank-- == 0) return c;
  return -1;
}
static bool has(const bmf_side *own, int i, int c) { return bmf_item(own, i)[c] != 0; }
static bool is_empty(const bmf_side *own, int i, int c) {
  (void) i;
  return own->count[c] == 0;
}

/* Log acceptance ratio of the split, from the state with one feature to that with two. */
static double log_split_ratio(const split_try *t, int n_first, int n_last, int empty_before) {
  const bmf_workspace *ws = t->ws;
  int count[4] = {0};
  for (int s = 0; s < t->n_member; s++) count[t->takes[s]]++;
  const int m_a = count[TAKES_A] + count[TAKES_BOTH], m_b = count[TAKES_B] + count[TAKES_BOTH];
  const int first_after = n_first + (t->takes[0] == TAKES_BOTH);
  const int last_after = n_last + (t->takes[1] == TAKES_BOTH);
  double sum = bmf_log_feature(ws->state, ws->s, m_a) + bmf_log_feature(ws->state, ws->s, m_b) -
               bmf_log_feature(ws->state, ws->s, t->n_member);
  if (!ws->own->infinite) sum += log(empty_before) - bmf_log_feature(ws->state, ws->s, 0);
  return sum + t->log_two - t->log_one - t->log_chosen + log(n_first) + log(n_last) -
         log(first_after) - log(last_after);
}

/* Draws the rows of weights of one or two features from their Gaussian posterior. */
static void draw_weights(split_try *t, int n_feature, const int *feature) {
  bmf_state *state = t->ws->state;
  const size_t size = (size_t) t->n_l * sizeof(double);
  double *draw = t->score;
  if (!num_draw_gaussian(n_feature == 2 ? t->q2 : t->q1, n_feature == 2 ? t->h2 : t->h1,
                         n_feature * t->n_l, t->prior, draw, t->work))
    return;
  for (int f = 0; f < n_feature; f++)
    memcpy(bmf_weight(state, t->ws->s, feature[f]), draw + (ptrdiff_t) f * t->n_l, size);
}

static void draw_from_prior(bmf_state *state, int s, int c) {
  const double spread = 1 / sqrt(state->hyper[BMF_WEIGHT_PRECISION].value);
  for (int l = 0; l < state->side[1 - s].k; l++)
    bmf_weight(state, s, c)[l] = state->hyper[BMF_WEIGHT_MEAN].value + spread * num_norm();
}

static void try_split(split_try *t) {
  bmf_workspace *ws = t->ws;
  const bmf_side *own = ws->own;
  const int empty = own->infinite ? 0 : n_empty(own);
  if (!own->infinite && empty == 0) return;
  ws->work.skip[t->a] = 1;
  const bool whole = assign_members(t, true);
  ws->work.skip[t->a] = 0;
  if (!whole) return;
  const double log_ratio =
      log_split_ratio(t, n_active(own, t->first), n_active(own, t->last), empty);
  if (!(num_unif() < exp(log_ratio))) return;
  const int b = own->infinite ? bmf_add_feature(ws->state, ws->s, NULL)
                              : nth(own, is_empty, 0, num_below(empty));
  for (int s = 0; s < t->n_member; s++) {
    unsigned char *u = bmf_item(own, t->member[s]);
    u[t->a] = (t->takes[s] & TAKES_A) != 0;
    u[b] = (t->takes[s] & TAKES_B) != 0;
  }
  bmf_count(ws->own);
  draw_weights(t, 2, (int[]){t->a, b});
}

static void try_merge(split_try *t) {
  bmf_workspace *ws = t->ws;
  bmf_side *own = ws->own;
  for (int s = 0; s < t->n_member; s++) {
    const unsigned char *u = bmf_item(own, t->member[s]);
    t->takes[s] = (unsigned char) (u[t->a] * TAKES_A + u[t->b] * TAKES_B);
  }
  ws->work.skip[t->a] = ws->work.skip[t->b] = 1;
  const bool whole = assign_members(t, false);
  ws->work.skip[t->a] = ws->work.skip[t->b] = 0;
  if (!whole) return;
  const int n_first = n_active(own, t->first) - (t->takes[0] == TAKES_BOTH);
  const int n_last = n_active(own, t->last) - (t->takes[1] == TAKES_BOTH);
  if (!(num_unif() < exp(-log_split_ratio(t, n_first, n_last, n_empty(own) + 1)))) return;
  for (int s = 0; s < t->n_member; s++) {
    unsigned char *u = bmf_item(own, t->member[s]);
    u[t->a] = 1;
    u[t->b] = 0;
  }
  bmf_count(own);
  draw_weights(t, 1, &t->a);
  if (own->infinite)
    bmf_drop_feature(ws->state, ws->s, t->b);
  else
    draw_from_prior(ws->state, ws->s, t->b);
}

static void one_try(bmf_workspace *ws) {
  const bmf_side *own = ws->own;
  const size_t n_l = (size_t) ws->other->k;
  split_try t = {.ws = ws, .n_l = ws->other->k, .b = -1};
  t.prior.ridge = ws->state->hyper[BMF_WEIGHT_PRECISION].value;
  t.prior.mean = ws->state->hyper[BMF_WEIGHT_MEAN].value;
  t.first = num_below(own->n);
  t.last = num_below(own->n - 1);
  t.last += t.last >= t.first;
  const int n_first = n_active(own, t.first), n_last = n_active(own, t.last);
  if (n_first == 0 || n_last == 0) return;
  t.a = nth(own, has, t.first, num_below(n_first));
  t.b = nth(own, has, t.last, num_below(n_last));
  if (t.a == t.b) t.b = -1;
  t.member = ws->work.items;
  t.takes = ws->work.takes;
  t.gram = ws->work.gram;
  double *next = bmf_pool(ws, 9 * n_l * n_l + 7 * n_l + num_gaussian_work(2 * t.n_l));
  t.q1 = next, next += n_l * n_l;
  t.q2 = next, next += 4 * n_l * n_l;
  t.try_q = next, next += 4 * n_l * n_l;
  t.h1 = next, next += n_l;
  t.h2 = next, next += 2 * n_l;
  t.try_h = next, next += 2 * n_l;
  t.score = next, next += 2 * n_l;
  t.work = next;
  find_members(&t);
  memset(ws->work.skip, 0, (size_t) ws->room_own);
  if (t.b < 0)
    try_split(&t);
  else
    try_merge(&t);
}

void bmf_split_merge(bmf_workspace *ws, bmf_state *state, int s, int n_try) {
  if (state->side[s].n < 2) return;
  for (int t = 0; t < n_try && !bmf_stop(state); t++) {
    bmf_workspace_begin(ws, state, s);
    one_try(ws);
    bmf_transpose(state, s);
  }
}
