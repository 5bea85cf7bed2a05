/* num/entropic.h: the M-step of the entropic prior. */
#ifndef MC_NUM_ENTROPIC_H
#define MC_NUM_ENTROPIC_H

#include <stdbool.h>

/* How the entropic M-step is made where beta > 0. */
typedef enum {
  NUM_CCCP,   /* one step up from theta: the convex part replaced by its tangent */
  NUM_GLOBAL, /* the global maximum */
  NUM_FIRST   /* the local maximum with the smallest largest share */
} num_entropic_rule;

/*
 * The entropic M-step: theta maximises, or with NUM_CCCP and beta > 0 raises,
 *   f = sum_i counts[i] log theta[i] + beta sum_i theta[i] log theta[i];
 * Shashanka, Raj & Smaragdis (2007), eqs. (7)-(8): counts is omega or xi there.
 * beta > 0 makes theta sparse; beta < 0 makes it even, has one maximum and is
 * always solved exactly. counts * s and beta * s give the same theta, and any
 * finite magnitudes do. theta holds the old point on entry. Where no count is
 * positive it stays and false is returned. Cells with counts > 0 end above 0.
 * scratch: n values.
 */
bool num_entropic(const double *counts, int n, double beta, num_entropic_rule rule, double *theta,
                  double *scratch);

#endif
