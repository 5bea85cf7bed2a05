/* aspect_bernoulli/gibbs_notes.c: the record of draws: notes, sums over cells, states. */
#include <Rmath.h>
#include <math.h>
#include <string.h>

#include "aspect_bernoulli/private.h"
#include "num/assign.h"
#include "num/vector.h"

struct ab_gibbs_notes {
  ab_gibbs_work *work;
  const ab_gibbs_plan *plan;
  bool scores;                     /* is any component a phantom? */
  double *p, *zero, *pbar, *white; /* m: of the current row; zero is 1 - p */
  double *cost, *price;            /* of labels */
  int *label, *index;
  double *row;                   /* k */
  double content;                /* share of the contents in the current row */
  double log_lik, missed, added; /* of the current draw */
};

ab_gibbs_notes *ab_gibbs_new_notes(ab_gibbs_work *work, const ab_gibbs_plan *plan,
                                   const mc_host *host) {
  const int m = work->data->m, k = work->state->k;
  ab_gibbs_notes *notes = host->alloc(host->ctx, 1, sizeof *notes);
  *notes = (ab_gibbs_notes){.work = work, .plan = plan};
  for (int c = 0; c < k; c++) notes->scores = notes->scores || plan->kind[c] != AB_CONTENT;
  notes->p = mc_doubles(host, m, 1);
  notes->zero = mc_doubles(host, m, 1);
  notes->pbar = mc_doubles(host, m, 1);
  notes->white = mc_doubles(host, m, 1);
  notes->cost = mc_doubles(host, k, k);
  notes->price = mc_doubles(host, 3, k + 1);
  notes->row = mc_doubles(host, k, 1);
  notes->label = host->alloc(host->ctx, (size_t) k, sizeof(int));
  notes->index = host->alloc(host->ctx, 3 * ((size_t) k + 1), sizeof(int));
  return notes;
}

/* cost[c, d]: squared distance of aspect d from reference c; fixed ones match only themselves. */
static void label_costs(ab_gibbs_notes *notes) {
  const ab_gibbs_state *state = notes->work->state;
  const int m = notes->work->data->m, k = state->k;
  for (int d = 0; d < k; d++)
    for (int c = 0; c < k; c++) {
      double sum = 0;
      for (int j = 0; j < m; j++) {
        const double gap =
            state->aspects[num_at(d, j, k)] - notes->plan->reference[num_at(c, j, k)];
        sum += gap * gap;
      }
      if (state->fixed[c] || state->fixed[d]) sum = c == d ? 0 : 4.0 * m * k;
      notes->cost[num_at(c, d, k)] = sum;
    }
}

/* Returns whether every aspect is nearest to its own reference; then no assignment is needed. */
static bool labels_hold(const ab_gibbs_notes *notes) {
  const int k = notes->work->state->k;
  for (int c = 0; c < k; c++)
    for (int d = 0; d < k; d++)
      if (notes->cost[num_at(c, d, k)] < notes->cost[num_at(c, c, k)]) return false;
  return true;
}

/* values: n_other vectors of k values; entries are `step` apart, vectors `next` apart. */
static void permute(double *values, const int *label, int k, int n_other, ptrdiff_t step,
                    ptrdiff_t next, double *room) {
  for (int i = 0; i < n_other; i++) {
    double *at = values + i * next;
    for (int c = 0; c < k; c++) room[c] = at[label[c] * step];
    for (int c = 0; c < k; c++) at[c * step] = room[c];
  }
}

/* Relabels the state; under a prior exchangeable in the components it remains a valid draw. */
static void relabel(ab_gibbs_notes *notes) {
  ab_gibbs_work *work = notes->work;
  const int n = work->data->n, m = work->data->m, k = work->state->k;
  if (!notes->plan->reference || k == 1) return;
  label_costs(notes);
  if (labels_hold(notes)) return;
  num_assign(k, notes->cost, notes->label, notes->price, notes->index);
  permute(work->state->membership, notes->label, k, n, n, 1, notes->row);
  permute(work->state->aspects, notes->label, k, m, 1, k, notes->row);
}

NUM_HOT static void add_product(double share, const double *aspect, int m, double *sum) {
  for (int j = 0; j < m; j++) sum[j] += share * aspect[j];
}

/* Adds values and their squares to m sums and the m sums after them. */
NUM_HOT static void add_moments(const double *x, int m, double *sum) {
  for (int j = 0; j < m; j++) sum[j] += x[j];
  for (int j = 0; j < m; j++) sum[m + j] += x[j] * x[j];
}

/* p, 1 - p, the content's probability of a presence, and the white phantoms' term of 1 - p. */
static void row_probabilities(ab_gibbs_notes *notes, int i) {
  const ab_gibbs_work *work = notes->work;
  const int n = work->data->n, m = work->data->m, k = work->state->k;
  const size_t size = (size_t) m * sizeof(double);
  double content = 0;
  memset(notes->p, 0, size);
  memset(notes->zero, 0, size);
  memset(notes->pbar, 0, size);
  memset(notes->white, 0, size);
  for (int c = 0; c < k; c++) {
    const double share = notes->row[c] = work->state->membership[num_at(i, c, n)];
    const double *a = work->present + (ptrdiff_t) c * m, *b = work->absence + (ptrdiff_t) c * m;
    add_product(share, a, m, notes->p);
    add_product(share, b, m, notes->zero);
    if (!notes->scores) continue;
    if (notes->plan->kind[c] == AB_CONTENT) {
      content += share;
      add_product(share, a, m, notes->pbar);
    }
    if (notes->plan->kind[c] == AB_WHITE) add_product(share, b, m, notes->white);
  }
  notes->content = content;
}

/*
 * Computes present from its sum over contents; replaces the white phantoms' term of 1 - p by missed
 * and 1 - p by phantom. Returns the sum of missed. Conditions replace fmin(), which would prevent
 * vectorisation.
 */
NUM_HOT static double score_zeros(int m, double content, double *present, double *white,
                                  double *zero) {
  double sum = 0;
  NUM_OMP(simd reduction(+ : sum))
  for (int j = 0; j < m; j++) {
    const double pbar = present[j] / content, q = white[j] / zero[j];
    present[j] = pbar > 1 ? 1 : pbar;
    zero[j] = q > 1 ? 1 : q;
    white[j] = zero[j] * present[j];
    sum += white[j];
  }
  return sum;
}

/* Scores of cells, for ones those of false presences. white becomes missed, zero becomes phantom. */
static void row_scores(ab_gibbs_notes *notes, int i) {
  const ab_gibbs_work *work = notes->work;
  const mc_data *data = work->data;
  const int m = data->m, k = work->state->k;
  notes->missed += score_zeros(m, notes->content, notes->pbar, notes->white, notes->zero);
  for (int e = 0; e < data_n_missing(data, i); e++)
    notes->missed -= notes->white[data->na_column[data->na_start[i] + e]];
  for (int e = data->start[i]; e < data->start[i + 1]; e++) {
    const int j = data->column[e];
    double black = 0;
    for (int c = 0; c < k; c++)
      if (notes->plan->kind[c] == AB_BLACK) black += notes->row[c] * work->present[num_at(j, c, m)];
    notes->missed -= notes->white[j];
    notes->zero[j] = fmin(1, black / notes->p[j]);
    notes->white[j] = notes->zero[j] * (1 - notes->pbar[j]);
    notes->added += notes->white[j];
  }
}

static double row_log_lik(ab_gibbs_notes *notes, int i) {
  const mc_data *data = notes->work->data;
  double *value = notes->work->uniform;
  memcpy(value, notes->zero, (size_t) data->m * sizeof(double));
  for (int e = data->start[i]; e < data->start[i + 1]; e++)
    value[data->column[e]] = notes->p[data->column[e]];
  for (int e = 0; e < data_n_missing(data, i); e++)
    value[data->na_column[data->na_start[i] + e]] = 1;
  return num_sum_log(value, data->m);
}

/* Scans all rows; returns false if stopped. */
static bool scan_rows(ab_gibbs_notes *notes, ab_gibbs_record *record) {
  ab_gibbs_work *work = notes->work;
  const int n = work->data->n, m = work->data->m, k = work->state->k;
  for (int c = 0; c < k; c++)
    for (int j = 0; j < m; j++) {
      const double a = work->state->aspects[num_at(c, j, k)];
      work->present[num_at(j, c, m)] = a;
      work->absence[num_at(j, c, m)] = 1 - a;
    }
  notes->log_lik = notes->missed = notes->added = 0;
  for (int i = 0; i < n; i++) {
    if (!record->cell && ab_gibbs_stop(work, i)) return false;
    row_probabilities(notes, i);
    notes->log_lik += row_log_lik(notes, i);
    if (notes->scores) row_scores(notes, i);
    if (!record->cell) continue;
    double *at = record->cell + num_at(0, (ptrdiff_t) i * record->n_stat, m);
    add_moments(notes->p, m, at);
    if (record->n_stat == AB_GIBBS_PLAIN) continue;
    add_moments(notes->white, m, at + 2 * (ptrdiff_t) m);
    add_product(1, notes->pbar, m, at + 4 * (ptrdiff_t) m);
    add_product(1, notes->zero, m, at + 5 * (ptrdiff_t) m);
  }
  return true;
}

static double log_prior(const ab_gibbs_work *work) {
  const ab_prior *prior = &work->prior;
  const ab_gibbs_state *state = work->state;
  const int n = work->data->n, m = work->data->m, k = state->k;
  double rows = n * ab_log_dirichlet_constant(prior);
  double cells = 0;
  for (int c = 0; c < k; c++)
    rows += (prior->membership[c] - 1) * num_sum_log(state->membership + (ptrdiff_t) c * n, n);
  for (int c = 0; c < k; c++) {
    if (state->fixed[c]) continue;
    cells -= m * lbeta(prior->one[c], prior->zero[c]);
    for (int j = 0; j < m; j++) {
      const double a = state->aspects[num_at(c, j, k)];
      cells += (prior->one[c] - 1) * log(a) + (prior->zero[c] - 1) * log1p(-a);
    }
  }
  return rows + cells;
}

static double mean_share(const ab_gibbs_notes *notes, ab_kind kind) {
  const ab_gibbs_state *state = notes->work->state;
  const int n = notes->work->data->n;
  double sum = 0;
  for (int c = 0; c < state->k; c++)
    for (int i = 0; notes->plan->kind[c] == (int) kind && i < n; i++)
      sum += state->membership[num_at(i, c, n)];
  return sum / n;
}

static void write_note(const ab_gibbs_notes *notes, double *note) {
  const ab_gibbs_plan *plan = notes->plan;
  const ab_gibbs_state *state = notes->work->state;
  const int n = notes->work->data->n, k = state->k;
  note[AB_NOTE_LIK] = notes->log_lik;
  note[AB_NOTE_JOINT] = notes->log_lik + log_prior(notes->work);
  note[AB_NOTE_WHITE] = mean_share(notes, AB_WHITE);
  note[AB_NOTE_BLACK] = mean_share(notes, AB_BLACK);
  note[AB_NOTE_MISSED] = notes->missed;
  note[AB_NOTE_ADDED] = notes->added;
  for (int q = 0; q < plan->n_probe; q++) {
    const int *cell = plan->probe + 2 * (ptrdiff_t) q;
    double p = 0;
    for (int c = 0; c < k; c++)
      p += state->membership[num_at(cell[0], c, n)] * state->aspects[num_at(c, cell[1], k)];
    note[AB_NOTE_PROBE + q] = p;
  }
}

static void add_state(const double *x, ptrdiff_t length, double *sum) {
  for (ptrdiff_t e = 0; e < length; e++) {
    sum[e] += x[e];
    sum[length + e] += x[e] * x[e];
  }
}

bool ab_gibbs_note(ab_gibbs_notes *notes, ab_gibbs_record *record) {
  const ab_gibbs_state *state = notes->work->state;
  const ab_gibbs_plan *plan = notes->plan;
  const ptrdiff_t rows = (ptrdiff_t) notes->work->data->n * state->k;
  const ptrdiff_t columns = (ptrdiff_t) notes->work->data->m * state->k;
  relabel(notes);
  if (!scan_rows(notes, record)) return false;
  const mc_host *host = notes->work->host;
  const ptrdiff_t width = AB_NOTE_PROBE + plan->n_probe;
  const int most = plan->n_sweep / plan->thin;
  record->note = mc_grow(host, record->note, record->n_draw, most, width, &record->room_note);
  write_note(notes, record->note + record->n_draw * width);
  record->n_draw++;
  add_state(state->membership, rows, record->membership);
  add_state(state->aspects, columns, record->aspects);
  if (plan->keep_every == 0 || record->n_draw % plan->keep_every != 0) return true;
  const int n_kept = record->n_kept, most_kept = most / plan->keep_every;
  record->kept_membership =
      mc_grow(host, record->kept_membership, n_kept, most_kept, rows, &record->room_membership);
  record->kept_aspects =
      mc_grow(host, record->kept_aspects, n_kept, most_kept, columns, &record->room_aspects);
  memcpy(record->kept_membership + n_kept * rows, state->membership,
         (size_t) rows * sizeof(double));
  memcpy(record->kept_aspects + n_kept * columns, state->aspects,
         (size_t) columns * sizeof(double));
  record->n_kept++;
  return true;
}
