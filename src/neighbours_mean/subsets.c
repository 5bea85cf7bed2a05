#include "neighbours_mean/subsets.h"

#include <string.h>

#include "num/vector.h"

#define MOST_COLUMNS 128 /* tables of 130 MB */
#define POWERS 4

struct nbm_subsets {
  int m;
  const ptrdiff_t *two, *three, *four; /* j over 2, 3 and 4 */
  double *single;                      /* 4 a column */
  double *pair;                        /* 3 a pair: k = 2 .. 4 */
  double *triple;                      /* 2: k = 3, 4 */
  double *quadruple;                   /* k = 4 */
  double *first, *second;              /* m x m: sums of u and of u^2 over the rows with both */
  double *with_pair;                   /* m x pairs: of u^2 over those with all three */
};

static ptrdiff_t over(ptrdiff_t n, int q) {
  ptrdiff_t out = 1;
  for (int i = 0; i < q; i++) out = out * (n - i) / (i + 1);
  return n < q ? 0 : out;
}

static ptrdiff_t *choose(int m, int q, const mc_host *host) {
  ptrdiff_t *out = host->alloc(host->ctx, (size_t) m + 1, sizeof *out);
  for (int j = 0; j <= m; j++) out[j] = over(j, q);
  return out;
}

/* About how long a list takes, in visits of a number. */
static double list_cost(int m, double length) {
  const double pairs = length * (length - 1) / 2;
  return length * m / 2 + pairs * (m / 4.0 + 4) + pairs * (length - 2) + pairs * pairs / 3;
}

static double cost_of_subsets(const mc_data *data, int m) {
  double sum = 0;
  for (int i = 0; i < data->n; i++) sum += list_cost(m, data->start[i + 1] - data->start[i]);
  return sum;
}

/* Counts, over all pairs of rows that share a column, the columns on the list of the other. */
static double cost_of_pairs(const mc_data *data, const mc_data *rows, const mc_host *host) {
  const double mean = (double) data->start[data->n] / (data->n + 1.0);
  double *column = mc_doubles(host, data->m, 1), sum = 0;
  for (int e = 0; e < data->start[data->n]; e++) column[data->column[e]]++;
  for (int i = 0; i < rows->n; i++) {
    double visits = 0;
    for (int e = rows->start[i]; e < rows->start[i + 1]; e++) visits += column[rows->column[e]];
    sum += visits + (visits < data->n ? visits : data->n) * (3 * mean + 10);
  }
  return sum;
}

static bool pays(const nbm_table *table, const nbm_rows *rows, const mc_host *host) {
  const mc_data *data = table->data;
  const int m = data->m;
  if (rows->start || table->similarity != 2 || data->na_start || m > MOST_COLUMNS) return false;
  const double tables = (double) over(m, 4) + 2.0 * (double) over(m, 3) + m * (double) over(m, 2);
  return tables + cost_of_subsets(data, m) + cost_of_subsets(rows->data, m) <
         cost_of_pairs(data, rows->data, host);
}

/* One row of the table, c times. */
static void count_row(nbm_subsets *of, int length, const int *list, double c, double u) {
  const double u1 = c * u, u2 = u1 * u, u3 = u2 * u, u4 = u3 * u;
  for (int a = 0; a < length; a++) {
    const int ja = list[a];
    double *single = of->single + num_at(0, ja, POWERS);
    single[0] += u1;
    single[1] += u2;
    single[2] += u3;
    single[3] += u4;
    for (int i = 0; i < length; i++) {
      of->first[num_at(list[i], ja, of->m)] += u1;
      of->second[num_at(list[i], ja, of->m)] += u2;
    }
    for (int b = 0; b < a; b++) {
      const ptrdiff_t at_pair = of->two[ja] + list[b];
      double *pair = of->pair + 3 * at_pair, *with = of->with_pair + num_at(0, at_pair, of->m);
      pair[0] += u2;
      pair[1] += u3;
      pair[2] += u4;
      for (int i = 0; i < length; i++) with[list[i]] += u2;
      for (int d = 0; d < b; d++) {
        const ptrdiff_t at_triple = of->three[ja] + of->two[list[b]] + list[d];
        double *quadruple = of->quadruple + of->four[ja] + of->three[list[b]] + of->two[list[d]];
        of->triple[2 * at_triple] += u3;
        of->triple[2 * at_triple + 1] += u4;
        for (int e = 0; e < d; e++) quadruple[list[e]] += u4;
      }
    }
  }
}

nbm_subsets *nbm_new_subsets(const nbm_table *table, const nbm_rows *rows, const double *root,
                             const mc_host *host) {
  const mc_data *data = table->data;
  const int m = data->m;
  if (!pays(table, rows, host)) return NULL;
  nbm_subsets *of = host->alloc(host->ctx, 1, sizeof *of);
  of->m = m;
  of->two = choose(m, 2, host);
  of->three = choose(m, 3, host);
  of->four = choose(m, 4, host);
  of->single = mc_doubles(host, m, POWERS);
  of->pair = mc_doubles(host, of->two[m], 3);
  of->triple = mc_doubles(host, of->three[m], 2);
  of->quadruple = mc_doubles(host, of->four[m], 1);
  of->first = mc_doubles(host, m, m);
  of->second = mc_doubles(host, m, m);
  of->with_pair = mc_doubles(host, m, of->two[m]);
  for (int i = 0; i < data->n; i++) {
    const int from = data->start[i];
    count_row(of, data->start[i + 1] - from, data->column + from,
              table->copies ? table->copies[i] : 1, root[i]);
  }
  return of;
}

nbm_subset_sums nbm_new_subset_sums(int m, const mc_host *host) {
  nbm_subset_sums sums = {{0}, mc_doubles(host, m, 1), mc_doubles(host, m, 1), NULL};
  sums.others = mc_doubles(host, m, 6);
  return sums;
}

const double *nbm_subsets_single(const nbm_subsets *subsets, int column) {
  return subsets->single + num_at(0, column, POWERS);
}

enum { TWO_1, THREE_1, FOUR_1, THREE_2, FOUR_2, FOUR_3, N_OTHERS };

/* Sums over the rows with each column of all, of u t and u^2 t^2. */
static void add_columns(const nbm_subsets *of, int length, const int *list, nbm_subset_sums *sums) {
  const int m = of->m;
  memset(sums->linear, 0, (size_t) m * sizeof(double));
  memset(sums->square, 0, (size_t) m * sizeof(double));
  for (int a = 0; a < length; a++) {
    num_add_scaled(sums->linear, 1, of->first + num_at(0, list[a], m), m);
    num_add_scaled(sums->square, 1, of->second + num_at(0, list[a], m), m);
    for (int b = 0; b < a; b++)
      num_add_scaled(sums->square, 2, of->with_pair + num_at(0, of->two[list[a]] + list[b], m), m);
  }
}

/* A subset's sum counts for each of its columns; returns that of quadruples. */
static double add_four(const nbm_subsets *of, int a, int b, int d, const int *list,
                       double *others) {
  const double *quadruple =
      of->quadruple + of->four[list[a]] + of->three[list[b]] + of->two[list[d]];
  double sum = 0;
  for (int e = 0; e < d; e++) {
    const double value = quadruple[list[e]];
    others[N_OTHERS * e + FOUR_3] += value;
    sum += value;
  }
  others[N_OTHERS * a + FOUR_3] += sum;
  others[N_OTHERS * b + FOUR_3] += sum;
  others[N_OTHERS * d + FOUR_3] += sum;
  return sum;
}

static void add_three(const nbm_subsets *of, int a, int b, const int *list, nbm_subset_sums *sums) {
  double *others = sums->others;
  double three = 0, four = 0, quadruples = 0;
  for (int d = 0; d < b; d++) {
    const double *triple = of->triple + 2 * (of->three[list[a]] + of->two[list[b]] + list[d]);
    three += triple[0];
    four += triple[1];
    others[N_OTHERS * d + THREE_2] += triple[0];
    others[N_OTHERS * d + FOUR_2] += triple[1];
    quadruples += add_four(of, a, b, d, list, others);
  }
  for (int side = 0; side < 2; side++) {
    others[N_OTHERS * (side ? a : b) + THREE_2] += three;
    others[N_OTHERS * (side ? a : b) + FOUR_2] += four;
  }
  sums->power[2] += 6 * three;
  sums->power[3] += 36 * four + 24 * quadruples;
}

void nbm_sum_subsets(const nbm_subsets *of, int length, const int *list, nbm_subset_sums *sums) {
  static const double twice[] = {2, 6, 14};
  memset(sums->power, 0, sizeof sums->power);
  memset(sums->others, 0, (size_t) (N_OTHERS * length) * sizeof(double));
  add_columns(of, length, list, sums);
  for (int a = 0; a < length; a++) {
    const double *single = nbm_subsets_single(of, list[a]);
    for (int k = 0; k < POWERS; k++) sums->power[k] += single[k];
    for (int b = 0; b < a; b++) {
      const double *pair = of->pair + 3 * (of->two[list[a]] + list[b]);
      for (int k = 0; k < 3; k++) {
        sums->others[N_OTHERS * a + k] += pair[k];
        sums->others[N_OTHERS * b + k] += pair[k];
        sums->power[k + 1] += twice[k] * pair[k];
      }
      add_three(of, a, b, list, sums);
    }
  }
}
