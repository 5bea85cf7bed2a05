#include "visits_bernoulli/newton.h"

#include <math.h>
#include <string.h>

#include "num/blas.h"
#include "num/blocks.h"
#include "num/linalg.h"
#include "num/logistic.h"
#include "num/quadratic.h"
#include "num/safe_step.h"
#include "num/vector.h"
#include "visits_bernoulli/private.h"

#define BLOCK_ROWS 16
#define BLOCK_COLUMNS 16
/* Iterations before long steps are tried: then fewer starting values end in lower maxima. */
#define CAREFUL 10

/* A unit, row or column, has k weights: its memberships or aspects. */
typedef struct {
  double *odds;               /* block x m: L of a block's cells, then 1 / L */
  double *mixed;              /* k x block of rows, k x n of a column: w */
  double *s;                  /* block x k: the rows' memberships */
  double *gradient, *hessian; /* block x k, block x pairs of rows; k, pairs of a column */
  /* Quantities of a column, n each: p, 1 / L, (A - B) / L, tau, tau (1 - tau); A of a trial. */
  double *p, *inverse, *r, *tau, *spread, *present;
  double *miss;        /* n x n_visit: probabilities of a miss of a trial */
  double *score;       /* d x n: derivatives of log A with respect to the slopes */
  double *curve;       /* pairs of d: minus the second derivatives, weighted by tau */
  double *own, *trial; /* k + d: aspects and slopes of a column */
  double *h, *g, *low, *high, *d, *weights, *quadratic;
  int *side, *which;
} scratch;

struct ab_visit_newton {
  ab_visit_work *em; /* takes the slopes' steps */
  const ab_prior *prior;
  const mc_host *host;
  num_strips rows, columns;
  double *present, *absent; /* n x m: A, 1 if anything was detected, and B; 1 without a visit */
  double *miss;             /* n x n_visit x m: probabilities of a miss */
  double *found;            /* m: log A summed over the cells with a detection */
  double *known; /* d x m: the slopes for which A, misses and `found` of a column were computed;
                    NaN at first */
  /* Scratch for memberships by covariates. */
  double *counts;              /* n x k: expected cells per component */
  double *second;              /* pairs x n: the rows' H */
  double *climb;               /* scratch of an EM step */
  double *slope, *information; /* d k, d k x d k: of the effects */
  double *effects;             /* d k: the effects before a step */
  bool look;                   /* do_rows() computes only the likelihood */
  double loglik[NUM_MAX_STRIP];
  scratch *at; /* one per thread */
  int iterations;
  double objective;
};

typedef struct {
  const ab_visit_data *data;
  ab_visit_param *par;
  ab_visit_newton *work;
} visit;

bool ab_visits_has_newton(const ab_visit_data *data, const ab_visit_param *par) {
  for (int v = 0; v < data->n_visit; v++)
    if (par->added[v] > 0) return false;
  return par->missed_by == MISSED_BY_MODEL && !par->fit_added && !par->ab.smooth;
}

static scratch new_scratch(const ab_visit_data *data, const ab_visit_param *par,
                           const mc_host *host) {
  const size_t n = (size_t) data->n, m = (size_t) data->m, k = (size_t) par->ab.k;
  const size_t d = (size_t) par->detection.d, order = k + d, most = n > BLOCK_ROWS ? n : BLOCK_ROWS;
  scratch s = {.odds = mc_doubles(host, BLOCK_ROWS, m)};
  double **column[] = {&s.p, &s.inverse, &s.r, &s.tau, &s.spread, &s.present};
  for (size_t e = 0; e < sizeof column / sizeof *column; e++) *column[e] = mc_doubles(host, n, 1);
  s.mixed = mc_doubles(host, k, most);
  s.s = mc_doubles(host, BLOCK_ROWS, k);
  s.gradient = mc_doubles(host, BLOCK_ROWS, k);
  s.hessian = mc_doubles(host, BLOCK_ROWS, (size_t) num_pairs(par->ab.k));
  s.miss = mc_doubles(host, n, (size_t) data->n_visit);
  s.score = mc_doubles(host, d, n);
  s.curve = mc_doubles(host, (size_t) num_pairs(par->detection.d), 1);
  double **weight[] = {&s.own, &s.trial, &s.g, &s.low, &s.high, &s.d, &s.weights};
  for (size_t e = 0; e < sizeof weight / sizeof *weight; e++)
    *weight[e] = mc_doubles(host, order, 1);
  s.h = mc_doubles(host, order, order);
  s.quadratic = mc_doubles(host, num_quadratic_work((int) order), 1);
  s.side = host->alloc(host->ctx, order, sizeof(int));
  s.which = host->alloc(host->ctx, order, sizeof(int));
  return s;
}

static void note_silence(const ab_visit_data *data, double *absent) {
  const ptrdiff_t cells = (ptrdiff_t) data->n * data->m;
  for (ptrdiff_t at = 0; at < cells; at++) {
    absent[at] = 1;
    for (int v = 0; v < data->n_visit; v++)
      if (data->cell[at + v * cells] > 0) absent[at] = 0;
  }
}

ab_visit_newton *ab_visits_new_newton(const ab_visit_data *data, const ab_visit_param *par,
                                      const ab_prior *prior, int n_threads, const mc_host *host) {
  const int k = par->ab.k;
  ab_visit_newton *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->em = ab_visits_new_work(data, par, prior, n_threads, host);
  work->prior = ab_visits_prior(work->em);
  work->host = host;
  work->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  work->columns = num_new_strips(data->m, BLOCK_COLUMNS, n_threads);
  work->present = mc_doubles(host, data->n, data->m);
  work->absent = mc_doubles(host, data->n, data->m);
  work->miss = mc_doubles(host, (size_t) data->n * (size_t) data->n_visit, data->m);
  work->found = mc_doubles(host, data->m, 1);
  work->known = mc_doubles(host, par->detection.d, data->m);
  for (ptrdiff_t e = 0; e < num_at(0, data->m, par->detection.d); e++) work->known[e] = NAN;
  note_silence(data, work->absent);
  if (par->by.d > 0) {
    work->counts = mc_doubles(host, data->n, k);
    const size_t order = (size_t) par->by.d * (size_t) k;
    work->second = mc_doubles(host, (size_t) num_pairs(k), data->n);
    work->climb = mc_doubles(host, num_multinomial_work(par->by.d, k), 1);
    work->slope = mc_doubles(host, order, 1);
    work->information = mc_doubles(host, order, order);
    work->effects = mc_doubles(host, order, 1);
  }
  const int threads = work->rows.n_threads > work->columns.n_threads ? work->rows.n_threads
                                                                     : work->columns.n_threads;
  work->at = host->alloc(host->ctx, (size_t) threads, sizeof *work->at);
  for (int t = 0; t < threads; t++) work->at[t] = new_scratch(data, par, host);
  return work;
}

/* Slopes of a column, and A and the probabilities of a miss that they imply. */
typedef struct {
  const double *slopes;
  double *present, *miss; /* n, n x n_visit */
} said;

static said said_of(const visit *w, int j) {
  const ab_visit_data *data = w->data;
  return (said){w->par->detection.slopes + num_at(0, j, w->par->detection.d),
                w->work->present + num_at(0, j, data->n),
                w->work->miss + num_at(0, j, data->n) * data->n_visit};
}

/* log A of the cells of a column with a detection: their B is 0, so the scale of A is irrelevant. */
static double found_loglik(const visit *w, int j, const said *to) {
  const ab_visit_data *data = w->data;
  const double *absent = w->work->absent + num_at(0, j, data->n);
  num_log_product product = {0, 1};
  for (int v = 0; v < data->n_visit; v++) {
    const double *miss = to->miss + num_at(0, v, data->n);
    for (int i = 0; i < data->n; i++) {
      const int x = absent[i] > 0 ? -1 : record(data, i, j, v);
      if (x >= 0) num_times(&product, x ? 1 - miss[i] : miss[i]);
    }
  }
  return num_log_of(&product);
}

static void silent_visits(int n, const int *cell, const double *absent, const double *miss,
                          double *present) {
  for (int i = 0; i < n; i++) present[i] *= cell[i] < 0 || absent[i] <= 0 ? 1 : miss[i];
}

/* Computes A and the misses of a column; returns found_loglik(). */
static double detect(const visit *w, int j, const said *to) {
  const ab_visit_data *data = w->data;
  const int n = data->n, d = w->par->detection.d;
  const ptrdiff_t records = num_at(0, data->n_visit, n);
  num_gemm(true, false, (int) records, 1, d, ab_visits_design(w->work->em), d, to->slopes, d, 0,
           to->miss, (int) records);
  for (ptrdiff_t e = 0; e < records; e++) to->miss[e] = -to->miss[e];
  num_logistic(to->miss, records);
  for (int i = 0; i < n; i++) to->present[i] = 1;
  for (int v = 0; v < data->n_visit; v++)
    silent_visits(n, data->cell + num_at(0, j, n) + (ptrdiff_t) v * n * data->m,
                  w->work->absent + num_at(0, j, n), to->miss + num_at(0, v, n), to->present);
  return found_loglik(w, j, to);
}

/* Skips columns whose slopes are those for which step_together() last computed A and the misses. */
static void do_detection(void *ctx, int strip, int thread, int first, int b) {
  (void) thread;
  const visit *w = ctx;
  const int d = w->par->detection.d;
  for (int j = first; j < first + b; j++) {
    const said now = said_of(w, j);
    double *known = w->work->known + num_at(0, j, d);
    bool same = true;
    for (int e = 0; e < d; e++) same = same && known[e] == now.slopes[e];
    if (!same) {
      w->work->found[j] = detect(w, j, &now);
      memcpy(known, now.slopes, (size_t) d * sizeof(double));
    }
    w->work->loglik[strip] += w->work->found[j];
  }
}

/* Adds the first and minus the second derivative of up log x + down log(1 - x); without a prior x
 * may be at a bound. */
static void add_prior(double x, double up, double down, double *slope, double *curve) {
  if (up > 0) {
    *slope += up / x;
    *curve += up / x / x;
  }
  if (down > 0) {
    *slope -= down / (1 - x);
    *curve += down / (1 - x) / (1 - x);
  }
}

/* Unit of k weights: the prior's counts of log x and, in the box, of log(1 - x); NULL on the simplex. */
typedef struct {
  int k;
  const double *one, *zero;
} prior_counts;

static double down(const prior_counts *prior, int c) { return prior->zero ? prior->zero[c] : 0; }

/* Copies the likelihood's gradient and packed Hessian, entries `stride` apart, into s->g and s->h. */
static void unpack(int k, const double *gradient, const double *hessian, int stride, scratch *s) {
  for (int c = 0; c < k; c++) {
    s->g[c] = gradient[(ptrdiff_t) c * stride];
    for (int e = 0; e <= c; e++)
      s->h[num_at(e, c, k)] = s->h[num_at(c, e, k)] =
          hessian[(ptrdiff_t) (num_pairs(c) + e) * stride];
  }
}

/* Computes the direction s->d; returns false if there is none. */
static bool find_direction(const prior_counts *prior, scratch *s) {
  const int k = prior->k;
  const bool simplex = prior->zero == NULL;
  const double mean = simplex ? num_dot(s->weights, s->g, k) : 0;
  for (int c = 0; c < k; c++) {
    const double x = s->weights[c];
    s->low[c] = -x;
    s->high[c] = simplex ? INFINITY : 1 - x;
    s->g[c] -= mean; /* a constant is irrelevant on the simplex, except for rounding */
    add_prior(x, prior->one[c], down(prior, c), s->g + c, s->h + num_at(c, c, k));
  }
  const num_quadratic_problem problem = {s->h, s->g, s->low, s->high, k, simplex};
  return num_quadratic(&problem, s->d, s->side, s->quadratic, s->which);
}

/* Adds a log of the prior, of an x that grows by d. Its change is known exactly, so it is taken out
 * of d'H d, `form`. */
static void add_log(double count, double x, double d, num_safe_step *step, double *counts,
                    double *changes, double *form) {
  if (!(count > 0)) return;
  counts[step->n] = count;
  changes[step->n++] = d / x;
  *form -= count * d * d / x / x;
}

#define MOST_LOGS 2 /* per weight: at both of its bounds */

/* Step length along s->d. */
static double length_along(const prior_counts *prior, const scratch *s) {
  const int k = prior->k;
  double count[MOST_LOGS * AB_VISITS_NEWTON_MOST], change[MOST_LOGS * AB_VISITS_NEWTON_MOST];
  double form = 0;
  num_safe_step step = {.rise = num_dot(s->g, s->d, k), .count = count, .change = change};
  for (int c = 0; c < k; c++) {
    for (int e = 0; e < k; e++) form += s->d[c] * s->h[num_at(e, c, k)] * s->d[e];
    add_log(prior->one[c], s->weights[c], s->d[c], &step, count, change, &form);
    add_log(down(prior, c), 1 - s->weights[c], -s->d[c], &step, count, change, &form);
  }
  step.lambda = sqrt(fmax(form, 0));
  return num_safe_halving(&step);
}

static void move(int k, double t, bool simplex, scratch *s) {
  double total = 0;
  for (int c = 0; c < k; c++) {
    s->weights[c] = fmin(fmax(s->weights[c] + t * s->d[c], NUM_TINY), 1);
    total += s->weights[c];
  }
  for (int c = 0; c < k && simplex; c++) s->weights[c] /= total;
}

/* Moves s->weights by a step that increases the objective. */
static void climb_unit(const prior_counts *prior, const double *gradient, const double *hessian,
                       int stride, scratch *s) {
  unpack(prior->k, gradient, hessian, stride, s);
  if (find_direction(prior, s)) move(prior->k, length_along(prior, s), prior->zero == NULL, s);
}

/* Adds w (b x k) to the gradients, and its products to the Hessians. */
static void add_products(int b, int k, const double *w, double *gradient, double *hessian) {
  for (int c = 0; c < k; c++) {
    for (int l = 0; l < b; l++) gradient[num_at(l, c, b)] += w[num_at(l, c, b)];
    for (int e = 0; e <= c; e++) {
      double *sum = hessian + num_at(0, num_pairs(c) + e, b);
      for (int l = 0; l < b; l++) sum[l] += w[num_at(l, c, b)] * w[num_at(l, e, b)];
    }
  }
}

/* Computes L of the cells of column j in a block of rows. */
static void mix_cells(int b, int k, const double *s, const double *aspect, const double *present,
                      const double *absent, double *out) {
  for (int l = 0; l < b; l++) out[l] = 0;
  for (int c = 0; c < k; c++)
    for (int l = 0; l < b; l++)
      out[l] += s[num_at(l, c, b)] * (aspect[c] * present[l] + (1 - aspect[c]) * absent[l]);
}

static void weigh_cells(int b, int k, const double *aspect, const double *present,
                        const double *absent, const double *inverse, double *w) {
  for (int c = 0; c < k; c++)
    for (int l = 0; l < b; l++)
      w[num_at(l, c, b)] = (aspect[c] * present[l] + (1 - aspect[c]) * absent[l]) * inverse[l];
}

static void do_rows(void *ctx, int strip, int thread, int first, int b) {
  const visit *w = ctx;
  const int n = w->data->n, m = w->data->m, k = w->par->ab.k;
  scratch *s = w->work->at + thread;
  double *membership = w->par->ab.membership;
  for (int c = 0; c < k; c++)
    memcpy(s->s + num_at(0, c, b), membership + num_at(first, c, n), (size_t) b * sizeof(double));
  for (int j = 0; j < m; j++)
    mix_cells(b, k, s->s, w->par->ab.aspects + num_at(0, j, k),
              w->work->present + num_at(first, j, n), w->work->absent + num_at(first, j, n),
              s->odds + num_at(0, j, b));
  w->work->loglik[strip] += num_invert_sum_log(s->odds, (ptrdiff_t) b * m);
  if (w->work->look) return;
  memset(s->gradient, 0, (size_t) k * (size_t) b * sizeof(double));
  memset(s->hessian, 0, (size_t) num_pairs(k) * (size_t) b * sizeof(double));
  for (int j = 0; j < m; j++) {
    weigh_cells(b, k, w->par->ab.aspects + num_at(0, j, k), w->work->present + num_at(first, j, n),
                w->work->absent + num_at(first, j, n), s->odds + num_at(0, j, b), s->mixed);
    add_products(b, k, s->mixed, s->gradient, s->hessian);
  }
  const prior_counts prior = {k, w->work->prior->membership, NULL};
  for (int l = 0; l < b; l++) {
    if (w->par->by.d > 0) {
      for (int c = 0; c < k; c++)
        w->work->counts[num_at(first + l, c, n)] =
            s->s[num_at(l, c, b)] * s->gradient[num_at(l, c, b)];
      for (int e = 0; e < num_pairs(k); e++)
        w->work->second[num_at(e, first + l, num_pairs(k))] = s->hessian[num_at(l, e, b)];
      continue;
    }
    for (int c = 0; c < k; c++) s->weights[c] = s->s[num_at(l, c, b)];
    climb_unit(&prior, s->gradient + l, s->hessian + l, b, s);
    for (int c = 0; c < k; c++) membership[num_at(first + l, c, n)] = s->weights[c];
  }
}

/* Computes p and L of a column. */
static void mix_column(int n, int k, const double *membership, const double *aspect,
                       const double *present, const double *absent, double *p, double *total) {
  for (int i = 0; i < n; i++) p[i] = total[i] = 0;
  for (int c = 0; c < k; c++)
    for (int i = 0; i < n; i++) {
      const double share = membership[num_at(i, c, n)];
      p[i] += share * aspect[c];
      total[i] += share * (aspect[c] * present[i] + (1 - aspect[c]) * absent[i]);
    }
}

/* Terms of a column's objective besides its log-likelihood. */
static double column_prior(const visit *w, int j, const double *aspect, const double *slopes) {
  const ab_detection *by = &w->par->detection;
  const ab_prior *prior = w->work->prior;
  double sum = 0;
  for (int c = 0; c < w->par->ab.k; c++) {
    if (prior->one[c] > 0) sum += prior->one[c] * log(aspect[c]);
    if (prior->zero[c] > 0) sum += prior->zero[c] * log1p(-aspect[c]);
  }
  for (int e = 0; e < by->d; e++) {
    const double off = slopes[e] - by->mean[num_at(e, j, by->d)];
    sum -= by->ridge[e] * off * off / 2;
  }
  return sum;
}

/* Derivatives of log A of a column (score), and minus its second derivatives, weighted by tau and
 * summed (curve). */
static void differentiate_visits(const visit *w, int j, scratch *s) {
  const ab_visit_data *data = w->data;
  const int n = data->n, d = w->par->detection.d, pairs = num_pairs(d);
  memset(s->score, 0, (size_t) d * (size_t) n * sizeof(double));
  memset(s->curve, 0, (size_t) pairs * sizeof(double));
  for (int v = 0; v < data->n_visit; v++) {
    const double *miss = said_of(w, j).miss + num_at(0, v, n);
    const double *design = ab_visits_design(w->work->em) + d * num_at(0, v, n);
    const double *squares = ab_visits_squares(w->work->em) + pairs * num_at(0, v, n);
    for (int i = 0; i < n; i++) {
      const int x = record(data, i, j, v);
      if (x < 0) continue;
      num_add_scaled(s->score + num_at(0, i, d), x ? miss[i] : miss[i] - 1,
                     design + num_at(0, i, d), d);
      num_add_scaled(s->curve, s->tau[i] * miss[i] * (1 - miss[i]), squares + num_at(0, i, pairs),
                     pairs);
    }
  }
}

/*
 * Gradient and minus the Hessian of a column with respect to aspects and slopes jointly, as in
 * visits_bernoulli/inform.h for the aspects' log-odds. Within the aspects it is H of the header. It
 * need not be definite.
 */
static void differentiate_column(const visit *w, int j, scratch *s) {
  const ab_detection *by = &w->par->detection;
  const ab_prior *prior = w->work->prior;
  const int n = w->data->n, k = w->par->ab.k, d = by->d, size = k + d;
  for (int c = 0; c < k; c++) {
    for (int e = 0; e <= c; e++) s->h[num_at(e, c, size)] = s->hessian[num_pairs(c) + e];
    s->g[c] = s->gradient[c];
    add_prior(s->own[c], prior->one[c], prior->zero[c], s->g + c, s->h + num_at(c, c, size));
  }
  for (int e = 0; e < d; e++) {
    double *column = s->h + num_at(0, k + e, size);
    s->g[k + e] = by->ridge[e] * (by->mean[num_at(e, j, d)] - s->own[k + e]);
    for (int c = 0; c < k; c++) column[c] = 0;
    for (int f = 0; f <= e; f++) column[k + f] = s->curve[num_pairs(e) + f];
    column[k + e] += by->ridge[e];
  }
  for (int i = 0; i < n; i++) {
    const double *score = s->score + num_at(0, i, d);
    for (int e = 0; e < d; e++) {
      double *column = s->h + num_at(0, k + e, size);
      s->g[k + e] += s->tau[i] * score[e];
      num_add_scaled(column + k, -s->spread[i] * score[e], score, e + 1);
      for (int c = 0; c < k; c++)
        column[c] -= w->par->ab.membership[num_at(i, c, n)] * s->present[i] * score[e];
    }
  }
  for (int c = 0; c < size; c++)
    for (int e = 0; e < c; e++) s->h[num_at(c, e, size)] = s->h[num_at(e, c, size)];
}

#define NEARER 0.9    /* largest share of the way to a bound from which the prior keeps weights */
#define GAIN 0.1      /* share of the rise that a trial step must gain */
#define TRIALS 3      /* trial steps, each half as long as the one before */
#define ROUNDED 1e-13 /* relative rounding error of a column's objective */

/*
 * Newton's step of aspects and slopes jointly, which are strongly correlated if a taxon is rarely
 * detected. It is accepted if the column's objective gains; its A and misses are kept for the next
 * iteration.
 */
static bool step_together(const visit *w, int j, double now, scratch *s) {
  ab_visit_newton *work = w->work;
  const int n = w->data->n, k = w->par->ab.k, d = w->par->detection.d, size = k + d;
  const double *absent = work->absent + num_at(0, j, n);
  for (int c = 0; c < size; c++) {
    s->low[c] = c < k ? -s->own[c] * (work->prior->one[c] > 0 ? NEARER : 1) : -INFINITY;
    s->high[c] = c < k ? (1 - s->own[c]) * (work->prior->zero[c] > 0 ? NEARER : 1) : INFINITY;
  }
  const num_quadratic_problem problem = {s->h, s->g, s->low, s->high, size, false};
  if (!num_quadratic(&problem, s->d, s->side, s->quadratic, s->which)) return false;
  const double rise = num_dot(s->g, s->d, size);
  if (!(rise > 0)) return false;
  for (int half = 0; half < TRIALS; half++) {
    const double t = ldexp(1, -half);
    const said to = {s->trial + k, s->present, s->miss};
    for (int c = 0; c < size; c++) s->trial[c] = s->own[c] + t * s->d[c];
    for (int c = 0; c < k; c++) s->trial[c] = fmin(fmax(s->trial[c], NUM_TINY), 1);
    const double found = detect(w, j, &to);
    mix_column(n, k, w->par->ab.membership, s->trial, s->present, absent, s->p, s->inverse);
    const double then =
        found + num_invert_sum_log(s->inverse, n) + column_prior(w, j, s->trial, s->trial + k);
    if (!(then - now >= GAIN * t * rise - ROUNDED * fabs(now))) continue;
    memcpy(w->par->ab.aspects + num_at(0, j, k), s->trial, (size_t) k * sizeof(double));
    memcpy(w->par->detection.slopes + num_at(0, j, d), to.slopes, (size_t) d * sizeof(double));
    memcpy(work->known + num_at(0, j, d), to.slopes, (size_t) d * sizeof(double));
    memcpy(said_of(w, j).present, to.present, (size_t) n * sizeof(double));
    memcpy(said_of(w, j).miss, to.miss, (size_t) n * (size_t) w->data->n_visit * sizeof(double));
    work->found[j] = found;
    return true;
  }
  return false;
}

static void climb_column(const visit *w, int j, int thread) {
  ab_visit_newton *work = w->work;
  scratch *s = work->at + thread;
  const int n = w->data->n, k = w->par->ab.k, d = w->par->detection.d;
  const double *membership = w->par->ab.membership;
  const double *present = work->present + num_at(0, j, n), *absent = work->absent + num_at(0, j, n);
  double *aspect = w->par->ab.aspects + num_at(0, j, k),
         *tau = ab_visits_tau(work->em) + num_at(0, j, n);
  memcpy(s->own, aspect, (size_t) k * sizeof(double));
  memcpy(s->own + k, w->par->detection.slopes + num_at(0, j, d), (size_t) d * sizeof(double));
  mix_column(n, k, membership, aspect, present, absent, s->p, s->inverse);
  const double now =
      work->found[j] + num_invert_sum_log(s->inverse, n) + column_prior(w, j, s->own, s->own + k);
  for (int i = 0; i < n; i++) {
    const double one = present[i] * s->inverse[i];
    s->r[i] = one - absent[i] * s->inverse[i];
    s->tau[i] = s->p[i] * one;
    s->spread[i] = s->tau[i] * (1 - s->tau[i]);
    s->present[i] = one - s->tau[i] * s->r[i];
  }
  for (int c = 0; c < k; c++) {
    double *mixed = s->mixed + num_at(0, c, n);
    for (int i = 0; i < n; i++) mixed[i] = membership[num_at(i, c, n)] * s->r[i];
    s->gradient[c] = 0;
    for (int i = 0; i < n; i++) s->gradient[c] += mixed[i];
    for (int e = 0; e <= c; e++)
      s->hessian[num_pairs(c) + e] = num_dot(mixed, s->mixed + num_at(0, e, n), n);
  }
  differentiate_visits(w, j, s);
  differentiate_column(w, j, s);
  if (work->iterations >= CAREFUL && step_together(w, j, now, s)) return;
  const prior_counts prior = {k, work->prior->one, work->prior->zero};
  memcpy(s->weights, aspect, (size_t) k * sizeof(double));
  climb_unit(&prior, s->gradient, s->hessian, 1, s);
  memcpy(aspect, s->weights, (size_t) k * sizeof(double));
  mix_column(n, k, membership, aspect, present, absent, s->p, s->inverse);
  for (int i = 0; i < n; i++) tau[i] = s->inverse[i] > 0 ? s->p[i] * present[i] / s->inverse[i] : 0;
  ab_visits_climb_slopes(w->data, w->par, work->em, thread, j);
}

static void do_columns(void *ctx, int strip, int thread, int first, int b) {
  (void) strip;
  const visit *w = ctx;
  for (int j = first; j < first + b; j++) climb_column(w, j, thread);
}

static bool visit_all(visit *w, const num_strips *strips, num_scanner what) {
  return mc_scan(w->work->host, w->work->iterations, w->work->objective, strips, what, w);
}

/*
 * Gradient and minus the Hessian of the log-likelihood with respect to the effects. For an
 * observation's eta, with m its cells, g and H those of its memberships s: s (g - m) and m (diag(s)
 * - s s') - diag(s g) + s s' H. In the flat direction of equal effects of a term, where the
 * gradient is 0, curvature is added.
 */
static void differentiate_effects(const visit *w) {
  const num_multinomial *by = &w->par->by;
  const int n = w->data->n, k = w->par->ab.k, d = by->d, size = d * k;
  double *slope = w->work->slope, *information = w->work->information;
  memset(information, 0, (size_t) size * (size_t) size * sizeof(double));
  for (int a = 0; a < size; a++) {
    slope[a] = -by->ridge * by->effects[a];
    information[num_at(a, a, size)] = by->ridge;
  }
  for (int i = 0; i < n; i++) {
    const double *row = by->design + num_at(0, i, d);
    const double *second = w->work->second + num_at(0, i, num_pairs(k));
    double cells = 0;
    for (int c = 0; c < k; c++) cells += w->work->counts[num_at(i, c, n)];
    for (int c = 0; c < k; c++) {
      const double share = w->par->ab.membership[num_at(i, c, n)];
      const double count = w->work->counts[num_at(i, c, n)];
      num_add_scaled(slope + num_at(0, c, d), count - cells * share, row, d);
      for (int b = 0; b <= c; b++) {
        const double other = w->par->ab.membership[num_at(i, b, n)];
        double weight = share * other * (second[num_pairs(c) + b] - cells) + cells / k / k;
        if (b == c) weight += cells * share - count;
        for (int e = 0; e < d; e++)
          num_add_scaled(information + num_at((ptrdiff_t) b * d, (ptrdiff_t) c * d + e, size),
                         weight * row[e], row, d);
      }
    }
  }
  for (int c = 0; c < size; c++)
    for (int e = 0; e < c; e++) information[num_at(c, e, size)] = information[num_at(e, c, size)];
}

static double total_of(const double *loglik) {
  double sum = 0;
  for (int s = 0; s < NUM_MAX_STRIP; s++) sum += loglik[s];
  return sum;
}

/* Log-likelihood plus log-prior of the effects; NaN: stopped. */
static double effects_objective(visit *w) {
  ab_visit_newton *work = w->work;
  double sum = num_multinomial_log_prior(&w->par->by, w->par->ab.k);
  ab_visits_follow(w->data, w->par);
  memset(work->loglik, 0, sizeof work->loglik);
  work->look = true;
  const bool done = visit_all(w, &work->rows, do_rows);
  work->look = false;
  return done ? sum + total_of(work->loglik) : NAN;
}

/* Takes Newton's step of all effects if it gains, else EM's step. `now`: the rows' log-likelihood.
 * Returns false if stopped. */
static bool climb_effects(visit *w, double now) {
  ab_visit_newton *work = w->work;
  const num_multinomial *by = &w->par->by;
  const int size = by->d * w->par->ab.k;
  const double before = now + num_multinomial_log_prior(by, w->par->ab.k);
  differentiate_effects(w);
  memcpy(work->effects, by->effects, (size_t) size * sizeof(double));
  if (work->iterations >= CAREFUL && num_chol(work->information, size)) {
    num_chol_forward(work->information, size, work->slope);
    const double rise = num_dot(work->slope, work->slope, size);
    num_chol_backward(work->information, size, work->slope);
    for (int half = 0; half < TRIALS; half++) {
      const double t = ldexp(1, -half);
      for (int a = 0; a < size; a++) by->effects[a] = work->effects[a] + t * work->slope[a];
      const double then = effects_objective(w);
      if (isnan(then)) return false;
      if (then - before >= GAIN * t * rise - ROUNDED * fabs(before)) return true;
    }
    memcpy(by->effects, work->effects, (size_t) size * sizeof(double));
  }
  num_multinomial_climb(by, w->data->n, w->par->ab.k, work->counts, work->climb);
  ab_visits_follow(w->data, w->par);
  return true;
}

double ab_visits_newton_pass(const ab_visit_data *data, ab_visit_param *par,
                             ab_visit_newton *work) {
  visit w = {data, par, work};
  double sum = ab_visits_beside(data, par, work->em);
  memset(work->loglik, 0, sizeof work->loglik);
  if (!visit_all(&w, &work->columns, do_detection)) return NAN;
  sum += total_of(work->loglik);
  memset(work->loglik, 0, sizeof work->loglik);
  if (!visit_all(&w, &work->rows, do_rows)) return NAN;
  const double rows = total_of(work->loglik);
  sum += rows;
  if (!par->ab.fixed_aspects) {
    if (par->by.d > 0 && isfinite(rows) && !climb_effects(&w, rows)) return NAN;
    if (!visit_all(&w, &work->columns, do_columns)) return NAN;
  }
  work->iterations++;
  return work->objective = sum;
}

static double newton_pass(void *self) {
  const ab_visit_newton_self *s = self;
  return ab_visits_newton_pass(s->visits.data, s->visits.par, s->newton);
}

mc_model ab_visits_newton_model(ab_visit_newton_self *self) {
  self->visits.work = self->newton->em;
  mc_model model = ab_visits_model(&self->visits);
  model.pass = newton_pass;
  return model;
}
