/* num/entropic.h: the M-step of the entropic prior. */
#ifndef MC_NUM_ENTROPIC_H
#define MC_NUM_ENTROPIC_H

#include <stdbool.h>

/* Algorithm of the entropic M-step for beta > 0. */
typedef enum {
  NUM_CCCP,   /* one ascent step from theta: the convex part is replaced by its tangent */
  NUM_GLOBAL, /* the global maximum */
  NUM_FIRST   /* the local maximum with the smallest largest share */
} num_entropic_rule;

/*
 * The entropic M-step: theta maximises (with NUM_CCCP and beta > 0: increases)
 *   f = sum_i counts[i] log theta[i] + beta sum_i theta[i] log theta[i];
 * Shashanka, Raj & Smaragdis (2007), eqs. (7)-(8), after Brand (1999): counts is omega or xi there.
 * beta > 0 makes theta sparse; beta < 0 makes it even, and the single maximum is always found
 * exactly. counts * s and beta * s give the same theta, so any finite magnitudes are allowed.
 *
 * The paper puts every share on the branch W_-1 of the Lambert W function. That is not always the
 * maximum and need not exist: if beta exceeds the largest count, the largest share may lie on W_0.
 * NUM_GLOBAL returns the best of all maxima; NUM_FIRST returns the paper's, if it exists. They
 * differ only for beta above the largest of many nearly equal counts.
 *
 * theta holds the old point on entry. If no count is positive, it is unchanged and false is
 * returned. A positive count has a positive share; a zero count has share 0 for beta >= 0 and a
 * positive share for beta < 0. Of several largest counts the first becomes the largest share. Costs
 * O(n) evaluations of W for each of some 5 to 10 Newton steps. scratch: n values.
 */
bool num_entropic(const double *counts, int n, double beta, num_entropic_rule rule, double *theta,
                  double *scratch);

#endif
