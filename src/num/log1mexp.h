/*
 * num/log1mexp.h: vectorised logarithms of numbers, and of the probability that a Poisson count is
 * positive.
 */
#ifndef MC_NUM_LOG1MEXP_H
#define MC_NUM_LOG1MEXP_H

#include <stddef.h>

/*
 * Computes, for n values y in [1e-9, 700], f = log(1 - exp(-y)), accurate to 1e-15 (absolute or relative,
 * whichever is wider), and slope = f'(y) = 1 / (exp(y) - 1), to 1e-14 relative.
 */
void num_log1mexp(const double *y, double *f, double *slope, ptrdiff_t n);

/* Replaces n positive numbers, none denormal, by their logarithms; accurate to 1e-15, absolute or relative. */
void num_logs(double *x, ptrdiff_t n);

/* Computes only the slope of num_log1mexp(). */
void num_log1mexp_slope(const double *y, double *slope, ptrdiff_t n);

#endif
