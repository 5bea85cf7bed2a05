/* Checks of indices of external views. Each buffer has its exact size. */
#include "check_data.h"

static mc_data view_of(int n, int m, const int *start, const int *column) {
  int *rows = exact_int(n + 1), *cells = exact_int(start[n]);
  memcpy(rows, start, ((size_t) n + 1) * sizeof *rows);
  if (start[n] > 0) memcpy(cells, column, (size_t) start[n] * sizeof *cells);
  const mc_data data = {.n = n, .m = m, .start = rows, .column = cells};
  return data;
}

static void test_wrong_rows(void) {
  const int start[] = {0, 2, 2, 5}, column[] = {0, 3, 1, 2, 3};
  const mc_data right = view_of(3, 4, start, column);
  CHECK(mc_first_wrong_row(&right) == -1);
  static const int columns[][5] = {{0, 0, 1, 2, 3}, {3, 0, 1, 2, 3}, {-1, 3, 1, 2, 3},
                                   {0, 4, 1, 2, 3}, {0, 3, 1, 3, 2}, {0, 3, 1, 2, 2147483647}};
  static const int where[] = {0, 0, 0, 0, 2, 2};
  for (int t = 0; t < 6; t++) {
    const mc_data data = view_of(3, 4, start, columns[t]);
    CHECK(mc_first_wrong_row(&data) == where[t]);
  }
  static const int starts[][4] = {{1, 2, 2, 5}, {0, 6, 2, 5}, {0, 2, 1, 5}, {0, -1, 2, 5}};
  static const int row[] = {0, 0, 1, 0};
  for (int t = 0; t < 4; t++) {
    const mc_data data = view_of(3, 4, starts[t], column);
    CHECK(mc_first_wrong_row(&data) == row[t]);
  }
}

static void test_missing(void) {
  const int start[] = {0, 2, 3}, column[] = {0, 3, 1}, na_start[] = {0, 1, 2};
  static const int columns[][2] = {{1, 2}, {3, 2}, {1, 1}, {4, 2}};
  static const int where[] = {-1, 0, 1, 0};
  for (int t = 0; t < 4; t++) {
    mc_data data = view_of(2, 4, start, column);
    const mc_data missing = view_of(2, 4, na_start, columns[t]);
    data.na_start = missing.start;
    data.na_column = missing.column;
    CHECK(mc_first_wrong_row(&data) == where[t]);
  }
}

int main(void) {
  RUN(test_wrong_rows);
  RUN(test_missing);
  return check_report();
}
