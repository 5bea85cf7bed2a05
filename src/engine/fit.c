/*
 * engine/fit.c: SQUAREM cycles whose objective never decreases.
 *
 *   repeat
 *     theta_1 <- pass(theta_0);  theta_2 <- pass(theta_1)          plain, always kept
 *     r <- theta_1 - theta_0;    v <- (theta_2 - theta_1) - r
 *     step <- |r| / |v|, within [1, step_max]
 *     theta <- feasible(theta_0 + 2 step r + step^2 v)
 *     theta' <- pass(theta), which also returns the objective of theta
 *     if theta is at least as good as theta_1: keep theta'
 *     else theta' is on probation: the next pass returns its objective; if that is below the
 *       objective of theta_1, the cycle restarts at theta_2
 *     step_max grows if a step at it was kept, and shrinks if it was not
 *   until two cycles in a row gain too little
 *
 * pass() returns the objective of the point it started from, so cycles need no extra evaluation;
 * that of the last point is computed at the end.
 */
#include "engine/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Bound of SQUAREM's step length: first value, growth if met and accepted, cut if met and rejected. */
#define STEP_FIRST 4.0
#define STEP_GROW 4.0
#define STEP_CUT 0.5

typedef struct {
  mc_model *model;
  const mc_control *ctl;
  const mc_host *host;
  mc_trace *trace;
  double *copy[3][MC_MAX_BLOCK]; /* theta_0, theta_1, theta_2 of the cycle */
  double accepted;               /* objective of the last accepted point whose objective is known */
  double before;                 /* the same before this cycle */
  double step_max;               /* bound of the step length */
  int n_small;                   /* cycles in a row that gained too little */
  bool at_bound;                 /* the last step was cut at step_max */
  bool in_cycles;                /* accelerated cycles, not plain iterations */
  bool on_probation;             /* the blocks hold a point that is not yet accepted */
} fit_state;

enum { THETA_0, THETA_1, THETA_2 };

void mc_add_block(mc_model *model, double *block, ptrdiff_t length) {
  if (!block) return;
  model->block[model->n_block] = block;
  model->length[model->n_block++] = length;
}

static void reserve(fit_state *fit, int which) {
  if (fit->copy[which][0]) return;
  for (int b = 0; b < fit->model->n_block; b++)
    fit->copy[which][b] =
        fit->host->alloc(fit->host->ctx, (size_t) fit->model->length[b], sizeof(double));
}

static void save(fit_state *fit, int which) {
  for (int b = 0; b < fit->model->n_block; b++)
    memcpy(fit->copy[which][b], fit->model->block[b],
           (size_t) fit->model->length[b] * sizeof(double));
  if (!fit->model->away) return;
  const mc_cycles cycles = {fit->accepted, fit->before, fit->step_max, fit->n_small};
  const bool known = fit->in_cycles && which == THETA_1;
  fit->model->away->save(fit->model->self, which, known ? &cycles : NULL);
}

static void restore(fit_state *fit, int which) {
  for (int b = 0; b < fit->model->n_block; b++)
    memcpy(fit->model->block[b], fit->copy[which][b],
           (size_t) fit->model->length[b] * sizeof(double));
  if (fit->model->away) fit->model->away->restore(fit->model->self, which);
}

static bool stop_asked(const fit_state *fit) {
  return mc_stop(fit->host, fit->trace->n_iter, fit->accepted);
}

static bool iterations_left(const fit_state *fit) {
  return fit->trace->n_iter < fit->ctl->max_iter;
}

#define ROOM_FIRST 64 /* doubles */

double *mc_grow(const mc_host *host, double *columns, int used, int most, ptrdiff_t width,
                int *room) {
  if (used < *room) return columns;
  *room = used > most / 2 ? most : 2 * used;
  if (used == 0) *room = width < ROOM_FIRST ? (int) (ROOM_FIRST / (width + 1) + 1) : 1;
  if (*room > most) *room = most;
  double *more = mc_doubles(host, *room, width);
  if (used > 0) memcpy(more, columns, (size_t) used * (size_t) width * sizeof(double));
  return more;
}

/*
 * Runs pass(), counts it, and returns the objective of the point it started from. That is the
 * result of the preceding iterations, so accept() also writes it into their row of the trace.
 */
static double count_pass(fit_state *fit) {
  const double objective = fit->model->pass(fit->model->self);
  mc_trace *trace = fit->trace;
  trace->objective =
      mc_grow(fit->host, trace->objective, trace->n_iter, fit->ctl->max_iter, 1, &trace->room);
  trace->objective[trace->n_iter++] = fit->accepted;
  return objective;
}

static void accept(fit_state *fit, double objective) {
  const int row = fit->trace->n_iter - 1;
  if (row > 0) fit->trace->objective[row - 1] = objective;
  fit->trace->objective[row] = fit->accepted = objective;
}

/* Plain iteration from the point saved in `safe`, which a stop or a failure restores. */
static mc_status plain_iteration(fit_state *fit, int safe) {
  const double objective = count_pass(fit);
  const bool stopped = stop_asked(fit);
  if (!stopped && isfinite(objective)) {
    accept(fit, objective);
    return MC_GO_ON;
  }
  restore(fit, safe);
  if (stopped) return MC_STOPPED;
  return fit->trace->n_iter == 1 ? MC_ERR_NOT_START : MC_ERR_NOT_FINITE;
}

/* Returns whether the gain is too small, by the model's residual() or by the gain of the last cycle. */
static bool small_gain(const fit_state *fit, double before) {
  const double now = fit->accepted, gain = now - before;
  if (fit->model->residual) return fit->model->residual(fit->model->self) < fit->ctl->tol;
  return fit->ctl->tol > 0 &&
         (fit->model->may_fall ? fabs(gain) : gain) <= fit->ctl->tol * (fabs(now) + DBL_MIN);
}

static mc_status fit_plain(fit_state *fit) {
  double before = -INFINITY;
  reserve(fit, THETA_0);
  while (iterations_left(fit)) {
    save(fit, THETA_0);
    const mc_status status = plain_iteration(fit, THETA_0);
    if (status != MC_GO_ON) return status;
    if (small_gain(fit, before)) return MC_CONVERGED;
    before = fit->accepted;
  }
  return MC_MAX_PASS;
}

void mc_step_lengths(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                     double *rr, double *vv) {
  double rr_so_far = *rr, vv_so_far = *vv;
  for (ptrdiff_t i = 0; i < length; i++) {
    const double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
    rr_so_far += r * r;
    vv_so_far += v * v;
  }
  *rr = rr_so_far;
  *vv = vv_so_far;
}

void mc_extrapolate(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                    double step, double *out) {
  for (ptrdiff_t i = 0; i < length; i++) {
    const double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
    out[i] = t0[i] + 2 * step * r + step * step * v;
  }
}

/* Step lengths over all blocks jointly. */
static void step_lengths(const fit_state *fit, double *rr, double *vv) {
  *rr = *vv = 0;
  for (int b = 0; b < fit->model->n_block; b++)
    mc_step_lengths(fit->model->length[b], fit->copy[THETA_0][b], fit->copy[THETA_1][b],
                    fit->copy[THETA_2][b], rr, vv);
  if (fit->model->away) fit->model->away->lengths(fit->model->self, rr, vv);
}

/* Extrapolates to theta_0 + 2 step r + step^2 v, moved back inside with theta_2 as the safe point. */
static void extrapolate(fit_state *fit, double step) {
  for (int b = 0; b < fit->model->n_block; b++)
    mc_extrapolate(fit->model->length[b], fit->copy[THETA_0][b], fit->copy[THETA_1][b],
                   fit->copy[THETA_2][b], step, fit->model->block[b]);
  if (fit->model->away) fit->model->away->extrapolate(fit->model->self, step);
  const double *safe[MC_MAX_BLOCK];
  for (int b = 0; b < fit->model->n_block; b++) safe[b] = fit->copy[THETA_2][b];
  fit->model->feasible(fit->model->self, safe);
}

static void turn_back(fit_state *fit) {
  restore(fit, THETA_2);
  if (fit->model->reject) fit->model->reject(fit->model->self);
}

/* Records whether the extrapolation was kept; adapts the step bound if it was in force. */
static void judge(fit_state *fit, bool kept) {
  fit->on_probation = false;
  if (fit->at_bound) fit->step_max *= kept ? STEP_GROW : STEP_CUT;
  fit->step_max = fmax(fit->step_max, 1);
  if (!kept) turn_back(fit);
}

/*
 * The iteration from the extrapolated point. If that point is no worse than theta_1, the result is
 * kept. Otherwise it is on probation, because one iteration often compensates for too long a step;
 * the next iteration decides.
 */
static mc_status extrapolated_pass(fit_state *fit, double ratio) {
  fit->at_bound = ratio >= fit->step_max;
  extrapolate(fit, fmin(fmax(ratio, 1), fit->step_max));
  const double objective = count_pass(fit);
  fit->on_probation = true;
  if (stop_asked(fit)) return MC_STOPPED;
  if (!isfinite(objective)) {
    judge(fit, false);
  } else if (objective >= fit->accepted) {
    accept(fit, objective);
    judge(fit, true);
  }
  return MC_GO_ON;
}

/* First iteration of a cycle that starts on probation; returns to theta_2 if the point is worse
 * than theta_1. */
static mc_status probation_pass(fit_state *fit, bool *kept) {
  const double objective = count_pass(fit);
  if (stop_asked(fit)) return MC_STOPPED;
  *kept = isfinite(objective) && objective >= fit->accepted;
  if (*kept) accept(fit, objective);
  judge(fit, *kept);
  return MC_GO_ON;
}

/* Resumes a fit that was stopped at theta_1. */
static void take_up(fit_state *fit) {
  const mc_go_on *from = fit->model->go_on;
  for (int b = 0; b < fit->model->n_block; b++)
    memcpy(fit->copy[THETA_0][b], from->theta_0[b],
           (size_t) fit->model->length[b] * sizeof(double));
  fit->accepted = from->cycles.accepted;
  fit->before = from->cycles.before;
  fit->step_max = from->cycles.step_max;
  fit->n_small = from->cycles.n_small;
}

/*
 * One cycle: two iterations from theta_0 and one from the extrapolated point. at_theta_1: the first
 * of them was made before the fit was stopped.
 */
static mc_status cycle(fit_state *fit, bool at_theta_1) {
  bool kept = at_theta_1;
  if (!at_theta_1) save(fit, THETA_0);
  if (fit->on_probation) {
    const mc_status status = probation_pass(fit, &kept);
    if (status != MC_GO_ON || !iterations_left(fit)) return status;
  }
  for (int t = kept ? THETA_1 : THETA_0; t < THETA_2; t++) {
    save(fit, t);
    const mc_status status = plain_iteration(fit, t);
    if (status != MC_GO_ON || !iterations_left(fit)) return status;
  }
  save(fit, THETA_2);
  double rr, vv;
  step_lengths(fit, &rr, &vv);
  if (rr <= 0) return MC_CONVERGED;              /* zero step: a fixed point */
  if (vv <= 0 || !isfinite(vv)) return MC_GO_ON; /* no curvature to extrapolate with */
  return extrapolated_pass(fit, sqrt(rr / vv));
}

/* Converged if two cycles in a row gain too little; one may do so by chance. */
static mc_status run_cycles(fit_state *fit) {
  bool at_theta_1 = fit->model->go_on && !fit->model->next;
  fit->before = -INFINITY;
  fit->n_small = 0;
  if (at_theta_1) take_up(fit);
  while (iterations_left(fit)) {
    const mc_status status = cycle(fit, at_theta_1);
    if (status != MC_GO_ON) return status;
    at_theta_1 = false;
    fit->n_small = small_gain(fit, fit->before) ? fit->n_small + 1 : 0;
    if (fit->n_small == 2) return MC_CONVERGED;
    fit->before = fit->accepted;
  }
  return MC_MAX_PASS;
}

static mc_status fit_accelerated(fit_state *fit) {
  fit->in_cycles = true;
  for (int which = THETA_0; which <= THETA_2; which++) reserve(fit, which);
  const mc_status status = run_cycles(fit);
  if (fit->on_probation &&
      (status == MC_STOPPED || !(fit->model->objective(fit->model->self) >= fit->accepted)))
    turn_back(fit);
  return status;
}

/* Maximises the current objective (or surrogate) as far as max_iter allows. */
static mc_status climb(fit_state *fit) {
  fit->accepted = -INFINITY;
  fit->on_probation = fit->at_bound = false;
  return fit->ctl->accelerate && !fit->model->may_fall ? fit_accelerated(fit) : fit_plain(fit);
}

/* Lowers the trace where a surrogate exceeded the objective, so that it never decreases. */
static void level(mc_trace *trace) {
  for (int row = trace->n_iter - 2; row >= 0; row--)
    trace->objective[row] = fmin(trace->objective[row], trace->objective[row + 1]);
}

mc_status mc_fit(mc_model *model, const mc_control *ctl, const mc_host *host, mc_trace *trace) {
  fit_state fit = {.model = model, .ctl = ctl, .host = host, .trace = trace};
  mc_status status;
  fit.step_max = STEP_FIRST;
  trace->n_iter = trace->room = 0;
  do {
    status = climb(&fit);
  } while (model->next && status == MC_CONVERGED && iterations_left(&fit) &&
           model->next(model->self, false));
  if (model->next && model->next(model->self, true) && status == MC_CONVERGED) status = MC_MAX_PASS;
  trace->final = model->objective(model->self);
  if (trace->n_iter > 0) trace->objective[trace->n_iter - 1] = trace->final;
  if (model->next) level(trace);
  if (status >= 0 && status != MC_STOPPED && !isfinite(trace->final)) {
    if (stop_asked(&fit)) return MC_STOPPED; /* stopped during that evaluation */
    return trace->n_iter == 0 ? MC_ERR_NOT_START : MC_ERR_NOT_FINITE;
  }
  return status;
}
