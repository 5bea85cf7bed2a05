/*
 * bmf/bmf.h: binary matrix factorization, Meeds, Ghahramani, Neal & Roweis (2007). Rows i have
 * binary features u, columns j binary features v, and
 *   eta[i,j] = sum_kl rows[i,k] weights[k,l] columns[j,l]     (U W V' in the paper)
 *   gaussian   x ~ N(eta, 1 / noise_precision)                 (lambda in the paper)
 *   bernoulli  P(x = 1) = 1 / (1 + exp(-eta))
 *   poisson    x ~ Poisson(background + eta), weights >= 0.
 * Weights ~ N(weight_mean, 1 / weight_precision), Poisson: Gamma(weight_shape, weight_precision).
 * Features of a side: pi_k ~ Beta(alpha / K, beta), K fixed or its limit of infinitely many (Indian
 * buffet). All Gammas are (shape, rate).
 *
 * A sweep is one Markov chain Monte Carlo update of all unknowns, exact for power = 1; power < 1
 * tempers the likelihood (for starting values only). Both sides use the same code, written for one
 * side: its items (rows, or columns) have features, and the other side's items are its cells.
 */
#ifndef MC_BMF_BMF_H
#define MC_BMF_BMF_H

#include "engine/data.h"
#include "engine/fit.h"

enum { BMF_ROWS, BMF_COLUMNS };

typedef enum { BMF_GAUSSIAN, BMF_BERNOULLI, BMF_POISSON } bmf_family;

/* Scalars: fixed, or estimated under a Gamma(shape, rate) prior. */
enum {
  BMF_ALPHA_ROWS,
  BMF_ALPHA_COLUMNS,
  BMF_WEIGHT_MEAN,
  BMF_WEIGHT_PRECISION, /* Poisson: the rate of the weights' Gamma prior */
  BMF_NOISE_PRECISION,  /* Gaussian only */
  BMF_WEIGHT_SHAPE,     /* Poisson only */
  BMF_BACKGROUND,       /* Poisson only; > 0 */
  BMF_N_HYPER
};

typedef struct {
  double value, shape, rate;
  bool learned;
} bmf_hyper;

/* One side. Features 0 .. n_fixed - 1 are supplied by the user, never updated, and have no prior. */
typedef struct {
  int n;             /* items */
  bool infinite;     /* Indian buffet; otherwise always k - n_fixed free features */
  double beta_off;   /* beta of the prior; alpha / K is its other half */
  int n_fixed, k;    /* current number of features, the fixed ones first; the others in random
                        order */
  int room;          /* capacity in features */
  unsigned char *on; /* n x room, row by row: 0 or 1 */
  int *count;        /* k: items that have the feature */
  int n_extern;      /* > 0: count refers to this many items outside x and is constant
                        (prediction) */
} bmf_side;

typedef struct {
  bmf_family family;
  const mc_data *data[2]; /* x, and x transposed */
  bmf_side side[2];
  double *weight[2]; /* [0]: row features by column features, a row every side[1].room;
                        [1]: its transpose, a row every side[0].room */
  bmf_hyper hyper[BMF_N_HYPER];
  double power;        /* of the likelihood, in (0, 1] */
  const double *omega; /* n x m: supplied Polya-Gamma variables; NULL: drawn */
  const mc_host *host;
  int n_sweep; /* complete sweeps of this run, reported to the host */
} bmf_state;

/* Optional moves of a sweep, besides single flips, set-B births, weights and hyperparameters. */
typedef struct {
  bool block;      /* flips in pairs of features */
  bool multi;      /* Metropolis proposals of several features of an item */
  int split_merge; /* attempts per side and sweep; Gaussian and Bernoulli */
  bool
      collapsed; /* flips with the weights integrated out; Gaussian, complete data, weight_mean 0 */
} bmf_moves;

typedef struct bmf_workspace bmf_workspace; /* scratch of one side's updates */

/* Asks the host within a sweep, because sweeps of large tables take seconds. Every update then ends
 * early and leaves a complete state. */
static inline bool bmf_stop(const bmf_state *state) {
  return mc_stop(state->host, state->n_sweep, 0);
}

static inline unsigned char *bmf_item(const bmf_side *side, int i) {
  return side->on + (ptrdiff_t) i * side->room;
}

/* Row c of the weights in the orientation of side s. */
static inline double *bmf_weight(const bmf_state *state, int s, int c) {
  return state->weight[s] + (ptrdiff_t) c * state->side[1 - s].room;
}

static inline int bmf_n_free(const bmf_side *side) { return side->k - side->n_fixed; }

/* Number of items in the beta-Bernoulli prior, including the current one. */
static inline int bmf_n_items(const bmf_side *side) {
  return side->n_extern ? side->n_extern + 1 : side->n;
}

/* Number of items with feature c other than the one with features u. */
static inline int bmf_n_others(const bmf_side *side, const unsigned char *u, int c) {
  return side->n_extern ? side->count[c] : side->count[c] - u[c];
}

/* ---- bmf/state.c ---- */

/* Allocates memory for the features (side[s].k; room = 0 on entry) and a few more. */
void bmf_allocate(bmf_state *state);

/* Recomputes the counts; copies the weights from orientation `from` to the other. */
void bmf_count(bmf_side *side);
void bmf_transpose(bmf_state *state, int from);

/* Adds a feature without members, with this row of weights (side s; NULL: zeros); returns its index. */
int bmf_add_feature(bmf_state *state, int s, const double *weight);

/* Removes feature c of side s, moving the last one into its place. Like adding, leaves weight[1 - s] stale. */
void bmf_drop_feature(bmf_state *state, int s, int c);

/* Removes features without members, on infinite sides. */
void bmf_drop_empty(bmf_state *state, int s);

/* ---- bmf/density.c ---- */

/*
 * Log prior of side s for labelled features: the free ones in uniformly random order. A state with
 * weights is labelled because its features differ by their weights. Fixed features have no prior.
 */
double bmf_log_prior_side(const bmf_state *state, int s);
double bmf_log_feature(const bmf_state *state, int s, int m); /* of a free feature with m members */
double bmf_log_prior_weights(const bmf_state *state);
double bmf_log_hyper(const bmf_state *state, int which); /* 0 for fixed parameters */

/* Sum of 1 / (beta + i - 1), i = 1 .. n: the expected number of features is alpha times this. */
double bmf_harmonic(const bmf_side *side);
double bmf_log_beta(double a, double b);

/* Expected value of a cell. */
double bmf_expected_cell(const bmf_state *state, int i, int j);

typedef struct {
  double log_lik, squared_error, n_observed; /* over observed cells; squared_error: Gaussian */
} bmf_fit_measure;

/* Scratch of bmf_measure(). */
typedef struct {
  num_strips rows;
  int room;
  double *eta, *scratch; /* one section per thread */
  bmf_fit_measure *block;
  ptrdiff_t *start; /* the features of column j: on[start[j]] .. on[start[j + 1] - 1] */
  int *on;
} bmf_measure_work;

bmf_measure_work bmf_new_measure(const bmf_state *state, int n_threads);

/*
 * Computes the fit over all cells; adds the expected cells to mean (n x m, or NULL). Independent of
 * the number of threads. The host is asked only without mean, because a partial mean is useless;
 * log_lik is NaN if it requested a stop.
 */
bmf_fit_measure bmf_measure(const bmf_state *state, bmf_measure_work *work, double *mean);

/* log p(x, all unknowns), labelled, of a state with log-likelihood log_lik. */
double bmf_log_joint(const bmf_state *state, double log_lik);

/* ---- bmf/flips.c, bmf/births.c: updates of one side's features ---- */

bmf_workspace *bmf_new_workspace(bmf_state *state, int s);

/* Prepares the scratch for the current state: lists, tables, products with the other side. */
void bmf_workspace_begin(bmf_workspace *ws, bmf_state *state, int s);

/* Updates all items of side s: flips, multi-feature proposals, births; recomputes weight[1 - s]. */
void bmf_update_side(bmf_workspace *ws, bmf_state *state, int s, const bmf_moves *moves);

/* ---- bmf/collapsed.c: the same with the weights integrated out ---- */
void bmf_update_side_collapsed(bmf_workspace *ws, bmf_state *state, int s);
double bmf_log_marginal(bmf_workspace *ws, bmf_state *state, int s);

/* ---- bmf/split_merge.c ---- */
void bmf_split_merge(bmf_workspace *ws, bmf_state *state, int s, int n_try);

/* ---- bmf/recode.c: other features for the same linear predictor ---- */
enum { BMF_SHIFT, BMF_COMPLEMENT };

typedef struct {
  int a, b;             /* features of the side; a is free and is redefined */
  double sign_a, add_b; /* w_a becomes sign_a w_a, w_b becomes w_b + add_b w_a */
  int count;            /* members of a afterwards */
} bmf_recoding;

/* Returns false if a and b have no recoding of this kind. */
bool bmf_find_recoding(const bmf_state *state, int s, int a, int b, int kind, bmf_recoding *to);
double bmf_recoding_log_ratio(const bmf_state *state, int s, const bmf_recoding *to);
/* Applies the recoding; weight[1 - s] is then stale. */
void bmf_recode_as(bmf_state *state, int s, const bmf_recoding *to);
void bmf_recode(bmf_state *state, int s);

/* ---- bmf/weights.c, bmf/hyper.c ---- */
void bmf_update_weights(bmf_workspace *ws[2], bmf_state *state);
void bmf_update_hyper(bmf_state *state, double squared_error);
/* Gamma full conditional of a precision, or of alpha of an infinite side. */
void bmf_gamma_law(const bmf_state *state, int which, double squared_error, double *shape,
                   double *rate);

/* ---- bmf/run.c ---- */
typedef struct {
  int n_sweep;
  int thin; /* a draw is recorded every `thin` sweeps */
  int n_threads;
  const double *power; /* n_sweep values, or NULL: all 1 */
  bmf_moves moves;
  int n_probe;      /* cells whose expected value is recorded with each draw */
  const int *probe; /* row, column, row, column, ..., 0-based */
} bmf_plan;

/* Columns of the record of draws. */
enum {
  BMF_NOTE_JOINT,
  BMF_NOTE_LIK,
  BMF_NOTE_K,
  BMF_NOTE_L,
  BMF_NOTE_ROW_ONES,
  BMF_NOTE_COLUMN_ONES,
  BMF_NOTE_HYPER,
  BMF_NOTE_PROBE = BMF_NOTE_HYPER + BMF_N_HYPER
};

typedef struct {
  int n_done, n_draw; /* sweeps and draws made */
  double *note;       /* draws x (BMF_NOTE_PROBE + n_probe), one row per draw; grows */
  int room;           /* capacity of note, see mc_grow() */
  double *mean;       /* n x m sum of expected cells over draws, or NULL */
  bmf_state *best;    /* the draw with the largest log joint; NULL: not requested */
  double best_joint;  /* the value to be exceeded; -Inf initially */
  bool best_found;
} bmf_record;

/*
 * Runs sweeps until the plan is complete or the host requests a stop. A stop within a sweep skips
 * some of its updates; the state is still a valid draw, but the sweep is not counted.
 */
mc_status bmf_run(bmf_state *state, const bmf_plan *plan, bmf_record *record);

/*
 * Prediction: draws the rows' features n_sweep times, conditional on columns, weights and the
 * counts of the rows outside x; mean (n x m) becomes the average of the expected cells over the
 * later half of the sweeps. The host is asked after every sweep; returns false, with mean invalid,
 * if it requested a stop.
 */
bool bmf_predict(bmf_state *state, int n_sweep, double *mean);

#endif
