/*
 * aspect_bernoulli/effort.h: the aspect Bernoulli model (aspect_bernoulli/em.h) whose last component is a white
 * phantom, pinned at 0, with a share that follows the effort spent on each observation:
 *   membership[i,k] = 1 / (1 + exp(-coef[0] - coef[1] effort[i])),
 * the other components sharing what is left as they do without.
 */
#ifndef MC_ASPECT_BERNOULLI_EFFORT_H
#define MC_ASPECT_BERNOULLI_EFFORT_H

#include "aspect_bernoulli/newton.h"

typedef struct {
  ab_self ab;           /* its memberships follow coef on return from every function here */
  double *coef;         /* 2: intercept and slope of the log-odds of the phantom's share */
  const double *effort; /* n, best of mean 0 and variance 1 */
  const ab_prior *prior;
  ab_newton *newton; /* for the aspects' half; NULL: that of EM */
} ab_effort;

/* Gives the last component the share that coef says, the others the rest in their proportions. */
void ab_effort_impose(ab_effort *self);

/*
 * One EM pass: expected counts of the components in every row; coef by Newton steps of the weighted
 * logistic regression of the phantom's counts, whose likelihood is concave and never falls; the
 * rest of each row in proportion to its counts; then the aspects, eq. (20) or a Newton half, given
 * these memberships.
 * Costs half as much again as ab_pass(), never lowers the objective, and returns it for the
 * parameters it was given.
 */
double ab_effort_pass(ab_effort *self);

/* The same as a model for mc_fit(); blocks: membership, aspects, coef. */
mc_model ab_effort_model(ab_effort *self);

#endif
