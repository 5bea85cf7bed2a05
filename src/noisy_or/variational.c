/*
 * noisy_or/variational.c: the paper's variational EM, in its order: the E-step of a row and the
 * steps of q at its ones; roots for links and leak; the prior.
 */
#include "noisy_or/noisy_or.h"
#include "noisy_or/zeros.h"

#include <math.h>
#include <string.h>

#include "num/blocks.h"
#include "num/log1mexp.h"
#include "num/simplex.h"
#include "num/threads.h"

#define NOR_LEAST_PRIOR 1e-10 /* log odds stay finite */

/* Scratch of a thread: a row's ones with the live sources of each, and the terms of a root. */
typedef struct {
  int n_one;
  int *first;                               /* n_one + 1: the entries of each one */
  int *source;                              /* of each entry, */
  double *theta, *q, *leak, *leak_log, *on; /* its parameters and <s>, */
  double *y, *f, *slope;                    /* leak + theta / q, f and f' there */
  bool *moved;                              /* n_one: has q? */
  double *sum;                              /* k + 1 */
  double *scale, *offset, *rate;            /* of each term of a slope, */
  double *term_y, *term_slope;              /* its argument and f' there */
  nor_zero_row zeros;                       /* with recording */
} nor_scratch;

struct nor_variational {
  const mc_data *data;
  nor_param *par;
  nor_theta *var;
  const nor_settings *set;
  nor_totals totals;
  num_strips strips, columns;
  int iterations;     /* made so far, and */
  double objective;   /* after the last iteration, reported to the host */
  double *activation; /* k x n: <s> */
  double *bound;      /* n */
  double *all_off;    /* k + 1: theta summed over columns, last the leak's */
  int *n_live, *live; /* m, k x m: the sources with theta > 0 in each column */
  double *leak_log;   /* m: f(leak) */
  int *column_start;  /* m + 1: the ones of each column, as places in data->column, */
  int *column_place;  /*        and their rows */
  int *column_row;
  double *off; /* k x m: expected zeros with the source on; the activations' sum over them */
  double
      *zeros; /* m: zeros; with recording those of what would have been on record, here and above */
  nor_scratch *scratch;         /* of each thread */
  bool move_q;                  /* in the current scan */
  nor_zeros recorded;           /* with recording: the zeros' bounds, */
  nor_sums sums[NUM_MAX_STRIP]; /* and each strip's sums */
};

/*
 * f(y) = log(1 - exp(-y)) and f'(y) = 1 / (exp(y) - 1), y > 0. Absolute precision suffices for f,
 * which is only added to numbers near 1.
 */
typedef struct {
  double f, slope;
} nor_f;

static inline nor_f nor_log_on(double y) {
  const double e = exp(-y);
  const double on = e > 0.5 ? -expm1(-y) : 1 - e;
  return (nor_f){log(on), e / on};
}

static inline double nor_on_slope(double y) {
  const double e = exp(-y);
  return e / (e > 0.5 ? -expm1(-y) : 1 - e);
}

#define FAR 45. /* f and u f' beyond it are below rounding beside f(theta0) */

static void new_scratch(const nor_variational *work, nor_scratch *s) {
  const mc_data *data = work->data;
  const mc_host *host = work->set->host;
  const size_t k = (size_t) work->par->k;
  int most = 0;
  for (int i = 0; i < data->n; i++) most = (int) fmax(most, data->start[i + 1] - data->start[i]);
  const size_t size = k * (size_t) most + 1;
  int tallest = 0;
  for (int j = 0; j < data->m; j++)
    tallest = (int) fmax(tallest, work->column_start[j + 1] - work->column_start[j]);
  const size_t n_term = k * (size_t) tallest + 1;
  double **const entry[] = {&s->theta, &s->q, &s->leak, &s->leak_log,
                            &s->on,    &s->y, &s->f,    &s->slope};
  for (size_t a = 0; a < sizeof entry / sizeof entry[0]; a++)
    *entry[a] = host->alloc(host->ctx, size, sizeof(double));
  double **const term[] = {&s->scale, &s->offset, &s->rate, &s->term_y, &s->term_slope};
  for (size_t a = 0; a < sizeof term / sizeof term[0]; a++)
    *term[a] = host->alloc(host->ctx, n_term, sizeof(double));
  s->source = host->alloc(host->ctx, size, sizeof(int));
  s->first = host->alloc(host->ctx, (size_t) most + 1, sizeof(int));
  s->moved = host->alloc(host->ctx, (size_t) most + 1, 1);
  s->sum = host->alloc(host->ctx, k + 1, sizeof(double));
  if (work->par->share) s->zeros = nor_new_zero_row(&work->recorded, host);
}

/* Lists the live sources of a row's ones contiguously. */
static void lay_out(const nor_variational *work, int i, nor_scratch *s) {
  const mc_data *data = work->data;
  const int k = work->par->k, from = data->start[i];
  s->n_one = data->start[i + 1] - from;
  s->first[0] = 0;
  for (int e = 0; e < s->n_one; e++) {
    const int j = data->column[from + e];
    const double *theta = work->var->links + num_at(0, j, k);
    const double *q = work->var->q + num_at(0, from + e, k);
    int at = s->first[e];
    for (int l = 0; l < work->n_live[j]; l++, at++) {
      const int c = work->live[num_at(l, j, k)];
      s->source[at] = c;
      s->theta[at] = theta[c];
      s->q[at] = q[c];
      s->leak[at] = work->var->leak[j];
      s->leak_log[at] = work->leak_log[j];
    }
    s->first[e + 1] = at;
    s->moved[e] = false;
  }
}

/* y = theta0 + u with u = theta / q. */
NUM_HOT static void add_share(const double *leak, const double *theta, const double *q, double *y,
                              int n) {
  for (int at = 0; at < n; at++) {
    const double sum = leak[at] + theta[at] / q[at];
    y[at] = sum < FAR ? sum : FAR; /* also where q is 0 */
  }
}

/* f(y) and f'(y) of all sources at all ones. */
static void evaluate(nor_scratch *s) {
  const int n = s->first[s->n_one];
  add_share(s->leak, s->theta, s->q, s->y, n);
  num_log1mexp(s->y, s->f, s->slope, n);
}

/* Subtracts a row's cells that are not zeros from the sums over zeros: theta, and the leak's. */
static void row_zeros(const nor_variational *work, int i, double *off) {
  const mc_data *data = work->data;
  const int k = work->par->k;
  for (int c = 0; c <= k; c++) off[c] = work->all_off[c];
  const int n_one = data->start[i + 1] - data->start[i], n_missing = data_n_missing(data, i);
  for (int e = 0; e < n_one + n_missing; e++) {
    const int j = e < n_one ? data->column[data->start[i] + e]
                            : data->na_column[data->na_start[i] + e - n_one];
    for (int l = 0; l < work->n_live[j]; l++) {
      const int c = work->live[num_at(l, j, k)];
      off[c] -= work->var->links[num_at(c, j, k)];
    }
    off[k] -= work->var->leak[j];
  }
}

static double safe_prior(const nor_variational *work, int c) {
  return fmin(fmax(work->par->prior[c], NOR_LEAST_PRIOR), 1 - NOR_LEAST_PRIOR);
}

/* E-step of a row, eq. (2.7) with the bound (2.8): computes its bound and its activation. */
static double activate(nor_variational *work, int i, nor_scratch *s) {
  const int k = work->par->k, from = work->data->start[i];
  double *sum = s->sum, *activation = work->activation + num_at(0, i, k), off = 0;
  if (work->par->share)
    memset(sum, 0, (size_t) (k + 1) * sizeof *sum);
  else
    row_zeros(work, i, sum);
  double bound = -sum[k];
  for (int c = 0; c < k; c++) {
    off += log1p(-safe_prior(work, c));
    sum[c] = log(safe_prior(work, c)) - log1p(-safe_prior(work, c)) - sum[c];
  }
  for (int e = 0; e < s->n_one; e++) bound += work->leak_log[work->data->column[from + e]];
  evaluate(s);
  for (int at = 0; at < s->first[s->n_one]; at++)
    sum[s->source[at]] += s->q[at] * (s->f[at] - s->leak_log[at]);
  if (work->par->share)
    return bound +
           nor_activate_recorded(&work->recorded, i, sum, off, work->move_q, &s->zeros, activation);
  for (int c = 0; c < k; c++) {
    const double rest = exp(-fabs(sum[c]));
    bound += fmax(sum[c], 0) + log1p(rest);
    activation[c] = (sum[c] > 0 ? 1 : rest) / (1 + rest);
  }
  return bound + off;
}

/* q <s> g'(q), g'(q) = f(theta0 + u) - u f'(theta0 + u) - f(theta0), or 0 if negative; stored in f. */
NUM_HOT static void rise_of_q(const nor_scratch *s, bool root, int n) {
  const double *on = s->on, *y = s->y, *leak = s->leak, *leak_log = s->leak_log, *q = s->q;
  const double *slope = s->slope;
  double *f = s->f;
  NUM_OMP(simd)
  for (int at = 0; at < n; at++) {
    const double g = on[at] * (f[at] - (y[at] - leak[at]) * slope[at] - leak_log[at]);
    f[at] = g > 0 ? g : 0;
  }
  if (root)
    for (int at = 0; at < n; at++) f[at] = sqrt(f[at]);
  NUM_OMP(simd)
  for (int at = 0; at < n; at++) f[at] *= q[at];
}

/* One step of eq. (3.12) at all ones: q <- q (<s> g'(q))^eta, normalised; unchanged if all are 0. */
static void step_q(nor_scratch *s, bool root) {
  const double *next = s->f;
  evaluate(s);
  rise_of_q(s, root, s->first[s->n_one]);
  for (int e = 0; e < s->n_one; e++) {
    double sum = 0;
    for (int at = s->first[e]; at < s->first[e + 1]; at++) sum += next[at];
    if (!(sum > 0)) continue;
    s->moved[e] = true; /* by division: the inverse of a tiny sum may be infinite */
    for (int at = s->first[e]; at < s->first[e + 1]; at++) s->q[at] = next[at] / sum;
  }
}

static void take_q(nor_variational *work, int i, const nor_scratch *s) {
  const int k = work->par->k;
  for (int e = 0; e < s->n_one; e++) {
    if (!s->moved[e]) continue;
    double *q = work->var->q + num_at(0, work->data->start[i] + e, k);
    memset(q, 0, (size_t) k * sizeof *q);
    for (int at = s->first[e]; at < s->first[e + 1]; at++) q[s->source[at]] = s->q[at];
  }
}

/* Scanner for mc_scan(): E-step and steps of q of b rows. */
static void scan_rows(void *self, int strip, int thread, int first, int b) {
  nor_variational *work = self;
  const nor_settings *set = work->set;
  nor_scratch *s = work->scratch + thread;
  for (int i = first; i < first + b; i++) {
    lay_out(work, i, s);
    work->bound[i] = activate(work, i, s);
    if (!work->move_q) continue;
    if (work->par->share)
      nor_count_zeros(&work->recorded, i, nor_weight(set, i), &s->zeros, work->sums + strip);
    const double *on = work->activation + num_at(0, i, work->par->k);
    for (int at = 0; at < s->first[s->n_one]; at++) s->on[at] = on[s->source[at]];
    for (int step = 0; step < set->q_steps; step++)
      step_q(s, set->q_rule == NOR_DAMPED || (set->q_rule == NOR_ALTERNATE && step % 2 == 0));
    take_q(work, i, s);
  }
}

/*
 * Roots for the links and the leak of a column. The ones' part of a slope of the bound decreases
 * and is log-convex in its parameter, because f' and sums of such functions are; it must equal the
 * number of zeros. Newton's steps for its logarithm increase to the root from the left, and a step
 * from the right lands left of it. The logarithm is nearly linear, so a few steps suffice.
 */
#define FURTHEST 700.      /* f' is nothing beyond */
#define LEAST_SHARE 1e-100 /* f' is nothing at theta / q, and 1 / q stays finite */
#define MOST_STEPS 200
#define NEAR_ENOUGH 1e-9 /* a relative step whose square is below rounding */

/* The ones' part of a slope of the bound, and its derivative. */
typedef struct {
  double value, derivative;
} slope;

/* The ones' part: the sum of scale f'(offset + rate theta) over n terms, and of the prior. */
typedef struct {
  nor_scratch *s;
  int n;
  double zeros; /* expected, with the source on; the leak's: of the column; with the prior's */
} problem;

static void add_term(problem *p, double scale, double offset, double rate) {
  nor_scratch *s = p->s;
  s->scale[p->n] = scale;
  s->offset[p->n] = offset;
  s->rate[p->n++] = rate;
}

NUM_HOT static void arguments(const nor_scratch *s, double theta, double *y, int n) {
  const double *offset = s->offset, *rate = s->rate;
  NUM_OMP(simd)
  for (int t = 0; t < n; t++) {
    const double at = offset[t] + rate[t] * theta;
    y[t] = at < FURTHEST ? at : FURTHEST;
  }
}

/* f'' = -f' (1 + f'). */
static slope slope_at(const problem *p, double theta) {
  nor_scratch *s = p->s;
  double *y = s->term_y, *f = s->term_slope;
  slope sum = {0, 0};
  arguments(s, theta, y, p->n);
  num_log1mexp_slope(y, f, p->n);
  for (int t = 0; t < p->n; t++) {
    const double part = s->scale[t] * f[t];
    sum.value += part;
    sum.derivative -= s->rate[t] * part * (1 + f[t]);
  }
  return sum;
}

/* Eq. (3.13): terms <s> f'(theta0 + theta / q) at ones; returns the sum of <s> over ones with q > 0. */
static double gather_link_terms(const nor_variational *work, int j, int c, problem *p) {
  const int k = work->par->k;
  double ones = 0;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++) {
    const double q = work->var->q[num_at(c, work->column_place[e], k)];
    const int i = work->column_row[e];
    const double on = work->activation[num_at(c, i, k)] * nor_weight(work->set, i);
    if (!(q > 0)) continue;
    ones += on;
    if (on > 0 && q > LEAST_SHARE) add_term(p, on, work->var->leak[j], 1 / q);
  }
  if (work->set->links.one > 0) add_term(p, work->set->links.one, 0, 1);
  return ones;
}

/* Eq. (3.14), simplified by sum_c q_c = 1. */
static void gather_leak_terms(const nor_variational *work, int j, problem *p) {
  const int k = work->par->k, n_live = work->n_live[j];
  const int *live = work->live + num_at(0, j, k);
  double bare = work->set->leak.one;
  for (int e = work->column_start[j]; e < work->column_start[j + 1]; e++) {
    const double *q = work->var->q + num_at(0, work->column_place[e], k);
    const int i = work->column_row[e];
    const double weight = nor_weight(work->set, i);
    double rest = 1;
    for (int l = 0; l < n_live; l++) {
      const int c = live[l];
      const double on = work->activation[num_at(c, i, k)] * q[c];
      const double link = work->var->links[num_at(c, j, k)];
      if (on <= 0 || link <= 0) continue;
      rest -= on;
      add_term(p, weight * on, link / q[c], 1);
    }
    bare += weight * fmax(rest, 0);
  }
  if (bare > 0) add_term(p, bare, 0, 1);
}

/* Finds where the ones' part equals the zeros, within [low, high], from a starting value inside. */
static double solve(const problem *p, double start, double low, double high) {
  const double target = log(p->zeros);
  double theta = fmin(fmax(start, low), high);
  for (int step = 0; step < MOST_STEPS; step++) {
    const slope here = slope_at(p, theta);
    double next = low; /* so far right that the ones' part vanishes */
    if (here.derivative < 0)
      next = theta + (log(here.value) - target) * here.value / -here.derivative;
    if (next <= low) next = low > 0 ? low : theta / 16; /* short of the edge, which was ruled out */
    if (next > high) next = high;
    if (fabs(next - theta) <= NEAR_ENOUGH * theta) return next;
    theta = next;
  }
  return theta;
}

static void solve_link(nor_variational *work, int j, int c, problem *p) {
  const ptrdiff_t at = num_at(c, j, work->par->k);
  const nor_beta beta = work->set->links;
  double *theta = work->var->links + at;
  p->n = 0;
  p->zeros = work->off[at] + beta.zero;
  const double ones = gather_link_terms(work, j, c, p);
  if (beta.one <= 0) {
    if (ones <= 0 && p->zeros <= 0) return; /* no information */
    /* The shut-off rule: the slope decreases from 0 on. */
    if (ones * nor_on_slope(work->var->leak[j]) <= p->zeros) {
      *theta = 0;
      return;
    }
  }
  /* f' is below 1e-13 at the upper end: the root lies beyond it only without zeros. */
  if (p->zeros <= 1e-13 * (ones + beta.one) && slope_at(p, NOR_MOST_THETA).value >= p->zeros)
    *theta = NOR_MOST_THETA;
  else
    *theta = solve(p, *theta, 0, NOR_MOST_THETA);
}

/* Roots of eqs. (3.13), (3.14): links of column j at its old leak, then the leak. */
static void solve_column(nor_variational *work, int j) {
  const int k = work->par->k;
  problem p = {.s = work->scratch + num_thread()};
  nor_update_taxon(work->set, work->sums, work->par, j);
  if (work->totals.seen[j] <= 0) return; /* a column with nothing observed */
  for (int l = 0; l < work->n_live[j]; l++) solve_link(work, j, work->live[num_at(l, j, k)], &p);
  p.n = 0;
  p.zeros = work->zeros[j] + work->set->leak.zero;
  gather_leak_terms(work, j, &p);
  double *leak = work->var->leak + j;
  if (slope_at(&p, NOR_LEAST_LEAK).value <= p.zeros)
    *leak = NOR_LEAST_LEAK;
  else if (slope_at(&p, NOR_MOST_THETA).value >= p.zeros)
    *leak = NOR_MOST_THETA;
  else
    *leak = solve(&p, *leak, NOR_LEAST_LEAK, NOR_MOST_THETA);
}

#define BLOCK_ROWS 64
#define LEAST_MOVED 1e-10 /* where a prior lifts links off 0, they start from here */

void nor_to_theta(const nor_param *par, int m, const nor_settings *set, nor_theta *var) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++) {
    const bool lifted = set->links.one > 0 && nor_allowed(set, at);
    const double theta = fmin(-log1p(-par->links[at]), NOR_MOST_THETA);
    var->links[at] = lifted ? fmax(theta, LEAST_MOVED) : fmax(theta, 0);
  }
  for (int j = 0; j < m; j++)
    var->leak[j] = fmax(fmin(-log1p(-par->leak[j]), NOR_MOST_THETA), NOR_LEAST_LEAK);
}

void nor_from_theta(const nor_theta *var, int m, nor_param *par) {
  for (ptrdiff_t at = 0; at < (ptrdiff_t) par->k * m; at++)
    par->links[at] = -expm1(-var->links[at]);
  for (int j = 0; j < m; j++) par->leak[j] = -expm1(-var->leak[j]);
}

/* Lists the ones of each column, by a counting sort. */
static void index_columns(nor_variational *work) {
  const mc_data *data = work->data;
  int *start = work->column_start;
  for (int e = 0; e < data->start[data->n]; e++) start[data->column[e] + 1]++;
  for (int j = 0; j < data->m; j++) start[j + 1] += start[j];
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++) {
      const int at = start[data->column[e]]++;
      work->column_place[at] = e;
      work->column_row[at] = i;
    }
  for (int j = data->m; j > 0; j--) start[j] = start[j - 1];
  start[0] = 0;
}

nor_variational *nor_new_variational(const mc_data *data, nor_param *par, nor_theta *var,
                                     const nor_settings *set) {
  const mc_host *host = set->host;
  const size_t k = (size_t) par->k, m = (size_t) data->m, n = (size_t) data->n;
  const size_t n_one = (size_t) data->start[data->n];
  nor_variational *work = host->alloc(host->ctx, 1, sizeof *work);
  memset(work, 0, sizeof *work);
  work->data = data;
  work->par = par;
  work->var = var;
  work->set = set;
  work->totals = nor_count(data, set);
  work->strips = num_new_strips(data->n, BLOCK_ROWS, set->n_threads);
  work->columns = num_new_strips(data->m, 1, work->strips.n_threads);
  work->activation = host->alloc(host->ctx, n * k, sizeof(double));
  work->bound = host->alloc(host->ctx, n, sizeof(double));
  work->all_off = host->alloc(host->ctx, k + 1, sizeof(double));
  work->n_live = host->alloc(host->ctx, m, sizeof(int));
  work->live = host->alloc(host->ctx, k * m, sizeof(int));
  work->leak_log = host->alloc(host->ctx, m, sizeof(double));
  work->column_start = host->alloc(host->ctx, m + 1, sizeof(int));
  work->column_place = host->alloc(host->ctx, n_one, sizeof(int));
  work->column_row = host->alloc(host->ctx, n_one, sizeof(int));
  work->off = host->alloc(host->ctx, k * m, sizeof(double));
  work->zeros = host->alloc(host->ctx, m, sizeof(double));
  index_columns(work);
  if (par->share) {
    work->recorded = nor_new_zeros(data, par, var, set);
    for (int s = 0; s < work->strips.n_strip; s++) work->sums[s] = nor_new_sums(data, par, host);
  }
  work->scratch = host->alloc(host->ctx, (size_t) work->strips.n_threads, sizeof(nor_scratch));
  for (int t = 0; t < work->strips.n_threads; t++) new_scratch(work, work->scratch + t);
  return work;
}

/* Computes sums and shortcuts at the current parameters. */
static void make_ready(nor_variational *work) {
  const int k = work->par->k;
  memset(work->all_off, 0, (size_t) (k + 1) * sizeof(double));
  for (int j = 0; j < work->data->m; j++) {
    work->n_live[j] = 0;
    for (int c = 0; c < k; c++) {
      const double theta = work->var->links[num_at(c, j, k)];
      if (theta <= 0) continue;
      work->live[num_at(work->n_live[j]++, j, k)] = c;
      work->all_off[c] += theta;
    }
    work->all_off[k] += work->var->leak[j];
    work->leak_log[j] = nor_log_on(work->var->leak[j]).f;
  }
  if (!work->par->share) return;
  nor_ready_zeros(&work->recorded);
  for (int s = 0; s < work->strips.n_strip; s++) nor_clear_sums(work->sums + s, k, work->data->m);
}

/* Computes activations, bounds, and if requested the steps of q. Returns NaN if stopped. */
static double scan(nor_variational *work, bool move_q) {
  double bound = 0;
  work->move_q = move_q;
  make_ready(work);
  if (!mc_scan(work->set->host, work->iterations, work->objective, &work->strips, scan_rows, work))
    return NAN;
  for (int i = 0; i < work->data->n; i++) bound += nor_weight(work->set, i) * work->bound[i];
  nor_from_theta(work->var, work->data->m, work->par);
  return nor_objective(work->set, work->par, work->data->m, bound);
}

/* Eq. (3.15). */
static void update_prior(nor_variational *work) {
  const int k = work->par->k;
  double *on = work->scratch[0].sum;
  memset(on, 0, (size_t) k * sizeof(double));
  for (int i = 0; i < work->data->n; i++)
    for (int c = 0; c < k; c++)
      on[c] += nor_weight(work->set, i) * work->activation[num_at(c, i, k)];
  nor_update_prior(work->set, on, work->totals.rows, work->par);
  for (int c = 0; c < k; c++)
    work->par->prior[c] = fmin(fmax(work->par->prior[c], NOR_LEAST_PRIOR), 1 - NOR_LEAST_PRIOR);
}

/* Expected numbers of zeros with a source on: those of rows minus ones and missing cells. */
static void count_off(nor_variational *work) {
  const mc_data *data = work->data;
  const int k = work->par->k;
  double *on = work->scratch[0].sum;
  memset(on, 0, (size_t) k * sizeof(double));
  memset(work->off, 0, (size_t) k * (size_t) data->m * sizeof(double));
  memcpy(work->zeros, work->totals.seen, (size_t) data->m * sizeof(double));
  for (int i = 0; i < data->n; i++) {
    const double weight = nor_weight(work->set, i);
    const double *active = work->activation + num_at(0, i, k);
    const int n_one = data->start[i + 1] - data->start[i], n_missing = data_n_missing(data, i);
    for (int c = 0; c < k; c++) on[c] += weight * active[c];
    for (int e = 0; e < n_one + n_missing; e++) {
      const int j = e < n_one ? data->column[data->start[i] + e]
                              : data->na_column[data->na_start[i] + e - n_one];
      for (int c = 0; c < k; c++) work->off[num_at(c, j, k)] -= weight * active[c];
      if (e < n_one) work->zeros[j] -= weight;
    }
  }
  for (int j = 0; j < data->m; j++)
    for (int c = 0; c < k; c++) {
      double *off = work->off + num_at(c, j, k);
      *off += on[c];
      if (*off < 1e-13 * on[c]) *off = 0; /* rounding error of a difference */
    }
}

/* Eqs. (R12), (R13). */
static void gather_zeros(nor_variational *work) {
  const int k = work->par->k, m = work->data->m;
  nor_sums *sums = work->sums;
  for (int s = 1; s < work->strips.n_strip; s++) nor_add_sums(sums, work->sums + s, k, m);
  memcpy(work->zeros, sums->leak_fired, (size_t) m * sizeof(double));
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) work->off[num_at(c, j, k)] = sums->fired[num_at(j, c, m)];
}

static void solve_columns(void *self, int strip, int thread, int first, int b) {
  (void) strip;
  (void) thread;
  for (int j = first; j < first + b; j++) solve_column(self, j);
}

static double pass(void *self) {
  nor_variational *work = self;
  const double value = scan(work, true);
  if (!isfinite(value)) return value;
  if (!work->set->fixed) {
    if (work->par->share)
      gather_zeros(work);
    else
      count_off(work);
    if (!mc_scan(work->set->host, work->iterations, value, &work->columns, solve_columns, work))
      return NAN;
    update_prior(work);
    nor_update_share(work->set, work->sums, work->par, work->data->m);
  }
  work->iterations++;
  return work->objective = value;
}

static double objective(void *self) { return scan(self, false); }

static void guard(double *theta, const double *safe, ptrdiff_t n, double least) {
  for (ptrdiff_t at = 0; at < n; at++) {
    const double low = fmax(safe[at] / 5, least);
    const double high = NOR_MOST_THETA - (NOR_MOST_THETA - safe[at]) / 5;
    theta[at] = safe[at] <= 0 ? 0 : fmin(fmax(theta[at], low), high);
  }
}

/* Keeps q on the simplex, and its exact zeros. */
static void guard_q(double *q, const double *safe, ptrdiff_t n_one, int k) {
  for (ptrdiff_t e = 0; e < n_one; e++) {
    double *at = q + num_at(0, e, k), sum = 0;
    const double *low = safe + num_at(0, e, k);
    for (int c = 0; c < k; c++) {
      at[c] = low[c] > 0 ? fmax(at[c], low[c] / 5) : 0;
      sum += at[c];
    }
    for (int c = 0; c < k; c++) at[c] /= sum;
  }
}

static void feasible(void *self, const double *const *safe) {
  nor_variational *work = self;
  const nor_param *par = work->par;
  const ptrdiff_t k = par->k, m = work->data->m;
  int b = 3; /* the first block that is not always there */
  num_guard_unit(par->prior, safe[0], k);
  guard(work->var->links, safe[1], k * m, 0);
  guard(work->var->leak, safe[2], m, NOR_LEAST_LEAK);
  if (par->share) num_guard_simplex(par->share, safe[b++], 1, NOR_GRID);
  if (par->taxon) num_guard_unit(par->taxon, safe[b++], m);
  if (par->coef) b++; /* of any size */
  guard_q(work->var->q, safe[b++], work->data->start[work->data->n], (int) k);
  if (par->share) num_guard_unit(work->var->on, safe[b], k * NOR_GRID * work->data->n);
}

mc_model nor_variational_model(nor_variational *work) {
  const ptrdiff_t k = work->par->k;
  mc_model model = {.pass = pass, .objective = objective, .feasible = feasible, .self = work};
  nor_blocks(work->par, work->data->m, &model);
  model.block[1] = work->var->links;
  model.block[2] = work->var->leak;
  mc_add_block(&model, work->var->q, k * work->data->start[work->data->n]);
  mc_add_block(&model, work->var->on, k * NOR_GRID * work->data->n);
  return model;
}

void nor_variational_rows(nor_variational *work, double *activation, double *bound) {
  const int n = work->data->n, k = work->par->k;
  scan(work, false);
  for (int i = 0; i < n; i++) {
    bound[i] = work->bound[i];
    for (int c = 0; c < k; c++) activation[num_at(i, c, n)] = work->activation[num_at(c, i, k)];
  }
}
