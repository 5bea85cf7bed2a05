/*
 * visits_bernoulli/inform.h: for the model with detection by covariates (visits_bernoulli/em.h) and
 * fixed memberships, the information about each attribute and Newton's steps to its optimum.
 */
#ifndef MC_VISITS_BERNOULLI_INFORM_H
#define MC_VISITS_BERNOULLI_INFORM_H

#include "visits_bernoulli/em.h"

/*
 * For each attribute, with fixed memberships, as functions of t = (logit aspects[,j], slopes[,j]),
 * k + d entries: the log-likelihood of its cells plus its log-prior (value), the gradient and minus
 * the Hessian. With A = P(visits | present), B = P(visits | absent), L = p A + (1 - p) B, tau = p A
 * / L, r = (A - B) / L, S = sum_v (x_v - q_v) design_v and F = sum_v q_v (1 - q_v) design_v
 * design_v', q = 1 - missed, a cell adds
 *   gradient: r dp/dt, and tau S;
 *   Hessian:  r d2p/dt2 - r^2 dp/dt dp/dt', tau (1 - tau) S S' - tau F, and dp/dt S' (A / L - tau r).
 */
typedef struct {
  double *value;       /* m */
  double *gradient;    /* (k + d) x m */
  double *information; /* (k + d) x (k + d) x m */
} ab_visit_information;

void ab_visits_inform(const ab_visit_data *data, const ab_visit_param *par, const ab_prior *prior,
                      const ab_visit_information *out, const mc_host *host);

/*
 * Newton's steps t + H^-1 g of each attribute with fixed memberships, because EM converges slowly
 * near the optimum. If H is not definite, a ridge makes it so. Entries of a step are limited to 5;
 * a step is halved until the value increases. Aspects within AB_VISITS_EDGE of 0 or 1 do not move,
 * nor does an attribute whose value is not finite or whose expected gain is at most 1e-10. At most
 * `most` steps, each O(n (n_visit d^2 + (k + d)^2)); the host may stop before each, which leaves
 * all attributes no worse.
 */
#define AB_VISITS_EDGE 1e-6

void ab_visits_polish(const ab_visit_data *data, ab_visit_param *par, const ab_prior *prior,
                      int most, const mc_host *host);

#endif
