/* num/assign.h: the assignment problem. */
#ifndef MC_NUM_ASSIGN_H
#define MC_NUM_ASSIGN_H

/*
 * Assigns to each of k rows a different column, column[row], minimising the sum of cost (k x k,
 * column-major, finite). Kuhn's method with shortest augmenting paths, O(k^3). work: 3 (k + 1)
 * doubles, index: 3 (k + 1) ints.
 */
void num_assign(int k, const double *cost, int *column, double *work, int *index);

#endif
