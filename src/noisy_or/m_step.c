#include "noisy_or/noisy_or.h"
#include "num/simplex.h"
#include "num/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROUNDING 1e-12 /* share of the trials below which a difference is rounding error */

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

nor_sums nor_new_sums(const mc_data *data, const nor_param *par, const mc_host *host) {
  const size_t m = (size_t) data->m, sources = (size_t) par->k;
  nor_sums sums = {0};
  sums.fired = host->alloc(host->ctx, sources * m, sizeof(double));
  sums.leak_fired = host->alloc(host->ctx, m, sizeof(double));
  sums.on = host->alloc(host->ctx, sources, sizeof(double));
  if (data->na_start) sums.missing = host->alloc(host->ctx, sources * m, sizeof(double));
  if (par->share) sums.share = mc_doubles(host, NOR_GRID, 1);
  if (par->coef) sums.effort = mc_doubles(host, NOR_GRID, 1);
  if (par->taxon) sums.present = mc_doubles(host, m, 1);
  if (par->taxon) sums.through = mc_doubles(host, m, 1);
  return sums;
}

/* The components of sums and their lengths; those not requested are NULL. */
typedef struct {
  double *part;
  ptrdiff_t length;
} sums_part;

#define N_PART 8

static void parts_of(const nor_sums *sums, int k, int m, sums_part *part) {
  const ptrdiff_t links = (ptrdiff_t) k * m;
  const sums_part all[N_PART] = {
      {sums->fired, links},    {sums->leak_fired, m}, {sums->on, k},      {sums->missing, links},
      {sums->share, NOR_GRID}, {sums->present, m},    {sums->through, m}, {sums->effort, NOR_GRID}};
  memcpy(part, all, sizeof all);
}

void nor_clear_sums(nor_sums *sums, int k, int m) {
  sums_part part[N_PART];
  parts_of(sums, k, m, part);
  for (int p = 0; p < N_PART; p++)
    if (part[p].part) memset(part[p].part, 0, (size_t) part[p].length * sizeof(double));
}

void nor_add_sums(nor_sums *to, const nor_sums *from, int k, int m) {
  sums_part part[N_PART], other[N_PART];
  parts_of(to, k, m, part);
  parts_of(from, k, m, other);
  for (int p = 0; p < N_PART; p++)
    for (ptrdiff_t at = 0; part[p].part && at < part[p].length; at++)
      part[p].part[at] += other[p].part[at];
}

void nor_count_present(const nor_param *par, nor_sums *sums, int g, int j, double present,
                       int found, int made) {
  if (!sums->present || present <= 0) return;
  const double r = nor_probability(g), v = par->taxon[j];
  const double missed = present * (made - found);
  sums->present[j] += present * made;
  sums->through[j] += present * found + (missed > 0 ? missed * v * (1 - r) / (1 - r * v) : 0);
}

/* Expected successes over trials, both with the prior's pseudo-counts; the old value without trials. */
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

/* Data of eqs. (R7), (R8); present NULL: all 1. */
typedef struct {
  double point[NOR_GRID];
  const double *through, *present;
  nor_beta more; /* pseudo-counts of these */
} scale_counts;

#define LEAST_POINT 1e-9 /* share of a grid point that a multiplier can raise */
#define BISECTIONS 64

/* Eq. (R7) with t hold.share = pull, solved for the smallest denominator, `from`; returns the mean. */
static double pulled_share(const scale_counts *counts, double pull, double *share) {
  const double start = nor_probability(pull < 0 ? NOR_GRID - 1 : 0);
  double all = 0, low = 0, sum = 0, mean = 0;
  for (int g = 0; g < NOR_GRID; g++) all += counts->point[g];
  double high = all;
  for (int b = 0; b < BISECTIONS; b++) {
    const double from = (low + high) / 2;
    sum = 0;
    for (int g = 0; g < NOR_GRID; g++)
      sum += share[g] = counts->point[g] / (from + pull * (nor_probability(g) - start));
    if (sum > 1)
      low = from;
    else
      high = from;
  }
  for (int g = 0; g < NOR_GRID; g++) mean += (share[g] /= sum) * nor_probability(g);
  return mean;
}

/* Eq. (R8) with t hold.taxon / m = pull. */
static double pulled_taxon(const scale_counts *counts, double pull, int j, double old) {
  const double present = counts->present ? counts->present[j] : 1;
  const double one = counts->through[j] + counts->more.one;
  const double all = present + counts->more.one + counts->more.zero, b = all + pull;
  if (!(all > 0)) return old;
  const double root = sqrt(fmax(b * b - 4 * pull * one, 0));
  return fmin(fmax(b > 0 ? 2 * one / (b + root) : (b - root) / (2 * pull), 0), 1);
}

/* The left side of eq. (R6) at multiplier t. */
static double pulled_scale(const nor_hold *hold, const scale_counts *counts, double t,
                           const nor_param *par, int m, double *share) {
  double sum = hold->share * pulled_share(counts, t * hold->share, share);
  for (int j = 0; j < m && par->taxon; j++)
    sum += hold->taxon / m * pulled_taxon(counts, t * hold->taxon / m, j, par->taxon[j]);
  return sum;
}

static void hold_scale(const nor_hold *hold, scale_counts *counts, nor_param *par, int m) {
  double share[NOR_GRID], all = 0;
  for (int g = 0; g < NOR_GRID; g++) all += counts->point[g];
  for (int g = 0; g < NOR_GRID; g++) counts->point[g] = fmax(counts->point[g], LEAST_POINT * all);
  double low = 0, high = 0, step = all;
  const bool less = pulled_scale(hold, counts, 0, par, m, share) > hold->sum;
  double *end = less ? &high : &low, *start = less ? &low : &high;
  for (int b = 0; b < BISECTIONS; b++) {
    *end = less ? step : -step;
    if ((pulled_scale(hold, counts, *end, par, m, share) > hold->sum) != less) break;
    *start = *end;
    step *= 2;
  }
  for (int b = 0; b < BISECTIONS; b++) {
    const double middle = (low + high) / 2;
    if (pulled_scale(hold, counts, middle, par, m, share) > hold->sum)
      low = middle;
    else
      high = middle;
  }
  pulled_share(counts, high * hold->share, par->share);
  for (int j = 0; j < m && par->taxon; j++)
    par->taxon[j] = pulled_taxon(counts, high * hold->taxon / m, j, par->taxon[j]);
}

void nor_impose_scale(const nor_settings *set, nor_param *par, int m) {
  scale_counts counts = {.through = par->taxon};
  if (set->hold.share <= 0) return;
  memcpy(counts.point, par->share, sizeof counts.point);
  hold_scale(&set->hold, &counts, par, m);
}

/* Eqs. (R4), (R5). */
void nor_update_taxon(const nor_settings *set, const nor_sums *sums, nor_param *par, int j) {
  if (par->taxon && set->hold.share <= 0)
    par->taxon[j] = update(par->taxon[j], sums->through[j], sums->present[j], set->taxon);
}

void nor_log_shares(const nor_settings *set, const nor_param *par, int i, double *logs) {
  const int most = NOR_GRID - 1;
  double choose = 1;
  for (int g = 0; g < NOR_GRID; g++) {
    if (par->coef) {
      const double odds = par->coef[0] + par->coef[1] * set->effort->effort[i];
      logs[g] = log(choose) - g * num_softplus(odds) - (most - g) * num_softplus(-odds);
      choose *= (double) (most - g) / (g + 1);
    } else {
      logs[g] = log(par->share[g]);
    }
  }
}

/* Eq. (R15). */
static void update_coef(const nor_settings *set, const nor_sums *sums, nor_param *par) {
  ab_curve curve = *set->effort;
  curve.count[0] = curve.count[1] = 0;
  for (int g = 0; g < NOR_GRID; g++) {
    curve.count[0] += (NOR_GRID - 1 - g) * sums->share[g];
    curve.count[1] += (NOR_GRID - 1 - g) * sums->effort[g];
  }
  ab_curve_fit(&curve, par->coef);
}

void nor_update_share(const nor_settings *set, const nor_sums *sums, nor_param *par, int m) {
  double all = 0;
  if (!par->share) return;
  if (set->hold.share > 0) {
    scale_counts counts = {.through = sums->through, .present = sums->present, .more = set->taxon};
    for (int g = 0; g < NOR_GRID; g++) counts.point[g] = sums->share[g] + set->share;
    hold_scale(&set->hold, &counts, par, m);
    return;
  }
  const double more = par->coef ? 0 : set->share;
  if (par->coef) update_coef(set, sums, par);
  for (int g = 0; g < NOR_GRID; g++) all += sums->share[g] + more;
  for (int g = 0; g < NOR_GRID; g++) par->share[g] = num_lift((sums->share[g] + more) / all);
}

static double log_beta(double value, nor_beta beta) {
  double sum = 0;
  if (beta.one != 0) sum += beta.one * log(value);
  if (beta.zero != 0) sum += beta.zero * log1p(-value);
  return sum;
}

double nor_objective(const nor_settings *set, const nor_param *par, int m, double loglik) {
  double sum = 0;
  for (int c = 0; c < par->k; c++) sum += log_beta(par->prior[c], set->prior);
  for (int j = 0; j < m; j++) sum += log_beta(par->leak[j], set->leak);
  for (int j = 0; j < m && par->taxon; j++) sum += log_beta(par->taxon[j], set->taxon);
  for (int g = 0; g < NOR_GRID && par->share && !par->coef && set->share != 0; g++)
    sum += set->share * log(par->share[g]);
  if (set->links.one != 0 || set->links.zero != 0)
    for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++)
      if (nor_allowed(set, at)) sum += log_beta(par->links[at], set->links);
  return isfinite(loglik) && sum == -INFINITY ? -DBL_MAX : loglik + sum;
}

void nor_guard(nor_param *par, int m, const double *const *safe) {
  num_guard_unit(par->prior, safe[0], par->k);
  num_guard_unit(par->links, safe[1], (ptrdiff_t) par->k * m);
  num_guard_unit(par->leak, safe[2], m);
  if (par->share) num_guard_simplex(par->share, safe[3], 1, NOR_GRID);
  if (par->taxon) num_guard_unit(par->taxon, safe[4], m);
}

void nor_blocks(nor_param *par, int m, mc_model *model) {
  model->n_block = 0;
  mc_add_block(model, par->prior, par->k);
  mc_add_block(model, par->links, (ptrdiff_t) par->k * m);
  mc_add_block(model, par->leak, m);
  mc_add_block(model, par->share, NOR_GRID);
  mc_add_block(model, par->taxon, m);
  mc_add_block(model, par->coef, 2);
}
