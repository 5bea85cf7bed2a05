/* model_nor_sample.c: held-out log-likelihood by importance sampling, for any number of sources. */
#include "model_nor_row.h"
#include "num_rows.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 16

typedef struct {
  nor_row row;
  double *one, *zero; /* m */
  double *log;        /* n_draw */
  uint64_t *state;
} scratch;

typedef struct {
  const mc_data *data;
  const double *proposal;
  nor_ready ready;
  int k, n_draw;
  uint64_t seed;
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

static void sample_row(sampler *work, int i, scratch *s) {
  const int n = work->data->n, n_draw = work->n_draw;
  uint64_t stream = work->seed + (uint64_t) i * UINT64_C(0xd1342543de82ef95);
  double squares = 0;
  nor_take_row(&work->ready, i, &s->row);
  for (int d = 0; d < n_draw; d++) {
    double log_proposal = 0;
    memset(s->state, 0, (size_t) nor_words(work->k) * sizeof(uint64_t));
    for (int c = 0; c < work->k; c++) {
      const double p = work->proposal[num_at(i, c, n)];
      const bool on = uniform(&stream) < p;
      if (on) nor_flip(s->state, c);
      log_proposal += on ? log(p) : log1p(-p);
    }
    s->log[d] = nor_state_log(&s->row, s->state, s->one, s->zero) - log_proposal;
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
                       const double *proposal, int n_draw, uint64_t seed, double *loglik,
                       double *effective) {
  const mc_host *host = set->host;
  const num_strips strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  sampler work = {data,      proposal, nor_new_ready(data, par, host), par->k, n_draw, seed, loglik,
                  effective, NULL};
  work.scratch = host->alloc(host->ctx, (size_t) strips.n_threads, sizeof *work.scratch);
  for (int t = 0; t < strips.n_threads; t++) {
    scratch *s = work.scratch + t;
    s->row = nor_new_row(&work.ready, host);
    s->one = host->alloc(host->ctx, (size_t) data->m, sizeof(double));
    s->zero = host->alloc(host->ctx, (size_t) data->m, sizeof(double));
    s->log = host->alloc(host->ctx, (size_t) n_draw, sizeof(double));
    s->state = host->alloc(host->ctx, (size_t) nor_words(par->k), sizeof(uint64_t));
  }
  nor_ready_rows(&work.ready);
  return num_visit(&strips, do_block, &work, host, 0, 0);
}
