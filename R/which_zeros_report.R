# report() of an answer of which_zeros(): its tables; the page is inst/report/which_zeros.Rmd.

#' @rdname report
#' @export
report.which_zeros <- function(fit, file, ..., # nolint: object_name_linter.
                               sensitivity = NULL, groups = NULL, site_data = NULL, site = NULL, n = 50,
                               title = NULL, tables = NULL, notes = NULL, explorer = NULL) {
  check_dots(...)
  file <- check_report_file(file)
  n <- check_count(n, "n")
  if (!is.null(sensitivity)) {
    if (!inherits(sensitivity, "which_zeros_sensitivity")) {
      stop_input("`sensitivity` must come from sensitivity(), not be %s.", show_value(sensitivity))
    }
    expected <- c(sensitivity$table$missed[1L], fit$total[["missed"]])
    if (!isTRUE(all.equal(expected[1L], expected[2L]))) {
      stop_input(
        "`sensitivity` must be of this answer: it is of one that expects %s false absences, not %s.",
        show_count(expected[1L]), show_count(expected[2L])
      )
    }
  }
  check_text(title, "title", 1L)
  check_text(notes, "notes")
  check_text(tables, "tables", 1L)
  link <- explorer_link(explorer, file)
  check_report_tools()
  if (is.null(title)) title <- "Which zeros are false?"
  answer <- with_usual_numbers(answer_tables(fit, groups, site_data, site, n))
  content <- list(w = fit, sensitivity = sensitivity, tables = answer)
  html <- render_report("which_zeros.Rmd", list(content = content, notes = notes, title = title, link = link))
  csv <- if (!is.null(tables)) {
    table_files(c(content$tables, list(all_zeros = as.data.frame(fit), sensitivity = sensitivity$table)), tables)
  }
  write_files(c(stats::setNames(list(html), file), csv))
  invisible(file)
}

# What the report shows as tables, and writes as csv files.
answer_tables <- function(w, groups, site_data, site, n) {
  plain <- function(x) as.data.frame(unclass(x), check.names = FALSE)
  rows <- pick(site, w$dims[["n"]], w$names[[1L]], "site")
  zeros <- as.data.frame(w, n = n, site = if (!is.null(site)) rows)
  by_site <- plain(most_first(by_site(w)))
  if (!is.null(site_data)) {
    row <- match(by_site$site, label_of(seq_len(w$dims[["n"]]), w$names[[1L]]))
    joined <- site_columns(site_data, w, row, names(by_site))
    by_site <- data.frame(by_site, joined, check.names = FALSE, row.names = NULL)
  }
  several <- length(unique(groups[!is.na(groups)])) > 1L
  list(
    how_many = w$how_many, zeros = zeros, sites = by_site, taxa = plain(most_first(by_taxon(w))),
    groups = if (!is.null(groups)) plain(by_site(w, groups = groups)),
    differences = if (several) plain(contrast(w, groups)),
    quality = w$quality[c("learner", "auc", "auc_se", "auc_within", "auc_within_se", "ap", "ap_se")],
    weights = w$weights
  )
}
