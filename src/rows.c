#include "rows.h"

#include "num.h"

static int n_blocks(const mc_rows *rows) { return (rows->n + rows->block_rows - 1) / rows->block_rows; }

mc_rows mc_new_rows(int n, int m, int max_strip, int n_threads) {
  mc_rows rows = {.n = n, .block_rows = num_block_rows(n, m)};
  const int blocks = n_blocks(&rows);
  rows.n_strip = blocks < max_strip ? blocks : max_strip;
  rows.n_threads = num_threads(n_threads < rows.n_strip ? n_threads : rows.n_strip);
  return rows;
}

typedef struct {
  const mc_rows *rows;
  const mc_host *host;
  int pass;
  double objective;
  void (*block)(void *self, int strip, int thread, int first, int b);
  void *self;
  int stopped;
} walk;

static void walk_strip(walk *w, int strip) {
  const mc_rows *rows = w->rows;
  const ptrdiff_t blocks = n_blocks(rows);
  const int from = (int) (blocks * strip / rows->n_strip);
  const int to = (int) (blocks * (strip + 1) / rows->n_strip);
  for (int block = from; block < to; block++) {
    int stop;
    if (num_thread() == 0 && mc_stop(w->host, w->pass, w->objective)) {
#pragma omp atomic write
      w->stopped = 1;
    }
#pragma omp atomic read
    stop = w->stopped;
    if (stop) return;
    const int first = block * rows->block_rows, left = rows->n - first;
    w->block(w->self, strip, num_thread(), first, left < rows->block_rows ? left : rows->block_rows);
  }
}

bool mc_walk_rows(const mc_rows *rows, const mc_host *host, int pass, double objective,
                  void (*block)(void *self, int strip, int thread, int first, int b), void *self) {
  walk w = {rows, host, pass, objective, block, self, 0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(rows->n_threads)
  for (int strip = 0; strip < rows->n_strip; strip++) walk_strip(&w, strip);
  return !w.stopped;
}
