/*
 * strips.h: a walk over the rows of the data. Rows are taken in blocks of
 * fixed size, blocks in strips of fixed number; a strip is one thread's task,
 * and its partial sums are added up in strip order, so that results do not
 * depend on the number of threads.
 */
#ifndef MC_STRIPS_H
#define MC_STRIPS_H

#include "fit.h"

#define MC_MAX_STRIP 16

typedef struct {
  int n, block_rows; /* rows, and rows a block */
  int n_strip, n_threads;
  const mc_host *host;
  int passes; /* made so far, and the last objective: for the host's eyes */
  double objective;
} mc_strips;

/* At most most_strips strips (and MC_MAX_STRIP), no more than there are blocks. */
mc_strips mc_new_strips(int n, int block_rows, int most_strips, int n_threads, const mc_host *host);

/* Called with rows first .. first + b - 1; fresh: the strip's first block. */
typedef void (*mc_block)(void *self, int strip, bool fresh, int first, int b);

/*
 * Calls block for every block of rows; the main thread asks the host between
 * blocks whether to stop. Returns false when it said so: sums are then useless.
 */
bool mc_walk(const mc_strips *strips, mc_block block, void *self);

#endif
