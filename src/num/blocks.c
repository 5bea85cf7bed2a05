#include "num/blocks.h"

#include <string.h>

#include "num/threads.h"
#include "num/vector.h"

#define BLOCK_CELLS 24576 /* 192 kB of doubles */

int num_block_rows(int n, int m) {
  int rows = BLOCK_CELLS / (m < 1 ? 1 : m);
  if (rows < 8) rows = 8;
  if (rows > 256) rows = 256;
  return rows < n ? rows : (n < 1 ? 1 : n);
}

/* Counts the blocks without overflow: n + block_rows may exceed INT_MAX. */
static int count_blocks(int n, int block_rows) { return n / block_rows + (n % block_rows > 0); }

num_strips num_new_strips(int n, int block_rows, int n_threads) {
  const int n_block = count_blocks(n, block_rows);
  num_strips out = {.n = n, .block_rows = block_rows};
  out.n_strip = n_block < NUM_MAX_STRIP ? n_block : NUM_MAX_STRIP;
  if (n < 1) out.n_strip = 1;
  out.n_threads = num_threads(n_threads < out.n_strip ? n_threads : out.n_strip);
  return out;
}

typedef struct {
  const num_strips *strips;
  num_scanner scan;
  void *ctx;
  int (*stop)(void *asked);
  void *asked;
  const num_sums *sums;
  int stopped;
} scanning;

static void scan_strip(scanning *w, int strip) {
  const int n = w->strips->n, rows = w->strips->block_rows, n_block = count_blocks(n, rows);
  const int from = (int) ((ptrdiff_t) n_block * strip / w->strips->n_strip);
  const int to = (int) ((ptrdiff_t) n_block * (strip + 1) / w->strips->n_strip);
  if (w->sums) memset(w->sums->part[strip], 0, (size_t) w->sums->size * sizeof(double));
  for (int block = from; block < to; block++) {
    int stop;
    if (num_thread() == 0 && w->stop(w->asked) != 0) {
      NUM_OMP(atomic write)
      w->stopped = 1;
    }
    NUM_OMP(atomic read)
    stop = w->stopped;
    if (stop) return;
    const int first = block * rows;
    w->scan(w->ctx, strip, num_thread(), first, n - first < rows ? n - first : rows);
  }
}

#define CHUNK 1024 /* numbers that a thread adds at a time, over all strips */

static void add_chunk(const num_strips *strips, const num_sums *sums, ptrdiff_t first) {
  const ptrdiff_t left = sums->size - first;
  for (int s = 1; s < strips->n_strip; s++)
    num_add_scaled(sums->part[0] + first, 1, sums->part[s] + first, left < CHUNK ? left : CHUNK);
}

bool num_scan(const num_strips *strips, num_scanner scan, void *ctx, int (*stop)(void *asked),
              void *asked, const num_sums *sums) {
  scanning w = {strips, scan, ctx, stop, asked, sums, 0};
  const ptrdiff_t size = sums ? sums->size : 0;
  NUM_OMP(parallel num_threads(strips->n_threads))
  {
    NUM_OMP(for schedule(dynamic, 1))
    for (int s = 0; s < strips->n_strip; s++) scan_strip(&w, s);
    if (size > 0) { /* saves a barrier if there are no sums */
      NUM_OMP(for schedule(static))
      for (ptrdiff_t first = 0; first < size; first += CHUNK) add_chunk(strips, sums, first);
    }
  }
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
