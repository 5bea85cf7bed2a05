/*
 * rows.h: a walk over blocks of rows, in parallel, whose sums do not depend on the number of
 * threads: blocks are gathered in strips of fixed extent, each strip is one thread's work, and
 * the model adds up its strips' sums in order.
 */
#ifndef MC_ROWS_H
#define MC_ROWS_H

#include "fit.h"

typedef struct {
  int n;          /* rows */
  int block_rows; /* rows in a block, so that a block x m doubles stay in the cache */
  int n_strip;
  int n_threads;
} mc_rows;

/* At most max_strip strips, since each needs its own sums; no more threads than strips. */
mc_rows mc_new_rows(int n, int m, int max_strip, int n_threads);

/*
 * Calls block(self, strip, thread, first, b) for every block of b rows from `first` on; blocks of a
 * strip in order. Between blocks the main thread asks the host whether to stop, showing it `pass`
 * and `objective`. Returns false where it said so: the walk is then incomplete.
 */
bool mc_walk_rows(const mc_rows *rows, const mc_host *host, int pass, double objective,
                  void (*block)(void *self, int strip, int thread, int first, int b), void *self);

#endif
