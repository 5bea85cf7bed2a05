#include "num.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int num_threads(int asked) {
#ifdef _OPENMP
  const int most = omp_get_thread_limit();
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
 * OpenBLAS is asked to be serial while our own threads run, through its own
 * functions: weak symbols, null where the BLAS at hand is another one.
 */
#if defined(__ELF__) && defined(__GNUC__)
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int) __attribute__((weak));

int num_blas_threads(void) { return openblas_get_num_threads ? openblas_get_num_threads() : 0; }

void num_set_blas_threads(int n) {
  if (n > 0 && openblas_set_num_threads) openblas_set_num_threads(n);
}
#else
int num_blas_threads(void) { return 0; }

void num_set_blas_threads(int n) { (void) n; }
#endif
