# The entropic M-step, by which plsa() makes its rows sparse: the shares theta on the simplex that maximise
#   f(theta) = sum omega log theta + beta sum theta log theta,
# eqs. (7) and (8) of Shashanka, Raj & Smaragdis (2007), after Brand (1999). beta > 0 favours few large shares, beta < 0
# even ones. Only the ratio of omega and beta matters.
#
# The paper's solution puts every share on the branch W_-1 of the Lambert W function (Corless and others 1996). That is
# not always the maximum and need not exist: where beta exceeds the largest count, the largest share may stand on W_0.
# "global" takes the better of all maxima, "first" the one with the smallest largest share, which is the paper's where
# that exists. They differ only for beta above the largest of many nearly equal counts. W is evaluated through the
# logarithm of its argument, which would overflow.
#
# A count of 0 gives a share of exact 0 for beta >= 0 and a positive one for beta < 0; a positive count always gets a
# share above 0. Of several largest counts the first becomes the largest share. Nothing counted at all: all mass on the
# first for beta > 0, else equal shares. Costs O(K) evaluations of W for each of some 5 to 10 Newton steps.
#
# omega    expected counts, a vector or a matrix with one problem in each row
# beta     one number in counts, or one for each row
# returns  shares of the shape and names of omega
entropic_mstep <- function(omega, beta, method = c("global", "first")) {
  method <- check_choice(method, "method", c("global", "first"))
  check_given(omega, beta)
  if (!is.numeric(omega) || !length(omega)) {
    stop_input("`omega` must be a numeric vector or matrix with at least one value, not %s.", show_value(omega))
  }
  as_rows <- if (is.matrix(omega)) omega else matrix(omega, 1L)
  bad <- which(is.na(as_rows) | as_rows < 0 | is.infinite(as_rows))
  if (length(bad)) {
    stop_input("`omega` must hold finite values of at least 0: value %d is %s.", bad[1L], format(as_rows[bad[1L]]))
  }
  if (!is.numeric(beta) || !length(beta) %in% c(1L, nrow(as_rows)) || anyNA(beta) || any(is.infinite(beta))) {
    stop_input("`beta` must be one finite number, or one for each row of `omega`, not %s.", show_value(beta))
  }
  counts <- t(as_rows) + 0
  dimnames(counts) <- NULL
  share <- .Call(mc_c_entropic, counts, rep_len(as.double(beta), nrow(as_rows)), entropic_rule(method))
  if (!is.matrix(omega)) {
    return(stats::setNames(drop(share), names(omega)))
  }
  share <- t(share)
  dimnames(share) <- dimnames(omega)
  share
}

# As num_entropic_rule in src/num_simplex.h.
entropic_rule <- function(method) match(method, c("cccp", "global", "first")) - 1L
