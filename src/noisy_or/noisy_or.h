/*
 * noisy_or/noisy_or.h: noisy-OR component analysis, Singliar & Hauskrecht (2005),
 * doi:10.1137/1.9781611972757.33; equation numbers are theirs:
 *   z[i,c] ~ Bernoulli(prior[c]),
 *   P(x[i,j] = 0 | z) = (1 - leak[j]) prod_c (1 - links[c,j])^z[i,c].
 *
 *   here              paper
 *   observation i     n
 *   attribute j       j
 *   source c          i
 *   prior             pi_i
 *   links             p_ij = 1 - exp(-theta_ij)
 *   leak              p_0j = 1 - exp(-theta_0j)
 *   activation        <s_i^n>, the posterior mean of z
 *
 * Three ways to compute the posterior of z. The first two share an M-step with hidden link
 * activations: x[i,j] = OR_c (z[i,c] AND a[c,j]) OR a[0,j] with a[c,j] ~ Bernoulli(links[c,j]), so
 * that
 *   E[z_c a_cj | x_j = 1, z] = z_c links[c,j] / P(x_j = 1 | z),
 * and nothing fires where x_j = 0.
 *   exact        all 2^k states
 *   truncated    the best few states of each row: a lower bound
 *   variational  the paper's Jaakkola-Jordan bound, with roots instead
 *
 * With recording, z determines the presence y[i,j], which is recorded with probability rho = r[i]
 * taxon[j]: that of its site, from the distribution share over a grid, times that of its taxon (or
 * 1):
 *   r[i] = nor_probability(g) with probability share[g],
 *   x[i,j] = y[i,j] u[i,j] v[i,j],  u ~ Bernoulli(r[i]),  v ~ Bernoulli(taxon[j]),
 *   P(x = 1 | z, g) = rho P1,  P(x = 0 | z, g) = 1 - rho P1,  P1 = P(y = 1 | z) as above.
 * A row's state is (z, g): tables of log-probabilities over states and columns serve all rows, so
 * the E-step consists of the same products as without recording. A zero hides a presence with
 *   P(y = 1 | x = 0, z, g) = (1 - rho) P1 / (1 - rho P1),                             (R1)
 * for which v = 1 with probability
 *   P(v = 1 | y = 1, x = 0, g) = taxon (1 - r) / (1 - rho).                           (R2)
 * u and v of absences are excluded from the complete data, whose expected log-likelihood separates:
 *   links, leak: as above, with firings at expected presences, (R1), instead of ones;  (R3)
 *   taxon[j]:    presences with v = 1 over presences, in column j;                    (R4)
 *   share[g]:    expected rows with g over rows.                                      (R5)
 * With effort e[i] each site has a separate distribution over the grid, a binomial one,
 *   share[g,i] = C(9, g) (1 - s)^g s^(9 - g),  s = 1 / (1 + exp(-coef[0] - coef[1] e[i])),          (R15)
 * g from 0, and instead of (R5) coef is the logistic regression of expected 9 - g out of 9 on e;
 * share is then the mean over sites, given the data. (R3) to (R5) are closed forms, with Beta priors and a
 * Dirichlet one, and no step decreases the objective. Every zero contributes, but sums over zeros are
 * those over all rows minus ones and missing cells.
 *
 * With repeated visits the visits to a cell share its y and rho, but not u and v. If `made` visits
 * have `found` detections, their likelihood is
 *   P1 rho^found (1 - rho)^(made - found) if found > 0, else 1 - P1 q,  q = 1 - (1 - rho)^made:     (R16)
 * a cell without a detection is a zero of one visit with q instead of rho, also in (R1), with the
 * same P1. In (R4) a presence counts `made` times, and v = 1 `found` times plus, among the others,
 * the number expected by eq. (R2). Zeros with different numbers of visits differ: tables over
 * states do not serve all rows, and exact inference is truncated inference whose lists have room
 * for all states.
 *
 * The scale of recording can be fixed, to compute its profile likelihood:
 *   hold.share sum_g share[g] r_g + hold.taxon mean_j taxon[j] = hold.sum.            (R6)
 * (R4) and (R5) then have a multiplier t: of counts N_g of grid points, and of presences with v = 1
 * and v = 0, A_j and B_j, pseudo-counts among them,
 *   share[g] = N_g / (lambda + t hold.share r_g),  lambda so that they sum to 1;      (R7)
 *   A_j / taxon[j] - B_j / (1 - taxon[j]) = t hold.taxon / m, a quadratic equation.   (R8)
 * Both means decrease with t. The expected log-likelihood is concave and (R6) linear: this is its
 * maximum under (R6), so the objective never decreases, as without the constraint.
 */
#ifndef MC_NOISY_OR_NOISY_OR_H
#define MC_NOISY_OR_NOISY_OR_H

#include "aspect_bernoulli/effort.h"
#include "engine/data.h"
#include "engine/fit.h"

#include <math.h>
#include <stdint.h>

#define NOR_LIST 16       /* states kept for a row, */
#define NOR_MOST_LIST 256 /* or all that there are, if requested */
#define NOR_MAX_EXACT 16  /* sources whose 2^k states are enumerated */
#define NOR_GRID 10       /* probabilities of recording that a site may have */

/* Parameters: starting values on entry, estimates on return. */
typedef struct {
  int k;
  double *prior; /* k, in [0, 1] */
  double *links; /* k x m, in [0, 1]; under maximum likelihood an exact 0 never moves */
  double *leak;  /* m, in [0, 1] */
  double *
      share; /* NOR_GRID, on the simplex: sites by probability of recording; NULL: all is recorded */
  double *taxon; /* m, in [0, 1]: a taxon's factor of that probability; NULL: 1 */
  double *coef;  /* 2: with effort, eq. (R15); else NULL */
} nor_param;

/* Probability at a grid point: dense near 0, where few are detected; the last is 1. */
static inline double nor_probability(int g) {
  const double root = (g + 1.) / NOR_GRID;
  return root * root;
}
static inline double nor_recorded(const nor_param *par, int g, int j) {
  return nor_probability(g) * (par->taxon ? par->taxon[j] : 1);
}
static inline int nor_n_grid(const nor_param *par) { return par->share ? NOR_GRID : 1; }

/* Eq. (R1); `one` may be above 1 by rounding. */
static inline double nor_present(double rho, double one) {
  return rho < 1 ? (1 - rho) * fmin(one, 1) / (1 - rho * fmin(one, 1)) : 0;
}

/* Pseudo-counts of a Beta(one + 1, zero + 1) prior. */
typedef struct {
  double one, zero;
} nor_beta;

/* Eq. (R6); share 0: nothing is fixed. */
typedef struct {
  double sum, share, taxon;
} nor_hold;

typedef enum { NOR_ALTERNATE, NOR_DAMPED, NOR_PAPER } nor_q_rule;

typedef struct {
  nor_beta prior, links, leak; /* all zero: maximum likelihood */
  nor_beta taxon;              /* with recording; */
  double share;                /* pseudo-count of every grid point */
  nor_hold hold;               /* the scale of recording; not in shards */
  const int *allowed;          /* k x m: 0 where a link is fixed at 0; NULL: all are free */
  const double *weight;        /* how often each row of the data stands there; NULL: once */
  const ab_curve *effort;      /* with coef: of every row, 9 cells each */
  const int *known; /* k x n: sources given as on, 1, or off, 0; below 0, and NULL: not */
  const int *made,
      *found;        /* m x n: visits to each cell, and those with a find; NULL: one to each */
  int inner;         /* M-steps on links and leak per E-step; 0: adapts */
  int q_steps;       /* variational: steps of q per iteration, */
  nor_q_rule q_rule; /* and their exponents: 1/2 and 1 in turn, 1/2, or 1 */
  bool fixed;        /* hold the parameters: only q and the lists of states move */
  bool accelerate;   /* truncated: lists are kept in two copies */
  int n_threads;
  const mc_host *host;
} nor_settings;

/* Each row's best states, sets of sources as bits, and their posterior weights. */
typedef struct {
  int words, size; /* 64-bit words a state, states that a row has room for */
  uint64_t *state; /* words x size x n */
  double *weight;  /* size x n */
  int *n_state;    /* n: how many are listed; 0: none yet */
} nor_lists;

/* Posterior sums for the M-step of exact and truncated inference. */
typedef struct {
  double *fired;      /* k x m: expected firings of a link at ones, over the link */
  double *leak_fired; /* m: the same for the leak */
  double *on;         /* k: expected number of observations with the source on */
  double *missing;    /* k x m: those of them whose cell is missing; NULL: none is */
  double *share;      /* NOR_GRID: expected observations by grid point; NULL: without recording */
  double *effort;     /* NOR_GRID: their effort; NULL: without coef */
  double *present;    /* m: expected presences, and those that v let through; NULL: without taxon */
  double *through;    /* m */
} nor_sums;

/* Weighted numbers of rows, and of observed cells in each column. */
typedef struct {
  double rows;
  double *seen; /* m */
} nor_totals;

nor_totals nor_count(const mc_data *data, const nor_settings *set);
nor_sums nor_new_sums(const mc_data *data, const nor_param *par, const mc_host *host);
void nor_clear_sums(nor_sums *sums, int k, int m);
void nor_add_sums(nor_sums *to, const nor_sums *from, int k, int m);
/* Adds presences in column j of rows with g, with v = 1 by eq. (R2). */
void nor_count_present(const nor_param *par, nor_sums *sums, int g, int j, double present,
                       int found, int made);

/* Logs of a row's probabilities of the grid points. */
void nor_log_shares(const nor_settings *set, const nor_param *par, int i, double *logs);
/* Adds `rows` copies of row i at grid point g. */
static inline void nor_count_share(const nor_settings *set, nor_sums *sums, int i, int g,
                                   double rows) {
  sums->share[g] += rows;
  if (sums->effort) sums->effort[g] += rows * set->effort->effort[i];
}

/* q of eq. (R16) for a cell of m x n; without visits, as for one visit. */
static inline double nor_any_record(const nor_settings *set, double rho, ptrdiff_t cell) {
  return set->made && set->made[cell] > 1 ? -expm1(set->made[cell] * log1p(-rho)) : rho;
}
static inline double nor_weight(const nor_settings *set, int i) {
  return set->weight ? set->weight[i] : 1;
}
/* Returns whether source c of row i is known to be on, or off. z[i,c] is then data, like x, and
 * likelihoods include it. Only for exact and truncated inference. */
static inline bool nor_given(const nor_settings *set, int i, int c, int k, bool on) {
  return set->known && set->known[num_at(c, i, k)] == on;
}
static inline bool nor_allowed(const nor_settings *set, ptrdiff_t at) {
  return !set->allowed || set->allowed[at];
}

/*
 * The M-step: expected firings over opportunities, plus pseudo-counts. A link without opportunity
 * and prior is unchanged.
 */
void nor_update_link(const nor_settings *set, const nor_sums *sums, nor_param *par, int j,
                     const double *fired, double leak_fired, double seen);
void nor_update_prior(const nor_settings *set, const double *on, double rows, nor_param *par);
void nor_update_taxon(const nor_settings *set, const nor_sums *sums, nor_param *par, int j);
/* Updates share, and taxon as well if the scale is fixed. */
void nor_update_share(const nor_settings *set, const nor_sums *sums, nor_param *par, int m);
/* Moves share and taxon to the nearest point with the fixed scale, if there is one. */
void nor_impose_scale(const nor_settings *set, nor_param *par, int m);

/*
 * Adds the log of the prior's kernel to a log-likelihood or bound. If only the prior is impossible
 * (for instance a starting value of exactly 0 for a link), the result is the least finite number,
 * because the next iteration leaves that edge.
 */
double nor_objective(const nor_settings *set, const nor_param *par, int m, double loglik);

/* Moves an extrapolated point back inside; the blocks: prior, links, leak, and share, taxon, coef
 * if present. */
void nor_guard(nor_param *par, int m, const double *const *safe);
void nor_blocks(nor_param *par, int m, mc_model *model);

/*
 * Exact inference, a model for mc_fit(). An iteration costs 4 n 2^k m flops in two BLAS products,
 * at most n 2^k exponentials and m 2^k logarithms; it never decreases the objective, for any
 * `inner`. Scratch: m 2^k doubles per strip of rows (16 strips, fewer if that exceeds 128 MB) and a
 * block of rows per thread. With recording there are NOR_GRID times as many states.
 */
typedef struct nor_exact nor_exact;
nor_exact *nor_new_exact(const mc_data *data, nor_param *par, const nor_settings *set);
mc_model nor_exact_model(nor_exact *work);

/*
 * Truncated inference: the objective is the sum over each row's listed states, a lower bound, which
 * an iteration never decreases. An iteration costs O(n k) flips of O(ones of a row); scratch is the
 * lists and 16 times O(k m). With recording the states of z are listed, each summed over the grid:
 * O(NOR_GRID m) per flip.
 *
 * lists  in/out: n_state is 0 at first; later those of an earlier run. With room for 2^k states
 *        all are listed, and the bound is the likelihood.
 */
typedef struct nor_truncated nor_truncated;
nor_truncated *nor_new_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                                 nor_lists lists);
mc_model nor_truncated_model(nor_truncated *work);

/*
 * The rows' part of an iteration, for tables in shards: finds each row's states, starting from
 * those listed, and computes the expected firings over them at the current parameters, to which
 * sums then points; or, if evaluate, only the bound. Returns the sum of the rows' bounds, NaN if
 * the host requested a stop.
 */
double nor_truncated_rows(nor_truncated *work, bool evaluate, const nor_sums **sums);

/*
 * Variational inference: for x = 1 and q on the simplex,
 *   f(theta0 + sum_c z_c theta_c) >= f(theta0) + sum_c z_c g_c(q_c),
 *   g(q) = q [f(theta0 + theta / q) - f(theta0)],  f(y) = log(1 - exp(-y)),
 * under which the sources are independent given x. An iteration follows the paper's order:
 * activation, eq. (2.7); q_steps steps of q, eq. (3.12); roots for links (3.13) and leak (3.14);
 * prior (3.15). None of them decreases the bound. Links with theta = 0 stay there under maximum
 * likelihood and cost nothing. Costs O(k) evaluations of f per one and step; scratch O(k) doubles a
 * one.
 *
 * With recording, q and the ones' bounds are the same for all g, except for log rho. A zero has
 *   log P(x = 0 | z, g) = h(theta0 + sum_c z_c theta_c),  h(y) = log(1 - rho + rho exp(-y)),        (R9)
 * convex, because it mixes absences with unrecorded presences; a tangent bounds it from below. A
 * bound linear in z keeps the sources independent given x and g. With r = theta0 + t, t >= 0,
 *   h >= none + sum_c z_c slope_c,  none = h(r) - t h'(r),                                         (R10)
 *   slope_c = theta_c h'(r) where theta_c <= t, else h(theta0 + theta_c) - none.
 * [u -> (h(theta0 + u) - none) / u falls to h'(r) at u = t, and rises from there; held at h'(r) up
 * to t, it is a function psi(u) / u that does not fall, so that psi(a) + psi(b) <= psi(a + b).] The
 * bound is exact at t = 0 if at most one source of the column is on, and at rho = 1. Its mean is
 * largest where
 *   t = sum_c <z_c> min(theta_c, t) : t = small / (1 - big),                                      (R11)
 * small the sum of <z_c> theta_c where theta_c <= t, big that of the other <z_c>; t = 0 where their
 * sum over all sources is no more than 1. It does not depend on rho; with all theta_c <= t it is
 * the tangent at the mean. Of eq. (R10) with the new <z> and their t the M-step takes expected
 * zeros of what would have been on record, -h' at each point:
 *   of source c:  <z_c> times -h'(r), or -h'(theta0 + theta_c) where theta_c > t,                  (R12)
 *   of the leak:  w = -(1 - big) h'(r) - sum over theta_c > t of <z_c> h'(theta0 + theta_c),       (R13)
 * which replace zeros with the source on, and zeros, in (3.13) and (3.14), and
 *   taxon[j]:     w + (1 - w) of eq. (R2), and ones, over observed cells of column j,              (R14)
 *   share[g]:     as (R5).
 * The bound of new parameters is no less than that of the tangents at these points, since tangents
 * at points above r are less steep than that at r, and 1 - big >= 0: no step lowers the objective.
 * Costs O(NOR_GRID k m) a row; keeps <z> given g, NOR_GRID k doubles a row.
 *
 * var    in/out: the state between iterations
 */
typedef struct {
  double *links, *leak; /* k x m, m: theta = -log(1 - p), within [0, 30] and [1e-6, 30] */
  double *q;            /* k x ones of the data, in the order of data->column; on the simplex */
  double *on;           /* with recording: k x NOR_GRID x n, <z> given the probability; else NULL */
} nor_theta;

#define NOR_MOST_THETA 30.
#define NOR_LEAST_LEAK 1e-6

typedef struct nor_variational nor_variational;
nor_variational *nor_new_variational(const mc_data *data, nor_param *par, nor_theta *var,
                                     const nor_settings *set);
mc_model nor_variational_model(nor_variational *work);

/* Computes theta of links and leak from par, within their bounds. */
void nor_to_theta(const nor_param *par, int m, const nor_settings *set, nor_theta *var);
/* Computes par's links and leak from theta, after mc_fit(). */
void nor_from_theta(const nor_theta *var, int m, nor_param *par);

/* Activation (n x k), and each row's bound, at the current parameters and q. */
void nor_variational_rows(nor_variational *work, double *activation, double *bound);

/* Posterior quantities of rows at the supplied parameters; NULL: not requested. */
typedef struct {
  double *loglik;        /* n: log P(x), exact or over the listed states; -Inf: impossible */
  double *activation;    /* n x k: P(source on | x); NaN for an impossible row, here and below */
  double *map;           /* n x k: the likeliest state; of equals, the first in binary order */
  double *drawn;         /* n x k: a state drawn from the posterior, by */
  const double *uniform; /* n: numbers from [0, 1) */
  double *response;      /* n x m: mean of P(x_j = 1 | z) over the posterior */
  double *cell;          /* n x m x (k + 1): at ones, P(link fired | x), the leak's last; else 0 */
  double *site; /* n: mean probability of recording; this and the next ones with recording only */
  double *present; /* n x m: mean of P(y_j = 1 | z) */
  double *missed;  /* n x m: of eq. (R1), what P(y_j = 1 | x) is where x_j is 0 */
  double *phantom; /* n x m: of (1 - rho) / (1 - rho P1), that a zero was not to be a find */
  double
      *again; /* n x m, with visits: of rho where y_j = 1 given the row, a find by one visit more */
} nor_report;

/*
 * Fills a report from all 2^k states, or from the states listed for each row (none: searches for
 * the best ones). Costs an E-step, and O(states in use) per cell for response and cell. Returns
 * false if the host requested a stop.
 */
bool nor_report_exact(const mc_data *data, nor_param *par, const nor_settings *set,
                      nor_report *report);
bool nor_report_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                          nor_lists lists, nor_report *report);

/*
 * log P(x) of rows by importance sampling: n_draw states from independent sources, whose
 * probabilities are within (0, 1). The draws of a row depend only on seed and its position. Given
 * the sources, an observed cell has at least the probability floor. effective: n, the effective
 * sample sizes.
 */
typedef struct {
  const double *proposal; /* n x k */
  int n_draw;
  uint64_t seed;
  double floor;
} nor_draws;

bool nor_sample_loglik(const mc_data *data, nor_param *par, const nor_settings *set,
                       const nor_draws *draws, double *loglik, double *effective);

#endif
