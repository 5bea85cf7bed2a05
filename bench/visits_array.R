# What is lost where many collections of a site are pooled or thinned to a few visits: Rscript bench/visits_array.R
suppressMessages(library(multicause))

# Ways to make visits of collections, and the formula of detection that goes with each.
ways <- list(
  all = list(max_visits = Inf, surplus = "pool", detection = ~1),
  pool = list(max_visits = 5, surplus = "pool", detection = ~ log(n_pooled)),
  pool1 = list(max_visits = 5, surplus = "pool", detection = ~1),
  pool20 = list(max_visits = 20, surplus = "pool", detection = ~ log(n_pooled)),
  first = list(max_visits = 5, surplus = "first", detection = ~1),
  random = list(max_visits = 5, surplus = "random", detection = ~1)
)

taxa <- sprintf("t%02d", 1:30)

# Presences of 30 taxa at 80 sites, each searched by 1 to 60 collections.
draw_fauna <- function(n = 80) {
  present <- matrix(rbinom(n * length(taxa), 1, rep(plogis(rnorm(length(taxa), -0.5, 1)), each = n)), n)
  detection <- plogis(rnorm(length(taxa), -2.2, 0.6))
  collections <- pmin(60, 1 + rgeom(n, 0.12))
  collect <- function(site, collection) {
    found <- taxa[present[site, ] == 1 & runif(length(taxa)) < detection]
    if (!length(found)) found <- NA
    data.frame(site = sprintf("s%02d", site), collection = site * 100 + collection, taxon = found)
  }
  site <- rep(seq_len(n), collections)
  list(present = present, records = do.call(rbind, Map(collect, site, sequence(collections))))
}

answer <- function(way, fauna) {
  seconds <- system.time({
    x <- suppressMessages(visits_array(fauna$records, "site", "taxon", "collection",
      max_visits = way$max_visits, surplus = way$surplus))
    fit <- suppressMessages(visits_bernoulli(x, 1, detection = way$detection, control = fit_control(n_start = 1)))
  })[[3L]]
  there <- occupied(fit)
  truth <- rowSums(fauna$present[, match(colnames(x), taxa)])
  data.frame(
    time = seconds, f = sum(there$found) / sum(truth), bias = sum(there$expected) / sum(truth) - 1,
    rmse = sqrt(mean((there$expected - truth)^2))
  )
}

results <- do.call(rbind, lapply(1:8, function(seed) {
  set.seed(seed)
  fauna <- draw_fauna()
  cbind(how = names(ways), do.call(rbind, lapply(ways, answer, fauna)))
}))
print(aggregate(cbind(time, f, bias, rmse) ~ how, results, mean), digits = 3)
