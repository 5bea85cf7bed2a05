/*
 * What is told of data from elsewhere before a kernel or R reads it: indices of a view, and bytes that
 * serialize() may have written. Each buffer has its exact size.
 */
#include "check_data.h"
#include "engine/stream.h"

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

/* list(a = c(1, 2), b = "x", c = NULL), version 2 of the format. */
static const unsigned char list_bytes[] =
    {
        'X', '\n', 0,   0,   0,   2,   0, 4,  2,  2,   0, 2, 3, 0, 0,   0, 2,   19, 0,  0,
        0,   3, /* a list of three */
        0,   0,    0,   14,  0,   0,   0, 2,  63, 240, 0, 0, 0, 0, 0,   0, 64,  0,  0,  0,
        0,   0,    0,   0,   0,   0,   0, 16, 0,  0,   0, 1, 0, 4, 0,   9, 0,   0,  0,  1,
        'x', 0,    0,   0,   254, 0,   0, 4,  2,  0,   0, 0, 1, 0, 4,   0, 9,   0,  0,  0,
        5,   'n',  'a', 'm', 'e', 's', /* its names */
        0,   0,    0,   16,  0,   0,   0, 3,  0,  4,   0, 9, 0, 0, 0,   1, 'a', 0,  4,  0,
        9,   0,    0,   0,   1,   'b', 0, 4,  0,  9,   0, 0, 0, 1, 'c', 0, 0,   0,  254};

static unsigned char *bytes_of(const unsigned char *from, size_t size) {
  unsigned char *bytes = check_alloc(NULL, size, 1);
  memcpy(bytes, from, size);
  return bytes;
}

static void test_plain(void) {
  const size_t size = sizeof list_bytes;
  CHECK(mc_is_plain(bytes_of(list_bytes, size), size));
  for (size_t cut = 1; cut < size; cut++) CHECK(!mc_is_plain(bytes_of(list_bytes, cut), cut));
  /* a vector in the list becomes an environment, a promise, a function, a vector that is code */
  static const unsigned char kinds[] = {4, 5, 3, 238, 21, 22, 249, 253};
  for (size_t t = 0; t < sizeof kinds; t++) {
    unsigned char *bytes = bytes_of(list_bytes, size);
    bytes[25] = kinds[t];
    CHECK(!mc_is_plain(bytes, size));
  }
}

/* Whatever the bytes, nothing beyond them is read. */
static void test_any_bytes(void) {
  const size_t size = sizeof list_bytes;
  unsigned char *bytes = bytes_of(list_bytes, size);
  for (size_t at = 0; at < size; at++)
    for (int value = 0; value < 256; value++) {
      bytes[at] = (unsigned char) value;
      mc_is_plain(bytes, size);
      bytes[at] = list_bytes[at];
    }
  CHECK(mc_is_plain(bytes, size));
}

/* Lists within lists are read to a depth, not to the end of the stack. */
static void test_depth(void) {
  const size_t levels = 100000, size = 14 + 8 * levels;
  unsigned char *bytes = check_alloc(NULL, size, 1);
  memcpy(bytes, list_bytes, 14);
  for (size_t i = 0; i < levels; i++) {
    bytes[14 + 8 * i + 3] = 19;
    bytes[14 + 8 * i + 7] = 1;
  }
  CHECK(!mc_is_plain(bytes, size));
}

int main(void) {
  RUN(test_wrong_rows);
  RUN(test_missing);
  RUN(test_plain);
  RUN(test_any_bytes);
  RUN(test_depth);
  return check_report();
}
