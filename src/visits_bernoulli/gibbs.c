#include "visits_bernoulli/gibbs.h"

#include <float.h>
#include <string.h>

#include "num/linalg.h"
#include "num/multinomial_draw.h"
#include "num/rng.h"
#include "visits_bernoulli/private.h"

#define FURTHEST 34.0 /* largest |logit| of an aspect: 1 minus the aspect is still above 0 */
#define MOST_ODDS 1e300

typedef struct {
  const ab_visit_data *data;
  const ab_prior *prior;
  ab_visit_state *state;
  int *present;            /* n x m: the true states */
  double *tau, *p;         /* n x m: P(z = 1 | visits), P(z = 1) */
  double *counts, *weight; /* k: counts of the current row; probabilities of a cell's components */
  double *one, *zero;      /* k x m: presences and absences by component */
  double *q, *h;           /* d x d, d: precision and linear term of slopes */
  /* Scratch for memberships by covariates. */
  double *wrote;        /* n x k: cells drawn from each component */
  double *effects;      /* scratch of num_multinomial_draw() */
  double *saved;        /* d x m */
  double *logit, *odds; /* k; n x n_visit: logits of an attribute's aspects and odds of
                             detection before a move */
  size_t slope_bytes;
  double loglik;
} gibbs_work;

static gibbs_work new_work(const ab_visit_data *data, const ab_prior *prior, ab_visit_state *state,
                           const mc_host *host) {
  const size_t k = (size_t) state->par->ab.k, d = (size_t) state->par->detection.d;
  const size_t cells = (size_t) data->n * (size_t) data->m;
  gibbs_work work = {.data = data, .prior = prior, .state = state};
  work.present = host->alloc(host->ctx, cells, sizeof(int));
  work.tau = mc_doubles(host, cells, 1);
  work.p = mc_doubles(host, cells, 1);
  work.counts = mc_doubles(host, k, 1);
  work.weight = mc_doubles(host, k, 1);
  work.one = mc_doubles(host, k, (size_t) data->m);
  work.zero = mc_doubles(host, k, (size_t) data->m);
  const size_t size = (size_t) state->par->by.d * k;
  work.q = mc_doubles(host, d, d);
  work.h = mc_doubles(host, d, 1);
  if (size > 0) {
    work.wrote = mc_doubles(host, (size_t) data->n, k);
    work.effects = mc_doubles(host, num_multinomial_draw_work(state->par->by.d, (int) k), 1);
  }
  work.saved = mc_doubles(host, d, (size_t) data->m);
  work.logit = mc_doubles(host, k, 1);
  work.odds = mc_doubles(host, (size_t) data->n, (size_t) data->n_visit);
  work.slope_bytes = d * (size_t) data->m * sizeof(double);
  return work;
}

typedef struct {
  num_log_product present; /* P(visits | present) */
  int made, found;
} visit_probability;

static visit_probability probability_of_visits(const gibbs_work *work, int i, int j) {
  const ab_visit_data *data = work->data;
  visit_probability at = {{0, 1}, 0, 0};
  for (int v = 0; v < data->n_visit; v++) {
    const int x = record(data, i, j, v);
    if (x < 0) continue;
    const double missed = model_missed(data, &work->state->par->detection, i, j, v);
    at.made++;
    at.found += x;
    num_times(&at.present, x ? 1 - missed : missed);
  }
  return at;
}

/* Draws a cell's state and, if it was visited, its component, and counts the component. */
static void draw_cell(gibbs_work *work, int i, int j) {
  const ab_param *ab = &work->state->par->ab;
  const ptrdiff_t at = num_at(i, j, work->data->n);
  const double *aspect = ab->aspects + num_at(0, j, ab->k);
  double p = 0, absence = 0;
  for (int c = 0; c < ab->k; c++) {
    const double share = ab->membership[num_at(i, c, work->data->n)];
    p += share * aspect[c];
    absence += share * (1 - aspect[c]);
  }
  const visit_probability visits = probability_of_visits(work, i, j);
  const double scaled = p * visits.present.product * exp(visits.present.log);
  double tau = visits.found ? 1 : scaled / (scaled + absence);
  if (!visits.made) tau = p;
  if (visits.made)
    work->loglik += visits.found ? log(p) + num_log_of(&visits.present) : log(scaled + absence);
  const int z = num_unif() < tau;
  work->p[at] = p;
  work->tau[at] = tau;
  work->present[at] = z;
  if (!visits.made) return;
  double total = 0;
  for (int c = 0; c < ab->k; c++) {
    const double share = ab->membership[num_at(i, c, work->data->n)];
    total += work->weight[c] = share * (z ? aspect[c] : 1 - aspect[c]);
  }
  double left = ab->k > 1 ? num_unif() * total : 0;
  int picked = 0;
  while (picked < ab->k - 1 && (left -= work->weight[picked]) >= 0) picked++;
  work->counts[picked]++;
  (z ? work->one : work->zero)[num_at(picked, j, ab->k)]++;
}

/* Draws a row's membership from its Dirichlet; if all Gammas underflow to 0, as with a tiny prior,
 * one component gets all. */
static void draw_membership(gibbs_work *work, int i) {
  const int n = work->data->n, k = work->state->par->ab.k;
  double *s = work->state->par->ab.membership, total = 0;
  for (int c = 0; c < k; c++)
    total += s[num_at(i, c, n)] = num_draw_gamma(work->prior->membership[c] + work->counts[c], 1);
  if (total <= 0) s[num_at(i, num_below(k), n)] = total = 1;
  for (int c = 0; c < k; c++) s[num_at(i, c, n)] = fmax(s[num_at(i, c, n)] / total, NUM_TINY);
}

/* Draws from N(Q^-1 h, Q^-1) into h; returns false if Q is not positive definite. */
static bool draw_normal(gibbs_work *work, int d) {
  if (!num_chol(work->q, d)) return false;
  num_chol_forward(work->q, d, work->h);
  for (int e = 0; e < d; e++) work->h[e] += num_norm();
  num_chol_backward(work->q, d, work->h);
  return true;
}

/* Draws effects conditional on the components of the cells. */
static void draw_effects(gibbs_work *work) {
  ab_visit_param *par = work->state->par;
  num_multinomial_draw(&par->by, work->data->n, par->ab.k, work->wrote, work->effects);
  if (par->ab.k > 1) ab_visits_follow(work->data, par);
}

static void draw_rows(gibbs_work *work) {
  const int n = work->data->n, m = work->data->m, k = work->state->par->ab.k;
  const size_t size = (size_t) k * (size_t) m * sizeof(double);
  memset(work->one, 0, size);
  memset(work->zero, 0, size);
  work->loglik = 0;
  for (int i = 0; i < n; i++) {
    memset(work->counts, 0, (size_t) k * sizeof(double));
    for (int j = 0; j < m; j++) draw_cell(work, i, j);
    if (!work->wrote) draw_membership(work, i);
    for (int c = 0; work->wrote && c < k; c++) work->wrote[num_at(i, c, n)] = work->counts[c];
  }
  if (work->wrote) draw_effects(work);
}

static void draw_aspects(gibbs_work *work) {
  const int m = work->data->m, k = work->state->par->ab.k;
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) {
      const ptrdiff_t at = num_at(c, j, k);
      const double a = num_draw_gamma(work->state->shape[0] + work->one[at], 1);
      const double b = num_draw_gamma(work->state->shape[1] + work->zero[at], 1);
      const double draw = a + b > 0 ? a / (a + b) : num_below(2);
      work->state->par->ab.aspects[at] = fmin(fmax(draw, NUM_TINY), 1 - DBL_EPSILON / 2);
    }
}

/* Computes Q and h of an attribute's slopes, with new Polya-Gamma draws. */
static void slope_precision(gibbs_work *work, int j) {
  const ab_visit_data *data = work->data;
  const ab_detection *by = &work->state->par->detection;
  const int d = by->d;
  memset(work->q, 0, (size_t) d * (size_t) d * sizeof(double));
  for (int e = 0; e < d; e++) {
    work->q[num_at(e, e, d)] = by->ridge[e];
    work->h[e] = by->ridge[e] * by->mean[num_at(e, j, d)];
  }
  for (int v = 0; v < data->n_visit; v++)
    for (int i = 0; i < data->n; i++) {
      const int x = record(data, i, j, v);
      if (x < 0 || !work->present[num_at(i, j, data->n)]) continue;
      const double *row = design_of(data, by, i, v);
      const double eta = num_dot(row, by->slopes + num_at(0, j, d), d);
      const double omega = num_draw_polya_gamma(eta);
      for (int e = 0; e < d; e++) {
        num_add_scaled(work->q + num_at(0, e, d), omega * row[e], row, d);
        work->h[e] += (x - 0.5) * row[e];
      }
    }
}

static void draw_slopes(gibbs_work *work, int j) {
  const ab_detection *by = &work->state->par->detection;
  const int d = by->d;
  double *slopes = by->slopes + num_at(0, j, d);
  slope_precision(work, j);
  if (!draw_normal(work, d)) return; /* the prior is too flat for the data: the slopes stay */
  memcpy(slopes, work->h, (size_t) d * sizeof(double));
}

/* Mean of slope e of attribute j: its center plus, for the intercept, the terms of taxon covariates. */
static double mean_of(const ab_visit_state *state, int m, int e, int j) {
  double mean = state->center[e];
  if (e != state->intercept) return mean;
  for (int t = 0; t < state->w; t++)
    mean += state->center[state->par->detection.d + t] * state->taxon[num_at(j, t, m)];
  return mean;
}

/* Draws one entry of center, which multiplies the covariate `by` (NULL: 1) in the mean of slopes e. */
static void draw_center(gibbs_work *work, int at, int e, const double *by) {
  ab_visit_state *state = work->state;
  const int m = work->data->m, d = state->par->detection.d;
  const double ridge = 1 / (state->spread[e] * state->spread[e]);
  double precision = 1 / (state->center_sd * state->center_sd), sum = 0;
  for (int j = 0; j < m; j++) {
    const double x = by ? by[j] : 1;
    const double rest = mean_of(state, m, e, j) - x * state->center[at];
    precision += ridge * x * x;
    sum += ridge * x * (state->par->detection.slopes[num_at(e, j, d)] - rest);
  }
  state->center[at] = sum / precision + num_norm() / sqrt(precision);
}

static void draw_spread(gibbs_work *work, int e) {
  ab_visit_state *state = work->state;
  const int m = work->data->m, d = state->par->detection.d;
  double squares = 0;
  for (int j = 0; j < m; j++) {
    const double off = state->par->detection.slopes[num_at(e, j, d)] - mean_of(state, m, e, j);
    squares += off * off;
  }
  const double u = num_draw_gamma(1, 1 + 1 / (state->spread[e] * state->spread[e]));
  const double precision = num_draw_gamma_within((m + 1) / 2.0, squares / 2 + u);
  state->spread[e] = fmin(fmax(1 / sqrt(precision), 1e-6), 1e6);
}

/* Computes the odds of detecting a presence from the slopes of an attribute. */
static void set_odds(gibbs_work *work, int j) {
  const ab_visit_data *data = work->data;
  const ab_detection *by = &work->state->par->detection;
  const double *slopes = by->slopes + num_at(0, j, by->d);
  for (int v = 0; v < data->n_visit; v++)
    for (int i = 0; i < data->n; i++)
      if (record(data, i, j, v) >= 0)
        work->odds[num_at(i, v, data->n)] = exp(num_dot(design_of(data, by, i, v), slopes, by->d));
}

/* P(visits) of a cell with odds of detection multiplied by `times`, divided by exp(log_scale). */
static double cell_probability(const gibbs_work *work, int i, int j, double times,
                               double *log_scale) {
  const ab_visit_data *data = work->data;
  const ab_param *ab = &work->state->par->ab;
  const double *aspect = ab->aspects + num_at(0, j, ab->k);
  double p = 0, absence = 0;
  num_log_product present = {0, 1};
  bool made = false, found = false;
  for (int c = 0; c < ab->k; c++) {
    const double share = ab->membership[num_at(i, c, data->n)];
    p += share * aspect[c];
    absence += share * (1 - aspect[c]);
  }
  for (int v = 0; v < data->n_visit; v++) {
    const int x = record(data, i, j, v);
    if (x < 0) continue;
    const double odds = fmin(work->odds[num_at(i, v, data->n)] * times, MOST_ODDS);
    made = true;
    found = found || x;
    num_times(&present, (x ? odds : 1) / (1 + odds));
  }
  if (!made) return 1;
  if (!found) return p * present.product * exp(present.log) + absence;
  *log_scale += present.log;
  return p * present.product;
}

/* Log-likelihood of an attribute's visits, summed over states and components, with odds multiplied
 * by `times`. */
static double loglik_at(const gibbs_work *work, int j, double times) {
  double scales = 0;
  num_log_product product = {0, 1};
  for (int i = 0; i < work->data->n; i++)
    num_times(&product, cell_probability(work, i, j, times, &scales));
  return scales + num_log_of(&product);
}

static double marginal_loglik(gibbs_work *work) {
  double sum = 0;
  for (int j = 0; j < work->data->m; j++) {
    set_odds(work, j);
    sum += loglik_at(work, j, 1);
  }
  return sum;
}

/* A line through the current logits of an attribute's aspects and its intercept. */
typedef struct {
  int j;
  const double *logit; /* k */
  double intercept;
  double lift; /* change of the logits per unit of the intercept */
} attribute_line;

/*
 * Moves to a point of the line; returns its log-density with respect to the logits, whose prior is
 * shape[0] log a + shape[1] log(1 - a). -Inf if an aspect would reach its bound.
 */
static double at_line(gibbs_work *work, const attribute_line *line, double t) {
  const ab_visit_state *state = work->state;
  const ab_detection *by = &state->par->detection;
  const int k = state->par->ab.k;
  const ptrdiff_t at = num_at(state->intercept, line->j, by->d);
  double *aspect = state->par->ab.aspects + num_at(0, line->j, k), sum = 0;
  for (int c = 0; c < k; c++) {
    const double logit = line->logit[c] + t * line->lift;
    if (!(fabs(logit) < FURTHEST)) return -INFINITY;
    aspect[c] = 1 / (1 + exp(-logit));
    sum -= state->shape[0] * num_softplus(-logit) + state->shape[1] * num_softplus(logit);
  }
  by->slopes[at] = line->intercept + t;
  const double off = by->slopes[at] - state->mean[at];
  return sum - state->ridge[state->intercept] * off * off / 2 + loglik_at(work, line->j, exp(t));
}

static attribute_line line_of(gibbs_work *work, int j) {
  const ab_visit_state *state = work->state;
  const ab_detection *by = &state->par->detection;
  const double *aspect = state->par->ab.aspects + num_at(0, j, state->par->ab.k);
  for (int c = 0; c < state->par->ab.k; c++) work->logit[c] = log(aspect[c]) - log1p(-aspect[c]);
  set_odds(work, j);
  const attribute_line line = {j, work->logit, by->slopes[num_at(state->intercept, j, by->d)],
                               -2 * fabs(num_norm())};
  return line;
}

#define WIDTH 1.0
#define STEPS_OUT 8

/*
 * The prevalence and the detection probability of a rarely detected attribute are nearly
 * confounded, and both are tied to the states. Summing over the states removes the tie: a slice
 * (Neal 2003, doi:10.1214/aos/1056562461) along a line of more presences with lower detection, in a
 * random direction.
 */
static void slice_attribute(gibbs_work *work, int j) {
  const attribute_line line = line_of(work, j);
  const double level = at_line(work, &line, 0) + log(num_unif());
  if (!(level > -INFINITY)) return; /* an aspect at its bound */
  double low = -WIDTH * num_unif(), high = low + WIDTH;
  int down = (int) (STEPS_OUT * num_unif()), up = STEPS_OUT - 1 - down;
  while (down-- > 0 && at_line(work, &line, low) > level) low -= WIDTH;
  while (up-- > 0 && at_line(work, &line, high) > level) high += WIDTH;
  while (true) {
    const double t = low + (high - low) * num_unif();
    if (at_line(work, &line, t) > level) return;
    if (t < 0)
      low = t;
    else
      high = t;
  }
}

/* Moves slopes e of all attributes: multiplies distances from the mean by `scale` and adds `shift`. */
static void move_slopes(gibbs_work *work, int e, double scale, double shift) {
  const ab_visit_state *state = work->state;
  const int m = work->data->m, d = state->par->detection.d;
  for (int j = 0; j < m; j++) {
    double *slope = state->par->detection.slopes + num_at(e, j, d);
    const double mean = mean_of(state, m, e, j);
    *slope = mean + scale * (*slope - mean) + shift;
  }
}

/* Draws steps of all orders of magnitude, because the right one depends on the information in the data. */
static double step_of(double most) { return most * exp(-4 * num_unif()) * num_norm(); }

/*
 * Moves spread and mean together with all slopes, by Metropolis steps: if single attributes have
 * little data, slopes are tied to their mean and spread, and separate updates hardly move. For
 * slopes scaled (shifted) along, the prior cancels against the Jacobian. Takes and returns the
 * log-likelihood.
 */
static double move_together(gibbs_work *work, int e, double now) {
  ab_visit_state *state = work->state;
  const double spread = state->spread[e], scale = exp(step_of(2));
  double *slopes = state->par->detection.slopes;
  memcpy(work->saved, slopes, work->slope_bytes);
  if (spread * scale > 1e-6 && spread * scale < 1e6) {
    move_slopes(work, e, scale, 0);
    const double then = marginal_loglik(work);
    const double prior = log1p(spread * spread) - log1p(spread * scale * spread * scale);
    if (log(num_unif()) < then - now + prior + log(scale)) {
      state->spread[e] = spread * scale;
      now = then;
    } else
      memcpy(slopes, work->saved, work->slope_bytes);
  }
  const double center = state->center[e], shift = step_of(1);
  memcpy(work->saved, slopes, work->slope_bytes);
  move_slopes(work, e, 1, shift);
  const double gain = (center * center - (center + shift) * (center + shift)) /
                      (2 * state->center_sd * state->center_sd);
  const double then = marginal_loglik(work);
  if (log(num_unif()) < then - now + gain) {
    state->center[e] = center + shift;
    return then;
  }
  memcpy(slopes, work->saved, work->slope_bytes);
  return now;
}

/* Log-density of all aspects and of the Beta's parameters, from the sums of log a and log(1 - a). */
static double log_beta(const gibbs_work *work, const double *sum) {
  const double *shape = work->state->shape;
  const double one = log(shape[0] / work->prior->one[0]),
               zero = log(shape[1] / work->prior->zero[0]);
  const double count = (double) work->data->m * work->state->par->ab.k;
  return shape[0] * sum[0] + shape[1] * sum[1] -
         count * (lgammafn(shape[0]) + lgammafn(shape[1]) - lgammafn(shape[0] + shape[1])) -
         (one * one + zero * zero) / 2;
}

#define BETA_STEPS 10

/* Metropolis steps of the logarithms of both parameters: one, the other, or both at a time. */
static void draw_beta(gibbs_work *work) {
  const ptrdiff_t cells = (ptrdiff_t) work->data->m * work->state->par->ab.k;
  double *shape = work->state->shape, sum[2] = {0, 0};
  for (ptrdiff_t at = 0; at < cells; at++) {
    sum[0] += log(work->state->par->ab.aspects[at]);
    sum[1] += log1p(-work->state->par->ab.aspects[at]);
  }
  double now = log_beta(work, sum);
  for (int t = 0; t < BETA_STEPS; t++) {
    const double before[2] = {shape[0], shape[1]}, step = exp(step_of(1));
    if (t % 3 != 1) shape[0] *= step;
    if (t % 3 != 0) shape[1] *= step;
    const bool inside = fmin(shape[0], shape[1]) > 1e-3 && fmax(shape[0], shape[1]) < 1e4;
    const double then = inside ? log_beta(work, sum) : -INFINITY;
    if (log(num_unif()) < then - now)
      now = then;
    else
      memcpy(shape, before, sizeof before);
  }
}

static void share_slopes(gibbs_work *work) {
  ab_visit_state *state = work->state;
  const int m = work->data->m, d = state->par->detection.d;
  for (int e = 0; e < d; e++) {
    draw_center(work, e, e, NULL);
    if (e == state->intercept)
      for (int t = 0; t < state->w; t++)
        draw_center(work, d + t, e, state->taxon + num_at(0, t, m));
    draw_spread(work, e);
  }
}

/* Sets mean and ridge of the slopes' conditional distribution, if they are shared. */
static void set_prior(gibbs_work *work) {
  ab_visit_state *state = work->state;
  const int m = work->data->m, d = state->par->detection.d;
  if (!state->shared) return;
  for (int e = 0; e < d; e++) {
    state->ridge[e] = 1 / (state->spread[e] * state->spread[e]);
    for (int j = 0; j < m; j++) state->mean[num_at(e, j, d)] = mean_of(state, m, e, j);
  }
}

/* Moves with the states summed out; the states must be drawn immediately afterwards. */
static void move_summed_out(gibbs_work *work) {
  const ab_visit_state *state = work->state;
  double now = state->shared ? marginal_loglik(work) : 0;
  for (int e = 0; e < state->par->detection.d && state->shared; e++)
    now = move_together(work, e, now);
  set_prior(work);
  for (int j = 0; j < work->data->m && state->intercept >= 0; j++) slice_attribute(work, j);
}

static double log_prior(const gibbs_work *work) {
  const ab_visit_state *state = work->state;
  const ab_visit_param *par = state->par;
  const int n = work->data->n, m = work->data->m, d = par->detection.d;
  double sum = 0;
  if (par->by.d > 0) sum += num_multinomial_log_prior(&par->by, par->ab.k);
  for (int c = 0; c < par->ab.k; c++) {
    for (int i = 0; i < n && par->by.d == 0; i++)
      sum += (work->prior->membership[c] - 1) * log(par->ab.membership[num_at(i, c, n)]);
    for (int j = 0; j < m; j++) {
      const double a = par->ab.aspects[num_at(c, j, par->ab.k)];
      sum += (state->shape[0] - 1) * log(a) + (state->shape[1] - 1) * log1p(-a) -
             lbeta(state->shape[0], state->shape[1]);
    }
  }
  for (int e = 0; e < d; e++)
    for (int j = 0; j < m; j++) {
      const double off = par->detection.slopes[num_at(e, j, d)] - state->mean[num_at(e, j, d)];
      sum += (log(state->ridge[e]) - state->ridge[e] * off * off) / 2;
    }
  if (!state->shared) return sum;
  const double one = log(state->shape[0] / work->prior->one[0]);
  const double zero = log(state->shape[1] / work->prior->zero[0]);
  sum -= (one * one + zero * zero) / 2;
  for (int e = 0; e < d; e++) sum -= log1p(state->spread[e] * state->spread[e]);
  for (int e = 0; e < d + state->w; e++) {
    const double scaled = state->center[e] / state->center_sd;
    sum -= scaled * scaled / 2;
  }
  return sum;
}

static double *column_of(double *values, ptrdiff_t rows, int draw) { return values + rows * draw; }

static void note_presences(const gibbs_work *work, ab_visit_record *record_of, double *note) {
  const ab_visit_data *data = work->data;
  const ptrdiff_t cells = (ptrdiff_t) data->n * data->m;
  double *richness = column_of(record_of->richness, data->n, record_of->n_draw);
  double *sites = column_of(record_of->sites, data->m, record_of->n_draw);
  note[AB_VISIT_NOTE_MISSED] = note[AB_VISIT_NOTE_OCCUPIED] = 0;
  memset(richness, 0, (size_t) data->n * sizeof(double));
  memset(sites, 0, (size_t) data->m * sizeof(double));
  for (int j = 0; j < data->m; j++)
    for (int i = 0; i < data->n; i++) {
      const ptrdiff_t at = num_at(i, j, data->n);
      const double tau = work->tau[at];
      record_of->cell[at] += tau;
      record_of->cell[at + cells] += tau * tau;
      record_of->cell[at + 2 * cells] += work->p[at];
      record_of->cell[at + 3 * cells] += work->p[at] * work->p[at];
      if (!work->present[at]) continue;
      richness[i]++;
      sites[j]++;
      note[AB_VISIT_NOTE_OCCUPIED]++;
      const visit_probability visits = probability_of_visits(work, i, j);
      if (visits.made && !visits.found) note[AB_VISIT_NOTE_MISSED]++;
    }
}

static void add_all(double *sum, const double *part, ptrdiff_t length) {
  for (ptrdiff_t i = 0; i < length; i++) sum[i] += part[i];
}

/* Records a draw. joint: log-density at the parameters with which the states were drawn. */
static void note_draw(const gibbs_work *work, double joint, ab_visit_record *to) {
  const ab_visit_state *state = work->state;
  const ab_param *ab = &state->par->ab;
  const int d = state->par->detection.d;
  const ptrdiff_t rows = (ptrdiff_t) work->data->n * ab->k,
                  columns = (ptrdiff_t) ab->k * work->data->m;
  const ptrdiff_t slopes = (ptrdiff_t) d * work->data->m;
  double *note = column_of(to->note, AB_VISIT_NOTE_CENTER + 2 * d + state->w, to->n_draw);
  note[AB_VISIT_NOTE_JOINT] = joint;
  note[AB_VISIT_NOTE_LIK] = work->loglik;
  note_presences(work, to, note);
  memcpy(note + AB_VISIT_NOTE_CENTER, state->center, (size_t) (d + state->w) * sizeof(double));
  memcpy(note + AB_VISIT_NOTE_CENTER + d + state->w, state->spread, (size_t) d * sizeof(double));
  memcpy(column_of(to->slopes, slopes, to->n_draw), state->par->detection.slopes,
         (size_t) slopes * sizeof(double));
  const ptrdiff_t effects = (ptrdiff_t) state->par->by.d * ab->k;
  if (effects > 0)
    memcpy(column_of(to->effects, effects, to->n_draw), state->par->by.effects,
           (size_t) effects * sizeof(double));
  add_all(to->membership, ab->membership, rows);
  add_all(to->aspects, ab->aspects, columns);
  to->n_draw++;
  if (to->keep_every <= 0 || to->n_draw % to->keep_every) return;
  memcpy(column_of(to->kept_membership, rows, to->n_kept), ab->membership,
         (size_t) rows * sizeof(double));
  memcpy(column_of(to->kept_aspects, columns, to->n_kept), ab->aspects,
         (size_t) columns * sizeof(double));
  to->n_kept++;
}

mc_status ab_visits_gibbs(const ab_visit_data *data, const ab_prior *prior, ab_visit_state *state,
                          int n_sweep, const mc_host *host, ab_visit_record *record_of) {
  gibbs_work work = new_work(data, prior, state, host);
  ab_visits_follow(data, state->par);
  record_of->n_done = record_of->n_draw = record_of->n_kept = 0;
  for (int t = 0; t < n_sweep; t++) {
    set_prior(&work);
    move_summed_out(&work);
    set_prior(&work);
    const double before = log_prior(&work);
    draw_rows(&work);
    draw_aspects(&work);
    for (int j = 0; j < data->m; j++) draw_slopes(&work, j);
    if (state->shared) {
      share_slopes(&work);
      draw_beta(&work);
    }
    record_of->n_done = t + 1;
    if (record_of->thin > 0 && (t + 1) % record_of->thin == 0)
      note_draw(&work, work.loglik + before, record_of);
    if (mc_stop(host, t + 1, 0)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}
