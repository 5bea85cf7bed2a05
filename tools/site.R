# Builds the site in build/site, without a network: no part of a page comes from another server. Formulas become
# MathML, which browsers draw themselves; the search index becomes a script, so that it can be read from a file, too.

options(pkgdown.internet = FALSE, width = 92)
# Avoids requests to CRAN for the addresses of packages that are not installed.
no_addresses <- function() data.frame(Package = character(), URL = character())
utils::assignInNamespace("CRAN_urls", no_addresses, "downlit")

target <- file.path(getwd(), "build", "site")
unlink(target, recursive = TRUE)
site <- pkgdown::as_pkgdown(".", override = list(destination = target))
pkgdown::build_site(
  site,
  install = FALSE, new_process = FALSE, preview = FALSE, devel = FALSE, seed = 1L
)

# All formulas of the site, translated by one call of pandoc.
math_of <- function(formulas, display) {
  marks <- ifelse(display, "$$", "$")
  source <- tempfile(fileext = ".md")
  writeLines(paste0("START ", marks, gsub("\\s+", " ", formulas), marks, " END\n"), source, useBytes = TRUE)
  out <- tempfile(fileext = ".html")
  rmarkdown::pandoc_convert(source, "html", "markdown", out, options = c("--mathml", "--wrap=none"))
  html <- paste(readLines(out, encoding = "UTF-8"), collapse = "\n")
  parts <- regmatches(html, gregexpr("(?s)<p>START .*? END</p>", html, perl = TRUE))[[1L]]
  stopifnot(length(parts) == length(formulas))
  parts <- sub("^<p>START ", "", sub(" END</p>$", "", parts))
  sub("(?s)<annotation.*?</annotation>", "", parts, perl = TRUE)
}

translate_math <- function(files) {
  pages <- lapply(files, function(file) paste(readLines(file, encoding = "UTF-8"), collapse = "\n"))
  pattern <- "(?s)\\\\\\((.+?)\\\\\\)|\\\\\\[(.+?)\\\\\\]"
  # Code is not searched, because it may hold regular expressions.
  code <- "(?s)<(pre|code|script)\\b.*?</\\1>"
  found <- lapply(pages, function(page) {
    bare <- gregexpr(code, page, perl = TRUE)[[1L]]
    at <- gregexpr(pattern, page, perl = TRUE)[[1L]]
    inside <- vapply(at, function(i) any(bare > 0 & i >= bare & i < bare + attr(bare, "match.length")), NA)
    list(start = as.integer(at), length = attr(at, "match.length"), use = at > 0 & !inside)
  })
  raw <- unlist(Map(function(page, at) {
    substring(page, at$start, at$start + at$length - 1L)[at$use]
  }, pages, found))
  if (!length(raw)) {
    return(invisible())
  }
  plain <- function(text) {
    for (entity in list(c("&lt;", "<"), c("&gt;", ">"), c("&amp;", "&"))) {
      text <- gsub(entity[1L], entity[2L], text, fixed = TRUE)
    }
    text
  }
  keys <- unique(raw)
  translated <- math_of(trimws(plain(substr(keys, 3L, nchar(keys) - 2L))), startsWith(keys, "\\["))
  names(translated) <- keys
  for (i in seq_along(files)) {
    at <- found[[i]]
    page <- pages[[i]]
    for (j in rev(which(at$use))) {
      formula <- substr(page, at$start[j], at$start[j] + at$length[j] - 1L)
      page <- paste0(
        substr(page, 1L, at$start[j] - 1L), translated[[formula]], substring(page, at$start[j] + at$length[j])
      )
    }
    writeLines(page, files[i], useBytes = TRUE)
  }
}

# Every picture gets a text: that of its caption, else the line of the example that draws it. A logo without file goes.
describe_pictures <- function(file) {
  page <- xml2::read_html(file, encoding = "UTF-8")
  pictures <- xml2::xml_find_all(page, "//img[not(@alt) or normalize-space(@alt) = '' or not(@src) or @src = '']")
  for (picture in pictures) {
    if (xml2::xml_attr(picture, "src", default = "") == "") {
      xml2::xml_remove(picture)
      next
    }
    captions <- "ancestor::figure[1]//figcaption|following-sibling::p[@class='caption'][1]"
    caption <- xml2::xml_find_first(picture, captions)
    code <- utils::tail(xml2::xml_find_all(picture, "preceding::span[contains(@class, 'r-in')]"), 1L)
    text <- xml2::xml_text(caption)
    if (is.na(text)) text <- paste("Figure drawn by", xml2::xml_text(code))
    xml2::xml_set_attr(picture, "alt", trimws(text[1L]))
  }
  if (length(pictures)) xml2::write_html(page, file, options = character())
}

html <- list.files(target, "[.]html$", recursive = TRUE, full.names = TRUE)
for (file in html) describe_pictures(file)
translate_math(html)

# The index has no page titles: a page is named by its first heading, a reference page also by its function.
page_title <- function(path) {
  heading <- xml2::xml_find_first(xml2::read_html(file.path(target, path), encoding = "UTF-8"), "//h1")
  topic <- if (startsWith(path, "reference/")) paste0(sub("[.]html$", "", basename(path)), ": ")
  paste0(topic, trimws(xml2::xml_text(heading)))
}

index <- paste(readLines(file.path(target, "search.json"), encoding = "UTF-8", warn = FALSE), collapse = "\n")
entries <- lapply(jsonlite::fromJSON(index, simplifyVector = FALSE), function(entry) {
  entry[lengths(entry) == 0L] <- ""
  entry$path <- sub("^/+", "", sub("^https?://[^/]*", "", entry$path))
  if (!nzchar(entry$path)) entry$path <- "news/index.html"
  entry
})
titles <- vapply(unique(vapply(entries, `[[`, "", "path")), page_title, "")
# Other words for what a page is about, in the head of its entry: the concepts of its help page.
concepts_of <- function(path) {
  file <- file.path("man", sub("html$", "Rd", basename(path)))
  if (!startsWith(path, "reference/") || !file.exists(file)) {
    return("")
  }
  lines <- grep("^[\\\\]concept[{]", readLines(file, encoding = "UTF-8"), value = TRUE)
  paste(sub("^[\\\\]concept[{](.*)[}]$", "\\1", lines), collapse = "; ")
}
concepts <- vapply(names(titles), concepts_of, "")
entries <- lapply(entries, function(entry) {
  entry$title <- titles[[entry$path]]
  if (!nzchar(entry$id)) entry$also <- concepts[[entry$path]]
  entry
})
writeLines(
  paste0("window.searchIndex = ", jsonlite::toJSON(entries, auto_unbox = TRUE), ";"),
  file.path(target, "search-index.js"), useBytes = TRUE
)
cat("The site is build/site/index.html.\n")
