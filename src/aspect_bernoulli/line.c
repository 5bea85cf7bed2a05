#include "aspect_bernoulli/line.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/vector.h"

/* Divided differences of 1 / (1 - p) are products of its values. */
#define LINE_CAP 0.4
#define LINE_COSINE 0.70710678118654752440 /* of 45 degrees */
#define LINE_LOW (LINE_CAP / 2 * (1 - LINE_COSINE))
#define LINE_HIGH (LINE_CAP / 2 * (1 + LINE_COSINE))
#define LINE_SLOPE (1 / ((1 - LINE_LOW) * (1 - LINE_HIGH)))
#define LINE_CONSTANT (1 / (1 - LINE_LOW) - LINE_LOW * LINE_SLOPE)

static inline double line_at(double p) { return LINE_CONSTANT + LINE_SLOPE * p; }

static inline double line_integral(double p) { return p * (LINE_CONSTANT + LINE_SLOPE / 2 * p); }

ab_line ab_new_line(int k, const mc_data *data, const mc_host *host) {
  const int m = data->m, n = data->n;
  ab_line line = {k, mc_doubles(host, k, 1), mc_doubles(host, k, k), mc_doubles(host, m, 1), NULL};
  line.zeros = host->alloc(host->ctx, (size_t) m, sizeof(int));
  for (int j = 0; j < m; j++) {
    line.caps[j] = LINE_CAP;
    line.zeros[j] = n;
  }
  for (int e = 0; e < data->start[n]; e++) line.zeros[data->column[e]]--;
  for (int e = 0; data->na_start && e < data->na_start[n]; e++) line.zeros[data->na_column[e]]--;
  return line;
}

void ab_line_columns(ab_line *line, int m, const double *aspects) {
  const int k = line->k;
  memset(line->sum, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) num_add_scaled(line->sum, 1, aspects + num_at(0, j, k), k);
  num_gemm(false, true, k, k, m, aspects, k, aspects, k, 0, line->square, k);
}

/* Takes the cells that are no zeros out of the sums over a row's zeros: of f and of F. */
typedef struct {
  double f, integral;
} taken_out;

/* Adds to a row's counts (NULL: not wanted) what its ones, or missing cells, have in place of zeros. */
NUM_HOT static taken_out add_cells(int k, const double *aspects, int n, const int *column,
                                   bool ones, const double *row, double *counts,
                                   num_log_product *likelihood) {
  taken_out out = {0, 0};
  for (int e = 0; e < n; e++) {
    const double *aspect = aspects + num_at(0, column[e], k);
    double p = 0;
    NUM_OMP(simd reduction(+ : p))
    for (int c = 0; c < k; c++) p += row[c] * aspect[c];
    const double f = line_at(p), scale = ones ? 1 / p + f : f;
    out.f += f;
    out.integral += line_integral(p);
    if (ones) num_times(likelihood, p);
    if (!counts) continue;
    NUM_OMP(simd)
    for (int c = 0; c < k; c++) counts[c] += scale * aspect[c];
  }
  return out;
}

/* Completes the counts by the sum over zeros of f: expected cells over membership. */
static void scale_counts(int k, double f, double observed, const double *row, double *counts) {
  double total = 0;
  for (int c = 0; c < k; c++) {
    counts[c] = fmax(counts[c] + f, 0); /* by rounding alone, where an aspect is 1 throughout */
    total += row[c] * counts[c];
  }
  for (int c = 0; c < k && total > 0; c++) counts[c] *= observed / total;
}

double ab_line_counts(const ab_line *line, const mc_data *data, const double *aspects, int first,
                      int b, const double *rows, bool want_counts, double *counts) {
  const int k = line->k;
  double loglik = 0;
  num_gemm(false, false, k, b, k, line->square, k, rows, k, 0, counts, k);
  for (int i = 0; i < b; i++) {
    const double *row = rows + num_at(0, i, k);
    const int at = first + i, from = data->start[at];
    double *own = counts + num_at(0, i, k);
    const double p = num_dot(row, line->sum, k), pp = num_dot(row, own, k); /* sums of p and p^2 */
    for (int c = 0; c < k; c++) own[c] = -(LINE_CONSTANT * line->sum[c] + LINE_SLOPE * own[c]);
    num_log_product likelihood = {0, 1};
    taken_out gone = add_cells(k, aspects, data->start[at + 1] - from, data->column + from, true,
                               row, want_counts ? own : NULL, &likelihood);
    if (data->na_start) {
      const taken_out more =
          add_cells(k, aspects, data_n_missing(data, at), data->na_column + data->na_start[at],
                    false, row, want_counts ? own : NULL, &likelihood);
      gone.f += more.f;
      gone.integral += more.integral;
    }
    loglik += num_log_of(&likelihood) + gone.integral - (LINE_CONSTANT * p + LINE_SLOPE / 2 * pp);
    if (want_counts)
      scale_counts(k, LINE_CONSTANT * data->m + LINE_SLOPE * p - gone.f, data_n_observed(data, at),
                   row, own);
  }
  return loglik;
}

/* one += row / p at ones; zero -= row f(p) there and at missing cells. */
NUM_HOT static void add_row(int k, const double *aspects, int n, const int *column, bool ones,
                            const double *row, double *one, double *zero) {
  for (int e = 0; e < n; e++) {
    const ptrdiff_t at = num_at(0, column[e], k);
    const double *aspect = aspects + at;
    double p = 0;
    NUM_OMP(simd reduction(+ : p))
    for (int c = 0; c < k; c++) p += row[c] * aspect[c];
    const double f = line_at(p), per = ones ? 1 / p : 0;
    double *of_one = one + at, *of_zero = zero + at;
    NUM_OMP(simd)
    for (int c = 0; c < k; c++) {
      of_one[c] += per * row[c];
      of_zero[c] -= f * row[c];
    }
  }
}

void ab_line_add_rows(const mc_data *data, int k, const double *aspects, int first, int b,
                      const double *rows, double *moments, double *one, double *zero) {
  num_gemm(false, true, k, k, b, rows, k, rows, k, 1, moments + k, k);
  for (int i = 0; i < b; i++) {
    const double *row = rows + num_at(0, i, k);
    const int at = first + i, from = data->start[at];
    num_add_scaled(moments, 1, row, k);
    add_row(k, aspects, data->start[at + 1] - from, data->column + from, true, row, one, zero);
    if (data->na_start)
      add_row(k, aspects, data_n_missing(data, at), data->na_column + data->na_start[at], false,
              row, one, zero);
  }
}

/* Keeps the remainder of the sum over all cells above its rounding error, except where no zero is. */
void ab_line_add_all(const ab_line *line, int m, const double *aspects, const double *moments,
                     double *zero) {
  const int k = line->k;
  double *all = line->sum; /* of use no more in this pass */
  for (int j = 0; j < m; j++) {
    const double *aspect = aspects + num_at(0, j, k);
    double *own = zero + num_at(0, j, k);
    for (int c = 0; c < k; c++) all[c] = LINE_CONSTANT * moments[c];
    for (int d = 0; d < k; d++)
      num_add_scaled(all, LINE_SLOPE * aspect[d], moments + k + num_at(0, d, k), k);
    for (int c = 0; c < k; c++)
      own[c] = line->zeros[j] > 0 ? fmax(own[c] + all[c], DBL_EPSILON * all[c]) : 0;
  }
}
