/*
 * bmf/recode.c: other features with the same linear predictor. If one of the patterns 10, 01, 11 of
 * two features a and b has no item, a can be replaced by another group of the items of both:
 *   BMF_SHIFT       without a common item a becomes a + b, and w_b becomes w_b - w_a; and back;
 *   BMF_COMPLEMENT  a within b becomes b - a, w_b becomes w_b + w_a, and w_a becomes -w_a.
 * Each is its own inverse for a given pair, has Jacobian 1 in the weights and leaves the likelihood
 * unchanged, so only the priors decide. Flips would have to visit states that fit the data less
 * well.
 */
#include "bmf/bmf.h"

#include "num/rng.h"

#include <math.h>

#define RECODE_TRIES 20 /* attempts per feature and sweep; they need no cell of the data */

/* Returns whether an item has these entries of a and b. */
static bool is_seen(const bmf_side *own, int a, int on_a, int b, int on_b) {
  for (int i = 0; i < own->n; i++) {
    const unsigned char *u = bmf_item(own, i);
    if (u[a] == on_a && u[b] == on_b) return true;
  }
  return false;
}

bool bmf_find_recoding(const bmf_state *state, int s, int a, int b, int kind, bmf_recoding *to) {
  const bmf_side *own = &state->side[s];
  const int n_a = own->count[a], n_b = own->count[b];
  *to = (bmf_recoding){.a = a, .b = b, .sign_a = 1, .add_b = 1};
  /* If b is empty, both directions of a shift are possible, and the reverse move is ambiguous. */
  if (n_b == 0) return false;
  if (kind == BMF_COMPLEMENT) {
    /* Poisson weights must be positive. */
    if (state->family == BMF_POISSON || n_a > n_b || is_seen(own, a, 1, b, 0)) return false;
    to->sign_a = -1;
    to->count = n_b - n_a;
  } else if (!is_seen(own, a, 1, b, 1)) {
    to->add_b = -1;
    to->count = n_a + n_b;
  } else {
    if (is_seen(own, a, 0, b, 1)) return false;
    to->count = n_a - n_b;
  }
  return to->count > 0 || !own->infinite;
}

/* Log prior of the two rows of weights, up to constants, after the change to sign_a w_a and w_b +
 * add_b w_a. */
static double log_weights(const bmf_state *state, int s, int a, int b, double sign_a,
                          double add_b) {
  const double *w_a = bmf_weight(state, s, a), *w_b = bmf_weight(state, s, b);
  const double precision = state->hyper[BMF_WEIGHT_PRECISION].value;
  const double mean = state->hyper[BMF_WEIGHT_MEAN].value;
  const double shape = state->hyper[BMF_WEIGHT_SHAPE].value;
  double sum = 0;
  for (int l = 0; l < state->side[1 - s].k; l++) {
    const double new_a = sign_a * w_a[l], new_b = w_b[l] + add_b * w_a[l];
    if (state->family != BMF_POISSON) {
      sum -= 0.5 * precision * ((new_a - mean) * (new_a - mean) + (new_b - mean) * (new_b - mean));
    } else if (new_b > 0) {
      sum += (shape - 1) * (log(new_a) + log(new_b)) - precision * (new_a + new_b);
    } else {
      return -INFINITY;
    }
  }
  return sum;
}

double bmf_recoding_log_ratio(const bmf_state *state, int s, const bmf_recoding *to) {
  return bmf_log_feature(state, s, to->count) -
         bmf_log_feature(state, s, state->side[s].count[to->a]) +
         log_weights(state, s, to->a, to->b, to->sign_a, to->add_b) -
         log_weights(state, s, to->a, to->b, 1, 0);
}

void bmf_recode_as(bmf_state *state, int s, const bmf_recoding *to) {
  bmf_side *own = &state->side[s];
  double *w_a = bmf_weight(state, s, to->a), *w_b = bmf_weight(state, s, to->b);
  for (int l = 0; l < state->side[1 - s].k; l++) {
    w_b[l] += to->add_b * w_a[l];
    w_a[l] *= to->sign_a;
  }
  for (int i = 0; i < own->n; i++) {
    unsigned char *u = bmf_item(own, i);
    u[to->a] = u[to->a] != u[to->b];
  }
  own->count[to->a] = to->count;
}

static void one_try(bmf_state *state, int s) {
  const bmf_side *own = &state->side[s];
  bmf_recoding to;
  const int a = own->n_fixed + num_below(bmf_n_free(own)), kind = num_below(2);
  int b = num_below(own->k - 1);
  b += b >= a;
  if (!bmf_find_recoding(state, s, a, b, kind, &to)) return;
  if (num_unif() < exp(bmf_recoding_log_ratio(state, s, &to))) bmf_recode_as(state, s, &to);
}

void bmf_recode(bmf_state *state, int s) {
  const bmf_side *own = &state->side[s];
  if (bmf_n_free(own) == 0 || own->k < 2) return;
  for (int t = 0; t < RECODE_TRIES * bmf_n_free(own); t++) one_try(state, s);
  bmf_transpose(state, s);
}
