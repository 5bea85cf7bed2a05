/* engine/host.h: services of a kernel's caller: memory and interrupts. */
#ifndef MC_ENGINE_HOST_H
#define MC_ENGINE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "num/blocks.h"

typedef struct {
  void *(*alloc)(void *ctx, size_t count, size_t size); /* count items of size bytes; never NULL */
  int (*tick)(void *ctx, int pass, double objective);   /* nonzero: stop; it then stays nonzero */
  void *ctx;
} mc_host;

/* Allocates rows x columns doubles from the host. */
static inline double *mc_doubles(const mc_host *host, size_t rows, size_t columns) {
  return host->alloc(host->ctx, rows * columns, sizeof(double));
}

/* Returns whether the host requests a stop; once it does, it always does. Main thread only. */
static inline bool mc_stop(const mc_host *host, int pass, double objective) {
  return host->tick && host->tick(host->ctx, pass, objective) != 0;
}

/* num_scan() that reports iteration and objective to the host; returns false if the host requested a stop. */
bool mc_scan(const mc_host *host, int pass, double objective, const num_strips *strips,
             num_scanner scan, void *ctx);
bool mc_scan_sums(const mc_host *host, int pass, double objective, const num_strips *strips,
                  num_scanner scan, void *ctx, const num_sums *sums);

#endif
