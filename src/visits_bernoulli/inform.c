#include "visits_bernoulli/inform.h"

#include <string.h>

#include "num/linalg.h"
#include "visits_bernoulli/private.h"

/* r, tau and A / L of one cell, as in visits_bernoulli/inform.h. */
typedef struct {
  double r, tau, present; /* present: A / L */
} cell_parts;

typedef struct {
  const ab_visit_data *data;
  const ab_visit_param *par;
  int size;                           /* k + d */
  double *slope, *share, *score, *ff; /* k: dp/dt, d2p/dt2; d: S; d x d: F */
} inform_scratch;

/* Computes the derivatives of a cell; returns false without a visit. */
static bool cell_derivatives(const inform_scratch *s, int i, int j, cell_parts *out,
                             double *loglik) {
  const ab_visit_data *data = s->data;
  const ab_detection *by = &s->par->detection;
  const int k = s->par->ab.k, d = by->d;
  double p = 0, absence = 0, log_present = 0, log_absent = 0;
  int made = 0;
  for (int c = 0; c < k; c++) {
    const double a = s->par->ab.aspects[num_at(c, j, k)];
    const double share = s->par->ab.membership[num_at(i, c, data->n)];
    p += share * a;
    absence += share * (1 - a);
    s->slope[c] = share * a * (1 - a);
    s->share[c] = s->slope[c] * (1 - 2 * a);
  }
  memset(s->score, 0, (size_t) d * sizeof(double));
  memset(s->ff, 0, (size_t) d * (size_t) d * sizeof(double));
  for (int v = 0; v < data->n_visit; v++) {
    const int x = record(data, i, j, v);
    if (x < 0) continue;
    const double missed = model_missed(data, by, i, j, v), added = s->par->added[v];
    const double *row = design_of(data, by, i, v);
    made++;
    log_present += log(x ? 1 - missed : missed);
    log_absent += log(x ? added : 1 - added);
    num_add_scaled(s->score, x ? missed : missed - 1, row, d);
    for (int e = 0; e < d; e++)
      num_add_scaled(s->ff + num_at(0, e, d), missed * (1 - missed) * row[e], row, d);
  }
  if (!made) return false;
  const double log_total = num_log_add(log(p) + log_present, log(absence) + log_absent);
  out->present = exp(log_present - log_total);
  out->r = out->present - exp(log_absent - log_total);
  out->tau = p * out->present;
  *loglik += log_total;
  return true;
}

/* Adds a cell to an attribute's gradient and information. */
static void add_cell(const inform_scratch *s, const cell_parts *at, double *gradient,
                     double *information) {
  const int k = s->par->ab.k, d = s->par->detection.d;
  const double cross = at->present - at->tau * at->r, spread = at->tau * (1 - at->tau);
  for (int c = 0; c < k; c++) {
    double *column = information + num_at(0, c, s->size);
    gradient[c] += at->r * s->slope[c];
    for (int b = 0; b < k; b++) column[b] += at->r * at->r * s->slope[b] * s->slope[c];
    column[c] -= at->r * s->share[c];
    for (int e = 0; e < d; e++) {
      column[k + e] -= cross * s->slope[c] * s->score[e];
      information[num_at(c, k + e, s->size)] -= cross * s->slope[c] * s->score[e];
    }
  }
  for (int e = 0; e < d; e++) {
    double *column = information + num_at(k, k + e, s->size);
    gradient[k + e] += at->tau * s->score[e];
    for (int f = 0; f < d; f++)
      column[f] += at->tau * s->ff[num_at(f, e, d)] - spread * s->score[f] * s->score[e];
  }
}

/* Adds the prior; that of the aspects is transformed to the scale of t. */
static double add_prior(const inform_scratch *s, const ab_prior *prior, int j, double *gradient,
                        double *information) {
  const ab_detection *by = &s->par->detection;
  const int k = s->par->ab.k;
  double sum = ab_visits_slope_prior(by, j, by->slopes + num_at(0, j, by->d));
  for (int c = 0; c < k; c++) {
    const double a = s->par->ab.aspects[num_at(c, j, k)];
    const double one = prior->one[c], zero = prior->zero[c];
    if (one > 0) sum += one * log(a);
    if (zero > 0) sum += zero * log1p(-a);
    gradient[c] += one * (1 - a) - zero * a;
    information[num_at(c, c, s->size)] += (one + zero) * a * (1 - a);
  }
  for (int e = 0; e < by->d; e++) {
    const ptrdiff_t at = num_at(e, j, by->d);
    gradient[k + e] -= by->ridge[e] * (by->slopes[at] - by->mean[at]);
    information[num_at(k + e, k + e, s->size)] += by->ridge[e];
  }
  return sum;
}

static inform_scratch new_scratch(const ab_visit_data *data, const ab_visit_param *par,
                                  const mc_host *host) {
  const size_t k = (size_t) par->ab.k, d = (size_t) par->detection.d;
  return (inform_scratch){data,
                          par,
                          par->ab.k + par->detection.d,
                          mc_doubles(host, k, 1),
                          mc_doubles(host, k, 1),
                          mc_doubles(host, d, 1),
                          mc_doubles(host, d, d)};
}

/* Computes the value, gradient and information of attribute j. */
static double inform(const inform_scratch *s, const ab_prior *prior, int j, double *gradient,
                     double *information) {
  cell_parts at;
  memset(gradient, 0, (size_t) s->size * sizeof(double));
  memset(information, 0, (size_t) s->size * (size_t) s->size * sizeof(double));
  double value = add_prior(s, prior, j, gradient, information);
  for (int i = 0; i < s->data->n; i++)
    if (cell_derivatives(s, i, j, &at, &value)) add_cell(s, &at, gradient, information);
  return value;
}

void ab_visits_inform(const ab_visit_data *data, const ab_visit_param *par, const ab_prior *prior,
                      const ab_visit_information *out, const mc_host *host) {
  const inform_scratch s = new_scratch(data, par, host);
  for (int j = 0; j < data->m && !mc_stop(host, j, 0); j++)
    out->value[j] = inform(&s, prior, j, out->gradient + num_at(0, j, s.size),
                           out->information + (ptrdiff_t) s.size * s.size * j);
}

/* Scratch of an attribute's Newton steps. */
typedef struct {
  int n_free, *free;            /* the entries of t that move */
  double *t, *trial, *step;     /* size each; t and trial: aspects (not their logits), then
                                   slopes */
  double *gradient, *next;      /* size each */
  double *information, *beyond; /* size x size: at t, and at the trial */
  double *chol;                 /* size x size */
} polish_scratch;

#define LONGEST 5.0      /* limit of a step's entries */
#define LEAST_RISE 1e-10 /* twice the least expected gain of a step, in nats */
#define HALVINGS 12
#define LEAST_RIDGE 1e-6 /* share of the largest diagonal entry; raised tenfold until it suffices */
#define RAISES 9

/* Cholesky factor of the information of the free entries, with the smallest ridge that makes it definite. */
static bool factor(const inform_scratch *s, polish_scratch *w) {
  const int n = w->n_free;
  double scale = 1e-12, ridge = 0;
  for (int a = 0; a < n; a++)
    scale = fmax(scale, fabs(w->information[num_at(w->free[a], w->free[a], s->size)]));
  for (int raised = 0; raised <= RAISES; raised++) {
    for (int a = 0; a < n; a++) {
      for (int b = 0; b < n; b++)
        w->chol[num_at(b, a, n)] = w->information[num_at(w->free[b], w->free[a], s->size)];
      w->chol[num_at(a, a, n)] += ridge * scale;
    }
    if (num_chol(w->chol, n)) return true;
    ridge = raised ? 10 * ridge : LEAST_RIDGE;
  }
  return false;
}

/* Computes the step from t, 0 for fixed entries; returns its rise g'd. */
static double find_step(const inform_scratch *s, polish_scratch *w) {
  const int k = s->par->ab.k;
  double *packed = w->next, longest = 0, rise = 0; /* packed: free entries only */
  w->n_free = 0;
  for (int e = 0; e < s->size; e++)
    if (e >= k || (w->t[e] > AB_VISITS_EDGE && w->t[e] < 1 - AB_VISITS_EDGE))
      w->free[w->n_free++] = e;
  if (!factor(s, w)) return 0;
  for (int a = 0; a < w->n_free; a++) packed[a] = w->gradient[w->free[a]];
  num_chol_forward(w->chol, w->n_free, packed);
  num_chol_backward(w->chol, w->n_free, packed);
  for (int a = 0; a < w->n_free; a++) longest = fmax(longest, fabs(packed[a]));
  memset(w->step, 0, (size_t) s->size * sizeof(double));
  for (int a = 0; a < w->n_free; a++) {
    const int e = w->free[a];
    w->step[e] = packed[a] * (longest > LONGEST ? LONGEST / longest : 1);
    rise += w->step[e] * w->gradient[e];
  }
  return rise;
}

/* trial = t + length step; aspects move on the scale of log-odds. */
static void move(int k, double length, const polish_scratch *w) {
  memcpy(w->trial, w->t, (size_t) k * sizeof(double));
  for (int a = 0; a < w->n_free; a++) {
    const int e = w->free[a];
    const double by = length * w->step[e];
    w->trial[e] = e < k ? 1 / (1 + (1 / w->t[e] - 1) * exp(-by)) : w->t[e] + by;
  }
}

static void put(const ab_visit_param *par, int j, const double *t) {
  const int k = par->ab.k, d = par->detection.d;
  memcpy(par->ab.aspects + num_at(0, j, k), t, (size_t) k * sizeof(double));
  memcpy(par->detection.slopes + num_at(0, j, d), t + k, (size_t) d * sizeof(double));
}

static void swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

/* Takes one step of attribute j from t with value `now`; returns the new value, `now` if none is larger. */
static double step_once(const inform_scratch *s, const ab_prior *prior, int j, double now,
                        polish_scratch *w) {
  if (!(find_step(s, w) > LEAST_RISE)) return now;
  for (int half = 0; half <= HALVINGS; half++) {
    move(s->par->ab.k, ldexp(1, -half), w);
    put(s->par, j, w->trial);
    const double then = inform(s, prior, j, w->next, w->beyond);
    if (!(isfinite(then) && then > now)) continue;
    swap(&w->t, &w->trial);
    swap(&w->gradient, &w->next);
    swap(&w->information, &w->beyond);
    return then;
  }
  put(s->par, j, w->t);
  return now;
}

void ab_visits_polish(const ab_visit_data *data, ab_visit_param *par, const ab_prior *prior,
                      int most, const mc_host *host) {
  const inform_scratch s = new_scratch(data, par, host);
  const int k = par->ab.k, d = par->detection.d;
  const size_t size = (size_t) s.size;
  polish_scratch w = {.free = host->alloc(host->ctx, size, sizeof(int))};
  double **rows[] = {&w.t, &w.trial, &w.step, &w.gradient, &w.next};
  double **squares[] = {&w.information, &w.beyond, &w.chol};
  for (int a = 0; a < 5; a++) *rows[a] = mc_doubles(host, size, 1);
  for (int a = 0; a < 3; a++) *squares[a] = mc_doubles(host, size, size);
  for (int j = 0; j < data->m; j++) {
    memcpy(w.t, par->ab.aspects + num_at(0, j, k), (size_t) k * sizeof(double));
    memcpy(w.t + k, par->detection.slopes + num_at(0, j, d), (size_t) d * sizeof(double));
    double now = inform(&s, prior, j, w.gradient, w.information);
    if (!isfinite(now)) continue;
    for (int step = 0; step < most; step++) {
      if (mc_stop(host, step, now)) return;
      const double before = now;
      now = step_once(&s, prior, j, before, &w);
      if (!(now > before)) break;
    }
  }
}
