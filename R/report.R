#' One HTML file that tells the whole story of a fit
#'
#' Writes a self-contained HTML report: the data, how the number of components was chosen, the fit and its phantoms,
#' age profiles, the likeliest false absences, taxa and sites by what they are missing, how far to trust it, and the
#' session. Sections that do not apply to the model are left out. Tables can be sorted by a click on a column's head,
#' and are also written as csv files.
#'
#' @param fit a fit of a model of this package.
#' @param file the HTML file to write; its folder must exist.
#' @param ... must be empty.
#' @param age ages of the observations (or attributes) in million years, for the order of plots and for age profiles;
#'   see [age_profile()]. `NULL` leaves them out.
#' @param sites a data frame on the observations, whose columns are added to the tables; see [false_absences()].
#' @param selection how the number of components was chosen, to be shown: a data frame with the columns `k` and `AIC`,
#'   and `phantom` where more than one kind of fit was tried.
#' @param n how many false absences to list.
#' @param title title of the report.
#' @param tables folder for the csv files, made where it is not there; `NULL` writes none.
#' @param notes character, paragraphs shown at the top, such as what was decided before the fit.
#' @param x the data, where the fit was made with `keep_x = FALSE`.
#' @return The path of the HTML file, invisibly. Needs package rmarkdown and pandoc.
#' @examples
#' \dontshow{if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) withAutoprint(\{}
#' \donttest{
#' fit <- aspect_bernoulli(early_tetrapods$x, k = 4, phantom = "white", control = fit_control(n_start = 3))
#' file <- tempfile(fileext = ".html")
#' report(fit, file, age = early_tetrapods$sites$age, n = 20)
#' }
#' \dontshow{\})}
#' @export
report <- function(fit, file, ..., age = NULL, sites = NULL, selection = NULL, n = 50, title = NULL, tables = NULL,
                   notes = NULL, x = NULL) {
  check_dots(...)
  check_fit(fit)
  file <- check_report_file(file)
  n <- check_count(n, "n")
  if (!is.null(age)) observation_ages(fit, age)
  check_selection(selection)
  check_report_tools()
  if (is.null(title)) title <- sprintf("Which zeros are real? %s", model_title(fit))
  content <- report_content(fit, age, sites, selection, n, x)
  if (!is.null(tables)) write_tables(content$tables, tables)
  work <- tempfile("report")
  dir.create(work)
  on.exit(unlink(work, recursive = TRUE))
  file.copy(list.files(system.file("report", package = "multicause"), full.names = TRUE), work)
  rmarkdown::render(
    file.path(work, "report.Rmd"), output_file = basename(file), output_dir = dirname(file), quiet = TRUE,
    intermediates_dir = work, knit_root_dir = work, envir = new.env(parent = asNamespace("multicause")),
    params = list(content = content, title = title, notes = notes),
    output_options = list(pandoc_args = c("--metadata", paste0("pagetitle=", title)))
  )
  invisible(file)
}

check_report_file <- function(file) {
  if (!is.character(file) || length(file) != 1L || is.na(file) || !grepl("\\.html?$", file)) {
    stop_input("`file` must be one path that ends in .html, not %s.", show_value(file))
  }
  if (!dir.exists(dirname(file))) stop_input("The folder of `file` must exist: %s does not.", dQuote(dirname(file), FALSE))
  file.path(normalizePath(dirname(file)), basename(file))
}

check_selection <- function(selection) {
  if (!is.null(selection) && (!is.data.frame(selection) || !all(c("k", "AIC") %in% names(selection)))) {
    stop_input("`selection` must be a data frame with the columns `k` and `AIC`, not %s.", show_value(selection))
  }
}

check_report_tools <- function() {
  if (!requireNamespace("rmarkdown", quietly = TRUE)) {
    stop_input("report() needs package rmarkdown: install.packages(\"rmarkdown\").")
  }
  if (!rmarkdown::pandoc_available("1.12.3")) {
    stop_input("report() needs pandoc: see https://pandoc.org/installing.html, or use RStudio, which brings it.")
  }
}

# Everything the report shows, computed once; tables are what is also written as csv.
report_content <- function(fit, age, sites, selection, n, x) {
  content <- list(fit = fit, age = age, selection = selection)
  content$tables <- list(selection = selection)
  if (inherits(fit, "aspect_bernoulli")) {
    content$phantoms <- phantoms(fit)
    content$false_absences <- false_absences(fit, n, sites = sites, x = x)
    content$taxa <- deficiency(fit, "attribute", x = x)
    content$sites <- deficiency(fit, "observation", x = x)
    if (!is.null(age)) content$ages <- age_profile(fit, age)
    content$tables <- c(content$tables, list(
      phantoms = content$phantoms, false_absences = content$false_absences, deficiency_taxa = content$taxa,
      deficiency_sites = content$sites, aspects = with_names(t(fit$param$aspects), "attribute"),
      membership = with_names(fit$param$membership, "observation")
    ))
  }
  content
}

with_names <- function(values, what) {
  names <- if (is.null(rownames(values))) seq_len(nrow(values)) else rownames(values)
  stats::setNames(data.frame(names, values, check.names = FALSE, row.names = NULL), c(what, colnames(values)))
}

write_tables <- function(tables, folder) {
  if (!is.character(folder) || length(folder) != 1L) {
    stop_input("`tables` must be one path or NULL, not %s.", show_value(folder))
  }
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE)) {
    stop_input("`tables` must be a folder that can be made: %s cannot.", dQuote(folder, FALSE))
  }
  for (name in names(Filter(Negate(is.null), tables))) {
    utils::write.csv(tables[[name]], file.path(folder, paste0(name, ".csv")), row.names = FALSE, fileEncoding = "UTF-8")
  }
}

# A table as HTML: a caption, heads with a scope, numbers rounded to `digits` significant figures, text escaped.
html_table <- function(table, caption, digits = 3L, rows = Inf) {
  table <- as.data.frame(unclass(table), check.names = FALSE)
  more <- nrow(table) - min(rows, nrow(table))
  table <- utils::head(table, min(rows, nrow(table)))
  cells <- vapply(table, function(column) {
    if (is.double(column)) format_cells(column, digits) else html_escape(as.character(column))
  }, character(nrow(table)))
  dim(cells) <- dim(table)
  kind <- ifelse(vapply(table, is.numeric, NA), " class=\"number\"", "")
  head <- paste0("<th scope=\"col\"", kind, ">", html_escape(names(table)), "</th>", collapse = "")
  body <- apply(cells, 1L, function(row) paste0("<td", kind, ">", row, "</td>", collapse = ""))
  paste0(
    "<table class=\"sortable\"><caption>", caption, if (more > 0L) sprintf(" (%d more rows not shown)", more),
    "</caption>\n<thead><tr>", head, "</tr></thead>\n<tbody>\n", paste0("<tr>", body, "</tr>", collapse = "\n"),
    "\n</tbody></table>\n"
  )
}

# Significant figures, but never more than they need, and whole numbers in full.
format_cells <- function(x, digits) {
  x[which(abs(x) < 1e-12)] <- 0
  ifelse(is.na(x), "", ifelse(x == round(x) & abs(x) < 1e6, formatC(x, format = "d"), formatC(x, digits = digits, format = "g", flag = "#")))
}

html_escape <- function(text) {
  text[is.na(text)] <- ""
  gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)
}
