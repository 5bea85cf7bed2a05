/* num/threads.h: our own threads, and those of the BLAS. */
#ifndef MC_NUM_THREADS_H
#define MC_NUM_THREADS_H

#include <stdbool.h>

/* How many to use of those asked for; the number of this one. 1 and 0 without OpenMP, and
 * in a process that was forked since num_watch_forks(), to be called once, which is false where it
 * failed. */
int num_threads(int asked);
int num_thread(void);
bool num_watch_forks(void);

/* OpenBLAS' own thread count, where OpenBLAS is what we run on; else 0 and nothing happens. */
int num_blas_threads(void);
void num_set_blas_threads(int n);

#endif
