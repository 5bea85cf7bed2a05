/* smooth_agree.c: neighbours of posteriors of single labels, the second form of smooth.h. */
#include <string.h>

#include "smooth_inner.h"

/* The pull of the second form on rows first to last; term holds q[i] pull[i]. */
NUM_HOT static void gather_agreement(mc_smooth *smooth, int first, int last) {
  const mc_smooth_lists *lists = &smooth->lists;
  const int width = smooth->width;
  for (int i = first; i < last; i++) {
    const double *q = smooth->composition + num_at(0, i, width);
    double *pull = smooth->pull + num_at(0, i, width);
    memset(pull, 0, (size_t) width * sizeof *pull);
    add_columns(pull, smooth->composition, width, lists->neighbour, lists->weight, lists->start[i],
                lists->start[i + 1]);
    add_columns(pull, smooth->composition, width, lists->back_row, lists->back_weight,
                lists->back_start[i], lists->back_start[i + 1]);
    for (int c = 0; c < width; c++) pull[c] *= lists->strength / 2;
    smooth->term[i] = num_dot(q, pull, width);
  }
}

double mc_smooth_agree(mc_smooth *smooth, const double *posterior) {
  double sum = 0;
  smooth->membership = posterior;
  mc_smooth_by_chunks(smooth, mc_smooth_compose);
  mc_smooth_by_chunks(smooth, gather_agreement);
  for (int i = 0; i < smooth->n; i++) sum += smooth->term[i];
  return sum / 2;
}

double mc_smooth_hold(const mc_smooth *smooth, int i) {
  const mc_smooth_lists *lists = &smooth->lists;
  double sum = lists->start[i] < lists->start[i + 1] ? 1 : 0;
  for (int e = lists->back_start[i]; e < lists->back_start[i + 1]; e++)
    sum += lists->back_weight[e];
  return lists->strength * sum / 4;
}
