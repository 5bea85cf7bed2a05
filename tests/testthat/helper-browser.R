# Pages in a real browser.

# The path of chromium; skips where there is none.
chromium_here <- function() {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
  chromium <- Filter(nzchar, unname(Sys.which(c("chromium", "chromium-browser", "google-chrome"))))
  testthat::skip_if_not(length(chromium) > 0L, "no chromium is at hand")
  chromium[1L]
}

# A copy of a page with a script of the test's at its end, as headless chromium has it after its scripts ran.
dump_page <- function(file, probe, chromium, width = 1280L) {
  folder <- tempfile("browser")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  copy <- file.path(folder, "page.html")
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  at <- max(grep("</body>", lines, fixed = TRUE))
  writeLines(enc2utf8(append(lines, probe, at - 1L)), copy, useBytes = TRUE)
  page <- suppressWarnings(system2(chromium, c(
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", paste0("--user-data-dir=", file.path(folder, "profile")),
    sprintf("--window-size=%d,900", width), "--virtual-time-budget=3000", "--dump-dom", paste0("file://", copy)
  ), stdout = TRUE, stderr = FALSE, timeout = 120, env = "LD_PRELOAD=")) # no sanitizer's runtime in the browser
  paste(page, collapse = "\n")
}

# What a probe left in an attribute of the body, written by encodeURIComponent().
left_in <- function(page, attribute) {
  value <- utils::URLdecode(sub("\".*", "", sub(sprintf(".*%s=\"", attribute), "", page)))
  Encoding(value) <- "UTF-8"
  value
}
