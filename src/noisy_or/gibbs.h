/*
 * noisy_or/gibbs.h: Gibbs sampling of noisy-OR (noisy_or/noisy_or.h), with and without recording, under
 * its priors, whose Beta and Dirichlet parameters are above 0. A sweep draws
 *   z[i,c] given the row's other sources, what is there and the probability of recording summed over:
 *          log odds of prior[c] and of sum_g share[g] P(x[i,] | z, g);                                (G1)
 *   g[i]   given z[i,], from share[g] P(x[i,] | z, g);                                                (G2)
 *   y[i,j] where x is 0, by eq. (R1), and which of the leak and the sources that are on fired where y is 1:
 *          independent Bernoulli numbers of which one or more are 1;                                  (G3)
 *   prior, links, leak, taxon as Beta, share as Dirichlet variables given these, coef by Polya-Gamma
 *          variables under Normal(0, NOR_COEF_SD^2) each: all are conjugate.                          (G4)
 * Steps that would move links against the probabilities of recording, y and firings being summed over (of a
 * column, of the table with new g or with share tilted, of a source with new z), were taken but cost more
 * time than they gained effective draws of the number missed.
 */
#ifndef MC_NOISY_OR_GIBBS_H
#define MC_NOISY_OR_GIBBS_H

#include "noisy_or/noisy_or.h"

#define NOR_COEF_SD 1.5      /* of the prior of coef */
#define NOR_LEAST_DRAW 1e-12 /* probabilities that are drawn are kept within this and 1 less this */

/* A state: start on entry, the last draw on return. */
typedef struct {
  nor_param par;
  int *on;   /* k x n, 0 or 1: sources, as set->known has them where it is not below 0 */
  int *grid; /* n: g, from 0; with recording */
} nor_gibbs_state;

typedef struct {
  int n_sweep;
  int thin; /* every so many sweeps a draw is noted; 0: none */
  int n_probe;
  const int *probe; /* 2 x n_probe: row and column of cells whose probability is noted, from 0 */
} nor_gibbs_plan;

/* Rows of a column of notes; probes follow. */
enum {
  NOR_NOTE_JOINT,  /* log density of data, sources, grid points and parameters, up to a constant */
  NOR_NOTE_LIK,    /* log P(x | z, g) */
  NOR_NOTE_ON,     /* sources that are on in a row, on average */
  NOR_NOTE_MISSED, /* zeros where y is 1 */
  NOR_NOTE_RECORDED, /* mean of rho over cells */
  NOR_NOTE_COEF,     /* 2 */
  NOR_NOTE_PROBE = NOR_NOTE_COEF + 2
};

/* Sums over draws of a cell: of q P1, the probability of a one, and its square; with recording also of
 * eq. (R1), its square, P1, and (1 - q) / (1 - q P1). */
#define NOR_GIBBS_PLAIN 2
#define NOR_GIBBS_SCORES 6

/* Sums are added to. Those of parameters are followed by those of their squares. */
typedef struct {
  double *note;                 /* (NOR_NOTE_PROBE + n_probe) x draws; grows, see mc_grow() */
  double *cell;                 /* n x m x NOR_GIBBS_PLAIN or NOR_GIBBS_SCORES */
  double *on;                   /* n x k */
  double *site;                 /* n: of nor_probability(); with recording, as share is */
  double *prior, *links, *leak; /* k x 2, k x m x 2, m x 2 */
  double *share, *taxon;        /* NOR_GRID x 2, m x 2; where there are any */
  int room_note, n_done, n_draw;
} nor_gibbs_record;

/*
 * Sweeps from a state; set has prior, links, leak, taxon, share, allowed, effort, known, made and found,
 * and no weight. One costs O(NOR_GRID n m k) multiplications, without recording O(n m k), as long as
 * few sources are on. Random numbers through num/rng.h. Returns MC_MAX_PASS, or MC_STOPPED where the
 * host asked to stop, after the last whole sweep.
 */
mc_status nor_gibbs_run(const mc_data *data, const nor_settings *set, const nor_gibbs_plan *plan,
                        nor_gibbs_state *state, nor_gibbs_record *record);

#endif
