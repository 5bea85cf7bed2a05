/*
 * num_linalg.h: small symmetric systems, through LAPACK. Matrices are n x n,
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

/*
 * A draw from N(Q^-1 h, Q^-1). q holds the lower triangle of Q and is left as
 * its Cholesky factor; h is left as L^-1 h, whose square length is h' Q^-1 h.
 */
bool num_draw_gaussian(double *q, double *h, int n, double *draw);

/* Doubles of scratch that num_eigen() needs for matrices up to n x n. */
size_t num_eigen_work(int n);

/* Eigenvalues, ascending, into value (n), eigenvectors in place of a; false on failure. */
bool num_eigen(double *a, int n, double *value, double *work);

#endif
