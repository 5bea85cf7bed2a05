#include "noisy_or/zeros.h"

#include <math.h>
#include <string.h>

#include "num/vector.h"

#define NEGLIGIBLE 1e-17 /* a probability of recording with less posterior adds nothing to sums */

nor_zeros nor_new_zeros(const mc_data *data, const nor_param *par, const nor_theta *var,
                        const nor_settings *set) {
  const mc_host *host = set->host;
  const size_t m = (size_t) data->m, k = (size_t) par->k;
  nor_zeros zeros = {.data = data, .par = par, .var = var, .set = set};
  zeros.theta = mc_doubles(host, m, k);
  zeros.alone = mc_doubles(host, m, k * NOR_GRID);
  zeros.slope = mc_doubles(host, m, k * NOR_GRID);
  return zeros;
}

nor_zero_row nor_new_zero_row(const nor_zeros *zeros, const mc_host *host) {
  const size_t m = (size_t) zeros->data->m;
  const size_t k = (size_t) zeros->par->k;
  nor_zero_row row = {.slope = mc_doubles(host, k, 1), .on = mc_doubles(host, k, NOR_GRID)};
  double **const part[] = {&row.is_zero, &row.point, &row.small, &row.big, &row.height, &row.steep};
  for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) *part[p] = mc_doubles(host, m, 1);
  return row;
}

/* h(y) and -h'(y), eq. (R9). */
static inline void unrecorded(double rho, double y, double *height, double *steep) {
  const double e = rho * exp(-y), all = 1 - rho + e;
  *height = rho < 1 ? log(all) : -y;
  *steep = rho < 1 ? e / all : 1;
}

void nor_ready_zeros(nor_zeros *zeros) {
  const int m = zeros->data->m, k = zeros->par->k;
  for (int c = 0; c < k; c++)
    for (int j = 0; j < m; j++) {
      const double theta = zeros->theta[num_at(j, c, m)] = zeros->var->links[num_at(c, j, k)];
      for (int g = 0; g < NOR_GRID; g++) {
        const ptrdiff_t at = num_at(j, c + g * k, m);
        unrecorded(nor_recorded(zeros->par, g, j), zeros->var->leak[j] + theta, zeros->alone + at,
                   zeros->slope + at);
      }
    }
}

/* Adds each source's term of the sums of eq. (R11). */
NUM_HOT static void part_sources(const nor_zeros *zeros, const double *on, nor_zero_row *row) {
  const int m = zeros->data->m;
  const double *point = row->point;
  double *small = row->small, *big = row->big;
  memset(small, 0, (size_t) m * sizeof *small);
  memset(big, 0, (size_t) m * sizeof *big);
  for (int c = 0; c < zeros->par->k; c++) {
    const double *theta = zeros->theta + num_at(0, c, m), s = on[c];
    NUM_OMP(simd)
    for (int j = 0; j < m; j++) {
      small[j] += theta[j] > point[j] ? 0 : s * theta[j];
      big[j] += theta[j] > point[j] ? s : 0;
    }
  }
}

/* Solves eq. (R11): starting from the mean, an upper bound, each step includes fewer small sources. */
static void find_points(const nor_zeros *zeros, const double *on, nor_zero_row *row) {
  const int m = zeros->data->m, k = zeros->par->k;
  memset(row->point, 0, (size_t) m * sizeof(double));
  for (int c = 0; c < k; c++) num_add_scaled(row->point, on[c], zeros->theta + num_at(0, c, m), m);
  bool moved = true;
  for (int step = 0; step < k + 2 && moved; step++) {
    part_sources(zeros, on, row);
    moved = false;
    for (int j = 0; j < m; j++) {
      const double small = row->small[j], rest = 1 - row->big[j];
      const double next = small > 0 && rest > 0 ? fmin(row->point[j], small / rest) : 0;
      moved |= next < row->point[j];
      row->point[j] = next;
    }
  }
}

static void touch(const nor_zeros *zeros, int g, const double *on, nor_zero_row *row) {
  find_points(zeros, on, row);
  for (int j = 0; j < zeros->data->m; j++)
    unrecorded(nor_recorded(zeros->par, g, j), zeros->var->leak[j] + row->point[j], row->height + j,
               row->steep + j);
}

/* Eq. (R10): computes the sources' slopes; returns the sum of the constant terms. */
NUM_HOT static double bound_zeros(const nor_zeros *zeros, int g, nor_zero_row *row) {
  const int m = zeros->data->m, k = zeros->par->k;
  const double *is_zero = row->is_zero, *point = row->point, *steep = row->steep;
  double *none = row->height, all = 0;
  NUM_OMP(simd)
  for (int j = 0; j < m; j++) none[j] += steep[j] * point[j];
  for (int j = 0; j < m; j++) all += is_zero[j] * none[j];
  for (int c = 0; c < k; c++) {
    const double *theta = zeros->theta + num_at(0, c, m);
    const double *alone = zeros->alone + num_at(0, c + g * k, m);
    double sum = 0;
    NUM_OMP(simd reduction(+ : sum))
    for (int j = 0; j < m; j++)
      sum += is_zero[j] * (theta[j] > point[j] ? alone[j] - none[j] : -steep[j] * theta[j]);
    row->slope[c] = sum;
  }
  return all;
}

static void mark_zeros(const mc_data *data, int i, double *is_zero) {
  for (int j = 0; j < data->m; j++) is_zero[j] = 1;
  for (int e = data->start[i]; e < data->start[i + 1]; e++) is_zero[data->column[e]] = 0;
  for (int e = 0; e < data_n_missing(data, i); e++)
    is_zero[data->na_column[data->na_start[i] + e]] = 0;
}

double nor_activate_recorded(const nor_zeros *zeros, int i, const double *odds, double off,
                             bool keep, nor_zero_row *row, double *activation) {
  const mc_data *data = zeros->data;
  const nor_param *par = zeros->par;
  const int k = par->k, n_one = data->start[i + 1] - data->start[i];
  double share[NOR_GRID];
  double *kept = zeros->var->on + num_at(0, (ptrdiff_t) i * NOR_GRID, k), taxa = 0;
  mark_zeros(data, i, row->is_zero);
  nor_log_shares(zeros->set, par, i, share);
  for (int e = data->start[i]; e < data->start[i + 1] && par->taxon; e++)
    taxa += log(par->taxon[data->column[e]]);
  for (int g = 0; g < NOR_GRID; g++) {
    double *on = row->on + num_at(0, g, k);
    touch(zeros, g, kept + num_at(0, g, k), row);
    double log_g = off + share[g] + n_one * log(nor_probability(g)) + taxa;
    log_g += bound_zeros(zeros, g, row);
    for (int c = 0; c < k; c++) {
      const double up = odds[c] + row->slope[c], rest = exp(-fabs(up));
      log_g += fmax(up, 0) + log1p(rest);
      on[c] = (up > 0 ? 1 : rest) / (1 + rest);
    }
    row->weight[g] = log_g;
  }
  const double all = num_log_sum_exp(row->weight, NOR_GRID);
  memset(activation, 0, (size_t) k * sizeof(double));
  for (int g = 0; g < NOR_GRID; g++) {
    row->weight[g] = isfinite(all) ? exp(row->weight[g] - all) : 0;
    num_add_scaled(activation, row->weight[g], row->on + num_at(0, g, k), k);
  }
  if (keep) memcpy(kept, row->on, (size_t) k * NOR_GRID * sizeof(double));
  for (int c = 0; c < k; c++) activation[c] = fmin(activation[c], 1); /* rounding */
  return all;
}

/* Expected zeros that would have been recorded, given g: for each source, and in total in small. */
NUM_HOT static void count_given(const nor_zeros *zeros, int g, const double *on, double times,
                                nor_zero_row *row, nor_sums *sums) {
  const int m = zeros->data->m, k = zeros->par->k;
  const double *is_zero = row->is_zero, *point = row->point, *steep = row->steep;
  double *all = row->small;
  NUM_OMP(simd)
  for (int j = 0; j < m; j++) all[j] = (row->big[j] < 1 ? 1 - row->big[j] : 0) * steep[j];
  for (int c = 0; c < k; c++) {
    const double *theta = zeros->theta + num_at(0, c, m);
    const double *slope = zeros->slope + num_at(0, c + g * k, m);
    double *fired = sums->fired + num_at(0, c, m);
    const double s = on[c];
    NUM_OMP(simd)
    for (int j = 0; j < m; j++) {
      const bool is_big = theta[j] > point[j];
      fired[j] += times * is_zero[j] * s * (is_big ? slope[j] : steep[j]);
      all[j] += is_big ? s * slope[j] : 0;
    }
  }
}

void nor_count_zeros(const nor_zeros *zeros, int i, double times, nor_zero_row *row,
                     nor_sums *sums) {
  const mc_data *data = zeros->data;
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    nor_count_present(zeros->par, sums, 0, data->column[e], times, 1, 1);
  for (int g = 0; g < NOR_GRID; g++) {
    const double *on = row->on + num_at(0, g, zeros->par->k), weight = times * row->weight[g];
    nor_count_share(zeros->set, sums, i, g, weight);
    if (!(row->weight[g] > NEGLIGIBLE)) continue;
    touch(zeros, g, on, row);
    count_given(zeros, g, on, weight, row, sums);
    for (int j = 0; j < data->m; j++) {
      const double recorded = fmin(row->small[j], 1), cells = weight * row->is_zero[j];
      sums->leak_fired[j] += cells * recorded;
      nor_count_present(zeros->par, sums, g, j, cells * recorded, 1, 1);
      nor_count_present(zeros->par, sums, g, j, cells * (1 - recorded), 0, 1);
    }
  }
}
