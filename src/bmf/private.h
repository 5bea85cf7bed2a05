/*
 * bmf/private.h: the data structures of updates of one side: the side, the current item, scratch.
 *
 * Below, "own" is the current side (n items, features c), "other" the side whose m items are the
 * cells of an item (L features l). The contribution of feature c to the cells of an item is
 * effect[c,j] = sum_l w[c,l] other[j,l].
 *
 * Gaussian items live in the L-dimensional space of the other side's features: with V the other
 * side, O the item's observed cells, r its residual,
 *   gram = V'OV,  residual = V'Or,  image_c = gram w_c,
 * a flip costs O(L), independently of the number of cells.
 */
#ifndef MC_BMF_PRIVATE_H
#define MC_BMF_PRIVATE_H

#include "bmf/bmf.h"

/* V'OV, its products with the weights, and its eigendecomposition. */
typedef struct {
  double *gram;  /* L x L, contiguous */
  double *image; /* own->k rows, each room_other long: gram w_c */
  double *basis; /* L x L: eigenvectors of gram, once basis_known */
  double *value; /* L: its eigenvalues, at least 0 */
  bool basis_known;
} bmf_gram;

/* Quantities common to all items of a side, for fixed features and weights. */
typedef struct {
  double scale; /* power, times the noise precision for the Gaussian family */
  int *on_list; /* m x room_other: the features of each cell ... */
  int *n_on;    /* m: ... and their number */
  double *log_on,
      *log_off;  /* prior log odds of having a feature: log_on[n] - log_off[n], n others */
  bmf_gram full; /* for complete items; Gaussian */

  double *effect;     /* room_own x m: see above; Bernoulli and Poisson */
  double *up, *down;  /* room_own x m: exp(effect), exp(-effect); Bernoulli */
  double *effect_sum; /* room_own: over all cells; Bernoulli: largest absolute value */
  double reach;       /* upper bound of all |linear predictors|; Bernoulli */
  bool wide;          /* exp() of a linear predictor might overflow: slower, safe computations
                         are used */
} bmf_view;

/* The current item. */
typedef struct {
  int item;
  unsigned char *u;
  double *total;    /* L: sum of its features' rows of weights */
  double *seen;     /* m: 1 observed, 0 missing */
  double *eta;      /* m: linear predictor; updated by flips only if wide */
  double *odds;     /* m: exp(eta), 0 if missing; Bernoulli, unless wide */
  double log_norm;  /* sum over observed cells of log(1 + exp(eta)); Bernoulli */
  double *rate;     /* at the item's stored cells; Poisson */
  double *residual; /* L: V'Or; Gaussian */
  bmf_gram *gram;   /* Gaussian: full, or partial */
  bmf_gram
      partial; /* without the missing cells of item pattern_of (-1: of none); Bernoulli: given omega */
  int pattern_of;
} bmf_at;

/* Scratch of one function at a time, except where noted. */
typedef struct {
  int *order;           /* room_own: features in the order of a scan */
  unsigned char *skip;  /* room_own: features that a caller excludes or marks */
  double *cells;        /* m */
  double *pull;         /* m */
  double *gram;         /* L x L: an item's weighted gram */
  double *small[4];     /* room_other each */
  int *items;           /* n */
  unsigned char *takes; /* n */
  double *eigen;
  double *omega; /* n x m: Polya-Gamma variables of all cells, allocated on demand */
  double *pool;
  size_t pool_size;
} bmf_scratch;

struct bmf_workspace {
  bmf_state *state;
  int s;
  bmf_side *own, *other;
  const mc_data *data; /* items of this side by rows */
  int n, m;
  int ask_every;            /* items between two calls of the host */
  int room_own, room_other; /* capacities */
  bmf_view view;
  bmf_at at;
  bmf_scratch work;
};

/* ---- bmf/workspace.c ---- */

/* Returns whether a loop over items should end before item i. */
static inline bool bmf_workspace_stop(const bmf_workspace *ws, int i) {
  return i % ws->ask_every == 0 && bmf_stop(ws->state);
}

/* Adds a feature without members and returns its index. bmf_workspace_feature() must follow when
 * its weights are set or changed. */
int bmf_workspace_add(bmf_workspace *ws);
void bmf_workspace_feature(bmf_workspace *ws, int c);
/* Removes feature c, moving the last one into its place, and updates the scratch. */
void bmf_workspace_drop(bmf_workspace *ws, int c);

/* Computes the sum over the item's cells of weight[j] v_j v_j', skipping cells without weight. */
void bmf_gram_of(const bmf_workspace *ws, const double *weight, double *gram);
/* out[l] = sum_j value[j] v[j,l] */
void bmf_project(const bmf_workspace *ws, const double *value, double *out);
/* out[j] = sum_l in[l] v[j,l] */
void bmf_spread(const bmf_workspace *ws, const double *in, double *out);
/* Sums the item's weights over its features, except those marked in skip (may be NULL). */
void bmf_sum_weights(const bmf_workspace *ws, const unsigned char *skip, double *total);
/* Eigenvectors and eigenvalues of gram->gram, computed once. */
void bmf_find_basis(bmf_workspace *ws, bmf_gram *gram);
/* Returns at least `count` uninitialised doubles; never NULL. */
double *bmf_pool(bmf_workspace *ws, size_t count);

/* ---- bmf/row.c: the likelihood of one item ---- */

/* Selects item i and computes its linear predictor. */
void bmf_row_begin(bmf_workspace *ws, int i);
/* Selects item i, for bmf_row_gaussian() only. */
void bmf_row_enter(bmf_workspace *ws, int i);
/* Change of the tempered log-likelihood if feature a (and b, unless -1) of the item were flipped. */
double bmf_row_shift(bmf_workspace *ws, int a, int b);
/* Flips feature c and updates the counts. */
void bmf_row_flip(bmf_workspace *ws, int c);
/* Bernoulli, rows: draws Polya-Gamma variables of the item's observed cells into omega (n x m). */
void bmf_row_omega(bmf_workspace *ws, int i, double *omega);
/*
 * Gaussian, and Bernoulli conditional on the state's or new Polya-Gamma variables: the likelihood
 * as a Gaussian in the item's residual, without the features marked in skip (may be NULL). Returns
 * gram (L x L; NULL: not requested) and score (L), weighted.
 */
void bmf_row_gaussian(bmf_workspace *ws, const unsigned char *skip, double *gram, double *score);

/* ---- bmf/weights.c: full conditionals of the weights ---- */

/* Computes Q (lower triangle) and h of vec(W) ~ N(Q^-1 h, Q^-1), with weight c, l at c L + l;
 * returns false if the host requested a stop. */
bool bmf_weight_system(bmf_workspace *ws, double *q, double *pull);
/* Poisson: counts and exposure of each weight, K x L by rows, and the background's count. */
void bmf_weight_counts(bmf_workspace *ws, double *counts, double *exposure, double *background);

/* ---- bmf/births.c ---- */
void bmf_births(bmf_workspace *ws);
/* xi = alpha / (beta + N - 1), the prior mean of the number of features of a single item. */
double bmf_birth_rate(const bmf_workspace *ws);
/* Poisson: log-likelihood ratio of the item if its own features were replaced by ones with summed
 * weights `added` (L). Marks the own ones in skip. */
double bmf_births_log_ratio(bmf_workspace *ws, const double *added);
/* Log-likelihood of the item's residual for b = 0 .. n - 1 features of its own, up to a constant;
 * Gaussian and Bernoulli. */
void bmf_births_log_lik(bmf_workspace *ws, int n, double *out);

#endif
