#include "noisy_or/noisy_or.h"
#include "glue/shards.h"
#include "noisy_or/gibbs.h"
#include "noisy_or/shards.h"

#include <string.h>

typedef struct {
  SEXP view, param, settings, control, out;
} arguments;

enum { EXACT, TRUNCATED, VARIATIONAL };

/* Input of every entry point: data, parameters, settings. */
typedef struct {
  mc_data data;
  nor_param par;
  nor_settings set;
  ab_curve effort;
  int inference;
  glue_context context;
  mc_host host;
} request;

static int whole(SEXP list, const char *name) { return Rf_asInteger(glue_field(list, name)); }

/* Reads c(prior, links, leak, taxon, share): two pseudo-counts each, one for share. */
static void take_prior(SEXP prior, nor_settings *set) {
  glue_matrix(prior, 9, 1, "prior");
  const double *p = REAL(prior);
  for (int i = 0; i < 9; i++) glue_check(p[i] > -1, "prior"); /* below 0: of a sampler alone */
  set->prior = (nor_beta){p[0], p[1]};
  set->links = (nor_beta){p[2], p[3]};
  set->leak = (nor_beta){p[4], p[5]};
  set->taxon = (nor_beta){p[6], p[7]};
  set->share = p[8];
}

static void take_settings(SEXP settings, request *r) {
  nor_settings *set = &r->set;
  const SEXP allowed = glue_field(settings, "allowed"), weight = glue_field(settings, "weight");
  const SEXP known = glue_field(settings, "known");
  memset(set, 0, sizeof *set);
  take_prior(glue_field(settings, "prior"), set);
  r->inference = whole(settings, "inference");
  glue_check(r->inference >= EXACT && r->inference <= VARIATIONAL, "inference");
  set->inner = whole(settings, "inner");
  set->q_steps = whole(settings, "q_steps");
  set->q_rule = (nor_q_rule) whole(settings, "q_rule");
  glue_check(set->inner >= 0 && set->q_steps >= 0, "inner or q_steps");
  const SEXP hold = glue_field(settings, "hold");
  if (!Rf_isNull(hold)) {
    glue_matrix(hold, 3, 1, "hold");
    set->hold = (nor_hold){REAL(hold)[0], REAL(hold)[1], REAL(hold)[2]};
    glue_check(r->par.share && set->hold.share > 0 && set->hold.taxon >= 0, "hold");
    glue_check(r->inference != VARIATIONAL, "hold");
  }
  set->n_threads = 1;
  set->host = &r->host;
  if (!Rf_isNull(allowed)) {
    glue_check(Rf_isInteger(allowed) && XLENGTH(allowed) == (R_xlen_t) r->par.k * r->data.m,
               "allowed");
    set->allowed = INTEGER(allowed);
  }
  if (!Rf_isNull(weight)) {
    glue_matrix(weight, r->data.n, 1, "weight");
    set->weight = REAL(weight);
  }
  if (!Rf_isNull(known)) {
    glue_check(Rf_isInteger(known) && XLENGTH(known) == (R_xlen_t) r->par.k * r->data.n, "known");
    set->known = INTEGER(known); /* NA is below 0 */
  }
}

/* Reads the visits to each cell and those with a detection (m x n), for models with recording. */
static void take_visits(SEXP made, SEXP found, request *r) {
  if (Rf_isNull(made)) return;
  const R_xlen_t cells = (R_xlen_t) r->data.m * r->data.n;
  glue_check(Rf_isInteger(made) && XLENGTH(made) == cells, "made");
  glue_check(Rf_isInteger(found) && XLENGTH(found) == cells, "found");
  glue_check(r->par.share && r->inference != VARIATIONAL && !r->set.weight, "visits");
  r->set.made = INTEGER(made);
  r->set.found = INTEGER(found);
}

static double *recorded(SEXP x, int length, const char *name) {
  if (Rf_isNull(x)) return NULL;
  glue_matrix(x, length, 1, name);
  return REAL(x);
}

static void take_recording(SEXP share, SEXP taxon, SEXP coef, request *r) {
  r->par.share = recorded(share, NOR_GRID, "recorded_share");
  r->par.taxon = recorded(taxon, r->data.m, "recorded_taxon");
  r->par.coef = recorded(coef, 2, "coef");
  glue_check(r->par.share || !(r->par.taxon || r->par.coef), "recorded_taxon or coef");
}

/* Reads the effort of rows, which must not be merged; requires coef in param. */
static void take_effort(SEXP effort, request *r) {
  glue_check(Rf_isNull(effort) == !r->par.coef, "effort and coef");
  if (Rf_isNull(effort)) return;
  glue_matrix(effort, r->data.n, 1, "effort");
  glue_check(!r->set.weight && r->set.hold.share <= 0, "weight or hold with effort");
  double *cells = mc_doubles(&r->host, (size_t) r->data.n, 1);
  for (int i = 0; i < r->data.n; i++) cells[i] = NOR_GRID - 1;
  r->effort = (ab_curve){.n = r->data.n, .effort = REAL(effort), .cells = cells};
  r->set.effort = &r->effort;
}

/* Reads a request. The parameters point into param; fit_body() replaces them by copies. */
static void take_request(const arguments *arg, request *r) {
  r->data = glue_data(arg->view);
  r->host = glue_host(&r->context, arg->control);
  const SEXP prior = glue_field(arg->param, "prior");
  const SEXP links = glue_field(arg->param, "links"), leak = glue_field(arg->param, "leak");
  r->par.k = Rf_length(prior);
  glue_check(r->par.k >= 1, "k");
  glue_matrix(prior, r->par.k, 1, "prior");
  glue_matrix(links, r->par.k, r->data.m, "links");
  glue_matrix(leak, r->data.m, 1, "leak");
  r->par.prior = REAL(prior);
  r->par.links = REAL(links);
  r->par.leak = REAL(leak);
  take_recording(glue_field(arg->param, "recorded_share"), glue_field(arg->param, "recorded_taxon"),
                 glue_field(arg->param, "coef"), r);
  take_settings(arg->settings, r);
  take_effort(glue_field(arg->settings, "effort"), r);
  take_visits(glue_field(arg->settings, "made"), glue_field(arg->settings, "found"), r);
  glue_check(r->inference != EXACT || r->par.k <= NOR_MAX_EXACT, "k for exact inference");
}

/* Returns whether states are listed: by truncated inference, and by exact inference with visits (all). */
static bool is_listed(const request *r) { return r->inference == TRUNCATED || r->set.made; }
static int list_size(const request *r) {
  const int size = r->inference == EXACT ? 1 << r->par.k : NOR_LIST;
  glue_check(size <= NOR_MOST_LIST, "k for lists of all states");
  return size;
}

/* Copies the lists of an earlier run, or allocates empty ones: list(state, weight, n_state). */
static SEXP copy_lists(SEXP hidden, const request *r) {
  const char *fields[] = {"state", "weight", "n_state", ""};
  const int n = r->data.n, k = r->par.k;
  const R_xlen_t listed = (R_xlen_t) n * list_size(r);
  if (!Rf_isNull(hidden)) return Rf_duplicate(hidden);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  const R_xlen_t bytes = listed * ((k + 63) / 64) * (R_xlen_t) sizeof(uint64_t);
  SET_VECTOR_ELT(out, 0, Rf_allocVector(RAWSXP, bytes));
  glue_zeros(out, 1, listed);
  SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n));
  memset(RAW(VECTOR_ELT(out, 0)), 0, (size_t) bytes);
  memset(INTEGER(VECTOR_ELT(out, 2)), 0, (size_t) n * sizeof(int));
  UNPROTECT(1);
  return out;
}

static nor_lists lists_of(SEXP hidden, const request *r) {
  const int n = r->data.n;
  nor_lists lists = {.words = (r->par.k + 63) / 64, .size = list_size(r)};
  glue_check(TYPEOF(hidden) == VECSXP && XLENGTH(hidden) == 3, "listed states");
  const SEXP state = VECTOR_ELT(hidden, 0), weight = VECTOR_ELT(hidden, 1);
  glue_check(TYPEOF(state) == RAWSXP &&
                 XLENGTH(state) == (R_xlen_t) n * lists.size * lists.words * 8,
             "listed states");
  glue_matrix(weight, lists.size, n, "their weights");
  glue_check(Rf_isInteger(VECTOR_ELT(hidden, 2)) && XLENGTH(VECTOR_ELT(hidden, 2)) == n,
             "their numbers");
  lists.state = (uint64_t *) (void *) RAW(state);
  lists.weight = REAL(weight);
  lists.n_state = INTEGER(VECTOR_ELT(hidden, 2));
  for (int i = 0; i < n; i++)
    glue_check(lists.n_state[i] >= 0 && lists.n_state[i] <= lists.size, "their numbers");
  return lists;
}

/* Copies list(links, leak, q, on) of an earlier run, or initialises it from the parameters and uniform q. */
static SEXP copy_theta(SEXP hidden, const request *r) {
  const char *fields[] = {"links", "leak", "q", "on", ""};
  const int k = r->par.k, m = r->data.m;
  const R_xlen_t n_one = r->data.start[r->data.n];
  SEXP out = PROTECT(Rf_isNull(hidden) ? Rf_mkNamed(VECSXP, fields) : Rf_duplicate(hidden));
  if (Rf_isNull(hidden)) {
    SET_VECTOR_ELT(out, 0, Rf_allocMatrix(REALSXP, k, m));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, m));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, n_one * k));
    nor_theta var = {REAL(VECTOR_ELT(out, 0)), REAL(VECTOR_ELT(out, 1)), REAL(VECTOR_ELT(out, 2)),
                     NULL};
    nor_to_theta(&r->par, m, &r->set, &var);
    for (R_xlen_t at = 0; at < n_one * k; at++) var.q[at] = 1. / k;
  }
  glue_check(TYPEOF(out) == VECSXP && XLENGTH(out) == 4, "theta and q");
  if (r->par.share && Rf_isNull(VECTOR_ELT(out, 3))) {
    const R_xlen_t length = (R_xlen_t) r->data.n * NOR_GRID * k;
    SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, length));
    for (R_xlen_t at = 0; at < length; at++) REAL(VECTOR_ELT(out, 3))[at] = r->par.prior[at % k];
  }
  UNPROTECT(1);
  return out;
}

static nor_theta theta_of(SEXP hidden, const request *r) {
  const int k = r->par.k;
  const SEXP q = VECTOR_ELT(hidden, 2), on = VECTOR_ELT(hidden, 3);
  nor_theta var = {.on = NULL};
  glue_matrix(VECTOR_ELT(hidden, 0), k, r->data.m, "theta");
  glue_matrix(VECTOR_ELT(hidden, 1), r->data.m, 1, "theta of the leak");
  glue_check(Rf_isReal(q) && XLENGTH(q) == (R_xlen_t) r->data.start[r->data.n] * k, "q");
  var.links = REAL(VECTOR_ELT(hidden, 0));
  var.leak = REAL(VECTOR_ELT(hidden, 1));
  var.q = REAL(q);
  if (!r->par.share) return var;
  glue_check(Rf_isReal(on) && XLENGTH(on) == (R_xlen_t) r->data.n * NOR_GRID * k, "on");
  var.on = REAL(on);
  return var;
}

static SEXP fit_variational(arguments *arg, request *r, const mc_control *ctl) {
  const SEXP out = arg->out;
  SET_VECTOR_ELT(out, 6, copy_theta(glue_field(arg->param, "hidden"), r));
  nor_theta var = theta_of(VECTOR_ELT(out, 6), r);
  nor_variational *work = nor_new_variational(&r->data, &r->par, &var, &r->set);
  mc_model model = nor_variational_model(work);
  SET_VECTOR_ELT(out, 7, glue_fit(&model, ctl, &r->host));
  nor_from_theta(&var, r->data.m, &r->par);
  SET_VECTOR_ELT(out, 8, Rf_allocMatrix(REALSXP, r->data.n, r->par.k));
  SET_VECTOR_ELT(out, 9, Rf_allocVector(REALSXP, r->data.n));
  nor_variational_rows(work, REAL(VECTOR_ELT(out, 8)), REAL(VECTOR_ELT(out, 9)));
  return out;
}

static SEXP fit_body(void *ctx) {
  arguments *arg = ctx;
  request r;
  const mc_control ctl = glue_control(arg->control);
  take_request(arg, &r);
  r.set.n_threads = ctl.n_threads;
  r.set.accelerate = ctl.accelerate;
  r.set.fixed = Rf_asLogical(glue_field(arg->settings, "fixed")) == TRUE;
  r.par.prior = REAL(VECTOR_ELT(arg->out, 0));
  r.par.links = REAL(VECTOR_ELT(arg->out, 1));
  r.par.leak = REAL(VECTOR_ELT(arg->out, 2));
  take_recording(VECTOR_ELT(arg->out, 3), VECTOR_ELT(arg->out, 4), VECTOR_ELT(arg->out, 5), &r);
  if (r.inference == VARIATIONAL) return fit_variational(arg, &r, &ctl);
  nor_impose_scale(&r.set, &r.par, r.data.m);
  if (!is_listed(&r)) {
    nor_exact *work = nor_new_exact(&r.data, &r.par, &r.set);
    mc_model model = nor_exact_model(work);
    SET_VECTOR_ELT(arg->out, 7, glue_fit(&model, &ctl, &r.host));
    return arg->out;
  }
  SET_VECTOR_ELT(arg->out, 6, copy_lists(glue_field(arg->param, "hidden"), &r));
  const nor_lists lists = lists_of(VECTOR_ELT(arg->out, 6), &r);
  nor_truncated *work = nor_new_truncated(&r.data, &r.par, &r.set, lists);
  mc_model model = nor_truncated_model(work);
  SET_VECTOR_ELT(arg->out, 7, glue_fit(&model, &ctl, &r.host));
  return arg->out;
}

/*
 * param: list(prior = k, links = k x m, leak = m, recorded_share = NULL or one for each point of
 * the grid, recorded_taxon = NULL or m, coef = NULL or, with settings$effort, 2, hidden = NULL or
 * that of an earlier run). Variational runs also return activation and bound by row.
 */
SEXP mc_c_nor_fit(SEXP view, SEXP param, SEXP settings, SEXP control) {
  const char *fields[] = {"prior",          "links", "leak",   "recorded_share",
                          "recorded_taxon", "coef",  "hidden", "outcome",
                          "activation",     "bound", ""};
  SEXP out = PROTECT(glue_result(fields, param, 6));
  arguments arg = {view, param, settings, control, out};
  glue_serial_blas(fit_body, &arg);
  UNPROTECT(1);
  return out;
}

/* Allocates a requested part of a report, filled with zeros; returns NULL if it was not requested. */
static double *wanted(SEXP out, int field, SEXP want, const char *name, R_xlen_t length) {
  if (Rf_asLogical(glue_field(want, name)) != TRUE) return NULL;
  return glue_zeros(out, field, length);
}

static SEXP report_body(void *ctx) {
  arguments *arg = ctx;
  request r;
  take_request(arg, &r);
  const SEXP want = glue_field(arg->settings, "want"), out = arg->out;
  const R_xlen_t n = r.data.n, m = r.data.m, k = r.par.k;
  nor_report report = {.loglik = wanted(out, 0, want, "loglik", n),
                       .activation = wanted(out, 1, want, "activation", n * k),
                       .map = wanted(out, 2, want, "map", n * k),
                       .response = wanted(out, 3, want, "response", n * m),
                       .cell = wanted(out, 4, want, "cell", n * m * (k + 1))};
  if (!Rf_isNull(glue_field(arg->settings, "uniform"))) {
    const SEXP uniform = glue_field(arg->settings, "uniform");
    glue_matrix(uniform, r.data.n, 1, "uniform");
    report.uniform = REAL(uniform);
    report.drawn = wanted(out, 9, want, "drawn", n * k);
  }
  if (r.par.share) {
    report.site = wanted(out, 5, want, "site", n);
    report.present = wanted(out, 6, want, "response", n * m);
    report.missed = wanted(out, 7, want, "response", n * m);
    report.phantom = wanted(out, 8, want, "response", n * m);
    if (r.set.made) report.again = wanted(out, 10, want, "again", n * m);
  }
  if (!is_listed(&r)) {
    nor_report_exact(&r.data, &r.par, &r.set, &report);
  } else {
    SEXP hidden = PROTECT(copy_lists(glue_field(arg->param, "hidden"), &r));
    const nor_lists lists = lists_of(hidden, &r);
    nor_report_truncated(&r.data, &r.par, &r.set, lists, &report);
    UNPROTECT(1);
  }
  glue_end_stopped(&r.host);
  return out;
}

/*
 * Vectors in column-major order: loglik n; activation, map and, if settings have n uniform numbers,
 * drawn n x k; response n x m; cell n x m x (k + 1); with recording site n and, with response,
 * present, missed, phantom n x m; with visits again n x m, which requires response.
 */
SEXP mc_c_nor_report(SEXP view, SEXP param, SEXP settings) {
  const char *fields[] = {"loglik",  "activation", "map",     "response", "cell",  "site",
                          "present", "missed",     "phantom", "drawn",    "again", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  arguments arg = {view, param, settings, R_NilValue, out};
  glue_serial_blas(report_body, &arg);
  UNPROTECT(1);
  return out;
}

static SEXP sample_body(void *ctx) {
  arguments *arg = ctx;
  request r;
  take_request(arg, &r);
  const SEXP proposal = glue_field(arg->settings, "proposal");
  const int n_draw = whole(arg->settings, "n_draw");
  const double seed = Rf_asReal(glue_field(arg->settings, "seed"));
  glue_matrix(proposal, r.data.n, r.par.k, "proposal");
  const double floor = Rf_asReal(glue_field(arg->settings, "floor"));
  glue_check(n_draw >= 1 && seed >= 0 && floor >= 0, "n_draw, seed or floor");
  const nor_draws draws = {REAL(proposal), n_draw, (uint64_t) seed, floor};
  nor_sample_loglik(&r.data, &r.par, &r.set, &draws, REAL(VECTOR_ELT(arg->out, 0)),
                    REAL(VECTOR_ELT(arg->out, 1)));
  glue_end_stopped(&r.host);
  return arg->out;
}

/* settings also contain proposal (n x k), n_draw, floor and seed (an integer below 2^53). */
SEXP mc_c_nor_sample(SEXP view, SEXP param, SEXP settings) {
  const char *fields[] = {"loglik", "effective", ""};
  const mc_data data = glue_data(view);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, data.n));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, data.n));
  arguments arg = {view, param, settings, R_NilValue, out};
  glue_serial_blas(sample_body, &arg);
  UNPROTECT(1);
  return out;
}

/* What record's sums are, in the result's fields from `first` on. */
static void new_sums(SEXP out, int first, const request *r, nor_gibbs_record *record) {
  const R_xlen_t n = r->data.n, m = r->data.m, k = r->par.k;
  const int n_stat = r->par.share ? NOR_GIBBS_SCORES : NOR_GIBBS_PLAIN;
  record->cell = glue_zeros(out, first, n * m * n_stat);
  record->on = glue_zeros(out, first + 1, n * k);
  record->prior = glue_zeros(out, first + 2, 2 * k);
  record->links = glue_zeros(out, first + 3, 2 * k * m);
  record->leak = glue_zeros(out, first + 4, 2 * m);
  if (r->par.share) record->site = glue_zeros(out, first + 5, n);
  if (r->par.share) record->share = glue_zeros(out, first + 6, (R_xlen_t) 2 * NOR_GRID);
  if (r->par.taxon) record->taxon = glue_zeros(out, first + 7, 2 * m);
}

/* The result's parameters, which the draws overwrite, as a state. */
static nor_gibbs_state gibbs_state_of(SEXP out, request *r) {
  const R_xlen_t n = r->data.n, k = r->par.k;
  r->par.prior = REAL(VECTOR_ELT(out, 0));
  r->par.links = REAL(VECTOR_ELT(out, 1));
  r->par.leak = REAL(VECTOR_ELT(out, 2));
  take_recording(VECTOR_ELT(out, 3), VECTOR_ELT(out, 4), VECTOR_ELT(out, 5), r);
  const SEXP on = VECTOR_ELT(out, 6), grid = VECTOR_ELT(out, 7);
  glue_check(Rf_isInteger(on) && XLENGTH(on) == n * k, "on");
  for (R_xlen_t at = 0; at < n * k; at++)
    glue_check(INTEGER(on)[at] == 0 || INTEGER(on)[at] == 1, "on");
  nor_gibbs_state state = {r->par, INTEGER(on), NULL};
  if (!r->par.share) return state;
  glue_check(Rf_isInteger(grid) && XLENGTH(grid) == n, "grid");
  for (R_xlen_t i = 0; i < n; i++)
    glue_check(INTEGER(grid)[i] >= 0 && INTEGER(grid)[i] < NOR_GRID, "grid");
  state.grid = INTEGER(grid);
  return state;
}

static SEXP gibbs_body(void *ctx) {
  arguments *arg = ctx;
  const SEXP out = arg->out, plan = arg->control;
  request r;
  take_request(arg, &r);
  r.context.draws = true;
  glue_check(!r.set.weight && r.set.hold.share <= 0, "weight or hold");
  nor_gibbs_state state = gibbs_state_of(out, &r);
  nor_gibbs_plan to = {.n_sweep = whole(plan, "n_sweep"), .thin = whole(plan, "thin")};
  glue_check(to.n_sweep >= 0 && to.thin >= 0, "plan");
  to.n_probe = glue_probe(plan, r.data.n, r.data.m, &to.probe);
  nor_gibbs_record record = {0};
  if (to.thin > 0) new_sums(out, 9, &r, &record);
  const mc_status status = nor_gibbs_run(&r.data, &r.set, &to, &state, &record);
  glue_end_failed(&r.host);
  SET_VECTOR_ELT(out, 8, glue_new_matrix(record.note, NOR_NOTE_PROBE + to.n_probe, record.n_draw));
  SET_VECTOR_ELT(out, 17, Rf_ScalarInteger(record.n_done));
  SET_VECTOR_ELT(out, 18, Rf_ScalarInteger(record.n_draw));
  SET_VECTOR_ELT(out, 19, Rf_ScalarLogical(status == MC_STOPPED));
  return out;
}

/*
 * Sweeps from a state: param, as of mc_c_nor_fit(), without hidden, with on (k x n, 0 or 1) and, with
 * recording, grid (n, from 0). plan: list(n_sweep, thin, probe (2 x p, from 0), on_tick).
 */
SEXP mc_c_nor_gibbs(SEXP view, SEXP param, SEXP settings, SEXP plan) {
  const char *fields[] = {"prior",     "links",     "leak",      "recorded_share", "recorded_taxon",
                          "coef",      "on",        "grid",      "note",           "sum_cell",
                          "sum_on",    "sum_prior", "sum_links", "sum_leak",       "sum_site",
                          "sum_share", "sum_taxon", "n_done",    "n_draw",         "stopped",
                          ""};
  SEXP out = PROTECT(glue_result(fields, param, 8));
  arguments arg = {view, param, settings, plan, out};
  glue_sample(gibbs_body, &arg);
  UNPROTECT(1);
  return out;
}

/* param's prior, links and leak are those of the result, and the settings are the call's prior. */
static mc_shards new_sum_model(glue_call *call) {
  request *r = glue_new(call, sizeof *r);
  nor_shard *self = glue_new(call, sizeof *self);
  const int k = Rf_length(VECTOR_ELT(call->out, 0)), m = call->data.m, n = call->data.n;
  glue_check(k >= 1, "k");
  memset(r, 0, sizeof *r);
  r->data = call->data;
  r->host = call->host;
  r->par =
      (nor_param){.k = k, .prior = glue_param(call, 0, k, 1), .links = glue_param(call, 1, k, m)};
  r->par.leak = glue_param(call, 2, m, 1);
  take_settings(call->prior, r);
  glue_check(r->inference == TRUNCATED, "inference");
  r->set.n_threads = call->ctl.n_threads;
  *self = nor_new_shard(&r->data, &r->par, &r->set);
  if (n > 0) self->listed = glue_param(call, 3, n, nor_shard_width(k));
  for (int i = 0; i < n; i++)
    glue_check(self->listed[i] >= 0 && self->listed[i] <= NOR_LIST, "numbers of listed states");
  return nor_shards(self);
}

/* Truncated inference for glue_sum_model(). param: list(prior = k, links = k x m, leak = m, listed). */
SEXP mc_c_nor_sum(SEXP view, SEXP param, SEXP settings, SEXP control) {
  const char *fields[] = {"prior", "links", "leak", "listed", "outcome", ""};
  const glue_sum_recipe recipe = {fields, 3, true, new_sum_model, NULL, NULL};
  return glue_sum_model(&recipe, view, param, settings, control);
}
