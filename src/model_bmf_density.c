/* model_bmf_density.c: log densities, and one look at all cells. */
#include "model_bmf.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

double bmf_log_beta(double a, double b) { return lbeta(a, b); }

double bmf_harmonic(const bmf_side *side) {
  double sum = 0;
  for (int i = 0; i < bmf_n_items(side); i++) sum += 1 / (side->beta_off + i);
  return sum;
}

static bool same_members(const bmf_side *side, int a, int b) {
  if (side->count[a] != side->count[b]) return false;
  for (int i = 0; i < side->n; i++)
    if (bmf_item(side, i)[a] != bmf_item(side, i)[b]) return false;
  return true;
}

/* log prod_h K_h!, K_h the multiplicity of each distinct column: the r-th equal one adds log r. */
static double log_multiplicities(const bmf_side *side) {
  double sum = 0;
  for (int c = side->n_fixed; c < side->k; c++) {
    int rank = 1;
    for (int b = side->n_fixed; b < c; b++) rank += same_members(side, b, c);
    sum += log(rank);
  }
  return sum;
}

/* log prod_i K1_i!, K1_i the features that item i is the first to have. */
static double log_first_takers(const bmf_side *side) {
  double sum = 0;
  for (int i = 0; i < side->n; i++) {
    int n_first = 0;
    for (int c = side->n_fixed; c < side->k; c++) {
      int first = 0;
      while (first < side->n && !bmf_item(side, first)[c]) first++;
      n_first += first == i;
    }
    sum += lgammafn(n_first + 1.0);
  }
  return sum;
}

double bmf_log_prior_side(const bmf_state *state, int s, bmf_density density) {
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
  switch (density) {
    case BMF_LOF: return sum - log_multiplicities(side);
    case BMF_BUFFET: return sum - log_first_takers(side);
    default: return sum - lgammafn(n_free + 1.0);
  }
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
                 ? dgamma(w, shape, 1 / precision, 1)
                 : 0.5 * log(precision / (2 * M_PI)) - 0.5 * precision * (w - mean) * (w - mean);
    }
  return sum;
}

double bmf_log_hyper(const bmf_state *state, int which) {
  const bmf_hyper *hyper = &state->hyper[which];
  return hyper->learned ? dgamma(hyper->value, hyper->shape, 1 / hyper->rate, 1) : 0;
}

/* eta[0 .. m - 1] of row i; scratch holds a value for each column feature. */
static void find_predictor(const bmf_state *state, int i, double *eta, double *scratch) {
  const bmf_side *rows = &state->side[BMF_ROWS], *columns = &state->side[BMF_COLUMNS];
  const unsigned char *u = bmf_item(rows, i);
  memset(scratch, 0, (size_t) columns->k * sizeof(double));
  for (int c = 0; c < rows->k; c++) {
    if (!u[c]) continue;
    const double *w = bmf_weight(state, BMF_ROWS, c);
    for (int l = 0; l < columns->k; l++) scratch[l] += w[l];
  }
  for (int j = 0; j < columns->n; j++) {
    const unsigned char *v = bmf_item(columns, j);
    double sum = 0;
    for (int l = 0; l < columns->k; l++) sum += v[l] ? scratch[l] : 0;
    eta[j] = sum;
  }
}

/* log(1 + exp(x)) */
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

/*
 * All cells are taken as observed zeros first; stored and missing cells then
 * put right what differs.
 */
static bmf_fit_measure measure_row(const bmf_state *state, int i, const double *eta) {
  const mc_data *x = state->data[BMF_ROWS];
  const double noise = state->hyper[BMF_NOISE_PRECISION].value;
  const double background = state->hyper[BMF_BACKGROUND].value;
  bmf_fit_measure out = {0, 0, data_n_observed(x, i)};
  switch (state->family) {
    case BMF_GAUSSIAN:
      for (int j = 0; j < x->m; j++) out.squared_error += eta[j] * eta[j];
      break;
    case BMF_BERNOULLI:
      for (int j = 0; j < x->m; j++) out.log_lik -= softplus(eta[j]);
      break;
    case BMF_POISSON:
      for (int j = 0; j < x->m; j++) out.log_lik -= background + eta[j];
      break;
  }
  for (int e = 0; e < data_n_missing(x, i); e++) {
    const int j = x->na_column[x->na_start[i] + e];
    out.squared_error -= eta[j] * eta[j];
    if (state->family == BMF_BERNOULLI) out.log_lik += softplus(eta[j]);
    if (state->family == BMF_POISSON) out.log_lik += background + eta[j];
  }
  for (int e = x->start[i]; e < x->start[i + 1]; e++) {
    const int j = x->column[e];
    const double value = x->value ? x->value[e] : 1;
    out.squared_error += value * (value - 2 * eta[j]);
    if (state->family == BMF_BERNOULLI) out.log_lik += eta[j];
    if (state->family == BMF_POISSON)
      out.log_lik += value * log(background + eta[j]) - lgammafn(value + 1);
  }
  if (state->family == BMF_GAUSSIAN)
    out.log_lik = 0.5 * out.n_observed * log(noise / (2 * M_PI)) - 0.5 * noise * out.squared_error;
  return out;
}

/* What a cell with this linear predictor is expected to be. */
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

#define BLOCK 64 /* rows whose sums are added up together, whatever the number of threads */

bmf_measure_work bmf_new_measure(const bmf_state *state, int n_threads) {
  const mc_host *host = state->host;
  bmf_measure_work work = {.n_threads = num_threads(n_threads)};
  work.n_block = (state->side[BMF_ROWS].n + BLOCK - 1) / BLOCK;
  work.eta = host->alloc(host->ctx, (size_t) work.n_threads * (size_t) state->side[BMF_COLUMNS].n,
                         sizeof(double));
  work.block = host->alloc(host->ctx, (size_t) work.n_block, sizeof *work.block);
  return work;
}

static bmf_fit_measure measure_block(const bmf_state *state, int from, double *eta, double *scratch,
                                     double *mean) {
  const int n = state->side[BMF_ROWS].n, m = state->side[BMF_COLUMNS].n;
  bmf_fit_measure total = {0, 0, 0};
  for (int i = from; i < n && i < from + BLOCK; i++) {
    find_predictor(state, i, eta, scratch);
    const bmf_fit_measure row = measure_row(state, i, eta);
    total.log_lik += row.log_lik;
    total.squared_error += row.squared_error;
    total.n_observed += row.n_observed;
    if (mean)
      for (int j = 0; j < m; j++) mean[num_at(i, j, n)] += expected(state, eta[j]);
  }
  return total;
}

bmf_fit_measure bmf_measure(const bmf_state *state, bmf_measure_work *work, double *mean) {
  const int m = state->side[BMF_COLUMNS].n, room = state->side[BMF_COLUMNS].room;
  bmf_fit_measure total = {0, 0, 0};
  if (work->room < room) {
    work->room = room;
    work->scratch = state->host->alloc(state->host->ctx, (size_t) work->n_threads * (size_t) room,
                                       sizeof(double));
  }
#pragma omp parallel for num_threads(work->n_threads) schedule(static)
  for (int b = 0; b < work->n_block; b++)
    work->block[b] = measure_block(state, b * BLOCK, work->eta + (ptrdiff_t) num_thread() * m,
                                   work->scratch + (ptrdiff_t) num_thread() * work->room, mean);
  for (int b = 0; b < work->n_block; b++) {
    total.log_lik += work->block[b].log_lik;
    total.squared_error += work->block[b].squared_error;
    total.n_observed += work->block[b].n_observed;
  }
  return total;
}

double bmf_log_joint(const bmf_state *state, double log_lik) {
  double sum = log_lik + bmf_log_prior_weights(state);
  for (int s = 0; s < 2; s++) sum += bmf_log_prior_side(state, s, BMF_LABELLED);
  for (int h = 0; h < BMF_N_HYPER; h++) sum += bmf_log_hyper(state, h);
  return sum;
}
