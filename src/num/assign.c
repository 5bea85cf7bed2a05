#include "num/assign.h"
#include "num/base.h"

#include <math.h>
#include <string.h>

/* Rows and columns are numbered from 1; 0 stands for an unassigned row or column. */
typedef struct {
  int k;
  const double *cost;
  double *row_price, *column_price, *slack;
  /* owner, from, done: for each column, its row, the preceding column on the path, whether it is in
   * the tree. */
  int *owner, *from, *done;
} assignment;

/* Adjusts the prices until one more column joins the tree of alternating paths; returns that column. */
static int grow_tree(assignment *a, int column) {
  const int row = a->owner[column];
  double least = INFINITY;
  int next = 0;
  a->done[column] = 1;
  for (int j = 1; j <= a->k; j++) {
    if (a->done[j]) continue;
    const double left =
        a->cost[num_at(row - 1, j - 1, a->k)] - a->row_price[row] - a->column_price[j];
    if (left < a->slack[j]) {
      a->slack[j] = left;
      a->from[j] = column;
    }
    if (a->slack[j] < least) {
      least = a->slack[j];
      next = j;
    }
  }
  for (int j = 0; j <= a->k; j++) {
    if (a->done[j]) {
      a->row_price[a->owner[j]] += least;
      a->column_price[j] -= least;
    } else {
      a->slack[j] -= least;
    }
  }
  return next;
}

void num_assign(int k, const double *cost, int *column, double *work, int *index) {
  const int size = k + 1;
  assignment a = {.k = k, .cost = cost};
  a.row_price = work;
  a.column_price = work + size;
  a.slack = a.column_price + size;
  a.owner = index;
  a.from = index + size;
  a.done = a.from + size;
  memset(work, 0, 2 * (size_t) size * sizeof *work);
  memset(index, 0, 3 * (size_t) size * sizeof *index);
  for (int row = 1; row <= k; row++) {
    int at = 0;
    a.owner[0] = row;
    for (int j = 0; j <= k; j++) {
      a.slack[j] = INFINITY;
      a.done[j] = 0;
    }
    do at = grow_tree(&a, at);
    while (a.owner[at] != 0);
    while (at != 0) { /* augments along the path */
      a.owner[at] = a.owner[a.from[at]];
      at = a.from[at];
    }
  }
  for (int j = 1; j <= k; j++) column[a.owner[j] - 1] = j - 1;
}
