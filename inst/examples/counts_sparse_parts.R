# From counts to sparse parts: each formation as a mixture of few faunas.
library(multicause)
presences <- subset(tetrapod_occurrences, !grepl("trace", pres_mode) & family != "NO_FAMILY_SPECIFIED")
x <- occurrence_matrix(
  presences, site = "formation", taxon = "family", min_sites = 4, min_taxa = 3, count = TRUE
)
set.seed(1)
fit <- plsa(x, k = 8, sparsity = c(membership = 0.05))
fit
summary(fit$perplexity) # how many faunas a formation uses
apply(fit$param$basis, 1, function(share) names(sort(share, decreasing = TRUE))[1:4])
pdf("faunas.pdf", width = 8, height = 7)
plot(fit, "structure")
dev.off()
