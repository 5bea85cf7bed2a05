/*
 * aspect_bernoulli/newton.h: iterations of alternating Newton steps, for the parameters of
 * aspect_bernoulli/em.h.
 *
 * With fixed aspects each row is a separate problem on the simplex; with fixed memberships each
 * column is one in the box. Both are sums of logs of linear functions, over observed cells:
 *   g = sum_ones a / p - sum_zeros a / (1 - p),
 *   H = sum_ones a a' / p^2 + sum_zeros a a' / (1 - p)^2,
 *   d = argmin { d'H d / 2 - g'd : s + d within the bounds },      s <- s + t d
 * (columns: s instead of a). No line search is needed: the lengths of num/safe_step.h increase the
 * objective. Its e are (change of p along d) / p at ones and / (1 - p) at zeros. As d is optimal,
 * g'd >= lambda^2, so bound(t) > 0 for t = 1 / (1 + lambda), and for t = 1 while lambda < .68
 * (Tran-Dinh, Kyrillidis & Cevher 2015, JMLR 16, 371-416). A prior's pseudo-count w is an
 * individual log and adds w / s^2 to H; likewise the pulls of neighbours (engine/smooth.h). t is 1
 * where bound(1) is at least a quarter of its slope, else the maximiser of bound(t): any ascent
 * direction d within the bounds increases the objective.
 *
 * The sparse form. In a column whose aspects are at most u, p <= u for every membership, so that a
 * zero's -log(1 - p) is below its tangent and (change of p)^2 / (2 (1 - u)^2). The sum of these
 * bounds over all cells of such light columns, W = sum a a' / (1 - u)^2, is the same for all rows:
 * only ones and missing cells are subtracted individually. W plus H of the other columns determines
 * d, and bound(t) loses t^2 d'W d / 2, with lambda of the other columns. For the aspects the same
 * holds with S'S and a cap instead of u, the limit of their growth in one step. Because the bounds
 * hold for any step, the objective never decreases here either; gradients are exact, and so are the
 * fixed points.
 *
 * As a model of mc_fit() the sparse form does not scan the zeros of columns with small aspects
 * (low_rank.h). It first maximises a surrogate, the objective with parabolas instead of 1 / (1 -
 * p), which never decreases; then the objective itself until convergence.
 *
 * Bounds are reached and left exactly, so a component at 0 may become positive again.
 */
#ifndef MC_ASPECT_BERNOULLI_NEWTON_H
#define MC_ASPECT_BERNOULLI_NEWTON_H

#include "aspect_bernoulli/em.h"

typedef struct ab_newton ab_newton;

#define AB_NEWTON_MOST 1000 /* components: a Hessian has half a million entries */

/*
 * sparse: the sparse form. Scratch: the table by columns, O((n + m) k), and some MB per thread if k
 * is in the tens. k, that of the prior, is at most AB_NEWTON_MOST.
 */
ab_newton *ab_new_newton(const mc_data *data, const ab_prior *prior, bool sparse, int n_threads,
                         const mc_host *host);

/*
 * One iteration: memberships, then aspects given the new memberships. Costs n m (8 k + 2 k^2) flops
 * in BLAS products (with few components in those of num/lanes.h; ab_pass() costs 8 n m k), half a
 * division per cell, and O(k^3) per row and column; the sparse form 8 n m k if all columns are
 * light, and O(k^2) per one and missing cell. Allocates nothing. Never decreases the objective of
 * ab_pass(), except by rounding, and returns its value at the supplied parameters: -Inf if an
 * observed cell is impossible, NaN if the host requested a stop. Respects the fixed parts of par;
 * rows and columns without observed cells are unchanged.
 */
double ab_newton_pass(const mc_data *data, ab_param *par, ab_newton *work);

/* Sum of g'd over all problems of the last iteration, nats: about twice the expected gain. */
double ab_newton_decrement(const ab_newton *work);

/*
 * For a table in pieces the aspects' half needs only sums over rows, which add up over pieces
 * (aspect_bernoulli/shards.h). Pairs are those of components that are not fixed.
 */
typedef struct {
  double loglik, decrement; /* of the rows' half */
  double *gradient;         /* k x m */
  double *hessian;          /* pairs x m, the upper triangle by columns */
  double *light;            /* pairs x m, of it the bounds of light zeros; not of the dense form */
} ab_newton_sums;

/* Number of pairs of components that are not fixed. */
int ab_newton_pairs(const ab_param *par);

/* Excludes zeros of columns with a cap above 0 from all further scans; cap (m) NULL: scans all. */
void ab_newton_set_caps(ab_newton *work, int m, const double *cap);

/* Reduces aspects above their columns' caps to the caps. */
void ab_newton_hold(ab_param *par, int m, const double *cap);

/* The caps in force, or NULL. */
const double *ab_newton_caps(const ab_newton *work);

/*
 * The rows' half of ab_newton_pass(), then the sums, which it overwrites; if value_only, only the
 * value of the maximised function. It excludes the log-priors of aspects and rows. Returns false if
 * the host requested a stop.
 */
bool ab_newton_rows(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                    ab_newton_sums *sums);

/* Computes these sums for fixed memberships. */
bool ab_newton_column_sums(const mc_data *data, ab_param *par, ab_newton *work,
                           ab_newton_sums *sums);

/* The columns' half from such sums over all rows of a table; work is that of a table without rows. */
bool ab_newton_columns(ab_param *par, ab_newton *work, const ab_newton_sums *sums);

/* Sets the numbers reported to the host. */
void ab_newton_note(ab_newton *work, double objective);

/*
 * The model for mc_fit(), which converges when the decrement is less than tol times the objective.
 * Extrapolation helps here too, because the alternation of the halves converges linearly.
 */
typedef struct {
  ab_self ab;
  ab_newton *newton;
} ab_newton_self;

mc_model ab_newton_model(ab_newton_self *self);

/* Declares the starting values near convergence: zeros need not be scanned from the first iteration on. */
void ab_newton_near_end(ab_newton_self *self);

#endif
