# Makes values of other packages' classes plain: what is selected from them stays what R's own functions understand.

# Numbers of package units stand without their unit, labelled values of package haven are their codes, which only that
# package turns into text, and numbers of 64 bits (package bit64) are numbers of R. Names and shape stay.
plain_values <- function(values) {
  if (!is.object(values)) {
    return(values)
  }
  foreign <- inherits(values, c("units", "haven_labelled"))
  if (inherits(values, "integer64")) {
    values <- plain_integer64(values)
  } else if (foreign) {
    attributes(values) <- attributes(values)[c("names", "dim", "dimnames")]
  }
  values
}

# R stores numbers of 64 bits in the memory of doubles. Those from 2^53 on, of which doubles have not all, stay as they
# are; the smallest number of 64 bits is NA.
plain_integer64 <- function(values) {
  bits <- matrix(readBin(writeBin(as.double(unclass(values)), raw(), endian = "little"), "integer", 2L * length(values),
    endian = "little"), 2L)
  low <- bits[1L, ]
  high <- bits[2L, ]
  low <- ifelse(is.na(low), 2^31, ifelse(low < 0, low + 2^32, low))
  number <- high * 2^32 + low # the high half of NA is NA, as of the smallest integer
  if (any(abs(number) >= 2^53, na.rm = TRUE)) {
    return(values)
  }
  attributes(number) <- attributes(values)[c("names", "dim", "dimnames")]
  number
}

# A data frame whose columns come alone when they are selected: without the geometry of package sf, which would stick to
# them, and without the class and the attributes of any other package.
plain_frame <- function(data) {
  geometry <- vapply(data, inherits, NA, "sfc")
  columns <- lapply(unclass(data)[!geometry], plain_values)
  attributes(columns) <- list(names = names(data)[!geometry])
  structure(columns, class = "data.frame", row.names = .row_names_info(data, 0L)) # usual numbers stay such
}
