/*
 * engine/shards.h: models whose iteration is a sum over rows, and fits of a table in pieces, the
 * shards, which need not be in one memory. Parameters of single rows stay with their shard. Shared
 * parameters belong to the driver, which updates them from the sums over all rows. The caller adds
 * up the sums of shards, in an order of its choice. A table in memory is a single shard.
 */
#ifndef MC_ENGINE_SHARDS_H
#define MC_ENGINE_SHARDS_H

#include "engine/fit.h"

/* First entries of a shard's sums: parts of the objective, then those for SQUAREM. */
enum {
  MC_SHARD_LOGLIK,
  MC_SHARD_BESIDE, /* other terms of the objective in the rows' parameters */
  MC_SHARD_DECREMENT,
  MC_SHARD_RR,
  MC_SHARD_VV,
  MC_SHARD_OWN, /* two values of the model, for prepare() */
  MC_SHARD_HEAD = MC_SHARD_OWN + 2
};

/* Access to the shards for the driver, whose blocks are the shared parameters. */
typedef struct {
  /* Makes an iteration of the rows of all shards or, if evaluate, computes only the heads at the
   * current parameters, and adds up the sums. caps: from the driver. Returns false on failure. */
  bool (*scan)(void *ctx, bool evaluate, const double *caps, double *sums);
  /* the rows' parameters, as in mc_away */
  void (*save)(void *ctx, int which, const mc_cycles *cycles);
  void (*restore)(void *ctx, int which);
  void (*extrapolate)(void *ctx, double step);
  void *ctx;
} mc_shards_at;

/*
 * A model whose iteration is a sum over rows; its functions receive shared.self. It leaves `at` and
 * sums to the caller, who knows where the shards are.
 */
typedef struct {
  mc_model
      /* shared supplies blocks, feasible, reject, residual and next; its pass() is not used. */
      shared;
  mc_shards_at at;
  /* Makes an iteration of the local rows and adds their sums for the step; or, if evaluate,
   * computes only the head. Returns false if the host requested a stop. */
  bool (*rows)(void *self, bool evaluate, const double *caps, double *sums);
  ptrdiff_t length; /* of the sums */
  double *sums;
  /* Takes a step of the shared parameters before an iteration's scan, from the heads of an
   * evaluation of all shards; NULL: no such step and no evaluation. */
  bool (*prepare)(void *self, const double *sums);
  /* Takes the step of the shared parameters, from the sums and the objective before; false: stopped. */
  bool (*step)(void *self, double *sums, double objective);
  double (*beside)(void *self);      /* terms of the objective in the shared parameters; NULL: 0 */
  const double *(*caps)(void *self); /* m further values that a scan needs; NULL: none */
} mc_shards;

/* The driver's model for mc_fit(); its blocks are the shared parameters. */
mc_model mc_shards_model(mc_shards *self);

/* The model of a table in memory; its blocks are all parameters. */
mc_model mc_whole_model(mc_shards *self, const mc_host *host);

#endif
