/*
 * plsa/shards.h: PLSA of a table in shards (engine/shards.h), by likelihood or with Dirichlet priors. Memberships stay with
 * their shard; the basis is shared, and fitted by the sums of EM.
 */
#ifndef MC_PLSA_SHARDS_H
#define MC_PLSA_SHARDS_H

#include "engine/shards.h"
#include "plsa/plsa.h"

/* A shard, or the driver, whose data are a table without rows. */
mc_shards plsa_shards(plsa_self *self);

#endif
