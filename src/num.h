/*
 * num.h: what the kernels share: the view of the data, BLAS products, guards
 * for extrapolated points, sums of logarithms. Matrices are column-major.
 */
#ifndef MC_NUM_H
#define MC_NUM_H

#include <stdbool.h>
#include <stddef.h>

/* Probabilities in (0, NUM_TINY) are lifted to NUM_TINY: denormals are slow. Exact 0 stays 0. */
#define NUM_TINY 1e-150

/*
 * The one view of x: its nonzero cells and its missing cells, row by row, so
 * that dense, sparse and masked input are the same thing to a kernel. All
 * other cells are observed zeros.
 */
typedef struct {
  int n, m;            /* observations, attributes */
  const int *start;    /* n + 1: row i's nonzeros are start[i] .. start[i + 1] - 1 */
  const int *column;   /* their columns, ascending within a row */
  const double *value; /* their values; NULL: every one is 1 */
  const int *na_start; /* n + 1: missing cells likewise; NULL: none is missing */
  const int *na_column;
} mc_data;

/*
 * The few loops that take the time are compiled for wider vectors too, to be
 * chosen at run time, where the compiler can; what they call must be inlined.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__)
#define NUM_HOT __attribute__((optimize("O3", "no-math-errno"), target_clones("avx2", "default")))
#define NUM_INLINE inline __attribute__((always_inline))
#else
#define NUM_HOT
#define NUM_INLINE inline
#endif

static NUM_INLINE ptrdiff_t num_at(ptrdiff_t i, ptrdiff_t j, ptrdiff_t n_row) {
  return i + j * n_row;
}

/* Missing cells of row i, and its observed ones. */
static inline int data_n_missing(const mc_data *data, int i) {
  return data->na_start ? data->na_start[i + 1] - data->na_start[i] : 0;
}
static inline int data_n_observed(const mc_data *data, int i) {
  return data->m - data_n_missing(data, i);
}

static inline double num_dot(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static inline void num_add_scaled(double *sum, double scale, const double *x, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) sum[i] += scale * x[i];
}

static inline double num_lift(double x) { return x > 0 && x < NUM_TINY ? NUM_TINY : x; }

/* C (m x n) = A B + beta C; A is m x k (k x m and transposed where transpose_a), B likewise. */
void num_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double *a, int lda,
              const double *b, int ldb, double beta, double *c, int ldc);

/*
 * Pulls an extrapolated point back inside, so that no coordinate comes nearer
 * to its bound than tau times where the safe point stands (it shrinks at most
 * 1 / tau times), and exact bounds of the safe point stay exact.
 */
void num_guard_unit(double *x, const double *safe, ptrdiff_t length, double tau);
void num_guard_simplex(double *rows, const double *safe, int n, int k, double tau);

/*
 * Replaces n values in [0, 1] by their inverses and returns the sum of their
 * logs, with a division for every four values and a handful of logs in all:
 * products are inverted, exponents summed and mantissas multiplied. A zero
 * becomes infinite and the sum -Inf. Inverses are good to a few units in the
 * last place.
 */
double num_invert_sum_log(double *x, ptrdiff_t n);

/* Sum of log(x[i]) over n normal positive values, with a handful of logs in all. */
double num_sum_log(const double *x, int n);

/* log(sum(exp(x))) without overflow; -Inf for n = 0 or all -Inf. */
double num_log_sum_exp(const double *x, int n);

/* The same cells by columns: the result's rows are columns of data. Memory from alloc(ctx, ...). */
mc_data num_transpose(const mc_data *data, void *(*alloc)(void *, size_t, size_t), void *ctx);

/*
 * Solves A x = b in place for a symmetric positive definite A of order k, its upper triangle packed
 * by columns (entry c <= d at d (d + 1) / 2 + c), which is overwritten. An unknown that A does not
 * determine, its pivot lost to rounding, becomes 0. Returns false where A holds a NaN.
 */
bool num_solve_packed(double *a, double *b, int k);

/* Row blocks: rows per block so that block x m doubles stay in the second-level cache. */
int num_block_rows(int n, int m);

/* Threads: how many to use of those asked for; the number of this one. 1 and 0 without OpenMP. */
int num_threads(int asked);
int num_thread(void);

/* OpenBLAS' own thread count, where OpenBLAS is what we run on; else 0 and nothing happens. */
int num_blas_threads(void);
void num_set_blas_threads(int n);

#endif
