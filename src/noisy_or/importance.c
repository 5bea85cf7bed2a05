/*
 * noisy_or/importance.c: held-out log-likelihood by importance sampling, for any number of
 * sources.
 */
#include "noisy_or/row.h"
#include "num/blocks.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 16

typedef struct {
  bool *one, *missing; /* m: the row */
  double *on, *off;    /* m: P(1 | state), P(0 | state) */
  double *seen;        /* m: the probability of what is seen in each observed cell */
  double *log;         /* n_draw */
  uint64_t *state;
} scratch;

typedef struct {
  const mc_data *data;
  const nor_param *par;
  const nor_draws *draws;
  double *link; /* m x k: transposed */
  nor_ready ready;
  int k;
  double *loglik, *effective;
  scratch *scratch;
} sampler;

/* SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195); uniform on [0, 1). */
static double uniform(uint64_t *stream) {
  uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double) ((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void take_row(const mc_data *data, int i, scratch *s) {
  memset(s->one, 0, (size_t) data->m * sizeof(bool));
  memset(s->missing, 0, (size_t) data->m * sizeof(bool));
  for (int e = data->start[i]; e < data->start[i + 1]; e++) s->one[data->column[e]] = true;
  for (int e = 0; e < data_n_missing(data, i); e++)
    s->missing[data->na_column[data->na_start[i] + e]] = true;
}

/* log P(x, state), in which each observed cell has at least the probability floor. */
static double state_log(const sampler *work, scratch *s) {
  const int m = work->data->m;
  double sum = work->ready.prior_off;
  int n_seen = 0;
  for (int j = 0; j < m; j++) {
    s->on[j] = work->par->leak[j];
    s->off[j] = 1 - work->par->leak[j];
  }
  for (int c = 0; c < work->k; c++) {
    if (!nor_is_on(s->state, c)) continue;
    sum += work->ready.prior_odds[c];
    const double *link = work->link + num_at(0, c, m);
    for (int j = 0; j < m; j++) {
      s->on[j] += s->off[j] * link[j];
      s->off[j] *= 1 - link[j];
    }
  }
  for (int j = 0; j < m; j++)
    if (!s->missing[j])
      s->seen[n_seen++] = fmax(s->one[j] ? s->on[j] : s->off[j], work->draws->floor);
  return sum + nor_sum_log(s->seen, n_seen);
}

static void sample_row(sampler *work, int i, scratch *s) {
  const int n = work->data->n, n_draw = work->draws->n_draw;
  uint64_t stream = work->draws->seed + (uint64_t) i * UINT64_C(0xd1342543de82ef95);
  double squares = 0;
  take_row(work->data, i, s);
  for (int d = 0; d < n_draw; d++) {
    double log_proposal = 0;
    memset(s->state, 0, (size_t) nor_words(work->k) * sizeof(uint64_t));
    for (int c = 0; c < work->k; c++) {
      const double p = work->draws->proposal[num_at(i, c, n)];
      const bool on = uniform(&stream) < p;
      if (on) nor_flip(s->state, c);
      log_proposal += on ? log(p) : log1p(-p);
    }
    s->log[d] = state_log(work, s) - log_proposal;
  }
  const double sum = num_log_sum_exp(s->log, n_draw);
  for (int d = 0; d < n_draw && isfinite(sum); d++) squares += exp(2 * (s->log[d] - sum));
  work->loglik[i] = sum - log(n_draw);
  work->effective[i] = squares > 0 ? 1 / squares : 0;
}

static void do_block(void *self, int strip, int thread, int first, int b) {
  sampler *work = self;
  (void) strip;
  for (int i = first; i < first + b; i++) sample_row(work, i, work->scratch + thread);
}

bool nor_sample_loglik(const mc_data *data, nor_param *par, const nor_settings *set,
                       const nor_draws *draws, double *loglik, double *effective) {
  const mc_host *host = set->host;
  const num_strips strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  sampler work = {.data = data, .par = par, .draws = draws, .k = par->k};
  work.link = mc_doubles(host, data->m, par->k);
  for (int j = 0; j < data->m; j++)
    for (int c = 0; c < par->k; c++)
      work.link[num_at(j, c, data->m)] = par->links[num_at(c, j, par->k)];
  work.ready = nor_new_ready(data, par, set);
  work.loglik = loglik;
  work.effective = effective;
  work.scratch = host->alloc(host->ctx, (size_t) strips.n_threads, sizeof *work.scratch);
  for (int t = 0; t < strips.n_threads; t++) {
    scratch *s = work.scratch + t;
    s->one = host->alloc(host->ctx, (size_t) data->m, sizeof(bool));
    s->missing = host->alloc(host->ctx, (size_t) data->m, sizeof(bool));
    s->on = mc_doubles(host, data->m, 1);
    s->off = mc_doubles(host, data->m, 1);
    s->seen = mc_doubles(host, data->m, 1);
    s->log = host->alloc(host->ctx, (size_t) draws->n_draw, sizeof(double));
    s->state = host->alloc(host->ctx, (size_t) nor_words(par->k), sizeof(uint64_t));
  }
  nor_ready_rows(&work.ready);
  return mc_scan(host, 0, 0, &strips, do_block, &work);
}
