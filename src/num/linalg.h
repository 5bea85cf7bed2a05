/*
 * num/linalg.h: small symmetric systems, through LAPACK. Matrices are n x n, column-major and
 * contiguous; n = 0 is legal everywhere.
 */
#ifndef MC_NUM_LINALG_H
#define MC_NUM_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* Computes the lower Cholesky factor of a in place (reading only the lower triangle); returns false
 * if a is not positive definite. */
bool num_chol(double *a, int n);

/* log |A| from the Cholesky factor of A. */
double num_chol_log_det(const double *chol, int n);

/* x = L^-1 x; x = L^-T x. */
void num_chol_forward(const double *chol, int n, double *x);
void num_chol_backward(const double *chol, int n, double *x);

/* Number of entries of an upper triangle of order k, packed by columns: c <= d at d (d + 1) / 2 + c. */
static inline int num_pairs(int k) { return k * (k + 1) / 2; }

/* Packed x x' of each of n vectors: vectors is k x n, out num_pairs(k) x n. */
void num_pair_products(int k, ptrdiff_t n, const double *vectors, double *out);

/*
 * Solves A x = b in place for a symmetric positive definite A of order k; its packed upper triangle
 * is overwritten. An unknown that A does not determine (its pivot is lost to rounding) becomes 0.
 * Returns false if A holds a NaN.
 */
bool num_solve_packed(double *a, double *b, int k);

/*
 * Sets eigenvalues (n, ascending) that are only rounding errors to 0. The data do not inform such a
 * direction; an exact 0 allows its projection to be omitted, which a prior precision below the
 * rounding error would inflate.
 */
void num_clear_rounding(double *value, int n);

/* Doubles of scratch that num_eigen() needs for matrices up to n x n. */
size_t num_eigen_work(int n);

/* Eigenvalues, ascending, into value (n); eigenvectors replace a. Returns false on failure. */
bool num_eigen(double *a, int n, double *value, double *work);

#endif
