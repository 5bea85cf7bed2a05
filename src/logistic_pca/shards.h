/*
 * logistic_pca/shards.h: logistic principal components of a table in shards (engine/shards.h). Scores
 * stay with their shard; loadings and intercepts are shared, and fitted by the sums of their
 * regressions.
 */
#ifndef MC_LOGISTIC_PCA_SHARDS_H
#define MC_LOGISTIC_PCA_SHARDS_H

#include "engine/shards.h"
#include "logistic_pca/mm.h"

/* Doubles that a pass has: the head, then squares, slopes and all of lp_sums. */
ptrdiff_t lp_shard_length(int k, int m);

/*
 * The rows of a shard: their scores take their step, and sums (of lp_shard_length()) are what the
 * loadings' step needs; or, if look, the head alone. false: the host asked to stop.
 */
bool lp_shard_scan(lp_self *self, bool look, double *sums);

/* The driver, whose data are a table without rows. */
typedef struct {
  lp_self lp; /* first: it stands for the whole */
  const mc_host *host;
  int passes;
  double objective; /* of the last pass, for the host's eyes */
} lp_shards_self;

mc_shards lp_shards(lp_shards_self *self);

#endif
