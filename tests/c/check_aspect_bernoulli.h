/* check_aspect_bernoulli.h: tables with parameters, for the tests of kernels of the aspect Bernoulli model. */
#ifndef MC_CHECK_ASPECT_BERNOULLI_H
#define MC_CHECK_ASPECT_BERNOULLI_H

#include "aspect_bernoulli/em.h"
#include "check_data.h"
#include "check_prior.h"

typedef struct {
  int n, m, k;
  double *x; /* n x m */
  mc_data data;
  ab_param par;
  ab_prior prior;
} problem;

static inline problem new_problem(int n, int m, int k, double missing) {
  problem p = {.n = n, .m = m, .k = k};
  p.x = check_table(n, m, 0.3, missing);
  p.data = check_view(p.x, n, m);
  p.prior = alike(k, 0, 0, 0);
  p.par.k = k;
  p.par.membership = check_simplex(n, k);
  p.par.aspects = check_probabilities((ptrdiff_t) k * m);
  return p;
}

/* A host that outlives the call. */
static inline const mc_host *new_host(void) {
  mc_host *host = check_alloc(NULL, 1, sizeof *host);
  *host = check_host();
  return host;
}

static inline problem copy_problem(const problem *p) {
  problem out = *p;
  out.par.membership = exact_copy(p->par.membership, (ptrdiff_t) p->n * p->k);
  out.par.aspects = exact_copy(p->par.aspects, (ptrdiff_t) p->k * p->m);
  return out;
}

static inline double difference(const problem *a, const problem *b) {
  return fmax(check_distance(a->par.membership, b->par.membership, (ptrdiff_t) a->n * a->k),
              check_distance(a->par.aspects, b->par.aspects, (ptrdiff_t) a->k * a->m));
}

#endif
