/* bmf/state.c: memory, counts, adding and removing features. */
#include "bmf/bmf.h"

#include <string.h>

#define ROOM_MORE 8 /* spare features */

static void *get(const bmf_state *state, size_t count, size_t size) {
  return state->host->alloc(state->host->ctx, count, size);
}

static double *new_weights(const bmf_state *state, int s) {
  return get(state, (size_t) state->side[s].room * (size_t) state->side[1 - s].room,
             sizeof(double));
}

void bmf_allocate(bmf_state *state) {
  for (int s = 0; s < 2; s++) {
    bmf_side *side = &state->side[s];
    side->room = side->k + ROOM_MORE;
    side->on = get(state, (size_t) side->n * (size_t) side->room, 1);
    side->count = get(state, (size_t) side->room, sizeof(int));
  }
  for (int s = 0; s < 2; s++) state->weight[s] = new_weights(state, s);
}

/*
 * Makes room for one more feature of side s: items' features move to wider rows, and so do the
 * weights in the other side's orientation.
 */
static void grow(bmf_state *state, int s) {
  bmf_side *side = &state->side[s];
  const int old_room = side->room;
  if (side->k < old_room) return;
  side->room = 2 * (side->k + 1);
  unsigned char *on = get(state, (size_t) side->n * (size_t) side->room, 1);
  int *count = get(state, (size_t) side->room, sizeof(int));
  for (int i = 0; i < side->n; i++)
    memcpy(on + (ptrdiff_t) i * side->room, side->on + (ptrdiff_t) i * old_room, (size_t) side->k);
  memcpy(count, side->count, (size_t) side->k * sizeof(int));
  const double *own = state->weight[s];
  side->on = on;
  side->count = count;
  for (int t = 0; t < 2; t++) state->weight[t] = new_weights(state, t);
  memcpy(state->weight[s], own,
         (size_t) side->k * (size_t) state->side[1 - s].room * sizeof(double));
  bmf_transpose(state, s);
}

void bmf_count(bmf_side *side) {
  for (int c = 0; c < side->k; c++) side->count[c] = 0;
  for (int i = 0; i < side->n; i++) {
    const unsigned char *u = bmf_item(side, i);
    for (int c = 0; c < side->k; c++) side->count[c] += u[c];
  }
}

void bmf_transpose(bmf_state *state, int from) {
  const bmf_side *own = &state->side[from], *other = &state->side[1 - from];
  for (int c = 0; c < own->k; c++) {
    const double *row = bmf_weight(state, from, c);
    for (int l = 0; l < other->k; l++) bmf_weight(state, 1 - from, l)[c] = row[l];
  }
}

int bmf_add_feature(bmf_state *state, int s, const double *weight) {
  bmf_side *side = &state->side[s];
  const size_t size = (size_t) state->side[1 - s].k * sizeof(double);
  grow(state, s);
  const int c = side->k++;
  for (int i = 0; i < side->n; i++) bmf_item(side, i)[c] = 0;
  side->count[c] = 0;
  if (weight)
    memcpy(bmf_weight(state, s, c), weight, size);
  else
    memset(bmf_weight(state, s, c), 0, size);
  return c;
}

void bmf_drop_feature(bmf_state *state, int s, int c) {
  bmf_side *side = &state->side[s];
  const int last = --side->k;
  if (c == last) return;
  for (int i = 0; i < side->n; i++) {
    unsigned char *u = bmf_item(side, i);
    u[c] = u[last];
  }
  side->count[c] = side->count[last];
  memcpy(bmf_weight(state, s, c), bmf_weight(state, s, last),
         (size_t) state->side[1 - s].k * sizeof(double));
}

void bmf_drop_empty(bmf_state *state, int s) {
  bmf_side *side = &state->side[s];
  if (!side->infinite) return;
  for (int c = side->k - 1; c >= side->n_fixed; c--)
    if (side->count[c] == 0) bmf_drop_feature(state, s, c);
  bmf_transpose(state, s);
}
