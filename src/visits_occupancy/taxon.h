/*
 * visits_occupancy/taxon.h: likelihood of the coefficients of one taxon, R/visits_occupancy.R. With
 * theta = (b, d), sites of kind s with covariates x[s] and w[s,v], and an effect u ~ N(0, uneven^2)
 * of site and taxon, integrated over quadrature nodes (MacKenzie and others 2002,
 * doi:10.1890/0012-9658(2002)083[2248:ESORWD]2.0.CO;2),
 *   (1)  psi = logit^-1(x'b),  p[v] = logit^-1(w[v]'d + u),
 *   (2)  q = sum over nodes of weight prod_v p[v]^y[v] (1 - p[v])^(1 - y[v]),
 *   (3)  L = psi q if a visit detected the taxon, else psi q + 1 - psi.
 * A row represents sites of one kind with the same detection history.
 */
#ifndef MC_VISITS_OCCUPANCY_TAXON_H
#define MC_VISITS_OCCUPANCY_TAXON_H

#include <stddef.h>

typedef struct {
  int m, n_row, n_kind;        /* taxa, rows, kinds of sites */
  int n_visit, n_node;         /* visits, values of u */
  int n_presence, n_detection; /* coefficients b and d */
  const int *first;            /* m + 1: the rows of taxon j are first[j] .. first[j + 1] - 1 */
  const int *kind;             /* n_row: from 0 */
  const int *found;            /* n_visit x n_row: 1, 0, or negative without a visit */
  const double *count;         /* n_row: sites */
  const double *presence;      /* n_presence x n_kind: x */
  const double *detection;     /* n_detection x n_visit x n_kind: w */
  const double *node;          /* n_node: exp(u) */
  const double *weight;        /* n_node */
} occ_data;

/* Number of coefficients of a taxon. */
static inline int occ_size(const occ_data *data) { return data->n_presence + data->n_detection; }

/* Doubles of scratch that the functions below need. */
size_t occ_scratch(const occ_data *data);

/* Log-likelihood of taxon j, eq. (3). */
double occ_loglik(const occ_data *data, int j, const double *theta, double *scratch);

/*
 * Log-likelihood, its gradient (size) and minus its second derivatives (size x size, both
 * triangles). Costs O(rows n_visit (n_node n_detection + n_detection^2)).
 */
double occ_inform(const occ_data *data, int j, const double *theta, double *gradient,
                  double *information, double *scratch);

/* Log-likelihood of a site, and P(present | visits), for each row of taxon j. */
void occ_pointwise(const occ_data *data, int j, const double *theta, double *loglik,
                   double *present, double *scratch);

#endif
