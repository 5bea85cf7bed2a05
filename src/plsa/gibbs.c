#include "plsa/gibbs.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

#include "num/rng.h"

#define ASK_COUNTS 20000 /* counts between two questions to the host */
#define N_UNIFORM 256

typedef struct {
  const mc_data *data;
  plsa_gibbs_state *state;
  const mc_host *host;
  double alpha_total; /* A */
  int *first; /* m + 1: attribute j's components are first[j] .. first[j] + size[j] - 1 of: */
  int *size, *component, *count; /* count > 0, unless: */
  bool all_listed;               /* every attribute lists all components, in their order */
  int *total;                    /* k: n[c] */
  double *inverse;               /* k: 1 / b[c] */
  double *weight;                /* k: (n[i,c] + alpha[c]) / b[c], i being the row at hand */
  int *row, *listed, *place; /* k: n[i,]; its n_listed components above 0; where these are listed */
  int n_listed;
  double smooth, of_row; /* s / eta and r / eta */
  double *running;       /* k */
  num_stream stream;
  double uniform[N_UNIFORM];
  int n_used, sweeps;
} gibbs_work;

static int cell_count(const mc_data *data, int e) { return data->value ? (int) data->value[e] : 1; }

static int *new_ints(const mc_host *host, size_t n) {
  return host->alloc(host->ctx, n, sizeof(int));
}

/* Where attribute j has component c; its end where it has not. */
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

/* Up to so many components an attribute lists all of them: nothing is then searched for. */
#define FEW_COMPONENTS 12

/* No attribute has more components than counts. */
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
    work->component[at] = at % k; /* matters where all are listed */
    work->count[at] = 0;
  }
  const int *topic = work->state->topic;
  for (int e = 0; e < data->start[data->n]; e++)
    for (int t = cell_count(data, e); t > 0; t--) {
      work->total[*topic]++;
      add_to_attribute(work, data->column[e], *topic++);
    }
}

/* What depends on the prior. */
static void weigh_components(gibbs_work *work) {
  const int k = work->state->k;
  const double *alpha = work->state->prior, eta_total = work->data->m * alpha[k];
  work->alpha_total = work->smooth = 0;
  for (int c = 0; c < k; c++) {
    work->inverse[c] = 1 / (work->total[c] + eta_total);
    work->weight[c] = alpha[c] * work->inverse[c];
    work->alpha_total += alpha[c];
    work->smooth += work->weight[c];
  }
}

static gibbs_work *new_work(const mc_data *data, plsa_gibbs_state *state, const mc_host *host) {
  gibbs_work *work = host->alloc(host->ctx, 1, sizeof *work);
  const int k = state->k;
  *work = (gibbs_work){.data = data, .state = state, .host = host};
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

/* Counts row i's components; returns those of the next row. */
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

/* One count of the row at hand more (by = 1) or less (-1) of component c. */
static void shift(gibbs_work *work, int c, int by) {
  const int k = work->state->k, before = work->row[c], after = before + by;
  const double *alpha = work->state->prior, old = work->inverse[c];
  work->total[c] += by;
  const double inverse = 1 / (work->total[c] + work->data->m * alpha[k]);
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

/* Beyond q: a component of the row, or any; `left` is in units of eta. */
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
    left -= work->state->prior[c] * work->inverse[c];
    if (left < 0) return c;
  }
  return k - 1;
}

/* Eq. (5), of a count of attribute j that is not counted. */
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

/* The counts of row i; returns those of the next. */
static int *draw_row(gibbs_work *work, int i, int *topic) {
  const mc_data *data = work->data;
  const double *alpha = work->state->prior;
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

/* Returns false where the host said stop: the draws so far are in place. */
static bool sweep(gibbs_work *work) {
  int *topic = work->state->topic;
  ptrdiff_t ask = 0; /* the number of counts at which the host is asked next */
  work->stream = num_new_stream();
  work->n_used = N_UNIFORM;
  for (int i = 0; i < work->data->n; i++) {
    if (topic - work->state->topic >= ask) {
      if (mc_stop(work->host, work->sweeps, 0)) return false;
      weigh_components(work); /* without the rounding errors that sums gather */
      ask = topic - work->state->topic + ASK_COUNTS;
    }
    topic = draw_row(work, i, topic);
  }
  work->sweeps++;
  return true;
}

#define FEW_FACTORS 16

/* log Gamma(a + n) - log Gamma(a): counts are mostly small. */
static double log_rising(double a, int n) {
  if (n > FEW_FACTORS) return lgammafn(a + n) - lgammafn(a);
  double product = 1;
  for (int t = 0; t < n; t++) product *= a + t;
  return log(product);
}

/* Its derivative by a. */
static double digamma_rising(double a, int n) {
  if (n > FEW_FACTORS) return digamma(a + n) - digamma(a);
  double sum = 0;
  for (int t = 0; t < n; t++) sum += 1 / (a + t);
  return sum;
}

static double within_range(double x) { return fmin(fmax(x, PLSA_LEAST_PRIOR), PLSA_MOST_PRIOR); }

/* Minka (2000), eq. (55): of alpha from the rows, of eta from all components at once. */
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

/* The row at hand: its sums, its part of eq. (3), and cells of it. */
static double note_row(gibbs_work *work, int i, int total, const plsa_gibbs_plan *plan,
                       plsa_gibbs_record *record, double *note) {
  const int n = work->data->n, k = work->state->k;
  const double *alpha = work->state->prior, eta = alpha[k];
  double density = -log_rising(work->alpha_total, total);
  for (int l = 0; l < work->n_listed; l++) {
    const int c = work->listed[l];
    const double count = work->row[c];
    density += log_rising(alpha[c], work->row[c]);
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

/* The sums of the basis, and its part of the density, eq. (2). */
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

static void note_draw(gibbs_work *work, const plsa_gibbs_plan *plan, plsa_gibbs_record *record) {
  const ptrdiff_t width = 1 + plan->n_probe;
  const int most = plan->n_sweep / plan->thin;
  record->note = mc_grow(work->host, record->note, record->n_draw, most, width, &record->room_note);
  double *note = record->note + record->n_draw * width;
  memset(note, 0, (size_t) width * sizeof *note);
  double density = note_basis(work, record);
  int *topic = work->state->topic;
  for (int i = 0; i < work->data->n; i++) {
    const int *begin = topic;
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
  record->n_done = record->n_draw = record->room_note = 0;
  for (int t = 0; t < plan->n_sweep; t++) {
    if (!sweep(work)) return MC_STOPPED;
    record->n_done = t + 1;
    if (plan->learn) learn_prior(work);
    if (plan->thin > 0 && (t + 1) % plan->thin == 0) note_draw(work, plan, record);
    if (mc_stop(host, t + 1, 0)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}

#define FOLD_IN_PASSES 500
#define FOLD_IN_TOLERANCE 1e-10

/*
 * A pass of CVB0 over row i: share, k x its nonzeros, from counts, then counts from share. Returns how
 * far these moved.
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
    /* the first pass: shares of the prior and the basis */
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
