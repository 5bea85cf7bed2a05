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

bool mc_scan(const mc_host *host, int pass, double objective, const num_strips *strips,
             num_scanner scan, void *ctx) {
  question q = {host, pass, objective};
  return num_scan(strips, scan, ctx, ask, &q);
}
