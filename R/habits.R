# Generics that users of other packages call on fits, answers and results: where they have no meaning, an error that
# says what has. Whoever calls, the answer is the same. Those of package stats that every fit has are in R/generics.R.

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

# Tables of what is missed: by_site(), by_taxon(), contrast(), deficiency() and the like. They are data frames.
table_classes <- c(
  "which_zeros_sums", "which_zeros_contrast", "deficiency", "false_absences", "false_presences", "phantoms"
)
# Some rows or columns of such a table, as of subset(): what it says of itself stays, which data frames drop.
#' @export
`[.false_absences` <- function(x, ...) {
  out <- NextMethod()
  if (!is.data.frame(out)) {
    return(out)
  }
  lost <- attributes(x)[setdiff(names(attributes(x)), names(attributes(out)))]
  attributes(out) <- c(attributes(out), lost)
  out
}
#' @export
`[.false_presences` <- `[.false_absences`
#' @export
`[.which_zeros_contrast` <- `[.false_absences`
#' @export
`[.which_zeros_sums` <- `[.false_absences`

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
