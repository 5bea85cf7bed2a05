/*
 * engine/fit.c: SQUAREM cycles whose objective never falls.
 *
 *   repeat
 *     theta_1 <- pass(theta_0);  theta_2 <- pass(theta_1)          plain, always kept
 *     r <- theta_1 - theta_0;    v <- (theta_2 - theta_1) - r
 *     step <- |r| / |v|, within [1, step_max]
 *     theta <- feasible(theta_0 + 2 step r + step^2 v)
 *     theta' <- pass(theta), which tells the objective of theta, too
 *     if theta is at least as good as theta_1: keep theta'
 *     else theta' is on probation: the next pass tells its objective, and
 *       where it is below that of theta_1, the cycle begins again at theta_2
 *     step_max grows where a step at it was kept, and shrinks where it was not
 *   until two cycles in a row gain too little
 *
 * A pass returns the objective of the point it started from, so no cycle needs
 * an evaluation of its own; the last point's is made at the end.
 */
#include "engine/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Step length bound of SQUAREM: its start, its growth when hit and accepted, its cut when not. */
#define STEP_FIRST 4.0
#define STEP_GROW 4.0
#define STEP_CUT 0.5

typedef struct {
  mc_model *model;
  const mc_control *ctl;
  const mc_host *host;
  mc_trace *trace;
  double *copy[3][MC_MAX_BLOCK]; /* theta_0, theta_1, theta_2 of the cycle */
  double accepted;               /* objective of the last accepted point, as far as known */
  double before;                 /* the same, before this cycle */
  double step_max;               /* bound of the step length */
  int n_small;                   /* cycles in a row that gained too little */
  bool at_bound;                 /* the last step was cut at it */
  bool in_cycles;                /* accelerated */
  bool on_probation;             /* the blocks hold a point that is not accepted yet */
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
  return mc_stop(fit->host, fit->trace->n_pass, fit->accepted);
}

static bool passes_left(const fit_state *fit) { return fit->trace->n_pass < fit->ctl->max_pass; }

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
 * Makes one counted pass and returns the objective of the point it started
 * from: what the passes before it reached, so it goes into their row.
 */
static double count_pass(fit_state *fit) {
  const double objective = fit->model->pass(fit->model->self);
  mc_trace *trace = fit->trace;
  trace->objective =
      mc_grow(fit->host, trace->objective, trace->n_pass, fit->ctl->max_pass, 1, &trace->room);
  trace->objective[trace->n_pass++] = fit->accepted;
  return objective;
}

static void accept(fit_state *fit, double objective) {
  const int row = fit->trace->n_pass - 1;
  if (row > 0) fit->trace->objective[row - 1] = objective;
  fit->trace->objective[row] = fit->accepted = objective;
}

/* A plain pass from the point saved in `safe`, to which a stop or a failure returns. */
static mc_status plain_pass(fit_state *fit, int safe) {
  const double objective = count_pass(fit);
  const bool stopped = stop_asked(fit);
  if (!stopped && isfinite(objective)) {
    accept(fit, objective);
    return MC_GO_ON;
  }
  restore(fit, safe);
  if (stopped) return MC_STOPPED;
  return fit->trace->n_pass == 1 ? MC_ERR_NOT_START : MC_ERR_NOT_FINITE;
}

/* Is there little left to gain, by the model's own measure or by what the last cycle gained? */
static bool small_gain(const fit_state *fit, double before) {
  const double now = fit->accepted, gain = now - before;
  if (fit->model->residual) return fit->model->residual(fit->model->self) < fit->ctl->tol;
  return fit->ctl->tol > 0 &&
         (fit->model->may_fall ? fabs(gain) : gain) <= fit->ctl->tol * (fabs(now) + DBL_MIN);
}

static mc_status fit_plain(fit_state *fit) {
  double before = -INFINITY;
  reserve(fit, THETA_0);
  while (passes_left(fit)) {
    save(fit, THETA_0);
    const mc_status status = plain_pass(fit, THETA_0);
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

/* All blocks jointly. */
static void step_lengths(const fit_state *fit, double *rr, double *vv) {
  *rr = *vv = 0;
  for (int b = 0; b < fit->model->n_block; b++)
    mc_step_lengths(fit->model->length[b], fit->copy[THETA_0][b], fit->copy[THETA_1][b],
                    fit->copy[THETA_2][b], rr, vv);
  if (fit->model->away) fit->model->away->lengths(fit->model->self, rr, vv);
}

/* theta_0 + 2 step r + step^2 v, pulled back inside with theta_2 as the safe side. */
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

/* Was the extrapolation kept? The step bound learns from it where it was in force. */
static void judge(fit_state *fit, bool kept) {
  fit->on_probation = false;
  if (fit->at_bound) fit->step_max *= kept ? STEP_GROW : STEP_CUT;
  fit->step_max = fmax(fit->step_max, 1);
  if (!kept) turn_back(fit);
}

/*
 * The pass from the extrapolated point. Where that point is no worse than
 * theta_1, where it leads is kept. Else it is on probation: one pass often
 * makes up for a step that went too far, and the next pass tells.
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

/* The first pass of a cycle from a point on probation; sent back to theta_2 where it is worse. */
static mc_status probation_pass(fit_state *fit, bool *kept) {
  const double objective = count_pass(fit);
  if (stop_asked(fit)) return MC_STOPPED;
  *kept = isfinite(objective) && objective >= fit->accepted;
  if (*kept) accept(fit, objective);
  judge(fit, *kept);
  return MC_GO_ON;
}

/* Takes up a fit where it was stopped, at theta_1. */
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
 * One cycle: two passes from theta_0 and one from where they point to. at_theta_1: the first of them
 * was made before.
 */
static mc_status cycle(fit_state *fit, bool at_theta_1) {
  bool kept = at_theta_1;
  if (!at_theta_1) save(fit, THETA_0);
  if (fit->on_probation) {
    const mc_status status = probation_pass(fit, &kept);
    if (status != MC_GO_ON || !passes_left(fit)) return status;
  }
  for (int t = kept ? THETA_1 : THETA_0; t < THETA_2; t++) {
    save(fit, t);
    const mc_status status = plain_pass(fit, t);
    if (status != MC_GO_ON || !passes_left(fit)) return status;
  }
  save(fit, THETA_2);
  double rr, vv;
  step_lengths(fit, &rr, &vv);
  if (rr <= 0) return MC_CONVERGED;              /* a zero step: a fixed point */
  if (vv <= 0 || !isfinite(vv)) return MC_GO_ON; /* no curvature to extrapolate by */
  return extrapolated_pass(fit, sqrt(rr / vv));
}

/* Converged: two cycles in a row gain too little (one may only have had bad luck). */
static mc_status run_cycles(fit_state *fit) {
  bool at_theta_1 = fit->model->go_on && !fit->model->next;
  fit->before = -INFINITY;
  fit->n_small = 0;
  if (at_theta_1) take_up(fit);
  while (passes_left(fit)) {
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

/* One function climbed to its end, or as far as passes go. */
static mc_status climb(fit_state *fit) {
  fit->accepted = -INFINITY;
  fit->on_probation = fit->at_bound = false;
  return fit->ctl->accelerate && !fit->model->may_fall ? fit_accelerated(fit) : fit_plain(fit);
}

/* Where a function that stood for the objective was above it, the trace must not fall. */
static void level(mc_trace *trace) {
  for (int row = trace->n_pass - 2; row >= 0; row--)
    trace->objective[row] = fmin(trace->objective[row], trace->objective[row + 1]);
}

mc_status mc_fit(mc_model *model, const mc_control *ctl, const mc_host *host, mc_trace *trace) {
  fit_state fit = {.model = model, .ctl = ctl, .host = host, .trace = trace};
  mc_status status;
  fit.step_max = STEP_FIRST;
  trace->n_pass = trace->room = 0;
  do {
    status = climb(&fit);
  } while (model->next && status == MC_CONVERGED && passes_left(&fit) &&
           model->next(model->self, false));
  if (model->next && model->next(model->self, true) && status == MC_CONVERGED) status = MC_MAX_PASS;
  trace->final = model->objective(model->self);
  if (trace->n_pass > 0) trace->objective[trace->n_pass - 1] = trace->final;
  if (model->next) level(trace);
  if (status >= 0 && status != MC_STOPPED && !isfinite(trace->final)) {
    if (stop_asked(&fit)) return MC_STOPPED; /* in the middle of that objective */
    return trace->n_pass == 0 ? MC_ERR_NOT_START : MC_ERR_NOT_FINITE;
  }
  return status;
}
