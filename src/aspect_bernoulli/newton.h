/*
 * aspect_bernoulli/newton.h: passes of Newton halves, for the parameters of aspect_bernoulli/em.h.
 *
 * Given the aspects each row is a problem of its own, on the simplex; given the memberships each
 * column is one, in the box. Both are sums of logs of linear functions, over observed cells:
 *   g = sum_ones a / p - sum_zeros a / (1 - p),
 *   H = sum_ones a a' / p^2 + sum_zeros a a' / (1 - p)^2,
 *   d = argmin { d'H d / 2 - g'd : s + d within the bounds },      s <- s + t d
 * (columns: s in the place of a). No line search is needed: the lengths of num/safe_step.h climb. Its
 * e are (change of p along d) / p at ones and / (1 - p) at zeros. As d is optimal, g'd >= lambda^2,
 * so bound(t) > 0 for t = 1 / (1 + lambda), and for t = 1 while lambda < .68 (Tran-Dinh, Kyrillidis
 * & Cevher 2015, JMLR 16, 371-416). A prior's pseudo-count w is a log known by itself and adds w /
 * s^2 to H; so do the pulls of neighbours (engine/smooth.h). t is 1 where bound(1) is at least a
 * quarter of its slope, else where bound(t) is largest: any ascent direction d within the bounds
 * climbs.
 *
 * The sparse form. In a column whose aspects are at most u, p <= u for every membership, so that a
 * zero's -log(1 - p) is below its tangent and (change of p)^2 / (2 (1 - u)^2). The sum of these
 * bounds over all cells of such light columns, W = sum a a' / (1 - u)^2, is the same for all rows:
 * only ones and missing cells are taken out of it one by one. With H of the others added it makes d,
 * and bound(t) loses t^2 d'W d / 2, with lambda that of the others. For the aspects the same with S'S
 * and a cap in the place of u, which they may grow to in one step. As the bounds hold whatever the
 * step, the objective never falls here either; gradients are exact, and so are the fixed points.
 *
 * As a model of mc_fit() the sparse form does not scan the zeros of columns with small aspects
 * (low_rank.h): a fixed function near the objective is climbed, which is the objective but for the
 * parabolas in the place of 1 / (1 - p), and never falls; then the objective itself to its end.
 *
 * Bounds are reached and left exactly, so that a component may come back to a row or column from 0.
 */
#ifndef MC_ASPECT_BERNOULLI_NEWTON_H
#define MC_ASPECT_BERNOULLI_NEWTON_H

#include "aspect_bernoulli/em.h"

typedef struct ab_newton ab_newton;

#define AB_NEWTON_MOST 1000 /* components: a Hessian has half a million entries */

/*
 * sparse: the sparse form. Scratch: the table by columns, O((n + m) k), and some MB a thread while k
 * is in the tens. k, that of the prior, is at most AB_NEWTON_MOST.
 */
ab_newton *ab_new_newton(const mc_data *data, const ab_prior *prior, bool sparse, int n_threads,
                         const mc_host *host);

/*
 * One pass of Newton halves: memberships, then aspects given the new memberships. Costs n m (8 k +
 * 2 k^2) flops in BLAS products, with few components in those of num/lanes.h, where ab_pass() costs
 * 8 n m k, half a division a cell, and O(k^3) a row and column; the sparse form 8 n m k where all
 * is light, and O(k^2) a one and missing cell. Allocates nothing. Never lowers the objective of
 * ab_pass(), but by rounding, and returns it for the parameters it was given: -Inf where an
 * observed cell is impossible, NaN where the host asked to stop. Holds what par says; rows and
 * columns with nothing observed keep their values.
 */
double ab_newton_pass(const mc_data *data, ab_param *par, ab_newton *work);

/* Sum of g'd over all problems of the last pass, nats: about twice what they had to gain. */
double ab_newton_decrement(const ab_newton *work);

/*
 * Of a table in pieces the aspects' half needs sums over rows alone, which add up over pieces
 * (aspect_bernoulli/shards.h). Components that are not pinned make pairs.
 */
typedef struct {
  double loglik, decrement; /* of the rows' half */
  double *gradient;         /* k x m */
  double *hessian;          /* pairs x m, the upper triangle by columns */
  double *light;            /* pairs x m, of it the bounds of light zeros; not of the dense form */
} ab_newton_sums;

/* Pairs of components that are not pinned. */
int ab_newton_pairs(const ab_param *par);

/* Zeros of the columns with a cap above 0 are not scanned, in all that follows; cap (m) NULL: all are. */
void ab_newton_set_caps(ab_newton *work, int m, const double *cap);

/* Aspects above their columns' caps are set to these. */
void ab_newton_hold(ab_param *par, int m, const double *cap);

/* The caps in force, or NULL. */
const double *ab_newton_caps(const ab_newton *work);

/*
 * The rows' half of ab_newton_pass() and then sums, which it overwrites; where value_only, the value
 * of what is maximised and nothing else. The log-prior of the aspects, and of the rows, is not in
 * it. false: the host asked to stop.
 */
bool ab_newton_rows(const mc_data *data, ab_param *par, ab_newton *work, bool value_only,
                    ab_newton_sums *sums);

/* These sums alone, for memberships that are held. */
bool ab_newton_column_sums(const mc_data *data, ab_param *par, ab_newton *work,
                           ab_newton_sums *sums);

/* The columns' half from such sums over all rows of a table; work is of one with no row. */
bool ab_newton_columns(ab_param *par, ab_newton *work, const ab_newton_sums *sums);

/* What the host is shown. */
void ab_newton_note(ab_newton *work, double objective);

/*
 * The same as a model for mc_fit(), which ends where the decrement is less than tol times the
 * objective. Extrapolation pays here too: what is slow then is that the halves take turns, and that
 * is linear.
 */
typedef struct {
  ab_self ab;
  ab_newton *newton;
} ab_newton_self;

mc_model ab_newton_model(ab_newton_self *self);

/* The start is near an end: what zeros need not be scanned are not from the first pass on. */
void ab_newton_near_end(ab_newton_self *self);

#endif
