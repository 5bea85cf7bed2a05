/*
 * noisy_or/shards.h: truncated noisy-OR of a table in shards (engine/shards.h). The states listed for
 * each row stay with their shard; prior, links and leak are shared, with one M-step a pass.
 */
#ifndef MC_NOISY_OR_SHARDS_H
#define MC_NOISY_OR_SHARDS_H

#include "engine/shards.h"
#include "noisy_or/noisy_or.h"

typedef struct {
  const mc_data *data;
  nor_param *par;
  const nor_settings *set;
  nor_lists lists;     /* of the rows, */
  nor_truncated *work; /* their pass */
  nor_totals totals;
  double
      *listed; /* n x nor_shard_width(), zeros at first: a pass finds the states anew from these */
} nor_shard;

/* Without `listed`, which the caller sets where there are rows. */
nor_shard nor_new_shard(const mc_data *data, nor_param *par, const nor_settings *set);

/* Numbers that a row's list takes: how many states, then each as 32 bits a number. */
int nor_shard_width(int k);

/* A shard, or the driver, whose data are a table without rows. */
mc_shards nor_shards(nor_shard *self);

#endif
