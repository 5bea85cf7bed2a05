/*
 * check.h: a test harness in one header. A test is a function; main() names each with RUN() and
 * returns check_report(). All memory comes from exact() and check_host(), with its exact size, so
 * the sanitizers detect an overrun by one; it is freed when its test ends.
 */
#ifndef MC_CHECK_H
#define MC_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fit.h"

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, tolerance)                                                           \
  check_near((got), (want), (tolerance), #got, __FILE__, __LINE__)
#define RUN(test) check_run((test), #test)

static struct {
  int passed, failed; /* tests */
  int not_so;         /* failed checks */
  int n_memory;
  void *memory[1024];
  int questions_left; /* until check_stop_later() requests a stop */
  uint64_t random;
} check = {.random = 1};

static inline void check_that(bool ok, const char *what, const char *file, int line) {
  if (ok) return;
  check.not_so++;
  printf("%s:%d: not so: %s\n", file, line, what);
}

/* Compares relative to want above 1, absolutely below; equal infinities are near, NaN is near nothing. */
static inline void check_near(double got, double want, double tolerance, const char *what,
                              const char *file, int line) {
  const bool near = got == want || fabs(got - want) <= tolerance * fmax(1, fabs(want));
  check_that(near, what, file, line);
  if (!near) printf("  got %.17g, want %.17g\n", got, want);
}

static inline void *check_alloc(void *ctx, size_t count, size_t size) {
  (void) ctx;
  void *memory = calloc(count, size); /* NOLINT(clang-analyzer-optin.*): a size of 0 is legal */
  if (!memory || check.n_memory == 1024) {
    puts("out of memory in a test");
    exit(EXIT_FAILURE);
  }
  check.memory[check.n_memory++] = memory;
  return memory;
}

/* Zeroed memory of exactly count doubles, or ints. */
static inline double *exact(ptrdiff_t count) {
  return check_alloc(NULL, (size_t) count, sizeof(double));
}
static inline int *exact_int(ptrdiff_t count) {
  return check_alloc(NULL, (size_t) count, sizeof(int));
}

/* A copy of exactly count doubles. */
static inline double *exact_copy(const double *from, ptrdiff_t count) {
  double *to = exact(count);
  if (count > 0) memcpy(to, from, (size_t) count * sizeof(double));
  return to;
}

/* A host that never stops a fit. */
static inline mc_host check_host(void) { return (mc_host){.alloc = check_alloc}; }

/* Tick of a host that requests a stop after check.questions_left calls. */
static inline int check_stop_later(void *ctx, int pass, double objective) {
  (void) ctx;
  (void) pass;
  (void) objective;
  return check.questions_left-- <= 0;
}

/* Uniform on (0, 1), with the same numbers in every test. */
static inline double check_uniform(void) {
  check.random = check.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double) (check.random >> 11) + 0.5) / 9007199254740992.0;
}

static inline void check_run(void (*test)(void), const char *name) {
  const int not_so = check.not_so;
  check.random = 1;
  test();
  while (check.n_memory > 0) free(check.memory[--check.n_memory]);
  if (check.not_so == not_so) {
    check.passed++;
  } else {
    check.failed++;
    printf("FAILED %s\n", name);
  }
}

static inline int check_report(void) {
  printf("= %d passed, %d failed, 0 skipped\n", check.passed, check.failed);
  return check.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
