#include "noisy_or/row.h"

#include "num/vector.h"

#include <math.h>
#include <string.h>

#define PRIOR_EDGE 1e-300 /* log odds stay finite where a prior is an exact 1 */

nor_ready nor_new_ready(const mc_data *data, const nor_param *par, const nor_settings *set) {
  const mc_host *host = set->host;
  const size_t columns = (size_t) data->m, sources = (size_t) par->k;
  nor_ready ready = {.data = data, .par = par, .set = set};
  ready.log_off = host->alloc(host->ctx, (sources + 1) * columns, sizeof(double));
  ready.all_off = host->alloc(host->ctx, sources + 1, sizeof(double));
  ready.hard = host->alloc(host->ctx, sources + 1, sizeof(double));
  ready.prior_odds = host->alloc(host->ctx, sources, sizeof(double));
  return ready;
}

void nor_ready_rows(nor_ready *ready) {
  const nor_param *par = ready->par;
  const int k = par->k;
  memset(ready->all_off, 0, (size_t) (k + 1) * sizeof(double));
  memset(ready->hard, 0, (size_t) (k + 1) * sizeof(double));
  for (int j = 0; j < ready->data->m; j++) {
    double *log_off = ready->log_off + num_at(0, j, k + 1);
    for (int c = 0; c <= k; c++) {
      const double p = c < k ? par->links[num_at(c, j, k)] : par->leak[j];
      log_off[c] = p < 1 ? log1p(-p) : 0;
      ready->all_off[c] += log_off[c];
      ready->hard[c] += p >= 1;
    }
  }
  ready->prior_off = 0;
  for (int c = 0; c < k; c++) {
    const double off = log(fmax(1 - par->prior[c], PRIOR_EDGE));
    ready->prior_odds[c] = log(par->prior[c]) - off; /* -Inf: never on */
    ready->prior_off += off;
  }
}

nor_row nor_new_row(const nor_ready *ready, const mc_host *host) {
  const size_t m = (size_t) ready->data->m, k = (size_t) ready->par->k;
  nor_row row = {.k = (int) k};
  row.link = host->alloc(host->ctx, m * k, sizeof(double));
  row.leak = host->alloc(host->ctx, m, sizeof(double));
  row.bonus = host->alloc(host->ctx, 2 * k + 2, sizeof(double));
  if (ready->set->known) row.on = host->alloc(host->ctx, nor_words((int) k), sizeof(uint64_t));
  if (!ready->par->share) return row;
  row.par = ready->par;
  row.cells = host->alloc(host->ctx, m, sizeof(int));
  row.other = host->alloc(host->ctx, m, sizeof(bool));
  row.recorded = mc_doubles(host, m, NOR_GRID);
  return row;
}

/* Removes the row's cells of column j, which are not zeros, from the sums over zeros. */
static void leave_out(const nor_ready *ready, int j, double *off, double *hard) {
  const int k = ready->par->k;
  const double *log_off = ready->log_off + num_at(0, j, k + 1);
  const double *link = ready->par->links + num_at(0, j, k);
  for (int c = 0; c <= k; c++) off[c] -= log_off[c];
  for (int c = 0; c < k; c++) hard[c] -= link[c] >= 1;
  hard[k] -= ready->par->leak[j] >= 1;
}

/* Computes the probability of each cell to be recorded, and of the ones' records; with recording. */
static void take_records(const nor_ready *ready, int i, nor_row *row) {
  const nor_param *par = ready->par;
  const nor_settings *set = ready->set;
  double taxa = 0;
  for (int t = 0; t < row->n_one && par->taxon; t++) taxa += log(par->taxon[row->cells[t]]);
  nor_log_shares(set, par, i, row->found);
  for (int g = 0; g < NOR_GRID; g++) row->found[g] += row->n_one * log(nor_probability(g)) + taxa;
  for (int t = 0; t < row->n_cell; t++) {
    const ptrdiff_t cell = num_at(row->cells[t], i, ready->data->m);
    const bool more = set->made && t < row->n_one; /* than one find of one visit */
    const int found = more ? set->found[cell] - 1 : 0;
    const int missed = more ? set->made[cell] - set->found[cell] : 0;
    for (int g = 0; g < NOR_GRID; g++) {
      const double rho = nor_recorded(par, g, row->cells[t]);
      row->recorded[num_at(g, t, NOR_GRID)] = nor_any_record(set, rho, cell);
      if (found > 0) row->found[g] += found * log(rho);
      if (missed > 0) row->found[g] += missed * log1p(-rho);
    }
  }
}

/* Lists ones and zeros, without the missing cells; with recording. */
static void take_cells(const nor_ready *ready, int i, nor_row *row) {
  const mc_data *data = ready->data;
  const nor_param *par = ready->par;
  const int m = data->m, k = par->k, n_missing = data_n_missing(data, i);
  memset(row->other, 0, (size_t) m * sizeof(bool));
  row->n_one = 0;
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    row->other[data->column[e]] = true;
    row->cells[row->n_one++] = data->column[e];
  }
  for (int e = 0; e < n_missing; e++) row->other[data->na_column[data->na_start[i] + e]] = true;
  row->n_cell = row->n_one;
  for (int j = 0; j < m; j++)
    if (!row->other[j]) row->cells[row->n_cell++] = j;
  row->column = row->cells;
  row->base = ready->prior_off;
  memcpy(row->bonus, ready->prior_odds, (size_t) k * sizeof(double));
  for (int t = 0; t < row->n_cell; t++) {
    const int j = row->cells[t];
    for (int c = 0; c < k; c++) row->link[num_at(t, c, row->n_cell)] = par->links[num_at(c, j, k)];
    row->leak[t] = par->leak[j];
  }
  take_records(ready, i, row);
}

/* Lists the ones, and computes sums over the zeros; without recording. */
static void take_ones(const nor_ready *ready, int i, nor_row *row) {
  const mc_data *data = ready->data;
  const nor_param *par = ready->par;
  const int k = par->k;
  double *off = row->bonus, *hard = row->bonus + k + 1;
  memcpy(off, ready->all_off, (size_t) (k + 1) * sizeof(double));
  memcpy(hard, ready->hard, (size_t) (k + 1) * sizeof(double));
  row->column = data->column + data->start[i];
  row->n_one = row->n_cell = data->start[i + 1] - data->start[i];
  for (int t = 0; t < row->n_one; t++) {
    const int j = row->column[t];
    for (int c = 0; c < k; c++) row->link[num_at(t, c, row->n_one)] = par->links[num_at(c, j, k)];
    row->leak[t] = par->leak[j];
    leave_out(ready, j, off, hard);
  }
  if (data->na_start)
    for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
      leave_out(ready, data->na_column[e], off, hard);
  row->base = hard[k] > 0 ? -INFINITY : ready->prior_off + off[k];
  for (int c = 0; c < k; c++)
    row->bonus[c] = hard[c] > 0 ? -INFINITY : off[c] + ready->prior_odds[c];
}

void nor_take_row(const nor_ready *ready, int i, nor_row *row) {
  if (row->par)
    take_cells(ready, i, row);
  else
    take_ones(ready, i, row);
  if (!row->on) return;
  memset(row->on, 0, (size_t) nor_words(row->k) * sizeof(uint64_t));
  for (int c = 0; c < row->k; c++) {
    if (nor_given(ready->set, i, c, row->k, true)) nor_flip(row->on, c);
    if (nor_given(ready->set, i, c, row->k, false)) row->bonus[c] = -INFINITY;
  }
}

#define LEAST_PRODUCT 1e-290

double nor_sum_log(const double *x, int n) {
  double sum = 0, product = 1;
  for (int t = 0; t < n; t++) {
    const double next = product * x[t];
    if (next < LEAST_PRODUCT) {
      sum += log(product) + log(x[t]);
      product = 1;
    } else {
      product = next;
    }
  }
  return sum + log(product);
}

/* Adds log(product) to logs and resets the products. */
static void flush(double *logs, double *product) {
  for (int g = 0; g < NOR_GRID; g++) {
    logs[g] += log(product[g]);
    product[g] = 1;
  }
}

void nor_grid_logs(const nor_row *row, const double *one, double *logs) {
  const double ones = nor_sum_log(one, row->n_one);
  double product[NOR_GRID];
  for (int g = 0; g < NOR_GRID; g++) {
    product[g] = 1;
    logs[g] = row->found[g] + ones;
  }
  for (int t = row->n_one; t < row->n_cell; t++) {
    const double *recorded = row->recorded + num_at(0, t, NOR_GRID), there = fmin(one[t], 1);
    const int last = NOR_GRID - 1; /* of all the least */
    if (product[last] * (1 - recorded[last] * there) < NUM_TINY) flush(logs, product);
    NUM_OMP(simd)
    for (int g = 0; g < NOR_GRID; g++) product[g] *= 1 - recorded[g] * there;
  }
  flush(logs, product);
}

double nor_cells_log(const nor_row *row, const double *one) {
  double logs[NOR_GRID];
  if (!row->par) return nor_sum_log(one, row->n_one);
  nor_grid_logs(row, one, logs);
  return num_log_sum_exp(logs, NOR_GRID);
}

double nor_state_log(const nor_row *row, const uint64_t *state, double *one, double *zero) {
  const int n = row->n_cell;
  double sum = row->base;
  for (int w = 0; row->on && w < nor_words(row->k); w++)
    if (row->on[w] & ~state[w]) sum = -INFINITY;
  for (int t = 0; t < n; t++) {
    one[t] = row->leak[t];
    zero[t] = 1 - row->leak[t];
  }
  for (int c = 0; c < row->k; c++) {
    if (!nor_is_on(state, c)) continue;
    const double *link = row->link + num_at(0, c, n);
    sum += row->bonus[c];
    NUM_OMP(simd)
    for (int t = 0; t < n; t++) {
      one[t] += zero[t] * link[t];
      zero[t] *= 1 - link[t];
    }
  }
  return sum + nor_cells_log(row, one);
}
