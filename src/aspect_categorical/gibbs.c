#include "aspect_categorical/gibbs.h"

#include <math.h>
#include <string.h>

#include "num/rng.h"
#include "num/vector.h"

#define ASK_ROWS 256 /* rows between two calls of the host */

typedef struct {
  const mc_data *data;
  const ac_prior *prior;
  ac_param *state;
  const mc_host *host;
  ac_prior less_one; /* pseudo-counts of the same prior, for its density */
  int *value;        /* m: values of the current row */
  double *uniform;   /* m */
  double *row;       /* k: its memberships */
  double *running;   /* k */
  double *count;     /* k: its cells of each component */
  double *cells;     /* k x m x n_value: cells of each component with each value */
  double *least;     /* m x n_value: see draw_membership() */
  num_stream stream;
  int n_sweep;
} gibbs_work;

static ptrdiff_t size_of(const gibbs_work *work) {
  return num_at(0, work->data->m, work->state->k) * work->state->n_value;
}

static const double *less_one(const double *x, int n, const mc_host *host) {
  double *out = mc_doubles(host, n, 1);
  for (int i = 0; i < n; i++) out[i] = x[i] - 1;
  return out;
}

static gibbs_work new_work(const mc_data *data, const ac_prior *prior, ac_param *state,
                           const mc_host *host) {
  gibbs_work work = {.data = data, .prior = prior, .state = state, .host = host};
  work.less_one.membership = less_one(prior->membership, state->k, host);
  work.less_one.values = less_one(prior->values, state->n_value, host);
  work.value = host->alloc(host->ctx, (size_t) data->m, sizeof(int));
  work.uniform = mc_doubles(host, data->m, 1);
  work.row = mc_doubles(host, state->k, 1);
  work.running = mc_doubles(host, state->k, 1);
  work.count = mc_doubles(host, state->k, 1);
  work.cells = mc_doubles(host, size_of(&work), 1);
  work.least = mc_doubles(host, data->m, state->n_value);
  return work;
}

static void open_row(gibbs_work *work, int i) {
  ac_row_values(work->data, i, work->value);
  for (int c = 0; c < work->state->k; c++)
    work->row[c] = work->state->membership[num_at(i, c, work->data->n)];
}

static const double *profile_of(const gibbs_work *work, int j, int value) {
  return work->state->profiles + work->state->k * (j + (ptrdiff_t) work->data->m * value);
}

/* Draws the component of a cell: P(c) ~ membership[i,c] (profiles[c,j,v] - least); -1, the part
 * common to all components, with a weight of `least`. */
static int draw_component(gibbs_work *work, int j, double least) {
  const int k = work->state->k;
  const double *profile = profile_of(work, j, work->value[j]);
  double sum = least;
  for (int c = 0; c < k; c++) work->running[c] = sum += work->row[c] * (profile[c] - least);
  const double left = work->uniform[j] * sum;
  if (left < least) return -1;
  int c = 0;
  while (c < k - 1 && left >= work->running[c]) c++;
  return c;
}

/* Makes n Gammas `step` apart a Dirichlet draw, no value below NUM_TINY. If all underflow to 0, as
 * with a tiny prior, one gets all. */
static void normalise_gammas(double *x, ptrdiff_t step, int n) {
  double total = 0;
  for (int v = 0; v < n; v++) total += x[v * step];
  if (total <= 0) x[num_below(n) * step] = total = 1;
  for (int v = 0; v < n; v++) x[v * step] = fmax(x[v * step] / total, NUM_TINY);
}

/* The least probability of each value in each column, over components. */
static void take_least(gibbs_work *work) {
  for (int v = 0; v < work->state->n_value; v++)
    for (int j = 0; j < work->data->m; j++) {
      const double *profile = profile_of(work, j, v);
      double least = profile[0];
      for (int c = 1; c < work->state->k; c++) least = fmin(least, profile[c]);
      work->least[num_at(j, v, work->data->m)] = least;
    }
}

/*
 * Draws memberships conditional on profiles. Because shares sum to 1, P(v) is the least profile
 * plus sum_c share_c (profile_c - least), and only a cell of the latter part is informative about
 * the shares: with fewer latent components to draw, successive draws are less correlated (as in
 * aspect_bernoulli/gibbs.c).
 */
static void draw_membership(gibbs_work *work, int i) {
  const int k = work->state->k, m = work->data->m, n = work->data->n;
  double *membership = work->state->membership;
  memset(work->count, 0, (size_t) k * sizeof(double));
  num_fill_unif(&work->stream, work->uniform, m);
  for (int j = 0; j < m; j++) {
    if (work->value[j] < 0) continue;
    const int c = draw_component(work, j, work->least[num_at(j, work->value[j], m)]);
    if (c >= 0) work->count[c]++;
  }
  for (int c = 0; c < k; c++)
    membership[num_at(i, c, n)] = num_draw_gamma(work->prior->membership[c] + work->count[c], 1);
  normalise_gammas(membership + i, n, k);
}

/* Draws memberships of rows, then the components of their cells for profiles; false: stopped. */
static bool draw_rows(gibbs_work *work) {
  const int k = work->state->k, m = work->data->m, n = work->data->n;
  work->stream = num_new_stream();
  memset(work->cells, 0, (size_t) size_of(work) * sizeof(double));
  take_least(work);
  for (int i = 0; i < n; i++) {
    if (i % ASK_ROWS == 0 && mc_stop(work->host, work->n_sweep, 0)) return false;
    open_row(work, i);
    draw_membership(work, i);
    for (int c = 0; c < k; c++) work->row[c] = work->state->membership[num_at(i, c, n)];
    num_fill_unif(&work->stream, work->uniform, m);
    for (int j = 0; j < m; j++)
      if (work->value[j] >= 0)
        work->cells[draw_component(work, j, 0) + k * (j + (ptrdiff_t) m * work->value[j])]++;
  }
  return true;
}

static void draw_profiles(gibbs_work *work) {
  const ac_param *state = work->state;
  const ptrdiff_t size = num_at(0, work->data->m, state->k);
  for (ptrdiff_t at = 0; at < size; at++) {
    if (state->fixed && state->fixed[at % state->k]) continue;
    for (int v = 0; v < state->n_value; v++)
      state->profiles[at + v * size] =
          num_draw_gamma(work->prior->values[v] + work->cells[at + v * size], 1);
    normalise_gammas(state->profiles + at, size, state->n_value);
  }
}

static double row_loglik(const gibbs_work *work) {
  num_log_product likelihood = {0, 1};
  for (int j = 0; j < work->data->m; j++)
    if (work->value[j] >= 0)
      num_times(&likelihood,
                num_dot(work->row, profile_of(work, j, work->value[j]), work->state->k));
  return num_log_of(&likelihood);
}

/* The prior's log-density, of which parameters below 1 leave negative pseudo-counts. */
static double log_density(const gibbs_work *work) {
  const ac_param *state = work->state;
  const int n = work->data->n, m = work->data->m, k = state->k;
  double sum = 0;
  for (int c = 0; c < k; c++)
    sum += work->less_one.membership[c] * num_sum_log(state->membership + num_at(0, c, n), n);
  for (int v = 0; v < state->n_value; v++)
    for (int j = 0; j < m; j++)
      for (int c = 0; c < k; c++)
        if (!state->fixed || !state->fixed[c])
          sum += work->less_one.values[v] * log(profile_of(work, j, v)[c]);
  return sum;
}

static void add_moments(const double *from, ptrdiff_t size, double *sums) {
  for (ptrdiff_t i = 0; i < size; i++) {
    sums[i] += from[i];
    sums[size + i] += from[i] * from[i];
  }
}

static void keep_state(const gibbs_work *work, const ac_gibbs_plan *plan, ac_gibbs_record *to) {
  const ptrdiff_t rows = num_at(0, work->state->k, work->data->n), columns = size_of(work);
  const int most = plan->n_sweep;
  to->kept_membership =
      mc_grow(work->host, to->kept_membership, to->n_kept, most, rows, &to->room_membership);
  to->kept_profiles =
      mc_grow(work->host, to->kept_profiles, to->n_kept, most, columns, &to->room_profiles);
  memcpy(to->kept_membership + to->n_kept * rows, work->state->membership,
         (size_t) rows * sizeof(double));
  memcpy(to->kept_profiles + to->n_kept * columns, work->state->profiles,
         (size_t) columns * sizeof(double));
  to->n_kept++;
}

static void note_draw(gibbs_work *work, const ac_gibbs_plan *plan, ac_gibbs_record *record) {
  const ptrdiff_t width = AC_NOTE_PROBE + plan->n_probe;
  const ac_param *state = work->state;
  record->note =
      mc_grow(work->host, record->note, record->n_draw, plan->n_sweep, width, &record->room_note);
  double *note = record->note + record->n_draw * width;
  note[AC_NOTE_LIK] = 0;
  for (int i = 0; i < work->data->n; i++) {
    open_row(work, i);
    note[AC_NOTE_LIK] += row_loglik(work);
    for (int p = 0; p < plan->n_probe; p++) {
      if (plan->probe[(ptrdiff_t) 2 * p] != i) continue;
      const int j = plan->probe[(ptrdiff_t) 2 * p + 1];
      note[AC_NOTE_PROBE + p] = 1 - num_dot(work->row, profile_of(work, j, 0), state->k);
    }
  }
  note[AC_NOTE_JOINT] = note[AC_NOTE_LIK] + log_density(work);
  add_moments(state->membership, num_at(0, state->k, work->data->n), record->membership);
  add_moments(state->profiles, size_of(work), record->profiles);
  record->n_draw++;
  if (plan->keep_every > 0 && record->n_draw % plan->keep_every == 0)
    keep_state(work, plan, record);
}

/* Moves starting values at their bounds into the interior. */
static void lift_start(const gibbs_work *work) {
  const ac_param *state = work->state;
  const ptrdiff_t rows = num_at(0, state->k, work->data->n), size = size_of(work);
  for (ptrdiff_t e = 0; e < rows; e++) state->membership[e] = fmax(state->membership[e], NUM_TINY);
  for (ptrdiff_t e = 0; e < size; e++)
    if (!state->fixed || !state->fixed[e % state->k])
      state->profiles[e] = fmax(state->profiles[e], NUM_TINY);
}

mc_status ac_gibbs_run(const mc_data *data, const ac_prior *prior, const ac_gibbs_plan *plan,
                       ac_param *state, const mc_host *host, ac_gibbs_record *record) {
  gibbs_work work = new_work(data, prior, state, host);
  record->n_done = record->n_draw = record->n_kept = 0;
  record->room_note = record->room_membership = record->room_profiles = 0;
  lift_start(&work);
  for (int t = 0; t < plan->n_sweep; t++) {
    if (!draw_rows(&work)) return MC_STOPPED;
    draw_profiles(&work);
    if (mc_stop(host, t + 1, 0)) return MC_STOPPED; /* the draw is valid, but not counted */
    if (plan->thin > 0 && (t + 1) % plan->thin == 0) note_draw(&work, plan, record);
    record->n_done = work.n_sweep = t + 1;
  }
  return MC_MAX_PASS;
}
