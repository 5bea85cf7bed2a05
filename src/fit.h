/*
 * fit.h: the one engine behind every EM-like model, and what it shares with
 * the kernels: status, control, host, trace.
 *
 * A model hands the engine its parameters as blocks of doubles, one pass that
 * updates them in place, and a rule that pulls an extrapolated point back
 * inside the parameter space. The engine owns the loop, the acceleration, the
 * stopping rule, the trace and the interrupts.
 */
#ifndef MC_FIT_H
#define MC_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define MC_MAX_BLOCK 16

/* Failures are below zero; everything else leaves usable parameters. */
typedef enum {
  MC_CONVERGED = 0,       /* the stopping rule was met */
  MC_MAX_PASS = 1,        /* max_pass passes were made */
  MC_STOPPED = 2,         /* host->tick asked to stop */
  MC_ERR_NOT_FINITE = -1, /* a plain pass returned a non-finite objective */
  MC_ERR_NOT_START = -2   /* the start has a non-finite objective */
} mc_status;

typedef struct {
  int max_pass;    /* passes allowed, >= 0 */
  double tol;      /* stop when a cycle gains less than tol times |objective|; 0: never */
  bool accelerate; /* SQUAREM cycles of three passes, else plain passes */
  int n_threads;   /* threads inside a pass */
} mc_control;

/* What the caller lends a kernel. */
typedef struct {
  void *(*alloc)(void *ctx, size_t count, size_t size); /* count items of size bytes; never NULL */
  int (*tick)(void *ctx, int pass, double objective);   /* nonzero: stop, then and ever after */
  void *ctx;
} mc_host;

/* rows x columns doubles of the host's. */
static inline double *mc_doubles(const mc_host *host, ptrdiff_t rows, ptrdiff_t columns) {
  return host->alloc(host->ctx, (size_t) rows * (size_t) columns, sizeof(double));
}

typedef struct {
  int n_pass;        /* passes made */
  double *objective; /* max_pass values: the accepted objective after each pass */
  double final;      /* objective of the parameters returned */
} mc_trace;

typedef struct {
  int n_block; /* the parameters, as blocks: block[b] has length[b] values */
  double *block[MC_MAX_BLOCK];
  ptrdiff_t length[MC_MAX_BLOCK];
  double (*pass)(void *self);      /* one pass in place; returns the objective before it */
  double (*objective)(void *self); /* the objective of the blocks, nothing changed */
  double (*residual)(void *self);  /* squared relative distance of the last pass from the conditions
                                      of an optimum, which then decides instead of gains; or NULL */
  void (*feasible)(void *self, const double *const *safe); /* pull the blocks back inside */
  void (*reject)(void *self); /* that point was turned down (NULL: nothing but blocks to restore) */
  void *self;
  bool may_fall; /* a pass may lower the objective: plain passes, until one changes it too little */
} mc_model;

/*
 * Runs passes until ctl's rule is met. Plain (accelerate = false, tol = 0):
 * exactly max_pass passes. Accelerated: SQUAREM cycles (Varadhan & Roland
 * 2008, doi:10.1111/j.1467-9469.2007.00585.x) whose objective never falls from
 * one accepted point to the next; a rejected extrapolation costs one pass and
 * falls back to the plain pass. Memory: 3 copies of the blocks (plain: 1),
 * from host->alloc.
 *
 * On return the blocks hold the last accepted point, whatever the status;
 * trace->objective[p - 1] is the accepted objective after pass p (it never
 * falls where a pass does not lower the objective) and the last entry equals
 * trace->final.
 */
mc_status mc_fit(mc_model *model, const mc_control *ctl, const mc_host *host, mc_trace *trace);

/* Asks the host whether to stop; a host that said yes once keeps saying so. Main thread only. */
bool mc_stop(const mc_host *host, int pass, double objective);

#endif
