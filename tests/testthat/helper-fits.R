# A small fit of every model, for tests of what all of them have.

fits_of_all <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_fits_of_all()
    made
  }
})

make_fits_of_all <- function() {
  set.seed(1)
  x <- outer(1:20, 1:8, function(i, j) (i <= 10) == (j <= 4)) * matrix(stats::rbinom(160, 1, 0.7), 20)
  dimnames(x) <- list(paste0("site", 1:20), paste0("taxon", 1:8))
  x[2, 3] <- NA
  few <- fit_control(n_start = 2, n_polish = 0, progress = FALSE)
  quick <- mcmc_control(chains = 2, warmup = 20, draws = 40, n_start = 2, n_reheat = 1, keep = 10, progress = FALSE)
  again <- x * matrix(stats::rbinom(160, 1, 0.8), 20)
  suppressWarnings(suppressMessages(list(
    aspect_bernoulli = aspect_bernoulli(x, 3, phantom = "white", control = few),
    effort = aspect_bernoulli(x, 2, phantom = "white", effort = seq(1, 3, length.out = 20), control = few),
    visits = visits_bernoulli(list(x, again), k = 2, estimate = "ml", control = few),
    vb = aspect_bernoulli(x, 2, estimate = "vb", control = few),
    bernoulli_mixture = bernoulli_mixture(x, 2, estimate = "ml", control = few),
    logistic_pca = logistic_pca(x, 2, control = few),
    nmf = nmf(x, 2, control = few),
    plsa = plsa(3 * x, 2, control = few),
    plca = plca(array(stats::rpois(6 * 8 * 4, 2), c(site = 6, taxon = 8, time = 4)), 2, control = few),
    noisy_or = noisy_or(x, 2, control = few),
    bmf = bmf(x, family = "bernoulli", control = quick)
  ), classes = "multicause_message"))
}

# Removes the number of iterations from prints, because one rounding may change it.
hide_passes <- function(lines) sub("after [0-9]+ iterations", "after <n> iterations", lines)

# Words of a print, independent of line breaks.
print_words <- function(x) gsub("\\s+", " ", paste(utils::capture.output(print(x)), collapse = " "))

# Names the views of plot() that need nothing but the fit.
views_of <- function(fit) {
  views <- eval(formals(getS3method("autoplot", intersect(class(fit), c(
    "aspect_model", "noisy_or", "plsa", "plca", "bmf", "multicause"
  ))[1L], envir = asNamespace("ggplot2")))$what)
  none <- c(
    if (is.null(fit$param$membership)) "structure", if (all(fit$fixed == "free")) "phantom",
    if (!is_sampled(fit)) "density"
  )
  setdiff(views, c("curves", "map", "images", "simplex", none))
}
