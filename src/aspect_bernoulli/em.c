#include "aspect_bernoulli/em.h"

#include <math.h>
#include <string.h>

#include "aspect_bernoulli/line.h"
#include "num/blas.h"
#include "num/blocks.h"
#include "num/simplex.h"
#include "num/vector.h"

/* Scratch of a block of b rows, transposed so that a row is contiguous. */
typedef struct {
  double *rows;   /* k x b: memberships */
  double *counts; /* k x b: expected cells of each component, divided by membership */
  double *ratio;  /* m x b: 1 / P(x = 0) at observed zeros, 0 elsewhere */
} block_scratch;

/* Sums over the row blocks of a strip (num/blocks.h). */
typedef struct {
  double *one;     /* k x m: sum over rows of membership / p at ones */
  double *zero;    /* k x m: sum over rows of membership / (1 - p) at observed zeros */
  double *moments; /* of aspect_bernoulli/line.h */
  double loglik;
  double gap, worst; /* of ab_certify() */
} strip_sum;

struct ab_work {
  ab_prior prior;
  const mc_host *host;
  num_strips rows;
  double *absence; /* k x m: 1 - aspects */
  strip_sum strip[NUM_MAX_STRIP];
  num_sums sums;          /* one, zero, moments */
  block_scratch *scratch; /* one a thread */
  ab_line line;
  bool by_line; /* zeros are not visited */
  int iterations;
  double objective; /* of the last iteration, for the host */
};

ab_work *ab_new_work(const mc_data *data, const ab_prior *prior, int n_threads,
                     const mc_host *host) {
  const int k = prior->k;
  ab_work *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->host = host;
  work->rows = num_new_strips(data->n, num_block_rows(data->n, data->m), n_threads);
  work->absence = mc_doubles(host, k, data->m);
  work->line = ab_new_line(k, data, host);
  work->sums.size = 2 * num_at(0, data->m, k) + ab_line_moments(k);
  for (int s = 0; s < work->rows.n_strip; s++) {
    work->sums.part[s] = work->strip[s].one = mc_doubles(host, work->sums.size, 1);
    work->strip[s].zero = work->strip[s].one + num_at(0, data->m, k);
    work->strip[s].moments = work->strip[s].zero + num_at(0, data->m, k);
  }
  work->scratch = host->alloc(host->ctx, (size_t) work->rows.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->rows.n_threads; t++) {
    const int b = work->rows.block_rows;
    work->scratch[t].rows = mc_doubles(host, k, b);
    work->scratch[t].counts = mc_doubles(host, k, b);
    work->scratch[t].ratio = mc_doubles(host, data->m, b);
  }
  return work;
}

typedef struct {
  const mc_data *data;
  const ab_param *par;
  ab_work *work;
  double *counts; /* of ab_expect(), n x k */
} scan;

/* Writes a value into a block's cells that are not observed zeros: ones and missing cells. */
static void mask(const mc_data *data, int first, int b, double value, double *block) {
  for (int i = 0; i < b; i++) {
    double *row = block + num_at(0, i, data->m);
    const int at = first + i;
    for (int e = data->start[at]; e < data->start[at + 1]; e++) row[data->column[e]] = value;
    if (data->na_start)
      for (int e = data->na_start[at]; e < data->na_start[at + 1]; e++)
        row[data->na_column[e]] = value;
  }
}

/*
 * (1 - x) / (1 - p) of a block, with 1 - p = membership (1 - aspects), as in eq. (17). Returns the
 * log-likelihood of its observed zeros, a by-product.
 */
static double zero_ratio(const scan *w, int first, int b, block_scratch *s) {
  const int k = w->par->k, m = w->data->m;
  num_gemm(true, false, m, b, k, w->work->absence, k, s->rows, k, 0, s->ratio, m);
  mask(w->data, first, b, 1, s->ratio);
  const double loglik = num_invert_sum_log(s->ratio, num_at(0, b, m));
  mask(w->data, first, b, 0, s->ratio);
  return loglik;
}

/*
 * Expected counts of a block over membership, the bracket of eq. (17): [x / p] aspects' + [(1 - x)
 * / (1 - p)] (1 - aspects)'. Returns the block's log-likelihood, a by-product.
 */
static double block_counts(const scan *w, int first, int b, block_scratch *s, bool want_counts) {
  const mc_data *data = w->data;
  const int k = w->par->k, m = data->m;
  if (w->work->by_line)
    return ab_line_counts(&w->work->line, data, w->par->aspects, first, b, s->rows, want_counts,
                          s->counts);
  double loglik = zero_ratio(w, first, b, s);
  if (want_counts)
    num_gemm(false, false, k, b, m, w->work->absence, k, s->ratio, m, 0, s->counts, k);
  for (int i = 0; i < b; i++) {
    const double *row = s->rows + num_at(0, i, k);
    double *counts = s->counts + num_at(0, i, k);
    num_log_product likelihood = {0, 1};
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++) {
      const double *aspect = w->par->aspects + num_at(0, data->column[e], k);
      const double p = num_dot(row, aspect, k);
      num_times(&likelihood, p);
      if (want_counts) num_add_scaled(counts, 1 / p, aspect, k);
    }
    loglik += num_log_of(&likelihood);
  }
  return loglik;
}

/* Eqs. (17), (8): membership times its expected counts over observed cells, plus pseudo-counts. */
static void update_rows(const scan *w, int first, int b, block_scratch *s) {
  const int k = w->par->k;
  const double *pseudo = w->work->prior.membership;
  for (int i = 0; i < b; i++) {
    const double total = data_n_observed(w->data, first + i) + w->work->prior.row;
    double *row = s->rows + num_at(0, i, k), *counts = s->counts + num_at(0, i, k);
    if (w->par->smooth) {
      mc_smooth_update(w->par->smooth, first + i, total, pseudo, row, counts);
      continue;
    }
    if (total <= 0) continue; /* nothing observed, no prior: the row is unchanged */
    for (int c = 0; c < k; c++) row[c] = num_lift((row[c] * counts[c] + pseudo[c]) / total);
  }
}

/* The sums of eqs. (19), (20) over a block with updated rows. */
static void add_aspect_sums(const scan *w, int first, int b, block_scratch *s, strip_sum *sum) {
  const mc_data *data = w->data;
  const int k = w->par->k, m = data->m;
  if (w->work->by_line) {
    ab_line_add_rows(data, k, w->par->aspects, first, b, s->rows, sum->moments, sum->one,
                     sum->zero);
    return;
  }
  zero_ratio(w, first, b, s);
  num_gemm(false, true, k, m, b, s->rows, k, s->ratio, m, 1, sum->zero, k);
  for (int i = 0; i < b; i++) {
    const double *row = s->rows + num_at(0, i, k);
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++) {
      const ptrdiff_t at = num_at(0, data->column[e], k);
      num_add_scaled(sum->one + at, 1 / num_dot(row, w->par->aspects + at, k), row, k);
    }
  }
}

/* Frank-Wolfe gap of each row: the best component's gradient minus the row's mean gradient. */
static void certify_rows(const scan *w, int first, int b, block_scratch *s, strip_sum *sum) {
  const int k = w->par->k;
  const double *pseudo = w->work->prior.membership;
  for (int i = 0; i < b; i++) {
    const double *row = s->rows + num_at(0, i, k);
    double *gradient = s->counts + num_at(0, i, k), most = 0;
    double total = data_n_observed(w->data, first + i) + w->work->prior.row;
    for (int c = 0; c < k; c++) gradient[c] += pseudo[c] > 0 ? pseudo[c] / row[c] : 0;
    if (w->par->smooth) total += mc_smooth_gradient(w->par->smooth, first + i, row, gradient);
    if (total <= 0) continue;
    for (int c = 0; c < k; c++) most = fmax(most, gradient[c]);
    sum->gap += most - total;
    sum->worst = fmax(sum->worst, most / total - 1);
  }
}

/*
 * Scanners of a block of b rows. Each begins with the E-step, eq. (12); e_step() returns its
 * log-likelihood.
 */
static double e_step(const scan *w, int thread, int first, int b, bool want_counts) {
  block_scratch *s = w->work->scratch + thread;
  num_take_rows(w->par->membership, w->data->n, first, b, w->par->k, s->rows);
  return block_counts(w, first, b, s, want_counts);
}

static void objective_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  w->work->strip[strip].loglik += e_step(w, thread, first, b, false);
}

/* Eqs. (17), (8). */
static void membership_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  block_scratch *s = w->work->scratch + thread;
  w->work->strip[strip].loglik += e_step(w, thread, first, b, true);
  update_rows(w, first, b, s);
  num_put_rows(s->rows, w->data->n, first, b, w->par->k, w->par->membership);
}

/* The sums of eqs. (19), (20) for fixed memberships. */
static void aspects_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  strip_sum *sum = w->work->strip + strip;
  sum->loglik += e_step(w, thread, first, b, false);
  add_aspect_sums(w, first, b, w->work->scratch + thread, sum);
}

/* Eqs. (17), (8), then the sums of eqs. (19), (20) at the new rows. */
static void both_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  membership_block(ctx, strip, thread, first, b);
  add_aspect_sums(w, first, b, w->work->scratch + thread, w->work->strip + strip);
}

static void expect_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  block_scratch *s = w->work->scratch + thread;
  strip_sum *sum = w->work->strip + strip;
  sum->loglik += e_step(w, thread, first, b, true);
  for (ptrdiff_t e = 0; e < (ptrdiff_t) w->par->k * b; e++) s->counts[e] *= s->rows[e];
  num_put_rows(s->counts, w->data->n, first, b, w->par->k, w->counts);
  add_aspect_sums(w, first, b, s, sum);
}

static void certify_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  block_scratch *s = w->work->scratch + thread;
  strip_sum *sum = w->work->strip + strip;
  sum->loglik += e_step(w, thread, first, b, true);
  certify_rows(w, first, b, s, sum);
  add_aspect_sums(w, first, b, s, sum);
}

/* Scans all rows and adds up the strips' sums in strip 0, in order; false: stopped. */
static bool scan_rows(const mc_data *data, const ab_param *par, ab_work *work, num_scanner scanner,
                      double *counts) {
  scan w = {.data = data, .par = par, .work = work};
  w.counts = counts; /* of ab_expect(): the scanner writes there */
  const ptrdiff_t size = (ptrdiff_t) par->k * data->m;
  strip_sum *sum = work->strip;
  for (ptrdiff_t i = 0; i < size; i++)
    work->absence[i] = par->absence ? par->absence[i] : 1 - par->aspects[i];
  if (work->by_line) ab_line_columns(&work->line, data->m, par->aspects);
  for (int s = 0; s < work->rows.n_strip; s++) {
    sum[s].loglik = sum[s].gap = 0;
    sum[s].worst = 0;
  }
  if (!mc_scan_sums(work->host, work->iterations, work->objective, &work->rows, scanner, &w,
                    &work->sums))
    return false;
  for (int s = 1; s < work->rows.n_strip; s++) {
    sum->loglik += sum[s].loglik;
    sum->gap += sum[s].gap;
    sum->worst = fmax(sum->worst, sum[s].worst);
  }
  if (work->by_line) ab_line_add_all(&work->line, data->m, par->aspects, sum->moments, sum->zero);
  return true;
}

void ab_update_aspects(int m, ab_param *par, const ab_prior *prior, const double *one,
                       const double *zero) {
  for (int j = 0; j < m; j++) {
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(c, j, par->k);
      double *aspect = par->aspects + at;
      if (par->fixed && par->fixed[c]) continue;
      const double ones = *aspect * one[at] + prior->one[c];
      const double zeros = (1 - *aspect) * zero[at] + prior->zero[c];
      if (ones + zeros > 0) *aspect = num_lift(ones / (ones + zeros));
    }
  }
}

/* Terms of the objective besides the log-likelihood; also computes the pulls of neighbours. */
static double beside_loglik(const mc_data *data, const ab_param *par, const ab_prior *prior,
                            bool want_pull) {
  const double pull = par->smooth ? mc_smooth_pull(par->smooth, par->membership, want_pull) : 0;
  return pull + ab_log_prior(prior, par->fixed, data->n, data->m, par->membership, par->aspects);
}

/* Updates memberships and computes the sums for the aspects; false: stopped. */
static bool update_membership(const mc_data *data, ab_param *par, ab_work *work) {
  num_scanner scanner = both_block;
  if (par->fixed_aspects) scanner = membership_block;
  if (par->fixed_membership) scanner = aspects_block;
  return scan_rows(data, par, work, scanner, NULL);
}

static void update_aspects(const mc_data *data, ab_param *par, const ab_work *work) {
  if (par->fixed_aspects) return;
  ab_update_aspects(data->m, par, &work->prior, work->strip[0].one, work->strip[0].zero);
}

double ab_pass(const mc_data *data, ab_param *par, ab_work *work) {
  const double beside = beside_loglik(data, par, &work->prior, true);
  if (!update_membership(data, par, work)) return NAN; /* eqs. (17), (8) */
  update_aspects(data, par, work);                     /* eqs. (19)-(21) */
  work->iterations++;
  return work->objective = work->strip[0].loglik + beside;
}

double ab_em_rows(const mc_data *data, ab_param *par, ab_work *work, const double **one,
                  const double **zero) {
  *one = work->strip[0].one;
  *zero = work->strip[0].zero;
  return update_membership(data, par, work) ? work->strip[0].loglik : NAN;
}

const ab_prior *ab_work_prior(const ab_work *work) { return &work->prior; }

void ab_take_line(ab_work *work, bool by_line) { work->by_line = by_line; }

const double *ab_line_caps(const ab_work *work) { return work->by_line ? work->line.caps : NULL; }

void ab_note_iterations(ab_work *work, int iterations, double objective) {
  work->iterations = iterations;
  work->objective = objective;
}

double ab_loglik(const mc_data *data, const ab_param *par, ab_work *work) {
  return scan_rows(data, par, work, objective_block, NULL) ? work->strip[0].loglik : NAN;
}

double ab_objective(const mc_data *data, const ab_param *par, ab_work *work) {
  return beside_loglik(data, par, &work->prior, false) + ab_loglik(data, par, work);
}

double ab_expect(const mc_data *data, ab_param *par, ab_work *work, double *counts,
                 const double **one, const double **zero) {
  *one = work->strip[0].one;
  *zero = work->strip[0].zero;
  return scan_rows(data, par, work, expect_block, counts) ? work->strip[0].loglik : NAN;
}

ab_certificate ab_certify(const mc_data *data, const ab_param *par, ab_work *work) {
  const strip_sum *sum = work->strip;
  ab_certificate out = {NAN, 0, NAN};
  if (par->smooth) mc_smooth_pull(par->smooth, par->membership, true);
  if (!scan_rows(data, par, work, certify_block, NULL)) return out;
  out.membership = sum->gap;
  out.worst = sum->worst;
  for (int j = 0; j < data->m && !par->fixed_aspects; j++) {
    for (int c = 0; c < par->k; c++) {
      const ptrdiff_t at = num_at(c, j, par->k);
      const double aspect = par->aspects[at], absence = work->absence[at];
      if (par->fixed && par->fixed[c]) continue;
      double gradient = sum->one[at] - sum->zero[at];
      if (work->prior.one[c] > 0) gradient += work->prior.one[c] / aspect;
      if (work->prior.zero[c] > 0) gradient -= work->prior.zero[c] / absence;
      out.aspects += fmax(gradient * absence, -gradient * aspect);
    }
  }
  return out;
}

static double model_pass(void *self) {
  const ab_self *s = self;
  return ab_pass(s->data, s->par, s->work);
}

static double model_objective(void *self) {
  const ab_self *s = self;
  return ab_objective(s->data, s->par, s->work);
}

void ab_feasible(void *self, const double *const *safe) {
  const ab_self *s = self;
  num_guard_simplex(s->par->membership, safe[0], s->data->n, s->par->k);
  if (!s->par->fixed_aspects)
    num_guard_unit(s->par->aspects, safe[1], (ptrdiff_t) s->par->k * s->data->m);
}

static bool model_next(void *self, bool last) {
  const ab_self *s = self;
  (void) last;
  const bool by_line = s->work->by_line;
  ab_take_line(s->work, false);
  return by_line;
}

mc_model ab_model(ab_self *self) {
  mc_model model = {.n_block = self->par->fixed_aspects ? 1 : 2,
                    .pass = model_pass,
                    .objective = model_objective,
                    .feasible = ab_feasible,
                    .self = self};
  if (self->work->by_line) model.next = model_next;
  model.block[0] = self->par->membership;
  model.length[0] = (ptrdiff_t) self->data->n * self->par->k;
  model.block[1] = self->par->aspects;
  model.length[1] = (ptrdiff_t) self->par->k * self->data->m;
  return model;
}
