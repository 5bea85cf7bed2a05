/*
 * aspect_bernoulli/shards.h: the aspect Bernoulli model of a table in shards (engine/shards.h). Rows
 * are independent given the aspects, so memberships stay with their shard; aspects are shared, and
 * fitted by the sums of EM (em.h) or of Newton halves (newton.h).
 */
#ifndef MC_ASPECT_BERNOULLI_SHARDS_H
#define MC_ASPECT_BERNOULLI_SHARDS_H

#include "aspect_bernoulli/effort.h"
#include "engine/shards.h"

/* A shard, or the driver, whose data are a table without rows; newton NULL: EM. */
mc_shards ab_shards(ab_newton_self *self);

/*
 * The same with effort (effort.h). An evaluation changes memberships: they are the shares of expected
 * counts then, and those of the phantom are at MC_SHARD_OWN. With them the driver fits the curve,
 * which the scan for a pass is given.
 */
typedef struct {
  ab_newton_self newton; /* first: it stands for the whole */
  ab_effort rows; /* the same, with the curve's coef; effort and cells are of a shard alone */
  ab_curve curve; /* the driver's: of all rows; its counts are set here */
} ab_effort_shards_self;

mc_shards ab_effort_shards(ab_effort_shards_self *self);

#endif
