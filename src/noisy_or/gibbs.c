#include "noisy_or/gibbs.h"

#include <float.h>
#include <string.h>

#include "num/rng.h"

#define LEAST_NONE 1e-150 /* of P(y = 0 | z): products of these are numbers above 0 */

enum { IS_ZERO, IS_ONE, IS_MISSING };

/* A row: its cells that are observed, the ones first. */
typedef struct {
  int n_one, n_cell, n_on;
  int *cell, *on;         /* m; k: the sources that are on, ascending */
  double *q;              /* n_grid x cells: a zero's probability of a record, eq. (R16) */
  double *none, *other;   /* cells: P(y = 0 | z) */
  double *some;           /* k + 2 */
  double fixed[NOR_GRID]; /* log of the ones' records, */
  double share[NOR_GRID]; /*   of the row's shares, */
  double logs[NOR_GRID], changed[NOR_GRID]; /*   and log P(x | z, g) */
} gibbs_row;

typedef struct {
  const mc_data *data;
  const nor_settings *set;
  nor_gibbs_state *state;
  int k, m, n_grid, n_stat;
  unsigned char *kind;    /* m x n */
  double *keep;           /* (k + 1) x m: 1 - link, last the leak's */
  int *fired, *trials;    /* (k + 1) x m */
  int *present, *through; /* m: visits where the taxon is, and those that v let through */
  int missed;
  gibbs_row row;
  double *probability; /* m: of the row at hand */
} gibbs_work;

static int *new_ints(const mc_host *host, size_t n) {
  return host->alloc(host->ctx, n, sizeof(int));
}

static void mark_cells(gibbs_work *work) {
  const mc_data *data = work->data;
  for (int i = 0; i < data->n; i++) {
    unsigned char *kind = work->kind + (ptrdiff_t) i * data->m;
    for (int e = data->start[i]; e < data->start[i + 1]; e++) kind[data->column[e]] = IS_ONE;
    for (int e = 0; e < data_n_missing(data, i); e++)
      kind[data->na_column[data->na_start[i] + e]] = IS_MISSING;
  }
}

static gibbs_work *new_work(const mc_data *data, const nor_settings *set, nor_gibbs_state *state) {
  const mc_host *host = set->host;
  gibbs_work *work = host->alloc(host->ctx, 1, sizeof *work);
  const int k = state->par.k;
  const size_t m = (size_t) data->m, n = (size_t) data->n, links = ((size_t) k + 1) * m;
  *work = (gibbs_work){.data = data, .set = set, .state = state, .k = k, .m = data->m};
  work->n_grid = nor_n_grid(&state->par);
  work->kind = host->alloc(host->ctx, m * n, 1);
  memset(work->kind, IS_ZERO, m * n);
  mark_cells(work);
  work->keep = mc_doubles(host, links, 1);
  work->fired = new_ints(host, links);
  work->trials = new_ints(host, links);
  work->present = new_ints(host, m);
  work->through = new_ints(host, m);
  work->probability = mc_doubles(host, m, 1);
  gibbs_row *row = &work->row;
  row->cell = new_ints(host, m);
  row->on = new_ints(host, (size_t) k);
  row->q = mc_doubles(host, m, (size_t) work->n_grid);
  row->none = mc_doubles(host, m, 1);
  row->other = mc_doubles(host, m, 1);
  row->some = mc_doubles(host, (size_t) k + 2, 1);
  return work;
}

static void keep_column(const nor_param *par, int j, double *keep) {
  for (int c = 0; c < par->k; c++) keep[c] = 1 - par->links[num_at(c, j, par->k)];
  keep[par->k] = 1 - par->leak[j];
}

/* P(y = 0 | z) of a column, one source left out (-1: none is). */
static double column_none(const gibbs_work *work, const double *keep, const int *on, int n_on,
                          int without) {
  double none = keep[work->k];
  for (int s = 0; s < n_on; s++)
    if (on[s] != without) none *= keep[on[s]];
  return fmax(none, LEAST_NONE);
}

static int list_on(const gibbs_work *work, int i, int *on) {
  int n_on = 0;
  for (int c = 0; c < work->k; c++)
    if (work->state->on[num_at(c, i, work->k)]) on[n_on++] = c;
  return n_on;
}

static int visits_made(const gibbs_work *work, ptrdiff_t at) {
  return work->set->made ? work->set->made[at] : 1;
}
static int visits_found(const gibbs_work *work, ptrdiff_t at) {
  return work->set->found ? work->set->found[at] : work->kind[at] == IS_ONE;
}

/* A one's records, with `found` above 0. */
static double log_record(double rho, int found, int made) {
  return found * log(rho) + (made > found ? (made - found) * log1p(-rho) : 0);
}

/* Computes what does not depend on the sources of row i; without a grid everything is recorded. */
static void open_row(gibbs_work *work, int i) {
  gibbs_row *row = &work->row;
  const nor_param *par = &work->state->par;
  const ptrdiff_t first = (ptrdiff_t) i * work->m;
  const unsigned char *kind = work->kind + first;
  row->n_cell = 0;
  for (int pass = IS_ONE; pass >= IS_ZERO; pass--) {
    for (int j = 0; j < work->m; j++)
      if (kind[j] == pass) row->cell[row->n_cell++] = j;
    if (pass == IS_ONE) row->n_one = row->n_cell;
  }
  row->n_on = list_on(work, i, row->on);
  row->fixed[0] = row->share[0] = 0;
  if (!par->share) return;
  nor_log_shares(work->set, par, i, row->share);
  for (int g = 0; g < NOR_GRID; g++) {
    row->fixed[g] = 0;
    for (int t = 0; t < row->n_cell; t++) {
      const ptrdiff_t at = first + row->cell[t];
      const double rho = nor_recorded(par, g, row->cell[t]);
      row->q[num_at(g, t, NOR_GRID)] = nor_any_record(work->set, rho, at);
      if (t < row->n_one)
        row->fixed[g] += log_record(rho, visits_found(work, at), visits_made(work, at));
    }
  }
}

static void find_none(const gibbs_work *work, const double *keep, int without, double *none) {
  const gibbs_row *row = &work->row;
  for (int t = 0; t < row->n_cell; t++)
    none[t] =
        column_none(work, keep + num_at(0, row->cell[t], work->k + 1), row->on, row->n_on, without);
}

static double log_ones(const gibbs_row *row, const double *none) {
  double sum = 0, product = 1;
  for (int t = 0; t < row->n_one; t++) {
    product *= 1 - none[t];
    if (product < LEAST_NONE) {
      sum += log(product);
      product = 1;
    }
  }
  return sum + log(product);
}

/* log P(x | z, g), by products of a few factors, the last of which is the smallest. */
static void cell_logs(const gibbs_work *work, const double *none, double *logs) {
  const gibbs_row *row = &work->row;
  const double ones = log_ones(row, none);
  double product[NOR_GRID];
  if (work->n_grid == 1) {
    logs[0] = ones;
    product[0] = 1;
    for (int t = row->n_one; t < row->n_cell; t++) {
      product[0] *= none[t];
      if (product[0] >= LEAST_NONE) continue;
      logs[0] += log(product[0]);
      product[0] = 1;
    }
    logs[0] += log(product[0]);
    return;
  }
  for (int g = 0; g < NOR_GRID; g++) {
    logs[g] = row->fixed[g] + ones;
    product[g] = 1;
  }
  for (int t = row->n_one; t < row->n_cell; t++) {
    const double *q = row->q + num_at(0, t, NOR_GRID), one = none[t];
    NUM_OMP(simd)
    for (int g = 0; g < NOR_GRID; g++) product[g] *= 1 - q[g] + q[g] * one;
    if (product[NOR_GRID - 1] >= LEAST_NONE && t < row->n_cell - 1) continue;
    for (int g = 0; g < NOR_GRID; g++) {
      logs[g] += log(product[g]);
      product[g] = 1;
    }
  }
}

/* log sum_g exp(logs + share), with share on another scale, too. */
static double sum_grid(const double *logs, const double *share, int n_grid) {
  double top = -INFINITY, sum = 0;
  for (int g = 0; g < n_grid; g++) top = fmax(top, logs[g] + share[g]);
  for (int g = 0; g < n_grid; g++) sum += exp(logs[g] + share[g] - top);
  return top + log(sum);
}

static int pick_grid(const double *logs, const double *share) {
  double weight[NOR_GRID];
  for (int g = 0; g < NOR_GRID; g++) weight[g] = logs[g] + share[g];
  return num_pick_log(weight, NOR_GRID);
}

/* (G1) for source c of row i. */
static void draw_source(gibbs_work *work, int i, int c) {
  gibbs_row *row = &work->row;
  int *on = work->state->on + num_at(c, i, work->k);
  const double prior = work->state->par.prior[c];
  if (*on) {
    find_none(work, work->keep, c, row->other);
  } else {
    for (int t = 0; t < row->n_cell; t++) {
      const double keep = work->keep[num_at(c, row->cell[t], work->k + 1)];
      row->other[t] = fmax(row->none[t] * keep, LEAST_NONE);
    }
  }
  cell_logs(work, row->other, row->changed);
  const double gain = sum_grid(row->changed, row->share, work->n_grid) -
                      sum_grid(row->logs, row->share, work->n_grid);
  const int drawn = num_coin(log(prior / (1 - prior)) + (*on ? -gain : gain));
  if (drawn == *on) return;
  double *none = row->none;
  *on = drawn;
  row->none = row->other;
  row->other = none;
  memcpy(row->logs, row->changed, sizeof row->logs);
  row->n_on = list_on(work, i, row->on);
}

/* (G3): which causes of a presence fired, the leak first. */
static void fire(gibbs_work *work, int j) {
  gibbs_row *row = &work->row;
  const double *keep = work->keep + num_at(0, j, work->k + 1);
  int *fired = work->fired + num_at(0, j, work->k + 1);
  bool any = false;
  row->some[row->n_on + 1] = 0; /* the probability that one of what is left fires */
  for (int s = row->n_on; s >= 0; s--) {
    const double p = 1 - keep[s > 0 ? row->on[s - 1] : work->k];
    row->some[s] = p + (1 - p) * row->some[s + 1];
  }
  for (int s = 0; s <= row->n_on; s++) {
    const int cause = s > 0 ? row->on[s - 1] : work->k;
    const double p = 1 - keep[cause];
    if (num_unif() >= (any ? p : p / row->some[s])) continue;
    fired[cause]++;
    any = true;
  }
}

static void draw_hidden(gibbs_work *work, int i) {
  gibbs_row *row = &work->row;
  const nor_param *par = &work->state->par;
  const int g = par->share ? work->state->grid[i] : 0;
  for (int t = 0; t < row->n_cell; t++) {
    const int j = row->cell[t];
    int *trials = work->trials + num_at(0, j, work->k + 1);
    trials[work->k]++;
    for (int s = 0; s < row->n_on; s++) trials[row->on[s]]++;
    if (t >= row->n_one) {
      if (!par->share) continue;
      if (num_unif() >= nor_present(row->q[num_at(g, t, NOR_GRID)], 1 - row->none[t])) continue;
      work->missed++;
    }
    fire(work, j);
    if (!par->taxon) continue;
    const ptrdiff_t at = (ptrdiff_t) i * work->m + j;
    const int made = visits_made(work, at), found = visits_found(work, at);
    const double r = nor_probability(g), v = par->taxon[j];
    work->present[j] += made;
    work->through[j] += found;
    if (made > found) work->through[j] += (int) rbinom(made - found, v * (1 - r) / (1 - r * v));
  }
}

static void note_row(gibbs_work *work, int i, const nor_gibbs_plan *plan, nor_gibbs_record *record,
                     double *note) {
  const gibbs_row *row = &work->row;
  const nor_param *par = &work->state->par;
  const int m = work->m, g = par->share ? work->state->grid[i] : 0;
  const ptrdiff_t n = work->data->n;
  double recorded = 0;
  for (int j = 0; j < m; j++) {
    const double none =
        column_none(work, work->keep + num_at(0, j, work->k + 1), row->on, row->n_on, -1);
    const double rho = par->share ? nor_recorded(par, g, j) : 1, one = 1 - none;
    const double q = nor_any_record(work->set, rho, (ptrdiff_t) i * m + j);
    const double missed = nor_present(q, one);
    const double part[NOR_GIBBS_SCORES] = {
        q * one, q * q * one * one, missed, missed * missed, one, (1 - q) / (1 - q + q * none)};
    recorded += rho;
    work->probability[j] = q * one;
    for (int s = 0; s < work->n_stat; s++) record->cell[i + n * (j + (ptrdiff_t) m * s)] += part[s];
  }
  for (int s = 0; s < row->n_on; s++) record->on[num_at(i, row->on[s], n)]++;
  if (par->share) record->site[i] += nor_probability(g);
  for (int p = 0; p < plan->n_probe; p++)
    if (plan->probe[(ptrdiff_t) 2 * p] == i)
      note[NOR_NOTE_PROBE + p] = work->probability[plan->probe[(ptrdiff_t) 2 * p + 1]];
  double own = row->logs[g];
  note[NOR_NOTE_LIK] += own;
  own += row->share[g];
  for (int c = 0; c < work->k; c++) {
    const double prior = par->prior[c];
    own += log(work->state->on[num_at(c, i, work->k)] ? prior : 1 - prior);
  }
  note[NOR_NOTE_JOINT] += own;
  note[NOR_NOTE_ON] += (double) row->n_on / (double) n;
  note[NOR_NOTE_RECORDED] += recorded / ((double) n * m);
}

/* Rows: (G1) to (G3). note: NULL, or of the draw of what rows have, given the parameters before. */
static bool draw_rows(gibbs_work *work, const nor_gibbs_plan *plan, nor_gibbs_record *record,
                      double *note) {
  gibbs_row *row = &work->row;
  for (int i = 0; i < work->data->n; i++) {
    if (!note && i % 256 == 0 && mc_stop(work->set->host, record->n_done, 0)) return false;
    open_row(work, i);
    find_none(work, work->keep, -1, row->none);
    cell_logs(work, row->none, row->logs);
    for (int c = 0; c < work->k; c++)
      if (!work->set->known || work->set->known[num_at(c, i, work->k)] < 0) draw_source(work, i, c);
    if (work->n_grid > 1) work->state->grid[i] = pick_grid(row->logs, row->share);
    draw_hidden(work, i);
    if (note) note_row(work, i, plan, record, note);
  }
  return true;
}

static double within(double p) { return fmin(fmax(p, NOR_LEAST_DRAW), 1 - NOR_LEAST_DRAW); }

static double draw_beta(nor_beta beta, int one, int all) {
  return within(rbeta(beta.one + 1 + one, beta.zero + 1 + all - one));
}

/* (G4) but of what is recorded. */
static void draw_causes(gibbs_work *work) {
  const int k = work->k, n = work->data->n;
  nor_param *par = &work->state->par;
  for (int c = 0; c < k; c++) {
    int on = 0;
    for (int i = 0; i < n; i++) on += work->state->on[num_at(c, i, k)];
    par->prior[c] = draw_beta(work->set->prior, on, n);
  }
  for (int j = 0; j < work->m; j++) {
    const ptrdiff_t at = num_at(0, j, k + 1);
    for (int c = 0; c < k; c++)
      if (nor_allowed(work->set, num_at(c, j, k)))
        par->links[num_at(c, j, k)] =
            draw_beta(work->set->links, work->fired[at + c], work->trials[at + c]);
    par->leak[j] = draw_beta(work->set->leak, work->fired[at + k], work->trials[at + k]);
    if (par->taxon) par->taxon[j] = draw_beta(work->set->taxon, work->through[j], work->present[j]);
  }
}

/* With coef share is that of the rows at hand, and says what rows are like whose effort is not known. */
static void draw_share(const gibbs_work *work) {
  double *share = work->state->par.share, sum = 0;
  int count[NOR_GRID] = {0};
  for (int i = 0; i < work->data->n; i++) count[work->state->grid[i]]++;
  for (int g = 0; g < NOR_GRID; g++)
    sum += share[g] = work->state->par.coef
                          ? count[g]
                          : num_draw_gamma_within(work->set->share + 1 + count[g], 1);
  for (int g = 0; g < NOR_GRID; g++) share[g] = fmax(share[g] / sum, NUM_GAMMA_LEAST);
}

/* Misses are binomial, 9 - g out of 9: each a sum of as many Polya-Gamma variables. */
static void draw_coef(const gibbs_work *work) {
  const int most = NOR_GRID - 1;
  const double ridge = 1 / (NOR_COEF_SD * NOR_COEF_SD), *effort = work->set->effort->effort;
  double *coef = work->state->par.coef, a = ridge, b = 0, d = ridge, left[2] = {0, 0};
  for (int i = 0; i < work->data->n; i++) {
    const double e = effort[i], half = most - work->state->grid[i] - most / 2.;
    double omega = 0;
    for (int t = 0; t < most; t++) omega += num_draw_polya_gamma(coef[0] + coef[1] * e);
    a += omega;
    b += omega * e;
    d += omega * e * e;
    left[0] += half;
    left[1] += half * e;
  }
  /* precision = L L', L = (l, 0; b / l, r); the draw is L'^-1 (L^-1 left + normals) */
  const double l = sqrt(a), below = b / l, r = sqrt(d - below * below);
  const double u = left[0] / l + num_norm();
  const double v = (left[1] - below * left[0] / l) / r + num_norm();
  coef[1] = v / r;
  coef[0] = (u - below * coef[1]) / l;
}

static void add_squares(const double *value, ptrdiff_t n, double *sum) {
  for (ptrdiff_t at = 0; at < n && value; at++) {
    sum[at] += value[at];
    sum[at + n] += value[at] * value[at];
  }
}

/* The parameters that a draw's rows were drawn by. */
static void note_param(const gibbs_work *work, nor_gibbs_record *record, double *note) {
  const nor_param *par = &work->state->par;
  add_squares(par->prior, work->k, record->prior);
  add_squares(par->links, (ptrdiff_t) work->k * work->m, record->links);
  add_squares(par->leak, work->m, record->leak);
  add_squares(par->share, NOR_GRID, record->share);
  add_squares(par->taxon, work->m, record->taxon);
  note[NOR_NOTE_JOINT] += nor_objective(work->set, par, work->m, 0);
  if (!par->coef) return;
  for (int t = 0; t < 2; t++) {
    note[NOR_NOTE_COEF + t] = par->coef[t];
    note[NOR_NOTE_JOINT] -= par->coef[t] * par->coef[t] / (2 * NOR_COEF_SD * NOR_COEF_SD);
  }
}

/* Returns false where the host said stop, before the parameters moved: of no draw that is noted, whose
 * sums are whole. */
static bool sweep(gibbs_work *work, const nor_gibbs_plan *plan, nor_gibbs_record *record,
                  double *note) {
  const size_t m = (size_t) work->m, links = ((size_t) work->k + 1) * m;
  memset(work->fired, 0, links * sizeof(int));
  memset(work->trials, 0, links * sizeof(int));
  memset(work->present, 0, m * sizeof(int));
  memset(work->through, 0, m * sizeof(int));
  work->missed = 0;
  for (int j = 0; j < work->m; j++)
    keep_column(&work->state->par, j, work->keep + num_at(0, j, work->k + 1));
  if (note) note_param(work, record, note);
  if (!draw_rows(work, plan, record, note)) return false;
  draw_causes(work);
  if (work->state->par.coef) draw_coef(work);
  if (work->n_grid > 1) draw_share(work);
  return true;
}

mc_status nor_gibbs_run(const mc_data *data, const nor_settings *set, const nor_gibbs_plan *plan,
                        nor_gibbs_state *state, nor_gibbs_record *record) {
  gibbs_work *work = new_work(data, set, state);
  const int width = NOR_NOTE_PROBE + plan->n_probe;
  const int most = plan->thin > 0 ? plan->n_sweep / plan->thin : 0;
  record->n_done = record->n_draw = record->room_note = 0;
  work->n_stat = state->par.share ? NOR_GIBBS_SCORES : NOR_GIBBS_PLAIN;
  for (int t = 0; t < plan->n_sweep; t++) {
    double *note = NULL;
    if (plan->thin > 0 && (t + 1) % plan->thin == 0) {
      record->note =
          mc_grow(set->host, record->note, record->n_draw, most, width, &record->room_note);
      note = record->note + (ptrdiff_t) record->n_draw * width;
      memset(note, 0, (size_t) width * sizeof *note);
    }
    if (!sweep(work, plan, record, note)) return MC_STOPPED;
    record->n_done = t + 1;
    if (note) {
      note[NOR_NOTE_MISSED] = work->missed;
      record->n_draw++;
    }
    if (mc_stop(set->host, t + 1, 0)) return MC_STOPPED;
  }
  return MC_MAX_PASS;
}
