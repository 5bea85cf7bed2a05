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
 * Three ways to the posterior of z, one M-step by hidden link activations for
 * the first two: x[i,j] = OR_c (z[i,c] AND a[c,j]) OR a[0,j] with a[c,j] ~
 * Bernoulli(links[c,j]), so that
 *   E[z_c a_cj | x_j = 1, z] = z_c links[c,j] / P(x_j = 1 | z),
 * and nothing fires where x_j = 0.
 *   exact        all 2^k states
 *   truncated    the best few states of each row: a lower bound
 *   variational  the paper's Jaakkola-Jordan bound, with roots instead
 *
 * With a chance that a presence is recorded, rho[i,j] = site[i] taxon[j] (taxon
 * may be left out), z decides what is there, y[i,j], and
 *   x[i,j] = y[i,j] u[i,j] v[i,j],  u ~ Bernoulli(site[i]),  v ~ Bernoulli(taxon[j]),
 *   P(x = 1 | z) = rho P1,  P(x = 0 | z) = 1 - rho P1,  P1 = P(y = 1 | z) as above.
 * The factors of zeros belong to rows, so that a pass looks at every cell under every
 * state. A zero hides a presence with
 *   P(y = 1 | x = 0, z) = h = (1 - rho) P1 / (1 - rho P1),                    (R1)
 * which had u = 1 and was lost by its taxon, or v = 1 and was lost by its site, with
 *   site (1 - taxon) / (1 - rho),  taxon (1 - site) / (1 - rho);               (R2)
 * at a one u = v = 1. u and v of what is absent are left out of the complete data,
 * whose expected log-likelihood falls into parts:
 * - links and leak: as above, firings at expected presences instead of ones: at a zero
 *   E[z_c a_cj | x = 0, z] = z_c links[c,j] / P1 h;                           (R3)
 * - site[i]: presences with u = 1 over presences of the row, taxon[j] of the column.  (R4)
 * All are closed forms with Beta priors; none lowers the objective. With rho = 1, h is 0.
 */
#ifndef MC_NOISY_OR_NOISY_OR_H
#define MC_NOISY_OR_NOISY_OR_H

#include "engine/data.h"
#include "engine/fit.h"

#include <stdint.h>

#define NOR_LIST 16      /* states kept for a row */
#define NOR_MAX_EXACT 16 /* sources whose 2^k states are enumerated */

/* Parameters: start values on entry, estimates on return. */
typedef struct {
  int k;
  double *prior; /* k, in [0, 1] */
  double *links; /* k x m, in [0, 1]; under maximum likelihood an exact 0 never moves */
  double *leak;  /* m, in [0, 1] */
  double *site;  /* n, in [0, 1]: chances that a presence is recorded; NULL: all are */
  double *taxon; /* m, in [0, 1]: a taxon's factor of them; NULL: 1 */
} nor_param;

static inline double nor_recorded(const nor_param *par, int i, int j) {
  return par->site[i] * (par->taxon ? par->taxon[j] : 1);
}

/* Pseudo-counts of a Beta(one + 1, zero + 1) prior. */
typedef struct {
  double one, zero;
} nor_beta;

typedef enum { NOR_ALTERNATE, NOR_DAMPED, NOR_PAPER } nor_q_rule;

typedef struct {
  nor_beta prior, links, leak, site, taxon; /* all zero: maximum likelihood */
  const int *allowed;          /* k x m: 0 where a link is held at 0; NULL: all are allowed */
  const double *weight;        /* how often each row of the data stands there; NULL: once */
  int inner;                   /* M-steps on links and leak per E-step; 0: adapts */
  int q_steps;                 /* variational: steps of q per pass, */
  nor_q_rule q_rule;           /* and their exponents: 1/2 and 1 in turn, 1/2, or 1 */
  bool fixed;                  /* hold the parameters: only q, the lists of states and site move */
  bool accelerate;             /* truncated: lists are kept in two copies */
  int n_threads;
  const mc_host *host;
} nor_settings;

/* Each row's best states, sets of sources as bits, and their posterior weights. */
typedef struct {
  int words;       /* 64-bit words a state */
  uint64_t *state; /* words x NOR_LIST x n */
  double *weight;  /* NOR_LIST x n */
  int *n_state;    /* n: how many are listed; 0: none yet */
} nor_lists;

/* What the M-step of exact and truncated inference needs from the posterior. */
typedef struct {
  double *fired;      /* k x m: expected firings of a link at ones, over the link */
  double *leak_fired; /* m: the same for the leak */
  double *on;         /* k: expected number of observations with the source on */
  double *missing;    /* k x m: those of them whose cell is missing; NULL: none is */
} nor_sums;

/* Expected presences, those that u (of sites) or v (of taxa) let through, and all; NULL: not wanted. */
typedef struct {
  double *site, *site_all;   /* n: each row is in one strip, and these are all strips' */
  double *taxon, *taxon_all; /* m */
} nor_finds;

/* Weighted numbers of rows, and of observed cells in each column. */
typedef struct {
  double rows;
  double *seen; /* m */
} nor_totals;

nor_totals nor_count(const mc_data *data, const nor_settings *set);
nor_sums nor_new_sums(const mc_data *data, int k, const mc_host *host);
/* Of a strip, with the rows' parts of first; NULL: new ones. */
nor_finds nor_new_finds(const mc_data *data, const nor_param *par, const nor_finds *first,
                        const mc_host *host);
void nor_clear_finds(nor_finds *finds, int m);
void nor_add_finds(nor_finds *to, const nor_finds *from, int m);
/* Starts the sums of row i by its ones; adds the presence that its zero in column j hides. */
void nor_count_ones(const mc_data *data, const nor_settings *set, nor_finds *finds, int i);
void nor_count_missed(const nor_param *par, nor_finds *finds, int i, int j, double missed,
                      double weight);

static inline double nor_weight(const nor_settings *set, int i) {
  return set->weight ? set->weight[i] : 1;
}
static inline bool nor_allowed(const nor_settings *set, ptrdiff_t at) {
  return !set->allowed || set->allowed[at];
}

/*
 * The M-step: expected firings over opportunities, plus pseudo-counts. A link
 * with no opportunity and no prior keeps its value.
 */
void nor_update_link(const nor_settings *set, const nor_sums *sums, nor_param *par, int j,
                     const double *fired, double leak_fired, double seen);
void nor_update_prior(const nor_settings *set, const double *on, double rows, nor_param *par);
void nor_update_recording(const mc_data *data, const nor_settings *set, const nor_finds *finds,
                          nor_param *par);

/*
 * Adds the log of the prior's kernel to a log-likelihood or bound. Where only
 * the prior is impossible (a start with a link of exact 0, say) the result is
 * the least finite number: the next pass leaves that edge.
 */
double nor_objective(const nor_settings *set, const nor_param *par, const mc_data *data,
                     double loglik);

/* Pulls an extrapolated point back inside; the blocks: prior, links, leak, and site, taxon if any. */
void nor_guard(nor_param *par, const mc_data *data, const double *const *safe);
void nor_blocks(nor_param *par, const mc_data *data, mc_model *model);

/*
 * Exact inference, a model for mc_fit(). A pass costs 4 n 2^k m flops in two
 * BLAS products, n 2^k exponentials at most and m 2^k logarithms; it never
 * lowers the objective, whatever inner. Scratch: m 2^k doubles per strip of
 * rows (16 strips, fewer where that exceeds 128 MB) and a block of rows a thread.
 * With recording: n m 2^k products for the logs and as many divisions for eq. (R1).
 */
typedef struct nor_exact nor_exact;
nor_exact *nor_new_exact(const mc_data *data, nor_param *par, const nor_settings *set);
mc_model nor_exact_model(nor_exact *work);

/*
 * Truncated inference: the objective is the sum over each row's listed states,
 * a lower bound, which a pass never lowers. A pass costs O(n k) flips of
 * O(ones of a row); scratch is the lists and 16 times O(k m).
 *
 * lists  in/out: of n_state 0 at first, later those of an earlier run
 */
typedef struct nor_truncated nor_truncated;
nor_truncated *nor_new_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                                 nor_lists lists);
mc_model nor_truncated_model(nor_truncated *work);

/*
 * The rows' part of a pass, for tables in shards: each row's states are found, from those listed, and
 * sums point at the expected firings over them, the parameters as they are; or, if look, the bound
 * alone. Returns the sum of the rows' bounds, NaN where the host asked to stop.
 */
double nor_truncated_rows(nor_truncated *work, bool look, const nor_sums **sums);

/*
 * Variational inference: for x = 1 and q on the simplex,
 *   f(theta0 + sum_c z_c theta_c) >= f(theta0) + sum_c z_c g_c(q_c),
 *   g(q) = q [f(theta0 + theta / q) - f(theta0)],  f(y) = log(1 - exp(-y)),
 * under which the sources are independent given x. A pass is the paper's, in
 * its order: activation, eq. (2.7); q_steps steps of q, eq. (3.12); roots for
 * links (3.13) and leak (3.14); prior (3.15). None of them lowers the bound.
 * Links with theta = 0 stay there under maximum likelihood and cost nothing.
 * Costs O(k) evaluations of f per one and step; scratch O(k) doubles a one.
 *
 * var    in/out: what a pass leaves behind and the next one starts from
 */
typedef struct {
  double *links, *leak; /* k x m, m: theta = -log(1 - p), within [0, 30] and [1e-6, 30] */
  double *q;            /* k x ones of the data, in the order of data->column; on the simplex */
} nor_theta;

#define NOR_MOST_THETA 30.
#define NOR_LEAST_LEAK 1e-6

typedef struct nor_variational nor_variational;
nor_variational *nor_new_variational(const mc_data *data, nor_param *par, nor_theta *var,
                                     const nor_settings *set);
mc_model nor_variational_model(nor_variational *work);

/* theta of links and leak from par, within their bounds. */
void nor_to_theta(const nor_param *par, int m, const nor_settings *set, nor_theta *var);
/* par's links and leak from theta; call it after mc_fit(). */
void nor_from_theta(const nor_theta *var, int m, nor_param *par);

/* The activation (n x k), and each row's bound, at the parameters and q at hand. */
void nor_variational_rows(nor_variational *work, double *activation, double *bound);

/* What the posterior of given parameters says about rows; a NULL is not wanted. */
typedef struct {
  double *loglik;     /* n: log P(x), exact or over the listed states; -Inf: impossible */
  double *activation; /* n x k: P(source on | x); NaN for an impossible row, here and below */
  double *map;        /* n x k: the likeliest state; of equals, the first in binary order */
  double *response;   /* n x m: mean of P(x_j = 1 | z), with recording P(y_j = 1 | z), over it */
  double *cell;       /* n x m x (k + 1): at ones, P(link fired | x), the leak's last; else 0 */
  double *missed;     /* n x m: what P(y_j = 1 | x) is where x_j is 0; only with recording */
} nor_report;

/*
 * Fills a report from all 2^k states, or from the states listed for each row
 * (none: the best ones are searched for). Costs an E-step, and O(states in use)
 * a cell for response and cell. Returns false where the host asked to stop.
 */
bool nor_report_exact(const mc_data *data, nor_param *par, const nor_settings *set,
                      nor_report *report);
bool nor_report_truncated(const mc_data *data, nor_param *par, const nor_settings *set,
                          nor_lists lists, nor_report *report);

/*
 * log P(x) of rows by importance sampling: n_draw states from independent
 * sources, whose probabilities are within (0, 1). The draws of a row depend on
 * seed and its place alone. Given the sources, what is seen in a cell has at
 * least the probability floor. effective: n, the effective sample sizes.
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
