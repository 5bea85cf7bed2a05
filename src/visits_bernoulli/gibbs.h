/*
 * visits_bernoulli/gibbs.h: Gibbs sampling of the model of visits with a detection model
 * (visits_bernoulli/em.h) and without additions. True states z and the components behind them are
 * the augmented data for memberships (Dirichlet) and aspects (Beta), Polya-Gamma numbers at the
 * visits to presences those for slopes (Polson, Scott & Windle 2013,
 * doi:10.1080/01621459.2013.829001):
 *   slopes[,j] | omega, z ~ N(Q^-1 h, Q^-1), Q = sum omega x x' + ridge, h = sum (found - 1/2) x + ridge mean.
 * If slopes are shared, mean[e,j] = center[e] (+ taxon[j,] more, for the intercept) and ridge[e] =
 * 1 / spread[e]^2, with center and more ~ N(0, center_sd^2) and spread half-Cauchy of scale 1,
 * through 1 / spread^2 | u ~ Gamma(1/2, u), u ~ Gamma(1/2, 1). Aspects are then Beta with
 * parameters whose logarithms are normal about those of the prior's, with standard deviation 1.
 * Before the states are drawn, moves sum over them: each attribute's intercept and logits of
 * aspects by a slice (Neal 2003, doi:10.1214/aos/1056562461) along a line of more presences with
 * lower detection; center and spread along with all slopes by Metropolis steps. Effects of
 * covariates of memberships are drawn jointly, by Metropolis-Hastings with proposals about their
 * mode conditional on the components of the cells.
 */
#ifndef MC_VISITS_BERNOULLI_GIBBS_H
#define MC_VISITS_BERNOULLI_GIBBS_H

#include "visits_bernoulli/em.h"

/* A state of the chain: the starting values on entry, the last draw on return. */
typedef struct {
  ab_visit_param *par; /* membership, aspects, detection.slopes; nothing added */
  double *mean;        /* d x m: the prior means in par; computed from center if shared */
  double *ridge;       /* d: the prior precisions, likewise from spread */
  bool shared;
  double *center;      /* d + w */
  double *spread;      /* d */
  double *shape;       /* 2: of the Beta distribution of aspects */
  int w;               /* terms of the attributes' own covariates */
  int intercept;       /* the term with covariates of attributes; -1: none */
  const double *taxon; /* m x w */
  double center_sd;
} ab_visit_state;

/* Rows of a column of notes; center and spread follow. */
enum {
  AB_VISIT_NOTE_JOINT,    /* log-likelihood plus the parameters' log-prior, up to constants */
  AB_VISIT_NOTE_LIK,      /* log-likelihood */
  AB_VISIT_NOTE_MISSED,   /* presences in visited cells without detection */
  AB_VISIT_NOTE_OCCUPIED, /* presences */
  AB_VISIT_NOTE_CENTER
};

/* Written every `thin` sweeps; columns are draws. The sums accumulate. */
typedef struct {
  int thin, keep_every; /* keep_every: interval, in draws, of keeping memberships and aspects */
  double *note;         /* (AB_VISIT_NOTE_CENTER + d + w + d) x draws */
  double *richness;     /* n x draws: presences per observation */
  double *sites;        /* m x draws: presences per attribute */
  double *slopes;       /* d m x draws */
  double *effects;      /* by.d k x draws */
  double *cell;         /* n x m x 4: sums of P(z = 1 | visits), its square, P(z = 1), its square */
  double *membership;   /* n x k */
  double *aspects;      /* k x m */
  double *kept_membership, *kept_aspects; /* n k and k m x kept */
  int n_done, n_draw, n_kept;
} ab_visit_record;

/*
 * Runs sweeps from a state: center and spread moved together with all slopes, slices, then states
 * and components, memberships (or effects), aspects, slopes, center and spread, each conditional on
 * the others. A sweep costs O(n m (k + n_visit d)) about 10 times, a Polya-Gamma draw and O(d^2)
 * for each visit to a presence, and with effects O(n k^2 by.d^2) a few times. Returns MC_MAX_PASS,
 * or MC_STOPPED if the host requested a stop, between sweeps.
 */
mc_status ab_visits_gibbs(const ab_visit_data *data, const ab_prior *prior, ab_visit_state *state,
                          int n_sweep, const mc_host *host, ab_visit_record *record);

#endif
