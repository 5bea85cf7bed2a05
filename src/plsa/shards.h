/*
 * plsa/shards.h: PLSA of a table in shards (engine/shards.h), by likelihood or with Dirichlet
 * priors. Memberships stay with their shard; the basis is shared and updated from the sums of EM.
 */
#ifndef MC_PLSA_SHARDS_H
#define MC_PLSA_SHARDS_H

#include "engine/shards.h"
#include "plsa/plsa.h"

/* The model of a shard, or of the driver, whose data have no rows. */
mc_shards plsa_shards(plsa_self *self);

#endif
