/* num/threads.h: threads of OpenMP and of the BLAS. */
#ifndef MC_NUM_THREADS_H
#define MC_NUM_THREADS_H

#include <stdbool.h>

/*
 * num_threads() returns the number of threads to use of those requested, num_thread() the number of
 * the calling one: 1 and 0 without OpenMP and in a process forked since num_watch_forks(), which is
 * called once and returns false on failure.
 */
int num_threads(int asked);
int num_thread(void);
bool num_watch_forks(void);

/* Number of OpenBLAS threads; with another BLAS 0, and setting it has no effect. */
int num_blas_threads(void);
void num_set_blas_threads(int n);

#endif
