/*
 * num/multinomial_draw.h: draws the effects of a multinomial logistic regression (num/multinomial.h)
 * from their posterior given counts.
 */
#ifndef MC_NUM_MULTINOMIAL_DRAW_H
#define MC_NUM_MULTINOMIAL_DRAW_H

#include "num/multinomial.h"

/* Doubles of scratch. */
size_t num_multinomial_draw_work(int d, int k);

/*
 * Replaces the effects by later states of a Markov chain whose stationary density is that of
 * num_multinomial_log_density(), by Metropolis-Hastings. Proposals are t about the mode, which
 * depends on the counts (n x k, at least 0) only. Random numbers through num/rng.h. ridge must be
 * above 0.
 */
void num_multinomial_draw(const num_multinomial *by, int n, int k, const double *counts,
                          double *work);

#endif
