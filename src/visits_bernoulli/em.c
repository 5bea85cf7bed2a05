#include "visits_bernoulli/private.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/blocks.h"
#include "num/linalg.h"
#include "num/logistic.h"
#include "num/simplex.h"
#include "num/vector.h"

/* Expected numbers of visits to present and to absent cells, and of misses and additions among them. */
typedef struct {
  double *present, *missed; /* as ab_visit_param's missed */
  double *absent, *added;   /* n_visit */
} visit_counts;

/* Sums over the rows of a strip (num/blocks.h). */
typedef struct {
  double *one, *zero; /* k x m, as ab_update_aspects() takes them */
  visit_counts counts;
  double loglik;
} strip_sum;

typedef struct {
  double *row, *expected; /* k: a row's memberships, and its expected counts divided by them */
  double *missed;         /* n_visit x m, if missed_by a model: a row's probabilities of a miss */
} row_scratch;

/* Newton steps of the slopes of a block of b attributes, and a panel of their records. */
typedef struct {
  double *gradient;      /* d x b; then the steps */
  double *hessian;       /* d (d + 1) / 2 x b, upper triangles by columns */
  double *score, *curve; /* panel x b: first and minus the second derivatives of log P(record) */
} slope_scratch;

struct ab_visit_work {
  ab_prior prior;
  const mc_host *host;
  num_strips rows;
  strip_sum strip[NUM_MAX_STRIP];
  row_scratch *scratch; /* one per thread */
  num_strips columns;   /* if missed_by a model */
  slope_scratch *slope; /* one per thread */
  double *design;       /* the model's design, 0 without a visit */
  double *squares;      /* d (d + 1) / 2 x n x n_visit: products of pairs of its terms */
  double *tau;          /* n x m: posterior probabilities of a presence */
  double *counts;       /* n x k, with covariates of memberships: expected cells per component */
  double *climb;
  int iterations;
  double objective;
};

#define BLOCK_ROWS 16
#define BLOCK_COLUMNS 16
#define PANEL 512 /* observations of a visit per panel, whose data stay in the cache */

static int missed_rows(const ab_visit_data *data, ab_missed_by by) {
  const int rows[] = {data->n, data->m, 1, 0};
  return rows[by];
}

/* Copies the design with 0 for undefined values: it may hold NaN without a visit, which would spoil
 * products. */
static void copy_design(const ab_visit_data *data, const ab_detection *by, ab_visit_work *work) {
  const ptrdiff_t size = by->d * num_at(0, data->n_visit, data->n);
  for (ptrdiff_t e = 0; e < size; e++)
    work->design[e] = isfinite(by->design[e]) ? by->design[e] : 0;
  num_pair_products(by->d, num_at(0, data->n_visit, data->n), work->design, work->squares);
}

static void new_slope_work(const ab_visit_data *data, const ab_visit_param *par, int n_threads,
                           ab_visit_work *work) {
  const size_t d = (size_t) par->detection.d, records = (size_t) data->n * (size_t) data->n_visit;
  const size_t pairs = (size_t) num_pairs(par->detection.d),
               panel = data->n < PANEL ? data->n : PANEL;
  const mc_host *host = work->host;
  work->columns = num_new_strips(data->m, BLOCK_COLUMNS, n_threads);
  work->tau = mc_doubles(host, data->n, data->m);
  work->design = mc_doubles(host, d, records);
  work->squares = mc_doubles(host, pairs, records);
  copy_design(data, &par->detection, work);
  work->slope = host->alloc(host->ctx, (size_t) work->columns.n_threads, sizeof *work->slope);
  for (int t = 0; t < work->columns.n_threads; t++) {
    work->slope[t].gradient = mc_doubles(host, d, BLOCK_COLUMNS);
    work->slope[t].hessian = mc_doubles(host, pairs, BLOCK_COLUMNS);
    work->slope[t].score = mc_doubles(host, panel, BLOCK_COLUMNS);
    work->slope[t].curve = mc_doubles(host, panel, BLOCK_COLUMNS);
  }
}

ab_visit_work *ab_visits_new_work(const ab_visit_data *data, const ab_visit_param *par,
                                  const ab_prior *prior, int n_threads, const mc_host *host) {
  const int k = par->ab.k, rows = missed_rows(data, par->missed_by);
  ab_visit_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->host = host;
  work->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  for (int s = 0; s < work->rows.n_strip; s++) {
    strip_sum *sum = work->strip + s;
    sum->one = mc_doubles(host, k, data->m);
    sum->zero = mc_doubles(host, k, data->m);
    sum->counts.present = mc_doubles(host, rows, data->n_visit);
    sum->counts.missed = mc_doubles(host, rows, data->n_visit);
    sum->counts.absent = mc_doubles(host, 1, data->n_visit);
    sum->counts.added = mc_doubles(host, 1, data->n_visit);
  }
  work->scratch = host->alloc(host->ctx, (size_t) work->rows.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->rows.n_threads; t++) {
    work->scratch[t].row = mc_doubles(host, k, 1);
    work->scratch[t].expected = mc_doubles(host, k, 1);
    if (par->missed_by == MISSED_BY_MODEL)
      work->scratch[t].missed = mc_doubles(host, data->n_visit, data->m);
  }
  if (par->missed_by == MISSED_BY_MODEL) new_slope_work(data, par, n_threads, work);
  if (par->by.d > 0) {
    work->counts = mc_doubles(host, data->n, k);
    work->climb = mc_doubles(host, num_multinomial_work(par->by.d, k), 1);
  }
  return work;
}

typedef struct {
  const ab_visit_data *data;
  ab_visit_param *par;
  ab_visit_work *work;
  bool update;       /* update memberships and gather sums */
  double *posterior; /* n x m, or NULL */
} visit;

static int missed_row(const visit *w, int i, int j) {
  switch (w->par->missed_by) {
    case MISSED_BY_OBSERVATION: return i;
    case MISSED_BY_ATTRIBUTE: return j;
    default: return 0;
  }
}

/* A visit's probability of missing a presence; with a model, as computed by missed_of_row(). */
static double missed_of(const visit *w, const row_scratch *s, int i, int j, int v) {
  const ab_visit_data *data = w->data;
  if (w->par->missed_by == MISSED_BY_MODEL) return s->missed[num_at(v, j, data->n_visit)];
  return w->par->missed[num_at(missed_row(w, i, j), v, missed_rows(data, w->par->missed_by))];
}

static void missed_of_row(const visit *w, int i, row_scratch *s) {
  const ab_visit_data *data = w->data;
  const ab_detection *by = &w->par->detection;
  for (int j = 0; j < data->m; j++)
    for (int v = 0; v < data->n_visit; v++)
      s->missed[num_at(v, j, data->n_visit)] = -num_dot(
          w->work->design + by->d * num_at(i, v, data->n), by->slopes + num_at(0, j, by->d), by->d);
  num_logistic(s->missed, num_at(0, data->m, data->n_visit));
}

/*
 * P(visits | present) and P(visits | absent) of one cell, divided by exp(log_scale); 0 for a state
 * that is impossible before the visits.
 */
typedef struct {
  double present, absent, log_scale;
  int made; /* number of visits */
} cell_odds;

/* The likelihoods of hundreds of visits may underflow, and separately for each state: a run of
 * misses before the first detection makes absence more likely until the detection excludes it. */
static cell_odds cell_likelihood(const visit *w, const row_scratch *s, int i, int j, double p,
                                 double absence) {
  const ab_visit_data *data = w->data;
  num_log_product present = {0, p > 0}, absent = {0, absence > 0};
  int made = 0;
  for (int v = 0; v < data->n_visit; v++) {
    const int x = record(data, i, j, v);
    if (x < 0) continue;
    const double missed = missed_of(w, s, i, j, v), added = w->par->added[v];
    made++;
    num_times(&present, x ? 1 - missed : missed);
    num_times(&absent, x ? added : 1 - added);
  }
  double scale = fmax(present.log, absent.log);
  if (isinf(scale)) scale = 0; /* both states are impossible */
  return (cell_odds){exp(present.log - scale) * present.product,
                     exp(absent.log - scale) * absent.product, scale, made};
}

/* Adds a cell with posterior probability tau of a presence to the expected numbers of visits. */
static void count_visits(const visit *w, int i, int j, double tau, visit_counts *counts) {
  const ab_visit_data *data = w->data;
  const int rows = missed_rows(data, w->par->missed_by), at = missed_row(w, i, j);
  for (int v = 0; v < data->n_visit; v++) {
    const int x = record(data, i, j, v);
    if (x < 0) continue;
    counts->absent[v] += 1 - tau;
    if (x) counts->added[v] += 1 - tau;
    if (rows == 0) continue;
    counts->present[num_at(at, v, rows)] += tau;
    if (!x) counts->missed[num_at(at, v, rows)] += tau;
  }
}

/* E-step of a row; returns its number of visited cells. */
static int expect_row(const visit *w, int i, row_scratch *s, strip_sum *sum) {
  const int n = w->data->n, m = w->data->m, k = w->par->ab.k;
  num_log_product likelihood = {0, 1};
  int visited = 0;
  for (int c = 0; c < k; c++) {
    s->row[c] = w->par->ab.membership[num_at(i, c, n)];
    s->expected[c] = 0;
  }
  if (w->par->missed_by == MISSED_BY_MODEL) missed_of_row(w, i, s);
  for (int j = 0; j < m; j++) {
    const double *aspect = w->par->ab.aspects + num_at(0, j, k);
    double p = 0, absence = 0;
    for (int c = 0; c < k; c++) {
      p += s->row[c] * aspect[c];
      absence += s->row[c] * (1 - aspect[c]);
    }
    const cell_odds odds = cell_likelihood(w, s, i, j, p, absence);
    const double total = odds.made ? p * odds.present + absence * odds.absent : 1;
    const double tau = odds.made ? p * odds.present / total : p;
    if (w->posterior) w->posterior[num_at(i, j, n)] = tau;
    if (w->work->tau) w->work->tau[num_at(i, j, n)] = tau;
    if (!odds.made) continue;
    visited++;
    num_times(&likelihood, total);
    sum->loglik += odds.log_scale;
    if (!w->update) continue;
    const double one = odds.present / total, zero = odds.absent / total;
    for (int c = 0; c < k; c++) {
      s->expected[c] += one * aspect[c] + zero * (1 - aspect[c]);
      sum->one[num_at(c, j, k)] += s->row[c] * one;
      sum->zero[num_at(c, j, k)] += s->row[c] * zero;
    }
    count_visits(w, i, j, tau, &sum->counts);
  }
  sum->loglik += num_log_of(&likelihood);
  return visited;
}

/* Updates row i's memberships from its expected counts; with covariates only stores the counts. */
static void update_membership(const visit *w, int i, int visited, const row_scratch *s) {
  const int n = w->data->n, k = w->par->ab.k;
  const double *pseudo = w->work->prior.membership;
  const double total = visited + w->work->prior.row;
  double *membership = w->par->ab.membership;
  if (w->par->by.d > 0) {
    for (int c = 0; c < k; c++) w->work->counts[num_at(i, c, n)] = s->row[c] * s->expected[c];
    return;
  }
  if (w->par->ab.smooth) {
    mc_smooth_update(w->par->ab.smooth, i, total, pseudo, s->row, s->expected);
    for (int c = 0; c < k; c++) membership[num_at(i, c, n)] = s->row[c];
    return;
  }
  if (total <= 0) return;
  for (int c = 0; c < k; c++)
    membership[num_at(i, c, n)] = num_lift((s->row[c] * s->expected[c] + pseudo[c]) / total);
}

static void do_block(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  row_scratch *s = w->work->scratch + thread;
  for (int i = first; i < first + b; i++) {
    const int visited = expect_row(w, i, s, w->work->strip + strip);
    if (w->update) update_membership(w, i, visited, s);
  }
}

static void add_to(double *sum, const double *part, ptrdiff_t length) {
  for (ptrdiff_t i = 0; i < length; i++) sum[i] += part[i];
}

/* Makes the E-step of all rows and adds up the strips' sums in strip 0, in order; false: stopped. */
static bool do_rows(visit *w) {
  ab_visit_work *work = w->work;
  const ptrdiff_t size = (ptrdiff_t) w->par->ab.k * w->data->m, visits = w->data->n_visit;
  const ptrdiff_t rates = missed_rows(w->data, w->par->missed_by) * visits;
  strip_sum *sum = work->strip;
  for (int s = 0; s < work->rows.n_strip; s++) {
    sum[s].loglik = 0;
    memset(sum[s].one, 0, (size_t) size * sizeof(double));
    memset(sum[s].zero, 0, (size_t) size * sizeof(double));
    memset(sum[s].counts.present, 0, (size_t) rates * sizeof(double));
    memset(sum[s].counts.missed, 0, (size_t) rates * sizeof(double));
    memset(sum[s].counts.absent, 0, (size_t) visits * sizeof(double));
    memset(sum[s].counts.added, 0, (size_t) visits * sizeof(double));
  }
  if (!mc_scan(work->host, work->iterations, work->objective, &work->rows, do_block, w))
    return false;
  for (int s = 1; s < work->rows.n_strip; s++) {
    sum->loglik += sum[s].loglik;
    add_to(sum->one, sum[s].one, size);
    add_to(sum->zero, sum[s].zero, size);
    add_to(sum->counts.present, sum[s].counts.present, rates);
    add_to(sum->counts.missed, sum[s].counts.missed, rates);
    add_to(sum->counts.absent, sum[s].counts.absent, visits);
    add_to(sum->counts.added, sum[s].counts.added, visits);
  }
  return true;
}

static void update_rates(visit *w) {
  const visit_counts *counts = &w->work->strip[0].counts;
  const int rows = missed_rows(w->data, w->par->missed_by);
  for (ptrdiff_t i = 0; i < (ptrdiff_t) rows * w->data->n_visit; i++)
    if (counts->present[i] > 0)
      w->par->missed[i] = num_lift(counts->missed[i] / counts->present[i]);
  for (int v = 0; w->par->fit_added && v < w->data->n_visit; v++)
    if (counts->absent[v] > 0) w->par->added[v] = num_lift(counts->added[v] / counts->absent[v]);
}

double ab_visits_slope_prior(const ab_detection *by, int j, const double *slopes) {
  double sum = 0;
  for (int e = 0; e < by->d; e++) {
    const double off = slopes[e] - by->mean[num_at(e, j, by->d)];
    sum -= by->ridge[e] * off * off / 2;
  }
  return sum;
}

/* Observations from .. from + length - 1 of a visit. */
typedef struct {
  int v, from, length;
} panel_at;

/* Score and curve of tau log P(x | present) of each visit; 0 without a visit. */
static void differentiate_panel(const visit *w, int first, int b, const panel_at *at,
                                const slope_scratch *s) {
  const ab_visit_data *data = w->data;
  const ab_detection *by = &w->par->detection;
  const double *design = w->work->design + by->d * num_at(at->from, at->v, data->n);
  num_gemm(true, false, at->length, b, by->d, design, by->d, by->slopes + num_at(0, first, by->d),
           by->d, 0, s->score, at->length);
  num_logistic(s->score, num_at(0, b, at->length)); /* the probability of detecting a presence */
  for (int l = 0; l < b; l++)
    for (int i = 0; i < at->length; i++) {
      const ptrdiff_t e = num_at(i, l, at->length);
      const int x = record(data, at->from + i, first + l, at->v);
      const double tau = x < 0 ? 0 : w->work->tau[num_at(at->from + i, first + l, data->n)];
      const double found = s->score[e];
      s->score[e] = tau * (x - found);
      s->curve[e] = tau * found * (1 - found);
    }
}

/* Gradients, and minus the Hessians, of the M-step's objective for a block of attributes. */
static void differentiate(const visit *w, int first, int b, const slope_scratch *s) {
  const ab_visit_data *data = w->data;
  const ab_detection *by = &w->par->detection;
  const int d = by->d, pairs = num_pairs(d);
  memset(s->hessian, 0, (size_t) pairs * (size_t) b * sizeof(double));
  for (int l = 0; l < b; l++)
    for (int e = 0; e < d; e++) {
      const ptrdiff_t own = num_at(e, first + l, d);
      s->gradient[num_at(e, l, d)] = by->ridge[e] * (by->mean[own] - by->slopes[own]);
      s->hessian[num_at(num_pairs(e) + e, l, pairs)] = by->ridge[e];
    }
  for (panel_at at = {0}; at.v < data->n_visit; at.v++)
    for (at.from = 0; at.from < data->n; at.from += PANEL) {
      const ptrdiff_t r = num_at(at.from, at.v, data->n);
      at.length = data->n - at.from < PANEL ? data->n - at.from : PANEL;
      differentiate_panel(w, first, b, &at, s);
      num_gemm(false, false, d, b, at.length, w->work->design + d * r, d, s->score, at.length, 1,
               s->gradient, d);
      num_gemm(false, false, pairs, b, at.length, w->work->squares + pairs * r, pairs, s->curve,
               at.length, 1, s->hessian, pairs);
    }
}

/* Largest change that a step makes to the logit of an actual visit. */
static double reach_of(const visit *w, int j, const double *step) {
  const ab_visit_data *data = w->data;
  const int d = w->par->detection.d;
  double most = 0;
  for (int v = 0; v < data->n_visit; v++)
    for (int i = 0; i < data->n; i++) {
      const double move = fabs(num_dot(w->work->design + d * num_at(i, v, data->n), step, d));
      if (move > most && record(data, i, j, v) >= 0) most = move;
    }
  return most;
}

/*
 * Length of a Newton step. If it changes logits by at most M, a sum of log-logistic functions gains
 * at least t g'd - d'H d (e^(tM) - tM - 1) / M^2 (Bach 2010, doi:10.1214/09-EJS521), with g'd = d'H
 * d: more than a quarter of g'd for t = 1 if M <= 1, and most at log(1 + M) / M. So no line search
 * is needed.
 */
static double step_length(double reach) { return reach <= 1 ? 1 : log1p(reach) / reach; }

static void do_columns(void *ctx, int strip, int thread, int first, int b) {
  (void) strip;
  const visit *w = ctx;
  const slope_scratch *s = w->work->slope + thread;
  const int d = w->par->detection.d;
  differentiate(w, first, b, s);
  for (int l = 0; l < b; l++) {
    double *step = s->gradient + num_at(0, l, d);
    if (!num_solve_packed(s->hessian + num_at(0, l, num_pairs(d)), step, d)) continue;
    const double reach = reach_of(w, first + l, step);
    num_add_scaled(w->par->detection.slopes + num_at(0, first + l, d), step_length(reach), step, d);
  }
}

void ab_visits_follow(const ab_visit_data *data, ab_visit_param *par) {
  if (par->by.d > 0) num_multinomial_share(&par->by, data->n, par->ab.k, par->ab.membership);
}

/* Terms of the objective besides the log-likelihood; also computes the pulls of neighbours. */
static double beside_loglik(const ab_visit_data *data, ab_visit_param *par,
                            const ab_visit_work *work, bool want_pull) {
  const ab_param *ab = &par->ab;
  ab_visits_follow(data, par);
  double sum = ab_log_prior(&work->prior, ab->fixed, data->n, data->m, ab->membership, ab->aspects);
  if (ab->smooth) sum += mc_smooth_pull(ab->smooth, ab->membership, want_pull);
  if (par->by.d > 0) sum += num_multinomial_log_prior(&par->by, ab->k);
  for (int j = 0; par->missed_by == MISSED_BY_MODEL && j < data->m; j++)
    sum += ab_visits_slope_prior(&par->detection, j,
                                 par->detection.slopes + num_at(0, j, par->detection.d));
  return sum;
}

const ab_prior *ab_visits_prior(const ab_visit_work *work) { return &work->prior; }

const double *ab_visits_design(const ab_visit_work *work) { return work->design; }

const double *ab_visits_squares(const ab_visit_work *work) { return work->squares; }

double *ab_visits_tau(const ab_visit_work *work) { return work->tau; }

double ab_visits_beside(const ab_visit_data *data, ab_visit_param *par, const ab_visit_work *work) {
  return beside_loglik(data, par, work, false);
}

void ab_visits_climb_slopes(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                            int thread, int j) {
  visit w = {data, par, work, true, NULL};
  do_columns(&w, 0, thread, j, 1);
}

/* Updates all parameters except memberships; false: stopped. */
static bool update_columns(visit *w) {
  ab_visit_param *par = w->par;
  ab_visit_work *work = w->work;
  ab_update_aspects(w->data->m, &par->ab, &work->prior, work->strip[0].one, work->strip[0].zero);
  update_rates(w);
  if (par->by.d > 0)
    num_multinomial_climb(&par->by, w->data->n, par->ab.k, work->counts, work->climb);
  return par->missed_by != MISSED_BY_MODEL ||
         mc_scan(work->host, work->iterations, work->objective, &work->columns, do_columns, w);
}

double ab_visits_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work) {
  visit w = {data, par, work, true, NULL};
  const double beside = beside_loglik(data, par, work, true);
  if (!do_rows(&w)) return NAN;
  if (!par->ab.fixed_aspects && !update_columns(&w)) return NAN;
  work->iterations++;
  return work->objective = work->strip[0].loglik + beside;
}

double ab_visits_objective(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work) {
  visit w = {data, par, work, false, NULL};
  const double beside = beside_loglik(data, par, work, false);
  return do_rows(&w) ? work->strip[0].loglik + beside : NAN;
}

void ab_visits_posterior(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work,
                         double *posterior) {
  visit w = {data, par, work, false, NULL};
  w.posterior = posterior;
  do_rows(&w);
}

static double model_pass(void *self) {
  const ab_visit_self *s = self;
  return ab_visits_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const ab_visit_self *s = self;
  return ab_visits_objective(s->data, s->par, s->work);
}

static void model_feasible(void *self, const double *const *safe) {
  const ab_visit_self *s = self;
  const ab_visit_data *data = s->data;
  const ptrdiff_t rates = (ptrdiff_t) missed_rows(data, s->par->missed_by) * data->n_visit;
  if (s->par->by.d == 0) num_guard_simplex(s->par->ab.membership, safe[0], data->n, s->par->ab.k);
  num_guard_unit(s->par->ab.aspects, safe[1], (ptrdiff_t) s->par->ab.k * data->m);
  if (rates > 0) num_guard_unit(s->par->missed, safe[2], rates);
  num_guard_unit(s->par->added, safe[3], data->n_visit);
}

mc_model ab_visits_model(ab_visit_self *self) {
  const ab_visit_data *data = self->data;
  mc_model model = {.n_block = 4,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  const ab_visit_param *par = self->par;
  const bool by_model = par->missed_by == MISSED_BY_MODEL;
  const bool follows = par->by.d > 0;
  double *block[] = {follows ? par->by.effects : par->ab.membership, par->ab.aspects,
                     by_model ? par->detection.slopes : par->missed, par->added};
  const ptrdiff_t length[] = {
      (ptrdiff_t) (follows ? par->by.d : data->n) * par->ab.k, (ptrdiff_t) par->ab.k * data->m,
      by_model ? (ptrdiff_t) par->detection.d * data->m
               : (ptrdiff_t) missed_rows(data, par->missed_by) * data->n_visit,
      data->n_visit};
  for (int b = 0; b < model.n_block; b++) {
    model.block[b] = block[b];
    model.length[b] = length[b];
  }
  return model;
}
