/*
 * model_bm_near.c: the Bernoulli mixture with neighbours, by neighbourhood EM (see model_bm.h and the
 * second form of smooth.h). Logs and exponentials are taken of all labels at once.
 */
#include <math.h>
#include <string.h>

#include "model_bm_inner.h"
#include "num_log_on.h"
#include "num_logistic.h"

#define LEAST 1e-300  /* what fell to 0 may come back: its log is taken of this */
#define ROUNDED 1e-10 /* a share this small may have been rounded away in its prototype */
#define GONE 1.2e-304 /* num_exp_minus() gives no less than exp(-700): a label so far off is 0 */

static void take_label_logs(const double *membership, ptrdiff_t size, double *log_q) {
  for (ptrdiff_t at = 0; at < size; at++)
    log_q[at] = membership[at] > LEAST ? membership[at] : LEAST;
  num_logs(log_q, size);
}

/* Row i's part of the objective but for its neighbours, from its log joint in w->row. */
static double row_bound(const bm_work *w, const double *membership, int i, int n, int k) {
  double sum = 0;
  for (int c = 0; c < k; c++) {
    const double q = membership[num_at(i, c, n)];
    if (q < NUM_TINY || (q < ROUNDED && w->row[c] == -INFINITY)) continue; /* q log q is 0 */
    sum += q * (w->row[c] - w->log_q[num_at(i, c, n)]);
  }
  return sum;
}

/*
 * The maximum of the bound of smooth.h over q of row i, held back by degree / 2 times strength: how
 * far below their largest its logs are, in place of log_q. A row that is impossible, as is the
 * objective, keeps its label.
 */
static void aim_label(bm_work *w, const double *pull, double hold, int i, int n, int k) {
  const double scale = 1 / (1 + hold);
  double most = -INFINITY;
  for (int c = 0; c < k; c++) {
    w->row[c] = (w->row[c] + pull[c] + hold * w->log_q[num_at(i, c, n)]) * scale;
    most = w->row[c] > most ? w->row[c] : most;
  }
  for (int c = 0; c < k; c++) {
    double *log_q = w->log_q + num_at(i, c, n);
    *log_q = most > -INFINITY ? most - w->row[c] : -*log_q;
  }
}

/* Labels from where they aim, their sums made 1. */
static void move_labels(bm_work *w, double *membership, int n, int k) {
  num_exp_minus(w->log_q, (ptrdiff_t) n * k);
  memset(w->sum_q, 0, (size_t) n * sizeof *w->sum_q);
  for (int c = 0; c < k; c++) num_add_scaled(w->sum_q, 1, w->log_q + num_at(0, c, n), n);
  for (int c = 0; c < k; c++) {
    const double *aim = w->log_q + num_at(0, c, n);
    double *q = membership + num_at(0, c, n);
    for (int i = 0; i < n; i++) q[i] = aim[i] < GONE ? 0 : num_lift(aim[i] / w->sum_q[i]);
  }
}

double bm_near_objective(const mc_data *data, const bm_param *par, bm_work *w, bool move) {
  const int n = data->n, k = par->k;
  double sum = bm_prepare(data, par, w) + mc_smooth_agree(par->smooth, par->membership);
  take_label_logs(par->membership, (ptrdiff_t) n * k, w->log_q);
  for (int i = 0; i < n; i++) {
    if (i % BM_LOOK_EVERY == 0 && mc_stop(w->host, w->passes, w->objective)) return NAN;
    bm_row_log_joint(data, k, w, i);
    sum += row_bound(w, par->membership, i, n, k);
    if (move) aim_label(w, mc_smooth_row(par->smooth, i), w->hold[i], i, n, k);
  }
  if (move) move_labels(w, par->membership, n, k);
  return sum;
}
