/* glue/shards.h: what entry points of models in shards (engine/shards.h) share. */
#ifndef MC_GLUE_SHARDS_H
#define MC_GLUE_SHARDS_H

#include "engine/shards.h"
#include "glue/glue.h"

/*
 * A model's scan of a shard. begin() checks call->param and returns what scan() gets, and how many
 * sums a pass has; the rows' parameters are field 0 of call->out, and may be written there.
 */
typedef struct {
  const char *rows; /* name of the rows' parameters in param */
  void *(*begin)(glue_call *call, ptrdiff_t *length);
  bool (*scan)(void *self, bool look, const double *caps, double *sums);
} glue_shard_recipe;

/*
 * param: the model's, with look, caps (m, or NULL) and before (the rows' parameters before those of
 * param, or NULL). -> list(rows, sums).
 */
SEXP glue_shard(const glue_shard_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control);

/*
 * The model of a driver, in memory of the call's; a pass has `length` sums. The shards are where the
 * caller's function param$scan(what, value, more) knows. "pass" and "objective" return the sums of
 * all shards, all of them or the head, for the shared parameters `value`, a list of the first n_shared
 * fields of call->out, and caps `more`; "save" by value, list(which, cycles = four numbers of
 * mc_cycles, or NULL), with the shared parameters of that point as `more`, "restore" of the number
 * `value` and "extrapolate" by the step `value` are for the rows' parameters (engine/fit.h).
 * It goes on from a stop where call->param has go_on = list(cycles, shared = the shared parameters of
 * theta_0); those of the call are then theta_1.
 */
mc_model glue_shards_model(glue_call *call, const mc_shards *shards, int n_shared,
                           ptrdiff_t length);

/*
 * A model whose pass is a sum over rows: fields are the names of its shared parameters, n_shared of
 * them, then, if has_rows, that of the rows', which model() takes from call->out; then "outcome" and
 * what finish() adds to a fit in memory, given model.shared.
 */
typedef struct {
  const char **fields;
  int n_shared;
  bool has_rows;
  mc_shards (*model)(glue_call *call);
  void (*finish)(glue_call *call, const mc_model *fitted); /* or NULL */
} glue_sum_recipe;

/*
 * A fit in memory; where param has `look`, the scan of a shard, as of glue_shard(); where it has
 * `scan`, the fit of a driver, as of glue_shards_model(), its view a table without rows.
 */
SEXP glue_sum_model(const glue_sum_recipe *recipe, SEXP view, SEXP param, SEXP prior, SEXP control);

#endif
