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
  int *index;
  double *weight, *scratch;
} num_near_list;

/*
 * Neighbours of site i of `from` among the sites of `to` (never site `own` of
 * it; -1: all may be), nearest within reach: their numbers, ascending, and
 * weights, which sum to 1; distance: `to->n` further distances of i, or NULL.
 * Returns how many; 0 where a covariate of i is unknown. index, weight and
 * scratch of list have to->n places. Costs O(to->n).
 */
int num_neighbours(const num_sites *from, int i, const num_sites *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list);

#endif
