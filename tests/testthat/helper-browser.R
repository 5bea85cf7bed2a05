# Pages in a real browser.

# Path of chromium; skips the test if there is none.
chromium_here <- function() {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
  chromium <- Filter(nzchar, unname(Sys.which(c("chromium", "chromium-browser", "google-chrome"))))
  testthat::skip_if_not(length(chromium) > 0L, "no chromium is at hand")
  chromium[1L]
}

# Returns a page, with a script of the test appended, as headless chromium renders it after its scripts ran. Windows of
# chromium are at least 500 pixels wide; narrower pages are shown in a frame, whose body's attributes are copied to the
# window's.
dump_page <- function(file, probe, chromium, width = 1280L) {
  folder <- tempfile("browser")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  shown <- file.path(folder, "page.html")
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  at <- max(grep("</body>", lines, fixed = TRUE))
  writeLines(enc2utf8(append(lines, probe, at - 1L)), shown, useBytes = TRUE)
  if (width < 500L) {
    shown <- file.path(folder, "frame.html")
    writeLines(sprintf(frame_page, width), shown)
  }
  page <- suppressWarnings(system2(chromium, c(
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--allow-file-access-from-files",
    paste0("--user-data-dir=", file.path(folder, "profile")), sprintf("--window-size=%d,900", max(width, 500L)),
    "--virtual-time-budget=3000", "--dump-dom", paste0("file://", shown)
  ), stdout = TRUE, stderr = FALSE, timeout = 120, env = "LD_PRELOAD=")) # no sanitizer's runtime in the browser
  paste(page, collapse = "\n")
}

frame_page <- "<!DOCTYPE html><html><body><iframe src='page.html' width='%d' height='900' style='border: 0'></iframe>
<script>
  setInterval(() => {
    const body = document.querySelector('iframe').contentDocument.body;
    for (const one of body ? body.attributes : []) document.body.setAttribute(one.name, one.value);
  }, 50);
</script></body></html>"

# JavaScript for a probe: the parts of a page that lie beyond the screen or do not show all of their text.
clipped_parts <- "() => Array.from(document.querySelectorAll(
    'h1, h2, p, img, label, select, input, button, canvas, svg, table, th, td, pre, a, text, summary'
  )).filter(part => {
    const box = part.getBoundingClientRect();
    if (!box.width || !box.height) return false;
    const hides = ['hidden', 'clip'].includes(getComputedStyle(part).overflowX);
    const cut = hides && part.scrollWidth > part.clientWidth + 1;
    return cut || box.left < -1 || box.right > document.documentElement.clientWidth + 1;
  }).map(part => part.tagName + ' ' + (part.id || part.textContent.trim().slice(0, 40)))"

# Reads the value that a probe wrote into an attribute of the body with encodeURIComponent().
left_in <- function(page, taxon) {
  value <- utils::URLdecode(sub("\".*", "", sub(sprintf(".*%s=\"", taxon), "", page)))
  Encoding(value) <- "UTF-8"
  value
}
