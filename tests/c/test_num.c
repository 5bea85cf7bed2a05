#include "check.h"
#include "num.h"

static void test_sum_log(void) {
  double *x = exact(3);
  x[0] = 0.5;
  x[1] = 0.25;
  x[2] = INFINITY;
  CHECK_NEAR(num_sum_log(x, 3), log(0.125), 1e-15);
}

int main(void) {
  RUN(test_sum_log);
  return check_report();
}
