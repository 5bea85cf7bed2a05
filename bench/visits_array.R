# What is lost where many collections of a site are pooled or thinned to a few visits. Rscript bench/visits_array.R
suppressMessages(library(multicause))
one <- function(seed) {
  set.seed(seed)
  n <- 80; m <- 30
  present <- matrix(rbinom(n*m, 1, rep(plogis(rnorm(m, -0.5, 1)), each=n)), n)
  p <- plogis(rnorm(m, -2.2, 0.6)); size <- pmin(60, 1 + rgeom(n, 0.12))
  rec <- do.call(rbind, lapply(1:n, function(i) do.call(rbind, lapply(1:size[i], function(c) {
    f <- which(present[i,] == 1 & runif(m) < p)
    data.frame(site=sprintf("s%02d",i), collection=i*100+c, taxon=if(length(f)) sprintf("t%02d", f) else NA) }))))
  res <- NULL
  for (how in c("all","pool","pool1","pool20","first","random")) {
    t <- system.time({
    x <- suppressMessages(visits_array(rec, "site","taxon","collection", max_visits=if (how=="all") Inf else if (how=="pool20") 20 else 5,
      surplus=if (how=="all") "pool" else sub("1|20","",how)))
    f <- suppressMessages(visits_bernoulli(x, 1, detection=if (how%in%c("pool","pool20")) ~log(n_pooled) else ~1, control=fit_control(n_start=1)))
    })[[3]]
    o <- occupied(f)
    tr <- rowSums(present[, match(colnames(x), sprintf("t%02d",1:m))])
    res <- rbind(res, data.frame(how, time=t, found=sum(o$found), expected=sum(o$expected), truth=sum(tr), rmse=sqrt(mean((o$expected-tr)^2))))
  }
  res
}
r <- do.call(rbind, lapply(1:8, one))
r$bias <- r$expected/r$truth-1; r$f <- r$found/r$truth
print(aggregate(cbind(time, f, bias, rmse) ~ how, r, mean))
