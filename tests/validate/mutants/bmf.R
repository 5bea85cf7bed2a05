# Mutants: the package's sources with one mistake each, compiled into a library of their own; the named test must see
# them. Run by tests/validate/bmf_validation.R.

mutant <- function(name, setting, ..., replicates = 8000, n_sweep = 8L) {
  list(name = name, setting = setting, edits = list(...), replicates = replicates, n_sweep = n_sweep)
}
edit <- function(file, from, to) list(file = file, from = from, to = to)

mutants <- list(
  mutant(
    "own entry in the count", "gaussian_finite",
    edit(
      "bmf/bmf.h", "return side->n_extern ? side->count[c] : side->count[c] - u[c];",
      "return side->n_extern ? side->count[c] : side->count[c] - (side->count[c] == side->n && u[c]);"
    )
  ),
  mutant(
    "shape of alpha: half of the features", "gaussian_infinite",
    edit(
      "bmf/hyper.c", "hyper->shape + bmf_n_free(&state->side[s])",
      "hyper->shape + 0.5 * bmf_n_free(&state->side[s])"
    )
  ),
  mutant(
    "shape of alpha: fixed features, too", "gaussian_mixed_bias",
    edit("bmf/hyper.c", "hyper->shape + bmf_n_free(&state->side[s])", "hyper->shape + state->side[s].k")
  ),
  mutant(
    "split-merge without the selection ratio", "gaussian_split",
    edit(
      "bmf/split_merge.c",
      "t->log_chosen + log(n_first) + log(n_last) -\n         log(first_after) - log(last_after);",
      "t->log_chosen + 0 * (first_after + last_after);"
    ),
    replicates = 20000
  ),
  mutant(
    "split-merge without the proposal", "gaussian_split",
    edit("bmf/split_merge.c", "t->log_two - t->log_one - t->log_chosen +", "t->log_two - t->log_one +")
  ),
  mutant(
    "births that only add", "gaussian_infinite",
    edit("bmf/births.c", "if (singles) drop_singles(ws);", "if (singles && b > 0) drop_singles(ws);")
  ),
  mutant(
    "recoding without the numbers of members", "bernoulli_all",
    edit(
      "bmf/recode.c", "return bmf_log_feature(state, s, to->count) -",
      "return bmf_log_feature(state, s, to->count) * 0 -"
    ),
    edit("bmf/recode.c", "bmf_log_feature(state, s, state->side[s].count[to->a]) +", "0 +")
  ),
  mutant(
    "recoding without the weights", "bernoulli_all",
    edit("bmf/recode.c", "log_weights(state, s, to->a, to->b, to->sign_a, to->add_b) -", "0 *")
  ),
  # As it comes about: features in the order of their birth, scanned from the first to the last.
  mutant(
    "fixed scan of columns", "gaussian_scan",
    edit("num/rng.c", "for (int i = n - 1; i > 0; i--) {", "for (int i = n - 1; i > n; i--) {"),
    edit(
      "bmf/state.c", "    unsigned char *u = bmf_item(side, i);\n    u[c] = u[last];",
      "    unsigned char *u = bmf_item(side, i);\n    for (int b = c; b < last; b++) u[b] = u[b + 1];"
    ),
    edit(
      "bmf/state.c", "  side->count[c] = side->count[last];",
      "  for (int b = c; b < last; b++) side->count[b] = side->count[b + 1];"
    ),
    replicates = 60000, n_sweep = 10L
  )
)

# No mistakes: the way in which many weights are drawn, feature by feature, for the few of these settings. And one.
by_feature <- edit("bmf/weights.c", "#define JOINT_MOST 600", "#define JOINT_MOST 0")
sound <- lapply(c("bernoulli_infinite", "bernoulli_all", "gaussian_infinite"), function(setting) {
  mutant("none: weights by feature", setting, by_feature, replicates = 20000, n_sweep = 4L)
})
mutants <- c(mutants, list(mutant(
  "weights by feature, Polya-Gamma variables of 0", "bernoulli_infinite", by_feature,
  edit("bmf/row.c", "omega[num_at(i, j, ws->n)] = num_draw_polya_gamma(ws->at.eta[j])",
    "omega[num_at(i, j, ws->n)] = num_draw_polya_gamma(0)")
)))

compile_mutant <- function(mutant) {
  folder <- tempfile("mutant")
  library <- file.path(folder, "lib")
  source <- file.path(folder, "multicause")
  dir.create(library, recursive = TRUE)
  dir.create(source)
  file.copy(c("DESCRIPTION", "NAMESPACE", "R", "src"), source, recursive = TRUE)
  unlink(dir(file.path(source, "src"), "[.](o|so)$", full.names = TRUE, recursive = TRUE))
  for (edit in mutant$edits) {
    file <- file.path(source, "src", edit$file)
    text <- paste(readLines(file), collapse = "\n")
    stopifnot(grepl(edit$from, text, fixed = TRUE))
    writeLines(sub(edit$from, edit$to, text, fixed = TRUE), file)
  }
  command <- sprintf("R CMD INSTALL --no-docs --no-test-load --no-data --library=%s %s", library, source)
  if (system(command, ignore.stdout = TRUE, ignore.stderr = TRUE) != 0) stop("mutant does not compile: ", mutant$name)
  library
}

# z of the invariance test under the mutant's library, in a process of its own.
run_mutant <- function(mutant, replicates, n_sweep) {
  library <- compile_mutant(mutant)
  on.exit(unlink(dirname(library), recursive = TRUE))
  script <- c(
    sprintf(".libPaths(c(%s, .libPaths()))", deparse(library)),
    "helpers <- new.env(parent = asNamespace('multicause'))",
    sprintf("for (f in c('helper-data.R', 'helper-bmf.R', 'helper-bmf_invariance.R')) %s",
      "sys.source(file.path('tests', 'testthat', f), helpers)"),
    "set.seed(40)",
    sprintf("z <- helpers$bmf_invariance(helpers$bmf_settings()[['%s']], %d, %d)", mutant$setting, replicates, n_sweep),
    "cat(max(abs(z)), names(z)[which.max(abs(z))], '\\n')"
  )
  file <- tempfile(fileext = ".R")
  writeLines(script, file)
  out <- system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE)
  strsplit(trimws(utils::tail(out, 1)), " ")[[1]]
}

cat(paste0(
  "\n## Mutants\n\n",
  "The kernel with one mistake each under the invariance test (8 sweeps, fixed scan: 10); ",
  "must be |z| > 4 somewhere, without a mistake (4 sweeps) < 4.\n\n"
))
row("mistake", "setting", "replicates", "largest absolute z", "at", "as it must")
row("---", "---", "---", "---", "---", "---")
for (mutant in c(mutants, sound)) {
  replicates <- ceiling(scale * mutant$replicates)
  z <- run_mutant(mutant, replicates, mutant$n_sweep)
  wrong <- as.numeric(z[1]) > 4
  ok <- judge(wrong != startsWith(mutant$name, "none"))
  row(mutant$name, mutant$setting, replicates, sprintf("%.2f", as.numeric(z[1])), z[2], ok)
}
