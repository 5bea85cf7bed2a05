/* What visits found where a taxon is: sums of products against exponentials of sums. */
#include "check.h"
#include "num/base.h"
#include "visits_occupancy/history.h"

enum { N = 7, M = 3, N_VISIT = 5, N_U = 4, N_NODE = 3 };

static struct {
  double u[M][N_U], shift[N][N_VISIT], b[N_NODE];
  int found[N][N_VISIT], taxon[N];
} model;

static occ_histories new_histories(void) {
  int *taxon = exact_int(N), *found = exact_int((ptrdiff_t) N * N_VISIT);
  double *odds = exact((ptrdiff_t) M * N_U), *visit = exact((ptrdiff_t) N * N_VISIT);
  double *node = exact(N_NODE), *weight = exact(N_NODE);
  for (int j = 0; j < M; j++)
    for (int g = 0; g < N_U; g++)
      odds[num_at(g, j, N_U)] = exp(model.u[j][g] = 6 * check_uniform() - 3);
  for (int r = 0; r < N; r++) {
    taxon[r] = model.taxon[r] = r % M;
    for (int v = 0; v < N_VISIT; v++) {
      const double draw = check_uniform();
      found[num_at(v, r, N_VISIT)] = model.found[r][v] = draw < 0.3 ? -1 : draw < 0.6;
      visit[num_at(v, r, N_VISIT)] = exp(model.shift[r][v] = 2 * check_uniform() - 1);
    }
  }
  for (int b = 0; b < N_NODE; b++) {
    node[b] = exp(model.b[b] = 3 * check_uniform() - 1.5);
    weight[b] = (b + 1) / 6.0;
  }
  return (occ_histories){N, M, N_VISIT, N_U, N_NODE, taxon, found, odds, visit, node, weight};
}

static double log_odds(int r, int v, int g, int b) {
  return model.u[model.taxon[r]][g] + model.shift[r][v] + model.b[b];
}

static double joint(const occ_histories *h, int r, int g, int b) {
  double sum = log(h->weight[b]);
  for (int v = 0; v < N_VISIT; v++) {
    const double eta = log_odds(r, v, g, b);
    if (model.found[r][v] >= 0) sum += (model.found[r][v] ? eta : 0) - log1p(exp(eta));
  }
  return exp(sum);
}

static double likelihood_of(const occ_histories *h, int r, int g) {
  double sum = 0;
  for (int b = 0; b < N_NODE; b++) sum += joint(h, r, g, b);
  return sum;
}

static void likelihood(void) {
  const occ_histories h = new_histories();
  double *got = exact((ptrdiff_t) N * N_U);
  occ_likelihood(&h, 0, N, exact((ptrdiff_t) N_U * (N_NODE + 1)), got);
  for (int r = 0; r < N; r++)
    for (int g = 0; g < N_U; g++)
      CHECK_NEAR(got[num_at(g, r, N_U)], likelihood_of(&h, r, g), 1e-13);
}

static void shift(void) {
  const occ_histories h = new_histories();
  double *present = exact((ptrdiff_t) N * N_U);
  double *slope = exact((ptrdiff_t) M * N_VISIT), *curve = exact((ptrdiff_t) M * N_VISIT);
  for (int e = 0; e < N * N_U; e++) present[e] = 3 * check_uniform();
  occ_shift(&h, 0, N, present, exact((ptrdiff_t) N_U * (N_NODE + 1)), slope, curve);
  for (int v = 0; v < N_VISIT; v++)
    for (int r = 0; r < N; r++)
      for (int e = 0; e < N_U * N_NODE && model.found[r][v] >= 0; e++) {
        const int g = e % N_U, b = e / N_U;
        const double p = 1 / (1 + exp(-log_odds(r, v, g, b)));
        const double share =
            present[num_at(g, r, N_U)] * joint(&h, r, g, b) / likelihood_of(&h, r, g);
        slope[num_at(model.taxon[r], v, M)] -= share * (model.found[r][v] - p);
        curve[num_at(model.taxon[r], v, M)] -= share * p * (1 - p);
      }
  for (int e = 0; e < M * N_VISIT; e++) {
    CHECK_NEAR(slope[e], 0, 1e-12);
    CHECK_NEAR(curve[e], 0, 1e-12);
  }
}

int main(void) {
  RUN(likelihood);
  RUN(shift);
  return check_report();
}
