/* glue/shards.h: what entry points of models in shards (engine/shards.h) share. */
#ifndef MC_GLUE_SHARDS_H
#define MC_GLUE_SHARDS_H

#include "engine/shards.h"
#include "glue/glue.h"

/*
 * A model whose pass is a sum over rows: fields are the names of its shared parameters, n_shared of
 * them, then, if has_rows, that of the rows', which model() takes from call->out; then "outcome" and
 * what finish() adds to a fit in memory, given model.shared or what whole() has returned.
 */
typedef struct {
  const char **fields;
  int n_shared;
  bool has_rows;
  mc_shards (*model)(glue_call *call);
  void (*finish)(glue_call *call, const mc_model *fitted); /* or NULL */
  mc_model (*whole)(glue_call *call); /* passes over a table in memory; NULL: those of model() */
} glue_sum_recipe;

/*
 * A fit in memory. Where param has `evaluate`, the scan of a shard, a pass of its rows or, if it is
 * TRUE, an evaluation of them: list(rows, sums), as mc_shards has it. param may also have caps (m
 * numbers) and before (the rows' parameters before those of param).
 *
 * Where param has `scan`, the fit of a driver, its view a table without rows. The shards are where the
 * caller's function scan(what, value, more) knows. "pass" and "objective" return the sums of all
 * shards, all of them or the head, for the shared parameters `value`, a list of the first n_shared
 * fields of call->out, and caps `more`; "save" by value, list(which, cycles = four numbers of
 * mc_cycles, or NULL), with the shared parameters of that point as `more`, "restore" of the number
 * `value` and "extrapolate" by the step `value` are for the rows' parameters (engine/fit.h). It goes
 * on from a stop where param has go_on = list(cycles, shared = the shared parameters of theta_0);
 * those of the call are then theta_1.
 */
SEXP glue_sum_model(const glue_sum_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control);

#endif
