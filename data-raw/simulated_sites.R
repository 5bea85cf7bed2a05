# Builds simulated_sites. To be run by Rscript from the root of the package.
#
# Presence from three faunas that follow each other in time; then a white phantom of known strength at each site turns
# presences into zeros. So it is known which zeros are false. The same as aspect Bernoulli with four aspects, one of
# them zero: P(x = 1) = (1 - phantom) * sum_c content[, c] aspects[c, ].

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20090301)
n <- 160L # 120 of which are kept
m <- 40L
k <- 3L
taxon <- sprintf("taxon_%02d", seq_len(m))
fauna <- paste0("fauna_", seq_len(k))

# Sites from old (20 Ma) to young (2 Ma). Faunas rise and fall, with some mixing in every site.
age <- sort(round(runif(n, 2, 20), 2), decreasing = TRUE)
peak <- c(17, 11, 5)
content <- exp(-0.5 * outer(age, peak, `-`)^2 / 2.5^2) * matrix(rgamma(n * k, 2), n)
content <- content / rowSums(content)

# A taxon is common in one fauna, in every fifth case in the next one too, and rare elsewhere.
home <- sort(rep_len(seq_len(k), m))
aspects <- matrix(rbeta(k * m, 1, 40), k)
aspects[cbind(home, seq_len(m))] <- rbeta(m, 6, 2)
both <- seq(5L, m, by = 5L)
aspects[cbind(home[both] %% k + 1L, both)] <- rbeta(length(both), 4, 4)

# Most sites are searched badly, a few almost completely.
phantom <- rbeta(n, 2, 1.4)
phantom[sample(n, 16L)] <- rbeta(16L, 1, 30)

present <- matrix(as.integer(runif(n * m) < content %*% aspects), n, dimnames = list(NULL, taxon))
missed <- matrix(runif(n * m) < phantom, n)
x <- present
x[missed] <- 0L

# Sites with fewer than two taxa are left out, as in most published tables.
kept <- sort(sample(which(rowSums(x) >= 2L), 120L))
n <- length(kept)
site <- sprintf("site_%03d", seq_len(n))
x <- x[kept, ]
present <- present[kept, ]
rownames(x) <- rownames(present) <- site
age <- age[kept]
content <- content[kept, ]
phantom <- phantom[kept]
stopifnot(colSums(x) >= 3L)

simulated_sites <- list(
  x = x,
  sites = data.frame(site = site, age = age, n_taxa = as.integer(rowSums(x)), row.names = site),
  truth = list(
    membership = matrix(
      cbind((1 - phantom) * content, phantom), n,
      dimnames = list(site, c(fauna, "phantom"))
    ),
    aspects = matrix(rbind(aspects, 0), k + 1L, dimnames = list(c(fauna, "phantom"), taxon)),
    present = present
  )
)
cat(sprintf(
  "%d x %d, %.1f %% ones, %d of %d zeros are false\n", n, m, 100 * mean(x), sum(present == 1L & x == 0L), sum(x == 0L)
))

save(simulated_sites, file = "data/simulated_sites.rda", compress = "xz", version = 2)
