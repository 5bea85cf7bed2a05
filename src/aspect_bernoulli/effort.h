/*
 * aspect_bernoulli/effort.h: the aspect Bernoulli model (aspect_bernoulli/em.h) whose last component is a white
 * phantom, pinned at 0, with a share that follows the effort spent on each observation:
 *   membership[i,k] = 1 / (1 + exp(-coef[0] - coef[1] effort[i])),
 * the other components sharing what is left as they do without.
 */
#ifndef MC_ASPECT_BERNOULLI_EFFORT_H
#define MC_ASPECT_BERNOULLI_EFFORT_H

#include "aspect_bernoulli/newton.h"

/*
 * The curve's problem: the weighted logistic regression of the phantom's counts on effort. Of the
 * counts it needs two sums alone, so that rows of the same effort may be one.
 */
typedef struct {
  int n;
  const double *effort; /* n, best of mean 0 and variance 1 */
  const double *cells; /* n: observed cells of the rows with that effort, and their pseudo-counts */
  double count[2];     /* the phantom's of all rows: their sum, and that times effort */
} ab_curve;

/* Newton steps from coef to the maximum of the likelihood, which is concave and does not fall. */
void ab_curve_fit(const ab_curve *curve, double *coef);

typedef struct {
  ab_self ab;           /* its memberships follow coef on return from every function here */
  double *coef;         /* 2: intercept and slope of the log-odds of the phantom's share */
  const double *effort; /* n, as in ab_curve */
  const double *cells;  /* n, of ab_effort_cells() */
  ab_newton *newton;    /* for the aspects' half; NULL: that of EM */
} ab_effort;

/* Of each row of the data; memory of the host's. */
const double *ab_effort_cells(const mc_data *data, const ab_prior *prior, const mc_host *host);

/* The counts of the last component, where memberships are the shares of expected counts. */
void ab_effort_counts(const ab_effort *self, double *count);

/* Gives the last component the share that coef says, the others the rest in their proportions. */
void ab_effort_impose(ab_effort *self);

/*
 * One EM pass: expected counts of the components in every row; coef by ab_curve_fit(); the
 * rest of each row in proportion to its counts; then the aspects, eqs. (19)-(21) or a Newton half,
 * given these memberships.
 * Costs half as much again as ab_pass(), never lowers the objective, and returns it for the
 * parameters it was given.
 */
double ab_effort_pass(ab_effort *self);

/* The same as a model for mc_fit(); blocks: membership, aspects, coef. */
mc_model ab_effort_model(ab_effort *self);

#endif
