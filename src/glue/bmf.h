/* glue/bmf.h: shared by the entry points of bmf(). */
#ifndef MC_GLUE_BMF_H
#define MC_GLUE_BMF_H

#include "bmf/private.h"
#include "glue/glue.h"

/*
 * R's representation of a model: list(family, infinite, n_fixed, beta, learned, shape, rate); of a
 * state: list(rows = n x K raw, columns = m x L raw, weights = K x L, hyper = BMF_N_HYPER values).
 */
typedef struct {
  mc_data data[2];
  mc_host host;
  glue_context context;
  bmf_state state;
} bmf_arguments;

/* Reads a state into arg, which must not be moved because its members point to one another. */
void bmf_read_state(bmf_arguments *arg, SEXP view, SEXP transposed, SEXP model, SEXP state,
                    SEXP control);

#endif
