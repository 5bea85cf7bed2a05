/* What visits found where a taxon is: sums of products against exponentials of sums. */
#include "check.h"
#include "num/base.h"
#include "visits_occupancy/history.h"

enum { n = 7, m = 3, n_visit = 5, n_u = 4, n_node = 3 };

static struct {
  double u[m][n_u], shift[n][n_visit], b[n_node];
  int found[n][n_visit], taxon[n];
} model;

static occ_histories new_histories(void) {
  int *taxon = exact_int(n), *found = exact_int((ptrdiff_t) n * n_visit);
  double *odds = exact((ptrdiff_t) m * n_u), *visit = exact((ptrdiff_t) n * n_visit);
  double *node = exact(n_node), *weight = exact(n_node);
  for (int j = 0; j < m; j++)
    for (int g = 0; g < n_u; g++)
      odds[num_at(g, j, n_u)] = exp(model.u[j][g] = 6 * check_uniform() - 3);
  for (int r = 0; r < n; r++) {
    taxon[r] = model.taxon[r] = r % m;
    for (int v = 0; v < n_visit; v++) {
      const double draw = check_uniform();
      found[num_at(v, r, n_visit)] = model.found[r][v] = draw < 0.3 ? -1 : draw < 0.6;
      visit[num_at(v, r, n_visit)] = exp(model.shift[r][v] = 2 * check_uniform() - 1);
    }
  }
  for (int b = 0; b < n_node; b++) {
    node[b] = exp(model.b[b] = 3 * check_uniform() - 1.5);
    weight[b] = (b + 1) / 6.0;
  }
  return (occ_histories){n, m, n_visit, n_u, n_node, taxon, found, odds, visit, node, weight};
}

static double log_odds(int r, int v, int g, int b) {
  return model.u[model.taxon[r]][g] + model.shift[r][v] + model.b[b];
}

static double joint(const occ_histories *h, int r, int g, int b) {
  double sum = log(h->weight[b]);
  for (int v = 0; v < n_visit; v++) {
    const double eta = log_odds(r, v, g, b);
    if (model.found[r][v] >= 0) sum += (model.found[r][v] ? eta : 0) - log1p(exp(eta));
  }
  return exp(sum);
}

static double likelihood_of(const occ_histories *h, int r, int g) {
  double sum = 0;
  for (int b = 0; b < n_node; b++) sum += joint(h, r, g, b);
  return sum;
}

static void likelihood(void) {
  const occ_histories h = new_histories();
  double *got = exact((ptrdiff_t) n * n_u);
  occ_likelihood(&h, exact(n_u), got);
  for (int r = 0; r < n; r++)
    for (int g = 0; g < n_u; g++)
      CHECK_NEAR(got[num_at(g, r, n_u)], likelihood_of(&h, r, g), 1e-13);
}

static void shift(void) {
  const occ_histories h = new_histories();
  double *present = exact((ptrdiff_t) n * n_u);
  double *slope = exact((ptrdiff_t) m * n_visit), *curve = exact((ptrdiff_t) m * n_visit);
  for (int e = 0; e < n * n_u; e++) present[e] = 3 * check_uniform();
  occ_shift(&h, present, exact(n_u * (n_node + 1)), slope, curve);
  for (int v = 0; v < n_visit; v++)
    for (int r = 0; r < n; r++)
      for (int e = 0; e < n_u * n_node && model.found[r][v] >= 0; e++) {
        const int g = e % n_u, b = e / n_u;
        const double p = 1 / (1 + exp(-log_odds(r, v, g, b)));
        const double share =
            present[num_at(g, r, n_u)] * joint(&h, r, g, b) / likelihood_of(&h, r, g);
        slope[num_at(model.taxon[r], v, m)] -= share * (model.found[r][v] - p);
        curve[num_at(model.taxon[r], v, m)] -= share * p * (1 - p);
      }
  for (int e = 0; e < m * n_visit; e++) {
    CHECK_NEAR(slope[e], 0, 1e-12);
    CHECK_NEAR(curve[e], 0, 1e-12);
  }
}

int main(void) {
  RUN(likelihood);
  RUN(shift);
  return check_report();
}
