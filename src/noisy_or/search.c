#include "noisy_or/search.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define EXPAND 3        /* a row's best states whose neighbours are looked at */
#define FRESH_ROUNDS 20 /* rounds of this for a row without states, while new ones come in */

/* The best states of the current row, in no order. */
typedef struct {
  int n, size;
  double *log;     /* size */
  uint64_t *state; /* words x size */
} nor_list;

nor_lists nor_new_lists(int n, int k, int size, const mc_host *host) {
  const size_t rows = (size_t) n, words = (size_t) nor_words(k), listed = rows * (size_t) size;
  nor_lists lists = {.words = (int) words, .size = size};
  lists.state = host->alloc(host->ctx, listed * words, sizeof(uint64_t));
  lists.weight = host->alloc(host->ctx, listed, sizeof(double));
  lists.n_state = host->alloc(host->ctx, rows, sizeof(int));
  return lists;
}

nor_search nor_new_search(const nor_ready *ready, const mc_host *host) {
  const size_t m = (size_t) ready->data->m, words = (size_t) nor_words(ready->par->k);
  nor_search s = {.row = nor_new_row(ready, host)};
  s.one = host->alloc(host->ctx, m, sizeof(double));
  s.zero = host->alloc(host->ctx, m, sizeof(double));
  s.trial = host->alloc(host->ctx, m, sizeof(double));
  s.state = host->alloc(host->ctx, words, sizeof(uint64_t));
  s.best = host->alloc(host->ctx, EXPAND * words, sizeof(uint64_t));
  return s;
}

static int worst_of(const nor_list *list) {
  int worst = 0;
  for (int l = 1; l < list->n; l++)
    if (list->log[l] < list->log[worst]) worst = l;
  return worst;
}

/* Log probability that a new state must exceed to be listed. */
static double threshold(const nor_list *list) {
  return list->n < list->size ? -INFINITY : list->log[worst_of(list)];
}

/* Adds a state if it is new and good enough; returns whether it was added. */
static bool offer(nor_list *list, const uint64_t *state, double log, int words) {
  const size_t size = (size_t) words * sizeof(uint64_t);
  if (!(log > threshold(list))) return false;
  for (int l = 0; l < list->n; l++)
    if (memcmp(list->state + num_at(0, l, words), state, size) == 0) return false;
  const int at = list->n < list->size ? list->n++ : worst_of(list);
  list->log[at] = log;
  memcpy(list->state + num_at(0, at, words), state, size);
  return true;
}

/* Copies the best states of a list to best; returns their number. */
static int best_states(const nor_list *list, int words, uint64_t *best) {
  bool taken[NOR_MOST_LIST] = {false};
  int n = 0;
  for (; n < EXPAND && n < list->n; n++) {
    int at = 0;
    while (taken[at]) at++;
    for (int l = at + 1; l < list->n; l++)
      if (!taken[l] && list->log[l] > list->log[at]) at = l;
    taken[at] = true;
    memcpy(best + num_at(0, n, words), list->state + num_at(0, at, words),
           (size_t) words * sizeof(uint64_t));
  }
  return n;
}

/* Offers every state that differs from this one in a single source; returns whether one was added. */
static bool expand(const uint64_t *from, nor_search *s, nor_list *list, int words) {
  const nor_row *row = &s->row;
  const int n = row->n_cell;
  const double log = nor_state_log(row, from, s->one, s->zero);
  const double rest = log - nor_cells_log(row, s->one);
  bool taken = false;
  memcpy(s->state, from, (size_t) words * sizeof(uint64_t));
  for (int c = 0; c < row->k; c++) {
    const double *link = row->link + num_at(0, c, n);
    if (nor_is_on(from, c)) continue;
    /* Upper bound: the source explains every cell with certainty. */
    if (!(rest + row->bonus[c] > threshold(list))) continue;
    for (int t = 0; t < n; t++) s->trial[t] = s->one[t] + s->zero[t] * link[t];
    nor_flip(s->state, c);
    taken |= offer(list, s->state, rest + row->bonus[c] + nor_cells_log(row, s->trial), words);
    nor_flip(s->state, c);
  }
  for (int c = 0; c < row->k; c++) {
    if (!nor_is_on(from, c)) continue;
    nor_flip(s->state, c);
    taken |= offer(list, s->state, nor_state_log(row, s->state, s->one, s->zero), words);
    nor_flip(s->state, c);
  }
  return taken;
}

/* Number of all states if a list has room for them, otherwise 0. */
static int all_states(int k, int size) {
  return k < NOR_WORD / 2 - 1 && 1 << k <= size ? 1 << k : 0;
}

/* Recomputes the scores of a row's states and searches among their neighbours. */
static void search(nor_search *s, nor_list *list, int words, int rounds) {
  for (int l = 0; l < list->n; l++)
    list->log[l] = nor_state_log(&s->row, list->state + num_at(0, l, words), s->one, s->zero);
  if (list->n == all_states(s->row.k, list->size)) return; /* there are no others */
  for (int round = 0; round < rounds; round++) {
    const int n = best_states(list, words, s->best);
    bool taken = false;
    for (int l = 0; l < n; l++) taken |= expand(s->best + num_at(0, l, words), s, list, words);
    if (!taken) return;
  }
}

/*
 * Initialises a row without states with all sources off except those known to be on; if that cannot
 * explain it, with every source on that its zeros permit. Lists all states if there is room.
 */
static void first_states(nor_search *s, nor_list *list, int words) {
  const int k = s->row.k, every = all_states(k, list->size), all = every > 0 ? every : 1;
  memset(list->state, 0, (size_t) (words * all) * sizeof(uint64_t));
  list->n = all;
  for (int l = 1; l < all; l++) list->state[num_at(0, l, words)] = (uint64_t) l;
  if (all == 1 && s->row.on) memcpy(list->state, s->row.on, (size_t) words * sizeof(uint64_t));
  if (all > 1 || nor_state_log(&s->row, list->state, s->one, s->zero) > -INFINITY) return;
  for (int c = 0; c < k; c++)
    if (s->row.bonus[c] > -INFINITY && !nor_is_on(list->state, c)) nor_flip(list->state, c);
}

double nor_find_states(nor_lists *lists, int i, nor_search *s) {
  const int words = lists->words, n_before = lists->n_state[i];
  nor_list list = {n_before, lists->size, lists->weight + num_at(0, i, lists->size),
                   nor_listed(lists, i, 0)};
  if (list.n == 0) first_states(s, &list, words);
  search(s, &list, words, n_before == 0 ? FRESH_ROUNDS + s->row.k : 1);
  lists->n_state[i] = list.n;
  const double log = num_log_sum_exp(list.log, list.n);
  for (int l = 0; l < list.n; l++) list.log[l] = isfinite(log) ? exp(list.log[l] - log) : 0;
  return log;
}
