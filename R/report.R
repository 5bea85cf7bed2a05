#' One HTML file that tells the whole story of an answer or a fit
#'
#' Writes a self-contained HTML report. Of an answer of [which_zeros()]: the answer, how good it is on this table, where
#' most was missed, what the number rests on, and how it was reached. Of a fit: the data, how the number of components
#' was chosen, the fit, how far to trust it, and the session. For [aspect_bernoulli()] also its phantoms, age profiles,
#' the likeliest false absences, taxa and sites by what they are missing; for every other model its components, what it
#' says of each site, ages, and the cells it did not expect. Sections that do not apply are left out. Tables can
#' be sorted by a click on a column's head, and are also written as csv files. The file can be read without sight of the
#' figures, each of which has a description, and prints well. Components of the fits of an [ensemble()] are shown as
#' parts of their own fits.
#'
#' @details
#' **Text.** Names, titles and notes are shown as they are written, whatever they hold: nothing in them is taken for
#' HTML, markdown or a script. Control characters, line breaks among them, become blanks.
#'
#' **Files.** `file` and the csv files replace files of the same names; nothing else in their folders is touched. All of
#' them are put in place whole, at the end. Where one cannot be written, as on a full disk, that is an error, and what
#' was there before stays.
#'
#' **Formulas.** Spreadsheets take text that begins with `=`, `+`, `-` or `@` for a formula, which may start programs.
#' In the csv files such text gets an apostrophe before it (`'=1+1`), in heads of columns, too. So does text that begins
#' with blanks and one of these signs, with their full-width forms, with a tab or with a line break. Columns of numbers,
#' and text that is a number, stay as they are.
#'
#' @param fit a fit of a model of this package, or an answer of [which_zeros()].
#' @param file the HTML file to write; its folder must exist.
#' @param ... must be empty.
#' @param age,of ages of the sites or of the taxa, for the order of plots and for age profiles, and whose
#'   they are; see [age_profile()]. `NULL` leaves them out. For [plca()] sites are the first dimension,
#'   taxa the second. An average of fits has no use for them.
#' @param site_data a data frame on the sites, whose columns are added to the tables; see [false_absences()].
#' @param site,within names or numbers of the sites whose false absences are told, and, for a fit, which
#'   zeros can be false at all, as in [false_absences()]; `NULL` is all. Of an answer only the list of zeros is of
#'   `site` alone. Not for models without [false_absences()].
#' @param selection how the number of components was chosen, to be shown: a result of [select_k()] with AIC, or a data
#'   frame with the columns `k` and `AIC`, and `phantom` where more than one kind of fit was tried.
#' @param without for a fit with `smooth`, a fit to the same data without it, to be compared with; `NULL`: the same
#'   model without neighbours, fitted from where `fit` ended.
#' @param n how many false absences, or unexpected cells, to list.
#' @param sensitivity for an answer, what [sensitivity()] says of it, to be shown.
#' @param groups for an answer, the group of each site, such as its time slice: sums and differences are shown.
#' @param explorer path of a page that [explore()][explore.which_zeros] wrote, to be linked to; `NULL`: none. The link
#'   is relative where the page lies in the folder of the report.
#' @param title title of the report.
#' @param tables folder for the csv files, made where it is not there; `NULL` writes none.
#' @param notes character, paragraphs shown at the top, such as what was decided before the fit.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @return The path of the HTML file, invisibly. Needs package rmarkdown and pandoc (2.0 or newer). Wrong input, or
#'   either of them missing, is an error of class `multicause_input_error`.
#' @examples
#' \dontshow{if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) withAutoprint(\{}
#' \donttest{
#' w <- which_zeros(early_tetrapods$x, age = early_tetrapods$sites$age, quick = TRUE, seed = 1)
#' report(w, tempfile(fileext = ".html"), n = 20)
#' few <- fit_control(n_start = 3)
#' fit <- aspect_bernoulli(early_tetrapods$x, k = 4, phantom = "white", control = few)
#' file <- tempfile(fileext = ".html")
#' report(fit, file, age = early_tetrapods$sites$age, n = 20)
#' }
#' \dontshow{\})}
#' @export
report <- function(fit, file, ...) {
  if (missing(fit)) stop_missing("fit")
  UseMethod("report")
}

#' @rdname report
#' @export
report.default <- function(fit, file, ..., age = NULL, of = c("guess", "taxon", "site"), site_data = NULL,
                           site = NULL, within = NULL, selection = NULL, without = NULL, n = 50,
                           title = NULL, tables = NULL, notes = NULL, x = NULL, explorer = NULL) {
  check_dots(...)
  check_fit(fit)
  file <- check_report_file(file)
  n <- check_count(n, "n")
  of <- check_choice(of, "of", c("guess", "taxon", "site"))
  if (!is.null(age)) age <- middle_ages(age)
  if (!is.null(age)) of <- whose_age(age, of, table_shape(fit))
  if (inherits(selection, "multicause_selection")) selection <- selection_table(selection)
  check_selection(selection)
  check_without(without, fit)
  check_text(title, "title", 1L)
  check_text(notes, "notes")
  check_text(tables, "tables", 1L)
  link <- explorer_link(explorer, file)
  fit$x <- fit_data(fit, x)
  check_report_tools()
  if (is.null(title)) {
    title <- paste(report_question(fit), model_title(fit))
  }
  cells <- list(n = n, site = site, within = within)
  content <- with_usual_numbers(report_content(fit, age, of, site_data, selection, cells, without))
  html <- render_report("report.Rmd", list(content = content, notes = notes, title = title, link = link))
  write_files(c(stats::setNames(list(html), file), if (!is.null(tables)) table_files(content$tables, tables)))
  invisible(file)
}

check_report_file <- function(file) {
  if (missing(file)) stop_missing("file")
  if (!is.character(file) || length(file) != 1L || is.na(file) || !grepl("\\.html?$", file)) {
    stop_input("`file` must be one path that ends in .html, not %s.", show_value(file))
  }
  if (!dir.exists(dirname(file))) {
    stop_input("The folder of `file` must exist: %s does not.", dQuote(dirname(file), FALSE))
  }
  if (dir.exists(file)) stop_input("`file` must be the path of a file: %s is a folder.", dQuote(file, FALSE))
  file.path(normalizePath(dirname(file)), basename(file))
}

# What a report links to: a page that is there, beside it or elsewhere.
explorer_link <- function(explorer, file) {
  if (is.null(explorer)) {
    return(NULL)
  }
  check_text(explorer, "explorer", 1L)
  if (!file.exists(explorer) || dir.exists(explorer)) {
    stop_input("`explorer` must be a page that explore() wrote: there is no file %s.", dQuote(explorer, FALSE))
  }
  path <- normalizePath(explorer, "/")
  if (dirname(path) == normalizePath(dirname(file), "/")) {
    return(paste0("./", utils::URLencode(basename(path), reserved = TRUE)))
  }
  paste0("file:///", sub("^/", "", utils::URLencode(path)))
}

# NULL or text: `count` strings, or any number of them.
check_text <- function(x, name, count = NULL) {
  if (!is.null(x) && (!is.character(x) || anyNA(x) || !length(x) %in% c(count, if (is.null(count)) length(x)))) {
    stop_input("`%s` must be %s or NULL, not %s.", name, if (is.null(count)) "text" else "one string", show_value(x))
  }
  if (any(is_unreadable(as.character(x)))) {
    stop_input("`%s` must be text that can be read: convert it by iconv() from the encoding that it has.", name)
  }
}

# AIC of each number of components, as report() shows it.
selection_table <- function(chosen) {
  mine <- chosen$table[chosen$table$criterion == "aic" & !is.na(chosen$table$value), ]
  if (!nrow(mine)) {
    stop_input(
      "`selection` must hold AIC: call select_k() with `criterion = \"aic\"`, for a model whose fits have a likelihood."
    )
  }
  data.frame(k = mine$k, AIC = mine$value)
}

check_selection <- function(selection) {
  if (is.null(selection)) {
    return(invisible())
  }
  lacks <- setdiff(c("k", "AIC"), names(selection))
  if (!is.data.frame(selection) || length(lacks) || !nrow(selection)) {
    got <- show_value(selection)
    if (is.data.frame(selection)) got <- if (nrow(selection)) paste("one without", lacks[1L]) else "an empty one"
    stop_input("`selection` must be a data frame with rows and the numeric columns `k` and `AIC`, not %s.", got)
  }
  for (column in c("k", "AIC")) {
    if (!is.numeric(selection[[column]]) || anyNA(selection[[column]])) {
      stop_input("`selection$%s` must hold numbers, not %s.", column, show_value(selection[[column]]))
    }
  }
}

check_report_tools <- function() {
  if (!requireNamespace("rmarkdown", quietly = TRUE)) {
    stop_input("report() needs package rmarkdown: install.packages(\"rmarkdown\").")
  }
  if (!rmarkdown::pandoc_available("2.0")) {
    stop_input(
      "report() needs pandoc 2.0 or newer: see https://pandoc.org/installing.html, or use RStudio, which brings it."
    )
  }
}

# Everything the report shows, computed once; tables are what is also written as csv.
report_content <- function(fit, age, of, site_data, selection, cells, without) {
  content <- list(fit = fit, age = age, of = of, selection = selection, margins = found_margins(fit$x))
  content$tables <- list(selection = selection)
  add_content(fit, content, age, of, site_data, cells, without)
}

# The title's question, and the content with what the report of a model says of components, observations and cells.
report_question <- function(fit) UseMethod("report_question")

report_question.default <- function(fit) "What explains the table?"

add_content <- function(fit, content, age, of, site_data, cells, without) UseMethod("add_content")

add_content.default <- function(fit, content, age, of, site_data, cells, without) {
  given <- names(Filter(length, cells[c("site", "within")]))
  if (length(given)) stop_input("`%s` is for models that false_absences() takes.", given[1L])
  shown <- model_content(fit, age, of, site_data, cells$n)
  if (is_sampled(fit)) shown$quantities <- quantity_table(fit)
  content$tables <- c(content$tables, shown[c("components", "observations", "unexpected")], list(
    ages = shown$ages$aspects, age_correlations = shown$age_correlations, quantities = shown$quantities
  ))
  c(content, shown)
}

with_names <- function(values, what) {
  names <- if (is.null(rownames(values))) seq_len(nrow(values)) else rownames(values)
  stats::setNames(data.frame(names, values, check.names = FALSE, row.names = NULL), c(what, colnames(values)))
}

# A table as HTML: a caption, heads with a scope and in the user's words, numbers rounded, text escaped.
html_table <- function(table, caption, rows = Inf, words = c("sites", "taxa")) {
  table <- as.data.frame(unclass(table), check.names = FALSE)
  names(table) <- side_heads(names(table), words)
  more <- nrow(table) - min(rows, nrow(table))
  table <- utils::head(table, min(rows, nrow(table)))
  cells <- vapply(table, function(column) {
    html_escape(if (is.double(column)) format_column(column) else as.character(column))
  }, character(nrow(table)))
  dim(cells) <- dim(table)
  kind <- ifelse(vapply(table, is.numeric, NA), " class=\"number\"", "")
  head <- paste0("<th scope=\"col\"", kind, ">", html_escape(names(table)), "</th>", collapse = "")
  body <- apply(cells, 1L, function(row) paste0("<td", kind, ">", row, "</td>", collapse = ""))
  raw_html(
    "<table class=\"sortable\"><caption>", html_escape(caption),
    if (more > 0L) sprintf(" (%s not shown)", count_words(more, "more row")),
    "</caption>\n<thead><tr>", head, "</tr></thead>\n",
    "<tbody>\n", paste0("<tr>", body, "</tr>", collapse = "\n"),
    "\n</tbody></table>\n"
  )
}

# Numbers of a column with as many decimals as give the largest three figures, one to three of them; none if all are
# whole. What is not zero but would round to it is shown as such.
format_column <- function(x) {
  size <- max(abs(x[is.finite(x)]), 0)
  whole <- all(!is.finite(x) | x == round(x))
  decimals <- if (whole) 0L else if (size <= 1) 3L else as.integer(max(1, 2 - floor(log10(size))))
  text <- formatC(x, digits = decimals, format = "f", width = 1L)
  small <- which(x != 0 & abs(x) < 0.5 * 10^-decimals & abs(x) > 1e-12)
  text[small] <- paste0(c("< ", "> -")[1L + (x[small] < 0)], format(10^-decimals, scientific = FALSE))
  text[which(abs(x) <= 1e-12)] <- "0"
  text[is.na(x)] <- ""
  text
}

# What the pages of inst/report write with. In markdown: for our own words and numbers only; what may hold a user's
# words goes into as_html().
paragraph <- function(...) cat("\n\n", paste(...), "\n\n", sep = "")
heading <- function(text) cat("\n\n## ", text, "\n\n", sep = "")
as_html <- function(tag, text) cat(raw_html(paste0("<", tag, ">", html_escape(text), "</", tag, ">", collapse = "\n")))
as_printed <- function(what) {
  cat(raw_html("<pre>", paste(html_escape(utils::capture.output(what)), collapse = "\n"), "</pre>"))
}
as_link <- function(link) {
  cat(raw_html("<p><a href=\"", html_escape(link), "\">Look around in it: heat map, list, time and map</a></p>"))
}
as_notes <- function(notes) {
  cat(raw_html("<div class=\"note\">", paste0("<p>", html_escape(notes), "</p>", collapse = "\n"), "</div>"))
}

# HTML that pandoc must leave as it is. All text from data and users goes through html_escape() into such HTML, never
# into markdown, where more characters have a meaning than can be escaped.
raw_html <- function(...) paste0("\n\n```{=html}\n", ..., "\n```\n\n")

# Text as HTML shows it as written, also within quoted attributes. Without line breaks and backticks it cannot end the
# block of raw_html() that it stands in.
html_escape <- function(text) {
  text <- without_controls(as_utf8(enc2utf8(text)))
  text[is.na(text)] <- ""
  escapes <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "'" = "&#39;", "`" = "&#96;")
  for (each in names(escapes)) text <- gsub(each, escapes[[each]], text, fixed = TRUE)
  text
}
