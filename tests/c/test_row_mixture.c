/* The likelihood of rows under a mixture of known rows against its definition. */
#include "check_data.h"
#include "engine/row_mixture.h"

#include <math.h>

typedef struct {
  int n_row, m;
  double *weight, *one; /* n_row; n_row x m: probabilities */
  double *log_weight, *empty, *slope;
} known;

static known new_known(int n_row, int m) {
  known p = {.n_row = n_row, .m = m, .weight = check_simplex(1, n_row)};
  p.one = check_probabilities((ptrdiff_t) n_row * m);
  p.log_weight = exact(n_row);
  p.empty = exact((ptrdiff_t) n_row * m);
  p.slope = exact((ptrdiff_t) n_row * m);
  return p;
}

static mc_row_mixture take_logs(known *p) {
  for (int r = 0; r < p->n_row; r++) p->log_weight[r] = log(p->weight[r]);
  for (int at = 0; at < p->n_row * p->m; at++) {
    p->empty[at] = log(1 - p->one[at]);
    p->slope[at] = log(p->one[at]) - (p->one[at] < 1 ? p->empty[at] : 0);
  }
  return (mc_row_mixture){p->n_row, p->log_weight, p->empty, p->slope};
}

static double reference(const known *p, const double *x, int i, int n) {
  double sum = 0;
  for (int r = 0; r < p->n_row; r++) {
    double product = p->weight[r];
    for (int j = 0; j < p->m; j++) {
      const double value = x[num_at(i, j, n)], q = p->one[num_at(r, j, p->n_row)];
      if (!isnan(value)) product *= value > 0 ? q : 1 - q;
    }
    sum += product;
  }
  return log(sum);
}

static void test_definition(void) {
  const int n = 9, m = 6;
  double *x = check_table(n, m, 0.4, 0.2), *out = exact(n);
  const mc_data data = check_view(x, n, m);
  const mc_host host = check_host();
  known p = new_known(4, m);
  const mc_row_mixture mixture = take_logs(&p);
  mc_mixture_loglik(&data, &mixture, &host, out);
  for (int i = 0; i < n; i++) CHECK_NEAR(out[i], reference(&p, x, i, n), 1e-12);
}

/* Exact zeros and ones: the rows that they exclude are impossible, and missing cells do not count. */
static void test_impossible(void) {
  const double cells[] = {1, 0, NAN, 1, 1, 1, 0, 1}; /* 4 x 2, column by column */
  double *x = exact_copy(cells, 8), *out = exact(4);
  const mc_data data = check_view(x, 4, 2);
  const mc_host host = check_host();
  known p = new_known(1, 2);
  p.one[0] = 1;
  p.one[1] = 0.25;
  const mc_row_mixture mixture = take_logs(&p);
  mc_mixture_loglik(&data, &mixture, &host, out);
  CHECK_NEAR(out[0], log(0.25), 1e-12);
  CHECK(out[1] == -INFINITY);
  CHECK_NEAR(out[2], log(0.75), 1e-12);
  CHECK_NEAR(out[3], log(0.25), 1e-12);
}

int main(void) {
  RUN(test_definition);
  RUN(test_impossible);
  return check_report();
}
