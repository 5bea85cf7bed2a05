/* bmf/run.c: sweeps and their record. */
#include "bmf/bmf.h"

#include <math.h>
#include <string.h>

typedef struct {
  bmf_workspace *ws[2];
  bmf_measure_work measure;
} run_work;

static bool is_updated(const bmf_side *side) { return side->infinite || bmf_n_free(side) > 0; }

static void update_features(run_work *work, bmf_state *state, const bmf_moves *moves) {
  for (int s = 0; s < 2; s++) {
    if (!is_updated(&state->side[s]) || bmf_stop(state)) continue;
    if (moves->collapsed)
      bmf_update_side_collapsed(work->ws[s], state, s);
    else
      bmf_update_side(work->ws[s], state, s, moves);
    if (moves->split_merge > 0 && state->family != BMF_POISSON)
      bmf_split_merge(work->ws[s], state, s, moves->split_merge);
  }
}

/* Runs a sweep; returns the log-likelihood after it, NaN after a stop. mean: see bmf_measure(). */
static double sweep(run_work *work, bmf_state *state, const bmf_moves *moves, double *mean) {
  update_features(work, state, moves);
  bmf_update_weights(work->ws, state);
  if (bmf_stop(state)) return NAN;
  /* Recoding must follow the weights: collapsed updates leave those of the state outdated. */
  for (int s = 0; s < 2; s++) bmf_recode(state, s);
  const bmf_fit_measure fit = bmf_measure(state, &work->measure, mean);
  if (isnan(fit.log_lik)) return NAN;
  const double noise = state->hyper[BMF_NOISE_PRECISION].value;
  bmf_update_hyper(state, fit.squared_error);
  if (state->family != BMF_GAUSSIAN) return fit.log_lik;
  /* Corrects the likelihood for the new noise precision without visiting the cells again. */
  const double now = state->hyper[BMF_NOISE_PRECISION].value;
  return fit.log_lik + 0.5 * (noise - now) * fit.squared_error +
         0.5 * fit.n_observed * log(now / noise);
}

static void copy_side(bmf_side *to, const bmf_side *from) {
  for (int i = 0; i < from->n; i++) memcpy(bmf_item(to, i), bmf_item(from, i), (size_t) from->k);
  memcpy(to->count, from->count, (size_t) from->k * sizeof(int));
  to->k = from->k;
}

/* Copies state to best. */
static void keep_best(bmf_state *best, const bmf_state *state) {
  for (int s = 0; s < 2; s++) {
    if (best->side[s].room >= state->side[s].k) continue;
    best->side[s].k = state->side[s].k;
    best->side[1 - s].k = state->side[1 - s].k;
    bmf_allocate(best);
  }
  for (int s = 0; s < 2; s++) copy_side(&best->side[s], &state->side[s]);
  for (int c = 0; c < state->side[0].k; c++)
    memcpy(bmf_weight(best, 0, c), bmf_weight(state, 0, c),
           (size_t) state->side[1].k * sizeof(double));
  bmf_transpose(best, 0);
  memcpy(best->hyper, state->hyper, sizeof state->hyper);
}

static int n_nonempty(const bmf_side *side) {
  int n = 0;
  for (int c = side->n_fixed; c < side->k; c++) n += side->count[c] > 0;
  return n;
}

static double n_ones(const bmf_side *side) {
  double n = 0;
  for (int c = side->n_fixed; c < side->k; c++) n += side->count[c];
  return n;
}

static void note_draw(const bmf_state *state, const bmf_plan *plan, double log_lik,
                      bmf_record *record) {
  const ptrdiff_t width = BMF_NOTE_PROBE + plan->n_probe;
  record->note = mc_grow(state->host, record->note, record->n_draw, plan->n_sweep / plan->thin,
                         width, &record->room);
  double *note = record->note + record->n_draw * width;
  note[BMF_NOTE_JOINT] = bmf_log_joint(state, log_lik);
  note[BMF_NOTE_LIK] = log_lik;
  note[BMF_NOTE_K] = n_nonempty(&state->side[0]);
  note[BMF_NOTE_L] = n_nonempty(&state->side[1]);
  note[BMF_NOTE_ROW_ONES] = n_ones(&state->side[0]);
  note[BMF_NOTE_COLUMN_ONES] = n_ones(&state->side[1]);
  for (int h = 0; h < BMF_N_HYPER; h++) note[BMF_NOTE_HYPER + h] = state->hyper[h].value;
  for (int p = 0; p < plan->n_probe; p++)
    note[BMF_NOTE_PROBE + p] = bmf_expected_cell(state, plan->probe[(ptrdiff_t) 2 * p],
                                                 plan->probe[(ptrdiff_t) 2 * p + 1]);
  record->n_draw++;
  if (!record->best || !(note[BMF_NOTE_JOINT] > record->best_joint)) return;
  record->best_joint = note[BMF_NOTE_JOINT];
  record->best_found = true;
  keep_best(record->best, state);
}

mc_status bmf_run(bmf_state *state, const bmf_plan *plan, bmf_record *record) {
  run_work work = {.ws = {bmf_new_workspace(state, 0), bmf_new_workspace(state, 1)},
                   .measure = bmf_new_measure(state, plan->n_threads)};
  record->n_done = record->n_draw = record->room = state->n_sweep = 0;
  for (int t = 0; t < plan->n_sweep; t++) {
    const bool noted = plan->thin > 0 && (t + 1) % plan->thin == 0;
    state->power = plan->power ? plan->power[t] : 1;
    const double log_lik = sweep(&work, state, &plan->moves, noted ? record->mean : NULL);
    if (isnan(log_lik) && bmf_stop(state)) return MC_STOPPED;
    record->n_done = state->n_sweep = t + 1;
    if (noted) note_draw(state, plan, log_lik, record);
    if (mc_stop(state->host, t + 1, log_lik)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}

bool bmf_predict(bmf_state *state, int n_sweep, double *mean) {
  const bmf_moves moves = {.block = true};
  bmf_workspace *ws = bmf_new_workspace(state, BMF_ROWS);
  bmf_measure_work work = bmf_new_measure(state, 1);
  const int n_kept = (n_sweep + 1) / 2;
  const ptrdiff_t length = (ptrdiff_t) state->side[0].n * state->side[1].n;
  for (ptrdiff_t e = 0; e < length; e++) mean[e] = 0;
  for (int t = 0; t < n_sweep; t++) {
    bmf_update_side(ws, state, BMF_ROWS, &moves);
    if (t >= n_sweep - n_kept) bmf_measure(state, &work, mean);
    if (mc_stop(state->host, t + 1, 0)) return false;
  }
  for (ptrdiff_t e = 0; e < length; e++) mean[e] /= n_kept;
  return true;
}
