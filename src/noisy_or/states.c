#include "noisy_or/states.h"
#include "num/blas.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

#define NEGLIGIBLE (-100.) /* exp() of less adds nothing to a sum of doubles */
#define NEAR_ONE 0x1.fffffffffffffp-1

void nor_column_states(const nor_param *par, int j, double *one, double *zero) {
  const double *link = par->links + num_at(0, j, par->k);
  one[0] = par->leak[j];
  zero[0] = 1 - par->leak[j];
  for (int c = 0; c < par->k; c++) {
    const int half = 1 << c;
    const double p = link[c], q = 1 - p;
    NUM_OMP(simd)
    for (int s = 0; s < half; s++) {
      one[half + s] = one[s] + zero[s] * p;
      zero[half + s] = zero[s] * q;
    }
  }
}

static double log_or_zero(double x) { return x > 0 ? log(x) : NOR_LOG_ZERO; }

/* log P(s) + sum over soft columns of log P(x_j = 0 | s) for all states; see nor_tables. */
static void base_states(const nor_param *par, const bool *hard, int m, double *base) {
  double all_off = 0;
  for (int j = 0; j < m; j++)
    if (!hard[j]) all_off += log1p(-par->leak[j]);
  base[0] = all_off;
  for (int c = 0; c < par->k; c++) {
    const double off = log_or_zero(1 - par->prior[c]);
    double on = log_or_zero(par->prior[c]);
    for (int j = 0; j < m; j++)
      if (!hard[j]) on += log1p(-par->links[num_at(c, j, par->k)]);
    for (int s = 0; s < 1 << c; s++) {
      base[(1 << c) + s] = base[s] + on;
      base[s] += off;
    }
  }
}

#define LANES 8 /* partial sums and maxima side by side: no chain of dependent steps */

/* Returns the sum of x[half + s] and adds each term to x[s]. */
static double fold_half(double *x, int half) {
  const int whole = half - half % LANES;
  double lane[LANES] = {0}, sum = 0;
  for (int s = 0; s < whole; s += LANES) {
    NUM_OMP(simd)
    for (int l = 0; l < LANES; l++) {
      lane[l] += x[half + s + l];
      x[s + l] += x[half + s + l];
    }
  }
  for (int s = whole; s < half; s++) {
    sum += x[half + s];
    x[s] += x[half + s];
  }
  for (int l = 0; l < LANES; l++) sum += lane[l];
  return sum;
}

void nor_fold(double *x, int k, double scale, double *on) {
  for (int c = k - 1; c >= 0; c--) on[c] += scale * fold_half(x, 1 << c);
}

nor_tables nor_new_tables(const nor_param *par, int m, const mc_host *host) {
  const size_t n_state = (size_t) nor_n_grid(par) << par->k;
  nor_tables tab = {.k = par->k, .m = m, .n_state = (int) n_state};
  if (par->share) tab.off = host->alloc(host->ctx, n_state * (size_t) m, sizeof(double));
  tab.odds = host->alloc(host->ctx, n_state * (size_t) m, sizeof(double));
  tab.base = host->alloc(host->ctx, n_state, sizeof(double));
  tab.hard = host->alloc(host->ctx, (size_t) m, sizeof(bool));
  return tab;
}

static bool is_hard(const nor_param *par, int j) {
  for (int c = 0; c < par->k; c++)
    if (par->links[num_at(c, j, par->k)] > NEAR_ONE) return true;
  return par->leak[j] > NEAR_ONE;
}

typedef struct {
  nor_tables *tab;
  const nor_param *par;
  double *const *scratch;
} filling;

/* Computes the tables of column j from P(y_j | s), initially in odds and zero; with recording. */
static void fill_recorded(const filling *f, int j, const double *zero) {
  const int n_state = f->tab->n_state, n_set = 1 << f->tab->k;
  double *odds = f->tab->odds + num_at(0, j, n_state), *off = f->tab->off + num_at(0, j, n_state);
  for (int g = NOR_GRID - 1; g >= 0; g--) { /* the first last, because the others need its data */
    const double rho = nor_recorded(f->par, g, j);
    for (int s = 0; s < n_set; s++) {
      const int at = g * n_set + s;
      off[at] = log_or_zero(1 - rho + rho * zero[s]);
      odds[at] = log_or_zero(rho * odds[s]) - (f->tab->hard[j] ? 0 : off[at]);
    }
  }
}

/* log P(s) + sum over soft columns of log P(x_j = 0 | s), from f->tab->off; with recording. */
static void base_recorded(nor_tables *tab, const nor_param *par) {
  const int n_set = 1 << tab->k;
  base_states(par, tab->hard, 0, tab->base);
  for (int g = NOR_GRID - 1; g >= 0; g--)
    for (int s = 0; s < n_set; s++)
      tab->base[g * n_set + s] = tab->base[s] + (par->coef ? 0 : log_or_zero(par->share[g]));
  for (int j = 0; j < tab->m; j++)
    if (!tab->hard[j])
      num_add_scaled(tab->base, 1, tab->off + num_at(0, j, tab->n_state), tab->n_state);
}

static void fill_columns(void *ctx, int strip, int thread, int first, int b) {
  const filling *f = ctx;
  const int n_state = f->tab->n_state;
  double *zero = f->scratch[thread];
  (void) strip;
  for (int j = first; j < first + b; j++) {
    double *odds = f->tab->odds + num_at(0, j, n_state);
    nor_column_states(f->par, j, odds, zero);
    if (f->tab->off) {
      fill_recorded(f, j, zero);
      continue;
    }
    for (int s = 0; s < n_state; s++)
      odds[s] = log_or_zero(f->tab->hard[j] ? odds[s] : odds[s] / zero[s]);
  }
}

bool nor_fill_tables(nor_tables *tab, const nor_param *par, const num_strips *columns,
                     double *const *scratch, const mc_host *host, int pass, double objective) {
  filling f = {tab, par, scratch};
  tab->any_hard = false;
  for (int j = 0; j < tab->m; j++) tab->any_hard |= tab->hard[j] = is_hard(par, j);
  if (!mc_scan(host, pass, objective, columns, fill_columns, &f)) return false;
  if (tab->off)
    base_recorded(tab, par);
  else
    base_states(par, tab->hard, tab->m, tab->base);
  return true;
}

/* Adds sign * log P(x_j = 0 | s) for all states. */
static void add_zero(const nor_tables *tab, const nor_param *par, int j, double sign, double *logs,
                     double *scratch) {
  const int n_state = tab->n_state;
  if (tab->off) {
    num_add_scaled(logs, sign, tab->off + num_at(0, j, n_state), n_state);
    return;
  }
  scratch[0] = log_or_zero(1 - par->leak[j]);
  for (int c = 0; c < par->k; c++) {
    const int half = 1 << c;
    const double off = log_or_zero(1 - par->links[num_at(c, j, par->k)]);
    for (int s = 0; s < half; s++) scratch[half + s] = scratch[s] + off;
  }
  for (int s = 0; s < n_state; s++) logs[s] += sign * scratch[s];
}

/* Removes the missing cells from base, and adds the zeros of hard columns. */
static void correct_row(const nor_tables *tab, const mc_data *data, const nor_param *par, int i,
                        double *logs, double *scratch) {
  const int from = data->na_start ? data->na_start[i] : 0;
  const int to = data->na_start ? data->na_start[i + 1] : 0;
  for (int e = from; e < to; e++) {
    const int j = data->na_column[e];
    if (!tab->hard[j]) add_zero(tab, par, j, -1, logs, scratch);
  }
  if (!tab->any_hard) return;
  for (int j = 0, e = from, t = data->start[i]; j < tab->m; j++) {
    const bool missing = e < to && data->na_column[e] == j;
    const bool one = t < data->start[i + 1] && data->column[t] == j;
    e += missing;
    t += one;
    if (tab->hard[j] && !missing && !one) add_zero(tab, par, j, 1, logs, scratch);
  }
}

/* Share of ones below which one vector per one is faster than a product of all cells; shorter
 * vectors have an overhead, so the share is then smaller. */
#define FEW_ONES 0.03
#define LONG_VECTOR 64

bool nor_few_ones(const nor_tables *tab, const mc_data *data, int first, int b) {
  const double share = FEW_ONES * fmin(1, tab->n_state / (double) LONG_VECTOR);
  return data->start[first + b] - data->start[first] < share * b * data->m;
}

void nor_block_logs(const nor_tables *tab, const mc_data *data, const nor_param *par, int first,
                    int b, double *cells, double *logs, double *scratch) {
  const int m = tab->m, n_state = tab->n_state;
  const bool few = nor_few_ones(tab, data, first, b);
  if (!few) memset(cells, 0, (size_t) (m + 1) * (size_t) b * sizeof(double));
  for (int i = 0; i < b; i++) {
    double *row = cells + num_at(0, i, m + 1), *log = logs + num_at(0, i, n_state);
    memcpy(log, tab->base, (size_t) n_state * sizeof(double));
    for (int e = data->start[first + i]; e < data->start[first + i + 1]; e++) {
      const int j = data->column[e];
      if (few)
        num_add_scaled(log, 1, tab->odds + num_at(0, j, n_state), n_state);
      else
        row[j] = 1;
    }
    if (!few) row[m] = 1;
  }
  if (!few)
    num_gemm(false, false, n_state, b, m, tab->odds, n_state, cells, m + 1, 1, logs, n_state);
  if (!data->na_start && !tab->any_hard) return;
  for (int i = 0; i < b; i++)
    correct_row(tab, data, par, first + i, logs + num_at(0, i, n_state), scratch);
}

void nor_row_states(const nor_settings *set, const nor_param *par, int i, double *logs) {
  const int k = par->k, n_set = 1 << k, n_state = nor_n_grid(par) * n_set;
  int on = 0, off = 0;
  if (par->coef) {
    double share[NOR_GRID];
    nor_log_shares(set, par, i, share);
    for (int s = 0; s < n_state; s++) logs[s] += share[s / n_set];
  }
  if (!set->known) return;
  for (int c = 0; c < k; c++) {
    on |= nor_given(set, i, c, k, true) << c;
    off |= nor_given(set, i, c, k, false) << c;
  }
  if (!on && !off) return;
  for (int s = 0; s < n_state; s++)
    if ((s & on) != on || (s & off)) logs[s] = NOR_LOG_ZERO;
}

static double largest(const double *x, int n) {
  const int whole = n - n % LANES;
  double lane[LANES], top = -INFINITY;
  for (int l = 0; l < LANES; l++) lane[l] = -INFINITY;
  for (int s = 0; s < whole; s += LANES) {
    NUM_OMP(simd)
    for (int l = 0; l < LANES; l++) lane[l] = x[s + l] > lane[l] ? x[s + l] : lane[l];
  }
  for (int s = whole; s < n; s++) top = x[s] > top ? x[s] : top;
  for (int l = 0; l < LANES; l++) top = lane[l] > top ? lane[l] : top;
  return top;
}

double nor_take_exp(double *x, int n, double *sum) {
  const double top = largest(x, n);
  double total = 0;
  *sum = 0;
  if (!(top > NOR_IMPOSSIBLE)) {
    memset(x, 0, (size_t) n * sizeof(double));
    return -INFINITY;
  }
  for (int s = 0; s < n; s++) {
    const double below = x[s] - top;
    if (below > NEGLIGIBLE) {
      x[s] = exp(below);
      total += x[s];
    } else {
      x[s] = 0;
    }
  }
  *sum = total;
  return top + log(total);
}
