/*
 * bernoulli_mixture/shards.h: the Bernoulli mixture of a table in shards (engine/shards.h). Rows have
 * no parameters of their own; the driver has weights and prototypes, and fits them by expected counts.
 */
#ifndef MC_BERNOULLI_MIXTURE_SHARDS_H
#define MC_BERNOULLI_MIXTURE_SHARDS_H

#include "bernoulli_mixture/em.h"
#include "engine/shards.h"

/* Doubles that a pass has: the head, then rows (1), total (k), ones and seen (k x m) of bm_counts. */
ptrdiff_t bm_shard_length(int k, int m);

/* The counts of a shard's rows or, if look, the head alone; without prior. false: the host asked to stop. */
bool bm_shard_scan(bm_self *self, bool look, double *sums);

/* The driver, whose data are a table without rows. */
typedef struct {
  bm_self bm; /* first: it stands for the whole */
  bm_prior prior;
} bm_shards_self;

mc_shards bm_shards(bm_shards_self *self);

#endif
