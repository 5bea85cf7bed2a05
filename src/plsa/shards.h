/*
 * plsa/shards.h: PLSA of a table in shards (engine/shards.h), by likelihood or with Dirichlet priors. Memberships stay with
 * their shard; the basis is shared, and fitted by the sums of EM.
 */
#ifndef MC_PLSA_SHARDS_H
#define MC_PLSA_SHARDS_H

#include "engine/shards.h"
#include "plsa/plsa.h"

/* Doubles that a pass has: the head, then the k x m sums of eq. (6). */
ptrdiff_t plsa_shard_length(int k, int m);

/*
 * The rows of a shard: their memberships take their step, and sums (of plsa_shard_length()) are what
 * the basis' step needs; or, if look, the head alone. false: the host asked to stop.
 */
bool plsa_shard_scan(plsa_self *self, bool look, double *sums);

/* The driver, whose data are a table without rows. */
mc_shards plsa_shards(plsa_self *self);

#endif
