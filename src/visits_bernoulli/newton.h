/*
 * visits_bernoulli/newton.h: passes of Newton halves for the model whose detection is a model and where nothing
 * is added (visits_bernoulli/em.h), in the place of EM's closed forms.
 *
 * Given detection a cell's likelihood is L = p A + (1 - p) B, with A = P(visits | present), B = 1 where no
 * visit found anything, else 0, and p = sum_c membership[i,c] aspects[c,j]: linear in a row's memberships
 * and in a column's aspects. So each row, on the simplex, and each column, in the box, has a sum of logs
 * of linear functions to climb, as aspect_bernoulli/newton.h, with
 *   w = (aspects A + (1 - aspects) B) / L (rows), membership (A - B) / L (columns),  g = sum w,  H = sum w w'.
 * d = argmin { d'H d / 2 - g'd : within the bounds } with pseudo-counts in g and H; as logs of linear functions
 * are self-concordant, with lambda^2 = d'H d (of the likelihood) a step of t gains at least
 *   t g'd + t lambda + log(1 - t lambda) + sum of counts (log(1 + t change) - t change),
 * so that no line search is needed. Slopes climb as in a pass of EM; but once a start is under way aspects and
 * slopes of a column take Newton's step together, where the column's objective says that it gains. Memberships
 * that follow covariates climb by their effects: by EM's step, then by that of the likelihood's own curvature, likewise.
 */
#ifndef MC_VISITS_BERNOULLI_NEWTON_H
#define MC_VISITS_BERNOULLI_NEWTON_H

#include "visits_bernoulli/em.h"

typedef struct ab_visit_newton ab_visit_newton;

#define AB_VISITS_NEWTON_MOST 64 /* components */

/* Have these parameters such passes? */
bool ab_visits_has_newton(const ab_visit_data *data, const ab_visit_param *par);

/* Scratch is O(n m). */
ab_visit_newton *ab_visits_new_newton(const ab_visit_data *data, const ab_visit_param *par,
                                      const ab_prior *prior, int n_threads, const mc_host *host);

/*
 * One pass: memberships, aspects given these, slopes given both. Costs O(n m (k^2 + n_visit d^2));
 * allocates nothing; never lowers the objective of ab_visits_pass(), and returns it for the parameters it
 * was given: NaN or -Inf where a find is impossible, NaN where the host asked to stop.
 */
double ab_visits_newton_pass(const ab_visit_data *data, ab_visit_param *par, ab_visit_newton *work);

/* As a model for mc_fit(); blocks as in ab_visits_model(). */
typedef struct {
  ab_visit_self visits; /* first: its own functions are of this */
  ab_visit_newton *newton;
} ab_visit_newton_self;

mc_model ab_visits_newton_model(ab_visit_newton_self *self);

#endif
