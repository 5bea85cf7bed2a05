/* glue/smooth.h: neighbours, as R sends them. */
#ifndef MC_GLUE_SMOOTH_H
#define MC_GLUE_SMOOTH_H

#include "engine/smooth.h"
#include "glue/glue.h"

/*
 * list(strength, recording) with the neighbour lists of n rows, or with
 * reference (k x n) and common (k); R_NilValue gives NULL. pinned as in ab_param.
 */
mc_smooth *glue_smooth(SEXP smooth, int n, int k, const int *pinned, int n_threads,
                       const mc_host *host);

#endif
