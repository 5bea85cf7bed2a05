/* The aspect Bernoulli kernel against a transcription of the paper's equations. */
#include "check_aspect_bernoulli.h"

static ab_work *new_work(const problem *p, int n_threads) {
  return ab_new_work(&p->data, &p->prior, n_threads, new_host());
}

static double cell_probability(const problem *p, int i, int j) {
  double sum = 0;
  for (int c = 0; c < p->k; c++)
    sum += p->par.membership[num_at(i, c, p->n)] * p->par.aspects[num_at(c, j, p->k)];
  return sum;
}

static double reference_loglik(const problem *p) {
  double sum = 0;
  for (int i = 0; i < p->n; i++) {
    for (int j = 0; j < p->m; j++) {
      const double x = p->x[num_at(i, j, p->n)], q = cell_probability(p, i, j);
      if (!isnan(x)) sum += log(x > 0 ? q : 1 - q);
    }
  }
  return sum;
}

/* Expected share of component c in observed cell (i, j), over membership: x a / p + (1 - x) (1 - a)
 * / (1 - p). */
static double share(const problem *p, int i, int c, int j) {
  const double x = p->x[num_at(i, j, p->n)], q = cell_probability(p, i, j);
  const double aspect = p->par.aspects[num_at(c, j, p->k)];
  if (isnan(x)) return 0;
  return x > 0 ? aspect / q : (1 - aspect) / (1 - q);
}

/* Eqs. (16)-(21), memberships first, with the pseudo-counts of the prior. */
static void reference_pass(problem *p) {
  const int n = p->n, m = p->m, k = p->k;
  double *membership = exact((ptrdiff_t) n * k), *aspects = exact((ptrdiff_t) k * m);
  for (int i = 0; i < n; i++) {
    double observed = 0;
    for (int j = 0; j < m; j++) observed += !isnan(p->x[num_at(i, j, n)]);
    for (int c = 0; c < k; c++) {
      const double now = p->par.membership[num_at(i, c, n)];
      double count = 0;
      for (int j = 0; j < m; j++) count += now * share(p, i, c, j);
      double total = observed;
      for (int d = 0; d < k; d++) total += p->prior.membership[d];
      membership[num_at(i, c, n)] = total > 0 ? (count + p->prior.membership[c]) / total : now;
    }
  }
  memcpy(p->par.membership, membership, (size_t) n * (size_t) k * sizeof(double));
  for (int j = 0; j < m; j++) {
    for (int c = 0; c < k; c++) {
      double one = p->prior.one[c], zero = p->prior.zero[c];
      for (int i = 0; i < n; i++) {
        const double wrote = p->par.membership[num_at(i, c, n)] * share(p, i, c, j);
        if (p->x[num_at(i, j, n)] > 0) one += wrote;
        if (p->x[num_at(i, j, n)] <= 0) zero += wrote;
      }
      const double now = p->par.aspects[num_at(c, j, k)];
      aspects[num_at(c, j, k)] = one + zero > 0 ? one / (one + zero) : now;
    }
  }
  memcpy(p->par.aspects, aspects, (size_t) k * (size_t) m * sizeof(double));
}

static void hold_to_reference(problem p) {
  problem want = copy_problem(&p);
  ab_work *work = new_work(&p, 1);
  for (int pass = 0; pass < 3; pass++) {
    const double loglik = reference_loglik(&want);
    if (p.prior.row <= 0) {
      CHECK_NEAR(ab_objective(&p.data, &p.par, work), loglik, 1e-13);
      CHECK_NEAR(ab_pass(&p.data, &p.par, work), loglik, 1e-13);
    } else {
      ab_pass(&p.data, &p.par, work);
    }
    reference_pass(&want);
    CHECK(difference(&p, &want) <= 1e-13);
  }
}

static void test_pass_equals_reference(void) {
  const int shapes[][3] = {{7, 5, 2}, {1, 6, 3}, {6, 1, 2}, {1, 1, 1}, {9, 4, 1}, {30, 17, 6}};
  for (int s = 0; s < 6; s++) {
    hold_to_reference(new_problem(shapes[s][0], shapes[s][1], shapes[s][2], 0));
    hold_to_reference(new_problem(shapes[s][0], shapes[s][1], shapes[s][2], 0.3));
  }
}

static void test_prior_equals_reference(void) {
  problem p = new_problem(8, 6, 3, 0.2);
  p.prior = alike(3, 0.2, 1, 0.5);
  hold_to_reference(p);
  p.prior = unlike(3);
  hold_to_reference(p);
}

static void test_many_blocks_and_threads(void) {
  const problem p = new_problem(1500, 23, 3, 0.05); /* more row blocks than one */
  problem one = copy_problem(&p), two = copy_problem(&p), want = copy_problem(&p);
  ab_work *work_one = new_work(&one, 1), *work_two = new_work(&two, 2);
  for (int pass = 0; pass < 3; pass++) {
    const double a = ab_pass(&one.data, &one.par, work_one);
    const double b = ab_pass(&two.data, &two.par, work_two);
    CHECK(a == b);
    CHECK(difference(&one, &two) == 0);
  }
  for (int pass = 0; pass < 3; pass++) reference_pass(&want);
  CHECK(difference(&one, &want) <= 1e-12);
}

static void never_lowers_the_objective(ab_prior prior) {
  problem p = new_problem(40, 12, prior.k, 0.1);
  p.prior = prior;
  ab_work *work = new_work(&p, 1);
  double before = -INFINITY;
  for (int pass = 0; pass < 200; pass++) {
    const double now = ab_pass(&p.data, &p.par, work);
    CHECK(now >= before - 1e-9);
    before = now;
  }
  for (int i = 0; i < p.n; i++) {
    double sum = 0;
    for (int c = 0; c < p.k; c++) sum += p.par.membership[num_at(i, c, p.n)];
    CHECK_NEAR(sum, 1, 1e-12);
  }
}

static void test_never_lowers_the_objective(void) {
  never_lowers_the_objective(alike(4, 0.2, 1, 0.1));
  never_lowers_the_objective(unlike(4));
}

static void test_exact_bounds_stay(void) {
  problem p = new_problem(20, 8, 3, 0);
  for (int j = 0; j < p.m; j++) p.par.aspects[num_at(1, j, p.k)] = 0;
  p.par.membership[num_at(4, 1, p.n)] = 0;
  ab_work *work = new_work(&p, 1);
  for (int pass = 0; pass < 500; pass++) ab_pass(&p.data, &p.par, work);
  for (int j = 0; j < p.m; j++) CHECK(p.par.aspects[num_at(1, j, p.k)] == 0);
  CHECK(p.par.membership[num_at(4, 1, p.n)] == 0);
}

static void test_pinned_and_fixed_aspects(void) {
  problem p = new_problem(20, 8, 3, 0.1);
  int *fixed = exact_int(3);
  fixed[2] = 1;
  p.par.fixed = fixed;
  problem before = copy_problem(&p);
  ab_work *work = new_work(&p, 1);
  ab_pass(&p.data, &p.par, work);
  for (int j = 0; j < p.m; j++) {
    const ptrdiff_t at = num_at(2, j, p.k);
    CHECK(p.par.aspects[at] == before.par.aspects[at]);
    CHECK(p.par.aspects[at - 1] != before.par.aspects[at - 1]);
  }
  before = copy_problem(&p);
  p.par.fixed_aspects = true;
  ab_pass(&p.data, &p.par, work);
  CHECK(check_distance(p.par.aspects, before.par.aspects, (ptrdiff_t) p.k * p.m) == 0);
  CHECK(difference(&p, &before) > 0);
}

/* Rows and columns without observed cells are unchanged; a column of ones reaches 1. */
static void test_unobserved(void) {
  problem p = new_problem(6, 5, 2, 0);
  for (int j = 0; j < p.m; j++) p.x[num_at(2, j, p.n)] = NAN;
  for (int i = 0; i < p.n; i++) p.x[num_at(i, 3, p.n)] = NAN;
  for (int i = 0; i < p.n; i++)
    if (i != 2) p.x[num_at(i, 1, p.n)] = 1;
  p.data = check_view(p.x, p.n, p.m);
  problem before = copy_problem(&p);
  hold_to_reference(copy_problem(&p));
  ab_pass(&p.data, &p.par, new_work(&p, 1));
  for (int c = 0; c < p.k; c++) {
    CHECK(p.par.membership[num_at(2, c, p.n)] == before.par.membership[num_at(2, c, p.n)]);
    CHECK(p.par.aspects[num_at(c, 3, p.k)] == before.par.aspects[num_at(c, 3, p.k)]);
    CHECK_NEAR(p.par.aspects[num_at(c, 1, p.k)], 1, 1e-14);
  }
}

static void test_impossible_cell(void) {
  problem p = new_problem(6, 5, 2, 0);
  p.x[num_at(3, 2, p.n)] = 1;
  p.data = check_view(p.x, p.n, p.m);
  for (int c = 0; c < p.k; c++) p.par.aspects[num_at(c, 2, p.k)] = 0;
  CHECK(ab_objective(&p.data, &p.par, new_work(&p, 1)) == -INFINITY);
}

static int stop_at_once(void *ctx, int pass, double objective) {
  (void) ctx;
  (void) pass;
  (void) objective;
  return 1;
}

static void test_stop(void) {
  problem p = new_problem(50, 5, 2, 0);
  mc_host host = check_host();
  host.tick = stop_at_once;
  ab_work *work = ab_new_work(&p.data, &p.prior, 2, &host);
  CHECK(isnan(ab_pass(&p.data, &p.par, work)));
  CHECK(isnan(ab_objective(&p.data, &p.par, work)));
}

/* Fold-in is concave: at convergence the certificate for memberships is nearly 0. */
static void test_certificate(void) {
  problem p = new_problem(25, 10, 3, 0.1);
  ab_work *work = new_work(&p, 1);
  p.par.fixed_aspects = true;
  const ab_certificate before = ab_certify(&p.data, &p.par, work);
  const double from = ab_objective(&p.data, &p.par, work);
  for (int pass = 0; pass < 20000; pass++) ab_pass(&p.data, &p.par, work);
  const ab_certificate after = ab_certify(&p.data, &p.par, work);
  const double gained = ab_objective(&p.data, &p.par, work) - from;
  CHECK(gained >= 0 && gained <= before.membership);
  CHECK(after.membership >= -1e-9 && after.membership < 1e-2);
  CHECK(after.worst < before.worst);
}

static void test_engine_runs_the_model(void) {
  problem p = new_problem(30, 9, 3, 0.1), plain = copy_problem(&p);
  ab_work *work = new_work(&p, 1);
  const mc_host host = check_host();
  ab_self self = {&p.data, &p.par, work};
  mc_model model = ab_model(&self);
  mc_trace trace;
  const mc_control five = {.max_iter = 5, .n_threads = 1};
  CHECK(mc_fit(&model, &five, &host, &trace) == MC_MAX_PASS);
  for (int pass = 0; pass < 5; pass++) reference_pass(&plain);
  CHECK(difference(&p, &plain) <= 1e-12);
  const mc_control fast = {.max_iter = 3000, .tol = 1e-9, .accelerate = true, .n_threads = 1};
  mc_trace long_trace;
  CHECK(mc_fit(&model, &fast, &host, &long_trace) == MC_CONVERGED);
  for (int t = 1; t < long_trace.n_iter; t++)
    CHECK(long_trace.objective[t] >= long_trace.objective[t - 1]);
  CHECK_NEAR(reference_loglik(&p), long_trace.final, 1e-10);
}

/* Comparison with individual logs, for memberships that are 0, barely above it, or NaN. */
static void test_log_prior_of_odd_memberships(void) {
  const int n = 1003, m = 3, k = 2;
  const ab_prior prior = alike(k, 0, 0, 0.3);
  const double odd[] = {0.5, NUM_TINY, 1e-310, 0, NAN};
  double *aspects = exact((ptrdiff_t) k * m);
  for (int i = 0; i < k * m; i++) aspects[i] = 0.5;
  for (int which = 0; which < 5; which++) {
    double *membership = exact((ptrdiff_t) n * k), want = 0;
    for (int i = 0; i < n * k; i++) membership[i] = check_uniform();
    membership[517] = odd[which];
    for (int i = 0; i < n * k; i++) want += 0.3 * log(membership[i]);
    const double got = ab_log_prior(&prior, NULL, n, m, membership, aspects);
    CHECK(isnan(want) ? isnan(got) : got == want || fabs(got - want) <= 1e-12 * fabs(want));
  }
}

int main(void) {
  RUN(test_pass_equals_reference);
  RUN(test_prior_equals_reference);
  RUN(test_many_blocks_and_threads);
  RUN(test_never_lowers_the_objective);
  RUN(test_exact_bounds_stay);
  RUN(test_pinned_and_fixed_aspects);
  RUN(test_unobserved);
  RUN(test_impossible_cell);
  RUN(test_stop);
  RUN(test_certificate);
  RUN(test_engine_runs_the_model);
  RUN(test_log_prior_of_odd_memberships);
  return check_report();
}
