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

bool mc_visit(const mc_host *host, int pass, double objective, const num_strips *strips,
              num_visitor visit, void *ctx) {
  question q = {host, pass, objective};
  return num_visit(strips, visit, ctx, ask, &q);
}
