#include "aspect_bernoulli/gibbs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aspect_bernoulli/private.h"

static ab_gibbs_work new_work(const mc_data *data, const ab_prior *prior, ab_gibbs_state *state,
                              const mc_host *host) {
  const int n = data->n, m = data->m, k = state->k;
  ab_gibbs_work work = {.data = data, .prior = *prior, .state = state, .host = host};
  work.present = mc_doubles(host, m, k + 1);
  work.absence = mc_doubles(host, m, k + 1);
  work.one = mc_doubles(host, m, k + 1);
  work.zero = mc_doubles(host, m, k + 1);
  work.sum = mc_doubles(host, m, k + 1);
  work.counts = mc_doubles(host, k + 1, 1);
  work.share = mc_doubles(host, k + 1, 1);
  work.zeros = mc_doubles(host, m, 1);
  work.uniform = mc_doubles(host, m, 1);
  work.one_cause = host->alloc(host->ctx, (size_t) m, sizeof(int));
  for (int j = 0; j < m; j++) work.zeros[j] = n;
  for (int e = 0; e < data->start[n]; e++) work.zeros[data->column[e]]--;
  if (data->na_start)
    for (int e = 0; e < data->na_start[n]; e++) work.zeros[data->na_column[e]]--;
  return work;
}

/* sum[, c] = share[1] absence[, 1] + ... + share[c] absence[, c] */
NUM_HOT static void running_sums(const double *share, const double *absence, int m, int k,
                                 double *sum) {
  for (int j = 0; j < m; j++) sum[j] = share[0] * absence[j];
  for (int c = 1; c < k; c++) {
    const double s = share[c], *a = absence + (ptrdiff_t) c * m;
    const double *before = sum + (ptrdiff_t) (c - 1) * m;
    double *after = sum + (ptrdiff_t) c * m;
    for (int j = 0; j < m; j++) after[j] = before[j] + s * a[j];
  }
}

/* Number of cells whose cause comes after the one with this sum. */
NUM_HOT static double count_later(const double *uniform, const double *total, const double *sum,
                                  int m) {
  double n = 0;
  NUM_OMP(simd reduction(+ : n))
  for (int j = 0; j < m; j++) n += uniform[j] * total[j] >= sum[j] ? 1.0 : 0.0;
  return n;
}

/* Adds 1 to later[j] for those cells. */
NUM_HOT static void add_later(const double *uniform, const double *total, const double *sum, int m,
                              double *later) {
  for (int j = 0; j < m; j++) later[j] += uniform[j] * total[j] >= sum[j] ? 1.0 : 0.0;
}

/* Picks the cause of a 1 among those from `first` on, using the supplied uniform number. */
static int pick_one(const ab_gibbs_work *work, int j, int first, double uniform) {
  const int m = work->data->m, k = work->state->k;
  double total = 0;
  for (int c = first; c <= k; c++) total += work->share[c] * work->present[num_at(j, c, m)];
  double left = uniform * total;
  int last = first;
  for (int c = first; c <= k; c++) {
    const double weight = work->share[c] * work->present[num_at(j, c, m)];
    if (weight <= 0) continue;
    last = c;
    left -= weight;
    if (left < 0) break;
  }
  return last;
}

/*
 * Prepares draws of the causes of row i. Running sums serve the zeros: their cause is the first
 * whose sum exceeds uniform * total, for all cells in parallel. Ones are drawn individually into
 * one_cause; they and missing cells get a uniform number below all sums.
 */
static const double *row_sums(ab_gibbs_work *work, int i, int first) {
  const mc_data *data = work->data;
  const int n = data->n, m = data->m, k = work->state->k;
  work->share[0] = 1;
  for (int c = 0; c < k; c++) work->share[c + 1] = work->state->membership[num_at(i, c, n)];
  running_sums(work->share + first, work->absence + (ptrdiff_t) first * m, m, k + 1 - first,
               work->sum + (ptrdiff_t) first * m);
  num_fill_unif(&work->stream, work->uniform, m);
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const int j = data->column[e];
    work->one_cause[e - data->start[i]] = pick_one(work, j, first, work->uniform[j]);
    work->uniform[j] = -1;
  }
  for (int e = 0; e < data_n_missing(data, i); e++)
    work->uniform[data->na_column[data->na_start[i] + e]] = -1;
  return work->sum + (ptrdiff_t) k * m;
}

/* Component 0 of the weights represents the part common to all others, see draw_memberships(). */
static void weigh_aspects(ab_gibbs_work *work, bool excess) {
  const int m = work->data->m, k = work->state->k;
  for (int j = 0; j < m; j++) {
    double least = 1, most = 0;
    for (int c = 0; c < k; c++) {
      const double a = work->state->aspects[num_at(c, j, k)];
      least = fmin(least, a);
      most = fmax(most, a);
    }
    work->present[j] = least;
    work->absence[j] = 1 - most;
    if (!excess) least = most = 0;
    for (int c = 0; c < k; c++) {
      const double a = work->state->aspects[num_at(c, j, k)];
      work->present[num_at(j, c + 1, m)] = a - least;
      work->absence[num_at(j, c + 1, m)] = excess ? most - a : 1 - a;
    }
  }
}

/* Draws a Dirichlet row; if all Gammas underflow to 0, as with a tiny prior, one component gets all. */
static void draw_membership(ab_gibbs_work *work, int i, const double *counts) {
  const int n = work->data->n, k = work->state->k;
  double *s = work->state->membership, total = 0;
  for (int c = 0; c < k; c++)
    total += s[num_at(i, c, n)] = num_draw_gamma(work->prior.membership[c] + counts[c], 1);
  if (total <= 0) s[num_at(i, num_below(k), n)] = total = 1;
  for (int c = 0; c < k; c++) {
    const ptrdiff_t at = num_at(i, c, n);
    s[at] = fmax(s[at] / total, NUM_TINY);
  }
}

/*
 * Draws memberships conditional on aspects. Because shares sum to 1, 1 - p = sum_c share_c (1 -
 * a_c) equals (1 - max a) + sum_c share_c (max a - a_c): a zero is caused by the part common to all
 * components or by the excess of one, and only the latter is informative about the shares; likewise
 * ones with min a. With fewer latent causes to draw, successive draws are less correlated.
 */
static void draw_memberships(ab_gibbs_work *work) {
  const mc_data *data = work->data;
  const int m = data->m, k = work->state->k;
  weigh_aspects(work, true);
  work->stream = num_new_stream();
  for (int i = 0; i < data->n && !ab_gibbs_stop(work, i); i++) {
    const double *total = row_sums(work, i, 0);
    double at_least = count_later(work->uniform, total, work->sum, m);
    for (int c = 1; c <= k; c++) {
      const double later =
          c == k ? 0 : count_later(work->uniform, total, work->sum + num_at(0, c, m), m);
      work->counts[c] = at_least - later;
      at_least = later;
    }
    for (int e = 0; e < data->start[i + 1] - data->start[i]; e++)
      work->counts[work->one_cause[e]]++;
    draw_membership(work, i, work->counts + 1);
  }
}

static double draw_aspect(double one, double zero) {
  const double a = num_draw_gamma(one, 1), b = num_draw_gamma(zero, 1);
  const double p = a + b > 0 ? a / (a + b) : num_below(2);
  return fmin(fmax(p, NUM_TINY), 1 - DBL_EPSILON / 2);
}

/* Draws aspects conditional on memberships: the causes of all cells, then Betas. */
static void draw_aspects(ab_gibbs_work *work) {
  const mc_data *data = work->data;
  const int m = data->m, k = work->state->k;
  const size_t size = (size_t) m * (size_t) (k + 1) * sizeof(double);
  weigh_aspects(work, false);
  work->stream = num_new_stream();
  memset(work->one, 0, size);
  memset(work->zero, 0, size);
  /* zero[, c]: zeros caused by c or a later component */
  memcpy(work->zero + m, work->zeros, (size_t) m * sizeof(double));
  for (int i = 0; i < data->n; i++) {
    if (ab_gibbs_stop(work, i)) return; /* the counts are incomplete */
    const double *total = row_sums(work, i, 1);
    for (int c = 1; c < k; c++)
      add_later(work->uniform, total, work->sum + num_at(0, c, m), m,
                work->zero + num_at(0, c + 1, m));
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      work->one[num_at(data->column[e], work->one_cause[e - data->start[i]], m)]++;
  }
  for (int c = 1; c <= k; c++) {
    if (work->state->fixed[c - 1]) continue;
    for (int j = 0; j < m; j++) {
      const double later = c < k ? work->zero[num_at(j, c + 1, m)] : 0;
      work->state->aspects[num_at(c - 1, j, k)] =
          draw_aspect(work->prior.one[c - 1] + work->one[num_at(j, c, m)],
                      work->prior.zero[c - 1] + work->zero[num_at(j, c, m)] - later);
    }
  }
}

/* Moves starting values at their bounds into the interior. */
static void lift_start(const mc_data *data, ab_gibbs_state *state) {
  for (ptrdiff_t e = 0; e < (ptrdiff_t) data->n * state->k; e++)
    state->membership[e] = fmax(state->membership[e], NUM_TINY);
  for (int j = 0; j < data->m; j++)
    for (int c = 0; c < state->k; c++) {
      double *a = state->aspects + num_at(c, j, state->k);
      if (!state->fixed[c]) *a = fmin(fmax(*a, NUM_TINY), 1 - DBL_EPSILON / 2);
    }
}

mc_status ab_gibbs_run(const mc_data *data, const ab_prior *prior, const ab_gibbs_plan *plan,
                       ab_gibbs_state *state, const mc_host *host, ab_gibbs_record *record) {
  ab_gibbs_work work = new_work(data, prior, state, host);
  ab_gibbs_notes *notes = plan->thin > 0 ? ab_gibbs_new_notes(&work, plan, host) : NULL;
  record->n_done = record->n_draw = record->n_kept = 0;
  record->room_note = record->room_membership = record->room_aspects = 0;
  lift_start(data, state);
  for (int t = 0; t < plan->n_sweep; t++) {
    draw_memberships(&work);
    draw_aspects(&work);
    /* The partial sweep leaves a valid draw, but is not counted. */
    if (mc_stop(host, t, 0)) return MC_STOPPED;
    if (notes && (t + 1) % plan->thin == 0 && !ab_gibbs_note(notes, record)) return MC_STOPPED;
    record->n_done = work.n_sweep = t + 1;
    if (mc_stop(host, t + 1, 0)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}
