/*
 * bmf/private.h: what the updates of one side work on, shared by their files: the side, the item at hand, scratch.
 *
 * Below, "own" is the side at hand (n items, its features c), "other" the one
 * whose m items are the cells of an item (its features l; L of them). What
 * feature c adds to the cells of an item is effect[c,j] = sum_l w[c,l] other[j,l].
 *
 * Gaussian items live in the L-dimensional space of the other side's features:
 * with V the other side, O the item's observed cells, r its residual,
 *   gram = V'OV,  residual = V'Or,  image_c = gram w_c,
 * a flip costs O(L), whatever the number of cells.
 */
#ifndef MC_BMF_PRIVATE_H
#define MC_BMF_PRIVATE_H

#include "bmf/bmf.h"

/* L x L, and features' rows times it. */
typedef struct {
  double *gram;  /* L x L, no gaps */
  double *image; /* own->k rows, each room_other long: gram w_c */
  double *basis; /* L x L: eigenvectors of gram, once basis_known */
  double *value; /* L: its eigenvalues, at least 0 */
  bool basis_known;
} bmf_gram;

/* What of a side is the same for all its items, while features and weights are. */
typedef struct {
  double scale; /* power, times the noise precision for the Gaussian family */
  int *on_list; /* m x room_other: the features of each cell ... */
  int *n_on;    /* m: ... and how many */
  double *log_on,
      *log_off;  /* prior log odds of having a feature: log_on[n] - log_off[n], n others */
  bmf_gram full; /* of complete items; Gaussian */

  double *effect;     /* room_own x m: see above; Bernoulli and Poisson */
  double *up, *down;  /* room_own x m: exp(effect), exp(-effect); Bernoulli */
  double *effect_sum; /* room_own: over all cells; Bernoulli: largest absolute value */
  double reach;       /* no linear predictor is larger; Bernoulli */
  bool wide;          /* exp() of a linear predictor might overflow: the slow, safe way */
} bmf_view;

/* The item at hand. */
typedef struct {
  int item;
  unsigned char *u;
  double *total;    /* L: sum of its features' rows of weights */
  double *seen;     /* m: 1 observed, 0 missing */
  double *eta;      /* m: linear predictor; it follows flips where wide alone */
  double *odds;     /* m: exp(eta), 0 where missing; Bernoulli that is not wide */
  double log_norm;  /* sum over observed cells of log(1 + exp(eta)); Bernoulli */
  double *rate;     /* at the item's stored cells; Poisson */
  double *residual; /* L: V'Or; Gaussian */
  bmf_gram *gram;   /* Gaussian: full, or partial */
  bmf_gram
      partial; /* without the missing cells of item pattern_of (-1: of none); Bernoulli: given omega */
  int pattern_of;
} bmf_at;

/* Of one function at a time, unless it says otherwise. */
typedef struct {
  int *order;           /* room_own: features in the order of a scan */
  unsigned char *skip;  /* room_own: features a caller leaves out or marks */
  double *cells;        /* m */
  double *pull;         /* m */
  double *gram;         /* L x L: an item's weighted gram */
  double *small[4];     /* room_other each */
  int *items;           /* n */
  unsigned char *takes; /* n */
  double *eigen;
  double *omega; /* n x m: Polya-Gamma variables of all cells, once they are wanted */
  double *pool;
  size_t pool_size;
} bmf_scratch;

struct bmf_workspace {
  bmf_state *state;
  int s;
  bmf_side *own, *other;
  const mc_data *data; /* items of this side by rows */
  int n, m;
  int ask_every;            /* items between two questions to the host */
  int room_own, room_other; /* what there is memory for */
  bmf_view view;
  bmf_at at;
  bmf_scratch work;
};

/* ---- bmf/workspace.c ---- */

/* Should a loop over items end before item i? */
static inline bool bmf_workspace_stop(const bmf_workspace *ws, int i) {
  return i % ws->ask_every == 0 && bmf_stop(ws->state);
}

/* A new feature without members, its number; bmf_workspace_feature() when its weights are set or changed. */
int bmf_workspace_add(bmf_workspace *ws);
void bmf_workspace_feature(bmf_workspace *ws, int c);
/* Feature c goes, the last one takes its place; the scratch follows. */
void bmf_workspace_drop(bmf_workspace *ws, int c);

/* The item's gram = sum over its cells of weight[j] v_j v_j'; cells without weight are skipped. */
void bmf_gram_of(const bmf_workspace *ws, const double *weight, double *gram);
/* out[l] = sum_j value[j] v[j,l] */
void bmf_project(const bmf_workspace *ws, const double *value, double *out);
/* out[j] = sum_l in[l] v[j,l] */
void bmf_spread(const bmf_workspace *ws, const double *in, double *out);
/* The item's weights, summed over its features but those marked in skip (may be NULL). */
void bmf_sum_weights(const bmf_workspace *ws, const unsigned char *skip, double *total);
/* Eigenvectors and values of gram->gram, made once. */
void bmf_find_basis(bmf_workspace *ws, bmf_gram *gram);
/* At least so many doubles, not zeroed; never NULL. */
double *bmf_pool(bmf_workspace *ws, size_t count);

/* ---- bmf/row.c: the likelihood of one item ---- */

/* Item i and its linear predictor. */
void bmf_row_begin(bmf_workspace *ws, int i);
/* Item i, for bmf_row_gaussian() alone. */
void bmf_row_enter(bmf_workspace *ws, int i);
/* Change of the tempered log-likelihood were feature a (and b, unless -1) of the item flipped. */
double bmf_row_shift(bmf_workspace *ws, int a, int b);
/* Flips it; counts follow. */
void bmf_row_flip(bmf_workspace *ws, int c);
/* Bernoulli, of rows: fresh Polya-Gamma variables of the item's observed cells, into omega (n x m). */
void bmf_row_omega(bmf_workspace *ws, int i, double *omega);
/* Gaussian and Bernoulli (given the state's Polya-Gamma variables, or fresh ones): the likelihood as a Gaussian one in
 * the item's residual, with features marked in skip (may be NULL) taken out: gram (L x L, NULL: not
 * wanted) and score (L), weighted. */
void bmf_row_gaussian(bmf_workspace *ws, const unsigned char *skip, double *gram, double *score);

/* ---- bmf/weights.c: what the weights are drawn from ---- */

/* Q (lower triangle) and h of vec(W) ~ N(Q^-1 h, Q^-1), weight c, l at c L + l; false where
 * the host said stop. */
bool bmf_weight_system(bmf_workspace *ws, double *q, double *pull);
/* Poisson: counts and exposure of each weight, K x L by rows, and the background's count. */
void bmf_weight_counts(bmf_workspace *ws, double *counts, double *exposure, double *background);

/* ---- bmf/births.c ---- */
void bmf_births(bmf_workspace *ws);
/* xi = alpha / (beta + N - 1), the prior mean of an item's own features. */
double bmf_birth_rate(const bmf_workspace *ws);
/* Poisson: log-likelihood ratio of the item were its own features replaced by ones whose weights
 * add up to added (L). Marks the own ones in skip. */
double bmf_births_log_ratio(bmf_workspace *ws, const double *added);
/* The log-likelihood of the item's residual given that it has b features of its own, b = 0 .. n - 1, up to a
 * constant: Gaussian and Bernoulli. */
void bmf_births_log_lik(bmf_workspace *ws, int n, double *out);

#endif
