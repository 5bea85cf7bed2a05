/*
 * num/neighbours.h: neighbours in time, on the sphere or in the plane, by further variables, or by
 * a table of distances. The weight is exp(-d); d is the sum of the covariates' distances divided by
 * their bandwidths. For age ranges the weight is averaged over the ranges.
 */
#ifndef MC_NUM_NEIGHBOURS_H
#define MC_NUM_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int n;
  const double *low, *high; /* n: bounds of the age, NaN if unknown; NULL: no ages */
  const double *place;      /* 3 x n: unit vectors, NaN if unknown; NULL: no places */
  const double *plane;      /* 2 x n: places in the plane instead, likewise */
  const double *variables;  /* n_variables x n: further variables, likewise */
  const double *spread;     /* n: contribution of a range's width to its distance; only in a
                               sweep */
  int n_variables;
} num_sites;

typedef struct {
  double age, place, distance; /* bandwidths, > 0; place in km, or in units of the plane */
  double variables;            /* bandwidth of the Euclidean distance of the variables */
  double reach;                /* largest excess of d over that of the nearest neighbour */
  int most;                    /* neighbours per row; more only if they tie with the last */
} num_nearness;

/* -log of the mean of exp(-|s - t| / bandwidth) over s in [a, b], t in [c, d]; exact. */
double num_range_distance(double a, double b, double c, double d, double bandwidth);

typedef struct {
  double key;
  int site;
} num_key;

/*
 * Sites sorted along one coordinate. A distance is at least the difference along it over its
 * bandwidth (for ages, minus half of both ranges), so the search for a site's neighbours proceeds
 * outwards and ends when this bound exceeds the limit. With n sites spread over a square and few
 * neighbours each it visits of the order of sqrt(n) of them.
 */
typedef struct {
  int n;           /* all sites */
  num_sites sites; /* those that have the coordinate, copied in its order */
  const num_key *key;
  int part, axis; /* the covariate that the coordinate belongs to, and the axis */
  double widest;  /* half the widest age range; 0 for other coordinates */
} num_sweep;

/* Number of doubles in a copy of the sites. */
ptrdiff_t num_sites_doubles(const num_sites *sites);

/*
 * Chooses the coordinate with the largest extent in bandwidths (for ages, in the widest range plus
 * a bandwidth). key has sites->n entries, copy num_sites_doubles(sites).
 */
num_sweep num_sweep_of(const num_sites *sites, const num_nearness *near, num_key *key,
                       double *copy);

typedef struct {
  int *index;
  double *weight, *scratch;
} num_near_list;

/*
 * Finds the neighbours of site i of `from` among the sites of `to` (except site `own`; -1: none
 * excluded) within reach: their numbers, ascending, and weights, which sum to 1. distance:
 * additional distances of i from all sites, or NULL. Returns their number; 0 if a covariate of i is
 * unknown. index, weight and scratch of list have an entry for each site. The cost is proportional
 * to the number of sites within reach along the coordinate of `to`.
 */
int num_neighbours(const num_sites *from, int i, const num_sweep *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list);

#endif
