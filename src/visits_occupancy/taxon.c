#include "visits_occupancy/taxon.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "num/base.h"

static const double least_likelihood = 1e-300;
static const double far_log_odds = 30; /* log-odds are limited to this magnitude */

size_t occ_scratch(const occ_data *data) {
  const size_t nodes = (size_t) data->n_node, d = (size_t) data->n_detection;
  return nodes * ((size_t) data->n_visit + 1 + d) + d;
}

static double odds_of(const double *x, const double *b, int n) {
  double eta = 0;
  for (int e = 0; e < n; e++) eta += x[e] * b[e];
  return exp(fmin(fmax(eta, -far_log_odds), far_log_odds));
}

/* One row: psi, q, P(present | visits), and at each node the probabilities p and its term of q. */
typedef struct {
  const double *x, *w; /* its covariates */
  const int *found;
  bool hit;
  double psi, q, after;
  double *p;     /* n_visit x n_node */
  double *share; /* n_node */
} row_state;

/* Eqs. (1) and (2) for the row's detection history. */
static void read_history(const occ_data *data, const double *d, row_state *row) {
  for (int k = 0; k < data->n_node; k++) row->share[k] = data->weight[k];
  row->hit = false;
  for (int v = 0; v < data->n_visit; v++) {
    if (row->found[v] < 0) continue;
    if (row->found[v]) row->hit = true;
    const double odds = odds_of(row->w + num_at(0, v, data->n_detection), d, data->n_detection);
    for (int k = 0; k < data->n_node; k++) {
      const double here = odds * data->node[k], none = 1 / (1 + here);
      row->p[num_at(v, k, data->n_visit)] = here * none;
      row->share[k] *= row->found[v] ? here * none : none;
    }
  }
  row->q = 0;
  for (int k = 0; k < data->n_node; k++) row->q += row->share[k];
  if (!(row->q > least_likelihood)) row->q = least_likelihood;
}

/* Returns the log-likelihood of a site of row r, eq. (3). */
static double read_row(const occ_data *data, int r, const double *theta, row_state *row,
                       double *scratch) {
  const int s = data->kind[r];
  row->x = data->presence + num_at(0, s, data->n_presence);
  row->w = data->detection + num_at(0, s, (ptrdiff_t) data->n_detection * data->n_visit);
  row->found = data->found + num_at(0, r, data->n_visit);
  row->p = scratch;
  row->share = scratch + num_at(0, data->n_node, data->n_visit);
  const double odds = odds_of(row->x, theta, data->n_presence);
  row->psi = odds / (1 + odds);
  read_history(data, theta + data->n_presence, row);
  const double here = row->psi * row->q, all = row->hit ? here : here + 1 / (1 + odds);
  row->after = row->hit ? 1 : here / all;
  return log(all);
}

double occ_loglik(const occ_data *data, int j, const double *theta, double *scratch) {
  double sum = 0;
  row_state row;
  for (int r = data->first[j]; r < data->first[j + 1]; r++)
    sum += data->count[r] * read_row(data, r, theta, &row, scratch);
  return sum;
}

void occ_pointwise(const occ_data *data, int j, const double *theta, double *loglik,
                   double *present, double *scratch) {
  row_state row;
  for (int r = data->first[j]; r < data->first[j + 1]; r++) {
    *loglik++ = read_row(data, r, theta, &row, scratch);
    *present++ = row.after;
  }
}

/* information += by a b' */
static void add_outer(int n_a, const double *a, int n_b, const double *b, double by,
                      double *information, int size) {
  for (int f = 0; f < n_b; f++)
    for (int e = 0; e < n_a; e++) information[num_at(e, f, size)] += by * a[e] * b[f];
}

/*
 * Derivatives of log q with respect to d: the first into `slope`; minus the second ones times `by`
 * are added to information. With g[k] = sum_v (y[v] - p[v,k]) w[v] the second ones are
 *   sum_k share (g[k] g[k]' - sum_v p (1 - p) w w') - slope slope'.
 */
static void inform_history(const occ_data *data, const row_state *row, double by, double *slope,
                           double *each, double *information, int size) {
  const int d = data->n_detection;
  memset(slope, 0, (size_t) d * sizeof(double));
  memset(each, 0, (size_t) d * (size_t) data->n_node * sizeof(double));
  for (int v = 0; v < data->n_visit; v++) {
    if (row->found[v] < 0) continue;
    const double *w = row->w + num_at(0, v, d);
    double curve = 0;
    for (int k = 0; k < data->n_node; k++) {
      const double p = row->p[num_at(v, k, data->n_visit)];
      curve += row->share[k] / row->q * p * (1 - p);
      for (int e = 0; e < d; e++) each[num_at(e, k, d)] += (row->found[v] - p) * w[e];
    }
    add_outer(d, w, d, w, by * curve, information, size);
  }
  for (int k = 0; k < data->n_node; k++) {
    const double *g = each + num_at(0, k, d), share = row->share[k] / row->q;
    for (int e = 0; e < d; e++) slope[e] += share * g[e];
    add_outer(d, g, d, g, -by * share, information, size);
  }
  add_outer(d, slope, d, slope, by, information, size);
}

double occ_inform(const occ_data *data, int j, const double *theta, double *gradient,
                  double *information, double *scratch) {
  const int size = occ_size(data), a = data->n_presence, d = data->n_detection;
  double *slope = scratch + num_at(0, data->n_node, data->n_visit + 1), *each = slope + d;
  double *corner = information + num_at(a, a, size);
  memset(gradient, 0, (size_t) size * sizeof(double));
  memset(information, 0, (size_t) size * (size_t) size * sizeof(double));
  double sum = 0;
  row_state row;
  for (int r = data->first[j]; r < data->first[j + 1]; r++) {
    const double count = data->count[r];
    sum += count * read_row(data, r, theta, &row, scratch);
    /* log L has derivative after - psi with respect to x'b, and `after` times that of log q. */
    const double open = row.after * (1 - row.after);
    inform_history(data, &row, count * row.after, slope, each, corner, size);
    for (int e = 0; e < a; e++) gradient[e] += count * (row.after - row.psi) * row.x[e];
    for (int e = 0; e < d; e++) gradient[a + e] += count * row.after * slope[e];
    add_outer(a, row.x, a, row.x, count * (row.psi * (1 - row.psi) - open), information, size);
    add_outer(a, row.x, d, slope, -count * open, information + num_at(0, a, size), size);
    add_outer(d, slope, d, slope, -count * open, corner, size);
  }
  for (int f = 0; f < a; f++)
    for (int e = a; e < size; e++)
      information[num_at(e, f, size)] = information[num_at(f, e, size)];
  return sum;
}
