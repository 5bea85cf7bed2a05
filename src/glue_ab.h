/* glue_ab.h: what the entry points of the aspect Bernoulli model and its kin share. */
#ifndef MC_GLUE_AB_H
#define MC_GLUE_AB_H

#include "glue.h"
#include "model_ab.h"

/* c(one, zero, membership): pseudo-counts. */
ab_prior glue_ab_prior(SEXP prior);

#endif
