#include "engine/smooth.h"

#include <math.h>
#include <string.h>

#include "num/threads.h"
#include "num/vector.h"

/* Only content components are stored, `width` values per row, padded with zeros to whole vectors. */
struct mc_smooth {
  mc_smooth_lists lists;
  int n, k, n_content, n_share, width, n_threads;
  bool is_given;            /* pulls also depend on rows elsewhere and are supplied */
  int *content;             /* n_content: indices of the components */
  int *fixed;               /* n_share - 1: indices of the fixed ones */
  bool any_alone;           /* some row has no neighbours */
  const double *membership; /* n x k, of the last call */
  double *composition;      /* width x n: t */
  double *near;             /* width x n: r */
  double *ratio;            /* width x n: r / mean */
  double *pull;             /* width x n */
  double *reference;        /* width x n: supplied means, or NULL */
  double *term;             /* n: each row's affinity */
  double *total;            /* width: sum of all compositions, for rows without neighbours */
  double *back_total;       /* width: sum of their ratios */
  double *share;            /* n_share x n: v */
  double *share_pull;       /* n_share x n */
  double *common;           /* n_share */
};

#define PAD 4 /* doubles per vector */

/*
 * Adds to sum (size values, a constant of at most 3 PAD) the weight[e] times the first values of
 * column which[e] of from (width x n), for e from first to last. The sums stay in registers; the
 * pragma prevents unrolling before vectorisation.
 */
static NUM_INLINE void add_part(double *sum, const double *from, int width, const int *which,
                                const double *weight, int first, int last, const int size) {
  double part[3 * PAD] = {0};
  for (int e = first; e < last; e++) {
    const double *x = from + (ptrdiff_t) which[e] * width;
    NUM_OMP(simd)
    for (int c = 0; c < size; c++) part[c] += weight[e] * x[c];
  }
  for (int c = 0; c < size; c++) sum[c] += part[c];
}

/* Applies add_part() to whole columns, three, two or one vectors at a time. */
static NUM_INLINE void add_columns(double *sum, const double *from, int width, const int *which,
                                   const double *weight, int first, int last) {
  int at = 0;
  for (; at + 3 * PAD <= width; at += 3 * PAD)
    add_part(sum + at, from + at, width, which, weight, first, last, 3 * PAD);
  if (at + 2 * PAD == width)
    add_part(sum + at, from + at, width, which, weight, first, last, 2 * PAD);
  else if (at < width)
    add_part(sum + at, from + at, width, which, weight, first, last, PAD);
}

/* Computes the shares of content and of each fixed component. */
static void take_shares(const mc_smooth *smooth, const double *membership, ptrdiff_t stride,
                        double *share) {
  share[0] = 0;
  for (int c = 0; c < smooth->n_content; c++) share[0] += membership[smooth->content[c] * stride];
  for (int q = 1; q < smooth->n_share; q++) share[q] = membership[smooth->fixed[q - 1] * stride];
}

static void take_lists(mc_smooth *smooth, const mc_host *host) {
  const mc_smooth_lists *lists = &smooth->lists;
  const int n = smooth->n, width = smooth->width;
  if (!lists->reference) {
    for (int i = 0; i < n; i++)
      if (lists->start[i] == lists->start[i + 1]) smooth->any_alone = true;
    return;
  }
  take_shares(smooth, lists->common, 1, smooth->common);
  smooth->reference = mc_doubles(host, width, n);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < width; c++)
      smooth->reference[num_at(c, i, width)] =
          c < smooth->n_content ? lists->reference[num_at(smooth->content[c], i, smooth->k)] : 0;
}

/* Separates content from fixed components and allocates the pulls. */
static mc_smooth *new_pulls(int n, int k, const int *fixed, const mc_host *host) {
  mc_smooth *smooth = host->alloc(host->ctx, 1, sizeof *smooth);
  *smooth = (mc_smooth){.n = n, .k = k};
  smooth->content = host->alloc(host->ctx, (size_t) k, sizeof *smooth->content);
  smooth->fixed = host->alloc(host->ctx, (size_t) k, sizeof *smooth->fixed);
  smooth->n_share = 1;
  for (int c = 0; c < k; c++) {
    if (fixed && fixed[c])
      smooth->fixed[smooth->n_share++ - 1] = c;
    else
      smooth->content[smooth->n_content++] = c;
  }
  smooth->width = (smooth->n_content + PAD - 1) / PAD * PAD;
  smooth->pull = mc_doubles(host, smooth->width, n);
  smooth->share_pull = mc_doubles(host, smooth->n_share, n);
  return smooth;
}

mc_smooth *mc_new_smooth(const mc_smooth_lists *lists, int n, int k, const int *fixed,
                         int n_threads, const mc_host *host) {
  mc_smooth *smooth = new_pulls(n, k, fixed, host);
  const int width = smooth->width;
  smooth->lists = *lists;
  smooth->n_threads = num_threads(n_threads);
  smooth->composition = mc_doubles(host, width, n);
  smooth->near = mc_doubles(host, width, n);
  smooth->ratio = mc_doubles(host, width, n);
  smooth->term = mc_doubles(host, n, 1);
  smooth->total = mc_doubles(host, width, 1);
  smooth->back_total = mc_doubles(host, width, 1);
  smooth->share = mc_doubles(host, smooth->n_share, n);
  smooth->common = mc_doubles(host, smooth->n_share, 1);
  take_lists(smooth, host);
  return smooth;
}

/* Computes compositions and shares of rows first to last from smooth->membership. */
static void compose(mc_smooth *smooth, int first, int last) {
  const int width = smooth->width, n_content = smooth->n_content;
  for (int i = first; i < last; i++) {
    double *t = smooth->composition + num_at(0, i, width);
    double *share = smooth->share + num_at(0, i, smooth->n_share);
    take_shares(smooth, smooth->membership + i, smooth->n, share);
    memset(t, 0, (size_t) width * sizeof *t);
    for (int c = 0; c < n_content && share[0] > 0; c++)
      t[c] = smooth->membership[num_at(i, smooth->content[c], smooth->n)] / share[0];
  }
}

static bool is_alone(const mc_smooth *smooth, int i) {
  const mc_smooth_lists *lists = &smooth->lists;
  return !lists->reference && lists->start[i] == lists->start[i + 1];
}

/* Average composition of row i's neighbours, into mean. */
static NUM_INLINE void average(const mc_smooth *smooth, int i, double *mean) {
  const mc_smooth_lists *lists = &smooth->lists;
  const int width = smooth->width;
  if (lists->reference) {
    memcpy(mean, smooth->reference + num_at(0, i, width), (size_t) width * sizeof *mean);
  } else if (is_alone(smooth, i)) { /* the difference may be negative by rounding */
    const double *t = smooth->composition + num_at(0, i, width);
    for (int c = 0; c < width; c++) mean[c] = fmax(smooth->total[c] - t[c], 0) / (smooth->n - 1);
  } else {
    memset(mean, 0, (size_t) width * sizeof *mean);
    add_columns(mean, smooth->composition, width, lists->neighbour, lists->weight, lists->start[i],
                lists->start[i + 1]);
  }
}

/* Computes r and r / mean of rows first to last, and their terms of the objective. */
NUM_HOT static void weigh_neighbours(mc_smooth *smooth, int first, int last) {
  const int width = smooth->width;
  for (int i = first; i < last; i++) {
    const double *restrict t = smooth->composition + num_at(0, i, width);
    double *restrict near = smooth->near + num_at(0, i, width);
    double *restrict mean = smooth->ratio + num_at(0, i, width);
    if (is_alone(smooth, i) && smooth->n == 1) {
      memset(near, 0, (size_t) width * sizeof *near);
      memset(mean, 0, (size_t) width * sizeof *mean);
      smooth->term[i] = 1;
    } else {
      double affinity = 0;
      average(smooth, i, mean);
      for (int c = 0; c < width; c++) near[c] = sqrt(t[c] * mean[c]);
      for (int c = 0; c < width; c++) affinity += near[c];
      for (int c = 0; c < width; c++) near[c] /= affinity;
      for (int c = 0; c < width; c++)
        mean[c] = near[c] / (mean[c] > 0 ? mean[c] : 1); /* 0 / 0: 0 */
      smooth->term[i] = affinity;
    }
  }
}

/* Pull on rows first to last, from their neighbours and from the rows whose neighbour they are. */
NUM_HOT static void gather_pull(mc_smooth *smooth, int first, int last) {
  const mc_smooth_lists *lists = &smooth->lists;
  const int width = smooth->width, n = smooth->n;
  for (int i = first; i < last; i++) {
    const double *restrict t = smooth->composition + num_at(0, i, width);
    const double *restrict near = smooth->near + num_at(0, i, width);
    const double *ratio = smooth->ratio + num_at(0, i, width);
    double *restrict pull = smooth->pull + num_at(0, i, width);
    if (lists->reference) {
      for (int c = 0; c < width; c++) pull[c] = lists->strength * near[c];
      continue;
    }
    memcpy(pull, smooth->back_total, (size_t) width * sizeof *pull);
    if (is_alone(smooth, i) && n > 1) /* no row is its own neighbour */
      for (int c = 0; c < width; c++) pull[c] = fmax(pull[c] - ratio[c] / (n - 1), 0);
    add_columns(pull, smooth->ratio, width, lists->back_row, lists->back_weight,
                lists->back_start[i], lists->back_start[i + 1]);
    for (int c = 0; c < width; c++) pull[c] = lists->strength / 2 * (near[c] + t[c] * pull[c]);
  }
}

#define CHUNK 64 /* rows */

/* Runs `work` on independent chunks of rows, so the result does not depend on the number of threads. */
static void by_chunks(mc_smooth *smooth, void (*work)(mc_smooth *, int, int)) {
  const int n = smooth->n;
  NUM_OMP(parallel for schedule(static) num_threads(smooth->n_threads))
  for (int first = 0; first < n; first += CHUNK)
    work(smooth, first, n - first < CHUNK ? n : first + CHUNK);
}

/* Log of the product of all rows' affinities. */
static double log_affinities(const mc_smooth *smooth) {
  num_log_product affinities = {0, 1};
  for (int i = 0; i < smooth->n; i++) num_times(&affinities, smooth->term[i]);
  return num_log_of(&affinities);
}

/* Pulls on shares, all rows being neighbours of all; returns their term of the objective. */
static double pull_shares(mc_smooth *smooth) {
  const int n = smooth->n, n_share = smooth->n_share;
  const double half = smooth->lists.recording / 2;
  const bool given = smooth->reference != NULL;
  double back[MC_MOST_SHARES] = {0};
  if (!given) memset(smooth->common, 0, (size_t) n_share * sizeof *smooth->common);
  for (int i = 0; i < n && !given; i++)
    num_add_scaled(smooth->common, 1.0 / n, smooth->share + num_at(0, i, n_share), n_share);
  for (int i = 0; i < n; i++) {
    const double *share = smooth->share + num_at(0, i, n_share);
    double *pull = smooth->share_pull + num_at(0, i, n_share), affinity = 0;
    for (int q = 0; q < n_share; q++) affinity += pull[q] = sqrt(share[q] * smooth->common[q]);
    for (int q = 0; q < n_share; q++) pull[q] /= affinity;
    num_add_scaled(back, 1.0 / n, pull, n_share);
    smooth->term[i] = affinity;
  }
  for (int i = 0; i < n; i++) {
    const double *share = smooth->share + num_at(0, i, n_share);
    double *pull = smooth->share_pull + num_at(0, i, n_share);
    for (int q = 0; q < n_share; q++) {
      const double part = smooth->common[q] > 0 ? share[q] / smooth->common[q] : 0;
      pull[q] = half * (pull[q] + (given ? pull[q] : part * (back[q] + 2.0 / n)));
    }
  }
  double held = 0;
  for (int q = 0; q < n_share && half > 0 && !given; q++) held += 2 * half * log(smooth->common[q]);
  return half > 0 ? 2 * half * log_affinities(smooth) + held : 0;
}

double mc_smooth_pull(mc_smooth *smooth, const double *membership, bool want_pull) {
  const int n = smooth->n, width = smooth->width;
  double sum = 0;
  if (smooth->is_given) return 0;
  smooth->membership = membership;
  by_chunks(smooth, compose);
  memset(smooth->total, 0, (size_t) width * sizeof *smooth->total);
  for (int i = 0; i < n && smooth->any_alone; i++)
    num_add_scaled(smooth->total, 1, smooth->composition + num_at(0, i, width), width);
  by_chunks(smooth, weigh_neighbours);
  sum = smooth->lists.strength * log_affinities(smooth) + pull_shares(smooth);
  if (smooth->reference) sum *= 2;
  if (!want_pull) return sum;
  memset(smooth->back_total, 0, (size_t) width * sizeof *smooth->back_total);
  for (int i = 0; i < n && smooth->any_alone && n > 1; i++)
    if (is_alone(smooth, i))
      num_add_scaled(smooth->back_total, 1.0 / (n - 1), smooth->ratio + num_at(0, i, width), width);
  by_chunks(smooth, gather_pull);
  return sum;
}

void mc_smooth_pulls(const mc_smooth *smooth, double *pulls) {
  const int *content = smooth->content;
  for (int i = 0; i < smooth->n; i++) {
    const double *share = smooth->share_pull + num_at(0, i, smooth->n_share);
    double *out = pulls + num_at(0, i, smooth->k + 1);
    for (int c = 0; c < smooth->n_content; c++) out[content[c]] = mc_smooth_row(smooth, i)[c];
    for (int q = 1; q < smooth->n_share; q++) out[smooth->fixed[q - 1]] = share[q];
    out[smooth->k] = share[0];
  }
}

mc_smooth *mc_new_given_smooth(const double *pulls, int n, int k, const int *fixed,
                               const mc_host *host) {
  mc_smooth *smooth = new_pulls(n, k, fixed, host);
  smooth->is_given = true;
  for (int i = 0; i < n; i++) {
    const double *from = pulls + num_at(0, i, k + 1);
    double *pull = smooth->pull + num_at(0, i, smooth->width);
    double *share = smooth->share_pull + num_at(0, i, smooth->n_share);
    for (int c = 0; c < smooth->n_content; c++) pull[c] = from[smooth->content[c]];
    for (int q = 1; q < smooth->n_share; q++) share[q] = from[smooth->fixed[q - 1]];
    share[0] = from[k];
  }
  return smooth;
}

#define TRACE 1e-100

void mc_smooth_update(const mc_smooth *smooth, int i, double total, const double *pseudo,
                      double *row, const double *counts) {
  const int k = smooth->k, n_content = smooth->n_content, *which = smooth->content;
  const double *pull = smooth->pull + num_at(0, i, smooth->width);
  const double *share = smooth->share_pull + num_at(0, i, smooth->n_share);
  double content = 0, pulls = 0;
  for (int q = 0; q < smooth->n_share; q++) total += share[q];
  for (int c = 0; c < n_content; c++) {
    content += row[which[c]] * counts[which[c]] + pseudo[which[c]];
    pulls += pull[c];
  }
  if (content + pulls <= 0 || total <= 0) return; /* no counts: the row is unchanged */
  /* A row that is all phantom keeps a trace of content; otherwise it would have no composition. */
  const double scale = fmax(content + share[0], TRACE * total) / (content + pulls);
  for (int c = 0; c < k; c++) row[c] = row[c] * counts[c] + pseudo[c];
  for (int c = 0; c < n_content; c++) row[which[c]] = scale * (row[which[c]] + pull[c]);
  for (int q = 1; q < smooth->n_share; q++) row[smooth->fixed[q - 1]] += share[q];
  for (int c = 0; c < k; c++) row[c] = num_lift(row[c] / total);
}

double mc_smooth_gradient(const mc_smooth *smooth, int i, const double *row, double *gradient) {
  const int n_content = smooth->n_content, *which = smooth->content;
  const double *pull = smooth->pull + num_at(0, i, smooth->width);
  const double *share = smooth->share_pull + num_at(0, i, smooth->n_share);
  double content = 0, pulls = 0, sum = share[0];
  for (int c = 0; c < n_content; c++) {
    content += row[which[c]];
    pulls += pull[c];
  }
  for (int c = 0; c < n_content; c++)
    gradient[which[c]] +=
        (pull[c] > 0 ? pull[c] / row[which[c]] : 0) + (share[0] - pulls) / content;
  for (int q = 1; q < smooth->n_share; q++) {
    sum += share[q];
    if (share[q] > 0) gradient[smooth->fixed[q - 1]] += share[q] / row[smooth->fixed[q - 1]];
  }
  return sum;
}

double mc_smooth_counts(const mc_smooth *smooth, int i, double *counts) {
  const double *pull = smooth->pull + num_at(0, i, smooth->width);
  const double *share = smooth->share_pull + num_at(0, i, smooth->n_share);
  double whole = share[0];
  for (int c = 0; c < smooth->n_content; c++) {
    counts[smooth->content[c]] += pull[c];
    whole -= pull[c];
  }
  for (int q = 1; q < smooth->n_share; q++) counts[smooth->fixed[q - 1]] += share[q];
  return whole;
}

const double *mc_smooth_row(const mc_smooth *smooth, int i) {
  return smooth->pull + num_at(0, i, smooth->width);
}

/* Second form: neighbours of posteriors of single labels. */

/* Pull of the second form on rows first to last; term holds q[i] pull[i]. */
NUM_HOT static void gather_agreement(mc_smooth *smooth, int first, int last) {
  const mc_smooth_lists *lists = &smooth->lists;
  const int width = smooth->width;
  for (int i = first; i < last; i++) {
    const double *q = smooth->composition + num_at(0, i, width);
    double *pull = smooth->pull + num_at(0, i, width);
    memset(pull, 0, (size_t) width * sizeof *pull);
    add_columns(pull, smooth->composition, width, lists->neighbour, lists->weight, lists->start[i],
                lists->start[i + 1]);
    add_columns(pull, smooth->composition, width, lists->back_row, lists->back_weight,
                lists->back_start[i], lists->back_start[i + 1]);
    for (int c = 0; c < width; c++) pull[c] *= lists->strength / 2;
    smooth->term[i] = num_dot(q, pull, width);
  }
}

double mc_smooth_agree(mc_smooth *smooth, const double *posterior) {
  double sum = 0;
  smooth->membership = posterior;
  by_chunks(smooth, compose);
  by_chunks(smooth, gather_agreement);
  for (int i = 0; i < smooth->n; i++) sum += smooth->term[i];
  return sum / 2;
}

double mc_smooth_hold(const mc_smooth *smooth, int i) {
  const mc_smooth_lists *lists = &smooth->lists;
  double sum = lists->start[i] < lists->start[i + 1] ? 1 : 0;
  for (int e = lists->back_start[i]; e < lists->back_start[i + 1]; e++)
    sum += lists->back_weight[e];
  return lists->strength * sum / 4;
}
