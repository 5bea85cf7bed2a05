# Checks the site in build/site: internal links and pictures exist, nothing is loaded from another server, every picture
# has a text, and, if Chromium is available, no page writes an error to the console or is wider than a phone's screen.

root <- normalizePath("build/site")
pages <- list.files(root, "[.]html$", recursive = TRUE)
read <- function(page) xml2::read_html(file.path(root, page), encoding = "UTF-8")
attribute <- function(html, path, name) xml2::xml_attr(xml2::xml_find_all(html, path), name)
html <- stats::setNames(lapply(pages, read), pages)
ids <- lapply(html, function(page) c(attribute(page, "//*[@id]", "id"), attribute(page, "//a[@name]", "name")))

findings <- character()
found <- function(page, what) findings <<- c(findings, sprintf("%s: %s", page, what))

outside <- "^([a-z]+:)?//|^(mailto|data|javascript):"
check_link <- function(page, link) {
  if (is.na(link) || !nzchar(link) || grepl(outside, link)) {
    return()
  }
  part <- utils::URLdecode(sub("^[^#]*#?", "", link))
  path <- utils::URLdecode(sub("[?#].*$", "", link))
  target <- if (nzchar(path)) file.path(dirname(page), path) else page
  file <- file.path(root, target)
  if (dir.exists(file)) file <- file.path(file, "index.html")
  if (!file.exists(file)) {
    return(found(page, paste("no such file:", link)))
  }
  name <- sub(paste0(root, "/"), "", normalizePath(file), fixed = TRUE)
  if (nzchar(part) && name %in% pages && !part %in% ids[[name]]) found(page, paste("no such place:", link))
}

for (page in pages) {
  links <- unique(c(attribute(html[[page]], "//a", "href"), attribute(html[[page]], "//link", "href")))
  loaded <- c(
    attribute(html[[page]], "//img", "src"), attribute(html[[page]], "//script", "src"),
    attribute(html[[page]], "//link[@rel='stylesheet']", "href")
  )
  for (link in c(links, loaded)) check_link(page, link)
  for (link in grep("^([a-z]+:)?//", loaded, value = TRUE)) found(page, paste("loads from elsewhere:", link))
  texts <- attribute(html[[page]], "//img", "alt")
  bare <- sum(is.na(texts) | !nzchar(trimws(texts)))
  if (bare) found(page, sprintf("%d pictures without a text", bare))
}

# A page that loads each page of the site in a frame as wide as a phone and reports the width of its contents.
check_in_browser <- function(browser) {
  probe <- file.path(root, "probe.html")
  on.exit(unlink(probe))
  script <- paste0(
    "const report = [];\n",
    "const visit = async (page) => new Promise((done) => {\n",
    "  const frame = Object.assign(document.createElement('iframe'), { src: page, width: 390, height: 800 });\n",
    "  frame.onload = () => setTimeout(() => {\n",
    "    const page_root = frame.contentDocument.documentElement;\n",
    "    report.push(page + ' ' + page_root.scrollWidth); frame.remove(); done();\n",
    "  }, 50);\n",
    "  document.body.append(frame);\n",
    "});\n",
    "(async () => { for (const page of pages) await visit(page);\n",
    "  document.body.textContent = report.join('\\n'); document.title = 'done'; })();\n"
  )
  writeLines(c(
    "<!DOCTYPE html><html><body><script>", paste0("const pages = ", jsonlite::toJSON(pages), ";"), script,
    "</script></body></html>"
  ), probe)
  shown <- suppressWarnings(system2(
    browser, c(
      "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
      "--virtual-time-budget=120000", "--dump-dom", shQuote(paste0("file://", probe))
    ),
    stdout = TRUE, stderr = TRUE
  ))
  for (line in grep("CONSOLE", shown, value = TRUE)) found("console", sub("^.*CONSOLE[^ ]* *", "", line))
  wide <- regmatches(shown, regexpr("[^ >]+[.]html [0-9]+", shown))
  if (length(wide) != length(pages)) found("browser", sprintf("%d of %d pages were seen", length(wide), length(pages)))
  for (line in wide) {
    width <- as.integer(sub(".* ", "", line))
    if (width > 390L) found(sub(" .*", "", line), sprintf("%d pixels wide on a phone of 390", width))
  }
}

browser <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
browser <- browser[nzchar(browser)]
if (length(browser)) check_in_browser(browser[[1L]]) else message("No Chromium: pages are not looked at in a browser.")

index <- readLines(file.path(root, "search-index.js"), encoding = "UTF-8", warn = FALSE)
index <- jsonlite::fromJSON(sub(";$", "", sub("^window.searchIndex = ", "", paste(index, collapse = "\n"))))
if (!all(vapply(index, is.character, NA))) found("search-index.js", "an entry is not text")
for (page in setdiff(unique(index$path), pages)) found("search-index.js", paste("no such page:", page))

writeLines(findings)
cat(sprintf("%d pages, %d findings\n", length(pages), length(findings)))
quit(status = as.integer(length(findings) > 0L))
