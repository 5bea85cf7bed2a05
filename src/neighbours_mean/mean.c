#include "neighbours_mean/mean.h"

#include <math.h>

#include "neighbours_mean/subsets.h"
#include "num/threads.h"
#include "num/vector.h"

#define TINY 1e-300
#define LEAST 1e-9 /* of a probability, in a log-likelihood */

/* Sums over neighbours, for one attribute, with weights of three kinds. */
typedef struct {
  double found;        /* sum of w x, with the row's complete list */
  double unknown;      /* sum of w (1 - o) */
  double found_hidden; /* sum of w x, with the list without this attribute, which l shares */
  double unknown_rest; /* sum of w (1 - o), with the list shorter by an attribute that l does not
                          share */
  double more;         /* sum of w x of found_hidden, minus that of unknown_rest's lists */
  double squares_more; /* the same of w^2 x */
} sums;

typedef struct {
  double all, squares;         /* sums of w and of w^2 */
  double scale;                /* effective number of neighbours over the weight of all */
  double least, least_squares; /* sums of w and of w^2, if no row shared anything */
  double rest, rest_squares;   /* corrections of these to the sums with a list shorter by one */
} totals;

typedef struct {
  sums *of;   /* m */
  bool *mine; /* m: is it on the list of the row? */
  bool *own;  /* m: is the row of the table, and this cell of it known? */
  int *both;  /* m + 1: those of a neighbour that are on the list, too */
  bool *seen; /* n: is it among those met? False between rows */
  int *met;   /* n: rows of the table that share any */
  nbm_subset_sums subsets;
} scratch;

typedef struct {
  const nbm_table *table;
  const nbm_rows *rows;
  mc_data columns;       /* the table by columns */
  nbm_subsets *subsets;  /* NULL: all pairs of rows are compared */
  double n;              /* observations */
  double *found, *known; /* m: presences and known cells of each attribute */
  double *root;          /* n: 1 / sqrt(length of the list), 1 for an empty one */
  double density;        /* share of presences among known cells */
  double apart;          /* weight of a neighbour that shares nothing, over its base weight */
  scratch *per_thread;
  double *p;
} task;

static int list_length(const mc_data *data, int i) { return data->start[i + 1] - data->start[i]; }

static double one_over_root(int length) { return length > 0 ? 1 / sqrt(length) : 1; }

#define MOST_SQUARED 10 /* whole powers up to this by squares */

static inline double power(double x, double exponent) {
  if (exponent == 2) return x * x;
  if (exponent > MOST_SQUARED || exponent != (int) exponent) return pow(x, exponent);
  double out = 1;
  for (int left = (int) exponent; left > 0; left >>= 1) {
    if (left & 1) out *= x;
    x *= x;
  }
  return out;
}

/* 1 / sqrt(length of the row's list), and of a list shorter by one. */
typedef struct {
  double root, less;
} row_roots;

/* A row of the table as a neighbour. */
typedef struct {
  int l;
  double base;    /* weight */
  double counted; /* the weight already counted */
  double copies;
} neighbour;

static double copies_of(const nbm_table *table, int l) {
  return table->copies ? table->copies[l] : 1;
}

static void add_neighbour(const task *t, scratch *s, totals *sum, const neighbour *it,
                          row_roots own) {
  const nbm_table *table = t->table;
  const mc_data *data = table->data;
  const int l = it->l;
  const double base = it->base, counted = it->counted, copies = it->copies, apart = t->apart;
  int shared = 0;
  for (int e = data->start[l]; e < data->start[l + 1]; e++) {
    s->both[shared] = data->column[e];
    shared += s->mine[data->column[e]];
  }
  const double q = table->similarity, floor = table->floor, root = t->root[l];
  const double less = root * own.less;
  const double w = base * power(shared * root * own.root + floor, q);
  const double hidden = base * power((shared > 0 ? shared - 1 : 0) * less + floor, q);
  const double rest = base * power(shared * less + floor, q);
  const double more = copies * (w - counted), more_rest = copies * (rest - counted);
  const double of_hidden = copies * hidden, least = base * apart;
  const double above = copies * (rest - least);
  const double squares_above = copies * (rest * rest - least * least);
  /* Differences from the least, as in the totals: if no other row shares anything, they cancel exactly. */
  const double above_more = copies * (hidden - least) - above;
  const double squares_more = copies * (hidden * hidden - least * least) - squares_above;
  sum->all += more;
  sum->squares += copies * (w * w - counted * counted);
  sum->rest += above;
  sum->rest_squares += squares_above;
  for (int e = data->start[l]; e < data->start[l + 1]; e++) s->of[data->column[e]].found += more;
  for (int e = 0; e < shared; e++) { /* the row's list without each of these */
    sums *of = s->of + s->both[e];
    of->found_hidden += of_hidden;
    of->more += above_more;
    of->squares_more += squares_more;
  }
  for (int e = 0; e < data_n_missing(data, l); e++) {
    sums *of = s->of + data->na_column[data->na_start[l] + e];
    of->unknown += more;
    of->unknown_rest += more_rest;
  }
}

/* Adds a neighbour if similarity is not used: holding out a presence changes no weight. */
static void add_plain(const task *t, scratch *s, totals *sum, int l, double w) {
  const mc_data *data = t->table->data;
  sum->all += w;
  sum->squares += w * w;
  for (int e = data->start[l]; e < data->start[l + 1]; e++) s->of[data->column[e]].found += w;
  for (int e = 0; e < data_n_missing(data, l); e++)
    s->of[data->na_column[data->na_start[l] + e]].unknown += w;
}

/* Sums over the listed neighbours, each row visited individually. */
static totals add_listed(const task *t, scratch *s, int r, row_roots roots) {
  const nbm_rows *rows = t->rows;
  totals sum = {0};
  for (int e = rows->start[r]; e < rows->start[r + 1]; e++) {
    const int l = rows->neighbour[e];
    if (t->table->similarity == 0) {
      add_plain(t, s, &sum, l, rows->weight[e]);
      continue;
    }
    const neighbour it = {l, rows->weight[e], 0, 1};
    const double least = it.base * t->apart;
    sum.least += least;
    sum.least_squares += least * least;
    add_neighbour(t, s, &sum, &it, roots);
  }
  return sum;
}

/* Sums over all observations except `own`; those that share nothing have equal weights and are
 * added jointly. */
static totals add_all(const task *t, scratch *s, int r, int own, row_roots roots) {
  const nbm_table *table = t->table;
  const mc_data *list = t->rows->data;
  const double apart = t->apart, others = t->n - (own >= 0);
  totals sum = {.all = others * apart, .least = others * apart};
  sum.squares = sum.least_squares = others * (apart * apart);
  int n_met = 0;
  for (int e = list->start[r]; e < list->start[r + 1]; e++) {
    const int j = list->column[e];
    for (int f = t->columns.start[j]; f < t->columns.start[j + 1]; f++) {
      const int l = t->columns.column[f];
      if (s->seen[l]) continue;
      s->seen[l] = true;
      s->met[n_met++] = l;
    }
  }
  for (int j = 0; j < table->data->m; j++) {
    s->of[j].found += apart * (t->found[j] - (own >= 0 && s->mine[j]));
    s->of[j].unknown += apart * (t->n - t->known[j]);
    s->of[j].unknown_rest += apart * (t->n - t->known[j]);
  }
  for (int e = 0; own >= 0 && e < data_n_missing(table->data, own); e++) {
    sums *of = s->of + table->data->na_column[table->data->na_start[own] + e];
    of->unknown -= apart;
    of->unknown_rest -= apart;
  }
  for (int e = 0; e < n_met; e++) {
    const int l = s->met[e];
    const neighbour it = {l, 1, apart, copies_of(table, l) - (l == own)};
    if (it.copies > 0) add_neighbour(t, s, &sum, &it, roots);
  }
  for (int e = 0; e < n_met; e++) s->seen[s->met[e]] = false;
  return sum;
}

/* What hiding a presence does to the weights of the rows that have it, from sums of u^k (t - 1)^q. */
static void add_hidden(const task *t, const double *single, const double *others, double less,
                       sums *of) {
  const double f = t->table->floor, two = less * less, three = two * less, four = two * two;
  const double y21 = others[0], y31 = others[1], y41 = others[2]; /* y_kq, q the power */
  const double y32 = y31 + 2 * others[3], y42 = y41 + 2 * others[4];
  const double y43 = y41 + 6 * others[4] + 6 * others[5];
  of->more = -(2 * f * less * single[0] + two * (2 * y21 + single[1]));
  of->squares_more = -(4 * (four * y43 + 3 * f * three * y32 + 3 * f * f * two * y21 +
                            f * f * f * less * single[0]) +
                       6 * (four * y42 + 2 * f * three * y31 + f * f * two * single[1]) +
                       4 * (four * y41 + f * three * single[2]) + four * single[3]);
}

/* Sums of weights and of their squares, less those of rows that share nothing. */
static void above_least(const task *t, const double *power, double root, double *sum,
                        double *squares) {
  const double f = t->table->floor, two = root * root;
  *sum = 2 * f * root * power[0] + two * power[1];
  *squares = 4 * f * f * f * root * power[0] + 6 * f * f * two * power[1] +
             4 * f * two * root * power[2] + two * two * power[3];
}

/* The row itself, out of sums over all rows of the table. */
static void leave_out(const task *t, scratch *s, totals *sum, int size, const int *list,
                      row_roots own) {
  const double f = t->table->floor, q = t->table->similarity, least = t->apart;
  const double w = power(size * own.root * own.root + f, q);
  const double rest = power(size * own.root * own.less + f, q);
  const double hidden = power((size > 0 ? size - 1 : 0) * own.root * own.less + f, q);
  sum->all -= w;
  sum->squares -= w * w;
  sum->rest -= rest - least;
  sum->rest_squares -= rest * rest - least * least;
  for (int e = 0; e < size; e++) {
    sums *of = s->of + list[e];
    of->found -= w;
    of->found_hidden -= hidden;
    of->more -= hidden - rest;
    of->squares_more -= hidden * hidden - rest * rest;
  }
}

/* Does the same as add_all(), by the sums that subsets of the list have. */
static totals add_subsets(const task *t, scratch *s, int r, int own, row_roots roots) {
  const mc_data *lists = t->rows->data;
  const double f = t->table->floor, apart = t->apart, others = t->n - (own >= 0);
  const int size = list_length(lists, r), *list = lists->column + lists->start[r];
  const nbm_subset_sums *by = &s->subsets;
  totals sum = {.least = others * apart, .least_squares = others * (apart * apart)};
  nbm_sum_subsets(t->subsets, size, list, &s->subsets);
  above_least(t, by->power, roots.root, &sum.all, &sum.squares);
  above_least(t, by->power, roots.less, &sum.rest, &sum.rest_squares);
  sum.all += t->n * apart;
  sum.squares += t->n * (apart * apart);
  for (int j = 0; j < lists->m; j++)
    s->of[j].found = apart * t->found[j] + 2 * f * roots.root * by->linear[j] +
                     roots.root * roots.root * by->square[j];
  for (int e = 0; e < size; e++) {
    sums *of = s->of + list[e];
    const double *single = nbm_subsets_single(t->subsets, list[e]),
                 *more = by->others + (ptrdiff_t) 6 * e;
    const double square = by->square[list[e]] - 2 * more[0] - single[1]; /* sum of u^2 (t - 1)^2 */
    of->found_hidden = apart * t->found[list[e]] +
                       2 * f * roots.less * (by->linear[list[e]] - single[0]) +
                       roots.less * roots.less * square;
    add_hidden(t, single, more, roots.less, of);
  }
  if (own >= 0) leave_out(t, s, &sum, size, list, roots);
  return sum;
}

/*
 * The mean, shrunk towards the attribute's share among the other observations that know it. That
 * share counts as one observation, and so does the share of all cells within it. Rounding must not
 * leave fewer neighbours that know the attribute than have it, because the mean would exceed 1.
 */
static double drawn(const task *t, const scratch *s, const totals *sum, int j, bool hide) {
  const double others = t->known[j] - s->own[j];
  const double rate = (t->found[j] - (s->own[j] && s->mine[j]) + t->density) / (others + 1);
  const sums *of = s->of + j;
  if (!hide) {
    const double known = fmax(sum->all - of->unknown, of->found);
    return (sum->scale * of->found + rate) / (sum->scale * known + 1);
  }
  /* Those with the attribute share one less; for the others the row's list is shorter by one. */
  const double total = fmax(sum->least + (sum->rest + of->more), TINY);
  const double squares = sum->least_squares + (sum->rest_squares + of->squares_more);
  const double scale = total / fmax(squares, TINY);
  const double known = fmax(total - of->unknown_rest, of->found_hidden);
  return (scale * of->found_hidden + rate) / (scale * known + 1);
}

static void do_row(const task *t, scratch *s, int r) {
  const nbm_rows *rows = t->rows;
  const mc_data *list = rows->data;
  const int own = rows->own ? rows->own[r] : -1, m = list->m, size = list_length(list, r);
  const bool listed = rows->start && rows->start[r + 1] > rows->start[r];
  for (int j = 0; j < m; j++) {
    s->of[j] = (sums){0};
    s->own[j] = own >= 0;
  }
  for (int e = 0; own >= 0 && e < data_n_missing(t->table->data, own); e++)
    s->own[t->table->data->na_column[t->table->data->na_start[own] + e]] = false;
  for (int e = list->start[r]; e < list->start[r + 1]; e++) s->mine[list->column[e]] = true;
  const row_roots roots = {one_over_root(size), one_over_root(size - 1)};
  totals sum = listed       ? add_listed(t, s, r, roots)
               : t->subsets ? add_subsets(t, s, r, own, roots)
                            : add_all(t, s, r, own, roots);
  sum.all = fmax(sum.all, TINY);
  sum.scale = sum.all / fmax(sum.squares, TINY);
  for (int j = 0; j < m; j++) {
    const bool hide = own >= 0 && s->mine[j] && t->table->similarity > 0;
    t->p[num_at(r, j, list->n)] = drawn(t, s, &sum, j, hide);
  }
  for (int e = list->start[r]; e < list->start[r + 1]; e++) s->mine[list->column[e]] = false;
}

static void scan(void *ctx, int strip, int thread, int first, int b) {
  const task *t = ctx;
  (void) strip;
  for (int i = first; i < first + b; i++) do_row(t, t->per_thread + thread, i);
}

/* Counts the observations, and for each attribute those that have it and those that know it. */
static void count_attributes(task *t) {
  const nbm_table *table = t->table;
  const mc_data *data = table->data;
  for (int i = 0; i < data->n; i++) t->n += copies_of(table, i);
  for (int j = 0; j < data->m; j++) {
    t->found[j] = 0;
    t->known[j] = t->n;
  }
  for (int i = 0; i < data->n; i++) {
    const double copies = copies_of(table, i);
    for (int e = data->start[i]; e < data->start[i + 1]; e++) t->found[data->column[e]] += copies;
    for (int e = 0; e < data_n_missing(data, i); e++)
      t->known[data->na_column[data->na_start[i] + e]] -= copies;
  }
}

bool nbm_means(const nbm_table *table, const nbm_rows *rows, int n_threads, const mc_host *host,
               double *p) {
  const int n = table->data->n, m = table->data->m;
  const num_strips strips = num_new_strips(rows->data->n, 16, n_threads);
  task t = {.table = table, .rows = rows, .columns = mc_transpose(table->data, host)};
  double found = 0, known = 0;
  t.p = p;
  t.apart = power(table->floor, table->similarity);
  t.found = mc_doubles(host, m, 1);
  t.known = mc_doubles(host, m, 1);
  t.root = mc_doubles(host, n, 1);
  t.per_thread = host->alloc(host->ctx, strips.n_threads, sizeof *t.per_thread);
  count_attributes(&t);
  for (int j = 0; j < m; j++) {
    found += t.found[j];
    known += t.known[j];
  }
  for (int i = 0; i < n; i++) t.root[i] = one_over_root(list_length(table->data, i));
  t.density = found / fmax(known, 1);
  t.subsets = nbm_new_subsets(table, rows, t.root, host);
  for (int thread = 0; thread < strips.n_threads; thread++) {
    scratch *s = t.per_thread + thread;
    *s = (scratch){.of = host->alloc(host->ctx, m, sizeof *s->of),
                   .mine = host->alloc(host->ctx, m, sizeof *s->mine),
                   .own = host->alloc(host->ctx, m, sizeof *s->own),
                   .both = host->alloc(host->ctx, m + 1, sizeof *s->both),
                   .seen = host->alloc(host->ctx, n, sizeof *s->seen),
                   .met = host->alloc(host->ctx, n, sizeof *s->met)};
    if (t.subsets) s->subsets = nbm_new_subset_sums(m, host);
    for (int j = 0; j < m; j++) s->mine[j] = false;
    for (int l = 0; l < n; l++) s->seen[l] = false;
  }
  return mc_scan(host, 0, 0, &strips, scan, &t);
}

typedef struct {
  const mc_data *rows;
  const double *p;
  double *probability; /* m, per thread */
  double *sum;         /* per strip */
} judging;

static void judge(void *ctx, int strip, int thread, int first, int b) {
  const judging *w = ctx;
  const mc_data *rows = w->rows;
  const int n = rows->n, m = rows->m;
  double *probability = w->probability + num_at(0, thread, m);
  for (int i = first; i < first + b; i++) {
    for (int j = 0; j < m; j++) probability[j] = 1 - w->p[num_at(i, j, n)];
    for (int e = rows->start[i]; e < rows->start[i + 1]; e++)
      probability[rows->column[e]] = w->p[num_at(i, rows->column[e], n)];
    for (int j = 0; j < m; j++) probability[j] = fmin(fmax(probability[j], LEAST), 1 - LEAST);
    for (int e = 0; e < data_n_missing(rows, i); e++)
      probability[rows->na_column[rows->na_start[i] + e]] = 1;
    w->sum[strip] += num_sum_log(probability, m);
  }
}

double nbm_loglik(const mc_data *rows, const double *p, int n_threads, const mc_host *host) {
  double part[NUM_MAX_STRIP] = {0}, sum = 0;
  const num_strips strips = num_new_strips(rows->n, 16, n_threads);
  judging w = {rows, p, mc_doubles(host, rows->m, strips.n_threads), part};
  if (!mc_scan(host, 0, 0, &strips, judge, &w)) return NAN;
  for (int s = 0; s < strips.n_strip; s++) sum += part[s];
  return sum;
}
