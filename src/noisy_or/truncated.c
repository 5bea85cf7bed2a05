/*
 * noisy_or/truncated.c: EM over the best few states of each row. The sum over any set of states is
 * a lower bound of the likelihood. A row's set is chosen again in every iteration from its old
 * states and their neighbours, so the bound never decreases.
 */
#include "noisy_or/search.h"
#include "num/blocks.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 64
#define LATE_INNER 3
#define PLAIN_PASSES 15

typedef struct {
  nor_sums sums;
  double bound;
} strip_sum;

struct nor_truncated {
  const mc_data *data;
  nor_param *par;
  const nor_settings *set;
  nor_lists lists, saved; /* saved: while an extrapolated point is tried */
  nor_ready ready;
  nor_totals totals;
  num_strips strips;
  strip_sum strip[NUM_MAX_STRIP];
  nor_search *scratch;
  bool want_sums, hold_lists; /* in the current scan */
  int iterations;             /* made so far, and */
  double objective;           /* after the last iteration, reported to the host */
};

static void copy_lists(const nor_truncated *work, nor_lists *to, const nor_lists *from) {
  const size_t n = (size_t) work->data->n, words = (size_t) from->words;
  const size_t listed = n * (size_t) from->size;
  memcpy(to->state, from->state, listed * words * sizeof(uint64_t));
  memcpy(to->weight, from->weight, listed * sizeof(double));
  memcpy(to->n_state, from->n_state, n * sizeof(int));
}

nor_truncated *nor_new_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                                 nor_lists lists) {
  const mc_host *host = set->host;
  nor_truncated *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->data = data;
  work->par = par;
  work->set = set;
  work->lists = lists;
  work->saved = nor_new_lists(set->accelerate ? data->n : 0, par->k, lists.size, host);
  work->ready = nor_new_ready(data, par, set);
  work->totals = nor_count(data, set);
  work->strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  for (int s = 0; s < work->strips.n_strip; s++)
    work->strip[s].sums = nor_new_sums(data, par, host);
  work->scratch = host->alloc(host->ctx, (size_t) work->strips.n_threads, sizeof *work->scratch);
  for (int t = 0; t < work->strips.n_threads; t++)
    work->scratch[t] = nor_new_search(&work->ready, host);
  return work;
}

/*
 * Replaces, with recording, P(y = 1 | state) in `one` by expected presences divided by it, for a
 * state with this weight; presences at zeros by eq. (R1), for each grid point.
 */
static void add_presences(const nor_truncated *work, int i, nor_search *s, double weight,
                          nor_sums *sums) {
  const nor_row *row = &s->row;
  const nor_settings *set = work->set;
  double logs[NOR_GRID];
  nor_grid_logs(row, s->one, logs);
  const double all =
      num_log_sum_exp(logs, NOR_GRID); /* -Inf: an edge was reached since z was weighed */
  memset(s->zero, 0, (size_t) row->n_cell * sizeof(double)); /* presences */
  for (int g = 0; g < NOR_GRID; g++) {
    const double share = isfinite(all) ? weight * exp(logs[g] - all) : 0;
    nor_count_share(set, sums, i, g, share);
    for (int t = 0; t < row->n_cell; t++) {
      const int j = row->column[t];
      const ptrdiff_t cell = num_at(j, i, work->data->m);
      const double at_zero = nor_present(row->recorded[num_at(g, t, NOR_GRID)], s->one[t]);
      const double present = share * (t < row->n_one ? 1 : at_zero);
      s->zero[t] += present;
      nor_count_present(work->par, sums, g, j, present,
                        set->made ? set->found[cell] : t < row->n_one,
                        set->made ? set->made[cell] : 1);
    }
  }
  for (int t = 0; t < row->n_cell; t++) s->one[t] = s->zero[t] > 0 ? s->zero[t] / s->one[t] : 0;
}

/* Adds a row's expected firings, from the posterior weights of its listed states. */
static void add_firings(const nor_truncated *work, int i, nor_search *s, nor_sums *sums) {
  const nor_lists *lists = &work->lists;
  const int k = work->par->k, n = s->row.n_cell;
  const double times = nor_weight(work->set, i);
  const mc_data *data = work->data;
  for (int l = 0; l < lists->n_state[i]; l++) {
    const uint64_t *state = nor_listed(lists, i, l);
    const double weight = times * lists->weight[num_at(l, i, lists->size)];
    if (weight <= 0) continue;
    nor_state_log(&s->row, state, s->one, s->zero);
    if (s->row.par)
      add_presences(work, i, s, weight, sums);
    else
      for (int t = 0; t < n; t++) s->one[t] = weight / s->one[t];
    for (int t = 0; t < n; t++) sums->leak_fired[s->row.column[t]] += s->one[t];
    for (int c = 0; c < k; c++) {
      if (!nor_is_on(state, c)) continue;
      sums->on[c] += weight;
      for (int t = 0; t < n; t++) sums->fired[num_at(c, s->row.column[t], k)] += s->one[t];
      if (!sums->missing) continue;
      for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
        sums->missing[num_at(c, data->na_column[e], k)] += weight;
    }
  }
}

static void do_block(void *self, int strip, int thread, int first, int b) {
  nor_truncated *work = self;
  nor_search *s = work->scratch + thread;
  strip_sum *sum = work->strip + strip;
  for (int i = first; i < first + b; i++) {
    nor_take_row(&work->ready, i, &s->row);
    if (!work->hold_lists)
      sum->bound += nor_weight(work->set, i) * nor_find_states(&work->lists, i, s);
    if (work->want_sums) add_firings(work, i, s, &sum->sums);
  }
}

/* Scans the rows and adds up the strips' sums in strip 0; returns the bound, NaN if stopped. */
static double scan_rows(nor_truncated *work, bool want_sums, bool hold_lists) {
  const int m = work->data->m, k = work->par->k;
  work->want_sums = want_sums;
  work->hold_lists = hold_lists;
  nor_ready_rows(&work->ready);
  for (int s = 0; s < work->strips.n_strip; s++) {
    work->strip[s].bound = 0;
    nor_clear_sums(&work->strip[s].sums, k, m);
  }
  if (!mc_scan(work->set->host, work->iterations, work->objective, &work->strips, do_block, work))
    return NAN;
  strip_sum *sum = work->strip;
  for (int s = 1; s < work->strips.n_strip; s++) {
    sum->bound += work->strip[s].bound;
    if (want_sums) nor_add_sums(&sum->sums, &work->strip[s].sums, k, m);
  }
  return sum->bound;
}

static double scan(nor_truncated *work, bool want_sums, bool hold_lists) {
  const double bound = scan_rows(work, want_sums, hold_lists);
  return isnan(bound) ? NAN : nor_objective(work->set, work->par, work->data->m, bound);
}

double nor_truncated_rows(nor_truncated *work, bool evaluate, const nor_sums **sums) {
  *sums = &work->strip[0].sums;
  return scan_rows(work, !evaluate, false);
}

static void update_links(nor_truncated *work) {
  const nor_sums *sums = &work->strip[0].sums;
  for (int j = 0; j < work->data->m; j++) {
    nor_update_taxon(work->set, sums, work->par, j);
    nor_update_link(work->set, sums, work->par, j, sums->fired + num_at(0, j, work->par->k),
                    sums->leak_fired[j], work->totals.seen[j]);
  }
}

static double pass(void *self) {
  nor_truncated *work = self;
  const int adapted = work->iterations < PLAIN_PASSES ? 1 : LATE_INNER;
  const int inner = work->set->inner > 0 ? work->set->inner : adapted;
  const double value = scan(work, true, false);
  if (!isfinite(value)) return value;
  for (int step = 0; step < inner && !work->set->fixed; step++) {
    if (step > 0 && isnan(scan(work, true, true))) return NAN;
    update_links(work);
  }
  if (!work->set->fixed) {
    nor_update_share(work->set, &work->strip[0].sums, work->par, work->data->m);
    nor_update_prior(work->set, work->strip[0].sums.on, work->totals.rows, work->par);
  }
  work->iterations++;
  return work->objective = value;
}

static double objective(void *self) { return scan(self, false, false); }

static void feasible(void *self, const double *const *safe) {
  nor_truncated *work = self;
  copy_lists(work, &work->saved, &work->lists);
  nor_guard(work->par, work->data->m, safe);
  nor_impose_scale(work->set, work->par, work->data->m);
}

static void reject(void *self) {
  nor_truncated *work = self;
  copy_lists(work, &work->lists, &work->saved);
}

mc_model nor_truncated_model(nor_truncated *work) {
  mc_model model = {
      .pass = pass, .objective = objective, .feasible = feasible, .reject = reject, .self = work};
  nor_blocks(work->par, work->data->m, &model);
  return model;
}
