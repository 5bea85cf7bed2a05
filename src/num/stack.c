#include "num/stack.h"

#include <math.h>
#include <string.h>

#define TILE 64

/* Copies the scores of up to TILE cells of column j from cell i on into the rows of z; the first row is 1. */
static void take_tile(const num_stack *stack, int i, int j, int size, double (*z)[TILE]) {
  for (int e = 0; e < size; e++) z[0][e] = 1;
  for (int l = 0; l < stack->l; l++) {
    const num_score *score = stack->score + l;
    const ptrdiff_t at = num_at(i, j, stack->n);
    if (score->packed)
      for (int e = 0; e < size; e++) z[l + 1][e] = num_unpack(score->packed[at + e]);
    else if (score->real)
      memcpy(z[l + 1], score->real + at, (size_t) size * sizeof(double));
    else
      for (int e = 0; e < size; e++) z[l + 1][e] = score->each[j];
  }
}

NUM_HOT static void add_square(const num_stack *stack, int size, double (*z)[TILE], double *out) {
  const int l1 = stack->l + 1;
  double part[TILE];
  for (int c = 0; c < l1; c++) {
    const double *column = stack->covariance + num_at(0, c, l1);
    for (int e = 0; e < size; e++) part[e] = column[c] * z[c][e];
    for (int d = 0; d < c; d++)
      for (int e = 0; e < size; e++) part[e] += 2 * column[d] * z[d][e];
    for (int e = 0; e < size; e++) out[e] += part[e] * z[c][e];
  }
  for (int e = 0; e < size; e++) out[e] = sqrt(fmax(out[e], 0));
}

void num_stack_column(const num_stack *stack, int j, double *out) {
  double z[NUM_MOST_SCORES + 1][TILE];
  memset(out, 0, (size_t) stack->n * sizeof *out);
  for (int i = 0; i < stack->n; i += TILE) {
    const int size = stack->n - i < TILE ? stack->n - i : TILE;
    take_tile(stack, i, j, size, z);
    if (stack->covariance) {
      add_square(stack, size, z, out + i);
      continue;
    }
    for (int l = 0; l <= stack->l; l++)
      for (int e = 0; e < size; e++) out[i + e] += stack->weights[l] * z[l][e];
  }
}
