# Why are ranges of what taxa missed too wide in averages of variational fits? Takes them apart on tables of other
# kinds, sizes and seeds than those of bench/bayes_average.R, whose generators it uses: how much of their variance is
# the number itself, how much the disagreement of members; and what other powers of the posterior of memberships and
# other exponents of the members' weights would do. Prints what bench/bayes.md has of it. MULTICAUSE_SETS:
# tables of each kind; MULTICAUSE_FITS: a folder that keeps the fits.
#   Rscript bench/bayes_average_taxa.R
library(multicause)
n_sets <- as.integer(Sys.getenv("MULTICAUSE_SETS", "3"))
kept <- Sys.getenv("MULTICAUSE_FITS", tempfile())
dir.create(kept, showWarnings = FALSE)
n <- 100
m <- 40
generators <- c("lose", "faunas", "mixed", "gradient")
for (line in as.list(parse("bench/bayes_average.R"))) {
  if (is.call(line) && identical(line[[1]], as.name("<-")) && as.character(line[[2]])[1] %in% generators) eval(line)
}
uneven <- function() rbeta(n, 1.2, 1.8)
one_of <- function(k, shape) lose(faunas(k, shape)[sample(k, n, TRUE), ], uneven())

kinds <- list(
  mix3 = list(name = "mixtures of three faunas", k = 4, draw = function() lose(mixed(3, c(0.5, 1.3)), uneven())),
  mix5_small = list(name = "of five, k too small", k = 3, draw = function() lose(mixed(5, c(0.5, 1.3)), uneven())),
  mix3_large = list(name = "of three, k too large", k = 6, draw = function() lose(mixed(3, c(0.4, 1)), uneven())),
  mix2_even = list(
    name = "of two, losses even", k = 3, draw = function() lose(mixed(2, c(0.6, 1.2)), runif(n, 0, 0.7))
  ),
  one4 = list(name = "one of four faunas", k = 5, draw = function() one_of(4, c(0.4, 1))),
  one3_dense = list(name = "one of three, dense", k = 4, draw = function() one_of(3, c(1, 1.2))),
  grad3 = list(name = "gradient, ranges of 0.3", k = 4, draw = function() lose(gradient(0.3), uneven())),
  grad1 = list(name = "gradient, ranges of 0.1", k = 6, draw = function() lose(gradient(0.1), uneven())),
  two3 = list(name = "two gradients, ranges of 0.3", k = 5, draw = function() lose(gradient(0.3, 2), uneven()))
)

average_of <- function(kind, set) {
  file <- file.path(kept, sprintf("%s_%d.rds", names(kinds)[kind], set))
  if (!file.exists(file)) {
    set.seed(40000 + 100 * kind + set)
    table <- kinds[[kind]]$draw()
    control <- fit_control(n_start = 2, n_polish = 0, max_pass = 300, tol = 1e-6, progress = FALSE)
    k <- unique(pmax(2, kinds[[kind]]$k + -2:2))
    many <- suppressMessages(ensemble(table$x, k = k, estimate = "vb", phantom = "white", control = control))
    saveRDS(list(set = table, many = many), file)
  }
  readRDS(file)
}

# What is missed in draws, as by_site() draws them but for two settings: a list of taxa and sites x draws.
inside <- asNamespace("multicause")
drawn <- function(many, power, exponent, draws = 100) {
  member <- sort(sample.int(length(many$fits), draws, TRUE, many$weights^exponent))
  each <- lapply(member, function(i) {
    fit <- many$fits[[i]]
    before <- inside$prior_state(fit$prior, unname(fit$pinned), n, m)$membership
    fit$posterior$membership[] <- before + power * (fit$posterior$membership - before)
    fit <- inside$draw_posterior(fit, NULL)
    missed <- inside$cell_scores(fit, seq_len(n), inside$draw_kinds(fit))$missed
    missed[!many$x %in% 0] <- 0
    list(taxa = colSums(missed), sites = rowSums(missed), own_taxa = colSums(missed * (1 - missed)),
         own_sites = rowSums(missed * (1 - missed)))
  })
  part <- function(name) sapply(each, `[[`, name)
  number <- function(sums, own) pmax(sums + rnorm(length(sums)) * sqrt(own), 0)
  list(member = member, mean = part("taxa"), own = part("own_taxa"), taxa = number(part("taxa"), part("own_taxa")),
       sites = number(part("sites"), part("own_sites")))
}

held <- function(numbers, expected, lost) {
  ends <- apply(numbers, 1, quantile, c(0.05, 0.95))
  mean(lost >= pmin(ends[1, ], expected) & lost <= pmax(ends[2, ], expected))
}
settings <- expand.grid(power = c(0.25, 1), exponent = c(0.5, 0.75, 1))

judge <- function(kind, set) {
  one <- average_of(kind, set)
  omitted <- one$set$planted$omitted
  set.seed(set)
  expected <- lapply(c(taxa = "taxon", sites = "site"), function(by) {
    inside$sum_missed(one$many, one$many$x, inside$component_kinds(one$many), by)$missed
  })
  all <- Map(drawn, list(one$many), settings$power, settings$exponent)
  now <- all[[1]]
  of_member <- vapply(split(seq_along(now$member), now$member), function(at) rowMeans(now$mean[, at, drop = FALSE]),
                      numeric(m))[, as.character(now$member)]
  variance <- apply(now$taxa, 1, var)
  c(
    spread = inside$members_apart(one$many)$spread, own = mean(rowMeans(now$own) / variance),
    members = mean(apply(of_member, 1, var) / variance),
    taxa = vapply(all, function(one) held(one$taxa, expected$taxa, colSums(omitted)), 0),
    sites = vapply(all, function(one) held(one$sites, expected$sites, rowSums(omitted)), 0)
  )
}

results <- lapply(seq_along(kinds), function(kind) sapply(seq_len(n_sets), function(set) judge(kind, set)))
shown <- function(values) paste(sprintf("%.2f", values), collapse = " | ")
for (side in c("taxa", "sites")) {
  heads <- sprintf("power %g, exponent %g", settings$power, settings$exponent)
  cat("\n|", side, if (side == "taxa") "| members apart | the number itself | members |" else "|",
      paste(heads, collapse = " | "), "|\n")
  cat(strrep("| --- ", length(heads) + if (side == "taxa") 4 else 1), "|\n", sep = "")
  at <- c(if (side == "taxa") 1:3, if (side == "taxa") 3 + seq_along(heads) else 9 + seq_along(heads))
  for (kind in seq_along(kinds)) cat("|", kinds[[kind]]$name, "|", shown(rowMeans(results[[kind]])[at]), "|\n")
  cat("| mean |", shown(rowMeans(do.call(cbind, results))[at]), "|\n")
}
every <- do.call(cbind, results)
cat(sprintf("\nCorrelation over tables of how far members are apart and of taxa held: %.2f\n",
  cor(every["spread", ], every["taxa1", ])))
