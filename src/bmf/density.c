/* bmf/density.c: log densities, and the fit over all cells. */
#include "bmf/bmf.h"
#include "num/vector.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

double bmf_log_beta(double a, double b) { return lbeta(a, b); }

double bmf_harmonic(const bmf_side *side) {
  double sum = 0;
  for (int i = 0; i < bmf_n_items(side); i++) sum += 1 / (side->beta_off + i);
  return sum;
}

double bmf_log_prior_side(const bmf_state *state, int s) {
  const bmf_side *side = &state->side[s];
  const double alpha = state->hyper[BMF_ALPHA_ROWS + s].value;
  const int n = bmf_n_items(side), n_free = bmf_n_free(side);
  double sum = 0;
  if (!side->infinite) {
    const double a = alpha / n_free;
    for (int c = side->n_fixed; c < side->k; c++)
      sum +=
          lbeta(a + side->count[c], side->beta_off + n - side->count[c]) - lbeta(a, side->beta_off);
    return sum;
  }
  sum = -alpha * bmf_harmonic(side);
  for (int c = side->n_fixed; c < side->k; c++)
    sum += log(alpha) + lbeta(side->count[c], side->beta_off + n - side->count[c]);
  return sum - lgammafn(n_free + 1.0);
}

double bmf_log_feature(const bmf_state *state, int s, int m) {
  const bmf_side *side = &state->side[s];
  const double alpha = state->hyper[BMF_ALPHA_ROWS + s].value;
  if (side->infinite) return log(alpha) + bmf_log_beta(m, side->beta_off + side->n - m);
  return bmf_log_beta(alpha / bmf_n_free(side) + m, side->beta_off + side->n - m);
}

/* Uses logs because a value times a tiny rate may underflow, which dgamma() treats as 0. */
static double log_gamma(double x, double shape, double rate) {
  return shape * log(rate) - lgammafn(shape) + (shape == 1 ? 0 : (shape - 1) * log(x)) - rate * x;
}

double bmf_log_prior_weights(const bmf_state *state) {
  const double mean = state->hyper[BMF_WEIGHT_MEAN].value;
  const double precision = state->hyper[BMF_WEIGHT_PRECISION].value;
  const double shape = state->hyper[BMF_WEIGHT_SHAPE].value;
  double sum = 0;
  for (int c = 0; c < state->side[0].k; c++)
    for (int l = 0; l < state->side[1].k; l++) {
      const double w = bmf_weight(state, 0, c)[l];
      sum += state->family == BMF_POISSON
                 ? log_gamma(w, shape, precision)
                 : 0.5 * log(precision / (2 * M_PI)) - 0.5 * precision * (w - mean) * (w - mean);
    }
  return sum;
}

double bmf_log_hyper(const bmf_state *state, int which) {
  const bmf_hyper *hyper = &state->hyper[which];
  return hyper->learned ? log_gamma(hyper->value, hyper->shape, hyper->rate) : 0;
}

/* Computes eta[0 .. m - 1] of row i; scratch has a value for each column feature. */
static void find_predictor(const bmf_state *state, const bmf_measure_work *work, int i, double *eta,
                           double *scratch) {
  const bmf_side *rows = &state->side[BMF_ROWS], *columns = &state->side[BMF_COLUMNS];
  const unsigned char *u = bmf_item(rows, i);
  memset(scratch, 0, (size_t) columns->k * sizeof(double));
  for (int c = 0; c < rows->k; c++) {
    if (!u[c]) continue;
    const double *w = bmf_weight(state, BMF_ROWS, c);
    for (int l = 0; l < columns->k; l++) scratch[l] += w[l];
  }
  for (int j = 0; j < columns->n; j++) {
    double sum = 0;
    for (ptrdiff_t e = work->start[j]; e < work->start[j + 1]; e++) sum += scratch[work->on[e]];
    eta[j] = sum;
  }
}

/* Squared error of a row's observed cells, cell by cell: differences of large squares and means
 * would lose precision. */
static double squared_error(const mc_data *x, int i, const double *eta) {
  const int to = x->start[i + 1], na_to = x->na_start ? x->na_start[i + 1] : 0;
  double sum = 0;
  for (int j = 0, e = x->start[i], na = x->na_start ? x->na_start[i] : 0; j < x->m; j++) {
    if (na < na_to && x->na_column[na] == j) {
      na++;
      continue;
    }
    const bool stored = e < to && x->column[e] == j;
    const double off = (stored ? (x->value ? x->value[e] : 1) : 0) - eta[j];
    e += stored;
    sum += off * off;
  }
  return sum;
}

/* Log-likelihood of an observed zero. */
static double zero_log_lik(const bmf_state *state, double eta) {
  if (state->family == BMF_BERNOULLI) return -num_softplus(eta);
  return -(state->hyper[BMF_BACKGROUND].value + eta);
}

/*
 * Bernoulli and Poisson: all cells first count as observed zeros; stored and missing cells are then
 * corrected.
 */
static bmf_fit_measure measure_row(const bmf_state *state, int i, const double *eta) {
  const mc_data *x = state->data[BMF_ROWS];
  const double noise = state->hyper[BMF_NOISE_PRECISION].value;
  const double background = state->hyper[BMF_BACKGROUND].value;
  bmf_fit_measure out = {0, 0, data_n_observed(x, i)};
  if (state->family == BMF_GAUSSIAN) {
    out.squared_error = squared_error(x, i, eta);
    out.log_lik = 0.5 * out.n_observed * log(noise / (2 * M_PI)) - 0.5 * noise * out.squared_error;
    return out;
  }
  for (int j = 0; j < x->m; j++) out.log_lik += zero_log_lik(state, eta[j]);
  for (int e = 0; e < data_n_missing(x, i); e++)
    out.log_lik -= zero_log_lik(state, eta[x->na_column[x->na_start[i] + e]]);
  for (int e = x->start[i]; e < x->start[i + 1]; e++) {
    const double value = x->value ? x->value[e] : 1, at = eta[x->column[e]];
    if (state->family == BMF_BERNOULLI)
      out.log_lik += at;
    else
      out.log_lik += value * log(background + at) - lgammafn(value + 1);
  }
  return out;
}

/* Expected value of a cell with this linear predictor. */
static double expected(const bmf_state *state, double eta) {
  switch (state->family) {
    case BMF_BERNOULLI: return 1 / (1 + exp(-eta));
    case BMF_POISSON: return state->hyper[BMF_BACKGROUND].value + eta;
    default: return eta;
  }
}

double bmf_expected_cell(const bmf_state *state, int i, int j) {
  const unsigned char *u = bmf_item(&state->side[0], i), *v = bmf_item(&state->side[1], j);
  double eta = 0;
  for (int c = 0; c < state->side[0].k; c++)
    for (int l = 0; l < state->side[1].k && u[c]; l++) eta += v[l] ? bmf_weight(state, 0, c)[l] : 0;
  return expected(state, eta);
}

#define BLOCK 64 /* rows whose sums are added together, for any number of threads */

bmf_measure_work bmf_new_measure(const bmf_state *state, int n_threads) {
  const mc_host *host = state->host;
  const int n = state->side[BMF_ROWS].n;
  bmf_measure_work work = {.rows = num_new_strips(n, BLOCK, n_threads)};
  work.eta = mc_doubles(host, work.rows.n_threads, state->side[BMF_COLUMNS].n);
  work.block = host->alloc(host->ctx, (size_t) n / BLOCK + 1, sizeof *work.block);
  work.start = host->alloc(host->ctx, (size_t) state->side[BMF_COLUMNS].n + 1, sizeof *work.start);
  return work;
}

typedef struct {
  const bmf_state *state;
  const bmf_measure_work *work;
  double *mean;
} scan;

static void measure_block(void *ctx, int strip, int thread, int first, int b) {
  const scan *w = ctx;
  const bmf_state *state = w->state;
  const int n = state->side[BMF_ROWS].n, m = state->side[BMF_COLUMNS].n;
  double *eta = w->work->eta + num_at(0, thread, m);
  double *scratch = w->work->scratch + num_at(0, thread, w->work->room);
  bmf_fit_measure total = {0, 0, 0};
  (void) strip;
  for (int i = first; i < first + b; i++) {
    find_predictor(state, w->work, i, eta, scratch);
    const bmf_fit_measure row = measure_row(state, i, eta);
    total.log_lik += row.log_lik;
    total.squared_error += row.squared_error;
    total.n_observed += row.n_observed;
    for (int j = 0; j < m && w->mean; j++) w->mean[num_at(i, j, n)] += expected(state, eta[j]);
  }
  w->work->block[first / BLOCK] = total;
}

static void make_room(const bmf_state *state, bmf_measure_work *work) {
  const mc_host *host = state->host;
  const size_t room = (size_t) state->side[BMF_COLUMNS].room;
  if (work->room >= (int) room) return;
  work->room = (int) room;
  work->scratch = mc_doubles(host, work->rows.n_threads, room);
  work->on = host->alloc(host->ctx, (size_t) state->side[BMF_COLUMNS].n * room, sizeof(int));
}

static void list_columns(const bmf_state *state, bmf_measure_work *work) {
  const bmf_side *columns = &state->side[BMF_COLUMNS];
  ptrdiff_t n_on = 0;
  for (int j = 0; j < columns->n; j++) {
    const unsigned char *v = bmf_item(columns, j);
    work->start[j] = n_on;
    for (int l = 0; l < columns->k; l++)
      if (v[l]) work->on[n_on++] = l;
  }
  work->start[columns->n] = n_on;
}

bmf_fit_measure bmf_measure(const bmf_state *state, bmf_measure_work *work, double *mean) {
  const mc_host host = {.tick = mean ? NULL : state->host->tick, .ctx = state->host->ctx};
  bmf_fit_measure total = {0, 0, 0};
  make_room(state, work);
  list_columns(state, work);
  scan w = {.state = state, .work = work};
  w.mean = mean; /* the scanner writes there */
  if (!mc_scan(&host, state->n_sweep, 0, &work->rows, measure_block, &w)) total.log_lik = NAN;
  for (int b = 0; b <= (work->rows.n - 1) / BLOCK; b++) {
    total.log_lik += work->block[b].log_lik;
    total.squared_error += work->block[b].squared_error;
    total.n_observed += work->block[b].n_observed;
  }
  return total;
}

double bmf_log_joint(const bmf_state *state, double log_lik) {
  double sum = log_lik + bmf_log_prior_weights(state);
  for (int s = 0; s < 2; s++) sum += bmf_log_prior_side(state, s);
  for (int h = 0; h < BMF_N_HYPER; h++) sum += bmf_log_hyper(state, h);
  return sum;
}
