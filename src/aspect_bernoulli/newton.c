/*
 * aspect_bernoulli/newton.c: an iteration: its two halves, their blocks of rows and of columns, and
 * its sums for shards.
 */
#include "aspect_bernoulli/newton_private.h"

#include <math.h>
#include <string.h>

#define MOST_UNITS 128      /* rows or columns a block */
#define BLOCK_PAIRS 1048576 /* entries of their Hessians, where that is fewer units: 8 MB */
#define MOST_PANEL 256      /* cells of a unit at a time */
#define PANEL_PAIRS 24576   /* products in a panel: second-level cache */
#define LEAST_PANEL 16

typedef struct {
  const ab_side *half;
  ab_param *par;
  ab_newton *work;
  const mc_data *data;
  bool value_only;      /* for the objective alone */
  ab_newton_sums *sums; /* of columns, for others; or NULL */
} scan;

static num_strips strips_of(int n, int k, int n_threads) {
  const int most = ab_larger(ab_smaller(MOST_UNITS, BLOCK_PAIRS / num_pairs(k)), 1);
  return num_new_strips(n, ab_even_part(n, most), n_threads);
}

/* Cells of a panel such that its products fit into the second-level cache (with lanes: all into the first). */
static int panel_cells(int k, bool is_few, int longest) {
  const int pairs = num_pairs(k);
  if (is_few) return ab_smaller(longest, ab_lanes_panel(k));
  return ab_smaller(longest, ab_larger(ab_smaller(PANEL_PAIRS / pairs, MOST_PANEL), LEAST_PANEL));
}

ab_newton *ab_new_newton(const mc_data *data, const ab_prior *prior, bool sparse, int n_threads,
                         const mc_host *host) {
  const int k = prior->k;
  ab_newton *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->prior = *prior;
  work->host = host;
  work->rows.k = work->cols.k = k;
  work->rows.work = work->cols.work = work;
  work->columns = mc_transpose(data, host);
  work->by_row = strips_of(data->n, k, n_threads);
  work->by_column = strips_of(data->m, k, n_threads);
  work->absence = mc_doubles(host, k, data->m);
  work->membership = mc_doubles(host, k, data->n);
  work->sparse = sparse;
  if (sparse) {
    work->light = ab_new_light(data->m, host);
    ab_allocate_light(&work->rows, data->m, host);
    ab_allocate_light(&work->cols, 0, host);
  }
  work->rows.moving = host->alloc(host->ctx, (size_t) k, sizeof(int));
  work->cols.moving = host->alloc(host->ctx, (size_t) k, sizeof(int));
  const int longest = ab_larger(ab_larger(data->n, data->m), 1);
  const bool is_few = !sparse && k <= AB_FEW;
  const int panel = panel_cells(k, is_few, longest);
  const int b = ab_larger(work->by_row.block_rows, work->by_column.block_rows);
  const int n_threads_used = ab_larger(work->by_row.n_threads, work->by_column.n_threads);
  work->block = host->alloc(host->ctx, (size_t) n_threads_used, sizeof *work->block);
  for (int t = 0; t < n_threads_used; t++)
    work->block[t] = ab_new_block(k, b, panel, is_few, sparse, host);
  return work;
}

/* Loads gradients and Hessians of a block of units from sums computed elsewhere. */
static void load_sums(const ab_side *of, int first, int b, ab_block *t) {
  const int k = of->k, n_pair = num_pairs(of->n_moving);
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i] = of->order ? of->order[first + i] : first + i;
    memcpy(t->gradient + num_at(0, i, k), of->sums->gradient + num_at(0, unit, k),
           (size_t) k * sizeof(double));
    memcpy(t->hessian + num_at(0, i, n_pair), of->sums->hessian + num_at(0, unit, n_pair),
           (size_t) n_pair * sizeof(double));
  }
}

static void step_block(const scan *w, int strip, int first, int b, ab_block *t) {
  ab_strip_sum *sum = w->work->strip + strip;
  if (w->half->sums)
    load_sums(w->half, first, b, t);
  else
    sum->loglik += ab_differentiate(w->half, first, b, t);
  for (int i = 0; i < b && !w->value_only; i++) {
    const double length = ab_find_step(w->half, w->par, &w->work->prior, i, t, &sum->decrement);
    double *weights = t->weights + num_at(0, i, w->par->k);
    if (length > 0) ab_take_step(w->half, t->unit[i], length, t, weights);
  }
}

static void row_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  ab_block *t = w->work->block + thread;
  const int n = w->data->n, k = w->par->k;
  const size_t size = (size_t) k * (size_t) b * sizeof(double);
  num_take_rows(w->par->membership, n, first, b, k, t->weights);
  memcpy(t->absences, t->weights, size);
  step_block(w, strip, first, b, t);
  num_put_rows(t->weights, n, first, b, k, w->par->membership);
}

static void load_columns(const scan *w, int first, int b, ab_block *t) {
  const int k = w->par->k, *order = w->half->order;
  for (int i = 0; i < b; i++) {
    const ptrdiff_t own = num_at(0, order ? order[first + i] : first + i, k);
    memcpy(t->weights + num_at(0, i, k), w->par->aspects + own, (size_t) k * sizeof(double));
    memcpy(t->absences + num_at(0, i, k), w->work->absence + own, (size_t) k * sizeof(double));
  }
}

/* Sums up columns for use elsewhere, without a step. */
static void column_sum_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  ab_block *t = w->work->block + thread;
  const ab_side *of = w->half;
  const int k = w->par->k, n_pair = num_pairs(of->n_moving);
  load_columns(w, first, b, t);
  w->work->strip[strip].loglik += ab_differentiate(of, first, b, t);
  for (int i = 0; i < b; i++) {
    const int unit = t->unit[i];
    memcpy(w->sums->gradient + num_at(0, unit, k), t->gradient + num_at(0, i, k),
           (size_t) k * sizeof(double));
    memcpy(w->sums->hessian + num_at(0, unit, n_pair), t->hessian + num_at(0, i, n_pair),
           (size_t) n_pair * sizeof(double));
    if (of->curvature) ab_light_sum(of, unit, t, w->sums->light + num_at(0, unit, n_pair));
  }
}

static void column_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  ab_block *t = w->work->block + thread;
  const int k = w->par->k;
  load_columns(w, first, b, t);
  step_block(w, strip, first, b, t);
  for (int i = 0; i < b; i++)
    memcpy(w->par->aspects + num_at(0, t->unit[i], k), t->weights + num_at(0, i, k),
           (size_t) k * sizeof(double));
}

/* Scans all units of a half and adds up the strips in order; false: stopped. */
static bool scan_units(scan *w, const num_strips *strips, num_scanner scanner, ab_strip_sum *out) {
  ab_newton *work = w->work;
  memset(work->strip, 0, sizeof work->strip);
  if (!mc_scan(work->host, work->iterations, work->objective, strips, scanner, w)) return false;
  *out = work->strip[0];
  for (int s = 1; s < strips->n_strip; s++) {
    out->loglik += work->strip[s].loglik;
    out->decrement += work->strip[s].decrement;
  }
  /* The stop may have occurred within the last block. */
  return !isnan(out->loglik) || !mc_stop(work->host, work->iterations, work->objective);
}

/* Rows: on the simplex only differences of aspects matter, and the fixed one is the best origin. */
static void set_rows(const mc_data *data, const ab_param *par, ab_newton *work) {
  ab_side *of = &work->rows;
  of->cells = data;
  of->one = par->aspects;
  of->zero = work->absence;
  of->simplex = true;
  of->origin = par->k - 1;
  for (int c = 0; c < par->k; c++)
    if (ab_is_fixed(par, c)) of->origin = c;
  of->n_moving = 0;
  for (int c = 0; c < par->k; c++)
    if (c != of->origin) of->moving[of->n_moving++] = c;
  if (!work->sparse) return;
  const ab_light *light = &work->light;
  of->curvature = light->row_curvature;
  ab_bound_all(of, work->block);
  of->f = light->unscanned ? light->f : NULL;
  of->scanned = light->unscanned ? light->scanned : NULL;
  of->rank = light->unscanned ? light->rank : NULL;
  of->n_scanned = light->n_scanned;
  if (!light->unscanned) return;
  for (int e = 0; e < of->n_scanned; e++) {
    const size_t size = (size_t) par->k * sizeof(double);
    const ptrdiff_t from = num_at(0, of->scanned[e], par->k), to = num_at(0, e, par->k);
    memcpy(of->one_scanned + to, of->one + from, size);
    memcpy(of->zero_scanned + to, of->zero + from, size);
  }
  ab_low_rank_sum(&of->all, data->m, of->one, light->f);
}

static void set_unit_columns(const ab_param *par, ab_newton *work) {
  ab_side *of = &work->cols;
  of->cells = &work->columns;
  of->one = of->zero = work->membership;
  of->simplex = false;
  of->origin = -1;
  of->n_moving = 0;
  for (int c = 0; c < par->k; c++)
    if (!ab_is_fixed(par, c)) of->moving[of->n_moving++] = c;
  if (!work->sparse) return;
  of->curvature = work->light.column_curvature;
  of->cap = work->light.cap;
  of->order = work->light.order;
}

static void set_columns(const ab_param *par, ab_newton *work) {
  ab_side *of = &work->cols;
  set_unit_columns(par, work);
  if (!work->sparse) return;
  ab_bound_all(of, work->block);
  of->f = work->light.unscanned ? work->light.f : NULL;
  if (work->light.unscanned) ab_low_rank_sum(&of->all, of->cells->m, of->one, NULL);
}

static bool update_membership(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                              ab_strip_sum *sum) {
  scan w = {.half = &work->rows, .par = par, .work = work, .data = data, .value_only = value_only};
  set_rows(data, par, work);
  return scan_units(&w, &work->by_row, row_block, sum);
}

static bool update_aspects(const mc_data *data, ab_param *par, ab_newton *work, ab_strip_sum *sum) {
  scan w = {.half = &work->cols, .par = par, .work = work, .data = data};
  num_take_rows(par->membership, data->n, 0, data->n, par->k, work->membership);
  set_columns(par, work);
  return scan_units(&w, &work->by_column, column_block, sum);
}

/* Computes the quantities of an iteration that depend on the aspects. */
static void prepare(int m, const ab_param *par, ab_newton *work) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t) par->k * m; i++) work->absence[i] = 1 - par->aspects[i];
  if (work->sparse) ab_find_light(par, m, &work->light);
}

/* Begins an iteration; returns the terms of the objective besides the log-likelihood. */
static double begin_iteration(const mc_data *data, ab_param *par, ab_newton *work) {
  const double pull = par->smooth ? mc_smooth_pull(par->smooth, par->membership, true) : 0;
  prepare(data->m, par, work);
  return pull +
         ab_log_prior(&work->prior, par->fixed, data->n, data->m, par->membership, par->aspects);
}

double ab_newton_pass(const mc_data *data, ab_param *par, ab_newton *work) {
  ab_strip_sum rows = {0, 0}, columns = {0, 0};
  const double beside = begin_iteration(data, par, work);
  if (!par->fixed_membership && !update_membership(data, par, work, false, &rows)) return NAN;
  if (!par->fixed_aspects && !update_aspects(data, par, work, &columns)) return NAN;
  work->iterations++;
  work->decrement = rows.decrement + columns.decrement;
  return work->objective = (par->fixed_membership ? columns : rows).loglik + beside;
}

double ab_unscanned_objective(const mc_data *data, ab_param *par, ab_newton *work) {
  ab_strip_sum rows = {0, 0};
  const double beside = begin_iteration(data, par, work);
  return update_membership(data, par, work, true, &rows) ? rows.loglik + beside : NAN;
}

int ab_newton_pairs(const ab_param *par) {
  int n = 0;
  for (int c = 0; c < par->k; c++) n += !ab_is_fixed(par, c);
  return num_pairs(n);
}

static bool sum_columns(const mc_data *data, ab_param *par, ab_newton *work, ab_newton_sums *sums) {
  ab_strip_sum columns = {0, 0};
  scan w = {.half = &work->cols, .par = par, .work = work, .data = data, .sums = sums};
  num_take_rows(par->membership, data->n, 0, data->n, par->k, work->membership);
  set_columns(par, work);
  return scan_units(&w, &work->by_column, column_sum_block, &columns);
}

bool ab_newton_column_sums(const mc_data *data, ab_param *par, ab_newton *work,
                           ab_newton_sums *sums) {
  prepare(data->m, par, work);
  work->iterations++;
  return sum_columns(data, par, work, sums);
}

bool ab_newton_rows(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                    ab_newton_sums *sums) {
  ab_strip_sum rows = {0, 0};
  prepare(data->m, par, work);
  if (!update_membership(data, par, work, value_only, &rows)) return false;
  sums->loglik = rows.loglik;
  sums->decrement = rows.decrement;
  work->iterations++;
  return value_only || sum_columns(data, par, work, sums);
}

bool ab_newton_columns(ab_param *par, ab_newton *work, const ab_newton_sums *sums) {
  ab_strip_sum columns = {0, 0};
  scan w = {.half = &work->cols, .par = par, .work = work};
  prepare(work->columns.n, par, work);
  set_unit_columns(par, work);
  work->cols.sums = sums;
  const bool done = scan_units(&w, &work->by_column, column_block, &columns);
  work->cols.sums = NULL;
  work->iterations++;
  work->decrement = sums->decrement + columns.decrement;
  return done;
}

void ab_newton_note(ab_newton *work, double objective) { work->objective = objective; }

double ab_newton_decrement(const ab_newton *work) { return work->decrement; }

void ab_newton_set_caps(ab_newton *work, int m, const double *cap) {
  ab_set_fixed_caps(&work->light, m, cap);
}

const double *ab_newton_caps(const ab_newton *work) {
  return work->light.unscanned ? work->light.fixed_cap : NULL;
}
