/*
 * visits_bernoulli/newton.h: iterations of alternating Newton steps for the model with a detection
 * model and nothing added (visits_bernoulli/em.h), instead of EM's closed forms.
 *
 * With fixed detection a cell's likelihood is L = p A + (1 - p) B, with A = P(visits | present), B
 * = 1 without a detection, else 0, and p = sum_c membership[i,c] aspects[c,j]: linear in a row's
 * memberships and in a column's aspects. So each row, on the simplex, and each column, in the box,
 * maximises a sum of logs of linear functions, as in aspect_bernoulli/newton.h, with
 *   w = (aspects A + (1 - aspects) B) / L (rows), membership (A - B) / L (columns),  g = sum w,  H = sum w w'.
 * d = argmin { d'H d / 2 - g'd : within the bounds } with pseudo-counts in g and H; as logs of
 * linear functions are self-concordant, with lambda^2 = d'H d (of the likelihood) a step of t gains
 * at least
 *   t g'd + t lambda + log(1 - t lambda) + sum of counts (log(1 + t change) - t change),
 * so no line search is needed. Slopes take EM's step; after the first iterations aspects and slopes
 * of a column take a joint Newton step if the column's objective gains. Effects of covariates of
 * memberships likewise take EM's step first, later Newton's step with the likelihood's curvature.
 */
#ifndef MC_VISITS_BERNOULLI_NEWTON_H
#define MC_VISITS_BERNOULLI_NEWTON_H

#include "visits_bernoulli/em.h"

typedef struct ab_visit_newton ab_visit_newton;

#define AB_VISITS_NEWTON_MOST 64 /* components */

/* Returns whether these iterations apply to the model. */
bool ab_visits_has_newton(const ab_visit_data *data, const ab_visit_param *par);

/* Scratch is O(n m). */
ab_visit_newton *ab_visits_new_newton(const ab_visit_data *data, const ab_visit_param *par,
                                      const ab_prior *prior, int n_threads, const mc_host *host);

/*
 * One iteration: memberships, aspects given these, slopes given both. Costs O(n m (k^2 + n_visit
 * d^2)); allocates nothing. Never decreases the objective of ab_visits_pass(), whose value at the
 * supplied parameters it returns: NaN or -Inf if a detection is impossible, NaN if the host
 * requested a stop.
 */
double ab_visits_newton_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_newton *work);

/* The model for mc_fit(); blocks as in ab_visits_model(). */
typedef struct {
  ab_visit_self visits; /* first: its functions take this as their self */
  ab_visit_newton *newton;
} ab_visit_newton_self;

mc_model ab_visits_newton_model(ab_visit_newton_self *self);

#endif
