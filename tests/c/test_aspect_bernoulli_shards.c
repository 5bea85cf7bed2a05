/* The aspect Bernoulli kernel of a table in pieces, against that of the whole table. */
#include "aspect_bernoulli/shards.h"
#include "check_aspect_bernoulli.h"

#define MOST_SHARDS 3

enum { EM, DENSE, SPARSE };

static ab_newton_self new_self(problem *p, int algorithm, int n_threads) {
  const mc_host *host = new_host();
  ab_newton_self self = {{&p->data, &p->par, NULL}, NULL};
  self.ab.work = ab_new_work(&p->data, &p->prior, n_threads, host);
  if (algorithm != EM)
    self.newton = ab_new_newton(&p->data, &p->prior, algorithm == SPARSE, n_threads, host);
  return self;
}

/* The caller: shards in one memory, with memberships saved as the engine requests. */
typedef struct {
  int n_shard, k, m;
  problem part[MOST_SHARDS];
  ab_newton_self self[MOST_SHARDS];
  double *saved[MOST_SHARDS][3], *before[MOST_SHARDS], *own;
  const double *aspects; /* the driver's */
  bool have[3];
  ptrdiff_t length;
} pieces;

static bool visit(void *ctx, bool evaluate, const double *caps, double *sums) {
  pieces *all = ctx;
  const double *aspects = all->aspects;
  const ptrdiff_t length = evaluate ? MC_SHARD_HEAD : all->length;
  double *own = all->own;
  for (ptrdiff_t i = 0; i < length; i++) sums[i] = 0;
  for (int s = 0; s < all->n_shard; s++) {
    problem *part = all->part + s;
    const ptrdiff_t size = (ptrdiff_t) part->n * part->k;
    memcpy(all->before[s], part->par.membership, (size_t) size * sizeof *own);
    memcpy(part->par.aspects, aspects, (size_t) all->k * (size_t) all->m * sizeof *aspects);
    if (!ab_shards(all->self + s).rows(all->self + s, evaluate, caps, own)) return false;
    if (!evaluate && all->have[0])
      mc_step_lengths(size, all->saved[s][0], all->before[s], part->par.membership,
                      own + MC_SHARD_RR, own + MC_SHARD_VV);
    for (ptrdiff_t i = 0; i < length; i++) sums[i] += own[i];
  }
  return true;
}

static void save(void *ctx, int which, const mc_cycles *cycles) {
  pieces *all = ctx;
  (void) cycles;
  all->have[which] = true;
  for (int s = 0; s < all->n_shard; s++)
    memcpy(all->saved[s][which], all->part[s].par.membership,
           (size_t) all->part[s].n * (size_t) all->k * sizeof(double));
}

static void restore(void *ctx, int which) {
  pieces *all = ctx;
  for (int s = 0; s < all->n_shard; s++)
    memcpy(all->part[s].par.membership, all->saved[s][which],
           (size_t) all->part[s].n * (size_t) all->k * sizeof(double));
}

static void extrapolate(void *ctx, double step) {
  pieces *all = ctx;
  for (int s = 0; s < all->n_shard; s++) {
    ab_param *par = &all->part[s].par;
    double *const *at = all->saved[s];
    mc_extrapolate((ptrdiff_t) all->part[s].n * all->k, at[0], at[1], at[2], step, par->membership);
    const double *safe[] = {at[2]};
    ab_param held = *par;
    held.fixed_aspects = true;
    ab_self self = {&all->part[s].data, &held, NULL};
    ab_feasible(&self, safe);
  }
}

static pieces cut(const problem *p, int n_shard) {
  pieces all = {.n_shard = n_shard, .k = p->k, .m = p->m};
  for (int s = 0; s < n_shard; s++) {
    const int from = p->n * s / n_shard, n = p->n * (s + 1) / n_shard - from;
    problem *part = all.part + s;
    *part = *p;
    part->n = n;
    part->x = exact((ptrdiff_t) n * p->m);
    part->par.membership = exact((ptrdiff_t) n * p->k);
    part->par.aspects = exact_copy(p->par.aspects, (ptrdiff_t) p->k * p->m);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < p->m; j++) part->x[num_at(i, j, n)] = p->x[num_at(from + i, j, p->n)];
      for (int c = 0; c < p->k; c++)
        part->par.membership[num_at(i, c, n)] = p->par.membership[num_at(from + i, c, p->n)];
    }
    part->data = check_view(part->x, n, p->m);
    all.before[s] = exact((ptrdiff_t) n * p->k);
    for (int which = 0; which < 3; which++) all.saved[s][which] = exact((ptrdiff_t) n * p->k);
  }
  return all;
}

static void begin(pieces *all, int algorithm, int n_threads) {
  for (int s = 0; s < all->n_shard; s++)
    all->self[s] = new_self(all->part + s, algorithm, n_threads);
  all->length = ab_shards(all->self).length;
  all->own = exact(all->length);
}

static mc_trace run(mc_model *model, const mc_control *ctl) {
  mc_trace trace = {0};
  mc_fit(model, ctl, new_host(), &trace);
  return trace;
}

static void hold_to_table(problem p, int algorithm, bool accelerate, int n_threads) {
  const mc_control ctl = {.max_iter = 12, .accelerate = accelerate, .n_threads = n_threads};
  pieces all = cut(&p, MOST_SHARDS);
  begin(&all, algorithm, n_threads);
  static int no_start[1] = {0};
  problem driver = p;
  driver.n = 0;
  driver.data = (mc_data){.n = 0, .m = p.m, .start = no_start, .column = no_start};
  driver.par.membership = exact(1);
  driver.par.aspects = exact_copy(p.par.aspects, (ptrdiff_t) p.k * p.m);
  all.aspects = driver.par.aspects;
  ab_newton_self own = new_self(&driver, algorithm, n_threads);
  mc_shards shards = ab_shards(&own);
  shards.at = (mc_shards_at){visit, save, restore, extrapolate, &all};
  shards.sums = exact(all.length);
  mc_model model = mc_shards_model(&shards);
  const mc_trace there = run(&model, &ctl);
  ab_newton_self self = new_self(&p, algorithm, n_threads);
  mc_model whole = algorithm == EM ? ab_model(&self.ab) : ab_newton_model(&self);
  const mc_trace here = run(&whole, &ctl);
  CHECK(there.n_iter == here.n_iter);
  CHECK_NEAR(there.final, here.final, 1e-10);
  CHECK(check_distance(driver.par.aspects, p.par.aspects, (ptrdiff_t) p.k * p.m) < 1e-6);
}

static void hold_rounds_to_table(int algorithm, int round) {
  problem p = new_problem(31, 9, 3, round % 2 ? 0.1 : 0);
  int *fixed = exact_int(3);
  for (ptrdiff_t i = 0; i < 27; i++) p.par.aspects[i] *= 0.4;
  if (round % 4 >= 2) p.prior = alike(3, 0.2, 1, 0.03);
  if (round >= 4) {
    fixed[2] = 1;
    for (int j = 0; j < 9; j++) p.par.aspects[num_at(2, j, 3)] = 0;
    p.par.fixed = fixed;
  }
  hold_to_table(p, algorithm, round % 3 > 0, 1 + round % 2);
}

/* One iteration with effort: evaluations, the curve, memberships and the aspects, from their sums
 * over pieces. */
static void hold_effort_to_table(bool newton, bool prior) {
  enum { N = 31, M = 9, K = 3 };
  const mc_host *host = new_host();
  problem p = new_problem(N, M, K, 0.1);
  int *fixed = exact_int(K);
  double *effort = exact(N), *cells = exact(N), *coef = exact(2), *curve = exact(2);
  if (prior) p.prior = alike(K, 0.2, 1, 0.03);
  fixed[K - 1] = 1;
  p.par.fixed = fixed;
  for (int j = 0; j < M; j++) p.par.aspects[num_at(K - 1, j, K)] = 0;
  for (int i = 0; i < N; i++) effort[i] = (i % 7 - 3.0) / 2;
  coef[0] = curve[0] = 0.3;
  coef[1] = curve[1] = -0.2;
  ab_newton_self whole = new_self(&p, newton ? DENSE : EM, 1);
  ab_effort table = {whole.ab, coef, effort, ab_effort_cells(&p.data, &p.prior, host),
                     whole.newton};
  memcpy(cells, table.cells, N * sizeof *cells);
  ab_effort_impose(&table);

  pieces all = cut(&p, MOST_SHARDS);
  begin(&all, newton ? DENSE : EM, 1);
  static int no_start[1] = {0};
  problem driver = p;
  driver.n = 0;
  driver.data = (mc_data){.n = 0, .m = M, .start = no_start, .column = no_start};
  driver.par.membership = exact(1);
  driver.par.aspects = exact_copy(p.par.aspects, (ptrdiff_t) K * M);
  ab_effort_shards_self own = {.newton = new_self(&driver, newton ? DENSE : EM, 1),
                               .rows = {.coef = curve},
                               .curve = {.n = N, .effort = effort, .cells = cells}};
  const mc_shards shards = ab_effort_shards(&own);
  for (int evaluate = 1; evaluate >= 0; evaluate--) {
    const ptrdiff_t length = evaluate ? MC_SHARD_HEAD : all.length;
    double *sums = exact(length), *part = exact(length);
    for (int s = 0, from = 0; s < MOST_SHARDS; from += all.part[s++].n) {
      problem held = copy_problem(all.part + s);
      ab_self self = {&all.part[s].data, evaluate ? &held.par : &all.part[s].par,
                      all.self[s].ab.work};
      ab_effort_shards_self of = {.newton = {self, all.self[s].newton},
                                  .rows = {self, curve, effort + from,
                                           ab_effort_cells(&all.part[s].data, &p.prior, host),
                                           all.self[s].newton}};
      CHECK(ab_effort_shards(&of).rows(&of, evaluate, NULL, part));
      for (ptrdiff_t i = 0; i < length; i++) sums[i] += part[i];
    }
    const double objective =
        sums[MC_SHARD_LOGLIK] + sums[MC_SHARD_BESIDE] + shards.beside(shards.shared.self);
    if (!evaluate) CHECK_NEAR(objective, ab_effort_pass(&table), 1e-12);
    CHECK(evaluate ? shards.prepare(shards.shared.self, sums)
                   : shards.step(shards.shared.self, sums, objective));
  }
  CHECK(check_distance(curve, coef, 2) < 1e-10);
  CHECK(check_distance(driver.par.aspects, p.par.aspects, (ptrdiff_t) K * M) < 1e-10);
  for (int s = 0, from = 0; s < MOST_SHARDS; from += all.part[s++].n)
    for (int i = 0; i < all.part[s].n; i++)
      for (int c = 0; c < K; c++)
        CHECK_NEAR(all.part[s].par.membership[num_at(i, c, all.part[s].n)],
                   p.par.membership[num_at(from + i, c, N)], 1e-10);
}

static void test_effort(void) {
  hold_effort_to_table(false, false);
  hold_effort_to_table(false, true);
}

static void test_effort_dense(void) {
  hold_effort_to_table(true, false);
  hold_effort_to_table(true, true);
}

static void test_em(void) {
  for (int round = 0; round < 3; round++) hold_rounds_to_table(EM, round);
}

static void test_em_with_phantom(void) {
  for (int round = 4; round < 7; round++) hold_rounds_to_table(EM, round);
}

static void test_dense(void) { hold_rounds_to_table(DENSE, 1); }

static void test_dense_with_prior(void) { hold_rounds_to_table(DENSE, 3); }

static void test_dense_with_phantom(void) { hold_rounds_to_table(DENSE, 6); }

static void test_sparse(void) { hold_rounds_to_table(SPARSE, 1); }

static void test_sparse_with_prior(void) { hold_rounds_to_table(SPARSE, 3); }

static void test_sparse_with_phantom(void) { hold_rounds_to_table(SPARSE, 7); }

int main(void) {
  RUN(test_effort);
  RUN(test_effort_dense);
  RUN(test_em);
  RUN(test_em_with_phantom);
  RUN(test_dense);
  RUN(test_dense_with_prior);
  RUN(test_dense_with_phantom);
  RUN(test_sparse);
  RUN(test_sparse_with_prior);
  RUN(test_sparse_with_phantom);
  return check_report();
}
