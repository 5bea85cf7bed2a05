/*
 * num/safe_step.h: how far a step may go along a direction, without a line search.
 *
 * The objective is a sum of logs of linear functions and of what is said below. Along x + t d each
 * of its logs gains log(1 + t e) >= t e + t |e| + log(1 - t |e|), and the last two terms over e^2
 * fall with |e|. So with rise = g'd and lambda^2 = d'H d = sum of all e^2 the sum gains at least
 *   bound(t) = t rise + t lambda + log(1 - t lambda):
 * logs of linear functions are self-concordant. Logs whose change is known one by one, count
 * log(1 + t change), go in as they are, and what has a parabola of curvature `light` below it loses
 * t^2 light / 2 by it; the slopes of both are in the rise, and neither is in lambda.
 */
#ifndef MC_NUM_SAFE_STEP_H
#define MC_NUM_SAFE_STEP_H

typedef struct {
  double rise, lambda;
  double light; /* 0: there is none */
  int n;        /* logs that are known one by one */
  const double *count, *change;
} num_safe_step;

/* With lambda and all changes below this num_safe_length() is 1, whatever `light` is. */
#define NUM_SAFE_SHORT 0.3

/* 1 where bound(1) is at least a quarter of the rise, else where bound() is largest; 0: no rise. */
double num_safe_length(const num_safe_step *q);

/* The first of 1, 1/2, 1/4, ... whose bound() is at least a quarter of t rise; 0: none is. */
double num_safe_halving(const num_safe_step *q);

#endif
