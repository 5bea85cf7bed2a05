/*
 * engine/fit.h: the one engine behind every EM-like model, and what it shares with
 * the kernels: status, control, trace.
 *
 * A model hands the engine its parameters as blocks of doubles, one pass that
 * updates them in place, and a rule that pulls an extrapolated point back
 * inside the parameter space. The engine owns the loop, the acceleration, the
 * stopping rule, the trace and the interrupts.
 */
#ifndef MC_ENGINE_FIT_H
#define MC_ENGINE_FIT_H

#include "engine/host.h"

#define MC_MAX_BLOCK 16

/* Failures are below zero; everything else leaves usable parameters. */
typedef enum {
  MC_CONVERGED = 0,       /* the stopping rule was met */
  MC_MAX_PASS = 1,        /* max_pass passes were made */
  MC_STOPPED = 2,         /* host->tick asked to stop */
  MC_GO_ON = 3,           /* none of these yet; never returned by mc_fit() */
  MC_ERR_NOT_FINITE = -1, /* a plain pass returned a non-finite objective */
  MC_ERR_NOT_START = -2   /* the start has a non-finite objective */
} mc_status;

/* How a model with all of them is climbed; the others have EM, or what stands for it. */
typedef enum { MC_EM, MC_NEWTON, MC_SPARSE } mc_algorithm;

typedef struct {
  int max_pass;    /* passes allowed, >= 0 */
  double tol;      /* stop when a cycle gains less than tol times |objective|; 0: never */
  bool accelerate; /* SQUAREM cycles of three passes, else plain passes */
  int n_threads;   /* threads inside a pass */
  mc_algorithm algorithm;
} mc_control;

typedef struct {
  int n_pass;        /* passes made */
  double *objective; /* n_pass values: the accepted objective after each pass; grows */
  int room;          /* of objective, see mc_grow() */
  double final;      /* objective of the parameters returned */
} mc_trace;

/* Room for one more column of `width` doubles after the `used` ones there are, fewer than `most`:
 * where *room is used up, they move to where there is twice as much. What may have 2^31 columns but
 * seldom does has its memory in this way. */
double *mc_grow(const mc_host *host, double *columns, int used, int most, ptrdiff_t width,
                int *room);

/* What accelerated cycles know beside the points when theta_1 is saved: enough to go on from there. */
typedef struct {
  double accepted; /* the objective of theta_0 */
  double before;   /* that before this cycle */
  double step_max; /* bound of the step length */
  int n_small;     /* cycles in a row that gained too little */
} mc_cycles;

/* A fit that was stopped: its blocks are theta_1. */
typedef struct {
  mc_cycles cycles;
  const double *theta_0[MC_MAX_BLOCK];
} mc_go_on;

/*
 * Parameters that are kept elsewhere, in the memory of other processes or on disk, and belong to the
 * point as the blocks do: the engine tells what to do with them, as it does it with the blocks.
 */
typedef struct {
  /* as theta_0, theta_1 or theta_2; cycles: NULL but for theta_1 of accelerated cycles */
  void (*save)(void *self, int which, const mc_cycles *cycles);
  void (*restore)(void *self, int which);
  void (*lengths)(void *self, double *rr, double *vv); /* adds theirs, of the three saved points */
  void (*extrapolate)(void *self,
                      double step); /* from the three, and back inside: feasible() follows
                                                   for the blocks */
} mc_away;

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
  bool (*next)(void *self, bool last); /* what was climbed stood for the objective: from here on it
                                          is something nearer, and the objective itself if last;
                                          false: it was that already. NULL: always */
  void *self;
  const mc_away *away;   /* NULL: the blocks are all there is */
  const mc_go_on *go_on; /* NULL: the fit begins here. Not for models with next() */
  bool may_fall; /* a pass may lower the objective: plain passes, until one changes it too little */
} mc_model;

/* One more block; NULL: none. */
void mc_add_block(mc_model *model, double *block, ptrdiff_t length);

/* Adds the squared lengths of r = t1 - t0 and v = (t2 - t1) - r. */
void mc_step_lengths(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                     double *rr, double *vv);

/* out = t0 + 2 step r + step^2 v */
void mc_extrapolate(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                    double step, double *out);

/*
 * Runs passes until ctl's rule is met. Plain (accelerate = false, tol = 0):
 * exactly max_pass passes. Accelerated: SQUAREM cycles (Varadhan & Roland
 * 2008, doi:10.1111/j.1467-9469.2007.00585.x) whose objective never falls from
 * one accepted point to the next; a rejected extrapolation costs one pass and
 * falls back to the plain pass. Memory: 3 copies of the blocks (plain: 1) and
 * the trace, as it grows, from host->alloc.
 *
 * On return the blocks hold the last accepted point, whatever the status;
 * trace->objective[p - 1] is the accepted objective after pass p (it never
 * falls where a pass does not lower the objective) and the last entry equals
 * trace->final.
 */
mc_status mc_fit(mc_model *model, const mc_control *ctl, const mc_host *host, mc_trace *trace);

#endif
