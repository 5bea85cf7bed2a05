#include "plca/plca.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/entropic.h"
#include "num/simplex.h"
#include "num/threads.h"
#include "num/vector.h"
#include <limits.h>

#define BLOCK_CELLS 2048

typedef struct {
  double *weights;                 /* k: expected counts */
  double *marginals[PLCA_MAX_DIM]; /* k x extent[d]: expected counts */
  double loglik;
  double gone; /* P(missing) */
  double seen; /* P of observed cells: the nonzero ones and, if computed, zeros */
} strip_sum;

struct plca_work {
  const plca_prior *prior;
  const mc_host *host;
  num_strips strips, na_strips, zero_strips;
  int n_zero;
  const int *zero_index; /* n_dim x n_zero: observed zeros; NULL: not listed */
  strip_sum strip[NUM_MAX_STRIP];
  double **joint; /* one per thread, k: P(component, cell) */
  double *spare;  /* 4 times the longest extent */
  double total;   /* sum of the counts */
  int iterations;
  double objective;
};

#define DENSE_ENOUGH 8 /* array cells per stored or missing one */

static size_t place_of(const plca_cells *cells, const int *at) {
  size_t place = 0;
  for (int d = cells->n_dim - 1; d >= 0; d--)
    place = place * (size_t) cells->extent[d] + (size_t) at[d];
  return place;
}

/*
 * Lists the observed zeros (n_dim x n_zero) of an array with missing cells if it is dense enough
 * for them to cost about as much as the stored and missing cells; otherwise returns NULL.
 */
static const int *list_zeros(const plca_cells *cells, const mc_host *host, int *n_zero) {
  const int n_dim = cells->n_dim;
  const double given = (double) cells->n_cell + cells->n_missing;
  double size = 1;
  *n_zero = 0;
  for (int d = 0; d < n_dim; d++) size *= cells->extent[d];
  if (cells->n_missing == 0 || size > INT_MAX || size > DENSE_ENOUGH * given) return NULL;
  const size_t n = (size_t) size;
  unsigned char *taken = host->alloc(host->ctx, n, 1);
  memset(taken, 0, n);
  for (ptrdiff_t e = 0; e < cells->n_cell; e++)
    taken[place_of(cells, cells->index + e * n_dim)] = 1;
  for (ptrdiff_t e = 0; e < cells->n_missing; e++)
    taken[place_of(cells, cells->na_index + e * n_dim)] = 1;
  for (size_t place = 0; place < n; place++) *n_zero += !taken[place];
  int *index = host->alloc(host->ctx, (size_t) *n_zero * (size_t) n_dim, sizeof *index),
      *at = index;
  for (size_t place = 0; place < n; place++) {
    size_t left = place;
    for (int d = 0; d < n_dim && !taken[place]; d++) {
      *at++ = (int) (left % (size_t) cells->extent[d]);
      left /= (size_t) cells->extent[d];
    }
  }
  return index;
}

plca_work *plca_new_work(const plca_cells *cells, const plca_prior *prior, int k, int n_threads,
                         const mc_host *host) {
  plca_work *work = host->alloc(host->ctx, 1, sizeof *work);
  int longest = 0;
  memset(work, 0, sizeof *work);
  work->prior = prior;
  work->host = host;
  work->strips = num_new_strips(cells->n_cell, BLOCK_CELLS, n_threads);
  work->na_strips = num_new_strips(cells->n_missing, BLOCK_CELLS, n_threads);
  work->zero_index = list_zeros(cells, host, &work->n_zero);
  work->zero_strips = num_new_strips(work->n_zero, BLOCK_CELLS, n_threads);
  const int by_cell = work->strips.n_strip, by_missing = work->na_strips.n_strip;
  for (int s = 0; s < by_cell || s < by_missing; s++) {
    work->strip[s].weights = mc_doubles(host, k, 1);
    for (int d = 0; d < cells->n_dim; d++)
      work->strip[s].marginals[d] = mc_doubles(host, k, cells->extent[d]);
  }
  for (int d = 0; d < cells->n_dim; d++)
    if (cells->extent[d] > longest) longest = cells->extent[d];
  work->spare = mc_doubles(host, 4, longest);
  const int threads = num_threads(n_threads);
  work->joint = host->alloc(host->ctx, (size_t) threads, sizeof *work->joint);
  for (int t = 0; t < threads; t++) work->joint[t] = mc_doubles(host, k, 1);
  for (int e = 0; e < cells->n_cell; e++) work->total += cells->value[e];
  return work;
}

typedef struct {
  const plca_cells *cells;
  const plca_param *par;
  plca_work *work;
  bool update;
  double imputed; /* a missing cell's expected count over its probability; 0: only their sum */
} scan;

/* Eq. (1): computes P(c, cell) of every component into joint; returns their sum. */
static double joint_probability(const plca_param *par, int n_dim, const int *at, double *joint) {
  const int k = par->k;
  double sum = 0;
  memcpy(joint, par->weights, (size_t) k * sizeof(double));
  for (int d = 0; d < n_dim; d++) {
    const double *column = par->marginals[d] + num_at(0, at[d], k);
    NUM_OMP(simd)
    for (int c = 0; c < k; c++) joint[c] *= column[c];
  }
  for (int c = 0; c < k; c++) sum += joint[c];
  return sum;
}

/* Eqs. (3)-(4): distributes a cell's counts over the components in proportion to joint. */
static void add_counts(const scan *w, strip_sum *sum, const int *at, double ratio,
                       const double *joint) {
  const int k = w->par->k;
  num_add_scaled(sum->weights, ratio, joint, k);
  for (int d = 0; d < w->cells->n_dim; d++)
    if (!w->par->fixed[d]) num_add_scaled(sum->marginals[d] + num_at(0, at[d], k), ratio, joint, k);
}

static void do_cells(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  strip_sum *sum = w->work->strip + strip;
  double *joint = w->work->joint[thread];
  for (int e = first; e < first + b; e++) {
    const int *at = w->cells->index + num_at(0, e, w->cells->n_dim);
    const double p = joint_probability(w->par, w->cells->n_dim, at, joint);
    sum->loglik += w->cells->value[e] * log(p);
    sum->seen += p;
    if (w->update && p > 0) add_counts(w, sum, at, w->cells->value[e] / p, joint);
  }
}

static void do_missing(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  strip_sum *sum = w->work->strip + strip;
  double *joint = w->work->joint[thread];
  for (int e = first; e < first + b; e++) {
    const int *at = w->cells->na_index + num_at(0, e, w->cells->n_dim);
    sum->gone += joint_probability(w->par, w->cells->n_dim, at, joint);
    if (w->imputed > 0) add_counts(w, sum, at, w->imputed, joint);
  }
}

static void do_zeros(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  strip_sum *sum = w->work->strip + strip;
  for (int e = first; e < first + b; e++) {
    const int *at = w->work->zero_index + num_at(0, e, w->cells->n_dim);
    sum->seen += joint_probability(w->par, w->cells->n_dim, at, w->work->joint[thread]);
  }
}

static bool scan_strips(scan *w, const num_strips *strips, num_scanner scanner) {
  return mc_scan(w->work->host, w->work->iterations, w->work->objective, strips, scanner, w);
}

static void clear(const scan *w) {
  const plca_work *work = w->work;
  const size_t k = (size_t) w->par->k * sizeof(double);
  for (int s = 0; s < NUM_MAX_STRIP && work->strip[s].weights; s++) {
    memset(work->strip[s].weights, 0, k);
    for (int d = 0; d < w->cells->n_dim; d++)
      memset(work->strip[s].marginals[d], 0, k * (size_t) w->cells->extent[d]);
  }
}

#define CANCELLED 1e-4 /* P(observed) below which 1 - P(missing) is dominated by rounding */

/*
 * P(observed) = 1 - P(missing). If little of it remains, it is instead the sum over observed cells,
 * or, if the zeros are too many to list, at least the sum over nonzero cells. Follows a scan of
 * stored and missing cells. Returns false if stopped.
 */
static bool p_observed(scan *w, double *observed) {
  plca_work *work = w->work;
  double gone = 0, seen = 0;
  for (int s = 0; s < NUM_MAX_STRIP; s++) gone += work->strip[s].gone;
  const bool sum_up = 1 - gone < CANCELLED;
  if (sum_up && work->n_zero > 0 && !scan_strips(w, &work->zero_strips, do_zeros)) return false;
  for (int s = 0; s < NUM_MAX_STRIP; s++) seen += work->strip[s].seen;
  *observed = sum_up && work->zero_index ? seen : fmax(1 - gone, seen);
  return true;
}

/* E-step over all cells; adds up the sums in strip 0, in order. Returns false if stopped. */
static bool expect(scan *w) {
  plca_work *work = w->work;
  const int k = w->par->k;
  double loglik = 0, observed = 1;
  for (int s = 0; s < NUM_MAX_STRIP; s++)
    work->strip[s].loglik = work->strip[s].gone = work->strip[s].seen = 0;
  if (w->update) clear(w);
  if (!scan_strips(w, &work->strips, do_cells)) return false;
  if (w->cells->n_missing > 0) {
    if (!scan_strips(w, &work->na_strips, do_missing) || !p_observed(w, &observed)) return false;
    w->imputed = w->update && observed > 0 ? work->total / observed : 0;
    if (w->imputed > 0 && !scan_strips(w, &work->na_strips, do_missing)) return false;
  }
  for (int s = 0; s < NUM_MAX_STRIP && work->strip[s].weights; s++) {
    loglik += work->strip[s].loglik;
    if (s == 0 || !w->update) continue;
    num_add_scaled(work->strip[0].weights, 1, work->strip[s].weights, k);
    for (int d = 0; d < w->cells->n_dim; d++)
      num_add_scaled(work->strip[0].marginals[d], 1, work->strip[s].marginals[d],
                     (ptrdiff_t) k * w->cells->extent[d]);
  }
  if (observed > 0 && loglik > -INFINITY) loglik -= work->total * log(observed);
  work->strip[0].loglik = loglik;
  return true;
}

/* Eq. (4); an empty component keeps its shape. */
static void plain_step(int c, int k, int extent, const double *counts, double *marginals) {
  double total = 0;
  for (int x = 0; x < extent; x++) total += counts[num_at(c, x, k)];
  if (total <= 0) return;
  for (int x = 0; x < extent; x++)
    marginals[num_at(c, x, k)] = num_lift(counts[num_at(c, x, k)] / total);
}

static bool has_partner(const double *pairs, int c, int k) {
  for (int i = 0; i < k; i++)
    if (i != c && pairs[num_at(c, i, k)] != 0) return true;
  return false;
}

/* Multiplier of A in an iteration, counted from 0. */
static double anneal_scale(const plca_work *work, int pass) {
  const plca_prior *prior = work->prior;
  if (prior->n_anneal == 0) return 1;
  return prior->anneal[pass < prior->n_anneal ? pass : prior->n_anneal - 1];
}

/* Adds the counts of Dirichlet priors to the expected counts. */
static void add_dirichlet(const scan *w) {
  const plca_prior *prior = w->work->prior;
  strip_sum *sum = w->work->strip;
  const int k = w->par->k;
  if (prior->weights_added) num_add_scaled(sum->weights, 1, prior->weights_added, k);
  for (int d = 0; d < w->cells->n_dim; d++) {
    const ptrdiff_t size = (ptrdiff_t) k * w->cells->extent[d];
    for (ptrdiff_t at = 0; at < size && prior->marginals_added[d] > 0; at++)
      sum->marginals[d][at] += prior->marginals_added[d];
  }
}

/* Eq. (4), or, with an entropic prior, the exact maximum. */
static void update_weights(const scan *w) {
  const plca_work *work = w->work;
  const double *counts = work->strip[0].weights, beta = work->prior->weights_sparsity;
  double *weights = w->par->weights, total = 0;
  const int k = w->par->k;
  for (int c = 0; c < k; c++) total += counts[c];
  if (total <= 0) return;
  if (beta != 0)
    num_entropic(counts, k, beta, NUM_GLOBAL, weights, work->joint[0]);
  else
    for (int c = 0; c < k; c++) weights[c] = counts[c] / total;
  for (int c = 0; c < k; c++) weights[c] = num_lift(weights[c]);
}

/* M-step of an iteration; false: stopped. */
static bool maximise(const scan *w, double scale) {
  const plca_work *work = w->work;
  const plca_prior *prior = work->prior;
  const int k = w->par->k;
  add_dirichlet(w);
  update_weights(w);
  for (int d = 0; d < w->cells->n_dim; d++) {
    const double *pairs = scale != 0 ? prior->pairs[d] : NULL, beta = prior->marginals_sparsity[d];
    const double *counts = work->strip[0].marginals[d];
    for (int c = 0; c < k && !w->par->fixed[d]; c++) {
      double *marginals = w->par->marginals[d];
      if (mc_stop(work->host, work->iterations, work->objective)) return false;
      const double *own = pairs && has_partner(pairs, c, k) ? pairs : NULL;
      const plca_block b = {prior, own, scale, beta, c, k, w->cells->extent[d], marginals};
      if (own || beta != 0)
        plca_prior_step(&b, counts, work->spare);
      else
        plain_step(c, k, b.extent, counts, marginals);
    }
  }
  return true;
}

/* Contribution of the priors to the objective; the paper's rule has none. */
static double prior_part(const scan *w, double scale) {
  if (w->work->prior->method == PLCA_PAPER) return 0;
  return plca_prior_value(w->cells, w->par, w->work->prior, scale);
}

double plca_pass(const plca_cells *cells, plca_param *par, plca_work *work) {
  scan w = {cells, par, work, true, 0};
  const double scale = anneal_scale(work, work->iterations), prior = prior_part(&w, scale);
  if (!expect(&w) || !maximise(&w, scale)) return NAN;
  work->iterations++;
  return work->objective = work->strip[0].loglik + prior;
}

double plca_objective(const plca_cells *cells, const plca_param *par, plca_work *work) {
  scan w = {cells, par, work, false, 0};
  const double prior =
      prior_part(&w, anneal_scale(work, work->iterations > 0 ? work->iterations - 1 : 0));
  return expect(&w) ? work->strip[0].loglik + prior : NAN;
}

static double model_pass(void *self) {
  const plca_self *s = self;
  return plca_pass(s->cells, s->par, s->work);
}

static double model_objective(void *self) {
  const plca_self *s = self;
  return plca_objective(s->cells, s->par, s->work);
}

static void model_feasible(void *self, const double *const *safe) {
  const plca_self *s = self;
  num_guard_simplex(s->par->weights, safe[0], 1, s->par->k);
  for (int d = 0; d < s->cells->n_dim; d++)
    num_guard_simplex(s->par->marginals[d], safe[d + 1], s->par->k, s->cells->extent[d]);
}

static bool has_prior(const plca_prior *prior, int n_dim) {
  for (int d = 0; d < n_dim; d++)
    if (prior->pairs[d]) return true;
  return false;
}

mc_model plca_model(plca_self *self) {
  const plca_prior *prior = self->work->prior;
  mc_model model = {.n_block = self->cells->n_dim + 1,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  model.may_fall =
      has_prior(prior, self->cells->n_dim) && (prior->method == PLCA_PAPER || prior->n_anneal > 1);
  model.block[0] = self->par->weights;
  model.length[0] = self->par->k;
  for (int d = 0; d < self->cells->n_dim; d++) {
    model.block[d + 1] = self->par->marginals[d];
    model.length[d + 1] = (ptrdiff_t) self->par->k * self->cells->extent[d];
  }
  return model;
}
