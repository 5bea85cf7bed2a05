/*
 * aspect_bernoulli/effort.h: the aspect Bernoulli model (aspect_bernoulli/em.h) whose last
 * component is a white phantom, fixed at 0, with a share that depends on the effort spent on each
 * observation:
 *   membership[i,k] = 1 / (1 + exp(-coef[0] - coef[1] effort[i])).
 * The other components share the remainder as they do without effort.
 */
#ifndef MC_ASPECT_BERNOULLI_EFFORT_H
#define MC_ASPECT_BERNOULLI_EFFORT_H

#include "aspect_bernoulli/newton.h"

/*
 * The weighted logistic regression of the phantom's counts on effort. It needs only two sums of the
 * counts, so rows of equal effort may be merged.
 */
typedef struct {
  int n;
  const double *effort; /* n, best of mean 0 and variance 1 */
  const double *cells; /* n: observed cells of the rows with that effort, and their pseudo-counts */
  double count[2];     /* the phantom's of all rows: their sum, and that times effort */
} ab_curve;

/* Newton's method from coef to the maximum of the likelihood, which is concave; never decreases it. */
void ab_curve_fit(const ab_curve *curve, double *coef);

typedef struct {
  ab_self ab;           /* its memberships follow coef on return from every function here */
  double *coef;         /* 2: intercept and slope of the log-odds of the phantom's share */
  const double *effort; /* n, as in ab_curve */
  const double *cells;  /* n, of ab_effort_cells() */
  ab_newton *newton;    /* for the aspects' half; NULL: that of EM */
} ab_effort;

/* Number of observed cells of each row plus pseudo-counts; memory from the host. */
const double *ab_effort_cells(const mc_data *data, const ab_prior *prior, const mc_host *host);

/* Counts of the last component, if memberships hold the shares of expected counts. */
void ab_effort_counts(const ab_effort *self, double *count);

/* Sets the last component's share from coef and scales the others to the remainder. */
void ab_effort_impose(ab_effort *self);

/*
 * One EM iteration: expected counts of the components in every row; coef by ab_curve_fit(); the
 * rest of each row in proportion to its counts; then the aspects, eqs. (19)-(21) or Newton's step,
 * given these memberships. Costs half as much again as ab_pass(), never decreases the objective,
 * and returns its value at the supplied parameters.
 */
double ab_effort_pass(ab_effort *self);

/* The model for mc_fit(); blocks: membership, aspects, coef. */
mc_model ab_effort_model(ab_effort *self);

#endif
