#include "noisy_or/noisy_or.h"
#include "num/simplex.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

nor_finds nor_new_finds(const mc_data *data, const nor_param *par, const nor_finds *first,
                        const mc_host *host) {
  nor_finds finds = {0};
  if (!par->site) return finds;
  finds.site = first ? first->site : mc_doubles(host, data->n, 1);
  finds.site_all = first ? first->site_all : mc_doubles(host, data->n, 1);
  if (!par->taxon) return finds;
  finds.taxon = mc_doubles(host, data->m, 1);
  finds.taxon_all = mc_doubles(host, data->m, 1);
  return finds;
}

void nor_clear_finds(nor_finds *finds, int m) {
  if (!finds->taxon) return;
  memset(finds->taxon, 0, (size_t) m * sizeof(double));
  memset(finds->taxon_all, 0, (size_t) m * sizeof(double));
}

void nor_add_finds(nor_finds *to, const nor_finds *from, int m) {
  for (int j = 0; j < m && to->taxon; j++) {
    to->taxon[j] += from->taxon[j];
    to->taxon_all[j] += from->taxon_all[j];
  }
}

void nor_count_ones(const mc_data *data, const nor_settings *set, nor_finds *finds, int i) {
  finds->site[i] = finds->site_all[i] = data->start[i + 1] - data->start[i];
  for (int e = data->start[i]; e < data->start[i + 1] && finds->taxon; e++) {
    finds->taxon[data->column[e]] += nor_weight(set, i);
    finds->taxon_all[data->column[e]] += nor_weight(set, i);
  }
}

/* Eq. (R2). A presence is missed where rho < 1 only. */
void nor_count_missed(const nor_param *par, nor_finds *finds, int i, int j, double missed,
                      double weight) {
  const double site = par->site[i], taxon = par->taxon ? par->taxon[j] : 1;
  const double share = missed / (1 - site * taxon);
  finds->site[i] += share * site * (1 - taxon);
  finds->site_all[i] += missed;
  if (!finds->taxon) return;
  finds->taxon[j] += weight * share * taxon * (1 - site);
  finds->taxon_all[j] += weight * missed;
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

/* Eq. (R4). */
void nor_update_recording(const mc_data *data, const nor_settings *set, const nor_finds *finds,
                          nor_param *par) {
  for (int i = 0; i < data->n && par->site; i++)
    par->site[i] = update(par->site[i], finds->site[i], finds->site_all[i], set->site);
  for (int j = 0; j < data->m && par->taxon && !set->fixed; j++)
    par->taxon[j] = update(par->taxon[j], finds->taxon[j], finds->taxon_all[j], set->taxon);
}

static double log_beta(double value, nor_beta beta) {
  double sum = 0;
  if (beta.one > 0) sum += beta.one * log(value);
  if (beta.zero > 0) sum += beta.zero * log1p(-value);
  return sum;
}

double nor_objective(const nor_settings *set, const nor_param *par, const mc_data *data,
                     double loglik) {
  const int m = data->m;
  double sum = 0;
  for (int i = 0; i < data->n && par->site; i++)
    sum += nor_weight(set, i) * log_beta(par->site[i], set->site);
  for (int j = 0; j < m && par->taxon; j++) sum += log_beta(par->taxon[j], set->taxon);
  for (int c = 0; c < par->k; c++) sum += log_beta(par->prior[c], set->prior);
  for (int j = 0; j < m; j++) sum += log_beta(par->leak[j], set->leak);
  if (set->links.one > 0 || set->links.zero > 0)
    for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++)
      if (nor_allowed(set, at)) sum += log_beta(par->links[at], set->links);
  return isfinite(loglik) && sum == -INFINITY ? -DBL_MAX : loglik + sum;
}

void nor_blocks(nor_param *par, const mc_data *data, mc_model *model) {
  const ptrdiff_t k = par->k, m = data->m;
  double *const block[] = {par->prior, par->links, par->leak, par->site, par->taxon};
  const ptrdiff_t length[] = {k, k * m, m, data->n, m};
  model->n_block = 0;
  for (int b = 0; b < 5; b++) {
    if (!block[b]) continue;
    model->block[model->n_block] = block[b];
    model->length[model->n_block++] = length[b];
  }
}

void nor_guard(nor_param *par, const mc_data *data, const double *const *safe) {
  mc_model model;
  nor_blocks(par, data, &model);
  for (int b = 0; b < model.n_block; b++) num_guard_unit(model.block[b], safe[b], model.length[b]);
}
