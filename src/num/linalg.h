/*
 * num/linalg.h: small symmetric systems, through LAPACK. Matrices are n x n,
 * column-major, without gaps; n = 0 is legal everywhere.
 */
#ifndef MC_NUM_LINALG_H
#define MC_NUM_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* Lower Cholesky factor of a, in place (only the lower triangle is read); false where a is not definite. */
bool num_chol(double *a, int n);

/* log |A| of a matrix given by its Cholesky factor. */
double num_chol_log_det(const double *chol, int n);

/* x = L^-1 x; x = L^-T x. */
void num_chol_forward(const double *chol, int n, double *x);
void num_chol_backward(const double *chol, int n, double *x);

/* Entries of an upper triangle of order k, packed by columns: c <= d at d (d + 1) / 2 + c. */
static inline int num_pairs(int k) { return k * (k + 1) / 2; }

/* Packed x x' of each of n vectors: vectors is k x n, out num_pairs(k) x n. */
void num_pair_products(int k, ptrdiff_t n, const double *vectors, double *out);

/*
 * Solves A x = b in place for a symmetric positive definite A of order k, its upper triangle packed,
 * which is overwritten. An unknown that A does not
 * determine, its pivot lost to rounding, becomes 0. Returns false where A holds a NaN.
 */
bool num_solve_packed(double *a, double *b, int k);

/* Eigenvalues (n, ascending) that are but rounding errors become 0: in such a direction the data
 * say nothing, and a precise 0 there lets their projections be left out, which a prior precision
 * below the rounding error would blow up. */
void num_clear_rounding(double *value, int n);

/* Doubles of scratch that num_eigen() needs for matrices up to n x n. */
size_t num_eigen_work(int n);

/* Eigenvalues, ascending, into value (n), eigenvectors in place of a; false on failure. */
bool num_eigen(double *a, int n, double *value, double *work);

#endif
