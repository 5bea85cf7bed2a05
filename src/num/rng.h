/*
 * num/rng.h: random draws for samplers, from R's generator. The caller of a kernel manages the
 * generator's state (GetRNGstate(), PutRNGstate() in the glue). All Gammas are (shape, rate).
 */
#ifndef MC_NUM_RNG_H
#define MC_NUM_RNG_H

#include <Rmath.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

static inline double num_unif(void) { return unif_rand(); }
static inline double num_norm(void) { return norm_rand(); }
static inline double num_draw_exp(void) { return exp_rand(); }

/* Gamma(shape, rate), shape > 0, rate > 0. */
static inline double num_draw_gamma(double shape, double rate) { return rgamma(shape, 1 / rate); }

/* Draws a Gamma limited to a range whose squares and products do not vanish: with a tiny shape most
 * draws would underflow, and a precision of 0 defines no distribution. */
#define NUM_GAMMA_LEAST 1e-200
#define NUM_GAMMA_MOST 1e200
static inline double num_draw_gamma_within(double shape, double rate) {
  const double draw = num_draw_gamma(shape, rate);
  return draw < NUM_GAMMA_LEAST ? NUM_GAMMA_LEAST : draw > NUM_GAMMA_MOST ? NUM_GAMMA_MOST : draw;
}

static inline int num_draw_poisson(double mean) {
  return mean > 0 ? (int) fmin(rpois(mean), INT_MAX) : 0;
}

/* Uniform on 0 .. n - 1, n >= 1. */
static inline int num_below(int n) {
  const int i = (int) (num_unif() * n);
  return i < n ? i : n - 1;
}

/* TRUE with the probability that has these log-odds. */
static inline int num_coin(double log_odds) { return num_unif() < 1 / (1 + exp(-log_odds)); }

/*
 * Uniform numbers in bulk from xoshiro256+ (Blackman & Vigna 2021, doi:10.1145/3460772), seeded
 * from R's generator, whose L'Ecuyer streams would take most of a sweep's time if each cell needs a
 * number. It is reseeded for each sweep, so R's generator is the only state between sweeps.
 */
typedef struct {
  uint64_t state[4];
} num_stream;

num_stream num_new_stream(void);
void num_fill_unif(num_stream *stream, double *x, int n); /* n numbers in [0, 1) */

/* Puts index into a uniformly random order. */
void num_shuffle(int *index, int n);

/* Draws one of 0 .. n - 1 with probability proportional to exp(weight[]), n >= 1; overwrites weight. */
int num_pick_log(double *weight, int n);

/*
 * Draws Polya-Gamma PG(1, z) exactly: Polson, Scott & Windle (2013),
 * doi:10.1080/01621459.2013.829001, with Devroye's alternating series.
 */
double num_draw_polya_gamma(double z);

#endif
