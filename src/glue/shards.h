/* glue/shards.h: shared by the entry points of models in shards (engine/shards.h). */
#ifndef MC_GLUE_SHARDS_H
#define MC_GLUE_SHARDS_H

#include "engine/shards.h"
#include "glue/glue.h"

/*
 * A model whose iteration is a sum over rows. fields: the names of its n_shared shared parameters,
 * then, if has_rows, of the rows' parameters, which model() takes from call->out; then "outcome"
 * and the fields that finish() adds to a fit in memory, from model.shared or the result of whole().
 */
typedef struct {
  const char **fields;
  int n_shared;
  bool has_rows;
  mc_shards (*model)(glue_call *call);
  void (*finish)(glue_call *call, const mc_model *fitted); /* or NULL */
  mc_model (*whole)(glue_call *call); /* iterations over a table in memory; NULL: by model() */
} glue_sum_recipe;

/*
 * Without `evaluate` and `steps` in param: a fit in memory.
 *
 * With `evaluate`: the scan of a shard, which makes an iteration of its rows or, if TRUE, evaluates
 * them. Returns list(rows, sums), as in mc_shards. param may also have caps (m numbers) and before
 * (the rows' parameters before those of param).
 *
 * With `steps`: the fit of a driver, whose view has no rows. Its functions give access to the shards.
 * iteration(shared, caps) and objective(shared, caps) return the sums over all shards (complete, or
 * the head) at the shared parameters, a list of the first n_shared fields of call->out. save(which,
 * cycles, shared), with the four numbers of mc_cycles or NULL, restore(which) and extrapolate(length)
 * apply to the rows' parameters (engine/fit.h). If param has go_on = list(cycles, shared = the shared
 * parameters of theta_0), the fit resumes from a stop; the call's shared parameters are then theta_1.
 */
SEXP glue_sum_model(const glue_sum_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control);

#endif
