/*
 * num/safe_step.h: step length along a direction without a line search.
 *
 * The objective is a sum of logs of linear functions and of the terms below. Along x + t d each of
 * its logs gains log(1 + t e) >= t e + t |e| + log(1 - t |e|), and the last two terms over e^2
 * decrease with |e|. So with rise = g'd and lambda^2 = d'H d = sum of all e^2 the sum gains at
 * least
 *   bound(t) = t rise + t lambda + log(1 - t lambda):
 * logs of linear functions are self-concordant. Logs whose changes are known individually, count
 * log(1 + t change), are used as they are. Terms bounded below by a parabola of curvature `light`
 * lose t^2 light / 2. The slopes of both are included in the rise, and neither in lambda.
 */
#ifndef MC_NUM_SAFE_STEP_H
#define MC_NUM_SAFE_STEP_H

typedef struct {
  double rise, lambda;
  double light; /* 0: there is none */
  int n;        /* number of logs whose changes are known individually */
  const double *count, *change;
} num_safe_step;

/* If lambda and all changes are below this, num_safe_length() is 1 for any `light`. */
#define NUM_SAFE_SHORT 0.3

/* Returns 1 if bound(1) is at least a quarter of the rise, else the maximiser of bound(); 0 without a rise. */
double num_safe_length(const num_safe_step *q);

/* Returns the first of 1, 1/2, 1/4, ... whose bound() is at least a quarter of t rise; 0 if there is none. */
double num_safe_halving(const num_safe_step *q);

#endif
