/*
 * Kernels of tables in pieces, against those of the whole table: PLSA, Bernoulli mixture, NMF,
 * logistic PCA, truncated noisy-OR.
 */
#include "bernoulli_mixture/em.h"
#include "check_data.h"
#include "logistic_pca/mm.h"
#include "nmf/nmf.h"
#include "noisy_or/search.h"
#include "noisy_or/shards.h"
#include "plsa/shards.h"

#define PIECES 3
#define BLOCKS 3 /* of shared parameters, at most */
#define K 3
#define N 31
#define M 9

static const mc_host *new_host(void) {
  mc_host *host = check_alloc(NULL, 1, sizeof *host);
  *host = check_host();
  return host;
}

/* The shards, all in one memory: a model of each, and the sums. */
typedef struct {
  mc_shards part[PIECES];
  double *shared[BLOCKS], *own[BLOCKS]; /* the driver's blocks, and those that the shards read */
  ptrdiff_t size[BLOCKS], length;
  double *sums;
} pieces;

static bool scan(void *ctx, bool evaluate, const double *caps, double *sums) {
  const pieces *all = ctx;
  const ptrdiff_t length = evaluate ? MC_SHARD_HEAD : all->length;
  CHECK(caps == NULL);
  for (int b = 0; b < BLOCKS; b++)
    if (all->shared[b]) memcpy(all->own[b], all->shared[b], (size_t) all->size[b] * sizeof *sums);
  for (ptrdiff_t i = 0; i < length; i++) sums[i] = 0;
  for (int s = 0; s < PIECES; s++) {
    if (!all->part[s].rows(all->part[s].shared.self, evaluate, caps, all->sums)) return false;
    for (ptrdiff_t i = 0; i < length; i++) sums[i] += all->sums[i];
  }
  return true;
}

static void save(void *ctx, int which, const mc_cycles *cycles) {
  (void) ctx;
  (void) which;
  CHECK(cycles == NULL); /* iterations are plain */
}

static void restore(void *ctx, int which) {
  (void) ctx;
  (void) which;
}

static void extrapolate(void *ctx, double step) {
  (void) ctx;
  (void) step;
}

static mc_shards_at at_pieces(pieces *all) {
  const mc_shards_at at = {scan, save, restore, extrapolate, all};
  return at;
}

/* Iterations of the driver and of the table: the same objective and shared parameters. */
static void hold(mc_shards *shards, mc_model *whole, const double *const *want, pieces *all) {
  shards->at = at_pieces(all);
  shards->sums = exact(all->length);
  const mc_control ctl = {.max_iter = 6, .accelerate = false, .n_threads = 1};
  mc_trace there = {0}, here = {0};
  mc_model driver = mc_shards_model(shards);
  CHECK(mc_fit(&driver, &ctl, new_host(), &there) == MC_MAX_PASS);
  CHECK(mc_fit(whole, &ctl, new_host(), &here) == MC_MAX_PASS);
  CHECK_NEAR(there.final, here.final, 1e-11);
  for (int b = 0; b < BLOCKS; b++)
    if (all->shared[b]) CHECK(check_distance(all->shared[b], want[b], all->size[b]) < 1e-9);
}

static int first_row(int s) { return N * s / PIECES; }

static mc_data cut(const double *x, int s) {
  const int from = first_row(s), n = first_row(s + 1) - from;
  double *part = exact((ptrdiff_t) n * M);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < M; j++) part[num_at(i, j, n)] = x[num_at(from + i, j, N)];
  return check_view(part, n, M);
}

static double *cut_rows(const double *rows, int s) { /* of n x K */
  const int from = first_row(s), n = first_row(s + 1) - from;
  double *part = exact((ptrdiff_t) n * K);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < K; c++) part[num_at(i, c, n)] = rows[num_at(from + i, c, N)];
  return part;
}

static double *cut_columns(const double *rows, int s) { /* of K x n */
  return exact_copy(rows + num_at(0, first_row(s), K),
                    num_at(0, first_row(s + 1) - first_row(s), K));
}

static mc_data *no_rows(void) {
  mc_data *none = check_alloc(NULL, 1, sizeof *none);
  *none = (mc_data){.n = 0, .m = M, .start = exact_int(1), .column = exact_int(0)};
  return none;
}

static void begin(pieces *all, const double *first, ptrdiff_t n_first, const double *second,
                  ptrdiff_t n_second, ptrdiff_t length) {
  const double *from[] = {first, second};
  const ptrdiff_t size[] = {n_first, n_second};
  for (int b = 0; b < 2; b++) {
    all->size[b] = size[b];
    all->shared[b] = from[b] ? exact_copy(from[b], size[b]) : NULL;
    all->own[b] = from[b] ? exact(size[b]) : NULL;
  }
  all->length = length;
  all->sums = exact(length);
}

/* A copy in the test's memory. */
static void *keep(const void *what, size_t size) {
  void *out = check_alloc(NULL, 1, size);
  memcpy(out, what, size);
  return out;
}

static void test_plsa_of(double missing, plsa_missing rule) {
  static const plsa_prior none = {0};
  double *x = check_table(N, M, 0.3, missing), *rows = check_simplex(N, K),
         *basis = check_simplex(K, M);
  const mc_data data = check_view(x, N, M), *empty = no_rows();
  plsa_param par = {.k = K, .membership = rows, .basis = basis};
  plsa_self whole = {&data, &par, plsa_new_work(&data, &none, rule, K, 1, new_host()), NULL};
  pieces all = {0};
  begin(&all, basis, (ptrdiff_t) K * M, NULL, 0, plsa_shards(&whole).length);
  mc_data part[PIECES];
  for (int s = 0; s < PIECES; s++) {
    part[s] = cut(x, s);
    const plsa_param own = {.k = K, .membership = cut_rows(rows, s), .basis = all.own[0]};
    const plsa_self self = {part + s, keep(&own, sizeof own),
                            plsa_new_work(part + s, &none, rule, K, 1, new_host()), NULL};
    all.part[s] = plsa_shards(keep(&self, sizeof self));
  }
  plsa_param shared = {.k = K, .basis = all.shared[0]};
  plsa_self driver = {empty, &shared, plsa_new_work(empty, &none, rule, K, 1, new_host()), NULL};
  mc_shards shards = plsa_shards(&driver);
  mc_model model = plsa_model(&whole);
  const double *want[] = {basis, NULL};
  hold(&shards, &model, want, &all);
}

static void test_plsa(void) {
  test_plsa_of(0, PLSA_CONDITIONAL);
  test_plsa_of(0.1, PLSA_CONDITIONAL);
  test_plsa_of(0.1, PLSA_PAPER);
}

static void test_mixture_of(double missing, bm_prior prior) {
  double *x = check_table(N, M, 0.3, missing), *weights = check_simplex(1, K);
  double *prototypes = check_probabilities((ptrdiff_t) K * M);
  const mc_data data = check_view(x, N, M), *empty = no_rows();
  bm_param par = {.k = K, .weights = weights, .prototypes = prototypes};
  bm_self whole = {&data, &par, bm_new_work(&data, &prior, &par, 1, new_host())};
  mc_shards table = bm_model(&whole);
  pieces all = {0};
  begin(&all, weights, K, prototypes, (ptrdiff_t) K * M, table.length);
  mc_data part[PIECES];
  for (int s = 0; s < PIECES; s++) {
    part[s] = cut(x, s);
    const bm_param own = {.k = K, .weights = all.own[0], .prototypes = all.own[1]};
    bm_param *kept = keep(&own, sizeof own);
    const bm_self self = {part + s, kept, bm_new_work(part + s, &prior, kept, 1, new_host())};
    all.part[s] = bm_model(keep(&self, sizeof self));
  }
  bm_param shared = {.k = K, .weights = all.shared[0], .prototypes = all.shared[1]};
  bm_self driver = {empty, &shared, bm_new_work(empty, &prior, &shared, 1, new_host())};
  mc_shards shards = bm_model(&driver);
  mc_model model = mc_whole_model(&table, new_host());
  const double *want[] = {weights, prototypes};
  hold(&shards, &model, want, &all);
}

static void test_mixture(void) {
  test_mixture_of(0, (bm_prior){0, 0, 0});
  test_mixture_of(0.1, (bm_prior){0.2, 1, 0.5});
}

static void test_nmf_of(double missing) {
  double *x = check_table(N, M, 0.3, missing);
  double *rows = check_probabilities((ptrdiff_t) K * N),
         *basis = check_probabilities((ptrdiff_t) K * M);
  const mc_data data = check_view(x, N, M), *empty = no_rows();
  nm_param par = {K, rows, basis, NM_KL, true, false};
  nm_self whole = {&data, &par, nm_new_work(&data, K, 1, new_host())};
  mc_shards table = nm_sum_model(&whole);
  pieces all = {0};
  begin(&all, basis, (ptrdiff_t) K * M, NULL, 0, table.length);
  mc_data part[PIECES];
  for (int s = 0; s < PIECES; s++) {
    part[s] = cut(x, s);
    const nm_param own = {K, cut_columns(rows, s), all.own[0], NM_KL, true, false};
    const nm_self self = {part + s, keep(&own, sizeof own),
                          nm_new_work(part + s, K, 1, new_host())};
    all.part[s] = nm_sum_model(keep(&self, sizeof self));
  }
  nm_param shared = {K, NULL, all.shared[0], NM_KL, true, false};
  nm_self driver = {empty, &shared, nm_new_work(empty, K, 1, new_host())};
  mc_shards shards = nm_sum_model(&driver);
  mc_model model = mc_whole_model(&table, new_host());
  const double *want[] = {basis, NULL};
  hold(&shards, &model, want, &all);
}

static void test_nmf(void) {
  test_nmf_of(0);
  test_nmf_of(0.1);
}

static void test_logistic_of(double missing) {
  double *x = check_table(N, M, 0.3, missing);
  double *rows = check_probabilities((ptrdiff_t) K * N);
  double *loadings = check_probabilities((ptrdiff_t) (K + 1) * M);
  const mc_data data = check_view(x, N, M), *empty = no_rows();
  lp_param par = {K, rows, loadings, 0.5, false};
  lp_self whole = {&data, &par, lp_new_work(&data, K, 1, new_host())};
  mc_shards table = lp_model(&whole);
  pieces all = {0};
  begin(&all, loadings, (ptrdiff_t) (K + 1) * M, NULL, 0, table.length);
  mc_data part[PIECES];
  for (int s = 0; s < PIECES; s++) {
    part[s] = cut(x, s);
    const lp_param own = {K, cut_columns(rows, s), all.own[0], 0.5, false};
    const lp_self self = {part + s, keep(&own, sizeof own),
                          lp_new_work(part + s, K, 1, new_host())};
    all.part[s] = lp_model(keep(&self, sizeof self));
  }
  lp_param shared = {K, NULL, all.shared[0], 0.5, false};
  lp_self driver = {empty, &shared, lp_new_work(empty, K, 1, new_host())};
  mc_shards shards = lp_model(&driver);
  mc_model model = mc_whole_model(&table, new_host());
  const double *want[] = {loadings, NULL};
  hold(&shards, &model, want, &all);
}

static void test_logistic(void) {
  test_logistic_of(0);
  test_logistic_of(0.1);
}

static void test_noisy_or_of(double missing) {
  double *x = check_table(N, M, 0.3, missing), *prior = check_probabilities(K);
  double *links = check_probabilities((ptrdiff_t) K * M), *leak = check_probabilities(M);
  const nor_settings set = {.prior = {0, 0.5},
                            .links = {0.05, 0.5},
                            .leak = {0.1, 1},
                            .inner = 1,
                            .n_threads = 1,
                            .host = new_host()};
  const mc_data data = check_view(x, N, M);
  nor_param par = {.k = K, .prior = prior, .links = links, .leak = leak};
  nor_shard table = nor_new_shard(&data, &par, &set);
  pieces all = {0};
  begin(&all, prior, K, links, (ptrdiff_t) K * M, nor_shards(&table).length);
  all.size[2] = M;
  all.shared[2] = exact_copy(leak, M);
  all.own[2] = exact(M);
  nor_param own = {.k = K, .prior = all.own[0], .links = all.own[1], .leak = all.own[2]};
  mc_data part[PIECES];
  for (int s = 0; s < PIECES; s++) {
    part[s] = cut(x, s);
    nor_shard self = nor_new_shard(part + s, &own, &set);
    self.listed = exact((ptrdiff_t) part[s].n * nor_shard_width(K));
    all.part[s] = nor_shards(keep(&self, sizeof self));
  }
  nor_param shared = {
      .k = K, .prior = all.shared[0], .links = all.shared[1], .leak = all.shared[2]};
  nor_truncated *whole =
      nor_new_truncated(&data, &par, &set, nor_new_lists(N, K, NOR_LIST, set.host));
  nor_shard driver = nor_new_shard(no_rows(), &shared, &set);
  mc_shards shards = nor_shards(&driver);
  mc_model model = nor_truncated_model(whole);
  const double *want[] = {prior, links, leak};
  hold(&shards, &model, want, &all);
}

static void test_noisy_or(void) {
  test_noisy_or_of(0);
  test_noisy_or_of(0.1);
}

int main(void) {
  RUN(test_plsa);
  RUN(test_mixture);
  RUN(test_nmf);
  RUN(test_logistic);
  RUN(test_noisy_or);
  return check_report();
}
