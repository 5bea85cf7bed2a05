/*
 * num/lambert.h: the Lambert W function of an argument supplied as its logarithm, which cannot
 * overflow or underflow. Values are accurate to a few units in the last place.
 */
#ifndef MC_NUM_LAMBERT_H
#define MC_NUM_LAMBERT_H

/* Solves u - log(u) - 1 = excess for u >= 1: -W_{-1}(-exp(-1 - excess)). excess >= 0 may be Inf. */
double num_lambert_lower(double excess);

/* Solves w + log(w) = log_x for w >= 0: W_0(exp(log_x)), for any log_x. */
double num_lambert_exp(double log_x);

/* y - 1 - log(y) from y >= 0 and log(y): 0 at y = 1, without cancellation near it. */
double num_excess(double y, double log_y);

#endif
