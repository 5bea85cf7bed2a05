/*
 * aspect_bernoulli/shards.h: the aspect Bernoulli model of a table in shards (engine/shards.h). Rows
 * are independent given the aspects, so memberships stay with their shard; aspects are shared, and
 * fitted by the sums of EM (em.h) or of Newton halves (newton.h).
 */
#ifndef MC_ASPECT_BERNOULLI_SHARDS_H
#define MC_ASPECT_BERNOULLI_SHARDS_H

#include "aspect_bernoulli/effort.h"
#include "engine/shards.h"

/* Doubles that a pass has: the head, then sums over rows for each column. */
ptrdiff_t ab_shard_length(const mc_data *data, const ab_param *par, const ab_newton *newton);

/*
 * The rows of a shard: self->ab.par->membership takes its step, given the aspects, and sums (of
 * ab_shard_length()) are what the aspects' step needs. caps as in ab_newton_set_caps(); newton NULL:
 * EM. false: the host asked to stop.
 */
bool ab_shard_pass(ab_newton_self *self, const double *caps, double *sums);

/* The head alone, at the parameters as they are. */
bool ab_shard_objective(ab_newton_self *self, const double *caps, double *sums);

/* The driver; newton.ab.data is a table without rows. */
typedef struct {
  ab_newton_self newton; /* first: it stands for the whole */
  ab_prior prior;
} ab_shards_self;

mc_shards ab_shards(ab_shards_self *self);

/*
 * The same with effort (effort.h). A look changes memberships: they are the shares of expected
 * counts then, and those of the phantom are at MC_SHARD_OWN. With them the driver fits the curve,
 * which the scan for a pass is given.
 */
bool ab_effort_shard_look(ab_effort *self, double *sums);
bool ab_effort_shard_pass(ab_effort *self, double *sums);

typedef struct {
  ab_shards_self shards; /* first: it stands for the whole */
  ab_curve curve;        /* of all rows; its counts are set here */
  double *coef;
} ab_effort_shards_self;

mc_shards ab_effort_shards(ab_effort_shards_self *self);

#endif
