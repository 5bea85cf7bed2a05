/*
 * num/blocks.h: scans of rows (or columns) in blocks of fixed size. Runs of
 * blocks, the strips, are what threads take; partial sums belong to strips and
 * are added up in their order, so that results do not depend on n_threads.
 */
#ifndef MC_NUM_BLOCKS_H
#define MC_NUM_BLOCKS_H

#include <stdbool.h>

#include "num/base.h"

#define NUM_MAX_STRIP 16

typedef struct {
  int n;          /* rows */
  int block_rows; /* rows a block */
  int n_strip;    /* at most NUM_MAX_STRIP */
  int n_threads;  /* at most n_strip */
} num_strips;

/* Rows a block so that block x m doubles stay in the second-level cache. */
int num_block_rows(int n, int m);

num_strips num_new_strips(int n, int block_rows, int n_threads);

/* What is done with a block of b rows from first on; strip and thread say whose sums and scratch. */
typedef void (*num_scanner)(void *ctx, int strip, int thread, int first, int b);

/* Sums that strips have of their own, size numbers each. */
typedef struct {
  double *part[NUM_MAX_STRIP];
  ptrdiff_t size;
} num_sums;

/*
 * Scans all blocks, those of a strip in order and on one thread. stop(asked) is
 * called between blocks, on the main thread: nonzero ends the scan, and false
 * is returned. Sums (NULL: there are none) are 0 when a strip begins, and are
 * added to those of strip 0 at the end, in the order of strips.
 */
bool num_scan(const num_strips *strips, num_scanner scan, void *ctx, int (*stop)(void *asked),
              void *asked, const num_sums *sums);

/* b rows of an n x k matrix from first on, to k x b and back: a row is then contiguous. */
void num_take_rows(const double *from, int n, int first, int b, int k, double *rows);
void num_put_rows(const double *rows, int n, int first, int b, int k, double *to);

#endif
