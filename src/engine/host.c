#include "engine/host.h"

typedef struct {
  const mc_host *host;
  int pass;
  double objective;
} question;

static int ask(void *asked) {
  const question *q = asked;
  return mc_stop(q->host, q->pass, q->objective);
}

bool mc_scan_sums(const mc_host *host, int pass, double objective, const num_strips *strips,
                  num_scanner scan, void *ctx, const num_sums *sums) {
  question q = {host, pass, objective};
  return num_scan(strips, scan, ctx, ask, &q, sums);
}

bool mc_scan(const mc_host *host, int pass, double objective, const num_strips *strips,
             num_scanner scan, void *ctx) {
  return mc_scan_sums(host, pass, objective, strips, scan, ctx, NULL);
}
