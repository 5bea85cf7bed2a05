# Functions that users of other packages type on fits, answers and results: what leads on where R would end in an error
# of its own, or in NULL. Refusals of generics that every fit has are in R/generics.R.

# Functions that ask whether they are given numbers or a matrix, by is.matrix() and the like, is.na(), dim() or `$`.
matrix_takers <- list(
  base = c("apply", "sweep", "rowSums", "colSums", "rowMeans", "colMeans", "rank"),
  stats = c(
    "cor", "cov", "heatmap", "varimax", "promax", "cutree", "wilcox.test.default", "cor.test.default", "ks.test.default"
  )
)

# The name of that which runs in a frame, or NULL.
taken_by <- function(at) {
  running <- if (at > 0L) sys.function(at)
  of <- if (is.function(running)) environment(running)
  package <- if (is.environment(of)) environmentName(of) else ""
  for (name in matrix_takers[[package]]) {
    if (exists(name, of, inherits = FALSE) && identical(get(name, of), running)) {
      return(sub("[.]default$", "", name))
    }
  }
  NULL
}

# A method of is.matrix() and the like: FALSE, but for these functions.
never_matrix <- function(instead) {
  force(instead)
  function(x) {
    taker <- taken_by(sys.parents()[sys.nframe()])
    if (!is.null(taker)) stop_no_meaning(x, taker, instead)
    FALSE
  }
}

#' @export
is.matrix.multicause <- never_matrix(no_table)
#' @export
is.array.multicause <- never_matrix(no_table)
#' @export
is.numeric.multicause <- never_matrix(no_table)
#' @export
is.matrix.which_zeros <- never_matrix(taken_apart)
#' @export
is.array.which_zeros <- never_matrix(taken_apart)
#' @export
is.numeric.which_zeros <- never_matrix(taken_apart)

# What users take from fits of other packages by `$`, and what has it here.
parts_of_fits <- c(
  P = "coef(fit)", probs = "coef(fit)", coefficients = "coef(fit)", coeff = "coef(fit)",
  posterior = "predict(fit, type = \"membership\")", predclass = "predict(fit, type = \"membership\")",
  cluster = "predict(fit, type = \"membership\")", points = "vegan::scores(fit)", sites = "vegan::scores(fit)",
  species = "vegan::scores(fit)", sdev = "select_k()", eig = "select_k()", aic = "AIC(fit)", AIC = "AIC(fit)",
  bic = "BIC(fit)", BIC = "BIC(fit)", llik = "logLik(fit)", logLik = "logLik(fit)", deviance = "deviance(fit)",
  fitted.values = "fitted(fit)", residuals = "residuals(fit)", Nobs = "nobs(fit)", npar = "fit$df",
  terms = "top_terms(fit)", merge = "hclust(dist(fitted(fit)))", k = "fit$dims", n = "fit$dims", m = "fit$dims"
)
parts_of_answers <- c(
  rank = "as.data.frame(w)$rank", site = "as.data.frame(w)$site", taxon = "as.data.frame(w)$taxon",
  chance = "as.data.frame(w)$chance", present = "as.data.frame(w)$present", missed = "as.data.frame(w)$missed",
  missed_low = "as.data.frame(w)$missed_low", missed_high = "as.data.frame(w)$missed_high",
  missed_most = "as.data.frame(w)$missed_most", zeros = "as.data.frame(w)", sites = "by_site(w)", taxa = "by_taxon(w)",
  auc = "w$quality", AUC = "w$quality"
)

# As in any list, by the beginning of a name, too. Who asks for a part that is not there, but has a place, is told it;
# code of packages, which asks whether an optional part is there, hears NULL.
#' @export
`$.multicause` <- function(x, name) {
  if (name %in% attr(x, "names")) {
    return(.subset2(x, name))
  }
  frame <- sys.nframe()
  at <- sys.parents()[frame]
  if (at > 0L && identical(sys.function(at), stats::loadings)) {
    return(loadings_of(x))
  }
  value <- .subset2(x, name, exact = FALSE)
  if (is.null(value)) {
    own <- names(.subset2(x, "param"))
    lead_to(name, x, c(stats::setNames(sprintf("coef(fit)$%s", own), own), parts_of_fits), frame)
  }
  value
}

#' @export
`$.which_zeros` <- function(x, name) {
  if (name %in% attr(x, "names")) {
    return(.subset2(x, name))
  }
  value <- .subset2(x, name, exact = FALSE)
  if (is.null(value)) lead_to(name, x, parts_of_answers, sys.nframe())
  value
}

lead_to <- function(name, x, parts, frame) {
  if (name %in% names(parts) && asked_by_user(frame)) {
    stop_input("%s has no part `%s`: %s has it.", sub("^a", "A", words_of(x)), name, parts[[name]])
  }
}

# stats::loadings() takes a part of that name: what each taxon adds to a component.
loadings_of <- function(fit) {
  loadings <- .subset2(fit, "param")$loadings
  if (is.null(loadings)) {
    stop_no_meaning(fit, "loadings", paste(
      "coef(fit) has what components say of each taxon, vegan::scores(fit, \"species\") the same with taxa in rows."
    ))
  }
  structure(t(loadings), class = "loadings")
}

# Generics that code of R asks of any object: refused to users alone.
#' @export
levels.multicause <- function(x) {
  if (asked_by_user()) {
    stop_no_meaning(x, "levels", "colnames(predict(fit, type = \"membership\")) are the components.")
  }
}

#' @export
levels.which_zeros <- function(x) if (asked_by_user()) stop_no_meaning(x, "levels", taken_apart)

one_list <- "list() keeps several together; a list of fits to the same data is what ensemble() takes."

#' @export
c.multicause <- function(...) {
  if (asked_by_user()) stop_no_meaning(..1, "c", one_list) # nolint: object_usage_linter.
  NextMethod()
}

#' @export
c.which_zeros <- function(...) {
  if (asked_by_user()) {
    stop_no_meaning(..1, "c", "list() keeps several; sensitivity() compares.") # nolint: object_usage_linter.
  }
  NextMethod()
}

#' @export
rbind.which_zeros <- function(..., deparse.level = 1) stop_bound("rbind", ...) # nolint: object_name_linter.
#' @export
cbind.which_zeros <- function(..., deparse.level = 1) stop_bound("cbind", ...) # nolint: object_name_linter.
#' @export
rbind.multicause <- function(..., deparse.level = 1) stop_bound("rbind", ...) # nolint: object_name_linter.
#' @export
cbind.multicause <- function(..., deparse.level = 1) stop_bound("cbind", ...) # nolint: object_name_linter.

stop_bound <- function(generic, ...) {
  ours <- Filter(function(x) inherits(x, c("which_zeros", "multicause")), list(...))[[1L]]
  stop_no_meaning(ours, generic, if (inherits(ours, "which_zeros")) taken_apart else no_frame)
}

#' @export
is.na.multicause <- function(x) {
  if (asked_by_user()) stop_no_meaning(x, "is.na", no_table)
  NextMethod()
}

#' @export
is.na.which_zeros <- function(x) {
  if (asked_by_user()) stop_no_meaning(x, "is.na", "is.na(w$x) is TRUE where a cell is unknown.")
  NextMethod()
}

# Tables of what is missed: by_site(), by_taxon(), contrast(), deficiency() and the like. They are data frames.
table_classes <- c(
  "which_zeros_sums", "which_zeros_contrast", "deficiency", "false_absences", "false_presences", "phantoms"
)
no_meaning_of_tables <- say(
  c(
    "confint", "vcov", "coef", "logLik", "fitted", "residuals", "predict", "mean", "median", "quantile", "hist",
    "barplot", "boxplot", "density", "xtfrm", "as.double"
  ),
  "it is a data frame; its columns have the numbers, with the ends of their ranges where there are any (names())."
)

# Shards of a table, which are files.
no_rows_here <- "the table is in files; x[i, ] has rows of it as a sparse matrix, dim(x) its shape."
no_meaning_of_files <- say(
  c(
    "as.matrix", "as.data.frame", "t", "mean", "median", "quantile", "summary", "plot", "image", "hist", "density",
    "with", "subset", "sort", "rev", "unique", "as.double", "xtfrm", "biplot", "scale"
  ),
  no_rows_here
)

#' @export
Summary.shards <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  stop_no_meaning(..1, .Generic, no_rows_here) # nolint: object_usage_linter.
}

#' @export
Math.shards <- function(x, ...) stop_no_meaning(x, .Generic, no_rows_here)

#' @export
Ops.shards <- function(e1, e2) {
  stop_no_meaning(if (inherits(e1, "shards")) e1 else e2, .Generic, no_rows_here) # nolint: object_usage_linter.
}

#' @export
is.matrix.shards <- never_matrix(no_rows_here)
#' @export
is.array.shards <- never_matrix(no_rows_here)
#' @export
is.numeric.shards <- never_matrix(no_rows_here)

# Generics of packages that need not be there. Their methods wait until the package is loaded.

# Of nlme, which lme4 has as its own.
no_effects <- say(c("fixef", "ranef", "VarCorr"), paste(
  "there are no fixed or random effects; coef(fit) has all parameters, predict(fit, type = \"membership\") the shares",
  "of components."
))

no_variance <- paste(
  "components have no eigenvalues and no order; select_k() shows what each number of them gains, residuals(fit) how",
  "well each cell is met."
)
no_ordination <- c(
  say(c("eigenvals", "bstick", "tolerance"), no_variance),
  say("goodness", "residuals(fit) shows how well each cell is met, recovery() how well hidden finds are found."),
  say("stressplot", "no distances are ordinated; plot(fit, \"scores\") shows sites and taxa on two components."),
  say("permutest", "select_k() and compare_models() judge by cells that are held out.")
)

# Verbs that take a data frame.
frame_verbs <- list(
  dplyr = c(
    "filter", "mutate", "transmute", "arrange", "select", "rename", "relocate", "summarise", "group_by", "slice",
    "slice_head", "slice_tail", "slice_min", "slice_max", "slice_sample", "pull", "count", "tally", "distinct",
    "left_join", "right_join", "inner_join", "full_join", "semi_join", "anti_join", "ungroup", "rename_with", "nest_by",
    "sample_n", "sample_frac", "reframe", "group_map", "do"
  ),
  tidyr = c(
    "pivot_longer", "pivot_wider", "nest", "drop_na", "unite", "separate", "expand", "complete", "gather", "spread"
  )
)
# What as.data.frame() makes one table of.
frame_classes <- c(
  "which_zeros", "multicause_selection", "multicause_cv", "multicause_comparison", "recovery", "modes", "age_profile",
  "identifiability", "alignment", "divergences"
)

# What is done when a package is loaded: methods for its generics.
met_elsewhere <- list(
  nlme = function(package) refuse(no_effects, "multicause", package),
  vegan = function(package) {
    refuse(no_ordination, "multicause", package)
    taken <- stats::setNames(rep(taken_apart, length(no_ordination)), names(no_ordination))
    refuse(taken, "which_zeros", package)
  },
  dplyr = function(package) meet_verbs(package),
  tidyr = function(package) meet_verbs(package),
  generics = function(package) {
    for (class in table_classes) refuse(no_summary_of_tables, class, package)
  },
  grid = function(package) {
    refuse(c(grid.draw = "plot(w) is a figure, as ggsave(plot = plot(w)) takes it."), "which_zeros", package)
    refuse(c(grid.draw = "plot(fit) is a figure, as ggsave(plot = plot(fit)) takes it."), "multicause", package)
  }
)

no_summary_of_tables <- say(
  c("glance", "augment"), "tidy() has it as a plain data frame; glance(), augment() are of the fit or answer itself."
)

drawn_sums <- "plot(by_taxon(fit)) and plot(by_site(fit)) draw it, with ranges."

#' @exportS3Method ggplot2::autoplot
autoplot.deficiency <- function(object, ...) { # nolint: object_name_linter.
  stop_no_meaning(object, "autoplot", drawn_sums)
}

#' @export
plot.deficiency <- function(x, ...) stop_no_meaning(x, "plot", drawn_sums)

meet_verbs <- function(package) {
  where <- asNamespace(package)
  verbs <- Filter(function(verb) exists(verb, where, inherits = FALSE), frame_verbs[[package]])
  refuse(say(verbs, no_frame), "multicause", package)
  refuse(say(verbs, no_rows_here), "shards", package)
  for (verb in verbs) {
    method <- of_frame(get(verb, where))
    for (class in frame_classes) registerS3method(verb, class, method, where)
  }
}

# A method that does what the generic does to the data frame of a result.
of_frame <- function(verb) {
  first <- names(formals(verb))[1L]
  arguments <- stats::setNames(formals(function(first, ...) NULL), c(first, "..."))
  as.function(
    c(arguments, bquote(verb(as.data.frame(.(as.name(first))), ...))), list2env(list(verb = verb), parent = topenv())
  )
}

# Registers methods that refuse: `refused` has what to use, by generic.
refuse <- function(refused, class, package) {
  where <- asNamespace(package)
  for (generic in names(refused)) {
    registerS3method(generic, class, refusal(generic, refused[[generic]], where), where)
  }
}

when_loaded <- function(package, register) {
  force(package)
  force(register)
  if (isNamespaceLoaded(package)) {
    register(package)
  } else {
    setHook(packageEvent(package, "onLoad"), function(...) register(package))
  }
}
