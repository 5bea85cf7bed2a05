# Arguments for sites or taxa are matched by names, in R/check.R and in all verbs.

skip_on_cran()

x <- simulated_sites$x[1:30, ]
sites <- rownames(x)
taxa <- colnames(x)
few <- fit_control(n_start = 1, n_polish = 0, max_iter = 20, tol = 1, progress = FALSE)
value <- stats::setNames(seq(0.3, 0.9, length.out = 30), sites)
turned <- c(30:16, 1:15)
expect_refused <- function(object, regexp) expect_error(object, regexp, class = "multicause_input_error")

test_that("names decide, in every form in which values for sites come", {
  other <- value[turned]
  forms <- list(
    other, tapply(other, names(other), mean), as.matrix(other), data.frame(v = other),
    factor(other), as.list(other), data.frame(v = unname(other), row.names = names(other))
  )
  for (form in forms) {
    got <- by_name(form, sites, "v")
    expect_identical(as.vector(given_names(got)), sites)
    expect_equal(as.numeric(as.character(unlist(got))), unname(value))
  }
  expect_identical(by_name(value, sites, "v"), value)
})

test_that("where one side has no names, values are taken in their order", {
  expect_identical(by_name(unname(value), sites, "v"), unname(value))
  expect_identical(by_name(value[turned], NULL, "v"), value[turned])
  bare <- data.frame(v = unname(value))[turned, , drop = FALSE]
  expect_identical(by_name(bare, sites, "v"), bare)
  numbered <- as.matrix(data.frame(v = unname(value), row.names = as.character(1:30)))
  expect_identical(by_name(numbered, sites, "v"), numbered)
  # Row numbers that are names of the sites are also matched.
  own <- data.frame(v = 1:30)[turned, , drop = FALSE]
  expect_identical(by_name(own, as.character(1:30), "v")$v, 1:30)
  expect_refused(by_name(own[-3, , drop = FALSE], as.character(1:30), "v"), "Row names of `v`.*they lack \"28\"")
})

test_that("the rows of a data frame keep the numbers that they had in another order or in a larger table", {
  frame <- data.frame(a = c(1, 0, 1, 1), b = c(0, 1, 1, 0))
  expect_identical(rownames(as_plain_matrix(frame[c(3, 1, 4), ], "x")), c("3", "1", "4"))
  expect_null(rownames(as_plain_matrix(frame, "x")))
  expect_null(rownames(as_plain_matrix(frame[1:3, ], "x")))
})

test_that("unknown, missing and repeated names are refused and told", {
  wrong <- function(labels, ...) by_name(stats::setNames(1:3, labels), c("a", "b", "c"), "v", ...)
  expect_refused(wrong(c("a", "b", "z")), "`v` must be those of the data, each once: they lack \"c\", the data have")
  expect_refused(wrong(c("a", "b", "b")), "they lack \"c\", they have \"b\" twice")
  expect_refused(by_name(c(a = 1, b = 2, c = 3, z = 4), c("a", "b", "c"), "v"), "the data have no \"z\"")
  expect_identical(by_name(c(z = 4, c = 3, b = 2, a = 1), c("a", "b", "c"), "v", others = TRUE), c(a = 1, b = 2, c = 3))
  expect_refused(wrong(c("a", "b", "")), "the data have no \"\"")
  expect_refused(by_names(matrix(0, 2, 2, dimnames = list(NULL, c("t", "t"))), list(NULL, c("s", "t")), "v"),
    "Column names of `v`")
})

test_that("which_zeros() takes completeness, within, ages and places by the names of sites", {
  place <- cbind(lng = 1:30, lat = 0)
  rownames(place) <- sites
  within <- x == 0 & matrix(seq_along(x) %% 7 > 0, 30)
  asked <- function(at, columns) {
    which_zeros(x, age = stats::setNames(30:1, sites)[at], place = as.data.frame(place)[at, ], quick = TRUE, seed = 1,
      completeness = value[at], within = within[at, columns])
  }
  w <- asked(1:30, seq_len(ncol(x)))
  u <- asked(turned, rev(seq_len(ncol(x))))
  kept <- setdiff(names(w), c("call"))
  expect_identical(u[kept], w[kept])
  expect_gt(stats::cor(by_site(w)$share, 1 - value), 0.9)
  groups <- stats::setNames(rep(c("a", "b"), c(20, 10)), sites)
  expect_identical(contrast(w, groups[turned]), contrast(w, groups))
  expect_identical(by_site(w, groups = groups[turned]), by_site(w, groups = groups))
  of_taxa <- stats::setNames(rep(1:2, length.out = ncol(x)), taxa)
  expect_identical(by_taxon(w, groups = rev(of_taxa)), by_taxon(w, groups = of_taxa))
  names(groups)[3] <- "nowhere"
  expect_refused(contrast(w, groups), "they lack .*, the data have no \"nowhere\"")
})

test_that("completeness of other sites, or of one alone, is refused, and a named range is one", {
  of <- function(value) check_completeness(value, 30L, sites)
  expect_refused(of(stats::setNames(value, paste0("z", 1:30))), "Names of `completeness`.*they lack")
  expect_refused(of(stats::setNames(value, sites[c(1, 1:29)])), "twice")
  expect_refused(of(cbind(value, value)[1:29, ]), "Row names of `completeness`")
  expect_refused(of(value[1]), "they lack")
  expect_identical(of(c(low = 0.2, high = 0.6))[7, ], c(0.2, 0.6))
  expect_identical(of(cbind(high = value, low = value / 2)[turned, ]), unname(cbind(value / 2, value)))
  expect_identical(of(unname(value)), unname(cbind(value, value)))
})

test_that("sites are picked by names, numbers and flags alike", {
  at <- c(4L, 9L)
  flags <- stats::setNames(seq_along(sites) %in% at, sites)
  for (which in list(at, sites[at], flags, unname(flags), flags[turned], which(flags[turned]), factor(sites[at]))) {
    expect_setequal(pick(which, 30L, sites, "leave_out"), at)
  }
  expect_refused(pick(flags[-1], 30L, sites, "leave_out"), "they lack")
  expect_refused(pick(c(TRUE, NA), 2L, NULL, "rows"), "TRUE or FALSE for each of the 2, .* not NA")
  expect_refused(pick(rep(FALSE, 30), 30L, sites, "rows"), "TRUE for some")
  expect_identical(pick_some(flags & FALSE, x, "leave_out"), integer())
  expect_refused(pick(c(nowhere = 3), 30L, sites, "rows"), "\"nowhere\" is not")
})

test_that("covariates are matched among themselves, and one without names beside others is not guessed", {
  age <- stats::setNames(1:30, sites)
  place <- cbind(easting = 1:30, northing = 30:1)
  rownames(place) <- sites
  given <- function(age, place, distance = NULL) {
    match_smooth(smooth_over(age = age, place = place, distance = distance), x)$given
  }
  expect_identical(given(age[turned], place), given(age, place))
  far <- as.matrix(stats::dist(place))
  expect_identical(given(age, place[turned, ], far[30:1, 30:1]), given(age, place, far))
  expect_identical(given(age, unname(place) |> `colnames<-`(colnames(place)))$age, given(age, place)$age)
  expect_refused(given(age[turned], `rownames<-`(place, NULL)), "`place` must name the sites, as `age` does")
  expect_refused(given(unname(1:30), place[turned, ]), "`age` must name the sites, as `place` does")
  expect_refused(given(age[c(2:30, 2)], place), "`age` must be unique")
  expect_refused(given(age, place[c(2:30, 2), ]), "Row names of `place`.*they lack")
})

test_that("new rows take what goes along by name", {
  old <- x[1:20, ]
  near <- smooth_over(age = stats::setNames(1:20, sites[1:20]), bandwidth = 3, strength = 5)
  fit <- aspect_bernoulli(old, 2, smooth = near, control = few)
  ages <- stats::setNames(1:10, sites[21:30])
  new <- function(ages) predict(fit, x[21:30, ], along = list(age = ages))
  expect_identical(new(rev(ages)), new(ages))
  expect_refused(new(ages[c(1, 1:9)]), "`along\\$age`")
})

test_that("effort, ranges, ages, rates and scores go by name", {
  effort <- function(at) match_effort(value[at], 30L, sites)
  expect_identical(effort(turned), effort(1:30))
  ages <- data.frame(max_ma = 31:2, min_ma = 30:1, row.names = sites)
  expect_identical(range_through(x, ages[turned, ]), range_through(x, ages))
  expect_identical(range_through(x, tapply(ages$max_ma, sites, mean)), range_through(x, ages$max_ma))
  expect_refused(range_through(x, ages[-1, ]), "Row names of `age`")
  rates <- function(at) with_seed(1, corrupt(x, omit = value[at]))
  expect_identical(rates(turned), rates(1:30))
  damage <- rates(1:30)
  scores <- matrix(stats::runif(length(x)), 30, dimnames = dimnames(x))
  expect_identical(recovery(scores[turned, rev(taxa)], damage), recovery(scores, damage))
  expect_refused(recovery(unname(scores)[, -1], damage), "as `truth` is")
})

test_that("parts of a start go by name, and those of another table are refused", {
  same <- function(f, k = 2, data = x, parts, ...) {
    fit <- suppressWarnings(f(data, k, control = few, ...))
    start <- lapply(fit$param[names(parts)], function(part) part)
    other <- Map(function(part, side) {
      if (is.null(dim(part))) return(rev(part))
      if (side == 1L) part[30:1, , drop = FALSE] else part[, rev(taxa), drop = FALSE]
    }, start, parts)
    again <- function(start) {
      if (!is.null(fit$param$weights)) start$weights <- fit$param$weights
      f(data, k, start = start, control = few, ...)$param
    }
    expect_identical(again(other), again(start))
    bad <- other
    at <- which(parts == 2L)[1L]
    colnames(bad[[at]])[2L] <- "nobody"
    expect_refused(again(bad), "nobody")
  }
  same(aspect_bernoulli, parts = c(membership = 1L, aspects = 2L))
  same(bernoulli_mixture, parts = c(prototypes = 2L))
  same(nmf, parts = c(coefficients = 1L, basis = 2L))
  same(plsa, parts = c(membership = 1L, basis = 2L))
  same(logistic_pca, parts = c(scores = 1L, loadings = 2L, intercept = 2L))
})

test_that("covariates of visits go by name", {
  again <- x
  again[1:5, ] <- 0
  visits <- list(first = x, second = again)
  effort <- cbind(first = 1:30, second = 30:1)
  rownames(effort) <- sites
  read <- function(value) visit_matrix(value, "effort", c(30L, ncol(x), 2L), list(sites, taxa, c("first", "second")))
  expect_identical(read(effort[turned, 2:1]), read(effort))
  expect_identical(read(value[turned]), read(unname(value)))
  expect_refused(read(`rownames<-`(effort, paste0("z", 1:30))), "visit_data\\$effort")
  place <- data.frame(depth = 1:30, row.names = sites)
  side <- function(value) side_values(value, 30L, sites, "site_data", c("site", "sites"))
  expect_identical(side(place[turned, , drop = FALSE]), side(place))
  expect_refused(side(data.frame(depth = 1:30, row.names = paste0("z", 1:30))), "Names of `site_data`")
  expect_refused(side(data.frame(site = c(sites, sites[1]), depth = 1:31)), "twice")
  expect_identical(check_visits(list(x, again[30:1, ]), name = "x"), check_visits(list(x, again), name = "x"))
  expect_identical(wz_data(x[turned, ], check_visits(visits, name = "visits"))$x,
    wz_data(NULL, check_visits(visits, name = "visits"))$x[turned, ])
})

test_that("ages, places and variables come from the site table of the data, or by a column of names", {
  sites <- data.frame(
    site = rep(paste0("site", 1:30), each = 12), taxon = rep(paste0("taxon", 1:12), 30), old = rep(30:1, each = 12),
    young = rep(30:1 - 0.5, each = 12), depth = rep(sqrt(1:30), each = 12)
  )
  set.seed(4)
  records <- sites[stats::runif(360) < ifelse((sites$old > 15) == (sites$taxon %in% paste0("taxon", 1:6)), 0.6, 0.15), ]
  table <- occurrence_matrix(records, "site", "taxon", min_sites = 1)
  known <- site_table(table)
  plain <- table
  attr(plain, "sites") <- NULL
  ask <- function(...) as.data.frame(which_zeros(..., quick = TRUE, seed = 1))
  want <- ask(plain, age = known[c("old", "young")], environment = known["depth"])
  expect_identical(ask(table, age = c("old", "young"), environment = "depth"), want)
  turned <- known[rev(seq_len(nrow(known))), ]
  age <- data.frame(name = turned$site, turned[c("old", "young")])
  rownames(age) <- NULL
  expect_identical(ask(plain, age = age, environment = turned["depth"]), want)
  # Sites may have numbers as names, stored in a numeric column.
  numbered <- plain
  rownames(numbered) <- 100 + seq_len(30)
  age$name <- 100 + match(age$name, rownames(plain))
  expect_identical(ask(numbered, age = age)$probability, ask(plain, age = known[c("old", "young")])$probability)
  w <- which_zeros(table, age = c("old", "young"), environment = "depth", quick = TRUE, seed = 2)
  expect_identical(as.data.frame(update(w, seed = 1)), want)
  refused <- function(...) expect_error(which_zeros(...), class = "multicause_input_error")
  expect_match(conditionMessage(refused(table, age = c("old", "yung"))), "no \"yung\", but \"site\"")
  expect_match(conditionMessage(refused(plain, age = c("old", "young"))), "there is no site table")
  age$name <- turned$site
  expect_match(conditionMessage(refused(plain, age = age[-3, ])), "they lack \"site")
  expect_match(conditionMessage(refused(plain, age = age[c(1, 1:30), ])), "twice")
})

test_that("what holds the names of the sites is the key, column or row names, numeric or not, and it is told which", {
  labels <- as.character(1:30)
  depth <- sqrt(1:30)
  of <- function(table, argument = "environment", known = labels) {
    site_covariates(stats::setNames(list(table), argument), NULL, known, length(known))[[argument]]
  }
  by_column <- function(table, want, ...) {
    expect_message(got <- of(table, ...), "matched by its column \"site_id\"", class = "multicause_message")
    expect_equal(as.data.frame(got), want, ignore_attr = TRUE)
    expect_identical(rownames(got), list(...)$known %||% labels)
  }
  table <- data.frame(site_id = turned, x = depth[turned])
  by_column(table, data.frame(x = depth))
  by_column(table[2:1], data.frame(x = depth))
  by_column(transform(table, site_id = factor(site_id)), data.frame(x = depth))
  by_column(data.frame(site_id = turned, max = depth[turned] + 1, min = depth[turned]),
    data.frame(max = depth + 1, min = depth), "age")
  by_column(data.frame(site_id = turned, lng = depth[turned], lat = 1), data.frame(lng = depth, lat = 1), "place")
  # Excluded sites, and numbers that R would write as 1e+05.
  far <- 100000 * 1:30
  big <- data.frame(site_id = far[turned], x = depth[turned])
  for (known in list(as.character(far), sprintf("%.0f", far))) {
    by_column(rbind(big, c(7, 0)), data.frame(x = depth), known = known)
  }
  # A column equal to the row names is not a covariate.
  named <- data.frame(site_id = turned, x = depth[turned], row.names = as.character(turned))
  expect_identical(of(named), data.frame(x = depth, row.names = labels))
  # Shuffled rows keep their numbers.
  shuffled <- data.frame(old = depth + 1, young = depth)[turned, ]
  expect_message(got <- of(shuffled, "age"), "Rows of `age` matched by their numbers", class = "multicause_message")
  expect_identical(got$young, depth)
  # If the column is the only one, it is the covariate itself.
  expect_no_message(expect_identical(of(data.frame(age = 30:1), "age")$age, 30:1))
  expect_no_message(of(data.frame(lng = 30:1, lat = 1:30), "place"))
  expect_refused(of(table[-3, ]), "they lack|must have")
  expect_refused(of(transform(table, site_id = paste(replace(site_id, 2, 1)))), "twice|lack")
  own <- `rownames<-`(x, labels)
  ages <- data.frame(site_id = turned, max = depth[turned] + 1, min = depth[turned])
  expect_message(got <- range_through(own, ages), "Rows of `age` matched by its column \"site_id\"")
  expect_identical(got, range_through(own, cbind(depth + 1, depth)))
  # Tables of covariates of visits, and of results, are matched likewise.
  expect_message(side <- side_values(table, 30L, labels, "site_data", c("site", "sites")), "by its column \"site_id\"")
  expect_identical(side$x, depth)
  expect_message(key <- site_key(table, labels), "by its column \"site_id\"")
  expect_identical(key$values, as.character(turned))
  w <- function(...) which_zeros(unname(x) |> `rownames<-`(labels), quick = TRUE, seed = 1, ...)
  expect_identical(as.data.frame(suppressMessages(w(environment = table))), as.data.frame(w(environment = data.frame(
    x = depth
  ))))
})

# A data frame of the sites whose class adds a geometry to any selected columns, as in package sf.
sticky_sites <- function(table) {
  registerS3method("[", "sticky_sites", function(x, i, j, ..., drop = FALSE) {
    plain <- structure(unclass(x), class = "data.frame")
    one <- nargs() - (!missing(drop)) == 2L
    columns <- if (one) i else if (missing(j)) names(x) else j
    columns <- if (is.character(columns)) columns else names(x)[columns]
    rows <- if (one || missing(i)) seq_len(nrow(plain)) else i
    structure(plain[rows, unique(c(columns, "geometry")), drop = FALSE], class = class(x))
  })
  table$geometry <- structure(rep(list(c(1, 2)), nrow(table)), class = c("sfc_POINT", "sfc"))
  structure(table, class = c("sticky_sites", "data.frame"))
}

test_that("a geometry that sticks to columns does not go into tables and covariates", {
  labels <- as.character(1:30)
  depth <- sqrt(1:30)
  table <- sticky_sites(data.frame(site_id = turned, x = depth[turned]))
  expect_true("geometry" %in% names(table["x"]))
  fit <- list(names = list(labels, NULL), dims = c(n = 30, m = 12))
  expect_identical(quietly(site_columns(table, fit, 3:2, "site"))$x, depth[3:2])
  expect_identical(names(quietly(site_columns(table, fit, 3:2, "site"))), "x")
  of <- function(table, argument, known = labels) {
    quietly(site_covariates(stats::setNames(list(table), argument), NULL, known, 30L)[[argument]])
  }
  expect_identical(of(table, "environment"), data.frame(x = depth, row.names = labels))
  bare <- sticky_sites(data.frame(x = depth))
  expect_identical(of(bare, "age", NULL), data.frame(x = depth))
  expect_identical(named_columns("x", "age", bare, NULL), data.frame(x = depth))
  read <- function(table) quietly(side_values(table, 30L, labels, "site_data", c("site", "sites")))
  expect_identical(names(read(table)), c("site_id", "x"))
  visits <- sticky_sites(expand.grid(site = labels, visit = c("first", "second")))
  visits$n <- 1:60
  sides <- list(labels, NULL, c("first", "second"))
  expect_identical(long_values(visits, c(30L, 12L, 2L), sides), list(n = 1:60))
  frame <- list(typical = list(x = 1), levels = list(x = NULL))
  expect_identical(fill_covariates(frame, bare)$x, depth)
  # Default row numbers are not names.
  expect_identical(.row_names_info(plain_frame(data.frame(x = depth))), -30L)
  # Points are the places themselves.
  points <- structure(bare, class = c("sf", "data.frame"), sf_column = "geometry")
  expect_s3_class(of(points, "place", NULL), "sf")
})

test_that("covariates of new rows go by the column or the numbers that hold their names", {
  labels <- as.character(1:30)
  own <- `rownames<-`(x, labels)
  sites <- data.frame(site_id = turned, old = 30 + turned, young = turned / 2)
  few <- fit_control(n_start = 1, max_iter = 20, tol = 1e-4, progress = FALSE)
  near <- smooth_over(age = cbind(30 + 1:30, 1:30 / 2), bandwidth = 5, strength = 10)
  fit <- quietly(aspect_bernoulli(own, 2, smooth = near, control = few))
  want <- check_along(fit, list(age = cbind(30 + 1:30, 1:30 / 2)), 30L, labels)
  expect_message(
    got <- check_along(fit, list(age = sites), 30L, labels), "Rows of `along$age` matched by its column", fixed = TRUE
  )
  expect_identical(unname(got$age), unname(want$age))
  shuffled <- data.frame(old = 30 + 1:30, young = 1:30 / 2)[turned, ]
  expect_identical(unname(quietly(check_along(fit, list(age = shuffled), 30L, labels))$age), unname(want$age))
})

test_that("smooth_over() and shards() find the names of the sites as which_zeros() does", {
  labels <- as.character(1:30)
  own <- `rownames<-`(x, labels)
  depth <- sqrt(1:30)
  near <- function(...) match_smooth(smooth_over(..., bandwidth = 1, strength = 10), own)$given
  want <- near(age = depth)$age
  same <- function(told, ...) {
    expect_message(got <- near(...), told)
    expect_identical(unname(got$age), unname(want))
    expect_identical(rownames(got$age), labels)
  }
  bounds <- data.frame(id = turned, high = depth[turned] + 1, low = depth[turned])
  expect_message(got <- smooth_over(age = bounds, bandwidth = 1, strength = 10), "by its column \"id\"")
  expect_identical(unname(match_smooth(got, own)$given$age), unname(near(age = cbind(depth, depth + 1))$age))
  # Matching by a numeric column, by row numbers, by a text column, and by the names of another covariate.
  same("Rows of `age` matched by its column \"site\"", age = data.frame(site = turned, old = depth[turned]))
  same("Rows of `age` matched by their numbers", age = data.frame(old = depth)[turned, , drop = FALSE])
  text <- data.frame(site = sites[turned], old = depth[turned])
  expect_message(got <- smooth_over(age = text, bandwidth = 1, strength = 10), "by its column \"site\"")
  expect_identical(unname(match_smooth(got, x)$given$age), unname(want))
  distance <- as.matrix(stats::dist(matrix(depth, dimnames = list(100 + 1:30, NULL))))
  both <- function(age) smooth_over(age = age, distance = distance, bandwidth = c(age = 1, distance = 1), strength = 1)
  numbered <- data.frame(site = 100 + turned, old = depth[turned], young = depth[turned])
  expect_message(got <- both(numbered), "by its column \"site\"")
  expect_identical(unname(got$given$age), unname(want))
  # One covariate with names of sites beside one in unknown order.
  loose <- smooth_over(
    age = data.frame(site = turned, old = depth), place = cbind(lng = depth, lat = depth), strength = 10,
    bandwidth = c(age = 1, place = 1)
  )
  expect_refused(quietly(match_smooth(loose, own)), "`place` must name the sites, as `age` does")
  # Without names in the data, or with others, rows are in their order; bounds stay bounds.
  bounds <- data.frame(old = depth + 1, young = depth)
  plain <- match_smooth(smooth_over(age = bounds, bandwidth = 1, strength = 10), own)
  expect_identical(unname(plain$given$age), cbind(depth, depth + 1, deparse.level = 0L))
  numbered <- data.frame(old = depth)[turned, , drop = FALSE]
  expect_silent(got <- match_smooth(smooth_over(age = numbered, bandwidth = 1, strength = 10), unname(own)))
  expect_identical(unname(got$given$age[, 1L]), depth[turned])
  for (table in list(
    data.frame(site = turned, depth = depth[turned]), data.frame(site = paste(turned), depth = depth[turned]),
    data.frame(depth = depth)[turned, , drop = FALSE]
  )) {
    expect_message(made <- shards(own, tempfile(), site_data = table), "Rows of `site_data` matched by", fixed = TRUE)
    expect_identical(site_table(made)$depth, depth)
    expect_identical(names(site_table(made)), c("shard", "site", "depth"))
  }
})
