/* noisy_or/exact.c: EM over all 2^k states, eqs. (2.1)-(2.2) as two matrix products. */
#include "noisy_or/states.h"
#include "num/blas.h"
#include "num/blocks.h"
#include "num/threads.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define LOG_CELLS 131072            /* states x rows of a block: 1 MB */
#define MOST_STRIP_BYTES 134217728. /* of the strips' sums together */
#define PLAIN_PASSES 15             /* with one M-step each, when inner adapts */
#define LATE_INNER 5
#define ROUNDING 1e-12 /* share of the rows below which a difference is rounding error */

typedef struct {
  double *fired;           /* n_state x (m + 1): expected ones of each state; last: expected rows */
  double *missing;         /* k x m, or NULL */
  double *unseen;          /* n_state x m: expected missing cells of each state; NULL: not wanted */
  double effort[NOR_GRID]; /* with it: of expected rows */
  double loglik;
  bool fresh; /* no block has been added yet */
} strip_sum;

typedef struct {
  double *cells, *logs, *one, *zero; /* (m + 1) x b, n_state x b, n_state, n_state */
  double *share;                     /* b: of a row in the sums, over that of its states */
  double *post;                      /* k */
} thread_scratch;

struct nor_exact {
  const mc_data *data;
  nor_param *par;
  const nor_settings *set;
  nor_tables tab;
  nor_totals totals;
  nor_sums sums;
  num_strips strips, columns;
  strip_sum strip[NUM_MAX_STRIP];
  thread_scratch *scratch;
  double **zero;    /* each thread's scratch->zero */
  bool want_sums;   /* in the current scan */
  int inner;        /* of the current iteration */
  int iterations;   /* made so far */
  double objective; /* after the last iteration, reported to the host */
};

static void reserve(nor_exact *work) {
  const mc_host *host = work->set->host;
  const size_t n_state = (size_t) work->tab.n_state, m = (size_t) work->data->m;
  const size_t k = (size_t) work->par->k, b = (size_t) work->strips.block_rows;
  const size_t n_threads = (size_t) work->strips.n_threads;
  for (int s = 0; s < work->strips.n_strip; s++) {
    work->strip[s].fired = mc_doubles(host, n_state, m + 1);
    if (work->data->na_start) work->strip[s].missing = mc_doubles(host, k, m);
    if (work->data->na_start && work->par->share)
      work->strip[s].unseen = mc_doubles(host, n_state, m);
  }
  work->scratch = host->alloc(host->ctx, n_threads, sizeof *work->scratch);
  work->zero = host->alloc(host->ctx, n_threads, sizeof *work->zero);
  for (size_t t = 0; t < n_threads; t++) {
    work->scratch[t] = (thread_scratch){mc_doubles(host, m + 1, b),   mc_doubles(host, n_state, b),
                                        mc_doubles(host, n_state, 1), mc_doubles(host, n_state, 1),
                                        mc_doubles(host, b, 1),       mc_doubles(host, k, 1)};
    work->zero[t] = work->scratch[t].zero;
  }
}

nor_exact *nor_new_exact(const mc_data *data, nor_param *par, const nor_settings *set) {
  nor_exact *work = set->host->alloc(set->host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->data = data;
  work->par = par;
  work->set = set;
  work->tab = nor_new_tables(par, data->m, set->host);
  work->totals = nor_count(data, set);
  work->sums = nor_new_sums(data, par, set->host);
  const double bytes = (double) work->tab.n_state * (data->m + 1) * sizeof(double);
  const double most = fmin(fmax(MOST_STRIP_BYTES / bytes, 1), NUM_MAX_STRIP);
  int rows = LOG_CELLS / work->tab.n_state;
  rows = rows < 64 ? 64 : (rows > 256 ? 256 : rows);
  if (rows > data->n) rows = data->n;
  work->strips = num_new_strips(data->n, rows, set->n_threads);
  if (work->strips.n_strip > (int) most) work->strips.n_strip = (int) most;
  if (work->strips.n_threads > work->strips.n_strip) work->strips.n_threads = work->strips.n_strip;
  work->columns = num_new_strips(data->m, 1, work->strips.n_threads);
  reserve(work);
  return work;
}

/* Adds the posterior of each row's states to the sums of its ones and, in the last column, of all rows. */
static void add_fired(const nor_exact *work, int first, int b, const thread_scratch *s, bool fresh,
                      strip_sum *sum) {
  const mc_data *data = work->data;
  const int n_state = work->tab.n_state, m = data->m;
  if (!nor_few_ones(&work->tab, data, first, b)) {
    for (int i = 0; i < b; i++)
      for (int j = 0; j <= m; j++) s->cells[num_at(j, i, m + 1)] *= s->share[i];
    num_gemm(false, true, n_state, m + 1, b, s->logs, n_state, s->cells, m + 1, fresh ? 0 : 1,
             sum->fired, n_state);
    return;
  }
  if (fresh) memset(sum->fired, 0, (size_t) n_state * ((size_t) m + 1) * sizeof(double));
  for (int i = 0; i < b; i++) {
    const double *row = s->logs + num_at(0, i, n_state);
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++)
      num_add_scaled(sum->fired + num_at(0, data->column[e], n_state), s->share[i], row, n_state);
    num_add_scaled(sum->fired + num_at(0, m, n_state), s->share[i], row, n_state);
  }
}

/* Adds a row's posterior to the sums for its missing cells; its states have weight share. */
static void add_missing(const nor_exact *work, int i, const double *row, double share,
                        const thread_scratch *s, strip_sum *sum) {
  const mc_data *data = work->data;
  const int n_state = work->tab.n_state, k = work->par->k;
  memcpy(s->one, row, (size_t) n_state * sizeof(double));
  memset(s->post, 0, (size_t) k * sizeof(double));
  for (int at = 0; at < n_state; at += 1 << k) nor_fold(s->one + at, k, share, s->post);
  for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++) {
    const int j = data->na_column[e];
    for (int c = 0; c < k; c++) sum->missing[num_at(c, j, k)] += s->post[c];
    if (sum->unseen) num_add_scaled(sum->unseen + num_at(0, j, n_state), share, row, n_state);
  }
}

/* E-step of a block: its log-likelihood, and the sums over its posterior of the states. */
static void do_block(void *self, int strip, int thread, int first, int b) {
  nor_exact *work = self;
  const int n_state = work->tab.n_state, m = work->data->m, k = work->par->k;
  const thread_scratch *s = work->scratch + thread;
  strip_sum *sum = work->strip + strip;
  const bool fresh = sum->fresh;
  sum->fresh = false;
  if (fresh) {
    sum->loglik = 0;
    memset(sum->effort, 0, sizeof sum->effort);
  }
  if (fresh && sum->missing) memset(sum->missing, 0, (size_t) k * (size_t) m * sizeof(double));
  if (fresh && sum->unseen) memset(sum->unseen, 0, (size_t) n_state * (size_t) m * sizeof(double));
  nor_block_logs(&work->tab, work->data, work->par, first, b, s->cells, s->logs, s->zero);
  for (int i = 0; i < b; i++) {
    double *row = s->logs + num_at(0, i, n_state), total;
    const double weight = nor_weight(work->set, first + i);
    nor_row_states(work->set, work->par, first + i, row);
    sum->loglik += weight * nor_take_exp(row, n_state, &total);
    s->share[i] = total > 0 ? weight / total : 0; /* impossible: no state has a share */
    if (!work->want_sums || total <= 0) continue;
    for (int at = 0; at < n_state && work->par->coef; at++)
      sum->effort[at >> k] += s->share[i] * row[at] * work->set->effort->effort[first + i];
    if (sum->missing && data_n_missing(work->data, first + i))
      add_missing(work, first + i, row, s->share[i], s, sum);
  }
  if (work->want_sums) add_fired(work, first, b, s, fresh, sum);
}

/* The E-step over all rows; adds up the strips' sums in strip 0. Returns NaN if stopped. */
static double scan(nor_exact *work, bool want_sums) {
  const ptrdiff_t size = (ptrdiff_t) work->tab.n_state * (work->data->m + 1);
  const ptrdiff_t n_link = (ptrdiff_t) work->par->k * work->data->m;
  work->want_sums = want_sums;
  if (!nor_fill_tables(&work->tab, work->par, &work->columns, work->zero, work->set->host,
                       work->iterations, work->objective))
    return NAN;
  for (int s = 0; s < work->strips.n_strip; s++) work->strip[s].fresh = true;
  if (!mc_scan(work->set->host, work->iterations, work->objective, &work->strips, do_block, work))
    return NAN;
  strip_sum *sum = work->strip;
  for (int s = 1; s < work->strips.n_strip; s++) {
    const strip_sum *other = work->strip + s;
    sum->loglik += other->loglik;
    if (!want_sums) continue;
    for (int g = 0; g < NOR_GRID; g++) sum->effort[g] += other->effort[g];
    for (ptrdiff_t i = 0; i < size; i++) sum->fired[i] += other->fired[i];
    for (ptrdiff_t i = 0; sum->missing && i < n_link; i++) sum->missing[i] += other->missing[i];
    for (ptrdiff_t i = 0; sum->unseen && i < size - work->tab.n_state; i++)
      sum->unseen[i] += other->unseen[i];
  }
  return nor_objective(work->set, work->par, work->data->m, sum->loglik);
}

/*
 * Computes expected presences, eq. (R3), in column j for each of the 2^k sets of sources, at
 * ones and at zeros, which are all rows minus ones and missing cells. Leaves them in fired.
 */
static void add_missed(nor_exact *work, int j, double *fired, const thread_scratch *s) {
  const int n_state = work->tab.n_state, n_set = 1 << work->par->k;
  const double *rows = work->strip[0].fired + num_at(0, work->data->m, n_state);
  const double *unseen = work->strip[0].unseen;
  if (unseen) unseen += num_at(0, j, n_state);
  nor_column_states(work->par, j, s->one, s->zero);
  for (int at = 0; at < n_state; at++) {
    const int g = at / n_set, set = at % n_set;
    const double ones = fired[at], zeros = rows[at] - ones - (unseen ? unseen[at] : 0);
    const double seen = zeros > ROUNDING * rows[at] ? zeros : 0;
    const double missed = seen * nor_present(nor_recorded(work->par, g, j), s->one[set]);
    nor_count_present(work->par, &work->sums, g, j, ones, 1, 1);
    nor_count_present(work->par, &work->sums, g, j, missed, 0, 1);
    fired[set] = (g > 0 ? fired[set] : 0) + ones + missed;
  }
}

/* The inner M-steps for a column's links and leak, with a fixed posterior of the states. */
static void update_column(nor_exact *work, int j) {
  const int k = work->par->k, n_set = 1 << k;
  double *fired = work->strip[0].fired + num_at(0, j, work->tab.n_state);
  const thread_scratch *s = work->scratch + num_thread();
  if (work->par->share) add_missed(work, j, fired, s);
  nor_update_taxon(work->set, &work->sums, work->par, j);
  for (int step = 0; step < work->inner; step++) {
    double *link = work->sums.fired + num_at(0, j, k);
    nor_column_states(work->par, j, s->one, s->zero);
    for (int at = 0; at < n_set; at++) s->one[at] = fired[at] > 0 ? fired[at] / s->one[at] : 0;
    memset(link, 0, (size_t) k * sizeof(double));
    nor_fold(s->one, k, 1, link);
    nor_update_link(work->set, &work->sums, work->par, j, link, s->one[0], work->totals.seen[j]);
  }
}

static void update_columns(void *self, int strip, int thread, int first, int b) {
  nor_exact *work = self;
  (void) strip;
  (void) thread;
  for (int j = first; j < first + b; j++) update_column(work, j);
}

/* Computes the expected numbers of rows with each source on, and at each grid point. */
static void count_on(nor_exact *work) {
  const int k = work->par->k, n_state = work->tab.n_state, n_set = 1 << k;
  const double *rows = work->strip[0].fired + num_at(0, work->data->m, n_state);
  double *fold = work->scratch[0].one;
  memcpy(fold, rows, (size_t) n_state * sizeof(double));
  if (work->sums.effort)
    memcpy(work->sums.effort, work->strip[0].effort, sizeof work->strip[0].effort);
  for (int at = 0; at < n_state; at += n_set) {
    for (int s = 0; work->sums.share && s < n_set; s++)
      work->sums.share[at / n_set] += rows[at + s];
    nor_fold(fold + at, k, 1, work->sums.on);
  }
}

static double pass(void *self) {
  nor_exact *work = self;
  const int k = work->par->k, m = work->data->m;
  const int adapted = work->iterations < PLAIN_PASSES ? 1 : LATE_INNER;
  work->inner = work->set->inner > 0 ? work->set->inner : adapted;
  const double value = scan(work, true);
  if (!isfinite(value)) return value;
  work->sums.missing = NULL;
  nor_clear_sums(&work->sums, k, m);
  count_on(work);
  work->sums.missing = work->strip[0].missing;
  if (!mc_scan(work->set->host, work->iterations, value, &work->columns, update_columns, work))
    return NAN;
  nor_update_share(work->set, &work->sums, work->par, work->data->m);
  nor_update_prior(work->set, work->sums.on, work->totals.rows, work->par);
  work->iterations++;
  return work->objective = value;
}

static double objective(void *self) { return scan(self, false); }

static void feasible(void *self, const double *const *safe) {
  const nor_exact *work = self;
  nor_guard(work->par, work->data->m, safe);
  nor_impose_scale(work->set, work->par, work->data->m);
}

mc_model nor_exact_model(nor_exact *work) {
  mc_model model = {.pass = pass, .objective = objective, .feasible = feasible, .self = work};
  nor_blocks(work->par, work->data->m, &model);
  return model;
}
