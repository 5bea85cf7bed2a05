#ifndef MC_CHECK_RANDOM_H
#define MC_CHECK_RANDOM_H

#include "check.h"

/* Replaces R's generator, with the same numbers in every test. For one file of a program. */
double unif_rand(void);
double norm_rand(void);
double exp_rand(void);
double unif_rand(void) { return check_uniform(); }
double exp_rand(void) { return -log(check_uniform()); }
double norm_rand(void) {
  const double radius = sqrt(-2 * log(check_uniform()));
  return radius * cos(6.283185307179586 * check_uniform());
}

#endif
