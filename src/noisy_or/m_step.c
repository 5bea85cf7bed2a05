#include "noisy_or/noisy_or.h"
#include "num/simplex.h"

#include <float.h>
#include <math.h>

#define ROUNDING 1e-12 /* less than this share of the trials is what subtraction leaves of none */

nor_totals nor_count(const mc_data *data, const nor_settings *set) {
  nor_totals totals = {0, set->host->alloc(set->host->ctx, (size_t) data->m, sizeof(double))};
  for (int i = 0; i < data->n; i++) {
    totals.rows += nor_weight(set, i);
    if (!data->na_start) continue;
    for (int e = data->na_start[i]; e < data->na_start[i + 1]; e++)
      totals.seen[data->na_column[e]] -= nor_weight(set, i);
  }
  for (int j = 0; j < data->m; j++) totals.seen[j] += totals.rows;
  return totals;
}

nor_sums nor_new_sums(const mc_data *data, int k, const mc_host *host) {
  const size_t m = (size_t) data->m, sources = (size_t) k;
  nor_sums sums = {0};
  sums.fired = host->alloc(host->ctx, sources * m, sizeof(double));
  sums.leak_fired = host->alloc(host->ctx, m, sizeof(double));
  sums.on = host->alloc(host->ctx, sources, sizeof(double));
  if (data->na_start) sums.missing = host->alloc(host->ctx, sources * m, sizeof(double));
  return sums;
}

/* Expected successes over trials, with the prior's; the old value where there was no trial. */
static double update(double old, double ones, double trials, nor_beta beta) {
  const double all = trials + beta.one + beta.zero;
  return all > 0 ? fmin(num_lift((ones + beta.one) / all), 1) : old;
}

void nor_update_link(const nor_settings *set, const nor_sums *sums, nor_param *par, int j,
                     const double *fired, double leak_fired, double seen) {
  for (int c = 0; c < par->k; c++) {
    const ptrdiff_t at = num_at(c, j, par->k);
    double trials = sums->on[c] - (sums->missing ? sums->missing[at] : 0);
    if (!nor_allowed(set, at)) continue;
    if (seen <= 0 || trials < ROUNDING * sums->on[c]) trials = 0;
    par->links[at] = update(par->links[at], par->links[at] * fired[c], trials, set->links);
  }
  par->leak[j] = update(par->leak[j], par->leak[j] * leak_fired, seen, set->leak);
}

void nor_update_prior(const nor_settings *set, const double *on, double rows, nor_param *par) {
  for (int c = 0; c < par->k; c++) par->prior[c] = update(par->prior[c], on[c], rows, set->prior);
}

static double log_beta(double value, nor_beta beta) {
  double sum = 0;
  if (beta.one > 0) sum += beta.one * log(value);
  if (beta.zero > 0) sum += beta.zero * log1p(-value);
  return sum;
}

double nor_objective(const nor_settings *set, const nor_param *par, int m, double loglik) {
  double sum = 0;
  for (int c = 0; c < par->k; c++) sum += log_beta(par->prior[c], set->prior);
  for (int j = 0; j < m; j++) sum += log_beta(par->leak[j], set->leak);
  if (set->links.one > 0 || set->links.zero > 0)
    for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++)
      if (nor_allowed(set, at)) sum += log_beta(par->links[at], set->links);
  return isfinite(loglik) && sum == -INFINITY ? -DBL_MAX : loglik + sum;
}

void nor_guard(nor_param *par, int m, const double *const *safe) {
  num_guard_unit(par->prior, safe[0], par->k);
  num_guard_unit(par->links, safe[1], (ptrdiff_t) par->k * m);
  num_guard_unit(par->leak, safe[2], m);
}

void nor_blocks(nor_param *par, int m, mc_model *model) {
  model->n_block = 3;
  model->block[0] = par->prior;
  model->length[0] = par->k;
  model->block[1] = par->links;
  model->length[1] = (ptrdiff_t) par->k * m;
  model->block[2] = par->leak;
  model->length[2] = m;
}
