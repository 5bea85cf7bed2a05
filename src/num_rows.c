#include "num_rows.h"

#include <stddef.h>

#include "num.h"

num_strips num_new_strips(int n, int block_rows, int n_threads) {
  const int n_block = (n + block_rows - 1) / block_rows;
  num_strips out = {.n = n, .block_rows = block_rows};
  out.n_strip = n_block < NUM_MAX_STRIP ? n_block : NUM_MAX_STRIP;
  if (n < 1) out.n_strip = 1;
  out.n_threads = num_threads(n_threads < out.n_strip ? n_threads : out.n_strip);
  return out;
}

typedef struct {
  const num_strips *strips;
  num_visitor visit;
  void *ctx;
  const mc_host *host;
  int pass;
  double objective;
  int stopped;
} walk;

static void visit_strip(walk *w, int strip) {
  const int n = w->strips->n, rows = w->strips->block_rows, n_block = (n + rows - 1) / rows;
  const int from = (int) ((ptrdiff_t) n_block * strip / w->strips->n_strip);
  const int to = (int) ((ptrdiff_t) n_block * (strip + 1) / w->strips->n_strip);
  for (int block = from; block < to; block++) {
    int stop;
    if (num_thread() == 0 && mc_stop(w->host, w->pass, w->objective)) {
#pragma omp atomic write
      w->stopped = 1;
    }
#pragma omp atomic read
    stop = w->stopped;
    if (stop) return;
    const int first = block * rows;
    w->visit(w->ctx, strip, num_thread(), first, n - first < rows ? n - first : rows);
  }
}

bool num_visit(const num_strips *strips, num_visitor visit, void *ctx, const mc_host *host,
               int pass, double objective) {
  walk w = {strips, visit, ctx, host, pass, objective, 0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(strips->n_threads)
  for (int s = 0; s < strips->n_strip; s++) visit_strip(&w, s);
  return !w.stopped;
}

void num_take_rows(const double *from, int n, int first, int b, int k, double *rows) {
  for (int c = 0; c < k; c++)
    for (int i = 0; i < b; i++) rows[num_at(c, i, k)] = from[num_at(first + i, c, n)];
}

void num_put_rows(const double *rows, int n, int first, int b, int k, double *to) {
  for (int c = 0; c < k; c++)
    for (int i = 0; i < b; i++) to[num_at(first + i, c, n)] = rows[num_at(c, i, k)];
}
