/* Newton steps of the aspect Bernoulli kernel, and the quadratic problems that they solve. */
#include "aspect_bernoulli/effort.h"
#include "aspect_bernoulli/low_rank.h"
#include "aspect_bernoulli/newton.h"
#include "check_aspect_bernoulli.h"
#include "num/quadratic.h"

/* Optimality conditions, up to the tiny ridge: free unknowns have no slope, and those at a bound no
 * slope pointing inside. */
static void hold_to_conditions(int k, int rank, bool balanced) {
  double *h = exact((ptrdiff_t) k * k), *g = exact(k), *low = exact(k), *high = exact(k);
  double *d = exact(k), *work = exact((ptrdiff_t) num_quadratic_work(k)), sum = 0, multiplier = 0;
  int *side = exact_int(k), *which = exact_int(k), n_free = 0;
  for (int r = 0; r < rank; r++) {
    double v[9];
    const double slope = 4 * check_uniform() - 2;
    for (int c = 0; c < k; c++) v[c] = check_uniform() - (balanced ? 0 : 0.5);
    for (int c = 0; c < k; c++) {
      g[c] += slope * v[c];
      for (int e = 0; e < k; e++) h[c + (ptrdiff_t) e * k] += v[c] * v[e];
    }
  }
  for (int c = 0; c < k; c++) {
    low[c] = c % 3 == 1 ? 0 : -check_uniform();
    high[c] = balanced ? INFINITY : c % 4 == 3 ? 0 : check_uniform();
  }
  const num_quadratic_problem asked = {h, g, low, high, k, balanced};
  CHECK(num_quadratic(&asked, d, side, work, which));
  for (int c = 0; c < k; c++) {
    sum += d[c];
    for (int e = 0; e < k; e++) g[c] -= h[c + (ptrdiff_t) e * k] * d[e];
    CHECK(d[c] >= low[c] && d[c] <= high[c]);
    CHECK(side[c] == 0 || d[c] == (side[c] < 0 ? low[c] : high[c]));
    if (side[c] == 0) multiplier += g[c];
    n_free += side[c] == 0;
  }
  if (balanced) CHECK_NEAR(sum, 0, 1e-12);
  multiplier = balanced && n_free > 0 ? multiplier / n_free : 0;
  for (int c = 0; c < k; c++) {
    if (low[c] >= high[c]) continue;
    if (side[c] == 0) CHECK_NEAR(g[c], multiplier, 1e-6);
    if (side[c] < 0) CHECK(g[c] <= multiplier + 1e-6);
    if (side[c] > 0) CHECK(g[c] >= multiplier - 1e-6);
  }
}

static void test_quadratic_problems(void) {
  for (int round = 0; round < 27; round++) {
    hold_to_conditions(1 + round % 9, 12, false);
    hold_to_conditions(1 + round % 9, 12, true);
    hold_to_conditions(2 + round % 5, 2, false);
    hold_to_conditions(2 + round % 5, 2, true);
  }
}

static void test_quadratic_without_numbers(void) {
  double h[] = {NAN, 0, 0, 1}, g[] = {1, 1}, low[] = {-1, -1}, high[] = {1, 1}, d[2], work[8];
  int side[2], which[2];
  const num_quadratic_problem asked = {h, g, low, high, 2, false};
  CHECK(!num_quadratic(&asked, d, side, work, which));
  CHECK(d[0] == 0 && d[1] == 0);
}

static ab_newton *new_work(const problem *p, int n_threads) {
  return ab_new_newton(&p->data, &p->prior, false, n_threads, new_host());
}

static void hold_work_to_guarantees(problem p, int iterations, ab_newton *work) {
  ab_work *em = ab_new_work(&p.data, &p.prior, 1, new_host());
  double before = -INFINITY;
  for (int pass = 0; pass < iterations; pass++) {
    const double now = ab_objective(&p.data, &p.par, em);
    CHECK_NEAR(ab_newton_pass(&p.data, &p.par, work), now, 1e-12);
    CHECK(now >= before - 1e-10 * (1 + fabs(now)));
    CHECK(ab_newton_decrement(work) >= 0);
    before = now;
  }
  for (int i = 0; i < p.n; i++) {
    double sum = 0;
    for (int c = 0; c < p.k; c++) sum += p.par.membership[num_at(i, c, p.n)];
    CHECK_NEAR(sum, 1, 1e-12);
  }
  for (ptrdiff_t at = 0; at < (ptrdiff_t) p.k * p.m; at++)
    CHECK(p.par.aspects[at] >= 0 && p.par.aspects[at] <= 1);
}

static void hold_to_guarantees(problem p, int iterations) {
  hold_work_to_guarantees(p, iterations, new_work(&p, 1));
}

static ab_prior none(int k) { return alike(k, 0, 0, 0); }
static ab_prior weak(int k) { return alike(k, 0.2, 1, 0.1); }
static ab_prior odd(int k) { return alike(k, 1e-4, 0, 50); }

static void never_lowers_the_objective(ab_prior (*prior)(int k)) {
  const int shapes[][3] = {{7, 5, 2}, {1, 6, 3}, {6, 1, 2},   {1, 1, 1},
                           {9, 4, 1}, {5, 4, 9}, {70, 17, 6}, {600, 20, 3}};
  for (int s = 0; s < 8; s++) {
    problem p = new_problem(shapes[s][0], shapes[s][1], shapes[s][2], s % 2 ? 0.3 : 0);
    p.prior = prior(p.k);
    hold_to_guarantees(p, 15);
  }
}

static void test_likelihood_never_falls(void) { never_lowers_the_objective(none); }
static void test_posterior_never_falls(void) { never_lowers_the_objective(weak); }
static void test_posterior_of_odd_priors_never_falls(void) {
  never_lowers_the_objective(odd);
  never_lowers_the_objective(unlike);
}

/* A half iterated to convergence has nothing to gain, by EM's own certificate. */
static void test_halves_to_the_end(void) {
  for (int round = 0; round < 12; round++) {
    problem p = new_problem(12, 9, 2 + round % 3, 0.2);
    if (round % 2) p.prior = round % 4 == 1 ? alike(p.k, 0.3, 0.1, 0.2) : unlike(p.k);
    problem rows = copy_problem(&p), columns = copy_problem(&p);
    ab_newton *work = new_work(&p, 1);
    ab_work *em = ab_new_work(&p.data, &p.prior, 1, new_host());
    rows.par.fixed_aspects = true;
    columns.par.fixed_membership = true;
    for (int pass = 0; pass < 200; pass++) {
      ab_newton_pass(&p.data, &rows.par, work);
      ab_newton_pass(&p.data, &columns.par, work);
    }
    CHECK(ab_certify(&p.data, &rows.par, em).membership < 1e-8);
    CHECK(check_distance(rows.par.aspects, p.par.aspects, (ptrdiff_t) p.k * p.m) == 0);
    CHECK(ab_certify(&p.data, &columns.par, em).aspects < 1e-8);
    CHECK(check_distance(columns.par.membership, p.par.membership, (ptrdiff_t) p.n * p.k) == 0);
  }
}

static void test_many_blocks_and_threads(void) {
  const problem p = new_problem(700, 301, 4, 0.05);
  problem one = copy_problem(&p), two = copy_problem(&p);
  ab_newton *work_one = new_work(&one, 1), *work_two = new_work(&two, 2);
  for (int pass = 0; pass < 3; pass++) {
    const double a = ab_newton_pass(&one.data, &one.par, work_one);
    const double b = ab_newton_pass(&two.data, &two.par, work_two);
    CHECK(a == b);
    CHECK(difference(&one, &two) == 0);
  }
}

/* A table with few ones, and small aspects in most of its columns. */
static problem new_sparse_problem(int n, int m, int k, double missing) {
  problem p = new_problem(n, m, k, missing);
  for (ptrdiff_t at = 0; at < (ptrdiff_t) n * m; at++)
    if (p.x[at] == 1 && check_uniform() < 0.85) p.x[at] = 0;
  p.data = check_view(p.x, n, m);
  for (int j = 0; j < m; j++)
    for (int c = 0; c < k && j % 5 != 0; c++) p.par.aspects[num_at(c, j, k)] *= 0.14;
  return p;
}

static ab_newton *new_sparse_work(const problem *p, int n_threads) {
  return ab_new_newton(&p->data, &p->prior, true, n_threads, new_host());
}

static void sparse_form_never_falls(ab_prior (*prior)(int k)) {
  for (int round = 0; round < 7; round++) {
    problem p = new_sparse_problem(20 + round, 15, 1 + round % 5, round % 3 ? 0.2 : 0);
    p.prior = prior(p.k);
    hold_work_to_guarantees(p, 15, new_sparse_work(&p, 1));
  }
}

static void test_sparse_likelihood_never_falls(void) { sparse_form_never_falls(none); }
static void test_sparse_posterior_never_falls(void) { sparse_form_never_falls(weak); }

static void test_parabola(void) {
  for (int percent = 1; percent < 50; percent++) {
    const double cap = 0.01 * percent;
    double f[AB_PARABOLA];
    ab_parabola(cap, f);
    for (int step = 0; step <= 20; step++) {
      const double p = cap * step / 20;
      CHECK_NEAR(ab_parabola_at(f, p), 1 / (1 - p), 0.2 * cap * cap * cap);
      CHECK_NEAR(ab_parabola_integral(f, p), -log1p(-p), 0.1 * cap * cap * cap * cap);
    }
  }
}

/* The surrogate objective with unscanned zeros: near the objective, and never decreasing. */
static void climb_unscanned(int k, double missing, bool pin, ab_prior (*prior)(int k)) {
  problem p = new_sparse_problem(300, 31, k, missing);
  int *fixed = exact_int(k);
  fixed[k - 1] = pin;
  p.prior = prior(k);
  p.par.fixed = fixed;
  for (int j = 0; j < p.m && pin; j++) p.par.aspects[num_at(k - 1, j, k)] = 0;
  problem twin = copy_problem(&p);
  const mc_host host = check_host();
  ab_work *em = ab_new_work(&p.data, &p.prior, 1, &host);
  ab_newton_self self = {{&p.data, &p.par, em}, new_sparse_work(&p, 1)};
  ab_newton_self other = {{&twin.data, &twin.par, em}, new_sparse_work(&twin, 2)};
  mc_model model = ab_newton_model(&self), second = ab_newton_model(&other);
  CHECK(model.next(&self, false) && second.next(&other, false));
  double before = -INFINITY;
  for (int pass = 0; pass < 20; pass++) {
    const double now = model.objective(&self), truth = ab_objective(&p.data, &p.par, em);
    CHECK_NEAR(model.pass(&self), now, 1e-12);
    CHECK_NEAR(second.pass(&other), now, 1e-12);
    CHECK(now >= before - 1e-10 * (1 + fabs(now)));
    CHECK_NEAR(now, truth, 1e-4 * (1 + fabs(truth)));
    CHECK(difference(&p, &twin) == 0);
    before = now;
  }
  CHECK(model.next(&self, true)); /* the objective itself */
  CHECK(model.objective(&self) == ab_objective(&p.data, &p.par, em));
  CHECK(!model.next(&self, true));
}

static void test_unscanned_likelihood(void) { climb_unscanned(4, 0, false, none); }
static void test_unscanned_with_missing(void) { climb_unscanned(3, 0.1, false, none); }
static void test_unscanned_posterior(void) { climb_unscanned(5, 0.1, false, unlike); }
static void test_unscanned_with_phantom(void) { climb_unscanned(4, 0.05, true, weak); }
static void test_unscanned_of_one_component(void) { climb_unscanned(1, 0, false, none); }

static void test_unobserved_and_pinned_stay(void) {
  problem p = new_problem(8, 6, 3, 0);
  int *fixed = exact_int(3);
  fixed[2] = 1;
  p.par.fixed = fixed;
  for (int j = 0; j < p.m; j++) p.x[num_at(2, j, p.n)] = NAN;
  for (int i = 0; i < p.n; i++) p.x[num_at(i, 3, p.n)] = NAN;
  for (int j = 0; j < p.m; j++) p.par.aspects[num_at(2, j, p.k)] = 0;
  p.data = check_view(p.x, p.n, p.m);
  const problem before = copy_problem(&p);
  hold_to_guarantees(p, 20);
  for (int c = 0; c < p.k; c++) {
    CHECK_NEAR(p.par.membership[num_at(2, c, p.n)], before.par.membership[num_at(2, c, p.n)],
               1e-15);
    CHECK(p.par.aspects[num_at(c, 3, p.k)] == before.par.aspects[num_at(c, 3, p.k)]);
  }
  for (int j = 0; j < p.m; j++) CHECK(p.par.aspects[num_at(2, j, p.k)] == 0);
}

static void test_impossible_cell(void) {
  problem p = new_problem(6, 5, 2, 0);
  p.x[num_at(3, 2, p.n)] = 1;
  p.data = check_view(p.x, p.n, p.m);
  for (int c = 0; c < p.k; c++) p.par.aspects[num_at(c, 2, p.k)] = 0;
  CHECK(ab_newton_pass(&p.data, &p.par, new_work(&p, 1)) == -INFINITY);
}

static void test_nearly_impossible_cell(void) {
  problem p = new_problem(6, 5, 2, 0);
  p.x[num_at(3, 2, p.n)] = 1;
  p.data = check_view(p.x, p.n, p.m);
  for (int c = 0; c < p.k; c++) p.par.aspects[num_at(c, 2, p.k)] = 1e-200;
  hold_to_guarantees(p, 1000); /* a step multiplies p by 1.5 */
  CHECK(fmax(p.par.aspects[num_at(0, 2, p.k)], p.par.aspects[num_at(1, 2, p.k)]) > 0.1);
}

static void test_stop(void) {
  problem p = new_problem(50, 5, 2, 0);
  mc_host host = check_host();
  host.tick = check_stop_later;
  check.questions_left = 0;
  CHECK(isnan(ab_newton_pass(&p.data, &p.par, ab_new_newton(&p.data, &p.prior, false, 2, &host))));
  check.questions_left = 1;
  CHECK(isnan(ab_newton_pass(&p.data, &p.par, ab_new_newton(&p.data, &p.prior, false, 1, &host))));
}

/* The host is asked within the only block of columns of a long table, after 32 blocks of rows. */
static void test_stop_within_a_block(void) {
  const int sizes[] = {3, 12};
  for (int s = 0; s < 4; s++) {
    problem p = new_problem(4096, 6, sizes[s / 2], 0.1);
    mc_host host = check_host();
    host.tick = check_stop_later;
    check.questions_left = 34;
    ab_newton *work = ab_new_newton(&p.data, &p.prior, s % 2, 1, &host);
    CHECK(isnan(ab_newton_pass(&p.data, &p.par, work)));
  }
}

static void test_engine_runs_the_model(void) {
  for (int accelerate = 0; accelerate < 2; accelerate++) {
    problem p = new_problem(60, 15, 3, 0.1);
    const mc_host host = check_host();
    ab_newton_self self = {{&p.data, &p.par, ab_new_work(&p.data, &p.prior, 1, &host)},
                           new_work(&p, 1)};
    mc_model model = ab_newton_model(&self);
    const mc_control control = {
        .max_iter = 500, .tol = 1e-10, .accelerate = accelerate, .n_threads = 1};
    mc_trace trace;
    CHECK(mc_fit(&model, &control, &host, &trace) == MC_CONVERGED);
    for (int pass = 1; pass < trace.n_iter; pass++)
      CHECK(trace.objective[pass] >= trace.objective[pass - 1] - 1e-9);
    const ab_certificate gap = ab_certify(&p.data, &p.par, self.ab.work);
    CHECK(gap.membership + gap.aspects < 0.01);
  }
}

int main(void) {
  RUN(test_quadratic_problems);
  RUN(test_quadratic_without_numbers);
  RUN(test_likelihood_never_falls);
  RUN(test_posterior_never_falls);
  RUN(test_posterior_of_odd_priors_never_falls);
  RUN(test_halves_to_the_end);
  RUN(test_many_blocks_and_threads);
  RUN(test_sparse_likelihood_never_falls);
  RUN(test_sparse_posterior_never_falls);
  RUN(test_parabola);
  RUN(test_unscanned_likelihood);
  RUN(test_unscanned_with_missing);
  RUN(test_unscanned_posterior);
  RUN(test_unscanned_with_phantom);
  RUN(test_unscanned_of_one_component);
  RUN(test_unobserved_and_pinned_stay);
  RUN(test_impossible_cell);
  RUN(test_nearly_impossible_cell);
  RUN(test_stop);
  RUN(test_stop_within_a_block);
  RUN(test_engine_runs_the_model);
  return check_report();
}
