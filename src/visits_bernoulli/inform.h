/*
 * visits_bernoulli/inform.h: of the model with detection by covariates (visits_bernoulli/em.h), each attribute where
 * memberships are held: what the data say of it, and Newton's steps to its optimum.
 */
#ifndef MC_VISITS_BERNOULLI_INFORM_H
#define MC_VISITS_BERNOULLI_INFORM_H

#include "visits_bernoulli/em.h"

/*
 * What the data say of each attribute where memberships are held, of t = (logit aspects[,j],
 * slopes[,j]), k + d of them: the log-likelihood of its cells plus its log-prior, the gradient and
 * minus the Hessian of that. With A = P(visits | present), B = P(visits | absent), L = p A + (1 - p) B,
 * tau = p A / L, r = (A - B) / L, S = sum_v (x_v - q_v) design_v and F = sum_v q_v (1 - q_v) design_v
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
 * Newton's steps t + H^-1 g of each attribute, its memberships held: EM comes near the optimum and creeps the
 * rest of the way. Where H is not definite a ridge makes it so. No entry of a step is beyond 5; it is halved until
 * the value is larger. Aspects within AB_VISITS_EDGE of 0 or 1 stay, as does an attribute whose value is not finite, or
 * is to gain no more than 1e-10. At most `most` steps, each O(n (n_visit d^2 + (k + d)^2)); the host is asked before each,
 * and what it stops leaves all attributes no worse.
 */
#define AB_VISITS_EDGE 1e-6

void ab_visits_polish(const ab_visit_data *data, ab_visit_param *par, const ab_prior *prior,
                      int most, const mc_host *host);

#endif
