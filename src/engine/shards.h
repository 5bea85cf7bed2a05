/*
 * engine/shards.h: models whose pass is a sum over rows, and fits of a table in pieces, the shards,
 * which need not be in one memory. What each row has of its own stays with its shard. What all rows
 * share is with the driver, which takes its steps where the sums over all rows are. Sums of shards
 * are added up by the caller, who decides in which order. A table in memory is a shard in one piece.
 */
#ifndef MC_ENGINE_SHARDS_H
#define MC_ENGINE_SHARDS_H

#include "engine/fit.h"

/* What the sums of a shard begin with: parts of the objective, then what SQUAREM needs. */
enum {
  MC_SHARD_LOGLIK,
  MC_SHARD_BESIDE, /* what the objective has of the rows' parameters beside that */
  MC_SHARD_DECREMENT,
  MC_SHARD_RR,
  MC_SHARD_VV,
  MC_SHARD_OWN, /* two of the model's own, for prepare() */
  MC_SHARD_HEAD = MC_SHARD_OWN + 2
};

/* Where the shards are, for the driver, whose blocks are the shared parameters. */
typedef struct {
  /* a pass of the rows of all shards or, if evaluate, the heads alone, at the parameters as they are:
   * their sums, added up. caps as of the driver. false: it failed */
  bool (*scan)(void *ctx, bool evaluate, const double *caps, double *sums);
  /* the rows' parameters, as of mc_away */
  void (*save)(void *ctx, int which, const mc_cycles *cycles);
  void (*restore)(void *ctx, int which);
  void (*extrapolate)(void *ctx, double step);
  void *ctx;
} mc_shards_at;

/*
 * A model whose pass is a sum over rows; its functions get shared.self. It leaves at and sums to the
 * caller, who knows where the shards are.
 */
typedef struct {
  mc_model shared; /* blocks, feasible, reject, residual and next; its passes are not asked for */
  mc_shards_at at;
  /* a pass of the rows at hand, and what they add for the step; or, if evaluate, the head alone.
   * false: the host asked to stop */
  bool (*rows)(void *self, bool evaluate, const double *caps, double *sums);
  ptrdiff_t length; /* of the sums */
  double *sums;
  /* a step of the shared parameters that comes before a scan for a pass, given the heads that an
   * evaluation of all shards has found; NULL: there is none, and no evaluation */
  bool (*prepare)(void *self, const double *sums);
  /* the step of the shared parameters, given the sums and the objective before; false: stopped */
  bool (*step)(void *self, double *sums, double objective);
  double (*beside)(void *self);      /* what the objective has of the shared parameters; NULL: 0 */
  const double *(*caps)(void *self); /* m values that a scan needs, too; NULL: there are none */
} mc_shards;

/* As a model for mc_fit(): that of the driver, whose blocks are the shared parameters. */
mc_model mc_shards_model(mc_shards *self);

/* That of a table in memory, whose blocks are all parameters. */
mc_model mc_whole_model(mc_shards *self, const mc_host *host);

#endif
