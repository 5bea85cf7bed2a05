# Models of other packages as functions that cross_validate(), select_k(), compare_models() and recovery() take:
# function(x, k) or function(x), where hidden cells of x are NA, that return a probability for every cell. See
# ?comparators.
zeros <- function(x) replace(x, is.na(x), 0)
within_1 <- function(p) pmin(pmax(p, 0), 1)

comparators <- list(
  # Principal components; hidden cells are the mean of their column.
  pca = function(x, k) {
    x <- apply(x, 2L, function(column) replace(column, is.na(column), mean(column, na.rm = TRUE)))
    fit <- stats::prcomp(x, rank. = k)
    within_1(fit$x %*% t(fit$rotation) + rep(fit$center, each = nrow(x)))
  },

  # Independent components. They turn the axes of PCA, so that the cells are those of pca().
  ica = function(x, k) {
    x <- apply(x, 2L, function(column) replace(column, is.na(column), mean(column, na.rm = TRUE)))
    fit <- fastICA::fastICA(x, k)
    within_1(fit$S %*% fit$A + rep(colMeans(x), each = nrow(x)))
  },

  # Topics; its default alpha, 50 / k, is for long documents. Rows without a presence have none. Tables of counts want
  # the mean: leave out the last line.
  lda = function(x, k) {
    x <- zeros(x)
    used <- rowSums(x) > 0
    fit <- topicmodels::posterior(topicmodels::LDA(x[used, ], k, control = list(alpha = 0.1)))
    mean <- 0 * x
    mean[used, ] <- rowSums(x)[used] * fit$topics %*% fit$terms
    1 - exp(-mean)
  },

  # A forest for each taxon, on all other taxa: trained where the taxon's cells are known, out of bag for these.
  forest = function(x) {
    others <- zeros(as.matrix(x))
    colnames(others) <- paste0("taxon", seq_len(ncol(x)))
    vapply(seq_len(ncol(x)), function(j) {
      known <- !is.na(x[, j])
      if (length(unique(x[known, j])) < 2L) {
        return(rep(mean(x[known, j]), nrow(x)))
      }
      fit <- ranger::ranger(
        x = others[known, -j, drop = FALSE], y = factor(x[known, j], 0:1), probability = TRUE, num.threads = 1
      )
      p <- numeric(nrow(x))
      p[known] <- fit$predictions[, "1"]
      if (any(!known)) p[!known] <- stats::predict(fit, others[!known, -j, drop = FALSE])$predictions[, "1"]
      p
    }, numeric(nrow(x)))
  },

  # Singular values, shrunk; it takes NA.
  soft = function(x, k) {
    fit <- softImpute::softImpute(x, rank.max = k, lambda = 1)
    within_1(cbind(fit$u) %*% (fit$d * t(fit$v)))
  },

  # Factors by stochastic gradients, from the known cells alone.
  reco = function(x, k) {
    cells <- function(at) recosystem::data_memory(at[, 1L], at[, 2L], x[at], index1 = TRUE)
    model <- recosystem::Reco()
    opts <- list(dim = k, niter = 50L, costp_l2 = 0.01, costq_l2 = 0.01, nthread = 1L, verbose = FALSE)
    model$train(cells(which(!is.na(x), arr.ind = TRUE)), opts = opts)
    all <- cells(which(is.na(x) | !is.na(x), arr.ind = TRUE))
    within_1(matrix(model$predict(all, recosystem::out_memory()), nrow(x)))
  },

  # Latent classes, of taxa with presences and zeros; the others have one probability everywhere.
  lca = function(x, k) {
    both <- apply(x, 2L, function(column) all(0:1 %in% column))
    data <- stats::setNames(as.data.frame(x[, both] + 1), paste0("taxon", which(both)))
    shape <- stats::as.formula(sprintf("cbind(%s) ~ 1", paste(names(data), collapse = ", ")))
    fit <- poLCA::poLCA(shape, data, nclass = k, na.rm = FALSE, calc.se = FALSE, verbose = FALSE)
    p <- matrix(colMeans(x, na.rm = TRUE), nrow(x), ncol(x), byrow = TRUE)
    p[, both] <- fit$posterior %*% matrix(vapply(fit$probs, function(p) p[, 2L], numeric(k)), k)
    p
  },

  # Latent factors of a generalised linear model, by variational likelihood; it takes NA. From about 34 000 cells on it
  # may crash where its matrix products share threads: start R with the environment variable OMP_NUM_THREADS=1.
  gllvm = function(x, k) {
    fit <- suppressWarnings( # of rows without a presence
      gllvm::gllvm(x, family = "binomial", link = "probit", num.lv = k, seed = 1, sd.errors = FALSE)
    )
    stats::predict(fit, type = "response")
  },

  # The same, sampled; it takes NA. So few draws are for a first look.
  hmsc = function(x, k) {
    site <- data.frame(site = factor(seq_len(nrow(x))))
    factors <- Hmsc::setPriors(Hmsc::HmscRandomLevel(units = site$site), nfMin = k, nfMax = k)
    model <- Hmsc::Hmsc(
      x, XData = site, XFormula = ~1, distr = "probit", studyDesign = site, ranLevels = list(site = factors)
    )
    fit <- Hmsc::sampleMcmc(model, samples = 200, transient = 200, nChains = 1, verbose = 0)
    apply(Hmsc::computePredictedValues(fit), 1:2, mean)
  },

  # The same with taxa in a hierarchy, without detection; places only set an order. Hidden cells are zeros to it.
  lfjsdm = function(x, k) {
    site <- data.frame(place = seq_len(nrow(x)))
    data <- list(y = t(unname(zeros(x))), covs = site, coords = cbind(site$place, 0))
    fit <- spOccupancy::lfJSDM(
      ~1, data = data, n.factors = k, n.samples = 400, n.burn = 200, verbose = FALSE
    )
    t(apply(fit$psi.samples, 2:3, mean))
  },

  # Companions: the mean over the taxa found beside it, without the cell itself; and how surprising it is that they are
  # found together, as dark diversity is told by. Its numbers rank cells; they are no probabilities of a presence.
  beals = function(x) vegan::beals(zeros(x), include = FALSE),
  dark = function(x) {
    colnames(x) <- seq_len(ncol(x))
    fit <- suppressWarnings(suppressMessages(DarkDiv::DarkDiv(zeros(x), method = "Hypergeometric")))
    p <- zeros(as.matrix(fit$AllProbs))
    out <- 0 * zeros(x)
    out[, colnames(p)] <- p
    unname(out)
  }
)
