/* num/logistic.h: vectorised logistic function and its quadratic bound. */
#ifndef MC_NUM_LOGISTIC_H
#define MC_NUM_LOGISTIC_H

#include <stddef.h>

/* Replaces n values x >= 0 by exp(-x), accurate to 2 units in the last place; exp(-700) beyond 700;
 * NaN stays. */
void num_exp_minus(double *x, ptrdiff_t n);

/* Replaces n values by the logistic function 1 / (1 + exp(-x)), with the same accuracy. */
void num_logistic(double *x, ptrdiff_t n);

/*
 * The quadratic lower bound of Jaakkola & Jordan (2000, doi:10.1023/A:1008932416310)
 * to the logarithm of the logistic function, tight at theta:
 *   log logistic(t) >= log logistic(theta) + (t - theta) / 2 - weight (t^2 - theta^2) / 2.
 * Replaces n values of theta by weight = tanh(theta / 2) / (2 theta), within (0, 1/4], and
 * returns the sum of log(1 + exp(theta)).
 */
double num_logistic_weights(double *theta, ptrdiff_t n);

/* log(p / (1 - p)), with p limited to [least, 1 - least]; NaN stays. */
double num_log_odds(double p, double least);

#endif
