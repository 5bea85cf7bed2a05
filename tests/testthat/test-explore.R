# The page of explore(): its data are those of the result; in a browser its parts are linked.

skip_on_cran()

odd_names <- c(
  "it's \"quoted\" <b>bold</b>", "`tick` </script><script>document.title='ran'</script>", "\u5317\u4eac \u00c5", "=1+1",
  "a,b\\n", "<!-- & &amp; -->"
)

explored <- local({
  set.seed(5)
  ages <- sort(runif(30, 250, 300))
  x <- outer(ages, seq(250, 300, length.out = 12), function(age, middle) abs(age - middle) < 15)
  x[] <- rbinom(360, 1, 0.1 + 0.6 * x)
  dimnames(x) <- list(localities = paste("Site", 1:30), genera = paste("Genus", 1:12))
  dimnames(x)[[1L]][1:6] <- odd_names
  dimnames(x)[[2L]][1:6] <- odd_names
  places <- cbind(lng = runif(30, 0, 20), lat = runif(30, 40, 50))
  suppressMessages(list(
    x = x, ages = ages, places = places,
    w = which_zeros(x, age = ages, place = places, quick = TRUE, seed = 1),
    fit = aspect_bernoulli(x, 3, phantom = "white", control = fit_control(n_start = 2, progress = FALSE))
  ))
})

page_of <- function(...) explore(..., file = tempfile(fileext = ".html"), open = FALSE)
data_of <- function(file) {
  html <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  jsonlite::fromJSON(sub("</script>.*", "", sub(".*id=\"data\">", "", html)))
}

test_that("the page of a sparse result is that of the dense one", {
  skip_if_not_installed("jsonlite")
  skip_if_not_installed("Matrix")
  sparse <- suppressMessages(which_zeros(
    methods::as(explored$x, "CsparseMatrix"), age = explored$ages, place = explored$places, quick = TRUE, seed = 1
  ))
  expect_equal(data_of(page_of(sparse)), data_of(page_of(explored$w)))
})

test_that("the data of the page are those of the answer", {
  skip_if_not_installed("jsonlite")
  data <- data_of(page_of(explored$w))
  expect_identical(data$sites, rownames(explored$x))
  expect_identical(data$taxa, colnames(explored$x))
  expect_identical(data$words, c("localities", "genera"))
  probability <- matrix(data$probability, nrow = 30, byrow = TRUE)
  expect_identical(probability == -1, unname(explored$x == 1))
  expect_equal(probability[probability >= 0] / 1e4, explored$w$probability[explored$x == 0], tolerance = 1e-4)
  cells <- as.data.frame(explored$w)
  at <- cbind(match(cells$site, data$sites), match(cells$taxon, data$taxa))
  missed <- stats::plogis(data$slope * stats::qlogis(probability[at] / 1e4) + data$ratio[[1L]])
  expect_equal(missed, cells$missed, tolerance = 1e-2)
  expect_equal(data$total, unname(explored$w$total), tolerance = 1e-4)
  expect_equal(data$age, explored$ages, tolerance = 1e-4)
  # The sentences, and the ends of the ranges: as coded, they exceed the same thresholds.
  said <- sprintf("would find about %s more presences (", show_count(explored$w$total[["missed"]]))
  expect_match(data$said, said, fixed = TRUE)
  coded <- function(ends) matrix(ends, nrow = 30, byrow = TRUE)[at]
  for (threshold in seq(0, 100, 5)) {
    expect_identical(
      states_of(coded(data$low), coded(data$high), 100 * threshold),
      states_of(cells$missed_low, cells$missed_high, threshold / 100)
    )
  }
})

test_that("a fit has its components, ages and places given, or none", {
  skip_if_not_installed("jsonlite")
  bare <- data_of(page_of(explored$fit))
  expect_null(bare$age)
  expect_setequal(bare$components$name, levels(top_taxa(explored$fit, 1L)$component))
  full <- data_of(page_of(explored$fit, age = explored$ages, place = explored$places, unit = NULL, title = "Mine"))
  expect_equal(full$lon, unname(explored$places[, 1L]), tolerance = 1e-4)
  expect_identical(full$unit, "age")
  expect_identical(full$title, "Mine")
  gaps <- explored$fit$param$membership[, explored$fit$fixed == "white"]
  expect_equal(stats::plogis(-full$ratio), unname(1 - gaps), tolerance = 1e-4)
  expect_message(data_of(page_of(ensemble(list(explored$fit, explored$fit)))), NA)
})

test_that("every model of a 0/1 table has a page", {
  skip_if_not_installed("jsonlite")
  fits <- fits_of_all()
  for (fit in fits[setdiff(names(fits), c("plsa", "plca"))]) {
    data <- data_of(page_of(fit))
    expect_length(data$probability, fit$dims[["n"]] * fit$dims[["m"]])
    expect_true(all(is.finite(data$ratio)))
  }
})

test_that("500 x 140 is below 5 MB", {
  skip_if_not_installed("jsonlite")
  big <- drawn_fit(500, 140, 4, phantom = "white")
  places <- cbind(lng = seq(0, 50, length.out = 500), lat = 45)
  expect_lt(file.size(page_of(big, age = seq_len(500), place = places)), 2e6)
})

test_that("wrong input is told", {
  skip_if_not_installed("jsonlite")
  wrong <- function(word, ...) expect_error(explore(...), word, class = "multicause_input_error")
  wrong("`x`", fits_of_all()$plca)
  wrong("`file`", explored$w, "page.txt")
  wrong("`age`", explored$fit, tempfile(fileext = ".html"), age = 1:3)
  wrong("`unit`", explored$w, tempfile(fileext = ".html"), unit = 1)
  wrong("Unknown argument", explored$w, tempfile(fileext = ".html"), colour = 1)
})

# Zeros before the first or after the last presence of their taxon.
away <- local({
  found <- explored$x == 1
  first <- apply(ifelse(found, explored$ages, Inf), 2, min)
  last <- apply(ifelse(found, explored$ages, -Inf), 2, max)
  which(outer(explored$ages, first, "<") | outer(explored$ages, last, ">"), arr.ind = TRUE)[1L, ]
})

probe <- sprintf("<script>
  const explorer = window.explorer;
  const seen = { errors: 0 };
  const clipped = %s;
  let blob, link; // what the button of downloads hands to the browser
  const make_url = URL.createObjectURL;
  URL.createObjectURL = data => { blob = data; return make_url.call(URL, data); };
  HTMLAnchorElement.prototype.click = function () { link = [this.download, this.href.slice(0, 5)]; };
  window.addEventListener('error', () => { seen.errors += 1; });
  document.addEventListener('securitypolicyviolation', () => { seen.errors += 1; });
  const at = id => document.getElementById(id), fire = (id, kind) => at(id).dispatchEvent(new Event(kind));
  const cells = () => Array.from(at('rows').children, row => Array.from(row.children, cell => cell.textContent));
  const put = (id, value, kind) => { at(id).value = value; fire(id, kind); explorer.flush(); };
  seen.title = document.title;
  seen.options = Array.from(at('site').options, one => one.textContent);
  seen.first = cells()[0];
  const kinds = ['missed', 'undecided', 'absent'];
  const tell = () => kinds.map(one => explorer.states().filter(each => each === one).length);
  seen.states = tell();
  seen.big = [3421.4, 1234567, 120.3, 99.7, 34.56, 0.0000001].map(explorer.big);
  seen.answer = at('answer').textContent;
  put('taxon', '2', 'change');
  seen.taxon = cells().map(row => row[1]);
  seen.says = at('says').textContent;
  seen.csv = window.explorer.csv();
  seen.quality = at('quality').textContent;
  explorer.select(%d, %d);
  seen.cell = at('says').textContent;
  explorer.select(-1, 2);
  const first_place = Number(at('total').value);
  seen.place = first_place;
  put('total', String(first_place + 1), 'input');
  seen.near = tell();
  put('total', '500', 'input');
  seen.half = tell();
  seen.other = at('answer').textContent;
  seen.hash = location.hash;
  put('total', String(first_place), 'input');
  seen.again = tell();
  put('threshold', '90', 'input');
  seen.threshold = at('answer').textContent;
  at('reset').click();
  seen.reset = [location.hash, at('threshold').value, Number(at('total').value) - first_place];
  const map_of = at('heat').getBoundingClientRect();
  at('heat').dispatchEvent(new MouseEvent('mousemove', { clientX: map_of.left + 2, clientY: map_of.top + 2 }));
  seen.hover = at('hover').textContent;
  seen.keys = ['time-key', 'map-key'].map(id => at(id).querySelectorAll('svg').length);
  let draws = 0;
  const pen = CanvasRenderingContext2D.prototype, clear = pen.clearRect;
  pen.clearRect = function (...all) { draws += 1; return clear.apply(this, all); };
  for (let i = 0; i < 20; i++) { at('threshold').value = String(40 + i); fire('threshold', 'input'); }
  explorer.flush();
  pen.clearRect = clear;
  seen.draws = draws;
  at('reset').click();
  put('search', 'genus 7', 'input');
  seen.search = cells().map(row => row[1]);
  at('heads').children[0].firstChild.click();
  seen.sorted = cells().map(row => row[0]);
  at('clear').click();
  at('heat').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
  at('heat').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
  seen.keyboard = [window.explorer.state.site, window.explorer.state.taxon];
  at('clear').click();
  document.querySelectorAll('#time .mark')[4].dispatchEvent(new MouseEvent('click'));
  seen.picked = at('site').selectedOptions[0].textContent;
  seen.dots = [document.querySelectorAll('#time .mark').length, document.querySelectorAll('#map .mark').length];
  seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  seen.clipped = clipped();
  at('clear').click();
  put('taxon', '2', 'change');
  put('search', 'site', 'input');
  seen.kept = cells();
  (async () => {
    at('download').click();
    seen.link = link;
    seen.bytes = Array.from(new Uint8Array(await blob.arrayBuffer()));
    seen.kind = blob.type;
    document.body.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
  })();
</script>", clipped_parts, away[1L] - 1L, away[2L] - 1L)

# The states of the zeros of a result with the total of the page's slider at its middle: all log-odds are moved by one
# number.
half_of_slider <- function(w) {
  total <- min(0.95 * sum(w$candidate), 1.25 * w$total[["high"]]) / 2
  cells <- as.data.frame(w)
  odds <- stats::qlogis(cells$missed)
  shift <- stats::uniroot(function(s) sum(stats::plogis(odds + s)) - total, c(-30, 30), tol = 1e-10)$root
  moved <- function(p) stats::plogis(stats::qlogis(p) + shift)
  tabulate(states_of(moved(cells$missed_low), moved(cells$missed_high), 0.5), 4L)[2:4]
}

test_that("in a browser the parts follow each other, and names are shown as written", {
  skip_if_not_installed("jsonlite")
  chromium <- chromium_here()
  file <- page_of(explored$w)
  for (width in c(1280L, 400L)) {
    seen <- jsonlite::fromJSON(left_in(dump_page(file, probe, chromium, width), "data-seen"))
    expect_identical(seen$errors, 0L)
    expect_lte(seen$wide, 0)
    expect_identical(as.character(seen$clipped), character())
    expect_identical(seen$title, "Which zeros are false absences?")
    expect_identical(seen$quality, paste(quality_sentences(explored$w), collapse = " "))
    expect_match(seen$cell, "Its age, [0-9.]+, is outside those of the presences, [0-9.]+ to [0-9.]+[.]$")
    expect_setequal(seen$options, c("all", rownames(explored$x)))
    cells <- as.data.frame(explored$w)
    expect_identical(seen$first[1:2], as.character(unlist(cells[1L, c("site", "taxon")]))) # as the print has them
    expect_equal(as.numeric(seen$first[3L]), cells$probability[1L], tolerance = 1e-2)
    shown <- as.numeric(regmatches(seen$first[4L], gregexpr("[0-9.]+", seen$first[4L]))[[1L]])
    expect_equal(shown, unlist(cells[1L, c("missed", "missed_low", "missed_high")]), tolerance = 1e-2,
      ignore_attr = TRUE)
    expect_match(seen$answer, data_of(file)$said, fixed = TRUE)
    expect_equal(seen$states, tabulate(zero_states(explored$w, 0.5), 5L)[2:4])
    expect_match(seen$answer, sprintf(
      "Zeros whose whole 90 %% interval is above 0.50: %d; undecided: %d.", seen$states[1L], seen$states[2L]
    ), fixed = TRUE)
    expect_identical(seen$big, c(unbroken(show_count(c(3421.4, 1234567, 120.3, 99.7, 34.56))), "0"))
    expect_equal(seen$half, half_of_slider(explored$w), tolerance = 0.02)
    # One rule: the slider starts at the estimate, and a step beside it changes next to nothing.
    expect_gt(seen$place, 0)
    expect_lte(max(abs(seen$near - seen$states)), 2)
    expect_identical(seen$again, seen$states)
    expect_match(seen$other, "Undetected presences expected: [0-9. ]+, as the slider has it")
    expect_match(seen$hash, "total=[0-9.]+")
    expect_identical(seen$reset, c("", "50", "0"))
    expect_match(seen$hover, " at ")
    expect_identical(seen$keys, c(3L, 2L))
    expect_identical(seen$draws, 360L) # one draw of all cells, of twenty events
    expect_identical(unique(seen$taxon), odd_names[3L])
    expect_length(seen$taxon, sum(explored$x[, 3L] == 0))
    expect_match(seen$says, sprintf("^%s: %d found", odd_names[3L], sum(explored$x[, 3L])))
    csv <- utils::read.csv(text = seen$csv, encoding = "UTF-8")
    expect_identical(nrow(csv), length(seen$taxon))
    expect_true("'=1+1" %in% csv$localities || explored$x[4L, 3L] == 1)
    expect_match(seen$threshold, "above 0.90", fixed = TRUE)
    expect_identical(unique(seen$search), "Genus 7")
    expect_identical(seen$keyboard, c(1L, data_of(file)$columns[1L]))
    expect_identical(seen$picked, rownames(explored$x)[5L])
    expect_identical(seen$dots, c(30L, 30L))
    # The displayed rows are downloaded: a file for a spreadsheet, with a UTF-8 byte order mark.
    expect_identical(seen$link, c("zeros.csv", "blob:"))
    expect_identical(seen$kind, "text/csv")
    expect_identical(seen$bytes[1:3], c(0xEFL, 0xBBL, 0xBFL))
    saved <- rawToChar(as.raw(seen$bytes[-(1:3)]))
    Encoding(saved) <- "UTF-8"
    rows <- utils::read.csv(text = saved, encoding = "UTF-8", colClasses = "character", check.names = FALSE)
    heads <- c("localities", "genera", "probability", "missed", "missed_low", "missed_high", "age")
    expect_identical(names(rows), heads)
    expect_identical(unname(as.matrix(rows[1:2])), seen$kept[, 1:2])
    expect_identical(rows$age, seen$kept[, 5L])
    expect_setequal(rows$localities, grep("^Site", rownames(explored$x)[explored$x[, 3L] == 0], value = TRUE))
    at <- match(paste(rows$localities, rows$genera), paste(cells$site, cells$taxon))
    for (part in c("missed", "missed_low", "missed_high")) {
      expect_equal(as.numeric(rows[[part]]), cells[[part]][at], tolerance = 2e-2)
    }
  }
})

keyboard_probe <- "<script>
  const seen = { errors: 0 };
  window.addEventListener('error', () => { seen.errors += 1; });
  const at = id => document.getElementById(id), explorer = window.explorer;
  const press = (node, key) => node.dispatchEvent(
    new KeyboardEvent('keydown', { key: key, bubbles: true, cancelable: true })
  );
  const reached = part => { part.focus(); return document.activeElement === part; };
  // All that can be worked can be reached by the tab key, in the order of the page, and has a name.
  const parts = Array.from(document.querySelectorAll('select, input, button, canvas, [tabindex]'))
    .filter(part => part.getBoundingClientRect().width);
  seen.unreached = parts.filter(part => part.tabIndex !== 0 || !reached(part)).map(part => part.outerHTML.slice(0, 80));
  seen.nameless = parts.filter(part => !(part.labels && part.labels.length || part.getAttribute('aria-label') ||
    part.textContent.trim())).map(part => part.outerHTML.slice(0, 80));
  const row = at('rows').children[3], wanted = Array.from(row.children, cell => cell.textContent);
  row.focus();
  press(row, 'Enter');
  seen.entered = [at('site').selectedOptions[0].textContent, at('taxon').selectedOptions[0].textContent];
  seen.wanted = wanted.slice(0, 2);
  seen.selected = Array.from(at('rows').children).filter(one => one.getAttribute('aria-selected') === 'true').length;
  seen.focus = document.activeElement.tagName;
  at('heat').focus();
  for (let i = 0; i < 100; i++) ['ArrowUp', 'ArrowLeft'].forEach(key => press(at('heat'), key));
  const before = [explorer.state.site, explorer.state.taxon]; // the corner, from where all keys can move
  ['ArrowDown', 'ArrowRight'].forEach(key => press(at('heat'), key));
  seen.moved = explorer.state.site !== before[0] && explorer.state.taxon !== before[1];
  ['ArrowLeft', 'ArrowUp'].forEach(key => press(at('heat'), key));
  seen.round = JSON.stringify(before) === JSON.stringify([explorer.state.site, explorer.state.taxon]);
  for (let i = 0; i < 100; i++) press(at('heat'), 'ArrowUp');
  seen.top = explorer.state.site;
  seen.said = at('says').getAttribute('aria-live');
  press(at('heat'), 'Escape');
  seen.left = [explorer.state.site, explorer.state.taxon];
  document.body.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
</script>"

test_that("all can be done by keyboard", {
  skip_if_not_installed("jsonlite")
  chromium <- chromium_here()
  file <- page_of(explored$w)
  seen <- jsonlite::fromJSON(left_in(dump_page(file, keyboard_probe, chromium), "data-seen"))
  expect_identical(seen$errors, 0L)
  expect_length(seen$unreached, 0L)
  expect_length(seen$nameless, 0L)
  expect_identical(seen$entered, seen$wanted)
  expect_identical(seen$selected, 1L)
  expect_identical(seen$focus, "TR") # it does not fall back to the top of the page
  expect_true(seen$moved)
  expect_true(seen$round)
  expect_identical(seen$top, data_of(file)$rows[1L])
  expect_identical(seen$said, "polite")
  expect_identical(seen$left, c(-1L, -1L))
})

test_that("a title with the page's own marks in it is a title, and NaN inside an answer is refused", {
  skip_if_not_installed("jsonlite")
  w <- which_zeros(simulated_sites$x[1:30, ], quick = TRUE, seed = 1)
  file <- tempfile(fileext = ".html")
  on.exit(unlink(file))
  explore(w, file, title = "a @DATA@ and @SCRIPT@", open = FALSE)
  page <- paste(readLines(file, warn = FALSE), collapse = "\n")
  expect_match(page, "<title>a @DATA@ and @SCRIPT@</title>", fixed = TRUE)
  expect_match(page, "id=\"data\">{", fixed = TRUE)
  w$ratios$log[2] <- NaN
  expect_error(explore(w, file, open = FALSE), "ratios", class = "multicause_input_error")
})

test_that("the page of a large table has the sites of which most is expected", {
  skip_if_not_installed("jsonlite")
  x <- simulated_sites$x[1:60, ]
  place <- cbind(lng = 1:60 / 10, lat = 60:1 / 10)
  w <- suppressMessages(which_zeros(x, age = 60:1, place = place, quick = TRUE, seed = 1))
  data <- function(...) explore_data(w, NULL, NULL, NULL, "Ma", NULL)
  all <- data()
  bind_in_namespace("most_on_page", 10 * ncol(x))
  expect_message(some <- data(), "10 sites of which most is expected, of 60")
  sums <- by_site(w)
  kept <- sort(order(-sums$missed)[1:10])
  expect_identical(unclass(some$sites), unclass(all$sites)[kept])
  for (part in c("probability", "low", "high")) {
    rows <- function(value, n) matrix(unclass(value), ncol = n)
    expect_identical(rows(some[[part]], 10), rows(all[[part]], 60)[, kept], label = part)
  }
  for (part in c("age", "lon", "lat")) expect_equal(unclass(some[[part]]), unclass(all[[part]])[kept])
  expect_identical(w$ratios$side, 0L) # one ratio for all sites
  expect_equal(some$ratio, all$ratio)
  part <- sum(sums$missed[kept]) / sum(sums$missed)
  expect_equal(unclass(some$total), part * unclass(all$total), ignore_attr = TRUE)
  control <- fit_control(n_start = 1, n_polish = 0, max_iter = 30, progress = FALSE)
  fit <- quiet_fit(aspect_bernoulli(x, 3, control = control))$value
  expect_message(page <- explore_data(fit, NULL, NULL, NULL, "Ma", NULL), "10 sites")
  expect_length(page$sites, 10L)
  expect_true(all(unlist(lapply(page$components, `[[`, "sites")) %in% 0:9))
})

test_that("the coast of the page is cut to its map, and as fine as a pixel", {
  skip_if_not_installed("maps")
  sites <- early_tetrapods$sites
  place <- one_piece(as.matrix(sites[c("lng", "lat")]))
  lines <- coast_lines(place[1:40, ], NULL)
  frame <- page_frame(place[1:40, ])
  points <- do.call(rbind, lines)
  expect_true(all(points[, 1L] >= frame$lon[1L] - frame$pixel & points[, 1L] <= frame$lon[2L] + frame$pixel))
  expect_true(all(points[, 2L] >= frame$lat[1L] - frame$pixel & points[, 2L] <= frame$lat[2L] + frame$pixel))
  steps <- do.call(rbind, lapply(lines, function(one) abs(diff(round(one / frame$pixel)))))
  expect_gt(mean(rowSums(steps) > 0), 0.98) # up to rounding of the third decimal
})

state_probe <- "<script>
  const seen = {};
  window.addEventListener('hashchange', () => setTimeout(() => {
    const at = id => document.getElementById(id);
    seen.state = [explorer.state.site, explorer.state.taxon, explorer.state.threshold];
    seen.shown = [at('site').value, at('threshold-said').textContent, at('search').value];
    seen.high = at('heat').getBoundingClientRect().height;
    document.body.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
  }, 0));
  location.hash = '#site=2&taxon=1&threshold=0.7&search=a%20b&total=-5&component=99&junk';
</script>"

test_that("a file without an ending gets .html, and another ending is refused", {
  folder <- tempfile()
  dir.create(folder)
  fit <- aspect_bernoulli(simulated_sites$x[1:20, 1:8], 2, control = quiet_control(n_start = 1))
  explore(fit, file.path(folder, "page"), open = FALSE)
  explore(fit, file.path(folder, "PAGE2.HTML"), open = FALSE)
  expect_setequal(dir(folder), c("page.html", "PAGE2.HTML"))
  expect_error(explore(fit, file.path(folder, "a.pdf")), "ends in .html", class = "multicause_input_error")
})

test_that("the address says what is shown, and rows of many sites stay low", {
  skip_if_not_installed("jsonlite")
  chromium <- chromium_here()
  long <- drawn_fit(320, 12, 2)
  seen <- jsonlite::fromJSON(left_in(dump_page(page_of(long), state_probe, chromium), "data-seen"))
  expect_equal(seen$state, c(2, 1, 0.7))
  expect_identical(seen$shown, c("2", "0.70", "a b"))
  expect_lt(seen$high, 1000)
})

test_that("a fit of no probabilities has no page", {
  fit <- nmf(matrix(0:11 + 0, 4, dimnames = list(letters[1:4], LETTERS[1:3])), 2,
    control = fit_control(n_start = 1, max_iter = 0))
  skip_if_not_installed("jsonlite")
  expect_error(explore(fit, open = FALSE), "`x` must be a fit of plsa(), or one to a 0/1 table of two dimensions.",
    fixed = TRUE, class = "multicause_input_error")
})

test_that("a page without jsonlite, or of many megabytes, is told", {
  x <- matrix(rep_len(c(1, 0, 0, 1, 1), 60), 10, dimnames = list(letters[1:10], LETTERS[1:6]))
  fit <- bernoulli_mixture(x, 2, control = fit_control(n_start = 1, max_iter = 0))
  skip_if_not_installed("jsonlite")
  page <- function() {
    bind_in_namespace("filled_page", function(...) strrep(" ", 6e6))
    explore(fit, open = FALSE)
  }
  expect_message(page(), "The page is of 6.0 MB: browsers may be slow with it.", fixed = TRUE,
    class = "multicause_message")
  without_packages("jsonlite")
  expect_error(explore(fit, open = FALSE), "explore() needs package jsonlite: install.packages(\"jsonlite\").",
    fixed = TRUE, class = "multicause_input_error")
})
