# From a community table of package vegan to compared models.
library(multicause)
data(dune, package = "vegan") # 20 meadows by 30 plants, cover classes
x <- (dune > 0) + 0 # these models take presences and absences
map <- function(model) function(x, k, control) model(x, k, estimate = "map", control = control) # with a weak prior
models <- list(
  aspects = map(aspect_bernoulli), mixture = map(bernoulli_mixture), pca = logistic_pca, sources = noisy_or
)
set.seed(1)
compared <- compare_models(x, k = 1:5, models, replicates = 3)
compared
pdf("compared.pdf", width = 7, height = 4.5)
plot(compared)
dev.off()
best <- compared$fits[[compared$table$model[which.min(compared$table$cells)]]]
round(head(fitted(best)[, 1:6]), 2) # the probability of each plant in each meadow
