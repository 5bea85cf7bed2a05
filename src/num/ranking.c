#include "num/ranking.h"

#include <math.h>
#include <string.h>

#define DIGIT 11 /* bits per radix digit */
#define DIGITS 6
#define VALUES (1 << DIGIT)

/* Sort key of a score: a double's bits rise with it if it is positive and fall if it is negative; 0
 * and -0 have one key. */
static uint64_t key_of(double score) {
  const double value = score == 0 ? 0 : score;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? bits : ~bits ^ UINT64_C(1) << 63;
}

/* Radix sort by keys, alternating between the halves of keyed. */
static const num_keyed *sort_cells(const num_ranked *cells, num_keyed *keyed) {
  int count[DIGITS][VALUES] = {{0}};
  num_keyed *from = keyed, *to = keyed + cells->n_cell;
  for (int i = 0; i < cells->n_cell; i++) {
    from[i] = (num_keyed){key_of(cells->score[i]), i};
    for (int d = 0; d < DIGITS; d++) count[d][from[i].key >> d * DIGIT & (VALUES - 1)]++;
  }
  for (int d = 0; d < DIGITS; d++) {
    int next[VALUES] = {0};
    for (int v = 1; v < VALUES; v++) next[v] = next[v - 1] + count[d][v - 1];
    for (int i = 0; i < cells->n_cell; i++)
      to[next[from[i].key >> d * DIGIT & (VALUES - 1)]++] = from[i];
    num_keyed *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

static void meet(num_tally *t, int hit) {
  t->new_hits += hit;
  t->new_others += 1 - hit;
}

/* Counts the cells of one score together: another cell loses to each hit above it, and half to each
 * hit at its score. */
static void settle(num_tally *t) {
  const double won = t->hits + t->new_hits / 2, lost = t->others + t->new_others / 2;
  t->wins += t->new_others * won;
  t->won_squared += t->new_others * won * won;
  t->lost_squared += t->new_hits * lost * lost;
  t->hits += t->new_hits;
  t->others += t->new_others;
  if (t->new_hits > 0) t->precision += t->new_hits * t->hits / (t->hits + t->others);
  t->new_hits = t->new_others = 0;
}

/* Variance of a mean of n numbers, from their sum and sum of squares. */
static double mean_variance(double n, double sum, double squares) {
  return fmax(squares - sum * sum / n, 0) / (n - 1) / n;
}

static double auc_error(const num_tally *t) {
  if (t->hits < 2 || t->others < 2) return NAN;
  const double pairs = t->hits * t->others;
  return sqrt(mean_variance(t->hits, pairs - t->wins, t->lost_squared) / (t->others * t->others) +
              mean_variance(t->others, t->wins, t->won_squared) / (t->hits * t->hits));
}

void num_ranking(const num_ranked *cells, num_keyed *keyed, num_tally *tally,
                 const num_ranks *out) {
  num_tally *all = tally + cells->n_row;
  const num_keyed *sorted = sort_cells(cells, keyed);
  memset(tally, 0, ((size_t) cells->n_row + 1) * sizeof *tally);
  for (int first = 0, next; first < cells->n_cell; first = next) {
    next = first;
    do {
      const int cell = sorted[next].cell;
      meet(tally + cells->row[cell] - 1, cells->hit[cell]);
      meet(all, cells->hit[cell]);
      next++;
    } while (next < cells->n_cell && sorted[next].key == sorted[first].key);
    for (int at = first; at < next; at++) settle(tally + cells->row[sorted[at].cell] - 1);
    settle(all);
  }
  for (int i = 0; i <= cells->n_row; i++) {
    const num_tally *t = tally + i;
    out->auc[i] = t->hits > 0 && t->others > 0 ? t->wins / (t->hits * t->others) : NAN;
    out->se[i] = auc_error(t);
    out->ap[i] = t->hits > 0 ? t->precision / t->hits : NAN;
  }
}

int num_descend(const num_ranked *cells, num_keyed *keyed, int *hits, int *all) {
  const num_keyed *sorted = sort_cells(cells, keyed);
  int n_step = 0, n_hit = 0;
  for (int i = 0; i < cells->n_cell; i++) {
    n_hit += cells->hit[sorted[i].cell];
    if (i + 1 < cells->n_cell && sorted[i + 1].key == sorted[i].key) continue;
    hits[n_step] = n_hit;
    all[n_step++] = i + 1;
  }
  return n_step;
}
