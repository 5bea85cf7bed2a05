#include "num/neighbours.h"
#include "glue/glue.h"
#include "num/threads.h"

#include <limits.h>
#include <string.h>

/* Reads list(n, age = n x 2, place = 3 x n, plane = 2 x n, variables = any x n); each may be NULL. */
static num_sites sites_of(SEXP sites) {
  num_sites out = {.n = Rf_asInteger(glue_field(sites, "n"))};
  const SEXP age = glue_field(sites, "age"), place = glue_field(sites, "place");
  const SEXP plane = glue_field(sites, "plane"), variables = glue_field(sites, "variables");
  glue_check(out.n >= 0, "n");
  if (!Rf_isNull(age)) {
    glue_matrix(age, out.n, 2, "age");
    out.low = REAL(age);
    out.high = REAL(age) + out.n;
  }
  if (!Rf_isNull(place)) {
    glue_matrix(place, 3, out.n, "place");
    out.place = REAL(place);
  }
  if (!Rf_isNull(plane)) {
    glue_matrix(plane, 2, out.n, "plane");
    out.plane = REAL(plane);
  }
  if (!Rf_isNull(variables)) {
    out.n_variables = Rf_nrows(variables);
    glue_matrix(variables, out.n_variables, out.n, "variables");
    out.variables = REAL(variables);
  }
  return out;
}

static void check_same_kinds(const num_sites *from, const num_sites *to) {
  glue_check(!from->low == !to->low, "age");
  glue_check(!from->place == !to->place && !from->plane == !to->plane, "place");
  glue_check(!from->variables == !to->variables && from->n_variables == to->n_variables,
             "variables");
}

static num_nearness nearness_of(SEXP scale, SEXP limits) {
  glue_matrix(scale, 4, 1, "scale");
  glue_matrix(limits, 3, 1, "limits");
  const double *by = REAL(scale), most = REAL(limits)[1];
  for (int s = 0; s < 4; s++) glue_check(by[s] > 0, "scale");
  glue_check(REAL(limits)[2] >= 1 && REAL(limits)[2] <= INT_MAX, "n_threads");
  glue_check(REAL(limits)[0] >= 0 && most >= 1 && most <= INT_MAX, "limits");
  const num_nearness near = {.age = by[0],
                             .place = by[1],
                             .distance = by[2],
                             .variables = by[3],
                             .reach = REAL(limits)[0],
                             .most = (int) most};
  return near;
}

/* Growing lists in R's memory, so that an interrupt leaks nothing. */
typedef struct {
  R_xlen_t size, used;
  int *index;
  double *weight;
} edges;

/* Reserves space for `more` entries, or for 1.1 times the `expected` total if that is larger. */
static void reserve(edges *e, R_xlen_t more, double expected) {
  const R_xlen_t needed = e->used + more;
  if (needed <= e->size) return;
  const double size_then = 1.1 * expected;
  const R_xlen_t size = size_then > (double) needed ? (R_xlen_t) size_then : needed;
  int *index = (int *) R_alloc((size_t) size, sizeof *index);
  double *weight = (double *) R_alloc((size_t) size, sizeof *weight);
  if (e->index && e->weight) {
    memcpy(index, e->index, (size_t) e->used * sizeof *index);
    memcpy(weight, e->weight, (size_t) e->used * sizeof *weight);
  }
  *e = (edges){size, e->used, index, weight};
}

#define CHUNK_PLACES 131072 /* limit of neighbours stored before they are moved to the lists */

/* A chunk of rows, each with all.n places, so that any thread may fill them. */
typedef struct {
  const num_sites *rows, *all;
  const num_tree *tree;
  const num_nearness *near;
  const int *own;         /* or NULL */
  const double *distance; /* all.n x rows.n, or NULL */
  int first;              /* first row of the chunk */
  int *found;             /* number of neighbours of each row of the chunk */
  int *index;             /* all.n x rows of a chunk */
  double *weight;         /* likewise */
  double *scratch;        /* all.n x threads */
} search;

static search new_search(const num_sites *all, int chunk, int n_threads) {
  const size_t n = (size_t) all->n + 1;
  const search out = {.all = all,
                      .found = (int *) R_alloc((size_t) chunk, sizeof(int)),
                      .index = (int *) R_alloc(n * (size_t) chunk, sizeof(int)),
                      .weight = (double *) R_alloc(n * (size_t) chunk, sizeof(double)),
                      .scratch = (double *) R_alloc(n * (size_t) n_threads, sizeof(double))};
  return out;
}

static void search_block(void *ctx, int strip, int thread, int first, int b) {
  const search *s = ctx;
  const ptrdiff_t n = s->all->n;
  (void) strip;
  for (int r = first; r < first + b; r++) {
    const int i = s->first + r;
    const num_near_list list = {s->index + r * n, s->weight + r * n, s->scratch + thread * n};
    const double *distance = s->distance ? s->distance + i * n : NULL;
    s->found[r] =
        num_neighbours(s->rows, i, s->tree, s->own ? s->own[i] : -1, distance, s->near, list);
  }
}

/* Moves the neighbours of a chunk's rows to the lists. */
static void gather(const search *s, int b, edges *e, int *start) {
  R_xlen_t more = 0;
  for (int r = 0; r < b; r++) more += s->found[r];
  const double rows_share = (double) (s->first + b) / s->rows->n;
  reserve(e, more, (double) (e->used + more) / rows_share);
  for (int r = 0; r < b; r++) {
    const ptrdiff_t from = (ptrdiff_t) r * s->all->n;
    if (s->found[r] > 0) { /* otherwise the lists may not be allocated yet */
      memcpy(e->index + e->used, s->index + from, (size_t) s->found[r] * sizeof *e->index);
      memcpy(e->weight + e->used, s->weight + from, (size_t) s->found[r] * sizeof *e->weight);
      e->used += s->found[r];
    }
    glue_check(e->used <= INT_MAX, "number of neighbours");
    start[s->first + r + 1] = (int) e->used;
  }
}

/*
 * from, to: as in sites_of(), from also with `distance` = to x from (or NULL); scale: bandwidths of
 * age, place, distance and variables; own: the index in `to` of each site of `from`, from 0, or
 * NULL: none; limits: reach, most and threads. Returns list(start, neighbour, weight), from 0.
 */
SEXP mc_c_neighbours(SEXP from, SEXP to, SEXP scale, SEXP own, SEXP limits) {
  const char *fields[] = {"start", "neighbour", "weight", ""};
  const num_sites rows = sites_of(from), all = sites_of(to);
  const num_nearness near = nearness_of(scale, limits);
  const SEXP distance = glue_field(from, "distance");
  check_same_kinds(&rows, &all);
  if (!Rf_isNull(distance)) glue_matrix(distance, all.n, rows.n, "distance");
  const bool among = !Rf_isNull(own);
  glue_check(!among || (TYPEOF(own) == INTSXP && XLENGTH(own) == rows.n), "own");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t) rows.n + 1));
  int *start = INTEGER(VECTOR_ELT(out, 0));
  num_key *key = (num_key *) R_alloc((size_t) all.n + 1, sizeof *key);
  num_node *node = (num_node *) R_alloc((size_t) num_tree_nodes(&all), sizeof *node);
  double *copy = (double *) R_alloc((size_t) num_tree_doubles(&all) + 1, sizeof *copy);
  const num_tree tree = num_tree_of(&all, &near, key, node, copy);
  const int places = CHUNK_PLACES / (all.n + 1), least = places < 16 ? 16 : places;
  const int chunk = least < rows.n ? least : rows.n;
  const int n_threads = num_threads((int) REAL(limits)[2]);
  search s = new_search(&all, chunk, n_threads);
  s.rows = &rows;
  s.tree = &tree;
  s.near = &near;
  s.own = among ? INTEGER(own) : NULL;
  s.distance = Rf_isNull(distance) ? NULL : REAL(distance);
  glue_context context;
  const mc_host host = glue_host(&context, R_NilValue);
  edges e = {0};
  start[0] = 0;
  for (bool go_on = true; go_on && s.first < rows.n; s.first += chunk) {
    const int b = rows.n - s.first < chunk ? rows.n - s.first : chunk;
    const num_strips strips = num_new_strips(b, 4, n_threads);
    go_on = mc_scan(&host, 0, 0, &strips, search_block, &s);
    if (go_on) gather(&s, b, &e, start);
  }
  glue_end_stopped(&host);
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, e.used));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, e.used));
  if (e.index && e.weight && e.used) {
    memcpy(INTEGER(VECTOR_ELT(out, 1)), e.index, (size_t) e.used * sizeof *e.index);
    memcpy(REAL(VECTOR_ELT(out, 2)), e.weight, (size_t) e.used * sizeof *e.weight);
  }
  UNPROTECT(1);
  return out;
}
