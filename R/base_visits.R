# Converts repeated surveys from the formats of other packages to an array of observations x attributes x visits. Its
# attribute `sides` marks it as arranged; `covariates` holds the covariates that came with it.

visit_sides <- c("site", "taxon", "visit")

# If one of three words is unknown, such as "bird", it names the side that the other two leave.
sides_of <- function(words) {
  at <- side_of(words)
  left <- setdiff(visit_sides, at)
  if (length(at) == 3L && sum(is.na(at)) == 1L && length(left) == 1L && all(nzchar(words))) at[is.na(at)] <- left
  at
}

# Tests for an array marked as arranged; tests whether its mark or names of dimensions declare visits.
is_arranged <- function(x) !is.null(attr(x, "sides"))
says_visits <- function(x) {
  length(dim(x)) == 3L && (is_arranged(x) || all(visit_sides %in% sides_of(as.character(names(dimnames(x))))))
}

# Returns an n x m x visits integer array with names from any format of visits.
check_visits <- function(visits, sides = NULL, name = "x") {
  if (is_arranged(visits)) {
    return(check_visit_values(visits, name))
  }
  given <- list(visits = visits)
  code <- c(name, "%s")
  if (inherits(visits, "Matrix")) visits <- as.matrix(visits)
  visits <- drop_nameless(visits)
  if (is.data.frame(visits) || is.matrix(visits) || (is.character(visits) && is.null(dim(visits)))) {
    given <- history_visits(visits, name)
  } else if (isS4(visits) || (is.list(visits) && any(packed_names %in% names(visits)))) {
    given <- packed_visits(visits, name)
    code <- given$code
  } else if (is.list(visits)) {
    given$visits <- if (lists_species(visits, name)) each_species(visits, name) else stack_tables(visits, name)
    code <- c("table", sprintf("lapply(%s, function(table) %%s)", name))
  } else {
    given$visits <- arrange_array(read_codes(visits, name), sides, name)
  }
  if (is.null(sides) && !says_visits(visits)) {
    turn <- if (is.list(visits)) "lapply(%s, t)" else "aperm(%s, c(2, 1, 3))"
    tell_turned(dimnames(given$visits)[1:2], name, sprintf(turn, name))
  }
  visits <- check_visit_values(given$visits, name, code)
  attr(visits, "covariates") <- given$covariates
  visits
}

# code: the expression for the values in the user's terms, and a template, %s, for operations on it. For a message.
check_visit_values <- function(visits, name, code = c(name, "%s")) {
  ok <- (is.numeric(visits) || is.logical(visits)) && length(dim(visits)) == 3L && all(dim(visits) > 0L)
  if (!ok) {
    stop_input(
      "`%s` must be a list of tables or an array of sites x taxa x visits, not %s.%s", name, show_value(visits),
      season_advice(visits, name)
    )
  }
  if (all(is.na(visits))) stop_input("`%s` must hold a visit that was made: all its cells are NA.", name)
  bad <- which(!visits %in% c(0, 1, NA))
  if (length(bad)) {
    at <- arrayInd(bad[1L], dim(visits))
    stop_input(
      "`%s` must hold only 0, 1 or NA: row %d, column %d, visit %d is %s.%s", name, at[1L], at[2L], at[3L],
      format(visits[bad[1L]]), visits_advice(visits, code)
    )
  }
  storage.mode(visits) <- "integer"
  attr(visits, "sides") <- visit_sides
  visits
}

# Tests for tables of sites x visits, one for each species that names the list.
lists_species <- function(visits, name) {
  named <- !is.null(names(visits)) && all(nzchar(names(visits))) && !names_visits(names(visits)) &&
    all(is.na(side_of(names(visits))))
  first <- if (named && length(visits) && length(dim(visits[[1L]])) == 2L) visits[[1L]]
  columns <- colnames(first)
  called <- !is.null(columns) && names_visits(sub("^X(?=[0-9])", "", columns, perl = TRUE)) # X1: R's name of 1
  sides <- names(dimnames(first))
  told <- !is.null(sides) && identical(unname(side_of(sides)), c("site", "visit"))
  if (called || told) {
    inform("`%s` is taken as sites x visits of %s, %s, as its %s.", name, count_words(length(visits), "species"),
      show_names(names(visits), 3L), if (told) "sides are called so" else
        paste("columns are called like visits:", show_names(columns, 3L)))
  }
  called || told
}

# Surveys of several seasons have a fourth side.
season_advice <- function(x, code) {
  if (length(dim(x)) == 4L) sprintf(" Take one season at a time, as by `%s[, , 1, ]`.", code) else ""
}

# Suggests how to obtain counts and codes: in an array, in a part of a list, or in each of several tables.
visits_advice <- function(visits, code) {
  gsub("`(\\([^`]*)`", paste0("`", sub("%s", "\\1", code[2L], fixed = TRUE), "`"), codes_advice(visits, code[1L]))
}

# Stacks one table per visit.
stack_tables <- function(visits, name) {
  if (!length(visits)) stop_input("`%s` must hold at least one table, not none.", name)
  tables <- lapply(seq_along(visits), function(v) {
    own <- sprintf("%s[[%d]]", name, v)
    catch_error(as.matrix(check_data(read_codes(visits[[v]], own), "real", own, quiet = TRUE)$x), function(e) {
      if (v == 1L || !inherits(e, "multicause_input_error")) stop(e)
      stop_input("%s %s", conditionMessage(e), no_visit_advice(visits, v, name))
    })
  })
  for (v in seq_along(tables)) {
    tables[[v]] <- order_like(tables[[v]], tables[[1L]])
    if (!identical(attributes(tables[[v]]), attributes(tables[[1L]]))) {
      stop_input(
        "`%s` must hold tables of the same shape and names: number %d %s. %s", name, v,
        unlike_first(tables[[v]], tables[[1L]]), no_visit_advice(visits, v, name)
      )
    }
  }
  label <- if (is.null(dimnames(tables[[1L]]))) list(NULL, NULL) else dimnames(tables[[1L]])
  array(unlist(tables), c(dim(tables[[1L]]), length(tables)), c(label, list(names(visits))))
}

# One table among those of visits may hold covariates.
no_visit_advice <- function(visits, v, name) {
  label <- names(visits)[v]
  rest <- if (is.null(label) || !nzchar(label)) sprintf("-%d", v) else sprintf("names(%s) != \"%s\"", name, label)
  sprintf("If this is no visit but holds covariates, use `%s[%s]`, and these as `visit_data` or `site_data`.", name,
    rest)
}

# Reorders a table by the names of another, if these are the same.
order_like <- function(x, other) {
  alike <- Map(setequal, dimnames_of(x), dimnames_of(other))
  if (all(unlist(alike))) by_names(x, dimnames_of(other), "x") else x
}

# Describes how a visit's table differs from the first: shape, a missing name, or order.
unlike_first <- function(table, first) {
  if (!identical(dim(table), dim(first))) {
    shape <- function(x) paste(dim(x), collapse = " x ")
    return(sprintf("is %s, not %s as the first", shape(table), shape(first)))
  }
  for (side in 1:2) {
    lacks <- setdiff(dimnames(first)[[side]], dimnames(table)[[side]])
    if (length(lacks)) {
      return(sprintf("lacks %s %s of the first", c("row", "column")[side], show_names(lacks[1L])))
    }
  }
  "has its rows or columns in another order, or under names that the first lacks"
}

# Arranges an array by its names of dimensions or by `sides`. Without either it is taken as observations x attributes x
# visits with a message, unless that would be implausible, or if the species x sites x visits of package spOccupancy are
# as likely.
arrange_array <- function(x, sides, name) {
  if (length(dim(x)) != 3L) {
    return(x)
  }
  at <- if (!is.null(sides)) check_sides(sides) else sides_of(as.character(names(dimnames(x))))
  if (length(at) == 3L && setequal(at, visit_sides)) {
    in_order <- match(visit_sides, at)
    return(call_sides(aperm(x, in_order), sides[in_order]))
  }
  d <- dim(x)
  shape <- paste(count_words(d, c("site", "taxon", "visit")), collapse = " x ")
  # Few functions have an argument `sides`.
  said <- "sides = c(\"species\", \"site\", \"visit\")"
  advice <- if (name == "data") sprintf("use `%s`", said) else
    sprintf("name its dimensions (names(dimnames(%s))) or use `visits_array(%s, %s)`", name, name, said)
  if (share_of_taxa(dimnames(x)[[1L]]) >= 0.8 && share_of_taxa(dimnames(x)[[2L]]) < 0.2) {
    inform(
      "`%s` is taken as %s x %s x %s, as its first side is called like taxa, %s: if it is not, name its dimensions.",
      name, count_words(d[1L], "species"), count_words(d[2L], "site"), count_words(d[3L], "visit"),
      show_names(dimnames(x)[[1L]], 2L)
    )
    return(call_sides(aperm(x, c(2L, 1L, 3L))))
  }
  if (d[1L] < d[2L]) {
    stop_input(
      "`%s` could be %s, or %s x %s as package spOccupancy has them: %s.", name, shape,
      count_words(d[1L], "species"),
      count_words(d[2L], "site"), advice
    )
  }
  if (d[3L] > d[2L] || d[3L] > d[1L]) {
    stop_input(
      paste(
        "`%s` would be %s, more visits than %s: if it is not, %s; if it is,",
        "say so."
      ), name, shape, if (d[3L] > d[2L]) "taxa" else "sites", advice
    )
  }
  inform("`%s` is taken as %s: if it is not, %s.", name, shape, advice)
  call_sides(x)
}

# Names sites and taxa as the user does: by the array's names of dimensions, else by these words.
call_sides <- function(x, words = NULL) {
  own <- names(dimnames(x))
  if (is.null(own)) own <- words
  label <- if (is.null(dimnames(x))) vector("list", 3L) else dimnames(x)
  if (!is.null(own) || !is.null(dimnames(x))) dimnames(x) <- stats::setNames(label, own)
  x
}

check_sides <- function(sides) {
  at <- if (is.character(sides)) sides_of(sides)
  if (length(at) != 3L || !setequal(at, visit_sides)) {
    stop_input(
      "`sides` must name the three dimensions, as c(\"site\", \"species\", \"visit\") in their order, not %s.",
      if (is.character(sides)) show_names(sides) else show_value(sides)
    )
  }
  at
}

packed_visits <- function(x, name) {
  part <- function(...) {
    for (one in c(...)) {
      value <- if (isS4(x)) attr(x, one) else x[[one]]
      if (!is.null(value) && !is.name(value)) {
        return(value)
      }
    }
    NULL
  }
  effort <- if (!isS4(x)) x$effort
  held <- Find(function(one) !is.null(part(one)), packed_names)
  held <- paste0(name, if (isS4(x)) "@" else "$", held)
  each <- is.list(part(packed_names)) && !is.data.frame(part(packed_names))
  list(
    visits = call_sides(packed_cells(part("ylist"), part("y", "detection_history"), name), packed_words),
    code = if (each) {
      c("table", sprintf("%s <- lapply(%s, function(table) %%s)", held, held))
    } else {
      c(held, paste(held, "<- %s"))
    },
    covariates = list(
      visit = part("det.covs", "obsCovs") %||% if (is.matrix(effort)) list(effort = effort),
      site = part("occ.covs", "siteCovs")
    )
  )
}

packed_words <- c("site", "species", "visit")

# unmarkedFrameOccuMulti() stores the list `y` as `ylist`.
packed_cells <- function(each, y, name) {
  if (!is.null(each)) {
    return(each_species(each, paste0(name, "$ylist")))
  }
  if (is.list(y) && !is.data.frame(y)) {
    return(each_species(y, paste0(name, "$y")))
  }
  y <- read_codes(y, paste0(name, "$y"))
  if (is.data.frame(y)) y <- as.matrix(y)
  if (is.matrix(y)) {
    return(one_species(y))
  }
  if (length(dim(y)) != 3L) {
    stop_input("`%s$y` must be an array of species x sites x visits, not %s.%s", name, show_value(y),
      season_advice(y, paste0(name, "$y")))
  }
  y <- aperm(y, c(2L, 1L, 3L))
  said <- side_of(as.character(names(dimnames(y))))
  told <- length(said) == 3L && !anyNA(said) && !identical(said, visit_sides)
  if (told) aperm(y, match(visit_sides, said)) else y
}

each_species <- function(each, name) {
  if (!length(each) || !is.list(each) || is.null(names(each))) {
    stop_input("`%s` must be a named list of sites x visits, one for each species.", name)
  }
  aperm(stack_tables(each, name), c(1L, 3L, 2L))
}

# Returns sites x visits of one species as an array.
one_species <- function(y) {
  array(y, c(nrow(y), 1L, ncol(y)), list(rownames(y), "species", if (!have_one_name(colnames(y))) colnames(y)))
}

# Codes of occupancy programs: 0 and 1, and "." or "-" for a visit that was not made. Columns of a data frame that hold
# other text are unchanged because they may be names of sites.
visit_codes <- c("0", "1")
not_made <- c(".", "-", "", "NA")

read_codes <- function(x, name) {
  if (is.data.frame(x)) {
    text <- vapply(x, function(column) is.character(column) || is.factor(column), NA)
    x[text] <- lapply(x[text], function(column) if (are_codes(column)) code_values(column) else column)
    return(x)
  }
  if (!is.character(x) || is.null(dim(x))) {
    return(x)
  }
  bad <- which(!trimws(x) %in% c(visit_codes, not_made, NA))
  if (length(bad)) {
    stop_input("`%s` must hold only 0, 1 or NA (as text also \".\" or \"-\"): one is %s.%s", name,
      show_value(as.vector(x[bad[1L]])), marks_advice(list(x), name))
  }
  array(code_values(x), dim(x), dimnames(x))
}

are_codes <- function(column) {
  all(trimws(as.character(column)) %in% c(visit_codes, not_made, NA))
}
code_values <- function(x) {
  text <- trimws(as.character(x))
  match(ifelse(text %in% not_made, NA, text), visit_codes) - 1L
}

# Reads one species' detection histories, a row per site, as list(visits, covariates): a matrix of sites x visits, such
# a data frame, or a text of codes for each site, "01.1" (as in program MARK).
history_visits <- function(x, name) {
  if (is.character(x) && is.null(dim(x))) {
    if (!length(x)) stop_input("`%s` must hold a history of detections for each site: it has none.", name)
    x <- data.frame(ch = x, row.names = names(x))
  }
  out <- if (is.data.frame(x)) frame_history(x, name) else list(y = read_codes(x, name))
  y <- out$y
  marked <- any(trimws(as.matrix(x)) %in% c(".", "-"))
  if (is.null(y) || !(marked || names_visits(colnames(y)))) stop_table(x, name)
  if (!all(dim(y))) stop_input("`%s` must have sites and visits, not be %s.", name, show_value(x))
  inform(
    "`%s` is taken as one species: %s x %s. A table of taxa on one visit goes into aspect_bernoulli().", name,
    count_words(nrow(y), "site"), count_words(ncol(y), "visit")
  )
  list(visits = call_sides(one_species(y), packed_words), covariates = out$covariates)
}

# Columns without names, or all of one name, or called "y.1", "visit3", "2" or by dates, are visits. Any other name may
# be a taxon.
names_visits <- function(names) {
  is.null(names) || have_one_name(names) ||
    all(is_date_text(names) | (grepl("[0-9]$", names) & is_visit_stem(name_stem(names))))
}

have_one_name <- function(names) length(names) > 1L && length(unique(names)) == 1L

is_visit_stem <- function(stem) tolower(stem) %in% history_stems | side_of(stem) %in% "visit"
history_stems <- c("", "y", "det", "detection", "detected", "h", "o", "occ", "v", "x", "day", "date")

stop_table <- function(x, name) {
  stop_input(
    "`%s` must be a list of tables or an array of sites x taxa x visits, not %s. %s; %s; %s.", name, show_value(x),
    sprintf("Sites x visits of one species go into visits_bernoulli(list(y = %s), k = 1)", name),
    if (name == "data") paste("of a table with a row for each record name the columns `site`, `taxon` and",
      "`visit` (for one species add a column with its name)") else
      "of a table with a row for each record visits_array() makes such an array",
    "a table of sites x taxa of one visit goes into aspect_bernoulli()"
  )
}

# Returns list(y, covariates) of a data frame with a row per site: histories in its column `ch`, in numbered columns of
# one stem, y.1, y.2, ..., or in all columns; NULL if there are none. Other numbered columns are covariates of visits,
# further ones covariates of sites.
frame_history <- function(x, name) {
  x <- read_codes(as.data.frame(x), name)
  named <- history_sites(x, name)
  sites <- named$sites
  columns <- setdiff(seq_along(x), named$column) # their places in the table as it was given
  alike <- have_one_name(names(x)[columns]) # `[` makes them differ
  x <- x[columns]
  if (alike) {
    return(list(y = `colnames<-`(history_of(x, sites), NULL)))
  }
  at <- match("ch", tolower(names(x)))
  if (!is.na(at)) {
    if (!all(x[["freq"]] %in% 1)) stop_input("`%s$freq` must be 1: a history is that of one site.", name)
    return(c(list(y = split_history(x[[at]], sites, name)), list(covariates = list(site = frame_sites(x[-at], sites)))))
  }
  stem <- history_stem(names(x))
  codes <- vapply(x, function(column) all(column %in% c(0, 1, NA)), NA)
  whole <- Filter(function(one) all(codes[stem %in% one]), unique(stem[!is.na(stem)]))
  own <- if (length(whole) > 1L) whole[is_visit_stem(whole)] else whole
  if (length(own) != 1L) {
    refuse_history_counts(x, stem, columns, name)
    return(if (all(codes) && length(codes)) list(y = history_of(x, sites)))
  }
  others <- setdiff(unique(stem[!is.na(stem)]), own)
  others <- Filter(function(one) sum(stem %in% one) == sum(stem %in% own), others)
  visit <- lapply(stats::setNames(nm = others), function(one) unname(as.matrix(x[stem %in% one])))
  rest <- x[!stem %in% c(own, others)]
  list(y = history_of(x[stem %in% own], sites), covariates = list(visit = visit, site = frame_sites(rest, sites)))
}

history_stem <- function(names) {
  stem <- ifelse(grepl("[0-9]$", names), name_stem(names), NA)
  replace(stem, is_date_text(names), "date")
}

# Finds the sites of such a frame, list(sites, column): row names, else the column named like sites, else the first
# column of text that names each row once.
history_sites <- function(x, name) {
  if (is.character(attr(x, "row.names"))) {
    return(list(sites = rownames(x)))
  }
  plain <- vapply(x, function(column) is.atomic(column) && !anyNA(column), NA) & tolower(names(x)) != "ch" &
    is.na(history_stem(names(x)))
  called <- which(plain & is_site_name(names(x)))[1L]
  if (is.na(called)) {
    text <- which(plain & vapply(x, is_text, NA) & !vapply(x, anyDuplicated, 0L))[1L]
    return(if (!is.na(text)) list(sites = as.character(x[[text]]), column = text))
  }
  sites <- key_values(x[[called]])
  if (anyDuplicated(sites)) stacked_sites(x, called, plain, name) else list(sites = sites, column = called)
}

# A site in several rows, most likely of seasons, becomes a separate site in each: a species may come or go between
# seasons. One other column must distinguish them.
stacked_sites <- function(x, called, plain, name) {
  sites <- key_values(x[[called]])
  twice <- sites[duplicated(sites)][1L]
  tells <- function(j) !anyDuplicated(paste(sites, key_values(x[[j]]), sep = ", "))
  apart <- Filter(tells, setdiff(which(plain), called))
  is_season <- grepl("^(years?|seasons?|periods?)$", names(x)[apart], ignore.case = TRUE)
  several <- is_season | vapply(apart, function(j) length(unique(x[[j]])) <= nrow(x) / 2, NA)
  if (!any(several)) {
    stop_input(
      "`%s` must have one row for each site: %s of its column %s has %s. %s", name, dQuote(twice, FALSE),
      dQuote(names(x)[called], FALSE), paste("rows", show_places(which(sites == twice))),
      "For several seasons add a column that names them."
    )
  }
  season <- apart[several][1L]
  if (side_of(names(x)[season]) %in% "taxon") {
    stop_input(
      paste(
        "`%s` must have histories of one species, or be a list of them: its column %s names %d. Use `list(y =",
        "lapply(split(%s, %s[[%d]]), function(one) as.matrix(data.frame(one[visits], row.names = one[[%d]]))))`, where",
        "`visits` are the columns of visits, and each species has the same sites."
      ), name, dQuote(names(x)[season], FALSE), length(unique(x[[season]])), name, name, season, called
    )
  }
  inform(
    "Sites come again in `%s`, such as %s: each %s of a site is one of its own, as presence may change between them.",
    name, dQuote(twice, FALSE), dQuote(names(x)[season], FALSE)
  )
  list(sites = paste(sites, key_values(x[[season]]), sep = ", "), column = called)
}

is_site_name <- function(names) side_of(sub("[._ ]?(id|name|code|no|nr|number)$", "", tolower(names))) %in% "site"

# Refuses counts in columns named like visits.
refuse_history_counts <- function(x, stem, columns, name) {
  visit <- which(is_visit_stem(stem) | stem %in% "date")
  counted <- function(column) is.numeric(column) && all(column >= 0 & column == floor(column), na.rm = TRUE)
  if (length(visit) < 2L || !all(vapply(x[visit], counted, NA))) {
    return(invisible())
  }
  at <- columns[visit]
  at <- if (identical(at, seq(at[1L], at[length(at)]))) sprintf("%d:%d", at[1L], at[length(at)]) else
    sprintf("c(%s)", paste(at, collapse = ", "))
  part <- sprintf("%s[%s]", name, at)
  stop_input("`%s` must hold only 0, 1 or NA on its visits (%s): for counts use `%s <- (%s > 0) + 0` first.", name,
    show_names(names(x)[visit], 3L), part, part)
}

history_of <- function(x, sites) {
  y <- as.matrix(x)
  rownames(y) <- sites
  y
}

frame_sites <- function(x, sites) {
  if (length(x)) if (is.null(sites)) x else `rownames<-`(x, sites)
}

split_history <- function(text, sites, name) {
  text <- trimws(as.character(text))
  bad <- which(is.na(text) | !grepl("^[-01.]+$", text) | nchar(text) != nchar(text[1L]))
  if (length(bad)) {
    stop_input(
      "`%s` must have a history of 0, 1 and \".\", equally long, for each site: that of %d is %s.", name, bad[1L],
      show_value(text[bad[1L]])
    )
  }
  each <- strsplit(text, "")
  matrix(code_values(unlist(each)), length(text), byrow = TRUE, dimnames = if (!is.null(sites)) list(sites, NULL))
}

# Merges visits: 1 if any visit found the taxon, 0 if none did, NA if there was none.
any_visit <- function(cell) {
  out <- suppressWarnings(apply(cell, 1:2, max, na.rm = TRUE))
  out[!is.finite(out)] <- NA
  label <- dimnames(cell)[1:2]
  dimnames(out) <- if (!all(vapply(label, is.null, NA)) || !is.null(names(label))) label
  out
}

# Finds attributes present somewhere, but at fewer than `rare` observations.
rare_attributes <- function(x, rare) {
  found <- colSums(x == 1, na.rm = TRUE)
  found < rare
}

# Evaluates the variables of a formula for every visit, list(frame, level): a data frame of n x visits rows, observation
# by observation within a visit, and for each variable its level. Only the supplied data are searched, never the
# session.
#   given  list(visit, site, taxon)
visit_variables <- function(formula, cell, given, name) {
  check_covariate_formula(formula, name)
  held_variables(formula, known_covariates(cell, given), name)
}

check_covariate_formula <- function(formula, name) {
  is_formula <- inherits(formula, "formula")
  if (!is_formula || length(formula) != 2L) {
    stop_input(
      "`%s` must be a formula without a left side, as ~ date + effort, not %s%s.", name,
      if (is_formula) deparse1(formula) else show_value(formula),
      if (is_formula) ": presence and detection have a formula each" else ""
    )
  }
  refuse_bars(formula, name)
}

# The variables of a formula among known ones, list(values, level).
held_variables <- function(formula, known, name) {
  wanted <- all.vars(formula)
  lost <- setdiff(wanted, names(known$values))
  if (length(lost)) {
    stop_input(
      "`%s` names %s, which no covariates hold: there are %s. %s.", name, show_names(lost),
      if (length(known$values)) show_names(names(known$values), 20L) else "none", if (name == "detection") {
        sprintf("Supply %s in `visit_data` or `site_data`", show_names(lost))
      } else {
        paste("Supply a data frame with", if (length(lost) == 1L) "that column" else "these columns", "as `site_data`")
      }
    )
  }
  list(values = known$values[wanted], level = known$level[wanted])
}

# Refuses (1 | species), the random effects of other packages.
refuse_bars <- function(formula, name) {
  if (!any(c("|", "||") %in% all.names(formula))) {
    return(invisible())
  }
  labels <- attr(stats::terms(formula), "term.labels")
  bar <- vapply(labels, function(label) {
    term <- str2lang(label)
    is.call(term) && as.character(term[[1L]])[1L] %in% c("|", "||")
  }, NA)
  if (!any(bar)) {
    return(invisible())
  }
  stop_input(
    "`%s` must hold covariates alone, not (%s): %s.", name, labels[bar][1L], if (name %in% c("presence", "detection")) {
      "each taxon has an intercept and slopes of its own, shrunk towards a common mean"
    } else {
      "memberships have no random effects"
    }
  )
}

known_covariates <- function(cell, given) {
  d <- dim(cell)
  own <- attr(cell, "covariates")
  labels <- if (is.null(dimnames(cell))) list(NULL, NULL, NULL) else dimnames(cell)
  visit <- visit_values(if (is.null(given$visit)) own$visit else given$visit, d, labels)
  of_site <- if (is.null(given$site)) own$site else given$site
  site <- side_values(of_site, d[1L], labels[[1L]], "site_data", c("site", "sites"))
  taxon <- side_values(given$taxon, d[2L], labels[[2L]], "taxon_data", c("taxon", "taxa"))
  label <- labels[[3L]] %||% seq_len(d[3L])
  built_in <- list(visit = rep(factor(label, label), each = d[1L]))
  # Covariates of visits take precedence over those of sites.
  visit$values <- c(visit$values, built_in[setdiff("visit", names(visit$values))])
  visit$level <- c(visit$level, visit = "visit")[names(visit$values)]
  site <- lapply(site[setdiff(names(site), names(visit$values))], rep, d[3L])
  taxon <- taxon[setdiff(names(taxon), c(names(visit$values), names(site)))]
  level <- c(
    visit$level, stats::setNames(rep("site", length(site)), names(site)),
    stats::setNames(rep("taxon", length(taxon)), names(taxon))
  )
  list(values = c(visit$values, site, taxon), level = level)
}

# Reads covariates of visits: a list of observations x visits matrices (or of a value per observation), or a data frame
# with a row per visit, matched by its columns of sites and visits or, without them, in unmarked's order: the visits to
# the first observation, then those to the next.
visit_values <- function(x, d, labels) {
  if (!length(x)) {
    return(list(values = list(), level = character()))
  }
  if (!is.list(x) || is.null(names(x)) || any(names(x) == "") || anyDuplicated(names(x))) {
    stop_input(
      "`visit_data` must be a list of matrices with a name each, or a data frame, not %s.", show_value(x)
    )
  }
  values <- if (is.data.frame(x)) long_values(x, d, labels) else Map(visit_matrix, x, names(x), list(d), list(labels))
  of_site <- !is.data.frame(x) & vapply(x[names(values)], function(value) is.null(dim(value)), NA)
  list(values = values, level = ifelse(of_site, "site", "visit"))
}

visit_matrix <- function(value, name, d, labels) {
  value <- by_name(value, labels[[1L]], paste0("visit_data$", name), others = TRUE)
  if (is.data.frame(value)) value <- as.matrix(plain_frame(value))
  if (is_line(value) && length(value) == d[1L]) {
    return(rep(plain_line(value), d[3L]))
  }
  if (!identical(dim(value), d[c(1L, 3L)])) {
    stop_input(
      "`visit_data$%s` must be a matrix of sites x visits, %d x %d, or a value for each site, not %s.",
      name, d[1L], d[3L], if (length(dim(value)) == 2L) paste(dim(value), collapse = " x ") else show_value(value)
    )
  }
  # Visits often have different names in data and covariates.
  known <- setequal(colnames(value), labels[[3L]]) && !anyDuplicated(colnames(value))
  plain_line(if (known) by_names(value, labels[-2L], paste0("visit_data$", name)) else value)
}

# The values of a matrix or of a line, without names; dates and factors stay such.
plain_line <- function(value) {
  if (is.factor(value)) {
    return(factor(as.character(value), levels(value)))
  }
  dates <- intersect(class(value), c("Date", "POSIXct", "POSIXt"))
  if (length(dates)) structure(as.vector(unclass(value)), class = dates) else as.vector(value)
}

long_values <- function(x, d, labels) {
  x <- plain_frame(x)
  side <- side_of(names(x))
  site <- match("site", side)
  visit <- match("visit", side)
  n_row <- d[1L] * d[3L]
  if (is.na(site) || is.na(visit)) {
    if (nrow(x) != n_row) {
      stop_input(
        "`visit_data` must have a column of sites and one of visits, or a row for each, %d, not %d.", n_row, nrow(x)
      )
    }
    at <- as.vector(t(matrix(seq_len(n_row), d[3L])))
    return(as.list(x[at, , drop = FALSE]))
  }
  # Matches by name; visits, often numbered if the data name them, also by number.
  place <- function(column, names, extent, numbered) {
    at <- match(key_values(column, names), names %||% seq_len(extent))
    if (all(is.na(at)) && numbered) match(key_values(column), seq_len(extent)) else at
  }
  i <- place(x[[site]], labels[[1L]], d[1L], FALSE)
  v <- place(x[[visit]], labels[[3L]], d[3L], TRUE)
  if (all(is.na(i + v))) {
    shown <- function(side, extent) show_names(labels[[side]] %||% seq_len(extent), 2L)
    stop_input(
      "`visit_data` has no row of a site and visit of the data: `%s` is %s for sites %s, `%s` is %s for visits %s.",
      names(x)[site], show_names(unique(as.character(x[[site]])), 2L), shown(1L, d[1L]),
      names(x)[visit], show_names(unique(as.character(x[[visit]])), 2L), shown(3L, d[3L])
    )
  }
  row <- i + (v - 1L) * d[1L]
  used <- !is.na(row)
  if (anyDuplicated(row[used])) {
    twice <- which(used)[duplicated(row[used])][1L]
    stop_input(
      "`visit_data` has two rows for site %s, visit %s.", format(x[[site]][twice]), format(x[[visit]][twice])
    )
  }
  as.list(x[match(seq_len(n_row), row), -c(site, visit), drop = FALSE])
}

# Returns a row per observation (attribute): by row names, by the column that holds the names, or in the same order.
side_values <- function(x, extent, labels, name, what) {
  if (is.null(x)) {
    return(list())
  }
  if (is.matrix(x)) x <- as.data.frame(x)
  if (!is.list(x) || is.null(names(x))) {
    stop_input("`%s` must be a data frame with a row for each %s, not %s.", name, what[1L], show_value(x))
  }
  x <- plain_frame(as.data.frame(x))
  if (!is.null(labels)) {
    key <- find_key(x, labels)
    if (!is.null(key)) tell_key(key, name)
    keys <- key$values
    if (is.null(keys)) {
      texts <- Filter(function(column) is.character(column) || is.factor(column), x)
      for (one in texts) refuse_lost(one, labels, name, what[1L])
      keys <- given_names(x)
    }
    at <- name_order(keys, labels, name, others = TRUE)
    if (!is.null(at)) x <- x[at, , drop = FALSE]
  }
  if (nrow(x) != extent) {
    stop_input("`%s` must have a row for each of the %d %s, not %s.", name, extent, what[2L],
      count_words(nrow(x), "row"))
  }
  as.list(x)
}

# Refuses a table that has most names but not all: matched by order, rows would go to the wrong items.
refuse_lost <- function(keys, labels, name, what) {
  lost <- setdiff(labels, as.character(keys))
  if (length(lost) && 2 * length(lost) < length(labels)) {
    stop_input("`%s` must have a row for each %s: it lacks %s.", name, what, show_names(lost, 3L))
  }
}

# Marks the visits made, n x visits.
visits_made <- function(cell) matrix(apply(!is.na(cell), c(1L, 3L), any), dim(cell)[1L])

stop_no_data.visits_bernoulli <- function(fit) kept_visits(fit) # no table of all visits holds what each found

stop_no_data.visits_occupancy <- stop_no_data.visits_bernoulli

kept_visits <- function(fit) {
  fit$visits %||% stop_input("This fit was made with `keep_x = FALSE`: fit again with the visits kept.")
}

tell_rare <- function(data, rare) {
  few <- which(rare_attributes(as.matrix(data$x), rare))
  if (!length(few)) {
    return(invisible())
  }
  names <- colnames(data$x)
  words <- axis_words(data)
  inform(
    "Found at fewer than %d %s, too few for estimates of their own: %s. Number of such %s: %d.",
    rare, words[1L], show_names(if (is.null(names)) as.character(few) else names[few]), words[2L], length(few)
  )
}

tell_single_visits <- function(cell) {
  if (any(rowSums(!is.na(cell), dims = 2L) > 1L)) {
    return(invisible())
  }
  inform(
    "No site was visited twice: single visits cannot distinguish misses from absences, so the estimated misses %s.",
    "depend on the assumptions alone"
  )
}

# Assigns the visits made to folds: list of index vectors into the array. An observation's visits are dealt to the folds
# in turn, so that none loses all of its visits, and no fold takes all observations of a visit.
visit_folds <- function(cell, folds) {
  d <- dim(cell)
  lapply(cell_folds(visits_made(cell), folds), function(pairs) {
    i <- (pairs - 1L) %% d[1L] + 1L
    v <- (pairs - 1L) %/% d[1L]
    at <- as.vector(outer(i + v * d[1L] * d[2L], (seq_len(d[2L]) - 1L) * d[1L], "+"))
    sort(at[!is.na(cell[at])])
  })
}

# Taxa whose own record supports no estimate; NULL where there are none.
rare_sentence <- function(fit) {
  if (any(fit$rare)) {
    sprintf(
      "Rare, and estimated mostly from the others: %s (of %s).",
      show_names(side_names(fit, 2L)[fit$rare], quoted = FALSE),
      count_side(fit$dims[["m"]], axis_words(fit)[2L])
    )
  }
}
