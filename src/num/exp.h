/* num/exp.h: exp() by its series, inline, so that the compiler can vectorise loops over it. */
#ifndef MC_NUM_EXP_H
#define MC_NUM_EXP_H

#include "num/base.h"

#define NUM_LOG2_E 1.44269504088896340735992468100
#define NUM_LN2_HIGH 6.93147180369123816490e-01 /* 33 bits, so that small multiples are exact */
#define NUM_LN2_LOW 1.90821492927058770002e-10
#define NUM_ROUNDER 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to a whole number */

/*
 * (exp(r) - 1) / r for |r| <= log(2) / 2; the first omitted term is below 1e-17. Even and odd
 * powers are summed separately: two dependency chains half as long.
 */
static NUM_INLINE double num_exp_ratio(double r) {
  const double w = r * r;
  double even = 1.0 / 6227020800.0, odd = 1.0 / 479001600.0;
  even = even * w + 1.0 / 39916800.0;
  odd = odd * w + 1.0 / 3628800.0;
  even = even * w + 1.0 / 362880.0;
  odd = odd * w + 1.0 / 40320.0;
  even = even * w + 1.0 / 5040.0;
  odd = odd * w + 1.0 / 720.0;
  even = even * w + 1.0 / 120.0;
  odd = odd * w + 1.0 / 24.0;
  even = even * w + 1.0 / 6.0;
  odd = odd * w + 0.5;
  return even * w + odd * r + 1.0;
}

#endif
