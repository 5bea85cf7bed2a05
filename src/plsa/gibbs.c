#include "plsa/gibbs.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

#include "num/multinomial_draw.h"
#include "num/rng.h"
#include "num/vector.h"

#define ASK_COUNTS 20000 /* counts between two calls of the host */
#define N_UNIFORM 256

typedef struct {
  const mc_data *data;
  plsa_gibbs_state *state;
  const mc_host *host;
  double *alpha;      /* k: of all rows, or, with covariates, of the current row */
  double alpha_total; /* A */
  /* first (m + 1): attribute j's components are first[j] .. first[j] + size[j] - 1 of component and count. */
  int *first;
  int *size, *component, *count; /* only components with a positive count, unless: */
  bool all_listed;               /* every attribute lists all components, in order */
  int *total;                    /* k: n[c] */
  double *inverse;               /* k: 1 / b[c] */
  double *weight;                /* k: (n[i,c] + alpha[c]) / b[c] for the current row i */
  int *row, *listed, *place;     /* k: n[i,]; its n_listed positive components; their positions in
                                the list */
  int n_listed;
  double smooth, of_row; /* s / eta and r / eta */
  double *running;       /* k */
  /* With covariates: */
  double *share, *tables; /* n x k: of the regression; n, then t */
  double *effects;        /* scratch of num_multinomial_draw() */
  num_stream stream;
  double uniform[N_UNIFORM];
  int n_used, sweeps;
} gibbs_work;

static int cell_count(const mc_data *data, int e) { return data->value ? (int) data->value[e] : 1; }

static int *new_ints(const mc_host *host, size_t n) {
  return host->alloc(host->ctx, n, sizeof(int));
}

/* Position of component c in attribute j's list, or the end of the list. */
static int find_component(const gibbs_work *work, int j, int c) {
  int at = work->first[j];
  if (work->all_listed) return at + c;
  const int end = at + work->size[j];
  while (at < end && work->component[at] != c) at++;
  return at;
}

static void add_to_attribute(gibbs_work *work, int j, int c) {
  const int at = find_component(work, j, c);
  if (at == work->first[j] + work->size[j]) {
    work->component[at] = c;
    work->count[at] = 0;
    work->size[j]++;
  }
  work->count[at]++;
}

static void take_from_attribute(gibbs_work *work, int j, int c) {
  const int at = find_component(work, j, c);
  if (--work->count[at] > 0 || work->all_listed) return;
  const int last = work->first[j] + --work->size[j];
  work->component[at] = work->component[last];
  work->count[at] = work->count[last];
}

/* Number of components up to which an attribute lists all of them, so that no search is needed. */
#define FEW_COMPONENTS 12

/* Initialises the attributes' lists; no attribute has more components than counts. */
static void list_attributes(gibbs_work *work) {
  const mc_data *data = work->data;
  const int m = data->m, k = work->state->k;
  work->first = new_ints(work->host, (size_t) m + 1);
  work->size = new_ints(work->host, m);
  memset(work->size, 0, (size_t) m * sizeof(int));
  for (int e = 0; e < data->start[data->n]; e++) work->size[data->column[e]] += cell_count(data, e);
  work->first[0] = 0;
  work->all_listed = k <= FEW_COMPONENTS;
  for (int j = 0; j < m; j++) {
    const bool all = work->all_listed || work->size[j] > k;
    work->first[j + 1] = work->first[j] + (all ? k : work->size[j]);
    work->size[j] = work->all_listed ? k : 0;
  }
  work->component = new_ints(work->host, work->first[m]);
  work->count = new_ints(work->host, work->first[m]);
  for (int at = 0; at < work->first[m]; at++) {
    work->component[at] = at % k; /* needed if all are listed */
    work->count[at] = 0;
  }
  const int *topic = work->state->topic;
  for (int e = 0; e < data->start[data->n]; e++)
    for (int t = cell_count(data, e); t > 0; t--) {
      work->total[*topic]++;
      add_to_attribute(work, data->column[e], *topic++);
    }
}

/* Computes the weights that depend on the prior. */
static void weigh_components(gibbs_work *work) {
  const int k = work->state->k;
  const double *alpha = work->alpha, eta_total = work->data->m * work->state->prior[k];
  work->alpha_total = work->smooth = 0;
  for (int c = 0; c < k; c++) {
    work->inverse[c] = 1 / (work->total[c] + eta_total);
    work->weight[c] = alpha[c] * work->inverse[c];
    work->alpha_total += alpha[c];
    work->smooth += work->weight[c];
  }
}

/* Selects the prior of row i, if rows have priors of their own. */
static void take_prior(gibbs_work *work, int i) {
  const int n = work->data->n, k = work->state->k;
  if (work->state->by.d == 0) return;
  for (int c = 0; c < k; c++)
    work->alpha[c] = fmax(*work->state->concentration * work->share[num_at(i, c, n)], NUM_TINY);
  weigh_components(work);
}

static void new_regression(gibbs_work *work) {
  const plsa_gibbs_state *state = work->state;
  const int n = work->data->n, k = state->k;
  work->alpha = mc_doubles(work->host, k, 1);
  work->share = mc_doubles(work->host, n, k);
  work->tables = mc_doubles(work->host, n, k);
  work->effects = mc_doubles(work->host, num_multinomial_draw_work(state->by.d, k), 1);
  num_multinomial_share(&state->by, n, k, work->share);
  for (int c = 0; c < k; c++) work->alpha[c] = *state->concentration / k;
}

static gibbs_work *new_work(const mc_data *data, plsa_gibbs_state *state, const mc_host *host) {
  gibbs_work *work = host->alloc(host->ctx, 1, sizeof *work);
  const int k = state->k;
  *work = (gibbs_work){.data = data, .state = state, .host = host, .alpha = state->prior};
  if (state->by.d > 0) new_regression(work);
  work->total = new_ints(host, k);
  work->row = new_ints(host, k);
  work->listed = new_ints(host, k);
  work->place = new_ints(host, k);
  work->inverse = mc_doubles(host, k, 1);
  work->weight = mc_doubles(host, k, 1);
  work->running = mc_doubles(host, k, 1);
  memset(work->total, 0, (size_t) k * sizeof(int));
  memset(work->row, 0, (size_t) k * sizeof(int));
  list_attributes(work);
  weigh_components(work);
  return work;
}

static void list_component(gibbs_work *work, int c) {
  work->place[c] = work->n_listed;
  work->listed[work->n_listed++] = c;
}

static void unlist_component(gibbs_work *work, int c) {
  const int last = work->listed[--work->n_listed];
  work->listed[work->place[c]] = last;
  work->place[last] = work->place[c];
}

/* Counts row i's components; returns a pointer to those of the next row. */
static int *open_row(gibbs_work *work, int i, int *topic) {
  const mc_data *data = work->data;
  work->n_listed = 0;
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    for (int t = cell_count(data, e); t > 0; t--, topic++)
      if (work->row[*topic]++ == 0) list_component(work, *topic);
  return topic;
}

static void close_row(gibbs_work *work) {
  for (int l = 0; l < work->n_listed; l++) work->row[work->listed[l]] = 0;
}

/* Adds one count of component c to the current row (by = 1) or removes it (-1). */
static void shift(gibbs_work *work, int c, int by) {
  const int k = work->state->k, before = work->row[c], after = before + by;
  const double *alpha = work->alpha, old = work->inverse[c];
  work->total[c] += by;
  const double inverse = 1 / (work->total[c] + work->data->m * work->state->prior[k]);
  work->smooth += alpha[c] * (inverse - old);
  work->of_row += after * inverse - before * old;
  work->inverse[c] = inverse;
  work->weight[c] = (alpha[c] + after) * inverse;
  work->row[c] = after;
  if (before == 0) list_component(work, c);
  if (after == 0) unlist_component(work, c);
  if (work->n_listed == 0) work->of_row = 0;
}

static double next_uniform(gibbs_work *work) {
  if (work->n_used == N_UNIFORM) {
    num_fill_unif(&work->stream, work->uniform, N_UNIFORM);
    work->n_used = 0;
  }
  return work->uniform[work->n_used++];
}

/* Draws from the terms beyond q: a component of the row, or any. `left` is in units of eta. */
static int draw_beyond(const gibbs_work *work, double left) {
  const int k = work->state->k;
  if (left < work->of_row)
    for (int l = 0; l < work->n_listed; l++) {
      const int c = work->listed[l];
      left -= work->row[c] * work->inverse[c];
      if (left < 0 || l == work->n_listed - 1) return c;
    }
  left -= work->of_row;
  for (int c = 0; c < k - 1; c++) {
    left -= work->alpha[c] * work->inverse[c];
    if (left < 0) return c;
  }
  return k - 1;
}

/* Draws from eq. (5) for a count of attribute j that has been removed. */
static int draw_component(gibbs_work *work, int j) {
  const int size = work->size[j], *component = work->component + work->first[j];
  const int *count = work->count + work->first[j];
  const double eta = work->state->prior[work->state->k];
  double q = 0;
  for (int l = 0; l < size; l++) work->running[l] = q += work->weight[component[l]] * count[l];
  const double left = next_uniform(work) * (q + eta * (work->of_row + work->smooth));
  if (left >= q) return draw_beyond(work, (left - q) / eta);
  int l = 0;
  while (left >= work->running[l]) l++;
  return component[l];
}

/* Draws the components of row i; returns a pointer to those of the next row. */
static int *draw_row(gibbs_work *work, int i, int *topic) {
  const mc_data *data = work->data;
  const double *alpha = work->alpha;
  take_prior(work, i);
  open_row(work, i, topic);
  work->of_row = 0;
  for (int l = 0; l < work->n_listed; l++) {
    const int c = work->listed[l];
    work->of_row += work->row[c] * work->inverse[c];
    work->weight[c] = (alpha[c] + work->row[c]) * work->inverse[c];
  }
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const int j = data->column[e];
    for (int t = cell_count(data, e); t > 0; t--, topic++) {
      take_from_attribute(work, j, *topic);
      shift(work, *topic, -1);
      *topic = draw_component(work, j);
      shift(work, *topic, 1);
      add_to_attribute(work, j, *topic);
    }
  }
  for (int l = 0; l < work->n_listed; l++) {
    const int c = work->listed[l];
    work->weight[c] = alpha[c] * work->inverse[c];
  }
  close_row(work);
  return topic;
}

/* Runs a sweep; returns false if the host requested a stop, with the draws so far in place. */
static bool sweep(gibbs_work *work) {
  int *topic = work->state->topic;
  ptrdiff_t ask = 0; /* number of counts at which the host is called next */
  work->stream = num_new_stream();
  work->n_used = N_UNIFORM;
  for (int i = 0; i < work->data->n; i++) {
    if (topic - work->state->topic >= ask) {
      if (mc_stop(work->host, work->sweeps, 0)) return false;
      weigh_components(work); /* discards accumulated rounding errors */
      ask = topic - work->state->topic + ASK_COUNTS;
    }
    topic = draw_row(work, i, topic);
  }
  work->sweeps++;
  return true;
}

#define FEW_FACTORS 16

/* log Gamma(a + n) - log Gamma(a); counts are mostly small. */
static double log_rising(double a, int n) {
  if (n > FEW_FACTORS) return lgammafn(a + n) - lgammafn(a);
  double product = 1;
  for (int t = 0; t < n; t++) product *= a + t;
  return log(product);
}

/* Derivative of log_rising() with respect to a. */
static double digamma_rising(double a, int n) {
  if (n > FEW_FACTORS) return digamma(a + n) - digamma(a);
  double sum = 0;
  for (int t = 0; t < n; t++) sum += 1 / (a + t);
  return sum;
}

static double within_range(double x) { return fmin(fmax(x, PLSA_LEAST_PRIOR), PLSA_MOST_PRIOR); }

/* Minka (2000), eq. (55): updates alpha from the rows, and eta from all components jointly. */
static void learn_prior(gibbs_work *work) {
  const mc_data *data = work->data;
  const int n = data->n, m = data->m, k = work->state->k;
  double *alpha = work->state->prior, *eta = alpha + k, *gain = work->running, all = 0;
  int *topic = work->state->topic;
  memset(gain, 0, (size_t) k * sizeof *gain);
  for (int i = 0; i < n; i++) {
    const int *begin = topic;
    topic = open_row(work, i, topic);
    all += digamma_rising(work->alpha_total, (int) (topic - begin));
    for (int l = 0; l < work->n_listed; l++) {
      const int c = work->listed[l];
      gain[c] += digamma_rising(alpha[c], work->row[c]);
    }
    close_row(work);
  }
  double cells = 0, totals = 0;
  for (int c = 0; c < k; c++) totals += digamma_rising(m * *eta, work->total[c]);
  for (int j = 0; j < m; j++)
    for (int l = 0; l < work->size[j]; l++)
      cells += digamma_rising(*eta, work->count[work->first[j] + l]);
  for (int c = 0; c < k && k > 1 && all > 0; c++) alpha[c] = within_range(alpha[c] * gain[c] / all);
  if (m > 1 && totals > 0) *eta = within_range(*eta * cells / (m * totals));
  weigh_components(work);
}

/* Draws the number of tables at which n counts sit. */
static int draw_tables(gibbs_work *work, double alpha, int n) {
  int tables = n > 0;
  for (int s = 1; s < n; s++) tables += next_uniform(work) * (alpha + s) < alpha;
  return tables;
}

/* Log-density of log a given n and the shares, up to a constant; -Inf outside the range of a. */
static double concentration_density(const gibbs_work *work, double log_a) {
  const int n = work->data->n, k = work->state->k;
  const double a = exp(log_a);
  if (a < PLSA_LEAST_PRIOR || a > PLSA_MOST_PRIOR) return -INFINITY;
  double sum = log_a - work->state->rate * a;
  for (int i = 0; i < n; i++) {
    int total = 0;
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(i, c, n);
      const int count = (int) work->tables[at];
      if (count == 0) continue;
      sum += log_rising(fmax(a * work->share[at], NUM_TINY), count);
      total += count;
    }
    if (total > 0) sum -= log_rising(a, total);
  }
  return sum;
}

#define SLICE 0.5 /* width of a step on the scale of log a */

/* Draws the concentration by slice sampling (Neal 2003); tables holds n. */
static void draw_concentration(gibbs_work *work) {
  double at = log(*work->state->concentration);
  const double level = concentration_density(work, at) - num_draw_exp();
  double low = at - SLICE * num_unif(), high = low + SLICE;
  while (concentration_density(work, low) > level) low -= SLICE;
  while (concentration_density(work, high) > level) high += SLICE;
  for (;;) {
    const double trial = low + (high - low) * num_unif();
    if (concentration_density(work, trial) > level || !(high - low > 1e-12)) {
      *work->state->concentration = within_range(exp(trial));
      return;
    }
    *(trial < at ? &low : &high) = trial;
  }
}

/* Draws the regression conditional on the components of the counts. */
static void draw_regression(gibbs_work *work) {
  const plsa_gibbs_state *state = work->state;
  const int n = work->data->n, k = state->k;
  int *topic = state->topic;
  memset(work->tables, 0, (size_t) n * (size_t) k * sizeof(double));
  for (int i = 0; i < n; i++) {
    topic = open_row(work, i, topic);
    for (int l = 0; l < work->n_listed; l++)
      work->tables[num_at(i, work->listed[l], n)] = work->row[work->listed[l]];
    close_row(work);
  }
  draw_concentration(work);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) n * k; at++)
    work->tables[at] =
        draw_tables(work, *state->concentration * work->share[at], (int) work->tables[at]);
  num_multinomial_draw(&state->by, n, k, work->tables, work->effects);
  num_multinomial_share(&state->by, n, k, work->share);
}

/* Adds the moments of the current row's membership, whose Dirichlet has a prior of its own. */
static void note_membership(const gibbs_work *work, int i, int total, plsa_gibbs_record *record) {
  const int n = work->data->n, k = work->state->k;
  const double all = work->alpha_total + total;
  for (int c = 0; c < k; c++) {
    const double own = work->alpha[c] + work->row[c];
    record->membership[num_at(i, c, n)] += own / all;
    record->membership[num_at(i, c + k, n)] += own * (own + 1) / (all * (all + 1));
  }
}

/* Records the current row: its sums, its term of eq. (3), and the probed cells. */
static double note_row(gibbs_work *work, int i, int total, const plsa_gibbs_plan *plan,
                       plsa_gibbs_record *record, double *note) {
  const int n = work->data->n, k = work->state->k;
  const double *alpha = work->alpha, eta = work->state->prior[k];
  double density = -log_rising(work->alpha_total, total);
  if (work->state->by.d > 0) note_membership(work, i, total, record);
  for (int l = 0; l < work->n_listed; l++) {
    const int c = work->listed[l];
    const double count = work->row[c];
    density += log_rising(alpha[c], work->row[c]);
    if (work->state->by.d > 0) continue;
    record->membership[num_at(i, c, n)] += count;
    record->membership[num_at(i, c + k, n)] += count * count;
  }
  for (int p = 0; p < plan->n_probe; p++) {
    const int j = plan->probe[(ptrdiff_t) 2 * p + 1];
    if (plan->probe[(ptrdiff_t) 2 * p] != i) continue;
    double sum = 0;
    for (int c = 0; c < k; c++) {
      const int at = find_component(work, j, c);
      const int count = at < work->first[j] + work->size[j] ? work->count[at] : 0;
      sum += (alpha[c] + work->row[c]) * (eta + count) * work->inverse[c];
    }
    note[1 + p] = sum / (work->alpha_total + total);
  }
  return density;
}

/* Records the sums of the basis; returns its term of the density, eq. (2). */
static double note_basis(gibbs_work *work, plsa_gibbs_record *record) {
  const int m = work->data->m, k = work->state->k;
  const double eta = work->state->prior[k];
  double density = 0;
  for (int c = 0; c < k; c++) {
    const double b = work->total[c] + m * eta;
    density -= log_rising(m * eta, work->total[c]);
    record->share[c] += 1 / b;
    record->share[k + c] += 1 / (b * (b + 1));
  }
  for (int j = 0; j < m; j++)
    for (int l = 0; l < work->size[j]; l++) {
      const int c = work->component[work->first[j] + l];
      const double count = work->count[work->first[j] + l], b = work->total[c] + m * eta;
      density += log_rising(eta, work->count[work->first[j] + l]);
      record->basis[num_at(c, j, k)] += count / b;
      record->basis[num_at(c, j + (ptrdiff_t) m, k)] +=
          count * (count + 2 * eta + 1) / (b * (b + 1));
    }
  return density;
}

/* Records the regression; returns its log-density, up to a constant. */
static double note_regression(gibbs_work *work, int most, plsa_gibbs_record *record) {
  const plsa_gibbs_state *state = work->state;
  const ptrdiff_t size = (ptrdiff_t) state->by.d * state->k, width = size + 1;
  record->regression = mc_grow(work->host, record->regression, record->n_draw, most, width,
                               &record->room_regression);
  double *draw = record->regression + record->n_draw * width;
  memcpy(draw, state->by.effects, (size_t) size * sizeof(double));
  draw[size] = *state->concentration;
  return num_multinomial_log_prior(&state->by, state->k) - state->rate * *state->concentration;
}

static void note_draw(gibbs_work *work, const plsa_gibbs_plan *plan, plsa_gibbs_record *record) {
  const ptrdiff_t width = 1 + plan->n_probe;
  const int most = plan->n_sweep / plan->thin;
  record->note = mc_grow(work->host, record->note, record->n_draw, most, width, &record->room_note);
  double *note = record->note + record->n_draw * width;
  memset(note, 0, (size_t) width * sizeof *note);
  double density = note_basis(work, record);
  if (work->state->by.d > 0) density += note_regression(work, most, record);
  int *topic = work->state->topic;
  for (int i = 0; i < work->data->n; i++) {
    const int *begin = topic;
    take_prior(work, i);
    topic = open_row(work, i, topic);
    density += note_row(work, i, (int) (topic - begin), plan, record, note);
    close_row(work);
  }
  note[0] = density;
  record->n_draw++;
}

mc_status plsa_gibbs_run(const mc_data *data, const plsa_gibbs_plan *plan, plsa_gibbs_state *state,
                         const mc_host *host, plsa_gibbs_record *record) {
  gibbs_work *work = new_work(data, state, host);
  record->n_done = record->n_draw = record->room_note = record->room_regression = 0;
  for (int t = 0; t < plan->n_sweep; t++) {
    if (!sweep(work)) return MC_STOPPED;
    record->n_done = t + 1;
    if (plan->learn) learn_prior(work);
    if (state->by.d > 0) draw_regression(work);
    if (plan->thin > 0 && (t + 1) % plan->thin == 0) note_draw(work, plan, record);
    if (mc_stop(host, t + 1, 0)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}

#define FOLD_IN_PASSES 500
#define FOLD_IN_TOLERANCE 1e-10

/*
 * One CVB0 iteration for row i: share (k x its nonzeros) from counts, then counts from share.
 * Returns the largest change of a count.
 */
static double fold_in_pass(const mc_data *data, int i, int k, const double *basis,
                           const double *alpha, double *share, double *count, double *before) {
  const size_t size = (size_t) k * sizeof(double);
  memcpy(before, count, size);
  memset(count, 0, size);
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    double *g = share + num_at(0, e - data->start[i], k), sum = 0;
    const double *w = basis + num_at(0, data->column[e], k);
    for (int c = 0; c < k; c++) sum += g[c] = (fmax(before[c] - g[c], 0) + alpha[c]) * w[c];
    const double value = data->value ? data->value[e] : 1;
    for (int c = 0; c < k; c++) {
      g[c] /= sum;
      count[c] += value * g[c];
    }
  }
  double gap = 0;
  for (int c = 0; c < k; c++) gap = fmax(gap, fabs(count[c] - before[c]));
  return gap;
}

mc_status plsa_gibbs_fold_in(const mc_data *data, int k, const double *basis, const double *alpha,
                             const mc_host *host, double *membership) {
  int longest = 0;
  for (int i = 0; i < data->n; i++) {
    const int length = data->start[i + 1] - data->start[i];
    if (length > longest) longest = length;
  }
  double *share = mc_doubles(host, k, (size_t) longest);
  double *count = mc_doubles(host, k, 1), *before = mc_doubles(host, k, 1), alpha_total = 0;
  for (int c = 0; c < k; c++) alpha_total += alpha[c];
  for (int i = 0; i < data->n; i++) {
    double total = 0;
    if (mc_stop(host, i, 0)) return MC_STOPPED;
    /* the first iteration uses only the prior and the basis */
    memset(share, 0, (size_t) k * (size_t) (data->start[i + 1] - data->start[i]) * sizeof(double));
    memset(count, 0, (size_t) k * sizeof(double));
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      total += data->value ? data->value[e] : 1;
    for (int pass = 0; pass < FOLD_IN_PASSES; pass++)
      if (fold_in_pass(data, i, k, basis, alpha, share, count, before) <= FOLD_IN_TOLERANCE * total)
        break;
    for (int c = 0; c < k; c++)
      membership[num_at(i, c, data->n)] = (count[c] + alpha[c]) / (total + alpha_total);
  }
  return MC_CONVERGED;
}
