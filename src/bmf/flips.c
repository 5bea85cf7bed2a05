/* bmf/flips.c: one scan over the items of a side. */
#include "bmf/private.h"

#include "num/rng.h"

#define MULTI_LEAST 2
#define MULTI_MOST 4

/* Change of the log prior if c were flipped. */
static double prior_shift(const bmf_workspace *ws, int c) {
  const int n = bmf_n_others(ws->own, ws->at.u, c);
  const double odds = ws->view.log_on[n] - ws->view.log_off[n];
  return ws->at.u[c] ? -odds : odds;
}

/*
 * Puts the features that may flip into a new random order. With a fixed order the position would
 * depend on a feature's age, and the scan would not leave the posterior invariant. On an infinite
 * side, features of a single item are left to births.
 */
static int scan_order(bmf_workspace *ws) {
  const bmf_side *own = ws->own;
  int n = 0;
  for (int c = own->n_fixed; c < own->k; c++)
    if (!own->infinite || bmf_n_others(own, ws->at.u, c) > 0) ws->work.order[n++] = c;
  num_shuffle(ws->work.order, n);
  return n;
}

/* Gibbs draw of one entry, eq. (3). */
static void flip_one(bmf_workspace *ws, int c) {
  if (num_coin(prior_shift(ws, c) + bmf_row_shift(ws, c, -1))) bmf_row_flip(ws, c);
}

/* Joint Gibbs draw of two entries of an item. */
static void flip_pair(bmf_workspace *ws, int a, int b) {
  double weight[4] = {0, prior_shift(ws, a), prior_shift(ws, b), 0};
  weight[3] = weight[1] + weight[2] + bmf_row_shift(ws, a, b);
  weight[1] += bmf_row_shift(ws, a, -1);
  weight[2] += bmf_row_shift(ws, b, -1);
  const int pick = num_pick_log(weight, 4);
  if (pick & 1) bmf_row_flip(ws, a);
  if (pick & 2) bmf_row_flip(ws, b);
}

/* Proposes several entries jointly from their conditional prior, so only the likelihood ratio decides. */
static void flip_several(bmf_workspace *ws, int n) {
  int changed[MULTI_MOST], n_changed = 0;
  int size = MULTI_LEAST + num_below(MULTI_MOST - MULTI_LEAST + 1);
  double change = 0;
  if (size > n) size = n;
  for (int t = 0; t < size; t++) {
    const int at = t + num_below(n - t), c = ws->work.order[at];
    ws->work.order[at] = ws->work.order[t];
    ws->work.order[t] = c;
    const int others = bmf_n_others(ws->own, ws->at.u, c);
    const int on = num_coin(ws->view.log_on[others] - ws->view.log_off[others]);
    if (on == ws->at.u[c]) continue;
    change += bmf_row_shift(ws, c, -1);
    bmf_row_flip(ws, c);
    changed[n_changed++] = c;
  }
  if (n_changed && num_unif() >= exp(change))
    for (int t = 0; t < n_changed; t++) bmf_row_flip(ws, changed[t]);
}

void bmf_update_side(bmf_workspace *ws, bmf_state *state, int s, const bmf_moves *moves) {
  bmf_workspace_begin(ws, state, s);
  for (int i = 0; i < ws->n && !bmf_workspace_stop(ws, i); i++) {
    bmf_row_begin(ws, i);
    const int n = scan_order(ws);
    int t = 0;
    if (moves->block)
      for (; t + 1 < n; t += 2) flip_pair(ws, ws->work.order[t], ws->work.order[t + 1]);
    for (; t < n; t++) flip_one(ws, ws->work.order[t]);
    if (moves->multi && n > 0) flip_several(ws, n);
    if (ws->own->infinite && !ws->own->n_extern) bmf_births(ws);
  }
  bmf_transpose(state, s);
}
