#include "num/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/*
 * fork() copies only the calling thread, but also OpenMP's list of waiting threads. A process
 * forked after a parallel region (parallel::mclapply(), future's multicore) would wait for them for
 * ever, so it uses one thread, as in data.table.
 */
#if defined(_OPENMP) && !defined(_WIN32)
#include <pthread.h>

static int forked = 0; /* per process, written while it has a single thread */

static void note_fork(void) { forked = 1; }

bool num_watch_forks(void) { return pthread_atfork(NULL, NULL, note_fork) == 0; }
#else
#ifdef _OPENMP
enum { forked = 0 };
#endif

bool num_watch_forks(void) { return true; }
#endif

int num_threads(int asked) {
#ifdef _OPENMP
  const int most = forked ? 1 : omp_get_thread_limit();
  if (asked > most) asked = most;
  return asked < 1 ? 1 : asked;
#else
  (void) asked;
  return 1;
#endif
}

int num_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/*
 * OpenBLAS is set to one thread while our own threads run, through its own functions: weak symbols,
 * null with another BLAS. macOS links these differently, so they are looked up at run time. On
 * Windows R's BLAS has no threads.
 */
#if defined(__ELF__) && defined(__GNUC__)
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

int num_blas_threads(void) { return openblas_get_num_threads ? openblas_get_num_threads() : 0; }

void num_set_blas_threads(int n) {
  if (n > 0 && openblas_set_num_threads) openblas_set_num_threads(n);
}
#elif defined(__APPLE__)
#include <dlfcn.h>

/* POSIX, unlike C, lets a pointer to an object hold a pointer to a function. */
typedef union {
  void *found;
  int (*get)(void);
  void (*set)(int);
} blas_function;

static blas_function blas_named(const char *name) {
  const blas_function out = {dlsym(RTLD_DEFAULT, name)};
  return out;
}

int num_blas_threads(void) {
  const blas_function out = blas_named("openblas_get_num_threads");
  return out.found ? out.get() : 0;
}

void num_set_blas_threads(int n) {
  const blas_function out = blas_named("openblas_set_num_threads");
  if (n > 0 && out.found) out.set(n);
}
#else
int num_blas_threads(void) { return 0; }

void num_set_blas_threads(int n) { (void) n; }
#endif
