#include "strips.h"

#include "num.h"

mc_strips mc_new_strips(int n, int block_rows, int most_strips, int n_threads,
                        const mc_host *host) {
  const int n_block = (n + block_rows - 1) / block_rows;
  mc_strips strips = {.n = n, .block_rows = block_rows, .host = host};
  strips.n_strip = most_strips < MC_MAX_STRIP ? most_strips : MC_MAX_STRIP;
  if (strips.n_strip > n_block) strips.n_strip = n_block;
  if (strips.n_strip < 1) strips.n_strip = 1;
  strips.n_threads = num_threads(n_threads < strips.n_strip ? n_threads : strips.n_strip);
  return strips;
}

static void walk_strip(const mc_strips *strips, int which, mc_block block, void *self,
                       int *stopped) {
  const int n = strips->n, rows = strips->block_rows, n_block = (n + rows - 1) / rows;
  const int from = (int) ((ptrdiff_t) n_block * which / strips->n_strip);
  const int to = (int) ((ptrdiff_t) n_block * (which + 1) / strips->n_strip);
  for (int at = from; at < to; at++) {
    int stop;
    if (num_thread() == 0 && mc_stop(strips->host, strips->passes, strips->objective)) {
#pragma omp atomic write
      *stopped = 1;
    }
#pragma omp atomic read
    stop = *stopped;
    if (stop) return;
    const int first = at * rows;
    block(self, which, at == from, first, n - first < rows ? n - first : rows);
  }
}

bool mc_walk(const mc_strips *strips, mc_block block, void *self) {
  int stopped = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(strips->n_threads)
  for (int s = 0; s < strips->n_strip; s++) walk_strip(strips, s, block, self, &stopped);
  return !stopped;
}
