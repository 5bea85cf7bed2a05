#' @details
#' See the vignette *Which zeros are real?*: `vignette("which-zeros", package = "multicause")`.
#' @keywords internal
#' @importFrom methods as
#' @importFrom stats coef fitted logLik nobs predict residuals simulate update
#' @importFrom utils head
#' @useDynLib multicause, .registration = TRUE
"_PACKAGE"
