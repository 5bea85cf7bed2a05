/*
 * num/lambert.h: the Lambert W function, always on the logarithm of its
 * argument, so that no magnitude overflows or vanishes. Return
 * values are accurate to a few units in the last place.
 */
#ifndef MC_NUM_LAMBERT_H
#define MC_NUM_LAMBERT_H

/* u >= 1 with u - log(u) - 1 = excess; -W_{-1}(-exp(-1 - excess)). excess >= 0, may be Inf. */
double num_lambert_lower(double excess);

/* w >= 0 with w + log(w) = log_x; W_0(exp(log_x)). Any log_x. */
double num_lambert_exp(double log_x);

/* y - 1 - log(y) given both y >= 0 and log(y): 0 at y = 1, without cancellation around it. */
double num_excess(double y, double log_y);

#endif
