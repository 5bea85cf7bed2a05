/*
 * num_rng.h: random draws for samplers, through R's generator. The caller of a
 * kernel owns the generator's state (GetRNGstate(), PutRNGstate() in the glue).
 * All Gammas are (shape, rate).
 */
#ifndef MC_NUM_RNG_H
#define MC_NUM_RNG_H

#include <Rmath.h>

static inline double num_unif(void) { return unif_rand(); }
static inline double num_norm(void) { return norm_rand(); }
static inline double num_exp(void) { return exp_rand(); }

/* Gamma(shape, rate), shape > 0, rate > 0. */
static inline double num_gamma(double shape, double rate) { return rgamma(shape, 1 / rate); }

static inline int num_poisson(double mean) { return mean > 0 ? (int) rpois(mean) : 0; }

/* Uniform on 0 .. n - 1, n >= 1. */
static inline int num_below(int n) {
  const int i = (int) (num_unif() * n);
  return i < n ? i : n - 1;
}

/* TRUE with the probability whose log odds these are. */
static inline int num_coin(double log_odds) { return num_unif() < 1 / (1 + exp(-log_odds)); }

/* index becomes a uniformly random order of itself. */
void num_shuffle(int *index, int n);

/* One of 0 .. n - 1 with probability proportional to exp(weight[]), n >= 1; weight is used up. */
int num_pick_log(double *weight, int n);

/*
 * Polya-Gamma PG(1, z), exactly: Polson, Scott & Windle (2013),
 * doi:10.1080/01621459.2013.829001, after Devroye's alternating series.
 */
double num_polya_gamma(double z);

#endif
