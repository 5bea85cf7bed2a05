/*
 * aspect_bernoulli/shards.h: the aspect Bernoulli model of a table in shards (engine/shards.h).
 * Rows are independent given the aspects, so memberships stay with their shard; aspects are shared,
 * and updated from the sums of EM (em.h) or of Newton's algorithm (newton.h).
 */
#ifndef MC_ASPECT_BERNOULLI_SHARDS_H
#define MC_ASPECT_BERNOULLI_SHARDS_H

#include "aspect_bernoulli/effort.h"
#include "engine/shards.h"

/* The model of a shard, or of the driver, whose data have no rows; newton NULL: EM. */
mc_shards ab_shards(ab_newton_self *self);

/*
 * The model with effort (effort.h). An evaluation replaces memberships by the shares of expected
 * counts; those of the phantom are at MC_SHARD_OWN. The driver fits the curve to them before the
 * scan of an iteration.
 */
typedef struct {
  ab_newton_self newton; /* first: it stands for the whole */
  ab_effort rows; /* the same, with the curve's coef; effort and cells are of a shard alone */
  ab_curve curve; /* the driver's: of all rows; its counts are set here */
} ab_effort_shards_self;

mc_shards ab_effort_shards(ab_effort_shards_self *self);

#endif
