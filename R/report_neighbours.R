# What neighbours change in a fit of aspect_bernoulli(): for the report.

check_without <- function(without, fit) {
  if (is.null(without)) {
    return(invisible())
  }
  check_fit(without, name = "without")
  if (any(without$dims[c("n", "m")] != fit$dims[c("n", "m")]) || !identical(without$names, fit$names)) {
    stop_input("`without` must be a fit to the data of `fit`: shape or names differ.")
  }
}

# list(table, n, shared, correlation, smooth, held_out): which of the n likeliest false absences enter and leave the
# list because of neighbours, in order of how far they move; how many are in both; the rank correlation over all
# zeros; the loss on held-out cells.
neighbour_effect <- function(fit, without, n) {
  # A report draws no random numbers of the session's.
  if (is.null(without)) without <- with_seed(1L, fit_without(fit))
  zeros <- which(dense_rows(fit$x, seq_len(fit$dims[["n"]])) == 0)
  with <- presence_probability(fit)[zeros]
  plain <- presence_probability(without)[zeros]
  rank_with <- rank(-with, ties.method = "first")
  rank_plain <- rank(-plain, ties.method = "first")
  moved <- which((rank_with <= n) != (rank_plain <= n))
  moved <- moved[order(rank_with[moved] > n, pmin(rank_with[moved], rank_plain[moved]))]
  row <- (zeros[moved] - 1L) %% fit$dims[["n"]] + 1L
  column <- (zeros[moved] - 1L) %/% fit$dims[["n"]] + 1L
  name <- function(at, side) if (is.null(fit$names[[side]])) at else fit$names[[side]][at]
  list(
    table = data.frame(
      change = ifelse(rank_with[moved] <= n, "enters", "leaves"), site = name(row, 1L),
      taxon = name(column, 2L), rank_without = rank_plain[moved], rank_with = rank_with[moved],
      probability_without = plain[moved], probability_with = with[moved]
    ),
    n = min(n, length(zeros)), shared = sum(rank_with <= n & rank_plain <= n),
    correlation = stats::cor(with, plain, method = "spearman"), smooth = fit$smooth, held_out = held_out_gain(fit)
  )
}

# The same model without neighbours, from where the fit ended.
fit_without <- function(fit) {
  control <- fit_control(n_start = 1, max_pass = 2000, tol = 1e-8, progress = FALSE)
  start <- lapply(fit$param, unname)
  # Off exact bounds: what neighbours drove to 0 may come back without them.
  start$membership <- 0.99 * start$membership + 0.01 / fit$dims[["k"]]
  quiet_fit(stats::update(fit, smooth = NULL, start = start, control = control))$value
}

# The problem of a fit, to be fitted anew to a part of its data.
refit_problem <- function(fit) UseMethod("refit_problem")

refit_problem.default <- function(fit) fit_problem(fit, fit$x)

held_out_most <- 1e6 # cells of a table whose held-out cells are still worth the report's time

# c(without, with, gain, se): mean loss of held-out cells, nats a cell, and what neighbours gain with its standard error
# over folds; NULL for a large table.
held_out_gain <- function(fit) {
  if (as.double(fit$dims[["n"]]) * fit$dims[["m"]] > held_out_most || fit$smooth$strength == 0) {
    return(NULL)
  }
  loss <- with_seed(1L, held_out_loss(refit_problem(fit), fit$smooth, fit_control(progress = FALSE)))
  without <- loss(fit$smooth$bandwidth, 0)
  with <- loss(fit$smooth$bandwidth, fit$smooth$strength)
  gain <- without - with
  c(
    without = mean(without), with = mean(with), gain = mean(gain), se = stats::sd(gain) / sqrt(length(gain))
  )
}

# A paragraph for the report.
neighbour_sentences <- function(effect) {
  if (effect$smooth$strength == 0) {
    return("Neighbours were given, but held-out cells chose strength 0: they change nothing in this fit.")
  }
  held <- effect$held_out
  paste(c(
    sprintf(
      "Sites near each other share their communities in this fit. Of its %d likeliest false absences, %d are among",
      effect$n, effect$shared
    ),
    sprintf(
      "those of the fit without neighbours, too; over all zeros the rank correlation is %.2f.", effect$correlation
    ),
    if (!is.null(held)) {
      sprintf(
        "Hidden cells lose %.4f without and %.4f with neighbours (mean negative log-likelihood; gain %.4f, %s %.4f).",
        held[["without"]], held[["with"]], held[["gain"]], "standard error over folds", held[["se"]]
      )
    },
    if (!is.null(effect$smooth$given$age)) {
      paste(
        "**Sites that are dated by their faunas** use the fauna twice: a taxon that fits the age is then expected with",
        "more confidence than the evidence has, and hidden cells do not show it, as the sites were dated with them.",
        "Compare with a fit by independent ages, or by place alone."
      )
    }
  ), collapse = " ")
}
