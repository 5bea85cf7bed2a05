/* Neighbours: their selection; iterations with them never decrease the objective. */
#include "aspect_bernoulli/em.h"
#include "bernoulli_mixture/em.h"
#include "check_data.h"
#include "check_prior.h"
#include "num/neighbours.h"
#include "plsa/plsa.h"

/* Ages 0, 1, 1, 4 and an unknown one. */
static num_sites five_sites(void) {
  const double age[] = {0, 1, 1, 4, NAN};
  double *copy = exact_copy(age, 5);
  return (num_sites){.n = 5, .low = copy, .high = copy};
}

static const num_nearness one_unit = {1, 1, 1, 1, 100, 30};

/* Neighbours of site i among all others. */
static int neighbours(const num_sites *sites, int i, const num_nearness *near, num_near_list list) {
  num_key *key = check_alloc(NULL, (size_t) sites->n, sizeof *key);
  num_node *node = check_alloc(NULL, (size_t) num_tree_nodes(sites), sizeof *node);
  const num_tree tree = num_tree_of(sites, near, key, node, exact(num_tree_doubles(sites)));
  return num_neighbours(sites, i, &tree, i, NULL, near, list);
}

static void test_weights(void) {
  const num_sites sites = five_sites();
  const num_near_list list = {exact_int(5), exact(5), exact(5)};
  CHECK(neighbours(&sites, 0, &one_unit, list) == 3);
  const double sum = 2 * exp(-1) + exp(-4);
  CHECK(list.index[0] == 1 && list.index[1] == 2 && list.index[2] == 3);
  CHECK_NEAR(list.weight[0], exp(-1) / sum, 1e-14);
  CHECK_NEAR(list.weight[2], exp(-4) / sum, 1e-14);
  CHECK(neighbours(&sites, 4, &one_unit, list) == 0);
}

static void test_most_keeps_ties(void) {
  const num_sites sites = five_sites();
  num_nearness near = one_unit;
  const num_near_list list = {exact_int(5), exact(5), exact(5)};
  near.most = 1;
  CHECK(neighbours(&sites, 0, &near, list) == 2);
  CHECK(neighbours(&sites, 1, &near, list) == 1);
  CHECK(list.index[0] == 2);
}

/* In the plane and for further variables, distances are Euclidean and add up; unknown sites have no
 * neighbours. */
static void test_plane_and_variables(void) {
  const double at[] = {0, 0, 3, 4, 0, 1, NAN, 0}, measured[] = {0, 1, 2, 3};
  const num_sites sites = {
      .n = 4, .plane = exact_copy(at, 8), .variables = exact_copy(measured, 4), .n_variables = 1};
  num_nearness near = one_unit;
  near.place = 5, near.variables = 2;
  const num_near_list list = {exact_int(4), exact(4), exact(4)};
  CHECK(neighbours(&sites, 0, &near, list) == 2);
  CHECK(list.index[0] == 1 && list.index[1] == 2);
  const double first = exp(-1 - 0.5), second = exp(-0.2 - 1);
  CHECK_NEAR(list.weight[0], first / (first + second), 1e-14);
  CHECK(neighbours(&sites, 3, &near, list) == 0);
}

/* Sites with covariates of every kind, some unknown, many at the same place. */
static num_sites some_sites(ptrdiff_t n, int kinds) {
  num_sites out = {.n = (int) n, .n_variables = 2};
  double *low = exact(n), *high = exact(n), *place = exact(3 * n), *plane = exact(2 * n);
  double *variables = exact(2 * n);
  for (ptrdiff_t i = 0; i < n; i++) {
    const double lng = floor(20 * check_uniform()) / 10, lat = 0.2 * check_uniform();
    low[i] = 10 * check_uniform();
    high[i] = low[i] + (i % 2 ? 3 * check_uniform() : 0);
    const double at[] = {cos(lat) * cos(lng), cos(lat) * sin(lng), sin(lat)};
    memcpy(place + 3 * i, at, sizeof at);
    for (int v = 0; v < 2; v++) plane[2 * i + v] = floor(9 * check_uniform());
    for (int v = 0; v < 2; v++) variables[2 * i + v] = check_uniform();
    if (i % 11 == 5) low[i] = high[i] = place[3 * i] = plane[2 * i] = variables[2 * i] = NAN;
  }
  if (kinds & 1) out.low = low, out.high = high;
  if (kinds & 2) out.place = place;
  if (kinds & 4) out.plane = plane;
  if (kinds & 8) out.variables = variables;
  return out;
}

/* A search of the tree has the result of a search of all sites. */
static void test_tree(void) {
  enum { N = 300 };
  const num_nearness wanted[] = {
      {2, 500, 1, 0.3, 100, 5}, {0.1, 3000, 1, 2, 0.7, 30}, {5, 3, 1, 1, 3, 1}};
  const num_near_list slow = {exact_int(N), exact(N), exact(N)};
  const num_near_list fast = {exact_int(N), exact(N), exact(N)};
  for (int kinds = 0; kinds < 16; kinds++) {
    const num_sites sites = some_sites(N, kinds);
    num_key any[N], sorted[N];
    for (int i = 0; i < N; i++) any[i].site = i, any[i].key = 0;
    num_node *node = check_alloc(NULL, (size_t) num_tree_nodes(&sites), sizeof *node);
    const num_node whole = {0, N, 0};
    double *copy = exact(num_tree_doubles(&sites)), *apart = exact(N), *spread = exact(N);
    double *box = exact(16);
    for (int a = 0; a < 16; a++) box[a] = a % 2 ? INFINITY : -INFINITY;
    num_tree all = {.n = N, .sites = sites, .key = any, .node = &whole, .box = box}; /* no boxes */
    for (int i = 0; i < N; i++) apart[i] = i % 7 ? 3 * check_uniform() : NAN;
    for (int w = 0; w < 3; w++) {
      const num_tree tree = num_tree_of(&sites, &wanted[w], sorted, node, copy);
      /* minus the log of the mean of exp(-z), 0 <= z <= width */
      for (int i = 0; sites.low && i < N; i++) {
        const double width = (sites.high[i] - sites.low[i]) / wanted[w].age;
        spread[i] = width < 1e-3 ? width / 2 : log(width) - log(-expm1(-width));
      }
      all.sites.spread = spread;
      for (int i = 0; i < N; i++) {
        const double *more = i % 2 ? apart : NULL;
        const int own = i % 3 ? i : -1;
        const int n = num_neighbours(&sites, i, &all, own, more, &wanted[w], slow);
        CHECK(num_neighbours(&sites, i, &tree, own, more, &wanted[w], fast) == n);
        CHECK(memcmp(slow.index, fast.index, (size_t) n * sizeof *slow.index) == 0);
        CHECK(memcmp(slow.weight, fast.weight, (size_t) n * sizeof *slow.weight) == 0);
        for (int e = 1; e < n; e++) CHECK(slow.index[e] > slow.index[e - 1]);
      }
    }
  }
}

/* A single site, sites whose difference overflows, and a range over all others. */
static void test_tree_at_its_ends(void) {
  const double far[] = {-1e308, 0, 1e308, 0}, low[] = {1, 2, 0, 9}, high[] = {1, 2, 500, 9};
  const num_sites one = {.n = 1, .plane = exact_copy(far, 2)};
  const num_sites two = {.n = 2, .plane = exact_copy(far, 4)};
  const num_sites four = {.n = 4, .low = exact_copy(low, 4), .high = exact_copy(high, 4)};
  const num_near_list list = {exact_int(4), exact(4), exact(4)};
  CHECK(neighbours(&one, 0, &one_unit, list) == 0);
  CHECK(neighbours(&two, 0, &one_unit, list) == 0);
  CHECK(neighbours(&two, 1, &one_unit, list) == 0);
  CHECK(neighbours(&four, 3, &one_unit, list) == 3);
  CHECK(neighbours(&four, 2, &one_unit, list) == 3);
}

/* The mean of exp(-|s - t|) over two ranges, by the midpoint rule. */
static void test_ranges(void) {
  const double range[][4] = {{0, 2, 1, 4}, {0, 2, 3, 4}, {0, 2, 0, 2}, {1, 1, 0, 3}, {0, 5, 2, 2}};
  for (int r = 0; r < 5; r++) {
    const double a = range[r][0], b = range[r][1], c = range[r][2], d = range[r][3];
    double sum = 0;
    for (int i = 0; i < 1000; i++)
      for (int j = 0; j < 1000; j++)
        sum += exp(-fabs(a + (i + 0.5) / 1000 * (b - a) - c - (j + 0.5) / 1000 * (d - c)));
    CHECK_NEAR(num_range_distance(a, b, c, d, 1), -log(sum / 1e6), 1e-5);
  }
  CHECK_NEAR(num_range_distance(0, 1e-9, 5, 5, 1), 5, 1e-8);
  CHECK_NEAR(num_range_distance(0, 0, 5000, 5000, 1), 5000, 1e-12);
}

typedef struct {
  int n, k;
  mc_data data;
  ab_param par;
  ab_work *work;
} problem;

/* A chain of rows, the first without neighbours. */
static mc_smooth *chain_of(int n, int k, const int *fixed, int n_threads, const mc_host *host) {
  int *start = exact_int(n + 1), *to = exact_int(n > 1 ? n - 1 : 0);
  int *back_start = exact_int(n + 1), *from = exact_int(n > 1 ? n - 1 : 0);
  double *weight = exact(n > 1 ? n - 1 : 0);
  for (int i = 1; i < n; i++) {
    to[i - 1] = i - 1;
    from[i - 1] = i;
    weight[i - 1] = 1;
  }
  for (int i = 0; i <= n; i++) {
    start[i] = i > 0 ? i - 1 : 0;
    back_start[i] = i < n ? i : n - 1;
  }
  const mc_smooth_lists lists = {.strength = 8,
                                 .recording = 3,
                                 .start = start,
                                 .neighbour = to,
                                 .weight = weight,
                                 .back_start = back_start,
                                 .back_row = from,
                                 .back_weight = weight};
  return mc_new_smooth(&lists, n, k, fixed, n_threads, host);
}

static mc_host *kept_host(void) {
  mc_host *host = check_alloc(NULL, 1, sizeof *host);
  *host = check_host();
  return host;
}

/* The chain with its last component fixed at 0. */
static problem chain(int n, int m, int k, double missing, int n_threads) {
  problem p = {.n = n, .k = k};
  const ab_prior prior = alike(k, 0.2, 1, 0);
  const mc_host *host = kept_host();
  p.data = check_view(check_table(n, m, 0.3, missing), n, m);
  p.par.k = k;
  p.par.membership = check_simplex(n, k);
  p.par.aspects = check_probabilities((ptrdiff_t) k * m);
  for (int j = 0; j < m; j++) p.par.aspects[num_at(k - 1, j, k)] = 0;
  int *fixed = exact_int(k);
  fixed[k - 1] = 1;
  p.par.fixed = fixed;
  p.par.smooth = chain_of(n, k, fixed, n_threads, host);
  p.work = ab_new_work(&p.data, &prior, n_threads, host);
  return p;
}

static void climb(problem *p) {
  double before = -INFINITY;
  for (int pass = 0; pass < 200; pass++) {
    const double now = ab_pass(&p->data, &p->par, p->work);
    CHECK(now >= before - 1e-9 * fabs(now));
    before = now;
  }
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int c = 0; c < p->k; c++) sum += p->par.membership[num_at(i, c, p->n)];
    CHECK_NEAR(sum, 1, 1e-10);
  }
}

static void test_never_lowers_the_objective(void) {
  for (int n = 1; n < 200; n = 2 * n + 1) {
    for (int k = 2; k < 9; k += 3) {
      problem p = chain(n, 7, k, n % 3 == 0 ? 0.2 : 0, 1);
      climb(&p);
    }
  }
}

static void test_threads(void) {
  problem one = chain(300, 7, 6, 0, 1);
  climb(&one);
  check.random = 1;
  problem two = chain(300, 7, 6, 0, 2);
  climb(&two);
  for (int e = 0; e < 300 * 6; e++) CHECK(one.par.membership[e] == two.par.membership[e]);
}

/* strength / 2 times the sum of the products of consecutive rows, and its gradient. */
static void test_agreement(void) {
  const int n = 9, k = 3;
  mc_smooth *smooth = chain_of(n, k, NULL, 1, kept_host());
  const double *q = check_simplex(n, k);
  double sum = 0;
  for (int i = 1; i < n; i++)
    for (int c = 0; c < k; c++) sum += 4 * q[num_at(i, c, n)] * q[num_at(i - 1, c, n)];
  CHECK_NEAR(mc_smooth_agree(smooth, q), sum, 1e-12);
  for (int i = 0; i < n; i++) {
    const int near = (i > 0) + (i < n - 1);
    CHECK_NEAR(mc_smooth_hold(smooth, i), 2.0 * near, 1e-12);
    for (int c = 0; c < k; c++) {
      double want = 0;
      if (i > 0) want += 4 * q[num_at(i - 1, c, n)];
      if (i < n - 1) want += 4 * q[num_at(i + 1, c, n)];
      CHECK_NEAR(mc_smooth_row(smooth, i)[c], want, 1e-12);
    }
  }
}

static void test_mixture_climbs(void) {
  for (int n = 1; n < 100; n = 2 * n + 1) {
    const int m = 7, k = 4;
    const mc_host *host = kept_host();
    const mc_data data = check_view(check_table(n, m, 0.3, n % 3 == 0 ? 0.2 : 0), n, m);
    const bm_prior flat = {0};
    bm_param par = {.k = k,
                    .weights = check_simplex(1, k),
                    .prototypes = check_probabilities((ptrdiff_t) k * m),
                    .membership = check_simplex(n, k),
                    .smooth = chain_of(n, k, NULL, 1, host)};
    bm_self self = {&data, &par, bm_new_work(&data, &flat, &par, 1, host)};
    mc_shards sums = bm_model(&self);
    mc_model model = mc_whole_model(&sums, host);
    double before = -INFINITY;
    for (int pass = 0; pass < 300; pass++) {
      const double now = model.pass(model.self);
      CHECK(now >= before - 1e-9 * fabs(now));
      before = now;
    }
    CHECK_NEAR(model.objective(model.self), before, 1e-4 * fabs(before) + 1e-6);
  }
}

/* An iteration with supplied pulls equals the one that computes them. */
static void test_given_pulls(void) {
  for (int n = 1; n < 100; n = 3 * n + 2) {
    const int m = 9, k = 4;
    const ab_prior prior = alike(k, 0.2, 1, 0);
    const mc_host *host = kept_host();
    problem p = chain(n, m, k, 0.1, 1);
    ab_param given = p.par;
    double *pulls = exact((ptrdiff_t) (k + 1) * n);
    given.membership = exact((ptrdiff_t) n * k);
    given.aspects = exact((ptrdiff_t) k * m);
    memcpy(given.membership, p.par.membership, (size_t) n * k * sizeof(double));
    memcpy(given.aspects, p.par.aspects, (size_t) k * m * sizeof(double));
    const double beside = mc_smooth_pull(p.par.smooth, p.par.membership, true);
    mc_smooth_pulls(p.par.smooth, pulls);
    given.smooth = mc_new_given_smooth(pulls, n, k, p.par.fixed, host);
    ab_work *work = ab_new_work(&p.data, &prior, 1, host);
    const double alone = ab_pass(&p.data, &given, work);
    CHECK_NEAR(alone + beside, ab_pass(&p.data, &p.par, p.work), 1e-9);
    for (int i = 0; i < n * k; i++) CHECK(given.membership[i] == p.par.membership[i]);
    for (int i = 0; i < k * m; i++) CHECK(given.aspects[i] == p.par.aspects[i]);
  }
}

static void test_plsa_climbs(void) {
  for (int n = 2; n < 100; n = 2 * n + 1) {
    const int m = 7, k = 4;
    const mc_host *host = kept_host();
    const mc_data data = check_view(check_table(n, m, 0.5, n % 3 == 0 ? 0.2 : 0), n, m);
    const plsa_prior none = {0};
    plsa_param par = {.k = k,
                      .membership = check_simplex(n, k),
                      .basis = check_simplex(k, m),
                      .smooth = chain_of(n, k, NULL, 1, host)};
    plsa_work *work = plsa_new_work(&data, &none, PLSA_CONDITIONAL, k, 1, host);
    double before = -INFINITY;
    for (int pass = 0; pass < 200; pass++) {
      const double now = plsa_pass(&data, &par, work);
      CHECK(now >= before - 1e-9 * fabs(now));
      before = now;
    }
  }
}

int main(void) {
  RUN(test_weights);
  RUN(test_most_keeps_ties);
  RUN(test_plane_and_variables);
  RUN(test_tree);
  RUN(test_tree_at_its_ends);
  RUN(test_ranges);
  RUN(test_never_lowers_the_objective);
  RUN(test_threads);
  RUN(test_agreement);
  RUN(test_mixture_climbs);
  RUN(test_given_pulls);
  RUN(test_plsa_climbs);
  return check_report();
}
