/*
 * aspect_bernoulli/shards.h: the aspect Bernoulli model of a table in pieces, the shards, which need
 * not be in one memory. Rows are independent given the aspects, so memberships stay with their
 * shard. Aspects are fitted where the sums over all rows are: of EM (em.h) or of Newton halves
 * (newton.h). Sums of shards are added up by the caller, who decides in which order.
 */
#ifndef MC_ASPECT_BERNOULLI_SHARDS_H
#define MC_ASPECT_BERNOULLI_SHARDS_H

#include "aspect_bernoulli/newton.h"

/* What sums begin with: parts of the objective, then what SQUAREM needs (engine/fit.h). */
enum {
  AB_SHARD_LOGLIK,
  AB_SHARD_PRIOR, /* log-prior of the memberships */
  AB_SHARD_DECREMENT,
  AB_SHARD_RR,
  AB_SHARD_VV,
  AB_SHARD_HEAD
};

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

/* Where the shards are, for the one who holds the aspects. Each returns false where it failed. */
typedef struct {
  /* ab_shard_pass() or, if look, ab_shard_objective() of all shards: their sums, added up */
  bool (*visit)(void *ctx, bool look, const double *aspects, const double *caps, double *sums);
  /* the memberships, as of mc_away; the aspects of that point */
  void (*save)(void *ctx, int which, const double *aspects);
  void (*restore)(void *ctx, int which);
  void (*extrapolate)(void *ctx, double step);
  void *ctx;
} ab_shards_at;

/* The model of the one who holds the aspects; newton.ab.data is a table without rows. */
typedef struct {
  ab_newton_self newton; /* first: it stands for the whole */
  ab_prior prior;
  ab_shards_at at;
  double *sums;
} ab_shards;

mc_model ab_shards_model(ab_shards *self);

#endif
