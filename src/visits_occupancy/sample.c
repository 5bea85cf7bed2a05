#include "visits_occupancy/sample.h"

#include <math.h>
#include <string.h>

#include "num/base.h"
#include "num/linalg.h"
#include "num/rng.h"

static const double degrees = 5; /* of Student's t */

typedef struct {
  const occ_data *data;
  occ_param *par;
  const occ_plan *plan;
  double *chol;            /* size x size x m: Cholesky factors of plan->shape */
  double *loglik;          /* m: of the current state */
  double *off, *trial, *z; /* size */
  double *scratch;
  double accepted[2];
  int size;
} sampler;

static sampler new_sampler(const occ_data *data, occ_param *par, const occ_plan *plan,
                           const mc_host *host) {
  sampler s = {.data = data, .par = par, .plan = plan, .size = occ_size(data)};
  const size_t size = (size_t) s.size, m = (size_t) data->m;
  s.chol = mc_doubles(host, size * size, m);
  memcpy(s.chol, plan->shape, size * size * m * sizeof(double));
  s.loglik = mc_doubles(host, m, 1);
  s.off = mc_doubles(host, size, 1);
  s.trial = mc_doubles(host, size, 1);
  s.z = mc_doubles(host, size, 1);
  s.scratch = mc_doubles(host, occ_scratch(data), 1);
  for (int j = 0; j < data->m; j++) {
    num_chol(s.chol + num_at(0, j, (ptrdiff_t) s.size * s.size), s.size);
    s.loglik[j] = occ_loglik(data, j, par->theta + num_at(0, j, s.size), s.scratch);
  }
  return s;
}

/* Log of eq. (4), up to a constant. */
static double log_prior(const occ_param *par, const double *theta, int size) {
  double sum = 0;
  for (int e = 0; e < size; e++) {
    const double z = (theta[e] - par->center[e]) / par->spread[e];
    sum -= z * z / 2;
  }
  return sum;
}

/* Log-density of Student's t about the mode, up to a constant. */
static double log_student(const sampler *s, int j, const double *theta) {
  const double *chol = s->chol + num_at(0, j, (ptrdiff_t) s->size * s->size);
  const double *mode = s->plan->mode + num_at(0, j, s->size);
  double square = 0;
  for (int e = 0; e < s->size; e++) s->off[e] = theta[e] - mode[e];
  for (int f = 0; f < s->size; f++) {
    double dot = 0;
    for (int e = f; e < s->size; e++) dot += chol[num_at(e, f, s->size)] * s->off[e];
    square += dot * dot;
  }
  return -(degrees + s->size) / 2 * log1p(square / degrees);
}

/* Proposes from + by L'^-1 z. */
static void propose(const sampler *s, int j, const double *from, double by) {
  for (int e = 0; e < s->size; e++) s->z[e] = num_norm();
  num_chol_backward(s->chol + num_at(0, j, (ptrdiff_t) s->size * s->size), s->size, s->z);
  for (int e = 0; e < s->size; e++) s->trial[e] = from[e] + by * s->z[e];
}

/* Metropolis-Hastings step. log_ratio: log ratio of the proposal densities. */
static void accept_or_not(sampler *s, int j, double log_ratio, int kind) {
  double *theta = s->par->theta + num_at(0, j, s->size);
  const double loglik = occ_loglik(s->data, j, s->trial, s->scratch);
  log_ratio += loglik - s->loglik[j] + log_prior(s->par, s->trial, s->size) -
               log_prior(s->par, theta, s->size);
  if (!(-num_draw_exp() < log_ratio)) return;
  memcpy(theta, s->trial, (size_t) s->size * sizeof(double));
  s->loglik[j] = loglik;
  s->accepted[kind]++;
}

static void move_taxon(sampler *s, int j) {
  double *theta = s->par->theta + num_at(0, j, s->size);
  propose(s, j, theta, 2.4 / sqrt(s->size));
  accept_or_not(s, j, 0, 0);
  const double wide = sqrt(degrees / (2 * num_draw_gamma(degrees / 2, 1)));
  propose(s, j, s->plan->mode + num_at(0, j, s->size), wide);
  accept_or_not(s, j, log_student(s, j, theta) - log_student(s, j, s->trial), 1);
}

/* Draws center and spread, eqs. (4) and (5), conditional on the taxa. */
static void draw_sharing(const sampler *s, const occ_prior *prior) {
  const int m = s->data->m;
  for (int e = 0; e < s->size; e++) {
    double sum = 0, square = prior->spread_prior[e];
    const double variance = s->par->spread[e] * s->par->spread[e];
    for (int j = 0; j < m; j++) sum += s->par->theta[num_at(e, j, s->size)];
    const double tight = m + variance / (prior->center_sd[e] * prior->center_sd[e]);
    s->par->center[e] = sum / tight + sqrt(variance / tight) * num_norm();
    for (int j = 0; j < m; j++) {
      const double off = s->par->theta[num_at(e, j, s->size)] - s->par->center[e];
      square += off * off;
    }
    /* Proposes without the factor of spread_sd, which decides acceptance. */
    const double drawn = square / (2 * num_draw_gamma_within((m + 1) / 2.0, 1));
    const double wide = prior->spread_sd[e] * prior->spread_sd[e];
    if (-num_draw_exp() < (variance - drawn) / (2 * wide)) s->par->spread[e] = sqrt(drawn);
  }
}

static void keep(const sampler *s, occ_record *record) {
  const size_t size = (size_t) s->size, m = (size_t) s->data->m, at = (size_t) record->n_draw++;
  memcpy(record->theta + at * size * m, s->par->theta, size * m * sizeof(double));
  memcpy(record->center + at * size, s->par->center, size * sizeof(double));
  memcpy(record->spread + at * size, s->par->spread, size * sizeof(double));
}

mc_status occ_sample(const occ_data *data, occ_param *par, const occ_prior *prior,
                     const occ_plan *plan, const mc_host *host, occ_record *record) {
  sampler s = new_sampler(data, par, plan, host);
  int done = 0;
  for (; done < plan->n_sweep; done++) {
    if (mc_stop(host, done, 0)) break;
    for (int j = 0; j < data->m; j++) move_taxon(&s, j);
    draw_sharing(&s, prior);
    if (plan->thin > 0 && (done + 1) % plan->thin == 0) keep(&s, record);
  }
  for (int kind = 0; kind < 2; kind++)
    record->accepted[kind] = s.accepted[kind] / fmax(1, (double) done * data->m);
  return done < plan->n_sweep ? MC_STOPPED : MC_MAX_PASS;
}
