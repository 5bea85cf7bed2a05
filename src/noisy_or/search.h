/*
 * noisy_or/search.h: search for the best few states of a row among neighbours of the best so
 * far.
 */
#ifndef MC_NOISY_OR_SEARCH_H
#define MC_NOISY_OR_SEARCH_H

#include "noisy_or/row.h"

/* Scratch of a search, one per thread. */
typedef struct {
  nor_row row;
  double *one, *zero, *trial; /* m each */
  uint64_t *state, *best;
} nor_search;

nor_search nor_new_search(const nor_ready *ready, const mc_host *host);

/* size: NOR_LIST, or 2^k */
nor_lists nor_new_lists(int n, int k, int size, const mc_host *host);

/* State l of row i. */
static inline uint64_t *nor_listed(const nor_lists *lists, int i, int l) {
  return lists->state + num_at(0, l + (ptrdiff_t) i * lists->size, lists->words);
}

/*
 * Finds the states of row i, which s->row holds, from those listed before (none: from the state
 * with every source off), and their posterior weights. Old states remain candidates, so the sum
 * over the list never decreases. Costs O(k) flips of O(ones of the row) each, most of them skipped
 * by a bound. Returns the log of the sum of P(x, state) over the list, -Inf if every state is
 * impossible.
 */
double nor_find_states(nor_lists *lists, int i, nor_search *s);

#endif
