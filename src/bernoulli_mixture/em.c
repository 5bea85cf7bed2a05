#include "bernoulli_mixture/em.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/log1mexp.h"
#include "num/logistic.h"
#include "num/simplex.h"
#include "num/vector.h"

/* Scratch of a row, k each: log joint, and number of certain cells that are not observed zeros. */
typedef struct {
  double *row, *met;
} bm_scratch;

struct bm_work {
  bm_prior prior;
  const mc_host *host;
  double *posterior; /* n x k */
  double *loglik;    /* n */
  double *hold;      /* n: degree / 2 times strength, which limits the change of a label; NULL
                        without neighbours */
  double *log_odds;  /* k x m: log prototype - log(1 - prototype); 0 where the prototype is 1 */
  double *log_zero;  /* k x m: log(1 - prototype); 0 where the prototype is 1 */
  double *certain;   /* k x m: 1 if the prototype is exactly 1, which excludes zeros */
  double *n_certain; /* k: their number */
  double *all_zero;  /* k: log weight + log-probability of zeros at the cells that are not
                        certain */
  double *log_q;     /* n x k: logs of the memberships, with neighbours */
  double *sum_q;     /* n: their sums on the way */
  double *share;     /* n x k: memberships by covariates alone; NULL without */
  double *counts;    /* n x k: the posterior of rows with an observed cell, else 0 */
  double *climb;     /* scratch of num_multinomial_climb() */
  num_strips rows;
  bm_scratch *scratch; /* one per thread */
  double *row;         /* of the first thread */
  bool any_certain;
  int iterations;
  double objective; /* of the last iteration, reported to the host */
};

#define BM_LOOK_EVERY 1024 /* rows between two calls of the host */

bm_work *bm_new_work(const mc_data *data, const bm_prior *prior, const bm_param *par, int n_threads,
                     const mc_host *host) {
  const ptrdiff_t n = data->n, k = par->k, size = k * data->m;
  bm_work *w = host->alloc(host->ctx, 1, sizeof *w);
  memset(w, 0, sizeof *w);
  w->prior = *prior;
  w->host = host;
  w->posterior = mc_doubles(host, n, k);
  w->loglik = mc_doubles(host, n, 1);
  w->log_odds = mc_doubles(host, size, 1);
  w->log_zero = mc_doubles(host, size, 1);
  w->certain = mc_doubles(host, size, 1);
  w->n_certain = mc_doubles(host, k, 1);
  w->all_zero = mc_doubles(host, k, 1);
  w->rows = num_new_strips(data->n, 64, n_threads);
  w->scratch = host->alloc(host->ctx, (size_t) w->rows.n_threads, sizeof *w->scratch);
  for (int t = 0; t < w->rows.n_threads; t++)
    w->scratch[t] = (bm_scratch){mc_doubles(host, k, 1), mc_doubles(host, k, 1)};
  w->row = w->scratch->row;
  if (par->by.d > 0) {
    w->share = mc_doubles(host, n, k);
    w->counts = mc_doubles(host, n, k);
    w->climb = mc_doubles(host, (ptrdiff_t) num_multinomial_work(par->by.d, par->k), 1);
  }
  if (par->smooth) {
    w->hold = mc_doubles(host, n, 1);
    w->log_q = mc_doubles(host, n, k);
    w->sum_q = mc_doubles(host, n, 1);
    for (int i = 0; i < data->n; i++) w->hold[i] = mc_smooth_hold(par->smooth, i);
  }
  return w;
}

const double *bm_posterior(const bm_work *work) { return work->posterior; }

const double *bm_row_loglik(const bm_work *work) { return work->loglik; }

/* Excludes prototypes of exactly 1 from the sums, where infinities would cancel, and counts them. */
static void take_logs(const mc_data *data, const bm_param *par, bm_work *w) {
  const int k = par->k;
  w->any_certain = false;
  if (w->share) num_multinomial_share(&par->by, data->n, k, w->share);
  for (int c = 0; c < k; c++) {
    w->all_zero[c] = w->share ? 0 : log(par->weights[c]);
    w->n_certain[c] = 0;
  }
  for (int j = 0; j < data->m; j++) {
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, j, k);
      const bool certain = par->prototypes[at] >= 1;
      w->certain[at] = certain;
      w->n_certain[c] += certain;
      w->any_certain = w->any_certain || certain;
      w->log_zero[at] = certain ? 0 : log1p(-par->prototypes[at]);
      w->log_odds[at] = certain ? 0 : log(par->prototypes[at]) - w->log_zero[at];
      w->all_zero[c] += w->log_zero[at];
    }
  }
}

static void row_log_joint(const mc_data *data, int k, const bm_work *w, const bm_scratch *s,
                          int i) {
  const int *na = data->na_column;
  const int na_from = data->na_start ? data->na_start[i] : 0;
  const int na_to = na_from + data_n_missing(data, i);
  memcpy(s->row, w->all_zero, (size_t) k * sizeof(double));
  for (int c = 0; c < k && w->share; c++) s->row[c] += log(w->share[num_at(i, c, data->n)]);
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    num_add_scaled(s->row, 1, w->log_odds + num_at(0, data->column[e], k), k);
  for (int e = na_from; e < na_to; e++)
    num_add_scaled(s->row, -1, w->log_zero + num_at(0, na[e], k), k);
  if (!w->any_certain) return;
  memset(s->met, 0, (size_t) k * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    num_add_scaled(s->met, 1, w->certain + num_at(0, data->column[e], k), k);
  for (int e = na_from; e < na_to; e++)
    num_add_scaled(s->met, 1, w->certain + num_at(0, na[e], k), k);
  for (int c = 0; c < k; c++)
    if (s->met[c] < w->n_certain[c]) s->row[c] = -INFINITY;
}

static double log_prior(int m, const bm_param *par, const bm_prior *prior) {
  double sum = 0;
  for (int c = 0; c < par->k && prior->weights > 0; c++)
    sum += prior->weights * log(par->weights[c]);
  for (ptrdiff_t i = 0; i < (ptrdiff_t) par->k * m; i++) {
    if (prior->one > 0) sum += prior->one * log(par->prototypes[i]);
    if (prior->zero > 0) sum += prior->zero * log1p(-par->prototypes[i]);
  }
  return sum;
}

typedef struct {
  const mc_data *data;
  const bm_param *par;
  bm_work *work;
} scan;

static void exact_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *s = ctx;
  const int k = s->par->k;
  bm_work *w = s->work;
  double *joint = w->scratch[thread].row;
  (void) strip;
  for (int i = first; i < first + b; i++) {
    row_log_joint(s->data, k, w, w->scratch + thread, i);
    const double row = num_log_sum_exp(joint, k);
    const bool possible = row > -INFINITY;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(i, c, s->data->n);
      const double before = w->share ? w->share[at] : s->par->weights[c];
      w->posterior[at] = possible ? exp(joint[c] - row) : before;
    }
    w->loglik[i] = row;
  }
}

static double exact_objective(const mc_data *data, const bm_param *par, bm_work *w) {
  scan s = {data, par, w};
  double sum = 0;
  take_logs(data, par, w);
  if (!mc_scan(w->host, w->iterations, w->objective, &w->rows, exact_block, &s)) return NAN;
  for (int i = 0; i < data->n; i++) sum += w->loglik[i];
  return sum;
}

/* Neighbourhood EM, for models with neighbours: the second form of engine/smooth.h, with vectorised logs and
 * exponentials of all labels. */

#define LEAST 1e-300  /* a label at 0 may become positive again: its log is that of LEAST */
#define ROUNDED 1e-10 /* a share this small may have been lost by rounding in its prototype */
#define GONE 1.2e-304 /* num_exp_minus() returns at least exp(-700): a label this small is 0 */

static void take_label_logs(const double *membership, ptrdiff_t size, double *log_q) {
  for (ptrdiff_t at = 0; at < size; at++)
    log_q[at] = membership[at] > LEAST ? membership[at] : LEAST;
  num_logs(log_q, size);
}

/* Term of row i in the objective, without its neighbours, from its log joint in w->row. */
static double row_bound(const bm_work *w, const double *membership, int i, int n, int k) {
  double sum = 0;
  for (int c = 0; c < k; c++) {
    const double q = membership[num_at(i, c, n)];
    if (q < NUM_TINY || (q < ROUNDED && w->row[c] == -INFINITY)) continue; /* q log q is 0 */
    sum += q * (w->row[c] - w->log_q[num_at(i, c, n)]);
  }
  return sum;
}

/*
 * Maximises the bound of engine/smooth.h over q of row i, with the penalty strength / 2 times
 * degree. Replaces log_q by the differences of the logs from their largest. An impossible row,
 * whose objective is -Inf, keeps its label.
 */
static void aim_label(bm_work *w, const double *pull, double hold, int i, int n, int k) {
  const double scale = 1 / (1 + hold);
  double most = -INFINITY;
  for (int c = 0; c < k; c++) {
    w->row[c] = (w->row[c] + pull[c] + hold * w->log_q[num_at(i, c, n)]) * scale;
    most = w->row[c] > most ? w->row[c] : most;
  }
  for (int c = 0; c < k; c++) {
    double *log_q = w->log_q + num_at(i, c, n);
    *log_q = most > -INFINITY ? most - w->row[c] : -*log_q;
  }
}

/* Computes the labels from these differences and normalises them. */
static void move_labels(bm_work *w, double *membership, int n, int k) {
  num_exp_minus(w->log_q, (ptrdiff_t) n * k);
  memset(w->sum_q, 0, (size_t) n * sizeof *w->sum_q);
  for (int c = 0; c < k; c++) num_add_scaled(w->sum_q, 1, w->log_q + num_at(0, c, n), n);
  for (int c = 0; c < k; c++) {
    const double *aim = w->log_q + num_at(0, c, n);
    double *q = membership + num_at(0, c, n);
    for (int i = 0; i < n; i++) q[i] = aim[i] < GONE ? 0 : num_lift(aim[i] / w->sum_q[i]);
  }
}

static double near_objective(const mc_data *data, const bm_param *par, bm_work *w, bool move) {
  const int n = data->n, k = par->k;
  double sum = mc_smooth_agree(par->smooth, par->membership);
  take_logs(data, par, w);
  take_label_logs(par->membership, (ptrdiff_t) n * k, w->log_q);
  for (int i = 0; i < n; i++) {
    if (i % BM_LOOK_EVERY == 0 && mc_stop(w->host, w->iterations, w->objective)) return NAN;
    row_log_joint(data, k, w, w->scratch, i);
    sum += row_bound(w, par->membership, i, n, k);
    if (move) aim_label(w, mc_smooth_row(par->smooth, i), w->hold[i], i, n, k);
  }
  if (move) move_labels(w, par->membership, n, k);
  return sum;
}

#define CANCELLED 1e-8 /* share of a sum left by a subtraction below which it is recomputed */

static bool is_missing(const mc_data *data, int i, int j) {
  int from = data->na_start[i], to = data->na_start[i + 1];
  while (from < to) {
    const int middle = from + (to - from) / 2;
    if (data->na_column[middle] < j)
      from = middle + 1;
    else
      to = middle;
  }
  return from < data->na_start[i + 1] && data->na_column[from] == j;
}

/* Sums of an iteration: the head, then the number of rows with an observed cell (with neighbours:
 * of all rows), expected rows of each component (k), ones and observed cells (k x m). */
enum { ROWS = MC_SHARD_HEAD, TOTAL };

typedef struct {
  double *rows, *total, *ones, *seen;
} counts;

static counts counts_in(double *sums, int k, int m) {
  double *total = sums + TOTAL, *ones = total + k;
  return (counts){sums + ROWS, total, ones, ones + (ptrdiff_t) k * m};
}

/*
 * Expected observed cells of every component: its rows minus the missing cells, which seen holds on
 * entry. If cancellation leaves mainly rounding, which could make a prototype exactly 1, where it
 * would stay, the column is summed again. Returns false if stopped.
 */
static bool take_seen(const mc_data *data, int k, const double *labels, bm_work *w, counts to) {
  for (int j = 0; j < data->m; j++) {
    double *seen = to.seen + num_at(0, j, k);
    bool lost = false;
    for (int c = 0; c < k; c++) {
      const double left = to.total[c] - seen[c];
      lost = lost || left < CANCELLED * to.total[c];
      seen[c] = left;
    }
    if (!lost) continue;
    if (mc_stop(w->host, w->iterations, w->objective)) return false;
    memset(seen, 0, (size_t) k * sizeof(double));
    for (int i = 0; i < data->n; i++)
      for (int c = 0; c < k && !is_missing(data, i, j); c++)
        seen[c] += labels[num_at(i, c, data->n)];
  }
  return true;
}

static bool add_counts(const mc_data *data, const bm_param *par, const double *labels, bm_work *w,
                       counts to) {
  const int k = par->k;
  for (int i = 0; i < data->n; i++) {
    const int na_from = data->na_start ? data->na_start[i] : 0;
    if (i % BM_LOOK_EVERY == 0 && mc_stop(w->host, w->iterations, w->objective)) return false;
    if (data_n_observed(data, i) == 0 && !par->smooth) continue;
    ++*to.rows;
    for (int c = 0; c < k; c++) w->row[c] = labels[num_at(i, c, data->n)];
    num_add_scaled(to.total, 1, w->row, k);
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      num_add_scaled(to.ones + num_at(0, data->column[e], k), 1, w->row, k);
    for (int e = na_from; e < na_from + data_n_missing(data, i); e++)
      num_add_scaled(to.seen + num_at(0, data->na_column[e], k), 1, w->row, k);
  }
  return take_seen(data, k, labels, w, to);
}

static bool model_rows(void *self, bool evaluate, const double *caps, double *sums) {
  const bm_self *s = self;
  const bm_param *par = s->par;
  const double *labels = par->smooth ? par->membership : s->work->posterior;
  const ptrdiff_t length = TOTAL + par->k + 2 * (ptrdiff_t) par->k * s->data->m;
  (void) caps;
  memset(sums, 0, (size_t) (evaluate ? MC_SHARD_HEAD : length) * sizeof *sums);
  const double loglik = par->smooth ? near_objective(s->data, par, s->work, !evaluate)
                                    : exact_objective(s->data, par, s->work);
  sums[MC_SHARD_LOGLIK] = loglik;
  if (isnan(loglik) || evaluate) return !isnan(loglik);
  return add_counts(s->data, par, labels, s->work, counts_in(sums, par->k, s->data->m));
}

/* A Newton step of the effects, by the posterior of rows with an observed cell. */
static void step_effects(const mc_data *data, const bm_param *par, bm_work *w) {
  for (int i = 0; i < data->n; i++) {
    const bool seen = data_n_observed(data, i) > 0;
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(i, c, data->n);
      w->counts[at] = seen ? w->posterior[at] : 0;
    }
  }
  num_multinomial_climb(&par->by, data->n, par->k, w->counts, w->climb);
}

/* Estimates weights from their counts; a held one keeps its value, and the others share the rest. */
static void step_weights(const bm_param *par, const double *total, double pseudo, double n_rows) {
  const int held = par->held <= par->k ? (int) par->held - 1 : -1;
  const double left = held < 0 ? 1 : 1 - par->weights[held];
  const double others = held < 0 ? n_rows : n_rows - total[held] - pseudo;
  for (int c = 0; c < par->k; c++)
    if (c != held && others > 0)
      par->weights[c] = num_lift(fmin(left, left * (total[c] + pseudo) / others));
}

static bool model_step(void *self, double *sums, double objective) {
  const bm_self *s = self;
  const bm_param *par = s->par;
  const bm_prior *prior = &s->work->prior;
  const int k = par->k, m = s->data->m;
  const counts from = counts_in(sums, k, m);
  const double n_rows = *from.rows + k * prior->weights;
  for (ptrdiff_t at = 0; at < (ptrdiff_t) k * m; at++) {
    const double ones = from.ones[at] + prior->one;
    const double observed = fmax(from.seen[at], from.ones[at]) + prior->one + prior->zero;
    if (observed > NUM_TINY && at + k + 1 != par->held)
      par->prototypes[at] = num_lift(fmin(ones / observed, 1));
  }
  if (par->by.d > 0) step_effects(s->data, par, s->work);
  if (par->by.d == 0) step_weights(par, from.total, prior->weights, n_rows);
  s->work->iterations++;
  s->work->objective = objective;
  return true;
}

static double model_beside(void *self) {
  const bm_self *s = self;
  double sum = log_prior(s->data->m, s->par, &s->work->prior);
  if (s->par->by.d > 0) sum += num_multinomial_log_prior(&s->par->by, s->par->k);
  return sum;
}

static void model_feasible(void *self, const double *const *safe) {
  const bm_self *s = self;
  num_guard_simplex(s->par->weights, safe[0], 1, s->par->k);
  num_guard_unit(s->par->prototypes, safe[1], (ptrdiff_t) s->par->k * s->data->m);
  if (s->par->smooth) num_guard_simplex(s->par->membership, safe[2], s->data->n, s->par->k);
}

mc_shards bm_model(bm_self *self) {
  const bm_param *par = self->par;
  const ptrdiff_t k = par->k, size = k * self->data->m;
  mc_shards out = {.rows = model_rows, .step = model_step, .beside = model_beside};
  out.length = TOTAL + k + 2 * size;
  out.shared = (mc_model){.feasible = model_feasible, .self = self};
  mc_add_block(&out.shared, par->weights, k);
  mc_add_block(&out.shared, par->prototypes, size);
  mc_add_block(&out.shared, par->smooth ? par->membership : NULL, self->data->n * k);
  mc_add_block(&out.shared, par->by.effects, par->by.d * k);
  return out;
}
