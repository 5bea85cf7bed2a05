/*
 * aspect_bernoulli/newton_stages.c: the model for mc_fit(), and the stages of the sparse form.
 * Zeros of columns with small aspects are no longer scanned, and those aspects are limited by caps.
 * This surrogate is maximised first, repeatedly with other caps if its maximum touches some, and
 * finally the objective itself.
 */
#include "aspect_bernoulli/newton_private.h"

#include <float.h>
#include <math.h>

enum { OPENING, FIRST_UNVISITED, LAST_UNVISITED = FIRST_UNVISITED + 20, EXACT };
#define MOST_UNVISITED 0.3  /* a cap: the parabola is then off by .002, and p is mostly far below */
#define LEAST_FIXED_CAP 0.1 /* aspects of columns that are all but empty need room, too */
#define FIXED_ROOM 2        /* and the others so many times their largest */
#define SHARE_UNVISITED 0.25 /* of the columns: below it, not worth a surrogate */
#define SHARE_NEW 0.05       /* of the columns: as many more are worth another stage */
#define SHARE_TOUCHED 0.02 /* of the columns: as many at their caps do not wait for a stage's end */
#define NEAR_END 1e-5      /* decrement over the objective: no column at its cap waits longer */

static double fixed_cap_of(const ab_param *par, int j) {
  double most = 0;
  for (int c = 0; c < par->k; c++) most = fmax(most, par->aspects[num_at(c, j, par->k)]);
  const double cap = fmax(FIXED_ROOM * most, LEAST_FIXED_CAP);
  return cap <= MOST_UNVISITED ? cap : 0;
}

static bool unscanned_pays(const ab_newton_self *s) {
  const ab_param *par = s->ab.par;
  const int m = s->ab.data->m;
  int n = 0;
  if (!s->newton->sparse || par->fixed_aspects || par->fixed_membership) return false;
  for (int j = 0; j < m; j++) n += fixed_cap_of(par, j) > 0;
  return n >= SHARE_UNVISITED * m;
}

static void fix_caps(const ab_newton_self *s) {
  const int m = s->ab.data->m;
  for (int j = 0; j < m; j++) s->newton->light.fixed_cap[j] = fixed_cap_of(s->ab.par, j);
  ab_newton_set_caps(s->newton, m, s->newton->light.fixed_cap);
}

/* Returns whether another stage pays: caps touched in that share of columns, or many more light. */
static bool caps_changed(const ab_newton_self *s, double share) {
  const ab_param *par = s->ab.par;
  const int m = s->ab.data->m;
  int n_new = 0, n_touched = 0;
  for (int j = 0; j < m; j++) {
    const double cap = s->newton->light.fixed_cap[j];
    bool touched = false;
    n_new += cap <= 0 && fixed_cap_of(par, j) > 0;
    for (int c = 0; c < par->k; c++)
      touched = touched || (cap > 0 && par->aspects[num_at(c, j, par->k)] >= cap);
    n_touched += touched;
  }
  return n_touched > share * m || n_new > SHARE_NEW * m;
}

static bool model_next(void *self, bool last) {
  const ab_newton_self *s = self;
  ab_newton *work = s->newton;
  const bool pays = work->stage == OPENING && unscanned_pays(s);
  const bool to_end = !work->light.unscanned && !pays; /* of the objective itself */
  if (!last && work->stage < LAST_UNVISITED &&
      (work->light.unscanned ? caps_changed(s, 0) : pays)) {
    work->stage++;
    fix_caps(s);
    return true;
  }
  work->stage = EXACT;
  work->light.unscanned = false;
  return !to_end;
}

void ab_newton_near_end(ab_newton_self *self) {
  if (self->newton->stage != OPENING || !unscanned_pays(self)) return;
  self->newton->stage = FIRST_UNVISITED;
  fix_caps(self);
}

static double model_residual(void *self) {
  const ab_newton_self *s = self;
  const ab_newton *work = s->newton;
  const double left = work->decrement / fmax(fabs(work->objective), DBL_MIN);
  const bool unscanned = work->light.unscanned && work->stage < LAST_UNVISITED;
  if (unscanned && caps_changed(s, left < NEAR_END ? 0 : SHARE_TOUCHED)) return 0;
  if (work->stage == OPENING && unscanned_pays(s)) return 0;
  return left;
}

void ab_newton_hold(ab_param *par, int m, const double *cap) {
  for (int j = 0; j < m; j++)
    for (int c = 0; c < par->k && cap[j] > 0; c++) {
      double *aspect = par->aspects + num_at(c, j, par->k);
      *aspect = fmin(*aspect, cap[j]);
    }
}

static double model_pass(void *self) {
  const ab_newton_self *s = self;
  return ab_newton_pass(s->ab.data, s->ab.par, s->newton);
}

static double model_objective(void *self) {
  const ab_newton_self *s = self;
  if (s->newton->light.unscanned) return ab_unscanned_objective(s->ab.data, s->ab.par, s->newton);
  ab_note_iterations(s->ab.work, s->newton->iterations, s->newton->objective);
  return ab_objective(s->ab.data, s->ab.par, s->ab.work);
}

static void model_feasible(void *self, const double *const *safe) {
  const ab_newton_self *s = self;
  ab_feasible(&((ab_newton_self *) self)->ab, safe);
  if (s->newton->light.unscanned)
    ab_newton_hold(s->ab.par, s->ab.data->m, s->newton->light.fixed_cap);
}

mc_model ab_newton_model(ab_newton_self *self) {
  mc_model model = ab_model(&self->ab);
  model.pass = model_pass;
  model.objective = model_objective;
  model.residual = model_residual;
  model.feasible = model_feasible;
  if (self->newton->sparse) model.next = model_next;
  model.self = self;
  return model;
}
