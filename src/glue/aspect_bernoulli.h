/* glue/aspect_bernoulli.h: what the entry points of the aspect Bernoulli model and its kin share. */
#ifndef MC_GLUE_ASPECT_BERNOULLI_H
#define MC_GLUE_ASPECT_BERNOULLI_H

#include "aspect_bernoulli/vb.h"
#include "glue/glue.h"

/* c(one, zero, membership): pseudo-counts. */
ab_prior glue_ab_prior(SEXP prior);

/* c(one, zero, membership): parameters of the Beta and Dirichlet priors. */
ab_vb_prior glue_ab_vb_prior(SEXP prior);

#endif
