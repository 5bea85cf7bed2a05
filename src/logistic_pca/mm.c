#include "logistic_pca/mm.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/blocks.h"
#include "num/linalg.h"
#include "num/logistic.h"
#include "num/vector.h"

#define LOG_TWO 0.693147180559945309417232121458

/* Scratch of a block of b rows. A row holds an observation's scores and a final 1 for the intercept. */
typedef struct {
  double *rows;     /* (k + 1) x b */
  double *weights;  /* m x b: log-odds, then the bound's weights; 0 if missing */
  double *products; /* pairs x b: sums over attributes, then products of the rows' scores */
} block_scratch;

/* Sums over the rows of a strip: the normal equations of every attribute. */
typedef struct {
  double *squares; /* pairs x m: sum of weight times products of scores */
  double *slopes;  /* (k + 1) x m: sum of x times scores, half of them if missing */
  double *all;     /* k + 1: sum of scores */
  double loglik;
} strip_sum;

struct lp_work {
  const mc_host *host;
  num_strips rows;
  int pairs;             /* (k + 1) (k + 2) / 2 */
  double *pair_loadings; /* pairs x m: products of pairs of an attribute's loadings */
  double *half_loadings; /* k + 1: half the sum of the loadings over attributes */
  strip_sum strip[NUM_MAX_STRIP];
  num_sums sums;          /* squares, slopes and all */
  block_scratch *scratch; /* one per thread */
  int iterations;
  double objective; /* of the last iteration, reported to the host */
};

static ptrdiff_t part_size(int k, int m) {
  return num_at(0, m, num_pairs(k + 1)) + num_at(0, m, k + 1) + k + 1;
}

lp_work *lp_new_work(const mc_data *data, int k, int n_threads, const mc_host *host) {
  const ptrdiff_t k1 = k + 1, m = data->m;
  lp_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->host = host;
  work->rows = num_new_strips(data->n, num_block_rows(data->n, data->m), n_threads);
  work->pairs = num_pairs(k + 1);
  work->pair_loadings = mc_doubles(host, work->pairs, m);
  work->half_loadings = mc_doubles(host, k1, 1);
  for (int s = 0; s < work->rows.n_strip; s++) {
    work->sums.part[s] = work->strip[s].squares = mc_doubles(host, part_size(k, data->m), 1);
    work->strip[s].slopes = work->strip[s].squares + num_at(0, m, work->pairs);
    work->strip[s].all = work->strip[s].slopes + num_at(0, m, k1);
  }
  work->sums.size = part_size(k, data->m);
  work->scratch = host->alloc(host->ctx, (size_t) work->rows.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->rows.n_threads; t++) {
    const ptrdiff_t b = work->rows.block_rows;
    work->scratch[t].rows = mc_doubles(host, k1, b);
    work->scratch[t].weights = mc_doubles(host, m, b);
    work->scratch[t].products = mc_doubles(host, work->pairs, b);
  }
  return work;
}

static double squares_of(const double *x, ptrdiff_t length) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < length; i++) sum += x[i] * x[i];
  return sum;
}

typedef struct {
  const mc_data *data;
  const lp_param *par;
  lp_work *work;
} scan;

/* Computes the bound's weights of a block, 0 if missing; returns the sum of log(1 + exp(theta)). */
static double block_weights(const scan *w, int first, int b, block_scratch *s) {
  const mc_data *data = w->data;
  const int k1 = w->par->k + 1, m = data->m;
  int n_missing = 0;
  num_gemm(true, false, m, b, k1, w->par->loadings, k1, s->rows, k1, 0, s->weights, m);
  for (int e = data->na_start ? data->na_start[first] : 0, i = 0; data->na_start && i < b; i++)
    for (; e < data->na_start[first + i + 1]; e++, n_missing++)
      s->weights[num_at(data->na_column[e], i, m)] = 0;
  const double sum = num_logistic_weights(s->weights, num_at(0, b, m));
  for (int e = data->na_start ? data->na_start[first] : 0, i = 0; data->na_start && i < b; i++)
    for (; e < data->na_start[first + i + 1]; e++) s->weights[num_at(data->na_column[e], i, m)] = 0;
  return sum - n_missing * LOG_TWO;
}

static double block_loglik(const scan *w, int first, int b, block_scratch *s) {
  const int k1 = w->par->k + 1;
  double sum = -block_weights(w, first, b, s);
  for (int i = 0; i < b; i++)
    for (int e = w->data->start[first + i]; e < w->data->start[first + i + 1]; e++)
      sum += num_dot(s->rows + num_at(0, i, k1),
                     w->par->loadings + num_at(0, w->data->column[e], k1), k1);
  return sum;
}

/*
 * Ridge regression of each observation on the loadings: weighted squares by one product, slopes (x
 * - 1/2) loadings minus the intercept's term.
 */
static void score_rows(const scan *w, int first, int b, block_scratch *s) {
  const mc_data *data = w->data;
  const int k = w->par->k, k1 = k + 1, m = data->m, pairs = w->work->pairs;
  const double *loadings = w->par->loadings;
  num_gemm(false, false, pairs, b, m, w->work->pair_loadings, pairs, s->weights, m, 0, s->products,
           pairs);
  for (int i = 0; i < b; i++) {
    const int na_from = data->na_start ? data->na_start[first + i] : 0;
    double *row = s->rows + num_at(0, i, k1), *squares = s->products + num_at(0, i, pairs);
    for (int c = 0; c < k; c++) row[c] = -w->work->half_loadings[c];
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++)
      num_add_scaled(row, 1, loadings + num_at(0, data->column[e], k1), k);
    for (int e = na_from; e < na_from + data_n_missing(data, first + i); e++)
      num_add_scaled(row, 0.5, loadings + num_at(0, data->na_column[e], k1), k);
    num_add_scaled(row, -1, squares + (ptrdiff_t) k * (k + 1) / 2, k);
    for (int c = 0; c < k; c++) squares[c * (c + 1) / 2 + c] += w->par->penalty;
    num_solve_packed(squares, row, k);
    memcpy(w->par->scores + num_at(0, first + i, k), row, (size_t) k * sizeof(double));
  }
}

/* Adds the block's contribution to every attribute's normal equations, at the new scores. */
static void add_sums(const scan *w, int first, int b, block_scratch *s, strip_sum *sum) {
  const mc_data *data = w->data;
  const int k1 = w->par->k + 1, m = data->m, pairs = w->work->pairs;
  block_weights(w, first, b, s);
  num_pair_products(k1, b, s->rows, s->products);
  for (int i = 0; i < b; i++) {
    const int na_from = data->na_start ? data->na_start[first + i] : 0;
    const double *row = s->rows + num_at(0, i, k1);
    num_add_scaled(sum->all, 1, row, k1);
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++)
      num_add_scaled(sum->slopes + num_at(0, data->column[e], k1), 1, row, k1);
    for (int e = na_from; e < na_from + data_n_missing(data, first + i); e++)
      num_add_scaled(sum->slopes + num_at(0, data->na_column[e], k1), 0.5, row, k1);
  }
  num_gemm(false, true, pairs, m, b, s->products, pairs, s->weights, m, 1, sum->squares, pairs);
}

/*
 * Scanners of a block of b rows. Each first computes the log-likelihood, and with it the bound at
 * the current parameters.
 */
static block_scratch *bound_block(const scan *w, int strip, int thread, int first, int b) {
  const int k = w->par->k, k1 = k + 1;
  block_scratch *s = w->work->scratch + thread;
  for (int i = 0; i < b; i++) {
    memcpy(s->rows + num_at(0, i, k1), w->par->scores + num_at(0, first + i, k),
           (size_t) k * sizeof(double));
    s->rows[num_at(k, i, k1)] = 1;
  }
  w->work->strip[strip].loglik += block_loglik(w, first, b, s);
  return s;
}

static void objective_block(void *ctx, int strip, int thread, int first, int b) {
  bound_block(ctx, strip, thread, first, b);
}

static void scores_block(void *ctx, int strip, int thread, int first, int b) {
  score_rows(ctx, first, b, bound_block(ctx, strip, thread, first, b));
}

/* Updates the scores, then adds the attributes' normal equations at the new ones. */
static void both_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  block_scratch *s = bound_block(w, strip, thread, first, b);
  score_rows(w, first, b, s);
  add_sums(w, first, b, s, w->work->strip + strip);
}

/* Scans all rows and adds up the strips' sums in strip 0, in order; false: stopped. */
static bool scan_rows(const mc_data *data, const lp_param *par, lp_work *work,
                      num_scanner scanner) {
  scan w = {data, par, work};
  strip_sum *sum = work->strip;
  for (int s = 0; s < work->rows.n_strip; s++) sum[s].loglik = 0;
  if (!mc_scan_sums(work->host, work->iterations, work->objective, &work->rows, scanner, &w,
                    &work->sums))
    return false;
  for (int s = 1; s < work->rows.n_strip; s++) sum->loglik += sum[s].loglik;
  return true;
}

/* Products and sums of loadings for the scores' regressions. */
static void multiply_loadings(const mc_data *data, const lp_param *par, lp_work *work) {
  const int k1 = par->k + 1;
  memset(work->half_loadings, 0, (size_t) k1 * sizeof(double));
  num_pair_products(k1, data->m, par->loadings, work->pair_loadings);
  for (int j = 0; j < data->m; j++)
    num_add_scaled(work->half_loadings, 0.5, par->loadings + num_at(0, j, k1), k1);
}

/* Updates the scores and computes the sums for the loadings; false: stopped. */
static bool update_scores(const mc_data *data, const lp_param *par, lp_work *work) {
  multiply_loadings(data, par, work);
  return scan_rows(data, par, work, par->fixed_loadings ? scores_block : both_block);
}

/* Sums of an iteration: the head, then those of each attribute's regression, as in strip_sum. */
typedef struct {
  double *squares, *slopes, *all;
} regressions;

static regressions regressions_in(double *sums, int k, int m) {
  double *squares = sums + MC_SHARD_HEAD, *slopes = squares + num_at(0, m, num_pairs(k + 1));
  return (regressions){squares, slopes, slopes + num_at(0, m, k + 1)};
}

static bool model_rows(void *self, bool evaluate, const double *caps, double *sums) {
  const lp_self *s = self;
  const int k = s->par->k, m = s->data->m;
  const strip_sum *sum = s->work->strip;
  (void) caps;
  memset(sums, 0, MC_SHARD_HEAD * sizeof *sums);
  sums[MC_SHARD_BESIDE] =
      -0.5 * s->par->penalty * squares_of(s->par->scores, num_at(0, s->data->n, k));
  if (evaluate) {
    const bool done = scan_rows(s->data, s->par, s->work, objective_block);
    sums[MC_SHARD_LOGLIK] = sum->loglik;
    return done;
  }
  if (!update_scores(s->data, s->par, s->work)) return false;
  sums[MC_SHARD_LOGLIK] = sum->loglik;
  memcpy(sums + MC_SHARD_HEAD, sum->squares, (size_t) part_size(k, m) * sizeof *sums);
  return true;
}

#define LOOK_EVERY 256 /* attributes between two calls of the host */

/* Ridge regression of each attribute on the scores and a 1, solved in place; unobserved attributes
 * keep their intercept. */
static bool model_step(void *self, double *sums, double objective) {
  const lp_self *s = self;
  lp_work *work = s->work;
  const int k = s->par->k, k1 = k + 1, m = s->data->m, pairs = work->pairs;
  const regressions sum = regressions_in(sums, k, m);
  work->iterations++;
  work->objective = objective;
  for (int j = 0; j < m && !s->par->fixed_loadings; j++) {
    if (j % LOOK_EVERY == 0 && mc_stop(work->host, work->iterations, objective)) return false;
    double *squares = sum.squares + num_at(0, j, pairs), *slopes = sum.slopes + num_at(0, j, k1);
    double *loadings = s->par->loadings + num_at(0, j, k1);
    num_add_scaled(slopes, -0.5, sum.all, k1);
    for (int c = 0; c < k; c++) squares[c * (c + 1) / 2 + c] += s->par->penalty;
    const bool observed = squares[pairs - 1] > 0;
    const int unknowns = observed ? k1 : k;
    if (num_solve_packed(squares, slopes, unknowns))
      memcpy(loadings, slopes, (size_t) unknowns * sizeof(double));
  }
  return true;
}

/* Penalty of the loadings; that of the scores belongs to the rows. */
static double model_beside(void *self) {
  const lp_self *s = self;
  const int k = s->par->k;
  double sum = 0;
  for (int j = 0; j < s->data->m; j++) sum += squares_of(s->par->loadings + num_at(0, j, k + 1), k);
  return -0.5 * s->par->penalty * sum;
}

/* Every real number is a legal score or loading. */
static void model_feasible(void *self, const double *const *safe) {
  (void) self;
  (void) safe;
}

mc_shards lp_model(lp_self *self) {
  const int k = self->par->k, n = self->data->n, m = self->data->m;
  mc_shards out = {.rows = model_rows, .step = model_step, .beside = model_beside};
  out.length = MC_SHARD_HEAD + part_size(k, m);
  out.shared = (mc_model){.feasible = model_feasible, .self = self};
  mc_add_block(&out.shared, n > 0 ? self->par->scores : NULL, num_at(0, n, k));
  mc_add_block(&out.shared, self->par->fixed_loadings ? NULL : self->par->loadings,
               num_at(0, m, k + 1));
  return out;
}
