# The documents of inst/rmarkdown/templates, and the functions that render them.

skip_on_cran()

skip_without_tools <- function() {
  testthat::skip_if_not_installed("rmarkdown")
  testthat::skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not at hand")
}

read_page <- function(file) {
  gsub("base64,[A-Za-z0-9+/=]*", "base64,", paste(readLines(file, encoding = "UTF-8"), collapse = "\n"))
}

# Writes a report and returns its text, without white space and the contents of images.
write_report <- function(fit, ...) {
  file <- tempfile(fileext = ".html")
  on.exit(unlink(file))
  suppressMessages(path <- report(fit, file, ...))
  testthat::expect_identical(normalizePath(path), normalizePath(file))
  gsub("[ \n]+", " ", read_page(file))
}

# Expects the text to contain all parts; a failure does not print the whole text.
expect_holds <- function(text, parts) {
  found <- vapply(parts, grepl, NA, text, fixed = TRUE)
  testthat::expect_identical(parts[!found], character(), label = "what the report lacks")
}

pieces <- function(text, pattern) regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1L]]

captions <- function(text) gsub("<[^>]*>", "", pieces(text, "<caption>.*?</caption>"))

headings <- function(text) gsub("<[^>]*>", "", pieces(text, "<h2.*?</h2>"))

# Expects a single file that uses no network and describes each figure in words.
expect_self_contained <- function(text) {
  body <- sub(".*<body>", "", text)
  links <- pieces(text, "(src|href|srcset|action|data)=[\"'][^\"']{0,40}")
  testthat::expect_identical(links[!grepl("=[\"'](data:|#)", links)], character())
  testthat::expect_identical(pieces(text, "url\\((?!['\"]?(#|data:)).{0,40}"), character())
  testthat::expect_identical(pieces(text, "@import.{0,40}"), character())
  testthat::expect_identical(pieces(text, "<(iframe|object|embed|link) .{0,40}"), character())
  images <- pieces(body, "<img[^>]*>")
  testthat::expect_gt(length(images), 0L)
  testthat::expect_identical(images[!grepl("alt=\"[^\"]{20,}\"", images)], character())
  expect_holds(text, "lang=\"en\"")
}

test_that("an answer is told from the answer to how it was reached", {
  skip_without_tools()
  x <- simulated_sites$x[1:40, ]
  w <- which_zeros(x, age = 40:1, quick = TRUE, seed = 1)
  checked <- sensitivity(w)
  folder <- tempfile("tables")
  slices <- rep(c("old", "young"), 20)
  ages <- data.frame(age = 40:1, row.names = rownames(x))
  told <- list(sensitivity = checked, groups = slices, site_data = ages, n = 7, tables = folder)
  text <- do.call(write_report, c(list(w), told))
  expect_self_contained(text)
  expect_identical(headings(text), c(
    "The result", "How well such results predict on this table", "Where to look next", "What the number rests on",
    "How it was reached"
  ))
  expect_match(
    text, "[0-9] presences, [0-9][^,]* zeros\\. <strong>Two more surveys of equal effort would find about [0-9 ]+ more"
  )
  expect_holds(text, c(
    "Presences that further surveys of equal effort would find", "Undetected presences, by each evidence",
    "The first 7 zeros", "Groups compared", "One thing changed at a time"
  ))
  expect_setequal(list.files(folder), paste0(c(
    "all_zeros", "differences", "groups", "how_many", "more", "quality", "sensitivity", "sites", "taxa", "weights",
    "zeros"
  ), ".csv"))
  expect_identical(nrow(utils::read.csv(file.path(folder, "all_zeros.csv"))), sum(x[, colSums(x) > 0] == 0))
  first <- utils::read.csv(file.path(folder, "sites.csv"))[1L, ]
  expect_identical(first$age, 41L - match(first$site, rownames(x)))
  text <- write_report(w, site = c("site_003", "site_004"), n = 9, tables = folder)
  expect_setequal(utils::read.csv(file.path(folder, "zeros.csv"))$site, c("site_003", "site_004"))
  expect_false(grepl("Groups compared", text, fixed = TRUE))
  checked$table$missed <- checked$table$missed + 10
  expect_error(report(w, tempfile(fileext = ".html"), sensitivity = checked), "must be what sensitivity\\(\\) says")
  expect_error(report(w, tempfile(fileext = ".html"), groups = 1:3), "`groups`", class = "multicause_input_error")
})

test_that("the report of a fit with everything is one file with its tables", {
  skip_without_tools()
  fit <- drawn_fit(40, 20, 4, phantom = "white")
  sites <- data.frame(country = rep(c("FI", "DE"), 20), row.names = rownames(fit$x))
  tried <- data.frame(k = rep(2:4, 2), AIC = c(300, 280, 290, 310, 285, 295))
  folder <- file.path(tempfile(), "tables")
  text <- write_report(
    fit, age = 40:1, site_data = sites, selection = tried, n = 7, title = "A title", notes = c("One.", "Two."),
    tables = folder
  )
  expect_self_contained(text)
  expect_holds(text, c(
    "Other fits that describe the table equally well give up to", "<title>A title</title>", "A title</h1>",
    "<p>One.</p> <p>Two.</p>", "<th scope=\"col\">country</th>"
  ))
  expect_identical(headings(text), c(
    "The fit", "How many components", "Components", "Ages of the components", "Likeliest false absences",
    "What is missing", "How far to trust it"
  ))
  expect_setequal(dir(folder), paste0(c(
    "selection", "phantoms", "false_absences", "missed_taxa", "missed_sites", "components", "memberships", "ages"
  ), ".csv"))
  saved <- read.csv(file.path(folder, "false_absences.csv"))
  expect_equal(saved, as.data.frame(unclass(false_absences(fit, 7, site_data = sites))), ignore_attr = TRUE)
  expect_equal(read.csv(file.path(folder, "memberships.csv"), row.names = 1), as.data.frame(fit$param$membership))
  expect_equal(
    read.csv(file.path(folder, "components.csv"), row.names = 1), as.data.frame(t(fit$param$aspects))
  )
  # only of sites asked for, and of zeros that can be false
  within <- matrix(rep_len(c(TRUE, FALSE), 800), 40)
  write_report(fit, site = 3:4, within = within, tables = folder)
  expect_identical(nrow(read.csv(file.path(folder, "false_absences.csv"))), sum(fit$x[3:4, ] == 0 & within[3:4, ]))
  expect_setequal(read.csv(file.path(folder, "missed_sites.csv"))$site, rownames(fit$x)[3:4])
})

test_that("fits of every model have a report", {
  skip_without_tools()
  fits <- fits_of_all()
  for (name in names(fits)) {
    text <- write_report(fits[[name]], n = 4)
    expect_self_contained(text)
    expect_holds(text, c(model_title(fits[[name]]), "How far to trust it"))
    expect_false(grepl("NULL nats|NaN", text), info = name)
    phantoms <- inherits(fits[[name]], "aspect_model")
    expect_identical("Likeliest false absences" %in% headings(text), phantoms, info = name)
    expect_identical("Cells the fit did not expect" %in% headings(text), !phantoms, info = name)
  }
  x <- fits$bernoulli_mixture$x
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)
  others <- suppressWarnings(list(
    aspect_bernoulli(unname(x), 3, estimate = "map", phantom = "both", control = few),
    plsa(Matrix::Matrix(unname(fits$nmf$x), sparse = TRUE), 2, control = few), logistic_pca(x, 0, control = few),
    ensemble(x, k = 2:3, model = aspect_bernoulli, members = 1, phantom = "white", control = few),
    ensemble(x, k = 2, members = 2, model = bernoulli_mixture),
    neighbours_mean(x, smooth = smooth_over(age = 1:20, bandwidth = c(age = 3), strength = 1)),
    plca(as.data.frame(as.table(array(seq_len(60) %% 5, 5:3))), 2, control = few)
  ))
  for (fit in others) expect_self_contained(write_report(fit))
  expect_holds(write_report(others[[4L]]), c("The fits that are averaged", "do not add up to a whole"))
  chosen <- select_k(x, 1:3, bernoulli_mixture, "aic", estimate = "ml", control = few)
  expect_holds(write_report(chosen$fits[["2"]], selection = chosen), "How many components")
})

test_that("the least expected cells are those with the largest residuals", {
  skip_without_tools()
  folder <- tempfile()
  for (fit in fits_of_all()[c("bernoulli_mixture", "nmf")]) {
    write_report(fit, n = 3, tables = folder)
    worst <- read.csv(file.path(folder, "unexpected.csv"))
    residual <- residuals(fit, type = "pearson")
    expect_equal(abs(worst$.resid), sort(abs(residual), decreasing = TRUE)[1:3])
    at <- cbind(worst$site, worst$taxon)
    expect_equal(worst$.resid, residual[at])
    expect_equal(worst$.fitted, fitted(fit)[at])
    expect_equal(worst$observed, as.numeric(fit$x[at]))
  }
})

test_that("a report of a smoothed fit says what neighbours change, and that ages may be circular", {
  skip_without_tools()
  sites <- early_tetrapods$sites
  near <- smooth_over(
    age = sites[c("max_ma", "min_ma")], place = sites[c("lng", "lat")], bandwidth = c(age = 4, place = 1000),
    strength = 10
  )
  control <- fit_control(n_start = 2, max_iter = 300, tol = 1e-6, progress = FALSE)
  set.seed(1)
  fit <- suppressWarnings(
    aspect_bernoulli(early_tetrapods$x, 5, estimate = "map", phantom = "white", smooth = near, control = control)
  )
  seed <- .Random.seed
  folder <- tempfile("tables")
  text <- write_report(fit, n = 30, tables = folder)
  expect_identical(.Random.seed, seed)
  expect_holds(text, c(
    "What neighbours change", "dated by their faunas", "are among those of the fit without neighbours, too",
    "Map: the share of each component in each of 129 sites"
  ))
  moved <- utils::read.csv(file.path(folder, "neighbours.csv"))
  expect_identical(sum(moved$change == "enters"), sum(moved$change == "leaves"))
  expect_true(all(moved$rank_with[moved$change == "enters"] <= 30 & moved$rank_without[moved$change == "enters"] > 30))
  top <- false_absences(fit, 30)
  enters <- moved[moved$change == "enters", ]
  expect_identical(paste(top$site, top$taxon)[enters$rank_with], paste(enters$site, enters$taxon))
})

test_that("a document can be drafted, edited and rendered, by report() or by itself", {
  skip_without_tools()
  folder <- tempfile("draft")
  dir.create(folder)
  fit <- drawn_fit(12, 6, 3, phantom = "white")
  own <- rmarkdown::draft(file.path(folder, "own.Rmd"), "fit", "multicause", edit = FALSE)
  lines <- readLines(own)
  writeLines(append(lines, "My words on `r nrow(fit$x)` sites, and `r '<b>*x*'`.", grep("^## The fit", lines)), own)
  file <- file.path(folder, "by report.html")
  report(fit, file, template = own, title = "Mine")
  expect_identical(dir(folder), c("by report.html", "own.Rmd"))
  page <- read_page(file)
  expect_holds(page, c("My words on 12 sites, and &lt;b&gt;*x*.", "<title>Mine</title>", "Likeliest false absences"))
  rmarkdown::render(own, params = list(fit = fit, title = "Mine"), quiet = TRUE, envir = new.env())
  told <- function(page) sub("<details>.*", "", page) # without the session, which may have loaded packages meanwhile
  expect_identical(told(read_page(file.path(folder, "own.html"))), told(page))
  expect_error(rmarkdown::render(own, quiet = TRUE, envir = new.env()), "Give the fit")
  # A template that fails leaves the existing report unchanged.
  writeLines(c(readLines(own), "```{r}", "stop('here')", "```"), own)
  suppressMessages(expect_error(report(fit, file, template = own), "here"))
  expect_identical(read_page(file), page)
  draft <- rmarkdown::draft(file.path(folder, "answer.Rmd"), "which_zeros", "multicause", edit = FALSE)
  expect_error(report(fit, file, template = draft), "Unknown argument `fit`", class = "multicause_input_error")
  writeLines("No parameters.", bare <- tempfile(fileext = ".Rmd"))
  expect_error(report(fit, file, template = bare), "Unknown argument", class = "multicause_input_error")
})

# Names with code injected into a page or its rendering. If executed, it calls trip() or marks the page.
hostile <- local({
  trip <- "document.documentElement.setAttribute('data-'+'ran','1')"
  file <- "secret.png"
  c(
    paste0("x\n```\n<script>", trip, "</script>\n![](", file, ")\n\n```{=html}\n"),
    paste0("</td></table><img src=x onerror=\"", trip, "\">"), paste0("\r\n\r\n# [x](javascript:", trip, ")"),
    paste0("'\" autofocus tabindex=1 onfocus=\"", trip, "\" x='"), paste0("<a href=\"javascript:", trip, "\">x</a>"),
    "![](secret.png)", "$(touch secret) `touch secret` ${HOME} %PATH% $x^2$", "`r 1` `r stop(1)`",
    "[x](y) <http://a.b>", "&lt;b&gt; &amp; &#60;i&#62; &copy", "a|b\\|c *d* _e_ **f** ~g~ ^h^ @i #j",
    "---\ntitle: z\n---", "\001\033[31mred\177",
    "\u0416\u0443\u043a \u4e2d\u6587 \u0639\u0631\u0628 \u00e5", "\u2028\n```\u0085\n<script>trip()</script>",
    "<!-- x", "\n:::\n\n  <style>*{display:none}</style>", "<svg/onload=trip()> <iframe src=\"javascript:trip()\">"
  )
})

# Text as a reader sees it: control characters and repeated blanks count as one blank.
as_seen <- function(text) trimws(gsub("[ \u0001-\u001f\u007f-\u009f\u2028\u2029]+", " ", text))

# Reports of a fit and a result with hostile text, and with plain text, in every name, title and note.
hostile_reports <- local({
  made <- NULL
  function() {
    plain <- sprintf("name%d", seq_along(hostile))
    if (is.null(made)) made <<- lapply(list(hostile = hostile, plain = plain), write_both)
    made
  }
})

write_both <- function(text) {
  n <- length(text)
  fit <- drawn_fit(n, n, 3, phantom = "white")
  fit$names <- list(text, text)
  dimnames(fit$x) <- list(text, text)
  colnames(fit$param$aspects) <- rownames(fit$param$membership) <- text
  sites <- stats::setNames(data.frame(text, factor(text), 1:n, row.names = text), c("plain", text[1:2]))
  selection <- data.frame(k = 2:5, AIC = 1:4, phantom = rep(text[1:2], 2))
  folder <- file.path(tempfile("folder"), "it's a `touch secret` $(touch secret) & \u00e5")
  dir.create(folder, recursive = TRUE)
  grDevices::png(file.path(folder, "secret.png")) # a picture beside the report
  graphics::plot.new()
  grDevices::dev.off()
  files <- file.path(folder, c("one `touch secret`.html", "two$(touch secret).html"))
  set.seed(1)
  found <- matrix(stats::rbinom(n * n, 1, 0.4), n, dimnames = list(text, text))
  w <- which_zeros(found, age = 1:n, quick = TRUE, seed = 1)
  suppressMessages({
    report(
      fit, files[1L], age = stats::setNames(seq_len(n), text), of = "site", site_data = sites, selection = selection,
      title = paste(text, collapse = " "), notes = text, n = 1000
    )
    report(w, files[2L], title = text[2L], groups = rep_len(text[1:3], n), site_data = sites, notes = text, n = 1000)
  })
  files
}

# Text between tags, as a browser shows it.
page_texts <- function(html) {
  text <- pieces(gsub("(?s)<(script|style).*?</\\1>", "", html, perl = TRUE), "[^<>]+(?=<)")
  entities <- c("&lt;" = "<", "&gt;" = ">", "&quot;" = "\"", "&#39;" = "'", "&#96;" = "`", "&amp;" = "&")
  for (each in names(entities)) text <- gsub(each, entities[[each]], text, fixed = TRUE)
  as_seen(text)
}

test_that("text from data and users makes no tag, no attribute and no picture, and is shown as written", {
  skip_without_tools()
  testthat::skip_on_os("windows") # paths that its shell does not know
  pages <- lapply(hostile_reports(), function(files) lapply(files, read_page))
  for (i in 1:2) {
    # Figures are described in the user's words, without a character that could end the attribute.
    tags <- lapply(pages, function(page) gsub(" alt=\"[^\"<>]*\"", " alt=\"\"", pieces(page[[i]], "<[^>]*>")))
    expect_identical(tags$hostile, tags$plain)
    expect_false(any(grepl("trip|data-ran|secret", tags$hostile)))
  }
  seen <- page_texts(pages$hostile[[1L]])
  expect_identical(setdiff(as_seen(hostile), seen), character())
  expect_identical(sum(seen == as_seen(paste(hostile, collapse = " "))), 2L) # title and h1
  expect_identical(setdiff(as_seen(hostile), page_texts(pages$hostile[[2L]])), character())
  expect_false(any(grepl("[\u0001-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]", pages$hostile[[1L]])))
  expect_false(any(file.exists("secret", file.path(dirname(hostile_reports()$hostile[1L]), "secret"))))
})

test_that("a report links to the page of explore(), by a path alone", {
  skip_without_tools()
  skip_if_not_installed("jsonlite")
  folder <- tempfile("link")
  dir.create(folder)
  fit <- fits_of_all()$aspect_bernoulli
  page <- explore(fit, file.path(folder, "look \"around\".html"), open = FALSE)
  linked <- function(file) {
    report(fit, file, explorer = page)
    pieces(read_page(file), "<a href=\"[^#][^\"]*")
  }
  expect_identical(linked(file.path(folder, "report.html")), "<a href=\"./look%20%22around%22.html")
  expect_match(linked(tempfile(fileext = ".html")), "<a href=\"file:///.*/look%20%22around%22.html$")
  for (bad in list("javascript:alert(1)", folder, 1)) {
    wrong <- function() report(fit, tempfile(fileext = ".html"), explorer = bad)
    expect_error(wrong(), "`explorer`", class = "multicause_input_error")
  }
})

# Returns a page as headless chromium renders it after its scripts ran and every clickable element was clicked: whether
# a hostile script marked it, its title, and the text of its cells, heads and notes.
browse <- function(file, chromium) {
  probe <- "<script>
    document.querySelectorAll('a, img, td, th, p, h1, h2, caption, [tabindex]').forEach(function (e) {
      ['mouseover', 'click', 'focus'].forEach(function (kind) { e.dispatchEvent(new Event(kind)); });
      if (e.click) e.click();
      if (e.focus) e.focus();
    });
    var shown = Array.from(document.querySelectorAll('td, th, h1, caption, .note p, p'), e => e.textContent);
    document.body.setAttribute('data-shown', encodeURIComponent([document.title].concat(shown).join('\\n')));
  </script>"
  page <- dump_page(file, probe, chromium)
  shown <- left_in(page, "data-shown")
  list(ran = grepl("<html[^>]*data-ran", page), shown = as_seen(strsplit(shown, "\n", fixed = TRUE)[[1L]]))
}

test_that("in a browser, text from data and users runs nothing and is shown as written", {
  skip_without_tools()
  chromium <- chromium_here()
  for (live in hostile[c(1, 2, 5)]) { # the browser would report it
    page <- tempfile(fileext = ".html")
    writeLines(c("<html><body><p>as written</p>", live, "</body></html>"), page)
    expect_identical(browse(page, chromium), list(ran = TRUE, shown = c("", "as written")))
  }
  files <- hostile_reports()$hostile
  pages <- lapply(files, browse, chromium)
  for (page in pages) expect_false(page$ran)
  expect_identical(setdiff(as_seen(hostile), pages[[1L]]$shown), character())
  expect_identical(pages[[1L]]$shown[1L], as_seen(paste(hostile, collapse = " ")))
  expect_identical(setdiff(as_seen(hostile), pages[[2L]]$shown), character())
})

test_that("on wide screens and on telephones nothing is cut off, and each figure is one that can be read there", {
  skip_without_tools()
  chromium <- chromium_here()
  fit <- drawn_fit(40, 25, 3, phantom = "white")
  w <- suppressMessages(which_zeros(fit$x, age = 1:40, quick = TRUE, copies = 2, seed = 1))
  files <- c(tempfile(fileext = ".html"), tempfile(fileext = ".html"))
  report(w, files[1L])
  report(fit, files[2L], age = 40:1)
  probe <- sprintf("<script>
    const clipped = %s, seen = {};
    seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    // Parts of a table that is wider than a telephone are reached by scrolling; what it is called stays in sight.
    const scrolls = part => { const t = part.closest('table'); return t && getComputedStyle(t).overflowX === 'auto'; };
    seen.tables = Array.from(document.querySelectorAll('table')).map(t => t.scrollWidth - t.clientWidth);
    seen.captions = Array.from(document.querySelectorAll('caption')).filter(one => {
      const box = one.getBoundingClientRect();
      return box.left < -1 || box.right > document.documentElement.clientWidth + 1;
    }).map(one => one.textContent);
    document.querySelectorAll('td, th').forEach(part => { if (scrolls(part)) part.style.display = 'none'; });
    seen.clipped = clipped();
    const shown = Array.from(document.images).filter(image => image.getBoundingClientRect().width);
    seen.figures = shown.map(image => image.className);
    seen.letters = shown.map(image => image.getBoundingClientRect().width / (image.naturalWidth / 144));
    seen.alt = shown.filter(image => !image.alt).length;
    document.body.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
  </script>", clipped_parts)
  for (file in files) {
    for (width in c(1280L, 400L)) {
      seen <- jsonlite::fromJSON(left_in(dump_page(file, probe, chromium, width), "data-seen"))
      expect_lte(seen$wide, 0)
      expect_identical(as.character(c(seen$clipped, seen$captions)), character())
      expect_identical(unique(seen$figures), if (width > 560L) "wide" else "narrow")
      expect_true(all(seen$letters > 80)) # pixels that an inch of the figure gets: letters of 8 points have 9
      expect_identical(seen$alt, 0L)
      if (width == 1280L) expect_true(all(seen$tables <= 0))
    }
  }
})

test_that("nothing is left behind, nothing is changed, and the same comes out again", {
  skip_without_tools()
  fit <- drawn_fit(12, 6, 3, phantom = "white")
  folder <- tempfile()
  dir.create(folder)
  writeLines("mine", file.path(folder, "report.md"))
  before <- list(getwd(), options(), dir(tempdir()), grDevices::dev.list(), .Random.seed, search())
  files <- file.path(folder, c("a report.html", "again.html"))
  for (file in files[c(1, 1, 2)]) suppressMessages(report(fit, file, age = 12:1)) # the first may load packages
  expect_identical(dir(folder), c("a report.html", "again.html", "report.md"))
  expect_length(unique(unname(tools::md5sum(files))), 1L)
  after <- list(getwd(), options(), dir(tempdir()), grDevices::dev.list(), .Random.seed, search())
  expect_identical(after[-2L], before[-2L])
  expect_identical(after[[2L]][names(before[[2L]])], before[[2L]])
})

test_that("the data of a fit without them are given", {
  skip_without_tools()
  full <- drawn_fit(12, 6, 3, phantom = "white")
  fit <- full
  fit["x"] <- list(NULL)
  expect_error(report(fit, tempfile(fileext = ".html")), class = "multicause_input_error")
  expect_identical(captions(write_report(fit, x = full$x, age = 12:1)), captions(write_report(full, age = 12:1)))
})

test_that("the call in a report names the data by kind and size", {
  call <- quote(which_zeros(x = x, age = ages, prior = list(a = c(1, 2), b = ~ z), site[1, ]))
  call[c("x", "age", "control", "f")] <- list(diag(30), data.frame(a = 1:30), fit_control(), plsa)
  call$more <- list(1:20, function(x) x)
  expect_identical(paste(trimws(call_lines(call)), collapse = " "), paste0(
    "which_zeros(x = <a matrix with 30 rows and 30 columns>, age = <a data frame with 30 rows and 1 column>, ",
    "prior = list(a = c(1, 2), b = ~z), site[1, ], control = <an object of class \"multicause_control\">, ",
    "f = plsa, more = list(<an integer vector of length 20>, <a function>))"
  ))
  expect_identical(call_lines(quote(f())), "f()")
})

test_that("a report shows no data of the call, and nothing for NULL", {
  skip_without_tools()
  set.seed(1)
  x <- matrix(stats::rbinom(600, 1, 0.4), 30)
  few <- fit_control(n_start = 1, n_polish = 0, progress = FALSE)
  run <- fit_control(progress = FALSE)
  ages <- data.frame(old = 30:1 + 0.5, young = 30:1)
  w <- do.call(which_zeros, list(x, age = ages, quick = TRUE, seed = 1, control = run))
  said <- lapply(list(w, do.call(nmf, list(x, 2, control = few))), write_report)
  for (page in said) expect_no_match(pieces(page, "<pre.*?</pre>"), "NULL|structure\\(|max_iter")
  expect_holds(said[[1L]], "age = &lt;a data frame with 30 rows and 2 columns&gt;")
})

test_that("numbers of a column are rounded alike", {
  expect_identical(format_column(c(0.5, 1, 0.00001, NA)), c("0.500", "1.000", "< 0.001", ""))
  expect_identical(format_column(c(12.34, -0.001, 0)), c("12.3", "> -0.1", "0"))
  expect_identical(format_column(c(275.83, 1)), c("275.8", "1.0"))
  expect_identical(format_column(c(3, 1e5, NA)), c("3", "100000", ""))
  expect_identical(format_column(c(NA, 2)), c("", "2"))
  expect_identical(format_column(c(Inf, 0.25)), c("Inf", "0.250"))
  expect_identical(format_column(numeric()), character())
})

test_that("a table is HTML with heads and a caption", {
  table <- data.frame(name = c("a<b", NA), n = c(1L, 2L), p = c(0.25, 0.1))
  expect_snapshot(cat(html_table(table, "A & B")))
  expect_holds(html_table(table, "C", rows = 1), "C (1 more row not shown)")
  expect_holds(html_table(table[0, ], "None"), "<tbody>")
})

test_that("heads and captions of tables are in the user's words", {
  skip_without_tools()
  set.seed(8)
  x <- outer(1:12, 1:8, function(i, j) (i <= 6) == (j <= 4)) * matrix(stats::rbinom(96, 1, 0.7), 12)
  dimnames(x) <- list(locality = paste0("l", 1:12), genus = paste0("g", 1:8))
  quick <- fit_control(n_start = 1, max_iter = 20, n_polish = 0, progress = FALSE)
  for (model in list(aspect_bernoulli, noisy_or)) {
    text <- write_report(suppressWarnings(model(x, 2, control = quick)))
    heads <- gsub("<[^>]*>", "", pieces(text, "<th scope=\"col\"[^>]*>[^<]*"))
    expect_true(all(c("locality", "genus") %in% heads))
    expect_false(any(c("site", "taxon") %in% heads))
    expect_no_match(captions(text), "\\b(observation|attribute|site)s?\\b", ignore.case = TRUE)
  }
})

test_that("wrong arguments are told", {
  skip_without_tools()
  fit <- drawn_fit(10, 6, 2)
  file <- "report.html"
  expect_snapshot(error = TRUE, {
    report(fit, "report.pdf")
    report(fit, c("a.html", "b.html"))
    report(fit, "no/such/folder/report.html")
    report(fit, file, "a title")
    report(fit, file, title = c("a", "b"))
    report(fit, file, notes = 1)
    report(fit, file, tables = TRUE)
    report(fit, file, template = "none.Rmd")
    report(fit, file, x = fit$x[1:3, ])
  })
  suppressMessages({
    expect_error(report(fit, file, age = 1:7), "`age`", class = "multicause_input_error")
    expect_error(report(fit, file, site_data = 1:10), "`site_data`", class = "multicause_input_error")
    expect_error(report(logistic_pca(fit$x, 1), file, site = 1), "are for models that false_absences\\(\\) takes")
  })
  expect_false(file.exists(file))
})

test_that("groups of digits stay in one line of a page", {
  expect_identical(unbroken("1 180 of 20 000, 12 sites"), "1\u00a0180 of 20\u00a0000, 12 sites")
  expect_match(as_written_text("305 to 1 180"), "1\u00a0180", fixed = TRUE)
})

test_that("a fit of noisy-OR with recording has a report, without what only memberships have", {
  skip_without_tools()
  x <- simulated_sites$x[1:40, ]
  dimnames(x) <- list(locality = rownames(x), genus = colnames(x))
  control <- fit_control(n_start = 1, max_iter = 40, progress = FALSE)
  fit <- suppressWarnings(noisy_or(x, 2, missed_by = "site", control = control))
  text <- write_report(fit)
  expect_holds(text, c("Likeliest false absences", "recording", "What the components say of each genus"))
  expect_false(grepl("missed_most", text))
})

test_that("sites of `site_data` are found by a column with their names, in any order", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("1.12.3"))
  w <- suppressMessages(which_zeros(early_tetrapods$x, quick = TRUE, seed = 1))
  sites <- early_tetrapods$sites
  folder <- tempfile()
  report(w, tempfile(fileext = ".html"), site_data = sites[order(sites$age), ], tables = folder)
  table <- utils::read.csv(file.path(folder, "sites.csv"))
  expect_equal(table$age, sites$age[match(table$site, sites$site)])
})
