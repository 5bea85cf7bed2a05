#include "num/ranking.h"

#include <math.h>
#include <string.h>

static void meet(num_tally *t, int hit) {
  t->new_hits += hit;
  t->new_others += 1 - hit;
}

/* Cells of one score are met together: each other cell loses to the hits above it, and half to those beside it. */
static void settle(num_tally *t) {
  t->wins += t->new_others * (t->hits + t->new_hits / 2);
  t->hits += t->new_hits;
  t->others += t->new_others;
  if (t->new_hits > 0) t->precision += t->new_hits * t->hits / (t->hits + t->others);
  t->new_hits = t->new_others = 0;
}

void num_ranking(const num_ranked *cells, num_tally *tally, double *auc, double *ap) {
  num_tally *all = tally + cells->n_row;
  memset(tally, 0, ((size_t) cells->n_row + 1) * sizeof *tally);
  for (int first = 0, next; first < cells->n_cell; first = next) {
    const double score = cells->score[cells->order[first] - 1];
    next = first;
    do {
      const int cell = cells->order[next] - 1;
      meet(tally + cells->row[cell] - 1, cells->hit[cell]);
      meet(all, cells->hit[cell]);
      next++;
    } while (next < cells->n_cell && cells->score[cells->order[next] - 1] == score);
    for (int at = first; at < next; at++) settle(tally + cells->row[cells->order[at] - 1] - 1);
    settle(all);
  }
  for (int i = 0; i <= cells->n_row; i++) {
    const num_tally *t = tally + i;
    auc[i] = t->hits > 0 && t->others > 0 ? t->wins / (t->hits * t->others) : NAN;
    ap[i] = t->hits > 0 ? t->precision / t->hits : NAN;
  }
}
