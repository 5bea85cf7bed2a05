# What noisy-OR's fit and its sampler share: the problem, the order of sources, their table.

# Defines the problem that starts.R works on. Equal rows are merged, unless starting values or data distinguish them.
nor_problem <- function(data, k, surplus, model, start, control) {
  known <- data[c("known", "effort", "visits")]
  distinct <- if (is.null(start$q) && !any(lengths(known))) {
    .Call(mc_c_view_distinct, data$view)
  } else {
    c(list(view = data$view, group = seq_len(nrow(data$x)), weight = NULL), known)
  }
  if (!is.null(start$q)) start$hidden <- nor_hidden_q(start)
  if (!is.null(start)) start <- nor_first_recorded(start, ncol(data$x), model)
  if (!is.null(start)) nor_refuse_impossible(start, data, distinct, model)
  structure(
    list(data = data, distinct = distinct, k = k, surplus = surplus, model = model, start = start, control = control),
    class = c("noisy_or_problem", "multicause_problem")
  )
}

# Refuses starting values under which a row has probability zero, and names the row if it can be found.
nor_refuse_impossible <- function(start, data, distinct, model) {
  if (model$inference == "variational") {
    return(invisible())
  }
  loglik <- nor_report(distinct, start, model, "loglik")$loglik
  bad <- which(loglik[distinct$group] == -Inf)
  if (length(bad)) {
    stop_input(
      "`start` has probability 0 for %s: %s. Move its links or leaks away from exact 0 and 1.",
      count_words(length(bad), "row"),
      paste(vapply(utils::head(bad, 5L), function(at) place_words(data$x, 1L, at), ""), collapse = ", ")
    )
  }
}

# Returns theta = -log(1 - p) within the kernel's bounds, and q at every one. on: k x 10 n, with recording, activations
# at each probability; NULL: the prior.
nor_hidden_q <- function(param, on = NULL) {
  theta <- function(p, least) pmin(pmax(-log1p(-p), least), 30)
  list(links = theta(param$links, 0), leak = theta(param$leak, 1e-6), q = as.vector(param$q), on = on)
}

nor_take_sources <- function(param, which) {
  list(
    prior = param$prior[which], links = param$links[which, , drop = FALSE], leak = param$leak,
    recorded_share = param$recorded_share, recorded_taxon = param$recorded_taxon, coef = param$coef
  )
}

# Orders sources by the expected number of ones they write, most first.
nor_reorder <- function(param) {
  at <- order(-param$prior * rowSums(param$links))
  if (!is.null(param$activation)) param$activation <- param$activation[, at, drop = FALSE]
  param <- utils::modifyList(param, nor_take_sources(param, at))
  param["hidden"] <- list(NULL) # what runs went on from knows components by number
  param
}

validate_noisy_or <- function(fit) {
  p <- fit$param
  d <- fit$dims
  inside <- function(x) all(x >= 0 & x <= 1)
  stopifnot(
    length(p$prior) == d[["k"]], has_dims(p$links, fit, c("k", "m")), length(p$leak) == d[["m"]],
    has_dims(p$activation, fit, c("n", "k")), inside(p$prior), inside(p$links), inside(p$leak),
    inside(p$activation), inside(c(p$recorded_site, p$recorded_share, p$recorded_taxon))
  )
  fit
}

source_table <- function(fit, min_prior = 0.02, min_link = 0.2) {
  links <- fit$param$links
  on <- colSums(fit$param$activation)
  strongest <- apply(links, 1L, max)
  out <- data.frame(
    source = names(fit$param$prior), prior = unname(fit$param$prior), on = unname(on), max_link = unname(strongest),
    ones = unname(on * rowSums(links)), top = unname(top_names(fit)),
    in_use = unname(fit$param$prior >= min_prior & strongest >= min_link)
  )
  structure(out, class = c("noisy_or_sources", "data.frame"))
}
