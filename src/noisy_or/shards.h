/*
 * noisy_or/shards.h: truncated noisy-OR of a table in shards (engine/shards.h). The states listed for
 * each row stay with their shard; prior, links and leak are shared, with one M-step per iteration.
 */
#ifndef MC_NOISY_OR_SHARDS_H
#define MC_NOISY_OR_SHARDS_H

#include "engine/shards.h"
#include "noisy_or/noisy_or.h"

typedef struct {
  const mc_data *data;
  nor_param *par;
  const nor_settings *set;
  nor_lists lists;     /* of the rows */
  nor_truncated *work; /* for their iterations */
  nor_totals totals;
  double *listed; /* n x nor_shard_width(), zeros at first: start of the search for states */
} nor_shard;

/* Creates a shard without `listed`, which the caller sets if there are rows. */
nor_shard nor_new_shard(const mc_data *data, nor_param *par, const nor_settings *set);

/* Length of a row's list: the number of states, then the states with 32 bits per number. */
int nor_shard_width(int k);

/* The model of a shard, or of the driver, whose data have no rows. */
mc_shards nor_shards(nor_shard *self);

#endif
