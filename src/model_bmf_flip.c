/* model_bmf_flip.c: one scan over the items of a side. */
#include "model_bmf_half.h"

#include "num_rng.h"

#define MULTI_LEAST 2
#define MULTI_MOST 4

/* Change of the log prior were c flipped. */
static double prior_shift(const bmf_half *half, int c) {
  const int n = bmf_n_others(half->own, half->u, c);
  const double odds = half->log_on[n] - half->log_off[n];
  return half->u[c] ? -odds : odds;
}

/*
 * Features that may flip, in a fresh random order: with a fixed one, position
 * would tell a feature's age and the scan would not leave the posterior
 * invariant. On an infinite side, features nobody else has are left to births.
 */
static int scan_order(bmf_half *half) {
  const bmf_side *own = half->own;
  int n = 0;
  for (int c = own->n_fixed; c < own->k; c++)
    if (!own->infinite || bmf_n_others(own, half->u, c) > 0) half->order[n++] = c;
  num_shuffle(half->order, n);
  return n;
}

/* Gibbs draw of one entry, eq. (3). */
static void flip_one(bmf_half *half, int c) {
  if (num_coin(prior_shift(half, c) + bmf_row_shift(half, c, -1))) bmf_row_flip(half, c);
}

/* Joint Gibbs draw of two entries of an item. */
static void flip_pair(bmf_half *half, int a, int b) {
  double weight[4] = {0, prior_shift(half, a), prior_shift(half, b), 0};
  weight[3] = weight[1] + weight[2] + bmf_row_shift(half, a, b);
  weight[1] += bmf_row_shift(half, a, -1);
  weight[2] += bmf_row_shift(half, b, -1);
  const int pick = num_pick_log(weight, 4);
  if (pick & 1) bmf_row_flip(half, a);
  if (pick & 2) bmf_row_flip(half, b);
}

/*
 * Several entries at once, proposed from their conditional prior, which leaves
 * the likelihood ratio to decide.
 */
static void flip_several(bmf_half *half, int n) {
  int changed[MULTI_MOST], n_changed = 0;
  int size = MULTI_LEAST + num_below(MULTI_MOST - MULTI_LEAST + 1);
  double change = 0;
  if (size > n) size = n;
  for (int t = 0; t < size; t++) {
    const int at = t + num_below(n - t), c = half->order[at];
    half->order[at] = half->order[t];
    half->order[t] = c;
    const int others = bmf_n_others(half->own, half->u, c);
    const int on = num_coin(half->log_on[others] - half->log_off[others]);
    if (on == half->u[c]) continue;
    change += bmf_row_shift(half, c, -1);
    bmf_row_flip(half, c);
    changed[n_changed++] = c;
  }
  if (n_changed && num_unif() >= exp(change))
    for (int t = 0; t < n_changed; t++) bmf_row_flip(half, changed[t]);
}

void bmf_update_side(bmf_half *half, bmf_state *state, int s, const bmf_moves *moves) {
  bmf_half_begin(half, state, s);
  for (int i = 0; i < half->n && !bmf_half_stop(half, i); i++) {
    bmf_row_begin(half, i);
    const int n = scan_order(half);
    int t = 0;
    if (moves->block)
      for (; t + 1 < n; t += 2) flip_pair(half, half->order[t], half->order[t + 1]);
    for (; t < n; t++) flip_one(half, half->order[t]);
    if (moves->multi && n > 0) flip_several(half, n);
    if (half->own->infinite && !half->own->n_extern) bmf_births(half);
  }
  bmf_transpose(state, s);
}
