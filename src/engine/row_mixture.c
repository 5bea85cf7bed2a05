#include "engine/row_mixture.h"
#include "num/vector.h"

#include <math.h>

/* A component's cells and the log-probability of a row of zeros. */
typedef struct {
  const double *empty, *slope; /* m */
  double all_empty;            /* sum of the finite ones of empty */
  int n_hard;                  /* attributes in which a zero is impossible */
} component;

static component take_component(const mc_row_mixture *mixture, int r, int m, double *cells) {
  component out = {.empty = cells, .slope = cells + m};
  for (int j = 0; j < m; j++) {
    cells[j] = mixture->empty[num_at(r, j, mixture->n_row)];
    cells[m + j] = mixture->slope[num_at(r, j, mixture->n_row)];
    if (isfinite(cells[j]))
      out.all_empty += cells[j];
    else
      out.n_hard++;
  }
  return out;
}

/* Log-probability of row i: that of a row of zeros, corrected at nonzeros and missing cells. */
static double row_loglik(const mc_data *data, int i, const component *by) {
  double sum = by->all_empty;
  int n_hard = by->n_hard;
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const int j = data->column[e];
    sum += (data->value ? data->value[e] : 1) * by->slope[j];
    n_hard -= !isfinite(by->empty[j]);
  }
  for (int e = 0; e < data_n_missing(data, i); e++) {
    const double empty = by->empty[data->na_column[data->na_start[i] + e]];
    if (isfinite(empty))
      sum -= empty;
    else
      n_hard--;
  }
  return n_hard > 0 ? -INFINITY : sum;
}

void mc_mixture_loglik(const mc_data *data, const mc_row_mixture *mixture, const mc_host *host,
                       double *out) {
  double *cells = mc_doubles(host, data->m, 2);
  for (int i = 0; i < data->n; i++) out[i] = -INFINITY;
  for (int r = 0; r < mixture->n_row; r++) {
    if (mc_stop(host, r, 0)) return;
    const component by = take_component(mixture, r, data->m, cells);
    for (int i = 0; i < data->n; i++)
      out[i] = num_log_add(out[i], mixture->log_weight[r] + row_loglik(data, i, &by));
  }
}
