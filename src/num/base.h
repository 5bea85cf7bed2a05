/* num/base.h: cell indices and compiler directives, shared by all numerics. */
#ifndef MC_NUM_BASE_H
#define MC_NUM_BASE_H

#include <stddef.h>

/* Probabilities in (0, NUM_TINY) are raised to NUM_TINY because denormals are slow. Exact 0 stays 0. */
#define NUM_TINY 1e-150

static inline double num_lift(double x) { return x > 0 && x < NUM_TINY ? NUM_TINY : x; }

/*
 * Hot loops are also compiled for wider vectors, chosen at run time, where the compiler supports
 * it. Functions called in them must be inlined.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(__SANITIZE_ADDRESS__)
#if __GNUC__ >= 12
#define NUM_WIDE "arch=x86-64-v3" /* with fused multiplications */
#else
#define NUM_WIDE "avx2"
#endif
/* Without traps the compiler turns a choice between two numbers into vector code, not into a branch. */
#define NUM_HOT                                                                                    \
  __attribute__((optimize("O3", "no-math-errno", "no-trapping-math"),                              \
                 target_clones(NUM_WIDE, "default")))
#define NUM_INLINE inline __attribute__((always_inline))
#else
#define NUM_HOT
#define NUM_INLINE inline
#endif

/* An OpenMP directive, as NUM_OMP(simd). Empty without OpenMP, where compilers would warn of each. */
#ifdef _OPENMP
#define NUM_PRAGMA(directive) _Pragma(#directive)
#define NUM_OMP(...) NUM_PRAGMA(omp __VA_ARGS__)
#else
#define NUM_OMP(...)
#endif

/* Matrices are column-major. */
static NUM_INLINE ptrdiff_t num_at(ptrdiff_t i, ptrdiff_t j, ptrdiff_t n_row) {
  return i + j * n_row;
}

#endif
