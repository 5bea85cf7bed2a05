# Converts the user's tables to the one view of the data that every kernel reads.

# Checks `x` and returns list(x, view, margins): x as a matrix (dense or dgCMatrix) with its names, view as in mc_data
# of src/engine/data.h, margins = sums and numbers of observed cells by row and column.
#   turn    how rows become columns, see turning(); NULL if the caller has checked the names
#   merged  whether `x` is 1 where any of several visits found the taxon
check_data <- function(x, kind = c("binary", "nonnegative", "real", "count"), name = "x", quiet = FALSE,
                       turn = turning(x, name), merged = FALSE) {
  kind <- match.arg(kind)
  if (missing(x)) stop_missing(name)
  force(turn) # of `x` as it was given
  # Package slam can compare its tables but cannot add 0 to the result.
  code <- if (inherits(x, "simple_triplet_matrix")) sprintf("as.matrix(%s)", name) else name
  x <- as_plain_matrix(x, name)
  check_dimnames(x, name)
  view <- data_view(x)
  check_values(view, x, kind, name, code)
  if (kind == "nonnegative") check_magnitude(view$value, name)
  data <- list(x = x, view = view, margins = .Call(mc_c_view_margins, view))
  if (!quiet) {
    if (kind != "real") check_blank_cells(data, name)
    if (is_heard()) tell_about(data, kind, name, turn, merged)
  }
  data
}

# Reports what may be wrong with a table. Arguments as in check_data().
tell_about <- function(data, kind, name, turn, merged) {
  x <- data$x
  n_known <- sum(data$margins$row_observed)
  if (!tell_unlearnable(if (is.matrix(x)) x else x@x, n_known, dim(x), name, merged)) {
    tell_unobserved(data)
    tell_unknown(x, data$margins, name)
    tell_alike_lines(x, name)
    if (kind != "real") tell_sums(x, kind, name)
    tell_nameless(dimnames(x), c("rows", "columns"), name)
  }
  if (!is.null(turn)) tell_turned(dimnames(x), name, turn$code, turn$label)
  if (kind != "real") tell_site_columns(data, name)
  if (kind == "nonnegative") tell_fractions(data, name)
}

data_view <- function(x) {
  if (inherits(x, "dgCMatrix")) {
    check_valid(x, "x")
    .Call(mc_c_view_sparse, x@p, x@i, x@x, x@Dim)
  } else {
    .Call(mc_c_view_dense, x)
  }
}

# The slots of an S4 object are whatever somebody put there, by hand or from a file, and C code reads them unasked: that
# of Matrix, too. Every object of the user's that may be one goes through here before anything else is done with it.
check_valid <- function(x, name) {
  if (!isS4(x)) {
    return(x)
  }
  loadNamespace("Matrix") # after readRDS() nothing has done so, and R would attach it
  wrong <- catch_error(methods::validObject(x, test = TRUE), conditionMessage)
  if (!isTRUE(wrong)) {
    stop_input("`%s` must be a valid object of its class, %s: %s.", name, dQuote(class(x)[1L], FALSE), wrong[1L])
  }
  x
}

# Accepts a matrix, table, data frame or Matrix, and formats of text mining: a document-term matrix of packages tm and
# slam, a dfm of quanteda (a sparse Matrix), or triplets of document, term and count. Sparse tables stay sparse.
as_plain_matrix <- function(x, name) {
  refuse_shards(x, name)
  refuse_categories(x, name)
  refuse_text(x, name)
  x <- open_container(x, name)
  if (is_triplets(x)) {
    x <- triplets_to_sparse(x, name)
  } else if (inherits(x, "simple_triplet_matrix")) {
    x <- slam_to_sparse(x, name)
  } else if (is.data.frame(x)) {
    x <- frame_to_matrix(x, name)
  } else if (inherits(x, "Matrix")) {
    x <- sparse_to_dgc(x, name)
  } else if (inherits(x, "table")) {
    x <- unclass(x)
  }
  if (!inherits(x, "dgCMatrix")) {
    if (length(dim(x)) != 2L) {
      stop_input(
        "`%s` must be a matrix or data frame with a row for each site and a column for each taxon, not %s.%s", name,
        show_value(x), if (length(dim(x)) == 3L) {
          " Repeated visits go into visits_bernoulli() or which_zeros(visits = )."
        } else {
          ""
        }
      )
    }
    if (!is_plain_number(x)) {
      what <- if (inherits(x, "integer64")) "integer64" else typeof(x)
      stop_input("`%s` must be numeric or logical, not %s.%s", name, what, number_advice(x, name))
    }
    x <- strip_matrix(x)
    if (is.logical(x)) storage.mode(x) <- "integer" # not all that R does with numbers it does with TRUE
  }
  refuse_empty(x, name)
  x
}

refuse_empty <- function(x, name) {
  if (any(dim(x) == 0L)) {
    stop_input("`%s` must have at least one row and one column, not %d x %d.", name, nrow(x), ncol(x))
  }
}

# Refuses tables of several values, whose codes are no counts.
refuse_categories <- function(x, name) {
  if (inherits(x, "category_table")) {
    stop_input(
      "`%s` must hold numbers, not several values, which aspect_categorical() takes. For presences use `%s`.", name,
      sprintf("matrix(unclass(%s) > 0, nrow(%1$s), dimnames = dimnames(%1$s)) + 0", name)
    )
  }
}

# Refuses documents whose words are not counted yet.
refuse_text <- function(x, name) {
  texts <- if (is.list(x) && !is.data.frame(x) && length(x) && all(vapply(x, is.character, NA))) unlist(x) else x
  if (any(grepl("corpus$|^tokens", class(x), ignore.case = TRUE)) || is.character(texts) && are_sentences(texts)) {
    stop_input("`%s` must be a table of counts, not %s. %s", name, show_value(x), corpus_advice)
  }
}

# Tests for a list of cells, as plca() takes it: levels as text or whole numbers from 1, beside a column "count".
lists_cells <- function(x) {
  is_level <- function(column) {
    is_text(column) || (is.numeric(column) && all(column >= 1 & column == floor(column), na.rm = TRUE))
  }
  is.data.frame(x) && "count" %in% names(x) && all(vapply(x[names(x) != "count"], is_level, NA))
}

# Makes tables of any class plain, for functions that fit many models; all else is unchanged.
open_table <- function(x, name = "x") {
  if (lists_cells(x)) {
    stop_input("`%s` must be a table or an array, not a list of its cells: use `xtabs(count ~ ., %s)`.", name, name)
  }
  if (is_table(x) && is.object(x) && !in_pieces(x) && !inherits(x, "category_table")) as_plain_matrix(x, name) else x
}

# Opens sequencing tables of other packages' classes without loading these. An otu_table of package phyloseq (also
# within its phyloseq) records the side of its taxa; for others it is fixed.
open_container <- function(x, name) {
  if (inherits(x, "phyloseq")) x <- attr(x, "otu_table")
  if (inherits(x, "otu_table")) {
    turned <- isTRUE(attr(x, "taxa_are_rows"))
    x <- strip_matrix(x)
    if (turned) inform("`%s` was transposed, because its taxa are rows, by its slot `taxa_are_rows`.", name)
    return(if (turned) t(x) else x)
  }
  advice <- if (inherits(x, "SummarizedExperiment")) {
    "It has taxa as rows: use `t(SummarizedExperiment::assay(%s))`."
  } else if (inherits(x, "biom")) {
    "It has taxa as rows: use `Matrix::t(biomformat::biom_data(%s))`."
  } else if (is.list(x) && !is.data.frame(x) && !is.object(x) && length(x) && all(lengths(lapply(x, dim)) == 2L)) {
    paste(
      "Use one of its tables, `%s[[1]]`, or, where species are rows as in package iNEXT, `t(%1$s[[1]])`; tables of",
      "repeated visits go into which_zeros(visits = )."
    )
  }
  if (!is.null(advice)) {
    stop_input("`%s` must be a matrix or data frame, not %s. %s", name, show_value(x), sprintf(advice, name))
  }
  x
}

# Recognises a data frame of documents, terms (text) and counts: tables of attributes have no text in the second column.
is_triplets <- function(x) {
  is.data.frame(x) && length(x) == 3L && nrow(x) > 0L && is_text(x[[2L]]) && is_plain_number(x[[3L]]) &&
    (is_text(x[[1L]]) || is_plain_number(x[[1L]]))
}

# Keeps documents and terms in their original order.
triplets_to_sparse <- function(x, name) {
  sides <- lapply(unclass(x)[1:2], as.character)
  for (side in 1:2) {
    bad <- which(is.na(sides[[side]]) | sides[[side]] == "")
    if (length(bad)) {
      stop_input("Column %s of `%s` must have no empty name: row %d has.", dQuote(names(x)[side], FALSE), name, bad[1L])
    }
  }
  levels <- lapply(sides, unique)
  i <- match(sides[[1L]], levels[[1L]])
  j <- match(sides[[2L]], levels[[2L]])
  twice <- which(duplicated(data.frame(i, j)))
  if (length(twice)) {
    stop_input(
      "`%s` must have one row for each document and term: row %d, %s and %s, repeats one before it.", name, twice[1L],
      dQuote(sides[[1L]][twice[1L]], FALSE), dQuote(sides[[2L]][twice[1L]], FALSE)
    )
  }
  inform(
    "`%s` is read as triplets: %s holds the rows (%d), %s the columns (%d), %s the values.", name,
    dQuote(names(x)[1L], FALSE), length(levels[[1L]]), dQuote(names(x)[2L], FALSE), length(levels[[2L]]),
    dQuote(names(x)[3L], FALSE)
  )
  Matrix::sparseMatrix(i = i, j = j, x = as.double(x[[3L]]), dims = lengths(levels, FALSE), dimnames = levels)
}

# Converts matrices of package slam without loading it: a list of i, j, v, nrow, ncol and dimnames.
slam_to_sparse <- function(x, name) {
  if (inherits(x, "TermDocumentMatrix")) {
    stop_input("`%s` must have documents as rows: it has terms as rows, so use `t(%s)`.", name, name)
  }
  parts <- unclass(x)
  size <- c(parts$nrow, parts$ncol)
  if (!fits_together(parts, size)) {
    stop_input("`%s` must be a whole object of its class, %s: its parts do not fit together.", name,
      dQuote(class(x)[1L], FALSE))
  }
  if (anyDuplicated(data.frame(parts$i, parts$j))) stop_input("`%s` must hold each of its cells once.", name)
  Matrix::sparseMatrix(
    i = parts$i, j = parts$j, x = as.double(parts$v), dims = size, dimnames = parts$dimnames
  )
}

# Tests whether the parts of a simple_triplet_matrix of this size are consistent.
fits_together <- function(parts, size) {
  sized <- is.numeric(size) && length(size) == 2L && isTRUE(all(size >= 0))
  sized && is_plain_number(parts$v) && are_places(parts$i, length(parts$v), size[1L]) &&
    are_places(parts$j, length(parts$v), size[2L]) && are_names(parts$dimnames, size)
}

are_places <- function(at, n, most) is.numeric(at) && length(at) == n && all(at %in% seq_len(most))

are_names <- function(names, size) {
  is.null(names) || is.list(names) && length(names) == 2L && all(lengths(names) == size | lengths(names) == 0L)
}

refuse_shards <- function(x, name) {
  if (in_pieces(x)) {
    stop_input(
      paste(
        "`%s` is in shards, which aspect_bernoulli() and some other models take (see ?shards), but not this: take some",
        "rows, `%s[i, ]`, that fit in memory."
      ),
      name, name
    )
  }
}

# Keeps values, shape and names, also the names of the dimnames, which figures use as words; drops class and other
# attributes. A table without these is not copied: many models are fitted to one large table.
strip_matrix <- function(x) {
  if (all(names(attributes(x)) %in% c("dim", "dimnames"))) {
    return(x)
  }
  matrix(as.vector(x), nrow(x), ncol(x), dimnames = dimnames(x))
}

frame_to_matrix <- function(x, name) {
  tell_lost_classes(x, name)
  x <- plain_frame(drop_nameless(x))
  refuse_empty(x, name)
  rows <- frame_row_names(x)
  columns <- unclass(x) # `[` on a data frame would rename columns of the same name
  labels <- names(x)
  from_text <- length(columns) && is_text(columns[[1L]]) && holds_row_names(columns[[1L]], columns[-1L], rows)
  if (from_text) {
    rows <- as.character(columns[[1L]])
    columns <- columns[-1L]
  }
  check_frame_columns(columns, labels[from_text + seq_along(columns)], from_text, name)
  if (from_text) {
    check_row_text(rows, labels[1L], name)
    inform("Row names taken from the first column of `%s`, %s.", name, dQuote(labels[1L], FALSE))
    labels <- labels[-1L]
  }
  out <- matrix(c(logical(), unlist(columns, use.names = FALSE)), .row_names_info(x, 2L), length(columns))
  dimnames(out) <- list(rows, labels)
  out
}

# Reports what columns lose when a table becomes numbers: geometries are left out, units and labels are dropped.
tell_lost_classes <- function(x, name) {
  of_class <- function(class) names(x)[vapply(unclass(x), inherits, NA, class)]
  geometry <- of_class("sfc")
  if (length(geometry)) inform("Left out of `%s`: the geometry %s.", name, show_names(geometry))
  marked <- of_class(c("units", "haven_labelled"))
  if (length(marked)) inform("Columns of `%s` are taken without their units or labels: %s.", name, show_names(marked))
}

# Drops columns with neither a name nor a value, as files have whose lines end in a tab or a comma.
drop_nameless <- function(x) {
  if (!is.data.frame(x)) {
    return(x)
  }
  # Only text is trimmed: values of some classes become text by their own package alone.
  empty <- function(column) {
    is.atomic(column) && all(is.na(column) | (if (is_text(column)) trimws(column) == "" else FALSE))
  }
  gone <- (is.na(names(x)) | names(x) == "") & vapply(x, empty, NA)
  if (any(gone)) structure(unclass(x)[!gone], row.names = attr(x, "row.names"), class = "data.frame") else x
}

# The first column of text holds the row names, unless it holds marks of a taxon as other columns do, or has duplicates
# although the rows have names.
holds_row_names <- function(column, others, rows) {
  text <- readable_text(column)
  if (!anyDuplicated(column) && !any(trimws(text) %in% c("", NA))) {
    return(!is.character(rows) || identical(text, rows) || !are_tags(others))
  }
  if (is.character(rows)) {
    return(FALSE)
  }
  if (any(vapply(others, is_text, NA))) {
    return(!holds_marks(column, common_marks(others, 1L)))
  }
  is_number_text(text) || mean(mark_kind(text) != "present") < 0.5
}

# Tests whether most columns of a table hold tags that occur once, beside absences, as of genes in genomes: then a
# column of all different ones is a gene that every genome has.
are_tags <- function(columns) {
  length(columns) > 0L && mean(vapply(columns, function(column) is_text(column) && are_tags_once(column), NA)) > 0.5
}

# Tests whether text could be names of rows, but for a few that come more than once.
names_twice <- function(column) {
  text <- readable_text(column)
  anyDuplicated(text) > 0L && mean(duplicated(text)) < 0.25 && !any(text %in% c("", NA))
}

mixed_advice <- function(labels) {
  sprintf(" Leave out what is no taxon%s; a list of records becomes a table by occurrence_matrix().",
    if (length(labels) > 1L) sprintf(" (text is in %s)", show_names(labels)) else "")
}

# Checks that every column is a plain vector of numbers or logical values.
check_frame_columns <- function(columns, labels, from_text, name) {
  plain <- vapply(columns, function(column) is.null(dim(column)) || length(dim(column)) < 2L, NA)
  bad <- which(!plain | !vapply(columns, is_plain_number, NA))
  if (!length(bad)) {
    return(invisible())
  }
  texts <- bad[plain[bad] & vapply(columns[bad], is_text, NA)]
  numbers <- vapply(columns[texts], function(column) is_number_text(as.character(column)), NA)
  marked <- numbers | vapply(columns[texts], holds_marks, NA, common_marks(columns))
  notes <- vapply(columns[texts], function(column) are_sentences(as.character(column)), NA)
  marked <- marked & !notes
  if (are_tags(columns)) marked <- marked | !vapply(columns[texts], anyDuplicated, 0L)
  at <- c(setdiff(bad, texts), texts[!marked], texts[!numbers], texts)[1L]
  column <- columns[[at]]
  what <- if (plain[at]) class(column)[1L] else sprintf("a table of %s itself", count_words(ncol(column), "column"))
  part <- if (from_text) paste0(name, "[-1]") else name
  stop_input(
    "Columns of `%s` must be numeric or logical%s: column %s is %s.%s", name,
    if (from_text || is_text(column)) ", but for row names in the first" else "", dQuote(labels[at], FALSE), what,
    if (!is_text(column) || !plain[at]) {
      number_advice(column, part)
    } else if (nzchar(comma_advice(as.character(column)))) {
      comma_advice(as.character(column))
    } else if (are_sentences(as.character(column)) && length(columns) < length(bad) + 3L) {
      paste("", corpus_advice) # beside columns of numbers it is a note
    } else if (at == 1L && !marked[1L] && names_twice(column)) {
      text <- as.character(column)
      twice <- which(text == text[duplicated(text)][1L])
      sprintf(" If it names the rows, it must name each once: %s is in rows %s.", dQuote(text[twice[1L]], FALSE),
        show_places(twice))
    } else if (at %in% texts[!marked]) {
      mixed_advice(labels[texts[!marked]])
    } else if (all(numbers)) {
      number_advice(column, part)
    } else {
      marks_advice(columns, part, !from_text)
    }
  )
}

check_row_text <- function(rows, label, name) {
  bad <- which(is.na(rows) | rows == "")
  wish <- sprintf("The first column of `%s` (%s) is text and must hold unique row names", name, dQuote(label, FALSE))
  if (length(bad)) stop_input("%s: row %d has none.", wish, bad[1L])
  if (anyDuplicated(rows)) {
    twice <- rows[duplicated(rows)][1L]
    stop_input("%s: %s names rows %s.", wish, dQuote(twice, FALSE), show_places(which(rows == twice)))
  }
}

# Recognises numbers of R itself: integer64 of package bit64 stores different ones in the memory of doubles.
is_plain_number <- function(x) (is.numeric(x) || is.logical(x)) && !inherits(x, "integer64")

# Recognises text that holds numbers only, as after a careless read.
is_number_text <- function(x) {
  known <- trimws(x[!is.na(x)])
  length(known) > 0L && all(grepl("^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$", known))
}

number_advice <- function(x, name = "x") {
  if (inherits(x, "integer64")) {
    return(" Use as.integer() on it.")
  }
  if (!is_text(x)) {
    return("")
  }
  if (!is_number_text(as.character(x))) {
    marks_advice(list(x), name)
  } else if (is.matrix(x)) {
    " Use `storage.mode(x) <- \"numeric\"`."
  } else {
    sprintf(" Use as.numeric(%s) on it.", if (is.factor(x)) "as.character()" else "")
  }
}

# Lists the first few numbers of rows or columns in a message.
show_places <- function(at, most = 5L) {
  if (length(at) > most) {
    return(sprintf("%s and %d more", paste(at[seq_len(most)], collapse = ", "), length(at) - most))
  }
  paste(paste(at[-length(at)], collapse = ", "), at[length(at)], sep = " and ")
}

sparse_to_dgc <- function(x, name) {
  check_valid(x, name)
  if (!inherits(x, "sparseMatrix")) {
    return(as.matrix(x))
  }
  names <- dimnames(x)
  if (!inherits(x, "dgCMatrix")) x <- column_sparse(x)
  # A class built on it, such as a dfm of package quanteda, has its own methods for operations used here.
  if (!identical(as.vector(class(x)), "dgCMatrix")) x <- methods::as(x, "dgCMatrix", strict = TRUE)
  dimnames(x) <- names
  without_slack(x)
}

column_sparse <- function(x) {
  loadNamespace("Matrix") # it knows how
  methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
}

# A valid matrix may have entries beyond those of its last column, which belong to no cell.
without_slack <- function(x) {
  n_stored <- x@p[length(x@p)]
  if (length(x@i) > n_stored) {
    x@i <- x@i[seq_len(n_stored)]
    x@x <- x@x[seq_len(n_stored)]
  }
  x
}

check_dimnames <- function(x, name) {
  for (side in 1:2) check_names(dimnames(x)[[side]], c("Row", "Column")[side], sprintf("`%s`", name))
}

# Checks the names of one side of a table, with its term in messages and its owner: readable and unique text.
check_names <- function(names, what, of) {
  if (is.null(names)) {
    return(invisible())
  }
  odd <- which(is_unreadable(names))
  if (length(odd)) {
    stop_input("%s names of %s must be text that can be read: that of %s %d is not. %s", what, of, tolower(what),
      odd[1L], reread_advice)
  }
  empty <- which(is.na(names) | names == "")
  if (length(empty)) stop_input("%s names of %s must not be empty: %s %d has none.", what, of, tolower(what), empty[1L])
  if (anyDuplicated(names)) {
    twice <- names[duplicated(names)][1L]
    stop_input("%s names of %s must be unique: %s names %ss %s.", what, of, show_names(twice), tolower(what),
      show_places(which(names == twice)))
  }
}

# Describes row or column `at` in a message.
place_words <- function(x, side, at) {
  names <- dimnames(x)[[side]]
  what <- c("row", "column")[side]
  if (is.null(names)) sprintf("%s %d", what, at) else sprintf("%s %d (%s)", what, at, show_names(names[at]))
}

# code: the table's expression, to which the advice refers.
check_values <- function(view, x, kind, name, code = name) {
  range <- .Call(mc_c_view_range, view)
  rule <- switch(kind,
    binary = "not_binary", nonnegative = "negative", real = "not_finite",
    count = if (is.null(range$negative)) "not_whole" else "negative"
  )
  wish <- switch(kind,
    binary = "hold only 0, 1 or NA", nonnegative = "hold finite values of at least 0, or NA",
    real = "hold finite values or NA", count = "hold counts (whole numbers of at least 0) or NA"
  )
  bad <- range[[rule]]
  if (is.null(bad)) bad <- range$not_finite
  if (is.null(bad)) {
    return(invisible())
  }
  counts <- kind == "binary" && is.null(range$negative) && is.null(range$not_whole)
  column <- as.vector(x[, bad[2L]])
  stop_input(
    "`%s` must %s: %s, %s is %s.%s", name, wish, place_words(x, 1L, bad[1L]), place_words(x, 2L, bad[2L]),
    format(bad[3L]), if (counts && numbers_sites(x, as.integer(bad[2L]))) {
      sprintf(" Does this column number the rows? Then leave it out, `%s`.", without_column(x, bad[2L], name))
    } else if (kind == "binary") {
      codes_advice(x, code)
    } else if (rule == "negative" && bad[3L] %in% unknown_codes && any(column > 0, na.rm = TRUE)) {
      sprintf(" If %s is unknown, use `%s[%s == %s] <- NA`.", format(bad[3L]), name, name, format(bad[3L]))
    } else if (rule == "negative" && !is.null(odd <- odd_columns(x, name))) {
      paste("", odd)
    } else {
      ""
    }
  )
}

# Recognises whole numbers that number sites: above 0 and unique. Counts of a taxon may be so, too, but hardly in
# ascending order in the first column.
numbers_sites <- function(x, at) {
  column <- as.vector(x[, at])
  if (length(column) < 5L || !isTRUE(all(column > 0)) || anyDuplicated(column)) {
    return(FALSE)
  }
  rest <- x[, -at, drop = FALSE]
  amounts <- unique(if (inherits(rest, "dgCMatrix")) rest@x else as.vector(rest))
  sum(amounts > 0, na.rm = TRUE) < 2L || at == 1L && !is.unsorted(column)
}

# Within these bounds sums and squares of values neither overflow nor vanish.
magnitudes <- c(1e-100, 1e100)

check_magnitude <- function(values, name) {
  most <- max(0, values, na.rm = TRUE)
  if (most > 0 && (most < magnitudes[1L] || most > magnitudes[2L])) {
    stop_input(
      "`%s` must be rescaled: its largest value is %s, and must lie within %s and %s.", name, format(most),
      format(magnitudes[1L]), format(magnitudes[2L])
    )
  }
  least <- min(Inf, values[which(values > 0)])
  if (least < magnitudes[1L]) {
    stop_input("`%s` must have no values between 0 and %s: it has %s, which is 0 to any sum.", name,
      format(magnitudes[1L]), format(least))
  }
}

# Rows and columns with nothing observed are legal and reported once.
tell_unobserved <- function(data) {
  for (side in 1:2) {
    none <- which(data$margins[[c("row_observed", "column_observed")[side]]] == 0)
    if (!length(none)) next
    what <- c("row", "column")[side]
    names <- dimnames(data$x)[[side]]
    names <- if (is.null(names)) as.character(none) else names[none]
    inform(
      "%s with nothing observed, kept but without influence: %s.", count_words(length(none), what), show_names(names)
    )
  }
}

# Numbered taxon names, as in sequencing and in lists of morphospecies.
numbered_taxa <- "^(z?otu|[az]sv|spp?|species|taxon)[ ._-]?[0-9]+$"

# Names of a genus and an epithet, which may be "sp.", or of open nomenclature; and the endings of most epithets.
two_names <- paste0(
  "^[\"']?[[:upper:]][[:lower:]-]+[ ._]+(\\([^)]*\\)[ ._]+)?((cf|aff|x|\u00d7)[ ._]+)?",
  "([[:lower:]-]{3,}|spp?([^[:alpha:]].*)?$)([^[:lower:]].*)?$"
)
latin_ending <- paste0(
  "[ ._](spp?\\b|[[:lower:]-]*(us|um|is|es|os|as|a|ae|i|ens|ans|ense|oides|are|ale|ile|ax|ex|ix|ops|ceps|or)",
  "([^[:lower:]]|$))"
)

# Computes the share of names in the form of taxon names, 0 if there are none.
share_of_taxa <- function(names) {
  if (!length(names)) {
    return(0)
  }
  names <- utils::head(names, 1000L)
  two <- grepl(two_names, names)
  if (any(two) && mean(grepl(latin_ending, names[two])) < 0.5) two <- FALSE
  mean(two | grepl(numbered_taxa, names, ignore.case = TRUE))
}

# Recognises numbered sites, such as "plot_3".
are_sites <- function(names) {
  length(names) > 0L && all(grepl("[0-9]$", names)) && all(side_of(name_stem(names)) %in% "site")
}

# Reports taxon names that are only on the side of the sites, or site names on that of the taxa. `names`: of both sides;
# `code`: transposes the table; `label`: the name of the column of row names.
tell_turned <- function(names, name, code, label = NULL) {
  rows <- names[[1L]]
  columns <- names[[2L]]
  if (length(rows) < 2L) {
    return(invisible())
  }
  taxa <- share_of_taxa(rows) >= 0.8 && share_of_taxa(columns) < 0.2
  said <- if (taxa) {
    sprintf("they are called like taxa: %s", show_names(rows, 2L))
  } else if (side_of(label %||% "") %in% "taxon") {
    sprintf("their names are those of its column %s", dQuote(label, FALSE))
  } else if (are_sites(columns) && !are_sites(rows)) {
    sprintf("its columns are called like sites: %s", show_names(columns, 2L))
  }
  if (!is.null(said)) {
    inform("Rows of `%s` are taken for sites, but %s. If they are taxa, use `%s`.", name, said, code)
  }
}

# Returns list(code, label): code that transposes the user's table, and the name of its column of names.
turning <- function(x, name) {
  named <- is.data.frame(x) && length(x) > 1L && is_text(x[[1L]]) && !anyDuplicated(x[[1L]])
  if (!named) {
    return(list(code = sprintf("t(%s)", name)))
  }
  list(code = sprintf("t(data.frame(%s[-1], row.names = %1$s[[1]]))", name), label = names(x)[1L])
}

# Names of variables of sites that tables hold beside the taxa.
site_variables <- paste0(
  "^(id|site|sample|plot|station|number|age|depth|year|month|day|lat|latitude|lon|long|lng|longitude|easting|northing|",
  "elevation|elev|altitude|area)($|[ ._(0-9-]|id$|no$|bp$|cm$|m$)"
)

# Reports columns of such names without a 0, and a first column that may number the rows.
tell_site_columns <- function(data, name) {
  x <- data$x
  if (nrow(x) < 5L) {
    return(invisible())
  }
  full <- function(at) if (length(at)) at[column_sums(x[, at, drop = FALSE] > 0, na.rm = TRUE) == nrow(x)] else at
  found <- full(grep(site_variables, colnames(x), ignore.case = TRUE))
  if (length(found)) {
    inform("Taken for %s found at every site: %s. What describes the sites must be left out of `%s`.",
      if (length(found) == 1L) "a taxon" else "taxa", show_names(colnames(x)[found]), name)
  } else if (ncol(x) > 1L && length(full(1L)) && numbers_rows(as.vector(x[, 1L]))) {
    inform(
      "The first column of `%s`, %s, holds %s to %s in ascending order and is taken for a taxon. %s", name,
      show_names(colnames(x)[1L] %||% "1"), format(x[1L, 1L]), format(x[nrow(x), 1L]),
      sprintf("If it numbers the rows, leave it out: `%s`.", without_column(x, 1L, name))
    )
  }
}

# Reports few columns of fractions among many of counts, such as coordinates.
tell_fractions <- function(data, name) {
  if (is.null(.Call(mc_c_view_range, data$view)$not_whole)) {
    return(invisible())
  }
  odd <- odd_columns(data$x, name)
  if (!is.null(odd)) inform("%s", odd)
}

odd_columns <- function(x, name) {
  odd <- odd_advice(x, name, "fractions or values below 0")
  if (!is.null(odd)) sprintf("%s Leave out of `%s` what is no taxon.", sub(" Leave .*", "", odd), name)
}

# Recognises whole numbers, unique and ascending, unlike counts of a taxon.
numbers_rows <- function(column) {
  !anyNA(column) && all(column == floor(column)) && !is.unsorted(column, strictly = TRUE)
}

# Writes code that drops a column by name, or by position.
without_column <- function(x, at, name) {
  label <- colnames(x)[at]
  if (is.null(label)) sprintf("%s[, -%d]", name, at) else
    sprintf("%s[, colnames(%s) != %s]", name, name, dQuote(label, FALSE))
}

# Computes the density of ones among the observed cells.
data_density <- function(data) {
  sum(data$margins$row_sum) / max(1, sum(data$margins$row_observed))
}

# Orders data supplied for a fit that did not keep them: rows and columns in the order of the fit, by name if both sides
# have names.
match_data <- function(x, fit) {
  check_dimnames(x, "x")
  x <- match_columns(x, fit$names[[2L]], fit$dims[["m"]], "x")
  known <- fit$names[[1L]]
  if (nrow(x) != fit$dims[["n"]]) {
    stop_input("`x` must have the %s of the training data, not %d.", count_words(fit$dims[["n"]], "row"), nrow(x))
  }
  if (!is.null(known) && !is.null(rownames(x)) && !identical(known, rownames(x))) {
    unknown <- setdiff(rownames(x), known)
    if (length(unknown)) {
      stop_input("`x` has %s unknown to the fit: %s.", count_words(length(unknown), "row"), show_names(unknown))
    }
    x <- x[match(known, rownames(x)), , drop = FALSE]
  }
  x
}

# Orders columns of new data like the training attributes, by name if both have names.
#   listed  whether the data list only what occurs, as documents do: columns that they lack are then 0, others left out
match_columns <- function(newdata, attributes, m, name = "newdata", listed = FALSE) {
  names <- colnames(newdata)
  if (is.null(attributes) || is.null(names)) {
    if (ncol(newdata) != m) {
      stop_input("`%s` must have the %s of the training data, not %d.", name, count_words(m, "column"), ncol(newdata))
    }
    return(newdata)
  }
  missing <- setdiff(attributes, names)
  unknown <- setdiff(names, attributes)
  if (listed && length(missing) < length(attributes) && length(c(missing, unknown))) {
    lines <- c(
      sprintf("has %s unknown to the fit, left out: %s", count_words(length(unknown), "column"), show_names(unknown)),
      sprintf("lacks %s of the training data, taken as 0: %s", count_words(length(missing), "column"),
        show_names(missing))
    )[lengths(list(unknown, missing)) > 0L]
    inform("`%s` %s.", name, paste(lines, collapse = "; it "))
    newdata <- add_columns(newdata, missing)
    names <- colnames(newdata)
    missing <- unknown <- character()
  }
  if (length(missing)) {
    stop_input(
      "`%s` lacks %s of the training data: %s.", name, count_words(length(missing), "column"), show_names(missing)
    )
  }
  if (length(unknown)) {
    stop_input(
      "`%s` has %s unknown to the fit: %s.", name, count_words(length(unknown), "column"), show_names(unknown)
    )
  }
  newdata[, match(attributes, names), drop = FALSE]
}

# Adds columns of 0.
add_columns <- function(x, labels) {
  if (!inherits(x, "dgCMatrix")) {
    return(cbind(x, matrix(0, nrow(x), length(labels), dimnames = list(NULL, labels))))
  }
  none <- Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = c(nrow(x), length(labels)),
    dimnames = list(NULL, labels))
  methods::cbind2(x, none)
}

# Codes for unknown and blanks in a table of presences are not converted silently: the message shows how to turn them
# into 0, 1 and NA.

# Explains numbers other than 0 and 1 in a table of presences: 1 and 2, a code for unknown, counts, amounts; or columns
# that are no taxa.
codes_advice <- function(x, name) {
  values <- unique(if (inherits(x, "dgCMatrix")) c(if (length(x@x) < prod(dim(x))) 0, x@x) else as.vector(x))
  unknown <- anyNA(values)
  values <- sort(values[!is.na(values)])
  code <- intersect(unknown_codes, values)
  rest <- setdiff(values, code)
  whole <- all(is.finite(values) & values == floor(values))
  counts <- whole && all(rest >= 0) && (!length(code) || any(rest > 1) || all(code > 1))
  if (length(values) && !whole && all(pmin(abs(values), abs(values - 1)) <= 1e-8)) {
    return(sprintf(" Its values are 0 and 1 but for rounding: use `round(%s)`.", name))
  }
  parts <- c(
    if (length(code) && all(rest %in% 0:2)) {
      sprintf("If %s is unknown, use `%s[%s == %s] <- NA`.", code[1L], name, name, code[1L])
    },
    if (setequal(rest, 1:2)) {
      sprintf("If 2 stands for a presence and 1 for none, use `%s - 1`; if 1 does and 2 for none, `2 - %1$s`.", name)
    } else if (!is.null(odd <- odd_advice(x, name))) {
      odd
    } else if (counts && !0 %in% rest) {
      no_zero_advice(rest, unknown, name)
    } else if (counts) {
      sprintf("For counts, use `(%s > 0) + 0`.", name)
    } else if (!whole && are_amounts(values)) {
      sprintf("For amounts, such as percentages or cover, use `(%s > 0) + 0`.", name)
    }
  )
  paste(c("", parts), collapse = " ")
}

are_amounts <- function(values) all(is.finite(values) & values >= 0) && (any(values > 1) || length(values) > 5L)

# In ratings such as 1 to 5, or counts with blanks for 0, all cells would be presences by `x > 0`.
no_zero_advice <- function(values, unknown, name) {
  paste0(
    sprintf("No cell is 0: if %s stands for an absence, use `(%s > %s) + 0`", values[1L], name, values[1L]),
    if (unknown) sprintf("; if NA does, `(!is.na(%s)) + 0`", name), "."
  )
}

# Finds columns unlike all others, which must be three of four (half, see below) at least: these hold 0 and 1 only or,
# in counts and amounts, whole numbers from 0. Unlike columns may describe the sites. NULL: there are none.
odd_advice <- function(x, name, kinds = c("values other than 0 and 1", "fractions or values below 0")) {
  if (length(dim(x)) != 2L || inherits(x, "dgCMatrix")) {
    return(NULL)
  }
  holds <- function(cells) colSums(cells, na.rm = TRUE) > 0
  uneven <- holds(x != floor(x) | x < 0 & !x %in% unknown_codes)
  above <- holds(x > 1)
  # If all columns without fractions hold 0 and 1 only, half of the columns are enough.
  least <- if (any(above & !uneven) || ncol(x) - sum(uneven) < 3L) 4L else 2L
  for (what in kinds) {
    odd <- which(uneven | (what == kinds[1L] & length(kinds) > 1L & above))
    if (!length(odd) || least * length(odd) > ncol(x)) next
    below <- all(colSums(x[, odd, drop = FALSE] < 0, na.rm = TRUE) > 0)
    return(paste0(
      sprintf("Of all columns only %s %s %s. ", show_names(colnames(x)[odd] %||% odd),
        if (length(odd) == 1L) "holds" else "hold", what),
      if (below) {
        "Leave out what is no taxon."
      } else {
        sprintf("Leave %s; for counts or amounts, use `(%s > 0) + 0`.",
          if (length(odd) == 1L) "it out if it is no taxon" else "them out if they are no taxa", name)
      }
    ))
  }
}

# Stops at a table of presences without zeros that has NA cells, most likely blanks. Counts without zeros may be
# correct. values: of the observed cells, or of all that are not 0. If a fold has held out all zeros of a table,
# quiet_fit() resumes by the restart.
check_blanks <- function(values, n_observed, n_cell, name) {
  if (n_observed == 0 || n_observed == n_cell) {
    return(invisible())
  }
  values <- values[!is.na(values)]
  if (length(values) < n_observed || any(values <= 0)) {
    return(invisible())
  }
  advice <- sprintf("Are blanks zeros? Then use `%s[is.na(%s)] <- 0`.", name, name)
  if (all(values == 1)) {
    withRestarts(
      stop_input("`%s` must have a zero: all its cells are 1 or NA. %s", name, advice, class = "multicause_no_zero"),
      hidden_by_us = function() NULL
    )
  }
  if (min(values) == 1 && n_observed < n_cell / 2 && all(values == floor(values))) {
    inform("No cell of `%s` is 0, and %s are NA. %s", name, format_big(n_cell - n_observed), advice)
  }
}

check_blank_cells <- function(data, name = "x") {
  check_blanks(
    if (inherits(data$x, "dgCMatrix")) data$x@x else as.vector(data$x), sum(data$margins$row_observed),
    prod(as.double(dim(data$x))), name
  )
}

# Parts that mark the formats of package spOccupancy, list(y = species x sites x visits, occ.covs, det.covs), of package
# unmarked, list(ylist = a list of sites x visits for each species, siteCovs, obsCovs), or one of its frames, and of
# detectionHistory() of package camtrapR, list(detection_history, effort).
packed_names <- c("y", "ylist", "detection_history")

# Recognises a table of any class, or an object that the table check refuses; but no array and no repeated visits, which
# come as plain lists and as objects with parts of these names.
is_table <- function(x) {
  if (isS4(x)) {
    return(!any(packed_names %in% methods::slotNames(x)))
  }
  is.data.frame(x) || if (is.list(x)) is.object(x) && !any(packed_names %in% names(x)) else length(dim(x)) <= 2L
}

# Refuses an option that shards do not support, with the reason and an alternative.
stop_not_for_shards <- function(what, why) stop_input("%s does not go with shards: %s.", what, why)
