/* bmf/births.c: features that only one item has (set B in the paper), on infinite sides. */
#include "bmf/private.h"

#include "num/linalg.h"
#include "num/rng.h"
#include "num/vector.h"

#include <math.h>

#define BIRTHS_MOST 64      /* new features considered, beyond those the prior expects */
#define BIRTHS_NEGLECT 40.0 /* log probability below the maximum at which the search ends */

double bmf_birth_rate(const bmf_workspace *ws) {
  const bmf_side *own = ws->own;
  return ws->state->hyper[BMF_ALPHA_ROWS + ws->s].value / (own->beta_off + bmf_n_items(own) - 1);
}

static bool is_single(const bmf_workspace *ws, int c) {
  return c >= ws->own->n_fixed && ws->at.u[c] && ws->own->count[c] == 1;
}

static int count_singles(const bmf_workspace *ws) {
  int n = 0;
  for (int c = ws->own->n_fixed; c < ws->own->k; c++) n += is_single(ws, c);
  return n;
}

/* Removes the features that only this item has; the caller must update the likelihood. */
static void drop_singles(bmf_workspace *ws) {
  for (int c = ws->own->k - 1; c >= ws->own->n_fixed; c--)
    if (is_single(ws, c)) bmf_workspace_drop(ws, c);
}

/* Adds a feature that only the current item has. Its weights must then be set and
 * bmf_workspace_feature() called. */
static int add_single(bmf_workspace *ws) {
  const int c = bmf_workspace_add(ws);
  ws->at.u[c] = 1;
  ws->own->count[c] = 1;
  return c;
}

/* Marks the features that only this item has, to be drawn again; NULL if there are none. */
static const unsigned char *mark_singles(bmf_workspace *ws) {
  if (count_singles(ws) == 0) return NULL;
  for (int c = 0; c < ws->own->k; c++) ws->work.skip[c] = (unsigned char) is_single(ws, c);
  return ws->work.skip;
}

/* ---- Gaussian and Bernoulli: the sum of the new features' weights integrated out ---- */

typedef struct {
  int n_l;
  double precision, mean; /* of the weights' prior */
  const double *basis;    /* eigenvectors of the item's gram */
  const double *value;    /* its eigenvalues ... */
  double stretch;         /* ... multiplied by this */
  const double *pull;     /* precision * mean + score, in the eigenbasis */
} births_problem;

/*
 * log p(b | .) up to a constant. The likelihood of the item depends on b new features only through
 * s = sum of their weights ~ N(b w0, (b / phi) I):
 *   log Poisson(b; xi) + L/2 log(phi/b) - 1/2 log|phi/b I + G| + 1/2 h'(phi/b I + G)^-1 h
 *   - 1/2 phi b w0^2 L,   h = phi w0 1 + g.
 */
static double log_births(const births_problem *p, int b, double rate) {
  double sum = b * log(rate) - lgammafn(b + 1.0);
  if (b == 0) return sum;
  const double ridge = p->precision / b;
  double product = 1;
  sum -= 0.5 * p->precision * b * p->mean * p->mean * p->n_l;
  for (int l = 0; l < p->n_l; l++) {
    const double diagonal = ridge + p->stretch * p->value[l];
    product *= ridge / diagonal;
    if (product < NUM_TINY) {
      sum += 0.5 * log(product);
      product = 1;
    }
    sum += 0.5 * p->pull[l] * p->pull[l] / diagonal;
  }
  return sum + 0.5 * log(product);
}

static int draw_births(bmf_workspace *ws, const births_problem *p, double rate) {
  const int most = BIRTHS_MOST + (int) fmin(rate + 10 * sqrt(rate), 1e6);
  double *weight = bmf_pool(ws, (size_t) most + 1), best = -INFINITY;
  int n = 0;
  while (n <= most) {
    weight[n] = log_births(p, n, rate);
    best = fmax(best, weight[n]);
    n++;
    if (n > 2 && weight[n - 1] < weight[n - 2] && weight[n - 1] < best - BIRTHS_NEGLECT) break;
  }
  return num_pick_log(weight, n);
}

/* Draws s from its Gaussian posterior, then the b rows of weights conditional on their sum s. */
static void draw_rows(bmf_workspace *ws, const births_problem *p, int b) {
  const int n_l = p->n_l, first = ws->own->k;
  double *turned = ws->work.small[2], *left = ws->work.small[3];
  const double ridge = p->precision / b, spread = 1 / sqrt(p->precision);
  for (int l = 0; l < n_l; l++) {
    const double diagonal = ridge + p->stretch * p->value[l];
    turned[l] = p->pull[l] / diagonal + num_norm() / sqrt(diagonal);
  }
  for (int l = 0; l < n_l; l++) {
    left[l] = 0;
    for (int t = 0; t < n_l; t++) left[l] += p->basis[num_at(l, t, n_l)] * turned[t];
  }
  for (int t = 0; t < b; t++) {
    double *w = bmf_weight(ws->state, ws->s, add_single(ws));
    for (int l = 0; l < n_l; l++) left[l] -= w[l] = p->mean + spread * num_norm();
  }
  for (int c = first; c < first + b; c++) {
    double *w = bmf_weight(ws->state, ws->s, c);
    for (int l = 0; l < n_l; l++) w[l] += left[l] / b;
    bmf_workspace_feature(ws, c);
  }
}

/* Expresses the item without the marked features in the eigenbasis of its gram. */
static births_problem pose(bmf_workspace *ws, const unsigned char *singles) {
  const int n_l = ws->other->k;
  const bool gaussian = ws->state->family == BMF_GAUSSIAN;
  bmf_gram *gram = gaussian ? ws->at.gram : &ws->at.partial;
  births_problem p = {.n_l = n_l, .stretch = gaussian ? ws->view.scale : 1};
  p.precision = ws->state->hyper[BMF_WEIGHT_PRECISION].value;
  p.mean = ws->state->hyper[BMF_WEIGHT_MEAN].value;
  double *score = ws->work.small[0], *pull = ws->work.small[1];
  bmf_row_gaussian(ws, singles, gaussian ? NULL : gram->gram, score);
  if (!gaussian) gram->basis_known = false;
  bmf_find_basis(ws, gram);
  for (int l = 0; l < n_l; l++) {
    const double *basis = gram->basis + (ptrdiff_t) l * n_l;
    double sum = 0;
    for (int t = 0; t < n_l; t++) sum += basis[t];
    pull[l] = p.precision * p.mean * sum;
    if (gram->value[l] > 0) pull[l] += num_dot(basis, score, n_l);
  }
  p.basis = gram->basis;
  p.value = gram->value;
  p.pull = pull;
  return p;
}

void bmf_births_log_lik(bmf_workspace *ws, int n, double *out) {
  const births_problem p = pose(ws, mark_singles(ws));
  for (int b = 0; b < n; b++) out[b] = log_births(&p, b, 1) + lgammafn(b + 1.0);
}

/* Semi-collapsed Gibbs draw of the number of the item's own features, and of their weights. */
static void births_collapsed(bmf_workspace *ws) {
  const unsigned char *singles = mark_singles(ws);
  const births_problem p = pose(ws, singles);
  const int b = draw_births(ws, &p, bmf_birth_rate(ws));
  if (singles) drop_singles(ws);
  if (b > 0) draw_rows(ws, &p, b);
}

/* ---- Poisson: proposals from the prior, accepted by the item's likelihood ratio ---- */

static double log_lik_with(bmf_workspace *ws, const double *total) {
  const mc_data *x = ws->data;
  const int i = ws->at.item;
  bmf_spread(ws, total, ws->at.eta);
  double sum = 0;
  for (int j = 0; j < ws->m; j++) sum -= ws->at.eta[j];
  for (int e = 0; e < data_n_missing(x, i); e++)
    sum += ws->at.eta[x->na_column[x->na_start[i] + e]];
  for (int e = x->start[i]; e < x->start[i + 1]; e++)
    sum += (x->value ? x->value[e] : 1) *
           log(ws->state->hyper[BMF_BACKGROUND].value + ws->at.eta[x->column[e]]);
  return ws->view.scale * sum;
}

double bmf_births_log_ratio(bmf_workspace *ws, const double *added) {
  double *now = ws->work.small[0], *then = ws->work.small[1];
  bmf_sum_weights(ws, NULL, now);
  bmf_sum_weights(ws, mark_singles(ws), then);
  for (int l = 0; l < ws->other->k; l++) then[l] += added[l];
  return log_lik_with(ws, then) - log_lik_with(ws, now);
}

static void births_proposed(bmf_workspace *ws) {
  const int n_l = ws->other->k, b = num_draw_poisson(bmf_birth_rate(ws));
  const bool singles = count_singles(ws) > 0;
  if (b == 0 && !singles) return;
  const double shape = ws->state->hyper[BMF_WEIGHT_SHAPE].value;
  const double rate = ws->state->hyper[BMF_WEIGHT_PRECISION].value;
  double *added = ws->work.small[2];
  const int first = ws->own->k;
  for (int l = 0; l < n_l; l++) added[l] = 0;
  for (int t = 0; t < b; t++) {
    double *w = bmf_weight(ws->state, ws->s, bmf_workspace_add(ws));
    for (int l = 0; l < n_l; l++) added[l] += w[l] = num_draw_gamma(shape, rate);
  }
  const bool accept = num_unif() < exp(bmf_births_log_ratio(ws, added));
  for (int c = first + b - 1; c >= first; c--) {
    if (!accept) {
      bmf_workspace_drop(ws, c);
      continue;
    }
    ws->at.u[c] = 1;
    ws->own->count[c] = 1;
    bmf_workspace_feature(ws, c);
  }
  if (!accept || !singles) return;
  for (int c = first - 1; c >= ws->own->n_fixed; c--)
    if (ws->work.skip[c]) bmf_workspace_drop(ws, c);
}

void bmf_births(bmf_workspace *ws) {
  if (ws->state->family == BMF_POISSON)
    births_proposed(ws);
  else
    births_collapsed(ws);
}
