/*
 * num/blocks.h: scans of rows (or columns) in blocks of fixed size. Threads take strips, runs of
 * consecutive blocks. Each strip has its own partial sums, which are added in the order of strips,
 * so results do not depend on n_threads.
 */
#ifndef MC_NUM_BLOCKS_H
#define MC_NUM_BLOCKS_H

#include <stdbool.h>

#include "num/base.h"

#define NUM_MAX_STRIP 16

typedef struct {
  int n;          /* rows */
  int block_rows; /* rows per block */
  int n_strip;    /* at most NUM_MAX_STRIP */
  int n_threads;  /* at most n_strip */
} num_strips;

/* Returns the number of rows per block such that block x m doubles fit into the second-level cache. */
int num_block_rows(int n, int m);

num_strips num_new_strips(int n, int block_rows, int n_threads);

/* Processes b rows from `first`; strip and thread select the sums and the scratch. */
typedef void (*num_scanner)(void *ctx, int strip, int thread, int first, int b);

/* Partial sums: part[strip] has `size` numbers. */
typedef struct {
  double *part[NUM_MAX_STRIP];
  ptrdiff_t size;
} num_sums;

/*
 * Scans all blocks, those of a strip in order and on one thread. stop(asked) is called between
 * blocks on the main thread; nonzero ends the scan, which then returns false. Sums (NULL: none) are
 * set to 0 at the beginning of a strip and added to those of strip 0 at the end, in the order of
 * strips.
 */
bool num_scan(const num_strips *strips, num_scanner scan, void *ctx, int (*stop)(void *asked),
              void *asked, const num_sums *sums);

/* Copies b rows of an n x k matrix from `first` to k x b, where a row is contiguous, and back. */
void num_take_rows(const double *from, int n, int first, int b, int k, double *rows);
void num_put_rows(const double *rows, int n, int first, int b, int k, double *to);

#endif
