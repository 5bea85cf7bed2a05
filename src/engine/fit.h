/*
 * engine/fit.h: the fitting engine of every EM-like model, and the types it shares with the
 * kernels: status, control, trace.
 *
 * A model supplies its parameters as blocks of doubles, a function pass() that makes one iteration
 * in place, and a function that moves an extrapolated point back into the parameter space. The
 * engine is responsible for the loop, the acceleration, the stopping rule, the trace and
 * interrupts.
 */
#ifndef MC_ENGINE_FIT_H
#define MC_ENGINE_FIT_H

#include "engine/host.h"

#define MC_MAX_BLOCK 16

/* Failures are negative; all other values leave usable parameters. */
typedef enum {
  MC_CONVERGED = 0,       /* the stopping rule was met */
  MC_MAX_PASS = 1,        /* max_iter iterations were made */
  MC_STOPPED = 2,         /* host->tick requested a stop */
  MC_GO_ON = 3,           /* none of these yet; never returned by mc_fit() */
  MC_ERR_NOT_FINITE = -1, /* a plain iteration returned a non-finite objective */
  MC_ERR_NOT_START = -2   /* the starting values have a non-finite objective */
} mc_status;

/* How a model with all of them is climbed; the others have EM, or what stands for it. MC_LINE is EM
 * that does not visit zeros (aspect_bernoulli/line.h). */
typedef enum { MC_EM, MC_NEWTON, MC_SPARSE, MC_LINE } mc_algorithm;

typedef struct {
  int max_iter;    /* iterations allowed, >= 0 */
  double tol;      /* stop if a cycle gains less than tol times |objective|; 0: never */
  bool accelerate; /* SQUAREM cycles of three iterations, else plain iterations */
  int n_threads;   /* threads within an iteration */
  mc_algorithm algorithm;
} mc_control;

typedef struct {
  int n_iter;        /* iterations made */
  double *objective; /* n_iter values: the accepted objective after each iteration */
  int room;          /* capacity of objective, see mc_grow() */
  double final;      /* objective of the parameters returned */
} mc_trace;

/*
 * Ensures room for one more column of `width` doubles after the `used` existing ones, fewer than
 * `most`; if *room is used up, the columns move to twice the memory. Serves arrays that may have
 * 2^31 columns but rarely do.
 */
double *mc_grow(const mc_host *host, double *columns, int used, int most, ptrdiff_t width,
                int *room);

/* State of accelerated cycles besides the points, when theta_1 is saved: sufficient to resume there. */
typedef struct {
  double accepted; /* the objective of theta_0 */
  double before;   /* the objective before this cycle */
  double step_max; /* bound of the step length */
  int n_small;     /* cycles in a row that gained too little */
} mc_cycles;

/* A stopped fit to be resumed; its blocks are theta_1. */
typedef struct {
  mc_cycles cycles;
  const double *theta_0[MC_MAX_BLOCK];
} mc_go_on;

/*
 * Parameters stored elsewhere, in the memory of other processes or on disk. They belong to the
 * point as the blocks do, and the engine requests the same operations for them.
 */
typedef struct {
  /* which: theta_0, theta_1 or theta_2; cycles: NULL except for theta_1 of accelerated cycles */
  void (*save)(void *self, int which, const mc_cycles *cycles);
  void (*restore)(void *self, int which);
  void (*lengths)(void *self, double *rr, double *vv); /* adds their part, from the three saved
                                                          points */
  void (*extrapolate)(void *self,
                      /* Extrapolates from the three points and moves back inside; feasible() for
                       * the blocks follows. */
                      double step);
} mc_away;

typedef struct {
  int n_block; /* the parameters, as blocks: block[b] has length[b] values */
  double *block[MC_MAX_BLOCK];
  ptrdiff_t length[MC_MAX_BLOCK];
  double (*pass)(void *self);      /* one iteration in place; returns the objective before it */
  double (*objective)(void *self); /* the objective at the blocks, which do not change */
  double (*residual)(void *self);  /* squared relative distance of the last iteration from the
                                      optimality conditions, which then replaces gains in the
                                      stopping rule; or NULL */
  void (*feasible)(void *self, const double *const *safe); /* moves the blocks back inside */
  void (*reject)(void *self);          /* called when a point was rejected; NULL: restoring blocks
                                 suffices */
  bool (*next)(void *self, bool last); /* Replaces the surrogate objective by a tighter one (by
                                          the objective itself if `last`). Returns false if it
                                          already was the objective. NULL: always the objective */
  void *self;
  const mc_away *away;   /* NULL: the blocks are all parameters */
  const mc_go_on *go_on; /* NULL: the fit starts here. Not for models with next() */
  bool may_fall; /* an iteration may decrease the objective: plain iterations are made until it
                    changes too little */
} mc_model;

/* Appends a block unless it is NULL. */
void mc_add_block(mc_model *model, double *block, ptrdiff_t length);

/* Adds the squared lengths of r = t1 - t0 and v = (t2 - t1) - r. */
void mc_step_lengths(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                     double *rr, double *vv);

/* out = t0 + 2 step r + step^2 v */
void mc_extrapolate(ptrdiff_t length, const double *t0, const double *t1, const double *t2,
                    double step, double *out);

/*
 * Iterates until ctl's stopping rule is met. Plain (accelerate = false, tol = 0): exactly max_iter
 * iterations. Accelerated: SQUAREM cycles (Varadhan & Roland 2008,
 * doi:10.1111/j.1467-9469.2007.00585.x) whose objective never decreases from one accepted point to
 * the next; a rejected extrapolation costs one iteration and falls back to the plain one. Memory: 3
 * copies of the blocks (plain: 1) and the growing trace, from host->alloc.
 *
 * On return the blocks hold the last accepted point, whatever the status. trace->objective[p - 1]
 * is the accepted objective after iteration p (it never decreases unless an iteration lowers the
 * objective), and its last entry equals trace->final.
 */
mc_status mc_fit(mc_model *model, const mc_control *ctl, const mc_host *host, mc_trace *trace);

#endif
