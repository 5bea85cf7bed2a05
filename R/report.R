#' An HTML report of a result or a fit
#'
#' Writes a self-contained HTML report of a result of [which_zeros()], with its quality, the sites and taxa with most
#' undetected presences, and the evidence for the total, or of a fit of any model, with its components and its false
#' absences or unexpected cells. Both are R Markdown documents that you can copy and edit; sections that do not apply
#' are left out.
#' @details
#' **Your own report.** `rmarkdown::draft("my.Rmd", template = "which_zeros", package = "multicause")` copies the
#' document for a result, `template = "fit"` that for a fit. Edit the copy, and make the report by
#' `report(w, "my.html", template = "my.Rmd")`, or as any R Markdown document by
#' `rmarkdown::render("my.Rmd", params = list(answer = w))`, of a fit `list(fit = fit)`.
#'
#' `report_format()` is the output format of the documents. Figures have two sizes, for wide screens and for telephones,
#' and alternative text. Data frames become tables that are sorted by a click on a column's head. For a table the chunk
#' option `rows` sets the number of rows shown, `tab.cap` the caption. Text of inline code is shown as it is written, a
#' paragraph for each string.
#'
#' **Parameters** of the documents, in `...` or in `params`:
#' \describe{
#'   \item{`n`}{how many zeros, false absences or unexpected cells to list.}
#'   \item{`site`}{names or numbers of the sites whose zeros are listed; for a fit with `within`, the sites whose false
#'     absences are listed, see [false_absences()].}
#'   \item{`site_data`}{a data frame on the sites, whose columns are added to a table: row names are those of the sites,
#'     or rows are in their order.}
#'   \item{`groups`, `sensitivity`}{for a result: the group of each site, such as its time slice, for sums and
#'     differences; and its [sensitivity()].}
#'   \item{`unit`}{for a result: the unit of its ages, if the columns of `age` do not name it, as in
#'     [plot.which_zeros()].}
#'   \item{`age`, `of`}{of a fit that [age_profile()] takes: ages of the sites or of the taxa, and whose they are.}
#'   \item{`selection`}{of a fit: how the number of components was chosen, a result of [select_k()] or a data frame.}
#'   \item{`without`}{of a fit with `smooth`: one to the same data without it, to be compared with; else it is made.}
#' }
#'
#' **Text.** Names, titles and notes are shown as they are written: nothing in them is taken for HTML, markdown or a
#' script. Control characters, line breaks among them, become blanks.
#'
#' **Files.** `file` and the csv files replace files of the same names; nothing else in their folders is touched. They
#' are put in place whole, at the end. If one cannot be written, as on a full disk, or the document fails, there is an
#' error, and existing files stay.
#'
#' **Formulas.** Spreadsheets take text that begins with `=`, `+`, `-` or `@` for a formula, which may start programs.
#' In the csv files such text gets an apostrophe before it (`'=1+1`), in heads of columns, too. So does text that begins
#' with blanks and one of these signs, with their full-width forms, with a tab or with a line break. Columns of numbers,
#' and text that is a number, stay as they are.
#'
#' @param fit a fit of a model of this package, or a result of [which_zeros()].
#' @param file the HTML file to write, with `.html` added where it has no ending; its folder must exist.
#' @param ... of `report()`, parameters of the document, see Details; of `report_format()`, arguments of
#'   [rmarkdown::html_document()], such as `toc`.
#' @param title title of the report.
#' @param notes character, paragraphs shown at the top, such as decisions made before the fit.
#' @param tables folder for the tables as csv files, named by the chunks that show them; `NULL` writes none. It is made
#'   if it does not exist.
#' @param explorer path of a page that [explore()][explore.which_zeros] wrote, to be linked to; `NULL`: none. The link
#'   is relative where the page lies in the folder of the report.
#' @param template path of a document of your own; `NULL`: that of the package.
#' @param x the data, where the fit was made with `keep_x = FALSE`; rows and columns are matched by name.
#' @return The path of the HTML file, invisibly. Needs package rmarkdown and pandoc (2.0 or newer). Wrong input, or
#'   either of them missing, is an error of class `multicause_input_error`. `report_format()` returns an output format.
#' @examples
#' \dontshow{if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) withAutoprint(\{}
#' \donttest{
#' ages <- early_tetrapods$sites[c("max_ma", "min_ma")]
#' w <- which_zeros(early_tetrapods$x, age = ages, quick = TRUE, seed = 1)
#' report(w, tempfile(fileext = ".html"), n = 20)
#' few <- fit_control(n_start = 3)
#' fit <- aspect_bernoulli(early_tetrapods$x, k = 4, phantom = "white", control = few)
#' report(fit, tempfile(fileext = ".html"), age = early_tetrapods$sites$age, n = 20)
#' }
#' \dontshow{\})}
#' @export
report <- function(fit, file, ..., title = NULL, notes = NULL, tables = NULL, explorer = NULL, template = NULL,
                   x = NULL) {
  check_given(fit)
  file <- check_report_file(file)
  for (name in c("title", "tables", "template")) check_text(get(name), name, 1L)
  check_text(notes, "notes")
  explorer <- explorer_link(explorer, file)
  of_answer <- inherits(fit, "which_zeros")
  if (!of_answer) {
    check_fit(fit)
    fit$x <- fit_data(fit, x)
  }
  if (!nzchar(Sys.getenv("HOME"))) { # pandoc wants one
    Sys.setenv(HOME = tempdir())
    on.exit(Sys.unsetenv("HOME"))
  }
  check_report_tools()
  if (is.null(title) && is.null(template) && !of_answer) title <- model_title(fit)
  told <- list(fit, title, notes, explorer)
  names(told) <- c(if (of_answer) "answer" else "fit", "title", "notes", "explorer")
  kind <- if (of_answer) "which_zeros" else "fit"
  page <- template %||%
    system.file("rmarkdown", "templates", kind, "skeleton", "skeleton.Rmd", package = "multicause")
  params <- check_params(page, list(...), told)
  made <- render_report(page, params, !is.null(tables))
  write_files(c(stats::setNames(list(made$html), file), if (!is.null(tables)) in_folder(made$tables, tables)))
  invisible(file)
}

# Checks the parameters for a document, which must declare all of them.
check_params <- function(page, given, told) {
  if (!file.exists(page)) {
    stop_input("`template` must be an R Markdown document: there is no file %s.", dQuote(page, FALSE))
  }
  if (length(given) && (is.null(names(given)) || any(!nzchar(names(given))))) {
    stop_input("All but `fit` and `file` must be supplied by name.")
  }
  params <- c(given, Filter(Negate(is.null), told))
  known <- names(knitr::knit_params(readLines(page, encoding = "UTF-8", warn = FALSE)))
  unknown <- setdiff(names(params), known)
  if (length(unknown)) {
    code <- function(x) sprintf("`%s`", x)
    hint <- meant_words(unknown[1L], known, code)
    if (hint == ".") hint <- sprintf(": this document takes %s.", paste(code(known), collapse = ", "))
    stop_input("Unknown argument `%s`%s", unknown[1L], hint)
  }
  params
}

check_report_file <- function(file) {
  if (missing(file)) stop_missing("file")
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    stop_input("`file` must be one path that ends in .html, not %s.", show_value(file))
  }
  if (dir.exists(file)) stop_input("`file` must be the path of a file: %s is a folder.", dQuote(file, FALSE))
  ending <- tools::file_ext(file)
  if (!nzchar(ending)) {
    file <- paste0(file, ".html")
  } else if (!tolower(ending) %in% c("htm", "html")) {
    stop_input("`file` must be one path that ends in .html, not %s.", show_value(file))
  }
  if (!dir.exists(dirname(file))) {
    stop_input("The folder of `file` must exist: %s does not.", dQuote(dirname(file), FALSE))
  }
  file.path(normalizePath(dirname(file)), basename(file))
}

# Returns the link of a report to an existing page, beside it or elsewhere.
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

#' @rdname report
#' @export
report_format <- function(...) {
  check_report_tools()
  part <- function(name) system.file("report", name, package = "multicause")
  own <- list(
    theme = NULL, highlight = NULL, mathjax = NULL, css = part("report.css"),
    includes = rmarkdown::includes(in_header = part("sort.html"))
  )
  format <- do.call(rmarkdown::html_document, utils::modifyList(own, list(...), keep.null = TRUE))
  format$knitr$opts_chunk <- utils::modifyList(as.list(format$knitr$opts_chunk), list(
    echo = FALSE, message = FALSE, warning = FALSE, comment = "", fig.height = 5, render = show_result
  ))
  format$knitr$knit_hooks <- list(
    inline = as_written_text, output = show_print, document = function(text) c(text, end_mark)
  )
  format
}

# Marks the end of a completely knitted document.
end_mark <- "\n\n<div id=\"end-of-report\"></div>\n"

# Shows the value of a chunk: figures in two sizes, data frames as tables, calls without their data, nothing for NULL,
# anything else as it prints.
show_result <- function(x, options) {
  if (is.null(x)) {
    return(knitr::asis_output(""))
  }
  if (is.call(x)) {
    return(paste(call_lines(x), collapse = "\n"))
  }
  if (ggplot2::is.ggplot(x)) {
    return(knitr::asis_output(figure_html(x, options$fig.height)))
  }
  if (!is.data.frame(x)) {
    return(knitr::knit_print(x))
  }
  told <- knitr::knit_global()$params
  if (!is.null(told$tables)) {
    dir.create(told$tables, showWarnings = FALSE, recursive = TRUE)
    write_files(stats::setNames(list(csv_bytes(x)), file.path(told$tables, paste0(options$label, ".csv"))))
  }
  of <- told$fit %||% told$answer
  words <- if (is.null(of)) c("sites", "taxa") else axis_words(of)
  knitr::asis_output(html_table(x, options$tab.cap %||% "", options$rows %||% Inf, words))
}

# Returns the lines of a call, whose data are named by their kind and size.
call_lines <- function(call) {
  lines <- deparse(short_values(call), width.cutoff = 80L)
  gsub("`(<[^`]*>)`", "\\1", lines)
}

# Replaces long values of a call or value by symbols: `<a data frame with 129 rows and 2 columns>`.
short_values <- function(x) {
  if (is.function(x)) {
    exported <- mget(getNamespaceExports("multicause"), asNamespace("multicause"), mode = "function", ifnotfound = NA)
    name <- names(Filter(function(f) identical(f, x), exported))
    return(as.name(if (length(name)) name[1L] else "<a function>"))
  }
  if (is.call(x) || is.list(x) && !is.object(x)) {
    is_empty <- function(part) identical(part, quote(expr = )) # nolint: spaces_inside_linter.
    parts <- lapply(as.list(x), function(part) if (is_empty(part)) part else short_values(part))
    return(if (is.call(x)) as.call(parts) else as.call(c(quote(list), parts)))
  }
  if (is.symbol(x) || is.atomic(x) && !is.object(x) && is.null(dim(x)) && length(x) < 9L) {
    return(x)
  }
  as.name(sprintf("<%s>", show_value(x)))
}

# Embeds a figure with its alternative text, which may hold a user's words, in two sizes: for wide screens, and for
# telephones, on which letters of a 7-inch figure would be illegible. The page shows one of them.
figure_html <- function(figure, height) {
  said <- html_escape(ggplot2::get_alt_text(figure))
  sizes <- list(wide = c(7, height), narrow = c(4.2, max(0.8 * height, 3)))
  pictures <- vapply(names(sizes), function(kind) {
    file <- tempfile(fileext = ".png")
    on.exit(remove_files(file))
    size <- sizes[[kind]]
    ggplot2::ggsave(file, figure, width = size[1L], height = size[2L], dpi = 144)
    expect_whole(is_whole_png(file))
    sprintf(
      "<img class=\"%s\" src=\"%s\" alt=\"%s\" width=\"%.0f\">", kind, knitr::image_uri(file), said, 144 * size[1L]
    )
  }, "")
  do.call(raw_html, as.list(c("<p>", pictures, "</p>")))
}

# Shows printed output as knitr does, without control characters, which users' names may hold.
show_print <- function(text, options) {
  lines <- without_controls(strsplit(paste(text, collapse = ""), "\n", fixed = TRUE)[[1L]])
  knitr::hooks_markdown()$output(paste0(paste(lines, collapse = "\n"), "\n"), options)
}

# Escapes text of inline code in a document: every sign with a possible meaning becomes its number; several strings are
# paragraphs.
as_written_text <- function(text) {
  text <- unbroken(trimws(gsub("[[:space:]]+", " ", without_controls(as_utf8(enc2utf8(as.character(text)))))))
  at <- gregexpr("[!-/:-@[-`{-~]", text, perl = TRUE)
  numbered <- function(signs) sprintf("&#%d;", vapply(signs, utf8ToInt, 0L))
  regmatches(text, at) <- lapply(regmatches(text, at), numbered)
  paste(text, collapse = "\n\n")
}

# Formats a table as HTML: a caption, heads with a scope and in the user's words, numbers rounded, text escaped.
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

# Formats a column of numbers with as many decimals as give the largest three figures, one to three of them; none if all
# are whole. Nonzero values that would round to 0 are shown as such.
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

# Marks HTML that pandoc must not change. All text from data and users goes through html_escape() into such HTML, never
# into markdown, where more characters have a meaning than can be escaped.
raw_html <- function(...) paste0("\n\n```{=html}\n", ..., "\n```\n\n")

# Escapes text for HTML, also within quoted attributes. Without line breaks and backticks it cannot end the block of
# raw_html() around it.
html_escape <- function(text) {
  text <- without_controls(as_utf8(enc2utf8(text)))
  text[is.na(text)] <- ""
  escapes <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "'" = "&#39;", "`" = "&#96;")
  for (each in names(escapes)) text <- gsub(each, escapes[[each]], text, fixed = TRUE)
  text
}

# Writes the files of a report: made in a separate folder, checked, and put in place all together or not at all.

# Renders a document: list(html: its bytes, tables: those of its csv files, by name). No name from the user enters
# pandoc's command line, which a shell interprets.
render_report <- function(page, params, tables) {
  work <- tempfile("report")
  dir.create(work)
  attached <- search()
  on.exit({
    remove_folders(work)
    for (each in setdiff(search(), attached)) detach(each, character.only = TRUE)
  })
  folder <- file.path(work, "tables")
  if (tables) params$tables <- folder
  # A document must not change the session's random numbers.
  path <- with_seed(1L, with_usual_numbers(rmarkdown::render(
    page, output_file = "report.html", output_dir = work, quiet = TRUE, intermediates_dir = work, knit_root_dir = work,
    envir = new.env(parent = globalenv()), params = params
  )))
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  expect_whole(any(grepl("id=\"end-of-report\"", lines, fixed = TRUE)), any(grepl("</html>", lines, fixed = TRUE)))
  csv <- list.files(folder, full.names = TRUE)
  list(
    html = charToRaw(enc2utf8(paste0(lines, "\n", collapse = ""))),
    tables = stats::setNames(lapply(csv, function(file) readBin(file, "raw", file.size(file))), basename(csv))
  )
}

# R's own connections and devices do not report a full disk.
expect_whole <- function(...) {
  if (!all(...)) {
    stop("The report could not be made: is the disk of tempdir() full? No file was written.", call. = FALSE)
  }
}

# Tests whether a PNG file has its last chunk.
is_whole_png <- function(path) {
  end <- as.raw(c(0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82))
  bytes <- readBin(path, "raw", file.size(path))
  identical(utils::tail(bytes, length(end)), end)
}

# Names files by their paths in a folder, which is created.
in_folder <- function(files, folder) {
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    stop_input("`tables` must be a folder that can be made: %s cannot.", dQuote(folder, FALSE))
  }
  stats::setNames(files, file.path(folder, names(files)))
}

csv_bytes <- function(table) {
  table <- as.data.frame(unclass(table), check.names = FALSE)
  text <- !vapply(table, function(column) is.numeric(column) || is.logical(column), NA)
  table[text] <- lapply(table[text], function(column) defuse_formula(as.character(column)))
  names(table) <- defuse_formula(names(table))
  csv_text(table)
}

# Spreadsheets take a cell that begins with one of these signs, after blanks, for a formula, which may start programs;
# with an apostrophe before it they take it for text. Numbers may keep their sign.
defuse_formula <- function(text) {
  text <- as_utf8(enc2utf8(text))
  formula <- grepl("^([\t\r\n]|[[:space:]]*[-=+@\uff0d\uff1d\uff0b\uff20])", text) & !reads_as_number(text)
  text[formula] <- paste0("'", text[formula])
  text
}

# Writes bytes to the named files: first all of them beside their places, then moves them, so that a full disk leaves
# the old files intact.
write_files <- function(contents) {
  paths <- names(contents)
  parts <- vapply(dirname(paths), function(folder) tempfile(".multicause-", folder), "")
  on.exit(remove_files(parts))
  for (i in seq_along(paths)) {
    protected <- file.exists(paths[i]) && file.access(paths[i], 2L) < 0L
    if (protected || !is_written(contents[[i]], parts[i])) stop_write(paths[i])
  }
  for (i in seq_along(paths)) {
    if (!suppressWarnings(file.rename(parts[i], paths[i]))) stop_write(paths[i])
  }
}

# Writes a file and reads it again, because neither writing nor closing reliably reports a full disk.
is_written <- function(bytes, path) {
  write_bytes <- function() {
    con <- file(path, "wb")
    on.exit(close(con))
    writeBin(bytes, con)
  }
  catch_error(suppressWarnings({
    write_bytes()
    identical(readBin(path, "raw", length(bytes) + 1), bytes)
  }), function(e) FALSE)
}

stop_write <- function(path) {
  stop(sprintf(
    "%s could not be written: is the disk full, or the file or its folder protected?", dQuote(path, FALSE)
  ), call. = FALSE)
}
