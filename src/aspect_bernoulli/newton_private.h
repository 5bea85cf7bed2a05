/*
 * aspect_bernoulli/newton_private.h: shared by the files of Newton's algorithm. newton.c makes an
 * iteration: its halves, their blocks of units, their sums for shards. newton_block.c computes
 * gradients and Hessians of a block by BLAS, newton_few.c with few components, and newton_light.c
 * for the cells of light columns. newton_step.c takes the step of one unit, newton_stages.c is the
 * model for mc_fit().
 */
#ifndef MC_ASPECT_BERNOULLI_NEWTON_PRIVATE_H
#define MC_ASPECT_BERNOULLI_NEWTON_PRIVATE_H

#include "aspect_bernoulli/low_rank.h"
#include "aspect_bernoulli/newton.h"
#include "num/blocks.h"
#include "num/linalg.h"

/*
 * One half of an iteration. Its units are the rows, or the columns, of the table. Each has k
 * weights (memberships, or aspects), which multiply its cells' vectors (aspects, or memberships): p
 * = weights'one, and 1 - p = absences'zero.
 */
typedef struct {
  int k;
  const ab_newton *work;    /* whose host is asked */
  const mc_data *cells;     /* units are its rows */
  const double *one, *zero; /* k x cells->m */
  bool simplex;             /* weights sum to 1; else each is within [0, 1] */
  int n_moving, *moving;    /* components whose products make the Hessian */
  int origin;               /* subtracted from them: on the simplex differences count; -1: none */
  /* Light columns: bounds of the curvature of their zeros, 0 for heavy ones; NULL: all are heavy. */
  const double *curvature; /* of each cell of a row; of each unit, where units are columns */
  const double *cap;       /* of aspects that are units: their upper bound in this step; NULL: 1 */
  double *common;          /* sum of the bounds over all cells, moving components' upper triangle */
  const int *order;        /* units as they are scanned, heavy ones first; NULL: as they are */
  const ab_newton_sums *sums; /* of all units, where they were made elsewhere; or NULL */
  /* Light columns whose zeros are not scanned (low_rank.h); NULL: all are. */
  const double *f;    /* their AB_PARABOLA coefficients, of each cell or unit, 0 for the others */
  const int *scanned; /* the other cells, ascending, their vectors then stand together; NULL: all */
  const int *rank;    /* of each cell among them, or -1 */
  int n_scanned;
  double *one_scanned, *zero_scanned;
  ab_low_rank all;
} ab_side;

/*
 * With few components a BLAS needs more time to copy than to multiply. num/lanes.h replaces it, for
 * groups of NUM_LANES units; a group and a panel fit into the first-level cache.
 */
typedef struct {
  double *absences, *gradient, *hessian; /* of each group: lanes x k, lanes x k, lanes x n_pair */
  double *slope;       /* lanes x panel, then p at the ones of the group in the panel */
  int *at_one, *at_na; /* where among the former these are, and missing cells */
} ab_lanes;

/* A log besides the likelihood, count log(x); x grows by sign times weight `which`, or by the content. */
typedef struct {
  int which;
  double sign, count, x;
} ab_log;

/* A block of b units, and a panel of at most `panel` of their cells. */
typedef struct {
  int panel;
  bool is_few;                /* components */
  ab_lanes few;               /* where they are */
  double *weights, *absences; /* k x b */
  double *gradient;           /* k x b */
  double *hessian;  /* n_pair x b: entries of the moving components, upper triangle by columns */
  double *slope;    /* panel x b: minus the derivative of each cell's log-probability */
  double *curve;    /* heavy cells of a panel x heavy units: minus the second derivative */
  int *unit;        /* b: which units these are, heavy ones first */
  int *place;       /* panel: where a cell is in curve; -1: it is light */
  int *heavy;       /* panel: which cells these are */
  double *products; /* n_pair x panel */
  double *vector, *square; /* a cell's moving vector, padded; sum of its products, columns padded */
  int *next, *next_na;     /* b: the first stored cell that is not in a panel yet */
  /* The quadratic problem of one unit. */
  double *h, *g, *low, *high, *d, *count, *change, *quadratic;
  double *room;     /* of ab_low_rank_add() */
  const double **f; /* b: coefficients of each unit */
  ab_log *log;
  int *side, *which;
} ab_block;

/* Position of a panel: scanned cells from .. from + length - 1, before cell `end`. */
typedef struct {
  int from, length, end, n_place;
} ab_panel;

/* Light columns of a table of m columns, at the aspects of this iteration. */
typedef struct {
  double *row_curvature, *column_curvature; /* m: what bounds that of their zeros; 0: heavy */
  double *cap;                              /* m: of aspects, in this step */
  int *order;                               /* columns, heavy ones first */
  bool unscanned;    /* zeros of some columns are not scanned, in these iterations: */
  double *f;         /* AB_PARABOLA x m: of those columns, 0 for the others */
  double *fixed_cap; /* m: their caps, or 0 */
  int *scanned, n_scanned, *rank;
} ab_light;

typedef struct {
  double loglik, decrement;
} ab_strip_sum;

struct ab_newton {
  ab_prior prior;
  const mc_host *host;
  mc_data columns; /* the table by columns */
  num_strips by_row, by_column;
  double *absence;    /* k x m: 1 - aspects */
  double *membership; /* k x n: a row's memberships are contiguous */
  ab_strip_sum strip[NUM_MAX_STRIP];
  ab_block *block; /* one a thread */
  ab_side rows, cols;
  bool sparse; /* the zeros of light columns by one bound */
  ab_light light;
  int stage;
  int iterations;
  double objective, decrement; /* of the last iteration */
};

static inline int ab_larger(int a, int b) { return a > b ? a : b; }
static inline int ab_smaller(int a, int b) { return a < b ? a : b; }

/* Size of parts of n of about equal size, at most `most`. */
static inline int ab_even_part(int n, int most) {
  const int parts = ab_larger(n / most + (n % most > 0), 1);
  return ab_larger(n / parts + (n % parts > 0), 1);
}

/* Rounds up to whole vectors of the processor. */
static inline int ab_padded(int n) { return (n + 3) & ~3; }

static inline bool ab_is_fixed(const ab_param *par, int c) { return par->fixed && par->fixed[c]; }

static NUM_INLINE void ab_moving_vector(const ab_side *of, const double *own, double *vector) {
  const double origin = of->origin < 0 ? 0 : own[of->origin];
  for (int c = 0; c < of->n_moving; c++) vector[c] = own[of->moving[c]] - origin;
}

/* Products of all pairs of moving components for the heavy cells of a panel. */
static NUM_INLINE void ab_pair_products(const ab_side *of, const double *one, int n_place,
                                        const ab_block *t) {
  const int n = of->n_moving;
  double *out = t->products;
  for (int j = 0; j < n_place; j++) {
    ab_moving_vector(of, one + num_at(0, t->heavy[j], of->k), t->vector);
    for (int d = 0; d < n; d++) {
      for (int c = 0; c <= d; c++) out[c] = t->vector[c] * t->vector[d];
      out += d + 1;
    }
  }
}

/* Bound of the curvature of a light zero; 0 for a heavy one. */
static NUM_INLINE double ab_curvature_bound(const ab_side *of, int unit, int cell) {
  return of->curvature ? of->curvature[of->simplex ? cell : unit] : 0;
}

/* The parabola of a cell whose zero is not scanned, otherwise NULL. */
static NUM_INLINE const double *ab_parabola_of(const ab_side *of, int unit, int cell) {
  const double *f = of->f ? of->f + num_at(0, of->simplex ? cell : unit, AB_PARABOLA) : NULL;
  return f && f[1] > 0 ? f : NULL;
}

/* d'H d of a packed Hessian. */
static inline double ab_packed_form(const ab_side *of, const double *packed, const double *d) {
  double sum = 0;
  for (int e = 0; e < of->n_moving; e++) {
    double part = 0;
    for (int c = 0; c < e; c++) part += *packed++ * d[of->moving[c]];
    sum += d[of->moving[e]] * (2 * part + *packed++ * d[of->moving[e]]);
  }
  return sum;
}

#define AB_LEAST_P 1e-140 /* least probability of a one in derivatives: squares must be finite */

/* ---- newton_light.c ---- */

ab_light ab_new_light(int m, const mc_host *host);

/* Allocates memory for the light cells of m columns in a half. */
void ab_allocate_light(ab_side *of, int m, const mc_host *host);

/* Selects the light columns, and their curvature bounds, from their aspects. */
void ab_find_light(const ab_param *par, int m, ab_light *light);

/* See ab_newton_set_caps(). */
void ab_set_fixed_caps(ab_light *light, int m, const double *cap);

/* Computes the sum of all bounds: of cells, or, if units are light, of cells without that factor. */
void ab_bound_all(ab_side *of, const ab_block *t);

/*
 * Derivatives at the light ones of unit i of a block, replacing the bounds of their cells in the
 * Hessian; a missing cell has none. Returns the sum of their log p.
 */
double ab_differentiate_light_ones(const ab_side *of, int i, ab_block *t);

/* Gradients as if all unscanned cells were zeros, for units from `first` of the block on. */
double ab_add_unscanned_zeros(const ab_side *of, int first, int b, ab_block *t);

/* Contribution of a unit's light zeros to d'H d: all cells except ones and missing ones. */
double ab_light_form(const ab_side *of, int unit, const double *d);

/* The bounds of a light column's zeros, as in ab_light_form(), packed. */
void ab_light_sum(const ab_side *of, int unit, const ab_block *t, double *packed);

/* ---- newton_few.c ---- */

#define AB_FEW 10 /* components: up to so many by num/lanes.h */

/* Number of cells of a panel for k components. */
int ab_lanes_panel(int k);

ab_lanes ab_new_lanes(int k, int b, int panel, const mc_host *host);

/* Arranges a block's units in groups (lanes without a unit hold zeros), and copies the results back. */
void ab_group_units(int k, int n_pair, int b, const ab_block *t);
void ab_ungroup_units(int k, int n_pair, int b, const ab_block *t);

/* Adds the contributions of a panel to the sums of a block's groups; returns that to the log-likelihood. */
double ab_differentiate_few(const ab_side *of, int b, const ab_panel *at, const double *one,
                            const double *zero, ab_block *t);

/* ---- newton_block.c ---- */

/* Allocates a block of b units of k weights; panel: largest number of cells. */
ab_block ab_new_block(int k, int b, int panel, bool is_few, bool sparse, const mc_host *host);

/*
 * Gradients and Hessians of units from `first` on, with weights in t; returns their log-likelihood,
 * NaN if the host requested a stop, because a block of long units takes long.
 */
double ab_differentiate(const ab_side *of, int first, int b, ab_block *t);

/* ---- newton_step.c ---- */

/* Computes the direction of unit i of a block in t->d; adds g'd to *decrement; returns the step
 * length. */
double ab_find_step(const ab_side *of, const ab_param *par, const ab_prior *prior, int i,
                    ab_block *t, double *decrement);

/* Applies the step to the unit's weights. A full step ends on a bound exactly. */
void ab_take_step(const ab_side *of, int unit, double length, const ab_block *t, double *weights);

/* ---- newton.c ---- */

/* The surrogate objective with some zeros unscanned; NaN: the host requested a stop. */
double ab_unscanned_objective(const mc_data *data, ab_param *par, ab_newton *work);

#endif
