/*
 * num/neighbours.h: who is near whom, in time, on the sphere or in the plane, by
 * further variables, or by a table of distances. Weights are exp(-d), d the sum of each covariate's distance over
 * its bandwidth; of an age range the weight is averaged over the range.
 */
#ifndef MC_NUM_NEIGHBOURS_H
#define MC_NUM_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int n;
  const double *low, *high; /* n: bounds of the age, NaN where unknown; NULL: no ages */
  const double *place;      /* 3 x n: unit vectors, NaN where unknown; NULL: no places */
  const double *plane;      /* 2 x n: places in the plane instead, likewise */
  const double *variables;  /* n_variables x n: further variables, likewise */
  const double *spread;     /* n: what the width of a range adds to its distance; a sweep's alone */
  int n_variables;
} num_sites;

typedef struct {
  double age, place, distance; /* bandwidths, > 0; place in km, or in units of the plane */
  double variables;            /* that of the Euclidean distance of the variables */
  double reach;                /* d beyond that of the nearest where a row's neighbours end */
  int most;                    /* neighbours a row; more only where they tie with the last */
} num_nearness;

/* -log of the mean of exp(-|s - t| / bandwidth) over s in [a, b], t in [c, d]; exact. */
double num_range_distance(double a, double b, double c, double d, double bandwidth);

typedef struct {
  double key;
  int site;
} num_key;

/*
 * Sites in the order of one coordinate. A distance is at least the difference along it over its bandwidth (of ages,
 * less half of both ranges), so that the search for a site's neighbours goes outwards from it and ends where the
 * coordinate alone is too far. With n sites spread over a square and few neighbours each it sees of the order of
 * sqrt(n) of them.
 */
typedef struct {
  int n;           /* all sites */
  num_sites sites; /* copies in this order of those that have the coordinate */
  const num_key *key;
  int part, axis; /* what the coordinate is of, and which of its axes */
  double widest;  /* of ages: half the widest range */
} num_sweep;

/* How many doubles a copy of the sites takes. */
ptrdiff_t num_sites_doubles(const num_sites *sites);

/*
 * Chooses the coordinate along which sites lie farthest apart, in bandwidths, of ages in
 * the widest range and a bandwidth. key has sites->n places, copy
 * num_sites_doubles(sites).
 */
num_sweep num_sweep_of(const num_sites *sites, const num_nearness *near, num_key *key,
                       double *copy);

typedef struct {
  int *index;
  double *weight, *scratch;
} num_near_list;

/*
 * Neighbours of site i of `from` among the sites of `to` (never site `own` of
 * it; -1: all may be), nearest within reach: their numbers, ascending, and
 * weights, which sum to 1; distance: further distances of i from all sites, or NULL.
 * Returns how many; 0 where a covariate of i is unknown. index, weight and
 * scratch of list have a place for each site. Costs the sites within reach along to's coordinate.
 */
int num_neighbours(const num_sites *from, int i, const num_sweep *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list);

#endif
