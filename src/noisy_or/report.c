/* noisy_or/report.c: posterior quantities of rows and cells. */
#include "noisy_or/search.h"
#include "noisy_or/states.h"
#include "num/blocks.h"
#include "num/threads.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 64
#define NEGLIGIBLE 1e-17 /* a state with less posterior adds nothing to a cell */

typedef struct {
  const mc_data *data;
  nor_param *par;
  nor_report *report;
  const nor_settings *set;
  double *links;                    /* m x k: transposed */
  double **one, **zero;             /* a thread: m doubles */
  nor_tables tab;                   /* exact: */
  double **cells, **logs, **states; /* a thread: (m + 1) x b, n_state x b, n_state */
  nor_lists lists;                  /* truncated: */
  nor_ready ready;
  nor_search *search;
} reader;

static double **new_scratch(const nor_settings *set, int n_threads, size_t length) {
  double **out = set->host->alloc(set->host->ctx, (size_t) n_threads, sizeof *out);
  for (int t = 0; t < n_threads; t++)
    out[t] = set->host->alloc(set->host->ctx, length, sizeof(double));
  return out;
}

static reader new_reader(const mc_data *data, nor_param *par, const nor_settings *set,
                         nor_report *report, int n_threads) {
  const size_t m = (size_t) data->m, k = (size_t) par->k;
  reader read = {.data = data, .par = par, .report = report, .set = set};
  read.links = set->host->alloc(set->host->ctx, m * k, sizeof(double));
  for (int j = 0; j < data->m; j++)
    for (int c = 0; c < par->k; c++)
      read.links[num_at(j, c, data->m)] = par->links[num_at(c, j, par->k)];
  read.one = new_scratch(set, n_threads, m);
  read.zero = new_scratch(set, n_threads, m);
  return read;
}

/* Adds the contribution of a state and grid point, from P(y_j = 1 | z); with recording. */
static void add_recorded(const reader *read, int i, int g, const double *one, double weight) {
  const nor_report *report = read->report;
  const int n = read->data->n, m = read->data->m;
  if (report->site) report->site[i] = fmin(report->site[i] + weight * nor_probability(g), 1);
  for (int j = 0; j < m && report->response; j++) {
    const ptrdiff_t at = num_at(i, j, n);
    const ptrdiff_t cell = num_at(j, i, m);
    const double once = nor_recorded(read->par, g, j), rho = nor_any_record(read->set, once, cell);
    const double present = nor_present(rho, one[j]);
    report->response[at] += weight * rho * one[j];
    report->present[at] += weight * one[j];
    report->missed[at] += weight * present;
    report->phantom[at] += weight * (1 - rho + rho * present); /* (1 - rho) / (1 - rho one) */
    if (!report->again) continue;
    const double unseen = read->set->made[cell] > 0 ? present : one[j];
    report->again[at] += weight * once * (read->set->found[cell] > 0 ? 1 : unseen);
  }
}

/* Adds a state's term of a row's means of P(y_j = 1 | z), and the derived quantities. */
static void add_response(const reader *read, int i, const uint64_t *state, int g, double weight) {
  const int n = read->data->n, m = read->data->m;
  double *one = read->one[num_thread()], *zero = read->zero[num_thread()];
  for (int j = 0; j < m; j++) {
    one[j] = read->par->leak[j];
    zero[j] = 1 - one[j];
  }
  for (int c = 0; c < read->par->k; c++) {
    const double *link = read->links + num_at(0, c, m);
    if (!nor_is_on(state, c)) continue;
    for (int j = 0; j < m; j++) {
      one[j] += zero[j] * link[j];
      zero[j] *= 1 - link[j];
    }
  }
  if (read->par->share)
    add_recorded(read, i, g, one, weight);
  else if (read->report->response)
    for (int j = 0; j < m; j++) read->report->response[num_at(i, j, n)] += weight * one[j];
}

/* Adds a state's term of the probabilities that links fired at the row's ones. */
static void add_cells(const reader *read, int i, const uint64_t *state, double weight) {
  const int k = read->par->k;
  const ptrdiff_t n = read->data->n, layer = n * read->data->m;
  for (int e = read->data->start[i]; e < read->data->start[i + 1]; e++) {
    const int j = read->data->column[e];
    const double *link = read->par->links + num_at(0, j, k);
    double *cell = read->report->cell + num_at(i, j, n);
    double one = read->par->leak[j], zero = 1 - one;
    for (int c = 0; c < k; c++) {
      if (!nor_is_on(state, c)) continue;
      one += zero * link[c];
      zero *= 1 - link[c];
    }
    for (int c = 0; c < k; c++)
      if (nor_is_on(state, c)) cell[c * layer] += weight * link[c] / one;
    cell[k * layer] += weight * read->par->leak[j] / one;
  }
}

/* g: the grid point, with recording. */
static void add_state(const reader *read, int i, const uint64_t *state, int g, double weight) {
  if (!(weight > NEGLIGIBLE)) return;
  if (read->report->response || read->report->site) add_response(read, i, state, g, weight);
  if (read->report->cell) add_cells(read, i, state, weight);
}

/* Sets the posterior quantities of an impossible row to NaN. */
static void no_posterior(const reader *read, int i) {
  const nor_report *report = read->report;
  const int n = read->data->n, m = read->data->m, k = read->par->k;
  for (int c = 0; c < k; c++) {
    if (report->activation) report->activation[num_at(i, c, n)] = NAN;
    if (report->map) report->map[num_at(i, c, n)] = NAN;
    if (report->drawn) report->drawn[num_at(i, c, n)] = NAN;
  }
  double *const table[] = {report->response, report->present, report->missed, report->phantom,
                           report->again};
  for (int t = 0; t < 5; t++)
    for (int j = 0; j < m && table[t]; j++) table[t][num_at(i, j, n)] = NAN;
  if (report->site) report->site[i] = NAN;
  for (int j = 0; j < m * (k + 1) && report->cell; j++) report->cell[num_at(i, j, n)] = NAN;
}

/* Writes a state into row i of table (n x k, or NULL). */
static void put_state(const reader *read, int i, const uint64_t *state, double *table) {
  for (int c = 0; c < read->par->k && table; c++)
    table[num_at(i, c, read->data->n)] = nor_is_on(state, c);
}

/* The first of n states at which the cumulative weight exceeds `at`; by rounding, the last. */
static int state_at(const double *weight, int n, double at) {
  int last = 0;
  for (int s = 0; s < n && at >= 0; s++) {
    at -= weight[s];
    if (weight[s] > 0) last = s;
  }
  return last;
}

static void read_exact_row(const reader *read, int i, double *row) {
  const nor_report *report = read->report;
  const int n = read->data->n, k = read->par->k, n_state = read->tab.n_state;
  const int n_set = 1 << k;
  double *fold = read->states[num_thread()], sum = 0;
  int best = 0;
  memcpy(fold, row, (size_t) n_set * sizeof(double));
  const double log = nor_take_exp(row, n_state, &sum);
  for (int s = 0; s < n_set && n_state > n_set; s++) { /* over the grid */
    fold[s] = 0;
    for (int at = s; at < n_state; at += n_set) fold[s] += row[at];
  }
  for (int s = 1; s < n_set; s++)
    if (fold[s] > fold[best]) best = s;
  if (report->loglik) report->loglik[i] = log;
  if (sum <= 0) {
    no_posterior(read, i);
    return;
  }
  const uint64_t likeliest = (uint64_t) best;
  put_state(read, i, &likeliest, report->map);
  if (report->drawn) {
    const double at = report->uniform[i] * sum;
    const uint64_t drawn = (uint64_t) state_at(n_state > n_set ? fold : row, n_set, at);
    put_state(read, i, &drawn, report->drawn);
  }
  if (report->activation) {
    double on[NOR_MAX_EXACT] = {0};
    if (n_state == n_set) memcpy(fold, row, (size_t) n_state * sizeof(double));
    nor_fold(fold, k, 1 / sum, on);
    for (int c = 0; c < k; c++) report->activation[num_at(i, c, n)] = fmin(on[c], 1);
  }
  if (!report->response && !report->cell && !report->site) return;
  for (int s = 0; s < n_state; s++) {
    const uint64_t state = (uint64_t) (s % n_set);
    add_state(read, i, &state, s / n_set, row[s] / sum);
  }
}

static void exact_block(void *self, int strip, int t, int first, int b) {
  const reader *read = self;
  (void) strip;
  nor_block_logs(&read->tab, read->data, read->par, first, b, read->cells[t], read->logs[t],
                 read->states[t]);
  for (int i = 0; i < b; i++) {
    double *row = read->logs[t] + num_at(0, i, read->tab.n_state);
    nor_row_states(read->set, read->par, first + i, row);
    read_exact_row(read, first + i, row);
  }
}

bool nor_report_exact(const mc_data *data, nor_param *par, const nor_settings *set,
                      nor_report *report) {
  const num_strips strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  reader read = new_reader(data, par, set, report, strips.n_threads);
  read.tab = nor_new_tables(par, data->m, set->host);
  const size_t n_state = (size_t) read.tab.n_state, m = (size_t) data->m;
  read.cells = new_scratch(set, strips.n_threads, (m + 1) * BLOCK_ROWS);
  read.logs = new_scratch(set, strips.n_threads, n_state * BLOCK_ROWS);
  read.states = new_scratch(set, strips.n_threads, n_state);
  const num_strips columns = num_new_strips(data->m, 1, strips.n_threads);
  if (!nor_fill_tables(&read.tab, par, &columns, read.states, set->host, 0, 0)) return false;
  return mc_scan(set->host, 0, 0, &strips, exact_block, &read);
}

/* Adds a listed state; with recording its weight is distributed over the grid points. */
static void add_listed(const reader *read, int i, const uint64_t *state, nor_search *search,
                       double weight) {
  double logs[NOR_GRID];
  if (!read->par->share) {
    add_state(read, i, state, 0, weight);
    return;
  }
  nor_state_log(&search->row, state, search->one, search->zero);
  nor_grid_logs(&search->row, search->one, logs);
  const double all = num_log_sum_exp(logs, NOR_GRID);
  for (int g = 0; g < NOR_GRID; g++) add_state(read, i, state, g, weight * exp(logs[g] - all));
}

/* Returns whether state a precedes state b in binary order. */
static bool before(const uint64_t *a, const uint64_t *b, int words) {
  for (int w = words - 1; w >= 0; w--)
    if (a[w] != b[w]) return a[w] < b[w];
  return false;
}

static void truncated_block(void *self, int strip, int thread, int first, int b) {
  reader *read = self;
  const nor_report *report = read->report;
  const int n = read->data->n, k = read->par->k, words = read->lists.words;
  nor_search *search = read->search + thread;
  (void) strip;
  for (int i = first; i < first + b; i++) {
    nor_take_row(&read->ready, i, &search->row);
    const double log = nor_find_states(&read->lists, i, search);
    if (report->loglik) report->loglik[i] = log;
    if (!isfinite(log)) {
      no_posterior(read, i);
      continue;
    }
    int best = 0;
    for (int l = 0; l < read->lists.n_state[i]; l++) {
      const double *weight = read->lists.weight + num_at(0, i, read->lists.size);
      const uint64_t *state = nor_listed(&read->lists, i, l);
      const bool equal = weight[l] == weight[best];
      if (weight[l] > weight[best] ||
          (equal && before(state, nor_listed(&read->lists, i, best), words)))
        best = l;
      for (int c = 0; c < k && report->activation; c++) {
        double *on = report->activation + num_at(i, c, n);
        if (nor_is_on(state, c)) *on = fmin(*on + weight[l], 1); /* sums of weights may round up */
      }
      add_listed(read, i, state, search, weight[l]);
    }
    put_state(read, i, nor_listed(&read->lists, i, best), report->map);
    if (!report->drawn) continue;
    const int drawn = state_at(read->lists.weight + num_at(0, i, read->lists.size),
                               read->lists.n_state[i], report->uniform[i]);
    put_state(read, i, nor_listed(&read->lists, i, drawn), report->drawn);
  }
}

bool nor_report_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                          nor_lists lists, nor_report *report) {
  const num_strips strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  reader read = new_reader(data, par, set, report, strips.n_threads);
  read.lists = lists;
  read.ready = nor_new_ready(data, par, set);
  read.search = set->host->alloc(set->host->ctx, (size_t) strips.n_threads, sizeof *read.search);
  for (int t = 0; t < strips.n_threads; t++)
    read.search[t] = nor_new_search(&read.ready, set->host);
  nor_ready_rows(&read.ready);
  return mc_scan(set->host, 0, 0, &strips, truncated_block, &read);
}
