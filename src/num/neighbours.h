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
                               tree */
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

/* Sites from, ..., to - 1 of a tree; its two halves are nodes child and child + 1; 0: no halves. */
typedef struct {
  int from, to, child;
} num_node;

/*
 * Sites sorted into a k-d tree: each node is cut in the middle of the coordinate with the largest
 * extent in bandwidths (of ages: in bandwidths plus the widest range), down to some tens of sites.
 * A distance from the sites of a node is at least that from its box, so the search for neighbours
 * leaves out the nodes whose boxes are beyond its limit.
 */
typedef struct {
  int n, n_axes;        /* all sites; coordinates */
  num_sites sites;      /* those with all covariates known, copied in the tree's order */
  const num_key *key;   /* key[e].site: the number of the e-th of them */
  const num_node *node; /* the first has them all */
  const double *box;    /* 2 x n_axes x nodes: least and largest of each coordinate; of ages, the
                           least bound and the largest */
} num_tree;

/* Number of doubles, of copies of the sites and of boxes, and of nodes that num_tree_of() fills. */
ptrdiff_t num_tree_doubles(const num_sites *sites);
int num_tree_nodes(const num_sites *sites);

/* key has sites->n entries, node num_tree_nodes(sites), copy num_tree_doubles(sites). */
num_tree num_tree_of(const num_sites *sites, const num_nearness *near, num_key *key, num_node *node,
                     double *copy);

typedef struct {
  int *index;
  double *weight, *scratch;
} num_near_list;

/*
 * Finds the neighbours of site i of `from` among the sites of `to` (except site `own`; -1: none
 * excluded) within reach: their numbers, ascending, and weights, which sum to 1. distance:
 * additional distances of i from all sites, or NULL. Returns their number; 0 if a covariate of i is
 * unknown. index, weight and scratch of list have an entry for each site. The cost is that of the
 * sites in boxes that are within reach: with few coordinates some times the number of neighbours,
 * and log n.
 */
int num_neighbours(const num_sites *from, int i, const num_tree *to, int own,
                   const double *distance, const num_nearness *near, num_near_list list);

#endif
