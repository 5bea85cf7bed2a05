# The page of topics: its data are those of the fit; in a browser its parts are linked.

topics <- local({
  set.seed(2)
  basis <- rbind(c(5, 4, 3, 1, 0, 0, 0, 1), c(0, 0, 1, 3, 4, 5, 1, 0), c(1, 0, 0, 0, 1, 0, 6, 4))
  share <- matrix(rexp(120)^2, 40)
  x <- t(apply((share / rowSums(share)) %*% (basis / rowSums(basis)), 1L, function(p) rmultinom(1L, 60L, p)))
  x[, 4L] <- x[, 4L] + 1
  dimnames(x) <- list(quarry = c("<b>first</b>", paste("quarry", 2:40)), genus = c("</script>", letters[2:8]))
  list(x = x, fit = plsa(x, 3, control = fit_control(n_start = 3)))
})

page_of_topics <- function(fit = topics$fit, ...) explore(fit, tempfile(fileext = ".html"), ..., open = FALSE)
data_of_topics <- function(...) {
  html <- paste(readLines(page_of_topics(...), encoding = "UTF-8", warn = FALSE), collapse = "\n")
  data <- jsonlite::fromJSON(sub("</script>.*", "", sub(".*id=\"data\">", "", html)), simplifyMatrix = FALSE)
  by_component <- c("written", "log_share", "log_lift")
  data[by_component] <- lapply(data[by_component], function(rows) do.call(rbind, rows))
  data
}

test_that("the data of the page are those of the fit", {
  skip_if_not_installed("jsonlite")
  fit <- topics$fit
  data <- data_of_topics()
  expect_identical(data$words, c("quarries", "genera"))
  expect_identical(sort(data$terms), sort(colnames(topics$x))) # each is characteristic of some component
  order <- match(data$terms, colnames(topics$x))
  expect_equal(data$count, unname(colSums(topics$x)[order]))
  written <- colSums(coef(fit)$membership * rowSums(topics$x))
  expect_equal(data$share, unname(written / sum(topics$x)), tolerance = 1e-4)
  expect_equal(data$written, unname(coef(fit)$basis[, order] * written), tolerance = 1e-4)
  expect_equal(colSums(data$written), data$count, tolerance = 0.1)
  most <- which.max(coef(fit)$membership[, 1L] * rowSums(topics$x))
  expect_identical(data$sites$names[[1L]][1L], rownames(topics$x)[most])
  # With the default weight the first terms are those of top_terms().
  relevance <- 0.6 * data$log_share + 0.4 * data$log_lift
  for (c in 1:3) {
    first <- top_terms(fit, 3, by = "relevance")
    mine <- data$tops[[c]] + 1L
    expect_identical(
      data$terms[mine[order(-relevance[c, mine])]][1:3], first$term[first$component == paste0("A", c)]
    )
  }
})

test_that("distances on the plane are roots of Jensen-Shannon divergences, of one, two and three components", {
  one <- function(p, q) {
    kl <- function(a, b) sum(ifelse(a > 0, a * log(a / b), 0))
    sqrt((kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2)
  }
  w <- rbind(c(1, 0, 0), c(0.5, 0.5, 0), c(0, 0.2, 0.8))
  wanted <- c(one(w[1, ], w[2, ]), one(w[1, ], w[3, ]), one(w[2, ], w[3, ]))
  expect_equal(as.vector(stats::dist(topic_places(w))), wanted)
  expect_equal(as.vector(stats::dist(topic_places(w[1:2, ]))), wanted[1L])
  expect_identical(topic_places(w[1L, , drop = FALSE]), matrix(0, 1L, 2L))
  expect_identical(dim(topic_places(w[c(1, 1), ])), c(2L, 2L))
})

test_that("unknown cells, sparse tables and a single component have a page; wrong input is told", {
  skip_if_not_installed("jsonlite")
  x <- topics$x
  x[2, 3] <- NA
  one <- data_of_topics(plsa(x, 1, control = fit_control(n_start = 1)))
  expect_equal(one$share, 1)
  expect_equal(sum(one$count), sum(x, na.rm = TRUE))
  sparse <- Matrix::Matrix(topics$x, sparse = TRUE)
  expect_equal(data_of_topics(update(topics$fit, x = sparse), title = "Mine")$title, "Mine")
  wrong <- function(word, ...) expect_error(explore(topics$fit, ...), word, class = "multicause_input_error")
  wrong("`n`", n = 0)
  wrong("`file`", "page.txt")
  wrong("Unknown argument", tempfile(fileext = ".html"), age = 1:40)
  bare <- update(topics$fit, control = fit_control(n_start = 1, keep_x = FALSE))
  expect_error(explore(bare, open = FALSE), "keep_x", class = "multicause_input_error")
})

topics_probe <- sprintf("<script>
  const seen = { errors: 0 };
  const clipped = %s;
  window.addEventListener('error', () => { seen.errors += 1; });
  document.addEventListener('securitypolicyviolation', () => { seen.errors += 1; });
  const at = id => document.getElementById(id), explorer = window.explorer;
  const press = (node, key) => node.dispatchEvent(
    new KeyboardEvent('keydown', { key: key, bubbles: true, cancelable: true })
  );
  const terms = () => Array.from(at('rows').children, row => row.children[0].textContent);
  const put = (id, value, kind) => { at(id).value = value; at(id).dispatchEvent(new Event(kind)); };
  put('component', '1', 'change');
  seen.relevance = terms();
  put('weight', '100', 'input');
  seen.probability = terms();
  seen.sites = Array.from(at('sites').children, row => row.children[0].textContent);
  const radii = () => Array.from(document.querySelectorAll('#plane circle')).sort((a, b) => a.dataset.at - b.dataset.at)
    .map(disc => Number(disc.getAttribute('r')));
  press(at('rows').children[0], 'Enter');
  seen.focus = document.activeElement.tagName;
  seen.term = radii();
  seen.says = at('says').textContent;
  at('clear').click();
  seen.share = radii();
  press(document.querySelector('#plane [data-at=\"2\"]'), ' ');
  seen.picked = explorer.state.component;
  seen.title = document.title;
  seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  seen.clipped = clipped();
  document.body.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
</script>", clipped_parts)

test_that("in a browser the slider orders the terms, and a picked term sizes the components", {
  skip_if_not_installed("jsonlite")
  chromium <- chromium_here()
  fit <- topics$fit
  first <- function(by) {
    terms <- top_terms(fit, 8, by = by)
    terms$term[terms$component == "A2"]
  }
  for (width in c(1280L, 400L)) {
    seen <- jsonlite::fromJSON(left_in(dump_page(page_of_topics(), topics_probe, chromium, width), "data-seen"))
    expect_identical(seen$errors, 0L)
    expect_lte(seen$wide, 0)
    expect_identical(as.character(seen$clipped), character())
    expect_identical(seen$title, "Topics")
    expect_identical(seen$relevance, intersect(first("relevance"), seen$relevance))
    expect_identical(seen$probability, utils::head(first("probability"), length(seen$probability)))
    written <- colSums(coef(fit)$membership * rowSums(topics$x))
    at <- match(seen$probability[1L], colnames(topics$x))
    of_term <- coef(fit)$basis[, at] * written
    radius <- function(share) pmax(3, 60 * sqrt(share / 2))
    expect_equal(seen$term, radius(unname(of_term / sum(of_term))), tolerance = 1e-2)
    expect_equal(seen$share, radius(unname(written / sum(written))), tolerance = 1e-2)
    expect_match(seen$says, paste0(seen$probability[1L], ", "), fixed = TRUE)
    expect_identical(seen$focus, "TR")
    expect_identical(seen$picked, 2L)
    expect_length(seen$sites, 30L)
  }
})
