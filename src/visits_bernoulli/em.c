#include "visits_bernoulli/em.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/simplex.h"

/* Expected numbers of visits to present and absent cells, and of those that missed or added. */
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
  double *row, *expected; /* k: a row's memberships and its expected counts over them */
  double *p;              /* m: probabilities of presence */
} row_scratch;

struct ab_visit_work {
  ab_prior prior;
  const mc_host *host;
  num_strips rows;
  strip_sum strip[NUM_MAX_STRIP];
  row_scratch *scratch; /* one a thread */
  int passes;
  double objective;
};

#define BLOCK_ROWS 16

static int missed_rows(const ab_visit_data *data, ab_missed_by by) {
  return by == MISSED_BY_OBSERVATION ? data->n : by == MISSED_BY_ATTRIBUTE ? data->m : 1;
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
    work->scratch[t].p = mc_doubles(host, data->m, 1);
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

/*
 * P(visits | present) and P(visits | absent), of one cell and over exp(log_scale); 0 for a state that
 * has no chance before the visits.
 */
typedef struct {
  double present, absent, log_scale;
  int made; /* visits that there were */
} cell_odds;

/* Hundreds of visits may be less likely than the least number: the scale is what they have in common. */
static cell_odds cell_likelihood(const visit *w, int i, int j, double p, double absence) {
  const ab_visit_data *data = w->data;
  const int rows = missed_rows(data, w->par->missed_by), at = missed_row(w, i, j);
  cell_odds odds = {p > 0, absence > 0, 0, 0};
  for (int v = 0; v < data->n_visit; v++) {
    const int x = data->cell[num_at(i, j, data->n) + (ptrdiff_t) v * data->n * data->m];
    if (x < 0) continue;
    const double missed = w->par->missed[num_at(at, v, rows)], added = w->par->added[v];
    odds.made++;
    odds.present *= x ? 1 - missed : missed;
    odds.absent *= x ? added : 1 - added;
    const double most = fmax(odds.present, odds.absent);
    if (most >= NUM_TINY || most <= 0) continue;
    odds.present /= most;
    odds.absent /= most;
    odds.log_scale += log(most);
  }
  return odds;
}

/* Adds a cell whose posterior of a presence is tau to the expected numbers of visits. */
static void count_visits(const visit *w, int i, int j, double tau, visit_counts *counts) {
  const ab_visit_data *data = w->data;
  const int rows = missed_rows(data, w->par->missed_by), at = missed_row(w, i, j);
  for (int v = 0; v < data->n_visit; v++) {
    const int x = data->cell[num_at(i, j, data->n) + (ptrdiff_t) v * data->n * data->m];
    if (x < 0) continue;
    counts->present[num_at(at, v, rows)] += tau;
    counts->absent[v] += 1 - tau;
    if (x)
      counts->added[v] += 1 - tau;
    else
      counts->missed[num_at(at, v, rows)] += tau;
  }
}

/* E-step of a row; returns its number of visited cells. */
static int expect_row(const visit *w, int i, row_scratch *s, strip_sum *sum) {
  const int n = w->data->n, m = w->data->m, k = w->par->ab.k;
  int visited = 0;
  for (int c = 0; c < k; c++) {
    s->row[c] = w->par->ab.membership[num_at(i, c, n)];
    s->expected[c] = 0;
  }
  for (int j = 0; j < m; j++) {
    const double *aspect = w->par->ab.aspects + num_at(0, j, k);
    double p = 0, absence = 0;
    for (int c = 0; c < k; c++) {
      p += s->row[c] * aspect[c];
      absence += s->row[c] * (1 - aspect[c]);
    }
    const cell_odds odds = cell_likelihood(w, i, j, p, absence);
    const double total = odds.made ? p * odds.present + absence * odds.absent : 1;
    const double tau = odds.made ? p * odds.present / total : p;
    if (w->posterior) w->posterior[num_at(i, j, n)] = tau;
    if (!odds.made) continue;
    visited++;
    sum->loglik += log(total) + odds.log_scale;
    if (!w->update) continue;
    const double one = odds.present / total, zero = odds.absent / total;
    for (int c = 0; c < k; c++) {
      s->expected[c] += one * aspect[c] + zero * (1 - aspect[c]);
      sum->one[num_at(c, j, k)] += s->row[c] * one;
      sum->zero[num_at(c, j, k)] += s->row[c] * zero;
    }
    count_visits(w, i, j, tau, &sum->counts);
  }
  return visited;
}

static void do_block(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  const int n = w->data->n, k = w->par->ab.k;
  const double *pseudo = w->work->prior.membership;
  row_scratch *s = w->work->scratch + thread;
  for (int i = first; i < first + b; i++) {
    const int visited = expect_row(w, i, s, w->work->strip + strip);
    const double total = visited + w->work->prior.row;
    if (!w->update || total <= 0) continue;
    for (int c = 0; c < k; c++)
      w->par->ab.membership[num_at(i, c, n)] =
          num_lift((s->row[c] * s->expected[c] + pseudo[c]) / total);
  }
}

static void add_to(double *sum, const double *part, ptrdiff_t length) {
  for (ptrdiff_t i = 0; i < length; i++) sum[i] += part[i];
}

/* Visits all rows and gathers the strips' sums in strip 0, in order; false: stopped. */
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
  if (!mc_visit(work->host, work->passes, work->objective, &work->rows, do_block, w)) return false;
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

static double log_prior(const ab_visit_data *data, const ab_param *par, const ab_visit_work *work) {
  return ab_log_prior(&work->prior, par->pinned, data->n, data->m, par->membership, par->aspects);
}

double ab_visits_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work) {
  visit w = {data, par, work, true, NULL};
  const double prior = log_prior(data, &par->ab, work);
  if (!do_rows(&w)) return NAN;
  ab_update_aspects(data->m, &par->ab, &work->prior, work->strip[0].one, work->strip[0].zero);
  update_rates(&w);
  work->passes++;
  return work->objective = work->strip[0].loglik + prior;
}

double ab_visits_objective(const ab_visit_data *data, ab_visit_param *par, ab_visit_work *work) {
  visit w = {data, par, work, false, NULL};
  const double prior = log_prior(data, &par->ab, work);
  return do_rows(&w) ? work->strip[0].loglik + prior : NAN;
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
  num_guard_simplex(s->par->ab.membership, safe[0], data->n, s->par->ab.k);
  num_guard_unit(s->par->ab.aspects, safe[1], (ptrdiff_t) s->par->ab.k * data->m);
  num_guard_unit(s->par->missed, safe[2], rates);
  num_guard_unit(s->par->added, safe[3], data->n_visit);
}

mc_model ab_visits_model(ab_visit_self *self) {
  const ab_visit_data *data = self->data;
  mc_model model = {.n_block = 4,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = model_feasible,
                    .self = self};
  double *block[] = {self->par->ab.membership, self->par->ab.aspects, self->par->missed,
                     self->par->added};
  const ptrdiff_t length[] = {
      (ptrdiff_t) data->n * self->par->ab.k, (ptrdiff_t) self->par->ab.k * data->m,
      (ptrdiff_t) missed_rows(data, self->par->missed_by) * data->n_visit, data->n_visit};
  for (int b = 0; b < model.n_block; b++) {
    model.block[b] = block[b];
    model.length[b] = length[b];
  }
  return model;
}
