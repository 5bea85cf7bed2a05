/*
 * nmf/shards.h: non-negative matrix factorisation under the Kullback-Leibler divergence by
 * multiplicative passes, of a table in shards (engine/shards.h). Coefficients stay with their shard;
 * the basis is shared, and fitted by what its step is made of.
 */
#ifndef MC_NMF_SHARDS_H
#define MC_NMF_SHARDS_H

#include "engine/shards.h"
#include "nmf/nmf.h"

/* Doubles that a pass has: the head, then pull and seen of nm_kl_rows(). */
ptrdiff_t nm_shard_length(int k, int m);

/*
 * The rows of a shard: their coefficients take their step, and sums (of nm_shard_length()) are what
 * the basis' step needs; or, if look, the head alone. false: the host asked to stop.
 */
bool nm_shard_scan(nm_self *self, bool look, double *sums);

/* The driver, whose data are a table without rows; it needs no workspace. */
mc_shards nm_shards(nm_self *self);

#endif
