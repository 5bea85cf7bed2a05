#include "visits_occupancy/history.h"
#include "num/base.h"

static const double least_likelihood = 1e-300;

/* P(history | present, u, b) of row r times the weight of b, n_u. */
static void history_at(const occ_histories *h, int r, int b, double *each) {
  const double *odds = h->odds + num_at(0, h->taxon[r], h->n_u);
  for (int g = 0; g < h->n_u; g++) each[g] = h->weight[b];
  for (int v = 0; v < h->n_visit; v++) {
    const ptrdiff_t at = num_at(v, r, h->n_visit);
    if (h->found[at] < 0) continue;
    const double factor = h->visit[at] * h->node[b];
    if (h->found[at]) {
      for (int g = 0; g < h->n_u; g++) each[g] *= odds[g] * factor / (1 + odds[g] * factor);
    } else {
      for (int g = 0; g < h->n_u; g++) each[g] /= 1 + odds[g] * factor;
    }
  }
}

/* P(history | present, u, b) of row r times the weight of b, n_u x n_node, and its sum over b, n_u. */
static void history_of(const occ_histories *h, int r, double *each, double *sum) {
  for (int g = 0; g < h->n_u; g++) sum[g] = 0;
  for (int b = 0; b < h->n_node; b++) {
    double *mine = each + num_at(0, b, h->n_u);
    history_at(h, r, b, mine);
    for (int g = 0; g < h->n_u; g++) sum[g] += mine[g];
  }
  for (int g = 0; g < h->n_u; g++)
    if (!(sum[g] > least_likelihood)) sum[g] = least_likelihood;
}

void occ_likelihood(const occ_histories *h, int first, int last, double *scratch,
                    double *likelihood) {
  for (int r = first; r < last; r++) history_of(h, r, scratch, likelihood + num_at(0, r, h->n_u));
}

void occ_shift(const occ_histories *h, int first, int last, const double *present, double *scratch,
               double *slope, double *curve) {
  for (int r = first; r < last; r++) {
    const double *odds = h->odds + num_at(0, h->taxon[r], h->n_u);
    const double *there = present + num_at(0, r, h->n_u);
    double *sum = scratch, *each = scratch + h->n_u;
    history_of(h, r, each, sum);
    /* From here on `each` is how many cells have the taxon, this u and this b. */
    for (int b = 0; b < h->n_node; b++) {
      double *mine = each + num_at(0, b, h->n_u);
      for (int g = 0; g < h->n_u; g++) mine[g] *= there[g] / sum[g];
    }
    for (int v = 0; v < h->n_visit; v++) {
      const ptrdiff_t at = num_at(v, r, h->n_visit);
      if (h->found[at] < 0) continue;
      double by = 0, by_twice = 0;
      for (int b = 0; b < h->n_node; b++) {
        const double factor = h->visit[at] * h->node[b];
        const double *mine = each + num_at(0, b, h->n_u);
        for (int g = 0; g < h->n_u; g++) {
          const double missed = 1 / (1 + odds[g] * factor), found = 1 - missed;
          by += mine[g] * (h->found[at] ? missed : -found);
          by_twice += mine[g] * missed * found;
        }
      }
      const ptrdiff_t to = num_at(h->taxon[r], v, h->m);
      slope[to] += by;
      curve[to] += by_twice;
    }
  }
}
