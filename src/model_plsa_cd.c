/*
 * model_plsa_cd.c: coordinate descent for PLSA by maximum likelihood. With h =
 * row total x membership, PLSA is the Poisson factorisation with means h basis
 * at its best row scales, so a step that raises the Poisson likelihood raises
 * PLSA's, and scaling the rows back to the simplex raises it once more.
 *
 * Each row of h, and each column of the basis, is a concave problem
 *   max_x>=0  sum_e v[e] log(sum_c x[c] g[c,e]) - sum_c linear[c] x[c].
 */
#include <math.h>
#include <string.h>

#include "model_plsa.h"
#include "num_rows.h"

#define LEAST_SHARE 0.02 /* a step leaves at least this share of a coordinate: none ends at 0 */
#define BLOCK_ROWS 64

typedef struct {
  double *gathered; /* k x longest, the e-th cell's value of each component: g transposed */
  double *p, *q, *vq; /* longest: mean, its inverse, count / mean */
} cd_scratch;

/* One side's cells: those of mc_data by row or by column. */
typedef struct {
  const int *start, *other;
  const double *value;
} cd_side;

struct plsa_cd {
  const mc_host *host;
  cd_side row, column;
  num_strips rows, columns;
  cd_scratch *scratch;     /* one a thread */
  double *scaled;          /* k x n: h */
  double *linear;          /* k */
  double *total;           /* n: row sums of x */
  double loglik[NUM_MAX_STRIP];
  int passes;
  double objective;
};

static void *get(const mc_host *host, size_t count, size_t size) {
  return host->alloc(host->ctx, count, size);
}

/* The same cells by columns. */
static cd_side transpose(const mc_data *data, const mc_host *host) {
  const int n_cell = data->start[data->n], m = data->m;
  int *start = get(host, (size_t) m + 2, sizeof(int));
  int *row = get(host, (size_t) n_cell, sizeof(int));
  double *value = data->value ? get(host, (size_t) n_cell, sizeof(double)) : NULL;
  for (int e = 0; e < n_cell; e++) start[data->column[e] + 2]++;
  for (int j = 0; j <= m; j++) start[j + 1] += start[j];
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++) {
      const int to = start[data->column[e] + 1]++;
      row[to] = i;
      if (value) value[to] = data->value[e];
    }
  const cd_side out = {start, row, value};
  return out;
}

static int longest(const cd_side *side, int n) {
  int most = 0;
  for (int i = 0; i < n; i++) {
    const int length = side->start[i + 1] - side->start[i];
    if (length > most) most = length;
  }
  return most;
}

plsa_cd *plsa_new_cd(const mc_data *data, int k, int n_threads, const mc_host *host) {
  plsa_cd *cd = get(host, 1, sizeof *cd);
  memset(cd, 0, sizeof *cd);
  cd->host = host;
  cd->row = (cd_side){data->start, data->column, data->value};
  cd->column = transpose(data, host);
  cd->rows = num_new_strips(data->n, BLOCK_ROWS, n_threads);
  cd->columns = num_new_strips(data->m, BLOCK_ROWS, n_threads);
  cd->scaled = get(host, (size_t) k * (size_t) data->n, sizeof(double));
  cd->linear = get(host, (size_t) k, sizeof(double));
  cd->total = get(host, (size_t) data->n, sizeof(double));
  for (int i = 0; i < data->n; i++)
    for (int e = data->start[i]; e < data->start[i + 1]; e++)
      cd->total[i] += data->value ? data->value[e] : 1;
  const int by_row = longest(&cd->row, data->n), by_column = longest(&cd->column, data->m);
  const size_t most = (size_t) (by_row > by_column ? by_row : by_column);
  const int n_scratch =
      cd->rows.n_threads > cd->columns.n_threads ? cd->rows.n_threads : cd->columns.n_threads;
  cd->scratch = get(host, (size_t) n_scratch, sizeof *cd->scratch);
  for (int t = 0; t < n_scratch; t++) {
    cd_scratch *s = cd->scratch + t;
    s->gathered = get(host, (size_t) k * most, sizeof(double));
    s->p = get(host, most, sizeof(double));
    s->q = get(host, most, sizeof(double));
    s->vq = get(host, most, sizeof(double));
  }
  return cd;
}

/* Gathers g and makes the means of one problem. */
static void gather(const double *g, const double *x, int k, const int *other, int r, cd_scratch *s) {
  for (int e = 0; e < r; e++) {
    const double *from = g + num_at(0, other[e], k);
    double p = 0;
    for (int c = 0; c < k; c++) {
      s->gathered[num_at(e, c, r)] = from[c];
      p += x[c] * from[c];
    }
    s->p[e] = p;
  }
}

static void invert(const double *v, int r, cd_scratch *s) {
  if (v) {
#pragma omp simd
    for (int e = 0; e < r; e++) s->vq[e] = v[e] * (s->q[e] = 1 / s->p[e]);
  } else {
#pragma omp simd
    for (int e = 0; e < r; e++) s->vq[e] = s->q[e] = 1 / s->p[e];
  }
}

static void move(double change, const double *g, const double *v, int r, cd_scratch *s) {
  num_add_scaled(s->p, change, g, r);
  invert(v, r, s);
}

/* sum_e v g^2 / p^2 */
static double curvature(const double *g, int r, const cd_scratch *s) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int e = 0; e < r; e++) sum += s->vq[e] * s->q[e] * g[e] * g[e];
  return sum;
}

/*
 * One coordinate x. The gradient pull - linear, pull(x) = sum v g / p, falls and
 * is convex in x, and 1 / pull is concave: Newton's step on it never goes too
 * far up. Down it may; by the trapezoid rule it still gains where the gradient
 * beyond is no larger than the one it left, else the EM step, which never goes
 * too far, is taken.
 */
static void step_coordinate(double *x, double linear, const double *g, const double *v, int r,
                            cd_scratch *s) {
  const double pull = num_dot(s->vq, g, r), floor = fmax(LEAST_SHARE * *x, NUM_TINY);
  if (pull <= linear && *x <= floor) return;
  const double bend = curvature(g, r, s);
  double next = bend > 0 ? *x + pull / linear * (pull - linear) / bend : floor;
  if (!(next > floor)) next = floor;
  const double change = next - *x;
  if (fabs(change) <= 1e-13 * *x) return;
  move(change, g, v, r, s);
  if (change < 0 && num_dot(s->vq, g, r) - linear > linear - pull) {
    const double safe = fmax(*x * pull / linear, floor);
    move(safe - next, g, v, r, s);
    next = safe;
  }
  *x = next;
}

static void solve(double *x, const double *linear, int k, const double *v, int r, cd_scratch *s) {
  invert(v, r, s);
  for (int c = 0; c < k; c++)
    if (linear[c] > 0) step_coordinate(x + c, linear[c], s->gathered + num_at(0, c, r), v, r, s);
}

typedef struct {
  const mc_data *data;
  plsa_param *par;
  plsa_cd *cd;
} walk;

/* sum v log p of a row at the parameters given. */
static double row_loglik(const double *v, int r, double total, const cd_scratch *s) {
  double sum = 0;
  for (int e = 0; e < r; e++) sum += (v ? v[e] : 1) * log(s->p[e]);
  return sum - total * log(total);
}

static void do_block_rows(void *ctx, int strip, int thread, int first, int b) {
  const walk *w = ctx;
  plsa_cd *cd = w->cd;
  const int k = w->par->k;
  cd_scratch *s = cd->scratch + thread;
  double *rows = cd->scaled + num_at(0, first, k);
  num_copy_rows(w->par->membership, w->data->n, first, b, k, rows);
  for (int i = first; i < first + b; i++) {
    const int from = cd->row.start[i], r = cd->row.start[i + 1] - from;
    const double *v = cd->row.value ? cd->row.value + from : NULL;
    double *x = cd->scaled + num_at(0, i, k);
    for (int c = 0; c < k; c++) x[c] *= cd->total[i];
    if (r == 0 || cd->total[i] <= 0) continue;
    gather(w->par->basis, x, k, cd->row.other + from, r, s);
    const double loglik = row_loglik(v, r, cd->total[i], s);
    cd->loglik[strip] += loglik;
    if (isfinite(loglik)) solve(x, cd->linear, k, v, r, s);
  }
}

static void do_block_columns(void *ctx, int strip, int thread, int first, int b) {
  const walk *w = ctx;
  plsa_cd *cd = w->cd;
  const int k = w->par->k;
  (void) strip;
  for (int j = first; j < first + b; j++) {
    const int from = cd->column.start[j], r = cd->column.start[j + 1] - from;
    double *x = w->par->basis + num_at(0, j, k);
    if (r == 0) {
      memset(x, 0, (size_t) k * sizeof(double)); /* a column without counts has no probability */
      continue;
    }
    gather(cd->scaled, x, k, cd->column.other + from, r, cd->scratch + thread);
    solve(x, cd->linear, k, cd->column.value ? cd->column.value + from : NULL, r, cd->scratch + thread);
  }
}

/* Basis rows back to the simplex, their scale into h; then h to memberships. */
static void rescale(const walk *w) {
  const int n = w->data->n, m = w->data->m, k = w->par->k;
  double *scale = w->cd->linear;
  memset(scale, 0, (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) num_add_scaled(scale, 1, w->par->basis + num_at(0, j, k), k);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k; c++) {
      double *value = w->par->basis + num_at(c, j, k);
      if (scale[c] > 0) *value = num_lift(*value / scale[c]);
    }
  for (int i = 0; i < n; i++) {
    double *x = w->cd->scaled + num_at(0, i, k), sum = 0;
    for (int c = 0; c < k; c++) sum += x[c] *= scale[c];
    for (int c = 0; c < k && sum > 0; c++) w->par->membership[num_at(i, c, n)] = num_lift(x[c] / sum);
  }
}

double plsa_cd_pass(const mc_data *data, plsa_param *par, plsa_cd *cd) {
  walk w = {data, par, cd};
  double loglik = 0;
  memset(cd->loglik, 0, sizeof cd->loglik);
  for (int c = 0; c < par->k; c++) cd->linear[c] = 1;
  if (!num_visit(&cd->rows, do_block_rows, &w, cd->host, cd->passes, cd->objective)) return NAN;
  for (int s = 0; s < cd->rows.n_strip; s++) loglik += cd->loglik[s];
  if (!par->fixed_basis && data->start[data->n] > 0) {
    memset(cd->linear, 0, (size_t) par->k * sizeof(double));
    for (int i = 0; i < data->n; i++)
      num_add_scaled(cd->linear, 1, cd->scaled + num_at(0, i, par->k), par->k);
    if (!num_visit(&cd->columns, do_block_columns, &w, cd->host, cd->passes, cd->objective))
      return NAN;
  }
  rescale(&w);
  cd->passes++;
  return cd->objective = loglik;
}
