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
  nor_lists lists;     /* of a shard alone, */
  nor_truncated *work; /* its rows' pass */
  nor_totals totals;
} nor_shard;

/* A shard; the driver has but data, par and set. */
nor_shard nor_new_shard(const mc_data *data, nor_param *par, const nor_settings *set);

/* Numbers that a row's list takes: how many states, then each as 32 bits a number. */
int nor_shard_width(int k);

/* Doubles that a pass has: the head, rows, on (k), leak_fired and seen (m), fired and missing (k x m). */
ptrdiff_t nor_shard_length(int k, int m);

/*
 * The rows of a shard: their states are found anew from listed (n x nor_shard_width(), zeros at
 * first), which then holds them, and sums are what the M-step needs; or, if look, the head alone and
 * listed is left as it is. false: the host asked to stop.
 */
bool nor_shard_scan(nor_shard *self, bool look, double *listed, double *sums);

/* The driver, whose data are a table without rows. */
mc_shards nor_shards(nor_shard *self);

#endif
