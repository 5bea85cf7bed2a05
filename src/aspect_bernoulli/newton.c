/*
 * aspect_bernoulli/newton.c, in this order: scratch; gradient and Hessian of a block of units; the
 * step of one unit (direction, length); blocks of rows and of columns; light columns; a pass; its
 * sums for shards; the model for mc_fit() and the stages of its sparse form.
 */
#include "aspect_bernoulli/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aspect_bernoulli/low_rank.h"
#include "num/blas.h"
#include "num/blocks.h"
#include "num/lanes.h"
#include "num/linalg.h"
#include "num/quadratic.h"
#include "num/vector.h"

#define MOST_UNITS 128      /* rows or columns a block */
#define BLOCK_PAIRS 1048576 /* entries of their Hessians, where that is fewer units: 8 MB */
#define MOST_PANEL 256      /* cells of a unit at a time */
#define PANEL_PAIRS 24576   /* products in a panel: second-level cache */
#define LEAST_PANEL 16
#define FEW_COMPONENTS 10 /* components: up to so many by num/lanes.h */
#define LANE_ROOM 4096    /* entries of what a group and a panel have: first-level cache */
#define LEAST_P 1e-140 /* least probability of a one in derivatives: their squares must be finite */

/*
 * One half of a pass. Its units are the rows, or the columns, of the table; each has k weights
 * (memberships, or aspects), which its cells' vectors (aspects, or memberships) are multiplied by:
 * p = weights'one, and 1 - p = absences'zero.
 */
typedef struct {
  const mc_data *cells;     /* units are its rows */
  const double *one, *zero; /* k x cells->m */
  bool simplex;             /* weights sum to 1; else each is within [0, 1] */
  int n_moving, *moving;    /* components whose products make the Hessian */
  int origin;               /* subtracted from them: on the simplex differences count; -1: none */
  /* Light columns: how the curvature of their zeros is bounded, 0 for the others; NULL: none is. */
  const double *curvature; /* of each cell of a row; of each unit, where units are columns */
  const double *cap;       /* of aspects that are units: their upper bound in this step; NULL: 1 */
  double *common;          /* sum of the bounds over all cells, moving components' upper triangle */
  const int *order;        /* units as they are visited, heavy ones first; NULL: as they are */
  const ab_newton_sums *sums; /* of all units, where they were made elsewhere; or NULL */
  /* Light columns whose zeros are not visited (low_rank.h); NULL: all are. */
  const double *f;    /* their AB_PARABOLA coefficients, of each cell or unit, 0 for the others */
  const int *visited; /* the other cells, ascending, their vectors then stand together; NULL: all */
  const int *rank;    /* of each cell among them, or -1 */
  int n_visited;
  double *one_visited, *zero_visited;
  ab_low_rank all;
} half;

typedef struct {
  int which;
  double sign, count, x;
} log_term;

/*
 * With few components a BLAS copies for longer than it multiplies: num/lanes.h in its place, for
 * groups of NUM_LANES units. All of a group and a panel stays in the first-level cache.
 */
typedef struct {
  double *absences, *gradient, *hessian; /* of each group: lanes x k, lanes x k, lanes x n_pair */
  double *slope;       /* lanes x panel, then p at the ones of the group in the panel */
  int *at_one, *at_na; /* where among the former these are, and missing cells */
} lane_scratch;

/* A block of b units, and a panel of at most `panel` of their cells. */
typedef struct {
  lane_scratch few;
  double *weights, *absences; /* k x b */
  double *gradient;           /* k x b */
  double *hessian;  /* n_pair x b: entries of the moving components, upper triangle by columns */
  double *slope;    /* panel x b: derivative of each cell's log-probability, less its sign */
  double *curve;    /* heavy cells of a panel x heavy units: the second derivative, less its sign */
  int *unit;        /* b: which units these are, heavy ones first */
  int *place;       /* panel: where a cell is in curve; -1: it is light */
  int *heavy;       /* panel: which cells these are */
  double *products; /* n_pair x panel */
  double *vector, *square; /* a cell's moving vector, padded; sum of its products, columns padded */
  int *next, *next_na;     /* b: the first stored cell that is not in a panel yet */
  /* Of one unit's quadratic problem. */
  double *h, *g, *low, *high, *d, *count, *change, *quadratic;
  double *room;     /* of ab_low_rank_add() */
  const double **f; /* b: coefficients of each unit */
  log_term *log;
  int *side, *which;
} block_scratch;

typedef struct {
  double loglik, decrement;
} strip_sum;

struct ab_newton {
  ab_prior prior;
  const mc_host *host;
  int k, panel;
  mc_data columns; /* the table by columns */
  num_strips by_row, by_column;
  double *absence;    /* k x m: 1 - aspects */
  double *membership; /* k x n: a row's memberships are contiguous */
  strip_sum strip[NUM_MAX_STRIP];
  block_scratch *scratch; /* one a thread */
  half rows, cols;
  bool few;                                       /* components, and all cells are visited */
  bool sparse;                                    /* the zeros of light columns by one bound */
  double *row_curvature, *column_curvature, *cap; /* m each */
  int *order;                                     /* columns, heavy ones first */
  bool unvisited; /* zeros of some columns are not visited, in these passes */
  double *f,
      *fixed_cap; /* AB_PARABOLA x m: of those columns, 0 for the others; m: their caps, or 0 */
  int *visited, *rank;
  int stage;
  int passes;
  double objective, decrement; /* of the last pass */
};

/* Rounded up to whole vectors of the processor. */
static int padded(int n) { return (n + 3) & ~3; }

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

/* The size of parts of n, at most `most`, that are of about equal size. */
static int even_part(int n, int most) {
  const int parts = larger(n / most + (n % most > 0), 1);
  return larger(n / parts + (n % parts > 0), 1);
}

static num_strips strips_of(int n, int k, int n_threads) {
  const int most = larger(smaller(MOST_UNITS, BLOCK_PAIRS / num_pairs(k)), 1);
  return num_new_strips(n, even_part(n, most), n_threads);
}

/* Lanes of the groups of b units. */
static size_t all_lanes(int b) { return (size_t) (b + NUM_LANES - 1) / NUM_LANES * NUM_LANES; }

static lane_scratch new_lane_scratch(int k, int b, int panel, const mc_host *host) {
  const size_t units = all_lanes(b);
  const size_t cells = (size_t) panel * NUM_LANES;
  lane_scratch t = {.absences = mc_doubles(host, units, k), .gradient = mc_doubles(host, units, k)};
  t.hessian = mc_doubles(host, units, num_pairs(k));
  t.slope = mc_doubles(host, cells, 2);
  t.at_one = host->alloc(host->ctx, cells, sizeof(int));
  t.at_na = host->alloc(host->ctx, cells, sizeof(int));
  return t;
}

static block_scratch new_block_scratch(int k, int b, int panel, bool sparse, const mc_host *host) {
  block_scratch t = {.weights = mc_doubles(host, k, b), .absences = mc_doubles(host, k, b)};
  t.gradient = mc_doubles(host, k, b);
  t.hessian = mc_doubles(host, num_pairs(k), b);
  t.slope = mc_doubles(host, panel, b);
  t.curve = mc_doubles(host, panel, b);
  t.unit = host->alloc(host->ctx, (size_t) b, sizeof(int));
  t.heavy = host->alloc(host->ctx, (size_t) panel, sizeof(int));
  t.place = host->alloc(host->ctx, (size_t) panel, sizeof(int));
  t.products = mc_doubles(host, num_pairs(k), panel);
  t.vector = mc_doubles(host, padded(k), 1);
  t.square = mc_doubles(host, padded(k), k);
  t.next = host->alloc(host->ctx, (size_t) b, sizeof(int));
  t.next_na = host->alloc(host->ctx, (size_t) b, sizeof(int));
  if (sparse) {
    t.room = mc_doubles(host, ab_low_rank_room(k, b), 1);
    t.f = host->alloc(host->ctx, (size_t) b, sizeof *t.f);
  }
  t.h = mc_doubles(host, k, k);
  t.g = mc_doubles(host, k, 1);
  t.low = mc_doubles(host, k, 1);
  t.high = mc_doubles(host, k, 1);
  t.d = mc_doubles(host, k, 1);
  t.count = mc_doubles(host, 2 * k + 1, 1);
  t.change = mc_doubles(host, 2 * k + 1, 1);
  t.log = host->alloc(host->ctx, 2 * (size_t) k + 1, sizeof *t.log);
  t.quadratic = host->alloc(host->ctx, num_quadratic_work(k), sizeof(double));
  t.side = host->alloc(host->ctx, (size_t) k, sizeof(int));
  t.which = host->alloc(host->ctx, (size_t) k, sizeof(int));
  return t;
}

/* What the sparse form needs besides, of m columns. */
static void allocate_sparse(ab_newton *work, int m, const mc_host *host) {
  const int k = work->k;
  work->row_curvature = mc_doubles(host, m, 1);
  work->column_curvature = mc_doubles(host, m, 1);
  work->cap = mc_doubles(host, m, 1);
  work->order = host->alloc(host->ctx, (size_t) m, sizeof(int));
  work->f = mc_doubles(host, AB_PARABOLA, m);
  work->fixed_cap = mc_doubles(host, m, 1);
  work->visited = host->alloc(host->ctx, (size_t) m, sizeof(int));
  work->rank = host->alloc(host->ctx, (size_t) m, sizeof(int));
  work->rows.one_visited = mc_doubles(host, k, m);
  work->rows.zero_visited = mc_doubles(host, k, m);
  work->rows.all = ab_new_low_rank(k, host);
  work->cols.all = ab_new_low_rank(k, host);
  work->rows.common = mc_doubles(host, num_pairs(k), 1);
  work->cols.common = mc_doubles(host, num_pairs(k), 1);
}

/* Cells of a panel: its products stay in the second-level cache, or with lanes all in the first. */
static int panel_cells(const ab_newton *work, int longest) {
  const int pairs = num_pairs(work->k);
  if (work->few) return smaller(longest, LANE_ROOM / (NUM_LANES + pairs + 2 * work->k));
  return smaller(longest, larger(smaller(PANEL_PAIRS / pairs, MOST_PANEL), LEAST_PANEL));
}

ab_newton *ab_new_newton(const mc_data *data, const ab_prior *prior, bool sparse, int n_threads,
                         const mc_host *host) {
  const int k = prior->k;
  ab_newton *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->host = host;
  work->k = k;
  work->columns = mc_transpose(data, host);
  work->by_row = strips_of(data->n, k, n_threads);
  work->by_column = strips_of(data->m, k, n_threads);
  work->absence = mc_doubles(host, k, data->m);
  work->membership = mc_doubles(host, k, data->n);
  work->sparse = sparse;
  if (sparse) allocate_sparse(work, data->m, host);
  work->rows.moving = host->alloc(host->ctx, (size_t) k, sizeof(int));
  work->cols.moving = host->alloc(host->ctx, (size_t) k, sizeof(int));
  const int longest = larger(larger(data->n, data->m), 1);
  work->few = !sparse && k <= FEW_COMPONENTS;
  work->panel = panel_cells(work, longest);
  const int b = larger(work->by_row.block_rows, work->by_column.block_rows);
  const int n_threads_used = larger(work->by_row.n_threads, work->by_column.n_threads);
  work->scratch = host->alloc(host->ctx, (size_t) n_threads_used, sizeof *work->scratch);
  for (int t = 0; t < n_threads_used; t++) {
    work->scratch[t] = new_block_scratch(k, b, work->panel, sparse, host);
    if (work->few) work->scratch[t].few = new_lane_scratch(k, b, work->panel, host);
  }
  return work;
}

/* What visitors of blocks of units see. */
typedef struct {
  const half *half;
  ab_param *par;
  ab_newton *work;
  const mc_data *data;
  bool value_only;      /* for the objective alone */
  ab_newton_sums *sums; /* of columns, for others; or NULL */
} visit;

static NUM_INLINE void moving_vector(const half *of, const double *own, double *vector) {
  const double origin = of->origin < 0 ? 0 : own[of->origin];
  for (int c = 0; c < of->n_moving; c++) vector[c] = own[of->moving[c]] - origin;
}

/* Products of all pairs of moving components, of the heavy cells of a panel. */
static NUM_INLINE void pair_products(const half *of, int k, const double *one, int n_place,
                                     const block_scratch *t) {
  const int n = of->n_moving;
  double *out = t->products;
  for (int j = 0; j < n_place; j++) {
    moving_vector(of, one + num_at(0, t->heavy[j], k), t->vector);
    for (int d = 0; d < n; d++) {
      for (int c = 0; c <= d; c++) out[c] = t->vector[c] * t->vector[d];
      out += d + 1;
    }
  }
}

NUM_HOT static void make_products(const half *of, int k, const double *one, int n_place,
                                  const block_scratch *t) {
  pair_products(of, k, one, n_place, t);
}

/* Adds weight times those of t->vector to t->square. */
NUM_HOT static void add_square(int n, double weight, const block_scratch *t) {
  const double *vector = t->vector;
  const int stride = padded(n);
  for (int d = 0; d < n; d++) {
    const double scale = weight * vector[d];
    double *sum = t->square + num_at(0, d, stride);
    for (int c = 0; c <= (d | 3); c++) sum[c] += scale * vector[c];
  }
}

/* Moves its upper triangle into a packed one. */
static void flush_square(int n, double *packed, const block_scratch *t) {
  const int stride = padded(n);
  for (int d = 0; d < n; d++)
    for (int c = 0; c <= d; c++) *packed++ += t->square[num_at(c, d, stride)];
  memset(t->square, 0, (size_t) n * (size_t) stride * sizeof(double));
}

/* Panels are of visited cells: the place of one among all of these, -1 where it is not visited. */
static NUM_INLINE int rank_of(const half *of, int cell) { return of->rank ? of->rank[cell] : cell; }

/* Where a panel is: visited cells from .. from + length - 1, before cell `end`. */
typedef struct {
  int from, length, end, n_place;
} panel_at;

/* Writes value into a block's stored cells within a panel, from `next` on, where it is left. */
static void mask_stored(const half *of, const int *start, const int *column, int b,
                        const panel_at *at, const int *next, double value, const block_scratch *t) {
  for (int i = 0; i < b; i++)
    for (int e = next[i]; e < start[t->unit[i] + 1] && column[e] < at->end; e++) {
      const int rank = rank_of(of, column[e]);
      if (rank >= 0) t->slope[num_at(rank - at->from, i, at->length)] = value;
    }
}

static void mask_block(const half *of, int b, const panel_at *at, const block_scratch *t,
                       double value) {
  const mc_data *cells = of->cells;
  mask_stored(of, cells->start, cells->column, b, at, t->next, value, t);
  if (cells->na_start)
    mask_stored(of, cells->na_start, cells->na_column, b, at, t->next_na, value, t);
}

/* The bound of a light zero's curvature; 0 where it is heavy. */
static NUM_INLINE double curvature_bound(const half *of, int unit, int cell) {
  return of->curvature ? of->curvature[of->simplex ? cell : unit] : 0;
}

/* The parabola of a cell whose zero is not visited, else NULL. */
static NUM_INLINE const double *parabola_of(const half *of, int unit, int cell) {
  const double *f = of->f ? of->f + num_at(0, of->simplex ? cell : unit, AB_PARABOLA) : NULL;
  return f && f[1] > 0 ? f : NULL;
}

/* How many units of a block, its first ones, have heavy cells, and cells that are visited. */
typedef struct {
  int heavy, visited;
} block_units;

/* Which units a block has, and what their Hessians begin with. */
static block_units start_block(const half *of, int first, int b, block_scratch *t) {
  const mc_data *cells = of->cells;
  const int n_pair = num_pairs(of->n_moving);
  block_units out = {b, b};
  memset(t->hessian, 0, (size_t) n_pair * (size_t) b * sizeof(double));
  for (int i = b - 1; i >= 0; i--) {
    const int unit = t->unit[i] = of->order ? of->order[first + i] : first + i;
    double *h = t->hessian + num_at(0, i, n_pair);
    t->next[i] = cells->start[unit];
    if (cells->na_start) t->next_na[i] = cells->na_start[unit];
    if (!of->curvature) continue;
    if (of->simplex) {
      memcpy(h, of->common, (size_t) n_pair * sizeof *h);
    } else if (of->curvature[unit] > 0) {
      num_add_scaled(h, of->curvature[unit], of->common, n_pair);
      out.heavy = i;
      if (parabola_of(of, unit, 0)) out.visited = i;
    }
  }
  return out;
}

/* The panel from visited cell `from` on, and the places of its heavy cells. */
static panel_at start_panel(const half *of, int from, int most, block_scratch *t) {
  const int total = of->visited ? of->n_visited : of->cells->m;
  panel_at at = {.from = from, .length = smaller(total - from, most)};
  at.end = of->visited && from + at.length < total ? of->visited[from + at.length] : of->cells->m;
  if (!of->visited) at.end = from + at.length;
  for (int j = 0; j < at.length; j++) {
    const int cell = of->visited ? of->visited[from + j] : from + j;
    t->place[j] = -1;
    if (of->simplex && of->curvature && of->curvature[cell] > 0) continue;
    t->heavy[at.n_place] = j;
    t->place[j] = at.n_place++;
  }
  return at;
}

/* Second derivatives of the heavy zeros of a panel. */
NUM_HOT static void square_zeros(int n_heavy, int length, int n_place, const block_scratch *t) {
  for (int i = 0; i < n_heavy; i++) {
    const double *slope = t->slope + num_at(0, i, length);
    double *curve = t->curve + num_at(0, i, n_place);
    if (n_place == length)
      for (int j = 0; j < length; j++) curve[j] = slope[j] * slope[j];
    else
      for (int j = 0; j < n_place; j++) curve[j] = slope[t->heavy[j]] * slope[t->heavy[j]];
  }
}

/* Derivatives at the heavy ones of a block within a panel; returns the sum of their log p. */
static double differentiate_heavy_ones(const visit *w, int b, const panel_at *at,
                                       block_scratch *t) {
  const mc_data *cells = w->half->cells;
  const int k = w->par->k;
  double loglik = 0;
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i];
    num_log_product likelihood = {0, 1};
    int e = t->next[i];
    for (; e < cells->start[unit + 1] && cells->column[e] < at->end; e++) {
      const int cell = cells->column[e];
      const int in_panel = rank_of(w->half, cell) - at->from;
      if (curvature_bound(w->half, unit, cell) > 0) continue;
      const double *one = w->half->one + num_at(0, cell, k);
      const double p = num_dot(t->weights + num_at(0, i, k), one, k), slope = 1 / fmax(p, LEAST_P);
      num_times(&likelihood, p);
      t->slope[num_at(in_panel, i, at->length)] = -slope;
      t->curve[num_at(t->place[in_panel], i, at->n_place)] = slope * slope;
    }
    t->next[i] = e;
    loglik += num_log_of(&likelihood);
    if (!cells->na_start) continue;
    e = t->next_na[i];
    while (e < cells->na_start[unit + 1] && cells->na_column[e] < at->end) e++;
    t->next_na[i] = e;
  }
  return loglik;
}

/*
 * Takes a cell that is no zero out of the sums over unvisited ones; returns what that adds to the
 * log-likelihood.
 */
static double remove_parabola(const double *f, double p, const double *one, int k,
                              double *gradient) {
  num_add_scaled(gradient, -ab_parabola_at(f, p), one, k);
  return ab_parabola_integral(f, p);
}

/*
 * Derivatives at the light ones of unit i of a block, in the place of the bounds that their cells have
 * in the Hessian; a missing cell has none. Returns the sum of their log p.
 */
static double differentiate_light_ones(const visit *w, int i, block_scratch *t) {
  const half *of = w->half;
  const mc_data *cells = of->cells;
  const int k = w->par->k, n = of->n_moving, unit = t->unit[i];
  const double *weights = t->weights + num_at(0, i, k);
  double *gradient = t->gradient + num_at(0, i, k), loglik = 0;
  num_log_product likelihood = {0, 1};
  for (int e = cells->start[unit]; e < cells->start[unit + 1]; e++) {
    const double *one = of->one + num_at(0, cells->column[e], k);
    const double curvature = curvature_bound(of, unit, cells->column[e]);
    const double *f = parabola_of(of, unit, cells->column[e]);
    if (curvature <= 0) continue;
    const double p = num_dot(weights, one, k), slope = 1 / fmax(p, LEAST_P);
    num_times(&likelihood, p);
    num_add_scaled(gradient, -slope, one, k);
    if (f) loglik += remove_parabola(f, p, one, k, gradient);
    moving_vector(of, one, t->vector);
    add_square(n, slope * slope - curvature, t);
  }
  for (int e = cells->na_start ? cells->na_start[unit] : 0;
       cells->na_start && e < cells->na_start[unit + 1]; e++) {
    const double *one = of->one + num_at(0, cells->na_column[e], k);
    const double curvature = curvature_bound(of, unit, cells->na_column[e]);
    const double *f = parabola_of(of, unit, cells->na_column[e]);
    if (curvature <= 0) continue;
    if (f) loglik += remove_parabola(f, num_dot(weights, one, k), one, k, gradient);
    moving_vector(of, one, t->vector);
    add_square(n, -curvature, t);
  }
  flush_square(n, t->hessian + num_at(0, i, num_pairs(n)), t);
  return loglik + num_log_of(&likelihood);
}

/* Gradients as if all unvisited cells were zeros, of units from `first` of the block on. */
static double add_unvisited_zeros(const half *of, int k, int first, int b, block_scratch *t) {
  for (int i = first; i < b; i++) t->f[i - first] = parabola_of(of, t->unit[i], 0);
  return -ab_low_rank_add(&of->all, b - first, t->weights + num_at(0, first, k),
                          of->simplex ? NULL : t->f, t->gradient + num_at(0, first, k), t->room);
}

/* Where a weight, or its derivative, of unit i of a block is among its groups. */
static NUM_INLINE ptrdiff_t in_group(int c, int i, int k) {
  return i % NUM_LANES + NUM_LANES * num_at(c, i / NUM_LANES, k);
}

/* A block's units in groups; lanes without a unit have zeros. */
static void group_units(int k, int n_pair, int b, const block_scratch *t) {
  const lane_scratch *few = &t->few;
  const size_t units = all_lanes(b);
  memset(few->absences, 0, units * (size_t) k * sizeof(double));
  memset(few->gradient, 0, units * (size_t) k * sizeof(double));
  memset(few->hessian, 0, units * (size_t) n_pair * sizeof(double));
  for (int i = 0; i < b; i++)
    for (int c = 0; c < k; c++) few->absences[in_group(c, i, k)] = t->absences[num_at(c, i, k)];
}

static void ungroup_units(int k, int n_pair, int b, const block_scratch *t) {
  for (int i = 0; i < b; i++) {
    for (int c = 0; c < k; c++) t->gradient[num_at(c, i, k)] = t->few.gradient[in_group(c, i, k)];
    for (int e = 0; e < n_pair; e++)
      t->hessian[num_at(e, i, n_pair)] = t->few.hessian[in_group(e, i, n_pair)];
  }
}

/* Finds the stored cells of a group in a panel: ones, with their p, and missing ones. */
static void find_stored(const visit *w, int first, int n_unit, const panel_at *at, double *p,
                        const block_scratch *t, int *n_one, int *n_na) {
  const mc_data *cells = w->half->cells;
  const int k = w->par->k;
  *n_one = *n_na = 0;
  for (int lane = 0; lane < n_unit; lane++) {
    const int i = first + lane, end = cells->start[t->unit[i] + 1];
    const double *weights = t->weights + num_at(0, i, k);
    int e = t->next[i];
    for (; e < end && cells->column[e] < at->end; e++) {
      const int cell = cells->column[e];
      p[*n_one] = num_dot(weights, w->half->one + num_at(0, cell, k), k);
      t->few.at_one[(*n_one)++] = lane + NUM_LANES * (cell - at->from);
    }
    t->next[i] = e;
    if (!cells->na_start) continue;
    for (e = t->next_na[i]; e < cells->na_start[t->unit[i] + 1] && cells->na_column[e] < at->end;
         e++)
      t->few.at_na[(*n_na)++] = lane + NUM_LANES * (cells->na_column[e] - at->from);
    t->next_na[i] = e;
  }
}

/* The first derivatives of a group's cells in a panel; returns the sum of their log-probabilities. */
static double few_slopes(const visit *w, int first, int n_unit, const panel_at *at,
                         const double *zero, block_scratch *t) {
  const lane_scratch *few = &t->few;
  const int k = w->par->k, n_cell = NUM_LANES * at->length;
  double *p = few->slope + n_cell;
  int n_one, n_na;
  num_lanes_mix(k, at->length, zero, few->absences + num_at(0, first, k), few->slope);
  find_stored(w, first, n_unit, at, p, t, &n_one, &n_na);
  for (int e = 0; e < n_one; e++) few->slope[few->at_one[e]] = 1;
  for (int e = 0; e < n_na; e++) few->slope[few->at_na[e]] = 1;
  for (int lane = n_unit; lane < NUM_LANES; lane++)
    for (int j = 0; j < at->length; j++) few->slope[num_at(lane, j, NUM_LANES)] = 1;
  const double loglik = num_invert_sum_log(few->slope, n_cell + n_one);
  for (int e = 0; e < n_one; e++)
    few->slope[few->at_one[e]] = p[e] < 1 / LEAST_P ? -p[e] : -1 / LEAST_P;
  for (int e = 0; e < n_na; e++) few->slope[few->at_na[e]] = 0;
  return loglik;
}

/* What a panel adds to the sums of a block's groups; the square of a slope is the curve. */
static double visit_few(const visit *w, int b, const panel_at *at, const double *one,
                        const double *zero, block_scratch *t) {
  const lane_scratch *few = &t->few;
  const int k = w->par->k, n_pair = num_pairs(w->half->n_moving);
  double loglik = 0;
  pair_products(w->half, k, one, at->n_place, t); /* too short for the processor's vectors */
  for (int first = 0; first < b; first += NUM_LANES) {
    loglik += few_slopes(w, first, smaller(b - first, NUM_LANES), at, zero, t);
    num_lanes_dots(k, at->length, one, few->slope, few->gradient + num_at(0, first, k));
    num_lanes_square_dots(n_pair, at->length, t->products, few->slope,
                          few->hessian + num_at(0, first, n_pair));
  }
  return loglik;
}

/*
 * What a panel adds to the gradients of the block's first n units and to the Hessians of its heavy
 * ones, by BLAS, and of its heavy cells to loglik. one, zero: vectors of its cells.
 */
static void differentiate_panel(const visit *w, const block_units *units, const panel_at *at,
                                const double *one, const double *zero, block_scratch *t,
                                double *loglik) {
  const half *of = w->half;
  const int k = w->par->k, n_pair = num_pairs(of->n_moving);
  const int n = units->visited, length = at->length;
  num_gemm(true, false, length, n, k, zero, k, t->absences, k, 0, t->slope, length);
  mask_block(of, n, at, t, 1);
  *loglik += num_invert_sum_log(t->slope, num_at(0, n, length));
  mask_block(of, n, at, t, 0);
  square_zeros(units->heavy, length, at->n_place, t);
  *loglik += differentiate_heavy_ones(w, n, at, t);
  num_gemm(false, false, k, n, length, one, k, t->slope, length, 1, t->gradient, k);
  if (units->heavy == 0 || at->n_place == 0) return;
  make_products(of, k, one, at->n_place, t);
  num_gemm(false, false, n_pair, units->heavy, at->n_place, t->products, n_pair, t->curve,
           at->n_place, 1, t->hessian, n_pair);
}

/* Gradients and Hessians of a block of units whose weights are in t; returns its log-likelihood. */
static double differentiate(const visit *w, int first, int b, block_scratch *t) {
  const half *of = w->half;
  const int k = w->par->k, n_pair = num_pairs(of->n_moving);
  const block_units units = start_block(of, first, b, t);
  const int total = of->visited ? of->n_visited : of->cells->m;
  const double *ones = of->visited ? of->one_visited : of->one;
  const double *zeros = of->visited ? of->zero_visited : of->zero;
  double loglik = 0;
  memset(t->gradient, 0, (size_t) k * (size_t) b * sizeof(double));
  if (w->work->few) group_units(k, n_pair, b, t);
  const int panel = even_part(total, w->work->panel);
  for (int from = 0, length; from < total && units.visited > 0; from += length) {
    const panel_at at = start_panel(of, from, panel, t);
    const double *one = ones + num_at(0, from, k), *zero = zeros + num_at(0, from, k);
    length = at.length;
    if (w->work->few)
      loglik += visit_few(w, b, &at, one, zero, t);
    else
      differentiate_panel(w, &units, &at, one, zero, t, &loglik);
  }
  if (w->work->few) ungroup_units(k, n_pair, b, t);
  if (of->f) loglik += add_unvisited_zeros(of, k, of->simplex ? 0 : units.visited, b, t);
  for (int i = 0; i < b && of->curvature; i++) loglik += differentiate_light_ones(w, i, t);
  for (ptrdiff_t e = 0; e < (ptrdiff_t) k * b; e++) t->gradient[e] = -t->gradient[e];
  return loglik;
}

/* The likelihood's Hessian of unit i of a block, k x k. */
static void unpack(const half *of, int k, const double *packed, double *h) {
  memset(h, 0, (size_t) k * (size_t) k * sizeof *h);
  for (int d = 0; d < of->n_moving; d++)
    for (int c = 0; c <= d; c++) {
      const double value = *packed++;
      h[num_at(of->moving[c], of->moving[d], k)] = value;
      h[num_at(of->moving[d], of->moving[c], k)] = value;
    }
}

/* d'H d of a Hessian that is not unpacked. */
static double packed_form(const half *of, const double *packed, const double *d) {
  double sum = 0;
  for (int e = 0; e < of->n_moving; e++) {
    double part = 0;
    for (int c = 0; c < e; c++) part += *packed++ * d[of->moving[c]];
    sum += d[of->moving[e]] * (2 * part + *packed++ * d[of->moving[e]]);
  }
  return sum;
}

/* Of d'H d, what light zeros have part in: bounds of all cells, but those of ones and missing. */
static double stored_form(const half *of, const int *start, const int *column, int unit, int k,
                          const double *d) {
  double sum = 0;
  for (int e = start[unit]; e < start[unit + 1]; e++) {
    const double curvature = curvature_bound(of, unit, column[e]);
    const double change = curvature > 0 ? num_dot(of->one + num_at(0, column[e], k), d, k) : 0;
    sum += curvature * change * change;
  }
  return sum;
}

static double light_form(const half *of, int unit, int k, const double *d) {
  const mc_data *cells = of->cells;
  if (!of->curvature || (!of->simplex && of->curvature[unit] <= 0)) return 0;
  if (of->sums)
    return fmax(packed_form(of, of->sums->light + num_at(0, unit, num_pairs(of->n_moving)), d), 0);
  double sum = packed_form(of, of->common, d) * (of->simplex ? 1 : of->curvature[unit]);
  sum -= stored_form(of, cells->start, cells->column, unit, k, d);
  if (cells->na_start) sum -= stored_form(of, cells->na_start, cells->na_column, unit, k, d);
  return fmax(sum, 0);
}

/*
 * bound(t) of the header, with rise = g'd of the whole objective: t rise, less what the likelihood,
 * of this lambda, its light zeros, whose part of d'H d is `light`, and n terms count log(1 + t
 * change) may lose by their curvature.
 */
typedef struct {
  double rise, lambda, light;
  int n;
  const double *count, *change;
} step_bound;

static double bound(const step_bound *q, double t) {
  double sum = t * q->rise + t * q->lambda + log1p(-t * q->lambda) - t * t * q->light / 2;
  for (int i = 0; i < q->n; i++) sum += q->count[i] * (log1p(t * q->change[i]) - t * q->change[i]);
  return sum;
}

/* Its derivative, and in curve minus the second one, which is positive. */
static double bound_slope(const step_bound *q, double t, double *curve) {
  const double part = q->lambda / (1 - t * q->lambda);
  double sum = q->rise - t * (q->lambda * part + q->light), curvature = part * part + q->light;
  for (int i = 0; i < q->n; i++) {
    const double inverse = 1 / (1 + t * q->change[i]), share = q->change[i] * inverse;
    sum -= q->count[i] * t * q->change[i] * share;
    curvature += q->count[i] * share * share;
  }
  *curve = curvature;
  return sum;
}

#define SHORT 0.3      /* lambda and changes below this: bound(1) is more than ENOUGH */
#define ENOUGH 0.25    /* of the rise, for a full step */
#define PRECISION 1e-9 /* of a shorter step */
#define TRIALS 60
#define ROUNDING 1e-12 /* of d'H d, what its light zeros' part may take with it by rounding */

/*
 * Where bound() is largest, below `most`: Newton's steps, and the middle where one leaves the bracket.
 * They begin where it would be largest if all poles were as near as the nearest, at 1 / largest: the
 * root of the slope is beyond that.
 */
static double best_length(const step_bound *q, double largest, double most) {
  double curve, low = 0, slope = bound_slope(q, 0, &curve);
  double t = fmin(slope / (curve + largest * slope), most);
  for (int trial = 0; trial < TRIALS; trial++) {
    slope = bound_slope(q, t, &curve);
    if (slope >= 0)
      low = t;
    else
      most = t;
    double next = t + slope / curve;
    if (!(next >= low && next <= most)) next = (low + most) / 2;
    if (fabs(next - t) <= PRECISION * t) return next;
    t = next;
  }
  return low;
}

static double step_length(const step_bound *q) {
  double most = q->lambda > 1 ? 1 / q->lambda : 1, largest = q->lambda, least = -1;
  for (int i = 0; i < q->n; i++) {
    if (q->change[i] < least) least = q->change[i];
    if (fabs(q->change[i]) > largest) largest = fabs(q->change[i]);
  }
  most = fmin(most, -1 / least);
  if (!(q->rise > 0)) return 0;
  if (largest < SHORT || (most >= 1 && bound(q, 1) >= ENOUGH * q->rise)) return 1;
  if (q->n == 0) { /* where bound_slope() is 0: t^2 light lambda - t sum + rise = 0 */
    const double sum = q->light + q->lambda * (q->lambda + q->rise);
    const double root = sqrt(fmax(sum * sum - 4 * q->light * q->lambda * q->rise, 0));
    return fmin(2 * q->rise / (sum + root), 1);
  }
  return best_length(q, largest, most);
}

/*
 * A log beside the likelihood, count log(x): x grows by sign times weight `which`, or the content.
 */
#define CONTENT (-1)

static log_term new_log(int which, double sign, double count, double x) {
  const log_term out = {which, sign, count, x};
  return out;
}

static bool is_pinned(const ab_param *par, int c) { return par->pinned && par->pinned[c]; }

/* Pseudo-counts, and pulls of neighbours, on row i; how many logs there are. */
static int row_logs(const visit *w, int i, const double *weights, block_scratch *t) {
  const ab_param *par = w->par;
  double whole = 0, content = 0;
  int n = 0;
  for (int c = 0; c < par->k; c++) {
    t->count[c] = w->work->prior.membership[c];
    if (!is_pinned(par, c)) content += weights[c];
  }
  if (par->smooth) whole = mc_smooth_counts(par->smooth, i, t->count);
  for (int c = 0; c < par->k; c++)
    if (t->count[c] > 0) t->log[n++] = new_log(c, 1, t->count[c], weights[c]);
  if (whole != 0) t->log[n++] = new_log(CONTENT, 1, whole, content);
  return n;
}

static int column_logs(const visit *w, const double *weights, const double *absences,
                       block_scratch *t) {
  const ab_prior *prior = &w->work->prior;
  int n = 0;
  for (int c = 0; c < w->par->k; c++) {
    if (is_pinned(w->par, c)) continue;
    if (prior->one[c] > 0) t->log[n++] = new_log(c, 1, prior->one[c], weights[c]);
    if (prior->zero[c] > 0) t->log[n++] = new_log(c, -1, prior->zero[c], absences[c]);
  }
  return n;
}

/* Adds the derivatives of a log. One of negative count is convex: its tangent bounds it below. */
static void add_log(const ab_param *par, const log_term *log, block_scratch *t) {
  const int k = par->k;
  const double inverse = 1 / log->x, slope = log->count * inverse;
  const double curvature = log->count > 0 ? slope * inverse : 0;
  if (log->which != CONTENT) {
    t->g[log->which] += log->sign * slope;
    t->h[num_at(log->which, log->which, k)] += curvature;
    return;
  }
  for (int c = 0; c < k; c++) {
    if (is_pinned(par, c)) continue;
    t->g[c] += log->sign * slope;
    for (int e = 0; e < k; e++)
      if (!is_pinned(par, e)) t->h[num_at(e, c, k)] += curvature;
  }
}

/* By how much of itself its x grows along d: -1 exactly where it ends at 0. */
static double log_change(const ab_param *par, const log_term *log, const double *d) {
  double sum = 0;
  if (log->which != CONTENT) return log->sign * d[log->which] / log->x;
  for (int c = 0; c < par->k; c++)
    if (!is_pinned(par, c)) sum += d[c];
  return sum / log->x;
}

/*
 * On the simplex only differences of the gradient count; what they share would drown the last of
 * them.
 */
static void centre(int k, const double *weights, double *g) {
  const double mean = num_dot(weights, g, k);
  for (int c = 0; c < k; c++) g[c] -= mean;
}

/* The direction of unit i of a block into t->d, and how far to go along it. */
static double find_step(const visit *w, int i, block_scratch *t, strip_sum *sum) {
  const half *of = w->half;
  const int k = w->par->k, n_pair = num_pairs(of->n_moving), unit = t->unit[i];
  const double *weights = t->weights + num_at(0, i, k), *absences = t->absences + num_at(0, i, k);
  const double *packed = t->hessian + num_at(0, i, n_pair);
  unpack(of, k, packed, t->h);
  memcpy(t->g, t->gradient + num_at(0, i, k), (size_t) k * sizeof(double));
  const int n_log =
      of->simplex ? row_logs(w, unit, weights, t) : column_logs(w, weights, absences, t);
  for (int e = 0; e < n_log; e++) add_log(w->par, t->log + e, t);
  if (of->simplex) centre(k, weights, t->g);
  for (int c = 0; c < k; c++) {
    const bool held = !of->simplex && is_pinned(w->par, c);
    t->low[c] = held ? 0 : -weights[c];
    t->high[c] = held ? 0 : of->simplex ? INFINITY : absences[c];
    if (of->cap && !held && of->cap[unit] < 1) t->high[c] = fmax(of->cap[unit] - weights[c], 0);
  }
  const num_quadratic_problem problem = {t->h, t->g, t->low, t->high, k, of->simplex};
  if (!num_quadratic(&problem, t->d, t->side, t->quadratic, t->which)) return 0;
  step_bound q = {.rise = num_dot(t->g, t->d, k), .count = t->count, .change = t->change};
  const double form = packed_form(of, packed, t->d);
  if (form >= SHORT * SHORT) q.light = light_form(of, unit, k, t->d);
  q.lambda = sqrt(fmax(form - q.light, 0) + (q.light > 0 ? ROUNDING * form : 0));
  for (int e = 0; e < n_log; e++) {
    if (t->log[e].count < 0) continue; /* its tangent is in the rise */
    t->count[q.n] = t->log[e].count;
    t->change[q.n++] = log_change(w->par, t->log + e, t->d);
  }
  sum->decrement += fmax(q.rise, 0);
  return step_length(&q);
}

/* Takes it. A full step ends on a bound exactly. */
static void take_step(const half *of, int unit, int k, double length, const block_scratch *t,
                      double *weights) {
  const double top = of->cap ? of->cap[unit] : 1;
  double sum = 0;
  for (int c = 0; c < k; c++) {
    const double now = weights[c] + length * t->d[c];
    weights[c] = num_lift(now > 0 ? (now < 1 ? now : 1) : 0);
    if (length >= 1 && t->side[c] != 0 && t->low[c] < t->high[c])
      weights[c] = t->side[c] < 0 ? 0 : top;
    sum += weights[c];
  }
  for (int c = 0; c < k && of->simplex; c++) weights[c] /= sum;
}

/* Gradients and Hessians of a block of units from sums made elsewhere. */
static void load_sums(const half *of, int k, int first, int b, block_scratch *t) {
  const int n_pair = num_pairs(of->n_moving);
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i] = of->order ? of->order[first + i] : first + i;
    memcpy(t->gradient + num_at(0, i, k), of->sums->gradient + num_at(0, unit, k),
           (size_t) k * sizeof(double));
    memcpy(t->hessian + num_at(0, i, n_pair), of->sums->hessian + num_at(0, unit, n_pair),
           (size_t) n_pair * sizeof(double));
  }
}

static void step_block(const visit *w, int strip, int first, int b, block_scratch *t) {
  strip_sum *sum = w->work->strip + strip;
  if (w->half->sums)
    load_sums(w->half, w->par->k, first, b, t);
  else
    sum->loglik += differentiate(w, first, b, t);
  for (int i = 0; i < b && !w->value_only; i++) {
    const double length = find_step(w, i, t, sum);
    double *weights = t->weights + num_at(0, i, w->par->k);
    if (length > 0) take_step(w->half, t->unit[i], w->par->k, length, t, weights);
  }
}

static void row_block(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  block_scratch *t = w->work->scratch + thread;
  const int n = w->data->n, k = w->par->k;
  const size_t size = (size_t) k * (size_t) b * sizeof(double);
  num_take_rows(w->par->membership, n, first, b, k, t->weights);
  memcpy(t->absences, t->weights, size);
  step_block(w, strip, first, b, t);
  num_put_rows(t->weights, n, first, b, k, w->par->membership);
}

static void load_columns(const visit *w, int first, int b, block_scratch *t) {
  const int k = w->par->k, *order = w->half->order;
  for (int i = 0; i < b; i++) {
    const ptrdiff_t own = num_at(0, order ? order[first + i] : first + i, k);
    memcpy(t->weights + num_at(0, i, k), w->par->aspects + own, (size_t) k * sizeof(double));
    memcpy(t->absences + num_at(0, i, k), w->work->absence + own, (size_t) k * sizeof(double));
  }
}

/* Sum of curvature v v' over a unit's stored cells, into t->square. */
static void add_stored(const half *of, const int *start, const int *column, int unit, int k,
                       double curvature, const block_scratch *t) {
  for (int e = start[unit]; e < start[unit + 1]; e++) {
    moving_vector(of, of->one + num_at(0, column[e], k), t->vector);
    add_square(of->n_moving, curvature, t);
  }
}

/* The bounds of a light column's zeros, as in light_form(). */
static void light_sum(const half *of, int unit, int k, const block_scratch *t, double *packed) {
  const mc_data *cells = of->cells;
  const int n_pair = num_pairs(of->n_moving);
  const double curvature = of->curvature[unit];
  memset(packed, 0, (size_t) n_pair * sizeof *packed);
  if (curvature <= 0) return;
  num_add_scaled(packed, curvature, of->common, n_pair);
  add_stored(of, cells->start, cells->column, unit, k, -curvature, t);
  if (cells->na_start) add_stored(of, cells->na_start, cells->na_column, unit, k, -curvature, t);
  flush_square(of->n_moving, packed, t);
}

/* Columns are not stepped but summed up, for others. */
static void column_sum_block(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  block_scratch *t = w->work->scratch + thread;
  const half *of = w->half;
  const int k = w->par->k, n_pair = num_pairs(of->n_moving);
  (void) strip;
  load_columns(w, first, b, t);
  differentiate(w, first, b, t);
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i];
    memcpy(w->sums->gradient + num_at(0, unit, k), t->gradient + num_at(0, i, k),
           (size_t) k * sizeof(double));
    memcpy(w->sums->hessian + num_at(0, unit, n_pair), t->hessian + num_at(0, i, n_pair),
           (size_t) n_pair * sizeof(double));
    if (of->curvature) light_sum(of, unit, k, t, w->sums->light + num_at(0, unit, n_pair));
  }
}

static void column_block(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  block_scratch *t = w->work->scratch + thread;
  const int k = w->par->k;
  load_columns(w, first, b, t);
  step_block(w, strip, first, b, t);
  for (int i = 0; i < b; i++)
    memcpy(w->par->aspects + num_at(0, t->unit[i], k), t->weights + num_at(0, i, k),
           (size_t) k * sizeof(double));
}

/* Visits all units of a half and adds up the strips in order; false: stopped. */
static bool visit_units(visit *w, const num_strips *strips, num_visitor visitor, strip_sum *out) {
  ab_newton *work = w->work;
  memset(work->strip, 0, sizeof work->strip);
  if (!mc_visit(work->host, work->passes, work->objective, strips, visitor, w)) return false;
  *out = work->strip[0];
  for (int s = 1; s < strips->n_strip; s++) {
    out->loglik += work->strip[s].loglik;
    out->decrement += work->strip[s].decrement;
  }
  return true;
}

#define GROWTH 1.5    /* an aspect may grow by this in a step, where its column is light */
#define LEAST_CAP 0.1 /* and to this, from wherever it is */
#define MOST_LIGHT 0.5

/*
 * Light columns. On the simplex p <= u, the largest aspect of a column, whatever the membership, so
 * that -log(1 - p) bends by at most 1 / (1 - u)^2; for aspects the same with a cap on them.
 */
static void find_light(const ab_param *par, int m, ab_newton *work) {
  for (int j = 0; j < m; j++) {
    double most = 0;
    for (int c = 0; c < par->k; c++) most = fmax(most, par->aspects[num_at(c, j, par->k)]);
    const double *f = work->f + num_at(0, j, AB_PARABOLA);
    const double cap = fmax(GROWTH * most, LEAST_CAP);
    if (work->unvisited && work->fixed_cap[j] > 0) {
      work->cap[j] = work->fixed_cap[j];
      work->row_curvature[j] = f[1] + 2 * f[2] * most;
      work->column_curvature[j] = f[1] + 2 * f[2] * work->cap[j];
      continue;
    }
    work->row_curvature[j] = most <= MOST_LIGHT ? 1 / ((1 - most) * (1 - most)) : 0;
    work->column_curvature[j] = cap <= MOST_LIGHT ? 1 / ((1 - cap) * (1 - cap)) : 0;
    work->cap[j] = cap <= MOST_LIGHT ? cap : 1;
  }
  int n = 0;
  for (int kind = 0; kind <= 2; kind++) {
    for (int j = 0; j < m; j++) {
      const bool unvisited = work->unvisited && work->fixed_cap[j] > 0;
      if ((unvisited ? 2 : work->column_curvature[j] > 0) == kind) work->order[n++] = j;
    }
  }
}

/* The sum of all bounds: of cells, or where units are light, of cells before that factor. */
static void bound_all(half *of, int k, const block_scratch *t) {
  memset(of->common, 0, (size_t) num_pairs(of->n_moving) * sizeof(double));
  for (int j = 0; j < of->cells->m; j++) {
    moving_vector(of, of->one + num_at(0, j, k), t->vector);
    add_square(of->n_moving, of->simplex ? of->curvature[j] : 1, t);
  }
  flush_square(of->n_moving, of->common, t);
}

/* Rows: on the simplex only differences of aspects count, and the pinned one is the best origin. */
static void set_rows(const mc_data *data, const ab_param *par, ab_newton *work) {
  half *of = &work->rows;
  of->cells = data;
  of->one = par->aspects;
  of->zero = work->absence;
  of->simplex = true;
  of->origin = par->k - 1;
  for (int c = 0; c < par->k; c++)
    if (is_pinned(par, c)) of->origin = c;
  of->n_moving = 0;
  for (int c = 0; c < par->k; c++)
    if (c != of->origin) of->moving[of->n_moving++] = c;
  if (!work->sparse) return;
  of->curvature = work->row_curvature;
  bound_all(of, par->k, work->scratch);
  of->f = work->unvisited ? work->f : NULL;
  of->visited = work->unvisited ? work->visited : NULL;
  of->rank = work->unvisited ? work->rank : NULL;
  if (!work->unvisited) return;
  for (int e = 0; e < of->n_visited; e++) {
    const size_t size = (size_t) par->k * sizeof(double);
    const ptrdiff_t from = num_at(0, of->visited[e], par->k), to = num_at(0, e, par->k);
    memcpy(of->one_visited + to, of->one + from, size);
    memcpy(of->zero_visited + to, of->zero + from, size);
  }
  ab_low_rank_sum(&of->all, data->m, of->one, work->f);
}

static void set_unit_columns(const ab_param *par, ab_newton *work) {
  half *of = &work->cols;
  of->cells = &work->columns;
  of->one = of->zero = work->membership;
  of->simplex = false;
  of->origin = -1;
  of->n_moving = 0;
  for (int c = 0; c < par->k; c++)
    if (!is_pinned(par, c)) of->moving[of->n_moving++] = c;
  if (!work->sparse) return;
  of->curvature = work->column_curvature;
  of->cap = work->cap;
  of->order = work->order;
}

static void set_columns(const ab_param *par, ab_newton *work) {
  half *of = &work->cols;
  set_unit_columns(par, work);
  if (!work->sparse) return;
  bound_all(of, par->k, work->scratch);
  of->f = work->unvisited ? work->f : NULL;
  if (work->unvisited) ab_low_rank_sum(&of->all, of->cells->m, of->one, NULL);
}

static bool update_membership(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                              strip_sum *sum) {
  visit w = {.half = &work->rows, .par = par, .work = work, .data = data, .value_only = value_only};
  set_rows(data, par, work);
  return visit_units(&w, &work->by_row, row_block, sum);
}

static bool update_aspects(const mc_data *data, ab_param *par, ab_newton *work, strip_sum *sum) {
  visit w = {.half = &work->cols, .par = par, .work = work, .data = data};
  num_take_rows(par->membership, data->n, 0, data->n, par->k, work->membership);
  set_columns(par, work);
  return visit_units(&w, &work->by_column, column_block, sum);
}

/* What passes need to know of the aspects. */
static void prepare(int m, const ab_param *par, ab_newton *work) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t) par->k * m; i++) work->absence[i] = 1 - par->aspects[i];
  if (work->sparse) find_light(par, m, work);
}

/* Begins a pass; returns what the objective has beside the log-likelihood. */
static double begin_pass(const mc_data *data, ab_param *par, ab_newton *work) {
  const double pull = par->smooth ? mc_smooth_pull(par->smooth, par->membership, true) : 0;
  prepare(data->m, par, work);
  return pull +
         ab_log_prior(&work->prior, par->pinned, data->n, data->m, par->membership, par->aspects);
}

double ab_newton_pass(const mc_data *data, ab_param *par, ab_newton *work) {
  strip_sum rows = {0, 0}, columns = {0, 0};
  const double beside = begin_pass(data, par, work);
  if (!par->fixed_membership && !update_membership(data, par, work, false, &rows)) return NAN;
  if (!par->fixed_aspects && !update_aspects(data, par, work, &columns)) return NAN;
  work->passes++;
  work->decrement = rows.decrement + columns.decrement;
  return work->objective = (par->fixed_membership ? columns : rows).loglik + beside;
}

int ab_newton_pairs(const ab_param *par) {
  int n = 0;
  for (int c = 0; c < par->k; c++) n += !is_pinned(par, c);
  return num_pairs(n);
}

static bool sum_columns(const mc_data *data, ab_param *par, ab_newton *work, ab_newton_sums *sums) {
  strip_sum columns = {0, 0};
  visit w = {.half = &work->cols, .par = par, .work = work, .data = data, .sums = sums};
  num_take_rows(par->membership, data->n, 0, data->n, par->k, work->membership);
  set_columns(par, work);
  return visit_units(&w, &work->by_column, column_sum_block, &columns);
}

bool ab_newton_column_sums(const mc_data *data, ab_param *par, ab_newton *work,
                           ab_newton_sums *sums) {
  prepare(data->m, par, work);
  work->passes++;
  return sum_columns(data, par, work, sums);
}

bool ab_newton_rows(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                    ab_newton_sums *sums) {
  strip_sum rows = {0, 0};
  prepare(data->m, par, work);
  if (!update_membership(data, par, work, value_only, &rows)) return false;
  sums->loglik = rows.loglik;
  sums->decrement = rows.decrement;
  work->passes++;
  return value_only || sum_columns(data, par, work, sums);
}

bool ab_newton_columns(ab_param *par, ab_newton *work, const ab_newton_sums *sums) {
  strip_sum columns = {0, 0};
  visit w = {.half = &work->cols, .par = par, .work = work};
  prepare(work->columns.n, par, work);
  set_unit_columns(par, work);
  work->cols.sums = sums;
  const bool done = visit_units(&w, &work->by_column, column_block, &columns);
  work->cols.sums = NULL;
  work->passes++;
  work->decrement = sums->decrement + columns.decrement;
  return done;
}

void ab_newton_note(ab_newton *work, double objective) { work->objective = objective; }

double ab_newton_decrement(const ab_newton *work) { return work->decrement; }

static double model_pass(void *self) {
  const ab_newton_self *s = self;
  return ab_newton_pass(s->ab.data, s->ab.par, s->newton);
}

static double model_objective(void *self) {
  const ab_newton_self *s = self;
  strip_sum sum = {0, 0};
  if (s->newton->unvisited) {
    const double beside = begin_pass(s->ab.data, s->ab.par, s->newton);
    const bool done = update_membership(s->ab.data, s->ab.par, s->newton, true, &sum);
    return done ? sum.loglik + beside : NAN;
  }
  ab_note_passes(s->ab.work, s->newton->passes, s->newton->objective);
  return ab_objective(s->ab.data, s->ab.par, s->ab.work);
}

/*
 * Stages of the sparse form. The zeros of columns whose aspects have become small are not visited
 * any more, and those aspects are held below caps: a fixed function near the objective is climbed,
 * again with other caps where the end of it touches some, and from its end the objective itself.
 */
enum { OPENING, FIRST_UNVISITED, LAST_UNVISITED = FIRST_UNVISITED + 20, EXACT };
#define MOST_UNVISITED 0.3  /* a cap: the parabola is then off by .002, and p is mostly far below */
#define LEAST_FIXED_CAP 0.1 /* aspects of columns that are all but empty need room, too */
#define FIXED_ROOM 2        /* and the others so many times their largest */
#define SHARE_UNVISITED 0.25 /* of the columns: below it, not worth a surrogate */
#define SHARE_NEW 0.05       /* of the columns: as many more are worth another stage */
#define SHARE_TOUCHED 0.02 /* of the columns: as many at their caps do not wait for a stage's end */
#define NEAR_END 1e-5      /* decrement over the objective: no column at its cap waits longer */

static double fixed_cap_of(const ab_param *par, int j) {
  double most = 0;
  for (int c = 0; c < par->k; c++) most = fmax(most, par->aspects[num_at(c, j, par->k)]);
  const double cap = fmax(FIXED_ROOM * most, LEAST_FIXED_CAP);
  return cap <= MOST_UNVISITED ? cap : 0;
}

static bool unvisited_pays(const ab_newton_self *s) {
  const ab_param *par = s->ab.par;
  const int m = s->ab.data->m;
  int n = 0;
  if (!s->newton->sparse || par->fixed_aspects || par->fixed_membership) return false;
  for (int j = 0; j < m; j++) n += fixed_cap_of(par, j) > 0;
  return n >= SHARE_UNVISITED * m;
}

void ab_newton_set_caps(ab_newton *work, int m, const double *cap) {
  work->unvisited = cap != NULL;
  if (!cap) return;
  work->rows.n_visited = 0;
  memset(work->f, 0, AB_PARABOLA * (size_t) m * sizeof(double));
  for (int j = 0; j < m; j++) {
    work->fixed_cap[j] = cap[j];
    work->rank[j] = work->fixed_cap[j] > 0 ? -1 : work->rows.n_visited;
    if (work->rank[j] < 0)
      ab_parabola(work->fixed_cap[j], work->f + num_at(0, j, AB_PARABOLA));
    else
      work->visited[work->rows.n_visited++] = j;
  }
}

const double *ab_newton_caps(const ab_newton *work) {
  return work->unvisited ? work->fixed_cap : NULL;
}

static void fix_caps(const ab_newton_self *s) {
  const int m = s->ab.data->m;
  for (int j = 0; j < m; j++) s->newton->fixed_cap[j] = fixed_cap_of(s->ab.par, j);
  ab_newton_set_caps(s->newton, m, s->newton->fixed_cap);
}

/* Is another stage worth it: are caps touched in that share of columns, or many more light? */
static bool caps_changed(const ab_newton_self *s, double share) {
  const ab_param *par = s->ab.par;
  const int m = s->ab.data->m;
  int n_new = 0, n_touched = 0;
  for (int j = 0; j < m; j++) {
    const double cap = s->newton->fixed_cap[j];
    bool touched = false;
    n_new += cap <= 0 && fixed_cap_of(par, j) > 0;
    for (int c = 0; c < par->k; c++)
      touched = touched || (cap > 0 && par->aspects[num_at(c, j, par->k)] >= cap);
    n_touched += touched;
  }
  return n_touched > share * m || n_new > SHARE_NEW * m;
}

static bool model_next(void *self, bool last) {
  const ab_newton_self *s = self;
  ab_newton *work = s->newton;
  const bool pays = work->stage == OPENING && unvisited_pays(s);
  const bool to_end = !work->unvisited && !pays; /* of the objective itself */
  if (!last && work->stage < LAST_UNVISITED && (work->unvisited ? caps_changed(s, 0) : pays)) {
    work->stage++;
    fix_caps(s);
    return true;
  }
  work->stage = EXACT;
  work->unvisited = false;
  return !to_end;
}

void ab_newton_near_end(ab_newton_self *self) {
  if (self->newton->stage != OPENING || !unvisited_pays(self)) return;
  self->newton->stage = FIRST_UNVISITED;
  fix_caps(self);
}

static double model_residual(void *self) {
  const ab_newton_self *s = self;
  const ab_newton *work = s->newton;
  const double left = work->decrement / fmax(fabs(work->objective), DBL_MIN);
  const bool unvisited = work->unvisited && work->stage < LAST_UNVISITED;
  if (unvisited && caps_changed(s, left < NEAR_END ? 0 : SHARE_TOUCHED)) return 0;
  if (work->stage == OPENING && unvisited_pays(s)) return 0;
  return left;
}

void ab_newton_hold(ab_param *par, int m, const double *cap) {
  for (int j = 0; j < m; j++)
    for (int c = 0; c < par->k && cap[j] > 0; c++) {
      double *aspect = par->aspects + num_at(c, j, par->k);
      *aspect = fmin(*aspect, cap[j]);
    }
}

static void model_feasible(void *self, const double *const *safe) {
  const ab_newton_self *s = self;
  ab_feasible(&((ab_newton_self *) self)->ab, safe);
  if (s->newton->unvisited) ab_newton_hold(s->ab.par, s->ab.data->m, s->newton->fixed_cap);
}

mc_model ab_newton_model(ab_newton_self *self) {
  mc_model model = ab_model(&self->ab);
  model.pass = model_pass;
  model.objective = model_objective;
  model.residual = model_residual;
  model.feasible = model_feasible;
  if (self->newton->sparse) model.next = model_next;
  model.self = self;
  return model;
}
