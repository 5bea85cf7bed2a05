/* The NMF kernel: its loss against plain sums; no iteration increases it, and iterations end at an
 * optimum. */
#include "check_data.h"
#include "nmf/nmf.h"

typedef struct {
  int n, m, k;
  double *x;
  mc_data data;
  nm_param par;
  nm_work *work;
} problem;

static problem new_problem(int n, int m, int k, double density, double missing, nm_loss loss) {
  static mc_host host; /* the work space keeps its address */
  host = check_host();
  problem p = {.n = n, .m = m, .k = k};
  p.x = check_table(n, m, density, missing);
  p.data = check_view(p.x, n, m);
  p.par = (nm_param){.k = k, .loss = loss};
  p.par.coefficients = check_probabilities((ptrdiff_t) k * n);
  p.par.basis = check_probabilities((ptrdiff_t) k * m);
  p.work = nm_new_work(&p.data, k, 1, &host);
  return p;
}

static double mean_at(const problem *p, int i, int j) {
  double sum = 0;
  for (int c = 0; c < p->k; c++)
    sum += p->par.coefficients[num_at(c, i, p->k)] * p->par.basis[num_at(c, j, p->k)];
  return sum;
}

static double reference_loss(const problem *p) {
  double sum = 0;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m; j++) {
      const double x = p->x[num_at(i, j, p->n)], mean = mean_at(p, i, j);
      if (isnan(x)) continue;
      if (p->par.loss == NM_EUCLIDEAN)
        sum += 0.5 * (x - mean) * (x - mean);
      else
        sum += (x > 0 ? x * log(x / mean) : 0) - x + mean;
    }
  return sum;
}

static void descend(problem p, bool multiplicative, int iterations) {
  double before = INFINITY;
  p.par.multiplicative = multiplicative;
  for (int pass = 0; pass < iterations; pass++) {
    const double want = reference_loss(&p);
    CHECK_NEAR(-nm_objective(&p.data, &p.par, p.work), want, 1e-10);
    CHECK_NEAR(-nm_pass(&p.data, &p.par, p.work), want, 1e-10);
    CHECK(want <= before + 1e-10);
    before = want;
  }
}

static void each_way(int n, int m, int k, double density, double missing) {
  for (int loss = 0; loss < 2; loss++)
    for (int way = 0; way < 2; way++)
      descend(new_problem(n, m, k, density, missing, (nm_loss) loss), way, 15);
}

static void plain_and_missing(void) {
  each_way(9, 6, 2, 0.5, 0);
  each_way(9, 6, 2, 0.1, 0.3);
  each_way(9, 6, 2, 0.5, 0.3);
}

static void many_blocks(void) { each_way(700, 90, 3, 0.1, 0.02); }

static void edges(void) {
  each_way(1, 1, 1, 1, 0);
  each_way(1, 7, 3, 0.5, 0.2);
  each_way(7, 1, 3, 0.5, 0.2);
  each_way(5, 4, 2, 0, 0);
  each_way(5, 4, 2, 1, 0);
  each_way(4, 3, 2, 0.5, 1); /* nothing observed */
}

/* Coordinate descent converges to a point that satisfies the optimality conditions. */
static void optimum(void) {
  for (int loss = 0; loss < 2; loss++) {
    problem p = new_problem(15, 8, 2, 0.4, 0.1, (nm_loss) loss);
    for (int pass = 0; pass < 3000; pass++) nm_pass(&p.data, &p.par, p.work);
    CHECK(nm_residual(p.work) < 1e-12);
  }
}

static void turned(void) {
  double *x = check_table(7, 4, 0.4, 0.2);
  const mc_host host = check_host();
  const mc_data data = check_view(x, 7, 4), over = mc_transpose(&data, &host);
  CHECK(over.n == 4 && over.m == 7);
  for (int j = 0; j < 4; j++) {
    int one = over.start[j], gap = over.na_start[j];
    for (int i = 0; i < 7; i++) {
      const double cell = x[num_at(i, j, 7)];
      if (isnan(cell)) CHECK(over.na_column[gap++] == i);
      if (cell == 1) CHECK(over.column[one++] == i);
    }
    CHECK(one == over.start[j + 1] && gap == over.na_start[j + 1]);
  }
}

/* Multiplicative iterations under KL, alternating and as a sum over rows; an evaluation changes nothing. */
static void sum_over_rows(void) {
  problem p = new_problem(31, 9, 3, 0.3, 0.1, NM_KL), q = p;
  const mc_host host = check_host();
  p.par.multiplicative = q.par.multiplicative = true;
  q.par.coefficients = exact_copy(p.par.coefficients, (ptrdiff_t) p.k * p.n);
  q.par.basis = exact_copy(p.par.basis, (ptrdiff_t) p.k * p.m);
  q.work = nm_new_work(&q.data, q.k, 1, &host);
  nm_self self = {&q.data, &q.par, q.work};
  mc_shards sums = nm_sum_model(&self);
  mc_model model = mc_whole_model(&sums, &host);
  for (int pass = 0; pass < 5; pass++) {
    CHECK_NEAR(model.pass(model.self), nm_pass(&p.data, &p.par, p.work), 1e-12);
    CHECK_NEAR(model.objective(model.self), nm_objective(&p.data, &p.par, p.work), 1e-12);
    CHECK_NEAR(nm_residual(q.work), nm_residual(p.work), 1e-12);
  }
  CHECK(check_distance(p.par.basis, q.par.basis, (ptrdiff_t) p.k * p.m) < 1e-12);
}

int main(void) {
  RUN(plain_and_missing);
  RUN(many_blocks);
  RUN(edges);
  RUN(optimum);
  RUN(turned);
  RUN(sum_over_rows);
  return check_report();
}
